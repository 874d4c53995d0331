//! The report: a self-contained HTML page.
//!
//! [`ReportPage`] keeps *entries*, compact lists of the games, and *figures*, which summarise them. The page holds both
//! as one block of JSON; a served page (`referee-server`) receives them a few at a time. Control characters of
//! bots' text are escaped before packing, and the script inserts text nodes, never HTML.

mod drawings;
mod figures;
mod pack;
mod page;

use std::collections::{HashMap, HashSet};
use std::io::{self, Write as _};
use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use flate2::Compression;
use flate2::write::ZlibEncoder;
use serde::Serialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};

pub use self::drawings::position as drawing;
pub use self::drawings::{SvgError, check_svg};
pub use self::figures::Figures;
pub use self::page::{FormPage, LIGHT_THEME, board, form_page, plain, puzzles, served};

use self::pack::TextStore;
use referee_games::game::{Ruleset, registry};
use referee_match::record::{BotEntry, LineProblem, Record, RecordSummary};
use referee_stats::ratings::RatingError;
use referee_stats::standings::Ranking;
use referee_text::{counted, cut, escape_controls, join_parts, quote};
use referee_tournament::overview::TournamentOverview;

/// Later games count in the figures but are not listed, to bound memory of the browser and of a serving referee.
pub const MAX_GAMES: u64 = 100_000;

const NAME_CHARS: usize = 300;

/// How a limit on bots was enforced.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct KeptLimit {
    /// Its option, such as `--memory`, or its subject.
    pub limit: String,
    /// Whether it could not be exceeded at any moment.
    pub strict: bool,
    /// The mechanism, for people.
    pub by: String,
}

#[derive(Clone, Debug, Default)]
pub struct ReportPageOptions {
    pub title: String,
    /// Without bots' stderr and commands.
    pub private: bool,
    pub one: bool,
    /// The bot whose games these are: the page begins with it and names no winner.
    pub only_bot: Option<String>,
    /// Its figures among all bots ([`Figures::places`]).
    pub standing: Option<Value>,
    /// How limits were enforced; for the overview.
    pub limits: Vec<KeptLimit>,
    /// For the teacher of a league, below a page that is not private: what, of whom, and the rest.
    pub notes: Vec<[String; 3]>,
    /// HTML above the view of the bot whose page it is.
    pub sheet: String,
    /// Skip games that were added already, from several files; some bytes of memory a game.
    pub skip_copies: bool,
    /// A game program draws its positions.
    pub game: Option<Arc<dyn Ruleset>>,
    /// The origin that may frame a served page.
    pub frame: Option<String>,
    /// The address, before a bot's name, where a reader of a served page may ask for a game against it.
    pub play_at: Option<&'static str>,
}

pub fn page_name(name: &str) -> String {
    cut(&escape_controls(name), NAME_CHARS)
}

/// For the script: the game, its rules and its pieces.
pub fn edition(game: &str, rules: &str, pieces: Option<&str>) -> [Value; 3] {
    let [game, rules] = [game, rules].map(escape_controls);
    [json!(game), json!(rules), json!(pieces)]
}

/// Why a page cannot show a record.
#[derive(Debug, thiserror::Error)]
pub enum RecordError {
    #[error(transparent)]
    Unwritable(#[from] serde_json::Error),
    #[error("{0}")]
    Invalid(LineProblem),
}

impl From<LineProblem> for RecordError {
    fn from(problem: LineProblem) -> Self {
        Self::Invalid(problem)
    }
}

impl From<RecordError> for LineProblem {
    fn from(error: RecordError) -> Self {
        match error {
            RecordError::Unwritable(error) => Self::Content(error.to_string()),
            RecordError::Invalid(problem) => problem,
        }
    }
}

#[derive(Debug)]
enum PageEntry {
    /// JSON, as the other.
    Game(Box<str>),
    /// Of what games have in common.
    Shared(Box<str>),
}

impl PageEntry {
    fn json(&self) -> &str {
        match self {
            Self::Game(json) | Self::Shared(json) => json,
        }
    }
}

#[derive(Debug, Default)]
pub struct ReportPage {
    options: ReportPageOptions,
    entries: Vec<PageEntry>,
    bots: HashMap<String, usize>,
    editions: HashMap<[String; 3], usize>,
    texts: TextStore,
    drawings: usize,
    /// Games that their program could not draw.
    undrawn: u64,
    pub games: u64,
    /// Digests of games, if copies are skipped.
    seen: Option<HashSet<u64>>,
    pub figures: Figures,
}

impl ReportPage {
    pub fn new(options: ReportPageOptions) -> Self {
        Self {
            seen: options.skip_copies.then(HashSet::new),
            options,
            drawings: drawings::ROOM,
            ..Self::default()
        }
    }

