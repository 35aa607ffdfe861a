//! The examples do what they say.

#[path = "../examples/remember.rs"]
#[expect(dead_code, reason = "nobody calls `main` here")]
mod remember;

#[test]
fn what_the_example_remembers_it_finds() {
    let folder = tempfile::tempdir().expect("there is a temporary folder");
    let hits = remember::remember_and_recall(folder.path()).expect("it runs");
    assert!(hits.first().is_some_and(|hit| hit.contains("green tea")), "{hits:?}");
}
