//! The rules of the shipped games that are programs, in each language: held against a second implementation, made from what the
//! heads of their files say and in another way, and against games that others have counted.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::thread;

use libtest_mimic::{Failed, Trial};
use rand::rngs::StdRng;
use rand::{RngExt as _, SeedableRng as _};
use serde_json::{Value, json};

use crate::requirements::{program, unavailable};

/// Name, extension, the program that is needed, and its Debian package.
const LANGUAGES: [(&str, &str, &str, &str); 3] = [
    ("python", "py", "python3", "python3"),
    ("javascript", "js", "node", "nodejs"),
    ("c", "c", "cc", "gcc"),
];

type Test = fn(&mut GameProcess) -> Result<(), Failed>;

const GAMES: [(&str, Test); 4] = [
    ("tic-tac-toe", tic_tac_toe),
    ("othello", othello),
    ("gomoku", gomoku),
    ("dots-and-boxes", dots_and_boxes),
];

pub(crate) fn trials() -> Vec<Trial> {
    let all = GAMES
        .into_iter()
        .flat_map(|game| LANGUAGES.map(|language| (game, language)));
    let trials = all.map(|((game, test), (language, extension, command, package))| {
        let name = format!("game_rules::{game}_in_{language}");
        if program(command, &[]).is_none() {
            return unavailable(name, command, package);
        }
        Trial::test(name, move || {
            test(&mut GameProcess::start(game, extension)?)
        })
    });
    trials.collect()
}

/// A game's program, asked as protocol-games.md says.
struct GameProcess {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
    /// What was compiled.
    _scratch: tempfile::TempDir,
}

impl Drop for GameProcess {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl GameProcess {
    fn start(game: &str, extension: &str) -> Result<Self, Failed> {
        let scratch = tempfile::tempdir()?;
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("games");
        let source = source.join(game).with_extension(extension);
        let compiled = scratch.path().join(game);
        let mut command = match extension {
            "py" => Command::new("python3"),
            "js" => Command::new("node"),
            _ => {
                let compile = Command::new("cc")
                    .args(["-std=c11", "-O2", "-o"])
                    .args([&compiled, &source])
                    .status()?;
                if !compile.success() {
                    return Err(format!("{} cannot be compiled", source.display()).into());
                }
                Command::new(&compiled)
            }
        };
        if extension != "c" {
            command.arg(&source);
        }
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()?;
        let input = child.stdin.take().ok_or("a pipe")?;
        let output = BufReader::new(child.stdout.take().ok_or("a pipe")?);
        Ok(Self {
            child,
            input,
            output,
            _scratch: scratch,
        })
    }

    /// All questions are written while answers are read.
    fn ask_all(&mut self, questions: &[Value]) -> Result<Vec<Value>, Failed> {
        let lines = questions
            .iter()
            .flat_map(|question| [question.to_string(), "\n".to_owned()]);
        let lines: String = lines.collect();
        let (input, output, child) = (&mut self.input, &mut self.output, &mut self.child);
        let mut answer = |question: &Value| -> Result<Value, Failed> {
            let mut line = String::new();
            output.read_line(&mut line)?;
            let answer = serde_json::from_str(&line);
            Ok(answer.map_err(|error| format!("{question}: {line:?}: {error}"))?)
        };
        thread::scope(|scope| {
            // Where this fails, an answer is missing.
            scope.spawn(move || input.write_all(lines.as_bytes()));
            let answers: Result<Vec<Value>, Failed> = questions.iter().map(&mut answer).collect();
            if answers.is_err() {
                // Nothing reads its answers any more, so it may read no more questions.
                child.kill()?;
            }
            answers
        })
    }

    fn ask(&mut self, question: Value) -> Result<Value, Failed> {
        let answers = self.ask_all(&[question])?;
        Ok(answers.into_iter().next().unwrap_or_default())
    }

    fn start_game(&mut self, options: &Value) -> Result<Value, Failed> {
        self.ask(json!({"do": "start", "options": options, "seed": 1}))
    }

