//! `anemone model`

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use anemone_embed::MiniLm;
use clap::{Args, Subcommand};
use serde::Serialize;

use super::Context;
use crate::download::download;
use crate::error::{CliError, Kind};
use crate::files::{Existing, Target};
use crate::models::{Content, FILE, MAX_BYTES, MODELS, Model, copy, file_at, home};
use crate::output::{BOLD, DIM, GOOD, ODD, Report, bytes, safe};
use anemone::host::Host;
use anemone::host::Progress;

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
    /// Say everything about one model
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
/// What comes is taken only when it is the very file that its makers published, by its SHA-256,
/// so that any mirror will do.
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

pub(crate) fn run(args: &ModelArgs, context: &Context<'_>) -> Result<(), CliError> {
    let printer = context.printer;
    match &args.command {
        ModelCommand::List => printer.print(&list(&context.host)),
        ModelCommand::Show(args) => printer.print(&show(&args.name, &context.host)?),
        ModelCommand::Add(args) => printer.print(&add(args, context)?),
        ModelCommand::Get(args) => printer.print(&get(args, context)?),
        ModelCommand::Remove(args) => printer.print(&remove(args, &context.host)?),
    }
}

/// A model, and whether it is here.
#[derive(Serialize)]
struct ModelLine {
    name: &'static str,
    full_name: &'static str,
    /// Comes with the program, was added, or could be.
    state: State,
    #[serde(skip_serializing_if = "Option::is_none")]
    path: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    bytes: Option<u64>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
enum State {
    BuiltIn,
    Added,
    Absent,
}

impl ModelLine {
    fn of(model: &Model, host: &Host) -> Self {
        let path = model.path(host);
        let there = fs_err::metadata(&path).ok().filter(std::fs::Metadata::is_file);
        Self {
            name: model.name,
            full_name: model.full_name,
            state: if there.is_some() { State::Added } else { State::Absent },
            path: there.is_some().then(|| path.display().to_string()),
            bytes: there.map(|it| it.len()),
        }
    }

