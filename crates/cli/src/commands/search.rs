//! `anemone search`

mod compared;
pub(crate) mod days;
mod shown;
pub(crate) mod trust;

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anemone_format::StampTable;
use anemone_index::{Answer, Explanation, Freshness, Hit, Index, Kinds, Note, Provenance, Request};
use anemone_memory::{Clock as _, Successor};
use clap::Args;
use serde::{Serialize, Serializer};

use super::Context;
use super::ranking::RankingArgs;
use crate::args::EmbedderArgs;
use crate::args::SourceArgs;
use crate::embedder::{
    Chosen, Embedders, Guarded, LatencyBudget, Stop, VectorLine, take_carried_for, top_up,
};
use crate::error::{CliError, Kind};
use anemone::system::SystemClock;

use crate::search_index::{IndexFallback, Opened, Warning, find, left_out, open_fresh};
use crate::searched::SearchTarget;
pub(crate) use compared::Compared;
pub(crate) use trust::Trust;

/// So many hits are shown when nobody says how many.
const USUAL_LIMIT: u32 = 6;

/// Find what an agent remembers
///
/// Searches the memory of an agent (-w, -r, --agent), a folder of Markdown, a ZeroClaw database or
/// an .alf archive, in place. The index is updated first, so what was written a moment ago is
/// found. Nothing leaves this machine unless you name or configure an embedding service.
///
/// QUERY is a question or some words, with or without quotes around them; a hit need not contain
/// all of them. "Words in quotes" must occur together if they do anywhere, and -word must not
/// occur; give such a query as one argument. If QUERY begins with a flag of this command, put --
/// before it.
///
/// The last argument names what to search, instead of an agent, when it is the path of something
/// that exists, contains a slash, or ends in .alf, .db or .md. --in names it in any case, and then all
/// other arguments are words.
#[derive(Args, Clone, Debug)]
pub(crate) struct SearchArgs {
    /// What to look for
    #[arg(allow_hyphen_values = true)]
    pub(crate) query: String,

    /// More words to look for; the last argument may be an archive, a database, a folder or a file
    /// to search
    #[arg(value_name = "WORD|SOURCE")]
    more: Vec<OsString>,

    /// Search this archive, database, folder or file instead of an agent
    #[arg(long = "in", value_name = "SOURCE", help_heading = SOURCE_HEADING)]
    pub(crate) source: Option<PathBuf>,

    #[command(flatten, next_help_heading = SOURCE_HEADING)]
    searched: SourceArgs,

    /// Show at most N hits: 1 to 1000
    #[arg(long, value_name = "N", default_value_t = USUAL_LIMIT, help_heading = "Filters")]
    #[arg(value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub(crate) limit: u32,

    /// Show only what is dated on or after this day: 2026-03-01, today, yesterday, 7d, 2w, 3m, 1y.
    /// Today is that of the local time zone
    #[arg(long, value_name = "DAY", help_heading = "Filters")]
    pub(crate) since: Option<String>,

    /// Show only what is dated on or before this day
    #[arg(long, value_name = "DAY", help_heading = "Filters")]
    pub(crate) until: Option<String>,

    /// Show only memories of this type, such as semantic or episodic; may be repeated
    #[arg(long = "type", value_name = "TYPE", help_heading = "Filters")]
    types: Vec<String>,

    /// Show only memories of this namespace, such as daily; may be repeated
    #[arg(long, value_name = "NAME", help_heading = "Filters")]
    namespace: Vec<String>,

    /// Show only documents below this folder or with paths like this, where * stops at a slash and
    /// ** does not; may be repeated
    #[arg(long, value_name = "GLOB", help_heading = "Filters")]
    pub(crate) path: Vec<String>,

    #[command(flatten, next_help_heading = "Ranking")]
    ranking: RankingArgs,

    /// Show how each score was computed
    #[arg(long, help_heading = "Ranking")]
    explain: bool,

    #[command(flatten, next_help_heading = "Embedding")]
    embedder: EmbedderArgs,

