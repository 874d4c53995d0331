//! What teachers have, a league takes in: Moodle's archives, clones of repositories, and what students make of them.

use std::fs;
use std::io::{Cursor, Write as _};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

use zip::ZipWriter;
use zip::write::SimpleFileOptions;

use crate::common::{Referee, Run, command};

/// A bot that plays at random from its seed.
const RANDOM: &[u8] = b"#!/bin/sh\nexec \"$REFEREE_BIN\" bot random\n";

/// A bot that wins where it can.
const GREEDY: &[u8] = b"#!/bin/sh\nexec \"$REFEREE_BIN\" bot greedy\n";

/// A zip that is being written.
struct Zip(ZipWriter<Cursor<Vec<u8>>>);

impl Zip {
    fn new() -> Self {
        Self(ZipWriter::new(Cursor::default()))
    }

    fn of(files: &[(&str, &[u8])]) -> Vec<u8> {
        let mut zip = Self::new();
        for (name, content) in files {
            zip.file(name, content);
        }
        zip.finish()
    }

    fn file(&mut self, name: &str, content: &[u8]) {
        let options = SimpleFileOptions::default();
        self.0.start_file(name, options).expect("an entry");
        self.0.write_all(content).expect("content");
    }

    fn finish(self) -> Vec<u8> {
        self.0.finish().expect("a zip").into_inner()
    }
}

/// A zip archive whose entries have this Unix mode, with the kind of file.
fn with_mode(archive: &[u8], mode: u32) -> Vec<u8> {
    let mut archive = archive.to_vec();
    let headers = archive.windows(4).enumerate();
    let headers = headers.filter(|(_, start)| start == b"PK\x01\x02");
    for place in headers.map(|(place, _)| place).collect::<Vec<_>>() {
        // Made by Unix.
        archive[place + 5] = 3;
        archive[place + 38..place + 42].copy_from_slice(&(mode << 16).to_le_bytes());
    }
    archive
}

/// The folder of a teacher.
struct Teacher(tempfile::TempDir);

impl Teacher {
    fn new() -> Self {
        Self(tempfile::tempdir().expect("a temporary directory"))
    }

    fn write(&self, name: &str, content: &[u8]) -> PathBuf {
        let path = self.0.path().join(name);
        fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
        fs::write(&path, content).expect("a file");
        path
    }

    fn league(&self, more: &[&str]) -> Run {
        let options = ["league", "term", "--sandbox", "none", "--seed", "3"];
        let options = [&options[..], &["--pairs", "1", "--no-check"], more].concat();
        Referee::new(options).directory(self.0.path()).run()
    }

    /// Each student, the version that plays, and the problem.
    fn students(&self) -> Vec<[String; 3]> {
        let mut reader =
            csv::Reader::from_path(self.0.path().join("term/students.csv")).expect("a table");
        let rows = reader.records().map(|row| row.expect("a row"));
        rows.map(|row| [0, 1, 5].map(|column| row[column].to_owned()))
            .collect()
    }

    /// The students of whom a version plays, and the problems of the others.
    fn split(&self) -> (Vec<String>, Vec<(String, String)>) {
        let (playing, others): (Vec<_>, Vec<_>) = self
            .students()
            .into_iter()
            .partition(|[_, version, _]| !version.is_empty());
        let playing = playing.into_iter().map(|[name, ..]| name).collect();
        let others = others.into_iter().map(|[name, _, problem]| (name, problem));
        (playing, others.collect())
    }
}

fn succeeded(run: &Run) {
    assert_eq!(run.code, Some(0), "{run}");
}

