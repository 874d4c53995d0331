//! The page that is served while games go on: what it answers, who gets what, and that those who
//! watch cost the games nothing.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::common::games::{GAMES, many, write};
use crate::common::{self, Referee};
use referee::record::Record;
use referee::report::html::ReportPageOptions;
use referee::server::{Feed, LiveState, Server};
use referee::stats::standings::{Absence, NotEntered, Ranking};
use serde_json::{Value, json};

/// What never comes within this time does not come.
pub(super) const PATIENCE: Duration = Duration::from_mins(5);

fn record(value: &Value) -> Record {
    Record::from_line(value.to_string().as_bytes()).unwrap()
}

fn feed() -> Arc<Feed> {
    Feed::new(ReportPageOptions {
        title: "A cup".to_owned(),
        ..ReportPageOptions::default()
    })
}

fn serve(feed: &Arc<Feed>) -> Server {
    Server::bind("127.0.0.1:0".parse().unwrap(), Arc::clone(feed)).unwrap()
}

pub(super) fn ask(address: SocketAddr, head: &str) -> TcpStream {
    let mut stream = TcpStream::connect(address).unwrap();
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    stream.write_all(head.as_bytes()).unwrap();
    stream
}

/// All that is answered until the server closes the connection.
pub(super) fn answer(address: SocketAddr, request: &str, headers: &str) -> String {
    let head = format!("{request} HTTP/1.1\r\nConnection: close\r\n{headers}\r\n");
    let mut text = String::new();
    ask(address, &head).read_to_string(&mut text).unwrap();
    text
}

pub(super) const LOCAL: &str = "Host: 127.0.0.1:1\r\n";

/// A client that listens for events.
pub(super) struct Listener {
    lines: std::io::Lines<BufReader<Chunks>>,
}

/// The text within the chunked encoding.
struct Chunks {
    stream: BufReader<TcpStream>,
    left: u64,
}

impl Chunks {
    /// The number on the line with the size of the next chunk; 0 at the end.
    fn size(&mut self) -> std::io::Result<u64> {
        let mut line = String::new();
        // The line that ends the chunk before is empty.
        while line.trim().is_empty() {
            line.clear();
            if self.stream.read_line(&mut line)? == 0 {
                return Ok(0);
            }
        }
        u64::from_str_radix(line.trim(), 16).map_err(std::io::Error::other)
    }
}

impl std::io::Read for Chunks {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        if self.left == 0 {
            self.left = self.size()?;
        }
        let read = (&mut self.stream).take(self.left).read(buffer)?;
        self.left -= read as u64;
        Ok(read)
    }
}

#[derive(Debug, PartialEq)]
pub(super) struct Event {
    pub(super) kind: String,
    pub(super) id: Option<String>,
    pub(super) data: Value,
}

impl Listener {
    fn new(address: SocketAddr, headers: &str) -> Self {
        Self::at(address, "/events", headers)
    }

    /// One that listens at this path.
    pub(super) fn at(address: SocketAddr, path: &str, headers: &str) -> Self {
        let stream = ask(
            address,
            &format!("GET {path} HTTP/1.1\r\n{LOCAL}{headers}\r\n"),
        );
        let mut stream = BufReader::new(stream);
        let mut line = || {
            let mut line = String::new();
            stream.read_line(&mut line).unwrap();
            line.trim_end().to_owned()
        };
        assert_eq!(line(), "HTTP/1.1 200 OK");
        while !line().is_empty() {}
        let lines = BufReader::new(Chunks { stream, left: 0 }).lines();
        Self { lines }
    }

    /// The next event; `None` at the end of the stream.
    pub(super) fn next(&mut self) -> Option<Event> {
        let (mut kind, mut id, mut data) = (None, None, None);
        for line in self.lines.by_ref() {
            let line = line.unwrap();
            if let Some(value) = line.strip_prefix("event: ") {
                kind = Some(value.to_owned());
            } else if let Some(value) = line.strip_prefix("id: ") {
                id = Some(value.to_owned());
            } else if let Some(value) = line.strip_prefix("data: ") {
                data = Some(serde_json::from_str(value).unwrap());
            } else if line.is_empty()
                && let (Some(kind), Some(data)) = (kind.take(), data.take())
            {
                return Some(Event { kind, id, data });
            }
        }
        None
    }

