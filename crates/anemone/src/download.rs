//! Downloads one file whose digest is known.
//!
//! The server may redirect us to another host: that host gets nothing but the path, and a response
//! is accepted only if it has the expected digest.

use std::io::Write;
use std::time::Duration;

use anemone_embed::{http_client, is_loopback};
use reqwest::Url;
use reqwest::redirect::{Attempt, Policy};

use crate::models::{CopiedBytes, Pinned, copy};

/// How often we may be sent on.
const MOST_REDIRECTS: usize = 5;
/// How long a connection may take.
const CONNECT: Duration = Duration::from_secs(15);
/// How long nothing may come.
const QUIET: Duration = Duration::from_secs(60);

/// Why a file was not fetched.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DownloadError {
    /// The address makes no sense.
    #[error("the address is no URL: {0}")]
    NotAUrl(String),
    /// The address is neither https nor on this machine.
    #[error("a model is fetched over https only")]
    NotHttps,
    /// The host does not answer.
    #[error("cannot fetch the file from {host}")]
    Failed {
        /// The host.
        host: String,
        /// Why, without the URL: it may hold a password.
        error: reqwest::Error,
    },
    /// The host answers with an error.
    #[error("{host} refused the download: {status}")]
    Refused {
        /// The host.
        host: String,
        /// What it answered.
        status: reqwest::StatusCode,
    },
    /// The file cannot be read or written to its end.
    #[error("the download from {host} was interrupted")]
    Interrupted {
        /// The host.
        host: String,
        /// Why.
        error: std::io::Error,
    },
    /// The host sends less than the file.
    #[error("the download from {0} was interrupted")]
    Incomplete(String),
    /// The host sends another number of bytes.
    #[error("what {host} gives is {length} bytes long, not {expected}")]
    WrongLength {
        /// The host.
        host: String,
        /// How many bytes it sends.
        length: u64,
        /// How many the file has.
        expected: u64,
    },
    /// The host sends another file.
    #[error("the file from {0} does not match the expected SHA-256")]
    WrongDigest(String),
}

/// Fetches a file into `to`. After an error, the written bytes are not the file.
pub fn download(
    url: &str,
    file: Pinned,
    to: &mut dyn Write,
    advance: &dyn Fn(u64),
) -> Result<(), DownloadError> {
    let url = Url::parse(url).map_err(|error| DownloadError::NotAUrl(error.to_string()))?;
    if !is_allowed(&url) {
        return Err(DownloadError::NotHttps);
    }
    let host = url.host_str().unwrap_or_default().to_owned();
    let client = http_client()
        .redirect(Policy::custom(follow))
        .connect_timeout(CONNECT)
        .timeout(QUIET)
        .build()
        .map_err(|error| failed(&host, error))?;
    let mut answer = client.get(url).send().map_err(|error| failed(&host, error))?;
    let status = answer.status();
    if !status.is_success() {
        return Err(DownloadError::Refused { host, status });
    }
    if let Some(length) = answer.content_length().filter(|length| *length != file.bytes) {
        return Err(DownloadError::WrongLength { host, length, expected: file.bytes });
    }
    match copy(&mut answer, to, file.bytes, advance) {
        Ok(content) => check(host, &content, file),
        Err(error) => Err(DownloadError::Interrupted { host, error }),
    }
}

/// Whether a file may come from there: over https, or from this machine.
fn is_allowed(url: &Url) -> bool {
    match url.scheme() {
        "https" => true,
        "http" => is_loopback(url),
        _ => false,
    }
}

fn follow(attempt: Attempt<'_>) -> reqwest::redirect::Action {
    if attempt.previous().len() > MOST_REDIRECTS {
        return attempt.error("sent on too often");
    }
    // Redirects from https only lead to https, so that an encrypted request stays encrypted.
    let was_https = attempt.previous().last().is_some_and(|url| url.scheme() == "https");
    if attempt.url().scheme() == "https" || (!was_https && is_allowed(attempt.url())) {
        attempt.follow()
    } else {
        attempt.error("sent on to a place that is not https")
    }
}

fn check(host: String, content: &CopiedBytes, file: Pinned) -> Result<(), DownloadError> {
    if content.bytes < file.bytes {
        return Err(DownloadError::Incomplete(host));
    }
    if content.is(file) { Ok(()) } else { Err(DownloadError::WrongDigest(host)) }
}

