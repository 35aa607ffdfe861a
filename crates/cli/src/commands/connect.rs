//! `anemone connect` and `anemone disconnect`

mod target;

use std::io::{self, Write};
use std::path::PathBuf;

use anemone::connect::{
    ConnectNote, ConnectReport, ConnectRequest, ConnectTarget, DisconnectRequest, FileAction,
    Hooks, ProgramNote,
};
use anemone::statement::Statement;
use anemone_runtimes::connect::ConnectOption;
use clap::Args;
use target::{ProgramArg, ProgramParser, targets};

use super::Context;
use crate::args::{AgentArgs, one_of};
use crate::output::{BOLD, DIM, GOOD, Report, Result, safe, write_notes};
use crate::runtime_words;

/// Give an agent this memory: tools, and hooks where it has them
#[derive(Args, Debug)]
#[command(long_about = format!("Give an agent this memory: tools, and hooks where it has them

Adds what is needed to the program's own configuration, and touches nothing else: comments, order \
and spaces stay as they are. {} For any other MCP client, this prints what to add to its \
configuration.

--dry-run shows every line before anything is written. Connecting again brings an old entry up to \
date. `anemone disconnect` takes it all out again, and leaves the files as they were.",
runtime_words::connections()))]
pub(crate) struct ConnectArgs {
    #[arg(
        value_name = "PROGRAM",
        value_parser = ProgramParser,
        help = format!(
            "The program to connect: {}, or another MCP client such as cursor",
            runtime_words::programs()
        )
    )]
    target: ProgramArg,

    #[command(flatten)]
    memory: AgentArgs,

    #[arg(
        long,
        value_name = "PATH",
        value_hint = clap::ValueHint::AnyPath,
        help = runtime_words::help_of_option(
            ConnectOption::Source,
            "an archive, a database or a folder in which memory_search finds things; may be given \
             more than once",
        )
    )]
    source: Vec<PathBuf>,

    /// Let the program remember and forget, not only search
    #[arg(long)]
    allow_write: bool,

    #[arg(
        long,
        value_parser = one_of(HOOKS),
        value_name = "WHICH",
        hide_default_value = true,
        help = runtime_words::help_of_option(
            ConnectOption::Hooks,
            "which hooks it gets [default: read]",
        )
    )]
    hooks: Option<Hooks>,

    /// Only the tools, no hooks; the same as --hooks none
    #[arg(long, conflicts_with = "hooks", hide = true)]
    no_hooks: bool,

    #[arg(
        long,
        value_name = "DIR",
        value_hint = clap::ValueHint::DirPath,
        help = runtime_words::help_of_option(
            ConnectOption::Project,
            "connect only the sessions in this project, by its local settings",
        )
    )]
    project: Option<PathBuf>,

    #[arg(
        long,
        value_name = "ALIAS",
        help = runtime_words::help_of_option(
            ConnectOption::To,
            "the agent that gets the tools; without it, the one whose memory it is, or the only one",
        )
    )]
    to: Option<String>,

    /// The anemone that is started; without it, this one
    #[arg(long, value_name = "FILE", value_hint = clap::ValueHint::ExecutablePath)]
    program: Option<String>,

    /// Show what would be written, and write nothing
    #[arg(long, short = 'n')]
    dry_run: bool,
}

/// Remove what `anemone connect` wrote
///
/// Restores the program's files byte for byte; what you changed in them since stays. Files and
/// folders that were created for the connection are removed, unless something else is in them.
///
/// Entries that start anemone but are not as it wrote them stay and are listed, because they may be
/// your own. --all removes them as well.
#[derive(Args, Debug)]
pub(crate) struct DisconnectArgs {
    /// The program to disconnect
    #[arg(value_parser = targets())]
    target: ConnectTarget,

    #[arg(
        long,
        value_name = "DIR",
        value_hint = clap::ValueHint::DirPath,
        help = runtime_words::help_of_option(
            ConnectOption::Project,
            "disconnect only the sessions in this project",
        )
    )]
    project: Option<PathBuf>,

    /// Also remove entries that start anemone, regardless of who wrote them, and files that are
    /// the same as ours
    #[arg(long)]
    all: bool,

    /// Show what would be removed, and change nothing
    #[arg(long, short = 'n')]
    dry_run: bool,
}

/// The hooks that a program can get.
const HOOKS: [(&str, &str, Hooks); 3] = [
    ("none", "No hooks, only the tools", Hooks::None),
    ("read", "Hooks that show the memory to a session, and write nothing", Hooks::Read),
    (
        "write",
        "Also hooks that write: a note when a session ends, and what was said before a conversation \
         is compacted",
        Hooks::Write,
    ),
];

pub(crate) fn connect(args: &ConnectArgs, context: &Context<'_>) -> Result<ConnectReport> {
    let hooks = if args.no_hooks { Some(Hooks::None) } else { args.hooks };
    let request = ConnectRequest {
        program: args.target.0.clone(),
        memory: args.memory.choice(),
        sources: args.source.clone(),
        allow_write: args.allow_write,
        hooks,
        project: args.project.clone(),
        to: args.to.clone(),
        command: args.program.clone(),
        dry_run: args.dry_run,
    };
    Ok(in_words(anemone::connect::connect(&request, &context.host)?))
}

