//! The stored body of a chunk: refused, or read and written as the same.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| anemone_index::law_tests::body(bytes));
