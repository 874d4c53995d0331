//! People at the keyboard: scripted sessions through a pipe, and line editing on a real
//! terminal, which `script` creates.
//!
//! Tests that need `script` are ignored where it is missing. In CI
//! (`CI=true`) they fail.

use std::ffi::OsStr;
use std::fmt::{self, Write as _};
use std::fs;
use std::io::{Read, Write as _};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{self, Receiver};
use std::thread;
use std::time::{Duration, Instant};

use libtest_mimic::Trial;

use crate::common::signals;
use crate::hangs::HANGS;
use crate::requirements::unavailable;
use serde_json::{Value, json};
use tempfile::TempDir;

/// Ann and Bob, Ann begins, nothing is asked before the game.
const ANN_AND_BOB: [&str; 11] = [
    "play",
    "--name1",
    "Ann",
    "--name2",
    "Bob",
    "--piece-format",
    "symbol",
    "--seed",
    "1",
    "--first",
    "1",
];

const PIECE: &str = "Ann, which piece for your opponent? ";
const CELL: &str = "Bob, place A big red square hollow on which cell? ";

/// A session in progress.
struct Session {
    child: Child,
    stdin: Option<ChildStdin>,
    output: Receiver<(bool, Vec<u8>)>,
    /// What it wrote to stdout and stderr.
    said: [Vec<u8>; 2],
    /// The part of stdout that was waited for, in bytes.
    seen: usize,
    deadline: Instant,
    directory: TempDir,
}

/// The result of a session.
struct Ended {
    code: Option<i32>,
    stdout: String,
    stderr: String,
    elapsed: Duration,
    directory: TempDir,
}

impl Session {
    fn start(command: &mut Command) -> Self {
        let directory = tempfile::tempdir().expect("a temporary directory");
        let mut child = command
            .env_remove("RUST_LOG")
            .current_dir(directory.path())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("a program that starts");
        let (send, output) = mpsc::channel();
        let stdout = child.stdout.take().expect("a pipe");
        let stderr = child.stderr.take().expect("a pipe");
        let streams: [(bool, Box<dyn Read + Send>); 2] =
            [(false, Box::new(stdout)), (true, Box::new(stderr))];
        for (is_stderr, mut stream) in streams {
            let send = send.clone();
            thread::spawn(move || {
                let mut bytes = [0; 4096];
                // A closed terminal is an error, and the end.
                while let Ok(count @ 1..) = stream.read(&mut bytes) {
                    if send.send((is_stderr, bytes[..count].to_vec())).is_err() {
                        break;
                    }
                }
            });
        }
        Self {
            stdin: child.stdin.take(),
            child,
            output,
            said: Default::default(),
            seen: 0,
            deadline: Instant::now() + HANGS,
            directory,
        }
    }

    fn referee<A: AsRef<OsStr>>(arguments: impl IntoIterator<Item = A>) -> Self {
        Self::start(crate::common::command(env!("CARGO_BIN_EXE_referee")).args(arguments))
    }

    fn keys(&mut self, keys: impl AsRef<[u8]>) {
        let stdin = self.stdin.as_mut().expect("an open pipe");
        // A session that has ended reads nothing; its output shows why it ended.
        let _ = stdin.write_all(keys.as_ref());
        let _ = stdin.flush();
    }

    /// Receives the next output; `false` at its end.
    fn receive(&mut self) -> bool {
        let left = self.deadline.saturating_duration_since(Instant::now());
        match self.output.recv_timeout(left) {
            Ok((is_stderr, bytes)) => {
                self.said[usize::from(is_stderr)].extend(bytes);
                true
            }
            Err(mpsc::RecvTimeoutError::Disconnected) => false,
            Err(mpsc::RecvTimeoutError::Timeout) => {
                let _ = self.child.kill();
                panic!("still running after {HANGS:?}\n{}", self.text());
            }
        }
    }

    fn text(&self) -> String {
        self.said
            .each_ref()
            .map(|said| String::from_utf8_lossy(said))
            .join("\n--\n")
    }

    /// Waits until this is on stdout, after what was waited for before.
    fn wait(&mut self, text: &str) {
        loop {
            let new = &self.said[0][self.seen..];
            let found = new
                .windows(text.len())
                .position(|window| window == text.as_bytes());
            if let Some(at) = found {
                self.seen += at + text.len();
                return;
            }
            assert!(self.receive(), "it ended without {text:?}\n{}", self.text());
        }
    }

    /// Waits for the end, with its input still open.
    fn end(mut self) -> Ended {
        let waited = Instant::now();
        while self.receive() {}
        let status = self.child.wait().expect("a status");
        let [stdout, stderr] = self
            .said
            .each_ref()
            .map(|said| String::from_utf8_lossy(said).into_owned());
        Ended {
            code: status.code(),
            stdout,
            stderr,
            elapsed: waited.elapsed(),
            directory: self.directory,
        }
    }
}

impl Ended {
    fn last_line(&self) -> &str {
        self.stdout.lines().next_back().unwrap_or_default()
    }

    /// The records of `--record games.jsonl`.
    fn records(&self) -> Vec<Value> {
        let text = fs::read_to_string(self.directory.path().join("games.jsonl"));
        let text = text.expect("a file of records");
        text.lines()
            .map(|line| serde_json::from_str(line).expect("a record"))
            .collect()
    }

