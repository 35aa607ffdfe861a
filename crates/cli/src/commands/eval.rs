//! `anemone eval`

mod metrics;
mod queries;

use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, Write};
use std::path::PathBuf;
use std::time::Instant;

use anemone_index::{Index, Replace, Request};
use clap::Args;
use serde::Serialize;

use super::Context;
use super::ranking::{RankingArgs, Settings};
use super::search::{Choosing, Compared, SourceLine, milliseconds};
use crate::args::EmbedderArgs;
use crate::args::SourceArgs;
use crate::embedder::{
    Choice, Embedders, Filling, LatencyBudget, Signals, Stop, VectorLine, fill, take_carried_for,
    top_up,
};
use crate::error::{CliError, Kind};
use crate::output::{BOLD, DIM, ODD, Report, count, safe, title};
use crate::search_index::{IndexFallback, Warning, find, open_fresh};
use crate::searched::SearchTarget;
use metrics::{Figures, Line, Outcome, Returned};
use queries::{Category, Query};

/// Measure search quality on your own questions
///
/// Asks every question in a file and compares the hits with the lines that answer it. The file has
/// one JSON object per line: {"id","query","category","relevant":[{"path","line"}]}.
///
/// recall_at_k: share of the relevant lines in the first k hits. hit_at_5: questions with a
/// relevant line in the first 5. mrr: 1 divided by the rank of the first hit that has one.
/// recall_4k: share of the relevant lines in the first 4,000 characters of text returned.
/// empty_rate: questions without any hit. All are percentages, averaged over the questions.
///
/// With --embedder all vectors of that embedder are filled in first.
#[derive(Args, Debug)]
pub(crate) struct EvalArgs {
    /// An archive, a database, a folder or a file to search, instead of an agent
    source: Option<PathBuf>,

    #[command(flatten)]
    searched: SourceArgs,

    /// The questions with their answers, one JSON object per line
    #[arg(long, value_name = "FILE")]
    queries: PathBuf,

    /// Ask only the questions of this category; may be given more than once
    #[arg(long, value_name = "NAME")]
    category: Vec<String>,

    /// Number of hits to ask for: 10 to 1000
    #[arg(long, value_name = "N", default_value_t = 100)]
    #[arg(value_parser = clap::value_parser!(u32).range(10..=1000))]
    limit: u32,

    #[command(flatten)]
    ranking: RankingArgs,

    #[command(flatten)]
    embedder: EmbedderArgs,

    /// Send a large job to a service that is named
    #[arg(long, requires = "embedder")]
    yes: bool,

    /// List the questions whose answers are not all in the first 4,000 characters
    #[arg(long)]
    misses: bool,
}

#[derive(Serialize)]
pub(crate) struct Evaluated {
    ok: bool,
    source: SourceLine,
    queries: u64,
    /// Questions without relevant lines, which no average counts.
    #[serde(skip_serializing_if = "is_zero")]
    without_answer: u64,
    overall: Figures,
    by_category: BTreeMap<Category, Figures>,
    settings: Settings,
    /// The models whose vectors were compared, the one that counts most first.
    vectors: Vec<Share>,
    warnings: Vec<Warning>,
    #[serde(skip_serializing_if = "Option::is_none")]
    misses: Option<Vec<Miss>>,
}

/// Vectors of one model, and how much of the index they cover.
#[derive(Serialize)]
struct Share {
    #[serde(flatten)]
    line: VectorLine,
    /// Chunks that have vectors, in percent.
    share: f64,
}

