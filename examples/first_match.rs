//! A match between two programs, on any machine: both are this program, as a bot.
//!
//! `cargo run --example first_match`

use std::env::{args, current_exe};
use std::error::Error;
use std::io::{self, BufRead as _, Write as _};
use std::process::ExitCode;

/// The first free cell and the first piece that is left, or the last ones.
fn answer(request: &str, last: bool) -> Option<String> {
    let (board, piece) = request.split_once(' ')?;
    let mut cells = board.match_indices('.').map(|(index, _)| index + 1);
    let mut left = ('A'..='P').filter(|letter| !request.contains(*letter));
    let cell = if last {
        cells.next_back()
    } else {
        cells.next()
    };
    let gift = if last { left.next_back() } else { left.next() }.unwrap_or('-');
    Some(match cell.filter(|_| piece != "-") {
        Some(cell) => format!("{cell} {gift}"),
        None => format!("- {gift}"),
    })
}

fn main() -> Result<ExitCode, Box<dyn Error>> {
    if let Some(which) = args().nth(1) {
        for request in io::stdin().lock().lines() {
            println!(
                "{}",
                answer(request?.trim(), which == "last").ok_or("no request")?
            );
            io::stdout().flush()?;
        }
        return Ok(ExitCode::SUCCESS);
    }
    let me = current_exe()?.display().to_string();
    let bots = ["first", "last"].map(|which| format!("'{me}' {which}"));
    let match_of = ["referee", "--sandbox", "none", "-v", &bots[0], &bots[1]];
    Ok(referee::cli::run_with(match_of))
}
