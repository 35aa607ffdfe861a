//! A hostile page in a real browser.

use std::collections::{BTreeMap, BTreeSet};

use anemone_testkit::hostile::{Attempt, BROWSER, EVIL, Seen, Unprotected, attack, has_browser};
use anemone_testkit::skip;

use crate::fake_memory::CANARY;
use crate::server::{Server, TOKEN};

#[test]
fn a_hostile_page_reads_nothing_and_changes_nothing() {
    if !has_browser() {
        skip("browser", format_args!("{BROWSER} is not there"));
        return;
    }
    let unprotected = Unprotected::start(CANARY).unwrap();
    let there = attack(unprotected.port, TOKEN).unwrap();
    let server = Server::start();
    let here = attack(server.port, TOKEN).unwrap();

    assert!(here.keys().eq(there.keys()), "{here:?} {there:?}");
    assert!(here.len() >= 60, "{here:?}");

    let read_there = through(&there);
    for way in
        ["post text", "post json", "post json with a guess", "get", "request of old", "frame"]
    {
        let rebound = (EVIL.to_owned(), way.to_owned());
        assert!(read_there.contains(&rebound), "{way} {there:?}");
    }
    let asked: Vec<String> = unprotected.asked.try_iter().collect();
    for host in ["127.0.0.1", "localhost", EVIL] {
        let of_host = asked.iter().filter(|value| value.starts_with(host)).count();
        assert!(of_host >= 4, "{host} {asked:?}");
    }

    assert_eq!(through(&here), BTreeSet::new(), "{here:?}");
    let statuses: BTreeSet<u64> = here.values().map(|seen| seen.status).collect();
    assert_eq!(statuses, BTreeSet::from([0, 403]), "{here:?}");
    assert_eq!(server.memory.asked(), 0);
    let reply = server.search().send();
    assert!(reply.status == 200 && reply.body.contains(CANARY), "{reply:?}");
}

fn through(attempts: &BTreeMap<Attempt, Seen>) -> BTreeSet<Attempt> {
    let through = attempts.iter().filter(|(_, seen)| seen.got_through(CANARY));
    through.map(|(attempt, _)| attempt.clone()).collect()
}
