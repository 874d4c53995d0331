use std::collections::{BTreeMap, HashMap, HashSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;

use crate::cli::support::failure::{Failure, Result, bail};
use crate::cli::support::folder::{
    Records, all_records, analyses_of, check_not_stdin, invalid, open, pieces_of, plan_of,
    replace_file, title_of, tournament_of,
};
use crate::cli::support::output::note;
use crate::cli::support::pages::{LiveOptions, add_file, write};
use crate::cli::support::recorded::RecordedRules;
use crate::cli::support::runtime::{runtime, until_interrupted};
use crate::cli::support::setup::{unreadable, wrong_at};
use referee::bot::referee_files::MARKDOWN_MARK;
use referee::class::league::archive::VersionScores;
use referee::class::league::log;
use referee::class::league::state::League;
use referee::class::report::student_page::{BotGames, absent_text_and_page, changes_since};
use referee::game::Ruleset;
use referee::record::Record;
use referee::record::reader::Reader;
use referee::report::bot_page::ChangesText;
use referee::report::html;
use referee::server::{Feed, LiveState};
use referee::stats::standings::{NotEntered, Ranking};
use referee::text::counted;
use referee::tournament::directory::TournamentDirectory;
use referee::tournament::entrants::lasting_slugs;

const POLL_INTERVAL: Duration = Duration::from_millis(200);

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Files of records, as --record writes them, or folders of tournaments; - is standard input
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,

    /// Where to write the page; - for standard output
    #[arg(
        short = 'o',
        long = "out",
        alias = "output",
        value_name = "FILE",
        default_value = "report.html",
        conflicts_with = "live"
    )]
    output: PathBuf,

    /// The page's heading [default: the names of the files or folders]
    #[arg(long)]
    title: Option<String>,

    /// Leave what bots wrote to stderr, and their commands, out of pages
    ///
    /// What they answered stays in
    #[arg(long, help_heading = "Pages", hide_short_help = true)]
    private: bool,

    /// A page for each bot, to hand out, into this folder: its games, its faults and what to fix first; nothing
    /// of others but their names and turns
    #[arg(long, value_name = "DIR", conflicts_with_all = ["output", "live", "private", "title"])]
    each: Option<PathBuf>,

    #[command(flatten)]
    live: LiveOptions,

    #[command(flatten)]
    game: RecordedRules,
}

fn game_of(rules: &RecordedRules, records: &[PathBuf]) -> Result<Option<Arc<dyn Ruleset>>> {
    if rules.program().is_some() {
        check_not_stdin(
            records,
            "with --game the first record is read before the others, from",
        )?;
    }
    let Some(file) = records.first().filter(|_| rules.program().is_some()) else {
        return Ok(None);
    };
    let Some(first) = Records::open(file)?.next() else {
        return Ok(None);
    };
    let (number, record) = first?;
    let game = rules.of(&record).map(Some);
    game.map_err(|problem| invalid(file, number, &problem))
}

pub(crate) fn run(args: &Args) -> Result<()> {
    let title = args.title.clone().unwrap_or_else(|| title_of(&args.files));
    let records = all_records(&args.files)?;
    if let Some(folder) = &args.each {
        check_not_stdin(
            &records,
            "--each reads a file once for each bot, so it needs",
        )?;
        let ranking = tournament_of(&records)?.0;
        let mut of_leagues = BTreeMap::new();
        for path in &args.files {
            of_leagues.extend(members(path)?);
        }
        let records = with_analyses(&args.files, &records);
        let slugs = known_slugs(&args.files)?;
        return write_each(
            &analysed_first(&records),
            ranking,
            folder,
            &of_leagues,
            &slugs,
        );
    }
    let shown = if args.live.is_on() {
        records.clone()
    } else {
        with_analyses(&args.files, &records)
    };
    let feed = Feed::new(html::ReportPageOptions {
        title,
        private: args.private,
        skip_copies: shown.len() > 1,
        game: game_of(&args.game, &records)?,
        notes: notes(&args.files)?,
        frame: args.live.live_frame.clone(),
        ..html::ReportPageOptions::default()
    });
    let files = analysed_first(&shown);
    if args.live.is_on() {
        return follow(&files, &args.live, &feed);
    }
    for path in files {
        add_file(path, &feed)?;
    }
    let (ranking, overview) = tournament_of(&records)?;
    feed.set_ranking(ranking, overview);
    check_not_input(&records, &args.output)?;
    write(&feed.report(), &args.output)
}

fn notes(files: &[PathBuf]) -> Result<Vec<[String; 3]>> {
    let mut notes = Vec::new();
    for path in files.iter().filter(|path| path.is_dir()) {
        if let Some(league) = League::read(path)? {
            notes.extend(log::notes(path, &league)?);
        }
    }
    Ok(notes)
}

