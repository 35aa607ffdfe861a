//! A SQLite database and the logs beside it are one unit: a program that opens the database replays the
//! log into it, so an old log destroys a new database. The plan therefore treats these files
//! alike.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, Read};

use anemone_files::{FileKind, FileStat};

use super::{Action, Conflict, OnConflict, PlanError, PlannedFile, PlannedNode, Planner, open};
use crate::kit::{OldTree, SQLITE_MAGIC, tree};

/// How the names end of what SQLite keeps beside a database. Only the first two hold content.
pub(super) const SIDECARS: [&str; 3] = ["-wal", "-journal", "-shm"];

const LOG_HERE: &str = "a log of the database that is here";
const LOG_ALONE: &str = "a log of a database that the snapshot does not have";
const BELONGS: &str = "it belongs to a database that differs";

/// What is known about a file before its turn comes.
#[derive(Debug)]
pub(super) enum DatabaseDecision {
    /// It equals the existing file.
    Same,
    /// It gets the same action as its unit.
    Settled { action: Action, reason: &'static str },
}

/// A wanted file of a unit.
struct Member<'a> {
    key: Vec<u8>,
    ending: &'static str,
    wanted: &'a PlannedFile,
    here: bool,
    difference: Option<&'static str>,
}

impl Planner<'_> {
    /// Decides about all units that are partly in the snapshot and partly in the workspace.
    pub(super) fn rule_on_databases(
        &mut self,
        wanted: &BTreeMap<Vec<u8>, PlannedFile>,
    ) -> Result<(), PlanError> {
        let OldTree::Full(survey) = self.site else { return Ok(()) };
        let here = &survey.nodes;
        let bases: BTreeSet<&[u8]> =
            wanted.keys().chain(here.keys()).filter_map(|key| base_of(key)).collect();
        for base in bases {
            let mut members = Vec::new();
            for ending in [""].into_iter().chain(SIDECARS) {
                let key = [base, ending.as_bytes()].concat();
                let Some(wanted) = wanted.get(&key) else { continue };
                if matches!(wanted.node, PlannedNode::Folder) || self.rulings.contains_key(&key) {
                    continue;
                }
                let here = here.contains_key(&key);
                members.push(Member { key, ending, wanted, here, difference: None });
            }
            let of_base = wanted.get(base);
            if !members.is_empty() && self.is_database(of_base, here.get(base), base)? {
                self.rule_on(base, of_base.is_some(), members, wanted, here)?;
            }
        }
        Ok(())
    }

    fn rule_on(
        &mut self,
        base: &[u8],
        base_wanted: bool,
        mut members: Vec<Member<'_>>,
        wanted: &BTreeMap<Vec<u8>, PlannedFile>,
        here: &BTreeMap<Vec<u8>, FileStat>,
    ) -> Result<(), PlanError> {
        for member in &mut members {
            member.difference = match here.get(&member.key) {
                Some(seen) => self.difference(member.wanted, seen)?,
                // The existing database would treat it as its own log.
                None if !base_wanted && holds_content(member.ending) => Some(LOG_ALONE),
                None => None,
            };
        }
        let mut unwanted: Vec<Vec<u8>> = Vec::new();
        let mut old_logs: Vec<Vec<u8>> = Vec::new();
        for ending in SIDECARS.iter().filter(|_| base_wanted) {
            let key = [base, ending.as_bytes()].concat();
            let Some(seen) = here.get(&key).filter(|_| !wanted.contains_key(&key)) else {
                continue;
            };
            if seen.kind == FileKind::File && seen.size > 0 && holds_content(ending) {
                old_logs.push(key.clone());
            }
            if seen.kind != FileKind::Folder {
                unwanted.push(key);
            }
        }
        if old_logs.is_empty() && members.iter().all(|member| member.difference.is_none()) {
            let same = members.into_iter().filter(|member| member.here);
            self.rulings.extend(same.map(|same| (same.key, DatabaseDecision::Same)));
            return Ok(());
        }
        if members.iter().any(|member| member.wanted.redacted && member.difference.is_some()) {
            let reason = "secrets were taken out of it";
            self.rulings.extend(members.into_iter().map(|member| {
                (member.key, DatabaseDecision::Settled { action: Action::Keep, reason })
            }));
            return Ok(());
        }
        let differ = members.iter().filter_map(|member| Some((&member.key, member.difference?)));
        let differ = differ.chain(old_logs.iter().map(|key| (key, LOG_HERE)));
        self.conflicts
            .extend(differ.map(|(key, reason)| Conflict { path: tree::path_of(key), reason }));
        let rest = if old_logs.is_empty() { BELONGS } else { LOG_HERE };
        let beside = (self.on_conflict == OnConflict::Both)
            .then(|| self.free_name(&tree::path_of(base), &SIDECARS));
        for member in members {
            let action = match (&beside, self.on_conflict) {
                (Some(beside), _) => {
                    let beside = [beside, member.ending.as_bytes()].concat();
                    Action::Both(beside)
                }
                (None, OnConflict::Theirs) if member.here => Action::Replace,
                (None, OnConflict::Theirs) => Action::Create,
                (None, OnConflict::Ours) => Action::Keep,
                (None, OnConflict::Stop | OnConflict::Both) => Action::Conflict,
            };
            let reason = member.difference.unwrap_or(rest);
            self.rulings.insert(member.key, DatabaseDecision::Settled { action, reason });
        }
        if self.on_conflict == OnConflict::Theirs {
            self.aside.extend(unwanted);
        }
        Ok(())
    }

    /// Returns whether a path is a database, in the snapshot or here.
    fn is_database(
        &self,
        wanted: Option<&PlannedFile>,
        here: Option<&FileStat>,
        base: &[u8],
    ) -> Result<bool, PlanError> {
        if here.is_some_and(|value| value.kind == FileKind::File) {
            let file = tree::open_file(self.workspace, &tree::path_of(base));
            // What cannot be read differs anyway.
            if file.and_then(|mut file| has_magic(&mut file)).unwrap_or(false) {
                return Ok(true);
            }
        }
        let Some(PlannedFile { node: PlannedNode::File { content, .. }, .. }) = wanted else {
            return Ok(false);
        };
        let mut content = open(content, self.source, self.spool).map_err(PlanError::Source)?;
        has_magic(&mut content).map_err(PlanError::Source)
    }
}

