//! Games in which the referee itself may be to blame for a clock that ran out.

use std::io;
use std::path::Path;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::mpsc;

use super::clock::Clock;
use super::examiner::{Examiner, PlayedLine};
use super::game::GameEvent;
use super::game::{TextBuffers, TurnTime};
use super::game_runner::{GameError, GameFault, GameRunner};
use super::match_runner::{MatchPlan, MatchRunner};
use super::seat::{Seat, start_failure, stop_both};
use super::setup::GameSetup;
use super::testing::{LONG, SILENT_AT_FIRST, limits, program};
use crate::bot::Player as _;
use crate::bot::fault::crash;
use crate::bot::process::{GracePeriods, SilentStart};
use crate::bot::spec::Program;
use crate::protocol::ForfeitReason;
use crate::record::{BotIndex, Ending, Record};
use referee_games::game::four_in_a_row::FourInARow;
use referee_games::game::quarto::{Edition, PieceSet, Rules};
use referee_games::game::{BuiltinRuleset, RequestError};
use referee_games::game::{Game, Ruleset};

const SILENT: &str = "exec sleep 1000";

/// Silent when it is the first to start, and exits from then on.
const SILENT_THEN_GONE: &str = "mkdir \"$0/first\" 2>/dev/null && exec sleep 1000; exit 3";

/// Some tests wait for it several times.
const SHORT: Duration = Duration::from_millis(60);

fn seat(script: &str, directory: &Path, time: Duration) -> Seat {
    Seat::program(
        &BuiltinRuleset::new(FourInARow),
        None,
        program(script, directory),
        limits(time),
    )
}

#[derive(Default)]
struct Observer {
    /// For each void game, whether it was played again.
    stalls: Vec<bool>,
    voids: Vec<u32>,
    played: Vec<bool>,
}

impl Observer {
    fn note(&mut self, event: &GameEvent<'_>) {
        match *event {
            GameEvent::Stalled { why, again } => {
                assert!(why.contains("the referee itself was not running"), "{why}");
                self.stalls.push(again);
            }
            GameEvent::Ended { game, .. } => {
                self.voids.push(game.record().voids);
                self.played.push(game.record().was_played());
            }
            _ => {}
        }
    }
}

fn noting(observer: &mut Observer) -> impl FnMut(&GameEvent<'_>) -> io::Result<()> {
    |event| {
        observer.note(event);
        Ok(())
    }
}

fn start_board() -> String {
    BuiltinRuleset::new(FourInARow).start().board()
}

fn plan(games: u64) -> MatchPlan {
    MatchPlan {
        start: Some(start_board()),
        games,
        first: BotIndex::A,
        seed: 7,
        restart: false,
    }
}

fn setup(start: &str) -> GameSetup<'_> {
    GameSetup {
        number: 0,
        id: "7-1".to_owned(),
        seed: 7,
        first: BotIndex::A,
        start,
        process_seeds: [1, 2],
    }
}

async fn record(seats: &mut [Seat; 2]) -> (Record, Observer) {
    let runner = GameRunner::with_fixed_stalls(Arc::new(BuiltinRuleset::new(FourInARow)), true);
    let (mut observer, start) = (Observer::default(), start_board());
    let setup = setup(&start);
    let mut note = noting(&mut observer);
    let game = runner.run(seats, &setup, None, &mut note).await;
    drop(note);
    let record = game.unwrap().record;
    stop_both(seats, GracePeriods::FAULT).await.unwrap();
    (record, observer)
}

async fn ask(
    runner: &GameRunner,
    seat: &mut Seat,
    session: &mut dyn Game,
    text: &mut TextBuffers,
) -> Result<Result<TurnTime, GameFault>, GameError> {
    let mut clock = Clock::new(seat.time());
    runner.ask(seat, 1, session, &mut clock, text).await
}

#[tokio::test]
async fn a_void_game_is_played_again_twice_at_most() {
    let folder = tempfile::tempdir().unwrap();
    let mut seats = [0, 1].map(|_| seat(SILENT, folder.path(), SHORT));
    let (record, observer) = record(&mut seats).await;
    assert_eq!(observer.stalls, [true, true, false]);
    assert_eq!(record.voids, 2);
    assert!(record.delayed.is_some());
    let forfeit = Ending::Forfeit(BotIndex::A, ForfeitReason::Timeout);
    assert_eq!(record.ending(), Ok(forfeit));
    // Only the game that counts is a failure to start.
    assert_eq!(seats.map(|seat| seat.failed_starts()), [1, 0]);
}

