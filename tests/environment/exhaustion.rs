//! A machine that has no processes left: the limit of a control group, or that of a user; or no memory. Nobody loses
//! a game or is kept out of a tournament for it; the referee names the limit and stops if it must.
//! Needs root, to set the limits.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use libtest_mimic::{Failed, Trial};
use referee::sandbox::procfs::killed_for_memory;
use rustix::process::getuid;

use crate::common::files::copy_program;
use crate::common::{Referee, Run, bots};
use crate::requirements::program;

/// A user that nobody is, so that only the processes of a test count for it.
const NOBODY_ELSE: u32 = 64_322;

/// How many processes a bot takes is known without a sandbox; that of a sandbox has tests of its own.
const NONE: [&str; 2] = ["--sandbox", "none"];

/// A control group in which a test's referee runs.
struct Group(PathBuf);

impl Group {
    /// Makes one for at most this many processes and threads, which the run is then in.
    fn new(parent: &Path, referee: &Referee, most: u32) -> std::io::Result<Self> {
        let name = referee.scratch().file_name().unwrap_or_default();
        let name = name.to_string_lossy().replace('.', "");
        let group = Self(parent.join(format!("referee-test-{name}")));
        fs::create_dir(&group.0)?;
        fs::write(group.0.join("pids.max"), most.to_string())?;
        Ok(group)
    }

    fn enter(&self) -> String {
        format!("echo $$ > {}/cgroup.procs; ", self.0.display())
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        // The kernel may still be removing the last process.
        for _ in 0..100 {
            let _ = fs::remove_dir(self.0.join(INNER));
            if fs::remove_dir(&self.0).is_ok() {
                return;
            }
            std::thread::sleep(Duration::from_millis(10));
        }
    }
}

/// The directory of a control group below which others can be made with a file that limits them.
fn parent_group(candidates: [&str; 2], file: &str) -> Option<PathBuf> {
    let usable = |directory: &PathBuf| {
        let probe = directory.join(format!("referee-test-{}", std::process::id()));
        let usable = fs::create_dir(&probe).is_ok() && probe.join(file).exists();
        let _ = fs::remove_dir(probe);
        usable
    };
    candidates.map(PathBuf::from).into_iter().find(usable)
}

/// In v2 a group with others below it has no processes.
const INNER: &str = "inner";

/// Runs a match in a control group with 400 MB of memory, without root's groups of a bot beside it.
fn run_with_little_memory(referee: Referee) -> Result<Run, Failed> {
    const MEMORY: u64 = 400 << 20;
    let old = parent_group(["/sys/fs/cgroup/memory"; 2], "memory.limit_in_bytes");
    let (parent, file) = match old {
        Some(old) => (old, "memory.limit_in_bytes"),
        None => ("/sys/fs/cgroup".into(), "memory.max"),
    };
    let name = referee.scratch().file_name().unwrap_or_default();
    let name = name.to_string_lossy().replace('.', "");
    let group = Group(parent.join(format!("referee-test-{name}")));
    fs::create_dir(&group.0)?;
    fs::write(group.0.join(file), MEMORY.to_string())?;
    let _ = fs::write(group.0.join("cgroup.subtree_control"), "+memory");
    fs::create_dir(group.0.join(INNER))?;
    let procs = group.0.join(INNER).join("cgroup.procs");
    let script = format!("echo $$ > {}; exec \"$0\" \"$@\"", procs.display());
    let run = referee
        .args(["--seed", "1", "--first", "2", "--start-time", "30s"])
        .recorded()
        .shell(script)
        .run();
    Ok(run)
}

