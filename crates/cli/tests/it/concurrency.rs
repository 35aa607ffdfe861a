//! Many processes that write to one memory at once, an editor that saves in between, and kills.

use std::collections::BTreeSet;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use crate::environment::{TestEnvironment, program};

const PROCESSES: usize = 8;
/// What fits a test suite; `ANEMONE_OPERATIONS=2000` is the whole.
const OPERATIONS: usize = 240;
/// One in so many is killed.
const KILLED: usize = 8;
/// Nothing takes this long.
const LONGEST: Duration = Duration::from_secs(300);

/// What became of an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Became {
    Acknowledged,
    Killed,
    Failed,
}

#[expect(clippy::disallowed_methods, reason = "a test asks its own environment, once")]
fn operations() -> usize {
    let asked = std::env::var("ANEMONE_OPERATIONS").ok();
    asked.and_then(|it| it.parse().ok()).unwrap_or(OPERATIONS)
}

/// Numbers that are all over the place, and the same in every run.
fn mixed(seed: usize) -> u64 {
    let seed = seed as u64 + 1;
    (seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ (seed << 7)).wrapping_mul(0xD6E8_FEB8_6659_FD93)
        >> 40
}

/// The text of an operation; some cross the pages of a file system.
fn text_of(operation: usize) -> String {
    let long =
        if operation.is_multiple_of(16) { "and much more ".repeat(300) } else { String::new() };
    format!("operation {operation} {long}ends")
}

fn run(environment: &TestEnvironment, operation: usize) -> Became {
    let text = text_of(operation);
    let mut command = Command::new(program());
    command.current_dir(environment.path("")).env_clear().envs(environment.variables());
    command.args(["remember", "-r", "openclaw", "-w", "agent", "--force", &text]);
    if operation % 4 == 3 {
        command.arg("--curated");
    }
    if operation % 5 == 2 {
        command.args(["--key", &format!("key {operation}"), "--importance", "0.9"]);
    }
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let Ok(mut child) = command.spawn() else { return Became::Failed };
    if operation % KILLED == 5 {
        std::thread::sleep(Duration::from_micros(mixed(operation) % 40_000));
        child.kill().ok();
    }
    wait(&mut child)
}

fn wait(child: &mut Child) -> Became {
    let end = Instant::now() + LONGEST;
    while Instant::now() < end {
        match child.try_wait() {
            Ok(Some(status)) if status.success() => return Became::Acknowledged,
            Ok(Some(status)) if status.code().is_none() => return Became::Killed,
            Ok(Some(_)) | Err(_) => return Became::Failed,
            Ok(None) => std::thread::sleep(Duration::from_millis(1)),
        }
    }
    child.kill().ok();
    child.wait().ok();
    Became::Failed
}

/// Loads a file, adds a line, and gives the new file its name, as editors do.
fn save(environment: &TestEnvironment, name: &str, number: usize) -> bool {
    let path = environment.path(name);
    let Ok(mut text) = fs_err::read(&path) else { return false };
    if !text.is_empty() && !text.ends_with(b"\n") {
        text.push(b'\n');
    }
    text.extend(format!("\neditor {number} saved\n\n").bytes());
    std::thread::sleep(Duration::from_micros(mixed(number) % 3_000));
    let beside = environment.path("beside");
    fs_err::write(&beside, text).is_ok() && fs_err::rename(beside, path).is_ok()
}

fn log_of(environment: &TestEnvironment) -> Vec<String> {
    let folder = fs_err::read_dir(environment.path("agent/memory"));
    let names = folder.into_iter().flatten().flatten().map(|it| it.file_name());
    names.map(|it| format!("agent/memory/{}", it.to_string_lossy())).collect()
}

#[test]
fn every_acknowledged_write_is_there_once_whoever_else_writes() {
    let environment = Arc::new(TestEnvironment::new());
    environment.write_below("agent/MEMORY.md", "# Memory\n\n- The shop sells tea.\n");
    let number = operations();
    let workers: Vec<_> = (0..PROCESSES)
        .map(|worker| {
            let environment = Arc::clone(&environment);
            std::thread::spawn(move || {
                let own = (0..number).filter(|it| it % PROCESSES == worker);
                own.map(|it| (it, run(&environment, it))).collect::<Vec<_>>()
            })
        })
        .collect();
    let is_over = Arc::new(AtomicBool::new(false));
    let editor = {
        let (environment, is_over) = (Arc::clone(&environment), Arc::clone(&is_over));
        std::thread::spawn(move || {
            let mut saved = Vec::new();
            let end = Instant::now() + LONGEST;
            for number in 0.. {
                if is_over.load(Ordering::Relaxed) || Instant::now() > end {
                    break;
                }
                let log = log_of(&environment).pop();
                let name = if number % 2 == 0 { Some("agent/MEMORY.md".to_owned()) } else { log };
                if name.is_some_and(|it| save(&environment, &it, number)) {
                    saved.push(number);
                }
                std::thread::sleep(Duration::from_millis(20 + mixed(number) % 60));
            }
            saved
        })
    };
    let became: Vec<_> = workers.into_iter().map(std::thread::JoinHandle::join).collect();
    is_over.store(true, Ordering::Relaxed);
    let saved = editor.join().expect("the editor does not panic");
    let became: Vec<(usize, Became)> =
        became.into_iter().flat_map(|it| it.expect("no worker panics")).collect();
    // Whoever comes next mends what a kill or the last save left.
    environment.json(["remember", "-r", "openclaw", "-w", "agent", "--force", "the end"]);

    let mut all = fs_err::read_to_string(environment.path("agent/MEMORY.md")).expect("it is there");
    for log in log_of(&environment) {
        assert!(!log.contains(".anemone"), "{log} was left");
        all.push_str(&fs_err::read_to_string(environment.path(log)).expect("it is text"));
    }
    let left: BTreeSet<String> = fs_err::read_dir(environment.path("agent"))
        .expect("it is there")
        .map(|it| it.expect("it is there").file_name().to_string_lossy().into_owned())
        .collect();
    assert_eq!(left, BTreeSet::from(["MEMORY.md".to_owned(), "memory".to_owned()]));
    let count = |what: Became| became.iter().filter(|it| it.1 == what).count();
    println!(
        "{} acknowledged, {} killed, {} saves by the editor",
        count(Became::Acknowledged),
        count(Became::Killed),
        saved.len()
    );
    assert_eq!(count(Became::Failed), 0);
    assert!(count(Became::Killed) > 0 && saved.len() > 2);
    let units = anemone_memory::units(&all);
    for (operation, became) in became {
        let text = text_of(operation);
        let own = units.iter().filter(|it| it.content == text && it.stamp.is_some()).count();
        let any = all.matches(&format!("operation {operation} ")).count();
        assert_eq!(any, own, "nothing of operation {operation} stands there half");
        match became {
            Became::Acknowledged => assert_eq!(own, 1, "operation {operation}"),
            _ => assert!(own <= 1, "operation {operation} is there {own} times"),
        }
    }
    for number in saved {
        let line = format!("editor {number} saved\n");
        assert_eq!(all.matches(&line).count(), 1, "{line}");
    }
}
