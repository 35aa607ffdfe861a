//! Proposes entries that were recalled often for `MEMORY.md`.

use std::collections::{HashMap, HashSet};

use anemone_format::{Moment, Origin, ProvenanceStamp};
use jiff::civil::Date;

use super::{TidyPlan, TidySettings};
use crate::change::{Change, Edit};
use crate::entry::{Clock, Label, NewEntry};
use crate::page::{render, units};
use crate::reading;
use crate::recall_counts::RecallCount;
use crate::store::{MarkdownStore, PageKind};
use crate::summary::EntrySummary;
use crate::suspicion::suspicious;

/// An entry that could be added to `MEMORY.md`.
#[derive(Clone, Debug, PartialEq)]
pub struct Promotion {
    /// The entry.
    pub entry: EntrySummary,
    /// How often it was recalled.
    pub times: u32,
    /// Whether the user has to name it explicitly: it comes from a page or a tool, or reads like an
    /// instruction.
    pub is_doubtful: bool,
}

/// Finds entries that were recalled often enough and are not in `MEMORY.md`.
pub(super) fn promotions(
    entries: &[EntrySummary],
    counts: &HashMap<String, RecallCount>,
    settings: &TidySettings,
) -> Vec<Promotion> {
    let is_curated = |summary: &&EntrySummary| summary.kind == PageKind::Curated;
    let mut seen: HashSet<&str> =
        entries.iter().filter(is_curated).map(|entry| entry.mark.as_str()).collect();
    let mut found = Vec::new();
    for entry in entries {
        let times = counts.get(&entry.mark).map_or(0, |count| count.times);
        let is_often = times > 0 && times >= settings.promote_recalls;
        if is_often && seen.insert(&entry.mark) {
            let is_foreign = matches!(entry.origin, Some(Origin::Web | Origin::Tool));
            let is_doubtful = is_foreign || !suspicious(&entry.text).is_empty();
            found.push(Promotion { entry: entry.clone(), times, is_doubtful });
        }
    }
    found.sort_by_key(|found| std::cmp::Reverse(found.times));
    found
}

impl TidyPlan {
    /// Returns the proposals with these ids, or without ids those that need not be named; and the
    /// ids without a proposal.
    #[must_use]
    pub fn chosen(&self, ids: Option<&[String]>) -> (Vec<&Promotion>, Vec<String>) {
        let Some(ids) = ids else {
            return (
                self.promotions.iter().filter(|promotion| !promotion.is_doubtful).collect(),
                Vec::new(),
            );
        };
        let named = |id: &String| {
            self.promotions
                .iter()
                .find(|promotion| promotion.entry.id == *id || promotion.entry.mark == *id)
        };
        let unknown = ids.iter().filter(|id| named(id).is_none()).cloned().collect();
        (ids.iter().filter_map(named).collect(), unknown)
    }
}

/// Plans to write proposals into `MEMORY.md`, below a heading of the day; `None` when there is
/// nothing to write, or the file cannot be read.
#[must_use]
pub fn plan_promotion(
    site: &MarkdownStore,
    chosen: &[&Promotion],
    today: Date,
    clock: &dyn Clock,
) -> Option<Change> {
    if chosen.is_empty() {
        return None;
    }
    let path = site.curated().to_owned();
    let there = reading::read(site, &path).ok()?;
    let mut text =
        there.as_ref().map_or_else(|| site.head(PageKind::Curated), |value| value.text.clone());
    let heading = format!("Promoted {today}");
    let last_heading = units(&text).last().and_then(|unit| unit.heading.clone());
    if !text.is_empty() && !text.ends_with('\n') {
        text.push('\n');
    }
    if last_heading.as_ref() != Some(&heading) {
        if !text.is_empty() && !text.ends_with("\n\n") {
            text.push('\n');
        }
        text.push_str(&format!("## {heading}\n\n"));
    }
    let mut stamps = Vec::new();
    for promotion in chosen {
        let given = written(site, &promotion.entry, clock)?;
        text.push_str(&render(&given));
        stamps.push(given.stamp);
    }
    let edit = match &there {
        Some(file) => Edit::replace(&file.seen, text.into_bytes()),
        None => Edit::Write { path, before: None, after: text.into_bytes() },
    };
    Some(Change { stamps, ..Change::new("promote", vec![edit]) })
}

/// Returns the text of an entry for `MEMORY.md`: its whole text, with its source.
fn written(site: &MarkdownStore, entry: &EntrySummary, clock: &dyn Clock) -> Option<NewEntry> {
    let file = reading::read(site, &entry.path).ok()??;
    let unit = units(&file.text).into_iter().find(|unit| unit.lines == entry.lines)?;
    let origin = entry.origin.unwrap_or(Origin::Agent);
    let mut stamp = ProvenanceStamp::new(clock.fresh_id(), origin, Moment::from(clock.now()));
    stamp.source = Some(format!("{}#L{}", entry.path, entry.lines.0));
    let label = unit.label.map(|label| Label { name: label.name, importance: label.importance });
    Some(NewEntry { text: unit.content, key: unit.key, label, tags: Vec::new(), stamp })
}
