//! Every command of the documents is run, and prints what they show.
//!
//! - A block of `sh` is a script whose commands must succeed; `sh ignore` is one that cannot be run here: it waits for
//!   a person, installs something, measures for minutes, or needs other machines. What starts shards on those
//!   is run by `engines`, the scripts for packages by `packages`.
//! - In a block of `console` the lines after `$ ` are commands; what follows is what they print. Times and numbers with a
//!   unit may differ, and a line with nothing but `...` or `…` stands for any lines.
//! - The mistakes in docs/troubleshooting.md are what `referee check` says of the bots in tests/bots/mistakes; `UPDATE=1`
//!   writes them anew.
//! - The options in docs/command-line.md are what `--help` prints, each once; `UPDATE=1` writes them anew, and the
//!   tables in docs/reference.md. Its blocks of `python` are run where pandas can be imported.
//!
//! A document's blocks are run one after another, in a folder with the players, a class of submissions, and records of
//! some games.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use libtest_mimic::{Failed, Trial};
use tempfile::TempDir;

use crate::common::files::executable;
use crate::mistakes;
use crate::reference;
use crate::requirements::{program, unavailable};

/// The documents beside those in `docs/`.
const DOCUMENTS: [&str; 6] = [
    "README.md",
    "CONTRIBUTING.md",
    "SECURITY.md",
    "protocol.md",
    "protocol-games.md",
    "players/README.md",
];

/// The document with the options.
const REFERENCE: &str = "docs/command-line.md";

/// The document about the module of Python: `scripts/packages/check_wheel.py` runs its blocks, where that is installed.
const PYTHON: &str = "docs/python.md";

/// The document with a log.
const LOGGED: &str = "docs/log.md";

/// Where the generated part of the options begins.
const GENERATED: &str = "<!-- generated -->\n";

/// How long the commands of a block may take together, in seconds.
const TIME: &str = "300";

/// A bot that always gives the same answer.
const WRONG: &str =
    "#!/usr/bin/env python3\nimport sys\n\nfor line in sys.stdin:\n    print('3 A', flush=True)\n";

pub(crate) fn source(file: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(file)
}

/// A fenced block.
pub(crate) struct Block {
    pub(crate) language: String,
    pub(crate) lines: Vec<String>,
    /// The number of its first line, from 1.
    pub(crate) line: usize,
}

pub(crate) fn blocks(text: &str) -> Vec<Block> {
    let mut blocks: Vec<Block> = Vec::new();
    let mut inside = false;
    for (index, line) in text.lines().enumerate() {
        if let Some(language) = line.strip_prefix("```") {
            inside = !inside;
            if inside {
                blocks.push(Block {
                    language: language.to_owned(),
                    lines: Vec::new(),
                    line: index + 2,
                });
            }
        } else if inside && let Some(block) = blocks.last_mut() {
            block.lines.push(line.to_owned());
        }
    }
    blocks
}

/// A folder in which the documents' commands find what they name.
pub(crate) struct Folder(TempDir);

impl Folder {
    pub(crate) fn new() -> Result<Self, Failed> {
        let folder = Self(tempfile::tempdir()?);
        let random = fs::read(source("players/random.sh"))?;
        for copied in ["games", "players", "sets", "scripts"] {
            let (from, to) = (source(copied), folder.0.path().join(copied));
            let copied = Command::new("cp").arg("-r").args([from, to]).status()?;
            if !copied.success() {
                return Err("cannot copy the players".into());
            }
        }
        // What the check of the pages installs, where it has run.
        let installed = folder.0.path().join("scripts/pages/node_modules");
        if installed.exists() {
            fs::remove_dir_all(installed)?;
        }
        for bot in [
            "submissions/anna",
            "submissions/ben",
            "submissions/carla",
            "theirs",
        ] {
            let directory = folder.0.path().join(bot);
            fs::create_dir_all(&directory)?;
            executable(&directory.join("bot.sh"), &random, 0o755);
        }
        fs::create_dir(folder.0.path().join("models"))?;
        folder.run("referee -n 6 --seed 1 --record games.jsonl builtin:greedy builtin:random")?;
        Ok(folder)
    }

