//! Why a file, a key or a model cannot be used, in words.

use anemone::download::DownloadError;
use anemone::files::FileError;
use anemone::host::StandardStreamError;
use anemone::keys::KeysError;
use anemone::models::{FILE, MODELS, ModelFileError, ModelsError};
use anemone::sealed_header::HeaderFault;
use anemone::text::bytes;

use super::{Kind, UserError};

impl From<FileError> for UserError {
    fn from(error: FileError) -> Self {
        let said = |code| Self::failure_from(code, &error);
        match &error {
            FileError::ReadsFolder { .. } => {
                said("is_a_folder").hint("give the .alf or .alf-delta file")
            }
            FileError::ReadsNoFile { .. } => {
                said("not_a_file").hint("save it to a file, or pipe it in and give `-`")
            }
            FileError::NotFound { .. } => said("not_found").hint("check the path"),
            FileError::NotReadable { .. } => {
                said("permission_denied").hint("check the permissions of the file and its folders")
            }
            FileError::InputTooLarge => {
                said("too_large").hint("save it to a file, and give its path")
            }
            FileError::Damaged { .. } => {
                said("corrupt_archive").hint("take another copy of the file, if there is one")
            }
            FileError::WrongKey { .. } => said("wrong_key"),
            FileError::Header { fault, .. } => said("sealed_header").hint(match fault {
                HeaderFault::WorkFactor { factor, .. } => format!(
                    "if you trust the file, `anemone decrypt --max-work-factor {factor} FILE -o \
                     OPEN.alf` opens it; seal it again with `anemone encrypt`"
                ),
                HeaderFault::Length | HeaderFault::Recipients => {
                    "if you trust the file, open it with `age -d` and read the result".to_owned()
                }
            }),
            FileError::WritesFolder { .. } => said("is_a_folder"),
            FileError::WritesNoFile { .. } => said("not_a_file"),
            FileError::Exists { .. } => {
                said("exists").hint("choose another name, or give --force to overwrite it")
            }
            FileError::NoFolder { .. } => said("not_found").hint("create the folder first"),
            FileError::NotWritable { .. } => {
                said("permission_denied").hint("choose another folder for the output")
            }
            _ => match error {
                FileError::Name { path, error } => Self::from(error).about(&path),
                FileError::Unlock { path, error } => Self::from(error).about(&path),
                other => pass_on!(other, "io", FileError, [Io, Keys, Standard]),
            },
        }
    }
}

impl From<StandardStreamError> for UserError {
    fn from(error: StandardStreamError) -> Self {
        let usage = |message: &str| Self::usage(message);
        match error {
            StandardStreamError::InputIsTerminal => usage("`-` reads stdin, which is a terminal")
                .hint("pipe an archive in, or give the path of a file"),
            StandardStreamError::InputTaken => usage("`-` was given twice; stdin can be read once")
                .hint("give the path of a file for one of them"),
            StandardStreamError::OutputIsTerminal => {
                usage("`-o -` writes an archive to stdout, which is a terminal")
                    .hint("pipe it into another program or a file, or give -o FILE")
            }
            other => Self::failure_from("io", &other),
        }
    }
}

impl From<KeysError> for UserError {
    fn from(error: KeysError) -> Self {
        let said = |kind, code| Self::from_error(kind, code, &error);
        match &error {
            KeysError::PassphrasesDiffer | KeysError::EmptyPassphrase => {
                said(Kind::Failed, "passphrase")
            }
            KeysError::NoPassphrase => said(Kind::Failed, "key_needed")
                .hint("give --passphrase-file FILE or set ANEMONE_PASSPHRASE"),
            KeysError::NoIdentity { .. } => said(Kind::Failed, "key_needed").hint(
                "give --identity FILE, the file that age-keygen or `anemone vault keygen --age` \
                 wrote",
            ),
            KeysError::NotIdentities { .. } => said(Kind::Failed, "identity")
                .hint("it should have a line that starts with AGE-SECRET-KEY-1"),
            KeysError::TooManyRecipients => {
                said(Kind::Usage, "recipient").hint("seal several copies")
            }
            KeysError::NotARecipient { .. } => {
                said(Kind::Usage, "recipient").hint("recipients look like age1...")
            }
            _ => match error {
                KeysError::Io(error) => error.into(),
                KeysError::VaultKey { path, error } => Self::from(error)
                    .about(&path)
                    .hint("`anemone vault keygen -o FILE` makes a key"),
                other => Self::failure_from("vault", &other),
            },
        }
    }
}

