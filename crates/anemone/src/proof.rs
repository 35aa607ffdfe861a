//! Compares an agent before and after it moved: what the new runtime holds by itself, what lies
//! beside it in the sidecar, and what is nowhere.
//!
//! Pure functions over two snapshots. What the plan announced is handed in; everything else that
//! cannot be found is lost.

mod current;
mod secret;

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet, VecDeque};
use std::io::{self, BufRead as _, BufReader, Read, Seek as _, SeekFrom, Write as _};

use anemone_format::{
    Credential, FileRoot, Identity, Limits, Principals, Record, RecordId, SnapshotSource,
    SourceFile, SourceKind, VaultKey, sha256_hex,
};
use anemone_runtimes::mapping::{Becomes, FIELDS, Mapping, ORIGIN_FOLDER, telling_tags};
use serde::{Deserialize, Serialize};

/// What a plan announced.
#[derive(Default)]
pub struct Expected<'a> {
    /// What the target's runtime makes of snapshots.
    pub mapping: Option<&'static Mapping>,
    /// Files that will not be there as they were, by path.
    pub files: BTreeMap<Vec<u8>, Announced>,
    /// Entries of a database that stay as they are there.
    pub entries_kept: u64,
    /// Entries of a database that say the same, and stay as they are beside that.
    pub entries_same: u64,
    /// Records that the plan says it cannot write.
    pub unwritten: BTreeSet<RecordId>,
    /// What the agent has now, when it comes back to where it was before.
    pub current: Option<Current<'a>>,
    /// Names of credentials that do not come along.
    pub credentials: BTreeSet<String>,
    /// Opens the secrets of both sides.
    pub vault_key: Option<&'a VaultKey>,
}

/// An agent that comes back, as it is before it does: what is moved is made of it, so it is looked
/// for as well.
pub struct Current<'a> {
    pub source: &'a dyn SnapshotSource,
    /// Returns the record that a record of the agent was before it went away.
    pub origin_of: &'a dyn Fn(RecordId) -> Option<RecordId>,
}

/// Why a file will not be there as it was.
pub struct Announced {
    pub reason: &'static str,
    /// Whether it is made of records, so that it excuses none of them.
    pub made: bool,
    /// Where it is instead.
    pub beside: Option<Vec<u8>>,
}

/// What came along, layer by layer.
#[derive(Debug, Serialize)]
pub struct Proof {
    pub layers: Vec<LayerProof>,
    /// Everything that is nowhere, though the plan did not say so.
    pub lost: Vec<Loss>,
}

/// What came along of one layer.
#[derive(Debug, Serialize)]
pub struct LayerProof {
    pub layer: &'static str,
    pub total: u64,
    /// The runtime has it, whole.
    pub carried: u64,
    /// The runtime has it, but for some fields.
    pub degraded: u64,
    /// Only the sidecar has it.
    pub kept_aside: u64,
    /// It is not there, as the plan said.
    pub not_carried: u64,
    pub lost: u64,
    /// How often each field is not in the runtime itself.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub fields: BTreeMap<&'static str, u64>,
    /// Why things are not there.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub reasons: BTreeMap<String, u64>,
    /// The digest of the sorted digests of everything that was there.
    pub source_sha256: String,
    /// The same, of what was found; equal when nothing is missing.
    pub target_sha256: String,
}

/// Something that is nowhere.
#[derive(Debug, PartialEq, Eq, Serialize)]
pub struct Loss {
    pub layer: &'static str,
    pub what: String,
    pub reason: String,
}

/// Where something ended up.
#[derive(Debug, PartialEq)]
enum Fate {
    Carried,
    /// Found, but for these fields; whether the sidecar has them.
    Degraded(Vec<&'static str>, bool),
    Aside,
    Announced(String),
    Lost(String),
}

/// Compares a target with what was moved to it.
pub fn compare(
    source: &dyn SnapshotSource,
    target: &dyn SnapshotSource,
    expected: &Expected<'_>,
) -> io::Result<Proof> {
    let sidecar = Sidecar::read(target)?;
    let mut lost = Vec::new();
    let layers = vec![
        identity(source, target, expected, &sidecar, &mut lost)?,
        principals(source, target, expected, &sidecar, &mut lost)?,
        credentials(source, target, expected, &sidecar, &mut lost)?,
        memory(source, target, expected, &sidecar, &mut lost)?,
        files(source, target, expected, &sidecar, &mut lost),
    ];
    Ok(Proof { layers, lost })
}

impl Proof {
    /// Says whether everything is where it was announced to be.
    pub fn is_whole(&self) -> bool {
        self.lost.is_empty()
    }
}

/// Counts one layer.
struct Count<'a> {
    proof: LayerProof,
    source: Vec<String>,
    target: Vec<String>,
    lost: &'a mut Vec<Loss>,
}

impl<'a> Count<'a> {
    fn new(layer: &'static str, lost: &'a mut Vec<Loss>) -> Self {
        let proof = LayerProof {
            layer,
            total: 0,
            carried: 0,
            degraded: 0,
            kept_aside: 0,
            not_carried: 0,
            lost: 0,
            fields: BTreeMap::new(),
            reasons: BTreeMap::new(),
            source_sha256: String::new(),
            target_sha256: String::new(),
        };
        Self { proof, source: Vec::new(), target: Vec::new(), lost }
    }

