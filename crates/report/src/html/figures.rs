//! Figures of all games: standings, times, endings, history of ratings.

use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock};

use serde_json::{Map, Value, json};

use super::{NAME_CHARS, cut};
use crate::bot_page::asked;
use crate::integer;
use crate::standings::{changed, columns, order, row, separate};
use referee_match::record::annotation::{self, Annotation};
use referee_match::record::{BotIndex, Record, RecordSummary};
use referee_stats::ratings::RatingError;
use referee_stats::standings::{Collector, Crosstable, Place, Ranking, Standings};
use referee_text::{escape_controls, join_parts};
use referee_tournament::overview::TournamentOverview;

/// Bars of the page's charts in a factor of ten; the first begins at 1 µs.
const BARS: f64 = 8.0;
const SHORTEST_MS: f64 = 1e-3;
/// 30 years: a record may say any time.
const LONGEST_MS: f64 = 1e12;

const MAX_TURNS: usize = 100;

const CHECKPOINTS: usize = 48;

const REASON_CHARS: usize = 2000;

type Rated = (usize, u64, f64, [f64; 2]);

/// Results after some games; ratings are computed on first use.
#[derive(Clone, Debug)]
struct Checkpoint {
    games: u64,
    scores: Crosstable,
    rated: Arc<OnceLock<Vec<Rated>>>,
}

#[derive(Clone, Debug, Default)]
struct BotFigures {
    by_phase: [annotation::Tally; PHASES],
    /// By reason of the forfeit: the first such game, and the command that repeats the question.
    again: BTreeMap<String, (u64, String)>,
    /// The answer with the largest share of its limit: its time and the limit, in milliseconds, game and turn on the
    /// page, from 1.
    longest: Option<(f64, f64, u64, usize)>,
}

/// Its size depends on the number of bots, not of games. Bots have the numbers of the collector, as on the page.
#[derive(Clone, Debug, Default)]
pub struct Figures {
    collector: Collector,
    pub(super) ranking: Ranking,
    pub(super) overview: Option<Arc<TournamentOverview>>,
    bots: Vec<BotFigures>,
    endings: BTreeMap<String, u64>,
    lengths: Vec<u64>,
    /// Limits on a move, in seconds; at most two.
    move_times: Vec<Option<f64>>,
    checkpoints: Vec<Checkpoint>,
    /// Games between checkpoints.
    stride: u64,
}

impl Figures {
    /// `shown`: whether commands are kept.
    pub(super) fn add(
        &mut self,
        record: &Record,
        game: &RecordSummary<'_>,
        bots: [usize; 2],
        shown: bool,
    ) {
        // What bots say of their thinking is private, too.
        let mut counted = game.with_times(game.times());
        if !shown {
            counted.sure = [0; 2];
        }
        self.collector.add(&counted);
        let games = self.collector.games();
        let count = self.bots.len().max(bots[0] + 1).max(bots[1] + 1);
        self.bots.resize(count, BotFigures::default());
        if let Some(analysis) = record.more.get("analysis") {
            let by_phase = phase_tallies(record, Annotation::from_json(analysis));
            for (phase, tallies) in by_phase.into_iter().enumerate() {
                for (bot, tally) in bots.into_iter().zip(tallies) {
                    self.bots[bot].by_phase[phase] += tally;
                }
            }
        }
        for (bot, side) in bots.into_iter().zip(BotIndex::ALL) {
            let page_game = PageGame {
                record,
                game,
                number: games,
                shown,
            };
            self.bots[bot].add(&page_game, side);
        }
        let known = record.processes.iter().flatten().flatten();
        for limit in known.map(|process| process.move_time) {
            if self.move_times.len() < 2 && !self.move_times.contains(&limit) {
                self.move_times.push(limit);
            }
        }
        let reason = escape_controls(record.ended_by());
        *self.endings.entry(reason).or_default() += 1;
        let turns = record.turns.len().min(MAX_TURNS);
        if self.lengths.len() <= turns {
            self.lengths.resize(turns + 1, 0);
        }
        self.lengths[turns] += 1;
        self.add_checkpoint(games);
    }

