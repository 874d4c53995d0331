use std::collections::{BTreeSet, HashSet};

use crate::cli::support::folder::{pieces_of, title_of, tournament_of};
use crate::cli::support::pages::{LiveOptions, add_file, write};
use crate::cli::support::prelude::*;
use crate::cli::support::runtime::until_interrupted;
use referee::arena::analysing;
use referee::arena::entrants::slugs;
use referee::league::archive::AllNews;
use referee::league::log;
use referee::league::state::{at_home, homes};
use referee::record::RecordSummary;
use referee::record::reader::Reader;
use referee::report::markup::as_html;
use referee::report::own::{OwnGames, Since, not_entered_text, own, since};
use referee::tournament::standings::NotEntered;

const POLL_INTERVAL: Duration = Duration::from_millis(200);

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Files of records, as --record writes them, or folders of tournaments
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,

    /// Where to write the page; - for standard output
    #[arg(
        short,
        long,
        value_name = "FILE",
        default_value = "report.html",
        conflicts_with = "live"
    )]
    output: PathBuf,

    /// The page's heading [default: the names of the files or folders]
    #[arg(long)]
    title: Option<String>,

    /// Leave what bots wrote to stderr, and their commands, out of pages; what they answered stays in
    #[arg(long)]
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

fn game_of(rules: &RecordedRules, records: &[PathBuf]) -> Result<Option<Arc<dyn Game>>> {
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
        let ranking = tournament_of(&records)?.0;
        let mut of_leagues = BTreeMap::new();
        for path in &args.files {
            of_leagues.extend(members(path)?);
        }
        let records = with_analyses(&args.files, &records);
        return write_each(&analysed_first(&records), ranking, folder, &of_leagues);
    }
    let shown = if args.live.is_on() {
        records.clone()
    } else {
        with_analyses(&args.files, &records)
    };
    let feed = Feed::new(html::Options {
        title,
        private: args.private,
        skip_copies: shown.len() > 1,
        game: game_of(&args.game, &records)?,
        notes: notes(&args.files)?,
        frame: args.live.live_frame.clone(),
        ..html::Options::default()
    });
    let files = analysed_first(&shown);
    if args.live.is_on() {
        return follow(&files, &args.live, &feed);
    }
    for path in files {
        add_file(path, &feed)?;
    }
    let (ranking, course) = tournament_of(&records)?;
    feed.set_ranking(ranking, course);
    check_not_input(&records, &args.output)?;
    write(&feed, &args.output)
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
    let folders = named.iter().filter(|path| path.is_dir());
    let analyses = folders.map(|folder| analysing::file(&TournamentDirectory::at(folder)));
    let analyses = analyses.filter(|file| file.is_file() && !records.contains(file));
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
    let open = |path: &&Path| Reader::open(path).map_err(|error| unreadable(path, &error));
    let growing: Result<Vec<_>> = files.iter().map(open).collect();
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
        feed.set_state(State::Interrupted);
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
    while let Some(line) = file.next_complete_line().map_err(failed)? {
        let published = feed.publish(&line.record()?);
        published.map_err(|problem| line.damaged(problem))?;
    }
    Ok(())
}

