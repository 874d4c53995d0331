//! Games that are programs: the shipped ones, and those of protocol-games.md.

use std::fs;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use libtest_mimic::{Failed, Trial};
use serde_json::{Value, json};

use crate::common::{Referee, printed};
use crate::requirements::{program, unavailable};

/// A test, and the programs that it needs, with their Debian packages.
type Test = (
    &'static str,
    fn() -> Result<(), Failed>,
    &'static [(&'static str, &'static str)],
);

const PYTHON: (&str, &str) = ("python3", "python3");

const TESTS: &[Test] = &[
    ("transcripts", transcripts, &[PYTHON]),
    ("shipped_games_are_fit", fit, &[PYTHON]),
    (
        "starters_are_fit_and_play",
        starters,
        &[PYTHON, ("node", "nodejs"), ("cc", "gcc")],
    ),
    (
        "records_of_quarto_are_those_of_the_built_in_game",
        quarto,
        &[PYTHON, ("cc", "gcc")],
    ),
    (
        "languages_play_the_same_games",
        languages,
        &[PYTHON, ("node", "nodejs"), ("cc", "gcc")],
    ),
    ("chance_is_the_same_again", chance, &[PYTHON]),
    ("people_see_what_their_side_may", hidden, &[PYTHON]),
    (
        "a_game_that_hides_nothing_is_named",
        hides_nothing,
        &[PYTHON],
    ),
    (
        "a_game_that_fails_to_draw_is_named",
        fails_to_draw,
        &[PYTHON],
    ),
    ("tournament_in_a_sandbox", tournament, &[PYTHON]),
    ("no_command_makes_a_state", made_states, &[PYTHON]),
    ("printed_commands_run", printed_commands, &[PYTHON]),
    ("few_questions_find_a_fault", few_questions, &[PYTHON]),
    (
        "turns_in_a_row_and_states_with_signs",
        turns_in_a_row,
        &[PYTHON],
    ),
];

pub(crate) fn trials() -> Vec<Trial> {
    let trials = TESTS.iter().map(|&(name, test, needs)| {
        let name = format!("games::{name}");
        let missing = needs
            .iter()
            .find(|(command, _)| program(command, &[]).is_none());
        match missing {
            Some((command, package)) => unavailable(name, command, package),
            None => Trial::test(name, test),
        }
    });
    trials.collect()
}

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn game(name: &str) -> String {
    root()
        .join("games")
        .join(name)
        .to_string_lossy()
        .into_owned()
}

fn referee<'a>(directory: &Path, arguments: impl IntoIterator<Item = &'a str>) -> Output {
    crate::common::command(env!("CARGO_BIN_EXE_referee"))
        .args(arguments)
        .current_dir(directory)
        .stdin(Stdio::null())
        .output()
        .expect("the referee")
}

fn succeeded(output: Output) -> Result<String, Failed> {
    if output.status.success() {
        return Ok(String::from_utf8(output.stdout)?);
    }
    Err(format!("{output:#?}").into())
}

/// The questions and answers of protocol-games.md, given to the programs that they are of.
fn transcripts() -> Result<(), Failed> {
    use std::io::Write as _;

    let document = fs::read_to_string(root().join("protocol-games.md"))?;
    let mut count = 0;
    for block in document.split("```transcript ").skip(1) {
        let block = block.split("```").next().unwrap_or_default();
        let (name, lines) = block.split_once('\n').ok_or("a name")?;
        let mut child = Command::new("python3")
            .arg(game(&format!("{name}.py")))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()?;
        let questions = lines.lines().filter_map(|line| line.strip_prefix("> "));
        let mut input = child.stdin.take().ok_or("a pipe")?;
        for question in questions {
            writeln!(input, "{question}")?;
        }
        drop(input);
        let output = child.wait_with_output()?;
        let output = String::from_utf8(output.stdout)?;
        let mut answers = output.lines();
        for expected in lines.lines().filter_map(|line| line.strip_prefix("< ")) {
            let expected: Value = serde_json::from_str(expected)?;
            let answer: Value = serde_json::from_str(answers.next().unwrap_or("null"))?;
            if answer != expected {
                return Err(format!("{name}: {answer}, expected {expected}").into());
            }
            count += 1;
        }
    }
    if count < 12 {
        return Err(format!("only {count} answers").into());
    }
    Ok(())
}

