//! Tests every player in `players/`: it plays without a forfeit, with any piece set, under both rule
//! sets, and repeats its games where they depend on the seed.
//!
//! One table lists them. When a player's interpreter or compiler is missing here, its tests are
//! ignored. In CI (`CI=true`) they fail.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::common::{Referee, Run, bots, records};
use crate::requirements::{is_ci, program, unavailable};
use libtest_mimic::{Failed, Trial};
use referee::game::quarto::{Edition, PieceSet, Rules};
use referee::game::{BuiltinGame as _, Outcome, Position as _};
use serde_json::Value;

/// A file in `players/`.
struct Player {
    file: &'static str,
    /// The program: the file itself, or what `make` builds from it.
    program: &'static str,
    strategy: Strategy,
    /// The commands needed to run or build it.
    needs: &'static [&'static str],
    /// The Debian package that has them.
    package: &'static str,
}

#[derive(Clone, Copy, PartialEq)]
enum Strategy {
    Random,
    /// It wins when it can.
    Winning,
    Greedy,
    /// It plays greedily, and counts the gifts with which nobody wins immediately.
    Counting,
    /// It searches for a fixed time.
    Searching,
}

use Strategy::{Counting, Greedy, Random, Searching, Winning};

impl Player {
    const fn script(
        file: &'static str,
        strategy: Strategy,
        needs: &'static [&'static str],
        package: &'static str,
    ) -> Self {
        Self {
            file,
            program: file,
            strategy,
            needs,
            package,
        }
    }

    const fn compiled(
        file: &'static str,
        program: &'static str,
        strategy: Strategy,
        needs: &'static [&'static str],
        package: &'static str,
    ) -> Self {
        Self {
            file,
            program,
            strategy,
            needs,
            package,
        }
    }

    fn is_compiled(&self) -> bool {
        self.file != self.program
    }

    /// The BOT on the command line, in `players/`. Those that search are given a tenth of a second
    /// for a move. The referee's limit is much longer, so that no bot loses on a busy machine.
    fn bot(&self) -> String {
        if self.strategy == Searching {
            format!("env REFEREE_MOVE_TIME=0.1 ./{}", self.program)
        } else {
            format!("./{}", self.program)
        }
    }
}

#[rustfmt::skip]
const QUARTO: [Player; 23] = [
    Player::script("random.py", Random, &["python3"], "python3"),
    Player::script("random.scm", Random, &["guile"], "guile-3.0"),
    Player::script("random.js", Random, &["node"], "nodejs"),
    Player::script("random.sh", Random, &["sh"], "dash"),
    Player::script("random.rb", Random, &["ruby"], "ruby"),
    Player::script("random.pl", Random, &["perl"], "perl"),
    Player::script("random.lua", Random, &["lua"], "lua5.4"),
    Player::script("random.php", Random, &["php"], "php-cli"),
    Player::script("random.tcl", Random, &["tclsh"], "tcl"),
    Player::script("random.pro", Random, &["swipl"], "swi-prolog-nox"),
    Player::script("random.lisp", Random, &["sbcl"], "sbcl"),
    Player::compiled("random.c", "build/random-c", Random, &["make", "cc"], "gcc"),
    Player::compiled("random.cpp", "build/random-cpp", Random, &["make", "c++"], "g++"),
    Player::compiled("random.rs", "build/random-rs", Random, &["make", "rustc"], "rustc"),
    Player::compiled("random.go", "build/random-go", Random, &["make", "go"], "golang-go"),
    Player::compiled("Random.java", "build/random-java", Random, &["make", "javac", "java"], "default-jdk-headless"),
    Player::compiled("random.ml", "build/random-ml", Random, &["make", "ocamlopt"], "ocaml-nox"),
    Player::compiled("random.hs", "build/random-hs", Random, &["make", "ghc"], "ghc"),
    Player::script("wins.py", Winning, &["python3"], "python3"),
    Player::script("greedy.py", Greedy, &["python3"], "python3"),
    Player::script("safe.py", Counting, &["python3"], "python3"),
    Player::script("minimax.py", Searching, &["python3"], "python3"),
    Player::compiled("montecarlo.c", "build/montecarlo", Searching, &["make", "cc"], "gcc"),
];

#[rustfmt::skip]
const FOUR_IN_A_ROW: [Player; 2] = [
    Player::script("four_in_a_row/random.py", Random, &["python3"], "python3"),
    Player::script("four_in_a_row/minimax.js", Searching, &["node"], "nodejs"),
];

