//! Amounts of memory as people type them: `256M`, `1.5G`, `64MiB`, or a number of bytes.

/// Reads an amount of memory, in bytes.
pub(in crate::cli) fn parse(text: &str) -> Result<u64, String> {
    let expected = || "expected a size such as 64M, 1.5G or a number of bytes".to_owned();
    let end = text.find(|c: char| !c.is_ascii_digit() && c != '.');
    let (number, unit) = text.split_at(end.unwrap_or(text.len()));
    let unit = unit.trim().to_ascii_lowercase();
    let shift = match unit.trim_end_matches("ib").trim_end_matches('b') {
        "" => 0,
        "k" => 10,
        "m" => 20,
        "g" => 30,
        _ => return Err(expected()),
    };
    let number: f64 = number.parse().map_err(|_| expected())?;
    let bytes = number * f64::from(1_u32 << shift);
    if !(0.0..=1e15).contains(&bytes) {
        return Err(expected());
    }
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "the range was checked above"
    )]
    Ok(bytes as u64)
}

/// As [`parse`], but greater than zero.
pub(in crate::cli) fn parse_positive(text: &str) -> Result<u64, String> {
    match parse(text)? {
        0 => Err("expected a size greater than zero".to_owned()),
        bytes => Ok(bytes),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_parsed() {
        for (text, bytes) in [
            ("0", 0),
            ("1", 1),
            ("1000", 1000),
            ("64K", 64 << 10),
            ("64kb", 64 << 10),
            ("256M", 256 << 20),
            ("256 MiB", 256 << 20),
            ("1.5G", 3 << 29),
            ("2g", 2 << 30),
            ("5MB", 5 << 20),
        ] {
            assert_eq!(parse(text), Ok(bytes), "{text}");
        }
        for text in [
            "",
            "M",
            "-1",
            "1.5.5G",
            "1e3",
            "inf",
            "nan",
            "7 apples",
            "4T",
            "9999999999999G",
            "99999999999999999999",
        ] {
            assert!(parse(text).is_err(), "{text}");
        }
        assert!(parse_positive("0").is_err());
        assert_eq!(parse_positive("1"), Ok(1));
    }
}
