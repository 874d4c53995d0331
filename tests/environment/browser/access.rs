//! For people who use a keyboard, a screen reader, or a page within another.

use std::fs;
use std::io::{BufRead as _, BufReader, Write as _};
use std::net::TcpListener;
use std::thread;

use serde_json::{Value, json};

use super::driver::{Browser, Result};
use super::{END, OpenReport, TAB, can_be_read, is_quarto, number_of, puzzles, same};
use crate::common::Referee;
use crate::common::games::{GAMES, many, write};

const ENTER: char = '\u{e007}';

/// What the structure of a page owes to a screen reader, as a list of what is wrong.
const STRUCTURE: &str = r#"
    const wrong = [];
    const all = selector => [...document.querySelectorAll(selector)];
    const told = (what, e) => wrong.push(`${what}: ${e.outerHTML.slice(0, 120)}`);
    const ids = new Map();
    for (const e of all('[id]')) ids.set(e.id, (ids.get(e.id) ?? 0) + 1);
    for (const [id, times] of ids) if (times > 1) wrong.push(`the id ${id} is there ${times} times`);
    for (const name of ['aria-labelledby', 'aria-describedby', 'aria-controls', 'for', 'list'])
      for (const e of all(`[${name}]`)) for (const id of e.getAttribute(name).split(/\s+/)) if (!ids.has(id)) told(`${name} of nothing`, e);
    const seen = e => e.getClientRects().length > 0;
    let level = 0;
    for (const e of all('h1, h2, h3, h4, h5, h6').filter(seen)) {
      const next = Number(e.tagName[1]);
      if (next > level + 1) told(`a heading of level ${next} after one of ${level}`, e);
      if (!e.textContent.trim()) told('an empty heading', e);
      level = next;
    }
    if (all('h1').filter(seen).length !== 1) wrong.push('not one h1');
    if (all('main').length !== 1) wrong.push('not one main');
    if (!document.documentElement.lang || !document.title.trim()) wrong.push('no language or title');
    for (const e of all('[tabindex]')) if (Number(e.getAttribute('tabindex')) > 0) told('a place in the order of Tab', e);
    const CONTROLS = 'a[href], button, input, select, textarea, summary, [tabindex="0"]';
    for (const e of all('[aria-hidden=true]')) if (e.matches(CONTROLS) || e.querySelector(CONTROLS)) told('a hidden control', e);
    for (const e of all('a[href], button')) if (e.querySelector('a[href], button, input, select')) told('a control within a control', e);
    for (const e of all('ul, ol')) if ([...e.children].some(child => child.tagName !== 'LI')) told('a list of other things', e);
    for (const e of all('dl')) if ([...e.children].some(child => !['DT', 'DD', 'DIV'].includes(child.tagName))) told('a list of other things', e);
    for (const e of all('table')) {
      if (!e.caption?.textContent.trim()) told('a table without a caption', e);
      if ([...e.querySelectorAll('th')].some(th => !th.scope)) told('a head without a scope', e);
    }
    for (const e of all('svg').filter(seen)) {
      const named = e.closest('a, button, [role=img], [role=group], [aria-hidden=true]');
      if (!named) told('a picture without a role', e);
    }
    for (const e of all('main *')) {
      const style = getComputedStyle(e);
      const scrolls = (['auto', 'scroll'].includes(style.overflowX) && e.scrollWidth > e.clientWidth + 4) || (['auto', 'scroll'].includes(style.overflowY) && e.scrollHeight > e.clientHeight + 4);
      if (scrolls && e.tabIndex < 0 && !e.querySelector('a[href], button, input, select, [tabindex="0"]')) told('it scrolls, but not by keys', e);
    }
    return wrong;"#;

/// Roles that are nothing without a name.
const NAMED: [&str; 12] = [
    "button",
    "link",
    "image",
    "textbox",
    "searchbox",
    "combobox",
    "slider",
    "spinbutton",
    "checkbox",
    "table",
    "region",
    "navigation",
];

