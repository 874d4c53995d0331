//! What the page tells first: who won, what decided, what to fix.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use super::course::tournament;
use super::driver::Result;
use super::{OpenReport, RIGHT, can_be_read, is_quarto, number_of, same};
use crate::common::games::GAMES;
use crate::common::{RECORDS, Referee, records};

/// Champion, runner-up, the score of the final and its last game, what was played and when.
pub(super) fn the_head_says_who_won() -> Result<()> {
    let arguments = [
        "--format",
        "knockout",
        "--pairs",
        "1",
        "--move-time",
        "1500ms",
    ];
    let (report, standings) = tournament(4, &arguments)?;
    same("title", &report.text_of("h1")?, &"spring-cup".to_owned())?;
    let facts = report.text_of(".facts")?;
    for part in [
        "Quarto · Knockout · ",
        " 20",
        " · 1.5 s a move · 4 bots · 6 games",
    ] {
        if !facts.contains(part) {
            return Err(format!("{part}: {facts}"));
        }
    }
    let titles = report.texts(".winners-list dt")?;
    same(
        "titles",
        &titles,
        &["Champion", "Runner-up"].map(str::to_owned).to_vec(),
    )?;
    let names = report.texts(".winners-list .name")?;
    same("names", &names, &standings[..2].to_vec())?;
    let lead = report.text_of(".winners-list small")?;
    if !lead.starts_with("won the final ") {
        return Err(lead);
    }
    // Two games a match say nothing of ratings.
    same("certainty", &lead.contains("likely"), &false)?;
    let heads = report.texts("table.standings thead th")?.concat();
    same("ratings", &heads.contains("Elo"), &false)?;
    report.browser.is_quiet()?;
    // The last game of the final is the last of all, and comes first with its board.
    let (report, _) = tournament(2, &["--format", "knockout", "--pairs", "1"])?;
    let highlight = report.text_of(".highlights strong")?;
    same("decisive", &highlight, &"Last game of the final".to_owned())?;
    let leads = "return document.querySelector('.board-link').getAttribute('href')";
    let leads = report.browser.text(leads)?;
    same("the game", &leads.starts_with("#game=2&turn="), &true)?;
    same("board", &report.count(".board-link svg.board")?, &1.0)?;
    report.browser.is_quiet()
}

/// Bots that are equal in every criterion are first together; the challenger of a gauntlet wins nothing.
pub(super) fn equal_bots_share_the_first_place() -> Result<()> {
    let mut records = Vec::new();
    for (first, second, winner) in [
        ("anna", "cem", 0),
        ("cem", "anna", 0),
        ("anna", "ben", 0),
        ("cem", "ben", 0),
        ("ben", "anna", 1),
        ("ben", "cem", 1),
    ] {
        let game = GAMES.iter().find(|game| is_quarto(game));
        let mut game = game.ok_or("no such game")?.clone();
        game["bots"][0]["name"] = json!(first);
        game["bots"][1]["name"] = json!(second);
        game["result"]["winner"] = json!(winner);
        records.push(game);
    }
    let report = OpenReport::at(&records, &[])?;
    same(
        "titles",
        &report.texts(".winners-list dt")?,
        &vec!["Joint first".to_owned()],
    )?;
    let names = ["anna", "cem"].map(str::to_owned).to_vec();
    same("names", &report.texts(".winners-list .name")?, &names)?;
    let ranks = ["1=", "1=", "3"].map(str::to_owned).to_vec();
    same("ranks", &report.texts("table.standings td.rank")?, &ranks)?;
    // All wins took the same number of turns, so none is the quickest or the longest.
    let highlights = report.count("[aria-labelledby=card-highlights]")?;
    same("highlights", &highlights, &0.0)?;
    report.browser.is_quiet()?;
    let (report, _) = tournament(4, &["--format", "gauntlet", "--pairs", "1"])?;
    same(
        "title",
        &report.texts(".winners-list dt")?,
        &vec!["Challenger".to_owned()],
    )?;
    same(
        "challenger",
        &report.text_of(".winners-list .name")?,
        &"Bot 0".to_owned(),
    )?;
    same(
        "results",
        &report.count("[aria-labelledby=card-result] .opponents .bar-row")?,
        &3.0,
    )?;
    report.browser.is_quiet()
}

