//! Damage of every kind to an archive of 64 KiB and to a delta, and malicious archives.
//!
//! The seal covers every byte before the comment, and the comment is the seal; so no mutant is
//! harmless, and all of them must be detected. A mutant with a corrected seal passes that check and
//! shows what the other checks detect: it is rejected, or the change is meaningless (a time in a
//! header, a spare bit) and the same snapshot is read from it.

#![expect(clippy::unwrap_used, reason = "a test that fails should say where")]

use std::io::Cursor;
use std::sync::LazyLock;
use std::sync::atomic::{AtomicUsize, Ordering};

use anemone_format::{
    AgentId, ApplyDeltaError, Archive, CompareError, Comparison, Delta, File, FileRoot, Limits,
    NameFault, Node, Report, Snapshot, WriteArchiveError, apply_delta, find_damage, sha256_hex,
    validate, write_delta,
};
use anemone_testkit::{SlowGroup, bulk, sample, skip};

/// No mutant.
const NONE: [usize; 0] = [];

const SEAL_PREFIX: &str = "alf-seal:sha256:";
const SEAL_BYTES: usize = SEAL_PREFIX.len() + 64;

static ARCHIVE: LazyLock<Vec<u8>> = LazyLock::new(|| write(&snapshot()));
static BASE: LazyLock<Vec<u8>> = LazyLock::new(|| write(&sample::agent()));
static TARGET: LazyLock<Vec<u8>> = LazyLock::new(|| write(&sample::agent_a_month_later()));
static DELTA: LazyLock<Vec<u8>> = LazyLock::new(|| delta_between(&BASE, &TARGET));

/// The sample agent, with other daily logs: as many as make an archive of 64 KiB.
fn snapshot() -> Snapshot {
    let mut snapshot = sample::agent();
    // A few long logs instead of many short ones, and few of their records: an unoptimised test has
    // no time for more.
    snapshot.files.retain(|file| !file.path.starts_with(b"memory/2026-"));
    for day in bulk::bulk(1, 214) {
        snapshot.files.push(day.file());
        snapshot.records.extend(day.records.into_iter().take(5));
    }
    snapshot.sort();
    snapshot
}

fn spool() -> Box<Cursor<Vec<u8>>> {
    Box::default()
}

fn write(snapshot: &Snapshot) -> Vec<u8> {
    snapshot.write(Vec::new(), spool(), 1).unwrap().0
}

fn open(bytes: &[u8]) -> Archive {
    Archive::open(Box::new(bytes.to_vec()), bytes.len() as u64, &Limits::default()).unwrap()
}

fn delta_between(base: &[u8], target: &[u8]) -> Vec<u8> {
    write_delta(&open(base), &open(target), Vec::new(), spool(), 1).unwrap().0
}

fn check(bytes: Vec<u8>) -> Report {
    let length = bytes.len() as u64;
    validate(Box::new(bytes), length, &Limits::default())
}

/// Creates mutants by their number, on every core; returns those that are reported as valid. The
/// default suite creates one in seven.
fn valid_ones(mutants: usize, mutant: impl Fn(usize) -> Vec<u8> + Sync) -> Vec<usize> {
    let next = AtomicUsize::new(0);
    let step = SlowGroup::Damage.pick(7, 1);
    let work = || {
        let numbers = std::iter::repeat_with(|| next.fetch_add(step, Ordering::Relaxed));
        let numbers = numbers.take_while(|number| *number < mutants);
        numbers.filter(|number| check(mutant(*number)).is_valid()).collect::<Vec<_>>()
    };
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| {
        let workers: Vec<_> = (0..threads).map(|_| scope.spawn(work)).collect();
        workers.into_iter().flat_map(|worker| worker.join().unwrap()).collect()
    })
}

fn flip(bytes: &[u8], at: usize, mask: u8) -> Vec<u8> {
    let mut mutant = bytes.to_vec();
    mutant[at] ^= mask;
    mutant
}

/// Replaces the existing seal by the right one.
fn reseal(mut bytes: Vec<u8>) -> Vec<u8> {
    bytes.truncate(bytes.len() - SEAL_BYTES);
    let digest = sha256_hex(&bytes);
    bytes.extend_from_slice(SEAL_PREFIX.as_bytes());
    bytes.extend_from_slice(digest.as_bytes());
    bytes
}

