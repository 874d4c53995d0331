//! Slurm on this machine, with one controller and two nodes, through `scripts/slurm/submit.sh`.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use rustix::system::uname;

use super::processes::{Daemon, Process, command, ends_of_files, kill_all, until};
use super::ssh::free_port;
use super::tournament::{SHARDS, Tournament};
use super::{Need, Test};

const NEEDS: &[Need] = &[
    ("slurmctld", "slurm-wlm"),
    ("slurmd", "slurm-wlm"),
    ("sbatch", "slurm-wlm"),
    ("munged", "munge"),
    ("mungekey", "munge"),
    ("bash", "bash"),
    ("setpriv", "util-linux"),
];

pub(crate) const TESTS: &[Test] = &[
    ("slurm: one of two nodes dies", NEEDS, a_node_dies),
    ("slurm: games are missing", NEEDS, games_are_missing),
];

const NODES: [&str; 2] = ["n1", "n2"];

/// A cluster of this user, whose daemons share nothing with others: it ends with the test.
struct Cluster<'a> {
    tournament: &'a Tournament,
    daemons: Vec<Daemon>,
}

impl<'a> Cluster<'a> {
    fn start(tournament: &'a Tournament) -> Self {
        let mut cluster = Self {
            tournament,
            daemons: Vec::new(),
        };
        for folder in ["slurm", "slurm/munge", "slurm/state", "slurm/logs"] {
            fs::create_dir(cluster.path(folder)).expect("a folder");
        }
        cluster.munge();
        fs::write(cluster.configuration(), cluster.settings()).expect("a file");
        let mut controller = cluster.command("slurmctld");
        controller.args(["-D", "-c"]);
        cluster.daemon(&controller, "slurmctld");
        for node in NODES {
            cluster.node(node);
        }
        for node in NODES {
            until(node, &|| cluster.explain(), || {
                cluster.state(node) == "idle"
            });
        }
        cluster
    }

    fn path(&self, name: &str) -> PathBuf {
        self.tournament.file(name)
    }

    fn shown(&self, name: &str) -> String {
        self.path(name).to_string_lossy().into_owned()
    }

    fn configuration(&self) -> PathBuf {
        self.path("slurm/slurm.conf")
    }

    /// A program that talks to this cluster.
    fn command(&self, name: &str) -> Command {
        let mut command = command(name);
        command
            .env("SLURM_CONF", self.configuration())
            .current_dir(self.tournament.path());
        command
    }

    fn daemon(&mut self, command: &Command, name: &str) {
        let log = self.path(&format!("slurm/logs/{name}-out.log"));
        self.daemons.push(Daemon::start(command, &log));
    }

    fn munge(&mut self) {
        let key = format!("--keyfile={}", self.shown("slurm/munge/key"));
        let made = command("mungekey").args(["--create", &key]).status();
        assert!(made.expect("mungekey starts").success());
        let mut munged = command("munged");
        munged.args(["--foreground", "--num-threads=2"]);
        for (option, file) in [
            ("--key-file", "key"),
            ("--socket", "socket"),
            ("--pid-file", "pid"),
            ("--log-file", "log"),
            ("--seed-file", "seed"),
        ] {
            munged.arg(format!(
                "{option}={}",
                self.shown(&format!("slurm/munge/{file}"))
            ));
        }
        self.daemon(&munged, "munged");
        let socket = self.path("slurm/munge/socket");
        until("munged", &|| self.explain(), || socket.exists());
    }

