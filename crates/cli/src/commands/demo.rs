//! `anemone demo`

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use anemone_format::{
    Archive, Comparison, Delta, File, FileRoot, Limits, Node, Snapshot, apply_delta, sha256_hex,
    validate, write_delta,
};
use anemone_sample as sample;
use clap::Args;
use serde::Serialize;

use super::Context;
use super::diff::{Differences, differences};
use crate::error::{CliError, Kind};
use crate::files::{Existing, Target, spool};
use crate::output::{BOLD, DIM, GOOD, Report, bytes, count};

/// Show what Anemone does on a sample agent, in a temporary folder
///
/// Writes an archive, checks it, lets a month pass, shows what changed, writes that as a delta,
/// applies it and proves the result equal, byte for byte. Nothing outside the folder is touched.
#[derive(Args, Debug)]
pub(crate) struct DemoArgs {
    /// Keep what the demo makes in this new or empty folder, to look around afterwards
    #[arg(long, value_name = "DIR")]
    keep: Option<PathBuf>,
}

#[derive(Serialize)]
pub(crate) struct Demo {
    ok: bool,
    agent_name: String,
    workspace_files: u64,
    march: ArchiveFacts,
    valid: bool,
    digests_compared: u64,
    april: ArchiveFacts,
    differences: Differences,
    delta_size: u64,
    /// SHA-256 of the April archive, and of the March archive with the delta applied.
    april_sha256: String,
    applied_sha256: String,
    equal: bool,
    /// Flips of one bit, each at another place, and how many of them were noticed.
    bits_flipped: u64,
    flips_noticed: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    kept_in: Option<String>,
}

#[derive(Serialize)]
struct ArchiveFacts {
    file_size: u64,
    memory_records: u64,
    entries: u64,
}

pub(crate) fn run(args: &DemoArgs, context: &Context<'_>) -> Result<Demo, CliError> {
    let temporary = tempfile::tempdir()?;
    let folder = match &args.keep {
        Some(folder) => {
            prepare_folder(folder)?;
            folder.as_path()
        }
        None => temporary.path(),
    };
    let threads = context.environment.threads;
    let (march, april) = (sample::agent(), sample::agent_a_month_later());
    let workspace_files = write_workspace(&march, &folder.join("workspace"))?;

    let march_path = folder.join("march.alf");
    let april_path = folder.join("april.alf");
    let march_facts = write_archive(&march, &march_path, threads)?;
    let april_facts = write_archive(&april, &april_path, threads)?;
    let march_bytes = fs_err::read(&march_path)?;
    let april_bytes = fs_err::read(&april_path)?;
    let report =
        validate(Box::new(march_bytes.clone()), march_bytes.len() as u64, &Limits::default());

    let open = |bytes: &[u8]| {
        Archive::open(Box::new(bytes.to_vec()), bytes.len() as u64, &Limits::default())
    };
    let (base, target) = (open(&march_bytes)?, open(&april_bytes)?);
    let differences = differences(&base, &target, &Comparison::of(&base, &target)?)?;

    let delta_path = folder.join("march-to-april.alf-delta");
    let mut file = Target::create(&delta_path, Existing::Keep)?;
    file.write(None, |out| {
        Ok(write_delta(&base, &target, out, spool(Some(&delta_path))?, threads)?.1)
    })?;
    file.commit()?;
    let delta_bytes = fs_err::read(&delta_path)?;
    let delta_size = delta_bytes.len() as u64;
    let delta = Delta::open(Box::new(delta_bytes), delta_size, &Limits::default())?;

    let applied_path = folder.join("applied.alf");
    let mut file = Target::create(&applied_path, Existing::Keep)?;
    file.write(None, |out| {
        Ok(apply_delta(&base, &delta, out, spool(Some(&applied_path))?, threads)?.1)
    })?;
    file.commit()?;
    let (april_sha256, applied_sha256) =
        (sha256_hex(&april_bytes), sha256_hex(&fs_err::read(&applied_path)?));
    let (bits_flipped, flips_noticed) = flip_bits(&march_bytes);

    let demo = Demo {
        ok: true,
        agent_name: march.manifest.agent.name,
        workspace_files,
        march: march_facts,
        valid: report.is_valid(),
        digests_compared: report.counts.digests,
        april: april_facts,
        differences,
        delta_size,
        equal: april_sha256 == applied_sha256,
        april_sha256,
        applied_sha256,
        bits_flipped,
        flips_noticed,
        kept_in: args.keep.as_ref().map(|path| path.display().to_string()),
    };
    if demo.valid && demo.equal && demo.bits_flipped == demo.flips_noticed {
        return Ok(demo);
    }
    Err(CliError::new(Kind::Failed, "demo_failed", "the demo did not prove what it should").hint(
        "this is a bug in Anemone; please report it with the output of `anemone demo --json`",
    ))
}

