use hyper::http::uri::Authority;

/// Scheme, host, and an unusual port: `https://moodle.example.org`. Nothing else: it becomes part of a header.
pub fn origin(text: &str) -> Result<String, String> {
    let origin = text.to_ascii_lowercase();
    let (scheme, place) = origin.split_once("://").unwrap_or_default();
    let known = |c: char| c.is_ascii_alphanumeric() || "-_.:[]".contains(c);
    let is_plain = place.chars().all(known) && place.parse::<Authority>().is_ok();
    let expected = "expected http:// or https://, a host and perhaps a port, such as https://moodle.example.org";
    if is_plain && ["http", "https"].contains(&scheme) {
        Ok(origin)
    } else {
        Err(expected.to_owned())
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
            assert_eq!(origin(text), Ok(expected.to_owned()), "{text}");
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
            "ftp://a.org",
            "javascript:alert(1)",
            "'self'",
        ] {
            assert!(origin(text).is_err(), "{text}");
        }
    }
}
