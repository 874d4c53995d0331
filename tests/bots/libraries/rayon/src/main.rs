//! Rayon: every answer comes from its threads.

use std::io;

use rayon::prelude::*;

fn answer(line: &str) -> String {
    let (board, piece) = line.split_once(' ').unwrap_or((line, "-"));
    let left = ('A'..='P').into_par_iter();
    let gift = left.find_first(|piece| !line.contains(*piece));
    let cells = board.as_bytes().par_iter();
    let cell = cells.position_first(|cell| *cell == b'.');
    let cell = cell.filter(|_| piece != "-");
    let cell = cell.map_or("-".to_owned(), |cell| (cell + 1).to_string());
    format!("{cell} {}", gift.unwrap_or('-'))
}

fn main() {
    for line in io::stdin().lines() {
        println!("{}", answer(&line.expect("a line")));
    }
}