    /// Games until there are so many, and the id of the last event with some.
    fn games(&mut self, count: usize) -> (Vec<Value>, String) {
        let (mut games, mut last) = (Vec::new(), String::new());
        while games.len() < count {
            let event = self.next().expect("more events");
            if event.kind == "entries" {
                let entries = event.data.as_array().unwrap().clone();
                games.extend(entries.into_iter().filter(|entry| entry[0] == "g"));
                last = event.id.unwrap();
            }
        }
        (games, last)
    }
}

#[test]
fn the_page_is_there_and_nothing_else() {
    let feed = feed();
    let server = serve(&feed);
    let address = server.address;
    assert_eq!(server.url(), format!("http://{address}/"));
    let page = answer(address, "GET /", LOCAL);
    let (head, body) = page.split_once("\r\n\r\n").unwrap();
    assert!(head.starts_with("HTTP/1.1 200 OK"), "{head}");
    for header in [
        "content-type: text/html; charset=utf-8",
        "x-content-type-options: nosniff",
        "x-frame-options: DENY",
        "cross-origin-resource-policy: same-origin",
        "frame-ancestors 'none'",
        "connect-src 'self'",
    ] {
        assert!(head.contains(header), "{header}: {head}");
    }
    assert!(body.contains("<title>A cup</title>"), "{body}");
    for (request, headers, status) in [
        ("GET /", "Host: localhost\r\n", "200"),
        ("HEAD /", LOCAL, "200"),
        ("GET /", "Host: evil.example\r\n", "403"),
        ("GET /events", "Host: evil.example:80\r\n", "403"),
        ("GET /", "", "403"),
        ("POST /", LOCAL, "405"),
        ("PUT /events", LOCAL, "405"),
        ("OPTIONS /", LOCAL, "405"),
        ("GET /report.html", LOCAL, "404"),
        ("GET /../../etc/passwd", LOCAL, "404"),
        ("nonsense", LOCAL, "400"),
    ] {
        let answer = answer(address, request, headers);
        let found = answer.split(' ').nth(1);
        assert_eq!(found, Some(status), "{request} {headers}: {answer}");
    }
    server.stop();
    assert!(TcpStream::connect(address).is_err(), "it still listens");
}

#[test]
fn everybody_gets_all_games_in_order_and_the_end() {
    let feed = feed();
    for game in &GAMES[..5] {
        feed.publish(&record(game)).unwrap();
    }
    let server = serve(&feed);
    let mut early = Listener::new(server.address, "");
    assert_eq!(early.next().unwrap().kind, "begin");
    let (before, _) = early.games(5);
    for game in &GAMES[5..] {
        feed.publish(&record(game)).unwrap();
    }
    let (after, last) = early.games(GAMES.len() - 5);
    let mut late = Listener::new(server.address, "");
    let (all, _) = late.games(GAMES.len());
    assert_eq!([before, after].concat(), all);
    let ids: Vec<&Value> = all.iter().map(|entry| &entry[8]).collect();
    let expected: Vec<&Value> = GAMES.iter().map(|game| &game["id"]).collect();
    assert_eq!(ids, expected);

    // One that comes back goes on where it was; one from another run begins anew.
    let mut back = Listener::new(server.address, &format!("Last-Event-ID: {last}\r\n"));
    assert_eq!(back.next().unwrap().kind, "figures");
    let mut other = Listener::new(server.address, "Last-Event-ID: 1-7\r\n");
    assert_eq!(other.next().unwrap().kind, "begin");
    let mut nonsense = Listener::new(server.address, "Last-Event-ID: ../../x\r\n");
    assert_eq!(nonsense.next().unwrap().kind, "begin");

    feed.set_state(LiveState::Finished);
    server.stop();
    for listener in [early, late, back, other, nonsense] {
        let mut listener = listener;
        let mut events = Vec::new();
        while let Some(event) = listener.next() {
            events.push(event);
        }
        let states = events.iter().filter(|event| event.kind == "state");
        let states: Vec<&Value> = states.map(|event| &event.data).collect();
        assert_eq!(states, [&json!({ "state": "finished" })]);
        let figures = events.iter().rev().find(|event| event.kind == "figures");
        if let Some(figures) = figures {
            assert_eq!(figures.data["games"], GAMES.len());
        }
    }
}

