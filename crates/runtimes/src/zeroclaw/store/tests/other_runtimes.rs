//! Records of another runtime, and rows that come back from one.

use super::*;

#[test]
fn records_of_another_runtime_become_rows() {
    let home = TempDir::new().unwrap();
    let to = home.path().join("brain.db");
    let mut daily = foreign(1, "daily", "\n\n## Standup\n\n  text  \n\n");
    daily.memory_type = MemoryType::Episodic;
    daily.source.origin_file = Some("memory/2026-01-14.md".to_owned());
    daily.source.session_id = Some("s-1".to_owned());
    daily.confidence = Some(0.25);
    let raw = serde_json::json!({ "heading": "Standup" });
    daily.raw_source_format = Some(Opaque::new(&raw).unwrap());
    let mut older = foreign(2, "curated", "## Tea\nlikes tea");
    older.status = Status::Superseded;
    let mut newer = foreign(3, "curated", "## Tea\nlikes coffee");
    newer.supersedes = Some(older.id);
    newer.memory_type = MemoryType::Preference;
    let mut rule = foreign(4, "procedural", "- Never push on Friday");
    rule.memory_type = MemoryType::Procedural;
    let mut gone = foreign(5, "curated", "gone");
    gone.status = Status::Deleted;
    let blank = foreign(6, "curated", "\n \n");
    let mut hidden = foreign(7, "session", "hello");
    hidden.status = Status::Superseded;
    let out = with(vec![daily, older, newer, rule, gone, blank, hidden]);
    let (planned, result) =
        import(home.path(), &to, &out, &agent("beta", "data"), OnConflict::Stop);
    result.unwrap();
    assert_eq!(planned.counts(), [5, 0, 0, 0]);
    assert_eq!(
        query(
            &to,
            "SELECT m.id, key, content, category, session_id, importance, superseded_by, kind,
               pinned, alias FROM memories m JOIN agents a ON a.id = agent_id ORDER BY m.id"
        ),
        [
            "00000000-0000-0000-0000-000000000001|2026_01_14_standup|## Standup\n\n  text  |daily|s-1|0.25|NULL|\"episodic\"|0|beta",
            "00000000-0000-0000-0000-000000000002|tea|## Tea\nlikes tea|core|NULL|0.5|00000000-0000-0000-0000-000000000003|{\"semantic\":\"fact\"}|0|beta",
            "00000000-0000-0000-0000-000000000003|tea_2|## Tea\nlikes coffee|core|NULL|0.5|NULL|{\"semantic\":\"preference\"}|0|beta",
            "00000000-0000-0000-0000-000000000004|rule_never_push_on_friday|- Never push on Friday|procedural|NULL|0.5|NULL|\"procedural\"|0|beta",
            "00000000-0000-0000-0000-000000000007|hello|hello|conversation|NULL|0.5||{\"semantic\":\"fact\"}|0|beta",
        ]
    );
    assert_eq!(
        query(&to, "SELECT DISTINCT created_at, updated_at FROM memories"),
        ["2026-01-15T10:30:00.000000000+00:00|2026-01-15T10:30:00.000000000+00:00"]
    );
    assert_eq!(query(&to, "SELECT alias FROM agents ORDER BY alias"), ["beta", "default"]);
    let reasons: Vec<_> =
        planned.draft.not_restored.iter().map(|restored| &*restored.reason).collect();
    assert_eq!(reasons, ["1 are gone; only tombstones are left", "1 have no text"]);
    let parts: Vec<usize> = planned.links.iter().map(|link| link.places.parts.len()).collect();
    assert_eq!(parts, [1, 1, 1, 1, 0, 0, 1]);
    let part = &planned.links[2].places.parts[0];
    assert_eq!((part.name.as_deref(), part.file.as_deref()), (Some("tea_2"), None));
    assert_eq!(part.sha256, sha256_hex("## Tea\nlikes coffee".as_bytes()));
    // A second time, in another order: nothing is new, because the ids identify the records.
    let mut again = out;
    again.records.reverse();
    let (planned, result) =
        import(home.path(), &to, &again, &agent("beta", "data"), OnConflict::Stop);
    assert_eq!((planned.counts(), result.unwrap()), ([0, 0, 0, 5], None));
    is_usable(&to);
}

