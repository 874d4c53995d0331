//! Hostile bots, each an attack of its own (`tests/bots/hostile`): every attack succeeds without
//! a sandbox, so that its test can fail, and is blocked in each sandbox.
//!
//! When root runs the tests, the sandboxes are tested as root and as an unprivileged user; without a
//! sandbox only the latter, for which attacks are harder. Tests that cannot run here are ignored. In CI (`CI=true`) sandboxes and compiler must be there.

use std::collections::HashMap;
use std::fs::{self, Permissions};
use std::iter;
use std::net::{TcpListener, UdpSocket};
use std::os::linux::net::SocketAddrExt as _;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, chown};
use std::os::unix::net::{SocketAddr, UnixDatagram, UnixListener};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, LazyLock, Mutex, OnceLock, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use crate::common::files::copy_program;
use crate::common::{self, Referee, Run, signals};
use crate::hangs::HANGS;
use crate::requirements::is_ci;
use libtest_mimic::{Failed, Trial};
use rustix::process::getuid;

/// The unprivileged user: `nobody` on every system.
const NOBODY: u32 = 65534;

/// The resource limits in these tests.
const LIMITS: &[&str] = &["--memory", "128M", "--scratch", "64M", "--processes", "40"];

/// An attack.
#[derive(Clone, Copy)]
struct Attack {
    /// The fixture.
    name: &'static str,
    /// Its argument: what to attack.
    target: fn(&World) -> String,
    /// The file that must not change.
    unharmed: fn(&World) -> bool,
    /// The end of the forfeit's detail when the sandbox kills the bot.
    ended: Option<&'static str>,
    /// The attempt that the forfeit's detail names.
    tried: Option<&'static str>,
    /// Whether a kernel may lack what it attacks.
    rare: bool,
    /// Whether only root can do it without a sandbox.
    as_root: bool,
    /// Where it is blocked.
    blocked: Blocked,
}

/// Where an attack is blocked.
#[derive(Clone, Copy, PartialEq)]
enum Blocked {
    /// In every sandbox.
    Everywhere,
    /// In Landlock only with a view of its own.
    InView,
    /// Only where a control group bounds memory.
    InGroup,
}

const fn attack(name: &'static str, target: fn(&World) -> String) -> Attack {
    Attack {
        name,
        target,
        unharmed: |_| true,
        ended: None,
        tried: None,
        rare: false,
        as_root: false,
        blocked: Blocked::Everywhere,
    }
}

const fn simple(name: &'static str) -> Attack {
    attack(name, |_| String::new())
}

const fn rare(name: &'static str) -> Attack {
    Attack {
        rare: true,
        ..simple(name)
    }
}

const fn as_root(name: &'static str) -> Attack {
    Attack {
        as_root: true,
        ..simple(name)
    }
}

const fn in_view(attack: Attack) -> Attack {
    Attack {
        blocked: Blocked::InView,
        ..attack
    }
}

const fn bounded(name: &'static str, ended: &'static str) -> Attack {
    Attack {
        ended: Some(ended),
        ..simple(name)
    }
}

const fn in_group(attack: Attack) -> Attack {
    Attack {
        blocked: Blocked::InGroup,
        ..attack
    }
}

const fn networking(attack: Attack) -> Attack {
    Attack {
        tried: Some("it had tried to open a network connection"),
        ..attack
    }
}

fn victim(world: &World) -> String {
    world.victim.id().to_string()
}

const fn on_file(name: &'static str, target: fn(&World) -> String) -> Attack {
    Attack {
        unharmed: |world| {
            fs::read_to_string(world.path("records")).is_ok_and(|text| text == "{}\n")
        },
        ..attack(name, target)
    }
}

const fn on_attributes(name: &'static str) -> Attack {
    Attack {
        unharmed: |world| {
            let file = fs::metadata(world.path("opponent/secret"));
            file.is_ok_and(|file| file.mode() & 0o777 == 0o600 && file.mtime() > 1)
        },
        ..attack(name, |world| world.shown("opponent/secret"))
    }
}

