//! How bots are stopped and signals heeded: nothing of a bot is left, and nothing is ended that is
//! not a bot's.

use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use crate::common::hangs::HANGS;
use crate::common::{RECORDS, Referee, Running, signals};
use referee::GracePeriods;
use referee::bot::process::Process;
use referee::entrants::argument::BotSpec;

/// A match that only a signal ends.
fn endless() -> Referee {
    Referee::new(["--seed", "1", "-n", "1000000"])
        .args(["builtin:random", "builtin:random"])
        .recorded()
}

fn records(scratch: &Path) -> usize {
    let records = fs::read_to_string(scratch.join(RECORDS)).unwrap_or_default();
    records.matches('\n').count()
}

/// Waits until this many more games have been played.
#[track_caller]
fn plays_on(running: &mut Running) {
    let before = records(running.scratch());
    running.wait_until(|scratch| records(scratch) > before + 20);
}

/// Who starts a program with a signal ignored (`nohup`, a script's `&`) wants it to stay ignored.
#[test]
fn a_signal_that_was_ignored_stays_ignored() {
    for signal in ["HUP", "INT"] {
        let script = format!("trap '' {signal}; exec \"$0\" \"$@\"");
        let mut running = endless().shell(script).start();
        plays_on(&mut running);
        running.signal(signal);
        running.signal(signal);
        plays_on(&mut running);
        running.signal("TERM");
        let run = running.finish();
        assert_eq!(run.code, Some(130), "{run}");
    }
}

#[test]
fn a_tournament_goes_on_after_a_signal_that_was_ignored() {
    let referee = Referee::new(["tournament", "--sandbox", "none", "--seed", "1"])
        .args(["--rounds", "400", "builtin:random", "builtin:greedy"])
        .shell("trap '' HUP INT; exec \"$0\" \"$@\" --out \"$SCRATCH/out\"");
    let mut running = referee.start();
    let journal = |scratch: &Path| {
        let games = fs::read_to_string(scratch.join("out/games.jsonl")).unwrap_or_default();
        games.matches('\n').count()
    };
    running.wait_until(|scratch| journal(scratch) > 2);
    running.signal("HUP");
    running.signal("INT");
    let before = journal(running.scratch());
    running.wait_until(|scratch| journal(scratch) > before + 5);
    running.signal("TERM");
    let run = running.finish();
    assert_eq!(run.code, Some(130), "{run}");
}

/// Without a sandbox, too: a bot that ignores the end of its input would live on, with its child.
#[cfg(all(target_os = "linux", not(portable)))]
#[test]
fn a_killed_referee_leaves_no_bot() {
    let bots = ["./lingers.sh hangs", "builtin:random"];
    let referee = Referee::new(["--sandbox", "none", "--first", "1"]).args(bots);
    let mut running = referee.start();
    running.wait_until(|scratch| scratch.join("lingers").exists());
    running.signal("KILL");
    let run = running.finish();
    assert_eq!(run.code, None, "{run}");
}

/// Also when the bot runs before the referee has told anybody that it has started it.
#[cfg(all(target_os = "linux", not(portable)))]
#[test]
fn a_referee_that_is_killed_as_it_starts_a_bot_leaves_none() {
    for _ in 0..10 {
        let bots = ["./kills-its-referee.sh", "builtin:random"];
        let run = Referee::new(["--sandbox", "none", "--first", "1"])
            .args(bots)
            .run();
        assert_eq!(run.code, None, "{run}");
    }
}

/// Work of the referee itself is ended by the same signals.
#[test]
fn solving_goes_on_after_a_signal_that_was_ignored() {
    let referee = Referee::new(["solve", "--threads", "1", "--all", "P..AN......C.... M"])
        .args(["--time-per-move", "2s"])
        .shell("trap '' HUP INT; : >\"$SCRATCH/ignored\"; exec \"$0\" \"$@\"");
    let mut running = referee.start();
    running.wait_until(|scratch| scratch.join("ignored").exists());
    std::thread::sleep(Duration::from_millis(500));
    running.signal("INT");
    let run = running.finish();
    assert_ne!(run.code, Some(130), "{run}");
    assert_ne!(run.code, None, "{run}");
}

