//! The page of one bot, for its authors: its games with their boards, its faults, and what to fix first.

use std::collections::HashSet;
use std::path::Path;

use serde_json::{Value, json};

use crate::league::archive::VersionScores;
use crate::league::error::LeagueError;
use crate::league::state::{Bot, League, at_home};
use referee_match::record::{Record, RecordSummary};
use referee_report::bot_page::{
    BotPage, ChangesText, changes_text, not_entered_text, record_for_author,
};
use referee_report::html::{self, RecordError, ReportPage, ReportPageOptions};
use referee_report::markup::as_html;
use referee_stats::ratings::RatingError;
use referee_stats::standings::{Absence, Standings};
use referee_tournament::TournamentError;
use referee_tournament::analysing;
use referee_tournament::directory::{TournamentDirectory, each_line_if_there};
use referee_tournament::plan::Plan;

#[derive(Debug, thiserror::Error)]
pub enum StudentPageError {
    #[error(transparent)]
    League(#[from] LeagueError),
    #[error(transparent)]
    Tournament(#[from] TournamentError),
    #[error(transparent)]
    Rating(#[from] RatingError),
    #[error(transparent)]
    Record(#[from] RecordError),
}

/// The games of one bot, as its authors may see them.
#[derive(Debug)]
pub struct BotGames<'a> {
    name: &'a str,
    homes: &'a [String],
    skip_copies: bool,
    text: BotPage,
    records: Vec<Record>,
    seen: HashSet<u64>,
}

impl<'a> BotGames<'a> {
    /// `homes`: folders that its authors know as `.`; `skip_copies`: of a game that is added again, such as without its
    /// analysis, the first counts.
    pub fn new(name: &'a str, homes: &'a [String], skip_copies: bool) -> Self {
        Self {
            name,
            homes,
            skip_copies,
            text: BotPage::new(name),
            records: Vec::new(),
            seen: HashSet::new(),
        }
    }

    /// If the bot played it. `pieces`: the file of its piece set.
    pub fn add(&mut self, record: Record, pieces: Option<&str>) -> Result<(), RecordError> {
        let Some(record) = record_for_author(record, self.name) else {
            return Ok(());
        };
        let record = record_at_home(record, self.homes)?;
        let line = record.to_line()?;
        let game = RecordSummary::parse(line.as_bytes())?;
        if self.seen.insert(game.identity()) || !self.skip_copies {
            self.text.add(&record, pieces);
            self.records.push(record);
        }
        Ok(())
    }

    /// In Markdown.
    pub fn text(&self, since: Option<&ChangesText>) -> String {
        self.text.text(since)
    }

    /// `standing`: its place in the whole tournament.
    pub fn page(
        &self,
        standing: Option<Value>,
        since: Option<&ChangesText>,
    ) -> Result<ReportPage, RecordError> {
        let mut page = ReportPage::new(ReportPageOptions {
            title: format!("{}: your games", self.name),
            only_bot: Some(self.name.to_owned()),
            standing,
            sheet: self.text.sheet(since),
            ..ReportPageOptions::default()
        });
        self.records
            .iter()
            .try_for_each(|record| page.add(record))?;
        Ok(page)
    }
}

/// Text in Markdown and page of a bot that plays no games, with why. `game`: the options of a command line that choose it.
pub fn absent_text_and_page(
    name: &str,
    absence: &Absence,
    homes: &[String],
    since: Option<&ChangesText>,
    game: &str,
) -> (String, String) {
    let absence = absence.map(|text| at_home(text, homes));
    let text = not_entered_text(name, &absence, since, game);
    let title = format!("{name}: did not enter");
    let page = html::plain(&title, &as_html(&text, None));
    (text, page)
}

/// What changed for a bot of a league since its version before; `homes` are its own.
pub fn changes_since(
    bot: &Bot<'_>,
    homes: &[String],
    (league, plan): (&League, &Plan),
    scores: &VersionScores,
    standings: &Standings,
) -> ChangesText {
    let mut changes = scores.changes(bot, league, plan);
    if let Some(problem) = &mut changes.problem {
        *problem = problem.map(|text| at_home(text, homes));
    }
    let mut places = standings.places.iter();
    let place = places.find(|place| place.name == bot.label);
    let places = place.map(|place| (place.rank, standings.places.len(), place.before));
    changes_text(places, &changes)
}

/// Of the bot of this label; `None` while no games are planned.
pub fn student_page(folder: &Path, label: &str) -> Result<Option<String>, StudentPageError> {
    let directory = TournamentDirectory::at(folder);
    let (Some(plan), Some(league)) = (directory.plan()?, League::read(folder)?) else {
        return Ok(None);
    };
    let Some(bot) = league.bot(label) else {
        return Ok(None);
    };
    let homes = bot.homes(folder);
    let games = directory.journal_file();
    let results = TournamentDirectory::read_journal(&games, &plan)?;
    let standings = results.collector.standings(&results.ranking(&plan))?;
    let scores = VersionScores::read(folder, &plan, &games)?;
    let since = changes_since(&bot, &homes, (&league, &plan), &scores, &standings);
    if !plan.bots.iter().any(|bot| bot.name == label) {
        let mut rejected = plan.rejected.iter();
        let rejected = rejected.find(|rejected| rejected.bot.name == label);
        let absence = rejected.map(|rejected| rejected.absence.clone());
        let (absence, game) = (absence.unwrap_or_default(), plan.game_options());
        let (_, page) = absent_text_and_page(label, &absence, &homes, Some(&since), &game);
        return Ok(Some(page));
    }
    let mut all = ReportPage::new(ReportPageOptions {
        skip_copies: true,
        ..ReportPageOptions::default()
    });
    let mut own = BotGames::new(label, &homes, true);
    // Analysed games first: the others are copies of them.
    for file in [analysing::file(&directory), games] {
        for record in records(&file)? {
            all.add(&record)?;
            own.add(record, None)?;
        }
    }
    all.set_ranking(results.ranking(&plan), None);
    let standing = all.figures.places()?.get(label).cloned();
    Ok(Some(own.page(standing, Some(&since))?.page()?))
}

/// The complete lines of a file that may be missing.
fn records(file: &Path) -> Result<Vec<Record>, TournamentError> {
    let mut records = Vec::new();
    each_line_if_there(file, |line| {
        records.push(line.record()?);
        Ok(())
    })?;
    Ok(records)
}

/// Calls these folders, of the versions of a bot, `.`: so its author knows them.
fn record_at_home(record: Record, homes: &[String]) -> Result<Record, serde_json::Error> {
    if homes.is_empty() {
        return Ok(record);
    }
    let quoted = homes
        .iter()
        .map(|home| json!(home).to_string().trim_matches('"').to_owned());
    let line = at_home(&record.to_line()?, &quoted.collect::<Vec<_>>());
    serde_json::from_str(&line)
}
