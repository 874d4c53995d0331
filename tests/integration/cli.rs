//! The commands beside the match: what they print, to the letter, and what they say to
//! wrong usage.

use std::fs;

use crate::common::{self, Referee, Run};
use serde_json::{Value, json};
use tempfile::TempDir;

/// The configurations that the exercise shows.
const CONFIGURATIONS: [&str; 2] = ["N?BI??JO?FDLMEAG", "KHEF#DCMXABJPGOL"];

const ENGLISH: &str = "../../sets/english.csv";
const DUTCH: &str = "../../sets/dutch.csv";

fn referee(arguments: &[&str]) -> Run {
    Referee::new(arguments).run()
}

/// Runs it, and gives what it prints.
#[track_caller]
fn prints(arguments: &[&str]) -> String {
    let run = referee(arguments);
    assert_eq!(run.code, Some(0), "{run}");
    assert_eq!(run.stderr, "", "{run}");
    run.stdout
}

/// Checks that a text is these lines.
#[track_caller]
fn is(text: &str, lines: &[&str]) {
    let found: Vec<&str> = text.lines().collect();
    assert_eq!(found, lines);
    assert_eq!(text.matches('\n').count(), lines.len());
}

/// Checks that it prints nothing but these parts on stderr.
#[track_caller]
fn refused(run: &Run, parts: &[&str]) {
    assert_eq!(run.code, Some(2), "{run}");
    assert_eq!(run.stdout, "", "{run}");
    for part in parts {
        assert!(run.stderr.contains(part), "`{part}` is missing\n{run}");
    }
    assert!(run.stderr.ends_with('\n'), "{run}");
    assert!(!run.stderr.contains("panicked"), "{run}");
}

/// A file for `--pieces`, in a directory that lives as long as the first of the two.
fn set_file(csv: impl AsRef<[u8]>) -> (TempDir, String) {
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path().join("set.csv");
    fs::write(&path, csv).expect("written");
    let path = path.to_str().expect("a path").to_owned();
    (directory, path)
}

/// The built-in set's file with some text replaced.
fn with(text: &str, other: &str) -> (TempDir, String) {
    let csv = fs::read_to_string(common::bots().join(ENGLISH)).expect("the set");
    assert!(csv.contains(text));
    set_file(csv.replacen(text, other, 1))
}

fn parsed(text: &str) -> Value {
    assert_eq!(text.lines().count(), 1, "{text}");
    serde_json::from_str(text).expect("JSON")
}

// referee board

#[test]
fn the_first_configuration() {
    is(
        &prints(&["board", CONFIGURATIONS[0]]),
        &[
            "    V1  V2  V3  V4",
            "   +---+---+---+---+",
            "H1 | N |   |[B]|[I]|",
            "   +---+---+---+---+",
            "H2 |   |   |[J]| O |",
            "   +---+---+---+---+",
            "H3 |   |[F]|[D]| L |",
            "   +---+---+---+---+",
            "H4 |[M]|[E]|[A]|[G]|",
            "   +---+---+---+---+",
            "H4 big",
            "V3 square",
            "D2 red",
        ],
    );
}

#[test]
fn the_second_configuration() {
    is(
        &prints(&["board", CONFIGURATIONS[1]]),
        &[
            "    V1  V2  V3  V4",
            "   +---+---+---+---+",
            "H1 |[K]|[H]| E | F |",
            "   +---+---+---+---+",
            "H2 |   |[D]| C | M |",
            "   +---+---+---+---+",
            "H3 |   |[A]|[B]| J |",
            "   +---+---+---+---+",
            "H4 |[P]|[G]|[O]|[L]|",
            "   +---+---+---+---+",
            "H4 blue",
            "V2 hollow",
            "D1 square",
        ],
    );
}

