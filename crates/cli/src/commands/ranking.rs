//! How hits are ranked: what `search` and `eval` take alike.

use std::path::Path;

use anemone::embedder::LargeJobs;
use anemone::search::Ranking;
use anemone_index::{RankingChoice, RankingTuning};
use anemone_messages::UserError;
use anemone_runtimes::ranking_profiles;
use clap::Args;
use clap::builder::TypedValueParser;

use crate::args::one_of;
use crate::output::Result;

/// Arguments that say how hits are ranked and cut.
#[derive(Args, Clone, Debug)]
pub(crate) struct RankingArgs {
    /// Show at most N characters of a hit: 20 to 20,000
    #[arg(long, value_name = "N", default_value_t = Ranking::USUAL_CHARS)]
    #[arg(value_parser = clap::value_parser!(u32).range(20..=20_000))]
    chars: u32,

    /// Reduce the score of a dated hit by its age: half of it is left after DAYS, a quarter after
    /// twice that. What is not dated, and MEMORY.md, does not age
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
    profile: RankingChoice,

    /// Show only hits with at least this score, from 0 to 1; 0 shows the nearest texts, however far
    /// they are. Without it, texts that have no word of the query must be about as near as answers
    /// are
    #[arg(long, value_name = "SCORE", value_parser = share)]
    min_score: Option<f64>,

    /// With --profile, the weight of vectors from 0 to 1, relative to --text-weight
    #[arg(long, value_name = "WEIGHT", value_parser = share)]
    vector_weight: Option<f64>,

    /// With --profile, the weight of words from 0 to 1, relative to --vector-weight
    #[arg(long, value_name = "WEIGHT", value_parser = share)]
    text_weight: Option<f64>,

    /// With --profile, how many candidates are compared for each hit: 1 to 20
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=20))]
    candidate_multiplier: Option<u32>,

    /// With --profile, the size of a chunk in tokens: 8 to 100,000
    #[arg(long, value_name = "TOKENS", value_parser = clap::value_parser!(u32).range(8..=100_000))]
    chunk_tokens: Option<u32>,

    /// With --profile, how many tokens of a chunk the next one repeats
    #[arg(long, value_name = "TOKENS", value_parser = clap::value_parser!(u32).range(0..=100_000))]
    chunk_overlap: Option<u32>,
}

impl RankingArgs {
    pub(crate) fn choice(&self) -> Ranking {
        Ranking {
            chars: self.chars,
            recency: self.recency,
            importance: self.importance,
            diversity: self.diversity,
            profile: self.profile,
            min_score: self.min_score,
            tuning: RankingTuning {
                vector_weight: self.vector_weight,
                text_weight: self.text_weight,
                candidate_multiplier: self.candidate_multiplier,
                chunk_tokens: self.chunk_tokens,
                chunk_overlap: self.chunk_overlap,
            },
        }
    }

    /// Refuses a source that was meant as the value of a flag: `--recency 30` for `--recency=30`.
    pub(crate) fn check_source(&self, source: Option<&Path>) -> Result<()> {
        let number = source.and_then(Path::to_str).filter(|text| text.parse::<f64>().is_ok());
        let flag = match (self.recency, self.diversity) {
            (Some(_), _) => "--recency",
            (None, Some(_)) => "--diversity",
            (None, None) => return Ok(()),
        };
        match number.filter(|text| !Path::new(text).exists()) {
            None => Ok(()),
            Some(number) => {
                let message = format!("there is nothing at {number}");
                Err(UserError::usage(message)
                    .hint(format!("if it belongs to the flag, write {flag}={number}")))
            }
        }
    }
}

/// Says whether much may be sent to a service, by `--yes`.
pub(crate) const fn large_jobs(yes: bool) -> LargeJobs {
    if yes { LargeJobs::Send } else { LargeJobs::Confirm }
}

/// Reads the name of a profile.
fn profiles() -> impl TypedValueParser<Value = RankingChoice> {
    let others = ranking_profiles().map(RankingChoice::Other);
    let all = std::iter::once(RankingChoice::Anemone).chain(others);
    one_of(all.map(|profile| (profile.name(), "", profile)))
}

fn half_life(text: &str) -> Result<f64, String> {
    let days = text.parse().ok().filter(|days: &f64| days.is_finite() && *days > 0.0);
    days.ok_or_else(|| "give a number of days, such as 30".to_owned())
}

fn share(text: &str) -> Result<f64, String> {
    let share = text.parse().ok().filter(|share| (0.0..=1.0).contains(share));
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
