//! The page of one bot of a league, for its authors: its games with their boards, its faults, and what to fix first.

use std::collections::HashSet;
use std::path::Path;

use serde_json::json;

use crate::league::archive::VersionScores;
use crate::league::error::LeagueError;
use crate::league::state::{League, at_home};
use referee_match::record::{Record, RecordSummary};
use referee_report::bot_page::{
    BotPage, ChangesText, changes_text, not_entered_text, record_for_author,
};
use referee_report::html::{self, RecordError, ReportPage, ReportPageOptions};
use referee_report::markup::as_html;
use referee_stats::ratings::RatingError;
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
    #[error(transparent)]
    Json(#[from] serde_json::Error),
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
    let mut changes = VersionScores::read(folder, &plan, &games)?.changes(&bot, &league, &plan);
    if let Some(problem) = &mut changes.problem {
        *problem = problem.map(|text| at_home(text, &homes));
    }
    let mut places = standings.places.iter();
    let place = places.find(|place| place.name == label);
    let places = place.map(|place| (place.rank, standings.places.len(), place.before));
    let since = changes_text(places, &changes);
    if !plan.bots.iter().any(|bot| bot.name == label) {
        return Ok(Some(absent_page(label, &plan, &homes, &since)));
    }
    let mut all = ReportPage::new(ReportPageOptions {
        skip_copies: true,
        ..ReportPageOptions::default()
    });
    let (mut own, mut text) = (Vec::new(), BotPage::new(label));
    let mut seen = HashSet::new();
    // Analysed games first: the others are copies of them.
    for file in [analysing::file(&directory), games] {
        for record in records(&file)? {
            all.add(&record)?;
            if let Some(record) = record_for_author(record, label) {
                let record = record_at_home(record, &homes)?;
                let line = record.to_line()?;
                let game = RecordSummary::parse(line.as_bytes()).map_err(RecordError::from)?;
                if seen.insert(game.identity()) {
                    text.add(&record, None);
                    own.push(record);
                }
            }
        }
    }
    all.set_ranking(results.ranking(&plan), None);
    let mut page = ReportPage::new(ReportPageOptions {
        title: format!("{label}: your games"),
        only_bot: Some(label.to_owned()),
        standing: all.figures.places()?.get(label).cloned(),
        sheet: text.sheet(Some(&since)),
        ..ReportPageOptions::default()
    });
    for record in &own {
        page.add(record)?;
    }
    Ok(Some(page.page()?))
}

/// The page of a bot that plays no games, with why.
fn absent_page(label: &str, plan: &Plan, homes: &[String], since: &ChangesText) -> String {
    let mut rejected = plan.rejected.iter();
    let rejected = rejected.find(|rejected| rejected.bot.name == label);
    let absence = rejected.map(|rejected| rejected.absence.clone());
    let absence = absence.unwrap_or_default();
    let absence = absence.map(|text| at_home(text, homes));
    let text = not_entered_text(label, &absence, Some(since));
    let title = format!("{label}: did not enter");
    html::plain(&title, &as_html(&text, None))
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
pub fn record_at_home(record: Record, homes: &[String]) -> Result<Record, serde_json::Error> {
    if homes.is_empty() {
        return Ok(record);
    }
    let quoted = homes
        .iter()
        .map(|home| json!(home).to_string().trim_matches('"').to_owned());
    let line = at_home(&record.to_line()?, &quoted.collect::<Vec<_>>());
    serde_json::from_str(&line)
}