    /// With --profile, send a large job to a service that is named
    #[arg(long, requires = "embedder", help_heading = "Embedding")]
    yes: bool,
}

const SOURCE_HEADING: &str = "What to search";

#[derive(Serialize)]
pub(crate) struct Found {
    ok: bool,
    query: String,
    source: SourceLine,
    pub(crate) hits: Vec<FoundHit>,
    /// `lexical` or `hybrid`.
    pub(crate) mode: &'static str,
    /// The model that counts most.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) model: Option<String>,
    /// The models whose vectors were compared, the one that counts most first.
    vectors: Vec<VectorLine>,
    pub(crate) notes: Vec<Warning>,
    pub(crate) index: IndexLine,
    took_ms: f64,
    /// Why only words were compared.
    #[serde(skip)]
    lexical_only: Option<&'static str>,
}

/// What was searched.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct SourceLine {
    pub(crate) kind: &'static str,
    pub(crate) place: String,
}

impl SourceLine {
    pub(crate) fn of(searched: &SearchTarget) -> Self {
        Self { kind: searched.kind, place: searched.place.display().to_string() }
    }
}

/// What the index held, and what was done to bring it up to date.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct IndexLine {
    pub(crate) documents: u64,
    pub(crate) chunks: u64,
    pub(crate) added: u64,
    pub(crate) changed: u64,
    pub(crate) removed: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) rebuilt: Option<&'static str>,
    pub(crate) skipped: BTreeMap<&'static str, u64>,
}

impl IndexLine {
    pub(crate) fn of(freshness: &Freshness) -> Self {
        Self {
            documents: freshness.documents,
            chunks: freshness.chunks,
            added: freshness.added,
            changed: freshness.changed,
            removed: freshness.removed,
            rebuilt: freshness.rebuilt,
            skipped: left_out(freshness),
        }
    }
}

#[derive(Serialize)]
pub(crate) struct FoundHit {
    pub(crate) path: String,
    pub(crate) start_line: u32,
    pub(crate) end_line: u32,
    pub(crate) citation: String,
    pub(crate) headings: Vec<String>,
    pub(crate) date: Option<String>,
    /// From 0 to 1.
    pub(crate) score: f64,
    /// Whether it fits so badly that it may be no answer.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub(crate) weak: bool,
    /// How many turns of conversations that say the same are left out.
    #[serde(skip_serializing_if = "is_zero")]
    pub(crate) similar: usize,
    pub(crate) text: String,
    /// Where words of the query stand in `text`, in bytes.
    pub(crate) matches: Vec<[usize; 2]>,
    #[serde(rename = "type")]
    pub(crate) memory_type: Option<String>,
    pub(crate) namespace: Option<String>,
    pub(crate) importance: Option<f64>,
    pub(crate) provenance: Provenance,
    #[serde(flatten)]
    pub(crate) trust: Trust,
    /// Whether another entry took its place.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub(crate) superseded: bool,
    /// The citation of that entry.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) superseded_by: Option<String>,
    #[serde(skip)]
    pub(crate) successor: Option<Successor>,
    #[serde(skip_serializing_if = "Option::is_none")]
    explain: Option<Explained>,
}

