//! Archives of a stranger who knows how ours are made: sealed, with `"canonical": true`, and wrong
//! in one way each. What `validate` refuses, no command writes from.

use std::collections::BTreeMap;

use anemone_format::{Entry, EntryKind, Manifest, sha256_hex};
use serde_json::{Value, json};

use crate::environment::{TestEnvironment, sample};
use anemone_testkit::zip::{sealed, unzip, zip};

const MANIFEST: &str = "manifest.json";
const SOUL: &str = "raw/openclaw/SOUL.md";
const PARTITION: &str = "memory/partitions/2026-Q1.jsonl";
const INDEX: &str = "memory/index.json";
const RECIPIENT: &str = "age1t5flwqehe7cufz82268ljlg5aanskrjjj08sc0xt8ugmyf5psv9samk95e";

/// An archive in pieces.
#[derive(Clone)]
struct Forgery {
    manifest: Manifest,
    contents: BTreeMap<String, Vec<u8>>,
    /// Entries behind the others, whatever their names.
    more: Vec<(String, Vec<u8>)>,
    /// A text of the manifest that is replaced when it is written.
    replaced: Option<(&'static str, &'static str)>,
}

impl Forgery {
    fn of(archive: &[u8]) -> Self {
        let mut contents: BTreeMap<String, Vec<u8>> =
            unzip(archive).into_iter().map(|(path, entry)| (path, entry.content)).collect();
        let manifest = contents.remove(MANIFEST).expect("it has a manifest");
        let manifest = serde_json::from_slice(&manifest).expect("the manifest is ours");
        Self { manifest, contents, more: Vec::new(), replaced: None }
    }

    /// Changes a content, but none of its descriptions.
    fn edit(&mut self, path: &str, edit: impl FnOnce(&str) -> String) {
        let content = self.contents.get_mut(path).expect("the entry is there");
        let text = String::from_utf8(std::mem::take(content)).expect("it is text");
        let edited = edit(&text);
        assert_ne!(edited, text, "{path} did not change");
        *content = edited.into_bytes();
    }

    /// Changes a JSON document, and all its descriptions.
    fn edit_json(&mut self, path: &str, edit: impl FnOnce(&mut Value)) {
        self.edit(path, |text| {
            let mut value = serde_json::from_str(text).expect("it is JSON");
            edit(&mut value);
            value.to_string()
        });
        self.relist();
    }

    /// Changes the first record, and all its descriptions.
    fn edit_record(&mut self, edit: impl FnOnce(&mut Value)) {
        self.edit(PARTITION, |text| {
            let (first, rest) = text.split_once('\n').expect("there are several records");
            let mut record = serde_json::from_str(first).expect("it is JSON");
            edit(&mut record);
            format!("{record}\n{rest}")
        });
        self.relist();
    }

    fn entry(&mut self, path: &str) -> &mut Entry {
        self.manifest.entries.iter_mut().find(|entry| entry.path == path).expect("it is listed")
    }

    /// Adds a file that the manifest lists.
    fn add(&mut self, path: &str) {
        self.contents.insert(path.to_owned(), b"added".to_vec());
        self.manifest.entries.push(Entry::new(path));
        self.relist();
    }

    /// Updates index and list to match the contents.
    fn relist(&mut self) {
        let partition = &self.contents[PARTITION];
        let (size, sha256) = (partition.len(), sha256_hex(partition));
        let mut index: Value = serde_json::from_slice(&self.contents[INDEX]).expect("it is JSON");
        index["partitions"][0]["size"] = size.into();
        index["partitions"][0]["sha256"] = sha256.into();
        self.contents.insert(INDEX.to_owned(), index.to_string().into_bytes());
        for entry in &mut self.manifest.entries {
            if let Some(content) = self.contents.get(&entry.path) {
                entry.size = Some(content.len() as u64);
                entry.sha256 = Some(sha256_hex(content));
            }
        }
        self.manifest.entries.sort_by(|a, b| a.path.cmp(&b.path));
    }

    /// Recomputes the checksum of the list.
    fn sum(&mut self) {
        self.manifest.checksum = Some(Manifest::checksum_of(&self.manifest.entries));
    }

