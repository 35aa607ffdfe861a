//! The program under the name of the existing tool, `alf`.
//!
//! Callers that use this name have scripts for that tool: flags, JSON keys and their order, and
//! exit codes are that tool's, not ours. The operations are those of our own commands.
//! `docs/alf.md` says where the two differ, and why.

mod check;
mod export;
mod help;
mod import;
mod validate;

use std::ffi::{OsStr, OsString};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anemone::agent::runtime_named;
use anemone::alf::{AlfAgentError, AlfSettings};
use anemone_messages::{Kind, UserError};
use clap::error::ErrorKind;
use clap::{Args, CommandFactory as _, Parser, Subcommand};
use serde::Serialize;

use crate::args::KeyArgs;
use crate::commands::Context;
use crate::environment::Environment;
use crate::output::{Format, Printer, Report, Result, exit_code, json_text, safe};

/// The version of the existing tool whose answers these are.
const CONTRACT: &str = "0.1.0";
/// Lines on stderr that one list may take.
const LISTED: usize = 20;

/// Export, import and check AI agents in the Agent Life Format (.alf)
///
/// This is anemone under the name of the alf tool: the same flags, the same JSON on stdout, the
/// same exit codes. It works offline; no service is ever asked, so sync, restore and login are
/// refused for now. `alf help overview` says more.
#[derive(Debug, Parser)]
#[command(name = "alf", version = CONTRACT, disable_help_subcommand = true)]
struct Cli {
    /// Print text instead of JSON (also: ALF_HUMAN=1)
    #[arg(long, global = true)]
    human: bool,

    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Write everything about an agent into an archive
    ///
    /// An existing archive is replaced atomically. Secrets in files are replaced by a placeholder;
    /// stderr lists them, and what is not in the archive.
    Export(ExportArgs),
    /// Put an archive back as a workspace
    ///
    /// Files that are also in the archive are replaced; the old ones are kept next to the workspace,
    /// and a warning says where.
    Import(ImportArgs),
    /// Check an archive and name everything that is wrong with it
    Validate(ValidateArgs),
    /// Show what a workspace holds and what prevents an export; the exit code is 0 either way
    ///
    /// No service is asked: service_reachable and ready_to_sync are always false. ok says whether
    /// the agent can be exported.
    Check(CheckArgs),
    /// Refused for now: nothing is sent anywhere
    Sync(AgentArgs),
    /// Refused for now: nothing is fetched from anywhere
    Restore(RestoreArgs),
    /// Refused for now: no service is asked, so no key is needed, and none is kept
    Login(LoginArgs),
    /// Explain: overview, status (JSON), files, troubleshoot, or a command
    Help(help::HelpArgs),
}

/// Which agent is meant.
#[derive(Args, Debug)]
struct AgentArgs {
    /// The runtime: openclaw or zeroclaw [default: that of ~/.alf/config.toml]
    #[arg(long, short, value_name = "RUNTIME")]
    runtime: Option<String>,

    /// The workspace [default: that of ~/.alf/config.toml]
    #[arg(long, short, value_name = "DIR")]
    workspace: Option<PathBuf>,
}

#[derive(Args, Debug)]
struct ExportArgs {
    #[command(flatten)]
    agent: AgentArgs,

    /// The archive to write [default: ./WORKSPACE.alf, after the folder of the workspace]
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
}

#[derive(Args, Debug)]
struct ImportArgs {
    #[command(flatten)]
    agent: AgentArgs,

    /// The .alf file
    #[arg(value_name = "ALF_FILE")]
    file: PathBuf,
}

#[derive(Args, Debug)]
struct ValidateArgs {
    /// The .alf or .alf-delta file
    #[arg(value_name = "ALF_FILE")]
    file: PathBuf,
}

#[derive(Args, Debug)]
struct CheckArgs {
    /// The runtime: openclaw or zeroclaw [default: that of ~/.alf/config.toml]
    #[arg(long, short, value_name = "RUNTIME")]
    runtime: Option<String>,

    /// The workspace [default: that of ~/.alf/config.toml, of the runtime, or its usual one]
    #[arg(long, short, value_name = "DIR")]
    workspace: Option<PathBuf>,
}

#[derive(Args, Debug)]
struct RestoreArgs {
    #[command(flatten)]
    agent: AgentArgs,

    /// The id of the agent
    #[arg(long = "agent", short = 'a', value_name = "UUID")]
    id: Option<OsString>,
}

#[derive(Args, Debug)]
struct LoginArgs {
    /// The key to the service; it is not kept
    #[arg(long, short, value_name = "KEY")]
    key: Option<OsString>,
}

/// Whether the program was called by the name of the existing tool.
pub(crate) fn is_meant(program: &OsStr) -> bool {
    Path::new(program).file_stem().is_some_and(|stem| stem == "alf")
}

/// Runs the program with the interface of the existing tool.
pub(crate) fn run(environment: &Environment) -> ExitCode {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => return print_usage(&error),
    };
    crate::signals::tidy_up_on_signals(crate::signals::OnSignal::SayNothing);
    let human = cli.human || environment.human;
    let printer = Printer::new(if human { Format::Human } else { Format::Json }, environment);
    let no_keys = KeyArgs::default();
    let context = Context::new(environment, &printer, &no_keys);
    match dispatch(cli.command, &context) {
        Ok(code) => code,
        Err(AlfFailure::Usage(error)) => print_usage(&error),
        Err(AlfFailure::Failed(error)) => print_error(&printer, &error),
    }
}

/// Why there is no answer.
enum AlfFailure {
    /// The argument parser says so: text, and exit code 2.
    Usage(Box<clap::Error>),
    /// It could not be done: an error in JSON, and exit code 1.
    Failed(UserError),
}