    /// How many sequences of turns there are from the start: of each length up to `depth`, and, where these are whole games, with
    /// each winner.
    fn count(
        &mut self,
        options: &Value,
        depth: usize,
        are_whole: bool,
    ) -> Result<GameCounts, Failed> {
        let start = self.start_game(options)?;
        let mut counts = GameCounts::default();
        let mut level = BTreeMap::from([(text(&start["state"]), 1)]);
        for ply in 1..=depth {
            let states: Vec<(String, u64)> = std::mem::take(&mut level).into_iter().collect();
            let asked = states
                .iter()
                .map(|(state, _)| json!({"do": "answers", "state": state}));
            let answers = self.ask_all(&asked.collect::<Vec<_>>())?;
            let mut turns = Vec::new();
            for ((state, ways), answers) in states.iter().zip(&answers) {
                let answers = answers["answers"].as_array().ok_or("answers")?;
                turns.extend(answers.iter().map(|answer| (state, *ways, answer)));
            }
            counts
                .of_length
                .push(turns.iter().map(|(_, ways, _)| ways).sum());
            if ply == depth && !are_whole {
                break;
            }
            let asked = turns
                .iter()
                .map(|(state, _, answer)| json!({"do": "play", "state": state, "answer": answer}));
            let positions = self.ask_all(&asked.collect::<Vec<_>>())?;
            for ((_, ways, _), position) in turns.iter().zip(positions) {
                let over = &position["over"];
                let count = if over.is_object() {
                    counts.over.entry(over["winner"].as_u64()).or_default()
                } else {
                    level.entry(text(&position["state"])).or_default()
                };
                *count += ways;
            }
        }
        Ok(counts)
    }
}

#[derive(Debug, Default, PartialEq, Eq)]
struct GameCounts {
    of_length: Vec<u64>,
    /// By the winner; `None` for draws.
    over: BTreeMap<Option<u64>, u64>,
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

fn same<T: PartialEq + std::fmt::Debug>(found: &T, expected: &T, what: &str) -> Result<(), Failed> {
    if found == expected {
        return Ok(());
    }
    Err(format!("{what}: {found:?}, expected {expected:?}").into())
}

/// The rules once more: a game in some position.
trait Rules {
    /// All that could be an answer, legal or not.
    fn known(&self) -> Vec<String>;

    /// The legal ones; none when the game is over.
    fn answers(&self) -> BTreeSet<String>;

    fn play(&mut self, answer: &str);