    /// Each line typed at a prompt with this end, and the reply to it.
    fn replies(&self, prompt: &str) -> Vec<(String, String)> {
        let mut replies: Vec<(String, String)> = Vec::new();
        for line in self.stdout.lines() {
            if let Some(at) = line.find("? ") {
                let (asked, typed) = line.split_at(at + 2);
                let of_interest = asked.ends_with(prompt);
                replies.push((
                    if of_interest { typed } else { "" }.to_owned(),
                    String::new(),
                ));
            } else if let Some((_, reply)) = replies.last_mut() {
                reply.push_str(line);
                reply.push('\n');
            }
        }
        replies.retain(|(typed, _)| !typed.is_empty());
        replies
    }
}

impl fmt::Display for Ended {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "status: {:?} after {:?}", self.code, self.elapsed)?;
        writeln!(f, "stdout:\n{}\nstderr:\n{}", self.stdout, self.stderr)
    }
}

/// A session whose input is typed in advance and then ends.
fn typed<A: AsRef<OsStr>>(
    arguments: impl IntoIterator<Item = A>,
    input: impl AsRef<[u8]>,
) -> Ended {
    let mut session = Session::referee(arguments);
    session.keys(input);
    session.stdin = None;
    session.end()
}

/// Ann and Bob, with more options.
fn ann_and_bob(more: &[&str], input: impl AsRef<[u8]>) -> Ended {
    typed(ANN_AND_BOB.iter().chain(more), input)
}

/// The output with times replaced by `T`.
fn timeless(text: &str) -> String {
    let mut shown = String::new();
    for line in text.lines() {
        let timed = line
            .strip_suffix(" ms")
            .or_else(|| line.strip_suffix(" s"))
            .and_then(|rest| rest.rsplit_once("  "))
            .filter(|(_, number)| number.parse::<f64>().is_ok());
        let line = timed.map_or(line.to_owned(), |(text, _)| format!("{text}  T"));
        let _ = writeln!(shown, "{line}");
    }
    shown
}

// Through a pipe

