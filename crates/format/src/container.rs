//! The ZIP file of an archive or a delta, in the one form that we write and the few that we read.
//!
//! ```text
//! entry, entry, ...      deflate or stored, sizes in a data descriptor, no gaps
//! central directory
//! end record             its comment is the seal: `alf-seal:sha256:<64 hex digits>`
//! ```
//!
//! The seal is the SHA-256 of every byte before the comment. ZIP's own CRC covers contents only,
//! so without a seal a flipped bit in a header could go unnoticed.

pub(crate) mod deflate;
mod end;
pub(crate) mod read;
pub(crate) mod seal;
pub(crate) mod write;
