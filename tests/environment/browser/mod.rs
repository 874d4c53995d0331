//! The report in a real browser: it opens without an error, sorts, filters, steps through games
//! according to the rules, follows links, is accessible on all screens, and shows hostile text as
//! text.
//!
//! Without a browser these tests are ignored; in CI (`CI=true`) they fail.

mod access;
mod at_page;
mod course;
mod driver;
mod exact;
mod game;
mod labels;
mod live;
mod packed;
mod pictures;
mod puzzles;
mod stage;
mod story;
mod thoughts;
mod views;

use std::env;
use std::fs;
use std::path::{Path, PathBuf};

use self::driver::{Browser, Result};
use crate::common::Referee;
use crate::common::games::{GAMES, many, write};
use crate::requirements::{LargePermit, unavailable};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use libtest_mimic::{Failed, Trial};
use referee::game::quarto::{Cell, Edition, PieceSet, Rules};
use referee::game::{BuiltinGame, Position as _};
use serde_json::{Value, json};
use tempfile::TempDir;

/// Keys that are no characters, as `WebDriver` writes them.
const RIGHT: char = '\u{e014}';
const LEFT: char = '\u{e012}';
const HOME: char = '\u{e011}';
const END: char = '\u{e010}';
const TAB: char = '\u{e004}';

/// A report of records, open in a browser.
struct OpenReport {
    browser: Browser,
    url: String,
    size: u64,
    scratch: TempDir,
}

impl OpenReport {
    fn at(records: &[Value], arguments: &[&str]) -> Result<Self> {
        let scratch = tempfile::tempdir().map_err(|e| e.to_string())?;
        let file = write(&scratch.path().join("games.jsonl"), records);
        Self::of(&file, scratch, arguments)
    }

    /// The report of a file, or of a tournament's folder, in this directory.
    fn of(file: &Path, scratch: TempDir, arguments: &[&str]) -> Result<Self> {
        let page = scratch.path().join("report.html");
        let run = Referee::new(["report"])
            .args([file])
            .args([Path::new("-o"), &page])
            .args(arguments.iter().copied())
            .run();
        if run.code != Some(0) {
            return Err(run.to_string());
        }
        Self::page(&page, scratch)
    }

    /// A page that is in this directory.
    fn page(page: &Path, scratch: TempDir) -> Result<Self> {
        let report = Self {
            browser: Browser::start()?,
            url: format!("file://{}", page.display()),
            size: fs::metadata(page).map_err(|e| e.to_string())?.len(),
            scratch,
        };
        report.browser.size(1280, 900, false)?;
        report.open("")?;
        Ok(report)
    }

    /// Where the page is.
    fn scratch(&self) -> &Path {
        self.scratch.path()
    }

    /// Loads the page at this place.
    fn open(&self, hash: &str) -> Result<()> {
        self.browser.go("about:blank")?;
        self.browser.go(&format!("{}{hash}", self.url))?;
        self.browser.wait(
            "return document.documentElement.classList.contains('ready') && document.querySelector('.loading') === null",
        )
    }

    fn text_of(&self, selector: &str) -> Result<String> {
        let selector = json!(selector);
        self.browser.text(&format!(
            "return document.querySelector({selector})?.textContent ?? '(none)'"
        ))
    }

    fn texts(&self, selector: &str) -> Result<Vec<String>> {
        let selector = json!(selector);
        let found = self.browser.run(&format!(
            "return [...document.querySelectorAll({selector})].map(e => e.textContent)"
        ))?;
        serde_json::from_value(found).map_err(|e| e.to_string())
    }

    fn count(&self, selector: &str) -> Result<f64> {
        let selector = json!(selector);
        self.browser.number(&format!(
            "return document.querySelectorAll({selector}).length"
        ))
    }
}

fn same<T: PartialEq + std::fmt::Debug>(what: &str, found: &T, expected: &T) -> Result<()> {
    if found == expected {
        return Ok(());
    }
    Err(format!("{what}: {found:?}; expected {expected:?}"))
}

/// Number, from 1, of the first game for which this holds.
fn number_of(holds: impl Fn(&Value) -> bool) -> Result<usize> {
    let found = GAMES.iter().position(holds);
    Ok(found.ok_or("no such game")? + 1)
}

fn is_quarto(record: &Value) -> bool {
    record["result"]["reason"] == "quarto" && record["pieces"].is_null()
}

// --- the tests --------------------------------------------------------------------------------

fn every_view_opens_without_messages() -> Result<()> {
    let report = OpenReport::at(&GAMES, &["--title", "Spring cup"])?;
    same(
        "the title",
        &report.text_of("h1")?,
        &"Spring cup".to_owned(),
    )?;
    same("bots", &report.count("table.standings tbody tr")?, &3.0)?;
    let forfeit = number_of(|record| !record["result"]["by"].is_null())?;
    let four = number_of(|record| record["game"] == "four-in-a-row")?;
    let other = number_of(|record| record["rules"] == "squares")?;
    let views = [
        "#games".to_owned(),
        "#bot=1".to_owned(),
        "#bot=3".to_owned(),
        format!("#game={forfeit}"),
        format!("#game={four}&turn=3"),
        format!("#game={other}"),
        "#overview".to_owned(),
        "#game=9999".to_owned(),
        "#bot=77".to_owned(),
        "#nonsense=%E0%A4%A".to_owned(),
    ];
    for view in &views {
        report
            .browser
            .run(&format!("location.hash = {}", json!(view)))?;
        report.browser.wait(&format!(
            "return location.hash === {} && document.querySelector('main h1') !== null",
            json!(view)
        ))?;
    }
    report.browser.is_quiet()
}

