//! Games that are programs, and what is said when one fails. Those that need an interpreter are in
//! tests/environment/games.rs.

use std::fs;

use crate::classroom::{Class, SETTINGS};
use crate::common::files::executable;
use crate::common::{RECORDS, Referee, Run, bots, records, schema};
use crate::report::data;

/// A match in the game of tests/bots/games/countdown.sh with this fault.
fn play(fault: &str, more: &[&str]) -> Run {
    let game = format!("games/countdown.sh {fault}");
    let bots = ["counts-down.sh", "counts-down.sh"];
    let arguments = ["--game", game.trim(), "--sandbox", "none", "--seed", "1"];
    Referee::new(bots).args(arguments).args(more).run()
}

#[test]
fn a_program_is_a_game() {
    let run = play("", &["-n", "2"]);
    assert_eq!(run.code, Some(0), "{run}");
    // Whoever begins says 0 in the seventh turn; who begins alternates.
    let lines: Vec<&str> = run.stdout.lines().collect();
    assert_eq!(
        lines[..2],
        ["counts-down.sh#1 wins.", "counts-down.sh#2 wins."]
    );
}

#[test]
fn a_bot_forfeits_by_the_rules_of_the_program() {
    for (bot, reason, sentence) in [
        ("sh -c 'read n; echo 5'", "malformed", "expected 1 or 2"),
        (
            "sh -c 'while read n; do echo 2; done'",
            "illegal-move",
            "there is no number below 0",
        ),
    ] {
        let arguments = [
            "--game",
            "games/countdown.sh",
            "--sandbox",
            "none",
            "--first",
            "1",
        ];
        let run = Referee::new([bot, "counts-down.sh"])
            .args(arguments)
            .recorded()
            .run();
        assert_eq!(run.code, Some(0), "{run}");
        let expected = format!("counts-down.sh wins: sh forfeits ({reason}).");
        if reason == "illegal-move" {
            // 7, 5, 4, 2, 1: two cannot be taken from one.
            assert!(run.stdout.contains(&expected), "{run}");
        }
        assert!(run.stdout.contains(&expected), "{run}");
        assert!(run.stderr.contains(sentence), "{run}");
    }
}

/// A failure of the game's program is nobody's forfeit: status 2, and a sentence with what it was asked and what it did.
#[test]
fn a_program_that_fails_ends_the_match() {
    for (fault, sentence) in [
        (
            "no-name",
            "answered `{\"about\":\"x\"}`; missing field `name`",
        ),
        (
            "reserved-name",
            "expected a \"name\" other than \"timeout\"",
        ),
        (
            "silent-start",
            "asked {\"do\":\"about\",\"version\":1}: it ended with exit status 4 instead of answering",
        ),
        ("killed", "SIGKILL"),
        (
            "crashes",
            "asked {\"do\":\"play\",\"state\":\"3 0\",\"answer\":\"1\"}: it ended with exit status 3 instead of answering; \
             stderr ended with: ValueError: boom",
        ),
        (
            "nonsense",
            "answered `Hello!`; expected a line of JSON; debugging text belongs on standard error",
        ),
        ("twice", "answered "),
        (
            "no-side",
            "expected a \"side\", 0 or 1: who is to move; or \"over\"",
        ),
        ("floods", "answered with a line of more than 262144 bytes"),
        (
            "hangs",
            "did not answer within 10 seconds; does it flush after every line?",
        ),
    ] {
        let run = play(fault, &[]);
        assert_eq!(run.code, Some(2), "{fault}: {run}");
        assert_eq!(run.stdout, "", "{fault}");
        let name = format!("referee: the game's program games/countdown.sh {fault}, asked ");
        assert!(run.stderr.contains(&name), "{fault}: {run}");
        assert!(run.stderr.contains(sentence), "{fault}: {run}");
    }
}

