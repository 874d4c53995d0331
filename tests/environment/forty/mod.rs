//! A class of 40 for three weeks, with all that was reported of people and bots, in a league and in all five formats, while
//! the referee is killed at random moments. What it then has written is recomputed by `recompute.py`, which shares nothing
//! with it but the documents and the records, and must be the same in every cell.
//!
//! The moments follow from a seed, which is printed:
//!
//! ```text
//! FORTY_SEED=7 cargo test --test environment forty::
//! ```

mod class;
mod programs;

use std::fmt::Write as _;
use std::fs;
use std::panic::resume_unwind;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use libtest_mimic::{Failed, Trial};
use rand::rngs::StdRng;
use rand::{RngExt as _, SeedableRng as _};
use serde_json::{Value, json};
use tempfile::TempDir;

use self::class::{ACCEPT_LATE, DEADLINES, Entries, WEEKS, list_of, list_text, submit};
use self::programs::{BABBLES, GONE, LEAVES, NAPS, SILENT, bot, simple, steady};
use crate::common::files::executable;
use crate::common::{Referee, Run, command, plain_directory};
use crate::requirements::{program, unavailable};

const SCALE: &str = r#"
alpha = 0.2
beta = 0.2
budget = 8
seed = 9

[[rung]]
name = "beats a simple bot"
bot = "rungs/simple.sh"
elo0 = 0
elo1 = 200
points = 40

[[rung]]
name = "beats random play"
bot = "builtin:random"
elo0 = 0
elo1 = 300
points = 25

[[rung]]
name = "holds its own against a steady bot"
bot = "rungs/steady.sh"
score = 0.4
points = 35

[[late]]
after = 0
loses = 10

[[late]]
after = 24
loses = 25
"#;

/// A record has about so many bytes.
const RECORD: u64 = 700;

struct Course {
    directory: TempDir,
    seed: u64,
    weeks: Vec<Value>,
    kills: AtomicUsize,
    /// How many cells were compared.
    compared: u64,
    /// The table that there was before the last run, if it was one of the same week: what has moved is told of that.
    before: Option<PathBuf>,
}

/// The bytes of the journals at any depth.
fn journals_below(folder: &Path) -> u64 {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let lengths = entries.map(|entry| match entry.file_type() {
        Ok(kind) if kind.is_dir() && entry.file_name() != "bots" => journals_below(&entry.path()),
        _ if entry.file_name() == "games.jsonl" => entry.metadata().map_or(0, |meta| meta.len()),
        _ => 0,
    });
    lengths.sum()
}

/// A text in TOML.
fn quoted(text: impl AsRef<str>) -> Value {
    Value::from(text.as_ref())
}

impl Course {
    fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    fn referee(&self, arguments: &[&str]) -> Referee {
        Referee::new(arguments).directory(self.directory.path())
    }

    fn run(&self, arguments: &[&str]) -> Result<Run, Failed> {
        let run = self.referee(arguments).run();
        match run.code {
            Some(0) => Ok(run),
            _ => Err(format!("{arguments:?}: {run}").into()),
        }
    }

