//! A random player: any free cell, any piece left.
//!
//! Build and run:  rustc -O -o random-rs random.rs && ./random-rs     (Debian package: rustc)
//! It reads requests `BOARD PIECE` and answers `CELL GIFT`; see ../protocol.md.

use std::io::{self, BufRead, Write};
use std::time::{SystemTime, UNIX_EPOCH};
use std::{env, fs};

/// The generator splitmix64; the standard library has none.
struct Random(u64);

impl Random {
    fn new() -> Self {
        let seed = env::var("REFEREE_SEED").ok().and_then(|seed| seed.parse().ok());
        Random(seed.unwrap_or_else(|| {
            SystemTime::now()
                .duration_since(UNIX_EPOCH)
                .map_or(0, |time| time.as_nanos() as u64)
        }))
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// One of the items, written out; `-` when there is none.
    fn choose(&mut self, items: &[impl ToString]) -> String {
        if items.is_empty() {
            return "-".to_owned();
        }
        items[(self.next() % items.len() as u64) as usize].to_string()
    }
}

fn read_pieces() -> io::Result<Vec<char>> {
    let path = env::var("REFEREE_PIECES").unwrap_or_default();
    if path.is_empty() {
        return Ok(('A'..='P').collect());
    }
    let text = fs::read_to_string(path)?;
    // The first character of every row after the header; a quoted field has it second.
    let rows = text.lines().skip(1);
    Ok(rows
        .filter_map(|row| {
            let row = row.trim();
            row.strip_prefix('"').unwrap_or(row).chars().next()
        })
        .collect())
}

fn main() -> io::Result<()> {
    let pieces = read_pieces()?;
    let mut random = Random::new();
    for line in io::stdin().lock().lines() {
        let line = line?;
        let Some((board, hand)) = line.split_once(' ') else {
            continue;
        };
        let cells: Vec<usize> = if hand == "-" {
            Vec::new() // nothing to place
        } else {
            (1..=16).zip(board.chars()).filter(|&(_, c)| c == '.').map(|(i, _)| i).collect()
        };
        let left: Vec<char> =
            pieces.iter().copied().filter(|&piece| !line.contains(piece)).collect();

        let cell = random.choose(&cells);
        let gift = random.choose(&left);
        eprintln!("info gifts {}", left.len()); // what it thinks, for its record
        println!("{cell} {gift}");
        io::stdout().flush()?;
    }
    Ok(())
}
