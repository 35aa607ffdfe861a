//! Restores opened credentials into `config.toml` and `auth-profiles.json`.
//!
//! Secrets are added to the current content of the files, because the same import may just have
//! written the configuration.

use std::collections::BTreeSet;
use std::io;
use std::path::{Path, PathBuf};

use anemone_format::{Credential, CredentialType, Credentials, Moment, NOT_EXPORTED};
use fs_err as fs;
use serde::Deserialize;
use serde_json::{Map, Value, json};
use toml_edit::{DocumentMut, Item};
use zeroize::Zeroizing;

use super::key::{self, SecretKey};
use super::{
    Body, CONFIG_TAG, MAX_PROFILES_BYTES, PROFILES_FILE, Payload, ProfileFields, REFERENCE_TAG,
    TOKENS,
};
use crate::kit::{
    CredentialsStep, FoundAgent, Machine, NotRestored, NotRestoredKind, OnConflict, PlanBuilder,
    PlanOptions, PlannedChange, RestoreError, RestoreSource, SecretText, StoreError,
    credential_name, not_restored, open, times,
};
use crate::zeroclaw::RUNTIME;
use crate::zeroclaw::config::{
    ElementName, MAX_BYTES, dotted, encrypts, is_encrypted_field, is_same_value, is_vacant,
    item_at, map_texts, read_plain, replace, schema_of,
};

/// The lock file that the runtime keeps while it writes profiles.
const LOCK_FILE: &str = "auth-profiles.lock";
/// The schema in which providers have names.
const NAMED_SCHEMA: u32 = 3;
/// Keys on the path to a secret, at most.
const MAX_PATH: usize = 100;
/// The version of the store of profiles.
const PROFILES_SCHEMA: u64 = 1;

/// One credential, and where it goes.
struct PlannedSecret {
    /// The name shown to the user.
    name: String,
    service: String,
    body: Body,
}

/// What was done with one secret.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum PutOutcome {
    Added,
    Replaced,
    Kept,
    Refused(&'static str),
}

/// The planned change of the stores.
struct CredentialsChange {
    install: PathBuf,
    config: PathBuf,
    puts: Vec<PlannedSecret>,
    overwrites: bool,
    /// Whether the same plan creates the configuration, of which nothing has to be kept.
    makes_config: bool,
}

/// The texts of the stores; `None` when there is no file.
#[derive(Default)]
struct StoreTexts {
    config: Option<Zeroizing<String>>,
    profiles: Option<Zeroizing<String>>,
}

/// The stores after the change.
struct PlacedSecrets {
    texts: StoreTexts,
    done: Vec<PutOutcome>,
    /// Whether anything was encrypted.
    sealed: bool,
}

