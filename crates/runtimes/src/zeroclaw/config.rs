//! `config.toml` in all its schemas: read leniently, redacted by field, merged without losing a
//! comment.
//!
//! | schema | since | providers | agents |
//! |---|---|---|---|
//! | 1, no key | 0.1 | `api_key`, `default_model`, `[model_providers.*]` | `[agents.*]` are delegates |
//! | 2 | 0.7.3 | `[providers.models.*]` | `[agents.*]` are delegates |
//! | 3 | 0.8.0 | `[providers.models.<family>.<alias>]` | `[agents.<alias>]` |
//!
//! The runtime drops an invalid section and continues with its defaults; so a key of an unexpected
//! type counts as absent here.

mod allowed;
mod file;
mod merge;
mod redact;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use anemone_format::{RuntimeHints, Unknown};
use toml_edit::{Document, Item, TableLike, Value};
use zeroize::Zeroizing;

use crate::kit::{ConfigFile, Warning};
pub(super) use file::{read_plain, replace, write_new};
pub(super) use merge::{ConfigSite, InstallUse, dotted, is_same_value, plan_config};
pub(super) use redact::{
    ENCRYPTED, ElementName, RedactedConfig, SecretLeaf, is_encrypted_field, shown,
};

/// Bytes of a configuration, at most; the largest that we have seen has 20 kB.
pub(super) const MAX_BYTES: u64 = 4 << 20;
/// The most settings and elements of lists: each takes much more memory than its bytes.
const MAX_VALUES: usize = 50_000;
/// How deep tables and lists may be nested.
const MAX_DEPTH: usize = 200;
/// The most agents that are read.
const MAX_AGENTS: usize = 1000;
/// Where memories are by default.
const USUAL_BACKEND: &str = "sqlite";

/// A configuration file.
pub(super) struct Config {
    document: Document<Zeroizing<String>>,
}

/// Where memories are kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Backend {
    Sqlite,
    Markdown,
    /// Nothing is kept.
    None,
    /// SQLite, with a search service beside it.
    Lucid,
    /// Elsewhere: `postgres`, `qdrant` and others that we cannot read.
    Elsewhere(String),
}

/// What the configuration says about an agent's persona.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct IdentitySettings {
    /// `openclaw` or `aieos`.
    pub(super) format: Option<String>,
    /// A file, relative to the workspace or absolute; takes precedence over the text.
    pub(super) aieos_path: Option<PathBuf>,
    /// A document.
    pub(super) aieos_inline: Option<String>,
}

/// The model that made the vectors, as far as the configuration says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct EmbeddingSettings {
    pub(super) provider: String,
    pub(super) model: String,
    pub(super) dimensions: Option<u64>,
}

/// An agent that the configuration declares.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ConfiguredAgent {
    pub(super) alias: String,
    /// Its workspace, when it is not the default one; as it was written.
    pub(super) workspace: Option<PathBuf>,
}

impl Config {
    /// Returns the configuration of an agent, which is read once.
    pub(super) fn of(file: &ConfigFile) -> Result<Arc<Self>, Warning> {
        file.read_once(|path| Self::read(path).map(Arc::new))
    }

    /// Reads a file. A file that is not TOML cannot be redacted by field, so it has no `Config` and
    /// does not travel.
    pub(super) fn read(path: &Path) -> Result<Self, Warning> {
        let warning =
            |message: String| Warning::about("config_unreadable", path.display(), message);
        let text = read_plain(path, MAX_BYTES)
            .and_then(|text| text.ok_or_else(|| std::io::ErrorKind::NotFound.into()))
            .map_err(|error| warning(format!("cannot be read: {error}")))?;
        Self::parse(text.clone()).ok_or_else(|| {
            warning(match place_of_error(&text) {
                _ if is_large(&text) => format!("has more than {MAX_VALUES} values"),
                Some((line, column)) => format!("is not TOML at line {line}, column {column}"),
                None => "is nested too deep".to_owned(),
            })
        })
    }

