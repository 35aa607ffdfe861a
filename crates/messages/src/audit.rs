//! What would set a finding right, in words.

use anemone::audit::Fix;

/// Says what would set a finding right. `memory` are the arguments that name the memory, each
/// behind a space.
#[must_use]
pub fn fix(fix: &Fix, memory: &str) -> String {
    match fix {
        Fix::RemoveSecret { path, line } => format!("edit {path}:{line}, and change the secret"),
        Fix::RenameFile(path) => format!("rename {path}, and change the secret"),
        Fix::Forget(id) => format!("anemone forget --id {id}{memory}"),
        Fix::Edit { path, line } => format!("edit {path}:{line}"),
        Fix::ReplaceFile => "put a plain UTF-8 file in its place".to_owned(),
        Fix::Tidy => format!("anemone tidy --apply{memory}"),
        Fix::Review(place) => format!("check whether it still holds: {place}"),
        // New fixes get words here.
        Fix::Shorten | _ => {
            "anemone context --explain shows what is left; shorten the file".to_owned()
        }
    }
}
