//! What a runtime's own configuration says about memory, in terms of the settings of Anemone.
//!
//! A configuration is written by hand, by other programs and by other versions: a value of a wrong
//! type is noted and never an error. Keys to services are not read.

use std::fmt;
use std::path::PathBuf;

use anemone_secrets::for_display;
use serde::{Serialize, Serializer};
use serde_json::Value;

use crate::kit::PlaceProblem;
use crate::kit::word_enum::word_enum;

/// The longest text that is taken from a configuration, in bytes.
const MAX_TEXT: usize = 64 << 10;
/// The most texts of a list.
const MAX_LIST: usize = 1000;
/// The largest count that is taken: far above any limit, far below any overflow.
const MAX_COUNT: f64 = 1e12;

word_enum! {
    /// A setting that a runtime's configuration can decide, by its name in `config.toml`.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
    pub enum SettingKey {
        /// Whether the agent's memory is searched for the agent.
        SearchEnabled = "search.enabled",
        /// Whether conversations are searched.
        SearchSessions = "search.sessions",
        /// Places outside the workspace that are searched.
        SearchExtraPaths = "search.extra_paths",
        /// How many hits are shown.
        SearchLimit = "search.limit",
        /// The least score of a hit.
        SearchMinScore = "search.min_score",
        /// How similar hits are avoided.
        SearchDiversity = "search.diversity",
        /// Days after which age counts half.
        SearchRecencyDays = "search.recency_days",
        /// The weight of meanings.
        SearchVectorWeight = "search.vector_weight",
        /// The weight of words.
        SearchTextWeight = "search.text_weight",
        /// Candidates for each hit.
        SearchCandidateMultiplier = "search.candidate_multiplier",
        /// Tokens of a chunk.
        SearchChunkTokens = "search.chunk_tokens",
        /// Tokens that chunks share.
        SearchChunkOverlap = "search.chunk_overlap",
        /// Whether hits are cited.
        SearchCitations = "search.citations",
        /// What compares meanings.
        Embedder = "embedding.embedder",
        /// What compares meanings if that fails.
        EmbedderFallback = "embedding.fallback",
        /// The address of the service.
        EmbedderUrl = "embedding.url",
        /// The length of its vectors.
        EmbedderDimensions = "embedding.dimensions",
        /// Whether memories are saved before a compaction.
        FlushEnabled = "flush.enabled",
        /// Tokens before the compaction at which that begins.
        FlushSoftTokens = "flush.soft_tokens",
        /// Tokens that the compaction needs.
        FlushReserveTokens = "flush.reserve_tokens",
        /// The size of a transcript that is always saved.
        FlushTranscriptBytes = "flush.transcript_bytes",
        /// What the agent is asked then.
        FlushPrompt = "flush.prompt",
        /// The system prompt for that.
        FlushSystemPrompt = "flush.system_prompt",
        /// Characters of a file before a session.
        ContextFileChars = "context.file_chars",
        /// Characters of all files.
        ContextTotalChars = "context.total_chars",
        /// Whether sentences of the user are saved.
        CaptureEnabled = "capture.enabled",
        /// Whether memories are recalled for a message.
        RecallEnabled = "recall.enabled",
        /// Whether old logs are archived.
        TidyArchive = "tidy.archive",
        /// Days after which they are.
        TidyArchiveAfterDays = "tidy.archive_after_days",
        /// Days after which archived logs are deleted.
        TidyPurgeAfterDays = "tidy.purge_after_days",
        /// Days after which rows of conversations expire.
        TidyConversationDays = "tidy.conversation_days",
    }
}

/// A value of a configuration.
#[derive(Clone, Debug, PartialEq)]
pub enum SettingValue {
    /// Yes or no.
    Bool(bool),
    /// A number.
    Number(f64),
    /// A text.
    Text(String),
    /// Several texts.
    List(Vec<String>),
}

