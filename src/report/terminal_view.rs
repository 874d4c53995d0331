//! A match as it goes on: turns and boards, faults, results.

use std::io::{self, Write};
use std::time::Duration;

use super::terminal::{Palette, draw, styled, time};
use crate::bot::Fault;
use crate::bot::fault::Exit;
use crate::game::Side;
use crate::play::GameObserver;
use crate::play::match_runner::{MatchGame, MatchObserver};
use crate::play::setup::GameSetup;
use crate::record::{BotIndex, Record};
use crate::session::Session;
use crate::text::{counted, escape, escape_controls};

/// How many lines of a bot's stderr are shown with its forfeit.
const STDERR_LINES: usize = 12;

/// How much of such a line is shown, in characters.
const STDERR_COLUMNS: usize = 200;

/// How much is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Detail {
    /// Results only.
    Results,
    /// Every turn and the board.
    Turns,
    /// Also every line each way with its time.
    Lines,
}

/// What to write for whom.
pub struct Screen<O, E> {
    /// Results, and turns.
    out: O,
    /// Faults and warnings.
    err: E,
    /// Names by bot.
    names: [String; 2],
    detail: Detail,
    palette: Palette,
    err_palette: Palette,
    /// JSON lines instead of result lines.
    json: bool,
    /// Number of games to come, for headings.
    games: u64,
    /// Bots by side, in the current game.
    bots: [BotIndex; 2],
    turn: usize,
}

/// How a [`Screen`] looks.
#[derive(Clone, Copy, Debug)]
pub struct Look {
    /// How much is shown.
    pub detail: Detail,
    /// Styles for results.
    pub palette: Palette,
    /// Styles for faults.
    pub err_palette: Palette,
    /// Records on `out` and nothing else; turns then go to `err`.
    pub json: bool,
}

impl<O: Write, E: Write> Screen<O, E> {
    /// Shows games between the bots of these names.
    pub const fn new(names: [String; 2], games: u64, look: Look, out: O, err: E) -> Self {
        Self {
            out,
            err,
            names,
            detail: look.detail,
            palette: look.palette,
            err_palette: look.err_palette,
            json: look.json,
            games,
            bots: BotIndex::ALL,
            turn: 0,
        }
    }

    /// What is shown of the game as it goes on.
    fn show(&mut self, text: &str) -> io::Result<()> {
        if self.json {
            self.err.write_all(text.as_bytes())
        } else {
            self.out.write_all(text.as_bytes())
        }
    }

    fn name(&self, side: Side) -> &str {
        &self.names[self.bots[side.index()]]
    }

    /// A game's heading.
    pub fn heading(
        &mut self,
        number: u64,
        bots: [BotIndex; 2],
        start: &dyn Session,
    ) -> io::Result<()> {
        self.bots = bots;
        self.turn = 0;
        if self.detail == Detail::Results {
            return Ok(());
        }
        let palette = self.shown_palette();
        let game = if self.games == 1 {
            String::new()
        } else {
            format!("Game {}: ", number + 1)
        };
        let heading = format!(
            "{game}{} against {}, {} begins",
            self.names[0],
            self.names[1],
            self.name(start.to_move())
        );
        let mut text = styled(palette.heading, &heading);
        text.push('\n');
        let mut board = String::new();
        start.write_board(&mut board);
        if board.chars().any(|symbol| symbol != '.') {
            text.push_str(&draw(&start.picture(), &palette));
        }
        self.show(&text)?;
        // The first question may be one for a person.
        self.out.flush()
    }

    fn shown_palette(&self) -> Palette {
        if self.json {
            self.err_palette
        } else {
            self.palette
        }
    }

    /// A forfeit: the sentence, the position, how to see it again, and the bot's last words.
    fn forfeit(&mut self, record: &Record, board: &str, again: Option<&str>) -> io::Result<()> {
        let result = &record.result;
        let name = result.by.map_or("?", |by| self.names[by].as_str());
        let title = format!("{name} forfeits ({})", result.reason);
        let detail = result.detail.as_deref().unwrap_or("");
        let problem = styled(self.err_palette.problem, &title);
        writeln!(self.err, "{problem}: {detail}.")?;
        let Some(again) = again else {
            // A person saw the position, and need not be asked again.
            return Ok(());
        };
        writeln!(self.err, "  position: {}", escape_controls(board))?;
        writeln!(self.err, "  see it again: {again}")?;
        let stderr = result.stderr.as_deref().unwrap_or("").trim_end();
        if stderr.is_empty() {
            return Ok(());
        }
        let lines: Vec<&str> = stderr.lines().collect();
        writeln!(self.err, "  the end of its stderr:")?;
        for line in &lines[lines.len().saturating_sub(STDERR_LINES)..] {
            let mut chars = line.chars();
            let start: String = chars.by_ref().take(STDERR_COLUMNS).collect();
            let more = if chars.next().is_some() { "…" } else { "" };
            writeln!(self.err, "    {start}{more}")?;
        }
        Ok(())
    }

