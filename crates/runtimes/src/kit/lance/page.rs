//! Data files: where the pages of each column are.

use std::fs::File;
use std::os::unix::fs::FileExt as _;

use super::budget::{Budget, Decoding, STEP};
use super::bytes::{Bytes, index, part, size};
use super::manifest::{MAGIC, ManifestField};
use super::protobuf::Message;
use super::{Cell, CellKind, LanceError, MAX_BYTES, MAX_DESCRIPTION, blocks, flat};

/// The length of the footer of a data file.
const FOOTER: u64 = 40;

/// An open data file.
#[derive(Debug)]
pub(super) struct DataFile<'a> {
    file: File,
    length: u64,
    /// Where the list of its columns is.
    columns_at: u64,
    columns: usize,
    /// Where the list of its other parts is, and how many there are.
    parts_at: u64,
    parts: u32,
    budget: &'a Budget,
}

/// A page of a column, before it is read.
#[derive(Debug)]
struct PageDescription {
    buffers: Vec<(u64, u64)>,
    rows: usize,
    encoding: Vec<u8>,
}

/// The values of a column, page by page.
#[derive(Debug)]
pub(super) struct ColumnPages<'a> {
    file: DataFile<'a>,
    pages: std::vec::IntoIter<PageDescription>,
    values: Values,
    row: usize,
    rows: usize,
    /// The rows that were not read yet.
    pub(super) left: u64,
}

/// Values as they are stored.
#[derive(Debug)]
pub(super) struct Values {
    pub(super) data: Data,
    /// Which of them are not null; `None` where none is.
    pub(super) valid: Option<Vec<bool>>,
}

/// The bytes of values.
#[derive(Clone, Debug)]
pub(super) enum Data {
    /// All are null.
    Null,
    /// All are the same.
    Constant(Vec<u8>),
    /// All have the same length.
    Fixed { width: usize, bytes: Vec<u8> },
    /// Each has its own length.
    Variable(Vec<Vec<u8>>),
}

impl Data {
    /// Returns a value.
    fn get(&self, row: usize) -> Option<&[u8]> {
        match self {
            Self::Null => None,
            Self::Constant(value) => Some(value),
            Self::Fixed { width, bytes } => bytes.get(row * width..)?.get(..*width),
            Self::Variable(values) => values.get(row).map(Vec::as_slice),
        }
    }
}

impl<'a> DataFile<'a> {
    pub(super) fn open(file: File, budget: &'a Budget) -> Result<Self, LanceError> {
        budget.work(STEP)?;
        let length = file.metadata()?.len();
        let footer_at = length.checked_sub(FOOTER).ok_or(LanceError::Damaged("data file"))?;
        let mut footer = [0; FOOTER as usize];
        file.read_exact_at(&mut footer, footer_at)?;
        if !footer.ends_with(MAGIC) {
            return Err(LanceError::Damaged("data file"));
        }
        let mut footer = Bytes(&footer);
        let (_, columns_at, parts_at) = (footer.u64()?, footer.u64()?, footer.u64()?);
        let (parts, columns) = (footer.u32()?, footer.u32()? as usize);
        match (footer.u16()?, footer.u16()?) {
            (0, 3) | (2, 0..=2) => {}
            (major, minor) => {
                return Err(LanceError::unsupported(format!("data files {major}.{minor}")));
            }
        }
        Ok(Self { file, length, columns_at, columns, parts_at, parts, budget })
    }

    /// Reads a part of the file, which is not longer than the file.
    fn read(&self, start: u64, length: u64) -> Result<Vec<u8>, LanceError> {
        let fits = start.checked_add(length).is_some_and(|end| end <= self.length);
        if !fits || length > MAX_BYTES {
            return Err(LanceError::Damaged("length of a part"));
        }
        self.budget.work(length)?;
        let mut bytes = vec![0; index(length)?];
        self.file.read_exact_at(&mut bytes, start)?;
        Ok(bytes)
    }

    /// Reads the columns of the file, in their order, from the description of it that it holds.
    pub(super) fn fields(&self) -> Result<Vec<ManifestField>, LanceError> {
        let description = self.description()?;
        let description = Message::parse(&description)?;
        let schema = description.message(1)?.ok_or(LanceError::Damaged("description"))?;
        let fields: Vec<_> = schema.all(1).map(ManifestField::parse).collect::<Result<_, _>>()?;
        // A column that is made of others has none of its own, or one more.
        if fields.len() != self.columns || fields.iter().any(|field| !field.is_whole) {
            return Err(LanceError::unsupported("columns that are made of others"));
        }
        Ok(fields)
    }

    /// Reads the description of the file that it holds.
    pub(super) fn description(&self) -> Result<Vec<u8>, LanceError> {
        if self.parts == 0 {
            return Err(LanceError::Damaged("description"));
        }
        self.part(self.parts_at, 0)
    }

    /// Reads a description by its number in the list that is at this place.
    fn part(&self, list_at: u64, number: u64) -> Result<Vec<u8>, LanceError> {
        let at = number.checked_mul(16).and_then(|at| list_at.checked_add(at));
        let place = self.read(at.ok_or(LanceError::Damaged("list of parts"))?, 16)?;
        let mut place = Bytes(&place);
        let (start, length) = (place.u64()?, place.u64()?);
        if length > MAX_DESCRIPTION {
            return Err(LanceError::unsupported("a description of more than 16 MiB"));
        }
        self.read(start, length)
    }

