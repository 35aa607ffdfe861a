//! `anemone remember`

mod rows;

use std::io::{self, Read as _, Write};
use std::path::PathBuf;

use anemone_format::{Moment, Origin, ProvenanceStamp, StampId};
use anemone_memory::{
    ApplyError, Asked, Caution, Clock as _, Duplicate, FoundSecret, Given, Importance, Label,
    MAX_TEXT_BYTES, Place, Remembering, Restored, Secrets, plan_remember,
};
use anemone_runtimes::MemoryBackend;
use clap::Args;
use serde::Serialize;

use super::Context;
use crate::args::MemoryArgs;
use crate::config::Config;
use crate::error::{CliError, Kind};
use crate::living::AgentMemory;
use crate::output::{BOLD, DIM, GOOD, ODD, Report, count, safe};
use anemone::system::SystemClock;

/// How much something matters when only its type is said.
const USUAL_IMPORTANCE: f64 = 0.5;
/// What something is when only its importance is said.
const USUAL_TYPE: &str = "note";

/// Remember something
///
/// Adds an entry to today's log, or to MEMORY.md with --curated. If the agent keeps its memories in
/// ZeroClaw's database, adds a row of the category daily (core with --curated), or replaces the row
/// with the same key. The entry is stamped with its origin and time. Nothing is written if the text
/// holds a secret, or if the memory already says the same or nearly the same; the existing entry is
/// reported instead. Other programs may write at the same time. `anemone undo` reverts it.
#[derive(Args, Debug)]
#[command(after_help = "Example: anemone remember \"The gateway stays on loopback.\" \
                        --type decision --importance 0.9 --source owner -w ~/agent")]
pub(crate) struct RememberArgs {
    /// Text to remember, with or without quotes around it, or `-` for stdin
    #[arg(required_unless_present = "file", conflicts_with = "file")]
    pub(crate) text: Vec<String>,

    /// Take the text from this file
    #[arg(long, value_name = "FILE")]
    file: Option<PathBuf>,

    #[command(flatten)]
    memory: MemoryArgs,

    /// Name of the entry, by which it can be found, replaced and forgotten
    #[arg(long, value_name = "NAME")]
    pub(crate) key: Option<String>,

    /// What it is: decision, lesson, preference, milestone, context, or a word of your own
    #[arg(long = "type", value_name = "NAME")]
    pub(crate) kind: Option<String>,

    /// How much it matters, from 0 to 1: 0.8 and more is kept for ever, less than 0.4 for days
    #[arg(long, value_name = "0..1", value_parser = importance)]
    pub(crate) importance: Option<Importance>,

    /// A word by which it is found, without `#`; may be given more than once
    #[arg(long = "tag", value_name = "WORD")]
    pub(crate) tags: Vec<String>,

    /// Where it comes from: owner, agent, tool, web or import, and more after a colon, such as
    /// `web:https://example.org`
    #[arg(long, value_name = "ORIGIN[:DETAIL]", default_value = "agent", value_parser = source)]
    pub(crate) source: (Origin, Option<String>),

    /// The session in which it was learned
    #[arg(long, value_name = "ID")]
    pub(crate) session: Option<String>,

    /// Key or id of the entry that this one replaces; that one is then marked as superseded
    #[arg(long, value_name = "KEY|ID")]
    pub(crate) supersedes: Option<String>,

    /// Write to MEMORY.md, which every session reads, instead of today's log
    #[arg(long)]
    pub(crate) curated: bool,

    /// Skip the duplicate check
    #[arg(long)]
    pub(crate) force: bool,

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
        Some((word, detail)) => (word, Some(detail.to_owned()).filter(|it| !it.is_empty())),
        None => (text, None),
    };
    Ok((word.parse().map_err(|error: anemone_format::ParseOriginError| error.to_string())?, detail))
}