/// Asserts that the peak memory of this process stays far below that of a laptop.
fn assert_little_memory() {
    let Ok(status) = fs_err::read_to_string("/proc/self/status") else {
        skip("proc", "the peak of memory is read from /proc, which is not here");
        return;
    };
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    let kilobytes: u64 = peak.trim().trim_end_matches(" kB").parse().unwrap();
    assert!(kilobytes < 256 << 10, "{kilobytes} kB");
}

#[test]
fn the_originals_are_valid() {
    assert!(ARCHIVE.len().abs_diff(64 << 10) < 2 << 10, "{} bytes", ARCHIVE.len());
    assert!(check(ARCHIVE.clone()).is_valid());
    assert!(check(DELTA.clone()).is_valid());
    assert_eq!(reseal(ARCHIVE.clone()), *ARCHIVE);
}

#[test]
fn damage_is_named_by_its_entry() {
    let find = |bytes: Vec<u8>| {
        let length = bytes.len() as u64;
        let found = find_damage(Box::new(bytes), length, &Limits::default());
        found.into_iter().map(|file| file.path).collect::<Vec<_>>()
    };
    let entry = "raw/openclaw/MEMORY.md";
    let name = ARCHIVE.windows(entry.len()).position(|window| window == entry.as_bytes()).unwrap();
    assert_eq!(find(flip(&ARCHIVE, name + entry.len() + 60, 1)), [entry]);
    assert_eq!(find(flip(&ARCHIVE, ARCHIVE.len() - 1, 1)), [""], "the seal itself");
    assert_eq!(find(ARCHIVE.clone()), [] as [&str; 0]);
    assert_eq!(find(b"no archive".to_vec()), [] as [&str; 0]);
}

#[test]
fn every_flipped_byte_of_an_archive_is_noticed() {
    assert_eq!(valid_ones(ARCHIVE.len(), |at| flip(&ARCHIVE, at, 0xff)), NONE);
    assert_little_memory();
}

#[test]
fn every_flipped_byte_of_a_delta_is_noticed() {
    for mask in [0xff, 0x01] {
        assert_eq!(valid_ones(DELTA.len(), |at| flip(&DELTA, at, mask)), NONE);
    }
    assert_little_memory();
}

#[test]
fn every_flipped_bit_of_a_delta_without_changes_is_noticed() {
    let delta = delta_between(&BASE, &BASE);
    assert_eq!(valid_ones(delta.len() * 8, |n| flip(&delta, n / 8, 1 << (n % 8))), NONE);
}

#[test]
fn every_truncation_is_noticed() {
    for bytes in [&*ARCHIVE, &*DELTA] {
        assert_eq!(valid_ones(bytes.len(), |length| bytes[..length].to_vec()), NONE);
    }
    assert_little_memory();
}

#[test]
fn splices_and_swaps_are_noticed() {
    for bytes in [&*ARCHIVE, &*DELTA] {
        let splice = |number| splice(bytes, &mut Random(number as u64));
        let mut same = valid_ones(10_000, splice);
        // A mutant that only lost its seal has the same content, and a warning reports it.
        let is_sealed = |number: &usize| {
            let spliced = splice(*number);
            let prefix = SEAL_PREFIX.as_bytes();
            spliced != *bytes && spliced.windows(prefix.len()).any(|window| window == prefix)
        };
        same.retain(is_sealed);
        assert_eq!(same, NONE);
    }
    assert_little_memory();
}

/// Steele, Lea and Flood's splitmix64.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    fn below(&mut self, bound: usize) -> usize {
        usize::try_from(self.next() % bound as u64).unwrap()
    }
}

/// Copies, swaps, repeats or removes a part, of a byte or of much more.
fn splice(bytes: &[u8], random: &mut Random) -> Vec<u8> {
    let mut mutant = bytes.to_vec();
    let most = 1 << random.below(15);
    let length = (1 + random.below(most)).min(bytes.len() / 2);
    let from = random.below(bytes.len() - length + 1);
    let to = random.below(bytes.len() - length + 1);
    let part = bytes[from..from + length].to_vec();
    match random.below(4) {
        0 => mutant[to..to + length].copy_from_slice(&part),
        1 => {
            let (first, second) = (from.min(to), from.max(to));
            let apart = length.min(second - first);
            let (head, tail) = mutant.split_at_mut(second);
            head[first..first + apart].swap_with_slice(&mut tail[..apart]);
        }
        2 => drop(mutant.splice(to..to, part)),
        _ => drop(mutant.drain(from..from + length)),
    }
    mutant
}

