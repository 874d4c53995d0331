//! The options that `referee BOT1 BOT2` and `referee play` share.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use clap::ValueEnum;

use super::clock::{ClockName, check_clock};
use super::duration::{self, MoveTime};
use super::failure::Failure;
use super::games::{self, GameArg};
use super::numbers;
use super::output::print_stderr;
use super::pages;
use super::pieces_file::PiecesFile;
use super::sandbox::SandboxOptions;
use super::setup::RulesName;
use crate::game::quarto::PieceFormat;
use crate::play::TimeControl;
use crate::record::BotIndex;
use crate::seed;
use crate::session::Ruleset;
use crate::session::registry::Choices;

/// `--first`
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(in crate::cli) enum First {
    /// BOT1 begins
    #[value(name = "1")]
    Bot1,
    /// BOT2 begins
    #[value(name = "2")]
    Bot2,
    /// Drawn at random
    Random,
}

/// `--piece-format`
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(in crate::cli) enum PieceFormatName {
    /// The set's characters
    Symbol,
    /// Four binary digits, such as 0101
    Binary,
    /// 0 to 15
    Decimal,
}

impl From<PieceFormatName> for PieceFormat {
    fn from(name: PieceFormatName) -> Self {
        match name {
            PieceFormatName::Symbol => Self::Symbol,
            PieceFormatName::Binary => Self::Binary,
            PieceFormatName::Decimal => Self::Decimal,
        }
    }
}

fn at_least_one(text: &str) -> Result<u64, String> {
    match text.parse() {
        Ok(0) | Err(_) => Err("expected a number of at least 1".to_owned()),
        Ok(number) => Ok(number),
    }
}

#[derive(Debug, clap::Args)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a flag of the command line"
)]
pub(in crate::cli) struct Options {
    /// Show every turn and the board; twice: also every line each way with its time
    #[arg(short, long, action = clap::ArgAction::Count)]
    pub(in crate::cli) verbose: u8,

    /// How many games; who begins alternates
    #[arg(short = 'n', long, value_name = "N", default_value_t = 1, value_parser = at_least_one, allow_negative_numbers = true)]
    pub(in crate::cli) games: u64,

    /// Who begins the first game (in Quarto: gives the first piece) [default: random in Quarto,
    /// BOT1 in Four In A Row]
    #[arg(long, value_enum)]
    first: Option<First>,

    /// Everything random comes from this number; drawn, and printed, when not given
    #[arg(long, value_name = "N", allow_hyphen_values = true, value_parser = numbers::seed)]
    seed: Option<u64>,

    /// The game
    #[arg(long, value_parser = games::parser(), default_value = "quarto")]
    pub(in crate::cli) game: GameArg,

    /// An option of a game that is a program; may be repeated
    #[arg(long, value_name = "NAME=VALUE", value_parser = games::option)]
    pub(in crate::cli) game_option: Vec<(String, String)>,

    /// A piece set's CSV file
    #[arg(long, value_name = "FILE")]
    pub(in crate::cli) pieces: Option<PathBuf>,

    /// Which groups of cells count
    #[arg(long, value_enum, default_value = "standard")]
    pub(in crate::cli) rules: RulesName,

    /// Start from this position instead of an empty board, as the protocol writes it: a board, where `.` is empty, or a
    /// board and the piece in hand, which whoever begins places: "A..B............ C"
    #[arg(long, value_name = "BOARD [PIECE]", allow_hyphen_values = true)]
    start: Option<String>,

    /// Time for a move; none for no limit [default: 10s; people have no limit unless this is given]
    #[arg(long, value_name = "TIME", allow_hyphen_values = true, value_parser = duration::parse_move_time, help_heading = "Time")]
    move_time: Option<MoveTime>,

    /// Time on top for the first answer of a fresh process
    #[arg(long, value_name = "TIME", allow_hyphen_values = true, default_value = "10s", value_parser = duration::parse, help_heading = "Time")]
    start_time: Duration,

    /// Time for all moves of a game together; no limit when not given
    #[arg(long, value_name = "TIME", allow_hyphen_values = true, value_parser = duration::parse_positive, help_heading = "Time")]
    game_time: Option<Duration>,

    /// Added to the game clock after every move
    #[arg(long, value_name = "TIME", allow_hyphen_values = true, default_value = "0s", value_parser = duration::parse, requires = "game_time", help_heading = "Time")]
    increment: Duration,

