//! A bot in several files, built or not, is the same bot in every command.

use std::fs;
use std::path::Path;

use tempfile::TempDir;

use crate::common::files::executable;
use crate::common::{Referee, Run};

/// A bot that its manifest builds of two files; a build leaves `note` in the folder of what was built.
fn built_bot(place: &TempDir, name: &str) {
    let random = fs::read_to_string("players/random.sh").expect("a player");
    let bot = random.replacen('\n', "\n. \"${0%/*}/helper.sh\"\n", 1);
    let folder = place.path().join(name);
    fs::create_dir_all(folder.join("parts")).expect("a folder");
    executable(&folder.join("parts/bot.txt"), &bot, 0o644);
    executable(&folder.join("helper.sh"), "x=1\n", 0o644);
    let manifest = "program = \"bot\"\nbuild = \"cp parts/bot.txt bot && chmod +x bot\"\n";
    executable(&folder.join("referee.toml"), manifest, 0o644);
}

fn run(place: &TempDir, words: &[&str]) -> Run {
    let run = Referee::new(words).directory(place.path()).run();
    assert_eq!(run.code, Some(0), "{words:?}: {run}");
    run
}

/// Without a sandbox.
fn tried(place: &TempDir, words: &[&str]) -> Run {
    let referee = Referee::new(words).args(["--sandbox", "none"]);
    referee.directory(place.path()).run()
}

#[test]
fn a_folder_is_the_same_bot_in_every_command() {
    let place = tempfile::tempdir().expect("a folder");
    built_bot(&place, "mine");
    built_bot(&place, "old");
    executable(&place.path().join("old/helper.sh"), "x=2\n", 0o644);
    let none = ["--sandbox", "none"];
    let of = |words: &[&str]| run(&place, &[words, &none].concat());
    let played = of(&[
        "-n",
        "2",
        "--seed",
        "3",
        "mine",
        "builtin:random",
        "--record",
        "games.jsonl",
    ]);
    assert!(played.stdout.contains("mine"), "{played}");
    let records = fs::read_to_string(place.path().join("games.jsonl")).expect("records");
    assert!(records.contains("\"command\":[\"mine\"]"), "{records}");
    of(&["check", "mine"]);
    // Its blunders are still there: 3.
    let again = Referee::new(["rerun", "games.jsonl", "mine"])
        .args(none)
        .directory(place.path())
        .run();
    assert!(matches!(again.code, Some(0 | 3)), "{again}");
    // It finds what a bot at random gives away: 3.
    let hunted = Referee::new(["hunt", "mine", "--time", "1s", "--seed", "1"])
        .args(none)
        .directory(place.path())
        .run();
    assert!(matches!(hunted.code, Some(0 | 3)), "{hunted}");
    of(&["puzzles", "run", "builtin:quarto", "mine"]);
    of(&[
        "tournament",
        "mine",
        "old",
        "builtin:random",
        "--pairs",
        "1",
        "--seed",
        "1",
        "--out",
        "cup",
    ]);
    let compared = Referee::new(["compare", "mine", "old", "--pairs", "2", "--seed", "1"])
        .args(none)
        .directory(place.path())
        .run();
    assert!(matches!(compared.code, Some(0 | 3 | 4)), "{compared}");
    assert!(compared.stdout.contains("mine"), "{compared}");
    // The folders of the bots are as they were.
    assert!(!place.path().join("mine/bot").exists());
}

