use netbench_model::{Depth, PartState};

use super::{Answer, Evaluation, Question, lacking, rows};
use crate::{
    block::{Block, Document, Table},
    rows::Rows,
    text::plain,
};

impl Document for Evaluation {
    fn blocks(&self) -> Vec<Block> {
        let plan = &self.run.plan;
        let mut blocks = vec![
            Block::Heading(format!(
                "netbench evaluate: from {} to {}",
                plain(plan.from.as_str()),
                plain(plan.to.as_str())
            )),
            Block::Text(about(self)),
        ];
        for question in &self.questions {
            answer(&mut blocks, question);
        }
        features(&mut blocks, self);
        lost(&mut blocks, self);
        blocks.push(Block::Heading("The parts".to_owned()));
        blocks.push(parts(self));
        blocks.extend(Block::warnings(&self.warnings));
        blocks
    }

    fn rows(&self, table: &mut Rows) {
        rows::evaluation(self, table);
    }
}

fn about(evaluation: &Evaluation) -> String {
    let plan = &evaluation.run.plan;
    let depth = match plan.depth {
        Depth::Quick => "the quick form",
        Depth::Full => "the full form",
    };
    let sites = match plan.target {
        netbench_model::Target::Lab => "emulated sites on this machine",
        netbench_model::Target::Live => "real sites over the real network",
    };
    format!(
        "{depth}, {sites}, begun {}.",
        plain(&evaluation.run.started)
    )
}

fn answer(blocks: &mut Vec<Block>, question: &Question) {
    blocks.push(Block::Heading(plain(&question.question)));
    blocks.push(Block::Headline(format!(
        "{}. {}",
        capital(question.answer),
        plain(&question.because)
    )));
    if !question.figures.is_empty() {
        blocks.push(
            Table::of(&question.figures)
                .right("figure", 0, |figure| plain(&figure.value))
                .left("of what", 0, |figure| plain(&figure.label))
                .block(),
        );
    }
    if !question.breaks.is_empty() {
        let lines: Vec<_> = question.breaks.iter().map(|line| plain(line)).collect();
        blocks.push(Block::Text(format!(
            "What would change for the worse: {}.",
            lines.join(". ")
        )));
    }
    for missing in &question.missing {
        blocks.push(Block::Warning(format!("not looked at: {}", plain(missing))));
    }
}

/// The verdict as the beginning of a sentence.
fn capital(answer: Answer) -> &'static str {
    match answer {
        Answer::Yes => "Yes",
        Answer::WithLosses => "Yes, with losses",
        Answer::No => "No",
        Answer::Open => "Open",
    }
}

fn features(blocks: &mut Vec<Block>, evaluation: &Evaluation) {
    let Some(coverage) = &evaluation.found.coverage else {
        return;
    };
    let lacking = lacking(coverage);
    if lacking.is_empty() {
        return;
    }
    let plan = &evaluation.run.plan;
    blocks.push(Block::Heading(format!(
        "Features that {} has and {} has not",
        plan.from, plan.to
    )));
    blocks.push(
        Table::of(lacking)
            .left("feature", 0, |row| plain(&row.feature))
            .right("tests that expect success, passed before", 0, |row| {
                let passed = row.works.first().map_or(0, |tally| tally.passed);
                passed.to_string()
            })
            .block(),
    );
}

fn lost(blocks: &mut Vec<Block>, evaluation: &Evaluation) {
    let Some(losses) = evaluation
        .found
        .losses
        .as_ref()
        .filter(|l| !l.lost.is_empty())
    else {
        return;
    };
    blocks.push(Block::Heading(format!(
        "Sites that only {} reaches",
        evaluation.run.plan.from
    )));
    blocks.push(
        Table::of(&losses.lost)
            .left("site", 0, |site| plain(&site.site))
            .left("reason", 0, |site| plain(&site.reason))
            .left("detail", 1, |site| plain(&site.detail))
            .left("confirmed by a handshake", 0, |site| {
                confirmed_words(site.confirmed).to_owned()
            })
            .block(),
    );
}

fn parts(evaluation: &Evaluation) -> Block {
    let took = |s: u64| format!("{s} s");
    Table::of(&evaluation.run.plan.parts)
        .left("part", 0, |part| plain(&part.part))
        .left("how far it came", 0, |part| state_words(&part.state))
        .right("took", 0, |part| {
            part.took_s.map_or_else(|| "–".to_owned(), took)
        })
        .block()
}

/// How far a part came, in words.
pub(crate) fn state_words(state: &PartState) -> String {
    match state {
        PartState::Pending => "not reached".to_owned(),
        PartState::Done => "done".to_owned(),
        PartState::Interrupted => "interrupted".to_owned(),
        PartState::LeftOut => "left out".to_owned(),
        PartState::Failed { why } => format!("failed: {}", plain(why)),
        PartState::Unsupported { why } => format!("unsupported: {}", plain(why)),
    }
}

/// Whether a handshake has shown what was predicted, in words.
pub(crate) fn confirmed_words(confirmed: Option<bool>) -> &'static str {
    match confirmed {
        Some(true) => "yes",
        Some(false) => "no: the handshake went otherwise",
        None => "not tried",
    }
}
