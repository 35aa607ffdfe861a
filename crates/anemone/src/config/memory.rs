//! The settings of a living memory; what each means is said where it is used.

use std::time::Duration;

use anemone_memory::{
    AuditSettings, CaptureSettings, ChatSettings, FlushSettings, RecallSettings, RememberSettings,
    TidySettings,
};

use super::ConfigProblem;
use super::section::Section;

pub(super) fn read_chat(
    chat: &mut ChatSettings,
    it: &mut Section<'_>,
) -> Result<(), ConfigProblem> {
    chat.url = it.text("url")?;
    chat.model = it.text("model")?;
    chat.key_file = it.file("key_file")?;
    if let Some(seconds) = it.count("timeout_seconds")? {
        chat.timeout = Duration::from_secs(seconds as u64);
    }
    it.truth("allow_http", &mut chat.allow_http)
}

pub(super) fn read_remember(
    remember: &mut RememberSettings,
    it: &mut Section<'_>,
) -> Result<(), ConfigProblem> {
    it.share("near_duplicate", &mut remember.near_duplicate)
}

pub(super) fn read_flush(
    flush: &mut FlushSettings,
    it: &mut Section<'_>,
) -> Result<(), ConfigProblem> {
    it.truth("enabled", &mut flush.enabled)?;
    it.amount("context_window", &mut flush.context_window)?;
    it.amount("reserve_tokens", &mut flush.reserve_tokens)?;
    it.amount("soft_tokens", &mut flush.soft_tokens)?;
    it.amount("transcript_bytes", &mut flush.transcript_bytes)
}

pub(super) fn read_capture(
    capture: &mut CaptureSettings,
    it: &mut Section<'_>,
) -> Result<(), ConfigProblem> {
    it.truth("enabled", &mut capture.enabled)?;
    it.amount("most", &mut capture.most)?;
    it.amount("least_chars", &mut capture.least_chars)?;
    it.amount("most_chars", &mut capture.most_chars)
}

pub(super) fn read_recall(
    recall: &mut RecallSettings,
    it: &mut Section<'_>,
) -> Result<(), ConfigProblem> {
    it.truth("enabled", &mut recall.enabled)?;
    it.amount("most", &mut recall.most)?;
    it.share("least_share", &mut recall.least_share)?;
    it.amount("most_chars", &mut recall.most_chars)
}

pub(super) fn read_tidy(
    tidy: &mut TidySettings,
    it: &mut Section<'_>,
) -> Result<(), ConfigProblem> {
    it.amount("structural_days", &mut tidy.structural_days)?;
    it.amount("potential_days", &mut tidy.potential_days)?;
    it.amount("contextual_days", &mut tidy.contextual_days)?;
    tidy.archive = it.maybe("archive")?;
    it.amount("archive_after_days", &mut tidy.archive_after_days)?;
    it.amount("purge_after_days", &mut tidy.purge_after_days)?;
    it.amount("conversation_days", &mut tidy.conversation_days)?;
    it.amount("promote_recalls", &mut tidy.promote_recalls)?;
    it.share("near_duplicate", &mut tidy.near)
}

pub(super) fn read_audit(
    audit: &mut AuditSettings,
    it: &mut Section<'_>,
) -> Result<(), ConfigProblem> {
    it.amount("stale_days", &mut audit.stale_days)?;
    it.amount("contextual_days", &mut audit.contextual_days)?;
    it.share("near_duplicate", &mut audit.near)
}
