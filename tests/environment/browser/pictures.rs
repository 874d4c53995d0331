//! Pictures as files (`report::picture`) beside the drawings of the page: the same shapes at the same places in the same
//! colours.

use referee::record::Record;
use referee::report::picture::stills;
use serde_json::Value;

use super::driver::{Browser, Result};
use super::{OpenReport, number_of, same};
use crate::common::games::GAMES;

/// Scripts: the shapes within an element in the order of drawing, each as a line: its kind, where it is, how it is
/// painted. What plays on the page only is left out: fields to click, and the fading in of a piece.
const SHAPES: &str = r"
const opaque = (colour, opacity) => {
  const [r, g, b, a] = colour.match(/[\d.]+/g).map(Number);
  return `${r} ${g} ${b} ${Math.round(100 * (a ?? 1) * Number(opacity))}%`;
};
const painted = (element) => {
  const style = getComputedStyle(element);
  const paint = [`opacity ${style.opacity}`];
  paint.push(style.fill === 'none' ? 'hollow' : `fill ${opaque(style.fill, style.fillOpacity)}`);
  if (style.stroke !== 'none') {
    paint.push(`stroke ${opaque(style.stroke, style.strokeOpacity)} ${style.strokeWidth} ${style.strokeDasharray} ${style.strokeLinecap} ${style.paintOrder}`);
  }
  if (element.tagName === 'text') {
    paint.push(`${style.fontSize} ${style.fontWeight} ${style.textAnchor} ${style.dominantBaseline} “${element.textContent}”`);
  }
  return paint.join(', ');
};
const AT = ['transform', 'd', 'x', 'y', 'width', 'height', 'rx', 'ry', 'cx', 'cy', 'r', 'x1', 'y1', 'x2', 'y2'];
const shapes = (root) => [...root.querySelectorAll('*')]
  .filter((e) => e.tagName !== 'title' && !e.matches('.choose, .hand, .hand *'))
  .filter((e) => getComputedStyle(e).visibility === 'visible')
  .map((e) => {
    const kind = (e.getAttribute('class') ?? '').replace(' fresh', '');
    const at = AT.filter((name) => e.hasAttribute(name)).map((name) => `${name}=${e.getAttribute(name)}`);
    return `${e.tagName} ${kind} ${at.join(' ')}: ${e.tagName === 'g' ? '' : painted(e)}`;
  });
";

/// Lists of lines that a script returns.
fn lists(browser: &Browser, script: &str) -> Result<Vec<Vec<String>>> {
    let found = browser.run(&format!("{SHAPES}{script}"))?;
    serde_json::from_value(found).map_err(|error| error.to_string())
}

/// The first difference between the shapes of each of two lists of positions.
fn compare(what: &str, found: &[Vec<String>], expected: &[Vec<String>]) -> Result<()> {
    same(&format!("{what}: positions"), &found.len(), &expected.len())?;
    for (turn, (found, expected)) in found.iter().zip(expected).enumerate() {
        for (found, expected) in found.iter().zip(expected) {
            same(&format!("{what}, turn {turn}"), found, expected)?;
        }
        same(
            &format!("{what}, turn {turn}: shapes"),
            &found.len(),
            &expected.len(),
        )?;
    }
    Ok(())
}

fn drawn(record: &Value) -> Result<Vec<String>> {
    let record =
        Record::from_line(record.to_string().as_bytes()).map_err(|problem| problem.to_string())?;
    let game = record.ruleset().map_err(|error| error.to_string())?;
    stills(&*game, &record).map_err(|error| error.to_string())
}

/// A won game of each game and edition, one that begins with pieces, a draw or forfeit, by number.
fn chosen() -> Result<Vec<usize>> {
    let with = |key: &'static str, value: &'static str| {
        number_of(move |record| record["result"]["reason"] == value && record[key].is_null())
    };
    Ok(vec![
        with("pieces", "quarto")?,
        number_of(|record| !record["pieces"].is_null())?,
        number_of(|record| {
            record["start"]
                .as_str()
                .is_some_and(|start| start.contains('P'))
        })?,
        number_of(|record| record["result"]["reason"] == "four-in-a-row")?,
        number_of(|record| !record["result"]["by"].is_null())?,
    ])
}

/// Shows SVG within a page that has no style.
fn show(report: &OpenReport, pictures: &str) -> Result<()> {
    let page = format!("<!doctype html><meta charset=utf-8><title>Pictures</title>{pictures}");
    let file = report.scratch().join("pictures.html");
    std::fs::write(&file, page).map_err(|error| error.to_string())?;
    report.browser.go(&format!("file://{}", file.display()))
}

/// Each position of a game on the page, and as a file.
pub(super) fn pictures_have_the_shapes_of_the_page() -> Result<()> {
    let report = OpenReport::at(&GAMES, &[])?;
    report.browser.prefers("prefers-color-scheme", "light")?;
    for number in chosen()? {
        let stills = drawn(&GAMES[number - 1])?;
        report.open(&format!("#game={number}&turn=0"))?;
        // It has the mark of a fault.
        report
            .browser
            .wait("return document.querySelector('.turn-times') !== null")?;
        let on_page = lists(
            &report.browser,
            "const slider = document.querySelector('[data-keep=slider]');
             return Array.from({ length: Number(slider.max) + 1 - document.querySelectorAll('.fault-mark').length }, (_, turn) => {
               slider.value = turn;
               slider.dispatchEvent(new Event('input', { bubbles: true }));
               return shapes(document.querySelector('.stage svg'));
             })",
        )?;
        show(&report, &stills.concat())?;
        let still = lists(
            &report.browser,
            "return [...document.querySelectorAll('g.board')].map(shapes)",
        )?;
        compare(&format!("game {number}"), &still, &on_page)?;
    }
    Ok(())
}
