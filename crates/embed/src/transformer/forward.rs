//! The forward pass of a batch of texts.
//!
//! The tokens of all texts go through a linear layer together, which reuses its weights while they
//! are cached; attention processes each text separately.

use super::attention::{self, attend};
use super::functions::{add, gelu};
use super::kernel::{Machine, Portable};
use super::linear::Taken;
use super::{Layer, Transformer};

/// Buffers that are reused from one batch to the next.
#[derive(Default)]
pub(super) struct Scratch {
    word: Vec<f32>,
    /// A row for each token: its hidden state.
    state: Vec<f32>,
    taken: Taken,
    wide: Vec<f32>,
    mixed: Vec<f32>,
    added: Vec<f32>,
    attention: attention::Scratch,
}

/// Returns the vector of each text: the mean of its tokens after the last layer.
///
/// Each text has at least one token and at most as many as there are positions.
pub(super) fn run(model: &Transformer, texts: &[&[u32]], scratch: &mut Scratch) -> Vec<Vec<f32>> {
    #[cfg(target_arch = "x86_64")]
    {
        let level = fearless_simd::Level::new();
        if let Some(avx2) = level.as_avx2() {
            return run_avx2(avx2, model, texts, scratch);
        }
        if let Some(sse2) = level.as_sse2() {
            return run_sse2(sse2, model, texts, scratch);
        }
    }
    run_portable(model, texts, scratch)
}

/// The same for any processor.
pub(super) fn run_portable(
    model: &Transformer,
    texts: &[&[u32]],
    scratch: &mut Scratch,
) -> Vec<Vec<f32>> {
    run_on(Portable, model, texts, scratch)
}

#[cfg(target_arch = "x86_64")]
fearless_simd::kernel!(
    fn run_avx2(
        avx2: Avx2,
        model: &Transformer,
        texts: &[&[u32]],
        scratch: &mut Scratch,
    ) -> Vec<Vec<f32>> {
        run_on(avx2, model, texts, scratch)
    }
);

#[cfg(target_arch = "x86_64")]
fearless_simd::kernel!(
    pub(super) fn run_sse2(
        sse2: Sse2,
        model: &Transformer,
        texts: &[&[u32]],
        scratch: &mut Scratch,
    ) -> Vec<Vec<f32>> {
        run_on(sse2, model, texts, scratch)
    }
);

#[inline(always)]
fn run_on<M: Machine>(
    machine: M,
    model: &Transformer,
    texts: &[&[u32]],
    scratch: &mut Scratch,
) -> Vec<Vec<f32>> {
    scratch.state.clear();
    for text in texts {
        for (word, position) in text.iter().zip(model.positions.chunks_exact(model.width)) {
            model.words.vector(*word, &mut scratch.word);
            add(&mut scratch.word, position);
            scratch.state.extend_from_slice(&scratch.word);
        }
    }
    model.norm.apply(&mut scratch.state);
    for layer in &model.layers {
        pass(machine, model, layer, texts, scratch);
    }

    let mut rest = &scratch.state[..];
    let mut vectors = Vec::with_capacity(texts.len());
    for text in texts {
        let (rows, others) = rest.split_at(text.len() * model.width);
        rest = others;
        let mut vector = vec![0.0; model.width];
        for row in rows.chunks_exact(model.width) {
            add(&mut vector, row);
        }
        for number in &mut vector {
            *number /= text.len() as f32;
        }
        if let Some(projection) = &model.projection {
            projection.apply(machine, &vector, &mut scratch.taken, &mut scratch.added);
            vector.clone_from(&scratch.added);
        }
        vectors.push(vector);
    }
    vectors
}

/// Takes the state through one layer.
#[inline(always)]
fn pass<M: Machine>(
    machine: M,
    model: &Transformer,
    layer: &Layer,
    texts: &[&[u32]],
    scratch: &mut Scratch,
) {
    let Scratch { state, taken, wide, mixed, added, attention, .. } = scratch;
    layer.queries_keys_values.apply(machine, state, taken, wide);
    mixed.clear();
    mixed.resize(state.len(), 0.0);
    let (mut input, mut output) = (&wide[..], &mut mixed[..]);
    for text in texts {
        let numbers = text.len() * model.width;
        let (from, others) = input.split_at(3 * numbers);
        let (to, rest) = output.split_at_mut(numbers);
        attend(machine, model.heads, from, attention, to);
        (input, output) = (others, rest);
    }
    layer.mix.apply(machine, mixed, taken, added);
    add(state, added);
    layer.mix_norm.apply(state);

    layer.widen.apply(machine, state, taken, wide);
    gelu(wide);
    layer.narrow.apply(machine, wide, taken, added);
    add(state, added);
    layer.narrow_norm.apply(state);
}
