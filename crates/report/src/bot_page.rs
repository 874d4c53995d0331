//! What a bot's author may see of a tournament: that bot's games, with only the names and turns of others.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;

use jiff::Timestamp;

use referee_match::play::examiner::PlayedLine;
use referee_match::play::setup::{reproduce_forfeit, reproduce_recorded};
use referee_match::record::annotation::{self, Annotation, Mark, Note};
use referee_match::record::{BotIndex, Record};
use referee_stats::standings::Absence;
use referee_text::{
    code_in_markdown, counted, escape_controls, escape_markdown, join_parts, prose_in_markdown,
    short_name,
};

use super::markup::{PICTURE, as_html};
use super::picture::stills;

const MOST: usize = 5;

/// The record as this bot's author may see it; `None` if the bot did not play. Of the opponent, only name, turns and
/// times remain, and the reason of a forfeit. The bot's program is in its author's folder.
pub fn record_for_author(mut record: Record, name: &str) -> Option<Record> {
    let bot = bot_of(&record, name)?;
    let other = bot.other();
    if let [program] = &mut record.bots[bot].command[..]
        && Path::new(program).is_absolute()
        && let Some(file) = Path::new(program).file_name()
    {
        *program = Path::new(".").join(file).to_string_lossy().into_owned();
    }
    let sides = [record.first, record.first.other()];
    let mut info = std::mem::take(&mut record.info);
    info.retain(|entry| entry.turn > 0 && sides[record.side_of(entry.turn - 1)] == bot);
    record.info = info;
    record.bots[other].command.clear();
    record.bots[other].more.clear();
    if let Some(usage) = &mut record.usage {
        usage[other] = None;
    }
    let result = &mut record.result;
    // Fields of later versions could hold anything.
    result.more.clear();
    record.more.retain(|field, _| field == annotation::FIELD);
    if result.by == Some(other) {
        result.answer = None;
        result.detail = None;
        result.stderr = None;
        record.delayed = None;
    }
    Some(record)
}

fn bot_of(record: &Record, name: &str) -> Option<BotIndex> {
    let mut both = BotIndex::ALL.into_iter();
    both.find(|&bot| record.bots[bot].name == name)
}

/// Points of two versions against the same versions of others.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct VersionComparison {
    pub received: Timestamp,
    pub now: f64,
    pub before: f64,
    /// Of the playing version, and of the one before.
    pub games: [u64; 2],
}

/// What became of a bot's submissions.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SubmissionChanges {
    /// When the playing version was submitted.
    pub received: Option<Timestamp>,
    pub problem: Option<Absence>,
    /// Compared with the version before, if it played.
    pub compared: Option<VersionComparison>,
}

/// What has changed for a bot since its last page. Markdown.
#[derive(Clone, Debug, Default)]
pub struct ChangesText {
    text: String,
    problem: Option<String>,
}

/// Why a bot did not enter: its parts as paragraphs; what a compiler said, and a command, as code.
pub fn in_markdown(absence: &Absence) -> String {
    let command = absence.again.as_ref();
    let command = command.map(|again| format!("\n\nSee it again:\n\n    {again}"));
    let others = Absence {
        again: None,
        ..absence.clone()
    };
    let mut text = prose_in_markdown(&join_parts(&others, "\n\n"));
    if !absence.printed.is_empty() {
        text += "\n\nIn full:\n\n    ";
        text += &absence.printed.join("\n    ");
    }
    text + &command.unwrap_or_default()
}

/// `game`: the options of a command line that choose it.
pub fn not_entered_text(
    name: &str,
    absence: &Absence,
    changes: Option<&ChangesText>,
    game: &str,
) -> String {
    let problem = changes.and_then(|changes| changes.problem.clone());
    let reason = problem.unwrap_or_else(|| in_markdown(absence));
    format!(
        "# {}: did not enter\n\n{}## Fix first\n\n{reason}\n\n`referee check{game} BOT` examines the bot once more.\n",
        markdown_name(name),
        changes.map_or("", |changes| &changes.text),
    )
}

