//! A student's page: hand in, and what became of it.

use serde_json::Value;

use super::tables::{self, Offers};
use super::tree::{Node, element};
use super::{Page, button, card, hint, page, paragraph, public, time};
use crate::desk::{Desk, State, SubmissionView};
use crate::limits;
use crate::links::{LinkOwner, StudentLink};
use crate::tables::TableHost;
use crate::view::{BotView, ClassView};
use referee_class::league::zone::Zone;
use referee_match::play::setup::now;
use referee_text::{counted, join_parts};

pub(super) const NAV: [(&str, &str); 4] = [
    ("/me", "My bot"),
    ("/me/games", "My games"),
    ("/", "Standings"),
    ("/games", "Games"),
];

pub(crate) fn whole(desk: &Desk, student: &StudentLink) -> Page {
    let fixed = [hand_in(&desk.view())];
    page(
        &desk.title,
        &NAV,
        &sections(desk, student),
        &fixed,
        Some("/me"),
    )
}

/// A sentence for a student.
pub(crate) fn told(title: &str, sentence: &str) -> Page {
    super::told(title, sentence, &NAV)
}

/// Those that change.
pub(crate) fn sections(desk: &Desk, student: &StudentLink) -> Vec<Node> {
    let view = desk.view();
    let bot = view.bot(student);
    let mine = bot.map(|bot| &*bot.label);
    let offers = Offers::to(desk, Some(&LinkOwner::Student(student.clone())));
    vec![
        public::final_section(&view),
        now_section(student, &view, bot),
        versions(&desk.submissions(student), &view.zone, bot.is_some()),
        tables::section(desk, &TableHost::Student(student.key.clone())),
        public::standings(&view, mine, offers),
    ]
}

fn hand_in(view: &ClassView) -> Node {
    let files = |label: &str, extra: Option<&'static str>, id: &str| {
        let input = element("input")
            .set("type", "file")
            .set("name", "files")
            .set("multiple", "")
            .set("id", id);
        let input = match extra {
            Some(extra) => input.set(extra, ""),
            None => input,
        };
        element("label").with(label).with(input)
    };
    let drop = element("div")
        .set("class", "drop")
        .with(files("Files, or an archive (.zip, .tar.gz)", None, "files"))
        .with(files("Or a folder", Some("webkitdirectory"), "folder"))
        .with(hint(format!(
            "Or drop them here. Up to {} MB; sources are built on the server.",
            limits::UPLOAD_BYTES >> 20
        )));
    let name = element("input")
        .set("name", "name")
        .set("placeholder", "bot.py");
    let text = element("textarea")
        .set("name", "text")
        .set("spellcheck", "false");
    let paste = element("details")
        .set("id", "paste")
        .with(element("summary").with("Or paste the program"))
        .with(element("label").with("Name of the file").with(name))
        .with(element("label").with("Program").with(text));
    let send = element("button")
        .set("type", "submit")
        .set("class", "primary")
        .with("Hand in");
    let form = element("form")
        .set("id", "hand-in")
        .set("class", "hand-in")
        .set("method", "post")
        .set("action", "/submissions")
        .set("enctype", "multipart/form-data")
        .set("data-bytes", limits::UPLOAD_BYTES.to_string())
        .with(drop)
        .with(paste)
        .with(element("div").set("class", "row").with(send))
        .with(element("p").set("role", "status").set("class", "tight"));
    let card = card("form", "Hand in");
    if view.is_frozen {
        return card.with(paragraph("The class is frozen: nothing is taken any more."));
    }
    card.with(form)
}

/// Where the bot stands now.
fn now_section(student: &StudentLink, view: &ClassView, bot: Option<&BotView>) -> Node {
    let mut card = card("now", &format!("{}: now", student.name));
    if let Some(deadline) = view.deadline {
        let is_over = !view.is_open(now());
        let after = if is_over {
            " It is over: what comes now does not play."
        } else {
            ""
        };
        card = card.with(paragraph(format!(
            "Deadline: {}.{after}",
            time(deadline, &view.zone)
        )));
    }
    let Some(bot) = bot else {
        return card.with(paragraph("You have not handed in anything yet."));
    };
    if let Some(why) = &bot.withdrawn {
        return card.with(paragraph(format!("Your bot was withdrawn: {why}")));
    }
    if bot.people.len() > 1 {
        card = card.with(paragraph(format!("The bot of {}.", bot.people.join(", "))));
    }
    let place = view.standings.as_ref().and_then(|standings| {
        let place = standings
            .places
            .iter()
            .find(|place| place.name == bot.label)?;
        Some((place, standings.places.len()))
    });
    if let Some((place, of)) = place {
        let before = match place.before {
            Some(before) if before != place.rank => format!(", before that {before}"),
            _ => String::new(),
        };
        let strong = element("strong").with(format!("Place {} of {of}", place.rank));
        let line = element("p").with(strong).with(format!(
            "{before}: {} points in {}.",
            place.points,
            counted(place.games, "game", "games")
        ));
        card = card.with(line);
    }
    if let Some(received) = bot.received {
        let late = bot.hours_late.map_or_else(String::new, |hours| {
            format!(", handed in {} late", counted(hours, "hour", "hours"))
        });
        let text = format!("The version of {} plays{late}.", time(received, &view.zone));
        card = card.with(paragraph(text));
    }
    if bot.games > 0 {
        let bar = element("progress")
            .set("value", bot.played.to_string())
            .set("max", bot.games.to_string());
        let text = format!(" {} of {}", bot.played, counted(bot.games, "game", "games"));
        card = card.with(element("p").with(bar).with(text));
    }
    let games = element("a").set("href", "/me/games");
    card.with(paragraph(games.with("My games, with what to fix first")))
}

