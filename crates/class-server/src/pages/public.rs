//! What everybody sees: the table, and where to go from here.

use super::tables::{Offers, offer};
use super::tree::{Node, element};
use super::{Page, card, hint, page, paragraph, table};
use crate::desk::Desk;
use crate::limits;
use crate::view::{ClassView, FinalState};
use referee_text::counted;

/// For all visitors.
pub(crate) const NAV: [(&str, &str); 2] = [("/", "Standings"), ("/games", "Games")];

pub(crate) fn front(desk: &Desk, is_open: bool) -> Page {
    let mut fixed = Vec::new();
    if is_open {
        fixed.push(join());
    }
    let sections = sections(desk);
    page(&desk.title, &NAV, &sections, &fixed, Some("/"))
}

/// Those that change.
pub(crate) fn sections(desk: &Desk) -> Vec<Node> {
    let view = desk.view();
    let offers = Offers::to(desk, None);
    vec![final_section(&view), standings(&view, None, offers)]
}

/// Hidden until a final has been announced.
pub(crate) fn final_section(view: &ClassView) -> Node {
    let Some(shown) = &view.final_view else {
        return element("section").set("id", "final").set("hidden", "");
    };
    let (text, link) = match shown.state {
        FinalState::Announced => (
            "It has been announced.",
            "The stage, where it will be played",
        ),
        FinalState::Playing => ("It is being played.", "To the stage"),
        FinalState::Interrupted => (
            "It has begun, and goes on later.",
            "The stage, where it will go on",
        ),
        FinalState::Over => ("It has been played.", "Its games, with their boards"),
    };
    let place = if shown.state == FinalState::Over {
        "/final/"
    } else {
        "/final/#stage"
    };
    card("final", "Final")
        .with(paragraph(text))
        .with(hint(&*shown.statement))
        .with(paragraph(element("a").set("href", place).with(link)))
}

/// `mine`: the label of the reader's bot.
pub(crate) fn standings(view: &ClassView, mine: Option<&str>, offers: Offers) -> Node {
    let card = card("standings", "Standings");
    let Some(standings) = &view.standings else {
        return card.with(paragraph(
            "No games yet. They begin when two bots have been accepted.",
        ));
    };
    let rows = standings.places.iter().map(|place| {
        let moved = place.before.map_or_else(String::new, |before| {
            let (rank, up) = (place.rank, before.saturating_sub(place.rank));
            match up {
                0 if rank == before => String::new(),
                0 => format!("↓{}", rank - before),
                up => format!("↑{up}"),
            }
        });
        let number = |text: String| element("td").set("class", "number").with(text);
        let name = element("span").set("class", "name").with(&*place.name);
        let row = element("tr")
            .with(number(place.rank.to_string()))
            .with(element("td").with(moved))
            .with(element("th").set("scope", "row").with(name))
            .with(number(place.points.to_string()))
            .with(number(place.games.to_string()))
            .with(number(format!("{:+.0}", place.elo)));
        let is_mine = mine == Some(&*place.name);
        let row = match offer(&place.name, is_mine, offers) {
            Some(offered) => row.with(element("td").with(offered)),
            None => row,
        };
        if is_mine {
            return row.set("class", "mine");
        }
        row
    });
    let mut headings = vec!["rank", "moved", "bot", "points", "games", "Elo"];
    if offers.are_any() {
        headings.push("try");
    }
    let of = format!(
        "{} of {} played.",
        view.played,
        counted(view.games, "game", "games")
    );
    card.with(table(&headings, rows.collect()))
        .with(hint(of))
        .with(paragraph(
            element("a")
                .set("href", "/games")
                .with("All games, with their boards"),
        ))
}

fn join() -> Node {
    let field = |label: &str, name: &str, complete: &str| {
        let input = element("input")
            .set("name", name)
            .set("required", "")
            .set("autocomplete", complete)
            .set("maxlength", limits::NAME_CHARS.to_string());
        element("label").with(label).with(input)
    };
    let send = element("button")
        .set("type", "submit")
        .set("class", "primary")
        .with("Join");
    let form = element("form")
        .set("method", "post")
        .set("action", "/join")
        .set("class", "hand-in")
        .with(field("Your name, as the table shows it", "name", "name"))
        .with(field("Code of the class", "code", "off"))
        .with(send);
    card("join", "Join the class").with(form)
}

/// Once, for who has joined: the link is shown this time alone.
pub(crate) fn joined(title: &str, link: &str) -> Page {
    let anchor = element("a").set("href", link).with(link);
    let card = card("joined", "You have joined")
        .with(paragraph("This is your own link. Keep it, for example as a bookmark: it is shown this once, and lets in all who have it."))
        .with(paragraph(anchor))
        .with(paragraph(element("a").set("href", "/me").with("Hand in a bot")));
    page(title, &NAV, &[card], &[], None)
}
