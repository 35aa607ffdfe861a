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

use super::{CliError, Kind};

impl From<OpenError> for CliError {
    fn from(error: OpenError) -> Self {
        let (code, hint) = match &error {
            OpenError::Version { .. } | OpenError::Feature { .. } => {
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
        let mut error = Self::from_error(Kind::Failed, code, &error);
        error.hint = hint.map(str::to_owned);
        error
    }
}

impl From<ReadEntryError> for CliError {
    fn from(error: ReadEntryError) -> Self {
        Self::from_error(Kind::Failed, "corrupt_archive", &error)
            .hint("`anemone validate` names everything that is wrong")
    }
}

impl From<WriteArchiveError> for CliError {
    fn from(error: WriteArchiveError) -> Self {
        Self::from_error(Kind::Failed, "write_failed", &error)
    }
}

impl From<CompareError> for CliError {
    fn from(error: CompareError) -> Self {
        match error {
            CompareError::DifferentAgents { .. } => {
                Self::from_error(Kind::Conflict, "different_agents", &error)
                    .hint("`anemone inspect` shows whose archive a file is")
            }
            CompareError::TooManyFiles => {
                Self::new(Kind::Failed, "too_many_changes", error.to_string())
                    .hint("export the agent as a whole instead of a delta")
            }
            CompareError::Read(error) => error.into(),
            _ => Self::from_error(Kind::Failed, "corrupt_archive", &error)
                .hint("`anemone validate` names everything that is wrong"),
        }
    }
}

impl From<WriteDeltaError> for CliError {
    fn from(error: WriteDeltaError) -> Self {
        match error {
            WriteDeltaError::Compare(error) => error.into(),
            WriteDeltaError::Read(error) => error.into(),
            _ => Self::from_error(Kind::Failed, "write_failed", &error),
        }
    }
}

impl From<ApplyDeltaError> for CliError {
    fn from(error: ApplyDeltaError) -> Self {
        match error {
            ApplyDeltaError::Read(error) => error.into(),
            ApplyDeltaError::Write(error) => error.into(),
            ApplyDeltaError::WrongAgent { .. } => {
                Self::from_error(Kind::Conflict, "different_agents", &error)
                    .hint("`anemone inspect` shows whose archive a file is")
            }
            error if error.is_conflict() => Self::from_error(Kind::Conflict, "wrong_base", &error)
                .hint("apply deltas in the order they were made, starting from their own base"),
            error => Self::from_error(Kind::Failed, "wrong_result", &error),
        }
    }
}

impl From<PlanPurgeError> for CliError {
    fn from(error: PlanPurgeError) -> Self {
        match error {
            PlanPurgeError::Read(error) => error.into(),
            PlanPurgeError::NotThere { .. } => {
                Self::from_error(Kind::Failed, "record_not_found", &error)
                    .hint("`anemone inspect FILE --records` lists the records with their ids")
            }
            _ => Self::from_error(Kind::Failed, "file_not_found", &error).hint(
                "give the path as it is in the archive, such as raw/openclaw/memory/facts.db",
            ),
        }
    }
}

impl From<ApplyPurgeError> for CliError {
    fn from(error: ApplyPurgeError) -> Self {
        match error {
            ApplyPurgeError::Read(error) => error.into(),
            error => Self::from_error(Kind::Failed, "write_failed", &error),
        }
    }
}

impl From<ParseIdError> for CliError {
    fn from(error: ParseIdError) -> Self {
        Self::from_error(Kind::Usage, "usage", &error)
    }
}

impl From<VaultError> for CliError {
    fn from(error: VaultError) -> Self {
        Self::from_error(Kind::Failed, "vault", &error)
    }
}

impl From<InspectError> for CliError {
    fn from(error: InspectError) -> Self {
        match error {
            InspectError::Open(error) => error.into(),
            InspectError::Entry(error) => error.into(),
            InspectError::Io(error) => error.into(),
            other => Self::from_error(Kind::Failed, "corrupt_archive", &other),
        }
    }
}

impl From<OpenArchiveError> for CliError {
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
                Self::from_error(Kind::Failed, "invalid", &error).hint(hint)
            }
            other => Self::from_error(Kind::Failed, "corrupt_archive", &other),
        }
    }
}

impl From<DiffError> for CliError {
    fn from(error: DiffError) -> Self {
        match error {
            DiffError::Open(error) => error.into(),
            DiffError::Compare(error) => error.into(),
            DiffError::Entry(error) => error.into(),
            other => Self::from_error(Kind::Failed, "corrupt_archive", &other),
        }
    }
}

impl From<DeltaError> for CliError {
    fn from(error: DeltaError) -> Self {
        match error {
            DeltaError::Open(error) => error.into(),
            DeltaError::File(error) => error.into(),
            DeltaError::Compare(error) => error.into(),
            DeltaError::Diff(error) => error.into(),
            DeltaError::Write(error) => error.into(),
            other => Self::from_error(Kind::Failed, "write_failed", &other),
        }
    }
}

impl From<ApplyDeltasError> for CliError {
    fn from(error: ApplyDeltasError) -> Self {
        match error {
            ApplyDeltasError::Open(error) => error.into(),
            ApplyDeltasError::File(error) => error.into(),
            ApplyDeltasError::Step(error) => error.into(),
            ApplyDeltasError::Apply { path, source } => Self::from(source).about(&path),
            other => Self::from_error(Kind::Failed, "write_failed", &other),
        }
    }
}

impl From<PurgeError> for CliError {
    fn from(error: PurgeError) -> Self {
        match error {
            PurgeError::Open(error) => error.into(),
            PurgeError::File(error) => error.into(),
            PurgeError::Plan(error) => error.into(),
            PurgeError::Apply(error) => error.into(),
            PurgeError::Result(error) => error.into(),
            PurgeError::Entry(error) => error.into(),
            PurgeError::Obstacle { ref place, held_by, droppable, .. } => {
                let hint = match held_by {
                    Some(other) => format!("if that record is to go too, add --record {other}"),
                    None if droppable => {
                        format!("if the whole file may go, add --drop-file {place}")
                    }
                    None => "change it in the agent and make a new archive".to_owned(),
                };
                Self::from_error(Kind::Failed, "purge_obstacle", &error).hint(hint)
            }
            other => Self::from_error(Kind::Failed, "purge_unproved", &other),
        }
    }
}

impl From<SealError> for CliError {
    fn from(error: SealError) -> Self {
        let said = |kind, code| Self::from_error(kind, code, &error);
        match &error {
            SealError::AlreadySealed { .. } => said(Kind::Failed, "already_sealed"),
            SealError::NotSealed { .. } => said(Kind::Failed, "not_sealed"),
            SealError::TwoKeys => said(Kind::Usage, "usage"),
            _ => match error {
                SealError::File(error) => error.into(),
                SealError::Keys(error) => error.into(),
                SealError::Open(error) => error.into(),
                SealError::Content { path, source } => Self::from(source).about(&path),
                SealError::Io(error) => error.into(),
                other => Self::from_error(Kind::Failed, "io", &other),
            },
        }
    }
}
