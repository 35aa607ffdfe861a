//! Files that are damaged, contradict themselves, or can be read in two ways.

use super::alf::{
    AGENT, Alf, MANIFEST, PARTITION, Partition, SOUL, delta_manifest, delta_with, edit, id,
    operation, record, record_with,
};
use super::documents as doc;
use super::make::{Class, Vector};
use super::zip::{
    DEFLATED, DESCRIBED, Item, Signature, Width, Zip, Zip64, extra, sha256, unicode_path,
};

pub(crate) fn all() -> Vec<Vector> {
    [ends(), headers(), packed(), manifests(), documents(), lines(), listed(), deltas()]
        .into_iter()
        .flatten()
        .collect()
}

fn corrupt(name: &str, behaviour: &'static str, bytes: Vec<u8>) -> Vector {
    Vector::archive(Class::RefuseCorrupt, name, behaviour, bytes)
}

/// The outer structure: ends, gaps, counts.
fn ends() -> Vec<Vector> {
    let soul = Alf::with_soul();
    let zip = soul.zip();
    let bytes = zip.bytes();
    let directory = short(zip.bytes().len() - 22 - directory_length(&zip));
    let other_end = Zip::new(vec![Item::stored(MANIFEST, "{}")]).bytes();
    vec![
        corrupt("empty-file", "An empty file.", Vec::new()),
        corrupt("not-a-zip", "A text file.", b"Dear diary, today I met a crab.\n".to_vec()),
        corrupt("no-entries", "A ZIP archive without entries.", Zip::new(Vec::new()).bytes()),
        corrupt(
            "truncated-end",
            "The last ten bytes are missing.",
            bytes[..bytes.len() - 10].to_vec(),
        ),
        corrupt("truncated-half", "The second half is missing.", bytes[..bytes.len() / 2].to_vec()),
        corrupt("truncated-front", "The first ten bytes are missing.", bytes[10..].to_vec()),
        corrupt(
            "bytes-before",
            "Bytes before the first entry, which the offsets count.",
            Zip { front: b"#!/bin/sh\n".to_vec(), ..zip.clone() }.bytes(),
        ),
        corrupt(
            "bytes-before-uncounted",
            "Bytes before the first entry, which the offsets do not count.",
            Zip { front: b"#!/bin/sh\n".to_vec(), front_uncounted: true, ..zip.clone() }.bytes(),
        ),
        corrupt("bytes-between", "Bytes between two entries.", {
            let change = |item| Item { before: b"hidden".to_vec(), ..item };
            soul.with_item(PARTITION, change).bytes()
        }),
        corrupt(
            "bytes-before-directory",
            "Bytes between the last entry and the directory.",
            Zip { before_directory: b"hidden".to_vec(), ..zip.clone() }.bytes(),
        ),
        corrupt(
            "bytes-after-directory",
            "Bytes between the directory and the end record.",
            Zip { after_directory: b"hidden".to_vec(), ..zip.clone() }.bytes(),
        ),
        corrupt(
            "bytes-after-end",
            "Bytes after the end record.",
            Zip { tail: b"hidden".to_vec(), ..zip.clone() }.bytes(),
        ),
        corrupt(
            "second-archive",
            "Another archive after the end record; readers differ on which one counts.",
            Zip { tail: other_end.clone(), ..zip.clone() }.bytes(),
        ),
        corrupt(
            "end-in-comment",
            "The comment holds another end record; readers differ on which one counts.",
            Zip { comment: other_end[other_end.len() - 22..].to_vec(), ..zip.clone() }.bytes(),
        ),
        corrupt(
            "hidden-entry",
            "An entry that the directory does not list.",
            soul.and_item(Item { central: None, ..Item::stored("raw/openclaw/x.md", "x") }).bytes(),
        ),
        corrupt("no-local-header", "The directory lists an entry that does not exist.", {
            let item = Item::stored("raw/openclaw/x.md", "x");
            let offset = Some(directory);
            soul.and_item(Item { local: None, data: Vec::new(), offset, ..item }).bytes()
        }),
        corrupt(
            "fewer-entries-announced",
            "The end record announces fewer entries than the directory lists.",
            Zip { entries: Some(2), entries_here: Some(2), ..zip.clone() }.bytes(),
        ),
        corrupt(
            "more-entries-announced",
            "The end record announces more entries than the directory lists.",
            Zip { entries: Some(9), entries_here: Some(9), ..zip.clone() }.bytes(),
        ),
        corrupt(
            "directory-size-wrong",
            "The end record gives the directory another size; with 0 some readers see no entries.",
            Zip { directory_size: Some(0), ..zip.clone() }.bytes(),
        ),
        corrupt(
            "directory-offset-wrong",
            "The end record says that the directory starts elsewhere.",
            Zip { directory_offset: Some(directory + 1), ..zip.clone() }.bytes(),
        ),
        corrupt(
            "multi-disk-end",
            "The end record belongs to the second disk of a set.",
            Zip { disk: 1, directory_disk: 1, ..zip.clone() }.bytes(),
        ),
        corrupt(
            "multi-disk-entry",
            "An entry is on another disk.",
            soul.with_item(SOUL, |item| Item { disk: 1, ..item }).bytes(),
        ),
        corrupt("zip64-count-wrong", "The end record and its ZIP64 form differ.", {
            let zip64 = Zip64 { entries: Some(2), repeated: true, ..Zip64::default() };
            Zip { zip64: Some(zip64), ..zip.clone() }.bytes()
        }),
        corrupt("zip64-locator-wrong", "The ZIP64 form of the end record is elsewhere.", {
            let zip64 = Zip64 { record_offset: Some(0), ..Zip64::default() };
            Zip { zip64: Some(zip64), ..zip }.bytes()
        }),
    ]
}

