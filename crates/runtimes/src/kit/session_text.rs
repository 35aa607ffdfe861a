//! The text of a conversation, in pieces of some kilobytes that are filled in order, so that a
//! continued conversation only changes its last piece.

use anemone_format::Moment;

/// A piece is full with this much text.
const PIECE_BYTES: usize = 8 << 10;

/// The text of a record that is being filled.
#[derive(Default)]
pub(crate) struct SessionText {
    pub(crate) content: String,
    pub(crate) first_at: Option<Moment>,
    pub(crate) last_at: Option<Moment>,
}

impl SessionText {
    /// Returns whether the text is for the next piece.
    pub(crate) fn is_full_for(&self, text: &str) -> bool {
        !self.content.is_empty() && self.content.len() + text.len() + 2 > PIECE_BYTES
    }

    pub(crate) fn add(&mut self, text: &str, at: Option<Moment>) {
        if !self.content.is_empty() {
            self.content.push_str("\n\n");
        }
        self.content.push_str(text);
        if self.first_at.is_none() {
            self.first_at.clone_from(&at);
        }
        if at.is_some() {
            self.last_at = at;
        }
    }

    /// Takes the text, unless it is empty.
    pub(crate) fn take(&mut self) -> Option<Self> {
        (!self.content.is_empty()).then(|| std::mem::take(self))
    }
}