/// Plans how credentials go into the install, and notes those that do not.
pub(in crate::zeroclaw) fn plan(
    target: &FoundAgent,
    options: &PlanOptions<'_>,
    credentials: Credentials,
    draft: &mut PlanBuilder,
) {
    let mut puts = Vec::new();
    // An agent uses `default` unless its settings name another key.
    let is_usual = |credential: &&Credential| {
        credential.credential_type == CredentialType::ApiKey
            && credential.label.as_ref().is_some_and(|label| label.ends_with(":default"))
    };
    let usual = credentials.credentials.iter().filter(is_usual);
    let usual = usual.filter_map(|usual| usual.label.clone()).collect();
    let mut entries = ProviderEntries { usual, taken: BTreeSet::new() };
    let mut taken = BTreeSet::new();
    for credential in credentials.credentials {
        if is_bare(&credential)
            && credential.label.as_ref().is_some_and(|label| taken.contains(label))
        {
            // Another secret of the list holds what this one only refers to.
            continue;
        }
        match opened(&credential, target, options, &mut entries) {
            Ok(Some(put)) if !taken.insert(put.body.label()) => {
                let reason = "another secret goes to its place".to_owned();
                draft.not_restored.push(named_not_restored(&put.name, reason));
            }
            Ok(Some(put)) => puts.push(put),
            Ok(None) => {}
            Err(reason) => draft.not_restored.push(not_restored(&credential, reason)),
        }
    }
    let Some(install) = target.install.as_deref().filter(|_| !puts.is_empty()) else { return };
    let config = target.config.as_deref().map(Path::to_owned);
    let config = config.unwrap_or_else(|| install.join("config.toml"));
    let overwrites = options.on_conflict == OnConflict::Theirs;
    let makes_config = draft.config.as_ref().is_some_and(|step| step.made);
    let install_path = install.to_owned();
    let mut change =
        CredentialsChange { install: install_path, config, puts, overwrites, makes_config };
    let planned = draft.config.as_ref().and_then(|step| step.change.planned_text());
    let outcome = change.texts().and_then(|mut texts| {
        if let Some(planned) = planned {
            texts.config = Some(Zeroizing::new(planned.to_owned()));
        }
        let key = SecretKey::read(install)
            .map_err(|source| StoreError::Io { path: key::path_of(install), source })?;
        change.place(&texts, key.as_ref(), &times::epoch())
    });
    let outcome = match outcome {
        Ok(outcome) => outcome,
        Err(error) => {
            let reason = reason_of(&error);
            let note = |put: &PlannedSecret| named_not_restored(&put.name, reason.clone());
            draft.not_restored.extend(change.puts.iter().map(note));
            return;
        }
    };
    let mut step = (Vec::new(), Vec::new(), Vec::new());
    let mut done = outcome.done.into_iter();
    change.puts.retain(|put| {
        let list = match done.next() {
            Some(PutOutcome::Added) => &mut step.0,
            Some(PutOutcome::Replaced) => &mut step.1,
            Some(PutOutcome::Kept) => &mut step.2,
            Some(PutOutcome::Refused(reason)) => {
                draft.not_restored.push(named_not_restored(&put.name, reason.to_owned()));
                return false;
            }
            None => return false,
        };
        list.push(put.name.clone());
        true
    });
    if change.puts.is_empty() {
        return;
    }
    let has_leaf = change.puts.iter().any(|put| put.body.as_profile().is_none());
    let store = if has_leaf { change.config.clone() } else { change.profiles_path() };
    let (added, replaced, kept) = step;
    let change = Box::new(change);
    draft.credentials = Some(CredentialsStep { store, added, replaced, kept, change });
}

/// Returns a credential, by its name, that is not restored.
fn named_not_restored(name: &str, reason: impl Into<String>) -> NotRestored {
    NotRestored::of(NotRestoredKind::Credential, name, reason)
}

/// Returns whether a credential has no secret.
fn is_bare(credential: &Credential) -> bool {
    credential.encrypted_payload == NOT_EXPORTED
}

/// Returns what went wrong with its cause, for people.
fn reason_of(error: &StoreError) -> String {
    match error {
        StoreError::Io { source, .. } => format!("{error}: {source}"),
        _ => error.to_string(),
    }
}

/// Opens a credential; `None` when it is restored in another way, otherwise the reason why it is
/// not.
fn opened(
    credential: &Credential,
    target: &FoundAgent,
    options: &PlanOptions<'_>,
    entries: &mut ProviderEntries,
) -> Result<Option<PlannedSecret>, String> {
    let has = |tag: &str| credential.tags.iter().any(|other| other == tag);
    if has(CONFIG_TAG) && has(REFERENCE_TAG) {
        // The configuration says where the secret is.
        return Ok(None);
    }
    let secret = open(credential, target, options)?;
    let body = match serde_json::from_slice::<Payload>(&secret) {
        Ok(payload) => Some(payload.zeroclaw).filter(Body::has_place),
        Err(_) => serde_json::from_slice::<ForeignProfile>(&secret)
            .ok()
            .and_then(|foreign| foreign_body(credential, foreign, entries)),
    };
    let body = body.ok_or_else(|| format!("it is of a kind that {RUNTIME} does not keep"))?;
    let (name, service) = (credential_name(credential), credential.service.clone());
    Ok(Some(PlannedSecret { name, service, body }))
}

impl Body {
    fn as_profile(&self) -> Option<(&str, &ProfileFields)> {
        Some((self.id.as_deref()?, self.profile.as_ref()?))
    }