    /// Of its own for each command, so that the seed decides, whatever runs at the same time.
    fn random(&self, of: &str) -> StdRng {
        let mixed = of.bytes().fold(self.seed, |mixed, byte| {
            (mixed ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
        });
        StdRng::seed_from_u64(mixed)
    }

    /// Runs a command that writes into `folder` and is killed so often, at least twice before its end; meanwhile
    /// something else is done.
    fn killed(
        &self,
        arguments: &[&str],
        folder: &str,
        kills: usize,
        meanwhile: &dyn Fn(&mut StdRng) -> Result<(), Failed>,
    ) -> Result<Run, Failed> {
        let mut random = self.random(folder);
        let folder = self.path(folder);
        let mut killed = 0;
        let mut last = None;
        for number in 0..kills {
            let mut running = self.referee(arguments).start();
            if number % 3 == 2 {
                // At any moment, also before the first game.
                thread::sleep(Duration::from_millis(random.random_range(0..400)));
            } else {
                let before = journals_below(&folder);
                let change = RECORD * random.random_range(1..25);
                while running.is_running() && journals_below(&folder).abs_diff(before) < change {
                    thread::sleep(Duration::from_millis(2));
                }
                thread::sleep(Duration::from_millis(random.random_range(0..20)));
            }
            if running.is_running() {
                running.signal("KILL");
            }
            // No bot may be left.
            let run = running.finish();
            if run.code.is_some() {
                last = Some(run);
                break;
            }
            killed += 1;
            meanwhile(&mut random)?;
        }
        let run = last.unwrap_or_else(|| self.referee(arguments).run());
        self.kills.fetch_add(killed, Ordering::Relaxed);
        match run.code {
            Some(0) if killed >= 2 => Ok(run),
            _ => Err(format!("{arguments:?}, killed {killed} times: {run}").into()),
        }
    }

    /// Recomputes these; returns the exit status and what is printed.
    fn recompute(&self, jobs: &[Value]) -> Result<(Option<i32>, String), Failed> {
        let path = self.path("jobs.json");
        fs::write(&path, Value::from(jobs.to_vec()).to_string())?;
        let script =
            Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/environment/forty/recompute.py");
        let output = command("python3")
            .arg("-B")
            .arg(script)
            .arg(path)
            .stdin(Stdio::null())
            .output()?;
        let printed = [output.stdout, output.stderr].concat();
        Ok((
            output.status.code(),
            String::from_utf8_lossy(&printed).into_owned(),
        ))
    }

    /// Nothing may differ.
    fn nothing_differs(&mut self, jobs: &[Value]) -> Result<(), Failed> {
        let (code, printed) = self.recompute(jobs)?;
        if code != Some(0) {
            let kept = self.directory.path().display();
            return Err(format!("status {code:?} in {kept}:\n{printed}").into());
        }
        let counts = printed
            .rsplit_once("compared: ")
            .ok_or("nothing was compared")?
            .1;
        let counts = counts.split(", ").filter_map(|of| of.split(' ').next());
        let counts = counts.filter_map(|count| count.parse::<u64>().ok());
        self.compared += counts.sum::<u64>();
        Ok(())
    }

    fn league_job(&self) -> Value {
        json!({
            "kind": "league",
            "folder": self.path("term"),
            "weeks": self.weeks,
            "notes": self.path("notes.txt"),
            "before": self.before,
        })
    }

    fn play_league(&mut self, week: usize, download: &str) -> Result<(), Failed> {
        let list = format!("list{week}.csv");
        let deadline = jiff::Timestamp::from_second(DEADLINES[week])?.to_string();
        let mut arguments = vec!["league", "term", "--from", download, "--students", &list];
        arguments.extend("--pairs 1 --seed 5 --jobs 2 --sandbox none --bench-after 3".split(' '));
        // No clock decides who is fit.
        arguments.extend("--move-time 1h --start-time 1h --deadline".split(' '));
        arguments.extend([&*deadline, "--accept-late", "48h"]);
        let (source, term) = (self.path(download), self.path("term"));
        let week_before = self.path(&format!("standings{}.csv", week.wrapping_sub(1)));
        let kills = if week == 0 { 6 } else { 4 };
        let run = self.killed(&arguments, "term", kills, &|random| {
            if source.is_dir() {
                litter(&source, random, true)?;
            }
            keep_table(&term, &week_before)
        })?;
        fs::write(self.path("notes.txt"), &run.stderr)?;
        let before = self.path("before.csv");
        self.before = before.exists().then_some(before);
        Ok(())
    }

    /// Returns the job that recomputes them.
    fn grade(&self) -> Result<Value, Failed> {
        let arguments = "grade term --scale scale.toml --jobs 2 --sandbox none";
        let arguments: Vec<&str> = arguments.split(' ').collect();
        self.killed(&arguments, "term/grades", 3, &|_| Ok(()))?;
        Ok(json!({
            "kind": "grades",
            "folder": self.path("term/grades"),
            "scale": self.path("scale.toml"),
            "league": self.league_job(),
        }))
    }

    /// The bots of the league as they play, and others.
    fn enter(&self, week: usize) -> Result<(), Failed> {
        let plan = fs::read_to_string(self.path("term/plan.json"))?;
        let plan: Value = serde_json::from_str(&plan)?;
        let bots = plan["bots"].as_array().ok_or("no bots")?;
        let mut config =
            "move-time = \"200ms\"\nstart-time = \"200ms\"\nsandbox = \"none\"\njobs = 2\n"
                .to_owned();
        let mut enter = |name: &str, folder: &str, file: &str, text: &str| -> Result<(), Failed> {
            let place = self.path(&format!("cups{week}/bots/{folder}"));
            fs::create_dir_all(&place)?;
            executable(&place.join(file), text, 0o755);
            let (name, file) = (quoted(name), quoted(format!("bots/{folder}/{file}")));
            let _ = writeln!(config, "\n[[bots]]\nname = {name}\ncommand = [{file}]");
            Ok(())
        };
        for (number, bot) in bots.iter().enumerate() {
            let text = |field: &str| bot[field].as_str().unwrap_or_default().to_owned();
            let program = fs::read_to_string(text("bot"))?;
            enter(&text("name"), &number.to_string(), "bot.sh", &program)?;
        }
        enter("Silent", "silent", "bot.sh", SILENT)?;
        enter("Gone", "gone", "bot.sh", GONE)?;
        enter("Leaves", "leaves", "bot.sh", &steady(90, "leaves", LEAVES))?;
        // Two in a folder.
        enter("Left", "shared", "left.sh", &steady(91, "left", NAPS))?;
        enter("Right", "shared", "right.sh", &steady(93, "right", BABBLES))?;
        let count = bots.len() + 5;
        if week < 2 && count.is_multiple_of(2) {
            enter("Odd", "odd", "bot.sh", &bot(94, "odd"))?;
        }
        fs::write(self.path(&format!("cups{week}/cup.toml")), config)?;
        Ok(())
    }

    /// Plays a tournament; returns the job that recomputes it.
    fn play_cup(&self, week: usize, (format, options): Cup) -> Result<Value, Failed> {
        let (name, config) = (
            format!("cups{week}/{format}"),
            format!("cups{week}/cup.toml"),
        );
        let seeds = format!("standings{week}.csv");
        let log = format!("cups{week}/bots/1/{format}.log");
        let mut arguments = vec!["tournament", "--config", &config, "--out", &name];
        arguments.extend(["--format", format, "--log-file", &log, "--seed", "7"]);
        arguments.extend(options.split(' '));
        let is_seeded = options.contains("--seeds");
        if is_seeded {
            arguments.push(&seeds);
        }
        let bots = self.path(&format!("cups{week}/bots"));
        self.killed(&arguments, &name, 4, &|random| litter(&bots, random, false))?;
        let mut job = json!({"kind": "tournament", "folder": self.path(&name)});
        if is_seeded {
            job["seeds"] = self.seeded(&config, &seeds)?;
        }
        Ok(job)
    }

    /// Grades the league and plays tournaments of all formats at the same time; returns the jobs that recompute them.
    fn play_cups(&self, week: usize) -> Result<Vec<Value>, Failed> {
        self.enter(week)?;
        let of = |cups: &[Cup]| -> Result<Vec<Value>, Failed> {
            cups.iter().map(|cup| self.play_cup(week, *cup)).collect()
        };
        let (long, short) = CUPS[week].split_at(1);
        let parts = thread::scope(|scope| {
            let parts = [
                scope.spawn(|| of(long)),
                scope.spawn(|| of(short)),
                scope.spawn(|| Ok(vec![self.grade()?])),
            ];
            parts.map(|part| part.join().unwrap_or_else(|panic| resume_unwind(panic)))
        });
        let jobs: Vec<Vec<Value>> = parts.into_iter().collect::<Result<_, _>>()?;
        Ok(jobs.concat())
    }

    /// The bots of a tournament in the order of this table, those that it does not have last.
    fn seeded(&self, config: &str, table: &str) -> Result<Value, Failed> {
        let config = fs::read_to_string(self.path(config))?;
        let given = config
            .lines()
            .filter_map(|line| line.strip_prefix("name = "))
            .map(serde_json::from_str::<String>)
            .collect::<Result<Vec<_>, _>>()?;
        let table = fs::read_to_string(self.path(table))?;
        let mut rows = csv::Reader::from_reader(table.trim_start_matches('\u{feff}').as_bytes());
        let mut seeds: Vec<String> = Vec::new();
        for row in rows.records() {
            let row = row?;
            let is_ranked = !row[0].is_empty();
            if is_ranked && given.iter().any(|name| *name == row[1]) {
                seeds.push(row[1].to_owned());
            }
        }
        let unnamed = given.into_iter().filter(|name| !seeds.contains(name));
        let unnamed: Vec<String> = unnamed.collect();
        seeds.extend(unnamed);
        Ok(seeds.into())
    }
}

/// A format and its options. A file of seeds follows where one is wanted.
type Cup = (&'static str, &'static str);

/// Of each week; the first takes as long as the others.
const CUPS: [[Cup; 5]; WEEKS] = [
    [
        ("round-robin", "--pairs 1 --no-check --bench-after 4"),
        ("gauntlet", "--pairs 2 --no-check --bench-after 3"),
        ("swiss", "--pairs 1 --rounds 7 --no-check --bench-after 3"),
        (
            "knockout",
            "--pairs 1 --no-check --bench-after 3 --tie-break-games 4",
        ),
        (
            "groups+knockout",
            "--pairs 1 --no-check --bench-after 3 --tie-break-games 2",
        ),
    ],
    [
        ("round-robin", "--pairs 1 --bench-after 2"),
        ("gauntlet", "--pairs 1 --no-check --bench-after 0"),
        (
            "swiss",
            "--pairs 2 --rounds 6 --no-check --bench-after 3 --seeds",
        ),
        ("knockout", "--pairs 2 --no-check --bench-after 3 --seeds"),
        (
            "groups+knockout",
            "--pairs 1 --no-check --bench-after 2 --groups 7 --seeds",
        ),
    ],
    [
        (
            "round-robin",
            "--pairs 1 --no-check --bench-after 2 --tie-break wins,sonneborn-berger,wins-as-second",
        ),
        ("gauntlet", "--pairs 1 --bench-after 3"),
        (
            "swiss",
            "--pairs 1 --rounds 9 --no-check --bench-after 3 --tie-break buchholz,direct,wins-as-second",
        ),
        (
            "knockout",
            "--pairs 1 --no-check --bench-after 3 --tie-break-games 2 --seeds",
        ),
        (
            "groups+knockout",
            "--pairs 2 --no-check --bench-after 3 --tie-break-games 6 --groups 9",
        ),
    ],
];

/// Keeps the table of a league whose last command was killed after all its tables had been written.
fn keep_table(league: &Path, week_before: &Path) -> Result<(), Failed> {
    let kept = league.with_file_name("before.csv");
    let _ = fs::remove_file(&kept);
    let table = league.join("standings.csv");
    if week_before.exists() && fs::read(&table)? == fs::read(week_before)? {
        return Ok(());
    }
    let written = |name: &str| fs::metadata(league.join(name)).and_then(|meta| meta.modified());
    if let (Ok(games), Ok(last)) = (written("games.jsonl"), written("times.csv"))
        && last > games
    {
        fs::copy(table, kept)?;
    }
    Ok(())
}

/// Leaves in some of these folders what systems, editors and logs leave; nothing new that could be a bot where a league
/// would take it for a part of a submission.
fn litter(folder: &Path, random: &mut StdRng, of_league: bool) -> Result<(), Failed> {
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        if !entry.file_type()?.is_dir() || random.random_range(0..4) > 0 {
            continue;
        }
        let left = [
            ".DS_Store",
            ".bot.sh.swp",
            "cup.log",
            "bot.sh~",
            "nohup.out",
        ];
        for name in left {
            fs::write(
                entry.path().join(name),
                format!("{:?}", random.random_range(0..1000)),
            )?;
        }
        if !of_league {
            // As a whole: another tournament with these folders may begin at this moment.
            let whole = folder.with_file_name(format!("notes{}", random.random::<u64>()));
            fs::write(&whole, "new since it began")?;
            fs::rename(&whole, entry.path().join("notes.txt"))?;
        }
    }
    Ok(())
}