#[derive(Serialize)]
pub(crate) struct RememberReport {
    ok: bool,
    dry_run: bool,
    pub(crate) written: bool,
    pub(crate) id: String,
    pub(crate) path: String,
    /// As it stands in the file, or in the row.
    entry: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    row: Option<RowLine>,
    #[serde(skip_serializing_if = "Option::is_none")]
    change: Option<String>,
    redacted: Vec<FoundSecret>,
    /// Only of a dry run: otherwise they are an error.
    secrets: Vec<FoundSecret>,
    pub(crate) duplicates: Vec<Duplicate>,
    pub(crate) restored: Vec<Restored>,
    pub(crate) warnings: Vec<Caution>,
}

/// A row of a database.
#[derive(Serialize)]
struct RowLine {
    key: String,
    category: String,
    /// Whether a row with this key was there, whose text is replaced.
    replaces: bool,
}

pub(crate) fn run(args: &RememberArgs, context: &Context<'_>) -> Result<RememberReport, CliError> {
    let text = args.read_text()?;
    let machine = context.host.machine()?;
    let living = if args.dry_run {
        args.memory.choice().find(&machine, &context.host)?
    } else {
        args.memory.choice().find_to_write(&machine, &context.host)?
    };
    match &living.keeps {
        MemoryBackend::Markdown => {
            let finder = match args.force {
                true => None,
                false => Some(living.finder(&machine, &context.host)?),
            };
            let settings = Config::read(&context.host)?.remember;
            let mut asked = args.asked(text);
            // What takes the place of a key has that key, unless it is given another.
            if asked.given.key.is_none() {
                let taken = args.supersedes.clone();
                asked.given.key = taken.filter(|it| it.parse::<StampId>().is_err());
            }
            let now = context.host.now();
            let plan = plan_remember(&living.site, finder.as_ref(), asked, &settings, now)?;
            args.write(&plan, &living)
        }
        MemoryBackend::Sqlite(path) => rows::remember(args, text, path, &living, &machine, context),
        MemoryBackend::None => {
            let message = "this agent is set to keep no memory";
            let error = CliError::new(Kind::Failed, "no_memory", message);
            Err(error.hint("choose a memory in its settings first"))
        }
        MemoryBackend::External(name) => {
            let message = format!("this agent keeps its memory in {name}, out of reach from here");
            let error = CliError::new(Kind::Failed, "not_supported", message);
            Err(error.hint("ask the agent itself to remember it"))
        }
    }
}

impl RememberArgs {
    /// Remembers as somebody does who gives no flags.
    pub(crate) fn plain(text: String, memory: MemoryArgs) -> Self {
        Self {
            text: vec![text],
            file: None,
            memory,
            key: None,
            kind: None,
            importance: None,
            tags: Vec::new(),
            source: (Origin::Agent, None),
            session: None,
            supersedes: None,
            curated: false,
            force: false,
            redact: false,
            dry_run: false,
        }
    }

    fn read_text(&self) -> Result<String, CliError> {
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
        String::from_utf8(bytes).map_err(|_| {
            CliError::new(Kind::Failed, "not_text", "the text to remember is not UTF-8")
        })
    }

    fn asked(&self, text: String) -> Asked {
        let clock = &SystemClock;
        let now = clock.now();
        let (origin, detail) = self.source.clone();
        // Nobody reads parts of a second; the id tells the order within one.
        let second = jiff::Timestamp::from_second(now.as_second()).unwrap_or(now);
        let mut stamp = ProvenanceStamp::new(clock.fresh_id(), origin, Moment::from(second));
        stamp.source = detail;
        stamp.session = self.session.clone();
        stamp.supersedes = self.supersedes.clone();
        let label = match (&self.kind, self.importance.or(Importance::new(USUAL_IMPORTANCE))) {
            (None, _) if self.importance.is_none() => None,
            (name, Some(importance)) => {
                let name = name.clone().unwrap_or_else(|| USUAL_TYPE.to_owned());
                Some(Label { name, importance })
            }
            (_, None) => None,
        };
        let tags = self.tags.iter().map(|it| it.trim_start_matches('#').to_owned()).collect();
        let key = self.key.clone().filter(|it| !it.trim().is_empty());
        let place = match self.curated {
            true => Place::Curated,
            false => Place::Daily(now.to_zoned(clock.zone()).date()),
        };
        let secrets = if self.redact { Secrets::Redact } else { Secrets::Report };
        Asked { given: Given { text, key, label, tags, stamp }, place, secrets }
    }

