//! Any bytes whose seal is right, so that what is behind it is reached.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    anemone_fuzz::check_file(&anemone_fuzz::reseal(bytes.to_vec()));
});
