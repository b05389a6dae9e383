use std::{fmt, str::FromStr};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::named::text_in_json;

/// A permitted number: `1`, `1+` or `0-2`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "String", into = "String")]
#[schemars(with = "String", extend("pattern" = "^[0-9]+([+]|-[0-9]+)?$"))]
pub struct Times {
    least: usize,
    /// The largest permitted number, if there is a limit.
    most: Option<usize>,
}

impl Times {
    /// Returns whether the number is permitted.
    pub fn permits(self, number: usize) -> bool {
        self.least <= number && self.most.is_none_or(|most| number <= most)
    }
}

impl FromStr for Times {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (least, most) = match text.strip_suffix('+') {
            Some(least) => (least, None),
            None => {
                let (least, most) = text.split_once('-').unwrap_or((text, text));
                (least, Some(most))
            }
        };
        let most = most.map(str::parse::<usize>).transpose();
        let (Ok(least), Ok(most)) = (least.parse::<usize>(), most) else {
            return Err(format!("\"{text}\" is no number such as 1, 1+ or 0-2"));
        };
        if most.is_some_and(|most| most < least) {
            return Err(format!("\"{text}\" permits no number"));
        }
        Ok(Self { least, most })
    }
}

text_in_json!(Times);

impl fmt::Display for Times {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.most {
            None => write!(f, "{}+", self.least),
            Some(most) if most == self.least => write!(f, "{most}"),
            Some(most) => write!(f, "{}-{most}", self.least),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_permitted_as_they_are_written() {
        for (text, permitted, refused) in [
            ("0", vec![0], vec![1]),
            ("1", vec![1], vec![0, 2]),
            ("1+", vec![1, 9], vec![0]),
            ("0-2", vec![0, 2], vec![3]),
        ] {
            let times: Times = text.parse().unwrap();
            assert_eq!(times.to_string(), text);
            assert!(
                permitted.iter().all(|number| times.permits(*number)),
                "{text}"
            );
            assert!(
                !refused.iter().any(|number| times.permits(*number)),
                "{text}"
            );
        }
        for text in ["", "x", "+", "2-1", "-1", "1-"] {
            assert!(text.parse::<Times>().is_err(), "{text}");
        }
    }
}
