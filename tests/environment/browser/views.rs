//! What readers of the page look for: lines, filters, the way back, many bots.

use std::fs;

use rand::rngs::ChaCha8Rng;
use rand::{RngExt as _, SeedableRng as _};
use referee::game::Side;
use referee::game::registry::{self, Choices};
use referee::record::Record;
use referee::report::html;
use serde_json::{Value, json};

use super::access::is_accessible;
use super::driver::Result;
use super::{END, OpenReport, RIGHT, can_be_read, number_of, same};
use crate::common::files::executable;
use crate::common::games::{GAMES, many};

/// A won game of Quarto whose last piece completes this line, named so, as cells from 0.
fn quarto(line: &str, cells: [usize; 4]) -> Value {
    let mut start = vec!['.'; 16];
    for (cell, piece) in cells.iter().zip("ABC".chars()) {
        start[*cell] = piece;
    }
    let mut record = GAMES[0].clone();
    record["rules"] = "squares".into();
    record["start"] = start.into_iter().collect::<String>().into();
    record["turns"] = json!(["- D", format!("{} -", cells[3] + 1)]);
    record["times_ms"] = json!([1.0, 1.0]);
    record["first"] = 1.into();
    record["result"] = json!({"winner": 0, "reason": "quarto", "lines": [[line, "a property"]]});
    record
}

/// The names and cells of all lines of Quarto.
fn quarto_lines() -> Vec<(String, [usize; 4])> {
    let mut lines = Vec::new();
    for i in 0..4 {
        lines.push((format!("H{}", i + 1), [0, 1, 2, 3].map(|j| 4 * i + j)));
        lines.push((format!("V{}", i + 1), [0, 1, 2, 3].map(|j| 4 * j + i)));
    }
    lines.push(("D1".to_owned(), [0, 5, 10, 15]));
    lines.push(("D2".to_owned(), [3, 6, 9, 12]));
    for i in 0..9 {
        let corner = i / 3 * 4 + i % 3;
        let cells = [corner, corner + 1, corner + 4, corner + 5];
        lines.push((format!("S{}", i + 1), cells));
    }
    lines
}

/// The cells of all lines of Four In A Row, the lowest first.
fn fours() -> Vec<[usize; 4]> {
    let mut lines = Vec::new();
    for row in 0..6_usize {
        for column in 0..7_usize {
            for (right, up) in [(1, 0), (0, 1), (1, 1), (-1, 1)] {
                let cells = [0, 1, 2, 3].map(|i: isize| {
                    let column = column.checked_add_signed(i * right)?;
                    let row = row.checked_add_signed(-i * up)?;
                    (column < 7).then_some(7 * row + column)
                });
                if let [Some(a), Some(b), Some(c), Some(d)] = cells {
                    lines.push([a, b, c, d]);
                }
            }
        }
    }
    lines
}

/// A position in which a disc on the highest of these cells makes this line, and no other; and its column.
fn before(cells: [usize; 4]) -> (String, usize) {
    let game = registry::find("four-in-a-row").expect("a game");
    let game = game.ruleset(Choices::default());
    let last = cells.into_iter().min().unwrap_or_default();
    let column = last % 7;
    let mut rng = ChaCha8Rng::seed_from_u64(1);
    for _ in 0..100_000 {
        let mut board = vec!['.'; 42];
        for column in 0..7 {
            let own = cells.iter().filter(|&&cell| cell % 7 == column);
            let top = own.map(|cell| cell / 7 + 1).min();
            for row in top.unwrap_or_else(|| rng.random_range(3..=6))..6 {
                board[7 * row + column] = if rng.random() { '@' } else { 'O' };
            }
        }
        for cell in cells {
            board[cell] = if cell == last { '.' } else { '@' };
        }
        let board: String = board.into_iter().collect();
        let Ok(position) = game.start_from(&board) else {
            continue;
        };
        let made = position.after(&(column + 1).to_string());
        if position.to_move() == Side::First
            && made.is_ok_and(|made| {
                let lines = made.after.picture(None).lines;
                lines.len() == 1 && lines[0].len() == 4
            })
        {
            return (board, column + 1);
        }
    }
    panic!("no position before {cells:?}")
}

