//! Reads a question a line, and prints the answer of strategy.rs.

mod strategy;

use std::io::{self, BufRead as _, Write as _};

fn main() -> io::Result<()> {
    let mut strategy = strategy::Strategy::new();
    let mut out = io::stdout().lock();
    for line in io::stdin().lock().lines() {
        let line = line?;
        let (board, piece) = line.split_once(' ').unwrap_or((&line, "-"));
        let free = board.char_indices().filter(|&(_, symbol)| symbol == '.');
        let mut cells: Vec<String> = free.map(|(index, _)| (index + 1).to_string()).collect();
        if piece == "-" {
            cells = vec!["-".to_owned()];
        }
        let mut left: Vec<char> = ('A'..='P').filter(|&symbol| !line.contains(symbol)).collect();
        if left.is_empty() {
            left.push('-');
        }
        let (cell, gift) = strategy.choose(board, piece, &cells, &left);
        writeln!(out, "{cell} {gift}")?;
        out.flush()?;
    }
    Ok(())
}
