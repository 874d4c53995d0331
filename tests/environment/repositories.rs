//! Submissions in Git repositories: one for a class, and one for each student; made by the real program.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use libtest_mimic::{Failed, Trial};
use tempfile::TempDir;

use crate::common::{Referee, Run};
use crate::requirements::{program, unavailable};

/// A teacher's folder.
struct Teacher(TempDir);

impl Teacher {
    fn new() -> Result<Self, Failed> {
        Ok(Self(tempfile::tempdir()?))
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn write(&self, name: &str, text: &str) -> Result<(), Failed> {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap_or(&path))?;
        Ok(fs::write(path, text)?)
    }

    /// Runs a command of Git as if it were this `date`; now, if it is empty.
    fn git(&self, repository: &str, arguments: &[&str], date: &str) -> Result<(), Failed> {
        let folder = self.path(repository);
        fs::create_dir_all(&folder)?;
        let mut git = Command::new("git");
        git.current_dir(&folder).args(arguments);
        for (name, value) in [
            ("GIT_CONFIG_GLOBAL", "/dev/null"),
            ("GIT_CONFIG_SYSTEM", "/dev/null"),
            ("GIT_AUTHOR_NAME", "a"),
            ("GIT_AUTHOR_EMAIL", "a@example.org"),
            ("GIT_COMMITTER_NAME", "a"),
            ("GIT_COMMITTER_EMAIL", "a@example.org"),
        ] {
            git.env(name, value);
        }
        if !date.is_empty() {
            // The author's date can be any: it does not count.
            git.env("GIT_COMMITTER_DATE", date);
        }
        let output = git.output()?;
        if output.status.success() {
            Ok(())
        } else {
            Err(format!("git {arguments:?}: {output:?}").into())
        }
    }

    /// Commits everything at a time of this day of January 2026.
    fn commit(&self, repository: &str, day: u32) -> Result<(), Failed> {
        self.git(repository, &["add", "--all"], "")?;
        let date = format!("2026-01-{day:02}T12:00:00Z");
        self.git(repository, &["commit", "-q", "-m", "."], &date)
    }

    fn league(&self, folder: &str, source: &str, more: &[&str]) -> Run {
        let options = ["league", folder, "--from", source, "--sandbox", "none"];
        let options = [&options[..], &["--pairs", "1", "--seed", "1"], more].concat();
        Referee::new(options).directory(self.0.path()).run()
    }

    /// Name, version that plays, newest version, when it was handed in, number of versions, problem.
    fn students(&self, folder: &str) -> Result<Vec<[String; 6]>, Failed> {
        let mut reader = csv::Reader::from_path(self.path(folder).join("students.csv"))?;
        let rows = reader.records().map(|row| {
            let row = row?;
            Ok([0, 1, 2, 3, 4, 5].map(|place| row.get(place).unwrap_or_default().to_owned()))
        });
        rows.collect()
    }
}

const BOT: &str = "#!/bin/sh\nexec \"$REFEREE_BIN\" bot random\n";

fn check(holds: bool, run: &Run) -> Result<(), Failed> {
    if holds {
        Ok(())
    } else {
        Err(run.to_string().into())
    }
}

