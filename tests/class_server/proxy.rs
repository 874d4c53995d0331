//! A class behind a proxy, as docs/class-server.md has it: what the proxy says of a client counts, and not what the client says.

use std::io::{self, BufRead, BufReader, Write as _};
use std::net::{IpAddr, Shutdown, SocketAddr, TcpListener, TcpStream, UdpSocket};
use std::thread;

use crate::TWO;
use crate::http::{Reply, boundary, raw, upload};
use crate::served::{GREEDY, RANDOM, Served};
use crate::tables::Watcher;

const ORIGIN: &str = "https://class.example.org";
const HOST: &str = "class.example.org";

/// What a proxy does with the X-Forwarded-For of a client.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Forwarding {
    /// As Caddy does, and nginx by examples/class-server/nginx.conf.
    Replaced,
    /// As nginx does by `$proxy_add_x_forwarded_for`.
    Appended,
}

/// A proxy whose clients all have one address; it runs until the test's process exits.
fn proxy(server: SocketAddr, client: &'static str, forwarding: Forwarding) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a listener");
    let address = listener.local_addr().expect("an address");
    thread::spawn(move || {
        for stream in listener.incoming().map_while(Result::ok) {
            thread::spawn(move || {
                // A client, or the server, may leave at any time.
                let _ = pass_on(&stream, server, client, forwarding);
                let _ = stream.shutdown(Shutdown::Both);
            });
        }
    });
    address
}

/// One request and its answer, each part as it comes.
fn pass_on(
    stream: &TcpStream,
    server: SocketAddr,
    client: &str,
    forwarding: Forwarding,
) -> io::Result<()> {
    let mut request = BufReader::new(stream.try_clone()?);
    let mut to_server = TcpStream::connect(server)?;
    let mut from_server = to_server.try_clone()?;
    let head = forwarded(&mut request, client, forwarding)?;
    to_server.write_all(head.as_bytes())?;
    thread::spawn(move || {
        let _ = io::copy(&mut request, &mut to_server);
        let _ = to_server.shutdown(Shutdown::Both);
    });
    io::copy(&mut from_server, &mut &*stream)?;
    Ok(())
}

/// The head of a request as the server gets it.
fn forwarded(
    request: &mut impl BufRead,
    client: &str,
    forwarding: Forwarding,
) -> io::Result<String> {
    let (mut head, mut addresses) = (String::new(), Vec::new());
    loop {
        let mut line = String::new();
        if request.read_line(&mut line)? == 0 || line == "\r\n" {
            break;
        }
        let (name, value) = line.split_once(':').unwrap_or((&line, ""));
        match &*name.to_ascii_lowercase() {
            "x-forwarded-for" if forwarding == Forwarding::Appended => {
                addresses.push(value.trim().to_owned());
            }
            "connection" | "x-forwarded-for" | "x-forwarded-proto" => {}
            _ => head.push_str(&line),
        }
    }
    addresses.push(client.to_owned());
    let addresses = addresses.join(", ");
    Ok(format!(
        "{head}X-Forwarded-For: {addresses}\r\nX-Forwarded-Proto: https\r\nConnection: close\r\n\r\n"
    ))
}

const LISTEN: [&str; 2] = ["--listen", "127.0.0.1:0"];

/// A class with a list of students, reached by a proxy.
fn class() -> Served {
    let students = ["--students", "students.csv"];
    let mut class = Served::behind_proxy(ORIGIN, TWO, &[&LISTEN[..], &students].concat());
    class.address = proxy(class.server, "198.51.100.7", Forwarding::Replaced);
    class
}

/// A form of a client who says that the request comes from another address.
fn post_from(at: SocketAddr, host: &str, path: &str, said: &str, form: &str) -> Reply {
    let length = form.len();
    let request = format!(
        "POST {path} HTTP/1.1\r\nHost: {host}\r\nX-Forwarded-For: {said}\r\nContent-Type: application/x-www-form-urlencoded\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n{form}"
    );
    raw(at, request.as_bytes()).expect("an answer")
}

