//! Whatever comes from outside, whole or cut or mangled: the readers give a value or an
//! error, and never panic. And what is shown of it can do a terminal no harm.

use std::sync::LazyLock;

use proptest::prelude::*;
use proptest::test_runner::{RngSeed, TestRunner};
use referee::game::four_in_a_row::FourInARow;
use referee::game::quarto::{Edition, PieceSet, Position, Rules};
use referee::game::{BuiltinGame, BuiltinRuleset, Position as _};
use referee::play::replay::replay;
use referee::play::violation::Violation;
use referee::protocol::answer_text;
use referee::record::{Record, RecordSummary, TurnText};
use referee::text::{escape, escape_controls, escape_lines, quote};

const ENGLISH: &str = include_str!("../../sets/english.csv");
const DUTCH: &str = include_str!("../../sets/dutch.csv");

fn config(cases: u32) -> ProptestConfig {
    ProptestConfig {
        cases,
        failure_persistence: None,
        rng_seed: RngSeed::Fixed(1),
        ..ProptestConfig::default()
    }
}

/// Bytes of all kinds: noise, text, and what nearly is an answer.
fn bytes() -> impl Strategy<Value = Vec<u8>> {
    prop_oneof![
        prop::collection::vec(any::<u8>(), 0..80),
        any::<String>().prop_map(String::into_bytes),
        "[ \t\r]{0,3}[0-9-]{0,3}[ \t]{0,3}[A-Q.-]{0,2}[ \t\r]{0,3}".prop_map(String::into_bytes),
        "[A-P.]{14,18} ?[A-P.-]{0,2}".prop_map(String::into_bytes),
        "[@O]? ?[@O.]{40,44}".prop_map(String::into_bytes),
        prop::collection::vec(any::<u8>(), 1000..1400),
    ]
}

/// A text with some bytes changed, put in, left out, or the end cut off.
fn mangled(text: &'static [u8]) -> impl Strategy<Value = Vec<u8>> {
    let byte = prop_oneof![
        any::<u8>(),
        prop::sample::select(b",\"\n\r;\t {}[]:-019eA".to_vec())
    ];
    let change = (any::<prop::sample::Index>(), 0..4_u8, byte);
    prop::collection::vec(change, 1..6).prop_map(move |changes| {
        let mut bytes = text.to_vec();
        for (index, what, byte) in changes {
            if bytes.is_empty() {
                break;
            }
            let at = index.index(bytes.len());
            match what {
                0 => bytes[at] = byte,
                1 => bytes.insert(at, byte),
                2 => drop(bytes.remove(at)),
                _ if at % 4 == 0 => bytes.truncate(at),
                _ => bytes[at] ^= 1 << (byte % 8),
            }
        }
        bytes
    })
}

/// An edition with positions at the start, in the middle, near the end, and after it.
type Situations = (Edition, Vec<Position>);

static SITUATIONS: LazyLock<[Situations; 2]> = LazyLock::new(|| {
    [Rules::Standard, Rules::Squares].map(|rules| {
        let edition = Edition::new(rules, PieceSet::default());
        let requests = [
            "................ -",
            "................ K",
            "....K......F.... -",
            "....HDI.J.O.G.A. E",
            "KOBA.JEHMLCPN.IF -",
            "EPKFD.HIGJCMOBNL -",
            "EPKFD.HIGJCMOBNL A",
            "C.MPOHAKJIGBDELN F",
        ];
        let positions = requests
            .iter()
            .filter_map(|line| edition.read_request(line).ok());
        let mut positions: Vec<Position> = positions.collect();
        assert!(positions.len() >= 6, "{positions:?}");
        let over: Vec<Position> = positions
            .iter()
            .flat_map(referee::game::Position::turns)
            .map(|(_, after)| after)
            .filter(|after| after.outcome().is_some())
            .take(4)
            .collect();
        assert!(!over.is_empty());
        positions.extend(over);
        (edition, positions)
    })
});

