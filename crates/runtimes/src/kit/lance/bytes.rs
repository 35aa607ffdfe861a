//! Takes numbers and pieces off bytes that may end too early.

use super::LanceError;

/// What is left to read.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bytes<'a>(pub(super) &'a [u8]);

impl<'a> Bytes<'a> {
    /// Takes a piece.
    pub(super) fn take(&mut self, length: usize) -> Result<&'a [u8], LanceError> {
        let (piece, rest) =
            self.0.split_at_checked(length).ok_or(LanceError::Damaged("length of a part"))?;
        self.0 = rest;
        Ok(piece)
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N], LanceError> {
        let piece = self.take(N)?;
        piece.try_into().map_err(|_| LanceError::Damaged("length of a part"))
    }

    pub(super) fn u8(&mut self) -> Result<u8, LanceError> {
        self.array().map(u8::from_le_bytes)
    }

    pub(super) fn u16(&mut self) -> Result<u16, LanceError> {
        self.array().map(u16::from_le_bytes)
    }

    pub(super) fn u32(&mut self) -> Result<u32, LanceError> {
        self.array().map(u32::from_le_bytes)
    }

    pub(super) fn u64(&mut self) -> Result<u64, LanceError> {
        self.array().map(u64::from_le_bytes)
    }

    /// Takes a number of this many bytes, at most eight.
    pub(super) fn number(&mut self, width: usize) -> Result<u64, LanceError> {
        let mut bytes = [0; 8];
        let piece = self.take(width)?;
        bytes.get_mut(..width).ok_or(LanceError::Damaged("width"))?.copy_from_slice(piece);
        Ok(u64::from_le_bytes(bytes))
    }
}

/// Returns a part of some bytes.
pub(super) fn part(bytes: &[u8], start: u64, length: u64) -> Result<&[u8], LanceError> {
    let damaged = LanceError::Damaged("length of a part");
    let (Ok(start), Ok(length)) = (usize::try_from(start), usize::try_from(length)) else {
        return Err(damaged);
    };
    let end = start.checked_add(length);
    end.and_then(|end| bytes.get(start..end)).ok_or(damaged)
}

/// Makes a number an index.
pub(super) fn index(number: u64) -> Result<usize, LanceError> {
    usize::try_from(number).map_err(|_| LanceError::Damaged("count"))
}

/// Returns how many bytes so many values have; an error above the limit.
pub(super) fn size(count: usize, width: usize) -> Result<usize, LanceError> {
    let size = count.checked_mul(width).filter(|size| *size as u64 <= super::MAX_BYTES);
    size.ok_or_else(|| LanceError::unsupported("a page of more than 256 MiB"))
}
