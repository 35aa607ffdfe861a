//! Which settings that cannot be honoured the user was told about.
//!
//! A search says it once for each agent and value; `config explain` and `status` always say it.

use std::collections::BTreeSet;
use std::path::Path;

use anemone_files::{Durability, make_private_folder, read_small, replace_file};
use anemone_format::sha256_hex;
use anemone_runtimes::{RuntimeSetting, RuntimeSettings};

/// The note in the state folder of an agent.
pub(crate) const SAID_FILE: &str = "settings-said.json";
/// More than a configuration can have.
const MOST: usize = 4096;
/// A digest and its quotes, so often.
const MAX_BYTES: u64 = 256 << 10;

/// Returns the settings that are not honoured and were not named yet, and notes that they are now.
/// Without a state folder they are named each time.
pub(crate) fn unsaid(settings: &RuntimeSettings, folder: &Path) -> Vec<RuntimeSetting> {
    let refused = settings.settings.iter().filter(|setting| setting.refusal().is_some());
    unsaid_of("ignored", &refused.collect::<Vec<_>>(), folder)
}

/// Returns those of some settings about which the user was not told something, and notes them.
pub(crate) fn unsaid_of(
    what: &str,
    settings: &[&RuntimeSetting],
    folder: &Path,
) -> Vec<RuntimeSetting> {
    let digest = |setting: &RuntimeSetting| digest(what, setting);
    if settings.is_empty() {
        return Vec::new();
    }
    let path = folder.join(SAID_FILE);
    let mut said: BTreeSet<String> = read_small(&path, MAX_BYTES)
        .ok()
        .flatten()
        .and_then(|bytes| serde_json::from_slice(&bytes).ok())
        .unwrap_or_default();
    let is_new = |setting: &&&RuntimeSetting| said.insert(digest(setting));
    let new: Vec<_> = settings.iter().filter(is_new).map(|setting| (*setting).clone()).collect();
    if new.is_empty() {
        return new;
    }
    if said.len() > MOST {
        said = settings.iter().map(|setting| digest(setting)).collect();
    }
    if let Ok(bytes) = serde_json::to_vec(&said) {
        let written = make_private_folder(folder)
            .and_then(|()| replace_file(&path, &bytes, Durability::Eventual));
        // It is said again next time.
        written.ok();
    }
    new
}

/// Identifies a setting and its value without holding either: it may be a prompt.
fn digest(what: &str, setting: &RuntimeSetting) -> String {
    let value = setting.value.as_ref().map(ToString::to_string).unwrap_or_default();
    let mut digest = sha256_hex(format!("{what}\n{}\n{value}", setting.name).as_bytes());
    digest.truncate(16);
    digest
}
