//! `referee check`, `referee new`, completions and the manual page.

use crate::common::Referee;
use serde_json::Value;

/// The report of `referee check --json`, and the exit status.
fn checked(bot: &str, more: &[&str]) -> (Value, Option<i32>) {
    let run = Referee::new(["check", "--json", bot]).args(more).run();
    let report =
        serde_json::from_str(run.stdout.trim()).unwrap_or_else(|error| panic!("{error} in {run}"));
    (report, run.code)
}

fn check<'a>(report: &'a Value, name: &str) -> &'a Value {
    let checks = report["checks"].as_array().expect("a list of checks");
    checks
        .iter()
        .find(|check| check["name"].as_str().is_some_and(|n| n.contains(name)))
        .unwrap_or_else(|| panic!("no check {name} in {report}"))
}

#[test]
fn a_good_bot_is_fit() {
    let (report, code) = checked("builtin:greedy", &[]);
    assert_eq!(code, Some(0), "{report}");
    assert_eq!(report["fit"], true);
    for check in report["checks"].as_array().expect("checks") {
        assert_eq!(check["ok"], true, "{check}");
    }
    assert!(report["times_ms"]["median"].is_number(), "{report}");
    assert!(report["times_ms"]["p99"].is_number(), "{report}");
    assert!(report["times_ms"]["worst"].is_number(), "{report}");
}

#[test]
fn weakness_is_advice_and_no_fault() {
    let (report, code) = checked("builtin:random", &["--rules", "squares"]);
    assert_eq!(code, Some(0), "{report}");
    let wins = check(&report, "takes a win");
    assert_eq!(wins["ok"], false, "{wins}");
    assert_eq!(wins["required"], false, "{wins}");
    assert!(wins["fix"].is_string(), "{wins}");
}

#[test]
fn the_second_game_is_checked_too() {
    let (report, code) = checked("builtin:greedy", &["--game", "four-in-a-row"]);
    assert_eq!(code, Some(0), "{report}");
    let names = report["checks"].to_string();
    assert!(!names.contains("piece set"), "{names}");
}

#[test]
fn a_silent_bot_is_not_asked_for_ever() {
    let short = ["--move-time", "200ms", "--start-time", "200ms"];
    let (report, code) = checked("./prints-nothing.sh", &short);
    assert_eq!(code, Some(3), "{report}");
    assert_eq!(report["fit"], false);
    let opening = check(&report, "answers the opening");
    assert_eq!(opening["ok"], false);
    assert!(opening["detail"].to_string().contains("nothing came"));
    assert!(
        opening["fix"].to_string().contains("print an answer"),
        "{opening}"
    );
    assert!(
        opening["reproduce"].to_string().contains("printf"),
        "{opening}"
    );
    assert_eq!(
        report["fix_first"]["check"], "answers the opening",
        "{report}"
    );
    assert_eq!(check(&report, "random positions")["ok"], Value::Null);
}

#[test]
fn a_buffered_answer_is_told_as_such() {
    let short = ["--move-time", "300ms", "--start-time", "300ms"];
    let (report, code) = checked("./answers-at-end.sh", &short);
    assert_eq!(code, Some(3), "{report}");
    let flushes = check(&report, "flushes");
    assert_eq!(flushes["ok"], false, "{report}");
    assert!(flushes["fix"].to_string().contains("flush"), "{flushes}");
}

/// What it says of itself, and of a fault in a check before it.
#[test]
fn extra_output_passes_no_check() {
    for (bot, failed) in [
        ("./second-line.sh after", "answers the opening"),
        ("./twice.sh at-once", "answers the opening"),
    ] {
        let (report, code) = checked(bot, &[]);
        assert_eq!(code, Some(3), "{report}");
        assert_eq!(check(&report, failed)["ok"], false, "{report}");
        let extra = check(&report, "nothing extra");
        assert_eq!(extra["ok"], false, "{report}");
        assert!(
            extra["fix"]
                .to_string()
                .contains("one line for each question"),
            "{extra}"
        );
        // A shell script often starts a program in another language.
        assert!(!extra["fix"].to_string().contains("echo"), "{extra}");
    }
}

