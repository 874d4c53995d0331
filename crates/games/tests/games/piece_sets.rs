//! Piece sets: every way a file can be broken is reported where an editor shows it, and what spreadsheets and editors
//! do to good files is accepted.

use std::io::{self, Read};

use referee_games::game::BuiltinGame as _;
use referee_games::game::quarto::{Edition, Piece, PieceSet, Rules, SetError};

const ENGLISH: &str = include_str!("../../../../sets/english.csv");
const DUTCH: &str = include_str!("../../../../sets/dutch.csv");

/// Line `line` (from 1) is replaced.
fn with(line: usize, text: &str) -> String {
    let mut lines: Vec<&str> = ENGLISH.lines().collect();
    lines[line - 1] = text;
    lines.join("\n") + "\n"
}

/// Before line `line` (from 1).
fn inserted(line: usize, text: &str) -> String {
    let mut lines: Vec<&str> = ENGLISH.lines().collect();
    lines.insert(line - 1, text);
    lines.join("\n") + "\n"
}

fn each_line(change: impl Fn(&str) -> String) -> String {
    ENGLISH.lines().map(|line| change(line) + "\n").collect()
}

fn symbols(symbols: &[&str; 16]) -> String {
    let rows = ENGLISH.lines().skip(1).zip(symbols);
    let rows = rows.map(|(row, symbol)| format!("\n{symbol}{}", &row[1..]));
    "piece,size,color,form,fill".to_owned() + &rows.collect::<String>()
}

fn read(file: impl AsRef<[u8]>) -> Result<PieceSet, SetError> {
    PieceSet::read(file.as_ref())
}

fn accepted(file: impl AsRef<[u8]>) -> PieceSet {
    let file = file.as_ref();
    match read(file) {
        Ok(set) => set,
        Err(error) => panic!("{error}\n{}", String::from_utf8_lossy(file)),
    }
}

struct Broken {
    what: &'static str,
    file: Vec<u8>,
    line: usize,
    column: usize,
    phrase: &'static str,
}

fn broken(
    what: &'static str,
    file: impl Into<Vec<u8>>,
    (line, column): (usize, usize),
    phrase: &'static str,
) -> Broken {
    Broken {
        what,
        file: file.into(),
        line,
        column,
        phrase,
    }
}

fn check(table: &[Broken]) {
    let mut wrong = Vec::new();
    for case in table {
        let Err(error) = read(&case.file) else {
            wrong.push(format!("{}: accepted", case.what));
            continue;
        };
        if (error.line, error.column) != (case.line, case.column)
            || !error.message.contains(case.phrase)
        {
            wrong.push(format!(
                "{}: expected line {}, column {}: …{}…\n   found {error}",
                case.what, case.line, case.column, case.phrase
            ));
        }
    }
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}

#[test]
fn a_broken_header_is_reported_where_it_is() {
    check(&[
        broken("empty", "", (1, 1), "empty"),
        broken("only blank lines", "\n \t\n\r\n", (1, 1), "empty"),
        broken("only a byte order mark", "\u{feff}", (1, 1), "empty"),
        broken(
            "a header of four fields: the fifth is missing at the end of the line",
            with(1, "piece,size,color,form"),
            (1, 22),
            "4 fields",
        ),
        broken(
            "a header of six fields: the sixth is too many",
            with(1, "piece,size,color,form,fill,weight"),
            (1, 28),
            "6 fields",
        ),
        broken(
            "a comma at the end of the header",
            with(1, "piece,size,color,form,fill,"),
            (1, 28),
            "6 fields",
        ),
        broken(
            "semicolons",
            ENGLISH.replace(',', ";"),
            (1, 27),
            "`,` instead of `;`",
        ),
        broken(
            "tabs",
            ENGLISH.replace(',', "\t"),
            (1, 27),
            "`,` instead of tabs",
        ),
        broken(
            "a comment before the header",
            inserted(1, "# my pieces"),
            (1, 12),
            "one field",
        ),
        broken(
            "a blank line before the header",
            inserted(1, ""),
            (1, 1),
            "blank line",
        ),
        broken(
            "a feature without a name",
            with(1, "piece,size,,form,fill"),
            (1, 12),
            "feature 2 has no name",
        ),
        broken(
            "a feature with a blank name",
            with(1, "piece,size,color,form, "),
            (1, 23),
            "feature 4 has no name",
        ),
        broken(
            "a feature named twice",
            with(1, "piece,size,color,size,fill"),
            (1, 18),
            "`size` is named twice",
        ),
        broken(
            "a feature named twice, after a byte order mark",
            with(1, "\u{feff}piece,size,color,size,fill"),
            (1, 18),
            "`size` is named twice",
        ),
        broken(
            "a control character in a feature's name",
            with(1, "piece,size,color,fo\u{1b}rm,fill"),
            (1, 18),
            "a control or invisible character in `",
        ),
        broken(
            "a header and nothing else",
            "piece,size,color,form,fill\n",
            (1, 27),
            "row 1 of 16",
        ),
        broken(
            "no header: the last row is missing in the end",
            ENGLISH.split_once('\n').map_or("", |(_, rows)| rows),
            (16, 28),
            "row 16 of 16",
        ),
    ]);
}

