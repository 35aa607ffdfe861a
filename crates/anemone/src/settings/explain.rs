//! Says which value of a setting counts, and where it comes from.

use std::path::PathBuf;

use anemone_embed::Provider;
use anemone_runtimes::{
    RuntimeSetting, RuntimeSettings, SettingKey, SettingName, SettingUse, SettingValue,
};
use serde::Serialize;
use serde_json::Value;
use toml_edit::{Item, TableLike};

use super::settings_and_places;
use crate::agent::{AgentChoice, ChosenAgent, FindAgentError};
use crate::config::{self, Config, ConfigError, DEFAULT, parse_toml};
use crate::embedder::{EmbedderKind, EmbedderName, EmbedderSetting};
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
    /// What of the runtime's configuration cannot be read; only the rest of it counts.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub unreadable: Vec<String>,
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
        .map(|ChosenAgent { runtime, agent }| settings_and_places(runtime, agent, &machine, host));
    let found = found.unwrap_or_default();
    let path = config::path(host);
    let text = config::text(host)?.unwrap_or_default();
    let mut settings = all(&found, &text, &path);
    if let Some(name) = &request.key {
        settings = selected(settings, name, &found)?;
    }
    Ok(ExplainReport {
        runtime: chosen.as_ref().map(|chosen| chosen.runtime.name),
        agent: chosen.map(|chosen| chosen.agent.alias),
        unreadable: found.unreadable,
        config: path,
        settings,
    })
}