/// Place now, of how many, and before; other changes.
pub fn changes_text(
    places: Option<(usize, usize, Option<usize>)>,
    changes: &SubmissionChanges,
) -> ChangesText {
    let mut lines = Vec::new();
    if changes.problem.is_some() {
        let none = "The newest submission does not play".to_owned();
        lines.push(match changes.received {
            Some(received) => format!("{none}; the version of {received:.0} plays."),
            None => format!("{none}."),
        });
    } else if let Some(received) = changes.received {
        lines.push(format!("The version of {received:.0} plays."));
    }
    if let Some((now, of, before)) = places {
        lines.push(match before {
            Some(before) => format!("Place {now} of {of}; it was {before} before."),
            None => format!("Place {now} of {of}, for the first time."),
        });
    }
    if let Some(compared) = &changes.compared {
        lines.push(format!(
            "Against the bots that both have met, this version made {} of {} points, the one of {:.0} {} of {}.",
            compared.now, compared.games[0], compared.received, compared.before, compared.games[1]
        ));
    }
    let lines: Vec<String> = lines.iter().map(|line| format!("- {line}\n")).collect();
    ChangesText {
        text: format!("## Since the last time\n\n{}\n", lines.concat()),
        problem: changes.problem.as_ref().map(in_markdown),
    }
}

/// What this bot was asked after so many turns, and the command that asks it again if known; `pieces`: the file of its
/// piece set.
pub(super) fn asked(
    record: &Record,
    side: BotIndex,
    turns: usize,
    pieces: Option<&str>,
) -> Option<AskedQuestion> {
    let ruleset = record.ruleset().ok()?;
    let line = PlayedLine {
        start: record.start.clone(),
        turns: record.turns.get(..turns)?.to_vec(),
    };
    let request = line.request(&*ruleset).ok()?;
    let command = if turns == record.turns.len() {
        reproduce_forfeit(&*ruleset, record, side, pieces)
    } else {
        reproduce_recorded(record, side, pieces, std::slice::from_ref(&request))
    };
    Some((request, command))
}

#[derive(Clone, Debug, Default)]
struct ForfeitedGames {
    /// How the bot forfeited the first game, and how to repeat it. Markdown.
    first: String,
    games: Vec<String>,
}

#[derive(Clone, Debug)]
struct Blunder {
    /// Steps lost, 1 or 2, from win to loss.
    steps: i32,
    text: String,
    reproduce: Option<String>,
    /// The position before it, an SVG file; of a blunder that is worse than those before it.
    board: Option<String>,
}

#[derive(Clone, Debug, Default)]
pub struct BotPage {
    name: String,
    results: [u64; 3],
    forfeits: BTreeMap<String, ForfeitedGames>,
    /// Games that it lost without playing, since it was benched.
    unplayed: u64,
    blunders: Vec<Blunder>,
    analysed: u64,
    rows: Vec<String>,
}

impl BotPage {
    pub fn new(name: &str) -> Self {
        Self {
            name: name.to_owned(),
            ..Self::default()
        }
    }

    /// `record` is what [`record_for_author`] left; `pieces`: the file of its piece set.
    pub fn add(&mut self, record: &Record, pieces: Option<&str>) {
        let Some(side) = bot_of(record, &self.name) else {
            return;
        };
        let opponent = markdown_name(&record.bots[side.other()].name);
        self.add_result(record, side, &opponent);
        if record.result.by == Some(side) {
            if record.was_played() {
                self.add_forfeit(record, side, &opponent, pieces);
            } else {
                self.unplayed += 1;
            }
        }
        if let Some(analysis) = record.more.get(annotation::FIELD) {
            self.analysed += 1;
            for note in Annotation::from_json(analysis).turns {
                let is_its_turn = annotation::player(record.first, note.turn) == side;
                if is_its_turn && matches!(note.mark, Some(Mark::Blunder | Mark::MissedWin)) {
                    let blunder = self.blunder(record, side, &note, pieces);
                    self.blunders.push(blunder);
                }
            }
        }
    }

