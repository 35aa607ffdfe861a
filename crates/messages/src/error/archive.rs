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

use super::{Kind, UserError};

impl From<OpenError> for UserError {
    fn from(error: OpenError) -> Self {
        let (code, hint) = match &error {
            OpenError::Version(_) | OpenError::Feature(_) => {
                ("unsupported_version", Some("a newer anemone reads this file"))
            }
            OpenError::Kind { .. } => ("wrong_kind", Some("`anemone inspect` says what a file is")),
            OpenError::Container(error) if error.is_unsafe() => {
                ("unsafe_archive", Some("do not unpack this file with another tool either"))
            }
            OpenError::Container(ContainerError::NotZip) => {
                ("not_an_archive", Some("give a file that `anemone export` wrote"))
            }
            OpenError::SealBroken => (
                "corrupt_archive",
                Some(
                    "`anemone validate` names the entries that differ; if you edited the file \
                     yourself, `anemone import --accept-edited` takes it in",
                ),
            ),
            OpenError::Container(_) => {
                ("corrupt_archive", Some("take another copy of the file, if there is one"))
            }
            _ => ("corrupt_archive", Some("`anemone validate` names everything that is wrong")),
        };
        let mut error = Self::failure_from(code, &error);
        error.hint = hint.map(str::to_owned);
        error
    }
}

impl From<ReadEntryError> for UserError {
    fn from(error: ReadEntryError) -> Self {
        Self::failure_from("corrupt_archive", &error)
            .hint("`anemone validate` names everything that is wrong")
    }
}

impl From<WriteArchiveError> for UserError {
    fn from(error: WriteArchiveError) -> Self {
        Self::failure_from("write_failed", &error)
    }
}

impl From<CompareError> for UserError {
    fn from(error: CompareError) -> Self {
        match error {
            CompareError::DifferentAgents { .. } => {
                Self::from_error(Kind::Conflict, "different_agents", &error)
                    .hint("`anemone inspect` shows whose archive a file is")
            }
            CompareError::TooManyFiles => Self::failure("too_many_changes", error.to_string())
                .hint("export the agent as a whole instead of a delta"),
            CompareError::Read(error) => error.into(),
            _ => Self::failure_from("corrupt_archive", &error)
                .hint("`anemone validate` names everything that is wrong"),
        }
    }
}

impl From<WriteDeltaError> for UserError {
    fn from(error: WriteDeltaError) -> Self {
        match error {
            WriteDeltaError::Compare(error) => error.into(),
            WriteDeltaError::Read(error) => error.into(),
            _ => Self::failure_from("write_failed", &error),
        }
    }
}

impl From<ApplyDeltaError> for UserError {
    fn from(error: ApplyDeltaError) -> Self {
        match error {
            ApplyDeltaError::WrongAgent { .. } => {
                Self::from_error(Kind::Conflict, "different_agents", &error)
                    .hint("`anemone inspect` shows whose archive a file is")
            }
            error if error.is_conflict() => Self::from_error(Kind::Conflict, "wrong_base", &error)
                .hint("apply deltas in the order they were made, starting from their own base"),
            other => pass_on!(other, "wrong_result", ApplyDeltaError, [Read, Write]),
        }
    }
}

impl From<PlanPurgeError> for UserError {
    fn from(error: PlanPurgeError) -> Self {
        match error {
            PlanPurgeError::Read(error) => error.into(),
            PlanPurgeError::NotThere(_) => Self::failure_from("record_not_found", &error)
                .hint("`anemone inspect FILE --records` lists the records with their ids"),
            _ => Self::failure_from("file_not_found", &error).hint(format!(
                "give the path as it is in the archive, such as raw/{}/memory/facts.db",
                of_plain_folders().name
            )),
        }
    }
}

impl From<ApplyPurgeError> for UserError {
    fn from(error: ApplyPurgeError) -> Self {
        match error {
            ApplyPurgeError::Read(error) => error.into(),
            error => Self::failure_from("write_failed", &error),
        }
    }
}

impl From<ParseIdError> for UserError {
    fn from(error: ParseIdError) -> Self {
        Self::from_error(Kind::Usage, "usage", &error)
    }
}

impl From<VaultError> for UserError {
    fn from(error: VaultError) -> Self {
        Self::failure_from("vault", &error)
    }
}

impl From<InspectError> for UserError {
    fn from(error: InspectError) -> Self {
        pass_on!(error, "corrupt_archive", InspectError, [Open, Entry, Io])
    }
}

impl From<OpenArchiveError> for UserError {
    fn from(error: OpenArchiveError) -> Self {
        match error {
            OpenArchiveError::File(error) => error.into(),
            OpenArchiveError::Open { path, source } => Self::from(source).about(&path),
            OpenArchiveError::Invalid { edited, .. } => {
                let hint = if edited {
                    "`anemone validate` names every entry that differs; if you edited the file \
                     yourself, `anemone import --accept-edited` takes it in"
                } else {
                    "`anemone validate` names everything that is wrong"
                };
                Self::failure_from("invalid", &error).hint(hint)
            }
            other => Self::failure_from("corrupt_archive", &other),
        }
    }
}

impl From<DiffError> for UserError {
    fn from(error: DiffError) -> Self {
        pass_on!(error, "corrupt_archive", DiffError, [Open, Compare, Entry])
    }
}

impl From<DeltaError> for UserError {
    fn from(error: DeltaError) -> Self {
        pass_on!(error, "write_failed", DeltaError, [Open, File, Compare, Diff, Write])
    }
}

impl From<ApplyDeltasError> for UserError {
    fn from(error: ApplyDeltasError) -> Self {
        match error {
            ApplyDeltasError::Apply { path, source } => Self::from(source).about(&path),
            other => pass_on!(other, "write_failed", ApplyDeltasError, [Open, File, Step]),
        }
    }
}

impl From<PurgeError> for UserError {
    fn from(error: PurgeError) -> Self {
        match error {
            PurgeError::Obstacle { ref place, held_by, droppable, .. } => {
                let hint = match held_by {
                    Some(other) => format!("if that record is to go too, add --record {other}"),
                    None if droppable => {
                        format!("if the whole file may go, add --drop-file {place}")
                    }
                    None => "change it in the agent and make a new archive".to_owned(),
                };
                Self::failure_from("purge_obstacle", &error).hint(hint)
            }
            other => pass_on!(
                other,
                "purge_unproved",
                PurgeError,
                [Open, File, Plan, Apply, Result, Entry]
            ),
        }
    }
}

impl From<SealError> for UserError {
    fn from(error: SealError) -> Self {
        let said = |kind, code| Self::from_error(kind, code, &error);
        match &error {
            SealError::AlreadySealed { .. } => said(Kind::Failed, "already_sealed"),
            SealError::NotSealed { .. } => said(Kind::Failed, "not_sealed"),
            SealError::TwoKeys => said(Kind::Usage, "usage"),
            _ => match error {
                SealError::Content { path, source } => Self::from(source).about(&path),
                other => pass_on!(other, "io", SealError, [File, Keys, Open, Io]),
            },
        }
    }
}
