//! Pictures of positions: `referee board` and `referee replay`.
//!
//! Two files in `docs/pictures` are what the commands write; `UPDATE=1` writes them anew. That the drawings are those
//! of the page is tested in a browser (`tests/environment/browser`).

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use crate::common::games::{GAMES, write};
use crate::common::{RECORDS, Referee, Run};
use roxmltree::{Document, Node};
use serde_json::{Value, json};
use tempfile::TempDir;

const DUTCH: &str = "../../sets/dutch.csv";
const GREEK: &str = "../../sets/greek.csv";

/// A position that is won: rows from the top.
const FOUR: &str = ".................O.....O@....O@@...O@@O@..";

#[track_caller]
fn svg(arguments: &[&str]) -> String {
    let run = Referee::new(arguments).args(["--format", "svg"]).run();
    assert_eq!(run.code, Some(0), "{run}");
    run.stdout
}

#[track_caller]
fn refused(run: &Run, parts: &[&str]) {
    assert_eq!((run.code, &*run.stdout), (Some(2), ""), "{run}");
    for part in parts {
        assert!(run.stderr.contains(part), "`{part}` is missing\n{run}");
    }
}

/// Elements with a class that has this word.
fn of_class<'a>(document: &'a Document<'a>, class: &str) -> Vec<Node<'a, 'a>> {
    document
        .descendants()
        .filter(|node| {
            let classes = node.attribute("class").unwrap_or_default();
            classes.split(' ').any(|one| one == class)
        })
        .collect()
}

fn title<'a>(document: &'a Document<'a>) -> &'a str {
    let first = document.root_element().first_element_child();
    let title = first.filter(|node| node.has_tag_name("title"));
    title.and_then(|node| node.text()).expect("a title first")
}

/// Well-formed, a picture with a name, and nothing in it that is elsewhere or that runs.
#[track_caller]
fn is_picture(svg: &str) -> Document<'_> {
    let document = Document::parse(svg).expect("well-formed XML");
    let root = document.root_element();
    assert_eq!(root.tag_name().name(), "svg");
    assert_eq!(
        root.tag_name().namespace(),
        Some("http://www.w3.org/2000/svg")
    );
    assert_eq!(root.attribute("role"), Some("img"));
    assert!(!title(&document).is_empty());
    assert!(svg.len() < 100_000, "{} bytes", svg.len());
    for node in document.descendants().filter(Node::is_element) {
        let name = node.tag_name().name();
        let known = [
            "svg", "title", "g", "rect", "circle", "ellipse", "path", "line", "text",
        ];
        assert!(known.contains(&name), "{name}");
        for attribute in node.attributes() {
            assert!(!attribute.name().starts_with("on"), "{attribute:?}");
            assert!(!attribute.name().ends_with("href"), "{attribute:?}");
            let value = attribute.value();
            assert!(
                !value.contains("url(") && !value.contains("var("),
                "{attribute:?}"
            );
        }
    }
    document
}

/// Compares a picture with a file in `docs/pictures`.
#[track_caller]
fn is_file(name: &str, svg: &str) {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/pictures");
    let file = file.join(name);
    if std::env::var_os("UPDATE").is_some() {
        fs::write(&file, svg).expect("written");
    }
    let expected = fs::read_to_string(&file).unwrap_or_default();
    assert!(
        svg == expected,
        "{} is another picture than what the command writes now: UPDATE=1 cargo test --test integration pictures::, and look at it",
        file.display()
    );
}

#[test]
fn positions_of_both_games_are_drawn() {
    let mid = svg(&["board", "A..PC...J..EF... K"]);
    is_picture(&mid);
    is_file("quarto.svg", &mid);
    let won = svg(&["board", "--game", "four-in-a-row", FOUR]);
    is_picture(&won);
    is_file("four-in-a-row.svg", &won);
}

#[test]
fn an_empty_board_has_numbers_and_no_pieces() {
    let svg = svg(&["board", "................"]);
    let document = is_picture(&svg);
    assert_eq!(title(&document), "The board. Empty.");
    let numbers: Vec<_> = of_class(&document, "number")
        .iter()
        .map(Node::text)
        .collect();
    assert_eq!(numbers.len(), 16);
    assert_eq!((numbers[0], numbers[15]), (Some("1"), Some("16")));
    assert_eq!(of_class(&document, "piece"), []);
    assert_eq!(of_class(&document, "hand"), []);
}

