//! Standings as a table, CSV, JSON or Markdown.

mod columns;
mod export;

use std::fmt::Write as _;

pub(super) use self::export::{CsvTable, escape_formula};
pub use self::export::{as_csv, as_json, crosstable_csv, times_csv};

use self::columns::{Column, fit};
use super::accuracy::percent;
use super::terminal::{Palette, aligned, width as columns_of, wrapped};
use crate::text::{counted, escape_controls, escape_markdown, format_milliseconds, short_name};
use crate::tournament::standings::{NotEntered, Place, RankBy, Standings, TieBreak};

/// Without trailing zeros: `7`, `7.5`.
fn points(points: f64) -> String {
    format!("{points}")
}

fn forfeits(place: &Place) -> String {
    let listed: Vec<String> = place
        .forfeits
        .iter()
        .map(|(reason, count)| format!("{} {count}", short_name(reason)))
        .collect();
    listed.join(", ")
}

/// Rounded: `-12`, `0`, never `-0`.
pub(crate) fn elo(elo: f64) -> String {
    format!("{:.0}", elo.round() + 0.0)
}

/// Places gained or lost: `↑2`, `↓1`, `=`; `new` without an earlier place.
fn moved(rank: usize, before: Option<usize>) -> String {
    match before {
        None => "new".to_owned(),
        Some(before) if rank < before => format!("↑{}", before - rank),
        Some(before) if rank > before => format!("↓{}", rank - before),
        Some(_) => "=".to_owned(),
    }
}

/// The short name of a criterion with a column.
const fn shown(tie_break: TieBreak) -> Option<&'static str> {
    match tie_break {
        TieBreak::Buchholz => Some("BH"),
        TieBreak::BuchholzCut1 => Some("BH-C1"),
        TieBreak::SonnebornBerger => Some("SB"),
        TieBreak::WinsAsSecond => Some("won as 2nd"),
        TieBreak::Direct | TieBreak::Wins | TieBreak::Rating => None,
    }
}

fn columns(standings: &Standings, places: &[&Place]) -> Vec<Column> {
    let column = |head, weight, cell: &dyn Fn(&Place) -> String| {
        Column::new(
            head,
            weight,
            places.iter().map(|place| cell(place)).collect(),
        )
    };
    let mut all = vec![
        column("#", 100, &|place| place.rank.to_string()),
        column("bot", 100, &|place| short_name(&place.name)).left(),
    ];
    if !standings.ranking.before.is_empty() {
        let moved = |place: &Place| {
            let before = standings.ranking.before.get(&place.name);
            moved(place.rank, before.copied())
        };
        all.push(column("moved", 92, &moved).left());
    }
    if matches!(standings.ranking.by, RankBy::Reached(_)) {
        let reached = |place: &Place| place.reached.clone().unwrap_or_default();
        all.push(column("reached", 99, &reached).left());
    }
    all.extend([
        column("games", 60, &|place| place.games.to_string()),
        column("won", 50, &|place| place.wins.to_string()),
        column("drawn", 50, &|place| place.draws.to_string()),
        column("lost", 50, &|place| place.losses.to_string()),
    ]);
    if !standings.ranking.byes.is_empty() {
        all.push(column("byes", 80, &|place| place.byes.count.to_string()));
    }
    all.push(column("points", 90, &|place| points(place.points)));
    let by_points = standings.ranking.by == RankBy::Points;
    if by_points || !standings.ranking.tie_breaks.is_empty() {
        for &tie_break in standings.ranking.tie_breaks() {
            let Some(head) = shown(tie_break) else {
                continue;
            };
            all.push(column(head, 75, &|place| {
                points(match tie_break {
                    TieBreak::Buchholz => place.buchholz,
                    TieBreak::BuchholzCut1 => place.buchholz_cut_1,
                    TieBreak::SonnebornBerger => place.sonneborn_berger,
                    _ => f64::from(u32::try_from(place.wins_as_second).unwrap_or(u32::MAX)),
                })
            }));
        }
    }
    all.extend([
        column("score", 70, &|place| percent(Some(place.score))),
        column("Elo", 95, &|place| elo(place.elo)),
        column("±95%", 94, &|place| {
            place.error.map_or_else(String::new, elo)
        }),
        column("LOS", 40, &|place| percent(place.superiority)),
        column("median", 30, &|place| {
            place
                .median_ms
                .map_or_else(String::new, format_milliseconds)
        }),
    ]);
    if standings
        .places
        .iter()
        .any(|place| place.analysis.is_some())
    {
        let tally = |cell: &'static dyn Fn(&crate::record::annotation::Tally) -> String| {
            move |place: &Place| place.analysis.as_ref().map_or_else(String::new, cell)
        };
        all.extend([
            column("proven", 20, &tally(&|tally| tally.proven.to_string())),
            column("accuracy", 28, &tally(&|tally| percent(tally.accuracy()))),
            column(
                "blunders",
                26,
                &tally(&|tally| tally.blunders().to_string()),
            ),
            column(
                "missed wins",
                24,
                &tally(&|tally| tally.missed_wins.to_string()),
            ),
        ]);
    }
    // The longest texts are last.
    let number = |place: &Place| match place.forfeits.values().sum::<u64>() {
        0 => String::new(),
        count => count.to_string(),
    };
    let mut last = column("forfeits", 65, &forfeits).left();
    last.short = Some(places.iter().map(|place| number(place)).collect());
    all.push(last);
    all
}

