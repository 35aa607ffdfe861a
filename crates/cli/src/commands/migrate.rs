//! `anemone migrate`

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::sync::Arc;

use anemone_files::make_private_folder;
use anemone_format::{
    Archive, ArchiveSource, Bytes, Credential, KEY_BYTES, Limits, Sink, SnapshotSource, SourceFile,
    VaultError, VaultKey,
};
use anemone_runtimes::mapping::{Becomes, Mapping, ORIGIN_FOLDER, mapping, mapping_with};
use anemone_runtimes::{
    Action, ComingBack, FoundAgent, InstallBackend, LeftOut, Machine, NotRestoredKind, Plan,
    ReadOptions, Reading, SealSecret, SecretPolicy, recover_leftovers,
};
use clap::Args;
use serde::Serialize;
use zeroize::Zeroizing;

use super::Context;
use super::import::{check_agent, stopped};
use crate::agent::{
    ChosenAgent, adapter, aliases, check_alias, check_folder, check_known, check_name,
    check_runtime, find, only,
};
use crate::args::RestoreArgs;
use crate::error::{CliError, Kind};
use crate::files::{Existing, Target, copy_bytes, spool, write_step};
use crate::known_folders::{FolderKind, note_copy, note_folder};
use crate::output::{BOLD, DIM, GOOD, ODD, Report, bytes, count, safe, title};
use crate::proof::{Announced, Current, Expected, LayerProof, Proof, compare, name_of};
use crate::restore::{MissingLine, Stores, cannot_plan, restore, warning};
use crate::restored::{store_lines, write_missing};
use anemone::snapshot::{SnapshotSink, seal};
use anemone::system::SystemClock;
use anemone_memory::Clock as _;

/// Records and files named in an error, at most.
const LISTED: usize = 20;

/// Move an agent to another runtime, and prove what came along
///
/// Reads the agent, says for each kind of memory what becomes of it, writes it for the other
/// runtime, reads that back and compares. What the other runtime has no place for is kept in the
/// folder .alf-origin of its workspace, and is put back when the agent returns. The agent that is
/// read is not changed. A snapshot of it, and of what is replaced, stays in the snapshots folder.
///
/// Exits 1 if anything cannot be found again that the plan did not name.
#[derive(Args, Debug)]
#[command(after_help = "Examples:
  anemone migrate --from openclaw --to zeroclaw --dry-run   what would become of everything
  anemone migrate --from openclaw --to zeroclaw
  anemone migrate --from zeroclaw --agent ada --to openclaw:~/ada")]
pub(crate) struct MigrateArgs {
    /// The runtime that has the agent, and the agent's folder if it is not the usual one
    #[arg(long, value_name = "RUNTIME[:DIR]")]
    from: Place,

    /// The runtime that gets it, and the folder if it is not the usual one
    #[arg(long, value_name = "RUNTIME[:DIR]")]
    to: Place,

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