#[test]
fn both_layouts_of_moodle_come_in() {
    let inner = Zip::of(&[("my bot/bot.sh", GREEDY), ("__MACOSX/._bot.sh", b"x")]);
    let teacher = Teacher::new();
    let folders = Zip::of(&[
        ("Anna Á_1234567_assignsubmission_file_/bot.sh", RANDOM),
        ("Ben Fox_1234568_assignsubmission_file_/my.zip", &inner),
        (
            "Ben Fox_1234568_assignsubmission_onlinetext_/onlinetext.html",
            b"Hello",
        ),
        ("Max M_1_assignsubmission_file_/bot.sh", RANDOM),
        ("Max M_2_assignsubmission_file_/bot.sh", GREEDY),
    ]);
    teacher.write("folders.zip", &folders);
    succeeded(&teacher.league(&["--from", "folders.zip"]));
    let all = ["Anna Á", "Ben Fox", "Max M (1)", "Max M (2)"].map(str::to_owned);
    assert_eq!(teacher.split(), (all.to_vec(), vec![]));
    // The same files are no new versions.
    let flat = Zip::of(&[
        ("Anna Á_1234567_assignsubmission_file_bot.sh", RANDOM),
        ("Ben Fox_1234568_assignsubmission_file_again.zip", &inner),
        ("Max M_1_assignsubmission_file_bot.sh", RANDOM),
        ("Max M_2_assignsubmission_file_bot.sh", GREEDY),
        ("Max M_2_assignsubmission_file_notes.txt", b"Hello"),
    ]);
    teacher.write("flat.zip", &flat);
    let run = teacher.league(&["--from", "flat.zip"]);
    succeeded(&run);
    assert!(run.stderr.contains("4 submissions, 1 of them new"), "{run}");
}

#[expect(clippy::too_many_lines, reason = "a table of cases")]
#[test]
fn hostile_and_broken_submissions_are_refused_by_name() {
    let bomb = Zip::of(&[("bot.sh", &vec![0; 65 << 20])]);
    let mut linked = Zip::new();
    let options = SimpleFileOptions::default();
    linked
        .0
        .add_symlink("bot.sh", "/etc/passwd", options)
        .expect("a link");
    let mut many = Zip::new();
    for number in 0..5_001 {
        many.file(&format!("{number}"), b"");
    }
    let nested = Zip::of(&[("a.zip", &Zip::of(&[("bot.sh", RANDOM)]))]);
    let mut archive = Zip::new();
    for (name, content) in [
        ("anna.zip", &Zip::of(&[("bot.sh", RANDOM)])),
        ("ben/bot.sh", &RANDOM.to_vec()),
        ("h-bomb.zip", &bomb),
        ("h-link.zip", &linked.finish()),
        ("h-many.zip", &many.finish()),
        ("h-nested.zip", &nested),
        ("h-out.zip", &Zip::of(&[("a/../../../out", b"x")])),
        ("h-root.zip", &Zip::of(&[("/tmp/out", b"x")])),
        ("h-drive.zip", &Zip::of(&[("C:/out", b"x")])),
        ("h-back.zip", &Zip::of(&[("..\\out", b"x")])),
        ("h-torn.zip", &b"PK\x03\x04 and no more".to_vec()),
        ("h-rar.rar", &b"Rar!".to_vec()),
        ("h-inside/../../out", &b"x".to_vec()),
        ("h-two.zip", &Zip::of(&[("A", b"x"), ("A/b", b"y")])),
        (
            "h-pipe.zip",
            &with_mode(&Zip::of(&[("bot.sh", RANDOM)]), 0o010_644),
        ),
        (
            "h-device.zip",
            &with_mode(&Zip::of(&[("bot.sh", RANDOM)]), 0o020_644),
        ),
        (
            "h-disk.zip",
            &with_mode(&Zip::of(&[("bot.sh", RANDOM)]), 0o060_644),
        ),
        (
            "h-socket.zip",
            &with_mode(&Zip::of(&[("bot.sh", RANDOM)]), 0o140_644),
        ),
        (
            "h-beside.zip",
            &Zip::of(&[("bot.sh", RANDOM), ("lib/in.zip", b"PK")]),
        ),
        (
            "h-case.zip",
            &Zip::of(&[("bot.py", RANDOM), ("BOT.py", GREEDY)]),
        ),
        (
            "h-cases.zip",
            &Zip::of(&[("Lib/a.py", RANDOM), ("lib/b.py", GREEDY)]),
        ),
        ("h-folder/bot.sh", &RANDOM.to_vec()),
        ("h-folder/Bot.sh", &GREEDY.to_vec()),
    ] {
        archive.file(name, content);
    }
    archive
        .0
        .add_directory("h-empty/", options)
        .expect("a folder");
    let teacher = Teacher::new();
    teacher.write("class.zip", &archive.finish());
    let run = teacher.league(&["--from", "class.zip"]);
    succeeded(&run);
    let (playing, refused) = teacher.split();
    assert_eq!(playing, ["anna", "ben"], "{run}");
    let problem = |name: &str| {
        let found = refused.iter().find(|(known, _)| known == name);
        found.map_or("", |(_, problem)| &**problem)
    };
    for (name, words) in [
        ("h-bomb", "there are more than 64 MB"),
        ("h-link", "it is a link"),
        ("h-many", "there are more than 5000 files"),
        (
            "h-nested",
            "`a.zip` cannot be unpacked: it is an archive in the archive",
        ),
        (
            "h-pipe",
            "`bot.sh` cannot be unpacked: it is a link or no regular file",
        ),
        (
            "h-device",
            "`bot.sh` cannot be unpacked: it is a link or no regular file",
        ),
        (
            "h-disk",
            "`bot.sh` cannot be unpacked: it is a link or no regular file",
        ),
        (
            "h-socket",
            "`bot.sh` cannot be unpacked: it is a link or no regular file",
        ),
        (
            "h-beside",
            "`lib/in.zip` cannot be unpacked: it is an archive in the archive",
        ),
        (
            "h-case",
            "`BOT.py` cannot be unpacked: it differs from `bot.py` in upper and lower",
        ),
        (
            "h-cases",
            "`lib/b.py` cannot be unpacked: it differs from `Lib` in upper and lower",
        ),
        (
            "h-folder",
            "`h-folder/Bot.sh` cannot be unpacked: it differs from `h-folder/bot.sh`",
        ),
        ("h-out", "its path leads out of the archive"),
        ("h-root", "its path is absolute"),
        ("h-drive", "its path begins with a drive"),
        ("h-back", "its path has a backslash"),
        ("h-torn", "it is not a zip archive, or only part of one"),
        ("h-rar", "hand in a .zip or .tar.gz"),
        ("h-inside", "its path leads out of the archive"),
        ("h-two", "cannot be unpacked"),
        ("h-empty", "nothing was handed in"),
    ] {
        assert!(problem(name).contains(words), "{name}: {}", problem(name));
        assert!(run.stderr.contains(name), "{name}: {run}");
    }
    assert_eq!(refused.len(), 21, "{refused:?}");
    assert!(!teacher.0.path().join("out").exists());
}

