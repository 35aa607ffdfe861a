//! Merges a configuration into another: existing settings stay, and missing settings of the agent
//! are added.

use std::path::{Path, PathBuf};

use anemone_format::Moment;
use toml_edit::{Array, DocumentMut, InlineTable, Item, Table, TableLike, Value};
use zeroize::Zeroizing;

use super::redact::{ItemShape, Secrecy, is_redacted, rule_below};
use super::{Config, MAX_BYTES, allowed::AllowedSettings, allowed::powers, file, schema_of};
use crate::kit::{
    ConfigStep, Machine, PlannedChange, RestoreError, RestoreSource, Warning, first_names,
};

/// Keys that a message names, at most.
const MAX_NAMED: usize = 10;
/// The name of the file.
const FILE: &str = "config.toml";
/// Where the program that wrote the archive had its files.
const HOST_KEYS: [&str; 2] = ["workspace_dir", "config_path"];
/// The schema of a new file in the current layout.
const SCHEMA: i64 = 3;
/// Files of an install that is in use.
const TRACES: [&str; 6] =
    ["data", "workspace", "agents", "memory.db", ".secret_key", "auth-profiles.json"];

/// The install and the agent that settings are for.
#[derive(Clone, Copy)]
pub(in crate::zeroclaw) struct ConfigSite<'a> {
    pub(in crate::zeroclaw) layout: &'a str,
    pub(in crate::zeroclaw) alias: &'a str,
    pub(in crate::zeroclaw) use_of: InstallUse,
}

/// Who uses the folders of an install.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::zeroclaw) enum InstallUse {
    /// A killed run of ours created them.
    Ours,
    /// They may be in use.
    Unknown,
}

/// The changes that a merge would make to the file.
struct ConfigChange {
    path: PathBuf,
    old: Option<Zeroizing<String>>,
    new: Zeroizing<String>,
}

impl PlannedChange for ConfigChange {
    fn apply(
        &self,
        _: &Machine,
        _: &RestoreSource<'_>,
        now: &Moment,
    ) -> Result<Option<PathBuf>, RestoreError> {
        let old = self.old.as_deref().map(String::as_str);
        if old == Some(&self.new) {
            return Ok(None);
        }
        Ok(file::replace(&self.path, old, &self.new, Some(now))?)
    }

    fn planned_text(&self) -> Option<&str> {
        Some(&self.new)
    }
}

