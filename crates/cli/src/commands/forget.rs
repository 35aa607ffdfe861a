//! `anemone forget`

mod holders;
mod report;
pub(crate) mod rows;

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use anemone_format::sha256_hex;
use anemone_index::{Hit, Index, NoProgress, Request, TextHashes, is_index, remove_index};
use anemone_memory::{
    Clock as _, EntryToForget, ErasedEntries, ErasureProbes, Finality, Finder, FinishedForget,
    ForgetNote, ForgetPlan, ForgetTarget, Forgetting,
};
use anemone_runtimes::MemoryBackend;
use clap::Args;
use jiff::Timestamp;
use jiff::civil::Date;

use self::holders::{Looked, Search};
use self::report::{Found, Proof};
use self::rows::Database;
use super::Context;
use super::search::days;
use crate::args::MemoryArgs;
use crate::error::{CliError, Kind};
use crate::known_folders::{FolderKind, known_folders};
use crate::living::AgentMemory;
use crate::output::{ask, count, notice, safe};
use anemone::search::index::kept;
use anemone::system::SystemClock;

pub(crate) use self::report::Forgotten;

/// Finds of a query that are counted, at most.
const MOST_FINDS: usize = 200;

/// Forget something
///
/// Removes entries from the files of a memory, or from ZeroClaw's database, and from the search
/// index. `anemone undo` restores them: the undo journal keeps the text. With --for-good the text
/// is removed from the journal as well, also if it was forgotten earlier; other changes can still
/// be undone. Then everything known to hold memories is searched for the text: the workspace,
/// indexes, snapshots, archives and copies that Anemone made, OpenClaw's own index and transcripts.
/// Whatever still holds it is listed with the command that clears it. A tombstone records by
/// digests, without the text, that something was forgotten.
///
/// A citation removes exactly the lines that it names. If they are only a part of an entry, nothing
/// is removed and the error names the lines that belong together. Try --dry-run first.
#[derive(Args, Debug)]
#[command(
    override_usage = "anemone forget [OPTIONS] <--key KEY|--id ID|--query TEXT|--session ID|--since TIME>"
)]
pub(crate) struct ForgetArgs {
    #[command(flatten)]
    memory: MemoryArgs,

    #[command(flatten)]
    what: What,

    /// With --query, forget at most N of the entries that match: 1 to 100
    #[arg(long, value_name = "N", default_value_t = 1, requires = "query")]
    #[arg(value_parser = clap::value_parser!(u32).range(1..=100))]
    limit: u32,

    /// Show what would be forgotten, and change nothing
    #[arg(long, short = 'n')]
    dry_run: bool,

    /// With --query, --session, --since or --until, do not ask for confirmation
    #[arg(long)]
    yes: bool,

    /// Also remove it from the undo journal, so that it cannot be restored
    #[arg(long)]
    for_good: bool,
}

/// What is to be forgotten.
#[derive(Args, Debug)]
#[group(required = true, multiple = true)]
struct What {
    /// Forget every entry with this key, superseded ones included
    #[arg(long, value_name = "KEY", conflicts_with_all = ["id", "query", "session", "since", "until"])]
    key: Option<String>,

    /// Forget the entry with this id, or the lines of a citation as `anemone search` prints it,
    /// such as MEMORY.md#L8-L12; may be given more than once
    #[arg(long, value_name = "ID", conflicts_with_all = ["query", "session", "since", "until"])]
    id: Vec<String>,

    /// Forget the best match that contains all of these words; asks before anything is removed
    #[arg(long, value_name = "TEXT", conflicts_with_all = ["session", "since", "until"])]
    query: Option<String>,

    /// Forget everything that was written in this session; asks first
    #[arg(long, value_name = "SESSION", conflicts_with_all = ["since", "until"])]
    session: Option<String>,

    /// Forget everything that was written on or after this day or time: 2026-03-01, yesterday, 7d,
    /// 2026-03-01T10:00:00Z; asks first. Days are those of your time zone
    #[arg(long, value_name = "TIME")]
    since: Option<String>,

    /// Forget everything that was written on or before this day or time; asks first
    #[arg(long, value_name = "TIME")]
    until: Option<String>,
}

