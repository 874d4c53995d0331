//! How a tournament went: its bracket, its groups and its rounds.

use std::fmt::Write as _;
use std::fs;

use serde_json::{Value, json};

use super::driver::{Browser, Result};
use super::labels::is_clear;
use super::{OpenReport, can_be_read, same};
use crate::common::{Referee, bots};

/// A tournament between so many bots of different strength, in a folder called `spring-cup`, and its page. Returns the
/// names in the order of `referee standings`, too.
pub(super) fn tournament(bots: usize, arguments: &[&str]) -> Result<(OpenReport, Vec<String>)> {
    let commands = ["builtin:random", "builtin:greedy"].into_iter().cycle();
    let commands: Vec<&str> = commands.take(bots).collect();
    tournament_of(&commands, arguments)
}

fn tournament_of(commands: &[&str], arguments: &[&str]) -> Result<(OpenReport, Vec<String>)> {
    let scratch = tempfile::tempdir().map_err(|error| error.to_string())?;
    let mut config = String::new();
    for (number, command) in commands.iter().enumerate() {
        let _ = writeln!(
            config,
            "[[bots]]\nname = \"Bot {number}\"\ncommand = \"{command}\""
        );
    }
    let file = scratch.path().join("bots.toml");
    fs::write(&file, config).map_err(|error| error.to_string())?;
    let folder = scratch.path().join("spring-cup");
    let run = Referee::new([
        "tournament",
        "--seed",
        "3",
        "--sandbox",
        "none",
        "--no-check",
        "--config",
    ])
    .args([&file])
    .args(["--out"])
    .args([&folder])
    .args(arguments.iter().copied())
    .run();
    if run.code != Some(0) {
        return Err(run.to_string());
    }
    let standings = Referee::new(["standings", "--format", "json"])
        .args([&folder])
        .run();
    let standings: Value = serde_json::from_str(&standings.stdout).map_err(|e| e.to_string())?;
    let names = standings["standings"]
        .as_array()
        .into_iter()
        .flatten()
        .map(|bot| bot["name"].as_str().unwrap_or_default().to_owned());
    let names = names.collect();
    Ok((OpenReport::of(&folder, scratch, &[])?, names))
}

/// Rounds are columns, the winners of matches and the champion are marked, and the table is that of the bracket.
pub(super) fn a_knockout_is_shown_as_a_bracket() -> Result<()> {
    let (report, standings) = tournament(6, &["--format", "knockout", "--pairs", "1"])?;
    let heads = report.texts(".bracket h3")?;
    same(
        "rounds",
        &heads,
        &["Quarter-finals", "Semi-finals", "Final", "Champion"]
            .map(str::to_owned)
            .to_vec(),
    )?;
    let places = "return [...document.querySelectorAll('.bracket ol')].map(e => e.querySelectorAll(':scope > .place').length)";
    same("places", &report.browser.run(places)?, &json!([4, 2, 1]))?;
    same("byes", &report.count(".bracket .bye")?, &2.0)?;
    same("winners", &report.count(".bracket .through")?, &5.0)?;
    let champion = report.text_of(".bracket .winner")?;
    same("champion", &champion, &standings[0])?;
    let listed = report.texts("table.standings tbody th .name")?;
    same("the table", &listed, &standings)?;
    same(
        "reached",
        &report.texts("table.standings td.reached")?[..2].to_vec(),
        &vec!["champion".to_owned(), "finalist".to_owned()],
    )?;
    // The bold name is that with more points, or the reason is said.
    let wrong = "return [...document.querySelectorAll('.bracket .place:not(.bye)')].filter(e => {
        const value = (text) => [...text.matchAll(/\\d+|½/g)].reduce((sum, [part]) => sum + (part === '½' ? .5 : Number(part)), 0);
        const [won] = [...e.querySelectorAll('.through .points')].map(p => value(p.textContent));
        const [lost] = [...e.querySelectorAll('.entrant:not(.through) .points')].map(p => value(p.textContent));
        return won + lost !== 2 || won < lost || (won === lost) !== e.textContent.includes('decided');
    }).map(e => e.textContent)";
    same("wrong", &report.browser.run(wrong)?, &json!([]))?;
    is_clear(&report, "", &["the winner, in bold, advances", "has a bye"])?;
    // A match leads to its games, whatever else the two have played.
    report
        .browser
        .click(".bracket section:nth-of-type(3) .note a")?;
    report
        .browser
        .wait("return document.querySelector('table.games td') !== null")?;
    same("games", &report.count("table.games tbody tr")?, &2.0)?;
    report.browser.is_quiet()
}

