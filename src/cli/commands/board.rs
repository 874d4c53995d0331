//! `referee board`: draws a configuration and lists its quartos.

use std::io::{self, Write};
use std::path::PathBuf;

use serde_json::json;

use crate::cli::support::failure::Failure;
use crate::cli::support::output::{Stdout, print_stderr};
use crate::cli::support::setup::{RulesName, palette, piece_set};
use crate::game::quarto::Edition;
use crate::report::terminal::draw;

#[derive(Debug, clap::Args)]
// A configuration may begin with -h.
#[command(disable_help_flag = true)]
pub(in crate::cli) struct Args {
    /// Print help
    #[arg(long, action = clap::ArgAction::Help)]
    help: Option<bool>,

    /// 16 characters, row by row; one that is no piece is an empty cell
    #[arg(allow_hyphen_values = true)]
    config: String,

    /// A piece set's CSV file
    #[arg(long, value_name = "FILE")]
    pieces: Option<PathBuf>,

    /// Which groups of cells count
    #[arg(long, value_enum, default_value = "standard")]
    rules: RulesName,

    /// Print JSON: the grid of properties, and the quartos
    #[arg(long)]
    json: bool,
}

pub(in crate::cli) fn run(args: &Args) -> Result<(), Failure> {
    let set = piece_set(args.pieces.as_ref())?;
    let edition = Edition::new(args.rules.into(), set);
    let set = edition.set();
    let wrong = |error: crate::game::quarto::configuration::ConfigurationError| {
        Failure::Usage(format!(
            "{}: {error}",
            crate::text::quote(args.config.as_bytes())
        ))
    };
    let board = set.configuration(&args.config).map_err(wrong)?;
    let quartos = set.name_quartos(&board, args.rules.into());
    for note in edition.duplicate_warnings(&board) {
        print_stderr(&format!("referee: {note}"));
    }
    let mut out = Stdout;
    if args.json {
        let grid = set.grid(&args.config).map_err(wrong)?;
        let words = grid.map(|row| row.map(|cell| cell.map_or_else(Vec::new, |w| w.to_vec())));
        writeln!(out, "{}", json!({"grid": words, "quartos": quartos}))?;
        return Ok(());
    }
    let palette = palette(&io::stdout());
    write!(out, "{}", draw(&edition.board_picture(&board), &palette))?;
    for (line, property) in &quartos {
        writeln!(out, "{line} {property}")?;
    }
    if quartos.is_empty() {
        print_stderr("no quarto");
    }
    Ok(())
}
