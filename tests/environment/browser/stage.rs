//! The stage: games move by move, what is followed, who won in the end.

use std::fs;
use std::path::Path;

use serde_json::json;

use super::access::{is_accessible, tab_leads_everywhere};
use super::course::tournament;
use super::driver::{Browser, Result};
use super::same;
use crate::common::{Referee, Running};

const ENTER: char = '\u{e007}';
const UP: char = '\u{e013}';

/// A tournament of three bots that take this long for an answer, in this folder, at this address, and the URL of its page.
fn slow_cup(folder: &Path, live: &str, seconds: &str) -> Result<(Running, String)> {
    cup(folder, live, seconds, &[])
}

fn cup(folder: &Path, live: &str, seconds: &str, more: &[&str]) -> Result<(Running, String)> {
    let bots = ["one", "two", "three"].map(|name| {
        format!("[[bots]]\nname = \"{name}\"\ncommand = [\"./drawn.sh\", \"{seconds}\"]\n")
    });
    let config = folder.with_extension("toml");
    fs::write(&config, bots.concat()).map_err(|error| error.to_string())?;
    let mut running = Referee::new([
        "tournament",
        "--seed",
        "3",
        "--sandbox",
        "none",
        "--no-check",
    ])
    .args(["--pairs", "1", "--jobs", "2", "--opening-plies", "0"])
    .args(more.iter().copied())
    .args([format!("--live={live}")])
    .args([Path::new("--config"), &config, Path::new("--out"), folder])
    .shell("exec \"$0\" \"$@\" 2> \"$SCRATCH/said\"")
    .start();
    let said = running.scratch().join("said");
    running.wait_until(|_| fs::read_to_string(&said).is_ok_and(|said| said.contains("watch at")));
    let said = fs::read_to_string(&said).map_err(|error| error.to_string())?;
    let url = said
        .split_whitespace()
        .find(|word| word.starts_with("http://"))
        .ok_or("no address")?;
    Ok((running, url.to_owned()))
}

/// Notes from now on when the stage and the sign above it say different numbers of games.
const AGREE: &str = "window.apart = [];
    new MutationObserver(() => {
      const [stage, sign] = ['.stage-progress', '#live'].map(e => /\\d+/.exec(document.querySelector(e)?.textContent ?? '')?.[0]);
      if (stage && sign && stage !== sign) window.apart.push(`${stage} and ${sign}`);
    }).observe(document.body, { childList: true, characterData: true, subtree: true });";