/// Everything that reads a line of a bot or a record.
fn read_all<G: BuiltinGame>(game: &G, positions: &[G::Position], line: &[u8]) {
    let Ok(text) = answer_text(line) else {
        assert!(std::str::from_utf8(line).is_err());
        return;
    };
    assert!(!text.starts_with([' ', '\t']) && !text.ends_with([' ', '\t']));
    for position in positions {
        if let Err(rejection) = game.judge(position, text) {
            let problem = rejection.to_string();
            assert!(!problem.is_empty());
            // What it quotes is cut.
            assert!(problem.len() < 1000, "{problem}");
        }
    }
    for problem in [game.start_from(text).err(), game.read_request(text).err()]
        .into_iter()
        .flatten()
    {
        let problem = problem.to_string();
        assert!(!problem.is_empty() && problem.len() < 1000, "{problem}");
    }
}

proptest! {
    #![proptest_config(config(400))]

    #[test]
    fn no_answer_makes_quarto_panic(line in bytes()) {
        for (edition, positions) in SITUATIONS.iter() {
            read_all(edition, positions, &line);
        }
    }

    #[test]
    fn no_answer_makes_four_in_a_row_panic(line in bytes()) {
        let game = FourInARow;
        let mut positions = vec![game.start()];
        for _ in 0..8 {
            let turns = positions.last().map_or_else(Vec::new, referee::game::Position::turns);
            positions.extend(turns.first().map(|(_, after)| *after));
        }
        read_all(&game, &positions, &line);
    }

    #[test]
    fn no_bytes_make_the_readers_of_sets_panic(bytes in bytes()) {
        let _ = PieceSet::read(&bytes[..]);
    }

    #[test]
    fn no_text_makes_the_reader_of_configurations_panic(text in any::<String>()) {
        let set = PieceSet::default();
        let board = set.configuration(&text);
        prop_assert_eq!(board.is_ok(), text.chars().count() == 16);
        prop_assert_eq!(set.quartos(&text, Rules::Squares).is_ok(), board.is_ok());
    }

    /// An error names a place that exists in the file, or its end.
    #[test]
    fn errors_of_mangled_sets_have_a_place(bytes in mangled(DUTCH.as_bytes())) {
        if let Err(error) = PieceSet::read(&bytes[..]) {
            prop_assert!(error.line >= 1 && error.column >= 1, "{}", error);
            let text = String::from_utf8_lossy(&bytes);
            let lines: Vec<&str> = text.split('\n').collect();
            prop_assert!(error.line <= lines.len(), "{}", error);
            let line = lines[error.line - 1].trim_end_matches('\r');
            prop_assert!(error.column <= line.chars().count() + 1, "{} in {:?}", error, line);
            prop_assert!(!error.to_string().contains(char::is_control), "{:?}", error);
        }
    }

    #[test]
    fn no_bytes_make_the_reader_of_records_panic(bytes in bytes()) {
        let problem = Record::from_line(&bytes).expect_err("no record");
        let has_reason = problem.to_string().contains("expected one record per line");
        prop_assert!(has_reason, "{}", problem);
        prop_assert_eq!(RecordSummary::parse(&bytes).err(), Some(problem));
    }
}

/// A game that was won, and one that was forfeited.
const RECORDS: [&str; 2] = [
    r#"{"v":1,"game":"quarto","rules":"standard","id":"7-1","bots":[{"name":"a.py","command":["a.py"]},{"name":"b.py","command":["b.py","--x"]}],"first":1,"seed":7,"start":"................","turns":["- A","1 B","2 C","3 D","4 -"],"times_ms":[1.25,0.5,0.5,2.0,0.125],"result":{"winner":1,"reason":"quarto","lines":[["H1","square"],["H1","hollow"]]},"started":"2026-01-31T10:00:00Z"}"#,
    r#"{"v":1,"game":"quarto","rules":"squares","id":"7-2","bots":[{"name":"a.py","command":["a.py"]},{"name":"b.py","command":["b.py","--x"]}],"first":0,"seed":7,"start":"AP..............","turns":["- B","16 C"],"times_ms":[1.25,0.5],"result":{"winner":1,"reason":"timeout","lines":[],"by":0,"answer":"","detail":"nothing came","stderr":"…\\x1b"},"started":"2026-01-31T10:00:00Z","more":{"x":[1,null]}}"#,
];

