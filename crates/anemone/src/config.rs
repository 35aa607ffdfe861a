//! `config.toml`: settings that the user makes once instead of at each command.
//!
//! Its path is `anemone/config.toml` under `XDG_CONFIG_HOME`. It contains no secrets, so that it
//! can be shared and kept in a repository: a key is in a file of its own or in the environment.

mod memory;
mod section;

use std::collections::HashMap;
use std::io::Read as _;
use std::path::{Path, PathBuf};

use anemone_embed::Provider;
use anemone_files::if_found;
use anemone_index::RankingTuning;
use anemone_memory::{
    AuditSettings, CaptureSettings, ChatSettings, ContextLimits, FlushSettings, RecallSettings,
    RememberSettings, TidySettings,
};
use toml_edit::{Document, Item, Value};

use self::memory::{
    read_audit, read_capture, read_chat, read_context, read_flush, read_recall, read_remember,
    read_search, read_tidy,
};
use self::section::{Folders, Section, expected, text as text_of};
use crate::embedder::{EmbedderName, EmbedderSetting};
use crate::host::Host;
use crate::search::Citations;

/// Every setting with its default, commented out.
pub const DEFAULT: &str = include_str!("config/default.toml");
/// More than anybody writes by hand.
const MAX_BYTES: u64 = 256 << 10;

/// What the file says.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Config {
    /// The default embedder.
    pub embedder: Option<EmbedderSetting>,
    /// The fallback if that one fails.
    pub fallback: Option<EmbedderSetting>,
    /// Of these, the first that can be had.
    pub order: Vec<EmbedderName>,
    /// Services that embed, and how they are called.
    pub services: HashMap<Provider, ServiceConfig>,
    /// What is searched, and how hits are ranked.
    pub search: SearchSettings,
    /// How much a session sees.
    pub context: ContextLimits,
    /// A chat model that may be asked.
    pub chat: ChatSettings,
    /// When a text counts as known.
    pub remember: RememberSettings,
    /// What is kept before a conversation is compacted.
    pub flush: FlushSettings,
    /// What is kept of a turn.
    pub capture: CaptureSettings,
    /// What is recalled for a prompt.
    pub recall: RecallSettings,
    /// When entries are archived.
    pub tidy: TidySettings,
    /// What an audit reports.
    pub audit: AuditSettings,
}

/// What is searched, and how hits are ranked.
#[derive(Clone, Debug, PartialEq)]
pub struct SearchSettings {
    /// Whether hooks and tools search for the agent; a search by hand always works.
    pub enabled: bool,
    /// Whether conversations are searched.
    pub sessions: bool,
    /// Files and folders outside the workspace that are searched, too.
    pub extra_paths: Vec<PathBuf>,
    /// How many hits are shown.
    pub limit: Option<u32>,
    /// The least score of a hit.
    pub min_score: Option<f64>,
    /// The least score of a hit where hits are ranked as the agent's runtime does.
    pub profile_min_score: Option<f64>,
    /// How strongly similar hits are avoided.
    pub diversity: Option<f64>,
    /// Days after which age counts half.
    pub recency_days: Option<f64>,
    /// Whether hits are cited.
    pub citations: Citations,
    /// The constants of another program's ranking.
    pub tuning: RankingTuning,
}

impl SearchSettings {
    /// The most hits of one search.
    pub const MOST: u32 = 1000;
}

impl Default for SearchSettings {
    fn default() -> Self {
        Self {
            enabled: true,
            sessions: false,
            extra_paths: Vec::new(),
            limit: None,
            min_score: None,
            profile_min_score: None,
            diversity: None,
            recency_days: None,
            citations: Citations::Auto,
            tuning: RankingTuning::default(),
        }
    }
}

/// What the file says about one service.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ServiceConfig {
    /// Its address.
    pub url: Option<String>,
    /// The model that is used.
    pub model: Option<String>,
    /// The length of its vectors.
    pub dimensions: Option<usize>,
    /// The file that holds the key, as an absolute path.
    pub key_file: Option<PathBuf>,
    /// How many texts it takes at once.
    pub max_batch: Option<usize>,
    /// The input type that is sent with a query.
    pub query_input_type: Option<String>,
    /// The input type that is sent with a document.
    pub document_input_type: Option<String>,
    /// Whether it may be called without encryption.
    pub allow_http: bool,
}

/// Why the config cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ConfigError {
    /// The file cannot be read.
    #[error(transparent)]
    Io(#[from] std::io::Error),
    /// The file contains something that a config cannot contain.
    #[error("{}: {problem}", path.display())]
    Invalid {
        /// The file.
        path: PathBuf,
        /// What is wrong in it.
        problem: ConfigProblem,
    },
}