#[test]
fn repositories_and_resubmissions_come_in() {
    let teacher = Teacher::new();
    teacher.write("class/quarto-anna/bot.sh", RANDOM);
    teacher.write("class/quarto-anna/.git/FETCH_HEAD", b"1");
    teacher.write("class/ben_2026-01-31/bot.sh", RANDOM);
    teacher.write(
        "class/ben_20260201_0830.zip",
        &Zip::of(&[("bot.sh", GREEDY)]),
    );
    teacher.write("class/cem_2026-01-31.sh", RANDOM);
    teacher.write("class/cem_2026-02-01/readme.rar", b"Rar!");
    succeeded(&teacher.league(&["--from", "class"]));
    let rows = teacher.students();
    let names: Vec<&str> = rows.iter().map(|[name, ..]| &**name).collect();
    assert_eq!(names, ["ben", "cem", "quarto-anna"]);
    // Cem plays with what can be used, and is shown why the newer one cannot.
    assert!(rows[1][2].contains("hand in a .zip"), "{rows:?}");
    let versions = |name: &str| {
        let folder = teacher.0.path().join("term/bots").join(name);
        fs::read_dir(folder).expect("versions").count()
    };
    assert_eq!((versions("ben"), versions("cem")), (2, 1));
    let table = fs::read_to_string(teacher.0.path().join("term/students.csv")).expect("a table");
    assert!(table.contains("2026-02-01T08:30:00Z"), "{table}");
    // Nothing is new, also not the older one, nor what a tool changed.
    teacher.write("class/quarto-anna/.git/FETCH_HEAD", b"2");
    let run = teacher.league(&["--from", "class"]);
    succeeded(&run);
    assert!(run.stderr.contains("4 submissions, 0 of them new"), "{run}");
    assert!(run.stdout.ends_with("0 new games, 6 kept\n"), "{run}");
    let run = teacher.league(&["--deadline", "2026-01-31T12:00:00Z"]);
    succeeded(&run);
    let before = teacher.students();
    assert!(before[0][1] != rows[0][1], "{before:?}");
}

