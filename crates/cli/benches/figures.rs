//! The figures we promise, measured in one run: CPU seconds and peak memory of whole processes.
//!
//! Each figure is taken from a separate process. Compare the ratios, not the seconds: machines
//! differ, and so does their load. There are no assertions here.
//!
//! ```text
//! cargo bench -p anemone-cli --bench figures
//! ```

#![expect(clippy::print_stdout, reason = "a benchmark prints its table")]
#![expect(clippy::disallowed_methods, reason = "a benchmark reads its own arguments and files")]
#![expect(clippy::unwrap_used, reason = "a benchmark that fails should say where")]

use std::fs::File;
use std::io::{BufRead as _, BufReader, BufWriter, Write as _};
use std::path::{Path, PathBuf};
use std::process::Command;

use anemone_format::{AgentInfo, ArchiveWriter, FileHead, Manifest, Record, Root, Unknown};
use anemone_testkit::bulk::{bulk, write_brain};
use anemone_testkit::notes::notes;
use anemone_testkit::sample;
use nix::sys::resource::{UsageWho, getrusage};

const ANEMONE: &str = env!("CARGO_BIN_EXE_anemone");

fn main() {
    let args: Vec<String> = std::env::args().skip(1).filter(|arg| arg != "--bench").collect();
    let words: Vec<&str> = args.iter().map(String::as_str).collect();
    match words[..] {
        ["measure", program, ..] => measure(program, &args[2..]),
        ["write", input, output] => write(Path::new(input), Path::new(output)),
        _ => run_all(),
    }
}

fn run_all() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    println!("{:<44} {:>8} {:>9} {:>12}", "", "CPU s", "RSS MB", "bytes");

    generate(&at("50k"), 50_000, &[]);
    let changed: Vec<usize> = (0..100).map(|n| n * 499).collect();
    generate(&at("50k-changed"), 50_000, &changed);
    let raw = at("50k").join("raw");
    let zip =
        row("zip -r of the raw files", "zip", &["-q", "-r", &text(&at("raw.zip")), &text(&raw)]);
    let write_50k = write_row("write 50,000 records", &at("50k"), &at("a.alf"));
    write_row("write 50,000 records, 100 changed", &at("50k-changed"), &at("b.alf"));
    let (a, b) = (text(&at("a.alf")), text(&at("b.alf")));
    row("validate", ANEMONE, &["validate", &a]);
    row("inspect", ANEMONE, &["inspect", &a]);
    row("diff", ANEMONE, &["diff", &a, &b]);
    row("delta", ANEMONE, &["delta", &a, &b, "-o", &text(&at("d.alf-delta"))]);
    size("  the delta", &at("d.alf-delta"));
    let applied = text(&at("c.alf"));
    row("apply", ANEMONE, &["apply", &a, &text(&at("d.alf-delta")), "-o", &applied]);
    let same = std::fs::read(at("b.alf")).unwrap() == std::fs::read(at("c.alf")).unwrap();
    println!("  the result is {} the target", if same { "byte for byte" } else { "NOT" });
    size("  the archive", &at("a.alf"));
    println!("  write / zip: {:.2} times the CPU", write_50k / zip);

    // The raw files are a workspace; the files of this machine's runtime stay out of it.
    let (workspace, exported) = (text(&raw), text(&at("x.alf")));
    let export =
        row("export the workspace", ANEMONE, &["export", "-w", &workspace, "-o", &exported]);
    println!("  export / zip: {:.2} times the CPU", export / zip);
    size("  the archive", &at("x.alf"));
    let later = text(&at("y.alf"));
    let since = ["export", "-w", &workspace, "--since", &exported, "-o", &later];
    row("export again, nothing changed", ANEMONE, &since);
    assert!(!at("y.alf").exists(), "nothing changed, and still something was written");
    let place = text(&at("home").join("workspace"));
    std::fs::create_dir(at("home")).unwrap();
    row("import", ANEMONE, &["import", "-r", "openclaw", "-w", &place, &exported]);

    search(&at("search"));
    status(&at("status"));
    served(&at("served"));
    zeroclaw(folder.path());

    generate(&at("500k"), 500_000, &[]);
    write_row("write 500,000 records", &at("500k"), &at("e.alf"));
    row("validate", ANEMONE, &["validate", &text(&at("e.alf"))]);
    size("  the archive", &at("e.alf"));
}

