use super::Evaluation;
use crate::{bogo, figures::Rows};

/// The answers, and what they rest on; the runs of its parts have their own.
pub(super) fn evaluation(evaluation: &Evaluation, rows: &mut Rows) {
    let plan = &evaluation.run.plan;
    let (from, to) = (plan.from.as_str(), plan.to.as_str());
    for question in &evaluation.questions {
        rows.about("questions", "", from, to);
        rows.text(&question.question, "answer", question.answer.words());
        rows.text(&question.question, "because", &question.because);
        for figure in &question.figures {
            rows.text(&question.question, &figure.label, &figure.value);
        }
        for line in &question.breaks {
            rows.text(&question.question, "worse", line);
        }
        for line in &question.missing {
            rows.text(&question.question, "missing", line);
        }
    }
    let found = &evaluation.found;
    if let Some(losses) = &found.losses {
        for (condition, sites) in [("lost", &losses.lost), ("gained", &losses.gained)] {
            rows.about("sites", condition, from, to);
            for site in sites {
                rows.text(&site.site, "reason", &site.reason);
                rows.text(&site.site, "detail", &site.detail);
            }
        }
    }
    if let Some(coverage) = &found.coverage {
        bogo::coverage_figures(coverage, rows);
    }
    if let Some(difference) = &found.difference {
        bogo::difference_figures(difference, rows);
    }
}
