//! Files of an install that all of its agents share; they are not exported with any of them.

use super::super::layout::{self, PathRole, generation};
use crate::kit::{
    FoundAgent, LeftOut, LeftOutReason, ReadOptions, WordList, left_out_size, names_in,
};

/// Files of an install that are read, reported elsewhere, or not worth reporting.
const KNOWN: WordList = WordList(include_str!("known_files.txt"));

/// Lists what belongs to all agents of an install.
pub(super) fn left_out(agent: &FoundAgent, options: &ReadOptions<'_>) -> Vec<LeftOut> {
    let Some(install) = agent.install.as_ref().filter(|install| **install != agent.workspace)
    else {
        return Vec::new();
    };
    let mut found = Vec::new();
    let data = install.join("data");
    if agent.generation == Some(generation::DATA) {
        for name in names_in(&data) {
            match name.as_str() {
                // Listed one by one, because the database whose rows travel is among them.
                layout::MEMORY => {
                    let below = names_in(&data.join(&name)).into_iter();
                    found.extend(below.map(|below| format!("{name}/{below}")));
                }
                // They are read.
                "sessions" if options.sessions => {}
                _ => found.push(name),
            }
        }
    }
    let of_data = found.into_iter().filter_map(|name| {
        let reason = match layout::place_of(name.as_bytes()) {
            PathRole::Database => return None,
            PathRole::Backup => LeftOutReason::Unused,
            PathRole::Cache => LeftOutReason::Skipped,
            PathRole::Never => LeftOutReason::KeyStore,
            _ => LeftOutReason::Shared,
        };
        Some((data.join(name), reason))
    });
    let is_known = |name: &String| {
        KNOWN.contains(name)
            || name.starts_with("backup-")
            || name.starts_with("memory.db-")
            || name.starts_with(".alf-")
    };
    let of_install = names_in(install).into_iter().filter(|name| !is_known(name)).map(|name| {
        let reason = match layout::place_of(name.as_bytes()) {
            PathRole::Never => LeftOutReason::KeyStore,
            _ => LeftOutReason::Shared,
        };
        (install.join(name), reason)
    });
    let left_out = of_data.chain(of_install).filter_map(|(path, reason)| {
        let (files, bytes) = left_out_size(&path);
        (files > 0).then(|| LeftOut { path: path.display().to_string(), reason, files, bytes })
    });
    left_out.collect()
}