fn weeks_are_recomputed(seed: u64) -> Result<(), Failed> {
    let mut course = Course {
        directory: plain_directory(),
        seed,
        weeks: Vec::new(),
        kills: AtomicUsize::new(0),
        compared: 0,
        before: None,
    };
    let recomputed = course.is_recomputed();
    match &recomputed {
        Ok(()) => println!(
            "forty: seed {seed}, {} kills, {} cells and facts recomputed",
            course.kills.load(Ordering::Relaxed),
            course.compared
        ),
        // To be looked at.
        Err(_) => course.directory.disable_cleanup(true),
    }
    recomputed
}

impl Course {
    fn is_recomputed(&mut self) -> Result<(), Failed> {
        let rungs = self.path("rungs");
        fs::create_dir(&rungs)?;
        executable(&rungs.join("simple.sh"), simple(3, "simple", ""), 0o755);
        executable(&rungs.join("steady.sh"), steady(5, "steady", ""), 0o755);
        fs::write(self.path("scale.toml"), SCALE)?;
        let mut entries = Entries::default();
        let mut jobs = Vec::new();
        for week in 0..WEEKS {
            submit(week, &mut entries)?;
            fs::write(
                self.path(&format!("list{week}.csv")),
                list_text(&list_of(week), week),
            )?;
            let download = ["week0.zip", "week1", "week2.tar.gz"][week];
            let path = self.path(download);
            match week {
                0 => entries.zip(&path)?,
                1 => entries.folder(&path)?,
                _ => entries.tar(&path)?,
            }
            match week {
                1 => {
                    self.run(&[
                        "league",
                        "withdraw",
                        "term",
                        "Gina Gruber",
                        "--why",
                        "copied",
                    ])?;
                }
                2 => {
                    self.run(&["league", "restore", "term", "Gina Gruber"])?;
                }
                _ => {}
            }
            self.weeks.push(json!({
                "download": path,
                "students": self.path(&format!("list{week}.csv")),
                "deadline": jiff::Timestamp::from_second(DEADLINES[week])?.to_string(),
                "accept_late": ACCEPT_LATE,
                "withdrawn": if week == 1 { vec!["Gina Gruber"] } else { vec![] },
                "standings": self.path(&format!("standings{week}.csv")),
            }));
            self.play_league(week, download)?;
            let job = self.league_job();
            self.nothing_differs(&[job])?;
            if week == 1 {
                self.replay_a_game(week, download)?;
            }
            fs::copy(
                self.path("term/standings.csv"),
                self.path(&format!("standings{week}.csv")),
            )?;
            jobs = self.play_cups(week)?;
            self.nothing_differs(&jobs)?;
        }
        self.no_name_without_a_letter()?;
        self.changes_are_noticed(&jobs)
    }

