//! The version of an installed program, read from how it was installed. No program is started:
//! that may take seconds, and a program may change its install when it starts.

use std::ffi::OsStr;
use std::path::{Component, Path, PathBuf};

use anemone_files::read_small;
use fs_err as fs;
use serde_json::Value;

use crate::kit::Machine;

/// Folders of the path that are searched, at most.
const MAX_FOLDERS: usize = 256;
/// Folders above a program that may be its package.
const MAX_ABOVE: usize = 6;
/// Bytes of a description of packages, at most.
const MAX_DESCRIPTION_BYTES: u64 = 8 << 20;
/// Bytes of a script that starts a program, at most.
const MAX_SCRIPT_BYTES: u64 = 64 << 10;
/// Characters of a version, at most.
const MAX_VERSION_CHARS: usize = 64;

/// Returns the version of the first program of a name on the user's path: from its npm package,
/// from the folder of a package manager that has the version in its name, or from Cargo's list.
pub(crate) fn installed_version(machine: &Machine, name: &str) -> Option<String> {
    let path = machine.variable("PATH")?;
    let folders = std::env::split_paths(path).filter(|folder| folder.is_absolute());
    let program = folders
        .take(MAX_FOLDERS)
        .map(|folder| folder.join(name))
        .find(|file| fs::metadata(file).is_ok_and(|metadata| metadata.is_file()))?;
    let real = fs::canonicalize(&program).ok()?;
    npm_package(&real, name)
        .or_else(|| package_of_script(&real, name))
        .or_else(|| beside_npm(&program, name))
        .or_else(|| versioned_folder(&real, name))
        .or_else(|| cargo_install(&program, name))
}

/// Reads the version from the npm package that contains a program.
fn npm_package(program: &Path, name: &str) -> Option<String> {
    let folders = program.ancestors().skip(1).take(MAX_ABOVE);
    folders.map(|folder| folder.join("package.json")).find_map(|file| package_version(&file, name))
}

/// Reads the package that a script starts by its path, as those of pnpm do:
/// `exec node "$basedir/global/5/node_modules/<name>/<name>.mjs"`.
fn package_of_script(script: &Path, name: &str) -> Option<String> {
    let bytes = read_small(script, MAX_SCRIPT_BYTES).ok()??;
    let text = std::str::from_utf8(&bytes).ok()?;
    let package = format!("node_modules/{name}/");
    let end = text.find(&package)? + package.len();
    let start = text[..end].rfind(['"', '\'', ' ', '=', '\n']).map_or(0, |at| at + 1);
    let path = text[start..end].strip_prefix("$basedir/").unwrap_or(&text[start..end]);
    package_version(&script.parent()?.join(path).join("package.json"), name)
}

/// Reads the package beside a script that starts it.
fn beside_npm(program: &Path, name: &str) -> Option<String> {
    let above = program.parent()?.parent()?;
    package_version(&above.join("lib/node_modules").join(name).join("package.json"), name)
}

fn package_version(file: &Path, name: &str) -> Option<String> {
    let package = json(file)?;
    let own = package.get("name")?.as_str()?;
    let is_it = own == name || own.rsplit_once('/').is_some_and(|(_, own)| own == name);
    is_it.then(|| plausible(package.get("version")?.as_str()?)).flatten()
}

/// Reads `Cellar/<name>/<version>/bin/<name>` and `<hash>-<name>-<version>/bin/<name>`.
fn versioned_folder(program: &Path, name: &str) -> Option<String> {
    let parts: Vec<&str> = program
        .parent()?
        .components()
        .filter_map(|part| match part {
            Component::Normal(part) => OsStr::to_str(part),
            _ => None,
        })
        .collect();
    let below = parts.windows(2).rev().find(|pair| pair[0] == name).map(|pair| pair[1]);
    below.and_then(plausible).or_else(|| {
        let named = format!("{name}-");
        let part = |part: &&str| {
            let at = part.find(&named)?;
            let is_whole = at == 0 || part[..at].ends_with('-');
            is_whole.then(|| plausible(&part[at + named.len()..])).flatten()
        };
        parts.iter().rev().find_map(part)
    })
}

/// Reads Cargo's list of the programs that it has installed.
fn cargo_install(program: &Path, name: &str) -> Option<String> {
    let list: PathBuf = program.parent()?.parent()?.join(".crates2.json");
    let list = json(&list)?;
    list.get("installs")?.as_object()?.iter().find_map(|(package, install)| {
        let bins = install.get("bins")?.as_array()?;
        let has_it = bins.iter().any(|bin| bin.as_str() == Some(name));
        has_it.then(|| plausible(package.split(' ').nth(1)?)).flatten()
    })
}

fn json(file: &Path) -> Option<Value> {
    serde_json::from_slice(&read_small(file, MAX_DESCRIPTION_BYTES).ok()??).ok()
}