fn join(at: SocketAddr, host: &str, said: &str, name: &str, code: &str) -> u16 {
    let form = format!("name={name}&code={code}");
    post_from(at, host, "/join", said, &form).status
}

/// An address that a client may make up.
fn made_up(number: u8) -> String {
    format!("203.0.113.{number}")
}

#[test]
fn a_link_leads_to_the_address_of_the_proxy_and_to_a_cookie_for_tls_alone() {
    let class = class();
    let links = std::fs::read_to_string(class.path("term/links.csv")).expect("links");
    assert_eq!(
        links.matches("https://class.example.org/in/").count(),
        3,
        "{links}"
    );
    let anna = class.link("Anna Adams");
    let reply = class.get(&format!("/in/{anna}"), "");
    // A browser takes the rest from where it has asked.
    assert_eq!((reply.status, reply.header("location")), (303, Some("/me")));
    let cookie = reply.header("set-cookie").expect("a cookie");
    assert!(cookie.contains("; Secure"), "{cookie}");
    let own = cookie.split(';').next().expect("its value");
    let head = format!("GET /me HTTP/1.1\r\nAccept: text/html\r\nCookie: {own}\r\n");
    let page = class.ask(&head, b"");
    assert_eq!(page.status, 200);
    assert!(page.text().contains("Hand in"));
    let teacher = class.link("(teacher)");
    let renewed = class.post("/students/Anna-Adams/link", &teacher, "");
    assert!(
        renewed.text().contains("https://class.example.org/in/"),
        "{renewed:?}"
    );
}

#[test]
fn other_hosts_and_sites_are_refused_behind_a_proxy() {
    let class = class();
    let anna = class.link("Anna Adams");
    let get = |host: &str, line: &str| {
        format!("GET / HTTP/1.1\r\nHost: {host}\r\n{line}Connection: close\r\n\r\n")
    };
    let post = |line: &str| {
        format!(
            "POST /leave HTTP/1.1\r\nHost: {HOST}\r\nAuthorization: Bearer {anna}\r\n{line}Content-Length: 0\r\nConnection: close\r\n\r\n"
        )
    };
    for (request, expected) in [
        (get(HOST, ""), 200),
        (get("attacker.example", ""), 403),
        (
            get(
                "attacker.example",
                "X-Forwarded-Host: class.example.org\r\n",
            ),
            403,
        ),
        (get("class.example.org.attacker.example", ""), 403),
        // Its own address is not that of the class.
        (get("127.0.0.1", ""), 403),
        (post(""), 303),
        (post("Origin: https://class.example.org\r\n"), 303),
        (post("Origin: https://attacker.example\r\n"), 403),
        (post("Origin: http://class.example.org\r\n"), 403),
        (post("Origin: null\r\n"), 403),
    ] {
        let reply = raw(class.address, request.as_bytes());
        let status = reply.map(|reply| reply.status);
        assert_eq!(status, Some(expected), "{request}");
    }
}

#[test]
fn wrong_codes_are_counted_by_the_address_that_the_proxy_says() {
    for forwarding in [Forwarding::Replaced, Forwarding::Appended] {
        let open = ["--open", "green-owl"];
        let class = Served::behind_proxy(ORIGIN, "", &[&LISTEN[..], &open].concat());
        let guesser = proxy(class.address, "198.51.100.7", forwarding);
        let student = proxy(class.address, "198.51.100.8", forwarding);
        let statuses = (0..61).map(|number| {
            let code = format!("red-owl-{number}");
            join(guesser, HOST, &made_up(number), "Eve", &code)
        });
        let statuses: Vec<u16> = statuses.collect();
        assert_eq!(statuses[..60], [403; 60], "{forwarding:?}");
        assert_eq!(statuses[60], 429, "{forwarding:?}");
        let forged = join(guesser, HOST, "198.51.100.8", "Eve", "green-owl");
        assert_eq!(forged, 429, "{forwarding:?}");
        let joined = join(student, HOST, "198.51.100.7", "Anna", "green-owl");
        assert_eq!(joined, 200, "{forwarding:?}");
    }
}

