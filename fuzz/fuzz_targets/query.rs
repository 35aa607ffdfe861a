//! A question: whatever is typed is taken apart.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    anemone_index::law_tests::query(&String::from_utf8_lossy(bytes));
});