    /// What the program must say, but for the state and what `play` adds.
    fn position(&self) -> Value;
}

/// What a program says of a position, as far as the rules decide it.
fn decided(told: &Value) -> Value {
    let mut told = told.clone();
    if let Some(fields) = told.as_object_mut() {
        for field in ["state", "turn", "words"] {
            fields.remove(field);
        }
    }
    if let Some(Value::Array(lines)) = told.pointer_mut("/over/lines") {
        lines.sort_by_key(ToString::to_string);
    }
    told
}

/// Plays a game as `choose` chooses, to its end or until it chooses nothing. What the program says of each position is compared
/// with the second implementation; where `is_thorough`, what is legal and what is refused, too.
fn follow(
    process: &mut GameProcess,
    options: &Value,
    game: &mut impl Rules,
    is_thorough: bool,
    choose: &mut dyn FnMut(&BTreeSet<String>) -> Option<String>,
) -> Result<Vec<String>, Failed> {
    let mut told = process.start_game(options)?;
    let mut played = Vec::new();
    loop {
        let expected = game.position();
        same(&decided(&told), &expected, &format!("after {played:?}"))?;
        let legal = game.answers();
        let state = told["state"].clone();
        if is_thorough {
            check_position(process, game, &state, &expected, &legal)?;
        }
        let Some(answer) = (!legal.is_empty()).then(|| choose(&legal)).flatten() else {
            return Ok(played);
        };
        told = process.ask(json!({"do": "play", "state": state, "answer": answer}))?;
        same(&told["turn"], &json!(answer), "the turn")?;
        game.play(&answer);
        played.push(answer);
    }
}

/// The state alone gives the same position; the answers are the legal ones, and others are refused.
fn check_position(
    process: &mut GameProcess,
    game: &impl Rules,
    state: &Value,
    expected: &Value,
    legal: &BTreeSet<String>,
) -> Result<(), Failed> {
    let told = process.ask(json!({"do": "position", "state": state}))?;
    same(&decided(&told), expected, "of the state alone")?;
    same(&told["state"], state, "the state")?;
    if legal.is_empty() {
        return Ok(());
    }
    let told = process.ask(json!({"do": "answers", "state": state}))?;
    let listed = told["answers"].as_array().ok_or("answers")?;
    let listed: Vec<String> = listed.iter().map(text).collect();
    let distinct: BTreeSet<String> = listed.iter().cloned().collect();
    same(
        &(listed.len(), &distinct),
        &(legal.len(), legal),
        "the answers",
    )?;
    let illegal = game
        .known()
        .into_iter()
        .filter(|answer| !legal.contains(answer));
    for (answer, field) in illegal
        .take(3)
        .map(|answer| (answer, "illegal"))
        .chain([("what".to_owned(), "malformed")])
    {
        let told = process.ask(json!({"do": "play", "state": state, "answer": answer}))?;
        if !told[field].is_string() {
            return Err(format!("{answer} in {state}: {told}, expected `{field}`").into());
        }
    }
    Ok(())
}

/// Chooses by chance.
fn by_chance(random: &mut StdRng) -> impl FnMut(&BTreeSet<String>) -> Option<String> {
    move |legal: &BTreeSet<String>| {
        let place = random.random_range(0..legal.len());
        legal.iter().nth(place).cloned()
    }
}

/// Chooses these, one after the other.
fn script(
    answers: impl IntoIterator<Item = String>,
) -> impl FnMut(&BTreeSet<String>) -> Option<String> {
    let mut answers = answers.into_iter();
    move |_| answers.next()
}

/// The figures are in every text about the game: 255,168 games, of which X wins 131,184 and O 77,904.
fn tic_tac_toe(process: &mut GameProcess) -> Result<(), Failed> {
    let found = process.count(&json!({}), 9, true)?;
    let expected = GameCounts {
        of_length: vec![9, 72, 504, 3024, 15120, 54720, 148_176, 200_448, 127_872],
        over: BTreeMap::from([(None, 46_080), (Some(0), 131_184), (Some(1), 77_904)]),
    };
    same(&found, &expected, "games")?;
    let mut random = StdRng::seed_from_u64(9);
    for _ in 0..20 {
        let mut game = TicTacToe::default();
        follow(
            process,
            &json!({}),
            &mut game,
            true,
            &mut by_chance(&mut random),
        )?;
    }
    Ok(())
}

/// A magic square: three numbers in a line are 15 together, and no others are.
#[derive(Default)]
struct TicTacToe {
    /// The cells of each side, from 1, in their order.
    cells: [Vec<usize>; 2],
}

impl TicTacToe {
    fn lines(&self, side: usize) -> Vec<&'static str> {
        const NUMBERS: [usize; 9] = [2, 7, 6, 9, 5, 1, 4, 3, 8];
        // Their names by their smallest and largest cells.
        const NAMES: [(usize, usize, &str); 8] = [
            (1, 3, "row 1"),
            (4, 6, "row 2"),
            (7, 9, "row 3"),
            (1, 7, "column 1"),
            (2, 8, "column 2"),
            (3, 9, "column 3"),
            (1, 9, "diagonal 1"),
            (3, 7, "diagonal 2"),
        ];
        let mut cells = self.cells[side].clone();
        cells.sort_unstable();
        let mut found = Vec::new();
        for (place, first) in cells.iter().enumerate() {
            for (next, second) in cells.iter().enumerate().skip(place + 1) {
                for third in &cells[next + 1..] {
                    let numbers = [first, second, third].map(|cell| NUMBERS[cell - 1]);
                    let is_it = |name: &&(usize, usize, &str)| (name.0, name.1) == (*first, *third);
                    if numbers.iter().sum::<usize>() == 15 {
                        found.extend(NAMES.iter().find(is_it).map(|name| name.2));
                    }
                }
            }
        }
        found
    }