/// Times in a zip are those of the clock of the computer that made it.
#[test]
fn times_without_a_zone_are_in_the_one_that_is_said() {
    let class = |zone: Option<&str>, deadline: &str| {
        let teacher = Teacher::new();
        let mut zip = Zip::new();
        let at = zip::DateTime::from_date_and_time(2026, 1, 31, 17, 30, 0).expect("a time");
        let options = SimpleFileOptions::default().last_modified_time(at);
        for (name, bot) in [("anna/bot.sh", RANDOM), ("ben/bot.sh", GREEDY)] {
            zip.0.start_file(name, options).expect("an entry");
            zip.0.write_all(bot).expect("content");
        }
        teacher.write("class.zip", &zip.finish());
        teacher.write("early/cem_20260131_0900.sh", RANDOM);
        teacher.write("early/dan_20260131_0900.sh", GREEDY);
        let mut options = vec!["--from", "early", "--deadline", deadline];
        options.extend(zone.iter().flat_map(|zone| ["--zone", zone]));
        succeeded(&teacher.league(&options));
        // The zone is remembered, like the deadline.
        let run = teacher.league(&["--from", "class.zip"]);
        succeeded(&run);
        let rows = teacher.students();
        let plays = |name: &str| {
            rows.iter()
                .any(|[of, plays, _]| of == name && !plays.is_empty())
        };
        (run, plays("anna"), plays("cem"))
    };
    for deadline in [
        "2026-01-31T18:00+01:00",
        "2026-01-31T18:00",
        "2026-01-31",
        "2026-01-31T17:00Z",
    ] {
        let (run, anna, cem) = class(Some("+01:00"), deadline);
        assert!(anna && cem, "{deadline}: {run}");
        let words = "times without a zone are taken for those of +01:00; --zone names another";
        assert!(run.stderr.contains(words), "{run}");
    }
    // As on a server.
    let (run, anna, cem) = class(None, "2026-01-31T18:00+01:00");
    assert!(!anna && cem, "{run}");
    let words = "times without a zone are taken for those of UTC; --zone names another";
    assert!(run.stderr.contains(words), "{run}");
    let words =
        "it was handed in too late: at 2026-01-31T17:30:00+00:00, after 2026-01-31T17:00:00+00:00";
    assert!(run.stderr.contains(words), "{run}");
    let (run, anna, _) = class(Some("-03:00"), "2026-01-31T18:00+01:00");
    assert!(!anna, "{run}");
    let words = "at 2026-01-31T17:30:00-03:00, after 2026-01-31T14:00:00-03:00";
    assert!(run.stderr.contains(words), "{run}");
}

/// Where it was unpacked is gone when the command ends, or means nothing to people.
#[test]
fn an_archive_is_asked_again_as_it_was_given() {
    let teacher = Teacher::new();
    let wrong = b"#!/bin/sh\nwhile read -r line; do echo hello; done\n";
    teacher.write("bad.zip", &Zip::of(&[("bot.sh", wrong)]));
    let run = Referee::new(["check", "--sandbox", "none", "bad.zip"]).directory(teacher.0.path());
    let run = run.run();
    assert_eq!(run.code, Some(3), "{run}");
    let mut lines = run.stdout.lines();
    let again = lines.find_map(|line| line.trim().strip_prefix("see it again: "));
    let again = again.unwrap_or_else(|| panic!("{run}"));
    let referee = Path::new(env!("CARGO_BIN_EXE_referee"));
    let folder = referee.parent().expect("a folder").display();
    let seen = command("sh")
        .args(["-c", again])
        .current_dir(teacher.0.path())
        .env("PATH", format!("{folder}:/usr/bin:/bin"))
        .output()
        .expect("a shell");
    let said = String::from_utf8_lossy(&seen.stdout);
    assert!(said.contains("malformed"), "{again}: {seen:?}");
}

#[test]
fn names_that_may_be_of_another_are_said() {
    let teacher = Teacher::new();
    for name in ["b", "b (2)", "C", "c", "dora-2026-02-30", "eve (3)"] {
        teacher.write(
            &format!("class/{name}.zip"),
            &Zip::of(&[("bot.sh", RANDOM)]),
        );
    }
    let run = teacher.league(&["--from", "class"]);
    succeeded(&run);
    let words: Vec<&str> = run.stderr.split_whitespace().collect();
    let told = words.join(" ");
    for row in [
        "unclear b (2) it looks like a second download of b; if it is, withdraw one",
        "unclear C, c their names differ in upper and lower case alone",
        "unclear dora-2026-02-30 its name ends in a date or a time that does not exist",
    ] {
        assert!(told.contains(row), "{row}: {run}");
    }
    assert_eq!(run.stderr.matches("\nunclear ").count(), 3, "{run}");
}

