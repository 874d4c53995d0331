//! Games that do not count: the buttons that ask for one, and those that the reader has asked for.

use super::tree::{Node, element};
use super::{card, hint, paragraph};
use crate::desk::Desk;
use crate::tables::{Table, TableHost, TableKind};
use referee_text::counted;

/// What a reader may ask for, of each bot that plays.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Offers {
    /// To play against it in person.
    pub(crate) person: bool,
    /// To see it play against the reader's bot.
    pub(crate) friendly: bool,
}

impl Offers {
    pub(crate) const fn are_any(self) -> bool {
        self.person || self.friendly
    }
}

/// The buttons of a bot; `None` where nothing is offered of any. `is_mine`: it is the reader's.
pub(crate) fn offer(label: &str, is_mine: bool, offers: Offers) -> Option<Node> {
    if !offers.are_any() {
        return None;
    }
    let act = |kind: TableKind, text: &'static str, title: String| {
        element("button")
            .set("type", "submit")
            .set("name", "kind")
            .set("value", kind.word())
            .set("title", title.clone())
            .set("aria-label", title)
            .with(text)
    };
    let bot = element("input")
        .set("type", "hidden")
        .set("name", "bot")
        .set("value", label);
    let mut form = element("form")
        .set("method", "post")
        .set("action", "/tables")
        .set("class", "row")
        .with(bot);
    if offers.person {
        let title = format!("Play against {label}");
        form = form.with(act(TableKind::Person, "Play", title));
    }
    if offers.friendly && !is_mine {
        let title = format!("See your bot play against {label}");
        form = form.with(act(TableKind::Friendly, "Friendly", title));
    }
    Some(form)
}

/// The tables of this host that are not over.
pub(crate) fn section(desk: &Desk, host: &TableHost) -> Node {
    let card = card("tables", "Games that do not count");
    let tables = desk.tables_of(host);
    if tables.is_empty() {
        let friendly = match host {
            TableHost::Student(_) => ", or see yours play a friendly game",
            TableHost::Teacher | TableHost::Visitor => "",
        };
        return card.with(hint(format!(
            "Play against a bot of the standings{friendly}: it begins when the class has no games to play."
        )));
    }
    let view = desk.view();
    let left = view.games.saturating_sub(view.played);
    let items = tables.iter().map(|table| item(table, left));
    card.with(element("ul").set("class", "list").with_all(items))
}

/// `left`: games of the class, which come first.
fn item(table: &Table, left: u64) -> Node {
    let [first, second] = &table.names;
    let state = if table.is_waiting() {
        let text = match left {
            0 => "begins soon".to_owned(),
            left => format!("waits for {} of the class", counted(left, "game", "games")),
        };
        element("span").set("class", "badge").with(text)
    } else {
        element("span").set("class", "badge win").with("playing")
    };
    let open = element("a")
        .set("href", table.path())
        .set("id", format!("table-{}", table.number))
        .with(format!("{first} vs {second}"));
    let row = element("div")
        .set("class", "row")
        .with(paragraph(open))
        .with(state);
    element("li").with(row)
}