/// A won game of Four In A Row whose last disc makes this line.
fn four(cells: [usize; 4]) -> Value {
    let mut record = GAMES
        .iter()
        .find(|game| game["game"] == "four-in-a-row")
        .cloned();
    let record = record.as_mut().expect("a game of Four In A Row");
    let (start, column) = before(cells);
    record["start"] = start.into();
    record["turns"] = json!([column.to_string()]);
    record["times_ms"] = json!([1.0]);
    record["result"] = json!({"winner": 0, "reason": "four-in-a-row", "lines": [["a line", "@"]]});
    record.clone()
}

/// The middles of the cells that the drawn line covers from end to end, in the units of the board's picture,
/// and where the line is.
const STROKE: &str = "
    const marked = [...document.querySelectorAll('.stage .cell.winning, .stage .ring:not(.last)')].map(e => e.getBBox());
    const lines = document.querySelectorAll('.stage .stroke');
    if (lines.length !== 1) return `${lines.length} lines`;
    const box = lines[0].getBBox();
    const x = marked.map(b => b.x + b.width / 2), y = marked.map(b => b.y + b.height / 2);
    const right = [Math.min(...x), Math.min(...y), Math.max(...x), Math.max(...y)].map(Math.round);
    const drawn = [box.x, box.y, box.x + box.width, box.y + box.height].map(Math.round);
    return marked.length === 4 && String(right) === String(drawn) ? '' : `${marked.length} cells at ${right}, a line at ${drawn}`;";

/// Columns and rows of Four In A Row have their numbers beside them, and discs their letters in the middle.
fn is_numbered(report: &OpenReport) -> Result<()> {
    let middles = "const middle = e => { const b = e.getBBox(); return [b.x + b.width / 2, b.y + b.height / 2]; };
        const near = (a, b) => Math.abs(a - b) < 3;
        const slots = [...document.querySelectorAll('.stage .four .slot')].map(middle);
        const edges = [...document.querySelectorAll('.stage .four .edge')];
        const wrong = edges.filter((e, i) => e.textContent !== String(i < 7 ? i + 1 : i - 6) || !(i < 7 ? near(middle(e)[0], slots[i][0]) : near(middle(e)[1], slots[7 * (i - 7)][1])));
        const off = [...document.querySelectorAll('.stage .four .disc')].filter(e => { const [face, mark] = ['.face', '.mark'].map(s => middle(e.querySelector(s))); return !near(face[0], mark[0]) || Math.abs(face[1] - mark[1]) > 6; });
        const [frame, board] = ['.play', '.stage'].map(s => document.querySelector(s).getBoundingClientRect());
        const gaps = [board.left - frame.left, frame.right - board.right];
        return [edges.length, wrong.length, off.length, near(gaps[0], gaps[1])]";
    same(
        "numbers",
        &report.browser.run(middles)?,
        &json!([13, 0, 0, true]),
    )
}

/// Every line of both games is drawn over its cells.
pub(super) fn every_winning_line_is_drawn() -> Result<()> {
    let quartos = quarto_lines();
    let mut records: Vec<Value> = quartos
        .iter()
        .map(|(name, cells)| quarto(name, *cells))
        .collect();
    let fours = fours();
    same("lines", &(quartos.len(), fours.len()), &(19, 69))?;
    records.extend(fours.into_iter().map(four));
    let report = OpenReport::at(&records, &[])?;
    for number in 1..=records.len() {
        report
            .browser
            .run(&format!("location.hash = '#game={number}&turn=9'"))?;
        report.browser.wait(&format!(
            "return document.querySelector('h1').textContent.startsWith('Game {number}:')"
        ))?;
        let wrong = report.browser.text(STROKE)?;
        if !wrong.is_empty() {
            return Err(format!("{}: {wrong}", records[number - 1]));
        }
    }
    is_numbered(&report)?;
    report.browser.is_quiet()
}