pub(crate) fn run(args: &ForgetArgs, context: &Context<'_>) -> Result<Forgotten, CliError> {
    let named = match args.what.query {
        Some(_) => None,
        None => Some(args.what.wanted()?),
    };
    check_confirmable(args, context)?;
    let machine = context.host.machine()?;
    let living = args.memory.choice().find(&machine, &context.host)?;
    check_can_be_forgotten(&living)?;
    // Anything interrupted is finished before entries are looked for, because lines may have moved
    // since. This is not left to `find_to_write`: what is finished here belongs in the report.
    let resumed =
        if args.dry_run { Resumed::default() } else { Resumed::of(&living, &args.request())? };
    let finder = living.finder(&machine, &context.host)?;
    let database = match &living.keeps {
        MemoryBackend::Sqlite(path) => {
            let open = if args.dry_run { Database::open_to_read } else { Database::open };
            open(path, &living, living.finder(&machine, &context.host)?)?
        }
        _ => None,
    };
    let (wanted, others) = match (resumed.files_changed, named) {
        (true, None | Some(ForgetTarget::Ids(_))) => {
            (ForgetTarget::Ids(resumed.stable_ids()), None)
        }
        (_, Some(named)) => (named, None),
        (false, None) => found_by(args, &finder, &living, database.as_ref())?,
    };
    let planned = Planned::new(&living, database.as_ref(), &wanted)?;
    let kept = match args.finality() {
        Finality::ForGood => kept_entries(args, &living, database.as_ref(), &wanted, &planned)?,
        Finality::Undoable => Vec::new(),
    };
    let is_nothing = planned.entries().is_empty();
    if is_nothing && kept.is_empty() && resumed.entries.is_empty() {
        return Err(nothing_to_forget(args, &planned));
    }
    let asked: Vec<&EntryToForget> = planned.entries().into_iter().chain(&kept).collect();
    let all: Vec<&EntryToForget> = resumed.entries.iter().chain(asked.iter().copied()).collect();
    let mut report = Forgotten::planned(&all, &planned.files.skipped, args.dry_run);
    report.notes.extend(resumed.note());
    report.notes.extend(others);
    report.notes.extend(planned.notes());
    if !kept.is_empty() {
        let entries = count(kept.len() as u64, "entry");
        report.notes.push(format!("{entries} stood only in the undo journal"));
    }
    if args.for_good {
        report.undo_lost(&living.site.plan_erasure(&ErasedEntries::new(all.iter().copied()))?);
    }
    if args.dry_run {
        return Ok(report);
    }
    if args.what.is_wide() && !args.yes && !asked.is_empty() && !confirm(&asked)? {
        return Ok(report.declined());
    }

    let index = Index::open(finder.folder()).map_err(|error| failed(&error))?;
    let mut documents: Vec<String> =
        planned.files.change.edits.iter().map(|it| it.path().to_owned()).collect();
    documents.extend(planned.rows.iter().map(|it| it.document()));
    let before = finder.texts_of(&index, &documents)?;
    let texts: Vec<String> =
        all.iter().map(|it| it.text.clone()).filter(|text| !text.is_empty()).collect();
    let probes = ErasureProbes::new(texts.iter().map(String::as_str));
    let other_indexes = other_indexes(&living, finder.folder(), context)?;
    let noted = args.noted(finder.folder(), &other_indexes);
    let begun = if is_nothing {
        None
    } else {
        Some(planned.apply(&living, database.as_ref(), &wanted, noted)?)
    };
    report.tombstones = all.len() - kept.len();
    report.can_be_undone = !args.for_good && (begun.is_some() || !resumed.is_for_good());

    clear_index(index, &finder, &before, &probes, args.finality())?;
    if let Some(database) = &database
        && !probes.scan(&[database.path().to_owned()]).found.is_empty()
        && !database.compact()
    {
        let note = "the database is in use: what it left in unused pages stays there";
        report.notes.push(note.to_owned());
    }
    report.dropped_indexes = drop_indexes(&other_indexes, &probes)?;
    if args.for_good {
        let gone = ErasedEntries::new(all.iter().copied());
        report.dropped_changes = Some(clear_journal(&living, begun.as_ref(), &gone)?);
    }
    let search = Search {
        living: &living,
        machine: &machine,
        host: &context.host,
        probes: &probes,
        index: finder.folder(),
        finality: args.finality(),
    };
    let unknown = resumed.entries.iter().filter(|it| it.text.is_empty()).count();
    let looked = search.run();
    if looked.moved > 0 {
        let archives = count(looked.moved, "archive");
        report.notes.push(format!(
            "not found where they were written: {archives} of this memory; what was moved away may \
             still hold the text"
        ));
    }
    report.prove(proof(looked, &probes, unknown));
    let has_index = living.adapter.own_index.is_some();
    if args.for_good && has_index && living.agent.install.is_none() {
        let title = living.adapter.title;
        report.notes.push(format!(
            "not checked: {title}'s own index and transcripts, because no {title} installation was \
             found for this workspace"
        ));
    }
    report.wait_for_telling(begun, resumed.finished);
    Ok(report)
}