#[test]
fn an_archive_that_was_changed_and_sealed_again_is_refused_or_holds_the_same() {
    let original = snapshot();
    let mutant = |number: usize| reseal(flip(&ARCHIVE, number * 7, 0xff));
    let mutants = (ARCHIVE.len() - SEAL_BYTES).div_ceil(7);
    let harmless = valid_ones(mutants, mutant);
    for number in &harmless {
        let same = Snapshot::read(&open(&mutant(*number))).unwrap() == original;
        assert!(same, "byte {}", number * 7);
    }
    println!("{mutants} archives changed and sealed again: {} harmless", harmless.len());
    assert_little_memory();
}

#[test]
fn a_delta_that_was_changed_and_sealed_again_is_refused_or_does_the_same() {
    let base = open(&BASE);
    let mutant = |number: usize| reseal(flip(&DELTA, number * 3, 0xff));
    let mutants = (DELTA.len() - SEAL_BYTES).div_ceil(3);
    let harmless = valid_ones(mutants, mutant);
    for number in &harmless {
        let bytes = mutant(*number);
        let length = bytes.len() as u64;
        let delta = Delta::open(Box::new(bytes), length, &Limits::default()).unwrap();
        let (result, _) = apply_delta(&base, &delta, Vec::new(), spool(), 1).unwrap();
        assert!(result == *TARGET, "byte {}", number * 3);
    }
    println!("{mutants} deltas changed and sealed again: {} harmless", harmless.len());
    assert_little_memory();
}

#[test]
fn a_name_is_refused_or_comes_back() {
    let raw = |path: &str| File::new(FileRoot::Raw("openclaw".to_owned()), path, "x");
    let other = |path: &str| File::new(FileRoot::Other, path, "x");
    let link = |path: &str| File { node: Node::Symlink(b"x".to_vec()), ..raw(path) };
    let folder = |path: &str| File { node: Node::Folder, ..raw(path) };
    let of = |runtime: &str| File::new(FileRoot::Raw(runtime.to_owned()), "x", "x");
    for (fault, files) in [
        (None, [folder("a"), raw("a/b")]),
        (None, [raw("A"), raw("a/b/c")]),
        (None, [raw("10:30 notes.md"), raw("10:30 \u{e9}.md")]),
        (None, [raw(&"X".repeat(255)), raw(&"x".repeat(255))]),
        (None, [raw(&format!("c:{}", "x".repeat(253))), raw("c%3A")]),
        (None, [other("manifest.json"), other("delta-manifest.json")]),
        (None, [other("IDENTITY.json"), other("memory/index.json")]),
        (None, [other("memory/partitions/2026-Q1.jsonl"), other("memory/partitions/x")]),
        (None, [other("memory/delta.jsonl"), other("splice/raw/openclaw/x")]),
        (None, [other("raw"), other("RAW/openclaw")]),
        (None, [other("raw/openclaw/y"), raw("x")]),
        (None, [other("artifacts/x"), of("OpenClaw")]),
        (Some(NameFault::Control), [raw("a\0b"), raw("a")]),
        (Some(NameFault::BelowFile), [raw("a"), raw("a/b")]),
        (Some(NameFault::BelowFile), [link("a"), raw("a/b/c")]),
        (Some(NameFault::Reserved), [of("con"), raw("a")]),
        (Some(NameFault::Parent), [of("a/b"), raw("a")]),
    ] {
        let mut snapshot = sample::agent();
        snapshot.attachments = None;
        snapshot.files = files.to_vec();
        snapshot.sort();
        match (snapshot.write(Vec::new(), spool(), 1), fault) {
            (Ok((bytes, _)), None) => {
                assert_eq!(Snapshot::read(&open(&bytes)).unwrap(), snapshot);
                assert_eq!(check(bytes).errors, []);
            }
            (Err(WriteArchiveError::Path { fault: is, .. }), Some(fault)) => assert_eq!(is, fault),
            (result, _) => panic!("{files:?}: {:?}", result.map(|_| ())),
        }
    }
}

