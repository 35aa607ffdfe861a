//! What the fuzz targets share: small limits, and files made from the fuzzer's bytes.

use std::io::{Cursor, Write as _};

use anemone_format::{
    Archive, ArchiveKind, Limits, Report, Snapshot, apply_delta, sha256_hex, validate, write_delta,
};
use rawzip::{CompressionMethod, DataDescriptorOutput, ZipArchiveWriter};

const SEAL_PREFIX: &str = "alf-seal:sha256:";
const SEAL_BYTES: usize = SEAL_PREFIX.len() + 64;

/// Limits under which no input takes long.
pub fn limits() -> Limits {
    Limits {
        max_entries: 100,
        max_total_bytes: 4 << 20,
        ratio_free_bytes: 1 << 20,
        max_document_bytes: 1 << 20,
        max_line_bytes: 1 << 20,
        ..Limits::default()
    }
}

pub fn spool() -> Box<Cursor<Vec<u8>>> {
    Box::default()
}

pub fn check(bytes: &[u8]) -> Report {
    validate(Box::new(bytes.to_vec()), bytes.len() as u64, &limits())
}

/// Opens what must be an archive.
pub fn open(bytes: &[u8]) -> Archive {
    let length = bytes.len() as u64;
    Archive::open(Box::new(bytes.to_vec()), length, &Limits::default()).expect("it opens")
}

/// Checks a file. A valid archive can be read, written and read again, and a delta leads from the
/// one to the other.
pub fn check_file(bytes: &[u8]) {
    let report = check(bytes);
    let length = bytes.len() as u64;
    let Ok(archive) = Archive::open(Box::new(bytes.to_vec()), length, &limits()) else {
        assert!(!report.is_valid() || report.kind == Some(ArchiveKind::Delta));
        return;
    };
    let snapshot = Snapshot::read(&archive);
    if !report.is_valid() {
        if let Ok(snapshot) = snapshot {
            snapshot.write(Vec::new(), spool(), 1).ok();
        }
        return;
    }
    let snapshot = snapshot.expect("what is valid can be read");
    let (again, _) = snapshot.write(Vec::new(), spool(), 1).expect("and can be written");
    let read = Snapshot::read(&open(&again)).expect("and read again");
    assert_eq!(without_partitions(read), without_partitions(snapshot));
    let errors = validate(Box::new(again.clone()), again.len() as u64, &Limits::default()).errors;
    assert!(errors.is_empty(), "{errors:?}");
    let target = open(&again);
    let Ok((delta, _)) = write_delta(&archive, &target, Vec::new(), spool(), 1) else { return };
    let length = delta.len() as u64;
    let delta = anemone_format::Delta::open(Box::new(delta), length, &Limits::default());
    let delta = delta.expect("a delta that was written opens");
    let (result, _) = apply_delta(&archive, &delta, Vec::new(), spool(), 1).expect("and applies");
    assert!(result == again);
}

/// Forgets what is said of partitions: records of another tool may go to others.
fn without_partitions(mut snapshot: Snapshot) -> Snapshot {
    if let Some(memory) = &mut snapshot.manifest.layers.memory {
        memory.partitions.clear();
    }
    snapshot.manifest.blank();
    snapshot
}

/// Makes the seal right, where a comment of its length is at the end.
pub fn reseal(mut bytes: Vec<u8>) -> Vec<u8> {
    if let Some(end) = bytes.len().checked_sub(SEAL_BYTES) {
        let seal = format!("{SEAL_PREFIX}{}", sha256_hex(&bytes[..end]));
        bytes[end..].copy_from_slice(seal.as_bytes());
    }
    bytes
}

/// Makes a sealed container of entries that are divided by the byte 0xff; the name of an entry is
/// its first line. So the fuzzer need not find a CRC, and JSON stays text.
pub fn container(bytes: &[u8]) -> Option<Vec<u8>> {
    let mut zip = ZipArchiveWriter::new(Vec::new());
    for entry in bytes.split(|byte| *byte == 0xff) {
        let end = entry.iter().position(|byte| *byte == b'\n')?;
        let (name, content) = (std::str::from_utf8(&entry[..end]).ok()?, &entry[end + 1..]);
        let (mut writer, _) =
            zip.new_file(name).compression_method(CompressionMethod::STORE).start().ok()?;
        writer.write_all(content).ok()?;
        let crc = crc32fast::hash(content);
        writer.finish(DataDescriptorOutput::new(crc, content.len() as u64)).ok()?;
    }
    zip.set_comment(vec![b'0'; SEAL_BYTES]);
    Some(reseal(zip.finish().ok()?))
}
