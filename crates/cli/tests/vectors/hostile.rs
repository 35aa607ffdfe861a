//! Files that could harm a program that unpacks them.

use anemone_format::{Entry, EntryKind};

use super::alf::{Alf, PARTITION, SOUL, edit, record};
use super::documents as doc;
use super::make::{Class, Vector};
use super::zip::{ENCRYPTED, Item, UTF8, Zip};

pub(crate) fn all() -> Vec<Vector> {
    [names(), collisions(), special_files(), structures(), listed()].into_iter().flatten().collect()
}

fn hostile(name: &str, behaviour: &'static str, bytes: Vec<u8>) -> Vector {
    Vector::archive(Class::RefuseUnsafe, name, behaviour, bytes)
}

/// Names that must not become file names.
fn names() -> Vec<Vector> {
    let named = |name: &[u8]| Alf::with_soul().and_item(Item::stored(name, "x")).bytes();
    let long_part = format!("raw/openclaw/{}.md", "x".repeat(300));
    let long_path = format!("raw/openclaw/{}x.md", "folder/".repeat(600));
    vec![
        hostile("name-absolute", "A name that starts at the root.", named(b"/etc/cron.d/crab")),
        hostile("name-parent", "A name that goes up.", named(b"raw/openclaw/../../../crab.md")),
        hostile("name-parent-first", "A name that goes up at once.", named(b"../crab.md")),
        hostile("name-parent-last", "A name that ends by going up.", named(b"raw/openclaw/..")),
        hostile("name-dot", "A name with a part that is a dot.", named(b"raw/openclaw/./crab.md")),
        hostile("name-empty-part", "A name with an empty part.", named(b"raw/openclaw//etc/crab")),
        hostile("name-empty", "An empty name.", named(b"")),
        hostile("name-drive", "A name on a drive.", named(b"C:crab.md")),
        hostile("name-drive-absolute", "A name at the root of a drive.", named(b"c:/crab.md")),
        hostile("name-network", "A name on another machine.", named(b"//host/share/crab.md")),
        hostile(
            "name-backslash",
            "A name with backslashes.",
            named(b"raw\\openclaw\\..\\..\\crab.md"),
        ),
        hostile(
            "name-nul",
            "A name with a NUL byte, at which some readers end it.",
            named(b"raw/openclaw/crab.md\0.txt"),
        ),
        hostile("name-newline", "A name with a line feed.", named(b"raw/openclaw/cr\nab.md")),
        hostile(
            "name-escape",
            "A name with a terminal escape sequence.",
            named(b"raw/openclaw/\x1b[2Jcrab.md"),
        ),
        hostile(
            "name-delete",
            "A name with the character U+007F.",
            named(b"raw/openclaw/crab\x7f.md"),
        ),
        hostile("name-device", "A device name on Windows.", named(b"raw/openclaw/NUL")),
        hostile(
            "name-device-extension",
            "A device name on Windows, with an extension.",
            named(b"raw/openclaw/con.md"),
        ),
        hostile(
            "name-device-folder",
            "A folder with a device name on Windows.",
            named(b"raw/openclaw/aux/crab.md"),
        ),
        hostile(
            "name-device-superscript",
            "A device name on Windows whose digit is a superscript.",
            named("raw/openclaw/COM\u{b9}".as_bytes()),
        ),
        hostile(
            "name-trailing-dot",
            "A name that Windows shortens: a dot at its end.",
            named(b"raw/openclaw/SOUL.md."),
        ),
        hostile(
            "name-trailing-space",
            "A name that Windows shortens: a space at its end.",
            named(b"raw/openclaw/SOUL.md "),
        ),
        hostile("name-not-utf8", "A name that is not UTF-8.", named(b"raw/openclaw/cr\xe4b.md")),
        hostile("name-not-utf8-unflagged", "A name in an old code page.", {
            let item = Item::stored(b"raw/openclaw/cr\x84b.md", "x");
            Alf::with_soul().and_item(item.both(|header| header.flags &= !UTF8)).bytes()
        }),
        hostile(
            "name-utf8-unflagged",
            "A name in UTF-8 without the flag, which other readers decode differently.",
            {
                let item = Item::stored("raw/openclaw/kräb.md", "x");
                Alf::with_soul().and_item(item.both(|header| header.flags &= !UTF8)).bytes()
            },
        ),
        hostile("name-long-part", "A name with a part of 303 bytes.", named(long_part.as_bytes())),
        hostile("name-long", "A name of more than 4,096 bytes.", named(long_path.as_bytes())),
        hostile("name-folder-parent", "A folder that goes up.", {
            Alf::with_soul().and_item(Item::folder("raw/openclaw/../../crab/")).bytes()
        }),
    ]
}