impl fmt::Display for SettingValue {
    /// Writes the value as it is written in a configuration, without secrets.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let quoted = |text: &String| Value::from(for_display(text)).to_string();
        match self {
            Self::Bool(truth) => truth.fmt(f),
            Self::Number(number) => number.fmt(f),
            Self::Text(text) => f.write_str(&quoted(text)),
            Self::List(texts) => {
                write!(f, "[{}]", texts.iter().map(quoted).collect::<Vec<_>>().join(", "))
            }
        }
    }
}

impl Serialize for SettingValue {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Bool(truth) => serializer.serialize_bool(*truth),
            #[expect(clippy::cast_possible_truncation, reason = "a count is far from any bound")]
            Self::Number(number) if is_count(*number) => serializer.serialize_i64(*number as i64),
            Self::Number(number) => serializer.serialize_f64(*number),
            Self::Text(text) => serializer.serialize_str(&for_display(text)),
            Self::List(texts) => serializer.collect_seq(texts.iter().map(|text| for_display(text))),
        }
    }
}

/// What becomes of a setting.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SettingUse {
    /// It counts.
    Used,
    /// It counts where hits are ranked as the runtime does.
    InProfile,
    /// Nothing has to be done for it, for this reason.
    NotNeeded(&'static str),
    /// It cannot be honoured, for this reason.
    Ignored(&'static str),
}

/// A setting in a runtime's configuration.
#[derive(Clone, Debug, PartialEq)]
pub struct RuntimeSetting {
    /// What it decides; `None` where Anemone has no such setting.
    pub key: Option<SettingKey>,
    /// Its whole name there.
    pub name: String,
    /// The part of the name that tells settings of one section apart.
    pub(crate) path: &'static str,
    /// Its value as it was written; `None` for a value of a wrong type, which is not shown.
    pub value: Option<SettingValue>,
    /// The value that the key gets from it.
    pub means: Option<SettingValue>,
    /// The file.
    pub file: PathBuf,
    /// Its line there, where it can be told.
    pub line: Option<usize>,
    /// What becomes of it.
    pub verdict: SettingUse,
    /// Whether the runtime would do the same without it.
    pub is_usual: bool,
}

impl RuntimeSetting {
    /// Names a place in a list of places to search, and why it is not searched.
    #[must_use]
    pub fn of_place(
        list: &str,
        index: usize,
        place: String,
        problem: PlaceProblem,
        file: PathBuf,
        line: Option<usize>,
    ) -> Self {
        Self {
            key: Some(SettingKey::SearchExtraPaths),
            name: format!("{list}[{index}]"),
            path: "",
            value: Some(SettingValue::Text(place)),
            means: None,
            file,
            line,
            verdict: SettingUse::Ignored(problem.reason()),
            is_usual: false,
        }
    }

    /// Returns why it is not honoured, where the user should know.
    #[must_use]
    pub const fn refusal(&self) -> Option<&'static str> {
        match self.verdict {
            SettingUse::Ignored(reason) if !self.is_usual => Some(reason),
            _ => None,
        }
    }

    /// Returns what the key gets from it, where it counts at all.
    #[must_use]
    pub fn effect(&self) -> Option<(SettingKey, &SettingValue)> {
        match self.verdict {
            SettingUse::Used | SettingUse::InProfile => Some((self.key?, self.means.as_ref()?)),
            SettingUse::NotNeeded(_) | SettingUse::Ignored(_) => None,
        }
    }
}

/// What a runtime's configuration says about one agent's memory.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RuntimeSettings {
    /// The settings; of several with one key, the first one counts.
    pub settings: Vec<RuntimeSetting>,
    /// What of the configuration cannot be read, with file, line and column where they are known.
    pub unreadable: Vec<String>,
    /// What may be set.
    pub(crate) tables: &'static [SettingTable],
}