#[test]
fn a_zone_that_is_not_known_is_refused() {
    let run = Teacher::new().league(&["--from", "class", "--zone", "Brussels"]);
    assert_eq!(run.code, Some(2), "{run}");
    assert!(
        run.stderr
            .contains("such as Europe/Brussels, or an offset such as +01:00"),
        "{run}"
    );
}

#[test]
fn the_list_of_students_joins_people_to_bots() {
    let teacher = Teacher::new();
    for (name, bot) in [
        ("alee", RANDOM),
        ("quarto-foxes", GREEDY),
        ("nobody", RANDOM),
    ] {
        teacher.write(&format!("class/{name}/bot.sh"), bot);
    }
    let list =
        "Name,Team,Email,ID\nAnna Lee,,,alee\nBen Fox,foxes,b@x.org,\nCem Can,foxes,,\nDana,,,\n";
    teacher.write("people.csv", list.as_bytes());
    let run = teacher.league(&["--from", "class", "--students", "people.csv"]);
    succeeded(&run);
    for row in ["\nmissing    Dana  ", "\nunknown    nobody  "] {
        assert!(run.stderr.contains(row), "{row}: {run}");
    }
    let rows = teacher.students();
    let names: Vec<&str> = rows.iter().map(|[name, ..]| &**name).collect();
    assert_eq!(names, ["Anna Lee", "foxes", "nobody", "Dana"]);
    let table = fs::read_to_string(teacher.0.path().join("term/students.csv")).expect("a table");
    assert!(table.contains(",\"Ben Fox; Cem Can\",,,\n"), "{table}");
    // The list holds until there is another one.
    let run = teacher.league(&["--from", "class"]);
    assert!(run.stderr.contains("3 submissions, 0 of them new"), "{run}");
    teacher.write("people.csv", b"who\nAnna\n");
    let run = teacher.league(&["--students", "people.csv"]);
    assert_eq!(run.code, Some(2), "{run}");
    assert!(
        run.stderr.contains("there is no column with names"),
        "{run}"
    );
}

#[test]
fn an_archive_of_a_folder_of_submissions_is_the_folder() {
    let teacher = Teacher::new();
    let mut tar = tar::Builder::new(flate2::write::GzEncoder::new(
        Vec::new(),
        flate2::Compression::default(),
    ));
    for name in ["class/anna/bot.sh", "class/ben/bot.sh"] {
        let mut header = tar::Header::new_gnu();
        header.set_size(RANDOM.len() as u64);
        header.set_mode(0o644);
        header.set_mtime(1_800_000_000);
        tar.append_data(&mut header, Path::new(name), RANDOM)
            .expect("an entry");
    }
    let bytes = tar.into_inner().and_then(flate2::write::GzEncoder::finish);
    teacher.write("class.tar.gz", &bytes.expect("an archive"));
    succeeded(&teacher.league(&["--from", "class.tar.gz"]));
    assert_eq!(teacher.split().0, ["anna", "ben"]);
    let table = fs::read_to_string(teacher.0.path().join("term/students.csv")).expect("a table");
    assert!(table.contains("2027-01-15T08:00:00Z"), "{table}");
    teacher.write("class.rar", b"Rar!");
    for source in ["class.rar", "term/plan.json"] {
        let run = teacher.league(&["--from", source]);
        assert_eq!(run.code, Some(2), "{run}");
        assert!(
            run.stderr.contains("neither a folder nor an archive"),
            "{run}"
        );
    }
}

