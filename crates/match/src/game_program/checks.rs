//! Whether a game's program keeps to the protocol: what `referee game check` tries.

use std::time::{Duration, Instant};

use rand::Rng;
use rand::seq::IndexedRandom as _;
use serde::Serialize;

use super::failure::{ProgramError, ProgramFailure};
use super::messages::Question;
use super::{GameProgram, Position};
use crate::seed::{self, Purpose};
use referee_games::game::{Outcome, Rejection, Side};
use referee_text::{counted, quote};

const SEED: u64 = 1;

const GAMES: u64 = 20;

const DRAWN: usize = 100;

/// After this many turns a random game is given up.
const MOST_TURNS: usize = 2000;

/// A program that takes longer for a turn makes games of quick bots slow.
const SLOW: Duration = Duration::from_millis(20);

const NONSENSE: [&str; 9] = [
    "",
    "x",
    "-1",
    "99999999999999999999",
    "1 2 3 4 5 6 7 8 9",
    "null",
    "\"}",
    "½ ü 𝟙",
    "nan",
];

/// In characters.
const HUGE: usize = 1000;

/// In the place of a number of a state.
const NUMBERS: [&str; 3] = ["7", "-1", "99999999999999999999"];

/// How many states are changed.
const CHANGED: usize = 6;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Level {
    Ok,
    /// It works, but something is missing or slow.
    Note,
    /// It must be fixed.
    Wrong,
}

impl Level {
    pub const fn name(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Note => "note",
            Self::Wrong => "wrong",
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Finding {
    pub level: Level,
    #[serde(rename = "check")]
    pub what: &'static str,
    /// What was found, and what to do; may be empty.
    pub detail: String,
}

/// What is left out of a drawing. The error says why all of it is.
pub type CheckSvg = fn(&str) -> Result<Vec<String>, String>;

/// A failure of the program ends the checks; it is the last finding then. `check_svg` says what a page leaves out of
/// a drawing.
pub fn check(game: &GameProgram, check_svg: CheckSvg) -> Vec<Finding> {
    let mut checks = Checks {
        game,
        check_svg,
        findings: Vec::new(),
        positions: Vec::new(),
        states: vec![game.start.state.clone()],
        times: Vec::new(),
        moved: [false; 2],
    };
    if let Err(failure) = checks.run() {
        let what = "answers as the protocol says";
        checks.add(Level::Wrong, what, failure.to_string());
    }
    checks.findings
}

struct Checks<'a> {
    game: &'a GameProgram,
    check_svg: CheckSvg,
    findings: Vec<Finding>,
    /// Positions in which the game is not over, with an answer that was legal there.
    positions: Vec<(Position, String)>,
    /// From the start to the end of games, for drawings.
    states: Vec<String>,
    times: Vec<Duration>,
    moved: [bool; 2],
}

enum Problem {
    Failure(ProgramError),
    Found(&'static str, String),
}

impl From<ProgramError> for Problem {
    fn from(error: ProgramError) -> Self {
        Self::Failure(error)
    }
}

impl From<ProgramFailure> for Problem {
    fn from(failure: ProgramFailure) -> Self {
        Self::Failure(failure.into())
    }
}

type Checked = Result<String, Problem>;

fn problem<T>(what: &'static str, detail: impl Into<String>) -> Result<T, Problem> {
    Err(Problem::Found(what, detail.into()))
}

const SAME: &str = "the same question has the same answer";

impl Checks<'_> {
    fn add(&mut self, level: Level, what: &'static str, detail: impl Into<String>) {
        self.findings.push(Finding {
            level,
            what,
            detail: detail.into(),
        });
    }

    /// Whether nothing is wrong; `level` is that of a problem.
    fn note(
        &mut self,
        level: Level,
        what: &'static str,
        check: fn(&mut Self) -> Checked,
    ) -> Result<bool, ProgramError> {
        match check(self) {
            Ok(detail) => self.add(Level::Ok, what, detail),
            Err(Problem::Found(what, detail)) => {
                self.add(level, what, detail);
                return Ok(false);
            }
            Err(Problem::Failure(failure)) => return Err(failure),
        }
        Ok(true)
    }

