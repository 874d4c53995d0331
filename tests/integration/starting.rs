//! Bots that cannot be started: an error before any game, with the cause and the fix. And
//! bots with odd names and words: shown without harm, recorded as they are.

use std::ffi::OsString;
use std::fs;
use std::os::unix::ffi::OsStringExt as _;
use std::path::{Path, PathBuf};

use crate::common::files::{copy_program, executable};
use crate::common::{self, RECORDS, Referee, Run};
use serde_json::Value;

/// Checks that nothing was played because of `bot`, and that the sentence has these parts.
#[track_caller]
fn cannot_start(run: &Run, bot: &str, parts: &[&str]) {
    assert_eq!(run.code, Some(2), "{run}");
    assert_eq!(run.stdout, "", "{run}");
    assert!(run.records().is_empty(), "{run}");
    let start = format!("referee: cannot start {bot}: ");
    let error = run.stderr.lines().find(|line| line.starts_with(&start));
    let error = error.unwrap_or_else(|| panic!("no `{start}`\n{run}"));
    assert!(run.stderr.ends_with(&format!("{error}\n")), "{run}");
    // The cause, and then the fix.
    assert!(error.contains("; "), "{run}");
    for part in parts {
        assert!(error.contains(part), "`{part}` is missing\n{run}");
    }
}

/// Tries to start `bot` against a good one, in both places.
#[track_caller]
fn fails(directory: &Path, bot: &str, parts: &[&str]) {
    fails_in(directory, bot, bot, parts, None);
}

#[track_caller]
fn fails_in(directory: &Path, bot: &str, shown: &str, parts: &[&str], path: Option<&str>) {
    for bots in [[bot, "builtin:random"], ["builtin:random", bot]] {
        let mut referee = Referee::new(["--seed", "1", "--"]).args(bots);
        if let Some(path) = path {
            referee = referee.env("PATH", path);
        }
        let run = referee.directory(directory).run();
        cannot_start(&run, shown, parts);
    }
}

/// A directory with one file.
struct Place {
    directory: tempfile::TempDir,
}

impl Place {
    fn new() -> Self {
        let directory = tempfile::tempdir().expect("a temporary directory");
        Self { directory }
    }

    fn path(&self) -> &Path {
        self.directory.path()
    }

    /// Makes a file; `mode` as for chmod.
    fn file(&self, name: &str, text: impl AsRef<[u8]>, mode: u32) {
        let path = self.path().join(name);
        executable(&path, text, mode);
    }

    /// Makes `script.sh` once more, under another name.
    fn script(&self, name: impl AsRef<Path>) -> PathBuf {
        let path = self.path().join(name);
        copy_program(&common::bots().join("script.sh"), &path);
        path
    }
}

// Item 25

#[test]
fn no_such_file() {
    let place = Place::new();
    let at = place.path();
    fails(
        at,
        "nosuch.sh",
        &["there is no such file", "check the spelling"],
    );
    fails(
        at,
        "./nosuch.sh",
        &["there is no such file", "check the spelling"],
    );
    fails(
        at,
        "/nosuch/bot",
        &["there is no such file", "check the spelling"],
    );
    fails_in(
        at,
        "'no such.sh' --depth 3",
        "'no such.sh' --depth 3",
        &["there is no", "no such.sh"],
        None,
    );
    // What was meant can be guessed.
    fails(
        at,
        "greedy",
        &["there is no such file", "did you mean builtin:greedy?"],
    );
    fails(
        at,
        "sh",
        &[
            "there is no such file",
            "an interpreter and its script are one bot, in quotes (\"sh mybot\")",
        ],
    );
    fails(
        at,
        "env",
        &[
            "there is no such file",
            "did you mean the program /",
            "/env?",
        ],
    );
    fails(at, "builtin:clever", &["builtin:random", "builtin:greedy"]);
}

#[test]
fn no_bot_at_all() {
    let at = common::bots();
    for (bot, shown) in [("", "\"\""), ("  ", "\"  \"")] {
        let parts = ["its name is empty", "builtin:NAME"];
        fails_in(&at, bot, shown, &parts, None);
    }
    fails(
        &at,
        "'my bot.py",
        &["a quote that is not closed", "close it"],
    );
}

