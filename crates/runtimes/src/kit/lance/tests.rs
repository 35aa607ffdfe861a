use std::path::{Path, PathBuf};

use anemone_testkit::fixture;

use super::*;

const COLUMNS: [&str; 7] =
    ["id", "text", "vector", "importance", "category", "createdAt", "agentId"];

fn store(name: &str) -> PathBuf {
    fixture(&format!("openclaw/lancedb/{name}"))
}

/// Reads the rows of a table.
fn read(store: &Path, columns: &[&str]) -> Result<Vec<StoredRow>, LanceError> {
    let folder = Workspace::open(store)?;
    let table = LanceTable::open(&folder, "memories.lance")?.expect("the table exists");
    let mut rows = Vec::new();
    table.each_row(columns, &mut |row| {
        rows.push(row);
        Ok::<_, LanceError>(())
    })?;
    Ok(rows)
}

fn live(rows: Vec<StoredRow>) -> Vec<Vec<Cell>> {
    rows.into_iter().filter(|row| !row.deleted).map(|row| row.cells).collect()
}

/// Returns the row that the script of the fixtures writes.
fn row(number: usize, dimension: usize) -> Vec<Cell> {
    const WORDS: &str = "fog tea ships on tuesdays and wednesdays from the old harbour where nobody \
                         speaks of the lamp";
    let words: Vec<&str> = WORDS.split(' ').collect();
    let count = 6 + number % 7;
    let said: Vec<&str> = (0..count).map(|at| words[(number * 5 + at * 3) % words.len()]).collect();
    let category = ["preference", "fact", "decision", "entity", "other"][number % 5];
    vec![
        Cell::Text(format!("{number:08}-1111-4111-8111-111111111111")),
        Cell::Text(format!("Note {number}: {}", said.join(" "))),
        Cell::Vector((0..dimension).map(|at| ((number * 7 + at * 3) % 16) as f32 / 16.0).collect()),
        Cell::Number((number % 5) as f64 / 4.0),
        Cell::Text(category.to_owned()),
        Cell::Number(1_767_225_600_000.0 + number as f64 * 60_000.0),
        Cell::Text("main".to_owned()),
    ]
}

#[test]
fn every_version_of_the_format_gives_its_rows_without_the_deleted_ones() {
    for version in ["2.1", "2.2"] {
        let rows = live(read(&store(version), &COLUMNS).unwrap());
        let mut wanted: Vec<_> = [1, 2, 3, 6, 7, 5].map(|number| row(number, 4)).into();
        wanted[0][1] = Cell::Text("Grüße aus Köln — 東京のお茶".to_owned());
        // An update writes the row again.
        wanted[5][1] = Cell::Text("Note 5 was corrected.".to_owned());
        assert_eq!(rows, wanted, "{version}");
    }
    let rows = live(read(&store("2.0"), &COLUMNS).unwrap());
    let texts: Vec<_> = rows.iter().map(|row| row[1].clone()).collect();
    let wanted = [
        "User prefers dark roast coffee in the morning.".to_owned(),
        "Grüße aus Köln: Öl, Käse — 東京のお茶".to_owned(),
        "Decision: use PostgreSQL, not MySQL.".to_owned(),
        "long ".repeat(100),
    ];
    assert_eq!(texts, wanted.map(Cell::Text));
    assert_eq!(
        rows[2][2..],
        [
            Cell::Vector([5, 8, 11, 14].map(|number| number as f32 / 16.0).into()),
            Cell::Number(0.9),
            Cell::Text("decision".to_owned()),
            Cell::Number(1_767_225_780_000.0),
            // The table of this version has no such column.
            Cell::Null,
        ]
    );
}

#[test]
fn a_table_that_was_compacted_is_packed_and_still_read() {
    let wanted: Vec<_> =
        (1..1000).filter(|number| number % 5 != 4).map(|number| row(number, 2)).collect();
    for version in ["compacted-2.1", "compacted-2.2"] {
        let rows = live(read(&store(version), &COLUMNS).unwrap());
        assert_eq!(rows.len(), 799);
        assert!(rows == wanted, "{version}");
    }
}

