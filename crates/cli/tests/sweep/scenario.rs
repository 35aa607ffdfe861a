//! A command with its start state, run with faults, and the conditions that must hold afterwards.

use std::fmt::Write as _;

use anemone_testkit::SlowGroup;
use anemone_testkit::faults::{Calls, Injection, Outcome, SyscallFault};

use crate::case::{Case, Thing, Tree};

/// How many calls of a command are disturbed when only some are, in the default suite and in the
/// slow one.
const CHANGES: (usize, usize) = (6, 18);
/// How many of its reads are.
const READS: (usize, usize) = (2, 4);
/// How many pairs of faults are tried then.
const PAIRS: (usize, usize) = (3, 8);
/// How many second faults are tried for each first one, when all are.
const SECONDS: usize = 20;

/// A command that writes, and how its end is judged.
pub(crate) struct Scenario {
    name: &'static str,
    files: Vec<(String, String)>,
    /// Steps before the command, in order.
    steps: Vec<Step>,
    command: Vec<String>,
    /// Another command on the same memory, which finds the remains of a fault.
    later: Option<Vec<String>>,
    /// The command line of the second run, if it differs from the first.
    again: Option<Vec<String>>,
    /// Whether a second run of the command does something else than the first.
    once: bool,
    /// Whether the command always ends with exit code 0, as hooks do.
    hook: bool,
    /// Whether a copy of replaced files must be kept.
    keeps_originals: bool,
    /// A text that must be nowhere in the end.
    erased: Option<&'static str>,
}

enum Step {
    Run(Vec<String>),
    Write(String, String),
}

/// The trees that the command gives when nothing disturbs it.
struct References {
    before: Tree,
    after: Tree,
    /// Before and after the command, with the effect of the later command.
    later_before: Tree,
    later_after: Tree,
    /// The later command first, then the command.
    last: Tree,
    /// How many calls of the command change files, and how many read them.
    calls: usize,
    reads: usize,
    /// How many calls of the later command change files.
    later_calls: usize,
}

impl Scenario {
    pub(crate) fn new(name: &'static str, files: &[(&str, &str)], command: &[&str]) -> Self {
        Self {
            name,
            files: files.iter().map(|(path, text)| pair(path, text)).collect(),
            steps: Vec::new(),
            command: owned(command),
            later: None,
            again: None,
            once: false,
            hook: false,
            keeps_originals: false,
            erased: None,
        }
    }

    /// Runs a command before.
    pub(crate) fn after(mut self, command: &[&str]) -> Self {
        self.steps.push(Step::Run(owned(command)));
        self
    }

    /// Writes a file before, after the commands that were named so far.
    pub(crate) fn writing(mut self, path: &str, text: &str) -> Self {
        let (path, text) = pair(path, text);
        self.steps.push(Step::Write(path, text));
        self
    }

    pub(crate) fn later(mut self, command: &[&str]) -> Self {
        self.later = Some(owned(command));
        self
    }

    pub(crate) fn again(mut self, command: &[&str]) -> Self {
        self.again = Some(owned(command));
        self
    }

    pub(crate) fn once(mut self) -> Self {
        self.once = true;
        self
    }

    pub(crate) fn hook(mut self) -> Self {
        self.hook = true;
        self
    }

    pub(crate) fn keeping_originals(mut self) -> Self {
        self.keeps_originals = true;
        self
    }

    pub(crate) fn erasing(mut self, text: &'static str) -> Self {
        self.erased = Some(text);
        self
    }