#[test]
fn a_bot_that_crashes_is_told_of_its_crash() {
    let (report, code) = checked("./ends.sh 7", &[]);
    assert_eq!(code, Some(3), "{report}");
    let first = &report["fix_first"];
    assert!(
        first["fix"]
            .to_string()
            .contains("the error that stderr names"),
        "{report}"
    );
    assert!(
        first["detail"].to_string().contains("something went wrong"),
        "{report}"
    );
    assert!(
        first["reproduce"].to_string().contains("printf"),
        "{report}"
    );
    assert!(!report.to_string().contains("see above"), "{report}");
    assert!(
        !report.to_string().contains("protocol.md for what is legal"),
        "{report}"
    );
    // The process that has crashed is no longer there to end.
    assert_eq!(
        check(&report, "ends when its input ends")["ok"],
        true,
        "{report}"
    );
}

#[test]
fn a_bot_that_answers_once_is_told_to_go_on() {
    let (report, code) = checked("./exits-after.sh 1", &[]);
    assert_eq!(code, Some(3), "{report}");
    let first = &report["fix_first"];
    assert!(
        first["fix"]
            .to_string()
            .contains("keep reading until the input ends"),
        "{report}"
    );
    assert!(
        !report
            .to_string()
            .contains("keep nothing from line to line"),
        "{report}"
    );
}

/// A bot that thinks long is asked less, and what was not asked is named; it is fit all the same.
#[test]
fn a_check_is_bounded() {
    let (place, bot) = talker("echo >>\"$SCRATCH/asked\"; sleep 0.5");
    let table = place
        .path()
        .join("checks.csv")
        .to_string_lossy()
        .into_owned();
    let run = Referee::new(["check", &bot, "--out", &table]).run();
    assert_eq!(run.code, Some(0), "{run}");
    let thought = "\nIt thought for 10 s. Asked only: ";
    assert!(run.stdout.contains(thought), "{run}");
    assert!(run.stdout.contains("--thorough asks all\n"), "{run}");
    assert_eq!(run.last_line(), "bot.sh passes the entry check.", "{run}");
    // Ten seconds of half a second each, on any machine at most.
    let asked = run.file("asked").lines().count();
    assert!((5..=21).contains(&asked), "{asked}\n{run}");
    let table = std::fs::read_to_string(table).expect("a table");
    assert!(table.contains(" of 200); "), "{table}");
}

#[test]
fn programs_are_told_what_was_not_asked() {
    let (report, code) = checked("./sleeps.sh 1", &[]);
    assert_eq!(code, Some(0), "{report}");
    let asked_only = report["asked_only"].as_array().expect("a list");
    let random = asked_only
        .iter()
        .find(|one| one["check"] == "random positions, all answers legal");
    let random = random.unwrap_or_else(|| panic!("{report}"));
    assert_eq!(random["of"], 200, "{report}");
    assert!(random["asked"].as_u64() < Some(10), "{report}");
    let advice = asked_only
        .iter()
        .find(|one| one["check"] == "REFEREE_SEED makes it repeatable");
    assert!(advice.is_some(), "{report}");
}

/// Those at the end of a game, in the middle of one, and in the second one of a process.
#[test]
fn the_faults_of_a_bot_that_thinks_long_are_found_within_the_budget() {
    for (wrong, failed) in [
        (
            "case $line in *.*.*) ;; *) echo no; continue ;; esac",
            "the last turn",
        ),
        (
            "case $line in *-) ;; *.*.*.*.*.*) echo no; continue ;; esac",
            "in the middle",
        ),
        ("n=$((n + 1)); [ $n -lt 8 ] || { echo no; continue; }", ""),
    ] {
        let (_place, bot) = talker(&format!("sleep 0.5; {wrong}"));
        let (report, code) = checked(&bot, &[]);
        assert_eq!(code, Some(3), "{report}");
        if !failed.is_empty() {
            assert_eq!(check(&report, failed)["ok"], false, "{report}");
        }
    }
}

