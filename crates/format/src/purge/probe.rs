//! Searches entries for text that should not be there.

use std::io::{self, Read};

use memchr::memmem::Finder;

use crate::archive::read::{Entries, ReadEntryError};
use crate::id::RecordId;

/// Shorter text occurs everywhere and proves nothing.
const MIN_CHARS: usize = 8;
/// A single line of a record is only searched for when it is at least this long.
const MIN_LINE_CHARS: usize = 24;

/// The text of one record, in the forms in which a file may hold it.
pub(crate) struct ErasureProbe {
    pub(crate) id: RecordId,
    /// The whole text with LF and with CRLF; empty when it is too short to look for.
    whole: Vec<Finder<'static>>,
    /// Its longer lines.
    lines: Vec<Finder<'static>>,
}

/// How much of a text was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Trace {
    /// One of its lines.
    Line,
    /// All of it.
    Whole,
}

impl ErasureProbe {
    pub(crate) fn new(id: RecordId, content: &str) -> Self {
        let text = content.trim().replace("\r\n", "\n");
        let finder = |text: &str| Finder::new(text.as_bytes()).into_owned();
        let mut whole = Vec::new();
        if text.chars().count() >= MIN_CHARS {
            whole.push(finder(&text));
            if text.contains('\n') {
                whole.push(finder(&text.replace('\n', "\r\n")));
            }
        }
        // A text of one line is its own line.
        let mut lines: Vec<&str> = text.lines().map(str::trim).collect();
        let is_long = |line: &&str| line.chars().count() >= MIN_LINE_CHARS;
        lines.retain(|line| is_long(line) && *line != text);
        Self { id, whole, lines: lines.into_iter().map(finder).collect() }
    }

    /// Returns true when the text is long enough to be looked for.
    pub(crate) fn is_searchable(&self) -> bool {
        !self.whole.is_empty()
    }

    /// Returns where the whole text occurs in some bytes.
    pub(crate) fn find_whole(&self, bytes: &[u8]) -> Option<std::ops::Range<usize>> {
        self.whole.iter().find_map(|finder| {
            let at = finder.find(bytes)?;
            Some(at..at + finder.needle().len())
        })
    }

    pub(crate) fn trace_in(&self, bytes: &[u8]) -> Option<Trace> {
        if self.find_whole(bytes).is_some() {
            return Some(Trace::Whole);
        }
        self.lines.iter().any(|line| line.find(bytes).is_some()).then_some(Trace::Line)
    }

    fn longest(&self) -> usize {
        self.whole.iter().chain(&self.lines).map(|finder| finder.needle().len()).max().unwrap_or(0)
    }
}

/// Calls `found` for every probe that an entry contains, directly or behind JSON's escapes.
pub(crate) fn search_entry(
    entries: &Entries,
    path: &str,
    probes: &[ErasureProbe],
    mut found: impl FnMut(&ErasureProbe, Trace),
) -> Result<(), ReadEntryError> {
    let mut best: Vec<Option<Trace>> = vec![None; probes.len()];
    search_stream(&mut entries.reader(path)?, probes, &mut best)
        .map_err(|error| ReadEntryError::io(path, error))?;
    if is_json(path) {
        let mut text = Unescaped::new(io::BufReader::new(entries.reader(path)?));
        search_stream(&mut text, probes, &mut best)
            .map_err(|error| ReadEntryError::io(path, error))?;
        // A transcript may hold JSON in a string of JSON.
        let text = Unescaped::new(io::BufReader::new(entries.reader(path)?));
        let mut text = Unescaped::new(io::BufReader::new(text));
        search_stream(&mut text, probes, &mut best)
            .map_err(|error| ReadEntryError::io(path, error))?;
    }
    for (probe, trace) in probes.iter().zip(best) {
        if let Some(trace) = trace {
            found(probe, trace);
        }
    }
    Ok(())
}

/// Calls `found` for every probe whose whole text the content of an entry would contain.
pub(crate) fn search_text(
    path: &str,
    content: &[u8],
    probes: &[ErasureProbe],
    mut found: impl FnMut(&ErasureProbe),
) -> Result<(), ReadEntryError> {
    let (mut once, mut twice) = (Vec::new(), Vec::new());
    if is_json(path) {
        let unescape = |text: &[u8], out: &mut Vec<u8>| {
            Unescaped::new(text).read_to_end(out).map_err(|error| ReadEntryError::io(path, error))
        };
        unescape(content, &mut once)?;
        unescape(&once, &mut twice)?;
    }
    for probe in probes {
        let holds = |bytes: &[u8]| probe.find_whole(bytes).is_some();
        if holds(content) || holds(&once) || holds(&twice) {
            found(probe);
        }
    }
    Ok(())
}

fn is_json(path: &str) -> bool {
    path.ends_with(".json") || path.ends_with(".jsonl")
}