/// Replays a record with whatever edition it claims; its problems are sentences.
fn replay_any(record: &Record) {
    let problem = |result: Result<_, Violation>| match result {
        Ok(()) => {}
        Err(violation) => {
            assert!(!violation.problem.to_string().is_empty());
            assert!(violation.turn.is_none_or(|turn| turn >= 1));
            assert!(violation.turn.is_none_or(|turn| turn <= record.turns.len()));
        }
    };
    for rules in [Rules::Standard, Rules::Squares] {
        let set = record.pieces.as_deref().map_or(ENGLISH, |pieces| pieces);
        let set = PieceSet::parse(set).unwrap_or_default();
        let edition = Edition::new(rules, set);
        problem(replay(&BuiltinRuleset::new(edition), record, &mut |_| {}).map(drop));
    }
    problem(replay(&BuiltinRuleset::new(FourInARow), record, &mut |_| {}).map(drop));
    assert!(!record.result_line().is_empty());
}

/// A turn as a record may hold it, by accident or malice.
fn turn() -> impl Strategy<Value = TurnText> {
    prop_oneof![
        "[0-9]{1,2} [A-P-]",
        "[1-9] [A-H]",
        "- [A-P]",
        "[1-9]",
        "\\PC{0,6}",
        any::<String>(),
    ]
    .prop_map(TurnText::from)
}

proptest! {
    #![proptest_config(config(600))]

    #[test]
    fn mangled_records_are_read_or_refused(
        bytes in prop_oneof![mangled(RECORDS[0].as_bytes()), mangled(RECORDS[1].as_bytes())],
    ) {
        // Whether a command needs all of a record or little changes nothing.
        let summary = RecordSummary::parse(&bytes).map(drop);
        prop_assert_eq!(&summary, &Record::from_line(&bytes).map(drop));
        match Record::from_line(&bytes) {
            Ok(record) => {
                replay_any(&record);
                let line = record.to_line().expect("JSON");
                prop_assert!(!line.contains('\n'));
                prop_assert_eq!(Record::from_line(line.as_bytes()), Ok(record));
            }
            Err(problem) => prop_assert!(!problem.to_string().is_empty()),
        }
    }

    #[test]
    fn any_turns_can_be_replayed(
        which in 0..2_usize,
        keep in 0..6_usize,
        turns in prop::collection::vec(turn(), 0..20),
        time in any::<f64>(),
        start in prop_oneof![Just("................".to_owned()), "[A-P.]{16}", any::<String>()],
    ) {
        let mut record = Record::from_line(RECORDS[which].as_bytes()).expect("a good record");
        record.turns.truncate(keep);
        record.turns.extend(turns);
        record.times_ms = vec![time; record.turns.len()];
        replay_any(&record);
        record.start = start;
        replay_any(&record);
        record.times_ms.pop();
        replay_any(&record);
    }
}

#[test]
fn the_records_are_good() {
    for (line, rules) in RECORDS.iter().zip([Rules::Standard, Rules::Squares]) {
        let record = Record::from_line(line.as_bytes()).expect("a good record");
        let edition = Edition::new(rules, PieceSet::default());
        if let Err(violation) = replay(&BuiltinRuleset::new(edition), &record, &mut |_| {}) {
            panic!("{violation:?}");
        }
    }
}

/// Characters that change the direction of text, or are nowhere to be seen.
fn is_harmful(c: char) -> bool {
    c.is_control()
        || "\u{ad}\u{61c}\u{200b}\u{200c}\u{200d}\u{200e}\u{200f}\u{2028}\u{2029}".contains(c)
        || "\u{202a}\u{202b}\u{202c}\u{202d}\u{202e}\u{2060}\u{2066}\u{2067}\u{2068}".contains(c)
        || "\u{2069}\u{feff}".contains(c)
}

/// Reads what `escape` wrote.
fn unescape(text: &str) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut chars = text.chars();
    let mut buffer = [0; 4];
    let hex = |digits: &str| u32::from_str_radix(digits, 16).expect("hexadecimal digits");
    while let Some(c) = chars.next() {
        if c != '\\' {
            bytes.extend_from_slice(c.encode_utf8(&mut buffer).as_bytes());
            continue;
        }
        match chars.next() {
            Some('\\') => bytes.push(b'\\'),
            Some('n') => bytes.push(b'\n'),
            Some('r') => bytes.push(b'\r'),
            Some('t') => bytes.push(b'\t'),
            Some('x') => {
                let digits: String = chars.by_ref().take(2).collect();
                bytes.push(u8::try_from(hex(&digits)).expect("a byte"));
            }
            Some('u') => {
                let digits: String = chars.by_ref().take_while(|&c| c != '}').collect();
                let c = char::from_u32(hex(digits.trim_start_matches('{'))).expect("a character");
                bytes.extend_from_slice(c.encode_utf8(&mut buffer).as_bytes());
            }
            other => panic!("{other:?} after a backslash in {text:?}"),
        }
    }
    bytes
}

