//! Records with every field, sometimes.

use anemone_format::{
    Embedding, EmbeddingSource, Entity, EntityKind, ExtractionMethod, MemoryType, Record, Relation,
    Source, Status, Temporal,
};
use proptest::collection::vec;
use proptest::num::f32::{NEGATIVE, NORMAL, POSITIVE, SUBNORMAL, ZERO};
use proptest::prelude::*;
use proptest::sample::select;

use super::build::build;
use super::value::{
    Space, content, count, list, maybe, moment, opaque, ordinal, share, text, unknown, word,
    workspace_path,
};
use super::{AGENT, record_id};

const SPACE: Space = Space::Line;

pub(super) fn record() -> BoxedStrategy<Record> {
    build!(Record {
        id: record_id(),
        agent_id: Just(AGENT),
        content: content(),
        memory_type: word::<MemoryType>(MemoryType::WORDS),
        source: source(),
        temporal: temporal(),
        status: word::<Status>(Status::WORDS),
        namespace: text(),
        category: maybe(text()),
        supersedes: maybe(record_id()),
        confidence: maybe(share()),
        entities: list(entity()),
        tags: list(text()),
        embeddings: list(embedding()),
        related_records: list(relation()),
        raw_source_format: maybe(opaque(SPACE)),
        unknown: unknown(SPACE),
    })
}

fn source() -> BoxedStrategy<Source> {
    build!(Source {
        runtime: text(),
        runtime_version: maybe(text()),
        origin: maybe(text()),
        origin_file: maybe(workspace_path()),
        extraction_method: maybe(word::<ExtractionMethod>(ExtractionMethod::WORDS)),
        session_id: maybe(text()),
        interaction_id: maybe(text()),
        identity_version: maybe(ordinal()),
        unknown: unknown(SPACE),
    })
}

fn temporal() -> BoxedStrategy<Temporal> {
    build!(Temporal {
        created_at: moment(),
        updated_at: maybe(moment()),
        observed_at: maybe(moment()),
        valid_from: maybe(moment()),
        valid_until: maybe(moment()),
        last_accessed_at: maybe(moment()),
        access_count: maybe(count()),
        unknown: unknown(SPACE),
    })
}

fn entity() -> BoxedStrategy<Entity> {
    build!(Entity {
        name: text(),
        kind: word::<EntityKind>(EntityKind::WORDS),
        role: maybe(text()),
        unknown: unknown(SPACE),
    })
}

fn embedding() -> BoxedStrategy<Embedding> {
    let odd =
        select(&[f32::MAX, f32::MIN, f32::MIN_POSITIVE, 1e-45, -0.0, 0.1, 16_777_217.0, 1e10]);
    let number = prop_oneof![1 => odd, 3 => POSITIVE | NEGATIVE | NORMAL | SUBNORMAL | ZERO];
    let embedding = build!(Embedding {
        model: text().prop_map(|name| format!("provider/{name}")),
        provider: maybe(text()),
        dimensions: Just(0),
        vector: vec(number, 1..12),
        computed_at: moment(),
        source: word::<EmbeddingSource>(EmbeddingSource::WORDS),
        unknown: unknown(SPACE),
    });
    embedding
        .prop_map(|embedding| Embedding { dimensions: embedding.vector.len() as u64, ..embedding })
        .boxed()
}

fn relation() -> BoxedStrategy<Relation> {
    build!(Relation { id: record_id(), relation: text(), unknown: unknown(SPACE) })
}
