//! The folders in which shells and man search for completions and pages.

use std::path::{Path, PathBuf};

use crate::environment::Environment;
use crate::output::Result;

/// Prefixes below which zsh and man look of themselves, in a package too.
const KNOWN_PREFIXES: [&str; 2] = ["usr", "usr/local"];

/// Where everything goes.
pub(super) struct InstallPaths {
    pub(super) bash: PathBuf,
    pub(super) zsh: PathBuf,
    pub(super) fish: PathBuf,
    /// The folder of man pages.
    pub(super) man: PathBuf,
    pub(super) link: Link,
    /// Folders that are kept even if they are empty.
    pub(super) bases: Vec<PathBuf>,
    /// Whether everything is found without more ado.
    are_known: bool,
}

/// The link by which the program answers as the existing tool.
pub(super) struct Link {
    pub(super) path: PathBuf,
    /// Its target.
    pub(super) target: PathBuf,
    /// This program.
    program: PathBuf,
}

impl InstallPaths {
    /// Returns the places for this user, or below a prefix.
    pub(super) fn new(
        prefix: Option<&Path>,
        bin: Option<&Path>,
        environment: &Environment,
    ) -> Result<Self> {
        let (data, fish, bases) = match prefix {
            Some(prefix) => {
                let share = prefix.join("share");
                (share.clone(), share.join("fish/vendor_completions.d"), vec![prefix.to_owned()])
            }
            None => {
                let (data, config) = (&environment.folders.data, &environment.folders.config);
                let bases = vec![data.clone(), config.clone()];
                (data.clone(), config.join("fish/completions"), bases)
            }
        };
        Ok(Self {
            bash: data.join("bash-completion/completions/anemone"),
            zsh: data.join("zsh/site-functions/_anemone"),
            fish: fish.join("anemone.fish"),
            man: data.join("man/man1"),
            link: Link::new(prefix, bin)?,
            bases,
            are_known: prefix
                .is_some_and(|prefix| KNOWN_PREFIXES.iter().any(|name| prefix.ends_with(name))),
        })
    }

    /// Lists the steps that are still needed so that everything is found.
    pub(super) fn notes(&self) -> Vec<String> {
        let bash = "bash: a new shell has them, where bash-completion 2 is installed".to_owned();
        if self.are_known {
            return vec![bash];
        }
        // Escaped for single quotes.
        let folder = |path: &Path| {
            path.parent().unwrap_or(path).display().to_string().replace('\'', r"'\''")
        };
        let (zsh, man) = (folder(&self.zsh), folder(&self.man));
        vec![
            bash,
            format!("zsh: put fpath=('{zsh}' $fpath) before compinit in ~/.zshrc"),
            format!(
                "man: if `man anemone` finds nothing, put export MANPATH='{man}:' into your profile"
            ),
        ]
    }
}

impl Link {
    fn new(prefix: Option<&Path>, bin: Option<&Path>) -> Result<Self> {
        let program = fs_err::canonicalize(std::env::current_exe()?)?;
        let beside = program.parent().unwrap_or(Path::new("/"));
        let folder = match (bin, prefix) {
            (Some(bin), _) => bin.to_owned(),
            (None, Some(prefix)) => prefix.join("bin"),
            (None, None) => beside.to_owned(),
        };
        let name = program.file_name().map(PathBuf::from).unwrap_or_default();
        let is_beside =
            fs_err::canonicalize(&folder).is_ok_and(|canonicalize| canonicalize == beside);
        // In a package the program will be beside the link, wherever the package is installed.
        let in_package = bin.is_none() && prefix.is_some();
        let target = if is_beside || in_package { name } else { program.clone() };
        Ok(Self { path: folder.join("alf"), target, program })
    }

    /// Whether the existing link leads to this program.
    pub(super) fn is_ours(&self) -> bool {
        let said = fs_err::read_link(&self.path);
        let Ok(said) = said else { return false };
        said == self.target
            || fs_err::canonicalize(&self.path)
                .is_ok_and(|canonicalize| canonicalize == self.program)
    }
}