fn a_policy_keeps_everything_else_out() -> Result<()> {
    let report = OpenReport::at(&GAMES, &[])?;
    report.browser.run(
        "window.broken = []; document.addEventListener('securitypolicyviolation', e => broken.push(e.effectiveDirective));
         const script = document.createElement('script'); script.src = 'data:text/javascript,window.pwned=1'; document.body.append(script)",
    ).ok();
    report.browser.run(
        "const image = new Image(); image.src = 'http://127.0.0.1:1/x'; document.body.append(image);
         const style = document.createElement('style'); style.append('body { display: none }'); document.body.append(style);
         const div = document.createElement('div'); try { div.setAttribute('onclick', 'window.pwned=1'); document.body.append(div); div.click(); } catch { broken.push('handler') }
         try { document.body.insertAdjacentHTML('beforeend', '<b>x</b>'); } catch { broken.push('trusted-types') }
         fetch('http://127.0.0.1:1/').catch(() => broken.push('fetch'))",
    )?;
    for directive in [
        "img-src",
        "style-src-elem",
        "handler",
        "trusted-types",
        "fetch",
    ] {
        report
            .browser
            .wait(&format!("return broken.includes('{directive}')"))?;
    }
    same(
        "pwned",
        &report.browser.run("return window.pwned ?? null")?,
        &Value::Null,
    )
}

fn tables_sort() -> Result<()> {
    let report = OpenReport::at(&GAMES, &[])?;
    let names = "table.standings tbody th .name";
    let by_rank = report.texts(names)?;
    report.browser.click("[data-keep='sort-Standings-name']")?;
    let mut sorted = by_rank.clone();
    sorted.sort();
    same("by name", &report.texts(names)?, &sorted)?;
    let sort =
        "return document.querySelector('[data-keep=sort-Standings-name]').parentElement.ariaSort";
    same("said", &report.browser.text(sort)?, &"ascending".to_owned())?;
    // With the keyboard: the button still has the focus.
    report.browser.keys(&['\u{e007}'])?;
    sorted.reverse();
    same("by name, from the end", &report.texts(names)?, &sorted)?;
    report
        .browser
        .click("[data-keep='sort-Standings-points']")?;
    let of_column = "const heads = [...document.querySelectorAll('table.standings thead tr > *')];
        const place = heads.findIndex(head => head.textContent.startsWith('points'));
        return [...document.querySelectorAll('table.standings tbody tr')].map(row => row.children[place].textContent)";
    let points = report.browser.run(of_column)?;
    let points: Vec<String> = serde_json::from_value(points).map_err(|e| e.to_string())?;
    let numbers: Vec<f64> = points
        .iter()
        .map(|text| text.replace('½', ".5").parse().unwrap_or(f64::NAN))
        .collect();
    if !numbers.is_sorted_by(|a, b| a >= b) {
        return Err(format!("by points: {points:?}"));
    }
    report.browser.is_quiet()
}

fn games_are_filtered() -> Result<()> {
    let report = OpenReport::at(&GAMES, &[])?;
    let found = || report.text_of("p.hint[role=status]");
    report.browser.run("location.hash = '#games'")?;
    report
        .browser
        .wait("return document.querySelector('form.filters') !== null")?;
    let all = GAMES.len();
    same("all", &found()?, &format!("{all} games"))?;
    let choose = |field: &str, text: &str| {
        report.browser.run(&format!(
            "const field = document.querySelector('[data-keep=\"filter-{field}\"]');
             field.value = [...field.options].find(o => o.textContent === {}).value;
             field.dispatchEvent(new Event('change', {{ bubbles: true }}))",
            json!(text)
        ))
    };
    choose("of", "script.sh")?;
    choose("ending", "forfeited by the bot")?;
    let count =
        |holds: &dyn Fn(&Value) -> bool| GAMES.iter().filter(|record| holds(record)).count();
    let forfeited = count(&|record| {
        record["result"]["by"].as_u64().is_some_and(|by| {
            record["bots"][usize::try_from(by).unwrap_or(0)]["name"] == "script.sh"
        })
    });
    same(
        "forfeited",
        &found()?,
        &format!("{forfeited} of {all} games"),
    )?;
    choose("against", "builtin:greedy")?;
    let against = count(&|record| {
        !record["result"]["by"].is_null() && record["bots"][0]["name"] == "builtin:greedy"
    });
    same("against", &found()?, &format!("{against} of {all} games"))?;
    // The address says so, too, and can be opened again.
    let address = report.browser.text("return location.hash")?;
    report.open(&address)?;
    same("again", &found()?, &format!("{against} of {all} games"))?;
    report.browser.click("[data-keep='filter-clear']")?;
    report.browser.wait("return location.hash === '#games'")?;
    same("cleared", &found()?, &format!("{all} games"))?;
    report.browser.click("[data-keep='filter-text']")?;
    report.browser.keys(&['f', 'o', 'u', 'r', '-'])?;
    let fours = count(&|record| record["result"]["reason"] == "four-in-a-row");
    same("searched", &found()?, &format!("{fours} of {all} games"))?;
    report.browser.is_quiet()
}

/// The expected description of a Quarto board.
fn description(
    edition: &Edition,
    position: &<Edition as BuiltinGame>::Position,
    won: &[String],
) -> String {
    let pieces: Vec<String> = Cell::all()
        .filter_map(|cell| {
            let piece = position.board().get(cell)?;
            let words = edition.set.words(piece).join(" ");
            Some(format!(
                "{} {}: {words}",
                cell.number(),
                edition.set.symbol(piece)
            ))
        })
        .collect();
    let pieces = if pieces.is_empty() {
        "Empty".to_owned()
    } else {
        pieces.join("; ")
    };
    let won = if won.is_empty() {
        String::new()
    } else {
        format!(" Quarto: {}.", won.join(", "))
    };
    format!("The board. {pieces}.{won}")
}