    fn run(&mut self) -> Result<(), ProgramError> {
        let about = self.game.about();
        let words = format!("{}, rules {}", about.name, self.game.rules);
        self.add(Level::Ok, "says what it is", words);
        if about.about.is_empty() {
            let fix = "add the rules in a sentence or two as \"about\": people see them";
            self.add(Level::Note, "explains the rules", fix);
        }
        self.note(Level::Wrong, "a game begins", Self::check_start)?;
        let options = Self::refuses_unknown_options;
        self.note(Level::Note, "refuses unknown options", options)?;
        if !about.answers {
            let fix = "it does not list the legal answers (\"answers\"), so no random games were played, and there are \
                       neither builtin:random nor openings";
            self.add(Level::Note, "random games", fix);
            return Ok(());
        }
        let are_played = self.note(Level::Wrong, "games end", Self::play_games)?;
        if are_played && !self.moved[1] {
            let fix = "only side 0 was ever to move: a bot on the other side would never be asked";
            self.add(Level::Wrong, "both sides move", fix);
        }
        self.note(Level::Wrong, SAME, Self::same_again)?;
        let nonsense = Self::refuses_nonsense;
        self.note(Level::Wrong, "refuses nonsense from bots", nonsense)?;
        let states = Self::refuses_states;
        self.note(Level::Note, "refuses nonsense as a state", states)?;
        if self.note(Level::Note, "draws", Self::draws)? && about.hidden {
            self.note(Level::Wrong, "hides", Self::hides)?;
        }
        let changed = Self::answers_for_changed_states;
        self.note(Level::Wrong, "refuses states out of range", changed)?;
        if let Some(longest) = self.times.iter().max() {
            let turns = u32::try_from(self.times.len()).unwrap_or(u32::MAX);
            let mean = self.times.iter().sum::<Duration>() / turns;
            let [mean_ms, longest_ms] = [mean, *longest].map(|time| time.as_secs_f64() * 1e3);
            let detail = format!("{mean_ms:.2} ms a turn, {longest_ms:.1} ms at most");
            let level = if mean > SLOW { Level::Note } else { Level::Ok };
            self.add(level, "is quick", detail);
        }
        Ok(())
    }

    fn check_start(&mut self) -> Checked {
        let start = &self.game.start;
        if start.end.is_some() {
            return problem("a game begins", "the game is over at its start");
        }
        if self.game.position_at(0)? != *start {
            let detail = "two starts with the same seed and options differ: all chance must come from the seed";
            return problem("the same seed gives the same start", detail);
        }
        let mut differ = false;
        for seed in 1..=20 {
            differ |= self.game.position_at(seed)?.state != start.state;
        }
        let detail = match (self.game.about.chance, differ) {
            (true, false) => {
                "it says \"chance\": true, and 20 seeds give the same start: put the seed, or what follows from it, into \
                 the state"
            }
            (false, true) => {
                "seeds give different starts: say \"chance\": true, so that each pair of games gets a start of its own"
            }
            _ => return Ok(String::new()),
        };
        problem("chance", detail)
    }

    fn refuses_unknown_options(&mut self) -> Checked {
        let mut options = self.game.options.clone();
        options.insert("no-such-option".to_owned(), "1".to_owned());
        let question = Question::Start {
            options: &options,
            seed: 0,
        };
        if self.game.verdict(&question, None)?.is_ok() {
            let fix = "it accepts no-such-option=1: answer {\"error\": …}, so that a mistyped option is noticed";
            return problem("refuses unknown options", fix);
        }
        Ok(String::new())
    }

    fn play_games(&mut self) -> Checked {
        let (mut endings, mut longest) = ([0_u32; 3], 0);
        for number in 0..GAMES {
            let mut rng = seed::generator(SEED, Purpose::Checkup, [1, number]);
            let mut position = self.game.position_at(seed::for_start(SEED, number))?;
            let mut turns = 0;
            let mut asked = None;
            while position.end.is_none() {
                let state = quote(position.state.as_bytes());
                if turns == MOST_TURNS {
                    let detail = format!(
                        "a random game is not over after {MOST_TURNS} turns (state {state}): bound the number of turns, \
                         since bots may play for ever, too"
                    );
                    return problem("games end", detail);
                }
                let answers = self.game.answers(&position.state)?;
                let Some(answer) = answers.choose(&mut rng) else {
                    let detail = format!(
                        "there is no legal answer in the state {state}, and the game is not over"
                    );
                    return problem("every position has a legal answer", detail);
                };
                self.moved[position.side.index()] = true;
                let after = self.turn(&position, answer)?;
                asked = Some((position, answer.clone()));
                position = after;
                turns += 1;
                // Some states of the first games, the last ones included.
                let is_chosen = position.end.is_some() || turns.is_multiple_of(3);
                if is_chosen && self.states.len() <= DRAWN {
                    self.states.push(position.state.clone());
                }
            }
            self.positions.extend(asked);
            longest = longest.max(turns);
            endings[match position.end.map(|end| end.outcome) {
                Some(Outcome::Win(side)) => side.index(),
                _ => 2,
            }] += 1;
        }
        Ok(format!(
            "{GAMES} games of random bots: the first side won {}, the second {}, {}; {longest} turns at most",
            endings[0],
            endings[1],
            counted(u64::from(endings[2]), "draw", "draws"),
        ))
    }