/// What is wrong in a config.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ConfigProblem {
    /// It is a folder, a pipe or something else that is no file.
    #[error("it is not a regular file")]
    NotAFile,
    /// The file is longer than any config written by hand.
    #[error("it is too long to be a config")]
    TooLong,
    /// It is no text.
    #[error("it is not UTF-8")]
    NotUtf8,
    /// It is no TOML from a line on.
    #[error("line {0} is no TOML")]
    NotToml(usize),
    /// What takes over when an embedder fails must be named.
    #[error("embedding.fallback cannot be \"auto\"")]
    AutomaticFallback,
    /// A setting has a value of the wrong type.
    #[error("{setting} is not {expected}")]
    WrongType {
        /// The setting.
        setting: String,
        /// What its value should be.
        expected: &'static str,
        /// How that is written, where the user may not know.
        example: Option<String>,
    },
    /// A setting names what there is not.
    #[error("{setting}: {reason}")]
    WrongName {
        /// The setting.
        setting: String,
        /// Why it names nothing.
        reason: String,
    },
    /// A config is shared, so no key may be in it.
    #[error("{0}: API keys are not allowed in the config")]
    KeyInConfig(String),
    /// There is no such setting.
    #[error("there is no setting {setting}")]
    UnknownSetting {
        /// The setting.
        setting: String,
        /// The setting that was probably meant.
        nearest: Option<String>,
        /// Those that there are in its section.
        known: Vec<String>,
    },
}

/// What reading a part of the config returns.
type Result<T, E = ConfigProblem> = std::result::Result<T, E>;

impl ConfigProblem {
    /// Returns how to set it right.
    #[must_use]
    pub fn hint(&self) -> Option<String> {
        Some(match self {
            Self::NotAFile | Self::TooLong | Self::NotUtf8 | Self::WrongName { .. } => return None,
            Self::NotToml { .. } => "write it as name = \"value\"".to_owned(),
            Self::AutomaticFallback => {
                "give \"builtin\", \"none\" or the name of an embedder".to_owned()
            }
            Self::WrongType { example, .. } => format!("write {}", example.as_ref()?),
            Self::KeyInConfig(_) => {
                "put the key into a file that only you can read, and name that with key_file"
                    .to_owned()
            }
            Self::UnknownSetting { nearest: Some(name), .. } => format!("did you mean {name}?"),
            Self::UnknownSetting { known, .. } => format!("there are: {}", known.join(", ")),
        })
    }
}

/// Returns the path of the config file, which need not exist.
pub fn path(host: &Host) -> PathBuf {
    host.folders.own_config().join("config.toml")
}