/// Plans how the configuration of a snapshot is merged into that of an install. `live` is the
/// existing file. `archived` is the text of the snapshot, or `None` when the snapshot is of another
/// runtime. Only a new install is given a `backend`. `warnings` say what should be reviewed.
pub(in crate::zeroclaw) fn plan_config(
    site: ConfigSite<'_>,
    install: &Path,
    live: Option<&Path>,
    archived: Option<&str>,
    backend: Option<&str>,
    warnings: &mut Vec<Warning>,
) -> Result<Option<ConfigStep>, Warning> {
    // An agent of another runtime brings no configuration.
    if live.is_some() && archived.is_none() {
        return Ok(None);
    }
    let ConfigSite { layout, alias, use_of } = site;
    let path = live.map_or_else(|| install.join(FILE), Path::to_owned);
    let warning = |code, message: &str| Warning::about(code, path.display(), message);
    let old = file::read_plain(&path, MAX_BYTES)
        .map_err(|error| warning("config_unreadable", &format!("cannot be read: {error}")))?;
    let theirs = archived.map(theirs).transpose().map_err(|()| {
        warning("config_invalid", "the configuration in the archive is not TOML, and stays there")
    })?;
    let mut added = Vec::new();
    let mut kept = Vec::new();
    let new = match (&old, theirs) {
        (Some(_), None) => return Ok(None),
        (Some(old), Some(theirs)) => {
            let parsed = Config::parse(old.clone());
            let parsed = parsed.and_then(|parsed| Some((parsed, old.parse::<DocumentMut>().ok()?)));
            let Some((config, mut live)) = parsed else {
                let message = "is not TOML; nothing is added to it";
                return Err(warning("config_unreadable", message));
            };
            let (here, there) = (schema_of(live.as_item()), schema_of(theirs.as_item()));
            if here != there {
                let message = format!(
                    "is written in schema {here}, and the configuration in the archive in schema \
                     {there}; nothing is added to it"
                );
                return Err(warning("config_schema_differs", &message));
            }
            let allowed = AllowedSettings::of(&config, alias);
            let mut merge = Merge { allowed, added, kept, refused: Vec::new() };
            merge.add(live.as_item_mut(), theirs.as_item(), &mut Vec::new());
            let refused = merge.refused;
            (added, kept) = (merge.added, merge.kept);
            if !refused.is_empty() {
                let message = format!(
                    "{} of the archive's settings stay in it, because they are not about the \
                     agent or would lead elsewhere; add what you want yourself: {}",
                    refused.len(),
                    first_names(&refused, MAX_NAMED)
                );
                warnings.push(warning("config_not_added", &message));
            }
            if added.is_empty() && kept.is_empty() {
                return Ok(None);
            }
            if added.is_empty() { old.as_str().to_owned() } else { live.to_string() }
        }
        (None, Some(mut theirs)) => {
            if let Some(backend) = backend {
                set_backend(&mut theirs, backend);
            }
            let powers = powers(theirs.as_table());
            if !powers.is_empty() {
                let message = format!(
                    "has settings of the archive that can run programs, open ports or let the \
                     agent act unasked; look at them before it is started: {}",
                    powers.join(", ")
                );
                warnings.push(warning("config_powers", &message));
            }
            added.extend(theirs.iter().map(|(key, _)| key.to_owned()));
            theirs.to_string()
        }
        (None, None) => {
            let is_used = |name: &&str| fs_err::symlink_metadata(install.join(name)).is_ok();
            if use_of == InstallUse::Unknown && TRACES.iter().any(is_used) {
                return Ok(None);
            }
            let mut minimal = DocumentMut::new();
            if layout == "data" {
                minimal.insert("schema_version", toml_edit::value(SCHEMA));
                added.push("schema_version".to_owned());
            }
            set_backend(&mut minimal, backend.unwrap_or(super::USUAL_BACKEND));
            added.push("memory.backend".to_owned());
            minimal.to_string()
        }
    };
    let new = Zeroizing::new(new);
    if !holds(&new, old.as_deref().map(String::as_str)) {
        return Err(warning("config_not_merged", "cannot be added to without changing it"));
    }
    let made = old.is_none();
    let change = ConfigChange { path: path.clone(), old, new };
    Ok(Some(ConfigStep { store: path, made, added, kept, change: Box::new(change) }))
}

/// Reads the text of an archive, without what must not come back.
fn theirs(text: &str) -> Result<DocumentMut, ()> {
    let usable =
        text.len() as u64 <= MAX_BYTES && Config::parse(Zeroizing::new(text.to_owned())).is_some();
    let mut document = text.parse::<DocumentMut>().ok().filter(|_| usable).ok_or(())?;
    clean(document.as_table_mut(), Secrecy::Looks, &mut Vec::new());
    Ok(document)
}

/// Returns whether a text parses, and has every value that another has.
fn holds(new: &str, old: Option<&str>) -> bool {
    let Ok(new) = new.parse::<DocumentMut>() else { return false };
    let Some(old) = old else { return true };
    old.parse::<DocumentMut>().is_ok_and(|old| contains(new.as_item(), old.as_item()))
}

fn contains(new: &Item, old: &Item) -> bool {
    match (new.as_table_like(), old.as_table_like()) {
        (Some(new), Some(old)) => {
            old.iter().all(|(key, old)| new.get(key).is_some_and(|new| contains(new, old)))
        }
        (None, None) => is_same(new, old),
        _ => false,
    }
}