/// Names that become one on some system.
fn collisions() -> Vec<Vector> {
    let beside_soul = |name: &str| Alf::with_soul().and_item(Item::stored(name, "x")).bytes();
    let both =
        |first: &str, second: &str| Alf::with_soul().file(first, "x").file(second, "y").bytes();
    vec![
        hostile("collision-same", "Two entries have one name.", beside_soul(SOUL)),
        hostile("collision-manifest", "There are two manifests.", {
            let other = Alf::new().items().remove(0);
            Alf::with_soul().and_item(other).bytes()
        }),
        hostile(
            "collision-case",
            "Two names differ in case only.",
            beside_soul("raw/openclaw/soul.md"),
        ),
        hostile(
            "collision-case-folder",
            "A file in a folder of the same name in another case.",
            both("raw/openclaw/notes", "raw/openclaw/Notes/a.md"),
        ),
        hostile(
            "collision-normal-form",
            "Two names differ in their Unicode normal form only.",
            both("raw/openclaw/caf\u{e9}.md", "raw/openclaw/cafe\u{301}.md"),
        ),
        hostile(
            "collision-sigma",
            "Two names differ in the two small forms of one Greek letter.",
            both(
                "raw/openclaw/\u{3bb}\u{3cc}\u{3b3}\u{3bf}\u{3c3}.md",
                "raw/openclaw/\u{3bb}\u{3cc}\u{3b3}\u{3bf}\u{3c2}.md",
            ),
        ),
        hostile("collision-file-folder", "A name is a file and a folder.", {
            both("raw/openclaw/notes", "raw/openclaw/notes/a.md")
        }),
        hostile(
            "collision-folder-entry",
            "A file and an explicit folder have one name.",
            Alf::with_soul()
                .file("raw/openclaw/notes", "x")
                .and_item(Item::folder("raw/openclaw/notes/"))
                .bytes(),
        ),
        hostile("collision-folder-twice", "Two explicit folders have one name.", {
            let folder = || Item::folder("raw/openclaw/notes/");
            let mut zip = Alf::with_soul().and_item(folder());
            zip.items.insert(0, folder());
            zip.bytes()
        }),
    ]
}

/// Entries that are not regular files.
fn special_files() -> Vec<Vector> {
    let special = |mode: u32, content: &str| {
        let item = Item::stored("raw/openclaw/memory/link.md", content).mode(mode);
        Alf::with_soul().and_item(item).bytes()
    };
    vec![
        hostile("symlink", "An entry is a symbolic link.", special(0o120_777, "/etc/passwd")),
        hostile("symlink-folder", "A link to a folder, and a file that goes through it.", {
            let link = Item::stored("raw/openclaw/out", "/tmp").mode(0o120_777);
            let mut zip = Alf::with_soul().and_item(link);
            zip.items.insert(zip.items.len() - 1, Item::stored("raw/openclaw/out/crab.md", "x"));
            zip.bytes()
        }),
        hostile("symlink-named-folder", "A symbolic link whose name ends in a slash.", {
            let link = Item::stored("raw/openclaw/out/", "").mode(0o120_777);
            Alf::with_soul().and_item(link).bytes()
        }),
        hostile("character-device", "An entry is a character device.", special(0o020_666, "")),
        hostile("block-device", "An entry is a block device.", special(0o060_660, "")),
        hostile("fifo", "An entry is a pipe.", special(0o010_644, "")),
        hostile("socket", "An entry is a socket.", special(0o140_755, "")),
        hostile(
            "folder-without-slash",
            "An entry is a folder by its attributes and a file by its name.",
            special(0o040_755, ""),
        ),
    ]
}

/// Structures that harm a reader that trusts them.
fn structures() -> Vec<Vector> {
    let soul = Alf::with_soul();
    vec![
        hostile(
            "encrypted",
            "An entry is encrypted by ZIP's own weak means.",
            soul.with_item(SOUL, |item| item.both(|header| header.flags |= ENCRYPTED)).bytes(),
        ),
        hostile(
            "encrypted-local",
            "Only the local header says that an entry is encrypted.",
            soul.with_item(SOUL, |item| item.local(|header| header.flags |= ENCRYPTED)).bytes(),
        ),
        hostile("overlap-same", "Two entries of the directory share one local header.", {
            let mut zip = soul.zip();
            let twin = zip.items[0].clone();
            zip.items.insert(
                1,
                Item {
                    local: None,
                    data: Vec::new(),
                    offset: Some(0),
                    ..twin.central(|header| header.name = b"raw/openclaw/USER.md".to_vec())
                },
            );
            zip.bytes()
        }),
        hostile("overlap-nested", "An entry is inside the content of another.", nested()),
        hostile(
            "overlap-directory",
            "The last entry reaches into the directory.",
            soul.with_item("manifest.json", |item| {
                item.both(|header| {
                    header.packed_size += 20;
                    header.size += 20;
                })
            })
            .bytes(),
        ),
        hostile("bomb", "A file that inflates a thousandfold to 20 MiB.", {
            soul.and_item(Item::deflated("raw/openclaw/zeros.bin", vec![0; 20 << 20])).bytes()
        }),
        hostile("bomb-partition", "A partition that inflates a thousandfold to 20 MiB.", {
            let lines = [record(1).into_bytes(), vec![b'\n'; 20 << 20]].concat();
            let alf = Alf::of(&[record(1)]);
            alf.with_item(PARTITION, |_| Item::deflated(PARTITION, &lines)).bytes()
        }),
    ]
}

