//! Whole numbers of the command line.

use std::ops::RangeInclusive;
use std::str::FromStr;

/// Reads a whole number within a range. The error says what was expected.
pub(in crate::cli) fn within<T: TryFrom<u64>>(
    range: RangeInclusive<u64>,
) -> impl Fn(&str) -> Result<T, String> + Clone + Send + Sync + 'static {
    move |text| {
        let number = text.trim().parse().ok();
        let number = number.filter(|number| range.contains(number));
        let number = number.and_then(|number| T::try_from(number).ok());
        number.ok_or_else(|| match (range.start(), range.end()) {
            (least, &u64::MAX) => format!("expected a whole number of at least {least}"),
            (least, most) => format!("expected a whole number from {least} to {most}"),
        })
    }
}

/// As [`within`], for a number without an upper bound but that of its type.
pub(in crate::cli) fn at_least<T: TryFrom<u64>>(
    least: u64,
) -> impl Fn(&str) -> Result<T, String> + Clone + Send + Sync + 'static {
    within(least..=u64::MAX)
}

/// Reads a number that is not 0.
pub(in crate::cli) fn not_zero<T: FromStr>(text: &str) -> Result<T, String> {
    text.parse()
        .map_err(|_| "expected a whole number of at least 1".to_owned())
}

/// Reads a number that need not be whole, such as `example`.
pub(in crate::cli) fn decimal(
    example: f64,
) -> impl Fn(&str) -> Result<f64, String> + Clone + Send + Sync + 'static {
    move |text| {
        let number = text.trim().parse().ok();
        number.ok_or_else(|| format!("expected a number such as {example}"))
    }
}

/// A seed.
pub(in crate::cli) fn seed(text: &str) -> Result<u64, String> {
    within(0..=u64::MAX)(text)
        .map_err(|_| format!("expected a whole number from 0 to {}", u64::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_expected_is_said() {
        assert_eq!(within::<u8>(0..=4)("4"), Ok(4));
        let wrong = within::<u8>(0..=4)("5").unwrap_err();
        assert_eq!(wrong, "expected a whole number from 0 to 4");
        let wrong = at_least::<u32>(1)("0").unwrap_err();
        assert_eq!(wrong, "expected a whole number of at least 1");
        assert!(at_least::<u16>(1)("70000").is_err());
        assert!(seed("-1").unwrap_err().ends_with("18446744073709551615"));
    }
}