#[tokio::test]
async fn a_fault_that_is_not_about_time_counts() {
    let folder = tempfile::tempdir().unwrap();
    let mut seats = [SILENT_THEN_GONE, SILENT].map(|script| seat(script, folder.path(), LONG));
    let (record, observer) = record(&mut seats).await;
    assert_eq!(observer.stalls, [true]);
    assert_eq!((record.voids, record.delayed.as_deref()), (1, None));
    let forfeit = Ending::Forfeit(BotIndex::A, ForfeitReason::Exited);
    assert_eq!(record.ending(), Ok(forfeit));
    assert_eq!(seats.map(|seat| seat.failed_starts()), [1, 0]);
}

#[tokio::test]
async fn a_void_game_of_a_match_is_played_to_its_end() {
    let folder = tempfile::tempdir().unwrap();
    let runner = GameRunner::with_fixed_stalls(Arc::new(BuiltinRuleset::new(FourInARow)), true);
    let seats = [0, 1].map(|_| seat(SILENT_AT_FIRST, folder.path(), LONG));
    let plan = plan(2);
    let mut games = MatchRunner::new(runner, plan, seats);
    let mut observer = Observer::default();
    let score = games.run(&mut noting(&mut observer)).await.unwrap();
    games.stop(GracePeriods::FAULT).await.unwrap();
    assert_eq!(observer.stalls, [true]);
    assert_eq!(observer.voids, [1, 0]);
    // Both fill column after column, so the first mover has four in a row at the bottom.
    assert_eq!(score.wins, [1, 1]);
}

/// Its answer is there before it is waited for, as those of a quick bot on a busy machine.
fn instant() -> Seat {
    let bot = |request: &str| {
        let game = BuiltinRuleset::new(FourInARow).start_from(request);
        let game = game.map_err(|_| RequestError::GameOver)?;
        let turn = game.turns().next().ok_or(RequestError::GameOver)?;
        Ok(turn.text.clone())
    };
    Seat::scripted("instant".to_owned(), Vec::new(), Box::new(bot))
}

#[tokio::test]
async fn a_match_gives_way_to_a_signal_where_nothing_is_waited_for() {
    let runner = GameRunner::with_fixed_stalls(Arc::new(BuiltinRuleset::new(FourInARow)), true);
    let mut games = MatchRunner::new(runner, plan(1_000), [instant(), instant()]);
    let (sender, mut stops) = mpsc::channel(1);
    sender.try_send(()).unwrap();
    let mut played = 0;
    let mut observer = |event: &GameEvent<'_>| {
        played += usize::from(matches!(event, GameEvent::Ended { .. }));
        Ok(())
    };
    let is_stopped = tokio::select! {
        biased;
        _ = games.run(&mut observer) => false,
        _ = stops.recv() => true,
    };
    assert!(is_stopped && played < 10, "{played}");
}

#[tokio::test]
async fn void_games_do_not_bench_a_bot() {
    let folder = tempfile::tempdir().unwrap();
    let runner = GameRunner::with_fixed_stalls(Arc::new(BuiltinRuleset::new(FourInARow)), true);
    let seats = [SILENT; 2].map(|script| seat(script, folder.path(), SHORT));
    let plan = plan(1);
    let mut games = MatchRunner::new(runner, plan, seats);
    let mut observer = Observer::default();
    for _ in 0..4 {
        let score = games.run(&mut noting(&mut observer)).await.unwrap();
        assert_eq!(score.wins, [0, 1]);
    }
    games.stop(GracePeriods::FAULT).await.unwrap();
    assert_eq!(observer.played, [true, true, true, false]);
    assert_eq!(observer.voids, [2, 2, 2, 0]);
}

