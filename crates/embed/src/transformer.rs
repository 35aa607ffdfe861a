//! A transformer that reads texts, such as BERT: word pieces in, one vector for each text out.
//!
//! All sizes come from the tensors. It runs on the processor, mostly in integers (see [`linear`]),
//! and gives the same vector for a text whatever it is batched with.

use std::fmt;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use crate::tensors::{ModelError, Tensors};
use crate::tokens::UNKNOWN;

mod attention;
mod forward;
mod functions;
mod kernel;
mod linear;
mod load;
mod words;

use attention::Heads;
use functions::Norm;
use linear::Linear;
use words::Words;

/// The word piece that starts each text.
const START: u32 = 101;
/// The word piece that ends each text.
const END: u32 = 102;
/// Tokens in a batch, unless a single text has more. Larger batches need more memory, and gain
/// little: the weights are already reused enough.
const BATCH_TOKENS: usize = 256;

/// A model that is ready to run.
pub(crate) struct Transformer {
    words: Words,
    vocabulary: usize,
    /// For each position, what is added to the word there.
    positions: Vec<f32>,
    norm: Norm,
    heads: Heads,
    width: usize,
    layers: Vec<Layer>,
    /// The projection after the mean, in models that have it.
    projection: Option<Linear>,
}

struct Layer {
    queries_keys_values: Linear,
    mix: Linear,
    mix_norm: Norm,
    widen: Linear,
    narrow: Linear,
    narrow_norm: Norm,
}

impl Transformer {
    /// Reads the model from its tensors.
    pub(crate) fn read(tensors: &mut Tensors) -> Result<Self, ModelError> {
        load::read(tensors)
    }

    /// Numbers in a vector.
    pub(crate) fn dimensions(&self) -> usize {
        self.projection.as_ref().map_or(self.width, Linear::outputs)
    }

    /// Word pieces that the model has vectors for.
    pub(crate) fn vocabulary(&self) -> usize {
        self.vocabulary
    }

    /// Layers of the model.
    pub(crate) fn layers(&self) -> usize {
        self.layers.len()
    }

    /// Word pieces of a text that the model reads; the rest is left out.
    pub(crate) fn limit(&self) -> usize {
        self.positions.len() / self.width - 2
    }

    /// Returns a vector of length 1 for each text, given as its word pieces.
    ///
    /// A text without a known word piece has a vector of zeros. At most `threads` threads work,
    /// this one among them.
    pub(crate) fn vectors(&self, texts: &[Vec<u32>], threads: usize) -> Vec<Vec<f32>> {
        let framed: Vec<(usize, Vec<u32>)> = texts
            .iter()
            .enumerate()
            .filter(|(_, text)| text.iter().any(|word| *word != UNKNOWN))
            .map(|(index, text)| (index, self.framed(text)))
            .collect();
        let batches = batches(&framed);
        let next = AtomicUsize::new(0);
        let work = || {
            let mut scratch = forward::Scratch::default();
            let mut done = Vec::new();
            while let Some(batch) = batches.get(next.fetch_add(1, Ordering::Relaxed)) {
                let texts: Vec<&[u32]> = batch.iter().map(|(_, text)| &text[..]).collect();
                let vectors = forward::run(self, &texts, &mut scratch);
                done.extend(batch.iter().map(|(index, _)| *index).zip(vectors));
            }
            done
        };

        let mut vectors = vec![vec![0.0; self.dimensions()]; texts.len()];
        let done = thread::scope(|scope| {
            let others: Vec<_> = (1..threads.min(batches.len()))
                // A thread that cannot be started leaves its share to the others.
                .filter_map(|_| thread::Builder::new().spawn_scoped(scope, work).ok())
                .collect();
            let mut done = work();
            for other in others {
                match other.join() {
                    Ok(more) => done.extend(more),
                    Err(panic) => std::panic::resume_unwind(panic),
                }
            }
            done
        });
        for (index, mut vector) in done {
            to_length_one(&mut vector);
            vectors[index] = vector;
        }
        vectors
    }

    /// Returns `text` between its start and its end, truncated to what the model reads.
    fn framed(&self, text: &[u32]) -> Vec<u32> {
        let text = &text[..text.len().min(self.limit())];
        [&[START], text, &[END]].concat()
    }
}

/// Prints its sizes, not its numbers.
impl fmt::Debug for Transformer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Transformer")
            .field("dimensions", &self.dimensions())
            .field("layers", &self.layers.len())
            .field("vocabulary", &self.vocabulary)
            .finish_non_exhaustive()
    }
}

/// Returns `texts` in groups of about [`BATCH_TOKENS`] tokens.
fn batches(texts: &[(usize, Vec<u32>)]) -> Vec<&[(usize, Vec<u32>)]> {
    let mut batches = Vec::new();
    let (mut start, mut tokens) = (0, 0);
    for (index, (_, text)) in texts.iter().enumerate() {
        if index > start && tokens + text.len() > BATCH_TOKENS {
            batches.push(&texts[start..index]);
            (start, tokens) = (index, 0);
        }
        tokens += text.len();
    }
    if start < texts.len() {
        batches.push(&texts[start..]);
    }
    batches
}

fn to_length_one(vector: &mut [f32]) {
    let length = vector.iter().map(|number| number * number).sum::<f32>().sqrt();
    if length > 0.0 {
        for number in vector {
            *number /= length;
        }
    }
}

#[cfg(test)]
mod tests;
