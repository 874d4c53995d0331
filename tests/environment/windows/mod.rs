//! The program for Windows, cross-compiled and run by Wine: its records and sentences are those of Linux.
//!
//! Wine lacks a library of Windows 10 that the standard library wants for random numbers
//! (`bcryptprimitives.dll`); one with the one function that is needed is built here. Everything is kept in
//! the target directory, where the next run finds it.
//!
//! - `bots`: what a BOT may be
//! - `console`: Ctrl-C
//! - `people`: `play`, `human`, and what reads games

mod bots;
mod console;
mod people;

use std::ffi::OsStr;
use std::fs;
use std::io::{self, Read as _, Seek as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::OnceLock;
use std::thread;
use std::time::{Duration, Instant};

use libtest_mimic::{Failed, Trial};

use crate::common::signals;
use crate::cross::{Ran, Target, Test, built, equal, here};
use crate::hangs::HANGS;

const COMPILER: &str = "x86_64-w64-mingw32-gcc";

pub(crate) const TARGET: Target = Target {
    name: "x86_64-pc-windows-gnu",
    missing_library: "target x86_64-pc-windows-gnu",
    install: "none, but: rustup target add x86_64-pc-windows-gnu",
    needs: &[(COMPILER, "gcc-mingw-w64-x86-64"), ("wine", "wine wine64")],
};

/// What Wine lacks.
const LIBRARY: &str = "bcryptprimitives.dll";

/// `ProcessPrng` by the older function for the same purpose.
const RANDOM_NUMBERS: &str = "
#include <windows.h>
BOOLEAN NTAPI SystemFunction036(PVOID buffer, ULONG length);
__declspec(dllexport) BOOL WINAPI ProcessPrng(PBYTE buffer, SIZE_T length) {
    return SystemFunction036(buffer, (ULONG)length);
}";

/// How often a run is tried again in which Wine could not start a process: one of some hundreds ends
/// before it has begun, as an "internal error".
pub(crate) const STARTS: u32 = 3;

/// What the system says of such a start.
pub(crate) const INTERNAL: &str = "nternal error";

const TESTS: &[(&str, Test<Place>)] = &[
    ("the_same_seed_gives_the_same_records", same_records),
    ("faults_have_the_same_sentences", same_faults),
    ("a_crash_is_named", crash),
    ("no_process_survives", no_process_survives),
    ("a_killed_referee_takes_its_bots_along", killed_referee),
    ("a_tournament_gives_the_same_games", same_tournament),
    ("commands_print_the_same", same_commands),
    ("names_of_windows_are_understood", names),
    ("bots_are_checked", checked),
    ("batch_files_are_bots", bots::batch_files),
    ("a_python_is_found", bots::pythons),
    ("ctrl_c_ends_a_match", console::ctrl_c_ends_a_match),
    (
        "ctrl_c_ends_a_tournament",
        console::ctrl_c_ends_a_tournament,
    ),
    ("people_play_with_each_other", people::play_with_each_other),
    ("people_play_with_a_program", people::play_with_a_program),
    ("games_are_read", people::read_games),
    ("a_bot_can_be_asked_again", people::ask_a_bot_again),
    ("the_library_keeps_to_the_protocol", library),
    ("what_a_job_does_is_said", job_is_described),
    ("a_bot_cannot_be_frozen", not_frozen),
];

pub(crate) fn trials() -> Vec<Trial> {
    TARGET.trials("windows", TESTS, place)
}

/// What is needed to run a program for Windows.
pub(crate) const NEEDS: &[(&str, &str)] = TARGET.needs;

/// Runs a program that was built elsewhere, in its own folder, and returns what it prints.
pub(crate) fn run(program: &Path, arguments: &[&str]) -> Result<String, Failed> {
    let place = place()?;
    let folder = program.parent().ok_or("a folder")?;
    fs::copy(place.directory.join(LIBRARY), folder.join(LIBRARY))?;
    let mut last = String::new();
    for _ in 0..STARTS {
        let mut command = place.wine(&program.to_string_lossy(), arguments);
        let ran = output(command.current_dir(folder))?;
        let [printed, beside] =
            [&ran.stdout, &ran.stderr].map(|text| String::from_utf8_lossy(text));
        if ran.status.success() {
            return Ok(printed.into_owned());
        }
        last = format!("{arguments:?}: {}\n{printed}{beside}", ran.status);
        if !last.contains(INTERNAL) {
            break;
        }
    }
    Err(last.into())
}

/// Where the programs are.
pub(crate) struct Place {
    directory: PathBuf,
}

/// Runs a command to its end. What it prints goes through files: programs of Wine's own outlive it, and would
/// keep a pipe open. What Wine itself says of its server as a process ends is no output of the program.
pub(crate) fn output(command: &mut Command) -> io::Result<Output> {
    let mut files = [tempfile::tempfile()?, tempfile::tempfile()?];
    let [stdout, stderr] = &files;
    command
        .stdout(stdout.try_clone()?)
        .stderr(stderr.try_clone()?);
    let status = command.status()?;
    let mut texts = [Vec::new(), Vec::new()];
    for (file, text) in files.iter_mut().zip(&mut texts) {
        file.rewind()?;
        file.read_to_end(text)?;
    }
    let [stdout, stderr] = texts;
    let lines = stderr.split_inclusive(|byte| *byte == b'\n');
    let stderr = lines
        .filter(|line| !line.starts_with(b"wine client error:"))
        .flatten()
        .copied()
        .collect();
    Ok(Output {
        status,
        stdout,
        stderr,
    })
}

/// Builds all that the tests need, once.
pub(crate) fn place() -> Result<&'static Place, Failed> {
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
        let mut cargo = TARGET.cargo(["build", "--bin", "referee"]);
        built("the referee", &mut cargo)?;
        let random = directory.join("random.c");
        fs::write(&random, RANDOM_NUMBERS).map_err(|e| failed("random.c", &e))?;
        let mut library = Command::new(COMPILER);
        library
            .args(["-shared", "-o", LIBRARY, "random.c", "-ladvapi32"])
            .current_dir(&directory);
        built(LIBRARY, &mut library)?;
        let bot = source.join("tests/bots/portable/bot.c");
        for (compiler, file) in [(COMPILER, "bot.exe"), ("cc", "bot")] {
            let mut compile = Command::new(compiler);
            compile
                .args(["-O1", "-o", file])
                .arg(&bot)
                .current_dir(&directory);
            built(file, &mut compile)?;
        }
        let program = TARGET.program("referee.exe");
        fs::copy(&program, directory.join("referee.exe")).map_err(|e| failed("referee.exe", &e))?;
        let place = Self { directory };
        // The first program makes the directory of the system, and complains.
        output(&mut place.wine("wineboot", ["--init"])).map_err(|e| failed("wine", &e))?;
        Ok(place)
    }

    /// What Wine keeps.
    fn prefix(&self) -> PathBuf {
        self.directory.join("prefix")
    }

    /// A command that Wine runs, in an empty directory of its own.
    fn wine<A: AsRef<OsStr>>(
        &self,
        program: &str,
        arguments: impl IntoIterator<Item = A>,
    ) -> Command {
        let mut command = Command::new("timeout");
        command
            .args(["-k", "10", &HANGS.as_secs().to_string(), "wine", program])
            .args(arguments)
            .env("WINEPREFIX", self.prefix())
            .env("WINEDEBUG", "-all")
            // Neither windows that ask for more to be installed, nor a debugger that writes to the
            // streams of what it debugs.
            .env("WINEDLLOVERRIDES", "mscoree,mshtml,winedbg.exe=")
            .stdin(Stdio::null());
        command
    }

    /// The bot for Windows.
    pub(crate) fn bot(&self) -> PathBuf {
        self.directory.join("bot.exe")
    }

    /// The referee for Windows.
    fn program(&self) -> PathBuf {
        self.directory.join("referee.exe")
    }

    /// The referee for Windows, run in `directory`.
    pub(crate) fn windows<A: AsRef<OsStr>>(
        &self,
        directory: &Path,
        arguments: impl IntoIterator<Item = A>,
    ) -> Command {
        let mut command = self.wine(&self.program().to_string_lossy(), arguments);
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
            let output = output(&mut command).expect("it starts");
            Ran { output, scratch }
        };
        let mut windows = run("bot.exe", true);
        for _ in 0..STARTS {
            // A referee that fails says why; Wine, with many programs at once, has ended one without a word.
            let text = windows.text();
            if !text.contains(INTERNAL) && text.trim() != "exit Some(1)" {
                break;
            }
            windows = run("bot.exe", true);
        }
        [windows, run("bot", false)]
    }
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
        let arguments = [&["--sandbox", "none", "--record", "games.jsonl"], arguments].concat();
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
            "--sandbox",
            "none",
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
        // Only Linux sees that a bot has read the question, and waits.
        let waits = "; it had read the question and was waiting, not computing: likely its answer is held back in \
                     an output buffer, or it waits for more input; `referee check BOT` finds out";
        // Another shell reads it (`people::ask_a_bot_again`).
        let without_command = |text: String| -> Vec<String> {
            let lines = text.lines();
            lines
                .filter(|line| !line.starts_with("  reproduce: "))
                .map(str::to_owned)
                .collect()
        };
        equal(
            &without_command(windows.text()),
            &without_command(here.text().replace(waits, "")),
            fault,
        )?;
        if !here.text().contains("bot forfeits") {
            return Err(format!("{fault} is no fault: {}", here.text()).into());
        }
    }
    // What a bot writes beside is shown, without the end of line of Windows.
    let [windows, here] = place.both(&[
        "--sandbox",
        "none",
        "-v",
        "--seed",
        "4",
        "BOT beside",
        "builtin:greedy",
    ]);
    let beside = |ran: &Ran| ran.text().matches("bot| asked with ").count();
    equal(&beside(&windows), &beside(&here), "lines of stderr")
}