fn fit() -> Result<(), Failed> {
    let scratch = tempfile::tempdir()?;
    for (name, options) in [
        ("tic-tac-toe.py", ""),
        ("nim.py", ""),
        ("pig.py", ""),
        ("quarto.py", ""),
        ("gomoku.py", ""),
        ("gomoku.py", "--game-option opening=swap"),
        ("othello.py", ""),
        ("dots-and-boxes.py", "--game-option size=2"),
    ] {
        let options = options.split_whitespace();
        let path = game(name);
        let words = ["game", "check", &path].into_iter().chain(options);
        let text = succeeded(referee(scratch.path(), words))?;
        if text.contains("note") || !text.contains("can be played") {
            return Err(text.into());
        }
    }
    Ok(())
}

/// What `referee game new` writes, compiled as it says.
fn starters() -> Result<(), Failed> {
    let scratch = tempfile::tempdir()?;
    let mut results = Vec::new();
    for (language, program) in [
        ("python", "./mygame.py"),
        ("javascript", "./mygame.js"),
        ("c", "./mygame.c.out"),
    ] {
        let text = succeeded(referee(scratch.path(), ["game", "new", language]))?;
        if let Some(compile) = text
            .lines()
            .find_map(|line| line.strip_prefix("compile it: "))
        {
            let done = Command::new("sh")
                .args(["-c", compile])
                .current_dir(scratch.path())
                .status()?;
            if !done.success() {
                return Err(compile.into());
            }
        }
        succeeded(referee(scratch.path(), ["game", "check", program]))?;
        let bots = [
            "--game",
            program,
            "--seed",
            "5",
            "-n",
            "6",
            "-v",
            "builtin:random",
            "builtin:random",
        ];
        let games = succeeded(referee(scratch.path(), bots))?;
        // Times differ.
        let games: Vec<_> = games
            .lines()
            .map(|line| line.split("  ").next().unwrap_or_default().to_owned())
            .collect();
        results.push(games);
    }
    if results[0].len() < 6 || results.iter().any(|games| *games != results[0]) {
        return Err(format!("different games: {results:#?}").into());
    }
    Ok(())
}

/// The records of a file, without what differs from run to run.
fn records(path: &Path) -> Result<Vec<Value>, Failed> {
    let mut records = Vec::new();
    for line in fs::read_to_string(path)?.lines() {
        let mut record: Value = serde_json::from_str(line)?;
        for field in [
            "times_ms",
            "charged_ms",
            "started",
            "usage",
            "processes",
            "delayed",
        ] {
            record.as_object_mut().ok_or("an object")?.remove(field);
        }
        records.push(record);
    }
    Ok(records)
}

fn quarto() -> Result<(), Failed> {
    let scratch = tempfile::tempdir()?;
    let greedy = root()
        .join("players/greedy.py")
        .to_string_lossy()
        .into_owned();
    // It ends in the middle of a game.
    let bad = "sh -c 'read request; case $request in *\" -\") echo A ;; *) echo 1 B ;; esac'";
    let compiled = scratch.path().join("quarto").to_string_lossy().into_owned();
    let done = Command::new("cc")
        .args(["-O2", "-o", &compiled, &game("quarto.c")])
        .status()?;
    if !done.success() {
        return Err("games/quarto.c".into());
    }
    let mut played = Vec::new();
    for (name, game) in [
        ("built-in", "quarto".to_owned()),
        ("program", game("quarto.py")),
        ("compiled", compiled),
    ] {
        let file = format!("{name}.jsonl");
        for (first, second) in [(&*greedy, "builtin:random"), (bad, &*greedy)] {
            let arguments = [
                "--game",
                &game,
                first,
                second,
                "-n",
                "12",
                "--seed",
                "3",
                "--sandbox",
                "none",
                "--record",
                &file,
            ];
            succeeded(referee(scratch.path(), arguments))?;
        }
        played.push(records(&scratch.path().join(file))?);
    }
    if played[0].len() != 24 || played[0] != played[1] || played[0] != played[2] {
        return Err(format!(
            "{:#?}",
            played[0].iter().zip(&played[1]).find(|(a, b)| a != b)
        )
        .into());
    }
    // Either replays the other's records.
    let program = game("quarto.py");
    succeeded(referee(scratch.path(), ["replay", "-q", "program.jsonl"]))?;
    let given = ["replay", "-q", "built-in.jsonl", "--game", &program];
    succeeded(referee(scratch.path(), given))?;
    Ok(())
}

