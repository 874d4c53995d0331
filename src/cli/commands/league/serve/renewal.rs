//! Replaces the link of a student while the class is not served; its page does so while it is.

use std::io::Write as _;

use super::LinkArgs;
use super::start::opened;
use crate::cli::commands::league::decisions::log_renewal;
use crate::cli::commands::league::open_league;
use crate::cli::support::failure::{Failure, Result, bail, usage};
use crate::cli::support::output::{Stdout, note};
use referee::class::league::switch::SERVER_FOLDER;
use referee::class_server::links::{Links, LinksError, StudentLink};

pub(super) fn run(args: &LinkArgs) -> Result<()> {
    let (directory, mut league) = open_league(&args.folder)?;
    let folder = directory.path().join(SERVER_FOLDER);
    let failed = |error: LinksError| opened(error.into());
    let mut links = Links::read(&folder).map_err(failed)?;
    if links.is_new() {
        bail!(
            "{}: its students have no links yet; serve the class first: referee league serve {}",
            args.folder.display(),
            directory.tournament().quoted()
        );
    }
    let StudentLink { key, name, .. } = student_of(&links, &args.student)?;
    let token = links.renew(&key).ok_or_else(|| unknown(&args.student))?;
    links.write(&folder).map_err(failed)?;
    log_renewal(&mut league, &name);
    league.write(directory.path())?;
    writeln!(Stdout, "{}", links.address(&token))?;
    note!("the link of {name}, which is shown this once; the one before opens nothing");
    Ok(())
}

fn student_of(links: &Links, given: &str) -> Result<StudentLink> {
    match &links.find(given)[..] {
        [] => Err(unknown(given)),
        [student] => Ok((*student).clone()),
        several => {
            let known = several.iter().map(|student| student.sender.text());
            let known: Vec<&str> = known.collect();
            bail!(
                "{given}: this may be {}; give one of them",
                known.join(" or ")
            )
        }
    }
}

fn unknown(given: &str) -> Failure {
    usage!("{given}: no student of this class has this name, id or e-mail address")
}