/// A container built by hand: its headers are set by the test.
#[derive(Default)]
struct Zip {
    bytes: Vec<u8>,
    directory: Vec<u8>,
    entries: u64,
}

const STORED: u16 = 0;
const DEFLATED: u16 = 8;

/// What an entry claims about itself, which may be false.
struct Claim {
    method: u16,
    crc: u32,
    size: u64,
    packed_size: u64,
}

impl Zip {
    fn stored(&mut self, name: &str, content: &[u8]) {
        let size = content.len() as u64;
        let claim =
            Claim { method: STORED, crc: crc32fast::hash(content), size, packed_size: size };
        self.add(name, content, &claim);
    }

    fn deflated(&mut self, name: &str, packed: &[u8], crc: u32, size: u64) {
        let packed_size = packed.len() as u64;
        self.add(name, packed, &Claim { method: DEFLATED, crc, size, packed_size });
    }

    fn add(&mut self, name: &str, packed: &[u8], claim: &Claim) {
        let offset = u32::try_from(self.bytes.len()).unwrap();
        let wide = claim.size.max(claim.packed_size) >= u64::from(u32::MAX);
        let short = |size: u64| if wide { u32::MAX } else { u32::try_from(size).unwrap() };
        let mut extra = Vec::new();
        if wide {
            extra.extend([1, 0, 16, 0]);
            extra.extend(claim.size.to_le_bytes());
            extra.extend(claim.packed_size.to_le_bytes());
        }
        let mut common = [45_u16, 0, claim.method, 0, 0x21].map(u16::to_le_bytes).concat();
        let sizes = [claim.crc, short(claim.packed_size), short(claim.size)];
        common.extend(sizes.map(u32::to_le_bytes).concat());
        let lengths =
            [name.len(), extra.len()].map(|length| u16::try_from(length).unwrap().to_le_bytes());
        common.extend(lengths.concat());
        let names = [name.as_bytes(), &extra].concat();
        self.bytes.extend([&b"PK\x03\x04"[..], &common, &names, packed].concat());
        self.directory.extend([&b"PK\x01\x02\x2d\x03"[..], &common, &[0; 10]].concat());
        self.directory.extend(offset.to_le_bytes());
        self.directory.extend(names);
        self.entries += 1;
    }

    fn finish(mut self) -> Vec<u8> {
        let offset = self.bytes.len() as u64;
        let size = self.directory.len() as u64;
        self.bytes.append(&mut self.directory);
        let wide_end = self.bytes.len() as u64;
        self.bytes.extend(b"PK\x06\x06\x2c\0\0\0\0\0\0\0\x2d\x03\x2d\0\0\0\0\0\0\0\0\0");
        for field in [self.entries, self.entries, size, offset] {
            self.bytes.extend(field.to_le_bytes());
        }
        self.bytes.extend(b"PK\x06\x07\0\0\0\0");
        self.bytes.extend(wide_end.to_le_bytes());
        self.bytes.extend(b"\x01\0\0\0PK\x05\x06\0\0\0\0");
        self.bytes.extend([0xff; 12]);
        self.bytes.extend(b"\0\0");
        self.bytes
    }

    fn finish_sealed(self) -> Vec<u8> {
        let mut bytes = self.finish();
        bytes.truncate(bytes.len() - 2);
        bytes.extend(u16::try_from(SEAL_BYTES).unwrap().to_le_bytes());
        bytes.extend([0; SEAL_BYTES]);
        reseal(bytes)
    }
}

/// Deflates a block once and repeats it, which is one stream; returns it with its CRC.
fn deflate_repeated(block: &[u8], times: usize) -> (Vec<u8>, u32) {
    let mut deflate = flate2::Compress::new(flate2::Compression::best(), false);
    let mut packed = Vec::with_capacity(block.len() + 1024);
    deflate.compress_vec(block, &mut packed, flate2::FlushCompress::Full).unwrap();
    let (mut stream, mut crc) = (packed.repeat(times), crc32fast::Hasher::new());
    // The last block of the stream is empty.
    stream.extend([3, 0]);
    let mut once = crc32fast::Hasher::new();
    once.update(block);
    (0..times).for_each(|_| crc.combine(&once));
    (stream, crc.finalize())
}