fn failed(host: &str, error: reqwest::Error) -> DownloadError {
    DownloadError::Failed { host: host.to_owned(), error: error.without_url() }
}

#[cfg(test)]
mod tests {
    use std::io::{BufRead as _, BufReader};
    use std::net::TcpListener;

    use super::*;

    const ABC: Pinned = Pinned {
        sha256: "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad",
        bytes: 3,
    };

    /// Answers one request after the other with these texts, and says where.
    fn server(answers: Vec<String>) -> String {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = format!("http://{}", listener.local_addr().unwrap());
        std::thread::spawn(move || {
            for answer in answers {
                let Ok((stream, _)) = listener.accept() else { return };
                let mut reader = BufReader::new(stream);
                let mut line = String::new();
                while reader.read_line(&mut line).is_ok_and(|read| read > 2) {
                    line.clear();
                }
                reader.get_mut().write_all(answer.as_bytes()).ok();
            }
        });
        address
    }

    fn body(text: &str) -> String {
        let length = text.len();
        format!("HTTP/1.1 200 OK\r\ncontent-length: {length}\r\nconnection: close\r\n\r\n{text}")
    }

    fn sent_to(url: &str) -> String {
        format!(
            "HTTP/1.1 302 Found\r\nlocation: {url}\r\ncontent-length: 0\r\nconnection: close\r\n\r\n"
        )
    }

    fn fetch(url: &str) -> Result<Vec<u8>, String> {
        let mut file = Vec::new();
        match download(url, ABC, &mut file, &|_| {}) {
            Ok(()) => Ok(file),
            Err(error) => Err(format!("{error} {error:?}")),
        }
    }

    #[test]
    fn the_file_that_is_expected_is_taken() {
        assert_eq!(fetch(&server(vec![body("abc")])), Ok(b"abc".to_vec()));
    }

    #[test]
    fn another_file_is_refused() {
        for (text, variant) in
            [("xyz", "WrongDigest"), ("abcd", "WrongLength"), ("", "WrongLength")]
        {
            let error = fetch(&server(vec![body(text)])).unwrap_err();
            assert!(error.contains(variant), "{text}: {error}");
        }
        let endless = "HTTP/1.1 200 OK\r\nconnection: close\r\n\r\nabcdefghij".to_owned();
        assert!(fetch(&server(vec![endless])).unwrap_err().contains("WrongDigest"));
        let short = "HTTP/1.1 200 OK\r\nconnection: close\r\n\r\nab".to_owned();
        assert!(fetch(&server(vec![short])).unwrap_err().contains("was interrupted"));
    }

    #[test]
    fn no_answer_is_said_with_the_host_and_without_the_rest_of_the_url() {
        let gone = "HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\nconnection: close\r\n\r\n";
        let url = server(vec![gone.to_owned()]);
        let error = fetch(&format!("{url}/x?token=hidden")).unwrap_err();
        assert!(error.contains("127.0.0.1") && error.contains("404"), "{error}");
        assert!(!error.contains("hidden"), "{error}");
        let closed = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
        let error = fetch(&format!("http://lin:hidden@{closed}/x")).unwrap_err();
        assert!(error.contains("Failed") && !error.contains("hidden"), "{error}");
    }

    #[test]
    fn we_are_sent_on_a_few_times_and_never_out_of_https() {
        let last = server(vec![body("abc")]);
        assert_eq!(fetch(&server(vec![sent_to(&last)])), Ok(b"abc".to_vec()));
        let error = fetch(&server(vec![sent_to("http://example.invalid/x")])).unwrap_err();
        assert!(error.contains("not https"), "{error}");
        let own = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}", own.local_addr().unwrap());
        drop(own);
        assert!(fetch(&url).is_err());
        let error = fetch(&server(vec![sent_to("/again"); 8])).unwrap_err();
        assert!(error.contains("too often"), "{error}");
    }

    #[test]
    fn other_schemes_are_wrong_usage() {
        for url in ["http://example.com/x", "file:///etc/passwd", "ftp://localhost/x", "x"] {
            let error = fetch(url).unwrap_err();
            assert!(error.contains("NotHttps") || error.contains("NotAUrl"), "{url}: {error}");
        }
    }
}
