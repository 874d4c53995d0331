//! Amounts of memory as people type them: `256M`, `1.5G`, `64MiB`, or a number of bytes.

use parse_size::Config;

/// The largest amount.
const LARGEST: u64 = 1_000_000_000_000_000;

/// Reads an amount of memory, in bytes. `K`, `M`, `G` and `T` are powers of 1024, with or without `B` or `iB`.
pub(in crate::cli) fn parse(text: &str) -> Result<u64, String> {
    let bytes = Config::new().with_binary().parse_size(text).ok();
    bytes
        .filter(|&bytes| bytes <= LARGEST)
        .ok_or_else(|| "expected a size such as 64M, 1.5G or a number of bytes".to_owned())
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
            ("4T", 4 << 40),
            ("1e3", 1000),
        ] {
            assert_eq!(parse(text), Ok(bytes), "{text}");
        }
        for text in [
            "",
            "M",
            "-1",
            "1.5.5G",
            "inf",
            "nan",
            "7 apples",
            "9999999999999G",
            "99999999999999999999",
        ] {
            assert!(parse(text).is_err(), "{text}");
        }
        assert!(parse_positive("0").is_err());
        assert_eq!(parse_positive("1"), Ok(1));
    }
}
