//! The list of all vectors, and the table that describes it.

use super::{corrupt, hostile, ok, unknowns, version};

/// How a careful reader treats a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Class {
    Ok,
    OkWithUnknowns,
    RefuseVersion,
    RefuseCorrupt,
    RefuseUnsafe,
}

impl Class {
    pub(crate) const ALL: [Self; 5] = [
        Self::Ok,
        Self::OkWithUnknowns,
        Self::RefuseVersion,
        Self::RefuseCorrupt,
        Self::RefuseUnsafe,
    ];

    /// Returns the word for it: a folder's name, and what `validate` says.
    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::OkWithUnknowns => "ok-with-unknowns",
            Self::RefuseVersion => "refuse-version",
            Self::RefuseCorrupt => "refuse-corrupt",
            Self::RefuseUnsafe => "refuse-unsafe",
        }
    }

    pub(crate) fn is_refusal(self) -> bool {
        !matches!(self, Self::Ok | Self::OkWithUnknowns)
    }

    fn meaning(self) -> &'static str {
        match self {
            Self::Ok => "The file is sound and all of it is understood. Warnings are allowed.",
            Self::OkWithUnknowns => {
                "The file is sound; some of it is newer than the reader, which keeps it unchanged."
            }
            Self::RefuseVersion => {
                "The file requires another reader. Nothing else need be wrong with it."
            }
            Self::RefuseCorrupt => {
                "The file is damaged, contradictory, or means two things to two readers."
            }
            Self::RefuseUnsafe => {
                "Unpacking the file could do harm: it escapes, merges files, creates links or explodes."
            }
        }
    }
}

/// A file with one behaviour.
pub(crate) struct Vector {
    pub(crate) class: Class,
    /// The file's name without its folder.
    pub(crate) file: String,
    /// The one behaviour, in one sentence.
    pub(crate) behaviour: &'static str,
    pub(crate) bytes: Vec<u8>,
}

impl Vector {
    pub(crate) fn archive(
        class: Class,
        name: &str,
        behaviour: &'static str,
        bytes: Vec<u8>,
    ) -> Self {
        Self { class, file: format!("{name}.alf"), behaviour, bytes }
    }

    pub(crate) fn delta(class: Class, name: &str, behaviour: &'static str, bytes: Vec<u8>) -> Self {
        Self { class, file: format!("{name}.alf-delta"), behaviour, bytes }
    }

    /// Returns the path below `tests/vectors`.
    pub(crate) fn path(&self) -> String {
        format!("{}/{}", self.class.word(), self.file)
    }
}

/// Makes every vector, class by class.
pub(crate) fn all() -> Vec<Vector> {
    [ok::all(), unknowns::all(), version::all(), corrupt::all(), hostile::all()]
        .into_iter()
        .flatten()
        .collect()
}

/// Writes `tests/vectors/README.md`.
pub(crate) fn readme(vectors: &[Vector]) -> String {
    let mut text = format!(
        "# Conformance vectors\n\n\
         {} small files in the Agent Life Format, one behaviour each. The folder of a file says what \
         a\ncareful reader does with it:\n\n\
         | class | vectors | meaning |\n|---|---|---|\n",
        vectors.len()
    );
    for class in Class::ALL {
        let count = vectors.iter().filter(|vector| vector.class == class).count();
        text += &format!("| `{}` | {count} | {} |\n", class.word(), class.meaning());
    }
    text += HOW_TO_RUN;
    for class in Class::ALL {
        text += &format!("\n## {}\n\n| vector | behaviour |\n|---|---|\n", class.word());
        for vector in vectors.iter().filter(|vector| vector.class == class) {
            text += &format!("| `{}` | {} |\n", vector.file, vector.behaviour);
        }
    }
    text
}

const HOW_TO_RUN: &str = r#"
Any tool can be tested with them; it needs nothing else of this project. With ours:

```sh
for file in */*.alf */*.alf-delta; do
  said=$(anemone validate --json "$file" | jq -r .class)
  [ "$said" = "$(dirname "$file")" ] || echo "$file: $said"
done
```

`validate` prints one JSON document and exits with 0 for the two `ok` classes and with 1 for the
others. A tool that knows only valid and invalid should accept the first two folders and refuse the
other three, as a whole and before it writes anything.

`crates/cli/tests/vectors.rs` creates the files with `crates/cli/tests/vectors/` and compares them
with those here; `ANEMONE_UPDATE=1 cargo test -p anemone-cli --test vectors` rewrites them and this
page. All of them belong to the same agent. Unless its description says otherwise, a file lists no
digests, has no seal, stores its entries uncompressed and breaks no other rule. What the official
schemas leave open (`requires`, `entries`, the seal, the shape of `memory/index.json`) follows
`crates/format`.
"#;