    fn write(&self) -> Vec<u8> {
        let mut manifest = self.manifest.clone();
        manifest.canonical = Some(true);
        let mut text = serde_json::to_string(&manifest).expect("a manifest is JSON");
        if let Some((from, to)) = self.replaced {
            assert!(text.contains(from), "{from} is not in {text}");
            text = text.replacen(from, to, 1);
        }
        let contents = self.contents.iter().map(|(path, content)| (path.as_str(), &content[..]));
        let more = self.more.iter().map(|(path, content)| (path.as_str(), &content[..]));
        let entries: Vec<_> = contents.chain(more).chain([(MANIFEST, text.as_bytes())]).collect();
        sealed(zip(&entries))
    }
}

/// Every forgery, by its fault. All but those whose names start with `sound` are refused.
fn forgeries(archive: &[u8]) -> Vec<(&'static str, Vec<u8>)> {
    let sound = Forgery::of(archive);
    let mut made = Vec::new();
    let mut forge = |name: &'static str, change: &dyn Fn(&mut Forgery)| {
        let mut forgery = sound.clone();
        change(&mut forgery);
        made.push((name, forgery));
    };
    forge("sound", &|_| {});
    forge("sound, with another file", &|forgery| forgery.add("raw/openclaw/EXTRA.md"));
    forge("sound, with another text", &|document| {
        document.edit_record(|forgery| forgery["content"] = "x".into());
    });

    // The list of entries.
    forge("a wrong digest", &|forgery| forgery.entry(SOUL).sha256 = Some("0".repeat(64)));
    forge("another content", &|forgery| forgery.edit(SOUL, |_| "I obey strangers.\n".to_owned()));
    forge("another content of the same length", &|forgery| {
        forgery.edit(SOUL, |text| text.replacen('a', "b", 1));
    });
    forge("an entry that is not listed", &|forgery| {
        forgery.contents.insert("raw/openclaw/EVIL.md".to_owned(), b"evil".to_vec());
    });
    forge("an entry beside all folders that is not listed", &|forgery| {
        forgery.contents.insert("evil.txt".to_owned(), b"evil".to_vec());
    });
    forge("a listed entry that is not there", &|forgery| drop(forgery.contents.remove(SOUL)));
    forge("a wrong size", &|forgery| forgery.entry(SOUL).size = Some(1));
    forge("an entry without a digest", &|forgery| forgery.entry(SOUL).sha256 = None);
    forge("an entry listed twice", &|forgery| {
        let soul = forgery.entry(SOUL).clone();
        forgery.manifest.entries.push(soul);
    });
    forge("a wrong checksum", &|forgery| {
        forgery.manifest.checksum = Some(format!("sha256:{:064}", 0));
    });
    forge("no checksum", &|forgery| forgery.manifest.checksum = None);
    forge("a link without a target", &|forgery| {
        let mut link = Entry::new("raw/openclaw/link");
        link.kind = Some(EntryKind::Symlink);
        forgery.manifest.entries.push(link);
    });
    forge("a link that has the name of a file", &|forgery| {
        let mut link = Entry::new("raw/openclaw/soul.md");
        link.kind = Some(EntryKind::Symlink);
        link.target = Some("/etc".to_owned());
        forgery.manifest.entries.push(link);
    });
    forge("a file below a link", &|forgery| {
        let mut link = Entry::new("raw/openclaw/out");
        link.kind = Some(EntryKind::Symlink);
        link.target = Some("/tmp".to_owned());
        forgery.manifest.entries.push(link);
        forgery.add("raw/openclaw/out/file.md");
    });
    forge("a true path that leads up", &|forgery| {
        forgery.entry(SOUL).source_path = Some("../../escaped.md".to_owned());
    });
    forge("a true path from the root", &|forgery| {
        forgery.entry(SOUL).source_path = Some("/etc/cron.d/escaped".to_owned());
    });
    forge("two files with one true path", &|forgery| {
        forgery.add("raw/openclaw/OTHER.md");
        forgery.entry("raw/openclaw/OTHER.md").source_path = Some("SOUL.md".to_owned());
    });

    // Names.
    forge("a name that leads up", &|forgery| forgery.add("raw/openclaw/../../escaped.md"));
    forge("a name from the root", &|forgery| forgery.add("/escaped.md"));
    forge("a name with a backslash", &|forgery| forgery.add("raw/openclaw/a\\b.md"));
    forge("a name of a device", &|forgery| forgery.add("raw/openclaw/CON.md"));
    forge("a name with a line feed", &|forgery| forgery.add("raw/openclaw/a\nb.md"));
    forge("two equal names", &|forgery| forgery.more.push((SOUL.to_owned(), b"second".to_vec())));
    forge("names equal but for case", &|forgery| forgery.add("raw/openclaw/soul.md"));
    forge("a file below a file", &|forgery| forgery.add("raw/openclaw/SOUL.md/below.md"));
    forge("two manifests", &|forgery| forgery.add("delta-manifest.json"));

    // Records.
    forge("a wrong count of a partition's records", &|forgery| {
        forgery.manifest.layers.memory.as_mut().expect("the test made it").partitions[0]
            .record_count = 7;
    });
    forge("a wrong count of records", &|forgery| {
        forgery.manifest.layers.memory.as_mut().expect("the test made it").record_count = 7;
    });
    forge("a partition that was changed", &|forgery| {
        forgery.edit(PARTITION, |text| text.replacen("First day", "Last week", 1));
    });
    forge("a partition of other days", &|forgery| {
        let memory = forgery.manifest.layers.memory.as_mut().expect("the test made it");
        memory.partitions[0].from = "2026-03-20".to_owned();
    });
    forge("a record of another quarter", &|document| {
        document.edit_record(|forgery| {
            forgery["temporal"]["created_at"] = "2024-01-05T00:00:00Z".into();
        });
    });
    forge("a partition listed twice", &|forgery| {
        let memory = forgery.manifest.layers.memory.as_mut().expect("the test made it");
        memory.partitions.push(memory.partitions[0].clone());
    });
    forge("a partition that is not there", &|forgery| {
        drop(forgery.contents.remove(PARTITION));
        forgery.manifest.entries.retain(|entry| entry.path != PARTITION);
    });
    forge("an index with another digest", &|forgery| {
        forgery.edit_json(INDEX, |_| {});
    });
    forge("an index with another count", &|forgery| {
        forgery.edit_json(INDEX, |index| index["partitions"][0]["record_count"] = 7.into());
    });
    forge("an origin that leads up", &|document| {
        document
            .edit_record(|forgery| forgery["source"]["origin_file"] = "../../../escaped.md".into());
    });
    forge("an origin from the root", &|document| {
        document.edit_record(|forgery| forgery["source"]["origin_file"] = "/etc/passwd".into());
    });
    forge("a record of another agent", &|document| {
        document.edit_record(|forgery| {
            forgery["agent_id"] = "00000000-0000-4000-8000-000000000001".into();
        });
    });
    forge("a record twice", &|forgery| {
        forgery.edit(PARTITION, |text| {
            let first = text.lines().next().expect("the test made it");
            format!("{first}\n{text}")
        });
        forgery.relist();
        let memory = forgery.manifest.layers.memory.as_mut().expect("the test made it");
        memory.record_count += 1;
        memory.partitions[0].record_count += 1;
        forgery.edit_json(INDEX, |index| index["partitions"][0]["record_count"] = 26.into());
    });
    forge("a record without text", &|document| {
        document.edit_record(|forgery| forgery["content"] = "".into());
    });
    forge("a record that is sure beyond 1", &|document| {
        document.edit_record(|forgery| forgery["confidence"] = 2.into());
    });
    forge("a record without a status", &|document| {
        document.edit_record(|forgery| {
            drop(forgery.as_object_mut().expect("the test made it").remove("status"));
        });
    });
    forge("a record that is not JSON", &|forgery| {
        forgery.edit(PARTITION, |text| text.replacen('{', "[", 1));
        forgery.relist();
    });
    forge("a vector of another length", &|document| {
        document.edit_record(|forgery| {
            forgery["embeddings"] = json!([{"model": "a/b", "dimensions": 3, "vector": [0.5],
                "computed_at": "2026-01-05T00:00:00Z", "source": "runtime"}]);
        });
    });

    // Layers.
    forge("an identity of another agent", &|document| {
        let other = "00000000-0000-4000-8000-000000000001";
        document.edit_json("identity.json", |forgery| forgery["agent_id"] = other.into());
    });
    forge("an identity of another version", &|forgery| {
        forgery.manifest.layers.identity.as_mut().expect("the test made it").version = 9;
    });
    forge("a layer that is not there", &|forgery| {
        drop(forgery.contents.remove("identity.json"));
        forgery.manifest.entries.retain(|entry| entry.path != "identity.json");
    });
    forge("a wrong count of principals", &|forgery| {
        forgery.manifest.layers.principals.as_mut().expect("the test made it").count = 9;
    });
    forge("a wrong count of credentials", &|forgery| {
        forgery.manifest.layers.credentials.as_mut().expect("the test made it").count = 9;
    });
    forge("a credential in clear", &|document| {
        document.edit_json("credentials.json", |forgery| {
            forgery["credentials"][0]["encrypted_payload"] = "hunter2".into();
        });
    });
    forge("an artifact whose path leads up", &|document| {
        document.edit_json("attachments.json", |forgery| {
            forgery["attachments"][0]["source_path"] = "../../escaped".into();
        });
    });
    forge("an artifact that is not there", &|document| {
        document.edit_json("attachments.json", |forgery| {
            forgery["attachments"][0]["archive_path"] = "artifacts/nowhere".into();
        });
    });

    // The manifest.
    forge("another major version", &|forgery| forgery.replaced = Some(("\"1.0.0\"", "\"2.0.0\"")));
    forge("a feature that nobody knows", &|forgery| {
        forgery.replaced = Some(("{\"alf_version\"", "{\"requires\":[\"x\"],\"alf_version\""));
    });
    forge("a key twice", &|forgery| {
        forgery.replaced = Some(("{\"alf_version\"", "{\"canonical\":true,\"alf_version\""));
    });

    let keeps_its_sum = ["a wrong checksum", "no checksum"];
    let write = |(name, mut forgery): (&'static str, Forgery)| {
        if !keeps_its_sum.contains(&name) {
            forgery.sum();
        }
        if name == "an index with another digest" {
            // Everything is relisted, except the description of the partition.
            let index = forgery.contents.get_mut(INDEX).expect("the test made it");
            let text = String::from_utf8(index.clone()).expect("the test made it");
            let mut value: Value = serde_json::from_str(&text).expect("the test made it");
            value["partitions"][0]["sha256"] = "0".repeat(64).into();
            *index = value.to_string().into_bytes();
            let (size, sha256) = (index.len() as u64, sha256_hex(index));
            let entry = forgery.entry(INDEX);
            (entry.size, entry.sha256) = (Some(size), Some(sha256));
            forgery.sum();
        }
        (name, forgery.write())
    };
    made.into_iter().map(write).collect()
}