    fn turns(&self) -> usize {
        self.cells[0].len() + self.cells[1].len()
    }
}

impl Rules for TicTacToe {
    fn known(&self) -> Vec<String> {
        (1..=9).map(|cell| cell.to_string()).collect()
    }

    fn answers(&self) -> BTreeSet<String> {
        if self.position()["over"].is_object() {
            return BTreeSet::new();
        }
        let is_free = |cell: &usize| !self.cells.iter().any(|cells| cells.contains(cell));
        (1..=9)
            .filter(is_free)
            .map(|cell| cell.to_string())
            .collect()
    }

    fn play(&mut self, answer: &str) {
        let side = self.turns() % 2;
        self.cells[side].extend(answer.parse::<usize>());
    }

    fn position(&self) -> Value {
        for side in [0, 1] {
            let lines = self.lines(side).into_iter();
            let mark = ["X", "O"][side];
            let lines = lines.map(|line| json!([line, mark]));
            let mut lines: Vec<Value> = lines.collect();
            if !lines.is_empty() {
                lines.sort_by_key(ToString::to_string);
                return json!({"over": {"winner": side, "lines": lines}});
            }
        }
        if self.turns() == 9 {
            return json!({"over": {"winner": null}});
        }
        let mark = |cell| match [0, 1].map(|side| self.cells[side].contains(&cell)) {
            [true, _] => 'X',
            [_, true] => 'O',
            _ => '.',
        };
        let board: String = (1..=9).map(mark).collect();
        let side = self.turns() % 2;
        json!({"side": side, "request": format!("{} {board}", ["X", "O"][side])})
    }
}

/// A bit for each cell, from the top left.
#[derive(Clone)]
struct Othello {
    discs: [u64; 2],
    side: usize,
    passes: usize,
}

impl Othello {
    fn new() -> Self {
        let bits = |cells: [&str; 2]| cells.map(|cell| 1 << cell_of(cell)).iter().sum::<u64>();
        Self {
            discs: [bits(["e4", "d5"]), bits(["d4", "e5"])],
            side: 0,
            passes: 0,
        }
    }

    /// All discs moved by a step in one of the eight directions.
    fn moved(discs: u64, direction: usize) -> u64 {
        const NOT_A: u64 = 0xfefe_fefe_fefe_fefe;
        const NOT_H: u64 = 0x7f7f_7f7f_7f7f_7f7f;
        match direction {
            0 => discs << 8,
            1 => discs >> 8,
            2 => (discs & NOT_H) << 1,
            3 => (discs & NOT_A) >> 1,
            4 => (discs & NOT_H) << 9,
            5 => (discs & NOT_A) >> 9,
            6 => (discs & NOT_A) << 7,
            _ => (discs & NOT_H) >> 7,
        }
    }

    fn legal(&self, side: usize) -> u64 {
        let (own, other) = (self.discs[side], self.discs[1 - side]);
        let cells = (0..8).map(|direction| {
            let mut line = Self::moved(own, direction) & other;
            for _ in 0..5 {
                line |= Self::moved(line, direction) & other;
            }
            Self::moved(line, direction)
        });
        cells.fold(0, |all, cells| all | cells) & !(own | other)
    }
}

fn cell_of(name: &str) -> u32 {
    let (column, row) = name.split_at(1);
    let column = u32::from(column.as_bytes()[0] - b'a');
    8 * (row.parse::<u32>().unwrap_or(0) - 1) + column
}

fn cell_name(cell: usize, columns: usize) -> String {
    let column = b'a' + u8::try_from(cell % columns).unwrap_or(0);
    format!("{}{}", char::from(column), cell / columns + 1)
}

impl Rules for Othello {
    fn known(&self) -> Vec<String> {
        // Not always the same first.
        let first = self.discs[0].count_ones() as usize * 7;
        (0..64)
            .map(|cell| cell_name((first + cell) % 64, 8))
            .collect()
    }