/// Steps through a game from its start, and compares every board with the rules'.
fn step_through(report: &OpenReport, number: usize) -> Result<()> {
    let record = &GAMES[number - 1];
    let set = match record["pieces"].as_str() {
        None => PieceSet::default(),
        Some(text) => PieceSet::parse(text).map_err(|e| e.to_string())?,
    };
    let rules = Rules::from_name(record["rules"].as_str().unwrap_or_default()).ok_or("rules")?;
    let edition = Edition::new(rules, set);
    let start = record["start"].as_str().unwrap_or_default();
    let mut position = edition
        .start_from(start)
        .map_err(|error| error.to_string())?;
    let board = || {
        report
            .browser
            .text("return document.querySelector('.stage svg').getAttribute('aria-label')")
    };
    report.open(&format!("#game={number}&turn=0"))?;
    same(
        "the start",
        &board()?,
        &description(&edition, &position, &[]),
    )?;
    for (turn, answer) in record["turns"].as_array().into_iter().flatten().enumerate() {
        let answer = answer.as_str().unwrap_or_default();
        (_, position) = edition
            .judge(&position, answer)
            .map_err(|e| format!("{e:?}"))?;
        report.browser.keys(&[RIGHT])?;
        let mut won: Vec<String> = edition
            .winning_lines(&position)
            .into_iter()
            .map(|(line, _)| line)
            .collect();
        won.dedup();
        same(
            &format!("turn {}", turn + 1),
            &board()?,
            &description(&edition, &position, &won),
        )?;
        let left = report.text_of(".left h3")?;
        same(
            "left",
            &left,
            &format!("Pieces left: {}", position.left().count()),
        )?;
        same(
            "at hand",
            &report.count(".hand .slot")?,
            &f64::from(u8::from(position.hand().is_some())),
        )?;
    }
    if position.outcome().is_some() {
        let result = &record["result"];
        let lines: Vec<String> = result["lines"]
            .as_array()
            .into_iter()
            .flatten()
            .map(|line| {
                format!(
                    "{} {}",
                    line[0].as_str().unwrap_or(""),
                    line[1].as_str().unwrap_or("")
                )
            })
            .collect();
        let winner = usize::try_from(result["winner"].as_u64().unwrap_or(0)).unwrap_or(0);
        let name = record["bots"][winner]["name"].as_str().unwrap_or("");
        let expected = format!("{name} wins: {}", lines.join(", "));
        same("the end", &report.text_of(".final")?, &expected)?;
        let strokes = report.count(".stage .stroke")?;
        if strokes < 1.0 || report.count(".stage .cell.winning")? < 4.0 {
            return Err("the winning line is not marked".to_owned());
        }
    }
    Ok(())
}

fn steps_go_to_the_quarto_by_the_rules() -> Result<()> {
    let report = OpenReport::at(&GAMES, &[])?;
    step_through(&report, number_of(is_quarto)?)?;
    step_through(
        &report,
        number_of(|record| record["start"] == "A......P........")?,
    )?;
    step_through(
        &report,
        number_of(|record| record["rules"] == "squares" && record["result"]["reason"] == "quarto")?,
    )?;
    report.browser.is_quiet()
}

fn steps_go_by_keys_buttons_and_time() -> Result<()> {
    let report = OpenReport::at(&GAMES, &[])?;
    let number = number_of(is_quarto)?;
    let turns = GAMES[number - 1]["turns"].as_array().map_or(0, Vec::len);
    let at = || {
        report
            .browser
            .text("return document.querySelector('.controls input').value")
    };
    report.open(&format!("#game={number}"))?;
    same("a game opens at its start", &at()?, &"0".to_owned())?;
    report.browser.keys(&[END])?;
    same("end", &at()?, &turns.to_string())?;
    report.browser.keys(&[HOME])?;
    same("home", &at()?, &"0".to_owned())?;
    report.browser.keys(&[RIGHT, RIGHT, RIGHT, LEFT])?;
    same("arrows", &at()?, &"2".to_owned())?;
    report
        .browser
        .click(".controls button[aria-label^='One turn on']")?;
    report
        .browser
        .click(".controls button[aria-label^='One turn back']")?;
    report
        .browser
        .click(".controls button[aria-label^='One turn back']")?;
    same("buttons", &at()?, &"1".to_owned())?;
    same(
        "the address",
        &report.browser.text("return location.hash")?,
        &format!("#game={number}&turn=1"),
    )?;
    report.browser.keys(&[END, HOME])?;
    report.browser.run("document.activeElement.blur(); const pace = document.querySelector('.controls select'); pace.value = '300'; pace.dispatchEvent(new Event('change'))")?;
    report.browser.keys(&[' '])?;
    report.browser.wait(&format!(
        "return document.querySelector('.controls input').value === '{turns}'"
    ))?;
    report
        .browser
        .wait("return document.querySelector('.controls button[aria-label^=Play]') !== null")?;
    report.browser.keys(&['n'])?;
    report
        .browser
        .wait(&format!("return location.hash === '#game={}'", number + 1))?;
    report.browser.is_quiet()
}

fn links_lead_to_a_game_and_turn() -> Result<()> {
    let report = OpenReport::at(&GAMES, &[])?;
    report.open("#game=12&turn=4")?;
    let turn = |expected: &str| -> Result<()> {
        let found = report.text_of(".story .turn")?;
        if found.starts_with(expected) {
            Ok(())
        } else {
            Err(format!("{found}; expected {expected}"))
        }
    };
    turn("Turn 4 of ")?;
    if !report.text_of("h1")?.starts_with("Game 12: ") {
        return Err(report.text_of("h1")?);
    }
    // Within the page, and by the columns of times.
    report.browser.run("location.hash = '#game=12&turn=2'")?;
    report
        .browser
        .wait("return document.querySelector('.story .turn').textContent.startsWith('Turn 2 ')")?;
    // The turns of the game that was opened last may not be there yet.
    report
        .browser
        .wait("return document.querySelectorAll('.turn-times a').length > 4")?;
    report.browser.run("document.querySelectorAll('.turn-times a')[4].dispatchEvent(new MouseEvent('click', { bubbles: true, cancelable: true }))")?;
    report
        .browser
        .wait("return document.querySelector('.story .turn').textContent.startsWith('Turn 5 ')")?;
    // The list shows the turn that the board shows.
    let turns = |record: &Value| record["turns"].as_array().map_or(0, Vec::len);
    let longest = GAMES.iter().map(turns).max().unwrap_or(0);
    let number = number_of(|record| turns(record) == longest)?;
    report.open(&format!("#game={number}&turn={longest}"))?;
    report.browser.wait(
        "const [list, now] = [document.querySelector('.moves'), document.querySelector('.moves .now')].map(e => e.getBoundingClientRect());
         return now.top >= list.top && now.bottom <= list.bottom + 1",
    )?;
    // Beyond the end is the end.
    report.open("#game=12&turn=999")?;
    report
        .browser
        .wait("return document.querySelector('.final') !== null")?;
    report.browser.click(".copy")?;
    report.browser.wait(
        "return ['Copied', 'Press Ctrl+C'].includes(document.querySelector('.copy').textContent)",
    )?;
    report.browser.is_quiet()
}