    /// Counts a thing with its digest.
    fn add(&mut self, what: impl FnOnce() -> String, digest: String, fate: Fate) {
        let proof = &mut self.proof;
        proof.total += 1;
        match fate {
            Fate::Carried => {
                proof.carried += 1;
                self.target.push(digest.clone());
            }
            Fate::Degraded(fields, kept) => {
                proof.degraded += 1;
                let found = match kept {
                    true => digest.clone(),
                    false => sha256_hex(format!("{digest} without {fields:?}").as_bytes()),
                };
                self.target.push(found);
                for field in fields {
                    *proof.fields.entry(field).or_default() += 1;
                }
            }
            Fate::Aside => {
                proof.kept_aside += 1;
                self.target.push(digest.clone());
            }
            Fate::Announced(reason) => {
                proof.not_carried += 1;
                *proof.reasons.entry(reason).or_default() += 1;
            }
            Fate::Lost(reason) => {
                proof.lost += 1;
                self.lost.push(Loss { layer: proof.layer, what: what(), reason });
            }
        }
        self.source.push(digest);
    }

    fn finish(mut self) -> LayerProof {
        let digest = |list: &mut Vec<String>| {
            list.sort_unstable();
            sha256_hex(list.join("\n").as_bytes())
        };
        self.proof.source_sha256 = digest(&mut self.source);
        self.proof.target_sha256 = digest(&mut self.target);
        self.proof
    }
}

/// What the folder beside the runtime's own files holds.
#[derive(Default)]
struct Sidecar {
    identity: Option<Identity>,
    principals: Option<Principals>,
    credentials: Vec<Credential>,
    /// The digest of each record as it was.
    records: HashMap<RecordId, String>,
    /// What each record became; only a hint where to look.
    links: HashMap<RecordId, Vec<LinkPart>>,
    /// Which file of the source each kept file is; a hint too.
    kept: Vec<KeptFile>,
}

#[derive(Deserialize)]
struct KeptFile {
    path: String,
    #[serde(default)]
    path_hex: Option<String>,
    /// Where it lies in the sidecar.
    #[serde(default)]
    kept: Option<String>,
}

impl KeptFile {
    fn path(&self) -> Vec<u8> {
        let digits = self.path_hex.as_deref().unwrap_or_default().as_bytes();
        let byte = |pair: &[u8]| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok();
        let bytes: Option<Vec<u8>> = digits.chunks(2).map(byte).collect();
        bytes.filter(|it| !it.is_empty()).unwrap_or_else(|| self.path.clone().into_bytes())
    }
}

#[derive(Deserialize)]
struct Link {
    id: RecordId,
    #[serde(default)]
    parts: Vec<LinkPart>,
}

#[derive(Clone, Deserialize)]
struct LinkPart {
    #[serde(default)]
    file: Option<String>,
    #[serde(default)]
    name: Option<String>,
    sha256: String,
}

impl Sidecar {
    fn read(target: &dyn SnapshotSource) -> io::Result<Self> {
        let mut sidecar = Self::default();
        for (index, file) in target.files().iter().enumerate() {
            let Some(name) = in_sidecar(&file.path) else { continue };
            if !matches!(file.kind, SourceKind::File { .. }) {
                continue;
            }
            // What cannot be read counts as not there, and then as lost.
            match name {
                b"identity.json" => sidecar.identity = document(target, index)?,
                b"principals.json" => sidecar.principals = document(target, index)?,
                b"credentials.json" => {
                    let list: Option<anemone_format::Credentials> = document(target, index)?;
                    sidecar.credentials = list.map(|it| it.credentials).unwrap_or_default();
                }
                b"records.jsonl" => each_line(target, index, &mut |line| {
                    if let Ok(record) = serde_json::from_slice::<Record>(line) {
                        sidecar.records.insert(record.id, json_digest(&record));
                    }
                })?,
                b"links.jsonl" => each_line(target, index, &mut |line| {
                    if let Ok(link) = serde_json::from_slice::<Link>(line) {
                        sidecar.links.insert(link.id, link.parts);
                    }
                })?,
                b"placed.jsonl" => each_line(target, index, &mut |line| {
                    let line = serde_json::from_slice::<KeptFile>(line).ok();
                    sidecar.kept.extend(line.filter(|it| it.kept.is_some()));
                })?,
                _ => {}
            }
        }
        Ok(sidecar)
    }

    fn holds(&self, record: &Record) -> bool {
        self.records.get(&record.id).is_some_and(|it| *it == json_digest(record))
    }
}

/// Returns a path below the sidecar's folder.
fn in_sidecar(path: &[u8]) -> Option<&[u8]> {
    path.strip_prefix(ORIGIN_FOLDER.as_bytes())?.strip_prefix(b"/")
}

