//! The records that the target's runtime holds by itself.

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::io::{self, Read as _, Seek as _, SeekFrom, Write as _};

use anemone_format::{Record, RecordId, SnapshotSource, sha256_hex};
use anemone_runtimes::mapping::{FIELDS, mapping};
use anemone_runtimes::{KeptSnapshot, LinkPart, digest_of};
use serde::Deserialize;

use super::Expected;
use super::memory::name_of;
use super::text::holds;

/// A record that the target's runtime holds by itself.
pub(super) struct TargetRecord {
    pub(super) digest: String,
    pub(super) file: Option<String>,
    pub(super) name: Option<String>,
    pub(super) day: String,
    /// Whether it is part of a daily log.
    pub(super) is_log: bool,
    /// Fields that its table has no column for.
    pub(super) without: Vec<&'static str>,
    pub(super) fields: Vec<Option<String>>,
    pub(super) tags: Vec<String>,
    offset: u64,
    length: usize,
    /// The digest of the record that was found in it.
    pub(super) used_by: Option<String>,
}

/// Every record of the target, to be found by id, text or name.
pub(super) struct TargetRecords {
    pub(super) list: Vec<TargetRecord>,
    pub(super) by_id: HashMap<RecordId, usize>,
    /// By digest; by digest and file; by digest, file and name. Those that are used go from the
    /// front, so that many equal texts are walked once.
    by_digest: HashMap<String, VecDeque<usize>>,
    by_file: HashMap<(String, Option<String>), VecDeque<usize>>,
    by_place: HashMap<(String, Option<String>, Option<String>), VecDeque<usize>>,
    pub(super) by_name: HashMap<String, Vec<usize>>,
    /// Their texts: too much to hold.
    spool: std::fs::File,
}

impl TargetRecords {
    pub(super) fn read(target: &dyn SnapshotSource) -> io::Result<Self> {
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
        let mapping = mapping(&target.manifest().agent.source_runtime);
        let columns = mapping.map_or(&[][..], |mapping| mapping.proof.optional_columns);
        target.each_record(&mut |record| {
            out.write_all(record.content.as_bytes())?;
            let index = natives.list.len();
            let native = TargetRecord {
                digest: digest_of(&record.content),
                file: record.source.origin_file.clone(),
                name: name_of(record),
                day: record.temporal.created_at.utc_date().to_string(),
                is_log: record.namespace == "daily" && record.source.origin_file.is_some(),
                without: without_column(record, columns),
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
        /// Records that are matched already and are examined once more.
        const TRIED: usize = 32;
        let spaced = |name: &String| name.split_whitespace().collect::<Vec<_>>().join(" ");
        let name = part.name.as_ref().map(spaced);
        let Self { list, by_digest, by_file, by_place, .. } = self;
        let free = |at: usize| list[at].used_by.is_none() && !so_far.contains(&at);
        let place = (part.sha256.clone(), part.file.clone(), name);
        let named = by_place.get_mut(&place).and_then(|queue| first(queue, free));
        let (sha256, file, _) = place;
        let of_text = match &file {
            Some(_) => by_file.get_mut(&(sha256, file)),
            None => by_digest.get_mut(&sha256),
        };
        named.or_else(|| {
            let of_text = of_text?;
            let all: Vec<usize> = of_text.iter().take(TRIED).copied().collect();
            first(of_text, free).or_else(|| {
                let other = |at: &usize| list[*at].used_by.as_deref() != Some(digest);
                all.into_iter().find(other)
            })
        })
    }

    /// Finds the records that hold the text of a record of the source.
    pub(super) fn find(
        &mut self,
        record: &Record,
        expected: &Expected<'_>,
        sidecar: &KeptSnapshot,
    ) -> io::Result<Option<Vec<usize>>> {
        /// Records of one name that are searched.
        const TRIED: usize = 32;
        let digest = digest_of(&record.content);
        let planned = || expected.links.and_then(|links| links.get(&record.id));
        let links = sidecar.links.get(&record.id).or_else(planned);
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
        let free = |at: usize| list[at].used_by.is_none();
        if let Some(found) = by_digest.get_mut(&digest).and_then(|queue| first(queue, free)) {
            return Ok(Some(vec![found]));
        }
        let named = name_of(record).and_then(|name| self.by_name.get(&name));
        let candidates = self.by_id.get(&record.id).into_iter().chain(named.into_iter().flatten());
        for index in candidates.filter(|at| self.list[**at].used_by.is_none()).take(TRIED) {
            if holds(&self.text(*index)?, &record.content) {
                return Ok(Some(vec![*index]));
            }
        }
        Ok(None)
    }
}

/// Returns the first of several records that is not matched yet. The last one stays, so that there
/// is one to examine again.
fn first(queue: &mut VecDeque<usize>, free: impl Fn(usize) -> bool) -> Option<usize> {
    while queue.len() > 1 && queue.front().is_some_and(|at| !free(*at)) {
        queue.pop_front();
    }
    queue.front().copied().filter(|at| free(*at))
}

/// Returns the fields that the table of a row has no column for: older versions of a runtime make
/// tables without some of them.
fn without_column(record: &Record, columns: &[(&str, &'static str)]) -> Vec<&'static str> {
    #[derive(Deserialize)]
    struct Raw {
        row: BTreeMap<String, serde::de::IgnoredAny>,
    }
    if columns.is_empty() {
        return Vec::new();
    }
    let raw = record.raw_source_format.as_ref().and_then(|raw| raw.parse::<Raw>().ok());
    let Some(Raw { row }) = raw else { return Vec::new() };
    let missing = columns.iter().filter(|(column, _)| !row.contains_key(*column));
    missing.map(|(_, field)| *field).collect()
}

pub(super) fn values(record: &Record) -> Vec<Option<String>> {
    const LONGEST: usize = 64;
    let short =
        |text: String| if text.len() > LONGEST { sha256_hex(text.as_bytes()) } else { text };
    FIELDS.iter().map(|field| (field.value)(record).map(short)).collect()
}
