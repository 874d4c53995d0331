//! A class that is served, in a folder of its own.

use std::fs::{self, File};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use serde_json::Value;
use tempfile::TempDir;

use crate::hangs::HANGS;
use crate::http::{Reply, boundary, raw, upload};

pub(crate) const RANDOM: &str = "#!/bin/sh\nexec \"$REFEREE_BIN\" bot random\n";
pub(crate) const GREEDY: &str = "#!/bin/sh\nexec \"$REFEREE_BIN\" bot greedy\n";
pub(crate) const WRONG: &str = "#!/bin/sh\nwhile read -r line; do echo hello; done\n";

const PROGRAM: &str = env!("CARGO_BIN_EXE_referee");

#[rustfmt::skip]
const SERVE: [&str; 11] = [
    "league", "serve", "term", "--sandbox", "none", "--pairs", "1", "--seed", "3", "--log-file", "class.log",
];
const LISTEN: [&str; 2] = ["--listen", "127.0.0.1:0"];

pub(crate) fn command(folder: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(PROGRAM);
    command
        .args(arguments)
        .current_dir(folder)
        .env("REFEREE_BIN", PROGRAM)
        .env_remove("RUST_LOG")
        .stdin(Stdio::null());
    command
}

/// What a command prints that succeeds.
pub(crate) fn referee(folder: &Path, arguments: &[&str]) -> String {
    let output = command(folder, arguments).output().expect("a run");
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{arguments:?}: {stderr}");
    String::from_utf8_lossy(&output.stdout).into_owned()
}

pub(crate) struct Served {
    folder: Option<TempDir>,
    /// Where the server has its folder, if that is seen elsewhere.
    seen: Option<PathBuf>,
    process: Child,
    /// Where requests are sent.
    pub(crate) address: SocketAddr,
    /// Where it listens: another one behind a proxy.
    pub(crate) server: SocketAddr,
    /// As requests name it.
    pub(crate) host: String,
}