/// A bot is within its limit, and the kernel kills its opponent for what it uses: nobody loses.
fn memory_of_others(sandbox: &str) -> Result<(), Failed> {
    let bots = ["./fills.pl 60 12", "./fills.pl 0 60"];
    let referee = Referee::new(["--sandbox", sandbox]).args(bots);
    let run = run_with_little_memory(referee)?;
    expect(
        &run,
        1,
        &[
            "for want of memory",
            "the game is void and is played again",
            "or lower --memory",
        ],
    )?;
    blames_nobody(&run, "")?;
    if sandbox != "none" {
        // Its own control group says so.
        expect(&run, 1, &["within its own limit"])?;
    }
    let is_warned = run
        .stderr
        .contains("2 bots at the same time may use 2 GiB of memory")
        && run.stderr.contains("; use --memory 200M");
    if is_warned == (sandbox == "none") || !run.records().is_empty() {
        return Err(format!("a warning is missing, or a game was recorded\n{run}").into());
    }
    Ok(())
}

/// What a bot does to itself, or beyond its own limit, is its own fault, however little memory there is.
fn own_memory(sandbox: &str) -> Result<(), Failed> {
    let killed = "sh -c 'read -r question; kill -KILL $$'";
    let mut cases = vec![(killed, "SIGKILL")];
    if sandbox != "none" {
        cases.push(("./fills.pl 0 150", "it used more than 100 MiB of memory"));
        cases.push(("./fills.pl 10 15", "it used more than 100 MiB of memory"));
    }
    for (bot, words) in cases {
        let run = loop {
            let referee =
                Referee::new(["--sandbox", sandbox, "--memory", "100M", "--name2", "bot"])
                    .args(["builtin:random", bot]);
            let before = killed_for_memory();
            let run = run_with_little_memory(referee)?;
            // Without a sandbox the referee knows of the whole system only whether the kernel has killed processes, and
            // other tests have some killed.
            if sandbox != "none" || before == killed_for_memory() {
                break run;
            }
        };
        expect(&run, 0, &["bot forfeits (exited)", words])?;
        if run.stderr.contains("void") {
            return Err(format!("the game was void\n{run}").into());
        }
    }
    Ok(())
}

/// Runs a referee that has at most this many processes and threads, after `before`.
fn run_in_group(parent: &Path, referee: Referee, most: u32, before: &str) -> Result<Run, Failed> {
    let group = Group::new(parent, &referee, most)?;
    let script = format!("{}{before} exec \"$0\" \"$@\"", group.enter());
    Ok(referee.shell(script).run())
}

fn expect(run: &Run, code: i32, words: &[&str]) -> Result<(), Failed> {
    let missing = words.iter().find(|word| !run.stderr.contains(**word));
    match missing {
        _ if run.code != Some(code) => Err(format!("expected status {code}\n{run}").into()),
        Some(word) => Err(format!("`{word}` is missing\n{run}").into()),
        None => Ok(()),
    }
}

/// No sentence and no record may blame a bot.
fn blames_nobody(run: &Run, records: &str) -> Result<(), Failed> {
    let text = format!("{}{}{records}", run.stdout, run.stderr);
    let blame = [
        "forfeits (",
        "does not enter",
        "cannot start steady",
        "cannot start builtin",
        "still there",
        "\"by\"",
    ];
    match blame.iter().find(|words| text.contains(**words)) {
        Some(words) => Err(format!("`{words}` blames a bot\n{records}\n{run}").into()),
        None => Ok(()),
    }
}

/// The sentence of a run that stops: the limit, its value and the fix.
const STOPS: [&str; 3] = ["no process or thread", "pids.max)", "--pids-limit"];

/// A match of two bots that start a process in each turn.
fn steady_match() -> Referee {
    Referee::new(NONE)
        .args(["--seed", "1", "./steady.sh", "./steady.sh"])
        .recorded()
}

/// Too few for two bots; or for the processes that one of them starts in its turns.
fn a_match(parent: &Path) -> Result<(), Failed> {
    for most in 1..=4 {
        let referee = steady_match();
        let run = run_in_group(parent, referee, most, "")?;
        expect(&run, 1, &STOPS)?;
        blames_nobody(&run, "")?;
        if !run.records().is_empty() {
            return Err(format!("a game was recorded\n{run}").into());
        }
    }
    Ok(())
}

