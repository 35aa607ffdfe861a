//! A configuration of ZeroClaw: without its secrets it is TOML of the same shape.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    anemone_runtimes::zeroclaw_laws::config(&String::from_utf8_lossy(bytes));
});