pub(crate) fn check_not_input(files: &[PathBuf], output: &Path) -> Result<()> {
    let Ok(target) = fs::canonicalize(output) else {
        return Ok(());
    };
    let is_target = |file: &&PathBuf| fs::canonicalize(file).is_ok_and(|file| file == target);
    match files.iter().find(is_target) {
        None => Ok(()),
        Some(file) => {
            let problem = "it would be overwritten by what is made from it; choose another file";
            Err(wrong_at(file, problem))
        }
    }
}

fn with_analyses(named: &[PathBuf], records: &[PathBuf]) -> Vec<PathBuf> {
    let analyses = analyses_of(named).filter(|file| !records.contains(file));
    records.iter().cloned().chain(analyses).collect()
}

fn analysed_first(files: &[PathBuf]) -> Vec<&Path> {
    let mut files: Vec<&Path> = files.iter().map(PathBuf::as_path).collect();
    if files.len() > 1 {
        // Pipes can be read only once.
        files.sort_by_cached_key(|path| !(path.is_file() && is_analysed(path).unwrap_or(false)));
    }
    files
}

fn is_analysed(path: &Path) -> Option<bool> {
    let mut reader = Reader::open(path).ok()?;
    let line = reader.next_line().ok()??;
    let game = line.summary().ok()?;
    Some(game.tallies().is_some())
}

fn follow(files: &[&Path], live: &LiveOptions, feed: &Arc<Feed>) -> Result<()> {
    let growing: Result<Vec<_>> = files.iter().map(|path| open(path)).collect();
    let mut growing = growing?;
    let mut add_new = || growing.iter_mut().try_for_each(|file| add_new(file, feed));
    add_new()?;
    let server = live.serve(feed)?;
    let followed = runtime()?.block_on(until_interrupted(async {
        loop {
            tokio::time::sleep(POLL_INTERVAL).await;
            add_new()?;
        }
    }));
    if let Some(server) = server {
        // More games may come.
        feed.set_state(LiveState::Interrupted);
        server.stop();
    }
    followed
}

fn add_new(file: &mut Reader, feed: &Feed) -> Result<()> {
    let path = file.path().to_owned();
    let failed = |error| unreadable(&path, &error);
    let meta = file.file().metadata().map_err(failed)?;
    if meta.is_file() && meta.len() < file.position() {
        let (path, before, now) = (path.display(), file.position(), meta.len());
        bail!(
            "{path}: the file shrank from {before} to {now} bytes while it was followed; start again"
        );
    }
    while let Some(line) = file.next_complete_line()? {
        let published = feed.publish(&line.record()?);
        published.map_err(|problem| line.error(problem))?;
    }
    Ok(())
}

fn write_each(
    files: &[&Path],
    ranking: Ranking,
    folder: &Path,
    members: &BTreeMap<String, OfMember>,
    known_slugs: &HashMap<String, String>,
) -> Result<()> {
    // In the order of their first games: more games do not change what a page is called.
    let (mut all, mut met) = (Vec::new(), HashSet::new());
    let mut report = html::ReportPage::new(html::ReportPageOptions {
        skip_copies: files.len() > 1,
        ..html::ReportPageOptions::default()
    });
    for_each(files, Records::open, |file, number, record| {
        let added = report.add(&record);
        added.map_err(|problem| invalid(file, number, &problem))?;
        let names = record.bots.into_iter().map(|bot| bot.name);
        all.extend(names.filter(|name| met.insert(name.clone())));
        Ok(())
    })?;
    let absent = ranking.not_entered.iter();
    let absent = absent.filter(|absent| !met.contains(&absent.name)).cloned();
    let absent: Vec<NotEntered> = absent.collect();
    report.set_ranking(ranking, None);
    let places = report.figures.places()?;
    all.extend(absent.iter().map(|absent| absent.name.clone()));
    fs::create_dir_all(folder).map_err(|error| unreadable(folder, &error))?;
    let known = |name: &String| known_slugs.get(name).map(String::as_str);
    let named: Vec<_> = all
        .iter()
        .map(|name| (name.as_str(), known(name)))
        .collect();
    let mut pages: Vec<_> = all.iter().zip(lasting_slugs(&named)).collect();
    pages.sort();
    let mut plans = files.iter().filter_map(|file| plan_of(file).transpose());
    let plan = plans.next().transpose()?;
    let game = plan.map_or_else(String::new, |plan| plan.game_options());
    let stranger = OfMember::default();
    for (name, slug) in pages {
        let member = members.get(name).unwrap_or(&stranger);
        let place = folder.join(slug);
        match absent.iter().find(|absent| absent.name == *name) {
            Some(absent) => write_absence(absent, member, &game, &place)?,
            None => write_games(files, name, member, places.get(name).cloned(), &place)?,
        }
    }
    note!(
        "{} in {}, each with the games of one bot: NAME.html to look at, NAME.md for what to fix",
        counted(all.len() as u64, "page", "pages"),
        folder.display()
    );
    Ok(())
}