/// The attacks of one process.
const ATTACKS: &[Attack] = &[
    // 26
    bounded("forks", "ran more than 40 processes"),
    bounded("distracts", "ran more than 40 processes"),
    bounded("threads", "ran more than 512 threads"),
    bounded("memory", "used more than 128 MiB of memory"),
    bounded("memory-of-many", "used more than 128 MiB of memory"),
    bounded("memory-shared", "used more than 128 MiB of memory"),
    bounded(
        "memory-without-first-thread",
        "used more than 128 MiB of memory",
    ),
    bounded("memory-file", "used more than 128 MiB of memory"),
    rare("pins-pages"),
    bounded("page-tables", "used more than 128 MiB of memory"),
    in_group(bounded(
        "socket-buffers",
        "used more than 128 MiB of memory",
    )),
    bounded("fills-scratch", "into its scratch directory"),
    bounded("hides-files", "into its scratch directory"),
    bounded("closed-directory", "its scratch directory"),
    bounded("many-files", "made more than 4096 files"),
    bounded("large-file", "wrote a file of more than 64 MiB"),
    rare("unnamed-files"),
    simple("splices"),
    simple("fallocates"),
    bounded("removes-files", "into its scratch directory"),
    simple("watches-files"),
    simple("pending-signals"),
    simple("fills-directory"),
    // 27
    attack("reads-file", |world| world.shown("opponent/secret")),
    in_view(attack("lists-processes", victim)),
    attack("reads-environment", victim),
    attack("reads-memory", victim),
    attack("copies-memory", victim),
    on_file("opens-descriptor", victim),
    attack("traces", victim),
    // 28
    attack("signals", victim),
    Attack {
        unharmed: |world| {
            let stat = fs::read_to_string(format!("/proc/{}/stat", world.victim.id()));
            stat.is_ok_and(|stat| !stat.contains(") Z "))
        },
        ..attack("signals-by-files", victim)
    },
    simple("signals-referee"),
    attack("renices", victim),
    attack("limits", victim),
    attack("pins", victim),
    simple("slows-user"),
    simple("leases"),
    // 29
    on_file("writes-file", |world| world.shown("records")),
    on_file("leaked-descriptor", |_| String::new()),
    on_attributes("changes-attributes"),
    on_attributes("takes-rights"),
    simple("leaves-set-uid"),
    as_root("kernel-settings"),
    as_root("first-process"),
    as_root("reads-first-process"),
    as_root("keeps-root"),
    simple("core-handler"),
    rare("segments"),
    // 30
    networking(attack("tcp", |world| world.tcp_port.to_string())),
    networking(simple("listens")),
    networking(attack("udp", |world| world.udp_port.to_string())),
    attack("unix-path", |world| world.shown("stream")),
    attack("unix-abstract", |world| world.abstract_name.clone()),
    attack("unix-pair", |world| world.shown("datagram")),
    attack("raw-pair", |world| world.shown("datagram")),
    rare("vsock"),
    simple("netlink"),
    rare("io-uring"),
    rare("aio-contexts"),
    rare("keyring"),
    rare("shared-memory"),
    rare("namespace"),
    // 31
    simple("edits-itself"),
    simple("cached"),
    // Others
    attack("asks-referee", |_| {
        shared().join("referee").to_string_lossy().into_owned()
    }),
];

/// The targets of attacks, in a directory that the bot's user owns.
pub(crate) struct World {
    directory: PathBuf,
    victim: Victim,
    tcp_port: u16,
    udp_port: u16,
    abstract_name: String,
    _listeners: (
        TcpListener,
        UdpSocket,
        UnixListener,
        UnixListener,
        UnixDatagram,
    ),
}

/// A process to attack; killed when dropped.
struct Victim(Child);

impl Victim {
    fn id(&self) -> u32 {
        self.0.id()
    }
}

impl Drop for Victim {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

impl World {
    fn new(directory: &Path, user: User) -> Self {
        let path = |name: &str| directory.join(name);
        fs::create_dir(path("opponent")).expect("a directory");
        fs::create_dir(path("tmp")).expect("a directory");
        fs::write(path("opponent/secret"), "secret").expect("a file");
        let own = Permissions::from_mode(0o600);
        fs::set_permissions(path("opponent/secret"), own).expect("a mode");
        fs::write(path("records"), "{}\n").expect("a file");
        let tcp = TcpListener::bind("127.0.0.1:0").expect("a port");
        let udp = UdpSocket::bind("127.0.0.1:0").expect("a port");
        let stream = UnixListener::bind(path("stream")).expect("a socket");
        let datagram = UnixDatagram::bind(path("datagram")).expect("a socket");
        let abstract_name = path("abstract").to_string_lossy().into_owned();
        let address = SocketAddr::from_abstract_name(&abstract_name).expect("a name");
        let named = UnixListener::bind_addr(&address).expect("a socket");
        for name in [
            "",
            "opponent",
            "tmp",
            "opponent/secret",
            "records",
            "stream",
            "datagram",
        ] {
            user.give(&path(name));
        }
        // The record file is its descriptor 9; its own file can be found in the list of processes.
        // What names the directory counts as a process of the referee.
        let script = "exec 9>>records; unset PWD OLDPWD; exec tail -f opponent/secret";
        let victim = user
            .command("sh")
            .args(["-c", script])
            .current_dir(directory)
            .env("SECRET", "secret")
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .spawn()
            .expect("a victim");
        let world = Self {
            directory: directory.to_owned(),
            victim: Victim(victim),
            tcp_port: tcp.local_addr().expect("an address").port(),
            udp_port: udp.local_addr().expect("an address").port(),
            abstract_name,
            _listeners: (tcp, udp, stream, named, datagram),
        };
        // Until it is what it will be, it may not be attacked.
        let until = Instant::now() + Duration::from_secs(20);
        let comm = format!("/proc/{}/comm", world.victim.id());
        while fs::read_to_string(&comm).is_ok_and(|name| name.trim() != "tail") {
            assert!(Instant::now() < until, "the victim does not start");
            thread::sleep(Duration::from_millis(1));
        }
        world
    }

    fn path(&self, name: &str) -> PathBuf {
        self.directory.join(name)
    }

    fn shown(&self, name: &str) -> String {
        self.path(name).to_string_lossy().into_owned()
    }
}

/// Who runs the referee.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum User {
    /// Whoever runs the tests.
    Same,
    /// An unprivileged user; only root can switch to it.
    Nobody,
    /// A user who is not root, and can make no name spaces.
    WithoutSpaces,
}

impl User {
    /// The words before a program that has this user run it.
    fn words(self) -> Vec<String> {
        let mut words = Vec::new();
        if self.is_nobody() {
            words.extend(["setpriv".to_owned(), format!("--reuid={NOBODY}")]);
            words.extend([format!("--regid={NOBODY}"), "--clear-groups".to_owned()]);
            words.push("--".to_owned());
        }
        if self == Self::WithoutSpaces {
            words.push(without_name_spaces().to_string_lossy().into_owned());
        }
        words
    }

