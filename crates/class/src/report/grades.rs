//! Grades as files: for Moodle, Gradescope, Classroom 50, and students.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::Path;

use jiff::Timestamp;
use serde_json::{Value, json};

use crate::league::grading::scale::Scale;
use crate::league::grading::{Grade, RungResult, RungVerdict};
use crate::league::roster::student_list::{BotOfStudent, BotsOfStudents};
use crate::league::roster::{Join, Target};
use crate::league::state::{BotVersion, League};
use referee_match::bot::shell::quoted;
use referee_report::bot_page::in_markdown;
use referee_report::standings::{CsvTable, escape_formula};
use referee_text::{counted, escape_markdown, join_parts, short_name};

/// Listed bots without a grade, but for those that are asked about, and graded bots that are not in the list.
pub fn unmatched<'a>(
    students: &'a BotsOfStudents,
    grades: &'a [Grade],
) -> (Vec<&'a str>, Vec<&'a str>) {
    let students = &students.students;
    let is_graded = |bot: &str| grades.iter().any(|grade| grade.name == bot);
    let has_grade = |one: &&BotOfStudent| one.bot.as_deref().is_some_and(is_graded);
    let without = students
        .iter()
        .filter(|one| !has_grade(one) && !one.is_asked_about);
    let without = without.map(|one| &*one.label).collect::<BTreeSet<&str>>();
    let unknown = grades.iter().map(|grade| &*grade.name);
    let unknown =
        unknown.filter(|name| !students.iter().any(|one| one.bot.as_deref() == Some(name)));
    (without.into_iter().collect(), unknown.collect())
}

/// Moodle's grade import: identity, `Grade`, `Feedback`. Without `students` the bot's name is the identity; with it,
/// each student of a bot gets a row with the list's columns.
pub fn moodle<'a>(grades: &'a [Grade], students: Option<&'a BotsOfStudents>) -> String {
    let mut table = CsvTable::default();
    let who = |values: &[String], grade: [&str; 2]| {
        let values = values.iter().map(String::as_str);
        values.chain(grade).map(escape_formula).collect::<Vec<_>>()
    };
    let names = ["Name".to_owned()];
    let headings = students.map_or(&names[..], |students| &students.headings);
    table.row(who(headings, ["Grade", "Feedback"]));
    let rows: Vec<(&[String], &Grade)> = match students {
        None => grades
            .iter()
            .map(|grade| (std::slice::from_ref(&grade.name), grade))
            .collect(),
        Some(students) => {
            let row = |student: &'a BotOfStudent| {
                let bot = student.bot.as_deref()?;
                let grade = grades.iter().find(|grade| grade.name == bot)?;
                Some((&student.values[..], grade))
            };
            students.students.iter().filter_map(row).collect()
        }
    };
    for (values, grade) in rows {
        let feedback = join_parts(grade.feedback(), "; ");
        table.row(who(values, [&grade.points.to_string(), &feedback]));
    }
    table.text
}

pub fn all(scale: &Scale, grades: &[Grade]) -> serde_json::Result<String> {
    let whole = json!({
        "v": 1,
        "referee": env!("CARGO_PKG_VERSION"),
        "scale": {
            "alpha": scale.alpha,
            "beta": scale.beta,
            "budget": scale.budget,
            "seed": scale.seed,
        },
        "grades": grades,
    });
    Ok(serde_json::to_string_pretty(&whole)? + "\n")
}

