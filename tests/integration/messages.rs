//! Wrong inputs of all kinds, each with its sentence: what is wrong, where, and what to do. No words of a
//! library or of the system reach a person.

use std::fs;
use std::path::Path;

#[cfg(unix)]
use crate::common::files::executable;
use crate::common::{Referee, Run};

/// Words of the system, of the standard library and of the crates that read files, which say too little.
const RAW: &[&str] = &[
    "os error",
    "No such file",
    "Is a directory",
    "Permission denied",
    "expected ident",
    "expected value",
    "EOF while",
    " at line ",
    "panicked",
    "Error {",
    "at path",
];

/// What is typed, and the sentence. Words are separated by blanks; a `_` stands for a blank in a word.
const WRONG: &[(&str, &str)] = &[
    // Mistyped commands and names.
    (
        "tornament",
        "referee: there is neither a command nor a file tornament; did you mean referee tournament?",
    ),
    (
        "tornament --out t a b",
        "referee: there is neither a command nor a file tornament; did you mean referee tournament?",
    ),
    (
        "replya games.jsonl",
        "referee: there is neither a command nor a file replya; did you mean referee replay?",
    ),
    (
        "print man tornament",
        "referee: there is no command `tornament`; did you mean tournament?",
    ),
    (
        "help tornament",
        "error: unrecognized subcommand 'tornament'",
    ),
    (
        "print man xyz",
        "referee: there is no command `xyz`; the commands are play, ",
    ),
    (
        "Builtin:greedy builtin:random",
        "referee: cannot start Builtin:greedy: there is no such file; did you mean builtin:greedy?",
    ),
    (
        "bto.py builtin:random",
        "referee: cannot start bto.py: there is no such file; did you mean bot.py?",
    ),
    (
        "./bots/mine builtin:random",
        "referee: cannot start ./bots/mine: there is no such file; did you mean ./bots/mine.py?",
    ),
    (
        "mine.py builtin:random",
        "referee: cannot start mine.py: there is no such file; check the spelling",
    ),
    (
        "subs/ builtin:random",
        "referee: cannot start subs/: there is no such folder; check the spelling and the directory",
    ),
    (
        "builtin:gredy builtin:random",
        "referee: cannot start builtin:gredy: there is no such built-in strategy; did you mean builtin:greedy?",
    ),
    (
        "builtin:x builtin:random",
        "the built-in ones are builtin:random, builtin:greedy, builtin:perfect",
    ),
    (
        "greedy builtin:random",
        "referee: cannot start greedy: there is no such file; did you mean builtin:greedy?",
    ),
    (
        "bot gredy",
        "referee: builtin:gredy: there is no such built-in strategy; did you mean builtin:greedy?",
    ),
    (
        "new pyhton",
        "referee: there is no starter bot in `pyhton`; did you mean python?",
    ),
    (
        "--game quatro builtin:greedy builtin:random",
        "there is no game `quatro`; did you mean quarto?",
    ),
    (
        "--game nim builtin:random builtin:random",
        "there is no game `nim`; expected quarto, four-in-a-row, or a game's program such as ./nim.py",
    ),
    (
        "--game ./nim.py builtin:random builtin:random",
        "referee: --game: cannot start ./nim.py: there is no such file",
    ),
    (
        "game check ./nim.py",
        "referee: cannot start ./nim.py: there is no such file",
    ),
    (
        "replay game.jsonl --game ./nim.py",
        "game.jsonl:1: --game: cannot start ./nim.py: there is no such file",
    ),
    // Commands within others.
    (
        "man",
        "referee: there is neither a command nor a file man; did you mean referee print man?",
    ),
    (
        "plan a.py b.py --out cup",
        "referee: there is neither a command nor a file plan; did you mean referee shard plan?",
    ),
    (
        "analyse game.jsonl --game p12a",
        "error: unexpected argument '--game' found",
    ),
    // A command line without quotes, or one bot too many.
    (
        "python3 bot.py builtin:random",
        "referee: a match has two bots, and builtin:random is a third; a command with arguments is one bot in quotes \
         (\"python3 bot.py\"), so is a position, and referee tournament plays more than two",
    ),
    (
        "builtin:random builtin:greedy -n 2 builtin:random",
        "referee: a match has two bots, and builtin:random is a third; ",
    ),
    (
        "--restart pair builtin:random builtin:greedy",
        "referee: pair is taken for a bot: in a match --restart has no value, and starts fresh processes for every game; leave pair out",
    ),
    (
        "--rules sqares builtin:greedy builtin:random",
        "tip: a similar value exists: 'squares'",
    ),
    (
        "--movetime 1s builtin:greedy builtin:random",
        "tip: a similar argument exists: '--move-time'",
    ),
    // A bot too few.
    ("bot.py", "required arguments were not provided:"),
    ("-n 3", "required arguments were not provided:"),
    (
        " builtin:random",
        "referee: cannot start \"\": its name is empty; give a file",
    ),
    // Positions without quotes.
    (
        "--start ................ K builtin:greedy builtin:random",
        "referee: a match has two bots, and builtin:random is a third; ",
    ),
    (
        "solve A..PC...J..EF...",
        "found `A..PC...J..EF...`; a position is a board and the piece in hand, such as `A..PC...J..EF... G`",
    ),
    (
        "board ..........................................",
        "found 42 characters; for one of four-in-a-row: --game four-in-a-row",
    ),
    (
        "solve A..PC...J..EF... G",
        "referee: a position is one argument, so put it in quotes: referee solve \"A..PC...J..EF... G\"",
    ),
    (
        "solve --all ................ -",
        "referee solve \"................ -\"",
    ),
    (
        "solve A..PC..J..EFB.._G",
        "referee: a board is 16 characters, one a cell, row by row; found 15",
    ),
    // Archives.
    (
        "bot.zip builtin:random",
        "referee: cannot start bot.zip: the archive cannot be unpacked: it is not a zip archive, or only part of one; make it again; or unpack it and give the folder",
    ),
    (
        "./bot.tar.gz builtin:random",
        "or unpack it and give the folder",
    ),
    ("check bot.7z", "unpack it and give the folder"),
    (
        "bot.ipynb builtin:random",
        "referee: cannot start bot.ipynb: it is a notebook, not a program; save it as a script: jupyter nbconvert --to script bot.ipynb",
    ),
    (
        "bot.pdf builtin:random",
        "referee: cannot start bot.pdf: it is a document, not a program; save the program as plain text, with the extension of its language",
    ),
    // Numbers.
    (
        "--seed -1 builtin:greedy builtin:random",
        "invalid value '-1' for '--seed <N>': invalid digit",
    ),
    (
        "--seed 99999999999999999999 builtin:greedy builtin:random",
        "'--seed <N>': number too large",
    ),
    (
        "-n -1 builtin:greedy builtin:random",
        "'--games <N>': invalid digit",
    ),
    (
        "--move-time 5x builtin:greedy builtin:random",
        "'--move-time <TIME>': expected a time such as 2s, 500ms, 1m 30s or a number of seconds",
    ),
    (
        "--memory x builtin:greedy builtin:random",
        "'--memory <SIZE>': expected a size such as 64M, 1.5G or a number of bytes",
    ),
    (
        "tournament --out t --pairs x a b",
        "'--pairs <N>': invalid digit",
    ),
    (
        "tournament --out t --pairs -1 a b",
        "'--pairs <N>': -1 is not in 1..",
    ),
    (
        "tournament --out t --rounds 0 a b",
        "'--rounds <N>': 0 is not in 1..",
    ),
    (
        "tournament --out t --opening-plies x a b",
        "'--opening-plies <N>': invalid digit",
    ),
    (
        "tournament --out t --bench-after x a b",
        "'--bench-after <N>': invalid digit",
    ),
    (
        "tournament --out t --jobs 0 a b",
        "'--jobs <N>': 0 is not in 1..=65535",
    ),
    (
        "tournament --out t --seed x a b",
        "'--seed <N>': invalid digit",
    ),
    ("shard run t --jobs x", "'--jobs <N>': invalid digit"),
    ("simulate --bots x", "'--bots <N>': invalid digit"),
    (
        "simulate --bots 8 --spread 100,101",
        "a percentage of draws",
    ),
    ("simulate --seed x", "'--seed <N>': invalid digit"),
    ("solve --threads 0 x", "'--threads <N>': 0 is not in 1.."),
    (
        "compare --margin x builtin:greedy builtin:random",
        "'--margin <ELO>': invalid float",
    ),
    // Files.
    (
        "--expose missing --sandbox auto builtin:greedy builtin:random",
        "--expose missing: there is no such file or directory; check the spelling and the permissions",
    ),
    (
        "puzzles run game.jsonl builtin:random",
        "game.jsonl:1: it is a recorded game and no puzzle; make puzzles of it first: `referee puzzles make",
    ),
    (
        "puzzles run other.jsonl builtin:random",
        "other.jsonl:1: it is not a puzzle, as `referee puzzles make FILE -o PUZZLES` writes it: missing field `",
    ),
    (
        "puzzles make nim.jsonl",
        "nim.jsonl:1: it is a game of `nim`; puzzles are made of quarto, four-in-a-row",
    ),
    (
        "--pieces missing.csv builtin:greedy builtin:random",
        "referee: missing.csv: there is no such file or directory; check the spelling and the directory",
    ),
    (
        "--pieces folder builtin:greedy builtin:random",
        "referee: folder: it is a directory; expected a piece set's CSV file",
    ),
    (
        "pieces --pieces wrong.csv",
        "referee: wrong.csv: line 1, column 4: 2 fields here; expected five",
    ),
    (
        "--record missing/x builtin:greedy builtin:random",
        "referee: missing/x: there is no such file or directory",
    ),
    (
        "--record folder builtin:greedy builtin:random",
        "referee: folder: it is a directory; give a file within it",
    ),
    (
        "--record text/x builtin:greedy builtin:random",
        "referee: text/x: a part of the path is a file and no directory",
    ),
    (
        "--log-file missing/x builtin:greedy builtin:random",
        "referee: --log-file missing/x: there is no such file or directory",
    ),
    (
        "tournament --out text builtin:greedy builtin:random",
        "referee: text: it is a file, and no folder of a tournament; choose another folder",
    ),
    (
        "tournament --out t --config missing.toml",
        "referee: missing.toml: there is no such file or directory",
    ),
    (
        "tournament --out t --config folder",
        "referee: folder: it is a directory; give a file within it",
    ),
    (
        "tournament --out t --config wrong.toml",
        "referee: wrong.toml:1: string values must be quoted, expected literal string",
    ),
    (
        "tournament --out t --config large.toml",
        "referee: large.toml:2: invalid value '99999999999999999999' for '--pairs <N>': 99999999999999999999 is not in \
         1..=4294967295",
    ),
    (
        "tournament --out t --config small.toml",
        "referee: small.toml:1: invalid value '-99999999999999999999' for '--jobs <N>': -99999999999999999999 is not in \
         1..=65535",
    ),
    (
        "tournament --out t --config seed.toml",
        "referee: seed.toml:1: --seed is 99999999999999999999; expected at most 18446744073709551615",
    ),
    (
        "replay missing.jsonl",
        "referee: missing.jsonl: there is no such file or directory",
    ),
    (
        "replay text",
        "text:1: invalid JSON at column 2; expected one record per line",
    ),
    (
        "replay text",
        "referee: text: 1 of 1 game breaks the rules or cannot be read",
    ),
    (
        "replay list.jsonl",
        "list.jsonl:1: it is a text; expected one record per line, a JSON object",
    ),
    (
        "shard run text",
        "referee: text: there is no tournament to resume; plan one first: referee shard plan",
    ),
    (
        "league bot.zip",
        "referee: bot.zip: it is a file, and a league has a folder; submissions in it are taken in by --from bot.zip",
    ),
    ("standings text", "text:1: invalid JSON at column 2"),
    ("analyse text", "text:1: invalid JSON at column 2"),
    (
        "report -o page.html text",
        "text:1: invalid JSON at column 2",
    ),
    (
        "standings half.jsonl",
        "half.jsonl:1: the JSON ends too early, at column 5",
    ),
    (
        "standings other.jsonl",
        "other.jsonl:1: column 7: missing field `game`",
    ),
    (
        "standings missing.jsonl",
        "referee: missing.jsonl: there is no such file or directory",
    ),
    (
        "standings folder",
        "referee: folder: there is no games.jsonl in this folder; give the folder of a tournament",
    ),
    (
        "new python missing/x.py",
        "referee: missing/x.py: there is no such file or directory",
    ),
    (
        "check missing",
        "referee: cannot start missing: there is no such file; check the spelling",
    ),
    (
        "check folder",
        "referee: cannot start folder: there is no program in this folder; put one into it",
    ),
    (
        "check --out missing/x.csv builtin:greedy",
        "referee: missing/x.csv: cannot be written: there is no such file or directory",
    ),
    (
        "--live=300.0.0.1:80 builtin:greedy builtin:random",
        "expected an address, a port or both, such as 127.0.0.1:4416",
    ),
];