#[test]
fn a_broken_row_is_reported_where_it_is() {
    check(&[
        broken(
            "15 rows: the file ends after the last one",
            ENGLISH.replace("P,small,blue,circular,solid\n", ""),
            (16, 26),
            "row 16 of 16",
        ),
        broken(
            "17 rows",
            ENGLISH.to_owned() + "Q,small,blue,circular,solid\n",
            (18, 1),
            "row too many",
        ),
        broken(
            "a row of four fields",
            with(5, "D,small,blue,square"),
            (5, 20),
            "4 fields",
        ),
        broken(
            "a row of four fields, blanks and a carriage return behind it",
            with(5, "D,small,blue,square  \r"),
            (5, 20),
            "4 fields",
        ),
        broken(
            "the last row has four fields",
            with(17, "P,small,blue,circular"),
            (17, 22),
            "4 fields",
        ),
        broken(
            "a row of six fields",
            with(5, "D,small,blue,square,hollow,heavy"),
            (5, 28),
            "6 fields",
        ),
        broken(
            "a row of one field",
            with(9, "and so on"),
            (9, 10),
            "one field",
        ),
        broken(
            "a row with semicolons",
            with(9, "H;small;blue;circular;hollow"),
            (9, 29),
            "`,` instead of `;`",
        ),
        broken(
            "a comma at the end of every line",
            each_line(|line| format!("{line},")),
            (1, 28),
            "6 fields",
        ),
        broken(
            "a blank line in the middle",
            inserted(9, ""),
            (9, 1),
            "blank line",
        ),
        broken(
            "a line of blanks in the middle",
            inserted(9, " \t "),
            (9, 1),
            "blank line",
        ),
        broken(
            "a blank line in the middle, with CRLF",
            inserted(9, "").replace('\n', "\r\n"),
            (9, 1),
            "blank line",
        ),
    ]);
}

#[test]
fn a_broken_piece_is_reported_where_it_is() {
    check(&[
        broken(
            "no character for the piece",
            with(4, ",big,blue,square,hollow"),
            (4, 1),
            "no character",
        ),
        broken(
            "two characters for the piece",
            with(3, "BB,small,red,square,hollow"),
            (3, 1),
            "one character",
        ),
        broken(
            "two characters with blanks around them",
            with(3, "  10 ,small,red,square,hollow"),
            (3, 1),
            "one character",
        ),
        broken(
            "one character twice",
            with(7, "A,small,red,circular,hollow"),
            (7, 1),
            "on line 2 already",
        ),
        broken(
            "the same combination twice",
            with(3, "B,big,red,square,hollow"),
            (3, 1),
            "same four properties as 'A' on line 2",
        ),
        broken(
            "a feature with one property only",
            ENGLISH.replace("solid", "hollow"),
            (10, 1),
            "same four properties as 'A' on line 2",
        ),
    ]);
}

