//! The files of the `alf` tool under `~/.alf`: its settings, and how far it synced each agent.
//!
//! ```text
//! ~/.alf/config.toml              [service] api_url, api_key   [defaults] runtime, workspace
//! ~/.alf/state/AGENT.toml         agent_id, last_synced_sequence, last_synced_at, snapshot_path
//! ~/.alf/state/AGENT-snapshot.alf what was synced last
//! ```
//!
//! These files are only read. Keys are never kept: only their presence matters here.

mod rules;

use std::io::Read as _;
use std::path::{Path, PathBuf};

use anemone_files::if_found;
use anemone_format::AgentId;
use serde::Serialize;
use toml_edit::{Document, Item, TableLike};

pub use self::rules::{AlfAgentError, AlfExport, AlfExportError, check};
use crate::config::parse_toml;

/// More than that tool writes.
const LONGEST_BYTES: u64 = 1 << 20;
/// Agents that are listed, at most.
const MOST_STATES: usize = 1000;
/// Files that are looked at for them; there are two for each.
const MOST_FILES: usize = 10 * MOST_STATES;

/// The settings of the `alf` tool.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct AlfSettings {
    /// Whether there is such a file.
    pub exists: bool,
    /// Whether it has a key to the service.
    pub key_is_set: bool,
    /// The runtime that commands take without an argument.
    pub runtime: Option<String>,
    /// The workspace that commands take without an argument.
    pub workspace: Option<PathBuf>,
}

/// Why a file of the `alf` tool cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AlfFileError {
    /// The system refused.
    #[error(transparent)]
    Io(#[from] std::io::Error),
    /// It is not a short text file.
    #[error("{}: {problem}", .path.display())]
    NotText {
        /// The file.
        path: PathBuf,
        /// What it is instead.
        problem: &'static str,
    },
    /// The text makes no sense.
    #[error("{}: {problem}", .path.display())]
    Content {
        /// The file.
        path: PathBuf,
        /// What is wrong, without quoting the file: it may hold a key.
        problem: String,
    },
}

impl AlfSettings {
    /// Returns where they are.
    pub fn path(home: &Path) -> PathBuf {
        home.join(".alf/config.toml")
    }

    /// Reads them; without a file nothing is set.
    pub fn read(home: &Path) -> Result<Self, AlfFileError> {
        let path = Self::path(home);
        let Some(text) = read_small(&path)? else { return Ok(Self::default()) };
        Self::parse(&text, home).map_err(|problem| AlfFileError::Content { path, problem })
    }

    fn parse(text: &str, home: &Path) -> Result<Self, String> {
        let document = parse(text)?;
        let root = document.as_table();
        let key = text_of(section(root, "service")?, "service.", "api_key")?;
        let defaults = section(root, "defaults")?;
        let in_home = |text: String| match text.strip_prefix("~/") {
            Some(rest) => home.join(rest),
            None => PathBuf::from(text),
        };
        Ok(Self {
            exists: true,
            key_is_set: key.is_some(),
            runtime: text_of(defaults, "defaults.", "runtime")?,
            workspace: text_of(defaults, "defaults.", "workspace")?.map(in_home),
        })
    }
}

/// How far the `alf` tool synced an agent.
#[derive(Debug, PartialEq, Eq, Serialize)]
pub struct SyncState {
    /// The agent.
    pub agent_id: String,
    /// The number of the last change that was synced.
    pub last_synced_sequence: Option<u64>,
    /// When that was.
    pub last_synced_at: Option<String>,
    /// Whether there is a copy of the last synced state.
    pub snapshot_exists: bool,
}

impl SyncState {
    /// Returns the folder of all states.
    pub fn folder(home: &Path) -> PathBuf {
        home.join(".alf/state")
    }

    /// Reads the state of an agent, if that tool knows it.
    pub fn read(home: &Path, agent: AgentId) -> Result<Option<Self>, AlfFileError> {
        let folder = Self::folder(home);
        let path = folder.join(format!("{agent}.toml"));
        let Some(text) = read_small(&path)? else { return Ok(None) };
        let state = Self::parse(&text, &folder, agent);
        state.map(Some).map_err(|problem| AlfFileError::Content { path, problem })
    }