    fn answers(&self) -> BTreeSet<String> {
        let legal = self.legal(self.side);
        let cells = (0..64).filter(|cell| legal >> cell & 1 == 1);
        cells.map(|cell| cell_name(cell, 8)).collect()
    }

    fn play(&mut self, answer: &str) {
        let cell = 1 << cell_of(answer);
        let (own, other) = (self.discs[self.side], self.discs[1 - self.side]);
        let mut turned = 0;
        for direction in 0..8 {
            let (mut line, mut at) = (0, Self::moved(cell, direction));
            while at & other != 0 {
                line |= at;
                at = Self::moved(at, direction);
            }
            if at & own != 0 {
                turned |= line;
            }
        }
        self.discs[self.side] |= cell | turned;
        self.discs[1 - self.side] &= !turned;
        let other = 1 - self.side;
        if self.legal(other) == 0 {
            self.passes += 1;
        } else {
            self.side = other;
        }
    }

    fn position(&self) -> Value {
        if self.legal(self.side) == 0 {
            let points = self.discs.map(u64::count_ones);
            return json!({"over": {"winner": winner(points), "points": points}});
        }
        let mark = |cell: u32| match self.discs.map(|discs| discs >> cell & 1) {
            [1, 0] => 'X',
            [0, 1] => 'O',
            _ => '.',
        };
        let board: String = (0..64).map(mark).collect();
        json!({"side": self.side, "request": format!("{} {board}", ["X", "O"][self.side])})
    }
}

fn winner(points: [u32; 2]) -> Option<usize> {
    (points[0] != points[1]).then(|| usize::from(points[1] > points[0]))
}

fn othello(process: &mut GameProcess) -> Result<(), Failed> {
    let none = json!({});
    // Counted by many; a side passes for the first time after more turns.
    let counts = process.count(&none, 7, false)?;
    let known = vec![4, 12, 56, 244, 1396, 8200, 55_092];
    same(&counts.of_length, &known, "sequences of turns")?;
    let mut random = StdRng::seed_from_u64(8);
    let mut passes = 0;
    for number in 0..24 {
        let mut game = Othello::new();
        let is_thorough = number < 8;
        follow(
            process,
            &none,
            &mut game,
            is_thorough,
            &mut by_chance(&mut random),
        )?;
        passes += game.passes;
    }
    // The end of a game is one.
    same(&(passes > 24), &true, "a side is passed over")?;
    // The shortest game: after nine turns there is no O.
    let turns = "e6 f4 e3 f6 g5 d6 e7 f5 c5";
    let mut game = Othello::new();
    let played = follow(
        process,
        &none,
        &mut game,
        true,
        &mut script(turns.split(' ').map(str::to_owned)),
    )?;
    let over = json!({"over": {"winner": 0, "points": [13, 0]}});
    same(
        &(played.len(), game.position()),
        &(9, over),
        "the shortest game",
    )
}

const SIZE: usize = 15;

struct Gomoku {
    board: Vec<char>,
    stones: usize,
    /// The side that plays X.
    x: usize,
    has_swap: bool,
    is_chosen: bool,
}

impl Gomoku {
    fn new(has_swap: bool) -> Self {
        Self {
            board: vec!['.'; SIZE * SIZE],
            stones: 0,
            x: 0,
            has_swap,
            is_chosen: false,
        }
    }

    fn mark(&self) -> char {
        ['X', 'O'][self.stones % 2]
    }

    fn is_choice(&self) -> bool {
        self.has_swap && !self.is_chosen && self.stones == 3
    }