fn a_whole_session() {
    let ended = ann_and_bob(&["--start", "ABC............."], "D\n4\n");
    assert_eq!(ended.code, Some(0), "{ended}");
    assert_eq!(ended.stderr, "", "{ended}");
    insta::assert_snapshot!(timeless(&ended.stdout), @"
    Quarto: the first to complete a row, column or diagonal of four pieces
    that share a property wins.
    The first player only gives a piece. The other places it and gives one back, and so on.
    Cells are 1 to 16, row by row from the top left, or a row and a column (2 3).
    At any prompt: help, board, pieces, quit.
    Ann against Bob, Ann begins
        V1  V2  V3  V4    left:
       +---+---+---+---+  D small blue square hollow    K big blue square solid
    H1 | A | B | C |   |  E big red circular hollow     L small blue square solid
       +---+---+---+---+  F small red circular hollow   M big red circular solid
    H2 |   |   |   |   |  G big blue circular hollow    N small red circular solid
       +---+---+---+---+  H small blue circular hollow  O big blue circular solid
    H3 |   |   |   |   |  I big red square solid        P small blue circular solid
       +---+---+---+---+  J small red square solid
    H4 |   |   |   |   |
       +---+---+---+---+
    Ann, which piece for your opponent? D

     1. Ann gives D  T
        V1  V2  V3  V4    in hand: D small blue square hollow
       +---+---+---+---+  left:
    H1 | A | B | C |   |  E big red circular hollow     K big blue square solid
       +---+---+---+---+  F small red circular hollow   L small blue square solid
    H2 |   |   |   |   |  G big blue circular hollow    M big red circular solid
       +---+---+---+---+  H small blue circular hollow  N small red circular solid
    H3 |   |   |   |   |  I big red square solid        O big blue circular solid
       +---+---+---+---+  J small red square solid      P small blue circular solid
    H4 |   |   |   |   |
       +---+---+---+---+
    Bob, place D small blue square hollow on which cell? 4

     2. Bob places D on 4  T
        V1  V2  V3  V4    left:
       +---+---+---+---+  E big red circular hollow     K big blue square solid
    H1 |[A]|[B]|[C]|[D]|  F small red circular hollow   L small blue square solid
       +---+---+---+---+  G big blue circular hollow    M big red circular solid
    H2 |   |   |   |   |  H small blue circular hollow  N small red circular solid
       +---+---+---+---+  I big red square solid        O big blue circular solid
    H3 |   |   |   |   |  J small red square solid      P small blue circular solid
       +---+---+---+---+
    H4 |   |   |   |   |
       +---+---+---+---+

    Bob wins: H1 square, H1 hollow.
    ");
}

/// Nobody can choose a first gift without seeing the pieces.
fn the_pieces_are_shown_before_the_first_gift() {
    let ended = ann_and_bob(&[], "A\n");
    let (before, _) = ended
        .stdout
        .split_once("which piece for")
        .expect("a question");
    assert!(before.contains("  A big red square hollow "), "{ended}");
    assert!(before.contains("\nH1 |   |"), "{ended}");
    assert!(!before.contains("layer 1"), "{ended}");
}

fn players_take_turns() {
    // Player 1 selects, player 2 places and selects, player 1 places and selects.
    let ended = ann_and_bob(&[], "A\n1\nB\n2\nC\n3\nD\n4\n");
    let asked: Vec<&str> = ended
        .stdout
        .lines()
        .filter_map(|line| line.split_once("? "))
        .map(|(asked, _)| asked)
        .collect();
    let piece = "which piece for your opponent";
    let asked: Vec<String> = asked
        .iter()
        .map(|asked| asked.replace(piece, "gift").replace("place ", ""))
        .collect();
    assert_eq!(
        asked,
        [
            "Ann, gift",
            "Bob, A big red square hollow on which cell",
            "Bob, gift",
            "Ann, B small red square hollow on which cell",
            "Ann, gift",
            "Bob, C big blue square hollow on which cell",
            "Bob, gift",
            "Ann, D small blue square hollow on which cell",
        ],
        "{ended}"
    );
    assert_eq!(
        ended.last_line(),
        "Ann wins: H1 square, H1 hollow.",
        "{ended}"
    );
}

/// Each wrong input is explained, asked for again, and changes nothing.
fn wrong_pieces() {
    let wrong = [
        (
            "Z",
            "`Z` is not a piece: expected one of the characters listed; left: B C D",
        ),
        ("AB", "`AB` is not a piece"),
        (".", "`.` is not a piece"),
        ("-", "`-` is not a piece"),
        ("5", "`5` is not a piece"),
        ("0101", "`0101` is not a piece"),
        (
            "A",
            "A is already on the board; left: B C D E F G H I J K L M N O P",
        ),
        ("a", "A is already on the board"),
        ("é", "`é` is not a piece"),
        ("give B", "`give B` is not a piece"),
    ];
    let mut input = "A\n1\n".to_owned();
    for (line, _) in wrong {
        let _ = writeln!(input, "{line}");
    }
    let ended = ann_and_bob(&[], input + "b\n");
    assert_eq!(ended.code, Some(0), "{ended}");
    let replies = ended.replies("Bob, which piece for your opponent? ");
    assert_eq!(replies.len(), wrong.len() + 1, "{ended}");
    for ((line, reason), (typed, reply)) in wrong.iter().zip(&replies) {
        assert_eq!(line, typed, "{ended}");
        assert!(reply.starts_with(reason), "{line}: {reply}");
        assert_eq!(reply.lines().count(), 1, "{reply}");
    }
    // A lower-case letter is accepted where no piece has that name.
    assert!(
        ended.stdout.contains(" 2. Bob places A on 1, gives B  "),
        "{ended}"
    );
}

fn wrong_cells() {
    let range = "is out of range: expected a cell, 1 to 16, or a row and a column, such as 2 3";
    let both = "is out of range, both are 1 to 4: expected a cell";
    let no = "is not a cell: expected a cell, 1 to 16";
    let wrong = [
        (
            "1",
            "cell 1 is occupied by A; free: 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16".to_owned(),
        ),
        ("1 1", "cell 1 is occupied by A; free: 2 3".to_owned()),
        ("0", format!("0 {range}")),
        ("17", format!("17 {range}")),
        ("255", format!("255 {range}")),
        ("0 1", format!("row 0, column 1 {both}")),
        ("5 1", format!("row 5, column 1 {both}")),
        ("1 5", format!("row 1, column 5 {both}")),
        ("256", format!("`256` {no}")),
        ("-1", format!("`-1` {no}")),
        ("+2", format!("`+2` {no}")),
        ("2.5", format!("`2.5` {no}")),
        ("1 2 3", format!("`1 2 3` {no}")),
        ("two", format!("`two` {no}")),
        ("B", format!("`B` {no}")),
        ("٢", format!("`٢` {no}")),
        ("2 B", format!("`2 B` {no}")),
    ];
    let mut input = "A\n1\nB\n".to_owned();
    for (line, _) in &wrong {
        let _ = writeln!(input, "{line}");
    }
    let ended = ann_and_bob(&[], input + "2\nC\n");
    assert_eq!(ended.code, Some(0), "{ended}");
    let replies = ended.replies("Ann, place B small red square hollow on which cell? ");
    assert_eq!(replies.len(), wrong.len() + 1, "{ended}");
    for ((line, reason), (typed, reply)) in wrong.iter().zip(&replies) {
        assert_eq!(line, typed, "{ended}");
        assert!(reply.starts_with(reason), "{line}: {reply}");
        assert_eq!(reply.lines().count(), 1, "{reply}");
    }
    assert!(
        ended.stdout.contains(" 3. Ann places B on 2, gives C  "),
        "{ended}"
    );
}

fn cells_in_every_form() {
    for (form, cell) in [
        ("7", 7),
        ("07", 7),
        ("16", 16),
        ("2 3", 7),
        ("2,3", 7),
        ("  2 ,  3  ", 7),
        ("2;3", 7),
        ("H2 V3", 7),
        ("h2v3", 7),
        ("r2 c3", 7),
        ("4 4", 16),
        ("1 4", 4),
        ("4 1", 13),
    ] {
        let ended = ann_and_bob(&[], format!("A\n{form}\nB\n"));
        let turn = format!(" 2. Bob places A on {cell}, gives B  ");
        assert!(ended.stdout.contains(&turn), "{form}\n{ended}");
    }
}

fn line_ends_of_other_systems() {
    let ended = ann_and_bob(&[], "A\r\n\t1  \r\nB");
    assert!(
        ended.stdout.contains(" 2. Bob places A on 1, gives B  "),
        "{ended}"
    );
}

fn bytes_that_are_not_utf8() {
    let ended = ann_and_bob(&[], b"\xff\xfe\n\x1b[2J\n\0\nA\n1\nB\n");
    assert_eq!(ended.code, Some(0), "{ended}");
    assert!(
        ended.stdout.contains("` is not a piece: expected"),
        "{ended}"
    );
    assert!(
        ended.stdout.contains(r"`\x1b[2J` is not a piece"),
        "{ended}"
    );
    assert!(
        !ended.stdout.contains('\x1b') && !ended.stdout.contains('\0'),
        "{ended}"
    );
    assert!(
        ended.stdout.contains(" 2. Bob places A on 1, gives B  "),
        "{ended}"
    );
}

fn pieces_as_numbers() {
    for (format, wrong, right, shown, listed) in [
        (
            "binary",
            ["A", "1", "11111", "0102", "-101"],
            "1111",
            "1111 small blue circular solid",
            "four binary digits, such as 0101; left: 0000 0001",
        ),
        (
            "decimal",
            ["A", "16", "-1", "1111", "x"],
            "15",
            "15 small blue circular solid",
            "a number from 0 to 15; left: 0 1 2",
        ),
    ] {
        let input = format!("{}\n{right}\n6\n{right}\n", wrong.join("\n"));
        let arguments = [
            "human", "human", "--name1", "Ann", "--name2", "Bob", "--first", "1",
        ];
        let more = ["--seed", "1", "--piece-format", format];
        let ended = typed(arguments.iter().chain(&more), input);
        assert_eq!(ended.code, Some(0), "{ended}");
        let replies = ended.replies(PIECE);
        for (line, (typed, reply)) in wrong.iter().zip(&replies) {
            assert_eq!(line, typed, "{ended}");
            let reason = format!("`{line}` is not a piece: expected {listed}");
            assert!(reply.starts_with(&reason), "{format} {line}: {reply}");
        }
        for part in [
            &*format!(" 1. Ann gives {right}  "),
            &format!("in hand: {shown}"),
            &format!("Bob, place {shown} on which cell? 6\n"),
            &format!("{right} is already on the board"),
        ] {
            assert!(ended.stdout.contains(part), "{format}: {part}\n{ended}");
        }
    }
}

fn the_record_has_the_pieces_of_the_wire() {
    let decimal = ANN_AND_BOB.map(|word| if word == "symbol" { "decimal" } else { word });
    let more = ["--record", "games.jsonl"];
    let ended = typed(decimal.iter().chain(&more), "10\n2 3\n0\n");
    assert_eq!(
        ended.records()[0]["turns"],
        json!(["- K", "7 A"]),
        "{ended}"
    );
    replays(&ended);
}

fn commands_at_every_prompt() {
    let ended = ann_and_bob(
        &[],
        "help\nboard\npieces\n\nA\nhelp\nboard\npieces\n?\n\n1\nhelp\nboard\npieces\nB\n",
    );
    assert_eq!(ended.code, Some(0), "{ended}");
    let gift = ended.replies(PIECE);
    let cell = ended.replies(CELL);
    let second = ended.replies("Bob, which piece for your opponent? ");
    for (replies, hand) in [(&gift, ""), (&cell, "A"), (&second, "")] {
        let reply = |command: &str| {
            let found = replies.iter().find(|(typed, _)| typed == command);
            &found.unwrap_or_else(|| panic!("{command}\n{ended}")).1
        };
        assert!(reply("help").contains("At any prompt: help, board, pieces, quit.\n"));
        assert!(reply("help").contains(
            "The first player only gives a piece. The other places it and gives one back, and so on.\n"
        ));
        assert!(reply("board").contains("\nH1 |"), "{ended}");
        let in_hand = "in hand: A big red square hollow\n";
        assert_eq!(reply("pieces").starts_with(in_hand), hand == "A", "{ended}");
        assert!(reply("pieces").contains("left:\n"), "{ended}");
        assert!(
            reply("pieces").ends_with("  P small blue circular solid\n"),
            "{ended}"
        );
    }
    assert_eq!(gift[2].1.matches("\n  ").count(), 16, "{ended}");
    assert!(second[1].1.contains("H1 | A |"), "{ended}");
    // No input was lost.
    assert!(
        ended.stdout.contains(" 2. Bob places A on 1, gives B  "),
        "{ended}"
    );
}

fn leaving_at_every_prompt() {
    for (before, leaver, stayer) in [
        ("", "Ann", "Bob"),
        ("A\n", "Bob", "Ann"),
        ("A\n1\n", "Bob", "Ann"),
        ("A\n1\nB\n", "Ann", "Bob"),
        ("A\nnonsense\n", "Bob", "Ann"),
    ] {
        for word in ["quit\n", " exit \n", "quit", ""] {
            let ended = ann_and_bob(&[], format!("{before}{word}"));
            assert_eq!(ended.code, Some(0), "{before:?} {word:?}\n{ended}");
            assert_eq!(
                ended.last_line(),
                format!("{stayer} wins: {leaver} left the game."),
                "{before:?} {word:?}\n{ended}"
            );
            assert_eq!(ended.stderr, "", "{ended}");
        }
    }
}

fn no_input_at_all() {
    let ended = typed(["play", "--seed", "1", "--first", "1"], "");
    assert_eq!(ended.code, Some(0), "{ended}");
    assert_eq!(
        ended.last_line(),
        "player 2 wins: player 1 left the game.",
        "{ended}"
    );
}

fn leaving_ends_the_match() {
    for word in ["quit\n", ""] {
        let ended = ann_and_bob(
            &["-n", "3", "--record", "games.jsonl"],
            format!("A\n{word}"),
        );
        assert_eq!(ended.code, Some(0), "{ended}");
        assert_eq!(ended.records().len(), 1, "{ended}");
        assert_eq!(ended.stdout.matches(" begins\n").count(), 1, "{ended}");
        assert!(
            ended.stdout.contains("\nAnn wins: Bob left the game.\n"),
            "{ended}"
        );
        assert!(
            ended.last_line().starts_with("Score: Ann 1 - 0 Bob "),
            "{ended}"
        );
    }
}

fn a_match_of_two_games() {
    let won = "D\n4\n";
    let ended = ann_and_bob(&["--start", "ABC.............", "-n", "2"], won.repeat(2));
    assert_eq!(ended.code, Some(0), "{ended}");
    assert!(
        ended
            .stdout
            .contains("Game 1: Ann against Bob, Ann begins\n"),
        "{ended}"
    );
    assert!(
        ended
            .stdout
            .contains("Game 2: Ann against Bob, Bob begins\n"),
        "{ended}"
    );
    assert!(
        ended.last_line().starts_with("Score: Ann 1 - 1 Bob "),
        "{ended}"
    );
}

/// Types every possible answer at every prompt.
fn against_a_program() {
    let mut input = String::new();
    for _ in 0..16 {
        for piece in 'A'..='P' {
            let _ = writeln!(input, "{piece}");
        }
        for cell in 1..=16 {
            let _ = writeln!(input, "{cell}");
        }
    }
    for (bots, person) in [
        (["human", "builtin:greedy"], 0),
        (["builtin:greedy", "human"], 1),
    ] {
        let options = ["--seed", "3", "--record", "games.jsonl"];
        let ended = typed(bots.iter().chain(&options), &input);
        assert_eq!(ended.code, Some(0), "{ended}");
        assert!(!ended.stdout.contains("name of player"), "{ended}");
        assert!(!ended.stdout.contains("pieces as symbol"), "{ended}");
        let record = &ended.records()[0];
        assert_eq!(
            record["bots"][person]["command"],
            json!(["human"]),
            "{ended}"
        );
        assert_eq!(record["bots"][person]["name"], "human", "{ended}");
        let reason = &record["result"]["reason"];
        assert!(
            *reason == json!("quarto") || *reason == json!("draw"),
            "{ended}"
        );
        replays(&ended);
    }
}

fn records_of_people() {
    let options = ["--start", "ABC.............", "--record", "games.jsonl"];
    let ended = ann_and_bob(&options, "nonsense\nD\n99\nhelp\n4\n");
    let records = ended.records();
    assert_eq!(records.len(), 1, "{ended}");
    let record = &records[0];
    assert_eq!(
        record["bots"],
        json!([{"name": "Ann", "command": ["human"]}, {"name": "Bob", "command": ["human"]}]),
        "{ended}"
    );
    assert_eq!(record["turns"], json!(["- D", "4 -"]), "{ended}");
    assert_eq!(record["result"]["winner"], 1, "{ended}");
    replays(&ended);

    let ended = ann_and_bob(&["--record", "games.jsonl"], "A\n1\nquit\n");
    let record = &ended.records()[0];
    // The turn was not finished.
    assert_eq!(record["turns"], json!(["- A"]), "{ended}");
    assert_eq!(record["result"]["reason"], "exited", "{ended}");
    assert_eq!(record["result"]["by"], 1, "{ended}");
    assert_eq!(record["result"]["detail"], "left the game", "{ended}");
    replays(&ended);
}

/// Checks that `referee replay` accepts the records and ends with the same result.
fn replays(ended: &Ended) {
    let file = ended.directory.path().join("games.jsonl");
    let replayed = typed(["replay".as_ref(), file.as_os_str()], "");
    assert_eq!(replayed.code, Some(0), "{replayed}");
    let result = format!("\n{}\n", ended.last_line());
    assert!(replayed.stdout.contains(&result), "{ended}\n{replayed}");
}

fn hints() {
    // A, B and E are red and hollow.
    let start = ["--start", "ABE............."];
    let with = ["--start", "ABE.............", "--hint"];
    let hint = "hint: these gifts lose immediately: C D F G H I J M N\n";
    let ended = ann_and_bob(&with, "K\n");
    let before = format!("{hint}{PIECE}K\n");
    assert!(ended.stdout.contains(&before), "{ended}");
    // K loses nothing at once; in hand it is no gift any more.
    let board = "hint: on the board as it is, these gifts lose immediately: C D F G H I J M N\n\
        Bob, place K big blue square solid on which cell? ";
    assert!(ended.stdout.contains(board), "{ended}");
    // Once the row is full nothing loses.
    let ended = ann_and_bob(&with, "K\n4\n");
    assert!(
        ended
            .stdout
            .ends_with("Bob, which piece for your opponent? \n\nAnn wins: Bob left the game.\n")
    );
    assert_eq!(ended.stdout.matches("hint: ").count(), 2, "{ended}");

    let ended = ann_and_bob(&start, "K\n");
    assert!(!ended.stdout.contains("hint"), "{ended}");
    let ended = ann_and_bob(&["--hint"], "A\n1\n");
    assert!(!ended.stdout.contains("hint"), "{ended}");

    let decimal = ANN_AND_BOB.map(|word| if word == "symbol" { "decimal" } else { word });
    let ended = typed(decimal.iter().chain(&with), "");
    let numbers = "hint: these gifts lose immediately: 2 3 5 6 7 8 9 12 13\n";
    assert!(ended.stdout.contains(numbers), "{ended}");

    let squares = [
        "--rules",
        "squares",
        "--hint",
        "--start",
        "AB..E...........",
    ];
    let ended = ann_and_bob(&squares, "");
    assert!(ended.stdout.contains(hint), "{ended}");
}

fn names() {
    let options = ["--seed", "1", "--first", "1"];
    for (arguments, first, second) in [
        (&["--name1", "Ann", "--name2", "Bob"][..], "Ann", "Bob"),
        (&[], "player 1", "player 2"),
        (&["--name1", "Ann", "--name2", "Ann"], "Ann#1", "Ann#2"),
        (&["--name2", "Zoë"], "player 1", "Zoë"),
        // A name cannot control the terminal.
        (
            &["--name1", "\x1b[31mAnn", "--name2", "Bob"],
            r"\x1b[31mAnn",
            "Bob",
        ),
    ] {
        for play in [&["play"][..], &["human", "human"]] {
            let ended = typed(play.iter().chain(arguments).chain(&options), "");
            assert_eq!(ended.code, Some(0), "{ended}");
            // The game comes first.
            assert!(ended.stdout.starts_with("Quarto: "), "{ended}");
            let heading = format!("\n{first} against {second}, {first} begins\n");
            assert!(ended.stdout.contains(&heading), "{ended}");
            let prompt = format!("\n{first}, which piece for");
            assert!(ended.stdout.contains(&prompt), "{ended}");
            assert!(!ended.stdout.contains('\x1b'), "{ended}");
        }
    }
    for (name, heading) in [
        (&[][..], "human against builtin:random"),
        (&["--name1", "Ann"], "Ann against builtin:random"),
    ] {
        let bots = ["human", "builtin:random"];
        let ended = typed(bots.iter().chain(name).chain(&options), "");
        assert!(ended.stdout.contains(heading), "{ended}");
    }
}

fn json_is_refused() {
    for arguments in [
        &["human", "builtin:greedy", "--json"][..],
        &["builtin:greedy", "human", "--json"],
        &["human", "human", "--json"],
    ] {
        let ended = typed(arguments, "Ann\nBob\nA\n");
        assert_eq!(ended.code, Some(2), "{ended}");
        assert_eq!(ended.stdout, "", "{ended}");
        assert!(ended.stderr.contains("--json") && ended.stderr.contains("--record FILE"));
    }
}

/// Wrong options are refused before people are asked anything.
fn nothing_is_asked_in_vain() {
    for wrong in [
        &["--json"][..],
        &["--pieces", "no-such-file.csv"],
        &["--start", "AA"],
    ] {
        let ended = typed(["play"].iter().chain(wrong), "");
        assert_eq!(ended.code, Some(2), "{ended}");
        assert_eq!(ended.stdout, "", "{ended}");
    }
}

/// Prompts are flushed.
fn prompts_come_before_the_answers() {
    let mut session = Session::referee(ANN_AND_BOB);
    for (prompt, keys) in [
        (PIECE, "A\n"),
        (CELL, "x\n"),
        (CELL, "1\n"),
        ("Bob, which piece for your opponent? ", "B\n"),
        (
            "Ann, place B small red square hollow on which cell? ",
            "quit\n",
        ),
    ] {
        session.wait(prompt);
        session.keys(keys);
    }
    let ended = session.end();
    assert_eq!(ended.code, Some(0), "{ended}");
    assert_eq!(ended.last_line(), "Bob wins: Ann left the game.", "{ended}");
}

/// A person has more than a program's 10 seconds for a move.
fn people_have_time() {
    let mut session = Session::referee(ANN_AND_BOB);
    session.wait(PIECE);
    thread::sleep(Duration::from_millis(10_500));
    session.keys("A\n");
    session.wait(" 1. Ann gives A  ");
    session.wait(CELL);
    session.keys("quit\n");
    let ended = session.end();
    assert_eq!(ended.last_line(), "Ann wins: Bob left the game.", "{ended}");
}

/// The input stays open without a line.
fn silent_people_lose_when_there_is_a_clock() {
    let cases: [&[&str]; 3] = [
        &["human", "builtin:random", "--move-time", "300ms"],
        &[
            "human",
            "human",
            "--name1",
            "A",
            "--name2",
            "B",
            "--move-time",
            "300ms",
        ],
        &["human", "builtin:random", "--game-time", "300ms"],
    ];
    for arguments in cases {
        let options = ["--seed", "1", "--first", "1", "--record", "games.jsonl"];
        let session = Session::referee(arguments.iter().chain(&options));
        let ended = session.end();
        assert_eq!(ended.code, Some(0), "{ended}");
        assert!(
            ended.last_line().ends_with(" forfeits (timeout)."),
            "{ended}"
        );
        assert!(ended.elapsed >= Duration::from_millis(250), "{ended}");
        assert_eq!(ended.records()[0]["result"]["reason"], "timeout", "{ended}");
    }
}

fn being_told_that_time_is_up() {
    let session = Session::referee(ANN_AND_BOB.iter().chain(&["--move-time", "300ms"]));
    let ended = session.end();
    let problem = "Ann forfeits (timeout): it was asked `................ -` and given 300 ms";
    assert!(ended.stderr.contains(problem), "{ended}");
}

fn people_play_four_in_a_row() {
    let options = [
        "--game",
        "four-in-a-row",
        "--hint",
        "--record",
        "games.jsonl",
    ];
    let ended = ann_and_bob(
        &options,
        "help\n0\n8\nx\n4 4\n4\n1\n4\n1\n4\npieces\n1\n4\n",
    );
    assert_eq!(ended.code, Some(0), "{ended}");
    for part in [
        "Ann, which column for @ (1 to 7)? 0\nthere is no column 0; columns with room: 1 2 3 4 5 6 7\n",
        "? 8\nthere is no column 8; columns with room: 1 2 3 4 5 6 7\n",
        "? x\n`x` is not a column; expected a number, 1 to 7\n",
        "? 4 4\n`4 4` is not a column",
        "hint: these columns lose immediately: 1 2 3 5 6 7\nBob, which column for O (1 to 7)? pieces\n",
        "who begins plays @, the other O\n",
        " 1. Ann drops into column 4  ",
        "\n  1   2   3   4   5   6   7\n",
    ] {
        assert!(ended.stdout.contains(part), "{part}\n{ended}");
    }
    assert_eq!(
        ended.last_line(),
        "Ann wins: column 4 rows 3 to 6.",
        "{ended}"
    );
    assert_eq!(
        ended.records()[0]["turns"],
        json!(["4", "1", "4", "1", "4", "1", "4"])
    );
    replays(&ended);

    let full = "@......O......@......O......@......O......";
    let ended = ann_and_bob(&["--game", "four-in-a-row", "--start", full], "1\nquit\n");
    let reason = "? 1\ncolumn 1 is full; columns with room: 2 3 4 5 6 7\n";
    assert!(ended.stdout.contains(reason), "{ended}");
}

// On a terminal

/// The referee on a terminal of its own. Its exit status and the terminal's settings are printed
/// afterwards.
fn on_a_terminal(arguments: &[&str], environment: &[(&str, &str)]) -> Session {
    let words: Vec<&str> = [env!("CARGO_BIN_EXE_referee")]
        .iter()
        .chain(arguments)
        .copied()
        .collect();
    // The number of the process is shown first. Ctrl-C is not for the shell.
    let command = format!(
        r#"trap : INT; stty rows 24 cols 80; sh -c 'echo "process $$"; exec "$0" "$@"' {}; echo "status $?"; stty -a"#,
        shell_words::join(words)
    );
    Session::start(
        Command::new("script")
            .args(["-q", "-e", "-c", &command, "/dev/null"])
            .env("SHELL", "/bin/sh")
            .env("TERM", "xterm-256color")
            .env_remove("NO_COLOR")
            .env_remove("CLICOLOR_FORCE")
            .envs(environment.iter().copied()),
    )
}

/// Checks the status and that the terminal's settings are restored; returns the output before.
fn left_sane(session: Session, status: i32) -> String {
    let ended = session.end();
    let shown = ended.stdout.replace('\r', "");
    let end = format!("\nstatus {status}\n");
    let (before, settings) = shown
        .split_once(&end)
        .unwrap_or_else(|| panic!("no status {status}\n{ended}"));
    let settings: Vec<&str> = settings.split_whitespace().collect();
    for setting in ["icanon", "echo", "isig", "icrnl", "opost"] {
        assert!(settings.contains(&setting), "-{setting}\n{ended}");
    }
    before.to_owned()
}

fn lines_are_edited() {
    let mut session = on_a_terminal(&ANN_AND_BOB, &[]);
    session.wait(PIECE);
    session.keys("X\x7fK\r");
    session.wait("\x1b[1mAnn\x1b[0m gives K  ");
    session.wait("Bob, place K big blue square solid on which cell? ");
    // 3, to the left, 1: it is 13.
    session.keys("3\x1b[D1\r");
    session.wait("Bob, which piece for your opponent? ");
    // Two lines up in the history is K.
    session.keys("\x1b[A\x1b[A\r");
    session.wait("K is already on the board");
    session.wait("Bob, which piece for your opponent? ");
    // Away with all that was typed.
    session.keys("nonsense\x15A\r");
    session.wait(" places K on 13, gives A  ");
    session.wait("Ann, place A big red square hollow on which cell? ");
    session.keys("\x04");
    let shown = left_sane(session, 0);
    assert!(shown.contains("Bob wins: Ann left the game."), "{shown}");
}

fn winning_cells_are_coloured() {
    let start = ["--start", "ABC............."];
    let arguments: Vec<&str> = ANN_AND_BOB.iter().chain(&start).copied().collect();
    for (environment, coloured) in [(&[][..], true), (&[("NO_COLOR", "1")], false)] {
        let mut session = on_a_terminal(&arguments, environment);
        session.wait(PIECE);
        session.keys("D\r");
        session.wait("on which cell? ");
        session.keys("4\r");
        let shown = left_sane(session, 0);
        assert!(shown.contains("Bob wins: H1 square, H1 hollow."), "{shown}");
        // Editing moves the cursor all the same; colours end in `m`.
        let last = &shown[shown.find(" 2. ").expect("the last turn")..];
        assert_eq!(
            last.contains("\x1b[42m") || last.contains("\x1b[1m"),
            coloured,
            "{shown}"
        );
        assert_eq!(last.contains("|[D]|"), !coloured, "{shown}");
    }
}

fn interrupting() {
    let play = ["play", "--seed", "1", "--first", "1"];
    for (arguments, prompt) in [
        (&ANN_AND_BOB[..], PIECE),
        (&play, "player 1, which piece for your opponent? "),
        (
            &["human", "builtin:greedy", "--seed", "1", "--first", "1"],
            "human, which piece for your opponent? ",
        ),
    ] {
        let mut session = on_a_terminal(arguments, &[]);
        session.wait(prompt);
        session.keys("half a line\x03");
        let shown = left_sane(session, 130);
        assert!(shown.ends_with("referee: interrupted"), "{shown}");
    }
}

/// Then the terminal is not being edited on: Ctrl-C is a signal.
fn interrupting_while_a_program_thinks() {
    let bot = r"sh -c 'read -r question; read -r nothing'";
    let options = ["--seed", "1", "--first", "1"];
    let arguments: Vec<&str> = ["human", bot].iter().chain(&options).copied().collect();
    let mut session = on_a_terminal(&arguments, &[]);
    session.wait("human, which piece for your opponent? ");
    session.keys("A\r");
    session.wait(" gives A  ");
    session.wait("H4");
    session.keys("\x03");
    let shown = left_sane(session, 130);
    assert!(shown.ends_with("referee: interrupted"), "{shown}");
}

fn ending_the_input() {
    let mut session = on_a_terminal(&ANN_AND_BOB, &[]);
    session.wait(PIECE);
    session.keys("\x04");
    let shown = left_sane(session, 0);
    assert!(shown.contains("Bob wins: Ann left the game."), "{shown}");
    assert!(!shown.contains("referee: "), "{shown}");
}

fn running_out_of_time_at_the_prompt() {
    let time = ["--move-time", "300ms"];
    let arguments: Vec<&str> = ANN_AND_BOB.iter().chain(&time).copied().collect();
    let mut session = on_a_terminal(&arguments, &[]);
    session.wait(PIECE);
    session.keys("half a line");
    let shown = left_sane(session, 0);
    assert!(
        shown.contains("Bob wins: Ann forfeits (timeout)."),
        "{shown}"
    );
}

fn being_ended_at_the_prompt() {
    ended_by("HUP");
    ended_by("TERM");
}

fn being_interrupted_from_elsewhere() {
    ended_by("INT");
}

/// Sends a signal while a person is typing; returns the output.
fn ended_by(signal: &str) -> String {
    let mut session = on_a_terminal(&ANN_AND_BOB, &[]);
    session.wait(PIECE);
    session.keys("half a line");
    session.wait("half a line");
    let shown = String::from_utf8_lossy(&session.said[0]).into_owned();
    let process = shown.lines().find_map(|line| line.strip_prefix("process "));
    let process = process.expect("the number of the process").trim();
    assert!(signals::send(signal, process), "no signal could be sent");
    let shown = left_sane(session, 130);
    assert!(shown.ends_with("referee: interrupted"), "{shown}");
    shown
}

/// Line editing restores the terminal's modes, too: bracketed paste would put `00~` around text
/// pasted into the next program.
fn a_prompt_that_is_left_leaves_no_modes() {
    let shown = ended_by("TERM");
    let switched_on = shown.rsplit_once("\x1b[?2004h");
    let taken_back = switched_on.is_none_or(|(_, after)| after.contains("\x1b[?2004l"));
    assert!(taken_back, "{shown}");
}

/// Whether `script` is the one that knows `-e` and `-c`.
fn script_is_there() -> bool {
    let output = Command::new("script").arg("--version").output();
    output.is_ok_and(|o| String::from_utf8_lossy(&o.stdout).contains("util-linux"))
}

/// Tests with their names.
macro_rules! tests {
    ($($test:ident),* $(,)?) => { [$((stringify!($test), $test as fn())),*] };
}

pub(crate) fn trials() -> Vec<Trial> {
    let through_a_pipe = tests![
        people_have_time,
        a_whole_session,
        the_pieces_are_shown_before_the_first_gift,
        players_take_turns,
        wrong_pieces,
        wrong_cells,
        cells_in_every_form,
        line_ends_of_other_systems,
        bytes_that_are_not_utf8,
        pieces_as_numbers,
        the_record_has_the_pieces_of_the_wire,
        commands_at_every_prompt,
        leaving_at_every_prompt,
        no_input_at_all,
        leaving_ends_the_match,
        a_match_of_two_games,
        against_a_program,
        records_of_people,
        hints,
        names,
        json_is_refused,
        prompts_come_before_the_answers,
        silent_people_lose_when_there_is_a_clock,
        people_play_four_in_a_row,
        nothing_is_asked_in_vain,
        being_told_that_time_is_up,
    ];
    let on_terminals = tests![
        lines_are_edited,
        winning_cells_are_coloured,
        interrupting,
        interrupting_while_a_program_thinks,
        ending_the_input,
        running_out_of_time_at_the_prompt,
        being_ended_at_the_prompt,
        being_interrupted_from_elsewhere,
        a_prompt_that_is_left_leaves_no_modes,
    ];
    let there = script_is_there();
    let run = |test: fn()| {
        move || {
            test();
            Ok(())
        }
    };
    let mut trials = Vec::new();
    for (name, test) in through_a_pipe {
        trials.push(Trial::test(format!("people::{name}"), run(test)));
    }
    for (name, test) in on_terminals {
        let name = format!("people::{name}");
        trials.push(if there {
            Trial::test(name, run(test))
        } else {
            unavailable(name, "script of util-linux", "bsdutils")
        });
    }
    trials
}
