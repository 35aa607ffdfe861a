//! Which path is what, in both layouts.

use crate::kit::{SIDECAR, is_in_sidecar, is_markdown, is_within};

/// The layout of an install, as in [`FoundAgent::generation`](crate::FoundAgent).
pub(super) mod generation {
    /// Until 0.7: one workspace, with the database in it.
    pub(crate) const WORKSPACE: &str = "workspace";
    /// Since 0.8: one database for all agents in `data`, a workspace for each.
    pub(crate) const DATA: &str = "data";
    /// As the first documents describe it: `memory.db` in the install.
    pub(crate) const SEED: &str = "seed";
}

/// The folder of memories in a workspace.
pub(super) const MEMORY: &str = "memory";
/// The database of memories, below a workspace or below `data`.
pub(super) const DATABASE: &str = "memory/brain.db";
/// The configuration of an install, and its path below `raw/zeroclaw`.
pub(super) const CONFIG: &str = "config.toml";

/// Files of the persona that are not about a user; `MEMORY.md` is the eighth file of the persona,
/// and holds memories.
pub(super) const PERSONA: [&str; 6] =
    ["SOUL.md", "IDENTITY.md", "AGENTS.md", "TOOLS.md", "HEARTBEAT.md", "BOOTSTRAP.md"];
/// The file about a user.
pub(super) const USER: &str = "USER.md";
/// Memories written by hand or by the Markdown backend.
pub(super) const CURATED: &str = "MEMORY.md";
/// Documents of a persona, by the names that the runtime has had for them.
pub(super) const AIEOS: [&str; 2] = ["identity.json", "identity.aieos.json"];

/// How ZeroClaw treats a file of a workspace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PathRole {
    /// One of the eight files of the persona that are not about a user.
    Persona,
    /// `USER.md`.
    User,
    /// Memories in Markdown: `MEMORY.md`, `memory/**/*.md`.
    Memory,
    /// The database of memories, its log and the like: rows travel, not bytes.
    Database,
    /// A copy of the database that the runtime made before it changed it.
    Backup,
    /// Files that can be recreated: caches.
    Cache,
    /// Files that must not travel: keys, devices, sessions of messengers.
    Never,
    /// Anything else that the runtime manages.
    Raw,
    /// The user's own files.
    Artifact,
}

/// Returns what a file is, by its path in the workspace.
pub(super) fn place_of(path: &[u8]) -> PathRole {
    if is_in_sidecar(path) {
        return PathRole::Raw;
    }
    let is = |name: &str| path == name.as_bytes();
    if PERSONA.iter().copied().any(is) {
        return PathRole::Persona;
    }
    if is(USER) {
        return PathRole::User;
    }
    if let Some(rest) = path.strip_prefix(DATABASE.as_bytes()) {
        if matches!(rest, b"" | b"-wal" | b"-shm" | b"-journal") {
            return PathRole::Database;
        }
        if rest.starts_with(b".backup-") {
            return PathRole::Backup;
        }
    }
    if path.starts_with(b"memory/response_cache.db") {
        return PathRole::Cache;
    }
    if is_secret(path) {
        return PathRole::Never;
    }
    let markdown = path.strip_prefix(b"memory/").is_some_and(is_markdown);
    if is(CURATED) || markdown && std::str::from_utf8(path).is_ok() {
        return PathRole::Memory;
    }
    if is_managed(path) { PathRole::Raw } else { PathRole::Artifact }
}

/// Whether ZeroClaw manages the file at a path: it travels under `raw/`, if it travels.
pub(super) fn is_managed(path: &[u8]) -> bool {
    const FILES: &[&str] = &[USER, CURATED, "MEMORY_SNAPSHOT.md"];
    const FOLDERS: &[&str] = &[MEMORY, "sessions", "state", "cron", SIDECAR];
    let is = |name: &&str| path == name.as_bytes();
    FILES.iter().chain(&PERSONA).chain(&AIEOS).any(is)
        || FOLDERS.iter().any(|folder| is_within(path, folder))
        || is_secret(path)
}

/// Keys, and the sessions of messengers. Some belong to the install, and are in a workspace only
/// when one folder is both.
fn is_secret(path: &[u8]) -> bool {
    const STARTS: &[&str] = &["devices.db", "control_plane.db", "auth-profiles.json"];
    const FILES: &[&str] = &[".secret_key", "auth-profiles.lock"];
    FILES.iter().any(|name| path == name.as_bytes())
        || STARTS.iter().any(|name| {
            let rest = path.strip_prefix(name.as_bytes());
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(b"-"))
        })
        || is_within(path, "state/whatsapp-web")
}
#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_file_of_a_workspace_has_its_place() {
        for (path, wanted) in [
            (&b"SOUL.md"[..], PathRole::Persona),
            (b"BOOTSTRAP.md", PathRole::Persona),
            (b"BOOT.md", PathRole::Artifact),
            (b"USER.md", PathRole::User),
            (b"users/lin/USER.md", PathRole::Artifact),
            (b"MEMORY.md", PathRole::Memory),
            (b"memory/2026-02-15.md", PathRole::Memory),
            (b"memory/session_a1b2c3d4.md", PathRole::Memory),
            (b"memory/archive/2026-02-08.md", PathRole::Memory),
            (b"memory/caf\xe9.md", PathRole::Raw),
            (b"memory/.md", PathRole::Raw),
            (b"memory/brain.db", PathRole::Database),
            (b"memory/brain.db-wal", PathRole::Database),
            (b"memory/brain.db-shm", PathRole::Database),
            (b"memory/brain.db-journal", PathRole::Database),
            (b"memory/brain.db.backup-20261115T071728", PathRole::Backup),
            (b"memory/brain.database", PathRole::Raw),
            (b"memory/response_cache.db", PathRole::Cache),
            (b"memory/response_cache.db-wal", PathRole::Cache),
            (b"memory/discord.db", PathRole::Raw),
            (b"memory/audit.db", PathRole::Raw),
            (b"memory/migrations/openclaw-20260301-101500/brain.db", PathRole::Raw),
            (b"MEMORY_SNAPSHOT.md", PathRole::Raw),
            (b"identity.json", PathRole::Raw),
            (b"identity.aieos.json", PathRole::Raw),
            (b"sessions/sessions.db", PathRole::Raw),
            (b"cron/jobs.db", PathRole::Raw),
            (b"state/memory_hygiene_state.json", PathRole::Raw),
            (b"state/whatsapp-web/session.db", PathRole::Never),
            (b"devices.db", PathRole::Never),
            (b"devices.db-wal", PathRole::Never),
            (b".secret_key", PathRole::Never),
            (b"auth-profiles.json", PathRole::Never),
            (b"control_plane.db", PathRole::Never),
            (b"skills/x/SKILL.md", PathRole::Artifact),
            (b"config.toml", PathRole::Artifact),
            (b"notes/devices.db", PathRole::Artifact),
        ] {
            assert_eq!(place_of(path), wanted, "{}", String::from_utf8_lossy(path));
            assert_eq!(is_managed(path), wanted != PathRole::Artifact);
        }
    }

    #[test]
    fn what_was_kept_of_another_runtime_is_raw_whatever_it_is_called() {
        for path in [
            &b".alf-origin"[..],
            b".alf-origin/records.jsonl",
            b".alf-origin/files/memory/brain.db",
            b".alf-origin/files/.secret_key",
        ] {
            assert_eq!(place_of(path), PathRole::Raw);
            assert!(is_managed(path));
        }
        assert_eq!(place_of(b".alf-origin-of-mine"), PathRole::Artifact);
    }
}