/// A person throws and holds; the opponent's points are shown at the end only.
fn hidden() -> Result<(), Failed> {
    use std::io::Write as _;

    let scratch = tempfile::tempdir()?;
    let pig = game("pig.py");
    let arguments = [
        "--game",
        &pig,
        "human",
        "builtin:random",
        "--first",
        "1",
        "--seed",
        "4",
    ];
    let mut child = crate::common::command(env!("CARGO_BIN_EXE_referee"))
        .args(arguments)
        .current_dir(scratch.path())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()?;
    let mut input = child.stdin.take().ok_or("a pipe")?;
    input.write_all("roll\nhold\n".repeat(40).as_bytes())?;
    drop(input);
    let text = succeeded(child.wait_with_output()?)?;
    let is_points = |line: &&str| {
        let of_both = line
            .strip_prefix("first ")
            .and_then(|line| line.split_once(", second "));
        of_both.is_some_and(|(own, other)| {
            own.parse::<u32>().is_ok() && (other == "?" || other.parse::<u32>().is_ok())
        })
    };
    let points: Vec<&str> = text.lines().filter(is_points).collect();
    let (last, before) = points.split_last().ok_or("points")?;
    if before.len() < 10
        || !before.iter().all(|line| line.ends_with(", second ?"))
        || last.ends_with('?')
    {
        return Err(text.into());
    }
    Ok(())
}

/// What `check-game` says of Blind Pig with another text in place of one of its own: it is not fit, for this reason.
fn is_unfit(own: &str, other: &str, reason: &str) -> Result<(), Failed> {
    let scratch = tempfile::tempdir()?;
    let file = scratch.path().join("other.py");
    fs::write(
        &file,
        fs::read_to_string(game("pig.py"))?.replace(own, other),
    )?;
    let file = file.to_str().ok_or("a path")?;
    let output = referee(scratch.path(), ["game", "check", file]);
    let text = String::from_utf8(output.stdout)?;
    if output.status.success() || !text.contains(reason) {
        return Err(text.into());
    }
    Ok(())
}

/// People see everything although it says that they do not.
fn hides_nothing() -> Result<(), Failed> {
    let reason = "both sides are shown the same";
    is_unfit("question.get(\"side\")", "None", reason)
}

/// It fails when it is to draw a later position.
fn fails_to_draw() -> Result<(), Failed> {
    let asked = "    if kind == \"drawing\":\n";
    let fails = format!("{asked}        assert game[\"turn\"] < 3\n");
    is_unfit(asked, &fails, "asked {\"do\":\"drawing\"")
}

/// A game in another language makes the same positions of the same turns: its random games are the same.
fn languages() -> Result<(), Failed> {
    let scratch = tempfile::tempdir()?;
    for (name, options) in [
        ("gomoku", "--game-option opening=swap"),
        ("othello", ""),
        ("dots-and-boxes", "--game-option size=4"),
    ] {
        let program = scratch.path().join(name);
        let compiled = Command::new("cc")
            .args(["-std=c11", "-Wall", "-Wextra", "-Werror", "-O2", "-o"])
            .arg(&program)
            .arg(game(&format!("{name}.c")))
            .output()?;
        if !compiled.status.success() {
            return Err(format!("{compiled:#?}").into());
        }
        let [py, js] = ["py", "js"].map(|extension| game(&format!("{name}.{extension}")));
        let mut played = Vec::new();
        for program in [py, js, program.to_string_lossy().into_owned()] {
            let record = format!("{name}-{}.jsonl", played.len());
            let words = ["builtin:random", "builtin:random", "-n", "6", "--seed", "1"];
            let more = ["--game", &program, "--record", &record];
            let words = words
                .into_iter()
                .chain(more)
                .chain(options.split_whitespace());
            succeeded(referee(scratch.path(), words))?;
            let text = succeeded(referee(
                scratch.path(),
                ["game", "check", &program]
                    .into_iter()
                    .chain(options.split_whitespace()),
            ))?;
            let mut checked = text.lines().filter(|line| !line.contains("is quick"));
            if text.contains("note") || !checked.clone().any(|line| line.contains("can be played"))
            {
                return Err(text.into());
            }
            let checked = checked
                .find(|line| line.contains("games end"))
                .map(str::to_owned);
            let games = records(&scratch.path().join(&record))?;
            let games: Vec<Value> = games
                .iter()
                .map(|record| json!([record["start"], record["turns"], record["result"]]))
                .collect();
            played.push((checked, games));
        }
        if played[0].1.len() != 6 || played.iter().any(|other| *other != played[0]) {
            return Err(format!("{name}: {played:#?}").into());
        }
    }
    Ok(())
}

