//! Archives as programs of other systems make them, byte by byte, and names that a shell would run: what comes in is what
//! was packed, and nothing else happens.

use std::fs;
use std::io::Write as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use flate2::write::{DeflateEncoder, GzEncoder};
use flate2::{Compression, Crc};
use tar::{EntryType, Header};

use crate::classroom::{Class, RANDOM, WRONG};
use crate::common::command;

/// The time of what is packed, as seconds since 1970 and as the table of students has it.
const SECONDS: u32 = 1_768_472_430;
const TIME: &str = "2026-01-15T10:20:30Z";

/// As an extra field of zip, with the ids of a user.
const UNIX_TIME: &[u8] =
    b"UT\x05\0\x03\x6e\xbf\x68\x69ux\x0b\0\x01\x04\xe8\x03\0\0\x04\xe8\x03\0\0";

/// How a program writes zip archives.
#[derive(Clone, Copy, Default)]
struct ZipWriter {
    /// 0 is DOS and Windows, 3 is Unix.
    system: u8,
    mode: u32,
    flags: u16,
    is_stored: bool,
    /// Sizes follow the content, as where the archive goes into a pipe.
    has_descriptors: bool,
    has_zip64: bool,
    /// Extra fields of each entry.
    extra: &'static [u8],
    /// Before the first entry, as in an archive that unpacks itself.
    before: &'static [u8],
    comment: &'static [u8],
}

fn two_bytes(number: usize) -> [u8; 2] {
    u16::try_from(number).expect("a small number").to_le_bytes()
}

fn four_bytes(number: usize) -> [u8; 4] {
    u32::try_from(number).expect("a small number").to_le_bytes()
}

/// The flag that says that names are UTF-8.
const UTF_8: u16 = 0x800;

impl ZipWriter {
    fn archive(&self, files: &[(&[u8], &[u8])]) -> Vec<u8> {
        let extra: Vec<&[u8]> = files.iter().map(|_| self.extra).collect();
        self.archive_with(files, &extra)
    }

    /// With extra fields of its own for each entry.
    fn archive_with(&self, files: &[(&[u8], &[u8])], extra: &[&[u8]]) -> Vec<u8> {
        let mut zip = self.before.to_vec();
        let mut directory = Vec::new();
        for ((name, content), extra) in files.iter().zip(extra) {
            let is_folder = name.ends_with(b"/");
            let is_stored = self.is_stored || is_folder;
            let mut crc = Crc::new();
            crc.update(content);
            let packed = if is_stored {
                content.to_vec()
            } else {
                let mut packed = DeflateEncoder::new(Vec::new(), Compression::default());
                packed.write_all(content).expect("content");
                packed.finish().expect("content")
            };
            let has_descriptor = self.has_descriptors && !is_folder;
            let [size, packed_size] = [content.len(), packed.len()].map(|size| size as u64);
            let flags = self.flags | if has_descriptor { 8 } else { 0 };
            // Version, flags, method, time and date.
            let mut common = Vec::new();
            common.extend(if self.has_zip64 { 45_u16 } else { 20 }.to_le_bytes());
            common.extend(flags.to_le_bytes());
            common.extend(if is_stored { 0_u16 } else { 8 }.to_le_bytes());
            common.extend((10_u16 << 11 | 20 << 5 | 15).to_le_bytes());
            common.extend((46_u16 << 9 | 1 << 5 | 15).to_le_bytes());
            let sums = |crc: u32| {
                let short = |size: usize| {
                    if self.has_zip64 {
                        [0xff; 4]
                    } else {
                        four_bytes(size)
                    }
                };
                [crc.to_le_bytes(), short(packed.len()), short(content.len())].concat()
            };
            let mut all_extra = Vec::new();
            if self.has_zip64 {
                all_extra.extend([1, 0, 16, 0]);
                all_extra.extend([size, packed_size].map(u64::to_le_bytes).concat());
            }
            all_extra.extend(*extra);
            let lengths = [name.len(), all_extra.len()].map(two_bytes);
            let place = four_bytes(zip.len() - self.before.len());
            zip.extend(b"PK\x03\x04");
            zip.extend(&common);
            zip.extend(if has_descriptor {
                vec![0; 12]
            } else {
                sums(crc.sum())
            });
            zip.extend(lengths.concat());
            zip.extend(*name);
            zip.extend(&all_extra);
            zip.extend(&packed);
            if has_descriptor {
                zip.extend(b"PK\x07\x08");
                zip.extend(sums(crc.sum()));
            }
            directory.extend(b"PK\x01\x02");
            directory.extend([20, self.system]);
            directory.extend(&common);
            directory.extend(sums(crc.sum()));
            directory.extend(lengths.concat());
            // No comment, disk 0, binary.
            directory.extend([0; 6]);
            let folder = u32::from(is_folder);
            let kind = if is_folder { 0o040_755 } else { self.mode };
            let mode = if self.system == 3 { kind << 16 } else { 0 };
            directory.extend((mode | folder << 4).to_le_bytes());
            directory.extend(place);
            directory.extend(*name);
            directory.extend(&all_extra);
        }
        let place = zip.len() - self.before.len();
        zip.extend(&directory);
        self.end(&mut zip, [files.len(), directory.len(), place]);
        zip
    }

