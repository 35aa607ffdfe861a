//! The commands; one module each.

mod agents;
mod apply;
mod audit;
pub(crate) mod check;
mod completions;
mod config;
mod connect;
pub(crate) mod context;
mod decrypt;
mod delta;
mod demo;
mod diff;
mod encrypt;
mod eval;
pub(crate) mod export;
pub(crate) mod forget;
pub(crate) mod get;
mod hook;
pub(crate) mod import;
mod index;
mod inspect;
mod install;
mod list;
mod man;
mod mcp;
mod migrate;
mod model;
mod purge;
mod ranking;
pub(crate) mod remember;
pub(crate) mod search;
mod status;
mod tidy;
mod undo;
pub(crate) mod validate;
mod vault;

use std::io::{self, Write as _};
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;

use anemone::files::Existing;
use anemone::host::Host;
use anemone::result_file::{ResultFile, ResultSealing};
use clap::{Args, CommandFactory as _, FromArgMatches as _, Parser, Subcommand};

use crate::args::KeyArgs;
use crate::console::Terminal;
use crate::environment::Environment;
use crate::output::{Format, Printer, Result};

/// Keep an AI agent's memory when everything around it changes
///
/// Anemone reads and writes archives in the Agent Life Format (.alf): everything an agent
/// remembers, is and has, in one file that can be checked, compared, changed and sealed. It works
/// offline and needs no account.
///
/// Results are JSON when stdout is not a terminal. Exit codes: 0 done, 1 failed, 2 wrong usage,
/// 3 conflict.
#[derive(Debug, Parser)]
#[command(name = "anemone", version)]
#[command(after_help = "Try it: `anemone demo` shows everything on a sample agent.")]
pub(crate) struct Cli {
    #[command(flatten)]
    pub(crate) global: GlobalArgs,

    #[command(subcommand)]
    command: Option<Command>,
}

#[derive(Args, Clone, Debug)]
pub(crate) struct GlobalArgs {
    /// Print JSON, also on a terminal
    #[arg(long, global = true, conflicts_with = "human", help_heading = "Global options")]
    json: bool,

    /// Print text, also when stdout is not a terminal (also: ALF_HUMAN=1)
    #[arg(long, global = true, help_heading = "Global options")]
    human: bool,

    #[command(flatten)]
    keys: KeyArgs,
}

impl GlobalArgs {
    pub(crate) fn format(&self) -> Format {
        match (self.json, self.human) {
            (true, _) => Format::Json,
            (_, true) => Format::Human,
            _ => Format::Auto,
        }
    }
}

/// Commands that read no files that could be sealed. They take the global options for keys like any
/// other command, but their help does not show them.
const NOTHING_SEALED: [&str; 16] = [
    "status",
    "agents",
    "check",
    "remember",
    "undo",
    "context",
    "hook",
    "tidy",
    "connect",
    "disconnect",
    "model",
    "config",
    "vault",
    "install",
    "completions",
    "man",
];

/// Returns the arguments of the program, as the parser, completions and manual pages have them.
pub(crate) fn command() -> clap::Command {
    let program = Cli::command();
    let is_key = |arg: &&clap::Arg| matches!(arg.get_id().as_str(), "identity" | "passphrase_file");
    let keys = program.get_arguments().filter(is_key).map(|arg| arg.clone().hide(true));
    let keys: Vec<clap::Arg> = keys.collect();
    // A command that has an argument of its own does not get the global one of that name.
    NOTHING_SEALED.iter().fold(program, |program, name| {
        program.mut_subcommand(name, |program| program.args(keys.clone()))
    })
}

impl Cli {
    /// Reads the arguments of the process.
    pub(crate) fn read() -> Result<Self, clap::Error> {
        Self::from_arg_matches(&command().try_get_matches()?)
    }

