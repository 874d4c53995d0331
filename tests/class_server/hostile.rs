//! Requests of strangers, and of students who want more than their own: each is held, and the server goes on.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use crate::http::{boundary, raw, upload};
use crate::served::{RANDOM, Served};

const TWO: &str = "name,id\nAnna Adams,s1\nBen <script>alert(1)</script>,s2\n";

/// A request with these first lines, to which nothing is added, and the statuses that hold it.
struct Attack {
    what: &'static str,
    request: String,
    held_by: &'static [u16],
}

fn attack(what: &'static str, request: String, held_by: &'static [u16]) -> Attack {
    Attack {
        what,
        request,
        held_by,
    }
}

/// Without a link, or with one that is not theirs.
#[expect(clippy::too_many_lines, reason = "a table of attacks")]
fn of_strangers(class: &Served) -> Vec<Attack> {
    let host = format!("Host: {}\r\nConnection: close\r\n", class.address);
    let get = |path: &str| format!("GET {path} HTTP/1.1\r\n{host}\r\n");
    let post = |path: &str| format!("POST {path} HTTP/1.1\r\n{host}Content-Length: 0\r\n\r\n");
    let with = |path: &str, line: &str| format!("GET {path} HTTP/1.1\r\n{host}{line}\r\n\r\n");
    let anna = class.link("Anna Adams");
    let zeros = "0".repeat(32);
    let mut attacks = vec![
        attack("no link", get("/me"), &[401]),
        attack("no link for the class", get("/class"), &[401]),
        attack("no link for changes", get("/me/changes"), &[401]),
        attack(
            "no link for changes of the class",
            get("/class/changes"),
            &[401],
        ),
        attack("no link for games", get("/me/games"), &[401]),
        attack("no link for a submission", get("/submissions/1"), &[401]),
        attack("no link for files", get("/submissions/1/files"), &[401]),
        attack(
            "no link for all files",
            get("/class/submissions.tar.gz"),
            &[401],
        ),
        attack("no link for the list", get("/class/students.csv"), &[401]),
        attack("no link for records", get("/class/games.jsonl"), &[401]),
        attack("no link to hand in", post("/submissions"), &[401]),
        attack("no link to decide", post("/class/decisions"), &[401]),
        attack(
            "no link for a link",
            post("/students/Anna-Adams/link"),
            &[401],
        ),
        attack("a guessed link", get(&format!("/in/{zeros}")), &[401]),
        attack("an empty link", get("/in/"), &[404]),
        attack(
            "a link in upper case",
            get(&format!("/in/{}", anna.to_uppercase())),
            &[401, 303],
        ),
        attack(
            "a part of a link",
            get(&format!("/in/{}", &anna[..31])),
            &[401],
        ),
        attack("a link and more", get(&format!("/in/{anna}0")), &[401]),
        attack("a link with a NUL", get(&format!("/in/{anna}%00")), &[401]),
        attack(
            "the hash as a link",
            get(&format!("/in/{}", "a".repeat(64))),
            &[401],
        ),
        attack(
            "a guessed cookie",
            with("/me", &format!("Cookie: referee={zeros}")),
            &[401],
        ),
        attack("an empty cookie", with("/me", "Cookie: referee="), &[401]),
        attack(
            "an empty bearer",
            with("/me", "Authorization: Bearer "),
            &[401],
        ),
        attack(
            "another scheme",
            with("/me", &format!("Authorization: Basic {anna}")),
            &[401],
        ),
        attack(
            "a code where there is none",
            post("/join"),
            &[400, 403, 415],
        ),
        attack("no link for a table", post("/tables"), &[401]),
        attack("a table that is not there", get("/tables/1/"), &[404]),
        attack(
            "a table without bounds",
            get("/tables/99999999999999999999/events"),
            &[400],
        ),
        attack(
            "an answer at no table",
            post(&format!("/tables/1/answer/{zeros}")),
            &[404],
        ),
        attack("a final that is not there", get("/final/events"), &[404]),
        attack("hidden files", get("/.git/config"), &[404]),
        attack("traversal", get("/../../etc/passwd"), &[404]),
        attack(
            "encoded traversal",
            get("/%2e%2e/%2e%2e/etc/passwd"),
            &[404],
        ),
        attack(
            "traversal in a link",
            get("/in/..%2f..%2fetc%2fpasswd"),
            &[401],
        ),
        attack("the server's folder", get("/server/links.json"), &[404]),
        attack("the links", get("/links.csv"), &[404]),
        attack(
            "another method",
            format!("DELETE /submissions/1 HTTP/1.1\r\n{host}\r\n"),
            &[405],
        ),
        attack(
            "an unknown method",
            format!("HACK / HTTP/1.1\r\n{host}\r\n"),
            &[405],
        ),
        attack("TRACE", format!("TRACE / HTTP/1.1\r\n{host}\r\n"), &[405]),
        attack(
            "CONNECT",
            "CONNECT example.org:80 HTTP/1.1\r\nHost: example.org:80\r\n\r\n".to_owned(),
            &[400, 403, 404, 405],
        ),
        attack(
            "PUT",
            format!("PUT /me HTTP/1.1\r\n{host}Content-Length: 0\r\n\r\n"),
            &[405],
        ),
    ];
    attacks.extend(of_forgers(&anna));
    attacks
}

