//! A match as it goes on: turns and boards, faults, results.

use std::io::{self, Write};
use std::time::Duration;

use super::terminal::{Palette, draw, styled, time};
use crate::bot::Fault;
use crate::bot::fault::Exit;
use crate::game::{Game, Position, Side};
use crate::play::Watch;
use crate::play::match_runner::{Finished, Follow};
use crate::record::Record;
use crate::text::{counted, escape, safe};

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
pub struct Screen<'a, G, O, E> {
    game: &'a G,
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
    bots: [usize; 2],
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

impl<'a, G: Game, O: Write, E: Write> Screen<'a, G, O, E> {
    /// Shows games of `game` between the bots of these names.
    pub fn new(game: &'a G, names: [String; 2], games: u64, look: Look, out: O, err: E) -> Self {
        Self {
            game,
            out,
            err,
            names,
            detail: look.detail,
            palette: look.palette,
            err_palette: look.err_palette,
            json: look.json,
            games,
            bots: [0, 1],
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
        bots: [usize; 2],
        start: &G::Position,
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
        self.game.write_board(start, &mut board);
        if board.chars().any(|symbol| symbol != '.') {
            text.push_str(&draw(&self.game.picture(start, None), &palette));
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
        writeln!(self.err, "  position: {}", safe(board))?;
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
            writeln!(self.out, "\n{}", safe(detail))?;
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
            let line = styled(self.palette.heading, &safe(&record.result_line()));
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
            "Score: {} {} - {} {} ({}, {}, {} in {} games).",
            self.names[0],
            score.points(0),
            score.points(1),
            self.names[1],
            counted(score.wins[0], "win", "wins"),
            counted(score.draws, "draw", "draws"),
            counted(score.wins[1], "loss", "losses"),
            score.games()
        )?;
        self.out.flush()
    }
}

impl<G: Game, O: Write, E: Write> Watch<G> for Screen<'_, G, O, E> {
    fn asked(&mut self, side: Side, request: &str) -> io::Result<()> {
        if self.detail < Detail::Lines {
            return Ok(());
        }
        let line = format!("  -> {}: {}\n", self.name(side), safe(request.trim_end()));
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
        before: &G::Position,
        turn: G::Turn,
        after: &G::Position,
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
            self.game.describe(before, turn),
            styled(palette.faint, &time(elapsed)),
            draw(&self.game.picture(after, Some(turn)), &palette)
        );
        self.show(&text)?;
        if self.json {
            self.err.flush()
        } else {
            self.out.flush()
        }
    }
}

impl<G: Game, O: Write, E: Write> Follow<G> for Screen<'_, G, O, E> {
    fn begins(&mut self, number: u64, bots: [usize; 2], start: &G::Position) -> io::Result<()> {
        self.heading(number, bots, start)
    }

    fn ended(&mut self, finished: &Finished<'_, G>) -> io::Result<()> {
        let left = |fault: &Fault| {
            // Who leaves knows.
            matches!(fault, Fault::Exited { exit, .. } if *exit == Exit::Left)
        };
        if let (Some((fault, again)), Some(position)) = (finished.fault, finished.position)
            && !left(fault)
        {
            // The turns come first, also when both go to one terminal.
            self.out.flush()?;
            let mut board = String::new();
            self.game.write_request(position, &mut board);
            self.forfeit(finished.record, &board, again)?;
        }
        if self.detail > Detail::Results {
            self.show("\n")?;
        }
        self.result(finished.record)
    }

    fn benched(&mut self, bot: usize, failures: u32, games_left: u64) -> io::Result<()> {
        writeln!(
            self.err,
            "{} failed to give a first answer {failures} times in a row and is benched: the remaining {games_left} games are scored as its forfeits without being played",
            self.names[bot]
        )
    }
}