fn copy(name: &str) -> tempfile::TempDir {
    fn copy_below(from: &Path, to: &Path) {
        fs_err::create_dir_all(to).unwrap();
        for entry in fs_err::read_dir(from).unwrap() {
            let entry = entry.unwrap();
            let to = to.join(entry.file_name());
            if entry.path().is_dir() {
                copy_below(&entry.path(), &to);
            } else {
                fs_err::copy(entry.path(), to).unwrap();
            }
        }
    }
    let copy = tempfile::tempdir().unwrap();
    copy_below(&store(name), copy.path());
    copy
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let mut files: Vec<PathBuf> =
        fs_err::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    files
}

#[test]
fn damage_is_an_error_or_another_value_and_never_a_panic() {
    for name in ["2.0", "2.1", "compacted-2.2"] {
        let copy = copy(name);
        let table = copy.path().join("memories.lance");
        for folder in ["data", "_deletions", "_versions"].map(|name| table.join(name)) {
            if !folder.is_dir() {
                continue;
            }
            for path in files(&folder) {
                let bytes = fs_err::read(&path).unwrap();
                let step = (bytes.len() / 12).max(1);
                for at in (0..bytes.len())
                    .step_by(step)
                    .chain(bytes.len().saturating_sub(40)..bytes.len())
                {
                    for value in [0, 0xff, bytes[at] ^ 0x10] {
                        let mut damaged = bytes.clone();
                        damaged[at] = value;
                        fs_err::write(&path, damaged).unwrap();
                        drop(read(copy.path(), &COLUMNS));
                    }
                    fs_err::write(&path, &bytes[..at]).unwrap();
                    drop(read(copy.path(), &COLUMNS));
                }
                fs_err::write(&path, bytes).unwrap();
            }
        }
        assert!(read(copy.path(), &COLUMNS).is_ok());
    }
}

#[test]
fn what_is_not_understood_is_named() {
    let copy = copy("2.1");
    for path in files(&copy.path().join("memories.lance/data")) {
        let mut bytes = fs_err::read(&path).unwrap();
        let at = bytes.len() - 6;
        bytes[at] = 9;
        fs_err::write(&path, bytes).unwrap();
    }
    let error = read(copy.path(), &COLUMNS).unwrap_err();
    assert_eq!(error.to_string(), "it uses data files 2.9, which this version cannot read");
    // A folder that is no table has no rows.
    let folder = Workspace::open(copy.path()).unwrap();
    assert!(LanceTable::open(&folder, "other.lance").unwrap().is_none());
}

#[test]
fn texts_of_deleted_rows_and_older_versions_are_found_in_the_files() {
    for (name, gone) in [("forgotten", "The token is "), ("older-version", "Work begins at nine.")]
    {
        let live = live(read(&store(name), &["text"]).unwrap());
        assert!(live.iter().all(|row| !format!("{row:?}").contains(gone)), "{name}");
        let folder = Workspace::open(&store(name)).unwrap();
        let data = files(&store(name).join("memories.lance/data"));
        let paths: Vec<String> = data
            .iter()
            .map(|path| format!("memories.lance/data/{}", path.file_name().unwrap().display()))
            .collect();
        let paths: Vec<&[u8]> = paths.iter().map(String::as_bytes).collect();
        let mut columns = std::collections::BTreeSet::new();
        let mut is_found = false;
        each_stored_text(&folder, &paths, &mut |stored| {
            is_found |= stored.text.contains(gone);
            columns.insert(stored.column.to_owned());
            Ok::<_, LanceError>(())
        })
        .unwrap();
        assert!(is_found, "{name}");
        assert!(columns.into_iter().eq(["agentId", "category", "id", "text"]), "{name}");
    }
}

/// A number as protocol buffers have it.
fn varint(mut number: u64) -> Vec<u8> {
    let mut bytes = Vec::new();
    while number > 0x7f {
        bytes.push(number as u8 | 0x80);
        number >>= 7;
    }
    bytes.push(number as u8);
    bytes
}

/// A number of a message.
fn number(field: u64, value: u64) -> Vec<u8> {
    [varint(field << 3), varint(value)].concat()
}

/// Bytes of a message.
fn bytes(field: u64, value: &[u8]) -> Vec<u8> {
    [varint(field << 3 | 2), varint(value.len() as u64), value.to_vec()].concat()
}