/// What is wrong with the page that is open: in its structure, and by the names that the browser tells a screen reader.
fn wrong(browser: &Browser) -> Result<Vec<String>> {
    let found = browser.run(STRUCTURE)?;
    let mut found: Vec<String> = serde_json::from_value(found).map_err(|e| e.to_string())?;
    let tree = browser.devtools("Accessibility.getFullAXTree", &json!({}))?;
    let nodes = tree["nodes"].as_array().ok_or("no accessibility tree")?;
    for node in nodes.iter().filter(|node| node["ignored"] != true) {
        let role = node["role"]["value"].as_str().unwrap_or_default();
        let name = node["name"]["value"].as_str().unwrap_or_default();
        if NAMED.contains(&role) && name.trim().is_empty() {
            found.push(format!("{role} without a name: node {}", node["nodeId"]));
        }
    }
    if nodes.len() < 20 {
        found.push(format!("only {} nodes", nodes.len()));
    }
    Ok(found)
}

pub(super) fn is_accessible(browser: &Browser, what: &str) -> Result<()> {
    let found = wrong(browser)?;
    if !found.is_empty() {
        return Err(format!("{what}: {found:#?}"));
    }
    can_be_read(browser, what)
}

/// A report with an analysed game, openings and faults, and the addresses of its views.
fn views() -> Result<(OpenReport, Vec<String>)> {
    let mut records = GAMES.clone();
    let quarto = number_of(is_quarto)?;
    records[quarto - 1]["analysis"] = json!({"v": 1, "by": "a test", "turns": [
        {"turn": 3, "value": "loss", "best": "win", "mark": "blunder", "better": "6 A", "text": "it gave the win away",
         "better_line": ["6 A", "7 B"]}]});
    let fault = number_of(|record| !record["result"]["by"].is_null())?;
    let four = number_of(|record| record["game"] == "four-in-a-row")?;
    let views = [
        "#overview".to_owned(),
        "#bot=1".to_owned(),
        "#bot=3".to_owned(),
        "#games".to_owned(),
        format!("#game={quarto}&turn=3"),
        format!("#game={four}&turn=4"),
        format!("#game={fault}&turn=99"),
        "#game=9999".to_owned(),
    ];
    let report = OpenReport::at(&records, &["--title", "Spring cup"])?;
    Ok((report, views.to_vec()))
}

pub(super) fn every_view_is_accessible() -> Result<()> {
    let (report, views) = views()?;
    let page = puzzles::page()?;
    for theme in ["light", "dark"] {
        for (width, height) in [(390, 844), (768, 1024), (1440, 900)] {
            for (report, views) in [
                (&report, views.as_slice()),
                (&page, &["#puzzle=1".to_owned()]),
            ] {
                report.browser.prefers("prefers-color-scheme", theme)?;
                report.browser.size(width, height, width < 500)?;
                for view in views {
                    report.open(view)?;
                    is_accessible(&report.browser, &format!("{view} {width} {theme}"))?;
                }
            }
        }
    }
    // Each of these would be found.
    let breaks = [
        (
            "document.querySelector('.standings button').replaceChildren(); document.querySelector('.standings button').title = ''",
            "button without a name",
        ),
        (
            "const one = document.querySelector('section h2'); one.id = 'main'",
            "the id main is there 2 times",
        ),
        (
            "document.querySelector('h2').outerHTML; const h = document.createElement('h5'); h.append('x'); document.querySelector('h1').after(h)",
            "a heading of level 5 after one of 1",
        ),
        (
            "document.querySelector('svg.record').removeAttribute('role'); document.querySelector('svg.record').removeAttribute('aria-label')",
            "a picture without a role",
        ),
        (
            "document.querySelector('.standings caption').remove()",
            "a table without a caption",
        ),
        (
            "document.querySelector('.standings th a').tabIndex = 3",
            "a place in the order of Tab",
        ),
        (
            "document.querySelector('.standings').setAttribute('aria-hidden', 'true')",
            "a hidden control",
        ),
        (
            "const box = document.createElement('input'); document.querySelector('main').append(box)",
            "textbox without a name",
        ),
        (
            "document.querySelector('dl').append(document.createElement('p'))",
            "a list of other things",
        ),
    ];
    for (script, expected) in breaks {
        // What is drawn meanwhile takes a defect away again.
        let mut found = Vec::new();
        for _ in 0..5 {
            report.open("#overview")?;
            report.browser.run(script)?;
            found = wrong(&report.browser)?;
            if found.iter().any(|found| found.contains(expected)) {
                break;
            }
        }
        if !found.iter().any(|found| found.contains(expected)) {
            return Err(format!("not found: {expected}; but {found:#?}"));
        }
    }
    report.open("#overview")?;
    report.browser.run("document.querySelector('.hint').style.color = '#999'; document.querySelector('.hint').style.background = '#aaa'")?;
    same(
        "pale",
        &can_be_read(&report.browser, "pale").is_err(),
        &true,
    )
}

