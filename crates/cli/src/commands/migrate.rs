//! `anemone migrate`

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::str::FromStr;

use anemone::migrate::{
    Destination, Endpoint, ForgottenLine, LayerPlan, MigrateReport, MigrateRequest, migrate,
};
use anemone::proof::LayerProof;
use anemone::statement::Statement;
use anemone_runtimes::mapping::Becomes;
use anemone_runtimes::{SAMPLE_INSTALL, SAMPLE_TARGET};
use clap::Args;

use super::Context;
use crate::args::RestoreArgs;
use crate::output::{BOLD, DIM, GOOD, ODD, Report, Result, count, safe};
use crate::restored::{store_lines, write_missing};

/// Move an agent to another runtime, and prove what came along
///
/// Reads the agent, says for each kind of memory what becomes of it, writes it for the other
/// runtime, reads that back and compares. What the other runtime has no place for is kept in the
/// folder .alf-origin of its workspace, and is put back when the agent returns. The agent that is
/// read is not changed. A snapshot of it, and of what is replaced, stays in the snapshots folder.
///
/// Exits 1 if anything cannot be found again that the plan did not name.
#[derive(Args, Debug)]
#[command(after_help = format!("Examples:
  anemone migrate --from {home} --to {SAMPLE_TARGET} --dry-run   what would become of everything
  anemone migrate --from {home} --to {SAMPLE_TARGET}
  anemone migrate --from {SAMPLE_TARGET} --agent ada --to {home}:~/ada", home = SAMPLE_INSTALL.runtime))]
pub(crate) struct MigrateArgs {
    /// The runtime that has the agent, and the agent's folder if it is not the usual one
    #[arg(long, value_name = "RUNTIME[:DIR]")]
    from: EndpointArg,

    /// The runtime that gets it, and the folder if it is not the usual one
    #[arg(long, value_name = "RUNTIME[:DIR]")]
    to: EndpointArg,

    /// The agent to move, as `anemone agents` lists it
    #[arg(long, value_name = "ALIAS")]
    agent: Option<String>,

    /// Name of the agent in the other runtime
    #[arg(long, value_name = "ALIAS")]
    to_agent: Option<String>,

    /// Show what would be done, and write nothing
    #[arg(long, short = 'n')]
    dry_run: bool,

    /// List every record that does not come along whole, with what it loses
    #[arg(long, short)]
    verbose: bool,

    #[command(flatten)]
    restore: RestoreArgs,

    /// Move entries that the runtime keeps for one person only
    #[arg(long)]
    private: bool,

    /// Move the secrets of credentials too
    #[arg(long)]
    credentials: bool,

    /// Folder for snapshots of both sides [default: anemone/snapshots in XDG_DATA_HOME]
    #[arg(long, value_name = "DIR")]
    snapshots: Option<PathBuf>,
}

/// A runtime and perhaps a folder.
#[derive(Clone, Debug)]
struct EndpointArg {
    runtime: String,
    folder: Option<PathBuf>,
}

impl FromStr for EndpointArg {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (runtime, folder) = match text.split_once(':') {
            Some((_, "")) => return Err("a folder is missing behind the colon".to_owned()),
            Some((runtime, folder)) => (runtime, Some(PathBuf::from(folder))),
            None => (text, None),
        };
        Ok(Self { runtime: runtime.to_owned(), folder })
    }
}

pub(crate) fn run(args: &MigrateArgs, context: &Context<'_>) -> Result<MigrateReport> {
    let mut report = migrate(&args.request(&context.host.folders.home), &context.host)?;
    for kind in report.plan.layers.iter_mut().flat_map(|layer| &mut layer.kinds) {
        if let Some(destination) = kind.becomes.typed() {
            kind.becomes = Statement::Worded(destination_words(*destination));
        }
    }
    Ok(report)
}

/// Says what a kind of thing becomes.
fn destination_words(destination: Destination) -> String {
    match destination {
        Destination::Mapped(Becomes::NativeSecret(text)) => format!("{text}, with --credentials"),
        Destination::Mapped(becomes) => becomes.text().to_owned(),
        Destination::SecretsNotRequested => "secrets are moved with --credentials".to_owned(),
    }
}

impl MigrateArgs {
    fn request(&self, home: &Path) -> MigrateRequest {
        MigrateRequest {
            from: self.from.endpoint(home),
            to: self.to.endpoint(home),
            agent: self.agent.clone(),
            to_agent: self.to_agent.clone(),
            dry_run: self.dry_run,
            verbose: self.verbose,
            restore: self.restore.choice(),
            private: self.private,
            credentials: self.credentials,
            snapshots: self.snapshots.clone(),
        }
    }
}

impl EndpointArg {
    /// Expands a tilde: a shell does not see one behind a colon.
    fn endpoint(&self, home: &Path) -> Endpoint {
        let expanded = |folder: &PathBuf| match folder.strip_prefix("~") {
            Ok(rest) => home.join(rest),
            Err(_) => folder.clone(),
        };
        Endpoint { runtime: self.runtime.clone(), folder: self.folder.as_ref().map(expanded) }
    }
}

/// Writes each number that is not zero before its word.
fn nonzero<const N: usize>(numbers: [(u64, &str); N]) -> impl Iterator<Item = String> {
    let nonzero = numbers.into_iter().filter(|(number, _)| *number > 0);
    nonzero.map(|(number, word)| format!("{number} {word}"))
}

