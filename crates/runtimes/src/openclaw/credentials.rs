//! Keys to other services, out of OpenClaw's auth profiles and back into them.
//!
//! | | store |
//! |---|---|
//! | gen-3 | `agents/<agent>/agent/auth-profiles.json` |
//! | gen-9, one agent | table `auth_profile_store` of the agent's database |
//! | gen-9, shared | `config_machine_state`, key `authProfiles.store`, of `state/openclaw.sqlite` |
//!
//! All three hold the same JSON, in clear: `{"version":1,"profiles":{"openai:default":{...}}}`. An
//! install that was moved up keeps the old file, so a profile is taken from the first store that
//! has it, databases first. Secrets stay in buffers that are wiped, and are not in any message.

mod foreign;
mod store;

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::io;
use std::path::{Path, PathBuf};

use anemone_files::{Folder, read_limited};
use anemone_format::{AgentId, Credential, CredentialType, Credentials, Moment, Pairs};
use fs_err as fs;
use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::value::RawValue;
use zeroize::Zeroizing;

use super::install::{
    AGENT_DATABASE, InstallDatabase, PROFILES_FILE, STATE_DATABASE, agent_folder,
};
use crate::kit::{
    DatabaseError, FoundAgent, Machine, Read, ReadError, SealSecret, StateTable, Value, Warning,
    bare, document, times, unreadable,
};
pub(super) use store::{OnExisting, plan_store};

/// The table with the store that all agents of an install share.
pub(super) const STATE_TABLE: StateTable = StateTable {
    table: "config_machine_state",
    key: "state_key",
    value: "value_json",
    stamp: "updated_at_ms",
};
/// The key of the store in it.
const STATE_KEY: &str = "authProfiles.store";
/// Bytes of a store in a file, at most.
const MAX_STORE_BYTES: u64 = 16 << 20;
/// Scopes of a token that are named, at most, and their bytes.
const MAX_SCOPES: usize = 100;
const MAX_SCOPE_BYTES: usize = 200;
/// Accounts that are named, at most.
const MAX_CHANNELS: usize = 1_000;

/// Earlier times are not expiry times: 2000-01-01.
const FIRST_EXPIRY_MILLIS: i64 = 946_684_800_000;

/// Reads what the agent can open: metadata, and the secrets if there is something to seal them.
pub(super) fn credentials(
    machine: &Machine,
    agent: &FoundAgent,
    database: Option<&InstallDatabase>,
    agent_id: AgentId,
    seal: Option<&SealSecret<'_>>,
    fallback: &Moment,
) -> Result<(Option<Credentials>, Vec<Warning>), ReadError> {
    let mut warnings = Vec::new();
    let mut credentials = Vec::new();
    let mut seen = BTreeSet::new();
    let Some(install) = &agent.install else { return Ok((None, warnings)) };
    for store in stores(machine, install, &agent.alias, database, &mut warnings) {
        let Ok(profiles) = profiles_of(&store.text) else {
            warnings.push(store.warning("it does not hold auth profiles"));
            continue;
        };
        for (id, profile) in profiles.iter() {
            if !seen.insert(id.to_owned()) {
                continue;
            }
            let Some(mut credential) = credential_of(agent_id, id, profile, fallback) else {
                warnings.push(store.warning("one of its profiles is not understood"));
                continue;
            };
            if let Some(seal) = seal {
                let (payload, encryption) =
                    seal(&credential, profile.get().as_bytes()).map_err(ReadError::Seal)?;
                credential.encrypted_payload = payload;
                credential.encryption = encryption;
            }
            credentials.push(credential);
        }
    }
    credentials.extend(channels(install, agent_id, fallback, &mut warnings));
    Ok((document(credentials), warnings))
}

/// The text of one store; wiped when dropped.
struct ProfileStore {
    path: PathBuf,
    text: Zeroizing<String>,
}

impl ProfileStore {
    fn warning(&self, what: &str) -> Warning {
        unreadable(self.path.display(), what)
    }
}

fn stores(
    machine: &Machine,
    install: &Path,
    alias: &str,
    database: Option<&InstallDatabase>,
    warnings: &mut Vec<Warning>,
) -> Vec<ProfileStore> {
    let mut stores = Vec::new();
    let mut add = |path: PathBuf, text: Result<Option<Zeroizing<String>>, String>| match text {
        Ok(Some(text)) => stores.push(ProfileStore { path, text }),
        Ok(None) => {}
        Err(what) => warnings.push(unreadable(path.display(), what)),
    };
    if let Some(database) = database {
        add(database.path().to_owned(), own_store(database).map_err(|error| error.to_string()));
    }
    if let Some(folder) = agent_folder(alias) {
        let path = install.join(STATE_DATABASE);
        let text = InstallDatabase::open(machine, &path).and_then(|database| {
            database.map_or(Ok(None), |database| state_text(&database, STATE_KEY))
        });
        add(path, text.map_err(|error| error.to_string()));
        let file = folder.join(PROFILES_FILE);
        let text = read_below(install, &file).map_err(|error| error.to_string());
        add(install.join(file), text);
    }
    // Some versions kept a store with the keys of channels.
    let file = Path::new(FOLDER).join(PROFILES_NAME);
    let text = read_below(install, &file).map_err(|error| error.to_string());
    add(install.join(file), text);
    stores
}

