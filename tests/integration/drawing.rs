//! Boards as people see them on a terminal, drawn without colour.

use proptest::prelude::{
    ProptestConfig, Strategy, any, prop, prop_assert, prop_assert_eq, proptest,
};
use proptest::test_runner::RngSeed;
use referee::game::quarto::{Edition, PieceSet, Rules};
use referee::game::{BuiltinGame as _, Picture, Position as _};
use referee::report::terminal::{Palette, draw_within};
use unicode_width::UnicodeWidthStr as _;

const DUTCH: &str = include_str!("../../sets/dutch.csv");

/// The position of this request after these answers, drawn.
fn drawn(edition: &Edition, request: &str, answers: &[&str]) -> String {
    let mut position = edition.read_request(request).expect("a position");
    let mut last = None;
    for answer in answers {
        let (turn, after) = edition.judge(&position, answer).expect("a legal turn");
        last = Some(turn);
        position = after;
    }
    draw(&edition.picture(&position, last), &Palette::default())
}

/// What stands beside the board is below it where there is no room.
fn draw(picture: &Picture, palette: &Palette) -> String {
    draw_within(picture, palette, None)
}

#[test]
fn narrow_terminals_have_the_pieces_below_the_board() {
    let edition = Edition::default();
    let position = edition
        .read_request("A..PC...J..EF... K")
        .expect("a position");
    let text = draw_within(
        &edition.picture(&position, None),
        &Palette::default(),
        Some(40),
    );
    insta::assert_snapshot!(text, @"
        V1  V2  V3  V4
       +---+---+---+---+
    H1 | A |   |   | P |
       +---+---+---+---+
    H2 | C |   |   |   |
       +---+---+---+---+
    H3 | J |   |   | E |
       +---+---+---+---+
    H4 | F |   |   |   |
       +---+---+---+---+
      in hand: K big blue square solid
      left:
      B small red square hollow
      D small blue square hollow
      G big blue circular hollow
      H small blue circular hollow
      I big red square solid
      L small blue square solid
      M big red circular solid
      N small red circular solid
      O big blue circular solid
");
    assert!(text.lines().all(|line| line.width() <= 40), "{text}");
}

/// A set with these words instead of the built-in ones.
fn worded(words: &[&str; 8]) -> PieceSet {
    let mut csv = "piece,size,color,form,fill\n".to_owned();
    for (bits, symbol) in ('A'..='P').enumerate() {
        csv.push(symbol);
        for feature in 0..4 {
            csv.push_str(",\"");
            csv.push_str(words[2 * feature + (bits >> feature & 1)]);
            csv.push('"');
        }
        csv.push('\n');
    }
    PieceSet::parse(&csv).expect("a good set")
}

#[test]
fn the_empty_board() {
    let edition = Edition::default();
    insta::assert_snapshot!(drawn(&edition, "................ K", &[]), @"
        V1  V2  V3  V4    in hand: K big blue square solid
       +---+---+---+---+  left:
    H1 |   |   |   |   |  A big red square hollow       I big red square solid
       +---+---+---+---+  B small red square hollow     J small red square solid
    H2 |   |   |   |   |  C big blue square hollow      L small blue square solid
       +---+---+---+---+  D small blue square hollow    M big red circular solid
    H3 |   |   |   |   |  E big red circular hollow     N small red circular solid
       +---+---+---+---+  F small red circular hollow   O big blue circular solid
    H4 |   |   |   |   |  G big blue circular hollow    P small blue circular solid
       +---+---+---+---+  H small blue circular hollow
    ");
}

#[test]
fn the_empty_board_before_the_first_gift() {
    let edition = Edition::default();
    insta::assert_snapshot!(drawn(&edition, "................ -", &[]), @"
        V1  V2  V3  V4    left:
       +---+---+---+---+  A big red square hollow       I big red square solid
    H1 |   |   |   |   |  B small red square hollow     J small red square solid
       +---+---+---+---+  C big blue square hollow      K big blue square solid
    H2 |   |   |   |   |  D small blue square hollow    L small blue square solid
       +---+---+---+---+  E big red circular hollow     M big red circular solid
    H3 |   |   |   |   |  F small red circular hollow   N small red circular solid
       +---+---+---+---+  G big blue circular hollow    O big blue circular solid
    H4 |   |   |   |   |  H small blue circular hollow  P small blue circular solid
       +---+---+---+---+
    ");
}

#[test]
fn the_last_turn_is_marked() {
    let edition = Edition::default();
    insta::assert_snapshot!(
        drawn(&edition, "................ -", &["- K", "6 A", "11 P", "16 F"]),
        @"
        V1  V2  V3  V4    in hand: F small red circular hollow
       +---+---+---+---+  left:
    H1 |   |   |   |   |  B small red square hollow     I big red square solid
       +---+---+---+---+  C big blue square hollow      J small red square solid
    H2 |   | K |   |   |  D small blue square hollow    L small blue square solid
       +---+---+---+---+  E big red circular hollow     M big red circular solid
    H3 |   |   | A |   |  G big blue circular hollow    N small red circular solid
       +---+---+---+---+  H small blue circular hollow  O big blue circular solid
    H4 |   |   |   |(P)|
       +---+---+---+---+
    "
    );
}

#[test]
fn a_win_is_marked() {
    let edition = Edition::default();
    insta::assert_snapshot!(
        drawn(&edition, "................ -", &["- A", "1 B", "2 C", "3 P", "16 D", "4 -"]),
        @"
        V1  V2  V3  V4    left:
       +---+---+---+---+  E big red circular hollow     K big blue square solid
    H1 |[A]|[B]|[C]|[D]|  F small red circular hollow   L small blue square solid
       +---+---+---+---+  G big blue circular hollow    M big red circular solid
    H2 |   |   |   |   |  H small blue circular hollow  N small red circular solid
       +---+---+---+---+  I big red square solid        O big blue circular solid
    H3 |   |   |   |   |  J small red square solid
       +---+---+---+---+
    H4 |   |   |   | P |
       +---+---+---+---+
    "
    );
}

#[test]
fn a_square_is_marked() {
    let edition = Edition::new(Rules::Squares, PieceSet::default());
    insta::assert_snapshot!(
        drawn(&edition, "................ -", &["- A", "6 B", "7 C", "10 D", "11"]),
        @"
        V1  V2  V3  V4    left:
       +---+---+---+---+  E big red circular hollow     K big blue square solid
    H1 |   |   |   |   |  F small red circular hollow   L small blue square solid
       +---+---+---+---+  G big blue circular hollow    M big red circular solid
    H2 |   |[A]|[B]|   |  H small blue circular hollow  N small red circular solid
       +---+---+---+---+  I big red square solid        O big blue circular solid
    H3 |   |[C]|[D]|   |  J small red square solid      P small blue circular solid
       +---+---+---+---+
    H4 |   |   |   |   |
       +---+---+---+---+
    "
    );
}

#[test]
fn a_full_board() {
    let edition = Edition::default();
    insta::assert_snapshot!(drawn(&edition, "MICHFAKEL.JDBNGP O", &["10"]), @"
        V1  V2  V3  V4
       +---+---+---+---+
    H1 | M | I | C | H |
       +---+---+---+---+
    H2 | F | A | K | E |
       +---+---+---+---+
    H3 | L |(O)| J | D |
       +---+---+---+---+
    H4 | B | N | G | P |
       +---+---+---+---+
    ");
}

#[test]
fn dutch_words() {
    let dutch = PieceSet::parse(DUTCH).expect("a good set");
    let edition = Edition::new(Rules::Standard, dutch);
    insta::assert_snapshot!(drawn(&edition, "K............... -", &["- A", "6 P"]), @"
        V1  V2  V3  V4
       +---+---+---+---+
    H1 | K |   |   |   |
       +---+---+---+---+
    H2 |   |(A)|   |   |
       +---+---+---+---+
    H3 |   |   |   |   |
       +---+---+---+---+
    H4 |   |   |   |   |
       +---+---+---+---+
      in hand: P klein blauw rond massief
      left:
      B klein rood vierkant hol       I groot rood vierkant massief
      C groot blauw vierkant hol      J klein rood vierkant massief
      D klein blauw vierkant hol      L klein blauw vierkant massief
      E groot rood rond hol           M groot rood rond massief
      F klein rood rond hol           N klein rood rond massief
      G groot blauw rond hol          O groot blauw rond massief
      H klein blauw rond hol
    ");
}

#[test]
fn long_words_go_below_the_board() {
    let words = [
        "übergroß",
        "winzig klein",
        "karmesinrot",
        "himmelblau",
        "quadratisch",
        "kreisrund",
        "ausgehöhlt",
        "massiv",
    ];
    let edition = Edition::new(Rules::Standard, worded(&words));
    insta::assert_snapshot!(drawn(&edition, "K............... -", &["- A", "6 P"]), @"
        V1  V2  V3  V4
       +---+---+---+---+
    H1 | K |   |   |   |
       +---+---+---+---+
    H2 |   |(A)|   |   |
       +---+---+---+---+
    H3 |   |   |   |   |
       +---+---+---+---+
    H4 |   |   |   |   |
       +---+---+---+---+
      in hand: P winzig klein himmelblau kreisrund massiv
      left:
      B winzig klein karmesinrot quadratisch ausgehöhlt
      C übergroß himmelblau quadratisch ausgehöhlt
      D winzig klein himmelblau quadratisch ausgehöhlt
      E übergroß karmesinrot kreisrund ausgehöhlt
      F winzig klein karmesinrot kreisrund ausgehöhlt
      G übergroß himmelblau kreisrund ausgehöhlt
      H winzig klein himmelblau kreisrund ausgehöhlt
      I übergroß karmesinrot quadratisch massiv
      J winzig klein karmesinrot quadratisch massiv
      L winzig klein himmelblau quadratisch massiv
      M übergroß karmesinrot kreisrund massiv
      N winzig klein karmesinrot kreisrund massiv
      O übergroß himmelblau kreisrund massiv
    ");
}

#[test]
fn wide_words_stay_in_their_columns() {
    let words = [
        "大",
        "小さい",
        "赤",
        "青い",
        "四角",
        "丸い",
        "空",
        "中身あり",
    ];
    let csv = worded(&words);
    let csv: String = csv.text().replace("\nA,", "\n王,").replace("\nP,", "\n歩,");
    let set = PieceSet::parse(&csv).expect("a good set");
    let edition = Edition::new(Rules::Standard, set);
    insta::assert_snapshot!(drawn(&edition, "K..............B -", &["- 王", "6 歩", "2 C"]), @"
         V1   V2   V3   V4
       +----+----+----+----+
    H1 | K  |(歩)|    |    |
       +----+----+----+----+
    H2 |    | 王 |    |    |
       +----+----+----+----+
    H3 |    |    |    |    |
       +----+----+----+----+
    H4 |    |    |    | B  |
       +----+----+----+----+
      in hand: C 大 青い 四角 空
      left:
      D 小さい 青い 四角 空        J 小さい 赤 四角 中身あり
      E 大 赤 丸い 空              L 小さい 青い 四角 中身あり
      F 小さい 赤 丸い 空          M 大 赤 丸い 中身あり
      G 大 青い 丸い 空            N 小さい 赤 丸い 中身あり
      H 小さい 青い 丸い 空        O 大 青い 丸い 中身あり
      I 大 赤 四角 中身あり
    ");
}

#[test]
fn with_colours_free_cells_have_their_numbers() {
    let edition = Edition::default();
    let board = edition.set.configuration("N?BI??JO?FDLMEAG").expect("16");
    let drawn = draw(&edition.board_picture(&board), &Palette::coloured());
    let plain = anstream::adapter::strip_str(&drawn).to_string();
    let rows: Vec<&str> = plain.lines().filter(|line| line.starts_with('H')).collect();
    assert_eq!(rows[0], "H1 | N | 2 | B | I |");
    assert_eq!(rows[2], "H3 | 9 | F | D | L |");
}

#[test]
fn with_glyphs_pieces_show_their_properties() {
    let edition = Edition::default();
    let start = edition
        .read_request("A.B.N....HG...OC F")
        .expect("a position");
    let (turn, position) = edition.judge(&start, "2 L").expect("a legal turn");
    let glyphs = Palette {
        glyphs: true,
        ..Palette::coloured()
    };
    let coloured = draw(&edition.picture(&position, Some(turn)), &glyphs);
    insta::assert_snapshot!(anstream::adapter::strip_str(&coloured).to_string(), @"
         V1   V2   V3   V4    in hand: ▪L small blue square solid
       +----+----+----+----+  left:
    H1 | □A |(◦F)| ▫B | 4  |  ▫D  ○E  ■I  ▪J
       +----+----+----+----+  ■K  ●M  •P
    H2 | •N | 6  | 7  | 8  |
       +----+----+----+----+
    H3 | 9  | ◦H | ○G | 12 |
       +----+----+----+----+
    H4 | 13 | 14 | ●O | □C |
       +----+----+----+----+
");
    for piece in ["\u{1b}[91m□\u{1b}[0m", "\u{1b}[94m▫\u{1b}[0m"] {
        assert!(coloured.contains(piece), "{coloured}");
    }
}

#[test]
fn a_board_for_looking_at_may_hold_anything() {
    let edition = Edition::default();
    let board = edition.set.configuration("N?BI??JO?FDLMEAG").expect("16");
    insta::assert_snapshot!(draw(&edition.board_picture(&board), &Palette::default()), @"
        V1  V2  V3  V4
       +---+---+---+---+
    H1 | N |   |[B]|[I]|
       +---+---+---+---+
    H2 |   |   |[J]| O |
       +---+---+---+---+
    H3 |   |[F]|[D]| L |
       +---+---+---+---+
    H4 |[M]|[E]|[A]|[G]|
       +---+---+---+---+
    ");
}

/// Eight different words of up to twelve columns, some of wide characters.
fn words() -> impl Strategy<Value = Vec<String>> {
    let word = prop::sample::select(vec![
        "[a-z]{1,12}",
        "[a-z ]{1,12}",
        "[a-z]{12}",
        "[漢字仮名大小]{1,6}",
        "[漢字仮名大小]{6}",
        "[éßøñ]{1,12}",
    ]);
    let words = word.prop_flat_map(|pattern| prop::collection::vec(pattern, 8));
    words.prop_filter_map("different words", |words| {
        let words: Vec<String> = words.iter().map(|word| word.trim().to_owned()).collect();
        let mut different = words.clone();
        different.sort();
        different.dedup();
        let wide = words.iter().any(|word| word.width() > 12);
        (different.len() == 8 && !words.contains(&String::new()) && !wide).then_some(words)
    })
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 60,
        failure_persistence: None,
        rng_seed: RngSeed::Fixed(1),
        ..ProptestConfig::default()
    })]

    #[test]
    fn drawings_fit_a_terminal(
        words in words(),
        choices in prop::collection::vec(any::<prop::sample::Index>(), 17),
        wide in any::<bool>(),
    ) {
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let mut set = worded(&words.try_into().expect("eight words"));
        if wide {
            let csv = set.text().replace("\nA,", "\n王,");
            set = PieceSet::parse(&csv).expect("a good set");
        }
        let edition = Edition::new(Rules::Standard, set);
        let mut position = edition.start();
        let mut last = None;
        for choice in choices {
            let text = draw(&edition.picture(&position, last), &Palette::default());
            for line in text.lines() {
                prop_assert!(line.width() <= 80, "{} columns:\n{}", line.width(), text);
                prop_assert!(line.trim_end() == line, "{:?}", line);
            }
            // Nothing is lost where there are fewer columns, and the board stays whole.
            let narrow = draw_within(&edition.picture(&position, last), &Palette::default(), Some(40));
            let letters = |text: &str| text.chars().filter(|c| c.is_alphanumeric()).count();
            prop_assert_eq!(letters(&narrow), letters(&text), "{}", narrow);
            // Every word is there as a whole: of pieces in hand and of those left.
            if position.outcome().is_none() && position.hand().is_none() {
                for feature in edition.set.features() {
                    let shown = feature.properties.iter().filter(|word| text.contains(*word));
                    prop_assert!(shown.count() > 0, "{}", text);
                }
            }
            let turns = position.turns();
            if turns.is_empty() {
                break;
            }
            let (turn, after) = turns[choice.index(turns.len())];
            last = Some(turn);
            position = after;
        }
    }

    /// The lines of a board are as wide as each other, whatever stands on it.
    #[test]
    fn boards_are_rectangles(cells in prop::collection::vec(0..20_usize, 16)) {
        let words = ["大", "小さい", "赤", "青い", "四角", "丸い", "空", "中身あり"];
        let csv = worded(&words).text().replace("\nA,", "\n王,").replace("\nB,", "\n\u{7},");
        let edition = Edition::new(Rules::Squares, PieceSet::parse(&csv).expect("a good set"));
        let symbols: Vec<char> = "王\u{7}CDEFGHIJKLMNOP".chars().collect();
        let text: String = cells.iter().map(|&cell| symbols.get(cell).unwrap_or(&'.')).collect();
        let board = edition.set.configuration(&text).expect("16 characters");
        for palette in [Palette::default(), Palette::coloured()] {
            let drawn = draw(&edition.board_picture(&board), &palette);
            let drawn = anstream::adapter::strip_str(&drawn).to_string();
            let rules: Vec<usize> = drawn
                .lines()
                .skip(1)
                .map(unicode_width::UnicodeWidthStr::width)
                .collect();
            prop_assert_eq!(rules.len(), 9);
            prop_assert!(rules.iter().all(|&width| width == rules[0]), "\n{}", drawn);
        }
    }
}
