use globset::{Glob, GlobSet, GlobSetBuilder};

use crate::BogoError;

/// Patterns of test names, in the given order: `*` is any text, `?` any character, `[a-c]` and `[^a-c]` one
/// character of a set, and `\` escapes a character.
///
/// The runner interprets the same patterns with Go's `filepath.Match`. On the names of its tests, which
/// consist of letters, digits, `-`, `_` and `.`, both agree with these exceptions: here, `[!a]` is equivalent
/// to `[^a]`, and a set may begin with `]`.
#[derive(Debug, Clone, Default)]
pub struct TestPatterns {
    patterns: Vec<String>,
    set: GlobSet,
}

impl TestPatterns {
    /// Parses patterns separated by semicolons, the format of the runner's `-test`.
    ///
    /// # Errors
    /// Returns an error if one of them is not a pattern.
    pub fn parse(patterns: &str) -> Result<Self, BogoError> {
        Self::new(patterns.split(';'))
    }

    /// Compiles the patterns.
    ///
    /// # Errors
    /// Returns an error if one of them is not a pattern.
    pub fn new<P: Into<String>>(patterns: impl IntoIterator<Item = P>) -> Result<Self, BogoError> {
        let patterns: Vec<String> = patterns.into_iter().map(Into::into).collect();
        let mut set = GlobSetBuilder::new();
        for pattern in &patterns {
            set.add(glob(pattern)?);
        }
        let set = set.build().map_err(bad("the patterns of tests"))?;
        Ok(Self { patterns, set })
    }

    /// Returns whether a test's name matches any pattern.
    pub fn matches(&self, test: &str) -> bool {
        self.set.is_match(test)
    }

    /// Returns the index of the first pattern that a test's name matches.
    pub fn first_match(&self, test: &str) -> Option<usize> {
        self.set.matches(test).into_iter().min()
    }

    /// Returns the patterns that match none of `tests`.
    pub fn unmatched<'a>(&self, tests: impl IntoIterator<Item = &'a str>) -> Vec<&str> {
        let mut matched = vec![false; self.patterns.len()];
        for test in tests {
            for place in self.set.matches(test) {
                matched[place] = true;
            }
        }
        let unmatched = self.iter().zip(matched).filter(|(_, matched)| !matched);
        unmatched.map(|(pattern, _)| pattern).collect()
    }

    /// Joins all patterns in the format of the runner's `-test` and `-skip`.
    pub fn joined(&self) -> String {
        self.patterns.join(";")
    }

    /// Joins the patterns as [`Self::joined`] does, in texts of at most `most` bytes where no single pattern
    /// is longer.
    pub fn joined_in(&self, most: usize) -> Vec<String> {
        let mut texts: Vec<String> = Vec::new();
        for pattern in &self.patterns {
            match texts.last_mut() {
                Some(text) if text.len() + 1 + pattern.len() <= most => {
                    text.push(';');
                    text.push_str(pattern);
                }
                _ => texts.push(pattern.clone()),
            }
        }
        texts
    }

    /// Returns the patterns in the given order.
    pub fn iter(&self) -> impl Iterator<Item = &str> {
        self.patterns.iter().map(String::as_str)
    }
}

/// Compiles a pattern. Go has no alternatives in braces, so braces are literal.
fn glob(pattern: &str) -> Result<Glob, BogoError> {
    let mut literal = String::new();
    let mut escaped = false;
    for character in pattern.chars() {
        if matches!(character, '{' | '}') && !escaped {
            literal.push('\\');
        }
        escaped = character == '\\' && !escaped;
        literal.push(character);
    }
    Glob::new(&literal).map_err(bad(pattern))
}

fn bad(pattern: &str) -> impl FnOnce(globset::Error) -> BogoError {
    move |error| BogoError::BadPattern {
        pattern: pattern.to_owned(),
        why: error.kind().to_string(),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn matches(pattern: &str, name: &str) -> bool {
        TestPatterns::parse(pattern).unwrap().matches(name)
    }

    #[test]
    fn patterns_are_read_as_go_reads_them() {
        let cases = [
            ("*", "", true),
            ("", "", true),
            ("", "a", false),
            ("A*", "ALPN", true),
            ("A*", "alpn", false),
            ("*-TLS1?", "Basic-TLS13", true),
            ("*-TLS1?", "Basic-TLS1", false),
            ("a*b*c", "a-b-b-c", true),
            ("a*b*c", "a-b-b", false),
            ("**", "x", true),
            ("a**c", "abc", true),
            ("*-TLS1[23]", "Basic-TLS13", true),
            ("*-TLS1[^2]", "Basic-TLS12", false),
            ("[a-c]", "b", true),
            ("{a,b}", "a", false),
            ("{a,b}", "{a,b}", true),
            (r"\{a\}", "{a}", true),
            (r"\*", "a", false),
            ("A*;B*", "Basic", true),
            ("A*;B*", "Curve", false),
        ];
        for (pattern, name, want) in cases {
            assert_eq!(matches(pattern, name), want, "{pattern} {name}");
        }
    }

    #[test]
    fn what_is_not_a_pattern_is_refused() {
        for pattern in ["[", "A*;[a", r"a\"] {
            let error = TestPatterns::parse(pattern).unwrap_err().to_string();
            assert!(error.contains("pattern"), "{pattern}: {error}");
        }
    }

    #[test]
    fn the_first_match_counts_and_idle_patterns_are_found() {
        let patterns = TestPatterns::new(["ALPN*", "*-TLS13", "Z*"]).unwrap();
        assert_eq!(patterns.first_match("ALPN-TLS13"), Some(0));
        assert_eq!(patterns.first_match("SNI-TLS13"), Some(1));
        assert_eq!(patterns.first_match("SNI"), None);
        assert_eq!(patterns.unmatched(["ALPN", "A-TLS13"]), ["Z*"]);
    }

    #[test]
    fn many_patterns_are_divided() {
        let patterns = TestPatterns::new(["aaa", "bb", "c", "dddddddd"]).unwrap();
        assert_eq!(patterns.joined_in(6), ["aaa;bb", "c", "dddddddd"]);
        assert_eq!(patterns.joined_in(100), [patterns.joined()]);
    }

    proptest! {
        #[test]
        fn a_name_matches_itself_and_any_part_replaced(name in "[A-Za-z0-9-]{0,20}", a in 0_usize..20, b in 0_usize..20) {
            prop_assert!(matches(&name, &name));
            let (a, b) = (a.min(name.len()), b.min(name.len()));
            let (a, b) = (a.min(b), a.max(b));
            let pattern = format!("{}*{}", &name[..a], &name[b..]);
            prop_assert!(matches(&pattern, &name));
        }
    }
}
