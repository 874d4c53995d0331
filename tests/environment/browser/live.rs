//! Pages that are served: what is drawn again leaves readers where they were, and who comes late gets all games.

use std::sync::Arc;
use std::thread;
use std::time::Duration;

use referee::record::Record;
use referee::report::html::ReportPageOptions;
use referee::server::{Feed, LiveState, Server};
use serde_json::{Value, json};

use super::driver::{Browser, Result};
use super::same;
use crate::common::games::{GAMES, many};

/// A page of these games, open in a browser, to which more can be added.
struct Live {
    browser: Browser,
    feed: Arc<Feed>,
    /// Stops when it is dropped.
    _server: Server,
    url: String,
}

impl Live {
    fn of(records: &[Value]) -> Result<Self> {
        let feed = Feed::new(ReportPageOptions {
            title: "Spring cup".to_owned(),
            ..ReportPageOptions::default()
        });
        publish(&feed, records)?;
        let address = "127.0.0.1:0".parse().map_err(|error| format!("{error}"))?;
        let server = Server::bind(address, Arc::clone(&feed)).map_err(|error| error.to_string())?;
        let live = Self {
            browser: Browser::start()?,
            feed,
            url: server.url(),
            _server: server,
        };
        live.browser.size(390, 800, false)?;
        live.open("#overview")?;
        live.has(records.len())?;
        Ok(live)
    }

    fn open(&self, hash: &str) -> Result<()> {
        self.browser.go(&format!("{}{hash}", self.url))
    }

    /// Waits until the page has drawn so many games.
    fn has(&self, games: usize) -> Result<()> {
        let shown = json!(format!("{games} games"));
        self.browser.wait(&format!(
            "return document.getElementById('live').textContent.replaceAll('\\u202f', '').endsWith({shown})"
        ))
    }

    /// Adds games, and waits until the view has been drawn again.
    fn add(&self, records: &[Value]) -> Result<()> {
        let before = usize::try_from(self.feed.games()).unwrap_or(0);
        // What is drawn again is another element, or has other text.
        self.browser
            .run("document.querySelector('main tbody tr')?.setAttribute('data-old', '')")?;
        publish(&self.feed, records)?;
        self.has(before + records.len())?;
        self.browser
            .wait("return document.querySelector('main [data-old]') === null")
    }
}

fn publish(feed: &Feed, records: &[Value]) -> Result<()> {
    for record in records {
        let record = Record::from_line(record.to_string().as_bytes());
        let published = feed.publish(&record.map_err(|error| format!("{error:?}"))?);
        published.map_err(|error| error.to_string())?;
    }
    Ok(())
}

/// The focus, and how far boxes are scrolled, are where they were after the page has been drawn again.
pub(super) fn a_page_that_is_drawn_again_leaves_readers_where_they_are() -> Result<()> {
    let records = many(&GAMES, 300, 20);
    let (first, more) = records.split_at(200);
    let mut more = more.chunks(4);
    let mut add = |live: &Live| live.add(more.next().ok_or("no more games")?);
    let live = Live::of(first)?;
    let browser = &live.browser;
    let focused = "const e = document.activeElement; return e === document.body || e.id === 'main' ? 'lost' : `${e.tagName} ${e.dataset.keep ?? e.dataset.title ?? e.getAttribute('href') ?? e.textContent}`";
    for (view, selectors) in [
        (
            "#overview",
            &[
                ".standings thead th:nth-child(2) button",
                ".standings tbody tr:nth-child(7) a",
                ".cross.each td a[tabindex='0']",
                ".curves button:nth-child(2)",
                "button.all",
                ".scroll[tabindex='0']",
            ][..],
        ),
        (
            "#bot=2",
            &[
                ".games thead th:nth-child(2) button",
                ".scroll[tabindex='0']",
            ][..],
        ),
        (
            "#games",
            &[
                "[data-keep='filter-of']",
                "[data-keep='filter-text']",
                ".games thead th:nth-child(2) button",
                ".pager button:not([disabled])",
            ][..],
        ),
    ] {
        browser.run(&format!("location.hash = {}", json!(view)))?;
        if view == "#games" {
            // Folded on a phone.
            browser.wait("const fold = document.querySelector('[data-keep=filters]'); fold?.click(); return fold !== null")?;
        }
        for selector in selectors {
            let selector = json!(selector);
            browser.wait(&format!("const e = document.querySelector('main ' + {selector}); e?.focus({{ preventScroll: true }}); return e !== null && document.activeElement === e"))?;
            let before = browser.text(focused)?;
            add(&live)?;
            same(
                &format!("{view} {selector}"),
                &browser.text(focused)?,
                &before,
            )?;
        }
    }
    browser.run("location.hash = '#overview'")?;
    browser.wait("const box = document.querySelector('.scroll:has(.cross.each)'); if (!box) return false; box.scrollLeft = 150; return box.scrollLeft === 150")?;
    browser.run("window.scrollTo(0, 700)")?;
    add(&live)?;
    let places = "const box = document.querySelector('.scroll:has(.cross.each)'); return String([box.scrollLeft, window.scrollY])";
    same("scrolled", &browser.text(places)?, &"150,700".to_owned())?;
    browser.is_quiet()?;
    // A server that is gone without a word has neither finished nor been interrupted.
    let Live {
        browser,
        _server: server,
        ..
    } = live;
    drop(server);
    browser.wait("return document.getElementById('live').className === 'live off'")?;
    let said = browser.text("return document.getElementById('live').textContent")?;
    if said != "Connecting…" && !said.starts_with("The referee does not answer") {
        return Err(said);
    }
    Ok(())
}

