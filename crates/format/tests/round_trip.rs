//! What is written reads back as it was.

use std::io::Cursor;

use anemone_format::*;

fn agent() -> AgentInfo {
    AgentInfo::new("9e373c1e-cab7-5eea-90c3-8f3d09ac5755".parse().unwrap(), "Clawdia", "openclaw")
}

fn snapshot() -> Snapshot {
    let agent = agent();
    let mut snapshot =
        Snapshot::new(Manifest::new(agent.clone(), "2026-05-01T00:00:00Z".parse().unwrap()));
    for n in 0..1000_u32 {
        let id = RecordId::new(uuid::Uuid::from_u128(u128::from(n * 7919 % 1000)));
        let day = format!("2026-{:02}-{:02}T10:00:00Z", n % 5 + 1, n % 28 + 1);
        let text = format!("entry {n} {}", "words ".repeat(50));
        snapshot.records.push(Record::new(id, agent.id, "openclaw", day.parse().unwrap(), &text));
    }
    let raw = FileRoot::Raw("openclaw".to_owned());
    snapshot.files.push(File::new(raw.clone(), "MEMORY.md", "a"));
    snapshot.files.push(File::new(raw.clone(), "memory.md", "b"));
    snapshot.files.push(File::new(raw.clone(), "big.bin", vec![0; 3 << 20]));
    snapshot.files.push(File::new(raw, "line\nfeed", Vec::new()));
    snapshot.files.push(File::new(FileRoot::Other, "future/x.bin", [1, 2, 3]));
    snapshot.sort();
    snapshot
}

fn write(snapshot: &Snapshot, threads: usize) -> Vec<u8> {
    snapshot.write(Vec::new(), Box::new(Cursor::new(Vec::new())), threads).unwrap().0
}

fn read(bytes: Vec<u8>) -> Snapshot {
    let length = bytes.len() as u64;
    Snapshot::read(&Archive::open(Box::new(bytes), length, &Limits::default()).unwrap()).unwrap()
}

#[test]
fn a_snapshot_reads_back_equal() {
    let snapshot = snapshot();
    let bytes = write(&snapshot, 2);
    std::fs::write("/tmp/x.alf", &bytes).unwrap();
    assert!(read(bytes) == snapshot);
}