/// Games of these pairs of bots, of which the first one wins so many.
fn games_of(pairs: &[(&str, &str, usize, usize)]) -> Result<Vec<Value>> {
    let game = GAMES.iter().find(|game| is_quarto(game));
    let game = game.ok_or("no such game")?;
    let all = pairs.iter().flat_map(|&(one, other, won, lost)| {
        (0..won + lost).map(move |number| {
            let mut game = game.clone();
            game["bots"][0]["name"] = json!(one);
            game["bots"][1]["name"] = json!(other);
            game["first"] = json!(number % 2);
            game["result"]["winner"] = json!(usize::from(number >= won));
            game
        })
    });
    Ok(all.collect())
}

/// The same figures as in the terminal, rounded alike, and the same rules of their order.
pub(super) fn figures_are_those_of_the_terminal() -> Result<()> {
    let records = games_of(&[("anna", "ben", 24, 0), ("cem", "dana", 15, 1)])?;
    let report = OpenReport::at(&records, &[])?;
    let file = report.scratch().join("games.jsonl");
    let terminal = Referee::new(["standings"]).args([&file]).run().stdout;
    for (name, parts) in [
        ("anna", &["100.0%", "> 99.9%"][..]),
        ("cem", &["93.8%"]),
        ("dana", &["6.3%"]),
    ] {
        let row = report.browser.text(&format!(
            "return [...document.querySelectorAll('table.standings tbody tr')].find(e => e.querySelector('.name').textContent === '{name}').innerText"
        ))?;
        let line = terminal.lines().find(|line| line.contains(name));
        let line = line.unwrap_or_default();
        for part in parts {
            let both = (row.contains(part), line.contains(part));
            same(
                &format!("{part} in {row:?} and {line:?}"),
                &both,
                &(true, true),
            )?;
        }
    }
    let order = terminal.lines().find(|line| line.starts_with("order: "));
    let order = order.unwrap_or_default().replace("order: ", "Order: ");
    let said = report.text_of("[aria-labelledby=card-standings] .hint")?;
    same("the order", &said.contains(&order), &true)?;
    report.browser.is_quiet()
}

/// A tournament that was interrupted says so, and who is first by points per game; or that no games connect the bots.
pub(super) fn an_interrupted_tournament_has_no_champion() -> Result<()> {
    let (report, _) = tournament(4, &["--pairs", "1"])?;
    let folder = report.scratch().join("spring-cup");
    let journal = folder.join("games.jsonl");
    let text = fs::read_to_string(&journal).map_err(|error| error.to_string())?;
    for (games, title) in [(7, Some("First")), (3, None)] {
        let kept: Vec<&str> = text.lines().take(games).collect();
        fs::write(&journal, kept.join("\n") + "\n").map_err(|error| error.to_string())?;
        let page = report.scratch().join("report.html");
        let run = Referee::new(["report"])
            .args([&folder])
            .args([Path::new("-o"), &page])
            .run();
        same("exit", &run.code, &Some(0)).map_err(|error| format!("{error}\n{run}"))?;
        report.open("")?;
        let early = format!("Not finished: {games} of 12 games have been played.");
        same("not finished", &report.text_of(".early")?, &early)?;
        let titles = report.texts(".winners-list dt")?;
        same("title", &titles.first().map(String::as_str), &title)?;
        if title.is_some() {
            let scores = report.texts("table.standings td strong")?;
            let score = |text: &String| text.trim_end_matches('%').parse().unwrap_or(f64::NAN);
            let scores: Vec<f64> = scores.iter().map(score).collect();
            same(
                "by score",
                &(scores.len() == 4 && scores.is_sorted_by(|a, b| a >= b)),
                &true,
            )?;
        }
    }
    // Where the bars are hidden, so is what they mean.
    report.browser.size(390, 800, true)?;
    report.open("")?;
    let shown = "return [...document.querySelectorAll('[aria-labelledby=card-standings] .key, [aria-labelledby=card-standings] .record')].filter(e => e.checkVisibility()).length";
    same("keys", &report.browser.number(shown)?, &0.0)?;
    report.browser.is_quiet()
}