/// Gradescope's `results.json`: `score`, `output`, a test for each rung, and the columns of the leaderboard.
pub fn gradescope(grade: &Grade) -> serde_json::Result<String> {
    let test = |(number, rung): (usize, &RungResult)| {
        let status = match rung.verdict {
            RungVerdict::Passed => "passed",
            RungVerdict::NotPassed
            | RungVerdict::Undecided
            | RungVerdict::Unmeasured
            | RungVerdict::NotPlayed => "failed",
        };
        json!({
            "name": rung.rung,
            "number": (number + 1).to_string(),
            "score": rung.points,
            "max_score": rung.most_points,
            "status": status,
            "output": rung.sentence(),
            "visibility": "visible",
        })
    };
    let tests: Vec<Value> = grade.rungs.iter().enumerate().map(test).collect();
    let is_passed = |rung: &&RungResult| rung.verdict == RungVerdict::Passed;
    let passed = grade.rungs.iter().filter(is_passed);
    // Of the last rung that it played: it orders bots that passed the same ones.
    let share = grade.rungs.iter().rev().find_map(|rung| rung.score);
    let whole = json!({
        "score": grade.points,
        "output": join_parts(grade.feedback(), "\n"),
        "tests": tests,
        "leaderboard": [
            {"name": "Points", "value": grade.points},
            {"name": "Rungs passed", "value": passed.count()},
            {"name": "Score on the last rung", "value": share.unwrap_or(0.0)},
        ],
    });
    Ok(serde_json::to_string_pretty(&whole)? + "\n")
}

/// Classroom 50's `result.json`, without the grade, from the variables of its runner; `None` without all that it needs.
pub fn submission(variable: impl Fn(&str) -> Option<String>, now: Timestamp) -> Option<Value> {
    let mut known = json!({
        "schema": "classroom50/result/v1",
        "classroom": variable("CLASSROOM")?,
        "assignment": variable("ASSIGNMENT")?,
        "submission": variable("SUBMISSION_TAG")?,
        "commit": variable("COMMIT_URL")?,
        "release": variable("RELEASE_URL")?,
        "review": variable("REVIEW_URL").or_else(|| variable("COMMIT_URL")),
        "datetime": format!("{now:.0}"),
    });
    let owner = variable("OWNER").or_else(|| variable("USERNAME"));
    for (name, value) in [
        ("owner", owner),
        ("assignment_type", variable("ASSIGNMENT_TYPE")),
    ] {
        if let Some(value) = value {
            known[name] = value.into();
        }
    }
    Some(known)
}

pub fn classroom50(grade: &Grade, submission: &Value) -> serde_json::Result<String> {
    let test = |rung: &RungResult| {
        json!({
            "test-name": rung.rung,
            "passed": rung.verdict == RungVerdict::Passed,
            "score": rung.points,
            "max-score": rung.most_points,
        })
    };
    let tests: Vec<Value> = grade.rungs.iter().map(test).collect();
    let mut whole = submission.clone();
    whole["score"] = grade.points.into();
    whole["max-score"] = grade.most_points.into();
    whole["tests"] = tests.into();
    Ok(serde_json::to_string_pretty(&whole)? + "\n")
}

/// The commands on the page of a grade.
#[derive(Clone, Copy, Debug)]
pub struct PageCommands<'a> {
    /// That of the grades.
    pub folder: &'a str,
    /// The option ` --game`, where the game is a program.
    pub game: &'a str,
    /// Grades the bot again.
    pub repeat: &'a str,
}

