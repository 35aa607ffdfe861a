//! A document of any format: its chunks, one after the other, are its text.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    anemone_index::law_tests::text(&String::from_utf8_lossy(bytes));
});
