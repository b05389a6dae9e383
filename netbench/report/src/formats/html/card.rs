use maud::{Markup, html};

use super::unbroken;
use crate::{Answer, Asked};

/// Number of figures under an answer; the sections have all of them.
const CARRYING: usize = 3;

/// Renders a question with its answer.
pub(super) fn card(asked: &Asked) -> Markup {
    let question = &asked.question;
    let (class, sign) = match question.answer {
        Answer::Yes => ("yes", "✓"),
        Answer::WithLosses => ("losses", "!"),
        Answer::No => ("no", "✗"),
        Answer::Open => ("open", "?"),
    };
    html! {
        article class={ "card " (class) } {
            h2 { (question.question) }
            @if !asked.about.is_empty() { p.about { (asked.about) } }
            p.answer { span.sign aria-hidden="true" { (sign) } (question.answer.words()) }
            p { (unbroken(&question.because)) }
            @if !question.figures.is_empty() {
                dl {
                    @for figure in question.figures.iter().take(CARRYING) {
                        div { dt { (unbroken(&figure.value)) } dd { (unbroken(&figure.label)) } }
                    }
                }
            }
            @for warning in &asked.warnings { p class="note warning" { (unbroken(warning)) } }
            @for (heading, lines) in question.worst() { (list(heading.trim_end_matches(':'), &lines)) }
            (list("What would be better", &question.gains))
            (list("Not tested", &question.missing))
            p.more {
                @if let Some(section) = &asked.act { a href={ "#" (section) } { "What to do" } }
                @if let Some(section) = &asked.section { a href={ "#" (section) } { "The figures" } }
            }
        }
    }
}

fn list(heading: &str, lines: &[String]) -> Markup {
    html! {
        @if !lines.is_empty() {
            h3 { (heading) }
            ul { @for line in lines { li { (unbroken(line)) } } }
        }
    }
}
