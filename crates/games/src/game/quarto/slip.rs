//! Common mistakes in answers, recognised by what was answered.

use super::game::only_char;
use crate::game::one_or_two_digits;

const ROW_AND_COLUMN: &str = "a cell is one number, 1 to 16, row by row; not a row and a column";

/// What the author of this answer, which was rejected, is likely to have got wrong; for the end of a sentence.
/// `is_symbol` says which characters are pieces, `hand` whether there is a piece to place.
pub(super) fn slip(
    answer: &str,
    hand: bool,
    is_symbol: impl Fn(char) -> bool,
) -> Option<&'static str> {
    let is_cell =
        |word: &str| one_or_two_digits(word).is_some_and(|number| number <= 16) || word == "-";
    let is_gift =
        |word: &str| only_char(word).is_some_and(|symbol| is_symbol(symbol) || symbol == '-');
    let words: Vec<&str> = answer.split_ascii_whitespace().collect();
    if answer.starts_with('\u{feff}') {
        return Some("it begins with a byte order mark: write UTF-8 without one");
    }
    match words[..] {
        [word] if !hand && is_cell(word) => {
            Some("the first answer of a game gives a piece: `-` and its letter")
        }
        [word] if word.contains([',', ';']) => {
            Some("a space separates cell and gift, nothing else")
        }
        [row, column, gift] if is_cell(row) && is_cell(column) && is_gift(gift) => {
            Some(ROW_AND_COLUMN)
        }
        [cell, gift] if cell != "-" && is_gift(cell) && is_cell(gift) => {
            Some("the cell comes first, then the gift")
        }
        [cell, _] if is_row_and_column(cell) => Some(ROW_AND_COLUMN),
        // Its first fault is told without a hint.
        ["0", gift] if !hand && is_gift(gift) => None,
        ["0", _] => Some("cells are counted from 1, not from 0"),
        [.., cell, gift] if words.len() > 2 && is_cell(cell) && is_gift(gift) => {
            Some("text before the answer, such as a prompt, belongs on standard error")
        }
        [first, cell, second, gift]
            if is_word(first) && is_cell(cell) && is_word(second) && is_gift(gift) =>
        {
            Some("the answer is the cell and the gift alone, without words around them")
        }
        [cell, gift] if is_cell(cell) && is_number(gift) && !is_gift(gift) => {
            Some("a piece is its letter, not its number")
        }
        [_, gift] => {
            let symbol = only_char(gift).filter(|&symbol| !is_symbol(symbol))?;
            let upper = symbol.to_uppercase().next()?;
            is_symbol(upper).then_some("pieces are upper-case letters")
        }
        _ => None,
    }
}

fn is_word(text: &str) -> bool {
    text.len() > 1
        && text
            .trim_end_matches(':')
            .bytes()
            .all(|byte| byte.is_ascii_alphabetic())
}

fn is_number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

/// `1,3`, `A1` or `b2`.
fn is_row_and_column(word: &str) -> bool {
    match word.as_bytes() {
        [row, b',' | b';' | b'-', column] => row.is_ascii_digit() && column.is_ascii_digit(),
        [row, column] => row.is_ascii_alphabetic() && (b'1'..=b'4').contains(column),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn common_mistakes_are_recognised() {
        let found = |answer: &str, hand| {
            slip(answer, hand, |symbol| symbol.is_ascii_uppercase()).unwrap_or_default()
        };
        for (answer, hand, words) in [
            ("0 A", true, "from 1"),
            ("1 3 A", true, "row by row"),
            ("1,3 A", true, "row by row"),
            ("b2 A", true, "row by row"),
            ("3,A", true, "a space"),
            ("- a", false, "upper-case"),
            ("7", false, "gives a piece"),
            ("-", false, "gives a piece"),
            ("A -", false, "cell comes first"),
            ("\u{feff}- A", false, "byte order mark"),
            ("Your move: - A", false, "a prompt"),
            ("- 0", false, "not its number"),
            ("3 12", true, "not its number"),
            ("place - give A", false, "without words"),
            ("Place: 3 give: A", true, "without words"),
        ] {
            assert!(found(answer, hand).contains(words), "{answer}");
        }
        for (answer, hand) in [
            ("17 A", true),
            ("3 A", true),
            ("what", false),
            ("0 A", false),
            ("7 A", false),
            ("- -", false),
            ("3", true),
            ("", true),
        ] {
            assert_eq!(found(answer, hand), "", "{answer}");
        }
    }
}
