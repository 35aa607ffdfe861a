//! The embeddings server that other tools of the project test with.

use std::process::{Child, Command, Stdio};
use std::time::Duration;

use anemone_embed::{Embedder as _, Provider, Purpose, Remote, RemoteSettings};
use anemone_testkit::skip;

/// Stopped when it is dropped.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        drop(self.0.kill());
        drop(self.0.wait());
    }
}

#[test]
fn a_server_of_somebody_else_is_understood() {
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/tools/fake_embeddings.py");
    let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let mut command = Command::new("python3");
    command.arg(script).arg(port.to_string()).stdout(Stdio::null()).stderr(Stdio::null());
    let Ok(child) = command.spawn() else {
        skip("python", "python3 is not there");
        return;
    };
    let _running = Running(child);

    let mut settings = RemoteSettings::new(Provider::OpenAi);
    settings.url = Some(format!("http://127.0.0.1:{port}"));
    settings.model = Some("bag".to_owned());
    // It may start slowly: as many tries as fit in a minute.
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