/// Hostile texts for a bot's name, answer and stderr, and for fields of forged records.
const HOSTILE: [&str; 8] = [
    "<script>window.pwned = 1</script>",
    "</script><img src=x onerror='window.pwned = 2'>",
    "<!--<script>",
    "\"quoted' & `ticked` {{ title }} {% raw %}",
    "\u{202e}desrever\u{2066}\u{200b}",
    "\u{2028}line\u{2029}separators",
    "__proto__",
    "constructor",
];

fn hostile_text_is_text() -> Result<()> {
    let mut records = Vec::new();
    for (i, hostile) in HOSTILE.iter().enumerate() {
        let mut record = GAMES[0].clone();
        record["bots"][0]["name"] = format!(
            "{hostile}{}",
            if i == 0 {
                "x".repeat(300)
            } else {
                String::new()
            }
        )
        .into();
        record["bots"][0]["command"] = json!([hostile]);
        record["bots"][1]["name"] = format!("other {hostile}").into();
        record["id"] = (*hostile).into();
        record["result"] = json!({
            "winner": 1, "by": 0, "reason": hostile, "answer": hostile, "lines": [[hostile, hostile]],
            "detail": format!("it answered {hostile}"), "stderr": format!("{hostile}\n{hostile}\u{1b}[2J"),
        });
        record["analysis"] =
            json!({"turns": [{"turn": 1, "mark": hostile, "text": hostile, "better": hostile}]});
        records.push(record);
        // And a record with invalid turns, game and rules.
        let mut forged = GAMES[0].clone();
        forged["turns"] = json!([hostile, "6 6 6 6", "99 Q"]);
        forged["times_ms"] = json!([-1.0, 1e300, 0.0]);
        forged["start"] = (*hostile).into();
        if i % 2 == 1 {
            forged["game"] = (*hostile).into();
            forged["pieces"] = (*hostile).into();
        }
        records.push(forged);
    }
    let report = OpenReport::at(
        &records,
        &["--title", "</title><script>window.pwned = 3</script>"],
    )?;
    let bots = report.browser.run(
        "return JSON.parse(document.getElementById('data').textContent).entries.filter(e => e[0] === 'b').length",
    )?;
    let views = (1..=bots.as_u64().unwrap_or(0))
        .map(|bot| format!("#bot={bot}"))
        .chain(
            (1..=records.len())
                .flat_map(|game| [format!("#game={game}"), format!("#game={game}&turn=1")]),
        )
        .chain(["#games".to_owned(), "#overview".to_owned()]);
    for view in views {
        report
            .browser
            .run(&format!("location.hash = {}", json!(view)))?;
        report.browser.wait(&format!(
            "return document.querySelector('main h1') !== null && {}.startsWith(location.hash.split('&')[0])",
            json!(view)
        ))?;
        // Everything that is shown was made by the page: no element came out of a text. Its scripts are the data, the
        // solvers and the program.
        let strange = report.browser.number(
            "return document.querySelectorAll('main script, main img, main [onerror], body > img, iframe, object').length + document.scripts.length - 3",
        )?;
        same(&view, &strange, &0.0)?;
        let width = "return document.documentElement.scrollWidth > innerWidth";
        report.browser.size(360, 740, true)?;
        let phone = report.browser.run(width)?;
        same(
            &format!("{view} is too wide for a phone"),
            &phone,
            &Value::Bool(false),
        )?;
        report.browser.size(1280, 900, false)?;
        let wide = report.browser.run(width)?;
        same(&format!("{view} is too wide"), &wide, &Value::Bool(false))?;
        let hidden = report.browser.run(r"return /[\u202a-\u202e\u2028\u2029\u2066-\u2069\u200b\u001b]/.test([...document.body.children].filter(e => e.tagName !== 'SCRIPT').map(e => e.textContent).join(''))")?;
        same(
            &format!("{view} has hidden characters"),
            &hidden,
            &Value::Bool(false),
        )?;
    }
    report.open("#bot=1")?;
    if !report.text_of("h1")?.starts_with(HOSTILE[0]) {
        return Err(report.text_of("h1")?);
    }
    same(
        "the answer",
        &report.text_of(".answer")?,
        &HOSTILE[0].to_owned(),
    )?;
    same(
        "pwned",
        &report.browser.run("return window.pwned ?? null")?,
        &Value::Null,
    )?;
    report.browser.is_quiet()
}

fn an_analysis_is_shown_at_its_turns() -> Result<()> {
    let number = number_of(is_quarto)?;
    let mut records = GAMES.clone();
    records[number - 1]["analysis"] = json!({"by": "a test", "turns": [
        {"turn": 2, "value": "draw", "best": "draw", "in": 9},
        {"turn": 3, "value": "loss", "best": "win", "better": "6 A", "text": "gave away a win"},
        {"turn": 4, "value": "win", "best": "win", "mark": "only"},
    ]});
    let report = OpenReport::at(&records, &[])?;
    report.open(&format!("#game={number}&turn=2"))?;
    same(
        "turn 2",
        &report.text_of(".judged")?,
        &"Draw with best play.".to_owned(),
    )?;
    report.browser.keys(&[RIGHT])?;
    same(
        "turn 3",
        &report.text_of(".judged")?,
        &"blunderGave away a win. Better: place I on 6 and give A.".to_owned(),
    )?;
    same(
        "marks",
        &report.texts(".moves .badge")?,
        &vec!["??".to_owned(), "!".to_owned()],
    )?;
    let fields = report.browser.run(
        "return [...document.querySelectorAll('.winners a')].slice(0, 5).map(e => e.className)",
    )?;
    // Turn 3 left a loss, so the other side wins, which moves in even turns.
    same(
        "winners",
        &fields,
        &json!(["", "even", "side-1 now", "side-1", ""]),
    )?;
    // And at the bot whose turn it was.
    let record = &records[number - 1];
    let first = usize::try_from(record["first"].as_u64().unwrap_or(0)).unwrap_or(0);
    let name = record["bots"][first]["name"].as_str().unwrap_or("");
    report.browser.run(&format!(
        "[...document.querySelectorAll('.versus a')].find(a => a.textContent === {}).click()",
        json!(name)
    ))?;
    report
        .browser
        .wait("return document.querySelector('#card-analysis') !== null")?;
    // The table of the phases has the number; beside it is none that says something else.
    let all = report.texts("[aria-labelledby=card-analysis] tbody tr:last-child td")?;
    same("blunders", &all[2], &"1".to_owned())?;
    same(
        "chips",
        &report.texts("[aria-labelledby=card-analysis] .badge")?,
        &Vec::new(),
    )?;
    report.browser.is_quiet()
}

