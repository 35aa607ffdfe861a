//! Which path is what, in both layouts.

use crate::kit::sidecar::SIDECAR;

/// The shape of an install, as [`FoundAgent::generation`](crate::FoundAgent) has it.
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
/// The configuration of an install, and where it stands below `raw/zeroclaw`.
pub(super) const CONFIG: &str = "config.toml";

/// Files of the persona that are not about a user; `MEMORY.md` is the eighth file of the persona,
/// and holds memories.
pub(super) const PERSONA: [&str; 6] =
    ["SOUL.md", "IDENTITY.md", "AGENTS.md", "TOOLS.md", "HEARTBEAT.md", "BOOTSTRAP.md"];
/// The file about a user.
pub(super) const USER: &str = "USER.md";
/// Memories that somebody wrote by hand, or the Markdown backend.
pub(super) const CURATED: &str = "MEMORY.md";
/// Documents of a persona, by the names that the runtime has had for them.
pub(super) const AIEOS: [&str; 2] = ["identity.json", "identity.aieos.json"];

/// What a file of a workspace is to ZeroClaw.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
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
    /// What can be made again: caches.
    Cache,
    /// What must not travel: keys, devices, sessions of messengers.
    Never,
    /// Anything else that the runtime manages.
    Raw,
    /// The user's own.
    Artifact,
}

/// Says what a file is, by its path in the workspace.
pub(super) fn place_of(path: &[u8]) -> Place {
    if is_below(path, SIDECAR) {
        return Place::Raw;
    }
    let is = |name: &str| path == name.as_bytes();
    if PERSONA.iter().copied().any(is) {
        return Place::Persona;
    }
    if is(USER) {
        return Place::User;
    }
    if let Some(rest) = path.strip_prefix(DATABASE.as_bytes()) {
        if matches!(rest, b"" | b"-wal" | b"-shm" | b"-journal") {
            return Place::Database;
        }
        if rest.starts_with(b".backup-") {
            return Place::Backup;
        }
    }
    if path.starts_with(b"memory/response_cache.db") {
        return Place::Cache;
    }
    if is_secret(path) {
        return Place::Never;
    }
    let markdown = path.strip_prefix(b"memory/").is_some_and(is_markdown);
    if is(CURATED) || markdown && std::str::from_utf8(path).is_ok() {
        return Place::Memory;
    }
    if is_managed(path) { Place::Raw } else { Place::Artifact }
}

/// Whether ZeroClaw manages what lies at a path: it travels under `raw/`, if it travels.
pub(super) fn is_managed(path: &[u8]) -> bool {
    const FILES: &[&str] = &[USER, CURATED, "MEMORY_SNAPSHOT.md"];
    const FOLDERS: &[&str] = &[MEMORY, "sessions", "state", "cron", SIDECAR];
    let is = |name: &&str| path == name.as_bytes();
    FILES.iter().chain(&PERSONA).chain(&AIEOS).any(is)
        || FOLDERS.iter().any(|folder| is_below(path, folder))
        || is_secret(path)
}

/// Keys, and what opens the doors of messengers. Some are of the install, and lie here only in a
/// folder that is both.
fn is_secret(path: &[u8]) -> bool {
    const STARTS: &[&str] = &["devices.db", "control_plane.db", "auth-profiles.json"];
    const FILES: &[&str] = &[".secret_key", "auth-profiles.lock"];
    FILES.iter().any(|name| path == name.as_bytes())
        || STARTS.iter().any(|name| {
            let rest = path.strip_prefix(name.as_bytes());
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(b"-"))
        })
        || is_below(path, "state/whatsapp-web")
}

fn is_below(path: &[u8], folder: &str) -> bool {
    let rest = path.strip_prefix(folder.as_bytes());
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(b"/"))
}

fn is_markdown(name: &[u8]) -> bool {
    name.len() > 3 && name[name.len() - 3..].eq_ignore_ascii_case(b".md")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_file_of_a_workspace_has_its_place() {
        for (path, wanted) in [
            (&b"SOUL.md"[..], Place::Persona),
            (b"BOOTSTRAP.md", Place::Persona),
            (b"BOOT.md", Place::Artifact),
            (b"USER.md", Place::User),
            (b"users/lin/USER.md", Place::Artifact),
            (b"MEMORY.md", Place::Memory),
            (b"memory/2026-02-15.md", Place::Memory),
            (b"memory/session_a1b2c3d4.md", Place::Memory),
            (b"memory/archive/2026-02-08.md", Place::Memory),
            (b"memory/caf\xe9.md", Place::Raw),
            (b"memory/.md", Place::Raw),
            (b"memory/brain.db", Place::Database),
            (b"memory/brain.db-wal", Place::Database),
            (b"memory/brain.db-shm", Place::Database),
            (b"memory/brain.db-journal", Place::Database),
            (b"memory/brain.db.backup-20261115T071728", Place::Backup),
            (b"memory/brain.database", Place::Raw),
            (b"memory/response_cache.db", Place::Cache),
            (b"memory/response_cache.db-wal", Place::Cache),
            (b"memory/discord.db", Place::Raw),
            (b"memory/audit.db", Place::Raw),
            (b"memory/migrations/openclaw-20260301-101500/brain.db", Place::Raw),
            (b"MEMORY_SNAPSHOT.md", Place::Raw),
            (b"identity.json", Place::Raw),
            (b"identity.aieos.json", Place::Raw),
            (b"sessions/sessions.db", Place::Raw),
            (b"cron/jobs.db", Place::Raw),
            (b"state/memory_hygiene_state.json", Place::Raw),
            (b"state/whatsapp-web/session.db", Place::Never),
            (b"devices.db", Place::Never),
            (b"devices.db-wal", Place::Never),
            (b".secret_key", Place::Never),
            (b"auth-profiles.json", Place::Never),
            (b"control_plane.db", Place::Never),
            (b"skills/x/SKILL.md", Place::Artifact),
            (b"config.toml", Place::Artifact),
            (b"notes/devices.db", Place::Artifact),
        ] {
            assert_eq!(place_of(path), wanted, "{}", String::from_utf8_lossy(path));
            assert_eq!(is_managed(path), wanted != Place::Artifact);
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
            assert_eq!(place_of(path), Place::Raw);
            assert!(is_managed(path));
        }
        assert_eq!(place_of(b".alf-origin-of-mine"), Place::Artifact);
    }
}
