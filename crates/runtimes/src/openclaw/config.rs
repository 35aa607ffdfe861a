//! `openclaw.json`: JSON5 with includes, in the shapes of both generations.
//!
//! A configuration is written by hand and holds secrets. Whatever is wrong with it becomes an
//! oddity that names a place and never a value; everything else is still read.

use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde_json::{Map, Value};

use super::settings::{ConfigSource, ConfiguredSettings};
use super::{lancedb::StoreSettings, qmd};
use crate::kit::connect::json_file::JsonStep;
use crate::kit::{ConfigFile, Machine, Oddity, OddityKind, install_paths, without_dots};

/// Bytes of all files of a configuration together, at most.
const MAX_BYTES: u64 = 8 << 20;
/// The most values of all files together: each takes much more memory than its bytes.
const MAX_VALUES: usize = 50_000;
/// The most oddities of one configuration.
const MAX_ODDITIES: usize = 20;
/// How deep files may include each other.
const MAX_INCLUDE_DEPTH: usize = 10;
/// How many files a configuration may be made of; every one of them costs a read.
const MAX_FILES: usize = 100;
/// The most agents that are read.
const MAX_AGENTS: usize = 1000;
/// How many places to search one list may name.
const MAX_EXTRA: usize = 1000;
/// How deep values may be nested; reading and dropping them takes a stack.
const MAX_NESTING: usize = 100;

/// The agent that exists when nothing names one.
pub(super) const DEFAULT_AGENT: &str = "main";

/// The settings of a configuration that matter to us.
#[derive(Clone, Debug, Default)]
pub(super) struct Config {
    /// The file it was read from.
    pub(super) path: PathBuf,
    /// The agents that it names, in its order where that is known.
    pub(super) agents: Vec<ConfiguredAgent>,
    /// `agents.defaults.workspace`
    pub(super) workspace: Option<PathBuf>,
    /// `agents.defaults.model.primary`
    pub(super) model: Option<String>,
    /// The program that wrote it last.
    pub(super) version: Option<String>,
    /// What services are used for, besides the first models.
    pub(super) uses: Vec<ServiceUse>,
    /// Folders outside the workspace that the search index covers, as they were written: they may
    /// be relative to any agent's workspace.
    pub(super) extra_paths: Vec<String>,
    /// The same with their patterns, where they have some; in the order of the configuration.
    pub(super) extra_places: Vec<ExtraText>,
    /// What it says about memory.
    pub(super) settings: ConfiguredSettings,
    /// What the settings of the plugin `memory-lancedb` say.
    pub(super) lancedb: StoreSettings,
    /// What of it cannot be read, and why.
    pub(super) unreadable: Vec<String>,
    /// `agents.defaults.sandbox`
    sandbox: Sandbox,
    /// Whether the sidecar QMD searches conversations.
    pub(super) qmd_sessions: bool,
    /// `agents.defaults.memorySearch.store.path` of the older generation, as it was written.
    pub(super) index_path: Option<String>,
    /// What is wrong with it.
    pub(super) oddities: Vec<Oddity>,
}

/// An agent that a configuration names.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct ConfiguredAgent {
    pub(super) id: String,
    pub(super) name: Option<String>,
    pub(super) workspace: Option<PathBuf>,
    pub(super) model: Option<String>,
    pub(super) is_default: bool,
    /// `memorySearch.store.path`, as it was written.
    pub(super) index_path: Option<String>,
    sandbox: Sandbox,
    /// Folders that are searched for this agent only.
    pub(super) extra_places: Vec<ExtraText>,
}

/// A place to search, as it was written.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct ExtraText {
    pub(super) path: String,
    pub(super) pattern: Option<String>,
}

impl Config {
    /// Returns the configuration of an agent, which is read once; `None` when there is no such file.
    pub(super) fn of(machine: &Machine, file: &ConfigFile) -> Option<Arc<Self>> {
        file.read_once(|path| Self::read(machine, path).map(Arc::new))
    }

