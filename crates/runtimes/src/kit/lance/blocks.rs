//! The encodings of data files 2.1 and 2.2: small values in blocks, large ones one after the other.

use super::LanceError;
use super::budget::Decoding;
use super::bytes::{Bytes, index, part, size};
use super::packed::{decompress, fsst, unpack};
use super::page::{Data, Values, fixed, look_up, width_of};
use super::protobuf::Message;

/// What a layer says of which no value is null.
const ALL_VALID: u64 = 1;
/// Parts of a block begin at multiples of this.
const ALIGNMENT: usize = 8;

/// Reads the values of a page.
pub(super) fn decode(
    layout: &Message<'_>,
    buffers: &[Vec<u8>],
    rows: usize,
    decoding: Decoding<'_>,
) -> Result<Values, LanceError> {
    let (kind, layout) = layout.choice()?;
    match kind {
        1 => blocks(&layout, buffers, rows, decoding),
        2 => constant(&layout, buffers),
        3 => zipped(&layout, buffers, rows, decoding),
        _ => Err(LanceError::unsupported(format!("layout {kind} of files 2.1"))),
    }
}

fn child<'a>(message: &Message<'a>, number: u64) -> Result<Message<'a>, LanceError> {
    message.message(number)?.ok_or(LanceError::Damaged("encoding"))
}

fn buffer(buffers: &[Vec<u8>], number: usize) -> Result<&[u8], LanceError> {
    buffers.get(number).map(Vec::as_slice).ok_or(LanceError::Damaged("buffer"))
}

fn check_layers(layout: &Message<'_>, number: u64) -> Result<(), LanceError> {
    let layers = layout.numbers(number)?;
    let is_plain = layers.iter().all(|layer| *layer == ALL_VALID);
    if is_plain { Ok(()) } else { Err(LanceError::unsupported("values that may be null")) }
}

/// One value for all rows, or none.
fn constant(layout: &Message<'_>, buffers: &[Vec<u8>]) -> Result<Values, LanceError> {
    let all = |data| Ok(Values { data, valid: None });
    if let Some(value) = layout.bytes(6) {
        check_layers(layout, 5)?;
        return all(Data::Constant(value.to_vec()));
    }
    let Some(scalar) = buffers.first() else { return all(Data::Null) };
    check_layers(layout, 5)?;
    // The number of parts and the length of each, then the parts: offsets and text.
    let mut scalar = Bytes(scalar);
    if scalar.u32()? != 2 {
        return Err(LanceError::unsupported("a constant of another form"));
    }
    let (offsets, length) = (scalar.u32()? as usize, scalar.u32()? as usize);
    scalar.take(offsets)?;
    all(Data::Constant(scalar.take(length)?.to_vec()))
}

/// Small values: a list of blocks, which have a few thousand bytes each.
fn blocks(
    layout: &Message<'_>,
    buffers: &[Vec<u8>],
    rows: usize,
    decoding: Decoding<'_>,
) -> Result<Values, LanceError> {
    check_layers(layout, 6)?;
    if layout.message(1)?.is_some() || layout.message(2)?.is_some() {
        return Err(LanceError::unsupported("values that may be null"));
    }
    let is_large = layout.number(10) != 0;
    let width = if is_large { 4 } else { 2 };
    let compression = child(layout, 3)?;
    let parts = index(layout.number(7))?;
    let mut descriptions = Bytes(buffer(buffers, 0)?);
    let mut chunks = Bytes(buffer(buffers, 1)?);
    let mut joined = JoinedValues::default();
    let mut left = rows;
    while !descriptions.0.is_empty() {
        decoding.work(decoding.description)?;
        let description = descriptions.number(width)?;
        let chunk = chunks.take((index(description >> 4)? + 1) * ALIGNMENT)?;
        // The last block has what is left.
        let count = match description & 0xf {
            0 => left,
            log => 1 << log,
        };
        left = left.checked_sub(count).ok_or(LanceError::Damaged("number of rows"))?;
        let mut header = Bytes(chunk);
        header.u16()?;
        let mut lengths = Vec::new();
        for _ in 0..parts {
            lengths.push(index(header.number(width)?)?);
        }
        let mut at = chunk.len() - header.0.len();
        let mut pieces = Vec::new();
        for length in lengths {
            at = at.next_multiple_of(ALIGNMENT);
            pieces.push(part(chunk, at as u64, length as u64)?);
            at += length;
        }
        joined.add(values(&compression, &pieces, count, decoding)?)?;
    }
    if left > 0 {
        return Err(LanceError::Damaged("number of rows"));
    }
    let data = joined.finish();
    match layout.message(4)? {
        Some(dictionary) => {
            let count = index(layout.number(5))?;
            let items = block(&dictionary, buffer(buffers, 2)?, count, decoding)?;
            look_up(&data, &items, rows, 0, decoding)
        }
        None => Ok(Values { data, valid: None }),
    }
}