    /// Lines of five or more with their marks, as the program tells them.
    fn lines(&self) -> Vec<(String, char)> {
        let mut lines: BTreeMap<(u8, usize), Vec<usize>> = BTreeMap::new();
        for cell in 0..SIZE * SIZE {
            let (row, column) = (cell / SIZE, cell % SIZE);
            for line in [
                (0, row),
                (1, column),
                (2, row + column),
                (3, SIZE + row - column),
            ] {
                lines.entry(line).or_default().push(cell);
            }
        }
        let mut found = Vec::new();
        for line in lines.values() {
            for run in line.chunk_by(|one, other| self.board[*one] == self.board[*other]) {
                if let [first, .., last] = run
                    && run.len() >= 5
                    && self.board[*first] != '.'
                {
                    let [first, last] = [first, last].map(|cell| cell_name(*cell, SIZE));
                    found.push((format!("{first} to {last}"), self.board[run[0]]));
                }
            }
        }
        found
    }
}

impl Rules for Gomoku {
    fn known(&self) -> Vec<String> {
        (0..SIZE * SIZE)
            .rev()
            .map(|cell| cell_name(cell, SIZE))
            .collect()
    }

    fn answers(&self) -> BTreeSet<String> {
        if !self.lines().is_empty() {
            return BTreeSet::new();
        }
        let free = (0..SIZE * SIZE).filter(|cell| self.board[*cell] == '.');
        let free = free.map(|cell| cell_name(cell, SIZE));
        free.chain(self.is_choice().then(|| "swap".to_owned()))
            .collect()
    }

    fn play(&mut self, answer: &str) {
        let is_choice = self.is_choice();
        self.is_chosen |= is_choice;
        if is_choice && answer == "swap" {
            self.x = 1;
            return;
        }
        let cell = (0..SIZE * SIZE).find(|cell| cell_name(*cell, SIZE) == answer);
        self.board[cell.unwrap_or(0)] = self.mark();
        self.stones += 1;
    }

