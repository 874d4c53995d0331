//! Every way in which a bot breaks the protocol: the game is lost with the right reason and a
//! sentence that helps, the run goes on, and nothing is left behind ([`common`] looks).
//!
//! The bots are in `tests/bots`. Limits are short where the time is to run out, and long
//! where it is not, so that a busy machine changes nothing.

use std::fs;
use std::io::{Read as _, Write as _};
use std::process::Stdio;
use std::time::Duration;

use crate::common::{Referee, Run, each_of};
use serde_json::Value;

/// Where the time is to run out on the first answer: 0.6 s altogether.
const SHORT: [&str; 4] = ["--move-time", "300ms", "--start-time", "300ms"];

/// For what is seen at once: whoever waits for these limits hangs (`HARD_LIMIT` of `tests/common`).
const LONG: [&str; 4] = ["--move-time", "3600s", "--start-time", "3600s"];

/// A match of `bot` against a good one. The bot opens.
fn opening(bot: &str) -> Referee {
    Referee::new(["--seed", "1", "--first", "1", bot, "builtin:random"]).recorded()
}

/// A match in which `bot` is first asked to place the piece P, in a game that starts with
/// the piece B on cell 1; once it has done so, its opponent forfeits.
fn placing(bot: &str) -> Referee {
    let opponent = r"./script.sh '- P\n'";
    Referee::new(["--seed", "1", "--first", "2", bot, opponent])
        .args(["--start", "B..............."])
        .recorded()
}

/// `script.sh` with these answers.
fn script(answers: &[&str]) -> String {
    let words = ["./script.sh"].iter().chain(answers);
    shell_words::join(words)
}

/// Checks that BOT1 forfeited, and gives the `result` of the record.
#[track_caller]
fn forfeited(run: &Run, reason: &str) -> Value {
    assert_eq!(run.code, Some(0), "{run}");
    let records = run.records();
    assert_eq!(records.len(), 1, "{run}");
    let record = &records[0];
    let name = |bot: usize| record["bots"][bot]["name"].as_str().expect("a name");
    let line = format!("{} wins: {} forfeits ({reason}).", name(1), name(0));
    assert_eq!(run.stdout, format!("{line}\n"), "{run}");
    let result = &record["result"];
    assert_eq!(result["reason"], reason, "{run}");
    assert_eq!(result["winner"], 1, "{run}");
    assert_eq!(result["by"], 0, "{run}");
    let detail = result["detail"].as_str().expect("a sentence");
    let sentence = format!("{} forfeits ({reason}): {detail}.\n", name(0));
    assert!(run.stderr.contains(&sentence), "{run}");
    assert!(
        run.stderr.contains("  reproduce: printf '%s\\n' '"),
        "{run}"
    );
    result.clone()
}

/// Checks that the sentence of a forfeit has these parts.
#[track_caller]
fn says(result: &Value, parts: &[&str]) {
    let detail = result["detail"].as_str().expect("a sentence");
    for part in parts {
        assert!(detail.contains(part), "`{part}` is missing in: {detail}");
    }
}

/// Checks that a whole game was played.
#[track_caller]
fn completed(run: &Run) -> Value {
    assert_eq!(run.code, Some(0), "{run}");
    let [record] = &run.records()[..] else {
        panic!("{run}");
    };
    assert!(
        ["quarto", "draw"].contains(&record["result"]["reason"].as_str().expect("a reason")),
        "{run}"
    );
    record.clone()
}

fn turns(record: &Value) -> Vec<&str> {
    let turns = record["turns"].as_array().expect("turns");
    turns
        .iter()
        .map(|turn| turn.as_str().expect("a turn"))
        .collect()
}

// Item 1

#[test]
fn nothing_comes() {
    let run = opening("./prints-nothing.sh").args(SHORT).run();
    let result = forfeited(&run, "timeout");
    says(
        &result,
        &[
            "it was asked `................ -` and given 600 ms (300 ms, and 300 ms to start); nothing came",
        ],
    );
    assert_eq!(result["answer"], "", "{run}");
    assert!(run.elapsed >= Duration::from_millis(600), "{run}");
}

#[test]
fn nothing_comes_in_mid_game() {
    let run = opening("'./prints-nothing.sh' 1")
        .args(["--move-time", "1s", "--start-time", "10s"])
        .run();
    let result = forfeited(&run, "timeout");
    // The time to start is for the first answer only.
    says(&result, &["and given 1 s; nothing came"]);
    assert_eq!(turns(&run.records()[0]).len(), 2, "{run}");
    assert!(run.elapsed >= Duration::from_secs(1), "{run}");
}