/// Why a bot has its grade, in Markdown.
pub fn page(scale: &Scale, grade: &Grade, commands: PageCommands<'_>) -> String {
    let repeat = commands.repeat;
    let mut out = String::new();
    let name = escape_markdown(&short_name(&grade.name));
    let (points, most) = (grade.points, grade.most_points);
    let _ = writeln!(out, "# {name}: {points} of {most} points\n");
    if let Some(problem) = &grade.problem {
        let why = in_markdown(problem);
        return out + &format!("It was not graded, because it cannot play: {why}\n\n");
    }
    if let Some(late) = &grade.late {
        let _ = writeln!(out, "{}\n", late.sentence());
    }
    out.push_str("| rung | verdict | points | pairs of games | score |\n|---|---|---|---|---|\n");
    for rung in &grade.rungs {
        let score = rung.score.map(|score| format!("{score:.3}"));
        let score = score.unwrap_or_default();
        let (name, verdict) = (escape_markdown(&rung.rung), rung.verdict.words());
        let (points, most, pairs) = (rung.points, rung.most_points, rung.pairs.len());
        let points = format!("{points} of {most}");
        let _ = writeln!(out, "| {name} | {verdict} | {points} | {pairs} | {score} |");
    }
    out.push('\n');
    for rung in &grade.rungs {
        let name = escape_markdown(&rung.rung);
        let (verdict, points) = (rung.verdict.words(), rung.points);
        let (most, requirement) = (rung.most_points, &rung.requirement);
        let _ = writeln!(out, "## {name}: {verdict}, {points} of {most} points\n");
        let _ = writeln!(out, "To pass: {requirement}.\n");
        games(&mut out, scale, rung, commands);
    }
    let _ = writeln!(
        out,
        "## How it was decided\n\nEvery rung is a test against a bot that is the same for everybody. It ends when the result is certain: a bot that is not \
         good enough passes with a probability of at most {} %, one that is good enough fails with at most {} %. \
         After {} of games the rung is undecided and gives no points. The two games of a pair start from the same opening, with the seats \
         swapped. Openings and seeds follow from the files of your bot (`{}`), the rung and the seed of the scale; no other \
         student's bot has to do with it.\n\n## The same again\n\nThe same bot plays the same games, whenever and wherever it is graded with the same scale:\n\n```sh\n{repeat}\n```",
        100.0 * scale.alpha,
        100.0 * scale.beta,
        counted(scale.budget.into(), "pair", "pairs"),
        grade.hash
    );
    out
}

fn games(out: &mut String, scale: &Scale, rung: &RungResult, commands: PageCommands<'_>) {
    let PageCommands { folder, game, .. } = commands;
    let certainty = 100.0 * (1.0 - scale.alpha - scale.beta);
    let (Some(score), Some([low, high]), Some(place)) = (rung.score, rung.interval, &rung.folder)
    else {
        return out.push_str("No games were played: an earlier rung was not passed.\n\n");
    };
    let _ = writeln!(
        out,
        "- {} of games, seed {}\n- score {score:.3} (1 is winning everything); with {certainty:.0} % certainty the true one is from {low:.3} to {high:.3}",
        counted(rung.pairs.len() as u64, "pair", "pairs"),
        rung.seed,
    );
    for (forfeits, of) in [
        (rung.forfeits, ": fix that first"),
        (rung.forfeits_of_reference, " by the reference bot"),
    ] {
        if forfeits > 0 {
            let _ = writeln!(out, "- {forfeits} of the games were forfeited{of}");
        }
    }
    let pairs = (1..).zip(&rung.pairs);
    let pairs: Vec<String> = pairs
        .map(|(pair, points)| format!("p{pair:06} {points}"))
        .collect();
    let place = format!("{folder}/{place}");
    let quoted = quoted(&place);
    let _ = writeln!(
        out,
        "- points of each pair, 0 to 2: {}\n- to see a game, the first of pair 1 (`a`) or the second (`b`): `referee replay {quoted} --number p000001a{game}`\n",
        pairs.join(", "),
    );
}