#[test]
fn not_executable() {
    let place = Place::new();
    let at = place.path();
    place.file("bot", "#!/bin/sh\nread -r request\n", 0o644);
    fails(at, "bot", &["not executable", "chmod +x bot"]);
    place.file("my bot", "#!/bin/sh\nread -r request\n", 0o644);
    fails(at, "my bot", &["not executable", "chmod +x 'my bot'"]);
    place.file("bot.pas", "begin end.\n", 0o644);
    fails(at, "bot.pas", &["not executable", "compile it", "Pascal"]);
    // There is an interpreter for it, but not here.
    place.file("bot.jl", "println(readline())\n", 0o644);
    let nowhere = Some("/nonexistent");
    fails_in(
        at,
        "bot.jl",
        "bot.jl",
        &[
            "it needs julia, which is not installed",
            "apt install julia",
        ],
        nowhere,
    );
}

#[test]
fn not_a_program() {
    let place = Place::new();
    let at = place.path();
    fs::create_dir(at.join("bot")).expect("a directory");
    fails(
        at,
        "bot",
        &["there is no program in this folder", "put one into it"],
    );
    for name in ["bot/a.sh", "bot/b.sh"] {
        fs::write(at.join(name), "#!/bin/sh\n").expect("a file");
    }
    fails(
        at,
        "bot",
        &[
            "several programs in this folder: a.sh, b.sh",
            "if each in it is a bot: referee check --each bot, or referee tournament bot; if it is one bot: call the one that counts main or bot, or name it in a file referee.toml: program = \"NAME\"",
        ],
    );
    fails(
        at,
        "/dev/null",
        &["it is not a regular file", "give a program's file"],
    );
    place.file("empty", "", 0o755);
    fails(at, "empty", &["the file is empty"]);
    place.file("empty.py", "", 0o644);
    fails(at, "empty.py", &["the file is empty"]);
}

#[cfg(target_os = "linux")]
#[test]
fn a_program_for_another_machine() {
    let place = Place::new();
    let at = place.path();
    let ours = fs::read(env!("CARGO_BIN_EXE_referee")).expect("this program");
    let mut theirs = ours[..64].to_vec();
    // The field of the machine: ARM for everybody who is not ARM.
    let arm = [183, 0];
    let other = if ours[18..20] == arm { [62, 0] } else { arm };
    theirs[18..20].copy_from_slice(&other);
    place.file("bot", &theirs, 0o755);
    fails(
        at,
        "bot",
        &["another kind of CPU", "compile it on this machine"],
    );
    place.file("bot.exe", b"MZ\x90\x00\x03\x00\x00\x00", 0o755);
    fails(
        at,
        "bot.exe",
        &["it is a Windows program", "compile it for this system"],
    );
    place.file("noise", b"\x12\x00(\xff\n\x00\x01", 0o755);
    let neither = "it is neither a program of this system nor a script";
    fails(at, "noise", &[neither, "give the command line"]);
    // Only the kernel sees that the rest of the program is missing. In a sandbox the C library starts it,
    // which then takes it for a shell script.
    place.file("half", &ours[..64], 0o755);
    for bots in [["half", "builtin:random"], ["builtin:random", "half"]] {
        let run = Referee::new(["--seed", "1", "--sandbox", "none", "--"])
            .args(bots)
            .directory(at)
            .run();
        cannot_start(&run, "half", &["the system says: ", "run by hand"]);
    }
}

#[test]
fn first_lines() {
    let place = Place::new();
    let at = place.path();
    let script =
        |name: &str, first: &str| place.file(name, format!("{first}\nread -r request\n"), 0o755);
    script("missing", "#!/nosuch/interpreter -u");
    fails(
        at,
        "missing",
        &["/nosuch/interpreter, which does not exist", "install it"],
    );
    for first in ["#!/nosuch/sh", "#!/nosuch/shh -u"] {
        script("misspelt", first);
        fails(at, "misspelt", &["write #!/usr/bin/env sh instead"]);
    }
    script("misspelt", "#!/usr/bin/env shh");
    fails(at, "misspelt", &["write sh instead"]);
    place.file("source.f", "x\n", 0o644);
    fails(at, "source.f", &["(\"INTERPRETER source.f\")"]);
    script("beside", "#!no/such/python");
    fails(at, "beside", &["begins in the bot's folder"]);
    script("through-env", "#!/usr/bin/env nosuch-interpreter");
    fails(
        at,
        "through-env",
        &[
            "it needs nosuch-interpreter, which is not installed",
            "install it",
        ],
    );
    script("through-env-s", "#!/usr/bin/env -S nosuch-interpreter -u");
    fails(
        at,
        "through-env-s",
        &["it needs nosuch-interpreter, which is not installed"],
    );
    script("none", "#!");
    fails(
        at,
        "none",
        &[
            "#! without an interpreter",
            "such as #!/usr/bin/env python3",
        ],
    );
    script("hostile", "#!/nosuch/\u{1b}[31m\u{202e}sh");
    fails(at, "hostile", &[r"/nosuch/\x1b[31m\u{202e}sh"]);
    for (name, first) in [
        ("crlf", "#!/bin/sh\r"),
        ("crlf-env", "#!/usr/bin/env python3\r"),
    ] {
        script(name, first);
        fails(
            at,
            name,
            &["its lines end in CRLF", "save it with Unix line ends"],
        );
    }
    let place = Place::new();
    place.file("loop.sh", "while read l\r\ndo echo 1\r\ndone\r\n", 0o644);
    fails(
        place.path(),
        "loop.sh",
        &["its lines end in CRLF", "save it with Unix line ends"],
    );
}