/// In the same words, in a match and in the game's own check.
#[test]
fn a_program_that_is_gone_is_told_as_a_bot_is() {
    let question = r#"{"do":"play","state":"3 0","answer":"1"}"#;
    for (fault, bot, sentence) in [
        (
            "killed",
            "ends.sh KILL",
            "it was killed by the signal SIGKILL instead of answering",
        ),
        (
            "crashes",
            "ends.sh 3",
            "it ended with exit status 3 instead of answering",
        ),
        (
            "part",
            "ends.sh 1 6",
            "it ended with exit status 1 instead of answering, after writing `6` without the end of the line",
        ),
        (
            "closes",
            "closes-stdout.sh",
            "it closed its standard output instead of answering, and lived on",
        ),
    ] {
        let of_bot = Referee::new([bot, "builtin:random"])
            .args(["--sandbox", "none", "--first", "1"])
            .run();
        let told = format!("): {sentence}");
        assert!(of_bot.stderr.contains(&told), "{of_bot}");
        let name = format!("the game's program games/countdown.sh {fault}, asked ");
        let of_match = play(fault, &[]);
        let told = format!("{name}{question}: {sentence}");
        assert!(of_match.stderr.contains(&told), "{of_match}");
        let game = format!("games/countdown.sh {fault}");
        let of_check = Referee::new(["game", "check", &game]).run();
        assert_eq!(of_check.code, Some(3), "{of_check}");
        let is_told =
            |line: &str| line.contains(&name) && line.contains(&format!("}}: {sentence}"));
        assert!(of_check.stdout.lines().any(is_told), "{of_check}");
    }
    // A program that reads no further, as a bot that reads one line.
    let exits = play("exits", &[]);
    let sentence = "questions, then ended (exit status 0): keep reading until the input ends";
    assert!(exits.stderr.contains(sentence), "{exits}");
}

/// With little memory for the referee.
#[test]
fn what_a_program_writes_without_end_is_not_kept() {
    let flooded = |fault: &str| {
        let game = format!("games/countdown.sh {fault}");
        let words = ["--game", &game, "--sandbox", "none", "--seed", "1"];
        let bots = ["counts-down.sh", "counts-down.sh"];
        let referee = Referee::new(bots).args(words);
        referee.memory(crate::faults::memory()).run()
    };
    let line = flooded("floods");
    assert_eq!(line.code, Some(2), "{line}");
    let sentence = "answered with a line of more than 262144 bytes";
    assert!(line.stderr.contains(sentence), "{line}");
    assert!(line.stderr.len() < 2000, "{line}");
    // What it says to people disturbs no game.
    let noise = flooded("floods-stderr");
    assert_eq!(noise.code, Some(0), "{noise}");
    assert_eq!(noise.stdout, "counts-down.sh#1 wins.\n", "{noise}");
}

/// The same in a tournament: the games that were played are kept, and it can go on.
#[test]
fn a_tournament_stops_when_its_game_fails() {
    let words = [
        "tournament",
        "counts-down.sh",
        "builtin:random",
        "--pairs",
        "2",
    ];
    let referee = Referee::new(words);
    let out = referee.scratch().join("cup");
    let run = referee
        .args([
            "--game",
            "games/countdown.sh crashes",
            "--no-check",
            "--opening-plies",
            "0",
            "--sandbox",
            "none",
            "--seed",
            "3",
            "--out",
        ])
        .args([&out])
        .run();
    assert_eq!(run.code, Some(2), "{run}");
    assert!(
        run.stderr
            .contains("it ended with exit status 3 instead of answering"),
        "{run}"
    );
    assert!(
        run.stderr.contains("goes on with --accept-changes"),
        "{run}"
    );
}

/// A game as a program, that can be repaired, and two bots of it.
fn class_of_countdown() -> Class {
    let class = Class::of(&[]);
    let game = fs::read_to_string(bots().join("games/countdown.sh")).expect("a game");
    executable(&class.path("countdown.sh"), &game, 0o755);
    let bot = fs::read_to_string(bots().join("counts-down.sh")).expect("a bot");
    for name in ["anna", "ben"] {
        class.write(&format!("class/{name}/bot.sh"), &bot);
    }
    class
}

/// Another program of the same game.
fn repair(class: &Class, how: &str) {
    let game = fs::read_to_string(bots().join("games/countdown.sh")).expect("a game");
    fs::remove_file(class.path("countdown.sh")).expect("the game");
    executable(&class.path("countdown.sh"), game + how, 0o755);
}