/// Removes what was redacted, and what points at another machine.
fn clean(table: &mut dyn TableLike, rule: Secrecy, path: &mut Vec<String>) {
    let keys: Vec<String> = table.iter().map(|(key, _)| key.to_owned()).collect();
    for key in keys {
        let Some(item) = table.get_mut(&key) else { continue };
        let rule = rule_below(path, rule, &key, ItemShape::of(item));
        let mut gone = is_redacted(&key)
            || path.is_empty() && HOST_KEYS.contains(&key.as_str())
            // An agent lives where it is imported.
            || key == "path"
                && matches!(&path[..], [agents, _, workspace] if agents == "agents" && workspace == "workspace");
        path.push(key.clone());
        match item {
            Item::None => {}
            Item::Value(value) => gone |= !is_kept(value, rule, path),
            Item::Table(table) => {
                let was_empty = table.is_empty();
                clean(table, rule, path);
                gone |= table.is_empty() && !was_empty;
            }
            Item::ArrayOfTables(tables) => {
                for (at, table) in tables.iter_mut().enumerate() {
                    path.push(at.to_string());
                    clean(table, rule, path);
                    path.pop();
                }
            }
        }
        path.pop();
        if gone {
            table.remove(&key);
        }
    }
}

/// Cleans what is in a value, and says whether it stays.
fn is_kept(value: &mut Value, rule: Secrecy, path: &mut Vec<String>) -> bool {
    match value {
        Value::String(text) => {
            let text = text.value();
            let is_open = text.trim().is_empty() || text.trim_start().starts_with("op://");
            if rule >= Secrecy::Texts { is_open } else { !is_redacted(text) }
        }
        Value::Integer(_) | Value::Float(_) => rule < Secrecy::Field,
        Value::Boolean(_) | Value::Datetime(_) => rule < Secrecy::Everything,
        Value::Array(array) => {
            let mut stays = true;
            for (at, value) in array.iter_mut().enumerate() {
                path.push(at.to_string());
                stays &= is_kept(value, rule, path);
                path.pop();
            }
            stays
        }
        Value::InlineTable(table) => {
            clean(table, rule, path);
            // An element of a list stays even if it is empty: others are identified by their
            // positions.
            true
        }
    }
}

/// Settings on their way into others.
struct Merge<'a> {
    allowed: AllowedSettings<'a>,
    added: Vec<String>,
    kept: Vec<String>,
    refused: Vec<String>,
}

impl Merge<'_> {
    /// Adds what is missing and may be added.
    fn add(&mut self, live: &mut Item, theirs: &Item, path: &mut Vec<String>) {
        let is_inline = live.is_inline_table();
        let (Some(live), Some(theirs)) = (live.as_table_like_mut(), theirs.as_table_like()) else {
            return;
        };
        for (key, item) in theirs.iter() {
            path.push(key.to_owned());
            match live.get_mut(key).filter(|item| !item.is_none()) {
                Some(known) if known.is_table_like() && item.is_table_like() => {
                    self.add(known, item, path);
                }
                Some(known) if is_same(known, item) => {}
                Some(_) => self.kept.push(dotted(path)),
                // An empty table adds nothing.
                None if item.as_table_like().is_some_and(TableLike::is_empty) => {}
                None => {
                    let mut new = item.clone();
                    if self.allowed.keep(&mut new, path, &mut self.refused) {
                        insert(live, theirs.key(key), key, new, is_inline);
                        self.added.push(dotted(path));
                    }
                }
            }
            path.pop();
        }
    }
}

fn insert(
    live: &mut dyn TableLike,
    written: Option<&toml_edit::Key>,
    key: &str,
    mut new: Item,
    is_inline: bool,
) {
    if is_inline {
        let value = new.into_value().map(|value| plain(&value));
        live.insert(key, value.map_or(Item::None, Item::Value));
        return;
    }
    unplace(&mut new);
    match written {
        Some(key) => live.entry_format(key).or_insert(new),
        None => live.entry(key).or_insert(new),
    };
}