    /// A private page omits the reasons of rejected bots, which hold commands and bots' text.
    pub fn set_ranking(&mut self, ranking: Ranking, overview: Option<TournamentOverview>) {
        self.figures.ranking = if self.options.private {
            ranking.without_reasons()
        } else {
            ranking
        };
        self.figures.overview = overview.map(Arc::new);
    }

    pub fn add(&mut self, record: &Record) -> Result<(), RecordError> {
        let line = record.to_line()?;
        let game = RecordSummary::parse(line.as_bytes())?;
        let seen = self.seen.as_mut();
        if seen.is_some_and(|seen| !seen.insert(game.identity())) {
            return Ok(());
        }
        let bots = record.bots.each_ref().map(|bot| self.bot(bot));
        self.figures.add(record, &game, bots, !self.options.private);
        self.games += 1;
        if self.games <= MAX_GAMES {
            let of = (self.edition(record), bots);
            let drawings = self.draw(record);
            let (is_private, drawings) = (self.options.private, drawings.as_ref());
            let packed = pack::game(record, of, is_private, drawings, &mut self.texts);
            for text in std::mem::take(&mut self.texts.new) {
                self.push_shared(&json!(["t", text]));
            }
            let packed = packed.to_string().into_boxed_str();
            self.entries.push(PageEntry::Game(packed));
        }
        Ok(())
    }

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

    fn push_shared(&mut self, entry: &Value) {
        let json = entry.to_string().into_boxed_str();
        self.entries.push(PageEntry::Shared(json));
    }

    /// Index of a bot; adds an entry for a new one.
    fn bot(&mut self, entry: &BotEntry) -> usize {
        if let Some(&index) = self.bots.get(&entry.name) {
            return index;
        }
        let index = self.bots.len();
        self.bots.insert(entry.name.clone(), index);
        let name = page_name(&entry.name);
        let command = page_name(&entry.command.join(" "));
        let command = Some(command).filter(|_| !self.options.private);
        self.push_shared(&json!(["b", name, command.unwrap_or_default()]));
        index
    }

    fn edition(&mut self, record: &Record) -> usize {
        let pieces = record.pieces.as_deref().unwrap_or_default();
        let key = [&record.game, &record.rules, pieces].map(str::to_owned);
        if let Some(&index) = self.editions.get(&key) {
            return index;
        }
        let index = self.editions.len();
        self.editions.insert(key, index);
        let [game, rules, pieces] = edition(&record.game, &record.rules, record.pieces.as_deref());
        self.push_shared(&json!(["e", game, rules, pieces]));
        index
    }

    pub fn bots(&self) -> usize {
        self.bots.len()
    }

    /// Why games have no board, for the page's maker.
    pub fn undrawn(&self) -> Option<String> {
        let games = counted(self.undrawn, "game has", "games have");
        let game = self.options.game.as_ref();
        if let Some(failure) = game.and_then(|game| game.failure()) {
            let why = "no drawings, because the game's program failed";
            return Some(format!("{games} {why}: {failure}"));
        }
        if self.undrawn > 0 {
            let why = "no drawings: the game's program does not accept their records";
            return Some(format!("{games} {why}"));
        }
        let drawn = game.map(|game| game.name());
        let games = self.editions.keys().map(|[game, ..]| game.as_str());
        let unknown = games.filter(|&game| registry::find(game).is_none() && Some(game) != drawn);
        let game = quote(unknown.min()?.as_bytes());
        let fix = "if it is a program, give it with --game";
        Some(format!("the games of {game} have no drawings; {fix}"))
    }