/// The page and the text at this path, each with its extension.
fn page_and_text(place: &Path) -> [PathBuf; 2] {
    ["html", "md"].map(|extension| {
        let mut path = place.as_os_str().to_owned();
        path.push(".");
        path.push(extension);
        path.into()
    })
}

fn write_absence(absent: &NotEntered, member: &OfMember, game: &str, place: &Path) -> Result<()> {
    let absence = absent.absence.clone().unwrap_or_default();
    let since = member.since.as_ref();
    let (text, page) = absent_text_and_page(&absent.name, &absence, &member.homes, since, game);
    let [page_file, text_file] = page_and_text(place);
    replace_file(&page_file, &page)?;
    write_markdown(&text_file, &text)
}

/// It may lie in the folder of the bot, and is not a part of it.
fn write_markdown(path: &Path, text: &str) -> Result<()> {
    replace_file(path, &format!("{MARKDOWN_MARK}{text}"))
}

/// Its games, as its author may see them.
fn write_games(
    files: &[&Path],
    name: &str,
    member: &OfMember,
    standing: Option<Value>,
    place: &Path,
) -> Result<()> {
    // A game may be in two files, in one with its analysis.
    let mut games = BotGames::new(name, &member.homes, files.len() > 1);
    for_each(files, Records::open_again, |file, number, record| {
        let pieces = record.pieces.as_ref().and_then(|_| pieces_of(file));
        let added = games.add(record, pieces.as_deref());
        added.map_err(|problem| invalid(file, number, &problem))
    })?;
    let since = member.since.as_ref();
    let page = games.page(standing, since);
    let page = page.map_err(|error| Failure::Referee(error.to_string()))?;
    let [page_file, text_file] = page_and_text(place);
    write(&page, &page_file)?;
    write_markdown(&text_file, &games.text(since))
}

fn for_each(
    files: &[&Path],
    records: fn(&Path) -> Result<Records>,
    mut each: impl FnMut(&Path, u64, Record) -> Result<()>,
) -> Result<()> {
    for file in files {
        for record in records(file)? {
            let (number, record) = record?;
            each(file, number, record)?;
        }
    }
    Ok(())
}

/// By the name of a bot in the plans of these folders: what its files are called, for as long as they last.
fn known_slugs(folders: &[PathBuf]) -> Result<HashMap<String, String>> {
    let (mut known, mut used) = (HashMap::new(), HashSet::new());
    for folder in folders.iter().filter(|folder| folder.is_dir()) {
        if let Some(plan) = TournamentDirectory::at(folder).plan()? {
            for bot in plan.all_bots().filter(|bot| !bot.slug.is_empty()) {
                // Two tournaments may have given one to two bots.
                if !known.contains_key(&bot.name) && used.insert(bot.slug.to_lowercase()) {
                    known.insert(bot.name.clone(), bot.slug.clone());
                }
            }
        }
    }
    Ok(known)
}

#[derive(Default)]
struct OfMember {
    since: Option<ChangesText>,
    /// The folders of all its versions, which its author knows as `.`.
    homes: Vec<String>,
}

fn members(path: &Path) -> Result<BTreeMap<String, OfMember>> {
    if !path.is_dir() {
        return Ok(BTreeMap::new());
    }
    let directory = TournamentDirectory::at(path);
    let Some(league) = League::read(path)? else {
        return Ok(BTreeMap::new());
    };
    let bots = league.bots();
    let members = bots.iter().map(|bot| {
        let homes = bot.homes(path);
        (bot.label.clone(), OfMember { since: None, homes })
    });
    let mut members: BTreeMap<String, OfMember> = members.collect();
    let Some(plan) = directory.plan()? else {
        return Ok(members);
    };
    let games = directory.journal_file();
    let results = TournamentDirectory::read_journal(&games, &plan)?;
    let ranking = results.ranking(&plan);
    let standings = results.collector.standings(&ranking)?;
    let scores = VersionScores::read(path, &plan, &games)?;
    for bot in &bots {
        let Some(of) = members.get_mut(&bot.label) else {
            continue;
        };
        let of_league = (&league, &plan);
        let since = changes_since(bot, &of.homes, of_league, &scores, &standings);
        of.since = Some(since);
    }
    Ok(members)
}
