//! Which files each generation puts before a session of each kind, and how much of them.

use jiff::civil::Date;

use super::cut::Cutting;
use super::{Fate, Place};
use crate::store::MarkdownStore;

/// What a session is, which decides what it may see.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SessionKind {
    /// The owner's own conversation with the agent.
    Main,
    /// A group or a channel, where others listen.
    Group,
    /// An agent that was started for a task.
    Subagent,
    /// A job that runs by the clock.
    Cron,
}

impl SessionKind {
    /// Reads the kind from the key of a session, such as `agent:main:telegram:group:42`; a key
    /// without such a word is that of the owner's own.
    #[must_use]
    pub fn of_key(key: &str) -> Self {
        let key = key.to_lowercase();
        let has = |word: &str| key.split(':').any(|it| it == word);
        // Older versions name groups of WhatsApp and of Discord like this.
        let is_shared = |it: &str| {
            it.ends_with("@g.us") || it.starts_with("guild-") || it.starts_with("channel-")
        };
        if has("subagent") {
            Self::Subagent
        } else if has("cron") {
            Self::Cron
        } else if has("group") || has("channel") || key.split(':').any(is_shared) {
            Self::Group
        } else {
            Self::Main
        }
    }

    /// Returns the word for it.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Main => "main",
            Self::Group => "group",
            Self::Subagent => "subagent",
            Self::Cron => "cron",
        }
    }

    /// Returns the folders in which is looked for what such a session may see; none named is
    /// everywhere.
    #[must_use]
    pub fn folders(self) -> Vec<String> {
        match self {
            Self::Group => vec!["memory".to_owned()],
            Self::Main | Self::Subagent | Self::Cron => Vec::new(),
        }
    }

    /// Says whether a session of this kind may see what was recalled at all.
    #[must_use]
    pub const fn may_recall(self) -> bool {
        matches!(self, Self::Main | Self::Group)
    }

    /// Says whether a session of this kind may see what was recalled from a file.
    #[must_use]
    pub fn may_see(self, path: &str) -> bool {
        match self {
            Self::Main => true,
            Self::Group => path.starts_with("memory/"),
            Self::Subagent | Self::Cron => false,
        }
    }
}

/// Whose rules are followed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Generation {
    /// OpenClaw as it was first described: logs are files like others, 24,000 characters in all.
    Seed,
    /// OpenClaw 2026.3.
    OpenClaw3,
    /// OpenClaw 2026.9.
    OpenClaw9,
    /// ZeroClaw, as it composes for its channels.
    ZeroClaw,
}

/// A file that a session is to see, or why it is not.
pub(super) struct Row {
    pub(super) path: String,
    /// Whether nothing is said when it is not there.
    pub(super) is_optional: bool,
    pub(super) place: Place,
    pub(super) kept_out: Option<Fate>,
}

impl Generation {
    /// Every generation.
    pub const ALL: [Self; 4] = [Self::Seed, Self::OpenClaw3, Self::OpenClaw9, Self::ZeroClaw];

