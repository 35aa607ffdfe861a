//! Lines of transcripts, read within bounds.

use std::io::{self, BufRead, Read as _};

/// The longest line; lines may hold pictures.
const MAX_LINE_BYTES: u64 = 16 << 20;

/// What was read of a line.
pub(crate) enum Line {
    Text,
    TooLong,
    End,
}

/// Reads a line without its end, up to the longest length.
pub(crate) fn read_line(input: &mut dyn BufRead, line: &mut Vec<u8>) -> io::Result<Line> {
    line.clear();
    let read = input.take(MAX_LINE_BYTES + 1).read_until(b'\n', line)?;
    if read == 0 {
        return Ok(Line::End);
    }
    let ends = line.pop_if(|byte| *byte == b'\n').is_some();
    if ends || read as u64 <= MAX_LINE_BYTES {
        return Ok(Line::Text);
    }
    line.clear();
    input.skip_until(b'\n')?;
    Ok(Line::TooLong)
}
