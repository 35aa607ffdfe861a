//! Asking a service: where it is, with which key, and for which model.

use std::path::Path;
use std::sync::Arc;

use anemone_embed::{ApiKey, Embedder, Identity, Provider, Remote, RemoteSettings};
use anemone_index::VectorSet;

use super::{Chosen, LatencyBudget, NOT_REACHED, Wanted};
use crate::config::ServiceConfig;
use crate::error::{Error, Kind};
use crate::host::Host;

/// A service, as it was asked for.
pub(super) struct Asked<'a> {
    pub wanted: &'a Wanted,
    pub service: Provider,
    /// Where it is, when somebody said so at this run or noted it before.
    pub url: Option<&'a str>,
    /// The vectors that the index has.
    pub sets: &'a [VectorSet],
    /// What the config says of it.
    pub settled: Option<&'a ServiceConfig>,
    pub haste: &'a LatencyBudget,
    /// The arguments that name what it is used for.
    pub words: &'a str,
}

impl Asked<'_> {
    /// Makes the embedder. A model that nobody knows is asked for one vector, to learn how long
    /// they are.
    pub(super) fn make(&self, host: &Host) -> Result<Chosen, Error> {
        let settings = self.settings(host)?;
        let url = settings.url.as_deref().unwrap_or(self.service.default_url());
        let host = self.checked_host(url)?;
        let mut remote = Remote::new(settings)?;
        let Identity { provider, model, .. } = remote.identity();
        let own = |it: &&VectorSet| {
            (&it.identity.provider, &it.identity.model) == (provider, model) && it.chunks > 0
        };
        if let Some(set) = self.sets.iter().find(own) {
            remote = remote.knowing(set.identity.dimensions);
        }
        if *self.haste != LatencyBudget::Plan {
            let code = NOT_REACHED;
            remote.connect().map_err(|error| Error { code, ..Error::from(error) })?;
        }
        let wanted = Wanted { name: self.wanted.name, model: Some(remote.model().to_owned()) };
        let embedder: Box<dyn Embedder> = Box::new(remote);
        let given_url = self.url.map(str::to_owned);
        let words = self.words.to_owned();
        Ok(Chosen { wanted, embedder, host: Some(host), given_url, words })
    }

    fn settings(&self, host: &Host) -> Result<RemoteSettings, Error> {
        let mut settled = self.settled.cloned().unwrap_or_default();
        if !self.is_settled_place(&settled) {
            settled.key_file = None;
            settled.allow_http = false;
        }
        let mut settings = RemoteSettings::new(self.service);
        settings.url = self.url.map(str::to_owned).or(settled.url);
        settings.model = self.wanted.model.clone().or_else(|| settled.model.clone());
        // A length was settled for the model that was settled.
        let is_settled = self.wanted.model.is_none() || self.wanted.model == settled.model;
        settings.dimensions = settled.dimensions.filter(|_| is_settled);
        settings.allow_http = settled.allow_http;
        settings.max_batch = settled.max_batch;
        settings.query_input_type = settled.query_input_type;
        settings.document_input_type = settled.document_input_type;
        settings.key = match &settled.key_file {
            Some(path) => Some(self.key_in(path)?),
            None => self.key(host)?,
        };
        if settings.key.is_none() && settings.url.is_none() {
            self.needs_key()?;
        }
        match self.haste {
            // There are other ways to answer than a service that is slow.
            LatencyBudget::Answer => settings.patience = settings.query_patience,
            LatencyBudget::Vectors(stop) => settings.pause = Arc::new(stop.clone()),
            LatencyBudget::Plan => {}
        }
        Ok(settings)
    }

    /// Whether texts go where the config says: its key and its leave to use plain http are for
    /// that place, and for no other that somebody names.
    fn is_settled_place(&self, settled: &ServiceConfig) -> bool {
        let Some(url) = self.url else { return true };
        let own = settled.url.as_deref().unwrap_or(self.service.default_url());
        let origin = |url| reqwest::Url::parse(url).ok().map(|it| it.origin());
        origin(url).is_some_and(|it| it.is_tuple() && origin(own).as_ref() == Some(&it))
    }

    /// Reads the key that the config points to. What is not there is not named: people put the key
    /// itself in the place of its file.
    fn key_in(&self, path: &Path) -> Result<ApiKey, Error> {
        if fs_err::symlink_metadata(path).is_err() {
            let name = self.service.name();
            let message = format!("key_file in [embedding.{name}] of the config names no file");
            return Err(Error::new(Kind::Failed, "key", message)
                .hint("put the key into a file that only you can read, and give its path"));
        }
        ApiKey::from_file(path).map_err(|error| Error::from(error).about(path))
    }

    /// Returns the key that the environment has.
    fn key(&self, host: &Host) -> Result<Option<ApiKey>, Error> {
        let variables = [self.service.key_variable(), self.service.other_key_variable()];
        let variables: Vec<&str> = variables.into_iter().flatten().collect();
        let Some(text) = host.service_keys.find(&variables) else { return Ok(None) };
        Ok(Some(ApiKey::new(text.to_string())?))
    }

    /// Refuses a service that does not answer without a key.
    fn needs_key(&self) -> Result<(), Error> {
        let Some(variable) = self.service.key_variable() else { return Ok(()) };
        let name = self.service.name();
        let message = format!("there is no key for {name}");
        Err(Error::new(Kind::Failed, "no_key", message)
            .hint(format!("set {variable}, or key_file in [embedding.{name}] of the config")))
    }

    /// Returns the host of a URL. What is given at a run is noted beside the index, and a secret in
    /// it would be noted with it, so there must be none.
    fn checked_host(&self, url: &str) -> Result<String, Error> {
        let odd = || Error::new(Kind::Usage, "usage", "the address of the embedder is not a URL");
        let parsed = reqwest::Url::parse(url).map_err(|_| odd())?;
        let holds = match self.url {
            _ if !parsed.username().is_empty() || parsed.password().is_some() => {
                "a user or a password"
            }
            Some(_) if parsed.query().is_some() => "a query, in which there may be a secret",
            _ => return parsed.host_str().map(str::to_owned).ok_or_else(odd),
        };
        let message = format!("the URL of the embedder holds {holds}");
        Err(Error::new(Kind::Usage, "usage", message)
            .hint("give the key by key_file in the config, or by the environment"))
    }
}