/// The next game is that of the list, and the way back leads to where the reader was.
pub(super) fn the_next_game_and_the_way_back_are_those_of_the_list() -> Result<()> {
    let report = OpenReport::at(&many(&GAMES, 300, 5), &[])?;
    let browser = &report.browser;
    browser.run("location.hash = '#games&of=2&against=4'")?;
    browser.wait("return document.querySelector('table.games td') !== null")?;
    let listed = report.texts("table.games tbody th")?;
    if listed.len() < 12 {
        return Err(format!("{} games", listed.len()));
    }
    browser.run("window.scrollTo(0, 250)")?;
    browser.wait("return history.state?.y === 250")?;
    browser.run("document.querySelectorAll('table.games tbody th a')[2].click()")?;
    let at = |number: &str| {
        browser.wait(&format!(
            "return document.querySelector('h1').textContent.startsWith('Game {number}:')"
        ))
    };
    at(&listed[2])?;
    browser.wait(
        "return document.querySelector('.story .turn')?.textContent === 'Opening position'",
    )?;
    let steps = browser.number("return history.length")?;
    browser.run("document.querySelectorAll('.moves a')[2].click()")?;
    browser
        .wait("return document.querySelector('.story .turn').textContent.startsWith('Turn 2 ')")?;
    same("steps", &browser.number("return history.length")?, &steps)?;
    browser.run("history.back()")?;
    browser
        .wait("return document.querySelector('table.games') !== null && window.scrollY === 250")?;
    browser.run("history.forward()")?;
    at(&listed[2])?;
    browser.keys(&['n'])?;
    at(&listed[3])?;
    browser.keys(&['p'])?;
    at(&listed[2])?;
    let found = report.text_of(".around .hint")?;
    same(
        "list",
        &found,
        &format!("3 of the {} games in the list", listed.len()),
    )?;
    browser.run("document.querySelector('.above a').click()")?;
    browser.wait("return location.hash === '#games&of=2&against=4'")?;
    browser.is_quiet()
}

/// Whose fault it was stands beside its name.
pub(super) fn a_fault_is_beside_the_name_of_its_bot() -> Result<()> {
    let number = number_of(|record| record["bots"][1]["name"] == "script.sh")?;
    let record = &GAMES[number - 1];
    let reason = record["result"]["reason"].as_str().unwrap_or_default();
    let report = OpenReport::at(std::slice::from_ref(record), &[])?;
    report.open("#games")?;
    let found = report.text_of("table.games tbody td:nth-of-type(3)")?;
    let fault = format!("script.sh forfeits: {reason}");
    same("result", &found.ends_with(&fault), &true).map_err(|error| format!("{error}: {found}"))?;
    // One game says nothing about moving first, and nothing about who is better.
    report.open("")?;
    let advantage = report.count("#card-first-mover-advantage")?;
    same("first-mover advantage", &advantage, &0.0)?;
    let said = report.text_of("main")?;
    same("likelihood", &said.contains("likely"), &false)?;
    // Where no turn was made there is no chart of their times.
    let mut none = record.clone();
    none["turns"] = json!([]);
    none["times_ms"] = json!([]);
    let none = OpenReport::at(&[none], &[])?;
    for (report, charts) in [(&report, 1.0), (&none, 0.0)] {
        report.open("#game=1")?;
        same(
            "charts",
            &report.count("#card-time-per-turn-log-scale-")?,
            &charts,
        )?;
        is_accessible(&report.browser, &format!("with {charts} charts"))?;
        report.browser.is_quiet()?;
    }
    Ok(())
}

/// Curves begin when a bot has played some games; that of a bot's own page is over its games.
pub(super) fn ratings_are_drawn_once_they_mean_something() -> Result<()> {
    let report = OpenReport::at(&many(&GAMES, 60, 3), &[])?;
    let browser = &report.browser;
    let label =
        "return document.querySelector('.settling').getAttribute('aria-label').split(':')[0]";
    browser.wait("return document.querySelectorAll('.settling .curve').length === 3")?;
    let all = "Ratings after 60 games".to_owned();
    same("of all", &browser.text(label)?, &all)?;
    // Six games of three bots are four of each; the axis begins at 46.
    let begins = "return [...document.querySelectorAll('.settling .curve')].map(e => Number(/M([\\d.]+)/.exec(e.getAttribute('d'))[1]))";
    let begins = browser.run(&format!(
        "const from = (() => {{ {begins} }})(); return from.length === 3 && from.every(x => x > 75)"
    ))?;
    same("begins", &begins, &json!(true))?;
    report.open("#bot=1")?;
    browser.wait("return document.querySelector('.settling') !== null")?;
    let own = "Ratings after 40 games".to_owned();
    same("of one", &browser.text(label)?, &own)?;
    browser.is_quiet()
}

