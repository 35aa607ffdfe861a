//! Compares all-MiniLM-L6-v2 with vectors that numpy computed from its published weights.
//!
//! The model is not in the repository. `ANEMONE_MINILM` names its file or folder; without it, the
//! tests that need it report that they were skipped. The forward pass itself is always tested, with
//! a tiny model, in `src/transformer/tests.rs`.

#![expect(clippy::disallowed_methods, reason = "a test asks where the model lies")]
#![expect(clippy::unwrap_used, reason = "these are tests")]

use std::path::PathBuf;

use anemone_embed::{Embedder, LocalModel, ModelError, Purpose};
use anemone_testkit::skip;

fn model() -> Option<PathBuf> {
    let path = std::env::var_os("ANEMONE_MINILM").map(PathBuf::from);
    if path.is_none() {
        skip("minilm", "ANEMONE_MINILM does not say where all-MiniLM-L6-v2 is");
    }
    path
}

fn sentences() -> Vec<String> {
    serde_json::from_str(include_str!("fixtures/minilm.json")).unwrap()
}

fn reference() -> Vec<Vec<f32>> {
    let (halves, rest) = include_bytes!("fixtures/minilm.f16").as_chunks::<2>();
    assert!(rest.is_empty());
    let numbers: Vec<f32> = halves.iter().map(|bytes| half(u16::from_le_bytes(*bytes))).collect();
    numbers.chunks(384).map(<[f32]>::to_vec).collect()
}

/// Only for numbers below 1.
fn half(bits: u16) -> f32 {
    let magnitude = f32::from_bits(u32::from(bits & 0x7fff) << 13) * 2.0_f32.powi(112);
    if bits & 0x8000 == 0 { magnitude } else { -magnitude }
}

fn cosine(a: &[f32], b: &[f32]) -> f32 {
    let product = |a: &[f32], b: &[f32]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f32>();
    product(a, b) / (product(a, a) * product(b, b)).sqrt()
}

#[test]
fn vectors_are_those_of_the_reference() {
    let Some(path) = model() else { return };
    let model = LocalModel::minilm(&path).unwrap().with_threads(2);
    let sentences = sentences();
    let texts: Vec<&str> = sentences.iter().map(String::as_str).collect();
    let vectors = model.embed(&texts, Purpose::Document).unwrap();
    let reference = reference();
    assert_eq!(vectors.len(), reference.len());

    let mut least = (1.0, "");
    let (mut sum, mut known) = (0.0, 0);
    for ((vector, expected), text) in vectors.iter().zip(&reference).zip(&texts) {
        let length: f32 = vector.iter().map(|number| number * number).sum();
        // A text of unknown pieces only has zeros here, and noise in the reference.
        if length == 0.0 {
            continue;
        }
        assert!((length - 1.0).abs() < 1e-4, "{text:?} has a vector of length {length}");
        let cosine = cosine(vector, expected);
        sum += cosine;
        known += 1;
        if cosine < least.0 {
            least = (cosine, text);
        }
    }
    let mean = sum / known as f32;
    eprintln!("{known} texts: mean cosine {mean}, least {}", least.0);
    assert!(known + 2 >= texts.len(), "only {known} texts have a vector");
    assert!(mean > 0.999, "the mean is {mean}");
    assert!(least.0 > 0.995, "{least:?}");
}

#[test]
fn what_is_not_there_is_an_error_that_names_it() {
    let folder = tempfile::tempdir().unwrap();
    for path in [folder.path().to_path_buf(), folder.path().join("none.safetensors")] {
        let error = LocalModel::minilm(&path).unwrap_err();
        let ModelError::Read(source) = error else { panic!("{error:?}") };
        assert!(source.to_string().contains("safetensors"), "{source}");
    }
}

#[test]
fn a_file_too_large_is_not_read() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("model.safetensors");
    let size = (512 << 20) + 1;
    fs_err::File::create(&path).unwrap().set_len(size).unwrap();
    let error = LocalModel::minilm(folder.path()).unwrap_err();
    assert!(matches!(error, ModelError::TooLarge { size_bytes } if size_bytes == size));
}

#[test]
fn another_model_is_not_taken_for_it() {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/tiny.safetensors");
    let error = LocalModel::minilm(&path).unwrap_err();
    assert!(matches!(error, ModelError::OtherModel { found: 32, expected: 384, .. }), "{error:?}");
}

#[test]
fn the_built_in_transformer_tells_what_is_alike() {
    let model = LocalModel::builtin();
    let texts =
        ["The cat sleeps on the sofa.", "A kitten naps on the couch.", "The invoice is unpaid."];
    let vectors = model.embed(&texts, Purpose::Document).unwrap();
    assert!(vectors.iter().all(|vector| vector.len() == model.identity().dimensions));
    let (alike, other) = (cosine(&vectors[0], &vectors[1]), cosine(&vectors[0], &vectors[2]));
    assert!(alike > other + 0.1, "{alike} is not above {other}");
}

#[test]
fn another_file_of_the_same_shape_makes_vectors_of_another_name() {
    let Some(path) = model() else { return };
    let file = if path.is_dir() { path.join("model.safetensors") } else { path };
    assert_eq!(LocalModel::minilm(&file).unwrap().identity().model, "all-MiniLM-L6-v2");
    let mut bytes = fs_err::read(&file).unwrap();
    // A part of a layer is missing.
    let at = bytes.len() - 8_000_000;
    bytes[at..at + 600_000].fill(0);
    let folder = tempfile::tempdir().unwrap();
    fs_err::write(folder.path().join("model.safetensors"), &bytes).unwrap();
    let other = LocalModel::minilm(folder.path()).unwrap().identity().model.clone();
    assert!(other.starts_with("all-MiniLM-L6-v2-"), "{other}");
}