fn directory_length(zip: &Zip) -> usize {
    let names = zip.items.iter().filter_map(|item| item.central.as_ref());
    names.map(|header| 46 + header.name.len() + header.extra.len()).sum()
}

fn short(length: usize) -> u32 {
    u32::try_from(length).expect("a vector is small")
}

/// Headers of entries that contradict each other.
fn headers() -> Vec<Vector> {
    let soul = Alf::with_soul();
    let change = |change: fn(Item) -> Item| soul.with_item(SOUL, change).bytes();
    vec![
        corrupt(
            "local-name",
            "The local header has another name than the directory.",
            change(|item| item.local(|header| header.name = b"raw/openclaw/SOUP.md".to_vec())),
        ),
        corrupt(
            "local-method",
            "The local header has another compression method than the directory.",
            change(|item| item.local(|header| header.method = DEFLATED)),
        ),
        corrupt(
            "local-crc",
            "The local header has another CRC than the directory.",
            change(|item| item.local(|header| header.crc ^= 1)),
        ),
        corrupt(
            "local-size",
            "The local header has another size than the directory.",
            change(|item| item.local(|header| header.size += 1)),
        ),
        corrupt(
            "local-packed-size",
            "The local header has another packed size than the directory.",
            change(|item| item.local(|header| header.packed_size -= 1)),
        ),
        corrupt(
            "local-unicode-path",
            "An extra field of the local header gives the entry another name.",
            change(|item| {
                item.local(|header| {
                    header.extra = unicode_path(&header.name, b"raw/openclaw/SOUP.md");
                })
            }),
        ),
        corrupt(
            "unicode-path",
            "An extra field gives the entry another name.",
            change(|item| {
                item.both(|header| {
                    header.extra = unicode_path(&header.name, b"raw/openclaw/SOUP.md");
                })
            }),
        ),
        corrupt(
            "descriptor-crc",
            "The data descriptor has another CRC than the directory.",
            change(|item| {
                let mut item = item.described(Signature::Present, Width::Narrow);
                item.descriptor[4] ^= 1;
                item
            }),
        ),
        corrupt(
            "descriptor-size",
            "The data descriptor has another size than the directory.",
            change(|item| {
                let mut item = item.described(Signature::Present, Width::Narrow);
                item.descriptor[12] ^= 1;
                item
            }),
        ),
        corrupt(
            "descriptor-missing",
            "The headers announce a data descriptor that does not exist.",
            change(|item| {
                let item = item.described(Signature::Present, Width::Narrow);
                Item { descriptor: Vec::new(), ..item }
            }),
        ),
        corrupt(
            "descriptor-flag-local-only",
            "Only the local header announces the data descriptor.",
            change(|item| {
                item.described(Signature::Present, Width::Narrow)
                    .central(|header| header.flags &= !DESCRIBED)
            }),
        ),
        corrupt(
            "zip64-field-twice",
            "An entry has two ZIP64 extra fields with different sizes.",
            change(|item| {
                let item = item.wide();
                item.both(|header| header.extra.extend(extra(1, &[7; 16])))
            }),
        ),
        corrupt(
            "folder-with-content",
            "An entry whose name ends in a slash has content.",
            soul.and_item(Item::stored("raw/openclaw/memory/", "x").mode(0o040_755)).bytes(),
        ),
        corrupt(
            "unsupported-method",
            "An entry is compressed by a method that the format does not use.",
            change(|item| item.both(|header| header.method = 93)),
        ),
        corrupt(
            "stored-with-two-sizes",
            "An entry that is stored has a packed size that is not its size.",
            change(|item| item.both(|header| header.size += 1)),
        ),
    ]
}