fn document<T: serde::de::DeserializeOwned>(
    source: &dyn SnapshotSource,
    file: usize,
) -> io::Result<Option<T>> {
    let mut bytes = Vec::new();
    let limit = Limits::default().max_document_bytes;
    source.content(file)?.take(limit).read_to_end(&mut bytes)?;
    Ok(serde_json::from_slice(&bytes).ok())
}

fn each_line(
    source: &dyn SnapshotSource,
    file: usize,
    take: &mut dyn FnMut(&[u8]),
) -> io::Result<()> {
    let limit = Limits::default().max_line_bytes as u64;
    let mut content = BufReader::new(source.content(file)?);
    let mut line = Vec::new();
    loop {
        line.clear();
        if (&mut content).take(limit).read_until(b'\n', &mut line)? == 0 {
            return Ok(());
        }
        take(&line);
    }
}

/// Returns the digest of a record as it is written.
fn json_digest(record: &Record) -> String {
    // A record that was read from JSON can be written as JSON.
    sha256_hex(&serde_json::to_vec(record).unwrap_or_default())
}

/// A named part of a document.
struct Part {
    name: String,
    text: String,
}

fn parts_of_identity(identity: Option<&Identity>) -> Vec<Part> {
    let mut parts = Vec::new();
    let Some(identity) = identity else { return parts };
    if let Some(prose) = &identity.prose {
        let texts = [
            ("soul", &prose.soul),
            ("operating_instructions", &prose.operating_instructions),
            ("identity_profile", &prose.identity_profile),
        ];
        for (name, text) in texts {
            parts.extend(text.as_ref().map(|text| part(name, text)));
        }
        for (name, text) in prose.custom_blocks.iter().flat_map(|it| it.iter()) {
            parts.push(part(name, text));
        }
    }
    parts.extend(fields_of(identity.structured.as_ref()));
    parts
}

fn part(name: &str, text: &str) -> Part {
    Part { name: name.to_owned(), text: text.trim().to_owned() }
}

/// Returns the fields of a document as parts.
fn fields_of<T: Serialize>(document: Option<&T>) -> Vec<Part> {
    let value = document.and_then(|it| serde_json::to_value(it).ok());
    let Some(serde_json::Value::Object(fields)) = value else { return Vec::new() };
    let parts = fields.into_iter().map(|(name, value)| Part { name, text: value.to_string() });
    parts.collect()
}

fn identity(
    source: &dyn SnapshotSource,
    target: &dyn SnapshotSource,
    expected: &Expected<'_>,
    sidecar: &Sidecar,
    lost: &mut Vec<Loss>,
) -> io::Result<LayerProof> {
    let was = parts_of_identity(source.identity()?.as_ref());
    let is = parts_of_identity(target.identity()?.as_ref());
    let kept = parts_of_identity(sidecar.identity.as_ref());
    // Fields are read from several files, so one that stays may change any of them.
    let rows = expected.mapping.into_iter().flat_map(Mapping::rows);
    let rows = rows.filter(|it| it.layer == "identity");
    let mut stays = rows.filter_map(|it| expected.files.get(it.becomes.text().as_bytes()));
    let announced = stays.next().map(|it| it.reason);
    let mut count = Count::new("identity", lost);
    for it in &was {
        let digest = sha256_hex(format!("{}\n{}", it.name, it.text).as_bytes());
        let native = is.iter().find(|other| other.name == it.name);
        let aside = kept.iter().any(|other| other.name == it.name && other.text == it.text);
        let fate = match native {
            // A text may have got sections that say what only fields said before.
            Some(native) if native.text.contains(&it.text) => Fate::Carried,
            Some(_) if aside => Fate::Degraded(vec!["text"], true),
            None if aside => Fate::Aside,
            _ => match announced {
                Some(reason) => Fate::Announced(reason.to_owned()),
                None => Fate::Lost("neither in the runtime nor in the sidecar".to_owned()),
            },
        };
        count.add(|| it.name.clone(), digest, fate);
    }
    Ok(count.finish())
}

fn parts_of_principals(principals: Option<&Principals>) -> Vec<Part> {
    let mut parts = Vec::new();
    for (number, it) in principals.iter().flat_map(|it| &it.principals).enumerate() {
        let profile = &it.profile;
        let name = profile.structured.as_ref().and_then(|it| it.name.clone());
        let name = name.unwrap_or_else(|| format!("principal {}", number + 1));
        let prose = profile.prose.as_ref().and_then(|it| it.user_profile.as_ref());
        parts.extend(prose.map(|text| part(&name, text)));
        let fields = fields_of(profile.structured.as_ref());
        let fields = fields.into_iter().map(|it| format!("{}: {}", it.name, it.text));
        let fields = fields.collect::<Vec<_>>().join("\n");
        if !fields.is_empty() {
            parts.push(Part { name: format!("{name} (fields)"), text: fields });
        }
    }
    parts
}