/// Whether what has the focus can be seen, and its ring; null for nothing.
const FOCUS: &str = "
    const e = document.activeElement;
    if (!e || e === document.body) return null;
    e.dataset.visited = 'yes';
    const frame = e.getBoundingClientRect(), style = getComputedStyle(e);
    const isSeen = frame.width > 0 && frame.height > 0 && frame.bottom > 0 && frame.top < innerHeight && frame.right > 0 && frame.left < innerWidth;
    const hasRing = style.outlineStyle !== 'none' && parseFloat(style.outlineWidth) >= 1;
    return isSeen && hasRing ? '' : `${isSeen ? 'no ring' : 'out of sight'}: ${e.outerHTML.slice(0, 120)}`";

/// Controls that Tab has not led to, but for those that are reached by arrow keys.
const UNVISITED: &str = "
    return [...document.querySelectorAll('a[href], button, input, select, summary, [tabindex=\"0\"]')]
      .filter(e => !e.disabled && e.tabIndex >= 0 && e.checkVisibility() && !e.dataset.visited)
      .map(e => e.outerHTML.slice(0, 120))";

/// Tab leads to everything on the page that is open, and what has the focus is seen.
pub(super) fn tab_leads_everywhere(browser: &Browser, what: &str) -> Result<()> {
    let stops = "return [...document.querySelectorAll('a[href], button, input, select, summary, [tabindex=\"0\"]')].filter(e => !e.disabled && e.tabIndex >= 0 && e.checkVisibility()).length";
    let mut visited = 0.0;
    // Counted anew each time: values of turns arrive meanwhile, and bring controls with them.
    while visited <= browser.number(stops)? {
        browser.keys(&[TAB])?;
        match browser.run(FOCUS)? {
            Value::Null => break,
            Value::String(wrong) if wrong.is_empty() => visited += 1.0,
            wrong => return Err(format!("{what}: {wrong}")),
        }
    }
    let missed = browser.run(UNVISITED)?;
    same(&format!("{what}: not reached"), &missed, &json!([]))
}

pub(super) fn everything_is_reached_by_keyboard() -> Result<()> {
    let (report, views) = views()?;
    for view in &views {
        report.open(view)?;
        tab_leads_everywhere(&report.browser, view)?;
    }
    report.browser.size(390, 844, false)?;
    report.open(&views[0])?;
    tab_leads_everywhere(&report.browser, "on a phone")?;
    let page = puzzles::page()?;
    page.open("#puzzle=2")?;
    tab_leads_everywhere(&page.browser, "puzzles")
}

/// Focuses the first control of a selector whose text begins so, presses Enter, and returns the text of what has the focus then.
fn press(browser: &Browser, selector: &str, text: &str) -> Result<String> {
    let found = browser.run(&format!(
        "const found = [...document.querySelectorAll({})].find(e => !e.disabled && e.textContent.startsWith({})); found?.focus(); return found !== undefined",
        json!(selector),
        json!(text)
    ))?;
    same(&format!("{selector} {text}"), &found, &json!(true))?;
    browser.keys(&[ENTER])?;
    browser.text("return document.activeElement === document.body ? 'lost' : document.activeElement.textContent")
}

