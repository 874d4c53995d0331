//! The mistakes of beginners: small programs in tests/bots/mistakes, and what `referee check` says of them, which is a
//! table of docs/troubleshooting.md. Also programs in other languages that hold back their output or their input.
//!
//! The first line of a program's documentation is the name of its mistake.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread;

use libtest_mimic::{Failed, Trial};
use serde_json::Value;

use crate::common::files::executable;
use crate::requirements::{program, unavailable};

/// The document with the table.
const DOCUMENT: &str = "docs/troubleshooting.md";

/// What the generated part of it stands between.
const BEGIN: &str = "<!-- generated: mistakes -->\n";
const END: &str = "<!-- end of mistakes -->\n";

/// The folder of the programs.
const MISTAKES: &str = "tests/bots/mistakes";

/// Commands that run or compile them, and their packages.
pub(crate) const NEEDS: [(&str, &str); 5] = [
    ("python3", "python3"),
    ("gcc", "gcc"),
    ("java", "default-jdk-headless"),
    ("node", "nodejs"),
    ("fpc", "fp-compiler"),
];

/// How many programs are checked at a time. Most of the time they wait for a limit to run out.
const AT_ONCE: usize = 4;

fn source(file: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(file)
}

/// What `referee check` says of a bot: what is wrong, and what to do.
fn checked(folder: &Path, bot: &str) -> Result<(String, String), Failed> {
    let output = crate::common::command(env!("CARGO_BIN_EXE_referee"))
        .args(["check", "--json", "--sandbox", "none"])
        .args(["--move-time", "1s", "--start-time", "5s", bot])
        .current_dir(folder)
        .env_remove("PYTHONUNBUFFERED")
        .output()?;
    let stderr = String::from_utf8_lossy(&output.stderr);
    if output.status.code() == Some(2) {
        // `referee: cannot start BOT: CAUSE; FIX`
        // A build is said where it takes longer than a second.
        let mut lines = stderr.trim().lines();
        let words = lines
            .by_ref()
            .map(|line| line.trim_start_matches("referee: "))
            .find(|line| !line.starts_with("building "))
            .unwrap_or_default();
        // A compiler's own lines are below.
        let below = lines.next().filter(|_| words.ends_with(':'));
        let words = [words, below.unwrap_or_default().trim()].join(" ");
        let words = words.trim_end();
        // What a compiler names is the fix.
        let of_build = Some((words, "correct what the compiler names"));
        let split = words
            .split_once("; ")
            .filter(|_| !words.contains("cannot be built"));
        let (what, fix) = split.or(of_build).ok_or("no fix")?;
        return Ok((steady(what), fix.to_owned()));
    }
    let report: Value = serde_json::from_slice(&output.stdout)
        .map_err(|error| format!("{bot}: {error}: {stderr}"))?;
    let first = &report["fix_first"];
    let word = |field: &str| first[field].as_str().unwrap_or_default().to_owned();
    let mut what = steady(&word("detail"));
    if report["fit"] == true || word("check") == "ends when its input ends" {
        // No forfeit: the check itself says what it is about.
        what = format!("{}: {what}", word("check"));
    }
    Ok((what, word("fix")))
}

/// What is said without what differs from machine to machine: the words of Python's errors, and waits for a CPU.
fn steady(detail: &str) -> String {
    let mut detail = detail.to_owned();
    for (begin, end) in [(" (of ", "; it ran for"), (" (in ", "of CPU time")] {
        if let Some(start) = detail.find(begin)
            && let Some(inside) = detail[start..].find(end)
            && let Some(close) = detail[start + inside..].find(')')
        {
            detail.replace_range(start..=start + inside + close, "");
        }
    }
    let cut = |detail: &str, end: &str, stop: &[char]| {
        let (before, words) = detail.split_once(end)?;
        let kind = words.trim_start_matches("Error: ").split(stop).next()?;
        Some(format!("{before}{end}{kind}").trim_end().to_owned() + " …")
    };
    // A compiler's words, or those of an error without names and addresses.
    let compiler = cut(&detail, " error: ", &[' ', '\'', '‘']);
    let shown = compiler.or_else(|| cut(&detail, "stderr ended with: ", &[':', '$', '\'']));
    shown.unwrap_or(detail)
}

/// A mistake: its file and its name.
struct Mistake {
    file: String,
    name: String,
}

