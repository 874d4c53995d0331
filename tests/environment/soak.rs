//! A long tournament with fresh sandboxed processes for every game: nothing that the referee holds may
//! grow with the games played, and none of it may stay behind. One of the bots leaves processes behind
//! in every game, one that runs on and one that ends.
//!
//! By default it is short. Another number of games has the figures printed; from 10,000 games on, which
//! need a quiet machine, the last tenth must also be as quick as the first:
//!
//! ```text
//! SOAK_GAMES=50000 cargo test --release --test environment soak:: -- --test-threads 1
//! ```

use std::collections::{BTreeSet, HashMap};
use std::fs::{self, File};
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::thread;
use std::time::{Duration, Instant};

use libtest_mimic::{Failed, Trial};

use crate::common::files::executable;
use crate::common::{Referee, Run, Running, bots};
use crate::requirements::is_ci;

/// The games of a short tournament.
const SHORT: usize = 300;

/// From so many games on, their speed is checked too.
const LONG: usize = 10_000;

/// The least speed of the last tenth of the games, compared with the first.
const LEAST_SPEED: f64 = 0.95;

/// How much more may be held at the end than at the beginning, where a leak of one a game would be at
/// least ten times as much.
const SLACK: usize = 16;

/// The same for memory, in KiB; the referee keeps two bytes for each pair of games.
const MEMORY_SLACK: usize = 1024;

/// A tournament that takes longer for a game is stuck.
const MOST_PER_GAME: Duration = Duration::from_secs(1);

/// What a tournament holds at a moment.
#[derive(Clone, Copy, Debug, Default)]
struct Holds {
    /// The referee's resident memory in KiB.
    memory: usize,
    descriptors: usize,
    threads: usize,
    /// Processes below the referee's, with zombies.
    processes: usize,
    zombies: usize,
    /// Files and directories in the directory for temporary files.
    files: usize,
    /// Control groups of bots.
    groups: usize,
}

impl Holds {
    fn max(self, other: Self) -> Self {
        Self {
            memory: self.memory.max(other.memory),
            descriptors: self.descriptors.max(other.descriptors),
            threads: self.threads.max(other.threads),
            processes: self.processes.max(other.processes),
            zombies: self.zombies.max(other.zombies),
            files: self.files.max(other.files),
            groups: self.groups.max(other.groups),
        }
    }

    /// Whether it is no more than what was held `early`.
    fn is_like(self, early: Self) -> bool {
        self.memory <= early.memory + MEMORY_SLACK
            && [
                (self.descriptors, early.descriptors),
                (self.threads, early.threads),
                (self.processes, early.processes),
                (self.zombies, early.zombies),
                (self.files, early.files),
                (self.groups, early.groups),
            ]
            .iter()
            .all(|(late, early)| *late <= early + SLACK)
    }
}

/// Looks at a tournament while it is played.
struct Watch {
    referee: u32,
    temporary: PathBuf,
    journal: PathBuf,
    /// The journal, once there is one, and the games in it that have been counted.
    read: Option<File>,
    games: usize,
    /// Every process seen below the referee's: the control group of a bot has the number of the process that
    /// has made it.
    seen: BTreeSet<u32>,
    /// Control groups that others have left behind: in a long run process ids come round again.
    before: BTreeSet<PathBuf>,
}

impl Watch {
    /// What is held now; `None` when the referee has ended.
    fn look(&mut self) -> Option<Holds> {
        let process = Path::new("/proc").join(self.referee.to_string());
        let status = fs::read_to_string(process.join("status")).ok()?;
        let field = |name: &str| {
            let line = status.lines().find_map(|line| line.strip_prefix(name))?;
            line.trim().trim_end_matches(" kB").parse().ok()
        };
        let below = below(self.referee);
        self.seen.extend(below.iter().map(|(pid, _)| *pid));
        Some(Holds {
            memory: field("RssAnon:")?,
            descriptors: fs::read_dir(process.join("fd")).ok()?.count(),
            threads: field("Threads:")?,
            processes: below.len(),
            zombies: below.iter().filter(|(_, zombie)| *zombie).count(),
            files: entries(&self.temporary).len(),
            groups: self.groups(),
        })
    }

