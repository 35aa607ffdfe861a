//! Any bytes, as a file.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| anemone_fuzz::check_file(bytes));
