//! Exact values, in words.

use crate::analysis::appraisal::Appraiser;
use crate::cli::support::failure::Failure;
use crate::solver::Value;
use crate::text::{counted, escape_controls};

/// How many of the best turns are shown.
const SHOWN_TURNS: usize = 8;

/// A turn with its value, where there is a solver.
pub(super) fn valued(
    appraiser: Option<&Appraiser>,
    request: &str,
    turn: &str,
) -> Result<String, Failure> {
    let shown = escape_controls(turn);
    let Some(appraiser) = appraiser else {
        return Ok(shown);
    };
    let value = appraiser.turn(request, turn).map_err(Failure::Referee)?;
    Ok(format!("{shown:<6} {}", appraiser.words(value)))
}

/// The value of a position and the turns that keep it.
pub(super) fn best(appraiser: Option<&Appraiser>, request: &str) -> Result<String, Failure> {
    let Some(appraiser) = appraiser else {
        return Ok("there is no solver for this game".to_owned());
    };
    let found = appraiser.position(request).map_err(Failure::Referee)?;
    let Some(value) = found.value else {
        return Ok("not proven in time; --time-per-move gives the solver more".to_owned());
    };
    if value == Value::Loss {
        return Ok("every turn loses".to_owned());
    }
    if found.best.is_empty() {
        return Ok(format!(
            "a {}, but the turns that keep it were not found in time; --time-per-move gives the solver more",
            value.name()
        ));
    }
    let shown = found.best.iter().take(SHOWN_TURNS);
    let shown: Vec<String> = shown.map(|turn| escape_controls(turn)).collect();
    let mut text = format!("{}: {}", value.name(), shown.join(", "));
    let more = found.best.len().saturating_sub(SHOWN_TURNS) as u64;
    if more > 0 {
        let more = counted(more, "other turn", "other turns");
        text = format!("{text} and {more}");
    }
    if found.undecided > 0 {
        let undecided = counted(found.undecided as u64, "turn", "turns");
        text = format!("{text}; {undecided} not decided in time");
    }
    Ok(text)
}
