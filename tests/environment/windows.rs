//! The program for Windows, cross-compiled and run by Wine: its records and sentences are those of Linux.
//!
//! Wine lacks a library of Windows 10 that the standard library wants for random numbers
//! (`bcryptprimitives.dll`); one with the one function that is needed is built here. Everything is kept in
//! the target directory, where the next run finds it.

use std::ffi::OsStr;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::OnceLock;
use std::thread;
use std::time::{Duration, Instant};

use libtest_mimic::{Failed, Trial};
use serde_json::Value;

use crate::requirements::{program, unavailable};

const TARGET: &str = "x86_64-pc-windows-gnu";
const COMPILER: &str = "x86_64-w64-mingw32-gcc";

/// `ProcessPrng` by the older function for the same purpose.
const RANDOM_NUMBERS: &str = "
#include <windows.h>
BOOLEAN NTAPI SystemFunction036(PVOID buffer, ULONG length);
__declspec(dllexport) BOOL WINAPI ProcessPrng(PBYTE buffer, SIZE_T length) {
    return SystemFunction036(buffer, (ULONG)length);
}";

/// How often a run is tried again in which Wine could not start a process: one of some hundreds ends
/// before it has begun, as an "internal error".
const STARTS: u32 = 3;

/// How long a run may take, on a machine that does other things, too.
const LIMIT: Duration = Duration::from_mins(3);

type Test = fn(&Place) -> Result<(), Failed>;

const TESTS: &[(&str, Test)] = &[
    ("the_same_seed_gives_the_same_records", same_records),
    ("faults_have_the_same_sentences", same_faults),
    ("a_crash_is_named", crash),
    ("no_process_survives", no_process_survives),
    ("a_killed_referee_takes_its_bots_along", killed_referee),
    ("a_tournament_gives_the_same_games", same_tournament),
    ("commands_print_the_same", same_commands),
    ("names_of_windows_are_understood", names),
    ("bots_are_checked", checked),
];

pub(crate) fn trials() -> Vec<Trial> {
    let trials = TESTS.iter().map(|&(name, test)| {
        let name = format!("windows::{name}");
        for (command, package) in [(COMPILER, "gcc-mingw-w64-x86-64"), ("wine", "wine wine64")] {
            if program(command, &[]).is_none() {
                return unavailable(name, command, package);
            }
        }
        if !has_target() {
            return unavailable(
                name,
                "target x86_64-pc-windows-gnu",
                "none, but: rustup target add x86_64-pc-windows-gnu",
            );
        }
        Trial::test(name, move || test(place()?))
    });
    trials.collect()
}

/// Whether the standard library for Windows is installed.
fn has_target() -> bool {
    let asked = Command::new("rustc")
        .args(["--print", "target-libdir", "--target", TARGET])
        .output();
    asked.is_ok_and(|output| {
        let path = String::from_utf8_lossy(&output.stdout).trim().to_owned();
        output.status.success() && Path::new(&path).is_dir()
    })
}

/// Where the programs are.
struct Place {
    directory: PathBuf,
}

/// Builds all that the tests need, once.
fn place() -> Result<&'static Place, Failed> {
    static PLACE: OnceLock<Result<Place, String>> = OnceLock::new();
    let place = PLACE.get_or_init(Place::build);
    place.as_ref().map_err(|error| Failed::from(error.clone()))
}

