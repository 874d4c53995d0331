//! Which files belong to a bot, their hash, and the private copy of them.

use std::fs::{self, File};
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use referee::bot::spec::{CannotStart, Program};
use referee::entrants::argument::BotSpec;
use referee::sandbox::snapshot::{BotFiles, ContentHash, Snapshot};
use tempfile::TempDir;

/// A directory with files in it: path, mode, content.
fn directory(files: &[(&str, u32, &str)]) -> TempDir {
    // Not in the place for temporary files itself, which nobody owns.
    let directory = tempfile::tempdir().expect("a directory");
    for (path, mode, content) in files {
        write(directory.path(), path, *mode, content);
    }
    directory
}

fn write(directory: &Path, path: &str, mode: u32, content: &str) {
    let path = directory.join(path);
    fs::create_dir_all(path.parent().expect("a parent")).expect("a directory");
    fs::write(&path, content).expect("a file");
    fs::set_permissions(&path, fs::Permissions::from_mode(mode)).expect("a mode");
}

const SCRIPT: &str = "#!/bin/sh\nexit 0\n";

fn program(text: &str) -> Program {
    match BotSpec::parse(text, Path::new("/proc/self/exe"), &["random"]) {
        Ok(BotSpec::Program(program)) => program,
        other => panic!("{other:?}"),
    }
}

fn at(directory: &TempDir, path: &str) -> Program {
    program(&directory.path().join(path).to_string_lossy())
}

fn files(program: &Program, others: &[&Program]) -> BotFiles {
    program.files(others).expect("files")
}

fn copy(program: &Program, others: &[&Program]) -> (TempDir, Snapshot) {
    let target = tempfile::tempdir().expect("a directory");
    let copied = files(program, others).copy(target.path()).expect("a copy");
    (target, copied)
}

fn refused(program: &Program) -> CannotStart {
    let files = files(program, &[]);
    let by_hash = files.hash().expect_err("no hash");
    let target = tempfile::tempdir().expect("a directory");
    let by_copy = files.copy(target.path());
    assert_eq!(Err(&by_hash), by_copy.as_ref().map(|_| ()));
    by_hash
}

fn hash(directory: &TempDir) -> ContentHash {
    files(&at(directory, "bot.sh"), &[]).hash().expect("a hash")
}

fn canonical(directory: &TempDir) -> PathBuf {
    directory.path().canonicalize().expect("a path")
}

#[test]
fn a_bot_owns_the_directory_that_it_is_alone_in() {
    let bot = directory(&[("bot.sh", 0o755, SCRIPT), ("lib/helper.sh", 0o644, "x=1\n")]);
    let program = at(&bot, "bot.sh");
    let own = files(&program, &[]);
    assert_eq!(own.path(), Some(&*canonical(&bot)));
    let (target, copied) = copy(&program, &[]);
    let read = |path| fs::read_to_string(target.path().join(path)).expect("a file");
    assert_eq!(read("bot.sh"), SCRIPT);
    assert_eq!(read("lib/helper.sh"), "x=1\n");
    let started = target.path().join("bot.sh");
    assert_eq!(copied.argv, [started.to_string_lossy()]);
    let mode = |path| {
        let meta = fs::metadata(target.path().join(path)).expect("a file");
        meta.permissions().mode() & 0o777
    };
    assert_eq!((mode("bot.sh"), mode("lib/helper.sh")), (0o555, 0o444));
    assert_eq!(copied.files.list.hash, own.hash().expect("a hash"));
}

#[test]
fn of_a_shared_directory_the_programs_of_others_are_not_copied() {
    let both = directory(&[
        ("one.sh", 0o755, SCRIPT),
        ("two.sh", 0o755, SCRIPT),
        ("three/three.sh", 0o755, SCRIPT),
    ]);
    let [one, two, three] = ["one.sh", "two.sh", "three/three.sh"].map(|path| at(&both, path));
    let (target, copied) = copy(&one, &[&two, &three]);
    let names: Vec<_> = fs::read_dir(target.path())
        .expect("a directory")
        .map(|entry| entry.expect("an entry").file_name())
        .collect();
    assert_eq!(names, ["one.sh"]);
    assert_eq!(
        copied.argv,
        [target.path().join("one.sh").to_string_lossy()]
    );
    // A directory within a shared one may be somebody's own.
    let own = files(&three, &[&one, &two]);
    assert_eq!(own.path(), Some(&*canonical(&both).join("three")));
    // A bot that plays itself is no other.
    assert!(files(&one, &[&one.clone()]).is_directory());
}

