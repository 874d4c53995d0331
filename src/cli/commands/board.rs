use std::io;
use std::path::{Path, PathBuf};

use serde_json::{Map, Value, json};

use crate::cli::support::destination::{Form, destination};
use crate::cli::support::failure::{Result, usage};
use crate::cli::support::games::BuiltinGameOptions;
use crate::cli::support::output::{note, print_found, print_stderr};
use crate::cli::support::pages::write_file;
use crate::cli::support::setup::{piece_set, terminal_width};
use referee::game::four_in_a_row::FourInARow;
use referee::game::quarto::notation::ConfigurationError;
use referee::game::quarto::{Edition, PieceSet};
use referee::game::{BuiltinGame as _, Picture};
use referee::report::html::board;
use referee::report::picture::{Pieces, Shown, still};
use referee::report::terminal::{aligned, draw_within};
use referee::text::{escape_controls, quote};

const AFTER_HELP: &str = "\
Examples:
  referee board A..PC...J..EF... --out position.svg
  referee board 'A..PC...J..EF... K' --format svg
  referee board --game four-in-a-row ...................................@O.....
  referee board 'A..PC...J..EF... K' --out board.html

Exit status: 0 the position is drawn; 2 wrong usage or input; 1 the referee itself failed.";

#[derive(Debug, clap::Args)]
// A configuration may begin with -h.
#[command(disable_help_flag = true, after_long_help = AFTER_HELP)]
pub(crate) struct Args {
    /// Print help
    #[arg(long, action = clap::ArgAction::Help)]
    help: Option<bool>,

    /// 16 characters, row by row; one that is not a piece is an empty cell. After a space may follow the piece in hand. In
    /// Four In A Row 42 characters from the top left: @, O, and . for an empty cell. Without it, the pieces of the set
    /// and their properties are printed
    #[arg(allow_hyphen_values = true)]
    config: Option<String>,

    #[command(flatten)]
    game: BuiltinGameOptions,

    /// Print JSON: the grid of properties, and the quartos; in Four In A Row the grid and the lines; of a set its pieces
    /// by feature and property, and properties by piece
    #[arg(long, help_heading = "Output")]
    json: bool,

    /// Write it to this file instead: a picture with the drawing of the pages (.svg), or a page with this board, to play on
    /// and to see what each turn is worth (.html); - is stdout
    // Without -o: a configuration may begin with that.
    #[arg(long, alias = "output", value_name = "FILE", conflicts_with = "json")]
    out: Option<PathBuf>,

    /// The form of --out, where no extension of a file says it
    #[arg(long, conflicts_with = "json", help_heading = "Output")]
    format: Option<Form>,

    /// Another name of --out FILE.svg.
    #[arg(long, hide = true, value_name = "FILE", conflicts_with_all = ["json", "out", "format"])]
    svg: Option<PathBuf>,

    /// Another name of --out FILE.html.
    #[arg(long, hide = true, value_name = "FILE", conflicts_with_all = ["json", "out", "format", "svg"])]
    page: Option<PathBuf>,
}

impl Args {
    fn destination(&self) -> Result<Option<(&Path, Form)>> {
        let page = self.page.as_deref().map(|path| (path, Form::Html));
        let picture = self.svg.as_deref().map(|path| (path, Form::Svg));
        match page.or(picture) {
            Some(chosen) => Ok(Some(chosen)),
            None => destination(self.out.as_deref(), self.format),
        }
    }
}

struct Position {
    picture: Picture,
    pieces: Pieces,
    board: String,
    hand: Option<char>,
    lines: Vec<(String, String)>,
    /// Printed without lines.
    no_line: &'static str,
    json: Value,
}

pub(crate) fn run(args: &Args) -> Result<()> {
    let destination = args.destination()?;
    if let Some((target, Form::Html)) = destination {
        return write_page(args, target);
    }
    if args.config.is_none() {
        return print_set(args);
    }
    let position = if args.game.game()?.name == FourInARow::INFO.name {
        four_in_a_row(args)?
    } else {
        quarto(args)?
    };
    if let Some((target, _)) = destination {
        return write_picture(&position, target);
    }
    let columns = terminal_width(&io::stdout());
    let lines = position.lines.iter();
    let lines: Vec<String> = lines.map(|(a, b)| format!("{a} {b}\n")).collect();
    let text = |palette: &_| draw_within(&position.picture, palette, columns) + &lines.concat();
    print_found(args.json, || &position.json, text)?;
    if lines.is_empty() && !args.json {
        print_stderr(position.no_line);
    }
    Ok(())
}

fn write_page(args: &Args, target: &Path) -> Result<()> {
    let game = args.game.game()?.ruleset(args.game.set.choices()?);
    let given = args.config.as_deref().map(str::trim);
    let refused = |problem| {
        usage!(
            "{problem}; a position is a board and the piece in hand, such as `A..PC...J..EF... G`, with `-` when no piece is in hand; of Four In A Row a board"
        )
    };
    let session = given.map_or_else(
        || Ok(game.start()),
        |text| game.start_from(text).or_else(|_| game.read_request(text)),
    );
    let position = session.map_err(refused)?.request();
    let content = format!("a board at {position}");
    write_file(target, &board(&*game, &position), &content)
}

fn write_picture(position: &Position, target: &Path) -> Result<()> {
    let pieces = &position.pieces;
    let shown = Shown::new(pieces, &position.board, position.hand, &position.picture);
    let lines = position.lines.iter();
    let lines: Vec<String> = lines
        .map(|(line, property)| format!("{line} {property}"))
        .collect();
    let content = match &lines[..] {
        [] => position.no_line.to_owned(),
        lines => lines.join(", "),
    };
    write_file(target, &still(pieces, &shown, ""), &content)
}