/// Takes a text out of the index of this memory.
fn clear_index(
    mut index: Index,
    finder: &Finder,
    before: &TextHashes,
    probes: &ErasureProbes,
    finality: Finality,
) -> Result<(), CliError> {
    finder.forget(&mut index, before, SystemClock.now())?;
    index.release();
    // A short text cannot be looked for in a database.
    let may_hold_it = finality == Finality::ForGood && probes.too_short > 0;
    if may_hold_it || !probes.scan(&[finder.folder().to_owned()]).found.is_empty() {
        // What the database of the index left behind goes with the database.
        index.clear();
        finder.refresh(&mut index, SystemClock.now())?;
        index.release();
    }
    Ok(())
}

/// Takes texts out of what undo goes back to; returns how many changes can no longer be undone.
/// This comes last: as long as the journal has the texts, a forget that was cut off knows what to
/// look for.
fn clear_journal(
    living: &AgentMemory,
    begun: Option<&Forgetting>,
    gone: &ErasedEntries,
) -> Result<usize, CliError> {
    let held = living.site.lock()?;
    if let Some(begun) = begun {
        begun.erase()?;
    }
    let dropped = held.erase_from_journal(gone)?.dropped.len();
    if let Some(begun) = begun {
        held.drop_own_changes(begun)?;
    }
    Ok(dropped)
}

/// Returns entries that are meant and stand only in the undo journal, since they were forgotten
/// before.
fn kept_entries(
    args: &ForgetArgs,
    living: &AgentMemory,
    database: Option<&Database>,
    wanted: &ForgetTarget,
    planned: &Planned,
) -> Result<Vec<EntryToForget>, CliError> {
    let mut kept: Vec<EntryToForget> = match &args.what.query {
        // Entries in the files come first, as they do in a search.
        Some(_) if !planned.entries().is_empty() => Vec::new(),
        Some(query) => {
            let all = living.site.kept_entries()?.into_iter().map(|kept| kept.entry);
            all.filter(|it| has_all(&it.text, query)).take(args.limit as usize).collect()
        }
        None => {
            let mut wanted = wanted.clone();
            // Lines that hold something now mean that, and not what stood there once.
            if let ForgetTarget::Ids(ids) = &mut wanted
                && !planned.files.entries.is_empty()
            {
                ids.retain(|id| !id.contains("#L"));
            }
            living.site.kept_entries_of(&wanted)?.into_iter().map(|kept| kept.entry).collect()
        }
    };
    if let Some(database) = database {
        let ids = kept.iter().map(|it| it.id.clone()).collect();
        let there = database.matching(&ForgetTarget::Ids(ids))?;
        kept.retain(|it| !there.iter().any(|row| row.entry.text == it.text));
    }
    let planned = planned.entries();
    kept.retain(|it| !planned.iter().any(|other| other.text == it.text));
    Ok(kept)
}