impl Share {
    fn of(line: VectorLine) -> Self {
        let all = (line.chunks + line.missing).max(1);
        Self { share: (line.chunks as f64 / all as f64 * 1e4).round() / 1e2, line }
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands it so")]
fn is_zero(number: &u64) -> bool {
    *number == 0
}

/// A question whose answer is not all there.
#[derive(Serialize)]
struct Miss {
    id: String,
    query: String,
    category: Category,
    missing: Vec<Line>,
}

pub(crate) fn run(args: &EvalArgs, context: &Context<'_>) -> Result<Evaluated, CliError> {
    let queries = queries::read(&args.queries)?;
    let is_wanted = |it: &Query| {
        args.category.is_empty() || args.category.iter().any(|name| it.category.is_called(name))
    };
    let queries: Vec<_> = queries.into_iter().filter(is_wanted).collect();
    if queries.is_empty() {
        let message = match args.category.is_empty() {
            true => "there is no question in the file",
            false => "no question is of such a category",
        };
        return Err(CliError::new(Kind::Failed, "no_questions", message)
            .about(&args.queries)
            .hint("give one JSON object a line; --category takes what they say of themselves"));
    }
    args.ranking.check_source(args.source.as_deref())?;
    args.embedder.choice().check()?;
    let machine = context.host.machine()?;
    let searched = find(&args.searched.choice(), args.source.as_deref(), &machine, &context.host)?;
    let mut opened = open_fresh(&searched, &context.host, false, IndexFallback::Temporary)?;
    let stop = Stop::default();
    let haste = match args.embedder.choice().is_named() {
        true => LatencyBudget::Vectors(stop.clone()),
        false => LatencyBudget::Answer,
    };
    let choice = Choosing { args: &args.embedder, ranking: &args.ranking, yes: args.yes };
    let mut embedders = choice.embedders(&opened.index, &searched, &haste, context)?;
    if prepare(args, &mut opened.index, &searched, &mut embedders, &stop, context)? {
        opened.look_again(&searched, &context.host)?;
    }
    let mut warnings = std::mem::take(&mut opened.warnings);
    warnings.append(&mut embedders.notes);
    warnings.extend(nowhere(&queries, &opened.index)?);

    let now = context.host.now();
    let mut outcomes = Vec::new();
    let mut misses = Vec::new();
    let mut without_answer = 0;
    let mut compared: Option<Compared> = None;
    for query in &queries {
        let mut request = Request::new(query.query.clone(), now);
        request.limit = args.limit as usize;
        args.ranking.apply(&mut request);
        let started = Instant::now();
        let answer = opened.search(&request, &searched, &context.host, &embedders.list())?;
        let took_ms = milliseconds(started);
        // What becomes of the embedders is said once; one that fails later on says so too.
        let now = Compared::of(&answer.legs, &embedders);
        // Figures of another embedder than the one that was named are worth nothing.
        if let Some(note) = now.failure().filter(|_| args.embedder.choice().is_named()) {
            return Err(CliError::new(Kind::Failed, note.code, note.message.clone()));
        }
        let news = now.notes.iter().filter(|it| !warnings.contains(it)).cloned();
        warnings.extend(news.collect::<Vec<_>>());
        compared.get_or_insert(now);
        if query.relevant.is_empty() {
            without_answer += 1;
            continue;
        }
        let returned: Vec<_> = answer.hits.iter().map(Returned::of).collect();
        let (outcome, missing) = Outcome::of(&query.relevant, &returned, took_ms);
        if !missing.is_empty() {
            let (id, text) = (query.id.clone(), query.query.clone());
            misses.push(Miss { id, query: text, category: query.category.clone(), missing });
        }
        outcomes.push((query.category.clone(), outcome));
    }
    if outcomes.is_empty() {
        let message = "no question says which lines answer it";
        return Err(CliError::new(Kind::Failed, "no_answers", message)
            .about(&args.queries)
            .hint("give each question \"relevant\": [{\"path\": ..., \"line\": ...}]"));
    }
    let mut by_category: BTreeMap<Category, Vec<&Outcome>> = BTreeMap::new();
    for (category, outcome) in &outcomes {
        by_category.entry(category.clone()).or_default().push(outcome);
    }
    let all: Vec<_> = outcomes.iter().map(|(_, outcome)| outcome).collect();
    Ok(Evaluated {
        ok: true,
        source: SourceLine::of(&searched),
        queries: queries.len() as u64,
        without_answer,
        overall: Figures::of(&all),
        by_category: by_category.iter().map(|(it, some)| (it.clone(), Figures::of(some))).collect(),
        settings: args.ranking.settings(args.limit, asked(&embedders)),
        vectors: compared.into_iter().flat_map(|it| it.vectors).map(Share::of).collect(),
        warnings,
        misses: args.misses.then_some(misses),
    })
}

/// Names what compares meanings.
fn asked(embedders: &Embedders) -> Choice {
    let main = embedders.main.as_ref();
    main.map_or(Choice::None, |it| Choice::This(it.wanted.clone()))
}

/// Fills in vectors: all of an embedder that was named, otherwise the few that are missing. Says
/// whether anything may have been written.
fn prepare(
    args: &EvalArgs,
    index: &mut Index,
    searched: &SearchTarget,
    embedders: &mut Embedders,
    stop: &Stop,
    context: &Context<'_>,
) -> Result<bool, CliError> {
    match &embedders.main {
        _ if !args.ranking.is_ours() => {
            let mut request = Request::new("", context.host.now());
            args.ranking.apply(&mut request);
            take_carried_for(&request, index, searched, embedders).map(|()| true)
        }
        Some(main) if args.embedder.choice().is_named() && main.is_work() => {
            let (replace, signals) = (Replace::No, Signals::Filling);
            let filling = Filling { replace, yes: args.yes, stop, signals };
            fill(index, searched, main, &filling, &context.host).map(|_| true)
        }
        _ => top_up(index, searched, embedders),
    }
}

/// Warns of answers that nobody can find.
fn nowhere(queries: &[Query], index: &Index) -> Result<Vec<Warning>, CliError> {
    let relevant = || queries.iter().flat_map(|it| &it.relevant);
    let paths: BTreeSet<&str> = relevant().map(|it| &*it.path).collect();
    let lines = index.lines(paths.iter().copied())?;
    let lines: BTreeMap<&str, Option<u64>> = paths.into_iter().zip(lines).collect();
    let (mut documents, mut beyond) = (Vec::new(), Vec::new());
    for it in relevant() {
        match lines.get(&*it.path).copied().flatten() {
            None => documents.push(it),
            Some(last) if it.line == 0 || u64::from(it.line) > last => beyond.push(it),
            Some(_) => {}
        }
    }
    let number = |lines: &[&Line]| count(lines.len() as u64, "relevant line");
    let mut warnings = Vec::new();
    if let Some(first) = documents.first() {
        let number = number(&documents);
        let message = format!("{number} of documents that are not there, such as {:?}", first.path);
        warnings.push(Warning { code: "unknown_path", message });
    }
    if let Some(Line { path, line }) = beyond.first() {
        let number = number(&beyond);
        let message = format!("{number} that the documents do not have, such as {path}#L{line}");
        warnings.push(Warning { code: "unknown_line", message });
    }
    Ok(warnings)
}

impl Report for Evaluated {
    fn write_human(&self, out: &mut dyn Write) -> io::Result<()> {
        for miss in self.misses.iter().flatten() {
            writeln!(out, "{BOLD}{}{BOLD:#}  {}", safe(&miss.id), title(&miss.query))?;
            for Line { path, line } in &miss.missing {
                writeln!(out, "  {DIM}missing{DIM:#} {}#L{line}", safe(path))?;
            }
        }
        writeln!(
            out,
            "{DIM}{:<12} {:>7} {:>9} {:>9} {:>8} {:>8} {:>8} {:>7} {:>7} {:>7}{DIM:#}",
            "category",
            "queries",
            "recall_4k",
            "recall@10",
            "recall@5",
            "hit@5",
            "mrr",
            "empty",
            "p50 ms",
            "p99 ms"
        )?;
        for (category, figures) in &self.by_category {
            write_figures(out, &title(&category.to_string()), figures)?;
        }
        write_figures(out, "overall", &self.overall)?;
        if self.without_answer > 0 {
            let without = count(self.without_answer, "question");
            writeln!(out, "{without} without relevant lines, which no average counts")?;
        }
        for Share { line: VectorLine { model, provider, .. }, share } in &self.vectors {
            writeln!(out, "vectors of {} ({provider}): {share}% of chunks", safe(model))?;
        }
        for warning in &self.warnings {
            writeln!(out, "{ODD}note:{ODD:#} {}", safe(&warning.message))?;
        }
        Ok(())
    }
}

fn write_figures(out: &mut dyn Write, name: &str, figures: &Figures) -> io::Result<()> {
    writeln!(
        out,
        "{name:<12} {:>7} {:>9.2} {:>9.2} {:>8.2} {:>8.2} {:>8.2} {:>7.2} {:>7.2} {:>7.2}",
        figures.queries,
        figures.recall_4k,
        figures.recall_at_10,
        figures.recall_at_5,
        figures.hit_at_5,
        figures.mrr,
        figures.empty_rate,
        figures.p50_ms,
        figures.p99_ms
    )
}
