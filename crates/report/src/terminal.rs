//! Boards and tables for a terminal: within 80 columns, readable without colour, measured in terminal columns.

use std::fmt::Write as _;
use std::iter::repeat_n;
use std::time::Duration;

use anstyle::{AnsiColor, Style};
use unicode_segmentation::UnicodeSegmentation as _;
use unicode_width::UnicodeWidthStr as _;

use referee_games::game::{Glyph, Picture};
use referee_text::{escape_controls, format_milliseconds};

const WIDTH: usize = 80;

const INDENT: usize = 2;

const GAP: usize = 2;

/// Styles of text; plain without colour.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Palette {
    pub heading: Style,
    pub faint: Style,
    pub last: Style,
    pub winning: Style,
    pub problem: Style,
    pub good: Style,
    /// Whether pieces are shown by their glyphs, too.
    pub glyphs: bool,
}

impl Palette {
    pub fn coloured() -> Self {
        Self {
            heading: Style::new().bold(),
            faint: Style::new().dimmed(),
            last: Style::new().bold().invert(),
            winning: AnsiColor::Black.on(AnsiColor::Green).bold(),
            problem: AnsiColor::Red.on_default().bold(),
            good: AnsiColor::Green.on_default(),
            glyphs: false,
        }
    }
}

pub fn styled(style: Style, text: &str) -> String {
    if style.is_plain() {
        text.to_owned()
    } else {
        format!("{style}{text}{style:#}")
    }
}

fn padded(text: &str, width: usize) -> String {
    let mut padded = text.to_owned();
    padded.extend(std::iter::repeat_n(' ', width.saturating_sub(text.width())));
    padded
}

/// Spaces before and after text centred in `width` columns.
fn centred(text: &str, width: usize) -> (String, String) {
    let blanks = width.saturating_sub(text.width());
    (" ".repeat(blanks / 2), " ".repeat(blanks - blanks / 2))
}

/// Lines of equal width, and that width. Without colour, the last turn's cell has parentheses and winning cells
/// brackets.
fn board(picture: &Picture, palette: &Palette) -> (Vec<String>, usize) {
    let cells = widest(picture.cells.iter().flatten());
    let has_glyphs = palette.glyphs && !picture.glyphs.is_empty();
    let inner = (cells.max(1) + 2 + usize::from(has_glyphs))
        .max(widest(picture.cell_names.iter().flatten()));
    let margin = widest(&picture.rows);
    let gap = usize::from(margin > 0);
    let columns = picture.cells.first().map_or(0, Vec::len);
    let total = margin + gap + columns * (inner + 1) + 1;
    let mut lines = Vec::new();
    let indent = " ".repeat(margin + gap);
    let mut heads = indent.clone();
    for name in &picture.columns {
        let (left, right) = centred(name, inner);
        heads.extend([" ", &left, name, &right]);
    }
    lines.push(styled(palette.faint, &padded(&heads, total)));
    let edges = format!("+{}", "-".repeat(inner)).repeat(columns);
    let rule = format!("{indent}{edges}+");
    for (r, row) in picture.cells.iter().enumerate() {
        lines.push(rule.clone());
        let name = picture.rows.get(r).map_or("", String::as_str);
        let mut line = styled(palette.faint, &padded(name, margin + gap));
        for (c, text) in row.iter().enumerate() {
            line.push('|');
            line.push_str(&cell(picture, palette, (r, c), text, inner));
        }
        line.push('|');
        lines.push(line);
    }
    lines.push(rule);
    (lines, total)
}

/// A piece's glyph, where the terminal shows glyphs; `text` begins with the piece's characters.
fn glyph(picture: &Picture, palette: &Palette, text: &str) -> Option<String> {
    let characters = text.split(' ').next()?;
    let known = |(piece, _): &&(String, Glyph)| palette.glyphs && piece == characters;
    let (_, glyph) = picture.glyphs.iter().find(known)?;
    let colour = match glyph.colour {
        "red" => AnsiColor::BrightRed,
        "blue" => AnsiColor::BrightBlue,
        "light" | "yellow" => AnsiColor::BrightYellow,
        "green" => AnsiColor::BrightGreen,
        _ => AnsiColor::Magenta,
    };
    let shape = glyph.shape.to_string();
    Some(styled(colour.on_default(), &shape))
}