    /// Returns the word for it.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Seed => "seed",
            Self::OpenClaw3 => "2026.3",
            Self::OpenClaw9 => "2026.9",
            Self::ZeroClaw => "zeroclaw",
        }
    }

    /// Returns how many characters of a file it takes.
    #[must_use]
    pub fn limit(self, name: &str) -> usize {
        match self {
            Self::OpenClaw9 if name.eq_ignore_ascii_case("USER.md") => 4_000,
            _ => 20_000,
        }
    }

    /// Returns how many characters of all files it takes.
    #[must_use]
    pub const fn total(self) -> usize {
        match self {
            Self::Seed => 24_000,
            Self::OpenClaw3 => 150_000,
            Self::OpenClaw9 => 60_000,
            Self::ZeroClaw => usize::MAX,
        }
    }

    /// Returns the files that it puts before a session of the owner, in order, the curated one
    /// without its case.
    #[must_use]
    pub const fn files(self) -> &'static [&'static str] {
        match self {
            Self::Seed => {
                &["AGENTS.md", "SOUL.md", "USER.md", "TOOLS.md", "IDENTITY.md", "MEMORY.md"]
            }
            Self::OpenClaw3 => &[
                "AGENTS.md",
                "SOUL.md",
                "TOOLS.md",
                "IDENTITY.md",
                "USER.md",
                "HEARTBEAT.md",
                "BOOTSTRAP.md",
                "MEMORY.md",
            ],
            Self::OpenClaw9 => {
                &["AGENTS.md", "SOUL.md", "IDENTITY.md", "USER.md", "BOOTSTRAP.md", "MEMORY.md"]
            }
            Self::ZeroClaw => &[
                "AGENTS.md",
                "SOUL.md",
                "TOOLS.md",
                "IDENTITY.md",
                "USER.md",
                "BOOTSTRAP.md",
                "MEMORY.md",
            ],
        }
    }

    /// Returns what agents and jobs that have no person before them get of these; `None`: all but
    /// what is private.
    const fn allowed(self, session: SessionKind) -> Option<&'static [&'static str]> {
        const MARCH: &[&str] = &["AGENTS.md", "TOOLS.md", "SOUL.md", "IDENTITY.md", "USER.md"];
        const NINE: &[&str] = &["AGENTS.md", "SOUL.md", "IDENTITY.md", "USER.md"];
        match (self, session) {
            (Self::Seed, SessionKind::Subagent) => Some(&["AGENTS.md", "TOOLS.md"]),
            (Self::Seed, SessionKind::Cron) | (Self::OpenClaw9, SessionKind::Subagent) => {
                Some(&["AGENTS.md"])
            }
            (Self::OpenClaw3, SessionKind::Subagent | SessionKind::Cron) => Some(MARCH),
            (Self::OpenClaw9, SessionKind::Cron) => Some(NINE),
            _ => None,
        }
    }

    /// Returns the table of a session, with what is kept out of it.
    pub(super) fn rows(self, site: &MarkdownStore, session: SessionKind, today: Date) -> Vec<Row> {
        let mut rows = Vec::new();
        let allowed = self.allowed(session);
        for name in self.files() {
            let is_curated = *name == "MEMORY.md";
            // Since 2026.9 only the name in capitals counts.
            let path = match is_curated && self != Self::OpenClaw9 {
                true => site.curated(),
                false => name,
            };
            let is_private = is_curated && session != SessionKind::Main;
            let is_kept_out = is_private || allowed.is_some_and(|it| !it.contains(name));
            let kept_out = is_kept_out.then_some(Fate::Private);
            let is_optional = is_curated
                || match self {
                    Self::OpenClaw9 => *name == "USER.md",
                    Self::ZeroClaw => *name == "BOOTSTRAP.md",
                    Self::Seed | Self::OpenClaw3 => false,
                };
            let place = if is_curated { Place::Memory } else { Place::File };
            rows.push(Row { path: path.to_owned(), is_optional, place, kept_out });
        }
        if self != Self::OpenClaw9 {
            rows.extend(self.log_rows(site, session, today));
        }
        rows
    }

    fn log_rows(self, site: &MarkdownStore, session: SessionKind, today: Date) -> Vec<Row> {
        let kept_out = match (self, session.may_recall()) {
            (_, false) => Some(Fate::Private),
            (Self::Seed, true) => None,
            (_, true) => Some(Fate::NotInjected),
        };
        let days = [Some(today), today.yesterday().ok()];
        let row = |day: Date| Row {
            path: site.daily(day),
            is_optional: true,
            place: Place::Notes,
            kept_out: kept_out.clone(),
        };
        days.into_iter().flatten().map(row).collect()
    }

    pub(super) const fn cutting(self) -> Cutting {
        match self {
            Self::Seed | Self::OpenClaw3 => Cutting::Shares,
            Self::OpenClaw9 => Cutting::Fitted,
            Self::ZeroClaw => Cutting::Beginning,
        }
    }

    /// Says whether a file that cannot be read is told from one that is not there.
    pub(super) const fn tells_unreadable(self) -> bool {
        matches!(self, Self::Seed | Self::OpenClaw9)
    }

    /// Returns what stands in the place of a file that is not there.
    pub(super) fn missing(self, site: &MarkdownStore, path: &str) -> String {
        match self {
            Self::ZeroClaw => format!("[File not found: {path}]"),
            _ => format!("[MISSING] Expected at: {}", site.root().join(path).display()),
        }
    }

    /// Returns what stands above the files.
    pub(super) const fn opening(self) -> &'static str {
        match self {
            Self::Seed | Self::OpenClaw9 => "# Project Context\n\n",
            // It leaves out every empty line of its own.
            Self::OpenClaw3 => "# Project Context\n",
            Self::ZeroClaw => "",
        }
    }

    /// Writes a file with its heading.
    pub(super) fn section(self, site: &MarkdownStore, path: &str, content: &str) -> String {
        let place = site.root().join(path);
        let place = place.display();
        match self {
            Self::Seed => format!("## {place}\n\n{content}\n\n"),
            Self::OpenClaw3 => format!("## {place}\n{content}\n"),
            Self::OpenClaw9 => format!("## {place}\n\n{}\n\n", without_gaps(content)),
            Self::ZeroClaw => format!("### {path}\n\n{content}\n\n"),
        }
    }
}

/// Returns a text with at most one empty line in a row.
fn without_gaps(text: &str) -> String {
    let mut kept = String::with_capacity(text.len());
    let mut breaks = 0;
    for c in text.chars() {
        breaks = if c == '\n' { breaks + 1 } else { 0 };
        if breaks <= 2 {
            kept.push(c);
        }
    }
    kept
}
