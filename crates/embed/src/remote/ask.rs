//! Sends batches one after the other, with retries and splits.

use std::ops::{ControlFlow, Range};
use std::sync::atomic::Ordering;

use crate::Purpose;
use crate::remote::address::shown;
use crate::remote::job::Job;
use crate::remote::request::Overlong;
use crate::remote::send::{Reply, SendError, answer_limit, headers, send};
use crate::remote::settings::Patience;
use crate::remote::verdict::{Verdict, asked_wait, judge, message, wait};
use crate::remote::{PROBE, Provider, Remote, RemoteError, answer};

/// Assumed number of dimensions of vectors of unknown size.
const UNKNOWN_DIMENSIONS: usize = 16_384;
/// A text this short cannot be what a provider finds too long.
const SHORT: usize = 16;
/// A provider that fails this often may fail because of the texts.
const SUSPICIOUS: u32 = 3;
/// A provider that refuses this many texts in a row refuses all.
const MOST_REFUSED: u64 = 32;

/// Why a batch has no vectors.
enum Failure {
    /// Fewer texts, or shorter ones, might work.
    Size { verdict: Verdict, status: u16, message: String },
    /// One of these texts is the cause: the provider accepts others.
    Texts(RemoteError),
    /// Nothing will work.
    Final(RemoteError),
}

impl From<RemoteError> for Failure {
    fn from(error: RemoteError) -> Self {
        Self::Final(error)
    }
}

impl Remote {
    /// Processes batches until none is left or one has failed.
    pub(super) fn work(&self, job: &Job<'_>) {
        while let Some(batch) = job.next(self.most_texts()) {
            if let Err(error) = self.work_on(job, batch) {
                job.fail(error);
            }
        }
    }

    fn work_on(&self, job: &Job<'_>, batch: Range<usize>) -> Result<(), RemoteError> {
        let texts = &job.texts[batch.clone()];
        let mut result = self.ask(job, texts, Overlong::Refused);
        if let ([text], Err(Failure::Size { .. })) = (texts, &result) {
            job.cut(batch.start);
            result = self.shorten(job, text);
        }
        match result {
            Ok(vectors) => {
                self.refused.store(0, Ordering::Relaxed);
                job.keep(batch, vectors);
            }
            Err(Failure::Final(error)) => return Err(error),
            Err(Failure::Size { verdict, .. }) if texts.len() > 1 => {
                // One long text does not show how many texts the provider accepts.
                if verdict == Verdict::TooMany {
                    self.most_texts.fetch_min(texts.len() / 2, Ordering::Relaxed);
                }
                job.halve(&batch);
            }
            Err(Failure::Size { status, message, .. }) => {
                return Err(RemoteError::TooLong { url: shown(&self.url), status, message });
            }
            Err(Failure::Texts(_)) if texts.len() > 1 => job.halve(&batch),
            Err(Failure::Texts(error)) => {
                if self.refused.fetch_add(1, Ordering::Relaxed) + 1 >= MOST_REFUSED {
                    return Err(error);
                }
                job.refuse(batch.start);
            }
        }
        Ok(())
    }

    /// Shortens a text until the provider accepts it.
    fn shorten(&self, job: &Job<'_>, text: &str) -> Result<Vec<Vec<f32>>, Failure> {
        // Ollama knows the limits of its models.
        if self.settings.provider == Provider::Ollama {
            match self.ask(job, &[text], Overlong::Cut) {
                Err(Failure::Size { .. }) => {}
                result => return result,
            }
        }
        let mut text = text;
        loop {
            text = &text[..text.floor_char_boundary(text.len() / 2)];
            match self.ask(job, &[text], Overlong::Refused) {
                Err(Failure::Size { .. }) if text.len() > SHORT => {}
                result => return result,
            }
        }
    }

