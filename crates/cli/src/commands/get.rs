//! `anemone get`

mod place;

use std::io::{self, Write};
use std::path::PathBuf;

use anemone_index::{Document, Excerpt, ExcerptLimits, MemoryGet3, MemoryGet9};
use anemone_memory::{hidden_count, shown, suspicion_reason};
use clap::{Args, ValueEnum};
use serde::Serialize;

use super::{Context, print_bytes};
use crate::args::SourceArgs;
use crate::error::{CliError, Kind};
use crate::nearest::Nearest;
use crate::output::{DIM, Report, count, json_text, safe};
use crate::search_index::{each_document, find, read_document};
use crate::searched::SearchTarget;
pub(crate) use place::{Place, split};

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
    #[arg(long, value_enum, default_value_t = Shape::Anemone)]
    shape: Shape,
}

/// Whose JSON.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Shape {
    /// Ours
    Anemone,
    /// OpenClaw 2026.3
    #[value(name = "openclaw-2026.3")]
    OpenClawThree,
    /// OpenClaw 2026.9
    #[value(name = "openclaw-2026.9")]
    OpenClawNine,
}

#[derive(Serialize)]
struct Got {
    ok: bool,
    path: String,
    from: usize,
    lines: usize,
    text: String,
    truncated: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    next_from: Option<usize>,
    /// Whether the one line is longer than what is read at once.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    cut: bool,
    /// How many characters the cut line has: `--chars` reads all of it.
    #[serde(skip_serializing_if = "Option::is_none")]
    line_chars: Option<usize>,
    /// How many lines the document has.
    total_lines: usize,
    /// How many characters that nobody sees were left out of the text.
    #[serde(skip_serializing_if = "Option::is_none")]
    hidden_characters: Option<usize>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    suspicious: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    suspicion_reason: Option<String>,
    /// Whether these are all the lines that were asked for.
    #[serde(skip)]
    all_asked: bool,
}

pub(crate) fn run(args: &GetArgs, context: &Context<'_>) -> Result<(), CliError> {
    let machine = context.host.machine()?;
    let searched = find(&args.searched.choice(), args.source.as_deref(), &machine, &context.host)?;
    let lines =
        Place { from: args.from.map(|it| it as usize), lines: args.lines.map(|it| it as usize) };
    let found = document(&args.path, lines, &searched)?;
    if args.shape != Shape::Anemone {
        return print_shape(args.shape, &args.path, found);
    }
    let Some((document, place)) = found else { return Err(not_found(&args.path, &searched)) };
    let limits = ExcerptLimits { chars: args.chars as usize, ..ExcerptLimits::default() };
    let excerpt = Excerpt::of(&document.text, place.from, place.lines, &limits);
    let suspicion_reason = suspicion_reason(&excerpt.text);
    let mut got = Got {
        ok: true,
        path: document.path,
        from: excerpt.from,
        lines: excerpt.lines,
        truncated: excerpt.truncated,
        next_from: excerpt.next_from,
        cut: excerpt.cut,
        line_chars: excerpt.line_chars,
        total_lines: excerpt.total_lines,
        hidden_characters: Some(hidden_count(&excerpt.text)).filter(|count| *count > 0),
        suspicious: suspicion_reason.is_some(),
        suspicion_reason,
        text: excerpt.text,
        all_asked: place.lines == Some(excerpt.lines),
    };
    if context.printer.is_json() {
        got.text = shown(&got.text);
    }
    if context.printer.is_json() || context.environment.stdout_is_terminal {
        return context.printer.print(&got);
    }
    // A copy of the file, with every character, because another program reads it; notes go to
    // stderr.
    let mut text = got.text.clone();
    if got.lines > 0 {
        text.push('\n');
    }
    print_bytes(text.as_bytes())?;
    let mut out = anstream::AutoStream::auto(io::stderr()).lock();
    got.write_notices(&mut out).ok();
    Ok(())
}