/// The values of several blocks.
#[derive(Default)]
struct JoinedValues {
    data: Option<Data>,
    /// Bytes of texts so far.
    total: usize,
}

impl JoinedValues {
    fn add(&mut self, more: Data) -> Result<(), LanceError> {
        if let Data::Variable(values) = &more {
            // Compressed blocks are small, and what they hold need not be.
            let bytes: usize = values.iter().map(Vec::len).sum();
            self.total = size(self.total + bytes, 1)?;
        }
        match (&mut self.data, more) {
            (empty @ None, more) => *empty = Some(more),
            (Some(Data::Fixed { width, bytes }), Data::Fixed { width: other, bytes: more })
                if *width == other =>
            {
                size(bytes.len() + more.len(), 1)?;
                bytes.extend(more);
            }
            (Some(Data::Variable(values)), Data::Variable(more)) => values.extend(more),
            _ => return Err(LanceError::unsupported("blocks that differ")),
        }
        Ok(())
    }

    fn finish(self) -> Data {
        self.data.unwrap_or(Data::Variable(Vec::new()))
    }
}

/// Reads the values of a block, which has these parts.
fn values(
    compression: &Message<'_>,
    parts: &[&[u8]],
    count: usize,
    decoding: Decoding<'_>,
) -> Result<Data, LanceError> {
    let decoding = decoding.inner()?;
    let (kind, encoding) = compression.choice()?;
    let first = *parts.first().ok_or(LanceError::Damaged("block"))?;
    match kind {
        1 => fixed(first, flat_width(&encoding)?, count, decoding),
        2 => texts(first, Bytes(first), offset_width(&encoding)?, count, decoding),
        5 => {
            let width = width_of(encoding.number(1))?;
            Ok(Data::Fixed { width, bytes: unpack(first, width, count, decoding)? })
        }
        6 => {
            let packed = values(&child(&encoding, 2)?, parts, count, decoding)?;
            fsst(packed, encoding.bytes(1).unwrap_or_default(), decoding)
        }
        8 => {
            let width = flat_width(&inner_flat(&child(&encoding, 1)?)?)?;
            if flat_width(&inner_flat(&child(&encoding, 2)?)?)? != 1 {
                return Err(LanceError::unsupported("long runs"));
            }
            let lengths = *parts.get(1).ok_or(LanceError::Damaged("block"))?;
            let mut bytes = Vec::with_capacity(decoding.size(count, width)?);
            for (run, length) in first.chunks_exact(width).zip(lengths) {
                let left = count - bytes.len() / width;
                (0..left.min(usize::from(*length))).for_each(|_| bytes.extend(run));
            }
            fixed(&bytes, width, count, decoding)
        }
        9 => {
            let inner = values(&child(&encoding, 1)?, parts, count, decoding)?;
            let Data::Fixed { width, bytes } = inner else {
                return Err(LanceError::unsupported("a split of texts"));
            };
            decoding.size(bytes.len(), 1)?;
            // The first byte of every value, then the second of every value, and so on.
            let at = |place: usize| bytes[place % width * count + place / width];
            Ok(Data::Fixed { width, bytes: (0..bytes.len()).map(at).collect() })
        }
        10 => {
            let first = decompress(&child(&encoding, 1)?, first, decoding)?;
            let mut parts = parts.to_vec();
            parts[0] = &first;
            values(&child(&encoding, 3)?, &parts, count, decoding)
        }
        11 => {
            let items = index(encoding.number(1))?;
            if encoding.number(3) != 0 {
                return Err(LanceError::unsupported("vectors with nulls"));
            }
            let inner = values(&child(&encoding, 2)?, parts, size(count, items)?, decoding)?;
            match inner {
                Data::Fixed { width, bytes } => {
                    Ok(Data::Fixed { width: size(width, items)?, bytes })
                }
                _ => Err(LanceError::unsupported("vectors of texts")),
            }
        }
        _ => Err(LanceError::unsupported(format!("compression {kind} of files 2.1"))),
    }
}

