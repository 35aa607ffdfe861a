//! Says which value of a setting counts, and where it comes from.

use std::path::PathBuf;

use anemone_runtimes::{RuntimeSetting, RuntimeSettings, SettingKey, SettingUse};
use serde::Serialize;
use serde_json::Value;
use toml_edit::{Item, TableLike};

use super::runtime_settings;
use crate::agent::{AgentChoice, ChosenAgent, FindAgentError};
use crate::config::{self, Config, ConfigError, DEFAULT, parse_toml};
use crate::host::Host;
use crate::nearest::Nearest;

/// Which setting of which agent.
#[derive(Clone, Debug, Default)]
pub struct ExplainRequest {
    /// The setting, by its name here or in the runtime's configuration; `None`: all of them.
    pub key: Option<String>,
    /// The agent.
    pub agent: AgentChoice,
}

/// Why nothing can be explained.
#[derive(Debug, thiserror::Error)]
#[error(transparent)]
#[non_exhaustive]
pub enum ExplainError {
    /// There is no such setting.
    #[error("there is no setting {name}")]
    UnknownSetting {
        /// The name.
        name: String,
        /// The setting that was probably meant.
        nearest: Option<String>,
    },
    /// No agent was found where one was named, or several were found.
    Agent(#[from] FindAgentError),
    /// The config.
    Config(#[from] ConfigError),
}

/// Which values count.
#[derive(Clone, Debug, Serialize)]
pub struct ExplainReport {
    /// The agent's runtime, if there is an agent.
    pub runtime: Option<&'static str>,
    /// The agent's name.
    pub agent: Option<String>,
    /// The user's config, which may not exist.
    pub config: PathBuf,
    /// The settings.
    pub settings: Vec<ExplainedSetting>,
}

/// A setting, its value, and where that comes from.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ExplainedSetting {
    /// Its name: in the config, or where the config has no such setting, in the runtime's
    /// configuration.
    pub key: String,
    /// What it is for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub about: Option<String>,
    /// The value that counts; null where there is none by default.
    pub value: Value,
    /// Where it comes from.
    pub from: SettingOrigin,
    /// The file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file: Option<PathBuf>,
    /// The line in it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<usize>,
    /// Its name in the file, where that is another one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// What else about it should be known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub note: Option<&'static str>,
    /// What is set, too, and does not count.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub others: Vec<LostSetting>,
}

/// A setting that does not count.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct LostSetting {
    /// Its name in the file.
    pub name: String,
    /// Its value as it is written, without secrets; null where it has a wrong type.
    pub value: Value,
    /// The file.
    pub file: PathBuf,
    /// The line in it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<usize>,
    /// Why it does not count.
    pub reason: &'static str,
    /// Whether it is refused, and not only unnecessary or overridden.
    pub ignored: bool,
}

/// Where a value comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum SettingOrigin {
    /// The user's config.
    Config,
    /// The configuration of the agent's runtime.
    Runtime,
    /// Nothing else was set.
    Default,
}

const OVERRIDDEN: &str = "another setting overrides it";
const IN_PROFILE: &str = "it counts where hits are ranked as the runtime does (--profile)";

/// Says which values count for an agent.
pub fn explain(request: &ExplainRequest, host: &Host) -> Result<ExplainReport, ExplainError> {
    // A config that cannot be read has no settings that count.
    Config::read(host)?;
    let machine = host.machine().map_err(FindAgentError::from)?;
    let chosen = match request.agent.choose_by_files(&machine) {
        Ok(chosen) => Some(chosen),
        Err(FindAgentError::Nothing) if request.agent == AgentChoice::default() => None,
        Err(error) => return Err(error.into()),
    };
    let found = chosen
        .as_ref()
        .map(|ChosenAgent { runtime, agent }| runtime_settings(runtime, agent, &machine));
    let found = found.unwrap_or_default();
    let path = config::path(host);
    let text = fs_err::read_to_string(&path).unwrap_or_default();
    let mut settings = all(&found, &text, &path);
    if let Some(name) = &request.key {
        settings = selected(settings, name)?;
    }
    Ok(ExplainReport {
        runtime: chosen.as_ref().map(|chosen| chosen.runtime.name),
        agent: chosen.map(|chosen| chosen.agent.alias),
        config: path,
        settings,
    })
}

/// Explains every setting.
fn all(found: &RuntimeSettings, own: &str, path: &std::path::Path) -> Vec<ExplainedSetting> {
    let own_document = parse_toml(own).ok();
    let mut settings = Vec::new();
    for known in known() {
        let own_item = own_document
            .as_ref()
            .and_then(|document| item_at(document.as_table(), &known.key))
            .map(|item| (json(item), line_of(own, item)));
        let key = SettingKey::of_word(&known.key);
        let deciding = key.and_then(|key| found.deciding(key));
        let mut setting = ExplainedSetting {
            key: known.key.clone(),
            about: known.about,
            value: known.usual,
            from: SettingOrigin::Default,
            file: None,
            line: None,
            name: None,
            note: None,
            others: Vec::new(),
        };
        if let Some((value, line)) = &own_item {
            setting.value = value.clone();
            setting.from = SettingOrigin::Config;
            setting.file = Some(path.to_owned());
            setting.line = Some(*line);
        } else if let Some(deciding) = deciding {
            let effect = deciding.effect().map(|effect| effect.1);
            setting.value = value_of(effect);
            setting.from = SettingOrigin::Runtime;
            setting.file = Some(deciding.file.clone());
            setting.line = deciding.line;
            setting.name = Some(deciding.name.clone());
            setting.note = (deciding.verdict == SettingUse::InProfile).then_some(IN_PROFILE);
        }
        let counts = |other: &RuntimeSetting| {
            setting.from == SettingOrigin::Runtime && Some(other) == deciding
        };
        let others = found.settings.iter().filter(|other| key.is_some() && other.key == key);
        let others = others.filter(|other| !counts(other)).map(LostSetting::of).collect();
        setting.others = others;
        settings.push(setting);
    }
    // What the runtime has and Anemone does not.
    let is_known = |key: Option<SettingKey>| {
        key.is_some_and(|key| settings.iter().any(|setting| setting.key == key.as_str()))
    };
    let rest: Vec<_> = found.settings.iter().filter(|setting| !is_known(setting.key)).collect();
    for setting in rest {
        let effect = setting.effect();
        settings.push(ExplainedSetting {
            key: setting.name.clone(),
            about: None,
            value: value_of(setting.value.as_ref()),
            from: SettingOrigin::Runtime,
            file: Some(setting.file.clone()),
            line: setting.line,
            name: None,
            note: effect.is_none().then(|| reason_of(setting)),
            others: Vec::new(),
        });
    }
    settings
}