/// Reads the text of the config; `None` if there is none. A link to it is followed: people keep
/// their settings elsewhere.
pub(crate) fn text(host: &Host) -> Result<Option<String>, ConfigError> {
    let path = path(host);
    let invalid = |problem| ConfigError::Invalid { path: path.clone(), problem };
    let Some(there) = if_found(fs_err::metadata(&path))? else { return Ok(None) };
    // Checked before it is opened: opening a pipe would wait for a writer.
    if !there.is_file() {
        return Err(invalid(ConfigProblem::NotAFile));
    }
    let Some(file) = if_found(fs_err::File::open(&path))? else { return Ok(None) };
    let mut bytes = Vec::new();
    file.take(MAX_BYTES + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > MAX_BYTES {
        return Err(invalid(ConfigProblem::TooLong));
    }
    String::from_utf8(bytes).map(Some).map_err(|_| invalid(ConfigProblem::NotUtf8))
}

impl Config {
    /// Reads the config; a missing file is an empty config.
    pub fn read(host: &Host) -> Result<Self, ConfigError> {
        Self::default().overridden(host)
    }

    /// Reads the config over these settings: what the file does not set stays as it is.
    pub fn overridden(self, host: &Host) -> Result<Self, ConfigError> {
        let Some(text) = text(host)? else { return Ok(self) };
        let path = path(host);
        let folder = path.parent().unwrap_or(Path::new("/"));
        self.parse(&text, folder, &host.folders.home)
            .map_err(|problem| ConfigError::Invalid { path: path.clone(), problem })
    }

    /// Reads the text of a config; files are named relative to its folder or to the home folder.
    fn parse(self, text: &str, folder: &Path, home: &Path) -> Result<Self> {
        let document = parse_toml(text).map_err(ConfigProblem::NotToml)?;
        let mut config = self;
        let mut root = Section::root(document.as_table(), Folders { config: folder, home });
        root.within("embedding", |section| config.read_embedding(section))?;
        root.within("search", |section| read_search(&mut config.search, section))?;
        root.within("context", |section| read_context(&mut config.context, section))?;
        root.within("chat", |section| read_chat(&mut config.chat, section))?;
        root.within("remember", |section| read_remember(&mut config.remember, section))?;
        root.within("flush", |section| read_flush(&mut config.flush, section))?;
        root.within("capture", |section| read_capture(&mut config.capture, section))?;
        root.within("recall", |section| read_recall(&mut config.recall, section))?;
        root.within("tidy", |section| read_tidy(&mut config.tidy, section))?;
        root.within("audit", |section| read_audit(&mut config.audit, section))?;
        root.end()?;
        Ok(config)
    }

    fn read_embedding(&mut self, section: &mut Section<'_>) -> Result<()> {
        let embedder = section.read("embedder", named)?;
        self.fallback = section.read("fallback", named)?.or(self.fallback.take());
        if self.fallback == Some(EmbedderSetting::Auto) {
            return Err(ConfigProblem::AutomaticFallback);
        }
        let order = section.read("order", list)?;
        // Either of them is a choice, which leaves nothing of another one.
        if embedder.is_some() || order.is_some() {
            self.embedder = embedder;
            self.order = order.unwrap_or_default();
        }
        for provider in Provider::ALL {
            let service = section.section(provider.name())?;
            if service.is_there() {
                let earlier = self.services.remove(&provider).unwrap_or_default();
                self.services.insert(provider, read_service(service, earlier)?);
            }
        }
        Ok(())
    }
}

/// Parses a TOML file, or returns the line that is wrong. The error itself quotes that line, which
/// may hold a key.
pub(crate) fn parse_toml(text: &str) -> Result<Document<&str>, usize> {
    Document::parse(text).map_err(|error| {
        let before = error.span().and_then(|span| text.get(..span.start)).unwrap_or_default();
        before.matches('\n').count() + 1
    })
}

fn read_service(mut section: Section<'_>, earlier: ServiceConfig) -> Result<ServiceConfig> {
    let mut service = ServiceConfig {
        url: section.text("url")?.or(earlier.url),
        model: section.text("model")?.or(earlier.model),
        dimensions: section.count("dimensions")?.or(earlier.dimensions),
        key_file: section.file("key_file")?,
        max_batch: section.count("max_batch")?,
        query_input_type: section.text("query_input_type")?,
        document_input_type: section.text("document_input_type")?,
        allow_http: false,
    };
    section.truth("allow_http", &mut service.allow_http)?;
    section.end()?;
    Ok(service)
}

fn named(place: &str, item: &Item) -> Result<EmbedderSetting> {
    let text = text_of(place, item)?;
    text.parse().map_err(|error| misnamed(place, &error))
}

fn misnamed(setting: &str, reason: &impl ToString) -> ConfigProblem {
    ConfigProblem::WrongName { setting: setting.to_owned(), reason: reason.to_string() }
}

fn list(place: &str, item: &Item) -> Result<Vec<EmbedderName>> {
    let Some(array) = item.as_array() else {
        return Err(expected(place, "a list", Some("[\"minilm\", \"openai\"]")));
    };
    let one = |value: &Value| {
        let text = value.as_str().ok_or_else(|| expected(place, "a list of texts", None))?;
        text.parse().map_err(|error| misnamed(place, &error))
    };
    array.iter().map(one).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::embedder::EmbedderKind;

    fn parse(text: &str) -> Result<Config> {
        Config::default().parse(text, Path::new("/config/anemone"), Path::new("/home/lin"))
    }

    fn failure(text: &str) -> String {
        let error = parse(text).unwrap_err();
        format!("{error} / {}", error.hint().unwrap_or_default())
    }

    #[test]
    fn everything_that_can_be_settled_is_read() {
        let config = parse(
            "[embedding]\nembedder = \"openai\"\nfallback = \"none\"\norder = [\"minilm\", \"gemini:x\"]\n\
             [embedding.openai]\nurl = \"http://gpu:8080\"\nmodel = \"own\"\ndimensions = 512\n\
             key_file = \"~/.keys/openai\"\nmax_batch = 16\nquery_input_type = \"query\"\n\
             document_input_type = \"passage\"\nallow_http = true\n\
             [embedding.voyage]\nkey_file = \"voyage.key\"\n",
        )
        .unwrap();
        assert_eq!(config.embedder, Some("openai".parse().unwrap()));
        assert_eq!(config.fallback, Some(EmbedderSetting::None));
        assert_eq!(
            config.order,
            [EmbedderName::of(EmbedderKind::MiniLm), "gemini:x".parse().unwrap()]
        );
        let openai = &config.services[&Provider::OpenAi];
        assert_eq!(openai.key_file, Some(PathBuf::from("/home/lin/.keys/openai")));
        assert_eq!((openai.dimensions, openai.max_batch), (Some(512), Some(16)));
        assert!(openai.allow_http);
        let voyage = &config.services[&Provider::Voyage];
        assert_eq!(voyage.key_file, Some(PathBuf::from("/config/anemone/voyage.key")));
        assert_eq!(parse("").unwrap(), Config::default());
    }

    #[test]
    fn a_setting_that_is_not_known_is_named_with_the_nearest_one() {
        let error = failure("[embedding.openai]\nmodelx = \"x\"\n");
        assert_eq!(
            error,
            "there is no setting embedding.openai.modelx / did you mean embedding.openai.model?"
        );
        assert!(failure("[embeddings]\n").contains("did you mean embedding?"));
        assert!(failure("[embedding.opnai]\n").contains("did you mean embedding.openai?"));
        assert!(failure("[embedding]\nzebra = 1\n").contains("there are: embedder, fallback"));
    }

    #[test]
    fn a_key_in_the_config_is_refused_and_never_shown() {
        for name in ["key", "api_key", "token", "API_KEY"] {
            let error = failure(&format!("[embedding.openai]\n{name} = \"sk-secret\"\n"));
            assert!(error.contains("key_file") && !error.contains("sk-secret"), "{error}");
        }
        let error = failure("[embedding.openai]\n\nkey = sk-secret\n");
        assert!(error.starts_with("line 3 is no TOML") && !error.contains("sk-secret"), "{error}");
    }

    #[test]
    fn values_of_another_sort_are_refused() {
        for text in [
            "embedding = 1",
            "[embedding]\nembedder = 1",
            "[embedding]\nembedder = \"zebra\"",
            "[embedding]\nfallback = \"auto\"",
            "[embedding]\norder = \"minilm\"",
            "[embedding]\norder = [1]",
            "[embedding]\nopenai = \"yes\"",
            "[embedding.openai]\nurl = \"\"",
            "[embedding.openai]\ndimensions = 0",
            "[embedding.openai]\ndimensions = -1",
            "[embedding.openai]\nallow_http = \"yes\"",
        ] {
            assert!(parse(text).is_err(), "{text}");
        }
    }

    /// Takes the marks away from the settings of the default file.
    fn unmarked(mark: &str) -> String {
        let line = |line: &str| match line.strip_prefix(mark) {
            Some(rest) if rest.contains(" = ") && !rest.starts_with(' ') => format!("{rest}\n"),
            _ if line.starts_with('#') => String::new(),
            _ => format!("{line}\n"),
        };
        DEFAULT.lines().map(line).collect()
    }

    #[test]
    fn the_default_file_says_what_holds() {
        assert_eq!(parse(DEFAULT).unwrap().tidy, TidySettings::default());
        let mut configured = parse(&unmarked("# ")).unwrap();
        assert!(!configured.services[&Provider::OpenAi].allow_http);
        configured.services.clear();
        assert_eq!(configured, Config::default());
    }

    #[test]
    fn the_default_file_has_every_setting() {
        let text = unmarked("# ") + &unmarked("#: ");
        let mut sections: HashMap<String, Vec<String>> = HashMap::new();
        let mut here = String::new();
        for line in text.lines() {
            match (line.strip_prefix('['), line.split_once(" = ")) {
                (Some(name), _) => here = name.trim_end_matches(']').to_owned(),
                (_, Some((name, _))) => {
                    sections.entry(here.clone()).or_default().push(name.to_owned());
                }
                _ => {}
            }
        }
        // If no known setting is similar to an unknown one, all known settings are listed.
        for (section, names) in sections {
            let error = failure(&format!("[{section}]\nxxxxxxxxxxxxxxxx = 1\n"));
            let known = error.split_once("there are: ").unwrap().1;
            let known = known.split(", ").filter(|part| Provider::by_name(part).is_none());
            for name in known {
                assert!(
                    names.iter().any(|other| other == name),
                    "[{section}] {name} is not in the file"
                );
            }
        }
        parse(&unmarked("#: ")).unwrap();
    }
}