#[test]
fn a_folder_is_checked_bot_by_bot() {
    let place = tempfile::tempdir().expect("a directory");
    let class = place.path().join("class");
    for (student, program) in [
        ("anna", "exec \"$REFEREE_BIN\" bot greedy"),
        ("ben", "read -r line; echo 1"),
    ] {
        let folder = class.join(student);
        std::fs::create_dir_all(&folder).expect("a folder");
        std::fs::write(folder.join("bot.sh"), format!("#!/bin/sh\n{program}\n")).expect("a file");
    }
    let dora = class.join("dora");
    std::fs::create_dir_all(&dora).expect("a folder");
    for file in ["one.sh", "two.sh"] {
        std::fs::write(dora.join(file), "#!/bin/sh\n").expect("a file");
    }
    let table = place.path().join("checks.csv");
    let folder = class.to_string_lossy().into_owned();
    let csv = table.to_string_lossy().into_owned();
    let checked = ["check", &folder, "--sandbox", "none", "--out", &csv];
    let one = Referee::new(checked).run();
    assert_eq!(one.code, Some(2), "{one}");
    assert!(
        one.stderr.contains("there is no program in this folder")
            && one.stderr.contains("referee check --each "),
        "{one}"
    );
    let run = Referee::new(checked).args(["--each"]).run();
    assert_eq!(run.code, Some(3), "{run}");
    let lines: Vec<&str> = run.stdout.lines().collect();
    assert!(lines.contains(&"✓ anna: fit"), "{run}");
    assert!(
        run.stdout
            .contains("✗ ben: answers the opening: illegal-move: "),
        "{run}"
    );
    assert!(
        run.stdout
            .contains("✗ dora: there are several programs in this folder"),
        "{run}"
    );
    assert_eq!(run.last_line(), "1 of 3 pass the entry check.", "{run}");
    let written = std::fs::read_to_string(&table).expect("a table");
    assert!(
        written.starts_with("bot,fit,check,problem,fix,"),
        "{written}"
    );
    assert!(written.contains("\nanna,yes,"), "{written}");
    assert!(
        written.contains("\nben,no,answers the opening,\"illegal-move: "),
        "{written}"
    );
    assert!(written.contains("\ndora,no,starts,"), "{written}");

    let run = Referee::new(["check", "--each", &folder, "--sandbox", "none", "--json"]).run();
    assert_eq!(run.code, Some(3), "{run}");
    let bots: Vec<Value> = run
        .stdout
        .lines()
        .map(|line| serde_json::from_str(line).expect("JSON"))
        .collect();
    let fit = |name: &str| {
        bots.iter()
            .find(|bot| bot["bot"] == name)
            .map(|bot| bot["fit"].clone())
    };
    assert_eq!(fit("anna"), Some(true.into()), "{run}");
    assert_eq!(fit("ben"), Some(false.into()), "{run}");
    assert_eq!(fit("dora"), Some(false.into()), "{run}");
}

#[test]
fn the_text_is_a_line_a_check() {
    let run = Referee::new(["check", "builtin:random"]).run();
    assert_eq!(run.code, Some(0), "{run}");
    assert!(run.stdout.starts_with("✓ starts\n"), "{run}");
    assert!(
        run.stdout.contains("! takes a win that is there (advice)"),
        "{run}"
    );
    assert_eq!(
        run.last_line(),
        "builtin:random passes the entry check.",
        "{run}"
    );
}

#[test]
fn what_cannot_be_checked_is_wrong_usage() {
    for bot in ["human", "./nosuch.py", "builtin:nosuch", ""] {
        let run = Referee::new(["check", bot]).run();
        assert_eq!(run.code, Some(2), "{run}");
        assert_eq!(run.stdout, "", "{run}");
    }
}

#[test]
fn a_starter_bot_is_written_once() {
    let place = tempfile::tempdir().expect("a directory");
    let new = |arguments: &[&str]| {
        Referee::new(["new"])
            .args(arguments)
            .directory(place.path())
            .run()
    };
    let run = new(&["sh"]);
    assert_eq!(run.code, Some(0), "{run}");
    assert!(
        run.stdout.contains("referee -v ./mybot.sh builtin:greedy"),
        "{run}"
    );

    let played = Referee::new(["./mybot.sh", "builtin:random"])
        .directory(place.path())
        .run();
    assert_eq!(played.code, Some(0), "{played}");
    assert!(!played.stdout.contains("forfeits"), "{played}");

    std::fs::write(place.path().join("mybot.sh"), "mine").expect("a file");
    let again = new(&["sh"]);
    assert_eq!(again.code, Some(2), "{again}");
    assert!(again.stderr.contains("exists"), "{again}");
    let kept = std::fs::read_to_string(place.path().join("mybot.sh")).expect("a file");
    assert_eq!(kept, "mine");

    let named = new(&["Rust", "strategy.rs"]);
    assert_eq!(named.code, Some(0), "{named}");
    assert!(named.stdout.contains("rustc"), "{named}");
    assert!(place.path().join("strategy.rs").exists());
}