    /// Parses a text; `None` when it is not TOML. The parser's message is dropped, because it may
    /// hold a secret.
    pub(super) fn parse(text: Zeroizing<String>) -> Option<Self> {
        if is_large(&text) {
            return None;
        }
        let document = Document::parse(text).ok()?;
        (!is_deep(document.as_item(), 0)).then_some(Self { document })
    }

    /// Returns the schema that it is written in.
    pub(super) fn schema_version(&self) -> u32 {
        schema_of(self.document.as_item())
    }

    /// Returns where an agent's memories are. The runtime treats an unknown name as `markdown`; so
    /// do we, and [`Self::backend_warning`] says so.
    pub(super) fn backend(&self, alias: &str) -> Backend {
        known_backend(&self.backend_name(alias)).unwrap_or(Backend::Markdown)
    }

    /// Warns of an unknown backend.
    pub(super) fn backend_warning(&self, alias: &str) -> Option<Warning> {
        let name = self.backend_name(alias);
        known_backend(&name).is_none().then(|| {
            Warning::new(
                "backend_unknown",
                format!(
                    "the memory backend {:?} is not known; the runtime takes it for markdown",
                    shown(&name)
                ),
            )
        })
    }

    fn backend_name(&self, alias: &str) -> String {
        let own = if self.schema_version() >= 3 {
            self.text(&["agents", alias, "memory", "backend"])
        } else {
            // In these schemas a named store takes precedence over the backend. It is in a map that
            // newer programs encrypt.
            let store = self.text(&["storage", "provider", "config", "provider"]);
            store.filter(|name| known_backend(&name.trim().to_ascii_lowercase()).is_some())
        };
        let name = own.or_else(|| self.text(&["memory", "backend"])).unwrap_or(USUAL_BACKEND);
        name.trim().to_ascii_lowercase()
    }

    /// Returns how an agent's persona is kept.
    pub(super) fn identity(&self, alias: &str) -> IdentitySettings {
        let own = (self.schema_version() >= 3)
            .then(|| self.table(&["agents", alias, "identity"]))
            .flatten();
        let Some(table) = own.or_else(|| self.table(&["identity"])) else {
            return IdentitySettings::default();
        };
        let text = |key: &str| {
            let text = table.get(key).and_then(Item::as_str);
            text.filter(|text| !text.trim().is_empty()).map(str::to_owned)
        };
        IdentitySettings {
            format: text("format").map(|format| format.trim().to_ascii_lowercase()),
            aieos_path: text("aieos_path").map(PathBuf::from),
            aieos_inline: text("aieos_inline"),
        }
    }

    /// Returns the model that makes vectors; `None` when there is none, or when a route leads
    /// nowhere.
    pub(super) fn embedding(&self) -> Option<EmbeddingSettings> {
        let memory = self.table(&["memory"])?;
        let text = |key: &str| memory.get(key).and_then(Item::as_str).map(str::trim);
        let provider =
            text("embedding_provider").filter(|text| !text.is_empty() && *text != "none")?;
        let model = text("embedding_model").unwrap_or("text-embedding-3-small");
        let dimensions = memory.get("embedding_dimensions").and_then(positive);
        let Some(hint) = model.strip_prefix("hint:") else {
            let (provider, model) = (provider.to_owned(), model.to_owned());
            return Some(EmbeddingSettings { provider, model, dimensions });
        };
        let route = self.route(hint.trim())?;
        let of = |key: &str| route.get(key).and_then(Item::as_str);
        // Schema 3 names an entry of the family.
        let family = of("model_provider").or_else(|| of("provider")).unwrap_or(provider);
        Some(EmbeddingSettings {
            provider: family.split('.').next().unwrap_or(family).to_owned(),
            model: of("model")?.to_owned(),
            dimensions: route.get("dimensions").and_then(positive).or(dimensions),
        })
    }

    /// Finds the embedding route with a name.
    fn route(&self, hint: &str) -> Option<&dyn TableLike> {
        let routes = [&["embedding_routes"][..], &["providers", "embedding_routes"]];
        let found = |item: &Item, at: usize| {
            let route = item.get(at)?.as_table_like()?;
            Some(route.get("hint").and_then(Item::as_str) == Some(hint))
        };
        routes.into_iter().filter_map(|path| self.item(path)).find_map(|item| {
            let at = (0..).map_while(|at| found(item, at)).position(|is_it| is_it)?;
            item.get(at)?.as_table_like()
        })
    }