impl From<ModelFileError> for UserError {
    fn from(error: ModelFileError) -> Self {
        let said = |kind, code| Self::from_error(kind, code, &error);
        match &error {
            ModelFileError::Included { name } => said(Kind::Usage, "usage")
                .hint(format!("nothing is fetched or removed; --embedder {name} uses it")),
            ModelFileError::Unknown { nearest: Some(name), .. } => {
                said(Kind::Usage, "usage").hint(format!("did you mean {name}?"))
            }
            ModelFileError::Unknown { nearest: None, .. } => {
                let names = MODELS.iter().map(|model| model.name).collect::<Vec<_>>().join(", ");
                said(Kind::Usage, "usage").hint(format!("there are: {names}"))
            }
            ModelFileError::NotInFolder { .. } => {
                said(Kind::Failed, "not_found").hint("give the file itself")
            }
            ModelFileError::NotAFile { .. } => said(Kind::Failed, "not_a_file"),
            ModelFileError::TooLarge { .. } => said(Kind::Failed, "too_large"),
            _ => match error {
                ModelFileError::Io(error) => error.into(),
                other => Self::failure_from("model", &other),
            },
        }
    }
}

impl From<ModelsError> for UserError {
    fn from(error: ModelsError) -> Self {
        match error {
            ModelsError::NotPublished { ref path, model, bytes: length } => {
                let mut message = format!("this is not the published file of {}", model.full_name);
                if length != model.file.bytes {
                    let (there, published) = (bytes(length), bytes(model.file.bytes));
                    message.push_str(&format!(": it has {there}, not {published}"));
                }
                let hint = if length < model.file.bytes {
                    "it may have been cut short: fetch it again; if you trust it as it is, add it \
                     with --unpinned"
                } else {
                    "if you trust it, add it with --unpinned"
                };
                Self::failure("wrong_file", message).about(path).hint(hint)
            }
            ModelsError::Changed { .. } => Self::failure_from("changed", &error),
            ModelsError::Unusable { path, error } => Self::from(error).about(&path),
            ModelsError::Download { model, error } => {
                let said = Self::from(error);
                if said.hint.is_some() {
                    return said;
                }
                said.hint(format!(
                    "copy {FILE} of {} (SHA-256 {}) from another machine, then run `anemone model \
                     add PATH`",
                    model.full_name, model.file.sha256
                ))
            }
            other => pass_on!(other, "model", ModelsError, [Model, File, Io]),
        }
    }
}

impl From<DownloadError> for UserError {
    fn from(error: DownloadError) -> Self {
        let said = |code| Self::failure_from(code, &error);
        match &error {
            DownloadError::NotAUrl { error } => Self::usage(format!("--url is no URL: {error}")),
            DownloadError::NotHttps => Self::from_error(Kind::Usage, "usage", &error)
                .hint("http is taken for this machine alone, such as http://127.0.0.1:8000/file"),
            DownloadError::WrongLength { .. } | DownloadError::WrongDigest { .. } => {
                said("wrong_file")
            }
            DownloadError::Failed { error: why, .. } => {
                let causes =
                    std::iter::successors(std::error::Error::source(why), |cause| cause.source());
                let causes = causes.map(ToString::to_string).collect();
                Self { causes, ..said("download") }
            }
            _ => match error {
                DownloadError::Interrupted { ref host, error } => Self {
                    message: format!("the download from {host} was interrupted"),
                    ..error.into()
                },
                other => Self::failure_from("download", &other),
            },
        }
    }
}
