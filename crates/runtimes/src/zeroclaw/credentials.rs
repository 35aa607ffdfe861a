//! Secrets: those of `config.toml` and `auth-profiles.json`, opened with the install's key.
//!
//! A sealed payload is JSON, so that a secret can be restored exactly where it was:
//!
//! ```json
//! {"zeroclaw": {"schema": 3, "path": ["channels", "slack", "default", "bot_token"],
//!               "value": "xoxb-…", "encrypted": true}}
//! {"zeroclaw": {"id": "openai:default", "profile": {"kind": "token", "token": "…"}, "active": true}}
//! ```
//!
//! | key | |
//! |---|---|
//! | `schema` | the schema of the configuration |
//! | `path` | keys and positions; `names` says what tables of lists on the way are called |
//! | `value` | the text in clear; `toml` instead when it is a number or a list |
//! | `encrypted` | whether it stood there encrypted; not every version opens every field |
//! | `profile` | a profile with its tokens in clear; `active` if its provider uses it |

mod key;
mod store;

use std::collections::BTreeMap;
use std::path::Path;

use anemone_format::{AgentId, Credential, CredentialType, Credentials, Moment};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use zeroize::{Zeroize as _, Zeroizing};

use super::config::{Config, ElementName, SecretLeaf, dotted, map_texts, read_plain};
use crate::kit::{
    FoundAgent, ReadError, SealSecret, SecretText, Warning, bare, document, mapping::joined,
    unreadable,
};
use key::{OpenError, SecretKey};
pub(super) use store::plan;

/// The store of profiles, beside the configuration.
const PROFILES_FILE: &str = "auth-profiles.json";
/// Bytes of it, at most.
const MAX_PROFILES_BYTES: u64 = 4 << 20;
/// Profiles that are taken, at most.
const MAX_PROFILES: usize = 1_000;
/// The fields of a profile that are encrypted.
const TOKENS: [&str; 4] = ["access_token", "refresh_token", "id_token", "token"];
/// The tag of a credential that only says where the secret is.
const REFERENCE_TAG: &str = "ref";
/// The tag of a credential of the configuration.
const CONFIG_TAG: &str = "config";

/// The fields of a profile; wiped when dropped.
#[derive(Default, Serialize, Deserialize)]
#[serde(transparent)]
struct ProfileFields(Map<String, Value>);

impl Drop for ProfileFields {
    fn drop(&mut self) {
        self.0.values_mut().for_each(wipe);
    }
}

