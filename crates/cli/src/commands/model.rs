//! `anemone model`

use std::io::{self, Write};
use std::path::PathBuf;

use anemone::models::{
    AddModelRequest, AddedModel, FetchModelRequest, ModelLine, ModelList, ModelReport, ModelSource,
    ModelState, RemovedModel, add_model, fetch_model, list_models, remove_model, show_model,
};
use clap::{Args, Subcommand};

use super::Context;
use crate::output::{BOLD, DIM, GOOD, ODD, Report, Result, bytes, safe};

/// Manage the models that compare meanings on this machine
///
/// Two models come with the program and need nothing: builtin and builtin-quality. A larger one,
/// minilm (all-MiniLM-L6-v2, 87 MiB), is added once: `anemone model get minilm` fetches it, or
/// `anemone model add PATH` takes a file that you have. Then `anemone index --embedder minilm`.
#[derive(Args, Debug)]
pub(crate) struct ModelArgs {
    #[command(subcommand)]
    command: ModelCommand,
}

#[derive(Debug, Subcommand)]
enum ModelCommand {
    /// List the models, and which of them are here
    List,
    /// Show the details of one model
    Show(NameArgs),
    Add(AddArgs),
    Get(GetArgs),
    Remove(RemoveArgs),
}

#[derive(Args, Debug)]
struct NameArgs {
    /// The model, such as minilm
    name: String,
}

/// Add a model from a file, or from a folder that holds model.safetensors
///
/// The file is copied under the user's data folder (XDG_DATA_HOME). Only the very file that its
/// makers published is taken, by its SHA-256.
#[derive(Args, Debug)]
struct AddArgs {
    /// The file or folder
    path: PathBuf,

    /// Take another file than the published one, if it is such a model
    #[arg(long)]
    unpinned: bool,

    /// Say what would be done, and copy nothing
    #[arg(long, short = 'n')]
    dry_run: bool,
}

/// Fetch a model from where it is published
///
/// The download is accepted only if its SHA-256 is that of the published file, so any mirror will
/// do.
#[derive(Args, Debug)]
struct GetArgs {
    /// The model, such as minilm
    name: String,

    /// Fetch it from here instead
    #[arg(long, value_name = "URL")]
    url: Option<String>,

    /// Say what would be done, and fetch nothing
    #[arg(long, short = 'n')]
    dry_run: bool,
}

/// Remove a model that was added
///
/// Vectors that it made stay in their indexes; without it, search leaves them aside and goes on
/// with what comes with the program.
#[derive(Args, Debug)]
struct RemoveArgs {
    /// The model, such as minilm
    name: String,

    /// Say what would be done, and remove nothing
    #[arg(long, short = 'n')]
    dry_run: bool,
}

pub(crate) fn run(args: &ModelArgs, context: &Context<'_>) -> Result<()> {
    let (printer, host) = (context.printer, &context.host);
    match &args.command {
        ModelCommand::List => printer.print(&list_models(host)),
        ModelCommand::Show(args) => printer.print(&show_model(&args.name, host)?),
        ModelCommand::Add(args) => printer.print(&add_model(&args.request(), host)?),
        ModelCommand::Get(args) => printer.print(&fetch_model(&args.request(), host)?),
        ModelCommand::Remove(args) => printer.print(&remove_model(&args.name, args.dry_run, host)?),
    }
}

impl AddArgs {
    fn request(&self) -> AddModelRequest {
        let source = if self.unpinned { ModelSource::Any } else { ModelSource::Published };
        AddModelRequest { path: self.path.clone(), source, dry_run: self.dry_run }
    }
}

impl GetArgs {
    fn request(&self) -> FetchModelRequest {
        let Self { name, url, dry_run } = self;
        FetchModelRequest { name: name.clone(), url: url.clone(), dry_run: *dry_run }
    }
}

impl Report for ModelList {
    fn write_human(&self, out: &mut dyn Write) -> io::Result<()> {
        for ModelLine { name, full_name, state, bytes: size, .. } in &self.models {
            let state = match (state, size) {
                (ModelState::BuiltIn, _) => format!("{GOOD}built in{GOOD:#}"),
                (ModelState::Added, size) => {
                    format!("{GOOD}added{GOOD:#}, {}", bytes(size.unwrap_or_default()))
                }
                (ModelState::Absent, _) => {
                    format!("{ODD}not here{ODD:#}; `anemone model get {name}` fetches it")
                }
            };
            writeln!(out, "{BOLD}{name:<16}{BOLD:#} {DIM}{full_name}{DIM:#}  {state}")?;
        }
        Ok(())
    }
}

impl Report for ModelReport {
    fn write_human(&self, out: &mut dyn Write) -> io::Result<()> {
        let ModelLine { name, full_name, path, .. } = &self.model;
        writeln!(out, "{BOLD}{name}{BOLD:#}  {DIM}{full_name}{DIM:#}")?;
        match (path, self.is_published) {
            (Some(path), Some(published)) => {
                let which = if published { "the published file" } else { "another file" };
                writeln!(out, "  {:<10} {} ({which})", "stored in", safe(path))?;
            }
            _ => writeln!(out, "  {:<10} no; `anemone model get {name}` fetches it", "here")?,
        }
        writeln!(out, "  {:<10} {}", "from", self.url)?;
        let size = bytes(self.published_bytes);
        writeln!(out, "  {:<10} {size}, SHA-256 {}", "published", self.sha256)
    }
}

impl Report for AddedModel {
    fn write_human(&self, out: &mut dyn Write) -> io::Result<()> {
        let verb = if self.dry_run { "would add" } else { "added" };
        let (from, path) = (safe(&self.from), safe(&self.path));
        let (name, size) = (self.name, bytes(self.bytes));
        writeln!(out, "{verb} {BOLD}{name}{BOLD:#} ({size}) from {from} as {path}")?;
        if !self.is_published {
            writeln!(out, "{ODD}note:{ODD:#} this is not the published file")?;
        }
        writeln!(out, "use it: anemone index --embedder {name}")
    }
}

impl Report for RemovedModel {
    fn write_human(&self, out: &mut dyn Write) -> io::Result<()> {
        let verb = if self.dry_run { "would remove" } else { "removed" };
        if self.removed {
            writeln!(out, "{verb} {}, {}", self.name, bytes(self.bytes))
        } else {
            writeln!(out, "{} was not here", self.name)
        }
    }
}