/// Explains every setting.
fn all(found: &RuntimeSettings, text: &str, path: &std::path::Path) -> Vec<ExplainedSetting> {
    let own_document = parse_toml(text).ok();
    let own = |key: &str| item_at(own_document.as_ref()?.as_table(), key);
    let service = found.value(SettingKey::Embedder).and_then(service_of);
    let name_of = |key: SettingKey| match (key, service) {
        (SettingKey::EmbedderUrl, Some(service)) => format!("embedding.{}.url", service.name()),
        (SettingKey::EmbedderDimensions, Some(service)) => {
            format!("embedding.{}.dimensions", service.name())
        }
        _ => key.as_str().to_owned(),
    };
    let is_of =
        |setting: &RuntimeSetting, name: &str| setting.key.map(name_of).as_deref() == Some(name);
    let mut settings = Vec::new();
    for known in known() {
        let own_item = own(&known.key).map(|item| (json(item), line_of(text, item)));
        let effective =
            |setting: &&RuntimeSetting| setting.effect().is_some() && is_of(setting, &known.key);
        let deciding = found.settings.iter().find(effective);
        // A list of embedders in the config leaves nothing of the one that the runtime names.
        let is_replaced =
            known.key == SettingKey::Embedder.as_str() && own("embedding.order").is_some();
        let deciding = deciding.filter(|_| !is_replaced);
        if known.is_of_service && own_item.is_none() && deciding.is_none() {
            continue;
        }
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
        let others = found.settings.iter().filter(|other| is_of(other, &setting.key));
        let others = others.filter(|other| !counts(other)).map(LostSetting::of).collect();
        setting.others = others;
        settings.push(setting);
    }
    // What the runtime has and Anemone does not.
    let is_known = |other: &&RuntimeSetting| {
        settings.iter().any(|setting: &ExplainedSetting| is_of(other, &setting.key))
    };
    let rest: Vec<_> = found.settings.iter().filter(|setting| !is_known(setting)).collect();
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

/// Selects settings by a name, or by a part of one: that of the config, or one that the runtime's
/// configuration has or may have.
fn selected(
    settings: Vec<ExplainedSetting>,
    name: &str,
    found: &RuntimeSettings,
) -> Result<Vec<ExplainedSetting>, ExplainError> {
    let is_exact = |setting: &ExplainedSetting| setting.key == name;
    let is_below = |setting: &ExplainedSetting| {
        setting.key.strip_prefix(name).is_some_and(|rest| rest.starts_with('.'))
    };
    // A name of the config comes before those of the runtime.
    for of_config in [&is_exact as &dyn Fn(&ExplainedSetting) -> bool, &is_below] {
        if settings.iter().any(of_config) {
            return Ok(settings.into_iter().filter(of_config).collect());
        }
    }
    let known: Vec<SettingName> =
        found.names().filter(|known| is_part_of(name, &known.name)).collect();
    let is_meant = |setting: &ExplainedSetting| {
        is_part_of(name, &setting.key)
            || setting.name.as_deref().is_some_and(|own| is_part_of(name, own))
            || setting.others.iter().any(|other| is_part_of(name, &other.name))
            || known.iter().any(|known| known.key.is_some_and(|key| key.as_str() == setting.key))
    };
    let names = settings.iter().map(|setting| setting.key.clone());
    let names: Vec<String> = names.chain(found.names().map(|known| known.name)).collect();
    let mut selected: Vec<_> = settings.into_iter().filter(is_meant).collect();
    // What the configuration may have, and neither has nor decides anything here.
    for known in known {
        let explains = |setting: &ExplainedSetting| {
            known.key.is_some_and(|key| key.as_str() == setting.key)
                || ends_with(&setting.key, known.path)
        };
        if !selected.iter().any(explains) {
            selected.push(ExplainedSetting::unset(known));
        }
    }
    if selected.is_empty() {
        let nearest = Nearest::among(name, names.iter().map(String::as_str)).first().cloned();
        return Err(ExplainError::UnknownSetting { name: name.to_owned(), nearest });
    }
    Ok(selected)
}

/// Whether a name is a part of a longer one: whole words of it, one after the other.
fn is_part_of(part: &str, name: &str) -> bool {
    let words = |name: &str| format!(".{}.", name.replace('[', ".["));
    words(name).contains(&words(part))
}

/// Whether a name is another one, or ends with it.
fn ends_with(name: &str, end: &str) -> bool {
    name.strip_suffix(end).is_some_and(|rest| rest.is_empty() || rest.ends_with('.'))
}

impl ExplainedSetting {
    /// Explains a setting of the runtime that nobody set.
    fn unset(known: SettingName) -> Self {
        Self {
            key: known.name,
            about: None,
            value: Value::Null,
            from: SettingOrigin::Default,
            file: None,
            line: None,
            name: None,
            note: known.reason,
            others: Vec::new(),
        }
    }
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

fn value_of(value: Option<&SettingValue>) -> Value {
    value.and_then(|value| serde_json::to_value(value).ok()).unwrap_or_default()
}

/// A setting of the config, as the file with all of them describes it.
struct KnownSetting {
    key: String,
    about: Option<String>,
    usual: Value,
    /// Whether it is one of a service that the file does not show, where all are alike.
    is_of_service: bool,
}

/// The service whose section stands for those of all.
const SHOWN_SERVICE: &str = "embedding.openai";

/// Returns the service that an embedder's name means.
fn service_of(name: &SettingValue) -> Option<Provider> {
    let SettingValue::Text(name) = name else { return None };
    match name.parse() {
        Ok(EmbedderSetting::This(EmbedderName {
            name: EmbedderKind::Service(service), ..
        })) => Some(service),
        _ => None,
    }
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
        let about_text = (!about.is_empty()).then(|| about.join(" "));
        let mut add = |section: &str, is_of_service| {
            known.push(KnownSetting {
                key: format!("{section}.{name}"),
                about: about_text.clone(),
                usual: usual.clone().unwrap_or_default(),
                is_of_service,
            });
        };
        add(&section, false);
        if section == SHOWN_SERVICE {
            for service in Provider::ALL {
                let section_of = format!("embedding.{}", service.name());
                if section_of != SHOWN_SERVICE {
                    add(&section_of, true);
                }
            }
        }
        about.clear();
    }
    known
}

/// Returns the line of a setting in the user's own config.
pub(super) fn line_of_own(key: &str, host: &Host) -> Option<usize> {
    let text = config::text(host).ok()??;
    let document = parse_toml(&text).ok()?;
    Some(line_of(&text, item_at(document.as_table(), key)?))
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
            toml_edit::Value::String(text) => anemone_secrets::for_display(text.value()).into(),
            toml_edit::Value::Integer(number) => (*number.value()).into(),
            toml_edit::Value::Float(number) => (*number.value()).into(),
            toml_edit::Value::Boolean(truth) => (*truth.value()).into(),
            toml_edit::Value::Array(array) => array.iter().map(of).collect(),
            _ => Value::Null,
        }
    }
    item.as_value().map(of).unwrap_or_default()
}