/// The files in `players/` that are not players.
const NOT_PLAYERS: [&str; 6] = [
    "Makefile",
    "README.md",
    "adapters",
    "build",
    "folders",
    "helper",
];

/// Games of a match that only tests for forfeits.
const GAMES: usize = 4;

/// A difficult piece set: characters of one to four bytes, digits, and characters that are special
/// in a shell, a pattern or CSV, with rows in no order. Written as a spreadsheet may save it: with a
/// byte order mark, blanks, CRLF, and a blank line at the end.
const OTHER_PIECES: &str = "\u{feff}steen , grootte,kleur, vorm ,gat\r\n\
    王, klein,wit,rond,dicht\r\n\
    é,groot,wit,rond,dicht\r\n\
    𝄞,klein,zwart,rond,hol\r\n\
    7,groot,zwart,rond,hol\r\n\
    *,klein,wit,hoekig,dicht\r\n\
    ?,groot,wit,hoekig,dicht\r\n\
    \\,klein,zwart,hoekig,dicht\r\n \
    $ , groot , zwart , hoekig , dicht \r\n\
    Ω,klein,wit,rond,hol\r\n\
    a,groot,wit,rond,hol\r\n\
    %,klein,zwart,rond,dicht\r\n\
    🂡,groot,zwart,rond,dicht\r\n\
    [,klein,wit,hoekig,hol\r\n\
    1,groot,wit,hoekig,hol\r\n\
    \",\",klein,zwart,\"hoekig\",hol\r\n\
    \"\"\"\",groot,zwart,hoekig,hol\r\n\
    \r\n";

fn players() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("players")
}

/// A test of some players; ignored, or failed in CI, when it cannot be run here.
fn trial(
    name: &str,
    players: &[&Player],
    test: impl FnOnce() -> Result<(), Failed> + Send + 'static,
) -> Trial {
    let missing = players.iter().find_map(|player| {
        let command = player
            .needs
            .iter()
            .find(|command| program(command, &[]).is_none())?;
        Some((*command, player.package))
    });
    let name = format!("players::{name}");
    let Some((command, package)) = missing else {
        return Trial::test(name, test);
    };
    unavailable(name, command, package)
}

/// Builds a player with `make` if needed.
fn build(player: &Player) -> Result<(), Failed> {
    if !player.is_compiled() {
        return Ok(());
    }
    // Another run of these tests may be building, too.
    let lock = File::open(players().join("Makefile"))?;
    lock.lock()?;
    let made = Command::new("make")
        .args(["-s", "-C"])
        .arg(players())
        .arg(player.program)
        // The player's own business, whatever make runs cargo.
        .env_remove("MAKEFLAGS")
        .output()?;
    if made.status.success() {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&made.stderr).into_owned();
    Err(format!("make {}: {said}", player.program).into())
}

/// A match in `players/` with a long time limit.
fn games(count: usize, bots: [&str; 2]) -> Referee {
    Referee::new(["--move-time", "30s", "--start-time", "20s", "-n"])
        .args([&count.to_string(), bots[0], bots[1]])
        .directory(players())
        .recorded()
}

/// The records of a match without forfeits.
fn completed(run: &Run, count: usize) -> Result<Vec<Value>, Failed> {
    let records = run.records();
    if run.code != Some(0) || records.len() != count {
        return Err(format!("{} of {count} games\n{run}", records.len()).into());
    }
    let by_rule = ["quarto", "four-in-a-row", "draw"].map(Value::from);
    for record in &records {
        if !by_rule.contains(&record["result"]["reason"]) {
            return Err(run.stderr.clone().into());
        }
    }
    Ok(records)
}

/// Checks that BOT1 won whenever it could and, unless that is all it does, gave nothing that loses at once when it could.
fn is_greedy(records: &[Value], edition: &Edition, player: &Player) -> Result<(), Failed> {
    for record in records {
        let first = usize::from(record["first"] == 1);
        let mut position = edition.start();
        for (number, turn) in record["turns"].as_array().into_iter().flatten().enumerate() {
            let answer = turn.as_str().unwrap_or_default();
            let (_, after) = edition
                .judge(&position, answer)
                .map_err(|problem| format!("{answer}: {problem:?}"))?;
            if (number + first) % 2 == 0 {
                let me = position.to_move();
                let turns = position.turns();
                let wins = turns
                    .iter()
                    .any(|(_, after)| after.outcome() == Some(Outcome::Win(me)));
                let safe = turns.iter().any(|(_, after)| !after.can_win_at_once());
                let missed_win = wins && after.outcome() != Some(Outcome::Win(me));
                let avoids = player.strategy != Winning;
                let lost_at_once = avoids && safe && !wins && after.can_win_at_once();
                if missed_win || lost_at_once {
                    return Err(format!("turn {}: {answer}\n{record}", number + 1).into());
                }
            }
            position = after;
        }
    }
    Ok(())
}