/// Finds the entries that have all words of the query, and says how many more have them.
fn found_by(
    args: &ForgetArgs,
    finder: &Finder,
    living: &AgentMemory,
    database: Option<&Database>,
) -> Result<(ForgetTarget, Option<String>), CliError> {
    let query = args.what.query.as_deref().unwrap_or_default();
    let mut request = Request::new(query, SystemClock.now());
    request.limit = MOST_FINDS;
    let hits = finder.search(&request)?.hits;
    // What only means something like it, or lacks a word of it, is not what was named.
    let hits: Vec<Hit> = hits.into_iter().filter(|it| has_all(&it.text, query)).collect();
    let entries = living.site.entries()?;
    let mut ids = Vec::new();
    for hit in &hits {
        let found = entries.of_hit(hit);
        let mut named = found.iter().filter(|it| has_all(&it.unit.content, query)).peekable();
        // A heading is no entry, and an entry may be longer than what was found of it: then it is
        // the lines of the find that are meant.
        if named.peek().is_none() && entries.page(&hit.path).is_some() {
            ids.push(hit.citation());
        }
        for it in named {
            ids.push(if it.is_shown(hit) { it.id.clone() } else { hit.citation() });
        }
        if let Some(database) = database {
            ids.extend(database.ids_of(std::slice::from_ref(hit))?);
        }
    }
    let mut met = HashSet::new();
    ids.retain(|id| met.insert(id.clone()));
    // A find may show several entries, and no more of them go than were asked for.
    let others = ids.split_off(ids.len().min(args.limit as usize));
    let least = if hits.len() >= MOST_FINDS { "at least " } else { "" };
    let others = match others.len() {
        0 => None,
        1 => Some(format!("{least}1 other match for {query:?} was")),
        more => Some(format!("{least}{more} other matches for {query:?} were")),
    };
    let others = others.map(|it| {
        format!(
            "{it} not chosen; `anemone search` shows them, and --limit N takes more than the best \
             match"
        )
    });
    Ok((ForgetTarget::Ids(ids), others))
}

fn check_can_be_forgotten(living: &AgentMemory) -> Result<(), CliError> {
    match &living.keeps {
        MemoryBackend::Markdown | MemoryBackend::Sqlite(_) => Ok(()),
        MemoryBackend::None => {
            let message = "this agent keeps no memories";
            Err(CliError::new(Kind::Failed, "keeps_nothing", message))
        }
        MemoryBackend::External(name) => {
            let message = format!("this agent keeps its memories in {name}, out of our reach");
            Err(CliError::new(Kind::Failed, "kept_elsewhere", message)
                .hint("forget it with the agent's own tools"))
        }
    }
}

fn nothing_to_forget(args: &ForgetArgs, planned: &Planned) -> CliError {
    let error = CliError::new(Kind::Failed, "nothing_to_forget", "no entry matches");
    match (planned.files.skipped.first(), &args.what.query) {
        (Some((path, why)), _) => error.hint(format!(
            "{path} was not searched ({why}); what it holds has to be removed with an editor"
        )),
        (None, Some(_)) => {
            error.hint("use words that all occur in the entry; find them with `anemone search`")
        }
        (None, None) => error.hint("find it with `anemone search`, which prints its citation"),
    }
}

/// What an earlier run of the same request had begun and this one finishes.
#[derive(Default)]
struct Resumed {
    entries: Vec<EntryToForget>,
    files_changed: bool,
    /// How many entries of other requests were finished.
    others: usize,
    finished: Vec<FinishedForget>,
}

impl Resumed {
    fn of(living: &AgentMemory, request: &str) -> Result<Self, CliError> {
        let finished = living.site.lock()?.take_finished_forgets();
        let mut resumed = Self::default();
        for one in finished {
            if one.request == request {
                resumed.entries.extend(one.entries.iter().cloned());
                resumed.files_changed |= one.files_changed;
                resumed.finished.push(one);
            } else {
                resumed.others += one.entries.len();
                one.end();
            }
        }
        Ok(resumed)
    }

    fn is_for_good(&self) -> bool {
        self.finished.iter().any(|it| it.finality == Finality::ForGood)
    }

    /// Returns the ids that name the same entry whatever else was changed: not citations.
    fn stable_ids(&self) -> Vec<String> {
        let ids = self.entries.iter().map(|it| &it.id);
        ids.filter(|id| !id.contains("#L")).cloned().collect()
    }

    fn note(&self) -> Option<String> {
        let what = match (self.entries.len(), self.others) {
            (0, 0) => return None,
            (0, others) => format!("{} of another request", count(others as u64, "entry")),
            (own, _) => count(own as u64, "entry"),
        };
        Some(format!("an earlier run was interrupted; it was finished now: {what}"))
    }
}

/// Whether a text has every word of a query.
fn has_all(text: &str, query: &str) -> bool {
    let text = text.to_lowercase();
    let query = query.to_lowercase();
    let mut words = query.split(|c: char| !c.is_alphanumeric()).filter(|it| !it.is_empty());
    words.all(|word| text.contains(word))
}

