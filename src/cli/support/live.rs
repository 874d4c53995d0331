//! `--live`: whether and where the page is served.

use std::io;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};

use super::failure::Failure;
use super::output::print_stderr;
use crate::report::serve::{Feed, Server};

/// The default port of a served page.
const DEFAULT_PORT: u16 = 4416;

/// `--live`
#[derive(Clone, Debug, Default, clap::Args)]
pub(in crate::cli) struct LiveOption {
    /// Serve the page while games are played, at 127.0.0.1:4416 or the given address: --live=0.0.0.0:8080 lets other machines watch
    #[arg(
        long,
        value_name = "ADDR",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "127.0.0.1:4416",
        value_parser = address
    )]
    live: Option<SocketAddr>,
}

/// Parses an address with or without its port, or a port alone.
fn address(text: &str) -> Result<SocketAddr, String> {
    let text = text.strip_prefix("localhost").map_or_else(
        || text.to_owned(),
        |rest| format!("{}{rest}", Ipv4Addr::LOCALHOST),
    );
    let ip: Result<IpAddr, _> = text.trim_start_matches('[').trim_end_matches(']').parse();
    if let Ok(ip) = ip {
        return Ok(SocketAddr::new(ip, DEFAULT_PORT));
    }
    if let Ok(port) = text.trim_start_matches(':').parse() {
        return Ok(SocketAddr::new(Ipv4Addr::LOCALHOST.into(), port));
    }
    text.parse().map_err(|_| {
        "expected an address, a port or both, such as 127.0.0.1:4416, 8080 or [::1]:4416".to_owned()
    })
}

impl LiveOption {
    /// Serves a feed, if `--live` was given, and prints its address.
    pub(in crate::cli) fn serve(&self, feed: &Feed) -> Result<Option<Server>, Failure> {
        let Some(address) = self.live else {
            return Ok(None);
        };
        let server = Server::bind(address, feed.clone()).map_err(|error| {
            let fix = match error.kind() {
                io::ErrorKind::AddrInUse => {
                    "; choose another port, or --live=0 for any that is free"
                }
                io::ErrorKind::AddrNotAvailable => "; choose an address of this machine",
                io::ErrorKind::PermissionDenied => "; choose a port above 1023",
                _ => "",
            };
            Failure::Usage(format!(
                "--live={address}: {error}{fix}",
                error = crate::text::cause(&error)
            ))
        })?;
        print_stderr(&format!("watch at {}", server.url()));
        if !server.address().ip().is_loopback() {
            print_stderr(
                "  other machines can watch, too: by this machine's IP address, not by its name",
            );
            print_stderr("  the page shows what bots write to stderr, unless --private is given");
        }
        Ok(Some(server))
    }

    /// The option as a word of a command line.
    pub(super) fn word(&self) -> Option<String> {
        self.live.map(|address| format!("--live={address}"))
    }

    /// Whether `--live` was given.
    pub(in crate::cli) const fn is_on(&self) -> bool {
        self.live.is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_may_be_short() {
        for (text, expected) in [
            ("127.0.0.1:80", "127.0.0.1:80"),
            ("0.0.0.0", "0.0.0.0:4416"),
            ("8080", "127.0.0.1:8080"),
            (":0", "127.0.0.1:0"),
            ("localhost", "127.0.0.1:4416"),
            ("localhost:9", "127.0.0.1:9"),
            ("[::1]:9", "[::1]:9"),
            ("[::1]", "[::1]:4416"),
            ("::1", "[::1]:4416"),
        ] {
            assert_eq!(
                address(text).map(|a| a.to_string()),
                Ok(expected.to_owned()),
                "{text}"
            );
        }
        for text in [
            "",
            "example.org:80",
            "games.jsonl",
            "99999",
            "1.2.3.4:99999",
        ] {
            assert!(address(text).is_err(), "{text}");
        }
    }
}