    /// Returns which model an agent uses, and how it weights search results.
    pub(super) fn hints(&self, alias: &str) -> Option<RuntimeHints> {
        let (provider, model) = self.model(alias)?;
        let weight = |key: &'static str| {
            let item = self.item(&["memory", key])?;
            #[expect(clippy::cast_precision_loss, reason = "a weight is a small number")]
            let value =
                item.as_float().or_else(|| item.as_integer().map(|integer| integer as f64))?;
            value.is_finite().then(|| format!("memory.{key} = {value}"))
        };
        let weights: Vec<_> =
            ["vector_weight", "keyword_weight"].into_iter().filter_map(weight).collect();
        Some(RuntimeHints {
            primary_model: model.clone(),
            last_model: model,
            provider,
            context_window: None,
            notes: (!weights.is_empty()).then(|| weights.join(", ")),
            unknown: Unknown::default(),
        })
    }

    /// Returns the provider and the model of an agent.
    fn model(&self, alias: &str) -> Option<(Option<String>, String)> {
        let owned = |text: &str| Some(text.trim().to_owned()).filter(|text| !text.is_empty());
        match self.schema_version() {
            ..=1 => {
                let model = self.text(&["default_model"]).and_then(owned)?;
                Some((self.text(&["default_provider"]).and_then(owned), model))
            }
            2 => {
                let provider = self.text(&["providers", "fallback"])?;
                let model = self.text(&["providers", "models", provider, "model"])?;
                Some((owned(provider), owned(model)?))
            }
            _ => {
                let entry = self.text(&["agents", alias, "model_provider"])?;
                let (family, name) = entry.split_once('.').unwrap_or((entry, "default"));
                let model = self.text(&["providers", "models", family, name, "model"])?;
                Some((owned(family), owned(model)?))
            }
        }
    }

    /// Lists the agents that are declared. Before schema 3, the entries of that name are delegates
    /// of the one agent.
    pub(super) fn agents(&self) -> Vec<ConfiguredAgent> {
        let agents = self.table(&["agents"]).filter(|_| self.schema_version() >= 3);
        let agents = agents.into_iter().flat_map(|agents| agents.iter());
        let agent = |(alias, item): (&str, &Item)| {
            let table = item.as_table_like()?;
            let path = table.get("workspace").and_then(|table| table.get("path")?.as_str());
            Some(ConfiguredAgent {
                alias: alias.to_owned(),
                workspace: path.filter(|path| !path.trim().is_empty()).map(PathBuf::from),
            })
        };
        agents.filter_map(agent).take(MAX_AGENTS).collect()
    }

    /// Removes the secrets.
    pub(super) fn redacted(&self) -> RedactedConfig {
        redact::redacted(self.document.raw())
    }

    fn item(&self, path: &[&str]) -> Option<&Item> {
        item_at(self.document.as_item(), path)
    }

    /// Returns the text at a path.
    pub(super) fn text(&self, path: &[&str]) -> Option<&str> {
        self.item(path)?.as_str()
    }

    /// Returns the value at a path and its line; an odd value, such as a table, is null.
    pub(super) fn value_at(&self, path: &[&str]) -> Option<(serde_json::Value, usize)> {
        let item = self.item(path)?;
        let value = match item {
            Item::Value(Value::String(text)) => text.value().as_str().into(),
            Item::Value(Value::Integer(number)) => (*number.value()).into(),
            Item::Value(Value::Float(number)) => (*number.value()).into(),
            Item::Value(Value::Boolean(truth)) => (*truth.value()).into(),
            _ => serde_json::Value::Null,
        };
        let start = item.span().map_or(0, |span| span.start);
        let before = self.document.raw().get(..start).unwrap_or_default();
        Some((value, before.matches('\n').count() + 1))
    }

    fn table(&self, path: &[&str]) -> Option<&dyn TableLike> {
        self.item(path)?.as_table_like()
    }
}

