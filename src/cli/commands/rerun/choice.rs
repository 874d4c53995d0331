//! Which games of a file the bot is asked about.

use std::path::Path;

use crate::bot::spec::Program;
use crate::cli::support::failure::Failure;
use crate::cli::support::folder::GameChoice;
use crate::cli::support::output::print_stderr;
use crate::cli::support::recorded::{Recorded, is_person, parts};
use crate::cli::support::recorded_game::RecordedRules;
use crate::cli::support::setup::unreadable;
use crate::record::reader::Reader;
use crate::record::{BotIndex, Record};

/// What is given on the command line.
pub(super) struct Choice<'a> {
    /// Finds the rules of the records.
    pub(super) rules: &'a RecordedRules,
    pub(super) program: &'a Program,
    pub(super) part: Option<&'a str>,
    pub(super) game: Option<&'a GameChoice>,
    pub(super) is_lost: bool,
}

/// A game with the bot.
pub(super) struct OwnGame {
    pub(super) recorded: Recorded,
    pub(super) by: BotIndex,
}

/// The games of a file.
pub(super) struct Chosen {
    /// All with the bot, since its process may have played several.
    pub(super) games: Vec<OwnGame>,
    /// The indices of those to judge.
    pub(super) chosen: Vec<usize>,
}

/// The result of a game for one of its bots.
pub(super) fn result_for(record: &Record, by: BotIndex) -> &'static str {
    match record.result.winner {
        None => "draw",
        Some(winner) if winner == by => "win",
        Some(_) => "loss",
    }
}

impl Choice<'_> {
    /// Reads the games with the bot.
    pub(super) fn read(&self, file: &Path) -> Result<Chosen, Failure> {
        let failed = |error| unreadable(file, &error);
        let mut reader = Reader::open(file).map_err(failed)?;
        let (mut games, mut chosen, mut others) = (Vec::new(), Vec::new(), None);
        let (mut count, mut is_there) = (0, false);
        while let Some(line) = reader.next_line().map_err(failed)? {
            let record = match line.record() {
                Ok(record) => record,
                Err(torn) if !line.is_complete() => {
                    print_stderr(&torn.to_string());
                    break;
                }
                Err(damaged) => return Err(Failure::Usage(damaged.to_string())),
            };
            count = line.number();
            let id = || Some(record.id.clone());
            let is_named = self.game.is_none_or(|game| game.is(count, id));
            let is_first = is_named && !(is_there && self.game.is_some());
            is_there |= is_named;
            let by = match parts(&record, self.program, self.part)[..] {
                [by] if !is_person(&record, by) => by,
                // The failure says what is wrong with the game.
                _ if is_first && self.game.is_some() => {
                    let recorded = Recorded::of(file, count, record, self.rules)?;
                    recorded.part(self.program, self.part)?;
                    continue;
                }
                [_, _, ..] => {
                    let recorded = Recorded::of(file, count, record, self.rules)?;
                    recorded.part(self.program, self.part)?;
                    continue;
                }
                _ => {
                    others.get_or_insert((count, record));
                    continue;
                }
            };
            // One who was benched was not asked.
            let is_asked = record.was_played();
            let is_right = !self.is_lost || result_for(&record, by) == "loss";
            if is_first && is_right && is_asked {
                chosen.push(games.len());
            }
            let recorded = Recorded::of(file, count, record, self.rules)?;
            if is_first && self.game.is_some() {
                // A game in which it was not asked anything is an error only when it was wanted.
                recorded.questions(by)?;
            }
            games.push(OwnGame { recorded, by });
        }
        if let (Some(game), false) = (self.game, is_there) {
            return Err(game.missing(file, count));
        }
        if let (true, Some((number, record))) = (games.is_empty(), others) {
            Recorded::of(file, number, record, self.rules)?.part(self.program, self.part)?;
        }
        Ok(Chosen { games, chosen })
    }
}