    fn position(&self) -> Value {
        let lines = self.lines();
        if let Some((_, mark)) = lines.first() {
            let winner = if *mark == 'X' { self.x } else { 1 - self.x };
            let mut lines: Vec<Value> = lines
                .iter()
                .map(|(line, mark)| json!([line, mark]))
                .collect();
            lines.sort_by_key(ToString::to_string);
            return json!({"over": {"winner": winner, "lines": lines}});
        }
        if self.stones == SIZE * SIZE {
            return json!({"over": {"winner": null}});
        }
        let (board, mark) = (self.board.iter().collect::<String>(), self.mark());
        let is_opening = self.has_swap && !self.is_chosen && self.stones < 3;
        let side = match mark {
            _ if is_opening => 0,
            'X' => self.x,
            _ => 1 - self.x,
        };
        let request = match (is_opening, self.is_choice()) {
            (true, _) => format!("{mark}=? {board}"),
            (_, true) => format!("swap{mark} {board}"),
            _ => format!("{mark} {board}"),
        };
        json!({"side": side, "request": request})
    }
}

/// These cells of X and of O in turns.
fn alternating(of_x: &[usize], of_o: &[usize]) -> Vec<String> {
    let mut cells = Vec::new();
    for (number, x) in of_x.iter().enumerate() {
        cells.push(*x);
        cells.extend(of_o.get(number));
    }
    cells
        .into_iter()
        .map(|cell| cell_name(cell, SIZE))
        .collect()
}

fn gomoku(process: &mut GameProcess) -> Result<(), Failed> {
    let none = json!({});
    let swap = json!({"opening": "swap"});
    for options in [&none, &swap] {
        same(
            &process.count(options, 2, false)?.of_length,
            &vec![225, 225 * 224],
            "sequences of turns",
        )?;
    }
    // Five cells at one distance: most are a line, others go over an edge of the board.
    let mut wins = 0;
    for step in [1, SIZE - 1, SIZE, SIZE + 1] {
        for first in 0..SIZE * SIZE - 4 * step {
            let five: Vec<usize> = (0..5).map(|number| first + number * step).collect();
            let others = (0..SIZE * SIZE).map(|number| number * 37 % (SIZE * SIZE));
            let others: Vec<usize> = others.filter(|cell| !five.contains(cell)).take(4).collect();
            let mut game = Gomoku::new(false);
            follow(
                process,
                &none,
                &mut game,
                false,
                &mut script(alternating(&five, &others)),
            )?;
            wins += usize::from(game.answers().is_empty());
        }
    }
    same(&wins, &(2 * 15 * 11 + 2 * 11 * 11), "lines of five")?;
    // Six in a row win, as two lines by one stone do, and O wins, too.
    let row = |row: usize, columns: &[usize]| -> Vec<usize> {
        columns.iter().map(|column| row * SIZE + column).collect()
    };
    let apart = row(14, &[0, 2, 4, 6, 8, 10, 12, 14]);
    let corner: Vec<usize> = (1..5)
        .chain((1..5).map(|row| row * SIZE))
        .chain([0])
        .collect();
    let far = [apart.clone(), row(12, &[0])].concat();
    for (of_x, of_o, winner, lines) in [
        (
            row(3, &[1, 2, 3, 5, 6, 4]),
            apart.clone(),
            0,
            json!([["b4 to g4", "X"]]),
        ),
        (
            corner,
            far.clone(),
            0,
            json!([["a1 to a5", "X"], ["a1 to e1", "X"]]),
        ),
        (
            far,
            row(3, &[10, 11, 12, 13, 14]),
            1,
            json!([["k4 to o4", "O"]]),
        ),
    ] {
        let mut game = Gomoku::new(false);
        follow(
            process,
            &none,
            &mut game,
            true,
            &mut script(alternating(&of_x, &of_o)),
        )?;
        let over = json!({"over": {"winner": winner, "lines": lines}});
        same(&game.position(), &over, "the end")?;
    }
    // A board without a line: pairs, moved by a row.
    let is_x = |cell: &usize| (cell % SIZE / 2 + cell / SIZE).is_multiple_of(2);
    let (of_x, of_o): (Vec<usize>, Vec<usize>) = (0..SIZE * SIZE).partition(is_x);
    let mut game = Gomoku::new(false);
    let drawn = follow(
        process,
        &none,
        &mut game,
        false,
        &mut script(alternating(&of_x, &of_o)),
    )?;
    let over = json!({"over": {"winner": null}});
    same(
        &(drawn.len(), game.position()),
        &(SIZE * SIZE, over),
        "a full board",
    )?;
    gomoku_by_chance(process, [&none, &swap])
}

/// Games with and without the opening by a swap, drawn by lot.
fn gomoku_by_chance(process: &mut GameProcess, [none, swap]: [&Value; 2]) -> Result<(), Failed> {
    let mut random = StdRng::seed_from_u64(5);
    for (number, options) in [none, swap, swap, swap, none, swap].into_iter().enumerate() {
        let mut game = Gomoku::new(options == swap);
        let mut ply = 0;
        let mut choose = |legal: &BTreeSet<String>| {
            ply += 1;
            // Both choices come up.
            let takes = legal.contains("swap") && number % 2 == 1;
            if takes {
                return Some("swap".to_owned());
            }
            by_chance(&mut random)(legal)
        };
        follow(process, options, &mut game, true, &mut choose)?;
        same(&(ply > 8), &true, "a whole game")?;
    }
    Ok(())
}

/// On squared paper: dots where row and column are even, boxes where both are odd, lines elsewhere.
#[derive(Clone)]
struct DotsAndBoxes {
    size: usize,
    /// Whether it is drawn, of each line in reading order by its row and column.
    lines: BTreeMap<(usize, usize), bool>,
    points: [u32; 2],
    side: usize,
}

impl DotsAndBoxes {
    fn new(size: usize) -> Self {
        let places = (0..=2 * size).flat_map(|row| (0..=2 * size).map(move |column| (row, column)));
        let lines = places.filter(|(row, column)| (row + column) % 2 == 1);
        Self {
            size,
            lines: lines.map(|place| (place, false)).collect(),
            points: [0; 2],
            side: 0,
        }
    }

