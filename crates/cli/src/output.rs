//! Prints a result once: JSON for programs, text for people.

use std::io::{self, Write};
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, Ordering};

pub(crate) use anemone::text::{bytes, count, safe, title};
use anemone_memory::with_escapes;
use anemone_messages::{Kind, UserError};
use anstyle::{AnsiColor, Style};
use serde::Serialize;

use crate::environment::Environment;

pub(crate) const BOLD: Style = Style::new().bold();
pub(crate) const DIM: Style = Style::new().dimmed();
pub(crate) const GOOD: Style = AnsiColor::Green.on_default();
pub(crate) const BAD: Style = AnsiColor::Red.on_default().bold();
/// A match in a text.
pub(crate) const MARK: Style = AnsiColor::Yellow.on_default().bold();
pub(crate) const ODD: Style = AnsiColor::Yellow.on_default();

/// How the user wants it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Format {
    Json,
    Human,
    /// JSON when stdout is not a terminal.
    Auto,
}

/// Whether stdout carries an archive, so that reports and errors belong on stderr.
static STDOUT_IS_DATA: AtomicBool = AtomicBool::new(false);

/// Sends every report and error of this run to stderr: stdout gets an archive.
pub(crate) fn leave_stdout_to_data() {
    STDOUT_IS_DATA.store(true, Ordering::Relaxed);
}

/// Returns where reports go.
fn report_stream() -> Box<dyn Write> {
    if STDOUT_IS_DATA.load(Ordering::Relaxed) {
        Box::new(anstream::AutoStream::auto(io::stderr()).lock())
    } else {
        Box::new(anstream::AutoStream::auto(io::stdout()).lock())
    }
}

/// A result that people can read.
pub(crate) trait Report: Serialize {
    /// Whether `"ok": true` is added in front of its JSON. A report that contains it already, or
    /// has the form of another program, is printed unchanged.
    const ADDS_OK: bool = true;

    fn write_human(&self, out: &mut dyn Write) -> io::Result<()>;
}

/// A report of a success, for programs.
#[derive(Serialize)]
struct Success<'a, R> {
    ok: bool,
    #[serde(flatten)]
    report: &'a R,
}

pub(crate) struct Printer {
    json: bool,
    progress: bool,
}

impl Printer {
    pub(crate) fn new(format: Format, environment: &Environment) -> Self {
        let json = match format {
            Format::Json => true,
            Format::Human => false,
            Format::Auto => !environment.human && !environment.stdout_is_terminal,
        };
        Self { json, progress: environment.stderr_is_terminal }
    }

    /// Whether a bar may be drawn on stderr.
    pub(crate) fn shows_progress(&self) -> bool {
        self.progress
    }

    /// Prints a result.
    pub(crate) fn print(&self, report: &impl Report) -> Result<()> {
        self.print_one(report).map(|_| ())
    }

    /// Prints one of several results, and returns whether the reader still accepts them.
    pub(crate) fn print_one<R: Report>(&self, report: &R) -> Result<bool> {
        let mut out = report_stream();
        let printed = if self.json {
            let text = if R::ADDS_OK {
                json_text(&Success { ok: true, report })
            } else {
                json_text(report)
            };
            text.and_then(|text| writeln!(out, "{text}"))
        } else {
            report.write_human(&mut out)
        };
        match printed.and_then(|()| out.flush()) {
            // The reader of our output has closed it.
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(false),
            other => Ok(other.map(|()| true)?),
        }
    }

    /// Whether results are printed for programs.
    pub(crate) fn is_json(&self) -> bool {
        self.json
    }

    /// Prints an error and returns its exit code.
    pub(crate) fn print_error(&self, error: &UserError) -> ExitCode {
        print_error(self.json, error);
        ExitCode::from(exit_code(error.kind))
    }
}

/// Returns the exit code of a process that failed.
pub(crate) const fn exit_code(kind: Kind) -> u8 {
    match kind {
        Kind::Failed => 1,
        Kind::Usage => 2,
        Kind::Conflict => 3,
        // What shells make of an interrupt.
        Kind::Interrupted => 130,
    }
}

