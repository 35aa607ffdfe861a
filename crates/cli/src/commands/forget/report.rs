//! What `anemone forget` says.

use std::io::{self, Write};

use anemone::agent_memory::MemoryChoice;
use anemone::forget::{ErasureProof, ForgetReport, LostChange, SkippedFile};
use anemone_memory::EntryToForget;
use anemone_messages::{HolderMessage, lost_change, note};
use serde::Serialize;

use crate::output::{BAD, BOLD, GOOD, ODD, Report, bytes, count, safe, write_notes};

/// What was forgotten, in words.
#[derive(Serialize)]
pub(crate) struct Forgotten {
    ok: bool,
    dry_run: bool,
    /// Whether somebody was asked and said no.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    declined: bool,
    entries: Vec<EntryToForget>,
    /// Files that could not be looked into.
    skipped: Vec<SkippedFile>,
    /// Lines that say that something was forgotten.
    tombstones: usize,
    /// Whether `anemone undo` brings it back.
    can_be_undone: bool,
    /// Changes that can no longer be undone.
    #[serde(skip_serializing_if = "Option::is_none")]
    dropped_changes: Option<usize>,
    /// Changes other than this one that could be undone before and cannot be any more.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    undo_lost: Vec<LostChange>,
    /// Other indexes of the same memory that held the text.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    dropped_indexes: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    proof: Option<Proof>,
    /// What somebody should know.
    notes: Vec<String>,
    #[serde(skip)]
    report: ForgetReport,
}

/// What was read to see that something is gone.
#[derive(Serialize)]
struct Proof {
    /// Whether every text was looked for wherever it may be, and nothing that is known holds it.
    absent: bool,
    scanned_files: u64,
    scanned_bytes: u64,
    /// Files in which a text still stands; what undo goes back to is not among them.
    found: Vec<Found>,
    /// Everything that still holds a text.
    holders: Vec<HolderMessage>,
    /// Changes that can be undone in which a text stands.
    in_journal: usize,
    /// Texts that are too short to be looked for.
    too_short: u64,
    /// Entries whose text is no longer known, because an interrupted forget had removed it.
    unknown: u64,
    /// Files that could not be read.
    unreadable: Vec<String>,
}

#[derive(Serialize)]
struct Found {
    path: String,
}

impl Forgotten {
    /// Puts a report on a memory into words.
    pub(crate) fn of(mut report: ForgetReport, memory: &MemoryChoice) -> Self {
        Self {
            ok: true,
            dry_run: report.dry_run,
            declined: report.declined,
            entries: std::mem::take(&mut report.entries),
            skipped: std::mem::take(&mut report.skipped),
            tombstones: report.tombstones,
            can_be_undone: report.can_be_undone,
            dropped_changes: report.dropped_changes,
            undo_lost: std::mem::take(&mut report.undo_lost),
            dropped_indexes: std::mem::take(&mut report.dropped_indexes),
            proof: report.proof.take().map(|proof| Proof::of(proof, memory)),
            notes: report.notes.iter().map(note).collect(),
            report,
        }
    }

    /// Says that whoever asked was told. From here on the same request is a new one.
    pub(crate) fn told(&mut self) {
        self.report.told();
    }
}

impl Proof {
    fn of(proof: ErasureProof, memory: &MemoryChoice) -> Self {
        let found: Vec<Found> =
            proof.others().map(|holder| Found { path: holder.place.clone() }).collect();
        Self {
            absent: proof.absent,
            scanned_files: proof.scanned_files,
            scanned_bytes: proof.scanned_bytes,
            in_journal: proof.holders.len() - found.len(),
            found,
            holders: proof.holders.iter().map(|holder| HolderMessage::of(holder, memory)).collect(),
            too_short: proof.too_short,
            unknown: proof.unknown,
            unreadable: proof.unreadable,
        }
    }
}

impl Report for Forgotten {
    fn write_human(&self, out: &mut dyn Write) -> io::Result<()> {
        for entry in &self.entries {
            let place = match entry.lines {
                Some((first, last)) if first == last => format!("{}#L{first}", entry.path),
                Some((first, last)) => format!("{}#L{first}-L{last}", entry.path),
                None => entry.path.clone(),
            };
            let key = entry.key.as_ref().map(|key| format!("{}: ", safe(key))).unwrap_or_default();
            let mut lines = entry.text.lines();
            let line = lines.next().unwrap_or_default();
            let more = if lines.next().is_some() { " ..." } else { "" };
            let place = safe(&place);
            writeln!(out, "{BAD}-{BAD:#} {place} {BOLD}{key}{BOLD:#}{}{more}", safe(line))?;
        }
        for file in &self.skipped {
            let (path, reason) = (safe(&file.path), safe(&file.reason));
            writeln!(out, "{ODD}not searched:{ODD:#} {path}: {reason}")?;
        }
        if self.declined {
            return writeln!(out, "Nothing was forgotten.");
        }
        if self.dry_run {
            self.write_notes(out)?;
            return writeln!(out, "Nothing was forgotten: this was a dry run.");
        }
        for folder in &self.dropped_indexes {
            let folder = safe(folder);
            writeln!(out, "{ODD}note:{ODD:#} cleared the index {folder}, which held it")?;
        }
        if let Some(proof) = &self.proof {
            proof.write(out)?;
        }
        self.write_notes(out)?;
        if self.can_be_undone {
            writeln!(
                out,
                "Forgotten. `anemone undo` brings it back: the undo journal keeps the text until \
                 then. --for-good removes it there too."
            )?;
        }
        Ok(())
    }
}

impl Forgotten {
    fn write_notes(&self, out: &mut dyn Write) -> io::Result<()> {
        let lost = self.undo_lost.iter().map(|lost| lost_change(lost, self.dry_run));
        write_notes(self.notes.iter().cloned().chain(lost), out)
    }
}

impl Proof {
    fn write(&self, out: &mut dyn Write) -> io::Result<()> {
        for holder in self.holders.iter().filter(|holder| holder.kind != "journal") {
            let (place, clear) = (safe(&holder.place), safe(&holder.clear_with));
            let kind = holder.kind.replace('_', " ");
            writeln!(out, "{ODD}still in:{ODD:#} {place} ({kind}); to clear it: {clear}")?;
        }
        if self.too_short > 0 {
            let texts = count(self.too_short, "text");
            writeln!(out, "{ODD}not verified:{ODD:#} {texts} too short to search databases for")?;
        }
        if self.unknown > 0 {
            let texts = count(self.unknown, "text");
            writeln!(out, "{ODD}not verified:{ODD:#} {texts} that an earlier run already removed")?;
        }
        for path in &self.unreadable {
            writeln!(out, "{ODD}not checked:{ODD:#} {} cannot be read", safe(path))?;
        }
        if self.absent {
            let (files, read) = (count(self.scanned_files, "file"), bytes(self.scanned_bytes));
            writeln!(out, "{GOOD}gone:{GOOD:#} not found in {files}, {read}")?;
        }
        Ok(())
    }
}
