//! The page: template, style, script, and a policy that forbids everything else.

use std::collections::BTreeMap;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use super::{MAX_GAMES, NAME_CHARS, Options, cut};
use crate::game::{Game, registry};
use crate::puzzles::Puzzle;
use crate::report::escaped;
use crate::report::standings::table;
use crate::report::terminal::Palette;
use crate::solver::four_in_a_row::SHIPPED_BYTES as BOOK;
use crate::text::escape_controls;
use crate::tournament::standings::Standings;

/// The dark colours are there twice: for dark systems, and for readers who choose them. Print is light.
const STYLE: &str = concat!(
    include_str!("assets/light.css"),
    "@media screen and (prefers-color-scheme: dark) {\n:root:not([data-theme=\"light\"]) {\n",
    include_str!("assets/dark.css"),
    "}\n}\n@media screen {\n:root[data-theme=\"dark\"] {\n",
    include_str!("assets/dark.css"),
    "}\n}\n",
    include_str!("assets/style.css"),
    include_str!("assets/views.css"),
    include_str!("assets/stage.css"),
    include_str!("assets/puzzles.css"),
    include_str!("assets/media.css")
);

type Module = (&'static str, &'static str);

const DOM: Module = ("dom.js", include_str!("assets/dom.js"));
const RULES: Module = ("rules.js", include_str!("assets/rules.js"));
const EXACT: Module = ("exact.js", include_str!("assets/exact.js"));
const TURN_VALUES: Module = ("turn_values.js", include_str!("assets/turn_values.js"));
const THEME: Module = ("theme.js", include_str!("assets/theme.js"));

/// Each after those that it imports.
const MODULES: [Module; 21] = [
    DOM,
    ("data.js", include_str!("assets/data.js")),
    RULES,
    THEME,
    ("tables.js", include_str!("assets/tables.js")),
    ("charts.js", include_str!("assets/charts.js")),
    ("course.js", include_str!("assets/course.js")),
    ("mistakes.js", include_str!("assets/mistakes.js")),
    ("thoughts.js", include_str!("assets/thoughts.js")),
    EXACT,
    ("analysis.js", include_str!("assets/analysis.js")),
    ("head.js", include_str!("assets/head.js")),
    ("overview.js", include_str!("assets/overview.js")),
    ("games.js", include_str!("assets/games.js")),
    ("bot.js", include_str!("assets/bot.js")),
    ("better.js", include_str!("assets/better.js")),
    TURN_VALUES,
    ("player.js", include_str!("assets/player.js")),
    ("stage.js", include_str!("assets/stage.js")),
    ("seat.js", include_str!("assets/seat.js")),
    ("main.js", include_str!("assets/main.js")),
];

const PUZZLE_MODULES: [Module; 5] = [
    DOM,
    RULES,
    EXACT,
    THEME,
    ("puzzles.js", include_str!("assets/puzzles.js")),
];

const BOARD_MODULES: [Module; 6] = [
    DOM,
    RULES,
    THEME,
    EXACT,
    TURN_VALUES,
    ("board.js", include_str!("assets/board.js")),
];

/// Joins modules to one script: a page opened from disk cannot import. `import` lines and `export` are removed;
/// names must be unique across modules.
fn joined(modules: &[Module]) -> String {
    let lines = modules.iter().flat_map(|(_, text)| text.lines());
    let mut script = String::from("\n");
    for line in lines.filter(|line| !line.starts_with("import ")) {
        script.push_str(line.strip_prefix("export ").unwrap_or(line));
        script.push('\n');
    }
    script
}

fn hash(text: &str) -> String {
    format!("'sha256-{}'", STANDARD.encode(Sha256::digest(text)))
}

/// Content security policy: only this script and style; no network but a served page's own server.
///
/// `solves`: also the worker that the script makes, and the module that it runs.
fn policy(script: &str, connect: &str, solves: bool) -> String {
    let [module, worker, types] = if solves {
        [" 'wasm-unsafe-eval'", " worker-src blob:;", "worker"]
    } else {
        ["", "", "'none'"]
    };
    format!(
        "default-src 'none'; script-src {}{module};{worker} style-src {}; img-src data:; connect-src {connect}; base-uri 'none'; form-action 'none'; require-trusted-types-for 'script'; trusted-types {types}",
        hash(script),
        hash(STYLE)
    )
}

