//! Whether a game's program keeps to the protocol: what `referee game check` tries.

use std::fmt::Write as _;
use std::time::{Duration, Instant};

use rand::Rng;
use rand::seq::IndexedRandom as _;

use super::messages::DrawingReply;
use super::messages::{Question, Verdict};
use super::{GameProgram, GameProgramError, Position};
use crate::game::Side;
use crate::seed::{self, Purpose};
use crate::text::{counted, quote};

/// Of all choices.
const SEED: u64 = 1;

const GAMES: u64 = 20;

const DRAWN: usize = 100;

/// After this many turns a random game is given up.
const MOST_TURNS: usize = 2000;

/// A program that takes longer for a turn makes games of quick bots slow.
const SLOW: Duration = Duration::from_millis(20);

/// Answers that no bot should give.
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

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Level {
    Ok,
    /// It works, but something is missing or slow.
    Note,
    /// It must be fixed.
    Wrong,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    pub level: Level,
    pub what: &'static str,
    /// What was found, and what to do; may be empty.
    pub detail: String,
}

/// A failure of the program ends the checks; it is the last finding then. `check_svg` says what a page leaves out of
/// a drawing.
pub fn check(game: &GameProgram, check_svg: CheckSvg) -> Vec<Finding> {
    let mut checks = Checks {
        game,
        check_svg,
        findings: Vec::new(),
        positions: Vec::new(),
        states: Vec::new(),
        turns: 0,
        spent: Duration::ZERO,
        longest: Duration::ZERO,
    };
    if let Err(failure) = checks.run() {
        checks.add(
            Level::Wrong,
            "answers as the protocol says",
            failure.to_string(),
        );
    }
    checks.findings
}

/// What is left out of a drawing. The error says why all of it is.
pub type CheckSvg = fn(&str) -> Result<Vec<String>, String>;

struct Checks<'a> {
    game: &'a GameProgram,
    check_svg: CheckSvg,
    findings: Vec<Finding>,
    /// Positions in which the game is not over, with an answer that was legal there.
    positions: Vec<(Position, String)>,
    /// From the start to the end of games, for drawings.
    states: Vec<String>,
    turns: u32,
    spent: Duration,
    longest: Duration,
}

