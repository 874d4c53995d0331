//! A knockout's bracket for a terminal.

use std::fmt::Write as _;

use super::terminal::{shortened, width as columns_of};
use crate::arena::elimination::Bracket;
use crate::arena::plan::{Format, Plan};
use crate::arena::results::Results;
use crate::text::escape_controls;
use crate::tournament::schedule::knockout::{self, DecidedBy, Tally};
use crate::tournament::schedule::{EntrantId, Pairing};

/// Names are shortened to this width in the drawing.
const NAME: usize = 20;

/// The drawing, if it fits `width` columns, then the matches by round.
pub(super) fn bracket(plan: &Plan, results: &Results, width: Option<usize>) -> String {
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

/// What the seeds come from.
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
    let half = if tally.half_points % 2 == 1 { ".5" } else { "" };
    format!("{}{half}", tally.half_points / 2)
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

/// By round.
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
                let by = match by {
                    DecidedBy::Points => "",
                    DecidedBy::WinsAsSecond => " by more wins as the second to move",
                    DecidedBy::QuickerWins => " by quicker wins",
                    DecidedBy::Seed => " as the better seed",
                };
                let _ = write!(out, ": {} advances{by}", name(winner));
            }
            out.push('\n');
        }
        for &bye in &round.byes {
            let _ = writeln!(out, "  {} has a bye", name(bye));
        }
    }
    out
}