impl Place {
    fn build() -> Result<Self, String> {
        let target = Path::new(env!("CARGO_TARGET_TMPDIR"));
        let directory = target.join("windows");
        let failed = |what: &str, error: &dyn std::fmt::Display| format!("{what}: {error}");
        fs::create_dir_all(&directory).map_err(|e| failed("a directory", &e))?;
        let source = Path::new(env!("CARGO_MANIFEST_DIR"));
        let mut cargo = Command::new(env!("CARGO"));
        cargo
            .current_dir(source)
            .args([
                "build", "--locked", "--quiet", "--bin", "referee", "--target", TARGET,
            ])
            .arg("--target-dir")
            .arg(target.parent().unwrap_or(target));
        built("the referee", &mut cargo)?;
        let random = directory.join("random.c");
        fs::write(&random, RANDOM_NUMBERS).map_err(|e| failed("random.c", &e))?;
        let mut library = Command::new(COMPILER);
        library
            .args([
                "-shared",
                "-o",
                "bcryptprimitives.dll",
                "random.c",
                "-ladvapi32",
            ])
            .current_dir(&directory);
        built("bcryptprimitives.dll", &mut library)?;
        let bot = source.join("tests/bots/portable/bot.c");
        for (compiler, file) in [(COMPILER, "bot.exe"), ("cc", "bot")] {
            let mut compile = Command::new(compiler);
            compile
                .args(["-O1", "-o", file])
                .arg(&bot)
                .current_dir(&directory);
            built(file, &mut compile)?;
        }
        let program = target.with_file_name(TARGET).join("debug/referee.exe");
        fs::copy(&program, directory.join("referee.exe")).map_err(|e| failed("referee.exe", &e))?;
        let place = Self { directory };
        // The first program makes the directory of the system, and complains.
        place
            .wine("wineboot", ["--init"])
            .output()
            .map_err(|e| failed("wine", &e))?;
        Ok(place)
    }

    /// A command that Wine runs, in an empty directory of its own.
    fn wine<A: AsRef<OsStr>>(
        &self,
        program: &str,
        arguments: impl IntoIterator<Item = A>,
    ) -> Command {
        let mut command = Command::new("timeout");
        command
            .args(["-k", "10", &LIMIT.as_secs().to_string(), "wine", program])
            .args(arguments)
            .env("WINEPREFIX", self.directory.join("prefix"))
            .env("WINEDEBUG", "-all")
            // Neither windows that ask for more to be installed, nor a debugger that writes to the
            // streams of what it debugs.
            .env("WINEDLLOVERRIDES", "mscoree,mshtml,winedbg.exe=")
            .stdin(Stdio::null());
        command
    }

    /// The referee for Windows, run in `directory`.
    fn windows<A: AsRef<OsStr>>(
        &self,
        directory: &Path,
        arguments: impl IntoIterator<Item = A>,
    ) -> Command {
        let program = self.directory.join("referee.exe");
        let mut command = self.wine(&program.to_string_lossy(), arguments);
        command.current_dir(directory);
        command
    }

    /// Runs both with the same arguments, each in a new directory. `BOT` stands for the path of the bot
    /// that is compiled for each.
    fn both(&self, arguments: &[&str]) -> [Ran; 2] {
        let run = |bot: &str, windows: bool| {
            let scratch = tempfile::tempdir().expect("a directory");
            fs::copy(self.directory.join(bot), scratch.path().join(bot)).expect("the bot");
            let bot = format!("./{bot}");
            let arguments: Vec<String> = arguments.iter().map(|a| a.replace("BOT", &bot)).collect();
            let mut command = if windows {
                self.windows(scratch.path(), &arguments)
            } else {
                here(scratch.path(), &arguments)
            };
            let output = command.output().expect("it starts");
            Ran { output, scratch }
        };
        let mut windows = run("bot.exe", true);
        for _ in 0..STARTS {
            if !windows.text().contains("os error 1359") {
                break;
            }
            windows = run("bot.exe", true);
        }
        [windows, run("bot", false)]
    }
}

/// The referee for this system, run in `directory`.
fn here<A: AsRef<OsStr>>(directory: &Path, arguments: impl IntoIterator<Item = A>) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_referee"));
    command
        .args(arguments)
        .env_remove("RUST_LOG")
        .current_dir(directory)
        .stdin(Stdio::null());
    command
}

