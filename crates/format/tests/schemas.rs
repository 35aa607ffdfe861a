//! The schemas under `schemas/` are those of the types, and what we write fits the official ones.

#![expect(clippy::unwrap_used, reason = "a test that fails should say where")]
#![expect(clippy::disallowed_methods, reason = "a test looks for what it is run with")]

use std::io::{Cursor, Read as _};
use std::path::{Path, PathBuf};

use anemone_format::{Archive, Limits, SchemaDocument, Snapshot, schema_of, write_delta};
use anemone_testkit::sample;
use serde_json::Value;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

#[test]
fn the_published_schemas_are_those_of_the_types() {
    for document in SchemaDocument::ALL {
        let path = root().join("schemas").join(format!("{}.schema.json", document.name()));
        let mut made = serde_json::to_string_pretty(&schema_of(document)).unwrap();
        made.push('\n');
        if std::env::var_os("ANEMONE_UPDATE").is_some() {
            fs_err::write(&path, &made).unwrap();
        }
        let kept = fs_err::read_to_string(&path).unwrap();
        assert!(kept == made, "{path:?} is out of date: run it with ANEMONE_UPDATE=1");
    }
}

#[test]
fn what_we_write_fits_our_own_schemas() {
    check_all(|name| {
        let document =
            SchemaDocument::ALL.into_iter().find(|document| document.name() == name).unwrap();
        schema_of(document)
    });
}

#[test]
fn what_we_write_fits_the_official_schemas() {
    let Some(shared) = anemone_testkit::shared("schemas") else { return };
    check_all(|name| {
        let text = fs_err::read_to_string(shared.join(format!("{name}.schema.json"))).unwrap();
        let mut schema: Value = serde_json::from_str(&text).unwrap();
        // Ids are UUIDs of any version here: see docs/decisions/004-record-ids.md.
        if let Some(id) = schema.pointer_mut("/properties/id").and_then(Value::as_object_mut) {
            id.remove("pattern");
        }
        schema
    });
}

/// Writes the sample and the delta to its later state, and checks every document and line.
fn check_all(schema: impl Fn(&str) -> Value) {
    let check = |name: &str, place: &str, bytes: &[u8]| {
        let options = jsonschema::options().should_validate_formats(true);
        let validator = options.build(&schema(name)).unwrap();
        let value: Value = serde_json::from_slice(bytes).unwrap();
        let faults: Vec<String> = validator
            .iter_errors(&value)
            .map(|fault| format!("{place}#{}: {fault}", fault.instance_path()))
            .collect();
        assert!(faults.is_empty(), "{faults:#?}");
    };
    let (march, april) = (write(&sample::agent()), write(&sample::agent_a_month_later()));
    let (base, target) = (open(&march), open(&april));
    let spool = || Box::new(Cursor::new(Vec::new()));
    let (delta, written) = write_delta(&base, &target, Vec::new(), spool(), 1).unwrap();
    assert!(!written.comparison.is_empty());
    let mut checked = 0;
    for (file, manifest) in [(&april, "manifest"), (&delta, "delta-manifest")] {
        for (path, bytes) in entries(file) {
            let name = match path.as_str() {
                "manifest.json" => manifest,
                "identity.json" => "identity",
                "principals.json" => "principals",
                "credentials.json" => "credentials",
                "attachments.json" => "attachments",
                path if path.starts_with("memory/") && path.ends_with(".jsonl") => {
                    for line in bytes.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()) {
                        check("memory-record", path, line);
                        checked += 1;
                    }
                    continue;
                }
                _ => continue,
            };
            check(name, &path, &bytes);
            checked += 1;
        }
    }
    assert!(checked > 30, "only {checked} documents were checked");
}

fn write(snapshot: &Snapshot) -> Vec<u8> {
    snapshot.write(Vec::new(), Box::new(Cursor::new(Vec::new())), 1).unwrap().0
}

fn open(bytes: &[u8]) -> Archive {
    Archive::open(Box::new(bytes.to_vec()), bytes.len() as u64, &Limits::default()).unwrap()
}

/// Unpacks a ZIP without any of our code.
fn entries(file: &[u8]) -> Vec<(String, Vec<u8>)> {
    let zip = rawzip::ZipArchive::from_slice(file).unwrap();
    let mut entries = zip.entries();
    let mut unpacked = Vec::new();
    while let Some(entry) = entries.next_entry().unwrap() {
        let name = String::from_utf8(entry.file_path().as_ref().to_vec()).unwrap();
        let packed = zip.get_entry(entry.wayfinder()).unwrap().data();
        let mut bytes = Vec::new();
        match entry.compression_method() {
            rawzip::CompressionMethod::STORE => bytes.extend_from_slice(packed),
            _ => drop(flate2::read::DeflateDecoder::new(packed).read_to_end(&mut bytes).unwrap()),
        }
        unpacked.push((name, bytes));
    }
    unpacked
}
