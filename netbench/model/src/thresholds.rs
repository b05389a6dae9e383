//! The limits by which a report answers its questions.

use std::{collections::BTreeMap, fmt, str::FromStr};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::named::{named, text_in_json};

named!(
    /// A quantity that has a limit.
    Quantity, "threshold", {
        /// The time by which whole connections become longer, in each condition.
        ConnectionTime = "connection-time",
        /// The time by which a part of the suite becomes longer, by the mean of its cases.
        InMemory = "in-memory",
        /// The memory by which a process with many sessions becomes larger.
        Memory = "memory",
        /// The share of sites that are lost.
        LostSites = "lost-sites",
        /// The number of sites, servers, chains and tests that the new stack accepts and must refuse.
        FalseAccepts = "false-accepts",
        /// The time by which a process' first connection becomes longer.
        FirstConnection = "first-connection",
    }
);

impl Quantity {
    /// Returns the limit that holds unless the user sets one.
    ///
    /// A connection that becomes 5 % longer changes less than one lost packet in a few hundred connections does. In
    /// memory, an evaluation answers *no* only from a tenfold time, because whole connections contain it. A delay of
    /// 100 ms seems immediate (R. B. Miller: Response time in man-computer conversational transactions, 1968).
    pub fn usual(self) -> Threshold {
        let (yes, no) = match self {
            Self::ConnectionTime => (Amount::percent(5), Some(Amount::percent(5))),
            Self::InMemory | Self::Memory => (Amount::percent(5), Some(Amount::percent(900))),
            Self::LostSites => (Amount::percent(0), Some(Amount::percent(5))),
            Self::FalseAccepts => (Amount::Count(0), None),
            Self::FirstConnection => (Amount::Milliseconds(100), None),
        };
        Threshold { yes, no }
    }

    /// Returns the limit if it has the unit of the quantity.
    fn checked(self, limit: Threshold) -> Result<Threshold, ThresholdError> {
        let usual = self.usual();
        if limit.yes.is_like(usual.yes) {
            return Ok(limit);
        }
        Err(ThresholdError::Unit {
            name: self.name(),
            usual,
        })
    }
}

/// An amount in the unit of a limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Amount {
    /// A share, in millionths.
    Share {
        /// Millionths.
        ppm: u64,
    },
    /// A time.
    Milliseconds(u64),
    /// A number.
    Count(u64),
}

impl Amount {
    const fn percent(percent: u64) -> Self {
        Self::Share {
            ppm: percent * 10_000,
        }
    }

    /// Returns the amount as a number: a share as a part of one, a time in nanoseconds.
    pub fn value(self) -> f64 {
        match self {
            Self::Share { ppm } => ppm as f64 / 1e6,
            Self::Milliseconds(ms) => ms as f64 * 1e6,
            Self::Count(count) => count as f64,
        }
    }

    /// Returns the ratio that corresponds to a share: 1.05 for 5 %.
    pub fn ratio(self) -> f64 {
        1.0 + self.value()
    }

    fn is_like(self, other: Self) -> bool {
        std::mem::discriminant(&self) == std::mem::discriminant(&other)
    }
}

impl fmt::Display for Amount {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Share { ppm } => write!(f, "{} %", *ppm as f64 / 1e4),
            Self::Milliseconds(ms) => write!(f, "{ms} ms"),
            Self::Count(count) => write!(f, "{count}"),
        }
    }
}

impl FromStr for Amount {
    type Err = ThresholdError;

    fn from_str(text: &str) -> Result<Self, ThresholdError> {
        let text = text.trim();
        amount(text).ok_or_else(|| ThresholdError::NoAmount(text.to_owned()))
    }
}

fn amount(text: &str) -> Option<Amount> {
    if let Some(percent) = text.strip_suffix('%') {
        let percent: f64 = percent.trim_end().parse().ok()?;
        // A larger share is a mistake; the bound also keeps the conversion exact.
        return (0.0..=1e6).contains(&percent).then(|| Amount::Share {
            ppm: (percent * 1e4).round() as u64,
        });
    }
    let (number, amount): (_, fn(u64) -> Amount) = match text.strip_suffix("ms") {
        Some(ms) => (ms.trim_end(), Amount::Milliseconds),
        None => (text, Amount::Count),
    };
    number.parse::<u32>().ok().map(|n| amount(n.into()))
}

/// A limit with two ends: up to `yes`, the answer is yes; from `no` on, it is no; in between, it is yes with losses.
/// Its text is `YES..NO`, `YES..` without an end that makes the answer a no, or one amount for both.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "String", into = "String")]
#[schemars(with = "String")]
pub struct Threshold {
    /// The largest amount with which the answer is yes.
    pub yes: Amount,
    /// The amount from which the answer is no, if any amount makes it one.
    pub no: Option<Amount>,
}

impl Threshold {
    /// Returns whether an amount beyond [`Self::yes`] makes the answer a no.
    pub fn is_no(self, amount: f64) -> bool {
        self.no.is_some_and(|no| amount >= no.value()) && amount > self.yes.value()
    }
}

impl fmt::Display for Threshold {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.no {
            Some(no) if no == self.yes => f.write_str(&compact(no)),
            Some(no) => write!(f, "{}..{}", compact(self.yes), compact(no)),
            None => write!(f, "{}..", compact(self.yes)),
        }
    }
}

fn compact(amount: Amount) -> String {
    amount.to_string().replace(' ', "")
}

impl FromStr for Threshold {
    type Err = ThresholdError;

