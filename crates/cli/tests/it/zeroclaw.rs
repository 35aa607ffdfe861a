//! What commands say of an install of ZeroClaw.

use serde_json::json;

use crate::environment::{TestEnvironment, fixture};
use crate::workspace::fields;

#[test]
fn check_says_what_holds_of_an_install() {
    let environment = TestEnvironment::new();
    environment.copy_home(&fixture("zeroclaw/install-v3"), ".zeroclaw");
    let checked = environment.json(["check", "-r", "zeroclaw", "--agent", "alpha"]);
    assert_eq!(
        (&checked["runtime"], &checked["agent"]["alias"]),
        (&json!("zeroclaw"), &json!("alpha"))
    );
    let codes = fields(&checked["issues"], "code");
    assert!(codes.contains(&"memories_present") && codes.contains(&"private_rows"), "{checked}");
    assert_eq!(checked["resources"]["soul_md"], true);
    let missing = environment.run(["check", "-r", "zeroclaw", "-w", "nowhere"]);
    assert!(missing.code != 0, "{}", missing.stdout);
}
