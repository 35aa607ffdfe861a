//! Material that tests need: recorded fixtures, which are part of the repository, and what a
//! machine may lack: files beside the repository, programs, an account without privileges.
//!
//! A test without its material tests nothing, and must not look as if it did.

use std::fmt::Display;
use std::path::{Path, PathBuf};

/// The variable that names, separated by spaces, what a CI machine need not have.
const WITHOUT: &str = "ANEMONE_WITHOUT";

/// Returns a file or folder of `tests/fixtures`. It must not be written to.
#[track_caller]
#[must_use]
pub fn fixture(name: &str) -> PathBuf {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/fixtures").join(name);
    assert!(path.exists(), "{} is part of the repository", path.display());
    path
}

/// Says that a test is skipped because its material is not there. Where `CI` is set, the test fails
/// instead, unless `ANEMONE_WITHOUT` names the material.
#[track_caller]
#[expect(clippy::disallowed_methods, reason = "tests ask their own environment")]
#[expect(clippy::print_stderr, reason = "a test that is skipped says so")]
pub fn skip(material: &str, why: impl Display) {
    let without = std::env::var(WITHOUT).unwrap_or_default();
    let is_known = without.split_whitespace().any(|name| name == material);
    assert!(
        std::env::var_os("CI").is_none() || is_known,
        "{why}; in CI this is a failure unless {WITHOUT} names {material:?}"
    );
    eprintln!("skipped: {why}");
}

/// Returns something that may not be part of the repository, of the folder that `ANEMONE_SHARED`
/// names, or `../shared`. Where it is not there, the test is to be [skipped](skip).
#[track_caller]
#[must_use]
#[expect(clippy::disallowed_methods, reason = "tests ask their own environment")]
pub fn shared(name: &str) -> Option<PathBuf> {
    let shared = std::env::var_os("ANEMONE_SHARED").map_or_else(
        || Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared"),
        PathBuf::from,
    );
    let path = shared.join(name);
    if path.exists() {
        return Some(path);
    }
    skip("shared", format_args!("{} is not there; set ANEMONE_SHARED", path.display()));
    None
}
