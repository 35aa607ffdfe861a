//! A tiny model with random weights, compared with vectors that numpy computed from the same
//! weights.

use serde::Deserialize;

use super::{Transformer, batches, forward};
use crate::tensors::Tensors;
use crate::tokens::UNKNOWN;

static FLOATS: &[u8] = include_bytes!("../../tests/fixtures/tiny.safetensors");
static QUANTISED: &[u8] = include_bytes!("../../tests/fixtures/tiny-quantised.safetensors");

#[derive(Deserialize)]
struct Case {
    pieces: Vec<u32>,
    floats: Vec<f32>,
    quantised: Vec<f32>,
}

fn cases() -> Vec<Case> {
    let lines = include_str!("../../tests/fixtures/tiny.jsonl").lines();
    lines.map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn model(bytes: &'static [u8]) -> Transformer {
    Transformer::read(&mut Tensors::of_binary(bytes).unwrap()).unwrap()
}

fn pieces() -> Vec<Vec<u32>> {
    cases().into_iter().map(|case| case.pieces).collect()
}

fn assert_near(vector: &[f32], expected: &[f32], least: f32) {
    assert_eq!(vector.len(), expected.len());
    let cosine: f32 = vector.iter().zip(expected).map(|(a, b)| a * b).sum();
    assert!(cosine > least && cosine < 1.0001, "the cosine is {cosine}");
}

#[test]
fn a_model_of_floats_gives_the_vectors_of_the_reference() {
    let model = model(FLOATS);
    assert_eq!(model.dimensions(), 32);
    for (case, vector) in cases().iter().zip(model.vectors(&pieces(), 1)) {
        // Words have eight bits here, which shows in vectors as narrow as these.
        assert_near(&vector, &case.floats, 0.9995);
    }
}

#[test]
fn a_quantised_model_gives_the_vectors_of_its_own_numbers() {
    let model = model(QUANTISED);
    assert_eq!(model.dimensions(), 10);
    for (case, vector) in cases().iter().zip(model.vectors(&pieces(), 1)) {
        assert_near(&vector, &case.quantised, 0.9999);
    }
}

#[test]
fn any_processor_gives_the_same_vectors_but_for_rounding() {
    let model = model(FLOATS);
    let texts = pieces();
    let texts: Vec<&[u32]> = texts.iter().map(|text| &text[..]).collect();
    let mut scratch = forward::Scratch::default();
    let portable = forward::run_portable(&model, &texts, &mut scratch);
    let assert_alike = |vectors: Vec<Vec<f32>>| {
        for (a, b) in portable.iter().flatten().zip(vectors.iter().flatten()) {
            assert!((a - b).abs() < 0.01, "{a} is not {b}");
        }
    };
    assert_alike(forward::run(&model, &texts, &mut scratch));
    #[cfg(target_arch = "x86_64")]
    {
        let sse2 = fearless_simd::Level::new().as_sse2().unwrap();
        assert_alike(forward::run_sse2(sse2, &model, &texts, &mut scratch));
    }
    assert!(portable.iter().flatten().any(|number| number.abs() > 0.5));
}

#[test]
fn a_text_has_the_same_vector_alone_and_in_company_and_on_many_threads() {
    let model = model(FLOATS);
    let texts: Vec<Vec<u32>> = pieces().into_iter().cycle().take(200).collect();
    let together = model.vectors(&texts, 1);
    assert_eq!(model.vectors(&texts, 3), together);
    for (text, vector) in texts.iter().zip(&together).take(12) {
        assert_eq!(&model.vectors(std::slice::from_ref(text), 1)[0], vector);
    }
}

#[test]
fn a_text_without_a_known_piece_has_zeros() {
    let model = model(FLOATS);
    let vectors = model.vectors(&[vec![], vec![UNKNOWN; 3], vec![UNKNOWN, 5]], 2);
    assert_eq!(vectors[0], [0.0; 32]);
    assert_eq!(vectors[1], [0.0; 32]);
    assert_ne!(vectors[2], [0.0; 32]);
}

#[test]
fn a_long_text_is_cut_and_a_strange_piece_is_nothing() {
    let model = model(FLOATS);
    assert_eq!(model.limit(), 38);
    let long: Vec<u32> = (0..1000).map(|n| n % 90).collect();
    let vectors = model.vectors(&[long.clone(), long[..38].to_vec(), vec![u32::MAX, 7]], 1);
    assert_eq!(vectors[0], vectors[1]);
    assert!(vectors[2].iter().all(|number| number.is_finite()));
}

#[test]
fn no_text_is_lost_between_batches() {
    let texts: Vec<_> = [300, 1, 200, 50, 7, 256, 1].map(|length| vec![0; length]).into();
    let texts: Vec<_> = texts.into_iter().enumerate().collect();
    let found = batches(&texts);
    let indices: Vec<Vec<usize>> =
        found.iter().map(|batch| batch.iter().map(|(index, _)| *index).collect()).collect();
    assert_eq!(indices, [vec![0], vec![1, 2, 3], vec![4], vec![5], vec![6]]);
    assert!(batches(&[]).is_empty());
}

#[test]
fn a_damaged_model_is_refused_or_runs_to_its_end() {
    let header = usize::from(QUANTISED[0]) + usize::from(QUANTISED[1]) * 256;
    let (mut refused, mut read) = (0, 0);
    let places = (0..header).step_by(7).chain((header..QUANTISED.len()).step_by(199));
    for (place, change) in places.zip([0x01, 0x10, 0x80, 0xff].into_iter().cycle()) {
        let mut damaged = QUANTISED.to_vec();
        damaged[place] ^= change;
        match Tensors::of_binary(damaged.leak())
            .and_then(|mut tensors| Transformer::read(&mut tensors))
        {
            Ok(model) => {
                read += 1;
                assert_eq!(model.vectors(&[vec![1, 2, 3]], 1).len(), 1);
            }
            Err(_) => refused += 1,
        }
    }
    assert!(refused > 200 && read > 50, "{refused} were refused, {read} were read");
}

#[test]
fn a_cut_model_is_refused() {
    for length in (0..QUANTISED.len()).step_by(307) {
        assert!(
            Tensors::of_binary(&QUANTISED[..length]).is_err(),
            "{length} bytes were taken for all"
        );
    }
}