/// `has_bot`: also one that came by another way, or of a team-mate.
fn versions(submissions: &[SubmissionView], zone: &Zone, has_bot: bool) -> Node {
    let card = card("versions", "Versions");
    if submissions.is_empty() {
        return card.with(paragraph(if has_bot {
            "None from you by this page: your bot came by a team-mate, or by another way."
        } else {
            "None yet."
        }));
    }
    let items = submissions.iter().map(|one| version(one, zone));
    card.with(element("ul").set("class", "list").with_all(items))
}

fn version(one: &SubmissionView, zone: &Zone) -> Node {
    let number = one.submission.number;
    let badge = |class: &str, text: String| {
        element("span")
            .set("class", format!("badge {class}"))
            .with(text)
    };
    let [played, games] = one.games;
    let state = match one.state {
        State::Waiting => badge(
            "",
            one.ahead.map_or_else(
                || one.state.text(),
                |ahead| format!("waiting, {ahead} ahead"),
            ),
        ),
        State::Replaced(_) => badge("", one.state.text()),
        State::Building => badge("", "being built".to_owned()),
        State::Checking => badge("", "being checked".to_owned()),
        State::Playing if games == 0 => badge("win", "accepted, plays next".to_owned()),
        State::Playing => badge("win", format!("playing: {played} of {games} games")),
        State::Done if one.plays => {
            badge("win", format!("plays: {}", counted(games, "game", "games")))
        }
        State::Done => badge("", "accepted, an earlier version".to_owned()),
        State::Refused => badge("loss", "refused".to_owned()),
    };
    let again = one
        .submission
        .again
        .map_or_else(String::new, |of| format!(", version {of} again"));
    let download = element("a")
        .set("href", format!("/submissions/{number}/files"))
        .set("id", format!("files-{number}"))
        .with("download");
    let mut row = element("div")
        .set("class", "row")
        .with(element("strong").with(format!("Version {number}")))
        .with(state)
        .with(element("small").with(format!("{}{again}", time(one.submission.received, zone))))
        .with(download);
    let may_be_again =
        matches!(one.state, State::Done | State::Playing | State::Replaced(_)) && !one.plays;
    if may_be_again {
        let action = format!("/submissions/{number}/again");
        row = row.with(button(
            action,
            "make it current again",
            format!("again-{number}"),
        ));
    }
    let mut item = element("li").with(row);
    if let Some(why) = &one.refused {
        item = item.with(element("p").set("class", "fault").with(&**why));
    }
    if let Some(check) = &one.check {
        item = item.with_all(check_nodes(number, check));
    }
    item
}

/// What `referee check` says, by the JSON that it prints.
pub(crate) fn check_nodes(number: u32, check: &Value) -> Vec<Node> {
    let text = |value: &Value| value.as_str().map(str::to_owned);
    let mut nodes = Vec::new();
    if let Some(why) = text(&check["refused"]) {
        nodes.push(
            element("p")
                .set("class", "fault")
                .with(join_parts(why, "\n")),
        );
    }
    let first = &check["fix_first"];
    if let Some(detail) = text(&first["detail"]) {
        let is_fit = check["fit"] == true;
        let heading = if is_fit { "Advice" } else { "Fix first" };
        let name = text(&first["check"]).unwrap_or_default();
        let strong = element("strong").with(format!("{heading} ({name}): "));
        nodes.push(element("p").set("class", "fault").with(strong).with(detail));
        if let Some(fix) = text(&first["fix"]) {
            nodes.push(paragraph(format!("Fix: {fix}.")));
        }
        if let Some(again) = text(&first["reproduce"]) {
            nodes.push(element("pre").set("class", "scroll").with(again));
        }
    }
    let checks = check["checks"].as_array().map_or(&[][..], Vec::as_slice);
    if checks.is_empty() {
        return nodes;
    }
    let items = checks.iter().map(|check| {
        let mark = match (&check["ok"], &check["required"]) {
            (Value::Bool(true), _) => "✓",
            (Value::Bool(false), Value::Bool(true)) => "✗",
            (Value::Bool(false), _) => "!",
            _ => "–",
        };
        let name = text(&check["name"]).unwrap_or_default();
        let detail = text(&check["detail"]).filter(|detail| !detail.is_empty());
        let detail = detail.map_or_else(String::new, |detail| format!(": {detail}"));
        element("li").with(format!("{mark} {name}{detail}"))
    });
    let details = element("details")
        .set("id", format!("checks-{number}"))
        .with(element("summary").with(counted(checks.len() as u64, "check", "checks")))
        .with(element("ul").with_all(items));
    nodes.push(details);
    nodes
}