/// A search without an index, and again: each in a separate process.
fn search(folder: &Path) {
    for note in notes(1).take(600) {
        let path = folder.join("workspace").join(&note.path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, note.markdown).unwrap();
    }
    // Files that changed a moment ago are read again, which should not be measured.
    std::thread::sleep(std::time::Duration::from_secs(3));
    let (workspace, index) = (text(&folder.join("workspace")), text(&folder.join("index")));
    let question = notes(1).next().unwrap().question;
    let ask = ["search", &question, "-w", &workspace, "--index-dir", &index];
    row("index 600 notes and search them", ANEMONE, &ask);
    row("search again, nothing changed", ANEMONE, &ask);
}

/// Three agents with 1,000 files each, of which one was exported and searched.
fn status(home: &Path) {
    let state = home.join("openclaw");
    let ids = ["main", "second", "third"];
    for id in ids {
        let workspace = match id {
            "main" => state.join("workspace"),
            id => state.join(format!("workspace-{id}")),
        };
        for (number, note) in notes(1).take(1_000).enumerate() {
            let path = workspace.join("memory").join(format!("{number}.md"));
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, note.markdown).unwrap();
        }
    }
    let list: Vec<String> = ids.iter().map(|id| format!("{{\"id\": {id:?}}}")).collect();
    let config = format!("{{\"agents\": {{\"list\": [{}]}}}}", list.join(", "));
    std::fs::write(state.join("openclaw.json"), config).unwrap();
    // The program under measure sees this home and no other; so do the runs that prepare it.
    let run = |args: &[&str]| {
        let mut command = Command::new(ANEMONE);
        command.env_clear().env("HOME", home).env("OPENCLAW_STATE_DIR", &state).args(args);
        assert!(command.output().unwrap().status.success(), "{args:?}");
    };
    run(&["export", "--agent", "main", "-o", &text(&home.join("main.alf"))]);
    run(&["search", "tea", "--agent", "main"]);
    let env = [format!("HOME={}", text(home)), format!("OPENCLAW_STATE_DIR={}", text(&state))];
    row("status of 3 agents with 1,000 files each", "env", &["-i", &env[0], &env[1], ANEMONE]);
}

/// Searches with `memory_search`: the two rows differ by 500 searches.
fn served(folder: &Path) {
    let workspace = folder.join("workspace");
    std::fs::create_dir_all(workspace.join("memory")).unwrap();
    for (number, note) in notes(1).take(500).enumerate() {
        let path = workspace.join("memory").join(format!("{number}.md"));
        std::fs::write(path, note.markdown).unwrap();
    }
    // Files that changed a moment ago are read again, which should not be measured.
    std::thread::sleep(std::time::Duration::from_secs(3));
    for searches in [20, 520] {
        let mut lines = vec![
            r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"bench","version":"1"}}}"#.to_owned(),
            r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#.to_owned(),
        ];
        lines.extend((1..=searches).map(|id| {
            let query = ["what was decided", "who was there", "the price of tea"][id % 3];
            format!(
                r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{{"name":"memory_search","arguments":{{"query":"{query} {id}"}}}}}}"#
            )
        }));
        let said = folder.join(format!("{searches}.jsonl"));
        std::fs::write(&said, lines.join("\n") + "\n").unwrap();
        let command =
            format!("{ANEMONE} mcp -r openclaw -w {} < {}", text(&workspace), text(&said));
        row(&format!("mcp, {searches} searches of 500 notes"), "sh", &["-c", &command]);
    }
}

/// A database of ZeroClaw: out, in, over to OpenClaw and back.
fn zeroclaw(folder: &Path) {
    let at = |name: &str| folder.join(name);
    let memory = at("zc").join("workspace/memory");
    std::fs::create_dir_all(&memory).unwrap();
    write_brain(&memory.join("brain.db"), 50_000, 384).unwrap();
    size("a database of 50,000 rows, 384 dimensions", &memory.join("brain.db"));
    let (install, exported) = (text(&at("zc")), text(&at("zc.alf")));
    row("export it", ANEMONE, &["export", "-r", "zeroclaw", "-w", &install, "-o", &exported]);
    size("  the archive", &at("zc.alf"));
    let place = text(&at("zc-new"));
    row("import", ANEMONE, &["import", "-r", "zeroclaw", "-w", &place, &exported]);
    let snapshots = text(&at("snapshots"));
    let migrate = |from: &str, to: &str| {
        let label = format!("migrate to {}", to.split_once(':').unwrap().0);
        row(&label, ANEMONE, &["migrate", "--from", from, "--to", to, "--snapshots", &snapshots]);
    };
    let over = format!("openclaw:{}", text(&at("oc")));
    migrate(&format!("zeroclaw:{install}"), &over);
    migrate(&over, &format!("zeroclaw:{}", text(&at("zc-back"))));
}

