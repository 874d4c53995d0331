//! Repositories that were made to harm their reader: each is refused, or harms only itself, and the league goes on.

use std::fs::{self, File};
use std::io::Write as _;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use flate2::write::ZlibEncoder;
use flate2::{Compress, Compression, FlushCompress};
use libtest_mimic::{Failed, Trial};
use tempfile::TempDir;

use crate::common::Referee;
use crate::requirements::{program, unavailable};

const BOT: &str = "#!/bin/sh\nexec \"$REFEREE_BIN\" bot random\n";

/// Seconds and a zone, as commits have them: in January 2026.
const TIME: &str = "1767355200 +0000";

/// A repository of a student in a class, beside that of `anna`.
struct Repository(PathBuf);

type Made = Result<(), Failed>;

impl Repository {
    fn new(class: &Path, name: &str) -> Result<Self, Failed> {
        let this = Self(class.join(name));
        fs::create_dir_all(&this.0)?;
        this.git(&["init", "-q", "-b", "main"], b"")?;
        Ok(this)
    }

    fn git(&self, arguments: &[&str], input: &[u8]) -> Result<String, Failed> {
        let mut git = Command::new("git");
        git.current_dir(&self.0).args(arguments);
        git.env("GIT_CONFIG_GLOBAL", "/dev/null");
        git.env("GIT_CONFIG_SYSTEM", "/dev/null");
        let piped = git.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = piped.spawn()?;
        child.stdin.take().ok_or("no pipe")?.write_all(input)?;
        let output = child.wait_with_output()?;
        if !output.status.success() {
            return Err(format!("git {arguments:?}: {output:?}").into());
        }
        Ok(String::from_utf8(output.stdout)?.trim().to_owned())
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.join(".git").join(name)
    }

    fn write(&self, name: &str, content: impl AsRef<[u8]>) -> Made {
        let path = self.path(name);
        fs::create_dir_all(path.parent().ok_or("no folder")?)?;
        Ok(fs::write(path, content)?)
    }

    /// Adds an object, whatever is wrong with it.
    fn add(&self, kind: &str, content: &[u8]) -> Result<String, Failed> {
        let words = ["hash-object", "-t", kind, "-w", "--stdin", "--literally"];
        self.git(&words, content)
    }

    /// Adds an object under a name that it has not got: so many times this digit. `zeros` follow it.
    fn lie(
        &self,
        digit: char,
        header: &str,
        content: &[u8],
        zeros: usize,
    ) -> Result<String, Failed> {
        let id = String::from(digit).repeat(40);
        let path = self.path(&format!("objects/{}/{}", &id[..2], &id[2..]));
        fs::create_dir_all(path.parent().ok_or("no folder")?)?;
        let mut file = ZlibEncoder::new(File::create(path)?, Compression::fast());
        file.write_all(&[header.as_bytes(), &b"\0"[..], content].concat())?;
        if zeros == 0 {
            file.finish()?;
            return Ok(id);
        }
        file.flush()?;
        // What ends on a whole byte can be repeated.
        let mut block = Vec::with_capacity(1 << 16);
        let mib = vec![0; 1 << 20];
        Compress::new(Compression::best(), false).compress_vec(
            &mib,
            &mut block,
            FlushCompress::Full,
        )?;
        let file = file.get_mut();
        for _ in 0..zeros >> 20 {
            file.write_all(&block)?;
        }
        Ok(id)
    }

    fn file(&self) -> Result<String, Failed> {
        let name = self.0.file_name().unwrap_or_default().to_string_lossy();
        self.add("blob", format!("{BOT}# {name}\n").as_bytes())
    }

    fn folder(&self, entries: &[(&str, &str, &str)]) -> Result<String, Failed> {
        self.add("tree", &tree(entries))
    }

    fn commit(&self, folder: &str, parents: &str, time: &str) -> Result<String, Failed> {
        let text = commit(folder, parents, time);
        self.add("commit", text.as_bytes())
    }

    fn check_out(&self, commit: &str) -> Made {
        self.write("refs/heads/main", format!("{commit}\n"))
    }

