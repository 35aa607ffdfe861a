//! Decides which requests are accepted.
//!
//! Every page that the user opens can reach a server on loopback: a page can send requests to it,
//! and by pointing its own name to 127.0.0.1 it could read the answers too. So a request must be
//! sent to a name of ours, must not come from a page, and must carry the token, even on loopback.
//! Its body is only read after these checks.

use std::net::{IpAddr, SocketAddr};

use http::header::{self, HeaderMap, HeaderName, HeaderValue};
use http::request::Parts;

use super::HttpSettings;
use super::answers::Refused;
use super::token::Token;
use crate::settings::ServeError;

const FETCH_SITE: HeaderName = HeaderName::from_static("sec-fetch-site");

/// The checks for every request.
pub(super) struct Door {
    hosts: Vec<String>,
    origins: Vec<String>,
    token: Token,
}

impl Door {
    /// Returns the door of a server at this address. The numeric address is an accepted name too,
    /// because no page can make another numeric address lead here.
    pub(super) fn new(settings: &HttpSettings, listens: SocketAddr) -> Result<Self, ServeError> {
        let port = listens.port();
        let mut names = vec!["127.0.0.1".to_owned(), "localhost".to_owned(), "[::1]".to_owned()];
        match listens.ip() {
            ip if ip.is_unspecified() => {}
            IpAddr::V4(ip) => names.push(ip.to_string()),
            IpAddr::V6(ip) => names.push(format!("[{ip}]")),
        }
        let mut hosts: Vec<String> = names.iter().map(|name| format!("{name}:{port}")).collect();
        // With any other port, a name without a port belongs to another server.
        if port == 80 {
            hosts.append(&mut names);
        }
        for name in &settings.hosts {
            let name = name.trim().to_ascii_lowercase();
            if http::uri::Authority::try_from(name.as_str()).is_err() || name.contains('@') {
                return Err(ServeError::Host(name));
            }
            add_host(&mut hosts, &name, port);
        }
        let origins = settings
            .origins
            .iter()
            .map(|origin| normal_origin(origin).ok_or_else(|| ServeError::Origin(origin.clone())))
            .collect::<Result<_, _>>()?;
        let token = Token::new(&settings.token).ok_or(ServeError::Token)?;
        Ok(Self { hosts, origins, token })
    }

    /// The names by which the server may be called, with their ports.
    pub(super) fn hosts(&self) -> &[String] {
        &self.hosts
    }

    /// The pages that may call it.
    pub(super) fn origins(&self) -> &[String] {
        &self.origins
    }

    /// Returns the origin of the page that a request comes from, or none for a program's, if one
    /// may come from there.
    pub(super) fn caller(&self, request: &Parts) -> Result<Option<HeaderValue>, Refused> {
        let headers = &request.headers;
        let host = single(headers, &header::HOST)?.ok_or(Refused::Unclear)?;
        // A target can name a server too, and then it and not the header would count.
        let target = request.uri.authority().map(http::uri::Authority::as_str);
        if ![Some(host), target].into_iter().flatten().all(|name| self.is_called(name)) {
            return Err(Refused::Host);
        }
        let site = single(headers, &FETCH_SITE)?;
        if single(headers, &header::ORIGIN)?.is_some() {
            return headers
                .get(header::ORIGIN)
                .filter(|origin| self.origins.iter().any(|listed| *listed == **origin))
                .map(|origin| Some(origin.clone()))
                .ok_or(Refused::Origin);
        }
        // Browsers leave Origin out when a page loads an image or follows a link.
        match site {
            None | Some("none" | "same-origin") => Ok(None),
            Some(_) => Err(Refused::Origin),
        }
    }

    /// Returns the token of a request, if it has one.
    pub(super) fn shown<'a>(&self, headers: &'a HeaderMap) -> Result<&'a [u8], Refused> {
        let shown = single(headers, &header::AUTHORIZATION)?;
        shown.map(str::as_bytes).ok_or(Refused::Token)
    }

    /// Compares a shown token with the right one.
    pub(super) fn opens(&self, shown: &[u8]) -> bool {
        self.token.is_in(shown)
    }

    fn is_called(&self, name: &str) -> bool {
        self.hosts.iter().any(|host| host.eq_ignore_ascii_case(name))
    }
}

