//! Everything we take from the environment, in one place.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io::IsTerminal as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anemone::host::{Folders, Host, ServiceKeys, SharedClock};
use anemone::keys::Keys;
use anemone::system::SystemClock;
use anemone_runtimes::RUNTIMES;
use zeroize::Zeroizing;

use crate::args::KeyArgs;
use crate::console::Terminal;

/// Text output when set to anything but an empty text, `0` or `false`.
pub(crate) const ALF_HUMAN: &str = "ALF_HUMAN";
/// The passphrase of a sealed archive.
pub(crate) const ANEMONE_PASSPHRASE: &str = "ANEMONE_PASSPHRASE";
/// The existing tool's key to its service; only whether it is set matters to us.
pub(crate) const ALF_API_KEY: &str = "ALF_API_KEY";
/// Where programs of this user keep data that they must not lose; `~/.local/share` if it is not
/// set.
pub(crate) const XDG_DATA_HOME: &str = "XDG_DATA_HOME";
/// Where programs of this user keep data that they should not lose, but that is not backed up;
/// `~/.local/state` if it is not set.
pub(crate) const XDG_STATE_HOME: &str = "XDG_STATE_HOME";
/// Where programs of this user look for their settings; `~/.config` when it is not set.
pub(crate) const XDG_CONFIG_HOME: &str = "XDG_CONFIG_HOME";
/// Where programs of this user keep data that they can rebuild; `~/.cache` if it is not set.
pub(crate) const XDG_CACHE_HOME: &str = "XDG_CACHE_HOME";

/// Without a home folder there are no agents in it, so the fallback finds none.
fn home() -> PathBuf {
    std::env::home_dir().filter(|folder| folder.is_absolute()).unwrap_or_else(|| PathBuf::from("/"))
}

/// Returns the folder that a variable names; a relative path is ignored.
#[expect(clippy::disallowed_methods, reason = "the one place that reads the environment")]
fn folder(variable: &str, otherwise: &str) -> PathBuf {
    let named = std::env::var_os(variable).map(PathBuf::from).filter(|folder| folder.is_absolute());
    named.unwrap_or_else(|| home().join(otherwise))
}

/// The settings from the environment.
#[derive(Clone, Default)]
pub(crate) struct Environment {
    pub(crate) human: bool,
    pub(crate) passphrase: Option<Zeroizing<String>>,
    pub(crate) stdout_is_terminal: bool,
    pub(crate) stderr_is_terminal: bool,
    pub(crate) stdin_is_terminal: bool,
    pub(crate) threads: usize,
    pub(crate) alf_key_is_set: bool,
    /// The folders of this user.
    pub(crate) folders: Folders,
    /// Variables that tell runtimes where their things are, and `PATH`.
    pub(crate) of_runtimes: BTreeMap<String, OsString>,
}

impl Environment {
    /// Whether a person can be asked a question.
    pub(crate) const fn can_ask(&self) -> bool {
        self.stdin_is_terminal && self.stderr_is_terminal
    }

    #[expect(clippy::disallowed_methods, reason = "the one place that reads the environment")]
    pub(crate) fn read() -> Self {
        let human = std::env::var(ALF_HUMAN).unwrap_or_default();
        let off = ["", "0", "false", "no", "off"];
        Self {
            human: !off.contains(&human.to_ascii_lowercase().as_str()),
            passphrase: std::env::var(ANEMONE_PASSPHRASE).ok().map(Zeroizing::new),
            stdout_is_terminal: std::io::stdout().is_terminal(),
            stderr_is_terminal: std::io::stderr().is_terminal(),
            stdin_is_terminal: std::io::stdin().is_terminal(),
            threads: std::thread::available_parallelism().map_or(1, usize::from),
            alf_key_is_set: std::env::var_os(ALF_API_KEY).is_some_and(|key| !key.is_empty()),
            folders: Folders {
                home: home(),
                config: folder(XDG_CONFIG_HOME, ".config"),
                data: folder(XDG_DATA_HOME, ".local/share"),
                cache: folder(XDG_CACHE_HOME, ".cache"),
                state: folder(XDG_STATE_HOME, ".local/state"),
            },
            of_runtimes: of_runtimes(),
        }
    }

    /// Returns an environment whose folders are all below the given one, as on a new machine.
    pub(crate) fn inside(&self, folder: &Path, of_runtimes: BTreeMap<String, OsString>) -> Self {
        Self {
            threads: self.threads,
            folders: Folders::below(folder),
            of_runtimes,
            ..Self::default()
        }
    }

    /// Returns the host for the library: this environment, with a console and keys.
    pub(crate) fn host(&self, keys: &KeyArgs, console: Terminal) -> Host {
        let KeyArgs { identity, passphrase_file } = keys.clone();
        Host {
            folders: self.folders.clone(),
            variables: self.of_runtimes.clone(),
            database_reader: std::env::current_exe().unwrap_or_else(|_| "anemone".into()),
            scratch: std::env::temp_dir(),
            threads: self.threads,
            clock: SharedClock::new(SystemClock),
            console: Arc::new(console),
            keys: Keys::new(identity, passphrase_file, self.passphrase.clone()),
            service_keys: Arc::new(Variables),
        }
    }
}

/// Keys of services, in variables of the environment.
struct Variables;

impl ServiceKeys for Variables {
    #[expect(clippy::disallowed_methods, reason = "the one place that reads the environment")]
    fn find(&self, variables: &[&str]) -> Option<Zeroizing<String>> {
        let read = |name: &&str| std::env::var(name).ok().map(Zeroizing::new);
        variables.iter().filter_map(read).find(|key| !key.trim().is_empty())
    }
}

fn of_runtimes() -> BTreeMap<String, OsString> {
    let prefixes = RUNTIMES.iter().flat_map(|runtime| runtime.variables);
    let of_interest =
        |name: &str| name == "PATH" || prefixes.clone().any(|prefix| name.starts_with(prefix));
    std::env::vars_os()
        .filter_map(|(name, value)| Some((name.into_string().ok()?, value)))
        .filter(|(name, _)| of_interest(name))
        .collect()
}