/// By another host's name, or another page's.
fn of_forgers(token: &str) -> Vec<Attack> {
    let own = format!("Authorization: Bearer {token}\r\n");
    let post = |host: &str, line: &str| {
        format!(
            "POST /submissions HTTP/1.1\r\n{host}Connection: close\r\n{own}{line}Content-Length: 0\r\n\r\n"
        )
    };
    let get = |lines: &str| format!("GET / HTTP/1.1\r\n{lines}Connection: close\r\n\r\n");
    vec![
        attack("no host", get(""), &[400, 403]),
        attack("a foreign host", get("Host: attacker.example\r\n"), &[403]),
        attack(
            "a host that begins like one",
            get("Host: 127.0.0.1.attacker.example\r\n"),
            &[403],
        ),
        attack(
            "two hosts",
            get("Host: 127.0.0.1\r\nHost: attacker.example\r\n"),
            &[400, 403],
        ),
        attack(
            "a host that is no text",
            get("Host: \u{fffd}\r\n"),
            &[400, 403],
        ),
        attack(
            "a foreign origin",
            post("Host: 127.0.0.1\r\n", "Origin: http://attacker.example\r\n"),
            &[403],
        ),
        attack(
            "no origin at all",
            post("Host: 127.0.0.1\r\n", "Origin: null\r\n"),
            &[403],
        ),
        attack(
            "another port",
            post("Host: 127.0.0.1\r\n", "Origin: http://127.0.0.1:9\r\n"),
            &[403],
        ),
        attack(
            "another scheme",
            post("Host: 127.0.0.1\r\n", "Origin: https://127.0.0.1\r\n"),
            &[403],
        ),
        attack(
            "a foreign site",
            post("Host: 127.0.0.1\r\n", "Sec-Fetch-Site: cross-site\r\n"),
            &[403],
        ),
        attack(
            "a neighbour site",
            post("Host: 127.0.0.1\r\n", "Sec-Fetch-Site: same-site\r\n"),
            &[403],
        ),
    ]
}

