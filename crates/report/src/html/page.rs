//! The page: template, style, script, and a policy that forbids everything else.

use std::collections::BTreeMap;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use super::{MAX_GAMES, NAME_CHARS, ReportPageOptions, cut};
use crate::standings::table;
use crate::terminal::Palette;
use crate::{escaped, has_word};
use referee_games::game::{Ruleset, registry};
use referee_games::solver::four_in_a_row::SHIPPED_BYTES as BOOK;
use referee_stats::standings::Standings;
use referee_study::puzzles::Puzzle;
use referee_text::{counted, escape_controls};

/// The colours of light pages, as variables of CSS.
pub const LIGHT_THEME: &str = include_str!("assets/light.css");

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

/// Each after those that it imports; the last ones are not of a report.
const MODULES: [Module; 24] = [
    ("state.js", include_str!("assets/state.js")),
    ("dom.js", include_str!("assets/dom.js")),
    ("data.js", include_str!("assets/data.js")),
    ("rules.js", include_str!("assets/rules.js")),
    ("theme.js", include_str!("assets/theme.js")),
    ("tables.js", include_str!("assets/tables.js")),
    ("charts.js", include_str!("assets/charts.js")),
    ("course.js", include_str!("assets/course.js")),
    ("mistakes.js", include_str!("assets/mistakes.js")),
    ("thoughts.js", include_str!("assets/thoughts.js")),
    ("exact.js", include_str!("assets/exact.js")),
    ("analysis.js", include_str!("assets/analysis.js")),
    ("head.js", include_str!("assets/head.js")),
    ("overview.js", include_str!("assets/overview.js")),
    ("games.js", include_str!("assets/games.js")),
    ("bot.js", include_str!("assets/bot.js")),
    ("better.js", include_str!("assets/better.js")),
    ("turn_values.js", include_str!("assets/turn_values.js")),
    ("player.js", include_str!("assets/player.js")),
    ("stage.js", include_str!("assets/stage.js")),
    ("seat.js", include_str!("assets/seat.js")),
    ("main.js", include_str!("assets/main.js")),
    ("puzzles.js", include_str!("assets/puzzles.js")),
    ("board.js", include_str!("assets/board.js")),
];

const REPORT: usize = 22;
const PUZZLES: &str = "dom.js rules.js theme.js exact.js puzzles.js";
const BOARD: &str = "state.js dom.js rules.js theme.js exact.js turn_values.js board.js";

fn modules(names: &str) -> Vec<Module> {
    let all = MODULES.into_iter();
    all.filter(|(name, _)| has_word(names, name)).collect()
}

/// The imports of a module, each joined to one line, and its other lines.
fn split_imports(text: &str) -> (Vec<String>, Vec<&str>) {
    let (mut imports, mut others) = (Vec::new(), Vec::new());
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        if !line.starts_with("import ") {
            others.push(line);
            continue;
        }
        let mut import = line.to_owned();
        while !import.ends_with(';') {
            let Some(line) = lines.next() else { break };
            import.push_str(line);
        }
        imports.push(import);
    }
    (imports, others)
}

/// Joins modules to one script: a page opened from disk cannot import. `import` statements, `export` and types, which are
/// comments, are removed; names must be unique across modules.
fn joined(modules: &[Module]) -> String {
    let mut script = String::from("\n");
    let mut is_comment = false;
    for line in modules.iter().flat_map(|(_, text)| split_imports(text).1) {
        is_comment |= is_begun_comment(line);
        if !is_comment {
            script.push_str(line.strip_prefix("export ").unwrap_or(line));
            script.push('\n');
        }
        is_comment &= !line.ends_with("*/");
    }
    script
}

/// Whether a comment with types begins in this line, and no code follows it there.
fn is_begun_comment(line: &str) -> bool {
    let comment = line.trim_start().strip_prefix("/**");
    comment.is_some_and(|text| text.ends_with("*/") || !text.contains("*/"))
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
static ALONE: [String; 2] = [const { String::new() }; 2];

/// What a page of these modules is made of.
#[derive(Clone, Copy)]
struct PageParts<'a> {
    title: &'a str,
    script: &'a str,
    /// JSON.
    data: &'a str,
    /// HTML for readers without JavaScript.
    content: &'a str,
    /// With which addresses the script may connect.
    connect: &'a str,
    solvers: &'a str,
    /// Above and below the views.
    around: &'a [String; 2],
}

