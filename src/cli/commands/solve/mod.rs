//! `referee solve`: exact values of positions; benchmarks of the solver; books of proofs.

mod book;
mod book_four;
mod four_in_a_row;
mod position;
mod table;
mod work;

use std::path::PathBuf;
use std::time::Duration;

use crate::cli::support::duration;
use crate::cli::support::failure::Failure;
use crate::cli::support::games::{self, GameArg};
use crate::cli::support::numbers;
use crate::cli::support::setup::RulesName;
use crate::cli::support::solver_args::SolverArgs;
use crate::game::Game as _;
use crate::game::quarto::Edition;
use crate::solver::{Options, Solver};
use crate::text::escape;

#[derive(Debug, clap::Args)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a flag of the command line"
)]
#[command(after_help = AFTER_HELP)]
pub(in crate::cli) struct Args {
    /// A position as the protocol writes it: the board, `.` for an empty cell, and the piece in hand or `-`; of Four In A Row the
    /// mark of the side to move and the board
    #[arg(required_unless_present_any = ["table", "book"], conflicts_with_all = ["table", "book"])]
    position: Option<String>,

    /// The game: quarto or four-in-a-row
    #[arg(long, value_parser = games::parser(), default_value = "quarto", value_name = "GAME")]
    game: GameArg,

    /// What follows a blank in a position without quotes.
    #[arg(hide = true, requires = "position")]
    rest: Vec<String>,

    /// Stop after this time and print what is proven so far
    #[arg(long, value_name = "TIME", allow_hyphen_values = true, conflicts_with = "table", value_parser = duration::parse_positive)]
    time: Option<Duration>,

    /// Also print the value of every turn; with --table, measure that
    #[arg(long, conflicts_with = "book")]
    all: bool,

    /// Which groups of cells count
    #[arg(long, value_enum, default_value = "standard")]
    rules: RulesName,

    /// A piece set's CSV file
    #[arg(long, value_name = "FILE", conflicts_with_all = ["table", "book"])]
    pieces: Option<PathBuf>,

    /// Print JSON
    #[arg(long, conflicts_with_all = ["table", "book"])]
    json: bool,

    #[command(flatten)]
    solver: SolverArgs,

    /// Keep proofs in this file and start from those that it holds: an interrupted solve can be
    /// resumed
    #[arg(long, value_name = "FILE", conflicts_with_all = ["table", "book"])]
    resume: Option<PathBuf>,

    /// Solve without the built-in book of early positions
    #[arg(long)]
    no_book: bool,

    /// Measure the solver on random positions and print the table
    #[arg(long, conflicts_with = "book")]
    table: bool,

    /// Rows of the table: how many cells are free [default: 10 to 14, with --all 10 to 12; of Four In A Row 22 to 41]
    #[arg(long, value_name = "N,…", requires = "table", value_delimiter = ',', value_parser = numbers::within::<u8>(1..=42), allow_negative_numbers = true)]
    free: Vec<u8>,

    /// Positions in every row of the table
    #[arg(long, value_name = "N", requires = "table", default_value = "100", value_parser = numbers::not_zero::<std::num::NonZeroUsize>, allow_negative_numbers = true)]
    positions: std::num::NonZeroUsize,

    /// Also prove the empty board for the table
    #[arg(long, requires = "table")]
    empty: bool,

    /// Prove every position of up to four placements (of Four In A Row with eleven discs) and keep the proofs in this file;
    /// resumes from what it holds
    #[arg(long, value_name = "FILE")]
    book: Option<PathBuf>,

    /// Placements up to which the book goes
    #[arg(long, value_name = "N", requires = "book", default_value = "4", value_parser = numbers::within::<u8>(0..=4), allow_negative_numbers = true)]
    placements: u8,

    /// Then write the book in this file as it is built into the program
    #[arg(long, value_name = "FILE", requires = "book")]
    pack: Option<PathBuf>,
}

const AFTER_HELP: &str = "\
Examples:
  referee solve \"A..PC...J..EF... G\"
  referee solve --all --time 10s \"A..PC...J..EF... G\"
  referee solve --no-book --resume empty.notes \"................ -\"
  referee solve --game four-in-a-row \"@ ................................O......@..\"
  referee solve --table --positions 20
  referee solve --table --all --free 10,11 --threads 1

The value is for the side to move. Placements are counted until the quarto, discs until
four are in a row. Four In A Row is solved by one thread.";

pub(in crate::cli) fn run(args: &Args) -> Result<(), Failure> {
    if let Some(position) = &args.position
        && !args.rest.is_empty()
    {
        let words = format!("{position} {}", args.rest.join(" "));
        return Err(Failure::Usage(format!(
            "a position is one argument, so put it in quotes: referee solve \"{}\"",
            escape(words.as_bytes())
        )));
    }
    let is_quarto = match &args.game {
        GameArg::Own(game) => game.name == Edition::NAME,
        GameArg::Program(_) => {
            return Err(Failure::Usage(
                "only positions of quarto and four-in-a-row can be solved; leave out --game, or name one of them"
                    .to_owned(),
            ));
        }
    };
    if !is_quarto {
        args.no_options_of_quarto()?;
        return match &args.book {
            Some(file) => book_four::run(args, file),
            None if args.table => four_in_a_row::table(args),
            None => four_in_a_row::run(args),
        };
    }
    if args.table {
        return table::run(args);
    }
    if let Some(file) = &args.book {
        return book::run(args, file);
    }
    position::run(args)
}

impl Args {
    /// An error when an option is given that only Quarto has.
    fn no_options_of_quarto(&self) -> Result<(), Failure> {
        let given = [
            ("--pieces", self.pieces.is_some()),
            ("--rules", !matches!(self.rules, RulesName::Standard)),
            ("--resume", self.resume.is_some()),
        ];
        match given.iter().find(|(_, is_given)| *is_given) {
            Some((option, _)) => Err(Failure::Usage(format!(
                "{option} is for Quarto; leave it out"
            ))),
            None => Ok(()),
        }
    }

    fn options(&self) -> Options {
        self.solver.options()
    }

    /// A solver with these options.
    fn solver(&self) -> Solver {
        let solver = self.unchecked_solver();
        self.solver.warn_if_smaller(&solver);
        solver
    }

    /// The same without a word when its table is smaller than was asked for.
    fn unchecked_solver(&self) -> Solver {
        if self.no_book {
            Solver::without_book(self.options())
        } else {
            Solver::new(self.options())
        }
    }
}