    /// Reads a configuration; `None` when there is no such file.
    pub(super) fn read(machine: &Machine, path: &Path) -> Option<Self> {
        // A dangling link counts as no file.
        fs_err::metadata(path).ok()?;
        let mut reader = ConfigReader::default();
        let value = reader.file(path, 0);
        let mut config = Self {
            path: path.to_owned(),
            unreadable: reader.oddities.iter().map(|oddity| oddity.message.clone()).collect(),
            oddities: reader.oddities,
            ..Self::default()
        };
        if let Some(value) = value {
            config.take(machine, &value);
            config.settings = ConfiguredSettings::of(&value, &reader.sources, MAX_AGENTS);
        }
        Some(config)
    }

    /// Returns the agent that is meant when none is named.
    ///
    /// This is the agent that is marked, or else the first of a list. Keyed entries have no order,
    /// so `main` comes first there.
    pub(super) fn default_agent(&self) -> Option<&ConfiguredAgent> {
        self.agents.iter().find(|agent| agent.is_default).or_else(|| self.agents.first())
    }

    /// Returns an agent's own entry.
    pub(super) fn agent(&self, id: &str) -> Option<&ConfiguredAgent> {
        self.agents.iter().find(|agent| agent.id == id)
    }

    /// Whether all sessions of an agent run in a sandbox that keeps them from writing into its
    /// workspace.
    pub(super) fn is_read_only(&self, id: &str) -> bool {
        let own = self.agent(id).map(|agent| &agent.sandbox);
        let mode = own.and_then(|own| own.mode.as_deref()).or(self.sandbox.mode.as_deref());
        let access = own.and_then(|own| own.access.as_deref()).or(self.sandbox.access.as_deref());
        mode == Some("all") && access != Some("rw")
    }

    /// Returns what an agent uses services for.
    pub(super) fn uses(&self, agent: &str) -> Vec<ServiceUse> {
        let own = self.agent(agent).and_then(|agent| agent.model.as_ref());
        let model = own.or(self.model.as_ref()).and_then(|model| model.split_once('/'));
        let chat = model.map(|(service, _)| ServiceUse::new(service, CHAT));
        chat.into_iter().chain(self.uses.iter().cloned()).collect()
    }

    fn take(&mut self, machine: &Machine, value: &Value) {
        let folder = self.path.parent().unwrap_or(Path::new("/"));
        let path_at = |value: &Value| {
            let text = value.as_str().map(str::trim).filter(|value| !value.is_empty())?;
            Some(resolve(machine, folder, text))
        };
        let text_at = |pointer: &str| value.pointer(pointer).and_then(text);
        self.workspace = value.pointer("/agents/defaults/workspace").and_then(path_at);
        self.model = value.pointer("/agents/defaults/model").and_then(model);
        self.version = text_at("/meta/lastTouchedVersion");
        self.uses = uses(value);
        self.lancedb = StoreSettings::of(value);
        self.sandbox = Sandbox::of(value.pointer("/agents/defaults"));
        self.qmd_sessions = qmd::searches_sessions(value);
        self.index_path = index_path(value);
        for pointer in ["/memory/search", "/agents/defaults/memorySearch", "/memorySearch"] {
            self.extra_places.extend(extra_places(value, pointer));
        }
        let collections = qmd::collections(value);
        for pointer in collections {
            self.extra_places.extend(places_at(value, pointer));
        }
        self.extra_paths = self.extra_places.iter().map(|place| place.path.clone()).collect();
        self.extra_paths.sort();
        self.extra_paths.dedup();
        let mut agents = listed(value);
        agents.extend(keyed(value));
        if agents.len() > MAX_AGENTS {
            let message = format!("more than {MAX_AGENTS} agents are configured; the rest is left");
            self.oddities.push(Oddity { kind: OddityKind::ConfigInvalid, message });
        }
        for (id, entry) in agents.into_iter().take(MAX_AGENTS) {
            let id = agent_id(id);
            if self.agents.iter().any(|agent| agent.id == id) {
                let message = format!("the agent {id} is configured twice; the first entry counts");
                self.oddities.push(Oddity { kind: OddityKind::ConfigInvalid, message });
                continue;
            }
            self.agents.push(ConfiguredAgent {
                id,
                name: entry.get("name").and_then(text),
                workspace: entry.get("workspace").and_then(path_at),
                model: entry.get("model").and_then(model),
                index_path: index_path(entry),
                sandbox: Sandbox::of(Some(entry)),
                is_default: entry.get("default").and_then(Value::as_bool).unwrap_or(false),
                extra_places: ["/memorySearch", "/memory/search"]
                    .into_iter()
                    .flat_map(|pointer| extra_places(entry, pointer))
                    // Those of an agent's own search have the same names.
                    .chain(collections.iter().flat_map(|pointer| places_at(entry, pointer)))
                    .collect(),
            });
        }
    }
}

