//! Makes a book of proofs as it is built into the program (`src/solver/book`): standard or squares in some hours, four-in-a-row in
//! a day, or in minutes with the proofs that `scripts/books/four_in_a_row.py` writes.
//!
//! `cargo run --release -p referee-games --example make_books -- four-in-a-row four_in_a_row.bin four.proofs`

use referee_games::game::quarto::Rules;
use referee_games::solver::{Goal, Limits, Options, Solver, early_positions, four_in_a_row};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let (file, book) = match &words.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["standard", file] => (*file, quarto(Rules::Standard)),
        ["squares", file] => (*file, quarto(Rules::Squares)),
        ["four-in-a-row", file, proofs @ ..] => {
            let mut known = four_in_a_row::BookProofs::default();
            for path in proofs {
                known.read(&std::fs::read(path)?)?;
            }
            let solver = four_in_a_row::Solver::without_book(16 << 20);
            for position in known.missing() {
                known.add(
                    &position,
                    solver.solve(&position, Goal::Distance, &Limits::NONE),
                );
            }
            (*file, known.book())
        }
        _ => return Err("expected standard, squares or four-in-a-row, and a file".into()),
    };
    Ok(std::fs::write(
        file,
        book.ok_or("two positions have one key")?,
    )?)
}

/// The latest positions are proven first: the earlier ones then follow from them, also how soon they are won.
fn quarto(rules: Rules) -> Option<Vec<u8>> {
    let solver = Solver::without_book(Options::default());
    let levels = [0, 1, 2, 3, 4].map(|placed| early_positions(rules, placed));
    for (level, goal) in levels
        .iter()
        .rev()
        .zip([Goal::Value].into_iter().chain([Goal::Distance; 4]))
    {
        for position in level {
            solver.solve(position, goal, &Limits::NONE);
        }
    }
    solver.pack_book(&levels.concat())
}
