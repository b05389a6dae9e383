use std::{fmt, str::FromStr};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The CPU quota of a worker, in per cent of one core: less than 100.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "u8")]
pub struct CpuShare(u8);

/// The error for a value that is not a valid CPU quota.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("expected a share of a core from 5% to 99%, such as 25%")]
pub struct NoCpuShare;

impl CpuShare {
    /// Returns the quota in per cent.
    pub fn percent(self) -> u8 {
        self.0
    }
}

impl TryFrom<u8> for CpuShare {
    type Error = NoCpuShare;

    fn try_from(percent: u8) -> Result<Self, NoCpuShare> {
        if (5..=99).contains(&percent) {
            Ok(Self(percent))
        } else {
            Err(NoCpuShare)
        }
    }
}

impl FromStr for CpuShare {
    type Err = NoCpuShare;

    fn from_str(text: &str) -> Result<Self, NoCpuShare> {
        let number = text.strip_suffix('%').ok_or(NoCpuShare)?;
        number
            .trim()
            .parse::<u8>()
            .map_err(|_| NoCpuShare)?
            .try_into()
    }
}

impl fmt::Display for CpuShare {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} %", self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_share_is_in_per_cent_and_not_all() {
        for (text, percent) in [("25%", 25), ("5%", 5), ("99 %", 99)] {
            assert_eq!(text.parse().map(CpuShare::percent), Ok(percent));
        }
        for text in [
            "", "%", "25", "4%", "100%", "0%", "-5%", "2.5%", "999%", "half",
        ] {
            assert_eq!(text.parse::<CpuShare>(), Err(NoCpuShare), "{text}");
        }
        let stored: CpuShare = serde_json::from_str("25").expect("a share");
        assert_eq!(serde_json::to_string(&stored).ok().as_deref(), Some("25"));
        assert!(serde_json::from_str::<CpuShare>("0").is_err());
    }
}
