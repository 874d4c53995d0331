//! The teacher's page: who has handed in, what failed and why, the queue, the log, and what to decide.

use super::tables::{self, Offers};
use super::tree::{Node, element};
use super::{Page, button, card, hint, page, paragraph, public, student, table, time};
use crate::desk::{Desk, SubmissionView};
use crate::limits;
use crate::links::{LinkOwner, StudentLink};
use crate::tables::TableHost;
use crate::view::ClassView;
use referee_class::league::zone::Zone;
use referee_text::counted;

pub(crate) const NAV: [(&str, &str); 3] =
    [("/class", "Class"), ("/", "Standings"), ("/games", "Games")];

/// The latest lines of the log.
const LOG_LINES: usize = 50;

pub(crate) fn whole(desk: &Desk) -> Page {
    let fixed = [decisions(&desk.view()), downloads()];
    page(&desk.title, &NAV, &sections(desk), &fixed, Some("/class"))
}

pub(crate) fn told(title: &str, sentence: &str) -> Page {
    super::told(title, sentence, &NAV)
}

pub(crate) fn sections(desk: &Desk) -> Vec<Node> {
    let view = desk.view();
    let students = desk.links().students().to_vec();
    let offers = Offers::to(desk, Some(&LinkOwner::Teacher));
    let mut sections = vec![
        state(&view, desk),
        public::final_section(&view),
        who(desk, &view, &students),
        public::standings(&view, None, offers),
        tables::section(desk, &TableHost::Teacher),
        notes(&view),
        log(&view),
    ];
    sections.retain(|section| !matches!(section, Node::Text(_)));
    sections
}

fn state(view: &ClassView, desk: &Desk) -> Node {
    let mut card = card("state", "Now");
    if let Some(trouble) = &view.trouble {
        let text = format!("Nothing is checked and played: {trouble}");
        card = card.with(element("p").set("class", "bad fault").with(text));
    }
    let waiting = (desk.waiting().len() + view.queue.len()) as u64;
    card = card.with(paragraph(format!(
        "{} in the queue; {} of {} played.",
        counted(waiting, "submission", "submissions"),
        view.played,
        counted(view.games, "game", "games"),
    )));
    if view.is_frozen {
        card = card.with(paragraph("Frozen: no submission is taken."));
    }
    match (view.deadline, view.accepted_until) {
        (Some(deadline), Some(until)) if until != deadline => card.with(paragraph(format!(
            "Deadline: {}; what comes until {} plays as late.",
            time(deadline, &view.zone),
            time(until, &view.zone)
        ))),
        (Some(deadline), _) => card.with(paragraph(format!(
            "Deadline: {}.",
            time(deadline, &view.zone)
        ))),
        (None, _) => card.with(paragraph("No deadline.")),
    }
}

fn who(desk: &Desk, view: &ClassView, students: &[StudentLink]) -> Node {
    let rows = students.iter().map(|link| {
        let submissions = desk.submissions(link);
        let bot = view.bot(link);
        let newest = submissions.first();
        let state = newest.map_or_else(
            || match bot {
                Some(_) => element("span").with("nothing by the web"),
                None => element("span").set("class", "bad").with("nothing yet"),
            },
            |newest| {
                let path = format!("/students/{}", link.key);
                let text = format!(
                    "version {}: {}",
                    newest.submission.number,
                    newest.state.text()
                );
                element("a").set("href", path).with(text)
            },
        );
        let plays = bot.map_or_else(String::new, |bot| match (&bot.withdrawn, bot.received) {
            (Some(why), _) => format!("withdrawn: {why}"),
            (None, Some(received)) => {
                let late = bot.hours_late;
                let late = late.map_or_else(String::new, |hours| format!(", {hours} h late"));
                format!("version of {}{late}", time(received, &view.zone))
            }
            (None, None) => String::new(),
        });
        let games = bot.map_or_else(String::new, |bot| {
            format!("{} of {}", bot.played, bot.games)
        });
        let name = element("span").set("class", "name").with(&*link.name);
        element("tr")
            .with(element("th").set("scope", "row").with(name))
            .with(element("td").with(state))
            .with(element("td").with(plays))
            .with(element("td").with(games))
    });
    let headings = ["student", "newest", "plays", "games"];
    card("students", "Students").with(table(&headings, rows.collect()))
}

fn notes(view: &ClassView) -> Node {
    let card = card("notes", "To look at");
    if view.notes.is_empty() {
        return card.with(paragraph("Nothing."));
    }
    let rows = view.notes.iter().map(|note| {
        let cells = note.iter().map(|text| element("td").with(&**text));
        element("tr").with_all(cells)
    });
    card.with(table(&["what", "who", ""], rows.collect()))
}

fn log(view: &ClassView) -> Node {
    let card = card("log", "Log");
    if view.log.is_empty() {
        return card.with(paragraph("No decisions yet."));
    }
    let latest = view.log.iter().rev().take(LOG_LINES);
    let items = latest.map(|entry| {
        let why = if entry.why.is_empty() { "" } else { ": " };
        let text = format!(
            "{}  {} {}{why}{}",
            time(entry.time, &view.zone),
            entry.of,
            entry.action,
            entry.why
        );
        element("li").with(text)
    });
    card.with(element("ul").with_all(items))
}