    /// Move entries that the runtime keeps for one person only (ZeroClaw's private plane)
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
struct Place {
    runtime: String,
    folder: Option<PathBuf>,
}

impl FromStr for Place {
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

#[derive(Serialize)]
pub(crate) struct Migrated {
    ok: bool,
    dry_run: bool,
    agent_name: String,
    agent_id: String,
    from: Side,
    to: Side,
    snapshots: Vec<SnapshotLine>,
    plan: PlanLines,
    #[serde(skip_serializing_if = "Option::is_none")]
    proof: Option<Proof>,
    #[serde(flatten)]
    stores: Stores,
    warnings: Vec<String>,
    not_carried: Vec<MissingLine>,
}

/// One end of the way.
#[derive(Serialize)]
struct Side {
    runtime: &'static str,
    agent: String,
    workspace: String,
}

impl Side {
    fn new(agent: &FoundAgent) -> Self {
        let workspace = agent.workspace.display().to_string();
        Self { runtime: agent.runtime, agent: agent.alias.clone(), workspace }
    }
}

#[derive(Serialize)]
struct SnapshotLine {
    /// `source` or `target`.
    of: &'static str,
    path: String,
    file_size: u64,
}

/// What the plan makes of everything.
#[derive(Serialize)]
struct PlanLines {
    layers: Vec<LayerPlan>,
    forgotten: ForgottenLine,
}

/// What the agent forgot while it was away, and does not get back.
#[derive(Serialize)]
struct ForgottenLine {
    count: u64,
    /// The first of them.
    names: Vec<String>,
}

#[derive(Serialize)]
struct LayerPlan {
    layer: &'static str,
    total: u64,
    kinds: Vec<KindPlan>,
    /// With --verbose: every record that does not come along whole.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    records: Vec<RecordPlan>,
}

/// What becomes of one kind of thing.
#[derive(Serialize)]
struct KindPlan {
    kind: String,
    becomes: &'static str,
    total: u64,
    exact: u64,
    degraded: u64,
    /// Those that only the sidecar has.
    kept_aside: u64,
    /// Those that go nowhere.
    none: u64,
    /// How often a field has no place.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    fields: BTreeMap<&'static str, u64>,
}

#[derive(Serialize)]
struct RecordPlan {
    id: String,
    name: String,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    without: Vec<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<&'static str>,
}

pub(crate) fn run(args: &MigrateArgs, context: &Context<'_>) -> Result<Migrated, CliError> {
    let machine = context.host.machine()?;
    let source = args.source(&machine)?;
    let target = args.target(&machine)?;
    refuse_same(&source, &target)?;
    let key = args.credentials.then(random_key).transpose()?;
    let choice = args.restore.choice();
    let options = choice.plan_options(target.adapter.name, key.as_ref())?;
    let folder = args.snapshots_folder(context, [&source.agent, &target.agent])?;
    let reader = Reader { args, context, machine: &machine, key: key.as_ref(), folder: &folder };

    let read = reader.read(&source)?;
    let archive = open(&read)?;
    let snapshot = ArchiveSource::new(&archive)?;
    let manifest = snapshot.manifest();
    check_agent(&target.agent.workspace, args.restore.on_conflict, manifest.agent.id)?;
    let coming_back = ComingBack::open(&machine, &snapshot, target.adapter.name)?;
    let moving = coming_back.as_ref().map_or(&snapshot as &dyn SnapshotSource, |it| it);
    let mut recovered = Vec::new();
    if !args.dry_run {
        recovered = recover_leftovers(&target.agent.workspace);
    }
    let plan =
        target.adapter.plan(&machine, &snapshot, &target.agent, &options).map_err(cannot_plan)?;
    let runtime = target.adapter.name;
    let known = match &plan.memories {
        // Where there is a choice, what goes into no database goes into files.
        None => mapping_with(runtime, InstallBackend::Markdown),
        Some(_) => mapping(runtime),
    };
    let known = known.ok_or_else(|| {
        CliError::new(
            Kind::Failed,
            "no_mapping",
            "moving an agent to that runtime is not supported",
        )
    })?;
    let mut migrated = Migrated {
        ok: true,
        dry_run: args.dry_run,
        agent_name: manifest.agent.name.clone(),
        agent_id: manifest.agent.id.to_string(),
        from: Side::new(&source.agent),
        to: Side::new(&target.agent),
        snapshots: Vec::new(),
        plan: PlanLines {
            layers: plan_layers(moving, &plan, known, args.verbose)?,
            forgotten: ForgottenLine {
                count: plan.forgotten.count,
                names: plan.forgotten.names.clone(),
            },
        },
        proof: None,
        stores: Stores::planned(&plan),
        warnings: read.warnings.clone(),
        not_carried: plan.not_restored.iter().map(MissingLine::new).collect(),
    };
    migrated.not_carried.extend(read.left_out.iter().map(left_out));
    migrated.warnings.extend(recovered.iter().chain(&plan.warnings).map(warning));
    if !plan.conflicts.is_empty()
        && matches!(args.restore.on_conflict, crate::args::ConflictWord::Stop)
    {
        return Err(stopped(&target.agent.workspace, &plan, &migrated));
    }
    if args.dry_run {
        return Ok(migrated);
    }
    make_private_folder(&folder)?;
    let kept = reader.keep(&read, "source", &source.agent)?;
    migrated.snapshots.push(kept);
    if let Some(before) = reader.read_before(&target)? {
        migrated.snapshots.push(reader.keep(&before, "target", &target.agent)?);
    }
    let warnings = restore(&plan, &snapshot, &machine, &mut migrated.stores, &context.host)
        .map_err(|error| error.with_details(&migrated))?;
    migrated.warnings.extend(warnings.iter().map(warning));
    let mut expected = expected(&plan, known, key.as_ref());

    let target = arrived(&machine, &target, &plan);
    note_copy(&context.host, &machine, target.adapter, &target.agent);
    migrated.to = Side::new(&target.agent);
    // What came back may be private, though nothing private was read.
    let archive = open(&reader.read_all(&target, true)?)?;
    let there = ArchiveSource::new(&archive)?;
    let origins = coming_back.as_ref().map(ComingBack::origins).unwrap_or_default();
    let origin_of = |record| origins.get(&record).copied();
    if coming_back.is_some() {
        expected.current = Some(Current { source: &snapshot, origin_of: &origin_of });
    }
    migrated.proof = Some(compare(moving, &there, &expected)?);
    judge(migrated)
}

/// Returns the agent as it is found now: the install may only be one now, and laid out in another
/// way than was to be expected.
fn arrived(machine: &Machine, target: &ChosenAgent, plan: &Plan) -> ChosenAgent {
    let adapter = target.adapter;
    let real = |path: &Path| fs_err::canonicalize(path).ok();
    let of_install = target.agent.install.as_deref();
    let agent = of_install.map(|it| adapter.locate(machine, it, Some(&target.agent.alias)));
    let agent = agent.filter(|it| real(&it.workspace) == real(&plan.workspace));
    let agent = agent.unwrap_or_else(|| adapter.locate(machine, &plan.workspace, None));
    ChosenAgent { adapter, agent }
}

/// Returns the result, or an error when something is nowhere.
fn judge(migrated: Migrated) -> Result<Migrated, CliError> {
    let Some(proof) = migrated.proof.as_ref().filter(|it| !it.is_whole()) else {
        return Ok(migrated);
    };
    let number = proof.lost.len();
    let things = count(number as u64, "thing");
    let message = format!("{things} were lost that the plan did not announce");
    let mut error = CliError::new(Kind::Failed, "lost", message);
    let causes = proof.lost.iter().take(LISTED);
    error.causes.extend(causes.map(|it| format!("{}: {}: {}", it.layer, it.what, it.reason)));
    if number > LISTED {
        error.causes.push(format!("and {} more", number - LISTED));
    }
    let hint = match migrated.snapshots.first() {
        Some(it) => format!("the old runtime is unchanged; a snapshot of it is in {}", it.path),
        None => "the old runtime is unchanged".to_owned(),
    };
    Err(error.with_details(&migrated).hint(hint))
}

impl MigrateArgs {
    fn source(&self, machine: &Machine) -> Result<ChosenAgent, CliError> {
        let adapter = adapter(&self.from.runtime)?;
        let alias = self.agent.as_deref();
        let chosen = match (&self.from.folder, alias) {
            (Some(folder), _) => {
                let folder = in_home(folder, machine);
                check_folder(&folder)?;
                let chosen =
                    ChosenAgent { adapter, agent: adapter.locate(machine, &folder, alias) };
                check_runtime(&chosen, machine, &folder)?;
                chosen
            }
            (None, Some(alias)) => return Ok(find(&[adapter], machine, alias)?),
            (None, None) => only(&[adapter], machine).map_err(|error| {
                let hint = format!("give --agent ALIAS or --from {}:DIR", self.from.runtime);
                CliError::from(error).hint(hint)
            })?,
        };
        check_alias(&chosen.agent, alias)?;
        check_known(&chosen.agent)?;
        Ok(chosen)
    }

