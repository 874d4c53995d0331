use clap::ValueEnum as _;
use serde_json::json;

use crate::cli::support::failure::{Result, bail};
use crate::cli::support::output::print_found;
use referee::report::terminal::{Palette, aligned};
use referee::stats::schedule::groups;
use referee::stats::simulation::{Forecast, Schedule, Simulation, simulate};
use referee::text::counted;
use referee::tournament::plan::Format;

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The number of bots
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(2..=10_000))]
    bots: u32,

    /// Who plays whom; all formats when it is not given
    #[arg(long, help_heading = "Schedule")]
    format: Option<Format>,

    /// Rounds [default: as in a tournament]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..), requires = "format", help_heading = "Schedule")]
    rounds: Option<u32>,

    /// Groups of groups+knockout [default: groups of four]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..), help_heading = "Schedule", hide_short_help = true)]
    groups: Option<u32>,

    /// Pairs of games in each pairing of two bots
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = clap::value_parser!(u32).range(1..), help_heading = "Schedule")]
    pairs: u32,

    /// How far the bots' strengths spread: their standard deviation, in Elo; and the percentage of drawn games
    /// [default percentage: 20]
    #[arg(long, value_name = "ELO[,PERCENT]", default_value = "100", value_parser = spread)]
    spread: (f64, u8),

    /// Tournaments to simulate; the more, the more exact the figures
    #[arg(long, value_name = "N", default_value_t = 500, value_parser = clap::value_parser!(u32).range(1..))]
    tournaments: u32,

    /// Everything random comes from this number
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,

    /// Print JSON
    #[arg(long, help_heading = "Output")]
    json: bool,
}

fn spread(text: &str) -> Result<(f64, u8), String> {
    let (elo, draws) = text.split_once(',').unwrap_or((text, "20"));
    let elo = elo.parse().ok().filter(|elo| (0.0..=2000.0).contains(elo));
    let draws = draws.parse().ok().filter(|draws| *draws <= 100);
    elo.zip(draws).ok_or_else(|| {
        "expected a number of Elo from 0 to 2000, and a percentage of draws where it is not 20, such as 100 or 100,5"
            .to_owned()
    })
}

pub(crate) fn run(args: &Args) -> Result<()> {
    let all = || Format::value_variants().to_vec();
    let formats = args.format.map_or_else(all, |format| vec![format]);
    let mut found = Vec::new();
    for format in formats {
        let Some(schedule) = schedule(args, format)? else {
            continue;
        };
        let simulation = Simulation {
            schedule,
            bots: args.bots,
            pairs: args.pairs,
            draws: f64::from(args.spread.1) / 100.0,
            spread: args.spread.0,
            tournaments: args.tournaments,
            seed: args.seed,
        };
        found.push((format, simulate(&simulation)?));
    }
    let one = |(format, forecast): &(Format, Forecast)| as_json(args, *format, forecast);
    let json = || json!({ "forecasts": found.iter().map(one).collect::<Vec<_>>() });
    print_found(args.json, json, |palette| table(args, &found, palette))
}

/// `None` where the format does not suit so few bots.
fn schedule(args: &Args, format: Format) -> Result<Option<Schedule>> {
    let usual = || format.usual_rounds(args.bots);
    let rounds = args.rounds.unwrap_or_else(usual);
    if args.rounds.is_some() && format.eliminates() {
        bail!("a knockout ends when one bot is left; leave --rounds out");
    }
    let usual = || groups::usual_groups(args.bots);
    let groups = args.groups.unwrap_or_else(usual);
    Ok(Some(match format {
        Format::RoundRobin => Schedule::RoundRobin(rounds),
        Format::Gauntlet => Schedule::Gauntlet(rounds),
        Format::Swiss => Schedule::Swiss(rounds),
        Format::Knockout => Schedule::Knockout,
        Format::GroupsKnockout if groups <= args.bots / 2 => Schedule::GroupsKnockout(groups),
        Format::GroupsKnockout if args.format.is_none() && args.groups.is_none() => {
            return Ok(None);
        }
        Format::GroupsKnockout => {
            let (bots, most) = (args.bots, args.bots / 2);
            bail!("--groups {groups}: {bots} bots are at most {most} groups of two");
        }
    }))
}

fn as_json(args: &Args, format: Format, forecast: &Forecast) -> serde_json::Value {
    json!({
        "format": format,
        "bots": args.bots,
        "pairs": args.pairs,
        "rounds": forecast.rounds,
        "games": forecast.games,
        "best_wins": forecast.best_wins,
        "best_in_three": forecast.best_in_three,
        "order": forecast.order,
        "error": forecast.error,
    })
}

fn table(args: &Args, found: &[(Format, Forecast)], palette: &Palette) -> String {
    let heads = [
        "format",
        "rounds",
        "games",
        "best wins",
        "best in 3",
        "in order",
        "±95%",
    ];
    let mut rows = vec![heads.map(str::to_owned).to_vec()];
    for (format, forecast) in found {
        let percent = |share: f64| format!("{:.0}%", 100.0 * share);
        rows.push(vec![
            format.in_words().to_owned(),
            forecast.rounds.to_string(),
            forecast.games.to_string(),
            percent(forecast.best_wins),
            percent(forecast.best_in_three),
            percent(forecast.order),
            if forecast.error.is_finite() {
                format!("{:.0}", forecast.error)
            } else {
                "open".to_owned()
            },
        ]);
    }
    let table = aligned(&rows, palette, &[0]);
    format!(
        "{table}\n{} bots whose strengths spread by {} Elo, {} % draws, {} when two meet, {} \
         each. best wins: how often the best bot won; in order: pairs of bots that the ratings \
         have in the right order; ±95%: half the width of the intervals, in Elo; open: most have no upper or lower end.\n",
        args.bots,
        args.spread.0,
        args.spread.1,
        counted(args.pairs.into(), "pair", "pairs"),
        counted(
            args.tournaments.into(),
            "simulated tournament",
            "simulated tournaments"
        )
    )
}
