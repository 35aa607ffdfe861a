//! The announcements of a plan, for the proof.

use anemone_format::VaultKey;
use anemone_runtimes::mapping::Mapping;
use anemone_runtimes::{Action, FilesBeside, NotRestoredKind, Plan};

use crate::proof::{Announced, Expected};

/// Returns the items that, according to a plan, will be missing or different.
pub(super) fn announced<'a>(
    plan: &'a Plan,
    mapping: &'static Mapping,
    vault_key: Option<&'a VaultKey>,
) -> Expected<'a> {
    let mut expected = Expected {
        mapping: Some(mapping),
        entries_kept: plan.memories.as_ref().map_or(0, |step| step.kept),
        entries_same: plan.memories.as_ref().map_or(0, |step| step.same),
        vault_key,
        unwritten: plan.unwritten.clone(),
        links: Some(&plan.links),
        beside: plan.beside.iter().filter_map(omitted).collect(),
        ..Expected::default()
    };
    for step in &plan.steps {
        let announced = match &step.action {
            Action::Keep => {
                Announced { reason: "the file that was there stays", made: false, beside: None }
            }
            Action::Both(beside) => {
                let beside = Some(beside.clone());
                Announced { reason: "both files are there", made: false, beside }
            }
            _ if !step.is_carried() => Announced {
                reason: "rewritten; its content is compared record by record",
                made: true,
                beside: None,
            },
            Action::Create | Action::Replace | Action::Same | Action::Conflict => continue,
        };
        expected.files.insert(step.path.clone(), announced);
    }
    for note in plan.not_restored.iter().filter(|note| note.what == NotRestoredKind::File) {
        if let Some(path) = &note.path {
            let reason = "the plan leaves it out, and says why";
            let announced = Announced { reason, made: false, beside: None };
            expected.files.insert(path.clone().into_bytes(), announced);
        }
    }
    let credentials =
        plan.not_restored.iter().filter(|note| note.what == NotRestoredKind::Credential);
    expected.credentials.extend(credentials.filter_map(|note| note.path.clone()));
    expected.credentials.extend(plan.credentials.iter().flat_map(|step| step.kept.iter().cloned()));
    expected
}

fn omitted((root, fate): (&&'static str, &FilesBeside)) -> Option<(&'static str, &'static str)> {
    match fate {
        FilesBeside::Written => None,
        FilesBeside::Omitted(reason) => Some((root, reason)),
    }
}