fn write_each(
    files: &[&Path],
    ranking: Ranking,
    folder: &Path,
    members: &BTreeMap<String, OfMember>,
) -> Result<()> {
    let stranger = OfMember::default();
    let mut all = BTreeSet::new();
    let mut report = html::Report::new(html::Options {
        skip_copies: files.len() > 1,
        ..html::Options::default()
    });
    for_each(files, |file, record| {
        let added = report.add(&record);
        added.map_err(|problem| usage!("{}: {problem}", file.display()))?;
        all.extend(record.bots.into_iter().map(|bot| bot.name));
        Ok(())
    })?;
    let not_entered = ranking.not_entered.clone();
    report.set_ranking(ranking, None);
    let places = report.figures.places()?;
    let absent = not_entered
        .iter()
        .filter(|absent| !all.contains(&absent.name));
    let absent: Vec<&NotEntered> = absent.collect();
    all.extend(absent.iter().map(|absent| absent.name.clone()));
    fs::create_dir_all(folder).map_err(|error| unreadable(folder, &error))?;
    let all: Vec<&str> = all.iter().map(String::as_str).collect();
    for (name, slug) in all.iter().zip(slugs(&all)) {
        let [page_file, text_file] =
            ["html", "md"].map(|kind| folder.join(format!("{slug}.{kind}")));
        let member = members.get(*name).unwrap_or(&stranger);
        let since = member.since.as_ref();
        if let Some(absent) = absent.iter().find(|absent| absent.name == *name) {
            let reason = at_home(&absent.reason, &member.homes);
            let text = not_entered_text(name, &reason, since);
            let page = html::plain(&format!("{name}: did not enter"), &as_html(&text, None));
            replace_file(&page_file, &page)?;
            replace_file(&text_file, &text)?;
        } else {
            let mut text = OwnGames::new(name);
            let (mut games, mut seen) = (Vec::new(), HashSet::new());
            for_each(files, |file, record| {
                if let Some(record) = own(record, name) {
                    let record = record_at_home(record, &member.homes)?;
                    let line = record.to_line()?;
                    let game = RecordSummary::parse(line.as_bytes());
                    let game = game.map_err(|problem| usage!("{}: {problem}", file.display()))?;
                    // A game may be in two files, in one with its analysis.
                    if seen.insert(game.identity()) || files.len() == 1 {
                        let pieces = record.pieces.as_ref().and_then(|_| pieces_of(file));
                        text.add(&record, pieces.as_deref());
                        games.push(record);
                    }
                }
                Ok(())
            })?;
            let feed = Feed::new(html::Options {
                title: format!("{name}: your games"),
                own: Some((*name).to_owned()),
                standing: places.get(*name).cloned(),
                sheet: text.sheet(since),
                ..html::Options::default()
            });
            for record in &games {
                feed.publish(record).map_err(Failure::Referee)?;
            }
            write(&feed, &page_file)?;
            replace_file(&text_file, &text.text(since))?;
        }
    }
    note!(
        "{} in {}, each with the games of one bot: NAME.html to look at, NAME.md for what to fix",
        counted(all.len() as u64, "page", "pages"),
        folder.display()
    );
    Ok(())
}

/// Calls these folders `.`.
fn record_at_home(record: Record, homes: &[String]) -> Result<Record> {
    if homes.is_empty() {
        return Ok(record);
    }
    let quoted = homes
        .iter()
        .map(|home| json!(home).to_string().trim_matches('"').to_owned());
    let line = at_home(&record.to_line()?, &quoted.collect::<Vec<_>>());
    Ok(serde_json::from_str(&line)?)
}

fn for_each(files: &[&Path], mut each: impl FnMut(&Path, Record) -> Result<()>) -> Result<()> {
    for file in files {
        let failed = |error| unreadable(file, &error);
        let mut reader = Reader::open(file).map_err(failed)?;
        while let Some(line) = reader.next_complete_line().map_err(failed)? {
            each(file, line.record()?)?;
        }
    }
    Ok(())
}

#[derive(Default)]
struct OfMember {
    since: Option<Since>,
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
    let members = league.members.iter().map(|(name, member)| {
        let homes = homes(path, member);
        (name.clone(), OfMember { since: None, homes })
    });
    let mut members: BTreeMap<String, OfMember> = members.collect();
    let Some(plan) = directory.plan()? else {
        return Ok(members);
    };
    let games = directory.journal_file();
    let mut results = Results::new(&plan);
    TournamentDirectory::read_journal(&games, &plan, &mut results)?;
    let ranking = results.ranking(&plan);
    let standings = results.collector.standings(&ranking)?;
    let news = AllNews::read((path, &league), &plan, &games)?;
    for (name, of) in &mut members {
        let Some(mut news) = news.of(name, &league, &plan) else {
            continue;
        };
        if let Some(problem) = &mut news.problem {
            *problem = at_home(problem, &of.homes);
        }
        let place = standings.places.iter().find(|place| place.name == *name);
        let places = place.map(|place| (place.rank, standings.places.len(), place.before));
        of.since = Some(since(places, &news));
    }
    Ok(members)
}
