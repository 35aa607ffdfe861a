//! Entries with any content in a sound container, so that JSON is reached.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    if let Some(file) = anemone_fuzz::container(bytes) {
        anemone_fuzz::check_file(&file);
    }
});