#[test]
fn a_broken_property_is_reported_where_it_is() {
    check(&[
        broken(
            "a third property",
            with(11, "J,small,red,square,full"),
            (11, 20),
            "`full` is a third property of `fill`; expected `hollow` or `solid`",
        ),
        broken(
            "the same word in capitals is another word",
            with(4, "C,Big,blue,square,hollow").replace("small", "BIG"),
            (4, 3),
            "`Big` is a third property of `size`; expected `big` or `BIG`",
        ),
        broken(
            "a property of two features",
            with(4, "C,big,big,square,hollow"),
            (4, 7),
            "`big` is a property of `size`; expected a property of `color`",
        ),
        broken(
            "two properties in the wrong order",
            with(8, "G,big,circular,blue,hollow"),
            (8, 7),
            "`circular` is a property of `form`",
        ),
        broken(
            "a missing property",
            with(6, "E,big,,circular,hollow"),
            (6, 7),
            "no property for `color`",
        ),
        broken(
            "a blank property",
            with(6, "E,big,   ,circular,hollow"),
            (6, 7),
            "no property for `color`",
        ),
        broken(
            "the last property of the file is missing",
            with(17, "P,small,blue,circular,"),
            (17, 23),
            "no property for `fill`",
        ),
        broken(
            "a control character in a property",
            with(4, "C,big,bl\u{7}ue,square,hollow"),
            (4, 7),
            "a control or invisible character in `",
        ),
        broken(
            "a property that turns text around",
            with(4, "C,big,bl\u{202e}ue,square,hollow"),
            (4, 7),
            r"a control or invisible character in `bl\u{202e}ue`",
        ),
        broken(
            "a property that goes on in the next line",
            with(4, "C,big,\"bl\nue\",square,hollow"),
            (4, 7),
            "quote that is not closed",
        ),
        broken(
            "a third property behind quoted fields with commas",
            with(5, "D,\"small\",\"blue, dark\",square,hollow"),
            (5, 11),
            "`blue, dark` is a third property of `color`",
        ),
        broken(
            "columns are characters, not bytes",
            symbols(&[
                "♔", "♕", "♖", "♗", "♘", "♙", "♚", "♛", "♜", "♝", "♞", "♟", "é", "ß", "😀", "Ω",
            ])
            .replace("big", "größer")
            .replace(
                "Ω,small,blue,circular,solid",
                "Ω,größer,größer,circular,solid",
            ),
            (17, 10),
            "`größer` is a property of `size`",
        ),
        broken(
            "characters of the second plane are one column",
            with(4, "😀,big,azure,square,hollow"),
            (5, 9),
            "`blue` is a third property of `color`",
        ),
    ]);
}

#[test]
fn a_file_that_is_no_text_is_reported_where_it_breaks() {
    let latin = |line: usize, text: &[u8]| -> Vec<u8> {
        let lines = ENGLISH.lines().enumerate();
        let lines = lines.map(|(i, old)| if i + 1 == line { text } else { old.as_bytes() });
        lines.collect::<Vec<_>>().join(&b'\n')
    };
    let utf16: Vec<u8> = [0xfeff]
        .into_iter()
        .chain(ENGLISH.encode_utf16())
        .flat_map(u16::to_le_bytes)
        .collect();
    check(&[
        broken(
            "Latin-1 in line 4",
            latin(4, b"C,big,bl\xfc,square,hollow"),
            (4, 9),
            "byte 0xfc is not UTF-8",
        ),
        broken(
            "Latin-1 in the header",
            latin(1, b"pi\xe8ce,size,color,form,fill"),
            (1, 3),
            "byte 0xe8 is not UTF-8",
        ),
        broken(
            "Latin-1 behind characters of several bytes",
            latin(4, b"C,gr\xc3\xb6\xc3\x9fer,bl\xe4u,square,hollow"),
            (4, 12),
            "byte 0xe4 is not UTF-8",
        ),
        broken("UTF-16", utf16, (1, 1), "UTF-8"),
        broken(
            "cut within a character",
            latin(17, b"P,small,blue,circular,mass\xc3"),
            (17, 27),
            "byte 0xc3 is not UTF-8",
        ),
    ]);
}

#[test]
fn a_quote_that_is_not_closed_is_reported_where_it_opens() {
    check(&[
        broken(
            "in a row",
            with(4, "C,\"big,blue,square,hollow"),
            (4, 3),
            "quote",
        ),
        broken(
            "in the header",
            with(1, "piece,size,\"color,form,fill"),
            (1, 12),
            "quote",
        ),
        broken(
            "in the last row",
            with(17, "P,small,blue,circular,\"solid"),
            (17, 23),
            "quote",
        ),
        broken(
            "behind blanks",
            with(4, "C,  \"big,blue,square,hollow"),
            (4, 5),
            "quote",
        ),
    ]);
}

#[test]
fn text_behind_a_closing_quote_is_reported_where_it_begins() {
    check(&[
        broken(
            "in a row",
            with(4, "C,\"big\"ger,blue,square,hollow"),
            (4, 8),
            "text after the closing quote",
        ),
        broken(
            "in the first field, behind blanks",
            with(4, " \"C\"x,big,blue,square,hollow"),
            (4, 5),
            "text after the closing quote",
        ),
    ]);
}

#[test]
fn another_separator_is_only_named_where_it_is_one() {
    let error = read(with(9, "and so on")).expect_err("a broken file");
    assert!(!error.message.contains("instead of"), "{error}");
}