fn print_error(json: bool, error: &UserError) {
    #[derive(Serialize)]
    struct Failure<'a> {
        ok: bool,
        error: &'a str,
        code: &'a str,
        #[serde(skip_serializing_if = "<[String]>::is_empty")]
        causes: &'a [String],
        #[serde(skip_serializing_if = "Option::is_none")]
        hint: Option<&'a str>,
        #[serde(flatten)]
        details: Option<&'a serde_json::Map<String, serde_json::Value>>,
    }
    // A failure of this write cannot be reported anywhere.
    if json {
        let failure = Failure {
            ok: false,
            error: &error.message,
            code: error.code,
            causes: &error.causes,
            hint: error.hint.as_deref(),
            details: error.details.as_deref(),
        };
        let text = json_text(&failure).unwrap_or_default();
        writeln!(report_stream(), "{text}").ok();
        return;
    }
    let mut out = anstream::AutoStream::auto(io::stderr()).lock();
    writeln!(out, "{BAD}error:{BAD:#} {}", safe(&error.message)).ok();
    for cause in &error.causes {
        writeln!(out, "{DIM}cause:{DIM:#} {}", safe(cause)).ok();
    }
    if let Some(hint) = &error.hint {
        writeln!(out, "{BOLD}hint:{BOLD:#} {}", safe(hint)).ok();
    }
}

/// Returns a value as JSON in which everything can be seen: what shows nothing or could steer a
/// terminal is written as an escape, which programs read as the same character.
pub(crate) fn json_text(value: &impl Serialize) -> io::Result<String> {
    let text = serde_json::to_string(value)?;
    let escape = |c: char| {
        let mut units = [0; 2];
        c.encode_utf16(&mut units).iter().map(|unit| format!("\\u{unit:04x}")).collect()
    };
    // In JSON such characters occur only in strings.
    Ok(with_escapes(&text, escape))
}

/// What a command returns.
pub(crate) type Result<T, E = UserError> = std::result::Result<T, E>;

/// Writes notes, each on a line of its own.
pub(crate) fn write_notes<T: AsRef<str>>(
    notes: impl IntoIterator<Item = T>,
    out: &mut dyn Write,
) -> io::Result<()> {
    let mut notes = notes.into_iter();
    notes.try_for_each(|note| writeln!(out, "{ODD}note:{ODD:#} {}", safe(note.as_ref())))
}

/// Writes how a comparison of entries with each other is not complete.
pub(crate) fn write_limits(
    is_cut: bool,
    not_compared: usize,
    out: &mut dyn Write,
) -> io::Result<()> {
    let cut = is_cut.then(|| "more entries may be nearly the same than are listed".to_owned());
    let fewer = (not_compared > 0)
        .then(|| format!("{not_compared} older entries were compared by their letters only"));
    write_notes(cut.into_iter().chain(fewer), out)
}

/// Says something on stderr while work goes on.
pub(crate) fn notice(message: &str) {
    writeln!(anstream::AutoStream::auto(io::stderr()).lock(), "{DIM}{message}{DIM:#}").ok();
}

/// Asks the user at a terminal; everything but a clear yes is a no.
pub(crate) fn ask(question: &str) -> io::Result<bool> {
    let mut out = anstream::AutoStream::auto(io::stderr()).lock();
    write!(out, "{BOLD}{}{BOLD:#} [y/N] ", safe(question))?;
    out.flush()?;
    let mut answer = String::new();
    io::stdin().read_line(&mut answer)?;
    Ok(["y", "yes"].contains(&answer.trim().to_lowercase().as_str()))
}

