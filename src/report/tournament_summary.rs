//! A tournament's printed summary, and the tables in its folder.

use std::fmt::Write as _;

use super::standings::{as_csv, as_json, crosstable_csv, table, times_csv};
use super::terminal::{Palette, shortened, width as columns_of};
use crate::arena::Ended;
use crate::arena::elimination::Bracket;
use crate::arena::plan::{Format, Plan};
use crate::arena::results::Results;
use crate::text::{counted, escape_controls};
use crate::tournament::ratings::{Model, RatingError};
use crate::tournament::schedule::knockout::{self, Tally};
use crate::tournament::schedule::{EntrantId, Pairing};
use crate::tournament::sprt::Decision;
use crate::tournament::standings::Standings;

fn standings(plan: &Plan, results: &Results) -> Result<Standings, RatingError> {
    let ranking = results.ranking(plan);
    results.collector.ranked(&Model::default(), &ranking)
}

/// File names and contents. Times are a separate table: the others depend only on the games, byte for byte.
pub fn tables(plan: &Plan, results: &Results) -> Result<[(&'static str, String); 4], RatingError> {
    let standings = standings(plan, results)?;
    Ok([
        (
            "standings.json",
            format!("{}\n", as_json(&standings, false)),
        ),
        ("standings.csv", as_csv(&standings, false)),
        ("crosstable.csv", crosstable_csv(&standings)),
        ("times.csv", times_csv(&standings)),
    ])
}

/// Standings (within `width`), rejected bots, distinct games, a knockout's matches, the sequential test's result.
pub fn summary(
    ended: Ended,
    plan: &Plan,
    results: &Results,
    palette: &Palette,
    width: Option<usize>,
) -> Result<String, RatingError> {
    let standings = standings(plan, results)?;
    let mut out = table(&standings, palette, width);
    out.push_str(&distinct(results));
    if plan.format.eliminates() {
        out.push_str(&bracket(plan, results, width));
    }
    if let Some(verdict) = verdict(ended, plan, results) {
        out.push_str(&verdict);
    }
    Ok(out)
}

fn distinct(results: &Results) -> String {
    let distinct = &results.distinct;
    let least = if distinct.full { "at least " } else { "" };
    let not_played = results.games.saturating_sub(distinct.games);
    let rest = if not_played == 0 {
        String::new()
    } else {
        // Otherwise the table's two numbers of games would seem to contradict each other.
        format!(
            " in which a turn was made; in {} none was",
            counted(not_played, "game", "games")
        )
    };
    format!(
        "{least}{} distinct games of {}{rest}\n",
        distinct.count(),
        distinct.games
    )
}

fn verdict(ended: Ended, plan: &Plan, results: &Results) -> Option<String> {
    if let Ended::Won(winner) = ended {
        let name = plan.bot(winner).map_or("?", |bot| bot.name.as_str());
        return Some(format!("{name} wins the tournament.\n"));
    }
    let test = plan.sprt.as_ref()?;
    let (lower, upper) = test.bounds();
    let llr = test.llr(&results.pentanomial);
    let elo = results.pentanomial.elo();
    let [a, b] = [0, 1].map(|i| plan.bots.get(i).map_or("?", |bot| bot.name.as_str()));
    let (elo0, elo1) = (test.elo0, test.elo1);
    // A test only chooses between two differences; the estimate says how large it is.
    let verdict = match ended {
        Ended::Decided(Decision::AcceptH1) => {
            format!("H1 accepted: a difference of {elo1} Elo rather than {elo0}")
        }
        Ended::Decided(Decision::AcceptH0) => {
            format!("H0 accepted: a difference of {elo0} Elo rather than {elo1}")
        }
        _ => format!("not decided between differences of {elo0} and {elo1} Elo"),
    };
    let difference = match elo.error {
        Some(error) if elo.elo.is_finite() => {
            format!(
                "estimated {:+.1} ± {error:.1} Elo",
                (10.0 * elo.elo).round() / 10.0 + 0.0
            )
        }
        _ => "too large to measure".to_owned(),
    };
    let [p0, p1, p2, p3, p4] = results.pentanomial.0;
    Some(format!(
        "SPRT of {a} against {b}: {verdict}; {difference}. LLR {llr:.2}, bounds {lower:.2} and \
         {upper:.2}; pairs by points of {a}: 0: {p0}, ½: {p1}, 1: {p2}, 1½: {p3}, 2: {p4}\n"
    ))
}

/// Names are shortened to this width in the drawing.
const NAME: usize = 20;

/// The drawing, if it fits `width` columns, then the matches by round.
fn bracket(plan: &Plan, results: &Results, width: Option<usize>) -> String {
    let mut out = format!("\nseeds: {}\n", seeded_by(plan));
    if let Some(bracket) = results.bracket(plan) {
        let drawing = Drawing {
            plan,
            results,
            bracket: &bracket,
        };
        let places = knockout::bracket(bracket.size());
        if let Some(block) = drawing.block(&places) {
            let room = width.unwrap_or(usize::MAX);
            if block.lines.iter().all(|line| columns_of(line) <= room) {
                let _ = writeln!(out, "\n{}", block.lines.join("\n"));
            }
        }
    }
    out + &matches(plan, results)
}

fn seeded_by(plan: &Plan) -> String {
    let first = match &plan.seeded_by {
        Some(file) => format!("by {}", escape_controls(file)),
        None => {
            "in the order given, those of a folder by name (--seeds FILE for another)".to_owned()
        }
    };
    match plan.format {
        Format::GroupsKnockout => format!("in the groups {first}; in the bracket by the groups"),
        _ => first,
    }
}

fn name_of(plan: &Plan, id: EntrantId) -> &str {
    plan.bot(id).map_or("?", |bot| bot.name.as_str())
}

fn points(tally: Tally) -> String {
    let (whole, half) = (tally.half_points / 2, tally.half_points % 2);
    format!("{whole}{}", ["", ".5"][usize::from(half == 1)])
}

struct Block {
    lines: Vec<String>,
    /// The line that continues to the right.
    anchor: usize,
    /// Who advances, if known.
    winner: Option<EntrantId>,
}

struct Drawing<'a> {
    plan: &'a Plan,
    results: &'a Results,
    bracket: &'a Bracket,
}