/// Removes the positions of tables in the other file, so that they come after their neighbours.
fn unplace(item: &mut Item) {
    match item {
        Item::None | Item::Value(_) => {}
        Item::Table(table) => unplace_table(table),
        Item::ArrayOfTables(tables) => tables.iter_mut().for_each(unplace_table),
    }
}

fn unplace_table(table: &mut Table) {
    table.set_position(None);
    table.iter_mut().for_each(|(_, item)| unplace(item));
}

/// Returns a value without comments and line breaks, which an inline table cannot have.
fn plain(value: &Value) -> Value {
    match value {
        Value::Array(array) => {
            let mut array: Array = array.iter().map(plain).collect();
            array.fmt();
            Value::Array(array)
        }
        Value::InlineTable(table) => {
            let fields = table.iter().map(|(key, value)| (key, plain(value)));
            Value::InlineTable(fields.collect::<InlineTable>())
        }
        scalar => {
            let mut scalar = scalar.clone();
            scalar.decor_mut().clear();
            scalar
        }
    }
}

/// Returns whether two items are equal, however they are written.
fn is_same(one: &Item, other: &Item) -> bool {
    if let (Some(one), Some(other)) = (one.as_table_like(), other.as_table_like()) {
        return one.len() == other.len()
            && one
                .iter()
                .all(|(key, one)| other.get(key).is_some_and(|value| is_same(one, value)));
    }
    match (one.clone().into_value(), other.clone().into_value()) {
        (Ok(one), Ok(other)) => is_same_value(&one, &other),
        (one, other) => one.is_err() && other.is_err(),
    }
}

/// Returns whether two values are the same, however they are written.
pub(in crate::zeroclaw) fn is_same_value(one: &Value, other: &Value) -> bool {
    match (one, other) {
        (Value::String(one), Value::String(other)) => one.value() == other.value(),
        (Value::Integer(one), Value::Integer(other)) => one.value() == other.value(),
        (Value::Float(one), Value::Float(other)) => {
            one.value().to_bits() == other.value().to_bits()
        }
        (Value::Boolean(one), Value::Boolean(other)) => one.value() == other.value(),
        (Value::Datetime(one), Value::Datetime(other)) => one.value() == other.value(),
        (Value::Array(one), Value::Array(other)) => {
            one.len() == other.len()
                && one.iter().zip(other).all(|(one, other)| is_same_value(one, other))
        }
        (Value::InlineTable(one), Value::InlineTable(other)) => {
            let same = |(key, one): (&str, &Value)| {
                other.get(key).is_some_and(|other| is_same_value(one, other))
            };
            one.len() == other.len() && one.iter().all(same)
        }
        _ => false,
    }
}

/// Sets how memories are kept, for all agents.
fn set_backend(document: &mut DocumentMut, backend: &str) {
    let root = document.as_table_mut();
    if !root.get("memory").is_some_and(Item::is_table_like) {
        root.insert("memory", toml_edit::table());
    }
    let agents = root.get_mut("agents").and_then(Item::as_table_like_mut);
    for (_, agent) in agents.into_iter().flat_map(|agents| agents.iter_mut()) {
        let memory = agent.as_table_like_mut().and_then(|agent| agent.get_mut("memory"));
        if let Some(known) =
            memory.and_then(|memory| memory.as_table_like_mut()?.get_mut("backend"))
        {
            *known = toml_edit::value(backend);
        }
    }
    if let Some(memory) = root.get_mut("memory").and_then(Item::as_table_like_mut) {
        memory.insert("backend", toml_edit::value(backend));
    }
}

/// Writes a path as TOML does.
pub(in crate::zeroclaw) fn dotted(path: &[String]) -> String {
    let keys: Vec<String> = path
        .iter()
        .map(|key| toml_edit::Key::new(super::shown(key)).display_repr().into_owned())
        .collect();
    keys.join(".")
}

#[cfg(test)]
mod tests {
    use fs_err as fs;
    use tempfile::TempDir;

