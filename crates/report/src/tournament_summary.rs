//! A tournament's printed summary, and the tables in its folder.

use std::fmt::Write as _;

use super::standings::{as_csv, as_json, crosstable_csv, table, times_csv};
use super::terminal::{Palette, aligned, shortened_name, width as columns_of};
use referee_stats::ratings::RatingError;
use referee_stats::schedule::knockout::DecidedBy;
use referee_stats::standings::Standings;
use referee_text::{counted, escape_controls, short_name};
use referee_tournament::Ended;
use referee_tournament::elimination::group_name;
use referee_tournament::overview::{BracketPlace, TournamentOverview};
use referee_tournament::plan::{Format, Plan};
use referee_tournament::results::{NoWinner, Results};

fn standings(plan: &Plan, results: &Results) -> Result<Standings, RatingError> {
    let ranking = results.ranking(plan);
    results.collector.standings(&ranking)
}

/// File names and contents. Times are a separate table: the others depend only on the games, byte for byte.
pub fn tables(plan: &Plan, results: &Results) -> Result<[(&'static str, String); 4], RatingError> {
    let standings = standings(plan, results)?;
    let json = format!("{}\n", as_json(&standings, false));
    Ok([
        ("standings.json", json),
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
    let mut standings = standings(plan, results)?;
    // The reasons were told before the first game.
    for absent in &mut standings.ranking.not_entered {
        absent.absence = None;
    }
    let mut out = table(&standings, palette, width);
    out.push_str(&distinct(results));
    if plan.format.eliminates() {
        let overview = results.overview(plan);
        out.push_str(&groups(&overview, palette));
        out.push_str(&bracket(plan, results, &overview, width));
    }
    if let Some(verdict) = verdict(ended, plan, results) {
        out.push_str(&verdict);
    } else if ended == Ended::Complete {
        out.push_str(&winner(plan, results, &standings));
    }
    Ok(out)
}

/// Empty where no bot can win: in a gauntlet, and where no games connect some bots.
fn winner(plan: &Plan, results: &Results, standings: &Standings) -> String {
    if plan.format == Format::Gauntlet || standings.tables > 1 {
        return String::new();
    }
    let first = standings.places.iter().filter(|place| place.rank == 1);
    let index = |name: &str| plan.bots.iter().position(|bot| bot.name == name);
    let firsts: Vec<usize> = first.filter_map(|place| index(&place.name)).collect();
    if let Some(reason) = results.no_winner(&firsts) {
        return no_winner(reason, plan, &firsts);
    }
    let silent: Vec<usize> = results.silent().collect();
    let winners = firsts.into_iter().filter(|bot| !silent.contains(bot));
    let names: Vec<String> = winners.map(|bot| short_name(name_of(plan, bot))).collect();
    match &names[..] {
        [] => String::new(),
        [name] => format!("{name} wins the tournament.\n"),
        names => format!("{} share first place.\n", listed(names)),
    }
}

fn listed(names: &[String]) -> String {
    match names {
        [names @ .., last] if !names.is_empty() => format!("{} and {last}", names.join(", ")),
        _ => names.concat(),
    }
}

fn no_winner(reason: NoWinner, plan: &Plan, firsts: &[usize]) -> String {
    let (who, verb) = match reason {
        NoWinner::NoTurn => ("no bot".to_owned(), "made a turn"),
        NoWinner::NoTurnOfFirst => {
            let names = firsts.iter().map(|&bot| short_name(name_of(plan, bot)));
            let names: Vec<String> = names.collect();
            (
                format!("{}, first in the table,", listed(&names)),
                "made no turn",
            )
        }
    };
    format!("The tournament has no winner: {who} {verb} in any game.\n")
}

fn groups(overview: &TournamentOverview, palette: &Palette) -> String {
    let mut out = String::new();
    for (group, table) in overview.groups.iter().enumerate() {
        let title = group_name(group);
        let heads = ["#", "bot", "games", "points", ""].map(str::to_owned);
        let rows = table.iter().zip(1..).map(|(place, rank): (_, usize)| {
            let advances = if place.advances { "advances" } else { "" };
            let name = overview.names.get(place.bot);
            let name = name.map_or_else(String::new, |name| short_name(name));
            let (games, points) = (place.games.to_string(), points(place.half_points));
            [rank.to_string(), name, games, points, advances.to_owned()]
        });
        let rows: Vec<Vec<String>> = [heads].into_iter().chain(rows).map(Vec::from).collect();
        let _ = write!(out, "\ngroup {title}\n{}", aligned(&rows, palette, &[1, 4]));
    }
    out
}

fn distinct(results: &Results) -> String {
    let distinct = &results.distinct;
    let least = if distinct.full { "at least " } else { "" };
    if !distinct.full && distinct.count() as u64 == distinct.games {
        return String::new();
    }
    // Otherwise the table's two numbers of games would seem to contradict each other.
    let rest = match results.games.saturating_sub(distinct.games) {
        0 => String::new(),
        others => {
            let others = counted(others, "game", "games");
            format!(" in which a turn was made; in {others} none was")
        }
    };
    let (count, games) = (distinct.count(), distinct.games);
    format!("{least}{count} distinct games of {games}{rest}\n")
}

fn verdict(ended: Ended, plan: &Plan, results: &Results) -> Option<String> {
    if let Ended::Won(winner) = ended {
        let winner = winner.index();
        if let Some(reason) = results.no_winner(&[winner]) {
            return Some(no_winner(reason, plan, &[winner]));
        }
        return Some(format!("{} wins the tournament.\n", name_of(plan, winner)));
    }
    let test = plan.sprt.as_ref()?;
    let (lower, upper) = test.bounds();
    let llr = test.llr(&results.pentanomial);
    let elo = results.pentanomial.elo();
    let [a, b] = [0, 1].map(|bot| name_of(plan, bot));
    let accepted = match ended {
        Ended::Decided(decision) => test.accepted(decision),
        _ => None,
    };
    // A test only chooses between two differences; the estimate says how large it is.
    let verdict = match accepted {
        Some((hypothesis, elo, other)) => {
            format!("{hypothesis} accepted: a difference of {elo} Elo rather than {other}")
        }
        None => format!(
            "not decided between differences of {} and {} Elo",
            test.elo0, test.elo1
        ),
    };
    let difference = match elo.error {
        Some(error) if elo.elo.is_finite() => {
            let elo = (10.0 * elo.elo).round() / 10.0 + 0.0;
            format!("estimated {elo:+.1} ± {error:.1} Elo")
        }
        _ => "too large to measure".to_owned(),
    };
    let [p0, p1, p2, p3, p4] = results.pentanomial.0;
    Some(format!(
        "SPRT of {a} against {b}: {verdict}; {difference}. LLR {llr:.2}, bounds {lower:.2} and \
         {upper:.2}; pairs by points of {a}: 0: {p0}, ½: {p1}, 1: {p2}, 1½: {p3}, 2: {p4}\n"
    ))
}

const NAME: usize = 20;

/// The drawing, if it fits `width` columns, then the matches by round.
fn bracket(
    plan: &Plan,
    results: &Results,
    overview: &TournamentOverview,
    width: Option<usize>,
) -> String {
    let mut out = format!("\nseeds: {}\n", seeded_by(plan));
    let last = overview.bracket.len().checked_sub(1);
    if let Some(block) = last.and_then(|round| block(overview, round, 0)) {
        let room = width.unwrap_or(usize::MAX);
        if block.lines.iter().all(|line| columns_of(line) <= room) {
            let _ = writeln!(out, "\n{}", block.lines.join("\n"));
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

fn name_of(plan: &Plan, bot: usize) -> &str {
    plan.bots.get(bot).map_or("?", |bot| bot.name.as_str())
}

fn points(half_points: u64) -> String {
    let (whole, half) = (half_points / 2, half_points % 2);
    format!("{whole}{}", ["", ".5"][usize::from(half == 1)])
}

struct Block {
    lines: Vec<String>,
    anchor: usize,
}

fn name_in(overview: &TournamentOverview, bot: usize) -> String {
    let name = overview.names.get(bot).map_or("?", String::as_str);
    shortened_name(&escape_controls(name), NAME)
}

/// A place of a round of the bracket, with what leads to it; `None` without bots.
fn block(overview: &TournamentOverview, round: usize, number: usize) -> Option<Block> {
    let place = overview.bracket.get(round)?.get(number)?;
    let side = |side: usize| match round.checked_sub(1) {
        Some(before) => block(overview, before, 2 * number + side),
        None => place.bots[side].map(|bot| {
            let seed = overview.seeds.iter().position(|&seed| seed == bot);
            let seed = seed.map_or(0, |seed| seed + 1);
            Block {
                lines: vec![format!("{seed} {}", name_in(overview, bot))],
                anchor: 0,
            }
        }),
    };
    match (side(0), side(1)) {
        (Some(upper), Some(lower)) => {
            let is_final = round + 1 == overview.bracket.len();
            let winner = place.winner().map(|bot| match overview.names.get(bot) {
                // There is room for the champion.
                Some(name) if is_final => short_name(name),
                _ => name_in(overview, bot),
            });
            let winner = winner.as_deref().unwrap_or("?");
            Some(joined(place, winner, upper, lower))
        }
        (one, other) => one.or(other),
    }
}

fn joined(place: &BracketPlace, winner: &str, upper: Block, lower: Block) -> Block {
    let played = place.meeting.as_ref().filter(|meeting| meeting.games > 0);
    let anchors = [upper.anchor, upper.lines.len() + 1 + lower.anchor];
    let middle = upper.lines.len();
    let mut lines = upper.lines;
    lines.push(String::new());
    lines.extend(lower.lines);
    let made = played.map(|meeting| meeting.half_points);
    for (anchor, made) in anchors.into_iter().zip(made.into_iter().flatten()) {
        let _ = write!(lines[anchor], " {}", points(made));
    }
    let extra = played.and_then(|meeting| meeting.tie_break.as_ref());
    let extra = extra.filter(|extra| extra.games > 0);
    for (anchor, made) in anchors
        .into_iter()
        .zip(extra.into_iter().flat_map(|extra| extra.half_points))
    {
        let _ = write!(lines[anchor], " ({})", points(made));
    }
    let widest = lines.iter().map(|line| columns_of(line)).max().unwrap_or(0);
    for (number, line) in lines.iter_mut().enumerate() {
        let is_anchor = anchors.contains(&number);
        let filler = if is_anchor { "─" } else { " " };
        let end = match number {
            _ if number == anchors[0] => "┐".to_owned(),
            _ if number == anchors[1] => "┘".to_owned(),
            _ if number == middle => format!("├─ {winner}"),
            _ if number > anchors[0] && number < anchors[1] => "│".to_owned(),
            _ => continue,
        };
        let blanks = widest - columns_of(line);
        let _ = write!(line, " {}{filler}{end}", filler.repeat(blanks));
    }
    Block {
        lines,
        anchor: middle,
    }
}

fn matches(plan: &Plan, results: &Results) -> String {
    let bracket = results.bracket(plan);
    let mut out = String::new();
    for place in plan.rounds_after(0) {
        let round = &plan.rounds[place];
        let _ = writeln!(out, "\nround {} of {}", round.number, plan.rounds_planned);
        for meeting in results.meetings(plan, place, bracket.as_ref()) {
            let [made, lost] = meeting.half_points.map(points);
            let [a, b] = meeting.bots.map(|bot| name_of(plan, bot));
            let _ = write!(out, "  {a}  {made}–{lost}  {b}");
            if let Some(extra) = meeting.tie_break.as_ref().filter(|extra| extra.games > 0) {
                let [made, lost] = extra.half_points.map(points);
                let games = counted(extra.games, "tie-break game", "tie-break games");
                let _ = write!(out, ", then {made}–{lost} in {games}");
            }
            if let Some((side, by)) = meeting.winner {
                // The games have been told.
                let by = if by == DecidedBy::TieBreakGames.in_words() {
                    ""
                } else {
                    by
                };
                let gap = if by.is_empty() { "" } else { " " };
                let _ = write!(out, ": {} advances{gap}{by}", [a, b][side]);
            }
            out.push('\n');
        }
        for &bye in &round.byes {
            let _ = writeln!(out, "  {} has a bye", name_of(plan, bye.index()));
        }
    }
    out
}