    /// What follows the directory of so many files, which is so long and begins at this place.
    fn end(&self, zip: &mut Vec<u8>, [count, length, place]: [usize; 3]) {
        if self.has_zip64 {
            let end = zip.len() as u64;
            zip.extend(b"PK\x06\x06");
            zip.extend(44_u64.to_le_bytes());
            zip.extend([45, self.system, 45, 0]);
            zip.extend([0; 8]);
            for number in [count, count, length, place] {
                zip.extend((number as u64).to_le_bytes());
            }
            zip.extend(b"PK\x06\x07");
            zip.extend([0; 4]);
            zip.extend(end.to_le_bytes());
            zip.extend(1_u32.to_le_bytes());
        }
        zip.extend(b"PK\x05\x06");
        zip.extend([0; 4]);
        zip.extend([count, count].map(two_bytes).concat());
        zip.extend([length, place].map(four_bytes).concat());
        zip.extend(two_bytes(self.comment.len()));
        zip.extend(self.comment);
    }
}

/// An entry of a tar, with the time of all of them.
fn tar_entry(mut header: Header, kind: EntryType, name: &[u8], content: &[u8]) -> Vec<u8> {
    header.as_old_mut().name[..name.len()].copy_from_slice(name);
    header.set_entry_type(kind);
    header.set_mode(if kind.is_dir() { 0o755 } else { 0o644 });
    header.set_size(content.len() as u64);
    header.set_mtime(SECONDS.into());
    header.set_cksum();
    let mut entry = header.as_bytes().to_vec();
    entry.extend(content);
    entry.resize(entry.len().next_multiple_of(512), 0);
    entry
}

fn gzip(content: &[u8]) -> Vec<u8> {
    let mut gzip = GzEncoder::new(Vec::new(), Compression::default());
    gzip.write_all(content).expect("content");
    gzip.finish().expect("an archive")
}

/// A record of a header that extends others: its length, which counts itself, a key and a value.
fn pax(key: &str, value: &str) -> String {
    let rest = key.len() + value.len() + 3;
    let mut length = rest + 1;
    while length != rest + length.to_string().len() {
        length += 1;
    }
    format!("{length} {key}={value}\n")
}

/// The blocks that end a tar.
const END: [u8; 1024] = [0; 1024];

/// Files below a folder, by their paths.
fn files(folder: &Path, within: &str) -> Vec<String> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        let name = path.file_name().expect("a name").to_string_lossy();
        let name = format!("{within}{name}");
        if path.is_dir() {
            found.extend(files(&path, &format!("{name}/")));
        } else {
            found.push(name);
        }
    }
    found.sort();
    found
}

