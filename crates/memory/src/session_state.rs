//! The state of a session between two hooks: one small file for each session in
//! `<state>/sessions/`.
//!
//! Losing it costs little: a question or a note may be repeated.

use std::io::Read as _;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::change::digest;
use crate::journal::keep_private;
use crate::session_note::NotedSession;
use crate::store::{LockedStore, MarkdownStore, MarkdownStoreError};

/// Larger than any of these files.
const MAX_BYTES: u64 = 1 << 20;
/// So many sessions are known; those that were quiet the longest are forgotten.
const MOST_SESSIONS: usize = 1000;

/// The state of a session.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SessionState {
    /// The compaction cycle in which memories were flushed last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub flushed: Option<String>,
    /// A digest of the end of the conversation at that time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub flushed_after: Option<String>,
    /// Digests of the captured sentences.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub captured: Vec<String>,
    /// The last note.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub noted: Option<NotedSession>,
}

impl MarkdownStore {
    pub(crate) fn session_folder(&self) -> PathBuf {
        self.state().join("sessions")
    }

    fn session_file(&self, session: &str) -> PathBuf {
        let name = anemone_format::Hex(&digest(session.as_bytes())[..16]).to_string();
        self.session_folder().join(format!("{name}.json"))
    }

    /// Returns the state of a session; empty if it cannot be read.
    #[must_use]
    pub fn session_state(&self, session: &str) -> SessionState {
        let Ok(file) = fs_err::File::open(self.session_file(session)) else {
            return SessionState::default();
        };
        let mut bytes = Vec::new();
        match file.take(MAX_BYTES).read_to_end(&mut bytes) {
            Ok(_) => serde_json::from_slice(&bytes).unwrap_or_default(),
            Err(_) => SessionState::default(),
        }
    }
}

impl LockedStore<'_> {
    /// Saves the state of a session.
    pub fn keep_session_state(
        &self,
        session: &str,
        state: &SessionState,
    ) -> Result<(), MarkdownStoreError> {
        let path = self.site().session_file(session);
        let keep = || {
            keep_private(&path, &serde_json::to_vec(state)?)?;
            forget_quiet(&path.with_file_name(""), MOST_SESSIONS)
        };
        keep().map_err(|source| MarkdownStoreError::Io { path: path.clone(), source })
    }
}

/// Removes the files of sessions that were quiet the longest.
fn forget_quiet(folder: &std::path::Path, most: usize) -> std::io::Result<()> {
    let mut files = Vec::new();
    for entry in fs_err::read_dir(folder)? {
        let entry = entry?;
        let changed = entry.metadata().and_then(|metadata| metadata.modified());
        files.push((changed.ok(), entry.path()));
    }
    files.sort();
    let spare = files.len().saturating_sub(most);
    for (_, path) in files.into_iter().take(spare) {
        fs_err::remove_file(path)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use tempfile::TempDir;

    use super::*;
    use crate::layout::MarkdownLayout;

    #[test]
    fn what_was_kept_of_a_session_is_read_and_damage_is_nothing() {
        let home = TempDir::new().unwrap();
        let site =
            MarkdownStore::open(home.path(), &home.path().join("state"), MarkdownLayout::PLAIN)
                .unwrap();
        assert_eq!(site.session_state("../x"), SessionState::default());
        let state = SessionState { flushed: Some("2".to_owned()), ..SessionState::default() };
        site.lock().unwrap().keep_session_state("../x", &state).unwrap();
        assert_eq!(site.session_state("../x"), state);
        assert_eq!(site.session_state("y"), SessionState::default());
        fs_err::write(site.session_file("../x"), "{").unwrap();
        assert_eq!(site.session_state("../x"), SessionState::default());
    }

    #[test]
    fn only_so_many_sessions_are_known() {
        let home = TempDir::new().unwrap();
        for number in 0..5 {
            fs_err::write(home.path().join(number.to_string()), "{}").unwrap();
        }
        forget_quiet(home.path(), 3).unwrap();
        assert_eq!(fs_err::read_dir(home.path()).unwrap().count(), 3);
    }
}