fn cell(
    picture: &Picture,
    palette: &Palette,
    place: (usize, usize),
    text: &str,
    inner: usize,
) -> String {
    if text.is_empty() {
        let row = picture.cell_names.get(place.0);
        let name = row.and_then(|row| row.get(place.1));
        // Without colour a number could be mistaken for a piece.
        let name = name.filter(|_| !palette.faint.is_plain());
        let name = name.map_or("", String::as_str);
        let (left, right) = centred(name, inner);
        return styled(palette.faint, &format!("{left}{name}{right}"));
    }
    let (style, open, close) = if picture.winning.contains(&place) {
        (palette.winning, '[', ']')
    } else if picture.last == Some(place) {
        (palette.last, '(', ')')
    } else {
        (Style::new(), ' ', ' ')
    };
    if let Some(glyph) = glyph(picture, palette, text) {
        let [open, close] = [open, close].map(|bracket| styled(style, &bracket.to_string()));
        let text = styled(palette.faint, &padded(text, inner - 3));
        return format!("{open}{glyph}{text}{close}");
    }
    let coloured = (!style.is_plain()).then_some((' ', ' '));
    let (open, close) = coloured.unwrap_or((open, close));
    let (left, right) = centred(text, inner - 2);
    styled(style, &format!("{open}{left}{text}{right}{close}"))
}

/// The board, with the pieces in hand and left beside or below it, on a terminal of so many columns.
pub fn draw_within(picture: &Picture, palette: &Palette, columns: Option<usize>) -> String {
    let width = columns.unwrap_or(WIDTH).min(WIDTH);
    let (board, board_width) = if picture.cells.is_empty() {
        (Vec::new(), 0)
    } else {
        board(picture, palette)
    };
    let mut side = Vec::new();
    if let Some(hand) = &picture.hand {
        let glyph = glyph(picture, palette, hand).unwrap_or_default();
        let heading = styled(palette.heading, "in hand:");
        side.push(format!("{heading} {glyph}{hand}"));
    }
    if !picture.left.is_empty() {
        side.push(styled(palette.faint, "left:"));
    }
    let short = left_as_glyphs(picture, palette);
    let widest = widest(picture.left.iter().filter(|_| short.is_empty()));
    let room = width.saturating_sub(board_width + INDENT);
    let hand_width = picture.hand.as_ref().map_or(0, |hand| 9 + hand.width());
    // Two columns of pieces are never higher than the board: the layout stays from turn to turn.
    let beside = 2 * widest + GAP <= room && hand_width <= room;
    let room = if beside {
        room
    } else {
        width.saturating_sub(INDENT)
    };
    if short.is_empty() {
        side.extend(columns_of(&picture.left, widest, room));
    } else {
        side.extend(short);
    }
    let mut out = String::new();
    let (rows, indent) = (board.len(), " ".repeat(INDENT));
    let height = if beside { rows.max(side.len()) } else { rows };
    for i in 0..height {
        let blank = || " ".repeat(board_width);
        let left = board.get(i).cloned().unwrap_or_else(blank);
        let right = side.get(i).filter(|_| beside).map_or("", String::as_str);
        let line = format!("{left}{indent}{right}");
        let _ = writeln!(out, "{}", line.trim_end());
    }
    for line in side.iter().filter(|_| !beside) {
        let _ = writeln!(out, "{indent}{line}");
    }
    for line in &picture.text {
        // A game program's text may hold anything but a newline.
        let _ = writeln!(out, "{}", escape_controls(line));
    }
    out
}

/// The pieces that are left, four in a line, without words; empty where there are no glyphs.
fn left_as_glyphs(picture: &Picture, palette: &Palette) -> Vec<String> {
    let characters = |left: &String| left.split(' ').next().unwrap_or_default().to_owned();
    let names: Vec<String> = picture.left.iter().map(characters).collect();
    let width = widest(&names);
    let shown = |name: &String| {
        let text = styled(palette.faint, &padded(name, width));
        Some(glyph(picture, palette, name)? + &text)
    };
    let shown: Option<Vec<String>> = names.iter().map(shown).collect();
    let lines = shown.unwrap_or_default();
    lines.chunks(4).map(|line| line.join("  ")).collect()
}

/// As many columns as `room` allows, filled downwards.
fn columns_of(texts: &[String], widest: usize, room: usize) -> Vec<String> {
    let count = ((room + GAP) / (widest + GAP)).max(1);
    let height = texts.len().div_ceil(count);
    let row = |row: usize| {
        let texts = (0..count).filter_map(|column| texts.get(column * height + row));
        let cells: Vec<String> = texts.map(|text| padded(text, widest)).collect();
        cells.join(&" ".repeat(GAP)).trim_end().to_owned()
    };
    (0..height).map(row).collect()
}

fn widest<'a>(texts: impl IntoIterator<Item = &'a String>) -> usize {
    let widths = texts.into_iter().map(|text| text.width());
    widths.max().unwrap_or(0)
}

/// In terminal columns.
pub(super) fn width(text: &str) -> usize {
    text.width()
}

