//! Files, links and folders with names that some file system takes.

use anemone_format::{File, FileRoot, Node, Snapshot, sha256_hex};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;

use super::build::build;
use super::value::{Space, maybe, moment, text, unknown};

pub(super) fn file() -> BoxedStrategy<File> {
    let place = prop_oneof![
        5 => (Just(FileRoot::Raw("openclaw".to_owned())), path()),
        1 => (select(&["zeroclaw", "OpenClaw", "my runtime", "日本"]), path())
            .prop_map(|(runtime, path)| (FileRoot::Raw(runtime.to_owned()), path)),
        2 => (Just(FileRoot::Artifacts), path()),
        1 => (Just(FileRoot::Other), future_path()),
    ];
    let rest = build!(Rest {
        node: node(),
        mode: maybe(prop_oneof![select(&[0o644, 0o755, 0o600, 0o777, 0o4755, 0]), 0..=0o7777_u32]),
        mtime: maybe(moment()),
        redacted: any::<bool>(),
        unknown: unknown(Space::Document),
    });
    (place, rest)
        .prop_map(|((root, path), rest)| File {
            root,
            path,
            node: rest.node,
            mode: rest.mode,
            mtime: rest.mtime,
            redacted: rest.redacted,
            unknown: rest.unknown,
        })
        .boxed()
}

/// A file without its place.
#[derive(Clone, Debug)]
struct Rest {
    node: Node,
    mode: Option<u32>,
    mtime: Option<anemone_format::Moment>,
    redacted: bool,
    unknown: anemone_format::Unknown,
}

/// Names that some system treats as equal, or does not allow.
const NAMES: &[&[u8]] = &[
    b"MEMORY.md",
    b"memory.md",
    b"Memory.md",
    b"SOUL.md",
    b"2026-01-15.md",
    b"picture-1",
    b".hidden",
    b"CON.md",
    b"con",
    b"aux",
    b"NUL.tar.gz",
    b"COM1",
    b"lpt9.log",
    b"trailing.",
    b"trailing ",
    b"trailing%2E",
    b"a\\b",
    b"a%5Cb",
    b"A%5CB",
    b"line\nfeed",
    b"tab\there",
    b"caf\xe9.md",
    b"caf%E9.md",
    b"\xff\xfe",
    "\u{e9}t\u{e9}".as_bytes(),
    "e\u{301}te\u{301}".as_bytes(),
    "日本語 ノート.md".as_bytes(),
    "🦞.md".as_bytes(),
    "\u{130}stanbul".as_bytes(),
    "i\u{307}stanbul".as_bytes(),
    "stra\u{df}e".as_bytes(),
    "STRASSE".as_bytes(),
    "\u{3c3}\u{3c2}".as_bytes(),
    "\u{3c2}\u{3c3}".as_bytes(),
    "\u{85}".as_bytes(),
    "\u{202e}gpj.exe".as_bytes(),
    b"C:x",
    b"10:30 notes.md",
    b"b|c?*<>\"",
    b" leading",
    b"-rf",
    b"~",
    b"memory.md~2",
    b"...",
    b"manifest.json",
    b"index.json",
];

/// Names of folders that some system treats as equal.
const FOLDERS: &[&[u8]] = &[
    b"memory",
    b"Memory",
    b"notes.",
    b"notes%2E",
    b"Notes%2E",
    b"nul.d",
    b"up\\down",
    b"\xff folder",
    "\u{e4}".as_bytes(),
    "a\u{308}".as_bytes(),
    "项目".as_bytes(),
];

/// The parts of long names.
const LONG: &[&[u8]] = &[b"x", b"X", b"\xff", "忆".as_bytes()];

/// Where links point that point nowhere good.
const TARGETS: &[&[u8]] = &[b"../SOUL.md", b"/etc/passwd", b".", b"\xff", b"a:b"];

fn name() -> BoxedStrategy<Vec<u8>> {
    let long = (select(LONG), 80..=255_usize)
        .prop_map(|(piece, length)| piece.repeat(length / piece.len()));
    let listed = select(NAMES).prop_map(<[u8]>::to_vec);
    prop_oneof![16 => listed, 1 => long, 3 => any_name()].prop_map(possible).boxed()
}

fn folder_name() -> BoxedStrategy<Vec<u8>> {
    let listed = select(FOLDERS).prop_map(<[u8]>::to_vec);
    prop_oneof![2 => listed, 1 => name()].boxed()
}