/// The version that a bot plays with, when it was submitted, and its problem.
fn row_of(class: &Class, name: &str) -> [String; 3] {
    let mut reader = csv::Reader::from_path(class.path("term/students.csv")).expect("a table");
    let mut rows = reader.records().map(|row| row.expect("a row"));
    let row = rows.find(|row| &row[0] == name);
    let row = row.unwrap_or_else(|| panic!("{name} is not in the table"));
    [1, 3, 5].map(|column| row[column].to_owned())
}

const LEAGUE: [&str; 9] = [
    "league",
    "term",
    "--sandbox",
    "none",
    "--seed",
    "3",
    "--pairs",
    "1",
    "--no-check",
];

/// An archive, and the files that come in; or the sentence by which it is refused.
type Case = (
    &'static str,
    Vec<u8>,
    Result<&'static [&'static str], &'static str>,
);

/// A bot and a file of it whose name says how names are written.
const BOT: &[&str] = &["bot.sh", "café.txt"];

#[expect(clippy::too_many_lines, reason = "a table of cases")]
fn zips() -> Vec<Case> {
    let bot = RANDOM.as_bytes();
    let plain: [(&[u8], &[u8]); 2] = [(b"bot.sh", bot), ("café.txt".as_bytes(), b"x")];
    let in_code_page: [(&[u8], &[u8]); 2] = [(b"bot.sh", bot), (b"caf\x82.txt", b"x")];
    let windows = ZipWriter::default();
    let unix = ZipWriter {
        system: 3,
        mode: 0o100_644,
        ..windows
    };
    // The name in UTF-8, beside one in a code page, whose sum it has.
    let mut crc = Crc::new();
    crc.update(b"caf\x82.txt");
    let mut unicode = vec![0x75, 0x70, 14, 0, 1];
    unicode.extend(crc.sum().to_le_bytes());
    unicode.extend("café.txt".as_bytes());
    vec![
        ("explorer.zip", windows.archive(&in_code_page), Ok(BOT)),
        (
            "explorer-of-a-folder.zip",
            windows.archive(&[
                (b"My bot/bot.sh", bot),
                (b"My bot/caf\x82.txt", b"x"),
                (b"My bot/Thumbs.db", b"x"),
                (b"My bot/desktop.ini", b"x"),
            ]),
            Ok(BOT),
        ),
        // With the times of NTFS.
        (
            "explorer-of-today.zip",
            ZipWriter {
                flags: UTF_8,
                extra: b"\x0a\0\x20\0\0\0\0\0\x01\0\x18\0\
                    \0\xab\x18\x93\x08\x86\xdc\x01\0\xab\x18\x93\x08\x86\xdc\x01\0\xab\x18\x93\x08\x86\xdc\x01",
                ..windows
            }
            .archive(&plain),
            Ok(BOT),
        ),
        (
            "powershell.zip",
            windows.archive(&[(b"My bot\\bot.sh", bot)]),
            Err("its path has a backslash"),
        ),
        (
            "info-zip-of-windows.zip",
            windows.archive_with(&in_code_page, &[b"", &unicode]),
            Ok(BOT),
        ),
        // The time of day of another zone beside seconds since 1970, and the ids of the user.
        (
            "info-zip.zip",
            ZipWriter {
                mode: 0o100_755,
extra: UNIX_TIME,
                flags: UTF_8,
                ..unix
            }
            .archive(&plain),
            Ok(BOT),
        ),
        // Names are UTF-8 without a word of it.
        (
            "finder.zip",
            ZipWriter {
                has_descriptors: true,
                extra: b"UX\x08\0\x6e\xbf\x68\x69\x6e\xbf\x68\x69",
                ..unix
            }
            .archive(&[
                (b"My bot/", b""),
                (b"My bot/.DS_Store", b"x"),
                (b"__MACOSX/", b""),
                (b"__MACOSX/My bot/", b""),
                (b"__MACOSX/My bot/._.DS_Store", b"\0\x05\x16\x07"),
                (b"My bot/bot.sh", bot),
                (b"__MACOSX/My bot/._bot.sh", b"\0\x05\x16\x07"),
                ("My bot/cafe\u{301}.txt".as_bytes(), b"x"),
            ]),
            Ok(&["bot.sh", "cafe\u{301}.txt"]),
        ),
        (
            "java.zip",
            ZipWriter {
                has_descriptors: true,
                flags: UTF_8,
                ..windows
            }
            .archive_with(
                &[
                    (b"META-INF/", b""),
                    (b"META-INF/MANIFEST.MF", b"Manifest-Version: 1.0\r\n"),
                    (b"bot.sh", bot),
                ],
                &[b"\xfe\xca\0\0", b"", b""],
            ),
            Ok(&["META-INF/MANIFEST.MF", "bot.sh"]),
        ),
        (
            "zip64.zip",
            ZipWriter {
                has_zip64: true,
                flags: UTF_8,
                ..unix
            }
            .archive(&plain),
            Ok(BOT),
        ),
        (
            "unpacks-itself.zip",
            ZipWriter {
                is_stored: true,
                before: b"MZ this program unpacks itself",
                comment: b"made by a trial version",
                ..windows
            }
            .archive(&in_code_page),
            Ok(BOT),
        ),
        (
            "of-a-path.zip",
            ZipWriter {
                flags: UTF_8,
                ..unix
            }
            .archive(&[
                (b"./", b""),
                (b"./src/", b""),
                (b"./src/bot/", b""),
                (b"./src/bot/bot.sh", bot),
                ("./src/bot/café.txt".as_bytes(), b"x"),
            ]),
            Ok(BOT),
        ),
    ]
}