    fn add_result(&mut self, record: &Record, side: BotIndex, opponent: &str) {
        let place = match record.result.winner {
            Some(winner) if winner == side => 0,
            None => 1,
            Some(_) => 2,
        };
        self.results[place] += 1;
        let begins = if record.first == side {
            "you"
        } else {
            "opponent"
        };
        let id = markdown_name(&record.id);
        let result = escape_markdown(&escape_controls(&record.result_line()));
        self.rows
            .push(format!("| {id} | {opponent} | {begins} | {result} |"));
    }

    fn add_forfeit(
        &mut self,
        record: &Record,
        side: BotIndex,
        opponent: &str,
        pieces: Option<&str>,
    ) {
        let reason = record.result.reason.name().to_owned();
        let forfeits = self.forfeits.entry(reason).or_default();
        if forfeits.games.is_empty() {
            let asked = asked(record, side, record.turns.len(), pieces);
            forfeits.first = forfeit(record, opponent, asked.unwrap_or_default());
        }
        forfeits.games.push(markdown_name(&record.id));
    }

    fn blunder(
        &self,
        record: &Record,
        side: BotIndex,
        note: &Note,
        pieces: Option<&str>,
    ) -> Blunder {
        let opponent = markdown_name(&record.bots[side.other()].name);
        let before = note.turn.checked_sub(1);
        let loss = note.value_loss();
        let steps = loss.map_or(1, |(best, value)| best as i32 - value as i32);
        let turn = before.and_then(|turns| record.turns.get(turns));
        let code = |text: &str| code_in_markdown(&escape_controls(text));
        let turn = turn.map_or_else(String::new, |turn| format!(" ({})", code(turn.as_str())));
        let why = note.text.as_deref();
        let why = why.map(|text| prose_in_markdown(&escape_controls(text)));
        // The sentence names the better turn, if any.
        let better = match (&why, &note.better) {
            (None, Some(better)) => format!("; better: {}", code(better)),
            _ => String::new(),
        };
        let is_worst = self.blunders.iter().all(|other| other.steps < steps);
        let board = || {
            let stills = stills(&*record.ruleset().ok()?, record).ok()?;
            stills.into_iter().nth(before?)
        };
        Blunder {
            board: is_worst.then(board).flatten(),
            steps,
            text: format!(
                "game {} against {opponent}, turn {}{turn}: {}{better}",
                markdown_name(&record.id),
                note.turn,
                why.unwrap_or_else(|| "it made the result worse".to_owned())
            ),
            reproduce: before.and_then(|turns| asked(record, side, turns, pieces)?.1),
        }
    }

    pub fn text(&self, changes: Option<&ChangesText>) -> String {
        let summary = self.summary(changes, false);
        let head = "| game | against | begins | result |\n|---|---|---|---|";
        format!(
            "{summary}## All games\n\n{head}\n{}\n",
            self.rows.join("\n")
        )
    }

    /// What comes before the list of games, as HTML with the board of the worst mistake.
    pub fn sheet(&self, changes: Option<&ChangesText>) -> String {
        let board = self.worst().and_then(|worst| worst.board.as_deref());
        as_html(&self.summary(changes, true), board)
    }

    fn worst(&self) -> Option<&Blunder> {
        let latest_first = self.blunders.iter().rev();
        latest_first.max_by_key(|blunder| blunder.steps)
    }

    /// `has_picture`: with the place of the board.
    fn summary(&self, changes: Option<&ChangesText>, has_picture: bool) -> String {
        let [won, drawn, lost] = self.results;
        let mut out = format!(
            "# {}: your games\n\n{}: {won} won, {drawn} drawn, {lost} lost.\n\n{}## Fix first\n\n",
            markdown_name(&self.name),
            counted(won + drawn + lost, "game", "games"),
            changes.map_or("", |changes| &changes.text),
        );
        if let Some(problem) = changes.and_then(|changes| changes.problem.as_ref()) {
            let _ = writeln!(
                out,
                "### The newest submission does not play\n\n{problem}\n"
            );
        }
        let mut kinds: Vec<_> = self.forfeits.iter().collect();
        kinds.sort_by_key(|(_, of)| std::cmp::Reverse(of.games.len()));
        for (reason, ForfeitedGames { first, games }) in &kinds {
            let count = counted(games.len() as u64, "game", "games");
            let _ = write!(out, "### {count} forfeited: {reason}\n\n{first}");
            if games.len() > 1 {
                let _ = writeln!(out, "The same in: {}.\n", games[1..].join(", "));
            }
        }
        if self.unplayed > 0 {
            let games = counted(
                self.unplayed,
                "game was not played, and is scored as lost",
                "games were not played, and are scored as lost",
            );
            let _ = writeln!(
                out,
                "### Benched\n\nAfter so many forfeits in a row {games}. In a league a new version plays again.\n"
            );
        }
        self.write_blunders(&mut out, kinds.is_empty(), has_picture);
        out
    }

