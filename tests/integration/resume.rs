//! What changes a bot, for a tournament that is resumed, and what does not.

use std::fs;
use std::path::PathBuf;

use serde_json::Value;

use crate::common::files::executable;
use crate::common::{Referee, Run, records, schema};
use crate::report::data;

/// A folder with one bot, which reads another of its files.
struct BotFolder(tempfile::TempDir);

const HELPER: &str = "exec \"$REFEREE_BIN\" bot random\n";

impl BotFolder {
    fn new() -> Self {
        let folder = Self(tempfile::tempdir().expect("a directory"));
        fs::create_dir(folder.0.path().join("bot")).expect("a directory");
        executable(&folder.path("bot.sh"), "#!/bin/sh\n. ./helper.sh\n", 0o755);
        folder.write("helper.sh", HELPER);
        folder
    }

    fn folder(&self) -> PathBuf {
        self.0.path().join("bot")
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder().join(name)
    }

    fn write(&self, name: &str, text: &str) {
        let path = self.path(name);
        fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
        fs::write(path, text).expect("a file");
    }

    fn read(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).unwrap_or_default()
    }

    /// In the bot's folder.
    fn referee(&self, arguments: &[&str]) -> Referee {
        Referee::new(arguments).directory(self.folder())
    }

    fn begin(&self) -> Referee {
        self.referee(&BEGIN)
    }

    fn resume(&self, more: &[&str]) -> Run {
        self.referee(&["tournament", "--out", "cup"])
            .args(more)
            .run()
    }

    /// Takes games out of the journal, so that they are missing.
    fn keep_games(&self, count: usize) {
        let text = self.read("cup/games.jsonl");
        let kept: Vec<&str> = text.lines().take(count).collect();
        self.write("cup/games.jsonl", &(kept.join("\n") + "\n"));
    }

    fn games(&self) -> Vec<Value> {
        records(&self.read("cup/games.jsonl"))
    }
}

const BEGIN: [&str; 13] = [
    "tournament",
    "./bot.sh",
    "builtin:random",
    "--no-check",
    "--pairs",
    "2",
    "--seed",
    "1",
    "--out",
    "cup",
    "--sandbox",
    "none",
    "--jobs=1",
];

#[track_caller]
fn played(run: &Run) {
    assert_eq!(run.code, Some(0), "{run}");
}

#[test]
fn the_log_in_the_folder_of_a_bot_does_not_change_it() {
    for name in ["cup.log", "what happened"] {
        let bot = BotFolder::new();
        played(&bot.begin().args(["--log-file", name]).run());
        assert!(!bot.read(name).is_empty());
        bot.keep_games(2);
        played(&bot.resume(&[]));
        assert_eq!(bot.games().len(), 4);
        played(&bot.resume(&["--log-file", name]));
    }
}

/// A shell writes what the referee prints.
#[test]
fn what_the_shell_writes_does_not_change_a_bot() {
    for (script, is_linux) in [
        ("\"$0\" \"$@\" >out.txt 2>&1", false),
        ("\"$0\" \"$@\" 2>out.txt", false),
        // Elsewhere the file is there before its writer is known.
        (
            "{ until [ -e out.txt ]; do sleep 0.01; done; \"$0\" \"$@\"; } 2>&1 | tee -i out.txt",
            true,
        ),
        (
            "{ until [ -e out.txt ]; do sleep 0.01; done; \"$0\" \"$@\"; } 2>&1 | cat | cat >out.txt",
            true,
        ),
    ] {
        if is_linux && !cfg!(target_os = "linux") {
            continue;
        }
        let bot = BotFolder::new();
        for _ in 0..2 {
            played(&bot.begin().shell(script).run());
            let text = bot.read("out.txt");
            assert!(text.contains("all files are in cup"), "{script}: {text}");
        }
        played(&bot.resume(&[]));
        assert_eq!(bot.games().len(), 4);
    }
}

#[test]
fn what_comes_into_the_folder_later_does_not_change_a_bot() {
    let bot = BotFolder::new();
    played(&bot.begin().run());
    let match_ = [
        "./bot.sh",
        "builtin:random",
        "--record",
        "more.jsonl",
        "--sandbox",
        "none",
    ];
    played(&bot.referee(&match_).run());
    for name in [
        "notes.txt",
        ".bot.sh.swp",
        "bot.sh~",
        ".DS_Store",
        "table.csv",
        "plots/a.png",
        ".idea/x.xml",
    ] {
        bot.write(name, "x");
    }
    let run = bot.resume(&[]);
    played(&run);
    // Leftovers that are known are not worth a line.
    assert!(
        run.stderr.contains(
            "bot.sh: new in its folder, and not counted without --accept-changes: more.jsonl, notes.txt, plots, table.csv\n"
        ),
        "{run}"
    );
}