/// Every starter bears the name of its file, inside, too.
#[test]
fn a_starter_bot_has_the_name_of_its_file() {
    let place = tempfile::tempdir().expect("a directory");
    for (language, file, has, has_not) in [
        ("java", None, "public class MyBot {", "class Random"),
        ("java", Some("Anna.java"), "new Anna(", "Random.java"),
        ("python", Some("anna.py"), "anna.py", "random.py"),
        (
            "c",
            Some("anna.c"),
            "cc -O2 -o anna.c.out anna.c",
            "random-c",
        ),
    ] {
        let run = Referee::new(["new", language])
            .args(file)
            .directory(place.path())
            .run();
        assert_eq!(run.code, Some(0), "{run}");
        let written = place.path().join(file.unwrap_or("MyBot.java"));
        let text = std::fs::read_to_string(written).expect("a starter");
        assert!(text.contains(has), "{text}");
        assert!(!text.contains(has_not), "{text}");
    }
    let java = std::fs::read_to_string(place.path().join("Anna.java")).expect("a starter");
    assert!(java.contains("java.util.Random"), "{java}");
}

/// A compiler, and `java`, know a language by the ending of the file; a script is found by its first line.
#[test]
fn a_starter_bot_can_be_named_without_an_ending() {
    let place = tempfile::tempdir().expect("a directory");
    for (language, name, written, command) in [
        ("haskell", "anna", "anna.hs", "-o ./anna.hs.out ./anna.hs\n"),
        (
            "haskell",
            "b/my bot",
            "b/my bot.hs",
            "-o 'b/my bot.hs.out' 'b/my bot.hs'",
        ),
        (
            "c++",
            "carla.cc",
            "carla.cc",
            "c++ -O2 -o ./carla.cc.out ./carla.cc\n",
        ),
        ("sh", "dora", "dora", "check ./dora\n"),
    ] {
        std::fs::create_dir_all(place.path().join("b")).expect("a directory");
        let run = Referee::new(["new", language, name])
            .directory(place.path())
            .run();
        assert_eq!(run.code, Some(0), "{run}");
        assert!(place.path().join(written).exists(), "{run}");
        let wrote = format!("wrote {written}\n");
        assert!(run.stdout.starts_with(&wrote), "{run}");
        assert!(run.stdout.contains(command), "{run}");
    }
}

/// One name of a language, with a file's extension or without, or with no name at all.
#[test]
fn a_starter_is_a_file_or_a_folder_by_its_name() {
    let place = tempfile::tempdir().expect("a directory");
    for (words, written) in [
        (&["js", "bot.js"][..], "bot.js"),
        (&["javascript", "bot"], "bot/bot.js"),
        (&["typescript"], "mybot/bot.ts"),
        (&["TS", "anna"], "anna/bot.ts"),
        (&["python"], "mybot.py"),
    ] {
        let run = Referee::new(["new"])
            .args(words)
            .directory(place.path())
            .run();
        assert_eq!(run.code, Some(0), "{run}");
        assert!(place.path().join(written).is_file(), "{written}: {run}");
    }
    for (words, message) in [
        (
            &["ts", "my bot.ts"][..],
            "referee: my bot.ts: a bot in typescript is a folder; give a name without an extension: 'my bot'\n",
        ),
        (
            &["typscript"],
            "referee: there is no starter bot in `typscript`; did you mean typescript?\n",
        ),
    ] {
        let run = Referee::new(["new"])
            .args(words)
            .directory(place.path())
            .run();
        assert_eq!((run.code, &*run.stderr), (Some(2), message), "{run}");
    }
}