    pub(crate) fn path(&self) -> &Path {
        self.0.path()
    }

    /// Runs a script, which must succeed.
    pub(crate) fn run(&self, script: &str) -> Result<String, Failed> {
        let referee = Path::new(env!("CARGO_BIN_EXE_referee"));
        let path = std::env::var("PATH").unwrap_or_default();
        let folder = referee.parent().ok_or("a folder")?;
        let Output {
            status,
            stdout,
            stderr,
        } = Command::new("timeout")
            .args([TIME, "sh", "-e", "-c", script])
            .current_dir(self.0.path())
            .env("PATH", format!("{}:{path}", folder.display()))
            .env("COLUMNS", "120")
            .stdin(Stdio::null())
            .output()?;
        let stdout = String::from_utf8_lossy(&stdout).into_owned();
        if !status.success() {
            let stderr = String::from_utf8_lossy(&stderr);
            return Err(format!("{script}\n{status}\n{stdout}{stderr}").into());
        }
        Ok(stdout)
    }
}

/// A line without what differs from run to run: numbers that have a unit of time.
fn steady(line: &str) -> String {
    let words = line.split_whitespace().collect::<Vec<_>>();
    let mut steady = Vec::new();
    for (index, word) in words.iter().enumerate() {
        let is_number = word.parse::<f64>().is_ok();
        let unit = words
            .get(index + 1)
            .map(|next| next.trim_end_matches([',', '.', ';']));
        if is_number && unit.is_some_and(|unit| ["ms", "s", "min", "h"].contains(&unit)) {
            steady.push("…");
        } else {
            steady.push(word);
        }
    }
    steady.join(" ")
}

/// Whether the printed lines are the shown ones.
pub(crate) fn matches(shown: &[String], printed: &[&str]) -> bool {
    match shown.split_first() {
        None => printed.is_empty(),
        Some((line, rest)) if ["...", "…"].contains(&line.trim()) => {
            (0..=printed.len()).any(|skipped| matches(rest, &printed[skipped..]))
        }
        Some((line, rest)) => printed
            .split_first()
            .is_some_and(|(first, others)| steady(line) == steady(first) && matches(rest, others)),
    }
}

/// Runs the commands of a console, and compares what they print.
fn console(folder: &Folder, block: &Block) -> Result<(), Failed> {
    let mut lines = block.lines.iter().peekable();
    while let Some(line) = lines.next() {
        let command = line
            .strip_prefix("$ ")
            .ok_or("a console begins with `$ `")?;
        let mut shown = Vec::new();
        while let Some(line) = lines.next_if(|line| !line.starts_with("$ ")) {
            shown.push(line.clone());
        }
        let printed = folder.run(&format!("{command} 2>&1"))?;
        if !matches(&shown, &printed.lines().collect::<Vec<_>>()) {
            return Err(format!("`{command}` prints\n{printed}").into());
        }
    }
    Ok(())
}

/// All documents, as they are called from the folder of the sources.
fn documents() -> Vec<String> {
    let mut guides: Vec<String> = ["docs", "docs/internals"]
        .into_iter()
        .flat_map(|folder| {
            let entries = fs::read_dir(source(folder)).expect("the documents");
            entries.map(move |entry| Path::new(folder).join(entry.expect("an entry").file_name()))
        })
        .filter(|file| file.extension().is_some_and(|extension| extension == "md"))
        .map(|file| file.display().to_string())
        .collect();
    guides.sort();
    let others = DOCUMENTS.into_iter().map(str::to_owned);
    others.chain(guides).collect()
}

fn commands_run(document: &str) -> Result<(), Failed> {
    let text = fs::read_to_string(source(document))?;
    let folder = Folder::new()?;
    if document == "README.md" {
        // The bot whose mistake is shown there.
        executable(&folder.0.path().join("mybot.py"), WRONG.as_bytes(), 0o755);
    }
    for block in blocks(&text) {
        let result = match block.language.as_str() {
            _ if document == PYTHON => Ok(()),
            "sh" => folder.run(&block.lines.join("\n")).map(|_| ()),
            // That forfeit is shown with its log, which tests/integration/logging.rs compares.
            "console" if document == LOGGED => Ok(()),
            "console" => console(&folder, &block),
            _ => Ok(()),
        };
        if let Err(failed) = result {
            let words = failed.message().unwrap_or_default();
            return Err(format!("{document}:{}: {words}", block.line).into());
        }
    }
    Ok(())
}