/// In which sessions a sandbox is used, and what of the workspace is in it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Sandbox {
    mode: Option<String>,
    access: Option<String>,
}

impl Sandbox {
    fn of(value: Option<&Value>) -> Self {
        let at = |name: &str| value?.get("sandbox")?.get(name).and_then(text);
        Self { mode: at("mode"), access: at("workspaceAccess") }
    }
}

/// Returns where settings of a search put the index of the older generation.
fn index_path(value: &Value) -> Option<String> {
    ["/agents/defaults/memorySearch/store/path", "/memorySearch/store/path"]
        .into_iter()
        .find_map(|pointer| value.pointer(pointer).and_then(text))
}

/// What a model that answers is used for.
const CHAT: &str = "chat";
/// Fallback models that are named, at most.
const MAX_FALLBACKS: usize = 50;

/// Returns what the agents of an install use services for, besides their first models.
fn uses(value: &Value) -> Vec<ServiceUse> {
    let mut uses = Vec::new();
    for (pointer, capability) in [
        ("/agents/defaults/model/fallbacks", CHAT),
        ("/agents/defaults/imageModel/fallbacks", "images"),
    ] {
        let models = value.pointer(pointer).and_then(Value::as_array);
        let models = models.into_iter().flatten().take(MAX_FALLBACKS).filter_map(Value::as_str);
        let services = models.filter_map(|model| Some(model.split_once('/')?.0));
        uses.extend(services.map(|service| ServiceUse::new(service, capability)));
    }
    let images = value.pointer("/agents/defaults/imageModel").and_then(model);
    let images = images.as_deref().and_then(|model| model.split_once('/'));
    uses.extend(images.map(|(service, _)| ServiceUse::new(service, "images")));
    for (pointer, capability) in [
        ("/agents/defaults/memorySearch/provider", "memory_search"),
        ("/memorySearch/provider", "memory_search"),
        ("/memory/search/provider", "memory_search"),
        ("/tools/web/search/provider", "web_search"),
    ] {
        let service = value.pointer(pointer).and_then(Value::as_str).filter(|name| *name != "auto");
        uses.extend(service.map(|service| ServiceUse::new(service, capability)));
    }
    uses
}

/// The older shape: a list of agents that carry their ids.
fn listed(value: &Value) -> Vec<(&str, &Value)> {
    let list = value.pointer("/agents/list").and_then(Value::as_array);
    let id = |value| Some((Value::get(value, "id")?.as_str()?, value));
    list.into_iter().flatten().filter_map(id).collect()
}

/// The newer shape: agents by their ids.
fn keyed(value: &Value) -> Vec<(&str, &Value)> {
    let entries = value.pointer("/agents/entries").and_then(Value::as_object);
    let mut entries: Vec<_> =
        entries.into_iter().flatten().map(|(id, entry)| (id.as_str(), entry)).collect();
    entries.sort_by_key(|(id, _)| (agent_id(id) != DEFAULT_AGENT, *id));
    entries
}

/// A service, and what it is used for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ServiceUse {
    pub(super) service: String,
    pub(super) capability: &'static str,
}

impl ServiceUse {
    fn new(service: &str, capability: &'static str) -> Self {
        Self { service: service.to_owned(), capability }
    }
}

/// Returns an id as the program has it on disk: lower case, and never a path.
pub(super) fn agent_id(text: &str) -> String {
    const MAX_CHARS: usize = 64;
    let allowed = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || matches!(c, '_' | '-');
    let text = text.trim().to_lowercase();
    let text: String = text.chars().map(|c| if allowed(c) { c } else { '-' }).collect();
    let text: String = text.trim_matches('-').chars().take(MAX_CHARS).collect();
    if text.is_empty() { DEFAULT_AGENT.to_owned() } else { text }
}