    /// Requests the vectors of a few texts, with as many retries as allowed.
    fn ask(
        &self,
        job: &Job<'_>,
        texts: &[&str],
        overlong: Overlong,
    ) -> Result<Vec<Vec<f32>>, Failure> {
        let patience = match job.purpose {
            Purpose::Document => &self.settings.patience,
            Purpose::Query => &self.settings.query_patience,
        };
        let limit = self.limit(texts);
        let url = || shown(&self.url);
        let (mut tries, mut is_suspect) = (0, false);
        loop {
            if job.failed() {
                return Err(RemoteError::Interrupted.into());
            }
            tries += 1;
            let (asked, error) = match self.post(texts, job.purpose, overlong, patience)? {
                Ok(Reply::Good(body)) => {
                    let found =
                        answer::read(self.settings.provider, &body, texts, self.dimensions());
                    return found.map_err(|source| {
                        let is_a_text = source.may_be_a_text() && self.takes_another(job, texts);
                        let error = RemoteError::Answer { url: url(), source };
                        if is_a_text { Failure::Texts(error) } else { error.into() }
                    });
                }
                Ok(Reply::Elsewhere { status, to }) => {
                    let to = self.scrub(&to);
                    return Err(RemoteError::Redirected { url: url(), status, to }.into());
                }
                Ok(Reply::Bad { status, wait, body }) => {
                    let error = self.bad(job, texts, status, &body, tries)?;
                    // Some servers fail on certain texts without saying why. The failure may also
                    // be temporary.
                    if status == 500 && is_suspect {
                        return Err(Failure::Texts(error));
                    }
                    if status == 500 && tries == SUSPICIOUS {
                        is_suspect = self.takes_another(job, texts);
                    }
                    let wait = wait.or_else(|| asked_wait(&body));
                    if let Some(wait) = wait.filter(|&wait| wait > patience.longest_wait) {
                        return Err(RemoteError::WaitTooLong { url: url(), status, wait }.into());
                    }
                    (wait, error)
                }
                Err(SendError::TooLarge) => {
                    return Err(RemoteError::Body { url: url(), limit }.into());
                }
                Err(SendError::TimedOut) => {
                    let limit = patience.request;
                    (None, RemoteError::TimedOut { url: url(), tries, limit })
                }
                Err(SendError::Broken(source)) => {
                    (None, RemoteError::Unreachable { url: url(), tries, source })
                }
            };
            let most = match error {
                RemoteError::Busy { .. } => patience.busy_tries,
                _ => patience.tries,
            };
            if tries >= most {
                return Err(error.into());
            }
            let wait = wait(tries, asked, patience);
            if job.failed() || self.settings.pause.pause(wait) == ControlFlow::Break(()) {
                return Err(RemoteError::Interrupted.into());
            }
        }
    }

    /// Makes one request.
    fn post(
        &self,
        texts: &[&str],
        purpose: Purpose,
        overlong: Overlong,
        patience: &Patience,
    ) -> Result<Result<Reply, SendError>, RemoteError> {
        let body = self.form.body(texts, purpose, overlong).to_string().into_bytes();
        let request = self
            .client()?
            .post(self.url.clone())
            .headers(headers(self.settings.provider, self.settings.key.as_ref()))
            .timeout(patience.request)
            .body(body);
        Ok(send(request, &self.url, self.limit(texts)))
    }

    /// The most bytes of an answer.
    fn limit(&self, texts: &[&str]) -> u64 {
        answer_limit(texts.len(), self.dimensions().unwrap_or(UNKNOWN_DIMENSIONS))
    }

    /// Whether the provider accepts another text, so that these texts are the cause of an error.
    fn takes_another(&self, job: &Job<'_>, texts: &[&str]) -> bool {
        if job.purpose == Purpose::Query || texts == [PROBE] || job.failed() {
            return false;
        }
        let patience = &self.settings.patience;
        let ask = || self.post(&[PROBE], job.purpose, Overlong::Refused, patience);
        // After an invalid answer the connection may be unusable.
        let reply = match ask() {
            Ok(Err(SendError::Broken(_))) => ask(),
            reply => reply,
        };
        let Ok(Ok(Reply::Good(body))) = reply else { return false };
        let provider = self.settings.provider;
        answer::read(provider, &body, &[PROBE], self.dimensions()).is_ok()
    }

    /// Classifies an error of the provider: a temporary one is returned as a value.
    fn bad(
        &self,
        job: &Job<'_>,
        texts: &[&str],
        status: u16,
        body: &[u8],
        tries: u32,
    ) -> Result<RemoteError, Failure> {
        let message = self.scrub(&message(body));
        let (url, provider) = (shown(&self.url), self.settings.provider);
        let error = match judge(status, body) {
            Verdict::Again => return Ok(RemoteError::Busy { url, status, tries, message }),
            verdict @ (Verdict::TooMany | Verdict::TooLong) => {
                return Err(Failure::Size { verdict, status, message });
            }
            Verdict::Denied => RemoteError::Denied { url, status, message },
            Verdict::Missing => RemoteError::Missing { url, message, provider },
            Verdict::Quota => RemoteError::Quota { url, status, message },
            Verdict::Rejected => {
                let error = RemoteError::Rejected { url, status, message };
                return Err(if self.takes_another(job, texts) {
                    Failure::Texts(error)
                } else {
                    error.into()
                });
            }
        };
        Err(error.into())
    }
}