#[test]
fn what_comes_in_front_does_not_move_texts_to_other_keys() {
    let numbered = |texts: &[&str]| {
        let records = texts.iter().zip(1..).map(|(text, number)| foreign(number, "curated", text));
        with(records.collect())
    };
    let shown = "SELECT key, content FROM memories ORDER BY key";
    for on_conflict in [OnConflict::Theirs, OnConflict::Stop, OnConflict::Both] {
        let home = TempDir::new().unwrap();
        let to = home.path().join("brain.db");
        let target = agent("default", "data");
        let first = numbered(&["## Tea\ngreen", "## Note\na", "## Note\nb"]);
        import(home.path(), &to, &first, &target, OnConflict::Stop).1.unwrap();
        let second =
            numbered(&["## Car\nred", "## Tea\ngreen", "## Note\nc", "## Note\na", "## Note\nb"]);
        let (planned, result) = import(home.path(), &to, &second, &target, on_conflict);
        result.unwrap();
        assert!(planned.draft.conflicts.is_empty(), "{:?}", planned.draft.conflicts);
        let expected = [
            "car|## Car\nred",
            "note|## Note\na",
            "note_2|## Note\nb",
            "note_3|## Note\nc",
            "tea|## Tea\ngreen",
        ];
        assert_eq!(query(&to, shown), expected);
        is_usable(&to);
    }
}

#[test]
fn a_text_that_changed_in_its_place_changes_its_row() {
    let home = TempDir::new().unwrap();
    let to = home.path().join("brain.db");
    let target = agent("default", "data");
    let first = with(vec![foreign(1, "curated", "## Tea\na"), foreign(2, "curated", "## Tea\nb")]);
    import(home.path(), &to, &first, &target, OnConflict::Stop).1.unwrap();
    let second = with(vec![foreign(1, "curated", "## Tea\na"), foreign(2, "curated", "## Tea\nc")]);
    let (planned, result) = import(home.path(), &to, &second, &target, OnConflict::Theirs);
    result.unwrap();
    assert_eq!(planned.counts(), [0, 1, 0, 1]);
    let shown = query(&to, "SELECT key, content FROM memories ORDER BY key");
    assert_eq!(shown, ["tea|## Tea\na", "tea_2|## Tea\nc"]);
}

#[test]
fn keys_are_alike_when_one_is_made_of_the_other() {
    for like in ["tea", "tea_2", "tea_17", "tea__imported", "tea__imported_3"] {
        assert!(is_like(like, "tea"), "{like}");
    }
    for other in ["te", "tea_", "tea2", "tea_x", "tea_2x", "teatime", "tea__imported_", "my_tea"] {
        assert!(!is_like(other, "tea"), "{other}");
    }
}

#[test]
fn records_of_another_runtime_do_not_take_the_keys_of_rows() {
    let home = TempDir::new().unwrap();
    let (from, to) = (home.path().join("a/brain.db"), home.path().join("b/brain.db"));
    drop(make(&from, &format!("{TABLES}{ROWS}")));
    let mut out = export(home.path(), &from, "default");
    out.records.insert(0, foreign(1, "curated", "lang"));
    import(home.path(), &to, &out, &agent("default", "data"), OnConflict::Stop).1.unwrap();
    let keys = query(&to, "SELECT key FROM memories ORDER BY key");
    assert_eq!(keys, [" odd key ", "lang", "lang_2"]);
}

