//! What `[memory]` of `config.toml` says, in the names of all schemas.

use super::config::Config;
use crate::kit::{
    FoundAgent, Machine, RuntimeSetting, RuntimeSettings, SettingKey, SettingKind, SettingRule,
    SettingTable, SettingUse, SettingValue, is_local_url, rule,
};

use SettingKind::{Bool, Count, Positive, Share, Text, Weight};
use SettingUse::{Ignored, InProfile, NotNeeded, Used};

const OF_RUNTIME: SettingUse = NotNeeded("ZeroClaw itself does this, and Anemone leaves it alone");

/// The settings of the memory.
const MEMORY: &[SettingRule] = &[
    rule(VECTOR_WEIGHT, Some(SettingKey::SearchVectorWeight), Weight, "0.7", InProfile),
    rule(KEYWORD_WEIGHT, Some(SettingKey::SearchTextWeight), Weight, "0.3", InProfile),
    rule(
        "candidate_multiplier",
        Some(SettingKey::SearchCandidateMultiplier),
        Positive,
        "2",
        InProfile,
    ),
    rule("search_mode", Some(SettingKey::Embedder), Text, "\"hybrid\"", Used),
    rule(PROVIDER, Some(SettingKey::Embedder), Text, "\"none\"", Used),
    rule("embedding_model", Some(SettingKey::Embedder), Text, "\"text-embedding-3-small\"", Used),
    rule("embedding_dimensions", Some(SettingKey::EmbedderDimensions), Count, "1536", Used),
    rule("auto_recall", Some(SettingKey::RecallEnabled), Bool, "", Used),
    rule("auto_save", None, Bool, "true", OF_RUNTIME),
    rule("hygiene_enabled", Some(SettingKey::TidyArchive), Bool, "true", Used),
    rule("archive_after_days", Some(SettingKey::TidyArchiveAfterDays), Count, "7", Used),
    rule("purge_after_days", Some(SettingKey::TidyPurgeAfterDays), Count, "30", Used),
    rule("conversation_retention_days", Some(SettingKey::TidyConversationDays), Count, "30", Used),
    rule("daily_retention_days", None, Count, "0", OF_RUNTIME),
    rule("core_retention_days", None, Count, "0", OF_RUNTIME),
    rule(
        "min_relevance_score",
        None,
        Share,
        "0.4",
        Ignored("recall.least_share says how well a memory must fit a message"),
    ),
    rule(
        "embedding_cache_size",
        None,
        Count,
        "10000",
        NotNeeded("the cache holds the texts of the index and no others"),
    ),
    rule(
        "chunk_max_tokens",
        None,
        Count,
        "512",
        NotNeeded("an entry is one piece, as in ZeroClaw itself"),
    ),
    rule(
        "rerank_enabled",
        None,
        Bool,
        "false",
        Ignored("hits are not ranked a second time; --diversity and --recency are flags"),
    ),
    rule("snapshot_enabled", None, Bool, "false", OF_RUNTIME),
    rule("conflict_threshold", None, Share, "0.85", OF_RUNTIME),
];

const PROVIDER: &str = "embedding_provider";
const VECTOR_WEIGHT: &str = "vector_weight";
const KEYWORD_WEIGHT: &str = "keyword_weight";

const TABLES: &[SettingTable] = &[SettingTable { section: &["memory"], rules: MEMORY }];

/// Returns what a configuration says about the memory of an agent.
pub(super) fn of(_: &Machine, agent: &FoundAgent) -> RuntimeSettings {
    let mut found = RuntimeSettings::empty(TABLES);
    let Some(file) = &agent.config else { return found };
    let config = match Config::of(file) {
        Ok(config) => config,
        Err(warning) => {
            found.unreadable = vec![format!("{} {}", file.display(), warning.message)];
            return found;
        }
    };
    for rule in MEMORY {
        let Some((value, line)) = config.value_at(&["memory", rule.path]) else { continue };
        found.settings.push(rule.with(
            &value,
            format!("memory.{}", rule.path),
            file.to_path_buf(),
            Some(line),
        ));
    }
    share_weights(&mut found);
    decide_embedder(&mut found, &config);
    found
}

/// Weights count relative to each other: where one is above 1, both become shares of their sum.
fn share_weights(found: &mut RuntimeSettings) {
    let weight = |path, usual| match found.first(path).and_then(|setting| setting.value.as_ref()) {
        Some(SettingValue::Number(number)) => *number,
        _ => usual,
    };
    let (vector, keyword) = (weight(VECTOR_WEIGHT, 0.7), weight(KEYWORD_WEIGHT, 0.3));
    if vector.max(keyword) <= 1.0 {
        return;
    }
    for (path, key, weight, other) in [
        (VECTOR_WEIGHT, SettingKey::SearchVectorWeight, vector, KEYWORD_WEIGHT),
        (KEYWORD_WEIGHT, SettingKey::SearchTextWeight, keyword, VECTOR_WEIGHT),
    ] {
        // A weight that is not set has its usual value, and becomes a smaller share too.
        if found.first(path).is_none()
            && let Some(set) = found.first(other).cloned()
        {
            found.settings.push(RuntimeSetting { key: Some(key), path, ..set });
        }
        found.decide(path, SettingValue::Number(weight / (vector + keyword)), InProfile);
    }
}

/// Decides what compares meanings: provider and model are one name, and a model may be a route.
fn decide_embedder(found: &mut RuntimeSettings, config: &Config) {
    let named = |text: String| Some(SettingValue::Text(text));
    let of_provider = NotNeeded("it is part of the provider's name");
    let is_none = found.text(PROVIDER).is_none_or(|name| name.trim() == "none");
    let embedding = config.embedding();
    let (means, verdict) = match embedding.as_ref() {
        // `none` is what onboarding writes: it wants no service, and the built-in model is none.
        None if is_none => (None, NotNeeded("no service is used; the built-in model is free")),
        None => (None, Ignored("its route leads nowhere; the built-in model is used")),
        Some(embedding) => match embedding.provider.as_str() {
            "openai" => (named(format!("openai:{}", embedding.model)), Used),
            custom if custom.strip_prefix("custom:").is_some_and(is_local_url) => {
                (named(format!("openai:{}", embedding.model)), Used)
            }
            custom if custom.starts_with("custom:") => (
                None,
                Ignored(
                    "keys only go to addresses that you configure for Anemone: set url of the \
                     service",
                ),
            ),
            _ => (None, Ignored("Anemone knows no such service; the built-in model is used")),
        },
    };
    let is_service = means.is_some();
    let custom = embedding.as_ref().and_then(|embedding| {
        embedding.provider.strip_prefix("custom:").filter(|url| is_local_url(url))
    });
    if let Some((url, provider)) = custom.zip(found.first(PROVIDER).cloned()) {
        let means = named(url.to_owned());
        let key = Some(SettingKey::EmbedderUrl);
        found.settings.push(RuntimeSetting { key, means, path: "url", ..provider });
        found.decide("url", named(url.to_owned()), Used);
    }
    found.decide(PROVIDER, means, verdict);
    found.decide("embedding_model", None, of_provider);
    if !is_service {
        found.decide("embedding_dimensions", None, NotNeeded("no service is used"));
    }
    match found.text("search_mode").map(|mode| mode.trim().to_ascii_lowercase()).as_deref() {
        Some("bm25") => {
            found.decide("search_mode", named("none".to_owned()), Used);
            found.prefer("search_mode");
        }
        Some("hybrid") => found.decide("search_mode", None, NotNeeded("both count")),
        _ => found.decide("search_mode", None, Ignored("words always count")),
    }
}