impl ForgetArgs {
    /// Forgets what a key or ids name.
    pub(crate) fn named(
        key: Option<String>,
        id: Vec<String>,
        finality: Finality,
        dry_run: bool,
        memory: MemoryArgs,
    ) -> Self {
        let what = What { key, id, query: None, session: None, since: None, until: None };
        let for_good = finality == Finality::ForGood;
        Self { memory, what, limit: 1, dry_run, yes: false, for_good }
    }

    const fn finality(&self) -> Finality {
        if self.for_good { Finality::ForGood } else { Finality::Undoable }
    }

    /// Returns by what the same request is known again when it is repeated.
    fn request(&self) -> String {
        sha256_hex(format!("{:?} {}", self.what, self.limit).as_bytes())
    }

    /// Says what is about to be forgotten; which changes that makes is not known yet.
    fn noted(&self, index: &Path, others: &[PathBuf]) -> ForgetNote {
        let indexes = std::iter::once(index.to_owned()).chain(others.iter().cloned());
        ForgetNote {
            request: self.request(),
            finality: self.finality(),
            files: None,
            rows: None,
            indexes: indexes.collect(),
            at: SystemClock.now(),
        }
    }
}

impl What {
    /// Whether it names more than somebody has in mind: what a search finds, a session, a time.
    fn is_wide(&self) -> bool {
        self.key.is_none() && self.id.is_empty()
    }

    fn wanted(&self) -> Result<ForgetTarget, CliError> {
        if let Some(key) = &self.key {
            return Ok(ForgetTarget::Key(key.clone()));
        }
        if let Some(session) = &self.session {
            return Ok(ForgetTarget::Session(session.clone()));
        }
        if !self.id.is_empty() {
            return Ok(ForgetTarget::Ids(self.id.clone()));
        }
        let since = self.since.as_deref().map(|it| moment("--since", it, false)).transpose()?;
        let until = self.until.as_deref().map(|it| moment("--until", it, true)).transpose()?;
        if let (Some(since), Some(until)) = (since, until)
            && since > until
        {
            let message = format!("nothing is both after {since} and before {until}");
            return Err(CliError::new(Kind::Usage, "usage", message)
                .hint("--since is the earlier time, --until the later one"));
        }
        Ok(ForgetTarget::Written { since, until, zone: SystemClock.zone() })
    }
}

/// Reads a time, or a day: its beginning or its end.
pub(crate) fn moment(flag: &str, text: &str, is_end: bool) -> Result<Timestamp, CliError> {
    if let Ok(time) = text.trim().parse() {
        return Ok(time);
    }
    let zone = SystemClock.zone();
    let today = SystemClock.now().to_zoned(zone.clone()).date();
    let time = days::day(text, today).and_then(|day: Date| {
        let day = day.to_zoned(zone).ok()?;
        if is_end { day.end_of_day().ok() } else { Some(day) }
    });
    time.map(|it| it.timestamp()).ok_or_else(|| {
        CliError::new(Kind::Usage, "usage", format!("{flag} {text:?} is neither a day nor a time"))
            .hint("give 2026-03-01, 2026-03-01T10:00:00Z, yesterday, or how long ago: 7d, 2w, 3m")
    })
}

/// What would go.
struct Planned {
    files: ForgetPlan,
    rows: Vec<anemone_memory::KeptRow>,
}

impl Planned {
    fn new(
        living: &AgentMemory,
        database: Option<&Database>,
        wanted: &ForgetTarget,
    ) -> Result<Self, CliError> {
        Ok(Self {
            files: living.site.plan_forget(wanted)?,
            rows: database.map(|it| it.matching(wanted)).transpose()?.unwrap_or_default(),
        })
    }

    fn entries(&self) -> Vec<&EntryToForget> {
        self.files.entries.iter().chain(self.rows.iter().map(|it| &it.entry)).collect()
    }

    /// Says what is left behind.
    fn notes(&self) -> impl Iterator<Item = String> {
        let tables = self.files.tables_without_rows.iter();
        tables.map(|path| format!("a table in {path} has no rows left; its header was kept"))
    }

