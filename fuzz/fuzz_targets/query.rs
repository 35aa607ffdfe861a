//! A question: whatever is typed is taken apart.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    anemone_index::fuzzing::query(&String::from_utf8_lossy(bytes));
});