    fn from_str(text: &str) -> Result<Self, ThresholdError> {
        let Some((yes, no)) = text.split_once("..") else {
            let both = text.parse()?;
            return Ok(Self {
                yes: both,
                no: Some(both),
            });
        };
        let yes: Amount = yes.parse()?;
        let no = match no.trim() {
            "" => None,
            no => Some(no.parse::<Amount>()?),
        };
        match no {
            Some(no) if !no.is_like(yes) => Err(ThresholdError::Units(yes, no)),
            Some(no) if no < yes => Err(ThresholdError::Order(yes, no)),
            no => Ok(Self { yes, no }),
        }
    }
}

text_in_json!(Threshold);

/// The limits by which a report answers its questions: those that the user sets, and the usual ones for the other
/// quantities.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "BTreeMap<Quantity, Threshold>")]
pub struct Thresholds(BTreeMap<Quantity, Threshold>);

impl Thresholds {
    /// Returns the limit of a quantity.
    pub fn of(&self, name: Quantity) -> Threshold {
        self.0.get(&name).copied().unwrap_or_else(|| name.usual())
    }

    /// Returns whether the user set none.
    pub fn are_usual(&self) -> bool {
        self.0.is_empty()
    }
}

/// A limit with its quantity, as an option gives it: `connection-time=5%..20%`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NamedThreshold {
    /// The quantity.
    pub name: Quantity,
    /// The limit.
    pub limit: Threshold,
}

impl FromStr for NamedThreshold {
    type Err = ThresholdError;

    fn from_str(text: &str) -> Result<Self, ThresholdError> {
        let (name, limit) = text.split_once('=').ok_or(ThresholdError::NoName)?;
        let name: Quantity = name.trim().parse().map_err(ThresholdError::Unknown)?;
        let limit = name.checked(limit.parse()?)?;
        Ok(Self { name, limit })
    }
}

impl TryFrom<BTreeMap<Quantity, Threshold>> for Thresholds {
    type Error = ThresholdError;

    fn try_from(limits: BTreeMap<Quantity, Threshold>) -> Result<Self, ThresholdError> {
        for (name, limit) in &limits {
            name.checked(*limit)?;
        }
        Ok(Self(limits))
    }
}

impl FromIterator<NamedThreshold> for Thresholds {
    fn from_iter<I: IntoIterator<Item = NamedThreshold>>(named: I) -> Self {
        Self(
            named
                .into_iter()
                .map(|named| (named.name, named.limit))
                .collect(),
        )
    }
}

/// The reason why a text is no limit.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ThresholdError {
    /// The text has no name.
    #[error("expected NAME=YES..NO, such as connection-time=5%..20%")]
    NoName,
    /// No quantity has this name.
    #[error("{0}")]
    Unknown(String),
    /// The text is no amount.
    #[error("\"{}\" is no amount: expected a share (5%), a time (100ms) or a number (3)", .0.escape_debug())]
    NoAmount(String),
    /// The ends have different units.
    #[error("{0} and {1} have different units")]
    Units(Amount, Amount),
    /// The end that makes the answer a no comes first.
    #[error("{1} is less than {0}: the amount from which the answer is no comes second")]
    Order(Amount, Amount),
    /// The limit has another unit than the quantity.
    #[error("{name} has another unit, as in {name}={usual}")]
    Unit {
        /// The name of the quantity.
        name: &'static str,
        /// The usual limit.
        usual: Threshold,
    },
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn limits_are_read_and_written() {
        let cases = [
            ("connection-time=5%", Ok("5%")),
            ("connection-time=5%..20%", Ok("5%..20%")),
            ("lost-sites = 0.01 % .. 1 %", Ok("0.01%..1%")),
            ("false-accepts=0..1", Ok("0..1")),
            ("first-connection=100ms..", Ok("100ms..")),
            ("5%", Err("expected NAME=")),
            (
                "speed=5%",
                Err("unknown threshold \"speed\"; expected one of connection-time, "),
            ),
            (
                "lost-sites=3",
                Err("has another unit, as in lost-sites=0%..5%"),
            ),
            ("lost-sites=-3%", Err("\"-3%\" is no amount")),
            ("lost-sites=NaN%", Err("\"NaN%\" is no amount")),
            ("lost-sites=", Err("\"\" is no amount")),
            ("in-memory=5%..10ms", Err("different units")),
            ("in-memory=10%..5%", Err("5 % is less than 10 %")),
        ];
        for (text, expected) in cases {
            match (text.parse::<NamedThreshold>(), expected) {
                (Ok(named), Ok(shown)) => assert_eq!(named.limit.to_string(), shown, "{text}"),
                (Err(error), Err(said)) => {
                    assert!(error.to_string().contains(said), "{text}: {error}");
                }
                (read, _) => panic!("{text}: {read:?}"),
            }
        }
    }

    #[test]
    fn every_usual_limit_can_be_set() {
        for &name in Quantity::ALL {
            let text = format!("{}={}", name.name(), name.usual());
            let named: NamedThreshold = text.parse().unwrap();
            let thresholds: Thresholds = [named].into_iter().collect();
            assert_eq!(thresholds.of(name), Thresholds::default().of(name));
        }
    }

    proptest! {
        #[test]
        fn a_limit_survives_its_text(yes in 0_u64..1_000_000, more in proptest::option::of(0_u64..1_000_000)) {
            let no = more.map(|more| Amount::Share { ppm: yes + more });
            let limit = Threshold { yes: Amount::Share { ppm: yes }, no };
            prop_assert_eq!(limit.to_string().parse(), Ok(limit));
        }

        #[test]
        fn no_text_panics(text in "[a-z0-9%. =-]{0,20}|.{0,20}") {
            let _ = text.parse::<NamedThreshold>();
        }
    }
}