fn principals(
    source: &dyn SnapshotSource,
    target: &dyn SnapshotSource,
    expected: &Expected<'_>,
    sidecar: &Sidecar,
    lost: &mut Vec<Loss>,
) -> io::Result<LayerProof> {
    let mut is = texts(parts_of_principals(target.principals()?.as_ref()));
    let mut kept = texts(parts_of_principals(sidecar.principals.as_ref()));
    let mut count = Count::new("principals", lost);
    for it in parts_of_principals(source.principals()?.as_ref()) {
        let fate = if take(&mut is, &it.text) {
            Fate::Carried
        } else if take(&mut kept, &it.text) {
            Fate::Aside
        } else if let Some(announced) = expected.files.get(&b"USER.md"[..]) {
            Fate::Announced(announced.reason.to_owned())
        } else {
            Fate::Lost("neither in the runtime nor in the sidecar".to_owned())
        };
        count.add(|| it.name.clone(), sha256_hex(it.text.as_bytes()), fate);
    }
    Ok(count.finish())
}

/// Counts equal texts.
fn texts(parts: Vec<Part>) -> BTreeMap<String, u64> {
    let mut texts = BTreeMap::new();
    for it in parts {
        *texts.entry(it.text).or_default() += 1;
    }
    texts
}

/// Takes one of several equal texts away.
fn take(texts: &mut BTreeMap<String, u64>, text: &str) -> bool {
    match texts.get_mut(text) {
        Some(left) if *left > 0 => {
            *left -= 1;
            true
        }
        _ => false,
    }
}

/// Returns what tells a credential from others, and the digest of its secret where it opens.
fn credential_text(it: &Credential, key: Option<&VaultKey>) -> (String, Option<String>) {
    let label = it.label.as_deref().unwrap_or_default();
    let text = format!("{}\n{}\n{label}", it.service, it.credential_type.as_str());
    let secret = key.and_then(|key| key.open(it).ok());
    let secret = secret.map(|secret| sha256_hex(secret::bare(&secret).as_bytes()));
    (text, secret)
}

fn credentials(
    source: &dyn SnapshotSource,
    target: &dyn SnapshotSource,
    expected: &Expected<'_>,
    sidecar: &Sidecar,
    lost: &mut Vec<Loss>,
) -> io::Result<LayerProof> {
    let key = expected.vault_key;
    let list =
        |it: Option<anemone_format::Credentials>| it.map(|it| it.credentials).unwrap_or_default();
    let is: Vec<_> =
        list(target.credentials()?).iter().map(|it| credential_text(it, key)).collect();
    let kept: Vec<_> = sidecar.credentials.iter().map(|it| credential_text(it, None).0).collect();
    let mut count = Count::new("credentials", lost);
    for it in list(source.credentials()?) {
        let (text, secret) = credential_text(&it, key);
        let names = [
            Some(it.service.clone()),
            it.label.clone(),
            it.label.as_ref().map(|label| format!("{}: {label}", it.service)),
        ];
        let announced = names.iter().flatten().any(|it| expected.credentials.contains(it));
        let found = is.iter().any(|(other, other_secret)| {
            // The label is what one runtime calls it; the secret is what it is.
            secret.as_ref().map_or(*other == text, |_| *other_secret == secret)
        });
        let fate = match (found, secret.is_some()) {
            (true, _) => Fate::Carried,
            (false, _) if announced => Fate::Announced("the secret stays behind".to_owned()),
            (false, false) if kept.contains(&text) => Fate::Aside,
            _ => Fate::Lost("not in the store of the runtime".to_owned()),
        };
        let what = || names.iter().flatten().next_back().cloned().unwrap_or_default();
        count.add(what, sha256_hex(text.as_bytes()), fate);
    }
    Ok(count.finish())
}

/// A record that the target's runtime holds by itself.
struct Native {
    digest: String,
    file: Option<String>,
    name: Option<String>,
    day: String,
    /// Whether it stands in a log of a day.
    is_log: bool,
    /// Fields that its table has no column for.
    without: Vec<&'static str>,
    fields: Vec<Option<String>>,
    tags: Vec<String>,
    offset: u64,
    length: usize,
    /// The digest of the record that was found in it.
    used_by: Option<String>,
}

/// Every record of the target, to be found by id, text or name.
struct Natives {
    list: Vec<Native>,
    by_id: HashMap<RecordId, usize>,
    /// By digest; by digest and file; by digest, file and name. Those that are used go from the
    /// front, so that many equal texts are walked once.
    by_digest: HashMap<String, VecDeque<usize>>,
    by_file: HashMap<(String, Option<String>), VecDeque<usize>>,
    by_place: HashMap<(String, Option<String>, Option<String>), VecDeque<usize>>,
    by_name: HashMap<String, Vec<usize>>,
    /// Their texts: too much to hold.
    spool: std::fs::File,
}

/// What a runtime calls a record, as far as we use it.
#[derive(Default, Deserialize)]
struct Called {
    #[serde(default)]
    key: Option<serde_json::Value>,
    #[serde(default)]
    heading: Option<serde_json::Value>,
}

/// Returns the key or heading of a record.
pub fn name_of(record: &Record) -> Option<String> {
    let called: Called = record.raw_source_format.as_ref()?.parse().unwrap_or_default();
    let text = |it: Option<serde_json::Value>| it?.as_str().map(str::to_owned);
    let name = text(called.key).or_else(|| text(called.heading))?;
    // A heading has no blank space around it, whatever the key had.
    let name = name.split_whitespace().collect::<Vec<_>>().join(" ");
    (!name.is_empty()).then_some(name)
}