    /// Tries the faults and fails with everything that was found.
    #[expect(clippy::print_stderr, reason = "how much was tried is part of the result")]
    pub(crate) fn sweep(&self) {
        let case = Case::new();
        let references = self.prepare(&case);
        let mut tried = 0;
        let mut found = Vec::new();
        for injection in self.single_faults(&references) {
            tried += 1;
            let problems = self.disturb(&case, &references, injection, None);
            found.extend(problems.into_iter().map(|problem| format!("{injection:?}: {problem}")));
        }
        for (first, second) in self.pairs(&references) {
            tried += 1;
            let problems = self.disturb(&case, &references, first, Some(second));
            let about = format!("{first:?}, then {second:?}");
            found.extend(problems.into_iter().map(|problem| format!("{about}: {problem}")));
        }
        let (calls, reads) = (references.calls, references.reads);
        eprintln!("{}: {calls} changes, {reads} reads, {tried} faults tried", self.name);
        let mut report = String::new();
        for problem in found.iter().take(20) {
            let _infallible = writeln!(report, "{problem}");
        }
        assert!(found.is_empty(), "{}: {} problems\n{report}", self.name, found.len());
    }

    /// Brings the case to its start and runs the command undisturbed.
    fn prepare(&self, case: &Case) -> References {
        for (path, text) in &self.files {
            case.write(path, text);
        }
        for step in &self.steps {
            match step {
                Step::Run(words) => done(case, words),
                Step::Write(path, text) => case.write(path, text),
            }
        }
        case.save("start");
        let before = case.tree();
        let run = case.run(&self.command, None);
        assert_eq!(run.code, Some(0), "{:?}: {}{}", self.command, run.stdout, run.stderr);
        assert!(!run.changes.is_empty(), "{} changes nothing", self.name);
        let after = case.tree();
        assert_eq!(case.leftovers(), Vec::<std::path::PathBuf>::new(), "{}", self.name);
        if let Some(text) = self.erased {
            assert_eq!(case.holders(text), Vec::<std::path::PathBuf>::new(), "{}", self.name);
        }
        let Some(later) = &self.later else {
            let (later_before, later_after) = (before.clone(), after.clone());
            let last = after.clone();
            return References {
                before,
                after,
                later_before,
                later_after,
                last,
                calls: run.changes.len(),
                reads: run.reads.len(),
                later_calls: 0,
            };
        };
        let later_run = case.run(later, None);
        assert_eq!(later_run.code, Some(0), "{later:?}: {}", later_run.stdout);
        let later_after = case.tree();
        case.restore("start");
        done(case, later);
        let later_before = case.tree();
        if !self.once {
            done(case, &self.command);
        }
        References {
            before,
            after,
            later_before,
            later_after,
            last: case.tree(),
            calls: run.changes.len(),
            reads: run.reads.len(),
            later_calls: later_run.changes.len(),
        }
    }

    /// Returns the problems after one fault, or after a second one during recovery from the first.
    fn disturb(
        &self,
        case: &Case,
        references: &References,
        first: Injection,
        second: Option<Injection>,
    ) -> Vec<String> {
        let mut problems = Vec::new();
        case.restore("start");
        let run = case.run(&self.command, Some(first));
        let tree = case.tree();
        let known = [&references.before, &references.after];
        // Unreadable files are left out of an archive or of tidying, with a warning.
        let is_partial = first.of == Calls::Reads && run.code == Some(0) && warns(&run);
        if is_partial && self.later.is_some() {
            return self.finish_partial(case, references);
        }
        if !is_partial {
            problems.extend(differences(&tree, &known, "after the fault"));
            if run.code == Some(0) && !self.hook && tree != references.after {
                let difference = first_difference(&tree, &known[1..]);
                problems.push(format!("it said it was done: {difference}"));
            }
        }
        let recovering = self.later.as_ref().unwrap_or(&self.command);
        if let Some(second) = second {
            case.run(recovering, Some(second));
            let known = references.all();
            problems.extend(differences(&case.tree(), &known, "after the second fault"));
        }
        if let Some(later) = &self.later {
            let run = case.run(later, None);
            // After a second fault the later command may have been done already.
            if run.code != Some(0) && second.is_none() {
                problems.push(format!("the later command fails: {}", said(&run)));
            }
            let known = [&references.later_before, &references.later_after];
            problems.extend(whole(&case.tree(), &known, "after recovery"));
        }
        if !self.once {
            let run = case.run(self.again.as_ref().unwrap_or(&self.command), None);
            let known = [&references.later_after, &references.last];
            if let Some(problem) = whole(&case.tree(), &known, "after the second run") {
                problems.push(format!("{problem}; it said {}", said(&run)));
            }
        }
        if self.keeps_originals {
            let contents = case.contents();
            let lost = references.before.iter().filter(|(_, thing)| !contents.contains(thing));
            problems
                .extend(lost.map(|(path, _)| format!("the original {} is lost", path.display())));
        }
        let left = case.leftovers();
        if !left.is_empty() {
            problems.push(format!("left over: {left:?}"));
        }
        if let Some(text) = self.erased {
            let holders = case.holders(text);
            if !holders.is_empty() {
                problems.push(format!("the text is still in {holders:?}"));
            }
        }
        problems
    }