/// A person who quits has left, in lists and on the page of the game.
pub(super) fn a_person_who_quits_has_left() -> Result<()> {
    let mut records = GAMES.clone();
    let number = number_of(|record| !record["result"]["by"].is_null())?;
    let record = &mut records[number - 1];
    record["result"]["reason"] = json!("exited");
    let by = record["result"]["by"].as_u64().unwrap_or(0);
    let by = usize::try_from(by).unwrap_or(0);
    record["bots"][by] = json!({"name": "Ann", "command": ["human"]});
    let report = OpenReport::at(&records, &[])?;
    report.open(&format!("#game={number}"))?;
    same(
        "head",
        &report.text_of(".ended")?.contains(" left the game"),
        &true,
    )?;
    report.open("#games&reason=exited")?;
    let result = report.text_of("table.games tbody tr")?;
    same("list", &result.contains("left the game"), &true)
        .map_err(|error| format!("{error}: {result}"))?;
    report.browser.is_quiet()
}

/// Why a bot did not enter, in parts; the last one is a command that can be copied.
pub(super) fn why_a_bot_did_not_enter_has_parts() -> Result<()> {
    let scratch = tempfile::tempdir().map_err(|error| error.to_string())?;
    let bot = scratch.path().join("broken.sh");
    fs::write(&bot, "#!/bin/sh\necho '1 <b>?' >&2\nexit 3\n").map_err(|error| error.to_string())?;
    let (folder, bot) = (scratch.path().join("cup"), format!("sh {}", bot.display()));
    let words = ["tournament", "builtin:random", "builtin:greedy", &bot];
    let options = ["--pairs", "1", "--sandbox", "none", "--out"];
    let run = Referee::new(words).args(options).args([&folder]).run();
    same("exit", &run.code, &Some(0)).map_err(|error| format!("{error}\n{run}"))?;
    let report = OpenReport::of(&folder, scratch, &[])?;
    report.open("#absent=1")?;
    let labels = ["Asked ", "Stderr ended with ", "Fix ", "See it again"].map(str::to_owned);
    same("labels", &report.texts(".card .label")?, &labels.to_vec())?;
    let problem = report.text_of(".card .sentence")?;
    same(
        "the problem",
        &problem.starts_with("Exited: it ended with exit status 3"),
        &true,
    )?;
    let command = report.text_of(".card pre")?;
    same("the command", &command.starts_with("printf "), &true)?;
    same(
        "not HTML",
        &report.text_of(".card")?.contains("1 <b>?"),
        &true,
    )?;
    report.browser.is_quiet()
}

/// The score of a duel, a field for each game, and how sure the result is.
pub(super) fn two_bots_have_one_score_and_a_strip_of_games() -> Result<()> {
    let (report, standings) = tournament(2, &["--pairs", "6"])?;
    let names = report.texts(".big-score .name")?;
    same("names", &names, &standings)?;
    let score = report.text_of(".big-score strong")?;
    let points: Vec<&str> = score.split(" : ").collect();
    // Said once: no table of two rows, no crosstable of two cells, no two mirrored curves.
    same("tables", &report.count("main table")?, &0.0)?;
    same("curves", &report.count(".settling")?, &0.0)?;
    same("fields", &report.count(".game-strip a")?, &12.0)?;
    let made = "return [...document.querySelectorAll('.game-strip a')].reduce((sum, e) => sum + (e.textContent === '½' ? .5 : Number(e.textContent)), 0)";
    let made = report.browser.number(made)?;
    let said = points[0].replace('½', ".5").parse().unwrap_or(f64::NAN);
    same("fields of the first", &made, &said)?;
    let text = report.text_of("[aria-labelledby=card-result]")?;
    for part in [" likely to be stronger than ", " (LOS)", " Elo (95% CI "] {
        if !text.contains(part) {
            return Err(text);
        }
    }
    // One field is reached with Tab, the others with the arrow keys; Enter opens the game.
    same(
        "tab stops",
        &report.count(".game-strip a[tabindex='0']")?,
        &1.0,
    )?;
    report
        .browser
        .run("document.querySelector('.game-strip a').focus()")?;
    report.browser.keys(&[RIGHT, RIGHT, '\u{e007}'])?;
    report
        .browser
        .wait("return document.querySelector('h1').textContent.startsWith('Game 3:')")?;
    report.browser.is_quiet()
}