fn commits_of_a_class_are_versions() -> Result<(), Failed> {
    let teacher = Teacher::new()?;
    teacher.git("class", &["init", "-q", "-b", "main"], "")?;
    teacher.write("class/README.md", "Hand in here.\n")?;
    teacher.write("class/anna/bot.sh", BOT)?;
    teacher.write("class/ben/bot.sh", &format!("{BOT}# ben\n"))?;
    teacher.commit("class", 1)?;
    teacher.write("class/anna/bot.sh", &format!("{BOT}# 2\n"))?;
    teacher.commit("class", 8)?;
    teacher.write("class/anna/bot.sh", "#!/bin/sh\nexit 1\n")?;
    teacher.commit("class", 15)?;
    // What has not been committed does not count.
    teacher.write("class/cem/bot.sh", BOT)?;
    let run = teacher.league("term", "class", &[]);
    check(run.code == Some(0), &run)?;
    check(run.last_line() == "2 new games, 0 kept", &run)?;
    let rows = teacher.students("term")?;
    let [anna, ben] = &rows[..] else {
        return Err(format!("{rows:?}").into());
    };
    let is_right = anna[0] == "anna"
        && anna[1] != anna[2]
        && anna[3] == "2026-01-15T12:00:00Z"
        && anna[4] == "3"
        && ben[0] == "ben"
        && ben[3] == "2026-01-01T12:00:00Z"
        && ben[4] == "1";
    if !is_right {
        return Err(format!("{rows:?}").into());
    }
    // A bare repository, at an earlier time.
    teacher.git(".", &["clone", "-q", "--bare", "class", "class.git"], "")?;
    let deadline = ["--deadline", "2026-01-05"];
    let run = teacher.league("early", "class.git", &deadline);
    check(run.last_line() == "2 new games, 0 kept", &run)?;
    let early = teacher.students("early")?;
    if early[0][1] == anna[1] || early[0][3] != anna[3] || !early[0][5].contains("too late") {
        return Err(format!("{early:?}").into());
    }
    Ok(())
}

fn each_student_has_a_repository() -> Result<(), Failed> {
    let teacher = Teacher::new()?;
    for (name, day) in [("quarto-anna", 1), ("quarto-ben", 2), ("quarto-late", 20)] {
        let repository = format!("class/{name}");
        teacher.git(&repository, &["init", "-q", "-b", "main"], "")?;
        teacher.write(&format!("{repository}/bot.sh"), &format!("{BOT}# {name}\n"))?;
        teacher.commit(&repository, day)?;
    }
    teacher.git("class/quarto-empty", &["init", "-q"], "")?;
    teacher.git("class/quarto-damaged", &["init", "-q"], "")?;
    let damaged = teacher.path("class/quarto-damaged/.git");
    fs::write(damaged.join("HEAD"), "nonsense")?;
    // Links could lead to another's files.
    teacher.git("class/quarto-link", &["init", "-q", "-b", "main"], "")?;
    #[cfg(unix)]
    std::os::unix::fs::symlink("/etc/passwd", teacher.path("class/quarto-link/bot.sh"))?;
    teacher.commit("class/quarto-link", 3)?;
    // What a repository wants to be run is not run.
    let hook = teacher.path("ran");
    let program = format!("touch {}", hook.display());
    for (key, value) in [("core.fsmonitor", &*program), ("core.hooksPath", "hooks")] {
        teacher.git("class/quarto-anna", &["config", key, value], "")?;
    }
    let run = teacher.league("term", "class", &["--deadline", "2026-01-10"]);
    check(run.last_line() == "2 new games, 0 kept", &run)?;
    check(!hook.exists(), &run)?;
    for words in [
        "quarto-empty: there is no commit in the branch that is checked out, ",
        "quarto-damaged: this Git repository is damaged",
        "`quarto-link/bot.sh` cannot be unpacked: it is a link",
    ] {
        let rows = teacher.students("term")?;
        check(rows.iter().any(|row| row[5].contains(words)), &run)?;
    }
    let late = teacher.students("term")?;
    let late = late.iter().find(|row| row[0] == "quarto-late");
    check(late.is_some_and(|row| row[1].is_empty()), &run)?;
    let nothing = teacher.league("none", "class/quarto-damaged", &[]);
    check(nothing.code == Some(2), &nothing)?;
    check(!Path::new(&teacher.path("none")).exists(), &nothing)
}