fn prepare_folder(folder: &Path) -> Result<(), CliError> {
    fs_err::create_dir_all(folder)?;
    if fs_err::read_dir(folder)?.next().is_some() {
        return Err(CliError::new(Kind::Failed, "not_empty", "the folder is not empty")
            .about(folder)
            .hint("choose a new folder"));
    }
    Ok(())
}

/// Lays the sample's files out as its runtime has them.
fn write_workspace(snapshot: &Snapshot, folder: &Path) -> Result<u64, CliError> {
    let mut count = 0;
    for file in &snapshot.files {
        if matches!(file.root, FileRoot::Other) {
            continue;
        }
        let path = folder.join(String::from_utf8_lossy(&file.path).as_ref());
        if let Some(parent) = path.parent() {
            fs_err::create_dir_all(parent)?;
        }
        write_node(file, &path)?;
        count += 1;
    }
    Ok(count)
}

fn write_node(file: &File, path: &Path) -> Result<(), CliError> {
    match &file.node {
        Node::File(content) => fs_err::write(path, content)?,
        Node::Folder => fs_err::create_dir_all(path)?,
        #[cfg(unix)]
        Node::Symlink(target) => {
            fs_err::os::unix::fs::symlink(String::from_utf8_lossy(target).as_ref(), path)?;
        }
        #[cfg(not(unix))]
        Node::Symlink(_) => {}
    }
    Ok(())
}

fn write_archive(
    snapshot: &Snapshot,
    path: &Path,
    threads: usize,
) -> Result<ArchiveFacts, CliError> {
    let mut file = Target::create(path, Existing::Keep)?;
    let written =
        file.write(None, |out| Ok(snapshot.write(out, spool(Some(path))?, threads)?.1))?;
    file.commit()?;
    Ok(ArchiveFacts {
        file_size: written.size_bytes,
        memory_records: snapshot.records.len() as u64,
        entries: written.manifest.entries.len() as u64,
    })
}

/// Damages copies of an archive, one bit each, and counts how many are noticed.
fn flip_bits(archive: &[u8]) -> (u64, u64) {
    let places = (0..archive.len()).step_by((archive.len() / 64).max(1));
    let mut flipped = 0;
    let mut noticed = 0;
    for at in places {
        let mut copy = archive.to_vec();
        copy[at] ^= 1;
        flipped += 1;
        let length = copy.len() as u64;
        noticed += u64::from(!validate(Box::new(copy), length, &Limits::default()).is_valid());
    }
    (flipped, noticed)
}

impl Report for Demo {
    fn write_human(&self, out: &mut dyn Write) -> io::Result<()> {
        let name = &self.agent_name;
        let ArchiveFacts { file_size, memory_records, entries } = &self.march;
        writeln!(out, "{BOLD}1. An agent{BOLD:#}")?;
        let files = count(self.workspace_files, "file");
        writeln!(out, "   {name} keeps house for a tea shop. Her workspace has {files}.")?;
        writeln!(out, "{BOLD}2. An archive{BOLD:#}")?;
        let size = bytes(*file_size);
        writeln!(out, "   march.alf: {memory_records} records, {entries} entries, {size}.")?;
        writeln!(out, "{BOLD}3. Is it sound?{BOLD:#}")?;
        let digests = self.digests_compared;
        writeln!(out, "   {GOOD}valid{GOOD:#}: {digests} digests compared, all right.")?;
        let (flipped, noticed) = (self.bits_flipped, self.flips_noticed);
        writeln!(out, "   One bit flipped at {flipped} places: noticed {noticed} times.")?;
        writeln!(out, "{BOLD}4. A month passes{BOLD:#}")?;
        let mut shown = Vec::new();
        self.differences.write_human(&mut shown)?;
        for line in String::from_utf8_lossy(&shown).lines() {
            writeln!(out, "   {line}")?;
        }
        writeln!(out, "{BOLD}5. Only the change{BOLD:#}")?;
        let (delta, april) = (bytes(self.delta_size), bytes(self.april.file_size));
        writeln!(out, "   march-to-april.alf-delta: {delta}, where april.alf has {april}.")?;
        writeln!(out, "{BOLD}6. March plus the change is April{BOLD:#}")?;
        writeln!(out, "   april.alf              {DIM}{}{DIM:#}", self.april_sha256)?;
        writeln!(out, "   march.alf + the delta  {DIM}{}{DIM:#}", self.applied_sha256)?;
        writeln!(out, "   {GOOD}equal{GOOD:#}, byte for byte.")?;
        match &self.kept_in {
            Some(folder) => {
                writeln!(out, "\nEverything is in {folder}; try `anemone inspect` on it.")
            }
            None => writeln!(out, "\nKeep the files to look around: anemone demo --keep DIR"),
        }
    }
}
