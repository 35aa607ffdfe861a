//! Why an archive or a delta cannot be opened, read, written, compared or purged, in words.

use anemone::archive::OpenArchiveError;
use anemone::delta::{ApplyDeltasError, DeltaError};
use anemone::diff::DiffError;
use anemone::inspect::InspectError;
use anemone::purge::PurgeError;
use anemone::seal::SealError;
use anemone_format::{
    ApplyDeltaError, ApplyPurgeError, CompareError, ContainerError, OpenError, ParseIdError,
    PlanPurgeError, ReadEntryError, VaultError, WriteArchiveError, WriteDeltaError,
};
use anemone_runtimes::of_plain_folders;

use super::{Explain, UserError};

/// What shows the damage of an archive.
pub(super) const VALIDATE_HINT: &str = "`anemone validate` names everything that is wrong";

/// What to do with a file that could write to other places.
pub(super) const UNSAFE_HINT: &str = "do not unpack this file with another tool either";

const AGENT_HINT: &str = "`anemone inspect` shows whose archive a file is";

impl Explain for OpenError {
    fn explain(&self) -> UserError {
        match self {
            Self::Version { .. } | Self::Feature { .. } => {
                self.failure("unsupported_version").hint("a newer anemone reads this file")
            }
            Self::Kind { .. } => {
                self.failure("wrong_kind").hint("`anemone inspect` says what a file is")
            }
            Self::Container(error) if error.is_unsafe() => {
                self.failure("unsafe_archive").hint(UNSAFE_HINT)
            }
            Self::Container(ContainerError::NotZip) => {
                self.failure("not_an_archive").hint("give a file that `anemone export` wrote")
            }
            Self::SealBroken => self.failure("corrupt_archive").hint(
                "`anemone validate` names the entries that differ; if you edited the file \
                 yourself, `anemone import --accept-edited` takes it in",
            ),
            Self::Container(_) => self
                .failure("corrupt_archive")
                .hint("take another copy of the file, if there is one"),
            _ => self.failure("corrupt_archive").hint(VALIDATE_HINT),
        }
    }
}

failures! {
    ReadEntryError => "corrupt_archive", VALIDATE_HINT;
    WriteArchiveError => "write_failed";
    VaultError => "vault";
}

pass_on_all! {
    WriteDeltaError => "write_failed", [Compare, Read];
    ApplyPurgeError => "write_failed", [Read];
    InspectError => "corrupt_archive", [Open, Entry, Io];
    DiffError => "corrupt_archive", [Open, Compare];
    DeltaError => "write_failed", [Open, File, Compare, Write];
}

impl Explain for CompareError {
    fn explain(&self) -> UserError {
        match self {
            Self::DifferentAgents { .. } => self.conflict("different_agents").hint(AGENT_HINT),
            Self::TooManyFiles => UserError::failure("too_many_changes", self.to_string())
                .hint("export the agent as a whole instead of a delta"),
            Self::Read(error) => error.explain(),
            _ => self.failure("corrupt_archive").hint(VALIDATE_HINT),
        }
    }
}

impl Explain for ApplyDeltaError {
    fn explain(&self) -> UserError {
        match self {
            Self::WrongAgent { .. } => self.conflict("different_agents").hint(AGENT_HINT),
            error if error.is_conflict() => error
                .conflict("wrong_base")
                .hint("apply deltas in the order they were made, starting from their own base"),
            other => pass_on!(other, "wrong_result", [Read, Write]),
        }
    }
}

impl Explain for PlanPurgeError {
    fn explain(&self) -> UserError {
        match self {
            Self::Read(error) => error.explain(),
            Self::NotThere { .. } => self
                .failure("record_not_found")
                .hint("`anemone inspect FILE --records` lists the records with their ids"),
            _ => self.failure("file_not_found").hint(format!(
                "give the path as it is in the archive, such as raw/{}/memory/facts.db",
                of_plain_folders().name
            )),
        }
    }
}

impl Explain for ParseIdError {
    fn explain(&self) -> UserError {
        self.misuse("usage")
    }
}

impl Explain for OpenArchiveError {
    fn explain(&self) -> UserError {
        match self {
            Self::File(error) => error.explain(),
            Self::Open { path, source } => source.explain().about(path),
            Self::Invalid { edited: true, .. } => self.failure("invalid").hint(
                "`anemone validate` names every entry that differs; if you edited the file \
                 yourself, `anemone import --accept-edited` takes it in",
            ),
            Self::Invalid { .. } => self.failure("invalid").hint(VALIDATE_HINT),
            other => other.failure("corrupt_archive"),
        }
    }
}

impl Explain for ApplyDeltasError {
    fn explain(&self) -> UserError {
        match self {
            Self::Apply { path, source } => source.explain().about(path),
            other => pass_on!(other, "write_failed", [Open, File, Step]),
        }
    }
}

impl Explain for PurgeError {
    fn explain(&self) -> UserError {
        match self {
            Self::Obstacle { place, held_by, droppable, .. } => {
                self.failure("purge_obstacle").hint(match held_by {
                    Some(other) => format!("if that record is to go too, add --record {other}"),
                    None if *droppable => {
                        format!("if the whole file may go, add --drop-file {place}")
                    }
                    None => "change it in the agent and make a new archive".to_owned(),
                })
            }
            other => pass_on!(other, "purge_unproved", [Open, File, Plan, Apply, Result, Entry]),
        }
    }
}

impl Explain for SealError {
    fn explain(&self) -> UserError {
        match self {
            Self::AlreadySealed(_) => self.failure("already_sealed"),
            Self::NotSealed(_) => self.failure("not_sealed"),
            Self::TwoKeys => self.misuse("usage"),
            other => pass_on!(other, "io", [File, Keys, Open, Io]),
        }
    }
}
