//! The settings of an agent's memory; the code that uses a setting documents it.

use std::time::Duration;

use anemone_memory::{
    AuditSettings, CaptureSettings, ChatSettings, FlushSettings, RecallSettings, RememberSettings,
    TidySettings,
};

use super::Result;
use super::section::Section;

pub(super) fn read_chat(chat: &mut ChatSettings, section: &mut Section<'_>) -> Result<()> {
    chat.url = section.text("url")?;
    chat.model = section.text("model")?;
    chat.key_file = section.file("key_file")?;
    if let Some(seconds) = section.count("timeout_seconds")? {
        chat.timeout = Duration::from_secs(seconds as u64);
    }
    section.truth("allow_http", &mut chat.allow_http)
}

pub(super) fn read_remember(
    remember: &mut RememberSettings,
    section: &mut Section<'_>,
) -> Result<()> {
    section.share("near_duplicate", &mut remember.near_duplicate)
}

pub(super) fn read_flush(flush: &mut FlushSettings, section: &mut Section<'_>) -> Result<()> {
    section.truth("enabled", &mut flush.enabled)?;
    section.amount("context_window", &mut flush.context_window)?;
    section.amount("reserve_tokens", &mut flush.reserve_tokens)?;
    section.amount("soft_tokens", &mut flush.soft_tokens)?;
    section.amount("transcript_bytes", &mut flush.transcript_bytes)
}

pub(super) fn read_capture(capture: &mut CaptureSettings, section: &mut Section<'_>) -> Result<()> {
    section.truth("enabled", &mut capture.enabled)?;
    section.amount("most", &mut capture.most)?;
    section.amount("least_chars", &mut capture.least_chars)?;
    section.amount("most_chars", &mut capture.most_chars)
}

pub(super) fn read_recall(recall: &mut RecallSettings, section: &mut Section<'_>) -> Result<()> {
    section.truth("enabled", &mut recall.enabled)?;
    section.amount("most", &mut recall.most)?;
    section.share("least_share", &mut recall.least_share)?;
    section.amount("most_chars", &mut recall.most_chars)
}

pub(super) fn read_tidy(tidy: &mut TidySettings, section: &mut Section<'_>) -> Result<()> {
    section.amount("structural_days", &mut tidy.structural_days)?;
    section.amount("potential_days", &mut tidy.potential_days)?;
    section.amount("contextual_days", &mut tidy.contextual_days)?;
    tidy.archive = section.maybe("archive")?;
    section.amount("archive_after_days", &mut tidy.archive_after_days)?;
    section.amount("purge_after_days", &mut tidy.purge_after_days)?;
    section.amount("conversation_days", &mut tidy.conversation_days)?;
    section.amount("promote_recalls", &mut tidy.promote_recalls)?;
    section.share("near_duplicate", &mut tidy.near)
}

pub(super) fn read_audit(audit: &mut AuditSettings, section: &mut Section<'_>) -> Result<()> {
    section.amount("stale_days", &mut audit.stale_days)?;
    section.amount("contextual_days", &mut audit.contextual_days)?;
    section.share("near_duplicate", &mut audit.near)
}