/// Text with many characters that need care, and bytes that are none.
fn nasty() -> impl Strategy<Value = Vec<u8>> {
    let pieces = prop::collection::vec(
        prop_oneof![
            any::<char>().prop_map(|c| c.to_string().into_bytes()),
            prop::sample::select(vec![
                '\\',
                'x',
                'u',
                '{',
                '}',
                'n',
                '`',
                '\n',
                '\r',
                '\t',
                '\u{1b}',
                '\u{7f}',
                '\u{85}',
                '\u{9b}',
                '\u{ad}',
                '\u{61c}',
                '\u{200e}',
                '\u{202e}',
                '\u{2029}',
                '\u{2066}',
                '\u{2069}',
                '\u{feff}',
                '\u{e0041}',
                '漢',
                '\u{301}'
            ])
            .prop_map(|c| c.to_string().into_bytes()),
            any::<u8>().prop_map(|byte| vec![byte]),
        ],
        0..120,
    );
    pieces.prop_map(|pieces| pieces.concat())
}

proptest! {
    #![proptest_config(config(500))]

    #[test]
    fn what_was_sent_can_be_read_back(bytes in nasty()) {
        let escaped = escape(&bytes);
        prop_assert_eq!(unescape(&escaped), bytes, "{}", escaped);
    }

    #[test]
    fn what_is_shown_is_harmless(bytes in nasty()) {
        for shown in [escape(&bytes), quote(&bytes), escape_controls(&String::from_utf8_lossy(&bytes))] {
            prop_assert!(!shown.contains(is_harmful), "{:?}", shown);
        }
        let lines = escape_lines(&bytes);
        prop_assert!(!lines.contains(|c| c != '\n' && is_harmful(c)), "{:?}", lines);
        prop_assert_eq!(lines.split('\n').count(), bytes.split(|&b| b == b'\n').count());
    }

    #[test]
    fn quotations_are_short(bytes in nasty()) {
        let quoted = quote(&bytes);
        prop_assert!(quoted.chars().count() <= 80 + "``… (1234 bytes)".len());
        let escaped = escape(&bytes);
        prop_assert_eq!(quoted == format!("`{escaped}`"), escaped.chars().count() <= 80);
    }

    #[test]
    fn safe_twice_is_safe_once(text in any::<String>(), bytes in nasty()) {
        for text in [text, String::from_utf8_lossy(&bytes).into_owned()] {
            let once = escape_controls(&text);
            prop_assert_eq!(escape_controls(&once), once);
        }
    }

    #[test]
    fn plain_ascii_is_shown_as_it_is(text in "[ -\\[\\]-~]{0,60}") {
        prop_assert_eq!(escape(text.as_bytes()), text.clone());
        prop_assert_eq!(escape_controls(&text), text.clone());
        prop_assert_eq!(quote(text.as_bytes()), format!("`{text}`"));
    }

    #[test]
    fn different_ascii_is_shown_differently(one in "[\\x00-\\x7f]{0,8}", two in "[\\x00-\\x7f]{0,8}") {
        prop_assert_eq!(escape(one.as_bytes()) == escape(two.as_bytes()), one == two);
    }
}

#[test]
fn every_ascii_character_is_shown_differently() {
    let mut shown: Vec<String> = (0..=0x7f_u8).map(|byte| escape(&[byte])).collect();
    shown.sort();
    shown.dedup();
    assert_eq!(shown.len(), 128);
}

#[test]
fn mangled_english_sets_that_are_read_have_sixteen_pieces() {
    let mut runner = TestRunner::new(config(400));
    runner
        .run(&mangled(ENGLISH.as_bytes()), |bytes| {
            if let Ok(set) = PieceSet::read(&bytes[..]) {
                let mut symbols: Vec<char> =
                    set.order().iter().map(|&piece| set.symbol(piece)).collect();
                symbols.sort_unstable();
                symbols.dedup();
                prop_assert_eq!(symbols.len(), 16);
                for feature in set.features() {
                    prop_assert_ne!(&feature.properties[0], &feature.properties[1]);
                }
            }
            Ok(())
        })
        .unwrap_or_else(|error| panic!("{error}"));
}