fn text(value: &Value) -> Option<String> {
    let text = value.as_str().map(str::trim).filter(|value| !value.is_empty())?;
    Some(text.to_owned())
}

/// A model is a name, or an object with a first choice.
fn model(value: &Value) -> Option<String> {
    text(value).or_else(|| value.get("primary").and_then(text))
}

/// Returns the places to search that settings of a search name, at most [`MAX_EXTRA`].
fn extra_places(value: &Value, pointer: &str) -> Vec<ExtraText> {
    places_at(value, &format!("{pointer}/extraPaths"))
}

/// Returns the places of a list.
fn places_at(value: &Value, pointer: &str) -> Vec<ExtraText> {
    let places = value.pointer(pointer).and_then(Value::as_array);
    places.into_iter().flatten().filter_map(extra_place).take(MAX_EXTRA).collect()
}

/// A place to search is a path, or an object with one.
fn extra_place(value: &Value) -> Option<ExtraText> {
    let path = text(value).or_else(|| value.get("path").and_then(text))?;
    Some(ExtraText { path, pattern: value.get("pattern").and_then(text) })
}

/// Returns the home folder, as the runtime sees it.
pub(super) fn home(machine: &Machine) -> PathBuf {
    machine.variable("OPENCLAW_HOME").map_or_else(|| machine.home.clone(), PathBuf::from)
}

/// Makes a path from the user absolute: `~`, `${NAME}`, and what is relative to a folder.
pub(super) fn resolve(machine: &Machine, folder: &Path, text: &str) -> PathBuf {
    install_paths::resolve(&home(machine), folder, &substitute(machine, text))
}

/// Expands variables in a text; unset ones stay as they were written.
fn substitute(machine: &Machine, text: &str) -> String {
    let mut result = String::new();
    let mut rest = text;
    while let Some(start) = rest.find("${") {
        result.push_str(&rest[..start]);
        rest = &rest[start..];
        let Some(end) = rest.find('}') else { break };
        let name = &rest[2..end];
        match machine.variable(name).and_then(|variable| variable.to_str()) {
            Some(value) => result.push_str(value),
            None if name == "HOME" => result.push_str(&machine.home.to_string_lossy()),
            None => result.push_str(&rest[..=end]),
        }
        rest = &rest[end + 1..];
    }
    result + rest
}

/// Reads files that include each other.
#[derive(Default)]
struct ConfigReader {
    /// The files that are being read, outermost first.
    open: Vec<PathBuf>,
    /// Where the value that is being read is in the whole.
    at: Vec<JsonStep>,
    /// The files that were read, in the order in which they override each other.
    sources: Vec<ConfigSource>,
    files: usize,
    bytes: u64,
    values: usize,
    oddities: Vec<Oddity>,
}

impl ConfigReader {
    fn file(&mut self, path: &Path, depth: usize) -> Option<Value> {
        let shown = path.display();
        let real = fs_err::canonicalize(path).unwrap_or_else(|_| path.to_owned());
        if self.open.contains(&real) {
            return self.refuse(&format!("{shown} includes itself"));
        }
        if depth > MAX_INCLUDE_DEPTH {
            return self.refuse(&format!("{shown} is included too deep"));
        }
        if self.files == MAX_FILES {
            return self.refuse(&format!("it is made of more than {MAX_FILES} files"));
        }
        self.files += 1;
        let text = match read(path, MAX_BYTES - self.bytes) {
            Ok(text) => text,
            Err(why) => return self.refuse(&format!("{shown} {why}")),
        };
        self.bytes += text.len() as u64;
        let size = TextSize::of(&text);
        self.values += size.values;
        if self.values > MAX_VALUES {
            return self.refuse(&format!("{shown} makes it more than {MAX_VALUES} values"));
        }
        let value = match parse(&text, &size) {
            Ok(value) => value,
            Err(why) => return self.refuse(&format!("{shown} {why}")),
        };
        let folder = path.parent().unwrap_or(Path::new("/")).to_owned();
        self.open.push(real);
        let value = self.included(value, &folder, depth);
        self.open.pop();
        let text = text.strip_prefix('\u{feff}').unwrap_or(&text).to_owned();
        self.sources.push(ConfigSource { prefix: self.at.clone(), path: path.to_owned(), text });
        Some(value)
    }

