//! Damage of every kind to an archive of 64 KiB and to a delta, and archives that are made to
//! hurt.
//!
//! The seal covers every byte before the comment, and the comment is the seal; so no mutant can be
//! harmless, and all of them must be noticed. A mutant whose seal is made good again gets past
//! that and shows what the other checks are worth: it is refused, or what was changed means
//! nothing (a time in a header, a spare bit) and the same snapshot is read from it.

use std::io::Cursor;
use std::sync::LazyLock;
use std::sync::atomic::{AtomicUsize, Ordering};

use anemone_format::{
    Archive, Delta, Limits, Report, Snapshot, apply_delta, sha256_hex, validate, write_delta,
};
use anemone_testkit::{bulk, sample};

/// No mutant.
const NONE: [usize; 0] = [];

const SEAL_PREFIX: &str = "alf-seal:sha256:";
const SEAL_BYTES: usize = SEAL_PREFIX.len() + 64;

static ARCHIVE: LazyLock<Vec<u8>> = LazyLock::new(|| write(&snapshot()));
static BASE: LazyLock<Vec<u8>> = LazyLock::new(|| write(&sample::agent()));
static TARGET: LazyLock<Vec<u8>> = LazyLock::new(|| write(&sample::agent_a_month_later()));
static DELTA: LazyLock<Vec<u8>> = LazyLock::new(|| delta_between(&BASE, &TARGET));

/// The sample agent, with as many daily logs as make an archive of 64 KiB.
fn snapshot() -> Snapshot {
    let mut snapshot = sample::agent();
    for day in bulk::bulk(1, 104) {
        snapshot.files.push(day.file());
        snapshot.records.extend(day.records);
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

/// Makes mutants by their number, on every core; returns those that are said to be valid.
fn valid_ones(mutants: usize, mutant: impl Fn(usize) -> Vec<u8> + Sync) -> Vec<usize> {
    let next = AtomicUsize::new(0);
    let work = || {
        let numbers = std::iter::repeat_with(|| next.fetch_add(1, Ordering::Relaxed));
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

/// Puts the right seal in the place of the one that is there.
fn reseal(mut bytes: Vec<u8>) -> Vec<u8> {
    bytes.truncate(bytes.len() - SEAL_BYTES);
    let digest = sha256_hex(&bytes);
    bytes.extend_from_slice(SEAL_PREFIX.as_bytes());
    bytes.extend_from_slice(digest.as_bytes());
    bytes
}

/// The most memory that this process ever used stays far below what a laptop has.
fn assert_little_memory() {
    let Ok(status) = std::fs::read_to_string("/proc/self/status") else {
        eprintln!("skipped: the peak of memory is read from /proc, which is not here");
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
        same.retain(|number| splice(*number) != *bytes);
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
    let mutant = |at: usize| reseal(flip(&DELTA, at, 0xff));
    let mutants = DELTA.len() - SEAL_BYTES;
    let harmless = valid_ones(mutants, mutant);
    for at in &harmless {
        let bytes = mutant(*at);
        let length = bytes.len() as u64;
        let delta = Delta::open(Box::new(bytes), length, &Limits::default()).unwrap();
        let (result, _) = apply_delta(&base, &delta, Vec::new(), spool(), 1).unwrap();
        assert!(result == *TARGET, "byte {at}");
    }
    println!("{mutants} deltas changed and sealed again: {} harmless", harmless.len());
    assert_little_memory();
}
