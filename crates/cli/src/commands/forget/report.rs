//! What `anemone forget` says.

use std::io::{self, Write};

use anemone_memory::Condemned;
use serde::Serialize;

use crate::output::{BAD, BOLD, GOOD, ODD, Report, bytes, count, safe};

#[derive(Serialize)]
pub(crate) struct Forgotten {
    ok: bool,
    pub(crate) dry_run: bool,
    pub(crate) entries: Vec<Condemned>,
    /// Files that could not be looked into.
    skipped: Vec<Unread>,
    /// Lines that say that something was forgotten.
    pub(super) tombstones: usize,
    /// Whether `anemone undo` brings it back.
    pub(super) can_be_undone: bool,
    /// Changes that can no longer be undone.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) dropped_changes: Option<usize>,
    /// Other indexes of the same memory that held the text.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) dropped_indexes: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    proof: Option<Proof>,
    /// What somebody should know.
    pub(crate) notes: Vec<&'static str>,
}

#[derive(Serialize)]
struct Unread {
    path: String,
    reason: String,
}

/// What was read to see that something is gone.
#[derive(Serialize)]
pub(super) struct Proof {
    /// Whether every text was looked for everywhere and stands nowhere.
    pub(super) absent: bool,
    pub(super) scanned_files: u64,
    pub(super) scanned_bytes: u64,
    /// Files in which a text still stands.
    pub(super) found: Vec<Found>,
    /// Changes that can be undone in which a text stands.
    pub(super) in_journal: usize,
    /// Texts that are too short to be looked for.
    pub(super) too_short: u64,
    /// Files that could not be read.
    pub(super) unreadable: Vec<String>,
}

#[derive(Serialize)]
pub(super) struct Found {
    pub(super) path: String,
}

impl Forgotten {
    pub(super) fn planned(
        entries: &[&Condemned],
        skipped: &[(String, String)],
        dry_run: bool,
    ) -> Self {
        let unread = |(path, reason): &(String, String)| Unread {
            path: path.clone(),
            reason: reason.clone(),
        };
        Self {
            ok: true,
            dry_run,
            entries: entries.iter().map(|it| (*it).clone()).collect(),
            skipped: skipped.iter().map(unread).collect(),
            tombstones: 0,
            can_be_undone: false,
            dropped_changes: None,
            dropped_indexes: Vec::new(),
            proof: None,
            notes: Vec::new(),
        }
    }

    /// Whether the texts were looked for everywhere and not found.
    pub(crate) fn is_absent(&self) -> bool {
        self.proof.as_ref().is_some_and(|it| it.absent)
    }

    pub(super) fn prove(&mut self, proof: Proof) {
        self.proof = Some(proof);
    }
}

impl Report for Forgotten {
    fn write_human(&self, out: &mut dyn Write) -> io::Result<()> {
        for it in &self.entries {
            let place = match it.lines {
                Some((first, last)) if first == last => format!("{}#L{first}", it.path),
                Some((first, last)) => format!("{}#L{first}-L{last}", it.path),
                None => it.path.clone(),
            };
            let key = it.key.as_ref().map(|it| format!("{}: ", safe(it))).unwrap_or_default();
            let mut lines = it.text.lines();
            let line = lines.next().unwrap_or_default();
            let more = if lines.next().is_some() { " ..." } else { "" };
            let place = safe(&place);
            writeln!(out, "{BAD}-{BAD:#} {place} {BOLD}{key}{BOLD:#}{}{more}", safe(line))?;
        }
        for it in &self.skipped {
            let (path, reason) = (safe(&it.path), safe(&it.reason));
            writeln!(out, "{ODD}not looked into:{ODD:#} {path}: {reason}")?;
        }
        if self.dry_run {
            return writeln!(out, "nothing forgotten: this was a dry run");
        }
        for it in &self.dropped_indexes {
            writeln!(out, "{ODD}note:{ODD:#} the index {} held it and was dropped", safe(it))?;
        }
        if let Some(proof) = &self.proof {
            proof.write(out)?;
        }
        for it in &self.notes {
            writeln!(out, "{ODD}note:{ODD:#} {it}")?;
        }
        match (self.can_be_undone, self.dropped_changes) {
            (true, _) => writeln!(
                out,
                "`anemone undo` brings it back; to rule that out, forget with --for-good"
            ),
            (false, Some(changes)) if changes > 0 => {
                writeln!(out, "{} can no longer be undone", count(changes as u64, "change"))
            }
            _ => Ok(()),
        }
    }
}

impl Proof {
    fn write(&self, out: &mut dyn Write) -> io::Result<()> {
        for it in &self.found {
            writeln!(out, "{ODD}still there:{ODD:#} {} holds it, or a part", safe(&it.path))?;
        }
        if self.too_short > 0 {
            let texts = count(self.too_short, "text");
            writeln!(out, "{ODD}not proved:{ODD:#} {texts} too short to be looked for")?;
        }
        for it in &self.unreadable {
            writeln!(out, "{ODD}not read:{ODD:#} {}", safe(it))?;
        }
        if self.absent {
            let (files, read) = (count(self.scanned_files, "file"), bytes(self.scanned_bytes));
            writeln!(out, "{GOOD}gone:{GOOD:#} looked through {files}, {read}; not found")?;
        }
        Ok(())
    }
}