    /// What every student hands in.
    fn honest(&self) -> Result<&Self, Failed> {
        let folder = self.folder(&[("100755", "bot.sh", &self.file()?)])?;
        self.check_out(&self.commit(&folder, "", TIME)?)?;
        Ok(self)
    }

    /// One whose only commit has these entries.
    fn with(&self, entries: &[(&str, &str, &str)]) -> Made {
        self.check_out(&self.commit(&self.folder(entries)?, "", TIME)?)
    }
}

/// The content of a folder.
fn tree(entries: &[(&str, &str, &str)]) -> Vec<u8> {
    let mut content = Vec::new();
    for (mode, name, id) in entries {
        content.extend(format!("{mode} {name}\0").bytes());
        let byte = |at| u8::from_str_radix(&id[at..at + 2], 16).unwrap_or(0);
        content.extend((0..40).step_by(2).map(byte));
    }
    content
}

fn commit(folder: &str, parents: &str, time: &str) -> String {
    format!("tree {folder}\n{parents}author a <a@x> {time}\ncommitter a <a@x> {time}\n\n.\n")
}

/// Folders in folders, 300 in each: more than 10²⁹ in 14 objects.
fn nested(this: &Repository, inner: &str, name: Option<&str>) -> Made {
    let mut folder = inner.to_owned();
    for _ in 0..12 {
        let names: Vec<String> = (0..300).map(|number| format!("{number:03}")).collect();
        let names = names.iter().map(|own| name.unwrap_or(own));
        let entries: Vec<_> = names.map(|name| ("40000", name, &*folder)).collect();
        folder = this.folder(&entries)?;
    }
    this.check_out(&this.commit(&folder, "", TIME)?)
}

/// Makes anna's repository the one that another takes its objects from.
fn checks_out_annas(this: &Repository) -> Made {
    let commit = fs::read(this.0.with_file_name("anna").join(".git/refs/heads/main"))?;
    this.write("refs/heads/main", commit)
}

const ELSEWHERE: &str = "its commits are not in this folder";
const DAMAGED: &str = "this Git repository is damaged";
const NOT_COPIED: &str = "this Git repository cannot be copied";
const MANY: &str = "there are more than 5000 files";

type Make = fn(&Repository) -> Made;

type Attack = (&'static str, &'static str, Make);

