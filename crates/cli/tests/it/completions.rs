//! `anemone completions`

use anemone_testkit::skip;

use crate::environment::TestEnvironment;

#[test]
fn every_shell_gets_a_script_that_knows_the_commands() {
    let environment = TestEnvironment::new();
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let ran = environment.run(["completions", shell]);
        assert_eq!((ran.code, ran.stderr.as_str()), (0, ""), "{shell}");
        for word in ["validate", "passphrase-file", "keygen"] {
            assert!(ran.stdout.contains(word), "{shell}: {word}");
        }
    }
}

#[test]
#[cfg(unix)]
fn bash_accepts_its_script() {
    let environment = TestEnvironment::new();
    let script = environment.run(["completions", "bash"]).stdout;
    environment.write("anemone.bash", script);
    let checked =
        std::process::Command::new("bash").arg("-n").arg(environment.path("anemone.bash")).output();
    match checked {
        Ok(output) => {
            let said = String::from_utf8_lossy(&output.stderr);
            assert!(output.status.success(), "{said}");
        }
        Err(error) => skip("bash", format_args!("bash does not start: {error}")),
    }
}

#[test]
fn an_unknown_shell_is_wrong_usage_that_names_the_known_ones() {
    let environment = TestEnvironment::new();
    let failure = environment.failure(2, ["completions", "tcl"]);
    assert_eq!(failure["code"], "usage");
    assert!(environment.run(["completions", "tcl"]).stderr.contains("bash"));
}

#[test]
fn programs_and_runtimes_are_completed() {
    let environment = TestEnvironment::new();
    for (shell, connect, runtimes) in [
        ("bash", "__connect)", "compgen -W \"openclaw zeroclaw\""),
        ("zsh", "(connect)", ":RUNTIME:(openclaw zeroclaw)"),
        ("fish", "__fish_anemone_using_subcommand connect", "openclaw\\t''\nzeroclaw\\t''"),
    ] {
        let script = environment.run(["completions", shell]).stdout;
        let parts = script.split(connect).skip(1);
        let programs: String = parts.flat_map(|part| part.chars().take(6_000)).collect();
        assert!(programs.contains("claude-code") && programs.contains("gemini-cli"), "{shell}");
        assert!(script.contains(runtimes), "{shell}");
    }
}

#[test]
fn agents_are_completed_with_those_on_the_machine() {
    let environment = TestEnvironment::new();
    environment.write_home(".openclaw/openclaw.json", "{}");
    environment.write_home(".openclaw/workspace/MEMORY.md", "- tea\n");
    environment.write_home(".openclaw-work/openclaw.json", "{}");
    environment.write_home(".openclaw-work/workspace/MEMORY.md", "- tea\n");
    let aliases = environment.run(["agents", "--aliases"]).stdout;
    assert_eq!(aliases.lines().count(), 2, "{aliases}");
    assert!(aliases.lines().any(|line| line == "main"), "{aliases}");
    for shell in ["bash", "zsh", "fish"] {
        let script = environment.run(["completions", shell]).stdout;
        assert!(script.contains("anemone agents --aliases"), "{shell}");
    }
    let script = environment.run(["completions", "bash"]).stdout;
    environment.write("anemone.bash", script);
    let program = crate::environment::program();
    let folder = program.parent().expect("it lies in a folder").display();
    let run = format!(
        "PATH={folder}:$PATH; . ./anemone.bash; COMP_WORDS=(anemone search --agent ma); \
         COMP_CWORD=3; _anemone anemone ma --agent; echo \"${{COMPREPLY[@]}}\""
    );
    let mut bash = std::process::Command::new("bash");
    bash.args(["--norc", "-c", &run]).current_dir(environment.path(""));
    match bash.envs(environment.variables()).output() {
        Ok(output) => assert_eq!(String::from_utf8_lossy(&output.stdout).trim(), "main"),
        Err(error) => skip("bash", format_args!("bash does not start: {error}")),
    }
}