/// Content that differs from its headers.
fn packed() -> Vec<Vector> {
    let text = "Be kind. ".repeat(20);
    let soul = Alf::of(&[record(1)]).file(SOUL, text.clone());
    let change = |change: &dyn Fn(Item) -> Item| {
        soul.with_item(SOUL, |_| change(Item::deflated(SOUL, &text))).bytes()
    };
    vec![
        corrupt(
            "crc-wrong",
            "Both headers give the content another CRC than it has.",
            change(&|item| item.both(|header| header.crc ^= 1)),
        ),
        corrupt(
            "stored-byte-flipped",
            "A byte of an uncompressed entry was flipped.",
            soul.with_item(SOUL, |mut item| {
                item.data[3] ^= 0x20;
                item
            })
            .bytes(),
        ),
        corrupt(
            "size-too-small",
            "An entry inflates to more bytes than announced.",
            change(&|item| item.both(|header| header.size -= 1)),
        ),
        corrupt(
            "size-too-large",
            "An entry inflates to fewer bytes than announced.",
            change(&|item| item.both(|header| header.size += 1)),
        ),
        corrupt(
            "bytes-after-deflate",
            "Bytes follow the end of a deflate stream.",
            change(&|mut item| {
                item.data.extend(b"hidden");
                item.both(|header| header.packed_size += 6)
            }),
        ),
        corrupt(
            "deflate-truncated",
            "The end of a deflate stream is missing.",
            change(&|mut item| {
                item.data.truncate(item.data.len() - 2);
                item.both(|header| header.packed_size -= 2)
            }),
        ),
        corrupt(
            "deflate-broken",
            "A deflate stream with a block type that does not exist.",
            change(&|mut item| {
                item.data[0] |= 0b110;
                item
            }),
        ),
        corrupt("partition-crc-wrong", "The CRC of a partition is wrong.", {
            soul.with_item(PARTITION, |item| item.both(|header| header.crc ^= 1)).bytes()
        }),
        corrupt("manifest-crc-wrong", "The CRC of the manifest is wrong.", {
            soul.with_item(MANIFEST, |item| item.both(|header| header.crc ^= 1)).bytes()
        }),
    ]
}