    /// Lists the pages of a column.
    pub(super) fn column(self, column: usize) -> Result<ColumnPages<'a>, LanceError> {
        if column >= self.columns {
            return Err(LanceError::Damaged("number of columns"));
        }
        let metadata = self.part(self.columns_at, column as u64)?;
        let metadata = Message::parse(&metadata)?;
        let mut pages = Vec::new();
        let mut left: u64 = 0;
        for page in metadata.all(2) {
            let page = PageDescription::parse(page)?;
            let more = left.checked_add(page.rows as u64);
            left = more.ok_or(LanceError::Damaged("number of rows"))?;
            pages.push(page);
        }
        let values = Values { data: Data::Null, valid: None };
        Ok(ColumnPages { file: self, pages: pages.into_iter(), values, row: 0, rows: 0, left })
    }
}

impl PageDescription {
    fn parse(bytes: &[u8]) -> Result<Self, LanceError> {
        let message = Message::parse(bytes)?;
        let (starts, lengths) = (message.numbers(1)?, message.numbers(2)?);
        if starts.len() != lengths.len() {
            return Err(LanceError::Damaged("page"));
        }
        let encoding = message.message(4)?.ok_or(LanceError::Damaged("page"))?;
        let direct = encoding.message(2)?;
        let direct = direct.ok_or_else(|| LanceError::unsupported("a distant encoding"))?;
        Ok(Self {
            buffers: starts.into_iter().zip(lengths).collect(),
            rows: index(message.number(3))?,
            encoding: direct.bytes(1).unwrap_or_default().to_vec(),
        })
    }
}

impl ColumnPages<'_> {
    /// Returns the next value.
    pub(super) fn next_cell(&mut self, kind: CellKind) -> Result<Cell, LanceError> {
        while self.row == self.rows {
            let page = self.pages.next().ok_or(LanceError::Damaged("number of rows"))?;
            self.values = self.load(&page)?;
            (self.row, self.rows) = (0, page.rows);
        }
        let row = self.row;
        self.row += 1;
        self.left = self.left.saturating_sub(1);
        let is_null = |valid: &Vec<bool>| !valid.get(row).copied().unwrap_or(false);
        if self.values.valid.as_ref().is_some_and(is_null) || matches!(self.values.data, Data::Null)
        {
            return Ok(Cell::Null);
        }
        let value = self.values.data.get(row).ok_or(LanceError::Damaged("page"))?;
        self.file.budget.work(value.len() as u64)?;
        kind.cell(value)
    }

    fn load(&self, page: &PageDescription) -> Result<Values, LanceError> {
        let description = page.encoding.len() as u64;
        let decoding = Decoding::new(self.file.budget, description);
        decoding.work(STEP + description)?;
        let mut buffers = Vec::new();
        let mut total = 0;
        for &(start, length) in &page.buffers {
            // A page may name the same part of the file again and again.
            total = size(index(length)?.saturating_add(total), 1)?;
            buffers.push(self.file.read(start, length)?);
        }
        let any = Message::parse(&page.encoding)?;
        let encoding = Message::parse(any.bytes(2).unwrap_or_default())?;
        let name = any.text(1)?.rsplit('.').next().unwrap_or_default();
        match name {
            "ArrayEncoding" => flat::decode(&encoding, &buffers, page.rows, decoding),
            "PageLayout" => blocks::decode(&encoding, &buffers, page.rows, decoding),
            _ => Err(LanceError::unsupported(format!("the encoding {name:?}"))),
        }
    }
}

/// Returns values of one length, as they are stored.
pub(super) fn fixed(
    bytes: &[u8],
    width: usize,
    count: usize,
    decoding: Decoding<'_>,
) -> Result<Data, LanceError> {
    let bytes = part(bytes, 0, decoding.size(count, width)? as u64)?;
    Ok(Data::Fixed { width, bytes: bytes.to_vec() })
}

/// Returns the bytes of so many bits.
pub(super) fn width_of(bits: u64) -> Result<usize, LanceError> {
    match bits {
        8 | 16 | 32 | 64 => Ok((bits / 8) as usize),
        _ => Err(LanceError::unsupported(format!("values of {bits} bits"))),
    }
}

/// Replaces indices by what they lead to; `base` is the index of the first item, and a smaller one
/// is null.
pub(super) fn look_up(
    indices: &Data,
    items: &Data,
    count: usize,
    base: u64,
    decoding: Decoding<'_>,
) -> Result<Values, LanceError> {
    // Even an empty value takes this much memory, and its index may take none.
    decoding.size(count, size_of::<Vec<u8>>())?;
    let (mut values, mut valid) = (Vec::with_capacity(count), Vec::with_capacity(count));
    let mut total = 0;
    for row in 0..count {
        let index_bytes = indices.get(row).ok_or(LanceError::Damaged("dictionary"))?;
        let number = Bytes(index_bytes).number(index_bytes.len())?;
        let item = match number.checked_sub(base) {
            Some(number) => items.get(index(number)?).ok_or(LanceError::Damaged("dictionary"))?,
            None => &[],
        };
        // A short index may name a long item again and again.
        decoding.add(&mut total, item.len())?;
        valid.push(number >= base);
        values.push(item.to_vec());
    }
    let valid = valid.contains(&false).then_some(valid);
    Ok(Values { data: Data::Variable(values), valid })
}