#[test]
fn it_computes_for_ever() {
    let run = opening("./computes.sh").args(SHORT).run();
    let result = forfeited(&run, "timeout");
    // Elsewhere nobody knows what a bot is doing.
    let computing = if cfg!(all(target_os = "linux", not(portable))) {
        "nothing came: it was still computing"
    } else {
        "nothing came"
    };
    says(&result, &["`................ -`", computing]);
}

// Item 2

#[test]
fn part_of_a_line() {
    let run = opening("./part-of-a-line.sh").args(SHORT).run();
    let result = forfeited(&run, "timeout");
    says(
        &result,
        &["only `- A` came, without the end of the line", "newline"],
    );
    assert_eq!(result["answer"], "- A", "{run}");
}

// Item 3

#[test]
fn the_answer_sits_in_the_buffer() {
    // An awk that runs any program as that one.
    let bin = crate::common::plain_directory();
    let awk = "#!/bin/sh\ncat >/dev/null\necho '- A'\n";
    crate::common::files::executable(&bin.path().join("awk"), awk, 0o755);
    let path = std::env::var("PATH").expect("a search path");
    let path = format!("{}:{path}", bin.path().display());
    for (bot, advice) in [
        ("./answers-at-end.sh", ""),
        ("answers-at-end.awk", "; in awk: fflush())"),
    ] {
        let run = opening(bot).args(SHORT).env("PATH", &path).run();
        let result = forfeited(&run, "timeout");
        says(
            &result,
            &[
                "it answered `- ",
                "but only when its input was closed: it holds back its output (flush after every line",
                "or its input (read and answer one line at a time",
                "`referee check BOT` finds out which",
                advice,
            ],
        );
    }
}

/// Elsewhere nobody knows what a bot is doing.
#[cfg(all(target_os = "linux", not(portable)))]
#[test]
fn an_answer_at_the_end_of_the_input_of_a_bot_that_was_computing() {
    let run = opening("./computes-to-the-end.sh")
        .args(["--move-time", "1s", "--start-time", "1s"])
        .run();
    let result = forfeited(&run, "timeout");
    says(&result, &["nothing came: it was still computing"]);
    assert!(!run.stderr.contains("flush"), "{run}");
}

// Items 4, 5 and 14: all with 20 MB of address space for the referee beyond what its code takes, which is more than its
// memory.