    fn turn(&mut self, before: &Position, answer: &str) -> Result<Position, Problem> {
        let began = Instant::now();
        let verdict = self.game.play(&before.state, answer)?;
        self.times.push(began.elapsed());
        let [shown, state] = [answer, &before.state].map(|text| quote(text.as_bytes()));
        let played = match verdict {
            Ok(played) => played,
            Err(refusal) => {
                let detail = format!(
                    "the answer {shown} is listed in the state {state}, and refused: {refusal}"
                );
                return problem("listed answers are legal", detail);
            }
        };
        // A record has the canonical form, which must lead to the same position.
        if played.turn != answer
            && self.game.play(&before.state, &played.turn)?.as_ref() != Ok(&played)
        {
            let detail = format!(
                "{shown} in the state {state} becomes the turn {}, which, played itself, does not lead to the same",
                quote(played.turn.as_bytes())
            );
            return problem("turns can be played again", detail);
        }
        Ok(played.position)
    }

    /// In another order: no answer may depend on what was asked before.
    fn same_again(&mut self) -> Checked {
        for (before, answer) in self.positions.iter().rev() {
            let [shown, state] = [answer, &before.state].map(|text| quote(text.as_bytes()));
            if self.game.position(&before.state)?.as_ref() != Ok(before) {
                let detail = format!(
                    "the position of the state {state} is another one when it is asked for again"
                );
                return problem(SAME, detail);
            }
            let first = self.game.play(&before.state, answer)?;
            if first.is_err() || self.game.play(&before.state, answer)? != first {
                let detail = format!(
                    "{shown} in the state {state} led to different positions: all that decides must be in the state"
                );
                return problem(SAME, detail);
            }
            let after = first.map(|played| played.position);
            if let Ok(after) = after
                && self.position_of(&after.state)?.as_ref() != Ok(&after)
            {
                let detail = format!(
                    "after {shown} in the state {state} the position of {} is another one when it is asked for",
                    quote(after.state.as_bytes())
                );
                return problem(SAME, detail);
            }
        }
        Ok(String::new())
    }

    fn refuses_nonsense(&mut self) -> Checked {
        let mut rng = seed::generator(SEED, Purpose::Checkup, [2, 0]);
        // Also what was legal at the start, and what is much too long.
        let mut nonsense = self.game.answers(&self.game.start.state)?;
        nonsense.extend(NONSENSE.iter().map(|&text| text.to_owned()));
        nonsense.push("9".repeat(HUGE));
        for (position, legal) in self.positions.iter().take(5) {
            let listed = self.game.answers(&position.state)?;
            let mut tried = nonsense.clone();
            tried.push(format!("{legal} {legal}"));
            tried.push(scrambled(legal, &mut rng));
            tried.retain(|answer| !listed.contains(answer));
            for answer in tried {
                if let Ok(played) = self.game.play(&position.state, &answer)?
                    && !listed.contains(&played.turn)
                {
                    let [answer, turn, state] =
                        [&answer, &played.turn, &position.state].map(|text| quote(text.as_bytes()));
                    let detail = format!(
                        "{answer} is accepted as {turn} in the state {state}, and not listed there"
                    );
                    return problem("refuses nonsense from bots", detail);
                }
            }
        }
        Ok(String::new())
    }

    /// States come from records and openings, which people write.
    fn refuses_states(&mut self) -> Checked {
        for state in NONSENSE.iter().filter(|state| !state.is_empty()) {
            let question = Question::Position { state };
            if self.game.verdict(&question, None)?.is_ok() {
                let state = quote(state.as_bytes());
                let fix = format!("it accepts {state}: answer {{\"error\": …}}");
                return problem("refuses nonsense as a state", fix);
            }
        }
        Ok(String::new())
    }

    /// That of any state, the start's included, as the program says it.
    fn position_of(&self, state: &str) -> Result<Result<Position, Rejection>, ProgramFailure> {
        let verdict = self.game.verdict(&Question::Position { state }, None)?;
        Ok(verdict.map(|played| played.position))
    }

