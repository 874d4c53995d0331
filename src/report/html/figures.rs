//! Figures of all games: standings, times, endings, history of ratings.

use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock};

use serde_json::{Value, json};

use super::{NAME_CHARS, cut};
use crate::arena::course::{BracketPlace, Course, Meeting};
use crate::game::quarto::{PieceSet, Rules};
use crate::play::replay::replay;
use crate::play::setup::recorded_reproduce_command;
use crate::record::annotation::{self, Annotation};
use crate::record::{BotIndex, Record, RecordSummary};
use crate::session::registry::{self, Choices};
use crate::text::escape_controls;
use crate::tournament::ratings::{Model, RatingError, Results, Tally, rate};
use crate::tournament::schedule::knockout::DecidedBy;
use crate::tournament::standings::{Collector, Place, RankBy, Ranking, Standings};

const BINS: f64 = 40.0;

/// In one bar of the page's charts.
const BINS_PER_BAR: u16 = 5;

/// Milliseconds; shorter times are in the first bin.
const SHORTEST_MS: f64 = 1e-3;

const MAX_TURNS: usize = 100;

const CHECKPOINTS: usize = 48;

const REASON_CHARS: usize = 2000;

/// By (first mover, second mover), indices of bots.
type HeadToHead = BTreeMap<(usize, usize), Tally>;

/// Bot, Elo, half the interval's width.
type Rated = (usize, f64, Option<f64>);

/// Results after some games; ratings are computed on first use.
#[derive(Clone, Debug)]
struct Checkpoint {
    games: u64,
    met: HeadToHead,
    rated: Arc<OnceLock<Vec<Rated>>>,
}