    fn target(&self, machine: &Machine) -> Result<ChosenAgent, CliError> {
        let adapter = adapter(&self.to.runtime)?;
        let alias = self.to_agent.as_deref();
        alias.map(check_name).transpose()?;
        if let Some(folder) = &self.to.folder {
            let folder = in_home(folder, machine);
            let chosen = ChosenAgent { adapter, agent: adapter.locate(machine, &folder, alias) };
            check_alias(&chosen.agent, alias)?;
            check_runtime(&chosen, machine, &folder)?;
            return Ok(chosen);
        }
        let found = adapter.discover(machine);
        let names = aliases(&found);
        if let Some(alias) = alias {
            if let Some(at) = names.iter().position(|it| it == alias) {
                return Ok(ChosenAgent { adapter, agent: found[at].clone() });
            }
            let folder = found.first().and_then(|it| it.install.clone());
            let folder = folder.unwrap_or_else(|| adapter.first_place(machine));
            let agent = adapter.locate(machine, &folder, Some(alias));
            check_alias(&agent, Some(alias))?;
            return Ok(ChosenAgent { adapter, agent });
        }
        match &found[..] {
            [] => {
                let folder = adapter.first_place(machine);
                Ok(ChosenAgent { adapter, agent: adapter.locate(machine, &folder, None) })
            }
            [agent] => Ok(ChosenAgent { adapter, agent: agent.clone() }),
            several => {
                let message = format!("{} has {} agents here", self.to.runtime, several.len());
                let mut error = CliError::new(Kind::Usage, "agent_selection_ambiguous", message);
                let places = names.iter().zip(several);
                error.causes = places
                    .map(|(name, it)| format!("{name}: {}", it.workspace.display()))
                    .collect();
                Err(error.hint("give --to-agent ALIAS: one of these, or a new one"))
            }
        }
    }