    /// Nodes on one machine, each with a port of its own. A job that is queued again waits for
    /// `cred_expire` seconds.
    fn settings(&self) -> String {
        let name = uname().nodename().to_string_lossy().into_owned();
        let host = name.split('.').next().unwrap_or_default();
        let user = command("id").arg("-un").output().expect("id starts").stdout;
        let user = String::from_utf8(user).expect("a name");
        let user = user.trim();
        let folder = self.shown("slurm");
        let ports = [free_port(), free_port(), free_port()];
        let mut settings = format!(
            "ClusterName=referee\n\
             SlurmctldHost={host}(127.0.0.1)\n\
             SlurmctldPort={}\n\
             SlurmUser={user}\n\
             SlurmdUser={user}\n\
             AuthType=auth/munge\n\
             AuthInfo=socket={folder}/munge/socket,cred_expire=15\n\
             StateSaveLocation={folder}/state\n\
             SlurmdSpoolDir={folder}/spool-%n\n\
             SlurmctldPidFile={folder}/slurmctld.pid\n\
             SlurmdPidFile={folder}/slurmd-%n.pid\n\
             SlurmctldLogFile={folder}/logs/slurmctld.log\n\
             SlurmdLogFile={folder}/logs/slurmd-%n.log\n\
             ProctrackType=proctrack/linuxproc\n\
             TaskPlugin=task/none\n\
             SelectType=select/cons_tres\n\
             SelectTypeParameters=CR_CPU\n\
             SlurmdParameters=config_overrides\n\
             JobAcctGatherType=jobacct_gather/none\n\
             AccountingStorageType=accounting_storage/none\n\
             MpiDefault=none\n\
             SchedulerParameters=sched_interval=2\n\
             SlurmdTimeout=600\n\
             KillWait=5\n\
             ReturnToService=0\n\
             PartitionName=all Nodes=ALL Default=YES MaxTime=INFINITE State=UP\n",
            ports[0]
        );
        for (node, port) in NODES.into_iter().zip(&ports[1..]) {
            let _ = writeln!(
                settings,
                "NodeName={node} NodeHostname={host} NodeAddr=127.0.0.1 Port={port} CPUs=2 \
                 RealMemory=1000 State=UNKNOWN"
            );
        }
        settings
    }

    fn node(&mut self, node: &str) {
        let mut slurmd = self.command("slurmd");
        slurmd
            .args(["-D", "-N", node])
            .env("REFEREE_TEST_NODE", self.path(node));
        self.daemon(&slurmd, node);
    }

    /// The output of a Slurm program; empty when it fails.
    fn ask(&self, name: &str, arguments: &[&str]) -> String {
        let mut command = self.command(name);
        let output = command.args(arguments).output().expect("it starts");
        let printed = String::from_utf8_lossy(&output.stdout);
        printed.trim().to_owned()
    }

    fn state(&self, node: &str) -> String {
        self.ask("sinfo", &["-h", "-n", node, "-o", "%T"])
    }

    fn set_state(&self, node: &str, state: &str) {
        let [node, state] = [format!("NodeName={node}"), format!("State={state}")];
        self.ask("scontrol", &["update", &node, &state, "Reason=test"]);
    }

    /// Whether a process is a part of a job on a node.
    fn works_on(&self, one: &Process, node: &str) -> bool {
        one.variable("SLURMD_NODENAME") == Some(node) && one.is_of(self.tournament.path())
    }

    /// Kills everything that runs on a node, as when it loses its power.
    fn kill(&self, node: &str) {
        let folder = self.shown(node);
        // Who leads a job has a name of its own choice over its environment.
        let all = Process::all();
        let working = all.iter().filter(|one| self.works_on(one, node));
        let parents: Vec<i32> = working.map(|one| one.parent).filter(|&id| id > 1).collect();
        kill_all(|one| {
            parents.contains(&one.id)
                || self.works_on(one, node)
                || one.variable("REFEREE_TEST_NODE") == Some(folder.as_str())
        });
    }

    fn submit(&self, more: &[&str]) -> Daemon {
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("scripts/slurm/submit.sh");
        let mut submit = Command::new(script);
        submit
            .env("SLURM_CONF", self.configuration())
            .current_dir(self.tournament.path())
            .args(["--shards", &SHARDS.to_string(), "--wait", "cup"])
            .args(["--referee", env!("CARGO_BIN_EXE_referee")])
            .args(more);
        Daemon::start(&submit, &self.path("submit.log"))
    }

