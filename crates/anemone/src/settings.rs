//! The settings that count for an agent: a flag, else the user's config, else the configuration of
//! the agent's runtime, else the default.
//!
//! A flag is an argument of one request; the other three are merged here.

mod explain;
mod said;

use std::collections::BTreeSet;
use std::path::PathBuf;

use anemone_embed::Provider;
use anemone_runtimes::{
    ExtraPlace, FoundAgent, Machine, Runtime, RuntimeSetting, RuntimeSettings, SettingKey,
    SettingUse, SettingValue,
};

pub use self::explain::{
    ExplainError, ExplainReport, ExplainRequest, ExplainedSetting, LostSetting, SettingOrigin,
    explain,
};
pub(crate) use self::said::{unsaid, unsaid_of};
use crate::config::{self, Config, ConfigError, SearchSettings};
use crate::embedder::{EmbedderKind, EmbedderName, EmbedderSetting};
use crate::host::Host;
use crate::search::Citations;

/// The services that `auto` in a runtime's configuration tries, by the keys that there are.
const CHAIN: [Provider; 4] =
    [Provider::OpenAi, Provider::Gemini, Provider::Voyage, Provider::Mistral];

/// Returns what the configuration of an agent's runtime says.
///
/// A folder that somebody named may hold any configuration, so only that of an agent of this
/// machine may name a service, which costs money and gets the texts. Where the runtime itself does
/// not search, it names none.
#[must_use]
pub fn runtime_settings(
    runtime: &Runtime,
    agent: &FoundAgent,
    machine: &Machine,
) -> RuntimeSettings {
    let mut found = runtime.settings_of(machine, agent);
    let is_off = found.value(SettingKey::SearchEnabled) == Some(&SettingValue::Bool(false));
    let refusal = if !found.settings.iter().any(names_service) {
        return found;
    } else if is_off {
        SettingUse::NotNeeded(
            "memory search is switched off there, so no text goes to its service; [embedding] of \
             config.toml or --embedder names one",
        )
    } else if !may_name_services(runtime, agent, machine) {
        SettingUse::Ignored(FOREIGN_CONFIG)
    } else {
        return found;
    };
    let belongs_to_service = |setting: &RuntimeSetting| {
        matches!(setting.key, Some(SettingKey::EmbedderUrl | SettingKey::EmbedderDimensions))
            && setting.effect().is_some()
    };
    for setting in &mut found.settings {
        if names_service(setting) || belongs_to_service(setting) {
            setting.verdict = refusal;
        }
    }
    found
}

/// Whether a setting names a service, which gets the texts.
fn names_service(setting: &RuntimeSetting) -> bool {
    use EmbedderKind::{Builtin, BuiltinQuality, MiniLm};
    match setting.effect() {
        Some((SettingKey::Embedder | SettingKey::EmbedderFallback, SettingValue::Text(name))) => {
            !matches!(
                name.parse(),
                Ok(EmbedderSetting::None
                    | EmbedderSetting::This(EmbedderName {
                        name: Builtin | BuiltinQuality | MiniLm,
                        ..
                    }))
            )
        }
        _ => false,
    }
}

/// Returns the settings of an agent's runtime, and which places of the user's own config are not
/// searched.
pub(crate) fn settings_and_places(
    runtime: &Runtime,
    agent: &FoundAgent,
    machine: &Machine,
    host: &Host,
) -> RuntimeSettings {
    let mut found = runtime_settings(runtime, agent, machine);
    // A config that cannot be read is reported where a setting of it decides something.
    let own = Config::read(host).unwrap_or_default().search.extra_paths;
    let key = SettingKey::SearchExtraPaths.as_str();
    let line = if own.is_empty() { None } else { explain::line_of_own(key, host) };
    let problems = own.into_iter().enumerate().filter_map(|(index, path)| {
        let (name, file) = (path.display().to_string(), config::path(host));
        let problem = own_place(path).problem(&machine.home, &agent.workspace)?;
        Some(RuntimeSetting::of_place(key, index, name, problem, file, line))
    });
    found.settings.extend(problems);
    found
}

/// Returns a place of the user's own config.
pub(crate) const fn own_place(path: PathBuf) -> ExtraPlace {
    ExtraPlace { path, pattern: None, redacted: false }
}

/// Why a service is not used that the configuration of a folder names.
pub(crate) const FOREIGN_CONFIG: &str =
    "only the configuration of an agent that was found on this machine may name a service";

/// Whether the configuration of an agent is that of an agent of this machine, and not that of a
/// folder that somebody named.
pub(crate) fn may_name_services(runtime: &Runtime, agent: &FoundAgent, machine: &Machine) -> bool {
    runtime.discover_by_files(machine).iter().any(|known| known.config == agent.config)
}

impl Config {
    /// Reads the settings that count for an agent.
    pub fn of_agent(
        runtime: &Runtime,
        agent: &FoundAgent,
        machine: &Machine,
        host: &Host,
    ) -> Result<Self, ConfigError> {
        Self::over(&runtime_settings(runtime, agent, machine), host)
    }

    /// Reads the user's config over what a runtime's configuration says.
    pub fn over(settings: &RuntimeSettings, host: &Host) -> Result<Self, ConfigError> {
        Self::of_runtime(settings).overridden(host)
    }