    use super::*;
    use crate::zeroclaw::config::tests::with_nothing;

    const LIVE: &str = "# mine\nschema_version = 3\nlocale = \"de\" # here\n\n\
        [providers.models.openai.default]\napi_key = \"enc2:LIVE\"\n\n\
        [memory]\nbackend = \"markdown\"\n\n[gateway]\nport = 1\nextra = { a = 1 }\n";
    const ARCHIVED: &str = "schema_version = 3\nlocale = \"en\"\nconfig_path = \"/home/a/c.toml\"\n\
        workspace_dir = \"/home/a\"\n\n[agents.alpha]\nmodel_provider = \"openai.default\"\n\n\
        [agents.alpha.workspace]\npath = \"/home/a/w\"\n\n\
        [providers.models.openai.default]\n# what it costs\napi_key = \"<redacted>\"\nmodel = \"m\"\n\
        extra_headers = { A = \"<redacted>\", B = 0 }\n\n\
        [memory]\nbackend = \"postgres\"\nauto_save = true\n\n\
        [gateway]\npaired_tokens = [\"<redacted>\"]\nport = 1\nextra = { b = [1, 2] }\n\n\
        [[mcp.servers]]\nname = \"x\"\nenv = { T = \"<redacted>\" }\nargs = [\"--token\", \"<redacted>\"]\n\n\
        [jira]\napi_token = \"<redacted>\"\n\n[empty]\n";

    fn moment() -> Moment {
        "2026-02-01T10:20:30Z".parse().unwrap()
    }

    fn text_of(step: &ConfigStep) -> String {
        step.change.planned_text().unwrap().to_owned()
    }

    fn apply(step: &ConfigStep) -> Result<Option<PathBuf>, RestoreError> {
        with_nothing(|machine, source| step.change.apply(machine, source, &moment()))
    }

    fn plan_config(
        layout: &str,
        install: &Path,
        live: Option<&Path>,
        archived: Option<&str>,
        backend: Option<&str>,
    ) -> Result<Option<ConfigStep>, Warning> {
        let site = ConfigSite { layout, alias: "alpha", use_of: InstallUse::Unknown };
        super::plan_config(site, install, live, archived, backend, &mut Vec::new())
    }

    const SITE: ConfigSite<'_> =
        ConfigSite { layout: "data", alias: "alpha", use_of: InstallUse::Unknown };

    /// Plans a merge into existing settings; returns the text, and the warnings.
    fn merged(live: &str, archived: &str) -> (Option<ConfigStep>, Vec<Warning>) {
        let folder = TempDir::new().unwrap();
        let path = folder.path().join("config.toml");
        fs::write(&path, live).unwrap();
        let mut warnings = Vec::new();
        let (site, live, archived) = (SITE, Some(&*path), Some(archived));
        let step =
            super::plan_config(site, folder.path(), live, archived, None, &mut warnings).unwrap();
        (step, warnings)
    }

    #[test]
    fn a_strangers_archive_changes_nothing_about_keys_commands_and_ports() {
        let live = "schema_version = 3\n[providers.models.openai.default]\napi_key = \"live\"\n\
                    [memory]\nembedding_api_key = \"live\"\n[agents.alpha]\nmodel_provider = \"a.b\"\n";
        let archived = "schema_version = 3\n[providers.models.openai.default]\n\
            base_url = \"https://evil.example\"\n[autonomy]\nlevel = \"full\"\n\
            [gateway]\nhost = \"0.0.0.0\"\n[[mcp.servers]]\ncommand = \"sh\"\n\
            [agents.beta]\nmodel_provider = \"x.y\"\n\
            [agents.alpha]\nrisk_profile = \"all\"\nsystem_prompt = \"kind\"\n\
            base_url = \"https://evil.example\"\n[agents.alpha.workspace]\n\
            unrestricted_filesystem = true\n[agents.alpha.memory]\nbackend = \"none\"\n\
            auto_save = true\n[agents.alpha.identity]\nformat = \"aieos\"\n\
            aieos_path = \"/etc/passwd\"\n[identity]\naieos_path = \"identity.json\"\n\
            [memory]\nembedding_provider = \"custom:https://evil.example\"\n";
        let (step, warnings) = merged(live, archived);
        let step = step.unwrap();
        assert_eq!(
            step.added,
            [
                "agents.alpha.system_prompt",
                "agents.alpha.memory",
                "agents.alpha.identity",
                "identity"
            ]
        );
        let text = text_of(&step);
        for word in ["evil", "autonomy", "0.0.0.0", "mcp", "beta", "risk", "passwd", "none"] {
            assert!(!text.contains(word), "{word}: {text}");
        }
        assert_eq!(warnings.len(), 1);
        let message = &warnings[0].message;
        assert_eq!(warnings[0].code, "config_not_added");
        assert!(message.starts_with("11 of") && message.contains("gateway"), "{message}");
        assert!(message.ends_with("and 1 more"), "{message}");
    }