#[test]
fn what_the_referee_and_editors_write_again_does_not_change_a_bot() {
    let bot = BotFolder::new();
    let written = |bot: &BotFolder, number: &str| {
        let games = [
            "./bot.sh",
            "builtin:random",
            "--record",
            "kept.jsonl",
            "--sandbox",
            "none",
            "--seed",
            number,
        ];
        played(&bot.referee(&games).run());
        let page = ["report", "kept.jsonl", "--output", "kept.html"];
        played(&bot.referee(&page).run());
        for (format, name) in [("csv", "kept.csv"), ("json", "kept.json")] {
            let table = bot
                .referee(&["standings", "kept.jsonl", "--format", format])
                .run();
            played(&table);
            bot.write(name, &table.stdout);
        }
        for name in [
            ".helper.sh.swp",
            ".DS_Store",
            "helper.sh~",
            "train.log",
            "nohup.out",
        ] {
            bot.write(name, number);
        }
    };
    written(&bot, "1");
    played(&bot.begin().run());
    written(&bot, "2");
    played(&bot.resume(&[]));
    for name in [
        "kept.jsonl",
        "kept.html",
        "kept.csv",
        ".helper.sh.swp",
        "train.log",
    ] {
        fs::remove_file(bot.path(name)).expect("a file");
    }
    played(&bot.resume(&[]));
}

#[test]
fn a_change_names_the_files_and_can_be_accepted() {
    let bot = BotFolder::new();
    bot.write("data/weights", "1");
    bot.write("data/more", "1");
    played(&bot.begin().run());
    bot.keep_games(3);
    let began = bot.games();
    bot.write("helper.sh", &format!("# other\n{HELPER}"));
    bot.write("notes.txt", "x");
    fs::remove_file(bot.path("data/weights")).expect("a file");
    let refused = bot.resume(&[]);
    assert_eq!(refused.code, Some(2), "{refused}");
    let folder = bot.folder().canonicalize().expect("a path");
    let expected = format!(
        "bot.sh has been changed: in {} helper.sh has changed; data/weights is gone; notes.txt is new\n",
        folder.display()
    );
    assert!(refused.stderr.contains(&expected), "{expected}{refused}");
    assert!(
        refused.stderr.contains("--accept-changes goes on"),
        "{refused}"
    );
    assert_eq!(bot.games(), began);

    let accepted = bot.resume(&["--accept-changes"]);
    played(&accepted);
    let said =
        "files changed: bot.sh has played by other files since game p000002b, in 1 of 4 games";
    assert!(accepted.stdout.contains(said), "{accepted}");
    let games = bot.games();
    assert_eq!((&games[..3], games.len()), (&began[..], 4));
    schema::RECORD.check(&games[3]);
    let changed: Vec<Value> = games
        .iter()
        .map(|game| game["bots"][0]["changed"].clone())
        .collect();
    assert_eq!(changed[..3], [Value::Null, Value::Null, Value::Null]);
    assert_eq!(changed[3].as_str().map(str::len), Some(64), "{changed:?}");
    assert!(games[3]["bots"][1].get("changed").is_none());
    let standings: Value = serde_json::from_str(&bot.read("cup/standings.json")).expect("JSON");
    let expected = serde_json::json!([{"name": "bot.sh", "since": "p000002b", "games": 1}]);
    assert_eq!(standings["files_changed"], expected);
    for format in ["table", "markdown"] {
        let printed = bot.referee(&["standings", "cup", "--format", format]).run();
        assert!(printed.stdout.contains("p000002b"), "{format}: {printed}");
    }
    let page = bot
        .referee(&["report", "cup", "--output", "page.html"])
        .run();
    played(&page);
    assert_eq!(
        data(&bot.read("page.html"))["figures"]["changed"],
        serde_json::json!([said])
    );

    // The accepted files are those of the tournament now.
    bot.keep_games(2);
    played(&bot.resume(&[]));
    assert_eq!(bot.games()[3]["bots"][0]["changed"], changed[3]);
    bot.write("helper.sh", HELPER);
    let back = bot.resume(&[]);
    assert_eq!(back.code, Some(2), "{back}");
    assert!(back.stderr.contains("helper.sh has changed"), "{back}");
}

#[test]
fn a_file_in_the_folder_says_what_does_not_count() {
    let bot = BotFolder::new();
    bot.write(
        ".refereeignore",
        "# mine\n*.txt\n/out/\n!keep.txt\n!kept.log\n",
    );
    for name in ["a.txt", "keep.txt", "out/x", "kept.log", "other.log"] {
        bot.write(name, "1");
    }
    played(&bot.begin().run());
    for name in ["a.txt", "out/x", "other.log"] {
        bot.write(name, "2");
    }
    played(&bot.resume(&[]));
    for name in ["keep.txt", "kept.log"] {
        bot.write(name, "2");
        let run = bot.resume(&[]);
        assert_eq!(run.code, Some(2), "{run}");
        assert!(
            run.stderr.contains(&format!("{name} has changed\n")),
            "{run}"
        );
        bot.write(name, "1");
    }
    // A file that turned out not to belong to the bot.
    bot.write("keep.txt", "2");
    bot.write(".refereeignore", "*.txt\n/out/\n!kept.log\n");
    let run = bot.resume(&[]);
    played(&run);
    assert!(
        run.stderr.contains("bot.sh: no longer counted: keep.txt"),
        "{run}"
    );
    // Whatever the rules say, the program is the bot.
    bot.write(".refereeignore", "*\n");
    bot.write("bot.sh", "#!/bin/sh\n# other\n. ./helper.sh\n");
    let run = bot.resume(&[]);
    assert_eq!(run.code, Some(2), "{run}");
    assert!(run.stderr.contains("bot.sh has changed\n"), "{run}");
    bot.write(".refereeignore", "*.txt\n[a\n");
    let run = bot.resume(&[]);
    assert_eq!(run.code, Some(2), "{run}");
    assert!(
        run.stderr.contains(".refereeignore:2: invalid pattern"),
        "{run}"
    );
}

