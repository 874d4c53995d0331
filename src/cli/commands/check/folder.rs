//! A folder of bots, such as those of a class: a line for each.

use std::io::{self, Write as _};
use std::path::Path;

use super::examination::Examination;
use super::{Args, as_json, fix, write_csv};
use crate::arena::entrants::{self, FolderPrograms};
use crate::bot::naming::{Named, distinct_names};
use crate::bot::spec::{BotSpec, Program};
use crate::checkup::{Problem, Report};
use crate::cli::support::failure::Failure;
use crate::cli::support::output::{Stdout, print_stderr};
use crate::cli::support::sandbox::warn_large;
use crate::cli::support::setup::{bot, palette};
use crate::cli::support::unconfined::warn_root;
use crate::report::checks::CheckedBot;
use crate::report::terminal::{Palette, styled};
use crate::text::escape_controls;

/// The bots of a folder, as a tournament takes them; `None` when the path is no folder, or one of
/// one bot.
pub(super) fn of_bots(path: &Path) -> Result<Option<FolderPrograms>, Failure> {
    if !path.is_dir() {
        return Ok(None);
    }
    let found = entrants::programs(path)?;
    // The only program of the only folder in a folder is a class of one.
    let own = |(text, _): &(String, Option<String>)| {
        let file = Path::new(text);
        file.parent() == Some(path) && !file.is_dir()
    };
    let is_one = found.programs.len() == 1
        && found.programs.iter().all(own)
        && found.refused.iter().all(own);
    Ok((!is_one).then_some(found))
}

/// Checks every bot of a folder.
pub(super) fn run(args: &Args, found: FolderPrograms) -> Result<(), Failure> {
    if !found.others.is_empty() {
        print_stderr(&format!(
            "referee: not checked, as these are no programs: {}",
            found.others.join(", ")
        ));
    }
    let mut specs = Vec::new();
    let mut unstartable = Vec::new();
    for (text, name) in found.programs.into_iter().chain(found.refused) {
        match bot(&text) {
            Ok(BotSpec::Program(mut program)) => {
                if let Some(name) = name {
                    program.name = name;
                }
                specs.push(program);
            }
            Ok(BotSpec::Human) => {}
            Err(Failure::Usage(why)) => {
                let file = Path::new(&text).file_name().unwrap_or_default();
                let name = name.unwrap_or_else(|| escape_controls(&file.to_string_lossy()));
                // The name says which one.
                let about = format!("cannot start {}: ", escape_controls(&text));
                let why = why.strip_prefix(&about).map_or(why.clone(), str::to_owned);
                unstartable.push((name, why));
            }
            Err(failure) => return Err(failure),
        }
    }
    let bots: Vec<BotSpec> = specs.iter().cloned().map(BotSpec::Program).collect();
    let sandboxes = args.sandbox.of_bots(&bots)?;
    let files: Vec<_> = specs.iter().map(Program::own_file).collect();
    let bases: Vec<Named<'_>> = specs
        .iter()
        .zip(&files)
        .map(|(program, file)| (program.name.as_str(), file.as_deref()))
        .collect();
    let names = distinct_names(&bases);
    let examination = Examination::new(args)?;
    let palette = palette(&io::stdout());
    let mut checked = Vec::new();
    let mut note = |name: String, command: Option<&[String]>, report: Result<Report, String>| {
        let bot = CheckedBot { name, report };
        let shown = if args.json {
            format!("{}\n", json_line(&bot, command))
        } else {
            text_line(&bot, &palette)
        };
        checked.push(bot);
        Stdout.write_all(shown.as_bytes())
    };
    for (name, why) in unstartable {
        note(name, None, Err(why))?;
    }
    for (index, name) in names.into_iter().enumerate() {
        let others: Vec<&Program> = specs
            .iter()
            .enumerate()
            .filter_map(|(other, program)| (other != index).then_some(program))
            .collect();
        let mut program = match sandboxes.confine_one(&specs[index], &others) {
            Ok(program) => program,
            Err(error) => {
                note(name, None, Err(error.to_string()))?;
                continue;
            }
        };
        program.name.clone_from(&name);
        if index == 0 {
            warn_root([&program].into_iter());
        }
        warn_large([&program].into_iter());
        let which = format!(
            "checking {} of {}: {}",
            index + 1,
            specs.len(),
            escape_controls(&name)
        );
        let report = examination.run(&program, Some(which), &mut |_| {})?;
        note(name, Some(&program.command), Ok(report))?;
    }
    write_csv(args, &checked)?;
    let fit = checked.iter().filter(|bot| bot.is_fit()).count();
    if !args.json {
        let conclusion = format!("{fit} of {} are fit to enter a tournament.", checked.len());
        writeln!(Stdout, "{}", styled(palette.heading, &conclusion))?;
    }
    if fit == checked.len() {
        Ok(())
    } else {
        Err(Failure::Unfit)
    }
}

/// A bot in a line, and what to mend first below it.
fn text_line(bot: &CheckedBot, palette: &Palette) -> String {
    let name = &bot.name;
    let bad = |what: &str| {
        format!(
            "{} {name}: {}\n",
            styled(palette.problem, "✗"),
            escape_controls(what)
        )
    };
    match &bot.report {
        Err(why) => bad(why),
        Ok(report) if report.is_fit() => {
            let left_out = report.left_out();
            let left_out = if left_out.is_empty() {
                String::new()
            } else {
                format!(" (left out for want of time: {})", left_out.join(", "))
            };
            format!("{} {name}: fit{left_out}\n", styled(palette.good, "✓"))
        }
        Ok(report) => match report.first_problem() {
            Some((check, problem)) => {
                let Problem { what, .. } = problem;
                format!(
                    "{}{}",
                    bad(&format!("{}: {what}", check.name)),
                    fix(problem)
                )
            }
            None => bad("not fit"),
        },
    }
}

/// The same as JSON.
fn json_line(bot: &CheckedBot, command: Option<&[String]>) -> String {
    match &bot.report {
        Ok(report) => as_json(&bot.name, command, report).to_string(),
        Err(why) => {
            let mut json = as_json(&bot.name, command, &Report::default());
            json["fit"] = false.into();
            json["refused"] = why.as_str().into();
            json.to_string()
        }
    }
}
