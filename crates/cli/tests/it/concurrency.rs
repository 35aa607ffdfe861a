//! Many processes that write to one memory at once, an editor that saves in between, and signals.

use std::collections::BTreeSet;
use std::io::Write as _;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use anemone_testkit::SlowGroup;
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use crate::environment::{TestEnvironment, program};

const PROCESSES: usize = 8;
/// What fits the default suite and the slow one; `ANEMONE_CONCURRENCY=2000` is the whole, for each
/// editor.
const OPERATIONS: (usize, usize) = (48, 160);
/// Nothing takes this long.
const LONGEST: Duration = Duration::from_secs(600);

/// How an editor saves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Manner {
    /// It gives a new file the name of the old one.
    Rename,
    /// It empties the file and writes it.
    InPlace,
    /// It empties the file, is held up, and writes it.
    InPlaceWithPause,
}

/// What an operation does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Operation {
    Remember,
    Curated,
    /// Forgets what another operation of the same worker remembered.
    Forget(usize),
}

/// What became of an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Outcome {
    Acknowledged,
    /// Exit code 3: another program kept saving, and nothing was written.
    Refused,
    Killed,
    Failed(Option<i32>),
}

#[expect(clippy::disallowed_methods, reason = "a test asks its own environment, once")]
fn operations() -> usize {
    let asked = std::env::var("ANEMONE_CONCURRENCY").ok();
    let (sample, full) = OPERATIONS;
    let usual = SlowGroup::Races.pick(sample, full);
    asked.and_then(|number| number.parse().ok()).unwrap_or(usual)
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

fn operation(number: usize) -> Operation {
    match number % 16 {
        14 if number >= 2 * PROCESSES => Operation::Forget(number - PROCESSES),
        of_four if of_four % 4 == 3 => Operation::Curated,
        _ => Operation::Remember,
    }
}

fn run(environment: &TestEnvironment, number: usize) -> Outcome {
    let mut command = Command::new(program());
    command.current_dir(environment.path("")).env_clear().envs(environment.variables());
    let key = |number: usize| format!("key {number}");
    match operation(number) {
        Operation::Forget(other) => {
            command.args(["forget", "-r", "openclaw", "-w", "agent", "--key", &key(other)]);
        }
        remembers => {
            command.args(["remember", "-r", "openclaw", "-w", "agent", "--force"]);
            command.args([&text_of(number), "--key", &key(number)]);
            if remembers == Operation::Curated {
                command.arg("--curated");
            }
        }
    }
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let Ok(mut child) = command.spawn() else { return Outcome::Failed(None) };
    // 8 of 100 are killed, 4 are stopped for a while.
    let pause = |most: u64| Duration::from_micros(mixed(number + 77) % most);
    match mixed(number) % 100 {
        0..8 => {
            std::thread::sleep(pause(120_000));
            child.kill().ok();
        }
        8..12 => {
            let id = Pid::from_raw(child.id().cast_signed());
            std::thread::sleep(pause(80_000));
            kill(id, Signal::SIGSTOP).ok();
            std::thread::sleep(pause(200_000));
            kill(id, Signal::SIGCONT).ok();
        }
        _ => {}
    }
    wait(&mut child)
}

fn wait(child: &mut Child) -> Outcome {
    let end = Instant::now() + LONGEST;
    while Instant::now() < end {
        match child.try_wait() {
            Ok(Some(status)) if status.success() => return Outcome::Acknowledged,
            Ok(Some(status)) if status.code() == Some(3) => return Outcome::Refused,
            Ok(Some(status)) if status.code().is_none() => return Outcome::Killed,
            Ok(Some(status)) => return Outcome::Failed(status.code()),
            Ok(None) => std::thread::sleep(Duration::from_millis(1)),
            Err(_) => return Outcome::Failed(None),
        }
    }
    child.kill().ok();
    child.wait().ok();
    Outcome::Failed(None)
}

fn line(number: usize) -> String {
    format!("editor {number} saved\n")
}

/// Loads a file, adds a line somewhere, and saves it. Like any editor it knows only what it loaded.
fn save(environment: &TestEnvironment, name: &str, number: usize, manner: Manner) -> bool {
    let path = environment.path(name);
    let Ok(mut text) = fs_err::read_to_string(&path) else { return false };
    if !text.is_empty() && !text.ends_with('\n') {
        text.push('\n');
    }
    let added = format!("\n{}\n", line(number));
    let starts: Vec<usize> = text.match_indices('\n').map(|(at, _)| at + 1).collect();
    match starts.get(mixed(number) as usize % (starts.len() + 1)) {
        Some(at) => text.insert_str(*at, &added),
        None => text.push_str(&added),
    }
    std::thread::sleep(Duration::from_micros(mixed(number) % 3_000));
    if manner == Manner::Rename {
        let beside = environment.path("beside");
        return fs_err::write(&beside, text).is_ok() && fs_err::rename(beside, path).is_ok();
    }
    let Ok(mut file) = fs_err::File::create(&path) else { return false };
    if manner == Manner::InPlaceWithPause {
        std::thread::sleep(Duration::from_millis(20 + mixed(number) % 180));
    }
    file.write_all(text.as_bytes()).is_ok()
}

fn log_of(environment: &TestEnvironment) -> Vec<String> {
    let folder = fs_err::read_dir(environment.path("agent/memory"));
    let names = folder.into_iter().flatten().flatten().map(|file| file.file_name());
    names.map(|name| format!("agent/memory/{}", name.to_string_lossy())).collect()
}

/// Saves until `is_over` is set; returns which lines it saved.
fn edit(environment: &TestEnvironment, manners: &[Manner], is_over: &AtomicBool) -> Vec<usize> {
    let mut saved = Vec::new();
    let end = Instant::now() + LONGEST;
    for number in 0.. {
        if is_over.load(Ordering::Relaxed) || Instant::now() > end {
            break;
        }
        let logs = log_of(environment);
        let log = logs.into_iter().find(|name| !name.contains("/."));
        let name = if number % 2 == 0 { Some("agent/MEMORY.md".to_owned()) } else { log };
        let manner = manners[mixed(number) as usize / 7 % manners.len()];
        if name.is_some_and(|name| save(environment, &name, number, manner)) {
            saved.push(number);
        }
        std::thread::sleep(Duration::from_millis(40 + mixed(number) % 120));
    }
    saved
}

/// Lets processes and an editor write, and checks that no acknowledged entry is lost, and that no
/// entry occurs twice.
#[expect(clippy::print_stdout, reason = "the figures are read by whoever runs it by hand")]
fn write_beside_an_editor(manners: &'static [Manner]) {
    let environment = Arc::new(TestEnvironment::new());
    environment.write_below("agent/MEMORY.md", "# Memory\n\n- The shop sells tea.\n");
    let number = operations();
    let workers: Vec<_> = (0..PROCESSES)
        .map(|worker| {
            let environment = Arc::clone(&environment);
            std::thread::spawn(move || {
                let own = (0..number).filter(|operation| operation % PROCESSES == worker);
                own.map(|operation| (operation, run(&environment, operation))).collect::<Vec<_>>()
            })
        })
        .collect();
    let is_over = Arc::new(AtomicBool::new(false));
    let editor = {
        let (environment, is_over) = (Arc::clone(&environment), Arc::clone(&is_over));
        std::thread::spawn(move || edit(&environment, manners, &is_over))
    };
    let outcomes: Vec<_> = workers.into_iter().map(std::thread::JoinHandle::join).collect();
    is_over.store(true, Ordering::Relaxed);
    let saved = editor.join().expect("the editor does not panic");
    let outcomes: Vec<(usize, Outcome)> =
        outcomes.into_iter().flat_map(|worker| worker.expect("no worker panics")).collect();
    // The next command recovers what a kill or the last save left.
    environment.json(["remember", "-r", "openclaw", "-w", "agent", "--force", "the end"]);

    let mut all = fs_err::read_to_string(environment.path("agent/MEMORY.md")).expect("it is there");
    for log in log_of(&environment) {
        assert!(!log.contains(".anemone"), "{log} was left");
        all.push_str(&fs_err::read_to_string(environment.path(log)).expect("it is text"));
    }
    let left: BTreeSet<String> = fs_err::read_dir(environment.path("agent"))
        .expect("it is there")
        .map(|file| file.expect("it is there").file_name().to_string_lossy().into_owned())
        .collect();
    let known = [".anemone", "MEMORY.md", "memory"].map(str::to_owned);
    assert_eq!(left, BTreeSet::from(known));

    let units = anemone_memory::units(&all);
    let copies = |operation: usize| {
        let text = text_of(operation);
        units.iter().filter(|unit| unit.content == text && unit.stamp.is_some()).count()
    };
    // A forgotten entry comes back if an editor saves the text that it loaded before; an entry that
    // could not be forgotten, or whose forgetting was cut off, may or may not exist.
    let forgets: BTreeSet<usize> = outcomes
        .iter()
        .filter_map(|(number, _)| match operation(*number) {
            Operation::Forget(other) => Some(other),
            _ => None,
        })
        .collect();
    let (mut lost, mut doubled, mut torn, mut unasked) = (vec![], vec![], vec![], vec![]);
    let mut failed = Vec::new();
    for (number, outcome) in &outcomes {
        let is_forget = matches!(operation(*number), Operation::Forget(_));
        match outcome {
            // There is nothing to forget if the `remember` was killed.
            Outcome::Failed(code) if !is_forget || *code != Some(1) => {
                failed.push((*number, *code));
            }
            _ => {}
        }
        if is_forget {
            continue;
        }
        let own = copies(*number);
        let any = all.matches(&format!("operation {number} ")).count();
        if any != own {
            torn.push(*number);
        }
        if own > 1 {
            doubled.push(*number);
        }
        if own == 0 && *outcome == Outcome::Acknowledged && !forgets.contains(number) {
            lost.push(*number);
        }
        if own > 0 && *outcome == Outcome::Refused {
            unasked.push(*number);
        }
    }
    let lines: Vec<usize> =
        saved.iter().map(|number| all.matches(&line(*number)).count()).collect();
    let count = |what: Outcome| outcomes.iter().filter(|(_, outcome)| *outcome == what).count();
    println!(
        "{manners:?}: {} operations, {} acknowledged, {} refused, {} killed; lost {}, doubled {}, \
         torn {}; {} saves by the editor, lost {}, doubled {}",
        outcomes.len(),
        count(Outcome::Acknowledged),
        count(Outcome::Refused),
        count(Outcome::Killed),
        lost.len(),
        doubled.len(),
        torn.len(),
        saved.len(),
        lines.iter().filter(|lines| **lines == 0).count(),
        lines.iter().filter(|lines| **lines > 1).count(),
    );
    assert_eq!(failed, []);
    let none: Vec<usize> = Vec::new();
    assert_eq!((&lost, &doubled, &torn, &unasked), (&none, &none, &none, &none));
    assert!(lines.iter().all(|lines| *lines == 1), "{lines:?}");
    assert!(count(Outcome::Acknowledged) > 0 && saved.len() > 2);
}

#[test]
fn an_editor_that_renames_costs_nothing() {
    write_beside_an_editor(&[Manner::Rename]);
}

#[test]
fn an_editor_that_saves_in_place_costs_nothing() {
    write_beside_an_editor(&[Manner::InPlace]);
}

#[test]
fn an_editor_that_is_held_up_while_the_file_is_empty_costs_nothing() {
    write_beside_an_editor(&[Manner::InPlaceWithPause]);
}

#[test]
fn editors_that_rename_and_save_in_place_cost_nothing() {
    write_beside_an_editor(&[Manner::Rename, Manner::InPlace, Manner::InPlaceWithPause]);
}