    /// Returns whether it says where its secret belongs.
    fn has_place(&self) -> bool {
        let has_value = self.value.is_some() || self.toml.is_some();
        self.as_profile().is_some() || has_value && (1..=MAX_PATH).contains(&self.path.len())
    }

    /// Returns the name that a credential of this place has when it is read.
    fn label(&self) -> String {
        self.as_profile().map_or_else(|| dotted(&self.path), |(id, _)| id.to_owned())
    }
}

/// The entries of providers that keys of another runtime get.
struct ProviderEntries {
    /// Labels of keys that are the usual ones of their providers.
    usual: BTreeSet<String>,
    taken: BTreeSet<(String, String)>,
}

impl ProviderEntries {
    /// Returns an entry that no other key has: `default` for the default key, or the first one.
    fn next(&mut self, provider: &str, name: &str) -> String {
        let has_usual = self.usual.contains(&format!("{provider}:default"));
        let first = (name == "default" || !has_usual).then(|| "default".to_owned());
        let numbered = (2_u64..).map(|number| format!("{name}_{number}"));
        let names = first.into_iter().chain([name.to_owned()]).chain(numbered);
        let mut free = names.map(|name| (provider.to_owned(), name));
        let entry = free.find(|free| !self.taken.contains(free)).expect("some number is free");
        self.taken.insert(entry.clone());
        entry.1
    }
}

/// A profile of OpenClaw.
#[derive(Deserialize)]
struct ForeignProfile {
    #[serde(rename = "type")]
    kind: String,
    provider: Option<String>,
    key: Option<SecretText>,
    token: Option<SecretText>,
    access: Option<SecretText>,
    refresh: Option<SecretText>,
    expires: Option<f64>,
}

/// Finds a place for a profile of another runtime: keys go to the providers, tokens to the
/// profiles.
fn foreign_body(
    credential: &Credential,
    foreign: ForeignProfile,
    entries: &mut ProviderEntries,
) -> Option<Body> {
    let label = credential.label.as_deref().unwrap_or_default();
    let provider = foreign.provider.unwrap_or_else(|| credential.service.clone());
    let name = label.split_once(':').map_or("default", |(_, name)| name);
    if provider.is_empty() {
        return None;
    }
    if let (true, Some(key)) = (foreign.kind == "api_key", foreign.key) {
        let entry = entries.next(&provider, name);
        let path = ["providers", "models", &provider, &entry, "api_key"];
        return Some(Body {
            schema: Some(NAMED_SCHEMA),
            path: path.map(str::to_owned).to_vec(),
            value: Some(key),
            encrypted: true,
            ..Body::default()
        });
    }
    let (access, refresh, token) = match foreign.kind.as_str() {
        "token" => (None, None, foreign.token),
        "oauth" => (foreign.access, foreign.refresh, None),
        _ => return None,
    };
    if access.is_none() && token.is_none() {
        return None;
    }
    #[expect(clippy::cast_possible_truncation, reason = "a float out of range saturates")]
    let expires = foreign.expires.filter(|millis| *millis > 0.0).map(|millis| millis as i64);
    let expires = expires.and_then(times::from_millis).map(|value| value.as_str().to_owned());
    let created = credential.created_at.as_str();
    let facts = json!({
        "model_provider": provider,
        "profile_name": name,
        "kind": foreign.kind,
        "expires_at": expires,
        "created_at": created,
        "updated_at": created,
        "metadata": {},
        "account_id": null,
        "workspace_id": null,
        "id_token": null,
        "token_type": null,
        "scope": null,
    });
    let mut fields = ProfileFields(facts.as_object().cloned().unwrap_or_default());
    for (key, secret) in [("access_token", access), ("refresh_token", refresh), ("token", token)] {
        let value = secret.map_or(Value::Null, |secret| Value::String(secret.0.to_string()));
        fields.0.insert(key.to_owned(), value);
    }
    let id = Some(format!("{provider}:{name}"));
    Some(Body { id, profile: Some(fields), active: true, ..Body::default() })
}

impl CredentialsChange {
    fn profiles_path(&self) -> PathBuf {
        self.install.join(PROFILES_FILE)
    }