impl Default for PageParts<'_> {
    fn default() -> Self {
        Self {
            title: "",
            script: "",
            data: "{}",
            content: "",
            connect: NONE,
            solvers: "",
            around: &ALONE,
        }
    }
}

fn render(page: &PageParts<'_>) -> String {
    let [sheet, notes] = page.around;
    let has_solvers = !page.solvers.is_empty();
    format!(
        concat!(
            include_str!("assets/head.html"),
            include_str!("assets/page.html")
        ),
        policy = policy_element(&policy(page.script, page.connect, has_solvers)),
        referrer = "no-referrer",
        version = env!("CARGO_PKG_VERSION"),
        title = escaped(&escape_controls(page.title)),
        style = STYLE,
        content = page.content,
        sheet = sheet,
        notes = notes,
        // The JSON cannot end the script element or begin a comment.
        data = page.data.replace('<', "\\u003c"),
        games = page.solvers,
        script = page.script,
    )
}

fn head(options: &ReportPageOptions, live: bool) -> Value {
    let mut head = json!({
        "title": escape_controls(&options.title),
        "private": options.private,
        "live": live,
        "one": options.one,
        "own": options.only_bot.as_deref().map(escape_controls),
        "standing": options.standing,
        "kept": MAX_GAMES,
        "limits": options.limits,
    });
    if let Some(address) = options.play_at.filter(|_| live) {
        head["play_at"] = json!(address);
    }
    head
}

/// A page without a script.
pub fn plain(title: &str, html: &str) -> String {
    let content = format!("<section class=\"card sheet\">{html}</section>\n");
    let page = PageParts {
        title,
        content: &content,
        ..PageParts::default()
    };
    render(&page).replace(
        "<noscript><p>The rest of this page needs JavaScript, which is turned off.</p></noscript>",
        "",
    )
}

/// A page of a server that takes forms.
#[derive(Clone, Copy, Debug)]
pub struct FormPage<'a> {
    pub title: &'a str,
    /// HTML: the items of a list of links.
    pub nav: &'a str,
    /// HTML.
    pub content: &'a str,
    /// Beside that of reports.
    pub style: &'a str,
    pub script: &'a str,
}

/// The page, and its policy, which lets it send forms to its own server, and no others.
pub fn form_page(page: &FormPage<'_>) -> [String; 2] {
    let FormPage {
        title,
        nav,
        content,
        style,
        script,
    } = *page;
    let style = format!("{STYLE}{style}");
    let policy = format!(
        "default-src 'none'; script-src {}; style-src {}; img-src data:; connect-src 'self'; base-uri 'none'; \
         form-action 'self'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'",
        hash(script),
        hash(&style)
    );
    let html = format!(
        concat!(
            include_str!("assets/head.html"),
            include_str!("assets/form.html")
        ),
        // It is a header.
        policy = "",
        // Without one, browsers send forms from `null`, which is another site.
        referrer = "same-origin",
        version = env!("CARGO_PKG_VERSION"),
        title = escaped(&escape_controls(title)),
        style = style,
        nav = nav,
        content = content,
        script = script,
    );
    [html, policy]
}

/// What comes above and, for the teacher, below the views, without a script.
fn around(options: &ReportPageOptions) -> [String; 2] {
    let ReportPageOptions { sheet, notes, .. } = options;
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
            "<details class=\"card notes\"><summary>For the teacher: {}</summary><table><tbody>\n{rows}</tbody></table></details>\n",
            counted(notes.len() as u64, "note", "notes")
        );
    }
    around
}

/// The width of the standings for readers without JavaScript.
const COLUMNS: usize = 160;

fn policy_element(policy: &str) -> String {
    let policy = escaped(policy);
    format!("<meta http-equiv=\"Content-Security-Policy\" content=\"{policy}\">\n")
}