/// Records, tables and pages say since when.
#[test]
fn a_tournament_goes_on_with_a_repaired_game() {
    let class = class_of_countdown();
    let begin = [
        "class",
        "--no-check",
        "--game",
        "./countdown.sh",
        "--jobs",
        "1",
    ];
    class.play("cup", &begin);
    let games = class.read("cup/games.jsonl");
    let (first, _) = games.split_once('\n').expect("two games");
    class.write("cup/games.jsonl", &format!("{first}\n"));
    repair(&class, "# Repaired.\n");
    let resume = |more: &[&str]| {
        let arguments = [
            &["tournament", "--out", "cup", "--report", "cup.html"],
            more,
        ]
        .concat();
        class.referee(&arguments).run()
    };
    let refused = resume(&[]);
    assert_eq!(refused.code, Some(2), "{refused}");
    for words in [
        "the game's program has been changed: it is not the one by which this tournament is played\n",
        "\n--accept-changes goes on with the program as it is now",
    ] {
        assert!(refused.stderr.contains(words), "{refused}");
    }
    assert_eq!(class.read("cup/games.jsonl").lines().count(), 1);
    let accepted = resume(&["--accept-changes"]);
    assert_eq!(accepted.code, Some(0), "{accepted}");
    let said = "the game changed: its program is another one since game p000001b, in 1 of 2 games";
    assert!(accepted.stdout.contains(said), "{accepted}");
    let games = records(&class.read("cup/games.jsonl"));
    assert_eq!(games.len(), 2);
    schema::RECORD.check(&games[1]);
    let changed = games.iter().map(|game| game["game_changed"].as_str());
    let lengths: Vec<Option<usize>> = changed.map(|hash| Some(hash?.len())).collect();
    assert_eq!(lengths, [None, Some(64)]);
    let expected = serde_json::json!({"since": "p000001b", "games": 1});
    assert_eq!(class.json("cup/standings.json")["game_changed"], expected);
    let page = data(&class.read("cup.html"));
    assert_eq!(page["figures"]["changed"], serde_json::json!([said]));
    // That program is the tournament's now.
    assert_eq!(resume(&[]).code, Some(0));
    repair(&class, "");
    let back = resume(&[]);
    assert_eq!(back.code, Some(2), "{back}");
    assert!(
        back.stderr.contains("the game's program has been changed"),
        "{back}"
    );
}

/// What crashed and was repaired goes on where the teacher says so, and it is written down.
#[test]
fn a_league_goes_on_with_a_repaired_game() {
    let class = class_of_countdown();
    let bot = class.read("class/anna/bot.sh");
    let league = |more: &[&str]| {
        let arguments = ["league", "term", "--no-check", "--game", "./countdown.sh"];
        class
            .referee(&[&arguments[..], &SETTINGS[..], more].concat())
            .run()
    };
    let run = league(&["--from", "class"]);
    assert_eq!(run.code, Some(0), "{run}");
    repair(&class, "# Repaired.\n");
    class.write("class/cem/bot.sh", &format!("{bot}# Another.\n"));
    let run = league(&["--from", "class"]);
    assert_eq!(run.code, Some(2), "{run}");
    assert!(
        run.stderr.contains("the game's program has been changed"),
        "{run}"
    );
    assert!(
        run.stderr.contains("--accept-changes goes on with it"),
        "{run}"
    );
    let run = league(&["--accept-changes"]);
    assert_eq!(run.code, Some(0), "{run}");
    let words = "the games from now on are by its program as it is now";
    assert!(run.stderr.contains(words), "{run}");
    assert!(class.read("term/log.jsonl").contains(words), "{run}");
    assert_eq!(run.last_line(), "4 new games, 2 kept", "{run}");
    let games = records(&class.read("term/games.jsonl"));
    let changed = games.iter().filter(|game| game["game_changed"].is_string());
    assert_eq!(changed.count(), 4);
    let changed = &class.json("term/standings.json")["game_changed"];
    assert_eq!(changed["games"], 4, "{changed}");
    // Once is enough, and that program is the league's now.
    let run = league(&[]);
    assert_eq!(run.last_line(), "0 new games, 6 kept", "{run}");
    repair(&class, "");
    let run = league(&[]);
    assert_eq!(run.code, Some(2), "{run}");
    assert!(
        run.stderr.contains("the game's program has been changed"),
        "{run}"
    );
}