/// Curves, crosstable and length of a page of many bots.
pub(super) fn sixty_bots_can_be_told_apart() -> Result<()> {
    let report = OpenReport::at(&many(&GAMES, 3540, 60), &[])?;
    let browser = &report.browser;
    browser.wait("return document.querySelectorAll('.settling .curve').length === 60")?;
    same("named", &report.count(".settling text.end")?, &5.0)?;
    same("grey", &report.count(".settling .curve.faint")?, &55.0)?;
    // As many as are coloured differ in colour or dashes.
    for _ in 0..8 {
        browser.run("document.querySelector('.curves button[aria-pressed=false]')?.click()")?;
    }
    browser.run("for (let i = 0; i < 9; i += 1) { const more = document.querySelector('.curves select'); more.value = more.options[1].value; more.dispatchEvent(new Event('change')); }")?;
    let looks = "const looks = [...document.querySelectorAll('.settling .curve:not(.faint)')].map(e => getComputedStyle(e).stroke + e.getAttribute('stroke-dasharray')); return [looks.length, new Set(looks).size]";
    browser.wait(&format!(
        "const [all, different] = (() => {{ {looks} }})(); return all === different && all >= 19"
    ))?;
    let stops = "return document.querySelectorAll('.each td a[tabindex=\"0\"]').length";
    same("tab stops", &browser.number(stops)?, &1.0)?;
    browser.run("document.querySelector('.each td a[tabindex=\"0\"]').focus()")?;
    let label = "return document.activeElement.getAttribute('aria-label')";
    let before = browser.text(label)?;
    browser.keys(&[RIGHT])?;
    let after = browser.text(label)?;
    if before == after || !after.contains(" points (") {
        return Err(format!("{before} and {after}"));
    }
    // Names and numbers stay when it is scrolled.
    let stay = "const box = document.querySelector('.scroll:has(.each)'); box.scrollTo(900, 500);
        const frame = box.getBoundingClientRect();
        const name = box.querySelectorAll('tbody th')[20].getBoundingClientRect(), number = box.querySelectorAll('thead th')[30].getBoundingClientRect();
        return Math.abs(name.left - frame.left) < 2 && Math.abs(number.top - frame.top) < 2 && box.scrollLeft > 100";
    same("sticky", &browser.run(stay)?, &json!(true))?;
    let height = browser.number("return document.documentElement.scrollHeight")?;
    if height > 6500.0 {
        return Err(format!("{height} pixels high"));
    }
    // All columns fit a sheet.
    browser.size(720, 1000, false)?;
    browser.devtools("Emulation.setEmulatedMedia", &json!({"media": "print"}))?;
    let over = "return document.documentElement.scrollWidth - innerWidth";
    same("wider than the sheet", &browser.number(over)?, &0.0)?;
    browser.is_quiet()
}

