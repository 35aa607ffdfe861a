//! The program under the name `alf`: the existing tool's flags, keys in its order, and exit codes.

use std::fmt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde::de::{Deserialize, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use tempfile::TempDir;

use crate::environment::{Ran, TestEnvironment, fixture, program, reference};
use anemone_testkit::zip::{holds, unzip};

const SECRET: &str = "ghp_0123456789abcdefghijABCDEFGHIJ012345";
const AGENT: &str = "0190f3a0-7f3c-7b1e-9d2a-1c2b3a4d5e6f";

/// A folder with the program under another name, and one to work in.
struct Alf {
    environment: TestEnvironment,
    names: TempDir,
}

impl Alf {
    fn new() -> Self {
        let alf = Self {
            environment: TestEnvironment::new(),
            names: tempfile::tempdir().expect("a temporary folder can be made"),
        };
        #[cfg(unix)]
        fs_err::os::unix::fs::symlink(program(), alf.name("alf")).expect("the folder is ours");
        #[cfg(not(unix))]
        twin(&alf.name("alf"));
        alf
    }

    /// Makes an agent with two memories in `w`.
    fn with_agent() -> Self {
        let alf = Self::new();
        alf.environment.write_below("w/SOUL.md", "# Ada\n\nCalm.\n");
        alf.environment
            .write_below("w/memory/2026-01-15.md", "## Tea\n\nOolong.\n\n## Rain\n\nIn.\n");
        alf
    }

    fn name(&self, name: &str) -> PathBuf {
        self.names.path().join(name)
    }

    fn run(&self, args: &[&str]) -> Ran {
        self.run_as("alf", &[], args)
    }

    fn run_as(&self, name: &str, variables: &[(&str, &str)], args: &[&str]) -> Ran {
        let before = self.environment.everything();
        let mut command = Command::new(self.name(name));
        command.current_dir(self.environment.path("")).stdin(Stdio::null());
        command.env_clear().envs(self.environment.variables()).envs(variables.iter().copied());
        let output = command.args(args).output().expect("the program starts");
        let ran = Ran {
            code: output.status.code().expect("no signal ended the program"),
            stdout: String::from_utf8(output.stdout).expect("what is printed is UTF-8"),
            stderr: String::from_utf8(output.stderr).expect("what is printed is UTF-8"),
        };
        assert!(!ran.stderr.contains("panicked"), "{}", ran.stderr);
        if ran.code != 0 {
            assert!(before == self.environment.everything(), "a failure changes nothing");
        }
        ran
    }

    /// Runs what succeeds, and returns its one line.
    fn line(&self, args: &[&str]) -> String {
        let ran = self.run(args);
        assert_eq!((ran.code, ran.stderr.as_str()), (0, ""), "{args:?}: {}", ran.stdout);
        ran.document();
        ran.stdout
    }

    /// Runs what fails, and returns its one line of JSON.
    fn failure(&self, args: &[&str]) -> serde_json::Value {
        let ran = self.run(args);
        assert_eq!((ran.code, ran.stderr.as_str()), (1, ""), "{args:?}: {}", ran.stdout);
        assert_eq!(shape(&ran.stdout), "{ok,error,hint}");
        let document = ran.document();
        assert_eq!(document["ok"], false);
        document
    }

    /// Runs an invalid command line: text on stderr, nothing on stdout.
    fn usage(&self, args: &[&str]) -> String {
        let ran = self.run(args);
        assert_eq!((ran.code, ran.stdout.as_str()), (2, ""), "{args:?}");
        assert!(
            ran.stderr.starts_with("error: ") && ran.stderr.contains("Usage:"),
            "{}",
            ran.stderr
        );
        ran.stderr
    }
}

/// Puts the program itself under another name.
fn twin(path: &Path) {
    if fs_err::hard_link(program(), path).is_err() {
        fs_err::copy(program(), path).expect("the folder is ours");
    }
}

/// The keys of a document in their order; for a list, only its first member counts.
struct Shape(String);

impl<'de> Deserialize<'de> for Shape {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Shapes).map(Self)
    }
}

struct Shapes;