/// A help without its list of commands.
fn without_commands(help: &str) -> String {
    let Some((head, rest)) = help.split_once("Commands:\n") else {
        return help.to_owned();
    };
    let tail = rest.split_once("\n\n").map_or("", |(_, tail)| tail);
    format!("{head}{tail}")
}

/// What has been described so far.
#[derive(Default)]
struct Described {
    /// Options and arguments with their words.
    options: BTreeSet<String>,
    /// By heading, the names of the first options below it.
    groups: BTreeMap<String, Vec<String>>,
}

/// The lines of a help that are not empty. Options that have been `described` with the same words are only named at
/// the end, or the heading of all of them. Such arguments are left out, and options of every command.
fn once(help: &str, described: &mut Described) -> Vec<String> {
    const OF_ALL: &str = "Diagnosis:";
    let (help, statuses) = help.split_once("\nExit status:").unwrap_or((help, ""));
    let mut entries: Vec<Vec<&str>> = Vec::new();
    for line in help
        .lines()
        .map(str::trim_end)
        .filter(|line| !line.is_empty())
    {
        let indent = line.len() - line.trim_start().len();
        let begins = indent == 0 || (indent <= 6 && line.trim_start().starts_with(['-', '<', '[']));
        match entries.last_mut() {
            Some(entry) if !begins => entry.push(line),
            _ => entries.push(vec![line]),
        }
    }
    let is_first = described.options.is_empty();
    let (mut lines, mut again): (Vec<String>, Vec<String>) = (Vec::new(), Vec::new());
    let mut entries = entries.into_iter().peekable();
    while let Some(entry) = entries.next() {
        let heading = entry[0];
        if heading == "Examples:" {
            continue; // Guides have them, run by a test.
        }
        let is_option = |entry: &&Vec<&str>| entry[0].trim_start().starts_with(['-', '<', '[']);
        if entry.len() > 1 || entries.peek().as_ref().is_none_or(|next| !is_option(next)) {
            lines.extend(entry.into_iter().map(str::to_owned));
            continue;
        }
        let (mut names, mut known, mut shown) = (Vec::new(), Vec::new(), Vec::new());
        while let Some(option) = entries.next_if(|entry| is_option(&entry)) {
            let first = option[0].trim_start();
            let long = first.find("--").map_or(first, |start| &first[start..]);
            let name = long.split([' ', '[', '=', '.']).next().unwrap_or(long);
            if ["--help", "--version"].contains(&name) {
                continue;
            }
            let is_argument = !first.starts_with('-');
            if !is_argument {
                names.push(name.to_owned());
            }
            // The help aligns the texts of the options below a heading.
            let words: Vec<&str> = option
                .iter()
                .flat_map(|line| line.split_whitespace())
                .collect();
            if described.options.insert(words.join(" ")) {
                shown.extend(option.into_iter().map(str::to_owned));
            } else if !is_argument {
                known.push(name.to_owned());
            }
        }
        let is_first_group = described.groups.get(heading) == Some(&names);
        if heading == OF_ALL && !is_first {
            // Every command has these.
        } else if shown.is_empty() && is_first_group {
            again.push(format!("all of {}", heading.trim_end_matches(':')));
        } else {
            again.extend(known);
            if !shown.is_empty() {
                lines.push(heading.to_owned());
                lines.extend(shown);
            }
            if !names.is_empty() {
                described.groups.entry(heading.to_owned()).or_insert(names);
            }
        }
    }
    // Those of all commands stand before.
    let statuses: Vec<&str> = statuses.split_whitespace().collect();
    let statuses = statuses.join(" ");
    let own = statuses
        .split_once("; 2 wrong usage")
        .map_or("", |(own, _)| own);
    if own.contains("; 3") {
        lines.push(format!("Exit status: {own}."));
    }
    if !again.is_empty() {
        lines.push(format!("As above: {}", again.join(", ")));
    }
    lines
}