    /// Returns the problems after a command that left something out is run once more: nothing may
    /// be lost, but two runs may put more blank lines between what they write than one does.
    fn finish_partial(&self, case: &Case, references: &References) -> Vec<String> {
        let later = self.later.iter();
        for words in later.chain([self.again.as_ref().unwrap_or(&self.command)]) {
            done(case, words);
        }
        let (tree, last) =
            (without_blank_lines(&case.tree()), without_blank_lines(&references.last));
        differences(&tree, &[&last], "after the rest was done")
    }

    fn single_faults(&self, references: &References) -> Vec<Injection> {
        let at = |fault, call| Injection { fault, of: Calls::Changes, call };
        let unread = |call| Injection { fault: SyscallFault::IoOnce, of: Calls::Reads, call };
        if everything() {
            let each = |call| SyscallFault::ALL.map(|fault| at(fault, call));
            let changes = (1..=references.calls).flat_map(each);
            return changes.chain((1..=references.reads).map(unread)).collect();
        }
        // Every kind of fault gets its turn, from another one on in each scenario.
        let turn = self.name.len();
        let changes = spread(references.calls, some(CHANGES))
            .enumerate()
            .map(|(nth, call)| at(SyscallFault::ALL[(turn + nth) % SyscallFault::ALL.len()], call));
        changes.chain(spread(references.reads, some(READS)).map(unread)).collect()
    }

    /// A kill in the middle of the command, and a fault while it is recovered from.
    fn pairs(&self, references: &References) -> Vec<(Injection, Injection)> {
        let second_calls = match self.later {
            Some(_) => references.later_calls,
            None => references.calls,
        };
        let faults = [
            SyscallFault::Kill,
            SyscallFault::IoOnce,
            SyscallFault::FullFromHere,
            SyscallFault::TornWrite,
        ];
        let at = |fault, call| Injection { fault, of: Calls::Changes, call };
        let pair = |(nth, (first, second)): (usize, (usize, usize))| {
            (at(SyscallFault::Kill, first), at(faults[nth % faults.len()], second))
        };
        if !everything() {
            let seconds: Vec<_> = spread(second_calls, some(PAIRS)).collect();
            // Late kills leave the most to recover, so seconds run against firsts.
            let firsts = spread(references.calls, some(PAIRS));
            return firsts.zip(seconds.into_iter().rev()).enumerate().map(pair).collect();
        }
        (1..=references.calls)
            .flat_map(|first| spread(second_calls, SECONDS).map(move |second| (first, second)))
            .enumerate()
            .map(pair)
            .collect()
    }
}

impl References {
    fn all(&self) -> [&Tree; 5] {
        [&self.before, &self.after, &self.later_before, &self.later_after, &self.last]
    }
}

/// Whether every call is tried and not only a sample.
#[expect(clippy::disallowed_methods, reason = "a test asks its own environment, once")]
fn everything() -> bool {
    std::env::var_os("ANEMONE_SWEEP").is_some_and(|value| value == "all")
}