fn tars() -> Vec<Case> {
    let bot = RANDOM.as_bytes();
    let file = EntryType::Regular;
    let of_gnu =
        |kind, name: &[u8], content: &[u8]| tar_entry(Header::new_gnu(), kind, name, content);
    let of_ustar =
        |kind, name: &[u8], content: &[u8]| tar_entry(Header::new_ustar(), kind, name, content);
    let of_v7 =
        |kind, name: &[u8], content: &[u8]| tar_entry(Header::new_old(), kind, name, content);
    let long = format!("{}/", "long".repeat(30));
    let long_bot = format!("{long}bot.sh\0");
    // A part of the path that does not fit into the name.
    let mut prefixed = Header::new_ustar();
    let prefix = b"students/anna";
    prefixed.as_ustar_mut().expect("ustar").prefix[..prefix.len()].copy_from_slice(prefix);
    let marks = [
        pax("mtime", "1768472430.25"),
        pax("LIBARCHIVE.xattr.com.apple.quarantine", "MDA4MQ"),
    ]
    .concat();
    let with_apple = [
        of_ustar(EntryType::XHeader, b"PaxHeader/bot.sh", marks.as_bytes()),
        of_ustar(file, b"./._bot.sh", b"\0\x05\x16\x07"),
        of_ustar(file, b"./bot.sh", bot),
        of_ustar(
            EntryType::XHeader,
            b"PaxHeader/cafe",
            pax("path", "./café.txt").as_bytes(),
        ),
        of_ustar(file, b"./caf_.txt", b"x"),
        END.to_vec(),
    ];
    let plain = [
        of_gnu(EntryType::Directory, b"./", b""),
        of_gnu(file, b"./bot.sh", bot),
        of_gnu(file, "./café.txt".as_bytes(), b"x"),
    ]
    .concat();
    vec![
        (
            "gnu.tar",
            [
                of_gnu(EntryType::Directory, b"./", b""),
                of_gnu(
                    EntryType::GNULongName,
                    b"././@LongLink",
                    long_bot.as_bytes(),
                ),
                of_gnu(file, &long_bot.as_bytes()[..100], bot),
                END.to_vec(),
                // Filled up to the size of a record.
                vec![0; 6 * 512],
            ]
            .concat(),
            Ok(&["bot.sh"]),
        ),
        ("of-a-mac.tar", with_apple.concat(), Ok(BOT)),
        (
            "ustar.tar.gz",
            gzip(&[tar_entry(prefixed, file, b"bot.sh", bot), END.to_vec()].concat()),
            Ok(&["bot.sh"]),
        ),
        (
            "v7.tar",
            [of_v7(file, b"bot.sh", bot), END.to_vec()].concat(),
            Ok(&["bot.sh"]),
        ),
        (
            "of-git.tgz",
            gzip(
                &[
                    of_ustar(
                        EntryType::XGlobalHeader,
                        b"pax_global_header",
                        pax("comment", "5f2b8a0c").as_bytes(),
                    ),
                    of_ustar(EntryType::Directory, b"bot-5f2b8a0c/", b""),
                    of_ustar(file, b"bot-5f2b8a0c/bot.sh", bot),
                    END.to_vec(),
                ]
                .concat(),
            ),
            Ok(&["bot.sh"]),
        ),
        // Packed in parts at the same time, and without the blocks at the end.
        (
            "in-parts.tar.gz",
            [gzip(&plain[..700]), gzip(&plain[700..])].concat(),
            Ok(BOT),
        ),
    ]
}