    /// A disputed game is played again, and counts once.
    fn replay_a_game(&mut self, week: usize, download: &str) -> Result<(), Failed> {
        let games = fs::read_to_string(self.path("term/games.jsonl"))?;
        let played = |line: &&str| !line.contains("\"played\":false");
        let line = games.lines().filter(played).nth(100).ok_or("a game")?;
        let disputed: Value = serde_json::from_str(line)?;
        let id = disputed["id"].as_str().ok_or("an id")?;
        self.run(&["league", "replay-game", "term", id, "--why", "a dispute"])?;
        let before = self.path("before.csv");
        fs::copy(self.path("term/standings.csv"), &before)?;
        self.before = Some(before);
        let list = format!("list{week}.csv");
        let run = self.run(&["league", "term", "--from", download, "--students", &list])?;
        let games = fs::read_to_string(self.path("term/games.jsonl"))?;
        let archive = fs::read_to_string(self.path("term/archive.jsonl"))?;
        let is_new = !games.contains(line) && games.contains(&format!("\"id\":\"{id}\""));
        if !is_new || !archive.contains("\"void\":\"a dispute\"") {
            return Err(format!("{id} was not played again: {run}").into());
        }
        fs::write(self.path("notes.txt"), &run.stderr)?;
        let job = self.league_job();
        self.nothing_differs(&[job])
    }