#[tokio::test]
async fn a_turn_outside_of_a_game_is_asked_for_again() {
    let folder = tempfile::tempdir().unwrap();
    let runner = GameRunner::with_fixed_stalls(Arc::new(BuiltinRuleset::new(FourInARow)), true);
    let mut seat = seat(SILENT_AT_FIRST, folder.path(), LONG);
    let (mut session, mut text) = (
        BuiltinRuleset::new(FourInARow).start(),
        TextBuffers::default(),
    );
    let asked = ask(&runner, &mut seat, &mut *session, &mut text).await;
    asked.unwrap().expect("the second process answers");
    assert_eq!(text.turn, "1");
    seat.stop(GracePeriods::FAULT).await.unwrap();
}

/// For a turn outside of a game that is never answered.
async fn starts(referee_is_late: bool) -> usize {
    let folder = tempfile::tempdir().unwrap();
    let script = "echo >>\"$0/starts\"; exec sleep 1000";
    let runner =
        GameRunner::with_fixed_stalls(Arc::new(BuiltinRuleset::new(FourInARow)), referee_is_late);
    let mut seat = seat(script, folder.path(), Duration::from_millis(500));
    let (mut session, mut text) = (
        BuiltinRuleset::new(FourInARow).start(),
        TextBuffers::default(),
    );
    let asked = ask(&runner, &mut seat, &mut *session, &mut text).await;
    let fault = asked.unwrap().expect_err("no answer");
    assert_eq!(fault.fault.reason(), ForfeitReason::Timeout);
    let starts = std::fs::read_to_string(folder.path().join("starts"));
    starts.unwrap().lines().count()
}

#[tokio::test]
async fn a_turn_outside_of_a_game_is_asked_for_three_times_at_most() {
    assert_eq!(starts(true).await, 3);
    assert_eq!(starts(false).await, 1);
}

#[tokio::test]
async fn a_program_that_cannot_be_started_is_not_tried_again() {
    let folder = tempfile::tempdir().unwrap();
    let runner = GameRunner::with_fixed_stalls(Arc::new(BuiltinRuleset::new(FourInARow)), true);
    let gone = Program {
        argv: vec![folder.path().join("gone").to_string_lossy().into_owned()],
        ..program(SILENT, folder.path())
    };
    let mut seat = Seat::program(&BuiltinRuleset::new(FourInARow), None, gone, limits(LONG));
    let (mut session, mut text) = (
        BuiltinRuleset::new(FourInARow).start(),
        TextBuffers::default(),
    );
    let asked = ask(&runner, &mut seat, &mut *session, &mut text).await;
    assert!(matches!(asked, Err(GameError::CannotStart(_))));
}

#[tokio::test]
async fn what_is_written_after_an_answer_is_found() {
    let folder = tempfile::tempdir().unwrap();
    let runner = GameRunner::with_fixed_stalls(Arc::new(BuiltinRuleset::new(FourInARow)), false);
    let script = "read -r question; echo 1; sleep 0.01; echo more; exec sleep 1000";
    let mut seat = seat(script, folder.path(), LONG);
    let (mut session, mut text) = (
        BuiltinRuleset::new(FourInARow).start(),
        TextBuffers::default(),
    );
    let asked = ask(&runner, &mut seat, &mut *session, &mut text).await;
    asked.unwrap().expect("an answer");
    let mut found = Vec::new();
    for _ in 0..400 {
        if found.is_empty() {
            found = seat.drain().await;
        }
    }
    assert_eq!(found, b"more\n");
    seat.stop(GracePeriods::FAULT).await.unwrap();
}

/// Nothing was seen of the file.
#[test]
fn a_start_of_which_nothing_was_heard_is_told_as_that() {
    let silent = SilentStart {
        waited: Duration::from_millis(15_250),
        stderr: String::new(),
    };
    let failure = start_failure("ann", &io::Error::other(silent));
    assert_eq!(
        failure.to_string(),
        "ann was started, and within 15.25 s its sandbox did not report that it runs; likely this machine has too much \
         to do: end other programs, or play fewer games at a time"
    );
    assert!(matches!(failure, GameError::Exhausted(_)), "{failure:?}");
    let missing = start_failure("ann", &io::ErrorKind::NotFound.into()).to_string();
    assert!(missing.contains("its file is still there"), "{missing}");
    let denied = start_failure("ann", &io::ErrorKind::PermissionDenied.into()).to_string();
    assert!(!denied.contains("still there"), "{denied}");
}

