//! `anemone forget`

mod report;
pub(crate) mod rows;

use std::path::PathBuf;

use anemone_adapters::Keeps;
use anemone_index::{Hit, Index, Request};
use anemone_memory::{Clock as _, Condemned, ForgetPlan, Probes, Scan, Wanted};
use clap::Args;
use jiff::Timestamp;
use jiff::civil::Date;
use jiff::tz::TimeZone;

use self::report::{Found, Proof};
use self::rows::Database;
use super::search::days;
use super::{Context, instant};
use crate::error::{CliError, Kind};
use crate::living::{Living, MemoryArgs, SystemClock};
use crate::output::{ask, count, notice, safe};
use crate::search_index::kept;

pub(crate) use self::report::Forgotten;

/// Forget something, for real
///
/// Takes entries out of the files of a memory, or out of ZeroClaw's database, and everything that
/// was made of them out of the search index and its cache of vectors; then every file is read to
/// prove that the text is gone. A tombstone is left that says that something was forgotten, by
/// digests, without the text. `anemone undo` brings it back, unless --for-good was given. Say with
/// --dry-run first what would go.
///
/// What the runtime keeps for itself is not touched: OpenClaw's own index forgets the text when it
/// next looks at the files, and transcripts of conversations may still hold it.
#[derive(Args, Debug)]
#[command(
    override_usage = "anemone forget [OPTIONS] <--key KEY|--id ID|--query TEXT|--session ID|--since TIME>"
)]
pub(crate) struct ForgetArgs {
    #[command(flatten)]
    memory: MemoryArgs,

    #[command(flatten)]
    what: What,

    /// With --query, how many finds are meant at most: 1 to 100
    #[arg(long, value_name = "N", default_value_t = 1, requires = "query")]
    #[arg(value_parser = clap::value_parser!(u32).range(1..=100))]
    limit: u32,

    /// Say what would be forgotten, and change nothing
    #[arg(long, short = 'n')]
    dry_run: bool,

    /// With --query, do not ask whether what was found is meant
    #[arg(long, requires = "query")]
    yes: bool,

    /// Also remove it from what `anemone undo` goes back to
    #[arg(long)]
    for_good: bool,
}

/// What is to be forgotten.
#[derive(Args, Debug)]
#[group(required = true, multiple = true)]
struct What {
    /// Everything of this key, also what was replaced since
    #[arg(long, value_name = "KEY", conflicts_with_all = ["id", "query", "session", "since", "until"])]
    key: Option<String>,

    /// The entry with this id, or a citation as `anemone search` prints it, such as
    /// MEMORY.md#L8-L12; may be given more than once
    #[arg(long, value_name = "ID", conflicts_with_all = ["query", "session", "since", "until"])]
    id: Vec<String>,

    /// What is found best by these words; asks before anything goes
    #[arg(long, value_name = "TEXT", conflicts_with_all = ["session", "since", "until"])]
    query: Option<String>,

    /// Everything that was written in this session
    #[arg(long, value_name = "SESSION", conflicts_with_all = ["since", "until"])]
    session: Option<String>,

    /// Everything that was written on or after this day or time: 2026-03-01, yesterday, 7d,
    /// 2026-03-01T10:00:00Z (days in UTC)
    #[arg(long, value_name = "TIME")]
    since: Option<String>,

    /// Everything that was written on or before this day or time
    #[arg(long, value_name = "TIME")]
    until: Option<String>,
}

