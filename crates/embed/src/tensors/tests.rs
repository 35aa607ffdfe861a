//! Files as an attacker may write them.

use super::{HEADER_LIMIT_BYTES, ModelError, Tensors};

fn file(header: &str, data: &[u8]) -> Result<Tensors, ModelError> {
    let length = (header.len() as u64).to_le_bytes();
    bytes([&length, header.as_bytes(), data].concat())
}

fn bytes(bytes: Vec<u8>) -> Result<Tensors, ModelError> {
    Tensors::of_binary(bytes.leak())
}

fn tensor(dtype: &str, shape: &str, offsets: &str) -> String {
    format!(r#"{{"t": {{"dtype": "{dtype}", "shape": {shape}, "data_offsets": {offsets}}}}}"#)
}

#[test]
fn numbers_of_each_type_are_read() {
    let check = |dtype: &str, data: &[u8], expected: [f32; 2]| {
        let header = tensor(dtype, "[2]", &format!("[0, {}]", data.len()));
        let mut tensors = file(&header, data).unwrap();
        assert_eq!(tensors.vector("t", 2).unwrap(), expected);
    };
    check("F32", &[0, 0, 0x80, 0x3f, 0, 0, 0x20, 0xc1], [1.0, -10.0]);
    check("BF16", &[0x80, 0x3f, 0x20, 0xc1], [1.0, -10.0]);
    check("F16", &[0x00, 0x3c, 0x00, 0xc9], [1.0, -10.0]);
    // The smallest and the largest F16.
    check("F16", &[0x01, 0x00, 0xff, 0x7b], [5.960_464_5e-8, 65_504.0]);
}

#[test]
fn quantised_rows_are_read_from_the_middle() {
    let header = r#"{
        "a.q8": {"dtype": "I8", "shape": [2, 3], "data_offsets": [0, 6]},
        "a.s": {"dtype": "F16", "shape": [2], "data_offsets": [6, 10]},
        "b.q4": {"dtype": "U8", "shape": [2, 16], "data_offsets": [10, 42]},
        "b.s": {"dtype": "F16", "shape": [2, 1], "data_offsets": [42, 46]}
    }"#;
    let mut data = vec![1, 2, 3, 4, 0xff, 0x80, 0, 0x3c, 0, 0x40];
    data.extend([0; 16]);
    data.extend([0x8f; 16]);
    data.extend([0, 0x3c, 0, 0x40]);
    let mut tensors = file(header, &data).unwrap();
    let a = tensors.matrix("a").unwrap();
    assert_eq!(tensors.rows(&a, 1..2).unwrap(), [8.0, -2.0, -256.0]);
    let b = tensors.matrix("b").unwrap();
    assert_eq!((b.rows(), b.columns()), (2, 32));
    // The lower half of a byte comes first: 0xf is -1, 0x8 is -8.
    assert_eq!(tensors.rows(&b, 1..2).unwrap(), [-2.0, -16.0].repeat(16));
}

#[test]
fn a_prefix_is_found() {
    let named = |name: &str| {
        let header = tensor("F32", "[0]", "[0, 0]").replace("\"t\"", &format!("\"{name}\""));
        file(&header, &[]).unwrap().prefix_of("words.weight").map(str::to_owned)
    };
    assert_eq!(named("words.weight").as_deref(), Some(""));
    assert_eq!(named("words.weight.q4").as_deref(), Some(""));
    assert_eq!(named("0.auto_model.words.weight").as_deref(), Some("0.auto_model."));
    assert_eq!(named("keywords.weight"), None);
}

#[test]
fn a_broken_header_is_an_error() {
    let check = |header: &str| {
        let error = file(header, &[0; 16]).unwrap_err();
        assert!(matches!(error, ModelError::Header(_) | ModelError::Entry { .. }), "{error:?}");
    };
    check("");
    check("[]");
    check("{\"t\": 1}");
    check(&tensor("F31", "[4]", "[0, 16]"));
    check(&tensor("F32", "[-4]", "[0, 16]"));
    check(&tensor("F32", "[4.5]", "[0, 16]"));
    check(&tensor("F32", "[4]", "[-16, 0]"));
    check(&tensor("F32", "[4]", "[0, 16, 32]"));
    check(&tensor("F32", "[99999999999999999999]", "[0, 16]"));
    check("{\"__metadata__\": {\"heads\": 12}}");
    check(&format!("{{\"t\": {}", "[".repeat(100_000)));
}

#[test]
fn a_tensor_outside_the_file_or_of_another_size_is_an_error() {
    let check = |dtype: &str, shape: &str, offsets: &str| {
        let error = file(&tensor(dtype, shape, offsets), &[0; 16]).unwrap_err();
        assert!(matches!(&error, ModelError::Place(tensor) if tensor == "t"), "{error:?}");
    };
    check("F32", "[5]", "[0, 20]");
    check("F32", "[4]", "[4, 20]");
    check("F32", "[4]", "[16, 0]");
    check("F32", "[3]", "[0, 16]");
    check("F16", "[4]", "[0, 16]");
    check("F32", "[4294967296, 4294967296, 16]", "[0, 0]");
    check("F32", "[18446744073709551615]", "[0, 18446744073709551612]");
    check("F32", "[4]", "[18446744073709551600, 18446744073709551615]");
}

#[test]
fn tensors_must_not_overlap() {
    let header = r#"{
        "a": {"dtype": "F32", "shape": [2], "data_offsets": [0, 8]},
        "b": {"dtype": "F32", "shape": [2], "data_offsets": [4, 12]}
    }"#;
    let error = file(header, &[0; 16]).unwrap_err();
    assert!(matches!(&error, ModelError::Overlap(tensor) if tensor == "b"), "{error:?}");
}

#[test]
fn a_file_shorter_than_it_says_is_an_error() {
    for length in 0..8 {
        assert!(matches!(bytes(vec![0; length]), Err(ModelError::Read(_))));
    }
    for size in [1, HEADER_LIMIT_BYTES + 1, u64::MAX] {
        let error = bytes(size.to_le_bytes().to_vec()).unwrap_err();
        assert!(matches!(error, ModelError::HeaderSize { header_bytes } if header_bytes == size));
    }
}

#[test]
fn numbers_that_are_none_are_refused() {
    let header = tensor("F32", "[2]", "[0, 8]");
    for strange in [f32::NAN, f32::INFINITY, f32::NEG_INFINITY] {
        let data = [1.0_f32.to_le_bytes(), strange.to_le_bytes()].concat();
        let error = file(&header, &data).unwrap().vector("t", 2).unwrap_err();
        assert!(matches!(error, ModelError::NotFinite(_)));
    }
}

#[test]
fn another_shape_type_or_name_is_named() {
    let mut tensors = file(&tensor("I64", "[2]", "[0, 16]"), &[0; 16]).unwrap();
    assert!(matches!(tensors.vector("t", 3), Err(ModelError::Shape { .. })));
    assert!(matches!(tensors.vector("t", 2), Err(ModelError::Type { .. })));
    assert!(matches!(tensors.vector("u", 2), Err(ModelError::Missing(_))));
    assert!(matches!(tensors.matrix("t"), Err(ModelError::Shape { .. })));
}
