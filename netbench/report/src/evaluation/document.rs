use netbench_model::{Depth, PartState};

use super::{Answer, Evaluation, Question, lacking, rows};
use crate::{
    block::{Block, Document, Table, left, right},
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
        blocks.push(Block::Table(parts(self)));
        let warnings = self.warnings.iter().map(|text| Block::Warning(plain(text)));
        blocks.extend(warnings);
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
        let figures = question.figures.iter();
        blocks.push(Block::Table(Table {
            columns: vec![right("figure", 0), left("of what", 0)],
            rows: figures
                .map(|figure| vec![plain(&figure.value), plain(&figure.label)])
                .collect(),
        }));
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
    let rows = lacking.iter().map(|row| {
        let passed = row.works.first().map_or(0, |tally| tally.passed);
        vec![plain(&row.feature), passed.to_string()]
    });
    blocks.push(Block::Table(Table {
        columns: vec![
            left("feature", 0),
            right("tests that expect success, passed before", 0),
        ],
        rows: rows.collect(),
    }));
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
    let rows = losses.lost.iter().map(|site| {
        vec![
            plain(&site.site),
            plain(&site.reason),
            plain(&site.detail),
            confirmed_words(site.confirmed).to_owned(),
        ]
    });
    blocks.push(Block::Table(Table {
        columns: vec![
            left("site", 0),
            left("reason", 0),
            left("detail", 1),
            left("confirmed by a handshake", 0),
        ],
        rows: rows.collect(),
    }));
}

fn parts(evaluation: &Evaluation) -> Table {
    let row = |part: &netbench_model::PartRecord| {
        let state = state_words(&part.state);
        let took = part
            .took_s
            .map_or_else(|| "–".to_owned(), |s| format!("{s} s"));
        vec![plain(&part.part), state, took]
    };
    Table {
        columns: vec![
            left("part", 0),
            left("how far it came", 0),
            right("took", 0),
        ],
        rows: evaluation.run.parts.iter().map(row).collect(),
    }
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
