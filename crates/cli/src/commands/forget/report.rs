//! What `anemone forget` says.

use std::io::{self, Write};

use anemone_memory::{EntryToForget, FinishedForget, Forgetting, JournalErasure, NotedRows};
use serde::Serialize;

use super::super::undo::local;
use super::holders::Holder;
use crate::output::{BAD, BOLD, GOOD, ODD, Report, bytes, count, safe};

#[derive(Serialize)]
pub(crate) struct Forgotten {
    ok: bool,
    pub(crate) dry_run: bool,
    /// Whether somebody was asked and said no.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    declined: bool,
    pub(crate) entries: Vec<EntryToForget>,
    /// Files that could not be looked into.
    skipped: Vec<Unread>,
    /// Lines that say that something was forgotten.
    pub(super) tombstones: usize,
    /// Whether `anemone undo` brings it back.
    pub(crate) can_be_undone: bool,
    /// Changes that can no longer be undone.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) dropped_changes: Option<usize>,
    /// Changes other than this one that could be undone before and cannot be any more, because they
    /// were about what is forgotten for good.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    undo_lost: Vec<LostChange>,
    /// Other indexes of the same memory that held the text.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) dropped_indexes: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    proof: Option<Proof>,
    /// What somebody should know.
    pub(crate) notes: Vec<String>,
    /// The notes that a forget is under way: until somebody was told of it, it can be repeated.
    #[serde(skip)]
    untold: (Option<Forgetting>, Vec<FinishedForget>),
}

#[derive(Serialize)]
struct LostChange {
    what: String,
    at: String,
    files: Vec<String>,
}

#[derive(Serialize)]
struct Unread {
    path: String,
    reason: String,
}

/// What was read to see that something is gone.
#[derive(Serialize)]
pub(super) struct Proof {
    /// Whether every text was looked for wherever it may be, and nothing that is known holds it.
    pub(super) absent: bool,
    pub(super) scanned_files: u64,
    pub(super) scanned_bytes: u64,
    /// Files in which a text still stands; what undo goes back to is not among them.
    pub(super) found: Vec<Found>,
    /// Everything that still holds a text.
    pub(super) holders: Vec<Holder>,
    /// Changes that can be undone in which a text stands.
    pub(super) in_journal: usize,
    /// Texts that are too short to be looked for.
    pub(super) too_short: u64,
    /// Entries whose text is no longer known, because an interrupted forget had removed it.
    pub(super) unknown: u64,
    /// Files that could not be read.
    pub(super) unreadable: Vec<String>,
}

#[derive(Serialize)]
pub(super) struct Found {
    pub(super) path: String,
}

impl Forgotten {
    pub(super) fn planned(
        entries: &[&EntryToForget],
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
            declined: false,
            entries: entries.iter().map(|it| (*it).clone()).collect(),
            skipped: skipped.iter().map(unread).collect(),
            tombstones: 0,
            can_be_undone: false,
            dropped_changes: None,
            undo_lost: Vec::new(),
            dropped_indexes: Vec::new(),
            proof: None,
            notes: Vec::new(),
            untold: (None, Vec::new()),
        }
    }

    pub(super) fn wait_for_telling(
        &mut self,
        begun: Option<Forgetting>,
        finished: Vec<FinishedForget>,
    ) {
        self.untold = (begun, finished);
    }

    /// Says that whoever asked was told. From here on the same request is a new one.
    pub(crate) fn told(&mut self) {
        let (begun, finished) = std::mem::take(&mut self.untold);
        begun.into_iter().for_each(Forgetting::end);
        finished.into_iter().for_each(FinishedForget::end);
    }

    /// Says that somebody was asked and said no: nothing was forgotten.
    pub(super) fn declined(mut self) -> Self {
        self.declined = true;
        self.entries.clear();
        self
    }

    /// Returns who still holds a text.
    pub(crate) fn holders(&self) -> &[Holder] {
        self.proof.as_ref().map_or(&[][..], |proof| &proof.holders)
    }

    /// Whether the texts were looked for everywhere and not found.
    pub(crate) fn is_absent(&self) -> bool {
        self.proof.as_ref().is_some_and(|it| it.absent)
    }

    /// Says which changes can no longer be undone.
    pub(super) fn undo_lost(&mut self, erasure: &JournalErasure) {
        self.undo_lost = erasure
            .dropped
            .iter()
            .map(|(_, noted)| LostChange {
                what: noted.what.clone(),
                at: noted.at.clone(),
                files: noted
                    .edits
                    .iter()
                    .map(|edit| edit.path.clone())
                    .chain(noted.rows.as_ref().map(NotedRows::name))
                    .collect(),
            })
            .collect();
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
            writeln!(out, "{ODD}not searched:{ODD:#} {path}: {reason}")?;
        }
        if self.declined {
            return writeln!(out, "Nothing was forgotten.");
        }
        if self.dry_run {
            self.write_notes(out)?;
            return writeln!(out, "Nothing was forgotten: this was a dry run.");
        }
        for it in &self.dropped_indexes {
            writeln!(out, "{ODD}note:{ODD:#} cleared the index {}, which held it", safe(it))?;
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
        for it in self.notes.iter().chain(&self.lines_of_lost_undo()) {
            writeln!(out, "{ODD}note:{ODD:#} {}", safe(it))?;
        }
        Ok(())
    }

    /// Says which changes can no longer be undone, a line for each.
    pub(crate) fn lines_of_lost_undo(&self) -> Vec<String> {
        let then = if self.dry_run { "then " } else { "" };
        let line = |it: &LostChange| {
            let (what, at, files) = (&it.what, local(&it.at), it.files.join(", "));
            format!("`{what}` of {at} ({files}) can {then}no longer be undone")
        };
        self.undo_lost.iter().map(line).collect()
    }
}

impl Proof {
    fn write(&self, out: &mut dyn Write) -> io::Result<()> {
        for it in self.holders.iter().filter(|it| it.kind != "journal") {
            let (place, clear) = (safe(&it.place), safe(&it.clear_with));
            let kind = it.kind.replace('_', " ");
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
        for it in &self.unreadable {
            writeln!(out, "{ODD}not checked:{ODD:#} {} cannot be read", safe(it))?;
        }
        if self.absent {
            let (files, read) = (count(self.scanned_files, "file"), bytes(self.scanned_bytes));
            writeln!(out, "{GOOD}gone:{GOOD:#} not found in {files}, {read}")?;
        }
        Ok(())
    }
}
