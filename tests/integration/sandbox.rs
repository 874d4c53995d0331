//! The options of the sandbox, its words, and what `referee doctor` says of this machine.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

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
    // It looks like bubblewrap, and starts the program without any sandbox, as the user who runs the referee: a user
    // of its own keeps much in already.
    let referee = Referee::new(["--sandbox", "bwrap", "builtin:random", "builtin:random"]);
    let bwrap = referee.scratch().join("bwrap");
    let script = format!(
        "#!/bin/sh\nwhile [ \"$1\" != -- ]; do shift; done\n\
         limits=$(printf %s \"$5\" | sed 's/\"user\":[0-9][0-9]*/\"user\":null/')\nshift 6\nexport TMPDIR='{scratch}'\nexec '{program}' supervisor inside \"$limits\" '{program}' \"$@\"\n",
        program = env!("CARGO_BIN_EXE_referee"),
        scratch = referee.scratch().display(),
    );
    executable(&bwrap, script, 0o755);
    let path = format!("{}:/usr/bin:/bin", referee.scratch().display());
    let run = referee.env("PATH", path).run();
    assert_eq!(run.code, Some(2), "{run}");
    assert!(run.stderr.contains("it does not hold"), "{run}");
    // Inside bubblewrap this is the scratch directory; here it is everybody's.
    let entries = fs::read_dir("/tmp").expect("a directory").flatten();
    let names = entries.map(|entry| entry.file_name().to_string_lossy().into_owned());
    let left: Vec<_> = names
        .filter(|name| name.starts_with("referee-probe-"))
        .collect();
    assert!(left.is_empty(), "{left:?}\n{run}");
}

#[test]
fn a_bwrap_that_hangs_is_waited_for_once_and_told() {
    let referee = Referee::new(["--sandbox", "bwrap", "builtin:random", "builtin:random"]);
    let calls = referee.scratch().join("calls");
    let script = format!(
        "#!/bin/sh\necho called >>'{}'\nexec sleep 600\n",
        calls.display()
    );
    executable(&referee.scratch().join("bwrap"), script, 0o755);
    let path = format!("{}:/usr/bin:/bin", referee.scratch().display());
    // It is root's bots' own user that runs it.
    fs::write(&calls, "").expect("a file");
    fs::set_permissions(&calls, Permissions::from_mode(0o666)).expect("a file");
    let run = referee.env("PATH", path).run();
    assert_eq!(run.code, Some(2), "{run}");
    let text = fs::read_to_string(&calls).expect("a file");
    assert_eq!(text, "called\n", "{run}");
    let part = "bubblewrap has not built the sandbox within 10 s";
    assert!(run.stderr.contains(part), "{run}");
}

