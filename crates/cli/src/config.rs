//! `config.toml`: what somebody settled once, so that it need not be said at each command.
//!
//! It lies in `anemone/config.toml` under `XDG_CONFIG_HOME`. It holds no secrets, so that it can be
//! shared and kept in a repository: a key stands in a file of its own or in the environment.

use std::collections::HashMap;
use std::io::Read as _;
use std::path::{Path, PathBuf};

use anemone_embed::Provider;
use toml_edit::{Document, Item, TableLike, Value};

use crate::embedder::{Choice, Wanted};
use crate::environment::Environment;
use crate::error::{CliError, Kind};
use crate::nearest::Nearest;

/// More than anybody writes by hand.
const MAX_BYTES: u64 = 256 << 10;
/// Names by which people try to put a key into the config.
const KEYS: [&str; 6] = ["key", "api_key", "apikey", "api-key", "token", "secret"];

/// What the file says.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Config {
    /// What compares meanings when nobody says.
    pub(crate) embedder: Option<Choice>,
    /// What does it when that one fails.
    pub(crate) fallback: Option<Choice>,
    /// Of these, the first that can be had.
    pub(crate) order: Vec<Wanted>,
    pub(crate) services: HashMap<Provider, ServiceConfig>,
}

/// What the file says about one service.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct ServiceConfig {
    pub(crate) url: Option<String>,
    pub(crate) model: Option<String>,
    pub(crate) dimensions: Option<usize>,
    /// The file that holds the key, as an absolute path.
    pub(crate) key_file: Option<PathBuf>,
    pub(crate) max_batch: Option<usize>,
    pub(crate) query_input_type: Option<String>,
    pub(crate) document_input_type: Option<String>,
    pub(crate) allow_http: bool,
}

/// Returns where the config lies, if there is one.
pub(crate) fn path(environment: &Environment) -> PathBuf {
    environment.config_home.join("anemone/config.toml")
}

impl Config {
    /// Reads the config; where there is none, nothing is settled.
    pub(crate) fn read(environment: &Environment) -> Result<Self, CliError> {
        let path = path(environment);
        let file = match fs_err::File::open(&path) {
            Ok(file) => file,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                return Ok(Self::default());
            }
            Err(error) => return Err(error.into()),
        };
        let mut bytes = Vec::new();
        file.take(MAX_BYTES + 1).read_to_end(&mut bytes)?;
        if bytes.len() as u64 > MAX_BYTES {
            return Err(wrong("it is too long to be a config").about(&path));
        }
        let text = String::from_utf8(bytes).map_err(|_| wrong("it is not UTF-8").about(&path))?;
        let folder = path.parent().unwrap_or(Path::new("/"));
        Self::parse(&text, folder, &environment.home).map_err(|error| error.about(&path))
    }

    /// Reads the text of a config; files are named relative to its folder or to the home folder.
    fn parse(text: &str, folder: &Path, home: &Path) -> Result<Self, CliError> {
        let document = Document::parse(text).map_err(|error| {
            // The error itself quotes the line, and that may hold what should not be shown.
            let before = error.span().and_then(|it| text.get(..it.start)).unwrap_or_default();
            let line = before.matches('\n').count() + 1;
            wrong(format!("line {line} is no TOML")).hint("write it as name = \"value\"")
        })?;
        let mut config = Self::default();
        for (key, item) in document.as_table() {
            match key {
                "embedding" => config.read_embedding(table(key, item)?, folder, home)?,
                other => return Err(unknown("", other, &["embedding"])),
            }
        }
        Ok(config)
    }

    fn read_embedding(
        &mut self,
        section: &dyn TableLike,
        folder: &Path,
        home: &Path,
    ) -> Result<(), CliError> {
        const PLACE: &str = "embedding.";
        for (key, item) in section.iter() {
            match key {
                "embedder" => self.embedder = Some(named(key, item)?),
                "fallback" => {
                    let choice = named(key, item)?;
                    if choice == Choice::Auto {
                        return Err(wrong("embedding.fallback cannot be \"auto\"")
                            .hint("give \"builtin\", \"none\" or the name of an embedder"));
                    }
                    self.fallback = Some(choice);
                }
                "order" => self.order = list(key, item)?,
                _ => {
                    let Some(service) = Provider::by_name(key) else {
                        let own = ["embedder", "fallback", "order"].into_iter();
                        let known: Vec<_> = own.chain(Provider::ALL.map(Provider::name)).collect();
                        return Err(unknown(PLACE, key, &known));
                    };
                    let place = format!("{PLACE}{key}");
                    let section = table(&place, item)?;
                    self.services.insert(service, read_service(&place, section, folder, home)?);
                }
            }
        }
        Ok(())
    }
}

