//! Any bytes: a stream gives the secrets of the whole, and nothing is left to find once they are
//! redacted.

#![no_main]

use anemone_secrets::{Scanner, redact, scan};

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let hits = scan(bytes);
    let mut end = 0;
    for hit in &hits {
        assert!(end <= hit.range.start && hit.range.start < hit.range.end, "hits are apart");
        end = hit.range.end;
    }
    assert!(end <= bytes.len());
    // The first byte says how long blocks are.
    let size = bytes.first().map_or(1, |first| usize::from(*first) + 1);
    let mut scanner = Scanner::new();
    bytes.chunks(size).for_each(|block| scanner.feed(block));
    assert_eq!(scanner.finish(), hits, "in blocks of {size}");
    let redacted = redact(bytes, &hits).into_owned();
    let left = scan(&redacted);
    assert_eq!(left, [], "of {hits:?}");
    assert_eq!(redact(&redacted, &left), redacted);
});