/// A tied match says how its tie-break games ended, and leads to them, too. What is wider than a phone scrolls in its card.
pub(super) fn tie_break_games_and_wide_tables_on_a_phone() -> Result<()> {
    let arguments = "--format knockout --pairs 1 --tie-break-games 4";
    let arguments: Vec<&str> = arguments.split(' ').collect();
    let (report, _) = tournament(16, &arguments)?;
    let notes = report.texts(".bracket .note")?;
    let tied = notes.iter().filter(|note| note.contains("tie-break game"));
    for note in tied.clone() {
        same(note, &note.starts_with("2 games, 1–1"), &true)?;
        let is_told = note.contains(", won ") || note.contains(", decided as the better seed");
        same(note, &is_told, &true)?;
    }
    same("some are tied", &(tied.count() > 0), &true)?;
    report.browser.size(390, 844, true)?;
    let width = "return document.documentElement.scrollWidth";
    same("width", &report.browser.number(width)?, &390.0)?;
    let cut = "return ['.bracket', 'table.each'].map(one => {
        const inner = document.querySelector(one);
        const box = inner.closest('.scroll');
        box.scrollLeft = 1e6;
        const scrolls = box.scrollWidth > box.clientWidth && getComputedStyle(box).overflowX === 'auto' && box.tabIndex === 0;
        return scrolls && inner.getBoundingClientRect().right <= box.getBoundingClientRect().right + 8;
    })";
    same("scroll", &report.browser.run(cut)?, &json!([true, true]))?;
    report.browser.size(1280, 800, false)?;
    let games = "const note = [...document.querySelectorAll('.bracket .note')].find(e => e.textContent.includes('tie-break'));
        const games = 2 + Number(/in (\\d+) tie-break/.exec(note.textContent)[1]);
        note.querySelector('a').click();
        return games";
    let games = report.browser.number(games)?;
    report
        .browser
        .wait("return document.querySelector('table.games td') !== null")?;
    same("games", &report.count("table.games tbody tr")?, &games)?;
    report.browser.is_quiet()
}

/// Whoever watches sees the rounds as they are made, and the champion, without loading the page again.
pub(super) fn a_bracket_grows_while_it_is_played() -> Result<()> {
    let arguments = [
        "tournament",
        "--seed",
        "3",
        "--sandbox",
        "none",
        "--no-check",
        "--format",
        "knockout",
        "--pairs",
        "2",
        "--live=0",
        "builtin:random",
        "builtin:greedy",
        "builtin:search?depth=1",
        "builtin:search?depth=2",
    ];
    let referee = Referee::new(arguments);
    let folder = referee.scratch().join("cup");
    let mut running = referee
        .args(["--out"])
        .args([folder])
        .shell("exec \"$0\" \"$@\" 2> \"$SCRATCH/said\"")
        .start();
    let said = running.scratch().join("said");
    running.wait_until(|_| fs::read_to_string(&said).is_ok_and(|said| said.contains("watch at")));
    let said = fs::read_to_string(&said).map_err(|error| error.to_string())?;
    let url = said
        .split_whitespace()
        .find(|word| word.starts_with("http://"))
        .ok_or("no address")?;
    let browser = Browser::start()?;
    browser.go(url)?;
    browser.run("window.stays = true")?;
    browser.wait("return document.querySelector('.bracket .winner a') !== null")?;
    browser.wait("return document.getElementById('live').textContent === 'Finished · 12 games'")?;
    browser.wait("return document.querySelector('.winners-list dt').textContent === 'Champion'")?;
    let through = "return document.querySelectorAll('.bracket .through').length";
    same("winners", &browser.number(through)?, &3.0)?;
    same(
        "loaded once",
        &browser.run("return window.stays")?,
        &json!(true),
    )?;
    running.signal("INT");
    running.finish();
    browser.is_quiet()
}

