//! The kinds of sessions, and what each may see.

use anemone_format::word_enum;

/// What the owner's next session must know: short, and overwritten often.
pub const WORKING_FILE: &str = "memory/active-context.md";

word_enum! {
    /// The kind of a session, which decides what the session may see.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum SessionKind {
        /// The owner's own conversation with the agent.
        Main = "main",
        /// The owner's first conversation with the agent, in which it learns who it is.
        First = "first",
        /// A run in which the agent looks for something to do by itself.
        Heartbeat = "heartbeat",
        /// The run when the gateway of the agent starts.
        Boot = "boot",
        /// A group or a channel, where others listen.
        Group = "group",
        /// An agent that was started for a task.
        Subagent = "subagent",
        /// A job that runs by the clock.
        Cron = "cron",
        /// A run that a webhook or a mail started.
        Webhook = "webhook",
    }
}

impl SessionKind {
    /// Reads the kind from the key of a session, such as `agent:main:telegram:group:42`. A key of one
    /// word is that of the owner's own, and so is that of a direct conversation. Others may listen in
    /// any other channel, known or not.
    #[must_use]
    pub fn of_key(key: &str) -> Self {
        let key = key.to_lowercase();
        // The name of an agent may be any of the words below.
        let key = match key.strip_prefix("agent:") {
            Some(rest) => rest.split_once(':').map_or("", |(_, rest)| rest),
            None => key.as_str(),
        };
        let has = |word: &str| key.split(':').any(|part| part == word);
        // Older versions name groups of WhatsApp and of Discord like this.
        let is_shared = |part: &str| {
            matches!(part, "group" | "channel")
                || part.ends_with("@g.us")
                || part.starts_with("guild-")
                || part.starts_with("channel-")
        };
        if has("subagent") {
            Self::Subagent
        } else if has("cron") {
            Self::Cron
        } else if key.starts_with("hook:") {
            Self::Webhook
        } else if has("heartbeat") {
            Self::Heartbeat
        } else if key.split(':').any(is_shared) {
            Self::Group
        } else if !key.contains(':') || has("direct") || has("dm") || key.starts_with("main:") {
            Self::Main
        } else {
            Self::Group
        }
    }

    /// Returns the folders that are searched for such a session; an empty list means everywhere.
    #[must_use]
    pub fn folders(self) -> Vec<String> {
        match self {
            Self::Group => vec!["memory".to_owned()],
            _ => Vec::new(),
        }
    }

    /// Says whether only the owner and the agent take part, so that private files may be shown.
    #[must_use]
    pub const fn is_private(self) -> bool {
        matches!(self, Self::Main | Self::First | Self::Heartbeat | Self::Boot)
    }

    /// Says whether a session of this kind may see recalled memories at all.
    #[must_use]
    pub const fn may_recall(self) -> bool {
        !matches!(self, Self::Subagent | Self::Cron | Self::Webhook)
    }

    /// Says whether a person takes part in sessions of this kind. Only from these is anything saved
    /// without being asked: the others have no memory of their own, and repeat what a program says.
    #[must_use]
    pub const fn is_conversation(self) -> bool {
        matches!(self, Self::Main | Self::First | Self::Group)
    }

    /// Says whether a session of this kind may see memories recalled from a file.
    #[must_use]
    pub fn may_see(self, path: &str) -> bool {
        match self {
            Self::Main | Self::First | Self::Heartbeat | Self::Boot => true,
            // What the owner's own session was about is not for a group.
            Self::Group => path.starts_with("memory/") && path != WORKING_FILE,
            // What a webhook delivers was written by strangers.
            Self::Subagent | Self::Cron | Self::Webhook => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_kind_of_a_session_is_read_from_keys_of_every_form() {
        for (key, kind) in [
            ("agent:main:main", SessionKind::Main),
            ("agent:main:telegram:direct:42", SessionKind::Main),
            ("agent:main:telegram:group:42", SessionKind::Group),
            ("group:abc", SessionKind::Group),
            ("agent:main:12345@g.us", SessionKind::Group),
            ("WhatsApp:12345@G.US", SessionKind::Group),
            ("agent:main:discord:guild-1:channel-2", SessionKind::Group),
            ("agent:main:subagent:1", SessionKind::Subagent),
            ("cron:nightly", SessionKind::Cron),
            ("hook:gmail:18c", SessionKind::Webhook),
            ("agent:main:hook:ingress", SessionKind::Webhook),
            ("agent:hook:main", SessionKind::Main),
            ("agent:main:main:heartbeat", SessionKind::Heartbeat),
            // An agent may be called like a kind of session.
            ("agent:cron:main", SessionKind::Main),
            ("agent:subagent:telegram:group:1", SessionKind::Group),
            ("agent:main", SessionKind::Main),
            ("agent:main:telegram:dm:42", SessionKind::Main),
            ("agent:main:main:thread:7", SessionKind::Main),
            ("0190a5b2-7c11-7d3e-9f00-1c2d3e4f5a6b", SessionKind::Main),
            // Words that are not known may be channels with others in them.
            ("agent:main:telegram:supergroup:-5", SessionKind::Group),
            ("agent:main:matrix:room:1", SessionKind::Group),
            ("agent:main:acp:x", SessionKind::Group),
            ("agent:main:telegram:group:direct", SessionKind::Group),
        ] {
            assert_eq!(SessionKind::of_key(key), kind, "{key}");
        }
    }
}