fn write_layer(layer: &LayerPlan, out: &mut dyn Write) -> io::Result<()> {
    if layer.total == 0 {
        return Ok(());
    }
    writeln!(out, "{BOLD}{}{BOLD:#}  {}", layer.layer, layer.total)?;
    for line in &layer.kinds {
        let parts: Vec<String> = nonzero([
            (line.exact, "exact"),
            (line.degraded, "degraded"),
            (line.kept_aside, "only kept aside"),
            (line.none, "not moved"),
        ])
        .collect();
        let (kind, becomes) = (safe(&line.kind), line.becomes.words().map_or("", String::as_str));
        writeln!(out, "  {kind}: {}  {DIM}{becomes}{DIM:#}", parts.join(", "))?;
        if !line.fields.is_empty() {
            let fields = line.fields.iter().map(|(field, number)| format!("{field} {number}"));
            let fields = fields.collect::<Vec<_>>().join(", ");
            writeln!(out, "    {DIM}no place for {fields}{DIM:#}")?;
        }
    }
    for record in &layer.records {
        let what = match record.reason {
            Some(reason) => reason.to_owned(),
            None => record.without.join(", "),
        };
        writeln!(out, "  {DIM}{}{DIM:#} {}: {what}", record.id, safe(&record.name))?;
    }
    Ok(())
}

impl Report for MigrateReport {
    fn write_human(&self, out: &mut dyn Write) -> io::Result<()> {
        let name = safe(&self.agent_name);
        let (from, to) = (&self.from, &self.to);
        let workspace = safe(&to.workspace);
        write!(out, "{BOLD}{name}{BOLD:#}  {} {}", from.runtime, safe(&from.workspace))?;
        writeln!(out, " -> {} {workspace}", to.runtime)?;
        for layer in &self.plan.layers {
            write_layer(layer, out)?;
        }
        let ForgottenLine { count: number, names } = &self.plan.forgotten;
        if *number > 0 {
            let memories = count(*number, "memory");
            let runtime = from.runtime;
            writeln!(out, "{ODD}forgotten:{ODD:#} {memories} that {runtime} has no longer")?;
            for name in names {
                writeln!(out, "  {DIM}{}{DIM:#}", safe(name))?;
            }
            let more = number.saturating_sub(names.len() as u64);
            if more > 0 {
                writeln!(out, "  {DIM}and {more} more{DIM:#}")?;
            }
        }
        write_missing("not carried", &self.not_carried, out)?;
        for line in store_lines(&self.stores) {
            writeln!(out, "{line}")?;
        }
        for warning in &self.warnings {
            writeln!(out, "{ODD}warning:{ODD:#} {}", safe(warning))?;
        }
        if let Some(kept) = &self.stores.replaced_kept_at {
            writeln!(out, "the replaced files are in {BOLD}{}{BOLD:#}", safe(kept))?;
        }
        for snapshot in &self.snapshots {
            writeln!(out, "snapshot of the {}: {}", snapshot.of, safe(&snapshot.path))?;
        }
        let Some(proof) = &self.proof else {
            return writeln!(out, "nothing written: this was a dry run");
        };
        writeln!(out, "{BOLD}proof{BOLD:#}  read back from {}", to.runtime)?;
        for layer in proof.layers.iter().filter(|layer| layer.total > 0) {
            write_proof(layer, out)?;
        }
        let of_memory = proof.layers.iter().filter(|layer| layer.layer == "memory");
        let end = match of_memory.map(|layer| layer.not_carried).sum() {
            0 => "nothing is lost".to_owned(),
            behind => format!("{} did not come along, as the plan said", count(behind, "record")),
        };
        writeln!(out, "{GOOD}{name}{GOOD:#} is in {BOLD}{workspace}{BOLD:#}; {end}")
    }
}

fn write_proof(layer: &LayerProof, out: &mut dyn Write) -> io::Result<()> {
    const SHORT: usize = 12;
    let mut parts =
        vec![format!("{} carried", layer.carried), format!("{} degraded", layer.degraded)];
    parts.extend(nonzero([
        (layer.kept_aside, "kept aside"),
        (layer.not_carried, "not carried as planned"),
    ]));
    parts.push(format!("{} lost", layer.lost));
    let (was, is) = (&layer.source_sha256[..SHORT], &layer.target_sha256[..SHORT]);
    let sign = if was == is { "=" } else { "/" };
    writeln!(out, "  {:<11} {}  {DIM}{was} {sign} {is}{DIM:#}", layer.layer, parts.join(", "))?;
    if !layer.fields.is_empty() {
        let fields = layer.fields.iter().map(|(field, number)| format!("{field} {number}"));
        let fields = fields.collect::<Vec<_>>().join(", ");
        writeln!(out, "  {:<11} {DIM}not in the runtime itself: {fields}{DIM:#}", "")?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_is_a_runtime_and_perhaps_a_folder() {
        let place: EndpointArg = "zeroclaw:/a:b".parse().unwrap();
        assert_eq!((place.runtime.as_str(), place.folder), ("zeroclaw", Some("/a:b".into())));
        let place: EndpointArg = "openclaw".parse().unwrap();
        assert_eq!((place.runtime.as_str(), place.folder), ("openclaw", None));
        assert!("openclaw:".parse::<EndpointArg>().is_err());
        let place: EndpointArg = "openclaw:~/ada".parse().unwrap();
        assert_eq!(place.endpoint(Path::new("/h")).folder, Some("/h/ada".into()));
    }
}