/// A row for each bot, a column for each round: points, opponent, running score, byes.
pub(super) fn a_swiss_tournament_is_shown_round_by_round() -> Result<()> {
    let (report, standings) = tournament(5, &["--format", "swiss", "--pairs", "1"])?;
    let rounds = report.texts(".swiss thead th")?;
    let expected = ["bot", "Round 1", "Round 2", "Round 3"].map(str::to_owned);
    same("rounds", &rounds, &expected.to_vec())?;
    is_clear(&report, "", &["A bye counts as a win of all its games"])?;
    // Opponents name each other, their points are those of two games, and the last running score is that of the table.
    let wrong = "
        const value = (text) => [...text.matchAll(/\\d+|½/g)].reduce((sum, [part]) => sum + (part === '½' ? .5 : Number(part)), 0);
        const rows = [...document.querySelectorAll('.swiss tbody tr')].map(row => [...row.querySelectorAll('td')].map(cell => {
          const [against, score] = cell.querySelector('small').textContent.split(' · running score ');
          return { points: value(cell.querySelector('strong').textContent), against: Number(/^v (\\d+)$/.exec(against)?.[1] ?? 0), score: value(score), cell: cell.textContent };
        }));
        const points = [...document.querySelectorAll('.standings td strong')].map(e => value(e.textContent.replace(' (bye)', '').split(' + ')[0]) + (e.textContent.includes('bye') ? 2 : 0));
        return rows.flatMap((row, bot) => row.filter((cell, round) => {
          const other = cell.against ? rows[cell.against - 1][round] : { points: 0, against: bot + 1 };
          const before = round ? row[round - 1].score : 0;
          return other.against !== bot + 1 || cell.points + other.points !== 2 || cell.score !== before + cell.points || (round === 2 && cell.score !== points[bot]);
        }).map(cell => cell.cell))";
    same("wrong cells", &report.browser.run(wrong)?, &json!([]))?;
    let byes = report.texts(".swiss td small")?;
    let byes = byes.iter().filter(|text| text.starts_with("bye · "));
    same("byes", &byes.count(), &3)?;
    // Points for byes are told apart, so that points do not contradict the score.
    let heads = report.texts("table.standings thead th")?;
    same("a column", &heads.iter().any(|head| head == "byes"), &true)?;
    let points = report.texts("table.standings td strong")?;
    let of_byes = |points: &[String]| {
        points
            .iter()
            .filter(|text| text.ends_with(" + 2 (bye)"))
            .count()
    };
    same("points", &of_byes(&points), &3)?;
    let listed = report.texts("table.standings tbody th .name")?;
    same("the table", &listed, &standings)?;
    // A cell leads to its games.
    report.browser.click(".swiss td a")?;
    report
        .browser
        .wait("return document.querySelectorAll('table.games tbody tr').length === 2")?;
    report.browser.is_quiet()
}