/// The programs of the folder, by name; files with no documentation belong to others.
fn mistakes() -> Result<Vec<Mistake>, Failed> {
    let mut mistakes = Vec::new();
    for entry in fs::read_dir(source(MISTAKES))? {
        let path = entry?.path();
        let text = fs::read_to_string(&path)?;
        let mut lines = text.lines().map(str::trim).take(2);
        let begins = |line: &&str| {
            let all = ["\"\"\"", "/* ", "{ ", "# "];
            all.iter().any(|begin| line.starts_with(begin))
        };
        let Some(name) = lines.find(begins) else {
            continue;
        };
        mistakes.push(Mistake {
            file: path
                .file_name()
                .ok_or("a name")?
                .to_string_lossy()
                .into_owned(),
            name: name.trim_matches(|c| "\"/*#{} ".contains(c)).to_owned(),
        });
    }
    mistakes.sort_by(|a, b| a.file.cmp(&b.file));
    Ok(mistakes)
}

/// How often a program is checked whose row is not in the document: on a busy machine it may be killed before it has
/// written why it fails. A new row needs the same result twice.
const ATTEMPTS: usize = 5;

/// What many messages have in common: where each part begins and ends.
const COMMON: [(&str, &str); 8] = [
    (" (asked `", "`)"),
    ("it was asked `", " to start); "),
    ("it answered only when its input ended: ", ""),
    ("it ended with exit status 1 instead of answering; ", ""),
    ("mistakes/", ""),
    (" (one or two digits)", ""),
    ("; expected a cell and a gift, such as `", "`"),
    (" (debugging text belongs on stderr)", ""),
];

/// A message without what it has in common with many, and without what is free or left.
fn shortened(what: &str) -> String {
    let mut what = what.to_owned();
    for (begin, end) in COMMON {
        while let Some(start) = what.find(begin)
            && let Some(length) = what[start + begin.len()..].find(end)
        {
            what.replace_range(start..start + begin.len() + length + end.len(), "");
        }
    }
    for list in ["; pieces left: ", "; free cells: ", "; one line answers "] {
        if let Some(start) = what.find(list) {
            let next = ["; hint: ", "; stderr "].map(|next| what[start..].find(next));
            let next = next.into_iter().flatten().min();
            what.replace_range(start..next.map_or(what.len(), |at| start + at), "");
        }
    }
    what.replace(" it answered `", " `").replace('|', "\\|")
}

/// What is said of a mistake, from runs of the program.
fn seen(folder: &Path, mistake: &Mistake, shown: &str) -> Result<String, Failed> {
    let mut seen = String::new();
    let mut bot = format!("mistakes/{}", mistake.file);
    if let Some(program) = bot.strip_suffix(".pas") {
        let mut compiler = Command::new("fpc");
        let output = compiler.args(["-v0", &bot]).current_dir(folder).output()?;
        if !output.status.success() {
            return Err(format!("{bot}: {output:?}").into());
        }
        bot = program.to_owned();
    }
    for _ in 0..ATTEMPTS {
        let (what, fix) = checked(folder, &bot)?;
        if fix.is_empty() {
            return Err(format!("{bot}: no fix: {what}").into());
        }
        let now = shortened(&what);
        let is_written = std::env::var_os("UPDATE").is_some();
        let is_certain = is_written && now == seen || shown.contains(&format!("| {now} |"));
        seen = now;
        if is_certain {
            break;
        }
    }
    Ok(seen)
}

/// The table, from runs of the program; `shown` is the one of the document.
fn table(shown: &str) -> Result<String, Failed> {
    let place = tempfile::tempdir()?;
    let copied = Command::new("cp")
        .arg("-r")
        .arg(source(MISTAKES))
        .arg(place.path())
        .status()?;
    if !copied.success() {
        return Err("cannot copy the programs".into());
    }
    let mistakes = mistakes()?;
    let folder = place.path();
    // By what is said: all mistakes of which that is said.
    let mut rows: BTreeMap<String, Vec<&str>> = BTreeMap::new();
    for some in mistakes.chunks(AT_ONCE) {
        let found: Vec<_> = thread::scope(|scope| {
            let running: Vec<_> = some
                .iter()
                .map(|mistake| scope.spawn(move || seen(folder, mistake, shown)))
                .collect();
            running
                .into_iter()
                .map(thread::ScopedJoinHandle::join)
                .collect()
        });
        for (found, mistake) in found.into_iter().zip(some) {
            let seen = found.map_err(|_| "a check panicked")??;
            rows.entry(seen).or_default().push(&mistake.name);
        }
    }
    let mut table = "\n| what it says | the mistake |\n|---|---|\n".to_owned();
    for (what, names) in &rows {
        table.extend(["| ", what, " | ", &names.join("; "), " |\n"]);
    }
    Ok(table + "\n")
}

/// Compares the table of the document with what the program says.
pub(crate) fn are_what_the_program_says() -> Result<(), Failed> {
    let file = source(DOCUMENT);
    let text = fs::read_to_string(&file)?;
    let (head, rest) = text.split_once(BEGIN).ok_or("no generated part")?;
    let (shown, tail) = rest.split_once(END).ok_or("no end of the generated part")?;
    let expected = table(shown)?;
    if std::env::var_os("UPDATE").is_some() {
        fs::write(&file, format!("{head}{BEGIN}{expected}{END}{tail}"))?;
    } else if shown != expected {
        let different = expected.lines().find(|line| !shown.contains(line));
        let words = "the messages have changed: UPDATE=1 cargo test --test environment documents::";
        return Err(format!("{DOCUMENT}: {words}\n{}", different.unwrap_or_default()).into());
    }
    Ok(())
}