impl Drawing<'_> {
    /// `places` is a power of two long; `None` without bots.
    fn block(&self, places: &[Option<EntrantId>]) -> Option<Block> {
        if let [place] = places {
            let id = self.bracket.entrant((*place)?);
            let seed = (*place)?.index() + 1;
            let name = shortened(&escape_controls(name_of(self.plan, id)), NAME);
            let name = format!("{seed} {name}");
            return Some(Block {
                lines: vec![name],
                anchor: 0,
                winner: Some(id),
            });
        }
        let (upper, lower) = places.split_at(places.len() / 2);
        match (self.block(upper), self.block(lower)) {
            (Some(upper), Some(lower)) => Some(self.joined(upper, lower, places.len())),
            (one, other) => one.or(other),
        }
    }

    /// Two parts whose winners meet, `places` together.
    fn joined(&self, upper: Block, lower: Block, places: usize) -> Block {
        let round = self.bracket.rounds_before + places.trailing_zeros() as usize - 1;
        let played = self
            .results
            .matches(self.plan, round)
            .into_iter()
            .find(|played| [upper.winner, lower.winner].contains(&Some(played.pairing.a)));
        let made = |side: Option<EntrantId>| {
            let played = played.as_ref()?;
            let place = usize::from(side? != played.pairing.a);
            Some(format!(" {}", points(played.tallies[place])))
        };
        let winner = played
            .as_ref()
            .map(|played| self.bracket.decision(played).0);
        let made = [made(upper.winner), made(lower.winner)].map(Option::unwrap_or_default);
        let is_complete = self.plan.rounds.get(round).is_some_and(|round| {
            round.pairs().all(|pair| {
                self.results
                    .endings
                    .of(pair.number)
                    .iter()
                    .all(Option::is_some)
            })
        });
        let winner = winner.filter(|_| is_complete);
        let anchors = [upper.anchor, upper.lines.len() + 1 + lower.anchor];
        let middle = upper.lines.len();
        let mut lines = upper.lines;
        lines.push(String::new());
        lines.extend(lower.lines);
        for (anchor, made) in anchors.into_iter().zip(made) {
            lines[anchor].push_str(&made);
        }
        let widest = lines.iter().map(|line| columns_of(line)).max().unwrap_or(0);
        let name = winner.map_or("?", |id| name_of(self.plan, id));
        let name = shortened(&escape_controls(name), NAME);
        for (number, line) in lines.iter_mut().enumerate() {
            let is_anchor = anchors.contains(&number);
            let filler = if is_anchor { "─" } else { " " };
            let end = match number {
                _ if number == anchors[0] => "┐".to_owned(),
                _ if number == anchors[1] => "┘".to_owned(),
                _ if number == middle => format!("├─ {name}"),
                _ if number > anchors[0] && number < anchors[1] => "│".to_owned(),
                _ => continue,
            };
            let blanks = widest - columns_of(line);
            let _ = write!(line, " {}{filler}{end}", filler.repeat(blanks));
        }
        Block {
            lines,
            anchor: middle,
            winner,
        }
    }
}

fn matches(plan: &Plan, results: &Results) -> String {
    let name = |id| name_of(plan, id);
    let bracket = results.bracket(plan);
    let mut out = String::new();
    for (place, round) in plan.rounds.iter().enumerate() {
        let _ = writeln!(out, "\nround {} of {}", round.number, plan.rounds_planned);
        for played in results.matches(plan, place) {
            // Groups do not eliminate.
            let decision = bracket
                .as_ref()
                .filter(|bracket| place >= bracket.rounds_before)
                .map(|bracket| bracket.decision(&played));
            let points = played.tallies.map(points);
            let Pairing { a, b } = played.pairing;
            let _ = write!(
                out,
                "  {} {} - {} {}",
                name(a),
                points[0],
                points[1],
                name(b)
            );
            if let Some((winner, by)) = decision {
                let by = by.in_words();
                let gap = if by.is_empty() { "" } else { " " };
                let _ = write!(out, ": {} advances{gap}{by}", name(winner));
            }
            out.push('\n');
        }
        for &bye in &round.byes {
            let _ = writeln!(out, "  {} has a bye", name(bye));
        }
    }
    out
}