#[test]
fn winning_lines_and_squares_are_marked() {
    let won = svg(&["board", "KHEF#DCMXABJPGOL"]);
    let document = is_picture(&won);
    let strokes = of_class(&document, "stroke");
    let ends: Vec<_> = strokes
        .iter()
        .map(|line| ["x1", "y1", "x2", "y2"].map(|name| line.attribute(name).unwrap_or("")))
        .collect();
    // H4, V2 and D1.
    assert_eq!(
        ends,
        [
            ["92", "392", "392", "392"],
            ["192", "92", "192", "392"],
            ["92", "92", "392", "392"],
        ]
    );
    // Of the ten cells of three lines, two lie on two of them.
    assert_eq!(of_class(&document, "winning").len(), 9);

    let square = ["board", "AI..JB..........", "--rules"];
    let standard = svg(&[&square[..], &["standard"]].concat());
    assert_eq!(of_class(&is_picture(&standard), "stroke"), []);
    let squares = svg(&[&square[..], &["squares"]].concat());
    let document = is_picture(&squares);
    let [stroke] = of_class(&document, "stroke")[..] else {
        panic!("one square");
    };
    assert_eq!(stroke.tag_name().name(), "rect");
    assert_eq!(stroke.attribute("width"), Some("100"));
}

/// The names of rows beside the board are those of the result.
#[test]
fn rows_of_four_in_a_row_are_named_as_in_the_result() {
    let run = Referee::new(["board", "--game", "four-in-a-row", FOUR]).run();
    assert!(
        run.stdout
            .ends_with("diagonal column 1 row 6 to column 4 row 3\n"),
        "{run}"
    );
    let svg = svg(&["board", "--game", "four-in-a-row", FOUR]);
    let document = is_picture(&svg);
    let [stroke] = of_class(&document, "stroke")[..] else {
        panic!("one line");
    };
    // The label at the same x, or the same y.
    let name = |at: &str, end: &str| {
        let labels = of_class(&document, "edge");
        let of_line = |label: &Node<'_, '_>| label.attribute(at) == stroke.attribute(end);
        let label = labels.into_iter().find(of_line);
        label
            .and_then(|label| label.text())
            .expect("a label")
            .to_owned()
    };
    let end = |x, y| [name("x", x), name("y", y)];
    assert_eq!(end("x1", "y1"), ["1", "6"]);
    assert_eq!(end("x2", "y2"), ["4", "3"]);
}

#[test]
fn pieces_of_other_sets_are_drawn_as_their_words_say() {
    let built_in = svg(&["board", "ABCDEFGHIJKLMNOP"]);
    let dutch = svg(&["board", "ABCDEFGHIJKLMNOP", "--pieces", DUTCH]);
    let greek = svg(&["board", "αβγδεζηθικλμνξοπ", "--pieces", GREEK]);
    let tokens = |svg: &str| -> Vec<(String, String)> {
        let document = is_picture(svg);
        of_class(&document, "token")
            .iter()
            .map(|token| {
                let faces = token
                    .children()
                    .filter(|n| n.attribute("class") == Some("face"));
                let faces: Vec<_> = faces.map(|n| n.tag_name().name().to_owned()).collect();
                (
                    token.attribute("class").unwrap_or("").to_owned(),
                    faces.concat(),
                )
            })
            .collect()
    };
    assert_eq!(tokens(&dutch), tokens(&built_in));
    assert!(title(&is_picture(&dutch)).contains("1 A: groot rood vierkant hol;"));
    // Greek: tall light round hollow is the first piece.
    assert_eq!(
        tokens(&greek)[0],
        ("token light".to_owned(), "circle".to_owned())
    );
    assert!(title(&is_picture(&greek)).contains("1 α: tall light round hollow;"));
}