/// Its size depends on the number of bots, not of games.
#[derive(Clone, Debug, Default)]
pub struct Figures {
    collector: Collector,
    /// Of the table.
    ranking: Ranking,
    /// Of a tournament.
    course: Option<Arc<Course>>,
    names: Vec<String>,
    met: HeadToHead,
    times: Vec<BTreeMap<u16, u64>>,
    endings: BTreeMap<String, u64>,
    lengths: Vec<u64>,
    /// Sums over analysed turns, by bot.
    analysed: Vec<annotation::Tally>,
    by_phase: Vec<ByPhase>,
    mend: Vec<Mend>,
    /// Limits on a move, in seconds; at most two.
    move_times: Vec<Option<f64>>,
    games: u64,
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
        self.collector.add(game);
        for (bot, name) in bots.into_iter().zip(game.names()) {
            if self.names.len() <= bot {
                self.names.resize(bot + 1, String::new());
                self.times.resize(bot + 1, BTreeMap::new());
                self.analysed.resize(bot + 1, annotation::Tally::default());
                self.by_phase.resize(bot + 1, ByPhase::default());
                self.mend.resize(bot + 1, Mend::default());
            }
            if self.names[bot].is_empty() {
                name.clone_into(&mut self.names[bot]);
            }
        }
        if let Some(analysis) = record.more.get("analysis") {
            let analysis = Annotation::from_json(analysis);
            let tallies = analysis.tallies(record.first, record.turns.len());
            for (bot, tally) in bots.into_iter().zip(tallies) {
                self.analysed[bot] += tally;
            }
            let by_phase = phase_tallies(record, &analysis);
            for (bot, phases) in bots.into_iter().zip(by_phase) {
                for (sum, tally) in self.by_phase[bot].iter_mut().zip(phases) {
                    *sum += tally;
                }
            }
        }
        for (bot, side) in bots.into_iter().zip(BotIndex::ALL) {
            self.mend[bot].add(record, game, side, self.games + 1, shown);
        }
        self.note_move_times(record);
        let sides = [bots[game.first], bots[game.first.other()]];
        let tally = self.met.entry((sides[0], sides[1])).or_default();
        match game.winner() {
            None => tally.draws += 1,
            Some(winner) if winner == game.first => tally.wins += 1,
            Some(_) => tally.losses += 1,
        }
        for (turn, &ms) in game.times_ms.iter().enumerate() {
            *self.times[sides[game.side_of(turn)]]
                .entry(bin(ms))
                .or_default() += 1;
        }
        *self
            .endings
            .entry(escape_controls(record.result.reason.name()))
            .or_default() += 1;
        let turns = record.turns.len().min(MAX_TURNS);
        if self.lengths.len() <= turns {
            self.lengths.resize(turns + 1, 0);
        }
        self.lengths[turns] += 1;
        self.games += 1;
        self.add_checkpoint();
    }

    fn note_move_times(&mut self, record: &Record) {
        let known = record.processes.iter().flatten().flatten();
        for limit in known.map(|process| process.move_time) {
            if self.move_times.len() < 2 && !self.move_times.contains(&limit) {
                self.move_times.push(limit);
            }
        }
    }

    /// At intervals that grow with the number of games.
    fn add_checkpoint(&mut self) {
        if self.checkpoints.len() >= CHECKPOINTS {
            let mut keep = false;
            self.checkpoints.retain(|_| {
                keep = !keep;
                !keep
            });
            self.stride *= 2;
        }
        self.stride = self.stride.max(1);
        if self.games.is_multiple_of(self.stride) {
            self.checkpoints.push(Checkpoint {
                games: self.games,
                met: self.met.clone(),
                rated: Arc::default(),
            });
        }
    }

    pub fn standings(&self) -> Result<Standings, RatingError> {
        self.collector.ranked(&Model::default(), &self.ranking)
    }

    /// By default points or ratings.
    pub(super) fn set_ranking(&mut self, ranking: Ranking) {
        self.ranking = ranking;
    }

    pub(super) fn set_course(&mut self, course: Course) {
        self.course = Some(Arc::new(course));
    }

    /// For the script. `standings` are those of [`Figures::standings`].
    pub fn as_json(&self, standings: &Standings) -> Value {
        let met: Vec<[u64; 5]> = self
            .met
            .iter()
            .map(|(&(a, b), t)| {
                [
                    a as u64,
                    b as u64,
                    t.wins.into(),
                    t.draws.into(),
                    t.losses.into(),
                ]
            })
            .collect();
        let places: Vec<Value> = standings
            .places
            .iter()
            .filter_map(|place| self.place(place, &standings.ranking.before))
            .collect();
        let times: Vec<Value> = self.times.iter().map(bars).collect();
        json!({
            "games": self.games,
            "advantage": standings.advantage.map(|advantage| tenth(advantage.elo)),
            "advantage_error": standings.advantage.and_then(|advantage| advantage.error).map(tenth),
            "places": places,
            "met": met,
            "times": times,
            "endings": self.endings,
            "lengths": self.lengths,
            "history": self.history(standings),
            "absent": absent(standings),
            "order": order(standings),
            "move_times": self.move_times,
            "course": self.course.as_ref().map(|course| course_json(course, |name| self.number(name))),
        })
    }

    fn number(&self, name: &str) -> Option<usize> {
        self.names.iter().position(|known| known == name)
    }

    fn place(&self, place: &Place, before: &BTreeMap<String, usize>) -> Option<Value> {
        let bot = self.number(&place.name)?;
        let forfeits: BTreeMap<String, u64> = place
            .forfeits
            .iter()
            .map(|(reason, &count)| (escape_controls(reason), count))
            .collect();
        let mut figures = json!({
            "bot": bot,
            "games": place.games,
            "wins": place.wins,
            "draws": place.draws,
            "losses": place.losses,
            "points": place.points,
            "score": place.score,
            "elo": tenth(place.elo),
            "error": place.error.map(tenth),
            "superiority": place.superiority,
            "direct": place.direct,
            "sonneborn": place.sonneborn_berger,
            "forfeits": forfeits,
            "median": place.median_ms,
            "slow": percentile(&self.times[bot], 0.95),
            "worst": place.worst_ms,
        });
        let analysed = &self.analysed[bot];
        if analysed.turns > 0 {
            figures["accuracy"] = json!(analysed.accuracy());
            figures["blunders"] = json!(analysed.blunders());
            figures["missed"] = json!(analysed.missed_wins);
            figures["phases"] = phases_json(&self.by_phase[bot]);
        }
        figures["mend"] = self.mend[bot].as_json();
        if let Some(reached) = &place.reached {
            figures["rank"] = json!(place.rank);
            figures["reached"] = json!(reached);
        }
        if !before.is_empty() {
            figures["before"] = json!(before.get(&place.name));
        }
        Some(figures)
    }

    /// At the checkpoints and after all games: the number of games, then bot, Elo, half the interval's width for
    /// each.
    fn history(&self, standings: &Standings) -> Vec<Value> {
        let earlier = self
            .checkpoints
            .iter()
            .filter(|checkpoint| checkpoint.games < self.games);
        let mut history: Vec<Value> = earlier
            .map(|checkpoint| {
                let rated = checkpoint
                    .rated
                    .get_or_init(|| rated(&checkpoint.met, self.names.len()));
                json!([checkpoint.games, rated])
            })
            .collect();
        let now: Vec<Rated> = standings
            .places
            .iter()
            .filter_map(|place| {
                let bot = self.number(&place.name)?;
                Some((bot, tenth(place.elo), place.error.map(tenth)))
            })
            .collect();
        history.push(json!([self.games, now]));
        history
    }
}

