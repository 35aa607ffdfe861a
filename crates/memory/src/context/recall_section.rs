//! The section of a system prompt that tells an agent to search its memory, in OpenClaw's words.

use anemone_format::word_enum;

use super::SessionKind;

word_enum! {
    /// A tool with which an agent looks into its memory.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum MemoryTool {
        /// Finds memories.
        Search = "memory_search",
        /// Reads lines of a file.
        Get = "memory_get",
    }
}

word_enum! {
    /// Whether hits are cited by path and lines, so that an agent names its sources.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub enum Citations {
        /// In the owner's own conversations, and not where others listen.
        #[default]
        Auto = "auto",
        /// Always.
        On = "on",
        /// Only if the user asks.
        Off = "off",
    }
}

impl Citations {
    /// Returns the mode of a request, or that of the settings where the request leaves it open.
    #[must_use]
    pub fn or(self, settings: Self) -> Self {
        if self == Self::Auto { settings } else { self }
    }

    /// Whether sources are named in a session: others in a group need not know the owner's files.
    #[must_use]
    pub fn are_shown(self, session: Option<SessionKind>) -> bool {
        match self {
            Self::Auto => session != Some(SessionKind::Group),
            Self::On => true,
            Self::Off => false,
        }
    }
}

/// Which memory tools a session has, and how it is to cite.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RecallSection {
    /// The tools; without any of them there is no section.
    pub tools: Vec<MemoryTool>,
    /// Whether the agent names its sources.
    pub citations: Citations,
}

impl RecallSection {
    /// Writes the section; empty without a tool, and for sessions that have no memory.
    #[must_use]
    pub fn text(&self, session: SessionKind) -> String {
        const OCCASION: &str = "Before answering anything about prior work, decisions, dates, \
            people, preferences, or todos";
        let has = |tool| self.tools.contains(&tool);
        let order = match (has(MemoryTool::Search), has(MemoryTool::Get)) {
            _ if !session.may_recall() => return String::new(),
            (false, false) => return String::new(),
            (true, true) => {
                "run memory_search on MEMORY.md + memory/*.md; then use memory_get to pull only \
                 the needed lines"
            }
            (true, false) => {
                "run memory_search on MEMORY.md + memory/*.md and answer from the matching results"
            }
            (false, true) => {
                "that already point to a specific memory file or note, run memory_get to pull \
                 only the needed lines"
            }
        };
        let colon = if has(MemoryTool::Search) { ":" } else { "" };
        let low = if has(MemoryTool::Search) { "after search" } else { "after reading them" };
        let sources = if self.citations.are_shown(Some(session)) {
            "Citations: include Source: <path#line> when it helps the user verify memory snippets."
        } else {
            "Citations are disabled: do not mention file paths or line numbers in replies unless \
             the user explicitly asks."
        };
        format!(
            "## Memory Recall\n{OCCASION}{colon} {order}. If low confidence {low}, say you \
             checked.\n{sources}\n\n"
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_section_names_the_tools_that_are_there_and_how_to_cite() {
        let section =
            |tools: &[MemoryTool], citations| RecallSection { tools: tools.to_vec(), citations };
        let both = [MemoryTool::Search, MemoryTool::Get];
        assert_eq!(
            section(&both, Citations::Auto).text(SessionKind::Main),
            "## Memory Recall\nBefore answering anything about prior work, decisions, dates, \
             people, preferences, or todos: run memory_search on MEMORY.md + memory/*.md; then use \
             memory_get to pull only the needed lines. If low confidence after search, say you \
             checked.\nCitations: include Source: <path#line> when it helps the user verify memory \
             snippets.\n\n"
        );
        for (citations, session, named) in [
            (Citations::Auto, SessionKind::Group, false),
            (Citations::On, SessionKind::Group, true),
            (Citations::Off, SessionKind::Main, false),
        ] {
            let text = section(&both, citations).text(session);
            assert_eq!(text.contains("Source: <path#line>"), named, "{citations:?} {session:?}");
        }
        let search = section(&both[..1], Citations::On).text(SessionKind::Main);
        assert!(search.contains("memory_search") && !search.contains("memory_get"), "{search}");
        let get = section(&both[1..], Citations::On).text(SessionKind::Main);
        assert!(get.contains("memory_get") && !get.contains("memory_search"), "{get}");
        assert_eq!(section(&[], Citations::On).text(SessionKind::Main), "");
        for session in [SessionKind::Subagent, SessionKind::Cron] {
            assert_eq!(section(&both, Citations::On).text(session), "");
        }
    }
}