/// The settings of one section of a configuration.
#[derive(Debug, PartialEq)]
pub(crate) struct SettingTable {
    /// The names that lead to the section.
    pub(crate) section: &'static [&'static str],
    pub(crate) rules: &'static [SettingRule],
}

/// The name of a setting that a configuration may have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SettingName {
    /// Its whole name there.
    pub name: String,
    /// The part of the name below its section: the same setting may be in several sections.
    pub path: &'static str,
    /// What it decides; `None` where Anemone has no such setting.
    pub key: Option<SettingKey>,
    /// Why it has no effect, where it has none.
    pub reason: Option<&'static str>,
}

impl RuntimeSettings {
    /// Returns the settings of a configuration that has none of them.
    pub(crate) const fn empty(tables: &'static [SettingTable]) -> Self {
        Self { settings: Vec::new(), unreadable: Vec::new(), tables }
    }

    /// Names every setting that the configuration may have.
    pub fn names(&self) -> impl Iterator<Item = SettingName> {
        let of_rule = |table: &'static SettingTable, rule: &'static SettingRule| SettingName {
            name: [&table.section.join("."), ".", rule.path].concat(),
            path: rule.path,
            key: rule.key,
            reason: match rule.verdict {
                SettingUse::Used | SettingUse::InProfile => None,
                SettingUse::NotNeeded(reason) | SettingUse::Ignored(reason) => Some(reason),
            },
        };
        let of_table = move |table: &'static SettingTable| {
            table.rules.iter().map(move |rule| of_rule(table, rule))
        };
        self.tables.iter().flat_map(of_table)
    }

    /// Returns the setting that decides a key.
    #[must_use]
    pub fn deciding(&self, key: SettingKey) -> Option<&RuntimeSetting> {
        self.settings.iter().find(|setting| setting.effect().is_some_and(|found| found.0 == key))
    }

    /// Returns the value of a key.
    #[must_use]
    pub fn value(&self, key: SettingKey) -> Option<&SettingValue> {
        Some(self.deciding(key)?.effect()?.1)
    }

    /// Returns the first setting of a path that has a value.
    pub(crate) fn first(&self, path: &str) -> Option<&RuntimeSetting> {
        self.settings.iter().find(|setting| setting.path == path && setting.value.is_some())
    }

    /// Returns the text of the first setting of a path.
    pub(crate) fn text(&self, path: &str) -> Option<&str> {
        match self.first(path)?.value.as_ref()? {
            SettingValue::Text(text) => Some(text),
            _ => None,
        }
    }

    /// Returns the truth of the first setting of a path.
    pub(crate) fn truth(&self, path: &str) -> Option<bool> {
        match self.first(path)?.value.as_ref()? {
            SettingValue::Bool(truth) => Some(*truth),
            _ => None,
        }
    }

    /// Says what becomes of all settings of a path, and what the key gets from them.
    pub(crate) fn decide(
        &mut self,
        path: &str,
        means: impl Into<Option<SettingValue>>,
        verdict: SettingUse,
    ) {
        let means = means.into();
        let settings = self.settings.iter_mut();
        for setting in settings.filter(|setting| setting.path == path && setting.value.is_some()) {
            setting.verdict = verdict;
            setting.means.clone_from(&means);
        }
    }

    /// Moves a setting before all others of its key.
    pub(crate) fn prefer(&mut self, path: &str) {
        self.settings.sort_by_key(|setting| setting.path != path);
    }
}

/// What the value of a setting must be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SettingKind {
    /// `true` or `false`.
    Bool,
    /// From 0 to 1.
    Share,
    /// A number from 0 on, of which only its proportion to another one counts.
    Weight,
    /// An integer from 0 on.
    Count,
    /// A number above 0.
    Positive,
    /// A number of bytes, or a text such as `2mb`.
    Bytes,
    /// A text.
    Text,
    /// A list of texts, or of objects with a `path`.
    Texts,
}