/// It was named by its file; what it speaks of is a part of it.
#[test]
fn another_bot_of_its_folder_does_not_change_a_bot() {
    let bot = BotFolder::new();
    let script = "#!/bin/sh\n. ./helper.sh\n";
    for name in ["ann.sh", "ben.sh"] {
        executable(&bot.path(name), script, 0o755);
    }
    let begin = BEGIN.map(|word| if word == "./bot.sh" { "./ann.sh" } else { word });
    played(&bot.referee(&begin).run());
    bot.keep_games(2);
    bot.write("ben.sh", "#!/bin/sh\nexit 1\n");
    executable(&bot.path("cem.sh"), script, 0o755);
    played(&bot.resume(&[]));
    bot.write("ann.sh", "#!/bin/sh\n# other\n. ./helper.sh\n");
    let run = bot.resume(&[]);
    assert_eq!(run.code, Some(2), "{run}");
    assert!(run.stderr.contains("ann.sh has changed\n"), "{run}");
}

#[test]
fn a_folder_without_lists_of_files_is_resumed_as_before() {
    let bot = BotFolder::new();
    played(&bot.begin().run());
    fs::remove_file(bot.path("cup/files.json")).expect("a file");
    played(&bot.resume(&[]));
    bot.write("helper.sh", &format!("# other\n{HELPER}"));
    let run = bot.resume(&[]);
    assert_eq!(run.code, Some(2), "{run}");
    assert!(
        run.stderr
            .contains("bot.sh has been changed: its files are not those"),
        "{run}"
    );
    played(&bot.resume(&["--accept-changes"]));
    played(&bot.resume(&[]));
    bot.write("cup/files.json", "{");
    let run = bot.resume(&[]);
    assert_eq!(run.code, Some(2), "{run}");
    assert!(
        run.stderr.contains("cup/files.json: not the lists"),
        "{run}"
    );
}

#[test]
fn a_comparison_and_a_shard_go_by_the_same_files() {
    let bot = BotFolder::new();
    let old = BotFolder::new();
    old.write("helper.sh", "exec \"$REFEREE_BIN\" bot greedy\n");
    let old_bot = old.path("bot.sh").to_string_lossy().into_owned();
    let compare = [
        "compare",
        "./bot.sh",
        &old_bot,
        "--no-check",
        "--pairs",
        "2",
        "--all",
        "--seed",
        "1",
        "--out",
        "c",
        "--sandbox",
        "none",
    ];
    let compare = |more: &[&str]| {
        let run = bot
            .referee(&compare)
            .args(more)
            .args(["--log-file", "what happened"])
            .run();
        bot.write("notes.txt", "x");
        run
    };
    for more in [
        &[][..],
        &[],
        &["--markdown", "comment.md"],
        &["--markdown", "comment.md"],
    ] {
        let run = compare(more);
        assert!(matches!(run.code, Some(3 | 4)), "{run}");
    }
    bot.write("helper.sh", &format!("# other\n{HELPER}"));
    let run = compare(&[]);
    assert_eq!(run.code, Some(2), "{run}");
    assert!(run.stderr.contains("helper.sh has changed"), "{run}");
    let run = compare(&["--accept-changes"]);
    assert!(matches!(run.code, Some(3 | 4)), "{run}");
    assert!(matches!(compare(&[]).code, Some(3 | 4)));

    let plan = [&["shard", "plan"], &BEGIN[1..12]].concat();
    played(&bot.referee(&plan).run());
    let shard = |number: &str, more: &[&str]| {
        bot.referee(&["shard", "run", "cup", "--shard", number])
            .args(more)
            .run()
    };
    played(&shard("1/2", &["--log-file", "of a shard"]));
    bot.write("notes 2.txt", "x");
    bot.write("helper.sh", HELPER);
    let run = shard("2/2", &[]);
    assert_eq!(run.code, Some(2), "{run}");
    played(&shard("2/2", &["--accept-changes"]));
    let merged = bot.referee(&["shard", "merge", "cup"]).run();
    played(&merged);
    assert!(
        merged
            .stdout
            .contains("since game p000002a, in 2 of 4 games"),
        "{merged}"
    );
}
