//! The options of the sandbox, its words, and what `referee doctor` says of this machine.

use std::fs;
use std::path::Path;
use std::process::Command;

use crate::common::files::{copy_program, executable};
use crate::common::{self, Referee, bots};
use serde_json::Value;

/// A run in which bubblewrap is a program that fails with these words.
fn with_bwrap(words: &str, arguments: &[&str]) -> common::Run {
    let referee = Referee::new(arguments);
    let bwrap = referee.scratch().join("bwrap");
    let script = format!("#!/bin/sh\necho '{words}' >&2\nexit 1\n");
    executable(&bwrap, script, 0o755);
    let path = format!("{}:/usr/bin:/bin", referee.scratch().display());
    referee.env("PATH", path).run()
}

#[test]
fn a_sandbox_that_does_not_work_is_refused_before_the_first_game() {
    let words = "bwrap: setting up uid map: Permission denied";
    let run = with_bwrap(
        words,
        &["--sandbox", "bwrap", "builtin:random", "builtin:random"],
    );
    assert_eq!(run.code, Some(2), "{run}");
    assert_eq!(run.stdout, "", "{run}");
    for part in ["bubblewrap with seccomp", words, "--sandbox none"] {
        assert!(run.stderr.contains(part), "{part}\n{run}");
    }
}

#[test]
fn a_bwrap_that_keeps_nothing_in_is_found_out() {
    // It looks like bubblewrap, and starts the program without any sandbox.
    let referee = Referee::new(["--sandbox", "bwrap", "builtin:random", "builtin:random"]);
    let bwrap = referee.scratch().join("bwrap");
    let script = format!(
        "#!/bin/sh\nwhile [ \"$1\" != -- ]; do shift; done\nlimits=$5\nshift 6\nexec '{program}' supervisor inside \"$limits\" '{program}' \"$@\"\n",
        program = env!("CARGO_BIN_EXE_referee")
    );
    executable(&bwrap, script, 0o755);
    let path = format!("{}:/usr/bin:/bin", referee.scratch().display());
    let run = referee.env("PATH", path).run();
    assert_eq!(run.code, Some(2), "{run}");
    assert!(run.stderr.contains("it does not hold"), "{run}");
}

#[test]
fn without_bubblewrap_the_fix_is_to_install_it() {
    let run = Referee::new(["--sandbox", "bwrap", "builtin:random", "builtin:random"])
        .env("PATH", "/nonexistent")
        .run();
    assert_eq!(run.code, Some(2), "{run}");
    assert!(run.stderr.contains("there is no bwrap in PATH"), "{run}");
    assert!(run.stderr.contains("apt install bubblewrap"), "{run}");
}

#[test]
fn the_doctor_tells_what_works() {
    let run = with_bwrap("bwrap: No permissions", &["doctor", "--json"]);
    assert_eq!(run.code, Some(0), "{run}");
    let report: Value = serde_json::from_str(&run.stdout).expect("JSON");
    let bwrap = &report["findings"][0];
    assert_eq!(bwrap["probe"], "--sandbox bwrap", "{report}");
    assert_eq!(bwrap["works"], false, "{report}");
    assert!(
        bwrap["result"]
            .as_str()
            .is_some_and(|text| text.contains("No permissions")),
        "{report}"
    );
    assert!(bwrap["fix"].is_string(), "{report}");
    let landlock = &report["findings"][1];
    let expected = if landlock["works"] == true {
        "landlock"
    } else {
        "none"
    };
    assert_eq!(report["auto"], expected, "{report}");
    let memory = &report["findings"][2];
    assert_eq!(memory["probe"], "--memory", "{report}");
    let by = memory["result"].as_str().unwrap_or_default();
    let known = [
        "the kernel (control group v",
        "its supervisor, which checks every 25 ms",
    ];
    assert!(
        known.iter().any(|known| by.contains(known)) || expected == "none",
        "{report}"
    );
    let text = with_bwrap("bwrap: No permissions", &["doctor"]).stdout;
    assert!(text.starts_with("✗ --sandbox bwrap: "), "{text}");
    assert!(text.contains("\n    -> "), "{text}");
}

/// Once a command, for programs of others only, and only root.
#[test]
fn root_is_warned_of_bots_without_a_sandbox() {
    let bot = bots().join("works.sh");
    let bot = bot.to_str().expect("a path of the source tree");
    let warnings = |bot: &str| {
        let run = Referee::new(["--sandbox", "none", "-n", "2", bot, "builtin:random"]).run();
        assert_eq!(run.code, Some(0), "{run}");
        run.root_warnings
    };
    let is_root = rustix::process::geteuid().is_root();
    assert_eq!(warnings(bot), usize::from(is_root));
    assert_eq!(warnings("builtin:random"), 0);
}

#[test]
fn wrong_sizes_and_numbers() {
    for (option, value, expected) in [
        ("--memory", "much", "expected a size"),
        ("--memory", "1M", "at least 8M"),
        ("--memory", "-1G", "expected a size"),
        ("--memory", "NaN", "expected a size"),
        ("--scratch", "1e99", "expected a size"),
        ("--processes", "0", "at least 1"),
        ("--open-files", "3", "at least 16"),
        ("--sandbox", "jail", "possible values"),
        ("--expose", "/not/there", "check the spelling"),
    ] {
        let option = format!("{option}={value}");
        let run = Referee::new([&option, "builtin:random", "builtin:random"]).run();
        assert_eq!(run.code, Some(2), "{run}");
        assert!(run.stderr.contains(expected), "{expected}\n{run}");
    }
}