fn plays(player: &Player, rules: Rules) -> Result<(), Failed> {
    build(player)?;
    let run = games(GAMES, [&player.bot(), "builtin:greedy"])
        .args(["--seed", "1", "--rules", rules.name()])
        .run();
    let records = completed(&run, GAMES)?;
    if matches!(player.strategy, Winning | Greedy | Counting) {
        is_greedy(&records, &Edition::new(rules, PieceSet::default()), player)?;
    }
    for record in &records {
        let turns = |list: &Value| list.as_array().map_or(0, Vec::len);
        let own = turns(&record["turns"]).midpoint(usize::from(record["first"] == 0));
        let said = turns(&record["info"]);
        let enough = match player.strategy {
            Random => said == own,
            Searching => said > 0,
            _ => true,
        };
        if !enough {
            return Err(
                format!("it says what it thinks in {said} of {own} turns: {record}").into(),
            );
        }
    }
    Ok(())
}

/// Tests that its language works in a sandbox.
/// Where the system's programs are.
const SYSTEM_PATH: &str = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

fn plays_in_sandbox(player: &Player, kind: &str) -> Result<(), Failed> {
    build(player)?;
    let run = games(1, [&player.bot(), "builtin:random"])
        .args(["--sandbox", kind, "--seed", "1"])
        // The system's interpreters: tests/environment/interpreters.rs has those in a home.
        .env("PATH", SYSTEM_PATH)
        .run();
    completed(&run, 1).map(drop)
}

/// Whether a sandbox works here; in CI it must.
fn works_here(kind: &str) -> bool {
    is_ci()
        || crate::common::command(env!("CARGO_BIN_EXE_referee"))
            .args(["--sandbox", kind, "--seed", "1"])
            .args(["builtin:random", "builtin:random"])
            .output()
            .is_ok_and(|output| output.status.success())
}

fn plays_with_other_pieces(player: &Player) -> Result<(), Failed> {
    build(player)?;
    let directory = tempfile::tempdir()?;
    let file = directory.path().join("een andere doos.csv");
    fs::write(&file, OTHER_PIECES)?;
    let run = games(GAMES, [&player.bot(), "builtin:greedy"])
        .args(["--seed", "1", "--pieces"])
        .args([&file])
        // Pieces are UTF-8 whatever the locale is.
        .env("LC_ALL", "C")
        .run();
    let records = completed(&run, GAMES)?;
    if matches!(player.strategy, Winning | Greedy | Counting) {
        let set = PieceSet::parse(OTHER_PIECES).map_err(|error| error.to_string())?;
        is_greedy(&records, &Edition::new(Rules::Standard, set), player)?;
    }
    Ok(())
}

/// The turns of the games of a match with this seed.
fn turns(bots: [&str; 2], seed: &str, more: &[&str]) -> Result<Vec<Value>, Failed> {
    let run = games(2, bots).args(["--seed", seed]).args(more).run();
    let records = completed(&run, 2)?;
    Ok(records.into_iter().map(|r| r["turns"].clone()).collect())
}

fn is_reproducible(player: &Player, more: &[&str]) -> Result<(), Failed> {
    build(player)?;
    let bots = [&*player.bot(), "builtin:random"];
    let once = turns(bots, "1", more)?;
    if once != turns(bots, "1", more)? {
        return Err("another game with the same seed".into());
    }
    if once == turns(bots, "2", more)? {
        return Err("the same game with another seed".into());
    }
    Ok(())
}

/// What its process with this seed was sent.
fn sent(scratch: &Path, seed: &Value) -> Result<String, Failed> {
    Ok(fs::read_to_string(scratch.join(format!("input-{seed}")))?)
}

