//! `anemone remember`

use std::io::{self, Read as _, Write};
use std::path::PathBuf;

use anemone::remember::{
    DuplicateCheck, MemoryPart, RememberReport, RememberRequest, SecretHandling, remember,
};
use anemone_format::Origin;
use anemone_memory::{Category, Importance, MAX_TEXT_BYTES};
use anemone_messages::UserError;
use clap::Args;

use super::Context;
use crate::args::MemoryArgs;
use crate::output::{BOLD, DIM, GOOD, ODD, Report, Result, count, safe, write_notes};

/// Remember something
///
/// Adds an entry to today's log, or to MEMORY.md with --curated. If the agent keeps its memories in
/// a database, adds a row of the category daily (core with --curated), or replaces the row
/// with the same key. The entry is stamped with its origin and time. Nothing is written if the text
/// holds a secret, or if the memory already says the same; the existing entry is reported instead. An
/// entry with another value for the same thing (Tuesdays, Wednesdays) is superseded, unless --force
/// is given or a more trusted source said it; the new value of a fact in MEMORY.md goes there. Other
/// programs may write at the same time. `anemone undo` reverts it.
#[derive(Args, Debug)]
#[command(after_help = "Example: anemone remember \"The gateway stays on loopback.\" \
                        --type decision --importance 0.9 --source owner -w ~/agent")]
pub(crate) struct RememberArgs {
    /// Text to remember, with or without quotes around it, or `-` for stdin
    #[arg(required_unless_present = "file", conflicts_with = "file")]
    text: Vec<String>,

    /// Take the text from this file
    #[arg(long, value_name = "FILE")]
    file: Option<PathBuf>,

    #[command(flatten)]
    memory: MemoryArgs,

    /// Name of the entry, by which it can be found, replaced and forgotten
    #[arg(long, value_name = "NAME")]
    key: Option<String>,

    /// What it is: decision, lesson, preference, milestone, context, or a word of your own
    #[arg(long = "type", value_name = "NAME")]
    kind: Option<String>,

    /// How much it matters, from 0 to 1: 0.8 and more is kept for ever, less than 0.4 for days
    #[arg(long, value_name = "0..1", value_parser = importance)]
    importance: Option<Importance>,

    /// A word by which it is found, without `#`; may be given more than once
    #[arg(long = "tag", value_name = "WORD")]
    tags: Vec<String>,

    /// Where it comes from: owner, agent, tool, web or import, and more after a colon, such as
    /// `web:https://example.org`
    #[arg(long, value_name = "ORIGIN[:DETAIL]", default_value = "agent", value_parser = source)]
    source: (Origin, Option<String>),

    /// The session in which it was learned
    #[arg(long, value_name = "ID")]
    session: Option<String>,

    /// Key or id of the entry that this one replaces; that one is then marked as superseded
    #[arg(long, value_name = "KEY|ID")]
    supersedes: Option<String>,

    /// Write to MEMORY.md, which every session reads, instead of today's log
    #[arg(long)]
    curated: bool,

    /// Category of the row, where the memory is a database: core, daily, conversation or a word of
    /// your own; by default that of the row with this key, or daily
    #[arg(long, value_name = "NAME", conflicts_with = "curated")]
    category: Option<String>,

    /// Skip the duplicate check, and supersede nothing by itself
    #[arg(long)]
    force: bool,

    /// If the text holds secrets, write `[redacted:KIND]` in place of each instead of refusing
    #[arg(long)]
    redact: bool,

    /// Show what would be written, and write nothing
    #[arg(long, short = 'n')]
    dry_run: bool,
}

fn importance(text: &str) -> Result<Importance, String> {
    let number = text.parse().ok().and_then(Importance::new);
    number.ok_or_else(|| "it is a number from 0 to 1".to_owned())
}