/// First criterion of the table: `place`, `rating` or `points`.
const fn order(standings: &Standings) -> &'static str {
    match standings.ranking.by {
        RankBy::Reached(_) => "place",
        RankBy::Results if standings.by_rating => "rating",
        RankBy::Results | RankBy::Points => "points",
    }
}

/// Bots that did not enter, with reasons except on a private page.
fn absent(standings: &Standings) -> Vec<Value> {
    let shown = |text: &str| cut(&escape_controls(text), REASON_CHARS);
    standings
        .not_entered()
        .map(|absent| json!({ "name": shown(&absent.name), "reason": shown(&absent.reason) }))
        .collect()
}

/// Empty when results determine no ratings.
fn rated(met: &HeadToHead, bots: usize) -> Vec<Rated> {
    let mut results = Results::new(bots);
    for (&(first, second), &tally) in met {
        if results.add_games(first, second, tally).is_err() {
            return Vec::new();
        }
    }
    let Ok(ratings) = rate(&results, &Model::default()) else {
        return Vec::new();
    };
    let played = |bot: usize| met.keys().any(|&(a, b)| a == bot || b == bot);
    let all = ratings.bots.iter().enumerate();
    all.filter(|&(bot, _)| played(bot))
        .map(|(bot, rating)| (bot, tenth(rating.elo), rating.error.map(tenth)))
        .collect()
}

fn tenth(figure: f64) -> f64 {
    (figure * 10.0).round() / 10.0
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "clamped to the range"
)]
fn bin(ms: f64) -> u16 {
    let bin = ((ms.max(SHORTEST_MS) / SHORTEST_MS).log10() * BINS).floor();
    bin.clamp(0.0, f64::from(u16::MAX)) as u16
}

/// Milliseconds.
fn middle(bin: u16) -> f64 {
    SHORTEST_MS * 10f64.powf((f64::from(bin) + 0.5) / BINS)
}

/// The time, in milliseconds, that this share of answers did not exceed, accurate to 3 %.
fn percentile(bins: &BTreeMap<u16, u64>, share: f64) -> Option<f64> {
    let total: u64 = bins.values().sum();
    let mut before = 0;
    for (&bin, &count) in bins {
        before += count;
        #[expect(clippy::cast_precision_loss, reason = "no bot gives 2⁵² answers")]
        if before as f64 >= share * total as f64 {
            return Some(middle(bin));
        }
    }
    None
}

/// `[first bar, counts…]`; a bar is an eighth of a factor of ten; bar 0 begins at 1 µs.
fn bars(bins: &BTreeMap<u16, u64>) -> Value {
    let bar = |bin: u16| bin / BINS_PER_BAR;
    let (Some((&first, _)), Some((&last, _))) = (bins.first_key_value(), bins.last_key_value())
    else {
        return json!([0]);
    };
    let mut counts = vec![0u64; usize::from(bar(last) - bar(first)) + 2];
    counts[0] = u64::from(bar(first));
    for (&bin, &count) in bins {
        counts[1 + usize::from(bar(bin) - bar(first))] += count;
    }
    json!(counts)
}

/// The page names them.
const PHASES: usize = 3;

type ByPhase = [annotation::Tally; PHASES];

/// Of games with placements.
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
            let gives_only = record.game == "quarto" && record.turns[0].starts_with('-');
            let placed = turn.saturating_sub(1 + usize::from(gives_only));
            (opening + placed, cells)
        }
        None => (turn.saturating_sub(1), turns),
    };
    (filled * PHASES / all).min(PHASES - 1)
}

