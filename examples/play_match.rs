//! Plays a match of ten games between two programs and prints the score.
//!
//! `cargo run --example play_match -- BOT1 BOT2`, where a bot is a file or a command line.

use std::env::args;
use std::error::Error;
use std::path::Path;

use referee::{
    BotIndex, BotSpec, GameRunner, GracePeriods, MatchPlan, MatchRunner, Seat, TimeControl,
    registry,
};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let quarto = registry::find("quarto").ok_or("Quarto is not registered")?;
    let ruleset = quarto.ruleset(registry::Choices::default());
    let time = TimeControl::default();
    let seat = |text: &str| match BotSpec::parse(text, Path::new("referee"), &[])? {
        BotSpec::Human => Err("people play at a terminal: see referee play".into()),
        BotSpec::Program(program) => {
            Ok::<_, Box<dyn Error>>(Seat::program(&*ruleset, None, program, time))
        }
    };
    let [_, one, two] = &args().collect::<Vec<_>>()[..] else {
        return Err("expected two bots".into());
    };
    let seats = [seat(one)?, seat(two)?];
    let plan = MatchPlan {
        start: Some(ruleset.start().board()),
        games: 10,
        first: BotIndex::A,
        seed: 7,
        restart: false,
    };
    let mut games = MatchRunner::new(GameRunner::new(ruleset, false)?, plan, seats);
    let score = games.run(&mut |_| Ok(())).await?;
    games.stop(GracePeriods::POLITE).await?;
    let points = BotIndex::ALL.map(|bot| score.points(bot));
    println!("{one} {} - {} {two}", points[0], points[1]);
    Ok(())
}