/// A setting that a configuration may have.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct SettingRule {
    /// Its name below its section.
    pub(crate) path: &'static str,
    pub(crate) key: Option<SettingKey>,
    pub(crate) kind: SettingKind,
    /// What the runtime does without it, as JSON.
    pub(crate) usual: &'static str,
    pub(crate) verdict: SettingUse,
}

/// Returns a row of a table of settings.
pub(crate) const fn rule(
    path: &'static str,
    key: Option<SettingKey>,
    kind: SettingKind,
    usual: &'static str,
    verdict: SettingUse,
) -> SettingRule {
    SettingRule { path, key, kind, usual, verdict }
}

impl SettingRule {
    /// Returns the setting with a value.
    pub(crate) fn with(
        &self,
        value: &Value,
        name: String,
        file: PathBuf,
        line: Option<usize>,
    ) -> RuntimeSetting {
        let (value, verdict) = match self.kind.take(value) {
            Ok(value) => (Some(value), self.verdict),
            Err(reason) => (None, SettingUse::Ignored(reason)),
        };
        RuntimeSetting {
            key: self.key,
            name,
            path: self.path,
            is_usual: value.as_ref().is_some_and(|value| value.to_string() == self.usual),
            means: value.clone(),
            value,
            file,
            line,
            verdict,
        }
    }
}

impl SettingKind {
    /// Takes a value, or says what it should be.
    fn take(self, value: &Value) -> Result<SettingValue, &'static str> {
        let number = |fits: fn(f64) -> bool| {
            value.as_f64().filter(|number| fits(*number)).map(SettingValue::Number)
        };
        let text = |value: &Value| {
            let text = value.as_str().filter(|text| text.len() <= MAX_TEXT)?;
            Some(text.to_owned()).filter(|text| !text.trim().is_empty())
        };
        match self {
            Self::Bool => value.as_bool().map(SettingValue::Bool).ok_or("it is not true or false"),
            Self::Share => number(|number| (0.0..=1.0).contains(&number))
                .ok_or("it is not a number from 0 to 1"),
            Self::Weight => number(|number| (0.0..=MAX_COUNT).contains(&number))
                .ok_or("it is not a number from 0 on"),
            Self::Count => {
                number(is_count).ok_or("it is not a whole number from 0 on, or it is too large")
            }
            Self::Positive => number(|number| number > 0.0 && number <= MAX_COUNT)
                .ok_or("it is not a number above 0"),
            Self::Bytes => number(is_count)
                .or_else(|| value.as_str().and_then(bytes).map(SettingValue::Number))
                .ok_or("it is not a number of bytes"),
            Self::Text => {
                text(value).map(SettingValue::Text).ok_or("it is not a text, or it is too long")
            }
            Self::Texts => {
                let list = value.as_array().filter(|list| list.len() <= MAX_LIST);
                let one = |value: &Value| text(value).or_else(|| text(value.get("path")?));
                list.and_then(|list| list.iter().map(one).collect::<Option<Vec<_>>>())
                    .map(SettingValue::List)
                    .ok_or("it is not a list of texts, or it is too long")
            }
        }
    }
}

fn is_count(number: f64) -> bool {
    (0.0..=MAX_COUNT).contains(&number) && number.fract() == 0.0
}

/// Reads a size such as `2mb`.
fn bytes(text: &str) -> Option<f64> {
    let text = text.trim().to_ascii_lowercase();
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic() || c == ' ');
    let unit = match text[digits.len()..].trim() {
        "" | "b" => 1.0,
        "k" | "kb" | "kib" => 1024.0,
        "m" | "mb" | "mib" => 1024.0 * 1024.0,
        "g" | "gb" | "gib" => 1024.0 * 1024.0 * 1024.0,
        _ => return None,
    };
    let number: f64 = digits.parse().ok()?;
    Some((number * unit).floor()).filter(|bytes| is_count(*bytes))
}

