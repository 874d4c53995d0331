//! A shard: a part of a tournament played separately, on any machine, into its own journal.
//!
//! It is a range of pairs in the order of the schedule. Both games of a pair are in one shard, and forfeits in a row
//! within it are in a row in the whole tournament: a bot benched in a shard would have been benched on a single
//! machine.

use std::collections::BTreeMap;
use std::fmt;
use std::fs::{self, OpenOptions};
use std::io::{self, Write as _};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use super::plan::Plan;
use referee_host::system::host_name;
use referee_host::threads::processors;
use referee_match::play::setup::now;
use referee_match::record::reader::{ReadError, Reader};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shard {
    /// From 1.
    pub index: u64,
    /// At least 1.
    pub count: u64,
}

impl fmt::Display for Shard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.index, self.count)
    }
}

impl FromStr for Shard {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let parts = text.split_once('/');
        let numbers = parts.and_then(|(index, count)| index.parse().ok().zip(count.parse().ok()));
        numbers
            .filter(|(index, count)| (1..=*count).contains(index))
            .map(|(index, count)| Self { index, count })
            .ok_or("expected I/N, such as 3/8: the third of eight parts")
    }
}

impl Shard {
    /// Numbers of its pairs: a part of the last round when rounds depend on results, else of the whole schedule.
    pub fn pairs(self, plan: &Plan) -> Range<u64> {
        let (first, pairs) = match plan.rounds.last() {
            None => (1, 0),
            Some(round) if plan.format.depends_on_results() => (round.first_pair, round.count()),
            Some(_) => (1, plan.pairs_so_far()),
        };
        let at = |index: u64| {
            let place = u128::from(pairs) * u128::from(index) / u128::from(self.count);
            // At most `pairs`.
            first + u64::try_from(place).unwrap_or(pairs)
        };
        at(self.index - 1)..at(self.index)
    }

    pub fn name(self, plan: &Plan) -> String {
        let part = format!("{}-of-{}", self.index, self.count);
        if plan.format.depends_on_results() {
            format!("round-{}-{part}", plan.rounds.len())
        } else {
            part
        }
    }
}

/// A session of playing a shard: a line of its header file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Header {
    pub plan: String,
    pub shard: String,
    pub after: u64,
    pub host: String,
    pub cpu: String,
    pub cores: usize,
    pub referee: String,
    pub bots: BTreeMap<String, String>,
    /// RFC 3339.
    pub started: String,
}

impl Header {
    pub fn new(plan: &Plan, shard: Shard, after: u64) -> Self {
        Self {
            plan: plan.hash.clone(),
            shard: shard.to_string(),
            after,
            host: host_name(),
            cpu: cpu(),
            cores: processors(),
            referee: env!("CARGO_PKG_VERSION").to_owned(),
            bots: plan
                .bots
                .iter()
                .map(|bot| (bot.name.clone(), bot.hash.clone()))
                .collect(),
            started: format!("{:.0}", now()),
        }
    }

    pub fn append(&self, path: &Path) -> io::Result<()> {
        let mut line = serde_json::to_string(self)?;
        line.push('\n');
        let mut file = OpenOptions::new().append(true).create(true).open(path)?;
        file.write_all(line.as_bytes())?;
        file.sync_all()
    }

    /// Skips an incomplete last line.
    pub fn read(path: &Path) -> Result<Vec<Self>, ReadError> {
        let mut headers = Vec::new();
        let mut reader = Reader::open(path)?;
        while let Some(line) = reader.next_complete_line()? {
            headers.push(
                serde_json::from_slice(line.bytes()).map_err(|error| {
                    line.error(format!("it is not a header of a shard: {error}"))
                })?,
            );
        }
        Ok(headers)
    }
}

pub fn folder(directory: &Path) -> PathBuf {
    directory.join("shards")
}

/// Sorted by name.
pub fn journals(directory: &Path) -> io::Result<Vec<PathBuf>> {
    let folder = folder(directory);
    let mut paths = Vec::new();
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.extension().is_some_and(|ending| ending == "jsonl") {
            paths.push(path);
        }
    }
    paths.sort();
    Ok(paths)
}

fn cpu() -> String {
    let info = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model = info.lines().find_map(|line| {
        let (name, model) = line.split_once(':')?;
        ["model name", "Model", "cpu model"]
            .contains(&name.trim())
            .then(|| model.trim().to_owned())
    });
    model.unwrap_or_else(|| std::env::consts::ARCH.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shards_are_parsed() {
        let shard = |text: &str| text.parse::<Shard>();
        assert_eq!(shard("3/8"), Ok(Shard { index: 3, count: 8 }));
        for text in ["0/8", "9/8", "3", "3/0", "a/b", "", "-1/2"] {
            assert!(shard(text).is_err(), "{text}");
        }
    }
}