/// On a phone a table that goes on fades at its edge; emoji that are joined are one; a mark is not cut.
pub(super) fn small_screens_and_odd_names() -> Result<()> {
    let mut records = many(&GAMES, 60, 4);
    for record in &mut records {
        let name = record["bots"][0]["name"].as_str().unwrap_or_default();
        let name = name.replace("bot 00", "\u{1f469}\u{200d}\u{1f680}");
        record["bots"][0]["name"] = name
            .replace("bot 01", "a name that is longer than its column")
            .into();
    }
    let number = number_of(super::is_quarto)?;
    records[number - 1]["analysis"] = json!({"turns": [
        {"turn": 2, "value": "draw", "best": "win", "mark": "missed-win", "better": "6 A",
         "text": "`1 B` turned a win into a draw. `6 A` would have won, and it would have been an easy one to find for all who look"},
    ]});
    let report = OpenReport::at(&records, &[])?;
    report.browser.size(390, 800, true)?;
    report.open("")?;
    // Only the crosstable is wider than the screen, and fades where it goes on.
    report
        .browser
        .wait("return document.querySelector('.scroll.more') !== null")?;
    let wide = "return [...document.querySelectorAll('.scroll.more')].map(e => e.dataset.title)";
    same("wide", &report.browser.run(wide)?, &json!(["Head to head"]))?;
    report
        .browser
        .run("document.querySelector('.scroll.more').scrollLeft = 9999")?;
    report
        .browser
        .wait("return document.querySelector('.scroll.more') === null")?;
    // What is too long for its cell is cut there.
    let within = "const cells = [...document.querySelectorAll('main tbody th')].filter(e => e.querySelector('.name'));
        return cells.length > 8 && cells.every(e => e.querySelector('.name').getBoundingClientRect().right <= e.getBoundingClientRect().right)";
    same("within", &report.browser.run(within)?, &json!(true))?;
    let names = report.texts("table.standings .name")?;
    if !names
        .iter()
        .any(|name| name.starts_with("\u{1f469}\u{200d}\u{1f680}"))
    {
        return Err(format!("{names:?}"));
    }
    // The result of a game is in view, and on a large screen all of the list.
    report.open("#games")?;
    let seen = "const box = document.querySelector('.scroll:has(.games)').getBoundingClientRect();
        return [...document.querySelectorAll('.games tbody td:nth-of-type(3)')].every(e => e.firstElementChild.getBoundingClientRect().left < box.right - 30)";
    same("results", &report.browser.run(seen)?, &json!(true))?;
    report.browser.size(1280, 800, false)?;
    report.open("#games")?;
    let whole = "const box = document.querySelector('.scroll:has(.games)'); return box.scrollWidth <= box.clientWidth && document.querySelector('.games time') !== null";
    same("started", &report.browser.run(whole)?, &json!(true))?;
    report.browser.size(390, 800, true)?;
    report.open(&format!("#game={number}&turn=2"))?;
    let cut = "const badge = document.querySelector('.judged .badge'); return badge.scrollWidth > badge.clientWidth";
    same("cut", &report.browser.run(cut)?, &json!(false))?;
    let told = report.text_of(".judged p")?;
    let words = "1 B turned a win into a draw. 6 A would have won, ";
    same("in words", &told.starts_with(words), &true)?;
    report.browser.keys(&[END])?;
    report.browser.is_quiet()
}

/// Every shade of the crosstable and of the forfeits has a text that can be read on it.
pub(super) fn every_shade_can_be_read() -> Result<()> {
    let report = OpenReport::at(&GAMES[..2], &[])?;
    let shades = "const box = document.querySelector('main > div'); for (const kind of [...Array(11).keys()].map(n => `shade-${n}`).concat([1, 2, 3, 4, 5].map(n => `blame-${n}`))) { const one = document.createElement('p'); one.className = `heat ${kind}`; one.textContent = kind; box.append(one); } return document.querySelectorAll('p.heat').length";
    for theme in ["light", "dark"] {
        report.browser.prefers("prefers-color-scheme", theme)?;
        report.open("")?;
        same("shades", &report.browser.number(shades)?, &16.0)?;
        can_be_read(&report.browser, theme)?;
    }
    Ok(())
}

/// What was on the board before the first turn is marked.
pub(super) fn the_pieces_of_an_opening_are_marked() -> Result<()> {
    let number = number_of(|record| record["start"] == "A......P........")?;
    let report = OpenReport::at(&GAMES, &[])?;
    report.open(&format!("#game={number}&turn=99"))?;
    same("marked", &report.count(".stage .opening")?, &2.0)?;
    let said = report.text_of(".play .hint")?;
    same("said", &said.contains("Dashed: opening pieces"), &true)
}

/// A game's program draws its positions: cells, text and shapes. What it draws is only drawn.
pub(super) fn a_game_that_is_a_program_is_shown() -> Result<()> {
    // It is asked by a shell, so that the test needs no interpreter.
    let game = r#"#!/bin/sh
while IFS= read -r line; do
    case $line in
    *about*) echo '{"name":"one-two","drawing":true}' ;;
    *drawing*'"state":"2'*) echo '{"svg":"<svg viewBox=\"0 0 9 9\"><script>document.title = \"bad\"</script><circle r=\"2\" onclick=\"x\"/></svg>"}' ;;
    *drawing*) echo '{"cells":[["X",""]],"columns":["a","b"],"winning":[[0,0]],"text":["<b>turn</b>"]}' ;;
    *play*'"state":"0'*) echo '{"state":"1","side":0,"request":"1","words":"says one"}' ;;
    *play*'"state":"1'*) echo '{"state":"2","over":{"winner":0},"words":"says two"}' ;;
    *'"state":"1"'*) echo '{"state":"1","side":0,"request":"1"}' ;;
    *) echo '{"state":"0","side":0,"request":"0"}' ;;
    esac
