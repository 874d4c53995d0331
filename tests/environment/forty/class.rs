//! The people, what their lists say, and what they submit.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{Cursor, Write as _};
use std::path::Path;
use std::time::{Duration, SystemTime};

use flate2::Compression;
use flate2::write::GzEncoder;
use libtest_mimic::Failed;
use zip::DateTime;
use zip::ZipWriter;
use zip::write::SimpleFileOptions;

use super::programs::{BABBLES, CHEATS, GONE, LEAVES, WRONG, bot, steady};

pub(super) const WEEKS: usize = 3;

/// The first second of 2026.
const NEW_YEAR: i64 = 1_767_225_600;

const HOUR: i64 = 3600;

/// Of the three weeks: when all is handed in that is in time, and the deadline.
const HANDED_IN: [i64; WEEKS] = [at(8, 12), at(15, 12), at(22, 12)];
pub(super) const DEADLINES: [i64; WEEKS] = [at(9, 12), at(16, 12), at(23, 12)];

/// Versions play that are late by up to so many hours.
pub(super) const ACCEPT_LATE: i64 = 48;

/// The list of the first week: name, id, address, team.
const CLASS: [[&str; 4]; 41] = [
    ["Ada Abel", "1000001", "", ""],
    ["Ben Bach", "1000002", "ben@x.org", ""],
    ["Cem Can", "1000003", "", ""],
    // Renamed in the list, and a week later in the download.
    ["Dana Diaz", "1000004", "", ""],
    // The other way round.
    ["Eve Evans", "1000005", "", ""],
    // A team that breaks up; one of the two has submitted nothing.
    ["Finn Fox", "1000006", "", "owls"],
    ["Gül Gök", "1000007", "", "owls"],
    // A team that forms, and gets another name.
    ["Hana Hadi", "1000008", "", ""],
    ["Ida Ivens", "1000009", "", ""],
    ["Jan Jones", "1000010", "", ""],
    ["Jan Jones", "1000011", "", ""],
    // Of these one submits from the second week on.
    ["Kim Lee", "1000012", "", ""],
    ["Kim Lee", "1000013", "", ""],
    // Submits in the team's name.
    ["Lea Lang", "", "lea@x.org", "eagles"],
    ["Mia Maas", "", "mia@x.org", "eagles"],
    // Nobody can tell them apart until the list does.
    ["Noa Nagy", "", "noa.1@x.org", ""],
    ["Noa Nagy", "", "noa.2@x.org", ""],
    // Never submits.
    ["Otto Ohm", "1000018", "", ""],
    // Found by addresses.
    ["Petra Pohl", "", "petra.pohl@x.org", ""],
    ["Quin Quist", "", "quin@x.org", ""],
    // Found by name, until another one of the name comes.
    ["Rob Roy", "", "rob@x.org", ""],
    // Composed and decomposed.
    ["José Cruz", "1000022", "", ""],
    ["René", "", "rene.1@x.org", ""],
    ["Rene", "1000024", "rene.2@x.org", ""],
    ["Tom Tal", "", "tom@x.org", ""],
    // An id that is a word.
    ["Uma Ude", "uude", "", ""],
    // Late by more and more.
    ["Vera Volk", "1000027", "", ""],
    ["Walt Wulf", "1000028", "", ""],
    ["Xena Xu", "1000029", "", ""],
    ["Yan Yilmaz", "1000030", "", ""],
    ["Zoe Zorn", "1000031", "", ""],
    // Has the same program as Ada.
    ["Amy Adler", "1000032", "", ""],
    // Nothing that can be used.
    ["Bob Boer", "1000033", "", ""],
    ["Cleo Christ", "1000034", "", ""],
    ["Dirk Dahl", "1000035", "", ""],
    // Now and then gone, or wrong.
    ["Elsa Ernst", "1000036", "", ""],
    ["Fred Funk", "1000037", "", ""],
    // Withdrawn, and brought back.
    ["Gina Gruber", "1000038", "", ""],
    // Leaves the list.
    ["Hugo Haas", "1000039", "", ""],
    ["Maria Sanchez", "1000040", "", ""],
    // Nothing of this name can be seen: no row.
    ["\u{2003}", "1000051", "", ""],
];