/// Returns the fields that the table of a row has no column for; older versions of ZeroClaw make
/// tables without some of them.
fn without_column(record: &Record) -> Vec<&'static str> {
    #[derive(Deserialize)]
    struct Raw {
        row: BTreeMap<String, serde::de::IgnoredAny>,
    }
    const COLUMNS: [(&str, &str); 3] =
        [("importance", "confidence"), ("superseded_by", "status"), ("kind", "memory_type")];
    let raw = record.raw_source_format.as_ref().and_then(|it| it.parse::<Raw>().ok());
    let Some(Raw { row }) = raw else { return Vec::new() };
    let missing = COLUMNS.iter().filter(|(column, _)| !row.contains_key(*column));
    missing.map(|(_, field)| *field).collect()
}

fn values(record: &Record) -> Vec<Option<String>> {
    const LONGEST: usize = 64;
    let short = |it: String| if it.len() > LONGEST { sha256_hex(it.as_bytes()) } else { it };
    FIELDS.iter().map(|it| (it.value)(record).map(short)).collect()
}

fn digest_of_text(text: &str) -> String {
    sha256_hex(text.trim().as_bytes())
}

impl Natives {
    fn read(target: &dyn SnapshotSource) -> io::Result<Self> {
        let mut natives = Self {
            list: Vec::new(),
            by_id: HashMap::new(),
            by_digest: HashMap::new(),
            by_file: HashMap::new(),
            by_place: HashMap::new(),
            by_name: HashMap::new(),
            spool: tempfile::tempfile()?,
        };
        let mut out = io::BufWriter::with_capacity(256 << 10, natives.spool.try_clone()?);
        let mut offset = 0;
        target.each_record(&mut |record| {
            out.write_all(record.content.as_bytes())?;
            let index = natives.list.len();
            let native = Native {
                digest: digest_of_text(&record.content),
                file: record.source.origin_file.clone(),
                name: name_of(record),
                day: record.temporal.created_at.utc_date().to_string(),
                is_log: record.namespace == "daily" && record.source.origin_file.is_some(),
                without: without_column(record),
                fields: values(record),
                tags: record.tags.clone(),
                offset,
                length: record.content.len(),
                used_by: None,
            };
            offset += record.content.len() as u64;
            natives.by_id.insert(record.id, index);
            let (digest, file) = (native.digest.clone(), native.file.clone());
            let place = (digest.clone(), file.clone(), native.name.clone());
            natives.by_place.entry(place).or_default().push_back(index);
            natives.by_file.entry((digest.clone(), file)).or_default().push_back(index);
            natives.by_digest.entry(digest).or_default().push_back(index);
            if let Some(name) = &native.name {
                natives.by_name.entry(name.clone()).or_default().push(index);
            }
            natives.list.push(native);
            Ok(())
        })?;
        out.flush()?;
        Ok(natives)
    }

    fn text(&self, index: usize) -> io::Result<String> {
        let native = &self.list[index];
        let mut spool = &self.spool;
        spool.seek(SeekFrom::Start(native.offset))?;
        let mut bytes = vec![0; native.length];
        spool.read_exact(&mut bytes)?;
        String::from_utf8(bytes).map_err(io::Error::other)
    }

    fn is_free(&self, index: usize) -> bool {
        self.list[index].used_by.is_none()
    }

    /// Finds the records that the parts of a link mean; one may be a part of two records.
    fn parts(&mut self, parts: &[LinkPart], digest: &str) -> Option<Vec<usize>> {
        let mut found: Vec<usize> = Vec::with_capacity(parts.len());
        for part in parts {
            let index = self.part(part, digest, &found)?;
            found.push(index);
        }
        (!found.is_empty()).then_some(found)
    }

    fn part(&mut self, part: &LinkPart, digest: &str, so_far: &[usize]) -> Option<usize> {
        /// Records that are used already and are looked at once more.
        const TRIED: usize = 32;
        let spaced = |it: &String| it.split_whitespace().collect::<Vec<_>>().join(" ");
        let name = part.name.as_ref().map(spaced);
        let Self { list, by_digest, by_file, by_place, .. } = self;
        let free = |it: usize| list[it].used_by.is_none() && !so_far.contains(&it);
        let place = (part.sha256.clone(), part.file.clone(), name);
        let named = by_place.get_mut(&place).and_then(|it| first(it, free));
        let (sha256, file, _) = place;
        let of_text = match &file {
            Some(_) => by_file.get_mut(&(sha256, file)),
            None => by_digest.get_mut(&sha256),
        };
        named.or_else(|| {
            let of_text = of_text?;
            let all: Vec<usize> = of_text.iter().take(TRIED).copied().collect();
            first(of_text, free).or_else(|| {
                let other = |it: &usize| list[*it].used_by.as_deref() != Some(digest);
                all.into_iter().find(other)
            })
        })
    }

