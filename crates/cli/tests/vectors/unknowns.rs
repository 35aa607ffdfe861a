//! Sound files with parts that are newer than their reader, who has to keep them.

use super::alf::{Alf, delta_manifest, delta_with, edit, operation, record, record_with};
use super::documents as doc;
use super::make::{Class, Vector};
use super::zip::Zip;

pub(crate) fn all() -> Vec<Vector> {
    [fields(), words(), parts(), deltas()].into_iter().flatten().collect()
}

fn unknowns(name: &str, behaviour: &'static str, bytes: Vec<u8>) -> Vector {
    Vector::archive(Class::OkWithUnknowns, name, behaviour, bytes)
}

fn fields() -> Vec<Vector> {
    let older = edit(&record(2), "2026-01-15", "2026-01-02");
    vec![
        unknowns(
            "field-manifest",
            "An unknown field of the manifest.",
            Alf::of(&[record(1)]).field("x-new", r#"{"k":[1,2.50]}"#).bytes(),
        ),
        unknowns(
            "field-agent",
            "An unknown field of the agent in the manifest.",
            Alf::of(&[record(1)])
                .edit(r#""name":"Clawdia","#, r#""name":"Clawdia","x-new":1.50,"#)
                .bytes(),
        ),
        unknowns(
            "field-partition",
            "Unknown fields of the memory layer and of a partition in the manifest.",
            Alf::of(&[record(1)])
                .edit(r#""index_file":"#, r#""x-new":1.50,"index_file":"#)
                .edit(r#""sealed":true"#, r#""sealed":true,"x-new":1.50"#)
                .bytes(),
        ),
        unknowns(
            "field-identity",
            "An unknown field in every object of the persona.",
            doc::with_identity(&doc::with_unknown_fields(doc::IDENTITY)).bytes(),
        ),
        unknowns(
            "field-principals",
            "An unknown field in every object of the principals.",
            doc::with_principals(&doc::with_unknown_fields(doc::PRINCIPALS)).bytes(),
        ),
        unknowns(
            "field-credentials",
            "An unknown field in every object of the credentials.",
            doc::with_credentials(&doc::with_unknown_fields(doc::CREDENTIALS)).bytes(),
        ),
        unknowns(
            "field-attachments",
            "An unknown field in every object of the attachments.",
            doc::with_attachments(&doc::with_unknown_fields(&doc::attachments())).bytes(),
        ),
        unknowns(
            "field-record",
            "An unknown field in every object of a record.",
            Alf::of(&[older, doc::with_unknown_fields(&doc::record())]).bytes(),
        ),
        unknowns(
            "field-number",
            "An unknown field with a number that no machine type can hold; its digits must be kept.",
            Alf::of(&[record_with(r#""x-new":12345678901234567890.1234567890123456789"#)]).bytes(),
        ),
        unknowns(
            "field-index",
            "Unknown fields of the index and of a partition in it.",
            Alf::of(&[record(1)])
                .edit_index(r#""partitions":[{"#, r#""x-new":1.50,"partitions":[{"x-new":1.50,"#)
                .bytes(),
        ),
        unknowns(
            "field-entry",
            "An unknown field of an entry in the list of digests.",
            Alf::with_soul()
                .listed_after(|entries| {
                    let soul = entries.iter_mut().find(|entry| entry.path.ends_with("SOUL.md"));
                    let soul = soul.expect("the file is listed");
                    soul.unknown.insert("x-new", "1.50").expect("it is JSON");
                })
                .sealed(),
        ),
    ]
}

fn words() -> Vec<Vector> {
    let in_record = |from: &str, to: &str| Alf::of(&[edit(&record(1), from, to)]).bytes();
    let identity = doc::plain(doc::IDENTITY);
    vec![
        unknowns(
            "word-memory-type",
            "An unknown type of memory, to be acted on as semantic.",
            in_record("semantic", "dream"),
        ),
        unknowns(
            "word-status",
            "An unknown status of a record, to be acted on as active.",
            in_record("active", "dormant"),
        ),
        unknowns(
            "word-extraction-method",
            "An unknown extraction method.",
            in_record(
                r#""runtime":"openclaw""#,
                r#""runtime":"openclaw","extraction_method":"system_generated""#,
            ),
        ),
        unknowns(
            "word-entity-type",
            "An unknown type of entity, to be acted on as other.",
            Alf::of(&[record_with(r#""entities":[{"name":"Rex","type":"pet"}]"#)]).bytes(),
        ),
        unknowns(
            "word-embedding-source",
            "An unknown source of an embedding, to be acted on as the runtime.",
            Alf::of(&[record_with(concat!(
                r#""embeddings":[{"model":"acme/embed-1","dimensions":1,"vector":[1],"#,
                r#""computed_at":"2026-01-15T10:00:01Z","source":"oracle"}]"#
            ))])
            .bytes(),
        ),
        unknowns(
            "word-portability",
            "An unknown portability of a capability.",
            doc::with_identity(&edit(&identity, "host_dependent", "portable_by_sea")).bytes(),
        ),
        unknowns(
            "word-sub-agent-status",
            "An unknown status of a sub-agent, to be acted on as active.",
            doc::with_identity(&edit(&identity, r#""inactive""#, r#""asleep""#)).bytes(),
        ),
        unknowns(
            "word-principal-type",
            "An unknown type of principal, to be acted on as human.",
            doc::with_principals(&edit(
                &doc::plain(doc::PRINCIPALS),
                "\"principal_type\": \"human\",\n      \"agent_id\"",
                "\"principal_type\": \"committee\",\n      \"agent_id\"",
            ))
            .bytes(),
        ),
        unknowns(
            "word-credential-type",
            "An unknown type of credential, to be acted on as custom.",
            doc::with_credentials(&edit(&doc::plain(doc::CREDENTIALS), "api_key", "passkey"))
                .bytes(),
        ),
    ]
}

fn parts() -> Vec<Vector> {
    vec![
        unknowns(
            "layer",
            "An unknown layer.",
            Alf::of(&[record(1)])
                .layer(
                    "dreams",
                    r#"{"count":1,"file":"dreams.json"}"#,
                    "{\"dreams\":[\"sheep\"]}\n",
                )
                .bytes(),
        ),
        unknowns(
            "entry",
            "An entry at an unknown path.",
            Alf::of(&[record(1)]).file("future/graph.bin", [0, 1, 2, 255]).bytes(),
        ),
        unknowns(
            "newer-minor-with-unknowns",
            "Format version 1.9.0 with a new field, a new word, a new layer and a new entry.",
            Alf::of(&[edit(&record_with(r#""mood":"calm""#), "semantic", "dream")])
                .field("alf_version", r#""1.9.0""#)
                .layer(
                    "dreams",
                    r#"{"count":1,"file":"dreams.json"}"#,
                    "{\"dreams\":[\"sheep\"]}\n",
                )
                .file("future/graph.bin", [0, 1, 2, 255])
                .bytes(),
        ),
    ]
}

fn deltas() -> Vec<Vector> {
    let unknowns = |name, behaviour, zip: Zip| {
        Vector::delta(Class::OkWithUnknowns, name, behaviour, zip.bytes())
    };
    let line = operation("create", &record(1));
    let manifest = delta_manifest(&line);
    let unknown_line = operation("create", &record_with(r#""x-new":1.50"#));
    vec![
        unknowns(
            "delta-field-manifest",
            "An unknown field in every object of the manifest of a delta.",
            Zip::new(delta_with(&line, manifest.replace('{', r#"{"x-new":1.50,"#))),
        ),
        unknowns(
            "delta-field-record",
            "An unknown field of a record in a delta.",
            Zip::new(delta_with(&unknown_line, &manifest)),
        ),
        unknowns(
            "delta-word",
            "An unknown type of memory in a delta.",
            Zip::new(delta_with(&edit(&line, "semantic", "dream"), &manifest)),
        ),
    ]
}