    /// Inserts included files where they are named.
    fn included(&mut self, value: Value, folder: &Path, depth: usize) -> Value {
        match value {
            Value::Array(items) => {
                let items = items.into_iter().map(|item| {
                    let id = item.get("id").and_then(Value::as_str).unwrap_or_default();
                    self.at.push(JsonStep::Element(id.to_owned()));
                    let item = self.included(item, folder, depth);
                    self.at.pop();
                    item
                });
                Value::Array(items.collect())
            }
            Value::Object(mut fields) => {
                let include = fields.remove("$include");
                let fields: Map<String, Value> = fields
                    .into_iter()
                    .map(|(key, value)| {
                        self.at.push(JsonStep::Member(key.clone()));
                        let value = self.included(value, folder, depth);
                        self.at.pop();
                        (key, value)
                    })
                    .collect();
                let Some(include) = include else { return Value::Object(fields) };
                let mut result = Value::Object(Map::new());
                for path in self.include_paths(&include, folder) {
                    if let Some(value) = self.file(&path, depth + 1) {
                        merge(&mut result, value);
                    }
                }
                // Settings beside an include override it.
                if !fields.is_empty() {
                    merge(&mut result, Value::Object(fields));
                }
                result
            }
            other => other,
        }
    }

    fn include_paths(&mut self, include: &Value, folder: &Path) -> Vec<PathBuf> {
        let paths = match include {
            Value::String(path) => vec![path.as_str()],
            Value::Array(paths) => paths.iter().filter_map(Value::as_str).collect(),
            _ => Vec::new(),
        };
        if paths.is_empty() {
            self.refuse(&format!("an include in {} names no file", folder.display()));
        }
        paths.into_iter().map(|path| without_dots(&folder.join(path))).collect()
    }

    fn refuse(&mut self, why: &str) -> Option<Value> {
        let message = format!("the configuration cannot be understood: {why}");
        let oddity = Oddity { kind: OddityKind::ConfigInvalid, message };
        // Each file of a long list of includes may be refused.
        if !self.oddities.contains(&oddity) && self.oddities.len() < MAX_ODDITIES {
            self.oddities.push(oddity);
        }
        None
    }
}

/// Lays one value over another: objects key by key, lists one after the other.
fn merge(under: &mut Value, over: Value) {
    match (under, over) {
        (Value::Object(under), Value::Object(over)) => {
            for (key, value) in over {
                match under.get_mut(&key) {
                    Some(under) => merge(under, value),
                    None => {
                        under.insert(key, value);
                    }
                }
            }
        }
        (Value::Array(under), Value::Array(over)) => under.extend(over),
        (under, over) => *under = over,
    }
}

/// Reads a text; errors do not quote its content.
fn read(path: &Path, limit: u64) -> Result<String, String> {
    // Checked before it is opened: opening a pipe would wait for a writer.
    let there = fs_err::metadata(path).map_err(|error| unreadable(&error))?;
    if !there.is_file() {
        return Err("is not a regular file".to_owned());
    }
    let file = fs_err::File::open(path).map_err(|error| unreadable(&error))?;
    let mut bytes = Vec::new();
    file.take(limit + 1).read_to_end(&mut bytes).map_err(|error| unreadable(&error))?;
    if bytes.len() as u64 > limit {
        return Err(format!("makes it longer than {} MiB", MAX_BYTES >> 20));
    }
    String::from_utf8(bytes).map_err(|_| "is not UTF-8".to_owned())
}

fn unreadable(error: &std::io::Error) -> String {
    match error.kind() {
        std::io::ErrorKind::NotFound => "is not there".to_owned(),
        std::io::ErrorKind::PermissionDenied => "may not be read".to_owned(),
        kind => format!("cannot be read ({kind})"),
    }
}