    /// Whether the command answers with one document; a server and hooks speak a protocol of their
    /// own, and some commands print plain text.
    pub(crate) fn answers_once(&self) -> bool {
        let other = [
            matches!(self.command, Some(Command::Mcp(_) | Command::Hook(_))),
            matches!(self.command, Some(Command::Completions(_) | Command::Man(_))),
        ];
        !other.contains(&true)
    }
}

#[derive(Debug, Subcommand)]
enum Command {
    Status(status::StatusArgs),
    Agents(agents::AgentsArgs),
    Check(check::CheckArgs),
    Search(Box<search::SearchArgs>),
    Get(Box<get::GetArgs>),
    List(Box<list::ListArgs>),
    Index(Box<index::IndexArgs>),
    Remember(Box<remember::RememberArgs>),
    Forget(Box<forget::ForgetArgs>),
    Undo(Box<undo::UndoArgs>),
    Context(Box<context::ContextArgs>),
    Hook(Box<hook::HookArgs>),
    Tidy(Box<tidy::TidyArgs>),
    Audit(Box<audit::AuditArgs>),
    Mcp(Box<mcp::McpArgs>),
    Connect(Box<connect::ConnectArgs>),
    Disconnect(Box<connect::DisconnectArgs>),
    Eval(Box<eval::EvalArgs>),
    Model(model::ModelArgs),
    Config(config::ConfigArgs),
    Validate(validate::ValidateArgs),
    Inspect(inspect::InspectArgs),
    Diff(diff::DiffArgs),
    Delta(delta::DeltaArgs),
    Apply(apply::ApplyArgs),
    Import(import::ImportArgs),
    Migrate(Box<migrate::MigrateArgs>),
    Purge(purge::PurgeArgs),
    Export(export::ExportArgs),
    Encrypt(encrypt::EncryptArgs),
    Decrypt(decrypt::DecryptArgs),
    Vault(vault::VaultArgs),
    Demo(demo::DemoArgs),
    Install(install::InstallArgs),
    Completions(completions::CompletionsArgs),
    Man(man::ManArgs),
}

/// What every command is handed.
pub(crate) struct Context<'a> {
    pub(crate) environment: &'a Environment,
    pub(crate) printer: &'a Printer,
    pub(crate) host: Host,
}

impl<'a> Context<'a> {
    pub(crate) fn new(
        environment: &'a Environment,
        printer: &'a Printer,
        key_args: &'a KeyArgs,
    ) -> Self {
        let (can_ask, shows_progress) = (environment.can_ask(), printer.shows_progress());
        let host = environment.host(key_args, Terminal { can_ask, shows_progress });
        Self { environment, printer, host }
    }

    /// Returns the host for work whose results another part prints: without progress bars.
    pub(crate) fn silent_host(&self) -> Host {
        let can_ask = self.environment.can_ask();
        let console = Arc::new(Terminal { can_ask, shows_progress: false });
        Host { console, ..self.host.clone() }
    }
}