#[test]
fn the_column_of_pieces_needs_no_name() {
    let set = accepted(with(1, ",size,color,form,fill"));
    assert_eq!(set.column(), "");
    assert_eq!(set.properties('A'), PieceSet::default().properties('A'));
}

#[test]
fn quotes_within_words_do_not_confuse_columns() {
    // Inches: 3" and 5".
    let inches = ENGLISH.replace("big", "5\"").replace("small", "3\"");
    assert_eq!(
        accepted(&inches).properties('A'),
        Some(["5\"", "red", "square", "hollow"])
    );
    check(&[
        broken(
            "a third property behind a word with a quote",
            inches.replace("D,3\",blue", "D,3\",azure"),
            (5, 6),
            "`azure` is a third property of `color`",
        ),
        broken(
            "a row of six fields with a word with a quote",
            inches.replace("D,3\",blue,square,hollow", "D,3\",blue,square,hollow,heavy"),
            (5, 25),
            "6 fields",
        ),
    ]);
}

#[test]
fn a_file_that_is_too_long_is_not_read() {
    let long = ENGLISH.to_owned() + &" \n".repeat(1 << 15);
    check(&[broken("64 KiB of blank lines", long, (1, 1), "longer than")]);
    let error = PieceSet::read(io::repeat(b'A')).expect_err("an endless file");
    assert_eq!((error.line, error.column), (1, 1));
    let fits = ENGLISH.to_owned() + &"\n".repeat((1 << 16) - ENGLISH.len());
    assert_eq!(fits.len(), 1 << 16);
    assert!(accepted(fits).is_builtin());
}

#[test]
fn a_source_that_fails_says_why() {
    struct Fails;
    impl Read for Fails {
        fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
            Err(io::Error::other("the disk is on fire"))
        }
    }
    let error = PieceSet::read(Fails).expect_err("a failing source");
    assert!(error.message.contains("the disk is on fire"), "{error}");
}

#[test]
fn errors_start_with_their_place() {
    let error = read(with(4, "C,big,big,square,hollow")).expect_err("a broken file");
    assert!(
        error.to_string().starts_with("line 4, column 7: "),
        "{error}"
    );
}

#[test]
fn what_editors_do_to_files_is_accepted() {
    let cases = [
        ("as it is", ENGLISH.to_owned()),
        ("no newline at the end", ENGLISH.trim_end().to_owned()),
        ("a byte order mark", format!("\u{feff}{ENGLISH}")),
        ("CRLF", ENGLISH.replace('\n', "\r\n")),
        (
            "a byte order mark and CRLF",
            format!("\u{feff}{ENGLISH}").replace('\n', "\r\n"),
        ),
        ("blank lines at the end", format!("{ENGLISH}\n\n\n")),
        (
            "blank lines with spaces at the end",
            format!("{ENGLISH}  \n\t\n \r\n   "),
        ),
        ("spaces around fields", ENGLISH.replace(',', " ,  ")),
        (
            "spaces around lines",
            each_line(|line| format!("  {line}  ")),
        ),
        ("tabs after commas", ENGLISH.replace(',', ",\t")),
        (
            "all fields quoted",
            each_line(|line| format!("\"{}\"", line.replace(',', "\",\""))),
        ),
        (
            "all fields quoted, with CRLF",
            each_line(|line| format!("\"{}\"\r", line.replace(',', "\",\""))),
        ),
        (
            "spaces within quotes",
            each_line(|line| format!("\" {} \"", line.replace(',', " \",\" "))),
        ),
        ("one field quoted", with(4, "C,\"big\",blue,square,hollow")),
    ];
    for (what, file) in cases {
        let set = accepted(&file);
        assert_eq!(set, PieceSet::default(), "{what}");
        assert!(set.is_builtin(), "{what}");
    }
}

#[test]
fn spaces_around_quoted_fields_are_accepted_too() {
    let set = accepted(each_line(|line| {
        format!("\"{}\"", line.replace(',', "\" , \""))
    }));
    assert_eq!(
        set.properties('A'),
        Some(["big", "red", "square", "hollow"])
    );
}

#[test]
fn words_may_hold_commas_quotes_and_blanks() {
    let set = accepted(
        ENGLISH
            .replace("big", "\"big, tall\"")
            .replace("small", "\"very \"\"small\"\"\"")
            .replace("size", "\"size, height\""),
    );
    assert_eq!(set.features()[0].name, "size, height");
    assert_eq!(
        set.features()[0].properties,
        ["big, tall", "very \"small\""]
    );
    assert_eq!(
        set.properties('B'),
        Some(["very \"small\"", "red", "square", "hollow"])
    );
}