pub(crate) fn run(args: &ForgetArgs, context: &Context<'_>) -> Result<Forgotten, CliError> {
    let named = match args.what.query {
        Some(_) => None,
        None => Some(args.what.wanted()?),
    };
    check_confirmable(args, context)?;
    let machine = context.environment.machine()?;
    let living = if args.dry_run {
        args.memory.find(&machine, context)?
    } else {
        args.memory.find_to_write(&machine, context)?
    };
    let finder = living.finder(&machine, context)?;
    let database = match &living.keeps {
        Keeps::Markdown => None,
        Keeps::Rows(path) => {
            let open = if args.dry_run { Database::open_to_read } else { Database::open };
            open(path, &living, living.finder(&machine, context)?)?
        }
        Keeps::Nothing => {
            let message = "this agent keeps no memories";
            return Err(CliError::new(Kind::Failed, "keeps_nothing", message));
        }
        Keeps::Elsewhere(name) => {
            let message = format!("this agent keeps its memories in {name}, out of our reach");
            return Err(CliError::new(Kind::Failed, "kept_elsewhere", message)
                .hint("forget it with the agent's own tools"));
        }
    };
    let wanted = match named {
        Some(named) => named,
        None => {
            let query = args.what.query.as_deref().unwrap_or_default();
            let mut request = Request::new(query, instant());
            request.limit = args.limit as usize;
            let hits = finder.search(&request)?.hits;
            // What only means something like it, or lacks a word of it, is not what was named.
            let hits: Vec<Hit> = hits.into_iter().filter(|it| has_all(&it.text, query)).collect();
            let entries = living.site.entries()?;
            let found = hits.iter().flat_map(|hit| entries.of_hit(hit));
            let found = found.filter(|it| has_all(&it.unit.content, query));
            let mut ids: Vec<String> = found.map(|it| it.id.clone()).collect();
            if let Some(database) = &database {
                ids.extend(database.ids_of(&hits)?);
            }
            Wanted::Ids(ids)
        }
    };
    let planned = Planned::new(&living, database.as_ref(), &wanted)?;
    if planned.entries().is_empty() {
        let message = "there is nothing like that in this memory";
        let error = CliError::new(Kind::Failed, "nothing_to_forget", message);
        return Err(match (planned.files.skipped.first(), &args.what.query) {
            (Some((path, why)), _) => error.hint(format!(
                "{path} was passed over ({why}): what stands in it is taken out with an editor"
            )),
            (None, Some(_)) => {
                error.hint("give words that all stand in it; `anemone search` says what it says")
            }
            (None, None) => error.hint("find it with `anemone search`, which says where it stands"),
        });
    }
    let mut report = Forgotten::planned(&planned.entries(), &planned.files.skipped, args.dry_run);
    if args.dry_run {
        return Ok(report);
    }
    if args.what.is_wide() && !args.yes {
        confirm(&planned.entries())?;
    }

    let mut index = Index::open(finder.folder()).map_err(|error| failed(&error))?;
    let mut documents: Vec<String> =
        planned.files.change.edits.iter().map(|it| it.path().to_owned()).collect();
    documents.extend(planned.rows.iter().map(|it| it.document()));
    let before = finder.texts_of(&index, &documents)?;
    let texts: Vec<String> = planned.entries().iter().map(|it| it.text.clone()).collect();
    let probes = Probes::new(texts.iter().map(String::as_str));
    planned.apply(&living, database.as_ref(), &wanted, &mut report)?;
    if args.for_good {
        let held = living.site.lock()?;
        // A record of the journal may hold it in other words than the entry: its id is the same.
        let ids = planned.entries().into_iter().map(|it| it.id.as_str());
        let ids: Vec<&str> = ids.filter(|it| it.parse::<uuid::Uuid>().is_ok()).collect();
        let names = Probes::new(texts.iter().map(String::as_str).chain(ids));
        report.dropped_changes =
            Some(held.drop_changes_with(&names).map_err(|error| failed(&error))?);
        report.can_be_undone = false;
    }

    finder.forget(&mut index, &before, instant())?;
    index.release();
    let places = Places::of(&living, finder.folder().to_owned());
    let mut scan = probes.scan(&places.all);
    if scan.found.iter().any(|it| it.starts_with(&places.index)) {
        // What the database of the index left behind goes with the database.
        index.clear();
        finder.refresh(&mut index, instant())?;
        index.release();
        scan = probes.scan(&places.all);
    }
    drop(index);
    if let Some(database) = database.as_ref().filter(|it| it.is_among(&scan.found)) {
        if !database.compact() {
            report.notes.push("the database is in use: what it left in unused pages stays there");
        }
        scan = probes.scan(&places.all);
    }
    drop_other_indexes(&living, &places, &probes, &mut report, context)?;
    if living.adapter.runtime() == "openclaw" {
        report
            .notes
            .push("OpenClaw's own index and transcripts are OpenClaw's: they were not looked at");
    }
    report.prove(proof(&scan, &probes, args.for_good, &living));
    Ok(report)
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
        dry_run: bool,
        memory: MemoryArgs,
    ) -> Self {
        let what = What { key, id, query: None, session: None, since: None, until: None };
        Self { memory, what, limit: 1, dry_run, yes: false, for_good: false }
    }
}

impl What {
    /// Whether it names more than somebody has in mind: what a search finds, a session, a time.
    fn is_wide(&self) -> bool {
        self.key.is_none() && self.id.is_empty()
    }

