//! The embeddings server that other tools of the project test with.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use anemone_embed::{Embedder as _, Provider, Purpose, Remote, RemoteSettings};

/// Stopped when it is dropped.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        drop(self.0.kill());
        drop(self.0.wait());
    }
}

/// Returns a tool beside the repository, or says aloud that it is not there.
#[expect(clippy::disallowed_methods, reason = "a test asks its own environment, once")]
#[expect(clippy::print_stderr, reason = "a test that is skipped says so")]
fn tool(name: &str) -> Option<PathBuf> {
    let shared = std::env::var_os("ANEMONE_SHARED").map_or_else(
        || Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared"),
        PathBuf::from,
    );
    let path = shared.join("tools").join(name);
    if path.exists() {
        return Some(path);
    }
    eprintln!("skipped: {} is not there; set ANEMONE_SHARED", path.display());
    None
}

#[test]
fn a_server_of_somebody_else_is_understood() {
    let Some(script) = tool("fake_embeddings.py") else {
        return;
    };
    let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let mut command = Command::new("python3");
    command.arg(&script).arg(port.to_string()).stdout(Stdio::null()).stderr(Stdio::null());
    let Ok(child) = command.spawn() else {
        eprintln!("skipped: python3 is not there");
        return;
    };
    let _running = Running(child);

    let mut settings = RemoteSettings::new(Provider::OpenAi);
    settings.url = Some(format!("http://127.0.0.1:{port}"));
    settings.model = Some("bag".to_owned());
    // It may take its time to start: as many tries as a minute has.
    settings.patience.tries = 60;
    settings.patience.longest_wait = Duration::from_secs(1);
    let mut remote = Remote::new(settings).unwrap();
    remote.connect().unwrap();
    assert_eq!(remote.identity().dimensions, 64);
    let texts = ["the boat is red", "red is the boat", "a quiet evening"];
    let made = remote.embed(&texts, Purpose::Document).unwrap();
    assert_eq!(made[0], made[1]);
    assert_ne!(made[0], made[2]);
}