impl<'de> Visitor<'de> for Shapes {
    type Value = String;

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("JSON")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<String, A::Error> {
        let mut keys = Vec::new();
        while let Some((key, Shape(below))) = map.next_entry::<String, Shape>()? {
            keys.push(key + &below);
        }
        Ok(format!("{{{}}}", keys.join(",")))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<String, A::Error> {
        let first = list.next_element::<Shape>()?;
        while list.next_element::<IgnoredAny>()?.is_some() {}
        Ok(format!("[{}]", first.map(|first| first.0).unwrap_or_default()))
    }

    fn visit_bool<E>(self, _: bool) -> Result<String, E> {
        Ok(String::new())
    }

    fn visit_i64<E>(self, _: i64) -> Result<String, E> {
        Ok(String::new())
    }

    fn visit_u64<E>(self, _: u64) -> Result<String, E> {
        Ok(String::new())
    }

    fn visit_str<E>(self, _: &str) -> Result<String, E> {
        Ok(String::new())
    }

    fn visit_unit<E>(self) -> Result<String, E> {
        Ok(String::new())
    }
}

fn shape(line: &str) -> String {
    serde_json::from_str::<Shape>(line).expect("it is JSON").0
}

#[test]
fn a_shape_shows_keys_in_their_order() {
    assert_eq!(shape(r#"{"b":[{"x":1,"a":null},2],"a":{"c":"d"},"e":[]}"#), "{b[{x,a}],a{c},e[]}");
}

#[test]
fn a_link_a_twin_and_a_name_with_an_ending_answer_alike() {
    let alf = Alf::with_agent();
    twin(&alf.name("twin-of-alf"));
    fs_err::rename(alf.name("twin-of-alf"), alf.name("alf.exe")).unwrap();
    for name in ["alf", "alf.exe"] {
        let ran = alf.run_as(name, &[], &["--version"]);
        assert_eq!((ran.code, ran.stdout.as_str()), (0, "alf 0.1.0\n"), "{name}");
        let ran = alf.run_as(name, &[], &["export", "-r", "openclaw", "-w", "w", "-o", "a.alf"]);
        assert_eq!(ran.code, 0, "{name}: {}{}", ran.stdout, ran.stderr);
        assert_eq!(ran.document()["memory_records"], 2);
    }
}

#[test]
fn under_any_other_name_it_is_anemone() {
    let alf = Alf::new();
    #[cfg(unix)]
    fs_err::os::unix::fs::symlink(program(), alf.name("alfred")).unwrap();
    #[cfg(not(unix))]
    twin(&alf.name("alfred"));
    assert!(alf.run_as("alfred", &[], &["--version"]).stdout.starts_with("anemone "));
}

#[test]
fn export_answers_with_six_keys_and_replaces_its_archive() {
    let alf = Alf::with_agent();
    let export = ["export", "--runtime", "openclaw", "--workspace", "w"];
    let line = alf.line(&export);
    assert_eq!(shape(&line), "{ok,output,agent_name,alf_version,memory_records,file_size}");
    assert!(
        line.starts_with(
            r#"{"ok":true,"output":"./w.alf","agent_name":"Ada","alf_version":"1.0.0""#
        ),
        "{line}"
    );
    let first = alf.environment.read("w.alf");
    let size = format!(r#""file_size":{}}}"#, first.len());
    assert!(line.trim_end().ends_with(&size), "{line}");
    alf.environment.write_below("w/memory/2026-01-16.md", "## Snow\n\nAt last.\n");
    assert!(alf.line(&export).contains(r#""memory_records":3"#));
    assert_ne!(alf.environment.read("w.alf"), first);
    assert!(!alf.environment.exists("w/.alf-agent-id"), "a workspace is only read");
}

#[test]
#[cfg(unix)]
fn export_through_a_link_replaces_what_it_leads_to() {
    let alf = Alf::with_agent();
    fs_err::create_dir(alf.environment.path("kept")).unwrap();
    alf.environment.write("kept/monday.alf", "");
    fs_err::os::unix::fs::symlink("kept/monday.alf", alf.environment.path("latest.alf")).unwrap();
    alf.line(&["export", "-r", "openclaw", "-w", "w", "-o", "latest.alf"]);
    let link = fs_err::read_link(alf.environment.path("latest.alf")).unwrap();
    assert_eq!(link, Path::new("kept/monday.alf"));
    assert!(alf.environment.read("kept/monday.alf").starts_with(b"PK"));
}

#[test]
fn export_does_not_stop_for_a_secret_and_does_not_carry_it() {
    let alf = Alf::with_agent();
    alf.environment.write_below("w/memory/2026-01-17.md", format!("## Key\n\ntoken {SECRET}\n"));
    let ran = alf.run(&["export", "-r", "openclaw", "-w", "w", "-o", "a.alf"]);
    assert_eq!(ran.code, 0, "{}", ran.stdout);
    assert_eq!(shape(&ran.stdout), "{ok,output,agent_name,alf_version,memory_records,file_size}");
    assert!(ran.stderr.contains("memory/2026-01-17.md:3"), "{}", ran.stderr);
    assert!(!ran.stderr.contains(SECRET));
    for (name, entry) in unzip(&alf.environment.read("a.alf")) {
        assert!(!holds(&entry.content, SECRET.as_bytes()), "{name}");
    }
}

#[test]
fn export_refuses_what_cannot_be_meant() {
    let alf = Alf::with_agent();
    let error = |args: &[&str]| {
        let failure = alf.failure(args);
        failure["error"].as_str().expect("an error is a text").to_owned()
    };
    let unknown = error(&["export", "-r", "hermes", "-w", "w"]);
    assert!(unknown.contains("Unknown runtime"), "{unknown}");
    let gone = error(&["export", "-r", "openclaw", "-w", "gone"]);
    assert!(gone.starts_with("workspace ") && gone.ends_with(" not found"), "{gone}");
    let slip = error(&["export", "-r", "openclaw", "-w", "w", "-o", "w/SOUL.md"]);
    assert!(slip.contains("not an archive"), "{slip}");
    error(&["export", "-r", "openclaw", "-w", "w/SOUL.md"]);
    error(&["export", "-r", "openclaw", "-w", "w", "-o", "gone/a.alf"]);
}

#[test]
fn export_replaces_archives_and_no_other_zip_or_age_file() {
    let alf = Alf::with_agent();
    let to = |name: &'static str| ["export", "-r", "openclaw", "-w", "w", "-o", name];
    alf.line(&to("a.alf"));
    alf.line(&to("a.alf"));
    // A ZIP with one empty entry, as any other program could have written it.
    let entry = b"\x14\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\x01\0\0\0";
    let local = [&b"PK\x03\x04"[..], entry, b"a"].concat();
    let central = [&b"PK\x01\x02\x14\0"[..], entry, &[0; 14], b"a"].concat();
    let end = b"PK\x05\x06\0\0\0\0\x01\0\x01\0\x2f\0\0\0\x1f\0\0\0\0\0";
    alf.environment.write("thesis.docx", [local, central, end.to_vec()].concat());
    alf.environment.write("empty.zip", [&b"PK\x05\x06"[..], &[0; 18]].concat());
    alf.environment.write("secret.age", b"age-encryption.org/v1\n-> X25519 x\n");
    for name in ["thesis.docx", "empty.zip", "secret.age"] {
        let failure = alf.failure(&to(name));
        assert!(failure["error"].as_str().unwrap().contains("not an archive"), "{name}: {failure}");
    }
    // A sealed archive cannot be read, so its name counts.
    alf.environment.write("b.alf.age", b"age-encryption.org/v1\n-> X25519 x\n");
    alf.line(&to("b.alf.age"));
    assert!(alf.environment.read("b.alf.age").starts_with(b"PK"));
}

#[test]
fn an_archive_that_is_not_there_is_named_and_suggestions_can_be_pasted() {
    let alf = Alf::with_agent();
    let failure = alf.failure(&["import", "-r", "openclaw", "-w", "new", "nofile.alf"]);
    assert_eq!(failure["error"], "nofile.alf not found");
    alf.environment.write_below("it's a dir/SOUL.md", "# Ada\n");
    alf.environment.write_below("it's a dir/memory/2026-01-15.md", "## Tea\n\nOolong.\n");
    let checked = alf.run(&["check", "-r", "openclaw", "-w", "it's a dir"]).document();
    let suggested = checked["suggestions"].to_string();
    assert!(suggested.contains(r"it'\\''s a dir'"), "{suggested}");
}

#[test]
fn wrong_usage_is_text_on_stderr_and_two() {
    let alf = Alf::with_agent();
    assert!(alf.usage(&["export", "-w", "w"]).contains("--runtime <RUNTIME>"));
    assert!(alf.usage(&["export", "-r", "openclaw"]).contains("--workspace <DIR>"));
    assert!(alf.usage(&["import", "-r", "openclaw", "-w", "w"]).contains("ALF_FILE"));
    alf.usage(&["check"]);
    alf.usage(&["validate"]);
    alf.usage(&["export", "--json"]);
    alf.usage(&["search", "tea"]);
    let ran = alf.run(&[]);
    assert_eq!((ran.code, ran.stdout.as_str()), (2, ""));
}

#[test]
fn import_answers_with_its_keys_and_keeps_what_it_replaces() {
    let alf = Alf::with_agent();
    alf.line(&["export", "-r", "openclaw", "-w", "w", "-o", "a.alf"]);
    let import = ["import", "-r", "openclaw", "-w", "new/w", "a.alf"];
    let line = alf.line(&import);
    let keys = "ok,workspace,agent_name,memory_records,identity_imported,principals_count,\
                credentials_count";
    assert_eq!(shape(&line), format!("{{{keys}}}"));
    assert!(line.starts_with(r#"{"ok":true,"workspace":"new/w","agent_name":"Ada","memory_records":2,"identity_imported":true"#), "{line}");
    assert_eq!(alf.environment.read("new/w/SOUL.md"), alf.environment.read("w/SOUL.md"));
    alf.environment.write("new/w/SOUL.md", "# Eve\n");
    let line = alf.line(&import);
    assert_eq!(shape(&line), format!("{{{keys},warnings[]}}"));
    assert_eq!(alf.environment.read("new/w/SOUL.md"), alf.environment.read("w/SOUL.md"));
    assert_eq!(alf.environment.read("new/w.replaced-1/SOUL.md"), b"# Eve\n");
    assert!(line.contains("w.replaced-1"), "{line}");
}

#[test]
fn import_of_what_is_no_archive_fails() {
    let alf = Alf::with_agent();
    alf.environment.write("junk.alf", "junk");
    alf.failure(&["import", "-r", "openclaw", "-w", "new", "junk.alf"]);
    assert!(!alf.environment.exists("new"));
    let unknown = alf.failure(&["import", "-r", "hermes", "-w", "new", "junk.alf"]);
    assert!(unknown["error"].as_str().unwrap().contains("Unknown runtime"), "{unknown}");
}

#[test]
fn archives_of_the_existing_tool_are_read() {
    let alf = Alf::new();
    for (name, runtime) in
        [("reference-openclaw.alf", "openclaw"), ("reference-zeroclaw.alf", "zeroclaw")]
    {
        let path = reference(name);
        let path = path.to_str().unwrap();
        let line = alf.line(&["validate", path]);
        assert!(line.starts_with(r#"{"ok":true,"valid":true,"errors":[],"warnings":["#), "{line}");
        let ran = alf.run(&["import", "-r", runtime, "-w", runtime, path]);
        assert_eq!(ran.code, 0, "{}", ran.stdout);
        assert_eq!(ran.document()["ok"], true);
    }
}

#[test]
fn validate_says_what_is_wrong_in_one_line_and_that_it_is_in_another() {
    let alf = Alf::with_agent();
    alf.line(&["export", "-r", "openclaw", "-w", "w", "-o", "a.alf"]);
    let line = alf.line(&["validate", "a.alf"]);
    assert_eq!(line, "{\"ok\":true,\"valid\":true,\"errors\":[],\"warnings\":[]}\n");
    let mut bytes = alf.environment.read("a.alf");
    let middle = bytes.len() / 2;
    bytes[middle] ^= 0x10;
    alf.environment.write("bad.alf", bytes);
    let ran = alf.run(&["validate", "bad.alf"]);
    assert_eq!((ran.code, ran.stderr.as_str()), (1, ""));
    let lines: Vec<&str> = ran.stdout.lines().collect();
    assert_eq!(lines.len(), 2, "{}", ran.stdout);
    assert_eq!(shape(lines[0]), "{ok,valid,errors[{path,message}],warnings[]}");
    assert!(lines[0].starts_with(r#"{"ok":false,"valid":false,"#), "{}", lines[0]);
    assert_eq!(shape(lines[1]), "{ok,error,hint}");
    let ran = alf.run(&["validate", "gone.alf"]);
    assert_eq!((ran.code, shape(&ran.stdout).as_str()), (1, "{ok,error}"));
}

#[test]
fn check_answers_in_its_order_and_exits_with_zero() {
    let alf = Alf::with_agent();
    alf.environment.write("w/.alf-agent-id", AGENT);
    let state = format!("agent_id = \"{AGENT}\"\nlast_synced_sequence = 7\n");
    alf.environment.write_home(&format!(".alf/state/{AGENT}.toml"), state);
    alf.environment.write_home(".openclaw/openclaw.json", "{agents:{defaults:{workspace:'~/x'}}}");
    let line = alf.line(&["check", "-r", "openclaw", "-w", "w"]);
    assert_eq!(
        shape(&line),
        "{ok,runtime,ready_to_sync,workspace{path,source,exists,writable},\
         resources{soul_md,identity_md,agents_md,user_md,memory_md,memory_dir,\
         daily_logs{count,latest},active_context,project_files{count},agent_id},\
         openclaw{config_found,workspace_configured},\
         alf{config_exists,api_key_set,agent_tracked,last_synced_sequence,service_reachable},\
         issues[{severity,code,message,fix}],suggestions[]}"
    );
    for part in [
        r#""ready_to_sync":false"#,
        r#""source":"flag""#,
        r#""agent_tracked":true,"last_synced_sequence":7,"service_reachable":false"#,
        r#"{"severity":"error","code":"no_api_key""#,
        r#""code":"workspace_mismatch""#,
        "alf export -r openclaw -w ",
    ] {
        assert!(line.contains(part), "{part}: {line}");
    }
    assert!(line.starts_with(r#"{"ok":true,"runtime":"openclaw""#), "{line}");
    let line = alf.line(&["check", "-r", "openclaw", "-w", "gone"]);
    assert!(line.starts_with(r#"{"ok":false,"#), "{line}");
    assert!(line.contains(r#"{"severity":"error","code":"workspace_not_found""#), "{line}");
    alf.failure(&["check", "-r", "hermes"]);
}

#[test]
fn what_an_export_puts_a_mark_on_does_not_make_an_agent_unready() {
    let alf = Alf::with_agent();
    alf.environment.write_below("w/memory/2026-01-17.md", format!("## Key\n\ntoken {SECRET}\n"));
    let line = alf.line(&["check", "-r", "openclaw", "-w", "w"]);
    assert!(line.starts_with(r#"{"ok":true,"#), "{line}");
    assert!(line.contains(r#"{"severity":"warning","code":"secrets_found""#), "{line}");
    let text = alf.run(&["--human", "check", "-r", "openclaw", "-w", "w"]).stdout;
    assert!(text.contains("ready to be exported") && !text.contains("not ready"), "{text}");
}

#[test]
fn defaults_of_the_settings_count_where_a_flag_is_not_given() {
    let alf = Alf::with_agent();
    let settings = "[service]\napi_key = \"alf_sk_hush\"\n[defaults]\nruntime = \"openclaw\"\n";
    alf.environment.write_home(".alf/config.toml", settings);
    assert!(alf.usage(&["export"]).contains("--workspace <DIR>"));
    let workspace = alf.environment.path("w").display().to_string();
    let settings = format!("{settings}workspace = '{workspace}'\n");
    alf.environment.write_home(".alf/config.toml", settings);
    assert!(alf.line(&["export"]).contains(r#""output":"./w.alf""#));
    assert!(alf.line(&["import", "-w", "new", "w.alf"]).contains(r#""workspace":"new""#));
    let line = alf.line(&["check"]);
    assert!(line.contains(r#""source":"alf_config""#), "{line}");
    assert!(line.contains(r#""api_key_set":true"#) && !line.contains("hush"), "{line}");
    assert!(line.contains(r#""code":"service_unreachable""#), "{line}");
    let gone = alf.failure(&["export", "-w", "gone"]);
    assert!(gone["error"].as_str().unwrap().contains("gone"), "the flag counts: {gone}");
}

#[test]
fn broken_settings_are_named_by_line_and_never_shown() {
    let alf = Alf::with_agent();
    alf.environment.write_home(".alf/config.toml", "[service]\napi_key = \"alf_sk_hush\n");
    for args in [&["export", "-w", "w"][..], &["check"], &["help", "status"]] {
        let failure = alf.failure(args);
        let error = failure["error"].as_str().unwrap();
        assert!(error.ends_with(".alf/config.toml: line 2 is no TOML"), "{error}");
        assert!(!failure.to_string().contains("hush"));
    }
    let line = alf.line(&["check", "-r", "openclaw", "-w", "w"]);
    assert!(line.contains(r#"{"severity":"warning","code":"alf_config_invalid""#), "{line}");
    assert!(line.contains("line 2") && !line.contains("hush"), "{line}");
    // Who says everything by flag does not need them.
    alf.line(&["export", "-r", "openclaw", "-w", "w"]);
}

#[test]
fn help_explains_every_topic() {
    let alf = Alf::new();
    for (topic, says) in [
        ("overview", "alf export -r openclaw"),
        ("files", "~/.alf/config.toml"),
        ("troubleshoot", "Unknown runtime"),
        ("export", "Usage: alf export"),
        ("restore", "--agent <UUID>"),
        ("help", "Usage: alf help"),
    ] {
        let ran = alf.run(&["help", topic]);
        assert_eq!((ran.code, ran.stderr.as_str()), (0, ""), "{topic}");
        assert!(ran.stdout.contains(says), "{topic}: {}", ran.stdout);
        assert_eq!(shape(&alf.line(&["help", topic, "--json"])), "{topic,text}");
    }
    assert_eq!(alf.run(&["help"]).stdout, alf.run(&["help", "overview"]).stdout);
    alf.failure(&["help", "nothing"]);
}

#[test]
fn help_status_says_what_the_existing_tool_left() {
    let alf = Alf::new();
    let keys = "config_path,config_exists,api_key_set,state_dir,state_dir_exists,service_reachable";
    let line = alf.line(&["help", "status"]);
    assert_eq!(shape(&line), format!("{{{keys},agents[],agent_service_status[]}}"));
    alf.environment.write_home(".alf/config.toml", "[service]\napi_key = \"alf_sk_hush\"\n");
    let state = "last_synced_sequence = 7\nlast_synced_at = \"2026-03-14T01:02:03Z\"\n";
    alf.environment.write_home(&format!(".alf/state/{AGENT}.toml"), state);
    alf.environment.write_home(&format!(".alf/state/{AGENT}-snapshot.alf"), "");
    let line = alf.line(&["help", "status"]);
    assert_eq!(
        shape(&line),
        format!(
            "{{{keys},agents[{{agent_id,last_synced_sequence,last_synced_at,snapshot_exists}}],\
             agent_service_status[{{agent_id,online,name,server_latest_sequence,error}}]}}"
        )
    );
    for part in [
        r#""config_exists":true,"api_key_set":true"#,
        r#""service_reachable":false"#,
        r#""last_synced_sequence":7,"last_synced_at":"2026-03-14T01:02:03Z","snapshot_exists":true"#,
        r#""online":false,"name":null,"server_latest_sequence":null"#,
    ] {
        assert!(line.contains(part), "{part}: {line}");
    }
    assert!(!line.contains("hush"));
    alf.environment.write_home(".alf/state/what.toml", "");
    let ran = alf.run(&["help", "status"]);
    assert_eq!((ran.code, ran.stdout), (0, line));
    assert!(ran.stderr.contains("what.toml"), "{}", ran.stderr);
}

#[test]
fn sync_restore_and_login_are_not_supported_and_keep_nothing() {
    let alf = Alf::with_agent();
    let key = "abcdefgéabcdefgh12";
    for args in [
        &["sync", "-r", "openclaw", "-w", "w"][..],
        &["sync"],
        &["restore", "-r", "openclaw", "-w", "w", "-a", AGENT],
        &["restore"],
        &["login", "-k", key],
        &["login", "--key", key],
        &["login"],
    ] {
        let failure = alf.failure(args);
        assert!(failure["error"].as_str().unwrap().contains("not supported"), "{failure}");
        assert!(!failure.to_string().contains(key), "{failure}");
    }
}

#[test]
fn text_is_printed_when_it_is_asked_for() {
    let alf = Alf::with_agent();
    let check = ["check", "-r", "openclaw", "-w", "w"];
    for value in ["1", "true", "TRUE", "yes"] {
        let ran = alf.run_as("alf", &[("ALF_HUMAN", value)], &check);
        assert!(ran.code == 0 && !ran.stdout.starts_with('{'), "{value}: {}", ran.stdout);
    }
    for value in ["", "0", "false"] {
        let ran = alf.run_as("alf", &[("ALF_HUMAN", value)], &check);
        assert!(ran.code == 0 && ran.stdout.starts_with('{'), "{value}: {}", ran.stdout);
    }
    let ran = alf.run(&["export", "-r", "openclaw", "-w", "gone", "--human"]);
    assert_eq!((ran.code, ran.stdout.as_str()), (1, ""));
    assert!(ran.stderr.starts_with("error: workspace "), "{}", ran.stderr);
}

#[test]
fn a_database_is_read_under_this_name_too() {
    let alf = Alf::new();
    let database = fixture("zeroclaw/zeroclaw-real.db");
    let bytes = fs_err::read(database).unwrap();
    alf.environment.write_below("zc/data/memory/brain.db", bytes);
    let ran = alf.run(&["export", "-r", "zeroclaw", "-w", "zc", "-o", "zc.alf"]);
    assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
    assert!(ran.document()["memory_records"].as_u64() > Some(0), "{}", ran.stdout);
}