#[derive(Serialize)]
struct Explained {
    #[serde(serialize_with = "in_order")]
    parts: Vec<(&'static str, f64)>,
    terms: Vec<String>,
}

/// Writes named numbers as an object that keeps their order.
fn in_order<S: Serializer>(
    parts: &[(&'static str, f64)],
    serializer: S,
) -> Result<S::Ok, S::Error> {
    serializer.collect_map(parts.iter().copied())
}

pub(crate) fn run(args: &SearchArgs, context: &Context<'_>) -> Result<Found, CliError> {
    let started = Instant::now();
    let args = &args.resolved()?;
    let request = request(args)?;
    args.embedder.choice().check()?;
    let machine = context.host.machine()?;
    let searched = find(&args.searched.choice(), args.source.as_deref(), &machine, &context.host)?;
    let mut opened = open_fresh(&searched, &context.host, false, IndexFallback::Temporary)?;
    let mut found = ask(args, &request, &searched, &mut opened, context, started)?;
    if args.source.is_none() && !found.hits.is_empty() {
        trust::verify(&mut found.hits, &args.searched, &machine, context);
    }
    // A profile ranks as another program does, which knows nothing of successors.
    if args.ranking.is_ours() {
        trust::sink_superseded(&mut found.hits);
    }
    // People see a mark for each, see `safe`.
    if context.printer.is_json() {
        found.hits.iter_mut().for_each(FoundHit::clean);
    }
    Ok(found)
}

/// Asks an index that is up to date.
pub(crate) fn ask(
    args: &SearchArgs,
    request: &Request,
    searched: &SearchTarget,
    opened: &mut Opened,
    context: &Context<'_>,
    started: Instant,
) -> Result<Found, CliError> {
    let choice = Choosing { args: &args.embedder, ranking: &args.ranking, yes: args.yes };
    let mut embedders =
        choice.embedders(&opened.index, searched, &LatencyBudget::Answer, context)?;
    // What is not kept would be sent again at every search.
    let is_kept =
        !opened.is_temporary() || !embedders.main.as_ref().is_some_and(|it| it.is_remote());
    if !args.ranking.is_ours() {
        take_carried_for(request, &mut opened.index, searched, &mut embedders)?;
    } else if is_kept {
        let written = top_up(&mut opened.index, searched, &mut embedders)?;
        if written {
            opened.look_again(searched, &context.host)?;
        }
    }
    let answer = opened.search(request, searched, &context.host, &embedders.list())?;
    let Opened { index, freshness, warnings, .. } = &*opened;
    let mut warnings = warnings.clone();
    warnings.append(&mut embedders.notes);
    for one in &answer.notes {
        let mut warning = note(one, &args.query);
        if *one == Note::FilteredOut {
            warning.message.push_str(&known_kinds(args, index)?);
        }
        warnings.push(warning);
    }
    if answer.hits.is_empty() && freshness.documents > 0 {
        warnings.extend(args.ranking.minimum());
    }
    let compared = Compared::of(&answer.legs, &embedders);
    Ok(found(args, searched, freshness, warnings, answer, compared, started))
}

/// What was said about what compares meanings.
pub(crate) struct Choosing<'a> {
    pub(crate) args: &'a EmbedderArgs,
    pub(crate) ranking: &'a RankingArgs,
    /// Whether somebody said yes to a large job.
    pub(crate) yes: bool,
}

impl Choosing<'_> {
    /// Finds what compares meanings. Another program's ranking has an embedder only when it is
    /// named: that program would not have ours. It embeds all documents at the first search.
    pub(crate) fn embedders(
        &self,
        index: &Index,
        searched: &SearchTarget,
        haste: &LatencyBudget,
        context: &Context<'_>,
    ) -> Result<Embedders, CliError> {
        if self.ranking.is_ours() {
            return Embedders::choose(&self.args.choice(), index, searched, haste, &context.host);
        }
        if !self.args.choice().is_named() {
            return Ok(Embedders::NONE);
        }
        let haste = LatencyBudget::Vectors(Stop::default());
        let mut embedders =
            Embedders::choose(&self.args.choice(), index, searched, &haste, &context.host)?;
        if let Some(main) = embedders.main.take_if(|it| it.is_remote() && !self.yes) {
            let guarded = Box::new(Guarded::new(main.embedder, main.host.as_deref()));
            embedders.main = Some(Chosen { embedder: guarded, ..main });
        }
        Ok(embedders)
    }
}

/// Endings of what is searched by its path, whether it exists or not.
const SOURCE_ENDINGS: [&str; 5] = ["alf", "alf-delta", "db", "age", "md"];

/// Whether an argument names something to search, rather than a word to look for.
fn is_source(argument: &Path) -> bool {
    let ending = argument.extension().and_then(|it| it.to_str()).unwrap_or_default();
    let text = argument.to_string_lossy();
    let is_path = text.contains(std::path::is_separator) && !text.contains(char::is_whitespace);
    is_path || SOURCE_ENDINGS.contains(&ending) || argument.exists()
}

impl SearchArgs {
    /// Joins the words of the query, and takes the last argument for the source where it is one.
    fn resolved(&self) -> Result<Self, CliError> {
        let mut words: Vec<String> = vec![self.query.clone()];
        let mut args = Self { more: Vec::new(), ..self.clone() };
        let mut more = self.more.as_slice();
        if let Some((last, before)) = more.split_last() {
            let last = Path::new(last);
            self.ranking.check_source(Some(last))?;
            let has_workspace = self.searched.agent.workspace.is_some();
            let is_bare = last.extension().is_none() && last.components().count() == 1;
            // With -w a name such as `docs` is a word, whatever is in the current folder.
            if self.source.is_none() && is_source(last) && !(has_workspace && is_bare) {
                args.source = Some(last.to_owned());
                more = before;
            }
        }
        words.extend(more.iter().map(|it| it.to_string_lossy().into_owned()));
        args.query = words.join(" ");
        Ok(args)
    }

