//! A page of puzzles that people solve.

use std::fs;

use referee::study::puzzles::SHIPPED;

use super::driver::Result;
use super::{OpenReport, can_be_read, same};
use crate::common::Referee;

/// Of the sets that are shipped: one that is won at once, one with two right turns, and one of Four In A Row.
const IDS: [&str; 3] = [
    "quarto-01bffb6a55",
    "quarto-035f8509cf",
    "four-in-a-row-0002316990",
];

/// A page of these puzzles.
pub(super) fn page() -> Result<OpenReport> {
    let scratch = tempfile::tempdir().map_err(|e| e.to_string())?;
    let lines = SHIPPED.iter().flat_map(|(_, text)| text.lines());
    let lines: Vec<&str> = lines.collect();
    let mut set = String::new();
    for id in IDS {
        let line = lines.iter().find(|line| line.contains(id));
        set.push_str(line.ok_or(format!("no puzzle {id}"))?);
        set.push('\n');
    }
    let (file, page) = (
        scratch.path().join("set.jsonl"),
        scratch.path().join("set.html"),
    );
    fs::write(&file, set).map_err(|e| e.to_string())?;
    let run = Referee::new(["puzzles", "page"])
        .args([&file])
        .args(["-o".as_ref(), page.as_os_str()])
        .run();
    if run.code != Some(0) {
        return Err(run.to_string());
    }
    OpenReport::page(&page, scratch)
}

/// Presses the button in the question with this name, once it is there.
fn press(page: &OpenReport, name: &str) -> Result<()> {
    page.browser.wait(&format!(
        "const wanted = [...document.querySelectorAll('.task button')].find(e => (e.ariaLabel ?? e.textContent).startsWith('{name}')); wanted?.click(); return wanted !== undefined"
    ))
}

fn summary(page: &OpenReport) -> Result<String> {
    page.text_of("[aria-labelledby=card-all-puzzles] .hint")
}

/// With the mouse on the board and with the buttons beside it; a wrong turn can be taken back, but counts.
pub(super) fn puzzles_are_solved_by_hand() -> Result<()> {
    let page = page()?;
    same("no marks", &page.count(".stage .opening")?, &0.0)?;
    same("task", &page.text_of("h1")?, &"Take the win".to_owned())?;
    let said = page.text_of("main")?;
    for spoiler in ["Level", "right turn", IDS[0]] {
        same(spoiler, &said.contains(spoiler), &false)?;
    }
    // The second free cell is 4.
    page.browser.run(
        "document.querySelectorAll('.choose')[1].dispatchEvent(new MouseEvent('click', { bubbles: true }))",
    )?;
    let said = page.text_of(".final.win")?;
    same("said", &said, &"Right: place A on 4 and win.".to_owned())?;
    same(
        "focus",
        &page
            .browser
            .text("return document.activeElement.textContent")?,
        &"Next puzzle".to_owned(),
    )?;
    page.browser.click("[data-keep=next]")?;
    page.browser.wait("return location.hash === '#puzzle=2'")?;
    press(&page, "8")?;
    press(&page, "O:")?;
    let said = page.text_of(".final.blame")?;
    let wrong = "Wrong: place C on 8 and give O; this lets the win slip.";
    same("said", &said, &wrong.to_owned())?;
    // The refutation, move by move.
    page.browser
        .wait("return document.querySelectorAll('.refutation button').length > 1")?;
    let steps = page.texts(".refutation button")?;
    same("begins", &steps[0], &"Your turn".to_owned())?;
    same(
        "what follows",
        &steps[1].starts_with("Your opponent: place O on "),
        &true,
    )?;
    let last = steps.last().ok_or("no steps")?;
    same("who wins", &last.starts_with("Your opponent"), &true)?;
    same("how it ends", &last.ends_with(" and win"), &true)?;
    page.browser
        .run("[...document.querySelectorAll('.refutation button')].at(-1).click()")?;
    same("the end", &(page.count(".stage .stroke")? > 0.0), &true)?;
    press(&page, "Show")?;
    let shown = page.text_of(".task .final + p")?;
    let right = "Right: place C on 11 and give N; place C on 14 and give O.";
    same("shown", &shown, &right.to_owned())?;
    press(&page, "Try again")?;
    press(&page, "11")?;
    press(&page, "Another cell")?;
    press(&page, "14")?;
    press(&page, "O:")?;
    same("right", &page.count(".final.win")?, &1.0)?;
    let counts = "1 solved at the first try, 1 not, 1 to do.";
    same("counts", &summary(&page)?.starts_with(counts), &true)?;
    page.open("#puzzle=3")?;
    // What was solved is kept.
    same("kept", &summary(&page)?.starts_with(counts), &true)?;
    press(&page, "4")?;
    let said = page.text_of(".final.win")?;
    same(
        "said",
        &said,
        &"Right: drop into column 4 and win.".to_owned(),
    )?;
    same(
        "the last",
        &page.text_of("p[data-keep=next]")?,
        &"That was the last one.".to_owned(),
    )?;
    page.open("#puzzle=77")?;
    page.browser
        .wait("return document.querySelector('h1').textContent === 'No puzzle 77'")?;
    page.browser.is_quiet()
}

pub(super) fn puzzles_can_be_read_on_all_screens() -> Result<()> {
    let page = page()?;
    for theme in ["light", "dark"] {
        page.browser.prefers("prefers-color-scheme", theme)?;
        for (width, height) in [(1280, 900), (390, 800)] {
            page.browser.size(width, height, width < 500)?;
            for hash in ["#puzzle=1", "#puzzle=2", "#puzzle=3"] {
                page.open(hash)?;
                can_be_read(&page.browser, &format!("{hash} {width} {theme}"))?;
            }
            page.open("#puzzle=2")?;
            press(&page, "8")?;
            can_be_read(&page.browser, &format!("a gift {width} {theme}"))?;
            press(&page, "O:")?;
            can_be_read(&page.browser, &format!("a verdict {width} {theme}"))?;
        }
    }
    page.browser.is_quiet()
}