/// Dice follow from the seed: a match can be played again, and two games have the same dice.
fn chance() -> Result<(), Failed> {
    let scratch = tempfile::tempdir()?;
    let pig = game("pig.py");
    let mut played = Vec::new();
    for file in ["a.jsonl", "b.jsonl"] {
        let arguments = [
            "--game",
            &pig,
            "builtin:random",
            "builtin:random",
            "-n",
            "4",
            "--seed",
            "9",
            "--record",
            file,
        ];
        succeeded(referee(scratch.path(), arguments))?;
        played.push(records(&scratch.path().join(file))?);
    }
    if played[0] != played[1] {
        return Err("another match with the same seed".into());
    }
    // A process of the first game would know what the second begins with.
    if fs::read_to_string(scratch.path().join("a.jsonl"))?.contains("\"since\"") {
        return Err("a process played two games".into());
    }
    let start = |game: usize| played[0][game]["start"].clone();
    if start(0) != start(1) || start(0) == start(2) || start(2) != start(3) {
        return Err(format!("{:?}", [start(0), start(1), start(2), start(3)]).into());
    }
    succeeded(referee(
        scratch.path(),
        ["replay", "-q", "a.jsonl", "--game", &pig],
    ))?;
    let refused = referee(scratch.path(), ["replay", "-q", "a.jsonl"]);
    if refused.status.success() || !String::from_utf8_lossy(&refused.stderr).contains("--game") {
        return Err(format!("{refused:#?}").into());
    }
    Ok(())
}

/// A tournament with a page, resumed without naming the game again.
fn tournament() -> Result<(), Failed> {
    let scratch = tempfile::tempdir()?;
    let bot = "#!/usr/bin/env python3\nimport sys\nfor line in sys.stdin:\n    heaps = list(map(int, line.split()))\n    heap = max(range(len(heaps)), key=heaps.__getitem__)\n    print(heap + 1, heaps[heap] if heaps[heap] < 3 else heaps[heap] - 2, flush=True)\n";
    for name in ["anna.py", "ben.py"] {
        fs::write(scratch.path().join(name), bot)?;
        Command::new("chmod")
            .arg("+x")
            .arg(scratch.path().join(name))
            .status()?;
    }
    let nim = game("nim.py");
    let arguments = [
        "tournament",
        "anna.py",
        "ben.py",
        "builtin:random",
        "--game",
        &nim,
        "--game-option",
        "heaps=4,5,6",
        "--pairs",
        "4",
        "--out",
        "cup",
        "--seed",
        "1",
        "--sandbox",
        "auto",
        "--report",
        "cup.html",
        "cup.html",
    ];
    let table = succeeded(referee(scratch.path(), arguments))?;
    if !table.contains("anna") {
        return Err(table.into());
    }
    let played = records(&scratch.path().join("cup/games.jsonl"))?;
    let is_nim = |record: &Value| record["game"] == "nim" && record["rules"] == "heaps=4,5,6";
    if played.len() != 24 || !played.iter().all(is_nim) {
        return Err(format!("{played:#?}").into());
    }
    let resumed = succeeded(referee(scratch.path(), ["tournament", "--out", "cup"]))?;
    if !resumed.contains("anna") {
        return Err(resumed.into());
    }
    succeeded(referee(
        scratch.path(),
        ["replay", "-q", "cup", "--game", &nim],
    ))?;
    // The same bot gives the same answers again.
    let again = [
        "rerun",
        "cup",
        "./anna.py",
        "--as",
        "anna.py",
        "--game",
        &nim,
        "--json",
        "--sandbox",
        "none",
    ];
    let again: Value = serde_json::from_str(&succeeded(referee(scratch.path(), again))?)?;
    let games = again["games"].as_array().ok_or("games")?;
    if games.len() != 16 || !games.iter().all(|game| game["departs"].is_null()) {
        return Err(format!("{again:#}").into());
    }
    Ok(())
}