/// A set whose characters and words are markup, and one with characters that XML forbids.
#[test]
fn hostile_symbols_and_words_stay_text() {
    let scratch = TempDir::new().expect("a directory");
    let file = scratch.path().join("set.csv");
    let symbols = "<>&\"';]\u{1}\u{202e}\u{fffe}\u{ffff}lmnop";
    let mut csv = "piece,size,color,form,fill\n".to_owned();
    for (bits, symbol) in symbols.chars().enumerate() {
        let word = |feature: usize| ["</title><script>", "]]>&amp;"][bits >> feature & 1];
        let symbol = symbol.to_string().replace('"', "\"\"");
        let [a, b, c, d] = [0, 1, 2, 3].map(word);
        let _ = writeln!(csv, "\"{symbol}\",{a}0,{b}1,{c}2,{d}3");
    }
    fs::write(&file, csv).expect("written");
    let set = file.to_str().expect("a path");
    let svg = svg(&["board", symbols, "--pieces", set]);
    let document = is_picture(&svg);
    let shown: Vec<_> = of_class(&document, "symbol")
        .iter()
        .map(|node| node.text().unwrap_or_default().to_owned())
        .collect();
    assert_eq!(shown.len(), 16);
    assert_eq!(shown[..7], ["<", ">", "&", "\"", "'", ";", "]"]);
    assert!(
        !svg.contains('\u{202e}') && !svg.contains("<script"),
        "{svg}"
    );
    assert!(title(&document).contains("<: </title><script>0"));
}

#[test]
fn wrong_arguments_of_board_are_named() {
    let cases: [(&[&str], &[&str]); 7] = [
        (&["A..PC...J..EF... "], &["found 17 characters"]),
        (
            &["A..PC...J..EF... A"],
            &["`A` in hand is on the board already"],
        ),
        (
            &["A..PC...J..EF... z"],
            &["`z` in hand is not a piece of this set"],
        ),
        (
            &["................", "--game", "chess"],
            &["quarto", "four-in-a-row"],
        ),
        (
            &["................", "--game", "four-in-a-row"],
            &["42 characters", "found 16"],
        ),
        (
            &[FOUR, "--game", "four-in-a-row", "--pieces", DUTCH],
            &["for Quarto"],
        ),
        (
            &[FOUR, "--game", "four-in-a-row", "--rules", "squares"],
            &["for Quarto"],
        ),
    ];
    for (arguments, parts) in cases {
        for more in [&["--format", "svg"][..], &[]] {
            refused(
                &Referee::new(["board"]).args(arguments).args(more).run(),
                parts,
            );
        }
    }
    let both = Referee::new(["board", "................", "--json", "--format", "svg"]).run();
    refused(&both, &["--json", "--format"]);
    let nowhere = Referee::new(["board", "................", "--out", "none/x.svg"]).run();
    refused(
        &nowhere,
        &["none/x.svg: cannot be written: there is no such file or directory"],
    );
}

#[test]
fn four_in_a_row_is_drawn_on_a_terminal_too() {
    let run = Referee::new(["board", "--game", "four-in-a-row", FOUR, "--json"]).run();
    let found: Value = serde_json::from_str(&run.stdout).expect("JSON");
    assert_eq!(found["grid"][2], json!(["", "", "", "O", "", "", ""]));
    assert_eq!(
        found["lines"],
        json!([["diagonal", "column 1 row 6 to column 4 row 3"]])
    );
    let board = format!("O {}", ".".repeat(42));
    let run = Referee::new(["board", "--game", "four-in-a-row", &board]).run();
    assert_eq!(
        (run.code, &*run.stderr),
        (Some(0), "no four in a row\n"),
        "{run}"
    );
}

/// Some games of both kinds in a file, and the file.
fn games() -> (TempDir, PathBuf) {
    let scratch = TempDir::new().expect("a directory");
    let file = write(&scratch.path().join("games.jsonl"), &GAMES);
    (scratch, file)
}

/// Number, from 1, of the first game for which this holds.
#[track_caller]
fn number_of(holds: impl Fn(&Value) -> bool) -> String {
    let found = GAMES.iter().position(holds).expect("such a game");
    (found + 1).to_string()
}

#[test]
fn every_position_of_every_game_is_a_picture_of_bounded_size() {
    let (_scratch, file) = games();
    let file = file.to_str().expect("a path");
    for (number, record) in (1..).zip(GAMES.iter()) {
        let turns = record["turns"].as_array().map_or(0, Vec::len).to_string();
        let game = ["replay", file, "--number", &format!("{number}"), "--turn"];
        is_picture(&svg(&[&game[..], &[&turns]].concat()));
    }
}