    /// Returns the folder for snapshots.
    fn snapshots_folder(
        &self,
        context: &Context<'_>,
        agents: [&FoundAgent; 2],
    ) -> Result<PathBuf, CliError> {
        let usual = || context.environment.data_home.join("anemone/snapshots");
        let folder = self.snapshots.clone().unwrap_or_else(usual);
        let folder = std::path::absolute(&folder)?;
        for agent in agents {
            if real(&folder).starts_with(real(&agent.workspace)) {
                let message = "the snapshots would be written into the workspace";
                return Err(CliError::new(Kind::Usage, "usage", message)
                    .about(&folder)
                    .hint("choose another folder with --snapshots DIR"));
            }
        }
        Ok(folder)
    }
}

/// Returns a path with its links followed, as far as it is there.
fn real(path: &Path) -> PathBuf {
    for above in path.ancestors() {
        if let Ok(found) = fs_err::canonicalize(above) {
            let rest = path.strip_prefix(above).unwrap_or(Path::new(""));
            return found.join(rest);
        }
    }
    path.to_owned()
}

/// A shell does not see the tilde behind a colon.
fn in_home(folder: &Path, machine: &Machine) -> PathBuf {
    match folder.strip_prefix("~") {
        Ok(rest) => machine.home.join(rest),
        Err(_) => folder.to_owned(),
    }
}

/// Refuses to write into what is read.
fn refuse_same(source: &ChosenAgent, target: &ChosenAgent) -> Result<(), CliError> {
    let places = |it: &FoundAgent| {
        let own = [Some(&it.workspace), it.install.as_ref()];
        own.into_iter().flatten().map(|it| real(it)).collect::<Vec<_>>()
    };
    let (from, to) = (places(&source.agent), places(&target.agent));
    let is_same_runtime = source.adapter.name == target.adapter.name;
    // Agents of one runtime may share an install.
    let meet = match is_same_runtime {
        true => from[0].starts_with(&to[0]) || to[0].starts_with(&from[0]),
        false => {
            from.iter().any(|one| to.iter().any(|it| it.starts_with(one) || one.starts_with(it)))
        }
    };
    if !meet {
        return Ok(());
    }
    let message = match from[0] == to[0] {
        true => "the agent is already there",
        false => "one of the two folders contains the other",
    };
    Err(CliError::new(Kind::Usage, "same_place", message)
        .about(&target.agent.workspace)
        .hint("give another folder with --to RUNTIME:DIR"))
}

/// Makes the key that credentials are sealed with on the way; nobody else ever has it.
fn random_key() -> Result<VaultKey, CliError> {
    let mut key = Zeroizing::new([0; KEY_BYTES]);
    getrandom::fill(&mut *key).map_err(|error| CliError::from(io::Error::other(error)))?;
    Ok(VaultKey::Raw(key))
}

fn open(read: &Read) -> Result<Archive, CliError> {
    let bytes: Bytes = Box::new(Arc::clone(&read.bytes));
    Ok(Archive::open(bytes, read.length, &Limits::default())?)
}

/// Reads agents into archives.
struct Reader<'a> {
    args: &'a MigrateArgs,
    context: &'a Context<'a>,
    machine: &'a Machine,
    key: Option<&'a VaultKey>,
    /// Where snapshots are kept; it may not be there.
    folder: &'a Path,
}

/// An archive of an agent, in a file without a name.
struct Read {
    bytes: Arc<Bytes>,
    length: u64,
    warnings: Vec<String>,
    left_out: Vec<LeftOut>,
}

impl Reader<'_> {
    fn read(&self, chosen: &ChosenAgent) -> Result<Read, CliError> {
        self.read_all(chosen, self.args.private)
    }

