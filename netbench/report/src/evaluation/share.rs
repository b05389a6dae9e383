use std::cmp::Reverse;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::families::{Counted, PublishedShare};

/// The number of those who meet a finding.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Share {
    /// Sites of the user's list that a scan found.
    Scanned {
        /// Number of sites that meet it.
        sites: u64,
        /// Number of sites that were compared.
        of: u64,
    },
    /// The share by a publication.
    Published(PublishedShare),
    /// No scan and no publication has a number.
    Unknown,
}

impl Share {
    /// Returns the share with its year, in words.
    pub fn words(&self) -> String {
        match self {
            Self::Scanned { sites, of } => format!("{sites} of {of} scanned sites"),
            Self::Published(share) => {
                let [low, high] = [share.low_ppm, share.high_ppm].map(|ppm| f64::from(ppm) / 1e4);
                let range = match share.counted {
                    Counted::LargerSet => format!("≤ {high} %"),
                    Counted::Family if low == high => format!("{high} %"),
                    Counted::Family => format!("{low} to {high} %"),
                };
                format!("{range} of {}, {}", share.of, share.year)
            }
            Self::Unknown => "share unknown".to_owned(),
        }
    }

    pub(super) fn source(&self) -> &str {
        match self {
            Self::Scanned { .. } => "the scan",
            Self::Published(share) => &share.source,
            Self::Unknown => "",
        }
    }

    /// Returns the rank: shares that were counted, then bounds, then unknown shares; the largest first.
    pub(super) fn rank(&self) -> ShareRank {
        match self {
            Self::Scanned { sites, of } => {
                ShareRank::Known(Counted::Family, Reverse(sites * 1_000_000 / (*of).max(1)))
            }
            Self::Published(share) => {
                ShareRank::Known(share.counted, Reverse(u64::from(share.high_ppm)))
            }
            Self::Unknown => ShareRank::Unknown,
        }
    }
}

/// The place of a share among others, by its parts per million.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum ShareRank {
    Known(Counted, Reverse<u64>),
    Unknown,
}