/// CSV, with the mark of UTF-8 that spreadsheets need: `name`, `plays` (playing version), `newest` (version),
/// `received` (its time), `versions` (count), `problem` (why the newest does not play), `people` (by the list of
/// students), `identical` (bots that are the same program), `late` (begun hours of the playing version after the deadline), `deadline` (of what is late).
///
/// `folder`: that of the league, as the teacher calls it.
pub fn students(folder: &Path, league: &League) -> String {
    let mut table = CsvTable::default();
    table.row(
        "name plays newest received versions problem people identical late deadline".split(' '),
    );
    let id = |version: Option<BotVersion<'_>>| version.map_or("", |known| known.id).to_owned();
    let until = league.accepted_until();
    let deadline = league.deadline_text().unwrap_or_default();
    for bot in league.bots() {
        let (newest, playing) = (bot.newest(None), bot.playing(until));
        let received = newest.map_or_else(String::new, |known| format!("{:.0}", known.received));
        let problem = bot.problem_within(folder, until);
        let problem = problem.map(|absence| absence.to_string());
        let problem = problem.or_else(|| {
            league
                .is_unknown(&bot)
                .then(|| "not in the list of students".to_owned())
        });
        let same = league
            .identical
            .iter()
            .find(|names| names.contains(&bot.label));
        let same = same
            .into_iter()
            .flatten()
            .filter(|other| **other != bot.label);
        let same: Vec<&str> = same.map(String::as_str).collect();
        let people: Vec<&str> = bot.people.iter().map(|person| &*person.name).collect();
        let late = playing
            .or(newest)
            .and_then(|version| league.hours_late(&version));
        table.row([
            &escape_formula(&bot.label),
            &id(playing),
            &id(newest),
            &received,
            &bot.versions().len().to_string(),
            &escape_formula(&join_parts(problem.unwrap_or_default(), "; ")),
            &escape_formula(&people.join("; ")),
            &escape_formula(&same.join("; ")),
            &late.map_or_else(String::new, |hours| hours.to_string()),
            &late.map_or_else(String::new, |_| deadline.clone()),
        ]);
    }
    for bot in league.missing() {
        let people: Vec<&str> = bot.people.iter().map(|person| &*person.name).collect();
        let problem = "nothing was handed in";
        let [name, people] = [&*bot.label, &people.join("; ")].map(escape_formula);
        table.row([&name, "", "", "", "0", problem, &people, "", "", ""]);
    }
    format!("\u{feff}{}", table.text)
}

/// Who is who, as it is known: a row for each student, and for each submission without a person in the list. It can be given as a list of students: then nothing is left to names.
pub fn people(league: &League) -> String {
    let mut table = CsvTable::default();
    table.row("name id email group submission joined_by plays_as".split(' '));
    let roster = &league.roster;
    let by = |join: Option<&Join>| join.map_or("", |join| join.by.word());
    for bot in roster.bots() {
        for person in &bot.people {
            let is_own = |join: &Join| match &join.to {
                Target::Person(id) => *id == person.person,
                Target::Team(_) => false,
            };
            let senders = bot.senders.iter();
            let own = senders.filter(|sender| sender.join.as_ref().is_some_and(is_own));
            let own = own.map(|sender| (sender.id.text(), by(sender.join.as_ref())));
            let (submissions, evidence): (Vec<&str>, Vec<&str>) = own.unzip();
            let known = [&*person.name, &person.id, &person.email, &person.team];
            let rest = [&*submissions.join(";"), &evidence.join(";"), &bot.label];
            table.row(known.into_iter().chain(rest).map(escape_formula));
        }
        for sender in &bot.senders {
            let of_listed = sender.join.as_ref().is_some_and(|join| match &join.to {
                Target::Person(id) => bot.people.iter().any(|person| person.person == *id),
                Target::Team(_) => false,
            });
            if !of_listed {
                let row = [
                    "",
                    "",
                    "",
                    "",
                    sender.id.text(),
                    by(sender.join.as_ref()),
                    &bot.label,
                ];
                table.row(row.map(escape_formula));
            }
        }
    }
    format!("\u{feff}{}", table.text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::league::roster::{Person, SenderId};

    #[test]
    fn no_name_is_a_formula_of_a_spreadsheet() {
        let mut league = League::default();
        let name = "=cmd()|x";
        let sender = SenderId::new(name, None);
        league.roster.receive([(&sender, name)]);
        league.enlist(vec![Person {
            name: "@anna".to_owned(),
            team: name.to_owned(),
            ..Person::default()
        }]);
        let table = students(Path::new("term"), &league);
        let row = table.lines().nth(1).expect("a row");
        assert!(row.starts_with("'=cmd()|x,"), "{table}");
        assert!(row.ends_with(",'@anna,,,"), "{table}");
    }
}