    /// Reads the stores as they are.
    fn texts(&self) -> Result<StoreTexts, StoreError> {
        let read = |path: &Path, max| {
            let failed = |source| StoreError::Io { path: path.to_owned(), source };
            read_plain(path, max).map_err(failed)
        };
        Ok(StoreTexts {
            config: read(&self.config, MAX_BYTES)?,
            profiles: read(&self.profiles_path(), MAX_PROFILES_BYTES)?,
        })
    }

    /// Puts every credential into the texts of the stores. Without a key, values are encrypted with
    /// a placeholder key, and the outcome only says what would happen.
    fn place(
        &self,
        texts: &StoreTexts,
        key: Option<&SecretKey>,
        now: &Moment,
    ) -> Result<PlacedSecrets, StoreError> {
        let odd = |path: &Path, what: &str| {
            let source = io::Error::other(what.to_owned());
            StoreError::Io { path: path.to_owned(), source }
        };
        let config = texts.config.as_deref().map_or("", String::as_str);
        let mut config =
            config.parse::<DocumentMut>().map_err(|_| odd(&self.config, "it is not TOML"))?;
        if texts.config.is_none() {
            config.insert("schema_version", toml_edit::value(i64::from(NAMED_SCHEMA)));
        }
        let profiles = texts.profiles.as_deref().map_or("{}", String::as_str);
        let mut profiles: ProfileFields = serde_json::from_str(profiles)
            .map_err(|_| odd(&self.profiles_path(), "it is not a JSON object"))?;
        let nothing = SecretKey::nothing();
        let mut sealer = Sealer {
            schema: schema_of(config.as_item()),
            encrypts: encrypts(config.as_item()),
            open: key,
            seal: key.unwrap_or(&nothing),
            sealed: false,
        };
        let mut changed = (false, false);
        let mut done = Vec::new();
        for put in &self.puts {
            let profile = put.body.as_profile();
            let is_leaf = profile.is_none();
            let one = match profile {
                Some((id, fields)) => {
                    self.place_profile(&mut profiles, id, fields, put.body.active, &mut sealer)
                }
                None => self.place_leaf(&mut config, put, &mut sealer),
            };
            let is_change = matches!(one, PutOutcome::Added | PutOutcome::Replaced);
            changed.0 |= is_change && is_leaf;
            changed.1 |= is_change && !is_leaf;
            done.push(one);
        }
        let config = changed.0.then(|| Zeroizing::new(config.to_string()));
        if config.as_ref().is_some_and(|text| text.parse::<DocumentMut>().is_err()) {
            return Err(odd(&self.config, "it cannot be added to"));
        }
        if changed.1 {
            profiles.0.insert("updated_at".to_owned(), Value::from(now.as_str()));
            profiles.0.entry("schema_version").or_insert_with(|| Value::from(PROFILES_SCHEMA));
        }
        let profiles = changed.1.then(|| serde_json::to_string_pretty(&profiles));
        let profiles = profiles.transpose().map_err(|_| odd(&self.profiles_path(), "not JSON"))?;
        let texts = StoreTexts { config, profiles: profiles.map(Zeroizing::new) };
        Ok(PlacedSecrets { texts, done, sealed: sealer.sealed })
    }

