use crate::proof::Loss;

use super::*;

fn report(lost: usize) -> MigrateReport {
    let place =
        || AgentPlace { runtime: "openclaw", agent: "main".to_owned(), workspace: "w".to_owned() };
    let loss = |number| Loss {
        layer: "memory",
        what: format!("record {number}"),
        reason: "neither in the runtime nor in the sidecar".to_owned(),
    };
    MigrateReport {
        dry_run: false,
        agent_name: "Mira".to_owned(),
        agent_id: String::new(),
        from: place(),
        to: place(),
        snapshots: vec![SnapshotLine { of: "source", path: "s.alf".to_owned(), file_size: 1 }],
        plan: PlanSummary {
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
fn a_loss_is_an_error_that_has_the_whole_report() {
    assert!(judge(report(0)).is_ok());
    let Err(MigrateError::Lost { lost, report }) = judge(report(25)) else { panic!("it is whole") };
    assert_eq!((lost, report.proof.unwrap().lost.len()), (25, 25));
}