/// The page of this bot, as a reader gets there.
fn open_bot(report: &OpenReport, name: &Value) -> Result<()> {
    report.open("")?;
    report.browser.run(&format!(
        "[...document.querySelectorAll('.standings th a')].find(a => a.textContent === {name}).click()"
    ))?;
    Ok(())
}

/// The most frequent fault with a command, and the answer that was nearest to its limit.
pub(super) fn the_page_of_a_bot_says_what_to_mend() -> Result<()> {
    let mut records = GAMES.clone();
    let number = number_of(is_quarto)?;
    let record = &mut records[number - 1];
    let process = json!({"seed": 1, "move_time": 2.0, "since": "earlier"});
    record["processes"] = json!([process, process]);
    record["times_ms"][2] = 1900.0.into();
    let first = usize::try_from(record["first"].as_u64().unwrap_or(0)).unwrap_or(0);
    let name = record["bots"][first]["name"].clone();
    let report = OpenReport::at(&records, &[])?;
    report.open("#bot=3")?;
    let items = report.texts(".fixes li")?;
    let fault = items.first().cloned().unwrap_or_default();
    if !fault.starts_with("Most frequent forfeit") || !fault.contains("Reproduce (game ") {
        return Err(format!("{items:?}"));
    }
    let command = report.text_of(".fixes pre")?;
    same("the command", &command.contains("script.sh"), &true)?;
    let hunts = "[aria-labelledby=card-where-does-it-break-] pre";
    let commands = report.texts(hunts)?;
    let starts = [
        "referee hunt ",
        "referee rerun games.jsonl --number lost --as ",
    ];
    let are_there = commands.len() == 2 && (0..2).all(|i| commands[i].starts_with(starts[i]));
    same(&format!("{commands:?}"), &are_there, &true)?;
    open_bot(&report, &name)?;
    report
        .browser
        .wait("return document.querySelector('.fixes') !== null")?;
    let nearest = report.text_of(".fixes li:last-child p")?;
    same(
        "nearest",
        &nearest,
        &format!("1.90 s of 2.00 s (95%): game {number}, turn 3."),
    )?;
    // Commands are for those who may see them.
    let private = OpenReport::at(&records, &["--private"])?;
    private.open("#bot=3")?;
    let shown = private.count(&format!(".fixes pre, {hunts}"))?;
    same("private", &shown, &0.0)?;
    report.browser.is_quiet()
}

/// Records with blunders of the bot that moves first, in two games of the same bots. Returns the numbers of the games, too.
fn analysed() -> (Vec<Value>, Vec<usize>) {
    let mut records = GAMES.clone();
    let mut numbers = Vec::new();
    for (place, record) in records.iter_mut().enumerate() {
        let turns = record["turns"].as_array().map_or(0, Vec::len);
        let is_first = record["bots"][0]["name"] == "builtin:greedy" && record["first"] == 0;
        if !is_quarto(record) || !is_first || turns < 5 || numbers.len() == 2 {
            continue;
        }
        numbers.push(place + 1);
        let value = if numbers.len() == 2 { "loss" } else { "draw" };
        record["analysis"] = json!({"by": "a test", "turns": [
            {"turn": 1, "value": "draw", "best": "draw"},
            {"turn": 3, "value": value, "best": "win", "better": "6 A", "text": "gave away a win"},
            {"turn": 5, "value": "draw", "best": "win", "mark": "missed-win", "missed_win": true},
        ]});
    }
    (records, numbers)
}