#[test]
fn a_vector_stays_only_where_the_same_model_made_it() {
    let home = TempDir::new().unwrap();
    let to = home.path().join("brain.db");
    drop(make(&to, &format!("{TABLES}{ROWS}")));
    let vector = |model: &str| Embedding {
        model: model.to_owned(),
        provider: None,
        dimensions: 2,
        vector: vec![1.0, 2.0],
        computed_at: at(NOW),
        source: EmbeddingSource::Runtime,
        unknown: Unknown::default(),
    };
    let mut fits = foreign(1, "curated", "fits");
    fits.embeddings = vec![vector("x/y"), vector("openai/m")];
    let mut other = foreign(2, "curated", "other");
    other.embeddings = vec![vector("x/y")];
    let out = with(vec![fits, other]);
    let (planned, result) =
        import(home.path(), &to, &out, &agent("default", "data"), OnConflict::Stop);
    result.unwrap();
    assert_eq!(
        query(&to, "SELECT key, hex(embedding) FROM memories WHERE rowid > 9 ORDER BY key"),
        ["fits|0000803F00000040", "other|"]
    );
    assert_eq!(planned.draft.not_restored[0].what.as_str(), "embedding");
}

#[test]
fn vectors_of_models_that_nobody_knows_are_not_mixed() {
    let home = TempDir::new().unwrap();
    let (from, to) = (home.path().join("a/brain.db"), home.path().join("b/brain.db"));
    drop(make(&from, &format!("{TABLES}{ROWS} DELETE FROM memory_meta;")));
    let out = export(home.path(), &from, "default");
    let target = agent("default", "data");
    let vector = "SELECT hex(embedding) FROM memories WHERE key = 'lang'";
    import(home.path(), &to, &out, &target, OnConflict::Stop).1.unwrap();
    assert_eq!(query(&to, vector), ["0000803F00000040"]);
    let sql = "DELETE FROM memories WHERE key = 'lang'";
    Connection::open(&to).unwrap().execute_batch(sql).unwrap();
    let (planned, result) = import(home.path(), &to, &out, &target, OnConflict::Stop);
    result.unwrap();
    assert_eq!(query(&to, vector), [""]);
    assert_eq!(planned.draft.not_restored[0].what.as_str(), "embedding");
}

#[test]
fn the_configuration_says_whose_vectors_a_database_without_a_model_has() {
    let home = TempDir::new().unwrap();
    let (from, to) = (home.path().join("a/brain.db"), home.path().join("b/brain.db"));
    let rows = format!("{TABLES}{ROWS} DELETE FROM memory_meta;");
    drop(make(&from, &rows));
    let config = |model: &str, dimensions: u64| {
        let name = format!("{model}-{dimensions}.toml");
        let text = format!(
            "[memory]\nembedding_provider = \"openai\"\nembedding_model = \"{model}\"\n\
             embedding_dimensions = {dimensions}\n"
        );
        fs::write(home.path().join(&name), text).unwrap();
        home.path().join(name)
    };
    let settings = EmbeddingSettings {
        provider: "openai".to_owned(),
        model: "m".to_owned(),
        dimensions: Some(2),
    };
    let out = export_with(home.path(), &from, "default", Some(settings));
    for (model, dimensions, expected) in
        [("m", 2, "0000803F00000040"), ("m", 3, ""), ("other", 2, "")]
    {
        drop(fs::remove_dir_all(to.parent().unwrap()));
        drop(make(&to, &format!("{rows} DELETE FROM memories WHERE key = 'lang';")));
        let target = FoundAgent {
            config: Some(ConfigFile::new(config(model, dimensions))),
            ..agent("default", "data")
        };
        import(home.path(), &to, &out, &target, OnConflict::Stop).1.unwrap();
        let vector = "SELECT hex(embedding) FROM memories WHERE key = 'lang' AND agent_id = 'a-1'";
        assert_eq!(query(&to, vector), [expected], "{model} {dimensions}");
    }
}

#[test]
fn a_category_of_the_users_own_has_no_mark_in_the_database() {
    let home = TempDir::new().unwrap();
    let to = home.path().join("brain.db");
    drop(make(&to, TABLES));
    let out = with(vec![foreign(1, "custom:recipes", "Boil the noodles."), foreign(2, "lab", "x")]);
    import(home.path(), &to, &out, &agent("default", "data"), OnConflict::Stop).1.unwrap();
    let found = query(&to, "SELECT category FROM memories ORDER BY category");
    assert_eq!(found, ["lab", "recipes"]);
}