/// Whether a URL leads to this machine. Keys of the user may only go where the user's own settings
/// say, so no other address of a runtime's configuration is used.
pub(crate) fn is_local_url(url: &str) -> bool {
    let Some((scheme, rest)) = url.trim().split_once("://") else { return false };
    let host = rest.split(['/', '?', '#', '\\']).next().unwrap_or_default();
    let host = match host.strip_prefix('[') {
        Some(rest) => rest.split(']').next().unwrap_or_default(),
        None => host.split(':').next().unwrap_or_default(),
    };
    let is_address = host.parse::<std::net::IpAddr>().is_ok_and(|address| address.is_loopback());
    matches!(scheme.to_ascii_lowercase().as_str(), "http" | "https")
        && !rest.contains('@')
        && (is_address || host.eq_ignore_ascii_case("localhost"))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn values_of_wrong_types_are_named_and_never_taken() {
        for (kind, wrong) in [
            (SettingKind::Bool, json!("true")),
            (SettingKind::Share, json!(1.5)),
            (SettingKind::Share, json!(-0.1)),
            (SettingKind::Count, json!(-1)),
            (SettingKind::Count, json!(1.5)),
            (SettingKind::Count, json!(1e300)),
            (SettingKind::Positive, json!(0)),
            (SettingKind::Bytes, json!("2 parsecs")),
            (SettingKind::Bytes, json!({})),
            (SettingKind::Text, json!("  ")),
            (SettingKind::Text, json!("x".repeat(MAX_TEXT + 1))),
            (SettingKind::Texts, json!("memory")),
            (SettingKind::Texts, json!([1])),
        ] {
            assert!(kind.take(&wrong).is_err(), "{kind:?}");
        }
        let taken = |kind: SettingKind, value| kind.take(&value).unwrap();
        assert_eq!(
            taken(SettingKind::Bytes, json!("2mb")),
            SettingValue::Number(2.0 * 1024.0 * 1024.0)
        );
        assert_eq!(taken(SettingKind::Bytes, json!("1.5 KB")), SettingValue::Number(1536.0));
        assert_eq!(
            taken(SettingKind::Texts, json!(["a", { "path": "b" }])),
            SettingValue::List(vec!["a".into(), "b".into()])
        );
    }

    #[test]
    fn only_addresses_of_this_machine_are_local() {
        for url in [
            "http://127.0.0.1:8080/v1",
            "http://localhost/v1",
            "https://[::1]:9/v1",
            "HTTP://LOCALHOST:1234",
        ] {
            assert!(is_local_url(url), "{url}");
        }
        for url in [
            "http://localhost.evil.example/v1",
            "http://127.0.0.1@evil.example/",
            "http://evil.example#localhost",
            "http://user:localhost@evil.example",
            "http://10.0.0.1/",
            "file://localhost/etc/passwd",
            "localhost:8080",
            "http://localhost\\@evil.example/",
            "",
        ] {
            assert!(!is_local_url(url), "{url}");
        }
    }

    #[test]
    fn secrets_in_values_are_not_shown() {
        let key = format!("sk-{}", "a1B2c3D4e5".repeat(5));
        let value = SettingValue::Text(format!("use {key}"));
        assert!(!value.to_string().contains(&key), "{value}");
        assert!(!serde_json::to_string(&value).unwrap().contains(&key));
        for url in ["https://user:pw@host.example/v1?key=s3cr3t", "custom:http://u:pw@h/v1#s3cr3t"]
        {
            let text = SettingValue::Text(url.to_owned()).to_string();
            assert!(!text.contains("pw") && !text.contains("s3cr3t"), "{text}");
            assert!(text.contains("/v1"), "{text}");
        }
        let prompt = "Read http://lin:pw@host.example/v1 first";
        let text = SettingValue::Text(prompt.to_owned()).to_string();
        assert_eq!(text, "\"Read http://host.example/v1 first\"");
    }
}
