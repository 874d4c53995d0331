//! The report: a self-contained HTML page.
//!
//! [`Report`] takes records one by one and keeps two things: *entries*, which list the games, each in
//! as few bytes as possible, and *figures*, which summarise them. The page holds both as one block of
//! JSON, in which many games are compressed, and its script draws only the view that is open. A page that is served while games are played
//! ([`crate::report::serve`]) receives the same entries and figures a few at a time; who comes late, many compressed ones at once.
//!
//! - `pack`: a record as an entry
//! - `analysis`: the analysis of a record's turns
//! - `blocks`: entries that are served together, compressed
//! - `columns`: the games of a large page, compressed
//! - `course`: rounds, groups and bracket of a tournament
//! - `drawings`: the positions of a game that is a program
//! - `piece_style`: which feature of a piece set is drawn as size, colour, form and fill
//! - `figures`: standings, times, endings and the history of ratings
//! - `mend`, `phases`: what each bot should mend, and its accuracy by phase
//! - `limits`: the maximal lengths of texts
//! - `origin`: whose pages may show a served page in a frame
//! - `page`: the page itself, its script, and its content security policy
//! - `puzzles`: a page of puzzles, which has nothing but the drawings in common with a report
//!
//! Control characters in text from bots are escaped (`crate::text`) before it is packed, so nothing
//! can hide or reorder other text; the page's script inserts it as text nodes, never as HTML.

mod analysis;
mod blocks;
mod columns;
mod course;
mod drawings;
mod figures;
mod limits;
mod mend;
mod origin;
mod pack;
mod page;
mod phases;
pub(in crate::report) mod piece_style;
mod puzzles;

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use serde_json::{Value, json};

pub use blocks::Block;
pub use drawings::check_svg;
pub use figures::Figures;
pub use origin::Origin;
pub use page::{Served, served};
pub use puzzles::puzzles;

use crate::arena::course::Course;
use crate::record::{BotEntry, Record, RecordSummary};
use crate::session::{Ruleset, Session, registry};
use crate::text::{counted, escape_controls, quote};
use crate::tournament::ratings::RatingError;
use crate::tournament::standings::Ranking;
use blocks::Blocks;
use limits::cut;
use pack::TextStore;

/// Games beyond this number count in the figures but are not listed: it bounds the memory of the
/// browser and of a referee that serves a page.
pub const MAX_GAMES: u64 = 100_000;

/// The maximal length of a name, in characters.
const NAME_CHARS: usize = 300;

/// The options of a page.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// Its heading.
    pub title: String,
    /// Leave out what bots wrote to stderr, and the commands that ran them.
    pub private: bool,
    /// Show a single game, without lists.
    pub one: bool,
    /// The bot whose games these are, if they are those of one: the page begins with it, and names nobody the first of all.
    pub own: Option<String>,
    /// How the limits of the bots were kept, a line each; for the overview.
    pub limits: Vec<String>,
    /// Leave out games that have been added already, for records in several files. It takes some bytes of
    /// memory a game.
    pub skip_copies: bool,
    /// The game, if it is a program: it draws its positions.
    pub game: Option<Arc<dyn Ruleset>>,
    /// Whose pages may show the page in a frame when it is served; nobody's without.
    pub frame: Option<Origin>,
}

/// A bot's name on a page.
pub(super) fn shown_name(name: &str) -> String {
    cut(&escape_controls(name), NAME_CHARS)
}

/// Game, rules and pieces, as in an entry; see [`pack`].
pub(super) fn edition(ruleset: &dyn Ruleset) -> Value {
    let set = piece_style::set(ruleset.name(), ruleset.pieces());
    json!([
        escape_controls(ruleset.name()),
        escape_controls(ruleset.rules()),
        set
    ])
}

/// A position as its game draws it, for the page.
pub(super) fn drawing(session: &dyn Session) -> Value {
    drawings::position(session)
}

