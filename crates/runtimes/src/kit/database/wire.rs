//! The protocol between the program and the database process.
//!
//! One request, as JSON on one line, and one reply: a header, rows, and an end or an error. The rows
//! of a merge follow its request, and are written as those of a reply.
//!
//! ```text
//! reply   = header *row (end | error)
//! header  = "H" u32 (the number of columns)
//! row     = "R" one value per column
//! value   = "0" | "i" i64 | "f" f64 | "t" text | "b" bytes | "l" u64 (its length; too long to send)
//! end     = "E"
//! error   = "X" one byte (its kind) text
//! text    = u32 length, bytes
//! ```
//!
//! Numbers are little-endian. Who reads a reply may be talking to a process that a poisoned file
//! has taken over: every length is bounded, and nothing is allocated by a number alone.

use std::io::{self, Read as _, Write};

use rusqlite::types::ValueRef;
use serde::{Deserialize, Serialize};

use super::merge::Merge;

/// The longest text or blob that is sent.
pub(crate) const MAX_VALUE_BYTES: u64 = 64 << 20;
/// The most bytes that one row may have.
const MAX_ROW_BYTES: u64 = 96 << 20;
/// How much is allocated for a value before any of it has arrived.
const FIRST_PORTION: usize = 16 << 10;
/// The longest name, type or error text.
const MAX_NAME_BYTES: u64 = 64 << 10;
/// The longest request.
pub(crate) const MAX_REQUEST_BYTES: u64 = 64 << 20;

/// A request to the other process.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Request {
    /// The database's name in the folder in which the process was started.
    pub(crate) file: String,
    /// The question or change.
    pub(crate) ask: Ask,
}

/// One question, or one change.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Ask {
    /// Rows of table name and column name.
    Tables,
    /// The rows of a table.
    Rows(Read),
    /// Puts rows, all or none of them.
    Put(Vec<Put>),
    /// Merges the rows that follow the request into a database of memories, all or none of them.
    Merge(Box<Merge>),
}

/// A plain read of the columns of one table; data, not SQL.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Read {
    /// The table.
    pub(crate) table: String,
    /// The columns; those that the table does not have come back as null. `rowid` is understood
    /// where the table has one.
    pub(crate) columns: Vec<String>,
    /// Columns to sort by, bytes against bytes; those that the table does not have are ignored.
    pub(crate) order_by: Vec<String>,
    /// Only rows in which this column has this text.
    pub(crate) filter: Option<(String, String)>,
}

impl Read {
    /// Asks for columns of a table.
    pub(crate) fn of(table: &str, columns: &[&str]) -> Self {
        Self { table: table.to_owned(), columns: owned(columns), ..Self::default() }
    }

    /// Sorts by columns.
    pub(crate) fn ordered_by(self, columns: &[&str]) -> Self {
        Self { order_by: owned(columns), ..self }
    }

    /// Takes only rows in which a column has a text.
    pub(crate) fn only(self, column: &str, text: &str) -> Self {
        Self { filter: Some((column.to_owned(), text.to_owned())), ..self }
    }
}

fn owned(names: &[&str]) -> Vec<String> {
    names.iter().map(|name| (*name).to_owned()).collect()
}

/// A table of a runtime's state, of which single rows may be written.
#[derive(Clone, Copy, Debug)]
pub(crate) struct StateTable {
    pub(crate) table: &'static str,
    /// The column with the key.
    pub(crate) key: &'static str,
    /// The column with the value.
    pub(crate) value: &'static str,
    /// The column with the time of the last change, in milliseconds.
    pub(crate) stamp: &'static str,
}

impl StateTable {
    /// Returns whether a row that is to be put is one of the table's.
    pub(crate) fn holds(&self, put: &Put) -> bool {
        (self.table, self.key, self.value, self.stamp)
            == (&*put.table, &*put.key.0, &*put.value.0, &*put.stamp.0)
    }
}