/// Creates the files that a runtime would read: raw files and records.
fn generate(folder: &Path, records: usize, changed: &[usize]) {
    std::fs::create_dir_all(folder.join("raw")).unwrap();
    let mut lines = BufWriter::new(File::create(folder.join("records.jsonl")).unwrap());
    let mut number = 0;
    for day in bulk(1, records) {
        let mut text = day.markdown.clone();
        for mut record in day.records {
            if changed.contains(&number) {
                let edited = format!("{} Edited.\n", record.content.trim_end());
                text = text.replacen(&record.content, &edited, 1);
                record.content = edited;
            }
            number += 1;
            serde_json::to_writer(&mut lines, &record).unwrap();
            lines.write_all(b"\n").unwrap();
        }
        let path = folder.join("raw").join(&day.path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
}

/// Writes an archive from what [`generate`] laid out.
fn write(input: &Path, output: &Path) {
    let mut files: Vec<PathBuf> = Vec::new();
    let root = input.join("raw");
    collect(&root, &mut files);
    files.sort();
    let agent = AgentInfo::new(sample::agent_id(), "Bulk", sample::RUNTIME);
    let manifest = Manifest::new(agent, "2026-11-15T00:00:00Z".parse().unwrap());
    let out = BufWriter::with_capacity(256 << 10, File::create(output).unwrap());
    let spool = Box::new(tempfile::tempfile().unwrap());
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let mut writer = ArchiveWriter::new(out, &manifest, spool, threads);
    for path in files {
        let relative = path.strip_prefix(&root).unwrap().to_str().unwrap();
        let head = FileHead {
            root: Root::Raw("openclaw"),
            path: relative.as_bytes(),
            mode: Some(0o644),
            mtime: None,
            redacted: false,
            unknown: Unknown::default(),
        };
        writer.file(&head, &mut File::open(&path).unwrap()).unwrap();
    }
    for line in BufReader::new(File::open(input.join("records.jsonl")).unwrap()).lines() {
        let record: Record = serde_json::from_str(&line.unwrap()).unwrap();
        writer.record(&record).unwrap();
    }
    writer.finish().unwrap().0.flush().unwrap();
}

fn collect(folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() { collect(&path, files) } else { files.push(path) }
    }
}

fn write_row(label: &str, input: &Path, output: &Path) -> f64 {
    let myself = text(&std::env::current_exe().unwrap());
    row(label, &myself, &["write", &text(input), &text(output)])
}

/// Runs a program in a separate process and prints its cost.
fn row(label: &str, program: &str, args: &[&str]) -> f64 {
    let measured = Command::new(std::env::current_exe().unwrap())
        .args(["measure", program])
        .args(args)
        .output()
        .unwrap();
    let text = String::from_utf8(measured.stdout).unwrap();
    let failure =
        || format!("{program} failed: {text} {:?}", String::from_utf8_lossy(&measured.stderr));
    assert!(measured.status.success(), "{}", failure());
    let last = text.lines().last().unwrap();
    let (cpu, rss) = last.split_once(' ').unwrap();
    let (cpu, rss): (f64, f64) = (cpu.parse().unwrap(), rss.parse().unwrap());
    println!("{label:<44} {cpu:>8.2} {rss:>9.1}");
    cpu
}

/// Runs one program and prints the CPU seconds and the peak memory of it alone.
fn measure(program: &str, args: &[String]) {
    let home = std::env::temp_dir();
    let status = Command::new(program).args(args).env("HOME", home).status().unwrap();
    assert!(status.success());
    let usage = getrusage(UsageWho::RUSAGE_CHILDREN).unwrap();
    let seconds = |time: nix::sys::time::TimeVal| {
        use nix::sys::time::TimeValLike as _;
        time.num_microseconds() as f64 / 1e6
    };
    let cpu = seconds(usage.user_time()) + seconds(usage.system_time());
    println!("\n{cpu} {}", usage.max_rss() as f64 / 1024.0);
}

fn size(label: &str, path: &Path) {
    let bytes = std::fs::metadata(path).unwrap().len();
    println!("{label:<44} {:>8} {:>9} {bytes:>12}", "", "");
}

fn text(path: &Path) -> String {
    path.to_str().unwrap().to_owned()
}