    fn no_name_without_a_letter(&self) -> Result<(), Failed> {
        let config = "[[bots]]\nname = \"\\u2003\"\ncommand = [\"rungs/simple.sh\"]\n";
        fs::write(self.path("blank.toml"), config)?;
        let run = self
            .referee(&["tournament", "--config", "blank.toml", "builtin:random"])
            .run();
        match run.code {
            Some(2) => Ok(()),
            _ => Err(run.to_string().into()),
        }
    }

    /// The comparison fails where anything is another: a cell of each column, a record, a grade, a person.
    fn changes_are_noticed(&self, jobs: &[Value]) -> Result<(), Failed> {
        let of = |format: &str| {
            let end = format!("/{format}\"");
            let mut jobs = jobs.iter();
            let job = jobs.find(|job| job["folder"].to_string().ends_with(&end));
            job.ok_or("a job")
        };
        let (swiss, knockout, grades) = (of("swiss")?, of("knockout")?, of("grades")?);
        let league = self.league_job();
        for job in [swiss, knockout, &league] {
            let changed = Changed::copy(self, job)?;
            changed.cells("standings.csv", |head, column| {
                let is_estimate = ["elo_low", "elo_high", "los", "did_not_enter"].contains(&head);
                (!is_estimate).then_some(1 + column)
            })?;
        }
        let changed = Changed::copy(self, swiss)?;
        changed.cells("crosstable.csv", |_, column| match column {
            0 => Some(1),
            _ => Some(2 + column % 20),
        })?;
        changed.json(
            "standings.json",
            "/standings/2/wins",
            "standings.json|, wins: ",
        )?;
        changed.json(
            "standings.json",
            "/standings/0/points",
            "standings.json|, points: ",
        )?;
        // A game that was won by the other; a forfeit of the other, which the turns do not tell; one that is missing.
        changed.record(
            |result| result["reason"] == "quarto",
            &["games.jsonl|, winner: ", "standings.csv|, points: "],
        )?;
        changed.record(
            |result| result["by"].is_u64() && result["played"].is_null(),
            &["standings.csv|, points: ", "standings.csv|, forfeits: "],
        )?;
        changed.text("games.jsonl", &["games.jsonl|no record"], |text| {
            text.split_once('\n').map(|(_, rest)| rest.to_owned())
        })?;
        let changed = Changed::copy(self, &league)?;
        changed.cells("people.csv", |_, column| Some(3 + 4 * column))?;
        changed.cells("students.csv", |head, column| {
            // What a sentence says is not recomputed.
            (head != "problem").then_some(2 + 3 * column)
        })?;
        let changed = Changed::copy(self, grades)?;
        changed.cells("grades.csv", |head, column| {
            (head != "Feedback").then_some(4 + column)
        })?;
        changed.json("grades.json", "/grades/0/points", "grades.json|, points: ")?;
        changed.text("grades.json", &["grades.json|, verdict: "], |text| {
            let changed = text.replacen("\"not-passed\"", "\"undecided\"", 1);
            (changed != text).then_some(changed)
        })
    }
}