/// For Nim: takes one from the first heap that has some, or all of the last one.
fn nim_bots(folder: &Path) -> Result<(), Failed> {
    let first = "for line in sys.stdin:\n    heaps = list(map(int, line.split()))\n";
    for (name, choice) in [
        (
            "first.py",
            "next(i for i, heap in enumerate(heaps, 1) if heap), 1",
        ),
        (
            "last.py",
            "len(heaps) if heaps[-1] else next(i for i, heap in enumerate(heaps, 1) if heap), heaps[-1] or 1",
        ),
        ("wrong.py", "9, 9"),
    ] {
        let text = format!("import sys\n{first}    print(*({choice}), flush=True)\n");
        fs::write(folder.join(name), text)?;
    }
    Ok(())
}

/// Only the game's own states are sent to it: here it exits when it is asked about another one.
fn made_states() -> Result<(), Failed> {
    let scratch = tempfile::tempdir()?;
    nim_bots(scratch.path())?;
    let text = fs::read_to_string(game("nim.py"))?;
    let (rules, _) = text.split_once("\nfor line in sys.stdin").ok_or("a loop")?;
    let strict = "
MADE = __file__ + '.made'
for line in sys.stdin:
    question = json.loads(line)
    state = question.get('state')
    if state is not None and state not in open(MADE).read().split('\\n'):
        sys.exit('a state that it has not made: ' + state)
    reply = answer(question)
    if 'state' in reply:
        with open(MADE, 'a') as made:
            made.write(reply['state'] + '\\n')
    print(json.dumps(reply), flush=True)
";
    fs::write(scratch.path().join("strict.py"), format!("{rules}{strict}"))?;
    let game = [
        "--game",
        "./strict.py",
        "--game-option",
        "heaps=4,5,6",
        "--sandbox",
        "none",
    ];
    let table = succeeded(referee(
        scratch.path(),
        [
            "alike",
            "--seed",
            "1",
            "--time",
            "15s",
            "first.py",
            "last.py",
            "builtin:random",
        ]
        .into_iter()
        .chain(game),
    ))?;
    if table.contains("equally good") || !table.contains("legal turns") {
        return Err(table.into());
    }
    let json = "alike --json --seed 1 --time 5s first.py last.py builtin:random";
    let json = succeeded(referee(scratch.path(), json.split(' ').chain(game)))?;
    if json.contains("\"right") || !json.contains("\"turns\":") {
        return Err(json.into());
    }
    for words in [
        "first.py last.py --seed 1 -n 2 --record games.jsonl",
        "tournament first.py last.py builtin:random --no-check --pairs 2 --opening-plies 2 --out cup --seed 1",
        "check last.py",
        "hunt --time 3s last.py",
    ] {
        succeeded(referee(scratch.path(), words.split(' ').chain(game)))?;
    }
    for words in ["replay -q games.jsonl", "report cup -o cup.html"] {
        succeeded(referee(
            scratch.path(),
            words.split(' ').chain(["--game", "./strict.py"]),
        ))?;
    }
    Ok(())
}

