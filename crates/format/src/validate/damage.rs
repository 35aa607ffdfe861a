//! Where a file is damaged whose seal says that it is.
//!
//! The seal says that a byte is not what it was, and not which. Entries have checksums of their own,
//! so most damage has a name. Where every entry is whole, the damage is in what holds them together.

use std::io;

use super::{Finding, MAX_LISTED, chain};
use crate::container::read::{Bytes, Container};
use crate::container::seal::Seal;
use crate::limits::Limits;

/// Reads every entry of a file whose seal is broken, and names those that are not whole. Of a file
/// with another fault, or with none, there is nothing to say.
#[must_use]
pub fn find_damage(source: Bytes, length: u64, limits: &Limits) -> Vec<Finding> {
    let Ok(container) = Container::open(source, length, limits) else { return Vec::new() };
    if container.seal() != Seal::Broken {
        return Vec::new();
    }
    let broken = container.entries().iter().filter_map(|entry| {
        let read = io::copy(&mut container.read(entry, None), &mut io::sink());
        let message = chain(&read.err()?);
        Some(Finding { code: "damaged", path: entry.path.clone(), message })
    });
    let mut found: Vec<Finding> = broken.take(MAX_LISTED).collect();
    if found.is_empty() {
        let message = "every entry is whole; the damage is in a header, the directory or the seal";
        let message = message.to_owned();
        found.push(Finding { code: "damaged", path: String::new(), message });
    }
    found
}
