//! Codes are promises to programs. This table pins those that no test of a command shows.

use std::path::PathBuf;

use anemone::agent_memory::{AgentMemoryError, NotWritable};
use anemone::connect::ConnectError;
use anemone::embedder::{EmbedderKind, EmbedderName};
use anemone::forget::ForgetError;
use anemone::migrate::MigrateError;
use anemone::remember::RememberError;
use anemone::search::SearchNote;
use anemone::search::eval::EvalError;
use anemone::search::target::TargetError;
use anemone::undo::UndoError;
use anemone_format::{CompareError, FindingKind};
use anemone_memory::{MemoryError, RevertError, UnreadReason};
use anemone_messages::{UserError, warning};
use anemone_runtimes::{IssueKind, OddityKind, PlanError};

fn path() -> PathBuf {
    PathBuf::from("/a/b")
}

fn code(error: impl Into<UserError>) -> &'static str {
    error.into().code
}

#[test]
fn errors_have_their_codes() {
    let place = || "postgres".to_owned();
    let message = || "it is a state folder".to_owned();
    let unreadable = || NotWritable::ConfigUnreadable("config.toml is not TOML".to_owned());
    for (found, expected) in [
        (code(MemoryError::PrivateKey { prefix: "x|" }), "private_key"),
        (code(UndoError::Memory(RevertError::DatabaseGone(path()))), "database_gone"),
        (code(PlanError::MemoriesUnread("any".to_owned())), "memories_unread"),
        (code(RememberError::NotWritable(NotWritable::KeepsNothing)), "no_memory"),
        (code(RememberError::NotWritable(NotWritable::KeptElsewhere(place()))), "not_supported"),
        (code(ForgetError::NotWritable(NotWritable::KeepsNothing)), "keeps_nothing"),
        (code(ForgetError::NotWritable(NotWritable::KeptElsewhere(place()))), "kept_elsewhere"),
        (code(RememberError::NotWritable(unreadable())), "config_unreadable"),
        (code(ForgetError::NotWritable(unreadable())), "config_unreadable"),
        (code(MemoryError::Busy { database: path(), source: "locked".into() }), "store_busy"),
        (code(MigrateError::NoMapping), "no_mapping"),
        (code(CompareError::TooManyFiles), "too_many_changes"),
        (code(EvalError::NoAnswers(path())), "no_answers"),
        (code(ConnectError::PathEncoding(path())), "path_encoding"),
        (code(ConnectError::ChangedMeanwhile(path())), "changed_meanwhile"),
        (code(TargetError::NotSearchable(path())), "not_searchable"),
        (code(TargetError::StateFolder(message())), "state_folder"),
        (code(AgentMemoryError::StateFolder(message())), "state_folder"),
    ] {
        assert_eq!(found, expected);
    }
}

#[test]
fn notes_have_their_codes() {
    let embedder = EmbedderName { name: EmbedderKind::MiniLm, model: None };
    let unnamed = warning(SearchNote::EmbedderNotNamed(embedder));
    assert_eq!(unnamed.code, "embedder_unnamed");
    let phrase = warning(SearchNote::PhraseNotFound("a b".to_owned()));
    assert_eq!(phrase.code, "phrase_not_found");
    let reasons = [UnreadReason::NotText, UnreadReason::Name, UnreadReason::TooDeep];
    assert_eq!(reasons.map(|reason| reason.code()), ["not_utf8", "name_not_utf8", "too_deep"]);
}

#[test]
fn kinds_have_their_words() {
    for (found, expected) in [
        (OddityKind::StateFolder.as_str(), "state_folder"),
        (OddityKind::AliasAssumed.as_str(), "alias_assumed"),
        (OddityKind::UnknownAgent.as_str(), "agent_unknown"),
        (OddityKind::SeveralAgents.as_str(), "several_agents"),
        (OddityKind::ConfigUnreadable.as_str(), "config_unreadable"),
        (OddityKind::AgentsNotConfigured.as_str(), "agents_not_configured"),
        (OddityKind::WorkspaceShared.as_str(), "workspace_shared"),
        (OddityKind::Lucid.as_str(), "lucid"),
        (IssueKind::SecretsFound.as_str(), "secrets_found"),
        (IssueKind::NoPersona.as_str(), "no_soul_md"),
        (IssueKind::IgnoreFile.as_str(), "alfignore"),
        (IssueKind::WorkspaceMismatch.as_str(), "workspace_mismatch"),
        (IssueKind::NotSupported.as_str(), "not_supported"),
        (IssueKind::Oddity(OddityKind::DatabaseUnreadable).as_str(), "database_unreadable"),
        (FindingKind::Edited.as_str(), "edited"),
        (FindingKind::SealMissing.as_str(), "seal-missing"),
        (FindingKind::SealBroken.as_str(), "seal-broken"),
        (FindingKind::CredentialInClear.as_str(), "credential-in-clear"),
        (FindingKind::ContentInTombstone.as_str(), "content-in-tombstone"),
        (FindingKind::NoDigests.as_str(), "no-digests"),
    ] {
        assert_eq!(found, expected);
    }
}