/// In Dots and Boxes a side draws again, and a state has the sign of a comment.
fn turns_in_a_row() -> Result<(), Failed> {
    let scratch = tempfile::tempdir()?;
    let place = scratch.path();
    // Draws the first line that is left; knows no answer when few are.
    let bot = "
import sys
for line in sys.stdin:
    lines = line.split()[3]
    print('what' if lines.count('.') < 5 else lines.index('.') + 1, flush=True)
";
    fs::write(place.join("lines.py"), bot)?;
    let game = game("dots-and-boxes.py");
    let options = [
        "--game",
        &game,
        "--game-option",
        "size=2",
        "--sandbox",
        "none",
    ];
    let hunt = "hunt --time 2s --seed 1 --record found.jsonl lines.py";
    referee(place, hunt.split(' ').chain(options));
    let found = records(&place.join("found.jsonl"))?;
    if found.is_empty() {
        return Err("nothing was found".into());
    }
    for record in found {
        let winner = record["result"]["winner"].as_u64().ok_or("a winner")?;
        let bots = record["bots"].as_array().ok_or("bots")?;
        let name = &bots[usize::try_from(winner)?]["name"];
        if name != "hunt"
            || record["turns"]
                .as_array()
                .is_none_or(|turns| turns.len() < 7)
        {
            return Err(format!("{record}").into());
        }
    }
    fs::write(
        place.join("openings.txt"),
        "# Two lines.\n2 ##.......... .... 0 # above\n2 #.........#. .... 0\n",
    )?;
    let words = "tournament builtin:random builtin:random --pairs 2 --openings openings.txt --out cup --seed 1";
    succeeded(referee(place, words.split(' ').chain(options)))?;
    let starts: Vec<Value> = records(&place.join("cup/games.jsonl"))?
        .iter()
        .map(|record| record["start"].clone())
        .collect();
    let [first, second] = ["2 ##.......... .... 0", "2 #.........#. .... 0"];
    if starts.len() != 4 || starts.iter().any(|start| start != first && start != second) {
        return Err(format!("{starts:?}").into());
    }
    Ok(())
}

/// In a game of many turns, a look at what each of them allows would be 50,000 questions to its program.
fn few_questions() -> Result<(), Failed> {
    let scratch = tempfile::tempdir()?;
    let place = scratch.path();
    let text = fs::read_to_string(game("gomoku.py"))?;
    let (rules, _) = text.split_once("\nfor line in sys.stdin").ok_or("a loop")?;
    let counting = "
for line in sys.stdin:
    print(json.dumps(answer(json.loads(line))), flush=True)
    with open(__file__ + '.count', 'a') as count:
        count.write('.')
";
    fs::write(place.join("counting.py"), format!("{rules}{counting}"))?;
    fs::write(
        place.join("wrong.py"),
        "import os, sys\nfor line in sys.stdin:\n    if not os.path.exists('asked'):\n        os.link('counting.py.count', 'asked')\n        os.rename('counting.py.count', 'counted')\n    print('what', flush=True)\n",
    )?;
    let options = ["--game", "./counting.py", "--sandbox", "none"];
    // Until the bot is asked: one look at the turns, and at the kinds of position after them, by two threads.
    let hunt = "hunt --time 1h --seed 4 wrong.py";
    let mut hunting = Referee::new(hunt.split(' ').chain(options))
        .directory(place)
        .start();
    hunting.wait_until(|_| place.join("counted").exists());
    hunting.signal("INT");
    hunting.finish();
    let asked = fs::metadata(place.join("counted"))?.len();
    if asked > 2_000 {
        return Err(format!("hunt: {asked} questions to the game's program").into());
    }
    // In all: positions are drawn for a share of the time, and each takes some hundred; it was millions.
    let _ = fs::remove_file(place.join("counting.py.count"));
    let alike = "alike --time 2s --seed 1 wrong.py builtin:random";
    referee(place, alike.split(' ').chain(options));
    let asked = fs::metadata(place.join("counting.py.count"))?.len();
    if asked > 500_000 {
        return Err(format!("alike: {asked} questions to the game's program").into());
    }
    // No questions are looked for when a bot fails with the first.
    let _ = fs::remove_file(place.join("counting.py.count"));
    referee(place, "check wrong.py".split(' ').chain(options));
    let asked = fs::metadata(place.join("counting.py.count"))?.len();
    if asked > 1_000 {
        return Err(format!("check: {asked} questions to the game's program").into());
    }
    Ok(())
}

/// What to put into a printed command, as it asks for it.
const PLACEHOLDERS: [(&str, &str); 4] = [
    ("BOT", "./wrong.py"),
    ("BOT1", "./wrong.py"),
    ("BOT2", "builtin:random"),
    ("I/N", "1/1"),
];

/// Runs a printed command as a person would, with the words in it that stand for something.
fn runs(place: &Path, command: &str) -> Result<String, Failed> {
    let run = printed::run(place, command, &PLACEHOLDERS);
    // 3: a bot plays mistakes.
    if !matches!(run.code, Some(0 | 3)) {
        return Err(format!("{command}\n{run}").into());
    }
    Ok(run.stdout)
}