#[test]
fn long_names_are_shortened() {
    let scratch = TempDir::new().expect("a directory");
    let mut record = GAMES[0].clone();
    for bot in 0..2 {
        record["bots"][bot]["name"] = format!("<{bot}>\u{202e}&{}", "long ".repeat(40)).into();
    }
    let file = write(&scratch.path().join("full.jsonl"), &[record]);
    let picture = svg(&["replay", file.to_str().expect("a path"), "--turn", "0"]);
    let document = is_picture(&picture);
    let names = title(&document).split(" against ").next();
    let name = names.unwrap_or_default();
    assert!(
        name.contains("\\u{202e}&long") && name.ends_with('…'),
        "{name}"
    );
}

#[test]
fn the_position_after_a_turn_is_a_still() {
    let (_scratch, file) = games();
    let file = file.to_str().expect("a path");
    let opening = number_of(|record| {
        let start = record["start"].as_str().unwrap_or("");
        record["game"] == "quarto" && start.contains('A')
    });
    let game = ["replay", file, "--number", &opening, "--turn"];
    let start = svg(&[&game[..], &["0"]].concat());
    let document = is_picture(&start);
    assert_eq!(of_class(&document, "opening").len(), 2);
    assert!(title(&document).contains(" begins. The board. 1 A: "));
    let later = svg(&[&game[..], &["2"]].concat());
    let document = is_picture(&later);
    assert_eq!(
        of_class(&document, "piece").len(),
        4,
        "three placed, one in hand"
    );
    assert_eq!(of_class(&document, "last").len(), 1);
    let beyond = Referee::new(game).args(["99", "--format", "svg"]).run();
    refused(&beyond, &["--turn 99: game ", "; expected 0 to "]);
}

#[test]
fn wrong_arguments_of_replay_are_named() {
    let (scratch, file) = games();
    let file = file.to_str().expect("a path");
    let run = |arguments: &[&str]| Referee::new(["replay", file]).args(arguments).run();
    refused(
        &run(&["--format", "svg", "--turn", "0"]),
        &["a picture shows one; choose one with --number N"],
    );
    refused(
        &run(&["--format", "svg", "--number", "1"]),
        &[
            "a picture shows one position, so add --turn N; a page of the whole game is --out FILE.html",
        ],
    );
    refused(&run(&["--number", "1", "--turn", "2"]), &["--format svg"]);
    refused(
        &run(&["--number", "1", "--format", "svg", "--quiet"]),
        &["--quiet"],
    );
    refused(
        &run(&["--number", "1", "--out", "-", "--html"]),
        &["--html"],
    );
    refused(
        &run(&[
            "--number", "1", "--turn", "0", "--format", "svg", "--out", file,
        ]),
        &["would be overwritten"],
    );
    let target = scratch.path().join("game.svg");
    let target = target.to_str().expect("a path");
    let written = run(&["--number", "1", "--turn", "0", "--out", target]);
    assert_eq!(written.code, Some(0), "{written}");
    assert!(written.stderr.contains("after turn 0"), "{written}");
    is_picture(&fs::read_to_string(target).expect("a file"));

    let mut broken = GAMES[0].clone();
    broken["turns"][1] = "99 A".into();
    let broken = write(&scratch.path().join("broken.jsonl"), &[broken]);
    let broken = broken.to_str().expect("a path");
    let run = Referee::new(["replay", broken, "--turn", "0", "--format", "svg"]).run();
    refused(&run, &[":1: game ", "turn 2"]);
}

/// No turn was made there, so there is no board after it.
#[test]
fn the_turn_of_a_fault_has_no_picture_and_the_one_before_is_named() {
    let bot = r"./script.sh '- P\n' 'nonsense\n'";
    let run = Referee::new(["--seed", "1", "--first", "1", bot, "builtin:random"]);
    let run = run.recorded().run();
    let file = run.scratch().join(RECORDS);
    let turns = run.records()[0]["turns"].as_array().expect("turns").len();
    let picture = |turn: usize| {
        let turn = turn.to_string();
        let arguments = ["replay", "--number", "1", "--format=svg", "--turn", &turn];
        Referee::new(arguments).args([&file]).run()
    };
    let words = format!("was forfeited in that turn, which changes no board; --turn {turns} draws");
    refused(&picture(turns + 1), &[&words]);
    let last = picture(turns);
    assert!(last.stdout.contains("<svg"), "{last}");
}
