//! Compares the tokenizer with the reference's ids, and tries it on difficult texts.

#![expect(clippy::unwrap_used, reason = "what does not hold in a test may panic")]

use std::io::Read as _;

use anemone_embed::Tokenizer;

const REFERENCE: &[u8] = include_bytes!("vectors/tokens.jsonl.gz");

fn reference() -> Vec<(String, Vec<u32>)> {
    let mut lines = String::new();
    flate2::read::GzDecoder::new(REFERENCE).read_to_string(&mut lines).unwrap();
    lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn ids_are_those_of_the_reference() {
    let tokenizer = Tokenizer::get();
    let texts = reference();
    assert_eq!(texts.len(), 10_000);
    let wrong: Vec<_> =
        texts.iter().filter(|(text, ids)| tokenizer.encode(text, usize::MAX) != *ids).collect();
    if let Some((text, ids)) = wrong.first() {
        let found = tokenizer.encode(text, usize::MAX);
        panic!("{} texts differ, the first is {text:?}:\n{found:?}\n{ids:?}", wrong.len());
    }
}

#[test]
fn a_limit_cuts_and_changes_nothing_else() {
    let tokenizer = Tokenizer::get();
    for (text, ids) in reference().iter().step_by(7) {
        for limit in [0, 1, 2, 7, 20] {
            let kept = ids.len().min(limit);
            assert_eq!(tokenizer.encode(text, limit), ids[..kept], "{text:?} to {limit}");
        }
    }
}

#[test]
fn ten_megabytes_of_anything_are_read_in_one_pass() {
    let tokenizer = Tokenizer::get();
    let ten_megabytes = |unit: &str| unit.repeat(10_000_000 / unit.len());
    for (unit, expected) in [
        ("a", vec![100]),
        ("\u{301}", vec![]),
        ("e\u{301}", vec![100]),
        ("\u{1d165}", vec![100]),
        ("\0", vec![]),
        (" ", vec![]),
        ("각", vec![100]),
    ] {
        assert_eq!(tokenizer.encode(&ten_megabytes(unit), usize::MAX), expected, "{unit:?}");
    }
    for unit in ["[", "[MASK", "中", "##", "x ", "qzxjkvwpyqzxjkvwpyqzxjkvwpy "] {
        assert_eq!(tokenizer.encode(&ten_megabytes(unit), 512).len(), 512, "{unit:?}");
    }
}

#[test]
fn a_piece_is_found_by_its_id() {
    let tokenizer = Tokenizer::get();
    let ids = tokenizer.encode("Embeddings", 10);
    let pieces: Vec<_> = ids.iter().filter_map(|&id| tokenizer.piece(id)).collect();
    assert_eq!(pieces, ["em", "##bed", "##ding", "##s"]);
    assert_eq!(tokenizer.piece(30_522), None);
    assert_eq!(tokenizer.piece(u32::MAX), None);
}
