use maud::{Markup, html};

use super::markup::unbroken;
use crate::{Answer, Asked};

/// Number of figures of an answer; the sections have all of them.
const CARRYING: usize = 3;

/// The number of changes for the worse above the reasons. The first screen has room for them.
const FIRST: usize = 3;

/// Renders a question with its answer, the figure to act on and the worst changes first. `title` is the title of the
/// page, which a card does not repeat.
pub(super) fn card(number: usize, asked: &Asked, title: &str) -> Markup {
    let question = &asked.question;
    let figures = &question.figures[..question.figures.len().min(CARRYING)];
    let (first, rest) = divided(question.worst());
    let more = rest.iter().map(|(_, lines)| lines.len()).sum::<usize>();
    html! {
        article class={ "card " (class_and_sign(question.answer).0) } id={ "answer-" (number) } {
            h2 { (question.question) }
            @if !asked.about.is_empty() && asked.about != title { p.about { (asked.about) } }
            (answer(question.answer))
            @if let Some(figure) = figures.first() {
                dl.act { div { dt { (unbroken(&figure.value)) } dd { (unbroken(&figure.label)) } } }
            }
            @if !first.is_empty() {
                div.worst {
                    @for (heading, lines) in &first { (list(heading.trim_end_matches(':'), lines)) }
                }
            }
            @if more > 0 {
                details.rest {
                    summary { (more) " more" }
                    @for (heading, lines) in &rest { (list(heading.trim_end_matches(':'), lines)) }
                }
            }
            p { (unbroken(&question.because)) }
            @if figures.len() > 1 {
                dl {
                    @for figure in &figures[1..] {
                        div { dt { (unbroken(&figure.value)) } dd { (unbroken(&figure.label)) } }
                    }
                }
            }
            @for warning in &asked.warnings { p class="note warning" { (unbroken(warning)) } }
            (list("What would be better", &question.gains))
            (list("Not tested", &question.missing))
            p.more {
                @if let Some(section) = &asked.act { a href={ "#" (section) } { "What to do" } }
                @if let Some(section) = &asked.section { a href={ "#" (section) } { "The figures" } }
            }
        }
    }
}

/// Renders the answers alone, for the first screen of a phone: cards are below one another there.
pub(super) fn strip(questions: &[Asked]) -> Markup {
    html! {
        ul.strip {
            @for (number, asked) in questions.iter().enumerate() {
                @let question = &asked.question;
                li class=(class_and_sign(question.answer).0) {
                    a href={ "#answer-" (number) } { (question.question) }
                    " " (answer(question.answer))
                }
            }
        }
    }
}

/// Returns the class and the sign of an answer.
fn class_and_sign(answer: Answer) -> (&'static str, &'static str) {
    match answer {
        Answer::Yes => ("yes", "✓"),
        Answer::WithLosses => ("losses", "!"),
        Answer::No => ("no", "✗"),
        Answer::Open => ("open", "?"),
    }
}

fn answer(answer: Answer) -> Markup {
    let (_, sign) = class_and_sign(answer);
    html! { p.answer { span.sign aria-hidden="true" { (sign) } (answer.words()) } }
}

type Groups = Vec<(&'static str, Vec<String>)>;

/// Divides groups of lines into the first [`FIRST`] lines and the rest.
fn divided(groups: Groups) -> (Groups, Groups) {
    let (mut first, mut rest) = (Groups::new(), Groups::new());
    let mut room = FIRST;
    for (heading, mut lines) in groups {
        let hidden = lines.split_off(lines.len().min(room));
        room -= lines.len();
        first.extend((!lines.is_empty()).then_some((heading, lines)));
        rest.extend((!hidden.is_empty()).then_some((heading, hidden)));
    }
    (first, rest)
}

fn list(heading: &str, lines: &[String]) -> Markup {
    html! {
        @if !lines.is_empty() {
            h3 { (heading) }
            ul { @for line in lines { li { (unbroken(line)) } } }
        }
    }
}
