//! `referee simulate --budget`: games that are chosen, compared with equal shares.

use std::io;

use serde_json::json;

use super::Args;
use crate::cli::support::failure::Failure;
use crate::cli::support::setup::palette;
use crate::report::terminal::aligned;
use crate::tournament::budget::comparison::{
    Compared, Comparison, Errors, Saving, Step, compare, saving, saving_of_oracle,
};

/// Rows of the table; with four the third is that of three quarters of the games.
const ROWS: usize = 4;

/// The text of the command, for this many games.
pub(super) fn compared(args: &Args, games: u64) -> Result<String, Failure> {
    let most = u64::from(args.bots) * u64::from(args.bots - 1) * u64::from(args.pairs);
    if games > most {
        return Err(Failure::Usage(format!(
            "--budget {games}: {} bots with --pairs {} play {most} games at most; choose fewer games, or more pairs",
            args.bots, args.pairs
        )));
    }
    let comparison = Comparison {
        games,
        bots: args.bots,
        pairs: args.pairs,
        draws: f64::from(args.draws) / 100.0,
        spread: args.spread,
        tournaments: args.tournaments,
        oracle: args.oracle,
        seed: args.seed,
    };
    let found = compare(&comparison).map_err(|error| Failure::Referee(error.to_string()))?;
    let saving = saving(&found.steps);
    Ok(if args.json {
        format!("{}\n", as_json(args, &found, saving))
    } else {
        text(args, &found, saving)
    })
}

fn as_json(args: &Args, found: &Compared, saving: Option<Saving>) -> serde_json::Value {
    let errors = |errors: &Errors| {
        json!({
            "order": errors.order,
            "rating": errors.rating,
            "interval": errors.interval,
        })
    };
    let steps = found.steps.iter().map(|step| {
        json!({
            "games": step.games,
            "equal": errors(&step.equal),
            "chosen": errors(&step.chosen),
            "oracle": step.oracle.as_ref().map(errors),
        })
    });
    json!({
        "bots": args.bots,
        "pairs": args.pairs,
        "spread": args.spread,
        "steps": steps.collect::<Vec<_>>(),
        "places": found.places,
        "width": found.width,
        "needs": saving.map(|saving| saving.games),
        "rating": saving.map(|saving| saving.rating),
        "oracle_needs": saving_of_oracle(&found.steps).map(|saving| saving.games),
    })
}

fn text(args: &Args, found: &Compared, saving: Option<Saving>) -> String {
    let steps = &found.steps;
    let heads = [
        "games",
        "wrong order: equal",
        "chosen",
        "ratings' error: equal",
        "chosen",
        "intervals hold",
    ];
    let mut rows = vec![heads.map(str::to_owned).to_vec()];
    let shown = steps.iter().rev().step_by((steps.len() / ROWS).max(1));
    let mut shown: Vec<&Step> = shown.collect();
    shown.reverse();
    for Step {
        games,
        equal,
        chosen,
        ..
    } in shown
    {
        let percent = |share: f64| format!("{:.1}%", 100.0 * share);
        rows.push(vec![
            games.to_string(),
            percent(equal.order),
            percent(chosen.order),
            format!("{:.0}", equal.rating),
            format!("{:.0}", chosen.rating),
            percent(chosen.interval),
        ]);
    }
    let table = aligned(&rows, &palette(&io::stdout()), &[]);
    let all = steps.last().map_or(0, |step| step.games);
    let verdict = match saving {
        Some(Saving { games, rating }) => format!(
            "The order of {all} games in equal shares takes {games:.0} chosen ones ({:.0} %); the ratings' error is then {rating:.2} \
             times as large.",
            100.0 * games / f64::from(u32::try_from(all).unwrap_or(u32::MAX))
        ),
        None => {
            format!("The order of {all} games in equal shares takes more chosen ones than that.")
        }
    };
    let oracle = match saving_of_oracle(steps) {
        Some(Saving { games, .. }) => format!(
            "Somebody who knew the strengths, and chose for the order alone, would need {games:.0} ({:.0} %).\n",
            100.0 * games / f64::from(u32::try_from(all).unwrap_or(u32::MAX))
        ),
        None if args.oracle => {
            "Somebody who knew the strengths, and chose for the order alone, would need more than all.\n"
                .to_owned()
        }
        None => String::new(),
    };
    format!(
        "{table}\n{verdict}\n{oracle}A bot is on one of {:.1} places with 95 %, which hold in {:.0} %.\n{} bots whose strengths spread by {} Elo, {} % draws, {} pairs of two bots at most, {} simulated \
         leagues. wrong order: of all two bots; ratings' error: the root of the mean square, in Elo; hold: how \
         often they have the true place or strength, which should be 95 %.\n",
        found.width,
        100.0 * found.places,
        args.bots,
        args.spread,
        args.draws,
        args.pairs,
        args.tournaments
    )
}