fn source(text: &str) -> Result<(Origin, Option<String>), String> {
    let (word, detail) = match text.split_once(':') {
        Some((word, detail)) => (word, Some(detail.to_owned()).filter(|detail| !detail.is_empty())),
        None => (text, None),
    };
    Ok((word.parse().map_err(|error: anemone_format::ParseOriginError| error.to_string())?, detail))
}

pub(crate) fn run(args: &RememberArgs, context: &Context<'_>) -> Result<RememberReport> {
    Ok(remember(&args.request()?, &context.host)?)
}

impl RememberArgs {
    fn request(&self) -> Result<RememberRequest> {
        let (origin, source) = self.source.clone();
        Ok(RememberRequest {
            memory: self.memory.choice(),
            text: self.read_text()?,
            key: self.key.clone(),
            kind: self.kind.clone(),
            category: self.category.as_deref().map(Category::from),
            importance: self.importance,
            tags: self.tags.clone(),
            origin,
            source,
            session: self.session.clone(),
            supersedes: self.supersedes.clone(),
            part: if self.curated { MemoryPart::Curated } else { MemoryPart::Log },
            duplicates: if self.force { DuplicateCheck::Skip } else { DuplicateCheck::Refuse },
            secrets: if self.redact { SecretHandling::Redact } else { SecretHandling::Report },
            dry_run: self.dry_run,
        })
    }

    fn read_text(&self) -> Result<String> {
        let most = MAX_TEXT_BYTES as u64 + 1;
        let mut bytes = Vec::new();
        match (&self.file, self.text.as_slice()) {
            (Some(path), _) => {
                fs_err::File::open(path)?.take(most).read_to_end(&mut bytes)?;
            }
            (None, [text]) if text == "-" => {
                io::stdin().lock().take(most).read_to_end(&mut bytes)?;
            }
            (None, words) => bytes.extend(words.join(" ").bytes()),
        }
        String::from_utf8(bytes)
            .map_err(|_| UserError::failure("not_text", "the text to remember is not UTF-8"))
    }
}

impl Report for RememberReport {
    fn write_human(&self, out: &mut dyn Write) -> io::Result<()> {
        let secrets = self.secrets.iter().map(|found| ("secret", found));
        for (word, found) in secrets.chain(self.redacted.iter().map(|found| ("redacted", found))) {
            let (kind, part, line) = (found.kind, found.part, found.line);
            writeln!(out, "{ODD}{word}:{ODD:#} {kind} in {part}, line {line}")?;
        }
        let same = self
            .duplicates
            .iter()
            .map(|same| (format!("says the same ({} %)", (same.similarity * 100.0).floor()), same));
        let others = self.superseded.iter().map(|old| ("supersedes".to_owned(), old));
        let near = self.near.iter().map(|near| ("similar, and stays".to_owned(), near));
        for (word, entry) in same.chain(others).chain(near) {
            let place = format!("{}:{}", safe(&entry.path), entry.lines.0);
            writeln!(out, "{ODD}{word}:{ODD:#} {place}")?;
            writeln!(out, "  {DIM}{}{DIM:#}", safe(entry.text.lines().next().unwrap_or_default()))?;
        }
        write_notes(self.warnings.iter().map(|warning| &warning.message), out)?;
        if !self.restored.is_empty() {
            let number = count(self.restored.len() as u64, "entry");
            writeln!(out, "{ODD}put back:{ODD:#} {number} that an editor had dropped")?;
        }
        if self.dry_run {
            for line in self.entry.lines() {
                writeln!(out, "{GOOD}+{GOOD:#} {}", safe(line))?;
            }
            return writeln!(out, "nothing written to {}: this was a dry run", safe(&self.path));
        }
        let name = self.row.as_ref().map_or(self.id.as_str(), |row| row.key.as_str());
        writeln!(out, "remembered in {BOLD}{}{BOLD:#} as {}", safe(&self.path), safe(name))?;
        if self.superseded.is_empty() {
            return Ok(());
        }
        writeln!(out, "`anemone undo` takes it back and restores what it supersedes")
    }
}
