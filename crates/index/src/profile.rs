//! The ranking that a search uses.
//!
//! Other programs rank in their own way. A [`RankingProfile`] rebuilds the tables of such a program
//! in memory, and returns the same hits in the same order with the same scores. Profiles exist for
//! comparison, so they do not improve anything.

mod vectors;

use std::fmt;

use anemone_embed::Embedder;

use crate::document::Document;
use crate::request::{Answer, RankingSetting, RankingTuning, Request};
pub use vectors::{TextVectors, embed_texts};

/// The ranking of another program.
pub trait RankingProfile: Sync {
    /// Returns the name by which a user chooses it.
    fn name(&self) -> &'static str;

    /// Returns the score below which the program shows nothing at all.
    fn minimum_score(&self) -> Option<f64> {
        None
    }

    /// Returns the settings that the program has as well; the others change nothing.
    fn settings(&self) -> &'static [RankingSetting] {
        &[]
    }

    /// Calls `take` with each text of a document that the program compares by its vector.
    fn each_text(&self, document: &Document, tuning: &RankingTuning, take: &mut dyn FnMut(&str));

    /// Answers a question as the program would, from these documents alone, which already passed
    /// the filters.
    fn answer(
        &self,
        documents: &[Document],
        request: &Request,
        embedder: Option<&dyn Embedder>,
    ) -> Result<Answer, ProfileError>;
}

/// The ranking that a search uses.
#[derive(Clone, Copy, Default)]
pub enum RankingChoice {
    /// Our own ranking.
    #[default]
    Anemone,
    /// The ranking of another program.
    Other(&'static dyn RankingProfile),
}

impl RankingChoice {
    /// Returns the name by which a user chooses it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Anemone => "anemone",
            Self::Other(profile) => profile.name(),
        }
    }

    /// Returns those of some settings that the ranking does not take.
    pub(crate) fn unused(self, given: Vec<RankingSetting>) -> Vec<RankingSetting> {
        let taken = match self {
            Self::Anemone => &RankingSetting::OURS,
            Self::Other(profile) => profile.settings(),
        };
        given.into_iter().filter(|setting| !taken.contains(setting)).collect()
    }

    /// Whether it is our own.
    #[must_use]
    pub const fn is_ours(self) -> bool {
        matches!(self, Self::Anemone)
    }
}

impl fmt::Debug for RankingChoice {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_tuple("RankingChoice").field(&self.name()).finish()
    }
}

impl PartialEq for RankingChoice {
    fn eq(&self, other: &Self) -> bool {
        self.name() == other.name()
    }
}

impl Eq for RankingChoice {}

/// Why another program's ranking could not be computed.
#[derive(Debug, thiserror::Error)]
pub enum ProfileError {
    /// The in-memory tables failed.
    #[error("cannot rank as {profile} does")]
    Tables {
        /// The profile's name.
        profile: &'static str,
        /// Why.
        source: rusqlite::Error,
    },
}