/// The system looks for a relative interpreter where the bot runs: in its own folder.
#[cfg(target_os = "linux")]
#[test]
fn a_relative_interpreter_is_beside_the_bot() {
    let place = Place::new();
    let own = place.path().join("anna/own");
    fs::create_dir_all(&own).expect("a folder");
    copy_program(Path::new("/bin/sh"), &own.join("sh"));
    let random = fs::read_to_string("players/random.sh").expect("a player");
    let bot = random.replacen("/bin/sh", "/usr/bin/env -S own/sh", 1);
    place.file("anna/bot.sh", bot, 0o755);
    let run = Referee::new(["anna/bot.sh", "builtin:random", "--seed", "1"])
        .default_sandbox()
        .directory(place.path())
        .run();
    // Without a sandbox it runs where the referee was started.
    let is_confined = !run.stderr.contains("no sandbox works here");
    assert!(!is_confined || run.code == Some(0), "{run}");
    assert!(!run.stderr.contains("which does not exist"), "{run}");
}

#[cfg(target_os = "linux")]
#[test]
fn a_script_without_first_line() {
    let place = Place::new();
    let at = place.path();
    place.file("bot", "print(input())\n", 0o755);
    fails(
        at,
        "bot",
        &[
            "a script without a first line that names its interpreter",
            "#!/usr/bin/env python3",
        ],
    );
    place.file("bot.pl", "print <>;\n", 0o755);
    fails(
        at,
        "bot.pl",
        &[
            "a script without a first line",
            "#!/usr/bin/env perl",
            "\"perl bot.pl\"",
        ],
    );
}

#[test]
fn commands_that_are_not_there() {
    let at = common::bots();
    fails(
        &at,
        "nosuch-command script.sh",
        &["there is no command nosuch-command in PATH", "install it"],
    );
    fails_in(
        &at,
        "guile bot.scm",
        "guile bot.scm",
        &["no command guile in PATH", "apt install guile"],
        Some("/nonexistent"),
    );
}

/// A file with a known ending need not be executable.
#[test]
fn the_ending_names_the_interpreter() {
    let place = Place::new();
    place.file("bot.sh", "read -r request\necho Z\n", 0o644);
    let run = Referee::new(["--seed", "1", "--first", "1", "bot.sh", "builtin:random"])
        .directory(place.path())
        .run();
    assert_eq!(run.code, Some(0), "{run}");
    assert_eq!(
        run.stdout, "builtin:random wins: bot.sh forfeits (illegal-move).\n",
        "{run}"
    );
}

// Items 35 to 38

/// Escapes, a window title, a bidi override, and bytes that are no text.
const HOSTILE: &str = r"\0033[31mred\0033]0;title\0007\0342\0200\0256evil\0377\r\b!";

/// The same, as it is shown.
const HARMLESS: &str = r"\x1b[31mred\x1b]0;title\x07\u{202e}evil\xff\r\x08!";

/// Checks that a terminal shows the text as it is. The command that shows a fault again is
/// looked at by a test of its own.
#[track_caller]
fn harmless(run: &Run) {
    let (before, again) = run
        .stderr
        .split_once(REPRODUCE)
        .unwrap_or((&run.stderr, ""));
    let (_, after) = again.split_once(LAST_WORDS).unwrap_or_default();
    for text in [&run.stdout, before, after] {
        for line in text.split('\n') {
            assert!(!is_hostile(line), "{line:?}: {run}");
        }
    }
}

const LAST_WORDS: &str = "  the end of its stderr:";

const REPRODUCE: &str = "  reproduce: ";