    fn parse(text: &str, folder: &Path, agent: AgentId) -> Result<Self, String> {
        let document = parse(text)?;
        let root = document.as_table();
        let sequence = root.get("last_synced_sequence").and_then(Item::as_integer);
        let at = root.get("last_synced_at");
        let snapshot = text_of(Some(root), "", "snapshot_path")?
            .map_or_else(|| folder.join(format!("{agent}-snapshot.alf")), |text| folder.join(text));
        Ok(Self {
            agent_id: agent.to_string(),
            last_synced_sequence: sequence.and_then(|sequence| sequence.try_into().ok()),
            last_synced_at: at.and_then(|value| match value.as_datetime() {
                Some(moment) => Some(moment.to_string()),
                None => value.as_str().map(str::to_owned),
            }),
            snapshot_exists: snapshot.is_file(),
        })
    }
}

/// Reads every state there is, sorted by agent, and says which files could not be read and why.
pub fn sync_states(home: &Path) -> (Vec<SyncState>, Vec<String>) {
    let mut skipped = Vec::new();
    let mut agents: Vec<AgentId> = Vec::new();
    let entries = fs_err::read_dir(SyncState::folder(home)).into_iter().flatten().flatten();
    for entry in entries.take(MOST_FILES) {
        let name = entry.file_name();
        let Some(stem) = name.to_str().and_then(|text| text.strip_suffix(".toml")) else {
            continue;
        };
        match stem.parse() {
            Ok(_) if agents.len() == MOST_STATES => {
                skipped.push(format!("only {MOST_STATES} agents are listed"));
                break;
            }
            Ok(agent) => agents.push(agent),
            Err(_) => skipped.push(format!("{stem}.toml: its name is no agent's id")),
        }
    }
    agents.sort_unstable();
    let mut states = Vec::new();
    for agent in agents {
        match SyncState::read(home, agent) {
            Ok(state) => states.extend(state),
            Err(error) => skipped.push(error.to_string()),
        }
    }
    (states, skipped)
}

/// Reads a small text file; `None` when it is not there.
fn read_small(path: &Path) -> Result<Option<String>, AlfFileError> {
    let not_text = |problem| Err(AlfFileError::NotText { path: path.to_owned(), problem });
    // Checked before it is opened: opening a pipe blocks until something writes to it.
    let Some(found) = if_found(fs_err::metadata(path))? else { return Ok(None) };
    if !found.is_file() {
        return not_text("it is not a file");
    }
    let mut bytes = Vec::new();
    fs_err::File::open(path)?.take(LONGEST_BYTES + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > LONGEST_BYTES {
        return not_text("it is too long");
    }
    match String::from_utf8(bytes) {
        Ok(text) => Ok(Some(text)),
        Err(_) => not_text("it is not UTF-8"),
    }
}

fn parse(text: &str) -> Result<Document<&str>, String> {
    parse_toml(text).map_err(|line| format!("line {line} is no TOML"))
}

fn section<'a>(root: &'a dyn TableLike, name: &str) -> Result<Option<&'a dyn TableLike>, String> {
    let Some(item) = root.get(name) else { return Ok(None) };
    let table = item.as_table_like();
    table.map(Some).ok_or_else(|| format!("{name} should be a section, [{name}]"))
}

