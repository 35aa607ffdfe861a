//! A file of memories as ZeroClaw writes them: read into records that stand apart and in order.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    anemone_runtimes::zeroclaw_laws::entries(&String::from_utf8_lossy(bytes));
});