/// A bot that answers every line at once, where awk hands lines over as they come.
const AWK: &str = r#"{
    board = $1; piece = $2; gift = "-"; pieces = "PONMLKJIHGFEDCBA"
    for (i = 1; i <= 16; i++) {
        p = substr(pieces, i, 1)
        if (index(board piece, p) == 0) gift = p
    }
    print (piece == "-" ? "-" : index(board, ".")), gift
    fflush()
}
"#;

/// Reads in blocks, and answers every line of a block at once.
const BLOCKS: &str = r#"#include <stdio.h>
int main(void) {
    static char block[4096];
    size_t size;
    while ((size = fread(block, 1, sizeof block, stdin)) > 0)
        for (size_t i = 0; i < size; i++)
            if (block[i] == '\n') { puts("- K"); fflush(stdout); }
}
"#;

/// Reads line by line, and does not flush.
const UNFLUSHED: &str = r#"#include <stdio.h>
int main(void) {
    char line[1024];
    while (fgets(line, sizeof line, stdin)) puts("- K");
}
"#;

fn says(found: &(String, String), what: &str, fix: &str) -> Result<(), Failed> {
    if found.0.contains(what) && found.1.contains(fix) {
        Ok(())
    } else {
        Err(format!("expected `{what}` and `{fix}`, found {found:?}").into())
    }
}

/// mawk reads ahead, unless it is told not to, which a file with the ending `.awk` is spared.
fn awk() -> Result<(), Failed> {
    let place = tempfile::tempdir()?;
    fs::write(place.path().join("bot.awk"), AWK)?;
    let reads_ahead = checked(place.path(), "mawk -f bot.awk")?;
    says(
        &reads_ahead,
        "it reads its input in blocks",
        "mawk needs -W interactive",
    )?;
    if reads_ahead.1.contains("flush") {
        return Err(format!("told to flush: {reads_ahead:?}").into());
    }
    // Fit: only advice is left.
    says(
        &checked(place.path(), "bot.awk")?,
        "takes a win that is there",
        "",
    )
}

/// A program in C that holds back one or the other.
fn c(source: &str, what: &str, fix: &str) -> Result<(), Failed> {
    let place = tempfile::tempdir()?;
    fs::write(place.path().join("bot.c"), source)?;
    let compiled = Command::new("cc")
        .args(["-o", "bot", "bot.c"])
        .current_dir(place.path())
        .status()?;
    if !compiled.success() {
        return Err("cc fails".into());
    }
    says(&checked(place.path(), "./bot")?, what, fix)
}

/// In a tournament and in a match both are named.
fn forfeits_name_both() -> Result<(), Failed> {
    let place = tempfile::tempdir()?;
    executable(
        &place.path().join("late.py"),
        &fs::read(source(MISTAKES).join("readlines.py"))?,
        0o755,
    );
    let output = crate::common::command(env!("CARGO_BIN_EXE_referee"))
        .args([
            "--sandbox",
            "none",
            "--first",
            "1",
            "--move-time",
            "1s",
            "--start-time",
            "5s",
        ])
        .args(["./late.py", "builtin:random"])
        .current_dir(place.path())
        .output()?;
    let stderr = String::from_utf8_lossy(&output.stderr);
    for words in [
        "flush after every line",
        "`referee check BOT` finds out",
        "| (cat; sleep 3) | REFEREE_SEED=",
        " ./late.py",
    ] {
        if !stderr.contains(words) {
            return Err(format!("`{words}` is missing in {stderr}").into());
        }
    }
    Ok(())
}

pub(crate) fn trials() -> Vec<Trial> {
    let mut trials = Vec::new();
    let mut add = |name: &str,
                   command: &'static str,
                   package: &'static str,
                   test: fn() -> Result<(), Failed>| {
        let name = format!("mistakes::{name}");
        trials.push(if program(command, &[]).is_some() {
            Trial::test(name, test)
        } else {
            unavailable(name, command, package)
        });
    };
    add("mawk reads ahead", "mawk", "mawk", awk);
    add("C in blocks", "cc", "gcc", || {
        c(
            BLOCKS,
            "it reads its input in blocks",
            "read and answer one line",
        )
    });
    add("C without flush", "cc", "gcc", || {
        c(
            UNFLUSHED,
            "does not flush its output",
            "flush after every line",
        )
    });
    add(
        "forfeits name both",
        "python3",
        "python3",
        forfeits_name_both,
    );
    trials
}