    /// Makes it go, if it is still what was shown.
    fn apply(
        &self,
        living: &AgentMemory,
        database: Option<&Database>,
        wanted: &ForgetTarget,
        noted: ForgetNote,
    ) -> Result<Forgetting, CliError> {
        let held = living.site.lock()?;
        let again = Self::new(living, database, wanted)?;
        if again.entries() != self.entries() {
            let message = "the memory was changed by another program in the meantime";
            return Err(CliError::new(Kind::Conflict, "changed", message).hint("try again"));
        }
        let clock = &SystemClock;
        let gone: Vec<EntryToForget> = again.entries().into_iter().cloned().collect();
        let (files, rows) = (clock.fresh_id(), clock.fresh_id());
        let noted = ForgetNote {
            files: (!again.files.change.edits.is_empty()).then_some(files),
            rows: (!again.rows.is_empty()).then_some(rows),
            ..noted
        };
        let begun = held.begin_forgetting(&noted, &gone, clock.fresh_id())?;
        if noted.rows.is_some()
            && let Some(database) = database
        {
            let of_rows = database.noted(&again.rows);
            held.note_rows("forget", of_rows, None, rows, clock.now())
                .map_err(|error| failed(&error))?;
            database.remove(&again.rows)?;
        }
        if noted.files.is_some() {
            held.apply(&again.files.change, files, clock.now())?;
        }
        held.bury(&gone, "forget", noted.at)?;
        Ok(begun)
    }
}

/// Lets nobody forget by accident what a search happens to find.
fn check_confirmable(args: &ForgetArgs, context: &Context<'_>) -> Result<(), CliError> {
    if !args.what.is_wide() || args.yes || args.dry_run || context.environment.can_ask() {
        return Ok(());
    }
    let message = "--query, --session and --since can match several entries, and there is no terminal to ask \
         for confirmation";
    Err(CliError::new(Kind::Failed, "not_confirmed", message)
        .hint("look at them with --dry-run, then add --yes to confirm"))
}

/// Asks whether what was found is meant.
fn confirm(entries: &[&EntryToForget]) -> Result<bool, CliError> {
    for it in entries {
        let line = it.text.lines().next().unwrap_or_default();
        notice(&format!("{}: {}", safe(&it.path), safe(line)));
    }
    Ok(ask(&format!("forget {}?", count(entries.len() as u64, "entry")))?)
}

/// Returns the other indexes of the same memory, such as one with its conversations.
fn other_indexes(
    living: &AgentMemory,
    own: &Path,
    context: &Context<'_>,
) -> Result<Vec<PathBuf>, CliError> {
    let root = living.site.root();
    let is_same = |place: &Path| {
        let is_database = matches!(&living.keeps, MemoryBackend::Sqlite(path) if path == place);
        is_database || place == root || fs_err::canonicalize(place).is_ok_and(|it| it == root)
    };
    let mut found = Vec::new();
    for other in kept(&context.host)? {
        if other.source.as_ref().is_some_and(|source| is_same(Path::new(&source.place))) {
            found.push(PathBuf::from(&other.folder));
        }
    }
    for other in known_folders(&context.host, FolderKind::Index) {
        if other.place.as_deref().is_some_and(is_same) {
            found.push(other.folder);
        }
    }
    found.retain(|folder| folder != own && is_index(folder));
    found.dedup();
    Ok(found)
}

/// Clears indexes that hold a text: they are rebuilt when they are next needed.
fn drop_indexes(folders: &[PathBuf], probes: &ErasureProbes) -> Result<Vec<String>, CliError> {
    let mut dropped = Vec::new();
    for folder in folders {
        if !probes.scan(std::slice::from_ref(folder)).found.is_empty() {
            remove_index(folder, &NoProgress).map_err(anemone_index::OpenIndexError::from)?;
            dropped.push(folder.display().to_string());
        }
    }
    Ok(dropped)
}

fn proof(looked: Looked, probes: &ErasureProbes, unknown: usize) -> Proof {
    let in_journal = looked.holders.iter().filter(|it| it.kind == "journal").count();
    let others = looked.holders.iter().filter(|it| it.kind != "journal");
    Proof {
        absent: looked.holders.is_empty()
            && looked.unreadable.is_empty()
            && !probes.is_empty()
            && probes.too_short == 0
            && unknown == 0,
        scanned_files: looked.files,
        scanned_bytes: looked.bytes,
        found: others.map(|it| Found { path: it.place.clone() }).collect(),
        holders: looked.holders,
        in_journal,
        too_short: probes.too_short,
        unknown: unknown as u64,
        unreadable: looked.unreadable,
    }
}

fn failed(error: &(impl std::error::Error + 'static)) -> CliError {
    CliError::from_error(Kind::Failed, "memory", error)
}