#[test]
fn what_changes_after_the_last_game_is_sent() {
    let feed = feed();
    feed.publish(&record(&GAMES[0])).unwrap();
    let server = serve(&feed);
    let mut listener = Listener::new(server.address, "");
    let mut figures =
        || std::iter::from_fn(|| listener.next()).find(|event| event.kind == "figures");
    assert_eq!(figures().unwrap().data["absent"], json!([]));
    let ranking = Ranking {
        not_entered: vec![NotEntered {
            name: "carla".to_owned(),
            absence: Some(Absence::new("not fit")),
        }],
        ..Ranking::default()
    };
    feed.set_ranking(ranking, None);
    assert_eq!(figures().unwrap().data["absent"][0]["name"], "carla");
}

/// How long games took to publish.
#[derive(Debug, Default)]
struct Times {
    all: Duration,
    longest: Duration,
}

impl Times {
    fn publish(&mut self, feed: &Feed, games: &[Record]) {
        for game in games {
            let began = Instant::now();
            feed.publish(game).unwrap();
            let took = began.elapsed();
            self.all += took;
            self.longest = self.longest.max(took);
        }
    }
}

#[test]
fn clients_that_never_read_cost_the_games_nothing() {
    let feed = feed();
    let server = serve(&feed);
    // They ask for everything, and take none of it. More than there is room for.
    let _idle: Vec<TcpStream> = (0..150)
        .map(|_| {
            let request = format!("GET /events HTTP/1.1\r\n{LOCAL}\r\n");
            ask(server.address, &request)
        })
        .collect();
    let records: Vec<Record> = many(&GAMES, 20_000, 12).iter().map(record).collect();
    // The same games, in turns, for a page that nobody looks at: the machine may be busy, and is so for both. One game
    // in ten is enough to compare with.
    let alone = self::feed();
    let server_alone = serve(&alone);
    let (mut watched_times, mut alone_times) = (Times::default(), Times::default());
    for games in records.chunks(500) {
        watched_times.publish(&feed, games);
        alone_times.publish(&alone, &games[..50]);
    }
    // Nobody was waited for: a client is given half a minute to take what it asked for. Nor does anything cost as much as
    // if it were done for each of the clients.
    assert!(
        watched_times.longest < Duration::from_secs(15) + 10 * alone_times.longest
            && watched_times.all < 10 * 20 * alone_times.all,
        "{watched_times:?}, and without clients {alone_times:?}"
    );
    assert_eq!(feed.games(), 20_000);
    // Nor does anybody keep it from ending.
    let [watched_end, alone_end] = [server, server_alone].map(|server| {
        let began = Instant::now();
        server.stop();
        began.elapsed()
    });
    assert!(
        watched_end < Duration::from_secs(15) + 10 * alone_end,
        "{watched_end:?}, and without clients {alone_end:?}"
    );
}

#[test]
fn a_name_that_is_no_address_cannot_be_bound_nor_a_port_that_is_taken() {
    let scratch = tempfile::tempdir().unwrap();
    let file = write(&scratch.path().join("games.jsonl"), &GAMES[..2]);
    let live = |address: &str| {
        Referee::new(["report", &format!("--live={address}")])
            .args([&file])
            .run()
    };
    let run = live("example.org:80");
    assert_eq!(run.code, Some(2), "{run}");
    assert!(
        run.stderr.contains("expected an address, a port or both"),
        "{run}"
    );
    let server = serve(&feed());
    let run = live(&server.address.to_string());
    assert_eq!(run.code, Some(2), "{run}");
    assert!(run.stderr.contains("choose another address"), "{run}");
    // A tournament that cannot be watched as it should does not begin, and checks no bots first.
    let folder = scratch.path().join("t");
    let run = Referee::new(["tournament", "builtin:random", "builtin:greedy", "--out"])
        .args([folder.to_string_lossy().into_owned()])
        .args([format!("--live={}", server.address)])
        .run();
    assert_eq!(run.code, Some(2), "{run}");
    assert!(run.stderr.contains("choose another address"), "{run}");
    assert!(!run.stderr.contains("entry check"), "{run}");
    assert!(!folder.exists(), "{run}");
    // A file after --live is a file.
    let run = Referee::new(["report", "--live", "nowhere.jsonl"]).run();
    assert_eq!(run.code, Some(2), "{run}");
    assert!(run.stderr.contains("nowhere.jsonl: "), "{run}");
}