fn with_hand(text: &str, cells: usize) -> (String, Option<char>) {
    let symbols: Vec<char> = text.chars().collect();
    match symbols[..] {
        [.., ' ', hand] if symbols.len() == cells + 2 => {
            (symbols[..cells].iter().collect(), Some(hand))
        }
        _ => (text.to_owned(), None),
    }
}

fn quarto(args: &Args) -> Result<Position> {
    let given = args.config.as_deref().unwrap_or_default();
    let set = piece_set(args.game.set.pieces.as_ref())?;
    let edition = Edition::new(args.game.set.rules(), set);
    let set = &edition.set;
    let refused = |problem: &str| usage!("{}: {problem}", quote(given.as_bytes()));
    let wrong = |error: ConfigurationError| {
        let fix = "; for one of four-in-a-row: --game four-in-a-row";
        let fix = [42, 44].contains(&error.found).then_some(fix);
        refused(&format!("{error}{}", fix.unwrap_or_default()))
    };
    let (config, hand) = with_hand(given, 16);
    let board = set.configuration(&config).map_err(wrong)?;
    let hand = hand.filter(|&symbol| symbol != '-');
    check_hand(set, &config, hand).map_err(|error| refused(&error.to_string()))?;
    let quartos = set.name_quartos(&board, args.game.set.rules());
    for twice in edition.pieces_twice(&board) {
        note!("{twice}; in a game every piece exists once");
    }
    let grid = set.grid(&config).map_err(wrong)?;
    let words = grid.map(|row| row.map(|cell| cell.map_or_else(Vec::new, |w| w.to_vec())));
    let mut json = json!({"grid": words, "quartos": quartos});
    let mut picture = edition.board_picture(&board);
    if let Some(piece) = hand.and_then(|symbol| set.piece(symbol)) {
        json["hand"] = json!(set.words(piece));
        let (symbol, words) = (set.symbol(piece), set.words(piece).join(" "));
        picture.hand = Some(format!("{symbol} {words}"));
    }
    let owned = |(line, property): (&str, &str)| (line.to_owned(), property.to_owned());
    Ok(Position {
        picture,
        board: config,
        hand,
        lines: quartos.into_iter().map(owned).collect(),
        no_line: "no quarto",
        json,
        pieces: Pieces::of_set(set.clone()),
    })
}

#[derive(Debug, thiserror::Error)]
enum HandError {
    #[error("{} in hand is not a piece of this set; expected a piece, or - for none", quoted(*.0))]
    NotAPiece(char),
    #[error(
        "{} in hand is on the board already; expected another piece, or - for none",
        quoted(*.0)
    )]
    OnBoard(char),
}

fn quoted(symbol: char) -> String {
    quote(symbol.to_string().as_bytes())
}

fn check_hand(set: &PieceSet, board: &str, hand: Option<char>) -> Result<(), HandError> {
    match hand {
        Some(symbol) if set.piece(symbol).is_none() => Err(HandError::NotAPiece(symbol)),
        Some(symbol) if board.contains(symbol) => Err(HandError::OnBoard(symbol)),
        _ => Ok(()),
    }
}

fn four_in_a_row(args: &Args) -> Result<Position> {
    let given = args.config.as_deref().unwrap_or_default();
    let refused = |problem| usage!("{}: {problem}", quote(given.as_bytes()));
    // A request begins with the mark of the side to move.
    let board = match given.split_once(' ') {
        Some(("@" | "O", board)) => board,
        _ => given,
    };
    let position = FourInARow::read_board(board).map_err(refused)?;
    let picture = FourInARow.picture(&position, None);
    let lines = FourInARow.winning_lines(&position);
    Ok(Position {
        json: json!({"grid": picture.cells, "lines": lines}),
        picture,
        pieces: Pieces::FourInARow,
        board: board.to_owned(),
        hand: None,
        lines,
        no_line: "no four in a row",
    })
}

fn print_set(args: &Args) -> Result<()> {
    let set = piece_set(args.game.set.pieces.as_ref())?;
    let mut rows = vec![Vec::from([set.column().to_owned()])];
    rows[0].extend(set.features().iter().map(|feature| feature.name.clone()));
    for &piece in set.order() {
        let mut row = vec![escape_controls(set.symbol(piece).encode_utf8(&mut [0; 4]))];
        row.extend(set.words(piece).map(str::to_owned));
        rows.push(row);
    }
    let left: Vec<usize> = (0..rows[0].len()).collect();
    let text = |palette: &_| aligned(&rows, palette, &left);
    print_found(args.json, || set_json(&set), text)
}

fn set_json(set: &PieceSet) -> Value {
    let pieces = |f: usize, value: usize| -> Vec<char> {
        let pieces = set.order().iter().filter(|piece| piece.value(f) == value);
        pieces.map(|&piece| set.symbol(piece)).collect()
    };
    let features = set.features().iter().enumerate().map(|(f, feature)| {
        let words = feature.properties.iter().enumerate();
        let words = words.map(|(value, word)| (word.clone(), json!(pieces(f, value))));
        (feature.name.clone(), Value::Object(words.collect()))
    });
    let words = |&piece| (set.symbol(piece).to_string(), json!(set.words(piece)));
    let properties = set.order().iter().map(words);
    let [features, properties] = [features.collect(), properties.collect::<Map<_, _>>()];
    json!({"features": features, "properties": properties})
}
