//! Shows a match or a replay on a terminal.

use std::io::{self, Write};
use std::time::Duration;

use super::standings::{elo, figure, interval};
use super::terminal::{Palette, draw_within, styled, time};
use referee_match::bot::Fault;
use referee_match::bot::fault::Exit;
use referee_match::bot::fault::crash::explaining_line;
use referee_match::bot::info::as_text;

use referee_games::game::{Game, Mood, Picture, Side};
use referee_match::play::GameEvent;
use referee_match::play::game_runner::GameFault;
use referee_match::record::{BotIndex, FinishedRecord, Record};
use referee_stats::standings::{Collector, Place, Ranking};
use referee_text::{counted, cut, escape, escape_controls, short_name};

const STDERR_LINES: usize = 12;

const STDERR_COLUMNS: usize = 200;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Detail {
    /// Only the score of all games, and forfeits.
    Score,
    Results,
    /// Every turn and the board.
    Turns,
    /// Every line in both directions with its time.
    Lines,
}

pub struct TerminalView<O, E> {
    out: O,
    err: E,
    names: [String; 2],
    options: ViewOptions,
    games: u64,
    bots: [BotIndex; 2],
    turn: usize,
    /// Of several games.
    collector: Collector,
}

#[derive(Clone, Copy, Debug)]
pub struct ViewOptions {
    pub detail: Detail,
    pub palette: Palette,
    pub err_palette: Palette,
    /// Of the terminal that shows turns, if it is one.
    pub columns: Option<usize>,
    /// Whether only records go to `out`; turns then go to `err`.
    pub json: bool,
    /// Bots that are people at this terminal and must not see hidden information.
    pub people: [bool; 2],
}

impl<O: Write, E: Write> TerminalView<O, E> {
    pub fn new(names: [String; 2], games: u64, options: ViewOptions, out: O, err: E) -> Self {
        Self {
            out,
            err,
            names,
            options,
            games,
            bots: BotIndex::ALL,
            turn: 0,
            collector: Collector::new(),
        }
    }

    fn show(&mut self, text: &str) -> io::Result<()> {
        // A person who is to move must see it.
        if self.options.json {
            self.err.write_all(text.as_bytes())?;
            self.err.flush()
        } else {
            self.out.write_all(text.as_bytes())?;
            self.out.flush()
        }
    }

    /// Everything, unless a person is playing; two people at one terminal see what the side to move may see.
    fn picture(&self, session: &dyn Game) -> Picture {
        let is_person = |side: Side| self.options.people[self.bots[side.index()]];
        let viewer = match (is_person(Side::First), is_person(Side::Second)) {
            _ if session.outcome().is_some() => None,
            (false, false) => None,
            (true, false) => Some(Side::First),
            (false, true) => Some(Side::Second),
            (true, true) => Some(session.to_move()),
        };
        session.picture(viewer)
    }

    fn name(&self, side: Side) -> &str {
        &self.names[self.bots[side.index()]]
    }

    pub fn heading(
        &mut self,
        number: u64,
        bots: [BotIndex; 2],
        start: &dyn Game,
    ) -> io::Result<()> {
        self.bots = bots;
        self.turn = 0;
        if self.options.detail <= Detail::Results {
            return Ok(());
        }
        let palette = self.shown_palette();
        let game = (self.games > 1).then(|| format!("Game {}: ", number + 1));
        let game = game.unwrap_or_default();
        let ([one, other], begins) = (&self.names, self.name(start.to_move()));
        let heading = format!("{game}{one} against {other}, {begins} begins");
        let mut text = styled(palette.heading, &heading) + "\n";
        if start.as_start().chars().any(|symbol| symbol != '.') {
            text += &draw_within(&self.picture(start), &palette, self.options.columns);
        }
        self.show(&text)
    }

    fn shown_palette(&self) -> Palette {
        if self.options.json {
            self.options.err_palette
        } else {
            self.options.palette
        }
    }

    /// Explanation, position, reproducing command (`None` for a person), end of stderr.
    fn forfeit(&mut self, record: &Record, fault: &GameFault) -> io::Result<()> {
        let result = &record.result;
        let name = result.by.map_or("?", |by| self.names[by].as_str());
        let title = format!("{name} forfeits ({})", result.reason);
        let detail = result.detail.as_deref().unwrap_or("");
        let problem = styled(self.options.err_palette.problem, &title);
        writeln!(self.err, "{problem}: {detail}.")?;
        let Some(reproduce) = &fault.reproduce else {
            // A person saw the position.
            return Ok(());
        };
        let label = if fault.reproduced {
            "reproduced"
        } else {
            "reproduce"
        };
        let reproduce = format!("{label}: {reproduce}");
        circumstances(&mut self.err, record, &fault.request, None, &reproduce)
    }

