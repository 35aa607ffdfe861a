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