/// Selects a setting by its name, also by the one that the runtime has for it.
fn selected(
    settings: Vec<ExplainedSetting>,
    name: &str,
) -> Result<Vec<ExplainedSetting>, ExplainError> {
    let ends = |other: &str| {
        other == name || other.strip_suffix(name).is_some_and(|rest| rest.ends_with('.'))
    };
    let is_meant = |setting: &ExplainedSetting| {
        ends(&setting.key)
            || setting.key.strip_prefix(name).is_some_and(|rest| rest.starts_with('.'))
            || setting.name.as_deref().is_some_and(ends)
            || setting.others.iter().any(|other| ends(&other.name))
    };
    let is_exact = |setting: &ExplainedSetting| setting.key == name;
    let nearest = || {
        let names = settings.iter().map(|setting| setting.key.as_str());
        Nearest::among(name, names).first().cloned()
    };
    if !settings.iter().any(is_meant) {
        return Err(ExplainError::UnknownSetting { name: name.to_owned(), nearest: nearest() });
    }
    let only_exact = settings.iter().any(is_exact);
    let takes =
        |setting: &ExplainedSetting| if only_exact { is_exact(setting) } else { is_meant(setting) };
    Ok(settings.into_iter().filter(takes).collect())
}

impl LostSetting {
    fn of(setting: &RuntimeSetting) -> Self {
        Self {
            name: setting.name.clone(),
            value: value_of(setting.value.as_ref()),
            file: setting.file.clone(),
            line: setting.line,
            reason: reason_of(setting),
            ignored: setting.refusal().is_some(),
        }
    }
}

fn reason_of(setting: &RuntimeSetting) -> &'static str {
    match setting.verdict {
        SettingUse::Used | SettingUse::InProfile => OVERRIDDEN,
        SettingUse::NotNeeded(reason) | SettingUse::Ignored(reason) => reason,
    }
}

fn value_of(value: Option<&anemone_runtimes::SettingValue>) -> Value {
    value.and_then(|value| serde_json::to_value(value).ok()).unwrap_or_default()
}

/// A setting of the config, as the file with all of them describes it.
struct KnownSetting {
    key: String,
    about: Option<String>,
    usual: Value,
}

/// Lists the settings of the config. The file that `config --default` prints has every one.
fn known() -> Vec<KnownSetting> {
    let mut known = Vec::new();
    let mut section = String::new();
    let mut about: Vec<&str> = Vec::new();
    for line in DEFAULT.lines() {
        let (mark, rest) = match (line.strip_prefix("#: "), line.strip_prefix("# ")) {
            (Some(rest), _) => (true, rest),
            (None, Some(rest)) => (false, rest),
            (None, None) => {
                if let Some(name) = line.strip_prefix('[') {
                    section = name.trim_end_matches(']').to_owned();
                }
                about.clear();
                continue;
            }
        };
        let name = rest.split_once(" = ").map(|(name, _)| name);
        let is_name = |name: &&str| name.chars().all(|c| c.is_ascii_lowercase() || c == '_');
        let Some(name) = name.filter(is_name).filter(|_| !section.is_empty()) else {
            about.push(rest);
            continue;
        };
        let usual = if mark { None } else { parse_toml(rest).ok() };
        let usual = usual.and_then(|document| Some(json(document.as_table().get(name)?)));
        known.push(KnownSetting {
            key: format!("{section}.{name}"),
            about: (!about.is_empty()).then(|| about.join(" ")),
            usual: usual.unwrap_or_default(),
        });
        about.clear();
    }
    known
}

fn item_at<'a>(table: &'a dyn TableLike, key: &str) -> Option<&'a Item> {
    let mut parts = key.split('.');
    let first = table.get(parts.next()?)?;
    parts.try_fold(first, |item, part| item.as_table_like()?.get(part))
}

fn line_of(text: &str, item: &Item) -> usize {
    let start = item.span().map_or(0, |span| span.start);
    text.get(..start).unwrap_or_default().matches('\n').count() + 1
}

/// Returns a value as JSON, without secrets.
fn json(item: &Item) -> Value {
    fn of(value: &toml_edit::Value) -> Value {
        match value {
            toml_edit::Value::String(text) => {
                anemone_secrets::redact_text(text.value()).0.into_owned().into()
            }
            toml_edit::Value::Integer(number) => (*number.value()).into(),
            toml_edit::Value::Float(number) => (*number.value()).into(),
            toml_edit::Value::Boolean(truth) => (*truth.value()).into(),
            toml_edit::Value::Array(array) => array.iter().map(of).collect(),
            _ => Value::Null,
        }
    }
    item.as_value().map(of).unwrap_or_default()
}