    /// The control groups of the processes that were seen.
    fn groups(&self) -> usize {
        let found = groups_of_referees();
        let own = found
            .iter()
            .filter(|(path, pid)| self.seen.contains(pid) && !self.before.contains(path));
        own.count()
    }

    /// The games in the journal.
    fn count_games(&mut self) -> usize {
        if self.read.is_none() {
            self.read = File::open(&self.journal).ok();
        }
        let mut new = Vec::new();
        if let Some(file) = &mut self.read {
            file.read_to_end(&mut new).expect("a readable journal");
        }
        self.games += new.split(|&byte| byte == b'\n').count() - 1;
        self.games
    }
}

/// The processes below this one, and whether each is a zombie.
fn below(root: u32) -> Vec<(u32, bool)> {
    let mut processes = HashMap::new();
    for entry in fs::read_dir("/proc").expect("processes").flatten() {
        let Ok(pid) = entry.file_name().to_string_lossy().parse::<u32>() else {
            continue;
        };
        let stat = fs::read_to_string(entry.path().join("stat")).unwrap_or_default();
        let fields = stat.rsplit_once(") ").map(|(_, fields)| fields.split(' '));
        if let Some(mut fields) = fields
            && let (Some(state), Some(Ok(parent))) =
                (fields.next(), fields.next().map(str::parse::<u32>))
        {
            processes.insert(pid, (parent, state == "Z"));
        }
    }
    let is_below = |pid: u32| {
        let mut above = processes.get(&pid);
        while let Some((parent, _)) = above {
            if *parent == root {
                return true;
            }
            above = processes.get(parent);
        }
        false
    };
    let found = processes.iter().filter(|(pid, _)| is_below(**pid));
    found.map(|(pid, (_, zombie))| (*pid, *zombie)).collect()
}

/// The entries of a directory, at any depth. They may vanish meanwhile.
fn entries(directory: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(directory).into_iter().flatten().flatten() {
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            found.extend(entries(&entry.path()));
        }
        found.push(entry.path());
    }
    found
}

/// The control groups of all referees, each with the process that has made it.
fn groups_of_referees() -> Vec<(PathBuf, u32)> {
    let found = entries(Path::new("/sys/fs/cgroup")).into_iter();
    let made = found.filter_map(|path| {
        let name = path.file_name()?.to_str()?.strip_prefix("referee-")?;
        let pid = name.split('-').next()?.parse().ok()?;
        Some((path, pid))
    });
    made.collect()
}

/// What was seen of a whole tournament.
#[derive(Debug)]
struct Course {
    /// The most that was held in the first tenth of the games, and in the last one.
    held: [Holds; 2],
    /// Games a second in these.
    speed: [f64; 2],
}

/// Watches a tournament of so many games until it ends.
fn watch(running: &mut Running, watch: &mut Watch, games: usize) -> Course {
    let begun = Instant::now();
    let most = MOST_PER_GAME * u32::try_from(games).expect("a number of games");
    let pause = Duration::from_millis(if games < LONG { 10 } else { 100 });
    let mut held = [None::<Holds>; 2];
    // When the journal was first and last looked at, and how many games it had.
    let mut looks = [None::<[(Instant, usize); 2]>; 2];
    while running.is_running() {
        assert!(begun.elapsed() < most, "it is stuck");
        let played = watch.count_games();
        let tenth = played.saturating_sub(1) * 10 / games;
        // After the last game it only writes the standings.
        if (1..games).contains(&played)
            && let Some(part) = [0, 9].iter().position(|&part| part == tenth)
            && let Some(holds) = watch.look()
        {
            let now = (Instant::now(), played);
            looks[part].get_or_insert([now; 2])[1] = now;
            held[part] = Some(held[part].map_or(holds, |before| before.max(holds)));
        }
        thread::sleep(pause);
    }
    let speed = looks.map(|looks| {
        let [(begun, first), (ended, last)] = looks.expect("a tenth of the games was seen");
        let games = u32::try_from(last - first).expect("a number of games");
        f64::from(games) / ended.duration_since(begun).as_secs_f64()
    });
    Course {
        held: held.map(|held| held.expect("a tenth of the games was seen")),
        speed,
    }
}