fn private_reports_leave_stderr_out() -> Result<()> {
    let forfeit = number_of(|record| record["bots"][1]["name"] == "script.sh")?;
    let open = |arguments: &[&str]| -> Result<(f64, f64)> {
        let report = OpenReport::at(&GAMES, arguments)?;
        report.open(&format!("#game={forfeit}&turn=99"))?;
        let stderr = report.count(".fault pre")?;
        report.open("#bot=3")?;
        Ok((stderr, report.count(".command")?))
    };
    // The command that reproduces it, and stderr.
    same("open", &open(&[])?, &(2.0, 1.0))?;
    same("private", &open(&["--private"])?, &(0.0, 0.0))
}

/// Text with less contrast to its background than the Web Content Accessibility Guidelines require (AA).
const CONTRAST: &str = r"
    const channel = c => (c /= 255) <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4;
    // A mixed colour is written with numbers up to 1.
    const parse = text => (text.match(/[\d.]+/g) ?? []).map(n => n * (text.startsWith('color(srgb') ? 255 : 1));
    const light = ([r, g, b]) => 0.2126 * channel(r) + 0.7152 * channel(g) + 0.0722 * channel(b);
    const behind = e => { for (; e; e = e.parentElement) { const c = parse(getComputedStyle(e).backgroundColor); if (c.length === 3 || c[3] === 1) return c; } return [255, 255, 255]; };
    const bad = new Set();
    for (const e of document.querySelectorAll('body *')) {
      if (e instanceof SVGElement || e.closest('.unseen, .skip, svg, script, .slot') || e.disabled || e.offsetParent === null) continue;
      if (![...e.childNodes].some(n => n.nodeType === 3 && n.textContent.trim())) continue;
      const style = getComputedStyle(e);
      const [a, b] = [light(parse(style.color)), light(behind(e))];
      const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
      const large = parseFloat(style.fontSize) >= 24 || (parseFloat(style.fontSize) >= 18.66 && style.fontWeight >= 700);
      if (ratio < (large ? 3 : 4.5)) bad.add(`${e.tagName}.${e.className} ${e.textContent.slice(0, 20)} ${ratio.toFixed(2)}`);
    }
    return [...bad];";

/// Controls without an accessible name.
const NAMELESS: &str = "
    return [...document.querySelectorAll('button, a, input, select, summary, [role=img]')]
      .filter(e => !e.hidden && !(e.ariaLabel || e.textContent.trim() || e.getAttribute('aria-label') || e.closest('label')?.textContent.trim() || e.getAttribute('title')))
      .map(e => e.outerHTML.slice(0, 120))
      .concat([...document.querySelectorAll('table')].filter(t => !t.caption).map(t => 'no caption'))
      .concat(document.querySelectorAll('h1').length === 1 ? [] : ['not one h1'])";

/// The view fits the screen, its text has enough contrast, and its controls have names.
fn can_be_read(browser: &Browser, what: &str) -> Result<()> {
    let wide = browser.number("return document.documentElement.scrollWidth - innerWidth")?;
    if wide > 0.0 {
        return Err(format!("{what}: {wide} pixels too wide"));
    }
    for (problem, script) in [("contrast", CONTRAST), ("no name", NAMELESS)] {
        let found = browser.run(script)?;
        if found.as_array().is_none_or(|found| !found.is_empty()) {
            return Err(format!("{what}: {problem}: {found:#}"));
        }
    }
    Ok(())
}

fn everything_can_be_read_in_both_themes_on_all_screens() -> Result<()> {
    let report = OpenReport::at(&GAMES, &["--title", "Spring cup"])?;
    let pictures = Path::new(env!("CARGO_TARGET_TMPDIR")).join("report");
    fs::create_dir_all(&pictures).map_err(|e| e.to_string())?;
    let quarto = number_of(is_quarto)?;
    let fault = number_of(|record| !record["result"]["by"].is_null())?;
    let views = [
        ("overview", "#overview".to_owned()),
        ("bot", "#bot=3".to_owned()),
        ("games", "#games".to_owned()),
        ("game", format!("#game={quarto}")),
        ("fault", format!("#game={fault}")),
    ];
    let mut papers = Vec::new();
    for theme in ["light", "dark"] {
        report.browser.prefers("prefers-color-scheme", theme)?;
        papers.push(
            report
                .browser
                .text("return getComputedStyle(document.body).backgroundColor")?,
        );
        for (screen, width, height) in [("desk", 1280, 900), ("phone", 360, 740)] {
            report.browser.size(width, height, screen == "phone")?;
            for (name, hash) in &views {
                report.open(hash)?;
                let what = format!("{name}-{screen}-{theme}");
                let picture = STANDARD
                    .decode(report.browser.picture()?)
                    .map_err(|e| e.to_string())?;
                fs::write(pictures.join(format!("{what}.png")), picture)
                    .map_err(|e| e.to_string())?;
                can_be_read(&report.browser, &what)?;
            }
        }
    }
    if papers[0] == papers[1] {
        return Err(format!("both themes are {}", papers[0]));
    }
    // The switch is stronger than the system, and remembered.
    report.open("")?;
    report.browser.click("#theme")?;
    let paper = report
        .browser
        .text("return getComputedStyle(document.body).backgroundColor")?;
    same("light by choice", &paper, &papers[0])?;
    report.browser.is_quiet()
}