/// The limit, in kilobytes. A debug build's code alone takes tens of megabytes, and grows with the program.
pub(crate) fn memory() -> u64 {
    let mut idle = crate::common::command(env!("CARGO_BIN_EXE_referee"))
        .args(["bot", "random"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("the referee");
    // Once it has answered it is all there.
    let mut input = idle.stdin.take().expect("a pipe");
    writeln!(input, "................ -").expect("a request");
    let mut answer = [0; 4];
    idle.stdout
        .take()
        .expect("a pipe")
        .read_exact(&mut answer)
        .expect("an answer");
    let status = fs::read_to_string(format!("/proc/{}/status", idle.id())).unwrap_or_default();
    drop(input);
    idle.wait().expect("its end");
    let size = status.lines().find_map(|line| line.strip_prefix("VmSize:"));
    let size = size.and_then(|size| size.trim().strip_suffix(" kB")?.trim().parse().ok());
    // Without /proc there is no limit on address space either, as on macOS.
    size.unwrap_or(50_000) + 20_000
}

#[test]
fn a_line_of_a_gigabyte() {
    let run = opening("./gigabyte.sh").memory(memory()).run();
    let result = forfeited(&run, "line-too-long");
    says(
        &result,
        &["a line of more than 1024 bytes, which begins with `AAAA"],
    );
    let answer = result["answer"].as_str().expect("an answer");
    assert!((1024..=1025).contains(&answer.len()), "{run}");
}

#[test]
fn a_flood_of_lines() {
    let run = opening("./floods.sh").memory(memory()).run();
    let result = forfeited(&run, "extra-output");
    says(
        &result,
        &[
            "more than one line: ",
            "it answered `A` and then `A\\nA\\nA\\n",
            "debugging text belongs on stderr",
        ],
    );
}

#[test]
fn a_flood_on_stderr_disturbs_nobody() {
    let run = opening("./floods-stderr.sh").memory(memory()).run();
    completed(&run);
}

#[test]
fn a_flood_on_stderr_in_place_of_an_answer() {
    let limits = ["--move-time", "2s", "--start-time", "2s"];
    let run = opening("./floods-stderr.sh then-sleeps").args(limits).run();
    let result = forfeited(&run, "timeout");
    let told = [
        "; nothing came on standard output, and more than ",
        " KiB on stderr",
    ];
    says(&result, &told);
}

#[test]
fn a_flood_on_stderr_before_the_question_is_read() {
    let limits = ["--move-time", "2s", "--start-time", "2s"];
    let run = opening("./floods-stderr.sh never-reads").args(limits).run();
    let result = forfeited(&run, "timeout");
    says(
        &result,
        &[
            "; nothing came on standard output, and more than ",
            " on stderr",
        ],
    );
}

#[test]
fn the_end_of_a_flood_on_stderr_is_kept() {
    let run = opening("./floods-stderr.sh then-exits")
        .memory(memory())
        .run();
    let result = forfeited(&run, "exited");
    let stderr = result["stderr"].as_str().expect("stderr");
    assert!(stderr.ends_with("xxx\nthe last sentence\n"), "{run}");
    assert_eq!(stderr.len(), 4096, "{run}");
    assert!(run.stderr.contains("    the last sentence\n"), "{run}");
}

/// Both streams are read, whatever comes on the other, with newlines and without, and with nothing but zeros.
#[test]
fn floods_of_both_streams_end_the_game_all_the_same() {
    let limit = memory();
    let floods = [
        (
            "yes noise",
            "yes A",
            "extra-output",
            r"it answered `A` and then `A\nA\nA\n",
        ),
        (
            "tr '\\0' x </dev/zero",
            "tr '\\0' A </dev/zero",
            "line-too-long",
            "a line of more than 1024 bytes, which begins with `AAAA",
        ),
        (
            "cat /dev/zero",
            "cat /dev/zero",
            "line-too-long",
            r"a line of more than 1024 bytes, which begins with `\x00\x00",
        ),
        (
            "cat /dev/zero",
            "yes A",
            "extra-output",
            r"it answered `A` and then `A\nA\nA\n",
        ),
    ];
    each_of(&floods, |(errors, output, reason, part)| {
        let bot = format!("read -r request; {errors} >&2 & exec {output}");
        let bot = shell_words::join(["sh", "-c", &bot]);
        let run = opening(&bot).args(LONG).memory(limit).run();
        says(&forfeited(&run, reason), &[part]);
        assert!(run.stderr.len() < 20_000, "{run}");
    });
}

/// A letter may be cut where what is kept begins or ends; zeros are told from nothing.
#[test]
fn cut_letters_and_zeros_are_told_as_they_came() {
    let euros = |count: usize| "€".repeat(count);
    // The kept end of 4096 bytes begins with the last byte of one, and the kept beginning of a line ends within one.
    for (stderr, answer, reason, kept, told) in [
        (
            euros(2000),
            String::new(),
            "exited",
            format!(r"\xac{}", euros(1365)),
            String::new(),
        ),
        (
            r"a\0000b\0303".into(),
            String::new(),
            "exited",
            r"a\x00b\xc3".into(),
            String::new(),
        ),
        (
            r"\0000".into(),
            r"\0000\n".into(),
            "illegal-move",
            r"\x00".into(),
            r"\x00".into(),
        ),
        (
            "x".into(),
            r"\0342\0202\n".into(),
            "not-utf8",
            "x".into(),
            r"\xe2\x82".into(),
        ),
        (
            "x".into(),
            format!(r"{}\n", euros(400)),
            "line-too-long",
            "x".into(),
            format!(r"{}\xe2\x82", euros(341)),
        ),
    ] {
        let words = [format!("!{stderr}"), answer.clone()];
        let words = words
            .iter()
            .map(String::as_str)
            .filter(|word| !word.is_empty());
        let run = opening(&script(&words.collect::<Vec<_>>()))
            .args(LONG)
            .run();
        let result = forfeited(&run, reason);
        assert_eq!(result["stderr"], kept, "{run}");
        assert_eq!(result["answer"], told, "{run}");
    }
}

// Item 6

#[test]
fn debugging_text_after_the_answer() {
    let run = opening("./second-line.sh after").run();
    let result = forfeited(&run, "extra-output");
    says(
        &result,
        &[
            "more than one line: it answered `- ",
            "` and then `thinking: 42`",
            "debugging text belongs on stderr",
        ],
    );
}

#[test]
fn debugging_text_before_the_answer() {
    let run = opening("./second-line.sh before").run();
    let result = forfeited(&run, "extra-output");
    says(
        &result,
        &[
            "more than one line: it answered `thinking: 42` and then `- ",
            "debugging text belongs on stderr",
        ],
    );
}

#[test]
fn debugging_text_long_after_the_answer() {
    let run = Referee::new(["--seed", "1", "--first", "1"])
        .args(["./second-line.sh late", "./waits.sh"])
        .recorded()
        .run();
    let result = forfeited(&run, "extra-output");
    says(
        &result,
        &[
            "more than one line: after its answer `- ",
            "` it wrote `thinking: 42` before it was asked again",
            "debugging text belongs on stderr",
        ],
    );
    // The answer itself was good.
    assert_eq!(turns(&run.records()[0]).len(), 2, "{run}");
}

#[test]
fn debugging_text_alone() {
    let run = opening(&script(&[r"thinking: 42\n"])).run();
    let result = forfeited(&run, "malformed");
    says(
        &result,
        &[
            "it answered `thinking: 42`",
            "debugging text belongs on stderr",
        ],
    );
}

// Item 7

/// It answered well before, and each question with one line.
#[test]
fn a_second_answer_that_is_none() {
    let run = opening(&script(&[r"- K\n", r"what\n"])).run();
    let result = forfeited(&run, "malformed");
    says(&result, &["it answered `what`"]);
}

#[test]
fn an_answer_before_the_question() {
    let run = Referee::new(["--seed", "1", "--first", "2"])
        .args(["./too-early.sh", "./waits.sh"])
        .recorded()
        .run();
    let result = forfeited(&run, "extra-output");
    says(&result, &["it wrote `6 A` before it was asked"]);
}

/// Its last line is the cause, not its first.
#[test]
fn an_error_message_on_standard_output_is_told_as_one() {
    let run = opening("./errors-on-stdout.sh").args(LONG).run();
    let result = forfeited(&run, "extra-output");
    let message = "looks like an error message of Python: `IndexError: list index out of range` (line 3 of bot.py)";
    says(&result, &[message]);
    let answer = result["answer"].as_str().expect("a text");
    assert!(answer.starts_with("Traceback"), "{run}");
}

/// The machine decides whether its line, its exit or the question comes first; not what is said of it.
#[test]
fn a_bot_that_says_something_and_exits_unasked_is_told_the_same_each_time() {
    let runs: Vec<usize> = (0..50).collect();
    each_of(&runs, |_| {
        let run = opening("./says-and-ends.sh").args(LONG).run();
        let result = forfeited(&run, "extra-output");
        let said = "it wrote `cannot open the book of openings` before it was asked";
        says(&result, &[said]);
        assert_eq!(
            result["answer"], "\\ncannot open the book of openings\\n",
            "{run}"
        );
    });
}

// Item 8

#[test]
fn blanks_and_carriage_returns_are_accepted() {
    let run = opening("./crlf.sh").run();
    let record = completed(&run);
    // Records hold the canonical form.
    for turn in turns(&record) {
        assert_eq!(turn.split(' ').count(), 2, "{run}");
        assert!(!turn.starts_with('0') && turn.trim() == turn, "{run}");
    }
}

// Items 9 and 10

/// What comes of an answer that is not a plain one.
enum Odd {
    /// It is accepted, and recorded like this.
    Accepted(&'static str),
    /// It is a forfeit with this reason, and this in its sentence.
    Forfeit(&'static str, &'static str),
}

use Odd::{Accepted, Forfeit};

/// The board is `B...............` and P is to be placed. The answers are without newline.
const ODD_ANSWERS: &[(&str, Odd)] = &[
    (r"-1 A", Forfeit("malformed", "`-1` is not a cell")),
    (r"+3 A", Forfeit("malformed", "`+3` is not a cell")),
    (r"3.0 A", Forfeit("malformed", "`3.0` is not a cell")),
    (r"0x3 A", Forfeit("malformed", "`0x3` is not a cell")),
    (r"003 A", Forfeit("malformed", "`003` is not a cell")),
    (r"3e0 A", Forfeit("malformed", "`3e0` is not a cell")),
    (r"-1", Forfeit("malformed", "`-1` is not a cell")),
    (r"3.0", Forfeit("malformed", "`3.0` is not a cell")),
    (r"", Forfeit("malformed", "an empty line")),
    (r" \t ", Forfeit("malformed", "an empty line")),
    (r"hello", Forfeit("malformed", "`hello`")),
    (r"my move is 3", Forfeit("malformed", "more than two words")),
    (r"I resign", Forfeit("malformed", "`I resign`")),
    (r"3", Forfeit("malformed", "the gift is missing")),
    (r"03", Forfeit("malformed", "the gift is missing")),
    (r"3 A B", Forfeit("malformed", "more than two words")),
    (r"3A", Forfeit("malformed", "`3A` is not a cell")),
    (r"3,A", Forfeit("malformed", "`3,A` is not a cell")),
    (r"A 3", Forfeit("malformed", "`A` is not a cell")),
    (
        r"3 AC",
        Forfeit("malformed", "the gift `AC` is not one character"),
    ),
    // ARABIC-INDIC DIGIT THREE, FULLWIDTH DIGIT THREE
    (r"٣ A", Forfeit("malformed", "`٣` is not a cell")),
    (r"\0331\0243 A", Forfeit("malformed", "`٣` is not a cell")),
    (r"３ A", Forfeit("malformed", r"`\u{ff13}` is not a cell")),
    (
        r"3 Ａ",
        Forfeit("illegal-move", r"`\u{ff21}` is not a piece of this set"),
    ),
    // A no-break space does not separate.
    (r"3\0302\0240A", Forfeit("malformed", "is not a cell")),
    (
        r"\0357\0273\02773 A",
        Forfeit("malformed", r"it answered `\u{feff}3 A`"),
    ),
    (r"3\0000 A", Forfeit("malformed", r"it answered `3\x00 A`")),
    (r"3 A\0000", Forfeit("malformed", r"it answered `3 A\x00`")),
    (r"3 A\r ", Forfeit("malformed", r"it answered `3 A\r `")),
    (
        r"\0377 A",
        Forfeit("not-utf8", r"it answered `\xff A`, which is not UTF-8 text"),
    ),
    (r"3 \0303", Forfeit("not-utf8", r"it answered `3 \xc3`")),
    (
        r"3 \0355\0240\0200",
        Forfeit("not-utf8", r"it answered `3 \xed\xa0\x80`"),
    ),
    (r"0 A", Forfeit("illegal-move", "there is no cell 0")),
    (r"00 A", Forfeit("illegal-move", "there is no cell 0")),
    (r"17 A", Forfeit("illegal-move", "there is no cell 17")),
    (r"99 A", Forfeit("illegal-move", "there is no cell 99")),
    (r"01 A", Forfeit("illegal-move", "cell 1 is occupied by B")),
    (r"3 A", Accepted("3 A")),
    (r"03 A", Accepted("3 A")),
    (r"16 A", Accepted("16 A")),
    (r"\t3\t \tA", Accepted("3 A")),
    (r"3 A   ", Accepted("3 A")),
    (r"3 A \t", Accepted("3 A")),
    (r"3 A\r", Accepted("3 A")),
    (r"  3 A \t\r", Accepted("3 A")),
];

#[test]
fn odd_answers() {
    each_of(ODD_ANSWERS, |(answer, expected)| {
        let run = placing(&script(&[&format!(r"{answer}\n")])).run();
        match expected {
            Accepted(turn) => {
                assert_eq!(run.code, Some(0), "{run}");
                let record = &run.records()[0];
                assert_eq!(turns(record), ["- P", turn], "{answer}: {run}");
                // The opponent's script is over.
                assert_eq!(record["result"]["by"], 1, "{answer}: {run}");
            }
            Forfeit(reason, part) => {
                let result = forfeited(&run, reason);
                says(&result, &[part]);
                assert_eq!(turns(&run.records()[0]), ["- P"], "{run}");
                // Nothing of it reaches a terminal as it is.
                assert!(
                    run.stderr.chars().all(|c| c == '\n' || !c.is_control()),
                    "{run}"
                );
                assert!(!run.stderr.contains('\u{feff}'), "{run}");
            }
        }
    });
}

#[test]
fn long_answers() {
    let result = |answer: &str, reason| {
        let run = placing(&script(&[&format!(r"{answer}\n")])).run();
        forfeited(&run, reason)
    };
    let digits = result(&"3".repeat(10_000), "line-too-long");
    says(&digits, &["more than 1024 bytes", "`3333"]);
    // 1024 bytes are a line, and 1025 are not.
    let digits = result(&"3".repeat(1024), "malformed");
    says(&digits, &["3333", "is not a cell", "(1024 bytes)"]);
    result(&"3".repeat(1025), "line-too-long");
    let blanks = format!(r"3{}A\n", " ".repeat(1022));
    let run = placing(&script(&[&blanks])).run();
    assert_eq!(turns(&run.records()[0]), ["- P", "3 A"], "{run}");
}

// Item 11

#[test]
fn illegal_moves() {
    let free = "free cells: 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16";
    let left = "pieces left: A C D E F G H I J K L M N O";
    for (answer, problem, legal) in [
        ("1 A", "cell 1 is occupied by B", free),
        ("0 A", "there is no cell 0", free),
        ("17 A", "there is no cell 17", free),
        ("- A", "the piece P is in hand and must be placed", free),
        ("2 B", "the gift B is on the board already", left),
        ("2 P", "the gift P is the piece that was in hand", left),
        ("2 Z", "the gift `Z` is not a piece of this set", left),
        ("2 a", "the gift `a` is not a piece of this set", left),
        ("2 -", "but one is due", left),
    ] {
        let run = placing(&script(&[&format!(r"{answer}\n")])).run();
        let result = forfeited(&run, "illegal-move");
        says(
            &result,
            &[&format!("it answered `{answer}`: "), problem, legal],
        );
        assert_eq!(result["answer"], answer, "{run}");
        assert_eq!(run.reproduce(), format!("{answer}\n").into_bytes(), "{run}");
        assert!(
            run.stderr.contains("  position: B............... P\n"),
            "{run}"
        );
    }
}

#[test]
fn illegal_openings() {
    for (answer, problem) in [
        ("6 A", "there is no piece in hand to place on cell 6"),
        (
            "- Z",
            "the gift `Z` is not a piece of this set; pieces left: A B C",
        ),
        (
            "Z",
            "the gift `Z` is not a piece of this set; pieces left: A B C",
        ),
        ("-", "but one is due"),
        ("- -", "but one is due"),
    ] {
        let run = opening(&script(&[&format!(r"{answer}\n")])).run();
        let result = forfeited(&run, "illegal-move");
        says(&result, &[problem]);
        assert_eq!(run.reproduce(), format!("{answer}\n").into_bytes(), "{run}");
    }
}

// Item 12

#[test]
fn an_answer_counts_although_the_bot_exits_after_it() {
    let run = opening("./exits-after.sh 2").run();
    let result = forfeited(&run, "exited");
    says(
        &result,
        &["it answered 2 questions, then ended (exit status 0): keep reading until the input ends"],
    );
    // Two of its own and two of its opponent's.
    assert_eq!(turns(&run.records()[0]).len(), 4, "{run}");
}

#[test]
fn a_bot_that_answers_once_is_asked_twice_to_see_it_again() {
    let run = opening("./exits-after.sh 1").run();
    let result = forfeited(&run, "exited");
    says(
        &result,
        &[
            "it answered one question, then ended (exit status 0): keep reading until the input ends",
        ],
    );
    let again = run.stderr.lines().find(|line| line.contains("reproduce:"));
    let question = |line: &str| line.matches("'...").count() + line.matches(" '.").count();
    let asked = again.map(|line| line.split(" | ").next().map(question));
    assert!(asked > Some(Some(1)), "{run}");
    // To two questions it gives one answer.
    let answers = run.reproduce();
    assert_eq!(
        String::from_utf8_lossy(&answers).lines().count(),
        1,
        "{run}"
    );
}

// Item 13

#[test]
fn the_bot_ends_in_mid_game() {
    for (how, words) in [
        (
            "0",
            "it answered 2 questions, then ended (exit status 0): keep reading until the input ends",
        ),
        ("1", "it ended with exit status 1 instead of answering"),
        (
            "42 '7 '",
            "it ended with exit status 42 instead of answering, after writing `7 `",
        ),
        (
            "SEGV",
            "it was killed by the signal SIGSEGV instead of answering",
        ),
        (
            "KILL",
            "it was killed by the signal SIGKILL instead of answering",
        ),
        (
            "TERM",
            "it was killed by the signal SIGTERM instead of answering",
        ),
    ] {
        // The kernel may kill the processes of another test meanwhile.
        let is_void = |run: &Run| run.stderr.contains("for want of memory");
        let mut runs = (0..5).map(|_| opening(&format!("./ends.sh {how}")).run());
        let run = runs.find(|run| !is_void(run)).expect("a result");
        let result = forfeited(&run, "exited");
        says(&result, &[words]);
        assert_eq!(result["stderr"], "something went wrong\n", "{run}");
        let end = "  the end of its stderr:\n    something went wrong\n";
        assert!(run.stderr.contains(end), "{run}");
        assert_eq!(turns(&run.records()[0]).len(), 4, "{run}");
    }
}

// Items 15 and 16. These faults are seen at once.

#[test]
fn a_closed_output() {
    let run = opening("./closes-stdout.sh").args(LONG).run();
    let result = forfeited(&run, "closed");
    says(
        &result,
        &["it closed its standard output instead of answering, and lived on"],
    );
}

#[test]
fn a_closed_input() {
    let run = opening("./closes-stdin.sh").args(LONG).run();
    let result = forfeited(&run, "closed");
    says(
        &result,
        &["it closed its standard input instead of answering, and lived on"],
    );
    assert_eq!(turns(&run.records()[0]).len(), 2, "{run}");
}

// Item 17; a write that cannot be completed is in `channel.rs`.

#[test]
fn a_question_that_is_not_read() {
    let run = opening("./never-reads.sh").args(SHORT).run();
    let result = forfeited(&run, "timeout");
    says(&result, &["nothing came", "it had not read the question"]);
}

// Item 18

#[test]
fn requests_to_end_that_are_ignored() {
    let run = opening("./ignores-term.sh").args(SHORT).run();
    let result = forfeited(&run, "timeout");
    says(&result, &["nothing came"]);
}

// Item 19

#[test]
fn a_bot_that_stops_itself() {
    let run = opening("./stops-itself.sh").args(SHORT).run();
    let result = forfeited(&run, "timeout");
    says(
        &result,
        &["nothing came: the program was stopped", "SIGSTOP"],
    );
}

// Item 20

#[test]
fn a_child_that_outlives_the_game() {
    let run = opening("./leaves-child.sh plays").args(LONG).run();
    completed(&run);
}

#[test]
fn the_end_of_a_bot_is_seen_although_a_child_holds_its_output() {
    let run = opening("./leaves-child.sh exits").args(LONG).run();
    let result = forfeited(&run, "exited");
    says(
        &result,
        &["it ended with exit status 3 instead of answering"],
    );
}

// Item 21

/// Elsewhere a process that has left its group is not found.
#[cfg(all(target_os = "linux", not(portable)))]
#[test]
fn a_daemon() {
    let run = opening("./daemon.sh").run();
    completed(&run);
    let pid = run.file("daemon");
    assert!(
        pid.trim().parse::<u32>().is_ok(),
        "the daemon never ran: {run}"
    );
    let process = std::path::Path::new("/proc").join(pid.trim());
    assert!(!process.exists(), "{run}");
}

#[test]
fn processes_that_fork_and_exit() {
    let run = opening("./forks-and-exits.sh").run();
    completed(&run);
}

// Item 22

#[test]
fn a_slow_start() {
    let slow = |start: &str| {
        opening("./slow-start.sh")
            .args(["--move-time", "800ms", "--start-time", start])
            .run()
    };
    let run = slow("10s");
    completed(&run);
    assert!(run.elapsed > Duration::from_millis(1200), "{run}");
    let run = slow("100ms");
    let result = forfeited(&run, "timeout");
    says(
        &result,
        &["given 900 ms (800 ms, and 100 ms to start); nothing came"],
    );
}

// Item 24

#[test]
fn a_crash_in_every_third_game() {
    let run = Referee::new(["--seed", "1", "--first", "1", "-n", "6"])
        .args(["./crashes-every-third-game.sh", "builtin:random"])
        .recorded()
        .run();
    assert_eq!(run.code, Some(0), "{run}");
    let records = run.records();
    assert_eq!(records.len(), 6, "{run}");
    for (i, record) in records.iter().enumerate() {
        let crashed = i % 3 == 2;
        assert_eq!(record["result"]["reason"] == "exited", crashed, "{run}");
        assert_eq!(record["result"]["by"] == 0, crashed, "{run}");
        // It plays on in the same seats.
        assert_eq!(record["first"], i % 2, "{run}");
    }
    assert!(!run.stderr.contains("benched"), "{run}");
    assert!(run.last_line().ends_with("losses in 6 games)."), "{run}");
}

#[test]
fn a_crash_in_the_second_seat_only() {
    for seat in ["1", "2"] {
        let run = Referee::new(["--seed", "1", "--first", seat, "-n", "8"])
            .args(["./second-seat.sh", "builtin:random"])
            .recorded()
            .run();
        assert_eq!(run.code, Some(0), "{run}");
        let records = run.records();
        assert_eq!(records.len(), 8, "{run}");
        for record in &records {
            let second = record["first"] == 1;
            assert_eq!(record["result"]["reason"] == "exited", second, "{run}");
            assert_eq!(record["result"]["by"] == 0, second, "{run}");
        }
        assert!(!run.stderr.contains("benched"), "{run}");
    }
}

#[test]
fn a_bot_that_never_starts_is_benched() {
    let run = Referee::new([
        "--seed",
        "1",
        "-n",
        "100",
        "./never-starts.sh",
        "builtin:random",
    ])
    .recorded()
    .run();
    assert_eq!(run.code, Some(0), "{run}");
    assert_eq!(run.file("starts").lines().count(), 3, "{run}");
    let records = run.records();
    assert_eq!(records.len(), 100, "{run}");
    for (i, record) in records.iter().enumerate() {
        assert_eq!(record["result"]["reason"], "exited", "{run}");
        assert_eq!(record["result"]["winner"], 1, "{run}");
        let detail = record["result"]["detail"].as_str().expect("a sentence");
        assert_eq!(detail.starts_with("not played: "), i >= 3, "{run}");
    }
    let benched = "never-starts.sh failed to give a first answer 3 times in a row and is benched: the remaining 97 games";
    assert_eq!(run.stderr.matches(benched).count(), 1, "{run}");
    let score = run.last_line();
    assert!(score.starts_with("Score: never-starts.sh 0 "), "{run}");
    assert!(score.contains("100 losses in 100 games"), "{run}");
}

#[test]
fn an_answer_makes_up_for_failed_starts() {
    let run = Referee::new(["--seed", "1", "-n", "9", "--restart"])
        .args(["./starts-every-third-time.sh", "builtin:random"])
        .recorded()
        .run();
    assert_eq!(run.code, Some(0), "{run}");
    assert_eq!(run.file("starts").lines().count(), 9, "{run}");
    let records = run.records();
    for (i, record) in records.iter().enumerate() {
        let failed = i % 3 < 2;
        assert_eq!(record["result"]["reason"] == "exited", failed, "{run}");
    }
    assert!(!run.stderr.contains("benched"), "{run}");
}

// Seeing it again, for faults whose command shows something

/// A crash that depends on what the process was asked before.
#[test]
fn a_fault_of_a_later_question_is_seen_again_after_those_before() {
    let run = Referee::new(["--sandbox", "none", "--seed", "1", "--first", "1"])
        .args(["./ends.sh SEGV", "builtin:random"])
        .recorded()
        .run();
    forfeited(&run, "exited");
    let again = String::from_utf8(run.reproduce()).expect("text");
    assert_eq!(again.lines().count(), 2, "{again}\n{run}");
}

#[test]
fn faults_can_be_seen_again() {
    for (bot, reason, shown) in [
        (
            script(&[r"it's \0302\0253fine\0302\0273\n"]),
            "malformed",
            "it's «fine»\n",
        ),
        (script(&[r"\t\0377\n"]), "not-utf8", "\t\\xff\n"),
        (
            script(&[r"- A\nand \0044HOME\n"]),
            "extra-output",
            "- A\nand $HOME\n",
        ),
    ] {
        let run = opening(&bot).run();
        forfeited(&run, reason);
        let again = run.reproduce();
        let again = again.escape_ascii().to_string();
        let shown = shown.as_bytes().escape_ascii().to_string();
        assert_eq!(again, shown.replace("\\\\xff", "\\xff"), "{run}");
    }
    let run = opening("./part-of-a-line.sh").args(SHORT).run();
    forfeited(&run, "timeout");
    assert_eq!(run.reproduce(), b"- A", "{run}");
    let run = opening("sh -c 'cat >/dev/null; echo - A'")
        .args(SHORT)
        .run();
    forfeited(&run, "timeout");
    assert_eq!(run.reproduce(), b"- A\n", "{run}");
}

/// What one bot does costs the next match nothing: two faulty bots meet.
#[test]
fn two_faulty_bots() {
    let run = Referee::new(["--seed", "1", "--first", "1", "-n", "4"])
        .args(["./exits-after.sh 1", "./exits-after.sh 1"])
        .recorded()
        .run();
    assert_eq!(run.code, Some(0), "{run}");
    for record in run.records() {
        assert_eq!(record["result"]["reason"], "exited", "{run}");
        assert_ne!(record["result"]["by"], record["result"]["winner"], "{run}");
    }
    assert!(run.stdout.contains("exits-after.sh#1"), "{run}");
    assert!(run.stdout.contains("exits-after.sh#2"), "{run}");
}