    fn read_all(&self, chosen: &ChosenAgent, private: bool) -> Result<Read, CliError> {
        let progress = self.context.host.counting("reading");
        let threads = self.context.host.threads;
        // Where a snapshot has room, there is room for this.
        let near = self.folder.join("snapshot");
        let near = self.folder.is_dir().then_some(&*near);
        let (reading, bytes, length) = write_step(near, |out| {
            let mut sink = SnapshotSink::new(out, spool(near)?, threads, &progress);
            let reading = self.read_into(chosen, private, &mut sink)?;
            sink.finish(&reading)?;
            Ok(reading)
        })?;
        let mut warnings: Vec<String> = reading.warnings.iter().map(warning).collect();
        if !reading.secrets.is_empty() {
            let secrets = count(reading.secrets.len() as u64, "secret");
            warnings.push(format!("{secrets} in files of the workspace came along in clear"));
        }
        Ok(Read { bytes: Arc::new(bytes), length, warnings, left_out: reading.left_out })
    }

    /// Reads what will be changed, if there is anything.
    fn read_before(&self, target: &ChosenAgent) -> Result<Option<Read>, CliError> {
        let has_entries = |folder: &Path| {
            fs_err::read_dir(folder).is_ok_and(|mut entries| entries.next().is_some())
        };
        let has_database = target.agent.database.as_ref().is_some_and(|it| it.is_file());
        if !has_entries(&target.agent.workspace) && !has_database {
            return Ok(None);
        }
        match self.read(target) {
            Ok(read) => Ok(Some(read)),
            // Other agents of the install are not touched.
            Err(error) if error.code == "workspace_not_found" => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Gives an archive a name in the folder.
    fn keep(
        &self,
        read: &Read,
        of: &'static str,
        agent: &FoundAgent,
    ) -> Result<SnapshotLine, CliError> {
        let path = snapshot_path(self.folder, agent);
        let mut target = Target::create(&path, Existing::Keep)?;
        target.write(None, |out| copy_bytes(&*read.bytes, read.length, out))?;
        target.deliver(&self.context.host)?;
        if self.args.snapshots.is_some() {
            note_folder(&self.context.host, FolderKind::Snapshots, self.folder, None);
        }
        Ok(SnapshotLine { of, path: path.display().to_string(), file_size: read.length })
    }

    fn read_into(
        &self,
        chosen: &ChosenAgent,
        private: bool,
        sink: &mut dyn Sink,
    ) -> Result<Reading, CliError> {
        let sealed = |credential: &Credential, secret: &[u8]| {
            seal(self.key.ok_or(VaultError::Key)?, credential, secret)
        };
        let options = ReadOptions {
            agent_id: None,
            sessions: false,
            embeddings: true,
            private,
            seal: self.key.map(|_| &sealed as &SealSecret<'_>),
            // Nothing stays behind on a way that does not leave the machine.
            artifact_threshold: u64::MAX,
            secrets: SecretPolicy::Allow,
            exclude: &[],
            earlier: None,
        };
        Ok(chosen.adapter.read(self.machine, &chosen.agent, &options, sink)?)
    }
}

fn left_out(it: &LeftOut) -> MissingLine {
    let reason =
        format!("{}: {}, {}", it.reason.as_str(), count(it.files, "file"), bytes(it.bytes));
    MissingLine { what: "file", path: Some(it.path.clone()), reason }
}

/// Returns a name in the folder that nobody has: the agent, its runtime, and when.
fn snapshot_path(folder: &Path, agent: &FoundAgent) -> PathBuf {
    let plain = |c: char| if c.is_alphanumeric() || matches!(c, '-' | '_') { c } else { '_' };
    let name: String = agent.alias.chars().take(64).map(plain).collect();
    let at = anemone_format::Moment::from(SystemClock.now()).instant();
    let at = at.to_zoned(jiff::tz::TimeZone::UTC).strftime("%Y%m%dT%H%M%SZ").to_string();
    let stem = format!("{name}-{}-{at}", agent.runtime);
    let numbered = (2_u64..).map(|number| format!("{stem}-{number}.alf"));
    let mut names = std::iter::once(format!("{stem}.alf")).chain(numbered);
    let free = names.find(|name| fs_err::symlink_metadata(folder.join(name)).is_err());
    folder.join(free.unwrap_or(stem))
}

/// Returns what the plan says will not be there as it was.
fn expected<'a>(
    plan: &Plan,
    mapping: &'static Mapping,
    vault_key: Option<&'a VaultKey>,
) -> Expected<'a> {
    let mut expected = Expected {
        mapping: Some(mapping),
        entries_kept: plan.memories.as_ref().map_or(0, |it| it.kept),
        entries_same: plan.memories.as_ref().map_or(0, |it| it.same),
        vault_key,
        unwritten: plan.unwritten.clone(),
        ..Expected::default()
    };
    for step in &plan.steps {
        let announced = match &step.action {
            Action::Keep => {
                Announced { reason: "the file that was there stays", made: false, beside: None }
            }
            Action::Both { beside } => {
                let beside = Some(beside.clone());
                Announced { reason: "both files are there", made: false, beside }
            }
            _ if !step.is_carried() => Announced {
                reason: "rewritten; its content is compared record by record",
                made: true,
                beside: None,
            },
            Action::Create | Action::Replace | Action::Same | Action::Conflict => continue,
        };
        expected.files.insert(step.path.clone(), announced);
    }
    for note in plan.not_restored.iter().filter(|it| it.what == NotRestoredKind::File) {
        if let Some(path) = &note.path {
            let reason = "the plan leaves it out, and says why";
            let announced = Announced { reason, made: false, beside: None };
            expected.files.insert(path.clone().into_bytes(), announced);
        }
    }
    let credentials = plan.not_restored.iter().filter(|it| it.what == NotRestoredKind::Credential);
    expected.credentials.extend(credentials.filter_map(|it| it.path.clone()));
    expected.credentials.extend(plan.credentials.iter().flat_map(|it| it.kept.iter().cloned()));
    expected
}

/// Counts what becomes of everything.
fn plan_layers(
    source: &dyn SnapshotSource,
    plan: &Plan,
    mapping: &'static Mapping,
    verbose: bool,
) -> Result<Vec<LayerPlan>, CliError> {
    let mut identity = LayerPlan::new("identity");
    let document = source.identity()?;
    let prose = document.as_ref().and_then(|it| it.prose.as_ref());
    let mut parts: Vec<String> = Vec::new();
    if let Some(prose) = prose {
        let texts = [
            ("soul", &prose.soul),
            ("operating_instructions", &prose.operating_instructions),
            ("identity_profile", &prose.identity_profile),
        ];
        parts.extend(texts.iter().filter(|it| it.1.is_some()).map(|it| it.0.to_owned()));
        let blocks = prose.custom_blocks.iter().flat_map(|it| it.iter());
        parts.extend(blocks.map(|(name, _)| name.to_owned()));
    }
    let structured = document.as_ref().and_then(|it| it.structured.as_ref());
    if let Some(serde_json::Value::Object(fields)) =
        structured.and_then(|it| serde_json::to_value(it).ok())
    {
        parts.extend(fields.into_iter().map(|(name, _)| name));
    }
    for part in &parts {
        identity.add(part, mapping.row("identity", part).map(|it| it.becomes), &[]);
    }
    let mut principals = LayerPlan::new("principals");
    for _ in source.principals()?.iter().flat_map(|it| &it.principals) {
        let row = mapping.row("principals", "principal");
        principals.add("principal", row.map(|it| it.becomes), &[]);
    }
    let mut credentials = LayerPlan::new("credentials");
    let missing =
        plan.not_restored.iter().filter(|it| it.what == NotRestoredKind::Credential).count();
    let all = source.credentials()?.map_or(0, |it| it.credentials.len());
    for number in 0..all {
        let becomes = match number < missing {
            true => Some(Becomes::Nowhere("secrets are moved with --credentials")),
            false => mapping.row("credentials", "credential").map(|it| it.becomes),
        };
        credentials.add("credential", becomes, &[]);
    }
    let paths: std::collections::HashSet<&[u8]> =
        plan.steps.iter().map(|it| &it.path[..]).collect();
    let in_files = plan.memories.is_none();
    let mut memory = LayerPlan::new("memory");
    source.each_record(&mut |record| {
        let becomes = mapping.row_of(record).map(|it| it.becomes);
        let stays = match record.source.origin_file.as_deref() {
            Some(file) => paths.contains(file.as_bytes()),
            None => !in_files,
        };
        let without = if stays { mapping.degraded(record) } else { mapping.degraded_anew(record) };
        memory.add(&record.namespace, becomes, &without);
        let reason = match becomes {
            Some(Becomes::Aside(reason) | Becomes::Nowhere(reason)) => Some(reason),
            _ => None,
        };
        if verbose && (reason.is_some() || !without.is_empty()) {
            let name = name_of(record).unwrap_or_else(|| title(&record.content));
            memory.records.push(RecordPlan { id: record.id.to_string(), name, without, reason });
        }
        Ok(())
    })?;
    let files = plan_files(source.files(), plan, mapping);
    let mut layers = vec![identity, principals, credentials, memory, files];
    for layer in &mut layers {
        layer.kinds.sort_by(|one, other| one.kind.cmp(&other.kind));
    }
    Ok(layers)
}

/// Counts what becomes of files, by the steps of the plan.
fn plan_files(files: &[SourceFile], plan: &Plan, mapping: &'static Mapping) -> LayerPlan {
    let mut layer = LayerPlan::new("files");
    let aside = format!("{ORIGIN_FOLDER}/");
    let native: std::collections::HashSet<&[u8]> = plan
        .steps
        .iter()
        .map(|it| &it.path[..])
        .filter(|path| !path.starts_with(aside.as_bytes()))
        .collect();
    for file in files {
        let root = match &file.root {
            anemone_format::FileRoot::Raw(runtime) => format!("raw/{runtime}"),
            anemone_format::FileRoot::Artifacts => "artifacts".to_owned(),
            anemone_format::FileRoot::Other => "other".to_owned(),
        };
        let row = mapping.row_of_file(&file.root, &file.path);
        let becomes = match row.map(|it| it.becomes) {
            Some(Becomes::Nowhere(reason)) => Becomes::Nowhere(reason),
            _ if native.contains(&file.path[..]) => Becomes::Native("the file itself"),
            Some(Becomes::Native(text)) if row.is_some_and(|it| !it.kind.ends_with('*')) => {
                Becomes::Native(text)
            }
            _ => Becomes::Aside("kept in the sidecar"),
        };
        layer.add(&root, Some(becomes), &[]);
    }
    layer
}

impl LayerPlan {
    fn new(layer: &'static str) -> Self {
        Self { layer, total: 0, kinds: Vec::new(), records: Vec::new() }
    }

