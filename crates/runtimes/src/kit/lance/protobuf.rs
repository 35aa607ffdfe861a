//! Reads messages of protocol buffers, without their schema.

use super::{LanceError, bytes::Bytes};

/// A message: its fields in order, by number.
#[derive(Debug, Default)]
pub(super) struct Message<'a>(Vec<(u64, Field<'a>)>);

#[derive(Clone, Copy, Debug)]
enum Field<'a> {
    Number(u64),
    Bytes(&'a [u8]),
}

impl<'a> Message<'a> {
    pub(super) fn parse(bytes: &'a [u8]) -> Result<Self, LanceError> {
        let (mut input, mut fields) = (Bytes(bytes), Vec::new());
        while !input.0.is_empty() {
            let tag = varint(&mut input)?;
            let field = match tag & 7 {
                0 => Field::Number(varint(&mut input)?),
                1 => Field::Number(input.u64()?),
                2 => {
                    let length = super::bytes::index(varint(&mut input)?)?;
                    Field::Bytes(input.take(length)?)
                }
                5 => Field::Number(u64::from(input.u32()?)),
                _ => return Err(LanceError::Damaged("message")),
            };
            fields.push((tag >> 3, field));
        }
        Ok(Self(fields))
    }

    /// Returns a number; 0 where it is missing, as the format has it.
    pub(super) fn number(&self, number: u64) -> u64 {
        let found = self.0.iter().rev().find_map(|(at, field)| match field {
            Field::Number(value) if *at == number => Some(*value),
            _ => None,
        });
        found.unwrap_or(0)
    }

    /// Returns a number of 32 bits that may be negative.
    pub(super) fn signed(&self, number: u64) -> i32 {
        as_signed(self.number(number))
    }

    /// Returns bytes, where they are not missing.
    pub(super) fn bytes(&self, number: u64) -> Option<&'a [u8]> {
        self.all(number).last()
    }

    /// Returns a text; an empty one where it is missing.
    pub(super) fn text(&self, number: u64) -> Result<&'a str, LanceError> {
        std::str::from_utf8(self.bytes(number).unwrap_or_default())
            .map_err(|_| LanceError::Damaged("name"))
    }

    /// Returns a message, where it is not missing.
    pub(super) fn message(&self, number: u64) -> Result<Option<Self>, LanceError> {
        self.bytes(number).map(Self::parse).transpose()
    }

    /// Returns the bytes of every field of this number.
    pub(super) fn all(&self, number: u64) -> impl Iterator<Item = &'a [u8]> {
        self.0.iter().filter_map(move |(at, field)| match field {
            Field::Bytes(bytes) if *at == number => Some(*bytes),
            _ => None,
        })
    }

    /// Whether no other fields than these hold bytes, which may be texts and messages.
    pub(super) fn has_only(&self, known: &[u64]) -> bool {
        self.0.iter().all(|(at, field)| match field {
            Field::Bytes(bytes) => bytes.is_empty() || known.contains(at),
            Field::Number(_) => true,
        })
    }

    /// Returns a list of numbers, packed or not.
    pub(super) fn numbers(&self, number: u64) -> Result<Vec<u64>, LanceError> {
        let mut numbers = Vec::new();
        for (_, field) in self.0.iter().filter(|(at, _)| *at == number) {
            match field {
                Field::Number(value) => numbers.push(*value),
                Field::Bytes(packed) => {
                    let mut packed = Bytes(packed);
                    while !packed.0.is_empty() {
                        numbers.push(varint(&mut packed)?);
                    }
                }
            }
        }
        Ok(numbers)
    }

    /// Returns the first field that holds a message: the choice of a message that has one.
    pub(super) fn choice(&self) -> Result<(u64, Self), LanceError> {
        let found = self.0.iter().find_map(|(at, field)| match field {
            Field::Bytes(bytes) => Some((*at, *bytes)),
            Field::Number(_) => None,
        });
        let (number, bytes) = found.ok_or(LanceError::Damaged("encoding"))?;
        Ok((number, Self::parse(bytes)?))
    }
}

/// Negative numbers have the length of long ones.
pub(super) const fn as_signed(number: u64) -> i32 {
    (number as u32).cast_signed()
}

fn varint(input: &mut Bytes<'_>) -> Result<u64, LanceError> {
    let mut value = 0;
    for shift in (0..64).step_by(7) {
        let byte = input.u8()?;
        value |= u64::from(byte & 0x7f) << shift;
        if byte < 0x80 {
            return Ok(value);
        }
    }
    Err(LanceError::Damaged("number"))
}