/// In words.
fn criteria(standings: &Standings) -> Vec<&'static str> {
    let ranking = &standings.ranking;
    let first = match &ranking.by {
        RankBy::Reached(_) => "place in the bracket",
        RankBy::Results if standings.by_rating => "rating",
        _ if ranking.byes.is_empty() => "points",
        _ => "points, those for byes included",
    };
    let chosen = ranking.tie_breaks().iter();
    let mut all: Vec<&str> = [first]
        .into_iter()
        .chain(chosen.map(|tie| tie.in_words()))
        .collect();
    let last = match &ranking.by {
        RankBy::Reached(_) => "seed",
        _ => "rating",
    };
    for more in [last, "name"] {
        if !all.contains(&more) {
            all.push(more);
        }
    }
    all
}

/// A sentence on the tables' order.
fn order(standings: &Standings) -> String {
    let why = if standings.by_rating {
        " (the bots have played unequally many games)"
    } else {
        ""
    };
    let mut criteria = criteria(standings).into_iter();
    let first = criteria.next().unwrap_or_default();
    let rest: Vec<&str> = criteria.collect();
    format!("order: {first}{why}, then {}", rest.join(", "))
}

/// Why there are several tables, or which ratings cannot be compared.
fn separate(standings: &Standings) -> Option<String> {
    if standings.tables > 1 {
        Some(format!(
            "{} tables: no games, directly or through other bots, connect the bots of one with those of \
             another, so neither their points nor their ratings can be compared",
            standings.tables
        ))
    } else if standings.connected > 1 {
        Some(format!(
            "no games connect {} groups of bots yet: ratings can be compared only within each",
            standings.connected
        ))
    } else {
        None
    }
}

/// By table.
fn tables(standings: &Standings) -> impl Iterator<Item = Vec<&Place>> {
    let chunks = standings.places.chunk_by(|a, b| a.table == b.table);
    chunks.map(|places| places.iter().collect())
}

/// The head first; and indices of left-aligned columns.
fn rows(columns: &[Column]) -> (Vec<Vec<String>>, Vec<usize>) {
    let left = (0..columns.len()).filter(|&i| columns[i].is_left);
    let heads = columns
        .iter()
        .map(|column| column.head.to_owned())
        .collect();
    let count = columns.first().map_or(0, |column| column.cells.len());
    let row = |place: usize| {
        columns
            .iter()
            .map(move |column| column.cells[place].clone())
    };
    let rows = (0..count).map(|place| row(place).collect());
    ([heads].into_iter().chain(rows).collect(), left.collect())
}

/// Points head to head of these consecutive places; `-` when two have not met.
fn cross(places: &[&Place], first: usize, palette: &Palette) -> String {
    let mut heads = vec!["#".to_owned(), "bot".to_owned()];
    heads.extend((1..=places.len()).map(|place| place.to_string()));
    let rows = places.iter().enumerate().map(|(number, place)| {
        let mut row = vec![(number + 1).to_string(), short_name(&place.name)];
        let against = place.against[first..][..places.len()].iter();
        row.extend(against.map(|made| made.map_or_else(|| "-".to_owned(), points)));
        row
    });
    let all: Vec<_> = [heads].into_iter().chain(rows).collect();
    aligned(&all, palette, &[1])
}

