//! Where a bot breaks: games against a bot that lead it to questions at which it commits a fault, or gives away what it
//! held.
//!
//! Only early questions are asked twice. An opponent's turn is one of a few drawn at random: the one that leads to the
//! least seen kind of position, or in a game with a solver the one that leaves the bot the smallest share of good answers.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::rc::Rc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use foldhash::quality::FixedState;
use rand::RngExt as _;
use rand::rngs::ChaCha8Rng;
use rand::seq::{IndexedRandom as _, SliceRandom as _};
use std::hash::BuildHasher as _;

use referee_games::game::{BuiltinBot, Game, Outcome, RequestError, Ruleset, Side, Turn};
use referee_games::solver::Value;
use referee_host::threads::{for_each, locked, processors};
use referee_match::analysis::Analyst;
use referee_match::analysis::appraisal::Appraiser;
use referee_match::bot::process::GracePeriods;
use referee_match::bot::runtime;
use referee_match::play::TimeControl;
use referee_match::play::clock::Clock;
use referee_match::play::examiner::{Asked, Examiner, PlayedLine, wait_until};
use referee_match::play::game_runner::{FinishedGame, GameError, GameFault, GameRunner};
use referee_match::play::seat::{Seat, stop_both};
use referee_match::play::setup::GameSetup;
use referee_match::record::{BotIndex, TurnText};
use referee_match::seed::{Purpose, generator};

/// Turns of the opponent between which it chooses, unless the bot is slow.
const CANDIDATES: usize = 6;

/// Free cells from which on it matters what is on the board, wherever it is.
const LATE: usize = 5;

/// Of questions that come up after so many turns it is counted how many were asked.
pub const EARLY_TURNS: usize = 3;

/// Of those questions, the most that are counted.
const MOST_EARLY: usize = 1_000_000;

/// How often the opponent leaves the bot few good answers.
const TRAPS: f64 = 0.4;

/// How often a game begins with the turns of another one: most questions are then late ones, of which there are most.
const BRANCHES: f64 = 0.8;

const MOST_GAMES: usize = 10_000;

/// Games of which one is chosen to branch from.
const SAMPLED: usize = 12;

/// How often an early question is asked again: a bot that plays by chance has other openings, too.
const AGAIN: f64 = 0.2;

/// How often a game tries to come to something that was found in fewer turns.
const SHORTER: f64 = 0.25;

/// An answer takes a slow bot longer than this.
const SLOW: Duration = Duration::from_millis(20);

/// How often a slow bot is led through questions that it has answered, while positions are too early to be solved.
const KNOWN: f64 = 0.8;

/// `blunder` with its values, or the reason for a forfeit.
pub type FaultKind = (String, Option<(Value, Value)>);

#[derive(Debug)]
pub struct FoundFault {
    pub line: PlayedLine,
    pub side: Side,
    pub question: String,
    /// In canonical form; `None` for a fault.
    pub answer: Option<String>,
    pub fault: Option<GameFault>,
    /// The whole of it, where the bot gave something away: the opponent then plays perfectly.
    pub game: Option<PlayedLine>,
}

impl FoundFault {
    /// Whether the bot gave this answer in a game that it played on this side: its opponent may have given it, too.
    fn is_in(&self, side: Side, game: &PlayedLine) -> bool {
        let turns = &self.line.turns;
        let then = game.turns.get(turns.len()).map(|turn| &**turn);
        self.side == side && game.turns.starts_with(turns) && then == self.answer.as_deref()
    }
}

#[derive(Clone, Copy, Debug, Default)]
pub struct HuntTally {
    pub questions: usize,
    /// The most turns before one of them.
    pub deepest: usize,
    /// Of the questions within [`EARLY_TURNS`], those that were asked, and all that can come up.
    pub early: [usize; 2],
    /// Answers whose value was compared with the best.
    pub judged: usize,
}