/// Reads values that are one buffer: the items of a dictionary.
fn block(
    compression: &Message<'_>,
    bytes: &[u8],
    count: usize,
    decoding: Decoding<'_>,
) -> Result<Data, LanceError> {
    let decoding = decoding.inner()?;
    let (kind, encoding) = compression.choice()?;
    match kind {
        1 => fixed(bytes, flat_width(&encoding)?, count, decoding),
        2 => {
            let width = offset_width(&encoding)?;
            // The bits of an offset, and where the texts start; then the offsets.
            let mut input = Bytes(bytes);
            let (bits, start) = (input.number(width)?, input.number(width)?);
            if bits != width as u64 * 8 {
                return Err(LanceError::unsupported("a dictionary of an early version"));
            }
            let text = part(bytes, start, (bytes.len() as u64).saturating_sub(start))?;
            texts(text, input, width, count, decoding)
        }
        6 => {
            let packed = block(&child(&encoding, 2)?, bytes, count, decoding)?;
            fsst(packed, encoding.bytes(1).unwrap_or_default(), decoding)
        }
        10 => {
            let bytes = decompress(&child(&encoding, 1)?, bytes, decoding)?;
            block(&child(&encoding, 3)?, &bytes, count, decoding)
        }
        _ => Err(LanceError::unsupported(format!("dictionaries in compression {kind}"))),
    }
}

/// Large values: each follows the one before, a text after its length.
fn zipped(
    layout: &Message<'_>,
    buffers: &[Vec<u8>],
    rows: usize,
    decoding: Decoding<'_>,
) -> Result<Values, LanceError> {
    check_layers(layout, 8)?;
    if layout.number(1) != 0 || layout.number(2) != 0 {
        return Err(LanceError::unsupported("values that may be null"));
    }
    let (bytes, compression) = (buffer(buffers, 0)?, child(layout, 7)?);
    let offset_bits = layout.number(4);
    let data = if offset_bits == 0 {
        values(&compression, &[bytes], rows, decoding)?
    } else {
        let (width, mut input) = (width_of(offset_bits)?, Bytes(bytes));
        let mut packed = Vec::new();
        for _ in 0..rows {
            let length = index(input.number(width)?)?;
            packed.push(input.take(length)?.to_vec());
        }
        one_by_one(&compression, packed, decoding)?
    };
    Ok(Values { data, valid: None })
}

/// Unpacks texts of which each was packed on its own.
fn one_by_one(
    compression: &Message<'_>,
    packed: Vec<Vec<u8>>,
    decoding: Decoding<'_>,
) -> Result<Data, LanceError> {
    let decoding = decoding.inner()?;
    let (kind, encoding) = compression.choice()?;
    match kind {
        2 => Ok(Data::Variable(packed)),
        6 => {
            let packed = one_by_one(&child(&encoding, 2)?, packed, decoding)?;
            fsst(packed, encoding.bytes(1).unwrap_or_default(), decoding)
        }
        10 => {
            let (scheme, mut total) = (child(&encoding, 1)?, 0);
            let mut unpacked = Vec::with_capacity(packed.len());
            for value in packed {
                let value = decompress(&scheme, &value, decoding)?;
                decoding.add(&mut total, value.len())?;
                unpacked.push(value);
            }
            one_by_one(&child(&encoding, 3)?, unpacked, decoding)
        }
        _ => Err(LanceError::unsupported(format!("texts in compression {kind}"))),
    }
}

/// Reads texts between offsets.
fn texts(
    bytes: &[u8],
    mut offsets: Bytes<'_>,
    width: usize,
    count: usize,
    decoding: Decoding<'_>,
) -> Result<Data, LanceError> {
    let mut total = 0;
    let mut start = offsets.number(width)?;
    let mut values = Vec::new();
    for _ in 0..count {
        let end = offsets.number(width)?;
        let length = end.checked_sub(start).ok_or(LanceError::Damaged("offset"))?;
        let text = part(bytes, start, length)?;
        decoding.add(&mut total, text.len())?;
        values.push(text.to_vec());
        start = end;
    }
    Ok(Data::Variable(values))
}

/// Returns the encoding of numbers that are stored as they are.
fn inner_flat<'a>(compression: &Message<'a>) -> Result<Message<'a>, LanceError> {
    match compression.choice()? {
        (1, flat) => Ok(flat),
        (kind, _) => Err(LanceError::unsupported(format!("numbers in compression {kind}"))),
    }
}

fn flat_width(flat: &Message<'_>) -> Result<usize, LanceError> {
    if flat.message(2)?.is_some() {
        return Err(LanceError::unsupported("compressed buffers"));
    }
    width_of(flat.number(1))
}

fn offset_width(variable: &Message<'_>) -> Result<usize, LanceError> {
    if variable.message(2)?.is_some() {
        return Err(LanceError::unsupported("compressed texts"));
    }
    let width = flat_width(&inner_flat(&child(variable, 1)?)?)?;
    if matches!(width, 4 | 8) { Ok(width) } else { Err(LanceError::unsupported("short offsets")) }
}