/// Every move is seen as it is made; a bot and a table can be followed by keys; the last word is the champion.
pub(super) fn moves_appear_and_the_champion_at_the_end() -> Result<()> {
    let scratch = tempfile::tempdir().map_err(|error| error.to_string())?;
    let browser = Browser::start()?;
    browser.size(1280, 800, false)?;
    let (running, url) = slow_cup(&scratch.path().join("cup"), "0", "0.8")?;
    browser.go(&format!("{url}#stage"))?;
    // Turn after turn of a game that has not ended.
    let turn = "return Number(document.querySelector('.stage-where')?.textContent.match(/turn (\\d+)/)?.[1] ?? 0)";
    browser.wait(&format!("{turn} > 2"))?;
    let first = browser.number(turn)?;
    browser.wait(&format!("{turn} > {first}"))?;
    browser.wait("return document.querySelectorAll('.stage-board .piece').length > 2")?;
    browser.wait("return document.querySelector('.stage-gift') !== null && document.querySelectorAll('.plate.thinks').length === 1")?;
    browser.wait("return /\\d+ s of 10 s/.test(document.querySelector('.plate.thinks .plate-clock')?.textContent)")?;
    // By what is known of the part, and by the solver.
    browser.wait("return document.querySelector('.stage-where').textContent.startsWith('Board 1 · Round robin · turn ')")?;
    browser.wait("return document.querySelector('.stage-evaluation')?.textContent.endsWith(' with best play')")?;
    let progress = "return document.querySelector('.stage-progress').textContent";
    same(
        "of all",
        &browser.text(progress)?.contains(" of 6 games"),
        &true,
    )?;
    // The stage and the sign above it say the same number of games, whoever knows of it first.
    browser.run(AGREE)?;
    // A button says what it does now.
    let full = "[data-keep=stage-full]";
    for name in ["Leave full screen", "Full screen"] {
        browser.click(full)?;
        browser.wait(&format!(
            "return document.querySelector('{full}').textContent === '{name}'"
        ))?;
    }
    // The other table is there, keeps the focus while it is drawn again, and is followed by the keyboard.
    browser.wait("return document.querySelectorAll('.stage-other svg.board').length === 1")?;
    browser.run(
        "window.other = document.querySelector('.stage-other'); window.other.focus(); return true",
    )?;
    browser.wait("return !window.other.isConnected")?;
    let focused = "return document.activeElement.dataset?.keep ?? 'lost'";
    same(
        "drawn again",
        &browser.text(focused)?,
        &"stage-table-2".to_owned(),
    )?;
    browser.keys(&[ENTER])?;
    browser.wait("return location.hash === '#stage&table=2' && document.querySelector('.stage-where').textContent.startsWith('Board 2')")?;
    // Choices are made by arrow keys, one after the other.
    browser.run("document.querySelector('[data-keep=stage-follow]').focus()")?;
    browser.keys(&[UP])?;
    browser.wait("return location.hash === '#stage&table=1'")?;
    browser.keys(&[UP])?;
    browser.wait("return location.hash === '#stage'")?;
    same(
        "choosing",
        &browser.text(focused)?,
        &"stage-follow".to_owned(),
    )?;
    is_accessible_everywhere(&browser, "while games are played")?;
    // After a draw, with a third bot that has not played.
    browser.wait("return /^With a win, (one|two|three) takes the lead/.test(document.querySelector('.stage-stake')?.textContent ?? '')")?;
    // Who has played more games may have more points than those above.
    browser.wait(
        "return document.querySelector('.stage-rows .hint')?.textContent.startsWith('By score, ')",
    )?;
    // A bookmark of a bot.
    browser.run("location.hash = '#stage&bot=three'")?;
    browser.wait(
        "return document.querySelector('[data-keep=stage-follow]')?.value === '#stage&bot=three'",
    )?;
    browser.wait("return [...document.querySelectorAll('.plate .name')].some(e => e.textContent === 'three')")?;
    // Leaving and coming back goes on without all games being sent again.
    browser.run("location.hash = '#overview'")?;
    browser.wait("return document.querySelector('.screen') === null")?;
    browser.run("location.hash = '#stage'")?;
    // The end of a game stays for a while, then all games are over.
    browser.wait("return document.querySelector('.stage-end')?.textContent === 'Draw'")?;
    browser.wait(
        "return document.querySelector('#stage-champion')?.textContent === 'Joint champions'",
    )?;
    same(
        "rows",
        &browser.number("return document.querySelectorAll('.stage-table tbody tr').length")?,
        &3.0,
    )?;
    // All games were drawn.
    let winners = "return document.querySelector('.stage-winner').textContent === [...document.querySelectorAll('.stage-table tbody .name')].map(e => e.textContent).join(', ')";
    same("the winners", &browser.run(winners)?, &json!(true))?;
    let ranks = "return [...document.querySelectorAll('.stage-table tbody td:first-child')].map(e => e.textContent)";
    same("ranks", &browser.run(ranks)?, &json!(["1=", "1=", "1="]))?;
    same(
        "at the end",
        &browser.text(progress)?,
        &"6 of 6 games · finished".to_owned(),
    )?;
    same(
        "games",
        &browser.text("return document.getElementById('live').textContent")?,
        &"Finished · 6 games".to_owned(),
    )?;
    same(
        "numbers of games that differed",
        &browser.run("return window.apart")?,
        &json!([]),
    )?;
    is_accessible_everywhere(&browser, "at the end")?;
    // From the beginning of the page on.
    browser.go("about:blank")?;
    browser.go(&format!("{url}#stage"))?;
    browser.wait("return document.querySelector('#stage-champion') !== null")?;
    tab_leads_everywhere(&browser, "the stage")?;
    browser.is_quiet()?;
    drop(running);
    Ok(())
}

/// The champion and the podium follow the last game, of bots that the stage keeps up with.
pub(super) fn a_cup_ends_with_a_podium() -> Result<()> {
    let scratch = tempfile::tempdir().map_err(|error| error.to_string())?;
    let knockout = ["--format", "knockout", "--tie-break-games", "2"];
    let (running, url) = cup(&scratch.path().join("cup"), "0", "0.3", &knockout)?;
    let browser = Browser::start()?;
    browser.size(1280, 800, false)?;
    browser.go(&format!("{url}#stage"))?;
    browser.run(AGREE)?;
    browser.wait(
        "return document.querySelector('.stage-progress').textContent.endsWith(' · finished')",
    )?;
    browser.wait("return document.querySelectorAll('.podium li').length === 3")?;
    browser.wait("return document.querySelector('#stage-champion')?.textContent === 'Champion'")?;
    let score = browser.text("return document.querySelector('.stage-champion').textContent")?;
    let told = "won the final 1–1, then 1–1 in 2 tie-break games, decided as the better seed";
    same(&score, &score.contains(told), &true)?;
    // Each of two matches was drawn, and its tie-break games were.
    let progress = browser.text("return document.querySelector('.stage-progress').textContent")?;
    same("games", &progress, &"8 of 8 games · finished".to_owned())?;
    let apart = browser.run("return window.apart")?;
    same("numbers of games that differed", &apart, &json!([]))?;
    running.signal("INT");
    running.finish();
    browser.is_quiet()
}