/// Manifests that are not manifests.
fn manifests() -> Vec<Vector> {
    let one = Alf::of(&[record(1)]);
    let manifest = |text: &str| one.with_item(MANIFEST, |_| Item::stored(MANIFEST, text)).bytes();
    let nothing = edit(
        &delta_manifest(""),
        r#"{"memory":{"file":"memory/delta.jsonl","record_count":0}}"#,
        "{}",
    );
    let named = concat!(
        r#"{"file":"memory/partitions/2026-Q1.jsonl","from":"2026-01-01","#,
        r#""to":"2026-03-31","record_count":1,"sealed":true}"#
    );
    let deep = format!("{{\"x-new\":{}{},", "[".repeat(100_000), "]".repeat(100_000));
    vec![
        corrupt("manifest-missing", "There is no manifest.", {
            let mut items = one.items();
            items.pop();
            Zip::new(items).bytes()
        }),
        corrupt(
            "manifest-not-json",
            "The manifest is not JSON.",
            manifest("alf_version = 1.0.0\n"),
        ),
        corrupt("manifest-empty", "The manifest is empty.", manifest("")),
        corrupt("manifest-list", "The manifest is a list.", manifest("[]\n")),
        corrupt(
            "manifest-wrong-type",
            "The time in the manifest is a number.",
            one.clone().field("created_at", "1777593600").bytes(),
        ),
        corrupt(
            "manifest-without-agent",
            "The manifest names no agent.",
            one.clone().edit("\"agent\": {", "\"former_agent\": {").bytes(),
        ),
        corrupt(
            "manifest-without-version",
            "The manifest has no version.",
            one.clone().edit("alf_version", "version").bytes(),
        ),
        corrupt(
            "manifest-key-twice",
            "A key of the manifest occurs twice; readers differ on which one counts.",
            one.clone()
                .edit(
                    "{\n  \"alf_version\"",
                    "{\"created_at\":\"2020-01-01T00:00:00Z\",\n  \"alf_version\"",
                )
                .bytes(),
        ),
        corrupt(
            "manifest-unknown-key-twice",
            "An unknown key of the manifest occurs twice.",
            one.clone()
                .edit("{\n  \"alf_version\"", "{\"x-new\":1,\"x-new\":2,\n  \"alf_version\"")
                .bytes(),
        ),
        corrupt(
            "manifest-text-after",
            "Text follows the manifest's last brace.",
            manifest(&format!("{}{{}}\n", text_of(&one, MANIFEST))),
        ),
        corrupt(
            "manifest-deep",
            "JSON that is nested 100,000 levels deep in the manifest.",
            one.with_item(MANIFEST, |_| {
                Item::deflated(MANIFEST, text_of(&one, MANIFEST).replacen('{', &deep, 1))
            })
            .bytes(),
        ),
        corrupt(
            "two-manifests",
            "Both names of a manifest are there; readers differ on what the file is.",
            one.clone().file("delta-manifest.json", nothing).bytes(),
        ),
        corrupt(
            "partition-missing",
            "The manifest names a partition that does not exist.",
            one.with_item(PARTITION, |item| {
                item.both(|header| header.name = b"memory/partitions/2025-Q1.jsonl".to_vec())
            })
            .bytes(),
        ),
        corrupt(
            "partition-named-twice",
            "The manifest names a partition twice.",
            one.clone()
                .edit(named, &format!("{named},{named}"))
                .edit(r#"{"record_count":1"#, r#"{"record_count":2"#)
                .without_index()
                .bytes(),
        ),
        corrupt(
            "partition-count-wrong",
            "A partition has fewer records than the manifest says.",
            one.clone()
                .edit(r#""record_count":1,"sealed""#, r#""record_count":2,"sealed""#)
                .without_index()
                .bytes(),
        ),
        corrupt(
            "total-count-wrong",
            "The partitions have more records than the memory layer says.",
            one.clone().edit(r#"{"record_count":1"#, r#"{"record_count":0"#).bytes(),
        ),
        corrupt(
            "index-digest-wrong",
            "The index gives a partition another digest than it has.",
            one.clone()
                .edit_index(&sha256(format!("{}\n", record(1)).as_bytes()), &sha256(b"other"))
                .bytes(),
        ),
    ]
}

fn text_of(alf: &Alf, path: &str) -> String {
    let item = alf
        .items()
        .into_iter()
        .find(|item| item.central.as_ref().is_some_and(|header| header.name == path.as_bytes()));
    String::from_utf8(item.expect("the entry is there").data).expect("it is text")
}

/// Invalid layers.
fn documents() -> Vec<Vector> {
    let identity = doc::plain(doc::IDENTITY);
    let principals = doc::plain(doc::PRINCIPALS);
    let attachments = doc::plain(&doc::attachments());
    let other_agent = AGENT.replace("a9e7", "beef");
    vec![
        corrupt(
            "identity-missing",
            "The manifest names a persona that does not exist.",
            doc::with_identity(&identity)
                .with_item("identity.json", |item| {
                    item.both(|header| header.name = b"raw/identity.json".to_vec())
                })
                .bytes(),
        ),
        corrupt(
            "identity-not-json",
            "The persona is cut off in the middle.",
            doc::with_identity(&identity[..identity.len() / 2]).bytes(),
        ),
        corrupt(
            "identity-version-0",
            "Versions of the persona count from 1.",
            doc::with_identity(&edit(&identity, r#""version": 3"#, r#""version": 0"#))
                .edit(r#"{"version":3"#, r#"{"version":0"#)
                .bytes(),
        ),
        corrupt(
            "identity-of-another-agent",
            "The persona is that of another agent.",
            doc::with_identity(&edit(&identity, AGENT, &other_agent)).bytes(),
        ),
        corrupt(
            "identity-key-twice",
            "A key of the persona occurs twice.",
            doc::with_identity(&edit(
                &identity,
                r#""version": 3"#,
                r#""version": 3, "version": 3"#,
            ))
            .bytes(),
        ),
        corrupt(
            "principals-count-wrong",
            "There are fewer principals than the manifest says.",
            doc::with_principals(&principals).edit(r#""count":1"#, r#""count":2"#).bytes(),
        ),
        corrupt(
            "principal-without-profile",
            "A principal has no profile.",
            doc::with_principals(&edit(&principals, r#""profile": "#, r#""former_profile": "#))
                .bytes(),
        ),
        corrupt(
            "credential-without-encryption",
            "A credential does not say how it was sealed.",
            doc::with_credentials(&edit(
                &doc::plain(doc::CREDENTIALS),
                r#""encryption": "#,
                r#""former_encryption": "#,
            ))
            .bytes(),
        ),
        corrupt(
            "artifact-missing",
            "The artifact that should be in the archive is missing.",
            doc::with_attachments(&attachments)
                .with_item(doc::NOTE, |item| {
                    item.both(|header| header.name = b"artifacts/notes/lost.txt".to_vec())
                })
                .bytes(),
        ),
        corrupt(
            "artifact-digest-wrong",
            "The artifact in the archive has another digest than its catalogue says.",
            doc::with_attachments(&edit(
                &attachments,
                &sha256(doc::NOTE_CONTENT.as_bytes()),
                &sha256(b"other"),
            ))
            .bytes(),
        ),
    ]
}

/// Lines that are not records, or not records of this archive.
fn lines() -> Vec<Vector> {
    let of = |line: String| Alf::of(&[line]).bytes();
    let edited = |from: &str, to: &str| of(edit(&record(1), from, to));
    let other_agent = AGENT.replace("a9e7", "beef");
    let mut no_text = format!("{}\n{}\n", record(1), record(2)).into_bytes();
    no_text[100] = 0xff;
    let deep = format!(r#""x-new":{}{}"#, "[".repeat(100_000), "]".repeat(100_000));
    let second_quarter = edit(&record(1), "2026-01-15", "2026-05-15");
    vec![
        corrupt("line-not-json", "A line is cut off in the middle.", {
            Alf::of(&[record(1)[..100].to_owned(), record(2)]).bytes()
        }),
        corrupt("line-not-object", "A line is a list.", of("[1,2]".to_owned())),
        corrupt("line-not-utf8", "A line has a byte that is not UTF-8.", {
            Alf::of_bytes(no_text).bytes()
        }),
        corrupt("two-records-on-a-line", "Two records share a line.", {
            Alf::of(&[record(1) + &record(2)]).bytes()
        }),
        corrupt("line-deep", "JSON that is nested 100,000 levels deep in a line.", {
            let lines = record_with(&deep) + "\n";
            let alf = Alf::of_bytes(lines.clone());
            alf.with_item(PARTITION, |_| Item::deflated(PARTITION, &lines)).bytes()
        }),
        corrupt("record-key-twice", "A key of a record occurs twice.", {
            of(record_with(r#""content":"Another note.""#))
        }),
        corrupt(
            "record-without-id",
            "A record without an id.",
            edited(r#""id":"#, r#""former_id":"#),
        ),
        corrupt(
            "record-without-agent",
            "A record without the id of its agent.",
            edited(r#""agent_id":"#, r#""former_agent_id":"#),
        ),
        corrupt(
            "record-without-time",
            "A record without a creation time.",
            edited("created_at", "formerly_created_at"),
        ),
        corrupt("record-bad-id", "A record whose id is not a UUID.", edited(&id(1), "note-1")),
        corrupt(
            "record-bad-time",
            "A record from the thirtieth of February.",
            edited("2026-01-15", "2026-02-30"),
        ),
        corrupt(
            "record-time-without-offset",
            "A record whose time has no offset.",
            edited("10:00:00Z", "10:00:00"),
        ),
        corrupt("record-confidence-7", "A confidence of 7.", of(record_with(r#""confidence":7"#))),
        corrupt("record-empty-content", "A record with empty content.", edited("Note 1.", "")),
        corrupt(
            "record-content-number",
            "A record whose content is a number.",
            edited(r#""Note 1.""#, "1"),
        ),
        corrupt(
            "record-outside-partition",
            "A record from May in the partition of January to March.",
            of(second_quarter),
        ),
        corrupt(
            "record-id-twice",
            "Two records of a partition have one id.",
            Alf::of(&[record(1), edit(&record(1), "Note 1.", "Note 2.")]).bytes(),
        ),
        corrupt(
            "record-id-twice-apart",
            "Records of two partitions have one id.",
            Alf::new()
                .partition(Partition {
                    file: "memory/partitions/2025-Q4.jsonl".to_owned(),
                    from: "2025-10-01",
                    to: r#""2025-12-31""#,
                    sealed: true,
                    lines: (edit(&record(1), "2026-01-15", "2025-12-15") + "\n").into(),
                })
                .partition(Partition::first_quarter(record(1) + "\n"))
                .bytes(),
        ),
        corrupt(
            "record-of-another-agent",
            "A record of another agent.",
            edited(AGENT, &other_agent),
        ),
    ]
}

/// Archives that list digests and do not keep their word.
fn listed() -> Vec<Vector> {
    let listed = Alf::with_soul().listed();
    let sealed = listed.sealed();
    let text = text_of(&listed, MANIFEST);
    let flip = |at: usize| {
        let mut bytes = sealed.clone();
        bytes[at] ^= 1;
        bytes
    };
    let checksum = text.split("\"sha256:").nth(1).map(|rest| &rest[..64]).expect("a checksum");
    let soul_digest = sha256(b"Be kind.\n");
    let end = sealed.len() - 80;
    vec![
        corrupt("seal-broken", "The seal is the digest of something else.", flip(sealed.len() - 1)),
        corrupt(
            "sealed-time-changed",
            "A bit that no CRC covers was flipped: the time of an entry.",
            flip(10),
        ),
        corrupt(
            "sealed-content-changed",
            "A bit of the content was flipped.",
            flip(30 + SOUL.len()),
        ),
        corrupt("seal-prefix-broken", "A bit of the seal's prefix was flipped.", flip(end)),
        corrupt("seal-cut", "The seal is shorter than a digest.", {
            Zip { comment: sealed[end..sealed.len() - 8].to_vec(), ..listed.zip() }.bytes()
        }),
        corrupt(
            "checksum-wrong",
            "The checksum over the list is wrong, in a sealed archive.",
            listed.clone().edit(checksum, &sha256(b"other")).sealed(),
        ),
        corrupt(
            "digest-wrong",
            "The digest of a file is wrong, in a sealed archive.",
            Alf::with_soul()
                .listed_after(|entries| {
                    for entry in entries.iter_mut().filter(|entry| entry.path == SOUL) {
                        assert_eq!(entry.sha256.as_ref(), Some(&soul_digest));
                        entry.sha256 = Some(sha256(b"other"));
                    }
                })
                .sealed(),
        ),
        corrupt(
            "listed-size-wrong",
            "The size of a file is wrong in the list of a sealed archive.",
            Alf::with_soul()
                .listed_after(|entries| {
                    for entry in entries.iter_mut().filter(|entry| entry.path == SOUL) {
                        entry.size = Some(10);
                    }
                })
                .sealed(),
        ),
        corrupt(
            "listed-file-missing",
            "The list of a sealed archive has a file that does not exist.",
            Alf::with_soul()
                .listed_after(|entries| {
                    let mut entry = anemone_format::Entry::new("raw/openclaw/USER.md");
                    (entry.size, entry.sha256) = (Some(0), Some(sha256(b"")));
                    entries.push(entry);
                })
                .sealed(),
        ),
        corrupt(
            "file-not-listed",
            "A sealed archive has a file that is not in its list.",
            listed.and_item(Item::stored("raw/openclaw/USER.md", "x")).sealed(),
        ),
        corrupt(
            "listed-twice",
            "The list of a sealed archive has a file twice.",
            Alf::with_soul()
                .listed_after(|entries| {
                    let soul = entries.iter().find(|entry| entry.path == SOUL).cloned();
                    entries.extend(soul);
                })
                .sealed(),
        ),
    ]
}

fn deltas() -> Vec<Vector> {
    let corrupt = |name, behaviour, zip: Zip| {
        Vector::delta(Class::RefuseCorrupt, name, behaviour, zip.bytes())
    };
    let line = operation("create", &record(1));
    let manifest = delta_manifest(&line);
    vec![
        corrupt(
            "delta-without-operation",
            "A line of a delta does not say what to do.",
            Zip::new(delta_with(&(record(1) + "\n"), &manifest)),
        ),
        corrupt(
            "delta-count-wrong",
            "A delta has fewer records than its manifest says.",
            Zip::new(delta_with(
                &line,
                edit(&manifest, r#""record_count":1"#, r#""record_count":2"#),
            )),
        ),
        corrupt(
            "delta-records-missing",
            "The manifest of a delta names records that do not exist.",
            Zip::new(vec![Item::stored(MANIFEST, &manifest)]),
        ),
        corrupt(
            "delta-without-sequences",
            "A delta does not name its base and target snapshots.",
            Zip::new(delta_with(&line, edit(&manifest, r#""sync":"#, r#""former_sync":"#))),
        ),
        corrupt(
            "delta-of-another-agent",
            "A record in a delta is that of another agent.",
            Zip::new(delta_with(&edit(&line, AGENT, &AGENT.replace("a9e7", "beef")), &manifest)),
        ),
    ]
}