fn people_who_cannot_see_it_move_or_use_a_mouse_are_served() -> Result<()> {
    let report = OpenReport::at(&GAMES, &[])?;
    report.open(&format!("#game={}&turn=1", number_of(is_quarto)?))?;
    report.browser.keys(&[TAB])?;
    let focused = "return document.activeElement.textContent";
    same(
        "first",
        &report.browser.text(focused)?,
        &"Skip to the content".to_owned(),
    )?;
    let ring = "return getComputedStyle(document.activeElement).outlineStyle";
    same("ring", &report.browser.text(ring)?, &"solid".to_owned())?;
    let moving =
        "return getComputedStyle(document.querySelector('.fresh') ?? document.body).animationName";
    report.browser.keys(&[RIGHT])?;
    same("moves", &report.browser.text(moving)?, &"drop".to_owned())?;
    let told = report.text_of("#announcements")?;
    if !told.starts_with("Turn 2: ") {
        return Err(format!("said: {told}"));
    }
    report.browser.prefers("prefers-reduced-motion", "reduce")?;
    same("moves", &report.browser.text(moving)?, &"none".to_owned())?;
    // Colours of the system alone: an outline shows which tab is open.
    report.open("")?;
    report.browser.prefers("forced-colors", "active")?;
    let outlines = "return [...document.querySelectorAll('.top nav a')].filter((tab) => \
        (getComputedStyle(tab).outlineStyle === 'solid') !== (tab.getAttribute('aria-current') === 'page')).length + ' of ' + \
        document.querySelectorAll('.top nav a[aria-current=page]').length";
    same(
        "tabs",
        &report.browser.text(outlines)?,
        &"0 of 1".to_owned(),
    )
}

fn it_prints_and_can_be_read_without_a_script() -> Result<()> {
    let report = OpenReport::at(&GAMES, &[])?;
    // A dark page is printed light.
    report.browser.prefers("prefers-color-scheme", "dark")?;
    let table = "return getComputedStyle(document.documentElement).getPropertyValue('--table')";
    let dark = report.browser.text(table)?;
    let print = report
        .browser
        .devtools("Page.printToPDF", &json!({"printBackground": true}))?;
    let pdf = STANDARD
        .decode(print["data"].as_str().unwrap_or(""))
        .map_err(|e| e.to_string())?;
    if !pdf.starts_with(b"%PDF") {
        return Err("no PDF".to_owned());
    }
    fs::write(
        Path::new(env!("CARGO_TARGET_TMPDIR")).join("report.pdf"),
        pdf,
    )
    .map_err(|e| e.to_string())?;
    report.browser.devtools(
        "Emulation.setEmulatedMedia",
        &json!({"media": "print", "features": [{"name": "prefers-color-scheme", "value": "dark"}]}),
    )?;
    let hidden = "return getComputedStyle(document.querySelector('.top')).display";
    same(
        "the navigation",
        &report.browser.text(hidden)?,
        &"none".to_owned(),
    )?;
    if report.browser.text(table)? == dark {
        return Err(format!("printed as dark: {dark}"));
    }
    report.browser.devtools(
        "Emulation.setScriptExecutionDisabled",
        &json!({"value": true}),
    )?;
    report.browser.go("about:blank")?;
    report.browser.go(&report.url)?;
    report.browser.devtools(
        "Emulation.setScriptExecutionDisabled",
        &json!({"value": false}),
    )?;
    let table = report.text_of("pre")?;
    if !table.contains("points") {
        return Err(table);
    }
    same("words", &report.count("noscript")?, &1.0)
}

fn ten_thousand_games_open_quickly() -> Result<()> {
    let records = many(&GAMES, 10_000, 20);
    let report = OpenReport::at(&records, &[])?;
    if report.size >= 10_000_000 {
        return Err(format!("{} bytes", report.size));
    }
    // From the beginning of the load until everything is drawn, as the page itself sees it.
    let opened = "return performance.getEntriesByName('read')[0].startTime";
    let mut times = Vec::new();
    for hash in ["#overview", "#games", "#game=9999&turn=3", "#bot=7"] {
        report.open(hash)?;
        packed::wait_for_games(&report)?;
        times.push(report.browser.number(opened)?);
    }
    let sorted = "const before = performance.now(); document.querySelector('[data-keep$=\"-second\"]').click(); return performance.now() - before";
    report.open("#games")?;
    packed::wait_for_games(&report)?;
    let sort = report.browser.number(sorted)?;
    // Generous limits, for busy machines.
    #[expect(clippy::print_stderr, reason = "a measurement for people")]
    {
        eprintln!(
            "10,000 games: {} bytes; opened in ms: {times:.0?}; sorted in {sort:.0} ms",
            report.size
        );
    }
    if times.iter().any(|&ms| ms > 10_000.0) || sort > 10_000.0 {
        return Err(format!("{times:?} {sort}"));
    }
    report.browser.is_quiet()
}