/// Rules and solvers of the games as a WebAssembly module, compressed; made by `scripts/web/make.sh`.
const MODULE: &[u8] = include_bytes!("assets/games.wasm.z");

/// What a page solves positions of these games with, as its script finds it.
fn solvers<'a>(games: impl IntoIterator<Item = &'a str>) -> String {
    let mut parts: BTreeMap<&str, &[u8]> = BTreeMap::new();
    let known = |game: &&str| registry::find(game).is_some();
    for game in games.into_iter().filter(known) {
        parts.insert("games", MODULE);
        if game == "four-in-a-row" {
            parts.insert("book", BOOK);
        }
    }
    let script = |(id, bytes)| {
        let text = STANDARD.encode(bytes);
        format!("<script type=\"application/octet-stream\" id=\"{id}\">{text}</script>\n")
    };
    parts.into_iter().map(script).collect()
}

/// Where a page may connect to that is not served.
const NONE: &str = "'none'";

/// Around the views of a page that has nothing there.
const ALONE: [String; 2] = [const { String::new() }; 2];

/// `content`: HTML for readers without JavaScript.
fn render(
    title: &str,
    script: &str,
    data: &str,
    content: &str,
    connect: &str,
    solvers: &str,
    [sheet, notes]: &[String; 2],
) -> String {
    format!(
        include_str!("assets/page.html"),
        policy = escaped(&policy(script, connect, !solvers.is_empty())),
        version = env!("CARGO_PKG_VERSION"),
        title = escaped(&escape_controls(title)),
        style = STYLE,
        content = content,
        sheet = sheet,
        notes = notes,
        // The JSON cannot end the script element or begin a comment.
        data = data.replace('<', "\\u003c"),
        games = solvers,
        script = script,
    )
}

fn head(options: &Options, live: bool) -> Value {
    json!({
        "title": escape_controls(&options.title),
        "private": options.private,
        "live": live,
        "one": options.one,
        "own": options.own.as_deref().map(escape_controls),
        "standing": options.standing,
        "kept": MAX_GAMES,
        "limits": options.limits,
    })
}

/// A page without a script.
pub fn plain(title: &str, html: &str) -> String {
    let content = format!("<section class=\"card sheet\">{html}</section>\n");
    render(title, "", "{}", &content, NONE, "", &ALONE).replace(
        "<noscript><p>The rest of this page needs JavaScript, which is turned off.</p></noscript>",
        "",
    )
}

/// What comes above and, for the teacher, below the views, without a script.
fn around(options: &Options) -> [String; 2] {
    let Options { sheet, notes, .. } = options;
    let mut around = [String::new(), String::new()];
    if !sheet.is_empty() {
        around[0] = format!("<section class=\"card sheet\">{sheet}</section>\n");
    }
    if !options.private && !notes.is_empty() {
        let row = |note: &[String; 3]| {
            let [what, of, rest] = note.each_ref().map(|text| escaped(&escape_controls(text)));
            format!("<tr><td>{what}</td><td>{of}</td><td>{rest}</td></tr>\n")
        };
        let rows: String = notes.iter().map(row).collect();
        around[1] = format!(
            "<section class=\"card notes\"><h2>For the teacher</h2><table><tbody>\n{rows}</tbody></table></section>\n"
        );
    }
    around
}

/// The width of the standings for readers without JavaScript.
const COLUMNS: usize = 160;

/// With all data, the inside of a JSON object; `kinds`: the names of its games.
pub(super) fn whole<'a>(
    options: &Options,
    kinds: impl IntoIterator<Item = &'a str>,
    data: &str,
    standings: &Standings,
) -> String {
    let table = table(standings, &Palette::default(), Some(COLUMNS));
    let content = format!("<pre>{}</pre>\n", escaped(&table));
    let data = format!("{{\"head\":{},{data}}}", head(options, false));
    let (solvers, around) = (solvers(kinds), around(options));
    let (title, script) = (&options.title, joined(&MODULES));
    render(title, &script, &data, &content, NONE, &solvers, &around)
}