fn parse(text: &str, size: &TextSize) -> Result<Value, String> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    if size.nesting > MAX_NESTING {
        return Err("is nested too deep".to_owned());
    }
    // The parser's message may quote the text, and the text may be a secret.
    let value: Value = json5::from_str(text).map_err(|error| match error.position() {
        Some(at) => format!("is not JSON5 at line {}, column {}", at.line + 1, at.column + 1),
        None => "is not JSON5: it ends too early".to_owned(),
    })?;
    if value.is_object() { Ok(value) } else { Err("is not an object".to_owned()) }
}

/// How large a text is, before it is parsed.
struct TextSize {
    /// How deep brackets are nested.
    nesting: usize,
    /// How many values there are, or a few more.
    values: usize,
}

impl TextSize {
    /// Counts brackets and commas outside of strings and comments.
    fn of(text: &str) -> Self {
        let (mut depth, mut nesting, mut values) = (0_usize, 0, 0);
        let mut chars = text.chars().peekable();
        while let Some(c) = chars.next() {
            match c {
                '[' | '{' => {
                    depth += 1;
                    nesting = nesting.max(depth);
                    values += 1;
                }
                ']' | '}' => depth = depth.saturating_sub(1),
                ',' => values += 1,
                '"' | '\'' => {
                    while let Some(inner) = chars.next() {
                        if inner == '\\' {
                            chars.next();
                        } else if inner == c {
                            break;
                        }
                    }
                }
                '/' if chars.peek() == Some(&'/') => {
                    chars.find(|char| matches!(char, '\n' | '\r' | '\u{2028}' | '\u{2029}'));
                }
                '/' if chars.peek() == Some(&'*') => {
                    chars.next();
                    let mut last = ' ';
                    chars.find(|char| std::mem::replace(&mut last, *char) == '*' && *char == '/');
                }
                _ => {}
            }
        }
        Self { nesting, values }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::kit::agent::KnownConfigs;

    fn machine(home: &Path) -> Machine {
        Machine {
            home: home.to_owned(),
            variables: BTreeMap::from([("OPENCLAW_BASE".to_owned(), "/srv/base".into())]),
            database_reader: PathBuf::new(),
            scratch: PathBuf::new(),
            configs: KnownConfigs::default(),
        }
    }

    /// Writes files and reads the first of them as a configuration.
    fn read_all(files: &[(&str, &str)]) -> (tempfile::TempDir, Config) {
        let folder = tempfile::tempdir().unwrap();
        for (name, text) in files {
            fs_err::write(folder.path().join(name), text).unwrap();
        }
        let config = Config::read(&machine(folder.path()), &folder.path().join(files[0].0));
        (folder, config.unwrap())
    }

    fn codes(config: &Config) -> Vec<&str> {
        config.oddities.iter().map(|oddity| oddity.kind.as_str()).collect()
    }

    #[test]
    fn json5_with_comments_commas_and_bare_keys_is_read() {
        let (folder, config) = read_all(&[(
            "openclaw.json",
            "\u{feff}// mine\n{ agents: { defaults: { workspace: '~/work', model: { primary: 'a/b', }, },\n\
             /* two */ list: [ { id: 'Ops', default: true, workspace: './ops/../o' }, { id: \"main\" }, ], },\n\
             meta: { lastTouchedVersion: '2026.3.24' }, memorySearch: { extraPaths: ['../n', { path: '~/x', pattern: '*.md' }, '../n'] }, }",
        )]);
        assert_eq!(config.oddities, []);
        assert_eq!(config.workspace, Some(folder.path().join("work")));
        assert_eq!(config.model.as_deref(), Some("a/b"));
        assert_eq!(config.version.as_deref(), Some("2026.3.24"));
        let ids: Vec<&str> = config.agents.iter().map(|agent| agent.id.as_str()).collect();
        assert_eq!(ids, ["ops", "main"]);
        assert_eq!(config.agents[0].workspace, Some(folder.path().join("o")));
        assert_eq!(config.default_agent().unwrap().id, "ops");
        assert_eq!(config.extra_paths, ["../n", "~/x"]);
    }

    #[test]
    fn keyed_entries_are_read_and_main_comes_first() {
        let (_folder, config) = read_all(&[(
            "openclaw.json",
            r#"{"agents":{"entries":{"aaa":{"name":"A"},"main":{},"zed":{"workspace":"${OPENCLAW_BASE}/z"}}}}"#,
        )]);
        let ids: Vec<&str> = config.agents.iter().map(|agent| agent.id.as_str()).collect();
        assert_eq!(ids, ["main", "aaa", "zed"]);
        assert_eq!(config.default_agent().unwrap().id, "main");
        assert_eq!(config.agent("zed").unwrap().workspace, Some("/srv/base/z".into()));
        assert_eq!(config.agent("aaa").unwrap().name.as_deref(), Some("A"));
    }

    #[test]
    fn includes_are_laid_under_what_stands_beside_them() {
        let (folder, config) = read_all(&[
            (
                "openclaw.json",
                "{ $include: ['a.json5', 'b.json5'], agents: { defaults: { model: 'own' } } }",
            ),
            (
                "a.json5",
                "{ agents: { defaults: { workspace: 'one', model: 'a' }, list: [{id:'x'}] } }",
            ),
            ("b.json5", "{ agents: { $include: 'c.json5' } }"),
            ("c.json5", "{ defaults: { workspace: 'two' }, list: [{id:'y'}] }"),
        ]);
        assert_eq!(config.oddities, []);
        assert_eq!(config.workspace, Some(folder.path().join("two")));
        assert_eq!(config.model.as_deref(), Some("own"));
        let ids: Vec<&str> = config.agents.iter().map(|agent| agent.id.as_str()).collect();
        assert_eq!(ids, ["x", "y"]);
    }

    #[test]
    fn a_circle_of_includes_is_refused_and_the_rest_is_read() {
        let (_folder, config) = read_all(&[
            (
                "openclaw.json",
                "{ meta: { lastTouchedVersion: '1' }, agents: { $include: 'b.json' } }",
            ),
            ("b.json", "{ $include: 'openclaw.json', list: [{id:'x'}] }"),
        ]);
        assert_eq!(codes(&config), ["config_invalid"]);
        assert!(config.oddities[0].message.ends_with("includes itself"), "{:?}", config.oddities);
        assert_eq!(config.version.as_deref(), Some("1"));
        assert_eq!(config.agents[0].id, "x");
    }

    #[test]
    fn includes_may_lie_ten_deep_and_no_deeper() {
        let chain = |length: usize| {
            let name =
                |at: usize| if at == 0 { "openclaw.json".into() } else { format!("{at}.json") };
            let mut files: Vec<(String, String)> = (0..length)
                .map(|at| (name(at), format!("{{ $include: '{}' }}", name(at + 1))))
                .collect();
            files.push((name(length), "{ meta: { lastTouchedVersion: 'end' } }".to_owned()));
            let files: Vec<(&str, &str)> =
                files.iter().map(|(name, text)| (name.as_str(), text.as_str())).collect();
            read_all(&files).1
        };
        assert_eq!(chain(10).version.as_deref(), Some("end"));
        let refused = chain(11);
        assert_eq!(refused.version, None);
        assert_eq!(codes(&refused), ["config_invalid"]);
    }

    #[test]
    fn a_file_that_includes_many_is_stopped() {
        let many = vec!["'b.json'"; 1000].join(",");
        let text = format!("{{ $include: [{many}] }}");
        let (_folder, config) =
            read_all(&[("openclaw.json", &text), ("b.json", "{ agents: { list: [{}] } }")]);
        assert_eq!(codes(&config), ["config_invalid"]);
        let message = &config.oddities[0].message;
        assert!(message.ends_with("it is made of more than 100 files"), "{message}");
    }

    #[test]
    fn a_broken_configuration_is_an_oddity_that_tells_no_value() {
        for text in [
            "{ apiKey: 'sk-live-secret', oops oops }",
            "{ apiKey: 'sk-live-secret",
            "{ apiKey: 'sk-live-secret' } sk-live-secret",
            "'sk-live-secret'",
            "",
        ] {
            let (_folder, config) = read_all(&[("openclaw.json", text)]);
            assert_eq!(codes(&config), ["config_invalid"], "{text}");
            assert!(!config.oddities[0].message.contains("live"), "{:?}", config.oddities);
            assert!(config.agents.is_empty());
        }
        let folder = tempfile::tempdir().unwrap();
        fs_err::write(folder.path().join("openclaw.json"), b"{ a: '\xff' }").unwrap();
        let config = Config::read(&machine(folder.path()), &folder.path().join("openclaw.json"));
        assert_eq!(codes(&config.unwrap()), ["config_invalid"]);
    }

    #[test]
    fn a_file_nested_without_end_is_refused() {
        for text in [
            "[".repeat(1 << 20),
            format!("{{ a: {} }}", "{a:".repeat(1 << 20)),
            format!("// \u{2028}{}", "[".repeat(1 << 20)),
            format!("/* * / **/ '\\'{{' \"{}", "[".repeat(200)),
        ] {
            let (_folder, config) = read_all(&[("openclaw.json", &text)]);
            assert_eq!(codes(&config), ["config_invalid"]);
        }
        let deep =
            format!("{{ a: '{}', b: {}1{} }}", "[".repeat(500), "[".repeat(99), "]".repeat(99));
        assert_eq!(read_all(&[("openclaw.json", &deep)]).1.oddities, []);
    }

    #[test]
    fn nothing_there_is_no_configuration() {
        let folder = tempfile::tempdir().unwrap();
        assert!(Config::read(&machine(folder.path()), &folder.path().join("x")).is_none());
        let at_folder = Config::read(&machine(folder.path()), folder.path()).unwrap();
        assert!(at_folder.unreadable[0].ends_with("is not a regular file"), "{at_folder:?}");
    }

    #[test]
    fn a_configuration_of_too_many_values_is_refused() {
        let members = |count: usize| {
            let members: Vec<String> = (0..count).map(|at| format!("k{at}:1")).collect();
            format!("{{ a: {{ {} }} }}", members.join(","))
        };
        assert_eq!(read_all(&[("openclaw.json", &members(1_000))]).1.unreadable, [""; 0]);
        let (_folder, config) = read_all(&[("openclaw.json", &members(200_000))]);
        assert!(config.unreadable[0].ends_with("makes it more than 50000 values"), "{config:?}");
        // The limit is for all files together.
        let (_folder, config) = read_all(&[
            ("openclaw.json", "{ $include: ['a.json', 'b.json'] }"),
            ("a.json", &members(30_000)),
            ("b.json", &members(30_000)),
        ]);
        assert_eq!(config.unreadable.len(), 1, "{:?}", config.unreadable);
        let long = format!("{{ a: '{}' }}", "x".repeat(9 << 20));
        let (_folder, config) = read_all(&[("openclaw.json", &long)]);
        assert!(config.unreadable[0].ends_with("makes it longer than 8 MiB"), "{config:?}");
    }

    #[test]
    fn ten_thousand_includes_are_few_oddities() {
        let names: Vec<String> =
            (0..10_000).map(|at| format!("'gone{at}.json','openclaw.json'")).collect();
        let text = format!("{{ $include: [{}] }}", names.join(","));
        let (_folder, config) = read_all(&[("openclaw.json", &text)]);
        assert_eq!(config.unreadable.len(), MAX_ODDITIES);
    }

    #[test]
    fn an_id_is_never_a_path() {
        for (text, id) in [
            ("Main", "main"),
            ("../../etc", "etc"),
            ("a/b\\c", "a-b-c"),
            ("", "main"),
            ("..", "main"),
            ("Späti", "sp-ti"),
        ] {
            assert_eq!(agent_id(text), id, "{text}");
        }
        assert_eq!(agent_id(&"x".repeat(500)).len(), 64);
    }

    #[test]
    fn strange_shapes_are_passed_over() {
        let (_folder, config) = read_all(&[(
            "openclaw.json",
            "{ agents: { list: [1, {id: 2}, {id: 'ok', workspace: 5, default: 'yes'}], entries: [], defaults: 7 }, \
             memory: { search: { extraPaths: 'x' } }, meta: [] }",
        )]);
        assert_eq!(config.oddities, []);
        assert_eq!(config.agents.len(), 1);
        assert!(!config.agents[0].is_default && config.agents[0].workspace.is_none());
    }
}