#[test]
fn what_changed_while_it_was_away_keeps_its_columns_and_loses_its_vector() {
    let home = TempDir::new().unwrap();
    let (from, to) = (home.path().join("a/brain.db"), home.path().join("b/brain.db"));
    drop(make(&from, &format!("{TABLES}{ROWS}")));
    let mut out = export(home.path(), &from, "default");
    let record = out.records.iter_mut().find(|record| record.content == "Prefers Rust").unwrap();
    record.content = "Prefers Zig".to_owned();
    record.temporal.updated_at = Some(at("2026-08-01T00:00:00Z"));
    import(home.path(), &to, &out, &agent("default", "data"), OnConflict::Stop).1.unwrap();
    assert_eq!(
        query(
            &to,
            "SELECT rowid, content, embedding, created_at, updated_at, importance, kind, pinned
             FROM memories WHERE key = 'lang'"
        ),
        ["3|Prefers Zig|NULL|2026-07-01T08:00:00.123456789+02:00|\
          2026-08-01T00:00:00.000000000+00:00|0.7|{\"semantic\":\"preference\"}|1"]
    );
}

#[test]
fn what_replaces_a_row_that_changed_follows_its_status() {
    let home = TempDir::new().unwrap();
    let from = home.path().join("a/brain.db");
    drop(make(&from, &format!("{TABLES}{ROWS}")));
    let out = export(home.path(), &from, "default");
    let find = |content: &str| {
        out.records.iter().find(|record| record.content == content).unwrap().clone()
    };
    let (lang, odd) = (find("Prefers Rust"), find(" odd key "));
    let columns = KNOWN.iter().map(|(name, _)| (*name).to_owned()).collect();
    let superseded = HashMap::from([(lang.id, odd.id)]);
    let mut shared =
        MergeContext { columns, keeps_vectors: true, model: None, superseded, in_files: true };
    let of = |shared: &MergeContext, record: &Record, status: Status, changed: bool| {
        let record = Record { status, ..record.clone() };
        let entry = shared.entry(&record, changed).ok().unwrap();
        entry.cell(shared, "superseded_by").cloned().unwrap()
    };
    let text = |text: &str| Value::Text(text.to_owned());
    assert_eq!(of(&shared, &lang, Status::Superseded, true), text(&odd.id.to_string()));
    assert_eq!(of(&shared, &lang, Status::Superseded, false), Value::Null);
    assert_eq!(of(&shared, &odd, Status::Superseded, true), text("lang"));
    assert_eq!(of(&shared, &odd, Status::Active, true), Value::Null);
    assert_eq!(of(&shared, &odd, Status::Active, false), text("lang"));
    assert_eq!(of(&shared, &odd, Status::Archived, true), text("lang"));
    shared.superseded.clear();
    assert_eq!(of(&shared, &lang, Status::Superseded, true), text(""));
}

#[test]
fn a_record_that_replaces_another_is_named_by_the_id_of_its_row() {
    let home = TempDir::new().unwrap();
    let (from, to) = (home.path().join("a/brain.db"), home.path().join("b/brain.db"));
    drop(make(&from, &format!("{TABLES}{ROWS}")));
    let mut out = export(home.path(), &from, "default");
    let odd = out.records.iter().find(|record| record.content == " odd key ").unwrap().id;
    let mut older = foreign(1, "curated", "## Tea\nlikes tea");
    older.status = Status::Superseded;
    older.related_records = vec![Relation {
        id: odd,
        relation: "superseded_by".to_owned(),
        unknown: Unknown::default(),
    }];
    out.records.push(older);
    import(home.path(), &to, &out, &agent("default", "data"), OnConflict::Stop).1.unwrap();
    let newer = query(&to, "SELECT superseded_by FROM memories WHERE key = 'tea'");
    assert_eq!(newer, ["not-a-uuid"]);
}