/// Checks that `referee debug` sends it what it was sent in the games of a tournament, byte by byte, and that it answers the
/// same where it can.
fn is_sent_the_same_again(player: &Player, game: &str) -> Result<(), Failed> {
    build(player)?;
    let keeps = bots().join("keeps-input.sh");
    let bot = format!("{} {}", keeps.display(), player.bot());
    let directory = tempfile::tempdir()?;
    let out = directory.path().join("t");
    let limits = ["--move-time", "30s", "--start-time", "20s"];
    let run = Referee::new(["tournament", &bot, "builtin:random", "--seed", "1"])
        .args([
            "--pairs",
            "1",
            "--jobs",
            "1",
            "--no-check",
            "--sandbox",
            "none",
        ])
        .args(limits)
        .args(["--game", game, "--out"])
        .args([&out])
        .directory(players())
        .run();
    if run.code != Some(0) {
        return Err(format!("{run}").into());
    }
    let records = records(&fs::read_to_string(out.join("games.jsonl"))?);
    if records.len() != 2 {
        return Err(format!("{} games\n{run}", records.len()).into());
    }
    for (index, record) in records.iter().enumerate() {
        // The first that was named.
        let turns = record["turns"].as_array().map_or(0, Vec::len);
        let own = usize::from(record["first"] != 0);
        let last = (own..turns).step_by(2).next_back().ok_or("no turn")? + 1;
        let (number, turn) = ((index + 1).to_string(), last.to_string());
        let again = Referee::new([
            "debug",
            "--as",
            "1",
            "--from-first",
            "--time-per-move",
            "1ms",
        ])
        .args(["--number", &number, "--turn", &turn])
        .args([out.as_os_str(), bot.as_ref()])
        .directory(players())
        .stdin("quit\n")
        .run();
        let seed = &record["processes"][0]["seed"];
        let (now, then) = (sent(again.scratch(), seed)?, sent(run.scratch(), seed)?);
        // Its process played both games.
        let is_same = if index == 0 {
            then.starts_with(&now)
        } else {
            then == now
        };
        if again.code != Some(0) || now.is_empty() || !is_same {
            return Err(format!("then\n{then}now\n{now}{again}").into());
        }
        if player.strategy != Searching && again.stdout.contains("departs") {
            return Err(format!("{again}").into());
        }
    }
    Ok(())
}

/// Checks that it wins at least this share of the points, in percent, against greedy.
fn scores(
    player: &Player,
    count: usize,
    percent: std::ops::RangeInclusive<usize>,
) -> Result<(), Failed> {
    build(player)?;
    let run = games(count, [&player.bot(), "builtin:greedy"])
        .args(["--seed", "1"])
        .run();
    let records = completed(&run, count)?;
    let halves: usize = records
        .iter()
        .map(|record| match record["result"]["winner"].as_u64() {
            Some(0) => 2,
            Some(_) => 0,
            None => 1,
        })
        .sum();
    let found = halves * 50 / count;
    if percent.contains(&found) {
        return Ok(());
    }
    Err(format!("{found} %, not within {percent:?}\n{run}").into())
}

fn four_in_a_row(players: &[&Player], bots: [&str; 2]) -> Result<(), Failed> {
    for player in players {
        build(player)?;
    }
    let run = games(2, bots)
        .args(["--seed", "1", "--game", "four-in-a-row"])
        .run();
    completed(&run, 2)?;
    Ok(())
}

/// The files in `players/`.
fn shipped() -> Result<BTreeSet<String>, Failed> {
    let mut files = BTreeSet::new();
    let mut directories = vec![players()];
    while let Some(directory) = directories.pop() {
        for entry in fs::read_dir(directory)? {
            let path = entry?.path();
            let name = path.strip_prefix(players())?.to_string_lossy().into_owned();
            let is_hidden = path
                .file_name()
                .is_some_and(|n| n.to_string_lossy().starts_with(['.', '_']));
            if NOT_PLAYERS.contains(&&*name) || is_hidden {
                continue;
            }
            if path.is_dir() {
                directories.push(path);
            } else {
                files.insert(name);
            }
        }
    }
    Ok(files)
}

fn every_player_is_in_the_table() -> Result<(), Failed> {
    let listed: BTreeSet<String> = table().map(|player| player.file.to_owned()).collect();
    let shipped = shipped()?;
    if listed == shipped {
        return Ok(());
    }
    let lines: Vec<String> = listed
        .symmetric_difference(&shipped)
        .map(|file| {
            format!(
                "{file} is not in {}",
                if listed.contains(file) {
                    "players/"
                } else {
                    "the table"
                }
            )
        })
        .collect();
    Err(lines.join("\n").into())
}

fn table() -> impl Iterator<Item = &'static Player> {
    QUARTO.iter().chain(&FOUR_IN_A_ROW)
}