fn search_stream(
    reader: &mut dyn Read,
    probes: &[ErasureProbe],
    best: &mut [Option<Trace>],
) -> io::Result<()> {
    let overlap = probes.iter().map(ErasureProbe::longest).max().unwrap_or(0);
    let mut window = Vec::new();
    loop {
        let kept = window.len().min(overlap);
        window.drain(..window.len() - kept);
        let read = (&mut *reader).take(1 << 20).read_to_end(&mut window)?;
        if read == 0 {
            return Ok(());
        }
        for (probe, best) in probes.iter().zip(&mut *best) {
            if *best != Some(Trace::Whole) {
                *best = (*best).max(probe.trace_in(&window));
            }
        }
    }
}

/// Undoes the escapes of JSON strings in a stream, so that `\u00e9` and `é` look the same.
struct Unescaped<R> {
    inner: io::Bytes<R>,
    ready: Vec<u8>,
    used: usize,
}

impl<R: io::BufRead> Unescaped<R> {
    fn new(inner: R) -> Self {
        Self { inner: inner.bytes(), ready: Vec::new(), used: 0 }
    }

    fn fill(&mut self) -> io::Result<()> {
        self.ready.clear();
        self.used = 0;
        while self.ready.len() < 8 << 10 {
            let Some(byte) = self.inner.next().transpose()? else {
                return Ok(());
            };
            if byte != b'\\' {
                self.ready.push(byte);
                continue;
            }
            match self.inner.next().transpose()? {
                Some(b'n') => self.ready.push(b'\n'),
                Some(b'r') => self.ready.push(b'\r'),
                Some(b't') => self.ready.push(b'\t'),
                Some(b'b') => self.ready.push(8),
                Some(b'f') => self.ready.push(12),
                Some(b'u') => {
                    let first = self.code_unit()?;
                    self.push_unicode(first)?;
                }
                Some(other) => self.ready.push(other),
                None => return Ok(()),
            }
        }
        Ok(())
    }

    fn code_unit(&mut self) -> io::Result<u16> {
        let mut unit = 0;
        for _ in 0..4 {
            let digit = self.inner.next().transpose()?.map(char::from);
            let digit = digit.and_then(|digit| digit.to_digit(16)).unwrap_or(0);
            unit = unit << 4 | u16::try_from(digit).unwrap_or(0);
        }
        Ok(unit)
    }

    fn push_unicode(&mut self, first: u16) -> io::Result<()> {
        let mut units = vec![first];
        if (0xd800..0xdc00).contains(&first) {
            // A pair: the second half follows as another escape.
            let marker = (self.inner.next().transpose()?, self.inner.next().transpose()?);
            if marker == (Some(b'\\'), Some(b'u')) {
                units.push(self.code_unit()?);
            }
        }
        let text = String::from_utf16_lossy(&units);
        self.ready.extend_from_slice(text.as_bytes());
        Ok(())
    }
}

impl<R: io::BufRead> Read for Unescaped<R> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        if self.used == self.ready.len() {
            self.fill()?;
        }
        let rest = &self.ready[self.used..];
        let count = rest.len().min(out.len());
        out[..count].copy_from_slice(&rest[..count]);
        self.used += count;
        Ok(count)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn probe(text: &str) -> ErasureProbe {
        ErasureProbe::new("1d93a526-85b1-5b5b-9ac8-2fcc8749633d".parse().unwrap(), text)
    }

    #[test]
    fn a_text_is_found_with_either_line_end_and_a_long_line_alone() {
        let probe = probe("\nThe first line of it is rather long.\nshort\n");
        let whole = b"x The first line of it is rather long.\r\nshort y";
        assert_eq!(probe.trace_in(whole), Some(Trace::Whole));
        let line = b"x The first line of it is rather long. y";
        assert_eq!(probe.trace_in(line), Some(Trace::Line));
        assert_eq!(probe.trace_in(b"short"), None);
    }

    #[test]
    fn escapes_do_not_hide_a_text_and_neither_do_block_borders() {
        let probes = [probe("Caf\u{e9} \"\u{1f99e}\"\nnext")];
        let json = br#"{"a":"Caf\u00e9 \"\ud83e\udd9e\"\nnext"}"#;
        let mut best = [None];
        search_stream(&mut Unescaped::new(&json[..]), &probes, &mut best).unwrap();
        assert_eq!(best, [Some(Trace::Whole)]);

        let probes = [probe("across the border")];
        let text = [vec![b'.'; (1 << 20) - 5], b"across the border".to_vec()].concat();
        let mut best = [None];
        search_stream(&mut &text[..], &probes, &mut best).unwrap();
        assert_eq!(best, [Some(Trace::Whole)]);
    }

    #[test]
    fn a_text_that_occurs_everywhere_is_not_searched_for() {
        assert!(!probe("ok").is_searchable());
    }
}
