//! The lines of a file, the last one first.

use std::io::{self, Read, Seek, SeekFrom};
use std::ops::ControlFlow;

use memchr::{memchr, memrchr};

/// How much is read at once.
const BLOCK_BYTES: u64 = 64 << 10;
/// Lines of transcripts may hold pictures; longer ones are skipped.
const MAX_LINE_BYTES: usize = 16 << 20;
/// The first line of a transcript is short.
const MAX_FIRST_BYTES: u64 = 64 << 10;

/// What was read of a line.
pub(super) enum Line<'a> {
    Text(&'a [u8]),
    TooLong,
}

/// Yields the lines of a file from the last to the first, each with its position, until there are
/// no more, `most` bytes were read, or the callback stops. Blank lines are skipped.
pub(super) fn lines_from_end(
    file: &mut (impl Read + Seek),
    size: u64,
    most: u64,
    take: &mut dyn FnMut(Line<'_>, u64) -> ControlFlow<()>,
) -> io::Result<()> {
    let mut rest = LineEnd::default();
    let mut position = size;
    let mut block = Vec::new();
    while position > 0 && size - position < most {
        let length = position.min(BLOCK_BYTES);
        position -= length;
        block.resize(length as usize, 0);
        file.seek(SeekFrom::Start(position))?;
        file.read_exact(&mut block)?;
        let mut end = block.len();
        while let Some(at) = memrchr(b'\n', &block[..end]) {
            let from = position + at as u64 + 1;
            if rest.end(&block[at + 1..end], from, take).is_break() {
                return Ok(());
            }
            end = at;
        }
        rest.add(&block[..end]);
    }
    if position == 0 {
        // The callback's answer to the last line does not matter.
        let _flow = rest.end(&[], 0, take);
    }
    Ok(())
}

/// Returns the first line, if it is not too long.
pub(super) fn first_line(file: &mut (impl Read + Seek)) -> io::Result<Option<Vec<u8>>> {
    file.seek(SeekFrom::Start(0))?;
    let mut bytes = Vec::new();
    file.take(MAX_FIRST_BYTES).read_to_end(&mut bytes)?;
    let Some(end) = memchr(b'\n', &bytes) else { return Ok(None) };
    bytes.truncate(end);
    Ok(Some(bytes))
}

/// The end of a line whose beginning has not been read yet.
#[derive(Default)]
struct LineEnd {
    /// The last piece first.
    pieces: Vec<Vec<u8>>,
    bytes: usize,
    too_long: bool,
}

impl LineEnd {
    fn add(&mut self, piece: &[u8]) {
        self.bytes = self.bytes.saturating_add(piece.len());
        if self.bytes > MAX_LINE_BYTES {
            self.too_long = true;
            self.pieces.clear();
        } else if !piece.is_empty() {
            self.pieces.push(piece.to_vec());
        }
    }

    /// Yields the line that begins with `piece`.
    fn end(
        &mut self,
        piece: &[u8],
        from: u64,
        take: &mut dyn FnMut(Line<'_>, u64) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        if self.pieces.is_empty() && !self.too_long {
            return hand_out(piece, from, take);
        }
        self.add(piece);
        let Self { pieces, bytes, too_long } = std::mem::take(self);
        if too_long {
            return take(Line::TooLong, from);
        }
        let mut line = Vec::with_capacity(bytes);
        pieces.iter().rev().for_each(|piece| line.extend_from_slice(piece));
        hand_out(&line, from, take)
    }
}

fn hand_out(
    line: &[u8],
    from: u64,
    take: &mut dyn FnMut(Line<'_>, u64) -> ControlFlow<()>,
) -> ControlFlow<()> {
    // Some editors write a byte order mark.
    let line = if from == 0 { line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(line) } else { line };
    let line = line.trim_ascii();
    if line.is_empty() { ControlFlow::Continue(()) } else { take(Line::Text(line), from) }
}

#[cfg(test)]
mod tests {
    use std::io::Cursor;

    use proptest::prelude::*;

    use super::*;

    fn lines(bytes: &[u8], most: u64) -> Vec<(Vec<u8>, u64)> {
        let mut found = Vec::new();
        let size = bytes.len() as u64;
        lines_from_end(&mut Cursor::new(bytes), size, most, &mut |line, from| {
            match line {
                Line::Text(text) => found.push((text.to_vec(), from)),
                Line::TooLong => found.push((b"too long".to_vec(), from)),
            }
            ControlFlow::Continue(())
        })
        .unwrap();
        found
    }

    #[test]
    fn a_line_across_blocks_is_whole() {
        let long = vec![b'a'; 200_000];
        let text = [b"first\n".as_slice(), &long, b"\n\nlast\n"].concat();
        let found = lines(&text, u64::MAX);
        assert_eq!(found[0], (b"last".to_vec(), 200_008));
        assert_eq!(found[1], (long, 6));
        assert_eq!(found[2], (b"first".to_vec(), 0));
    }

    #[test]
    fn what_lies_further_back_than_asked_is_not_read() {
        let text = "line\n".repeat(100_000);
        let found = lines(text.as_bytes(), 65_536);
        assert_eq!(found.len(), 65_536 / 5);
    }

    #[test]
    fn a_line_without_end_is_passed_over() {
        let text = [b"one\n".as_slice(), &vec![b'x'; MAX_LINE_BYTES + 1], b"\ntwo"].concat();
        let found: Vec<_> = lines(&text, u64::MAX).into_iter().map(|line| line.0.len()).collect();
        assert_eq!(found, ["two".len(), "too long".len(), "one".len()]);
    }

    proptest! {
        #[test]
        fn all_lines_come_in_reverse(lines_there in proptest::collection::vec("[a-z]{0,9}", 0..40)) {
            let text = lines_there.join("\n");
            let mut wanted: Vec<_> = lines_there.iter().filter(|line| !line.is_empty()).collect();
            wanted.reverse();
            let found = lines(text.as_bytes(), u64::MAX);
            prop_assert_eq!(found.len(), wanted.len());
            for ((line, from), wanted) in found.iter().zip(wanted) {
                prop_assert_eq!(line, wanted.as_bytes());
                prop_assert!(text.as_bytes()[*from as usize..].starts_with(line));
            }
        }
    }
}