#[test]
fn a_starter_of_several_files_is_a_folder() {
    let place = tempfile::tempdir().expect("a directory");
    let new = |language: &str, name: &str| {
        let referee = Referee::new(["new", language, name]);
        referee.directory(place.path()).run()
    };
    for language in [
        "c",
        "cpp",
        "go",
        "java",
        "js",
        "python",
        "rust",
        "typescript",
    ] {
        let run = new(language, language);
        assert_eq!(run.code, Some(0), "{run}");
        assert!(
            run.stdout
                .contains(&format!("referee check ./{language}\n")),
            "{run}"
        );
        let readme = std::fs::read_to_string(place.path().join(language).join("README.md"));
        let readme = readme.expect("a file");
        assert!(
            readme.contains(&format!("`referee check ./{language} --watch`")),
            "{readme}"
        );
        assert_eq!(readme.lines().count(), 5, "{readme}");
        let again = new(language, language);
        assert_eq!(again.code, Some(2), "{again}");
    }
}

#[test]
fn languages_are_listed() {
    let run = Referee::new(["new"]).run();
    assert_eq!(run.code, Some(0), "{run}");
    assert!(run.stdout.lines().count() >= 14, "{run}");
    let unknown = Referee::new(["new", "cobol"]).run();
    assert_eq!(unknown.code, Some(2), "{unknown}");
    assert!(unknown.stderr.contains("python"), "{unknown}");
}

#[test]
fn completions_and_the_manual_page() {
    for shell in ["bash", "zsh", "fish"] {
        let run = Referee::new(["print", "completions", shell]).run();
        assert_eq!(run.code, Some(0), "{run}");
        assert!(run.stdout.contains("move-time"), "{shell}");
    }
    let run = Referee::new(["print", "man"]).run();
    assert_eq!(run.code, Some(0), "{run}");
    assert!(run.stdout.contains(".TH referee 1"), "{run}");
    let version = concat!("\"referee ", env!("CARGO_PKG_VERSION"), "\"");
    assert!(run.stdout.contains(version), "{run}");
    let run = Referee::new(["print", "man", "tournament"]).run();
    assert_eq!(run.code, Some(0), "{run}");
    assert!(
        run.stdout.contains(".TH referee-tournament 1") && run.stdout.contains(version),
        "{run}"
    );
    assert!(run.stdout.contains("bench\\-after"), "{run}");
    let run = Referee::new(["print", "man", "turnament"]).run();
    assert_eq!(run.code, Some(2), "{run}");
    assert!(
        run.stderr.contains("turnament") && run.stderr.contains("did you mean tournament?"),
        "{run}"
    );
}

/// A bot in several files: one that its name, its folder's `referee.toml` or its permission tells from the rest.
#[test]
fn a_folder_with_modules_is_one_bot() {
    let place = tempfile::tempdir().expect("a folder");
    let bot = |helper: &str| {
        let random = std::fs::read_to_string("players/random.sh").expect("a player");
        random.replacen('\n', &format!("\n. \"${{0%/*}}/{helper}\"\n"), 1)
    };
    let files = [
        ("anna/bot.sh", bot("helper.sh"), 0o755),
        ("anna/helper.sh", "x=1\n".to_owned(), 0o644),
        ("ben/start.sh", bot("lib/helper.sh"), 0o755),
        ("ben/other.sh", "exit 1\n".to_owned(), 0o755),
        ("ben/lib/helper.sh", "x=1\n".to_owned(), 0o644),
        (
            "ben/referee.toml",
            "program = \"start.sh\"\n".to_owned(),
            0o644,
        ),
        ("carla/mine.sh", bot("module.sh"), 0o755),
        ("carla/module.sh", "x=1\n".to_owned(), 0o644),
        ("emil/a.sh", "exit 1\n".to_owned(), 0o755),
        (
            "emil/referee.toml",
            "program = \"../anna/bot.sh\"\n".to_owned(),
            0o644,
        ),
    ];
    for (path, text, mode) in &files {
        let path = place.path().join(path);
        std::fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
        crate::common::files::executable(&path, text, *mode);
    }
    let class = place.path().to_string_lossy().into_owned();
    let run = Referee::new(["check", "--each", &class]).run();
    let lines: Vec<&str> = run.stdout.lines().collect();
    for name in ["anna", "ben", "carla"] {
        assert!(lines.contains(&&*format!("✓ {name}: fit")), "{run}");
    }
    let problem = "it names ";
    assert!(
        run.stdout
            .lines()
            .any(|line| line.starts_with("✗ emil") && line.contains(problem)),
        "{run}"
    );
    // As the student checks it.
    for name in ["anna", "ben"] {
        let run = Referee::new(["check", &format!("{class}/{name}")]).run();
        assert_eq!(run.code, Some(0), "{run}");
        assert_eq!(
            run.last_line(),
            format!("{name} passes the entry check."),
            "{run}"
        );
    }
}

