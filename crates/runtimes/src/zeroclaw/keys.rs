//! Keys for records of other runtimes, in rows and in files: short, readable, and the same every
//! time.

use std::collections::HashMap;

use anemone_format::Record;
use jiff::civil::Date;

use super::schema::PRIVATE_KEY;
use crate::kit::RawPlace;

/// The longest key that is generated.
const MAX_MADE_CHARS: usize = 60;
/// The longest key that another runtime may bring.
const MAX_BROUGHT_BYTES: usize = 500;

/// Returns the key that a record would have if it were alone.
pub(super) fn natural(record: &Record, content: &str) -> String {
    let named = RawPlace::of(record);
    let brought = named.key.as_str().map(str::trim);
    if let Some(key) = brought.filter(|key| !key.is_empty() && key.len() <= MAX_BROUGHT_BYTES) {
        // Such a key would be read as a private one.
        return match key.strip_prefix(PRIVATE_KEY) {
            Some(rest) => format!("p_{rest}"),
            None => key.to_owned(),
        };
    }
    let slug = |line: &str| slug(line.chars().flat_map(char::to_lowercase), MAX_MADE_CHARS);
    let mut key = slug(named.heading.as_str().unwrap_or_default());
    if key.is_empty() {
        key = content.lines().map(slug).find(|slug| !slug.is_empty()).unwrap_or_default();
    }
    let prefix = match record.namespace.as_str() {
        "daily" => date_of(record).strftime("%Y_%m_%d").to_string(),
        "procedural" => "rule".to_owned(),
        _ => String::new(),
    };
    // A heading of a daily file often is the date.
    let key = key.strip_prefix(&*prefix).unwrap_or(&key).trim_matches('_').to_owned();
    match (prefix.is_empty(), key.is_empty()) {
        (true, true) => "memory".to_owned(),
        (true, false) => key,
        (false, true) => prefix,
        (false, false) => format!("{prefix}_{key}"),
    }
}

/// Returns the day of a daily record.
fn date_of(record: &Record) -> Date {
    let name = record.source.origin_file.as_deref().and_then(|path| path.rsplit('/').next());
    let date = name.and_then(|name| name.get(..10)).and_then(|date| date.parse().ok());
    let temporal = &record.temporal;
    date.unwrap_or_else(|| temporal.observed_at.as_ref().unwrap_or(&temporal.created_at).utc_date())
}

/// Makes a key from a text in lower case: letters of any script, digits, and `_` for the rest.
pub(super) fn slug(text: impl Iterator<Item = char>, max_chars: usize) -> String {
    let mut slug = String::new();
    let mut count = 0;
    for char in text {
        if count == max_chars {
            break;
        }
        if char.is_alphanumeric() {
            slug.push(char);
            count += 1;
        } else if !slug.is_empty() && !slug.ends_with('_') {
            slug.push('_');
            count += 1;
        }
    }
    slug.truncate(slug.trim_end_matches('_').len());
    slug
}

/// Gives every record a unique key.
#[derive(Default)]
pub(super) struct Keys {
    /// Keys that are taken, each with the number that the next record with that key tries first.
    taken: HashMap<Box<str>, u64>,
}

impl Keys {
    /// Reserves a key; returns false if it is taken.
    pub(super) fn take(&mut self, key: &str) -> bool {
        if self.taken.contains_key(key) {
            return false;
        }
        self.taken.insert(key.into(), 2);
        true
    }

    /// Takes the first free one of `key`, `key_2`, `key_3` and so on.
    pub(super) fn take_like(&mut self, key: &str) -> String {
        if self.take(key) {
            return key.to_owned();
        }
        let mut number = self.taken.get(key).copied().unwrap_or(2);
        loop {
            let other = format!("{key}_{number}");
            number = number.saturating_add(1);
            if self.take(&other) {
                self.taken.insert(key.into(), number);
                return other;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use anemone_format::{AgentId, Opaque, RecordId};
    use uuid::Uuid;

    use super::*;

    fn record(namespace: &str, raw: &str) -> Record {
        let at = "2026-01-15T23:30:00-08:00".parse().unwrap();
        let (id, agent) = (RecordId::new(Uuid::from_u128(1)), AgentId::new(Uuid::from_u128(2)));
        let mut record = Record::new(id, agent, "openclaw", at, "x");
        record.namespace = namespace.to_owned();
        let raw: serde_json::Value = serde_json::from_str(raw).unwrap();
        record.raw_source_format = Some(Opaque::new(&raw).unwrap());
        record
    }

    #[test]
    fn a_key_is_made_of_what_people_see() {
        for (namespace, raw, content, expected) in [
            ("curated", r#"{"heading":"Preferences & Style!"}"#, "x", "preferences_style"),
            ("curated", "{}", "\n\n## Über Größe\ntext", "über_größe"),
            ("curated", "{}", "东京办公室 周一", "东京办公室_周一"),
            ("curated", "{}", "🦀🦀\n---", "memory"),
            ("facts", r#"{"key":" pg_pool "}"#, "x", "pg_pool"),
            ("facts", r#"{"key":"p|3:a"}"#, "x", "p_3:a"),
            ("facts", r#"{"key":7,"heading":["x"]}"#, "- **bold** move", "bold_move"),
            ("daily", r#"{"heading":"Standup"}"#, "x", "2026_01_16_standup"),
            ("daily", r#"{"heading":"2026-01-16 Friday"}"#, "x", "2026_01_16_friday"),
            ("daily", r#"{"heading":"2026-01-16"}"#, "x", "2026_01_16"),
        ] {
            assert_eq!(natural(&record(namespace, raw), content), expected, "{raw} {content}");
        }
    }

    #[test]
    fn the_day_is_the_one_of_the_file() {
        let mut daily = record("daily", r#"{"heading":"Standup"}"#);
        daily.source.origin_file = Some("memory/2025-12-31-notes.md".to_owned());
        assert_eq!(natural(&daily, "x"), "2025_12_31_standup");
        daily.source.origin_file = Some("memory/ünïcode-näme.md".to_owned());
        assert_eq!(natural(&daily, "x"), "2026_01_16_standup");
    }

    #[test]
    fn a_rule_says_so() {
        let rule = record("procedural", r#"{"heading":"No force push"}"#);
        assert_eq!(natural(&rule, "x"), "rule_no_force_push");
    }

    #[test]
    fn no_made_key_is_long() {
        let key = natural(&record("curated", "{}"), &"wörd ".repeat(100));
        assert!(key.chars().count() <= 60 && key.ends_with("wörd"), "{key}");
    }

    #[test]
    fn namesakes_are_numbered() {
        let mut keys = Keys::default();
        assert!(keys.take("a_3"));
        let taken: Vec<String> = (0..4).map(|_| keys.take_like("a")).collect();
        assert_eq!(taken, ["a", "a_2", "a_4", "a_5"]);
    }
}