impl Checks<'_> {
    fn add(&mut self, level: Level, what: &'static str, detail: impl Into<String>) {
        self.findings.push(Finding {
            level,
            what,
            detail: detail.into(),
        });
    }

    fn run(&mut self) -> Result<(), GameProgramError> {
        let about = self.game.about();
        let words = format!("{}, rules {}", about.name, self.game.rules);
        self.add(Level::Ok, "says what it is", words);
        if about.about.is_empty() {
            let fix = "add the rules in a sentence or two as \"about\": people see them";
            self.add(Level::Note, "explains the rules", fix);
        }
        self.check_start()?;
        self.refuses_unknown_options()?;
        if !about.answers {
            let fix = "it does not list the legal answers (\"answers\"), so no random games were played, and there are \
                       neither builtin:random nor openings";
            self.add(Level::Note, "random games", fix);
            return Ok(());
        }
        self.play_games()?;
        self.same_again()?;
        self.refuses_nonsense()?;
        self.refuses_states()?;
        self.draws()?;
        self.time();
        Ok(())
    }

    fn check_start(&mut self) -> Result<(), GameProgramError> {
        let start = &self.game.start;
        if start.end.is_some() {
            self.add(
                Level::Wrong,
                "a game begins",
                "the game is over at its start",
            );
            return Ok(());
        }
        let again = self.game.position_at(0)?;
        if again != *start {
            let detail = "two starts with the same seed and options differ: all chance must come from the seed";
            self.add(Level::Wrong, "the same seed gives the same start", detail);
        }
        let mut differ = false;
        for seed in 1..=20 {
            differ |= self.game.position_at(seed)?.state != start.state;
        }
        match (self.game.about.chance, differ) {
            (true, false) => self.add(
                Level::Wrong,
                "chance",
                "it says \"chance\": true, and 20 seeds give the same start: put the seed, or what follows from it, into \
                 the state",
            ),
            (false, true) => self.add(
                Level::Wrong,
                "chance",
                "seeds give different starts: say \"chance\": true, so that each pair of games gets a start of its own",
            ),
            _ => self.add(Level::Ok, "a game begins", String::new()),
        }
        Ok(())
    }

    fn refuses_unknown_options(&mut self) -> Result<(), GameProgramError> {
        let name = "no-such-option".to_owned();
        let mut options = self.game.options.clone();
        options.insert(name, "1".to_owned());
        let question = Question::Start {
            options: &options,
            seed: 0,
        };
        if let Verdict::Position(_) = self.game.verdict(&question, None)? {
            let fix = "it accepts no-such-option=1: answer {\"error\": …}, so that a mistyped option is noticed";
            self.add(Level::Note, "refuses unknown options", fix);
        } else {
            self.add(Level::Ok, "refuses unknown options", String::new());
        }
        Ok(())
    }

    fn play_games(&mut self) -> Result<(), GameProgramError> {
        let (mut endings, mut longest, mut first) = ([0_u32; 3], 0, [0_u32; 2]);
        for number in 0..GAMES {
            let mut rng = seed::generator(SEED, Purpose::Checkup, [1, number]);
            let mut position = self.game.position_at(seed::for_start(SEED, number))?;
            let mut turns = 0;
            let mut asked = None;
            while position.end.is_none() {
                if turns == MOST_TURNS {
                    let detail = format!(
                        "a random game is not over after {MOST_TURNS} turns (state {}): bound the number of turns, \
                         since bots may play for ever, too",
                        quote(position.state.as_bytes())
                    );
                    self.add(Level::Wrong, "games end", detail);
                    return Ok(());
                }
                let answers = self.game.answers(&position.state)?;
                let Some(answer) = answers.choose(&mut rng) else {
                    let detail = format!(
                        "there is no legal answer in the state {}, and the game is not over",
                        quote(position.state.as_bytes())
                    );
                    self.add(Level::Wrong, "every position has a legal answer", detail);
                    return Ok(());
                };
                first[position.side.index()] += 1;
                let Some(after) = self.turn(&position, answer)? else {
                    return Ok(());
                };
                asked = Some((position, answer.clone()));
                position = after;
                turns += 1;
                self.note_state(&position, turns);
            }
            if let Some(asked) = asked {
                self.positions.push(asked);
            }
            longest = longest.max(turns);
            endings[match position.end.map(|end| end.outcome) {
                Some(crate::game::Outcome::Win(side)) => side.index(),
                _ => 2,
            }] += 1;
        }
        let detail = format!(
            "{GAMES} games of random bots: the first side won {}, the second {}, {}; {longest} turns at most",
            endings[0],
            endings[1],
            counted(u64::from(endings[2]), "draw", "draws"),
        );
        self.add(Level::Ok, "games end", detail);
        if first[1] == 0 {
            let fix = "only side 0 was ever to move: a bot on the other side would never be asked";
            self.add(Level::Wrong, "both sides move", fix);
        }
        Ok(())
    }

    /// `None`, noted, when a listed answer is not accepted.
    fn turn(
        &mut self,
        before: &Position,
        answer: &str,
    ) -> Result<Option<Position>, GameProgramError> {
        let began = Instant::now();
        let verdict = self.game.play(&before.state, answer)?;
        let time = began.elapsed();
        self.turns += 1;
        self.spent += time;
        self.longest = self.longest.max(time);
        let played = match verdict {
            Verdict::Position(played) => played,
            Verdict::Malformed(problem) | Verdict::Illegal(problem) | Verdict::Error(problem) => {
                let detail = format!(
                    "the answer {} is listed in the state {}, and refused: {problem}",
                    quote(answer.as_bytes()),
                    quote(before.state.as_bytes())
                );
                self.add(Level::Wrong, "listed answers are legal", detail);
                return Ok(None);
            }
        };
        // A record has the canonical form, which must lead to the same position.
        if played.turn != answer {
            let again = self.game.play(&before.state, &played.turn)?;
            if !matches!(&again, Verdict::Position(again) if *again == played) {
                let detail = format!(
                    "{} in the state {} becomes the turn {}, which, played itself, does not lead to the same",
                    quote(answer.as_bytes()),
                    quote(before.state.as_bytes()),
                    quote(played.turn.as_bytes())
                );
                self.add(Level::Wrong, "turns can be played again", detail);
                return Ok(None);
            }
        }
        Ok(Some(played.position))
    }

    /// Some states of the first games, the last ones included.
    fn note_state(&mut self, position: &Position, turns: usize) {
        let is_chosen = position.end.is_some() || turns.is_multiple_of(3);
        if is_chosen && self.states.len() < DRAWN {
            self.states.push(position.state.clone());
        }
    }

    /// In another order: no answer may depend on what was asked before.
    fn same_again(&mut self) -> Result<(), GameProgramError> {
        let positions = self.positions.clone();
        for (before, answer) in positions.iter().rev() {
            let again = self.game.position(&before.state)?;
            if again.as_ref() != Ok(before) {
                let detail = format!(
                    "the position of the state {} is another one when it is asked for again: {}",
                    quote(before.state.as_bytes()),
                    difference(before, again.as_ref())
                );
                self.add(
                    Level::Wrong,
                    "the same question has the same answer",
                    detail,
                );
                return Ok(());
            }
            let mut ends = Vec::new();
            for _ in 0..2 {
                if let Verdict::Position(played) = self.game.play(&before.state, answer)? {
                    ends.push(played);
                }
            }
            if ends.len() != 2 || ends[0] != ends[1] {
                let detail = format!(
                    "{} in the state {} led to different positions: all that decides must be in the state",
                    quote(answer.as_bytes()),
                    quote(before.state.as_bytes())
                );
                self.add(
                    Level::Wrong,
                    "the same question has the same answer",
                    detail,
                );
                return Ok(());
            }
        }
        self.add(
            Level::Ok,
            "the same question has the same answer",
            String::new(),
        );
        Ok(())
    }

    fn refuses_nonsense(&mut self) -> Result<(), GameProgramError> {
        let mut rng = seed::generator(SEED, Purpose::Checkup, [2, 0]);
        let mut accepted = String::new();
        for (position, legal) in self.positions.clone().iter().take(5) {
            let listed = self.game.answers(&position.state)?;
            let mut tried: Vec<String> = NONSENSE.iter().map(|&text| text.to_owned()).collect();
            tried.push(format!("{legal} {legal}"));
            tried.push(scrambled(legal, &mut rng));
            for answer in tried {
                if listed.contains(&answer) {
                    continue;
                }
                if let Verdict::Position(played) = self.game.play(&position.state, &answer)?
                    && !listed.contains(&played.turn)
                    && accepted.is_empty()
                {
                    let _ = write!(
                        accepted,
                        "{} is accepted as {} in the state {}, and not listed there",
                        quote(answer.as_bytes()),
                        quote(played.turn.as_bytes()),
                        quote(position.state.as_bytes())
                    );
                }
            }
        }
        let level = if accepted.is_empty() {
            Level::Ok
        } else {
            Level::Wrong
        };
        self.add(level, "refuses nonsense from bots", accepted);
        Ok(())
    }

    /// States come from records and openings, which people write.
    fn refuses_states(&mut self) -> Result<(), GameProgramError> {
        let mut accepted = None;
        for state in NONSENSE.iter().filter(|state| !state.is_empty()) {
            let question = Question::Position { state };
            if let Verdict::Position(_) = self.game.verdict(&question, None)? {
                accepted = Some(state);
            }
        }
        match accepted {
            None => self.add(Level::Ok, "refuses nonsense as a state", String::new()),
            Some(state) => {
                let fix = format!(
                    "it accepts {}: answer {{\"error\": …}}",
                    quote(state.as_bytes())
                );
                self.add(Level::Note, "refuses nonsense as a state", fix);
            }
        }
        Ok(())
    }

    fn time(&mut self) {
        if self.turns == 0 {
            return;
        }
        let mean = self.spent / self.turns;
        let detail = format!(
            "{:.2} ms a turn, {:.1} ms at most",
            mean.as_secs_f64() * 1e3,
            self.longest.as_secs_f64() * 1e3
        );
        let level = if mean > SLOW { Level::Note } else { Level::Ok };
        self.add(level, "is quick", detail);
    }
}