const NAME: usize = 0;
const TEAM: usize = 3;
const SUBMISSION: usize = 4;

pub(super) type List = Vec<[String; 5]>;

/// Noon of days of January, and other hours.
const fn at(day: i64, hour: i64) -> i64 {
    NEW_YEAR + (day - 1) * 24 * HOUR + hour * HOUR
}

/// The list of a week.
pub(super) fn list_of(week: usize) -> List {
    let row = |[name, id, email, team]: [&str; 4]| [name, id, email, team, ""].map(str::to_owned);
    let mut list: List = CLASS.into_iter().map(row).collect();
    let mut set = |who: &str, column: usize, value: &str| {
        let of = |row: &&mut [String; 5]| row[1] == who || row[2] == who;
        for row in list.iter_mut().filter(of) {
            value.clone_into(&mut row[column]);
        }
    };
    if week >= 1 {
        set("1000004", NAME, "Dana Diaz-Ruiz");
        for (who, team) in [
            ("1000006", ""),
            ("1000007", ""),
            ("1000008", "foxes"),
            ("1000009", "foxes"),
        ] {
            set(who, TEAM, team);
        }
    }
    match week {
        1 => {
            // The other way round than the numbers.
            set("noa.1@x.org", SUBMISSION, "1000017");
            set("noa.2@x.org", SUBMISSION, "1000016");
        }
        2 => {
            set("1000005", NAME, "Eve Evans-Ott");
            for (who, team) in [
                ("1000008", "wolves"),
                ("1000009", "wolves"),
                ("lea@x.org", "sea eagles"),
                ("mia@x.org", "sea eagles"),
            ] {
                set(who, TEAM, team);
            }
            set("rob@x.org", SUBMISSION, "1000021");
            list.retain(|row| row[1] != "1000039");
            list.push(row(["Tom Tal", "1000050", "", ""]));
        }
        _ => {}
    }
    if week >= 1 {
        list.push(row(["Una Unger", "1000041", "", ""]));
    }
    list
}

/// As CSV; in the last week as spreadsheets of some countries write Moodle's list.
pub(super) fn list_text(list: &List, week: usize) -> String {
    let (heads, separator) = match week {
        2 => (
            "\u{feff}Full name;ID number;Email address;Group;Submission",
            ";",
        ),
        _ => ("name,id,email,team,submission", ","),
    };
    let rows = list.iter().map(|row| row.join(separator));
    let lines: Vec<String> = std::iter::once(heads.to_owned()).chain(rows).collect();
    lines.join("\n") + "\n"
}

#[derive(Clone)]
struct Entry {
    name: String,
    files: Vec<(String, Vec<u8>)>,
    /// Seconds since 1970.
    time: i64,
}

fn moodle(name: &str, number: &str) -> String {
    format!("{name}_{number}_assignsubmission_file_")
}

/// The newest of everybody, by what the test calls them.
#[derive(Default)]
pub(super) struct Entries(BTreeMap<String, Entry>);

impl Entries {
    fn put(&mut self, who: &str, name: impl Into<String>, text: impl AsRef<[u8]>, time: i64) {
        let files = vec![("bot.sh".to_owned(), text.as_ref().to_vec())];
        self.put_files(who, name, files, time);
    }

    fn put_files(
        &mut self,
        who: &str,
        name: impl Into<String>,
        files: Vec<(String, Vec<u8>)>,
        time: i64,
    ) {
        let name = name.into();
        self.0.insert(who.to_owned(), Entry { name, files, time });
    }

    /// Under another name.
    fn rename(&mut self, who: &str, name: impl Into<String>) {
        if let Some(entry) = self.0.get_mut(who) {
            entry.name = name.into();
        }
    }

    pub(super) fn zip(&self, path: &Path) -> Result<(), Failed> {
        fs::write(
            path,
            zipped(self.0.values().map(|entry| (&*entry.name, entry)))?,
        )?;
        Ok(())
    }