/// A bot is its sources: what a compiler makes of them may differ each time.
#[test]
fn a_bot_that_is_built_anew_is_the_same_bot() {
    let place = tempfile::tempdir().expect("a folder");
    built_bot(&place, "mine");
    let folder = place.path().join("mine");
    let manifest =
        "program = \"bot\"\nbuild = \"cp parts/bot.txt bot && date +%N >stamp && chmod +x bot\"\n";
    executable(&folder.join("referee.toml"), manifest, 0o644);
    let cache = place.path().join("cache");
    let tournament = |words: &[&str]| {
        Referee::new(["tournament", "--sandbox", "none", "--out", "cup"])
            .args(words)
            .env("XDG_CACHE_HOME", &cache)
            .directory(place.path())
            .run()
    };
    let first = tournament(&["mine", "builtin:random", "--pairs", "1", "--seed", "1"]);
    assert_eq!(first.code, Some(0), "{first}");
    let built = || {
        fs::read_dir(cache.join("referee/builds"))
            .expect("a folder")
            .flatten()
    };
    assert!(built().any(|entry| entry.path().join("referee.toml").exists()));
    fs::remove_dir_all(&cache).expect("a folder");
    let again = tournament(&[]);
    assert_eq!(again.code, Some(0), "{again}");
    assert!(!again.stderr.contains("changed"), "{again}");
    executable(&folder.join("helper.sh"), "x=3\n", 0o644);
    let changed = tournament(&[]);
    assert_eq!(changed.code, Some(2), "{changed}");
    assert!(changed.stderr.contains("helper.sh"), "{changed}");
}

#[test]
fn a_build_that_takes_a_while_is_told() {
    let place = tempfile::tempdir().expect("a folder");
    built_bot(&place, "mine");
    let manifest = "program = \"bot\"\nbuild = \"sleep 2; cp parts/bot.txt bot && chmod +x bot\"\n";
    executable(&place.path().join("mine/referee.toml"), manifest, 0o644);
    let run = Referee::new(["mine", "builtin:random", "--sandbox", "none", "--seed", "1"])
        .env("XDG_CACHE_HOME", place.path().join("cache"))
        .directory(place.path())
        .run();
    assert_eq!(run.code, Some(0), "{run}");
    assert_eq!(
        run.stderr
            .matches("referee: building mine (sh) …\n")
            .count(),
        1,
        "{run}"
    );
}

#[test]
fn doctor_says_where_builds_are_kept() {
    let place = tempfile::tempdir().expect("a folder");
    built_bot(&place, "mine");
    let with_cache = |words: &[&str], cache: &Path| {
        Referee::new(words)
            .env("XDG_CACHE_HOME", cache)
            .directory(place.path())
            .run()
    };
    let cache = place.path().join("cache");
    let match_of = ["mine", "builtin:random", "--sandbox", "none", "--seed", "1"];
    with_cache(&match_of, &cache);
    let run = with_cache(&["doctor"], &cache);
    let kept = format!(
        "bots built of sources: {}, 1 of ",
        cache.join("referee/builds").display()
    );
    assert!(run.stdout.contains(&kept), "{run}");
    let run = with_cache(&["doctor"], &place.path().join("mine/referee.toml"));
    assert!(
        run.stdout
            .contains("bots built of sources: there is no place for them: "),
        "{run}"
    );
    assert!(
        run.stdout
            .contains("-> set XDG_CACHE_HOME to a folder where you may write\n"),
        "{run}"
    );
}

#[test]
fn what_was_built_is_built_once() {
    let place = tempfile::tempdir().expect("a folder");
    built_bot(&place, "mine");
    let cache = place.path().join("cache");
    let manifest = format!(
        "program = \"bot\"\nbuild = \"echo once >>{}/builds; cp parts/bot.txt bot && chmod +x bot\"\n",
        place.path().display()
    );
    executable(&place.path().join("mine/referee.toml"), &manifest, 0o644);
    for _ in 0..2 {
        let run = Referee::new(["mine", "builtin:random", "--sandbox", "none", "--seed", "1"])
            .env("XDG_CACHE_HOME", &cache)
            .directory(place.path())
            .run();
        assert_eq!(run.code, Some(0), "{run}");
    }
    assert_eq!(count(&place.path().join("builds")), 1);
}

fn count(file: &Path) -> usize {
    fs::read_to_string(file).expect("a file").lines().count()
}

