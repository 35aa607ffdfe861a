//! Decompresses events and transcripts within bounds.

use std::io::{self, BufRead, BufReader, Read as _};

use ruzstd::decoding::{FrameDecoder, StreamingDecoder};

use crate::kit::Value;

/// The program packs events up to this size; longer ones are not events.
const MAX_EVENT_BYTES: u64 = 4 << 20;
/// The most that is read of one conversation, unpacked.
pub(super) const MAX_UNPACKED_BYTES: u64 = 1 << 30;
/// The most that a packed stream may look back; what the program writes needs 8 MiB.
const MAX_WINDOW_BYTES: u64 = 32 << 20;

/// Returns the JSON of an event, which is stored as text or packed.
pub(in crate::openclaw) fn unpacked_event(
    json: &Value,
    packed: &Value,
    size: &Value,
) -> Option<Vec<u8>> {
    match (json, packed) {
        (Value::Text(json), _) => Some(json.clone().into_bytes()),
        (_, Value::OddText(packed) | Value::Blob(packed)) => {
            let size = size.as_integer().and_then(|size| u64::try_from(size).ok());
            let most = size.unwrap_or(MAX_EVENT_BYTES).min(MAX_EVENT_BYTES);
            let mut event = Vec::new();
            let frames = Frames::new(packed.as_slice()).ok()?;
            frames.take(most + 1).read_to_end(&mut event).ok()?;
            (event.len() as u64 <= most).then_some(event)
        }
        _ => None,
    }
}

/// Unpacks a transcript if it is packed; its first bytes say so. Where there is more than
/// `most_bytes`, reading on is the error `FileTooLarge`.
pub(super) fn unpacked<'a>(
    input: Box<dyn io::Read + 'a>,
    most_bytes: u64,
) -> io::Result<Box<dyn BufRead + 'a>> {
    const MAGIC: [u8; 4] = [0x28, 0xb5, 0x2f, 0xfd];
    let mut input = BufReader::with_capacity(64 << 10, input);
    if !input.fill_buf()?.starts_with(&MAGIC) {
        return Ok(Box::new(BoundedReader { input, left: most_bytes }));
    }
    let input = BufReader::with_capacity(64 << 10, Frames::new(input)?);
    Ok(Box::new(BoundedReader { input, left: most_bytes }))
}

/// Reads up to a limit; unlike `take`, it reports that something was cut off.
struct BoundedReader<R> {
    input: R,
    left: u64,
}

impl<R: BufRead> io::Read for BoundedReader<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.fill_buf()?.read(buffer)?;
        self.consume(read);
        Ok(read)
    }
}

impl<R: BufRead> BufRead for BoundedReader<R> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        let bytes = self.input.fill_buf()?;
        if self.left == 0 && !bytes.is_empty() {
            return Err(io::ErrorKind::FileTooLarge.into());
        }
        let most = usize::try_from(self.left).unwrap_or(usize::MAX);
        Ok(&bytes[..bytes.len().min(most)])
    }

    fn consume(&mut self, amount: usize) {
        self.left = self.left.saturating_sub(amount as u64);
        self.input.consume(amount);
    }
}

/// Unpacks one frame after the other.
struct Frames<R: BufRead> {
    frame: Option<StreamingDecoder<R, FrameDecoder>>,
}

impl<R: BufRead> Frames<R> {
    fn new(input: R) -> io::Result<Self> {
        let frame = StreamingDecoder::new_with_max_window_size(input, MAX_WINDOW_BYTES);
        Ok(Self { frame: Some(frame.map_err(io::Error::other)?) })
    }
}

impl<R: BufRead> io::Read for Frames<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while let Some(mut frame) = self.frame.take() {
            let read = frame.read(buffer)?;
            if read > 0 || buffer.is_empty() {
                self.frame = Some(frame);
                return Ok(read);
            }
            let (mut input, decoder) = frame.into_parts();
            let written = decoder.get_checksum_from_data();
            if written.is_some() && written != decoder.get_calculated_checksum() {
                return Err(io::ErrorKind::InvalidData.into());
            }
            if !input.fill_buf()?.is_empty() {
                *self = Self::new(input)?;
            }
        }
        Ok(0)
    }
}