/// A starter cites nothing that is not there, and a bot in Python may have modules beside it.
#[test]
fn starters_stand_alone() {
    let place = tempfile::tempdir().expect("a folder");
    for (language, file) in [("python", "bot.py"), ("c", "bot.c"), ("guile", "bot.scm")] {
        let path = place.path().join(file);
        let path = path.to_string_lossy();
        let run = Referee::new(["new", language, &path]).run();
        assert_eq!(run.code, Some(0), "{run}");
        let text = std::fs::read_to_string(&*path).expect("a starter");
        assert!(
            !text.contains("protocol.md") && !text.contains("sys.path"),
            "{text}"
        );
    }
}

/// A bot of this text, and a folder around it.
fn script(name: &str, text: &str) -> (tempfile::TempDir, String) {
    let place = tempfile::tempdir().expect("a folder");
    let path = place.path().join(name);
    crate::common::files::executable(&path, text, 0o755);
    let path = path.to_string_lossy().into_owned();
    (place, path)
}

/// A bot that answers well, but runs this before each answer.
fn talker(before: &str) -> (tempfile::TempDir, String) {
    let lib = std::fs::read_to_string("tests/bots/lib.sh").expect("a fixture");
    let text = format!("{lib}\nwhile read -r line; do {before}; answer \"$line\"; done\n");
    script("bot.sh", &format!("#!/bin/sh\n{text}"))
}

/// One fault is one paragraph, with the number of checks that it failed.
#[test]
fn the_same_fault_is_told_once() {
    let answers = "case $line in .*-) echo - A ;; *) echo 0 A ;; esac";
    let (_place, bot) = script(
        "bot.sh",
        &format!("#!/bin/sh\nwhile read -r line; do {answers}; done\n"),
    );
    let run = Referee::new(["check", &bot]).run();
    assert_eq!(run.code, Some(3), "{run}");
    assert_eq!(run.stdout.matches("there is no cell 0").count(), 1, "{run}");
    assert!(
        run.stdout.contains("bot.sh fails the entry check.\n"),
        "{run}"
    );
    let first = "Fix first: illegal-move (answers a turn in the middle).\n    fix: cells are counted from 1";
    assert!(run.stdout.contains(first), "{run}");
    let more = "\nThe same faults in 8 more checks.\n";
    assert!(run.stdout.contains(more), "{run}");
    assert!(run.stdout.contains("\n    see it again: printf"), "{run}");
}

/// A bot that is late is not waited for in every check.
#[test]
fn late_answers_end_the_check() {
    let (_place, bot) = talker("n=$((n + 1)); [ $n -lt 2 ] || sleep 9");
    let times = ["--move-time", "300ms", "--start-time", "2s"];
    let (report, code) = checked(&bot, &times);
    assert_eq!(code, Some(3), "{report}");
    let late = &check(&report, "an opening with pieces")["detail"];
    assert!(
        late.to_string().contains("had answered one question"),
        "{report}"
    );
    assert_eq!(check(&report, "many games")["ok"], Value::Null, "{report}");
    for words in ["`referee check`", "flush after"] {
        assert!(!report.to_string().contains(words), "{report}");
    }
}

#[test]
fn time_per_move_counts_late_answers() {
    let (_place, bot) = talker("n=$((n + 1)); [ $n != 3 ] || sleep 2");
    let (report, _) = checked(&bot, &["--move-time", "500ms"]);
    let times = check(&report, "time per move");
    assert_eq!(times["ok"], false, "{report}");
    assert_eq!(times["required"], true, "{report}");
    assert!(
        times["detail"].to_string().contains("not answered in time"),
        "{times}"
    );
}

/// What depends on the questions before is said to do so.
#[test]
fn a_bot_that_remembers_is_told_so() {
    let (_place, bot) = talker(": ${first:=$line}; line=$first");
    let (report, code) = checked(&bot, &["--move-time", "2s"]);
    assert_eq!(code, Some(3), "{report}");
    let first = &report["fix_first"];
    let words = "a fresh process that is asked this alone does not do it";
    assert!(first["detail"].to_string().contains(words), "{first}");
    assert!(
        first["fix"]
            .to_string()
            .contains("keep nothing from line to line"),
        "{first}"
    );
}

