//! Parts of pages and pictures.

use maud::{Markup, PreEscaped};
use netbench_stats::Verdict;

use crate::{document::Document, text::plain};

pub(super) const STYLE: &str = include_str!("style.css");

/// A line end. Line ends make the page readable as text, and comparable line by line.
pub(super) const LINE: PreEscaped<&str> = PreEscaped("\n");

/// Returns the compared stacks, or the document's title if it compares none.
pub(super) fn title<'a>(document: &'a Document<'_>) -> &'a str {
    match document.about.as_str() {
        "" => &document.title,
        about => about,
    }
}

/// Returns the bytes of a page or a picture. Values are escaped when they are written; this removes characters that a
/// browser would obey inside a text.
pub(super) fn bytes(markup: &Markup) -> Vec<u8> {
    let lines = markup.0.split('\n').map(plain);
    lines.collect::<Vec<_>>().join("\n").into_bytes()
}

/// Keeps a number on the line of its unit, in the narrow columns of the answers.
pub(super) fn unbroken(text: &str) -> String {
    const UNITS: [&str; 7] = ["%", "ms", "µs", "kB", "MB", "GB", "MB/s"];
    let mut out = String::with_capacity(text.len());
    for word in text.split_inclusive(' ') {
        let bare = word.trim_matches(|c: char| !c.is_alphanumeric() && c != '%');
        if UNITS.contains(&bare) && out.ends_with(' ') {
            out.pop();
            out.push('\u{a0}');
        }
        out.push_str(word);
    }
    out
}

/// Returns the class of a verdict in the style sheet: all missing verdicts look alike.
pub(super) fn verdict_class(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::NotJudged => Verdict::Undecided.name(),
        verdict => verdict.name(),
    }
}