    fn is_nobody(self) -> bool {
        match self {
            Self::Same => false,
            Self::Nobody => true,
            Self::WithoutSpaces => getuid().is_root(),
        }
    }

    fn command(self, program: &str) -> Command {
        let mut words = self.words();
        words.push(find(program));
        let mut command = Command::new(&words[0]);
        command.args(&words[1..]);
        command
    }

    pub(crate) fn give(self, path: &Path) {
        if self.is_nobody() {
            chown(path, Some(NOBODY), Some(NOBODY)).expect("root");
        }
    }

    /// The shell script that runs the program with a descriptor left open.
    pub(crate) fn script(self, leak: &Path) -> String {
        let program = shared().join("referee");
        let run = shell_words::join(self.words());
        format!(
            "exec 7>>'{}'; exec {run} '{}' \"$@\"",
            leak.display(),
            program.display()
        )
    }

    pub(crate) const fn suffix(self) -> &'static str {
        match self {
            Self::Same => "",
            Self::Nobody => ", as nobody",
            Self::WithoutSpaces => ", without name spaces",
        }
    }
}

/// The path of a program.
fn find(program: &str) -> String {
    let found = crate::requirements::program(program, &[]);
    found.map_or_else(
        || program.to_owned(),
        |path| path.to_string_lossy().into_owned(),
    )
}

/// The program that runs another one for which no name spaces can be made.
pub(crate) fn without_name_spaces() -> &'static Path {
    static COMPILED: OnceLock<PathBuf> = OnceLock::new();
    COMPILED.get_or_init(|| {
        let program = shared().join("without-name-spaces");
        compile(&common::bots().join("without-name-spaces.c"), &program);
        program
    })
}

/// A directory that everybody can read, with the program and the fixtures.
static SHARED: OnceLock<PathBuf> = OnceLock::new();

pub(crate) fn shared() -> &'static Path {
    SHARED.get_or_init(|| {
        let directory = tempfile::Builder::new()
            .prefix("hostile-")
            .permissions(Permissions::from_mode(0o755))
            .tempdir()
            .expect("a directory")
            .keep();
        let program = Path::new(env!("CARGO_BIN_EXE_referee"));
        copy_program(program, &directory.join("referee"));
        directory
    })
}

/// The program of a fixture, compiled, in a directory of its own.
fn fixture(name: &str) -> PathBuf {
    type Compiled = HashMap<String, Arc<OnceLock<PathBuf>>>;
    static COMPILED: LazyLock<Mutex<Compiled>> = LazyLock::new(Mutex::default);
    let cell = {
        let mut compiled = COMPILED.lock().expect("a lock");
        Arc::clone(compiled.entry(name.to_owned()).or_default())
    };
    cell.get_or_init(|| {
        let directory = shared().join(name);
        fs::create_dir(&directory).expect("a directory");
        let program = directory.join(name);
        let source = common::bots().join("hostile").join(format!("{name}.c"));
        compile(&source, &program);
        program
    })
    .clone()
}

fn compile(source: &Path, program: &Path) {
    let status = Command::new("cc")
        .args(["-Wall", "-Wextra", "-Werror", "-O1", "-o"])
        .args([program, source])
        .status()
        .expect("cc starts");
    assert!(status.success(), "{} does not compile", source.display());
}

/// A referee that plays the fixture against a built-in bot.
pub(crate) fn against(
    name: &str,
    target: impl FnOnce(&World) -> String,
    kind: &str,
    user: User,
) -> (Referee, World) {
    pair([name, "builtin:random"], target, kind, user)
}

/// A referee that plays a fixture against another bot.
fn pair(
    [name, opponent]: [&str; 2],
    target: impl FnOnce(&World) -> String,
    kind: &str,
    user: User,
) -> (Referee, World) {
    let referee =
        Referee::new(["--sandbox", kind, "--seed", "1", "--first", "1", "--json"]).args(LIMITS);
    let directory = referee.scratch().to_owned();
    let world = World::new(&directory, user);
    // What it attacks also marks its processes as this run's.
    let target = target(&world);
    let mark = directory.to_string_lossy();
    let program = if kind == "none" {
        // A bot's directory must not be changed for other tests.
        let own = directory.join("own");
        fs::create_dir(&own).expect("a directory");
        let program = own.join(name);
        copy_program(&fixture(name), &program);
        user.give(&own);
        user.give(&program);
        program
    } else {
        fixture(name)
    };
    let bot = shell_words::join([&*program.to_string_lossy(), &target, &mark]);
    let referee = referee
        .args([bot.as_str(), opponent])
        .env("TMPDIR", directory.join("tmp"))
        .directory(&directory)
        .shell(user.script(&directory.join("records")));
    (referee, world)
}

/// Whether the attack of a run succeeded, and the detail of the forfeit.
pub(crate) fn verdict(run: &Run) -> (bool, String) {
    assert_eq!(run.code, Some(0), "{run}");
    let records = run.printed_records();
    let result = &records.first().expect("a record")["result"];
    assert_eq!(result["by"], 0, "the wrong bot was charged\n{run}");
    let stderr = result["stderr"].as_str().unwrap_or_default();
    let detail = result["detail"].as_str().unwrap_or_default().to_owned();
    let succeeded = stderr.contains("attack: succeeded");
    let blocked = stderr.contains("attack: blocked");
    assert!(
        succeeded || blocked || detail.contains("was killed"),
        "{run}"
    );
    (succeeded, detail)
}