    /// A state with other numbers is refused, or it is a position that does not contradict itself.
    fn answers_for_changed_states(&mut self) -> Checked {
        let what = "refuses states out of range";
        let states: Vec<String> = self.states.iter().take(CHANGED).cloned().collect();
        for state in states.iter().flat_map(|state| changed(state)) {
            let shown = quote(state.as_bytes());
            let fix = "answer {\"error\": …} to \"position\" for a state that no game has";
            let found = match self.contradiction(&state) {
                Ok(found) => found,
                // After a failure it is not asked any more.
                Err(failure) => Some(failure.to_string()),
            };
            if let Some(found) = found {
                return problem(what, format!("in the state {shown}: {found}; {fix}"));
            }
        }
        Ok(String::new())
    }

    /// `None` when the state is refused, or all that is said of it fits together.
    fn contradiction(&self, state: &str) -> Result<Option<String>, ProgramFailure> {
        let Ok(position) = self.position_of(state)? else {
            return Ok(None);
        };
        if position.state != state {
            let other = quote(position.state.as_bytes());
            return Ok(Some(format!("the position has another state, {other}")));
        }
        if self.game.about.drawing {
            self.game.drawing(state, None)?;
        }
        if position.end.is_some() {
            return Ok(None);
        }
        let answers = self.game.answers(state)?;
        let Some(answer) = answers.first() else {
            return Ok(Some(
                "the game is not over, and there is no legal answer".to_owned(),
            ));
        };
        let answer_shown = quote(answer.as_bytes());
        let Ok(played) = self.game.play(state, answer)? else {
            return Ok(Some(format!(
                "the answer {answer_shown} is listed, and refused"
            )));
        };
        let after = played.position;
        if self.position_of(&after.state)?.as_ref() != Ok(&after) {
            let state = quote(after.state.as_bytes());
            return Ok(Some(format!(
                "{answer_shown} leads to {state}, of which it says otherwise when it is asked"
            )));
        }
        Ok(None)
    }

    fn draws(&mut self) -> Checked {
        if !self.game.about.drawing {
            let fix = "it does not draw (\"drawing\"): people see the state instead of a board";
            return problem("draws", fix);
        }
        let asked = self.positions.iter().map(|(position, _)| &position.state);
        self.states.extend(asked.cloned());
        for state in &self.states {
            let drawing = self.game.drawing(state, None)?;
            let Some(svg) = drawing.and_then(|drawing| drawing.svg) else {
                continue;
            };
            let of_state = format!("the \"svg\" of the state {}", quote(state.as_bytes()));
            let detail = match (self.check_svg)(&svg) {
                Ok(left_out) if left_out.is_empty() => continue,
                Ok(left_out) => format!(
                    "{of_state} is shown without {} (protocol-games.md lists what is shown)",
                    left_out.join(", ")
                ),
                Err(why) => format!("{of_state} is not shown: {why}"),
            };
            return problem("draws", detail);
        }
        Ok(String::new())
    }

    /// Whether the sides see different things somewhere.
    fn hides(&mut self) -> Checked {
        for state in &self.states {
            let [first, second] = Side::BOTH.map(|side| self.game.drawing(state, Some(side)));
            if first? != second? {
                return Ok(String::new());
            }
        }
        let fix = "it says \"hidden\": true, and both sides are shown the same: leave out of a drawing what its \"side\" may not see";
        problem("hides", fix)
    }
}

/// The state with other numbers: each of them alone, and all of them.
fn changed(state: &str) -> Vec<String> {
    let is_digit = |symbol: char| symbol.is_ascii_digit();
    let mut spans = Vec::new();
    let mut from = 0;
    while let Some(start) = state[from..].find(is_digit).map(|at| from + at) {
        let length = state[start..].find(|symbol| !is_digit(symbol));
        from = length.map_or(state.len(), |length| start + length);
        spans.push(start..from);
    }
    let mut found = Vec::new();
    for number in NUMBERS {
        let mut all = state.to_owned();
        for span in spans.iter().rev() {
            let mut one = state.to_owned();
            one.replace_range(span.clone(), number);
            all.replace_range(span.clone(), number);
            found.push(one);
        }
        found.push(all);
    }
    found.retain(|other| other != state);
    found
}

fn scrambled(text: &str, rng: &mut impl Rng) -> String {
    let symbols: Vec<char> = text.chars().collect();
    (0..=symbols.len())
        .filter_map(|_| symbols.choose(rng))
        .collect()
}