/// A copy of what a job recomputes, in which something is changed.
struct Changed<'a> {
    course: &'a Course,
    job: Value,
    folder: PathBuf,
}

impl<'a> Changed<'a> {
    fn copy(course: &'a Course, job: &Value) -> Result<Self, Failed> {
        let folder = course.path("copied");
        let _ = fs::remove_dir_all(&folder);
        let from = job["folder"].as_str().ok_or("a folder")?;
        let copied = command("cp").args(["-r", from]).arg(&folder).status()?;
        if !copied.success() {
            return Err("cp failed".into());
        }
        let mut job = job.clone();
        job["folder"] = json!(folder);
        Ok(Self {
            course,
            job,
            folder,
        })
    }

    /// With this text a file differs, in lines that have all parts of each of these.
    fn differs(&self, file: &str, text: &str, expected: &[&str]) -> Result<(), Failed> {
        let path = self.folder.join(file);
        let before = fs::read_to_string(&path)?;
        fs::write(&path, text)?;
        let (code, printed) = self.course.recompute(std::slice::from_ref(&self.job))?;
        fs::write(&path, before)?;
        let is_told = |what: &&str| {
            let mut lines = printed.lines();
            lines.any(|line| what.split('|').all(|part| line.contains(part)))
        };
        match expected.iter().find(|what| !is_told(what)) {
            None if code == Some(1) => Ok(()),
            missing => {
                Err(format!("{missing:?} of {file} is not noticed: {code:?} {printed}").into())
            }
        }
    }

