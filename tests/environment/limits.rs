//! The limits of docs/sandbox.md: each row of its table is tried in each sandbox, as root and as a user.

use std::fs;
use std::io;

use libtest_mimic::{Failed, Trial};
use rustix::process::getuid;

use crate::common::Referee;
use crate::hostile::{User, against, doctor, is_clean, sandboxes, verdict};

/// A row of the table.
#[derive(Clone)]
struct Row {
    limit: String,
    /// What happens where the sandbox has name spaces, and where not.
    outcomes: [Outcome; 2],
}

#[derive(Clone)]
enum Outcome {
    /// The bot gets an error with this text.
    Error(String),
    /// It forfeits with this sentence.
    Killed(String),
}

impl Outcome {
    fn of(cell: &str) -> Self {
        let between = |mark| cell.strip_prefix(mark)?.strip_suffix(mark);
        if let Some(name) = between('`') {
            let number = match name {
                "EAGAIN" => libc::EAGAIN,
                "EFBIG" => libc::EFBIG,
                "EMFILE" => libc::EMFILE,
                "ENOMEM" => libc::ENOMEM,
                "ENOSPC" => libc::ENOSPC,
                other => {
                    panic!("docs/sandbox.md has the error {other}, which this test does not know")
                }
            };
            let error = io::Error::from_raw_os_error(number).to_string();
            let words = error.split(" (os error").next().unwrap_or(&error);
            return Self::Error(words.to_owned());
        }
        let sentence = between('"');
        let sentence =
            sentence.unwrap_or_else(|| panic!("neither an error nor a sentence: {cell}"));
        // The tests have lower limits than the defaults.
        let sentence = sentence.replace("1 GiB", "128 MiB");
        Self::Killed(sentence.replace("64 processes", "40 processes"))
    }
}

fn rows() -> Vec<Row> {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/docs/sandbox.md");
    let text = fs::read_to_string(path).expect("a document");
    let table = text
        .lines()
        .skip_while(|line| !line.starts_with("| limit |"));
    let rows = table.skip(2).take_while(|line| line.starts_with('|'));
    let row = |line: &str| {
        let cells: Vec<&str> = line.trim_matches('|').split(" | ").map(str::trim).collect();
        let [limit, _, here, elsewhere] = cells[..] else {
            panic!("not a row of four cells: {line}");
        };
        Row {
            limit: limit.to_owned(),
            outcomes: [here, elsewhere].map(Outcome::of),
        }
    };
    rows.map(row).collect()
}

/// `is_looked_at`: it is the referee that looks, not the kernel that refuses.
fn holds(row: &Row, kind: &str, user: User, is_looked_at: bool) -> Result<(), Failed> {
    let limit = row.limit.clone();
    let (referee, world) = against("meets-limit", |_| limit, kind, user);
    let run = referee.run();
    let (succeeded, detail) = verdict(&run);
    let stderr = run.printed_records()[0]["result"]["stderr"].to_string();
    let is_as_told = match &row.outcomes[usize::from(is_looked_at)] {
        Outcome::Error(words) => {
            !detail.contains("killed") && stderr.contains(&format!("attack: blocked: {words}"))
        }
        Outcome::Killed(sentence) => detail.starts_with(sentence.as_str()),
    };
    if succeeded || !is_as_told {
        let limit = &row.limit;
        return Err(
            format!("docs/sandbox.md says something else of the limit {limit}\n{run}").into(),
        );
    }
    is_clean(&world, &run)
}

/// Whether the kernel counts the processes and threads of a bot alone.
fn are_tasks_counted(user: User) -> bool {
    if !(getuid().is_root() && user == User::Same) {
        return true;
    }
    let report = doctor(user);
    let mut findings = report["findings"].as_array().into_iter().flatten();
    findings.any(|finding| {
        let result = finding["result"].to_string();
        finding["probe"] == "--processes" && result.contains("control group")
    })
}

/// A bot whose processes go beyond its memory, some of which the kernel kills, and which then answers: it forfeits for
/// that, or its record tells of them.
fn kills_are_told(kind: &str, user: User) -> Result<(), Failed> {
    let (referee, world) = against("loses-children", |_| String::new(), kind, user);
    let run = referee.run();
    let record = &run.printed_records()[0];
    let detail = record["result"]["detail"].to_string();
    let kills = record["usage"][0]["oom_kills"].as_u64();
    let peak = record["usage"][0]["memory_kb"].as_u64();
    let is_forfeited = detail.contains("it used more than 128 MiB of memory, and was killed");
    // The kernel counts in pages, and the supervisor finds more than the limit.
    let is_peak = peak.is_some_and(|peak| peak > 127 << 10);
    if (is_forfeited || kills.is_some_and(|kills| kills > 0)) && is_peak {
        return is_clean(&world, &run);
    }
    Err(format!("{run}").into())
}

/// A program that is refused memory need not be killed: the limit that it met stands in the sentence, with what to do.
fn an_error_of_memory_names_the_limit(kind: &str) -> Result<(), Failed> {
    let bot = "sh -c 'read question; echo MemoryError >&2; exit 1'";
    let options = [
        "--sandbox",
        kind,
        "--memory",
        "512M",
        "--json",
        "--first",
        "1",
    ];
    let run = Referee::new(options).args([bot, "builtin:random"]).run();
    let detail = run.printed_records()[0]["result"]["detail"].to_string();
    let words = "exit status 1, after an error that speaks of memory, of which its sandbox gives it 512 MiB";
    if !detail.contains(words) {
        return Err(format!("{run}").into());
    }
    Ok(())
}

pub(crate) fn trials() -> Vec<Trial> {
    let mut trials = Vec::new();
    for (kind, user, is_ready) in sandboxes() {
        if kind == "none" {
            continue;
        }
        let title = format!(
            "limits::killed processes are told in {kind}{}",
            user.suffix()
        );
        let trial = Trial::test(title, move || kills_are_told(kind, user));
        trials.push(trial.with_ignored_flag(!is_ready));
        if user == User::Same {
            let title = format!("limits::an error of memory names the limit in {kind}");
            let trial = Trial::test(title, move || an_error_of_memory_names_the_limit(kind));
            trials.push(trial.with_ignored_flag(!is_ready));
        }
        let are_tasks_counted = is_ready && are_tasks_counted(user);
        for row in rows() {
            let title = format!("limits::{} in {kind}{}", row.limit, user.suffix());
            // As the document says below its table of root without control groups.
            let is_counted = row.limit != "processes and threads" || are_tasks_counted;
            let is_looked_at = user == User::WithoutSpaces || !is_counted;
            let trial = Trial::test(title, move || holds(&row, kind, user, is_looked_at));
            trials.push(trial.with_ignored_flag(!is_ready));
        }
    }
    trials
}