/// Children that a shell had before it became the referee: a log is written to its end.
#[test]
fn children_from_before_are_left_alone() {
    let script = "mkfifo \"$SCRATCH/pipe\"
        tee \"$SCRATCH/log\" <\"$SCRATCH/pipe\" >/dev/null &
        env -i sleep 3600 </dev/null >/dev/null 2>&1 &
        echo $! >\"$SCRATCH/before\"
        env -i sh -c 'sleep 3600 & wait' </dev/null >/dev/null 2>&1 &
        exec \"$0\" \"$@\" >\"$SCRATCH/pipe\"";
    // Elsewhere what has left its group is not found.
    let finds_daemons = cfg!(all(target_os = "linux", not(portable)));
    let bot = if finds_daemons {
        "./daemon.sh"
    } else {
        "builtin:greedy"
    };
    let run = Referee::new(["--seed", "1", "-n", "20", "--json"])
        .args([bot, "builtin:random"])
        .shell(script)
        .run();
    let before = run.file("before");
    assert!(signals::send("KILL", &before), "it was ended\n{run}");
    assert_eq!(run.code, Some(0), "{run}");
    assert_eq!(run.file("log").matches('\n').count(), 20, "{run}");
    if finds_daemons {
        let daemon = run.file("daemon");
        assert!(!is_alive(daemon.trim()), "{run}");
    }
}

fn is_alive(pid: &str) -> bool {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    stat.rsplit_once(") ")
        .is_some_and(|(_, fields)| !fields.starts_with(['Z', 'X']))
}

// Linux alone has sandboxes, and adopts and finds what has left a bot's process group.

/// Zombies among the children of this process and of those below it.
#[cfg(all(target_os = "linux", not(portable)))]
fn zombies_below(root: u32) -> usize {
    let mut parents = std::collections::HashMap::new();
    let mut zombies = Vec::new();
    for entry in fs::read_dir("/proc").expect("processes").flatten() {
        let Ok(pid) = entry.file_name().to_string_lossy().parse::<u32>() else {
            continue;
        };
        let stat = fs::read_to_string(entry.path().join("stat")).unwrap_or_default();
        let Some((_, fields)) = stat.rsplit_once(") ") else {
            continue;
        };
        let mut fields = fields.split(' ');
        if fields.next() == Some("Z") {
            zombies.push(pid);
        }
        if let Some(parent) = fields.next().and_then(|field| field.parse::<u32>().ok()) {
            parents.insert(pid, parent);
        }
    }
    let is_below = |&&pid: &&u32| {
        let mut above = parents.get(&pid);
        while let Some(&parent) = above {
            if parent == root {
                return true;
            }
            above = parents.get(&parent);
        }
        false
    };
    zombies.iter().filter(is_below).count()
}

/// Runs it to its end, and gives the most zombies that were seen at once.
#[cfg(all(target_os = "linux", not(portable)))]
fn most_zombies(referee: Referee) -> (usize, crate::common::Run) {
    let mut running = referee.start();
    let mut most = 0;
    while running.is_running() {
        most = most.max(zombies_below(running.id()));
        std::thread::sleep(Duration::from_millis(5));
    }
    (most, running.finish())
}

#[cfg(all(target_os = "linux", not(portable)))]
#[test]
fn processes_that_have_ended_are_not_kept() {
    for kind in crate::sandbox::sandboxes() {
        let referee = Referee::new(["tournament", "--sandbox", kind, "--seed", "1"])
            .args(["--rounds", "3", "--restart", "game", "--jobs", "2"])
            .args(["builtin:random", "builtin:greedy", "builtin:random"])
            .shell("exec \"$0\" \"$@\" --out \"$SCRATCH/out\"");
        let (most, run) = most_zombies(referee);
        assert_eq!(run.code, Some(0), "{run}");
        assert!(most < 25, "{most} in {kind}\n{run}");
    }
}

/// 300 a turn, some 2000 in a game.
#[cfg(all(target_os = "linux", not(portable)))]
#[test]
fn orphans_that_have_ended_are_not_kept() {
    let mut kinds = crate::sandbox::sandboxes();
    kinds.push("none");
    for kind in kinds {
        let referee = Referee::new(["--sandbox", kind, "--seed", "1"])
            .args([
                "--processes",
                "1000",
                "--move-time",
                "3600s",
                "./leaves-orphans.sh 300",
                "builtin:random",
            ])
            .recorded();
        let (most, run) = most_zombies(referee);
        assert_eq!(run.code, Some(0), "{run}");
        for record in run.records() {
            assert_ne!(record["result"]["reason"], "crash", "{run}");
            assert_ne!(record["result"]["by"], 0, "{run}");
        }
        assert!(most < 600, "{most} in {kind}\n{run}");
    }
}