/// For a terminal: standings and crosstable, shortened to `width` columns if given.
pub fn table(standings: &Standings, palette: &Palette, width: Option<usize>) -> String {
    let is_bounded = width.is_some();
    let width = width.unwrap_or(usize::MAX);
    let mut out = String::new();
    if let Some(why) = separate(standings) {
        let _ = writeln!(out, "{why}\n");
    }
    let mut left_out: Vec<&str> = Vec::new();
    let mut first = 0;
    for places in tables(standings) {
        let mut columns = columns(standings, &places);
        left_out.extend(fit(&mut columns, width));
        let (rows, left) = rows(&columns);
        out.push_str(&aligned(&rows, palette, &left));
        // At least two columns a bot: too wide without drawing it.
        let fits = |cross: &str| cross.lines().all(|line| columns_of(line) <= width);
        let is_narrow = !is_bounded
            || places.len() < width / 2 && fits(&cross(&places, first, &Palette::plain()));
        if is_narrow {
            let cross = cross(&places, first, palette);
            let _ = writeln!(out, "\nPoints of each against each:\n{cross}");
        } else {
            left_out.push("points of each against each");
            out.push('\n');
        }
        first += places.len();
    }
    if !standings.places.is_empty() {
        let _ = writeln!(out, "{}", wrapped(&order(standings), width));
    }
    let mut seen = Vec::new();
    left_out.retain(|head| {
        !seen.contains(head) && {
            seen.push(*head);
            true
        }
    });
    if !left_out.is_empty() {
        let what = left_out.join(", ");
        let why = format!("not shown, as the terminal is too narrow: {what}");
        let _ = writeln!(out, "{}", wrapped(&why, width));
    }
    for absent in standings.not_entered() {
        let _ = writeln!(out, "did not enter: {}", not_entered(absent));
    }
    let _ = writeln!(out, "{}", wrapped(&summary(standings), width));
    out
}

/// Names and reasons.
fn not_entered(absent: &NotEntered) -> String {
    format!(
        "{}: {}",
        short_name(&absent.name),
        escape_controls(&absent.reason)
    )
}

fn summary(standings: &Standings) -> String {
    let games = counted(standings.games, "game", "games");
    let advantage = standings.advantage.and_then(|advantage| {
        let error = elo(advantage.error?);
        Some(format!(
            "; moving first is worth {} ± {error} Elo",
            elo(advantage.elo)
        ))
    });
    format!("{games}{}", advantage.unwrap_or_default())
}

/// Markdown tables.
pub fn markdown(standings: &Standings) -> String {
    let mut out = String::new();
    if let Some(why) = separate(standings) {
        let _ = writeln!(out, "{why}\n");
    }
    let all: Vec<Vec<&Place>> = if standings.places.is_empty() {
        vec![Vec::new()]
    } else {
        tables(standings).collect()
    };
    for places in all {
        let (rows, left) = rows(&columns(standings, &places));
        for (number, row) in rows.iter().enumerate() {
            if number > 0 {
                let cells: Vec<String> = row.iter().map(|text| escape_markdown(text)).collect();
                let _ = writeln!(out, "| {} |", cells.join(" | "));
                continue;
            }
            let rule = |i: usize| if left.contains(&i) { "---" } else { "---:" };
            let rules: Vec<&str> = (0..row.len()).map(rule).collect();
            let _ = writeln!(out, "| {} |\n| {} |", row.join(" | "), rules.join(" | "));
        }
        out.push('\n');
    }
    if !standings.places.is_empty() {
        let _ = writeln!(out, "{}\n", order(standings));
    }
    for absent in standings.not_entered() {
        let _ = writeln!(
            out,
            "- did not enter: {}",
            escape_markdown(&not_entered(absent))
        );
    }
    if standings.not_entered().next().is_some() {
        out.push('\n');
    }
    let _ = writeln!(out, "{}", summary(standings));
    out
}

#[cfg(test)]
mod tests {
    use super::{elo, moved};

    #[test]
    fn places_are_compared_with_those_before() {
        let shown = [(1, Some(3)), (3, Some(1)), (2, Some(2)), (1, None)];
        let shown = shown.map(|(rank, before)| moved(rank, before));
        assert_eq!(shown, ["↑2", "↓2", "=", "new"]);
    }

    #[test]
    fn an_elo_of_nearly_zero_has_no_sign() {
        let shown = [-0.4, -0.0, 0.4, -0.6, 12.5].map(elo);
        assert_eq!(shown, ["0", "0", "0", "-1", "13"]);
    }
}