/// What is handed in, and how the reason begins for which it is refused; nothing if it plays.
const ATTACKS: &[Attack] = &[
    ("trees", MANY, |this| nested(this, &this.folder(&[])?, None)),
    ("left-out-trees", "nothing was handed in", |this| {
        nested(this, &this.folder(&[])?, Some("__MACOSX"))
    }),
    (
        "self-tree",
        "there are more than 64 folders in one another",
        |this| {
            let own = "1".repeat(40);
            let content = tree(&[("40000", "a", &own), ("40000", "b", &own)]);
            let own = this.lie('1', &format!("tree {}", content.len()), &content, 0)?;
            this.check_out(&this.commit(&own, "", TIME)?)
        },
    ),
    ("wide", MANY, |this| {
        let file = this.file()?;
        let names: Vec<String> = (0..50_000).map(|number| format!("{number:06}")).collect();
        let entries: Vec<_> = names
            .iter()
            .map(|name| ("100644", &**name, &*file))
            .collect();
        this.with(&entries)
    }),
    ("commit-bomb", DAMAGED, |this| {
        let text = commit(
            &this.folder(&[("100755", "bot.sh", &this.file()?)])?,
            "",
            TIME,
        );
        let zeros = 4 << 30;
        let header = format!("commit {}", text.len() + zeros);
        this.check_out(&this.lie('2', &header, text.as_bytes(), zeros)?)
    }),
    ("tree-bomb", MANY, |this| {
        let content = tree(&[("100755", "bot.sh", &this.file()?)]);
        let zeros = 4 << 30;
        let header = format!("tree {}", content.len() + zeros);
        let folder = this.lie('3', &header, &content, zeros)?;
        this.check_out(&this.commit(&folder, "", TIME)?)
    }),
    ("blob-bomb", "there are more than 64 MB", |this| {
        let zeros = 4 << 30;
        let file = this.lie('4', &format!("blob {zeros}"), b"", zeros)?;
        this.with(&[("100755", "bot.sh", &this.file()?), ("100644", "z", &file)])
    }),
    ("lying-blob", "", |this| {
        let file = this.lie('5', "blob 10", b"", 4 << 30)?;
        this.with(&[("100755", "bot.sh", &this.file()?), ("100644", "z", &file)])
    }),
    ("parent-loop", "", |this| {
        let own = "6".repeat(40);
        let folder = this.folder(&[("100755", "bot.sh", &this.file()?)])?;
        let text = commit(&folder, &format!("parent {own}\n"), TIME);
        this.check_out(&this.lie('6', &format!("commit {}", text.len()), text.as_bytes(), 0)?)
    }),
    ("quoted-alternates", ELSEWHERE, |this| {
        let objects = this.0.with_file_name("anna").join(".git/objects");
        this.write(
            "objects/info/alternates",
            format!("\"{}\"\n", objects.display()),
        )?;
        checks_out_annas(this)
    }),
    ("torn-alternates", ELSEWHERE, |this| {
        let objects = this.0.with_file_name("anna").join(".git/objects");
        let line = format!("{}\n", objects.display());
        this.write(
            "objects/info/alternates",
            [b"# \xff\n", line.as_bytes()].concat(),
        )?;
        checks_out_annas(this)
    }),
    ("http-alternates", "", |this| {
        this.honest()?
            .write("objects/info/http-alternates", "http://127.0.0.1:9/\n")
    }),
    ("gitdir", ELSEWHERE, |this| {
        fs::remove_dir_all(this.path(""))?;
        Ok(fs::write(this.0.join(".git"), "gitdir: ../anna/.git\n")?)
    }),
    ("linked", ELSEWHERE, |this| {
        fs::remove_dir_all(this.path(""))?;
        Ok(symlink("../anna/.git", this.0.join(".git"))?)
    }),
    ("commondir", ELSEWHERE, |this| {
        this.write("commondir", "../../anna/.git\n")
    }),
    ("linked-objects", ELSEWHERE, |this| {
        fs::remove_dir_all(this.path("objects"))?;
        symlink("../../anna/.git/objects", this.path("objects"))?;
        checks_out_annas(this)
    }),
    ("linked-folders", NOT_COPIED, |this| {
        for entry in fs::read_dir(this.0.with_file_name("anna").join(".git/objects"))? {
            let name = entry?.file_name();
            let path = this.path("objects").join(&name);
            if !path.exists() {
                symlink(Path::new("../../../anna/.git/objects").join(name), path)?;
            }
        }
        checks_out_annas(this)
    }),
    // Links of Python's environments may lead out of a bot's folder.
    ("linked-as-python", ELSEWHERE, |this| {
        let anna = Repository(this.0.with_file_name("anna"));
        anna.git(&["-c", "gc.auto=0", "repack", "-q", "-a"], b"")?;
        this.write("objects/pyvenv.cfg", "home = /usr/bin\n")?;
        for entry in fs::read_dir(anna.path("objects/pack"))? {
            let pack = entry?.path().canonicalize()?;
            let end = pack.extension().unwrap_or_default().to_string_lossy();
            symlink(
                &pack,
                this.path("objects/pack").join(format!("python.{end}")),
            )?;
        }
        checks_out_annas(this)
    }),
    ("head-out", DAMAGED, |this| {
        this.write("HEAD", "ref: ../../anna/.git/refs/heads/main\n")
    }),
    ("head-out-of-refs", DAMAGED, |this| {
        this.write("HEAD", "ref: refs/../../../anna/.git/refs/heads/main\n")
    }),
    ("head-loop", DAMAGED, |this| {
        this.write("HEAD", "ref: HEAD\n")
    }),
    ("branch-loop", DAMAGED, |this| {
        this.write("refs/heads/main", "ref: refs/heads/main\n")
    }),
    ("endless-head", NOT_COPIED, |this| {
        Ok(File::create(this.path("HEAD"))?.set_len(8 << 30)?)
    }),
    ("pipe", NOT_COPIED, |this| {
        fs::remove_file(this.path("packed-refs")).ok();
        this.honest()?
            .git(&["-c", "alias.pipe=!mkfifo .git/packed-refs", "pipe"], b"")?;
        Ok(())
    }),
    ("pipe-as-branch", NOT_COPIED, |this| {
        this.git(
            &["-c", "alias.pipe=!mkfifo .git/refs/heads/main", "pipe"],
            b"",
        )?;
        Ok(())
    }),
    ("partial", "damaged", |this| {
        for (key, value) in [
            ("extensions.partialClone", "origin"),
            ("remote.origin.promisor", "true"),
            ("remote.origin.url", "ext::touch ../../ran"),
            ("protocol.ext.allow", "always"),
        ] {
            this.git(&["config", key, value], b"")?;
        }
        this.with(&[
            ("100755", "bot.sh", &this.file()?),
            ("100644", "z", &"7".repeat(40)),
        ])
    }),
    ("settings", "", |this| {
        this.honest()?;
        for key in [
            "core.fsmonitor",
            "core.sshCommand",
            "diff.external",
            "core.pager",
        ] {
            this.git(&["config", key, "touch ../../ran"], b"")?;
        }
        this.git(&["config", "core.repositoryFormatVersion", "99"], b"")?;
        Ok(())
    }),
    ("grafts", "", |this| {
        let commit = fs::read_to_string(this.honest()?.path("refs/heads/main"))?;
        this.write(
            "info/grafts",
            format!("{} {}\n", commit.trim(), "8".repeat(40)),
        )
    }),
    ("shallow", "", |this| {
        let folder = this.folder(&[("100755", "bot.sh", &this.file()?)])?;
        let parent = format!("parent {}\n", "9".repeat(40));
        let commit = this.commit(&folder, &parent, TIME)?;
        this.write("shallow", format!("{commit}\n"))?;
        this.check_out(&commit)
    }),
    ("replaced", "", |this| {
        let commit = fs::read_to_string(this.honest()?.path("refs/heads/main"))?;
        let folder = this.folder(&[("120000", "bot.sh", &this.file()?)])?;
        let other = this.commit(&folder, "", TIME)?;
        this.write(
            &format!("refs/replace/{}", commit.trim()),
            format!("{other}\n"),
        )
    }),
    ("torn-indexes", "", |this| {
        this.honest()?
            .write("objects/info/commit-graph", "CGPH\x01\x01\x03\0nonsense")?;
        this.write(
            "objects/pack/multi-pack-index",
            "MIDX\x01\x01\x03\0nonsense",
        )?;
        this.write("index", "DIRC nonsense")
    }),
    ("dates", "", |this| {
        let mut parents = String::new();
        for (number, time) in ["-99999999999999 +0000", "99999999999999 +9999", "0 -0000"]
            .iter()
            .enumerate()
        {
            let file = this.add("blob", format!("{BOT}# dates {number}\n").as_bytes())?;
            let folder = this.folder(&[("100755", "bot.sh", &file)])?;
            let commit = this.commit(&folder, &parents, time)?;
            parents = format!("parent {commit}\n");
            this.check_out(&commit)?;
        }
        Ok(())
    }),
    ("no-date", DAMAGED, |this| {
        let folder = this.folder(&[("100755", "bot.sh", &this.file()?)])?;
        this.check_out(&this.commit(&folder, "", &"9".repeat(60))?)
    }),
    ("names-out", DAMAGED, |this| {
        let file = this.file()?;
        this.with(&[
            ("100755", "../../escaped", &file),
            ("100755", "bot.sh", &file),
        ])
    }),
    ("dots", "its path leads out of the archive", |this| {
        let inner = this.folder(&[("100755", "escaped", &this.file()?)])?;
        this.with(&[("40000", "..", &inner), ("100755", "bot.sh", &this.file()?)])
    }),
    ("twice", "there are two of this name", |this| {
        let file = this.file()?;
        this.with(&[("100755", "bot.sh", &file), ("100644", "bot.sh", &file)])
    }),
    ("long-name", "its name is too long", |this| {
        this.with(&[("100755", &"n".repeat(900_000), &this.file()?)])
    }),
    ("torn-tree", DAMAGED, |this| {
        let folder = this.add("tree", b"100755 bot.sh\0torn")?;
        this.check_out(&this.commit(&folder, "", TIME)?)
    }),
    ("reftable", DAMAGED, |this| {
        this.write("reftable/tables.list", "")?;
        this.write("HEAD", "ref: refs/heads/.invalid\n")
    }),
    // Each of its versions would have versions again.
    ("repository-in-repository", "", |this| {
        let file = this.file()?;
        let head = this.add("blob", b"ref: refs/heads/main\n")?;
        let inner = this.folder(&[("100644", "x", &head)])?;
        this.with(&[
            ("100644", "HEAD", &head),
            ("100755", "bot.sh", &file),
            ("40000", "objects", &inner),
            ("40000", "refs", &inner),
        ])
    }),
];