#[test]
fn a_game_that_never_ends_is_ended() {
    let run = play("endless", &[]);
    assert_eq!(run.code, Some(2), "{run}");
    let sentence = "a game is not over after 10000 turns; bound the number of turns";
    assert!(run.stderr.contains(sentence), "{run}");
    // Also where the referee itself plays it at random.
    for words in [
        "check counts-down.sh",
        "alike counts-down.sh builtin:random --time 1m",
    ] {
        let arguments = ["--game", "games/countdown.sh endless", "--sandbox", "none"];
        let run = Referee::new(words.split(' ')).args(arguments).run();
        assert_eq!(run.code, Some(2), "{words}: {run}");
        assert!(run.stderr.contains(sentence), "{words}: {run}");
    }
}

/// A program may take a comment for a part of its state: it is not asked about one.
#[test]
fn comments_of_openings_are_not_shown_to_a_program() {
    let place = tempfile::tempdir().expect("a folder");
    let text = fs::read_to_string(bots().join("games/countdown.sh")).expect("a file");
    let lenient = text.replace(
        "    case $line in\n    *'\"do\":\"about\"'*)",
        "    case $state in *' '*' '*) exit 9 ;; esac\n    case $line in\n    *'\"do\":\"about\"'*)",
    );
    assert_ne!(lenient, text);
    executable(&place.path().join("lenient.sh"), lenient, 0o755);
    fs::write(
        place.path().join("openings.txt"),
        "# Two.\n5 0 # the odd one # more\n6 0\n",
    )
    .expect("a file");
    let words = "tournament builtin:random builtin:random --pairs 2 --openings openings.txt --game ./lenient.sh --sandbox none --no-check --seed 1 --out cup";
    let run = Referee::new(words.split(' ')).directory(place.path()).run();
    assert_eq!(run.code, Some(0), "{run}");
    let games = fs::read_to_string(place.path().join("cup/games.jsonl")).expect("games");
    for record in records(&games) {
        let start = &record["start"];
        assert!(start == "5 0" || start == "6 0", "{record}");
    }
}

#[test]
fn built_in_bots_and_options_are_checked_first() {
    for (arguments, sentence) in [
        (
            vec![
                "--game",
                "games/countdown.sh",
                "builtin:greedy",
                "builtin:random",
            ],
            "builtin:greedy plays the games of this program only; use builtin:random, or a bot of yours",
        ),
        (
            vec![
                "--game",
                "games/countdown.sh",
                "--rules",
                "squares",
                "builtin:random",
                "builtin:random",
            ],
            "--pieces and --rules are for Quarto",
        ),
        (
            vec![
                "tournament",
                "--game",
                "games/countdown.sh",
                "builtin:greedy",
                "builtin:random",
            ],
            "builtin:greedy plays the games of this program only; use builtin:random, or a bot of yours",
        ),
        (
            vec!["--game-option", "a=1", "builtin:random", "builtin:random"],
            "--game-option a: it is for a game that is a program",
        ),
        (
            vec![
                "--game",
                "games/countdown.sh",
                "--game-option",
                "a b",
                "builtin:random",
                "builtin:random",
            ],
            "expected NAME=VALUE, such as heaps=3,4,5",
        ),
        (
            vec![
                "--game",
                "games/none.sh",
                "builtin:random",
                "builtin:random",
            ],
            "there is no such file",
        ),
        (
            vec!["--game", "chess", "builtin:random", "builtin:random"],
            "there is no game `chess`; expected quarto, four-in-a-row, or a game's program such as ./nim.py",
        ),
        (
            vec!["game", "check", "builtin:random"],
            "it is a bot, and no game",
        ),
    ] {
        let run = Referee::new(&arguments).run();
        assert_eq!(run.code, Some(2), "{run}");
        assert!(run.stderr.contains(sentence), "{arguments:?}: {run}");
    }
}

