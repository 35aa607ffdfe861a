//! `anemone`: keeps an AI agent's memory when everything around it changes.
//!
//! This crate is the only one that prints, reads the environment, asks the clock, makes random
//! ids and sets exit codes. A command is a small module: arguments, then one function from those
//! to a value; the value is printed once, by [`output`].

mod alf;
mod args;
mod commands;
mod console;
mod environment;
mod human;
mod output;
mod progress;
mod restored;
mod runtime_words;
mod signals;

use std::process::ExitCode;

use crate::commands::Cli;
use crate::output::Printer;
use crate::signals::OnSignal;

fn main() -> ExitCode {
    // A child process of ours that reads an untrusted database: nothing else is set up.
    if std::env::args_os().nth(1).is_some_and(|os| os == anemone_runtimes::SERVE_ARGUMENT) {
        return serve();
    }
    let environment = environment::Environment::read();
    if std::env::args_os().next().is_some_and(|os| alf::is_meant(&os)) {
        return alf::run(&environment);
    }
    let cli = match Cli::read() {
        Ok(cli) => cli,
        Err(error) => return output::print_usage(error, &environment),
    };
    let printer = Printer::new(cli.global.format(), &environment);
    signals::tidy_up_on_signals(match printer.is_json() && cli.answers_once() {
        true => OnSignal::PrintDocument,
        false => OnSignal::SayNothing,
    });
    match commands::run(cli, &environment, &printer) {
        Ok(code) => code,
        Err(error) => printer.print_error(&error),
    }
}

fn serve() -> ExitCode {
    match anemone_runtimes::serve_database(std::io::stdin().lock(), std::io::stdout().lock()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(_) => ExitCode::FAILURE,
    }
}