fn decision_text(label: &str, name: &str, list: Option<&str>) -> Node {
    let input = element("input")
        .set("name", name)
        .set("id", format!("decide-{name}"))
        .set("maxlength", limits::WHY_CHARS.to_string());
    let input = match list {
        Some(list) => input.set("list", list),
        None => input,
    };
    element("label").with(label).with(input)
}

fn decision_button(action: &str, label: &str) -> Node {
    element("button")
        .set("type", "submit")
        .set("name", "action")
        .set("value", action)
        .with(label)
}

fn decision_form(fields: Vec<Node>, buttons: Vec<Node>) -> Node {
    element("form")
        .set("method", "post")
        .set("action", "/class/decisions")
        .set("class", "hand-in")
        .with_all(fields)
        .with(element("div").set("class", "row").with_all(buttons))
}

/// Forms for the decisions: those of a bot need its name.
fn decisions(view: &ClassView) -> Node {
    let (text, act, form) = (decision_text, decision_button, decision_form);
    let bots = view
        .bots
        .iter()
        .map(|bot| element("option").set("value", &*bot.label));
    let of_bot = form(
        vec![
            text("Bot, or the id of a game", "of", Some("bots")),
            text("Why", "why", None),
        ],
        vec![
            act("withdraw", "Withdraw"),
            act("restore", "Restore"),
            act("replay", "Play the game again"),
        ],
    );
    let time = form(
        vec![text(
            "Deadline: 2026-01-31T18:00+01:00, or none",
            "deadline",
            None,
        )],
        vec![act("deadline", "Set the deadline")],
    );
    let freeze = form(
        Vec::new(),
        vec![
            act("freeze", "Freeze: take no submissions"),
            act("thaw", "Take submissions again"),
        ],
    );
    card("decide", "Decide")
        .with(element("datalist").set("id", "bots").with_all(bots))
        .with(
            element("div")
                .set("class", "forms")
                .with(of_bot)
                .with(time)
                .with(freeze)
                .with(final_form())
                .with(tables_form(view)),
        )
}

fn final_form() -> Node {
    let formats = ["round-robin", "knockout", "groups+knockout", "swiss"];
    let formats = formats.map(|format| element("option").set("value", format).with(format));
    let select = element("select").set("name", "format").with_all(formats);
    let pairs = "Pairs of games in each pairing, or nothing for 10";
    decision_form(
        vec![
            element("label").with("Final: format").with(select),
            decision_text(pairs, "pairs", None),
        ],
        vec![
            decision_button("announce", "Announce the final"),
            decision_button("play", "Play the final"),
        ],
    )
}

fn tables_form(view: &ClassView) -> Node {
    let now = if view.has_open_tables {
        "Everybody may play against the bots."
    } else {
        "Only the class may play against the bots."
    };
    decision_form(
        vec![hint(now)],
        vec![
            decision_button("open-tables", "Let everybody play"),
            decision_button("close-tables", "Let only the class play"),
        ],
    )
}

fn downloads() -> Node {
    let link =
        |path: &str, text: &str| element("li").with(element("a").set("href", path).with(text));
    card("downloads", "Downloads").with(
        element("ul")
            .with(link("/class/students.csv", "Who plays with what (CSV)"))
            .with(link("/standings.json", "The table (JSON)"))
            .with(link("/class/games.jsonl", "All games (records)"))
            .with(link(
                "/class/submissions.tar.gz",
                "All submissions, as they were sent",
            )),
    )
}

/// All of one student.
pub(crate) fn of_student(desk: &Desk, link: &StudentLink) -> Page {
    let submissions = desk.submissions(link);
    let view = desk.view();
    let items = submissions
        .iter()
        .map(|one| submission(link, one, &view.zone));
    let list =
        card("versions", &link.name).with(element("ul").set("class", "list").with_all(items));
    let renew = card("link", "Link")
        .with(hint(
            "A new link replaces the one before, which then opens nothing.",
        ))
        .with(button(
            format!("/students/{}/link", link.key),
            "Make a new link",
            "renew".to_owned(),
        ));
    page(&desk.title, &NAV, &[list, renew], &[], None)
}

fn submission(link: &StudentLink, one: &SubmissionView, zone: &Zone) -> Node {
    let number = one.submission.number;
    let files = element("a")
        .set(
            "href",
            format!("/students/{}/submissions/{number}/files", link.key),
        )
        .with("download");
    let row = element("div")
        .set("class", "row")
        .with(element("strong").with(format!("Version {number}")))
        .with(element("span").set("class", "badge").with(one.state.text()))
        .with(element("small").with(time(one.submission.received, zone)))
        .with(files);
    let mut item = element("li").with(row);
    if let Some(why) = &one.refused {
        item = item.with(element("p").set("class", "fault").with(&**why));
    }
    if let Some(check) = &one.check {
        item = item.with_all(student::check_nodes(number, check));
    }
    item
}