fn crash(place: &Place) -> Result<(), Failed> {
    let [windows, here] = place.both(&[
        "--sandbox",
        "none",
        "--first",
        "1",
        "BOT crashes",
        "builtin:greedy",
    ]);
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
        if begun.elapsed() > HANGS {
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
    let output = output(&mut place.windows(
        scratch.path(),
        [
            "--first",
            "1",
            "--move-time",
            "1s",
            "./parent.exe child",
            "builtin:greedy",
        ],
    ))?;
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
    while running().len() < 3 && begun.elapsed() < HANGS {
        thread::sleep(Duration::from_millis(20));
    }
    // A process is there before it is in the job of its bot, which is a moment later.
    thread::sleep(Duration::from_secs(2));
    let of_bot = running().len();
    for entry in fs::read_dir("/proc")?.flatten() {
        let command = fs::read(entry.path().join("cmdline")).unwrap_or_default();
        let command = String::from_utf8_lossy(&command).replace('\0', " ");
        if command.contains("referee.exe")
            && command.contains(name)
            && !command.starts_with("timeout")
        {
            signals::send("KILL", &entry.file_name().to_string_lossy());
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
        let output = output(&mut place.windows(directory, arguments))?;
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
        equal(&windows.text(), &here.text(), &arguments.join(" "))?;
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
        let output = output(&mut place.windows(
            scratch.path(),
            ["--seed", "3", "--record", record, bot, "builtin:random"],
        ))?;
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

fn job_is_described(place: &Place) -> Result<(), Failed> {
    let scratch = tempfile::tempdir()?;
    let output = output(&mut place.windows(scratch.path(), ["doctor"]))?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let words = [
        "job object: ",
        "1 GiB of memory",
        "64 processes",
        "does not keep a bot from files",
    ];
    if words.iter().all(|words| text.contains(words)) {
        return Ok(());
    }
    Err(text.into())
}

fn not_frozen(place: &Place) -> Result<(), Failed> {
    let scratch = tempfile::tempdir()?;
    let arguments = ["--freeze", "builtin:greedy", "builtin:random"];
    let output = output(&mut place.windows(scratch.path(), arguments))?;
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    if output.status.code() == Some(2) && text.contains("a bot cannot be stopped on Windows") {
        return Ok(());
    }
    Err(format!("{output:#?}").into())
}

fn checked(place: &Place) -> Result<(), Failed> {
    let [windows, _] = place.both(&["check", "builtin:greedy"]);
    if windows.output.status.code() == Some(0) {
        return Ok(());
    }
    Err(windows.text().into())
}

/// The tests of the library that hold the protocol, among them the transcripts of protocol.md.
fn library(place: &Place) -> Result<(), Failed> {
    let mut cargo = TARGET.cargo(["test", "--test", "integration", "--test", "games"]);
    cargo
        .env("CARGO_TARGET_X86_64_PC_WINDOWS_GNU_RUNNER", "wine")
        .env("WINEPREFIX", place.prefix())
        .env("WINEDEBUG", "-all")
        .env("WINEPATH", &place.directory)
        .args([
            "--",
            "conformance::",
            "protocol_doc::",
            "notation::",
            "piece_sets::",
        ]);
    let output = output(&mut cargo)?;
    let printed = String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned();
    let words: Vec<&str> = printed.split_whitespace().collect();
    let passed = words.windows(2).filter(|words| words[1] == "passed;");
    let passed: u32 = passed
        .filter_map(|words| words[0].parse::<u32>().ok())
        .sum();
    if output.status.success() && passed >= 40 {
        return Ok(());
    }
    Err(printed.into())
}