#[test]
fn the_words_of_a_command_line_lead_to_the_copy() {
    let bot = directory(&[
        ("my bot.sh", 0o644, SCRIPT),
        ("weights.txt", 0o644, "1 2 3"),
        ("classes/Main.txt", 0o644, "x"),
    ]);
    let path = |name: &str| bot.path().join(name).to_string_lossy().into_owned();
    let line = format!(
        "sh '{}' --weights '{}' 7",
        path("my bot.sh"),
        path("weights.txt")
    );
    let (target, copied) = copy(&program(&line), &[]);
    let there = |name: &str| target.path().join(name).to_string_lossy().into_owned();
    assert_eq!(
        copied.argv,
        [
            "sh",
            &there("my bot.sh"),
            "--weights",
            &there("weights.txt"),
            "7"
        ]
    );
    // A directory among the words, as of classes.
    let line = format!("java -cp '{}' Main", path("classes"));
    let mut java = program("sh -c exit");
    java.argv = shell_words::split(&line).expect("words");
    let (target, copied) = copy(&java, &[]);
    assert_eq!(copied.argv[2], target.path().join("").to_string_lossy());
    assert!(target.path().join("Main.txt").exists());
}

#[test]
fn a_directory_can_be_given() {
    let bot = directory(&[("src/bot.sh", 0o755, SCRIPT), ("data", 0o644, "d")]);
    let mut program = at(&bot, "src/bot.sh");
    program.directory = Some(bot.path().to_owned());
    let own = files(&program, &[]);
    let target = tempfile::tempdir().expect("a directory");
    let copied = own.copy(target.path()).expect("a copy");
    assert_eq!(
        copied.argv,
        [target.path().join("src/bot.sh").to_string_lossy()]
    );
    assert!(target.path().join("data").exists());
    let other = directory(&[("bot.sh", 0o755, SCRIPT)]);
    write(bot.path(), "other.sh", 0o755, SCRIPT);
    let inside = at(&bot, "other.sh");
    assert!(program.files(&[&at(&other, "bot.sh")]).is_ok());
    let error = program.files(&[&inside]).expect_err("shared");
    assert!(error.to_string().contains("also holds other.sh"), "{error}");
}

#[test]
fn programs_of_the_system_and_built_in_ones_are_not_copied() {
    for text in ["builtin:random", "cat -u", "/bin/cat"] {
        let program = program(text);
        assert_eq!(files(&program, &[]).path(), None, "{text}");
        let (_target, copied) = copy(&program, &[]);
        assert_eq!(
            (copied.argv, copied.directory),
            (program.argv.clone(), None)
        );
    }
    let of = |text| files(&program(text), &[]).hash().expect("a hash");
    assert_eq!(of("cat -u"), of("/bin/cat"));
    assert_ne!(of("cat -u"), of("ls -l"));
}

#[test]
fn the_hash_is_that_of_the_content() {
    let files = [
        ("bot.sh", 0o755, SCRIPT),
        ("a", 0o644, "1"),
        ("b/c", 0o644, "2"),
    ];
    let bot = directory(&files);
    let before = hash(&bot);
    assert_eq!(before.to_string().len(), 64);
    assert_eq!(
        before,
        hash(&directory(&files)),
        "the place does not matter"
    );
    // What tools leave behind does not count.
    write(bot.path(), "__pycache__/x.pyc", 0o644, "compiled");
    write(bot.path(), "b/.git/config", 0o644, "x");
    assert_eq!(before, hash(&bot));
    let mut seen = vec![before];
    let mut changed = |files: &[(&str, u32, &str)]| {
        let hash = hash(&directory(files));
        assert!(!seen.contains(&hash), "{files:?}");
        seen.push(hash);
    };
    let bot = ("bot.sh", 0o755, SCRIPT);
    changed(&[bot, ("a", 0o644, "2"), ("b/c", 0o644, "2")]);
    changed(&[bot, ("a", 0o755, "1"), ("b/c", 0o644, "2")]);
    changed(&[bot, ("a", 0o644, "1"), ("b/d", 0o644, "2")]);
    changed(&[bot, ("a", 0o644, "1"), ("bc", 0o644, "2")]);
    changed(&[bot, ("a", 0o644, "1")]);
    changed(&[
        bot,
        ("a", 0o644, "1"),
        ("b/c", 0o644, "2"),
        ("d", 0o644, ""),
    ]);
}

#[test]
fn links_that_lead_out_are_refused() {
    let elsewhere = directory(&[("secret", 0o644, "x")]);
    let secret = elsewhere.path().join("secret");
    let outward = [
        PathBuf::from("/etc"),
        PathBuf::from("/etc/passwd"),
        secret,
        PathBuf::from(".."),
        PathBuf::from("../not-there-yet"),
        PathBuf::from("/not-there-yet"),
    ];
    for to in outward {
        let bot = directory(&[("bot.sh", 0o755, SCRIPT)]);
        symlink(&to, bot.path().join("link")).expect("a link");
        let error = refused(&at(&bot, "bot.sh")).to_string();
        assert!(error.contains("leads out of its directory"), "{error}");
    }
    // A program that is itself such a link, in a directory that is not its own.
    let both = directory(&[("other.sh", 0o755, SCRIPT)]);
    let outside = directory(&[("real.sh", 0o755, SCRIPT)]);
    symlink(outside.path().join("real.sh"), both.path().join("bot.sh")).expect("a link");
    let program = at(&both, "bot.sh");
    let own = files(&program, &[&at(&both, "other.sh")]);
    let error = own.hash().expect_err("a link").to_string();
    assert!(error.contains("leads out of its directory"), "{error}");
}