#[test]
fn archives_of_other_systems_come_in() {
    let cases = [zips(), tars()].concat();
    let class = Class::of(&[]);
    for (name, archive, _) in &cases {
        fs::create_dir_all(class.path("class")).expect("a folder");
        fs::write(class.path(&format!("class/{name}")), archive).expect("a file");
    }
    let run = class.run(&[&LEAGUE[..], &["--plan", "--from", "class"]].concat());
    for (file, _, expected) in &cases {
        let (name, _) = file.split_once('.').expect("an extension");
        let [version, _, problem] = row_of(&class, name);
        match expected {
            Ok(expected) => {
                assert_eq!(problem, "", "{file}: {run}");
                let folder = class.path(&format!("term/bots/{name}/{version}"));
                assert_eq!(files(&folder, ""), **expected, "{file}: {run}");
                // It can be started, whatever the archive says of it.
                let program = folder.join("bot.sh");
                assert_eq!(
                    fs::read_to_string(&program).expect("a file"),
                    RANDOM,
                    "{file}"
                );
                let mode = fs::metadata(&program).expect("a file").permissions().mode();
                assert_ne!(mode & 0o100, 0, "{file}: {mode:o}");
            }
            Err(sentence) => {
                assert_eq!(version, "", "{file}");
                assert!(problem.contains(sentence), "{file}: {problem}");
            }
        }
    }
}

/// What systems add beside the folder of a class is not a submission of it.
#[test]
fn a_class_that_was_packed_by_another_system_is_a_class() {
    let bot = RANDOM.as_bytes();
    let other = format!("{RANDOM}# another\n");
    let entry = |name: &str, content: &[u8]| {
        let kind = if name.ends_with('/') {
            EntryType::Directory
        } else {
            EntryType::Regular
        };
        tar_entry(Header::new_ustar(), kind, name.as_bytes(), content)
    };
    let apple = b"\0\x05\x16\x07";
    let of_a_mac = [
        entry("./._class", apple),
        entry("class/", b""),
        entry("class/._anna", apple),
        entry("class/anna/", b""),
        entry("class/anna/._bot.sh", apple),
        entry("class/anna/bot.sh", bot),
        entry("class/ben/bot.sh", other.as_bytes()),
        END.to_vec(),
    ];
    let of_windows = ZipWriter::default().archive(&[
        (b"desktop.ini", b"x"),
        (b"class/desktop.ini", b"x"),
        (b"class/Thumbs.db", b"x"),
        (b"class/anna/bot.sh", bot),
        (b"class/ben/bot.sh", other.as_bytes()),
    ]);
    let of_linux = ZipWriter {
        system: 3,
        mode: 0o100_755,
        extra: UNIX_TIME,
        ..ZipWriter::default()
    };
    let of_linux = of_linux.archive(&[
        (b"class/", b""),
        (b"class/anna/", b""),
        (b"class/anna/bot.sh", bot),
        (b"class/ben/bot.sh", other.as_bytes()),
    ]);
    // Only the time of DOS needs the zone.
    for (name, archive, time) in [
        ("class.tar", of_a_mac.concat(), TIME),
        ("class.zip", of_linux, TIME),
        ("class.zip", of_windows, "2026-01-15T05:20:30Z"),
    ] {
        let class = Class::of(&[]);
        fs::write(class.path(name), archive).expect("a file");
        let options = ["--plan", "--from", name, "--zone", "+05:00"];
        let run = class.run(&[&LEAGUE[..], &options].concat());
        assert!(
            run.stderr.contains("2 submissions, 2 of them new"),
            "{name}: {run}"
        );
        for student in ["anna", "ben"] {
            let [version, received, problem] = row_of(&class, student);
            assert_eq!(received, time, "{name}: {run}");
            let folder = class.path(&format!("term/bots/{student}/{version}"));
            assert_eq!(
                (files(&folder, ""), &*problem),
                (vec!["bot.sh".to_owned()], ""),
                "{name}"
            );
        }
    }
}