done
"#;
    let scratch = tempfile::tempdir().map_err(|error| error.to_string())?;
    let program = scratch.path().join("one-two.sh");
    executable(&program, game, 0o755);
    let mut record = GAMES[0].clone();
    for field in ["analysis", "pieces", "processes", "usage"] {
        record.as_object_mut().ok_or("an object")?.remove(field);
    }
    record["game"] = "one-two".into();
    record["rules"] = "standard".into();
    record["start"] = "0".into();
    record["turns"] = json!(["1", "2"]);
    record["movers"] = "00".into();
    record["times_ms"] = json!([1.0, 2.0]);
    record["result"] = json!({"winner": record["first"], "reason": "one-two", "lines": []});
    let program = program.to_string_lossy();
    let report = OpenReport::at(&[record], &["--game", &program])?;
    report.open("#game=1&turn=1")?;
    same("cells", &report.count(".stage .cell")?, &2.0)?;
    same("winning", &report.count(".stage .cell.winning")?, &1.0)?;
    same(
        "text",
        &report.text_of(".drawn-text")?,
        &"<b>turn</b>".to_owned(),
    )?;
    // One side made both turns.
    let columns =
        "return [...document.querySelectorAll('.moves li[class^=side]')].map(e => e.classList[0])";
    same(
        "movers",
        &report.browser.run(columns)?,
        &json!(["side-0", "side-0"]),
    )?;
    report.open("#game=1&turn=2")?;
    same("shapes", &report.count(".stage svg.drawn circle")?, &1.0)?;
    same("scripts", &report.count(".stage script")?, &0.0)?;
    let attributes = "return document.querySelector('.stage circle').getAttributeNames().join()";
    same(
        "attributes",
        &report.browser.text(attributes)?,
        &"r".to_owned(),
    )?;
    same("said", &report.text_of(".did")?.contains("says two"), &true)?;
    report.browser.is_quiet()
}

/// What a league has to say to its teacher: below the overview, folded, and on no other view.
pub(super) fn the_notes_for_the_teacher_are_there_once() -> Result<()> {
    let page = |private: bool| -> Result<OpenReport> {
        let note = |who: &str| ["late".to_owned(), who.to_owned(), "by 3 hours".to_owned()];
        let mut report = html::ReportPage::new(html::ReportPageOptions {
            title: "Term".to_owned(),
            notes: (1..=40)
                .map(|number| note(&format!("student {number}")))
                .collect(),
            private,
            ..html::ReportPageOptions::default()
        });
        for record in GAMES.iter() {
            let record = Record::from_line(record.to_string().as_bytes());
            let record = record.map_err(|error| format!("{error:?}"))?;
            let added = report.add(&record);
            added.map_err(|error| error.to_string())?;
        }
        let scratch = tempfile::tempdir().map_err(|error| error.to_string())?;
        let file = scratch.path().join("page.html");
        let text = report.page().map_err(|error| error.to_string())?;
        fs::write(&file, text).map_err(|error| error.to_string())?;
        OpenReport::page(&file, scratch)
    };
    let report = page(false)?;
    let browser = &report.browser;
    browser.size(390, 800, true)?;
    let visible = |selector: &str| {
        let selector = json!(selector);
        browser.number(&format!(
            "return [...document.querySelectorAll({selector})].filter((e) => e.checkVisibility()).length"
        ))
    };
    for (view, expected) in [
        ("", 1.0),
        ("#games", 0.0),
        ("#bot=1", 0.0),
        ("#game=1", 0.0),
        ("#overview", 1.0),
    ] {
        report.open(view)?;
        same(view, &visible(".notes")?, &expected)?;
    }
    same("rows of folded notes", &visible(".notes tr")?, &0.0)?;
    browser.run("document.querySelector('.notes summary').click()")?;
    same("rows", &visible(".notes tr")?, &40.0)?;
    browser.is_quiet()?;
    same("private", &page(true)?.count(".notes")?, &0.0)
}