/// A bot that leaves a daemon in every game: those of bots that have ended are ended, too.
#[cfg(all(target_os = "linux", not(portable)))]
#[test]
fn daemons_of_bots_that_have_ended_do_not_add_up() {
    let mut running = Referee::new(["--seed", "1", "-n", "1000", "--restart"])
        .args(["./leaves-daemon.sh", "builtin:random"])
        .recorded()
        .start();
    let ids = |scratch: &Path| {
        let ids = fs::read_to_string(scratch.join("daemons")).unwrap_or_default();
        ids.lines().map(str::to_owned).collect::<Vec<_>>()
    };
    running.wait_until(|scratch| ids(scratch).len() > 12);
    let started = Instant::now();
    let left = |scratch: &Path| ids(scratch).iter().filter(|pid| is_alive(pid)).count();
    running.wait_until(|scratch| left(scratch) < 6 || started.elapsed() > HANGS);
    let left = left(running.scratch());
    running.signal("INT");
    let run = running.finish();
    assert!(left < 6, "{left}\n{run}");
}

/// A bot's process, as a library's user starts it: nobody sweeps up after it.
fn started(bot: &str, scratch: &Path) -> Process {
    let directory = crate::common::bots();
    let command = format!("{}/{bot}", directory.display());
    let this = Path::new(env!("CARGO_BIN_EXE_referee"));
    let BotSpec::Program(program) = BotSpec::parse(&command, this, &[]).expect("a bot") else {
        panic!("a person");
    };
    let environment = [
        ("SCRATCH", scratch.to_string_lossy().into_owned()),
        ("REFEREE_BIN", env!("CARGO_BIN_EXE_referee").to_owned()),
    ];
    let environment = environment.map(|(name, value)| (name.to_owned(), value));
    Process::start(&program, &environment, None).expect("a process")
}

fn in_runtime<T>(work: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .expect("a runtime")
        .block_on(work)
}

/// The leader of the group ended by itself; what it left in its group is killed all the same.
#[test]
fn what_a_bot_leaves_in_its_group_is_killed() {
    let scratch = tempfile::tempdir().expect("a directory");
    in_runtime(async {
        let mut process = started("leaves-stubborn.sh", scratch.path());
        process.ready().await.expect("a process");
        let file = scratch.path().join("stubborn");
        let begun = Instant::now();
        while !fs::read_to_string(&file).is_ok_and(|text| text.ends_with('\n')) {
            assert!(begun.elapsed() < HANGS);
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
        process.stop(GracePeriods::POLITE).await.expect("no error");
        let pid = fs::read_to_string(&file).expect("a process id");
        let begun = Instant::now();
        while is_alive(pid.trim()) {
            assert!(begun.elapsed() < HANGS, "process {pid} lives");
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
    });
}

/// SIGCONT follows SIGTERM: a bot that is stopped can still end by itself. On a busy machine it may
/// not get to it in time, once.
#[test]
fn a_stopped_bot_is_asked_to_end() {
    let scratch = tempfile::tempdir().expect("a directory");
    let asked = (0..8).any(|_| {
        in_runtime(async {
            let mut process = started("stops-at-end.sh", scratch.path());
            process.ready().await.expect("a process");
            // It has stopped itself.
            let exit = process.end_input(Duration::from_secs(1)).await;
            assert!(exit.expect("no error").is_none());
            process.stop(GracePeriods::POLITE).await.expect("no error");
        });
        scratch.path().join("asked").exists()
    });
    assert!(asked, "it never went on");
}

/// Ctrl-Z again and again, while processes are started all the time: a bot that is being started is
/// still in the referee's process group.
#[test]
fn a_referee_is_stopped_and_goes_on_while_it_starts_bots() {
    let script = r#"
        set -m
        "$0" "$@" --record "$SCRATCH/games" &
        referee=$!
        for _ in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
            sleep 0.03
            kill -TSTP "-$referee" 2>/dev/null || break
            sleep 0.03
            kill -CONT "-$referee" 2>/dev/null || break
        done
        wait "$referee"
    "#;
    let run = Referee::new(["--seed", "1", "-n", "100", "--restart"])
        .args(["builtin:random", "builtin:random"])
        .shell(script)
        .run();
    assert_eq!(run.code, Some(0), "{run}");
    assert_eq!(run.file("games").lines().count(), 100, "{run}");
}
