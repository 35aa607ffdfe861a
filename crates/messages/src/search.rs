//! Notes about an answer, in words.

use anemone::connect::quoted;
use anemone::search::{NamedEmbedder, NoteWords, SearchNote, SourceNote, VectorNote};
use anemone::text::count;
use anemone_index::RankingSetting;
use anemone_runtimes::RuntimeSetting;

use super::target_words;
use crate::error::{UserError, plain};

impl From<UserError> for NoteWords {
    fn from(error: UserError) -> Self {
        let message = error.with_causes();
        let hint = error.hint.map(|hint| format!("; {hint}")).unwrap_or_default();
        Self { code: error.code, message: message + &hint }
    }
}

/// Says why a setting of a runtime's configuration is not honoured.
pub(crate) fn setting_ignored(setting: &RuntimeSetting) -> String {
    let file = setting.file.display();
    let line = setting.line.map(|line| format!(":{line}")).unwrap_or_default();
    let value = setting.value.as_ref().map(|value| format!(" = {}", short(&value.to_string())));
    let reason = setting.refusal().unwrap_or_default();
    format!("{file}{line}: {}{} is ignored: {reason}", setting.name, value.unwrap_or_default())
}

/// Returns the beginning of a value, which may be a long prompt.
fn short(value: &str) -> String {
    const MOST: usize = 80;
    match value.char_indices().nth(MOST) {
        Some((end, _)) => format!("{}...", &value[..end]),
        None => value.to_owned(),
    }
}

/// Says that nothing was found but weak matches.
#[must_use]
pub fn weak_matches(withheld: usize) -> String {
    let matches = if withheld == 1 { "match" } else { "matches" };
    format!("nothing found but {withheld} weak {matches}, not shown here")
}

/// Says a note in words.
#[must_use]
pub fn warning(note: SearchNote) -> NoteWords {
    let (code, message) = match note {
        SearchNote::Source(note) => return source(&note),
        SearchNote::NotFilled(error) => return UserError::from(error).into(),
        SearchNote::Vectors(note) => return vectors(&note),
        SearchNote::ServiceOfRuntime(setting) => (
            "service_of_runtime",
            format!(
                "texts are sent to an embedding service because {}{} says {}; `embedder = \
                 \"builtin\"` in [embedding] of Anemone's config keeps them on this machine",
                setting.file.display(),
                setting.line.map(|line| format!(":{line}")).unwrap_or_default(),
                setting.name
            ),
        ),
        SearchNote::SettingIgnored(setting) => ("setting_ignored", setting_ignored(&setting)),
        SearchNote::EmbedderUnavailable { embedder, error } => {
            let why = NoteWords::from(UserError::from(error)).message;
            ("embedder_unavailable", format!("{embedder} is not used: {why}"))
        }
        SearchNote::EmbedderNotNamed(embedder) => (
            "embedder_unnamed",
            format!(
                "the index has vectors of {embedder}, which is asked only when it is named: \
                 --embedder {embedder}"
            ),
        ),
        SearchNote::ModelUnused { model, target } => (
            "model_unused",
            format!(
                "{model} is on this machine and not used here; `anemone index --embedder \
                 {model}{}` takes it",
                target_words(&target)
            ),
        ),
        SearchNote::GgufNotRun { model } => (
            "gguf_not_run",
            format!(
                "the agent's runtime compares meanings with the GGUF model {model:?}, which this \
                 program cannot run; the built-in model is used instead"
            ),
        ),
        SearchNote::ModelChanged { embedder, is_remote, from, to } => {
            let command = match is_remote {
                true => format!("{} --reembed", index_command(&embedder)),
                false => format!("anemone index{}", target_words(&embedder.target)),
            };
            (
                "model_changed",
                format!(
                    "the config names {to}, and the index has vectors of {from}; `{command}` \
                     replaces them"
                ),
            )
        }
        SearchNote::ModelReplaced { from, to } => {
            ("model_replaced", format!("the vectors of {from} were replaced by those of {to}"))
        }
        SearchNote::CarriedUnreadable(reason) => (
            "carried_unreadable",
            format!("some vectors stored with the source are not used: {reason}"),
        ),
        SearchNote::CarriedTooMany(left) => (
            "carried_left",
            format!("{left} vectors stored with the source were left out: there are too many"),
        ),
        SearchNote::PhraseNotFound(phrase) => (
            "phrase_not_found",
            format!("No exact match for {phrase:?}; searched for its words instead"),
        ),
        SearchNote::NothingAsked => {
            ("nothing_asked", "there is nothing to look for in the query".to_owned())
        }
        SearchNote::OnlyExclusions => {
            ("nothing_asked", "the query only excludes; give a word to look for besides".to_owned())
        }
        SearchNote::SettingsUnused { ranking, settings } => {
            let names: Vec<_> = settings.into_iter().map(setting_name).collect();
            ("setting_unused", format!("the ranking {ranking} does not use {}", names.join(", ")))
        }
        SearchNote::OnlyAlike => (
            "only_alike",
            "no text has any of these words; these hits have similar ones".to_owned(),
        ),
        SearchNote::OnlyWeak => {
            ("only_weak", "only weak matches; the answer may not be there".to_owned())
        }
        SearchNote::TooWeak { withheld } => {
            ("too_weak", format!("{}; --min-score 0 shows them", weak_matches(withheld)))
        }
        SearchNote::NotForSession { session, withheld } => {
            let hits = count(withheld as u64, "hit");
            let message = format!("not for a session of the kind {}: {hits}", session.as_str());
            ("not_for_session", message)
        }
        SearchNote::FilteredOut { types, namespaces } => {
            let mut message = "no document passes the filters".to_owned();
            for (name, known) in [("types", types), ("namespaces", namespaces)] {
                match known {
                    None => {}
                    Some(known) if known.is_empty() => {
                        message.push_str(&format!("; there are no {name}"));
                    }
                    Some(known) => message.push_str(&format!("; {name}: {}", known.join(", "))),
                }
            }
            ("filtered_out", message)
        }
        SearchNote::MinimumScore { profile, score } => (
            "minimum_score",
            format!(
                "{profile} leaves out what it scores below {score}, which in a few files can be \
                 everything"
            ),
        ),
        SearchNote::UnknownPath { lines, path } => (
            "unknown_path",
            format!(
                "{} of documents that are not there, such as {path:?}",
                count(lines, "relevant line")
            ),
        ),
        SearchNote::UnknownLine { lines, path, line } => (
            "unknown_line",
            format!(
                "{} that the documents do not have, such as {path}#L{line}",
                count(lines, "relevant line")
            ),
        ),
    };
    NoteWords { code, message }
}