/// Plays so many games in a sandbox of this kind.
fn play(kind: &str, games: usize) -> (Run, Course, Watch) {
    let referee = Referee::new(["tournament", "--sandbox", kind, "--seed", "1"]);
    let scratch = referee.scratch().to_owned();
    let temporary = scratch.join("tmp");
    fs::create_dir(&temporary).expect("a directory");
    let drawn = fs::read_to_string(bots().join("drawn.sh")).expect("a bot");
    let leaving = format!(
        "#!/bin/sh\nsleep 300 </dev/null >/dev/null 2>&1 &\n(: &)\n{}",
        drawn.replacen("#!/bin/sh\n", "", 1)
    );
    let bots = [("drawn.sh", drawn), ("leaving.sh", leaving)].map(|(name, script)| {
        let path = scratch.join(name);
        executable(&path, script, 0o755);
        path
    });
    let pairs = (games / 2).to_string();
    // The bots know one game only, which no entry check plays.
    let options = [
        "--restart",
        "game",
        "--opening-plies",
        "0",
        "--jobs",
        "1",
        "--no-check",
    ];
    let before = groups_of_referees();
    let mut running = referee
        .args(options)
        .args(["--pairs", pairs.as_str(), "--out"])
        .args([scratch.join("out")])
        .args(bots)
        .env("TMPDIR", &temporary)
        .start();
    let mut all = Watch {
        referee: running.id(),
        temporary,
        journal: scratch.join("out/games.jsonl"),
        read: None,
        games: 0,
        seen: BTreeSet::new(),
        before: before.into_iter().map(|(path, _)| path).collect(),
    };
    let course = watch(&mut running, &mut all, games);
    (running.finish(), course, all)
}

fn soak(kind: &str, games: usize) -> Result<(), Failed> {
    let (run, course, mut watch) = play(kind, games);
    if games != SHORT {
        println!(
            "soak::{kind}: {games} games in {:?}: {course:#?}",
            run.elapsed
        );
    }
    let [early, late] = course.held;
    let slow = games >= LONG && course.speed[1] < LEAST_SPEED * course.speed[0];
    let wrong = [
        (run.code != Some(0), "it failed"),
        (watch.count_games() != games, "games are missing"),
        (!late.is_like(early), "it holds more and more"),
        (slow, "it becomes slower"),
        // Processes that are left behind have been looked for at the end of the run.
        (!entries(&watch.temporary).is_empty(), "files stay behind"),
        (watch.groups() > 0, "control groups stay behind"),
    ];
    match wrong.iter().find(|(wrong, _)| *wrong) {
        Some((_, what)) => Err(format!("{what}: {course:#?}\n{run}").into()),
        None => Ok(()),
    }
}

/// Whether a sandbox works here.
fn works_here(kind: &str) -> bool {
    let run = crate::common::command(env!("CARGO_BIN_EXE_referee"))
        .args(["--sandbox", kind, "--seed", "1"])
        .args(["builtin:random"; 2])
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status();
    run.is_ok_and(|status| status.success())
}

pub(crate) fn trials() -> Vec<Trial> {
    let games = std::env::var("SOAK_GAMES").map_or(SHORT, |games| {
        let games = games.parse().ok().filter(|games| games % 20 == 0);
        games.expect("SOAK_GAMES is a number of games, a multiple of 20")
    });
    let kinds = ["bwrap", "landlock"].into_iter();
    kinds
        .map(|kind| {
            // CI must have them.
            let missing = !is_ci() && !works_here(kind);
            let trial = Trial::test(format!("soak::{kind}"), move || soak(kind, games));
            trial.with_ignored_flag(missing)
        })
        .collect()
}
