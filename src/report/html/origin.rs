//! Origins of web pages.

use std::fmt;
use std::str::FromStr;

use hyper::Uri;

/// Scheme, host, and an unusual port: `https://moodle.example.org`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Origin(String);

impl FromStr for Origin {
    type Err = String;

    /// Nothing but an origin: it becomes part of a header.
    fn from_str(text: &str) -> Result<Self, String> {
        let expected = "expected http:// or https://, a host and perhaps a port, such as https://moodle.example.org";
        let uri: Uri = text.parse().map_err(|_| expected.to_owned())?;
        let (Some(scheme), Some(host)) = (uri.scheme_str(), uri.host()) else {
            return Err(expected.to_owned());
        };
        let port = uri
            .port_u16()
            .map_or_else(String::new, |port| format!(":{port}"));
        let origin = format!("{scheme}://{host}{port}");
        if !text.eq_ignore_ascii_case(&origin) {
            return Err(format!(
                "{expected}: without a user, a path, and a slash at the end; perhaps {origin}"
            ));
        }
        let is_name = |host: &str| {
            let is_label = |label: &str| {
                let known = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
                !label.is_empty() && label.chars().all(known)
            };
            host.split('.').all(is_label)
        };
        let address = host
            .strip_prefix('[')
            .and_then(|host| host.strip_suffix(']'));
        let is_host = address.map_or_else(
            || is_name(host),
            |address| address.parse::<std::net::Ipv6Addr>().is_ok(),
        );
        if !is_host || !matches!(scheme, "http" | "https") {
            return Err(expected.to_owned());
        }
        Ok(Self(origin.to_ascii_lowercase()))
    }
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_origins_are_taken() {
        for (text, expected) in [
            ("https://moodle.example.org", "https://moodle.example.org"),
            ("http://localhost:8080", "http://localhost:8080"),
            ("https://[::1]:9", "https://[::1]:9"),
            ("HTTPS://Moodle.example.org", "https://moodle.example.org"),
            ("http://192.168.1.7", "http://192.168.1.7"),
        ] {
            let origin = text.parse::<Origin>().map(|origin| origin.0);
            assert_eq!(origin, Ok(expected.to_owned()), "{text}");
        }
        for text in [
            "",
            "*",
            "moodle.example.org",
            "https://",
            "https://*",
            "https://*.example.org",
            "https://moodle.example.org/",
            "https://moodle.example.org/course",
            "https://moodle.example.org?x",
            "https://moodle.example.org#x",
            "https://me@moodle.example.org",
            "https://a.org;script-src *",
            "https://a.org https://b.org",
            "https://a.org,b.org",
            "https://a.org'",
            "https://a..org",
            "https://[x]",
            "ftp://a.org",
            "javascript:alert(1)",
            "'self'",
            "https://a.org:99999",
            "https://a.org:",
        ] {
            assert!(text.parse::<Origin>().is_err(), "{text}");
        }
        let slash = "https://a.org/".parse::<Origin>().unwrap_err();
        assert!(slash.ends_with("perhaps https://a.org"), "{slash}");
    }
}