#[test]
fn a_file_that_becomes_shorter_is_not_followed() {
    let referee = Referee::new(["report", "--live=0"]);
    let file = write(&referee.scratch().join("games.jsonl"), &GAMES[..9]);
    let mut running = referee
        .args([&file])
        .shell("exec \"$0\" \"$@\" 2> \"$SCRATCH/said\"")
        .start();
    let said = running.scratch().join("said");
    let says = |what: &str| std::fs::read_to_string(&said).is_ok_and(|said| said.contains(what));
    running.wait_until(|_| says("watch at"));
    write(&file, &GAMES[..1]);
    let run = running.finish();
    assert_eq!(run.code, Some(2), "{run}");
    let said = run.file("said");
    assert!(said.contains("the file shrank from"), "{said}");
}

#[test]
fn a_match_serves_its_page_and_writes_it_in_the_end() {
    let referee = Referee::new(["-n", "30", "--seed", "1", "--live=0", "--live-exit"]);
    let page = referee.scratch().join("cup.html");
    let run = referee
        .args([std::path::Path::new("--report"), &page])
        .args(["builtin:greedy", "builtin:random"])
        .run();
    assert_eq!(run.code, Some(0), "{run}");
    assert!(run.stderr.contains("watch at http://127.0.0.1:"), "{run}");
    assert!(
        run.stderr.contains("cup.html: 30 games of 2 bots, "),
        "{run}"
    );
    assert!(
        run.file("cup.html")
            .contains("<title>builtin:greedy vs builtin:random</title>")
    );
}

/// Runs a command with `--live=0` until it has said this on stderr, and gives the address of its page.
pub(super) fn until_said(referee: Referee, what: &str) -> (common::Running, SocketAddr) {
    let mut running = referee
        .args(["--live=0"])
        .shell("exec \"$0\" \"$@\" 2> \"$SCRATCH/said\"")
        .start();
    let said = running.scratch().join("said");
    let read = || std::fs::read_to_string(&said).unwrap_or_default();
    running.wait_until(|_| read().contains(what));
    let said = read();
    let address = said.split("watch at http://").nth(1).unwrap();
    let address = address.split('/').next().unwrap().parse().unwrap();
    (running, address)
}

#[test]
fn a_tournament_is_served_until_ctrl_c_and_leaves_its_page() {
    let referee = Referee::new(["tournament", "--seed", "1", "--pairs", "2"]);
    let folder = referee.scratch().join("cup");
    let referee = referee
        .args([std::path::Path::new("--out"), &folder])
        .args(["builtin:greedy", "builtin:random"]);
    let (running, address) = until_said(referee, "the page stays at");
    // Who comes when all is over sees it, too, and that it is over.
    let mut late = Listener::new(address, "");
    let (games, _) = late.games(4);
    assert_eq!(games.len(), 4);
    let state = std::iter::from_fn(|| late.next()).find(|event| event.kind == "state");
    assert_eq!(state.unwrap().data["state"], "finished");
    running.signal("INT");
    let run = running.finish();
    assert_eq!(run.code, Some(0), "{run}");
    let page = std::fs::read_to_string(folder.join("report.html")).unwrap();
    assert!(page.contains("<title>cup</title>"), "{page}");
}

#[test]
fn scripts_end_with_the_games() {
    let referee = Referee::new(["tournament", "--seed", "1", "--pairs", "1"]);
    let folder = referee.scratch().join("cup");
    let run = referee
        .args([std::path::Path::new("--out"), &folder])
        .args([
            "--live=0",
            "--live-exit",
            "builtin:greedy",
            "builtin:random",
        ])
        .run();
    assert_eq!(run.code, Some(0), "{run}");
    assert!(!run.stderr.contains("stays at"), "{run}");
}

#[test]
fn interrupted_is_not_finished() {
    let referee =
        Referee::new(["-n", "1000000", "--seed", "1"]).args(["builtin:greedy", "builtin:random"]);
    let (running, address) = until_said(referee, "watch at http://");
    let mut listener = Listener::new(address, "");
    assert_eq!(listener.next().unwrap().kind, "begin");
    running.signal("INT");
    assert_eq!(running.finish().code, Some(130));
    let mut events = std::iter::from_fn(|| listener.next());
    let state = events.find(|event| event.kind == "state").unwrap();
    assert_eq!(state.data["state"], "interrupted");
}