#[test]
fn sources_are_built_and_whoever_wrote_them_is_shown_what_failed() {
    let teacher = Teacher::new();
    let own = br#"build = "printf '#!/bin/sh\nexec $REFEREE_BIN bot %s\n' $(cat name) > made; chmod +x made"
program = "made"
"#;
    for name in ["anna", "ben"] {
        teacher.write(&format!("class/{name}/referee.toml"), own);
        let bot = if name == "anna" { "random" } else { "greedy" };
        teacher.write(&format!("class/{name}/name"), bot.as_bytes());
    }
    for (name, own) in [
        (
            "fails",
            "build = \"echo 'bot.x:3: no such thing'; exit 7\"\nprogram = \"bot\"\n",
        ),
        ("makes-none", "build = \"true\"\nprogram = \"bot\"\n"),
        ("wrong-file", "build = 3\n"),
    ] {
        teacher.write(&format!("class/{name}/referee.toml"), own.as_bytes());
    }
    let run = teacher.league(&["--from", "class"]);
    succeeded(&run);
    assert!(run.stdout.ends_with("2 new games, 0 kept\n"), "{run}");
    let (playing, others) = teacher.split();
    assert_eq!(playing, ["anna", "ben"]);
    for ((name, problem), (expected, words)) in others.iter().zip([
        (
            "fails",
            "referee.toml cannot be built: bot.x:3: no such thing",
        ),
        ("makes-none", "bot is not there afterwards"),
        ("wrong-file", "expected `program`, a file"),
    ]) {
        assert!(
            name == expected && problem.contains(words),
            "{name}: {problem}"
        );
    }
    // What is built stays built, and what failed is not tried again.
    let run = teacher.league(&["--from", "class"]);
    succeeded(&run);
    assert!(!run.stderr.contains("referee: building"), "{run}");
    assert!(run.stdout.ends_with("0 new games, 2 kept\n"), "{run}");
}

#[test]
fn names_that_are_shown_otherwise_than_written_are_no_trap() {
    let teacher = Teacher::new();
    // The one has a sign that cannot be seen, the others differ in their ends only.
    let long = "course-on-artificial-intelligence-spring-term-first-exercise";
    let names = [
        "anna\u{2028}",
        &format!("{long}-ben"),
        &format!("{long}-cem"),
    ];
    for name in names {
        teacher.write(&format!("class/{name}/bot.sh"), RANDOM);
    }
    let run = teacher.league(&["--from", "class"]);
    succeeded(&run);
    let (playing, others) = teacher.split();
    assert_eq!((playing.len(), others.len()), (3, 0), "{run}");
    assert!(playing[0] == "anna\\u{2028}", "{playing:?}");
    assert!(playing[1].ends_with("-exercise-ben"), "{playing:?}");
}

#[test]
fn two_of_one_name_stay_who_they_are() {
    let teacher = Teacher::new();
    let week = |files: &[(&str, &[u8])]| {
        teacher.write("class.zip", &Zip::of(files));
        let run = teacher.league(&["--from", "class.zip"]);
        succeeded(&run);
        run
    };
    let [first, second] = [
        "Alex Kim_103_assignsubmission_file_/bot.sh",
        "Alex Kim_104_assignsubmission_file_/bot.sh",
    ];
    let anna = ("anna/bot.sh", GREEDY);
    week(&[(first, RANDOM), anna]);
    // The other one hands in later.
    let run = week(&[(first, RANDOM), (second, GREEDY), anna]);
    assert!(run.stderr.contains("3 submissions, 1 of them new"), "{run}");
    let (playing, _) = teacher.split();
    assert_eq!(
        playing,
        ["Alex Kim (103)", "Alex Kim (104)", "anna"],
        "{run}"
    );
    // And is alone in a download.
    let run = week(&[(second, GREEDY), anna]);
    assert!(run.stderr.contains("2 submissions, 0 of them new"), "{run}");
}

#[test]
fn a_league_in_its_own_source_is_refused_and_leaves_nothing() {
    let teacher = Teacher::new();
    for name in ["anna", "ben"] {
        teacher.write(&format!("class/{name}/bot.sh"), RANDOM);
    }
    for (folder, source) in [("class/term", "class"), ("class", "class"), ("term", ".")] {
        let options = ["league", folder, "--from", source, "--sandbox", "none"];
        let run = Referee::new(options).directory(teacher.0.path()).run();
        assert_eq!(run.code, Some(2), "{run}");
        assert!(
            run.stderr
                .contains("is in it and would be taken for a submission"),
            "{run}"
        );
    }
    // Also a folder that is no league stays as it was.
    for words in [&["league", "class"][..], &["league", "final", "class"]] {
        let run = Referee::new(words).directory(teacher.0.path()).run();
        assert_eq!(run.code, Some(2), "{run}");
        assert!(run.stderr.contains("there is no league"), "{run}");
    }
    let left = fs::read_dir(teacher.0.path().join("class")).expect("a folder");
    assert_eq!(left.count(), 2);
}

