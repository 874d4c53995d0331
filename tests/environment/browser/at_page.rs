//! A person who plays against a bot on the live page.

use std::fs;

use serde_json::{Value, json};

use super::access::is_accessible;
use super::driver::{Browser, Result};
use super::same;
use crate::common::Referee;

/// Whose turn it is, or that the game is over.
const WHOSE: &str = "if (document.querySelector('.final')) return 'over';
    const panel = document.querySelector('.worth');
    const isMine = panel && !panel.hidden && (document.querySelector('.worth-cell') || panel.querySelector('.worth-gift'));
    return isMine ? 'mine' : 'wait';";

pub(super) fn a_person_plays_a_whole_game() -> Result<()> {
    for game in ["quarto", "four-in-a-row"] {
        let mut running = Referee::new(["--seed", "2", "-n", "2", "--first", "1", "--live=0"])
            .args(["--game", game, "human", "builtin:greedy"])
            .recorded()
            .shell("exec \"$0\" \"$@\" 2> \"$SCRATCH/said\"")
            .start();
        let said = running.scratch().join("said");
        running
            .wait_until(|_| fs::read_to_string(&said).is_ok_and(|said| said.contains("play at")));
        let said = fs::read_to_string(&said).map_err(|error| error.to_string())?;
        let (_, url) = said.split_once("play at ").ok_or("no address")?;
        let browser = Browser::start()?;
        browser.size(1366, 650, false)?;
        browser.go(url.trim())?;
        let mut turns = 0;
        loop {
            browser.wait(&format!("return (() => {{ {WHOSE} }})() !== 'wait'"))?;
            if browser.text(WHOSE)? == "over" {
                break;
            }
            turns += 1;
            if turns == 2 {
                is_accessible(&browser, "a person plays")?;
            }
            // What turns are worth is nowhere to be seen.
            let known = browser.run("return document.querySelector('[data-value]:not([data-value=unknown]), .worth-switch, .branch') !== null")?;
            same("hidden", &known, &json!(false))?;
            if browser.run("return document.querySelector('.worth-cell') !== null")? == json!(true)
            {
                browser.click(".worth-cell[data-cell]")?;
            }
            browser.click(".worth-gift")?;
        }
        let ended = browser.text("return document.querySelector('.final').textContent")?;
        same(&ended, &ended.contains("wins"), &true)?;
        browser.click("[data-keep=again]")?;
        browser.wait("return document.querySelector('.final') === null")?;
        // Others see the game, and cannot play it.
        let (watched, _) = url.split_once('#').ok_or("no secret")?;
        browser.go("about:blank")?;
        browser.go(&format!("{watched}#stage"))?;
        browser.wait("return document.querySelector('.stage-board svg.board') !== null")?;
        let parts = browser.text("return document.getElementById('parts').textContent")?;
        same(&parts, &parts.contains("Play"), &false)?;
        browser.is_quiet()?;
        running.signal("INT");
        let records = running.finish().records();
        let result: Vec<&Value> = records
            .iter()
            .map(|record| &record["result"]["lines"])
            .collect();
        same(
            &format!("{result:?}"),
            &(result.len() == 1 && result[0].is_array()),
            &true,
        )?;
    }
    Ok(())
}
