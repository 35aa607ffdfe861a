//! The vectors of OpenClaw's search index and of its cache, of either generation.
//!
//! A row of a chunk has its text; a row of the cache has the SHA-256 of a text. The provider of the
//! chunks' vectors is only in the description of the index.

use std::path::Path;

use super::{index::Meta, index::vector_in, install::InstallDatabase};
use crate::kit::{
    DatabaseError, FoundAgent, Machine, Read, ReadError, Value, VectorOf, WantedModel, digest_in,
};

/// Yields vectors of a model.
pub(super) fn read(
    machine: &Machine,
    agent: &FoundAgent,
    wanted: &WantedModel<'_>,
    take: &mut dyn FnMut(VectorOf<'_>, Vec<f32>),
) -> Result<(), ReadError> {
    let Some(path) = agent.database.as_deref() else { return Ok(()) };
    each(machine, path, wanted, take).map_err(|error| ReadError::vectors(path, error))
}

fn each(
    machine: &Machine,
    path: &Path,
    wanted: &WantedModel<'_>,
    take: &mut dyn FnMut(VectorOf<'_>, Vec<f32>),
) -> Result<(), DatabaseError> {
    let Some(database) = InstallDatabase::open(machine, path)? else { return Ok(()) };
    let (chunks, meta, cache) = if database.has("memory_index_chunks") {
        ("memory_index_chunks", "memory_index_meta", "memory_embedding_cache")
    } else {
        ("chunks", "meta", "embedding_cache")
    };
    let meta = Meta::read(&database, meta)?;
    // Rows of other models are not read: vectors are most of a database.
    for name in wanted.names() {
        let read = Read::of(chunks, &["text", "embedding"]).only("model", &name);
        let rows = if wanted.is_named(&meta.tag(&name)) { database.rows(&read)? } else { None };
        for row in rows.into_iter().flatten() {
            let row = row?;
            let [Value::Text(text), embedding] = row.as_slice() else { continue };
            if let Some(vector) = vector_in(embedding).filter(|vector| wanted.fits(vector)) {
                take(VectorOf::Text(text), vector);
            }
        }
        let read = Read::of(cache, &["provider", "hash", "embedding"]).only("model", &name);
        for row in database.rows(&read)?.into_iter().flatten() {
            let row = row?;
            let [Value::Text(provider), Value::Text(hash), embedding] = row.as_slice() else {
                continue;
            };
            let Some(digest) = digest_in(hash) else { continue };
            if !wanted.is_named(&Meta::of(provider).tag(&name)) {
                continue;
            }
            if let Some(vector) = vector_in(embedding).filter(|vector| wanted.fits(vector)) {
                take(VectorOf::Digest(digest), vector);
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use rusqlite::Connection;
    use sha2::{Digest as _, Sha256};
    use tempfile::TempDir;

    use super::*;
    use crate::kit::database::tests::machine;
    use crate::openclaw::RUNTIME;

    /// What was yielded: a text or the start of a digest, and the first number.
    fn read_all(script: &str, provider: &str, model: &str) -> Vec<(String, f32)> {
        let home = TempDir::new().unwrap();
        let path = home.path().join("index.sqlite");
        Connection::open(&path).unwrap().execute_batch(script).unwrap();
        let mut agent = FoundAgent::without_install(RUNTIME, "main".into(), home.path().to_owned());
        agent.database = Some(path);
        let wanted = WantedModel { provider, model, dimensions: 2 };
        let mut found = Vec::new();
        read(&machine(home.path()), &agent, &wanted, &mut |of, vector| {
            let of = match of {
                VectorOf::Text(text) => text.to_owned(),
                VectorOf::Digest(it) if it == <[u8; 32]>::from(Sha256::digest("tea")) => {
                    "sha256 of tea".to_owned()
                }
                VectorOf::Digest(_) => "sha256".to_owned(),
            };
            found.push((of, vector[0]));
        })
        .unwrap();
        found
    }

    fn of(text: &str, number: f32) -> (String, f32) {
        (text.to_owned(), number)
    }

    #[test]
    fn the_old_generation_gives_chunks_and_its_cache() {
        let tea = anemone_format::sha256_hex(b"tea");
        let script = format!(
            r#"CREATE TABLE meta(key TEXT PRIMARY KEY, value TEXT NOT NULL);
               INSERT INTO meta VALUES ('memory_index_meta_v1', '{{"provider":"openai"}}');
               CREATE TABLE chunks(id, path, source, hash, model, text, embedding, updated_at);
               INSERT INTO chunks(model, text, embedding) VALUES
                 ('small', 'plain', '[1, 0]'), ('openai/small', 'named', '[2, 0]'),
                 ('small', 'short', '[1]'), ('small', 'zeros', '[0, 0]'),
                 ('small', 'odd', '[1, "x"]'), ('small', 'none', ''),
                 ('small', NULL, '[1, 0]'), ('large', 'large', '[1, 0]');
               CREATE TABLE embedding_cache(provider, model, provider_key, hash, embedding, dims);
               INSERT INTO embedding_cache(provider, model, hash, embedding) VALUES
                 ('openai', 'small', '{tea}', '[3, 0]'), ('gemini', 'small', '{tea}', '[4, 0]'),
                 ('openai', 'small', 'x', '[5, 0]'), ('openai', 'large', '{tea}', '[6, 0]');"#
        );
        assert_eq!(
            read_all(&script, "openai", "small"),
            [of("plain", 1.0), of("sha256 of tea", 3.0), of("named", 2.0)]
        );
        assert_eq!(read_all(&script, "gemini", "small"), [of("sha256 of tea", 4.0)]);
        assert_eq!(read_all(&script, "openai", "other"), []);
    }

    #[test]
    fn the_new_generation_gives_numbers_of_eight_bytes() {
        let tea = anemone_format::sha256_hex(b"tea");
        // 1.0 and 0.0 as eight bytes each, the lowest first.
        let one = "x'000000000000f03f0000000000000000'";
        let script = format!(
            r#"CREATE TABLE memory_index_meta(key TEXT PRIMARY KEY, value TEXT NOT NULL);
               INSERT INTO memory_index_meta VALUES
                 ('memory_index_meta_v1', '{{"provider":"openai","model":"small"}}');
               CREATE TABLE memory_index_chunks(id, path, source, model, text, embedding);
               INSERT INTO memory_index_chunks(model, text, embedding) VALUES
                 ('small', 'whole', {one}), ('small', 'cut', x'0000'), ('small', 'empty', x''),
                 ('small', 'nan', x'000000000000f87f0000000000000000'),
                 ('fts-only', 'words', x'');
               CREATE TABLE memory_embedding_cache(provider, model, provider_key, hash, embedding);
               INSERT INTO memory_embedding_cache(provider, model, hash, embedding) VALUES
                 ('openai', 'small', '{tea}', {one});"#
        );
        let both = [of("whole", 1.0), of("sha256 of tea", 1.0)];
        assert_eq!(read_all(&script, "openai", "small"), both);
        assert_eq!(read_all(&script, "ollama", "small"), []);
    }

    #[test]
    fn no_index_has_no_vectors_and_a_broken_one_is_an_error() {
        assert_eq!(read_all("CREATE TABLE other(x);", "openai", "small"), []);
        let home = TempDir::new().unwrap();
        let mut agent = FoundAgent::without_install(RUNTIME, "main".into(), home.path().to_owned());
        let wanted = WantedModel { provider: "openai", model: "small", dimensions: 2 };
        let read = |agent: &FoundAgent| {
            read(&machine(home.path()), agent, &wanted, &mut |_, _| panic!("there is nothing"))
        };
        assert!(read(&agent).is_ok());
        agent.database = Some(home.path().join("absent"));
        assert!(read(&agent).is_ok());
        let broken = home.path().join("broken");
        fs_err::write(&broken, "no database, surely no database".repeat(50)).unwrap();
        agent.database = Some(broken);
        assert!(matches!(read(&agent), Err(ReadError::Vectors { .. })));
    }
}
