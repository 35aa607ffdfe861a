//! Embedders behind an HTTP API.
//!
//! This is the only place where texts leave this machine, and they are only sent to the URL that
//! the operator gave or to the provider's own. No request is made before [`Remote::connect`] or the
//! first `embed`.

mod address;
mod answer;
mod ask;
mod batch;
mod error;
mod job;
mod provider;
mod request;
mod scrub;
mod send;
mod settings;
mod verdict;

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread::Builder;

use reqwest::Url;
use reqwest::blocking::Client;

pub use address::is_loopback;
pub use answer::AnswerError;
pub use batch::estimate_tokens;
pub use error::RemoteError;
pub use provider::Provider;
pub use settings::{Encoding, Patience, Pause, RemoteSettings, Sleep};

use crate::{Effort, EmbedError, Embedder, EmbeddingBatch, ModelIdentity, Purpose};
use job::{Done, Job};
use request::RequestForm;
use scrub::Secrets;

/// Batches of this many texts are as good as larger ones, because tokens fill a request first.
const HANDY_BATCH: usize = 32;

/// A text that no provider has a reason to refuse.
const PROBE: &str = "size";

/// An embedder behind an HTTP API.
pub struct Remote {
    identity: ModelIdentity,
    settings: RemoteSettings,
    form: RequestForm,
    url: Url,
    client: Mutex<Option<Client>>,
    /// Texts in a request: reduced when the provider found them too many.
    most_texts: AtomicUsize,
    /// Texts that were refused since the last one was accepted.
    refused: AtomicU64,
}

impl Remote {
    /// Checks the settings. No request is made and nothing is read.
    ///
    /// # Errors
    ///
    /// When they cannot work: a wrong URL, no key where one is needed.
    pub fn new(settings: RemoteSettings) -> Result<Self, RemoteError> {
        let provider = settings.provider;
        if let Some(asked) = settings.dimensions
            && !(1..=answer::MOST_DIMENSIONS).contains(&asked)
        {
            return Err(RemoteError::Dimensions { asked });
        }
        let form = RequestForm::new(&settings)?;
        let base = settings.url.as_deref();
        let url = address::endpoint(provider, base, form.model(), settings.allow_http)?;
        if settings.key.is_none() && base.is_none() && provider.key_variable().is_some() {
            return Err(RemoteError::NoKey(provider));
        }
        let user = !url.username().is_empty() || url.password().is_some();
        if user && settings.key.is_some() && provider != Provider::Gemini {
            return Err(RemoteError::TwoKeys);
        }
        let model = full_name(&settings, form.model(), &url);
        let own = provider.dimensions_of(form.model());
        let dimensions = settings.dimensions.or(own).unwrap_or(0);
        let most_texts = settings.max_batch.unwrap_or(provider.most_texts()).max(1);
        Ok(Self {
            identity: ModelIdentity { provider: provider.name().to_owned(), model, dimensions },
            settings,
            form,
            url,
            client: Mutex::new(None),
            most_texts: AtomicUsize::new(most_texts),
            refused: AtomicU64::new(0),
        })
    }

    /// Determines the size of the model's vectors with one short text, unless it is already known.
    /// A model that the settings name without a size must be connected before it can embed.
    ///
    /// # Errors
    ///
    /// When the provider cannot be asked.
    pub fn connect(&mut self) -> Result<(), RemoteError> {
        if self.identity.dimensions > 0 {
            return Ok(());
        }
        let Done { vectors, error, .. } = self.vectors(&[PROBE], Purpose::Document);
        self.identity.dimensions =
            vectors.into_iter().flatten().next().map_or(0, |vector| vector.len());
        error.map_or(Ok(()), Err)
    }

    /// Sets the size of the model's vectors from existing vectors, which saves a request. A size in
    /// the settings takes precedence.
    #[must_use]
    pub fn knowing(mut self, dimensions: usize) -> Self {
        if self.identity.dimensions == 0 {
            self.identity.dimensions = dimensions;
        }
        self
    }

    /// The name of the model in requests.
    #[must_use]
    pub fn model(&self) -> &str {
        self.form.model()
    }

    /// The most texts that the next requests may hold.
    fn most_texts(&self) -> usize {
        self.most_texts.load(Ordering::Relaxed)
    }

    /// The size of a vector, once it is known.
    fn dimensions(&self) -> Option<usize> {
        Some(self.identity.dimensions).filter(|&dimensions| dimensions > 0)
    }

