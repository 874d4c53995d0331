//! People at the keyboard of Windows, who type through a pipe here; and what is made of games that were played.

use std::fs;
use std::io::Write as _;
use std::path::Path;
use std::process::Output;

use libtest_mimic::Failed;

use super::{INTERNAL, Place, STARTS, output};
use crate::cross::{equal, here, records};

/// Runs the referee with this input, in a folder whose name has blanks and letters beyond ASCII.
fn typed(
    place: &Place,
    directory: &Path,
    arguments: &[&str],
    input: &str,
) -> Result<Output, Failed> {
    loop_of_starts(|| {
        let mut file = tempfile::tempfile()?;
        file.write_all(input.as_bytes())?;
        std::io::Seek::rewind(&mut file)?;
        Ok(output(place.windows(directory, arguments).stdin(file))?)
    })
}

/// Runs it again where Wine could not start a process.
fn loop_of_starts(run: impl Fn() -> Result<Output, Failed>) -> Result<Output, Failed> {
    let mut last = run()?;
    for _ in 1..STARTS {
        if !all(&last).contains(INTERNAL) {
            break;
        }
        last = run()?;
    }
    Ok(last)
}

/// Both streams.
fn all(output: &Output) -> String {
    let text = [&output.stdout[..], &output.stderr].concat();
    String::from_utf8_lossy(&text).into_owned()
}

/// Fails unless it succeeded and printed all of these; and no sentence is about another system.
fn says(output: &Output, expected: &[&str]) -> Result<(), Failed> {
    let text = all(output);
    let foreign = ["/dev/", "/proc", "SIG", "printf", "chmod", "Landlock"];
    let missing = expected.iter().find(|words| !text.contains(**words));
    let wrong = foreign.iter().find(|words| text.contains(**words));
    if missing.is_some() || wrong.is_some() {
        return Err(format!("missing: {missing:?}, wrong: {wrong:?}\n{output:#?}").into());
    }
    Ok(())
}

/// Lines end in CRLF, as they do there.
pub(super) fn play_with_each_other(place: &Place) -> Result<(), Failed> {
    let scratch = tempfile::tempdir()?;
    let arguments = [
        "play",
        "--name1",
        "Änn",
        "--name2",
        "Bob",
        "--seed",
        "1",
        "--first",
        "1",
        "--piece-format",
        "symbol",
        "--record",
        "Spiel ä.jsonl",
    ];
    let input = "A\r\nwhat\r\n1\r\nB\r\nquit\r\n";
    let ran = typed(place, scratch.path(), &arguments, input)?;
    says(
        &ran,
        &["Bob, place A", "`what` is not a cell", "Änn, place B"],
    )?;
    let [record] = &records(&scratch.path().join("Spiel ä.jsonl"))[..] else {
        return Err(format!("not one record: {ran:#?}").into());
    };
    equal(
        &record["turns"].to_string(),
        &r#"["- A","1 B"]"#.to_owned(),
        "turns",
    )
}

pub(super) fn play_with_a_program(place: &Place) -> Result<(), Failed> {
    let scratch = tempfile::tempdir()?;
    fs::copy(place.bot(), scratch.path().join("mein bot.exe"))?;
    let bot = r".\mein bot.exe";
    let arguments = [
        "human",
        bot,
        "--seed",
        "3",
        "--first",
        "2",
        "--sandbox",
        "none",
    ];
    let ran = typed(place, scratch.path(), &arguments, "1\r\nB\r\n")?;
    says(
        &ran,
        &[
            "mein bot.exe begins",
            "human, place A",
            "human places A on 1, gives B",
        ],
    )
}

/// Everything that reads records prints what it prints on Linux, from a file with any name.
pub(super) fn read_games(place: &Place) -> Result<(), Failed> {
    let scratch = tempfile::tempdir()?;
    let games = "Spiele der Übung.jsonl";
    let play = [
        "-n",
        "2",
        "--seed",
        "3",
        "--sandbox",
        "none",
        "--record",
        games,
    ];
    let bots = ["builtin:greedy", "builtin:random"];
    let ran = typed(place, scratch.path(), &[&play[..], &bots].concat(), "")?;
    says(&ran, &["Score: builtin:greedy"])?;
    for arguments in [
        // Every turn is solved to its end, however slow the machine is.
        &["analyse", "--threads", "1", "--time-per-move", "10m", games][..],
        &["replay", games],
        &["standings", games],
    ] {
        let ran = typed(place, scratch.path(), arguments, "")?;
        says(&ran, &["builtin:greedy"])?;
        let there = String::from_utf8_lossy(&ran.stdout).into_owned();
        let on_linux = here(scratch.path(), arguments).output()?.stdout;
        equal(&there, &String::from_utf8(on_linux)?, arguments[0])?;
    }
    let ran = typed(
        place,
        scratch.path(),
        &["report", games, "-o", r"C:\no such\page.html"],
        "",
    )?;
    says(
        &ran,
        &[r"C:\no such\page.html: cannot be written: there is no such file or directory"],
    )?;
    let ran = typed(place, scratch.path(), &["new", "python", "mein bot.py"], "")?;
    says(&ran, &[r#"referee -v "mein bot.py" builtin:greedy"#])?;
    let ran = typed(
        place,
        scratch.path(),
        &[r"C:\bots\bot.exe", "builtin:greedy"],
        "",
    )?;
    says(
        &ran,
        &[r"cannot start C:\bots\bot.exe: there is no such file"],
    )?;
    let cup = [
        "tournament",
        "--out",
        "t",
        "builtin:greedy",
        "builtin:random",
    ];
    let ran = typed(place, scratch.path(), &cup, "")?;
    let words = "no sandbox: the sandboxes: available on Linux only; use --sandbox none, for bots that you trust\n";
    says(&ran, &[words])
}

/// The command that asks a bot again can be pasted into `cmd`, which says the same as the bot did.
pub(super) fn ask_a_bot_again(place: &Place) -> Result<(), Failed> {
    let scratch = tempfile::tempdir()?;
    fs::copy(place.bot(), scratch.path().join("mein bot.exe"))?;
    fs::copy(place.bot(), scratch.path().join("bot.exe"))?;
    for bot in ["\"mein bot.exe\" nonsense", "./bot.exe nonsense"] {
        let arguments = [
            "--first",
            "1",
            "--seed",
            "4",
            "--sandbox",
            "none",
            bot,
            "builtin:greedy",
        ];
        let ran = typed(place, scratch.path(), &arguments, "")?;
        says(&ran, &["it answered `hello`"])?;
        let text = all(&ran);
        let line = text
            .lines()
            .find_map(|line| line.trim().strip_prefix("reproduce: "));
        let line = line.ok_or_else(|| Failed::from(text.clone()))?;
        fs::write(
            scratch.path().join("again.bat"),
            format!("@echo off\r\n{line}\r\n"),
        )?;
        let again = loop_of_starts(|| {
            let mut cmd = place.wine("cmd", ["/c", "again.bat"]);
            Ok(output(cmd.current_dir(scratch.path()))?)
        })?;
        if !all(&again).contains("hello") {
            return Err(format!("{line}: {again:#?}").into());
        }
    }
    Ok(())
}