    fn write_blunders(&self, out: &mut String, is_faultless: bool, has_picture: bool) {
        if self.analysed == 0 {
            let unknown = "No game was forfeited. Whether the bot could have played better is not known: the games were not analysed.\n\n";
            return out.push_str(if is_faultless { unknown } else { "" });
        }
        if self.blunders.is_empty() {
            return out.push_str("No turn was found that made a result worse.\n\n");
        }
        let mut worst: Vec<&Blunder> = self.blunders.iter().collect();
        worst.sort_by_key(|blunder| std::cmp::Reverse(blunder.steps));
        let turns = counted(worst.len() as u64, "turn", "turns");
        let _ = writeln!(out, "### {turns} that made the result worse\n");
        for blunder in worst.iter().take(MOST) {
            let _ = writeln!(out, "- {}", blunder.text);
        }
        out.push('\n');
        if self.worst().is_some_and(|worst| worst.board.is_some()) {
            out.push_str("The board before the first of these:\n\n");
            if has_picture {
                let _ = writeln!(out, "{PICTURE}\n");
            }
        }
        if let Some(reproduce) = worst.first().and_then(|worst| worst.reproduce.as_ref()) {
            let _ = writeln!(
                out,
                "The same question once more, the first of these, without the referee, in the folder of the program:\n\n    {reproduce}\n"
            );
        }
    }
}

/// What the bot was asked, with the command that asks it again.
type AskedQuestion = (String, Option<String>);

fn forfeit(record: &Record, opponent: &str, (request, reproduce): AskedQuestion) -> String {
    let result = &record.result;
    let text = |text: &Option<String>| escape_controls(text.as_deref().unwrap_or_default());
    let id = markdown_name(&record.id);
    let detail = prose_in_markdown(&text(&result.detail));
    let mut out = format!("In game {id} against {opponent}: {detail}\n\n");
    if !request.is_empty() {
        let answer = match &*text(&result.answer) {
            "" => "nothing".to_owned(),
            answer => code_in_markdown(answer),
        };
        let request = code_in_markdown(&escape_controls(&request));
        let _ = writeln!(out, "It was asked {request} and answered {answer}.\n");
    }
    if let Some(again) = &reproduce {
        let _ = writeln!(
            out,
            "The same once more, without the referee:\n\n    {again}\n"
        );
    }
    let stderr = result.stderr.as_deref().unwrap_or_default().trim_end();
    let lines: Vec<String> = stderr.lines().map(escape_controls).collect();
    if !lines.is_empty() {
        out.push_str("The end of what it wrote to standard error:\n\n");
        for line in &lines[lines.len().saturating_sub(2 * MOST)..] {
            let _ = writeln!(out, "    {line}");
        }
        out.push('\n');
    }
    out
}

fn markdown_name(name: &str) -> String {
    escape_markdown(&short_name(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_others_wrote_is_text() {
        let markup = "<img src=x onerror=alert(1)>";
        let absence = Absence {
            printed: vec![format!("error: {markup}")],
            ..Absence::new(format!("it cannot be built: {markup}, at `{markup}`"))
        };
        let page = not_entered_text("anna", &absence, None, "");
        let outside = page.lines().filter(|line| !line.starts_with("    "));
        let outside = outside
            .collect::<String>()
            .replace(&format!("`{markup}`"), "");
        assert!(!outside.contains('<'), "{page}");
        assert!(page.contains(&format!("\n    error: {markup}\n")), "{page}");
        let html = as_html(&page, None);
        assert!(!html.contains("<img"), "{html}");
    }
}
