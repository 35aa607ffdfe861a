//! The settings of an agent's memory; the code that uses a setting documents it.

use std::time::Duration;

use anemone_index::RankingTuning;
use anemone_memory::{
    AuditSettings, CaptureSettings, ChatSettings, ContextLimits, FlushSettings, RecallSettings,
    RememberSettings, TidySettings,
};

use super::section::{Section, expected, text};
use super::{Result, SearchSettings};
use crate::search::Citations;

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
    section.amount("transcript_bytes", &mut flush.transcript_bytes)?;
    flush.prompt = section.text("prompt")?.or(flush.prompt.take());
    flush.system_prompt = section.text("system_prompt")?.or(flush.system_prompt.take());
    Ok(())
}

pub(super) fn read_context(context: &mut ContextLimits, section: &mut Section<'_>) -> Result<()> {
    section.maybe_amount("file_chars", &mut context.file)?;
    section.maybe_amount("total_chars", &mut context.total)
}

pub(super) fn read_search(search: &mut SearchSettings, section: &mut Section<'_>) -> Result<()> {
    section.truth("enabled", &mut search.enabled)?;
    section.truth("sessions", &mut search.sessions)?;
    if let Some(paths) = section.files("extra_paths")? {
        search.extra_paths = paths;
    }
    let limit = section.count("limit")?.map(|limit| u32::try_from(limit).unwrap_or(u32::MAX));
    search.limit = limit.map(|limit| limit.min(SearchSettings::MOST)).or(search.limit);
    section.maybe_share("min_score", &mut search.min_score)?;
    section.maybe_share("diversity", &mut search.diversity)?;
    let days = section.read("recency_days", |at, item| {
        #[expect(clippy::cast_precision_loss, reason = "days are few")]
        let days = item.as_float().or_else(|| item.as_integer().map(|days| days as f64));
        let days = days.filter(|days| days.is_finite() && *days >= 0.0);
        days.ok_or_else(|| expected(at, "a number of days; 0: age does not count", None))
    })?;
    if let Some(days) = days {
        search.recency_days = Some(days).filter(|days| *days > 0.0);
    }
    let citations = section.read("citations", |at, item| {
        let wrong = || expected(at, "auto, on or off", Some("\"auto\""));
        Citations::of_word(&text(at, item)?).ok_or_else(wrong)
    })?;
    search.citations = citations.unwrap_or(search.citations);
    let RankingTuning {
        vector_weight,
        text_weight,
        candidate_multiplier,
        chunk_tokens,
        chunk_overlap,
    } = &mut search.tuning;
    section.maybe_share("vector_weight", vector_weight)?;
    section.maybe_share("text_weight", text_weight)?;
    section.maybe_amount("candidate_multiplier", candidate_multiplier)?;
    section.maybe_amount("chunk_tokens", chunk_tokens)?;
    section.maybe_amount("chunk_overlap", chunk_overlap)
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
    tidy.archive = section.maybe("archive")?.or(tidy.archive);
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
