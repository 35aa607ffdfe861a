use crate::proof::Loss;

use super::*;

fn migrated(lost: usize) -> Migrated {
    let side = || Side { runtime: "openclaw", agent: "main".to_owned(), workspace: "w".to_owned() };
    let loss = |number| Loss {
        layer: "memory",
        what: format!("record {number}"),
        reason: "neither in the runtime nor in the sidecar".to_owned(),
    };
    let snapshot = SnapshotLine { of: "source", path: "s.alf".to_owned(), file_size: 1 };
    Migrated {
        ok: true,
        dry_run: false,
        agent_name: "Mira".to_owned(),
        agent_id: String::new(),
        from: side(),
        to: side(),
        snapshots: vec![snapshot],
        plan: PlanLines {
            layers: Vec::new(),
            forgotten: ForgottenLine { count: 0, names: Vec::new() },
        },
        proof: Some(Proof { layers: Vec::new(), lost: (0..lost).map(loss).collect() }),
        stores: Stores {
            memories: None,
            config: None,
            credentials_restored: None,
            replaced_kept_at: None,
        },
        warnings: Vec::new(),
        not_carried: Vec::new(),
    }
}

#[test]
fn what_is_lost_is_an_error_that_lists_the_first_twenty() {
    assert!(judge(migrated(0)).is_ok());
    let error = judge(migrated(25)).err().unwrap();
    assert_eq!((error.kind.exit_code(), error.code), (1, "lost"));
    assert_eq!(error.causes.len(), 21);
    assert!(error.causes[0].starts_with("memory: record 0: neither"), "{:?}", error.causes);
    assert_eq!(error.causes[20], "and 5 more");
    let details = error.details.unwrap();
    assert_eq!(details["proof"]["lost"].as_array().unwrap().len(), 25);
    assert_eq!(details.get("ok"), None);
    assert!(error.hint.unwrap().contains("s.alf"));
}

#[test]
fn a_place_is_a_runtime_and_perhaps_a_folder() {
    let place: Place = "zeroclaw:/a:b".parse().unwrap();
    assert_eq!((place.runtime.as_str(), place.folder), ("zeroclaw", Some("/a:b".into())));
    let place: Place = "openclaw".parse().unwrap();
    assert_eq!((place.runtime.as_str(), place.folder), ("openclaw", None));
    assert!("openclaw:".parse::<Place>().is_err());
}