/// Cuts text to `width` columns, with `…`, between grapheme clusters.
pub fn shortened(text: &str, width: usize) -> String {
    if text.width() <= width {
        return text.to_owned();
    }
    let mut short = String::new();
    for cluster in text.graphemes(true) {
        if short.width() + cluster.width() + 1 > width {
            break;
        }
        short.push_str(cluster);
    }
    short.push('…');
    short
}

/// Cuts a name to `width` columns in the middle, as names often differ only in their ends.
///
/// ```
/// use referee_report::terminal::shortened_name;
///
/// assert_eq!(shortened_name("builtin:search?depth=2", 15), "builtin…depth=2");
/// ```
pub fn shortened_name(name: &str, width: usize) -> String {
    let mut tail = "";
    for (at, _) in name.grapheme_indices(true).rev() {
        if 2 * name[at..].width() >= width {
            break;
        }
        tail = &name[at..];
    }
    if name.width() <= width {
        return name.to_owned();
    }
    shortened(name, width - tail.width()) + tail
}

/// Text whose lines are broken between words where they would be wider than `columns`. Lines that fit are as
/// they were.
///
/// ```
/// use referee_report::terminal::wrapped;
///
/// assert_eq!(wrapped("one two three\n", 8), "one two\nthree\n");
/// assert_eq!(wrapped("  one  two\n", 80), "  one  two\n");
/// ```
pub fn wrapped(text: &str, columns: usize) -> String {
    let mut out = String::new();
    for line in text.split_inclusive('\n') {
        if line.trim_end().width() <= columns {
            out.push_str(line);
            continue;
        }
        let mut used = 0;
        let mut rest = line.trim_end();
        while !rest.is_empty() {
            let begin = rest.len() - rest.trim_start().len();
            let end = rest[begin..].find(char::is_whitespace);
            let (piece, after) = rest.split_at(end.map_or(rest.len(), |end| begin + end));
            rest = after;
            if used > 0 && used + piece.width() > columns {
                out.push('\n');
                let word = piece.trim_start();
                out.push_str(word);
                used = word.width();
            } else {
                // With the spaces before it: an answer that is quoted may have several.
                out.push_str(piece);
                used += piece.width();
            }
        }
        if line.ends_with('\n') {
            out.push('\n');
        }
    }
    out
}

/// `text` after `label`, with the rest of its first line below its beginning, and as it is where there is no number of
/// columns. Further lines of it stay as they are.
///
/// ```
/// use referee_report::terminal::labelled;
///
/// let fix = "write the answer in that form, and nothing else";
/// assert_eq!(
///     labelled("fix: ", fix, Some(40)),
///     "fix: write the answer in that form, and\n     nothing else"
/// );
/// assert_eq!(labelled("fix: ", fix, None), format!("fix: {fix}"));
/// ```
pub fn labelled(label: &str, text: &str, columns: Option<usize>) -> String {
    let indent = label.width();
    let Some(room) = columns.and_then(|columns| columns.checked_sub(indent + LEAST)) else {
        return format!("{label}{text}");
    };
    let (first, further) = text.split_at(text.find('\n').unwrap_or(text.len()));
    let below = format!("\n{}", " ".repeat(indent));
    let first = wrapped(first, room + LEAST).replace('\n', &below);
    format!("{label}{first}{further}")
}

/// Columns that text needs in order to be read in lines of its own.
const LEAST: usize = 20;

/// Rows of equal length, the first one the header, in columns two spaces apart; `left` are left-aligned.
pub fn aligned(rows: &[Vec<String>], palette: &Palette, left: &[usize]) -> String {
    let mut widths = vec![0; rows.first().map_or(0, Vec::len)];
    for row in rows {
        for (width, text) in widths.iter_mut().zip(row) {
            *width = text.width().max(*width);
        }
    }
    let mut out = String::new();
    // A crosstable of a thousand bots has a million cells.
    let mut line = String::new();
    for (i, row) in rows.iter().enumerate() {
        line.clear();
        for (column, (text, width)) in row.iter().zip(&widths).enumerate() {
            let blanks = repeat_n(' ', width - text.width());
            line.push_str(if column == 0 { "" } else { "  " });
            if left.contains(&column) {
                line.push_str(text);
                line.extend(blanks);
            } else {
                line.extend(blanks);
                line.push_str(text);
            }
        }
        let style = if i == 0 {
            palette.heading
        } else {
            Style::new()
        };
        out += &styled(style, line.trim_end());
        out.push('\n');
    }
    out
}

/// A time such as `0.13 ms`.
pub fn time(elapsed: Duration) -> String {
    format_milliseconds(elapsed.as_secs_f64() * 1000.0)
}
