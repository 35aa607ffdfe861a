//! The performance figures that we promise for search, measured in one run: CPU seconds, peak
//! memory, milliseconds.
//!
//! Each figure is measured in a separate process. Compare the ratios, not the seconds: machines
//! differ, and so does their load. Nothing is asserted here.
//!
//! ```text
//! cargo bench -p anemone-index --bench figures
//! cargo bench -p anemone-index --bench figures -- queries 1000000
//! cargo bench -p anemone-index --bench figures -- generate FOLDER 600
//! ```

#![expect(clippy::print_stdout, reason = "a benchmark prints its table")]
#![expect(clippy::disallowed_methods, reason = "a benchmark reads its own arguments, files, clock")]
#![expect(clippy::unwrap_used, reason = "a benchmark that fails should say where")]

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

use anemone_embed::{Builtin, Embedder};
use anemone_index::{
    DocumentSource, FolderSource, Index, MarkdownFolder, NoProgress, Replace, Request,
};
use anemone_testkit::notes::{GeneratedNote, notes};
use jiff::Timestamp;
use nix::sys::resource::{UsageWho, getrusage};

const SEED: u64 = 42;

fn main() {
    let args: Vec<String> = std::env::args().skip(1).filter(|arg| arg != "--bench").collect();
    let words: Vec<&str> = args.iter().map(String::as_str).collect();
    match words[..] {
        ["generate", folder, count] => generate(Path::new(folder), count.parse().unwrap()),
        ["build", folder] => build(Path::new(folder)),
        ["vectors", folder] => vectors(Path::new(folder)),
        ["scan", folder] => scan(Path::new(folder)),
        ["unchanged", folder] => unchanged(Path::new(folder)),
        ["ask", folder, count] => ask(Path::new(folder), count.parse().unwrap()),
        ["change", folder] => change(Path::new(folder)),
        ["queries", count] => queries(count.parse().unwrap()),
        _ => run_all(),
    }
}

fn run_all() {
    for (label, count) in [("1,000 notes", 1_000), ("12,000 notes", 12_000)] {
        println!("\n{label}");
        let folder = tempfile::tempdir().unwrap();
        generate(folder.path(), count);
        step("build", folder.path(), &["build"]);
        // A file that changed a moment ago is read again, which is not what is measured.
        std::thread::sleep(std::time::Duration::from_secs(3));
        step("refresh, nothing changed", folder.path(), &["unchanged"]);
        step("questions", folder.path(), &["ask", "500"]);
        step("one note changed, refresh and ask", folder.path(), &["change"]);
        step("vectors of the static model", folder.path(), &["vectors"]);
        step("questions with vectors", folder.path(), &["scan"]);
    }
}

/// Runs one step in a process of its own.
fn step(label: &str, folder: &Path, args: &[&str]) {
    let out = Command::new(std::env::current_exe().unwrap())
        .arg(args[0])
        .arg(folder)
        .args(&args[1..])
        .output()
        .unwrap();
    let text = String::from_utf8(out.stdout).unwrap();
    assert!(out.status.success(), "{text} {}", String::from_utf8_lossy(&out.stderr));
    println!("{label:<36} {}", text.trim());
}

fn generate(folder: &Path, count: usize) {
    for note in notes(SEED).take(count) {
        let path = folder.join("notes").join(&note.path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, note.markdown).unwrap();
    }
}

fn source(folder: &Path) -> FolderSource {
    let root: PathBuf = folder.join("notes");
    FolderSource::new(root, String::new(), Box::new(MarkdownFolder::default()))
}

fn refreshed(folder: &Path) -> (Index, anemone_index::Freshness) {
    let mut index = Index::open(&folder.join("index")).unwrap();
    let source = source(folder);
    let sources: [&dyn DocumentSource; 1] = [&source];
    let freshness = index.refresh(&sources, Timestamp::now(), &NoProgress).unwrap();
    (index, freshness)
}

