//! Packs the games of a large page: 100,000 games take 3 to 8 MB instead of 15.
//!
//! Fields are stored by column, `[[field 0 of each game], [field 1], …]`, with `null` for one that no game has,
//! compressed (zlib, RFC 1950) for `DecompressionStream`, in base 64.

use std::io::{self, Write as _};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use flate2::Compression;
use flate2::write::ZlibEncoder;
use serde_json::value::RawValue;

/// Smaller pages, in bytes, stay readable by people and old browsers.
pub(super) const PLAIN: usize = 1_000_000;

/// The columns of `["g", …]` entries of any lengths.
fn columns(games: &[&str]) -> serde_json::Result<String> {
    let mut columns: Vec<String> = Vec::new();
    for (number, game) in games.iter().enumerate() {
        let fields: Vec<&RawValue> = serde_json::from_str(game)?;
        while columns.len() < fields.len() {
            // Missing in earlier games.
            let empty = vec!["null"; number].join(",");
            columns.push(empty);
        }
        for (place, column) in columns.iter_mut().enumerate() {
            if number > 0 {
                column.push(',');
            }
            column.push_str(fields.get(place).map_or("null", |field| field.get()));
        }
    }
    let is_empty = |column: &str| column.split(',').all(|field| field == "null");
    let columns = columns.into_iter().map(|column| {
        if is_empty(&column) {
            "null".to_owned()
        } else {
            format!("[{column}]")
        }
    });
    Ok(format!("[{}]", columns.collect::<Vec<_>>().join(",")))
}

/// Entries of games, and the others.
pub(super) fn parted<'a>(entries: impl Iterator<Item = &'a str>) -> (Vec<&'a str>, Vec<&'a str>) {
    entries.partition(|entry| entry.starts_with("[\"g\","))
}

/// Fails on an entry that is not a JSON array.
pub(super) fn packed(games: &[&str]) -> io::Result<String> {
    let mut encoder = ZlibEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(columns(games)?.as_bytes())?;
    Ok(STANDARD.encode(encoder.finish()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_those_of_the_entries() {
        let games = [
            r#"["g",0,"a,b",null]"#,
            r#"["g",1,"",null,[1,[2]]]"#,
            r#"["g",2]"#,
        ];
        let expected = r#"[["g","g","g"],[0,1,2],["a,b","",null],null,[null,[1,[2]],null]]"#;
        assert_eq!(columns(&games).unwrap(), expected);
        assert_eq!(columns(&[]).unwrap(), "[]");
    }

    #[test]
    fn what_is_packed_can_be_unpacked() {
        let games = [r#"["g",0,"☺"]"#; 100];
        let bytes = STANDARD.decode(packed(&games).unwrap()).unwrap();
        assert!(bytes.len() < 100);
        let mut text = Vec::new();
        let mut decoder = flate2::write::ZlibDecoder::new(&mut text);
        decoder.write_all(&bytes).unwrap();
        decoder.finish().unwrap();
        assert_eq!(String::from_utf8(text).unwrap(), columns(&games).unwrap());
    }
}