    fn place_leaf(
        &self,
        config: &mut DocumentMut,
        put: &PlannedSecret,
        sealer: &mut Sealer<'_>,
    ) -> PutOutcome {
        let Body { schema, path, names, value, toml, encrypted, .. } = &put.body;
        let schema = schema.unwrap_or(NAMED_SCHEMA);
        let Some(fitted) = fitted(path, names, schema, sealer.schema, &put.service) else {
            return PutOutcome::Refused(
                "the configuration here is of another schema, without its place",
            );
        };
        let plain = match (value, toml) {
            (Some(text), _) => Some(toml_edit::Value::from(text.0.as_str())),
            (None, toml) => toml.as_ref().and_then(|text| text.0.parse().ok()),
        };
        let Some(plain) = plain else { return PutOutcome::Refused("it is not a value") };
        if is_other_store(config.as_item(), &fitted.path, &plain) {
            return PutOutcome::Refused(
                "it names another store of memories than the one in use here",
            );
        }
        if fitted.needs_parent && !has_table(config.as_item(), &fitted.path) {
            return PutOutcome::Refused("the configuration here has no such section");
        }
        let Some(slot) = slot(config.as_item_mut(), &fitted.path, names) else {
            return PutOutcome::Refused("the configuration here has no such place");
        };
        let is_vacant = is_vacant(slot);
        if !is_vacant {
            let Some(known) = slot.as_value() else {
                return PutOutcome::Refused("there is a table in its place");
            };
            if sealer.opens_to(known, &plain) || !self.overwrites {
                return PutOutcome::Kept;
            }
        }
        let is_field = sealer.schema >= NAMED_SCHEMA && is_encrypted_field(&fitted.path);
        let mut new = plain;
        if sealer.encrypts && (*encrypted || is_field) {
            sealer.seal(&fitted.path.join("\u{0}"), &mut new);
        }
        match slot.as_value_mut() {
            // A comment after it stays.
            Some(known) => {
                let decor = known.decor().clone();
                *new.decor_mut() = decor;
                *known = new;
            }
            None => *slot = Item::Value(new.decorated(" ", "")),
        }
        if is_vacant { PutOutcome::Added } else { PutOutcome::Replaced }
    }

    fn place_profile(
        &self,
        store: &mut ProfileFields,
        id: &str,
        fields: &ProfileFields,
        active: bool,
        sealer: &mut Sealer<'_>,
    ) -> PutOutcome {
        let object = |store: &mut ProfileFields, key: &str| {
            let value = store.0.entry(key).or_insert_with(|| Value::Object(Map::new()));
            value.is_object()
        };
        if !object(store, "profiles") || !object(store, "active_profiles") {
            return PutOutcome::Refused("the store of profiles is not understood");
        }
        let text = |key: &str| fields.0.get(key).and_then(Value::as_str);
        let provider = text("model_provider").or_else(|| text("provider"));
        let provider = provider.or_else(|| id.split(':').next()).unwrap_or(id).to_owned();
        let Some(Value::Object(profiles)) = store.0.get_mut("profiles") else {
            return PutOutcome::Kept;
        };
        let known = profiles.get(id);
        let done = match known {
            None => PutOutcome::Added,
            Some(known) if !self.overwrites || sealer.has_tokens(known, fields) => {
                return PutOutcome::Kept;
            }
            Some(_) => PutOutcome::Replaced,
        };
        let mut new = fields.0.clone();
        for token in TOKENS {
            if let Some(Value::String(text)) = new.get_mut(token)
                && sealer.encrypts
                && !text.is_empty()
            {
                sealer.sealed = true;
                let sealed = sealer.seal.seal(&format!("{id}\u{0}{token}"), text);
                zeroize::Zeroize::zeroize(text);
                sealed.as_str().clone_into(text);
            }
        }
        profiles.insert(id.to_owned(), Value::Object(new));
        if let Some(Value::Object(in_use)) = store.0.get_mut("active_profiles")
            && active
        {
            in_use.entry(provider).or_insert_with(|| Value::from(id));
        }
        done
    }

    fn write(&self, now: &Moment) -> Result<Option<PathBuf>, StoreError> {
        let old = self.texts()?;
        let failed = |source| StoreError::Io { path: key::path_of(&self.install), source };
        let mut key = SecretKey::read(&self.install).map_err(failed)?;
        let mut outcome = self.place(&old, key.as_ref(), now)?;
        if outcome.done.iter().any(|done| matches!(done, PutOutcome::Refused(_))) {
            return Err(StoreError::Changed { path: self.config.clone() });
        }
        let has_profiles = outcome.texts.profiles.is_some();
        let lock = has_profiles.then(|| ProfilesLock::take(&self.install)).transpose()?;
        // A key that was never used would only puzzle its owner.
        if outcome.sealed && key.is_none() {
            key = Some(SecretKey::make(&self.install).map_err(failed)?);
            outcome = self.place(&old, key.as_ref(), now)?;
        }
        let mut backup = None;
        let old_config = old.config.as_ref().map(|text| text.as_str());
        if let Some(new) = &outcome.texts.config {
            let copy_at = (!self.makes_config).then_some(now);
            backup = replace(&self.config, old_config, new, copy_at)?;
        }
        if let Some(new) = &outcome.texts.profiles {
            let old_profiles = old.profiles.as_ref().map(|text| text.as_str());
            match replace(&self.profiles_path(), old_profiles, new, Some(now)) {
                Ok(copy) => backup = backup.or(copy),
                Err(error) => {
                    self.undo(old_config, outcome.texts.config.as_deref().map(String::as_str))?;
                    return Err(error);
                }
            }
        }
        drop(lock);
        Ok(backup)
    }

