use proptest::prelude::*;

use super::*;

/// Every value that must be hidden has `SECRET` in it.
const FIXTURE: &str = r##"# A comment that stays.
api_key = "sk-SECRET-1" # behind it
max_tokens = 4096
api_key_env = "OPENAI_API_KEY"
empty = ""
api_url = "https://user:SECRET-2@api.example.com/v1?key=SECRET-3&x=1"
reference = "plain" 

[secrets]
encrypt = true

[gateway]
paired_tokens = ["SECRET-4", 'SECRET-5']
isolate_secrets = true

[gateway.pairing]
tokens = 3

[providers.models.openai.default]
api_key = "op://vault/item/field"
extra_headers = { X-Title = "SECRET-6", "X Count" = 7, on = true, nested = { a = ["SECRET-7", 1.5] } }
[providers.models.openai.default.headers]
# X-Old = "SECRET-8"
X-New = "SECRET-9"

[[mcp.servers]]
name = "github"
command = "npx server --token SECRET-10 --verbose"
args = ["--api-key", "SECRET-11", "--level=3", "--password=SECRET-12", "TOKEN=SECRET-13"]
env = { GITHUB_TOKEN = "SECRET-14" }
[[mcp.servers]]
name = "other"
env.A.B = "SECRET-15"

[channels.nostr.default]
private_key = """
SECRET-16
SECRET-17"""
listen = ["a", "b"]
any_value = "enc2:5EC2E700"
old_value = "enc:5EC2E701"

[channels.matrix.default]
recovery_key = 1234567890
my_custom_password = "SECRET-18"
enabled = true
passwordless = "yes"

[storage.provider.config]
db_url = "postgres://u:SECRET-19@h/db"
port = 5432

# [tunnel.cloudflare]
# token = "SECRET-20"
# paired_tokens = [
#   "SECRET-21",
# ]
# Note: webhook at https://u:SECRET-22@example.com
# old: enc2:5EC2E702
["model_providers"."custom:https://u:SECRET-23@api.example.com"]
name = "x # no comment"
"##;

fn values(item: &Item) -> usize {
    match item {
        Item::None => 0,
        Item::Value(value) => count(value),
        Item::Table(table) => table.iter().map(|(_, item)| values(item)).sum(),
        Item::ArrayOfTables(tables) => {
            tables.iter().flat_map(|table| table.iter()).map(|(_, item)| values(item)).sum()
        }
    }
}

fn count(value: &Value) -> usize {
    match value {
        Value::Array(array) => array.iter().map(count).sum::<usize>() + 1,
        Value::InlineTable(table) => table.iter().map(|(_, table)| count(table)).sum::<usize>() + 1,
        _ => 1,
    }
}

#[test]
fn no_secret_is_left_and_everything_else_is() {
    let redacted = redacted(FIXTURE);
    let text = &redacted.text;
    assert_eq!(redacted.warning, None);
    assert!(!text.contains("SECRET") && !text.contains("5EC2E70"), "{text}");
    let (old, new) = (Document::parse(FIXTURE).unwrap(), Document::parse(text).unwrap());
    assert_eq!(values(old.as_item()), values(new.as_item()));
    assert_eq!(text.lines().count() + 2, FIXTURE.lines().count(), "one text had three lines");
    for line in [
        "# A comment that stays.",
        "api_key = \"<redacted>\" # behind it",
        "max_tokens = 4096",
        "api_key_env = \"OPENAI_API_KEY\"",
        "empty = \"\"",
        "api_url = \"https://<redacted>@api.example.com/v1?key=<redacted>&x=1\"",
        "encrypt = true",
        "paired_tokens = [\"<redacted>\", \"<redacted>\"]",
        "isolate_secrets = true",
        "tokens = 3",
        "api_key = \"op://vault/item/field\"",
        "extra_headers = { X-Title = \"<redacted>\", \"X Count\" = 0, on = false, nested = { a = \
         [\"<redacted>\", 0.0] } }",
        "# X-Old = \"<redacted>\"",
        "command = \"npx server --token <redacted> --verbose\"",
        "args = [\"--api-key\", \"<redacted>\", \"--level=3\", \"--password=<redacted>\", \
         \"TOKEN=<redacted>\"]",
        "env.A.B = \"<redacted>\"",
        "private_key = \"<redacted>\"",
        "listen = [\"a\", \"b\"]",
        "recovery_key = 0",
        "passwordless = \"yes\"",
        "port = 0",
        "# token = \"<redacted>\"",
        "name = \"x # no comment\"",
    ] {
        assert!(text.lines().any(|other| other == line), "{line}\n{text}");
    }
}

#[test]
fn every_secret_is_listed_with_its_place() {
    let redacted = redacted(FIXTURE);
    let found: Vec<(String, &str)> =
        redacted.secrets.iter().map(|leaf| (leaf.path.join("."), leaf.value.as_str())).collect();
    let has = |path: &str, value: &str| {
        assert!(
            found.iter().any(|found| (&*found.0, found.1) == (path, value)),
            "{path}: {found:?}"
        );
    };
    has("api_key", "sk-SECRET-1");
    has("gateway.paired_tokens", "[\"SECRET-4\", 'SECRET-5']");
    has("providers.models.openai.default.api_key", "op://vault/item/field");
    has("providers.models.openai.default.extra_headers.X Count", "7");
    has("providers.models.openai.default.extra_headers.nested.a", "[\"SECRET-7\", 1.5]");
    has("mcp.servers.0.env.GITHUB_TOKEN", "SECRET-14");
    has("mcp.servers.1.env.A.B", "SECRET-15");
    has("channels.nostr.default.private_key", "SECRET-16\nSECRET-17");
    has("channels.matrix.default.recovery_key", "1234567890");
    let named = redacted.secrets.iter().find(|leaf| leaf.path[0] == "mcp").unwrap();
    let github = ElementName { at: 2, key: "name".into(), name: "github".into() };
    assert_eq!(named.names, [github]);
    assert!(redacted.comments >= 4);
    let paths: BTreeSet<_> = found.iter().map(|found| &found.0).collect();
    assert_eq!(paths.len(), found.len());
}