/// Wipes the texts of a value.
fn wipe(value: &mut Value) {
    match value {
        Value::String(text) => text.zeroize(),
        Value::Array(values) => values.iter_mut().for_each(wipe),
        Value::Object(fields) => fields.values_mut().for_each(wipe),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// The plaintext of a sealed credential.
#[derive(Serialize, Deserialize)]
struct Payload {
    zeroclaw: Body,
}

/// A value of the configuration, or a profile.
#[derive(Default, Serialize, Deserialize)]
#[serde(default)]
struct Body {
    #[serde(skip_serializing_if = "Option::is_none")]
    schema: Option<u32>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    path: Vec<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    names: Vec<ElementName>,
    #[serde(skip_serializing_if = "Option::is_none")]
    value: Option<SecretText>,
    #[serde(skip_serializing_if = "Option::is_none")]
    toml: Option<SecretText>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    encrypted: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    profile: Option<ProfileFields>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    active: bool,
}

/// Returns the secret of a payload without the fields that say where it belongs.
pub(super) fn bare_secret(payload: &[u8]) -> Option<Zeroizing<String>> {
    let Payload { zeroclaw: Body { value, toml, profile, .. } } =
        serde_json::from_slice(payload).ok()?;
    let profile = profile.unwrap_or_default();
    let token = |name: &str| {
        let token = profile.0.get(name).and_then(Value::as_str);
        token.map(|token| SecretText(Zeroizing::new(token.to_owned())))
    };
    let whole = value.or(toml).or_else(|| token("token")).map(|text| text.0);
    whole.or_else(|| joined(token("access_token"), token("refresh_token")))
}

/// Lists the credentials of an install; with `seal`, their secrets travel.
pub(super) fn credentials(
    agent: &FoundAgent,
    config: Option<&Config>,
    agent_id: AgentId,
    seal: Option<&SealSecret<'_>>,
    configured_at: &Moment,
) -> Result<(Option<Credentials>, Vec<Warning>), ReadError> {
    let Some(install) = &agent.install else { return Ok((None, Vec::new())) };
    let mut reading = CredentialsReading {
        agent_id,
        seal,
        configured_at,
        key: None,
        locked: BTreeMap::new(),
        found: Vec::new(),
        warnings: Vec::new(),
    };
    if seal.is_some() {
        match SecretKey::read(install) {
            Ok(key) => reading.key = key,
            Err(error) => reading.warn(&key::path_of(install), &error),
        }
    }
    if let Some(config) = config {
        let schema = config.schema_version();
        for leaf in config.redacted().secrets {
            reading.leaf(config, schema, &leaf)?;
        }
    }
    reading.profiles(install)?;
    let mut warnings = reading.warnings;
    for (error, (count, first)) in reading.locked {
        warnings.push(Warning::about(
            "credentials_locked",
            install.display(),
            format!("{count} credentials are named without their secrets, {first} first: {error}"),
        ));
    }
    Ok((document(reading.found), warnings))
}

/// What was read so far.
struct CredentialsReading<'a> {
    agent_id: AgentId,
    seal: Option<&'a SealSecret<'a>>,
    configured_at: &'a Moment,
    key: Option<SecretKey>,
    /// Credentials that could not be opened: how many, and the first one.
    locked: BTreeMap<OpenError, (usize, String)>,
    found: Vec<Credential>,
    warnings: Vec<Warning>,
}

impl CredentialsReading<'_> {
    fn warn(&mut self, path: &Path, what: &dyn std::fmt::Display) {
        self.warnings.push(unreadable(path.display(), what));
    }

    /// Takes a secret of the configuration.
    fn leaf(&mut self, config: &Config, schema: u32, leaf: &SecretLeaf) -> Result<(), ReadError> {
        let label = dotted(&leaf.path);
        let (name, service) = (format!("config:{label}"), service_of(config, schema, leaf));
        let mut credential = bare(self.agent_id, &name, &service, self.configured_at);
        credential.label = Some(label);
        credential.credential_type = kind_of(&leaf.path);
        credential.tags.push(CONFIG_TAG.to_owned());
        if leaf.is_reference() {
            // The reference stays in the configuration's text.
            credential.tags.push(REFERENCE_TAG.to_owned());
            self.found.push(credential);
            return Ok(());
        }
        let opened = self.seal.map(|_| open_leaf(self.key.as_ref(), schema, leaf));
        self.add(credential, opened)
    }

    /// Takes the profiles of an install.
    fn profiles(&mut self, install: &Path) -> Result<(), ReadError> {
        let path = install.join(PROFILES_FILE);
        let text = match read_plain(&path, MAX_PROFILES_BYTES) {
            Ok(Some(text)) => text,
            Ok(None) => return Ok(()),
            Err(error) => {
                self.warn(&path, &error);
                return Ok(());
            }
        };
        let Some((mut profiles, active)) = parse_profiles(&text) else {
            self.warn(&path, &"it does not hold auth profiles");
            return Ok(());
        };
        let count = profiles.0.len();
        if count > MAX_PROFILES {
            self.warn(&path, &format!("only the first {MAX_PROFILES} profiles are named"));
        }
        for (id, profile) in profiles.0.iter_mut().take(MAX_PROFILES) {
            let Value::Object(fields) = profile.take() else {
                self.warn(&path, &"one of its profiles is not understood");
                continue;
            };
            self.profile(id, ProfileFields(fields), active.contains(id))?;
        }
        Ok(())
    }

    fn profile(
        &mut self,
        id: &str,
        mut fields: ProfileFields,
        active: bool,
    ) -> Result<(), ReadError> {
        let text = |key: &str| fields.0.get(key).and_then(Value::as_str);
        let provider = text("model_provider").or_else(|| text("provider"));
        let service = provider.or_else(|| id.split(':').next()).unwrap_or(id);
        let name = format!("profile:{id}");
        let mut credential = bare(self.agent_id, &name, service, self.configured_at);
        credential.label = Some(id.to_owned());
        credential.credential_type = match text("kind") {
            Some("oauth") => CredentialType::OauthToken,
            Some("token") => CredentialType::SessionToken,
            _ => CredentialType::Custom,
        };
        let time = |key: &str| text(key).and_then(|text| text.parse::<Moment>().ok());
        credential.expires_at = time("expires_at");
        credential.created_at = time("created_at").unwrap_or(credential.created_at);
        credential.updated_at = time("updated_at");
        credential.tags.push("profile".to_owned());
        let opened = self.seal.map(|_| {
            for token in TOKENS {
                if let Some(Value::String(value)) = fields.0.get_mut(token) {
                    let opened = key::open(self.key.as_ref(), value)?;
                    value.zeroize();
                    opened.as_str().clone_into(value);
                }
            }
            let id = Some(id.to_owned());
            Ok(Body { id, profile: Some(fields), active, ..Body::default() })
        });
        self.add(credential, opened)
    }

    /// Adds a credential, with its secret where that could be opened.
    fn add(
        &mut self,
        mut credential: Credential,
        opened: Option<Result<Body, OpenError>>,
    ) -> Result<(), ReadError> {
        match (opened, self.seal) {
            (Some(Ok(body)), Some(seal)) => {
                let secret = Zeroizing::new(
                    serde_json::to_vec(&Payload { zeroclaw: body })
                        .expect("texts, numbers and maps with text keys are JSON"),
                );
                let (payload, encryption) = seal(&credential, &secret).map_err(ReadError::Seal)?;
                credential.encrypted_payload = payload;
                credential.encryption = encryption;
            }
            (Some(Err(error)), _) => {
                let label = credential.label.clone().unwrap_or_default();
                self.locked.entry(error).or_insert((0, label)).0 += 1;
            }
            _ => {}
        }
        self.found.push(credential);
        Ok(())
    }
}