/// With all data, the inside of a JSON object; `kinds`: the names of its games.
pub(super) fn whole<'a>(
    options: &ReportPageOptions,
    kinds: impl IntoIterator<Item = &'a str>,
    data: &str,
    standings: &Standings,
) -> String {
    let table = table(standings, &Palette::default(), Some(COLUMNS));
    let content = format!("<pre>{}</pre>\n", escaped(&table));
    let data = format!("{{\"head\":{},{data}}}", head(options, false));
    let (solvers, around) = (solvers(kinds), around(options));
    render(&PageParts {
        title: &options.title,
        script: &joined(&MODULES[..REPORT]),
        data: &data,
        content: &content,
        solvers: &solvers,
        around: &around,
        ..PageParts::default()
    })
}

/// A page whose script requests `events`, entries and figures, and the value of its `Content-Security-Policy`.
pub fn served(options: &ReportPageOptions) -> [String; 2] {
    let data = json!({ "head": head(options, true) }).to_string();
    let framing = options.frame.as_deref().unwrap_or(NONE);
    // What it is of is not known before the first game; a book weighs more than all the rest.
    let solvers = solvers(options.game.is_none().then_some("quarto"));
    let script = joined(&MODULES[..REPORT]);
    let policy = policy(&script, "'self'", !solvers.is_empty());
    let page = PageParts {
        title: &options.title,
        script: &script,
        data: &data,
        connect: "'self'",
        solvers: &solvers,
        around: &around(options),
        ..PageParts::default()
    };
    [
        render(&page),
        format!("{policy}; frame-ancestors {framing}"),
    ]
}

/// A board to analyse and to play on, open at a position as the protocol writes it; one file without network.
pub fn board(ruleset: &dyn Ruleset, position: &str) -> String {
    let title = match ruleset.name() {
        "four-in-a-row" => "Four In A Row board",
        _ => "Quarto board",
    };
    let data = json!({
        "head": { "title": title },
        "edition": { "game": ruleset.name(), "rules": ruleset.rules(), "pieces": ruleset.pieces() },
        "position": escape_controls(position),
    });
    let (data, solvers) = (data.to_string(), solvers([ruleset.name()]));
    render(&PageParts {
        title,
        script: &joined(&modules(BOARD)),
        data: &data,
        solvers: &solvers,
        ..PageParts::default()
    })
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
    let solvers = solvers(["quarto"]);
    render(&PageParts {
        title: &title,
        script: &joined(&modules(PUZZLES)),
        data: &data,
        solvers: &solvers,
        ..PageParts::default()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn modules_import_only_from_those_before_them() {
        assert_imports_from_before(&MODULES[..REPORT]);
        assert_imports_from_before(&modules(PUZZLES));
        assert_imports_from_before(&modules(BOARD));
    }

    fn assert_imports_from_before(modules: &[Module]) {
        let mut known: Vec<&str> = Vec::new();
        for (name, text) in modules {
            for import in split_imports(text).0 {
                let from = import.split('"').nth(1).expect("import … from \"./x.js\"");
                let from = from.strip_prefix("./").expect("a neighbour");
                assert!(known.contains(&from), "{name} imports {from}");
                assert!(
                    import.ends_with("\";"),
                    "{name}: an import ends its line: {import}"
                );
            }
            known.push(name);
        }
    }

    #[test]
    fn modules_are_joined_without_imports_exports_and_types() {
        let first = "// A.\nimport {\n  a,\n  b,\n} from \"./b.js\";\n\n/** @type {A} */\nexport const one = 1;\n";
        let second = "/**\n * Two.\n *\n * @param {A} a\n */\nfunction two(a) {\n  /** @type {A} */ (a).b();\n}\n";
        let script = joined(&[("a.js", first), ("b.js", second)]);
        let expected =
            "\n// A.\n\nconst one = 1;\nfunction two(a) {\n  /** @type {A} */ (a).b();\n}\n";
        assert_eq!(script, expected);
    }

    #[test]
    fn the_script_and_the_style_cannot_end_their_elements() {
        let scripts = [&MODULES[..REPORT], &modules(PUZZLES), &modules(BOARD)].map(joined);
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