fn built(what: &str, command: &mut Command) -> Result<(), String> {
    let output = command
        .output()
        .map_err(|error| format!("{what}: {error}"))?;
    if output.status.success() {
        return Ok(());
    }
    Err(format!(
        "{what} cannot be built: {}",
        String::from_utf8_lossy(&output.stderr)
    ))
}

/// What a run printed, and the directory that it ran in.
struct Ran {
    output: Output,
    scratch: tempfile::TempDir,
}

impl Ran {
    /// All that was printed, as it is on every system: the bot's name without `.exe`, and no times.
    fn text(&self) -> String {
        let Output {
            status,
            stdout,
            stderr,
        } = &self.output;
        let mut text = format!("exit {:?}\n", status.code());
        for stream in [stdout, stderr] {
            let stream = String::from_utf8_lossy(stream).replace("bot.exe", "bot");
            let _ = writeln!(text, "{}", without_times(&stream));
        }
        text
    }

    fn records(&self, file: &str) -> Vec<Value> {
        let path = self.scratch.path().join(file);
        let text = fs::read_to_string(&path).unwrap_or_else(|_| panic!("{}", self.text()));
        let records = text.lines().map(|line| {
            let line = line.replace("bot.exe", "bot");
            let mut record: Value = serde_json::from_str(&line).expect("a record");
            let fields = record.as_object_mut().expect("an object");
            for field in ["times_ms", "started", "usage", "plan", "charged_ms"] {
                fields.remove(field);
            }
            record
        });
        records.collect()
    }
}

/// Numbers with units of time replaced by a sign, and no word of games that were played again.
fn without_times(text: &str) -> String {
    let mut found = String::new();
    // A machine that other tests keep busy is no difference either.
    for line in text
        .lines()
        .filter(|line| !line.contains("the machine was so busy"))
    {
        let words: Vec<&str> = line.split(' ').collect();
        let shown = words.iter().enumerate().map(|(at, word)| {
            let unit = words
                .get(at + 1)
                .map_or("", |next| next.trim_matches(['(', ')', ',', '.', ':', ';']));
            let number = word.trim_start_matches('(').parse::<f64>().is_ok();
            if number && matches!(unit, "ms" | "s" | "seconds" | "second") {
                "#"
            } else {
                word
            }
        });
        found.push_str(&shown.collect::<Vec<_>>().join(" "));
        found.push('\n');
    }
    found
}

fn equal<T: PartialEq + std::fmt::Debug>(windows: &T, here: &T, what: &str) -> Result<(), Failed> {
    if windows == here {
        return Ok(());
    }
    Err(format!("{what} differ\non Windows: {windows:#?}\nhere: {here:#?}").into())
}

fn same_records(place: &Place) -> Result<(), Failed> {
    for arguments in [
        &["-n", "4", "--seed", "7", "builtin:random", "builtin:greedy"][..],
        &[
            "-n",
            "4",
            "--seed",
            "8",
            "--rules",
            "squares",
            "BOT",
            "builtin:greedy",
        ],
        &[
            "-n",
            "2",
            "--seed",
            "9",
            "--restart",
            "BOT crlf",
            "builtin:random",
        ],
        &[
            "-n",
            "2",
            "--seed",
            "5",
            "--game",
            "four-in-a-row",
            "builtin:random",
            "builtin:greedy",
        ],
        &[
            "-n",
            "2",
            "--seed",
            "3",
            "--adjudicate",
            "builtin:greedy",
            "builtin:random",
        ],
    ] {
        let arguments = [&["--record", "games.jsonl"], arguments].concat();
        let [windows, here] = place.both(&arguments);
        equal(&windows.text(), &here.text(), &arguments.join(" "))?;
        equal(
            &windows.records("games.jsonl"),
            &here.records("games.jsonl"),
            "records",
        )?;
    }
    Ok(())
}