fn is_hostile(line: &str) -> bool {
    let bidi = '\u{202a}'..='\u{202e}';
    line.chars().any(|c| c.is_control() || bidi.contains(&c))
}

/// A match of a bot against a good one; the bot opens.
fn opening(bot: impl AsRef<std::ffi::OsStr>) -> Referee {
    Referee::new(["--seed", "1", "--first", "1", "-vv"])
        .args([bot.as_ref(), "builtin:random".as_ref()])
        .recorded()
}

fn result(run: &Run) -> Value {
    assert_eq!(run.code, Some(0), "{run}");
    let [record] = &run.records()[..] else {
        panic!("{run}");
    };
    record["result"].clone()
}

#[test]
fn hostile_words() {
    let answer = format!(r"{HOSTILE}\n");
    let stderr = format!(r"!{HOSTILE}\n");
    let run = opening(shell_words::join(["./script.sh", &stderr, &answer])).run();
    harmless(&run);
    let result = result(&run);
    assert_eq!(result["answer"], HARMLESS, "{run}");
    assert_eq!(result["stderr"], format!("{HARMLESS}\n"), "{run}");
    assert!(
        run.stderr.contains(&format!("script.sh| {HARMLESS}\n")),
        "{run}"
    );
    assert!(
        run.stderr.contains(&format!("it answered `{HARMLESS}`")),
        "{run}"
    );
    assert!(run.stderr.contains(&format!("    {HARMLESS}\n")), "{run}");
    assert!(
        run.stdout.contains(&format!("<- script.sh: {HARMLESS} (")),
        "{run}"
    );
}

#[test]
fn hostile_second_lines_and_halves() {
    let long = "\u{202e}\u{1b}[2J".repeat(60);
    for (answer, reason) in [
        (format!(r"{HOSTILE}\n{HOSTILE}\n"), "extra-output"),
        (format!(r"{long}\n"), "malformed"),
        (format!(r"6 {HOSTILE}\n"), "not-utf8"),
        (r"- \0033\n".to_owned(), "illegal-move"),
    ] {
        let run = opening(shell_words::join(["./script.sh", &answer])).run();
        harmless(&run);
        assert_eq!(result(&run)["reason"], reason, "{run}");
    }
    let half = shell_words::join(["./ends.sh", "1", "\u{1b}[31m\u{202e}"]);
    let run = opening(half).run();
    harmless(&run);
    let words = r"after writing `\x1b[31m\u{202e}` without the end of the line";
    assert!(run.stderr.contains(words), "{run}");
}

/// Names of files, and the same as they are shown.
const NAMES: [(&str, &str); 10] = [
    ("\u{1b}[31mred.sh", r"\x1b[31mred.sh"),
    ("\u{1b}]0;title\u{7}.sh", r"\x1b]0;title\x07.sh"),
    ("\u{202e}hs.live", r"\u{202e}hs.live"),
    ("two\nlines\r.sh", r"two\nlines\r.sh"),
    ("<script>alert(1).sh", "<script>alert(1).sh"),
    ("=cmd().sh", "=cmd().sh"),
    ("\"quotes\" and 'quotes'.sh", "\"quotes\" and 'quotes'.sh"),
    ("a,b;c\td.sh", r"a,b;c\td.sh"),
    (".", "script.sh"),
    ("été ♔😀.sh", "été ♔😀.sh"),
];

#[test]
fn hostile_names() {
    for (name, shown) in NAMES {
        let place = Place::new();
        let path = if name == "." {
            // `..` is in the path, not in the name.
            common::bots().join("../bots/../bots/script.sh")
        } else {
            place.script(name)
        };
        let run = opening(&path).run();
        harmless(&run);
        let line = format!("builtin:random wins: {shown} forfeits (exited).");
        assert_eq!(run.last_line(), line, "{run}");
        assert_eq!(result(&run)["reason"], "exited", "{run}");
        let record = &run.records()[0];
        assert_eq!(record["bots"][0]["name"], shown, "{run}");
        // The command is the path as it is, so that it can be run again.
        let command = serde_json::json!([path.to_str().expect("UTF-8")]);
        assert_eq!(record["bots"][0]["command"], command, "{run}");
        // No file is called after a bot.
        let files = fs::read_dir(run.scratch()).expect("the scratch directory");
        let files: Vec<_> = files.flatten().map(|entry| entry.file_name()).collect();
        assert_eq!(files, [RECORDS], "{run}");
    }
}

