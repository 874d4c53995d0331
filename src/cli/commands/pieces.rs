//! `referee pieces`: prints a piece set.

use std::io::{self, Write};
use std::path::PathBuf;

use serde_json::{Map, Value, json};

use crate::cli::support::failure::Failure;
use crate::cli::support::output::Stdout;
use crate::cli::support::setup::{palette, piece_set};
use crate::game::quarto::PieceSet;
use crate::report::terminal::aligned;
use crate::text::escape_controls;

#[derive(Debug, clap::Args)]
pub(in crate::cli) struct Args {
    /// A piece set's CSV file; without it, the built-in set
    #[arg(long, value_name = "FILE")]
    pieces: Option<PathBuf>,

    /// Print JSON: pieces by feature and property, and properties by piece
    #[arg(long)]
    json: bool,
}

pub(in crate::cli) fn run(args: &Args) -> Result<(), Failure> {
    let set = piece_set(args.pieces.as_ref())?;
    let mut out = Stdout;
    if args.json {
        writeln!(out, "{}", as_json(&set))?;
        return Ok(());
    }
    let mut rows = vec![Vec::from([set.column().to_owned()])];
    rows[0].extend(set.features().iter().map(|feature| feature.name.clone()));
    for &piece in set.order() {
        let mut row = vec![escape_controls(set.symbol(piece).encode_utf8(&mut [0; 4]))];
        row.extend(set.words(piece).map(str::to_owned));
        rows.push(row);
    }
    let left: Vec<usize> = (0..rows[0].len()).collect();
    let text = aligned(&rows, &palette(&io::stdout()), &left);
    Ok(out.write_all(text.as_bytes())?)
}

fn as_json(set: &PieceSet) -> Value {
    let mut features = Map::new();
    for (f, feature) in set.features().iter().enumerate() {
        let mut words = Map::new();
        for (value, word) in feature.properties.iter().enumerate() {
            let pieces: Vec<char> = set
                .order()
                .iter()
                .filter(|piece| piece.value(f) == value)
                .map(|&piece| set.symbol(piece))
                .collect();
            words.insert(word.clone(), json!(pieces));
        }
        features.insert(feature.name.clone(), words.into());
    }
    let mut properties = Map::new();
    for &piece in set.order() {
        properties.insert(set.symbol(piece).to_string(), json!(set.words(piece)));
    }
    json!({"features": features, "properties": properties})
}