/// What `--help` prints of all commands, as a part of a document.
fn reference() -> Result<String, Failed> {
    let help = |arguments: &[&str]| -> Result<String, Failed> {
        let mut command = crate::common::command(env!("CARGO_BIN_EXE_referee"));
        let output = command.args(arguments).arg("--help").output()?;
        Ok(String::from_utf8(output.stdout)?)
    };
    let commands_in = |help: &str| -> Vec<String> {
        let listed = help.split_once("Commands:\n").map(|(_, listed)| listed);
        let lines = listed.into_iter().flat_map(str::lines);
        lines
            .take_while(|line| !line.is_empty())
            .filter(|line| line.starts_with("  ") && !line.starts_with("   "))
            .filter_map(|line| line.split_whitespace().next())
            .filter(|command| *command != "help")
            .map(str::to_owned)
            .collect()
    };
    let main = help(&[])?;
    let commands = commands_in(&main);
    if commands.is_empty() {
        return Err("no list of commands".into());
    }
    let mut described = Described::default();
    let mut part = |title: &str, text: &str| {
        let lines = once(&without_commands(text), &mut described);
        format!("\n### {title}\n\n```text\n{}\n```\n", lines.join("\n"))
    };
    let mut all = part("referee", &main);
    for command in commands {
        let text = help(&[&command])?;
        all += &part(&format!("referee {command}"), &text);
        for own in commands_in(&text) {
            all += &part(
                &format!("referee {command} {own}"),
                &help(&[&command, &own])?,
            );
        }
    }
    let mut command = crate::common::command(env!("CARGO_BIN_EXE_referee"));
    let log = String::from_utf8(command.args(["help", "log"]).output()?.stdout)?;
    let (log, _examples) = log.split_once("\nExamples:").ok_or("no examples")?;
    let log = log.trim_end();
    let _ = write!(all, "\n### referee help log\n\n```text\n{log}\n```\n");
    Ok(all)
}

fn options_are_those_of_the_program() -> Result<(), Failed> {
    let file = source(REFERENCE);
    let text = fs::read_to_string(&file)?;
    let (head, shown) = text.split_once(GENERATED).ok_or("no generated part")?;
    let expected = reference()?;
    if std::env::var_os("UPDATE").is_some() {
        fs::write(&file, format!("{head}{GENERATED}{expected}"))?;
    } else if shown != expected {
        let words = "the options have changed: UPDATE=1 cargo test --test environment documents::";
        return Err(format!("{REFERENCE}: {words}").into());
    }
    Ok(())
}

pub(crate) fn trials() -> Vec<Trial> {
    let mut trials = vec![
        Trial::test(
            "documents::options are those of the program",
            options_are_those_of_the_program,
        ),
        Trial::test(
            "documents::tables are those of the schemas",
            reference::tables_are_those_of_the_schemas,
        ),
    ];
    let name = "documents::examples for pandas";
    trials.push(match reference::pandas() {
        Some(python) => Trial::test(name, move || reference::examples_for_pandas(&python)),
        None => unavailable(name, "pandas", "python3-pandas"),
    });
    let has_python = program("python3", &[]).is_some();
    let name = "documents::mistakes are what the program says of them";
    let mut needs = mistakes::NEEDS.iter();
    trials.push(match needs.find(|need| program(need.0, &[]).is_none()) {
        None => Trial::test(name, mistakes::are_what_the_program_says),
        Some((command, package)) => unavailable(name, command, package),
    });
    for document in documents() {
        let name = format!("documents::{document}");
        trials.push(if !has_python {
            unavailable(name, "python3", "python3")
        } else if document == reference::DOCUMENT && program("jq", &[]).is_none() {
            unavailable(name, "jq", "jq")
        } else {
            Trial::test(name, move || commands_run(&document))
        });
    }
    trials
}
