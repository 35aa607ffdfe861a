//! Runs the program as its users do: one module for each command, one test binary.
//!
//! The library's tests prove what they can. These tests cover what a user sees: the output, the
//! exit code, and the files in the folder afterwards.

#[path = "it/agents.rs"]
mod agents;
#[path = "it/alf.rs"]
mod alf;
#[path = "it/apply.rs"]
mod apply;
#[path = "it/audit.rs"]
mod audit;
#[path = "it/browser.rs"]
mod browser;
#[path = "it/check.rs"]
mod check;
#[path = "it/claims.rs"]
mod claims;
#[path = "it/completions.rs"]
mod completions;
#[path = "it/concurrency.rs"]
mod concurrency;
#[path = "it/config.rs"]
mod config;
#[path = "it/connect.rs"]
mod connect;
#[path = "it/context.rs"]
mod context;
#[path = "it/decrypt.rs"]
mod decrypt;
#[path = "it/delta.rs"]
mod delta;
#[path = "it/demo.rs"]
mod demo;
#[path = "it/desk.rs"]
mod desk;
#[path = "it/diff.rs"]
mod diff;
#[path = "it/embedder.rs"]
mod embedder;
#[path = "it/encrypt.rs"]
mod encrypt;
#[path = "it/environment.rs"]
mod environment;
#[path = "it/eval.rs"]
mod eval;
#[path = "it/export.rs"]
mod export;
#[path = "it/forged.rs"]
mod forged;
#[path = "it/forget.rs"]
mod forget;
#[path = "it/get.rs"]
mod get;
#[path = "it/help.rs"]
mod help;
#[path = "it/hook.rs"]
mod hook;
#[path = "it/import.rs"]
mod import;
#[path = "it/index.rs"]
mod index;
#[path = "it/input.rs"]
mod input;
#[path = "it/inspect.rs"]
mod inspect;
#[path = "it/install.rs"]
mod install;
#[path = "it/list.rs"]
mod list;
#[path = "it/man.rs"]
mod man;
#[path = "it/mcp.rs"]
mod mcp;
#[path = "it/migrate.rs"]
mod migrate;
#[path = "it/model.rs"]
mod model;
#[path = "it/names.rs"]
mod names;
#[path = "it/output.rs"]
mod output;
#[path = "it/purge.rs"]
mod purge;
#[path = "it/remember.rs"]
mod remember;
#[path = "it/repacked.rs"]
mod repacked;
#[path = "it/round_trip.rs"]
mod round_trip;
#[path = "it/sealed.rs"]
mod sealed;
#[path = "it/search.rs"]
mod search;
#[path = "it/secrets.rs"]
mod secrets;
#[path = "it/seeds.rs"]
mod seeds;
#[path = "it/status.rs"]
mod status;
#[path = "it/stdio.rs"]
mod stdio;
#[path = "it/terminal.rs"]
mod terminal;
#[path = "it/tidy.rs"]
mod tidy;
#[path = "it/trust.rs"]
mod trust;
#[path = "it/undo.rs"]
mod undo;
#[path = "it/validate.rs"]
mod validate;
#[path = "it/vault.rs"]
mod vault;
#[path = "it/workspace.rs"]
mod workspace;
#[path = "it/zeroclaw.rs"]
mod zeroclaw;

#[test]
fn every_file_of_tests_is_part_of_this_binary() {
    let here = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it");
    for entry in fs_err::read_dir(here).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        let line = format!("#[path = \"it/{name}\"]");
        let known = include_str!("it.rs").contains(&line);
        assert!(known || !name.ends_with(".rs"), "{name} is forgotten");
    }
}

#[test]
#[ignore = "holds a database for another test, which starts it"]
fn holds_a_database_for_another_test() {
    anemone_testkit::database::hold_database();
}