/// Reads the store in an agent's own database.
fn own_store(database: &InstallDatabase) -> Result<Option<Zeroizing<String>>, DatabaseError> {
    first_text(database, &Read::of("auth_profile_store", &["store_json"]))
}

/// Reads a value of the state database.
fn state_text(
    database: &InstallDatabase,
    key: &str,
) -> Result<Option<Zeroizing<String>>, DatabaseError> {
    first_text(
        database,
        &Read::of(STATE_TABLE.table, &[STATE_TABLE.value]).only(STATE_TABLE.key, key),
    )
}

/// Returns the text in the first row; a missing table or row is `None`.
fn first_text(
    database: &InstallDatabase,
    read: &Read,
) -> Result<Option<Zeroizing<String>>, DatabaseError> {
    let row = database.rows(read)?.into_iter().flatten().next().transpose()?;
    Ok(row.and_then(|mut row| match row.pop() {
        Some(Value::Text(text)) => Some(Zeroizing::new(text)),
        _ => None,
    }))
}

/// Reads a text file below a folder, without following a link out of it or a link to the file.
fn read_below(install: &Path, file: &Path) -> io::Result<Option<Zeroizing<String>>> {
    let opened = match Folder::open(install).and_then(|folder| folder.file_beneath(file)) {
        Ok(opened) => opened,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error),
    };
    let bytes = read_limited(&opened, MAX_STORE_BYTES).map_err(|error| {
        let is_too_large = error.kind() == io::ErrorKind::FileTooLarge;
        if is_too_large { io::Error::other("it is not a file of a usual size") } else { error }
    })?;
    match String::from_utf8(bytes) {
        Ok(text) => Ok(Some(Zeroizing::new(text))),
        Err(error) => {
            drop(Zeroizing::new(error.into_bytes()));
            Err(io::Error::other("it is not UTF-8"))
        }
    }
}

/// The fields of a JSON object in order, each value as its own text.
type Fields<'a> = Pairs<&'a RawValue>;

/// Finds the profiles of a store: below `profiles`, or the whole object in the oldest shape.
fn profiles_of(text: &str) -> Result<Fields<'_>, serde_json::Error> {
    let mut fields: Fields<'_> = serde_json::from_str(text)?;
    if let Some(profiles) = fields.get("profiles") {
        return serde_json::from_str(profiles.get());
    }
    fields.retain(|_, value| value.get().starts_with('{'));
    Ok(fields)
}

/// The fields of a profile besides its secret.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ProfileHead<'a> {
    #[serde(borrow, rename = "type")]
    kind: Option<Cow<'a, str>>,
    #[serde(borrow)]
    provider: Option<Cow<'a, str>>,
    #[serde(borrow)]
    expires: Option<&'a RawValue>,
    /// What an OAuth token may do.
    #[serde(borrow)]
    scope: Option<&'a RawValue>,
    #[serde(borrow)]
    scopes: Option<&'a RawValue>,
    key_ref: Option<IgnoredAny>,
    token_ref: Option<IgnoredAny>,
}

fn credential_of(
    agent_id: AgentId,
    id: &str,
    profile: &RawValue,
    fallback: &Moment,
) -> Option<Credential> {
    let head: ProfileHead<'_> = serde_json::from_str(profile.get()).ok()?;
    let service = head.provider.as_deref().or_else(|| id.split(':').next()).unwrap_or(id);
    let mut credential = bare(agent_id, id, service, fallback);
    credential.credential_type = match head.kind.as_deref() {
        Some("api_key") => CredentialType::ApiKey,
        Some("token") => CredentialType::SessionToken,
        Some("oauth") => CredentialType::OauthToken,
        _ => CredentialType::Custom,
    };
    credential.label = Some(id.to_owned());
    credential.expires_at = head.expires.and_then(expiry_of);
    credential.capabilities_granted = head.scopes.or(head.scope).map(scopes_of).unwrap_or_default();
    if head.key_ref.is_some() || head.token_ref.is_some() {
        credential.tags.push("ref".to_owned());
    }
    Some(credential)
}