/// The layout of a page in which all rows have the same text.
fn constant(text: &[u8]) -> Vec<u8> {
    let constant = [bytes(5, &[1]), bytes(6, text)].concat();
    let layout = bytes(2, &constant);
    [bytes(1, b"/lance.encodings21.PageLayout"), bytes(2, &layout)].concat()
}

/// The layout of a page of version 2.0 whose first buffer has numbers of 64 bits.
fn flat_numbers() -> Vec<u8> {
    let flat = [number(1, 64), bytes(2, &[])].concat();
    [bytes(1, b"/lance.encodings.ArrayEncoding"), bytes(2, &bytes(1, &flat))].concat()
}

/// A page: its rows, where its one buffer is, and its layout.
fn page(rows: u64, buffer: (u64, u64), layout: &[u8]) -> Vec<u8> {
    let (start, length) = (varint(buffer.0), varint(buffer.1));
    let encoding = bytes(2, &bytes(1, layout));
    [bytes(1, &start), bytes(2, &length), number(3, rows), bytes(4, &encoding)].concat()
}

/// The file of a manifest.
fn manifest_file(message: &[u8]) -> Vec<u8> {
    let length = (message.len() as u32).to_le_bytes();
    let end = [0_u64.to_le_bytes().as_slice(), &[0; 4], b"LANC"].concat();
    [length.as_slice(), message, &end].concat()
}

/// Writes a table of one column, `text`, with one data file: these bytes, then these pages.
fn table(rows: u64, logical_type: &str, content: &[u8], pages: &[Vec<u8>]) -> tempfile::TempDir {
    let store = tempfile::tempdir().unwrap();
    let column: Vec<u8> = pages.iter().flat_map(|page| bytes(2, page)).collect();
    let columns_at = (content.len() + column.len()) as u64;
    let place = [content.len() as u64, column.len() as u64].map(u64::to_le_bytes).concat();
    let footer = [0, columns_at, 0].map(u64::to_le_bytes).concat();
    let counts = [[0, 1].map(u32::to_le_bytes).concat(), [2, 1].map(u16::to_le_bytes).concat()];
    let file = [content, &column, &place, &footer, &counts.concat(), b"LANC"].concat();

    let parent = number(4, u64::MAX);
    let field = [bytes(2, b"text"), number(3, 0), parent, bytes(5, logical_type.as_bytes())];
    let data = [bytes(1, b"one.lance"), bytes(2, &[0]), bytes(3, &[0])].concat();
    let fragment = [number(1, 0), bytes(2, &data), number(4, rows)].concat();
    let manifest = [bytes(1, &field.concat()), bytes(2, &fragment)].concat();

    let table = store.path().join("memories.lance");
    for (path, bytes) in
        [("data/one.lance", file), ("_versions/1.manifest", manifest_file(&manifest))]
    {
        let path = table.join(path);
        fs_err::create_dir_all(path.parent().unwrap()).unwrap();
        fs_err::write(path, bytes).unwrap();
    }
    store
}

#[test]
fn a_few_bytes_do_not_stand_for_any_number_of_rows() {
    let nowhere = (0, 0);
    let store = table(3, "string", b"", &[page(3, nowhere, &constant(b"tea"))]);
    let rows = read(store.path(), &["text"]).unwrap();
    assert_eq!(live(rows), vec![vec![Cell::Text("tea".to_owned())]; 3]);

    // Rows of a long text, and rows of nothing.
    let long = constant(&[b'x'; 60_000]);
    for (rows, layout) in [(1_000_000, long), (9_000_000, constant(b""))] {
        let store = table(rows, "string", b"", &[page(rows, nowhere, &layout)]);
        let mut taken = 0;
        let folder = Workspace::open(store.path()).unwrap();
        let table = LanceTable::open(&folder, "memories.lance").unwrap().unwrap();
        let error = table.each_row(&["text"], &mut |row| {
            let StoredRow { cells, .. } = row;
            taken += 256 + cells[0].size();
            Ok::<_, LanceError>(())
        });
        assert!(matches!(error, Err(LanceError::OutOfProportion { .. })), "{error:?}");
        assert!(taken < 80 << 20, "{taken}");
        let error = each_stored_text(&folder, &[b"memories.lance/data/one.lance"], &mut |_| {
            Ok::<_, LanceError>(())
        });
        assert!(error.is_err());
    }
}