/// An archive in which a stored entry contains another complete entry, and both are listed.
fn nested() -> Vec<u8> {
    let inner = Zip::new(vec![Item::stored("raw/openclaw/USER.md", "x")]);
    let length = 30 + "raw/openclaw/USER.md".len() + 1;
    let outer = Item::stored(SOUL, &inner.bytes()[..length]);
    let offset = u32::try_from(30 + SOUL.len()).expect("a vector is small");
    let mut zip = Alf::of(&[record(1)]).zip();
    let inner = inner.items.into_iter().next().expect("there is one");
    zip.items.insert(0, outer);
    zip.items.insert(1, Item { local: None, data: Vec::new(), offset: Some(offset), ..inner });
    zip.bytes()
}

/// Paths that only the manifest or a catalogue knows.
fn listed() -> Vec<Vector> {
    let soul_with = |change: fn(&mut Entry)| {
        Alf::with_soul()
            .listed_after(|entries| {
                entries.iter_mut().filter(|entry| entry.path == SOUL).for_each(change);
            })
            .sealed()
    };
    let and_entry = |path: &str, kind: EntryKind| {
        Alf::with_soul()
            .listed_after(|entries| {
                let mut entry = Entry::new(path);
                entry.target = (kind == EntryKind::Symlink).then(|| "/etc".to_owned());
                entry.kind = Some(kind);
                entries.push(entry);
            })
            .sealed()
    };
    let attachments = doc::plain(&doc::attachments());
    vec![
        hostile("source-path-parent", "The true path of a file goes up.", {
            soul_with(|entry| entry.source_path = Some("../../x".to_owned()))
        }),
        hostile(
            "source-path-absolute",
            "The true path of a file starts at the root.",
            soul_with(|entry| entry.source_path = Some("/etc/crab".to_owned())),
        ),
        hostile(
            "source-path-nul",
            "The true path of a file has a NUL byte, at which some readers end it.",
            soul_with(|entry| entry.source_path = Some("SOUL\0.md".to_owned())),
        ),
        hostile(
            "source-path-base64-parent",
            "The true path of a file, in base64, goes up.",
            soul_with(|entry| entry.source_path_base64 = Some("Li4vLi4veA==".to_owned())),
        ),
        hostile("source-path-twice", "Two files have one true path.", {
            Alf::with_soul()
                .file("raw/openclaw/USER.md", "x")
                .listed_after(|entries| {
                    for entry in entries.iter_mut().filter(|entry| entry.path.ends_with("USER.md"))
                    {
                        entry.source_path = Some("SOUL.md".to_owned());
                    }
                })
                .sealed()
        }),
        hostile(
            "listed-symlink-absolute",
            "A listed link has an absolute path.",
            and_entry("/etc/crab", EntryKind::Symlink),
        ),
        hostile("listed-symlink-parent", "A listed link is outside.", {
            and_entry("raw/openclaw/../../crab", EntryKind::Symlink)
        }),
        hostile(
            "listed-symlink-over-file",
            "A listed link has the path of a file.",
            Alf::with_soul()
                .listed_after(|entries| {
                    for entry in entries.iter_mut().filter(|entry| entry.path == SOUL) {
                        entry.kind = Some(EntryKind::Symlink);
                        entry.target = Some("/etc/passwd".to_owned());
                    }
                })
                .sealed(),
        ),
        hostile(
            "listed-symlink-above-file",
            "A file goes through a listed link.",
            Alf::with_soul()
                .file("raw/openclaw/out/crab.md", "x")
                .listed_after(|entries| {
                    let mut entry = Entry::new("raw/openclaw/out");
                    entry.kind = Some(EntryKind::Symlink);
                    entry.target = Some("/tmp".to_owned());
                    entries.push(entry);
                })
                .sealed(),
        ),
        hostile("listed-folder-parent", "A listed folder is outside.", {
            and_entry("raw/openclaw/../../crab", EntryKind::Directory)
        }),
        hostile(
            "listed-case",
            "A listed link and a file differ in case only.",
            and_entry("raw/openclaw/soul.md", EntryKind::Symlink),
        ),
        hostile(
            "artifact-path-parent",
            "The path of an artifact in the workspace goes up.",
            doc::with_attachments(&edit(
                &attachments,
                r#""source_path": "notes/"#,
                r#""source_path": "../../"#,
            ))
            .bytes(),
        ),
    ]
}