#[test]
fn links_that_stay_are_kept() {
    let bot = directory(&[("bot.sh", 0o755, SCRIPT), ("lib/a", 0o644, "1")]);
    symlink("../lib/a", bot.path().join("lib/b")).expect("a link");
    symlink("lib", bot.path().join("same")).expect("a link");
    symlink("/usr/bin/env", bot.path().join("env")).expect("a link");
    let (target, _) = copy(&at(&bot, "bot.sh"), &[]);
    let read = |path| fs::read_to_string(target.path().join(path)).expect("a file");
    assert_eq!(
        (read("lib/b"), read("same/a")),
        ("1".to_owned(), "1".to_owned())
    );
}

#[test]
fn what_is_no_file_is_refused() {
    let bot = directory(&[("bot.sh", 0o755, SCRIPT)]);
    let _socket = UnixListener::bind(bot.path().join("socket")).expect("a socket");
    let error = refused(&at(&bot, "bot.sh")).to_string();
    assert!(error.contains("not a file, directory or link"), "{error}");
}

/// Copies a bot while its author exchanges `path`, of its directory, for a link to `secret`: after the directory above
/// has been listed, and before that path is read. What became of the copy.
fn copy_during_exchange(path: &str, secret: &Path) -> (TempDir, Result<(), CannotStart>) {
    // How long the first file keeps the copier busy depends on the machine.
    for mib in [4, 16, 64, 256] {
        let bot = directory(&[("bot.sh", 0o755, SCRIPT), ("lib/sub/own", 0o644, "1")]);
        let first = Path::new(path).with_file_name("a-first");
        let file = File::create(bot.path().join(&first)).expect("a file");
        file.set_len(mib << 20).expect("a size");
        let own = files(&at(&bot, "bot.sh"), &[]);
        let [away, target] = [(); 2].map(|()| tempfile::tempdir().expect("a directory"));
        let is_copied = |path: &Path| target.path().join(path).exists();
        let (copied, in_time) = thread::scope(|scope| {
            let copying = scope.spawn(|| own.copy(target.path()));
            while !is_copied(&first) && !copying.is_finished() {
                thread::sleep(Duration::from_micros(100));
            }
            let exchanged = bot.path().join(path);
            fs::rename(&exchanged, away.path().join("away")).expect("another place");
            symlink(secret, &exchanged).expect("a link");
            let in_time = !is_copied(path.as_ref());
            (copying.join().expect("no panic"), in_time)
        });
        if in_time {
            return (target, copied.map(|_| ()));
        }
    }
    panic!("the copier was always quicker");
}

#[test]
fn what_becomes_a_link_while_it_is_copied_is_not_followed() {
    let secrets = directory(&[("own", 0o600, "secret"), ("sub/own", 0o600, "secret")]);
    for (path, secret) in [("lib", ""), ("lib/sub", "sub"), ("lib/sub/own", "own")] {
        let (target, copied) = copy_during_exchange(path, &secrets.path().join(secret));
        let copy = fs::read_to_string(target.path().join("lib/sub/own")).unwrap_or_default();
        assert_ne!(copy, "secret", "{path}");
        let error = copied.expect_err(path).to_string();
        assert!(error.contains(path), "{error}");
    }
}

#[test]
fn a_path_that_becomes_a_link_before_it_is_copied_is_not_followed() {
    let secrets = directory(&[("bot.sh", 0o700, "secret"), ("own/bot.sh", 0o700, "secret")]);
    for (exchanged, secret) in [("home/own", "own"), ("home", "")] {
        let all = directory(&[("home/own/bot.sh", 0o755, SCRIPT)]);
        let own = files(&at(&all, "home/own/bot.sh"), &[]);
        let path = all.path().join(exchanged);
        fs::rename(&path, all.path().join("away")).expect("another place");
        symlink(secrets.path().join(secret), &path).expect("a link");
        let target = tempfile::tempdir().expect("a directory");
        let error = own.copy(target.path()).expect_err(exchanged).to_string();
        assert!(error.contains("it has become a link"), "{error}");
        assert!(!target.path().join("bot.sh").exists(), "{exchanged}");
    }
}