/// Asserts that it is rejected within a second of this thread's time, though the code is not
/// optimised.
#[track_caller]
fn assert_refused(bytes: Vec<u8>, word: &str) {
    let worked = || fs_err::read_to_string("/proc/thread-self/schedstat").ok();
    let nanoseconds = |text: String| text.split(' ').next().unwrap().parse::<u64>().unwrap();
    let before = worked().map(nanoseconds);
    let report = check(bytes);
    let after = worked().map(nanoseconds);
    let messages: Vec<&str> = report.errors.iter().map(|error| error.message.as_str()).collect();
    assert!(messages.iter().any(|message| message.contains(word)), "{messages:?}");
    if let (Some(before), Some(after)) = (before, after) {
        let milliseconds = (after - before) / 1_000_000;
        assert!(milliseconds < 1000, "{milliseconds} ms");
    } else {
        skip("proc", "the time is read from /proc, which is not here");
    }
}

#[test]
fn an_entry_that_announces_a_terabyte_is_refused() {
    for (method, size, packed_size, word) in [
        (STORED, 1 << 40, 1 << 40, "inflates to more than"),
        (STORED, 1 << 37, 1 << 37, "overlaps"),
        (STORED, 1 << 40, 3, "two sizes"),
        (DEFLATED, 1 << 40, 3, "bomb"),
        (DEFLATED, 1 << 37, 1 << 37, "overlaps"),
    ] {
        for name in ["manifest.json", "raw/openclaw/SOUL.md"] {
            let mut zip = Zip::default();
            zip.add(name, &[1, 2, 3], &Claim { method, crc: 0, size, packed_size });
            assert_refused(zip.finish(), word);
        }
    }
    assert_little_memory();
}

#[test]
fn a_quarter_of_a_million_entries_are_refused() {
    let mut zip = Zip::default();
    for number in 0..250_000 {
        zip.stored(&format!("raw/x/{number}"), b"");
    }
    zip.entries = 1;
    let few_announced = Zip { bytes: zip.bytes.clone(), directory: zip.directory.clone(), ..zip };
    zip.entries = 250_000;
    assert_refused(zip.finish(), "more than 100000");
    assert_refused(few_announced.finish(), "another number of entries");
    assert_little_memory();
}

#[test]
fn a_list_of_very_many_links_is_refused_before_it_is_kept() {
    let mut manifest = serde_json::to_string(&snapshot().manifest).unwrap();
    manifest.pop();
    let links = "{\"path\":\"l\",\"kind\":\"symlink\"},".repeat(300_000);
    let text = format!("{manifest},\"entries\":[{}]}}", links.trim_end_matches(','));
    let mut zip = Zip::default();
    zip.stored("manifest.json", text.as_bytes());
    assert_refused(zip.finish(), "300000 entries, more than 100000");
    assert_little_memory();
}

#[test]
fn archives_in_which_very_many_files_differ_are_not_compared() {
    let mut snapshot = sample::agent();
    for number in 0..40_001 {
        let path = format!("plans/{number}.txt");
        snapshot.files.push(File::new(FileRoot::Raw("openclaw".to_owned()), &path, "x"));
    }
    snapshot.sort();
    let compared = Comparison::of(&open(&BASE), &open(&write(&snapshot)));
    assert!(matches!(compared, Err(CompareError::TooManyFiles)), "{:?}", compared.err());
}

#[test]
fn names_of_more_than_four_mebibytes_are_refused() {
    let mut zip = Zip::default();
    for number in 0..1100 {
        zip.stored(&format!("{number}/{}", "long-name/".repeat(400)), b"");
    }
    assert_refused(zip.finish(), "names of the entries");
    assert_little_memory();
}

