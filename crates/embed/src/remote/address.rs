//! The URL of a provider, and which parts of it may be shown.

use reqwest::Url;

use crate::remote::{Provider, RemoteError};

/// Returns the URL that texts are sent to.
pub(super) fn endpoint(
    provider: Provider,
    base: Option<&str>,
    model: &str,
    allow_http: bool,
) -> Result<Url, RemoteError> {
    let mut url = Url::parse(base.unwrap_or(provider.default_url()))
        .map_err(|source| RemoteError::Url(source.into()))?;
    let plain = match url.scheme() {
        "https" => false,
        "http" => true,
        other => return Err(RemoteError::Scheme(other.to_owned())),
    };
    if plain && !allow_http && !is_loopback(&url) {
        return Err(RemoteError::Plain(shown(&url)));
    }
    url.set_fragment(None);
    let tail = tail(provider, &url, model);
    if let Ok(mut path) = url.path_segments_mut() {
        path.pop_if_empty().extend(tail);
    }
    Ok(url)
}

/// The missing end of the path: people give URLs with and without the version.
fn tail(provider: Provider, url: &Url, model: &str) -> Vec<String> {
    let segments: Vec<&str> = url.path_segments().into_iter().flatten().collect();
    let last = segments.iter().rev().copied().find(|segment| !segment.is_empty());
    let mut tail: Vec<String> = Vec::new();
    match provider {
        Provider::Ollama => {
            if last != Some("api") {
                tail.push("api".to_owned());
            }
            tail.push("embed".to_owned());
        }
        Provider::Gemini => {
            if !segments.iter().any(|segment| is_version(segment)) {
                tail.push("v1beta".to_owned());
            }
            tail.push("models".to_owned());
            tail.push(format!("{model}:batchEmbedContents"));
        }
        Provider::OpenAi | Provider::Voyage | Provider::Mistral => {
            if last == Some("embeddings") {
                return tail;
            }
            if !segments.iter().any(|segment| is_version(segment)) {
                tail.push("v1".to_owned());
            }
            tail.push("embeddings".to_owned());
        }
    }
    tail
}

/// Whether a part of a path is a version, such as `v1` or `v1beta`.
fn is_version(segment: &str) -> bool {
    segment
        .strip_prefix('v')
        .is_some_and(|rest| rest.starts_with(|digit: char| digit.is_ascii_digit()))
}

/// Whether requests to this URL stay on this machine.
#[must_use]
pub fn is_loopback(url: &Url) -> bool {
    let Some(host) = url.host_str() else {
        return false;
    };
    let bare = host.trim_start_matches('[').trim_end_matches(']');
    host == "localhost"
        || bare.parse::<std::net::IpAddr>().is_ok_and(|address| address.is_loopback())
}

/// The host after the name of a model: two servers may use one name for different models. `None`
/// for the provider's own host.
pub(super) fn other_host(provider: Provider, url: &Url) -> Option<String> {
    let own = Url::parse(provider.default_url()).ok().map(|own| host(&own));
    Some(host(url)).filter(|host| own.as_ref() != Some(host))
}

/// The host, and the port unless it is the default. This machine always has the same name.
pub(super) fn host(url: &Url) -> String {
    let host = if is_loopback(url) { "localhost" } else { url.host_str().unwrap_or_default() };
    url.port().map_or_else(|| host.to_owned(), |port| format!("{host}:{port}"))
}

/// The URL without the parts that may be secret: user, password, query.
pub(super) fn shown(url: &Url) -> String {
    let host = url.host_str().unwrap_or_default();
    let port = url.port().map(|port| format!(":{port}")).unwrap_or_default();
    format!("{}://{host}{port}{}", url.scheme(), url.path())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(provider: Provider, base: &str, expected: &str) {
        let url = endpoint(provider, Some(base), "a-model", false).unwrap();
        assert_eq!(url.as_str(), expected);
    }

    #[test]
    fn a_url_may_end_with_the_version_or_before_it() {
        let expected = "https://example.org/v1/embeddings";
        for base in [
            "https://example.org",
            "https://example.org/",
            "https://example.org/v1",
            "https://example.org/v1/",
            "https://example.org/v1/embeddings",
        ] {
            check(Provider::OpenAi, base, expected);
            check(Provider::Voyage, base, expected);
        }
        check(
            Provider::OpenAi,
            "https://example.org/v1beta/openai",
            "https://example.org/v1beta/openai/embeddings",
        );
        check(
            Provider::OpenAi,
            "https://example.org/a/v1?version=2#x",
            "https://example.org/a/v1/embeddings?version=2",
        );
        check(Provider::Ollama, "http://[::1]:11434", "http://[::1]:11434/api/embed");
        check(Provider::Ollama, "http://localhost:1/api/", "http://localhost:1/api/embed");
        check(
            Provider::Gemini,
            "https://example.org",
            "https://example.org/v1beta/models/a-model:batchEmbedContents",
        );
    }

    #[test]
    fn a_model_cannot_leave_its_place_in_the_path() {
        let url = endpoint(Provider::Gemini, Some("https://example.org"), "../../x?y", false);
        let url = url.unwrap();
        assert_eq!(url.path(), "/v1beta/models/..%2F..%2Fx%3Fy:batchEmbedContents");
        assert_eq!(url.query(), None);
    }

    #[test]
    fn plain_http_stays_on_this_machine_unless_it_is_allowed() {
        for base in ["http://127.0.0.1:1", "http://127.8.9.1", "http://[::1]", "http://localhost"] {
            assert!(endpoint(Provider::OpenAi, Some(base), "m", false).is_ok(), "{base}");
        }
        for base in ["http://example.org", "http://10.0.0.1", "http://127.0.0.1.example.org"] {
            let error = endpoint(Provider::OpenAi, Some(base), "m", false).unwrap_err();
            assert!(matches!(error, RemoteError::Plain(_)), "{base}");
            assert!(endpoint(Provider::OpenAi, Some(base), "m", true).is_ok(), "{base}");
        }
    }

    #[test]
    fn no_other_scheme_is_spoken() {
        for base in ["file:///etc/passwd", "ftp://example.org", "data:text/plain,x"] {
            let error = endpoint(Provider::OpenAi, Some(base), "m", true).unwrap_err();
            assert!(matches!(error, RemoteError::Scheme(_)), "{base}");
        }
        let error = endpoint(Provider::OpenAi, Some("example.org"), "m", true).unwrap_err();
        assert!(matches!(error, RemoteError::Url(_)));
    }

    #[test]
    fn a_server_that_is_not_the_providers_own_has_a_name() {
        for (provider, url, expected) in [
            (Provider::OpenAi, "https://api.openai.com/v1/embeddings", None),
            (Provider::OpenAi, "https://example.org/v1", Some("example.org")),
            (Provider::OpenAi, "http://127.0.0.1:8080", Some("localhost:8080")),
            (Provider::OpenAi, "https://me:pass@example.org:8443/?key=x", Some("example.org:8443")),
            (Provider::Ollama, "http://localhost:11434", None),
            (Provider::Ollama, "http://[::1]:11434", None),
            (Provider::Ollama, "http://gpu:11434", Some("gpu:11434")),
        ] {
            let found = other_host(provider, &Url::parse(url).unwrap());
            assert_eq!(found.as_deref(), expected, "{url}");
        }
    }

    #[test]
    fn what_is_shown_of_a_url_holds_no_secret() {
        let url = Url::parse("https://me:hunter2@example.org:8443/v1?key=abc").unwrap();
        assert_eq!(shown(&url), "https://example.org:8443/v1");
    }
}
