//! The performance figures that we promise for the tokenizer and the built-in table: CPU seconds
//! and peak memory.
//!
//! Each figure is measured in a separate process. Machines differ, and so does their load: compare
//! the ratios. Nothing is asserted here.
//!
//! ```text
//! cargo bench -p anemone-embed --bench figures
//! cargo bench -p anemone-embed --bench figures -- table
//! ```

#![expect(clippy::print_stdout, reason = "a benchmark prints its table")]
#![expect(clippy::unwrap_used, reason = "a benchmark that fails should say where")]

use std::process::Command;

use anemone_embed::{Builtin, Embedder as _, Purpose, Tokenizer};
use nix::sys::resource::{UsageWho, getrusage};

/// Tokens in a text.
const TOKENS: usize = 100;
/// Texts that are read in turn.
const TEXTS: usize = 2_000;
const ROUNDS: usize = 20;

fn main() {
    let what = std::env::args().skip(1).find(|arg| arg != "--bench");
    match what.as_deref() {
        Some("tokenizer, ready") => tokenizer_ready(),
        Some("tokenizer, English") => tokenizer(&texts()),
        Some("tokenizer, Cyrillic") => tokenizer(&cyrillic()),
        Some("table, ready") => table_ready(),
        Some("table") => table(),
        _ => run_all(),
    }
}

fn run_all() {
    for step in
        ["tokenizer, ready", "tokenizer, English", "tokenizer, Cyrillic", "table, ready", "table"]
    {
        let out = Command::new(std::env::current_exe().unwrap()).arg(step).output().unwrap();
        assert!(out.status.success(), "{}", String::from_utf8_lossy(&out.stderr));
        println!("{step:<24} {}", String::from_utf8(out.stdout).unwrap().trim());
    }
}

fn tokenizer_ready() {
    let before = cpu_seconds();
    let count = Tokenizer::get().encode("ready", 10).len();
    println!("{:.2} CPU ms to the first {count}, RSS {:.1} MB", ms_since(before), peak_mb());
}

fn tokenizer(texts: &[String]) {
    let tokenizer = Tokenizer::get();
    let before = cpu_seconds();
    let mut tokens = 0;
    for text in texts.iter().cycle().take(TEXTS * ROUNDS) {
        tokens += tokenizer.encode(text, TOKENS).len();
    }
    let cpu = cpu_seconds() - before;
    println!("{:.1} million tokens a CPU s", tokens as f64 / cpu / 1e6);
}

fn table_ready() {
    let before = cpu_seconds();
    let builtin = Builtin::new();
    let made = ms_since(before);
    let vector = builtin.embed(&["ready"], Purpose::Query).unwrap();
    assert_eq!(vector.len(), 1);
    println!(
        "{made:.2} CPU ms to know the dimensions, {:.2} to the first vector, RSS {:.1} MB",
        ms_since(before),
        peak_mb()
    );
}

fn table() {
    let texts = texts();
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    let builtin = Builtin::new();
    let before = cpu_seconds();
    for _ in 0..ROUNDS {
        for some in texts.chunks(50) {
            assert_eq!(builtin.embed(some, Purpose::Document).unwrap().len(), some.len());
        }
    }
    let cpu = cpu_seconds() - before;
    println!(
        "{:.0} texts of {TOKENS} tokens a CPU s at {} dimensions, RSS {:.1} MB",
        (TEXTS * ROUNDS) as f64 / cpu,
        builtin.identity().dimensions,
        peak_mb()
    );
}

/// Texts of pieces from the whole vocabulary, the common ones more often.
fn texts() -> Vec<String> {
    let tokenizer = Tokenizer::get();
    let mut state = 88_172_645_463_325_252_u64;
    let mut share = move || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 40) as f64 / (1_u64 << 24) as f64
    };
    let mut text = || {
        let mut text = String::new();
        while tokenizer.encode(&text, TOKENS).len() < TOKENS {
            for _ in 0..8 {
                let piece = tokenizer.piece(1_996 + (27_000.0 * share().powi(3)) as u32).unwrap();
                text += if piece.starts_with("##") { "" } else { " " };
                text += piece.trim_start_matches("##");
            }
        }
        text
    };
    (0..TEXTS).map(|_| text()).collect()
}

/// Texts in another script, whose letters take the slow path.
fn cyrillic() -> Vec<String> {
    let letters: Vec<char> = ('а'..='я').collect();
    let word =
        |at: usize| (0..7).map(|place| letters[(at * 7 + place * place) % 32]).collect::<String>();
    let text = |at: usize| (0..15).map(|place| word(at + place) + " ").collect();
    (0..TEXTS).map(text).collect()
}

fn ms_since(before: f64) -> f64 {
    (cpu_seconds() - before) * 1e3
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