/// Every command line that a command prints about games that are programs: with what was typed, it runs.
fn printed_commands() -> Result<(), Failed> {
    let scratch = tempfile::tempdir()?;
    let place = scratch.path();
    let said = succeeded(referee(place, ["game", "new", "python", "new.py"]))?;
    let mut found = printed::commands(&said);
    let new = fs::read_to_string(place.join("new.py"))?;
    let game = |name: &str| fs::read_to_string(game(name));
    for (rules, options) in [
        (game("gomoku.py")?, "opening=swap"),
        (game("othello.py")?, ""),
        (game("dots-and-boxes.py")?, "size=2"),
        (new, ""),
    ] {
        let folder = tempfile::tempdir()?;
        printed_about(folder.path(), &rules, options)?;
    }
    printed_about_a_class()?;
    // The other one plays with a person.
    found.retain(|command| !command.contains(" human "));
    if found.is_empty() {
        return Err(said.into());
    }
    for command in found {
        runs(place, &command)?;
    }
    Ok(())
}

fn printed_about(place: &Path, rules: &str, options: &str) -> Result<(), Failed> {
    fs::write(place.join("my game.py"), rules)?;
    let wrong = "#!/usr/bin/env python3\nimport sys\nfor line in sys.stdin:\n    print('what', flush=True)\n";
    fs::write(place.join("wrong.py"), wrong)?;
    fs::create_dir(place.join("built"))?;
    let manifest = "program = \"bot\"\nbuild = \"cp source bot && chmod +x bot\"\n";
    fs::write(place.join("built/referee.toml"), manifest)?;
    fs::write(place.join("built/source"), wrong)?;
    for file in ["my game.py", "wrong.py"] {
        Command::new("chmod")
            .arg("+x")
            .arg(place.join(file))
            .status()?;
    }
    let option = if options.is_empty() {
        String::new()
    } else {
        format!("--game-option {options}")
    };
    let game = format!("--game './my game.py' {option}");
    for (words, kinds) in [
        (
            format!("game check './my game.py' {option}"),
            &["referee --game"][..],
        ),
        (
            format!("-v {game} --seed 1 ./wrong.py builtin:random"),
            &["printf "],
        ),
        (format!("check {game} ./wrong.py"), &["printf "]),
        // Built by the referee.
        (
            format!("-v {game} --seed 1 ./built builtin:random"),
            &["printf "],
        ),
        (
            format!("hunt {game} --time 1s ./wrong.py"),
            &["referee debug"],
        ),
        (
            format!(
                "shard plan {game} --no-check --pairs 2 --seed 1 --out parts ./wrong.py builtin:random"
            ),
            &["referee shard run", "referee shard merge"],
        ),
        (
            "shard run parts --shard 1/1".to_owned(),
            &["referee shard merge"],
        ),
        (format!("grade {game} ./wrong.py"), &["referee print scale"]),
        (
            format!("-n 2 {game} --seed 1 --record games.jsonl ./wrong.py builtin:random"),
            &[],
        ),
        (
            "replay games.jsonl --number 1 --game './my game.py'".to_owned(),
            &["printf "],
        ),
        (
            format!("compare {game} --seed 1 ./wrong.py builtin:random"),
            &["printf "],
        ),
        (
            format!("tournament {game} --seed 1 --out none ./wrong.py builtin:random"),
            &["printf ", "referee check --game"],
        ),
    ] {
        let mut said = String::new();
        let mut found = Vec::new();
        // A machine that does other things needs longer.
        for time in ["1s", "8s", "40s"] {
            let words = shell_words::split(&words.replace("--time 1s", &format!("--time {time}")))?;
            let output = referee(place, words.iter().map(String::as_str));
            said = String::from_utf8([output.stdout, output.stderr].concat())?;
            found = printed::commands(&said);
            if !words[0].starts_with("hunt") || !found.is_empty() {
                break;
            }
        }
        for kind in kinds {
            if !found.iter().any(|command| command.starts_with(kind)) {
                return Err(
                    format!("{words:?} printed no `{kind}`, but {found:?} in\n{said}").into(),
                );
            }
        }
        for command in found {
            let answered = runs(place, &command)?;
            if command.starts_with("printf ") && !answered.contains("what") {
                return Err(format!("{command}\n{answered}").into());
            }
        }
    }
    Ok(())
}