/// A repository whose `.git` was written by a student, and others that do not have the files themselves.
fn a_repository_has_its_own_files() -> Result<(), Failed> {
    let teacher = Teacher::new()?;
    for name in [
        "secret",
        "class/anna",
        "class/ben",
        "class/main",
        "class/linked",
        "class/large",
    ] {
        teacher.git(name, &["init", "-q", "-b", "main"], "")?;
        teacher.write(&format!("{name}/bot.sh"), &format!("{BOT}# {name}\n"))?;
    }
    let pointer = "version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 9\n";
    teacher.write("class/large/weights", pointer)?;
    for (name, day) in [
        ("secret", 1),
        ("class/anna", 2),
        ("class/ben", 3),
        ("class/main", 4),
        ("class/large", 5),
    ] {
        teacher.commit(name, day)?;
    }
    teacher.git(
        "class/main",
        &["symbolic-ref", "HEAD", "refs/heads/master"],
        "",
    )?;
    let secret = teacher.path("secret/.git");
    teacher.write(
        "class/thief/.git",
        &format!("gitdir: {}\n", secret.display()),
    )?;
    let objects = secret.join("objects");
    teacher.write(
        "class/linked/.git/objects/info/alternates",
        &format!("{}\n", objects.display()),
    )?;
    let commit = fs::read_to_string(secret.join("refs/heads/main"))?;
    teacher.write("class/linked/.git/refs/heads/main", &commit)?;
    let inner = [
        "-c",
        "protocol.file.allow=always",
        "submodule",
        "-q",
        "add",
        "../anna",
        "lib",
    ];
    teacher.git("class/ben", &inner, "")?;
    teacher.commit("class/ben", 6)?;
    // As a server keeps it.
    teacher.git("class", &["clone", "-q", "--bare", "anna", "cem.git"], "")?;
    let run = teacher.league("term", "class", &[]);
    for words in [
        "thief: its commits are not in this folder",
        "linked: its commits are not in this folder",
        "main: there is no commit in the branch that is checked out, master; \
         commit the files of the bot, or check out the branch that has them",
        "`ben/lib` cannot be unpacked: it is another repository (a submodule)",
        "`large/weights` cannot be unpacked: Git LFS keeps it elsewhere",
    ] {
        let rows = teacher.students("term")?;
        check(rows.iter().any(|row| row[5].contains(words)), &run)?;
    }
    let rows = teacher.students("term")?;
    let playing = rows.iter().filter(|row| !row[1].is_empty());
    let playing: Vec<&str> = playing.map(|row| &*row[0]).collect();
    check(playing == ["anna", "ben", "cem"], &run)
}

/// Clocks that were wrong, and commits of one second, as a rebase makes them.
fn what_is_checked_out_is_the_newest() -> Result<(), Failed> {
    let teacher = Teacher::new()?;
    for (name, days) in [("anna", [2, 2]), ("ben", [20, 3]), ("cem", [2, 3])] {
        let repository = format!("class/{name}");
        teacher.git(&repository, &["init", "-q", "-b", "main"], "")?;
        for (day, text) in days.into_iter().zip(["first", "last"]) {
            let bot = format!("{BOT}# {name}: {text}\n");
            teacher.write(&format!("{repository}/bot.sh"), &bot)?;
            teacher.commit(&repository, day)?;
        }
    }
    let run = teacher.league("term", "class", &[]);
    let rows = teacher.students("term")?;
    check(rows.len() == 3, &run)?;
    for row in rows {
        let [name, plays, ..] = &row;
        let bot = fs::read_to_string(teacher.path(&format!("term/bots/{name}/{plays}/bot.sh")))?;
        check(bot.contains(": last") && row[4] == "2", &run)?;
    }
    // Somebody goes back to what was there before.
    teacher.git("class/cem", &["reset", "-q", "--hard", "HEAD~1"], "")?;
    let run = teacher.league("term", "class", &[]);
    let rows = teacher.students("term")?;
    let bot = format!("term/bots/cem/{}/bot.sh", rows[2][1]);
    check(
        fs::read_to_string(teacher.path(&bot))?.contains(": first"),
        &run,
    )
}

pub(crate) fn trials() -> Vec<Trial> {
    let trial = |name: &str, test: fn() -> Result<(), Failed>| {
        let name = format!("repositories::{name}");
        if program("git", &[]).is_some() {
            Trial::test(name, test)
        } else {
            unavailable(name, "git", "git")
        }
    };
    vec![
        trial(
            "a repository has its own files",
            a_repository_has_its_own_files,
        ),
        trial(
            "what is checked out is the newest",
            what_is_checked_out_is_the_newest,
        ),
        trial(
            "commits of a class are versions",
            commits_of_a_class_are_versions,
        ),
        trial(
            "each student has a repository",
            each_student_has_a_repository,
        ),
    ]
}