/// One row to be put, if the value that it replaces is still the one we know.
#[derive(Serialize, Deserialize)]
pub(crate) struct Put {
    /// The table; the [`StateTable`] of a runtime.
    pub(crate) table: String,
    /// The key column and the key.
    pub(crate) key: (String, String),
    /// The column that holds the value, and the new value.
    pub(crate) value: (String, String),
    /// The column that holds the time in milliseconds, and the time.
    pub(crate) stamp: (String, i64),
    /// The value as it was read; `None` when there was no row.
    pub(crate) expected: Option<String>,
}

impl std::fmt::Debug for Put {
    /// Values may be secrets.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Put").field("table", &self.table).field("key", &self.key).finish()
    }
}

impl Drop for Put {
    fn drop(&mut self) {
        use zeroize::Zeroize;
        self.value.1.zeroize();
        self.expected.zeroize();
    }
}

/// A value of a foreign database.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Value {
    /// Nothing.
    Null,
    /// An integer.
    Integer(i64),
    /// A number.
    Real(f64),
    /// A text.
    Text(String),
    /// A text that is not UTF-8.
    OddText(Vec<u8>),
    /// Bytes.
    Blob(Vec<u8>),
    /// A text or bytes of this length, too long to be sent.
    TooLong(u64),
}

impl Value {
    /// Returns the text, if it is one.
    pub(crate) fn as_text(&self) -> Option<&str> {
        match self {
            Self::Text(text) => Some(text),
            _ => None,
        }
    }

    /// Returns the value in SQLite's type; of one that is too long, its length.
    pub(crate) fn as_cell(&self) -> Result<ValueRef<'_>, u64> {
        Ok(match self {
            Self::Null => ValueRef::Null,
            Self::Integer(number) => ValueRef::Integer(*number),
            Self::Real(number) => ValueRef::Real(*number),
            Self::Text(text) => ValueRef::Text(text.as_bytes()),
            Self::OddText(bytes) => ValueRef::Text(bytes),
            Self::Blob(bytes) => ValueRef::Blob(bytes),
            Self::TooLong(length) => return Err(*length),
        })
    }

    /// Returns the integer, if it is one, or a real that is whole.
    pub(crate) fn as_integer(&self) -> Option<i64> {
        match self {
            Self::Integer(number) => Some(*number),
            Self::Real(number) if number.fract() == 0.0 && number.abs() < 9e15 =>
            {
                #[expect(clippy::cast_possible_truncation, reason = "whole and below 2^53")]
                Some(*number as i64)
            }
            _ => None,
        }
    }
}

/// The kinds of error that a reply may end with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum FaultKind {
    /// The table does not exist.
    NoTable = b'n',
    /// It exists, but is a view or a virtual table, or has generated columns among the requested
    /// ones.
    NotOrdinary = b'o',
    /// The file is damaged, or is no database.
    Damaged = b'd',
    /// Another process has it open.
    Busy = b'b',
    /// It is not in WAL mode, so other processes that have it open cannot be detected.
    NotWal = b'w',
    /// The row has changed since it was read.
    Changed = b'c',
    /// The change was made, but cannot be read back as it should.
    Unverified = b'v',
    /// The request is not allowed.
    Refused = b'r',
    /// Anything else.
    Failed = b'f',
}

impl FaultKind {
    const ALL: [Self; 9] = [
        Self::NoTable,
        Self::NotOrdinary,
        Self::Damaged,
        Self::Busy,
        Self::NotWal,
        Self::Changed,
        Self::Unverified,
        Self::Refused,
        Self::Failed,
    ];
}

/// Writes a reply.
pub(crate) struct ReplyWriter<W: Write> {
    output: W,
    /// How many bytes are left for the row that is being written.
    left: u64,
}

impl<W: Write> ReplyWriter<W> {
    pub(crate) fn new(output: W) -> Self {
        Self { output, left: MAX_ROW_BYTES }
    }

    pub(crate) fn header(&mut self, columns: usize) -> io::Result<()> {
        self.output.write_all(b"H")?;
        self.length(columns)
    }

