//! Asking a service: where it is, with which key, and for which model.

use std::path::Path;
use std::sync::Arc;

use anemone_embed::{ApiKey, Embedder as _, ModelIdentity, Provider, Remote, RemoteSettings};
use anemone_index::VectorSet;

use super::{ChosenEmbedder, EmbedderError, EmbedderFactory, EmbedderName, LatencyBudget, Refused};
use crate::config::ServiceConfig;
use crate::host::Host;
use crate::search::NamedEmbedder;

/// A requested service.
pub(super) struct ServiceRequest<'a> {
    pub maker: &'a EmbedderFactory<'a>,
    pub wanted: &'a EmbedderName,
    pub service: Provider,
    /// Where it is, when the user said so at this run or noted it before.
    pub url: Option<&'a str>,
    /// Whose vectors an index has, if they are to be continued.
    pub identity: Option<&'a ModelIdentity>,
}

impl ServiceRequest<'_> {
    /// Creates the embedder. An unknown model is asked for one vector, to learn the length of its
    /// vectors.
    pub(super) fn make(&self) -> Result<ChosenEmbedder, EmbedderError> {
        let EmbedderFactory { host, searched, sets, haste, .. } = self.maker;
        let settings = self.settings(host)?;
        let url = settings.url.as_deref().unwrap_or(self.service.default_url());
        let host = self.checked_host(url)?;
        let mut remote = Remote::new(settings).map_err(EmbedderError::Service)?;
        let ModelIdentity { provider, model, .. } = remote.identity();
        if let Some(there) = self.identity.filter(|there| there.model != *model) {
            let place = |model: &str| {
                let host = model.rsplit_once('@').map(|(_, host)| host.to_owned());
                host.unwrap_or_else(|| self.service.name().to_owned())
            };
            let (there, configured) = (place(&there.model), place(model));
            return Err(EmbedderError::OtherPlace { there, configured });
        }
        let own = |set: &&VectorSet| {
            (&set.identity.provider, &set.identity.model) == (provider, model) && set.chunks > 0
        };
        if let Some(set) = sets.iter().find(own) {
            remote = remote.knowing(set.identity.dimensions);
        }
        if !matches!(haste, LatencyBudget::Plan) {
            remote.connect().map_err(EmbedderError::NotReached)?;
        }
        let wanted =
            EmbedderName { name: self.wanted.name, model: Some(remote.model().to_owned()) };
        let (url, target) = (self.url.map(str::to_owned), searched.choice.clone());
        let named = NamedEmbedder { wanted, url, target };
        let refused = Refused::default();
        Ok(ChosenEmbedder { named, embedder: Box::new(remote), host: Some(host), refused })
    }

    fn settings(&self, host: &Host) -> Result<RemoteSettings, EmbedderError> {
        let mut configured =
            self.maker.config.services.get(&self.service).cloned().unwrap_or_default();
        if !self.is_configured_place(&configured) {
            configured.key_file = None;
            configured.allow_http = false;
        }
        let mut settings = RemoteSettings::new(self.service);
        settings.url = self.url.map(str::to_owned).or(configured.url);
        settings.model = self.wanted.model.clone().or_else(|| configured.model.clone());
        // A length was configured for the model that was configured.
        let is_configured = self.wanted.model.is_none() || self.wanted.model == configured.model;
        settings.dimensions = configured.dimensions.filter(|_| is_configured);
        settings.allow_http = configured.allow_http;
        settings.max_batch = configured.max_batch;
        settings.query_input_type = configured.query_input_type;
        settings.document_input_type = configured.document_input_type;
        settings.key = match &configured.key_file {
            Some(path) => Some(self.key_in(path)?),
            None => self.key(host)?,
        };
        let needs_key = self.service.key_variable().is_some() && settings.url.is_none();
        if settings.key.is_none() && needs_key {
            return Err(EmbedderError::NoKey(self.service));
        }
        match self.maker.haste {
            // There are other ways to answer than a service that is slow.
            LatencyBudget::Answer => settings.patience = settings.query_patience,
            LatencyBudget::Vectors(stop) => settings.pause = Arc::new(stop.clone()),
            LatencyBudget::Plan => {}
        }
        Ok(settings)
    }

    /// Whether texts go where the config says: its key and its leave to use plain http are for
    /// that place, and for no other that the user names.
    fn is_configured_place(&self, configured: &ServiceConfig) -> bool {
        let Some(url) = self.url else { return true };
        let own = configured.url.as_deref().unwrap_or(self.service.default_url());
        let origin = |url| reqwest::Url::parse(url).ok().map(|parse| parse.origin());
        origin(url).is_some_and(|other| other.is_tuple() && origin(own).as_ref() == Some(&other))
    }

    /// Reads the key that the config points to. The name of a missing key file is not reported,
    /// because people write the key itself there.
    fn key_in(&self, path: &Path) -> Result<ApiKey, EmbedderError> {
        if fs_err::symlink_metadata(path).is_err() {
            return Err(EmbedderError::NoKeyFile(self.service));
        }
        ApiKey::from_file(path)
            .map_err(|source| EmbedderError::KeyFile { path: path.to_owned(), source })
    }

    /// Returns the key that the environment has.
    fn key(&self, host: &Host) -> Result<Option<ApiKey>, EmbedderError> {
        let variables = [self.service.key_variable(), self.service.other_key_variable()];
        let variables: Vec<&str> = variables.into_iter().flatten().collect();
        let Some(text) = host.service_keys.find(&variables) else { return Ok(None) };
        Ok(Some(ApiKey::new(text.to_string())?))
    }

    /// Returns the host of a URL. A URL that is given for a run is written into the note beside the
    /// index, so it must not contain a secret.
    fn checked_host(&self, url: &str) -> Result<String, EmbedderError> {
        let parsed = reqwest::Url::parse(url).map_err(|_| EmbedderError::NotAUrl)?;
        let what = match self.url {
            _ if !parsed.username().is_empty() || parsed.password().is_some() => {
                "a user or a password"
            }
            Some(_) if parsed.query().is_some() => "a query, in which there may be a secret",
            _ => return parsed.host_str().map(str::to_owned).ok_or(EmbedderError::NotAUrl),
        };
        Err(EmbedderError::SecretInUrl(what))
    }
}