#[test]
fn bombs_are_refused_whole_or_in_pieces_or_in_disguise() {
    let (packed, crc) = deflate_repeated(&vec![0; 1 << 20], 1024);
    for name in ["manifest.json", "raw/openclaw/zeros.bin"] {
        let mut whole = Zip::default();
        whole.deflated(name, &packed, crc, 1 << 30);
        assert_refused(whole.finish(), "bomb");
    }
    let mut disguised = Zip::default();
    disguised.deflated("manifest.json", &packed, crc, 9 << 20);
    assert_refused(disguised.finish(), "the size of the content is not the announced one");

    let (packed, crc) = deflate_repeated(&vec![0; 1 << 20], 9);
    let mut pieces = Zip::default();
    for number in 0..1000 {
        pieces.deflated(&format!("raw/x/{number}"), &packed, crc, 9 << 20);
    }
    assert_refused(pieces.finish(), "bomb");
    assert_little_memory();
}

#[test]
fn a_line_of_a_hundred_megabytes_is_refused() {
    let mut block = vec![b'x'; 1 << 20];
    let mut random = Random(1);
    block[..16 << 10].fill_with(|| b'a' + u8::try_from(random.below(26)).unwrap());
    let (packed, crc) = deflate_repeated(&block, 100);
    let mut zip = Zip::default();
    let mut manifest = snapshot().manifest;
    manifest.layers = serde_json::from_str(
        r#"{"memory":{"record_count":1,"index_file":"memory/index.json","partitions":[
        {"file":"memory/partitions/2026-Q1.jsonl","from":"2026-01-01","record_count":1,"sealed":false}]}}"#,
    )
    .unwrap();
    zip.stored("manifest.json", &serde_json::to_vec(&manifest).unwrap());
    zip.deflated("memory/partitions/2026-Q1.jsonl", &packed, crc, 100 << 20);
    assert_refused(zip.finish(), "longer than");
    assert_little_memory();
}

#[test]
fn names_of_two_thousand_folders_cost_no_more_than_their_length() {
    let mut zip = Zip::default();
    for number in 0..100 {
        zip.stored(&format!("{number}/{}x", "x/".repeat(2040)), b"");
    }
    assert_refused(zip.finish(), "no manifest");
    assert_little_memory();
}

#[test]
fn a_great_many_unknown_fields_cost_no_more_than_their_length() {
    let mut manifest = serde_json::to_string(&snapshot().manifest).unwrap();
    manifest.pop();
    for number in 0..200_000 {
        manifest.push_str(&format!(",\"{number}\":0"));
    }
    manifest.push_str(",\"0\":0}");
    let mut zip = Zip::default();
    zip.stored("manifest.json", manifest.as_bytes());
    assert_refused(zip.finish(), "duplicate field");
    assert_little_memory();
}

#[test]
fn a_document_of_a_great_many_values_costs_little_memory() {
    let mut manifest = serde_json::to_string(&snapshot().manifest).unwrap();
    manifest.pop();
    for value in ["1", "[1]", "{\"\":1}"] {
        let values = format!("{value},").repeat(8_000_000 / (value.len() + 1));
        let text = format!("{manifest},\"purges\":[{values}1]}}");
        let mut zip = Zip::default();
        zip.stored("manifest.json", text.as_bytes());
        assert_refused(zip.finish(), "");
    }
    assert_little_memory();
}

#[test]
fn a_delta_that_leads_to_another_agent_is_refused() {
    let length = DELTA.len() as u64;
    let delta = Delta::open(Box::new(DELTA.clone()), length, &Limits::default()).unwrap();
    let mut manifest = delta.manifest().clone();
    manifest.changes = serde_json::from_str("{}").unwrap();
    (manifest.entries, manifest.target_checksum) = (Vec::new(), None);
    manifest.target.as_mut().unwrap().agent.id = AgentId::new(uuid::Uuid::nil());
    let mut zip = Zip::default();
    zip.stored("manifest.json", &serde_json::to_vec(&manifest).unwrap());
    let bytes = zip.finish_sealed();
    assert_refused(bytes.clone(), "it is of agent 00000000");
    let length = bytes.len() as u64;
    let delta = Delta::open(Box::new(bytes), length, &Limits::default()).unwrap();
    let result = apply_delta(&open(&BASE), &delta, Vec::new(), spool(), 1);
    assert!(matches!(result, Err(ApplyDeltaError::WrongAgent { .. })));
}