    pub(super) fn tar(&self, path: &Path) -> Result<(), Failed> {
        let mut tar = tar::Builder::new(GzEncoder::new(File::create(path)?, Compression::fast()));
        for entry in self.0.values() {
            for (name, content) in &entry.files {
                let mut header = tar::Header::new_gnu();
                header.set_size(content.len() as u64);
                header.set_mode(0o644);
                header.set_mtime(u64::try_from(entry.time)?);
                let place = format!("{}{name}", with_slash(&entry.name));
                tar.append_data(&mut header, place, &**content)?;
            }
        }
        tar.into_inner()?.finish()?;
        Ok(())
    }

    pub(super) fn folder(&self, path: &Path) -> Result<(), Failed> {
        for entry in self.0.values() {
            for (name, content) in &entry.files {
                let place = path.join(format!("{}{name}", with_slash(&entry.name)));
                fs::create_dir_all(place.parent().ok_or("a folder")?)?;
                let mut file = File::create(place)?;
                file.write_all(content)?;
                let seconds = u64::try_from(entry.time)?;
                file.set_modified(SystemTime::UNIX_EPOCH + Duration::from_secs(seconds))?;
            }
        }
        Ok(())
    }
}

/// An entry without files of its own is one file.
fn with_slash(name: &str) -> String {
    if name.is_empty() {
        String::new()
    } else {
        format!("{name}/")
    }
}

/// An archive of folders with these names.
fn zipped<'a>(entries: impl Iterator<Item = (&'a str, &'a Entry)>) -> Result<Vec<u8>, Failed> {
    let mut zip = ZipWriter::new(Cursor::default());
    for (folder, entry) in entries {
        let day = entry.time - NEW_YEAR;
        let [days, hours, minutes, seconds] = [
            1 + day / 24 / HOUR,
            day / HOUR % 24,
            day / 60 % 60,
            day % 60,
        ]
        .map(|part| u8::try_from(part).unwrap_or_default());
        let time = DateTime::from_date_and_time(2026, 1, days, hours, minutes, seconds)?;
        let options = SimpleFileOptions::default().last_modified_time(time);
        if entry.files.is_empty() {
            zip.add_directory(folder, options)?;
        }
        for (name, content) in &entry.files {
            zip.start_file(format!("{}{name}", with_slash(folder)), options)?;
            zip.write_all(content)?;
        }
    }
    Ok(zip.finish()?.into_inner())
}

/// An archive of a bot in a folder, as a student makes it.
fn archive(text: &str, time: i64) -> Result<Vec<u8>, Failed> {
    let files = vec![("my bot/bot.sh".to_owned(), text.as_bytes().to_vec())];
    let name = String::new();
    zipped(std::iter::once(("", &Entry { name, files, time })))
}

/// What everybody submits in a week, on top of what was there.
pub(super) fn submit(week: usize, entries: &mut Entries) -> Result<(), Failed> {
    let now = HANDED_IN[week];
    match week {
        0 => first_week(entries, now),
        1 => second_week(entries, now, DEADLINES[week]),
        _ => {
            third_week(entries, now, DEADLINES[week]);
            Ok(())
        }
    }
}