/// Names that a shell would run, a command would take for an option, or that stand for other files. Each makes `ran` where it
/// is run.
const NAMES: [&str; 18] = [
    "$(touch ran)",
    "`touch ran`",
    ";touch ran;",
    "|touch ran",
    "&touch ran&",
    "\"; touch ran; \"",
    "'; touch ran; '",
    "a\ntouch ran\n",
    ">ran",
    "$IFS$(touch${IFS}ran)",
    "-rf",
    "--out=ran",
    "~",
    "$HOME",
    "*",
    "%s%n",
    "!!",
    "{a,b}",
];

#[test]
fn names_that_a_shell_would_run_are_names() {
    let class = Class::of(&[("class/anna/bot.sh", RANDOM), ("class/ben/bot.sh", RANDOM)]);
    for (number, name) in NAMES.iter().enumerate() {
        let bot = format!("{WRONG}# {number}\n");
        // Some are archives, some are single programs.
        match number % 3 {
            0 => class.write(&format!("class/{name}/bot.sh"), &bot),
            1 => class.write(&format!("class/{name}.sh"), &bot),
            _ => {
                let zip = ZipWriter::default();
                let inner = format!("{name}.sh");
                let zip = zip.archive(&[(inner.as_bytes(), bot.as_bytes())]);
                fs::write(class.path(&format!("class/{name}.zip")), zip).expect("a file");
            }
        }
    }
    let ran = || {
        let mut found = vec![class.path("")];
        let mut all: Vec<PathBuf> = Vec::new();
        while let Some(folder) = found.pop() {
            for entry in fs::read_dir(folder).expect("a folder") {
                let path = entry.expect("an entry").path();
                if path.is_dir() {
                    found.push(path.clone());
                }
                if path.is_file() && path.ends_with("ran") {
                    all.push(path);
                }
            }
        }
        all
    };
    let league: Vec<&str> = LEAGUE
        .into_iter()
        .filter(|word| *word != "--no-check")
        .collect();
    class.run(&[&league[..], &["--from", "class"]].concat());
    let check = class
        .referee(&["check", "--each", "class", "--sandbox", "none"])
        .run();
    assert_eq!(check.code, Some(3), "{check}");
    class.run(&["report", "term", "--each", "pages"]);
    assert_eq!(ran(), Vec::<PathBuf>::new());
    let mut reader = csv::Reader::from_path(class.path("term/students.csv")).expect("a table");
    let rows: Vec<csv::StringRecord> = reader.records().map(|row| row.expect("a row")).collect();
    assert_eq!(rows.len(), NAMES.len() + 2, "{rows:?}");
    let refused = rows.iter().filter(|row| row[1].is_empty());
    // What a teacher copies from the table asks that bot, and nothing more.
    let mut asked = 0;
    for row in refused {
        let (_, again) = row[5].split_once("; See it again: ").expect("a command");
        let output = command("sh")
            .args(["-c", again])
            .current_dir(class.path(""))
            .output()
            .expect("sh starts");
        assert_eq!(
            String::from_utf8_lossy(&output.stdout),
            "hello\n",
            "{again}: {output:?}"
        );
        asked += 1;
    }
    assert_eq!(asked, NAMES.len(), "{rows:?}");
    assert_eq!(ran(), Vec::<PathBuf>::new());
}