/// A page whose script requests `events`, entries and figures, and the value of its `Content-Security-Policy`.
pub fn served(options: &Options) -> [String; 2] {
    let data = json!({ "head": head(options, true) }).to_string();
    let framing = options.frame.as_deref().unwrap_or(NONE);
    // What it is of is not known before the first game; a book weighs more than all the rest.
    let solvers = solvers(options.game.is_none().then_some("quarto"));
    let (title, around) = (&options.title, around(options));
    let script = joined(&MODULES);
    let policy = policy(&script, "'self'", !solvers.is_empty());
    [
        render(title, &script, &data, "", "'self'", &solvers, &around),
        format!("{policy}; frame-ancestors {framing}"),
    ]
}

/// A board to analyse and to play on, open at a position as the protocol writes it; one file without network.
pub fn board(game: &dyn Game, position: &str) -> String {
    let title = match game.name() {
        "four-in-a-row" => "Four In A Row board",
        _ => "Quarto board",
    };
    let data = json!({
        "head": { "title": title },
        "edition": { "game": game.name(), "rules": game.rules(), "pieces": game.pieces() },
        "position": escape_controls(position),
    });
    let (data, solvers) = (data.to_string(), solvers([game.name()]));
    let script = joined(&BOARD_MODULES);
    render(title, &script, &data, "", NONE, &solvers, &ALONE)
}

/// Puzzles in this order, in one file without network; the browser keeps what was solved.
pub fn puzzles<'a>(title: &str, puzzles: impl IntoIterator<Item = &'a Puzzle>) -> String {
    let (mut editions, mut entries) = (Vec::<Value>::new(), Vec::<Value>::new());
    for puzzle in puzzles {
        let (game, rules) = (&puzzle.game, &puzzle.rules);
        let edition = json!({ "game": game, "rules": rules, "pieces": puzzle.pieces });
        let known = editions.iter().position(|known| *known == edition);
        let number = known.unwrap_or(editions.len());
        if known.is_none() {
            editions.push(edition);
        }
        entries.push(json!([
            number,
            puzzle.id,
            puzzle.position,
            puzzle.kind,
            puzzle.value,
            puzzle.answers,
            puzzle.turns,
            puzzle.level,
            puzzle.failed,
            puzzle.asked,
        ]));
    }
    let title = cut(&escape_controls(title), NAME_CHARS);
    let head = json!({ "title": title });
    let data = json!({ "head": head, "editions": editions, "puzzles": entries }).to_string();
    // Positions of puzzles need no book.
    let (script, solvers) = (joined(&PUZZLE_MODULES), solvers(["quarto"]));
    render(&title, &script, &data, "", NONE, &solvers, &ALONE)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn modules_import_only_from_those_before_them() {
        assert_imports_from_before(&MODULES);
        assert_imports_from_before(&PUZZLE_MODULES);
        assert_imports_from_before(&BOARD_MODULES);
    }

    fn assert_imports_from_before(modules: &[Module]) {
        let mut known: Vec<&str> = Vec::new();
        for (name, text) in modules {
            for line in text.lines().filter(|line| line.contains("import")) {
                if !line.starts_with("import ") {
                    continue;
                }
                let from = line.split('"').nth(1).expect("import … from \"./x.js\"");
                let from = from.strip_prefix("./").expect("a neighbour");
                assert!(known.contains(&from), "{name} imports {from}");
                assert!(line.ends_with(';'), "{name}: one line an import: {line}");
            }
            known.push(name);
        }
    }

    #[test]
    fn the_script_and_the_style_cannot_end_their_elements() {
        let scripts = [&MODULES[..], &PUZZLE_MODULES, &BOARD_MODULES].map(joined);
        for text in scripts.iter().map(String::as_str).chain([STYLE]) {
            assert!(!text.contains("</"), "would end the element");
            assert!(!text.contains("<!--"));
        }
        for forbidden in [
            "innerHTML",
            "outerHTML",
            "insertAdjacentHTML",
            "document.write",
            "eval(",
        ] {
            for script in &scripts {
                assert!(!script.contains(forbidden), "{forbidden}");
            }
        }
    }
}