fn first_week(entries: &mut Entries, now: i64) -> Result<(), Failed> {
    for (number, [name, id, ..]) in CLASS.into_iter().enumerate() {
        let is_number = id.starts_with("10000");
        let absent = ["1000007", "1000013", "1000018", "1000051"];
        if is_number && !absent.contains(&id) {
            entries.put(id, moodle(name, id), bot(number, name), now);
        }
    }
    let mut put = |who: &str, name: String, number: usize| {
        entries.put(who, name, bot(number, who), now);
    };
    put("eagles", "eagles".into(), 41);
    put("noa 1", moodle("Noa Nagy", "1000016"), 42);
    put("noa 2", moodle("Noa Nagy", "1000017"), 43);
    put("quin", "quin@x.org".into(), 44);
    put("rob", moodle("Rob Roy", "1000021"), 45);
    put("rené", "Rene\u{301}".into(), 46);
    put("tom", "quarto-tom-tal".into(), 47);
    put("uma", "uude".into(), 49);
    // Whom the list does not know; of these one has the name of one whom it knows.
    put("maria", moodle("Maria Sanchez", "2000001"), 50);
    put("una", moodle("Una Unger", "1000041"), 51);
    put("1000022", moodle("Jose\u{301} Cruz", "1000022"), 22);
    let petra = archive(&bot(53, "petra"), now)?;
    let petra = vec![("petra.pohl.zip".to_owned(), petra)];
    entries.put_files("petra", "", petra, now);
    entries.put(
        "1000032",
        moodle("Amy Adler", "1000032"),
        bot(0, "Ada Abel"),
        now,
    );
    entries.put_files("1000033", moodle("Bob Boer", "1000033"), vec![], now);
    entries.put("1000034", moodle("Cleo Christ", "1000034"), GONE, now);
    let leaves = steady(36, "Elsa", LEAVES);
    entries.put("1000036", moodle("Elsa Ernst", "1000036"), leaves, now);
    let cheats = steady(37, "Fred", CHEATS);
    entries.put("1000037", moodle("Fred Funk", "1000037"), cheats, now);
    Ok(())
}

fn second_week(entries: &mut Entries, now: i64, deadline: i64) -> Result<(), Failed> {
    let mut put = |id: &str, name: &str, number: usize, time: i64| {
        entries.put(id, moodle(name, id), bot(number, "second"), time);
    };
    put("1000001", "Ada Abel", 61, now);
    put("1000005", "Eve Evans-Ott", 62, now);
    put("1000006", "Finn Fox", 63, now);
    put("1000008", "Hana Hadi", 65, now);
    put("1000013", "Kim Lee", 66, now);
    put("1000034", "Cleo Christ", 67, now);
    put("1000099", "Rob Roy", 69, now);
    for (id, name, late) in [
        ("1000027", "Vera Volk", 1),
        ("1000028", "Walt Wulf", HOUR),
        ("1000029", "Xena Xu", HOUR + 1),
        ("1000030", "Yan Yilmaz", 25 * HOUR),
        ("1000031", "Zoe Zorn", (ACCEPT_LATE + 1) * HOUR),
    ] {
        put(id, name, 70 + name.len(), deadline + late);
    }
    entries.rename("1000022", moodle("José Cruz", "1000022"));
    entries.rename("rené", "René");
    // Its name says when: 91 minutes late.
    let petra = archive(&bot(54, "petra"), now)?;
    let petra = vec![("petra.pohl_20260116_1331.zip".to_owned(), petra)];
    entries.put_files("petra", "", petra, now);
    let evil = vec![("../bot.sh".to_owned(), bot(1, "evil").into_bytes())];
    let time = now;
    let name = String::new();
    let evil = zipped(std::iter::once((
        "",
        &Entry {
            name,
            files: evil,
            time,
        },
    )))?;
    let evil = vec![("bot.zip".to_owned(), evil)];
    entries.put_files("1000033", moodle("Bob Boer", "1000033"), evil, now);
    // The version before plays.
    entries.put("1000035", moodle("Dirk Dahl", "1000035"), WRONG, now);
    Ok(())
}

fn third_week(entries: &mut Entries, now: i64, deadline: i64) {
    let mut put = |id: &str, name: &str, number: usize, time: i64| {
        entries.put(id, moodle(name, id), bot(number, "third"), time);
    };
    put("1000007", "Gül Gök", 81, now);
    put("1000009", "Ida Ivens", 82, now + 1);
    put("1000033", "Bob Boer", 83, now);
    put("1000028", "Walt Wulf", 85, deadline + 30 * HOUR);
    put("1000029", "Xena Xu", 86, deadline);
    entries.rename("1000004", moodle("Dana Diaz-Ruiz", "1000004"));
    // As it was in the first week.
    entries.put(
        "1000001",
        moodle("Ada Abel", "1000001"),
        bot(0, "Ada Abel"),
        now,
    );
    let babbles = steady(36, "Elsa", BABBLES);
    entries.put("1000036", moodle("Elsa Ernst", "1000036"), babbles, now);
}