/// Returns a text that looks like a version.
fn plausible(text: &str) -> Option<String> {
    let is_version = text.starts_with(|c: char| c.is_ascii_digit())
        && text.contains('.')
        && text.len() <= MAX_VERSION_CHARS
        && text.bytes().all(|b| b.is_ascii_alphanumeric() || b".+-_".contains(&b));
    is_version.then(|| text.to_owned())
}

#[cfg(test)]
mod tests {
    use tempfile::TempDir;

    use super::*;
    use crate::kit::database::tests::machine;

    fn place(home: &TempDir, path: &str, text: &str) {
        let path = home.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    fn version(home: &TempDir, path: &[&str]) -> Option<String> {
        let folders = path.iter().map(|folder| home.path().join(folder));
        let joined = std::env::join_paths(folders).unwrap();
        let mut machine = machine(home.path());
        machine.variables.insert("PATH".to_owned(), joined);
        installed_version(&machine, "crab")
    }

    #[cfg(unix)]
    fn link(home: &TempDir, target: &str, path: &str) {
        let path = home.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::os::unix::fs::symlink(home.path().join(target), path).unwrap();
    }

    #[test]
    fn a_script_of_pnpm_leads_to_its_package() {
        let home = TempDir::new().unwrap();
        let package = "pnpm/global/5/node_modules/crab/package.json";
        place(&home, package, r#"{"name":"crab","version":"2026.9.6"}"#);
        let script = "#!/bin/sh\nbasedir=$(dirname \"$0\")\n\
                      exec node \"$basedir/global/5/node_modules/crab/crab.mjs\" \"$@\"\n";
        place(&home, "pnpm/crab", script);
        assert_eq!(version(&home, &["pnpm"]).as_deref(), Some("2026.9.6"));
    }

    // npm links `bin/<name>` to a script in the package.
    #[cfg(unix)]
    #[test]
    fn an_npm_package_says_its_version() {
        let home = TempDir::new().unwrap();
        place(
            &home,
            "lib/node_modules/crab/package.json",
            r#"{"name":"crab","version":"2026.3.24"}"#,
        );
        place(&home, "lib/node_modules/crab/dist/node_modules/x/package.json", r#"{"name":"x"}"#);
        place(&home, "lib/node_modules/crab/dist/crab.mjs", "#!/usr/bin/env node\n");
        link(&home, "lib/node_modules/crab/dist/crab.mjs", "bin/crab");
        assert_eq!(version(&home, &["none", "bin"]).as_deref(), Some("2026.3.24"));
        // Other package managers write a script that starts it.
        fs::remove_file(home.path().join("bin/crab")).unwrap();
        place(&home, "bin/crab", "#!/bin/sh\nexit 1\n");
        assert_eq!(version(&home, &["bin"]).as_deref(), Some("2026.3.24"));
    }

    #[cfg(unix)]
    #[test]
    fn a_folder_may_have_the_version_in_its_name() {
        let home = TempDir::new().unwrap();
        place(&home, "Cellar/crab/0.6.3_1/bin/crab", "");
        link(&home, "Cellar/crab/0.6.3_1/bin/crab", "brew/crab");
        assert_eq!(version(&home, &["brew"]).as_deref(), Some("0.6.3_1"));
        place(&home, "store/0abc-crab-0.7.0/bin/crab", "");
        assert_eq!(version(&home, &["store/0abc-crab-0.7.0/bin"]).as_deref(), Some("0.7.0"));
    }

    #[test]
    fn cargo_lists_what_it_installed() {
        let home = TempDir::new().unwrap();
        place(&home, "cargo/bin/crab", "");
        place(
            &home,
            "cargo/.crates2.json",
            r#"{"installs":{"other 9.9.9 (x)":{"bins":["other"]},"crablabs 0.6.9 (registry+x)":{"bins":["crab"]}}}"#,
        );
        assert_eq!(version(&home, &["cargo/bin"]).as_deref(), Some("0.6.9"));
    }

    #[test]
    fn what_is_not_there_or_makes_no_sense_has_no_version() {
        let home = TempDir::new().unwrap();
        assert_eq!(version(&home, &["bin"]), None);
        place(&home, "bin/crab", "");
        assert_eq!(version(&home, &["bin"]), None);
        for text in [
            r#"{"name":"crab","version":"latest"}"#,
            r#"{"name":"crab","version":"1.0\nx"}"#,
            r#"{"name":"lobster","version":"1.0.0"}"#,
            r#"{"name":"crab"}"#,
            "[]",
            "",
        ] {
            place(&home, "lib/node_modules/crab/package.json", text);
            assert_eq!(version(&home, &["bin"]), None, "{text}");
        }
        let mut machine = machine(home.path());
        machine.variables.insert("PATH".to_owned(), "bin".into());
        assert_eq!(installed_version(&machine, "crab"), None, "a relative folder is not searched");
    }
}