/// What the workers have found so far.
#[derive(Debug, Default)]
pub struct HuntState {
    /// By the hash of the question; `None` for a fault.
    answers: HashMap<u64, Option<TurnText>, FixedState>,
    /// How often a kind of position was asked about.
    kinds: HashMap<u64, u32, FixedState>,
    /// Questions that can come up early.
    early: HashSet<u64, FixedState>,
    found: BTreeMap<FaultKind, FoundFault>,
    /// Some games that came to their end, to branch from.
    games: Vec<(Side, Vec<TurnText>)>,
    tally: HuntTally,
}

#[derive(Debug)]
pub struct Hunt<'a> {
    pub ruleset: Arc<dyn Ruleset>,
    pub time: TimeControl,
    /// Of the bot, and of how it is played against.
    pub seed: u32,
    pub until: Instant,
    pub stop: &'a AtomicBool,
    pub shared: Mutex<HuntState>,
}

struct HuntPlan {
    side: Side,
    /// Turns of an earlier game, which is gone through again.
    begin: Vec<TurnText>,
    most_turns: usize,
    is_trap: bool,
}

impl Hunt<'_> {
    fn is_over(&self) -> bool {
        self.stop.load(Ordering::Relaxed) || Instant::now() >= self.until
    }

    /// Whether the turns after a turn are looked at, too: of a game's program this is a question for every pair of them.
    fn looks_two_ahead(&self) -> bool {
        self.ruleset.program().is_none()
    }

    pub fn questions(&self) -> usize {
        locked(&self.shared).tally.questions
    }

    /// What was found, the shortest game of each kind, and what was tried.
    pub fn into_found(self) -> (BTreeMap<FaultKind, FoundFault>, HuntTally) {
        let mut shared = std::mem::take(&mut *locked(&self.shared));
        let is_asked = |question: &&u64| shared.answers.contains_key(question);
        let asked = shared.early.iter().filter(is_asked);
        shared.tally.early = [asked.count(), shared.early.len()];
        (shared.found, shared.tally)
    }

    /// Plays games on as many threads as there are CPUs, until the time is over; the first error ends them all.
    pub fn search(
        &self,
        seat: &(dyn Fn() -> Seat + Sync),
        analyst: &Analyst,
    ) -> Result<(), GameError> {
        let mut done: Vec<Result<(), GameError>> = (0..processors()).map(|_| Ok(())).collect();
        for_each(done.len(), &mut done, |number, done| {
            let appraiser = analyst.appraiser(&*self.ruleset);
            *done = runtime::block_on(self.work(seat(), appraiser.as_ref(), number as u64));
            if done.is_err() {
                self.stop.store(true, Ordering::Relaxed);
            }
        });
        done.into_iter().collect()
    }

    /// Plays games until the time is over. `number` tells workers apart.
    pub async fn work(
        &self,
        seat: Seat,
        appraiser: Option<&Appraiser>,
        number: u64,
    ) -> Result<(), GameError> {
        let runner = Rc::new(GameRunner::new(Arc::clone(&self.ruleset), false)?);
        let mut worker = HuntWorker {
            hunt: self,
            appraiser,
            random: generator(self.seed.into(), Purpose::Opponent, [number, 0]),
            asking: Duration::ZERO,
            solving: Duration::ZERO,
            examiner: Examiner::new(&runner, seat, self.seed, self.time),
            asked: 0,
        };
        while !self.is_over() {
            worker.play().await?;
        }
        Ok(worker.examiner.seat.stop(GracePeriods::FAULT).await?)
    }
}

struct HuntWorker<'a> {
    hunt: &'a Hunt<'a>,
    /// In a game with a solver.
    appraiser: Option<&'a Appraiser>,
    random: ChaCha8Rng,
    asking: Duration,
    /// It is not to take more time than asking does.
    solving: Duration,
    examiner: Examiner,
    asked: u32,
}

fn hash(key: impl std::hash::Hash) -> u64 {
    FixedState::default().hash_one(key)
}

