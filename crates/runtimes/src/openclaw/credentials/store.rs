//! Restores opened credentials into the store that OpenClaw reads.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

use anemone_files::{Durability, replace_file};
use anemone_format::{Credential, Moment};
use fs_err as fs;
use serde_json::value::RawValue;
use zeroize::Zeroizing;

use super::{
    AGENT_DATABASE, Fields, InstallDatabase, PROFILES_FILE, STATE_DATABASE, STATE_KEY, STATE_TABLE,
    agent_folder, foreign, foreign::OpenedProfile, own_store, read_below, state_text,
};
use crate::kit::{
    Copy, CopyError, DatabaseError, FoundAgent, Machine, NotRestored, PlannedChange, Put,
    RestoreError, RestoreSource, StoreError, Warning, not_restored, put_rows, unreadable,
    with_suffix,
};

/// The row that says where the shared store is; without it the program looks in the agent's own
/// database.
const LOCATION_KEY: &str = "auth.sharedStore";
const LOCATION: &str = r#"{"location":"state-db"}"#;

/// What to do about a profile that exists already.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::openclaw) enum OnExisting {
    /// Keep it.
    Keep,
    /// Replace it.
    Replace,
}

/// The planned change of a store.
pub(in crate::openclaw) struct StoreChange {
    /// The file or the database.
    pub(in crate::openclaw) path: PathBuf,
    /// Whether it is a database.
    pub(in crate::openclaw) is_database: bool,
    /// Profiles that are new.
    pub(in crate::openclaw) added: Vec<String>,
    /// Profiles that are replaced.
    pub(in crate::openclaw) replaced: Vec<String>,
    /// Existing profiles that stay as they are, though the snapshot has one of that name.
    pub(in crate::openclaw) kept: Vec<String>,
    /// Credentials that have no place in the store.
    pub(in crate::openclaw) refused: Vec<NotRestored>,
    /// Whether the program has to be configured to read this store.
    names_store: bool,
    old: Option<Zeroizing<String>>,
    new: Zeroizing<String>,
}

impl fmt::Debug for StoreChange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("StoreChange")
            .field("path", &self.path)
            .field("added", &self.added)
            .field("replaced", &self.replaced)
            .field("kept", &self.kept)
            .finish_non_exhaustive()
    }
}

impl PlannedChange for StoreChange {
    fn apply(
        &self,
        machine: &Machine,
        _: &RestoreSource<'_>,
        now: &Moment,
    ) -> Result<Option<PathBuf>, RestoreError> {
        apply_store(machine, self, now)?;
        Ok(None)
    }
}

/// Plans how opened credentials go into the store that the target's program reads. Each secret is
/// the JSON of a profile, as it was read, or what was sealed from ZeroClaw. ZeroClaw secrets that
/// cannot be a profile here are refused and not written.
pub(in crate::openclaw) fn plan_store(
    machine: &Machine,
    target: &FoundAgent,
    opened: &[(Credential, Zeroizing<Vec<u8>>)],
    on_existing: OnExisting,
) -> Result<StoreChange, Warning> {
    let install = target.install.as_deref();
    let (Some(install), Some(folder)) = (install, agent_folder(&target.alias)) else {
        let message = "there is no install to put credentials into".to_owned();
        return Err(Warning::new("credentials_no_store", message));
    };
    let state = install.join(STATE_DATABASE);
    let failed = |error: &dyn fmt::Display| unreadable(state.display(), error);
    let database = InstallDatabase::open(machine, &state).map_err(|error| failed(&error))?;
    let (path, old) = if let Some(database) = &database {
        (state.clone(), state_text(database, STATE_KEY).map_err(|error| failed(&error))?)
    } else {
        let path = install.join(folder.join(PROFILES_FILE));
        let old = read_below(install, &folder.join(PROFILES_FILE));
        let old = old.map_err(|error| unreadable(path.display(), error))?;
        (path, old)
    };
    let (profiles, refused) = foreign::profiles(opened);
    let names_store = match &database {
        Some(database) if !profiles.is_empty() => {
            !is_store_named(machine, database, &install.join(folder))?
        }
        _ => false,
    };
    let is_database = database.is_some();
    let mut change = StoreChange {
        path,
        is_database,
        added: Vec::new(),
        replaced: Vec::new(),
        kept: Vec::new(),
        refused: refused
            .into_iter()
            .map(|(refused, reason)| not_restored(refused, reason))
            .collect(),
        names_store,
        old,
        new: Zeroizing::new(String::new()),
    };
    change.merge(&profiles, on_existing)?;
    Ok(change)
}

