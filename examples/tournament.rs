//! Plays a round robin of Quarto between programs and prints the table.
//!
//! `cargo run --example tournament -- BOT...`, where a bot is a file or a command line.

use std::env::args;
use std::error::Error;
use std::ops::ControlFlow;
use std::path::Path;

use referee::record::journal::LINGERING_LOCK;
use referee::tournament::entrants::{Finder, find};
use referee::tournament::plan::BotPlan;
use referee::tournament::plan::request::GamesRequest;
use referee::{
    Arena, GameSettings, Palette, PlanRequest, Sandbox, TournamentDirectory, registry,
    tournament_summary,
};
use tokio::sync::mpsc;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let quarto = registry::find("quarto").ok_or("Quarto is not registered")?;
    let ruleset = quarto.ruleset(registry::Choices::default());
    let folder = tempfile::tempdir()?;
    let directory = TournamentDirectory::make(folder.path())?;
    let bot = |bot| BotPlan {
        bot,
        ..BotPlan::default()
    };
    let bots: Vec<BotPlan> = args().skip(1).map(bot).collect();
    let finder = Finder::without_builds(Path::new("referee"));
    let entrants = find(&bots, finder, &Sandbox::none(false))?;
    let request = PlanRequest {
        pairs: Some(2),
        games: GamesRequest {
            seed: Some(7),
            ..GamesRequest::default()
        },
        ..PlanRequest::default()
    };
    let settings = GameSettings::new(ruleset, 1, &directory)?;
    let (plan, entrants) = request
        .begin(&settings, &directory, entrants, &mut |_| {})
        .await?;
    let file = directory.journal_file();
    let (journal, _) = directory.open_journal(&file, LINGERING_LOCK)?;
    let arena = Arena::open(&settings, &directory, journal, &file, plan, entrants)?;
    let (_stop, mut stops) = mpsc::channel(1);
    let mut observer = |_: &_, _: &_, _: &_| ControlFlow::Continue(());
    let (ended, plan, results) = arena.run(&mut stops, &mut observer).await?;
    let summary = tournament_summary(ended, &plan, &results, &Palette::default(), None)?;
    print!("{summary}");
    Ok(())
}