#[test]
fn the_same_bytes_are_not_read_again_and_again() {
    let content = vec![0; 1 << 20];
    let one = page(1, (0, content.len() as u64), &constant(b"tea"));
    let store = table(2_000, "string", &content, &vec![one; 2_000]);
    let error = read(store.path(), &["text"]).unwrap_err();
    assert!(matches!(error, LanceError::OutOfProportion { .. }), "{error:?}");
}

#[test]
fn a_page_that_claims_more_than_it_has_is_damaged() {
    let content: Vec<u8> = [1.0_f64, 2.0, 3.0].map(f64::to_le_bytes).concat();
    let numbers = |claimed: u64, of_table: u64| {
        let pages = [page(claimed, (0, content.len() as u64), &flat_numbers())];
        let store = table(of_table, "double", &content, &pages);
        read(store.path(), &["text"]).map(|rows| rows.len())
    };
    assert_eq!(numbers(3, 3).unwrap(), 3);
    for (claimed, of_table) in [(4, 4), (3, 4), (3, 2), (u64::MAX, 3), (u64::MAX, u64::MAX)] {
        let error = numbers(claimed, of_table).unwrap_err();
        let is_named = matches!(error, LanceError::Damaged(_) | LanceError::Unsupported(_));
        assert!(is_named, "{claimed} {of_table}: {error:?}");
    }
}

#[test]
fn tables_of_the_plugin_have_only_its_columns() {
    for name in
        ["2.0", "2.1", "2.2", "compacted-2.1", "compacted-2.2", "forgotten", "older-version"]
    {
        let mut paths = Vec::new();
        for folder in ["data", "_transactions", "_versions"] {
            let folder = format!("memories.lance/{folder}");
            for path in files(&store(name).join(&folder)) {
                paths.push(format!("{folder}/{}", path.file_name().unwrap().display()));
            }
        }
        let paths: Vec<&[u8]> = paths.iter().map(String::as_bytes).collect();
        let folder = Workspace::open(&store(name)).unwrap();
        assert!(has_only_columns(&folder, &paths, &COLUMNS).unwrap(), "{name}");
        assert!(!has_only_columns(&folder, &paths, &COLUMNS[1..]).unwrap(), "{name}");
    }
}

#[test]
fn other_columns_and_metadata_are_noticed() {
    let column = |name: &[u8]| {
        [bytes(2, name), number(3, 0), number(4, u64::MAX), bytes(5, b"string")].concat()
    };
    let entry = |key: &[u8]| [bytes(1, key), bytes(2, b"hunter2")].concat();
    let text = bytes(1, &column(b"text"));
    let noted = [column(b"text"), bytes(10, &entry(b"password"))].concat();
    let setting = |key: &[u8]| [text.clone(), bytes(16, &entry(key))].concat();
    let cases = [
        (text.clone(), true),
        (setting(b"lance.auto_cleanup.interval"), true),
        (setting(b"password"), false),
        (bytes(1, &column(b"password")), false),
        (bytes(1, &noted), false),
        ([text.clone(), bytes(5, &entry(b"password"))].concat(), false),
        ([text.clone(), bytes(19, &entry(b"password"))].concat(), false),
    ];
    let store = tempfile::tempdir().unwrap();
    let folder = Workspace::open(store.path()).unwrap();
    for (at, (message, is_known)) in cases.iter().enumerate() {
        fs_err::write(store.path().join("1.manifest"), manifest_file(message)).unwrap();
        let found = has_only_columns(&folder, &[b"1.manifest"], &COLUMNS).unwrap();
        assert_eq!(found, *is_known, "manifest {at}");
    }
    for (schema, is_known) in
        [(column(b"text"), true), (column(b"password"), false), (noted, false)]
    {
        let transaction = bytes(102, &bytes(2, &schema));
        fs_err::write(store.path().join("1.txn"), transaction).unwrap();
        let found = has_only_columns(&folder, &[b"1.txn"], &COLUMNS).unwrap();
        assert_eq!(found, is_known);
    }
}