/// A program that does not keep to the protocol is told what to fix.
#[test]
fn check_game_finds_what_is_wrong() {
    let run = Referee::new(["game", "check", "games/countdown.sh"]).run();
    assert_eq!(run.code, Some(3), "{run}");
    for sentence in [
        "ok  says what it is: countdown, rules standard",
        "note  refuses unknown options: it accepts no-such-option=1",
        "wrong  listed answers are legal: the answer `2` is listed in the state `1 ",
        "fix first: listed answers are legal",
    ] {
        assert!(run.stdout.contains(sentence), "{sentence}: {run}");
    }
    let run = Referee::new(["game", "check", "games/countdown.sh no-verdict"]).run();
    let misspelt = "asked {\"do\":\"play\",\"state\":\"1 ";
    assert!(run.stdout.contains(misspelt), "{run}");
    assert!(run.stdout.contains("answered `{\"ilegal\":"), "{run}");
    let run = Referee::new(["game", "check", "games/countdown.sh", "--json"]).run();
    let json: serde_json::Value = serde_json::from_str(&run.stdout).expect("JSON");
    assert_eq!(json["fit"], false);
    assert_eq!(json["findings"][0]["level"], "ok");
}

/// A drawing that a page leaves out is said, with the place.
#[test]
fn check_game_finds_drawings_that_are_not_shown() {
    for (fault, expected, code) in [
        (
            "svg",
            "note  draws: the \"svg\" of the state `7 0` is not shown: it is not well-formed: ",
            0,
        ),
        ("svg-whole", "ok  draws\n", 0),
        (
            "svg-style",
            "note  draws: the \"svg\" of the state `7 0` is shown without <style>, class of <g> (",
            0,
        ),
    ] {
        let program = format!("games/countdown.sh {fault}");
        let run = Referee::new(["game", "check", &program]).run();
        assert_eq!(run.code, Some(code), "{run}");
        assert!(run.stdout.contains(expected), "{fault}: {run}");
        let last = format!("countdown can be played: referee --game '{program}' BOT1 BOT2\n");
        assert!(run.stdout.ends_with(&last), "{run}");
    }
}

/// A field of a wrong type is named, and side 0 begins.
#[test]
fn check_game_names_the_field_that_is_wrong() {
    for (fault, expected) in [
        ("svg-end", "expected [row, column], from 0 in \"last\""),
        (
            "second-side",
            "expected \"side\":0 at the start: side 0 is the one that begins",
        ),
    ] {
        let program = format!("games/countdown.sh {fault}");
        let run = Referee::new(["game", "check", &program]).run();
        assert!(!matches!(run.code, Some(0)), "{run}");
        let said = format!("{}{}", run.stdout, run.stderr);
        assert!(said.contains(expected), "{fault}: {run}");
    }
}

/// A state that no game has is refused, and what is said of a state is the same for each side.
#[test]
fn check_game_finds_contradictions() {
    for (fault, expected) in [
        (
            "svg-any-side",
            "wrong  refuses states out of range: in the state `7 7`: ",
        ),
        (
            "svg-exits",
            "wrong  refuses states out of range: in the state `7 7`: ",
        ),
        (
            "svg-contradicts",
            "wrong  the same question has the same answer: after `",
        ),
    ] {
        let program = format!("games/countdown.sh {fault}");
        let run = Referee::new(["game", "check", &program]).run();
        assert_eq!(run.code, Some(3), "{run}");
        assert!(run.stdout.contains(expected), "{fault}: {run}");
    }
    let run = Referee::new(["game", "check", "games/countdown.sh svg-whole"]).run();
    assert!(
        run.stdout.contains("ok  refuses states out of range\n"),
        "{run}"
    );
}

/// What `hunt` prints is what was typed: it runs as it is.
#[test]
fn hunt_prints_a_command_that_runs() {
    let game = [
        "--game",
        "games/countdown.sh no-verdict",
        "--game-option",
        "unused=1",
    ];
    let bot = "sh -c 'read n; echo 5'";
    let run = Referee::new(["hunt", "--time", "3s", "--sandbox", "none"])
        .args(game)
        .args([bot])
        .run();
    let debug = run
        .stdout
        .lines()
        .find_map(|line| line.trim().strip_prefix("debug: "));
    let words = shell_words::split(debug.expect("a command").trim()).expect("words");
    assert_eq!(
        words[..6],
        ["referee", "debug", game[0], game[1], game[2], game[3]],
        "{run}"
    );
    let again = Referee::new(&words[1..]).stdin("quit\n").run();
    assert_eq!(again.code, Some(0), "{again}");
    assert!(again.stdout.contains("  asked  "), "{again}");
}