#[test]
fn the_configurations_in_dutch() {
    let dutch = |config| prints(&["board", config, "--pieces", DUTCH]);
    let quartos = |text: &str| -> Vec<String> {
        let lines = text.lines().skip(10);
        lines.map(str::to_owned).collect()
    };
    let [one, two] = CONFIGURATIONS.map(dutch);
    assert_eq!(quartos(&one), ["H4 groot", "V3 vierkant", "D2 rood"]);
    assert_eq!(quartos(&two), ["H4 blauw", "V2 hol", "D1 vierkant"]);
    // The drawing is the same.
    let drawing = |text: &str| text.lines().take(10).map(str::to_owned).collect::<Vec<_>>();
    assert_eq!(
        drawing(&one),
        drawing(&prints(&["board", CONFIGURATIONS[0]]))
    );
}

#[test]
fn a_configuration_as_json() {
    let text = prints(&["board", "--json", CONFIGURATIONS[0]]);
    let words = |words: &str| -> Vec<String> { words.split(' ').map(str::to_owned).collect() };
    let none = Vec::<String>::new();
    assert_eq!(
        parsed(&text),
        json!({
            "grid": [
                [
                    words("small red circular solid"),
                    none,
                    words("small red square hollow"),
                    words("big red square solid"),
                ],
                [
                    none,
                    none,
                    words("small red square solid"),
                    words("big blue circular solid"),
                ],
                [
                    none,
                    words("small red circular hollow"),
                    words("small blue square hollow"),
                    words("small blue square solid"),
                ],
                [
                    words("big red circular solid"),
                    words("big red circular hollow"),
                    words("big red square hollow"),
                    words("big blue circular hollow"),
                ],
            ],
            "quartos": [["H4", "big"], ["V3", "square"], ["D2", "red"]],
        })
    );
    assert!(text.starts_with(r#"{"grid":[[["small","red","circular","solid"],[],"#));
    let tail = r#"],"quartos":[["H4","big"],["V3","square"],["D2","red"]]}"#;
    assert!(text.trim_end().ends_with(tail), "{text}");
    let second = parsed(&prints(&["board", "--json", CONFIGURATIONS[1]]));
    let quartos = json!([["H4", "blue"], ["V2", "hollow"], ["D1", "square"]]);
    assert_eq!(second["quartos"], quartos);
    let dutch = prints(&["board", CONFIGURATIONS[1], "--json", "--pieces", DUTCH]);
    let quartos = json!([["H4", "blauw"], ["V2", "hol"], ["D1", "vierkant"]]);
    assert_eq!(parsed(&dutch)["quartos"], quartos);
    assert_eq!(
        parsed(&dutch)["grid"][0][0],
        json!(["groot", "blauw", "vierkant", "massief"])
    );
}

#[test]
fn quartos_come_in_order() {
    // Lines H, V, D, S, and properties in the order of the file.
    let config = "ABCDEFGHIJKLMNOP";
    let quartos = |rules: &str| {
        let text = prints(&["board", config, "--json", "--rules", rules]);
        let quartos = parsed(&text)["quartos"].clone();
        quartos.as_array().expect("quartos").clone()
    };
    let standard = quartos("standard");
    let squares = quartos("squares");
    assert_eq!(squares[..standard.len()], standard);
    assert!(squares.len() > standard.len());
    let order = |quarto: &Value| {
        let line = quarto[0].as_str().expect("a line");
        let kind = "HVDS".find(&line[..1]).expect("a line");
        let words = [
            "big", "small", "red", "blue", "square", "circular", "hollow", "solid",
        ];
        let property = words.iter().position(|word| quarto[1] == **word);
        (kind, line.to_owned(), property.expect("a property"))
    };
    let places: Vec<_> = squares.iter().map(order).collect();
    let mut sorted = places.clone();
    sorted.sort();
    assert_eq!(places, sorted);
    // As text, they are the same.
    let text = prints(&["board", config, "--rules", "squares"]);
    let lines: Vec<&str> = text.lines().skip(10).collect();
    let expected: Vec<String> = squares
        .iter()
        .map(|q| {
            format!(
                "{} {}",
                q[0].as_str().expect("text"),
                q[1].as_str().expect("text")
            )
        })
        .collect();
    assert_eq!(lines, expected);
}

#[test]
fn squares_count_by_the_rules_squares_only() {
    let square = "AB..CD..........";
    let text = prints(&["board", square, "--rules", "squares"]);
    let quartos: Vec<&str> = text.lines().skip(10).collect();
    assert_eq!(quartos, ["S1 square", "S1 hollow"]);
    let run = referee(&["board", square]);
    assert_eq!(run.code, Some(0), "{run}");
    assert_eq!(run.stdout.lines().count(), 10, "{run}");
}

#[test]
fn configurations_that_begin_with_a_dash() {
    let config = "-ABCDEFGHIJKLMNO";
    let text = prints(&["board", config]);
    assert!(text.contains("H1 |   |[A]|[B]|[C]|\n"), "{text}");
    for arguments in [
        &["board", "--rules", "standard", config][..],
        &["board", config, "--rules=standard"],
        &["board", "--", config],
    ] {
        assert_eq!(prints(arguments), text, "{arguments:?}");
    }
    // Other dashes than these are empty cells, too: nothing but dashes, and options in vain.
    for config in [
        "----------------",
        "--json----------",
        "-xhhhhhhhhhhhhhh",
        "-vvvvvvvvvvvvvvv",
    ] {
        let run = referee(&["board", config]);
        assert_eq!(run.code, Some(0), "{run}");
        assert_eq!(run.stderr, "no quarto\n", "{run}");
        is(
            &run.stdout,
            &[
                "    V1  V2  V3  V4",
                "   +---+---+---+---+",
                "H1 |   |   |   |   |",
                "   +---+---+---+---+",
                "H2 |   |   |   |   |",
                "   +---+---+---+---+",
                "H3 |   |   |   |   |",
                "   +---+---+---+---+",
                "H4 |   |   |   |   |",
                "   +---+---+---+---+",
            ],
        );
        let run = referee(&["board", config, "--json"]);
        let empty = json!({"grid": vec![vec![json!([]); 4]; 4], "quartos": []});
        assert_eq!(parsed(&run.stdout), empty, "{run}");
    }
}

#[test]
fn a_configuration_that_begins_like_an_option() {
    let run = referee(&["board", "-hABCD??????????"]);
    assert_eq!(run.code, Some(0), "{run}");
    assert!(run.stdout.contains("H1 |   |   | A | B |\n"), "{run}");
}

#[test]
fn a_piece_on_two_cells_is_drawn() {
    let run = referee(&["board", "AABCD..........."]);
    assert_eq!(run.code, Some(0), "{run}");
    assert!(run.stdout.contains("H1 |[A]|[A]|[B]|[C]|\n"), "{run}");
    assert!(run.stdout.ends_with("H1 square\nH1 hollow\n"), "{run}");
    assert!(run.stderr.contains("the piece A stands on cells 1 and 2"));
}

#[test]
fn configurations_of_another_length() {
    for (config, found) in [
        ("", "found 0 characters"),
        ("A", "found 1 character\n"),
        ("ABCDEFGHIJKLMNO", "found 15 characters"),
        ("ABCDEFGHIJKLMNOPA", "found 17 characters"),
        // 16 bytes, and 16 characters of 3 bytes
        ("éééééééé", "found 8 characters"),
        ("-", "found 1 character\n"),
        ("-h", "found 2 characters"),
    ] {
        let run = referee(&["board", "--", config]);
        refused(
            &run,
            &[&format!("referee: `{config}`: "), "16 characters", found],
        );
        assert_eq!(run.stderr.lines().count(), 1, "{run}");
    }
    assert_eq!(referee(&["board", "€€€€€€€€€€€€€€€€"]).code, Some(0));
    // Nothing that a terminal acts on is repeated as it came.
    let run = referee(&["board", "\u{1b}[31m\u{202e}"]);
    refused(&run, &[r"`\x1b[31m\u{202e}`"]);
    assert!(!run.stderr.contains('\u{1b}'), "{run}");
    refused(&referee(&["board", "A", "B"]), &["'B'"]);
}

// referee board

#[test]
fn the_built_in_set() {
    let text = prints(&["board"]);
    // By its old name.
    assert_eq!(prints(&["pieces"]), text);
    is(
        &text,
        &[
            "piece  size   color  form      fill",
            "A      big    red    square    hollow",
            "B      small  red    square    hollow",
            "C      big    blue   square    hollow",
            "D      small  blue   square    hollow",
            "E      big    red    circular  hollow",
            "F      small  red    circular  hollow",
            "G      big    blue   circular  hollow",
            "H      small  blue   circular  hollow",
            "I      big    red    square    solid",
            "J      small  red    square    solid",
            "K      big    blue   square    solid",
            "L      small  blue   square    solid",
            "M      big    red    circular  solid",
            "N      small  red    circular  solid",
            "O      big    blue   circular  solid",
            "P      small  blue   circular  solid",
        ],
    );
    assert_eq!(prints(&["pieces", "--pieces", ENGLISH]), text);
}

#[test]
fn the_dutch_set() {
    is(
        &prints(&["pieces", "--pieces", DUTCH]),
        &[
            "stuk  grootte  kleur  vorm      vulling",
            "A     groot    rood   vierkant  hol",
            "B     klein    rood   vierkant  hol",
            "C     groot    blauw  vierkant  hol",
            "D     klein    blauw  vierkant  hol",
            "E     groot    rood   rond      hol",
            "F     klein    rood   rond      hol",
            "G     groot    blauw  rond      hol",
            "H     klein    blauw  rond      hol",
            "I     groot    rood   vierkant  massief",
            "J     klein    rood   vierkant  massief",
            "K     groot    blauw  vierkant  massief",
            "L     klein    blauw  vierkant  massief",
            "M     groot    rood   rond      massief",
            "N     klein    rood   rond      massief",
            "O     groot    blauw  rond      massief",
            "P     klein    blauw  rond      massief",
        ],
    );
}

#[test]
fn a_set_as_json() {
    let text = prints(&["pieces", "--json"]);
    let set = parsed(&text);
    is(
        &text.replace("],", "],\n").replace(":{", ":{\n"),
        &[
            r#"{"features":{"#,
            r#""size":{"#,
            r#""big":["A","C","E","G","I","K","M","O"],"#,
            r#""small":["B","D","F","H","J","L","N","P"]},"color":{"#,
            r#""red":["A","B","E","F","I","J","M","N"],"#,
            r#""blue":["C","D","G","H","K","L","O","P"]},"form":{"#,
            r#""square":["A","B","C","D","I","J","K","L"],"#,
            r#""circular":["E","F","G","H","M","N","O","P"]},"fill":{"#,
            r#""hollow":["A","B","C","D","E","F","G","H"],"#,
            r#""solid":["I","J","K","L","M","N","O","P"]}},"properties":{"#,
            r#""A":["big","red","square","hollow"],"#,
            r#""B":["small","red","square","hollow"],"#,
            r#""C":["big","blue","square","hollow"],"#,
            r#""D":["small","blue","square","hollow"],"#,
            r#""E":["big","red","circular","hollow"],"#,
            r#""F":["small","red","circular","hollow"],"#,
            r#""G":["big","blue","circular","hollow"],"#,
            r#""H":["small","blue","circular","hollow"],"#,
            r#""I":["big","red","square","solid"],"#,
            r#""J":["small","red","square","solid"],"#,
            r#""K":["big","blue","square","solid"],"#,
            r#""L":["small","blue","square","solid"],"#,
            r#""M":["big","red","circular","solid"],"#,
            r#""N":["small","red","circular","solid"],"#,
            r#""O":["big","blue","circular","solid"],"#,
            r#""P":["small","blue","circular","solid"]}}"#,
        ],
    );
    assert_eq!(set["features"]["size"]["big"][1], "C");
    assert_eq!(set["properties"]["P"][0], "small");
    let dutch = prints(&["pieces", "--json", "--pieces", DUTCH]);
    let set = parsed(&dutch);
    let keys = |value: &Value| -> Vec<String> {
        let object = value.as_object().expect("an object");
        object.keys().cloned().collect()
    };
    assert_eq!(keys(&set), ["features", "properties"]);
    assert_eq!(
        keys(&set["features"]),
        ["grootte", "kleur", "vorm", "vulling"]
    );
    assert_eq!(keys(&set["features"]["vulling"]), ["hol", "massief"]);
    assert_eq!(keys(&set["properties"]).concat(), "ABCDEFGHIJKLMNOP");
}

/// The order is that of the file: features as in the header, properties as they come.
#[test]
fn a_set_in_another_order() {
    let csv = fs::read_to_string(common::bots().join(ENGLISH)).expect("the set");
    let (header, rows) = csv.split_once('\n').expect("a header");
    let rows: Vec<&str> = rows.lines().rev().collect();
    let (_directory, file) = set_file(format!("{header}\n{}\n", rows.join("\n")));
    let text = prints(&["pieces", "--json", "--pieces", &file]);
    let start = r#"{"features":{"size":{"small":["P","N","L","J","H","F","D","B"],"big":["O","#;
    assert!(text.starts_with(start), "{text}");
    let text = prints(&["pieces", "--pieces", &file]);
    let second = text.lines().nth(1).expect("a piece");
    assert_eq!(second, "P      small  blue   circular  solid");
    // And so are the quartos.
    let text = prints(&["board", CONFIGURATIONS[0], "--pieces", &file]);
    assert!(text.ends_with("\nH4 big\nV3 square\nD2 red\n"), "{text}");
}

#[test]
fn a_set_with_other_characters() {
    let (_directory, file) = with("\nA,", "\n♔,");
    let text = prints(&["board", "♔BCD............", "--pieces", &file]);
    assert!(text.ends_with("\nH1 square\nH1 hollow\n"), "{text}");
    let text = prints(&["pieces", "--json", "--pieces", &file]);
    assert_eq!(parsed(&text)["features"]["size"]["big"][0], "♔");
    // `.` and `-` are good enough for looking at boards.
    for symbol in [".", "-"] {
        let (_directory, file) = with("\nA,", &format!("\n{symbol},"));
        let config = format!("{symbol}BCD????????????");
        let text = prints(&["board", &config, "--pieces", &file]);
        assert!(text.ends_with("\nH1 square\nH1 hollow\n"), "{text}");
    }
}

#[test]
fn broken_sets() {
    for (text, other, place, phrase) in [
        ("piece,size", "piece;size", "line 1, column 27: ", "five"),
        (",solid\n", "\n", "line 10, column ", "4 fields"),
        ("\nC,big", "\nC,tiny", "line 4, column 3: ", "tiny"),
        ("\nC,", "\nA,", "line 4, column 1: ", "A"),
        ("\nC,", "\nCC,", "line 4, column 1: ", "CC"),
        (
            "\nP,small,blue,circular,solid",
            "",
            "line 16, column 26: ",
            "16",
        ),
        ("\nB,small", "\nB,big", "line 3, column ", "A"),
    ] {
        let (_directory, file) = with(text, other);
        for arguments in [&["pieces"][..], &["board", CONFIGURATIONS[0]]] {
            let run = Referee::new(arguments).args(["--pieces", &file]).run();
            refused(&run, &[&format!("referee: {file}: {place}")]);
            let message = run.stderr.split_once(place).expect("a place").1;
            assert!(message.contains(phrase), "`{phrase}` is missing\n{run}");
            assert_eq!(run.stderr.lines().count(), 1, "{run}");
        }
    }
    let (_directory, file) = set_file(b"piece,size\xff");
    refused(
        &referee(&["pieces", "--pieces", &file]),
        &["line 1, column 11: "],
    );
    let run = referee(&["pieces", "--pieces", "no-such.csv"]);
    refused(&run, &["referee: no-such.csv: ", "; check the spelling"]);
    refused(
        &referee(&["pieces", "--pieces", "."]),
        &["referee: .: it is a directory; expected a piece set's CSV file"],
    );
}

// referee bot

#[track_caller]
fn answers(strategy: &str, requests: &str) -> String {
    let run = Referee::new(["bot", strategy]).stdin(requests).run();
    assert_eq!(run.code, Some(0), "{run}");
    assert_eq!(run.stderr, "", "{run}");
    run.stdout
}

#[test]
fn a_built_in_bot_by_hand() {
    assert_eq!(answers("random", ""), "");
    let answer = answers("random", "................ -\n");
    let gift = answer.strip_prefix("- ").expect("only a gift");
    assert!(matches!(gift.as_bytes(), [b'A'..=b'P', b'\n']), "{answer}");
    // No placement wins here.
    let answer = answers("random", "IONG............ L\n");
    let (cell, gift) = answer.trim_end().split_once(' ').expect("two words");
    let cell: u8 = cell.parse().expect("a cell");
    assert!((5..=16).contains(&cell), "{answer}");
    assert!(gift.len() == 1 && "ABCDEFHJKMP".contains(gift), "{answer}");
    assert_eq!(answers("random", "IONGCABMHEDJPLK. F\n"), "16 -\n");
    // A last line without its end, blanks, CRLF
    assert_eq!(answers("greedy", "IJK............. L"), "4 -\n");
    assert_eq!(answers("greedy", " IJK.............\tL \r\n"), "4 -\n");
    // It gives nothing that wins immediately: I, J and K share square and solid.
    let answer = answers("greedy", "IJK............. -\n");
    assert!(["- E\n", "- F\n", "- G\n", "- H\n"].contains(&&*answer));
    // One line for one line, for ever
    let many = "................ -\nIJK............. L\n".repeat(100);
    assert_eq!(answers("greedy", &many).lines().count(), 200);
}

#[test]
fn a_built_in_bot_with_a_seed() {
    let answers = |seed: &str| {
        let run = Referee::new(["bot", "random"])
            .env("REFEREE_SEED", seed)
            .stdin("................ K\n".repeat(20))
            .run();
        assert_eq!(run.code, Some(0), "{run}");
        run.stdout
    };
    assert_eq!(answers("1"), answers("1"));
    assert_ne!(answers("1"), answers("2"));
    assert_eq!(answers("0").lines().count(), 20);
}

#[test]
fn a_built_in_bot_of_other_games() {
    let run = Referee::new(["bot", "greedy"])
        .env("REFEREE_GAME", "four-in-a-row")
        .stdin("@ ............................OOO....@@@....\n")
        .run();
    assert_eq!(run.stdout, "4\n", "{run}");
    let run = Referee::new(["bot", "greedy"])
        .env("REFEREE_RULES", "squares")
        .stdin("AB..C........... D\n")
        .run();
    assert_eq!(run.stdout, "6 -\n", "{run}");
    let (_directory, file) = with("\nA,", "\n♔,");
    let run = Referee::new(["bot", "greedy"])
        .env("REFEREE_PIECES", file)
        .stdin("♔BC............. D\n")
        .run();
    assert_eq!(run.stdout, "4 -\n", "{run}");
}

#[test]
fn a_bad_request() {
    for request in [
        "",
        "hello",
        "................",
        "................ -K",
        "................ K K",
        "............... K",
        "................. K",
        "...Z............ K",
        "AA.............. K",
        "A............... A",
        "IJKL............ A",
        "IONGCABMHEDJPLKF -",
        "@ ..........................................",
        "\0",
    ] {
        for strategy in ["random", "greedy"] {
            let run = Referee::new(["bot", strategy])
                .stdin(format!("{request}\n................ -\n"))
                .run();
            refused(&run, &["referee: invalid request: "]);
            assert_eq!(run.stderr.lines().count(), 1, "{run}");
        }
    }
    let long = "A".repeat(100_000);
    let run = Referee::new(["bot", "random"]).stdin(long).run();
    refused(&run, &["referee: invalid request: "]);
    assert!(run.stderr.len() < 500, "{run}");
    // The requests before it are answered.
    let run = Referee::new(["bot", "greedy"])
        .stdin("IJK............. L\nhello\n")
        .run();
    assert_eq!(run.code, Some(2), "{run}");
    assert_eq!(run.stdout, "4 -\n", "{run}");
}

#[test]
fn a_request_that_is_not_utf8() {
    let run = Referee::new(["bot", "random"]).stdin(*b"\xff\n").run();
    refused(&run, &["referee: invalid request: "]);
}

#[test]
fn a_bad_environment() {
    for (name, value) in [
        ("REFEREE_SEED", "x"),
        ("REFEREE_SEED", "-1"),
        ("REFEREE_GAME", "go"),
        ("REFEREE_RULES", "mine"),
    ] {
        let run = Referee::new(["bot", "random"]).env(name, value).run();
        refused(&run, &[&format!("referee: {name}={value}: ")]);
    }
    let run = Referee::new(["bot", "random"])
        .env("REFEREE_PIECES", "no-such.csv")
        .run();
    refused(&run, &["referee: no-such.csv: "]);
}

#[test]
fn an_unknown_strategy() {
    let run = referee(&["bot", "clever"]);
    refused(
        &run,
        &[
            "referee: builtin:clever: there is no such built-in strategy; the built-in ones are builtin:random, ",
        ],
    );
    refused(&referee(&["bot"]), &["<NAME>"]);
}

// The program as a whole

#[test]
fn version_and_help() {
    let version = format!("referee {}\n", env!("CARGO_PKG_VERSION"));
    assert_eq!(prints(&["--version"]), version);
    assert_eq!(prints(&["-V"]), version);
    let short = prints(&["-h"]);
    assert!(short.lines().count() <= 40, "{short}");
    for option in ["--games", "--seed", "--game", "--move-time", "--record"] {
        assert!(short.contains(option), "`{option}` is missing in\n{short}");
    }
    for arguments in [&["--help"][..], &["help"]] {
        let help = prints(arguments);
        for part in [
            "Usage: referee [OPTIONS] <BOT1> <BOT2>",
            "builtin:NAME",
            "a person at this terminal",
            "Exit status, of all commands:\n  0    a result was reached",
            "130  interrupted",
        ] {
            assert!(help.contains(part), "`{part}` is missing in\n{help}");
        }
        for option in [
            "-v",
            "-n",
            "--games",
            "--first",
            "--seed",
            "--pieces",
            "--rules",
            "--game",
            "--start",
            "--move-time",
            "--start-time",
            "--game-time",
            "--increment",
            "--restart",
            "--record",
            "--json",
            "--log",
        ] {
            assert!(help.contains(option), "`{option}` is missing in\n{help}");
        }
    }
    for command in ["play", "board", "shard", "game", "print", "replay"] {
        let help = prints(&[command, "--help"]);
        assert!(
            help.contains(&format!("Usage: referee {command}")),
            "{help}"
        );
        assert_eq!(prints(&["help", command]), help);
        assert!(prints(&["--help"]).contains(&format!("\n  {command} ")));
    }
}

/// They belong to all commands, whose help names them in one line.
#[test]
fn help_has_a_topic_for_the_log() {
    let log = prints(&["help", "log"]);
    for option in [
        "--log <LEVEL>",
        "--log-file <FILE>",
        "--log-format <FORMAT>",
    ] {
        assert!(log.contains(option), "`{option}` is missing in\n{log}");
    }
    for help in [prints(&["--help"]), prints(&["shard", "help", "run"])] {
        assert!(help.contains("see referee help log"), "{help}");
        assert!(!help.contains("--log-file <FILE>"), "{help}");
    }
}

/// Also of options that `-h` or `--help` leaves out.
#[test]
fn a_manual_page_has_the_texts_of_all_options() {
    let page = prints(&["print", "man", "tournament"]);
    for text in [
        "Memory of all processes of a bot",
        "Append the log to this file",
    ] {
        assert!(page.contains(text), "`{text}` is missing in\n{page}");
    }
}

/// Options stand under the heading of what they do, and only where they work.
#[test]
fn help_lists_what_a_command_takes() {
    let check = prints(&["check", "--help"]);
    let (_, output) = check.split_once("\nOutput:\n").expect("a heading");
    let (output, _) = output.split_once("\n\nDiagnosis:\n").expect("the next one");
    assert!(output.contains("--json"), "{check}");
    let league = prints(&["league", "--help"]);
    for option in [
        "--out", "--format", "--rounds", "--groups", "--seeds", "--sprt", "--strict",
    ] {
        let is_there = league.split_whitespace().any(|word| word == option);
        assert!(!is_there, "{option}: {league}");
        refused(&referee(&["league", "term", option, "1"]), &[option]);
    }
}

#[test]
fn unknown_words() {
    // A single word is a bot without an opponent.
    refused(
        &referee(&["nobody"]),
        &["required arguments were not provided:\n  <BOT2>"],
    );
    refused(
        &referee(&["nobody", CONFIGURATIONS[0]]),
        &["referee: cannot start nobody: there is no such file; check the spelling"],
    );
    // Unless it is nearly a command.
    for arguments in [&["bord"][..], &["bord", CONFIGURATIONS[0]]] {
        refused(
            &referee(arguments),
            &["referee: there is neither a command nor a file bord; did you mean referee board?"],
        );
    }
    refused(&referee(&["help", "bord"]), &["bord"]);
    refused(&referee(&["board", "--bord"]), &["found 6 characters"]);
    refused(&referee(&["solve", "--bord"]), &["--bord"]);
    refused(&referee(&["print", "bord"]), &["bord"]);
    refused(
        &referee(&["board", CONFIGURATIONS[0], "--rules", "x"]),
        &["standard, squares"],
    );
}

#[cfg(target_os = "linux")]
#[test]
fn output_that_cannot_be_written() {
    for command in [
        &["board", CONFIGURATIONS[0]][..],
        &["board", CONFIGURATIONS[0], "--json"],
        &["pieces"],
        &["pieces", "--json"],
    ] {
        let run = Referee::new(command)
            .shell("exec \"$0\" \"$@\" >/dev/full")
            .run();
        assert_eq!(run.code, Some(1), "{run}");
        assert!(run.stderr.contains("no space is left on the disk"), "{run}");
    }
    // Somebody stops reading.
    let run = Referee::new(["pieces"])
        .shell("{ sleep 0.1; \"$0\" \"$@\"; echo $? >\"$SCRATCH/status\"; } | :")
        .run();
    assert_eq!(run.file("status"), "0\n", "{run}");
    assert_eq!(run.stderr, "", "{run}");
}

#[cfg(target_os = "linux")]
#[test]
fn notes_that_cannot_be_written() {
    for config in ["----------------", "AABC------------"] {
        for redirection in [">/dev/full", ">&-"] {
            let run = Referee::new(["board", config])
                .shell(format!("exec \"$0\" \"$@\" 2{redirection}"))
                .run();
            assert_ne!(run.code, Some(101), "{config} {redirection} {run}");
        }
    }
}