    pub(crate) fn row(&mut self) -> io::Result<()> {
        self.left = MAX_ROW_BYTES;
        self.output.write_all(b"R")
    }

    pub(crate) fn null(&mut self) -> io::Result<()> {
        self.output.write_all(b"0")
    }

    pub(crate) fn integer(&mut self, number: i64) -> io::Result<()> {
        self.output.write_all(b"i")?;
        self.output.write_all(&number.to_le_bytes())
    }

    pub(crate) fn real(&mut self, number: f64) -> io::Result<()> {
        self.output.write_all(b"f")?;
        self.output.write_all(&number.to_le_bytes())
    }

    pub(crate) fn text(&mut self, text: &[u8]) -> io::Result<()> {
        self.value(b"t", text)
    }

    pub(crate) fn blob(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.value(b"b", bytes)
    }

    /// Adds a value as SQLite hands it out.
    pub(crate) fn cell(&mut self, value: ValueRef<'_>) -> io::Result<()> {
        match value {
            ValueRef::Null => self.null(),
            ValueRef::Integer(number) => self.integer(number),
            ValueRef::Real(number) => self.real(number),
            ValueRef::Text(text) => self.text(text),
            ValueRef::Blob(bytes) => self.blob(bytes),
        }
    }

    /// Writes a value as it was read.
    pub(crate) fn put(&mut self, value: &Value) -> io::Result<()> {
        match value.as_cell() {
            Ok(cell) => self.cell(cell),
            Err(length) => self.too_long(length),
        }
    }

    fn value(&mut self, tag: &[u8], bytes: &[u8]) -> io::Result<()> {
        let length = bytes.len() as u64;
        if length > MAX_VALUE_BYTES || length > self.left {
            return self.too_long(length);
        }
        self.left -= length;
        self.output.write_all(tag)?;
        self.length(bytes.len())?;
        self.output.write_all(bytes)
    }

    fn too_long(&mut self, length: u64) -> io::Result<()> {
        self.output.write_all(b"l")?;
        self.output.write_all(&length.to_le_bytes())
    }

    pub(crate) fn end(&mut self) -> io::Result<()> {
        self.output.write_all(b"E")?;
        self.output.flush()
    }

    /// Returns the output that was written to.
    pub(crate) fn into_output(self) -> W {
        self.output
    }

    pub(crate) fn error(&mut self, kind: FaultKind, text: &str) -> io::Result<()> {
        self.output.write_all(&[b'X', kind as u8])?;
        self.name(text)?;
        self.output.flush()
    }

    /// Writes a name, truncated when it is too long.
    fn name(&mut self, text: &str) -> io::Result<()> {
        let longest = usize::try_from(MAX_NAME_BYTES).unwrap_or(usize::MAX);
        let text = &text[..text.floor_char_boundary(longest)];
        self.length(text.len())?;
        self.output.write_all(text.as_bytes())
    }

    fn length(&mut self, length: usize) -> io::Result<()> {
        let length = u32::try_from(length).map_err(|_| io::ErrorKind::InvalidInput)?;
        self.output.write_all(&length.to_le_bytes())
    }
}

/// Why a reply could not be read, or what it says went wrong.
#[derive(Debug)]
pub(crate) enum ReplyError {
    /// The other side says so.
    Fault(FaultKind, String),
    /// The other side sent something that is not a reply.
    Nonsense(&'static str),
    /// The reply ended early, or stopped arriving.
    Io(io::Error),
}

impl From<io::Error> for ReplyError {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

/// Reads a reply without trusting any of it.
#[derive(Debug)]
pub(crate) struct ReplyReader<R: io::Read> {
    input: R,
    columns: usize,
}

impl<R: io::Read> ReplyReader<R> {
    pub(crate) fn new(input: R) -> Self {
        Self { input, columns: 0 }
    }