/// Of both bots, by phase.
fn phase_tallies(record: &Record, analysis: &Annotation) -> [ByPhase; 2] {
    let mut both = [ByPhase::default(); 2];
    for part in 0..PHASES {
        let known = analysis.turns.iter();
        let turns = known.filter(|note| {
            (1..=record.turns.len()).contains(&note.turn) && phase(record, note.turn) == part
        });
        let notes = Annotation {
            by: String::new(),
            turns: turns.cloned().collect(),
        };
        let tallies = notes.tallies(record.first, record.turns.len());
        for (bot, tally) in both.iter_mut().zip(tallies) {
            bot[part] += tally;
        }
    }
    both
}

/// By phase: `[solved turns, those that kept the value, blunders, missed wins]`.
fn phases_json(by_phase: &ByPhase) -> Value {
    let figures = by_phase.iter().map(|tally| {
        [
            tally.proven,
            tally.kept,
            tally.blunders(),
            tally.missed_wins,
        ]
    });
    json!(figures.collect::<Vec<_>>())
}

const COMMAND_CHARS: usize = 1000;

/// Kinds of faults with a command, for each bot.
const MOST_KINDS: usize = 20;

/// The answer with the largest share of its limit.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Longest {
    ms: f64,
    limit_ms: f64,
    /// Game and turn on the page, from 1.
    game: u64,
    turn: usize,
}

/// For one bot.
#[derive(Clone, Debug, Default)]
struct Mend {
    /// By reason of the forfeit: the first such game, and the command that repeats the question.
    again: BTreeMap<String, (u64, String)>,
    longest: Option<Longest>,
}

impl Mend {
    /// A game of the bot `side`; `number` on the page. `shown`: whether commands are kept.
    pub(super) fn add(
        &mut self,
        record: &Record,
        game: &RecordSummary<'_>,
        side: BotIndex,
        number: u64,
        shown: bool,
    ) {
        self.note_times(record, game, side, number);
        let is_own = record.result.by == Some(side);
        let reason = escape_controls(record.result.reason.name());
        if !shown || !is_own || self.again.len() >= MOST_KINDS || self.again.contains_key(&reason) {
            return;
        }
        if let Some(command) = again(record, side) {
            let command = cut(&escape_controls(&command), COMMAND_CHARS);
            self.again.insert(reason, (number, command));
        }
    }

    fn note_times(
        &mut self,
        record: &Record,
        game: &RecordSummary<'_>,
        side: BotIndex,
        number: u64,
    ) {
        let Some(process) = record
            .processes
            .as_ref()
            .and_then(|both| both[side].as_ref())
        else {
            return;
        };
        let limit = process.move_time.filter(|&limit| limit > 0.0);
        let Some(limit_ms) = limit.map(|limit| limit * 1000.0) else {
            return;
        };
        // A fresh process has more time for its first answer.
        let fresh = usize::from(process.since.is_none());
        let turns = game.times_ms.iter().enumerate();
        let seat = usize::from(game.first != side);
        let own = turns.filter(|&(turn, _)| game.side_of(turn) == seat);
        for (turn, &ms) in own.skip(fresh) {
            if self
                .longest
                .is_none_or(|longest| ms * longest.limit_ms > longest.ms * limit_ms)
            {
                self.longest = Some(Longest {
                    ms,
                    limit_ms,
                    game: number,
                    turn: turn + 1,
                });
            }
        }
    }

    pub(super) fn as_json(&self) -> Value {
        json!({
            "again": self.again,
            "longest": self.longest.map(|longest| (longest.ms, longest.limit_ms, longest.game, longest.turn)),
        })
    }
}

/// Repeats the question to the bot that forfeited; `None` if unknown.
fn again(record: &Record, by: BotIndex) -> Option<String> {
    // The file of another piece set is unknown.
    if !record.was_played() || record.pieces.is_some() {
        return None;
    }
    let ruleset = registry::find(&record.game)?.ruleset(Choices {
        rules: Rules::from_name(&record.rules)?,
        set: PieceSet::default(),
        ..Choices::default()
    });
    let last = replay(&*ruleset, record, &mut ()).ok()?;
    let mut request = String::new();
    last.write_request(&mut request);
    recorded_reproduce_command(record, by, None, request.trim_end_matches('\n'))
}

