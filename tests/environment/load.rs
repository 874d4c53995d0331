//! A machine with more to do than it can: a bot is not charged for the time in which it waits for a
//! processor, and for all other time it is. Perl is needed for bots that use processor time by the
//! millisecond, taskset for a CPU that is shared with busy loops.

use std::fs;
use std::io;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use libtest_mimic::{Failed, Trial};
use rustix::thread::sched_getaffinity;
use serde_json::Value;

use crate::common::{RECORDS, Referee, Run};
use crate::requirements::{program, unavailable};

/// How many programs compute beside a bot, on the same processor.
const LOOPS: usize = 3;

/// The limit for a move.
const LIMIT: [&str; 4] = ["--move-time", "150ms", "--start-time", "10s"];

/// The same for the first move.
const NO_START: [&str; 4] = ["--move-time", "150ms", "--start-time", "0s"];

/// The last processor that this process may use.
fn processor() -> String {
    let allowed = sched_getaffinity(None).expect("a set of processors");
    let last = (0..1024).rfind(|&number| allowed.is_set(number));
    last.expect("a processor").to_string()
}

/// Programs that keep a processor busy until this is dropped.
struct BusyLoops(Vec<Child>);

impl BusyLoops {
    fn start() -> Self {
        let processor = processor();
        let busy = |_| {
            Command::new("taskset")
                .args(["-c", &processor, "sh", "-c", "while :; do :; done"])
                .stdin(Stdio::null())
                .spawn()
                .expect("taskset starts")
        };
        Self((0..LOOPS).map(busy).collect())
    }
}