/// From outside chance and a clock look alike: the advice names both.
#[test]
fn a_bot_that_answers_otherwise_the_next_time_is_told_of_seed_and_clock() {
    let aloud = include_str!("../bots/thinks-aloud.sh");
    let pieces = "A B C D E F G H I J K L M N O P";
    let backwards: String = pieces.chars().rev().collect();
    let place = tempfile::tempdir().expect("a folder");
    let count = place.path().join("count").to_string_lossy().into_owned();
    // Every other process begins with the last piece.
    let order = format!(
        "echo >>'{count}'\norder='{pieces}'\n[ $(($(wc -l <'{count}') % 2)) = 0 ] || order='{backwards}'\n"
    );
    let text = aloud
        .replace(&format!("in {pieces};"), "in $order;")
        .replace("answers=0\n", &format!("answers=0\n{order}"));
    let (_folder, bot) = script("other.sh", &text);
    let (report, code) = checked(&bot, &["--sandbox", "none"]);
    assert_eq!(code, Some(0), "{report}");
    let check = check(&report, "REFEREE_SEED makes it repeatable");
    assert_eq!(check["ok"], false, "{check}");
    let fix = check["fix"].as_str().expect("a text");
    assert!(
        fix.contains("REFEREE_SEED") && fix.contains("clock"),
        "{check}"
    );
}

/// Advice has a position; a custom piece set is no business of a bot that is not asked about one.
#[test]
fn advice_has_a_position() {
    let (report, _) = checked("builtin:random", &[]);
    let wins = check(&report, "takes a win");
    assert!(wins["detail"].to_string().contains("asked `"), "{wins}");
    assert!(wins["reproduce"].to_string().contains("printf"), "{wins}");
    assert!(!report.to_string().contains("piece set"), "{report}");
    let greek = ["--pieces", "../../sets/greek.csv"];
    let (report, code) = checked("./steady.sh", &greek);
    assert_eq!(code, Some(3), "{report}");
    let fix = report["fix_first"]["fix"].to_string();
    assert!(fix.contains("REFEREE_PIECES"), "{report}");
}

/// As in a league; commands name the bot as it was given.
#[test]
fn sources_are_built_first() {
    let build = "cp bot.txt bot && chmod +x bot";
    let place = tempfile::tempdir().expect("a folder");
    let folder = place.path().join("anna");
    std::fs::create_dir(&folder).expect("a folder");
    let random = std::fs::read_to_string("players/random.sh").expect("a player");
    for (file, text) in [
        ("bot.txt", random.as_str()),
        (
            "referee.toml",
            &format!("program = \"bot\"\nbuild = \"{build}\"\n"),
        ),
    ] {
        std::fs::write(folder.join(file), text).expect("a file");
    }
    let anna = folder.to_string_lossy().into_owned();
    let (report, code) = checked(&anna, &["--sandbox", "none"]);
    assert_eq!(code, Some(0), "{report}");
    assert_eq!(report["bot"], "anna", "{report}");
    let again = check(&report, "takes a win")["reproduce"].to_string();
    let asks = again.contains(" | referee ask --seed ");
    assert!(asks && again.ends_with(&format!(" {anna}\"")), "{again}");
    assert!(!folder.join("bot").exists());

    let wrong = "program = \"bot\"\nbuild = \"echo wrong; false\"\n";
    std::fs::write(folder.join("referee.toml"), wrong).expect("a file");
    std::fs::create_dir(place.path().join("ben")).expect("a folder");
    std::fs::write(place.path().join("ben/bot.c"), "wrong").expect("a file");
    let class = place.path().to_string_lossy().into_owned();
    let run = Referee::new(["check", "--each", &class, "--sandbox", "none"]).run();
    assert!(run.stdout.contains("✗ ben: "), "{run}");
    assert!(
        run.stdout
            .contains("✗ anna: referee.toml cannot be built: wrong; "),
        "{run}"
    );
}

