//! What `anemone forget` says.

use std::io::{self, Write};

use anemone::agent_memory::MemoryChoice;
use anemone::forget::{ErasureProof, ForgetReport};
use anemone_messages::{holder_message, lost_change, note};

use crate::output::{BAD, BOLD, GOOD, ODD, Report, bytes, count, safe, write_notes};

/// Puts a report on a memory into words.
pub(crate) fn in_words(mut report: ForgetReport, memory: &MemoryChoice) -> ForgetReport {
    report.note_words = report.notes.iter().map(note).collect();
    if let Some(proof) = &mut report.proof {
        proof.holder_words =
            proof.holders.iter().map(|holder| holder_message(holder, memory)).collect();
    }
    report
}

impl Report for ForgetReport {
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
            write_all_notes(self, out)?;
            return writeln!(out, "Nothing was forgotten: this was a dry run.");
        }
        for folder in &self.dropped_indexes {
            let folder = safe(folder);
            writeln!(out, "{ODD}note:{ODD:#} cleared the index {folder}, which held it")?;
        }
        if let Some(proof) = &self.proof {
            write_proof(proof, out)?;
        }
        write_all_notes(self, out)?;
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

fn write_all_notes(report: &ForgetReport, out: &mut dyn Write) -> io::Result<()> {
    let lost = report.undo_lost.iter().map(|lost| lost_change(lost, report.dry_run));
    write_notes(report.note_words.iter().cloned().chain(lost), out)
}

fn write_proof(proof: &ErasureProof, out: &mut dyn Write) -> io::Result<()> {
    for holder in proof.holder_words.iter().filter(|holder| holder.kind != "journal") {
        let (place, clear) = (safe(&holder.place), safe(&holder.clear_with));
        let kind = holder.kind.replace('_', " ");
        writeln!(out, "{ODD}still in:{ODD:#} {place} ({kind}); to clear it: {clear}")?;
    }
    if proof.too_short > 0 {
        let texts = count(proof.too_short, "text");
        writeln!(out, "{ODD}not verified:{ODD:#} {texts} too short to search databases for")?;
    }
    if proof.unknown > 0 {
        let texts = count(proof.unknown, "text");
        writeln!(out, "{ODD}not verified:{ODD:#} {texts} that an earlier run already removed")?;
    }
    for path in &proof.unreadable {
        writeln!(out, "{ODD}not checked:{ODD:#} {} cannot be read", safe(path))?;
    }
    if proof.absent {
        let (files, read) = (count(proof.scanned_files, "file"), bytes(proof.scanned_bytes));
        writeln!(out, "{GOOD}gone:{GOOD:#} not found in {files}, {read}")?;
    }
    Ok(())
}