    fn explain(&self) -> String {
        [
            self.ask("squeue", &[]),
            self.ask("sinfo", &["-R"]),
            ends_of_files(self.tournament.path()),
            ends_of_files(&self.path("slurm/logs")),
            ends_of_files(&self.path("cup/slurm-logs")),
        ]
        .join("\n")
    }
}

impl Drop for Cluster<'_> {
    fn drop(&mut self) {
        let daemons: Vec<i32> = self.daemons.iter().map(Daemon::id).collect();
        kill_all(|one| daemons.contains(&one.id) || one.is_of(self.tournament.path()));
    }
}

fn shard_of(process: &Process) -> u64 {
    process.shard().expect("it plays one")
}

fn a_node_dies() {
    let tournament = Tournament::planned();
    let mut cluster = Cluster::start(&tournament);
    let mut submitted = cluster.submit(&["--time", "30"]);
    let mut wait_for_shard_on = |node: &str| {
        let mut shard = None;
        until("a shard on a node", &|| cluster.explain(), || {
            assert!(submitted.is_running(), "too early\n{}", cluster.explain());
            shard = tournament.in_the_middle(|one| cluster.works_on(one, node));
            shard.is_some()
        });
        shard.expect("it was found")
    };

    // What Slurm does when the time of a shard is nearly up.
    let late = wait_for_shard_on("n1");
    let job = ["SLURM_ARRAY_JOB_ID", "SLURM_ARRAY_TASK_ID"].map(|name| late.variable(name));
    let job = job.map(|id| id.expect("it is a job")).join("_");
    let log = format!("cup/slurm-logs/shard-{}.log", shard_of(&late));
    let mut told = cluster.command("scancel");
    told.args(["--batch", "--signal=USR1", &job]);
    // It tries again and again while the job is being queued again.
    let told = Daemon::start(&told, &cluster.path("scancel.log"));
    until("the shard is queued again", &|| cluster.explain(), || {
        tournament
            .read(&log)
            .contains("as its time was nearly up; it is queued again")
    });
    drop(told);

    let lost = wait_for_shard_on("n2");
    cluster.kill("n2");
    cluster.set_state("n2", "DOWN");
    until("n2 is down", &|| cluster.explain(), || {
        cluster.ask("squeue", &["-h", "-w", "n2"]).is_empty() && cluster.state("n2") == "down"
    });
    cluster.node("n2");
    until("n2 is back", &|| cluster.explain(), || {
        cluster.set_state("n2", "RESUME");
        ["idle", "mixed", "allocated"].contains(&cluster.state("n2").as_str())
    });

    let (status, printed) = submitted.finish(&|| cluster.explain());
    assert_eq!(status.code(), Some(0), "{printed}\n{}", cluster.explain());
    for process in [late, lost] {
        tournament.was_resumed(shard_of(&process));
    }
    assert!(printed.contains(": 72 games, 0 lost on time"), "{printed}");
    tournament.is_as_on_one_machine();
}

fn games_are_missing() {
    let tournament = Tournament::planned();
    let cluster = Cluster::start(&tournament);
    tournament.change_a_bot();
    // A job that would fail again is not queued again: the merge follows at once.
    let (status, printed) = cluster.submit(&[]).finish(&|| cluster.explain());
    assert_eq!(status.code(), Some(2), "{printed}\n{}", cluster.explain());
    let log = tournament.read("cup/slurm-logs/shard-1.log");
    assert!(log.contains("steady.sh#1 has been changed"), "{log}");
    assert!(!log.contains("start 2"), "{log}");
    assert!(printed.contains("are missing"), "{printed}");

    // What Slurm refuses.
    let (status, printed) = cluster
        .submit(&["--", "--partition=nowhere"])
        .finish(&|| cluster.explain());
    assert_eq!(status.code(), Some(1), "{printed}");
    assert!(printed.contains("sbatch refused"), "{printed}");
}
