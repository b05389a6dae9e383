use super::{Format, Options, Takes};
use crate::document::{Document, Item};
use crate::text::plain;

pub(super) const FORMAT: Format = Format {
    takes: Takes::SeveralRuns,
    ..Format::new("brief", "txt", "The answers alone, in a few lines", render)
};

/// Writes the sentence, the differences and the answers; of a report without questions, the headlines, or
/// else the description.
fn render(document: &Document<'_>, _: &Options) -> Vec<u8> {
    let mut lines = Vec::new();
    if !document.sentence.is_empty() {
        lines.push(document.sentence.clone());
    }
    let mut differences = document.differences.iter();
    for (at, asked) in document.questions.iter().enumerate() {
        let next = document.questions.get(at + 1);
        let is_last = next.is_none_or(|next| next.about != asked.about);
        if is_last {
            lines.extend(differences.next().cloned());
        }
        let question = &asked.question;
        lines.push(format!(
            "{} {}",
            question.question,
            question.in_a_sentence()
        ));
    }
    if lines.is_empty() {
        let items = document.sections.iter().flat_map(|section| &section.items);
        lines.extend(items.filter_map(|item| match item {
            Item::Headline(text) => Some(text.clone()),
            _ => None,
        }));
    }
    // A comparison of many stacks has a ranking, and no sentence about each.
    if lines.is_empty() && !document.lead.is_empty() {
        lines.push(document.lead.clone());
    }
    let lines = lines.iter().map(|line| plain(line) + "\n");
    lines.collect::<String>().into_bytes()
}