fn build(folder: &Path) {
    let before = cpu_seconds();
    let (_, freshness) = refreshed(folder);
    let cpu = cpu_seconds() - before;
    let chunks = freshness.chunks as f64;
    println!(
        "{} documents, {} chunks: {cpu:.2} CPU s, {:.0} chunks a CPU s, RSS {:.0} MB, {:.1} MB on disk",
        freshness.documents,
        freshness.chunks,
        chunks / cpu,
        peak_mb(),
        size(&folder.join("index")) as f64 / 1e6,
    );
}

/// Fills the vectors of the static model, and a second time when nothing is left to do.
fn vectors(folder: &Path) {
    let (mut index, freshness) = refreshed(folder);
    let builtin = Builtin::new();
    let before = cpu_seconds();
    let done = index.embed(&builtin, Replace::No, &NoProgress).unwrap();
    let first = cpu_seconds() - before;
    let before = cpu_seconds();
    index.embed(&builtin, Replace::No, &NoProgress).unwrap();
    let again = (cpu_seconds() - before) * 1e3;
    println!(
        "{} texts of {} chunks: {first:.2} CPU s, {again:.2} CPU ms for nothing, RSS {:.0} MB",
        done.texts,
        freshness.chunks,
        peak_mb(),
    );
}

/// The cost of comparing a question with every vector: with the static model, minus without.
fn scan(folder: &Path) {
    let (index, freshness) = refreshed(folder);
    let builtin = Builtin::new();
    let asked: Vec<GeneratedNote> = notes(SEED).step_by(7).take(50).collect();
    let time = |embedders: &[&dyn Embedder]| {
        let start = Instant::now();
        for note in &asked {
            let request = Request::new(&note.question, Timestamp::now());
            index.search(&request, embedders).unwrap();
        }
        start.elapsed().as_secs_f64() * 1e3 / asked.len() as f64
    };
    time(&[&builtin]);
    let (with, without) = (time(&[&builtin]), time(&[]));
    println!(
        "{:.2} ms more for {} chunks, RSS {:.0} MB",
        with - without,
        freshness.chunks,
        peak_mb()
    );
}

fn unchanged(folder: &Path) {
    let (mut index, first) = refreshed(folder);
    let source = source(folder);
    let sources: [&dyn DocumentSource; 1] = [&source];
    let rounds = 20;
    let before = cpu_seconds();
    for _ in 0..rounds {
        index.refresh(&sources, Timestamp::now(), &NoProgress).unwrap();
    }
    let cpu = (cpu_seconds() - before) * 1e3 / f64::from(rounds);
    println!("{cpu:.2} CPU ms, {:.2} for 1,000 files", cpu * 1e3 / first.entries as f64);
}

fn ask(folder: &Path, count: usize) {
    let (index, _) = refreshed(folder);
    let asked: Vec<GeneratedNote> = notes(SEED).step_by(7).take(count).collect();
    let mut times = Vec::new();
    let mut found = 0;
    let before = cpu_seconds();
    for note in &asked {
        let start = Instant::now();
        let answer = index.search(&Request::new(&note.question, Timestamp::now()), &[]).unwrap();
        times.push(start.elapsed().as_secs_f64() * 1e3);
        let line = u32::try_from(note.line).unwrap();
        found +=
            usize::from(answer.hits.iter().any(|hit| {
                hit.path == note.path && (hit.start_line..=hit.end_line).contains(&line)
            }));
    }
    let cpu = (cpu_seconds() - before) * 1e3 / times.len() as f64;
    times.sort_by(f64::total_cmp);
    println!(
        "p50 {:.2} ms, p99 {:.2} ms, max {:.2}, {cpu:.2} CPU ms each, RSS {:.0} MB; {found} of {} found",
        times[times.len() / 2],
        times[times.len() * 99 / 100],
        times[times.len() - 1],
        peak_mb(),
        times.len(),
    );
}