#[test]
fn a_build_that_fails_is_not_something_else() {
    let place = tempfile::tempdir().expect("a folder");
    built_bot(&place, "mine");
    let manifest = "program = \"bot\"\nbuild = \"echo wrong word in line 3; false\"\n";
    executable(&place.path().join("mine/referee.toml"), manifest, 0o644);
    // Without it, the folder would be one bot.
    executable(&place.path().join("mine/main.sh"), "#!/bin/sh\n", 0o755);
    for words in [
        &["mine", "builtin:random"][..],
        &["check", "mine"],
        &["hunt", "mine"],
        &["puzzles", "run", "builtin:quarto", "mine"],
    ] {
        let run = tried(&place, words);
        assert_eq!(run.code, Some(2), "{words:?}: {run}");
        let words = "cannot start mine: referee.toml cannot be built: wrong word in line 3";
        assert!(run.stderr.contains(words), "{run}");
    }
}

#[test]
fn all_that_a_compiler_said_is_shown_with_the_paths_that_were_given() {
    let place = tempfile::tempdir().expect("a folder");
    built_bot(&place, "mine");
    let manifest = "program = \"bot\"\nbuild = \"\"\"\nprintf '%s\\n' './parts/bot.txt:3:7: error: no such word' '  3 | x' '    | ^' 'make: stop'\nfalse\"\"\"\n";
    executable(&place.path().join("mine/referee.toml"), manifest, 0o644);
    let archive = archive_of(&place, "mine");
    for (given, shown) in [("mine", "mine"), (&*archive, "mine.tar.gz")] {
        let run = tried(&place, &["check", given]);
        assert_eq!(run.code, Some(2), "{run}");
        let expected = format!(
            "referee: cannot start {shown}: referee.toml cannot be built:\n  \
             {shown}/parts/bot.txt:3:7: error: no such word\n    \
             3 | x\n      | ^\n  make: stop\n\
             correct it, then give the same command again\n"
        );
        assert_eq!(run.stderr, expected);
    }
    // In a tournament they are on the page for its author.
    let cup = ["tournament", "mine", "builtin:random", "builtin:greedy"];
    let options = ["--pairs", "1", "--seed", "1", "--out", "cup"];
    let run = tried(&place, &[&cup[..], &options].concat());
    assert_eq!(run.code, Some(0), "{run}");
    let report = Referee::new(["report", "cup", "--each", "pages"]);
    let run = report.directory(place.path()).run();
    assert_eq!(run.code, Some(0), "{run}");
    let page = fs::read_to_string(place.path().join("pages/mine.md")).expect("a page");
    let expected = "In full:\n\n    mine/parts/bot.txt:3:7: error: no such word\n      3 | x\n";
    assert!(page.contains(expected), "{page}");
}

/// What a record says of a bot that is a folder can be given as it is.
#[test]
fn a_recorded_folder_is_asked_again_by_the_referee() {
    let place = tempfile::tempdir().expect("a folder");
    built_bot(&place, "mine");
    let wrong = "#!/bin/sh\nwhile read -r line; do echo what; done\n";
    executable(&place.path().join("mine/parts/bot.txt"), wrong, 0o644);
    let words = [
        "mine",
        "builtin:random",
        "--seed",
        "1",
        "--record",
        "games.jsonl",
    ];
    assert_eq!(tried(&place, &words).code, Some(0));
    let replayed = run(&place, &["replay", "games.jsonl"]);
    let again = replayed
        .stdout
        .lines()
        .find(|line| line.contains("referee ask "));
    let again = again.unwrap_or_else(|| panic!("{replayed}"));
    let (_, ask) = again.split_once(" | referee ").expect("a pipe");
    let words = shell_words::split(ask).expect("words");
    assert_eq!(words.last().map(String::as_str), Some("mine"), "{again}");
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let asked = Referee::new(words).args(["--sandbox", "none"]);
    let asked = asked
        .directory(place.path())
        .stdin("................ -\n")
        .run();
    assert!(asked.stdout.contains("what"), "{asked}");
}

/// Beside the folder.
fn archive_of(place: &TempDir, folder: &str) -> String {
    let name = format!("{folder}.tar.gz");
    let file = fs::File::create(place.path().join(&name)).expect("a file");
    let packed = flate2::write::GzEncoder::new(file, flate2::Compression::fast());
    let mut tar = tar::Builder::new(packed);
    tar.append_dir_all(folder, place.path().join(folder))
        .expect("its files");
    let packed = tar.into_inner().expect("an archive");
    packed.finish().expect("an archive");
    name
}