/// Who comes late is sent the games in their order; what ends meanwhile comes after them.
pub(super) fn late_readers_get_all_games() -> Result<()> {
    const COUNT: usize = 12_000;
    let records = many(&GAMES, COUNT + 40, 20);
    let live = Live::of(&records[..COUNT])?;
    let browser = &live.browser;
    live.open("#games")?;
    let found = |count: usize| {
        let text = json!(format!("{count} games"));
        browser.wait(&format!("return document.querySelector('p.hint[role=status]')?.textContent.replaceAll('\\u202f', '') === {text}"))
    };
    found(COUNT)?;
    publish(&live.feed, &records[COUNT..])?;
    found(COUNT + 40)?;
    // Each is the game that it was: the ids were given in order.
    for number in [1, 7_000, COUNT, COUNT + 40] {
        live.open(&format!("#game={number}"))?;
        let id = format!("{}-{}", (number - 1) / 100, (number - 1) % 100);
        browser.wait(&format!("return document.querySelector('main').textContent.includes({}) && document.querySelector('h1').textContent.includes('{number}')", json!(id)))?;
    }
    browser.is_quiet()
}

/// The sign beside the title and the head of each view tell the same number of games at every moment: the sign once told of
/// new games as they came, and the view when it was drawn again.
pub(super) fn a_live_page_has_one_count() -> Result<()> {
    const WATCH: &str = "
        window.counts = [];
        window.apart = [];
        const numberIn = (text) => text?.replaceAll('\\u202f', '').match(/(\\d+)(?: of \\d+)? games?\\b/)?.[1];
        const look = () => {
            const sign = numberIn(document.getElementById('live').textContent);
            for (const head of document.querySelectorAll('main p.facts, main .stage-progress, main p.hint[role=status]')) {
                const found = numberIn(head.textContent);
                if (found === undefined) continue;
                counts.push(found);
                if (found !== sign) apart.push(`${location.hash}: the sign ${sign}, the view ${found}`);
            }
        };
        new MutationObserver(look).observe(document.documentElement, { childList: true, subtree: true, characterData: true });";
    let records = many(&GAMES, 40, 20);
    let (first, more) = records.split_at(10);
    let live = Live::of(first)?;
    let mut known = first.len();
    live.browser.run(WATCH)?;
    for (view, more) in ["#overview", "#games", "#stage"]
        .iter()
        .zip(more.chunks(10))
    {
        live.browser
            .run(&format!("location.hash = {}", json!(view)))?;
        for record in more {
            publish(&live.feed, std::slice::from_ref(record))?;
            thread::sleep(Duration::from_millis(60));
        }
        known += more.len();
        live.has(known)?;
        // Otherwise nothing has been compared.
        live.browser
            .wait(&format!("return counts.at(-1) === '{known}'"))?;
    }
    same("apart", &live.browser.run("return apart")?, &json!([]))?;
    live.browser.is_quiet()
}

/// What happens before, between and after the games is said; bots that have not met are apart.
pub(super) fn the_stage_says_what_it_waits_for() -> Result<()> {
    let live = Live::of(&[])?;
    live.feed.set_state(LiveState::Checking(7, 12));
    live.open("#stage")?;
    let progress = |text: &str| {
        let text = json!(text);
        live.browser.wait(&format!(
            "return document.querySelector('.stage-progress')?.textContent.includes({text})"
        ))
    };
    progress("Checking 7 of 12 bots")?;
    let sign = "return document.getElementById('live').textContent";
    let checking = "Checking 7 of 12 bots".to_owned();
    same("the sign", &live.browser.text(sign)?, &checking)?;
    live.feed.set_state(LiveState::Playing);
    let pair = |first: &str, second: &str| {
        let mut game = GAMES[0].clone();
        game["bots"][0]["name"] = json!(first);
        game["bots"][1]["name"] = json!(second);
        game
    };
    publish(&live.feed, &[pair("anna", "ben"), pair("cem", "dana")])?;
    live.has(2)?;
    live.browser
        .wait("return document.querySelectorAll('.stage-table .apart').length === 1")?;
    live.feed.set_state(LiveState::Stopping);
    progress("stopping")?;
    live.feed.set_state(LiveState::Interrupted);
    progress("paused")?;
    live.browser.is_quiet()
}

/// The stage ends with the first three places, each with its points.
pub(super) fn the_stage_ends_with_a_podium() -> Result<()> {
    let live = Live::of(&[])?;
    live.open("#stage")?;
    let game = GAMES.iter().find(|game| game["result"]["winner"] == 0);
    let game = game.ok_or("no such game")?;
    let games = [
        ("anna.py", "ben.py"),
        ("ben.py", "cem.py"),
        ("anna.py", "cem.py"),
    ];
    let games = games.map(|(winner, loser)| {
        let mut game = game.clone();
        game["bots"][0]["name"] = json!(winner);
        game["bots"][1]["name"] = json!(loser);
        game
    });
    publish(&live.feed, &games)?;
    live.has(3)?;
    // The last one first, whoever moved first in it.
    live.browser.wait("const [last] = document.querySelectorAll('.stage-latest li'); return /^(anna\\.py 1–0 cem\\.py|cem\\.py 0–1 anna\\.py)$/.test(last?.textContent ?? '')")?;
    live.feed.set_state(LiveState::Finished);
    live.browser
        .wait("return document.querySelectorAll('.podium li').length === 3")?;
    let steps = live.browser.run("return [...document.querySelectorAll('.podium li')].map(e => [...e.children].map(one => one.textContent))")?;
    same(
        "steps",
        &steps,
        &json!([
            ["anna.py", "2", "1"],
            ["ben.py", "1", "2"],
            ["cem.py", "0", "3"]
        ]),
    )?;
    live.browser.is_quiet()
}