impl Drop for BusyLoops {
    fn drop(&mut self) {
        for child in &mut self.0 {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

/// The command of a bot on the busy processor.
fn bot(arguments: &str) -> String {
    format!("taskset -c {} ./thinks.pl {arguments}", processor())
}

/// A game of a bot with these limits.
fn game(bot: &str, limits: &[&str]) -> Referee {
    game_of(bot, "builtin:random", limits)
}

fn game_of(bot: &str, opponent: &str, limits: &[&str]) -> Referee {
    // Beside busy loops in the same control group: one of its own would have a share of its own.
    Referee::new([
        "--sandbox",
        "none",
        "--seed",
        "1",
        "--name1",
        "bot",
        "--first",
        "1",
    ])
    .args(limits)
    .args([bot, opponent])
    .recorded()
}

fn check(is_right: bool, what: &str, run: &Run) -> Result<(), Failed> {
    if is_right {
        Ok(())
    } else {
        Err(format!("{what}\n{run}").into())
    }
}

fn record(run: &Run) -> Result<Value, Failed> {
    match &run.records()[..] {
        [record] => Ok(record.clone()),
        _ => Err(format!("expected one record\n{run}").into()),
    }
}

/// The sum of a list of numbers in a record.
fn sum(numbers: &Value) -> f64 {
    let numbers = numbers.as_array().into_iter().flatten();
    numbers.filter_map(Value::as_f64).sum()
}

/// How often a game is played until the bot has had to wait: the scheduler may let it run at once in every turn.
const ATTEMPTS: usize = 10;

/// No game is lost by waiting, and the record shows what was not charged.
fn plays_to_the_end(game: impl Fn() -> Referee) -> Result<(), Failed> {
    let mut last = None;
    for _ in 0..ATTEMPTS {
        let run = game().run();
        let record = record(&run)?;
        let reason = &record["result"]["reason"];
        check(reason == "quarto" || reason == "draw", "it lost", &run)?;
        check(record.get("voids").is_none(), "it was void", &run)?;
        let times = record["times_ms"].as_array().ok_or("no times")?;
        let late = |time: &Value| time.as_f64().is_some_and(|ms| ms > 150.0);
        if times[1..].iter().any(late) {
            return charges_less(&record, times.len(), &run);
        }
        last = Some(run);
    }
    let run = last.ok_or("no game")?;
    check(false, "the processor was not busy", &run)
}

/// The record has what was charged, and it is less than what passed.
fn charges_less(record: &Value, turns: usize, run: &Run) -> Result<(), Failed> {
    let charged = &record["charged_ms"];
    check(
        charged.as_array().map(Vec::len) == Some(turns),
        "expected what was charged for every turn",
        run,
    )?;
    let is_less = sum(charged) < sum(&record["times_ms"]);
    check(is_less, "expected less than the times", run)
}

fn waiting_is_not_charged() -> Result<(), Failed> {
    let _loops = BusyLoops::start();
    plays_to_the_end(|| game(&bot("60 0"), &LIMIT))
}

/// It has a small share of the processor, so one wait may be longer than the whole limit; the kernel counts a
/// wait when it ends.
fn a_wait_that_has_not_ended_is_not_charged() -> Result<(), Failed> {
    let _loops = BusyLoops::start();
    let bot = format!("taskset -c {} nice -n 7 ./thinks.pl 10 0", processor());
    let limits = ["--move-time", "150ms", "--start-time", "60s"];
    plays_to_the_end(|| game(&bot, &limits))
}

/// It waits for a CPU first, and then sleeps.
fn sleeping_after_a_wait_is_charged() -> Result<(), Failed> {
    let _loops = BusyLoops::start();
    let bot = format!("taskset -c {} nice -n 5 ./thinks.pl 5 3000", processor());
    let run = game(&bot, &["--move-time", "150ms", "--start-time", "60s"]).run();
    timeout(&run).map(drop)
}

fn the_waiting_of_a_child_is_not_charged() -> Result<(), Failed> {
    let _loops = BusyLoops::start();
    plays_to_the_end(|| game(&bot("60 0 helper"), &LIMIT))
}

/// Of children that exit, the kernel keeps no waits.
fn the_waiting_of_children_that_exit_is_not_charged() -> Result<(), Failed> {
    let _loops = BusyLoops::start();
    plays_to_the_end(|| game(&bot("60 0 fresh"), &LIMIT))
}

/// Not from a game clock, either.
fn waiting_is_not_charged_to_the_game_clock() -> Result<(), Failed> {
    let _loops = BusyLoops::start();
    let limits = ["--move-time", "5s", "--game-time", "1200ms"];
    let run = game(&bot("60 0"), &limits).run();
    let record = record(&run)?;
    let reason = &record["result"]["reason"];
    check(reason == "quarto" || reason == "draw", "it lost", &run)
}

/// The fault of a bot that lost on time.
fn timeout(run: &Run) -> Result<String, Failed> {
    let record = record(run)?;
    let result = &record["result"];
    check(
        result["reason"] == "timeout",
        "it did not lose on time",
        run,
    )?;
    check(record.get("voids").is_none(), "it was void", run)?;
    let detail = result["detail"].as_str();
    Ok(detail.ok_or("no sentence")?.to_owned())
}

fn computing_too_long_loses() -> Result<(), Failed> {
    let _loops = BusyLoops::start();
    let run = game(&bot("60000 0"), &NO_START).run();
    let detail = timeout(&run)?;
    check(
        detail.contains("for a CPU, which was not charged"),
        "expected what was excused",
        &run,
    )?;
    check(run.elapsed < Duration::from_secs(30), "so late", &run)
}

fn sleeping_too_long_loses() -> Result<(), Failed> {
    let _loops = BusyLoops::start();
    let run = game(&bot("1 60000"), &NO_START).run();
    timeout(&run).map(drop)
}

/// Sleeping is free, computing is not, and there is an end.
fn a_clock_of_processor_time() -> Result<(), Failed> {
    let cpu = ["--clock", "cpu"];
    // What processes used that have ended is in its account, where they are waited for.
    for quick in ["./thinks.pl 1 200", "./thinks.pl 20 200 fresh"] {
        let run = game(quick, &LIMIT).args(cpu).run();
        let played = record(&run)?;
        let reason = &played["result"]["reason"];
        check(reason == "quarto" || reason == "draw", "it lost", &run)?;
        let is_less = sum(&played["charged_ms"]) * 4.0 < sum(&played["times_ms"]);
        check(is_less, "it was charged for sleeping", &run)?;
    }
    for slow in ["./thinks.pl 60000 0", "./thinks.pl 60000 0 helper"] {
        let run = game(slow, &NO_START).args(cpu).run();
        let detail = timeout(&run)?;
        let said = detail.contains("of CPU time");
        check(said, "expected the kind of clock", &run)?;
    }
    let run = game("./thinks.pl 1 60000", &NO_START).args(cpu).run();
    timeout(&run).map(drop)
}

/// The events of the log of a game on a busy processor, without those of other games.
fn log(bot_arguments: &str, limits: &[&str]) -> Result<Vec<Value>, Failed> {
    let _loops = BusyLoops::start();
    let run = game(&bot(bot_arguments), limits)
        .args(["--log", "debug", "--log-format", "json"])
        .shell("exec \"$0\" \"$@\" --log-file \"$SCRATCH/log\"")
        .run();
    let events: Result<Vec<Value>, _> = run.file("log").lines().map(serde_json::from_str).collect();
    Ok(events?)
}

/// The first event with this message, without its span.
fn event<'a>(log: &'a [Value], message: &str) -> Option<&'a Value> {
    let fields = log.iter().map(|event| &event["fields"]);
    fields
        .into_iter()
        .find(|fields| fields["message"] == message)
}

/// The events of the log of a game whose stderr nobody reads, against a bot that floods it.
fn unread_log() -> Result<Vec<Value>, Failed> {
    let (_reader, writer) = io::pipe()?;
    let run = game_of("./thinks.pl 1 40", "./floods-stderr.sh", &[])
        .args(["-v", "--move-time", "5s", "--log", "info"])
        .args(["--log-format", "json"])
        .shell("exec \"$0\" \"$@\" --log-file \"$SCRATCH/log\"")
        .stderr(writer)
        .run();
    let events: Result<Vec<Value>, _> = run.file("log").lines().map(serde_json::from_str).collect();
    Ok(events?)
}

const WAITED: &str = "in time: it had waited for a CPU";

/// The log of a game in which a bot had to wait for longer than its limit, where one of some games is such.
fn log_of_a_wait() -> Result<Vec<Value>, Failed> {
    let mut kept = Vec::new();
    for _ in 0..ATTEMPTS {
        kept = log("60 0", &LIMIT)?;
        if let Some(fields) = event(&kept, "time ran out") {
            return Err(format!("it lost: {fields}").into());
        }
        if event(&kept, WAITED).is_some() {
            break;
        }
    }
    Ok(kept)
}

/// The log alone tells a bot that was kept from running from one that ran for too long and one that
/// slept, and from a game whose output nobody reads.
fn the_log_tells_who_was_slow() -> Result<(), Failed> {
    let number = |fields: &Value, name: &str| fields[name].as_f64().ok_or(format!("no {name}"));
    let kept = log_of_a_wait()?;
    let waited = event(&kept, WAITED).ok_or("the processor was not busy")?;
    assert!(number(waited, "elapsed_ms")? > 150.0, "{waited}");
    assert!(number(waited, "charged_ms")? <= 150.0, "{waited}");
    let extended = event(&kept, "deadline extended").ok_or("it had no more time")?;
    assert!(number(extended, "limit_ms")? > 150.0, "{extended}");
    assert!(number(extended, "cpu_ms")? < 150.0, "{extended}");
    assert!(number(extended, "run_queue_ms")? > 1.0, "{extended}");
    let computed = log("60000 0", &NO_START)?;
    let computed = event(&computed, "time ran out").ok_or("it did not lose")?;
    assert_eq!(computed["found"], "computing", "{computed}");
    assert!(number(computed, "run_queue_ms")? > 0.0, "{computed}");
    let charged = number(computed, "elapsed_ms")? - number(computed, "excused_ms")?;
    assert!(charged >= 149.0, "{computed}");
    // Nobody reads what is printed, which costs nobody the game.
    let unread = unread_log()?;
    if let Some(fields) = event(&unread, "time ran out") {
        return Err(format!("it lost: {fields}").into());
    }
    let slept = log("1 60000", &NO_START)?;
    let slept = event(&slept, "time ran out").ok_or("it did not lose")?;
    assert_eq!(slept["found"], "waiting", "{slept}");
    assert!(number(slept, "cpu_ms")? < 150.0, "{slept}");
    Ok(())
}

/// The median of a bot's times in milliseconds, without its first.
fn median_time(command: &str) -> Result<f64, Failed> {
    let run = game_of(command, "./thinks.pl 0 20", &[]).run();
    let record = record(&run)?;
    let times = record["times_ms"].as_array().ok_or("no times")?;
    let own = times.iter().skip(2).step_by(2).filter_map(Value::as_f64);
    let mut own: Vec<f64> = own.collect();
    own.sort_by(f64::total_cmp);
    let middle = own.get(own.len() / 2);
    Ok(*middle.ok_or("too few turns")?)
}

/// What the referee does for itself lies outside of the time: a search through these processes takes it
/// some 10 ms.
fn looking_at_processes_is_not_charged() -> Result<(), Failed> {
    const CROWD: usize = 400;
    const ATTEMPTS: usize = 5;
    let mut last = String::new();
    // On a busy machine the times of a quick bot vary by more than a search takes.
    for _ in 0..ATTEMPTS {
        let alone = median_time("./crowd.pl 0")?;
        let crowd = median_time(&format!("./crowd.pl {CROWD}"))?;
        if crowd < alone + 3.0 {
            return Ok(());
        }
        last = format!("{crowd} ms with {CROWD} processes, {alone} ms with one");
    }
    Err(last.into())
}

/// Everything on one processor, where the referee lets a bot run before it waits for it.
fn on_one_processor() -> Result<(), Failed> {
    let pinned = format!("exec taskset -c {} \"$0\" \"$@\"", processor());
    let games = || {
        Referee::new([
            "--sandbox",
            "none",
            "--seed",
            "1",
            "-n",
            "40",
            "builtin:greedy",
            "builtin:random",
        ])
        .recorded()
    };
    let turns = |run: &Run| -> Vec<Value> {
        let records = run.records();
        records
            .iter()
            .map(|record| record["turns"].clone())
            .collect()
    };
    let run = games().shell(&pinned).run();
    check(
        turns(&run) == turns(&games().run()),
        "expected the same games",
        &run,
    )?;
    let run = game("./thinks.pl 1 60000", &NO_START).shell(&pinned).run();
    timeout(&run)?;
    let run = game("./ends.sh", &NO_START).shell(&pinned).run();
    check(
        record(&run)?["result"]["reason"] == "exited",
        "it ended",
        &run,
    )?;
    // Games of quick bots leave the referee time for signals.
    let mut running = Referee::new(["--seed", "1", "-n", "10000000"])
        .args(["builtin:random", "builtin:random"])
        .recorded()
        .shell(&pinned)
        .start();
    running.wait_until(|scratch| {
        fs::metadata(scratch.join(RECORDS)).is_ok_and(|meta| meta.len() > 100_000)
    });
    running.signal("TERM");
    let run = running.finish();
    check(run.code == Some(130), "expected an interruption", &run)
}

pub(crate) fn trials() -> Vec<Trial> {
    type Test = fn() -> Result<(), Failed>;
    let tests: [(&str, Test); 12] = [
        ("waiting_is_not_charged", waiting_is_not_charged),
        (
            "a_wait_that_has_not_ended_is_not_charged",
            a_wait_that_has_not_ended_is_not_charged,
        ),
        (
            "sleeping_after_a_wait_is_charged",
            sleeping_after_a_wait_is_charged,
        ),
        (
            "the_waiting_of_a_child_is_not_charged",
            the_waiting_of_a_child_is_not_charged,
        ),
        (
            "the_waiting_of_children_that_exit_is_not_charged",
            the_waiting_of_children_that_exit_is_not_charged,
        ),
        (
            "waiting_is_not_charged_to_the_game_clock",
            waiting_is_not_charged_to_the_game_clock,
        ),
        ("computing_too_long_loses", computing_too_long_loses),
        ("sleeping_too_long_loses", sleeping_too_long_loses),
        ("a_clock_of_processor_time", a_clock_of_processor_time),
        ("the_log_tells_who_was_slow", the_log_tells_who_was_slow),
        ("on_one_processor", on_one_processor),
        (
            "looking_at_processes_is_not_charged",
            looking_at_processes_is_not_charged,
        ),
    ];
    let needed = [("perl", "perl"), ("taskset", "util-linux")];
    let missing = needed
        .into_iter()
        .find(|(name, _)| program(name, &[]).is_none());
    let trial = |(name, test): (&str, Test)| {
        let name = format!("load::{name}");
        match missing {
            None => Trial::test(name, test),
            Some((command, package)) => unavailable(name, command, package),
        }
    };
    let figures = crate::browser::figures();
    tests.into_iter().map(trial).chain(figures).collect()
}