/// A debugger may hold a bot for as long as people like.
#[tokio::test(start_paused = true)]
async fn an_hour_at_a_breakpoint_loses_nothing() {
    const SCRIPT: &str = "
        while read -r line; do
            until [ -e \"$0/go\" ]; do sleep 0.01; done
            echo 4
        done";
    let folder = tempfile::tempdir().unwrap();
    let seat = seat(SCRIPT, folder.path(), SHORT);
    let runner =
        Rc::new(GameRunner::new(Arc::new(BuiltinRuleset::new(FourInARow)), false).unwrap());
    let mut examiner = Examiner::new(&runner, seat, 1, Examiner::NO_LIMIT);
    assert!(!examiner.is_running());
    examiner.start().await.unwrap();
    assert!(examiner.is_running());
    let line = PlayedLine {
        start: start_board(),
        turns: Vec::new(),
    };
    for line in [line.clone(), line.then("4").then("5")] {
        let begun = tokio::time::Instant::now();
        let held = async {
            tokio::time::advance(Duration::from_hours(1)).await;
            std::fs::write(folder.path().join("go"), "").unwrap();
        };
        let (answer, ()) = tokio::join!(examiner.ask(&line), held);
        assert_eq!(answer.unwrap().unwrap().turn, "4");
        assert!(begun.elapsed() >= Duration::from_hours(1));
        std::fs::remove_file(folder.path().join("go")).unwrap();
    }
    assert_eq!(examiner.asked().len(), 2);
    examiner.stop().await.unwrap();
}

/// Unless they are as by default.
#[test]
fn the_command_that_asks_again_sets_few_variables() {
    let folder = tempfile::tempdir().unwrap();
    let variables = |ruleset: &dyn Ruleset, pieces: Option<&str>| {
        let program = program(SILENT, folder.path());
        let seat = Seat::program(ruleset, pieces, program, limits(LONG));
        let command = seat.reproduce_command("x", true, None).unwrap();
        let names = ["GAME=", "RULES=", "PIECES=", "SEED=", "MOVE_TIME="];
        names.map(|name| command.contains(&format!("REFEREE_{name}")))
    };
    let edition = |rules| BuiltinRuleset::new(Edition::new(rules, PieceSet::default()));
    let none = [false; 5];
    assert_eq!(variables(&edition(Rules::Standard), None), none);
    let rules = [false, true, false, false, false];
    assert_eq!(variables(&edition(Rules::Squares), None), rules);
    let game = [true, false, false, false, false];
    assert_eq!(variables(&BuiltinRuleset::new(FourInARow), None), game);
    let pieces = [false, false, true, false, false];
    assert_eq!(
        variables(&edition(Rules::Standard), Some("/set.csv")),
        pieces
    );
}

#[tokio::test]
async fn the_command_that_asks_again_has_the_seed() {
    let folder = tempfile::tempdir().unwrap();
    let mut seat = seat(SILENT, folder.path(), LONG);
    seat.start(5).await.unwrap();
    let command = seat.reproduce_command("x", true, None).unwrap();
    assert!(command.contains(" REFEREE_SEED=5 "), "{command}");
    seat.stop(GracePeriods::FAULT).await.unwrap();
}

#[tokio::test]
async fn a_fault_has_the_last_line_of_stderr() {
    let folder = tempfile::tempdir().unwrap();
    let runner = GameRunner::with_fixed_stalls(Arc::new(BuiltinRuleset::new(FourInARow)), false);
    for (script, words) in [
        ("echo first >&2; echo last >&2; exit 3", Some("last")),
        ("exit 3", None),
    ] {
        let mut seat = seat(script, folder.path(), LONG);
        let (mut session, mut text) = (
            BuiltinRuleset::new(FourInARow).start(),
            TextBuffers::default(),
        );
        let asked = ask(&runner, &mut seat, &mut *session, &mut text).await;
        let fault = asked.unwrap().expect_err("no answer");
        assert_eq!(crash::explaining_line(&fault.stderr).as_deref(), words);
        let said = fault.fault.to_string();
        assert!(said.starts_with("it ended with exit status 3"), "{said}");
    }
}