#[test]
fn an_archive_is_the_bot_that_is_in_it() {
    let place = tempfile::tempdir().expect("a folder");
    built_bot(&place, "mine");
    let archive = archive_of(&place, "mine");
    let none = ["--sandbox", "none"];
    let played = run(
        &place,
        &[
            "-n",
            "2",
            "--seed",
            "3",
            &archive,
            "builtin:random",
            "--record",
            "games.jsonl",
            "--sandbox",
            "none",
        ],
    );
    let of_folder = run(
        &place,
        &[
            "-n",
            "2",
            "--seed",
            "3",
            "mine",
            "builtin:random",
            "--sandbox",
            "none",
        ],
    );
    assert_eq!(played.stdout, of_folder.stdout);
    for words in [
        &["check", &*archive][..],
        &["puzzles", "run", "builtin:quarto", &archive],
    ] {
        run(&place, &[words, &none].concat());
    }
    for words in [
        &["hunt", &*archive, "--time", "1s", "--seed", "1"][..],
        &["rerun", "games.jsonl", &archive],
    ] {
        let found = tried(&place, words);
        assert!(matches!(found.code, Some(0 | 3)), "{found}");
    }
    let tournament = |words: &[&str]| {
        let command = ["tournament", "--out", "cup", "--sandbox", "none"];
        Referee::new(command)
            .args(words)
            .directory(place.path())
            .run()
    };
    let first = tournament(&[&archive, "builtin:random", "--pairs", "1", "--seed", "1"]);
    assert_eq!(first.code, Some(0), "{first}");
    assert!(first.stdout.contains("mine"), "{first}");
    // The same files packed again are the same bot; others are not.
    fs::remove_file(place.path().join(&archive)).expect("the archive");
    archive_of(&place, "mine");
    let again = tournament(&[]);
    assert_eq!(again.code, Some(0), "{again}");
    executable(&place.path().join("mine/helper.sh"), "x=3\n", 0o644);
    archive_of(&place, "mine");
    let changed = tournament(&[]);
    assert_eq!(changed.code, Some(2), "{changed}");
    assert!(
        changed.stderr.contains("helper.sh has changed"),
        "{changed}"
    );
}

/// Whatever is in it, it is what the unpacked folder is.
#[test]
fn an_archive_of_folders_of_sources_is_one_bot() {
    let place = tempfile::tempdir().expect("a folder");
    for (file, text) in [
        ("src/main.c", "int main(void) { return 0; }"),
        ("include/a.h", ""),
    ] {
        let path = place.path().join("mine").join(file);
        fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
        fs::write(path, text).expect("a file");
    }
    let archive = archive_of(&place, "mine");
    for given in ["mine", &archive] {
        let run = tried(&place, &["check", given]);
        let said = format!("{}{}", run.stdout, run.stderr);
        // Whether a compiler is here or not.
        assert!(!said.contains("include") && !said.contains(" src"), "{run}");
    }
}

#[test]
fn an_archive_that_holds_no_bot_is_refused_in_one_sentence() {
    let place = tempfile::tempdir().expect("a folder");
    fs::create_dir(place.path().join("notes")).expect("a folder");
    fs::write(place.path().join("notes/notes.txt"), "x").expect("a file");
    archive_of(&place, "notes");
    fs::write(place.path().join("half.zip"), "PK").expect("a file");
    fs::write(place.path().join("bot.7z"), "7z").expect("a file");
    for (archive, words) in [
        (
            "notes.tar.gz",
            "cannot start notes.tar.gz: there is no program in this folder; ",
        ),
        (
            "half.zip",
            "cannot start half.zip: the archive cannot be unpacked: it is not a zip archive, or only part of one",
        ),
        (
            "bot.7z",
            "cannot start bot.7z: it is an archive of a kind that is not read; unpack it and give the folder, or make a .zip",
        ),
    ] {
        let run = Referee::new([archive, "builtin:random"])
            .directory(place.path())
            .run();
        assert_eq!(run.code, Some(2), "{run}");
        assert!(run.stderr.contains(words), "{run}");
    }
}