/// Games of quick bots are shown turn by turn when they have ended, and the delay is said. Their results are not told before.
pub(super) fn quick_games_are_replayed() -> Result<()> {
    let scratch = tempfile::tempdir().map_err(|error| error.to_string())?;
    let browser = Browser::start()?;
    browser.size(1280, 800, false)?;
    let (running, url) = slow_cup(&scratch.path().join("cup"), "0", "0.15")?;
    browser.go(&format!("{url}#stage"))?;
    browser.wait("return / · replay, ended \\d+ s ago$/.test(document.querySelector('.stage-where')?.textContent) && document.querySelectorAll('.stage-board .piece').length < 9")?;
    // In the page, which sees each turn however seldom it is asked.
    browser.run(
        "window.pieces = [];
        new MutationObserver(() => {
            const now = document.querySelectorAll('.stage-board .piece').length;
            if (now !== pieces.at(-1)) pieces.push(now);
        }).observe(document.getElementById('main'), { childList: true, subtree: true });",
    )?;
    browser.wait("return pieces.length >= 5")?;
    same(
        "turns",
        &browser.run("return pieces.slice(1, 5).map((now, at) => now - pieces[at])")?,
        &json!([1, 1, 1, 1]),
    )?;
    // All games have ended, and the end is shown when this one has been.
    browser.wait("return document.querySelector('.stage-progress').textContent === '6 of 6 games · finished'")?;
    same(
        "no end yet",
        &browser.run("return document.querySelector('.stage-champion')")?,
        &json!(null),
    )?;
    browser.wait("return document.querySelector('#stage-champion') !== null")?;
    running.signal("INT");
    running.finish();
    browser.is_quiet()
}

/// The stage as it is now is accessible in both themes, on a phone, a tablet and a projector.
fn is_accessible_everywhere(browser: &Browser, when: &str) -> Result<()> {
    for (width, height) in [(390, 844), (768, 1024), (1280, 800)] {
        for theme in ["light", "dark"] {
            browser.prefers("prefers-color-scheme", theme)?;
            browser.size(width, height, width < 500)?;
            is_accessible(browser, &format!("the stage {when}, {width} {theme}"))?;
        }
    }
    Ok(())
}

/// An interruption is said, and the page shows the moves of the next run without being loaded again.
pub(super) fn a_page_follows_a_tournament_that_goes_on() -> Result<()> {
    let scratch = tempfile::tempdir().map_err(|error| error.to_string())?;
    let browser = Browser::start()?;
    browser.size(390, 800, true)?;
    let folder = scratch.path().join("cup");
    let (running, url) = slow_cup(&folder, "0", "0.2")?;
    browser.go(&format!("{url}#stage"))?;
    browser.wait("return document.querySelectorAll('.stage-board .piece').length > 2")?;
    browser.run("window.stays = true")?;
    running.signal("INT");
    running.signal("INT");
    running.finish();
    browser
        .wait("return document.querySelector('.stage-progress').textContent.includes('paused')")?;
    let address = url.trim_start_matches("http://").trim_end_matches('/');
    let (running, _) = slow_cup(&folder, address, "0.2")?;
    browser.wait("return /Live/.test(document.getElementById('live').textContent) && document.querySelectorAll('.plate.thinks').length === 1")?;
    let turn = "return Number(document.querySelector('.stage-where')?.textContent.match(/turn (\\d+)/)?.[1] ?? 0)";
    browser.wait(&format!("{turn} > 3"))?;
    same(
        "loaded once",
        &browser.run("return window.stays")?,
        &json!(true),
    )?;
    running.signal("INT");
    running.signal("INT");
    running.finish();
    // The address was asked in vain meanwhile, which the console of the browser says.
    browser.console().map(|_| ())
}

/// A sequential test that was decided before all games were played: the head says why there are no more.
pub(super) fn who_ended_early_is_no_champion() -> Result<()> {
    let (report, _) = tournament(2, &["--pairs", "500", "--sprt", "0,50"])?;
    let text = report.text_of(".early")?;
    if !text.starts_with("The sequential test was decided after ") || !text.contains(" accepted, ")
    {
        return Err(text);
    }
    same("no champion", &report.count(".winners-list")?, &0.0)?;
    report.browser.is_quiet()
}