    /// Restores the old configuration.
    fn undo(&self, old: Option<&str>, new: Option<&str>) -> Result<(), StoreError> {
        let failed = |source| StoreError::Io { path: self.config.clone(), source };
        match (old, new) {
            (_, None) => Ok(()),
            (Some(old), Some(new)) => replace(&self.config, Some(new), old, None).map(drop),
            (None, Some(_)) => fs::remove_file(&self.config).map_err(failed),
        }
    }
}

impl PlannedChange for CredentialsChange {
    fn apply(
        &self,
        _: &Machine,
        _: &RestoreSource<'_>,
        now: &Moment,
    ) -> Result<Option<PathBuf>, RestoreError> {
        Ok(self.write(now)?)
    }
}

/// The lock file that the runtime keeps while it writes profiles; deleted on drop.
struct ProfilesLock(PathBuf);

impl ProfilesLock {
    fn take(install: &Path) -> Result<Self, StoreError> {
        use std::io::Write as _;
        let path = install.join(LOCK_FILE);
        let opened = fs::create_dir_all(install)
            .and_then(|()| fs::OpenOptions::new().write(true).create_new(true).open(&path));
        let mut file = match opened {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                return Err(StoreError::Locked { path });
            }
            Err(source) => return Err(StoreError::Io { path, source }),
        };
        let lock = Self(path);
        let written = writeln!(file, "pid={}", std::process::id());
        written.map_err(|source| StoreError::Io { path: lock.0.clone(), source })?;
        Ok(lock)
    }
}

impl Drop for ProfilesLock {
    fn drop(&mut self) {
        // A failure cannot be reported here; the runtime waits for the file and reports it.
        drop(fs::remove_file(&self.0));
    }
}

/// Encrypts for the target, and opens what it has.
struct Sealer<'a> {
    schema: u32,
    encrypts: bool,
    open: Option<&'a SecretKey>,
    seal: &'a SecretKey,
    sealed: bool,
}

impl Sealer<'_> {
    fn seal(&mut self, place: &str, value: &mut toml_edit::Value) {
        let mut number = 0_u32;
        let sealed = map_texts(value, &mut |text| {
            // Two texts of a list have different places.
            number += 1;
            Ok::<_, std::convert::Infallible>(
                self.seal.seal(&format!("{place}\u{0}{number}"), text),
            )
        });
        match sealed {
            Ok(()) => self.sealed |= number > 0,
            Err(never) => match never {},
        }
    }

    /// Returns whether an existing value is this one.
    fn opens_to(&self, known: &toml_edit::Value, plain: &toml_edit::Value) -> bool {
        let mut known = known.clone();
        let opened = map_texts(&mut known, &mut |text| key::open(self.open, text));
        opened.is_ok() && is_same_value(&known, plain)
    }

    /// Returns whether an existing profile has these tokens.
    fn has_tokens(&self, known: &Value, fields: &ProfileFields) -> bool {
        TOKENS.iter().all(|token| {
            let known = known.get(token).and_then(Value::as_str).unwrap_or_default();
            let wanted = fields.0.get(*token).and_then(Value::as_str).unwrap_or_default();
            key::open(self.open, known).is_ok_and(|opened| opened.as_str() == wanted)
        })
    }
}

/// Where a secret goes in another schema.
struct FittedPath {
    path: Vec<String>,
    /// Whether it is of use only if its section exists.
    needs_parent: bool,
}