/// Another program has all processes when the match begins.
fn a_match_after_a_while(parent: &Path) -> Result<(), Failed> {
    let referee = steady_match();
    let others = "(sleep 0.7 & sleep 0.7 & sleep 0.7 & sleep 0.7 & wait) & ";
    let run = run_in_group(parent, referee, 11, others)?;
    expect(
        &run,
        0,
        &[
            "no process or thread",
            "the game is void and is played again",
        ],
    )?;
    blames_nobody(&run, "")?;
    // Once, however often it is tried again.
    if run.stderr.matches("is played again").count() != 1 {
        return Err(format!("it is not said once\n{run}").into());
    }
    let voids = run.records()[0]["voids"].as_u64();
    if voids.is_none_or(|voids| voids == 0) {
        return Err(format!("the record does not say that games were void\n{run}").into());
    }
    Ok(())
}

/// The limit is lowered in the middle of a match: its games and its score remain.
fn a_match_that_stops(parent: &Path) -> Result<(), Failed> {
    let referee = Referee::new([
        NONE[0],
        NONE[1],
        "--seed",
        "1",
        "-n",
        "1000",
        "./steady.sh",
        "./steady.sh",
    ]);
    let group = Group::new(parent, &referee, 30)?;
    let limit = group.0.join("pids.max");
    let lowered = format!("(sleep 2; echo 1 >{}) & ", limit.display());
    let script = format!("{}{lowered}exec \"$0\" \"$@\"", group.enter());
    let run = referee.recorded().shell(script).run();
    expect(&run, 1, &STOPS)?;
    blames_nobody(&run, "")?;
    if run.records().is_empty() || !run.stdout.contains("\nScore: ") {
        return Err(format!("no game is kept\n{run}").into());
    }
    Ok(())
}

fn tournament(jobs: &str) -> Referee {
    Referee::new([
        "tournament",
        "--sandbox",
        "none",
        "--seed",
        "1",
        "--jobs",
        jobs,
    ])
    .args([
        "--pairs",
        "1",
        "./steady.sh",
        "builtin:random",
        "builtin:greedy",
    ])
}

fn run_tournament(parent: &Path, jobs: &str, most: u32) -> Result<(Run, String), Failed> {
    let referee = tournament(jobs);
    let out = tempfile::tempdir()?;
    let path = out.path().join("out");
    let referee = referee.args(["--out".as_ref(), path.as_os_str()]);
    let run = run_in_group(parent, referee, most, "")?;
    let records = fs::read_to_string(path.join("games.jsonl")).unwrap_or_default();
    Ok((run, records))
}

/// Enough for a game, but not for four at once.
fn fewer_games_at_once(parent: &Path) -> Result<(), Failed> {
    // The threads, the two bots of a game with what they run, and one that has been killed and is still there.
    let (run, records) = run_tournament(parent, "4", 15)?;
    expect(&run, 0, &["no process or thread", "pids.max)"])?;
    blames_nobody(&run, &records)?;
    match records.lines().count() {
        6 => Ok(()),
        games => Err(format!("{games} of 6 games\n{run}").into()),
    }
}

/// Not enough for a game: the entry check, or else the first game, ends the run.
fn a_tournament_stops(parent: &Path) -> Result<(), Failed> {
    for most in 3..=6 {
        let (run, records) = run_tournament(parent, "2", most)?;
        expect(&run, 1, &["no process or thread"])?;
        blames_nobody(&run, &records)?;
    }
    Ok(())
}

fn a_check(parent: &Path) -> Result<(), Failed> {
    for most in 1..=3 {
        let run = run_in_group(
            parent,
            Referee::new(["check", NONE[0], NONE[1], "./steady.sh"]),
            most,
            "",
        )?;
        expect(&run, 1, &STOPS)?;
        blames_nobody(&run, "")?;
    }
    Ok(())
}

