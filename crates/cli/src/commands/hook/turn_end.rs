//! `anemone hook turn-end`

use std::io::{self, Write};

use anemone_format::{Origin, ProvenanceStamp, sha256_hex};
use anemone_memory::{Captured, Category, Given, Importance, Label, NotCaptured, captures};
use anemone_runtimes::{Reach, without_private};
use clap::Args;
use serde::Serialize;

use super::input::HookInput;
use super::shelf::{Shelf, check_within_reach, log_write};
use super::talk::{TalkArgs, ZoneArgs, lock, said_by_owner};
use crate::args::MemoryArgs;
use crate::commands::Context;
use crate::config::Config;
use crate::error::{CliError, Kind};
use crate::output::{BOLD, GOOD, Report, safe};
use anemone::system::SystemClock;
use anemone_memory::Clock as _;

/// The messages of a turn, and some before it.
const MESSAGES: usize = 8;
/// What a rule found matters less than what somebody chose to keep.
const IMPORTANCE: f64 = 0.7;

/// Remember what was said in a turn
///
/// Looks through what the owner said last for sentences that state a preference, a decision, who
/// somebody is, or that something is to be remembered (English, German, Spanish, French, Chinese,
/// Japanese), and adds at most three a conversation to today's log, or as rows of the category core
/// to ZeroClaw's database. Text that programs put in, documents, sections between <private> and
/// </private>, and what looks like an attack or holds a secret is passed over. Where the transcript does not say who speaks, it is the owner in
/// Claude Code and in a main session, and nobody elsewhere. Nothing is captured until this is
/// switched on in the config, or with --enable.
#[derive(Args, Debug)]
pub(crate) struct TurnEndArgs {
    #[command(flatten)]
    memory: MemoryArgs,

    #[command(flatten)]
    talk: TalkArgs,

    /// What was said, instead of a transcript; may be given more than once
    #[arg(long = "message", value_name = "TEXT", allow_hyphen_values = true)]
    #[arg(conflicts_with = "transcript")]
    messages: Vec<String>,

    /// Capture, although it is not switched on
    #[arg(long)]
    enable: bool,

    #[command(flatten)]
    zone: ZoneArgs,

    /// Say what would be remembered, and write nothing
    #[arg(long, short = 'n')]
    dry_run: bool,
}

#[derive(Default, Serialize)]
pub(crate) struct TurnEnded {
    ok: bool,
    enabled: bool,
    dry_run: bool,
    captured: Vec<CapturedLine>,
    /// Sentences that are remembered already.
    duplicates: u64,
    /// Sentences for which the conversation had too many before.
    over_limit: u64,
    left_out: NotCaptured,
    #[serde(skip_serializing_if = "Option::is_none")]
    path: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    change: Option<String>,
    /// What went wrong on the way.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    notes: Vec<String>,
}

#[derive(Serialize)]
struct CapturedLine {
    category: &'static str,
    text: String,
}

impl TurnEndArgs {
    /// Whether nobody need say anything on stdin.
    pub(super) fn is_said(&self) -> bool {
        self.talk.is_said() || !self.messages.is_empty()
    }
}

pub(super) fn run(
    args: &TurnEndArgs,
    input: HookInput,
    context: &Context<'_>,
) -> Result<TurnEnded, CliError> {
    let mut settings = Config::read(&context.host)?.capture;
    settings.enabled |= args.enable;
    let mut report = TurnEnded {
        ok: true,
        enabled: settings.enabled,
        dry_run: args.dry_run,
        ..TurnEnded::default()
    };
    if !settings.enabled {
        return Ok(report);
    }
    let machine = context.host.machine()?;
    let living = input.memory(&args.memory, &machine).choice().find(&machine, &context.host)?;
    check_within_reach(&living)?;
    let (texts, session) = if args.messages.is_empty() {
        let talk = args.talk.read(&input, &living, &machine, Reach::Messages(MESSAGES))?;
        let talk = talk.ok_or_else(|| {
            let hint = "give --message TEXT or --transcript FILE, or the hook's JSON on stdin";
            CliError::new(Kind::Failed, "no_conversation", "no conversation is named").hint(hint)
        })?;
        let (own, others) = said_by_owner(&talk);
        report.left_out.not_owner = others;
        (own, talk.session_id.or(input.session_id))
    } else {
        let open = args.messages.iter().map(|it| without_private(it).0);
        (open.collect(), args.talk.session.clone())
    };
    let mut found: Vec<Captured> = Vec::new();
    for text in &texts {
        let (captured, left_out) = captures(text, &settings);
        found.extend(captured);
        report.left_out += left_out;
    }
    let day = args.zone.now()?.date();
    let shelf = Shelf::of(&living, day)?;
    let held = if args.dry_run { None } else { Some(lock(&living)?) };
    let mut state = session.as_deref().map(|it| living.site.session_state(it)).unwrap_or_default();
    let known = shelf.texts(&[living.site.curated()])?;
    let mut known: Vec<String> = known.iter().map(|it| plain(it)).collect();
    let mut new = Vec::new();
    for it in found {
        let digest = sha256_hex(plain(&it.text).as_bytes())[..16].to_owned();
        if state.captured.contains(&digest) || known.contains(&plain(&it.text)) {
            report.duplicates += 1;
        } else if state.captured.len() >= settings.most {
            report.over_limit += 1;
        } else {
            known.push(plain(&it.text));
            state.captured.push(digest);
            new.push(given(&it, session.as_deref()));
            report.captured.push(CapturedLine { category: it.kind.as_str(), text: it.text });
        }
    }
    if new.is_empty() {
        return Ok(report);
    }
    report.path = Some(shelf.name());
    let Some(held) = held else { return Ok(report) };
    // What somebody prefers or decided stays true: ZeroClaw keeps it as core, too.
    let entries = new.len();
    let change = shelf.add(&held, "hook turn-end", new, &Category::Core)?;
    log_write(&held, "turn-end", &shelf.name(), entries, Some(&change), &mut report.notes);
    report.change = Some(change);
    if let Some(session) = &session {
        held.keep_session_state(session, &state)?;
    }
    Ok(report)
}

fn given(captured: &Captured, session: Option<&str>) -> Given {
    let mut stamp = ProvenanceStamp::new(
        SystemClock.fresh_id(),
        Origin::Owner,
        anemone_format::Moment::from(SystemClock.now()),
    );
    stamp.session = session.map(str::to_owned);
    let name = captured.kind.as_str().to_owned();
    let label = Importance::new(IMPORTANCE).map(|importance| Label { name, importance });
    Given { text: captured.text.clone(), key: None, label, tags: Vec::new(), stamp }
}

/// Returns a sentence as it is compared.
fn plain(text: &str) -> String {
    let kept = |c: char| if c.is_alphanumeric() { c } else { ' ' };
    let text: String = text.to_lowercase().chars().map(kept).collect();
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

impl Report for TurnEnded {
    fn write_human(&self, out: &mut dyn Write) -> io::Result<()> {
        if !self.enabled {
            return writeln!(out, "capture is switched off; --enable switches it on for one call");
        }
        for it in &self.captured {
            writeln!(out, "{GOOD}+{GOOD:#} {BOLD}{}{BOLD:#} {}", it.category, safe(&it.text))?;
        }
        if self.captured.is_empty() {
            writeln!(out, "nothing is captured")?;
        }
        Ok(())
    }
}