    /// A provider's message, safe to be shown.
    fn scrub(&self, text: &str) -> String {
        Secrets::new(self.settings.key.as_ref(), &self.url).scrub(text)
    }

    /// The client, created when it is first needed.
    fn client(&self) -> Result<Client, RemoteError> {
        let mut client = self.client.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(client) = &*client {
            return Ok(client.clone());
        }
        let made = send::client(&self.settings, &self.url)?;
        Ok(client.insert(made).clone())
    }

    /// Requests one vector for each text; none of them may be empty.
    ///
    /// Requests run on separate threads, even a single one: the caller may run in an asynchronous
    /// runtime, where the client must not block.
    fn vectors(&self, texts: &[&str], purpose: Purpose) -> Done {
        let most_tokens = self.settings.provider.most_tokens();
        let short: Vec<&str> = texts.iter().map(|text| batch::cut(text, most_tokens)).collect();
        let batches = batch::plan(&short, self.most_texts(), self.settings.batch_tokens);
        let job = Job::new(short, purpose, batches);
        for (at, text) in texts.iter().enumerate() {
            if job.texts[at].len() < text.len() {
                job.cut(at);
            }
        }
        let workers = self.settings.concurrency.clamp(1, 64).min(job.waiting());
        std::thread::scope(|scope| {
            for worker in 0..workers {
                let started = Builder::new().spawn_scoped(scope, || self.work(&job));
                // One thread does the work of four, only more slowly.
                if let (0, Err(source)) = (worker, started) {
                    job.fail(RemoteError::Threads(source));
                }
            }
        });
        job.done(self.identity.dimensions)
    }
}

/// Names a model so that it is not confused with another server's, or with the same model under
/// other prompts for its texts.
fn full_name(settings: &RemoteSettings, model: &str, url: &Url) -> String {
    let input_type = match settings.provider {
        Provider::OpenAi => settings.document_input_type.as_deref(),
        Provider::Ollama | Provider::Gemini | Provider::Voyage | Provider::Mistral => None,
    };
    let is_plain = |c: &char| c.is_alphanumeric() || matches!(c, '-' | '_');
    let plain = |text: &str| text.chars().filter(is_plain).collect::<String>();
    match (address::other_host(settings.provider, url), input_type) {
        (None, None) => model.to_owned(),
        (Some(host), None) => format!("{model}@{host}"),
        (_, Some(input_type)) => format!("{model}@{}+{}", address::host(url), plain(input_type)),
    }
}

impl Embedder for Remote {
    fn identity(&self) -> &ModelIdentity {
        &self.identity
    }

    fn effort(&self) -> Effort {
        Effort::Remote
    }

    fn texts_at_once(&self) -> usize {
        self.most_texts().min(HANDY_BATCH) * self.settings.concurrency.clamp(1, 64)
    }

    fn embed(&self, texts: &[&str], purpose: Purpose) -> Result<Vec<Vec<f32>>, EmbedError> {
        self.embed_some(texts, purpose).into_result()
    }

    fn embed_some(&self, texts: &[&str], purpose: Purpose) -> EmbeddingBatch {
        let failed = |error: RemoteError| EmbedError::Failed {
            provider: self.identity.provider.clone(),
            source: Box::new(error),
        };
        let Some(dimensions) = self.dimensions() else {
            let error = Some(failed(RemoteError::NotConnected));
            return EmbeddingBatch {
                vectors: vec![None; texts.len()],
                error,
                ..EmbeddingBatch::default()
            };
        };
        // Providers refuse empty texts, and a vector of zeros is the right answer for them.
        let is_blank = |text: &&str| text.trim().is_empty();
        let asked: Vec<&str> = texts.iter().copied().filter(|text| !is_blank(text)).collect();
        let Done { vectors, cut, refused, error } = self.vectors(&asked, purpose);
        let mut vectors = vectors.into_iter();
        let all = texts.iter().map(|text| {
            if is_blank(text) { Some(vec![0.0; dimensions]) } else { vectors.next().flatten() }
        });
        EmbeddingBatch { vectors: all.collect(), cut, refused, error: error.map(failed) }
    }
}

impl std::fmt::Debug for Remote {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Remote")
            .field("identity", &self.identity)
            .field("url", &address::shown(&self.url))
            .finish_non_exhaustive()
    }
}