    /// At intervals that grow with the number of games.
    fn add_checkpoint(&mut self, games: u64) {
        if self.checkpoints.len() >= CHECKPOINTS {
            let mut keep = [false, true].into_iter().cycle();
            self.checkpoints.retain(|_| keep.next() == Some(true));
            self.stride *= 2;
        }
        self.stride = self.stride.max(1);
        if games.is_multiple_of(self.stride) {
            self.checkpoints.push(Checkpoint {
                games,
                scores: self.collector.scores().clone(),
                rated: Arc::default(),
            });
        }
    }

    pub fn standings(&self) -> Result<Standings, RatingError> {
        self.collector.standings(&self.ranking)
    }

    /// For the script. `standings` are those of [`Figures::standings`].
    pub fn as_json(&self, standings: &Standings) -> Value {
        let met = self.collector.scores().tallies().into_iter();
        let met = met.map(|([a, b], [wins, draws, losses])| json!([a, b, wins, draws, losses]));
        let in_files = columns(standings, false);
        let places = standings.places.iter();
        let places = places.filter_map(|place| self.place(row(&in_files, place), place));
        let columns = columns(standings, true).into_iter();
        let columns = columns.map(|column| json!([column.key, column.head, column.format]));
        let mut figures = json!({
            "games": self.collector.games(),
            "advantage": standings.advantage.map(|advantage| advantage.elo),
            "advantage_error": standings.advantage.and_then(|advantage| advantage.error),
            "columns": columns.collect::<Vec<_>>(),
            "places": places.collect::<Vec<_>>(),
            "separate": separate(standings),
            "met": met.collect::<Vec<_>>(),
            "times": self.collector.times().map(bars).collect::<Vec<_>>(),
            "endings": self.endings,
            "lengths": self.lengths,
            "history": self.history(standings),
            "absent": absent(standings),
            "order": standings.order,
            "rule": order(standings),
            "move_times": self.move_times,
            "course": self.overview.as_ref().map(|overview| self.overview(overview)),
        });
        let changed: Vec<String> = changed(standings).collect();
        if !changed.is_empty() {
            figures["changed"] = json!(changed);
        }
        figures
    }

    /// The places of all, by name, for pages of one bot.
    pub fn places(&self) -> Result<BTreeMap<String, Value>, RatingError> {
        let standings = self.standings()?;
        let columns = columns(&standings, false);
        let places = standings.places.iter().map(|place| {
            let of = standings.places.iter();
            let of = of.filter(|other| other.table == place.table);
            let mut figures = page_figures(row(&columns, place), place);
            figures.insert("of".to_owned(), json!(of.count()));
            (place.name.clone(), Value::Object(figures))
        });
        Ok(places.collect())
    }

    fn place(&self, figures: Map<String, Value>, place: &Place) -> Option<Map<String, Value>> {
        let number = self.collector.number(&place.name)?;
        let bot = self.bots.get(number)?;
        let mut figures = page_figures(figures, place);
        figures.insert("bot".to_owned(), json!(number));
        if place.analysis.is_some_and(|tally| tally.turns > 0) {
            // `[solved turns, those that kept the value, blunders, missed wins]`.
            let of_phase =
                |of: annotation::Tally| [of.proven, of.kept, of.blunders(), of.missed_wins];
            figures.insert("phases".to_owned(), json!(bot.by_phase.map(of_phase)));
        }
        let fixes = json!({ "again": bot.again, "longest": bot.longest });
        figures.insert("fixes".to_owned(), fixes);
        Some(figures)
    }

    /// At the checkpoints and after all games: the number of games, then what is known of each bot.
    fn history(&self, standings: &Standings) -> Vec<Value> {
        let games = self.collector.games();
        let earlier = self.checkpoints.iter();
        let earlier = earlier.filter(|checkpoint| checkpoint.games < games);
        let earlier = earlier.map(|checkpoint| {
            let rated = || rated(&checkpoint.scores, self.bots.len());
            json!([checkpoint.games, checkpoint.rated.get_or_init(rated)])
        });
        let mut history: Vec<Value> = earlier.collect();
        let now = standings.places.iter().filter_map(|place| {
            let bot = self.collector.number(&place.name)?;
            let elo = whole(place.elo);
            Some((bot, place.games, elo, place.elo_interval.map(whole)))
        });
        history.push(json!([games, now.collect::<Vec<Rated>>()]));
        history
    }

