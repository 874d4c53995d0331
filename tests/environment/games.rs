//! Games that are programs: the shipped ones, and those of protocol-games.md.

use std::fs;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use libtest_mimic::{Failed, Trial};
use serde_json::Value;

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
    for name in ["tic-tac-toe.py", "nim.py", "pig.py", "quarto.py"] {
        let text = succeeded(referee(scratch.path(), ["check-game", &game(name)]))?;
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
        let text = succeeded(referee(scratch.path(), ["new-game", language]))?;
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
        succeeded(referee(scratch.path(), ["check-game", program]))?;
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
    let output = referee(scratch.path(), ["check-game", file]);
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