#[test]
fn folders_in_one_another_are_bounded() {
    let bot = directory(&[("bot.sh", 0o755, SCRIPT)]);
    fs::create_dir_all(bot.path().join("d/".repeat(101))).expect("directories");
    let error = refused(&at(&bot, "bot.sh")).to_string();
    assert!(error.contains("or 100 folders in one another"), "{error}");
}

#[test]
fn what_is_new_since_it_entered_is_not_given_to_a_bot() {
    let bot = directory(&[("bot.sh", 0o755, SCRIPT), ("lib/a", 0o644, "1")]);
    let mut program = at(&bot, "bot.sh");
    let known = files(&program, &[]).inspect().expect("files").list;
    program.scope.known = Some(Arc::new(known.clone()));
    write(bot.path(), "lib/b", 0o644, "2");
    write(bot.path(), "more/c", 0o644, "2");
    let (target, copied) = copy(&program, &[]);
    assert!(target.path().join("lib/a").exists());
    assert!(!target.path().join("lib/b").exists() && !target.path().join("more").exists());
    let changes = copied.files.changes.as_ref().expect("changes");
    assert_eq!(changes.new, ["lib/b", "more"]);
    assert!(copied.files.is_as_known(&known));
    assert_eq!(copied.files.list, known);
    write(bot.path(), "lib/a", 0o644, "3");
    let (_target, copied) = copy(&program, &[]);
    assert!(!copied.files.is_as_known(&known));
    let changes = copied.files.changes.expect("changes");
    assert_eq!(
        changes.to_string(),
        "lib/a has changed; lib/b, more are new"
    );
}

#[test]
fn leftovers_are_not_given_and_records_are() {
    let record = "{\"v\":1,\"game\":\"quarto\"}\n";
    let bot = directory(&[
        ("bot.sh", 0o755, SCRIPT),
        ("games.txt", 0o644, record),
        ("train.log", 0o644, "x"),
        (".idea/x.xml", 0o644, "x"),
    ]);
    let (target, copied) = copy(&at(&bot, "bot.sh"), &[]);
    let is_there = |path| target.path().join(path).exists();
    assert!(is_there("games.txt") && !is_there("train.log") && !is_there(".idea"));
    write(bot.path(), "games.txt", 0o644, &record.repeat(2));
    assert_eq!(copied.files.list.hash, hash(&bot));
    // What a command names counts, whatever its name.
    let line = format!("sh {0}/bot.sh {0}/train.log", bot.path().display());
    let (target, copied) = copy(&program(&line), &[]);
    assert!(target.path().join("train.log").exists());
    assert_ne!(copied.files.list.hash, hash(&bot));
}

/// Bots in one folder see what is nobody's program, and neither the programs of others nor what belongs to these.
#[test]
fn bots_in_one_folder_share_their_helpers() {
    let folder = directory(&[
        ("v1.py", 0o755, "#!/bin/sh\n. ./helper.py\n"),
        ("v2.py", 0o755, SCRIPT),
        ("v2.c", 0o644, "source"),
        ("helper.py", 0o644, "shared"),
        ("data/weights", 0o644, "1"),
        ("eve/eve.sh", 0o755, SCRIPT),
        ("eve/secret", 0o644, "x"),
        ("named/src/bot.sh", 0o755, SCRIPT),
        ("named/secret", 0o644, "x"),
    ]);
    let mut named = at(&folder, "named/src/bot.sh");
    named.directory = Some(folder.path().join("named"));
    let others = [at(&folder, "v2.py"), at(&folder, "eve/eve.sh"), named];
    let others: Vec<&Program> = others.iter().collect();
    let (target, copied) = copy(&at(&folder, "v1.py"), &others);
    let seen: Vec<&str> = copied.files.list.files.keys().map(String::as_str).collect();
    // What they share is nobody's in particular, and does not count.
    assert_eq!(seen, ["v1.py"]);
    for (path, is_there) in [
        ("helper.py", true),
        ("data/weights", true),
        ("v2.py", false),
        ("v2.c", false),
        ("eve", false),
    ] {
        assert_eq!(target.path().join(path).exists(), is_there, "{path}");
    }
    // It sees no more of the folder where the others do not play.
    let (target, copied) = copy(&at(&folder, "v1.py"), &[]);
    let seen: Vec<&str> = copied.files.list.files.keys().map(String::as_str).collect();
    assert_eq!(seen, ["v1.py"]);
    assert!(target.path().join("helper.py").exists() && !target.path().join("v2.py").exists());
    // What changes another's program does not change it.
    let hash = || {
        files(&at(&folder, "v1.py"), &others)
            .hash()
            .expect("a hash")
    };
    let before = hash();
    write(folder.path(), "v2.py", 0o755, "#!/bin/sh\nexit 1\n");
    assert_eq!(hash(), before);
    std::os::unix::fs::symlink("/etc/passwd", folder.path().join("out")).expect("a link");
    assert_eq!(hash(), before);
}