    /// Reads the header, which must have this many columns.
    pub(crate) fn header(&mut self, columns: usize) -> Result<(), ReplyError> {
        match self.byte()? {
            b'H' => {}
            b'X' => return Err(self.fault()),
            _ => return Err(ReplyError::Nonsense("no header")),
        }
        if u32::from_le_bytes(self.array()?) as usize != columns {
            return Err(ReplyError::Nonsense("another number of columns"));
        }
        self.columns = columns;
        Ok(())
    }

    /// Reads a row, or `None` at the end.
    pub(crate) fn row(&mut self) -> Result<Option<Vec<Value>>, ReplyError> {
        match self.byte()? {
            b'R' => {}
            b'E' => return Ok(None),
            b'X' => return Err(self.fault()),
            _ => return Err(ReplyError::Nonsense("neither a row nor an end")),
        }
        let mut left = MAX_ROW_BYTES;
        let mut row = Vec::with_capacity(self.columns);
        for _ in 0..self.columns {
            row.push(self.value(&mut left)?);
        }
        Ok(Some(row))
    }

    fn value(&mut self, left: &mut u64) -> Result<Value, ReplyError> {
        Ok(match self.byte()? {
            b'0' => Value::Null,
            b'i' => Value::Integer(i64::from_le_bytes(self.array()?)),
            b'f' => Value::Real(f64::from_le_bytes(self.array()?)),
            b't' => match String::from_utf8(self.bytes(left)?) {
                Ok(text) => Value::Text(text),
                Err(error) => Value::OddText(error.into_bytes()),
            },
            b'b' => Value::Blob(self.bytes(left)?),
            b'l' => Value::TooLong(u64::from_le_bytes(self.array()?)),
            _ => return Err(ReplyError::Nonsense("a value of no kind")),
        })
    }

    fn bytes(&mut self, left: &mut u64) -> Result<Vec<u8>, ReplyError> {
        let length = u64::from(u32::from_le_bytes(self.array()?));
        if length > MAX_VALUE_BYTES || length > *left {
            return Err(ReplyError::Nonsense("a value that is too long"));
        }
        *left -= length;
        self.read_up(length)
    }

    fn fault(&mut self) -> ReplyError {
        let kind = match self.byte() {
            Ok(byte) => FaultKind::ALL.into_iter().find(|kind| *kind as u8 == byte),
            Err(error) => return error.into(),
        };
        match (kind, self.name()) {
            (_, Err(error)) => error,
            (None, _) => ReplyError::Nonsense("an error of no kind"),
            (Some(kind), Ok(text)) => ReplyError::Fault(kind, readable(&text)),
        }
    }

    fn name(&mut self) -> Result<String, ReplyError> {
        let length = u64::from(u32::from_le_bytes(self.array()?));
        if length > MAX_NAME_BYTES {
            return Err(ReplyError::Nonsense("a name that is too long"));
        }
        let bytes = self.read_up(length)?;
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    }

    fn read_up(&mut self, length: u64) -> Result<Vec<u8>, ReplyError> {
        // Beyond a first portion, the vector only grows with the bytes that arrive.
        let portion = usize::try_from(length).unwrap_or(usize::MAX).min(FIRST_PORTION);
        let mut bytes = Vec::with_capacity(portion);
        let read = (&mut self.input).take(length).read_to_end(&mut bytes)?;
        if read as u64 != length {
            return Err(io::Error::from(io::ErrorKind::UnexpectedEof).into());
        }
        Ok(bytes)
    }

    fn byte(&mut self) -> io::Result<u8> {
        self.array().map(|[byte]| byte)
    }

