//! What an import or a move did outside the tree, for people.

use std::io::{self, Write};

use anemone::restore::{MemoriesLine, MissingLine, Stores};

use crate::output::{DIM, count, safe};

/// Writes the missing items, with one line for many of a kind: an install may have dozens of keys.
pub(crate) fn write_missing(
    label: &str,
    list: &[MissingLine],
    out: &mut dyn Write,
) -> io::Result<()> {
    const ALIKE: usize = 3;
    let alike = |line: &MissingLine| {
        list.iter().filter(|other| (other.what, &other.reason) == (line.what, &line.reason)).count()
    };
    let mut told: Vec<(&str, &str)> = Vec::new();
    for it in list {
        let kind = (it.what, it.reason.as_str());
        match alike(it) {
            number if number > ALIKE => {
                if !told.contains(&kind) {
                    told.push(kind);
                    let number = count(number as u64, it.what);
                    let line = safe(&format!("{number}: {}", it.reason));
                    writeln!(out, "{DIM}{label}:{DIM:#} {line}")?;
                }
            }
            _ => writeln!(out, "{DIM}{label}:{DIM:#} {}", missing_line(it))?,
        }
    }
    Ok(())
}

/// Returns a missing item on one line, safe for a terminal.
pub(crate) fn missing_line(missing: &MissingLine) -> String {
    let path = missing.path.as_ref().map(|path| format!(" {path}")).unwrap_or_default();
    safe(&format!("{}{path}: {}", missing.what, missing.reason))
}

/// Returns a line for each store.
pub(crate) fn store_lines(stores: &Stores) -> Vec<String> {
    let mut lines = Vec::new();
    let new = |made: bool| if made { " (new)" } else { "" };
    let backup = |backup: &Option<String>| match backup {
        Some(path) => format!("; what was there is in {path}"),
        None => String::new(),
    };
    if let Some(it) = &stores.memories {
        let MemoriesLine { store, made, added, replaced, kept, same, backup: copy } = it;
        lines.push(format!(
            "memories: {added} added, {replaced} replaced, {kept} kept, {same} the same in \
             {store}{}{}",
            new(*made),
            backup(copy)
        ));
    }
    if let Some(it) = &stores.config {
        let (added, kept) = (it.added.len(), it.kept.len());
        let store = &it.store;
        lines.push(format!(
            "settings: {added} added, {kept} kept in {store}{}{}",
            new(it.made),
            backup(&it.backup)
        ));
    }
    if let Some(it) = &stores.credentials_restored {
        let (added, replaced, kept) = (it.added.len(), it.replaced.len(), it.kept.len());
        let store = &it.store;
        lines.push(format!(
            "credentials: {added} added, {replaced} replaced, {kept} kept in {store}"
        ));
    }
    lines.iter().map(|line| safe(line)).collect()
}