/// The games of a page, and their figures.
#[derive(Debug)]
pub struct Report {
    options: Options,
    /// JSON arrays; see [`pack`] for what they hold.
    entries: Vec<Box<str>>,
    blocks: Blocks,
    bots: HashMap<String, usize>,
    editions: HashMap<[String; 3], usize>,
    texts: TextStore,
    /// Bytes of drawings that there is still room for.
    drawings: usize,
    /// Games whose program could not draw them.
    undrawn: u64,
    games: u64,
    /// What makes each game that game, where copies are to be recognised.
    seen: Option<HashSet<u64>>,
    figures: Figures,
}

impl Report {
    /// A report without games.
    pub fn new(options: Options) -> Self {
        Self {
            seen: options.skip_copies.then(HashSet::new),
            options,
            entries: Vec::new(),
            blocks: Blocks::default(),
            bots: HashMap::new(),
            editions: HashMap::new(),
            texts: TextStore::default(),
            drawings: drawings::ROOM,
            undrawn: 0,
            games: 0,
            figures: Figures::default(),
        }
    }

    /// The rules of the table of standings, and who is listed below it: on a private page without the
    /// reasons, which hold commands and what bots wrote.
    pub fn set_ranking(&mut self, mut ranking: Ranking) {
        if self.options.private {
            for absent in &mut ranking.not_entered {
                absent.reason.clear();
            }
        }
        self.figures.set_ranking(ranking);
    }

    /// How the tournament goes: its rounds, groups and bracket.
    pub fn set_course(&mut self, course: Course) {
        self.figures.set_course(course);
    }

    /// Adds a game. The error says what is wrong with the record.
    pub fn add(&mut self, record: &Record) -> Result<(), String> {
        let game = RecordSummary::of(record)?;
        let seen = self.seen.as_mut();
        if seen.is_some_and(|seen| !seen.insert(game.identity())) {
            return Ok(());
        }
        let bots = record.bots.each_ref().map(|bot| self.bot(bot));
        self.figures.add(record, &game, bots, !self.options.private);
        self.games += 1;
        if self.games <= MAX_GAMES {
            let edition = self.edition(record);
            let stderr = !self.options.private;
            let drawings = self.draw(record);
            let packed = pack::game(
                record,
                edition,
                bots,
                stderr,
                drawings.as_ref(),
                &mut self.texts,
            );
            for text in packed.texts {
                self.push(&json!(["t", text]));
            }
            self.push(&packed.game);
        }
        Ok(())
    }

    /// The positions of a game that is a program, as long as there is room for them.
    fn draw(&mut self, record: &Record) -> Option<Value> {
        let game = self.options.game.as_ref()?;
        let is_of_game = game.name() == record.game && game.rules() == record.rules;
        if !is_of_game || self.drawings == 0 {
            return None;
        }
        let drawings = drawings::of(&**game, record);
        self.undrawn += u64::from(drawings.is_none());
        let drawings = drawings?;
        // Once there is no room for a game, none is left for those after it.
        let size = drawings.to_string().len();
        self.drawings = self.drawings.saturating_sub(size);
        (self.drawings > 0).then_some(drawings)
    }

    fn push(&mut self, entry: &Value) {
        let entry = entry.to_string().into_boxed_str();
        self.blocks.grow(entry.len(), self.entries.len() + 1);
        self.entries.push(entry);
    }

    /// The index of a record's bot; adds an entry for a new one.
    fn bot(&mut self, entry: &BotEntry) -> usize {
        if let Some(&index) = self.bots.get(&entry.name) {
            return index;
        }
        let index = self.bots.len();
        self.bots.insert(entry.name.clone(), index);
        let name = shown_name(&entry.name);
        let command = if self.options.private {
            String::new()
        } else {
            cut(&escape_controls(&entry.command.join(" ")), NAME_CHARS)
        };
        self.push(&json!(["b", name, command]));
        index
    }