/// Accuracy by phase; a count leads to a blunder, and then to the next one, in the lists and within a game.
pub(super) fn a_count_of_blunders_leads_from_one_to_the_next() -> Result<()> {
    let (records, numbers) = analysed();
    same("games", &numbers.len(), &2)?;
    let report = OpenReport::at(&records, &[])?;
    let browser = &report.browser;
    let row = "return [...[...document.querySelectorAll('[aria-labelledby=card-accuracy] tbody tr')].find(e => e.textContent.startsWith('builtin:greedy')).cells].map(e => e.textContent)";
    let expected = json!(["builtin:greedy", "33.3%", "33.3%", "–", "–", "4", "2"]);
    same("accuracy", &browser.run(row)?, &expected)?;
    // The worst is the win that became a loss.
    let worst = "return [...document.querySelectorAll('.highlights a')].filter(e => e.textContent.startsWith('Biggest blunder: win → loss')).map(e => e.getAttribute('href'))";
    let wanted = json!([format!("#game={}&turn=3", numbers[1])]);
    same("the worst", &browser.run(worst)?, &wanted)?;
    let places = [
        (numbers[0], 3),
        (numbers[0], 5),
        (numbers[1], 3),
        (numbers[1], 5),
        (numbers[0], 3),
    ];
    for (game, turn) in places {
        browser.run("[...document.querySelectorAll('[aria-labelledby=card-accuracy] a')].find(e => e.ariaLabel?.includes('blunders of builtin:greedy')).click()")?;
        browser.wait(&format!(
            "return document.querySelector('.story .turn')?.textContent.startsWith('Turn {turn} ') && location.hash.startsWith('#game={game}&')"
        ))?;
        browser.run("location.hash = '#overview'")?;
        browser.wait("return document.querySelector('table.standings') !== null")?;
    }
    // Within a game, from wherever the reader is.
    report.open(&format!("#game={}&turn=0", numbers[0]))?;
    for turn in [3, 5, 3] {
        browser.run("document.querySelector('[aria-labelledby=card-accuracy] a').click()")?;
        browser.wait(&format!(
            "return document.querySelector('.story .turn').textContent.startsWith('Turn {turn} ')"
        ))?;
    }
    browser.is_quiet()
}

/// Answers are in words wherever an analysis is told, and a blunder that missed a win counts as both.
pub(super) fn an_analysis_is_told_in_words() -> Result<()> {
    let mut records = GAMES.clone();
    let number = number_of(is_quarto)?;
    let record = &mut records[number - 1];
    let first = usize::try_from(record["first"].as_u64().unwrap_or(0)).unwrap_or(0);
    let name = record["bots"][first]["name"].clone();
    let text =
        "`6 A` turned a win into a loss: after A, cell 7 completes H2 (big). `7 -` would have won.";
    record["analysis"] = json!({"by": "a test", "turns": [
        {"turn": 3, "value": "loss", "best": "win", "better": "7 -", "mark": "blunder", "missed_win": true, "text": text}]});
    let report = OpenReport::at(&records, &[])?;
    let whole =
        "6 A turned a win into a loss: after A, cell 7 completes H2 (big). Cell 7 would have won.";
    let small = report.text_of(".highlights small")?;
    same("the worst", &small, &whole.to_owned())?;
    report.open(&format!("#game={number}&turn=3"))?;
    let judged = report.text_of(".judged p")?;
    same("the turn", &judged, &whole.to_owned())?;
    open_bot(&report, &name)?;
    report
        .browser
        .wait("return document.querySelector('.fixes') !== null")?;
    same(
        "to fix",
        &report.text_of(".fixes small")?.trim().to_owned(),
        &whole.to_owned(),
    )?;
    let counts = report.texts("[aria-labelledby=card-analysis] tbody tr:last-child a")?;
    same("counts", &counts, &vec!["1".to_owned(), "1".to_owned()])?;
    report.browser.is_quiet()
}

/// No column of Accuracy is cut off.
const ACCURACY_FITS: &str = "
    const tables = [...document.querySelectorAll('.accuracy')].map((table) => table.parentElement);
    return tables.length > 0 && tables.every((table) => table.scrollWidth <= table.clientWidth);";

/// These with a bot of a long name.
fn with_a_long_name(records: &[Value]) -> Vec<Value> {
    let mut records = records.to_vec();
    for record in &mut records {
        for place in 0..2 {
            let name = &mut record["bots"][place]["name"];
            if *name == "builtin:greedy" {
                *name = json!("builtin:search?depth=2");
            }
        }
    }
    records
}

pub(super) fn heads_and_accuracy_can_be_read_on_all_screens() -> Result<()> {
    let (records, numbers) = analysed();
    let lists = OpenReport::at(&records, &["--title", "Spring cup"])?;
    let (duel, _) = tournament(2, &["--pairs", "3"])?;
    let game = format!("#game={}&turn=3", numbers[0]);
    for theme in ["light", "dark"] {
        for (width, height) in [(1280, 900), (390, 800)] {
            for (report, hashes) in [
                (&lists, &["", "#bot=1", "#bot=3", &game][..]),
                (&duel, &[""][..]),
            ] {
                report.browser.prefers("prefers-color-scheme", theme)?;
                report.browser.size(width, height, width < 500)?;
                for hash in hashes {
                    report.open(hash)?;
                    can_be_read(&report.browser, &format!("{hash} {width} {theme}"))?;
                }
            }
        }
    }
    let named = OpenReport::at(&with_a_long_name(&records), &[])?;
    for width in [1280, 1000, 390] {
        named.browser.size(width, 900, width < 500)?;
        named.open("")?;
        let fits = named.browser.run(ACCURACY_FITS)?;
        same(&format!("Accuracy at {width}"), &fits, &json!(true))?;
    }
    lists.browser.is_quiet()
}