    fn count(self, counts: &mut GameCounts, ply: usize) {
        let answers = self.answers();
        if answers.is_empty() {
            *counts
                .over
                .entry(winner(self.points).map(|side| side as u64))
                .or_default() += 1;
        } else if counts.of_length.len() <= ply {
            counts.of_length.push(0);
        }
        for answer in answers {
            counts.of_length[ply] += 1;
            let mut after = self.clone();
            after.play(&answer);
            after.count(counts, ply + 1);
        }
    }
}

impl Rules for DotsAndBoxes {
    fn known(&self) -> Vec<String> {
        (0..=self.lines.len() + 1)
            .map(|number| number.to_string())
            .collect()
    }

    fn answers(&self) -> BTreeSet<String> {
        let lines = self
            .lines
            .values()
            .enumerate()
            .filter(|(_, is_drawn)| !**is_drawn);
        lines.map(|(number, _)| (number + 1).to_string()).collect()
    }

    fn play(&mut self, answer: &str) {
        let number = answer.parse::<usize>().unwrap_or(0);
        let Some((&(row, column), is_drawn)) = self.lines.iter_mut().nth(number - 1) else {
            return;
        };
        *is_drawn = true;
        // Beside a line between two dots that are above each other, or above and below it.
        let boxes = match row % 2 {
            1 => [(row, column.wrapping_sub(1)), (row, column + 1)],
            _ => [(row.wrapping_sub(1), column), (row + 1, column)],
        };
        let around = |(row, column): (usize, usize)| {
            let [above, below] = [row.wrapping_sub(1), row.wrapping_add(1)];
            let [left, right] = [column.wrapping_sub(1), column.wrapping_add(1)];
            [(above, column), (below, column), (row, left), (row, right)]
        };
        let full = boxes.iter().filter(|place| {
            around(**place)
                .iter()
                .all(|line| self.lines.get(line) == Some(&true))
        });
        let won = u32::try_from(full.count()).unwrap_or(0);
        self.points[self.side] += won;
        if won == 0 {
            self.side = 1 - self.side;
        }
    }

    fn position(&self) -> Value {
        let points = self.points;
        if self.lines.values().all(|is_drawn| *is_drawn) {
            return json!({"over": {"winner": winner(points), "points": points}});
        }
        let lines: String = self
            .lines
            .values()
            .map(|is_drawn| if *is_drawn { '#' } else { '.' })
            .collect();
        let [own, other] = [points[self.side], points[1 - self.side]];
        json!({"side": self.side, "request": format!("{} {own} {other} {lines}", self.size)})
    }
}

fn dots_and_boxes(process: &mut GameProcess) -> Result<(), Failed> {
    // Every sequence of all lines is a game.
    for (size, lines) in [(1, 4), (2, 12)] {
        let counts = process.count(&json!({"size": size.to_string()}), lines, true)?;
        let of_length = (1..=lines as u64).scan(1, |product, ply| {
            *product *= lines as u64 + 1 - ply;
            Some(*product)
        });
        same(
            &counts.of_length,
            &of_length.collect(),
            "sequences of lines",
        )?;
        let games: u64 = counts.over.values().sum();
        same(&Some(&games), &counts.of_length.last(), "games")?;
        if size == 1 {
            let mut expected = GameCounts::default();
            DotsAndBoxes::new(size).count(&mut expected, 0);
            same(&counts, &expected, "games of one box")?;
            // The side that does not begin draws the last of four lines.
            same(
                &counts.over,
                &BTreeMap::from([(Some(1), 24)]),
                "games of one box",
            )?;
        }
    }
    let mut random = StdRng::seed_from_u64(3);
    for size in [1, 2, 3, 3, 4, 5, 6, 6] {
        let options = json!({"size": size.to_string()});
        for number in 0..4 {
            let mut game = DotsAndBoxes::new(size);
            let is_thorough = number == 0;
            follow(
                process,
                &options,
                &mut game,
                is_thorough,
                &mut by_chance(&mut random),
            )?;
            let boxes = u32::try_from(size * size)?;
            same(&(game.points[0] + game.points[1]), &boxes, "boxes")?;
        }
    }
    let mut game = DotsAndBoxes::new(3);
    follow(
        process,
        &json!({}),
        &mut game,
        true,
        &mut by_chance(&mut random),
    )?;
    Ok(())
}
