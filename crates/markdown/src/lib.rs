//! Markdown, parsed once for everything that uses it.
//!
//! [`outline()`] cuts a text into blocks, line by line, and gives each its exact lines and bytes.
//! Search ranks and cites these blocks; an entry of a memory is a block with what is nested in it.
//! A [`Page`] holds what requires a CommonMark parser: the second-level headings and table rows at
//! which records are cut, and the code and comments inside a line. The law tests of
//! `anemone-memory` (`tests/cited.rs`) check that entries and citations consist of whole blocks.

#![warn(missing_docs)]

mod front_matter;
mod line;
mod outline;
mod page;

pub use front_matter::{byte_order_mark, front_matter};
pub use line::{
    Fence, Line, Lines, Marker, atx_heading, indentation, is_delimiter_row, is_thematic_break,
    lines,
};
pub use outline::{Block, BlockKind, Conventions, Table, closing_line, outline, tables};
pub use page::{
    Heading, HiddenKind, HiddenRange, LabelledItem, Page, Section, SectionKind, line_ends,
    plain_text,
};
