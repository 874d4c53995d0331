//! Amounts of memory as people type them: `256M`, `1G`, `64MiB`, or a number of bytes.

/// Reads an amount of memory, in bytes.
pub(super) fn parse(text: &str) -> Result<usize, String> {
    let expected =
        || "expected an amount of memory such as 64M, 1G or a number of bytes".to_owned();
    let digits = text.find(|c: char| !c.is_ascii_digit());
    let (number, unit) = text.split_at(digits.unwrap_or(text.len()));
    let number: usize = number.parse().map_err(|_| expected())?;
    let unit = unit.trim().to_ascii_lowercase();
    let shift = match unit.trim_end_matches("ib").trim_end_matches('b') {
        "" => 0,
        "k" => 10,
        "m" => 20,
        "g" => 30,
        _ => return Err(expected()),
    };
    number
        .checked_mul(1 << shift)
        .filter(|&bytes| bytes > 0 && isize::try_from(bytes).is_ok())
        .ok_or_else(expected)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_people_type() {
        for (text, bytes) in [
            ("1", 1),
            ("64K", 64 << 10),
            ("256M", 256 << 20),
            ("256 MiB", 256 << 20),
            ("2g", 2 << 30),
            ("5MB", 5 << 20),
        ] {
            assert_eq!(parse(text), Ok(bytes), "{text}");
        }
        for text in [
            "",
            "M",
            "0",
            "-1",
            "1.5G",
            "7 apples",
            "99999999999G",
            "99999999999999999999",
        ] {
            assert!(parse(text).is_err(), "{text}");
        }
    }
}