fn a_page_follows_games_as_they_end() -> Result<()> {
    let scratch = tempfile::tempdir().map_err(|e| e.to_string())?;
    let path = write(&scratch.path().join("games.jsonl"), &GAMES[..21]);
    let mut running = Referee::new(["report", "--live=0", "--title", "Live cup"])
        .args([&path])
        .shell("exec \"$0\" \"$@\" 2> \"$SCRATCH/said\"")
        .start();
    let said = running.scratch().join("said");
    running.wait_until(|_| fs::read_to_string(&said).is_ok_and(|said| said.contains("watch at")));
    let said = fs::read_to_string(&said).map_err(|e| e.to_string())?;
    let url = said
        .split_whitespace()
        .find(|word| word.starts_with("http://"))
        .ok_or("no address")?;
    let browser = Browser::start()?;
    browser.go(url)?;
    let shows = |text: &str| {
        browser.wait(&format!(
            "return document.getElementById('live').textContent === {}",
            json!(text)
        ))
    };
    shows("Live · 21 games")?;
    browser.wait("return document.querySelectorAll('table.standings tbody tr').length === 3")?;
    // The user's choices stay while games are added.
    browser.click("[data-keep='sort-Standings-name']")?;
    browser.run("window.stays = true")?;
    let mut file = fs::OpenOptions::new()
        .append(true)
        .open(&path)
        .map_err(|e| e.to_string())?;
    let append = |file: &mut fs::File, text: &str| {
        std::io::Write::write_all(file, text.as_bytes()).map_err(|e| e.to_string())
    };
    for record in &GAMES[21..24] {
        append(&mut file, &format!("{record}\n"))?;
    }
    // Half a line is no game yet.
    let last = format!("{}\n", GAMES[24]);
    append(&mut file, &last[..50])?;
    shows("Live · 24 games")?;
    append(&mut file, &last[50..])?;
    shows("Live · 25 games")?;
    browser.wait("return document.querySelectorAll('table.standings tbody tr').length === 3")?;
    let focused = browser.run("return document.activeElement.dataset.keep ?? null")?;
    same("focus", &focused, &json!("sort-Standings-name"))?;
    same(
        "loaded once",
        &browser.run("return window.stays")?,
        &json!(true),
    )?;
    // A late second window gets everything.
    let late = Browser::start()?;
    late.go(&format!("{url}#game=25"))?;
    late.wait(
        "return document.querySelector('.replay h1')?.textContent.startsWith('Game 25') === true",
    )?;
    browser.run("location.hash = '#game=2&turn=3'")?;
    browser.wait(
        "return document.querySelector('.story .turn')?.textContent.startsWith('Turn 3') === true",
    )?;
    running.signal("INT");
    let run = running.finish();
    same("exit", &run.code, &Some(130))?;
    for browser in [&browser, &late] {
        browser.wait(
            "return document.getElementById('live').textContent === 'Interrupted · 25 games'",
        )?;
        browser.is_quiet()?;
    }
    // And the open game is still shown.
    same(
        "the turn",
        &browser.run(
            "return document.querySelector('.story .turn').textContent.startsWith('Turn 3')",
        )?,
        &json!(true),
    )
}

fn one_game_is_a_page() -> Result<()> {
    let scratch = tempfile::tempdir().map_err(|e| e.to_string())?;
    let path = write(&scratch.path().join("games.jsonl"), &GAMES);
    let page: PathBuf = scratch.path().join("one.html");
    let number = number_of(is_quarto)?;
    let run = Referee::new(["replay", "--number", &number.to_string()])
        .args([format!("--out={}", page.display())])
        .args([&path])
        .run();
    same("exit", &run.code, &Some(0)).map_err(|e| format!("{e}\n{run}"))?;
    let browser = Browser::start()?;
    browser.go(&format!("file://{}", page.display()))?;
    browser.wait("return document.querySelector('.controls') !== null && document.querySelectorAll('nav a').length === 0")?;
    browser.keys(&[END])?;
    browser.wait("return document.querySelector('.final') !== null")?;
    browser.keys(&[LEFT])?;
    browser.wait("return document.querySelector('.final') === null")?;
    browser.is_quiet()
}

// ----------------------------------------------------------------------------------------------