    fn wanted(&self) -> Result<Wanted, CliError> {
        if let Some(key) = &self.key {
            return Ok(Wanted::Key(key.clone()));
        }
        if let Some(session) = &self.session {
            return Ok(Wanted::Session(session.clone()));
        }
        if !self.id.is_empty() {
            return Ok(Wanted::Ids(self.id.clone()));
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
        Ok(Wanted::Written { since, until })
    }
}

/// Reads a time, or a day: its beginning or its end.
pub(crate) fn moment(flag: &str, text: &str, is_end: bool) -> Result<Timestamp, CliError> {
    if let Ok(time) = text.trim().parse() {
        return Ok(time);
    }
    let today = instant().to_zoned(TimeZone::UTC).date();
    let time = days::day(text, today).and_then(|day: Date| {
        let day = day.to_zoned(TimeZone::UTC).ok()?;
        if is_end { day.end_of_day().ok() } else { Some(day) }
    });
    time.map(|it| it.timestamp()).ok_or_else(|| {
        CliError::new(Kind::Usage, "usage", format!("{flag} {text:?} is no day and no time"))
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
        living: &Living,
        database: Option<&Database>,
        wanted: &Wanted,
    ) -> Result<Self, CliError> {
        Ok(Self {
            files: living.site.plan_forget(wanted)?,
            rows: database.map(|it| it.matching(wanted)).transpose()?.unwrap_or_default(),
        })
    }

    fn entries(&self) -> Vec<&Condemned> {
        self.files.entries.iter().chain(self.rows.iter().map(|it| &it.entry)).collect()
    }

    /// Makes it go, if it is still what was shown.
    fn apply(
        &self,
        living: &Living,
        database: Option<&Database>,
        wanted: &Wanted,
        report: &mut Forgotten,
    ) -> Result<(), CliError> {
        let held = living.site.lock()?;
        let again = Self::new(living, database, wanted)?;
        if again.entries() != self.entries() {
            let message = "the memory was changed by somebody else meanwhile";
            return Err(CliError::new(Kind::Conflict, "changed", message).hint("try again"));
        }
        let clock = SystemClock;
        if !again.rows.is_empty()
            && let Some(database) = database
        {
            let noted = database.noted(&again.rows);
            held.note_rows("forget", noted, None, clock.fresh_id(), clock.now())
                .map_err(|error| failed(&error))?;
            database.remove(&again.rows)?;
        }
        if !again.files.change.edits.is_empty() {
            held.apply(&again.files.change, clock.fresh_id(), clock.now())?;
        }
        let gone: Vec<Condemned> = again.entries().into_iter().cloned().collect();
        held.bury(&gone, "forget", clock.now())?;
        report.tombstones = gone.len();
        report.can_be_undone = true;
        Ok(())
    }
}

/// Lets nobody forget by accident what a search happens to find.
fn check_confirmable(args: &ForgetArgs, context: &Context<'_>) -> Result<(), CliError> {
    let environment = context.environment;
    let can_be_asked = environment.stdin_is_terminal && environment.stderr_is_terminal;
    if !args.what.is_wide() || args.yes || args.dry_run || can_be_asked {
        return Ok(());
    }
    let message = "what a search, a session or a time names goes only when somebody says so";
    Err(CliError::new(Kind::Failed, "not_confirmed", message)
        .hint("look at it with --dry-run; if that is meant, add --yes"))
}

/// Asks whether what was found is meant.
fn confirm(entries: &[&Condemned]) -> Result<(), CliError> {
    for it in entries {
        let line = it.text.lines().next().unwrap_or_default();
        notice(&format!("{}: {}", safe(&it.path), safe(line)));
    }
    match ask(&format!("forget {}?", count(entries.len() as u64, "entry")))? {
        true => Ok(()),
        false => Err(CliError::new(Kind::Failed, "not_confirmed", "nothing was forgotten")),
    }
}

/// What is read to prove that something is gone.
struct Places {
    all: Vec<PathBuf>,
    index: PathBuf,
}

impl Places {
    fn of(living: &Living, index: PathBuf) -> Self {
        let mut all =
            vec![living.site.root().to_owned(), index.clone(), living.site.state().to_owned()];
        // Its log and its backups lie beside a database.
        if let Keeps::Rows(path) = &living.keeps
            && let Some(folder) = path.parent().filter(|it| !it.starts_with(living.site.root()))
        {
            all.push(folder.to_owned());
        }
        Self { all, index }
    }
}

/// Other indexes of the same memory, such as one with its conversations, are dropped when they
/// hold the text: they are made anew when they are next needed.
fn drop_other_indexes(
    living: &Living,
    places: &Places,
    probes: &Probes,
    report: &mut Forgotten,
    context: &Context<'_>,
) -> Result<(), CliError> {
    let root = living.site.root().display().to_string();
    let database = match &living.keeps {
        Keeps::Rows(path) => path.display().to_string(),
        _ => String::new(),
    };
    for other in kept(context.environment)? {
        let place = other.source.as_ref().map_or("", |it| it.place.as_str());
        let folder = PathBuf::from(&other.folder);
        if (place != root && place != database) || folder == places.index {
            continue;
        }
        if !probes.scan(std::slice::from_ref(&folder)).found.is_empty() {
            other.remove()?;
            report.dropped_indexes.push(other.folder);
        }
    }
    Ok(())
}

fn proof(scan: &Scan, probes: &Probes, for_good: bool, living: &Living) -> Proof {
    let journal = living.site.journal();
    let (in_journal, elsewhere): (Vec<_>, Vec<_>) =
        scan.found.iter().partition(|it| it.starts_with(&journal));
    let found = |path: &PathBuf| {
        let within = path.strip_prefix(living.site.root()).unwrap_or(path);
        Found { path: within.display().to_string() }
    };
    let remains: Vec<Found> = match for_good {
        true => scan.found.iter().map(found).collect(),
        false => elsewhere.into_iter().map(found).collect(),
    };
    Proof {
        absent: remains.is_empty()
            && scan.skipped.is_empty()
            && !probes.is_empty()
            && probes.too_short == 0,
        scanned_files: scan.files,
        scanned_bytes: scan.bytes,
        found: remains,
        in_journal: in_journal.len(),
        too_short: probes.too_short,
        unreadable: scan.skipped.iter().map(|(path, _)| path.display().to_string()).collect(),
    }
}

fn failed(error: &(impl std::error::Error + 'static)) -> CliError {
    CliError::from_error(Kind::Failed, "memory", error)
}
