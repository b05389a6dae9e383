use std::{fmt, time::Duration};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::LossRate;

/// A rate in bits per second.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(transparent)]
pub struct BitRate {
    /// The rate, in bits per second.
    pub bits_per_second: u64,
}

impl fmt::Display for BitRate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let bits = self.bits_per_second;
        match bits {
            b if b >= 1_000_000_000 && b % 1_000_000_000 == 0 => {
                write!(f, "{}gbit", b / 1_000_000_000)
            }
            b if b >= 1_000_000 && b % 1_000_000 == 0 => write!(f, "{}mbit", b / 1_000_000),
            b if b >= 1_000 && b % 1_000 == 0 => write!(f, "{}kbit", b / 1_000),
            b => write!(f, "{b}bit"),
        }
    }
}

/// An error for text that is not a number with a known unit.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("expected {expected}, such as {example}; found {found:?}")]
pub struct ParseUnitError {
    /// The kind of the expected value.
    pub expected: &'static str,
    /// A valid example.
    pub example: &'static str,
    /// The text that was found.
    pub found: String,
}

/// Parses `20ms`, `1.5s`, `300us` or `0`.
///
/// # Errors
/// A unit that is missing or unknown, or a number that is negative, not finite, or over an hour.
pub fn parse_duration(text: &str) -> Result<Duration, ParseUnitError> {
    duration(text).ok_or_else(|| unreadable("a time with its unit", "20ms", text))
}

fn duration(text: &str) -> Option<Duration> {
    if text == "0" {
        return Some(Duration::ZERO);
    }
    let (number, unit) = split_unit(text)?;
    let seconds = match unit {
        "us" => number / 1e6,
        "ms" => number / 1e3,
        "s" => number,
        _ => return None,
    };
    // The conversion rounds to whole nanoseconds: 20ms is exactly 20 ms.
    let is_valid = (0.0..=3600.0).contains(&seconds);
    is_valid.then(|| Duration::from_nanos(rounded(seconds * 1e9)))
}

/// Parses `1.6mbit`, `768kbit`, `1gbit`, `1500bit`.
///
/// # Errors
/// A unit that is missing or unknown, or a rate under 1 kbit/s or over 100 Gbit/s.
pub fn parse_rate(text: &str) -> Result<BitRate, ParseUnitError> {
    rate(text).ok_or_else(|| unreadable("a rate with its unit", "10mbit", text))
}

fn rate(text: &str) -> Option<BitRate> {
    let (number, unit) = split_unit(text)?;
    let bits = number
        * match unit {
            "bit" => 1.0,
            "kbit" => 1e3,
            "mbit" => 1e6,
            "gbit" => 1e9,
            _ => return None,
        };
    (1e3..=1e11).contains(&bits).then(|| BitRate {
        bits_per_second: rounded(bits),
    })
}

/// Parses `1%`, `0.25%` or `0`.
///
/// # Errors
/// A missing `%`, or a share outside 0–100 %.
pub fn parse_loss(text: &str) -> Result<LossRate, ParseUnitError> {
    loss(text).ok_or_else(|| unreadable("a share of packets", "0.5%", text))
}

fn loss(text: &str) -> Option<LossRate> {
    if text == "0" {
        return Some(LossRate::default());
    }
    let (number, unit) = split_unit(text)?;
    let is_share = unit == "%" && (0.0..=100.0).contains(&number);
    let parts_per_million = u32::try_from(rounded(number * 10_000.0)).ok()?;
    is_share.then_some(LossRate { parts_per_million })
}

/// Parses `14480`, `16k` (1024s) or `1m`.
///
/// # Errors
/// Any text other than a whole number with one of those units, or more than 1 GiB.
pub fn parse_bytes(text: &str) -> Result<u64, ParseUnitError> {
    bytes(text).ok_or_else(|| unreadable("a number of bytes", "16k", text))
}

fn bytes(text: &str) -> Option<u64> {
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let unit: u64 = match &text[digits.len()..] {
        "" => 1,
        "k" => 1024,
        "m" => 1024 * 1024,
        _ => return None,
    };
    Some(digits)
        .filter(|digits| digits.bytes().all(|b| b.is_ascii_digit()))
        .and_then(|digits| digits.parse::<u64>().ok())
        .and_then(|n| n.checked_mul(unit))
        .filter(|bytes| *bytes <= 1 << 30)
}

fn unreadable(expected: &'static str, example: &'static str, found: &str) -> ParseUnitError {
    ParseUnitError {
        expected,
        example,
        found: found.to_owned(),
    }
}

/// Returns a number that is not negative, with the unit after it.
fn split_unit(text: &str) -> Option<(f64, &str)> {
    let at = text.find(|c: char| !(c.is_ascii_digit() || c == '.'))?;
    let number: f64 = text[..at].parse().ok()?;
    Some((number, &text[at..]))
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "the callers' numbers are not negative, and bounded"
)]
fn rounded(number: f64) -> u64 {
    number.round() as u64
}
