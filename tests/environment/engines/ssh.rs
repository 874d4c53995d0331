//! GNU parallel over ssh to two sshd on this machine, through `scripts/parallel/run.sh`.

use std::fmt::Write as _;
use std::fs;
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::Command;

use rustix::process::getuid;

use super::Test;
use super::processes::{Daemon, command, ends_of_files, kill_all, program, until};
use super::tournament::{SHARDS, Tournament};

pub(crate) const TESTS: &[Test] = &[(
    "ssh: one of two machines is lost",
    &[
        ("sshd", "openssh-server"),
        ("ssh", "openssh-client"),
        ("ssh-keygen", "openssh-client"),
        ("parallel", "parallel"),
        ("bash", "bash"),
        ("setpriv", "util-linux"),
    ],
    a_machine_is_lost,
)];

const HOSTS: [&str; 2] = ["n1", "n2"];

/// The folder that sshd requires when started by root. It is missing where no sshd is installed.
const SEPARATION: &str = "/run/sshd";

/// Two sshd, each for this user with one key.
struct Machines<'a> {
    tournament: &'a Tournament,
    hosts: Vec<Daemon>,
    made_separation: bool,
}

impl<'a> Machines<'a> {
    fn start(tournament: &'a Tournament) -> Self {
        let made_separation = getuid().is_root() && fs::create_dir(SEPARATION).is_ok();
        let mut machines = Self {
            tournament,
            hosts: Vec::new(),
            made_separation,
        };
        machines.key("key");
        let mut client = format!(
            "Host *\n  HostName 127.0.0.1\n  IdentityFile {}\n  IdentitiesOnly yes\n  \
             StrictHostKeyChecking no\n  UserKnownHostsFile {}\n  LogLevel ERROR\n",
            machines.shown("key"),
            machines.shown("known_hosts"),
        );
        for host in HOSTS {
            machines.key(&format!("{host}-key"));
            let port = free_port();
            let _ = write!(client, "Host {host}\n  Port {port}\n");
            let config = format!(
                "ListenAddress 127.0.0.1\nPort {port}\nHostKey {}\nAuthorizedKeysFile {}\n\
                 PidFile none\nUsePAM no\nStrictModes no\nPermitRootLogin yes\n\
                 PasswordAuthentication no\nSetEnv REFEREE_TEST_HOST={}\n",
                machines.shown(&format!("{host}-key")),
                machines.shown("key.pub"),
                machines.shown(host),
            );
            let file = machines.path(&format!("{host}.conf"));
            fs::write(&file, config).expect("a file");
            let mut sshd = command("sshd");
            sshd.arg("-D").arg("-e").arg("-f").arg(&file);
            let log = machines.path(&format!("{host}.log"));
            machines.hosts.push(Daemon::start(&sshd, &log));
        }
        fs::write(machines.path("ssh.conf"), client).expect("a file");
        for host in HOSTS {
            until(host, &|| machines.explain(), || {
                let mut ssh = command("ssh");
                ssh.args(["-F", &machines.shown("ssh.conf"), host, "true"]);
                ssh.output().expect("ssh starts").status.success()
            });
        }
        machines
    }

    fn path(&self, name: &str) -> PathBuf {
        self.tournament.file(name)
    }

    fn shown(&self, name: &str) -> String {
        self.path(name).to_string_lossy().into_owned()
    }

    fn key(&self, name: &str) {
        let made = command("ssh-keygen")
            .args(["-q", "-t", "ed25519", "-N", "", "-f", &self.shown(name)])
            .status()
            .expect("ssh-keygen starts");
        assert!(made.success());
    }

    /// Kills an sshd and everything that it has started, as if the machine had lost its power.
    fn kill(&self, host: usize) {
        let (listener, mark) = (self.hosts[host].id(), self.shown(HOSTS[host]));
        kill_all(|one| {
            one.id == listener || one.variable("REFEREE_TEST_HOST") == Some(mark.as_str())
        });
    }

    fn explain(&self) -> String {
        ends_of_files(self.tournament.path())
    }
}

impl Drop for Machines<'_> {
    fn drop(&mut self) {
        let hosts: Vec<i32> = self.hosts.iter().map(Daemon::id).collect();
        kill_all(|one| hosts.contains(&one.id) || one.is_of(self.tournament.path()));
        if self.made_separation {
            let _ = fs::remove_dir(SEPARATION);
        }
    }
}

/// A port that is free now.
pub(crate) fn free_port() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    listener.local_addr().expect("an address").port()
}

fn a_machine_is_lost() {
    let tournament = Tournament::planned();
    let machines = Machines::start(&tournament);
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("scripts/parallel/run.sh");
    let ssh = format!(
        "{} -F {}",
        program("ssh").expect("it is there").display(),
        machines.shown("ssh.conf")
    );
    let mut run = Command::new(script);
    run.args(["--shards", &SHARDS.to_string(), "--hosts", "n1,n2"])
        .args(["--jobs", "1", "--ssh", &ssh, "cup"])
        .args(["--referee", env!("CARGO_BIN_EXE_referee")])
        .current_dir(tournament.path())
        // What GNU parallel remembers.
        .env("PARALLEL_HOME", machines.path("parallel"));
    let mut running = Daemon::start(&run, &machines.path("run.log"));
    let explain = || machines.explain();
    let mut lost = None;
    until("a shard is played on n2", &explain, || {
        assert!(running.is_running(), "too early\n{}", machines.explain());
        let mark = machines.shown("n2");
        let found = tournament
            .in_the_middle(|one| one.variable("REFEREE_TEST_HOST") == Some(mark.as_str()));
        lost = found.and_then(|process| process.shard());
        lost.is_some()
    });
    machines.kill(1);
    let lost = lost.expect("it was found");
    let (status, printed) = running.finish(&explain);
    assert_eq!(status.code(), Some(0), "{printed}\n{}", machines.explain());
    tournament.was_resumed(lost);
    // Its last start was on the machine that was left.
    let log = tournament.read("cup/parallel.log");
    let final_start = log
        .lines()
        .rfind(|line| line.starts_with(&format!("{lost}\t")));
    assert!(
        final_start.is_some_and(|line| line.contains("n1\t")),
        "{log}"
    );
    assert!(printed.contains(": 72 games, 0 lost on time"), "{printed}");
    tournament.is_as_on_one_machine();
}