/// Opens a secret of the configuration.
fn open_leaf(key: Option<&SecretKey>, schema: u32, leaf: &SecretLeaf) -> Result<Body, OpenError> {
    let mut body = Body {
        schema: Some(schema),
        path: leaf.path.clone(),
        names: leaf.names.clone(),
        ..Body::default()
    };
    if leaf.is_text {
        body.encrypted = key::is_encrypted(&leaf.value);
        body.value = Some(SecretText(key::open(key, &leaf.value)?));
        return Ok(body);
    }
    let Ok(mut value) = leaf.value.parse::<toml_edit::Value>() else {
        return Err(OpenError::WrongKey);
    };
    map_texts(&mut value, &mut |text| {
        body.encrypted |= key::is_encrypted(text);
        key::open(key, text)
    })?;
    body.toml = Some(SecretText(Zeroizing::new(value.to_string())));
    Ok(body)
}

/// Reads a store of profiles: those in it, and which of them are in use.
fn parse_profiles(text: &str) -> Option<(ProfileFields, Vec<String>)> {
    let mut store: ProfileFields = serde_json::from_str(text).ok()?;
    let active = store.0.get("active_profiles").and_then(Value::as_object);
    let active = active.into_iter().flat_map(Map::values).filter_map(Value::as_str);
    let active = active.map(str::to_owned).collect();
    match store.0.remove("profiles")? {
        Value::Object(profiles) => Some((ProfileFields(profiles), active)),
        _ => None,
    }
}

/// Returns the key of the service that makes vectors, in clear: its own, or that of its provider. A
/// service at an address of the user's own gets no key that was meant for a provider.
pub(super) fn embedding_key(
    agent: &FoundAgent,
    config: &Config,
    provider: &str,
) -> Option<Zeroizing<String>> {
    let text = |path: &[&str]| {
        let text = config.text(path).map(str::trim).filter(|text| !text.is_empty());
        text.filter(|text| !super::config::is_placeholder(text) && !text.starts_with("op://"))
    };
    let of_provider = || {
        let of_all = text(&["default_provider"]).is_none_or(|default| default == provider);
        text(&["providers", "models", provider, "api_key"])
            .or_else(|| text(&["providers", "models", provider, DEFAULT_ENTRY, "api_key"]))
            .or_else(|| text(&["model_providers", provider, "api_key"]))
            .or_else(|| text(&["providers", provider, "api_key"]))
            .or_else(|| text(&["api_key"]).filter(|_| of_all))
    };
    let is_custom = provider.starts_with("custom:");
    let found =
        text(&["memory", "embedding_api_key"]).or_else(|| (!is_custom).then(of_provider).flatten());
    let install = agent.install.as_deref();
    let key = install.and_then(|install| SecretKey::read(install).ok().flatten());
    key::open(key.as_ref(), found?).ok()
}

/// The entry of a provider that the runtime uses when none is named.
const DEFAULT_ENTRY: &str = "default";

/// The kinds of providers that the configuration lists apart.
const PROVIDER_KINDS: [&str; 5] = ["models", "tts", "transcription", "embeddings", "images"];

/// Returns the service that a secret of the configuration gives access to.
fn service_of(config: &Config, schema: u32, leaf: &SecretLeaf) -> String {
    let path: Vec<&str> = leaf.path.iter().map(String::as_str).collect();
    let service = match &path[..] {
        // A list of routes: each names its own service.
        ["providers", list, at, ..] if at.parse::<usize>().is_ok() => {
            leaf.names.last().map_or(*list, |named| named.name.as_str())
        }
        ["providers", kind, provider, _, ..] if PROVIDER_KINDS.contains(kind) => *provider,
        ["providers" | "provider" | "model_providers", provider, _, ..]
        | ["channels" | "channels_config" | "tunnel", provider, _, ..]
        | ["model_providers" | "api_keys", provider] => *provider,
        ["reliability", "fallback_api_keys", provider] => *provider,
        ["storage", "provider", "config", ..] => {
            config.text(&["storage", "provider", "config", "provider"]).unwrap_or("storage")
        }
        ["storage", store, ..] => *store,
        ["agents", agent, ..] if schema < 3 => {
            config.text(&["agents", agent, "provider"]).unwrap_or(agent)
        }
        ["api_key" | "extra_headers", ..] if schema < 2 => {
            config.text(&["default_provider"]).unwrap_or("zeroclaw")
        }
        ["memory", "embedding_api_key"] => {
            config.text(&["memory", "embedding_provider"]).unwrap_or("memory")
        }
        [_] | [] => "zeroclaw",
        [section, ..] => leaf.names.last().map_or(*section, |named| named.name.as_str()),
    };
    // A key of the configuration may be an address with a password in it.
    super::config::shown(service).into_owned()
}