    /// Asks as somebody does who gives no flags.
    pub(crate) fn plain(query: String, source: Option<PathBuf>, searched: SourceArgs) -> Self {
        Self {
            query,
            more: Vec::new(),
            source,
            searched,
            limit: USUAL_LIMIT,
            since: None,
            until: None,
            types: Vec::new(),
            namespace: Vec::new(),
            path: Vec::new(),
            ranking: RankingArgs::default(),
            embedder: EmbedderArgs::default(),
            yes: false,
            explain: false,
        }
    }
}

/// Puts the question.
pub(crate) fn request(args: &SearchArgs) -> Result<Request, CliError> {
    let now = SystemClock.now();
    // Logs are named by the local day, so `today` must be the same day.
    let today = now.to_zoned(SystemClock.zone()).date();
    let day = |flag: &str, text: &Option<String>| match text {
        None => Ok(None),
        Some(text) => days::day(text, today).map(Some).ok_or_else(|| days::no_day(flag, text)),
    };
    let (since, until) = (day("--since", &args.since)?, day("--until", &args.until)?);
    if let (Some(since), Some(until)) = (since, until)
        && since > until
    {
        let message = format!("nothing is both after {since} and before {until}");
        return Err(CliError::new(Kind::Usage, "usage", message)
            .hint("--since is the earlier day, --until the later one"));
    }
    let mut request = Request::new(args.query.clone(), now);
    request.limit = args.limit as usize;
    request.since = since;
    request.until = until;
    request.types.clone_from(&args.types);
    request.namespaces.clone_from(&args.namespace);
    request.paths.clone_from(&args.path);
    request.explain = args.explain;
    args.ranking.apply(&mut request);
    Ok(request)
}

fn found(
    args: &SearchArgs,
    searched: &SearchTarget,
    freshness: &Freshness,
    mut notes: Vec<Warning>,
    answer: Answer,
    compared: Compared,
    started: Instant,
) -> Found {
    notes.extend(compared.notes);
    let has_stamps = answer.hits.iter().any(|hit| hit.provenance.record.is_some());
    let stamps = if has_stamps { searched.stamps() } else { StampTable::default() };
    Found {
        ok: true,
        query: args.query.clone(),
        source: SourceLine::of(searched),
        hits: answer.hits.into_iter().map(|hit| found_hit(hit, &stamps)).collect(),
        mode: if compared.vectors.is_empty() { "lexical" } else { "hybrid" },
        model: compared.vectors.first().map(|it| it.model.clone()),
        lexical_only: compared.lexical_only,
        vectors: compared.vectors,
        notes,
        index: IndexLine::of(freshness),
        took_ms: milliseconds(started),
    }
}

/// Says how long something took, to the microsecond.
pub(crate) fn milliseconds(since: Instant) -> f64 {
    in_milliseconds(since.elapsed())
}

fn in_milliseconds(time: Duration) -> f64 {
    (time.as_secs_f64() * 1e6).round() / 1e3
}

/// Names the types and namespaces that there are, when one of them was asked for.
fn known_kinds(args: &SearchArgs, index: &Index) -> Result<String, CliError> {
    if args.types.is_empty() && args.namespace.is_empty() {
        return Ok(String::new());
    }
    let Kinds { types, namespaces } = index.kinds()?;
    let mut text = String::new();
    let asked = [(&args.types, "types", types), (&args.namespace, "namespaces", namespaces)];
    for (_, name, known) in asked.into_iter().filter(|it| !it.0.is_empty()) {
        match known.is_empty() {
            true => text.push_str(&format!("; there are no {name}")),
            false => text.push_str(&format!("; {name}: {}", known.join(", "))),
        }
    }
    Ok(text)
}

fn is_zero(number: &usize) -> bool {
    *number == 0
}

/// Whether a query says only what is not looked for.
fn only_excludes(query: &str) -> bool {
    let mut words = query.split_whitespace().peekable();
    words.peek().is_some() && words.all(|it| it.len() > 1 && it.starts_with('-'))
}

fn note(note: &Note, query: &str) -> Warning {
    match note {
        Note::PhraseNotFound { phrase } => Warning {
            code: "phrase_not_found",
            message: format!("No exact match for {phrase:?}; searched for its words instead"),
        },
        Note::NothingAsked if only_excludes(query) => Warning {
            code: "nothing_asked",
            message: "the query only excludes; give a word to look for besides".to_owned(),
        },
        Note::NothingAsked => Warning {
            code: "nothing_asked",
            message: "there is nothing to look for in the query".to_owned(),
        },
        Note::OnlyAlike => Warning {
            code: "only_alike",
            message: "no text has any of these words; these hits have similar ones".to_owned(),
        },
        Note::OnlyWeak => Warning {
            code: "only_weak",
            message: "only weak matches; the answer may not be there".to_owned(),
        },
        Note::TooWeak { .. } => Warning {
            code: "too_weak",
            message: "nothing is similar enough; --min-score 0 shows the nearest texts".to_owned(),
        },
        Note::FilteredOut => {
            Warning { code: "filtered_out", message: "no document passes the filters".to_owned() }
        }
    }
}

fn found_hit(hit: Hit, stamps: &StampTable) -> FoundHit {
    let citation = hit.citation();
    let provenance = hit.provenance.resolved(stamps);
    FoundHit {
        citation,
        path: hit.path,
        start_line: hit.start_line,
        end_line: hit.end_line,
        headings: hit.headings,
        date: hit.date.map(|it| it.to_string()),
        score: hit.score,
        weak: hit.is_weak,
        similar: hit.similar,
        matches: hit.matches.iter().map(|it| [it.start, it.end]).collect(),
        memory_type: hit.memory_type,
        namespace: hit.namespace,
        importance: hit.importance,
        trust: Trust::of(&hit.text, provenance.origin.is_some()),
        superseded: false,
        superseded_by: None,
        successor: None,
        text: hit.text,
        provenance,
        explain: hit.explanation.map(|Explanation { parts, terms }| Explained { parts, terms }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_is_told_to_the_microsecond_however_long_it_is() {
        assert!((in_milliseconds(Duration::from_nanos(1_234_567)) - 1.235).abs() < 1e-9);
        assert!((in_milliseconds(Duration::from_hours(2)) - 7_200_000.0).abs() < 1e-9);
    }

    #[test]
    fn a_query_of_exclusions_is_told_from_an_empty_one() {
        for query in ["-zebra", " -zebra  -circus ", "--x"] {
            assert!(only_excludes(query), "{query}");
        }
        for query in ["", " ", "-", "- zebra", "zebra -circus", "???"] {
            assert!(!only_excludes(query), "{query}");
        }
    }
}
