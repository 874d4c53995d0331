//! A tournament's printed summary, and the tables in its folder.

use super::bracket::bracket;
use super::standings::{as_csv, as_json, crosstable_csv, table, times_csv};
use super::terminal::Palette;
use crate::arena::plan::Plan;
use crate::arena::results::Results;
use crate::arena::{Ended, sprt};
use crate::text::counted;
use crate::tournament::ratings::{Model, RatingError};
use crate::tournament::sprt::{Decision, SprtError};
use crate::tournament::standings::Standings;

/// Why a tournament cannot be summarised.
#[derive(Debug, thiserror::Error)]
pub enum SummaryError {
    #[error(transparent)]
    Ratings(#[from] RatingError),
    /// An invalid sequential test.
    #[error(transparent)]
    Sprt(#[from] SprtError),
}

fn standings(plan: &Plan, results: &Results) -> Result<Standings, RatingError> {
    let ranking = results.ranking(plan);
    results.collector.ranked(&Model::default(), &ranking)
}

/// File names and contents. Times are a separate table: the others depend only on the games, byte for byte.
pub fn tables(plan: &Plan, results: &Results) -> Result<[(&'static str, String); 4], SummaryError> {
    let standings = standings(plan, results)?;
    let timeless = standings.without_times();
    Ok([
        ("standings.json", format!("{}\n", as_json(&timeless))),
        ("standings.csv", as_csv(&timeless)),
        ("crosstable.csv", crosstable_csv(&timeless)),
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
) -> Result<String, SummaryError> {
    let standings = standings(plan, results)?;
    let mut out = table(&standings, palette, width);
    out.push_str(&distinct(results));
    if plan.format.eliminates() {
        out.push_str(&bracket(plan, results, width));
    }
    if let Some(verdict) = verdict(ended, plan, results)? {
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

fn verdict(ended: Ended, plan: &Plan, results: &Results) -> Result<Option<String>, SprtError> {
    if let Ended::Won(winner) = ended {
        let name = plan.bot(winner).map_or("?", |bot| bot.name.as_str());
        return Ok(Some(format!("{name} wins the tournament.\n")));
    }
    let Some(hypotheses) = &plan.sprt else {
        return Ok(None);
    };
    let test = sprt(hypotheses)?;
    let (lower, upper) = test.bounds();
    let llr = test.llr(&results.pentanomial);
    let elo = results.pentanomial.elo();
    let [a, b] = [0, 1].map(|i| plan.bots.get(i).map_or("?", |bot| bot.name.as_str()));
    let (elo0, elo1) = (hypotheses.elo0, hypotheses.elo1);
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
    Ok(Some(format!(
        "SPRT of {a} against {b}: {verdict}; {difference}. LLR {llr:.2}, bounds {lower:.2} and \
         {upper:.2}; pairs by points of {a}: 0: {}, ½: {}, 1: {}, 1½: {}, 2: {}\n",
        results.pentanomial.0[0],
        results.pentanomial.0[1],
        results.pentanomial.0[2],
        results.pentanomial.0[3],
        results.pentanomial.0[4],
    )))
}