/// The paths of all files of this name below a folder.
fn named(folder: &Path, name: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            found.extend(named(&path, name));
        } else if entry.file_name() == name {
            found.push(path);
        }
    }
    found
}

/// A student exchanges a folder that has been looked at for a link to another student's.
#[cfg(unix)]
#[test]
fn a_folder_that_becomes_a_link_while_it_is_taken_in_is_not_followed() {
    for (exchanged, program, first) in [
        ("handin/ben/lib", "handin/ben/bot.sh", "handin/ben/a-first"),
        (
            "handin/ben/in",
            "handin/ben/in/bot.sh",
            "handin/anna/a-first",
        ),
    ] {
        let is_done = [4, 16, 64, 256].into_iter().any(|mib| {
            let teacher = Teacher::new();
            let path = |name: &str| teacher.0.path().join(name);
            // It keeps the league busy, which has listed the folders by then.
            let file = teacher.write(first, b"");
            let file = fs::File::options().write(true).open(file).expect("a file");
            file.set_len(mib << 20).expect("a size");
            for program in ["handin/anna/bot.sh", "handin/carla/bot.sh", program] {
                teacher.write(program, RANDOM);
            }
            teacher.write(&format!("{exchanged}/own"), b"1");
            for secret in ["secret/own", "secret/bot.sh"] {
                teacher.write(secret, b"secret");
            }
            fs::create_dir(path("tmp")).expect("a folder");
            let options = ["league", "term", "--sandbox", "none", "--pairs", "1"];
            let running = Referee::new([&options[..], &["--from", "handin"]].concat())
                .env("TMPDIR", path("tmp"))
                .directory(teacher.0.path())
                .start();
            let copies = |name| [named(&path("tmp"), name), named(&path("term"), name)].concat();
            while copies("a-first").is_empty() {
                thread::sleep(Duration::from_micros(100));
            }
            fs::rename(path(exchanged), path("away")).expect("another place");
            std::os::unix::fs::symlink(path("secret"), path(exchanged)).expect("a link");
            let in_time = copies("own").is_empty();
            let run = running.finish();
            let taken = copies("own").into_iter().chain(copies("bot.sh"));
            for copy in taken {
                assert_ne!(
                    fs::read(&copy).expect("a file"),
                    b"secret",
                    "{copy:?}\n{run}"
                );
            }
            let (_, refused) = teacher.split();
            let [(name, problem)] = &refused[..] else {
                return false;
            };
            assert_eq!(name, "ben");
            assert!(problem.contains("link"), "{problem}");
            in_time
        });
        assert!(is_done, "the league was always quicker than {exchanged}");
    }
}

#[cfg(unix)]
#[test]
fn a_link_to_a_submission_counts_when_the_organiser_has_made_it() {
    use std::os::unix::fs::{lchown, symlink};

    let teacher = Teacher::new();
    let path = |name: &str| teacher.0.path().join(name);
    for name in ["handin/anna/bot.sh", "home/bot.sh", "secret/bot.sh"] {
        teacher.write(name, RANDOM);
    }
    symlink("../home", path("handin/ben")).expect("a link");
    symlink("../home/bot.sh", path("handin/carla.sh")).expect("a link");
    let mut foreign = Vec::new();
    if rustix::process::geteuid().is_root() {
        for (name, to) in [("dora", "../secret"), ("emil.sh", "../secret/bot.sh")] {
            symlink(to, path("handin").join(name)).expect("a link");
            lchown(path("handin").join(name), Some(65_534), None).expect("root");
            let problem = "it is a link that another user has made; put the files themselves there";
            let student = name.trim_end_matches(".sh").to_owned();
            foreign.push((student, format!("{name}: {problem}")));
        }
    }
    let run = teacher.league(&["--from", "handin"]);
    succeeded(&run);
    let playing = ["anna", "ben", "carla"].map(str::to_owned).to_vec();
    assert_eq!(teacher.split(), (playing, foreign), "{run}");
}