#[test]
fn a_tournament_that_is_analysed_has_the_analysis_on_its_page() {
    let referee = Referee::new(["tournament", "--seed", "1", "--pairs", "1", "--analyse"]);
    let page = referee.scratch().join("cup.html");
    let folder = referee.scratch().join("cup");
    let run = referee
        .args([std::path::Path::new("--report"), &page])
        .args([std::path::Path::new("--out"), &folder])
        .args([
            "--time-per-move",
            "20ms",
            "builtin:greedy",
            "builtin:random",
        ])
        .run();
    assert_eq!(run.code, Some(0), "{run}");
    let page = run.file("cup.html");
    assert!(page.contains("\"accuracy\":"), "no accuracy");
    assert!(page.contains("\"blunders\":"), "no blunders");
}

#[test]
fn a_match_that_is_interrupted_has_a_page_all_the_same() {
    let referee = Referee::new(["-n", "1000000", "--seed", "1"]);
    let page = referee.scratch().join("cup.html");
    let mut running = referee
        .args([std::path::Path::new("--report"), &page])
        .args(["builtin:greedy", "builtin:random"])
        .recorded()
        .start();
    running.wait_until(|scratch| {
        std::fs::metadata(scratch.join(common::RECORDS)).is_ok_and(|meta| meta.len() > 10_000)
    });
    running.signal("INT");
    let run = running.finish();
    assert_eq!(run.code, Some(130), "{}", run.stderr);
    assert!(
        run.file("cup.html").ends_with("</html>\n") || run.file("cup.html").ends_with("</html>")
    );
}

/// A connection from this address of this machine.
#[cfg(target_os = "linux")]
fn from(source: &str, address: SocketAddr) -> TcpStream {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_io()
        .build()
        .unwrap();
    let stream = runtime.block_on(async {
        let socket = tokio::net::TcpSocket::new_v4().unwrap();
        socket.bind(format!("{source}:0").parse().unwrap()).unwrap();
        socket.connect(address).await.unwrap()
    });
    let stream = stream.into_std().unwrap();
    stream.set_nonblocking(false).unwrap();
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    stream
}

#[cfg(target_os = "linux")]
#[test]
fn one_address_does_not_lock_the_others_out() {
    let referee = Referee::new(["-n", "100000000", "--seed", "1"]);
    let bots = ["builtin:greedy", "builtin:random"];
    let (running, address) = until_said(referee.args(bots), "watch at http://");
    let greedy: Vec<TcpStream> = (0..560)
        .map(|_| {
            let mut stream = from("127.0.0.1", address);
            let head = format!("GET /events HTTP/1.1\r\n{LOCAL}\r\n");
            // Those beyond the bound are closed at once.
            let _ = stream.write_all(head.as_bytes());
            stream
        })
        .collect();
    let page = |source: &str| {
        let mut stream = from(source, address);
        let head = format!("GET / HTTP/1.1\r\nConnection: close\r\n{LOCAL}\r\n");
        stream.write_all(head.as_bytes()).unwrap();
        let mut text = String::new();
        stream.read_to_string(&mut text).unwrap();
        text
    };
    let text = page("127.0.0.2");
    assert!(text.starts_with("HTTP/1.1 200 OK"), "{text}");
    // Those who are refused are so at once.
    let streams = greedy.into_iter().map(|mut stream| {
        let mut start = [0; 12];
        stream.read_exact(&mut start).map(|()| start)
    });
    let answers: Vec<_> = streams.flatten().collect();
    let count = |answer: &[u8; 12]| answers.iter().filter(|found| *found == answer).count();
    let let_in = count(b"HTTP/1.1 200");
    assert!((500..=512).contains(&let_in), "{let_in}");
    // They are gone: their places are free.
    let until = Instant::now() + PATIENCE;
    let mut again = String::new();
    while again.is_empty() && Instant::now() < until {
        let mut stream = from("127.0.0.1", address);
        let head = format!("GET / HTTP/1.1\r\nConnection: close\r\n{LOCAL}\r\n");
        let _ = stream.write_all(head.as_bytes());
        let _ = stream.read_to_string(&mut again);
    }
    assert!(again.starts_with("HTTP/1.1 200 OK"), "{again}");
    running.signal("INT");
    running.finish();
}