type Test = (&'static str, fn() -> Result<()>);

const TESTS: [Test; 78] = [
    (
        "its calibration is a count of the records",
        thoughts::its_calibration_is_a_count_of_the_records,
    ),
    (
        "thoughts are their authors own",
        thoughts::thoughts_are_their_authors_own,
    ),
    (
        "every view opens without messages in the console",
        every_view_opens_without_messages,
    ),
    (
        "a policy keeps everything else out",
        a_policy_keeps_everything_else_out,
    ),
    ("tables sort", tables_sort),
    ("games are filtered", games_are_filtered),
    (
        "steps go to the quarto by the rules",
        steps_go_to_the_quarto_by_the_rules,
    ),
    (
        "steps go by keys, buttons and time",
        steps_go_by_keys_buttons_and_time,
    ),
    (
        "links lead to a game and turn",
        links_lead_to_a_game_and_turn,
    ),
    ("hostile text is text", hostile_text_is_text),
    (
        "an analysis is shown at its turns",
        an_analysis_is_shown_at_its_turns,
    ),
    (
        "private reports leave stderr out",
        private_reports_leave_stderr_out,
    ),
    (
        "everything can be read in both themes on all screens",
        everything_can_be_read_in_both_themes_on_all_screens,
    ),
    (
        "people who cannot see it move or use a mouse are served",
        people_who_cannot_see_it_move_or_use_a_mouse_are_served,
    ),
    (
        "it prints and can be read without a script",
        it_prints_and_can_be_read_without_a_script,
    ),
    (
        "a page follows games as they end",
        a_page_follows_games_as_they_end,
    ),
    ("one game is a page", one_game_is_a_page),
    ("every view is accessible", access::every_view_is_accessible),
    (
        "everything is reached by keyboard",
        access::everything_is_reached_by_keyboard,
    ),
    (
        "the focus stays where it was",
        access::the_focus_stays_where_it_was,
    ),
    (
        "only the named origin frames the page",
        access::only_the_named_origin_frames_the_page,
    ),
    ("many games are unpacked", packed::many_games_are_unpacked),
    (
        "games that cannot be unpacked are said",
        packed::games_that_cannot_be_unpacked_are_said,
    ),
    (
        "every winning line is drawn",
        views::every_winning_line_is_drawn,
    ),
    (
        "the next game and the way back are those of the list",
        views::the_next_game_and_the_way_back_are_those_of_the_list,
    ),
    (
        "a fault is beside the name of its bot",
        views::a_fault_is_beside_the_name_of_its_bot,
    ),
    (
        "sixty bots can be told apart",
        views::sixty_bots_can_be_told_apart,
    ),
    (
        "ratings are drawn once they mean something",
        views::ratings_are_drawn_once_they_mean_something,
    ),
    ("labels answer readers", labels::labels_answer_readers),
    (
        "an analysed tournament has its analysis on its page",
        labels::an_analysed_tournament_has_its_analysis_on_its_page,
    ),
    ("every shade can be read", views::every_shade_can_be_read),
    (
        "small screens and odd names",
        views::small_screens_and_odd_names,
    ),
    (
        "the pieces of an opening are marked",
        views::the_pieces_of_an_opening_are_marked,
    ),
    (
        "a game that is a program is shown",
        views::a_game_that_is_a_program_is_shown,
    ),
    (
        "a knockout is shown as a bracket",
        course::a_knockout_is_shown_as_a_bracket,
    ),
    (
        "a Swiss tournament is shown round by round",
        course::a_swiss_tournament_is_shown_round_by_round,
    ),
    (
        "groups are shown before their bracket",
        course::groups_are_shown_before_their_bracket,
    ),
    (
        "a bracket of 64 can be read on all screens",
        course::a_bracket_of_64_can_be_read_on_all_screens,
    ),
    (
        "bots that made no turn have not won",
        course::bots_that_made_no_turn_have_not_won,
    ),
    (
        "a bracket grows while it is played",
        course::a_bracket_grows_while_it_is_played,
    ),
    (
        "the stage shows moves and the champion",
        stage::moves_appear_and_the_champion_at_the_end,
    ),
    (
        "the stage follows a tournament that goes on",
        stage::a_page_follows_a_tournament_that_goes_on,
    ),
    (
        "a page that is drawn again leaves readers where they are",
        live::a_page_that_is_drawn_again_leaves_readers_where_they_are,
    ),
    (
        "a live page has one count of games",
        live::a_live_page_has_one_count,
    ),
    (
        "the notes for the teacher are there once",
        views::the_notes_for_the_teacher_are_there_once,
    ),
    (
        "late readers get all games",
        live::late_readers_get_all_games,
    ),
    (
        "a test that was decided early says so",
        stage::who_ended_early_is_no_champion,
    ),
    (
        "a person plays a whole game",
        at_page::a_person_plays_a_whole_game,
    ),
    (
        "the stage says what it waits for",
        live::the_stage_says_what_it_waits_for,
    ),
    (
        "the stage ends with a podium",
        live::the_stage_ends_with_a_podium,
    ),
    (
        "quick games are replayed on the stage",
        stage::quick_games_are_replayed,
    ),
    ("the head says who won", story::the_head_says_who_won),
    (
        "equal bots share the first place",
        story::equal_bots_share_the_first_place,
    ),
    (
        "figures are those of the terminal",
        story::figures_are_those_of_the_terminal,
    ),
    (
        "an interrupted tournament has no champion",
        story::an_interrupted_tournament_has_no_champion,
    ),
    (
        "a person who quits has left",
        story::a_person_who_quits_has_left,
    ),
    (
        "why a bot did not enter has parts",
        story::why_a_bot_did_not_enter_has_parts,
    ),
    (
        "two bots have one score and a strip of games",
        story::two_bots_have_one_score_and_a_strip_of_games,
    ),
    (
        "the page of a bot says what to fix",
        story::the_page_of_a_bot_says_what_to_mend,
    ),
    (
        "a count of blunders leads from one to the next",
        story::a_count_of_blunders_leads_from_one_to_the_next,
    ),
    (
        "an analysis is told in words",
        story::an_analysis_is_told_in_words,
    ),
    (
        "heads and accuracy can be read on all screens",
        story::heads_and_accuracy_can_be_read_on_all_screens,
    ),
    (
        "a better turn is shown and proven",
        story::a_better_turn_is_shown_and_proven,
    ),
    (
        "pictures have the shapes of the page",
        pictures::pictures_have_the_shapes_of_the_page,
    ),
    (
        "own games begin with their bot",
        story::own_games_begin_with_their_bot,
    ),
    (
        "the module has the values of the program",
        exact::the_module_has_the_values_of_the_program,
    ),
    (
        "what each turn is worth is shown",
        exact::what_each_turn_is_worth_is_shown,
    ),
    ("a board is played on", exact::a_board_is_played_on),
    (
        "cells of a board are reached by arrow keys",
        exact::cells_of_a_board_are_reached_by_arrow_keys,
    ),
    (
        "tie-break games and wide tables on a phone",
        course::tie_break_games_and_wide_tables_on_a_phone,
    ),
    ("a cup ends with a podium", stage::a_cup_ends_with_a_podium),
    (
        "games are analysed in the browser",
        exact::games_are_analysed_in_the_browser,
    ),
    (
        "board, controls and evaluation are in the first screen",
        game::board_controls_and_evaluation_are_in_the_first_screen,
    ),
    ("a fault is a turn", game::a_fault_is_a_turn),
    (
        "a browser without WebAssembly lists the games",
        game::a_browser_without_webassembly_lists_the_games,
    ),
    ("a game is a score sheet", game::a_game_is_a_score_sheet),
    (
        "puzzles are solved by hand",
        puzzles::puzzles_are_solved_by_hand,
    ),
    (
        "puzzles can be read on all screens",
        puzzles::puzzles_can_be_read_on_all_screens,
    ),
];

/// What measures: it is tried with the load figures, with nothing beside it.
const FIGURES: [Test; 2] = [
    (
        "ten thousand games open quickly",
        ten_thousand_games_open_quickly,
    ),
    ("values are there soon", exact::values_are_there_soon),
];

fn trial(module: &str, (name, test): Test) -> Trial {
    let name = format!("{module}::{name}");
    let Some((command, package)) = driver::missing() else {
        return Trial::test(name, move || {
            let _large = LargePermit::wait();
            test().map_err(Failed::from)
        });
    };
    unavailable(name, command, package)
}

pub(crate) fn trials() -> Vec<Trial> {
    TESTS.map(|test| trial("browser", test)).into()
}

/// Of the module `load`.
pub(crate) fn figures() -> Vec<Trial> {
    FIGURES.map(|test| trial("load", test)).into()
}