/// By a student who has a link.
#[expect(clippy::too_many_lines, reason = "a table of attacks")]
fn of_students(class: &Served) -> Vec<Attack> {
    let own = format!(
        "Host: {}\r\nConnection: close\r\nAuthorization: Bearer {}\r\n",
        class.address,
        class.link("Anna Adams")
    );
    let get = |path: &str| format!("GET {path} HTTP/1.1\r\n{own}\r\n");
    let post = |path: &str| format!("POST {path} HTTP/1.1\r\n{own}Content-Length: 0\r\n\r\n");
    let form = |kind: &str, body: &str| {
        let length = body.len();
        format!(
            "POST /submissions HTTP/1.1\r\n{own}Content-Type: {kind}\r\nContent-Length: {length}\r\n\r\n{body}"
        )
    };
    let named = |name: &str| {
        let body = String::from_utf8(upload(&[(name, "x")])).expect("text");
        form(&boundary(), &body)
    };
    let twice = String::from_utf8(upload(&[("bot.sh", "x"), ("bot.sh", "y")])).expect("text");
    let inside = String::from_utf8(upload(&[("bot", "x"), ("bot/bot.sh", "y")])).expect("text");
    let length = |length: &str| {
        format!(
            "POST /submissions HTTP/1.1\r\n{own}Content-Type: {}\r\nContent-Length: {length}\r\n\r\n",
            boundary()
        )
    };
    vec![
        attack("the class's page", get("/class"), &[403]),
        attack("the class's changes", get("/class/changes"), &[403]),
        attack("all submissions", get("/class/submissions.tar.gz"), &[403]),
        attack(
            "all records, with stderr",
            get("/class/games.jsonl"),
            &[403],
        ),
        attack("the list of students", get("/class/students.csv"), &[403]),
        attack("another's submissions", get("/students/Ben"), &[403]),
        attack(
            "another's files",
            get("/students/Ben/submissions/1/files"),
            &[403],
        ),
        attack("another's link", post("/students/Ben/link"), &[403]),
        attack("a decision", post("/class/decisions"), &[403]),
        attack("a table without a form", post("/tables"), &[400, 415, 422]),
        attack(
            "a submission that is not there",
            get("/submissions/99"),
            &[404],
        ),
        attack(
            "files that are not there",
            get("/submissions/99/files"),
            &[404],
        ),
        attack(
            "a version that is not there",
            post("/submissions/99/again"),
            &[404],
        ),
        attack("a number that is none", get("/submissions/1e9"), &[400]),
        attack("a negative number", get("/submissions/-1"), &[400]),
        attack(
            "a number that is too long",
            get("/submissions/99999999999999999999"),
            &[400],
        ),
        attack(
            "traversal in a number",
            get("/submissions/..%2f..%2flinks.json/files"),
            &[400],
        ),
        attack("traversal in a name", named("../../../../tmp/x.sh"), &[422]),
        attack("an absolute name", named("/tmp/x.sh"), &[422]),
        attack("a backslash in a name", named("..\\\\x.sh"), &[422]),
        attack("a drive in a name", named("C:/x.sh"), &[422]),
        attack("a name of dots", named(".."), &[422]),
        attack("a name that is too long", named(&"x".repeat(300)), &[422]),
        attack("a path that is too deep", named(&"x/".repeat(2500)), &[422]),
        attack(
            "a control character in a name",
            named("a\u{7}b.sh"),
            &[400, 422],
        ),
        attack("one name twice", form(&boundary(), &twice), &[422]),
        attack(
            "a file in the place of a folder",
            form(&boundary(), &inside),
            &[422],
        ),
        attack(
            "no files",
            form(&boundary(), "--x-boundary-x--\r\n"),
            &[422],
        ),
        attack(
            "half a form",
            form(
                &boundary(),
                "--x-boundary-x\r\nContent-Disposition: form-data; na",
            ),
            &[400],
        ),
        attack("no form", form("text/plain", "hello"), &[400]),
        attack(
            "a form without a boundary",
            form("multipart/form-data", "hello"),
            &[400],
        ),
        attack("an archive that is none", named("bot.zip"), &[422]),
        attack("an archive of another kind", named("bot.rar"), &[422]),
        attack("a length that is too large", length("99999999999"), &[413]),
        attack("a length that is no number", length("many"), &[400]),
        attack("a negative length", length("-1"), &[400]),
        attack("two lengths", length("1\r\nContent-Length: 2"), &[400]),
        attack(
            "a form for others that is too large",
            {
                let body = "x".repeat(100_000);
                let length = body.len();
                let kind = "application/x-www-form-urlencoded";
                format!(
                    "POST /join HTTP/1.1\r\n{own}Content-Type: {kind}\r\nContent-Length: {length}\r\n\r\n{body}"
                )
            },
            &[413],
        ),
        attack(
            "an address that is too long",
            get(&format!("/{}", "x".repeat(2000))),
            &[414],
        ),
        attack(
            "a flood of headers",
            {
                let many: Vec<String> = (0..200)
                    .map(|number| format!("X-{number}: y\r\n"))
                    .collect();
                format!("GET / HTTP/1.1\r\n{own}{}\r\n", many.concat())
            },
            &[431],
        ),
        attack(
            "a header that is too long",
            format!("GET / HTTP/1.1\r\n{own}X: {}\r\n\r\n", "y".repeat(200_000)),
            &[431],
        ),
    ]
}

