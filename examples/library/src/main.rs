//! Reads records of games, and prints how many points each bot has.
//!
//! `cargo run -- games.jsonl`

use std::collections::BTreeMap;
use std::env::args;
use std::error::Error;
use std::path::Path;

use referee::BotIndex;
use referee::record::reader::Reader;

fn main() -> Result<(), Box<dyn Error>> {
    let path = args().nth(1).ok_or("expected a file of records")?;
    let mut points = BTreeMap::<String, f64>::new();
    let mut games = 0;
    for record in Reader::open(Path::new(&path))? {
        let record = record?;
        let winner = record.ending()?.winner();
        for bot in BotIndex::ALL {
            let won = match winner {
                None => 0.5,
                Some(winner) if winner == bot => 1.0,
                Some(_) => 0.0,
            };
            *points.entry(record.bots[bot].name.clone()).or_default() += won;
        }
        games += 1;
    }
    println!("{games} games");
    for (bot, points) in points {
        println!("{points:6.1}  {bot}");
    }
    Ok(())
}
