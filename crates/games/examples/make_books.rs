//! Makes a book of proofs as it is built into the program (`src/solver/book`): standard or squares in some hours, four-in-a-row in
//! a day, or in minutes with the proofs that `scripts/books/four_in_a_row.py` writes.
//!
//! `cargo run --release -p referee-games --example make_books -- four-in-a-row four_in_a_row.bin four.proofs`

#[path = "make_books/books.rs"]
mod books;

use std::collections::HashMap;

use referee_games::game::quarto::Rules;
use referee_games::solver::four_in_a_row::{self, BOOK_DISCS};
use referee_games::solver::{Goal, Limits, Solve as _, Solver, SolverOptions};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let (file, book) = match &words.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["standard", file] => (*file, quarto(Rules::Standard)),
        ["squares", file] => (*file, quarto(Rules::Squares)),
        ["four-in-a-row", file, proofs @ ..] => {
            let mut known = HashMap::new();
            for path in proofs {
                known.extend(books::four_proofs(&std::fs::read(path)?)?);
            }
            (*file, four_in_a_row(&known))
        }
        _ => return Err("expected standard, squares or four-in-a-row, and a file".into()),
    };
    Ok(std::fs::write(
        file,
        book.ok_or("two positions have one key")?,
    )?)
}

fn four_in_a_row(known: &HashMap<u64, u8>) -> Option<Vec<u8>> {
    let solver = four_in_a_row::Solver::without_book(16 << 20);
    let positions = books::four_positions(BOOK_DISCS).into_iter();
    let entries = positions.map(|(key, position)| {
        let score = || {
            let found = solver.solve(&position, Goal::Distance, &Limits::NONE);
            found.rank().0.cast_unsigned()
        };
        (key, known.get(&key).copied().unwrap_or_else(score))
    });
    books::pack(&entries.collect::<Vec<_>>())
}

/// The latest positions are proven first: the earlier ones then follow from them, also how soon they are won.
fn quarto(rules: Rules) -> Option<Vec<u8>> {
    let solver = Solver::without_book(SolverOptions::default());
    let levels = [0, 1, 2, 3, 4].map(|placed| books::early_positions(rules, placed));
    for (level, goal) in levels
        .iter()
        .rev()
        .zip([Goal::Value].into_iter().chain([Goal::Distance; 4]))
    {
        for position in level {
            solver.solve(position, goal, &Limits::NONE);
        }
    }
    let positions = levels.iter().flatten();
    let entries = positions.filter_map(|position| solver.book_value(position));
    books::pack(&entries.collect::<Vec<_>>())
}
