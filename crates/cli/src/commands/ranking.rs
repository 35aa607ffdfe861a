//! How hits are ranked: what `search` and `eval` take alike.

use std::path::Path;

use anemone_index::{Profile, Request};
use clap::Args;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use serde::Serialize;

use crate::embedder::Choice;
use crate::error::{CliError, Kind};
use crate::search_index::Warning;

/// So many characters has a hit when nobody says how many.
const USUAL_CHARS: u32 = 700;

/// Arguments that say how hits are ranked and cut.
#[derive(Args, Clone, Debug)]
pub(crate) struct RankingArgs {
    /// Show at most N characters of a hit: 20 to 20,000
    #[arg(long, value_name = "N", default_value_t = USUAL_CHARS)]
    #[arg(value_parser = clap::value_parser!(u32).range(20..=20_000))]
    chars: u32,

    /// Prefer newer hits among equals; age counts half after DAYS
    #[arg(long, value_name = "DAYS", num_args = 0..=1, require_equals = true)]
    #[arg(default_missing_value = "30", value_parser = half_life)]
    recency: Option<f64>,

    /// Prefer more important hits among equals
    #[arg(long)]
    importance: bool,

    /// Spread hits that say the same: 1 looks at relevance only, 0 at difference only
    #[arg(long, value_name = "SHARE", num_args = 0..=1, require_equals = true)]
    #[arg(default_missing_value = "0.7", value_parser = share)]
    diversity: Option<f64>,

    /// Rank as another program does
    #[arg(long, value_name = "NAME", default_value = "anemone", value_parser = profiles())]
    profile: Profile,

    /// Show only hits with at least this score, from 0 to 1; 0 shows the nearest texts, however far
    /// they are. Without it, texts that have no word of the query must be about as near as answers
    /// are
    #[arg(long, value_name = "SCORE", value_parser = share)]
    pub(crate) min_score: Option<f64>,
}

impl Default for RankingArgs {
    fn default() -> Self {
        Self {
            chars: USUAL_CHARS,
            recency: None,
            importance: false,
            diversity: None,
            profile: Profile::Anemone,
            min_score: None,
        }
    }
}

/// The same, as programs are told.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Settings {
    pub(crate) profile: &'static str,
    /// As it was asked for.
    pub(crate) embedder: Choice,
    pub(crate) limit: u32,
    pub(crate) chars: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) recency: Option<f64>,
    pub(crate) importance: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) diversity: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) min_score: Option<f64>,
}

impl RankingArgs {
    /// Sets what a request says about ranking.
    pub(crate) fn apply(&self, request: &mut Request) {
        request.snippet_chars = self.chars as usize;
        request.recency_half_life = self.recency;
        request.importance = self.importance;
        request.diversity = self.diversity;
        request.profile = self.profile;
        request.min_score = self.min_score;
    }

    /// Refuses a source that was meant as the value of a flag: `--recency 30` for `--recency=30`.
    pub(crate) fn check_source(&self, source: Option<&Path>) -> Result<(), CliError> {
        let number = source.and_then(Path::to_str).filter(|it| it.parse::<f64>().is_ok());
        let flag = match (self.recency, self.diversity) {
            (Some(_), _) => "--recency",
            (None, Some(_)) => "--diversity",
            (None, None) => return Ok(()),
        };
        match number.filter(|it| !Path::new(it).exists()) {
            None => Ok(()),
            Some(number) => {
                let message = format!("there is nothing at {number}");
                Err(CliError::new(Kind::Usage, "usage", message)
                    .hint(format!("if it belongs to the flag, write {flag}={number}")))
            }
        }
    }

    /// Says that a profile leaves out what scores low, if it does; for when nothing was found.
    pub(crate) fn minimum(&self) -> Option<Warning> {
        (self.profile == Profile::OpenClaw2026_3).then(|| Warning {
            code: "minimum_score",
            message: format!(
                "{} leaves out what it scores below 0.35, which in a few files can be everything",
                self.profile.name()
            ),
        })
    }

    /// Whether hits are ranked as we do.
    pub(crate) fn is_ours(&self) -> bool {
        self.profile == Profile::Anemone
    }

    pub(crate) fn settings(&self, limit: u32, embedder: Choice) -> Settings {
        Settings {
            profile: self.profile.name(),
            embedder,
            limit,
            chars: self.chars,
            recency: self.recency,
            importance: self.importance,
            diversity: self.diversity,
            min_score: self.min_score,
        }
    }
}

/// Reads the name of a profile.
fn profiles() -> impl TypedValueParser<Value = Profile> {
    PossibleValuesParser::new(Profile::ALL.map(Profile::name))
        .map(|name| Profile::of_name(&name).unwrap_or_default())
}

fn half_life(text: &str) -> Result<f64, String> {
    let days = text.parse().ok().filter(|it: &f64| it.is_finite() && *it > 0.0);
    days.ok_or_else(|| "give a number of days, such as 30".to_owned())
}

fn share(text: &str) -> Result<f64, String> {
    let share = text.parse().ok().filter(|it| (0.0..=1.0).contains(it));
    share.ok_or_else(|| "give a number from 0 to 1, such as 0.7".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_that_make_no_sense_are_refused() {
        for text in ["", "0", "-1", "NaN", "inf", "soon"] {
            assert!(half_life(text).is_err(), "{text}");
        }
        for text in ["", "-0.1", "1.1", "NaN", "much"] {
            assert!(share(text).is_err(), "{text}");
        }
        assert_eq!((half_life("0.5"), share("0"), share("1")), (Ok(0.5), Ok(0.0), Ok(1.0)));
    }
}