    /// What clocks measure: time, without that in which a bot could run but waits for a processor; or
    /// processor time of the bot's processes, with a limit of ten times as much wall time (at least
    /// 5 s more)
    #[arg(
        long,
        value_enum,
        value_name = "KIND",
        default_value = "wall",
        help_heading = "Time"
    )]
    clock: ClockName,

    /// End a game as soon as its value is proven; marked in the record
    #[arg(long)]
    pub(in crate::cli) adjudicate: bool,

    /// Start fresh processes for every game
    #[arg(long)]
    pub(in crate::cli) restart: bool,

    #[command(flatten)]
    pub(in crate::cli) sandbox: SandboxOptions,

    /// Append a record of every game to this file, one line of JSON a game
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub(in crate::cli) record: Option<PathBuf>,

    /// Print the records on stdout, and nothing else
    #[arg(long, help_heading = "Output")]
    pub(in crate::cli) json: bool,

    #[command(flatten)]
    pub(in crate::cli) pages: pages::PageOptions,

    /// What BOT1, or player 1, is called
    #[arg(long, value_name = "NAME", help_heading = "People")]
    pub(in crate::cli) name1: Option<String>,

    /// What BOT2, or player 2, is called
    #[arg(long, value_name = "NAME", help_heading = "People")]
    pub(in crate::cli) name2: Option<String>,

    /// How people type and see pieces [default: symbol]
    #[arg(long, value_enum, value_name = "FORMAT", help_heading = "People")]
    pub(in crate::cli) piece_format: Option<PieceFormatName>,

    /// Before a person's turn, say what would lose at once
    #[arg(long, help_heading = "People")]
    pub(in crate::cli) hint: bool,
}

impl Options {
    /// Whether the rules are the standard ones.
    pub(in crate::cli) fn has_standard_rules(&self) -> bool {
        self.rules == RulesName::Standard
    }

    /// The time control of a program or a person.
    pub(in crate::cli) fn time(&self, human: bool) -> TimeControl {
        let default = TimeControl::default().move_time.filter(|_| !human);
        TimeControl {
            move_time: self.move_time.map_or(default, |MoveTime(limit)| limit),
            start_time: self.start_time,
            game_time: self.game_time,
            increment: self.increment,
            kind: self.clock.into(),
        }
    }

    /// Refuses limits that exclude each other.
    pub(in crate::cli) fn check_time(&self) -> Result<(), Failure> {
        check_clock(self.time(false)).map(|_| ())
    }

    /// The seed; without `--seed` it is drawn and printed.
    pub(in crate::cli) fn seed(&self) -> u64 {
        self.seed.unwrap_or_else(|| {
            // 32 bits: short enough to type again.
            let seed = u64::from(rand::random::<u32>());
            print_stderr(&format!("referee: seed {seed}"));
            seed
        })
    }

    /// Index of the bot that begins the first game.
    pub(in crate::cli) fn first(&self, ruleset: &dyn Ruleset, seed: u64) -> BotIndex {
        let drawn = || BotIndex::ALL[seed::first_bot(seed)];
        match self.first {
            Some(First::Bot2) => BotIndex::B,
            Some(First::Random) => drawn(),
            None if ruleset.is_first_drawn() => drawn(),
            Some(First::Bot1) | None => BotIndex::A,
        }
    }

    /// The game with these choices.
    pub(in crate::cli) fn ruleset(&self, choices: Choices) -> Result<Arc<dyn Ruleset>, Failure> {
        self.game
            .ruleset(choices, &self.game_option.iter().cloned().collect())
    }

    /// The position that every game starts from, as records hold it; `None` when it is drawn.
    pub(in crate::cli) fn start(&self, ruleset: &dyn Ruleset) -> Result<Option<String>, Failure> {
        let session = match &self.start {
            None if ruleset.has_drawn_start() => return Ok(None),
            None => ruleset.start(),
            Some(board) => ruleset.start_from(board).map_err(|problem| {
                let board = crate::text::quote(board.as_bytes());
                Failure::Usage(format!("--start {board}: {problem}"))
            })?,
        };
        let mut start = String::new();
        session.write_start(&mut start);
        Ok(Some(start))
    }

    /// The piece set's file for bots, when the set is not the built-in one.
    pub(in crate::cli) fn pieces_file(
        &self,
        ruleset: &dyn Ruleset,
    ) -> Result<Option<PiecesFile>, Failure> {
        let (Some(path), Some(text)) = (&self.pieces, ruleset.pieces()) else {
            return Ok(None);
        };
        PiecesFile::new(path, text).map(Some)
    }
}
