//! Sound files, in every shape that sound files have.

use std::io::Cursor;

use anemone_format::{AgentInfo, File, FileRoot, Manifest, Node, Record, Snapshot};

use super::alf::{
    AGENT, Alf, INDEX, MANIFEST, PARTITION, Partition, SOUL, delta, delta_manifest, edit, id,
    operation, record, record_with,
};
use super::documents as doc;
use super::make::{Class, Vector};
use super::zip::{Item, Signature, UTF8, Width, Zip, Zip64, extra, unicode_path};

pub(crate) fn all() -> Vec<Vector> {
    [content(), records(), dialects(), deltas(), containers()].into_iter().flatten().collect()
}

fn ok(name: &str, behaviour: &'static str, bytes: Vec<u8>) -> Vector {
    Vector::archive(Class::Ok, name, behaviour, bytes)
}

fn content() -> Vec<Vector> {
    vec![
        ok("minimal", "An archive may be nothing but a manifest.", Alf::new().bytes()),
        ok("one-record", "One record, one partition, an index.", Alf::of(&[record(1)]).bytes()),
        ok(
            "everything",
            "Every layer is there, with every field of the official schemas.",
            doc::everything().listed().sealed(),
        ),
        ok("sealed", "An archive as this project writes it: digests, checksum, seal.", written()),
        ok(
            "seal-missing",
            "The manifest lists digests, but the seal is missing: another tool packed it again.",
            Zip { comment: Vec::new(), ..Alf::with_soul().listed().zip() }.bytes(),
        ),
        ok("seal-replaced", "The manifest lists digests, and the comment is another tool's.", {
            let comment = b"Backed up on a Sunday.".to_vec();
            Zip { comment, ..Alf::with_soul().listed().zip() }.bytes()
        }),
        ok(
            "monthly-partitions",
            "Partitions may be months.",
            Alf::new()
                .partition(month("2026-01", "2026-01-01", r#""2026-01-31""#, &record(1)))
                .partition(month(
                    "2026-02",
                    "2026-02-01",
                    r#""2026-02-28""#,
                    &edit(&record(2), "2026-01-15", "2026-02-28"),
                ))
                .bytes(),
        ),
        ok("no-partitions", "A memory layer may have no partitions.", Alf::new().memory().bytes()),
        ok("empty-partition", "A partition may have no records.", Alf::of_bytes("").bytes()),
        ok(
            "open-partition",
            "The partition of the current quarter has no last day and is not sealed.",
            Alf::new()
                .partition(Partition {
                    to: "null",
                    sealed: false,
                    ..Partition::first_quarter(record(1) + "\n")
                })
                .field("created_at", r#""2026-02-01T00:00:00Z""#)
                .bytes(),
        ),
        ok(
            "partition-without-last-day",
            "A partition need not name its last day.",
            Alf::new()
                .partition(Partition { to: "", ..Partition::first_quarter(record(1) + "\n") })
                .bytes(),
        ),
        ok(
            "partition-by-utc",
            "A record belongs to the quarter of its creation in UTC, whatever its offset.",
            Alf::new()
                .partition(Partition {
                    file: "memory/partitions/2026-Q2.jsonl".to_owned(),
                    from: "2026-04-01",
                    to: "null",
                    sealed: false,
                    lines: (edit(&record(1), "2026-01-15T10:00:00Z", "2026-03-31T23:30:00-05:00")
                        + "\n")
                        .into(),
                })
                .bytes(),
        ),
        ok(
            "partition-by-observation",
            "An episodic record may be in the quarter of its observation.",
            Alf::of(&[edit(
                &edit(&record(1), "semantic", "episodic"),
                r#""2026-01-15T10:00:00Z""#,
                r#""2026-04-01T02:00:00Z","observed_at":"2026-03-31T00:00:00Z""#,
            )])
            .bytes(),
        ),
        ok(
            "credential-not-exported",
            "A credential may leave its secret behind; then it has no nonce.",
            doc::with_credentials(&credential_left_behind()).bytes(),
        ),
        ok(
            "artifacts",
            "One artifact is in the archive, another is only named.",
            doc::with_attachments(&doc::plain(&doc::attachments())).bytes(),
        ),
        ok(
            "raw-files",
            "Files of the runtime are carried as they are, also empty ones and binary ones.",
            Alf::with_soul()
                .file("raw/openclaw/memory/empty.md", "")
                .file("raw/openclaw/memory/blob.bin", [0, 159, 146, 150, 255])
                .bytes(),
        ),
        ok(
            "newer-minor",
            "Format version 1.7.3: a newer minor version can be read by an older reader.",
            Alf::of(&[record(1)]).field("alf_version", r#""1.7.3""#).bytes(),
        ),
    ]
}

/// An archive as the library writes it, with a file, a folder, a link and an odd name.
fn written() -> Vec<u8> {
    let agent = AgentInfo::new(AGENT.parse().expect("an id"), "Clawdia", "openclaw");
    let moment = |text: &str| text.parse().expect("a moment");
    let mut snapshot = Snapshot::new(Manifest::new(agent.clone(), moment("2026-05-01T00:00:00Z")));
    for (n, day) in [(1, "2026-01-15T10:00:00Z"), (2, "2026-04-15T10:00:00Z")] {
        let id = id(n).parse().expect("an id");
        let text = format!("Note {n}.");
        snapshot.records.push(Record::new(id, agent.id, "openclaw", moment(day), &text));
    }
    let raw = || FileRoot::Raw("openclaw".to_owned());
    let soul = File::new(raw(), "SOUL.md", "Be kind.\n");
    snapshot.files = vec![
        File { mode: Some(0o600), mtime: Some(moment("2026-04-01T00:00:00Z")), ..soul },
        File::new(raw(), "line\nfeed.md", "Odd.\n"),
        File { node: Node::Symlink(b"SOUL.md".to_vec()), ..File::new(raw(), "link.md", "") },
        File { node: Node::Folder, ..File::new(raw(), "empty", "") },
        File::new(FileRoot::Artifacts, "list.txt", "bread\n"),
    ];
    let spool = Box::new(Cursor::new(Vec::new()));
    snapshot.write(Vec::new(), spool, 1).expect("memory takes any bytes").0
}

fn month(name: &str, from: &'static str, to: &'static str, line: &str) -> Partition {
    let file = format!("memory/partitions/{name}.jsonl");
    Partition { file, from, to, sealed: true, lines: format!("{line}\n").into() }
}

fn credential_left_behind() -> String {
    doc::plain(
        r#"{~
  "credentials": [
    {~
      "id": "0192e4a0-4444-7abc-8def-000000000001",
      "agent_id": "@AGENT",
      "service": "caldav",
      "credential_type": "api_key",
      "encrypted_payload": "<not-exported>",
      "encryption": {~"algorithm": "none", "nonce": ""},
      "created_at": "2026-01-01T00:00:00Z"
    }
  ]
}
"#,
    )
}

fn records() -> Vec<Vector> {
    let with_id = |id: &str| Alf::of(&[edit(&record(1), &super::alf::id(1), id)]).bytes();
    let two = || [record(1), record(2)];
    let nested = format!(r#""raw_source_format":{}1{}"#, "{\"a\":".repeat(100), "}".repeat(100));
    let long = edit(&record(1), "Note 1.", &"All work and no play. ".repeat(50_000));
    vec![
        ok("id-v4", "A record id of version 4.", with_id("3f0c8d1e-9b7a-4c21-8f6e-2d5a1b0c9e87")),
        ok("id-v5", "A record id of version 5.", with_id("1d93a526-85b1-5b5b-9ac8-2fcc8749633d")),
        ok("id-v7", "A record id of version 7.", with_id("0194a000-abcd-7000-9000-0123456789ab")),
        ok("full-record", "A record with every field.", {
            let older = edit(&record(2), "2026-01-15", "2026-01-02");
            Alf::of(&[older, doc::plain(&doc::record())]).bytes()
        }),
        ok(
            "null-times",
            "A time that is null is a time that is absent.",
            Alf::of(&[edit(
                &record(1),
                r#""created_at":"2026-01-15T10:00:00Z""#,
                r#""created_at":"2026-01-15T10:00:00Z","updated_at":null,"valid_until":null"#,
            )])
            .bytes(),
        ),
        ok(
            "nanoseconds",
            "Times may have an offset and nine digits of a second.",
            Alf::of(&[edit(&record(1), "10:00:00Z", "10:00:00.123456789+05:45")]).bytes(),
        ),
        ok("crlf-lines", "Lines of a partition may end in CR LF.", {
            Alf::of_bytes(two().map(|line| line + "\r\n").concat()).bytes()
        }),
        ok(
            "blank-lines",
            "Blank lines in a partition are not records.",
            Alf::of_bytes(format!("\n{}\n\n  \t\n{}\n\n", record(1), record(2))).bytes(),
        ),
        ok(
            "no-final-newline",
            "The last line of a partition need not end with a line feed.",
            Alf::of_bytes(two().join("\n")).bytes(),
        ),
        ok(
            "line-separator",
            "U+2028, U+2029 and U+0085 in a text do not end a line of JSONL.",
            Alf::of(&[edit(&record(1), "Note 1.", "one\u{2028}two\u{2029}three\u{85}four")])
                .bytes(),
        ),
        ok(
            "escaped-text",
            "Text may be escaped, beyond the basic plane by two escapes.",
            Alf::of(&[edit(&record(1), "Note 1.", r"\/ \u00E9 \uD83E\uDD80")]).bytes(),
        ),
        ok(
            "nul-in-text",
            "U+0000 in a text is text.",
            Alf::of(&[edit(&record(1), "Note 1.", r"a\u0000b")]).bytes(),
        ),
        ok(
            "unsorted-records",
            "Records of a partition may be in any order.",
            Alf::of(&[record(2), edit(&record(1), "2026-01-15", "2026-01-02")]).bytes(),
        ),
        ok(
            "dangling-reference",
            "A record may replace and name records that do not exist.",
            Alf::of(&[record_with(&format!(
                r#""supersedes":"{}","related_records":[{{"id":"{}","relation":"caused_by"}}]"#,
                id(8),
                id(9)
            ))])
            .bytes(),
        ),
        ok(
            "nested-100",
            "JSON that is nested 100 levels deep.",
            Alf::of(&[record_with(&nested)]).bytes(),
        ),
        ok("long-line", "A record of a megabyte.", {
            let one = Alf::of(&[long]);
            one.with_item(PARTITION, |item| Item::deflated(PARTITION, item.data)).bytes()
        }),
    ]
}

fn dialects() -> Vec<Vector> {
    vec![
        ok(
            "partition-beside-index",
            "A partition may have any path that the manifest names, here `memory/2026-Q1.jsonl`.",
            Alf::new()
                .partition(Partition {
                    file: "memory/2026-Q1.jsonl".to_owned(),
                    ..Partition::first_quarter(record(1) + "\n")
                })
                .bytes(),
        ),
        ok(
            "missing-index",
            "The manifest names an index that other tools never write.",
            Alf::of(&[record(1)]).without_index().bytes(),
        ),
        ok(
            "checksum-of-nothing-listed",
            "A checksum without a list of entries, so that nobody knows what it covers.",
            Alf::of(&[record(1)])
                .field("checksum", &format!(r#""sha256:{}""#, "0123456789abcdef".repeat(4)))
                .bytes(),
        ),
        ok(
            "wrapped-identity",
            "The persona may be wrapped in an object that is named after its layer.",
            doc::with_identity(&format!(
                "{{\"identity\":{}}}\n",
                doc::plain(doc::IDENTITY).trim_end()
            ))
            .bytes(),
        ),
        ok(
            "foreign-index",
            "The schemas do not say what an index looks like, so another tool has its own.",
            Alf::of(&[record(1)])
                .with_item(INDEX, |_| Item::stored(INDEX, "{\"2026-Q1\":{\"records\":1}}\n"))
                .bytes(),
        ),
    ]
}

fn deltas() -> Vec<Vector> {
    let delta_ok =
        |name, behaviour, zip: Zip| Vector::delta(Class::Ok, name, behaviour, zip.bytes());
    let deleted = edit(&record(3), "active", "deleted");
    let tombstone = edit(&deleted, "Note 3.", "[deleted]");
    let lines = operation("create", &record(1))
        + &operation("update", &record(2))
        + &operation("delete", &tombstone);
    let dialect = operation("delete", &deleted);
    vec![
        delta_ok(
            "delta",
            "A delta creates, updates and deletes a record.",
            Zip::new(delta(&lines)),
        ),
        delta_ok(
            "delta-manifest-dialect",
            "Another tool writes `delta-manifest.json`, no new sequence and deleted text.",
            Zip::new(vec![
                Item::stored("memory/delta.jsonl", &dialect),
                Item::stored(
                    "delta-manifest.json",
                    edit(&delta_manifest(&dialect), r#""new_sequence":4"#, r#""new_sequence":0"#),
                ),
            ]),
        ),
        delta_ok(
            "delta-operation-last",
            "The operation may be anywhere among the fields of a record.",
            Zip::new(delta(&(record_with(r#""operation":"create""#) + "\n"))),
        ),
        delta_ok(
            "delta-of-nothing",
            "A delta may change nothing.",
            Zip::new(vec![Item::stored(
                MANIFEST,
                edit(
                    &delta_manifest(""),
                    r#"{"memory":{"file":"memory/delta.jsonl","record_count":0}}"#,
                    "{}",
                ),
            )]),
        ),
    ]
}

fn containers() -> Vec<Vector> {
    let one = Alf::of(&[record(1)]);
    let soul = Alf::with_soul();
    let each = |alf: &Alf, change: fn(Item) -> Item| {
        Zip::new(alf.items().into_iter().map(change).collect()).bytes()
    };
    let deflated = |item: Item| {
        let name = item.central.map(|header| header.name).unwrap_or_default();
        Item::deflated(name, item.data)
    };
    let folders = ["memory/", "memory/partitions/", "raw/", "raw/openclaw/", "raw/openclaw/empty/"];
    let crab = "raw/openclaw/memory/蟹 ノート.md";
    vec![
        ok("stored", "Entries that are not compressed.", soul.bytes()),
        ok("deflated", "Entries that are deflated.", each(&soul, deflated)),
        ok(
            "descriptor-signed",
            "Sizes follow the data, in descriptors with their signature.",
            each(&soul, |item| item.described(Signature::Present, Width::Narrow)),
        ),
        ok(
            "descriptor-unsigned",
            "Sizes follow the data, in descriptors without a signature.",
            each(&soul, |item| item.described(Signature::Absent, Width::Narrow)),
        ),
        ok(
            "zip64-end",
            "The end record sends the reader to its ZIP64 form.",
            Zip { zip64: Some(Zip64::default()), ..one.zip() }.bytes(),
        ),
        ok(
            "zip64-end-repeated",
            "The end record says what its ZIP64 form says.",
            Zip { zip64: Some(Zip64 { repeated: true, ..Zip64::default() }), ..one.zip() }.bytes(),
        ),
        ok(
            "zip64-sizes",
            "Sizes are in ZIP64 extra fields, though they are small.",
            each(&one, Item::wide),
        ),
        ok(
            "zip64-offset",
            "An offset is in a ZIP64 extra field, though it is small.",
            one.with_item(PARTITION, |mut item| {
                item.offset = Some(u32::MAX);
                item.central(|header| header.extra = extra(1, &0_u64.to_le_bytes()))
            })
            .bytes(),
        ),
        ok(
            "zip64-descriptor",
            "A data descriptor has sizes of 64 bits, as the ZIP64 extra fields announce.",
            one.with_item(PARTITION, |item| {
                item.described(Signature::Present, Width::Wide)
                    .central(|header| {
                        let sizes = [u64::from(header.size), u64::from(header.packed_size)];
                        header.extra = extra(1, &sizes.map(u64::to_le_bytes).concat());
                        (header.size, header.packed_size) = (u32::MAX, u32::MAX);
                    })
                    .local(|header| {
                        header.extra = extra(1, &[0; 16]);
                        (header.size, header.packed_size) = (u32::MAX, u32::MAX);
                    })
            })
            .bytes(),
        ),
        ok("folders", "Folders have entries of their own, as `zip -r` makes them.", {
            let folders = folders.iter().map(|name| Item::folder(name));
            Zip::new(folders.chain(soul.items()).collect()).bytes()
        }),
        ok(
            "directory-order",
            "The directory lists entries in another order than they are stored in.",
            Zip { reversed_directory: true, ..soul.zip() }.bytes(),
        ),
        ok(
            "utf8-name",
            "A name in UTF-8, with the flag for it.",
            soul.clone().file(crab, "Hermit.\n").bytes(),
        ),
        ok(
            "utf8-name-in-extra-field",
            "A name in UTF-8 without the flag, repeated in the extra field 0x7075.",
            soul.clone()
                .file(crab, "Hermit.\n")
                .with_item(crab, |item| {
                    item.both(|header| {
                        header.flags &= !UTF8;
                        header.extra = unicode_path(crab.as_bytes(), crab.as_bytes());
                    })
                })
                .bytes(),
        ),
        ok(
            "foreign-comment",
            "A comment that is not a seal.",
            Zip { comment: b"Backed up on a Sunday.".to_vec(), ..one.zip() }.bytes(),
        ),
        ok(
            "timestamp-extra-field",
            "Extra fields that say nothing about name or size.",
            each(&one, |item| item.both(|header| header.extra = extra(0x5455, &[1, 0, 0, 0, 0]))),
        ),
        ok(
            "made-on-dos",
            "Entries made on a system without Unix modes.",
            each(&one, |mut item| {
                (item.made_by, item.attributes) = (20, 0x20);
                item
            }),
        ),
        ok(
            "setuid-mode",
            "A mode with the setuid bit in a ZIP header, which no reader should apply.",
            soul.with_item(SOUL, |item| item.mode(0o104_755)).bytes(),
        ),
        ok(
            "compressible-file",
            "A small file may shrink a thousandfold.",
            soul.and_item(Item::deflated("raw/openclaw/zeros.bin", vec![0; 1 << 20])).bytes(),
        ),
        ok("manifest-first", "The manifest may be the first entry.", {
            let mut items = one.items();
            items.rotate_right(1);
            Zip::new(items).bytes()
        }),
    ]
}