#[test]
fn the_command_that_shows_a_fault_again_is_harmless() {
    const ANSWER: &str = "\u{1b}[31m\u{202e}Z";
    for (name, _) in NAMES {
        let place = Place::new();
        let path = place.script(format!("{name}.sh"));
        let bot = shell_words::join([path.to_str().expect("UTF-8"), &format!(r"{ANSWER}\n")]);
        let run = opening(bot).run();
        let mut lines = run.stderr.split('\n');
        let again = lines.find(|line| line.starts_with(REPRODUCE));
        assert!(again.is_some_and(|line| !is_hostile(line)), "{run}");
        assert_eq!(run.reproduce(), format!("{ANSWER}\n").as_bytes(), "{run}");
    }
}

#[test]
fn records_on_stdout_are_json_whatever_is_in_them() {
    let place = Place::new();
    let path = place.script("<script>\"\n'=cmd()\u{1b}.sh");
    let bot = shell_words::join([
        path.to_str().expect("UTF-8"),
        r"!</script><script>alert(1)</script>\n=cmd()\n",
        r"\042}]\n",
    ]);
    let run = Referee::new([
        "--seed",
        "1",
        "--first",
        "1",
        "--json",
        &bot,
        "builtin:random",
    ])
    .recorded()
    .run();
    assert_eq!(run.code, Some(0), "{run}");
    let records = run.printed_records();
    assert_eq!(records, run.records(), "{run}");
    let result = &records[0]["result"];
    assert_eq!(
        result["stderr"], "</script><script>alert(1)</script>\n=cmd()\n",
        "{run}"
    );
    assert_eq!(result["answer"], "\"}]", "{run}");
    assert_eq!(
        records[0]["bots"][0]["name"], r#"<script>"\n'=cmd()\x1b.sh"#,
        "{run}"
    );
    assert_eq!(
        records[0]["bots"][0]["command"][1],
        r"!</script><script>alert(1)</script>\n=cmd()\n"
    );
    // One line a record.
    assert_eq!(run.stdout.lines().count(), 1, "{run}");
}

#[test]
fn long_names() {
    let place = Place::new();
    let long = |end: &str| format!("{}{end}.sh", "n".repeat(240));
    let paths = [place.script(long("1")), place.script(long("2"))];
    let run = Referee::new(["--seed", "1", "--first", "1"])
        .args(&paths)
        .recorded()
        .run();
    // Where they are long, their ends tell names apart.
    let name = |end: &str| format!("{}…{}{end}.sh", "n".repeat(39), "n".repeat(16));
    let line = format!("{} wins: {} forfeits (exited).", name("2"), name("1"));
    assert_eq!(run.last_line(), line, "{run}");
    // No file system has such names.
    let name = "n".repeat(300);
    fails(place.path(), &name, &["there is no such file"]);
    let name = "n/".repeat(3000);
    fails(place.path(), &name, &["there is no such folder"]);
}

#[test]
fn the_same_name_twice() {
    let place = Place::new();
    let other = place.script("script.sh");
    for bots in [
        ["./script.sh", "./script.sh"],
        ["./script.sh", other.to_str().expect("UTF-8")],
    ] {
        let run = Referee::new(["--seed", "1", "--first", "2"])
            .args(bots)
            .recorded()
            .run();
        let line = "script.sh#1 wins: script.sh#2 forfeits (exited).";
        assert_eq!(run.stdout, format!("{line}\n"), "{run}");
        let record = &run.records()[0];
        assert_eq!(record["bots"][0]["name"], "script.sh#1", "{run}");
        assert_eq!(record["bots"][1]["name"], "script.sh#2", "{run}");
    }
}

#[test]
fn names_that_are_no_text() {
    let name = OsString::from_vec(b"\xff\x1b.sh".to_vec());
    let run = Referee::new([name, "builtin:random".into()]).run();
    assert_eq!(run.code, Some(2), "{run}");
    assert_eq!(run.stdout, "", "{run}");
    assert!(run.stderr.contains("UTF-8"), "{run}");
    harmless(&run);
}

#[test]
fn hostile_names_that_cannot_be_started() {
    let at = common::bots();
    for (name, shown) in [
        ("\u{1b}[31m.sh", r"\x1b[31m.sh"),
        ("./\u{202e}\u{7}.sh", r"./\u{202e}\x07.sh"),
        ("builtin:\u{1b}c", r"builtin:\x1bc"),
        ("\u{1b}c nosuch", r"\x1bc nosuch"),
    ] {
        let run = Referee::new([name, "builtin:random"]).directory(&at).run();
        harmless(&run);
        cannot_start(&run, shown, &[]);
    }
}
