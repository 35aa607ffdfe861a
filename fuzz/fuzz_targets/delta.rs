//! A delta, as it is or as its entries, applied to a base that is always the same.

#![no_main]

use anemone_format::{Delta, apply_delta};
use anemone_fuzz::{check, container, limits, open, reseal, spool};

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let whole = || reseal(bytes.to_vec());
    let bytes =
        if bytes.starts_with(b"PK") { whole() } else { container(bytes).unwrap_or_else(whole) };
    let report = check(&bytes);
    let base = open(include_bytes!("../base.alf"));
    let length = bytes.len() as u64;
    let Ok(delta) = Delta::open(Box::new(bytes), length, &limits()) else { return };
    let Ok((result, _)) = apply_delta(&base, &delta, Vec::new(), spool(), 1) else { return };
    let errors = check(&result).errors;
    assert!(errors.is_empty() || !report.is_valid(), "{errors:?}");
});