#[test]
fn any_character_can_stand_for_a_piece() {
    let chosen = [
        "♔", "é", "😀", "\"\"\"\"", "\",\"", "ß", "a", "A", "0", "$", "\u{202e}", "#", "1", "2",
        "漢", "~",
    ];
    let set = accepted(symbols(&chosen));
    assert_eq!(set.check_for_match(), Ok(()));
    for (row, symbol) in [
        (0, '♔'),
        (1, 'é'),
        (2, '😀'),
        (3, '"'),
        (4, ','),
        (14, '漢'),
    ] {
        let piece = set.piece(symbol).expect("a piece of the set");
        assert_eq!(piece.index(), row, "{symbol:?}");
        assert_eq!(set.symbol(piece), symbol);
        assert_eq!(set.order()[row], piece);
    }
    assert_eq!(set.piece('B'), None);
    assert_eq!(set.piece('\u{1f601}'), None);
    let board = set.configuration("♔é😀\",ßaA0$\u{202e}#12漢~").expect("16");
    assert_eq!(board.count(), 16);
}

#[test]
fn what_the_protocol_uses_is_for_looking_only() {
    for (symbol, line) in [(".", 2), ("-", 5), (" ", 9), ("\u{7}", 17), ("\u{a0}", 3)] {
        let mut chosen = [
            "A", "B", "C", "D", "E", "F", "G", "H", "I", "J", "K", "L", "M", "N", "O", "P",
        ];
        chosen[line - 2] = symbol;
        let set = accepted(symbols(&chosen));
        let character = symbol.chars().next().expect("a character");
        assert!(set.piece(character).is_some(), "{symbol:?}");
        // As one of sixteen it is a piece like any other.
        let drawn = set
            .configuration(&symbol.repeat(16))
            .expect("16 characters");
        assert_eq!(drawn.count(), 16, "{symbol:?}");
        let error = set.check_for_match().expect_err("a reserved character");
        assert_eq!((error.line, error.column), (line, 1), "{symbol:?}");
        assert!(error.message.contains("protocol"), "{error}");
        assert!(!error.to_string().contains('\u{7}'), "{error:?}");
    }
    assert_eq!(PieceSet::default().check_for_match(), Ok(()));
}

#[test]
fn the_built_in_set_is_the_exercises() {
    let set = PieceSet::default();
    assert!(set.is_builtin());
    assert_eq!(set.text(), "");
    let from_file = accepted(ENGLISH);
    assert!(from_file.is_builtin());
    assert_eq!(from_file, set);
    assert_eq!(
        Edition::new(Rules::Standard, from_file).info().pieces,
        None,
        "a record of a game with the built-in set does not repeat it"
    );
    for (bits, letter) in ('A'..='P').enumerate() {
        let expected = [
            ["big", "small"][bits & 1],
            ["red", "blue"][bits >> 1 & 1],
            ["square", "circular"][bits >> 2 & 1],
            ["hollow", "solid"][bits >> 3 & 1],
        ];
        assert_eq!(set.properties(letter), Some(expected), "{letter}");
        assert_eq!(set.piece(letter).map(Piece::index), Some(bits));
    }
}

#[test]
fn other_words_or_another_order_are_another_set() {
    let dutch = accepted(DUTCH);
    assert!(!dutch.is_builtin());
    assert_eq!(dutch.text(), DUTCH);
    assert_eq!(
        Edition::new(Rules::Standard, dutch).info().pieces,
        Some(DUTCH),
        "a record explains itself"
    );
    let mut rows: Vec<&str> = ENGLISH.lines().collect();
    rows[1..].reverse();
    let reversed = accepted(rows.join("\n"));
    assert!(!reversed.is_builtin());
    // The words stay with the characters.
    for letter in 'A'..='P' {
        assert_eq!(
            reversed.properties(letter),
            PieceSet::default().properties(letter)
        );
    }
    assert!(!accepted(ENGLISH.replace("piece,", "name,")).is_builtin());
}

#[test]
fn the_dutch_set_gives_dutch_quartos() {
    let dutch = accepted(DUTCH);
    assert_eq!(dutch.column(), "stuk");
    assert_eq!(
        dutch.quartos("N?BI??JO?FDLMEAG", Rules::Standard),
        Ok(vec![("H4", "groot"), ("V3", "vierkant"), ("D2", "rood")])
    );
    assert_eq!(
        dutch.quartos("KHEF#DCMXABJPGOL", Rules::Standard),
        Ok(vec![("H4", "blauw"), ("V2", "hol"), ("D1", "vierkant")])
    );
}