fn succeeds(attack: &Attack, user: User) -> Result<(), Failed> {
    let (referee, world) = against(attack.name, attack.target, "none", user);
    let run = referee.run();
    let (succeeded, _) = verdict(&run);
    let begun = Instant::now();
    // On a busy machine what it harms may end after it has looked.
    while !succeeded && (attack.unharmed)(&world) {
        if begun.elapsed() > HANGS {
            return Err(format!("it did not succeed\n{run}").into());
        }
        thread::sleep(Duration::from_millis(50));
    }
    Ok(())
}

fn is_blocked(attack: &Attack, kind: &str, user: User) -> Result<(), Failed> {
    let (referee, world) = against(attack.name, attack.target, kind, user);
    let run = referee.run();
    let (succeeded, detail) = verdict(&run);
    if succeeded || !(attack.unharmed)(&world) {
        return Err(format!("it succeeded\n{run}").into());
    }
    if !attack.tried.is_none_or(|tried| detail.contains(tried)) {
        return Err(format!("the sentence does not say what it tried\n{run}").into());
    }
    match attack.ended {
        Some(ended) if detail.contains("was killed") && !detail.contains(ended) => {
            Err(format!("it was ended for something else\n{run}").into())
        }
        _ => is_clean(&world, &run),
    }
}

/// Checks that nothing is left in the directory for temporary files.
pub(crate) fn is_clean(world: &World, run: &Run) -> Result<(), Failed> {
    let left: Vec<_> = fs::read_dir(world.path("tmp"))
        .expect("a directory")
        .map(|entry| entry.expect("an entry").file_name())
        .collect();
    if left.is_empty() {
        Ok(())
    } else {
        Err(format!("left: {left:?}\n{run}").into())
    }
}