fn setting_name(setting: RankingSetting) -> &'static str {
    match setting {
        RankingSetting::Recency => "recency",
        RankingSetting::Importance => "importance",
        RankingSetting::Diversity => "diversity",
        RankingSetting::MinScore => "a minimum score",
        RankingSetting::VectorWeight => "a weight of vectors",
        RankingSetting::TextWeight => "a weight of words",
        RankingSetting::CandidateMultiplier => "a candidate multiplier",
        RankingSetting::ChunkTokens => "a chunk size",
        RankingSetting::ChunkOverlap => "a chunk overlap",
    }
}

fn source(note: &SourceNote) -> NoteWords {
    let (code, message) = match note {
        SourceNote::Runtime(message) => ("source", message.clone()),
        SourceNote::NotesBeside(files) => (
            "source",
            format!(
                "this folder is an agent's workspace, so only its memories are searched; {} beside \
                 them not: `-r folder -w DIR` searches all files",
                match files {
                    1 => "1 Markdown file is".to_owned(),
                    many => format!("{many} Markdown files are"),
                }
            ),
        ),
        SourceNote::PlaceNotSearched { place, reason } => {
            ("source", format!("{} is not searched: {reason}", place.display()))
        }
        SourceNote::EncryptedNotKept => (
            "source",
            "the archive is encrypted, so its index is not kept in --index-dir".to_owned(),
        ),
        SourceNote::IndexNotKept { folder, reason } => (
            "index_not_kept",
            format!(
                "the index cannot be kept in {}, so everything is indexed at every search: {}",
                folder.display(),
                plain(reason)
            ),
        ),
    };
    NoteWords { code, message }
}

/// Says a note about vectors in words.
#[must_use]
pub fn vectors(note: &VectorNote) -> NoteWords {
    let (code, message) = match note {
        VectorNote::Failed { embedder, reason, is_large_job } => {
            let hint = if *is_large_job { "; pass --yes to confirm" } else { "" };
            ("embedder_failed", format!("{embedder} was not used in this search: {reason}{hint}"))
        }
        VectorNote::Missing { embedder, model, missing, chunks } => (
            "vectors_missing",
            format!(
                "{missing} of {chunks} chunks have no vectors of {model} yet; `{}` fills them",
                index_command(embedder)
            ),
        ),
        VectorNote::None { embedder, model } => (
            "no_vectors",
            format!(
                "the index has no vectors of {model}; `{}` fills them",
                index_command(embedder)
            ),
        ),
        VectorNote::OtherModel { embedder, model, there, provider } => (
            "other_model",
            format!(
                "the index has vectors of {there} ({provider}), not of {model}; `{} --reembed` \
                 replaces them",
                index_command(embedder)
            ),
        ),
    };
    NoteWords { code, message }
}

/// Returns the command that fills in the vectors of an embedder.
#[must_use]
pub fn index_command(embedder: &NamedEmbedder) -> String {
    let url = embedder.url.as_deref();
    let url = url.map(|url| format!(" --embedder-url {}", quoted(url))).unwrap_or_default();
    let wanted = quoted(&embedder.wanted.to_string());
    format!("anemone index --embedder {wanted}{url}{}", target_words(&embedder.target))
}