const fn why(by: DecidedBy) -> &'static str {
    match by {
        DecidedBy::Points => "",
        DecidedBy::WinsAsSecond => "by more wins as the second to move",
        DecidedBy::QuickerWins => "by quicker wins",
        DecidedBy::Seed => "as the better seed",
    }
}

fn meeting(meeting: &Meeting) -> Value {
    let side = meeting.winner.map_or(json!(-1), |(side, _)| json!(side));
    let by = meeting.winner.map_or("", |(_, by)| why(by));
    json!([
        meeting.bots[0],
        meeting.bots[1],
        meeting.half_points[0],
        meeting.half_points[1],
        meeting.games,
        meeting.pairs[0],
        meeting.pairs[1],
        side,
        by
    ])
}

fn place(place: &BracketPlace) -> Value {
    json!({
        "bots": place.bots,
        "bye": place.bye,
        "meeting": place.meeting.as_ref().map(meeting),
    })
}

/// `number`: a bot's index on the page, by name.
fn course_json(course: &Course, number: impl Fn(&str) -> Option<usize>) -> Value {
    let bots: Vec<Value> = course
        .names
        .iter()
        .map(|name| json!([cut(&escape_controls(name), NAME_CHARS), number(name)]))
        .collect();
    let rounds: Vec<Value> = course
        .rounds
        .iter()
        .map(|round| {
            let meetings: Vec<Value> = round.meetings.iter().map(meeting).collect();
            json!([meetings, round.byes])
        })
        .collect();
    let groups: Vec<Vec<Value>> = course
        .groups
        .iter()
        .map(|table| {
            let places = table.iter();
            let packed = places.map(|at| json!([at.bot, at.half_points, at.games, at.advances]));
            packed.collect()
        })
        .collect();
    let bracket: Vec<Vec<Value>> = course
        .bracket
        .iter()
        .map(|round| round.iter().map(place).collect())
        .collect();
    json!({
        "format": course.format.in_words(),
        "limits": course.limits,
        "pairs": course.pairs,
        "bots": bots,
        "planned": course.rounds_planned,
        "games": course.games_planned,
        "rounds": rounds,
        "groups": groups,
        "bracket": bracket,
        "seeds": course.seeds,
        "champion": course.champion,
        "early": course.early,
        "next": course.next.iter().map(|next| json!([next.bots[0], next.bots[1], next.pairs[0], next.pairs[1]])).collect::<Vec<_>>(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_counted_in_bars() {
        let mut bins = BTreeMap::new();
        for ms in [0.0, 0.001, 1.0, 1.01, 9.9] {
            *bins.entry(bin(ms)).or_default() += 1;
        }
        let bars = bars(&bins);
        assert_eq!(bars[0], 0);
        assert_eq!(bars[1], 2);
        // A millisecond is three factors of ten of eight bars.
        assert_eq!(bars[1 + 24], 2);
        assert_eq!(bars[1 + 31], 1);
        let median = percentile(&bins, 0.5).unwrap();
        assert!((0.97..1.06).contains(&median), "{median}");
        assert_eq!(percentile(&BTreeMap::new(), 0.5), None);
    }

    #[test]
    fn forged_times_stay_in_range() {
        for ms in [-1.0, f64::MAX, f64::INFINITY, f64::NAN] {
            bin(ms);
        }
    }

    #[test]
    fn a_phase_is_a_third_of_the_board() {
        let line = r#"{"v":1,"game":"quarto","rules":"standard","id":"1","bots":[{"name":"a","command":[]},{"name":"b","command":[]}],"first":0,"seed":1,"start":"..AB............","turns":["- K","1 A","5 C"],"times_ms":[1.0,1.0,1.0],"result":{"winner":0,"reason":"quarto"},"started":""}"#;
        let record = Record::from_line(line.as_bytes()).unwrap();
        let phases: Vec<usize> = [1, 2, 5, 6, 10, 11, 20]
            .map(|turn| phase(&record, turn))
            .to_vec();
        assert_eq!(phases, [0, 0, 0, 1, 1, 2, 2]);
    }
}