fn change(folder: &Path) {
    let (mut index, _) = refreshed(folder);
    let source = source(folder);
    let sources: [&dyn DocumentSource; 1] = [&source];
    let note = notes(SEED).nth(3).unwrap();
    let rounds = 10;
    let mut spent = 0.0;
    let before = cpu_seconds();
    for round in 0..rounds {
        let text = format!("{}- **Maria**: the xylophone{round} is new.\n", note.markdown);
        std::fs::write(folder.join("notes").join(&note.path), text).unwrap();
        let start = Instant::now();
        index.refresh(&sources, Timestamp::now(), &NoProgress).unwrap();
        let request = Request::new(format!("xylophone{round}"), Timestamp::now());
        let answer = index.search(&request, &[]).unwrap();
        spent += start.elapsed().as_secs_f64() * 1e3;
        assert_eq!(answer.hits[0].path, note.path);
    }
    let cpu = (cpu_seconds() - before) * 1e3 / f64::from(rounds);
    println!("{:.1} ms, {cpu:.1} CPU ms", spent / f64::from(rounds));
}

/// Runs unusual queries: no query is an error.
fn queries(count: usize) {
    const PIECES: &[&str] = &[
        "the",
        "zebra",
        "\"",
        "-",
        "--",
        "*",
        ":",
        "(",
        ")",
        "AND",
        "OR",
        "NEAR",
        "\\",
        "'",
        "''",
        "don't",
        "C++",
        "20.04",
        "a:b",
        "-x",
        "数据库",
        "迁移",
        "です",
        "한국어",
        "مرحبا",
        "😀",
        "👩‍👩‍👧",
        "\u{200b}",
        "\u{202e}",
        "\0",
        "\n",
        "\t",
        "é",
        "e\u{301}",
        "ß",
        "İ",
        "ﬁ",
        "～",
        "x_y",
        "fooBar",
        "/etc/passwd",
        "..",
        "%",
        "{",
        "}",
        "[",
        "]",
        "^",
        "$",
        "|",
        "&",
        ";",
        "=",
        "+",
        "1e999",
        "-1",
        "0x1F",
        "NaN",
        "Maria",
        "🇩🇪",
        "\u{feff}",
        "กขค",
        "ไทย",
        "।",
        "नमस्ते",
    ];
    let folder = tempfile::tempdir().unwrap();
    generate(folder.path(), 30);
    let (index, _) = refreshed(folder.path());
    let mut state = 88_172_645_463_325_252_u64;
    let mut below = |bound: usize| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        usize::try_from(state >> 16).unwrap() % bound
    };
    let start = Instant::now();
    for _ in 0..count {
        let mut query = String::new();
        for _ in 0..below(12) {
            match below(4) {
                0 => query.extend(char::from_u32(below(0x11_0000) as u32)),
                1 => query.push(' '),
                _ => query.push_str(PIECES[below(PIECES.len())]),
            }
        }
        let answer = index.search(&Request::new(query.as_str(), Timestamp::UNIX_EPOCH), &[]);
        assert!(answer.is_ok(), "{query:?}");
    }
    println!("{count} queries in {:.0} s, no error", start.elapsed().as_secs_f64());
}

fn cpu_seconds() -> f64 {
    use nix::sys::time::TimeValLike as _;
    let usage = getrusage(UsageWho::RUSAGE_SELF).unwrap();
    let micros = usage.user_time().num_microseconds() + usage.system_time().num_microseconds();
    micros as f64 / 1e6
}

fn peak_mb() -> f64 {
    getrusage(UsageWho::RUSAGE_SELF).unwrap().max_rss() as f64 / 1024.0
}

fn size(folder: &Path) -> u64 {
    let entries = std::fs::read_dir(folder).unwrap().map(Result::unwrap);
    entries
        .map(|entry| {
            if entry.path().is_dir() {
                size(&entry.path())
            } else {
                entry.metadata().unwrap().len()
            }
        })
        .sum()
}