impl Served {
    pub(crate) fn start(students: &str) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        fs::write(folder.path().join("students.csv"), students).expect("a file");
        Self::in_folder(folder, &["--students", "students.csv"])
    }

    pub(crate) fn open(code: &str) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        Self::in_folder(folder, &["--open", code])
    }

    pub(crate) fn in_folder(folder: TempDir, more: &[&str]) -> Self {
        let arguments = [&SERVE[..], &LISTEN, more].concat();
        let server = command(folder.path(), &arguments);
        Self::spawned(folder, server, None)
    }

    /// One whose students open `origin`, where a proxy is. Its address is its own until a test puts the proxy's there.
    pub(crate) fn behind_proxy(origin: &str, students: &str, more: &[&str]) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        fs::write(folder.path().join("students.csv"), students).expect("a file");
        let arguments = [&SERVE[..], &["--trust-proxy", origin], more].concat();
        let server = command(folder.path(), &arguments);
        let (_, host) = origin.split_once("://").expect("an origin");
        Self::spawned(folder, server, Some(host))
    }

    #[allow(dead_code, reason = "tests/class_pages uses it")]
    /// Whose folder is on a disk of so many MB, which only it sees: `unshare` is the command that lets it make one.
    pub(crate) fn on_disk(unshare: &[&str], megabytes: u32, students: &str) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        fs::create_dir(folder.path().join("disk")).expect("a folder");
        fs::write(folder.path().join("students.csv"), students).expect("a file");
        let mount = format!("mount -t tmpfs -o size={megabytes}m none disk");
        let script = format!("{mount} && cd disk && exec \"$0\" \"$@\"");
        let mut server = Command::new(unshare[0]);
        server
            .args(&unshare[1..])
            .args(["sh", "-c", &script, PROGRAM])
            .args(SERVE)
            .args(LISTEN)
            .args(["--students", "../students.csv"])
            .current_dir(folder.path())
            .env("REFEREE_BIN", PROGRAM)
            .env_remove("RUST_LOG")
            .stdin(Stdio::null());
        let place = folder.path().join("disk");
        let mut class = Self::spawned(folder, server, None);
        // As its process sees it.
        let place = place.strip_prefix("/").expect("an absolute path");
        let root = PathBuf::from(format!("/proc/{}/root", class.process.id()));
        class.seen = Some(root.join(place));
        class
    }

    /// Once it answers. `host`: as requests name it, where that is not its address.
    fn spawned(folder: TempDir, mut server: Command, host: Option<&str>) -> Self {
        let log = File::create(folder.path().join("out.log")).expect("a file");
        let mut process = server
            .stdout(Stdio::null())
            .stderr(log)
            .spawn()
            .expect("the server starts");
        let begun = Instant::now();
        let address = loop {
            let told = fs::read_to_string(folder.path().join("out.log")).expect("a log");
            let before = match host {
                Some(_) => " reaches it at http://",
                None => "class at http://",
            };
            let mut lines = told.lines();
            let line = lines.find_map(|line| Some(line.split_once(before)?.1));
            if let Some(address) = line.and_then(|line| line.strip_suffix('/')) {
                break address.parse::<SocketAddr>().expect("an address");
            }
            let ended = process.try_wait().expect("a process");
            assert!(ended.is_none() && begun.elapsed() < HANGS, "{told}");
            sleep(Duration::from_millis(20));
        };
        let class = Self {
            folder: Some(folder),
            seen: None,
            process,
            address,
            server: address,
            host: host.map_or_else(|| address.to_string(), str::to_owned),
        };
        while class
            .try_get("/health")
            .is_none_or(|reply| reply.status != 200)
        {
            assert!(begun.elapsed() < HANGS);
            sleep(Duration::from_millis(20));
        }
        class
    }

    pub(crate) fn folder(&self) -> &Path {
        self.folder.as_ref().expect("it is there").path()
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        let seen = self.seen.as_deref();
        seen.unwrap_or_else(|| self.folder()).join(name)
    }

    /// The secret of a link.
    pub(crate) fn link(&self, name: &str) -> String {
        let links = fs::read_to_string(self.path("term/links.csv")).expect("links");
        let line = links.lines().find(|line| line.starts_with(name));
        let line = line.unwrap_or_else(|| panic!("{name}: {links}"));
        line.rsplit_once("/in/").expect("a link").1.to_owned()
    }

    fn try_get(&self, path: &str) -> Option<Reply> {
        raw(
            self.address,
            self.head(&format!("GET {path} HTTP/1.1\r\n")).as_bytes(),
        )
    }

    fn head(&self, head: &str) -> String {
        let host = &self.host;
        format!("{head}Host: {host}\r\nConnection: close\r\n\r\n")
    }

    /// The first lines of a request, to which `Host` is added, and its body.
    pub(crate) fn ask(&self, head: &str, body: &[u8]) -> Reply {
        let bytes = [self.head(head).as_bytes(), body].concat();
        raw(self.address, &bytes).unwrap_or_else(|| panic!("no answer to {head}"))
    }

    pub(crate) fn get(&self, path: &str, token: &str) -> Reply {
        self.ask(&format!("GET {path} HTTP/1.1\r\n{}", bearer(token)), b"")
    }

    pub(crate) fn send(&self, path: &str, token: &str, kind: &str, body: &[u8]) -> Reply {
        let length = body.len();
        let own = bearer(token);
        let head = format!(
            "POST {path} HTTP/1.1\r\n{own}Content-Type: {kind}\r\nContent-Length: {length}\r\n"
        );
        self.ask(&head, body)
    }

    pub(crate) fn post(&self, path: &str, token: &str, form: &str) -> Reply {
        let kind = "application/x-www-form-urlencoded";
        self.send(path, token, kind, form.as_bytes())
    }

    pub(crate) fn hand_in(&self, token: &str, name: &str, text: &str) -> Reply {
        let body = upload(&[(name, text)]);
        self.send("/submissions", token, &boundary(), &body)
    }

    pub(crate) fn submission(&self, token: &str, number: u64) -> Value {
        let reply = self.get(&format!("/submissions/{number}"), token);
        assert_eq!(reply.status, 200, "{reply:?}");
        reply.json()
    }

    /// Waits until a submission has come in, which a browser may still send, is in one of these states, and its games are
    /// played.
    pub(crate) fn until(&self, token: &str, number: u64, states: &[&str]) -> Value {
        let begun = Instant::now();
        loop {
            let reply = self.get(&format!("/submissions/{number}"), token);
            let is_there = reply.status == 200;
            assert!(is_there || reply.status == 404, "{reply:?}");
            let now = if is_there { reply.json() } else { Value::Null };
            if states.iter().any(|state| now["state"] == *state) {
                return now;
            }
            if begun.elapsed() > HANGS {
                let log = fs::read_to_string(self.path("out.log")).unwrap_or_default();
                panic!("{now}\n{log}");
            }
            sleep(Duration::from_millis(100));
        }
    }

    /// SIGKILL.
    pub(crate) fn kill(mut self) -> TempDir {
        self.process.kill().expect("it is killed");
        self.process.wait().expect("it has ended");
        self.folder.take().expect("it is there")
    }

    /// SIGTERM.
    pub(crate) fn stop(mut self) -> TempDir {
        let id = self.process.id().to_string();
        let told = Command::new("kill").arg(id).status().expect("kill");
        assert!(told.success());
        let status = self.process.wait().expect("it has ended");
        assert_eq!(status.code(), Some(0), "{status}");
        self.folder.take().expect("it is there")
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

fn bearer(token: &str) -> String {
    if token.is_empty() {
        return String::new();
    }
    format!("Authorization: Bearer {token}\r\n")
}
