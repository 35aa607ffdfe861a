//! Any bytes: a stream gives the secrets of the whole, and nothing is left to find once they are
//! redacted.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| anemone_runtimes::fuzzing::secrets(bytes));