/// Whether a text may have more values than are read.
fn is_large(text: &str) -> bool {
    text.bytes().filter(|byte| matches!(byte, b'=' | b',')).count() > MAX_VALUES
}

/// Returns line and column of what is no TOML.
fn place_of_error(text: &str) -> Option<(usize, usize)> {
    if is_large(text) {
        return None;
    }
    let start = Document::parse(text).err()?.span().map_or(0, |span| span.start);
    let before = text.get(..start).unwrap_or_default();
    let line_start = before.rfind('\n').map_or(0, |at| at + 1);
    let column = before[line_start..].chars().count() + 1;
    Some((before.matches('\n').count() + 1, column))
}

/// Returns what a document has at a path of keys.
pub(super) fn item_at<'a>(root: &'a Item, path: &[impl AsRef<str>]) -> Option<&'a Item> {
    path.iter().try_fold(root, |item, key| item.as_table_like()?.get(key.as_ref()))
}

/// Returns the schema that a document is written in.
pub(super) fn schema_of(root: &Item) -> u32 {
    let version = item_at(root, &["schema_version"]).and_then(Item::as_integer);
    version.and_then(|version| u32::try_from(version).ok()).unwrap_or(1).max(1)
}

/// Returns whether the runtime encrypts what it writes.
pub(super) fn encrypts(root: &Item) -> bool {
    item_at(root, &["secrets", "encrypt"]).and_then(Item::as_bool).unwrap_or(true)
}

/// Returns whether a text stands for a secret that was removed.
pub(super) fn is_placeholder(text: &str) -> bool {
    redact::is_redacted(text)
}

/// Returns whether an item is empty, or only the placeholder of a secret.
pub(super) fn is_vacant(item: &Item) -> bool {
    match item {
        Item::None => true,
        Item::Value(Value::String(text)) => {
            text.value().trim().is_empty() || redact::is_redacted(text.value())
        }
        Item::Value(Value::Array(array)) => array.is_empty(),
        Item::Value(_) | Item::Table(_) | Item::ArrayOfTables(_) => false,
    }
}

/// Replaces the texts of a value, however deep they are nested.
pub(super) fn map_texts<E>(
    value: &mut Value,
    new: &mut dyn FnMut(&str) -> Result<Zeroizing<String>, E>,
) -> Result<(), E> {
    match value {
        Value::String(text) => {
            let other = new(text.value())?;
            let decor = text.decor().clone();
            *value = Value::from(other.as_str());
            *value.decor_mut() = decor;
        }
        Value::Array(array) => {
            for value in array.iter_mut() {
                map_texts(value, new)?;
            }
        }
        Value::InlineTable(table) => {
            for (_, value) in table.iter_mut() {
                map_texts(value, new)?;
            }
        }
        _ => {}
    }
    Ok(())
}

fn positive(item: &Item) -> Option<u64> {
    item.as_integer().and_then(|number| u64::try_from(number).ok()).filter(|number| *number > 0)
}

/// Parses the name of a backend, which may say which of its stores is used.
fn known_backend(name: &str) -> Option<Backend> {
    Some(match name.split('.').next().unwrap_or(name) {
        "sqlite" => Backend::Sqlite,
        "markdown" => Backend::Markdown,
        "none" => Backend::None,
        "lucid" => Backend::Lucid,
        "postgres" | "qdrant" | "mem0" | "sqlite_qdrant_hybrid" | "cortex-mem" => {
            Backend::Elsewhere(name.to_owned())
        }
        _ => return None,
    })
}

/// Returns whether something is nested deeper than a person would write it.
fn is_deep(item: &Item, depth: usize) -> bool {
    let value = |value: &Value| is_deep_value(value, depth + 1);
    depth > MAX_DEPTH
        || match item {
            Item::None => false,
            Item::Value(it) => value(it),
            Item::Table(table) => table.iter().any(|(_, item)| is_deep(item, depth + 1)),
            Item::ArrayOfTables(tables) => {
                let mut items = tables.iter().flat_map(toml_edit::Table::iter);
                items.any(|(_, item)| is_deep(item, depth + 1))
            }
        }
}