impl<E: Into<UserError>> From<E> for AlfFailure {
    fn from(error: E) -> Self {
        Self::Failed(error.into())
    }
}

fn dispatch(command: Command, context: &Context<'_>) -> Result<ExitCode, AlfFailure> {
    match command {
        Command::Export(args) => export::run(args, context)?,
        Command::Import(args) => import::run(args, context)?,
        Command::Validate(args) => return Ok(validate::run(&args, context)?),
        Command::Check(args) => check::run(args, context)?,
        Command::Help(args) => help::run(&args, context)?,
        Command::Sync(_) => return Err(refused("sync", SYNC_HINT).into()),
        Command::Restore(_) => return Err(refused("restore", RESTORE_HINT).into()),
        Command::Login(_) => return Err(refused("login", LOGIN_HINT).into()),
    }
    Ok(ExitCode::SUCCESS)
}

const SYNC_HINT: &str = "keep a copy with `alf export -r RUNTIME -w DIR -o FILE` and take the file \
                         where you want it; `anemone delta` writes what changed since another one";
const RESTORE_HINT: &str = "put an archive back with `alf import -r RUNTIME -w DIR FILE`";
const LOGIN_HINT: &str = "export, import, validate and check need no key; if this one was on a \
                          command line that others may see, make a new one";

fn refused(command: &str, hint: &str) -> UserError {
    let message = format!("`alf {command}` is not supported: Anemone works offline");
    UserError::failure("not_yet", message).hint(hint)
}

impl AgentArgs {
    /// Returns the runtime and the workspace that are meant, by flag or by the settings.
    fn resolve(self, command: &str, home: &Path) -> Result<(String, PathBuf), AlfFailure> {
        let (runtime, workspace) = AlfSettings::agent(self.runtime, self.workspace, home)
            .map_err(|error| unnamed(command, error))?;
        Ok((known(runtime)?, workspace))
    }
}

/// Refuses a runtime that we do not know, in the words of the existing tool.
fn known(runtime: String) -> Result<String> {
    match runtime_named(&runtime) {
        Ok(_) => Ok(runtime),
        Err(error) => {
            let message = format!("Unknown runtime {runtime:?}");
            Err(UserError { message, ..error.into() })
        }
    }
}

/// Says why it is not known which agent is meant.
fn unnamed(command: &str, error: AlfAgentError) -> AlfFailure {
    match error {
        AlfAgentError::Settings(error) => error.into(),
        AlfAgentError::NoWorkspace => missing(command, "--workspace <DIR>"),
        _ => missing(command, "--runtime <RUNTIME>"),
    }
}

/// Says as the argument parser does that something must be given.
fn missing(command: &str, argument: &str) -> AlfFailure {
    let message = format!(
        "the following required arguments were not provided:\n  {argument}\n\n\
         tip: [defaults] of ~/.alf/config.toml may give it too"
    );
    let mut cli = Cli::command();
    cli.build();
    let error = match cli.find_subcommand_mut(command) {
        Some(command) => command.error(ErrorKind::MissingRequiredArgument, message),
        None => cli.error(ErrorKind::MissingRequiredArgument, message),
    };
    AlfFailure::Usage(Box::new(error))
}

/// An answer in the existing tool's shape for programs, and in our own words for people.
#[derive(Serialize)]
#[serde(transparent)]
struct AlfAnswer<'a, S: Serialize, R: Report> {
    shape: S,
    #[serde(skip)]
    ours: &'a R,
}

impl<S: Serialize, R: Report> Report for AlfAnswer<'_, S, R> {
    const ADDS_OK: bool = false;

    fn write_human(&self, out: &mut dyn io::Write) -> io::Result<()> {
        self.ours.write_human(out)
    }
}

/// Prints warnings on stderr for which the existing tool's JSON has no place.
fn warn(lines: &[String]) {
    let mut out = io::stderr().lock();
    for line in lines.iter().take(LISTED) {
        writeln!(out, "warning: {}", safe(line)).ok();
    }
    if lines.len() > LISTED {
        writeln!(out, "warning: and {} more", lines.len() - LISTED).ok();
    }
}

/// Prints what the argument parser says, as text.
fn print_usage(error: &clap::Error) -> ExitCode {
    error.print().ok();
    ExitCode::from(if error.use_stderr() { exit_code(Kind::Usage) } else { 0 })
}

/// Prints an error: on stdout for programs, whatever the sort; the exit code is 1.
fn print_error(printer: &Printer, error: &UserError) -> ExitCode {
    #[derive(Serialize)]
    struct Failure<'a> {
        ok: bool,
        error: String,
        #[serde(skip_serializing_if = "Option::is_none")]
        hint: Option<&'a str>,
    }
    if !printer.is_json() {
        printer.print_error(error);
        return ExitCode::FAILURE;
    }
    let failure = Failure { ok: false, error: error.with_causes(), hint: error.hint.as_deref() };
    let text = json_text(&failure).unwrap_or_default();
    // A failure of this write cannot be reported anywhere.
    writeln!(io::stdout(), "{text}").ok();
    ExitCode::FAILURE
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_are_sound() {
        Cli::command().debug_assert();
    }

    #[test]
    fn the_name_decides_whatever_stands_around_it() {
        for name in ["alf", "/usr/local/bin/alf", "./alf", "alf.exe"] {
            assert!(is_meant(OsStr::new(name)), "{name}");
        }
        for name in ["anemone", "alfalfa", "/opt/alf/anemone", "half", ""] {
            assert!(!is_meant(OsStr::new(name)), "{name}");
        }
    }
}
