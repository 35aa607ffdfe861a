//! The common settings of all our HTTP clients.

use reqwest::blocking::{Client, ClientBuilder};

/// Returns a client builder that sends our user agent and no referer. TLS uses ring: with reqwest's
/// default the program is two megabytes larger.
pub fn http_client() -> ClientBuilder {
    // A provider that is already installed is the same one.
    rustls::crypto::ring::default_provider().install_default().ok();
    Client::builder().referer(false).user_agent(concat!("anemone/", env!("CARGO_PKG_VERSION")))
}
