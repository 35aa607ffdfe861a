//! `anemone eval`

use std::io::{self, Write};
use std::path::PathBuf;

use anemone::embedder::VectorLine;
use anemone::search::eval::{
    EvalReport, EvalRequest, Figures, RelevantLine, VectorShare, evaluate,
};
use anemone::statement::Statement;
use anemone_messages::warning;
use clap::Args;

use super::Context;
use super::ranking::{RankingArgs, large_jobs};
use crate::args::{EmbedderArgs, SourceArgs};
use crate::output::{BOLD, DIM, Report, Result, count, safe, title, write_notes};

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

pub(crate) fn run(args: &EvalArgs, context: &Context<'_>) -> Result<EvalReport> {
    args.ranking.check_source(args.source.as_deref())?;
    let request = EvalRequest {
        target: args.searched.choice(args.source.clone()),
        queries: args.queries.clone(),
        categories: args.category.clone(),
        limit: args.limit,
        ranking: args.ranking.choice(),
        embedder: args.embedder.choice(),
        large_jobs: large_jobs(args.yes),
        misses: args.misses,
    };
    let mut report = evaluate(&request, &context.host)?;
    Statement::word_all(&mut report.warnings, warning);
    Ok(report)
}

impl Report for EvalReport {
    fn write_human(&self, out: &mut dyn Write) -> io::Result<()> {
        for miss in self.misses.iter().flatten() {
            writeln!(out, "{BOLD}{}{BOLD:#}  {}", safe(&miss.id), title(&miss.query))?;
            for RelevantLine { path, line } in &miss.missing {
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
        for VectorShare { line: VectorLine { model, provider, .. }, share } in &self.vectors {
            writeln!(out, "vectors of {} ({provider}): {share}% of chunks", safe(model))?;
        }
        let warnings = self.warnings.iter().filter_map(Statement::words);
        write_notes(warnings.map(|warning| &warning.message), out)
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