    fn write(&self, plan: &Remembering, living: &AgentMemory) -> Result<RememberReport, CliError> {
        let (redacted, secrets) = match self.redact {
            true => (plan.secrets.clone(), Vec::new()),
            false => (Vec::new(), plan.secrets.clone()),
        };
        let mut report = RememberReport {
            ok: true,
            dry_run: self.dry_run,
            written: false,
            id: plan.given.stamp.id.shortened().to_string(),
            path: plan.path.clone(),
            // Nobody needs to see a secret to know that it is there.
            entry: if secrets.is_empty() { plan.entry.clone() } else { String::new() },
            row: None,
            change: None,
            redacted,
            secrets,
            duplicates: plan.duplicates.clone(),
            restored: Vec::new(),
            warnings: plan.cautions.clone(),
        };
        if self.dry_run {
            return Ok(report);
        }
        refuse_secrets(&report)?;
        refuse_duplicates(&report)?;
        let clock = &SystemClock;
        let applied = match plan.write(&living.site, clock.fresh_id(), clock.now()) {
            // Somebody else was quicker to remember the same.
            Err(ApplyError::Duplicate(same)) => {
                report.duplicates.push((*same).clone());
                refuse_duplicates(&report)?;
                return Err(ApplyError::Duplicate(same).into());
            }
            applied => applied?,
        };
        report.written = true;
        report.change = Some(applied.id.0.to_string());
        report.restored = applied.restored;
        Ok(report)
    }
}

fn refuse_secrets(report: &RememberReport) -> Result<(), CliError> {
    let Some(first) = report.secrets.first() else { return Ok(()) };
    let place = match first.part {
        "text" => format!("line {}", first.line),
        part => format!("the {part}"),
    };
    let message =
        format!("there is a secret in it: {} in {place}; nothing was written", first.kind);
    let error = CliError::new(Kind::Failed, "secret", message).with_details(report);
    Err(error.hint("leave it out, or write [redacted:KIND] in its place with --redact"))
}

fn refuse_duplicates(report: &RememberReport) -> Result<(), CliError> {
    let Some(first) = report.duplicates.first() else { return Ok(()) };
    let likeness =
        if first.similarity >= 1.0 { "already says this" } else { "says nearly the same" };
    let place = match &report.row {
        Some(_) => String::new(),
        None => format!(" in line {}", first.lines.0),
    };
    let message = format!("{} {likeness}{place}; nothing was written", first.path);
    let name = first.id.as_deref();
    let hint = match name {
        Some(id) => format!("--supersedes {id} takes its place; --force writes it all the same"),
        None => "--force writes it all the same".to_owned(),
    };
    Err(CliError::new(Kind::Conflict, "duplicate", message).with_details(report).hint(hint))
}

impl Report for RememberReport {
    fn write_human(&self, out: &mut dyn Write) -> io::Result<()> {
        for it in &self.secrets {
            writeln!(out, "{ODD}secret:{ODD:#} {} in {}, line {}", it.kind, it.part, it.line)?;
        }
        for it in &self.redacted {
            writeln!(out, "{ODD}redacted:{ODD:#} {} in {}, line {}", it.kind, it.part, it.line)?;
        }
        for it in &self.duplicates {
            let percent = (it.similarity * 100.0).floor();
            let place = format!("{}:{}", safe(&it.path), it.lines.0);
            writeln!(out, "{ODD}says the same ({percent} %):{ODD:#} {place}")?;
            writeln!(out, "  {DIM}{}{DIM:#}", safe(it.text.lines().next().unwrap_or_default()))?;
        }
        for it in &self.warnings {
            writeln!(out, "{ODD}note:{ODD:#} {}", safe(&it.message))?;
        }
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
        let name = self.row.as_ref().map_or(self.id.as_str(), |it| it.key.as_str());
        writeln!(out, "remembered in {BOLD}{}{BOLD:#} as {}", safe(&self.path), safe(name))
    }
}