    /// Finds the records that hold the text of a record of the source.
    fn find(&mut self, record: &Record, sidecar: &Sidecar) -> io::Result<Option<Vec<usize>>> {
        /// Records of one name that are looked into.
        const TRIED: usize = 32;
        let digest = digest_of_text(&record.content);
        let links = sidecar.links.get(&record.id);
        if let Some(found) = links.and_then(|parts| self.parts(parts, &digest)) {
            let mut text = String::new();
            for index in &found {
                text.push_str(&self.text(*index)?);
            }
            if holds(&text, &record.content) {
                return Ok(Some(found));
            }
        }
        let Self { list, by_digest, .. } = self;
        let free = |it: usize| list[it].used_by.is_none();
        if let Some(found) = by_digest.get_mut(&digest).and_then(|it| first(it, free)) {
            return Ok(Some(vec![found]));
        }
        let named = name_of(record).and_then(|name| self.by_name.get(&name));
        let candidates = self.by_id.get(&record.id).into_iter().chain(named.into_iter().flatten());
        for index in candidates.filter(|it| self.is_free(**it)).take(TRIED) {
            if holds(&self.text(*index)?, &record.content) {
                return Ok(Some(vec![*index]));
            }
        }
        Ok(None)
    }
}

/// Returns the first of several that is free. The last one stays, so that something is left to
/// look at once more.
fn first(queue: &mut VecDeque<usize>, free: impl Fn(usize) -> bool) -> Option<usize> {
    while queue.len() > 1 && queue.front().is_some_and(|it| !free(*it)) {
        queue.pop_front();
    }
    queue.front().copied().filter(|it| free(*it))
}

/// Says whether a text is another one with nothing but a heading, a tag and comments added, as a
/// runtime adds them that keeps memories in Markdown.
fn holds(native: &str, text: &str) -> bool {
    let (native, text) = (native.trim(), text.trim());
    if native == text {
        return true;
    }
    let mut wanted = text.lines().peekable();
    // Blank lines may stand behind what was added, and before the first line.
    let mut after_added = true;
    let mut started = false;
    for line in native.lines() {
        let next = wanted.peek().map(|it| it.trim_end());
        let bare = line.trim_end();
        if next == Some(bare) || next.is_some_and(|next| without_labels(bare) == next.trim_start())
        {
            wanted.next();
            (started, after_added) = (true, false);
            continue;
        }
        let blank = bare.trim().is_empty();
        let added = (!started && bare.starts_with('#')) || is_comment(bare) || is_tag(bare);
        if !(added || (blank && (after_added || next.is_none()))) {
            return is_row_of(native, text);
        }
        after_added |= added;
    }
    wanted.all(|line| line.trim().is_empty()) || is_row_of(native, text)
}

/// Says whether a table has a text as a row: on one line, with bars between its cells.
fn is_row_of(native: &str, text: &str) -> bool {
    if !native.lines().any(|line| line.trim_start().starts_with('|')) {
        return false;
    }
    let joined = |text: &str| {
        let mut joined = String::from(" ");
        for word in words(text) {
            joined.push_str(word);
            joined.push(' ');
        }
        joined
    };
    let mut bare = String::with_capacity(native.len());
    let mut rest = native;
    while let Some((before, comment)) = rest.split_once("<!--") {
        bare.push_str(before);
        rest = comment.split_once("-->").map_or("", |(_, rest)| rest);
    }
    bare.push_str(rest);
    joined(&bare).contains(&joined(text))
}

/// Returns the words of a text, which bars of a table and blank space part.
fn words(text: &str) -> impl Iterator<Item = &str> {
    let parts = text.split(|c: char| c.is_whitespace() || matches!(c, '|' | '\\'));
    parts.filter(|word| !word.is_empty())
}

fn is_comment(line: &str) -> bool {
    let line = line.trim();
    line.starts_with("<!--") && line.ends_with("-->")
}

/// Says whether a line starts with a tag such as `- [decision|i=0.9]`.
fn is_tag(line: &str) -> bool {
    let tag = line.trim_start().strip_prefix("- [").and_then(|it| it.split_once(']'));
    tag.is_some_and(|(tag, _)| tag.contains("|i="))
}

/// Returns a line without the tag before it and the comment behind it.
fn without_labels(line: &str) -> &str {
    let mut line = line.trim();
    if is_tag(line) {
        line = line.split_once(']').map_or(line, |(_, rest)| rest.trim_start());
    }
    if line.ends_with("-->")
        && let Some(start) = line.rfind("<!--")
    {
        line = line[..start].trim_end();
    }
    line
}