    /// Entries from `from`, as the inside of a JSON array, and the next index. Stops after about `bytes`
    /// bytes.
    pub fn entries(&self, from: usize, bytes: usize) -> (String, usize) {
        let (mut text, mut next) = (String::new(), from);
        while let Some(entry) = self.entries.get(next).filter(|_| text.len() < bytes) {
            text += if text.is_empty() { "" } else { "," };
            text += entry.json();
            next += 1;
        }
        (text, next)
    }

    pub fn page(&self) -> Result<String, RatingError> {
        let standings = self.figures.standings()?;
        let figures = self.figures.as_json(&standings);
        let (mut games, mut shared) = (Vec::new(), Vec::new());
        for entry in &self.entries {
            match entry {
                PageEntry::Game(json) => games.push(&**json),
                PageEntry::Shared(json) => shared.push(&**json),
            }
        }
        let is_small = games.iter().map(|game| game.len()).sum::<usize>() < PLAIN;
        // Otherwise unpacked.
        let packed = (!is_small).then(|| packed_games(&games).ok()).flatten();
        let games = packed.map(|games| format!(",\"games\":\"{games}\""));
        let entries = if games.is_some() {
            shared.join(",")
        } else {
            let all: Vec<&str> = self.entries.iter().map(PageEntry::json).collect();
            all.join(",")
        };
        let games = games.unwrap_or_default();
        let data = format!("\"figures\":{figures},\"entries\":[{entries}]{games}");
        let kinds = self.editions.keys().map(|[game, ..]| game.as_str());
        Ok(page::whole(&self.options, kinds, &data, &standings))
    }
}

/// Turns shown: more than any built-in game has. Longer games are cut.
const MAX_TURNS: usize = 200;

/// The last `chars` characters, with control characters escaped.
fn end_of(text: &str, chars: usize) -> String {
    let text = text.trim_end();
    let from = text.char_indices().rev().nth(chars.saturating_sub(1));
    let cut = from.filter(|&(start, _)| start > 0);
    let tail = cut.map_or(text, |(start, _)| &text[start..]);
    let more = if cut.is_some() { "…" } else { "" };
    format!("{more}{}", join_parts(tail, "\n"))
}

/// Smaller pages, in bytes, stay readable by people and old browsers.
const PLAIN: usize = 1_000_000;

/// The columns of `["g", …]` entries of any lengths.
fn game_columns(games: &[&str]) -> serde_json::Result<String> {
    let games = games.iter().map(|game| serde_json::from_str(game));
    let games: Vec<Vec<&RawValue>> = games.collect::<Result<_, _>>()?;
    let columns = (0..games.iter().map(Vec::len).max().unwrap_or(0)).map(|place| {
        let cells = games
            .iter()
            .map(|game| game.get(place).map_or("null", |cell| cell.get()));
        format!("[{}]", cells.collect::<Vec<_>>().join(","))
    });
    Ok(format!("[{}]", columns.collect::<Vec<_>>().join(",")))
}

/// Fails on an entry that is not a JSON array.
fn packed_games(games: &[&str]) -> io::Result<String> {
    let mut encoder = ZlibEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(game_columns(games)?.as_bytes())?;
    Ok(STANDARD.encode(encoder.finish()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_those_of_the_entries() {
        let games = [
            r#"["g",0,"a,b",null]"#,
            r#"["g",1,"",null,[1,[2]]]"#,
            r#"["g",2]"#,
        ];
        let expected =
            r#"[["g","g","g"],[0,1,2],["a,b","",null],[null,null,null],[null,[1,[2]],null]]"#;
        assert_eq!(game_columns(&games).unwrap(), expected);
        assert_eq!(game_columns(&[]).unwrap(), "[]");
    }

    #[test]
    fn what_is_packed_can_be_unpacked() {
        let games = [r#"["g",0,"☺"]"#; 100];
        let bytes = STANDARD.decode(packed_games(&games).unwrap()).unwrap();
        assert!(bytes.len() < 100);
        let mut text = Vec::new();
        let mut decoder = flate2::write::ZlibDecoder::new(&mut text);
        decoder.write_all(&bytes).unwrap();
        decoder.finish().unwrap();
        assert_eq!(
            String::from_utf8(text).unwrap(),
            game_columns(&games).unwrap()
        );
    }
}
