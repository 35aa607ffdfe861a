//! `anemone get`

use std::io::{self, Write};
use std::path::PathBuf;

use anemone::search::read::{LineRange, ReadReport, ReadRequest, find_document, read};
use anemone_index::Document;
use anemone_memory::shown;
use anemone_runtimes::{ExcerptQuestion, ExcerptShape, excerpt_shapes};
use clap::Args;
use clap::builder::TypedValueParser;

use super::{Context, print_bytes};
use crate::args::{SourceArgs, one_of};
use crate::output::{DIM, Report, Result, count, json_text, safe};

/// Read lines of a document that search found
///
/// Reads from the same place that search would: give the same -w, -r, --agent or SOURCE. Only
/// documents that are searched can be read, whatever the path says. What is longer than 120 lines
/// (--lines) or 12,000 characters (--chars) is cut, and the result says where to go on.
///
/// Text that goes to a pipe is an exact copy. JSON leaves out invisible characters and says how
/// many there were; a terminal shows a mark for each.
#[derive(Args, Debug)]
pub(crate) struct GetArgs {
    /// The document, as search calls it: PATH, PATH:FROM, PATH:FROM:LINES, or a citation such as
    /// memory/2026-01-15.md#L8-L12
    #[arg(value_name = "PATH[:FROM[:LINES]]")]
    path: String,

    /// The archive, database, folder or file it is in, instead of an agent
    source: Option<PathBuf>,

    #[command(flatten)]
    searched: SourceArgs,

    /// The first line, from 1
    #[arg(long, value_name = "LINE", value_parser = clap::value_parser!(u32).range(1..))]
    from: Option<u32>,

    /// How many lines
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    lines: Option<u32>,

    /// Characters at most, line breaks included: 1 to 100,000,000. A longer line is cut
    #[arg(long, value_name = "N", default_value_t = 12_000, conflicts_with = "shape")]
    #[arg(value_parser = clap::value_parser!(u32).range(1..=100_000_000))]
    chars: u32,

    /// Print the JSON that memory_get of another program returns
    #[arg(long, default_value = OURS, value_parser = shapes())]
    shape: GetShape,
}

/// The name of our own JSON.
const OURS: &str = "anemone";

/// Whose JSON.
#[derive(Clone, Copy, Debug)]
enum GetShape {
    Anemone,
    Native(&'static ExcerptShape),
}

/// Reads the name of a shape.
fn shapes() -> impl TypedValueParser<Value = GetShape> {
    let native = excerpt_shapes().map(|shape| (shape.name, shape.title, GetShape::Native(shape)));
    one_of(std::iter::once((OURS, "Ours", GetShape::Anemone)).chain(native))
}

pub(crate) fn run(args: &GetArgs, context: &Context<'_>) -> Result<()> {
    let lines = LineRange {
        from: args.from.map(|line| line as usize),
        lines: args.lines.map(|count| count as usize),
    };
    let target = args.searched.choice(args.source.clone());
    if let GetShape::Native(shape) = args.shape {
        let machine = context.host.machine()?;
        let found = find_document(&args.path, lines, &target.find(&machine, &context.host)?)?;
        return print_shape(shape, &args.path, found);
    }
    let request =
        ReadRequest { path: args.path.clone(), target, lines, chars: args.chars as usize };
    let mut report = read(&request, &context.host)?;
    if context.printer.is_json() {
        report.clean();
    }
    if context.printer.is_json() || context.environment.stdout_is_terminal {
        return context.printer.print(&report);
    }
    // A copy of the file, with every character, because another program reads it; notes go to
    // stderr.
    let mut text = report.text.clone();
    if report.lines > 0 {
        text.push('\n');
    }
    print_bytes(text.as_bytes())?;
    let mut out = anstream::AutoStream::auto(io::stderr()).lock();
    write_notices(&report, &mut out).ok();
    Ok(())
}

impl Report for ReadReport {
    fn write_human(&self, out: &mut dyn Write) -> io::Result<()> {
        for line in self.text.lines() {
            writeln!(out, "{}", safe(&line.replace('\t', "    ")))?;
        }
        write_notices(self, out)
    }
}

/// Lists the omissions from the text.
fn write_notices(report: &ReadReport, out: &mut dyn Write) -> io::Result<()> {
    let path = safe(&report.path);
    if report.lines == 0 && report.from > 1 {
        let lines = count(report.total_lines as u64, "line");
        writeln!(out, "{DIM}{path} has {lines}{DIM:#}")?;
    }
    if let Some(all) = report.line_chars {
        let line = report.from;
        writeln!(
            out,
            "{DIM}line {line} goes on: it has {all} characters, which --chars {all} reads{DIM:#}"
        )?;
    }
    if let Some(next) = report.next_from.filter(|_| !report.all_asked) {
        writeln!(out, "{DIM}more follows: read on with {path}:{next}{DIM:#}")?;
    }
    Ok(())
}

/// Prints the result in the form of another program's tool, which has no errors for missing
/// documents.
fn print_shape(
    shape: &ExcerptShape,
    path: &str,
    found: Option<(Document, LineRange)>,
) -> Result<()> {
    let (document, range) = found.unzip();
    let LineRange { from, lines } = range.unwrap_or_default();
    let path = document.as_ref().map_or(path, |document| &document.path);
    let text = document.as_ref().map(|document| shown(&document.text));
    let question = ExcerptQuestion { path, text: text.as_deref(), from, lines };
    let answer = (shape.answer)(&question).map_err(io::Error::from)?;
    print_bytes((json_text(&answer)? + "\n").as_bytes())
}
