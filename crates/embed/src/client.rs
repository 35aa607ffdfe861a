//! How every HTTP client of ours begins.

use reqwest::blocking::{Client, ClientBuilder};

/// Begins a client that says who it is, and nothing of where it was before. Encryption is by ring:
/// with what reqwest would take by itself the program is two megabytes larger.
pub fn http_client() -> ClientBuilder {
    // A provider that is already installed is the same one.
    rustls::crypto::ring::default_provider().install_default().ok();
    Client::builder().referer(false).user_agent(concat!("anemone/", env!("CARGO_PKG_VERSION")))
}