/// How many are in one class: a busy machine takes its time for each.
const AT_ONCE: usize = 8;

fn only_themselves_are_harmed(attacks: &[Attack], sandbox: &str) -> Made {
    let folder: TempDir = tempfile::tempdir()?;
    let class = folder.path().join("class");
    for name in ["anna", "ben"] {
        Repository::new(&class, name)?.honest()?;
    }
    for (name, _, make) in attacks {
        make(&Repository::new(&class, name)?).map_err(|error| format!("{name}: {error:?}"))?;
    }
    let options = ["league", "term", "--from", "class", "--sandbox", sandbox];
    let options = [
        &options[..],
        &["--pairs", "1", "--seed", "1", "--plan", "--no-check"],
    ]
    .concat();
    let run = Referee::new(options).directory(folder.path()).run();
    let mut reader = csv::Reader::from_path(folder.path().join("term/students.csv"))?;
    let rows: Vec<csv::StringRecord> = reader.records().collect::<Result<_, _>>()?;
    for (name, expected) in [("anna", ""), ("ben", "")]
        .into_iter()
        .chain(attacks.iter().map(|(name, expected, _)| (*name, *expected)))
    {
        let row = rows.iter().find(|row| &row[0] == name);
        let row = row.ok_or_else(|| format!("{name} is missing: {run}"))?;
        let plays = !row[1].is_empty();
        if plays != expected.is_empty() || !row[5].contains(expected) {
            return Err(
                format!("{name}: plays: {plays}, {}; expected {expected:?}", &row[5]).into(),
            );
        }
        if plays && name != "dates" {
            let bot = format!("term/bots/{name}/{}/bot.sh", &row[1]);
            let bot = fs::read_to_string(folder.path().join(bot))?;
            if !bot.ends_with(&format!("# {name}\n")) {
                return Err(format!("{name} plays with the file of another: {bot}").into());
            }
        }
    }
    for outside in ["ran", "escaped", "class/ran", "class/escaped"] {
        if folder.path().join(outside).exists() {
            return Err(format!("{outside} was made").into());
        }
    }
    Ok(())
}

pub(crate) fn trials() -> Vec<Trial> {
    let mut trials = Vec::new();
    for (number, attacks) in ATTACKS.chunks(AT_ONCE).enumerate() {
        for kind in ["none", "landlock", "bwrap"] {
            let name = format!("intake::hostile repositories {number}, {kind}");
            trials.push(if program("git", &[]).is_none() {
                unavailable(name, "git", "git")
            } else if kind == "bwrap" && program("bwrap", &[]).is_none() {
                unavailable(name, "bwrap", "bubblewrap")
            } else {
                Trial::test(name, move || only_themselves_are_harmed(attacks, kind))
            });
        }
    }
    trials
}