/// Returns a text that is set to something.
fn text_of(
    table: Option<&dyn TableLike>,
    place: &str,
    name: &str,
) -> Result<Option<String>, String> {
    let Some(item) = table.and_then(|table| table.get(name)) else { return Ok(None) };
    match item.as_str() {
        Some(text) => Ok(Some(text.to_owned()).filter(|text| !text.is_empty())),
        None => Err(format!("{place}{name} should be a text in quotes")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(text: &str) -> Result<AlfSettings, String> {
        AlfSettings::parse(text, Path::new("/home/ada"))
    }

    #[test]
    fn settings_are_read_and_a_key_is_not_kept() {
        let text = "# mine\n[service]\napi_url = 'https://x'\napi_key = \"k#1\" # no\n\
                    [ defaults ]\nruntime = \"zeroclaw\"\nworkspace = '~/a b'\n";
        let settings = AlfSettings {
            exists: true,
            key_is_set: true,
            runtime: Some("zeroclaw".to_owned()),
            workspace: Some(PathBuf::from("/home/ada/a b")),
        };
        assert_eq!(parsed(text).unwrap(), settings);
        assert!(!format!("{settings:?}").contains("k#1"));
    }

    #[test]
    fn what_is_empty_is_not_set() {
        let text = "[service]\napi_key = \"\"\n[defaults]\nworkspace = \"\"\n";
        let settings = parsed(text).unwrap();
        assert_eq!(settings, AlfSettings { exists: true, ..AlfSettings::default() });
    }

    #[test]
    fn what_is_wrong_is_named_by_line_or_setting_without_what_stands_there() {
        for (text, says) in [
            ("[service]\napi_key = \"hush\n", "line 2 is no TOML"),
            ("[service]\n\napi_key = hush\n", "line 3 is no TOML"),
            ("service = 1\n", "service should be a section, [service]"),
            ("[defaults]\nworkspace = 3\n", "defaults.workspace should be a text in quotes"),
        ] {
            assert_eq!(parsed(text).unwrap_err(), says, "{text}");
        }
    }

    #[test]
    fn what_is_no_small_text_is_refused_and_nothing_is_read_of_it() {
        let home = tempfile::tempdir().unwrap();
        let read = || AlfSettings::read(home.path()).map_err(|error| error.to_string());
        assert_eq!(read(), Ok(AlfSettings::default()));
        let path = AlfSettings::path(home.path());
        fs_err::create_dir_all(&path).unwrap();
        assert!(read().unwrap_err().ends_with("config.toml: it is not a file"));
        fs_err::remove_dir(&path).unwrap();
        fs_err::write(&path, b"[service]\napi_key = \"\xff\"\n").unwrap();
        assert!(read().unwrap_err().ends_with("config.toml: it is not UTF-8"));
        let long = "#".repeat(usize::try_from(LONGEST_BYTES).unwrap() + 1);
        fs_err::write(&path, long).unwrap();
        assert!(read().unwrap_err().ends_with("config.toml: it is too long"));
    }

    #[test]
    fn states_that_cannot_be_read_are_named() {
        let home = tempfile::tempdir().unwrap();
        let folder = SyncState::folder(home.path());
        fs_err::create_dir_all(&folder).unwrap();
        let (one, two) =
            ("0190f3a0-7f3c-7b1e-9d2a-1c2b3a4d5e6f", "0190f3a0-7f3c-7b1e-9d2a-1c2b3a4d5e70");
        fs_err::write(folder.join(format!("{one}.toml")), "last_synced_sequence = 1\n").unwrap();
        fs_err::write(folder.join(format!("{one}-snapshot.alf")), "").unwrap();
        fs_err::write(folder.join(format!("{two}.toml")), "no").unwrap();
        fs_err::write(folder.join("odd.toml"), "").unwrap();
        let (states, skipped) = sync_states(home.path());
        assert_eq!(states.len(), 1);
        assert_eq!((states[0].agent_id.as_str(), states[0].snapshot_exists), (one, true));
        assert_eq!(skipped.len(), 2, "{skipped:?}");
    }

    #[test]
    fn a_state_says_how_far_an_agent_came() {
        let agent: AgentId = "0190f3a0-7f3c-7b1e-9d2a-1c2b3a4d5e6f".parse().unwrap();
        let read = |text: &str| SyncState::parse(text, Path::new("/nowhere"), agent);
        let state = read("last_synced_sequence = 7\nlast_synced_at = \"2026-03-14T01:02:03Z\"\n");
        let state = state.unwrap();
        assert_eq!(state.last_synced_sequence, Some(7));
        assert_eq!(state.last_synced_at.as_deref(), Some("2026-03-14T01:02:03Z"));
        assert!(!state.snapshot_exists);
        let state =
            read("last_synced_sequence = -7\nlast_synced_at = 2026-03-14T01:02:03Z").unwrap();
        assert_eq!(state.last_synced_sequence, None);
        assert_eq!(state.last_synced_at.as_deref(), Some("2026-03-14T01:02:03Z"));
        assert_eq!(read("last = = 1").unwrap_err(), "line 1 is no TOML");
    }
}