/// Finds the place of a secret in the schema of the target; `None` when it has none there.
fn fitted(
    path: &[String],
    names: &[ElementName],
    from: u32,
    to: u32,
    service: &str,
) -> Option<FittedPath> {
    let here = |path: Vec<String>, needs_parent| Some(FittedPath { path, needs_parent });
    if from == to {
        return here(path.to_vec(), false);
    }
    let keys: Vec<&str> = path.iter().map(String::as_str).collect();
    let join = |head: &[&str], rest: &[&str]| {
        let all = head.iter().chain(rest);
        all.map(|key| (*key).to_owned()).collect::<Vec<String>>()
    };
    let to_names = to >= NAMED_SCHEMA && from < NAMED_SCHEMA;
    match &keys[..] {
        _ if !names.is_empty() => None,
        ["api_key"] if from == 1 && to_names => {
            here(join(&["providers", "models", service, "default", "api_key"], &[]), false)
        }
        ["model_providers", provider, rest @ ..] | ["providers", "models", provider, rest @ ..]
            if to_names =>
        {
            // Such a name holds an address, which is a setting of its own in schema 3.
            let is_name = !provider.contains([':', '/']);
            let path = join(&["providers", "models", provider, "default"], rest);
            is_name.then_some(FittedPath { path, needs_parent: false })
        }
        ["channels_config" | "channels", "feishu", rest @ ..] if to_names => {
            here(join(&["channels", "lark", "feishu"], rest), true)
        }
        ["channels_config" | "channels", kind, rest @ ..] if to_names => {
            here(join(&["channels", kind, "default"], rest), true)
        }
        [
            "model_providers" | "providers" | "channels_config" | "channels" | "agents" | "storage"
            | "api_key" | "extra_headers",
            ..,
        ] => None,
        [_] => None,
        _ => here(path.to_vec(), true),
    }
}

/// Returns whether a value would make the runtime look for memories elsewhere. In older schemas the
/// name of the store is among the secrets, and takes precedence over the backend.
fn is_other_store(root: &Item, path: &[String], value: &toml_edit::Value) -> bool {
    let backend = root.get("memory").and_then(|memory| memory.get("backend")?.as_str());
    path == ["storage", "provider", "config", "provider"]
        && backend.is_some_and(|backend| Some(backend) != value.as_str())
}

/// Returns whether the table at the end of a path exists.
fn has_table(root: &Item, path: &[String]) -> bool {
    let parents = path.split_last().map_or(&[][..], |(_, parents)| parents);
    item_at(root, parents).is_some_and(Item::is_table_like)
}

/// Returns the value at the end of a path; missing tables on the way are created, lists are not.
fn slot<'a>(root: &'a mut Item, path: &[String], names: &[ElementName]) -> Option<&'a mut Item> {
    let (last, parents) = path.split_last()?;
    let mut item = root;
    for (at, key) in parents.iter().enumerate() {
        item = step(item, key, names.iter().find(|name| name.at == at), false)?;
    }
    step(item, last, None, true)
}

fn step<'a>(
    item: &'a mut Item,
    key: &str,
    named: Option<&ElementName>,
    is_last: bool,
) -> Option<&'a mut Item> {
    if item.is_array() || item.is_array_of_tables() {
        let count = item.as_array().map(toml_edit::Array::len);
        let count =
            count.or_else(|| item.as_array_of_tables().map(toml_edit::ArrayOfTables::len))?;
        let is_it = |at: &usize| {
            let name = named.and_then(|named| item.get(*at)?.get(&*named.key)?.as_str());
            name.is_some() && name == named.map(|named| named.name.as_str())
        };
        let at = match named {
            Some(_) => (0..count).find(is_it)?,
            None => key.parse().ok()?,
        };
        return item.get_mut(at);
    }
    let is_inline = item.is_inline_table();
    let table = item.as_table_like_mut()?;
    if !table.contains_key(key) {
        let new = if is_last {
            // Empty, so it counts as vacant.
            toml_edit::value("")
        } else if is_inline {
            Item::Value(toml_edit::Value::InlineTable(toml_edit::InlineTable::new()))
        } else {
            let mut table = toml_edit::Table::new();
            table.set_implicit(true);
            Item::Table(table)
        };
        table.insert(key, new);
    }
    table.get_mut(key)
}