/// Reads the scopes of a token: a list, or words in one text.
fn scopes_of(raw: &RawValue) -> Vec<String> {
    let listed: Vec<String> = serde_json::from_str(raw.get()).unwrap_or_else(|_| {
        let text: String = serde_json::from_str(raw.get()).unwrap_or_default();
        text.split([' ', ',']).map(str::to_owned).collect()
    });
    let is_scope = |scope: &String| {
        let plain = |c: char| c.is_alphanumeric() || "-_.:/*@".contains(c);
        !scope.is_empty() && scope.len() <= MAX_SCOPE_BYTES && scope.chars().all(plain)
    };
    listed.into_iter().filter(is_scope).take(MAX_SCOPES).collect()
}

/// Reads a time in milliseconds; impossible values are left out.
fn expiry_of(raw: &RawValue) -> Option<Moment> {
    let number: f64 = serde_json::from_str(raw.get()).ok()?;
    #[expect(clippy::cast_possible_truncation, reason = "a float out of range saturates")]
    let millis = number as i64;
    times::from_millis(millis).filter(|_| millis >= FIRST_EXPIRY_MILLIS)
}

/// The folder of an install with the keys of channels and services, one file or folder for each.
const FOLDER: &str = "credentials";
/// Tokens by their services, from before there were profiles.
const OAUTH_NAME: &str = "oauth.json";
/// A store of profiles in that folder.
const PROFILES_NAME: &str = "auth-profiles.json";
/// Channels that have files of their own.
const CHANNELS: [&str; 21] = [
    "bluebubbles",
    "discord",
    "feishu",
    "googlechat",
    "imessage",
    "irc",
    "line",
    "matrix",
    "mattermost",
    "msteams",
    "nextcloud-talk",
    "nostr",
    "qqbot",
    "signal",
    "slack",
    "telegram",
    "tlon",
    "twitch",
    "whatsapp",
    "zalo",
    "zalouser",
];

/// A file or folder with the key of one account.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct KeyFile {
    service: String,
    /// Its path in the folder, and what of it is meant.
    label: String,
    kind: KeyFileKind,
}

/// What a file has the key of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum KeyFileKind {
    Channel,
    Token,
    OauthToken,
    Other,
}

/// Returns the keys that a file in the folder holds, by its name: `slack-default.json` is the
/// account `default` of a channel, `github-copilot.token.json` a token.
fn files_of(install: &Path, name: &str) -> Vec<KeyFile> {
    let lists = ["-allowFrom.json", "-pairing.json"];
    // Who may write is no key, and the store of profiles is read elsewhere.
    if name == PROFILES_NAME || name.starts_with('.') || lists.iter().any(|end| name.ends_with(end))
    {
        return Vec::new();
    }
    let file =
        |service: &str, kind| KeyFile { service: service.to_owned(), label: name.to_owned(), kind };
    if name == OAUTH_NAME {
        let text = read_below(install, &Path::new(FOLDER).join(name)).ok().flatten();
        let fields = text.as_ref().and_then(|text| serde_json::from_str::<Fields<'_>>(text).ok());
        let services: Vec<KeyFile> = fields
            .iter()
            .flat_map(Fields::iter)
            .map(|(service, _)| KeyFile {
                label: format!("{name}:{service}"),
                ..file(service, KeyFileKind::OauthToken)
            })
            .take(MAX_CHANNELS)
            .collect();
        let whole = || vec![file("oauth", KeyFileKind::OauthToken)];
        return if services.is_empty() { whole() } else { services };
    }
    let stem = name.strip_suffix(".json").unwrap_or(name);
    if let Some(service) = stem.strip_suffix(".token") {
        return vec![file(service, KeyFileKind::Token)];
    }
    let is_of = |channel: &&&str| {
        let rest = stem.strip_prefix(**channel);
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('-'))
    };
    vec![match CHANNELS.iter().find(is_of) {
        Some(channel) => file(channel, KeyFileKind::Channel),
        None => file(stem, KeyFileKind::Other),
    }]
}

/// Lists the accounts of channels and services that have files in the install.
fn channels(
    install: &Path,
    agent_id: AgentId,
    fallback: &Moment,
    warnings: &mut Vec<Warning>,
) -> Vec<Credential> {
    let mut names = FirstNames::new();
    let root = install.join(FOLDER);
    let mut folders = FirstNames::new();
    for (name, is_folder) in entries(&root) {
        if is_folder {
            folders.add(name);
        } else {
            files_of(install, &name).into_iter().for_each(|file| names.add(file));
        }
    }
    for channel in folders.kept {
        for (account, _) in entries(&root.join(&channel)) {
            let (kind, label) = (KeyFileKind::Channel, format!("{channel}/{account}"));
            names.add(KeyFile { service: channel.clone(), label, kind });
        }
    }
    let left_out = folders.left_out.saturating_add(names.left_out);
    if left_out > 0 {
        let what = format!("only the first {MAX_CHANNELS} accounts of channels are named");
        warnings.push(unreadable(root.display(), what));
    }
    let credential = |KeyFile { service, label, kind }: KeyFile| {
        let mut credential = bare(agent_id, &format!("channel:{label}"), &service, fallback);
        credential.label = Some(label);
        match kind {
            KeyFileKind::Channel => {
                credential.tags.push("channel".to_owned());
                credential.capabilities_granted.push("messaging".to_owned());
            }
            KeyFileKind::Token => credential.credential_type = CredentialType::SessionToken,
            KeyFileKind::OauthToken => credential.credential_type = CredentialType::OauthToken,
            KeyFileKind::Other => {}
        }
        credential
    };
    names.kept.into_iter().map(credential).collect()
}