    /// The end of a game that is shown again.
    pub fn closing(&mut self, record: &Record) -> io::Result<()> {
        let detail = record.result.detail.as_deref().unwrap_or("");
        if !detail.is_empty() {
            writeln!(self.out, "\n{}", escape_controls(detail))?;
        }
        self.show("\n")?;
        self.result(record)?;
        self.show("\n")
    }

    /// A game's result.
    pub fn result(&mut self, record: &Record) -> io::Result<()> {
        if self.json {
            serde_json::to_writer(&mut self.out, record)?;
            self.out.write_all(b"\n")?;
        } else {
            let line = styled(
                self.palette.heading,
                &escape_controls(&record.result_line()),
            );
            writeln!(self.out, "{line}")?;
        }
        self.out.flush()
    }

    /// The last line of several games.
    pub fn score(&mut self, score: &crate::play::match_runner::Score) -> io::Result<()> {
        if self.json || self.games == 1 {
            return Ok(());
        }
        writeln!(
            self.out,
            "Score: {} {} - {} {} ({}, {}, {} in {}).",
            self.names[0],
            score.points(BotIndex::A),
            score.points(BotIndex::B),
            self.names[1],
            counted(score.wins[0], "win", "wins"),
            counted(score.draws, "draw", "draws"),
            counted(score.wins[1], "loss", "losses"),
            counted(score.games(), "game", "games")
        )?;
        self.out.flush()
    }
}

/// What becomes of a game in which a clock ran out that the referee may be to blame for.
pub fn stall_sentence(why: &str, again: bool) -> String {
    let then = if again {
        "the game is void and is played again"
    } else {
        "it has been played often enough, so the result counts"
    };
    format!("{why}; {then}")
}

impl<O: Write, E: Write> GameObserver for Screen<O, E> {
    fn begins(&mut self, setup: &GameSetup<'_>, start: &dyn Session) -> io::Result<()> {
        self.heading(setup.number, setup.seats_by_side(), start)
    }

    fn stalled(&mut self, why: &str, again: bool) -> io::Result<()> {
        writeln!(self.err, "referee: {}", stall_sentence(why, again))
    }

    fn asked(&mut self, side: Side, request: &str) -> io::Result<()> {
        if self.detail < Detail::Lines {
            return Ok(());
        }
        let line = format!(
            "  -> {}: {}\n",
            self.name(side),
            escape_controls(request.trim_end())
        );
        self.show(&line)
    }

    fn answered(&mut self, side: Side, line: &[u8], elapsed: Duration) -> io::Result<()> {
        if self.detail < Detail::Lines {
            return Ok(());
        }
        let line = format!(
            "  <- {}: {} ({})\n",
            self.name(side),
            escape(line),
            time(elapsed)
        );
        self.show(&line)
    }

    fn turn(
        &mut self,
        side: Side,
        _: &str,
        after: &dyn Session,
        elapsed: Duration,
    ) -> io::Result<()> {
        if self.detail == Detail::Results {
            return Ok(());
        }
        self.turn += 1;
        let palette = self.shown_palette();
        let text = format!(
            "\n{:>2}. {} {}  {}\n{}",
            self.turn,
            styled(palette.heading, self.name(side)),
            after.describe_last_turn(),
            styled(palette.faint, &time(elapsed)),
            draw(&after.picture(), &palette)
        );
        self.show(&text)?;
        if self.json {
            self.err.flush()
        } else {
            self.out.flush()
        }
    }
}

impl<O: Write, E: Write> MatchObserver for Screen<O, E> {
    fn ended(&mut self, game: &MatchGame<'_>) -> io::Result<()> {
        // Who leaves knows.
        let left = |fault: &Fault| {
            matches!(
                fault,
                Fault::Exited {
                    exit: Exit::Left,
                    ..
                }
            )
        };
        if let Some(fault) = game.fault
            && !left(&fault.fault)
        {
            // The turns come first, also when both go to one terminal.
            self.out.flush()?;
            self.forfeit(game.record, &fault.request, fault.reproduce.as_deref())?;
        }
        if self.detail > Detail::Results {
            self.show("\n")?;
        }
        self.result(game.record)
    }

    fn benched(&mut self, bot: BotIndex, failures: u32, games_left: u64) -> io::Result<()> {
        let rest = if games_left == 1 {
            "the remaining game is scored as its forfeit".to_owned()
        } else {
            format!("the remaining {games_left} games are scored as its forfeits")
        };
        writeln!(
            self.err,
            "{} failed to give a first answer {failures} times in a row and is benched: {rest} without being played",
            self.names[bot]
        )
    }
}