/// Another program has all processes when the check begins.
fn a_check_after_a_while(parent: &Path) -> Result<(), Failed> {
    let referee = Referee::new(["check", NONE[0], NONE[1], "./steady.sh"]);
    let group = Group::new(parent, &referee, 13)?;
    let others = "(sleep 0.7 & sleep 0.7 & sleep 0.7 & sleep 0.7 & wait) & ";
    let script = format!("{}{others}exec \"$0\" \"$@\"", group.enter());
    let run = referee.shell(script).run();
    expect(&run, 0, &[])?;
    blames_nobody(&run, "")?;
    let refused = fs::read_to_string(group.0.join("pids.events"))?;
    if refused.contains("max 0") {
        return Err(format!("no process was refused\n{run}").into());
    }
    Ok(())
}

/// The sandbox works, and then another program takes the processes.
fn in_a_sandbox(parent: &Path, sandbox: &str) -> Result<(), Failed> {
    for most in 3..=12 {
        let referee = Referee::new(["--seed", "1", "--sandbox", sandbox, "-n", "1", "--restart"])
            .args(["./steady.sh", "./steady.sh"])
            .recorded();
        let run = run_in_group(parent, referee, most, "")?;
        blames_nobody(&run, "")?;
        let named = run.stderr.contains("no process or thread")
            || run.stderr.contains("a limit on processes is reached");
        match run.code {
            Some(0) if run.records().len() == 1 => {}
            Some(1 | 2) if named => {}
            _ => return Err(format!("with {most} processes\n{run}").into()),
        }
    }
    Ok(())
}

/// The limit of a user, which root does not have.
fn of_a_user() -> Result<(), Failed> {
    let directory = tempfile::Builder::new()
        .permissions(Permissions::from_mode(0o777))
        .tempdir()?;
    copy_program(
        env!("CARGO_BIN_EXE_referee").as_ref(),
        &directory.path().join("referee"),
    );
    let user = NOBODY_ELSE.to_string();
    let output = Command::new("setpriv")
        .args(["--reuid", &user, "--regid", &user, "--clear-groups", "--"])
        .args(["prlimit", "--nproc=2", "./referee", "--seed", "1"])
        .args(["builtin:random", "builtin:random"])
        .current_dir(directory.path())
        .output()?;
    let stderr = String::from_utf8_lossy(&output.stderr);
    let limit = format!("of at most 2 processes and threads are in use (ulimit -u of user {user})");
    let named = stderr.contains(&limit) && stderr.contains("/etc/security/limits.conf");
    if output.status.code() == Some(1) && named && !stderr.contains("cannot start builtin") {
        Ok(())
    } else {
        Err(format!("{}: {stderr}", output.status).into())
    }
}

/// Ways to leave a sandbox too little of something: what a shell does before the referee, and what is said.
const SHORT: &[(&str, &str)] = &[
    (
        "exec unshare -m sh -c 'mount -t tmpfs -o size=4k none $SCRATCH; echo >$SCRATCH/x; TMPDIR=$SCRATCH exec \"$0\" \"$@\"'",
        "the directory for temporary files cannot be used: no space is left",
    ),
    (
        "exec unshare -m sh -c 'mount -t tmpfs -o nr_inodes=4 none $SCRATCH; TMPDIR=$SCRATCH exec \"$0\" \"$@\"'",
        "the directory for temporary files cannot be used: no space is left",
    ),
    (
        "exec unshare -m sh -c 'mount -t tmpfs -o nr_inodes=2 none /run; exec \"$0\" \"$@\"'",
        "no sandbox: /run/referee-users/21",
    ),
    (
        "exec prlimit --nproc=1",
        "no process or thread can be started now",
    ),
    (
        "exec prlimit --nproc=6 setpriv --reuid=64323 --regid=64323 --clear-groups --",
        "no process or thread can be started now",
    ),
    (
        "exec prlimit --nofile=64 bash -c 'for i in {10..57}; do eval \"exec $i</dev/null\"; done; exec \"$0\" \"$@\"'",
        "the referee has all 64 files open that it may (ulimit -n)",
    ),
];

