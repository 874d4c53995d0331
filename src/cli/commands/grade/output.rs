//! The files and the table of grades.

use std::io::Write as _;
use std::path::Path;

use super::Args;
use crate::arena::directory::TournamentDirectory;
use crate::cli::support::failure::Failure;
use crate::cli::support::output::{Stdout, print_stderr};
use crate::league::grading::scale::Scale;
use crate::league::grading::{Grade, Verdict};
use crate::league::intake::people::StudentList;
use crate::league::state::League;
use crate::play::setup::now;
use crate::report::grades::{self, Submission};
use crate::text::escape_controls;

/// The list of students: that of the option, or the one that a league in `folder` keeps.
pub(super) fn students(
    given: Option<&Path>,
    folder: Option<&Path>,
) -> Result<Option<StudentList>, Failure> {
    if let Some(path) = given {
        return Ok(Some(StudentList::read(path)?));
    }
    let league = folder.map(League::read).transpose()?.flatten();
    let kept = league.map(|league| league.people);
    let kept = kept.filter(|people| !people.is_empty());
    Ok(kept.map(|people| StudentList::of(&people)))
}

/// Writes all files.
pub(super) fn write(
    args: &Args,
    scale: &Scale,
    out: &Path,
    all: &[Grade],
    students: Option<&StudentList>,
) -> Result<(), Failure> {
    let failed = |error: &dyn std::fmt::Display| Failure::Referee(error.to_string());
    let directory = TournamentDirectory::at(out);
    let table = grades::moodle(all, students);
    directory.write("grades.csv", &table)?;
    let json = grades::all(scale, all).map_err(|error| failed(&error))?;
    directory.write("grades.json", &json)?;
    let folder = out.to_string_lossy();
    let submission = submission();
    for grade in all {
        let own = TournamentDirectory::make(&out.join(&grade.folder))?;
        let page = grades::page(scale, grade, &folder, &repeat(args, grade));
        own.write("grade.md", &page)?;
        let results = grades::gradescope(grade).map_err(|error| failed(&error))?;
        own.write("results.json", &results)?;
        if let Some(submission) = &submission {
            let result = grades::classroom50(grade, submission).map_err(|error| failed(&error))?;
            own.write("result.json", &result)?;
        }
    }
    if let Some(students) = students {
        let (without, unknown) = grades::unmatched(students, all);
        for (what, names) in [
            ("there is no bot of", without.join(", ")),
            (
                "without a row in grades.csv, as no student in the list has this bot:",
                unknown.join(", "),
            ),
        ] {
            if !names.is_empty() {
                let names = escape_controls(&names);
                print_stderr(&format!("referee: warning: {what} {names}"));
            }
        }
    }
    Ok(())
}

/// The command that grades a bot once more, into another folder. It does not name the files of others.
fn repeat(args: &Args, grade: &Grade) -> String {
    let mut words = vec!["referee".to_owned(), "grade".to_owned()];
    let is_own = |bot: &&String| {
        let name = Path::new(bot.as_str()).file_name();
        name.is_some_and(|name| *name == *grade.name)
    };
    let own = args.bots.iter().find(is_own);
    let folders = || args.bots.iter().filter(|bot| Path::new(bot).is_dir());
    let named: Vec<&String> = match own {
        Some(own) => vec![own],
        None if folders().next().is_some() => folders().collect(),
        None => args.bots.iter().collect(),
    };
    words.extend(named.into_iter().cloned());
    if let Some(scale) = &args.scale {
        words.extend(["--scale".to_owned(), scale.to_string_lossy().into_owned()]);
    }
    words.extend(["--only", &grade.name, "--out", "graded-again"].map(str::to_owned));
    shell_words::join(words)
}

/// What Classroom 50's runner says in variables of the environment; `None` elsewhere.
fn submission() -> Option<Submission> {
    let variable = |name: &str| std::env::var(name).ok().filter(|value| !value.is_empty());
    Some(Submission {
        classroom: variable("CLASSROOM")?,
        assignment: variable("ASSIGNMENT")?,
        owner: variable("OWNER").or_else(|| variable("USERNAME")),
        kind: variable("ASSIGNMENT_TYPE"),
        tag: variable("SUBMISSION_TAG")?,
        commit: variable("COMMIT_URL")?,
        release: variable("RELEASE_URL")?,
        review: variable("REVIEW_URL").or_else(|| variable("COMMIT_URL"))?,
        time: format!("{:.0}", now()),
    })
}

/// Prints a line a bot.
pub(super) fn print(all: &[Grade]) -> Result<(), Failure> {
    let names: Vec<String> = all
        .iter()
        .map(|grade| escape_controls(&grade.name))
        .collect();
    let width = names.iter().map(|name| name.chars().count()).max();
    let width = width.unwrap_or_default();
    for (grade, name) in all.iter().zip(names) {
        let why = match &grade.problem {
            Some(problem) => format!("cannot play: {}", escape_controls(problem)),
            None => grade
                .rungs
                .iter()
                .filter(|rung| rung.verdict != Verdict::NotPlayed)
                .map(|rung| format!("{}: {}", rung.rung, rung.verdict.words()))
                .collect::<Vec<_>>()
                .join(", "),
        };
        writeln!(
            Stdout,
            "{name:width$}  {} of {}  {why}",
            grade.points, grade.most_points
        )?;
    }
    Ok(())
}