/// Games with real analyses, and the number of one and a mistake in it that loses a win.
fn proven(game: &str) -> Result<(Vec<Value>, usize, Value)> {
    let run = Referee::new(["--game", game, "-n", "6", "--seed", "2"])
        .args(["builtin:random", "builtin:greedy"])
        .recorded()
        .run();
    let file = run.scratch().join(RECORDS);
    let analysed = run.scratch().join("analysed.jsonl");
    let run = Referee::new(["analyse", "--time-per-move", "100ms"])
        .args([&file])
        .args(["-o".as_ref(), analysed.as_os_str()])
        .run();
    let text = std::fs::read_to_string(&analysed).map_err(|error| format!("{error}: {run}"))?;
    let games = records(&text);
    for (index, record) in games.iter().enumerate() {
        let notes = record["analysis"]["turns"].as_array().into_iter().flatten();
        // The last one is proven to the end.
        let mut found = notes.filter(|note| {
            let is_decisive = note["best"] == "win" && note["value"] == "loss";
            is_decisive && note["missed_win"].is_null()
        });
        if let Some(note) = found.next_back() {
            return Ok((games.clone(), index + 1, note.clone()));
        }
    }
    Err(format!("no such mistake in {text}"))
}

/// Presses the button with this name.
fn press(report: &OpenReport, title: &str) -> Result<()> {
    let title = json!(title);
    let pressed = report.browser.run(&format!(
        "const e = [...document.querySelectorAll('.card button')].find(e => e.textContent === {title}); e?.click(); return e !== undefined"
    ))?;
    same(&title.to_string(), &pressed, &json!(true))
}

/// The piece of the better turn is shown as a ghost; the games after both turns go to their ends; and with the better turn hidden
/// nothing names it.
pub(super) fn a_better_turn_is_shown_and_proven() -> Result<()> {
    for game in ["quarto", "four-in-a-row"] {
        let (games, number, note) = proven(game)?;
        let report = OpenReport::at(&games, &[])?;
        let turn = note["turn"].as_u64().unwrap_or(0);
        let pieces = "svg.board g.piece";
        report.open(&format!("#game={number}&turn={turn}"))?;
        let frame = "return [...document.querySelectorAll('.versus .winner')].map(e => getComputedStyle(e).borderTopWidth)";
        same("frame", &report.browser.run(frame)?, &json!(["0px"]))?;
        let placed = report.count(pieces)?;
        press(&report, "Best move")?;
        same("ghost", &report.count("svg.board .ghost")?, &1.0)?;
        same("pieces", &report.count(pieces)?, &placed)?;
        for title in ["Why", "Refutation"] {
            press(&report, title)?;
            // It is found when it is looked at.
            report.browser.wait("return / of ([2-9]|\\d\\d), with best play/.test(document.querySelector('.row + .hint').textContent)")?;
            let hint = report.text_of(".row + .hint")?;
            let length = hint.split([' ', ',']).nth(3).unwrap_or_default();
            let length: usize = length.parse().map_err(|_| hint.clone())?;
            for place in 1..length {
                let hint = report.text_of(".row + .hint")?;
                let said = format!("Turn {place} of {length}, with best play by both.");
                same("place", &hint, &said)?;
                if place % 2 == 0 {
                    report.browser.keys(&[RIGHT])?;
                } else {
                    press(&report, "Next →")?;
                }
            }
            same("won", &(report.count("svg.board .stroke")? > 0.0), &true)?;
            press(&report, "Return to the game")?;
            same("back", &report.count(pieces)?, &placed)?;
        }
        report.browser.click("[data-keep=hide-better]")?;
        same("hidden", &report.count(".judged p")?, &0.0)?;
        // The board is that before the turn.
        same("before", &report.count(pieces)?, &(placed - 1.0))?;
        can_be_read(&report.browser, "a question")?;
        let marks = ".moves .badge:not(.blame), .winners a";
        same("marks", &report.count(marks)?, &0.0)?;
        // The board takes the reader's turn, by keys too, and says whether it is right.
        same(
            "values",
            &report.count("[data-value]:not([data-value=unknown])")?,
            &0.0,
        )?;
        report
            .browser
            .wait("return document.querySelector('[data-keep=worth-best]') !== null")?;
        let better = note["better"].as_str().unwrap_or_default();
        let cell = better.split(' ').next().unwrap_or_default();
        if cell != "-" {
            report.browser.run(&format!("const cell = document.querySelector('[data-cell=\"{cell}\"]'); cell.focus(); cell.dispatchEvent(new KeyboardEvent('keydown', {{ key: 'Enter', bubbles: true }}))"))?;
        }
        report.browser.run(&format!(
            "document.querySelector({}).click()",
            json!(format!("[data-keep='make-{better}']"))
        ))?;
        let remark = report.text_of(".worth-remark")?;
        same(&remark, &remark.contains(" is right: "), &true)?;
        report.browser.click("[data-keep=worth-leave]")?;
        press(&report, "Best move")?;
        same("shown", &report.count("svg.board .ghost")?, &1.0)?;
        report.browser.is_quiet()?;
    }
    Ok(())
}