/// A class of bots for Dots and Boxes, of which one gives nonsense, and a scale.
fn write_class(place: &Path) -> Result<(), Failed> {
    fs::write(
        place.join("my game.py"),
        fs::read_to_string(game("dots-and-boxes.py"))?,
    )?;
    let class = place.join("my class");
    fs::create_dir(&class)?;
    for (name, line) in [
        ("ann.py", "line.split()[3].index('.') + 1"),
        ("ben.py", "line.split()[3].rindex('.') + 1"),
        ("cem.py", "'what'"),
        (
            "dan.py",
            "line.split()[3].rindex('.') + 1 if '#' in line else 5",
        ),
    ] {
        let bot = format!("import sys\nfor line in sys.stdin:\n    print({line}, flush=True)\n");
        fs::write(class.join(name), bot)?;
    }
    fs::copy(class.join("cem.py"), place.join("wrong.py"))?;
    let rung = "[[rung]]\nname = \"random\"\nbot = \"builtin:random\"\nelo0 = 0\nelo1 = 200\npoints = 10\n";
    fs::write(
        place.join("scale.toml"),
        format!("seed = 1\nbudget = 2\n{rung}"),
    )?;
    Ok(())
}

/// Those about folders of bots, in Dots and Boxes.
fn printed_about_a_class() -> Result<(), Failed> {
    let scratch = tempfile::tempdir()?;
    let place = scratch.path();
    write_class(place)?;
    let game = "--game './my game.py' --game-option size=2";
    let few = "--pairs 1 --seed 1";
    for (script, kinds) in [
        (
            format!("referee -v {game} 'my class' builtin:random"),
            &["referee check --each --game ", "referee tournament --game "][..],
        ),
        (
            format!("referee check {game} 'my class'"),
            &["referee check --each --game ", "referee tournament --game "],
        ),
        (
            format!("referee check --each {game} 'my class'"),
            &["printf "],
        ),
        (
            format!(
                "referee tournament {game} {few} --out cup 'my class' && referee report cup --each pages && cat pages/cem*.md"
            ),
            &["referee check --game ", "printf "],
        ),
        (
            format!(
                "referee grade {game} --scale scale.toml --only ann.py 'my class' --out 'my grades' && cat 'my grades'/*/grade.md"
            ),
            &["referee replay ", "referee grade "],
        ),
        (
            "referee grade --scale scale.toml --only ben.py cup --out others && cat others/*/grade.md".to_owned(),
            &["referee replay ", "referee grade "],
        ),
        (
            format!("referee league {game} {few} --from 'my class' term"),
            &[],
        ),
        (
            "referee league withdraw term ann".to_owned(),
            &["referee league "],
        ),
        (
            "referee league final term --announce".to_owned(),
            &["referee league final "],
        ),
    ] {
        let run = printed::shell(place, &script);
        let found = printed::commands(&format!("{}{}", run.stdout, run.stderr));
        if let Some(kind) = kinds
            .iter()
            .find(|kind| !found.iter().any(|command| command.starts_with(**kind)))
        {
            return Err(format!("{script} printed no `{kind}`, but {found:?}\n{run}").into());
        }
        for command in found {
            runs(place, &command)?;
        }
    }
    // All of that was this game, with its option.
    let mut played = 0;
    for folder in fs::read_dir(place)? {
        let games = folder?.path().join("games.jsonl");
        if !games.is_file() {
            continue;
        }
        for record in records(&games)? {
            if record["game"] != "dots-and-boxes" || record["rules"] != "size=2" {
                return Err(format!("{}: {record}", games.display()).into());
            }
            played += 1;
        }
    }
    if played < 20 {
        return Err(format!("only {played} games").into());
    }
    // A person is not there to play.
    let run = printed::shell(
        place,
        &format!("referee tournament {game} human builtin:random"),
    );
    let typed = game.replace("size=2", "'size=2'");
    let expected = format!("they play matches: referee {typed} human BOT\n");
    if !run.stderr.ends_with(&expected) {
        return Err(format!("{run}").into());
    }
    Ok(())
}
