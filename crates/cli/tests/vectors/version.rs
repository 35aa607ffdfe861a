//! Files from another age of the format.

use super::alf::{Alf, PARTITION, delta_manifest, delta_with, edit, operation, record};
use super::make::{Class, Vector};
use super::zip::{Item, Zip};

pub(crate) fn all() -> Vec<Vector> {
    let vector =
        |name, behaviour, bytes| Vector::archive(Class::RefuseVersion, name, behaviour, bytes);
    let one = Alf::of(&[record(1)]);
    let created = operation("create", &record(1));
    vec![
        vector(
            "major-2",
            "Format version 2.0.0.",
            one.clone().field("alf_version", r#""2.0.0""#).bytes(),
        ),
        vector(
            "major-10",
            "Format version 10.0.0: a major version is a number, not a digit.",
            one.clone().field("alf_version", r#""10.0.0""#).bytes(),
        ),
        vector(
            "major-0",
            "Format version 0.9.0: older than the first release.",
            one.clone().field("alf_version", r#""0.9.0""#).bytes(),
        ),
        vector(
            "major-2-other-shape",
            "Format version 2.0.0 in a manifest that has another shape; the version decides.",
            Zip::new(vec![Item::stored(
                "manifest.json",
                r#"{"alf_version":"2.0.0","agent":[1],"layers":"see index","created_at":0}"#,
            )])
            .bytes(),
        ),
        vector(
            "requires-unknown",
            "The manifest requires a feature that no reader of 1.0.0 has.",
            one.clone().field("requires", r#"["telepathy"]"#).bytes(),
        ),
        vector(
            "requires-before-damage",
            "A required feature may explain what looks like damage, here a missing partition.",
            one.field("requires", r#"["cbor-partitions"]"#)
                .with_item(PARTITION, |item| {
                    item.both(|header| header.name = b"memory/partitions/2026-Q1.cbor".to_vec())
                })
                .bytes(),
        ),
        Vector::delta(
            Class::RefuseVersion,
            "delta-major-2",
            "A delta of format version 2.0.0.",
            Zip::new(delta_with(&created, edit(&delta_manifest(&created), "1.0.0", "2.0.0")))
                .bytes(),
        ),
        Vector::delta(
            Class::RefuseVersion,
            "delta-requires-unknown",
            "A delta that requires a feature that no reader of 1.0.0 has.",
            Zip::new(delta_with(
                &created,
                edit(
                    &delta_manifest(&created),
                    r#"{"alf_version""#,
                    r#"{"requires":["telepathy"],"alf_version""#,
                ),
            ))
            .bytes(),
        ),
    ]
}
