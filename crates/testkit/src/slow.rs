//! Groups of tests that take long at full size. The default suite tries a sample of each.

/// The variable that names, separated by spaces, the groups to run at full size; `all` is every
/// one.
const SLOW: &str = "ANEMONE_SLOW";

/// A group of tests that repeat themselves with other numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SlowGroup {
    /// A process is killed or interrupted at some moment.
    Kills,
    /// Several processes write at once.
    Races,
    /// Bytes of a file are changed, cut off or moved.
    Damage,
    /// A system call fails, or the process ends there.
    Faults,
    /// Something holds for all of a long list of inputs.
    Laws,
}

impl SlowGroup {
    const ALL: [Self; 5] = [Self::Kills, Self::Races, Self::Damage, Self::Faults, Self::Laws];

    fn name(self) -> &'static str {
        match self {
            Self::Kills => "kills",
            Self::Races => "races",
            Self::Damage => "damage",
            Self::Faults => "faults",
            Self::Laws => "laws",
        }
    }

    /// Returns the full size where `ANEMONE_SLOW` asks for this group, and else the sample.
    #[must_use]
    #[expect(clippy::disallowed_methods, reason = "tests ask their own environment")]
    pub fn pick<T>(self, sample: T, full: T) -> T {
        let asked = std::env::var(SLOW).unwrap_or_default();
        if self.is_asked_for(&asked) { full } else { sample }
    }

    fn is_asked_for(self, asked: &str) -> bool {
        let mut asked_for = false;
        for word in asked.split_whitespace() {
            let known = word == "all" || Self::ALL.iter().any(|group| group.name() == word);
            assert!(known, "{SLOW} names {word:?}, which is no group of tests");
            asked_for |= word == "all" || word == self.name();
        }
        asked_for
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_group_is_asked_for_by_its_name_or_with_all_others() {
        for group in SlowGroup::ALL {
            assert!(group.is_asked_for("all") && group.is_asked_for(group.name()));
            assert!(!group.is_asked_for(""));
        }
        assert!(SlowGroup::Races.is_asked_for("kills races"));
        assert!(!SlowGroup::Damage.is_asked_for("kills races"));
    }

    #[test]
    #[should_panic = "no group of tests"]
    fn an_unknown_group_is_an_error() {
        SlowGroup::Kills.is_asked_for("kils");
    }
}