/// A person needs no sandbox, and takes none from the bot that plays second.
#[test]
fn a_bot_is_in_the_sandbox_whichever_seat_a_person_has() {
    let seen = |bots: [&str; 2], first| {
        let referee = Referee::new(["-v", "--first", first]).args(bots);
        let scratch = referee.scratch().to_owned();
        let secret = scratch.join("secret");
        fs::write(&secret, "").expect("a file");
        fs::create_dir(scratch.join("own")).expect("a folder");
        let script = format!(
            "#!/bin/sh\nread -r line\nif [ -e '{}' ]; then echo seen >&2; else echo unseen >&2; fi\necho x\n",
            secret.display()
        );
        executable(&scratch.join("own/bot"), script, 0o755);
        let run = referee.directory(scratch).run();
        let line = run.stderr.lines().chain(run.stdout.lines());
        let line = line.filter(|line| line.starts_with("bot| "));
        line.map(str::to_owned).collect::<Vec<_>>()
    };
    let second = seen(["human", "own/bot"], "2");
    assert_eq!(second.len(), 1, "{second:?}");
    assert_eq!(second, seen(["own/bot", "human"], "1"));
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
    // What somebody who reads a report of a mistake wants to know first.
    assert_eq!(report["referee"], env!("CARGO_PKG_VERSION"), "{report}");
    let system = report["system"].as_str().unwrap_or_default();
    let begin = [std::env::consts::OS, std::env::consts::ARCH].join(" ");
    assert!(system.starts_with(&begin), "{report}");
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
        ("--processes", "0", "0 is not in 1.."),
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
            crate::common::command(env!("CARGO_BIN_EXE_referee"))
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
fn a_closed_output_is_noticed_at_once() {
    for kind in sandboxes() {
        let bot = bots().join("closes-stdout.sh");
        let bot = bot.to_str().expect("a path");
        let run = Referee::new([
            "--sandbox",
            kind,
            "--move-time",
            "1h",
            bot,
            "builtin:random",
        ])
        .run();
        let words = "it closed its standard output instead of answering, and lived on";
        assert!(run.stderr.contains(words), "{kind}\n{run}");
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

#[test]
fn a_bot_that_is_named_by_its_file_sees_no_other_of_its_folder() {
    for kind in sandboxes() {
        let referee = Referee::new(["--sandbox", kind, "--first", "1", "--seed", "3", "-v"]);
        let class = referee.scratch().join("class");
        fs::create_dir(&class).expect("a directory");
        fs::write(class.join("shared.txt"), "").expect("a file");
        let script = "#!/bin/sh\nread x\nfor file in *; do echo \"sees $file\" >&2; done\n";
        executable(&class.join("ann"), script, 0o755);
        executable(&class.join("ben"), "#!/bin/sh\nexit 1\n", 0o755);
        let bot = class.join("ann").to_string_lossy().into_owned();
        let run = referee.args([&bot, "builtin:random"]).run();
        for (file, is_seen) in [("ann", true), ("shared.txt", true), ("ben", false)] {
            let line = format!("sees {file}\n");
            assert_eq!(run.stderr.contains(&line), is_seen, "{kind} {file}: {run}");
        }
    }
}

/// An error that the sandbox has likely caused is told with what it allows; any other is not.
#[test]
fn the_sandbox_is_named_where_it_is_the_likely_cause() {
    for kind in sandboxes() {
        for (script, expected) in [
            (": > log.txt || exit 1", "TMPDIR names"),
            (
                "cat /home/nobody/weights.txt || exit 1",
                "keep the file beside the bot",
            ),
            (
                "cat Weights.txt || exit 1",
                "beside the bot there is `weights.txt`, which differs in capital letters",
            ),
            (
                "echo 'IndexError: 5' >&2; exit 1",
                "correct the error that stderr names",
            ),
        ] {
            let referee = Referee::new(["check", "--json", "--sandbox", kind]);
            let bot = referee.scratch().join("bot.sh");
            executable(&bot, format!("#!/bin/sh\nread x\n{script}\n"), 0o755);
            fs::write(referee.scratch().join("weights.txt"), "1").expect("a file");
            let run = referee.args([&bot]).run();
            let report: Value = serde_json::from_str(&run.stdout).expect("JSON");
            let fix = report["fix_first"]["fix"].as_str().expect("a fix");
            assert!(fix.contains(expected), "{kind} {script}: {run}");
            let is_told = fix.contains("without a sandbox the same question may be answered");
            let is_by_sandbox = !["IndexError", "Weights"]
                .iter()
                .any(|own| script.contains(own));
            assert_eq!(is_told, is_by_sandbox, "{kind}: {run}");
        }
    }
}

#[test]
fn the_log_has_the_sandbox_of_a_bot() {
    for kind in sandboxes() {
        let run = Referee::new(["--sandbox", kind, "--seed", "1", "--log", "info"])
            .args(["builtin:greedy", "builtin:random"])
            .shell("exec \"$0\" \"$@\" --log-format json --log-file \"$SCRATCH/log\"")
            .run();
        assert_eq!(run.code, Some(0), "{run}");
        let log = run.file("log");
        let events = log.lines().map(|line| -> Value {
            serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}"))
        });
        let starts = events.filter(|event| event["fields"]["message"] == "starting");
        let sandboxes: Vec<Value> = starts
            .map(|event| event["fields"]["sandbox"].clone())
            .collect();
        assert_eq!(sandboxes, [kind, kind], "{log}");
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
        // Not in TMPDIR: a first line can name no path with a space.
        let place = crate::common::plain_directory();
        let [own, tools] = ["own", "tools"].map(|name| place.path().join(name));
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
        // It is installed in a home, among everything else there.
        fs::create_dir(tools.join("lib")).expect("a directory");
        let run = Referee::new(arguments).env("HOME", &tools).run();
        assert_eq!(run.code, Some(2), "{run}");
        assert!(run.stderr.contains("does not see"), "{run}");
        assert!(run.stderr.contains("--expose"), "{run}");
        let shown = tools.to_string_lossy().into_owned();
        let run = Referee::new(arguments)
            .args(["--expose", &shown, "--json"])
            .env("HOME", &tools)
            .run();
        let records = run.printed_records();
        assert_eq!(records[0]["turns"][0], "- A", "{run}");
    }
}

/// No place for temporary files: no sandbox can be built.
const NO_PLACE: [&str; 2] = ["TMPDIR", "/dev/null/nowhere"];

/// Runs the referee from a file that is gone by then, so that it cannot start the supervisor of any sandbox.
const WITHOUT_A_FILE: &str = "cp \"$0\" \"$SCRATCH/r\" && exec 9<\"$SCRATCH/r\" && rm \"$SCRATCH/r\" \\
    && exec /proc/self/fd/9 \"$@\"";

#[test]
fn a_match_says_that_it_is_played_without_a_sandbox() {
    for command in [
        &["./drawn.sh", "./drawn.sh"][..],
        &["check", "--game", "four-in-a-row", "./script.sh"],
    ] {
        let referee = Referee::new(command).default_sandbox();
        let run = referee.shell(WITHOUT_A_FILE).run();
        assert!(matches!(run.code, Some(0 | 3)), "{run}");
        let told: Vec<&str> = run
            .stderr
            .lines()
            .filter(|line| line.contains("sandbox"))
            .collect();
        let [line] = told[..] else {
            panic!("not one line\n{run}");
        };
        let begins = "referee: no sandbox works here, so bots can do whatever you can (";
        assert!(line.starts_with(begins), "{run}");
        assert!(line.contains("No such file"), "{run}");
    }
    // Built-in bots and people are trusted: they need no sandbox, and no place for one.
    let [name, value] = NO_PLACE;
    let run = Referee::new(["--seed", "1", "builtin:random", "builtin:random"])
        .env(name, value)
        .run();
    assert_eq!((run.code, &*run.stderr), (Some(0), ""), "{run}");
}

#[test]
fn a_sandbox_that_was_asked_for_is_not_left_out() {
    let [name, value] = NO_PLACE;
    for command in [
        &["--sandbox", "auto", "./drawn.sh", "./drawn.sh"][..],
        &["check", "--sandbox", "auto", "./drawn.sh"],
        &["shard", "plan", "./drawn.sh", "./drawn.sh", "--out"],
    ] {
        let mut referee = Referee::new(command);
        if command[0] == "shard" {
            let out = referee.scratch().join("cup");
            referee = referee.args([out]);
        }
        let run = referee.env(name, value).run();
        assert_eq!(run.code, Some(2), "{run}");
        assert_eq!(run.stdout, "", "{run}");
    }
}

/// A bot that writes its environment to stderr, and gives K.
fn shows_environment(scratch: &Path) -> String {
    let own = scratch.join("own");
    fs::create_dir(&own).expect("a directory");
    let script = "#!/bin/sh\nenv >&2\nread x\necho - K\nread y\n";
    executable(&own.join("bot"), script, 0o755);
    own.join("bot").to_string_lossy().into_owned()
}

#[cfg(target_os = "linux")]
#[test]
fn a_directory_for_temporary_files_must_have_a_name_in_utf_8() {
    use std::os::unix::ffi::OsStrExt as _;

    let referee = Referee::new(["--sandbox", "landlock", "builtin:random", "builtin:random"]);
    let place = referee
        .scratch()
        .join(std::ffi::OsStr::from_bytes(b"odd-\xff"));
    fs::create_dir(&place).expect("a directory");
    let run = referee.env("TMPDIR", &place).run();
    assert_eq!(run.code, Some(2), "{run}");
    for part in [
        "odd-\\xff, has a name that is not UTF-8",
        "set TMPDIR to a directory whose name is",
    ] {
        assert!(run.stderr.contains(part), "{part}\n{run}");
    }
}

#[test]
fn variables_are_let_in_by_name() {
    for kind in sandboxes().into_iter().chain(["none"]) {
        let referee = Referee::new(["--sandbox", kind, "--seed", "1", "--first", "1", "-v"]);
        let bot = shows_environment(referee.scratch());
        let run = referee
            .args([
                "--env",
                "TOKEN",
                "--env",
                "GREETING=a=b c",
                "--env",
                "LC_TIME=nl",
            ])
            .args([&bot, "builtin:random"])
            .env("TOKEN", "let in")
            .env("SECRET", "kept out")
            .env("LC_TIME", "C")
            .run();
        assert_eq!(run.code, Some(0), "{run}");
        for shown in ["TOKEN=let in", "GREETING=a=b c", "LC_TIME=nl"] {
            assert!(run.stderr.contains(&format!("bot| {shown}\n")), "{run}");
        }
        // Without a sandbox a bot is trusted with everything.
        let secret = run.stderr.contains("bot| SECRET=");
        assert_eq!(secret, kind == "none", "{run}");
    }
}

#[test]
fn variables_that_cannot_be_given() {
    for (given, expected) in [
        ("REFEREE_SEED=1", "the referee sets"),
        ("PATH=/tmp", "PATH cannot be set"),
        ("HOME", "HOME cannot be set"),
        ("=x", "expected NAME or NAME=VALUE"),
        ("", "expected NAME or NAME=VALUE"),
        ("NOT_SET_ANYWHERE", "environment variable not found"),
    ] {
        let run = Referee::new(["--env", given, "builtin:random", "builtin:random"]).run();
        assert_eq!(run.code, Some(2), "{run}");
        assert!(run.stderr.contains(expected), "{expected}\n{run}");
    }
}

#[test]
fn a_plan_holds_the_variables_as_they_were_given() {
    let referee = Referee::new([
        "shard",
        "plan",
        "--sandbox",
        "none",
        "--no-check",
        "--seed",
        "1",
    ]);
    let out = referee.scratch().join("cup");
    let config = referee.scratch().join("cup.toml");
    fs::write(&config, "env = [\"TOKEN\", \"THREADS=1\"]\n").expect("a file");
    let [out, config] = [&out, &config].map(|path| path.to_string_lossy().into_owned());
    let bots = ["builtin:random", "builtin:greedy"];
    let run = referee
        .args(["--out", &out, "--config", &config])
        .args(bots)
        .env("TOKEN", "secret")
        .run();
    assert_eq!(run.code, Some(0), "{run}");
    let plan = fs::read_to_string(Path::new(&out).join("plan.json")).expect("a plan");
    let json: Value = serde_json::from_str(&plan).expect("JSON");
    assert_eq!(
        json["sandbox"]["env"],
        serde_json::json!(["TOKEN", "THREADS=1"])
    );
    assert!(!plan.contains("secret"), "{plan}");
    let again = |more: &[&str]| {
        Referee::new(["tournament", "--out", &out, "--pairs", "1"])
            .args(more)
            .env("TOKEN", "secret")
            .run()
    };
    let run = again(&["--env", "THREADS=2"]);
    assert_eq!(run.code, Some(2), "{run}");
    let difference = "--env was TOKEN, THREADS=1 and is now THREADS=2";
    assert!(run.stderr.contains(difference), "{run}");
}

#[test]
fn a_bot_that_is_a_link_out_of_its_folder_is_refused_everywhere() {
    for kind in sandboxes().into_iter().chain(["none"]) {
        for command in [
            &[][..],
            &["check"],
            &["debug"],
            &["puzzles", "run", "builtin:quarto"],
            &["compare"],
            &["shard", "plan", "--no-check", "--out", "cup"],
        ] {
            let referee = Referee::new(command).args(["--sandbox", kind]);
            let [own, links] = ["own", "links"].map(|name| referee.scratch().join(name));
            for directory in [&own, &links] {
                fs::create_dir(directory).expect("a directory");
            }
            executable(&own.join("bot"), "#!/bin/sh\nread x\necho - K\n", 0o755);
            std::os::unix::fs::symlink("../own/bot", links.join("linked")).expect("a link");
            let scratch = referee.scratch().to_owned();
            let bots = match command {
                [] | ["compare" | "shard", ..] => &["links/linked", "builtin:random"][..],
                _ => &["links/linked"],
            };
            let run = referee.args(bots).directory(scratch).run();
            let links = links.canonicalize().expect("a path");
            let told = format!(
                "cannot start linked: {}/linked is a link that leads out of its directory, to ../own/bot",
                links.display()
            );
            assert_ne!(run.code, Some(0), "{run}");
            assert!(run.stderr.contains(&told), "{command:?}\n{run}");
        }
    }
}

#[test]
fn a_large_directory_is_named() {
    for kind in sandboxes() {
        for (megabytes, warned) in [(99, false), (101, true)] {
            let referee = Referee::new(["--sandbox", kind, "--seed", "1", "--first", "1"]);
            let own = referee.scratch().join("own");
            fs::create_dir(&own).expect("a directory");
            executable(&own.join("bot"), "#!/bin/sh\nread x\necho - K\n", 0o755);
            let weights = fs::File::create(own.join("weights")).expect("a file");
            weights.set_len(megabytes << 20).expect("its size");
            let bot = own.join("bot").to_string_lossy().into_owned();
            let run = referee.args([&bot, "builtin:random"]).run();
            assert_eq!(run.code, Some(0), "{run}");
            let own = own.canonicalize().expect("a path");
            let warning = format!("the files of bot in {} are 101 MiB", own.display());
            assert_eq!(run.stderr.contains(&warning), warned, "{run}");
        }
    }
}

#[test]
fn an_argument_that_is_also_a_file_stays_as_it_is() {
    for kind in sandboxes() {
        let referee = Referee::new(["--sandbox", kind, "--seed", "1", "--first", "1", "-v"]);
        let own = referee.scratch().join("own");
        fs::create_dir(&own).expect("a directory");
        for name in ["3", "data"] {
            fs::write(own.join(name), name).expect("a file");
        }
        let script = "#!/bin/sh\necho \"arguments: $*\" >&2\nread x\necho - K\n";
        executable(&own.join("bot"), script, 0o755);
        let run = referee
            .args(["./bot --depth 3 data", "builtin:random"])
            .directory(&own)
            .run();
        assert_eq!(run.code, Some(0), "{run}");
        assert!(
            run.stderr.contains("bot| arguments: --depth 3 data\n"),
            "{run}"
        );
    }
}

#[test]
fn a_link_does_not_enter_with_the_code_of_another_entrant() {
    let referee = Referee::new([
        "shard",
        "plan",
        "--no-check",
        "--sandbox",
        "none",
        "--seed",
        "1",
    ]);
    let [flat, out] = ["flat", "cup"].map(|name| referee.scratch().join(name));
    fs::create_dir(&flat).expect("a directory");
    for name in ["anna.sh", "ben.sh"] {
        executable(&flat.join(name), "#!/bin/sh\nread x\n", 0o755);
    }
    std::os::unix::fs::symlink("anna.sh", flat.join("carla.sh")).expect("a link");
    let [flat, out] = [&flat, &out].map(|path| path.to_string_lossy().into_owned());
    let run = referee.args(["--out", &out, &flat]).run();
    assert_eq!(run.code, Some(0), "{run}");
    let told =
        "carla.sh does not enter: cannot start carla.sh: it is a link to the file of anna.sh";
    assert!(run.stderr.contains(told), "{run}");
    assert!(!run.stderr.contains("anna.sh does not enter"), "{run}");
}

#[test]
fn without_a_temporary_directory_no_bot_runs_unconfined() {
    for arguments in [
        &["./steady.sh", "builtin:random"][..],
        &["check", "./steady.sh"],
        &["--sandbox", "auto", "./steady.sh", "builtin:random"],
    ] {
        let referee = Referee::new(arguments).default_sandbox();
        let run = referee.env("TMPDIR", "/nowhere/at/all").run();
        assert_eq!(run.code, Some(2), "{run}");
        assert!(
            run.stderr
                .contains("/nowhere/at/all: the directory for temporary files cannot be used"),
            "{run}"
        );
        assert!(
            run.stderr.contains("set TMPDIR to one where you may write"),
            "{run}"
        );
        assert!(!run.stderr.contains("os error"), "{run}");
    }
}