/// A recorded game.
const GAME: &str = r#"{"v":1,"game":"quarto","rules":"standard","id":"4-1","bots":[{"name":"builtin:search?depth=2","command":["builtin:search?depth=2"]},{"name":"builtin:greedy","command":["builtin:greedy"]}],"first":0,"seed":4,"start":"................","turns":["- F","14 B","16 A","8 H","13 K","15 N","12 C","9 D","3 G","10 P","2 L","4 I","6 E","5 M","7 -"],"times_ms":[1.0,1.0,1.0,1.0,1.0,1.0,1.0,1.0,1.0,1.0,1.0,1.0,1.0,1.0,1.0],"result":{"winner":0,"reason":"quarto","lines":[["H2","big"],["H2","red"]]},"started":"2026-11-23T06:27:08Z"}"#;

/// The files that inputs name.
fn files(directory: &Path) {
    for folder in ["folder", "bots"] {
        fs::create_dir(directory.join(folder)).expect("a folder");
    }
    for (name, text) in [
        ("bots/mine.py", "print()\n"),
        ("text", "not JSON\n"),
        ("half.jsonl", "{\"v\":\n"),
        ("other.jsonl", "{\"v\":1}\n"),
        ("game.jsonl", GAME),
        ("nim.jsonl", &GAME.replace("quarto", "nim")),
        ("wrong.csv", "a,b\n"),
        ("wrong.toml", "x = \n"),
        (
            "large.toml",
            "seed = 18446744073709551615\npairs = 99_999_999_999_999_999_999\n",
        ),
        ("small.toml", "jobs = -99999999999999999999\n"),
        ("seed.toml", "seed = 99999999999999999999\n"),
        ("bot.zip", "PK\u{3}\u{4}"),
        ("bot.tar.gz", "\u{1f}"),
        ("bot.7z", "7z"),
        ("bot.py", "print()\n"),
        ("bot.ipynb", "{}\n"),
        ("bot.pdf", "%PDF-1.4\n"),
        ("list.jsonl", "\"x\"\n"),
    ] {
        fs::write(directory.join(name), text).expect("a file");
    }
}