    #[test]
    fn a_new_install_is_told_what_its_settings_may_do() {
        let folder = TempDir::new().unwrap();
        let archived = "schema_version = 3\n[gateway]\nport = 1\n[[mcp.servers]]\nname = \"x\"\n\
                        [hooks]\n[tunnel]\nenabled = false\n[memory]\nauto_save = true\n";
        let mut warnings = Vec::new();
        let step = super::plan_config(
            SITE,
            &folder.path().join("new"),
            None,
            Some(archived),
            None,
            &mut warnings,
        );
        assert!(step.unwrap().unwrap().made);
        assert_eq!(warnings[0].code, "config_powers");
        assert!(warnings[0].message.ends_with(": gateway, mcp"), "{}", warnings[0].message);
    }

    #[test]
    fn what_is_there_stays_and_what_is_missing_is_added() {
        let folder = TempDir::new().unwrap();
        let live = folder.path().join("config.toml");
        fs::write(&live, LIVE).unwrap();
        let step = plan_config("data", folder.path(), Some(&live), Some(ARCHIVED), Some("sqlite"));
        let step = step.unwrap().unwrap();
        let text = text_of(&step);
        for line in LIVE.lines() {
            assert!(text.lines().any(|other| other == line), "{line}\n{text}");
        }
        assert!(!text.contains("redacted") && !text.contains("/home/a"), "{text}");
        for word in ["extra_headers", "jira", "empty", "mcp", "model ="] {
            assert!(!text.contains(word), "{word}: {text}");
        }
        assert_eq!(step.added, ["agents", "memory.auto_save"]);
        assert_eq!(step.kept, ["locale", "memory.backend"]);
        assert!(!step.made);
        let document = text.parse::<DocumentMut>().unwrap();
        assert_eq!(document["agents"]["alpha"]["model_provider"].as_str(), Some("openai.default"));
        assert!(document["agents"]["alpha"].get("workspace").is_none());
        assert_eq!(fs::read_to_string(&live).unwrap(), LIVE, "planning writes nothing");
        let backup = apply(&step).unwrap().unwrap();
        assert_eq!(backup, folder.path().join("config.toml.backup-20260201T102030"));
        assert_eq!(fs::read_to_string(&backup).unwrap(), LIVE);
        assert_eq!(fs::read_to_string(&live).unwrap(), text);
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt as _;
            for path in [&live, &backup] {
                assert_eq!(fs::metadata(path).unwrap().permissions().mode() & 0o777, 0o600);
            }
        }
        let again =
            plan_config("data", folder.path(), Some(&live), Some(ARCHIVED), None).unwrap().unwrap();
        assert!(again.added.is_empty(), "{:?}", again.added);
        assert_eq!(apply(&again).unwrap(), None);
        assert_eq!(fs::read_to_string(&live).unwrap(), text);
    }

    #[test]
    fn a_file_that_changed_in_between_is_left_alone() {
        let folder = TempDir::new().unwrap();
        let live = folder.path().join("config.toml");
        fs::write(&live, LIVE).unwrap();
        let step =
            plan_config("data", folder.path(), Some(&live), Some(ARCHIVED), None).unwrap().unwrap();
        fs::write(&live, format!("{LIVE}# new\n")).unwrap();
        assert!(apply(&step).unwrap_err().to_string().contains("has changed"));
        assert_eq!(fs::read_to_string(&live).unwrap(), format!("{LIVE}# new\n"));
        fs::remove_file(&live).unwrap();
        let step = plan_config("data", folder.path(), None, None, None).unwrap().unwrap();
        fs::write(&live, "").unwrap();
        assert!(apply(&step).is_err());
    }

    #[test]
    fn a_new_install_gets_the_archives_text_and_the_backend_that_is_asked_for() {
        let folder = TempDir::new().unwrap();
        let install = folder.path().join("new/.zeroclaw");
        let archived = ARCHIVED.replace(
            "[agents.alpha.workspace]",
            "[agents.alpha.memory]\nbackend = \"postgres\"\n\n[agents.alpha.workspace]",
        );
        let step =
            plan_config("data", &install, None, Some(&archived), Some("sqlite")).unwrap().unwrap();
        assert!(step.made);
        assert_eq!(apply(&step).unwrap(), None);
        let text = fs::read_to_string(install.join("config.toml")).unwrap();
        assert!(!text.contains("redacted") && !text.contains("postgres"), "{text}");
        assert!(text.starts_with("schema_version = 3\nlocale = \"en\"\n"), "{text}");
        let document = text.parse::<DocumentMut>().unwrap();
        assert_eq!(document["memory"]["backend"].as_str(), Some("sqlite"));
        assert_eq!(document["agents"]["alpha"]["memory"]["backend"].as_str(), Some("sqlite"));
        assert_eq!(document["gateway"]["port"].as_integer(), Some(1));
    }

    #[test]
    fn a_snapshot_of_another_runtime_brings_a_file_only_where_nothing_is() {
        let folder = TempDir::new().unwrap();
        let plan = |layout, backend| {
            let step = plan_config(layout, folder.path(), None, None, backend).unwrap();
            step.map(|step| text_of(&step))
        };
        let data = "schema_version = 3\n\n[memory]\nbackend = \"markdown\"\n";
        assert_eq!(plan("data", Some("markdown")).unwrap(), data);
        assert_eq!(plan("workspace", None).unwrap(), "[memory]\nbackend = \"sqlite\"\n");
        fs::create_dir(folder.path().join("data")).unwrap();
        assert_eq!(plan("data", None), None);
        let live = folder.path().join("config.toml");
        fs::write(&live, LIVE).unwrap();
        assert!(plan_config("data", folder.path(), Some(&live), None, None).unwrap().is_none());
    }

    #[test]
    fn files_of_different_schemas_are_not_mixed() {
        let folder = TempDir::new().unwrap();
        let live = folder.path().join("config.toml");
        let code = |live_text: &str, archived: &str| {
            fs::write(&live, live_text).unwrap();
            plan_config("data", folder.path(), Some(&live), Some(archived), None).unwrap_err().code
        };
        assert_eq!(code(LIVE, "api_key = \"x\""), "config_schema_differs");
        assert_eq!(code("a = ", ARCHIVED), "config_unreadable");
        assert_eq!(code(LIVE, "a = "), "config_invalid");
    }

    #[test]
    fn secrets_that_an_archive_should_not_have_do_not_come_in() {
        let folder = TempDir::new().unwrap();
        let archived = "schema_version = 3\n[channels.slack.default]\nbot_token = \"enc2:00\"\n\
                        enabled = true\n[a.headers]\nX = \"y\"\n";
        let step = plan_config("data", folder.path(), None, Some(archived), None).unwrap().unwrap();
        let text = text_of(&step);
        assert!(!text.contains("enc2") && !text.contains("headers"), "{text}");
        assert!(text.contains("enabled = true"));
    }
}