#[test]
fn every_attack_is_held_and_the_server_goes_on() {
    let class = Served::start(TWO);
    let mut attacks = of_strangers(&class);
    attacks.extend(of_students(&class));
    assert!(attacks.len() >= 60, "{}", attacks.len());
    let mut passed = Vec::new();
    for Attack {
        what,
        request,
        held_by,
    } in &attacks
    {
        let status = raw(class.address, request.as_bytes()).map(|reply| reply.status);
        if !status.is_some_and(|status| held_by.contains(&status)) {
            passed.push(format!("{what}: {status:?}, expected {held_by:?}"));
        }
    }
    assert!(passed.is_empty(), "{passed:#?}");
    assert_eq!(class.get("/health", "").status, 200);
    // None of them was taken.
    assert_eq!(
        class
            .get("/submissions/1", &class.link("Anna Adams"))
            .status,
        404
    );
    let files = std::fs::read_dir(class.path("term/server/incoming")).expect("a folder");
    assert_eq!(files.count(), 0, "half an upload is left");
}

#[test]
fn what_is_too_large_is_refused_while_it_is_sent() {
    let class = Served::start(TWO);
    let large = "x".repeat(17 << 20);
    let reply = class.hand_in(&class.link("Anna Adams"), "bot.sh", &large);
    assert_eq!(reply.status, 413, "{}", reply.head);
}

#[test]
fn an_archive_that_grows_without_bound_is_refused() {
    let class = Served::start(TWO);
    let mut archive = Vec::new();
    {
        let mut zip = zip::ZipWriter::new(std::io::Cursor::new(&mut archive));
        zip.start_file("bot.sh", zip::write::SimpleFileOptions::default())
            .expect("a file");
        let zeros = vec![0_u8; 1 << 20];
        for _ in 0..80 {
            zip.write_all(&zeros).expect("it is written");
        }
        zip.finish().expect("an archive");
    }
    let head = "--x-boundary-x\r\nContent-Disposition: form-data; name=\"files\"; filename=\"bot.zip\"\r\n\r\n";
    let body = [head.as_bytes(), &archive, b"\r\n--x-boundary-x--\r\n"].concat();
    let reply = class.send(
        "/submissions",
        &class.link("Anna Adams"),
        &boundary(),
        &body,
    );
    assert_eq!(reply.status, 422, "{}", reply.text());
    assert!(reply.text().contains("64 MB"), "{}", reply.text());
}

#[test]
fn a_name_is_text_wherever_it_is_shown() {
    let class = Served::start(TWO);
    let ben = class.link("Ben");
    assert_eq!(
        class
            .hand_in(&ben, "<img src=x onerror=alert(1)>.sh", RANDOM)
            .status,
        202
    );
    class.until(&ben, 1, &["playing"]);
    for (path, token) in [
        ("/", String::new()),
        ("/me", ben.clone()),
        ("/class", class.link("(teacher)")),
        (
            "/students/Ben-script-alert-1-script",
            class.link("(teacher)"),
        ),
    ] {
        let own = format!("Authorization: Bearer {token}\r\n");
        let page = class.ask(
            &format!("GET {path} HTTP/1.1\r\n{own}Accept: text/html\r\n"),
            b"",
        );
        assert_eq!(page.status, 200, "{path}");
        let text = page.text();
        assert!(
            !text.contains("<script>alert") && !text.contains("<img src=x"),
            "{path}"
        );
        let policy = page.header("content-security-policy").expect("a policy");
        assert!(!policy.contains("unsafe-inline"), "{policy}");
    }
}