fn the_readme_lists_them() -> Result<(), Failed> {
    let readme = fs::read_to_string(players().join("README.md"))?;
    // | `file` | Language | `package` | `command` … | strategy |
    let rows: Vec<Vec<&str>> = readme
        .lines()
        .filter(|line| line.starts_with("| `"))
        .map(|line| line.split('|').skip(1).map(str::trim).collect())
        .filter(|row: &Vec<&str>| row.len() >= 6)
        .collect();
    let listed: BTreeSet<&str> = rows.iter().map(|row| row[0].trim_matches('`')).collect();
    let expected: BTreeSet<&str> = table().map(|player| player.file).collect();
    if listed != expected {
        return Err(format!("{listed:?}\n{expected:?}").into());
    }
    for player in table() {
        let file = format!("`{}`", player.file);
        let row = rows.iter().find(|row| row[0] == file).ok_or(player.file)?;
        let package = format!("`{}`", player.package);
        let command = row[3].split('`').nth(1).unwrap_or_default();
        let strategy = match player.strategy {
            Random => ["random"].as_slice(),
            Winning => &["take the win"],
            Greedy => &["greedy"],
            Counting => &["count safe gifts"],
            Searching => &["alpha-beta", "Monte Carlo"],
        };
        if row[2] != package
            || command.trim_start_matches("./") != player.program
            || !strategy.contains(&row[4])
        {
            return Err(format!("{row:?}; expected {package}, {}", player.program).into());
        }
    }
    Ok(())
}

fn scripts_can_be_run() -> Result<(), Failed> {
    for player in table().filter(|player| !player.is_compiled()) {
        let path = players().join(player.file);
        let text = fs::read_to_string(&path)?;
        let executable = fs::metadata(&path)?.permissions().mode() & 0o111 == 0o111;
        let first = text.lines().next().unwrap_or_default();
        if !first.starts_with("#!/") || text.contains('\r') || !executable {
            return Err(format!("{}: {first:?}, executable: {executable}", player.file).into());
        }
        if !player.needs.iter().any(|command| first.contains(command)) {
            return Err(format!("{}: {first:?} needs {:?}", player.file, player.needs).into());
        }
    }
    Ok(())
}

pub(crate) fn trials() -> Vec<Trial> {
    let mut trials = vec![
        Trial::test(
            "players::every player is in the table",
            every_player_is_in_the_table,
        ),
        Trial::test("players::the README lists them", the_readme_lists_them),
        Trial::test("players::scripts can be run", scripts_can_be_run),
    ];
    for kind in ["bwrap", "landlock"] {
        let works = works_here(kind);
        // Those that search play by the clock, in the language of another player.
        let quick = QUARTO.iter().filter(|p| p.strategy != Searching);
        for player in quick {
            let name = format!("{} plays in {kind}", player.file);
            let trial = trial(&name, &[player], move || plays_in_sandbox(player, kind));
            let ignored = trial.has_ignored_flag() || !works;
            trials.push(trial.with_ignored_flag(ignored));
        }
    }
    for player in &QUARTO {
        let mut add = |what: &str, test: fn(&Player) -> Result<(), Failed>| {
            let name = format!("{} {what}", player.file);
            trials.push(trial(&name, &[player], move || test(player)));
        };
        add("plays by the standard rules", |p| plays(p, Rules::Standard));
        add("plays by the squares rules", |p| plays(p, Rules::Squares));
        add("plays with other pieces", plays_with_other_pieces);
        add("is sent the same lines again by debug", |p| {
            is_sent_the_same_again(p, "quarto")
        });
        match player.strategy {
            Searching => add("is as good as greedy", |p| scores(p, 24, 40..=100)),
            Greedy => add("is as good as greedy", |p| scores(p, 60, 30..=70)),
            Counting => add("is as good as greedy", |p| scores(p, 60, 40..=100)),
            Random | Winning => {}
        }
        if player.strategy != Searching {
            add("plays the same game again", |p| is_reproducible(p, &[]));
        }
    }
    let [random, minimax] = &FOUR_IN_A_ROW;
    for player in [random, minimax] {
        let name = format!("{} is sent the same lines again by debug", player.file);
        trials.push(trial(&name, &[player], move || {
            is_sent_the_same_again(player, "four-in-a-row")
        }));
        let name = format!("{} plays builtin:greedy", player.file);
        trials.push(trial(&name, &[player], move || {
            four_in_a_row(&[player], [&player.bot(), "builtin:greedy"])
        }));
    }
    let both = [random, minimax];
    let name = format!("{} plays {}", random.file, minimax.file);
    trials.push(trial(&name, &both, move || {
        four_in_a_row(&both, [&random.bot(), &minimax.bot()])
    }));
    let name = format!("{} plays the same game again", random.file);
    trials.push(trial(&name, &[random], move || {
        is_reproducible(random, &["--game", "four-in-a-row"])
    }));
    trials
}
