//! The cost of the transformers: texts per CPU second, milliseconds until the first vector, and
//! memory.
//!
//! Each figure is measured in a separate process, on one thread. `ANEMONE_MINILM` names the file or
//! folder of all-MiniLM-L6-v2; without it, only the built-in one is measured. Nothing is asserted
//! here.
//!
//! ```text
//! cargo bench -p anemone-embed --bench transformer
//! ```

#![expect(clippy::print_stdout, reason = "a benchmark prints its table")]
#![expect(clippy::disallowed_methods, reason = "a benchmark reads its environment")]
#![expect(clippy::unwrap_used, reason = "a benchmark that fails should say where")]

use std::path::Path;
use std::process::Command;

use anemone_embed::{Embedder, LocalModel, Purpose, Tokenizer};
use nix::sys::resource::{UsageWho, getrusage};

/// Texts that are measured, in calls of [`CALL`].
const TEXTS: usize = 96;
const CALL: usize = 32;

fn main() {
    let args: Vec<String> = std::env::args().skip(1).filter(|arg| arg != "--bench").collect();
    let words: Vec<&str> = args.iter().map(String::as_str).collect();
    match words[..] {
        ["quality", tokens] => measure(tokens.parse().unwrap(), LocalModel::builtin),
        ["minilm", path, tokens] => {
            measure(tokens.parse().unwrap(), || LocalModel::minilm(Path::new(path)).unwrap());
        }
        _ => run_all(),
    }
}

fn run_all() {
    for tokens in ["100", "200"] {
        step(&["quality", tokens]);
    }
    if let Ok(path) = std::env::var("ANEMONE_MINILM") {
        for tokens in ["100", "200"] {
            step(&["minilm", &path, tokens]);
        }
    }
}

/// Runs one measurement in a separate process.
fn step(args: &[&str]) {
    let out = Command::new(std::env::current_exe().unwrap()).args(args).output().unwrap();
    let text = String::from_utf8(out.stdout).unwrap();
    assert!(out.status.success(), "{text} {}", String::from_utf8_lossy(&out.stderr));
    println!("{:<8} {:>4} tokens: {}", args[0], args[args.len() - 1], text.trim());
}

fn measure<E: Embedder>(tokens: usize, open: impl FnOnce() -> E) {
    let _: &Tokenizer = Tokenizer::get();
    let start = cpu_ms();
    let model = open();
    model.embed(&["ready"], Purpose::Query).unwrap();
    let ready = cpu_ms() - start;

    let texts: Vec<String> = (0..TEXTS).map(|seed| text(seed, tokens)).collect();
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    let start = cpu_ms();
    for texts in texts.chunks(CALL) {
        model.embed(texts, Purpose::Document).unwrap();
    }
    let took = cpu_ms() - start;
    let peak_mb = getrusage(UsageWho::RUSAGE_SELF).unwrap().max_rss() as f64 / 1024.0;
    println!(
        "{:.1} texts/CPU s, {:.1} ms each, ready in {ready:.0} ms, peak {peak_mb:.0} MB",
        TEXTS as f64 * 1000.0 / took,
        took / TEXTS as f64,
    );
}

/// Returns a text of `tokens` word pieces, with the start and the end that the model adds.
fn text(seed: usize, tokens: usize) -> String {
    const WORDS: [&str; 7] = ["tea", "garden", "server", "meeting", "paper", "window", "train"];
    let words = (0..tokens - 2).map(|n| WORDS[(n * n + seed) % WORDS.len()]);
    words.collect::<Vec<_>>().join(" ")
}

fn cpu_ms() -> f64 {
    let usage = getrusage(UsageWho::RUSAGE_SELF).unwrap();
    let time = usage.user_time() + usage.system_time();
    time.tv_sec() as f64 * 1000.0 + time.tv_usec() as f64 / 1000.0
}