/// The first names in sorted order, whatever order they come in.
struct FirstNames<T> {
    kept: BTreeSet<T>,
    left_out: u64,
}

impl<T: Ord> FirstNames<T> {
    const fn new() -> Self {
        Self { kept: BTreeSet::new(), left_out: 0 }
    }

    fn add(&mut self, name: T) {
        if self.kept.insert(name) && self.kept.len() > MAX_CHANNELS {
            self.kept.pop_last();
            self.left_out += 1;
        }
    }
}

/// Lists the files and folders of a folder that is not a link; `true` means a folder.
fn entries(folder: &Path) -> impl Iterator<Item = (String, bool)> {
    let is_folder = fs::symlink_metadata(folder).is_ok_and(|metadata| metadata.is_dir());
    let entries = is_folder.then(|| fs::read_dir(folder).ok()).flatten();
    let named = |entry: fs::DirEntry| {
        let kind = entry.file_type().ok().filter(|kind| !kind.is_symlink())?;
        Some((entry.file_name().into_string().ok()?, kind.is_dir()))
    };
    entries.into_iter().flatten().flatten().filter_map(named)
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;

    use rusqlite::Connection;
    use tempfile::TempDir;

    use super::store::apply_store;
    use super::*;
    use crate::kit::database::tests::machine;
    use crate::kit::plan::StoreError;
    use crate::openclaw::RUNTIME;

    const AGENT: &str = "9e373c1e-cab7-5eea-90c3-8f3d09ac5755";
    const STATE: &str = "PRAGMA journal_mode = WAL; CREATE TABLE config_machine_state (
        state_key TEXT NOT NULL PRIMARY KEY, value_json TEXT NOT NULL,
        updated_at_ms INTEGER NOT NULL) STRICT;";
    const FILE: &str = r#"{"version":1,"profiles":{
        "anthropic:default":{"type":"api_key","provider":"anthropic","key":"sk-ant-SECRET-1"},
        "openai:default":{"type":"oauth","provider":"openai","access":"SECRET-ACC","refresh":"SECRET-REF","expires":1},
        "x:manual":{"type":"token","provider":"x","tokenRef":{"source":"env","id":"X"},"expires":1768473000000}
        },"lastGood":{"a":1.50}}"#;

    fn moment(text: &str) -> Moment {
        text.parse().unwrap()
    }

    struct Home {
        folder: TempDir,
        agent: FoundAgent,
        machine: Machine,
    }

    impl Home {
        fn new() -> Self {
            let folder = TempDir::new().unwrap();
            let install = folder.path().join(".openclaw");
            fs::create_dir_all(install.join("agents/main/agent")).unwrap();
            let scratch = folder.path().join("scratch");
            fs::create_dir(&scratch).unwrap();
            let mut agent = FoundAgent::without_install(RUNTIME, "main".into(), PathBuf::new());
            agent.install = Some(install);
            Self { machine: machine(&scratch), folder, agent }
        }

        fn path(&self, path: &str) -> PathBuf {
            self.folder.path().join(".openclaw").join(path)
        }

        fn write(&self, path: &str, text: &str) {
            fs::create_dir_all(self.path(path).parent().unwrap()).unwrap();
            fs::write(self.path(path), text).unwrap();
        }

        fn state(&self) -> Connection {
            fs::create_dir_all(self.path("state")).unwrap();
            let state = Connection::open(self.path("state/openclaw.sqlite")).unwrap();
            state.execute_batch(STATE).unwrap();
            state
        }

        fn read(&self, seal: Option<&SealSecret<'_>>) -> (Vec<Credential>, Vec<Warning>) {
            let id = AGENT.parse().unwrap();
            let fallback = moment("2026-02-01T00:00:00Z");
            let path = self.path("agents/main/agent/openclaw-agent.sqlite");
            let database = InstallDatabase::open(&self.machine, &path).unwrap();
            let (document, warnings) =
                credentials(&self.machine, &self.agent, database.as_ref(), id, seal, &fallback)
                    .unwrap();
            (document.map(|document| document.credentials).unwrap_or_default(), warnings)
        }
    }

    #[test]
    fn profiles_of_the_old_generation_are_metadata_only() {
        let home = Home::new();
        home.write("agents/main/agent/auth-profiles.json", FILE);
        let (found, warnings) = home.read(None);
        assert_eq!(warnings, []);
        let seen: Vec<_> = found
            .iter()
            .map(|c| (c.service.as_str(), c.label.as_deref().unwrap(), c.credential_type.as_str()))
            .collect();
        assert_eq!(
            seen,
            [
                ("anthropic", "anthropic:default", "api_key"),
                ("openai", "openai:default", "oauth_token"),
                ("x", "x:manual", "session_token"),
            ]
        );
        assert_eq!(found[1].expires_at, None);
        assert_eq!(found[2].expires_at, Some(moment("2026-01-15T10:30:00Z")));
        assert_eq!(found[2].tags, ["ref"]);
        for credential in &found {
            assert_eq!(credential.encrypted_payload, "<not-exported>");
            assert_eq!(
                (&*credential.encryption.algorithm, &*credential.encryption.nonce),
                ("none", "")
            );
        }
        assert!(!format!("{found:?}").contains("SECRET"));
        assert_eq!(home.read(None).0, found);
    }

    #[test]
    fn the_whole_profile_is_sealed_when_asked() {
        let home = Home::new();
        home.write("agents/main/agent/auth-profiles.json", FILE);
        let secrets = RefCell::new(Vec::new());
        let seal = |credential: &Credential, secret: &[u8]| {
            secrets.borrow_mut().push(String::from_utf8(secret.to_vec()).unwrap());
            Ok((format!("sealed {}", credential.service), credential.encryption.clone()))
        };
        let (found, _) = home.read(Some(&seal));
        assert_eq!(found[0].encrypted_payload, "sealed anthropic");
        assert_eq!(
            secrets.borrow()[0],
            r#"{"type":"api_key","provider":"anthropic","key":"sk-ant-SECRET-1"}"#
        );
    }

    #[test]
    fn a_database_wins_over_the_file_that_was_left_behind() {
        let home = Home::new();
        home.write("agents/main/agent/auth-profiles.json", FILE);
        let state = home.state();
        let store = r#"{"version":1,"profiles":{"openai:default":{"type":"token","provider":"new","token":"SECRET"}}}"#;
        state
            .execute(
                "INSERT INTO config_machine_state VALUES ('authProfiles.store', ?1, 1)",
                [store],
            )
            .unwrap();
        let (found, warnings) = home.read(None);
        assert_eq!(warnings, []);
        let services: Vec<_> = found.iter().map(|credential| credential.service.as_str()).collect();
        assert_eq!(services, ["new", "anthropic", "x"]);
    }

    #[test]
    fn odd_stores_are_warned_of_without_their_content() {
        let home = Home::new();
        home.write("agents/main/agent/auth-profiles.json", r#"{"profiles":{"a:b":"SECRET"},"#);
        let (found, warnings) = home.read(None);
        assert!(found.is_empty());
        assert_eq!(warnings[0].code, "credentials_unreadable");
        home.write(
            "agents/main/agent/auth-profiles.json",
            r#"{"a:b":{"type":"api_key","key":"SECRET"},"version":1,"c":{"type":7,"key":"SECRET"}}"#,
        );
        let (found, warnings) = home.read(None);
        assert_eq!(found[0].service, "a");
        assert_eq!(warnings.len(), 1);
        assert!(!format!("{warnings:?}").contains("SECRET"));
    }

    #[test]
    fn channels_are_named() {
        let home = Home::new();
        home.write("credentials/whatsapp/default/creds.json", "SECRET");
        home.write("credentials/telegram-allowFrom.json", "[]");
        let (found, _) = home.read(None);
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].service, "whatsapp");
        assert_eq!(found[0].label.as_deref(), Some("whatsapp/default"));
        assert_eq!(found[0].credential_type, CredentialType::Custom);
    }

    #[test]
    fn each_file_with_a_key_is_named_by_its_service() {
        let home = Home::new();
        for (name, text) in [
            (
                "auth-profiles.json",
                r#"{"profiles":{"openai:x":{"type":"api_key","key":"SECRET"}}}"#,
            ),
            ("discord.json", "SECRET"),
            ("github-copilot.token.json", "SECRET"),
            ("oauth.json", r#"{"anthropic":{"access":"SECRET"},"google":{}}"#),
            ("slack-default.json", "SECRET"),
            ("nextcloud-talk.json", "SECRET"),
            ("weather.json", "SECRET"),
            ("telegram-pairing.json", "[]"),
        ] {
            home.write(&format!("credentials/{name}"), text);
        }
        let (found, warnings) = home.read(None);
        assert_eq!(warnings.len(), 0, "{warnings:?}");
        assert!(!format!("{found:?}").contains("SECRET"));
        let found: Vec<_> = found
            .iter()
            .map(|one| (&*one.service, one.label.as_deref().unwrap(), one.tags.len()))
            .collect();
        assert_eq!(
            found,
            [
                ("openai", "openai:x", 0),
                ("anthropic", "oauth.json:anthropic", 0),
                ("discord", "discord.json", 1),
                ("github-copilot", "github-copilot.token.json", 0),
                ("google", "oauth.json:google", 0),
                ("nextcloud-talk", "nextcloud-talk.json", 1),
                ("slack", "slack-default.json", 1),
                ("weather", "weather.json", 0),
            ]
        );
        home.write("credentials/oauth.json", "SECRET");
        assert!(home.read(None).0.iter().any(|one| one.service == "oauth" && one.tags.is_empty()));
    }

    fn opened(id: &str, profile: &str) -> (Credential, Zeroizing<Vec<u8>>) {
        let mut credential = bare(AGENT.parse().unwrap(), id, "s", &moment("2026-02-01T00:00:00Z"));
        credential.label = Some(id.to_owned());
        (credential, Zeroizing::new(profile.as_bytes().to_vec()))
    }

    const PUT: [(&str, &str); 2] =
        [("new:a", r#"{"type":"api_key","key":"N"}"#), ("openai:default", r#"{"type":"token"}"#)];

    #[cfg(unix)]
    #[test]
    fn the_file_keeps_what_it_has_and_gets_what_is_new() {
        use std::os::unix::fs::PermissionsExt;
        let home = Home::new();
        let file = "agents/main/agent/auth-profiles.json";
        home.write(file, FILE);
        let put = PUT.map(|(id, profile)| opened(id, profile));
        let plan = |policy| plan_store(&home.machine, &home.agent, &put, policy).unwrap();
        let now = moment("2026-02-01T00:00:00Z");
        let change = plan(OnExisting::Keep);
        assert_eq!(
            (&*change.added, &*change.kept),
            (&["new:a".to_owned()][..], &["openai:default".to_owned()][..])
        );
        assert_eq!(fs::read_to_string(home.path(file)).unwrap(), FILE, "planning writes nothing");
        apply_store(&home.machine, &change, &now).unwrap();
        let text = fs::read_to_string(home.path(file)).unwrap();
        assert!(
            text.contains("SECRET-ACC") && text.contains(r#""new:a":{"type":"api_key","key":"N"}"#)
        );
        assert!(text.ends_with(r#","lastGood":{"a":1.50}}"#), "{text}");
        serde_json::from_str::<serde_json::Value>(&text).unwrap();
        let mode = fs::metadata(home.path(file)).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
        assert!(matches!(
            apply_store(&home.machine, &change, &now),
            Err(StoreError::Changed { .. })
        ));
        let change = plan(OnExisting::Replace);
        assert_eq!(change.replaced, ["openai:default"]);
        apply_store(&home.machine, &change, &now).unwrap();
        assert!(!fs::read_to_string(home.path(file)).unwrap().contains("SECRET-ACC"));
        assert!(plan(OnExisting::Replace).is_empty());
    }

    // The input is what ZeroClaw seals; the expected output follows the documented format that
    // OpenClaw reads.
    #[test]
    fn keys_and_tokens_of_zeroclaw_become_profiles_and_nothing_else_is_written() {
        let home = Home::new();
        let key = |path: &str, value: &str| {
            let keys: Vec<&str> = path.split('.').collect();
            let json = serde_json::json!({ "zeroclaw": {
                "schema": 3, "path": keys, "value": value, "encrypted": true } });
            opened(path, &json.to_string())
        };
        let profile = |id: &str, fields: serde_json::Value| {
            let json = serde_json::json!({ "zeroclaw": { "id": id, "profile": fields } });
            opened(id, &json.to_string())
        };
        let put = [
            key("providers.models.openai.work", "KEY-2"),
            key("providers.models.openai.work.api_key", "KEY-2"),
            key("providers.models.openai.default.api_key", "KEY-1"),
            key("providers.models.groq.fast.api_key", "KEY-3"),
            key("channels.telegram.default.bot_token", "SECRET-TG"),
            key("channels.webhook.default.secret", "SECRET-WH"),
            profile(
                "anthropic:work",
                serde_json::json!({ "model_provider": "anthropic", "kind": "token",
                    "token": "TOK", "expires_at": "2026-02-01T00:00:00Z", "access_token": null }),
            ),
            profile(
                "y:me@x",
                serde_json::json!({ "provider": "y", "kind": "oauth", "access_token": "ACC",
                    "refresh_token": "REF", "expires_at": null }),
            ),
            profile(
                "z:a",
                serde_json::json!({ "provider": "z", "kind": "odd", "token": "SECRET" }),
            ),
            opened("own:a", r#"{"type":"api_key","key":"OWN"}"#),
            opened("odd:a", r#""SECRET""#),
        ];
        let change = plan_store(&home.machine, &home.agent, &put, OnExisting::Keep).unwrap();
        let refused: Vec<_> =
            change.refused.iter().map(|refused| refused.path.clone().unwrap_or_default()).collect();
        assert_eq!(
            refused,
            [
                "s: providers.models.openai.work",
                "s: channels.telegram.default.bot_token",
                "s: channels.webhook.default.secret",
                "s: z:a",
                "s: odd:a",
            ]
        );
        apply_store(&home.machine, &change, &moment("2026-02-01T00:00:00Z")).unwrap();
        let text = fs::read_to_string(home.path("agents/main/agent/auth-profiles.json")).unwrap();
        assert!(!text.contains("SECRET") && !text.contains("zeroclaw"), "{text}");
        let store: serde_json::Value = serde_json::from_str(&text).unwrap();
        assert_eq!(
            store["profiles"],
            serde_json::json!({
                "own:a": { "type": "api_key", "key": "OWN" },
                "openai:default": { "type": "api_key", "provider": "openai", "key": "KEY-1" },
                "openai:work": { "type": "api_key", "provider": "openai", "key": "KEY-2" },
                "groq:default": { "type": "api_key", "provider": "groq", "key": "KEY-3" },
                "anthropic:work": { "type": "token", "provider": "anthropic", "token": "TOK",
                    "expires": 1_769_904_000_000_i64 },
                "y:me@x": { "type": "oauth", "provider": "y", "access": "ACC", "refresh": "REF" },
            })
        );
        // Read again, each is a credential that ZeroClaw accepts.
        let (found, warnings) = home.read(None);
        assert_eq!((found.len(), warnings.len()), (6, 0));
    }

    #[test]
    fn a_store_that_is_not_there_is_made() {
        let home = Home::new();
        let put = [opened("n:a", r#"{"type":"token","token":"T"}"#)];
        let change = plan_store(&home.machine, &home.agent, &put, OnExisting::Keep).unwrap();
        assert!(!format!("{change:?}").contains("\"T\""));
        apply_store(&home.machine, &change, &moment("2026-02-01T00:00:00Z")).unwrap();
        let text = fs::read_to_string(home.path("agents/main/agent/auth-profiles.json")).unwrap();
        assert_eq!(text, r#"{"version":1,"profiles":{"n:a":{"type":"token","token":"T"}}}"#);
    }

    #[test]
    fn the_database_is_written_only_while_it_is_closed_and_no_copy_stays() {
        let home = Home::new();
        let state = home.state();
        state.query_row("SELECT count(*) FROM config_machine_state", [], |_| Ok(())).unwrap();
        let put = [opened("n:a", r#"{"type":"token","token":"T"}"#)];
        let change = plan_store(&home.machine, &home.agent, &put, OnExisting::Keep).unwrap();
        let now = moment("2026-02-01T00:00:00Z");
        let error = apply_store(&home.machine, &change, &now).unwrap_err();
        assert!(matches!(error, StoreError::Open { .. }), "{error}");
        let backup = home.path("state/openclaw.sqlite.before-import-1");
        assert!(!backup.exists());
        drop(state);
        let change = plan_store(&home.machine, &home.agent, &put, OnExisting::Keep).unwrap();
        apply_store(&home.machine, &change, &now).unwrap();
        assert!(!backup.exists(), "it holds secrets");
        let state = Connection::open(home.path("state/openclaw.sqlite")).unwrap();
        let row: (String, i64) = state
            .query_row("SELECT value_json, updated_at_ms FROM config_machine_state WHERE state_key = 'authProfiles.store'", [], |row| {
                Ok((row.get(0)?, row.get(1)?))
            })
            .unwrap();
        assert_eq!(row.0, r#"{"version":1,"profiles":{"n:a":{"type":"token","token":"T"}}}"#);
        assert_eq!(row.1, 1_769_904_000_000);
        // Without this row the program would look for profiles in the agent's own database.
        let place: String = state
            .query_row(
                "SELECT value_json FROM config_machine_state WHERE state_key = 'auth.sharedStore'",
                [],
                |row| row.get(0),
            )
            .unwrap();
        assert_eq!(place, r#"{"location":"state-db"}"#);
    }

    #[cfg(unix)]
    #[test]
    fn a_copy_stays_where_nobody_can_say_what_became_of_the_database() {
        use std::os::unix::fs::PermissionsExt;
        let home = Home::new();
        drop(home.state());
        let put = [opened("n:a", r#"{"type":"token","token":"T"}"#)];
        let change = plan_store(&home.machine, &home.agent, &put, OnExisting::Keep).unwrap();
        let apply = |script: &str| {
            let program = home.folder.path().join("program");
            fs::write(&program, format!("#!/bin/sh\n{script}\n")).unwrap();
            fs::set_permissions(&program, PermissionsExt::from_mode(0o700)).unwrap();
            let machine = Machine { database_reader: program, ..machine(home.folder.path()) };
            apply_store(&machine, &change, &moment("2026-02-01T00:00:00Z")).unwrap_err()
        };
        let backup = |number| home.path(&format!("state/openclaw.sqlite.before-import-{number}"));
        // The change is refused before anything is written.
        let error = apply(r"printf 'Xr\001\000\000\000x'");
        assert!(matches!(error, StoreError::Database { .. }), "{error}");
        assert!(!backup(1).exists());
        // It cannot be read back; the process died; the process sent no valid answer.
        let scripts = [r"printf 'Xv\001\000\000\000x'", "exit 3", "echo hello"];
        for (number, script) in (1..).zip(scripts) {
            let error = apply(script);
            assert!(matches!(error, StoreError::Unverified { .. }), "{error}");
            assert!(error.to_string().contains(backup(number).to_str().unwrap()), "{error}");
            assert!(backup(number).join("copy.sqlite").exists());
        }
    }

    #[test]
    fn a_store_that_is_whole_but_not_named_is_named() {
        let home = Home::new();
        let state = home.state();
        let profile = r#"{"type":"token","token":"T"}"#;
        let store = format!(r#"{{"version":1, "profiles":{{"n:a":{profile}}}}}"#);
        state
            .execute(
                "INSERT INTO config_machine_state VALUES ('authProfiles.store', ?1, 1)",
                [&store],
            )
            .unwrap();
        drop(state);
        let put = [opened("n:a", profile)];
        let plan = || plan_store(&home.machine, &home.agent, &put, OnExisting::Keep).unwrap();
        let change = plan();
        assert!(!change.is_empty());
        assert_eq!((&*change.added, &*change.kept), (&[][..], &["n:a".to_owned()][..]));
        apply_store(&home.machine, &change, &moment("2026-02-01T00:00:00Z")).unwrap();
        let state = Connection::open(home.path("state/openclaw.sqlite")).unwrap();
        let mut rows = state
            .prepare("SELECT state_key, value_json FROM config_machine_state ORDER BY state_key")
            .unwrap();
        let rows: Vec<(String, String)> =
            rows.query_map([], |row| Ok((row.get(0)?, row.get(1)?))).unwrap().flatten().collect();
        assert_eq!(
            rows,
            [
                ("auth.sharedStore".to_owned(), r#"{"location":"state-db"}"#.to_owned()),
                ("authProfiles.store".to_owned(), store),
            ]
        );
        assert!(plan().is_empty());
    }

    #[test]
    fn a_store_and_its_name_are_written_together_or_not_at_all() {
        let home = Home::new();
        drop(home.state());
        let put = [opened("n:a", r#"{"type":"token","token":"T"}"#)];
        let change = plan_store(&home.machine, &home.agent, &put, OnExisting::Keep).unwrap();
        // Another process sets a store between planning and applying.
        let path = home.path("state/openclaw.sqlite");
        let insert = "INSERT INTO config_machine_state VALUES ('auth.sharedStore', '{}', 1)";
        Connection::open(&path).unwrap().execute_batch(insert).unwrap();
        let error = apply_store(&home.machine, &change, &moment("2026-02-01T00:00:00Z"));
        assert!(matches!(error, Err(StoreError::Changed { .. })), "{error:?}");
        let count = "SELECT count(*) FROM config_machine_state";
        let state = Connection::open(&path).unwrap();
        assert_eq!(state.query_row(count, [], |row| row.get::<_, i64>(0)).unwrap(), 1);
    }

    #[test]
    fn of_too_many_accounts_the_first_are_named_and_the_rest_is_said() {
        let home = Home::new();
        for number in (0..MAX_CHANNELS + 3).rev() {
            fs::create_dir_all(home.path(&format!("credentials/x/{number:05}"))).unwrap();
        }
        let (found, warnings) = home.read(None);
        assert_eq!(found.len(), MAX_CHANNELS);
        assert_eq!(found[0].label.as_deref(), Some("x/00000"));
        assert_eq!(found[MAX_CHANNELS - 1].label.as_deref(), Some("x/00999"));
        assert_eq!(warnings.len(), 1);
        assert!(warnings[0].message.contains("1000"), "{}", warnings[0].message);
    }

    #[test]
    fn profiles_in_the_agents_own_database_are_not_hidden() {
        let home = Home::new();
        drop(home.state());
        fs::create_dir_all(home.path("agents/main/agent")).unwrap();
        Connection::open(home.path("agents/main/agent/openclaw-agent.sqlite"))
            .unwrap()
            .execute_batch(
                "CREATE TABLE auth_profile_store(store_key TEXT PRIMARY KEY, store_json TEXT, \
                 updated_at INTEGER); INSERT INTO auth_profile_store VALUES('a', '{}', 1);",
            )
            .unwrap();
        let put = [opened("n:a", r#"{"type":"token","token":"T"}"#)];
        plan_store(&home.machine, &home.agent, &put, OnExisting::Keep).unwrap_err();
    }
}