impl HuntWorker<'_> {
    fn is_slow(&self) -> bool {
        self.asked > 0 && self.asking / self.asked > SLOW
    }

    fn plan(&mut self) -> HuntPlan {
        let is_trap = self.random.random_bool(TRAPS);
        let shared = locked(&self.hunt.shared);
        let all: Vec<&FoundFault> = shared.found.values().collect();
        let shorter = all.choose(&mut self.random);
        let shorter = shorter.filter(|_| self.random.random_bool(SHORTER));
        let shorter = shorter.map(|found| (found.side, found.line.turns.clone()));
        drop(all);
        drop(shared);
        let (side, begin, most_turns) = if let Some((side, mut turns)) = shorter {
            let most = turns.len().saturating_sub(1);
            turns.truncate(self.random.random_range(0..=turns.len()));
            (side, turns, most)
        } else {
            let is_branch = self.random.random_bool(BRANCHES);
            let branched = is_branch.then(|| self.branch()).flatten();
            let (side, begin) = branched.unwrap_or_else(|| {
                let is_second = !self.random.random::<bool>();
                (Side::BOTH[usize::from(is_second)], Vec::new())
            });
            (side, begin, usize::MAX)
        };
        HuntPlan {
            side,
            begin,
            most_turns,
            is_trap,
        }
    }

    /// The beginning of an earlier game: of a few, the one after which most new kinds of late position can come up.
    fn branch(&mut self) -> Option<(Side, Vec<TurnText>)> {
        let mut sample = || {
            let games = &locked(&self.hunt.shared).games;
            let (side, turns) = games.choose(&mut self.random)?;
            let kept = self.random.random_range(turns.len() / 2..=turns.len());
            Some((*side, turns[..kept].to_vec()))
        };
        let count = if self.hunt.looks_two_ahead() {
            SAMPLED
        } else {
            1
        };
        let some: Vec<(Side, Vec<TurnText>)> = (0..count).filter_map(|_| sample()).collect();
        some.into_iter()
            .max_by_key(|(side, begin)| self.new_kinds(*side, begin))
    }

    fn new_kinds(&self, side: Side, begin: &[TurnText]) -> usize {
        let mut game = self.hunt.ruleset.start();
        for turn in begin {
            if self.hunt.is_over() || game.play(turn, &mut String::new()).is_err() {
                return 0;
            }
        }
        if game.to_move() == side || game.outcome().is_some() || game.free_cells() > LATE + 1 {
            return 0;
        }
        let kinds: HashSet<u64> = game
            .turns()
            .take_while(|_| !self.hunt.is_over())
            .filter(|turn| turn.after.outcome().is_none())
            .map(|turn| late_kind(&*turn.after))
            .collect();
        let shared = locked(&self.hunt.shared);
        kinds
            .iter()
            .filter(|kind| !shared.kinds.contains_key(kind))
            .count()
    }

    /// One game, up to its end or a fault. Once the bot has given something away, the opponent plays perfectly.
    async fn play(&mut self) -> Result<(), GameError> {
        let plan = self.plan();
        let mut game = self.hunt.ruleset.start();
        let mut line = PlayedLine::at(game.as_start());
        let mut blunder = None;
        let mut canonical = String::new();
        while game.outcome().is_none() && !self.hunt.is_over() {
            if blunder.is_none() && line.turns.len() >= plan.most_turns {
                return Ok(());
            }
            let turn = if let Some(turn) = plan.begin.get(line.turns.len()) {
                turn.clone()
            } else if game.to_move() == plan.side {
                let Some((answer, found)) = self.answer(&*game, &line).await? else {
                    return Ok(());
                };
                blunder = blunder.or(found);
                answer
            } else {
                let perfect = blunder.as_ref().and_then(|_| self.perfect(&*game));
                match perfect.or_else(|| self.choose(&*game, &line, plan.is_trap)) {
                    Some(turn) => turn,
                    None => return Ok(()),
                }
            };
            if game.play(&turn, &mut canonical).is_err() {
                return Ok(());
            }
            line.turns.push(turn);
        }
        let Some(outcome) = game.outcome() else {
            return Ok(());
        };
        let result = match outcome {
            Outcome::Draw => Value::Draw,
            Outcome::Win(side) if side == plan.side => Value::Win,
            Outcome::Win(_) => Value::Loss,
        };
        let shared = &mut *locked(&self.hunt.shared);
        let game = (plan.side, line.turns.clone());
        if shared.games.len() < MOST_GAMES {
            shared.games.push(game);
        } else {
            shared.games[self.random.random_range(0..MOST_GAMES)] = game;
        }
        if blunder.is_some() {
            // It may have given something away more than once.
            for ((_, values), found) in &mut shared.found {
                // The opponent's turns may not all be solved in time: what it shows is what the turn was worth, or less.
                let is_shown = values.is_some_and(|(_, value)| result <= value);
                if found.game.is_none() && is_shown && found.is_in(plan.side, &line) {
                    found.game = Some(line.clone());
                }
            }
        }
        Ok(())
    }

    fn perfect(&self, game: &dyn Game) -> Option<TurnText> {
        let best = self.appraiser?.position(game).best;
        Some(TurnText::from(best.first()?.as_str()))
    }

    /// The bot's, which is asked for it the first time, and what it gave away by it, if that is new; `None` for a fault,
    /// or when the time is over.
    async fn answer(
        &mut self,
        game: &dyn Game,
        line: &PlayedLine,
    ) -> Result<Option<(TurnText, Option<FaultKind>)>, GameError> {
        let question = game.request();
        let key = hash(&question);
        let again = line.turns.len() < EARLY_TURNS && self.random.random_bool(AGAIN);
        if !again && let Some(known) = locked(&self.hunt.shared).answers.get(&key) {
            return Ok(known.clone().map(|answer| (answer, None)));
        }
        let asked_at = Instant::now();
        let mut after = game.clone_box();
        let mut clock = Clock::new(self.hunt.time);
        let asked = tokio::select! {
            biased;
            asked = self.examiner.ask_on(&mut *after, &mut clock) => Some(asked?),
            () = wait_until(|| self.hunt.is_over()) => None,
        };
        self.asking += asked_at.elapsed();
        self.asked += 1;
        let Some(asked) = asked else {
            return Ok(None);
        };
        let kinds = self.kinds(game);
        let answer = asked
            .as_ref()
            .ok()
            .map(|answer| TurnText::from(&*answer.turn));
        {
            let shared = &mut *locked(&self.hunt.shared);
            shared.answers.insert(key, answer.clone());
            shared.tally.questions += 1;
            shared.tally.deepest = shared.tally.deepest.max(line.turns.len());
            for kind in kinds {
                *shared.kinds.entry(kind).or_default() += 1;
            }
        }
        let found = self.judge(game, line, question, asked);
        Ok(answer.map(|answer| (answer, found)))
    }

    /// What is wrong with it, if no shorter game is known for that.
    fn judge(
        &mut self,
        game: &dyn Game,
        line: &PlayedLine,
        question: String,
        asked: Asked,
    ) -> Option<FaultKind> {
        let mut found = FoundFault {
            line: line.clone(),
            side: game.to_move(),
            question,
            answer: None,
            fault: None,
            game: None,
        };
        let kind = match asked {
            Err(fault) => {
                let kind = (fault.fault.reason().name().to_owned(), None);
                found.fault = Some(fault);
                kind
            }
            Ok(answer) => {
                let values = self.lost(game, &answer.turn)?;
                found.answer = Some(answer.turn);
                ("blunder".to_owned(), Some(values))
            }
        };
        let all = &mut locked(&self.hunt.shared).found;
        let is_shorter = |known: &FoundFault| found.line.turns.len() < known.line.turns.len();
        if !all.get(&kind).is_none_or(is_shorter) {
            return None;
        }
        all.insert(kind.clone(), found);
        Some(kind)
    }

    /// The best value and that of the turn, where it is less.
    fn lost(&mut self, game: &dyn Game, turn: &str) -> Option<(Value, Value)> {
        let appraiser = self.appraiser?;
        if !game.is_provable() && !self.is_slow() || self.solving > self.asking {
            return None;
        }
        let turn = game.after(turn).ok()?;
        let begun = Instant::now();
        let compared = appraiser.compare(game, &turn).proven();
        self.solving += begun.elapsed();
        let (value, best) = compared?;
        locked(&self.hunt.shared).tally.judged += 1;
        (value < best).then_some((best, value))
    }

    /// A turn of the opponent that does not end the game, if there is one; `None` when the time is over, too.
    fn choose(&mut self, game: &dyn Game, line: &PlayedLine, is_trap: bool) -> Option<TurnText> {
        let legal = game.turns().take_while(|_| !self.hunt.is_over());
        let mut turns: Vec<Turn> = legal.collect();
        if self.hunt.is_over() {
            return None;
        }
        if line.turns.len() < EARLY_TURNS {
            let shared = &mut *locked(&self.hunt.shared);
            if shared.early.len() < MOST_EARLY {
                let going_on = turns.iter().filter(|turn| turn.after.outcome().is_none());
                let questions = going_on.map(|turn| hash(turn.after.request()));
                shared.early.extend(questions);
            }
        }
        turns.shuffle(&mut self.random);
        let going_on = turns.iter().filter(|turn| turn.after.outcome().is_none());
        let me = game.to_move();
        // Where the bot wins next, the game is soon over.
        let looks_two_ahead = self.hunt.looks_two_ahead();
        let (quiet, short): (Vec<_>, Vec<_>) =
            going_on.partition(|turn| !(looks_two_ahead && turn.after.lets_win(me)));
        let mut going_on: Vec<_> = quiet.into_iter().chain(short).collect();
        let is_slow = self.is_slow();
        if is_slow && !game.is_provable() && self.random.random_bool(KNOWN) {
            // Its questions are kept for positions whose value is known.
            let shared = locked(&self.hunt.shared);
            let is_known = |turn: &&Turn| shared.answers.contains_key(&hash(turn.after.request()));
            if let Some(turn) = going_on.iter().find(|turn| is_known(turn)) {
                return Some(TurnText::from(&*turn.text));
            }
        }
        let is_trap = is_trap || is_slow;
        going_on.truncate(if is_slow { usize::MAX } else { CANDIDATES });
        let (mut best, mut trap) = (None, None);
        for (index, turn) in going_on.into_iter().enumerate() {
            if index >= CANDIDATES && (trap.is_none() || self.solving > self.asking) {
                break;
            }
            if is_trap && let Some(share) = self.good_share(&*turn.after) {
                if trap.is_none_or(|(least, _)| share < least) {
                    trap = Some((share, turn));
                }
                continue;
            }
            let kinds = self.kinds(&*turn.after);
            let shared = locked(&self.hunt.shared);
            let is_new = !shared.answers.contains_key(&hash(turn.after.request()));
            let seen = kinds
                .iter()
                .map(|kind| shared.kinds.get(kind).copied().unwrap_or(0));
            let rarity: f64 = seen.map(|count| 1.0 / f64::from(1 + count)).sum();
            let rarity = rarity + f64::from(is_new);
            if best.is_none_or(|(most, _)| rarity > most) {
                best = Some((rarity, turn));
            }
        }
        let chosen = trap.or(best).map(|(_, turn)| turn);
        let chosen = chosen.or_else(|| turns.first())?;
        Some(TurnText::from(&*chosen.text))
    }

    /// Kinds of position to which this one belongs: what is in hand, how many cells are free, how many turns there are,
    /// win, or lose immediately, and which one does not; towards the end also what is on the board.
    fn kinds(&self, game: &dyn Game) -> Vec<u64> {
        let free = game.free_cells();
        let request = game.request();
        let hand = request.chars().next_back();
        let mut kinds = vec![hash((0, free, hand)), late_kind(game)];
        if !self.hunt.looks_two_ahead() {
            kinds.push(hash((1, free, few(game.count_moves()))));
            return kinds;
        }
        let me = game.to_move();
        let (mut winning, mut safe, mut only) = (0_usize, 0_usize, None);
        for turn in game.turns() {
            match turn.after.outcome() {
                Some(outcome) => winning += usize::from(outcome == Outcome::Win(me)),
                None if winning > 0 => {}
                None if turn.after.lets_win(me) => {}
                None => {
                    safe += 1;
                    only = Some(turn.text);
                }
            }
        }
        let only = only.filter(|_| safe == 1);
        let only = only.and_then(|turn| turn.chars().next_back());
        kinds.extend([
            hash((1, free, winning.min(3), few(safe))),
            hash((2, hand, only, safe.min(2))),
            hash((3, winning.min(2), safe.min(8), hand)),
        ]);
        kinds
    }

    /// The share of the bot's answers that keep what it holds; `None` where it holds nothing, or this is not known.
    fn good_share(&mut self, game: &dyn Game) -> Option<f64> {
        let appraiser = self.appraiser?;
        if !game.is_provable() || self.solving > self.asking {
            return None;
        }
        let begun = Instant::now();
        let found = appraiser.position(game);
        self.solving += begun.elapsed();
        let holds = found.value.is_some_and(|value| value > Value::Loss);
        let count = |turns: usize| u32::try_from(turns).map_or(f64::INFINITY, f64::from);
        let share = || count(found.best.len()) / count(game.turns().count().max(1));
        (holds && found.undecided == 0).then(share)
    }
}