pub(crate) fn disconnect(args: &DisconnectArgs, context: &Context<'_>) -> Result<ConnectReport> {
    let DisconnectArgs { target, project, all, dry_run } = args;
    let request = DisconnectRequest {
        target: *target,
        project: project.clone(),
        all: *all,
        dry_run: *dry_run,
    };
    Ok(in_words(anemone::connect::disconnect(&request, &context.host)?))
}

fn in_words(mut report: ConnectReport) -> ConnectReport {
    Statement::word_all(&mut report.notes, |note| match note {
        ConnectNote::Program(ProgramNote::ReadingHooks(sessions)) => format!(
            "{sessions} is shown this memory, and writes nothing into it; --hooks none gives it \
             the tools alone, --hooks write also keeps notes of sessions"
        ),
        ConnectNote::WritingHooksRemoved => "the hooks that wrote into the memory (at the end of \
                                             a session, and before a conversation is compacted) \
                                             are taken out; --hooks write keeps them"
            .to_owned(),
        ConnectNote::ProjectConnected { folder, program } => format!(
            "{folder} is connected by itself; `disconnect {program} --project` takes that out"
        ),
        ConnectNote::ForeignEntry { entry, path, removable } => {
            let hint = if removable { "; disconnecting with --all takes it out" } else { "" };
            format!(
                "{entry} in {} starts anemone, but was not written by `connect`; left unchanged{hint}",
                path.display()
            )
        }
        ConnectNote::Program(ProgramNote::Text(text)) => text,
    });
    report
}

impl Report for ConnectReport {
    fn write_human(&self, out: &mut dyn Write) -> io::Result<()> {
        let target = safe(&self.target);
        let project = self.project.as_ref().map(|project| format!(" in {}", safe(project)));
        let project = project.unwrap_or_default();
        match self.status {
            "already_connected" => {
                writeln!(out, "{GOOD}{target} is already connected{project}{GOOD:#}")?;
            }
            "not_connected" => writeln!(out, "{target} is not connected{project}")?,
            "planned" => writeln!(out, "{BOLD}dry run, nothing is written:{BOLD:#}")?,
            "by_hand" => writeln!(out, "Anemone does not edit the configuration of {target}.")?,
            done => writeln!(out, "{GOOD}{done}{GOOD:#} {target}{project}")?,
        }
        if let (Some(config), Some(file)) = (&self.config, self.config_file) {
            writeln!(out, "Add this to {file}:\n")?;
            let text = serde_json::to_string_pretty(config).map_err(io::Error::from)?;
            for line in text.lines() {
                writeln!(out, "{}", safe(line))?;
            }
        }
        for file in self.files.iter().filter(|file| file.fate != FileAction::Same) {
            let word = match file.fate {
                FileAction::Made => "new",
                FileAction::Changed => "change",
                FileAction::Removed => "remove",
                FileAction::Same => "same",
            };
            writeln!(out, "{BOLD}{word}{BOLD:#} {}", safe(&file.path))?;
            let sign = if self.takes_out { '-' } else { '+' };
            for line in &file.lines {
                writeln!(out, "  {sign} {}", safe(line))?;
            }
        }
        write_notes(self.notes.iter().filter_map(Statement::words), out)?;
        match self.next {
            Some(next) => writeln!(out, "{DIM}next:{DIM:#} {next}"),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    const SKILL: &str = include_str!("../../../../integrations/openclaw/skill/SKILL.md");

    fn taught(page: &str) -> Vec<Vec<String>> {
        let blocks = page.split("```sh\n").skip(1).filter_map(|part| part.split("```").next());
        let commands = blocks.flat_map(str::lines).filter(|value| value.starts_with("anemone "));
        let words = commands.map(|line| {
            let words = anemone::connect::shell_words(line);
            let is_own = |text: &String| !["#", "|", ">", "&&", "&"].contains(&text.as_str());
            words.into_iter().take_while(is_own).collect()
        });
        words.collect()
    }

    #[test]
    fn every_command_that_the_skill_and_the_docs_teach_is_one() {
        use clap::Parser as _;
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        let mut pages = vec![(PathBuf::from("SKILL.md"), SKILL.to_owned())];
        for entry in fs_err::read_dir(root.join("docs")).unwrap() {
            let path = entry.unwrap().path();
            if path.extension().is_some_and(|extension| extension == "md") {
                pages.push((path.clone(), fs_err::read_to_string(path).unwrap()));
            }
        }
        let readme = root.join("README.md");
        pages.push((readme.clone(), fs_err::read_to_string(readme).unwrap()));
        assert!(taught(SKILL).len() >= 6);
        for (path, page) in pages {
            for words in taught(&page) {
                let parsed = crate::commands::Cli::try_parse_from(&words);
                assert!(parsed.is_ok(), "{}: {words:?}: {:?}", path.display(), parsed.err());
            }
        }
    }
}
