//! The encodings of data files 2.0: a tree whose leaves are buffers of the page.

use super::LanceError;
use super::budget::Decoding;
use super::bytes::{Bytes, part, size};
use super::packed::fsst;
use super::page::{Data, Values, fixed, look_up, width_of};
use super::protobuf::Message;

/// Reads the values of a page.
pub(super) fn decode(
    encoding: &Message<'_>,
    buffers: &[Vec<u8>],
    rows: usize,
    decoding: Decoding<'_>,
) -> Result<Values, LanceError> {
    FlatReader { buffers, decoding }.array(encoding, rows)
}

#[derive(Clone, Copy)]
struct FlatReader<'a> {
    buffers: &'a [Vec<u8>],
    decoding: Decoding<'a>,
}

impl FlatReader<'_> {
    fn array(self, encoding: &Message<'_>, rows: usize) -> Result<Values, LanceError> {
        let inner = Self { decoding: self.decoding.inner()?, ..self };
        let (kind, encoding) = encoding.choice()?;
        let all = |data| Values { data, valid: None };
        Ok(match kind {
            1 => all(self.flat(&encoding, rows)?),
            2 => inner.nullable(&encoding, rows)?,
            3 => all(inner.list(&encoding, rows)?),
            6 => inner.binary(&encoding, rows)?,
            7 => {
                let count = super::bytes::index(encoding.number(3))?;
                let indices = inner.array(&child(&encoding, 1)?, rows)?;
                let items = inner.array(&child(&encoding, 2)?, count)?;
                // Index 0 is null.
                look_up(&indices.data, &items.data, rows, 1, self.decoding)?
            }
            8 => {
                let mut values = inner.array(&child(&encoding, 1)?, rows)?;
                let symbols = encoding.bytes(2).unwrap_or_default();
                values.data = fsst(values.data, symbols, self.decoding)?;
                values
            }
            _ => return Err(LanceError::unsupported(format!("encoding {kind} of files 2.0"))),
        })
    }

    /// Returns a buffer that is not compressed, and the bits of a value in it.
    fn buffer(&self, flat: &Message<'_>) -> Result<(&[u8], u64), LanceError> {
        if flat.message(3)?.is_some() {
            return Err(LanceError::unsupported("compressed buffers"));
        }
        let buffer = child(flat, 2)?;
        let found = self.buffers.get(super::bytes::index(buffer.number(1))?);
        match found {
            Some(bytes) if buffer.number(2) == 0 => Ok((bytes, flat.number(1))),
            _ => Err(LanceError::Damaged("buffer")),
        }
    }

    fn flat(self, flat: &Message<'_>, rows: usize) -> Result<Data, LanceError> {
        let (bytes, bits) = self.buffer(flat)?;
        fixed(bytes, width_of(bits)?, rows, self.decoding)
    }

    fn nullable(self, encoding: &Message<'_>, rows: usize) -> Result<Values, LanceError> {
        let (kind, encoding) = encoding.choice()?;
        match kind {
            1 => self.array(&child(&encoding, 1)?, rows),
            2 => {
                let (flat, validity) = child(&encoding, 1)?.choice()?;
                let (bytes, bits) = self.buffer(&validity)?;
                if flat != 1 || bits != 1 {
                    return Err(LanceError::unsupported("packed nulls"));
                }
                let bits = part(bytes, 0, rows.div_ceil(8) as u64)?;
                self.decoding.size(rows, 1)?;
                let valid = (0..rows).map(|row| bits[row / 8] >> (row % 8) & 1 == 1).collect();
                let values = self.array(&child(&encoding, 2)?, rows)?;
                Ok(Values { data: values.data, valid: Some(valid) })
            }
            _ => Ok(Values { data: Data::Null, valid: None }),
        }
    }

    fn list(self, list: &Message<'_>, rows: usize) -> Result<Data, LanceError> {
        let dimension = super::bytes::index(list.number(1))?;
        if list.number(3) != 0 {
            return Err(LanceError::unsupported("vectors with nulls"));
        }
        let items = self.array(&child(list, 2)?, size(rows, dimension)?)?;
        match items {
            Values { data: Data::Fixed { width, bytes }, valid: None } => {
                Ok(Data::Fixed { width: size(width, dimension)?, bytes })
            }
            _ => Err(LanceError::unsupported("vectors with nulls")),
        }
    }

    /// Texts: the end of each, and all of them in a row. An end that is too large is a null.
    fn binary(self, binary: &Message<'_>, rows: usize) -> Result<Values, LanceError> {
        let ends = self.array(&child(binary, 1)?, rows)?;
        let Data::Fixed { width: 8, bytes: ends } = ends.data else {
            return Err(LanceError::unsupported("short offsets"));
        };
        let (flat, bytes) = child(binary, 2)?.choice()?;
        if flat != 1 {
            return Err(LanceError::unsupported("packed texts"));
        }
        let (bytes, _) = self.buffer(&bytes)?;
        let null = binary.number(3);
        let (mut ends, mut start) = (Bytes(&ends), 0);
        let (mut values, mut valid) = (Vec::with_capacity(rows), Vec::with_capacity(rows));
        let mut total = 0;
        for _ in 0..rows {
            let end = ends.u64()?;
            let is_null = null > 0 && end >= null;
            let end = if is_null { end - null } else { end };
            let length = end.checked_sub(start).ok_or(LanceError::Damaged("offset"))?;
            let text = part(bytes, start, length)?;
            self.decoding.add(&mut total, text.len())?;
            values.push(text.to_vec());
            valid.push(!is_null);
            start = end;
        }
        let valid = valid.contains(&false).then_some(valid);
        Ok(Values { data: Data::Variable(values), valid })
    }
}

fn child<'a>(message: &Message<'a>, number: u64) -> Result<Message<'a>, LanceError> {
    message.message(number)?.ok_or(LanceError::Damaged("encoding"))
}