/// `grade` has references for the games of the program only.
#[test]
fn grade_asks_for_a_scale() {
    let run = Referee::new(["grade", "--game", "games/countdown.sh", "counts-down.sh"]).run();
    assert_eq!(run.code, Some(2), "{run}");
    let expected = "countdown has no built-in reference bots; write a scale";
    assert!(run.stderr.contains(expected), "{run}");
    assert!(run.stderr.len() < 400, "{run}");
}

/// Whoever makes a page is told that games have no drawings on it, and why.
#[test]
fn report_says_which_games_are_not_drawn() {
    let games = [
        "--game",
        "games/countdown.sh svg-whole",
        "-n",
        "2",
        "--seed",
        "1",
    ];
    let run = Referee::new(["builtin:random", "builtin:random"])
        .args(games)
        .recorded()
        .run();
    let file = run.scratch().join(RECORDS);
    let file = file.to_str().expect("UTF-8");
    let page = run.scratch().join("page.html");
    let page = page.to_str().expect("UTF-8");
    let without =
        "the games of `countdown` have no drawings; if it is a program, give it with --game";
    for (more, sentence) in [
        (&[][..], without),
        (&["--game", "games/countdown.sh svg-whole"], ""),
        (
            &["--game", "games/countdown.sh svg-end"],
            "no drawings, because the game's program failed: ",
        ),
    ] {
        let run = Referee::new(["report", file, "-o", page]).args(more).run();
        assert_eq!(run.code, Some(0), "{run}");
        assert!(run.stderr.contains(sentence), "{run}");
        assert_eq!(
            run.stderr.contains("no drawings"),
            !sentence.is_empty(),
            "{run}"
        );
    }
}

/// The rules of such a game are not those of protocol.md.
#[test]
fn check_points_to_the_rules_of_the_game() {
    for (bot, advice) in [
        (
            "sh -c 'while read n; do echo x; done'",
            "write an answer in the form that the game expects, and nothing else; it is the game's own (protocol-games.md)",
        ),
        (
            "sh -c 'while read n; do echo 2; done'",
            "one that the rules of the game allow there; they are the game's own",
        ),
    ] {
        let options = ["--game", "games/countdown.sh", "--sandbox", "none"];
        let run = Referee::new(["check", bot]).args(options).run();
        assert_eq!(run.code, Some(3), "{run}");
        assert!(run.stdout.contains(advice), "{run}");
        assert!(!run.stdout.contains("protocol.md"), "{run}");
    }
}

/// What is wrong with the game's program is said once, and not for each of its games.
#[test]
fn replay_says_once_what_is_missing() {
    let games = ["--game", "games/countdown.sh", "-n", "3", "--seed", "1"];
    let run = Referee::new(["builtin:random", "builtin:random"])
        .args(games)
        .recorded()
        .run();
    let file = run.scratch().join(RECORDS);
    let file = file.to_str().expect("UTF-8");
    for (more, sentence) in [
        (
            &[][..],
            "the game `countdown` is unknown; if it is a program, give it with --game",
        ),
        (
            &["--game", "./none.sh"],
            "--game: cannot start ./none.sh: there is no such file",
        ),
    ] {
        let run = Referee::new(["replay", file]).args(more).run();
        assert_eq!(run.code, Some(2), "{run}");
        assert_eq!(run.stderr.matches(sentence).count(), 1, "{run}");
        let last = "3 of 3 games break the rules or cannot be read\n";
        assert!(run.stderr.ends_with(last), "{run}");
    }
}

/// `--start` is a state of the game then.
#[test]
fn debug_asks_about_a_state() {
    let debug = |more: &[&str]| {
        let program = ["--game", "games/countdown.sh"];
        let run = Referee::new(["debug"]).args(program).args(more);
        run.stdin("quit\n").run()
    };
    let run = debug(&["--start", "5 1", "./counts-down.sh"]);
    assert_eq!(run.code, Some(0), "{run}");
    assert!(run.stdout.contains("  asked  5\n"), "{run}");
    for (more, sentence) in [
        (["--start", "0 1"], "referee: --start `0 1`: "),
        (
            ["--rules", "squares"],
            "referee: --pieces and --rules are for Quarto",
        ),
    ] {
        let run = debug(&[&more[..], &["./counts-down.sh"]].concat());
        assert_eq!(run.code, Some(2), "{run}");
        assert!(run.stderr.contains(sentence), "{run}");
    }
}