    /// The end of a replayed game. A forfeit is shown as in the match: the bot was asked `request`; `reproduce`
    /// repeats it.
    pub fn closing(
        &mut self,
        record: &Record,
        request: &str,
        reproduce: Option<&str>,
    ) -> io::Result<()> {
        let detail = record.result.detail.as_deref().unwrap_or("");
        if !detail.is_empty() {
            writeln!(self.out, "\n{}", escape_controls(detail))?;
        }
        if let Some(reproduce) = reproduce.filter(|_| record.result.by.is_some()) {
            let answer = record.result.answer.as_deref().unwrap_or("");
            let reproduce = format!("reproduce: {reproduce}");
            circumstances(&mut self.out, record, request, Some(answer), &reproduce)?;
        }
        self.show("\n")?;
        self.result(record)?;
        self.show("\n")
    }

    fn result(&mut self, record: &Record) -> io::Result<()> {
        let line = escape_controls(&record.result_line());
        writeln!(self.out, "{}", styled(self.options.palette.heading, &line))?;
        self.out.flush()
    }

    pub fn score(&mut self, score: &referee_match::play::match_runner::Score) -> io::Result<()> {
        if self.options.json || self.games == 1 {
            return Ok(());
        }
        if let Ok(standings) = self.collector.standings(&Ranking::default()) {
            self.figures(&standings.places)?;
        }
        // Scripts read the last line.
        let ([a, b], [of_a, of_b]) = (&self.names, BotIndex::ALL.map(|bot| score.points(bot)));
        let won = counted(score.wins[0], "win", "wins");
        let drawn = counted(score.draws, "draw", "draws");
        let lost = counted(score.wins[1], "loss", "losses");
        let games = counted(score.games(), "game", "games");
        writeln!(
            self.out,
            "Score: {a} {of_a} - {of_b} {b} ({won}, {drawn}, {lost} in {games})."
        )?;
        self.out.flush()
    }

    /// What the score means, and how it came about.
    fn figures(&mut self, places: &[Place]) -> io::Result<()> {
        let [best, _] = places else { return Ok(()) };
        // The two ratings are opposite numbers.
        let ends = best.elo_interval.map(|end| 2.0 * end);
        let interval = interval(ends, [" to ", "at least", "at most"]);
        let los = best.los.map(|_| format!("; LOS {}", figure("los", best)));
        let (name, los) = (short_name(&best.name), los.unwrap_or_default());
        let difference = match ends.map(f64::is_finite) {
            [true, true] => format!("{} ({interval}, 95%)", elo(2.0 * best.elo)),
            _ => format!("{interval} (95%)"),
        };
        if !interval.is_empty() {
            writeln!(self.out, "Elo difference: {name} {difference}{los}.")?;
        }
        let tallies = self.collector.scores().tallies();
        let first = [0, 1].map(|bot| {
            let tally = tallies.get(&[bot, 1 - bot]).copied();
            let [wins, draws, losses] = tally.unwrap_or_default();
            let points = f64::from(2 * wins + draws) / 2.0;
            let games = wins + draws + losses;
            format!("{} {points} of {games}", short_name(&self.names[bot]))
        });
        writeln!(self.out, "Moving first: {}.", first.join(", "))?;
        let of = |key: &str| {
            let shown = places.iter().filter_map(|place| {
                let figure = Some(figure(key, place)).filter(|figure| !figure.is_empty())?;
                Some(format!("{} {figure}", short_name(&place.name)))
            });
            let shown = shown.collect::<Vec<_>>().join(", ");
            if shown.is_empty() {
                "none".to_owned()
            } else {
                shown
            }
        };
        write!(self.out, "Forfeits: {}.", of("forfeits"))?;
        // Elsewhere the same seed prints the same.
        if self.options.detail != Detail::Results {
            write!(self.out, "  Median answer: {}.", of("median_ms"))?;
        }
        writeln!(self.out)
    }
}

