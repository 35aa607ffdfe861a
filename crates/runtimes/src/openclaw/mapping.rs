//! What becomes of each part of another runtime's snapshot here.

use anemone_format::Record;

use super::{RUNTIME, proof::PROOF, write::home};
use crate::kit::mapping::{FieldRule, Mapping, is_midnight, never, telling_tags, within, without};
use crate::kit::times;

/// What becomes of a snapshot of another runtime.
pub(super) const MAPPINGS: &[Mapping] = &[Mapping {
    runtime: RUNTIME,
    title: "OpenClaw",
    tables: &[include_str!("mapping/rows.txt")],
    fields: FIELDS,
    backend: None,
    backends: &[],
    layouts: &[],
    proof: &PROOF,
}];

const FIELDS: &[FieldRule] = &[
    within(
        "created_at",
        "the day of a daily log; else what the text says, or the file's",
        |record| {
            home(record).day == Some(record.temporal.created_at.utc_date())
                && times::timestamps(&record.content).next().is_none()
        },
    ),
    within("observed_at", "the day, in a comment", |record| {
        let home = home(record);
        record.temporal.observed_at.as_ref().is_none_or(|at| {
            is_midnight(at)
                && (home.day.is_none_or(|day| day == at.utc_date()))
                && (home.day.is_some() || record.source.origin_file.as_deref() != Some(&home.path))
        })
    }),
    without("valid_from", "none"),
    without("valid_until", "none"),
    within("status", "superseded in a comment, beside the day; nothing else", |record| {
        let silent = !record.content.contains("status:");
        match record.status.as_str() {
            "active" => silent,
            "superseded" => silent && record.temporal.observed_at.is_some(),
            _ => false,
        }
    }),
    within("memory_type", "determined by the file", |record| {
        record.memory_type.as_str() == home(record).memory_type
    }),
    within(
        "category",
        "the tag `[category|i=0.9]`, one word; none where it repeats the namespace",
        is_tagged,
    ),
    within(
        "confidence",
        "the tag `[category|i=0.9]`, else a comment from 1 to 10; omitted for 0.5, the default",
        |record| {
            let tenths = record.confidence.unwrap_or(0.0) * 10.0;
            let whole = (tenths - tenths.round()).abs() < 1e-9 && tenths >= 1.0 && tenths != 5.0;
            let silent = !record.content.contains("|i=") && !record.content.contains("importance:");
            silent && (whole || (record.category.is_some() && is_tagged(record)))
        },
    ),
    within(
        "tags",
        "`trigger:` and `project:` as comments, the category as a tag, others in the text",
        |record| {
            telling_tags(record).iter().all(|tag| {
                let noted = |name: &str| {
                    tag.strip_prefix(name).is_some_and(is_a_word_or_more)
                        && !record.content.contains(&format!("<!-- {name}"))
                };
                noted("trigger:") || noted("project:") || is_hashtag(tag, &record.content)
            })
        },
    ),
    without("entities", "none"),
    without("related_records", "none"),
    never("embeddings", "none: OpenClaw recomputes them"),
];

/// Returns whether a record's category and confidence become one tag that is read back.
fn is_tagged(record: &Record) -> bool {
    let plain = |c: char| c.is_alphanumeric() || c == '_';
    let Some(category) = &record.category else { return true };
    let namespace = record.namespace.as_str();
    record.confidence.is_some()
        && !record.content.contains("|i=")
        && namespace.strip_prefix("custom:").unwrap_or(namespace) != category
        && category.chars().count() <= 64
        && category.chars().all(plain)
        && category.chars().any(char::is_alphanumeric)
}

/// Returns whether a value can be written into a comment as it is, and read back unchanged.
fn is_a_word_or_more(value: &str) -> bool {
    let spaced = value.split_whitespace().collect::<Vec<_>>().join(" ");
    !value.is_empty() && value == spaced && !value.contains(',') && !value.contains("--")
}

/// Returns whether a text has a label after a hash sign, and the label ends there.
fn is_hashtag(tag: &str, text: &str) -> bool {
    let plain = |c: char| c.is_alphanumeric() || c == '_';
    let ends = |(at, found): (usize, &str)| !text[at + found.len()..].starts_with(plain);
    let hashed = format!("#{tag}");
    tag.chars().all(plain) && text.match_indices(&hashed).any(ends)
}