    /// The index of a record's edition (game, rules, piece set); adds an entry for a new one.
    fn edition(&mut self, record: &Record) -> usize {
        let pieces = record.pieces.as_deref().unwrap_or_default();
        let key = [&record.game, &record.rules, pieces].map(str::to_owned);
        if let Some(&index) = self.editions.get(&key) {
            return index;
        }
        let index = self.editions.len();
        self.editions.insert(key, index);
        let set = piece_style::set(&record.game, record.pieces.as_deref());
        self.push(&json!([
            "e",
            escape_controls(&record.game),
            escape_controls(&record.rules),
            set
        ]));
        index
    }

    /// Whether a full block begins at index `from`.
    pub fn has_block(&self, from: usize) -> bool {
        self.blocks.end_of(from).is_some()
    }

    /// Number of games added.
    pub const fn games(&self) -> u64 {
        self.games
    }

    /// Number of bots that played.
    pub fn bots(&self) -> usize {
        self.bots.len()
    }

    /// Why games are shown without a board, for whoever made the page; `None` when none is.
    pub fn undrawn(&self) -> Option<String> {
        let games = counted(self.undrawn, "game has", "games have");
        if let Some(failure) = self.options.game.as_ref().and_then(|game| game.failure()) {
            return Some(format!(
                "{games} no drawings, because the game's program failed: {failure}"
            ));
        }
        if self.undrawn > 0 {
            return Some(format!(
                "{games} no drawings: the game's program does not accept their records"
            ));
        }
        let drawn = self.options.game.as_ref().map(|game| game.name());
        let games = self.editions.keys().map(|[game, ..]| game.as_str());
        let unknown = games.filter(|&game| registry::find(game).is_none() && Some(game) != drawn);
        let game = unknown.min()?;
        Some(format!(
            "the games of {} have no drawings; if it is a program, give that with --game-program",
            quote(game.as_bytes())
        ))
    }

    /// The heading.
    pub fn title(&self) -> &str {
        &self.options.title
    }

    /// The figures of all games.
    pub const fn figures(&self) -> &Figures {
        &self.figures
    }

    /// Entries from index `from` on, as the inside of a JSON array, and the index after the last of
    /// them. Stops after about `bytes` bytes, so that a client receives them in pieces, and where a block ends.
    pub fn entries(&self, from: usize, bytes: usize) -> (String, usize) {
        let end = self.blocks.end_after(from);
        let end = end.map_or(self.entries.len(), |end| end.min(self.entries.len()));
        let mut text = String::new();
        let mut next = from;
        for entry in self.entries.get(from..end).unwrap_or_default() {
            if text.len() >= bytes {
                break;
            }
            if !text.is_empty() {
                text.push(',');
            }
            text.push_str(entry);
            next += 1;
        }
        (text, next)
    }

    /// The block of entries that begins at index `from`, and the index behind it; `None` where none begins, or where it is
    /// not full yet.
    pub fn block(&self, from: usize) -> Option<(Block, usize)> {
        let end = self.blocks.end_of(from)?;
        Some((Block::of(self.entries.get(from..end)?), end))
    }

    /// The entries without games, and the games, packed; `None` where they are few.
    fn packed(&self) -> Option<(String, Option<String>)> {
        let (games, others) = columns::parted(self.entries.iter().map(|entry| &**entry));
        if games.iter().map(|game| game.len()).sum::<usize>() < columns::PLAIN {
            return None;
        }
        // What cannot be packed stays as it is.
        let games = columns::packed(&games).ok()?;
        Some((others.join(","), Some(games)))
    }

    /// The page as a file.
    pub fn page(&self) -> Result<String, RatingError> {
        let standings = self.figures.standings()?;
        let figures = self.figures.as_json(&standings);
        let (entries, games) = self
            .packed()
            .unwrap_or_else(|| (self.entries.join(","), None));
        let data = page::Data {
            entries: &entries,
            games: games.as_deref(),
            figures: &figures,
        };
        Ok(page::whole(&self.options, &data, &standings))
    }
}