pub(super) fn the_focus_stays_where_it_was() -> Result<()> {
    let report = OpenReport::at(&many(&GAMES, 400, 20), &[])?;
    let browser = &report.browser;
    report.open("#games")?;
    same(
        "next",
        &press(browser, ".pager button", "Next")?,
        &"Next".to_owned(),
    )?;
    // A button that cannot be pressed any more leaves the focus to another one.
    let last = press(browser, ".pager button", "Last")?;
    same("last", &last, &"Previous".to_owned())?;
    let sorted = press(browser, "thead button", "moved first")?;
    same("sorted", &sorted, &"moved first".to_owned())?;
    report.open("#overview")?;
    let hidden =
        "return [...document.querySelectorAll('.times .bar-name a')][12]?.textContent ?? 'none'";
    same("folded", &browser.text(hidden)?, &"none".to_owned())?;
    browser.run("[...document.querySelectorAll('button.all')].at(-1).closest('.card').classList.add('chosen')")?;
    let unfolded = press(browser, ".chosen button.all", "Show all")?;
    let thirteenth =
        browser.text("return document.querySelectorAll('.chosen tbody th')[12].textContent")?;
    same("unfolded", &unfolded, &thirteenth)?;
    let number = number_of(is_quarto)?;
    report.open(&format!("#game={number}&turn=1"))?;
    browser.run("document.querySelectorAll('.control')[1].focus()")?;
    browser.keys(&[ENTER])?;
    let now = "return document.activeElement.getAttribute('aria-label') ?? 'lost'";
    let forward = browser.text(now)?;
    if !forward.starts_with("One turn on") && !forward.contains('→') {
        return Err(format!("at the start: {forward}"));
    }
    browser.keys(&[END])?;
    let back = browser.text(now)?;
    if back == forward || back == "lost" {
        return Err(format!("at the end: {back}"));
    }
    browser.wait("return document.querySelectorAll('.turn-times a').length > 2")?;
    browser.run("document.querySelectorAll('.turn-times a')[1].focus()")?;
    browser.keys(&[ENTER])?;
    browser.wait("return document.querySelector('.controls input').value === '2'")?;
    let column = "return String([...document.querySelectorAll('.turn-times a')].indexOf(document.activeElement))";
    same("the column", &browser.text(column)?, &"1".to_owned())?;
    browser.is_quiet()
}

/// Serves a page that has this one in a frame, to as many readers as there are. Returns its origin.
fn framing(url: &str, listener: TcpListener) -> Result<String> {
    let port = listener.local_addr().map_err(|e| e.to_string())?.port();
    let page = format!(
        "<!DOCTYPE html><title>t</title><iframe width=900 height=600 src=\"{url}\"></iframe>"
    );
    // Ends with the program.
    thread::spawn(move || {
        for mut reader in listener.incoming().flatten() {
            let mut request = BufReader::new(&reader);
            let mut line = String::new();
            while request.read_line(&mut line).is_ok_and(|read| read > 2) {
                line.clear();
            }
            let head = "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nConnection: close\r\nContent-Length:";
            let _ = write!(reader, "{head} {}\r\n\r\n{page}", page.len());
        }
    });
    Ok(format!("http://127.0.0.1:{port}"))
}

/// The page that the organiser names can show a served page in a frame; another cannot, nor one where none is named.
pub(super) fn only_the_named_origin_frames_the_page() -> Result<()> {
    let scratch = tempfile::tempdir().map_err(|e| e.to_string())?;
    let path = write(&scratch.path().join("games.jsonl"), &GAMES[..3]);
    let listen = || TcpListener::bind("127.0.0.1:0").map_err(|e| e.to_string());
    let (named, other) = (listen()?, listen()?);
    let origin = format!("http://{}", named.local_addr().map_err(|e| e.to_string())?);
    let mut running = Referee::new(["report", "--live=0", "--live-frame", &origin])
        .args([&path])
        .shell("exec \"$0\" \"$@\" 2> \"$SCRATCH/said\"")
        .start();
    let said = running.scratch().join("said");
    running.wait_until(|_| fs::read_to_string(&said).is_ok_and(|said| said.contains("watch at")));
    let said = fs::read_to_string(&said).map_err(|e| e.to_string())?;
    let mut words = said.split_whitespace();
    let url = words.find(|word| word.starts_with("http://"));
    let url = url.ok_or("no address")?;
    let browser = Browser::start()?;
    for (listener, is_allowed) in [(named, true), (other, false)] {
        browser.go(&framing(url, listener)?)?;
        browser.within_frame(0)?;
        let standings = "return document.querySelectorAll('main .big-score .name').length === 2";
        if is_allowed {
            browser.wait(standings)?;
        } else {
            browser.wait("return location.protocol === 'chrome-error:'")?;
            same("shown", &browser.run(standings)?, &json!(false))?;
        }
    }
    // Alone it is shown to everybody.
    browser.go(url)?;
    browser.wait("return document.querySelectorAll('main .big-score .name').length === 2")?;
    drop(running);
    Ok(())
}
