//! Sizes of memory as people type them: `512M`, `4G`, or a number of bytes.

/// Reads a size in bytes.
pub(super) fn parse(text: &str) -> Result<usize, String> {
    let expected = || "expected a size such as 512M or 4G, or a number of bytes".to_owned();
    let lower = text.trim().to_ascii_lowercase();
    let digits = lower.trim_end_matches(|c: char| !c.is_ascii_digit());
    let shift = match &lower[digits.len()..] {
        "" | "b" => 0,
        "k" | "kb" | "kib" => 10,
        "m" | "mb" | "mib" => 20,
        "g" | "gb" | "gib" => 30,
        _ => return Err(expected()),
    };
    let number: usize = digits.parse().map_err(|_| expected())?;
    number.checked_mul(1 << shift).ok_or_else(expected)
}

/// A size for people: `256 MiB`.
pub(super) fn text(bytes: usize) -> String {
    let units = [(30, "GiB"), (20, "MiB"), (10, "KiB")];
    let unit = units.into_iter().find(|(shift, _)| bytes >> shift > 0);
    match unit {
        Some((shift, unit)) => format!("{} {unit}", bytes >> shift),
        None => format!("{bytes} bytes"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_people_type() {
        for (text, bytes) in [
            ("512M", 512 << 20),
            ("4G", 4 << 30),
            ("64kb", 64 << 10),
            ("1000", 1000),
            ("0", 0),
        ] {
            assert_eq!(parse(text), Ok(bytes), "{text}");
        }
        for text in [
            "",
            "M",
            "1 G",
            "-1",
            "1.5G",
            "4T",
            "99999999999999999999",
            "9999999999999G",
        ] {
            assert!(parse(text).is_err(), "{text}");
        }
        assert_eq!(text(256 << 20), "256 MiB");
    }
}