    fn array<const N: usize>(&mut self) -> io::Result<[u8; N]> {
        let mut array = [0; N];
        self.input.read_exact(&mut array)?;
        Ok(array)
    }
}

/// Shortens an untrusted text to something that can be shown.
fn readable(text: &str) -> String {
    text.chars().take(300).map(|char| if char.is_control() { ' ' } else { char }).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn reply(write: impl FnOnce(&mut ReplyWriter<&mut Vec<u8>>) -> io::Result<()>) -> Vec<u8> {
        let mut bytes = Vec::new();
        write(&mut ReplyWriter::new(&mut bytes)).unwrap();
        bytes
    }

    #[test]
    fn every_kind_of_value_comes_across() {
        let bytes = reply(|writer| {
            writer.header(6)?;
            writer.row()?;
            writer.null()?;
            writer.integer(i64::MIN)?;
            writer.real(0.1)?;
            writer.text("é".as_bytes())?;
            writer.blob(&[0, 255])?;
            writer.text(&[0xff])?;
            writer.end()
        });
        let mut reader = ReplyReader::new(bytes.as_slice());
        reader.header(6).unwrap();
        let row = reader.row().unwrap().unwrap();
        assert_eq!(
            row,
            [
                Value::Null,
                Value::Integer(i64::MIN),
                Value::Real(0.1),
                Value::Text("é".to_owned()),
                Value::Blob(vec![0, 255]),
                Value::OddText(vec![255]),
            ]
        );
        assert_eq!(reader.row().unwrap(), None);
    }

    #[test]
    fn a_length_is_not_believed() {
        for tag in [b't', b'b'] {
            let mut bytes = reply(|writer| {
                writer.header(1)?;
                writer.row()
            });
            bytes.push(tag);
            bytes.extend_from_slice(&u32::MAX.to_le_bytes());
            let mut reader = ReplyReader::new(bytes.as_slice());
            reader.header(1).unwrap();
            assert!(matches!(reader.row(), Err(ReplyError::Nonsense(_))));
            // The length is within the limit, but the bytes are missing.
            let end = bytes.len();
            bytes[end - 4..].copy_from_slice(&1_000_000_u32.to_le_bytes());
            let mut reader = ReplyReader::new(bytes.as_slice());
            reader.header(1).unwrap();
            assert!(matches!(reader.row(), Err(ReplyError::Io(_))));
        }
    }

    #[test]
    fn of_a_row_of_many_long_values_the_last_are_only_named() {
        let long = vec![0; 50 << 20];
        let bytes = reply(|writer| {
            writer.header(2)?;
            for _ in 0..2 {
                writer.row()?;
                writer.blob(&long)?;
                writer.blob(&long)?;
            }
            writer.end()
        });
        let mut reader = ReplyReader::new(bytes.as_slice());
        reader.header(2).unwrap();
        for _ in 0..2 {
            let row = reader.row().unwrap().unwrap();
            assert!(matches!(&row[0], Value::Blob(bytes) if bytes.len() == 50 << 20));
            assert_eq!(row[1], Value::TooLong(50 << 20));
        }
    }

    #[test]
    fn a_row_that_is_longer_than_allowed_is_refused() {
        let long = vec![0; 50 << 20];
        let mut bytes = reply(|writer| {
            writer.header(2)?;
            writer.row()?;
            writer.blob(&long)
        });
        bytes.extend(reply(|writer| writer.blob(&long)));
        let mut reader = ReplyReader::new(bytes.as_slice());
        reader.header(2).unwrap();
        assert!(matches!(reader.row(), Err(ReplyError::Nonsense(_))));
    }

    #[test]
    fn an_error_is_cut_to_what_can_be_shown() {
        let bytes = reply(|writer| writer.error(FaultKind::Damaged, &"\u{1b}x".repeat(100_000)));
        match ReplyReader::new(bytes.as_slice()).header(3) {
            Err(ReplyError::Fault(FaultKind::Damaged, text)) => {
                assert_eq!(text.chars().count(), 300);
                assert!(!text.contains('\u{1b}'));
            }
            other => panic!("{other:?}"),
        }
    }

    proptest! {
        #[test]
        fn no_reply_makes_the_reader_panic(bytes: Vec<u8>, columns in 0_usize..20) {
            let mut reader = ReplyReader::new(bytes.as_slice());
            if reader.header(columns).is_ok() {
                while let Ok(Some(_)) = reader.row() {}
            }
            let mut reader = ReplyReader { input: bytes.as_slice(), columns };
            while let Ok(Some(_)) = reader.row() {}
        }
    }
}