    fn text(
        &self,
        file: &str,
        expected: &[&str],
        change: impl Fn(&str) -> Option<String>,
    ) -> Result<(), Failed> {
        let text = fs::read_to_string(self.folder.join(file))?;
        let changed = change(&text);
        let changed = changed.ok_or_else(|| format!("{file} has nothing for {expected:?}"))?;
        self.differs(file, &changed, expected)
    }

    fn json(&self, file: &str, place: &str, expected: &str) -> Result<(), Failed> {
        self.text(file, &[expected], |text| {
            let mut value: Value = serde_json::from_str(text).ok()?;
            let number = value.pointer_mut(place)?;
            *number = (number.as_f64()? + 1.0).into();
            Some(value.to_string())
        })
    }

    /// The first game that ended so is another's.
    fn record(&self, is_wanted: impl Fn(&Value) -> bool, expected: &[&str]) -> Result<(), Failed> {
        self.text("games.jsonl", expected, |text| {
            let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
            for line in &mut lines {
                let mut record: Value = serde_json::from_str(line).ok()?;
                if is_wanted(&record["result"]) {
                    for field in ["winner", "by"] {
                        if let Some(side) = record["result"][field].as_u64() {
                            record["result"][field] = (1 - side).into();
                        }
                    }
                    *line = record.to_string();
                    return Some(lines.join("\n") + "\n");
                }
            }
            None
        })
    }

    /// A cell of each column for which there is a row, each in another one: by its heading and number.
    fn cells(&self, file: &str, row: impl Fn(&str, usize) -> Option<usize>) -> Result<(), Failed> {
        let text = fs::read_to_string(self.folder.join(file))?;
        let mut reader = csv::ReaderBuilder::new()
            .has_headers(false)
            .from_reader(text.as_bytes());
        let mut rows = Vec::new();
        for row in reader.records() {
            rows.push(row?.iter().map(str::to_owned).collect::<Vec<String>>());
        }
        let mut expected = Vec::new();
        for (column, head) in rows[0].clone().iter().enumerate() {
            let head = head.trim_start_matches('\u{feff}');
            let Some(row) = row(head, column) else {
                continue;
            };
            let name = rows[row][usize::from(head == "rank")..].first().cloned();
            let cell = &mut rows[row][column];
            *cell = match cell.parse::<f64>() {
                Ok(value) => (value + 1.0).to_string(),
                Err(_) if cell.is_empty() => "7".to_owned(),
                Err(_) => format!("{cell} 1"),
            };
            let is_of_version = ["plays", "newest"].contains(&head);
            expected.push(match head {
                "bot" => format!("{file}|, name: "),
                _ if is_of_version => format!("{file}|{}, version ", name.unwrap_or_default()),
                _ => format!("{file}|, {head}: "),
            });
        }
        let mut writer = csv::WriterBuilder::new()
            .flexible(true)
            .from_writer(Vec::new());
        for row in &rows {
            writer.write_record(row)?;
        }
        let changed = writer.into_inner().map_err(|error| error.to_string())?;
        let expected: Vec<&str> = expected.iter().map(String::as_str).collect();
        self.differs(file, &String::from_utf8(changed)?, &expected)
    }
}

fn drawn_seed() -> u64 {
    let given = std::env::var("FORTY_SEED").ok();
    given.map_or_else(
        || u64::from(rand::random::<u16>()),
        |seed| seed.parse().expect("FORTY_SEED is a number"),
    )
}

pub(crate) fn trials() -> Vec<Trial> {
    let name = "forty::a class is recomputed";
    if program("python3", &[]).is_none() {
        return vec![unavailable(name, "python3", "python3")];
    }
    vec![Trial::test(name, || {
        let seed = drawn_seed();
        weeks_are_recomputed(seed).map_err(|error| {
            format!("FORTY_SEED={seed}: {}", error.message().unwrap_or_default()).into()
        })
    })]
}