/// Returns the document and the lines that are meant. A path may look as if lines were named in
/// it, so it is taken as it is first.
pub(crate) fn document(
    named: &str,
    lines: Place,
    searched: &SearchTarget,
) -> Result<Option<(Document, Place)>, CliError> {
    if let Some(document) = read_named(searched, named)? {
        return Ok(Some((document, lines)));
    }
    let Some((path, place)) = place::split(named) else { return Ok(None) };
    let Some(document) = read_named(searched, path)? else { return Ok(None) };
    if lines != Place::default() {
        return Err(CliError::new(Kind::Usage, "usage", "the lines are named twice")
            .hint("give them behind the path, or with --from and --lines"));
    }
    Ok(Some((document, place)))
}

/// Reads the document of a path, which may begin with `./` as shells complete it.
fn read_named(searched: &SearchTarget, path: &str) -> Result<Option<Document>, CliError> {
    match (read_document(searched, path)?, path.strip_prefix("./")) {
        (None, Some(path)) => read_document(searched, path),
        (found, _) => Ok(found),
    }
}

/// Says that there is no such document, and which ones have a similar name.
pub(crate) fn not_found(path: &str, searched: &SearchTarget) -> CliError {
    // What cannot be read is no document whose lines were named wrongly.
    let is_there = |path: &&str| read_named(searched, path).is_ok_and(|it| it.is_some());
    if let Some(document) = place::without_end(path).find(is_there) {
        let message = format!("{:?} names no lines of {document}", &path[document.len()..]);
        return CliError::new(Kind::Usage, "usage", message)
            .hint("lines start at 1: PATH:FROM, PATH:FROM:LINES, PATH#L8 or PATH#L8-L12");
    }
    let message = format!("there is no document {path:?} in {}", searched.place.display());
    let error = CliError::new(Kind::Failed, "document_not_found", message);
    let wanted = place::split(path).map_or(path, |(path, _)| path);
    let mut nearest = Nearest::to(wanted);
    // A source that cannot be read has no names to offer.
    each_document(searched, &mut |document| nearest.offer(document.path)).ok();
    match nearest.into_names() {
        names if names.is_empty() => error.hint("use a path as `anemone search` prints it"),
        names => error.hint(format!("similar are: {}", names.join(", "))),
    }
}

impl Report for Got {
    fn write_human(&self, out: &mut dyn Write) -> io::Result<()> {
        for line in self.text.lines() {
            writeln!(out, "{}", safe(&line.replace('\t', "    ")))?;
        }
        self.write_notices(out)
    }
}

impl Got {
    /// Says what is not in the text.
    fn write_notices(&self, out: &mut dyn Write) -> io::Result<()> {
        let path = safe(&self.path);
        if self.lines == 0 && self.from > 1 {
            let lines = count(self.total_lines as u64, "line");
            writeln!(out, "{DIM}{path} has {lines}{DIM:#}")?;
        }
        if let Some(all) = self.line_chars {
            let line = self.from;
            writeln!(
                out,
                "{DIM}line {line} goes on: it has {all} characters, which --chars {all} reads{DIM:#}"
            )?;
        }
        if let Some(next) = self.next_from.filter(|_| !self.all_asked) {
            writeln!(out, "{DIM}more follows: read on with {path}:{next}{DIM:#}")?;
        }
        Ok(())
    }
}

/// Prints what another program's tool returns; it has no errors for what is not there.
fn print_shape(shape: Shape, path: &str, found: Option<(Document, Place)>) -> Result<(), CliError> {
    let (document, place) = found.unzip();
    let Place { from, lines } = place.unwrap_or_default();
    let path = document.as_ref().map_or(path, |it| &it.path);
    let text = document.as_ref().map(|it| shown(&it.text));
    let text = text.as_deref();
    let text = match shape {
        Shape::OpenClawNine => json_text(&MemoryGet9::of(path, text, from, lines, None))?,
        Shape::OpenClawThree | Shape::Anemone => {
            json_text(&MemoryGet3::of(path, text, from, lines))?
        }
    };
    print_bytes((text + "\n").as_bytes())
}