fn memory(
    source: &dyn SnapshotSource,
    target: &dyn SnapshotSource,
    expected: &Expected<'_>,
    sidecar: &Sidecar,
    lost: &mut Vec<Loss>,
) -> io::Result<LayerProof> {
    let mut natives = Natives::read(target)?;
    // Ids first, so that of two equal texts each finds its own.
    let mut by_id: HashMap<RecordId, usize> = HashMap::new();
    source.each_record(&mut |record| {
        if let Some(index) = natives.by_id.get(&record.id).copied() {
            let digest = digest_of_text(&record.content);
            let native = &mut natives.list[index];
            if native.digest == digest && native.used_by.is_none() {
                native.used_by = Some(digest);
                by_id.insert(record.id, index);
            }
        }
        Ok(())
    })?;
    let mut kept = expected.entries_kept;
    let mut announced: HashSet<RecordId> = HashSet::new();
    let mut count = Count::new("memory", lost);
    source.each_record(&mut |record| {
        let found = match by_id.remove(&record.id) {
            Some(index) => Some(vec![index]),
            None => natives.find(record, sidecar)?,
        };
        let digest = digest_of_text(&record.content);
        let was = values(record);
        let fate = match found {
            Some(found) => {
                for index in &found {
                    natives.list[*index].used_by = Some(digest.clone());
                }
                fate_of_fields(record, &was, &found, &natives, expected, sidecar)
            }
            None => fate_of_missing(record, &natives, expected, sidecar, &mut kept),
        };
        if !matches!(fate, Fate::Carried | Fate::Degraded(..) | Fate::Lost(_)) {
            announced.insert(record.id);
        }
        let fields = was.iter().flatten().cloned().collect::<Vec<_>>().join("\n");
        let digest = sha256_hex(format!("{digest}\n{fields}").as_bytes());
        count.add(|| called(record), digest, fate);
        Ok(())
    })?;
    if let Some(current) = &expected.current {
        for it in current::missing(current, target, expected.mapping, &announced)? {
            let reason = "the agent has it now, and it is not there".to_owned();
            count.add(|| it.called, it.digest, Fate::Lost(reason));
        }
    }
    Ok(count.finish())
}

/// Returns what people know a record by.
fn called(record: &Record) -> String {
    let name = name_of(record).unwrap_or_else(|| crate::text::title(&record.content));
    format!("{} {name}", record.id)
}

/// Compares the fields of a record that was found.
fn fate_of_fields(
    record: &Record,
    was: &[Option<String>],
    found: &[usize],
    natives: &Natives,
    expected: &Expected<'_>,
    sidecar: &Sidecar,
) -> Fate {
    let native = &natives.list[found[0]];
    let is_held = |position: usize, field: &str| {
        if was[position].is_none() || was[position] == native.fields[position] {
            return true;
        }
        match field {
            "tags" => telling_tags(record).iter().all(|tag| native.tags.iter().any(|it| it == tag)),
            // A log has a day, and no hour.
            "created_at" => {
                native.is_log && native.day == record.temporal.created_at.utc_date().to_string()
            }
            _ => false,
        }
    };
    let fields = FIELDS.iter().enumerate();
    let missing: Vec<&'static str> =
        fields.filter(|(at, it)| !is_held(*at, it.name)).map(|(_, it)| it.name).collect();
    if missing.is_empty() {
        return Fate::Carried;
    }
    let stays = native.file == record.source.origin_file;
    let announced = expected.mapping.map(|it| match stays {
        true => it.degraded(record),
        false => it.degraded_anew(record),
    });
    let mut announced = announced.unwrap_or_default();
    announced.extend(&native.without);
    // What stands in a file has the time of the file, and this one is written anew. What a text of
    // the runtime's own says is read out of it again.
    let file = record.source.origin_file.as_deref();
    if file.is_some_and(|it| expected.files.contains_key(it.as_bytes())) {
        match expected.mapping.is_some_and(|it| it.runtime == record.source.runtime) {
            true => announced.extend(FIELDS.iter().map(|it| it.name)),
            false => announced.push("created_at"),
        }
    }
    // On the way back a file may have got another time: a copy or a restore gives it one.
    if expected.current.is_some() {
        announced.push("created_at");
    }
    // An entry that says the same stays, with its own time and rating.
    if expected.entries_same > 0 && native.file.is_none() {
        announced.extend(FIELDS.iter().map(|it| it.name));
    }
    let surprise: Vec<&str> =
        missing.iter().copied().filter(|it| !announced.contains(it)).collect();
    match surprise.is_empty() {
        true => Fate::Degraded(missing, sidecar.holds(record)),
        false => Fate::Lost(format!("its text is there, but not its {}", surprise.join(", "))),
    }
}

/// Says whether the plan announced that a record would not be there. The sidecar has every record,
/// so only what the runtime has no place for is kept aside in it.
fn fate_of_missing(
    record: &Record,
    natives: &Natives,
    expected: &Expected<'_>,
    sidecar: &Sidecar,
    kept: &mut u64,
) -> Fate {
    let file = record.source.origin_file.as_deref();
    let file = file.and_then(|it| expected.files.get(it.as_bytes()));
    if let Some(announced) = file.filter(|it| !it.made) {
        return Fate::Announced(announced.reason.to_owned());
    }
    if expected.unwritten.contains(&record.id) {
        return Fate::Announced("the plan cannot write it, and says why".to_owned());
    }
    let row = expected.mapping.and_then(|it| it.row_of(record));
    match row.map(|it| it.becomes) {
        Some(Becomes::Nowhere(reason)) => return Fate::Announced(reason.to_owned()),
        Some(Becomes::Aside(_)) | None if sidecar.holds(record) => return Fate::Aside,
        _ => {}
    }
    let same_name = || name_of(record).is_some_and(|name| natives.by_name.contains_key(&name));
    if *kept > 0 && (natives.by_id.contains_key(&record.id) || same_name()) {
        *kept -= 1;
        return Fate::Announced("the entry that was there stays".to_owned());
    }
    match sidecar.holds(record) {
        true => {
            Fate::Lost("the runtime has a place for it, and only the sidecar has it".to_owned())
        }
        false => Fate::Lost("neither in the runtime nor in the sidecar".to_owned()),
    }
}