/// Prints the message of the argument parser: help, version, or an error.
pub(crate) fn print_usage(mut error: clap::Error, environment: &Environment) -> ExitCode {
    suggest_command(&mut error);
    suggest_flag(&mut error);
    error.print().ok();
    if !error.use_stderr() {
        return ExitCode::SUCCESS;
    }
    if error.kind() == clap::error::ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand {
        return ExitCode::from(exit_code(Kind::Usage));
    }
    // The arguments could not be parsed, so the flags are searched for by hand.
    let given = |flag: &str| std::env::args_os().any(|arg| arg == flag);
    let human = given("--human") || environment.human || environment.stdout_is_terminal;
    if given("--json") || !human {
        let text = error.render().to_string();
        let lines = text.lines().take_while(|line| !line.starts_with("Usage:"));
        let words: Vec<&str> = lines.flat_map(str::split_whitespace).collect();
        let message = words.join(" ").trim_start_matches("error: ").to_owned();
        let usage = UserError::usage(message).hint("run it with --help");
        print_error(true, &usage);
    }
    ExitCode::from(exit_code(Kind::Usage))
}

/// Words for commands that other programs have, with what to use here.
const OTHER_WORDS: &[(&[&str], &str)] = &[
    (&["backup"], "`anemone export` writes a backup of an agent; `anemone import` puts it back"),
    (&["restore"], "`anemone import FILE.alf` puts a backup back; `anemone export` writes one"),
    (
        &["rm", "remove", "delete"],
        "`anemone forget` removes an entry; `anemone purge` removes text from archives",
    ),
    (&["add"], "`anemone remember TEXT` adds an entry"),
    (&["update"], "`anemone remember TEXT --key KEY` replaces the entry of that key"),
    (&["find", "grep", "query"], "`anemone search WORDS` searches the memory"),
    (&["recall"], "`anemone search WORDS` searches the memory; `anemone get` reads what was found"),
    (
        &["show"],
        "`anemone get CITATION` reads what a search found; `anemone inspect` shows an archive",
    ),
    (&["ls"], "`anemone list` lists entries; `anemone agents` lists agents"),
    (&["version"], "`anemone --version` prints the version"),
    (&["sync"], "`anemone export --since OLD.alf` writes a backup only if something changed"),
];

/// Replaces the suggestion for a command that other programs have: it goes by letters, and the
/// nearest name may do the opposite.
fn suggest_command(error: &mut clap::Error) {
    use clap::error::{ContextKind, ContextValue};
    let Some(ContextValue::String(given)) = error.get(ContextKind::InvalidSubcommand) else {
        return;
    };
    let Some((_, tip)) = OTHER_WORDS.iter().find(|(words, _)| words.contains(&given.as_str()))
    else {
        return;
    };
    let tip = ContextValue::StyledStrs(vec![(*tip).into()]);
    error.remove(ContextKind::SuggestedSubcommand);
    error.insert(ContextKind::Suggested, tip);
}

/// Says with which flag something is given that was given without one.
fn suggest_flag(error: &mut clap::Error) {
    use clap::error::{ContextKind, ContextValue, ErrorKind};
    if error.kind() != ErrorKind::UnknownArgument {
        return;
    }
    let Some(ContextValue::String(given)) = error.get(ContextKind::InvalidArg) else { return };
    let Some(command) = std::env::args().skip(1).find(|arg| !arg.starts_with('-')) else { return };
    let quoted = anemone::connect::quoted(given);
    let tip = match command.as_str() {
        _ if given.starts_with('-') => return,
        "forget" if is_name_of_entry(given) => format!("`anemone forget --id {quoted}`"),
        "forget" => format!("`anemone forget --key {quoted}` or `--query {quoted}`"),
        _ if std::path::Path::new(given).is_dir() && takes_workspace(&command) => {
            format!("a folder is given with -w: `anemone {command} -w {quoted}`")
        }
        _ => return,
    };
    error.insert(ContextKind::Suggested, ContextValue::StyledStrs(vec![tip.into()]));
}

/// Whether a text is a citation or an id.
fn is_name_of_entry(text: &str) -> bool {
    text.contains("#L") || text.parse::<anemone_format::StampId>().is_ok()
}

fn takes_workspace(command: &str) -> bool {
    let program = crate::commands::command();
    let found = program.find_subcommand(command);
    found.is_some_and(|found| found.get_arguments().any(|arg| arg.get_long() == Some("workspace")))
}