    fn add(&mut self, kind: &str, becomes: Option<Becomes>, without: &[&'static str]) {
        let becomes = becomes.unwrap_or(Becomes::Aside("the runtime does not know it"));
        let text = becomes.text();
        let known = self.kinds.iter().position(|it| it.kind == kind && it.becomes == text);
        let at = known.unwrap_or_else(|| {
            self.kinds.push(KindPlan {
                kind: kind.to_owned(),
                becomes: text,
                total: 0,
                exact: 0,
                degraded: 0,
                kept_aside: 0,
                none: 0,
                fields: BTreeMap::new(),
            });
            self.kinds.len() - 1
        });
        self.total += 1;
        let line = &mut self.kinds[at];
        line.total += 1;
        match becomes {
            Becomes::Aside(_) => line.kept_aside += 1,
            Becomes::Nowhere(_) => line.none += 1,
            Becomes::Native(_) if without.is_empty() => line.exact += 1,
            Becomes::Native(_) => {
                line.degraded += 1;
                for field in without {
                    *line.fields.entry(field).or_default() += 1;
                }
            }
        }
    }

    fn write_human(&self, out: &mut dyn Write) -> io::Result<()> {
        if self.total == 0 {
            return Ok(());
        }
        writeln!(out, "{BOLD}{}{BOLD:#}  {}", self.layer, self.total)?;
        for it in &self.kinds {
            let mut parts = Vec::new();
            for (number, word) in [
                (it.exact, "exact"),
                (it.degraded, "degraded"),
                (it.kept_aside, "only kept aside"),
                (it.none, "not moved"),
            ] {
                if number > 0 {
                    parts.push(format!("{number} {word}"));
                }
            }
            let (kind, becomes) = (safe(&it.kind), it.becomes);
            writeln!(out, "  {kind}: {}  {DIM}{becomes}{DIM:#}", parts.join(", "))?;
            if !it.fields.is_empty() {
                let fields = it.fields.iter().map(|(field, number)| format!("{field} {number}"));
                let fields = fields.collect::<Vec<_>>().join(", ");
                writeln!(out, "    {DIM}no place for {fields}{DIM:#}")?;
            }
        }
        for it in &self.records {
            let what = match it.reason {
                Some(reason) => reason.to_owned(),
                None => it.without.join(", "),
            };
            writeln!(out, "  {DIM}{}{DIM:#} {}: {what}", it.id, safe(&it.name))?;
        }
        Ok(())
    }
}

impl Report for Migrated {
    fn write_human(&self, out: &mut dyn Write) -> io::Result<()> {
        let name = safe(&self.agent_name);
        let (from, to) = (&self.from, &self.to);
        writeln!(
            out,
            "{BOLD}{name}{BOLD:#}  {} {} -> {} {}",
            from.runtime,
            safe(&from.workspace),
            to.runtime,
            safe(&to.workspace)
        )?;
        for layer in &self.plan.layers {
            layer.write_human(out)?;
        }
        let ForgottenLine { count: number, names } = &self.plan.forgotten;
        if *number > 0 {
            let memories = match number {
                1 => "1 memory".to_owned(),
                number => format!("{number} memories"),
            };
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
        for it in &self.warnings {
            writeln!(out, "{ODD}warning:{ODD:#} {}", safe(it))?;
        }
        if let Some(kept) = &self.stores.replaced_kept_at {
            writeln!(out, "the replaced files are in {BOLD}{}{BOLD:#}", safe(kept))?;
        }
        for it in &self.snapshots {
            writeln!(out, "snapshot of the {}: {}", it.of, safe(&it.path))?;
        }
        let Some(proof) = &self.proof else {
            return writeln!(out, "nothing written: this was a dry run");
        };
        writeln!(out, "{BOLD}proof{BOLD:#}  read back from {}", to.runtime)?;
        for layer in proof.layers.iter().filter(|it| it.total > 0) {
            write_proof(layer, out)?;
        }
        let workspace = safe(&to.workspace);
        let of_memory = proof.layers.iter().filter(|it| it.layer == "memory");
        let end = match of_memory.map(|it| it.not_carried).sum() {
            0 => "nothing is lost".to_owned(),
            behind => format!("{} did not come along, as the plan said", count(behind, "record")),
        };
        writeln!(out, "{GOOD}{name}{GOOD:#} is in {BOLD}{workspace}{BOLD:#}; {end}")
    }
}

fn write_proof(it: &LayerProof, out: &mut dyn Write) -> io::Result<()> {
    const SHORT: usize = 12;
    let mut parts = vec![format!("{} carried", it.carried), format!("{} degraded", it.degraded)];
    for (number, word) in
        [(it.kept_aside, "kept aside"), (it.not_carried, "not carried as planned")]
    {
        if number > 0 {
            parts.push(format!("{number} {word}"));
        }
    }
    parts.push(format!("{} lost", it.lost));
    let (was, is) = (&it.source_sha256[..SHORT], &it.target_sha256[..SHORT]);
    let sign = if was == is { "=" } else { "/" };
    writeln!(out, "  {:<11} {}  {DIM}{was} {sign} {is}{DIM:#}", it.layer, parts.join(", "))?;
    if !it.fields.is_empty() {
        let fields = it.fields.iter().map(|(field, number)| format!("{field} {number}"));
        let fields = fields.collect::<Vec<_>>().join(", ");
        writeln!(out, "  {:<11} {DIM}not in the runtime itself: {fields}{DIM:#}", "")?;
    }
    Ok(())
}

#[cfg(test)]
mod tests;