fn files(
    source: &dyn SnapshotSource,
    target: &dyn SnapshotSource,
    expected: &Expected<'_>,
    sidecar: &Sidecar,
    lost: &mut Vec<Loss>,
) -> LayerProof {
    let mut is: HashMap<Lies<'_>, &SourceFile> = HashMap::new();
    for it in target.files() {
        is.insert(lies(it), it);
    }
    let mut aside: BTreeSet<(Vec<u8>, String)> = BTreeSet::new();
    for it in &sidecar.kept {
        let kept = it.kept.as_deref().unwrap_or_default();
        let place = [ORIGIN_FOLDER, "/", kept].concat();
        let there = is.get(&(false, place.as_bytes()));
        aside.extend(there.map(|there| (it.path(), node_digest(there))));
    }
    let mut count = Count::new("files", lost);
    for it in source.files() {
        let digest = node_digest(it);
        let fate = fate_of_file(it, &digest, &is, &aside, expected);
        let path = String::from_utf8_lossy(&it.path).into_owned();
        let digest = sha256_hex(format!("{path}\n{digest}").as_bytes());
        count.add(|| path, digest, fate);
    }
    count.finish()
}

/// Whether a file lies beside the workspace, and its path.
type Lies<'a> = (bool, &'a [u8]);

/// Returns where a file lies. The settings of an install and the description of its database have
/// paths among the runtime's files, and are no files of the workspace.
fn lies(file: &SourceFile) -> Lies<'_> {
    let beside = [&b"config.toml"[..], b".alf-database.json"];
    let of_zeroclaw = matches!(&file.root, FileRoot::Raw(runtime) if runtime == "zeroclaw");
    (of_zeroclaw && beside.contains(&&file.path[..]), &file.path)
}

fn node_digest(file: &SourceFile) -> String {
    match &file.kind {
        SourceKind::File { sha256, .. } => format!("file {sha256}"),
        SourceKind::Symlink(target) => format!("link {}", sha256_hex(target)),
        SourceKind::Folder => "folder".to_owned(),
    }
}

fn fate_of_file(
    file: &SourceFile,
    digest: &str,
    is: &HashMap<Lies<'_>, &SourceFile>,
    aside: &BTreeSet<(Vec<u8>, String)>,
    expected: &Expected<'_>,
) -> Fate {
    let (beside, path) = lies(file);
    let lies_at = |path| is.get(&(beside, path)).filter(|it| node_digest(it) == digest);
    let announced = expected.files.get(path).filter(|_| !beside);
    if let Some(there) = lies_at(path) {
        let mut differ = Vec::new();
        if file.mode.is_some() && there.mode.is_some() && file.mode != there.mode {
            differ.push("mode");
        }
        let instant = |it: &SourceFile| it.mtime.as_ref().map(anemone_format::Moment::instant);
        let is_folder = matches!(file.kind, SourceKind::Folder);
        if !is_folder && instant(file).is_some() && instant(file) != instant(there) {
            differ.push("mtime");
        }
        return if differ.is_empty() { Fate::Carried } else { Fate::Degraded(differ, false) };
    }
    let below = |folder: &[u8]| {
        let inside = |path: &[u8]| path.strip_prefix(folder).is_some_and(|it| it.starts_with(b"/"));
        is.keys().any(|(_, path)| inside(path))
    };
    if matches!(file.kind, SourceKind::Folder) && below(&file.path) {
        return Fate::Carried;
    }
    if let Some(announced) = announced {
        return match &announced.beside {
            Some(beside) if lies_at(beside).is_some() => Fate::Carried,
            _ => Fate::Announced(announced.reason.to_owned()),
        };
    }
    if aside.contains(&(file.path.clone(), digest.to_owned())) {
        return Fate::Aside;
    }
    if in_sidecar(&file.path).is_some() {
        return Fate::Announced("it was kept for the way back, and is put to use".to_owned());
    }
    let row = expected.mapping.and_then(|it| it.row_of_file(&file.root, &file.path));
    match row {
        Some(row) if matches!(row.becomes, Becomes::Nowhere(_)) => {
            Fate::Announced(row.becomes.text().to_owned())
        }
        // A row for one file says what the runtime makes of it.
        Some(row) if row.kind.starts_with("raw/") && !row.kind.ends_with('*') => {
            Fate::Announced(row.becomes.text().to_owned())
        }
        _ if file.redacted => Fate::Announced("its secrets were taken out".to_owned()),
        _ => Fate::Lost("neither in the workspace nor in the sidecar".to_owned()),
    }
}

#[cfg(test)]
mod tests;
