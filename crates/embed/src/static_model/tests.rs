use super::*;

/// A table under construction: its header, which a test may falsify, and its tensors.
struct EmbeddingBatch {
    header: String,
    data: Vec<u8>,
}

impl EmbeddingBatch {
    fn new(metadata: &str, tensors: &[(&str, &str, &[usize], Vec<u8>)]) -> Self {
        let mut header = format!(r#"{{"__metadata__":{{"name":"made"{metadata}}}"#);
        let mut data = Vec::new();
        for (name, dtype, shape, bytes) in tensors {
            let start = data.len();
            data.extend_from_slice(bytes);
            header += &format!(
                r#","{name}":{{"dtype":"{dtype}","shape":{shape:?},"data_offsets":[{start},{}]}}"#,
                data.len()
            );
        }
        Self { header: header + "}", data }
    }

    fn bytes(&self) -> Vec<u8> {
        let length = u64::try_from(self.header.len()).unwrap().to_le_bytes();
        [&length, self.header.as_bytes(), &self.data].concat()
    }
}

fn signed(numbers: &[i8]) -> Vec<u8> {
    numbers.iter().map(|number| number.cast_unsigned()).collect()
}

fn singles(numbers: &[f32]) -> Vec<u8> {
    numbers.iter().flat_map(|number| number.to_le_bytes()).collect()
}

/// Rows (1, 0), (0, 1), (-3, 0), (0, 0) with the scales 1, 2, 0.5, 1.
fn four_rows() -> EmbeddingBatch {
    EmbeddingBatch::new(
        "",
        &[
            ("table.q8", "I8", &[4, 2], signed(&[1, 0, 0, 1, -3, 0, 0, 0])),
            ("table.s", "F32", &[4], singles(&[1.0, 2.0, 0.5, 1.0])),
        ],
    )
}

/// Opens a table as if it were in the binary.
fn opened(bytes: Vec<u8>) -> Result<StaticModel, ModelError> {
    StaticModel::open(&mut Tensors::of_binary(bytes.leak())?)
}

fn vector(made: &EmbeddingBatch, ids: &[u32]) -> Vec<f32> {
    opened(made.bytes()).unwrap().vector(ids)
}

fn assert_near(found: &[f32], expected: &[f32]) {
    let near = found.iter().zip(expected).all(|(one, two)| (one - two).abs() < 1e-6);
    assert!(found.len() == expected.len() && near, "{found:?} is not {expected:?}");
}

#[test]
fn a_vector_is_the_sum_of_scaled_rows_at_length_one() {
    let made = four_rows();
    assert_near(&vector(&made, &[0]), &[1.0, 0.0]);
    assert_near(&vector(&made, &[2]), &[-1.0, 0.0]);
    let five = 5.0_f32.sqrt();
    assert_near(&vector(&made, &[0, 1]), &[1.0 / five, 2.0 / five]);
    assert_near(&vector(&made, &[0, 0, 1]), &[0.5_f32.sqrt(), 0.5_f32.sqrt()]);
}

#[test]
fn what_has_no_row_counts_nothing() {
    let made = four_rows();
    assert_near(&vector(&made, &[0, 4, u32::MAX]), &[1.0, 0.0]);
    assert_near(&vector(&made, &[3]), &[0.0, 0.0]);
    assert_near(&vector(&made, &[]), &[0.0, 0.0]);
}

#[test]
fn an_unknown_word_counts_nothing_though_it_has_a_row() {
    let rows = 101;
    let vectors = signed(&[[1, 0]; 101].concat());
    let scales = singles(&[1.0; 101]);
    let made = EmbeddingBatch::new(
        "",
        &[("table.q8", "I8", &[rows, 2], vectors), ("table.s", "F32", &[rows], scales)],
    );
    assert_near(&vector(&made, &[UNKNOWN, UNKNOWN]), &[0.0, 0.0]);
    assert_near(&vector(&made, &[99]), &[1.0, 0.0]);
}

#[test]
fn damaged_scales_give_zeros() {
    for scale in [f32::NAN, f32::INFINITY, f32::MAX, f32::MIN_POSITIVE / 4.0] {
        let made = EmbeddingBatch::new(
            "",
            &[
                ("table.q8", "I8", &[1, 2], signed(&[100, 100])),
                ("table.s", "F32", &[1], singles(&[scale])),
            ],
        );
        assert_near(&vector(&made, &[0]), &[0.0, 0.0]);
    }
}

#[test]
fn every_cut_of_a_table_is_an_error() {
    let bytes = four_rows().bytes();
    assert!(opened(bytes.clone()).is_ok());
    for length in 0..bytes.len() {
        assert!(opened(bytes[..length].to_vec()).is_err(), "{length}");
    }
}

#[test]
fn a_header_that_lies_is_an_error() {
    let whole = four_rows();
    for (said, instead) in [
        ("[4, 2]", "[4, 3]"),
        ("[4, 2]", "[8, 1]"),
        ("[4, 2]", "[8]"),
        ("[4, 2]", "[4, 0]"),
        ("[4, 2]", "[9223372036854775808, 2]"),
        ("[4]", "[5]"),
        ("[0,8]", "[8,0]"),
        ("[0,8]", "[1,8]"),
        ("[8,24]", "[8,9223372036854775807]"),
        ("[8,24]", "[-8,24]"),
        ("I8", "U8"),
        ("F32", "F16"),
        ("F32", "F64"),
        ("table.q8", "tables.q8"),
        (r#""name":"made""#, ""),
    ] {
        let header = whole.header.replace(said, instead);
        assert_ne!(header, whole.header, "{said}");
        let lying = EmbeddingBatch { header, data: whole.data.clone() };
        assert!(opened(lying.bytes()).is_err(), "{said} as {instead}");
    }
    let mut endless = whole.bytes();
    endless[..8].fill(0xff);
    assert!(matches!(opened(endless), Err(ModelError::HeaderSize { .. })));
}