#[test]
fn a_supervisor_is_nobodys_command() {
    for arguments in [
        &["supervisor"][..],
        &["supervisor", "me"],
        &["supervisor", "inside", "{}", "true"],
    ] {
        let run = Referee::new(arguments).run();
        assert_eq!(run.code, Some(2), "{run}");
        assert_eq!(run.stdout, "", "{run}");
        assert!(run.stderr.starts_with("referee supervisor: "), "{run}");
    }
}

/// The sandboxes that work here. On the machine that decides they all must.
pub(crate) fn sandboxes() -> Vec<&'static str> {
    let mut kinds = vec!["bwrap", "landlock"];
    if std::env::var_os("CI").is_none() {
        kinds.retain(|kind| {
            Command::new(env!("CARGO_BIN_EXE_referee"))
                .args(["--sandbox", kind, "--seed", "1"])
                .args(["builtin:random", "builtin:random"])
                .output()
                .is_ok_and(|output| output.status.success())
        });
    }
    kinds
}

#[test]
fn the_same_games_in_every_sandbox() {
    let play = |kind: &str, more: &[&str]| {
        Referee::new(["--sandbox", kind, "--seed", "7", "-n", "3"])
            .args(["builtin:greedy", "builtin:random"])
            .args(more)
            .run()
    };
    for more in [&[][..], &["--freeze"], &["--restart"]] {
        let plain = play("none", more);
        for kind in sandboxes() {
            let run = play(kind, more);
            assert_eq!(run.stdout, plain.stdout, "{run}");
        }
    }
}

#[test]
fn a_bot_is_shown_its_directory_and_its_environment() {
    for kind in sandboxes() {
        let referee = Referee::new(["--sandbox", kind, "--first", "1", "--seed", "3", "-v"]);
        let own = referee.scratch().join("own");
        fs::create_dir(&own).expect("a directory");
        fs::write(own.join("helper"), "- K\n").expect("a file");
        let script = "#!/bin/sh\nread x\nenv >&2\ncat helper\nread y\n";
        executable(&own.join("bot"), script, 0o755);
        let bot = own.join("bot").to_string_lossy().into_owned();
        let run = referee
            .args([&bot, "builtin:random"])
            .env("SECRET", "token")
            .run();
        assert_eq!(run.code, Some(0), "{run}");
        assert!(run.stdout.contains("bot gives K"), "{run}");
        for shown in ["REFEREE_SEED=", "REFEREE_GAME=quarto", "TMPDIR=", "PATH="] {
            assert!(
                run.stderr.contains(&format!("bot| {shown}")),
                "{shown}\n{run}"
            );
        }
        for hidden in ["SECRET", "SCRATCH=", "HOME=/root"] {
            assert!(
                !run.stderr.contains(&format!("bot| {hidden}")),
                "{hidden}\n{run}"
            );
        }
    }
}

/// Its supervisor reports what it has used when it has ended.
#[cfg(target_os = "linux")]
#[test]
fn what_a_bot_that_ends_has_used_is_told() {
    for kind in sandboxes() {
        let referee = Referee::new(["--sandbox", kind, "--first", "1", "--seed", "1", "--json"]);
        let bot = referee.scratch().join("bot");
        let script = "#!/bin/sh\nread x\ni=0\nwhile [ $i -lt 100000 ]; do i=$((i + 1)); done\n";
        executable(&bot, script, 0o755);
        let run = referee
            .args([&*bot.to_string_lossy(), "builtin:random"])
            .run();
        assert_eq!(run.code, Some(0), "{run}");
        let record = &run.printed_records()[0];
        assert_eq!(record["result"]["reason"], "exited", "{run}");
        let used = record["usage"][0]["cpu_ms"].as_f64().expect("a number");
        // A hundred thousand steps of a shell, which is not on two processors at once.
        let most = run.elapsed.as_secs_f64() * 1e3;
        assert!((5.0..most).contains(&used), "{used} of {most} ms\n{run}");
    }
}

#[test]
fn an_interpreter_that_cannot_be_seen_is_told_before_the_first_game() {
    for kind in sandboxes() {
        let referee = Referee::new(["--sandbox", kind, "--seed", "1"]);
        let [own, tools] = ["own", "tools"].map(|name| referee.scratch().join(name));
        for directory in [&own, &tools] {
            fs::create_dir(directory).expect("a directory");
        }
        let interpreter = tools.join("odd");
        copy_program(Path::new("/bin/sh"), &interpreter);
        let script = format!("#!{}\nread x\necho - A\n", interpreter.display());
        executable(&own.join("bot"), script, 0o755);
        let bot = own.join("bot").to_string_lossy().into_owned();
        let arguments = [
            "--sandbox",
            kind,
            "--seed",
            "1",
            "--first",
            "1",
            &bot,
            "builtin:random",
        ];
        let run = Referee::new(arguments).run();
        assert_eq!(run.code, Some(2), "{run}");
        assert!(run.stderr.contains("does not see"), "{run}");
        assert!(run.stderr.contains("--expose"), "{run}");
        let shown = tools.to_string_lossy().into_owned();
        let run = Referee::new(arguments)
            .args(["--expose", &shown, "--json"])
            .run();
        let records = run.printed_records();
        assert_eq!(records[0]["turns"][0], "- A", "{run}");
    }
}