    fn overview(&self, overview: &TournamentOverview) -> Value {
        let names = overview.names.iter();
        let bots = names.map(|name| {
            let shown = cut(&escape_controls(name), NAME_CHARS);
            json!([shown, self.collector.number(name)])
        });
        let mut json = json!(overview);
        json["bots"] = bots.collect();
        json["format"] = json!(overview.format.in_words());
        json
    }
}

/// The page knows a bot by its number.
fn page_figures(mut figures: Map<String, Value>, place: &Place) -> Map<String, Value> {
    figures.shift_remove("name");
    figures.insert("shared".to_owned(), json!(place.shared));
    figures
}

/// Bots that did not enter, with reasons except on a private page.
fn absent(standings: &Standings) -> Vec<Value> {
    let shown = |text: &str| cut(&join_parts(text, "\n"), REASON_CHARS);
    let absent = standings.not_entered();
    let shown = absent.map(|one| {
        json!({ "name": shown(&one.name), "absence": one.absence.as_ref().map(|one| one.map(shown)) })
    });
    shown.collect()
}

/// The bots that have played; empty when results determine no ratings.
fn rated(scores: &Crosstable, bots: usize) -> Vec<Rated> {
    let Ok(ratings) = scores.ratings(bots) else {
        return Vec::new();
    };
    let groups: Vec<usize> = ratings.bots.iter().map(|rating| rating.group).collect();
    let has_met = |group| groups.iter().filter(|&&other| other == group).count() > 1;
    let mut games = vec![0; bots];
    for (both, counts) in scores.tallies() {
        for bot in both {
            games[bot] += counts.map(u64::from).iter().sum::<u64>();
        }
    }
    let all = ratings.bots.iter().enumerate();
    let met = all.filter(|(_, rating)| has_met(rating.group));
    let shown = met.map(|(bot, of)| (bot, games[bot], whole(of.elo), of.interval.map(whole)));
    shown.collect()
}

fn whole(figure: f64) -> f64 {
    figure.round() + 0.0
}

/// `[first bar, counts…]`.
fn bars(times: impl Iterator<Item = (f64, u32)>) -> Vec<u64> {
    let mut bars = Vec::new();
    for (ms, count) in times.filter(|(_, count)| *count > 0) {
        let bar = (ms.clamp(SHORTEST_MS, LONGEST_MS) / SHORTEST_MS).log10() * BARS;
        let bar = integer(bar);
        let first = *bars.first().unwrap_or(&bar);
        if bars.is_empty() {
            bars.push(first);
        }
        let place = usize::try_from(bar - first).unwrap_or_default() + 1;
        bars.resize(bars.len().max(place + 1), 0);
        bars[place] += u64::from(count);
    }
    if bars.is_empty() { vec![0] } else { bars }
}

const PHASES: usize = 3;

/// Cells of the board, in games with placements.
fn cells(game: &str) -> Option<usize> {
    match game {
        "quarto" => Some(16),
        "four-in-a-row" => Some(42),
        _ => None,
    }
}

/// From 1: thirds of the board, by the pieces on it before the turn; for game programs, thirds of the turns.
fn phase(record: &Record, turn: usize) -> usize {
    let turns = record.turns.len().max(1);
    let (filled, all) = match cells(&record.game) {
        Some(cells) => {
            let start = record.start.chars().take(cells);
            let opening = start.filter(|&cell| cell != '.').count();
            // Quarto's first turn places nothing, unless a piece is in hand.
            let first = record.turns.first();
            let gives_only =
                record.game == "quarto" && first.is_some_and(|turn| turn.starts_with('-'));
            let placed = turn.saturating_sub(1 + usize::from(gives_only));
            (opening + placed, cells)
        }
        None => (turn.saturating_sub(1), turns),
    };
    (filled * PHASES / all).min(PHASES - 1)
}

