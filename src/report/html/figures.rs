//! Figures of all games: standings, times, endings, history of ratings.

use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock};

use serde_json::{Value, json};

use super::course;
use super::limits::cut;
use super::mend::Mend;
use super::phases::{self, ByPhase};
use crate::arena::course::Course;
use crate::record::annotation::{self, Annotation};
use crate::record::{BotIndex, Record, RecordSummary};
use crate::text::escape_controls;
use crate::tournament::ratings::{Model, RatingError, Results, Tally, rate};
use crate::tournament::standings::{Collector, Place, RankBy, Ranking, Standings};

const BINS: f64 = 40.0;

/// In one bar of the page's charts.
const BINS_PER_BAR: u16 = 5;

/// Milliseconds; shorter times are in the first bin.
const SHORTEST_MS: f64 = 1e-3;

/// Longer games count as having this many.
const MAX_TURNS: usize = 100;

/// Points of a rating's curve.
const CHECKPOINTS: usize = 48;

/// Characters of a reason for not entering.
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
            let by_phase = phases::tallies(record, &analysis);
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

    pub const fn games(&self) -> u64 {
        self.games
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
            "course": self.course.as_ref().map(|course| course::packed(course, |name| self.number(name))),
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
            figures["phases"] = phases::as_json(&self.by_phase[bot]);
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
}