fn some((sample, full): (usize, usize)) -> usize {
    SlowGroup::Faults.pick(sample, full)
}

/// Returns at most `count` numbers from 1 to `last`, evenly spread, both ends among them.
fn spread(last: usize, count: usize) -> impl Iterator<Item = usize> {
    let count = count.min(last);
    (0..count).map(move |at| 1 + at * (last - 1) / (count - 1).max(1))
}

/// Says which files are in a state that no reference has.
fn differences(tree: &Tree, references: &[&Tree], about: &str) -> Vec<String> {
    let mut paths: Vec<_> = references.iter().flat_map(|tree| tree.keys()).collect();
    paths.extend(tree.keys());
    paths.sort_unstable();
    paths.dedup();
    let mut found = Vec::new();
    for path in paths {
        let thing = tree.get(path);
        // A folder or an empty file that was made on the way loses nothing.
        let is_new = references.iter().any(|tree| !tree.contains_key(path));
        if is_new && thing.is_none_or(Thing::is_empty) {
            continue;
        }
        if !references.iter().any(|reference| reference.get(path) == thing) {
            let wanted = references.iter().map(|tree| shown(tree.get(path)));
            let wanted: Vec<_> = wanted.collect();
            found.push(format!(
                "{about}: {} is {}, not {}",
                path.display(),
                shown(thing),
                wanted.join(" or ")
            ));
        }
    }
    found
}

/// Says how a tree differs where its files must be those of one of the references.
fn whole(tree: &Tree, references: &[&Tree], about: &str) -> Option<String> {
    let files = |tree: &Tree| -> Vec<_> {
        let files = tree.iter().filter(|(_, thing)| **thing != Thing::Folder);
        files.map(|(path, thing)| (path.clone(), thing.clone())).collect()
    };
    let same = references.iter().any(|reference| files(reference) == files(tree));
    (!same).then(|| format!("{about}: {}", first_difference(tree, references)))
}

fn first_difference(tree: &Tree, references: &[&Tree]) -> String {
    let found: Vec<_> =
        references.iter().flat_map(|reference| differences(tree, &[reference], "")).collect();
    match found.first() {
        Some(first) => first.clone(),
        None => "other folders".to_owned(),
    }
}

fn shown(thing: Option<&Thing>) -> String {
    match thing {
        None => "missing".to_owned(),
        Some(Thing::Bytes(bytes)) => format!("{} bytes", bytes.len()),
        Some(thing) => format!("{thing:?}"),
    }
}

/// Whether a successful command printed a warning, or named an unreadable file.
fn warns(run: &Outcome) -> bool {
    let document: serde_json::Value = serde_json::from_str(&run.stdout).unwrap_or_default();
    let has = |name: &str| document[name].as_array().is_some_and(|list| !list.is_empty());
    has("warnings") || has("unread")
}

fn without_blank_lines(tree: &Tree) -> Tree {
    let text = |thing: &Thing| match thing {
        Thing::Text(lines) => {
            Thing::Text(lines.iter().filter(|line| !line.is_empty()).cloned().collect())
        }
        other => other.clone(),
    };
    tree.iter().map(|(path, thing)| (path.clone(), text(thing))).collect()
}

/// The output of a run, without progress and similar lines.
fn said(run: &Outcome) -> String {
    let code = run.code.map_or_else(|| "killed".to_owned(), |code| format!("exit code {code}"));
    format!("{code}: {}{}", run.stdout.trim_end(), run.stderr.trim_end())
}

fn done(case: &Case, words: &[String]) {
    let run = case.run(words, None);
    assert_eq!(run.code, Some(0), "{words:?}: {}{}", run.stdout, run.stderr);
}

fn owned(words: &[&str]) -> Vec<String> {
    words.iter().map(|word| (*word).to_owned()).collect()
}

fn pair(path: &str, text: &str) -> (String, String) {
    (path.to_owned(), text.to_owned())
}
