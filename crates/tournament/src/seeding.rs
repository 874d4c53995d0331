//! Seeds from a file: standings written by this program, or names.

use std::collections::HashMap;

use referee_text::quote;

/// Names in a sentence.
const LISTED: usize = 8;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Seeded {
    /// Indices of bots, the best seed first.
    pub order: Vec<usize>,
    /// Bots that the file does not name: seeded last, in the order given.
    pub unnamed: Vec<usize>,
    /// Names in the file that are not bots here.
    pub others: usize,
}

/// What is wrong with a file of seeds, and what was expected.
#[derive(Debug, thiserror::Error)]
pub enum SeedsError {
    #[error("there are no names in it; expected standings as CSV, or a name a line")]
    NoNames,
    /// Seeds count from 1.
    #[error("{} is seed {first} and seed {second}; leave one out", quote(.name.as_bytes()))]
    Repeated {
        name: String,
        first: usize,
        second: usize,
    },
    #[error(
        "{} is not a bot of this tournament; the bots are {}",
        quote(.name.as_bytes()), listed(.bots.iter().map(String::as_str))
    )]
    Unknown { name: String, bots: Vec<String> },
    #[error(
        "none of its {} names ({}) is a bot of this tournament; the bots are {}",
        .names.len(), listed(.names.iter().map(String::as_str)), listed(.bots.iter().map(String::as_str))
    )]
    AllUnknown {
        names: Vec<String>,
        bots: Vec<String>,
    },
    #[error(transparent)]
    Csv(#[from] csv::Error),
}

/// Orders bots by a file's text: `standings.csv`, or a name a line. Of a list, every name must be a
/// bot.
pub fn seeded(text: &str, bots: &[&str]) -> Result<Seeded, SeedsError> {
    let (names, is_list) = names(text)?;
    if names.is_empty() {
        return Err(SeedsError::NoNames);
    }
    let all_bots = || bots.iter().map(|&bot| bot.to_owned()).collect();
    let mut seen = HashMap::new();
    for (place, name) in names.iter().enumerate() {
        if let Some(before) = seen.insert(name, place) {
            return Err(SeedsError::Repeated {
                name: name.clone(),
                first: before + 1,
                second: place + 1,
            });
        }
    }
    let places: HashMap<&str, usize> = bots.iter().copied().zip(0..).collect();
    let mut order: Vec<usize> = Vec::new();
    for name in &names {
        match places.get(name.as_str()) {
            Some(&bot) => order.push(bot),
            None if is_list => {
                return Err(SeedsError::Unknown {
                    name: name.clone(),
                    bots: all_bots(),
                });
            }
            None => {}
        }
    }
    if order.is_empty() {
        return Err(SeedsError::AllUnknown {
            names,
            bots: all_bots(),
        });
    }
    let others = names.len() - order.len();
    let unnamed: Vec<usize> = (0..bots.len()).filter(|bot| !order.contains(bot)).collect();
    order.extend(&unnamed);
    Ok(Seeded {
        order,
        unnamed,
        others,
    })
}

/// The names, the best first, and whether the file is a plain list of names.
fn names(text: &str) -> Result<(Vec<String>, bool), csv::Error> {
    let text = text.trim_start_matches('\u{feff}');
    let mut reader = csv::Reader::from_reader(text.as_bytes());
    let heads = reader.headers()?;
    let column = |wanted: &str| heads.iter().position(|head| head.trim() == wanted);
    let (Some(name), rank, 2..) = (column("name"), column("rank"), heads.len()) else {
        let lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
        return Ok((lines.map(str::to_owned).collect(), true));
    };
    let mut names = Vec::new();
    for row in reader.records() {
        let row = row?;
        let is_ranked = rank
            .and_then(|rank| row.get(rank))
            .is_none_or(|rank| !rank.is_empty());
        if let Some(name) = row.get(name).filter(|name| is_ranked && !name.is_empty()) {
            names.push(unescaped(name).to_owned());
        }
    }
    Ok((names, false))
}

/// Removes the mark that protects a name from being a spreadsheet formula.
fn unescaped(name: &str) -> &str {
    let rest = name.strip_prefix('\'');
    rest.filter(|rest| rest.starts_with(['=', '+', '-', '@']))
        .unwrap_or(name)
}

pub fn listed<'a>(names: impl Iterator<Item = &'a str>) -> String {
    let names: Vec<&str> = names.collect();
    let shown = names[..names.len().min(LISTED)].join(", ");
    match names.len().saturating_sub(LISTED) {
        0 => shown,
        more => format!("{shown} and {more} more"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_as_tables_write_them() {
        let names = |text: &str| names(text).unwrap().0;
        assert_eq!(names("\u{feff}ben\r\n\r\n anna \r\n"), ["ben", "anna"]);
        assert_eq!(names("rank,name\n1,\"a, b\"\n2,'=1+1\n"), ["a, b", "=1+1"]);
        assert_eq!(names("name\nanna\n"), ["name", "anna"]);
    }

    #[test]
    fn what_cannot_be_meant_is_said() {
        let error = |text: &str| seeded(text, &["anna", "ben"]).unwrap_err().to_string();
        assert!(error("\n\n").contains("there are no names"));
        assert_eq!(
            error("anna\nben\nanna\n"),
            "`anna` is seed 1 and seed 3; leave one out"
        );
        assert_eq!(
            error("anna\nbob\n"),
            "`bob` is not a bot of this tournament; the bots are anna, ben"
        );
        assert!(error("rank,name\n1,x\n").contains("none of its 1 names (x)"));
    }

    #[test]
    fn a_table_may_name_more_and_fewer() {
        let table = "rank,name\n1,carla\n2,x\n3,anna\n";
        let seeded = seeded(table, &["anna", "ben", "carla"]).unwrap();
        assert_eq!(seeded.order, [2, 0, 1]);
        assert_eq!((seeded.unnamed, seeded.others), (vec![1], 1));
    }
}