/// Adds a name with its own port, or alone and with ours.
fn add_host(hosts: &mut Vec<String>, name: &str, port: u16) {
    hosts.push(name.to_owned());
    let after_brackets = name.rsplit(']').next().unwrap_or(name);
    if !after_brackets.contains(':') {
        hosts.push(format!("{name}:{port}"));
    }
}

/// Returns an origin as browsers write it; `null` and `*` are none.
fn normal_origin(origin: &str) -> Option<String> {
    let origin = origin.trim().trim_end_matches('/').to_ascii_lowercase();
    let (scheme, authority) = origin.split_once("://")?;
    let authority = http::uri::Authority::try_from(authority).ok()?;
    let plain = !authority.as_str().contains(['@', '*']) && !authority.host().is_empty();
    let usual = match scheme {
        "http" => 80,
        "https" => 443,
        _ => return plain.then_some(origin),
    };
    let host = authority.host();
    plain.then(|| match authority.port_u16() {
        Some(port) if port != usual => format!("{scheme}://{host}:{port}"),
        _ => format!("{scheme}://{host}"),
    })
}

/// Returns a header that must not occur twice.
fn single<'a>(headers: &'a HeaderMap, name: &HeaderName) -> Result<Option<&'a str>, Refused> {
    let mut values = headers.get_all(name).iter();
    let first = values.next();
    if values.next().is_some() {
        return Err(Refused::Unclear);
    }
    first.map(|value| value.to_str().map_err(|_| Refused::Unclear)).transpose()
}

#[cfg(test)]
mod tests {
    use zeroize::Zeroizing;

    use super::*;

    fn door(hosts: &[&str], origins: &[&str], listens: &str) -> Result<Door, ServeError> {
        let owned = |list: &[&str]| list.iter().map(|&entry| entry.to_owned()).collect();
        Door::new(
            &HttpSettings {
                token: Zeroizing::new("0123456789abcdef".to_owned()),
                hosts: owned(hosts),
                origins: owned(origins),
                max_body_bytes: 1,
                requests_per_second: 1,
            },
            listens.parse().unwrap(),
        )
    }

    #[test]
    fn a_name_of_ones_own_counts_alone_or_with_the_port_and_one_with_a_port_only_so() {
        let door =
            door(&["Memory.example", "other.example:8443", "[fd00::1]"], &[], "192.168.7.7:7070")
                .unwrap();
        for (name, called) in [
            ("127.0.0.1:7070", true),
            ("LOCALHOST:7070", true),
            ("[::1]:7070", true),
            ("192.168.7.7:7070", true),
            ("192.168.7.8:7070", false),
            ("localhost", false),
            ("localhost:80", false),
            ("localhost.:7070", false),
            ("memory.example", true),
            ("memory.example:7070", true),
            ("memory.example:8443", false),
            ("other.example:8443", true),
            ("other.example", false),
            ("[fd00::1]:7070", true),
            ("a.memory.example", false),
            ("", false),
        ] {
            assert_eq!(door.is_called(name), called, "{name}");
        }
        let door = super::tests::door(&[], &[], "0.0.0.0:80").unwrap();
        assert!(door.is_called("localhost") && !door.is_called("0.0.0.0"));
    }

    #[test]
    fn an_origin_is_one_page_and_never_all_of_them() {
        for (given, normal) in [
            ("https://App.example/", Some("https://app.example")),
            ("https://app.example:443", Some("https://app.example")),
            ("http://app.example:8080", Some("http://app.example:8080")),
            ("chrome-extension://abcdef", Some("chrome-extension://abcdef")),
            ("null", None),
            ("*", None),
            ("https://*", None),
            ("https://*.example", None),
            ("https://user@app.example", None),
            ("https://", None),
            ("https://app.example/path", None),
            ("app.example", None),
        ] {
            assert_eq!(normal_origin(given).as_deref(), normal, "{given}");
        }
        assert!(matches!(door(&[], &["null"], "[::]:1"), Err(ServeError::Origin(_))));
        assert!(matches!(door(&["a b"], &[], "[::]:1"), Err(ServeError::Host(_))));
        assert!(matches!(door(&["me@host"], &[], "[::]:1"), Err(ServeError::Host(_))));
    }
}
