//! Looking after indexes: which there are, and which can go.

use std::io::{self, Write};

use serde::Serialize;

use crate::commands::Context;
use crate::error::CliError;
use crate::output::{BOLD, DIM, ODD, Report, bytes, count, safe};
use crate::search_index::{Kept, bytes_of, drop_index, home, kept};
use crate::searched::SearchTarget;

/// The indexes in the cache.
#[derive(Serialize)]
pub(super) struct Listed {
    ok: bool,
    folder: String,
    indexes: Vec<Kept>,
    bytes: u64,
}

pub(super) fn list(context: &Context<'_>) -> Result<Listed, CliError> {
    let indexes = kept(&context.host)?;
    let bytes = indexes.iter().map(|it| it.bytes).sum();
    let folder = home(&context.host).display().to_string();
    Ok(Listed { ok: true, folder, indexes, bytes })
}

impl Report for Listed {
    fn write_human(&self, out: &mut dyn Write) -> io::Result<()> {
        for one in &self.indexes {
            write_kept(out, one)?;
        }
        let (number, size) = (count_indexes(self.indexes.len()), bytes(self.bytes));
        writeln!(out, "{number} in {}, {size}", safe(&self.folder))
    }
}

/// `1 index`, `2 indexes`.
fn count_indexes(number: usize) -> String {
    match number {
        1 => "1 index".to_owned(),
        _ => format!("{number} indexes"),
    }
}

fn write_kept(out: &mut dyn Write, one: &Kept) -> io::Result<()> {
    let size = bytes(one.bytes);
    let used = one.used_at.as_ref().map(|it| format!(", used {it}")).unwrap_or_default();
    match &one.source {
        Some(source) => {
            let gone = if source.exists { String::new() } else { format!("  {ODD}gone{ODD:#}") };
            let (place, kind) = (safe(&source.place), safe(&source.kind));
            writeln!(out, "{BOLD}{place}{BOLD:#}  {DIM}{kind}, {size}{used}{DIM:#}{gone}")?;
        }
        None => writeln!(out, "{BOLD}unknown{BOLD:#}  {DIM}{size}{used}{DIM:#}")?,
    }
    writeln!(out, "  {DIM}{}{DIM:#}", safe(&one.folder))
}

/// Indexes that went, or would go.
#[derive(Serialize)]
pub(super) struct Pruned {
    ok: bool,
    dry_run: bool,
    removed: Vec<Kept>,
    kept: u64,
    bytes: u64,
}

/// Removes the indexes of what is gone. One that does not say what it is of stays.
pub(super) fn prune(context: &Context<'_>, dry_run: bool) -> Result<Pruned, CliError> {
    let (removed, kept): (Vec<_>, Vec<_>) =
        kept(&context.host)?.into_iter().partition(Kept::is_orphan);
    if !dry_run {
        for one in &removed {
            one.remove()?;
        }
    }
    let bytes = removed.iter().map(|it| it.bytes).sum();
    Ok(Pruned { ok: true, dry_run, removed, kept: kept.len() as u64, bytes })
}

impl Report for Pruned {
    fn write_human(&self, out: &mut dyn Write) -> io::Result<()> {
        for one in &self.removed {
            write_kept(out, one)?;
        }
        let verb = if self.dry_run { "would remove" } else { "removed" };
        let number = count_indexes(self.removed.len());
        writeln!(out, "{verb} {number}, {}; {} kept", bytes(self.bytes), self.kept)
    }
}

/// The index of one memory, removed.
#[derive(Serialize)]
pub(super) struct Dropped {
    ok: bool,
    dropped: bool,
    folder: String,
    bytes: u64,
}

pub(super) fn drop_one(
    searched: &SearchTarget,
    context: &Context<'_>,
) -> Result<Dropped, CliError> {
    let bytes = bytes_of(&searched.index_folder);
    let dropped = drop_index(searched, &context.host)?;
    let folder = searched.index_folder.display().to_string();
    Ok(Dropped { ok: true, dropped, folder, bytes: if dropped { bytes } else { 0 } })
}

impl Report for Dropped {
    fn write_human(&self, out: &mut dyn Write) -> io::Result<()> {
        let folder = safe(&self.folder);
        match self.dropped {
            true => writeln!(out, "removed the index in {folder}, {}", bytes(self.bytes)),
            false => writeln!(out, "there is no index in {folder}; {} removed", count(0, "file")),
        }
    }
}