fn difference(before: &Position, again: Result<&Position, &String>) -> String {
    match again {
        Err(problem) => format!("it is refused: {problem}"),
        Ok(again) if again.request != before.request => format!(
            "the request was {} and is {}",
            quote(before.request.as_bytes()),
            quote(again.request.as_bytes())
        ),
        Ok(again) if again.side != before.side => "the other side is to move".to_owned(),
        Ok(_) => "its end is another one".to_owned(),
    }
}

fn scrambled(text: &str, rng: &mut impl Rng) -> String {
    let symbols: Vec<char> = text.chars().collect();
    (0..=symbols.len())
        .filter_map(|_| symbols.choose(rng))
        .collect()
}

impl Checks<'_> {
    fn draws(&mut self) -> Result<(), GameProgramError> {
        if !self.game.about.drawing {
            let fix = "it does not draw (\"drawing\"): people see the state instead of a board";
            self.add(Level::Note, "draws", fix);
            return Ok(());
        }
        for state in self.states_to_draw() {
            let drawing = self.game.drawing(&state, None)?;
            let Some(svg) = drawing.and_then(|drawing| drawing.svg) else {
                continue;
            };
            let of_state = format!("the \"svg\" of the state {}", quote(state.as_bytes()));
            let detail = match (self.check_svg)(&svg) {
                Err(problem) => format!("{of_state} is not shown: {problem}"),
                Ok(left_out) if !left_out.is_empty() => {
                    let names = left_out.join(", ");
                    format!(
                        "{of_state} is shown without {names} (protocol-games.md lists what is shown)"
                    )
                }
                Ok(_) => continue,
            };
            self.add(Level::Note, "draws", detail);
            return Ok(());
        }
        self.add(Level::Ok, "draws", String::new());
        if self.game.about.hidden {
            self.hides()?;
        }
        Ok(())
    }

    fn states_to_draw(&self) -> Vec<String> {
        let start = std::iter::once(&self.game.start.state);
        let asked = self.positions.iter().map(|(position, _)| &position.state);
        start.chain(&self.states).chain(asked).cloned().collect()
    }

    /// Whether the sides see different things somewhere.
    fn hides(&mut self) -> Result<(), GameProgramError> {
        let mut differ = false;
        for state in self.states_to_draw() {
            let seen = |viewer| -> Result<Option<DrawingReply>, GameProgramError> {
                self.game.drawing(&state, viewer)
            };
            let (first, second) = (seen(Some(Side::First))?, seen(Some(Side::Second))?);
            differ |= first != second;
        }
        if differ {
            self.add(Level::Ok, "hides", String::new());
        } else {
            let fix = "it says \"hidden\": true, and both sides are shown the same: leave out of a drawing what its \"side\" may not see";
            self.add(Level::Wrong, "hides", fix);
        }
        Ok(())
    }
}
