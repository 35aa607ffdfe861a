//! A Markdown file: cut into sections or rows and joined again, it is the same bytes.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    anemone_runtimes::openclaw_laws::sections(&String::from_utf8_lossy(bytes));
});