#[test]
fn bots_are_named_by_what_tells_them_apart() {
    let (place, bot) = script("bot.sh", "exit 1\n");
    for (command, name) in [
        (format!("sh '{bot}'"), "bot.sh"),
        (format!("nice sh '{bot}'"), "bot.sh"),
        ("sh -x".to_owned(), "sh -x"),
    ] {
        let run = Referee::new(["check", "--move-time", "1s", "--start-time", "1s", &command])
            .directory(place.path())
            .run();
        assert!(
            run.stdout
                .contains(&format!("{name} fails the entry check")),
            "{run}"
        );
    }
    let bots = ["./sleeps.sh 0", "./sleeps.sh 0.0"];
    let limits = ["--move-time", "1s", "--start-time", "1s"];
    let run = Referee::new(bots).args(limits).run();
    assert!(
        run.stdout.contains("sleeps.sh 0 ") || run.stdout.contains("sleeps.sh 0.0 "),
        "{run}"
    );
}

#[test]
fn a_bot_that_reads_on_without_an_answer_is_told_from_one_that_waits() {
    let short = ["--move-time", "200ms", "--start-time", "2s"];
    let told = |text: &str| {
        let (_folder, bot) = script("silent.sh", text);
        let (report, _) = checked(&bot, &short);
        let first = &report["fix_first"];
        [&first["detail"], &first["fix"]].map(|words| words.as_str().unwrap_or("").to_owned())
    };
    // As a program does that catches its error and goes on.
    let [what, fix] = told("#!/bin/sh\nwhile read -r line; do :; done\n");
    assert!(what.contains("waited for the next line"), "{what}");
    assert!(fix.contains("what catches errors may hide one"), "{fix}");
    let [what, fix] = told("#!/bin/sh\nread -r line\nexec sleep 30\n");
    assert!(what.contains("such as in a sleep"), "{what}");
    assert!(!fix.contains("catches errors"), "{fix}");
}

#[test]
fn a_score_out_of_range_is_named() {
    let aloud = include_str!("../bots/thinks-aloud.sh");
    for (said, expected) in [
        ("score 35", Some("`info score 35`")),
        ("score +inf", Some("`info score +inf`")),
        ("score -0.5", None),
    ] {
        let text = aloud.replace("info depth 1", &format!("info {said}"));
        let (_folder, bot) = script("aloud.sh", &text);
        let (report, code) = checked(&bot, &[]);
        assert_eq!(code, Some(0), "{report}");
        let check = check(&report, "info score");
        assert_eq!(check["ok"], expected.is_none(), "{check}");
        let detail = check["detail"].as_str().expect("a text");
        assert!(detail.contains(expected.unwrap_or("scores")), "{detail}");
    }
    let (_folder, bot) = script("aloud.sh", aloud);
    let (report, _) = checked(&bot, &[]);
    assert!(!report.to_string().contains("info score"), "{report}");
}

#[cfg(unix)]
#[test]
fn a_watched_bot_is_checked_again_when_it_changes() {
    use std::time::{Duration, Instant};

    let answers = "#!/bin/sh\nwhile read -r line; do echo no answer; done\n";
    let (folder, bot) = script("bot.sh", answers);
    let printed = folder
        .path()
        .parent()
        .expect("a folder")
        .join(format!("{}.out", std::process::id()));
    let output = std::fs::File::create(&printed).expect("a file");
    let mut referee = crate::common::command(env!("CARGO_BIN_EXE_referee"));
    referee.args(["check", "--watch", &bot]).stdout(output);
    let mut referee = referee
        .stderr(std::process::Stdio::null())
        .spawn()
        .expect("a program");
    let said = |wanted: &str| {
        let begun = Instant::now();
        while begun.elapsed() < crate::common::hangs::HANGS {
            let text = std::fs::read_to_string(&printed).expect("a text");
            if text.contains(wanted) {
                return true;
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        false
    };
    let first = said("Fix first: malformed");
    let changed = answers.replace("echo no answer", "exit 3");
    std::thread::sleep(Duration::from_millis(50));
    std::fs::write(&bot, changed).expect("a file");
    let second = said("Fix first: exited");
    let pid = rustix::process::Pid::from_child(&referee);
    rustix::process::kill_process(pid, rustix::process::Signal::INT).expect("a signal");
    let status = referee.wait().expect("a status");
    std::fs::remove_file(&printed).expect("a file");
    assert!(first && second, "{first} {second}");
    assert_eq!(status.code(), Some(130));
}