#[test]
fn what_validate_refuses_no_command_writes_from_whatever_the_archive_says_of_itself() {
    let environment = TestEnvironment::with_demo();
    let record = sample::record_id("memory/2026-01-23.md", 0).to_string();
    let forgeries = forgeries(&environment.read("march.alf"));
    assert!(forgeries.len() > 50, "{}", forgeries.len());
    let writers: [&[&str]; 6] = [
        &["import", "-r", "openclaw", "-w", "ws", "forged.alf"],
        &["delta", "forged.alf", "april.alf", "-o", "new"],
        &["delta", "april.alf", "forged.alf", "-o", "new"],
        &["apply", "forged.alf", "march-to-april.alf-delta", "-o", "new"],
        &["purge", "forged.alf", "--record", &record, "-o", "new"],
        &["encrypt", "forged.alf", "-r", RECIPIENT, "-o", "new"],
    ];
    let mut wrong = Vec::new();
    for (name, bytes) in forgeries {
        environment.write("forged.alf", bytes);
        let report = environment.run(["validate", "forged.alf"]);
        let is_refused = report.code == 1;
        if is_refused == name.starts_with("sound") {
            wrong.push(format!("{name}: validate said {}", report.stdout));
        }
        for command in writers {
            let ran = environment.run(command.iter().copied());
            let wrote = environment.exists("new") || environment.exists("ws");
            // A sound forgery may still be another base than the delta's.
            let is_conflict = ran.code == 3 && !is_refused;
            if is_refused != (ran.code == 1) && !is_conflict || is_refused && wrote {
                wrong.push(format!("{name}: {} ended with {}", command[0], ran.code));
            }
            fs_err::remove_file(environment.path("new")).ok();
            fs_err::remove_dir_all(environment.path("ws")).ok();
        }
    }
    assert!(wrong.is_empty(), "{} differ:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn a_forged_earlier_archive_is_not_taken_over_by_an_export() {
    let environment = TestEnvironment::with_demo();
    environment.json(["import", "-r", "openclaw", "-w", "ws", "march.alf"]);
    let mut forgery = Forgery::of(&environment.read("march.alf"));
    forgery.edit_record(|forgery| forgery["source"]["origin_file"] = "../../escaped.md".into());
    forgery.sum();
    environment.write("forged.alf", forgery.write());
    let args = ["export", "-r", "openclaw", "-w", "ws", "--since", "forged.alf", "-o", "new.alf"];
    assert_eq!(environment.failure(1, args)["code"], "invalid");
}