/// The first turns of the middlegame and of the endgame, from 1; beyond the last turn for a phase that was not reached.
pub(super) fn phase_starts(record: &Record) -> [usize; PHASES - 1] {
    // The turn of a fault is a turn, too.
    let turns = record.turns.len() + 1;
    [1, 2].map(|wanted| {
        let mut all = 1..=turns;
        all.find(|&turn| phase(record, turn) >= wanted)
            .unwrap_or(turns + 1)
    })
}

fn phase_tallies(record: &Record, analysis: Annotation) -> [[annotation::Tally; 2]; PHASES] {
    let mut parts = [0, 1, 2].map(|_| Annotation::default());
    for note in analysis.turns {
        if (1..=record.turns.len()).contains(&note.turn) {
            parts[phase(record, note.turn)].turns.push(note);
        }
    }
    parts.map(|part| part.tallies(record.first, record.turns.len()))
}

pub(super) const COMMAND_CHARS: usize = 1000;

const MOST_KINDS: usize = 20;

/// A game as figures are made of it.
struct PageGame<'a> {
    record: &'a Record,
    game: &'a RecordSummary<'a>,
    /// On the page.
    number: u64,
    /// Whether commands are kept.
    shown: bool,
}

impl BotFigures {
    /// A game of the bot `side`.
    fn add(&mut self, game: &PageGame<'_>, side: BotIndex) {
        let PageGame {
            record,
            game,
            number,
            shown,
        } = *game;
        let processes = record.processes.as_ref();
        let process = processes.and_then(|both| both[side].as_ref());
        let limit = process.and_then(|process| process.move_time).unwrap_or(0.0);
        if let Some(process) = process.filter(|_| limit > 0.0) {
            let limit = 1000.0 * limit;
            // A fresh process has more time for its first answer.
            let fresh = usize::from(process.since.is_none());
            let turns = game.times_ms.iter().enumerate();
            let seat = usize::from(game.first != side);
            let own = turns.filter(|&(turn, _)| game.side_of(turn) == seat);
            for (turn, &ms) in own.skip(fresh) {
                let is_longer =
                    |(known, its_limit, ..): (f64, f64, _, _)| ms * its_limit > known * limit;
                if self.longest.is_none_or(is_longer) {
                    self.longest = Some((ms, limit, number, turn + 1));
                }
            }
        }
        let is_own = record.result.by == Some(side);
        let reason = escape_controls(record.ended_by());
        if !shown || !is_own || self.again.len() >= MOST_KINDS || self.again.contains_key(&reason) {
            return;
        }
        if let Some(command) = again(record, side) {
            let command = cut(&escape_controls(&command), COMMAND_CHARS);
            self.again.insert(reason, (number, command));
        }
    }
}

/// Repeats the question to the bot that forfeited; `None` if unknown.
pub(super) fn again(record: &Record, by: BotIndex) -> Option<String> {
    // The file of another piece set is unknown.
    if !record.was_played() || record.pieces.is_some() {
        return None;
    }
    asked(record, by, record.turns.len(), None)?.1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_counted_in_bars() {
        let bars = bars(
            [0.0001, 0.001, 1.0, 1.01, 9.9, 1e307]
                .map(|ms| (ms, 1))
                .into_iter(),
        );
        assert_eq!((bars[0], bars[1]), (0, 2));
        // A millisecond is three factors of ten of eight bars.
        assert_eq!((bars[1 + 24], bars[1 + 31]), (2, 1));
    }

    #[test]
    fn a_phase_is_a_third_of_the_board() {
        let line = r#"{"v":1,"game":"quarto","rules":"standard","id":"1","bots":[{"name":"a","command":[]},{"name":"b","command":[]}],"first":0,"seed":1,"start":"..AB............","turns":["- K","1 A","5 C"],"times_ms":[1.0,1.0,1.0],"result":{"winner":0,"reason":"quarto"},"started":""}"#;
        let record = Record::from_line(line.as_bytes()).unwrap();
        let phases: Vec<usize> = [1, 2, 5, 6, 10, 11, 20]
            .map(|turn| phase(&record, turn))
            .to_vec();
        assert_eq!(phases, [0, 0, 0, 1, 1, 2, 2]);
        assert_eq!(phase_starts(&record), [5, 5]);
    }
}