fn holds_content(ending: &str) -> bool {
    matches!(ending, "-wal" | "-journal")
}

/// Returns the database that a file belongs to if it is one of its sidecars.
fn base_of(key: &[u8]) -> Option<&[u8]> {
    let base = SIDECARS.iter().find_map(|ending| key.strip_suffix(ending.as_bytes()))?;
    (!base.is_empty() && !base.ends_with(&[0])).then_some(base)
}

fn has_magic(reader: &mut dyn Read) -> io::Result<bool> {
    let mut start = Vec::with_capacity(SQLITE_MAGIC.len());
    reader.take(SQLITE_MAGIC.len() as u64).read_to_end(&mut start)?;
    Ok(start == SQLITE_MAGIC)
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use anemone_format::{LoadedSnapshot, Snapshot};

    use super::*;
    use crate::kit::tree::tests::{file, names, plan_of, snapshot};
    use crate::kit::tree::{Unwatched, apply};

    const OLD: &str = "SQLite format 3\0 old";
    const NEW: &str = "SQLite format 3\0 new";

    fn put(workspace: &Path, files: &[(&str, &str)]) {
        fs_err::create_dir_all(workspace).unwrap();
        for (path, content) in files {
            fs_err::write(workspace.join(path), content).unwrap();
        }
    }

    fn content(folder: &Path) -> Vec<(String, String)> {
        let names = names(folder).into_iter();
        names
            .map(|name| (name.clone(), fs_err::read_to_string(folder.join(name)).unwrap()))
            .collect()
    }

    fn owned(files: &[(&str, &str)]) -> Vec<(String, String)> {
        files.iter().map(|(path, text)| ((*path).to_owned(), (*text).to_owned())).collect()
    }

    type Files = [(&'static str, &'static str)];

    /// Imports `theirs` over `ours` and returns the paths in conflict, the workspace and what was
    /// put aside.
    #[expect(clippy::type_complexity, reason = "three lists of a test")]
    fn import(
        ours: &Files,
        theirs: &Files,
        on_conflict: OnConflict,
    ) -> (Vec<String>, Vec<(String, String)>, Vec<(String, String)>) {
        let folder = tempfile::tempdir().unwrap();
        let workspace = folder.path().join("w");
        put(&workspace, ours);
        let files = theirs.iter().map(|(path, text)| file(path, text)).collect();
        let snapshot = Snapshot { files, ..snapshot() };
        let source = LoadedSnapshot::new(&snapshot);
        let plan = plan_of(&workspace, &source, on_conflict).unwrap();
        let conflicts = plan
            .conflicts
            .iter()
            .map(|conflict| String::from_utf8(conflict.path.clone()).unwrap())
            .collect();
        let applied = apply(&plan, &source, &Unwatched);
        assert_eq!(applied.is_err(), on_conflict == OnConflict::Stop && plan.blocked);
        let kept = applied.ok().and_then(|applied| applied.replaced_kept_at);
        (conflicts, content(&workspace), kept.map(|value| content(&value)).unwrap_or_default())
    }

    #[test]
    fn an_old_log_never_meets_a_new_database() {
        let ours = &[("m.db", OLD), ("m.db-shm", "index"), ("m.db-wal", "log"), ("x", "x")];
        let theirs = &[("m.db", NEW)];
        let (conflicts, after, _) = import(ours, theirs, OnConflict::Stop);
        assert_eq!(conflicts, ["m.db", "m.db-wal"]);
        assert_eq!(after, owned(ours));
        let (_, after, kept) = import(ours, theirs, OnConflict::Theirs);
        assert_eq!(after, owned(&[("m.db", NEW), ("x", "x")]));
        assert_eq!(kept, owned(&ours[..3]));
        let (_, after, kept) = import(ours, theirs, OnConflict::Ours);
        assert_eq!((after, kept), (owned(ours), vec![]));
        let (_, after, kept) = import(ours, theirs, OnConflict::Both);
        let mut both = ours.to_vec();
        both.insert(3, ("m.imported.db", NEW));
        assert_eq!((after, kept), (owned(&both), vec![]));
    }

    #[test]
    fn a_log_beside_the_same_database_is_a_conflict() {
        for log in ["m.db-wal", "m.db-journal"] {
            let ours: &Files = &[("m.db", OLD), (log, "log")];
            let theirs = &[("m.db", OLD)];
            let (conflicts, after, _) = import(ours, theirs, OnConflict::Stop);
            assert_eq!((conflicts, after), (vec![log.to_owned()], owned(ours)));
            let (_, after, kept) = import(ours, theirs, OnConflict::Theirs);
            assert_eq!((after, kept), (owned(theirs), owned(ours)));
            let (_, after, kept) = import(ours, theirs, OnConflict::Ours);
            assert_eq!((after, kept), (owned(ours), vec![]));
        }
    }

    #[test]
    fn a_log_without_its_database_does_not_get_another_one() {
        let ours = &[("m.db-journal", "log")];
        let theirs = &[("m.db", NEW)];
        assert_eq!(import(ours, theirs, OnConflict::Stop).0, ["m.db-journal"]);
        let (_, after, kept) = import(ours, theirs, OnConflict::Theirs);
        assert_eq!((after, kept), (owned(theirs), owned(ours)));
        assert_eq!(import(ours, theirs, OnConflict::Ours).1, owned(ours));
    }

    #[test]
    fn the_snapshots_log_goes_where_its_database_goes() {
        let ours = &[("m.db", OLD)];
        let theirs = &[("m.db", NEW), ("m.db-wal", "new log")];
        assert_eq!(import(ours, theirs, OnConflict::Stop).0, ["m.db"]);
        assert_eq!(import(ours, theirs, OnConflict::Ours).1, owned(ours));
        let (_, after, kept) = import(ours, theirs, OnConflict::Theirs);
        assert_eq!((after, kept), (owned(theirs), owned(ours)));
        let both = [("m.db", OLD), ("m.imported.db", NEW), ("m.imported.db-wal", "new log")];
        assert_eq!(import(ours, theirs, OnConflict::Both).1, owned(&both));
        // A log that is the same still belongs to the database that differs.
        let ours = &[("m.db", OLD), ("m.db-wal", "new log")];
        let (_, after, kept) = import(ours, theirs, OnConflict::Theirs);
        assert_eq!((after, kept), (owned(theirs), owned(ours)));
    }

    #[test]
    fn a_log_does_not_meet_a_database_that_the_snapshot_lacks() {
        let ours = &[("m.db", OLD)];
        let theirs = &[("m.db-wal", "log")];
        assert_eq!(import(ours, theirs, OnConflict::Stop).0, ["m.db-wal"]);
        assert_eq!(import(ours, theirs, OnConflict::Ours).1, owned(ours));
    }

    #[test]
    fn what_is_no_log_of_a_database_is_as_any_file() {
        let cases: [(&Files, &Files); 3] = [
            (&[("a", "text"), ("a-wal", "mine")], &[("a", "text")]),
            (&[("m.db", OLD), ("m.db-shm", "index"), ("m.db-wal", "")], &[("m.db", OLD)]),
            (&[("m.db", OLD), ("m.db-wal", "log")], &[("m.db", OLD), ("m.db-wal", "log")]),
        ];
        for (ours, theirs) in cases {
            let (conflicts, after, _) = import(ours, theirs, OnConflict::Stop);
            assert_eq!((conflicts, after), (vec![], owned(ours)));
        }
    }
}
