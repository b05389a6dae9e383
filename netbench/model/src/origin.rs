use std::{fmt, str::FromStr};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{named::text_in_json, sites_file::digits};

/// The origin of a run: its part of a plan, its vantage point, and the runs that were merged into it.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub struct Origin {
    /// The name of the vantage point; empty in runs from before vantage points existed.
    #[serde(default)]
    pub vantage: String,
    /// The run's part of the sites; `None` if the run has all sites.
    #[serde(default)]
    pub shard: Option<ShardRecord>,
    /// The runs that were merged; empty if the run was measured as a whole.
    #[serde(default)]
    pub merged: Vec<MergedRun>,
}

impl Origin {
    /// Returns the vantage point of a session, given the session's number.
    pub fn vantage_of(&self, session: u32) -> &str {
        let of = self
            .merged
            .iter()
            .find(|run| (run.first_session..run.first_session + run.sessions).contains(&session));
        of.map_or(&self.vantage, |run| &run.vantage)
    }

    /// Returns the names of all vantage points, sorted and without duplicates.
    pub fn vantages(&self) -> Vec<&str> {
        let mut names: Vec<&str> = self.merged.iter().map(|run| run.vantage.as_str()).collect();
        if names.is_empty() && !self.vantage.is_empty() {
            names.push(&self.vantage);
        }
        names.sort_unstable();
        names.dedup();
        names
    }
}

/// One of the runs that a run was merged from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct MergedRun {
    /// The name of the run.
    #[schemars(extend("x-key" = "item"))]
    pub name: String,
    /// The vantage point of the run.
    pub vantage: String,
    /// The seed of the run.
    pub seed: u64,
    /// Start, RFC 3339, UTC.
    pub started: String,
    /// End; `None` if the run was not finished.
    pub finished: Option<String>,
    /// The run's part of the sites.
    pub shard: Option<ShardRecord>,
    /// The number of the run's first session in the merged run.
    pub first_session: u32,
    /// Number of sessions of the run.
    pub sessions: u32,
    /// The number of the run's first round in the merged run.
    pub first_round: u32,
    /// The number of the run's first block in the merged run.
    pub first_block: u32,
}

/// A shard, and the size of the whole.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
pub struct ShardRecord {
    /// The shard.
    pub shard: Shard,
    /// Number of sites of all shards together.
    pub whole_sites: u32,
}

/// One of `of` parts of a list of sites. The part `index` has the sites at the places `index`, `index + of`,
/// `index + 2 of` and so on of the list. Written `2/3`.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(try_from = "String", into = "String")]
#[schemars(with = "String")]
pub struct Shard {
    index: u32,
    of: u32,
}

/// Maximum number of shards. A larger number is an error.
const MOST: u32 = 10_000;

impl Shard {
    /// Creates the part `index`, from 1, of `of`.
    ///
    /// # Errors
    /// A number of shards that is 0 or above the maximum, or an index that is not from 1 to `of`.
    pub fn new(index: u32, of: u32) -> Result<Self, String> {
        if of == 0 || of > MOST {
            return Err(format!("{of} shards: expected from 1 to {MOST}"));
        }
        if index == 0 || index > of {
            return Err(format!(
                "shard {index} of {of}: shards are numbered from 1 to {of}"
            ));
        }
        Ok(Self { index, of })
    }

    /// Returns the index, from 1.
    pub fn index(self) -> u32 {
        self.index
    }

    /// Returns the number of shards.
    pub fn of(self) -> u32 {
        self.of
    }

    /// Returns the places of this shard in the whole list, from 0 and below `whole`.
    pub fn places(self, whole: usize) -> impl Iterator<Item = usize> {
        (self.index as usize - 1..whole).step_by(self.of as usize)
    }
}

impl FromStr for Shard {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let parts = text.split_once('/');
        match parts.and_then(|(index, of)| Some((digits(index)?, digits(of)?))) {
            Some((index, of)) => Self::new(index, of),
            None => Err(format!(
                "{text:?} is not a shard: expected I/N, such as 2/3"
            )),
        }
    }
}

text_in_json!(Shard);

impl fmt::Display for Shard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.index, self.of)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shards_are_read_as_they_are_written() {
        for text in ["1/1", "2/3", "10000/10000"] {
            assert_eq!(text.parse::<Shard>().unwrap().to_string(), text);
        }
        let wrong = [
            ("", "not a shard"),
            ("2", "not a shard"),
            ("+1/2", "not a shard"),
            ("1/2/3", "not a shard"),
            ("99999999999/2", "not a shard"),
            ("0/3", "from 1 to 3"),
            ("4/3", "from 1 to 3"),
            ("1/0", "expected from 1 to 10000"),
            ("1/10001", "expected from 1 to 10000"),
        ];
        for (text, why) in wrong {
            let error = text.parse::<Shard>().unwrap_err();
            assert!(error.contains(why), "{text}: {error}");
        }
    }

    #[test]
    fn shards_have_every_place_once() {
        for (of, whole) in [(1, 5), (3, 10), (4, 3)] {
            let mut places: Vec<usize> = (1..=of)
                .flat_map(|index| Shard::new(index, of).unwrap().places(whole))
                .collect();
            places.sort_unstable();
            assert_eq!(places, (0..whole).collect::<Vec<_>>());
        }
    }
}
