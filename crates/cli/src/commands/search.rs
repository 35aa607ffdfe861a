//! `anemone search`

mod shown;

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use anemone::search::{Citations, SearchHit, SearchReport, SearchRequest, search};
use anemone::statement::Statement;
use anemone_memory::SessionKind;
use anemone_messages::{given_day, warning};
use clap::Args;
use clap::builder::TypedValueParser;
use jiff::civil::Date;

use super::Context;
use super::context::SESSIONS;
use super::ranking::{RankingArgs, large_jobs};
use crate::args::{EmbedderArgs, SourceArgs, one_of};
use crate::output::Result;

/// Find what an agent remembers
///
/// Searches the memory of an agent (-w, -r, --agent), a folder of Markdown, a database of memories or
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
    query: String,

    /// More words to look for; the last argument may be an archive, a database, a folder or a file
    /// to search
    #[arg(value_name = "WORD|SOURCE")]
    more: Vec<OsString>,

    /// Search this archive, database, folder or file instead of an agent
    #[arg(long = "in", value_name = "SOURCE", help_heading = SOURCE_HEADING)]
    source: Option<PathBuf>,

    #[command(flatten, next_help_heading = SOURCE_HEADING)]
    searched: SourceArgs,

    /// Show at most N hits, 1 to 1000 [default: the settings, else 6]
    #[arg(long, value_name = "N", help_heading = "Filters")]
    #[arg(value_parser = clap::value_parser!(u32).range(1..=1000))]
    limit: Option<u32>,

    /// Show only what is dated on or after this day: 2026-03-01, today, yesterday, 7d, 2w, 3m, 1y.
    /// Today is that of the local time zone
    #[arg(long, value_name = "DAY", help_heading = "Filters")]
    since: Option<String>,

    /// Show only what is dated on or before this day
    #[arg(long, value_name = "DAY", help_heading = "Filters")]
    until: Option<String>,

    /// Show only memories of this type, such as semantic or episodic; may be repeated
    #[arg(long = "type", value_name = "TYPE", help_heading = "Filters")]
    types: Vec<String>,

    /// Show only memories of this namespace, such as daily; may be repeated
    #[arg(long, value_name = "NAME", help_heading = "Filters")]
    namespace: Vec<String>,

    /// Show only documents below this folder or with paths like this, where * stops at a slash and
    /// ** does not; may be repeated
    #[arg(long, value_name = "GLOB", help_heading = "Filters")]
    path: Vec<String>,

    #[command(flatten, next_help_heading = "Ranking")]
    ranking: RankingArgs,

    /// Whether to cite hits by path and lines; auto does, except for a group
    #[arg(long, value_name = "MODE", default_value = Citations::Auto.as_str(), value_parser = citations())]
    #[arg(help_heading = "Output")]
    citations: Citations,

    /// The kind of session that the hits are for
    #[arg(long, value_name = "KIND", value_parser = one_of(SESSIONS), help_heading = "Output")]
    session: Option<SessionKind>,

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

pub(crate) fn run(args: &SearchArgs, context: &Context<'_>) -> Result<SearchReport> {
    let request = args.request(context.host.today())?;
    let mut found = search(&request, &context.host)?;
    // People see a mark for each, see `safe`.
    if context.printer.is_json() {
        found.hits.iter_mut().for_each(SearchHit::clean);
    }
    Statement::word_all(&mut found.notes, warning);
    Ok(found)
}

/// Reads the name of a mode of citing.
pub(super) fn citations() -> impl TypedValueParser<Value = Citations> {
    one_of([
        ("auto", "On, except for a group", Citations::Auto),
        ("on", "Path and lines with every hit", Citations::On),
        ("off", "Neither path nor lines with a hit", Citations::Off),
    ])
}

/// File extensions that make an argument a path to search, whether it exists or not.
const SOURCE_ENDINGS: [&str; 5] = ["alf", "alf-delta", "db", "age", "md"];

/// Whether an argument names a source, rather than a word of the query.
fn is_source(argument: &Path) -> bool {
    let ending = argument.extension().and_then(|extension| extension.to_str()).unwrap_or_default();
    let text = argument.to_string_lossy();
    let is_path = text.contains(std::path::is_separator) && !text.contains(char::is_whitespace);
    is_path || SOURCE_ENDINGS.contains(&ending) || argument.exists()
}

impl SearchArgs {
    /// Joins the words of the query, and takes the last argument for the source where it is one.
    fn request(&self, today: Date) -> Result<SearchRequest> {
        let mut path = self.source.clone();
        let mut more = self.more.as_slice();
        if let Some((last, before)) = more.split_last() {
            let last = Path::new(last);
            self.ranking.check_source(Some(last))?;
            let has_workspace = self.searched.agent.workspace.is_some();
            let is_bare = last.extension().is_none() && last.components().count() == 1;
            // With -w a name such as `docs` is a word, whatever is in the current folder.
            if path.is_none() && is_source(last) && !(has_workspace && is_bare) {
                path = Some(last.to_owned());
                more = before;
            }
        }
        let mut words: Vec<String> = vec![self.query.clone()];
        words.extend(more.iter().map(|word| word.to_string_lossy().into_owned()));
        Ok(SearchRequest {
            query: words.join(" "),
            target: self.searched.choice(path),
            limit: self.limit,
            since: given_day("--since", self.since.as_deref(), today)?,
            until: given_day("--until", self.until.as_deref(), today)?,
            types: self.types.clone(),
            namespaces: self.namespace.clone(),
            paths: self.path.clone(),
            ranking: self.ranking.choice(),
            citations: self.citations,
            session: self.session,
            explain: self.explain,
            embedder: self.embedder.choice(),
            large_jobs: large_jobs(self.yes),
        })
    }
}
