//! Why a file, a key or a model cannot be used, in words.

use anemone::download::DownloadError;
use anemone::files::FileError;
use anemone::host::StandardStreamError;
use anemone::keys::KeysError;
use anemone::models::{FILE, MODELS, ModelsError};
use anemone::sealed_header::HeaderFault;
use anemone::text::bytes;

use super::{Explain, UserError, causes_of};

impl Explain for FileError {
    fn explain(&self) -> UserError {
        match self {
            Self::ReadsFolder(_) => {
                self.failure("is_a_folder").hint("give the .alf or .alf-delta file")
            }
            Self::ReadsNoFile(_) => {
                self.failure("not_a_file").hint("save it to a file, or pipe it in and give `-`")
            }
            Self::NotFound(_) => self.failure("not_found").hint("check the path"),
            Self::NotReadable(_) => self
                .failure("permission_denied")
                .hint("check the permissions of the file and its folders"),
            Self::InputTooLarge => {
                self.failure("too_large").hint("save it to a file, and give its path")
            }
            Self::Damaged { .. } => self
                .failure("corrupt_archive")
                .hint("take another copy of the file, if there is one"),
            Self::WrongKey { .. } => self.failure("wrong_key"),
            Self::Header { fault, .. } => self.failure("sealed_header").hint(match fault {
                HeaderFault::WorkFactor { factor, .. } => format!(
                    "if you trust the file, `anemone decrypt --max-work-factor {factor} FILE -o \
                     OPEN.alf` opens it; seal it again with `anemone encrypt`"
                ),
                HeaderFault::Length | HeaderFault::Recipients => {
                    "if you trust the file, open it with `age -d` and read the result".to_owned()
                }
            }),
            Self::WritesFolder(_) => self.failure("is_a_folder"),
            Self::WritesNoFile(_) => self.failure("not_a_file"),
            Self::Exists(_) => self.failure("exists").hint(
                "choose another name, move the file away, or give --force where the command has it",
            ),
            Self::NoFolder(_) => self.failure("not_found").hint("create the folder first"),
            Self::NotWritable(_) => {
                self.failure("permission_denied").hint("choose another folder for the output")
            }
            Self::Name { path, error } => error.explain().about(path),
            Self::Unlock { path, error } => error.explain().about(path),
            other => pass_on!(other, "io", [Io, Keys, Standard]),
        }
    }
}

impl Explain for StandardStreamError {
    fn explain(&self) -> UserError {
        match self {
            Self::InputIsTerminal => UserError::usage("`-` reads stdin, which is a terminal")
                .hint("pipe an archive in, or give the path of a file"),
            Self::InputTaken => UserError::usage("`-` was given twice; stdin can be read once")
                .hint("give the path of a file for one of them"),
            Self::OutputIsTerminal => {
                UserError::usage("`-o -` writes an archive to stdout, which is a terminal")
                    .hint("pipe it into another program or a file, or give -o FILE")
            }
            other => other.failure("io"),
        }
    }
}

impl Explain for KeysError {
    fn explain(&self) -> UserError {
        match self {
            Self::PassphrasesDiffer | Self::EmptyPassphrase => self.failure("passphrase"),
            Self::NoPassphrase => self
                .failure("key_needed")
                .hint("give --passphrase-file FILE or set ANEMONE_PASSPHRASE"),
            Self::NoIdentity(_) => self.failure("key_needed").hint(
                "give --identity FILE, the file that age-keygen or `anemone vault keygen --age` \
                 wrote",
            ),
            Self::NotIdentities(_) => self
                .failure("identity")
                .hint("it should have a line that starts with AGE-SECRET-KEY-1"),
            Self::TooManyRecipients => self.misuse("recipient").hint("seal several copies"),
            Self::NotARecipient(_) => self.misuse("recipient").hint("recipients look like age1..."),
            Self::Io(error) => error.explain(),
            Self::VaultKey { path, error } => {
                error.explain().about(path).hint("`anemone vault keygen -o FILE` makes a key")
            }
            other => other.failure("vault"),
        }
    }
}

impl Explain for ModelsError {
    fn explain(&self) -> UserError {
        match self {
            Self::Included(name) => self
                .misuse("usage")
                .hint(format!("nothing is fetched or removed; --embedder {name} uses it")),
            Self::Unknown { nearest: Some(name), .. } => {
                self.misuse("usage").hint(format!("did you mean {name}?"))
            }
            Self::Unknown { nearest: None, .. } => {
                let names = MODELS.iter().map(|model| model.name).collect::<Vec<_>>().join(", ");
                self.misuse("usage").hint(format!("there are: {names}"))
            }
            Self::NotInFolder(_) => self.failure("not_found").hint("give the file itself"),
            Self::NotAFile(_) => self.failure("not_a_file"),
            Self::TooLarge(_) => self.failure("too_large"),
            Self::NotPublished { path, model, bytes: length } => {
                let mut message = format!("this is not the published file of {}", model.full_name);
                if *length != model.file.bytes {
                    let (there, published) = (bytes(*length), bytes(model.file.bytes));
                    message.push_str(&format!(": it has {there}, not {published}"));
                }
                let hint = if *length < model.file.bytes {
                    "it may have been cut short: fetch it again; if you trust it as it is, add it \
                     with --unpinned"
                } else {
                    "if you trust it, add it with --unpinned"
                };
                UserError::failure("wrong_file", message).about(path).hint(hint)
            }
            Self::Changed(_) => self.failure("changed"),
            Self::Unusable { path, error } => error.explain().about(path),
            Self::Download { model, error } => {
                let said = error.explain();
                if said.hint.is_some() {
                    return said;
                }
                said.hint(format!(
                    "copy {FILE} of {} (SHA-256 {}) from another machine, then run `anemone model \
                     add PATH`",
                    model.full_name, model.file.sha256
                ))
            }
            other => pass_on!(other, "model", [File, Io]),
        }
    }
}

impl Explain for DownloadError {
    fn explain(&self) -> UserError {
        match self {
            Self::NotAUrl(error) => UserError::usage(format!("--url is no URL: {error}")),
            Self::NotHttps => self
                .misuse("usage")
                .hint("http is taken for this machine alone, such as http://127.0.0.1:8000/file"),
            Self::WrongLength { .. } | Self::WrongDigest(_) => self.failure("wrong_file"),
            Self::Failed { error, .. } => {
                self.failure("download").causes(causes_of(error).collect())
            }
            Self::Interrupted { host, error } => UserError {
                message: format!("the download from {host} was interrupted"),
                ..error.explain()
            },
            other => other.failure("download"),
        }
    }
}