/// Returns whether the program is configured to look for its profiles in the state database.
/// Setting that would hide profiles that it keeps in the agent's database; then nothing is planned.
fn is_store_named(
    machine: &Machine,
    state: &InstallDatabase,
    agent_folder: &Path,
) -> Result<bool, Warning> {
    let odd = |what: &str| unreadable(state.path().display(), what);
    let failed = |error: DatabaseError| odd(&error.to_string());
    if let Some(location) = state_text(state, LOCATION_KEY).map_err(failed)? {
        let is_here = location.contains("state-db");
        return if is_here { Ok(true) } else { Err(odd("it is not the store in use")) };
    }
    let own = InstallDatabase::open(machine, &agent_folder.join(AGENT_DATABASE)).map_err(failed)?;
    match own.map_or(Ok(None), |own| own_store(&own)).map_err(failed)? {
        Some(_) => Err(odd("the agent keeps profiles in its own database")),
        None => Ok(false),
    }
}

impl StoreChange {
    /// Returns true when applying it would change nothing.
    pub(in crate::openclaw) fn is_empty(&self) -> bool {
        !self.has_profiles() && !self.names_store
    }

    fn has_profiles(&self) -> bool {
        !self.added.is_empty() || !self.replaced.is_empty()
    }

    fn merge(
        &mut self,
        opened: &[OpenedProfile<'_>],
        on_existing: OnExisting,
    ) -> Result<(), Warning> {
        let old = self.old.take();
        let odd = |what: &str| unreadable(self.path.display(), what);
        let text = old.as_deref().map_or(r#"{"version":1,"profiles":{}}"#, String::as_str);
        let fields: Fields<'_> =
            serde_json::from_str(text).map_err(|_| odd("the store is not a JSON object"))?;
        let nested = fields.get("profiles").is_some();
        let mut profiles = match fields.get("profiles") {
            Some(profiles) => serde_json::from_str::<Fields<'_>>(profiles.get())
                .map_err(|_| odd("its profiles are not a JSON object"))?,
            None => serde_json::from_str(text).map_err(|_| odd("the store is not an object"))?,
        };
        for it in opened {
            let id = it.id.clone();
            let profile = serde_json::from_slice::<&RawValue>(it.profile())
                .map_err(|_| odd("an opened credential is not an auth profile"))?;
            let known = profiles.get(&id).map(|known| known.get());
            let list = match known {
                None => &mut self.added,
                Some(known) if on_existing == OnExisting::Keep || known == profile.get() => {
                    self.kept.push(id);
                    continue;
                }
                Some(_) => &mut self.replaced,
            };
            profiles.insert(&id, profile);
            list.push(id);
        }
        let inner = written(&profiles, None);
        self.new = if nested { written(&fields, Some(&inner)) } else { inner };
        self.old = old;
        Ok(())
    }
}

/// Writes an object, with another text for `profiles` where one is given.
fn written(fields: &Fields<'_>, profiles: Option<&str>) -> Zeroizing<String> {
    let value = |name: &str, value: &&RawValue| match profiles {
        Some(profiles) if name == "profiles" => profiles.len(),
        _ => value.get().len(),
    };
    // Allocated at full size, so that growing does not leave copies of a secret behind.
    let room: usize = fields.iter().map(|(name, raw)| name.len() * 6 + value(name, raw) + 4).sum();
    let mut text = Zeroizing::new(String::with_capacity(room + 2));
    for (name, raw) in fields.iter() {
        let separator = if text.is_empty() { '{' } else { ',' };
        text.push(separator);
        text.push_str(&serde_json::Value::from(name).to_string());
        text.push(':');
        text.push_str(profiles.filter(|_| name == "profiles").unwrap_or(raw.get()));
    }
    if text.is_empty() {
        text.push('{');
    }
    text.push('}');
    text
}

/// Applies a planned change. A file is replaced atomically; a database is copied beside itself
/// first and changed in one transaction, unless another program has it open. The copy is deleted
/// once the change has been read back, because it holds secrets.
pub(in crate::openclaw) fn apply_store(
    machine: &Machine,
    change: &StoreChange,
    now: &Moment,
) -> Result<(), StoreError> {
    if change.is_empty() {
        return Ok(());
    }
    if change.is_database { apply_row(machine, change, now) } else { apply_file(change) }
}

fn apply_file(change: &StoreChange) -> Result<(), StoreError> {
    let path = &change.path;
    let failed = |source| StoreError::Io { path: path.clone(), source };
    let present = match fs::symlink_metadata(path) {
        Ok(metadata) if metadata.is_file() => {
            let bytes = Zeroizing::new(fs::read(path).map_err(failed)?);
            Some(bytes)
        }
        Ok(_) => return Err(failed(io::Error::other("it is not a plain file"))),
        Err(error) if error.kind() == io::ErrorKind::NotFound => None,
        Err(error) => return Err(failed(error)),
    };
    let expected = change.old.as_ref().map(|old| old.as_bytes());
    if present.as_ref().map(|bytes| bytes.as_slice()) != expected {
        return Err(StoreError::Changed { path: path.clone() });
    }
    let Some(folder) = path.parent() else {
        return Err(failed(io::ErrorKind::NotFound.into()));
    };
    fs::create_dir_all(folder).map_err(failed)?;
    replace_file(path, change.new.as_bytes(), Durability::Immediate).map_err(failed)
}

fn apply_row(machine: &Machine, change: &StoreChange, now: &Moment) -> Result<(), StoreError> {
    let path = || change.path.clone();
    let put = |key: &str, value: &str, expected: Option<&str>| Put {
        table: STATE_TABLE.table.to_owned(),
        key: (STATE_TABLE.key.to_owned(), key.to_owned()),
        value: (STATE_TABLE.value.to_owned(), value.to_owned()),
        stamp: (STATE_TABLE.stamp.to_owned(), now.instant().as_millisecond()),
        expected: expected.map(str::to_owned),
    };
    let mut puts = Vec::new();
    if change.has_profiles() {
        puts.push(put(STATE_KEY, &change.new, change.old.as_deref().map(String::as_str)));
    }
    if change.names_store {
        puts.push(put(LOCATION_KEY, LOCATION, None));
    }
    let backup = back_up(&change.path)?;
    let failed = match put_rows(machine, &change.path, puts) {
        Ok(()) => None,
        Err(source) if source.may_have_changed() => {
            return Err(StoreError::Unverified { path: path(), backup, source: source.into() });
        }
        Err(DatabaseError::Busy) => Some(StoreError::Open { path: path() }),
        Err(DatabaseError::Changed) => Some(StoreError::Changed { path: path() }),
        Err(source) => Some(StoreError::Database { path: path(), source }),
    };
    // The database is either unchanged or changed as planned.
    let removed = fs::remove_dir_all(&backup);
    match failed {
        Some(error) => Err(error),
        None => removed.map_err(|source| StoreError::Backup { backup, source }),
    }
}

/// Copies a database into a folder beside it, with its log.
fn back_up(database: &Path) -> Result<PathBuf, StoreError> {
    let failed = |source| StoreError::Io { path: database.to_owned(), source };
    let folder = database.parent().ok_or_else(|| failed(io::ErrorKind::NotFound.into()))?;
    let copy = Copy::take(database, folder).map_err(|error| match error {
        CopyError::Busy(path) => StoreError::Open { path },
        source => StoreError::Database { path: database.to_owned(), source: source.into() },
    })?;
    let free =
        (1_u32..10_000).map(|number| with_suffix(database, &format!(".before-import-{number}")));
    let Some(backup) = free.into_iter().find(|path| fs::symlink_metadata(path).is_err()) else {
        return Err(failed(io::ErrorKind::AlreadyExists.into()));
    };
    copy.keep_as(&backup).map_err(failed)?;
    Ok(backup)
}