/// Returns the kind of a secret, by the name of its key.
fn kind_of(path: &[String]) -> CredentialType {
    let name = path.iter().rev().find(|key| key.parse::<usize>().is_err());
    let name = name.map_or("", String::as_str);
    match name {
        _ if name.ends_with("api_key") || name == "api_keys" => CredentialType::ApiKey,
        "client_cert" => CredentialType::Certificate,
        "signing_secret" | "verify_token" | "verification_token" => CredentialType::WebhookSecret,
        _ if name.starts_with("webhook") => CredentialType::WebhookSecret,
        _ if name.starts_with("oauth") || name == "refresh_token" => CredentialType::OauthToken,
        _ if name.ends_with("token") || name.ends_with("tokens") => CredentialType::SessionToken,
        _ => CredentialType::Custom,
    }
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;

    use anemone_format::{NOT_EXPORTED, Unknown, VaultKey};
    use fs_err as fs;
    use tempfile::TempDir;

    use super::*;
    use crate::kit::plan::{OnConflict, PlanBuilder, PlanOptions, RestoreError};
    use crate::zeroclaw::config::tests::with_nothing;
    use crate::zeroclaw::config::{ConfigSite, InstallUse, plan_config};

    const AGENT: &str = "9e373c1e-cab7-5eea-90c3-8f3d09ac5755";
    const KEY: &str = "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f";
    /// The runtime's own test value, `frozen-backward-compat-test` under that key.
    const FROZEN: &str = "enc2:0000000000000000000000007eca2d4bc8888bb372023716ce312a0a9bde9e8580d97628898b8882bba56517740f7ddee9dd6324f1b35f";
    const PROFILES: &str = r#"{"schema_version":1,"updated_at":"2026-11-15T07:17:29Z","active_profiles":{"anthropic":"anthropic:work"},"profiles":{"anthropic:work":{"model_provider":"anthropic","profile_name":"work","kind":"token","access_token":null,"token":"FROZEN","expires_at":null,"created_at":"2026-11-15T07:17:29.812391821+00:00","metadata":{"a":1}},"openai-codex:default":{"provider":"openai-codex","kind":"oauth","access_token":"SECRET-A","refresh_token":"SECRET-R","expires_at":"2026-12-15T07:17:29Z"}}}"#;

    fn config_text() -> String {
        format!(
            "schema_version = 3\n[providers.models.openai.default]\napi_key = \"{FROZEN}\"\n\
             model = \"m\"\n[channels.slack.default]\nbot_token = \"SECRET-B\"\n\
             app_token = \"op://v/i/f\"\n[gateway]\npaired_tokens = [\"{FROZEN}\", \"SECRET-P\"]\n\
             [[mcp.servers]]\nname = \"github\"\nargs = [\"--token\", \"SECRET-T\", \"-v\"]\n\
             [mcp.servers.env]\nG = \"SECRET-G\"\n"
        )
    }

    struct TestInstall {
        folder: TempDir,
        agent: FoundAgent,
    }

    impl TestInstall {
        fn new() -> Self {
            let folder = TempDir::new().unwrap();
            let install = folder.path().to_owned();
            let mut agent = FoundAgent::without_install(
                crate::zeroclaw::RUNTIME,
                "default".to_owned(),
                install.join("agents/default/workspace"),
            );
            agent.install = Some(install);
            Self { folder, agent }
        }

        fn full() -> Self {
            let home = Self::new();
            home.write("config.toml", &config_text());
            home.write(".secret_key", KEY);
            home.write("auth-profiles.json", &PROFILES.replace("FROZEN", FROZEN));
            home
        }

        fn write(&self, path: &str, text: &str) {
            fs::write(self.folder.path().join(path), text).unwrap();
        }

        fn text(&self, path: &str) -> String {
            fs::read_to_string(self.folder.path().join(path)).unwrap()
        }

        fn config(&self) -> Config {
            Config::read(&self.folder.path().join("config.toml")).unwrap()
        }

        fn read(&self, seal: Option<&SealSecret<'_>>) -> (Vec<Credential>, Vec<Warning>) {
            let id = AGENT.parse().unwrap();
            let at = "2026-02-01T00:00:00Z".parse().unwrap();
            let config = self.config();
            let (document, warnings) =
                credentials(&self.agent, Some(&config), id, seal, &at).unwrap();
            (document.map(|document| document.credentials).unwrap_or_default(), warnings)
        }

        fn sealed(&self) -> Vec<Credential> {
            let key = vault_key();
            let seal = |credential: &Credential, secret: &[u8]| {
                let fresh = key.freshness_for(credential, secret).unwrap();
                let mut sealed = credential.clone();
                key.seal(&mut sealed, secret, &fresh)?;
                Ok((sealed.encrypted_payload, sealed.encryption))
            };
            self.read(Some(&seal)).0
        }

        fn plan(&self, credentials: Vec<Credential>, on_conflict: OnConflict) -> PlanBuilder {
            self.plan_with(credentials, on_conflict, PlanBuilder::default())
        }

        fn plan_with(
            &self,
            credentials: Vec<Credential>,
            on_conflict: OnConflict,
            mut draft: PlanBuilder,
        ) -> PlanBuilder {
            let key = vault_key();
            let options = PlanOptions { vault_key: Some(&key), ..PlanOptions::new(on_conflict) };
            let credentials = Credentials { credentials, unknown: Unknown::default() };
            plan(&self.agent, &options, credentials, &mut draft);
            draft
        }
    }

    #[test]
    fn a_credential_is_of_the_service_that_its_table_names() {
        let config = "default_provider = \"groq\"\napi_key = \"S-0\"\n\
             [providers.openai]\napi_key = \"S-1\"\n\
             [providers.models.anthropic]\napi_key = \"S-2\"\n\
             [providers.models.mistral.work]\napi_key = \"S-3\"\n\
             [providers.tts.elevenlabs]\napi_key = \"S-4\"\n\
             [model_providers.gemini]\napi_key = \"S-5\"\n\
             [channels_config.telegram]\nbot_token = \"S-6\"\n\
             [channels.discord.main]\nbot_token = \"S-7\"\n\
             [provider.ollama]\napi_key = \"S-8\"\n\
             [reliability]\nfallback_api_keys = { deepseek = \"S-9\" }\n";
        let install = TestInstall::new();
        install.write("config.toml", config);
        let (credentials, _) = install.read(None);
        let found: Vec<_> = credentials
            .iter()
            .map(|found| (found.label.as_deref().unwrap(), &*found.service))
            .collect();
        for expected in [
            ("api_key", "groq"),
            ("providers.openai.api_key", "openai"),
            ("providers.models.anthropic.api_key", "anthropic"),
            ("providers.models.mistral.work.api_key", "mistral"),
            ("providers.tts.elevenlabs.api_key", "elevenlabs"),
            ("model_providers.gemini.api_key", "gemini"),
            ("channels_config.telegram.bot_token", "telegram"),
            ("channels.discord.main.bot_token", "discord"),
            ("provider.ollama.api_key", "ollama"),
            ("reliability.fallback_api_keys.deepseek", "deepseek"),
        ] {
            assert!(found.contains(&expected), "{expected:?} in {found:?}");
        }
    }

    fn vault_key() -> VaultKey {
        VaultKey::parse(&"7f".repeat(32)).unwrap()
    }

    fn apply(draft: &PlanBuilder) -> Result<(), RestoreError> {
        let now = "2026-02-01T10:20:30Z".parse().unwrap();
        with_nothing(|machine, source| {
            if let Some(step) = &draft.config {
                step.change.apply(machine, source, &now)?;
            }
            draft.credentials.as_ref().unwrap().change.apply(machine, source, &now).map(drop)
        })
    }

    #[test]
    fn secrets_are_named_and_stay_at_home() {
        let (found, warnings) = TestInstall::full().read(None);
        assert_eq!(warnings, []);
        let seen: Vec<_> = found
            .iter()
            .map(|c| (c.service.as_str(), c.label.as_deref().unwrap(), c.credential_type.as_str()))
            .collect();
        assert_eq!(
            seen,
            [
                ("openai", "providers.models.openai.default.api_key", "api_key"),
                ("slack", "channels.slack.default.bot_token", "session_token"),
                ("slack", "channels.slack.default.app_token", "session_token"),
                ("gateway", "gateway.paired_tokens", "session_token"),
                ("github", "mcp.servers.0.args", "custom"),
                ("github", "mcp.servers.0.env.G", "custom"),
                ("anthropic", "anthropic:work", "session_token"),
                ("openai-codex", "openai-codex:default", "oauth_token"),
            ]
        );
        assert_eq!(found[2].tags, ["config", "ref"]);
        assert_eq!(found[7].expires_at, Some("2026-12-15T07:17:29Z".parse().unwrap()));
        assert!(found.iter().all(|found| found.encrypted_payload == NOT_EXPORTED));
        assert!(!format!("{found:?}").contains("SECRET"));
    }

    #[test]
    fn with_a_seal_every_secret_is_opened_first() {
        let secrets = RefCell::new(Vec::new());
        let seal = |credential: &Credential, secret: &[u8]| {
            secrets.borrow_mut().push(String::from_utf8(secret.to_vec()).unwrap());
            Ok(("sealed".to_owned(), credential.encryption.clone()))
        };
        let (found, warnings) = TestInstall::full().read(Some(&seal));
        assert_eq!(warnings, []);
        assert_eq!(found[2].encrypted_payload, NOT_EXPORTED, "a reference is no secret");
        let secrets = secrets.borrow();
        assert_eq!(
            secrets[0],
            r#"{"zeroclaw":{"schema":3,"path":["providers","models","openai","default","api_key"],"value":"frozen-backward-compat-test","encrypted":true}}"#
        );
        assert_eq!(
            secrets[2],
            r#"{"zeroclaw":{"schema":3,"path":["gateway","paired_tokens"],"toml":"[\"frozen-backward-compat-test\", \"SECRET-P\"]","encrypted":true}}"#
        );
        assert!(secrets[5].contains(r#""token":"frozen-backward-compat-test""#), "{}", secrets[5]);
        assert!(secrets[5].contains(r#""active":true"#) && secrets[5].contains(r#"{"a":1}"#));
        assert!(secrets[6].contains("SECRET-R"));
    }

    #[test]
    fn what_cannot_be_opened_is_named_and_said() {
        let home = TestInstall::full();
        let seal = |credential: &Credential, _: &[u8]| {
            Ok(("sealed".to_owned(), credential.encryption.clone()))
        };
        for key in [None, Some("11".repeat(32)), Some("no key".to_owned())] {
            match key {
                Some(key) => home.write(".secret_key", &key),
                None => fs::remove_file(home.folder.path().join(".secret_key")).unwrap(),
            }
            let (found, warnings) = home.read(Some(&seal));
            assert_eq!(found[0].encrypted_payload, NOT_EXPORTED);
            assert_eq!(found[1].encrypted_payload, "sealed");
            let locked =
                warnings.iter().find(|warning| warning.code == "credentials_locked").unwrap();
            assert!(locked.message.starts_with("3 credentials"), "{}", locked.message);
            assert!(!format!("{warnings:?}").contains("SECRET"));
        }
    }

    #[test]
    fn secrets_go_back_to_where_they_were_under_the_key_of_the_target() {
        let source = TestInstall::full();
        let target = TestInstall::new();
        let archived = source.config().redacted().text;
        let use_of = InstallUse::Unknown;
        let site = ConfigSite { layout: "data", alias: "default", use_of };
        let config =
            plan_config(site, target.folder.path(), None, Some(&archived), None, &mut Vec::new())
                .unwrap();
        let draft = PlanBuilder { config, ..PlanBuilder::default() };
        let draft = target.plan_with(source.sealed(), OnConflict::Stop, draft);
        assert_eq!(draft.not_restored, []);
        let step = draft.credentials.as_ref().unwrap();
        assert_eq!((step.added.len(), step.replaced.len(), step.kept.len()), (7, 0, 0));
        assert!(!format!("{step:?}").contains("SECRET"));
        assert!(!target.folder.path().join(".secret_key").exists(), "planning writes nothing");
        apply(&draft).unwrap();
        // Of a file that the same plan made, no copy is kept.
        let names = fs::read_dir(target.folder.path()).unwrap();
        let names: Vec<_> = names.map(|entry| entry.unwrap().file_name()).collect();
        let is_copy = |name: &std::ffi::OsString| name.to_string_lossy().contains(".backup-");
        assert!(!names.iter().any(is_copy), "{names:?}");
        let text = target.text("config.toml");
        assert!(!text.contains("SECRET-B") && !text.contains("redacted"), "{text}");
        // The runtime does not expect encrypted values in these.
        assert!(text.contains("args = [\"--token\", \"SECRET-T\", \"-v\"]"), "{text}");
        assert!(text.contains("app_token = \"op://v/i/f\""));
        assert_ne!(target.text(".secret_key"), KEY);
        let profiles: Value = serde_json::from_str(&target.text("auth-profiles.json")).unwrap();
        assert_eq!(profiles["active_profiles"]["anthropic"], "anthropic:work");
        assert!(profiles["active_profiles"].get("openai-codex").is_none());
        let sealed = profiles["profiles"]["openai-codex:default"]["refresh_token"].as_str();
        assert!(sealed.unwrap().starts_with("enc2:"));
        assert!(!target.folder.path().join("auth-profiles.lock").exists());
        // After opening them again, they are the same.
        assert_eq!(opened(&target), opened(&source).into_iter().map(encrypted).collect::<Vec<_>>());
        let again = target.plan(source.sealed(), OnConflict::Theirs);
        let step = again.credentials.as_ref().unwrap();
        assert_eq!((step.added.len(), step.replaced.len(), step.kept.len()), (0, 0, 7));
        let before = target.text("config.toml");
        apply(&again).unwrap();
        assert_eq!(target.text("config.toml"), before);
    }

    fn opened(home: &TestInstall) -> Vec<String> {
        let secrets = RefCell::new(Vec::new());
        let seal = |credential: &Credential, secret: &[u8]| {
            secrets.borrow_mut().push(String::from_utf8(secret.to_vec()).unwrap());
            Ok((String::new(), credential.encryption.clone()))
        };
        home.read(Some(&seal));
        let mut secrets = secrets.into_inner();
        secrets.sort();
        secrets
    }

    /// What is plain in the source is encrypted in the target where the runtime opens it.
    fn encrypted(payload: String) -> String {
        for (value, field) in [("SECRET-B", "value"), ("SECRET-G", "value")] {
            let end = format!("\"{field}\":\"{value}\"}}}}");
            if payload.ends_with(&end) {
                return payload
                    .replace(&end, &format!("\"{field}\":\"{value}\",\"encrypted\":true}}}}"));
            }
        }
        payload
    }

    #[test]
    fn what_the_target_has_stays_unless_theirs_counts() {
        let source = TestInstall::full();
        let target = TestInstall::full();
        target.write(
            "config.toml",
            "schema_version = 3\n# mine\n[providers.models.openai.default]\napi_key = \"mine\" # k\n\
             [secrets]\nencrypt = false\n[[mcp.servers]]\nname = \"first\"\n[[mcp.servers]]\n\
             name = \"github\"\n",
        );
        let draft = target.plan(source.sealed(), OnConflict::Ours);
        let step = draft.credentials.as_ref().unwrap();
        assert_eq!(
            step.kept,
            [
                "openai: providers.models.openai.default.api_key",
                "anthropic: anthropic:work",
                "openai-codex: openai-codex:default"
            ]
        );
        apply(&draft).unwrap();
        let text = target.text("config.toml");
        assert!(text.contains("# mine\n") && text.contains("api_key = \"mine\" # k\n"), "{text}");
        let config = target.config();
        assert_eq!(config.text(&["channels", "slack", "default", "bot_token"]), Some("SECRET-B"));
        let document = text.parse::<toml_edit::DocumentMut>().unwrap();
        assert!(document["mcp"]["servers"][0].get("env").is_none(), "found by its name: {text}");
        assert_eq!(document["mcp"]["servers"][1]["env"]["G"].as_str(), Some("SECRET-G"));
        let draft = target.plan(source.sealed(), OnConflict::Theirs);
        let step = draft.credentials.as_ref().unwrap();
        assert_eq!(step.replaced, ["openai: providers.models.openai.default.api_key"]);
        apply(&draft).unwrap();
        let text = target.text("config.toml");
        assert!(text.contains("api_key = \"frozen-backward-compat-test\" # k\n"), "{text}");
        assert!(text.contains("# mine\n"));
    }

    #[test]
    fn secrets_of_an_older_schema_go_where_providers_are_now() {
        let source = TestInstall::new();
        source.write(
            "config.toml",
            "api_key = \"SECRET-1\"\ndefault_provider = \"openai\"\n[channels_config.slack]\n\
             bot_token = \"SECRET-2\"\n[channels_config.irc]\nsasl_password = \"SECRET-3\"\n\
             [agents.helper]\napi_key = \"SECRET-4\"\n[notion]\napi_key = \"SECRET-5\"\n",
        );
        let target = TestInstall::new();
        target.write(
            "config.toml",
            "schema_version = 3\n[secrets]\nencrypt = false\n[channels.slack.default]\nx = 1\n\
             [notion]\nenabled = true\n",
        );
        let draft = target.plan(source.sealed(), OnConflict::Stop);
        let reasons: Vec<_> =
            draft.not_restored.iter().map(|restored| restored.path.clone().unwrap()).collect();
        assert_eq!(
            reasons,
            ["irc: channels_config.irc.sasl_password", "helper: agents.helper.api_key"]
        );
        apply(&draft).unwrap();
        let config = target.config();
        let text = |path: &[&str]| config.text(path).unwrap().to_owned();
        assert_eq!(text(&["providers", "models", "openai", "default", "api_key"]), "SECRET-1");
        assert_eq!(text(&["channels", "slack", "default", "bot_token"]), "SECRET-2");
        assert_eq!(text(&["notion", "api_key"]), "SECRET-5");
    }

    #[test]
    fn keys_of_openclaw_go_to_providers_and_tokens_to_profiles() {
        let home = TestInstall::new();
        home.write(".secret_key", KEY);
        let key = vault_key();
        let sealed = |label: &str, secret: &str| {
            let reading = CredentialsReading {
                agent_id: AGENT.parse().unwrap(),
                seal: None,
                configured_at: &"2026-02-01T00:00:00Z".parse().unwrap(),
                key: None,
                locked: BTreeMap::new(),
                found: Vec::new(),
                warnings: Vec::new(),
            };
            let service = label.split(':').next().unwrap();
            let mut credential = bare(reading.agent_id, label, service, reading.configured_at);
            credential.label = Some(label.to_owned());
            if secret.contains("api_key") {
                credential.credential_type = CredentialType::ApiKey;
            }
            let fresh = key.freshness_for(&credential, secret.as_bytes()).unwrap();
            key.seal(&mut credential, secret.as_bytes(), &fresh).unwrap();
            credential
        };
        let credentials = vec![
            sealed(
                "anthropic:two",
                r#"{"type":"api_key","provider":"anthropic","key":"SECRET-2"}"#,
            ),
            sealed(
                "anthropic:default",
                r#"{"type":"api_key","provider":"anthropic","key":"SECRET-1"}"#,
            ),
            sealed(
                "x:manual",
                r#"{"type":"token","provider":"x","token":"SECRET-3","expires":1769904000000}"#,
            ),
            sealed(
                "y:me",
                r#"{"type":"oauth","provider":"y","access":"SECRET-4","refresh":"SECRET-5"}"#,
            ),
            sealed("z:ref", r#"{"type":"api_key","provider":"z","keyRef":{"a":1}}"#),
            sealed("w:odd", r#""SECRET-6""#),
        ];
        let draft = home.plan(credentials, OnConflict::Stop);
        let left: Vec<_> =
            draft.not_restored.iter().map(|restored| restored.path.clone().unwrap()).collect();
        assert_eq!(left, ["z: z:ref", "w: w:odd"]);
        apply(&draft).unwrap();
        let config = home.config();
        assert_eq!(config.schema_version(), 3);
        let api_key = |entry: &str| {
            let key = SecretKey::read(home.folder.path()).unwrap();
            let path = ["providers", "models", "anthropic", entry, "api_key"];
            key::open(key.as_ref(), config.text(&path).unwrap()).unwrap().to_string()
        };
        assert_eq!((&*api_key("default"), &*api_key("two")), ("SECRET-1", "SECRET-2"));
        let profiles: Value = serde_json::from_str(&home.text("auth-profiles.json")).unwrap();
        let manual = &profiles["profiles"]["x:manual"];
        assert_eq!(manual["expires_at"], "2026-02-01T00:00:00Z");
        assert!(manual["token"].as_str().unwrap().starts_with("enc2:"));
        assert_eq!(profiles["active_profiles"]["y"], "y:me");
        assert!(!home.text("auth-profiles.json").contains("SECRET"));
    }

    #[test]
    fn a_name_without_a_secret_does_not_hide_one_that_is_put() {
        let source = TestInstall::full();
        let target = TestInstall::new();
        let (mut bare, _) = source.read(None);
        let sealed = source.sealed();
        // An older note of a credential comes after the agent's current ones.
        let mut all = sealed.clone();
        all.append(&mut bare);
        let draft = target.plan(all, OnConflict::Stop);
        assert_eq!(draft.not_restored, target.plan(sealed, OnConflict::Stop).not_restored);
        assert!(draft.credentials.unwrap().added.len() > 3);
    }

    #[test]
    fn a_lock_of_the_runtime_is_respected_and_nothing_is_half_done() {
        let source = TestInstall::full();
        let target = TestInstall::new();
        target.write("config.toml", "schema_version = 3\n");
        target.write("auth-profiles.lock", "pid=1");
        let draft = target.plan(source.sealed(), OnConflict::Stop);
        let error = apply(&draft).unwrap_err();
        assert!(error.to_string().contains("auth-profiles.lock"), "{error}");
        assert_eq!(target.text("config.toml"), "schema_version = 3\n");
        assert_eq!(target.text("auth-profiles.lock"), "pid=1");
        assert!(!target.folder.path().join(".secret_key").exists(), "nothing is encrypted with it");
    }

    #[test]
    fn without_a_key_or_an_install_it_is_said() {
        let source = TestInstall::full();
        let target = TestInstall::new();
        let mut draft = PlanBuilder::default();
        let credentials = Credentials { credentials: source.sealed(), unknown: Unknown::default() };
        let options = PlanOptions::new(OnConflict::Stop);
        plan(&target.agent, &options, credentials, &mut draft);
        assert_eq!(draft.not_restored.len(), 7);
        assert!(draft.not_restored[0].reason.contains("no vault key"));
        let mut target = TestInstall::new();
        target.agent.install = None;
        let draft = target.plan(source.sealed(), OnConflict::Stop);
        assert!(draft.not_restored[0].reason.contains("no install"));
        let (found, _) = source.read(None);
        let draft = source.plan(found, OnConflict::Stop);
        assert!(draft.not_restored[0].reason.contains("not exported"));
    }
}