/// Runs the command; it prints its own result.
pub(crate) fn run(cli: Cli, environment: &Environment, printer: &Printer) -> Result<ExitCode> {
    let key_args = &cli.global.keys;
    let context = Context::new(environment, printer, key_args);
    match cli.command.unwrap_or(Command::Status(status::StatusArgs::default())) {
        Command::Status(args) => printer.print(&status::run(&args, &context)?)?,
        Command::Agents(args) => {
            if !agents::print_aliases(&args, &context)? {
                printer.print(&agents::run(&args, &context)?)?;
            }
        }
        Command::Check(args) => return check::run(&args, &context),
        Command::Search(args) => printer.print(&search::run(&args, &context)?)?,
        Command::Get(args) => get::run(&args, &context)?,
        Command::List(args) => printer.print(&list::run(&args, &context)?)?,
        Command::Index(args) => index::run(&args, &context)?,
        Command::Remember(args) => printer.print(&remember::run(&args, &context)?)?,
        Command::Forget(args) => {
            let mut forgotten = forget::run(&args, &context)?;
            printer.print(&forgotten)?;
            forgotten.told();
        }
        Command::Undo(args) => printer.print(&undo::run(&args, &context)?)?,
        Command::Context(args) => printer.print(&context::run(&args, &context)?)?,
        Command::Hook(args) => hook::run(&args, &context)?,
        Command::Tidy(args) => printer.print(&tidy::run(&args, &context)?)?,
        Command::Audit(args) => audit::run(&args, &context)?,
        Command::Mcp(args) => return mcp::run(&args, &context),
        Command::Connect(args) => printer.print(&connect::connect(&args, &context)?)?,
        Command::Disconnect(args) => printer.print(&connect::disconnect(&args, &context)?)?,
        Command::Eval(args) => printer.print(&eval::run(&args, &context)?)?,
        Command::Config(args) => config::run(&args, &context)?,
        Command::Model(args) => model::run(&args, &context)?,
        Command::Validate(args) => return validate::run(&args, &context),
        Command::Inspect(args) => printer.print(&inspect::run(&args, &context)?)?,
        Command::Diff(args) => printer.print(&diff::run(&args, &context)?)?,
        Command::Delta(args) => printer.print(&delta::run(&args, &context)?)?,
        Command::Apply(args) => printer.print(&apply::run(&args, &context)?)?,
        Command::Import(args) => printer.print(&import::run(&args, &context)?)?,
        Command::Migrate(args) => printer.print(&migrate::run(&args, &context)?)?,
        Command::Purge(args) => printer.print(&purge::run(&args, &context)?)?,
        Command::Export(args) => printer.print(&export::run(&args, &context)?)?,
        Command::Encrypt(args) => printer.print(&encrypt::run(&args, &context)?)?,
        Command::Decrypt(args) => printer.print(&decrypt::run(&args, &context)?)?,
        Command::Vault(args) => printer.print(&vault::run(&args, &context)?)?,
        Command::Demo(args) => printer.print(&demo::run(&args, &context)?)?,
        Command::Install(args) => printer.print(&install::run(&args, &context)?)?,
        Command::Completions(args) => completions::run(&args)?,
        Command::Man(args) => man::run(&args, &context)?,
    }
    Ok(ExitCode::SUCCESS)
}

/// Where a command writes.
#[derive(Args, Clone, Debug)]
pub(crate) struct OutputArgs {
    /// The file to write
    #[arg(long, short, value_name = "FILE", required_unless_present = "dry_run")]
    pub(crate) output: Option<PathBuf>,

    /// Show what would be done, and write nothing
    #[arg(long, short = 'n')]
    pub(crate) dry_run: bool,

    /// Overwrite an existing output file
    #[arg(long)]
    pub(crate) force: bool,

    /// Write the result unencrypted even if a source is sealed; by default it is sealed with the
    /// same passphrase, or for the identities it was opened with
    #[arg(long, conflicts_with = "recipient")]
    pub(crate) plain: bool,

    /// Seal the result for this age recipient (age1...); may be given more than once
    #[arg(long, short, value_name = "RECIPIENT")]
    pub(crate) recipient: Vec<String>,
}

impl OutputArgs {
    /// Returns the destination of the result; in a dry run nothing is written.
    pub(crate) fn result_file(&self) -> ResultFile {
        let sealing = if self.plain {
            ResultSealing::Plain
        } else if self.recipient.is_empty() {
            ResultSealing::AsSources
        } else {
            ResultSealing::Recipients(self.recipient.clone())
        };
        ResultFile {
            path: self.output.clone().filter(|_| !self.dry_run),
            existing: if self.force { Existing::Replace } else { Existing::Keep },
            sealing,
        }
    }
}

/// Prints a raw text instead of a result; a reader that closes early is no error.
pub(crate) fn print_bytes(bytes: &[u8]) -> Result<()> {
    match io::stdout().write_all(bytes) {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        other => Ok(other?),
    }
}