/// Whether an attack works on this machine at all.
fn works(attack: &Attack, user: User) -> bool {
    let Ok(directory) = tempfile::tempdir() else {
        return false;
    };
    user.give(directory.path());
    user.command(&fixture(attack.name).to_string_lossy())
        .env("AT_ONCE", "1")
        .env("TMPDIR", directory.path())
        .stdin(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .is_ok_and(|status| status.success())
}

/// The processes that carry `mark` in their command line, but for the referee's own.
fn marked(mark: &str, name: &str) -> usize {
    let mut found = 0;
    for entry in fs::read_dir("/proc").into_iter().flatten().flatten() {
        let line = fs::read(entry.path().join("cmdline")).unwrap_or_default();
        let line = String::from_utf8_lossy(&line);
        let first = line.split('\0').next().unwrap_or_default();
        found += usize::from(first.ends_with(name) && line.contains(mark));
    }
    found
}

/// The referee is killed while a bot with a daemon and two children plays: how many of their
/// processes are left after a while.
fn left_after_kill(kind: &str, user: User, stroke: Stroke) -> usize {
    let (referee, world) = against("lingers", |_| String::new(), kind, user);
    let mark = referee.scratch().to_string_lossy().into_owned();
    let mut running = referee.start();
    running.wait_until(|_| marked(&mark, "/lingers") >= 4);
    if stroke == Stroke::Supervisors {
        // Stopped first, so that none of them acts between the first and the last signal.
        let supervisors = children_of(running.id());
        for signal in ["STOP", "KILL"] {
            for pid in iter::once(running.id()).chain(supervisors.iter().copied()) {
                assert!(signals::send(signal, &pid.to_string()), "process {pid}");
            }
        }
    } else {
        running.signal("KILL");
    }
    // Its process id is reserved until it has been waited for.
    while running.is_running() {
        thread::sleep(Duration::from_millis(1));
    }
    let mut left = 4;
    // What it cannot end ends with the next referee's start.
    let later = kind == "landlock" && stroke == Stroke::Supervisors && !has_view(user);
    let at_once = kind != "none" && !later;
    if later {
        play_again(kind, user, &world);
    }
    let until = Instant::now() + Duration::from_secs(if at_once { 20 } else { 1 });
    while left > 0 && Instant::now() < until {
        thread::sleep(Duration::from_millis(5));
        left = marked(&mark, "/lingers");
    }
    for entry in fs::read_dir("/proc").into_iter().flatten().flatten() {
        let line = fs::read(entry.path().join("cmdline")).unwrap_or_default();
        if String::from_utf8_lossy(&line).contains(&mark) {
            signals::send("KILL", &entry.file_name().to_string_lossy());
        }
    }
    if kind != "none" {
        // The copies that it could not remove are removed by the next.
        let copies = || {
            let entries = fs::read_dir(world.path("tmp")).expect("a directory");
            entries.count()
        };
        assert!(copies() > 0 || later, "there was nothing to remove");
        play_again(kind, user, &world);
        assert_eq!(copies(), 0, "copies are left");
    }
    left
}

/// Who is killed.
#[derive(Clone, Copy, PartialEq)]
enum Stroke {
    Referee,
    /// With the referee, all supervisors at the same moment.
    Supervisors,
}

/// The children of a process.
fn children_of(pid: u32) -> Vec<u32> {
    let tasks = fs::read_dir(format!("/proc/{pid}/task")).expect("a process");
    let lists = tasks.map(|task| fs::read_to_string(task.expect("a task").path().join("children")));
    let lists: Vec<String> = lists.map(|list| list.expect("a list")).collect();
    let pids = lists.iter().flat_map(|list| list.split_ascii_whitespace());
    pids.map(|pid| pid.parse().expect("a number")).collect()
}

/// Another match, with the same directory for temporary files.
fn play_again(kind: &str, user: User, world: &World) {
    let status = user
        .command(&shared().join("referee").to_string_lossy())
        .args(["--sandbox", kind, "--seed", "1"])
        .args(["builtin:random", "builtin:random"])
        .env("TMPDIR", world.path("tmp"))
        .current_dir("/")
        .stdout(Stdio::null())
        .status();
    assert!(status.is_ok_and(|status| status.success()));
}

fn outlives(kind: &str, user: User, stroke: Stroke) -> Result<(), Failed> {
    match (left_after_kill(kind, user, stroke), kind) {
        (0, "none") => Err("nothing was left".into()),
        (0, _) | (_, "none") => Ok(()),
        (left, _) => Err(format!("{left} processes are left").into()),
    }
}

/// Bots that leave something behind or do not end (18 to 21): common asserts that nothing is left.
fn ends(name: &str, kind: &str, user: User) -> Result<(), Failed> {
    let (referee, world) = against(name, |_| String::new(), kind, user);
    let run = referee
        .args(["--move-time", "300ms", "--start-time", "3s"])
        .run();
    let records = run.printed_records();
    if run.code != Some(0) || records[0]["result"]["by"] != 0 {
        return Err(format!("{run}").into());
    }
    is_clean(&world, &run)
}

/// What a bot leaves behind without a sandbox stays: only a sandbox has a directory of its own.
fn leaves(name: &str, user: User) -> Result<(), Failed> {
    let (referee, world) = against(name, |_| String::new(), "none", user);
    let run = referee.run();
    let left = is_clean(&world, &run).is_err();
    // It may be too deep for whoever removes the directory of a test.
    let removed = Command::new("rm")
        .arg("-rf")
        .arg(world.path("tmp"))
        .status();
    if left && removed.is_ok_and(|status| status.success()) {
        Ok(())
    } else {
        Err(format!("nothing was left\n{run}").into())
    }
}

/// A bot that closes its output is noticed, long before its time is over.
fn is_noticed(kind: &str, user: User) -> Result<(), Failed> {
    let (referee, world) = against("closes-output", |_| String::new(), kind, user);
    let run = referee
        .args(["--move-time", "1h", "--start-time", "1h"])
        .run();
    let result = &run.printed_records()[0]["result"];
    if result["by"] != 0 || result["reason"] != "closed" {
        return Err(format!("{run}").into());
    }
    is_clean(&world, &run)
}

/// A program that does nothing wrong is not ended, and does all that it wants to.
fn works_inside(name: &str, kind: &str, user: User) -> Result<(), Failed> {
    let (referee, world) = against(name, |_| String::new(), kind, user);
    let run = referee.run();
    let (succeeded, detail) = verdict(&run);
    if !succeeded || detail.contains("was killed") {
        return Err(format!("{run}").into());
    }
    is_clean(&world, &run)
}

/// Two games, each with a fresh process.
fn remembers(name: &'static str, kind: &str, user: User) -> Result<(), Failed> {
    // What one leaves by a name of the whole machine, another would find that runs beside it without name
    // spaces of its own.
    static ALONE: Mutex<()> = Mutex::new(());
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    let (referee, _world) = against(name, |_| String::new(), kind, user);
    let run = referee.args(["-n", "2", "--restart"]).run();
    let records = run.printed_records();
    let stderr = |game: usize| {
        records[game]["result"]["stderr"]
            .as_str()
            .unwrap_or_default()
    };
    let found = [0, 1].map(|game| stderr(game).contains("succeeded"));
    match (kind, found) {
        ("none", [false, true]) | ("bwrap" | "landlock", [false, false]) => Ok(()),
        _ => Err(format!("{run}").into()),
    }
}

/// A bot's processor time in its opponent's turns is recorded; and it can be frozen, which only a sandbox holds it to.
fn thinks(name: &str, kind: &str, user: User, (freeze, held): (bool, bool)) -> Result<(), Failed> {
    // A machine that is busy with other things gives it less of half a second: then it has more. And until it is frozen, there
    // passes a time that does not grow with the opponent's.
    let mut last = Ok(());
    for ms in [500, 2000, 5000] {
        let slow = fixture("dawdles").to_string_lossy().into_owned();
        let slow = shell_words::join([slow, ms.to_string()]);
        let (mut referee, world) = pair([name, &slow], |_| String::new(), kind, user);
        if freeze {
            referee = referee.args(["--freeze"]);
        }
        let run = referee.run();
        let records = run.printed_records();
        let usage = &records[0]["usage"][0];
        let figure = |what: &str| usage[what].as_f64().unwrap_or(-1.0);
        let (other, all) = (figure("cpu_other_ms"), figure("cpu_ms"));
        let expected = if held {
            0.0..0.08 * f64::from(ms)
        } else {
            60.0..2.0 * f64::from(ms)
        };
        if records[0]["result"]["by"] == 1 && expected.contains(&other) && all >= other {
            return is_clean(&world, &run);
        }
        last = Err(format!("{other} of {all} ms\n{run}").into());
        let is_starved = (0.0..60.0).contains(&other);
        if !held && !is_starved {
            break;
        }
    }
    last
}

/// A bot computes three times as long as it may before its first answer, in processes that are in no account, while its
/// first process waits for the CPU because of them.
#[derive(Clone, Copy)]
enum HiddenTime {
    /// Of a move. It loses, and the game counts.
    Move,
    /// The same, in processes that share their memory and last a few milliseconds.
    SharedMove,
    /// The same, on a clock of CPU time.
    CpuMove,
    /// Of a game. It is charged.
    Game,
}

fn hides_time(kind: &str, user: User, hidden: HiddenTime) -> Result<(), Failed> {
    let (target, limits): (_, &[&str]) = match hidden {
        HiddenTime::Move => ("1500/50/i", &["--move-time", "500ms"]),
        HiddenTime::SharedMove => ("1500/10/m", &["--move-time", "500ms"]),
        HiddenTime::CpuMove => ("1500/50/k", &["--move-time", "500ms", "--clock", "cpu"]),
        HiddenTime::Game => ("1500/50/i", &["--move-time", "60s", "--game-time", "60s"]),
    };
    let (referee, world) = against("hides-time", |_| target.to_owned(), kind, user);
    let run = referee.args(["--start-time", "0s"]).args(limits).run();
    let records = run.printed_records();
    let record = records.first().ok_or_else(|| format!("no record\n{run}"))?;
    let result = &record["result"];
    // All of the time, where nothing else is said.
    let charged = record["charged_ms"][0].as_f64();
    let charged = charged.or(record["times_ms"][0].as_f64());
    let is_caught = match hidden {
        HiddenTime::Move | HiddenTime::SharedMove | HiddenTime::CpuMove => {
            result["reason"] == "timeout"
        }
        HiddenTime::Game => charged.is_some_and(|ms| ms >= 1400.0),
    };
    // A game is void where others have the machine, and is played again.
    if !is_caught || result["by"] != 0 {
        return Err(format!("it was not charged\n{run}").into());
    }
    is_clean(&world, &run)
}

/// A link in a bot's directory to what is not its own.
fn follows_link(kind: &str, user: User) -> Result<(), Failed> {
    let referee = Referee::new(["--sandbox", kind, "--seed", "1", "--first", "1", "--json"]);
    let directory = referee.scratch().to_owned();
    let world = World::new(&directory, user);
    let own = world.path("linked");
    fs::create_dir(&own).expect("a directory");
    std::os::unix::fs::symlink(world.path("opponent/secret"), own.join("link")).expect("a link");
    copy_program(&fixture("reads-file"), &own.join("bot"));
    let bot = shell_words::join([world.shown("linked/bot"), world.shown("linked/link")]);
    let run = referee
        .args([&bot, "builtin:random"])
        .directory(&directory)
        .shell(user.script(&directory.join("records")))
        .run();
    let refused = run.code == Some(2) && run.stderr.contains("leads out of its directory");
    let read = run.code == Some(0) && verdict(&run).0;
    match (kind, refused, read) {
        ("none", false, true) | ("bwrap" | "landlock", true, false) => Ok(()),
        _ => Err(format!("{run}").into()),
    }
}

/// At a terminal of its own.
fn types(kind: &str, user: User) -> Result<(), Failed> {
    let (referee, world) = against("opens-terminal", |_| String::new(), kind, user);
    let script = user.script(&world.path("records"));
    // `script` gives its command a terminal.
    let line = format!(
        "set -- \"$@\"; inner=$(printf '%s' '{}')",
        script.replace('\'', "'\\''")
    );
    let run = referee
        .shell(format!(
            "{line}; exec script -qec \"$(printf '%s ' sh -c \"'$(printf '%s' \"$inner\" | sed \"s/'/'\\\\\\\\''/g\")'\" sh; for a; do printf \"'%s' \" \"$(printf '%s' \"$a\" | sed \"s/'/'\\\\\\\\''/g\")\"; done)\" /dev/null"
        ))
        .run();
    let records: Vec<serde_json::Value> = run
        .stdout
        .lines()
        .filter_map(|line| serde_json::from_str(line.trim()).ok())
        .collect();
    let stderr = records
        .first()
        .map_or("", |r| r["result"]["stderr"].as_str().unwrap_or_default());
    match (
        kind,
        stderr.contains("succeeded"),
        stderr.contains("blocked"),
    ) {
        ("none", true, _) | ("bwrap" | "landlock", false, true) => Ok(()),
        _ => Err(format!("{run}").into()),
    }
}

/// A referee that only root may run cannot be the built-in bots of users without rights: it says what to do.
fn is_closed_to_bots(kind: &str) -> Result<(), Failed> {
    let directory = tempfile::tempdir().expect("a directory");
    let program = directory.path().join("referee");
    copy_program(&shared().join("referee"), &program);
    fs::set_permissions(&program, Permissions::from_mode(0o700)).expect("a mode");
    let run = Command::new(&program)
        .args(["--sandbox", kind, "builtin:random", "builtin:random"])
        .stdin(Stdio::null())
        .output()
        .expect("the referee starts");
    let stderr = String::from_utf8_lossy(&run.stderr);
    let fix = format!("let others run it (chmod o+x {})", program.display());
    if run.status.code() == Some(2) && stderr.contains(&fix) {
        Ok(())
    } else {
        Err(format!("{:?}: {stderr}", run.status).into())
    }
}

/// A program that runs with the rights of another user, whom only root can give it to.
fn gains_rights(kind: &str) -> Result<(), Failed> {
    let directory = shared().join(format!("rights-{kind}"));
    fs::create_dir(&directory).expect("a directory");
    let program = directory.join("whose-rights");
    copy_program(&fixture("whose-rights"), &program);
    chown(&program, Some(1), Some(1)).expect("root");
    fs::set_permissions(&program, Permissions::from_mode(0o4755)).expect("a mode");
    let path = program.to_string_lossy().into_owned();
    let (referee, _world) = against("gains-rights", |_| path, kind, User::Nobody);
    let run = referee
        .args(["--expose".as_ref(), directory.as_os_str()])
        .run();
    match (kind, verdict(&run).0) {
        ("none", true) | ("bwrap" | "landlock", false) => Ok(()),
        _ => Err(format!("{run}").into()),
    }
}

fn has(command: &str) -> bool {
    Command::new("sh")
        .args(["-c", &format!("command -v {command} >/dev/null")])
        .status()
        .is_ok_and(|status| status.success())
}

/// Whether a sandbox works here.
fn works_here(kind: &str, user: User) -> bool {
    let run = user
        .command(&shared().join("referee").to_string_lossy())
        .args([
            "--sandbox",
            kind,
            "--seed",
            "1",
            "builtin:random",
            "builtin:random",
        ])
        .current_dir("/")
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status();
    run.is_ok_and(|status| status.success())
}

/// Whether bots in Landlock have a view of their own.
fn has_view(user: User) -> bool {
    let landlock = &doctor(user)["findings"][1]["result"];
    let landlock = landlock.as_str();
    landlock.is_some_and(|text| text.ends_with(", with a view of its own"))
}

/// Whether a control group bounds the memory of bots.
fn has_memory_group(user: User) -> bool {
    let report = doctor(user);
    let findings = report["findings"].as_array();
    let mut findings = findings.into_iter().flatten();
    findings.any(|finding| finding["probe"] == "--memory" && finding["wall"] == true)
}

/// What the referee reports of this machine.
pub(crate) fn doctor(user: User) -> serde_json::Value {
    let run = user
        .command(&shared().join("referee").to_string_lossy())
        .args(["doctor", "--json"])
        .current_dir("/")
        .stdin(Stdio::null())
        .output()
        .expect("the referee starts");
    serde_json::from_slice(&run.stdout).expect("JSON")
}

/// Trials of one attack, without and in each sandbox.
fn in_each(
    name: &str,
    sandboxes: &[(&'static str, User, bool)],
    lacking: bool,
    run: impl Fn(&'static str, User) -> Result<(), Failed> + Clone + Send + 'static,
) -> Vec<Trial> {
    sandboxes
        .iter()
        .map(|&(kind, user, ready)| {
            let title = match kind {
                "none" => format!("hostile::{name} succeeds without a sandbox"),
                _ => format!("hostile::{name} is blocked by {kind}{}", user.suffix()),
            };
            let run = run.clone();
            Trial::test(title, move || run(kind, user)).with_ignored_flag(!ready || lacking)
        })
        .collect()
}

/// Trials of bots that think in others' turns, and of those that leave orphans.
fn trials_of_processes(sandboxes: &[(&'static str, User, bool)]) -> Vec<Trial> {
    let mut all = Vec::new();
    for (freeze, title) in [
        (false, "thinking in others' turns"),
        (true, "thinking, frozen,"),
    ] {
        for &(kind, user, ready) in sandboxes {
            let title = format!(
                "hostile::{title} is told with --sandbox {kind}{}",
                user.suffix()
            );
            let trial = Trial::test(title, move || {
                thinks("thinks", kind, user, (freeze, freeze))
            });
            all.push(trial.with_ignored_flag(!ready));
        }
    }
    for &(kind, user, ready) in sandboxes {
        let title = format!(
            "hostile::closes-output is noticed with --sandbox {kind}{}",
            user.suffix()
        );
        let trial = Trial::test(title, move || is_noticed(kind, user));
        all.push(trial.with_ignored_flag(!ready));
    }
    for (hidden, what) in [
        (HiddenTime::Move, "of a move"),
        (HiddenTime::SharedMove, "of a move in shared memory"),
        (HiddenTime::CpuMove, "of a CPU clock"),
        (HiddenTime::Game, "of a game"),
    ] {
        for &(kind, user, ready) in sandboxes {
            let title = format!(
                "hostile::hidden time {what} is charged with --sandbox {kind}{}",
                user.suffix()
            );
            let trial = Trial::test(title, move || hides_time(kind, user, hidden));
            all.push(trial.with_ignored_flag(!ready));
        }
    }
    for &(_, user, ready) in sandboxes.iter().filter(|(kind, ..)| *kind == "none") {
        let title = "hostile::thaws succeeds without a sandbox";
        let trial = Trial::test(title, move || thinks("thaws", "none", user, (true, false)));
        all.push(trial.with_ignored_flag(!ready));
        for name in ["deep-directories", "deeper-directories"] {
            let title = format!("hostile::{name} succeeds without a sandbox");
            let trial = Trial::test(title, move || leaves(name, user));
            all.push(trial.with_ignored_flag(!ready));
        }
    }
    for &(kind, user, ready) in sandboxes.iter().filter(|(kind, ..)| *kind != "none") {
        let title = format!("hostile::thaws is frozen by {kind}{}", user.suffix());
        let trial = Trial::test(title, move || thinks("thaws", kind, user, (true, true)));
        all.push(trial.with_ignored_flag(!ready));
        let title = format!(
            "hostile::ended-orphans count for nothing in {kind}{}",
            user.suffix()
        );
        // Orphans that have ended are not counted as its processes.
        let trial = Trial::test(title, move || works_inside("ended-orphans", kind, user));
        all.push(trial.with_ignored_flag(!ready));
        let title = format!(
            "hostile::shares-memory counts once in {kind}{}",
            user.suffix()
        );
        let trial = Trial::test(title, move || works_inside("shares-memory", kind, user));
        all.push(trial.with_ignored_flag(!ready));
        let title = format!("hostile::temporary-files work in {kind}{}", user.suffix());
        let trial = Trial::test(title, move || works_inside("temporary-files", kind, user));
        all.push(trial.with_ignored_flag(!ready));
    }
    all
}

/// Each sandbox with each user, and whether it can be tried here.
fn sandboxes_here(other: User, compiler: bool) -> Vec<(&'static str, User, bool)> {
    let mut sandboxes = vec![("none", other, compiler)];
    for kind in ["bwrap", "landlock"] {
        for user in [User::Same, User::Nobody, User::WithoutSpaces] {
            if user == User::Nobody && other == User::Same {
                continue;
            }
            // It is the same with bubblewrap, which needs name spaces.
            if user == User::WithoutSpaces && kind == "bwrap" {
                continue;
            }
            // CI must have them.
            let ready = compiler && (is_ci() || works_here(kind, user));
            sandboxes.push((kind, user, ready));
        }
    }
    sandboxes
}

/// Trials of the attacks of one process.
fn trials_of_attacks(
    all_sandboxes: &[(&'static str, User, bool)],
    compiler: bool,
    root: bool,
) -> Vec<Trial> {
    // Bubblewrap is not there for whoever has no name spaces.
    let users = all_sandboxes
        .iter()
        .filter(|(kind, _, ready)| *kind == "landlock" && *ready)
        .map(|&(_, user, _)| user);
    let views: Vec<User> = users.clone().filter(|&user| has_view(user)).collect();
    let grouped: Vec<User> = users.filter(|&user| has_memory_group(user)).collect();
    let mut all = Vec::new();
    for attack in ATTACKS {
        let lacking = attack.rare && !(compiler && works(attack, all_sandboxes[0].1));
        let mut sandboxes = all_sandboxes.to_vec();
        if attack.as_root {
            sandboxes[0] = ("none", User::Same, compiler && root);
        }
        if attack.blocked == Blocked::InView {
            let holds = |kind, user| kind != "landlock" || views.contains(&user);
            sandboxes.retain(|&(kind, user, _)| holds(kind, user));
        }
        if attack.blocked == Blocked::InGroup {
            sandboxes.retain(|&(kind, user, _)| kind == "none" || grouped.contains(&user));
        }
        all.extend(in_each(
            attack.name,
            &sandboxes,
            lacking,
            |kind, user| match kind {
                "none" => succeeds(attack, user),
                _ => is_blocked(attack, kind, user),
            },
        ));
    }
    all
}

/// Who runs the referee without rights here, and whether there is a compiler.
fn other_user() -> (User, bool) {
    let compiler = has("cc") || is_ci();
    let other = if getuid().is_root() && has("setpriv") {
        User::Nobody
    } else {
        User::Same
    };
    (other, compiler)
}

/// Each sandbox with each user, and whether it can be tried here.
pub(crate) fn sandboxes() -> Vec<(&'static str, User, bool)> {
    static FOUND: OnceLock<Vec<(&'static str, User, bool)>> = OnceLock::new();
    let found = FOUND.get_or_init(|| {
        let (other, compiler) = other_user();
        sandboxes_here(other, compiler)
    });
    found.clone()
}

pub(crate) fn trials() -> Vec<Trial> {
    let (other, compiler) = other_user();
    let root = getuid().is_root();
    let sandboxes = sandboxes();
    let mut all = trials_of_attacks(&sandboxes, compiler, root);
    for name in ["remembers", "leaves-traces", "leaves-settings"] {
        all.extend(in_each(name, &sandboxes, false, move |kind, user| {
            remembers(name, kind, user)
        }));
    }
    all.extend(in_each(
        "a link out of its directory",
        &sandboxes,
        false,
        follows_link,
    ));
    all.extend(in_each("a terminal", &sandboxes, !has("script"), types));
    all.extend(in_each(
        "lives on when the referee is killed",
        &sandboxes,
        false,
        |kind, user| outlives(kind, user, Stroke::Referee),
    ));
    let walled: Vec<_> = sandboxes
        .iter()
        .copied()
        .filter(|(kind, ..)| *kind != "none")
        .collect();
    all.extend(in_each(
        "lives on when referee and supervisors are killed at once",
        &walled,
        false,
        |kind, user| outlives(kind, user, Stroke::Supervisors),
    ));
    all.extend(trials_of_processes(&sandboxes));
    let as_nobody: Vec<_> = sandboxes
        .iter()
        .copied()
        .filter(|(_, user, _)| *user == other)
        .collect();
    all.extend(in_each(
        "gains-rights",
        &as_nobody,
        other == User::Same,
        |kind, _| gains_rights(kind),
    ));
    for kind in ["bwrap", "landlock"] {
        let title = format!("hostile::a referee that only root may run is explained by {kind}");
        let ready = sandboxes
            .iter()
            .any(|&(of, user, ready)| ready && of == kind && user == User::Same);
        let trial = Trial::test(title, move || is_closed_to_bots(kind));
        all.push(trial.with_ignored_flag(!root || !ready));
    }
    for name in [
        "ignores-term",
        "stops-itself",
        "leaves-child",
        "daemon",
        "chain",
        "deep-directories",
        "deeper-directories",
    ] {
        let walled: Vec<_> = sandboxes
            .iter()
            .copied()
            .filter(|(kind, ..)| *kind != "none")
            .collect();
        all.extend(in_each(name, &walled, false, |kind, user| {
            ends(name, kind, user)
        }));
    }
    all
}

/// Removes the shared directory after the last test.
pub(crate) fn remove_shared() {
    if let Some(shared) = SHARED.get() {
        let _ = fs::remove_dir_all(shared);
    }
}