/// By the command for a container without a proxy, and for one whose proxy is elsewhere: the clients connect themselves.
#[test]
fn a_client_who_is_not_the_proxy_has_no_word() {
    let origin = "http://192.0.2.7:8000";
    let elsewhere = ["--listen", "127.0.0.1:0", "--proxy-from", "192.0.2.1"];
    let everywhere = ["--listen", "0.0.0.0:0"];
    for (listen, from) in [(&elsewhere[..], None), (&everywhere, other_address())] {
        let class = Served::behind_proxy(origin, "", &[listen, &["--open", "green-owl"]].concat());
        let told = std::fs::read_to_string(class.path("out.log")).expect("a log");
        let is_open = listen == everywhere;
        assert_eq!(told.contains("nothing is encrypted"), is_open, "{told}");
        // A machine without a network has no other address.
        let Some(from) = from.or((!is_open).then_some(class.server.ip())) else {
            continue;
        };
        let at = SocketAddr::new(from, class.server.port());
        let guess = |number: u8| join(at, &class.host, &made_up(number), "Eve", "red-owl");
        let statuses: Vec<u16> = (0..=60).map(guess).collect();
        assert_eq!(statuses[60], 429, "{listen:?}: {statuses:?}");
    }
}

/// Of this machine, by which others would reach it; nothing is sent.
fn other_address() -> Option<IpAddr> {
    let socket = UdpSocket::bind("0.0.0.0:0").ok()?;
    socket.connect("192.0.2.1:9").ok()?;
    let address = socket.local_addr().ok()?.ip();
    (!address.is_loopback()).then_some(address)
}

#[test]
fn a_visitor_keeps_no_other_from_a_table() {
    let class = class();
    let [anna, teacher] = ["Anna Adams", "(teacher)"].map(|name| class.link(name));
    class.hand_in(&anna, "bot.sh", RANDOM);
    class.until(&anna, 1, &["playing"]);
    let opened = class.post("/class/decisions", &teacher, "action=open-tables");
    assert_eq!(opened.status, 200, "{opened:?}");
    let [first, second] = ["198.51.100.8", "198.51.100.9"]
        .map(|client| proxy(class.server, client, Forwarding::Appended));
    let ask = |at: SocketAddr, said: &str| {
        let form = "bot=Anna+Adams&kind=person";
        post_from(at, HOST, "/tables", said, form).status
    };
    // However the visitor is called, until nothing more is given.
    let mut statuses = (0..=u8::MAX).map(|number| ask(first, &made_up(number)));
    let refused = statuses.find(|status| *status != 202);
    assert_eq!(refused, Some(429));
    assert_eq!(ask(second, "198.51.100.8"), 202);
}

#[test]
fn uploads_and_changes_pass_a_proxy() {
    let class = class();
    let [anna, ben] = ["Anna Adams", "Ben Bell"].map(|name| class.link(name));
    let mut watcher = Watcher::at(&class, "/changes");
    let before = watcher.next("sections");
    // Of several parts.
    let book = "x".repeat(2 << 20);
    let body = upload(&[("bot.sh", RANDOM), ("book.txt", &book)]);
    let reply = class.send("/submissions", &anna, &boundary(), &body);
    assert_eq!(reply.status, 202, "{reply:?}");
    assert_eq!(class.hand_in(&ben, "bot.sh", GREEDY).status, 202);
    class.until(&ben, 1, &["done"]);
    // The stream goes on: what has changed came before its end.
    assert_ne!(watcher.next("sections"), before);
    let games = Watcher::at(&class, "/events").next("entries");
    assert!(games.to_string().contains("Ben Bell"), "{games}");
    assert_eq!(class.get("/submissions/1/files", &ben).text(), GREEDY);
}
