//! A line of a partition: what parses is written and parses to the same again.

#![no_main]

use anemone_format::Record;

libfuzzer_sys::fuzz_target!(|line: &[u8]| {
    let Ok(record) = serde_json::from_slice::<Record>(line) else { return };
    let mut numbers = record.embeddings.iter().flat_map(|embedding| &embedding.vector);
    if !numbers.all(|number| number.is_finite()) {
        return;
    }
    let text = serde_json::to_string(&record).expect("a record can be written");
    for (_, value) in record.unknown.iter() {
        assert!(text.contains(value.get()));
    }
    // Equality compares unknown fields, here and in the objects within, byte for byte.
    assert_eq!(serde_json::from_str::<Record>(&text).expect("and be read"), record);
});
