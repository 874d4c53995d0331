use hyper::http::uri::Authority;

/// Scheme, host, and an unusual port: `https://moodle.example.org`. Nothing else: it becomes part of a header, and is compared
/// with what browsers send, which leave the usual port out.
pub fn origin(text: &str) -> Result<String, String> {
    let origin = text.to_ascii_lowercase();
    let (scheme, place) = origin.split_once("://").unwrap_or_default();
    let known = |c: char| c.is_ascii_alphanumeric() || "-_.:[]".contains(c);
    let is_plain =
        place.chars().all(known) && !place.starts_with(':') && place.parse::<Authority>().is_ok();
    let usual_port = match scheme {
        "http" => Some(":80"),
        "https" => Some(":443"),
        _ => None,
    };
    let expected = "expected http:// or https://, a host and perhaps a port, such as https://moodle.example.org";
    let usual_port = usual_port.filter(|_| is_plain).ok_or(expected)?;
    Ok(origin
        .strip_suffix(usual_port)
        .unwrap_or(&origin)
        .to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_origins_are_taken() {
        for (text, expected) in [
            ("https://moodle.example.org", "https://moodle.example.org"),
            ("http://localhost:8080", "http://localhost:8080"),
            (
                "https://moodle.example.org:443",
                "https://moodle.example.org",
            ),
            ("http://[::1]:80", "http://[::1]"),
            (
                "https://moodle.example.org:80",
                "https://moodle.example.org:80",
            ),
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
            "https://:443",
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