/// Its binary digits.
const fn few(count: usize) -> u32 {
    usize::BITS - count.leading_zeros()
}

/// What is in hand and on the board, wherever it is.
fn late_kind(game: &dyn Game) -> u64 {
    let free = game.free_cells();
    let request = game.request();
    let mut on_board = Vec::new();
    if free <= LATE {
        on_board.extend(request.chars());
        on_board.sort_unstable();
    }
    hash((4, on_board, free, request.chars().next_back()))
}

/// The turns of this side, by the rules: in some games a side has several in a row.
fn turns_of(ruleset: &dyn Ruleset, line: &PlayedLine, side: Side) -> Vec<TurnText> {
    let Ok(mut game) = ruleset.start_from(&line.start) else {
        return Vec::new();
    };
    let mut own = Vec::new();
    for turn in &line.turns {
        if game.to_move() == side {
            own.push(turn.clone());
        }
        if game.play(turn, &mut String::new()).is_err() {
            break;
        }
    }
    own
}

/// The record of what was found, like that of a match: a fault is committed again by the bot, the turns of another game
/// are known.
pub async fn record(
    runner: &GameRunner,
    bot: Seat,
    found: &FoundFault,
    id: String,
    bot_seed: u32,
) -> Result<FinishedGame, GameError> {
    let line = found.game.as_ref().unwrap_or(&found.line);
    let script = |side: Side| -> BuiltinBot {
        let mut own = turns_of(runner.ruleset(), line, side).into_iter();
        Box::new(move |_| {
            let turn = own.next().ok_or(RequestError::GameOver)?;
            Ok(turn.to_string())
        })
    };
    let bot = match &found.game {
        Some(_) => {
            let (name, command) = (bot.name().to_owned(), bot.command().to_vec());
            Seat::scripted(name, command, script(found.side))
        }
        None => bot,
    };
    let name = "hunt".to_owned();
    let opponent = Seat::scripted(name.clone(), vec![name], script(found.side.other()));
    let mut seats = [bot, opponent];
    let setup = GameSetup {
        number: 0,
        id,
        seed: 0,
        first: BotIndex::ALL[found.side.index()],
        start: &line.start,
        process_seeds: [bot_seed; 2],
    };
    let played = runner.run(&mut seats, &setup, None, &mut |_| Ok(())).await;
    stop_both(&mut seats, GracePeriods::POLITE).await?;
    played
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(turns: &[&str]) -> PlayedLine {
        let mut line = PlayedLine::at(String::new());
        line.turns
            .extend(turns.iter().map(|turn| TurnText::from(*turn)));
        line
    }

    #[test]
    fn a_game_shows_what_the_bot_did_and_not_its_opponent() {
        let found = FoundFault {
            line: line(&["4", "5"]),
            side: Side::First,
            question: String::new(),
            answer: Some("1".to_owned()),
            fault: None,
            game: None,
        };
        let game = line(&["4", "5", "1", "2"]);
        assert!(found.is_in(Side::First, &game));
        assert!(!found.is_in(Side::Second, &game));
        assert!(!found.is_in(Side::First, &line(&["4", "5", "2"])));
        assert!(!found.is_in(Side::First, &line(&["4", "5"])));
        assert!(!found.is_in(Side::First, &line(&["5", "4", "1"])));
    }
}