/// Request, answer, reproducing command, end of stderr.
fn circumstances(
    out: &mut impl Write,
    record: &Record,
    request: &str,
    answer: Option<&str>,
    reproduce: &str,
) -> io::Result<()> {
    writeln!(out, "  position: {}", escape_controls(request))?;
    match answer {
        Some("") => writeln!(out, "  answer: none")?,
        Some(answer) => writeln!(out, "  answer: {}", escape_controls(answer))?,
        None => {}
    }
    writeln!(out, "  {reproduce}")?;
    let stderr = record.result.stderr.as_deref().unwrap_or("").trim_end();
    if stderr.is_empty() {
        return Ok(());
    }
    let lines: Vec<&str> = stderr.lines().collect();
    let last = &lines[lines.len().saturating_sub(STDERR_LINES)..];
    // Stack frames may have pushed the error out.
    let error = explaining_line(stderr).filter(|error| {
        let mut last = last.iter();
        !last.any(|line| !line.is_empty() && error.contains(line))
    });
    writeln!(out, "  the end of its stderr:")?;
    for line in error.as_deref().iter().chain(last) {
        writeln!(out, "    {}", cut(&escape_controls(line), STDERR_COLUMNS))?;
    }
    Ok(())
}

/// What happens to a game whose clock ran out while the referee was stalled.
pub fn stall_sentence(why: &str, again: bool) -> String {
    let then = if again {
        "the game is void and is played again"
    } else {
        "it is not played again, so the result counts"
    };
    format!("{why}; {then}")
}

impl<O: Write, E: Write> TerminalView<O, E> {
    pub fn note(&mut self, event: &GameEvent<'_>) -> io::Result<()> {
        let detail = self.options.detail;
        match *event {
            GameEvent::Begins { setup, start } => {
                self.heading(setup.number, setup.seats_by_side(), start)
            }
            GameEvent::Stalled { why, again } => {
                writeln!(self.err, "referee: {}", stall_sentence(why, again))
            }
            GameEvent::Asked { side, request } if detail >= Detail::Lines => {
                let request = escape_controls(request.trim_end());
                self.show(&format!("  -> {}: {request}\n", self.name(side)))
            }
            GameEvent::Answered {
                side,
                line,
                elapsed,
            } if detail >= Detail::Lines => {
                let (line, time) = (escape(line), time(elapsed));
                self.show(&format!("  <- {}: {line} ({time})\n", self.name(side)))
            }
            GameEvent::Info { side, info } if detail >= Detail::Turns => {
                // A record may come from elsewhere.
                let text = escape_controls(&as_text(info));
                let line = format!("\n    {}: {text}", self.name(side));
                self.show(&styled(self.shown_palette().faint, &line))
            }
            GameEvent::Turn {
                side,
                after,
                elapsed,
                ..
            } if detail >= Detail::Turns => self.turn(side, after, elapsed),
            GameEvent::Ended { game, fault } => self.ended(game, fault),
            GameEvent::Benched {
                bot,
                failures,
                games_left,
            } => {
                let rest = match games_left {
                    1 => "game is scored as its forfeit".to_owned(),
                    games => format!("{games} games are scored as its forfeits"),
                };
                let name = &self.names[bot];
                writeln!(
                    self.err,
                    "{name} failed to give a first answer {failures} times in a row and is benched: the remaining \
                     {rest} without being played"
                )
            }
            _ => Ok(()),
        }
    }

    fn turn(&mut self, side: Side, after: &dyn Game, elapsed: Duration) -> io::Result<()> {
        self.turn += 1;
        let (palette, number) = (self.shown_palette(), self.turn);
        let name = styled(palette.heading, self.name(side));
        let turn = after.describe_last_turn(Mood::Told);
        let time = styled(palette.faint, &time(elapsed));
        let board = draw_within(&self.picture(after), &palette, self.options.columns);
        self.show(&format!("\n{number:>2}. {name} {turn}  {time}\n{board}"))
    }

    fn ended(&mut self, game: &FinishedRecord, fault: Option<&GameFault>) -> io::Result<()> {
        let record = game.record();
        // A person who quits needs no explanation.
        let left =
            |fault: &Fault| matches!(fault, Fault::Exited { exit, .. } if *exit == Exit::Left);
        if let Some(fault) = fault.filter(|fault| !left(&fault.fault)) {
            // Turns must appear first if both streams are one terminal.
            self.out.flush()?;
            self.forfeit(record, fault)?;
        }
        if self.games > 1 && !self.options.json {
            self.collector.add(&record.as_game());
        }
        if self.options.detail == Detail::Score {
            return Ok(());
        }
        if self.options.detail > Detail::Results {
            self.show("\n")?;
        }
        if self.options.json {
            self.out.write_all(game.line().as_bytes())?;
            return self.out.flush();
        }
        self.result(record)
    }
}
