//! The relation of pairs that a person judged.

use super::{Relation, relation};

/// How a pair was judged, and its line.
struct Judged {
    line: &'static str,
    verdict: &'static str,
    found: &'static str,
}

fn judged(table: &'static str) -> Vec<Judged> {
    let lines = table.lines().filter(|line| line.contains(" | ") && !line.starts_with('#'));
    lines
        .map(|line| {
            let parts: Vec<&str> = line.split(" | ").collect();
            let [verdict, old, new] = parts[..] else { panic!("{line}") };
            let found = match relation(old, new) {
                Relation::Same | Relation::Less => "duplicate",
                Relation::Changed => "changed",
                Relation::More | Relation::Other => "different",
            };
            Judged { line, verdict, found }
        })
        .collect()
}

/// Checks a table: nothing that still holds is hidden, nothing new is refused, and nearly all changes
/// are found.
fn check(table: &'static str, least: usize) {
    let all = judged(table);
    assert!(all.len() >= least, "{}", all.len());
    let lines = |is_wrong: &dyn Fn(&Judged) -> bool| -> Vec<&str> {
        all.iter().filter(|pair| is_wrong(pair)).map(|pair| pair.line).collect()
    };
    let hidden = lines(&|pair| pair.found == "changed" && pair.verdict != "changed");
    assert!(hidden.is_empty(), "hidden: {hidden:#?}");
    let refused = lines(&|pair| pair.found == "duplicate" && pair.verdict != "duplicate");
    assert!(refused.is_empty(), "refused: {refused:#?}");
    let missed = lines(&|pair| pair.found == "different" && pair.verdict != "different");
    assert!(missed.len() * 20 <= all.len(), "not found: {missed:#?}");
}

#[test]
fn the_pairs_of_the_rules_are_told_apart() {
    check(include_str!("pairs.txt"), 300);
}

#[test]
fn so_are_nearly_all_that_no_rule_was_made_for() {
    check(include_str!("held_out.txt"), 220);
}
