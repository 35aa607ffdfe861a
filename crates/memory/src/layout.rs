//! How a runtime lays out what its agents remember in Markdown files.

/// What differs between the Markdown memories of two runtimes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MarkdownLayout {
    /// What a new curated file begins with.
    pub curated_head: &'static str,
    /// What the title of a new daily file has before the day.
    pub daily_title: &'static str,
    /// Whether an empty line separates entries.
    pub spaces_entries: bool,
    /// Whether an entry replaces older ones of its key even if a person wrote them.
    pub keys_replace: bool,
    /// Whether `tidy` archives old daily files by default.
    pub archives: bool,
    /// Whether a session reads what was going on in the last one from `memory/active-context.md`.
    pub active_context: bool,
}

impl MarkdownLayout {
    /// The layout of a folder of Markdown that belongs to no runtime.
    pub const PLAIN: Self = Self {
        curated_head: "# MEMORY.md\n\n",
        daily_title: "# ",
        spaces_entries: false,
        keys_replace: false,
        archives: false,
        active_context: true,
    };

    /// A layout that differs from [`PLAIN`](Self::PLAIN) in everything.
    #[cfg(test)]
    pub(crate) const OTHER: Self = Self {
        curated_head: "# Long-Term Memory\n\n",
        daily_title: "# Daily Log \u{2014} ",
        spaces_entries: true,
        keys_replace: true,
        archives: true,
        active_context: false,
    };
}
