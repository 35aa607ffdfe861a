//! `anemone index --watch`

use std::io::{self, Write};
use std::ops::ControlFlow;

use anemone::search::upkeep::{IndexReport, IndexRequest};
use anemone::search::watch::{WatchEvent, WatchMode, watch_index};
use anemone::statement::Statement;
use anemone_messages::warning;
use serde::Serialize;

use super::shown::changes;
use crate::commands::Context;
use crate::output::{DIM, ODD, Report, Result, count, safe};

/// Refreshes an index after every change, until the process is asked to stop.
pub(super) fn watch(request: &IndexRequest, context: &Context<'_>) -> Result<()> {
    let mut printed = Ok(true);
    watch_index(request, &context.host, &mut |event| {
        match event {
            WatchEvent::Updated { mut report, mode } => {
                Statement::word_all(&mut report.warnings, warning);
                printed = context.printer.print_one(&WatchLine { report, mode });
            }
            WatchEvent::Failed(error) => {
                context.printer.print_error(&(*error).into());
            }
        }
        match printed {
            Ok(true) => ControlFlow::Continue(()),
            _ => ControlFlow::Break(()),
        }
    })?;
    printed.map(|_| ())
}

/// One refresh.
#[derive(Serialize)]
struct WatchLine {
    #[serde(flatten)]
    report: Box<IndexReport>,
    #[serde(flatten, skip_serializing_if = "Option::is_none")]
    mode: Option<WatchMode>,
}

impl Report for WatchLine {
    fn write_human(&self, out: &mut dyn Write) -> io::Result<()> {
        let IndexReport { source, index, took_ms, .. } = &*self.report;
        let place = safe(&source.place);
        match &self.mode {
            Some(WatchMode::Looking { why, every }) => {
                let seconds = every.as_secs();
                let why = safe(why);
                writeln!(out, "{ODD}cannot watch{ODD:#} {place}: {why}")?;
                writeln!(out, "{DIM}looking every {seconds} seconds instead{DIM:#}")?;
            }
            Some(WatchMode::Lost { why }) => {
                let why = safe(why);
                writeln!(out, "{ODD}lost count{ODD:#} of changes, so all was looked at: {why}")?;
            }
            Some(WatchMode::Told) => writeln!(out, "{DIM}watching {place}; ctrl-c ends{DIM:#}")?,
            None => {}
        }
        let (documents, chunks) =
            (count(index.documents, "document"), count(index.chunks, "chunk"));
        writeln!(out, "{documents}, {chunks}: {} in {took_ms:.0} ms", changes(index))
    }
}