fn read_service(
    place: &str,
    section: &dyn TableLike,
    folder: &Path,
    home: &Path,
) -> Result<ServiceConfig, CliError> {
    let mut service = ServiceConfig::default();
    for (key, item) in section.iter() {
        let at = format!("{place}.{key}");
        match key {
            "url" => service.url = Some(text(&at, item)?),
            "model" => service.model = Some(text(&at, item)?),
            "dimensions" => service.dimensions = Some(number(&at, item)?),
            "key_file" => service.key_file = Some(below(&text(&at, item)?, folder, home)),
            "max_batch" => service.max_batch = Some(number(&at, item)?),
            "query_input_type" => service.query_input_type = Some(text(&at, item)?),
            "document_input_type" => service.document_input_type = Some(text(&at, item)?),
            "allow_http" => service.allow_http = truth(&at, item)?,
            _ if KEYS.contains(&key.to_lowercase().as_str()) => {
                return Err(wrong(format!("{at}: keys do not stand in the config")).hint(
                    "put the key into a file that only you can read, and name that with key_file",
                ));
            }
            _ => {
                let known = [
                    "url",
                    "model",
                    "dimensions",
                    "key_file",
                    "max_batch",
                    "query_input_type",
                    "document_input_type",
                    "allow_http",
                ];
                return Err(unknown(&format!("{place}."), key, &known));
            }
        }
    }
    Ok(service)
}

/// Finds a file that the config names: `~/x` lies in the home folder, `x` beside the config.
fn below(name: &str, folder: &Path, home: &Path) -> PathBuf {
    match name.strip_prefix("~/") {
        Some(rest) => home.join(rest),
        None => folder.join(name),
    }
}

fn wrong(message: impl Into<String>) -> CliError {
    CliError::new(Kind::Failed, "config", message)
}

fn unknown(place: &str, key: &str, known: &[&str]) -> CliError {
    let mut near = Nearest::to(key);
    for name in known {
        near.offer((*name).to_owned());
    }
    let error = wrong(format!("there is no setting {place}{key}"));
    match near.into_names().first() {
        Some(name) => error.hint(format!("did you mean {place}{name}?")),
        None => error.hint(format!("there are: {}", known.join(", "))),
    }
}

fn expected(place: &str, what: &str) -> CliError {
    wrong(format!("{place} is not {what}"))
}

fn table<'a>(place: &str, item: &'a Item) -> Result<&'a dyn TableLike, CliError> {
    item.as_table_like()
        .ok_or_else(|| expected(place, "a section").hint(format!("write [{place}]")))
}

fn text(place: &str, item: &Item) -> Result<String, CliError> {
    let text = item.as_str().filter(|it| !it.trim().is_empty());
    text.map(str::to_owned).ok_or_else(|| expected(place, "a text").hint("write it in quotes"))
}

fn number(place: &str, item: &Item) -> Result<usize, CliError> {
    let number = item.as_integer().and_then(|it| usize::try_from(it).ok()).filter(|it| *it > 0);
    number.ok_or_else(|| expected(place, "a number from 1 on"))
}

fn truth(place: &str, item: &Item) -> Result<bool, CliError> {
    item.as_bool().ok_or_else(|| expected(place, "true or false"))
}

fn named(key: &str, item: &Item) -> Result<Choice, CliError> {
    let place = format!("embedding.{key}");
    let text = text(&place, item)?;
    text.parse().map_err(|error| wrong(format!("{place}: {error}")))
}

fn list(key: &str, item: &Item) -> Result<Vec<Wanted>, CliError> {
    let place = format!("embedding.{key}");
    let Some(array) = item.as_array() else {
        return Err(expected(&place, "a list").hint("write [\"minilm\", \"openai\"]"));
    };
    let one = |value: &Value| {
        let text = value.as_str().ok_or_else(|| expected(&place, "a list of texts"))?;
        text.parse().map_err(|error| wrong(format!("{place}: {error}")))
    };
    array.iter().map(one).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::embedder::Name;

    fn parse(text: &str) -> Result<Config, CliError> {
        Config::parse(text, Path::new("/config/anemone"), Path::new("/home/lin"))
    }

    fn failure(text: &str) -> String {
        let error = parse(text).unwrap_err();
        format!("{} / {}", error.message, error.hint.unwrap_or_default())
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
        assert_eq!(config.fallback, Some(Choice::None));
        assert_eq!(config.order, [Wanted::of(Name::MiniLm), "gemini:x".parse().unwrap()]);
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
            assert_eq!(parse(text).unwrap_err().code, "config", "{text}");
        }
    }
}