    /// Returns the defaults with what a runtime's configuration says.
    #[must_use]
    pub fn of_runtime(settings: &RuntimeSettings) -> Self {
        let mut config = Self::default();
        let mut seen = BTreeSet::new();
        for setting in &settings.settings {
            if let Some((key, value)) = setting.effect().filter(|(key, _)| seen.insert(*key)) {
                config.take(key, value);
            }
        }
        // The address and the length are those of the service that is named.
        let service = match &config.embedder {
            Some(EmbedderSetting::This(EmbedderName {
                name: EmbedderKind::Service(service),
                ..
            })) => *service,
            _ => return config,
        };
        let url = settings.value(SettingKey::EmbedderUrl);
        let dimensions = settings.value(SettingKey::EmbedderDimensions);
        if url.is_none() && dimensions.is_none() {
            return config;
        }
        let entry = config.services.entry(service).or_default();
        if let Some(EmbedderSetting::This(name)) = &config.embedder {
            entry.model.clone_from(&name.model);
        }
        if let Some(SettingValue::Text(url)) = url {
            entry.url = Some(url.clone());
        }
        if let Some(SettingValue::Number(number)) = dimensions {
            entry.dimensions = Some(usize_of(*number)).filter(|length| *length > 0);
        }
        config
    }

    fn take(&mut self, key: SettingKey, value: &SettingValue) {
        match value {
            SettingValue::Bool(truth) => self.take_truth(key, *truth),
            SettingValue::Number(number) => self.take_number(key, *number),
            SettingValue::Text(text) => self.take_text(key, text),
            // The places that a runtime names are searched as it finds them.
            SettingValue::List(_) => {}
        }
    }

    fn take_truth(&mut self, key: SettingKey, truth: bool) {
        match key {
            SettingKey::SearchEnabled => self.search.enabled = truth,
            SettingKey::SearchSessions => self.search.sessions = truth,
            SettingKey::FlushEnabled => self.flush.enabled = truth,
            SettingKey::CaptureEnabled => self.capture.enabled = truth,
            SettingKey::RecallEnabled => self.recall.enabled = truth,
            SettingKey::TidyArchive => self.tidy.archive = Some(truth),
            _ => {}
        }
    }

    fn take_number(&mut self, key: SettingKey, number: f64) {
        let search = &mut self.search;
        match key {
            SettingKey::SearchLimit => {
                search.limit = Some(u32_of(number).clamp(1, SearchSettings::MOST));
            }
            SettingKey::SearchMinScore => search.profile_min_score = Some(number),
            SettingKey::SearchDiversity => search.diversity = Some(number),
            SettingKey::SearchRecencyDays => search.recency_days = Some(number),
            SettingKey::SearchVectorWeight => search.tuning.vector_weight = Some(number),
            SettingKey::SearchTextWeight => search.tuning.text_weight = Some(number),
            SettingKey::SearchCandidateMultiplier => {
                search.tuning.candidate_multiplier = Some(u32_of(number).clamp(1, 20));
            }
            SettingKey::SearchChunkTokens => {
                search.tuning.chunk_tokens = Some(u32_of(number).clamp(8, 100_000));
            }
            SettingKey::SearchChunkOverlap => {
                search.tuning.chunk_overlap = Some(u32_of(number).min(100_000));
            }
            SettingKey::FlushSoftTokens => self.flush.soft_tokens = u64_of(number),
            SettingKey::FlushReserveTokens => self.flush.reserve_tokens = u64_of(number),
            SettingKey::FlushTranscriptBytes => self.flush.transcript_bytes = u64_of(number),
            SettingKey::ContextFileChars => self.context.file = Some(usize_of(number)),
            SettingKey::ContextTotalChars => self.context.total = Some(usize_of(number)),
            SettingKey::TidyArchiveAfterDays => self.tidy.archive_after_days = u32_of(number),
            SettingKey::TidyPurgeAfterDays => self.tidy.purge_after_days = u32_of(number),
            SettingKey::TidyConversationDays => self.tidy.conversation_days = u32_of(number),
            _ => {}
        }
    }

    fn take_text(&mut self, key: SettingKey, text: &str) {
        match key {
            SettingKey::SearchCitations => {
                self.search.citations = Citations::of_word(text).unwrap_or_default();
            }
            SettingKey::Embedder => match text.parse() {
                Ok(EmbedderSetting::Auto) => {
                    let service = |service| EmbedderName::of(EmbedderKind::Service(service));
                    self.order = CHAIN.map(service).to_vec();
                }
                Ok(setting) => self.embedder = Some(setting),
                Err(_) => {}
            },
            SettingKey::EmbedderFallback => {
                self.fallback =
                    text.parse().ok().filter(|setting| *setting != EmbedderSetting::Auto);
            }
            SettingKey::FlushPrompt => self.flush.prompt = Some(text.to_owned()),
            SettingKey::FlushSystemPrompt => self.flush.system_prompt = Some(text.to_owned()),
            _ => {}
        }
    }
}

/// Returns a number of a configuration, which is whole and not negative where it counts something.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a cast of a number that is out of range gives the nearest one"
)]
const fn u64_of(number: f64) -> u64 {
    number as u64
}

fn u32_of(number: f64) -> u32 {
    u32::try_from(u64_of(number)).unwrap_or(u32::MAX)
}

fn usize_of(number: f64) -> usize {
    usize::try_from(u64_of(number)).unwrap_or(usize::MAX)
}
