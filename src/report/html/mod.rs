//! The report: a self-contained HTML page.
//!
//! [`Report`] keeps *entries*, compact lists of the games, and *figures*, which summarise them. The page holds both
//! as one block of JSON, with many games compressed; its script draws the open view. A served page
//! ([`crate::report::serve`]) receives the same entries and figures a few at a time, or in compressed blocks.
//!
//! Control characters of bots' text are escaped ([`crate::text`]) before packing, and the script inserts text nodes,
//! never HTML.

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

/// Later games count in the figures but are not listed, to bound memory of the browser and of a serving referee.
pub const MAX_GAMES: u64 = 100_000;

/// Characters of a name.
const NAME_CHARS: usize = 300;

/// The options of a page.
#[derive(Clone, Debug, Default)]
pub struct Options {
    pub title: String,
    /// Without bots' stderr and commands.
    pub private: bool,
    /// A single game, without lists.
    pub one: bool,
    /// The bot whose games these are: the page begins with it and names no winner.
    pub own: Option<String>,
    /// How limits were enforced, a line each; for the overview.
    pub limits: Vec<String>,
    /// Skip games that were added already, from several files; some bytes of memory a game.
    pub skip_copies: bool,
    /// A game program draws its positions.
    pub game: Option<Arc<dyn Ruleset>>,
    pub frame: Option<Origin>,
}

pub(super) fn shown_name(name: &str) -> String {
    cut(&escape_controls(name), NAME_CHARS)
}

pub(super) fn edition(ruleset: &dyn Ruleset) -> Value {
    let set = piece_style::set(ruleset.name(), ruleset.pieces());
    json!([
        escape_controls(ruleset.name()),
        escape_controls(ruleset.rules()),
        set
    ])
}

pub(super) fn drawing(session: &dyn Session) -> Value {
    drawings::position(session)
}

/// Games and figures.
#[derive(Debug)]
pub struct Report {
    options: Options,
    entries: Vec<Box<str>>,
    blocks: Blocks,
    bots: HashMap<String, usize>,
    editions: HashMap<[String; 3], usize>,
    texts: TextStore,
    /// Bytes left for drawings.
    drawings: usize,
    /// Games that their program could not draw.
    undrawn: u64,
    games: u64,
    /// Digests of games, if copies are skipped.
    seen: Option<HashSet<u64>>,
    figures: Figures,
}

impl Report {
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

    /// A private page omits the reasons of rejected bots, which hold commands and bots' text.
    pub fn set_ranking(&mut self, mut ranking: Ranking) {
        if self.options.private {
            for absent in &mut ranking.not_entered {
                absent.reason.clear();
            }
        }
        self.figures.set_ranking(ranking);
    }

    /// Rounds, groups and bracket of a tournament.
    pub fn set_course(&mut self, course: Course) {
        self.figures.set_course(course);
    }

    /// The error says what is wrong with the record.
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

    /// A game program's positions, while there is room.
    fn draw(&mut self, record: &Record) -> Option<Value> {
        let game = self.options.game.as_ref()?;
        let is_of_game = game.name() == record.game && game.rules() == record.rules;
        if !is_of_game || self.drawings == 0 {
            return None;
        }
        let drawings = drawings::of(&**game, record);
        self.undrawn += u64::from(drawings.is_none());
        let drawings = drawings?;
        // After the first game without room, no game gets any.
        let size = drawings.to_string().len();
        self.drawings = self.drawings.saturating_sub(size);
        (self.drawings > 0).then_some(drawings)
    }

    fn push(&mut self, entry: &Value) {
        let entry = entry.to_string().into_boxed_str();
        self.blocks.grow(entry.len(), self.entries.len() + 1);
        self.entries.push(entry);
    }

    /// Index of a bot; adds an entry for a new one.
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

    /// Index of game, rules and piece set; adds an entry for new ones.
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

    /// Whether a full block begins at `from`.
    pub fn has_block(&self, from: usize) -> bool {
        self.blocks.end_of(from).is_some()
    }

    pub const fn games(&self) -> u64 {
        self.games
    }

    pub fn bots(&self) -> usize {
        self.bots.len()
    }

    /// Why games have no board, for the page's maker.
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

    pub fn title(&self) -> &str {
        &self.options.title
    }

    pub const fn figures(&self) -> &Figures {
        &self.figures
    }

    /// Entries from `from`, as the inside of a JSON array, and the next index. Stops after about `bytes` bytes and
    /// at the end of a block.
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

    /// The block that begins at `from`, and the next index; `None` if there is none or it is not full.
    pub fn block(&self, from: usize) -> Option<(Block, usize)> {
        let end = self.blocks.end_of(from)?;
        Some((Block::of(self.entries.get(from..end)?), end))
    }

    /// The other entries, and the packed games; `None` when they are few.
    fn packed(&self) -> Option<(String, Option<String>)> {
        let (games, others) = columns::parted(self.entries.iter().map(|entry| &**entry));
        if games.iter().map(|game| game.len()).sum::<usize>() < columns::PLAIN {
            return None;
        }
        // Otherwise unpacked.
        let games = columns::packed(&games).ok()?;
        Some((others.join(","), Some(games)))
    }

    /// As a file.
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