/// A header of a tar that announces so many bytes.
fn tar_header(kind: tar::EntryType, size: u64) -> tar::Header {
    let mut header = tar::Header::new_gnu();
    header.set_path("bot.sh").expect("a path");
    header.set_entry_type(kind);
    header.set_mode(0o755);
    header.set_size(size);
    header.set_cksum();
    header
}

/// A tar of a bot behind an entry.
fn tar_with(first: &tar::Header, content: &[u8]) -> Vec<u8> {
    let mut tar = tar::Builder::new(Vec::new());
    tar.append(first, content).expect("an entry");
    let bot = tar_header(tar::EntryType::Regular, RANDOM.len() as u64);
    tar.append(&bot, RANDOM).expect("an entry");
    tar.into_inner().expect("a tar")
}

#[test]
fn damaged_and_ambiguous_archives_are_refused_in_words() {
    let mut twice = Zip::of(&[("bot.sh", b"#!/bin/sh\nexit 1\n"), ("bat.sh", RANDOM)]);
    // No writer makes such a zip.
    for at in 0..twice.len() - 6 {
        if twice[at..].starts_with(b"bat.sh") {
            twice[at + 1] = b'o';
        }
    }
    let lzma = |method: u8| {
        let mut zip = Zip::of(&[("bot.sh", RANDOM)]);
        for at in 0..zip.len() - 12 {
            match &zip[at..at + 4] {
                b"PK\x03\x04" => zip[at + 8] = method,
                b"PK\x01\x02" => zip[at + 10] = method,
                _ => {}
            }
        }
        zip
    };
    let no_number = |field: usize| {
        let mut tar = tar_with(&tar_header(tar::EntryType::Regular, 0), b"");
        tar[field..field + 7].copy_from_slice(b"zzzzzzz");
        tar
    };
    let long = vec![b'a'; 2 << 20];
    let long = |kind| tar_with(&tar_header(kind, long.len() as u64), &long);
    let mut short = tar_header(tar::EntryType::Regular, 1 << 20)
        .as_bytes()
        .to_vec();
    short.extend([0; 1000]);
    let tar = "it is not a tar archive, or only part of one";
    let archives = [
        ("twice.zip", twice, "two of its files have one name"),
        (
            "lzma.zip",
            lzma(14),
            "it is compressed with Lzma, which is not read",
        ),
        ("zstd.zip", lzma(93), "make the archive again with Deflate"),
        ("size.tar", no_number(124), tar),
        ("sum.tar", no_number(148), tar),
        ("short.tar", short, tar),
        ("text.tar", b"hello".repeat(200), tar),
        (
            "gzip.tgz",
            b"hello".to_vec(),
            "it is not a tar archive compressed with gzip, or only part of one",
        ),
        (
            "name.tar",
            long(tar::EntryType::GNULongName),
            "a header in it is longer than 1 MiB",
        ),
        (
            "link.tar",
            long(tar::EntryType::GNULongLink),
            "a header in it is longer than 1 MiB",
        ),
        (
            "global.tar",
            long(tar::EntryType::XGlobalHeader),
            "a header in it is longer than 1 MiB",
        ),
        (
            "pax.tar",
            long(tar::EntryType::XHeader),
            "a header in it is longer than 1 MiB",
        ),
    ];
    let teacher = Teacher::new();
    teacher.write("class/anna/bot.sh", RANDOM);
    teacher.write("class/ben/bot.sh", RANDOM);
    for (name, content, _) in &archives {
        teacher.write(&format!("class/{name}"), content);
        teacher.write(name, content);
    }
    let run = teacher.league(&["--from", "class"]);
    succeeded(&run);
    let (playing, refused) = teacher.split();
    assert_eq!(playing, ["anna", "ben"], "{run}");
    for (name, _, words) in &archives {
        let is_it = |(_, problem): &&(_, String)| problem.starts_with(&format!("{name}: "));
        let problem = refused.iter().find(is_it);
        assert!(
            problem.is_some_and(|(_, problem)| problem.contains(words)),
            "{name}: {refused:?}"
        );
        if words.contains("Lzma") || words.contains("Deflate") {
            continue;
        }
        // As the archive of a class.
        let run = teacher.league(&["--from", name]);
        assert_eq!(run.code, Some(2), "{run}");
        assert!(run.stderr.contains(words), "{name}: {run}");
    }
}
