//! Unpacks bytes: LZ4, Zstandard, FSST and packed bits.

use std::io::Read as _;

use ruzstd::decoding::StreamingDecoder;

use super::budget::{Decoding, STEP};
use super::bytes::Bytes;
use super::page::Data;
use super::protobuf::Message;
use super::{LanceError, MAX_BYTES};

/// The number of values that are packed together.
const PACKED: usize = 1024;
/// The order in which packed values are stored, in groups of eight.
const ORDER: [usize; 8] = [0, 4, 2, 6, 1, 5, 3, 7];
/// The most that a packed stream may look back.
const MAX_WINDOW_BYTES: u64 = 32 << 20;
/// The code that is followed by a byte as it is.
const ESCAPE: u8 = 255;

/// Decompresses a buffer by what its encoding says.
pub(super) fn decompress(
    compression: &Message<'_>,
    bytes: &[u8],
    decoding: Decoding<'_>,
) -> Result<Vec<u8>, LanceError> {
    match compression.number(1) {
        1 => lz4(bytes, decoding),
        // The length, then the stream; early versions wrote no length.
        2 if bytes.starts_with(&[0x28, 0xb5, 0x2f, 0xfd]) => zstd(bytes, decoding),
        2 => zstd(bytes.get(8..).unwrap_or_default(), decoding),
        scheme => Err(LanceError::unsupported(format!("compression scheme {scheme}"))),
    }
}

/// Decompresses a stream of Zstandard.
pub(super) fn zstd(bytes: &[u8], decoding: Decoding<'_>) -> Result<Vec<u8>, LanceError> {
    let damaged = |_| LanceError::Damaged("compressed part");
    // Even an empty stream gets a window.
    decoding.work(STEP)?;
    let stream = StreamingDecoder::new_with_max_window_size(bytes, MAX_WINDOW_BYTES);
    let mut unpacked = Vec::new();
    let stream = stream.map_err(|_| LanceError::Damaged("compressed part"))?;
    stream.take(MAX_BYTES + 1).read_to_end(&mut unpacked).map_err(damaged)?;
    decoding.size(unpacked.len(), 1)?;
    Ok(unpacked)
}

/// Decompresses a block of LZ4 that begins with its length.
fn lz4(bytes: &[u8], decoding: Decoding<'_>) -> Result<Vec<u8>, LanceError> {
    let damaged = || LanceError::Damaged("compressed part");
    let mut input = Bytes(bytes);
    let length = decoding.size(input.u32()? as usize, 1)?;
    let mut unpacked = Vec::new();
    while !input.0.is_empty() {
        let token = usize::from(input.u8()?);
        let literals = lz4_length(&mut input, token >> 4)?;
        unpacked.extend(input.take(literals)?);
        if !input.0.is_empty() {
            let distance = usize::from(input.u16()?);
            let matched = lz4_length(&mut input, token & 0xf)? + 4;
            let start = unpacked.len().checked_sub(distance).filter(|_| distance > 0);
            let start = start.ok_or_else(damaged)?;
            if unpacked.len() + matched > length {
                return Err(damaged());
            }
            // A match may reach into itself.
            (start..start + matched).for_each(|at| unpacked.push(unpacked[at]));
        }
    }
    if unpacked.len() == length { Ok(unpacked) } else { Err(damaged()) }
}

fn lz4_length(input: &mut Bytes<'_>, short: usize) -> Result<usize, LanceError> {
    let mut length = short;
    if short == 15 {
        loop {
            let more = input.u8()?;
            length += usize::from(more);
            if more != u8::MAX {
                break;
            }
        }
    }
    Ok(length)
}

/// Replaces the codes of every text by their symbols; the table is a number that says how many there
/// are, then eight bytes for each, then the length of each.
pub(super) fn fsst(packed: Data, table: &[u8], decoding: Decoding<'_>) -> Result<Data, LanceError> {
    let Data::Variable(packed) = packed else {
        return Err(LanceError::unsupported("symbols that are no texts"));
    };
    let mut input = Bytes(table);
    let header = input.u64()?;
    if header >> 32 != 0x4653_5354 {
        return Err(LanceError::Damaged("table of symbols"));
    }
    if header >> 24 & 1 == 0 {
        return Ok(Data::Variable(packed));
    }
    let count = (header & 0xff) as usize;
    let (symbols, lengths) = (input.take(count * 8)?, input.take(count)?);
    let (mut texts, mut total) = (Vec::with_capacity(packed.len()), 0);
    for codes in packed {
        let mut text = Vec::with_capacity(codes.len() * 2);
        let mut codes = Bytes(&codes);
        while !codes.0.is_empty() {
            let code = codes.u8()?;
            if code == ESCAPE {
                text.push(codes.u8()?);
                continue;
            }
            let symbol = symbols.chunks_exact(8).zip(lengths).nth(usize::from(code));
            let symbol = symbol.and_then(|(symbol, length)| symbol.get(..usize::from(*length)));
            text.extend(symbol.ok_or(LanceError::Damaged("table of symbols"))?);
        }
        decoding.add(&mut total, text.len())?;
        texts.push(text);
    }
    Ok(Data::Variable(texts))
}

/// Unpacks numbers of a few bits; the first number is how many. 1024 of them are always packed, in
/// an order that suits processors.
pub(super) fn unpack(
    bytes: &[u8],
    width: usize,
    count: usize,
    decoding: Decoding<'_>,
) -> Result<Vec<u8>, LanceError> {
    decoding.size(PACKED, width)?;
    let damaged = || LanceError::Damaged("packed number");
    let mut input = Bytes(bytes);
    let (bits, all) = (input.number(width)?, width as u64 * 8);
    if count > PACKED || bits > all || input.0.len() as u64 != bits * (PACKED as u64) / 8 {
        return Err(damaged());
    }
    let words: Vec<u64> = input
        .0
        .chunks_exact(width)
        .map(|word| Bytes(word).number(width))
        .collect::<Result<_, _>>()?;
    let (rows, lanes) = (width * 8, PACKED / (width * 8));
    let mut numbers = vec![0; PACKED];
    for lane in 0..lanes {
        for row in 0..rows {
            let mut number: u64 = 0;
            for bit in 0..bits {
                let place = row as u64 * bits + bit;
                let word = words.get(lanes * (place / all) as usize + lane).ok_or_else(damaged)?;
                number |= (word >> (place % all) & 1) << bit;
            }
            numbers[ORDER[row / 8] * 16 + row % 8 * 128 + lane] = number;
        }
    }
    let bytes =
        numbers.iter().take(count).flat_map(|number| number.to_le_bytes().into_iter().take(width));
    Ok(bytes.collect())
}