fn is_deep_value(value: &Value, depth: usize) -> bool {
    depth > MAX_DEPTH
        || match value {
            Value::Array(array) => array.iter().any(|array| is_deep_value(array, depth + 1)),
            Value::InlineTable(table) => {
                table.iter().any(|(_, table)| is_deep_value(table, depth + 1))
            }
            _ => false,
        }
}

#[cfg(test)]
pub(super) mod tests {
    use std::collections::BTreeMap;

    use anemone_format::{AgentInfo, LoadedSnapshot, Manifest, Snapshot};

    use super::*;
    use crate::kit::agent::{KnownConfigs, Machine};
    use crate::kit::restore_source::RestoreSource;

    /// Calls with a machine and a snapshot that have nothing.
    pub(in crate::zeroclaw) fn with_nothing<T>(
        call: impl FnOnce(&Machine, &RestoreSource<'_>) -> T,
    ) -> T {
        let id = "9e373c1e-cab7-5eea-90c3-8f3d09ac5755".parse().unwrap();
        let agent = AgentInfo::new(id, "a", "zeroclaw");
        let manifest = Manifest::new(agent, "2026-02-01T00:00:00Z".parse().unwrap());
        let machine = Machine {
            home: PathBuf::from("/nowhere"),
            variables: BTreeMap::new(),
            database_reader: PathBuf::from("/nowhere"),
            scratch: PathBuf::from("/nowhere"),
            configs: KnownConfigs::default(),
        };
        let snapshot = Snapshot::new(manifest);
        call(&machine, &RestoreSource::new(&LoadedSnapshot::new(&snapshot)))
    }

    fn config(text: &str) -> Config {
        Config::parse(Zeroizing::new(text.to_owned())).unwrap()
    }

    const V3: &str = r#"
schema_version = 3
[agents.alpha]
model_provider = "anthropic.work"
[agents.alpha.memory]
backend = "markdown"
[agents.alpha.identity]
format = "AIEOS"
aieos_path = "identity.json"
[agents.beta.workspace]
path = "/srv/beta"
[memory]
backend = "sqlite.default"
embedding_provider = "openai"
embedding_model = "hint:semantic"
embedding_dimensions = 1536
vector_weight = 0.7
keyword_weight = 0.3
[[embedding_routes]]
hint = "other"
model = "no"
[[embedding_routes]]
hint = "semantic"
model_provider = "cohere.default"
model = "embed-v4"
dimensions = 8
[providers.models.anthropic.work]
model = "claude-sonnet-4-5"
"#;

    #[test]
    fn agents_of_schema_3_have_settings_of_their_own() {
        let config = config(V3);
        assert_eq!(config.schema_version(), 3);
        assert_eq!(config.backend("alpha"), Backend::Markdown);
        assert_eq!(config.backend("beta"), Backend::Sqlite);
        let agent = |alias: &str, workspace: Option<&str>| ConfiguredAgent {
            alias: alias.to_owned(),
            workspace: workspace.map(PathBuf::from),
        };
        assert_eq!(config.agents(), [agent("alpha", None), agent("beta", Some("/srv/beta"))]);
        let identity = config.identity("alpha");
        assert_eq!(identity.format.as_deref(), Some("aieos"));
        assert_eq!(identity.aieos_path, Some(PathBuf::from("identity.json")));
        assert_eq!(config.identity("beta"), IdentitySettings::default());
        let hints = config.hints("alpha").unwrap();
        assert_eq!(
            (&*hints.primary_model, hints.provider.as_deref()),
            ("claude-sonnet-4-5", Some("anthropic"))
        );
        assert_eq!(
            hints.notes.as_deref(),
            Some("memory.vector_weight = 0.7, memory.keyword_weight = 0.3")
        );
        assert_eq!(config.hints("beta"), None);
    }

    #[test]
    fn a_hint_leads_to_the_route_of_that_name() {
        let settings = |provider: &str, model: &str, dimensions| {
            Some(EmbeddingSettings { provider: provider.into(), model: model.into(), dimensions })
        };
        assert_eq!(config(V3).embedding(), settings("cohere", "embed-v4", Some(8)));
        assert_eq!(config("[memory]\nembedding_provider = \"none\"").embedding(), None);
        assert_eq!(config("").embedding(), None);
        let plain = "[memory]\nembedding_provider = \"openai\"\nembedding_dimensions = -1";
        assert_eq!(config(plain).embedding(), settings("openai", "text-embedding-3-small", None));
        let nowhere = V3.replace("hint = \"semantic\"", "hint = \"gone\"");
        assert_eq!(config(&nowhere).embedding(), None);
    }

    #[test]
    fn the_older_schemas_have_one_agent_and_delegates() {
        let one = config(
            "default_provider = \"openai\"\ndefault_model = \"gpt-4o-mini\"\n\
             [agents.helper]\nmodel = \"x\"\n[identity]\nformat = \"aieos\"\naieos_inline = \"{}\"\n\
             [memory]\nbackend = \"markdown\"\n",
        );
        assert_eq!((one.schema_version(), one.agents()), (1, Vec::new()));
        assert_eq!(one.backend("default"), Backend::Markdown);
        let store = |name: &str| {
            let text = "[memory]\nbackend = \"markdown\"\n[storage.provider.config]\nprovider = ";
            config(&format!("{text}{name:?}")).backend("default")
        };
        assert_eq!(store("SQLite"), Backend::Sqlite);
        assert_eq!(store("enc2:00"), Backend::Markdown);
        assert_eq!(one.identity("default").aieos_inline.as_deref(), Some("{}"));
        assert_eq!(one.hints("default").unwrap().provider.as_deref(), Some("openai"));
        let two = config(
            "schema_version = 2\n[providers]\nfallback = \"openai\"\n\
             [providers.models.openai]\nmodel = \"gpt-4o-mini\"\n",
        );
        assert_eq!(two.hints("default").unwrap().primary_model, "gpt-4o-mini");
    }

    #[test]
    fn backends_that_are_elsewhere_or_unknown_are_told_apart() {
        let backend = |name: &str| config(&format!("[memory]\nbackend = {name:?}"));
        for name in ["postgres", "qdrant.x", "mem0", "sqlite_qdrant_hybrid", "cortex-mem"] {
            let config = backend(name);
            assert_eq!(config.backend("default"), Backend::Elsewhere(name.to_owned()));
            assert_eq!(config.backend_warning("default"), None);
        }
        assert_eq!(backend("lucid").backend("default"), Backend::Lucid);
        assert_eq!(backend("none").backend("default"), Backend::None);
        let odd = backend("sqlight");
        assert_eq!(odd.backend("default"), Backend::Markdown);
        assert_eq!(odd.backend_warning("default").unwrap().code, "backend_unknown");
    }

    #[test]
    fn sections_that_are_wrong_count_as_absent() {
        let config =
            config("schema_version = \"three\"\nmemory = 7\nagents = [1]\nidentity = true");
        assert_eq!(config.schema_version(), 1);
        assert_eq!(config.backend("default"), Backend::Sqlite);
        assert_eq!(config.embedding(), None);
        assert_eq!(config.identity("default"), IdentitySettings::default());
        assert_eq!(config.hints("default"), None);
    }

    #[test]
    fn what_is_not_toml_is_a_warning_without_its_content() {
        let folder = tempfile::TempDir::new().unwrap();
        let path = folder.path().join("config.toml");
        let warning = |path: &Path| Config::read(path).err().unwrap();
        assert_eq!(warning(&path).code, "config_unreadable");
        fs_err::write(&path, "api_key = sk-SECRET").unwrap();
        assert!(!format!("{:?}", warning(&path)).contains("SECRET"));
        let deep = format!("a = {}1{}", "[".repeat(500), "]".repeat(500));
        fs_err::write(&path, deep).unwrap();
        assert_eq!(warning(&path).code, "config_unreadable");
        fs_err::write(&path, vec![b'#'; usize::try_from(MAX_BYTES).unwrap() + 1]).unwrap();
        assert!(warning(&path).message.contains("larger"));
        #[cfg(unix)]
        {
            let link = folder.path().join("link.toml");
            fs_err::os::unix::fs::symlink(&path, &link).unwrap();
            assert!(warning(&link).message.contains("link"));
        }
    }
}
