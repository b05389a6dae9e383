//! The messages between the program and its driver: one JSON object a line.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// A command of the driver. A command is answered before the next one is read.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub(crate) enum Command {
    /// Opens a page, and waits for its load event.
    Open(String),
    /// Presses the element that a selector finds, and waits for the load event of the page that follows.
    Press(String),
    /// Runs the body of an asynchronous function in the page, and waits for its result, a JSON value.
    Run(String),
    /// Writes a picture of the page to a PNG file.
    Picture(PathBuf),
    /// Closes the connections of this process.
    CloseConnections,
}

/// An answer.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Answer {
    /// The browser takes commands.
    Ready {
        /// The version, as `--version` prints it.
        version: String,
    },
    /// The command was carried out.
    Done {
        /// The result of a script, or `null`.
        value: Value,
        /// The messages of the page's console since the last answer.
        console: Vec<String>,
    },
    /// The command was not carried out.
    Failed {
        /// The reason.
        reason: String,
        /// The messages of the page's console since the last answer.
        console: Vec<String>,
    },
    /// The page's thread has ended by a panic.
    Crashed {
        /// The panic's message.
        reason: String,
        /// The messages of the page's console since the last answer.
        console: Vec<String>,
    },
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn commands_are_read_from_lines() {
        for (line, command) in [
            (
                r#"{"open":"https://a.example/"}"#,
                Command::Open("https://a.example/".to_owned()),
            ),
            (
                r##"{"press":"#allow"}"##,
                Command::Press("#allow".to_owned()),
            ),
            (r#"{"run":"return 1"}"#, Command::Run("return 1".to_owned())),
            (
                r#"{"picture":"/tmp/a.png"}"#,
                Command::Picture("/tmp/a.png".into()),
            ),
            (r#""close-connections""#, Command::CloseConnections),
        ] {
            assert_eq!(
                serde_json::from_str::<Command>(line).ok(),
                Some(command),
                "{line}"
            );
        }
        for line in ["", "{}", r#"{"open":1}"#, r#"{"quit":null}"#] {
            assert!(serde_json::from_str::<Command>(line).is_err(), "{line}");
        }
    }

    #[test]
    fn answers_are_objects_with_one_name() {
        let answer = Answer::Done {
            value: json!(1),
            console: Vec::new(),
        };
        let text = serde_json::to_value(answer).expect("JSON");
        assert_eq!(text, json!({"done": {"value": 1, "console": []}}));
    }
}
