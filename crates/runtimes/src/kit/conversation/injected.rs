//! What programs put into messages, or send in the place of a user.

use crate::RUNTIMES;

/// The texts that tell a runtime's own words from the conversation.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct InjectedText {
    /// Blocks between lines, from the first to the second.
    pub(crate) blocks: &'static [(&'static str, &'static str)],
    /// The beginning of metadata that precedes a fence of JSON.
    pub(crate) metadata: &'static [&'static str],
    /// How memories begin that precede a message, up to an empty line.
    pub(crate) memories: &'static [&'static str],
    /// How messages begin that the program sends.
    pub(crate) messages: &'static [&'static str],
    /// Whole answers without content.
    pub(crate) nothings: &'static [&'static str],
    /// How messages begin that are commands.
    pub(crate) commands: &'static [&'static str],
}

impl InjectedText {
    /// A runtime that puts nothing of its own into messages.
    pub(crate) const NONE: Self = Self {
        blocks: &[],
        metadata: &[],
        memories: &[],
        messages: &[],
        nothings: &[],
        commands: &[],
    };
}

/// Returns one of the lists for all runtimes: a conversation may have passed through several.
pub(super) fn all<T: Copy + 'static>(
    list: impl Fn(&InjectedText) -> &'static [T],
) -> impl Iterator<Item = T> {
    RUNTIMES.iter().flat_map(move |runtime| list(&runtime.injected).iter().copied())
}