fn same_faults(place: &Place) -> Result<(), Failed> {
    for fault in [
        "hangs", "part", "floods", "twice", "exits", "early", "closes", "nonsense",
    ] {
        let bot = format!("BOT {fault}");
        let [windows, here] = place.both(&[
            "--seed",
            "4",
            "--first",
            "1",
            "--move-time",
            "1s",
            "--start-time",
            "20s",
            &bot,
            "builtin:greedy",
        ]);
        equal(&windows.text(), &here.text(), fault)?;
        if !here.text().contains("bot forfeits") {
            return Err(format!("{fault} is no fault: {}", here.text()).into());
        }
    }
    // What a bot writes beside is shown, without the end of line of Windows.
    let [windows, here] = place.both(&["-v", "--seed", "4", "BOT beside", "builtin:greedy"]);
    let beside = |ran: &Ran| ran.text().matches("bot| asked with ").count();
    equal(&beside(&windows), &beside(&here), "lines of stderr")
}

fn crash(place: &Place) -> Result<(), Failed> {
    let [windows, here] = place.both(&["--first", "1", "BOT crashes", "builtin:greedy"]);
    for (ran, cause) in [
        (windows, "an access violation (0xC0000005)"),
        (here, "SIGSEGV"),
    ] {
        if !ran.text().contains(cause) {
            return Err(ran.text().into());
        }
    }
    Ok(())
}

/// The processes whose command line has this text.
fn processes(text: &str) -> Vec<String> {
    let commands = fs::read_dir("/proc").expect("/proc").flatten();
    let commands = commands.filter_map(|entry| fs::read(entry.path().join("cmdline")).ok());
    let commands = commands.map(|bytes| String::from_utf8_lossy(&bytes).replace('\0', " "));
    commands.filter(|command| command.contains(text)).collect()
}

/// Waits until no process has this text in its command line.
fn wait_for_none(text: &str) -> Result<(), Failed> {
    let begun = Instant::now();
    loop {
        let there = processes(text);
        if there.is_empty() {
            return Ok(());
        }
        if begun.elapsed() > LIMIT {
            return Err(format!("still there: {there:#?}").into());
        }
        thread::sleep(Duration::from_millis(20));
    }
}

fn no_process_survives(place: &Place) -> Result<(), Failed> {
    let scratch = tempfile::tempdir()?;
    fs::copy(
        place.directory.join("bot.exe"),
        scratch.path().join("parent.exe"),
    )?;
    let output = place
        .windows(
            scratch.path(),
            [
                "--first",
                "1",
                "--move-time",
                "1s",
                "./parent.exe child",
                "builtin:greedy",
            ],
        )
        .output()?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    if !text.contains("forfeits (timeout)") {
        return Err(text.into());
    }
    wait_for_none("waits-alone")
}

fn killed_referee(place: &Place) -> Result<(), Failed> {
    let scratch = tempfile::tempdir()?;
    let name = "bot-of-a-killed-referee.exe";
    fs::copy(place.directory.join("bot.exe"), scratch.path().join(name))?;
    let bot = format!("./{name} hangs");
    let mut command = place.windows(
        scratch.path(),
        [bot.as_str(), "builtin:greedy", "--first", "1"],
    );
    let mut referee = command
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()?;
    let begun = Instant::now();
    let running = || processes("killed-referee.exe hangs");
    // The referee's own command line has the text, too, and `timeout`'s.
    while running().len() < 3 && begun.elapsed() < LIMIT {
        thread::sleep(Duration::from_millis(20));
    }
    let of_bot = running().len();
    for entry in fs::read_dir("/proc")?.flatten() {
        let command = fs::read(entry.path().join("cmdline")).unwrap_or_default();
        let command = String::from_utf8_lossy(&command).replace('\0', " ");
        if command.contains("referee.exe")
            && command.contains(name)
            && !command.starts_with("timeout")
        {
            let id = entry.file_name();
            Command::new("kill").arg("-KILL").arg(id).status()?;
        }
    }
    referee.wait()?;
    wait_for_none(name)?;
    if of_bot < 3 {
        return Err("the bot never ran".into());
    }
    Ok(())
}

