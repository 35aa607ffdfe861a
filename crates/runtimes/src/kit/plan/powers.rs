//! Files that are more than text: programs run something because of them, or grant access.
//!
//! An archive may come from a stranger. Most files of a workspace are only read; an import warns
//! of these exceptions.

use super::{Action, Plan, Step, StepKind};
use crate::RUNTIMES;
use crate::kit::{Warning, WordList, lossy};

/// Files that are named one by one, at most.
const MOST_NAMED: usize = 20;

/// What a file can do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Power {
    /// A program runs something because the file exists.
    Runs,
    /// It grants access to this machine, or its owner access elsewhere.
    Authorises,
}

/// Names of files that make something run, wherever they are.
const RUN_BY_NAME: WordList = WordList(include_str!("powers/run_by_name.txt"));
/// Ends of paths that make something run, besides those that runtimes name; a folder of which every
/// file does ends in `/`.
const RUN_BY_PATH: WordList = WordList(include_str!("powers/run_by_path.txt"));
/// Names of files that grant access.
const AUTHORISE_BY_NAME: &[&str] = &[".netrc", ".npmrc", ".pypirc", "authorized_keys"];
/// Folders in which every file grants access.
const AUTHORISE_BY_FOLDER: &[&str] = &[".aws", ".docker", ".gnupg", ".kube", ".ssh"];

impl Plan {
    /// Names the files of the snapshot that are written and can make something run or grant access.
    #[must_use]
    pub fn power_warnings(&self) -> Vec<Warning> {
        let found: Vec<(&Step, Power)> = self
            .steps
            .iter()
            .filter(|step| step.kind() != StepKind::Folder)
            .filter(|step| matches!(step.action, Action::Create | Action::Replace))
            .filter_map(|step| Some((step, power_of(&lossy(&step.path))?)))
            .collect();
        let named = found.iter().take(MOST_NAMED).map(|(step, power)| {
            let message = match power {
                Power::Runs => "comes from the archive and can make programs run: look at it first",
                Power::Authorises => {
                    "comes from the archive and can give somebody access: look at it first"
                }
            };
            Warning::about("powerful_file", lossy(&step.path), message)
        });
        let more = found.len().saturating_sub(MOST_NAMED);
        let rest = (more > 0).then(|| {
            Warning::new(
                "powerful_file",
                format!("{more} more files can make programs run or give somebody access"),
            )
        });
        named.chain(rest).collect()
    }
}

/// Returns what a file can do, by its path. Names are compared without their case, because some
/// file systems do the same.
fn power_of(path: &str) -> Option<Power> {
    let path = format!("/{}", path.to_lowercase());
    let name = path.rsplit('/').next().unwrap_or_default();
    let is_below = |folder: &&str| path.contains(&format!("/{folder}/"));
    let mut run_by =
        RUN_BY_PATH.iter().chain(RUNTIMES.iter().flat_map(|runtime| runtime.run_by).copied());
    let extension = name.rsplit_once('.').map(|(_, extension)| extension);
    if AUTHORISE_BY_NAME.contains(&name) || AUTHORISE_BY_FOLDER.iter().any(is_below) {
        return Some(Power::Authorises);
    }
    let runs = RUN_BY_NAME.contains(name)
        || run_by.any(|end| match end.strip_suffix('/') {
            Some(folder) => is_below(&folder),
            None => path.ends_with(&format!("/{end}")),
        })
        || matches!(extension, Some("desktop" | "service" | "pth"));
    runs.then_some(Power::Runs)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_runs_or_lets_somebody_in_is_known_by_its_path() {
        for path in [
            ".git/hooks/post-checkout",
            "project/.git/hooks/pre-commit",
            ".GIT/Hooks/pre-push",
            ".envrc",
            "tools/.envrc",
            ".claude/settings.json",
            "x/agent.service",
        ] {
            assert_eq!(power_of(path), Some(Power::Runs), "{path}");
        }
        for path in [".ssh/authorized_keys", ".ssh/id_ed25519", ".netrc", "home/.aws/credentials"] {
            assert_eq!(power_of(path), Some(Power::Authorises), "{path}");
        }
        for path in ["MEMORY.md", "git/hooks.md", "memory/ssh/notes.md", "envrc", ".gitignore"] {
            assert_eq!(power_of(path), None, "{path}");
        }
    }
}
