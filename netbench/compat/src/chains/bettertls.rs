use netbench_model::chains::{ChainCase, Due};
use netbench_protocol::ChainToVerify;
use serde::{Deserialize, de::DeserializeOwned};

use super::Chain;
use crate::LineError;

/// The first component of the names of BetterTLS's cases, before the first slash.
pub const BETTERTLS: &str = "bettertls";

/// The Go program that prints BetterTLS's cases: its files, by name. The module is pinned by its checksum.
pub const EXPORTER: [(&str, &str); 3] = [
    ("main.go", include_str!("bettertls/main.go")),
    ("go.mod", include_str!("bettertls/go.mod.txt")),
    ("go.sum", include_str!("bettertls/go.sum.txt")),
];

/// BetterTLS's cases.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BetterTls {
    /// The first line, which contains the root: a different one in every export.
    pub head: String,
    /// The cases.
    pub chains: Vec<Chain>,
}

#[derive(Deserialize)]
struct Head {
    root: String,
    made_unix_s: u64,
    cases: usize,
}

#[derive(Deserialize)]
struct Entry {
    name: String,
    made_of: Vec<String>,
    due: Due,
    host: String,
    chain: Vec<String>,
}

impl BetterTls {
    /// Returns the pinned version of BetterTLS.
    pub fn version() -> &'static str {
        let required = EXPORTER[1].1.lines().find_map(|line| {
            let (_, version) = line.split_once("github.com/Netflix/bettertls ")?;
            Some(version)
        });
        required.unwrap_or_default()
    }

    /// Reads the program's output.
    ///
    /// # Errors
    /// Returns the first line that is wrong, or an error if lines are missing.
    pub fn read(text: &str) -> Result<Self, LineError> {
        let mut lines = text.lines().zip(1..);
        let first = lines.next().map_or("", |(first, _)| first);
        let head: Head = parsed(first, 1)?;
        let chains = lines.map(|(text, line)| {
            let entry: Entry = parsed(text, line)?;
            Ok(Chain {
                case: ChainCase {
                    name: entry.name,
                    made_of: entry.made_of,
                    due: entry.due,
                    rule: None,
                },
                question: ChainToVerify {
                    chain_base64: entry.chain,
                    roots_base64: vec![head.root.clone()],
                    crls_base64: Vec::new(),
                    host: entry.host,
                    at_unix_s: head.made_unix_s,
                },
            })
        });
        let chains = chains.collect::<Result<Vec<_>, LineError>>()?;
        if chains.len() != head.cases {
            return Err(LineError {
                line: chains.len() + 1,
                what: format!("{} cases of {}", chains.len(), head.cases),
            });
        }
        Ok(Self {
            head: first.to_owned(),
            chains,
        })
    }
}

fn parsed<T: DeserializeOwned>(text: &str, line: usize) -> Result<T, LineError> {
    serde_json::from_str(text).map_err(|error| LineError {
        line,
        what: error.to_string(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = r#"{"root":"AAAA","made_unix_s":1700000000,"cases":1}
{"name":"bettertls/path-building/0","made_of":["to=ee"],"due":"must accept","host":"localhost","chain":["BBBB"]}
"#;

    #[test]
    fn an_export_is_read() {
        let read = BetterTls::read(TEXT).unwrap();
        let chain = &read.chains[0];
        assert_eq!(chain.case.kind(), "bettertls/path-building");
        assert_eq!(chain.question.roots_base64, ["AAAA"]);
        assert_eq!(chain.question.at_unix_s, 1_700_000_000);
    }

    #[test]
    fn what_is_wrong_with_an_export_is_said_with_its_line() {
        for (text, wrong) in [
            ("", "line 1: EOF while parsing a value at line 1 column 0"),
            (
                &TEXT.replace("\"cases\":1", "\"cases\":2"),
                "line 2: 1 cases of 2",
            ),
            (
                &TEXT.replace("must accept", "may accept"),
                "line 2: unknown variant `may accept`",
            ),
        ] {
            let error = BetterTls::read(text).unwrap_err().to_string();
            assert!(error.starts_with(wrong), "{error}");
        }
    }

    #[test]
    fn the_version_is_the_one_that_is_pinned() {
        assert!(BetterTls::version().starts_with("v0.0.0-"));
        assert!(EXPORTER[2].1.contains(BetterTls::version()));
    }
}