fn run(directory: &Path, line: &str) -> Run {
    let words = line.split(' ').map(|word| word.replace('_', " "));
    Referee::new(words).directory(directory).run()
}

#[test]
fn wrong_inputs_have_sentences_with_the_fix() {
    let directory = tempfile::tempdir().expect("a directory");
    files(directory.path());
    let mut wrong = Vec::new();
    for (line, sentence) in WRONG {
        let run = run(directory.path(), line);
        let said = format!("{}{}", run.stdout, run.stderr);
        let raw = RAW.iter().find(|words| {
            // TOML's own message shows the place, with an arrow.
            said.contains(**words) && !said.contains("TOML parse error")
        });
        if run.code != Some(2) || !said.contains(sentence) || raw.is_some() {
            wrong.push(format!("{line}\nexpected: {sentence}\nraw: {raw:?}\n{run}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
}

/// Debian and Ubuntu have Python by this name only.
#[cfg(unix)]
#[test]
fn python_is_called_python3() {
    let directory = tempfile::tempdir().expect("a directory");
    let path = |name: &str| directory.path().join(name);
    fs::create_dir(path("bin")).expect("a folder");
    executable(&path("bin/python3"), "#!/bin/sh\n", 0o755);
    executable(&path("bot.py"), "#!/usr/bin/env python\n", 0o755);
    for (bot, cause) in [
        ("python bot.py", "there is no command python in PATH"),
        (
            "./bot.py",
            "it needs python, which is not installed (its first line is #!/usr/bin/env python)",
        ),
    ] {
        let run = Referee::new([bot, "builtin:random"])
            .directory(directory.path())
            .env("PATH", path("bin"))
            .run();
        let sentence = format!("{cause}; write python3 instead, which is installed\n");
        assert!(
            run.code == Some(2) && run.stderr.ends_with(&sentence),
            "{run}"
        );
    }
}

/// Errors of the system that no right of root prevents have their sentences elsewhere: see `text::cause`.
#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_is_said_in_words() {
    let directory = tempfile::tempdir().expect("a directory");
    let run = run(
        directory.path(),
        "--record /dev/full builtin:greedy builtin:random",
    );
    assert!(!run.stderr.contains("os error"), "{run}");
}

/// A bot of a configuration file whose folder is missing, or does not have it.
#[test]
fn the_folder_of_a_bot_is_named() {
    let place = tempfile::tempdir().expect("a directory");
    let config = |directory: &str| {
        let text = format!(
            "[[bots]]\ncommand = 'bot.sh'\ndirectory = '{directory}'\n[[bots]]\ncommand = 'builtin:random'\n"
        );
        fs::write(place.path().join("cup.toml"), text).expect("a file");
        let words = [
            "tournament",
            "--config",
            "cup.toml",
            "--out",
            "cup",
            "--sandbox",
            "none",
        ];
        Referee::new(words).directory(place.path()).run()
    };
    let missing = config("submissions/anna");
    assert_eq!(missing.code, Some(2), "{missing}");
    assert!(
        missing
            .stderr
            .contains("submissions/anna, in which it is to start"),
        "{missing}"
    );
    fs::create_dir_all(place.path().join("submissions/anna")).expect("a folder");
    let empty = config("submissions/anna");
    assert!(
        empty
            .stderr
            .contains("there is no such file, also not in its folder "),
        "{empty}"
    );
    let path = place.path().join("cup.toml");
    fs::write(&path, "[[bots]]\ncommand = \"C:\\Users\\anna\\bot.exe\"\n").expect("a file");
    let words = ["tournament", "--config", "cup.toml", "--out", "cup"];
    let escaped = Referee::new(words).directory(place.path()).run();
    assert_eq!(escaped.code, Some(2), "{escaped}");
    assert!(escaped.stderr.contains("cup.toml:2: "), "{escaped}");
    assert!(
        escaped.stderr.contains("between single quotes, or with /"),
        "{escaped}"
    );
}

/// The text of a file that names this folder.
type WithFolder<'a> = &'a dyn Fn(&str) -> String;

/// Wherever a file names a program: a submission's `referee.toml`, the scale of grades, a configuration.
#[test]
fn a_missing_folder_and_a_backslash_are_told_in_every_file() {
    let place = tempfile::tempdir().expect("a directory");
    let write = |name: &str, text: &str| {
        let path = place.path().join(name);
        fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
        fs::write(path, text).expect("a file");
    };
    write("ben/bot.sh", "#!/bin/sh\nread -r line\n");
    let scale = |bot: &str| {
        format!("seed = 1\n[[rung]]\nname = \"one\"\nbot = {bot}\npoints = 1\nscore = 0.5\n")
    };
    let submission = |program: &str| format!("\nprogram = {program}\n");
    let config = |bot: &str| format!("pairs = 1\n[[bots]]\ncommand = {bot}\n");
    let run = |words: &[&str]| {
        let run = Referee::new(words).directory(place.path()).run();
        assert_eq!(run.code, Some(2), "{run}");
        run.stderr
    };
    let grade = [
        "grade",
        "ben/bot.sh",
        "--scale",
        "course/scale.toml",
        "--out",
        "g",
        "--sandbox",
        "none",
    ];
    let check = ["check", "ann", "--sandbox", "none"];
    let cup = [
        "tournament",
        "--config",
        "course/cup.toml",
        "--out",
        "cup",
        "--sandbox",
        "none",
    ];
    let files: [(_, _, WithFolder<'_>, _); 3] = [
        (
            "course/scale.toml",
            &grade[..],
            &scale,
            ["line 4, column", "/course/bots; "],
        ),
        (
            "ann/referee.toml",
            &check,
            &submission,
            ["referee.toml:2: ", "there is no folder ann/bots; "],
        ),
        (
            "course/cup.toml",
            &cup,
            &config,
            ["cup.toml:3: ", "no folder course/bots\n"],
        ),
    ];
    for (file, words, text, [line, folder]) in files {
        write(file, &text(r#""C:\Users\ann\bot.exe""#));
        let told = run(words);
        for part in [line, "write the path between single quotes, or with /"] {
            assert!(told.contains(part), "{file}: {part}: {told}");
        }
        write(file, &text("'bots/mine/bot.sh'"));
        let told = run(words);
        assert!(told.contains(folder), "{file}: {told}");
        // There is nothing to say of quotes.
        write(file, &text("7"));
        let told = run(words);
        assert!(!told.contains("quotes"), "{file}: {told}");
    }
    // Only the file is missing. Arguments are left alone.
    write("course/bots/mine/other.sh", "");
    for (file, words, text) in [
        (
            "course/scale.toml",
            &grade[..],
            &scale as &dyn Fn(&str) -> String,
        ),
        ("course/cup.toml", &cup, &config),
    ] {
        write(file, &text("'bots/mine/bot.sh a/b'"));
        let told = run(words);
        let missing = "course/bots/mine/bot.sh: there is no such file";
        assert!(told.contains(missing), "{file}: {told}");
        for wrong in ["no folder", "course/a/b"] {
            assert!(!told.contains(wrong), "{file}: {told}");
        }
    }
}

#[test]
fn a_name_can_be_seen_and_told_from_others() {
    let place = tempfile::tempdir().expect("a directory");
    let config = |names: [&str; 2]| {
        let bots =
            names.map(|name| format!("[[bots]]\ncommand = 'builtin:random'\nname = \"{name}\"\n"));
        fs::write(place.path().join("cup.toml"), bots.concat()).expect("a file");
        let words = [
            "tournament",
            "--config",
            "cup.toml",
            "--out",
            "cup",
            "--pairs",
            "1",
            "--no-check",
        ];
        Referee::new(words).directory(place.path()).run()
    };
    for blank in ["", " ", "\u{a0}\u{3000}", "\u{3164}", "\u{2800}\u{fe0f}"] {
        let run = config([blank, "Ben"]);
        assert_eq!(run.code, Some(2), "{run}");
        assert!(run.stderr.contains("of which nothing can be seen"), "{run}");
        let words = ["builtin:random", "builtin:random", "--name1", blank];
        let run = Referee::new(words).run();
        assert_eq!(run.code, Some(2), "{run}");
        assert!(
            run.stderr.contains("nothing of this name can be seen"),
            "{run}"
        );
    }
    let run = config(["Ren\u{e9}", "Rene\u{301}"]);
    assert_eq!(run.code, Some(0), "{run}");
    assert!(
        run.stdout.contains("Ren\u{e9}#1") && run.stdout.contains("Ren\u{e9}#2"),
        "{run}"
    );
    let run = Referee::new([
        "builtin:random",
        "builtin:random",
        "--name1",
        "Ren\u{e9}",
        "--name2",
        "Rene\u{301}",
    ])
    .run();
    assert_eq!(run.code, Some(0), "{run}");
    assert!(
        run.stdout.starts_with("Ren\u{e9}#") || run.stdout == "Draw.\n",
        "{run}"
    );
}

/// A text in an encoding, with the first byte of it that is not UTF-8.
type Encoded = (&'static str, fn(&str) -> Vec<u8>, u8);

/// What editors of other systems and times write. The letter beyond ASCII is é.
const ENCODINGS: [Encoded; 9] = [
    ("Latin-1", |text| in_code_page(text, 0xe9), 0xe9),
    (
        "the code page of DOS",
        |text| in_code_page(text, 0x82),
        0x82,
    ),
    ("that of old Macs", |text| in_code_page(text, 0x8e), 0x8e),
    (
        "UTF-8 with a letter that was cut",
        |text| in_code_page(text, 0xc3),
        0xc3,
    ),
    (
        "UTF-16",
        |text| utf_16(&format!("\u{feff}{text}"), u16::to_le_bytes),
        0xff,
    ),
    (
        "UTF-16, the high byte first",
        |text| utf_16(&format!("\u{feff}{text}"), u16::to_be_bytes),
        0xfe,
    ),
    (
        "UTF-16 without a mark",
        |text| utf_16(text, u16::to_le_bytes),
        0xe9,
    ),
    (
        "UTF-16 without a mark, the high byte first",
        |text| utf_16(text, u16::to_be_bytes),
        0xe9,
    ),
    (
        "UTF-32",
        |text| {
            let marked = format!("\u{feff}{text}");
            marked
                .chars()
                .flat_map(|c| u32::from(c).to_le_bytes())
                .collect()
        },
        0xff,
    ),
];

fn in_code_page(text: &str, letter: u8) -> Vec<u8> {
    let letters = text.chars();
    letters
        .map(|c| u8::try_from(c).ok().filter(u8::is_ascii).unwrap_or(letter))
        .collect()
}

fn utf_16(text: &str, bytes: fn(u16) -> [u8; 2]) -> Vec<u8> {
    text.encode_utf16().flat_map(bytes).collect()
}

/// Each kind of file that people write, by the line of it that has an é: it is read with a mark at its beginning, and refused
/// with the line in every other encoding.
#[test]
fn files_in_other_encodings_are_refused_with_their_lines() {
    let rung =
        "[[rung]]\nname = \"random\"\nbot = \"builtin:random\"\nscore = 0.9\npoints = 1\n# é\n";
    let scale = format!("seed = 1\nbudget = 2\n{rung}");
    let set = include_str!("../../sets/english.csv").replace("hollow", "é");
    for (file, text, line, command) in [
        (
            "list.csv",
            "name,id\nAnna,1\nBén,2\n",
            3,
            "league term --from class --students list.csv --plan --no-check",
        ),
        (
            "cup.toml",
            "pairs = 1\n# é\n",
            2,
            "tournament --out cup --config cup.toml builtin:random builtin:random",
        ),
        (
            "openings.txt",
            "AB..............\n# é\n",
            2,
            "tournament --out cup --openings openings.txt --pairs 1 builtin:random builtin:random",
        ),
        (
            "scale.toml",
            &scale,
            8,
            "grade builtin:random --scale scale.toml",
        ),
        ("set.csv", &set, 2, "pieces --pieces set.csv"),
        (
            "bot/referee.toml",
            "program = \"bot.sh\"\n# é\n",
            2,
            "check bot",
        ),
    ] {
        let run = |bytes: &[u8]| {
            let place = tempfile::tempdir().expect("a directory");
            let script = "#!/bin/sh\nexec \"$REFEREE_BIN\" bot random\n";
            for folder in ["class/Anna", "class/Bén", "bot"] {
                fs::create_dir_all(place.path().join(folder)).expect("a folder");
                fs::write(place.path().join(folder).join("bot.sh"), script).expect("a file");
            }
            fs::write(place.path().join(file), bytes).expect("a file");
            let sandbox = ["--sandbox", "none"];
            let sandbox = sandbox.iter().filter(|_| !command.starts_with("pieces"));
            let words = command.split(' ').chain(sandbox.copied());
            Referee::new(words).directory(place.path()).run()
        };
        let plain = run(text.as_bytes());
        let marked = run(format!("\u{feff}{text}").as_bytes());
        for good in [&plain, &marked] {
            assert_eq!(good.code, Some(0), "{file}: {good}");
        }
        for (encoding, encoded, byte) in ENCODINGS {
            let refused = run(&encoded(text));
            let of_file = format!("{encoding}, {file}: {refused}");
            assert!(matches!(refused.code, Some(2 | 3)), "{of_file}");
            let told = format!("{}{}", refused.stdout, refused.stderr);
            let line = if byte > 0xf0 { 1 } else { line };
            assert!(told.contains(file), "{of_file}");
            assert!(told.contains(&format!("line {line}")), "{of_file}");
            assert!(
                told.contains(&format!("byte 0x{byte:02x} is not ")),
                "{of_file}"
            );
            assert!(told.contains("UTF-8"), "{of_file}");
        }
    }
}

#[test]
fn a_path_with_spaces_that_is_cut_is_warned_of() {
    let place = tempfile::tempdir().expect("a directory");
    let script = "#!/bin/sh\nexec \"$REFEREE_BIN\" bot random\n";
    executable(&place.path().join("Engine"), script, 0o755);
    fs::create_dir(place.path().join("Engine 12")).expect("a folder");
    executable(&place.path().join("Engine 12/bot.sh"), script, 0o755);
    let run = |bot: &str| {
        let words = [bot, "builtin:random", "--sandbox", "none", "--seed", "1"];
        Referee::new(words).directory(place.path()).run()
    };
    let cut = run("./Engine 12/bot.sh --depth 3");
    assert_eq!(cut.code, Some(0), "{cut}");
    let warning = "referee: warning: ./Engine ends at the space, and there is a file ./Engine 12/bot.sh; if that is meant, \
                   quote it within the command: './Engine 12/bot.sh'\n";
    assert_eq!(cut.stderr.matches(warning).count(), 1, "{cut}");
    let whole = run("'./Engine 12/bot.sh' --depth 3");
    assert!(!whole.stderr.contains("warning"), "{whole}");
    let tournament = [
        "tournament",
        "./Engine 12/bot.sh --depth 3",
        "builtin:random",
        "--out",
        "cup",
        "--pairs",
        "1",
    ];
    let run = Referee::new(tournament)
        .args(["--sandbox", "none", "--no-check"])
        .directory(place.path())
        .run();
    assert_eq!(run.stderr.matches(warning).count(), 1, "{run}");
}

/// The text between backquotes of all sources that begins like a command of the referee.
fn commands_in_sources() -> Vec<String> {
    fn find(folder: &Path, found: &mut Vec<String>) {
        for entry in fs::read_dir(folder).expect("a folder") {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                find(&path, found);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                let text = fs::read_to_string(&path).expect("a source");
                let quoted = text
                    .lines()
                    .flat_map(|line| line.split('`').skip(1).step_by(2));
                let commands = quoted.filter_map(|code| code.strip_prefix("referee "));
                // The options that choose a game are written there.
                found.extend(commands.map(|command| command.replace("{game}", "")));
            }
        }
    }
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut found = Vec::new();
    for folder in ["src", "crates"] {
        find(&root.join(folder), &mut found);
    }
    found.sort();
    found.dedup();
    found
}

/// Each with its options; what stands for an argument of a person is left out.
#[test]
fn commands_in_messages_exist() {
    let commands = commands_in_sources();
    assert!(commands.len() > 15, "{commands:?}");
    for command in commands {
        let is_lower = |word: &&str| word.bytes().all(|byte| byte.is_ascii_lowercase());
        let words: Vec<&str> = command.split(' ').take_while(is_lower).collect();
        // Not for people.
        if words.first() == Some(&"supervisor") {
            continue;
        }
        let is_help = words.contains(&"help");
        let help = Referee::new(&words)
            .args((!is_help).then_some("--help"))
            .run();
        assert_eq!(help.code, Some(0), "{command}: {help}");
        let options = command.split(' ').filter(|word| word.starts_with("--"));
        for option in options {
            assert!(help.stdout.contains(option), "{command}: {help}");
        }
    }
}