#[test]
fn slow_clients_are_left_and_others_are_served() {
    let class = Served::start(TWO);
    let mut slow: Vec<TcpStream> = (0..50)
        .map(|_| {
            let mut stream = TcpStream::connect(class.address).expect("a connection");
            stream
                .write_all(b"GET / HTTP/1.1\r\nHost: 127")
                .expect("it is sent");
            stream
        })
        .collect();
    assert_eq!(class.get("/health", "").status, 200);
    let stream = slow.last_mut().expect("one");
    // Served before the server gave up on the slow ones.
    stream.set_nonblocking(true).expect("a socket");
    let still_open = stream.read(&mut [0]).expect_err("it is not closed yet");
    assert_eq!(still_open.kind(), std::io::ErrorKind::WouldBlock);
    stream.set_nonblocking(false).expect("a socket");
    stream
        .set_read_timeout(Some(crate::hangs::HANGS))
        .expect("a limit");
    let mut rest = Vec::new();
    // Closed by the server, with or without a word.
    if let Err(error) = stream.read_to_end(&mut rest) {
        assert_ne!(error.kind(), std::io::ErrorKind::WouldBlock, "never closed");
    }
}

/// The first half of an upload, and the rest of it.
fn half_an_upload(class: &Served, token: &str) -> (TcpStream, Vec<u8>) {
    let body = upload(&[("bot.sh", RANDOM)]);
    let (first, rest) = body.split_at(body.len() / 2);
    let head = format!(
        "POST /submissions HTTP/1.1\r\nHost: {}\r\nConnection: close\r\nAuthorization: Bearer {token}\r\nContent-Type: {}\r\nContent-Length: {}\r\n\r\n",
        class.address,
        boundary(),
        body.len()
    );
    let mut stream = TcpStream::connect(class.address).expect("a connection");
    let sent = [head.as_bytes(), first].concat();
    stream.write_all(&sent).expect("it is sent");
    (stream, rest.to_vec())
}

#[test]
fn uploads_that_take_long_keep_no_other_student_waiting() {
    let names: Vec<String> = (0..12).map(|number| format!("Slow{number}")).collect();
    let class = Served::start(&format!("name\nAnna\n{}\n", names.join("\n")));
    let slow: Vec<(TcpStream, Vec<u8>)> = names
        .iter()
        .map(|name| half_an_upload(&class, &class.link(&format!("{name},"))))
        .collect();
    let incoming = class.path("term/server/incoming");
    let begun = Instant::now();
    while std::fs::read_dir(&incoming).expect("a folder").count() < 8 {
        assert!(begun.elapsed() < crate::hangs::HANGS);
        std::thread::sleep(Duration::from_millis(20));
    }
    let reply = class.hand_in(&class.link("Anna"), "bot.sh", RANDOM);
    assert_eq!(reply.status, 202, "{reply:?}");
    // Before the server gave up on any of them: each can still come whole.
    for (mut stream, rest) in slow {
        stream.write_all(&rest).expect("it is sent");
        let mut answer = String::new();
        stream.read_to_string(&mut answer).expect("an answer");
        assert!(answer.starts_with("HTTP/1.1 202 "), "{answer}");
    }
}