    const fn built_in(name: &'static str, full_name: &'static str) -> Self {
        Self { name, full_name, state: State::BuiltIn, path: None, bytes: None }
    }
}

#[derive(Serialize)]
struct Listed {
    ok: bool,
    folder: String,
    models: Vec<ModelLine>,
}

fn list(host: &Host) -> Listed {
    let mut models = vec![
        ModelLine::built_in("builtin", "anemone-table-1"),
        ModelLine::built_in("builtin-quality", "anemone-quality-1"),
    ];
    models.extend(MODELS.iter().map(|it| ModelLine::of(it, host)));
    Listed { ok: true, folder: home(host).display().to_string(), models }
}

impl Report for Listed {
    fn write_human(&self, out: &mut dyn Write) -> io::Result<()> {
        for ModelLine { name, full_name, state, bytes: size, .. } in &self.models {
            let state = match (state, size) {
                (State::BuiltIn, _) => format!("{GOOD}built in{GOOD:#}"),
                (State::Added, size) => {
                    format!("{GOOD}added{GOOD:#}, {}", bytes(size.unwrap_or_default()))
                }
                (State::Absent, _) => {
                    format!("{ODD}not here{ODD:#}; `anemone model get {name}` fetches it")
                }
            };
            writeln!(out, "{BOLD}{name:<16}{BOLD:#} {DIM}{full_name}{DIM:#}  {state}")?;
        }
        Ok(())
    }
}

#[derive(Serialize)]
struct Shown {
    ok: bool,
    #[serde(flatten)]
    model: ModelLine,
    url: &'static str,
    /// Of the published file.
    sha256: &'static str,
    published_bytes: u64,
    /// Whether the file that is here is the published one.
    #[serde(skip_serializing_if = "Option::is_none")]
    is_published: Option<bool>,
}

fn show(name: &str, host: &Host) -> Result<Shown, CliError> {
    let model = Model::of_name(name)?;
    let is_published = match model.is_there(host) {
        true => Some(content_of(&model.path(host), &Progress::hidden())?.is(model.file)),
        false => None,
    };
    Ok(Shown {
        ok: true,
        model: ModelLine::of(model, host),
        url: model.url,
        sha256: model.file.sha256,
        published_bytes: model.file.bytes,
        is_published,
    })
}

impl Report for Shown {
    fn write_human(&self, out: &mut dyn Write) -> io::Result<()> {
        writeln!(out, "{BOLD}{}{BOLD:#}  {DIM}{}{DIM:#}", self.model.name, self.model.full_name)?;
        match (&self.model.path, self.is_published) {
            (Some(path), Some(published)) => {
                let which = if published { "the published file" } else { "another file" };
                writeln!(out, "  {:<10} {} ({which})", "lies in", safe(path))?;
            }
            _ => writeln!(
                out,
                "  {:<10} no; `anemone model get {}` fetches it",
                "here", self.model.name
            )?,
        }
        writeln!(out, "  {:<10} {}", "from", self.url)?;
        writeln!(
            out,
            "  {:<10} {}, SHA-256 {}",
            "published",
            bytes(self.published_bytes),
            self.sha256
        )
    }
}

/// A model that was added, or would be.
#[derive(Serialize)]
struct Added {
    ok: bool,
    dry_run: bool,
    name: &'static str,
    /// The file, or the host that it came from.
    from: String,
    path: String,
    bytes: u64,
    sha256: String,
    is_published: bool,
}

fn add(args: &AddArgs, context: &Context<'_>) -> Result<Added, CliError> {
    let [model] = &MODELS;
    let source = file_at(&args.path)?;
    let content = content_of(&source, &context.host.progress("reading"))?;
    let is_published = content.is(model.file);
    if !is_published && !args.unpinned {
        let mut message = format!("this is not the published file of {}", model.full_name);
        if content.bytes != model.file.bytes {
            let (there, published) = (bytes(content.bytes), bytes(model.file.bytes));
            message.push_str(&format!(": it has {there}, not {published}"));
        }
        let hint = match content.bytes < model.file.bytes {
            true => {
                "it may have been cut short: fetch it again; if you trust it as it is, add it \
                     with --unpinned"
            }
            false => "if you trust it, add it with --unpinned",
        };
        return Err(CliError::new(Kind::Failed, "wrong_file", message).about(&source).hint(hint));
    }
    check(&source)?;
    let path = model.path(&context.host);
    if !args.dry_run {
        put(&path, |file| {
            let mut from = fs_err::File::open(&source)?;
            let copied = copy(&mut from, file, MAX_BYTES, &|_| {})?;
            if copied != content {
                let message = "the file changed while it was read";
                return Err(CliError::new(Kind::Failed, "changed", message).about(&source));
            }
            Ok(())
        })?;
    }
    Ok(Added {
        ok: true,
        dry_run: args.dry_run,
        name: model.name,
        from: source.display().to_string(),
        path: path.display().to_string(),
        bytes: content.bytes,
        sha256: content.sha256,
        is_published,
    })
}

fn get(args: &GetArgs, context: &Context<'_>) -> Result<Added, CliError> {
    let model = Model::of_name(&args.name)?;
    let url = args.url.as_deref().unwrap_or(model.url);
    let path = model.path(&context.host);
    let is_here = || -> Result<bool, CliError> {
        let here = model.is_there(&context.host);
        Ok(here && content_of(&path, &Progress::hidden())?.is(model.file))
    };
    if !args.dry_run && !is_here()? {
        let progress = context.host.progress("fetching");
        progress.expect(model.file.bytes);
        put(&path, |file| {
            let fetched = download(url, model.file, file, &|bytes| progress.advance(bytes));
            fetched.map_err(|error| elsewhere(error.into(), model))
        })?;
    }
    Ok(Added {
        ok: true,
        dry_run: args.dry_run,
        name: model.name,
        from: host_of(url),
        path: path.display().to_string(),
        bytes: model.file.bytes,
        sha256: model.file.sha256.to_owned(),
        is_published: true,
    })
}

/// Names a URL without what may be secret in it.
fn host_of(url: &str) -> String {
    let url = reqwest::Url::parse(url).ok();
    url.and_then(|it| it.host_str().map(str::to_owned)).unwrap_or_default()
}

/// Says how to get the file without a network.
fn elsewhere(error: CliError, model: &Model) -> CliError {
    match error.hint {
        Some(_) => error,
        None => error.hint(format!(
            "copy {FILE} of {} (SHA-256 {}) from another machine, then run `anemone model add PATH`",
            model.full_name, model.file.sha256
        )),
    }
}

impl Report for Added {
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

#[derive(Serialize)]
struct Removed {
    ok: bool,
    dry_run: bool,
    name: &'static str,
    removed: bool,
    bytes: u64,
}

fn remove(args: &RemoveArgs, host: &Host) -> Result<Removed, CliError> {
    let model = Model::of_name(&args.name)?;
    let line = ModelLine::of(model, host);
    let removed = line.state == State::Added;
    if removed && !args.dry_run {
        fs_err::remove_file(model.path(host))?;
        // What somebody else put beside it stays.
        fs_err::remove_dir(model.folder(host)).ok();
    }
    let bytes = line.bytes.unwrap_or_default();
    Ok(Removed { ok: true, dry_run: args.dry_run, name: model.name, removed, bytes })
}

impl Report for Removed {
    fn write_human(&self, out: &mut dyn Write) -> io::Result<()> {
        let verb = if self.dry_run { "would remove" } else { "removed" };
        match self.removed {
            true => writeln!(out, "{verb} {}, {}", self.name, bytes(self.bytes)),
            false => writeln!(out, "{} was not here", self.name),
        }
    }
}

/// Reads a file for its digest.
fn content_of(path: &Path, progress: &Progress) -> Result<Content, CliError> {
    let mut file = fs_err::File::open(path)?;
    progress.expect(file.metadata()?.len());
    Ok(copy(&mut file, &mut io::sink(), MAX_BYTES, &|bytes| progress.advance(bytes))?)
}

/// Refuses a file that is no such model.
fn check(path: &Path) -> Result<(), CliError> {
    match MiniLm::open(path) {
        Ok(_) => Ok(()),
        Err(error) => Err(CliError::from(error).about(path)),
    }
}

/// Writes a model's file as a whole; until it is, whatever was there stays.
fn put(
    path: &Path,
    write: impl FnOnce(&mut dyn Write) -> Result<(), CliError>,
) -> Result<(), CliError> {
    let made: Vec<&Path> = path.ancestors().skip(1).take_while(|it| !it.exists()).collect();
    if let Some(folder) = path.parent() {
        fs_err::create_dir_all(folder)?;
    }
    let written = put_whole(path, write);
    if written.is_err() {
        // Nobody wants empty folders for a model that did not come.
        for folder in made {
            fs_err::remove_dir(folder).ok();
        }
    }
    written
}

fn put_whole(
    path: &Path,
    write: impl FnOnce(&mut dyn Write) -> Result<(), CliError>,
) -> Result<(), CliError> {
    let mut target = Target::create(path, Existing::Replace)?;
    target.write(None, write)?;
    Ok(target.commit()?)
}