#[test]
fn what_is_redacted_is_not_redacted_again() {
    let once = redacted(FIXTURE);
    let twice = redacted(&once.text);
    assert_eq!(once.text, twice.text);
    // References stay where they are.
    assert!(twice.secrets.iter().all(SecretLeaf::is_reference));
}

#[test]
fn the_names_of_the_runtime_are_all_secret() {
    for name in FIELDS.iter() {
        let text = format!("[a.b]\n{name} = \"v\"\n[[c]]\nd = [{{ {name} = 'v' }}]\n");
        let kept = redacted(&text).text;
        assert_eq!(kept.matches(PLACEHOLDER).count(), 2, "{name}: {kept}");
    }
    for name in MAPS {
        let kept = redacted(&format!("[a.{name}]\nb = \"v\"\nc.d = 1\n")).text;
        assert_eq!(kept, format!("[a.{name}]\nb = \"<redacted>\"\nc.d = 0\n"));
    }
    assert_eq!(FIELDS.iter().count() + MAPS.len(), 53);
}

#[test]
fn numbers_of_tokens_and_names_of_agents_stay() {
    let text = "max_tokens = 5\nchunk_max_tokens = 512\nprovider_max_tokens = \"4096\"\n\
                [agents.config]\nmodel_provider = \"a.b\"\n[agents.secret]\nx = \"y\"\n\
                [secrets]\nencrypt = false\n";
    let kept = redacted(text);
    assert_eq!(kept.text, text);
    assert!(kept.secrets.is_empty());
}

#[test]
fn guessed_names_hide_maps_numbers_and_what_follows_an_option() {
    for (text, kept) in [
        ("bot_tokens = { main = \"SECRET\" }", "bot_tokens = { main = \"<redacted>\" }"),
        ("[x.bot_tokens]\nmain = \"SECRET\"", "[x.bot_tokens]\nmain = \"<redacted>\""),
        ("imap_password = 12345678", "imap_password = 0"),
        ("access_pin_token = 1234", "access_pin_token = 0"),
        ("smtp_pass = \"SECRET\"", "smtp_pass = \"<redacted>\""),
        ("db-pwd = \"SECRET\"", "db-pwd = \"<redacted>\""),
        ("x_url = \"amqp://bob:hun/SECRET@h/\"", "x_url = \"amqp://<redacted>@h/\""),
        ("x_url = \"amqp://bob:a@SECRET@h/\"", "x_url = \"amqp://<redacted>@h/\""),
        ("x_url = \"https://h/@user/p\"", "x_url = \"https://h/@user/p\""),
        ("args = [\"-p\", \"SECRET\"]", "args = [\"-p\", \"<redacted>\"]"),
        ("args = [\"-p\", \"8080\"]", "args = [\"-p\", \"8080\"]"),
        (
            "args = [\"--header\", \"X-Key: SECRET\", \"-v\"]",
            "args = [\"--header\", \"<redacted>\", \"-v\"]",
        ),
        ("[tokens]\nmax = 3\nmode = \"x\"", "[tokens]\nmax = 3\nmode = \"x\""),
        ("bypass = \"yes\"\ncompass = 3", "bypass = \"yes\"\ncompass = 3"),
    ] {
        let found = redacted(text);
        assert_eq!(found.text, kept);
        assert_eq!(found.secrets.len(), usize::from(text != kept), "{text}");
    }
}

#[test]
fn keys_that_are_known_by_their_looks_are_found_anywhere() {
    let key = format!("ghp_{}", "a1B2c3D4e5".repeat(4).chars().take(36).collect::<String>());
    let text = format!(
        "prompt = \"use {key} there\"\n# {key}\nlist = [\"a\", \"{key}\"]\n\
         hook = \"https://hooks.slack.com/services/T00000000/B00000000/{}\"\n",
        "x9Y8z7W6v5".repeat(3).chars().take(24).collect::<String>()
    );
    let kept = redacted(&text);
    assert!(!kept.text.contains(&key) && !kept.text.contains("x9Y8z7"), "{}", kept.text);
    assert!(kept.text.starts_with("prompt = \"use [redacted:github_token] there\""));
    assert_eq!(kept.secrets.len(), 3);
    assert_eq!(kept.comments, 1);
}

proptest! {
    #[test]
    fn a_text_under_a_secret_name_never_survives(
        value in "[a-zA-Z0-9#\"'\\\\\n\\[\\]{}= ]{1,40}",
        field in 0..FIELDS.iter().count(),
    ) {
        let marked = format!("Q7Q7{value}Q7Q7");
        let value = Value::from(marked).to_string();
        let field = FIELDS.iter().nth(field).unwrap();
        let text = format!("# c\n{field} = {value} # d\n[x.y]\nz = [{{ {field} = {value} }}]\n");
        if Document::parse(&text).is_ok() {
            let kept = redacted(&text);
            prop_assert!(!kept.text.contains("Q7Q7"), "{}", kept.text);
            prop_assert!(kept.warning.is_none());
            prop_assert_eq!(kept.secrets.len(), 2);
        }
    }
}