/// A download has a thread: with as many as one student likes, uploads would wait for one.
#[test]
fn a_student_who_reads_slowly_has_few_downloads() {
    let class = Served::start(TWO);
    let anna = class.link("Anna Adams");
    // Which no compression makes shorter.
    let mut state = 1_u64;
    let noise: Vec<u8> = (0..7 << 20)
        .map(|_| {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            state.to_be_bytes()[0]
        })
        .collect();
    let body = upload(&[("a.bin", &noise), ("b.bin", &noise)]);
    let reply = class.send("/submissions", &anna, &boundary(), &body);
    assert_eq!(reply.status, 202, "{reply:?}");
    let download = || {
        let mut stream = TcpStream::connect(class.address).expect("a connection");
        let head = format!(
            "GET /submissions/1/files HTTP/1.1\r\nHost: {}\r\nAuthorization: Bearer {anna}\r\n\r\n",
            class.address
        );
        stream.write_all(head.as_bytes()).expect("it is sent");
        let mut status = [0; 12];
        stream.read_exact(&mut status).expect("an answer");
        (stream, String::from_utf8_lossy(&status).into_owned())
    };
    let slow: Vec<_> = (0..8).map(|_| download()).collect();
    let statuses: Vec<&str> = slow.iter().map(|(_, status)| &**status).collect();
    assert_eq!(statuses[..2], ["HTTP/1.1 200"; 2]);
    assert_eq!(statuses[2..], ["HTTP/1.1 429"; 6]);
    drop(slow);
    let begun = Instant::now();
    while download().1 != "HTTP/1.1 200" {
        assert!(begun.elapsed() < crate::hangs::HANGS);
        std::thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn a_program_that_is_pasted_is_kept_in_memory_and_may_not_be_long() {
    let class = Served::start(TWO);
    let long = "x".repeat(300 << 10);
    let body = format!(
        "--x-boundary-x\r\nContent-Disposition: form-data; name=\"text\"\r\n\r\n{long}\r\n--x-boundary-x--\r\n"
    );
    let anna = class.link("Anna Adams");
    let reply = class.send("/submissions", &anna, &boundary(), body.as_bytes());
    assert_eq!(reply.status, 413, "{reply:?}");
    assert!(reply.text().contains("send it as a file"), "{reply:?}");
}

/// All of a lecture hall have one address.
#[test]
fn wrong_codes_keep_no_student_out_who_knows_one_of_four_words() {
    let class = Served::open("green-owl-reads-maps");
    let told = std::fs::read_to_string(class.path("out.log")).expect("a log");
    assert!(!told.contains("this code is short"), "{told}");
    let join = |name: &str, code: &str| {
        let form = format!("name={name}&code={code}");
        class.post("/join", "", &form)
    };
    let wrong: Vec<u16> = (0..130)
        .map(|number| join("Eve", &format!("green-owl-{number}")).status)
        .collect();
    assert_eq!([wrong[0], wrong[129]], [403, 429], "{wrong:?}");
    let joined = join("Anna", "green-owl-reads-maps");
    assert_eq!(joined.status, 200, "{joined:?}");
    // The server knows its code again, and has only the hash.
    let class = Served::in_folder(class.stop(), &[]);
    let join = |code: &str| class.post("/join", "", &format!("name=Ben&code={code}"));
    assert!((0..100).any(|_| join("red-owl").status == 429));
    assert_eq!(join("green-owl-reads-maps").status, 200);
}

#[test]
fn a_client_that_leaves_in_the_middle_leaves_nothing() {
    let class = Served::start(TWO);
    let anna = class.link("Anna Adams");
    for _ in 0..5 {
        let mut stream = TcpStream::connect(class.address).expect("a connection");
        let head = format!(
            "POST /submissions HTTP/1.1\r\nHost: {}\r\nAuthorization: Bearer {anna}\r\nContent-Type: {}\r\nContent-Length: 5000\r\n\r\n\
             --x-boundary-x\r\nContent-Disposition: form-data; name=\"files\"; filename=\"bot.sh\"\r\n\r\n#!/bin/sh\n",
            class.address,
            boundary()
        );
        stream.write_all(head.as_bytes()).expect("it is sent");
        drop(stream);
    }
    let begun = Instant::now();
    loop {
        let reply = class.hand_in(&anna, "bot.sh", RANDOM);
        if reply.status == 202 {
            assert_eq!(reply.json()["version"], 1, "half an upload has a number");
            break;
        }
        assert!(
            reply.status == 429 && begun.elapsed() < crate::hangs::HANGS,
            "{reply:?}"
        );
        std::thread::sleep(Duration::from_millis(50));
    }
}
