//! Games that do not count: the buttons that ask for one, and those that the reader has asked for.

use super::tree::{Node, element};
use super::{Page, button, card, hint, page, paragraph, public, student, teacher};
use crate::desk::Desk;
use crate::links::{LinkOwner, StudentLink};
use crate::tables::{Table, TableEnd, TableHost, TableKind};
use crate::view::{ClassView, FinalState};
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
    /// What this reader may ask for; `None`: a visitor.
    pub(crate) fn to(desk: &Desk, reader: Option<&LinkOwner>) -> Self {
        let view = desk.view();
        let plays = |link: &StudentLink| view.bot(link).is_some_and(|bot| bot.playing.is_some());
        let (may_play, friendly) = match reader {
            None => (view.has_open_tables, false),
            Some(LinkOwner::Teacher) => (true, false),
            Some(LinkOwner::Student(link)) => (true, plays(link)),
        };
        Self {
            person: may_play && desk.is_drawn(),
            friendly,
        }
    }

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
            .set("id", format!("{}-{}", kind.word(), id_of(label)))
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

/// A page from which a game against this bot is asked for; `None` where nothing is offered of it to this reader.
pub(crate) fn of_bot(desk: &Desk, reader: Option<&LinkOwner>, label: &str) -> Option<Page> {
    let view = desk.view();
    let (nav, mine) = match reader {
        None => (&public::NAV[..], None),
        Some(LinkOwner::Teacher) => (&teacher::NAV[..], None),
        Some(LinkOwner::Student(link)) => (&student::NAV[..], view.bot(link)),
    };
    let is_mine = mine.is_some_and(|bot| &*bot.label == label);
    let mut offers = Offers::to(desk, reader);
    offers.friendly &= !is_mine;
    let buttons = offer(label, is_mine, offers)?;
    let card = card("table", &format!("Play against {label}"))
        .with(buttons)
        .with(hint(
            "It does not count, and begins when the class has no games to play.",
        ));
    Some(page(&desk.title, nav, &[card], &[], None))
}

/// Of a label, as the end of an id: the same whenever the page is drawn, so that the focus stays.
fn id_of(label: &str) -> String {
    let part = |c: char| match c {
        c if c.is_alphanumeric() => c.to_string(),
        c => format!("_{:x}_", u32::from(c)),
    };
    label.chars().map(part).collect()
}

/// The tables of this host.
pub(crate) fn section(desk: &Desk, host: &TableHost) -> Node {
    let card = card("tables", "Games that do not count");
    let friendly = match host {
        TableHost::Student(_) => ", or see yours play a friendly game",
        TableHost::Teacher | TableHost::Visitor(_) => "",
    };
    let how = hint(format!(
        "Play against a bot of the standings{friendly}: it begins when the class has no games to play."
    ));
    let tables = desk.tables_of(host);
    if tables.is_empty() {
        return card.with(how);
    }
    let view = desk.view();
    let waits_for = waits_for(&view, !desk.waiting().is_empty());
    let newest_first = tables.iter().rev();
    let items = newest_first.map(|table| item(table, &waits_for));
    card.with(element("ul").set("class", "list").with_all(items))
        .with(how)
}

/// What comes before a table that waits. `are_sent`: submissions, which are to be checked.
fn waits_for(view: &ClassView, are_sent: bool) -> String {
    let left = view.games.saturating_sub(view.played);
    let state = view.final_view.as_ref().map(|shown| shown.state);
    if view.trouble.is_some() {
        "waits until the server works again".to_owned()
    } else if state == Some(FinalState::Playing) {
        "waits for the final".to_owned()
    } else if left > 0 {
        format!("waits for {} of the class", counted(left, "game", "games"))
    } else if are_sent || view.work.is_some() {
        "waits for a bot that is checked".to_owned()
    } else {
        "begins soon".to_owned()
    }
}

fn item(table: &Table, waits_for: &str) -> Node {
    let [first, second] = &table.names;
    let badge = |class: &'static str, text: String| element("span").set("class", class).with(text);
    let state = match table.ended() {
        None if table.is_waiting() => badge("badge", waits_for.to_owned()),
        None => badge("badge win", "playing".to_owned()),
        Some(end @ TableEnd::Finished) => badge("badge win", end.sentence()),
        Some(end) => element("small").with(end.sentence()),
    };
    let open = element("a")
        .set("href", table.path())
        .set("id", format!("table-{}", table.number))
        .with(format!("{first} vs {second}"));
    let row = element("div")
        .set("class", "row")
        .with(paragraph(open))
        .with(state);
    let row = if table.is_over() {
        row
    } else {
        let number = table.number;
        let action = format!("/tables/{number}/leave");
        row.with(button(action, "leave", format!("leave-{number}")))
    };
    element("li").with(row)
}