fn same_tournament(place: &Place) -> Result<(), Failed> {
    let arguments = [
        "tournament",
        "--out",
        "t",
        "--seed",
        "11",
        "--pairs",
        "3",
        "--sandbox",
        "none",
        "--rules",
        "squares",
        "BOT",
        "builtin:greedy",
        "builtin:random",
    ];
    let [windows, here] = place.both(&arguments);
    let games = |ran: &Ran| {
        let mut games = ran.records("t/games.jsonl");
        games.sort_by_key(|game| game["id"].to_string());
        games
    };
    equal(&games(&windows), &games(&here), "games")?;
    if games(&windows).len() != 18 {
        return Err(windows.text().into());
    }
    // It goes on where it was, and everything that reads it does.
    let directory = windows.scratch.path();
    for (arguments, expected) in [
        (&["tournament", "--out", "t"][..], "18"),
        (&["standings", "t/games.jsonl"], "builtin:greedy"),
        (&["report", "t/games.jsonl", "-o", "page.html"], ""),
        (
            &["replay", "t/games.jsonl"],
            "18 games checked: all follow the rules",
        ),
    ] {
        let output = place.windows(directory, arguments).output()?;
        let text = [&output.stdout[..], &output.stderr].concat();
        let text = String::from_utf8_lossy(&text).into_owned();
        if output.status.code() != Some(0) || !text.contains(expected) {
            return Err(format!("{arguments:?}: {output:#?}").into());
        }
    }
    if !directory.join("page.html").is_file() {
        return Err("there is no page".into());
    }
    Ok(())
}

fn same_commands(place: &Place) -> Result<(), Failed> {
    for arguments in [
        &["board", "A..PC...J..EF..."][..],
        &["pieces"],
        &["new"],
        &["solve", "--threads", "1", "A..PC...J..EFBKL G"],
        &["check", "no-such-bot"],
        &["builtin:rando", "builtin:greedy"],
        &["replay", "missing.jsonl"],
    ] {
        let [windows, here] = place.both(arguments);
        let plain = |ran: &Ran| {
            ran.text()
                .replace("File not found.", "No such file or directory")
        };
        equal(&plain(&windows), &plain(&here), &arguments.join(" "))?;
    }
    Ok(())
}

fn names(place: &Place) -> Result<(), Failed> {
    let scratch = tempfile::tempdir()?;
    let folder = scratch.path().join("Jürgens bots");
    fs::create_dir(&folder)?;
    fs::copy(place.directory.join("bot.exe"), folder.join("mein bot.exe"))?;
    let pieces = here(scratch.path(), ["pieces"]).output()?.stdout;
    let pieces = String::from_utf8(pieces)?.replace('\n', "\r\n");
    fs::write(folder.join("Stücke.csv"), pieces)?;
    let absolute = format!(
        "Z:{}",
        folder
            .join("mein bot.exe")
            .to_string_lossy()
            .replace('/', "\\")
    );
    for bot in [
        "Jürgens bots/mein bot.exe",
        r"Jürgens bots\mein bot.exe",
        &absolute,
        &format!("\"{absolute}\" plays"),
    ] {
        let record = r"Jürgens bots\games.jsonl";
        let output = place
            .windows(
                scratch.path(),
                ["--seed", "3", "--record", record, bot, "builtin:random"],
            )
            .output()?;
        if output.status.code() != Some(0) {
            return Err(format!("{bot}: {output:#?}").into());
        }
    }
    let records = fs::read_to_string(folder.join("games.jsonl"))?;
    if records.matches("mein bot.exe").count() < 4 {
        return Err(records.into());
    }
    Ok(())
}

fn checked(place: &Place) -> Result<(), Failed> {
    let [windows, _] = place.both(&["check", "builtin:greedy"]);
    if windows.output.status.code() == Some(0) {
        return Ok(());
    }
    Err(windows.text().into())
}
