//! The proof of files.

use std::collections::{BTreeSet, HashMap};

use anemone_format::{FileRoot, Moment, SourceFile, SourceKind, sha256_hex};
use anemone_runtimes::is_kept;
use anemone_runtimes::mapping::{Becomes, mapping};

use super::count::LayerCount;
use super::{Evidence, Expected, LayerProof, Loss, Outcome};

pub(super) fn files(evidence: &Evidence<'_>, lost: &mut Vec<Loss>) -> LayerProof {
    let Evidence { source, target, expected, sidecar } = *evidence;
    let mut is: HashMap<FilePlace<'_>, &SourceFile> = HashMap::new();
    for file in target.files() {
        is.insert(lies(file), file);
    }
    let mut aside: BTreeSet<(Vec<u8>, String)> = BTreeSet::new();
    for file in &sidecar.files {
        let there = is.get(&(false, &file.place[..]));
        aside.extend(there.map(|there| (file.path.clone(), node_digest(there))));
    }
    let mut count = LayerCount::new("files", lost);
    for file in source.files() {
        let digest = node_digest(file);
        let fate = fate_of_file(file, &digest, &is, &aside, expected);
        let path = String::from_utf8_lossy(&file.path).into_owned();
        let digest = sha256_hex(format!("{path}\n{digest}").as_bytes());
        count.add(|| path, digest, fate);
    }
    count.finish()
}

/// Whether a file is beside the workspace, and its path.
type FilePlace<'a> = (bool, &'a [u8]);

/// Returns the place of a file. A file that describes an install has a path among the runtime's
/// files, and does not belong to the workspace.
fn lies(file: &SourceFile) -> FilePlace<'_> {
    let known = match &file.root {
        FileRoot::Raw(runtime) => mapping(runtime),
        FileRoot::Artifacts | FileRoot::Other => None,
    };
    let beside = known.map_or(&[][..], |mapping| mapping.proof.beside_workspace);
    (beside.iter().any(|path| path.as_bytes() == file.path), &file.path)
}

fn node_digest(file: &SourceFile) -> String {
    match &file.kind {
        SourceKind::File { sha256, .. } => format!("file {sha256}"),
        SourceKind::Symlink(target) => format!("link {}", sha256_hex(target)),
        SourceKind::Folder => "folder".to_owned(),
    }
}

fn fate_of_file(
    file: &SourceFile,
    digest: &str,
    is: &HashMap<FilePlace<'_>, &SourceFile>,
    aside: &BTreeSet<(Vec<u8>, String)>,
    expected: &Expected<'_>,
) -> Outcome {
    let (beside, path) = lies(file);
    let lies_at = |path| is.get(&(beside, path)).filter(|there| node_digest(there) == digest);
    let announced = expected.files.get(path).filter(|_| !beside);
    if let Some(there) = lies_at(path) {
        let mut differ = Vec::new();
        if file.mode.is_some() && there.mode.is_some() && file.mode != there.mode {
            differ.push("mode");
        }
        let instant = |file: &SourceFile| file.mtime.as_ref().map(Moment::instant);
        let is_folder = matches!(file.kind, SourceKind::Folder);
        if !is_folder && instant(file).is_some() && instant(file) != instant(there) {
            differ.push("mtime");
        }
        return if differ.is_empty() { Outcome::Carried } else { Outcome::Degraded(differ, false) };
    }
    let below = |folder: &[u8]| {
        let inside =
            |path: &[u8]| path.strip_prefix(folder).is_some_and(|rest| rest.starts_with(b"/"));
        is.keys().any(|(_, path)| inside(path))
    };
    if matches!(file.kind, SourceKind::Folder) && below(&file.path) {
        return Outcome::Carried;
    }
    if let Some(announced) = announced {
        return match &announced.beside {
            Some(beside) if lies_at(beside).is_some() => Outcome::Carried,
            _ => Outcome::Announced(announced.reason.to_owned()),
        };
    }
    if aside.contains(&(file.path.clone(), digest.to_owned())) {
        return Outcome::Aside;
    }
    if let FileRoot::Raw(root) = &file.root
        && let Some(reason) = expected.beside.get(&**root)
    {
        return Outcome::Announced((*reason).to_owned());
    }
    if is_kept(&file.path) {
        return Outcome::Announced("it was kept for the way back, and is put to use".to_owned());
    }
    let row = expected.mapping.and_then(|mapping| mapping.row_of_file(&file.root, &file.path));
    match row {
        Some(row) if matches!(row.becomes, Becomes::Nowhere(_)) => {
            Outcome::Announced(row.becomes.text().to_owned())
        }
        // A row for one file describes its representation in the runtime.
        Some(row) if row.kind.starts_with("raw/") && !row.kind.ends_with('*') => {
            Outcome::Announced(row.becomes.text().to_owned())
        }
        _ if file.redacted => Outcome::Announced("its secrets were taken out".to_owned()),
        _ => Outcome::Lost("neither in the workspace nor in the sidecar".to_owned()),
    }
}