/// No bot runs unconfined because there is too little of something for its sandbox.
fn no_sandbox() -> Result<(), Failed> {
    let directory = tempfile::tempdir()?;
    // A user runs it there, too.
    fs::set_permissions(directory.path(), Permissions::from_mode(0o777))?;
    let [program, bot] = ["referee", "steady.sh"].map(|name| directory.path().join(name));
    copy_program(env!("CARGO_BIN_EXE_referee").as_ref(), &program);
    copy_program(&bots().join("steady.sh"), &bot);
    let bot = bot.to_string_lossy();
    for (script, words) in SHORT {
        for command in [
            &[&*bot, "builtin:random"][..],
            &["check", &bot],
            &["tournament", "--out", "cup", &bot, "builtin:random"],
        ] {
            let referee = Referee::new(command)
                .default_sandbox()
                .directory(directory.path());
            let script = format!("{script} {} \"$@\"", program.display());
            let run = referee.shell(script).run();
            expect(&run, 2, &["no sandbox: ", words])?;
            if run.stderr.contains("--sandbox none") || !run.stdout.is_empty() {
                return Err(format!("{words}\n{run}").into());
            }
        }
    }
    Ok(())
}

pub(crate) fn trials() -> Vec<Trial> {
    type Test = fn(&Path) -> Result<(), Failed>;
    let tests: [(&str, Test); 9] = [
        ("a match that stops", a_match_that_stops),
        ("a match", a_match),
        ("a match that waits", a_match_after_a_while),
        ("fewer games at a time", fewer_games_at_once),
        ("a tournament stops", a_tournament_stops),
        ("a check", a_check),
        ("a check that waits", a_check_after_a_while),
        ("in bubblewrap", |parent| in_a_sandbox(parent, "bwrap")),
        ("in Landlock", |parent| in_a_sandbox(parent, "landlock")),
    ];
    let parent = parent_group(["/sys/fs/cgroup/pids", "/sys/fs/cgroup"], "pids.max");
    let mut trials: Vec<Trial> = tests
        .into_iter()
        .map(|(name, test)| {
            let parent = parent.clone();
            let usable =
                parent.is_some() && (name != "in bubblewrap" || program("bwrap", &[]).is_some());
            let test = move || parent.as_deref().map_or(Ok(()), test);
            Trial::test(format!("exhaustion::{name}"), test)
                .with_kind("control group")
                .with_ignored_flag(!usable)
        })
        .collect();
    let memory = parent_group(["/sys/fs/cgroup/memory"; 2], "memory.limit_in_bytes")
        .or_else(|| parent_group(["/sys/fs/cgroup"; 2], "memory.max"));
    for sandbox in ["none", "bwrap", "landlock"] {
        let usable = memory.is_some()
            && program("perl", &[]).is_some()
            && (sandbox != "bwrap" || program("bwrap", &[]).is_some());
        let tests = [
            ("memory of others", memory_of_others as fn(&str) -> _),
            ("own memory", own_memory),
        ];
        for (name, test) in tests {
            let trial = Trial::test(
                format!("exhaustion::{name} with --sandbox {sandbox}"),
                move || test(sandbox),
            );
            trials.push(trial.with_kind("control group").with_ignored_flag(!usable));
        }
    }
    let can_be_others = getuid().is_root()
        && ["setpriv", "prlimit"]
            .iter()
            .all(|name| program(name, &[]).is_some());
    trials.push(
        Trial::test("exhaustion::of a user", of_a_user)
            .with_kind("root")
            .with_ignored_flag(!can_be_others),
    );
    let can_be_short = can_be_others
        && ["unshare", "bash"]
            .iter()
            .all(|name| program(name, &[]).is_some());
    trials.push(
        Trial::test("exhaustion::takes no sandbox away", no_sandbox)
            .with_kind("root")
            .with_ignored_flag(!can_be_short),
    );
    trials
}