/// The tables of the groups come first; who advanced is in the bracket.
pub(super) fn groups_are_shown_before_their_bracket() -> Result<()> {
    let arguments = [
        "--format",
        "groups+knockout",
        "--groups",
        "2",
        "--pairs",
        "1",
    ];
    let (report, standings) = tournament(7, &arguments)?;
    let cards = report.texts("main h2")?;
    let place = |title: &str| cards.iter().position(|card| card == title);
    if place("Groups").is_none() || place("Groups") >= place("Bracket") {
        return Err(format!("{cards:?}"));
    }
    let sizes = "return [...document.querySelectorAll('.groups tbody')].map(e => e.rows.length)";
    same("groups", &report.browser.run(sizes)?, &json!([3, 4]))?;
    let mut advanced = report.texts(".groups tr.through .name")?;
    let mut seeded = report.texts(".bracket section:first-child .name")?;
    advanced.sort();
    seeded.sort();
    same("advanced", &advanced, &seeded)?;
    let champion = report.text_of(".bracket .winner")?;
    same("champion", &champion, &standings[0])?;
    report.browser.is_quiet()
}

/// A large bracket scrolls within its card and says so; other views of tournaments are readable, too.
pub(super) fn a_bracket_of_64_can_be_read_on_all_screens() -> Result<()> {
    let (report, _) = tournament(64, &["--format", "knockout", "--pairs", "1"])?;
    // A round of more than sixteen matches is shown on request when all is decided.
    same("places at first", &report.count(".bracket .place")?, &31.0)?;
    let all = "[data-keep=bracket-all]";
    same(
        "on request",
        &report.text_of(all)?,
        &"Show all 6 rounds".to_owned(),
    )?;
    for theme in ["light", "dark"] {
        report.browser.prefers("prefers-color-scheme", theme)?;
        for (width, height) in [(1280, 900), (390, 800)] {
            report.browser.size(width, height, width < 500)?;
            report.open("")?;
            report.browser.click(all)?;
            same("places", &report.count(".bracket .place")?, &63.0)?;
            let said = "return document.querySelector('[aria-labelledby=card-bracket] .scroll.more') !== null";
            report.browser.wait(said)?;
            can_be_read(&report.browser, &format!("{width} {theme}"))?;
        }
    }
    // Keys scroll it.
    let reached = "return document.querySelector('.scroll:has(.bracket)').tabIndex === 0";
    same("by keys", &report.browser.run(reached)?, &json!(true))?;
    report.browser.is_quiet()
}

/// Byes and the forfeits of others do not make a champion.
pub(super) fn bots_that_made_no_turn_have_not_won() -> Result<()> {
    let never = bots().join("never-starts.sh");
    let never = never.to_str().ok_or("a path")?;
    let common = ["--pairs", "1", "--bench-after", "1", "--format"];
    let result = |report: &OpenReport| -> Result<[Vec<String>; 2]> {
        Ok([
            report.texts(".winners-list dt")?,
            report.texts(".winners-list dd")?,
        ])
    };
    let of = |text: &str| [vec!["No winner".to_owned()], vec![format!(" {text}")]];

    let knockout = [&common[..], &["knockout"]].concat();
    let (report, _) = tournament_of(&[never; 3], &knockout)?;
    let nobody = of("no bot made a turn in any game");
    same("knockout", &result(&report)?, &nobody)?;
    same(
        "bracket",
        &report.text_of(".bracket .winner")?,
        &"no winner".to_owned(),
    )?;
    report.browser.is_quiet()?;

    let swiss = [&common[..], &["swiss", "--rounds", "3"]].concat();
    let (report, _) = tournament_of(&[never; 3], &swiss)?;
    same("Swiss", &result(&report)?, &nobody)?;
    let cells = report.texts(".swiss td small")?;
    let count = |word: &str| cells.iter().filter(|text| text.starts_with(word)).count();
    same("byes", &[count("bye · "), count("benched · ")], &[1, 2])?;
    report.browser.is_quiet()?;

    let three = ["builtin:greedy", "builtin:greedy", never];
    let swiss = [&common[..], &["swiss", "--rounds", "1"]].concat();
    let (report, _) = tournament_of(&three, &swiss)?;
    let first = of("Bot 2, first in the table, made no turn in any game");
    same("one round", &result(&report)?, &first)?;
    report.browser.is_quiet()
}