fn any_name() -> BoxedStrategy<Vec<u8>> {
    vec(any::<u8>(), 1..8).boxed()
}

/// Turns any bytes into a name that a file system takes.
fn possible(mut name: Vec<u8>) -> Vec<u8> {
    for byte in &mut name {
        if matches!(*byte, 0 | b'/') {
            *byte = b'_';
        }
    }
    if name == b"." || name == b".." { b"dots".to_vec() } else { name }
}

fn path() -> BoxedStrategy<Vec<u8>> {
    let folders = prop_oneof![4 => vec(folder_name(), 0..=1), 1 => vec(folder_name(), 2..=4)];
    (folders, name())
        .prop_map(|(mut parts, name)| {
            parts.push(name);
            parts.join(&b'/')
        })
        .boxed()
}

/// Adds the parent folders of the files, with their modes, as a walk of a workspace finds them.
pub(super) fn add_folders(files: &mut Vec<File>) {
    let mut folders = Vec::new();
    for file in files.iter().filter(|file| file.root != FileRoot::Other) {
        for (at, _) in file.path.iter().enumerate().filter(|(_, byte)| **byte == b'/') {
            let mut folder = File::new(file.root.clone(), "", "");
            folder.path = file.path[..at].to_vec();
            (folder.node, folder.mode) = (Node::Folder, Some(0o755));
            folders.push(folder);
        }
    }
    files.append(&mut folders);
}

/// Makes a path that this version gives no meaning to.
fn future_path() -> BoxedStrategy<Vec<u8>> {
    let folder = select(&["future", "Future", "dreams/2026", "raw2", "memories"]);
    let odd = (folder, name()).prop_map(|(folder, name)| [folder.as_bytes(), b"/", &name].concat());
    prop_oneof![1 => Just(b"future/x.bin".to_vec()), 1 => Just(b"dreams.json".to_vec()), 2 => odd]
        .boxed()
}

fn node() -> BoxedStrategy<Node> {
    let target = prop_oneof![
        2 => path(),
        1 => select(TARGETS).prop_map(<[u8]>::to_vec),
    ];
    prop_oneof![
        8 => bytes().prop_map(Node::File),
        1 => target.prop_map(Node::Symlink),
        2 => Just(Node::Folder),
    ]
    .boxed()
}

/// Makes content; some of it is longer than a block of the container.
fn bytes() -> BoxedStrategy<Vec<u8>> {
    let repeated =
        (text(), 0..200_000_usize).prop_map(|(text, count)| text.repeat(count / 8).into_bytes());
    let noise = (any::<u64>(), 0..700_000_usize).prop_map(|(seed, length)| noise(seed, length));
    prop_oneof![
        12 => text().prop_map(String::into_bytes),
        6 => vec(any::<u8>(), 0..40),
        1 => repeated,
        1 => noise,
    ]
    .boxed()
}

/// Returns bytes that do not pack.
fn noise(seed: u64, length: usize) -> Vec<u8> {
    let mut state = seed | 1;
    let mut bytes = Vec::with_capacity(length + 8);
    while bytes.len() < length {
        // Xorshift is enough to defeat deflate.
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        bytes.extend_from_slice(&state.to_le_bytes());
    }
    bytes.truncate(length);
    bytes
}

/// Makes attachments out of the existing artifacts, so that they name entries of the archive.
///
/// Only a plain name has the same path in the archive as in the workspace.
pub(super) fn match_attachments(snapshot: &mut Snapshot) {
    let is_plain = |path: &[u8]| {
        path.iter().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || *byte == b'-')
            && !matches!(path, b"con" | b"aux" | b"nul" | b"prn")
    };
    let mut artifacts = snapshot.files.iter().filter_map(|file| match &file.node {
        Node::File(content) if file.root == FileRoot::Artifacts && is_plain(&file.path) => {
            Some((String::from_utf8_lossy(&file.path), content))
        }
        Node::File(_) | Node::Symlink(_) | Node::Folder => None,
    });
    for attachment in
        snapshot.attachments.iter_mut().flat_map(|attachments| &mut attachments.attachments)
    {
        let Some((path, content)) = artifacts.next() else {
            break;
        };
        attachment.filename = path.clone().into_owned();
        attachment.source_path = path.clone().into_owned();
        attachment.archive_path.0 = Some(format!("artifacts/{path}"));
        attachment.size_bytes = content.len() as u64;
        attachment.hash.value = sha256_hex(content);
    }
}