/// A page with the own games begins with the bot whose they are, and calls nobody the first.
pub(super) fn own_games_begin_with_their_bot() -> Result<()> {
    let scratch = tempfile::tempdir().map_err(|error| error.to_string())?;
    let of = |path: &Path| path.to_string_lossy().into_owned();
    let (folder, pages) = (scratch.path().join("cup"), scratch.path().join("pages"));
    let bots = ["builtin:random", "builtin:greedy", "builtin:search?depth=1"];
    let run = Referee::new([
        "tournament",
        "--pairs",
        "1",
        "--seed",
        "3",
        "--sandbox",
        "none",
    ])
    .args(bots)
    .args(["--out", &of(&folder)])
    .run();
    same("exit", &run.code, &Some(0)).map_err(|error| format!("{error}\n{run}"))?;
    let run = Referee::new(["report", &of(&folder), "--each", &of(&pages)]).run();
    same("exit", &run.code, &Some(0)).map_err(|error| format!("{error}\n{run}"))?;
    let files = fs::read_dir(&pages).map_err(|error| error.to_string())?;
    let mut files = files.flatten().map(|file| file.path());
    let of_greedy = |file: &PathBuf| {
        of(file).contains("greedy") && file.extension().is_some_and(|end| end == "html")
    };
    let page = files.find(of_greedy).ok_or("no page of greedy")?;
    let report = OpenReport::page(&page, scratch)?;
    same(
        "heading",
        &report.text_of("h1")?,
        &"builtin:greedy".to_owned(),
    )?;
    // Its place and its rating are those among all.
    let all: Value = fs::read_to_string(report.scratch().join("cup/standings.json"))
        .map_err(|error| error.to_string())
        .and_then(|text| serde_json::from_str(&text).map_err(|error| error.to_string()))?;
    let mut rows = all["standings"].as_array().into_iter().flatten();
    let row = rows
        .find(|row| row["name"] == "builtin:greedy")
        .ok_or("no row")?;
    let rank = row["rank"].as_u64().and_then(|rank| {
        ["1st", "2nd", "3rd"]
            .get(usize::try_from(rank).ok()? - 1)
            .copied()
    });
    let place = format!("{} of 3", rank.ok_or("no rank")?);
    same("its place", &report.text_of(".above")?, &place)?;
    let elo = row["elo"].as_f64().ok_or("no rating")?.round();
    let shown = report.texts(".tile dd")?[1].replace('\u{2212}', "-");
    same("its rating", &shown.starts_with(&format!("{elo:+}")), &true)?;
    report.open("#overview")?;
    same(
        "no table of its own",
        &report.count("table.standings")?,
        &0.0,
    )?;
    let cards = report.texts("h2")?;
    let is_result = |title: &String| title == "Result";
    same("a result", &cards.iter().any(is_result), &false)?;
    report.browser.is_quiet()
}
