//! Which file of a workspace is what.

use crate::kit::{
    DailyName, Persona, PersonaPlace, SIDECAR, date_in_name, is_markdown, is_within, persona,
};

/// The folder of memories.
pub(super) const MEMORY: &str = "memory";
/// The database of structured facts that some users keep.
pub(super) const FACTS: &str = "memory/facts.db";

/// How OpenClaw treats a regular file of the workspace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum PathRole {
    /// Markdown that holds memories.
    Memory(MemoryKind),
    /// The database of structured facts that some users keep.
    Facts,
    /// A file that says who the agent is, what it does or whom it works for.
    Persona(PersonaPlace),
    /// Managed by OpenClaw, and not parsed.
    Raw,
    /// Anything else.
    Artifact,
}

/// What kind of memories a file holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum MemoryKind {
    /// `MEMORY.md`, or the older `memory.md`.
    Curated,
    /// A log with a date in its name.
    Daily(DailyName),
    /// What the next session should know.
    ActiveContext,
    /// Notes about a project.
    Project,
    /// Rules learned from mistakes.
    Gating,
    /// Any other Markdown.
    Other,
}

/// Returns what a regular file is, by its path in the workspace.
pub(super) fn place_of(path: &[u8]) -> PathRole {
    let Ok(path) = std::str::from_utf8(path) else {
        return if is_managed(path) { PathRole::Raw } else { PathRole::Artifact };
    };
    if let Some(place) = persona::place_of(path.as_bytes()) {
        return PathRole::Persona(place);
    }
    match path {
        "MEMORY.md" | "memory.md" => return PathRole::Memory(MemoryKind::Curated),
        FACTS => return PathRole::Facts,
        _ => {}
    }
    match path.strip_prefix("memory/") {
        Some(name) if is_markdown(name.as_bytes()) => PathRole::Memory(memory_kind(path, name)),
        _ if is_managed(path.as_bytes()) => PathRole::Raw,
        _ => PathRole::Artifact,
    }
}

/// Whether OpenClaw manages the file at a path: it travels under `raw/`.
pub(super) fn is_managed(path: &[u8]) -> bool {
    const FILES: &[&str] = &["USER.md", "MEMORY.md", "memory.md", "DREAMS.md", "dreams.md"];
    const FOLDERS: &[&str] = &[MEMORY, ".openclaw", "users", SIDECAR];
    let is_file = |name: &str| path == name.as_bytes();
    FILES.iter().copied().any(is_file)
        || Persona::ALL.iter().any(|value| is_file(value.file()))
        || FOLDERS.iter().copied().any(|folder| is_within(path, folder))
}

fn memory_kind(path: &str, name: &str) -> MemoryKind {
    match name {
        "active-context.md" => MemoryKind::ActiveContext,
        "gating-policies.md" => MemoryKind::Gating,
        _ if name.starts_with("project-") && !name.contains('/') => MemoryKind::Project,
        _ => date_in_name(path).map_or(MemoryKind::Other, MemoryKind::Daily),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kind(path: &str) -> Option<&'static str> {
        match place_of(path.as_bytes()) {
            PathRole::Memory(kind) => Some(match kind {
                MemoryKind::Curated => "curated",
                MemoryKind::Daily(_) => "daily",
                MemoryKind::ActiveContext => "active",
                MemoryKind::Project => "project",
                MemoryKind::Gating => "gating",
                MemoryKind::Other => "other",
            }),
            _ => None,
        }
    }

    #[test]
    fn memory_files_are_told_apart() {
        for (path, wanted) in [
            ("MEMORY.md", "curated"),
            ("memory.md", "curated"),
            ("memory/2026-01-15.md", "daily"),
            ("memory/2026-01-15-1430.md", "daily"),
            ("memory/2026-01-30-memory-system-research.md", "daily"),
            ("memory/topics/2025-11-03.md", "daily"),
            ("memory/2026-13-01.md", "other"),
            ("memory/only-blank.md", "other"),
            ("memory/active-context.md", "active"),
            ("memory/project-atlas.md", "project"),
            ("memory/gating-policies.md", "gating"),
            ("memory/README.MD", "other"),
            ("memory/.hidden-note.md", "other"),
        ] {
            assert_eq!(kind(path), Some(wanted), "{path}");
        }
        for path in ["notes/2026-01-15.md", "memory/.md", "MEMORY.MD", "memory/data.jsonl"] {
            assert_eq!(kind(path), None, "{path}");
        }
    }

    #[test]
    fn what_the_runtime_manages_is_raw_and_the_rest_an_artifact() {
        for (path, wanted) in [
            (&b"memory/diagram.png"[..], PathRole::Raw),
            (b"memory/caf\xe9.md", PathRole::Raw),
            (b".openclaw/workspace-state.json", PathRole::Raw),
            (b"DREAMS.md", PathRole::Raw),
            (b"users/lin/USER.md", PathRole::Persona(PersonaPlace::OtherUser("lin".to_owned()))),
            (b"skills/weather/SKILL.md", PathRole::Artifact),
            (b"memory-of-summer.png", PathRole::Artifact),
            (b"caf\xe9.md", PathRole::Artifact),
        ] {
            assert_eq!(place_of(path), wanted);
        }
    }
}
