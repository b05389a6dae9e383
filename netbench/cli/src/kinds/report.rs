//! What a stored run's report can be asked, whatever its kind.

use netbench_report::{
    Document, Evaluation, ScanSummary, csv, json, junit, markdown,
    page::{KeptRun, Page, page_of_evaluation, page_of_runs},
};
use netbench_store::RunFolder;

use super::{connect::StoredConnect, evaluation::answered, suite::StoredSuite};
use crate::{commands::report::args::ReportFormat, options::Output, output};

/// A report of a stored run.
pub(crate) trait Report {
    /// Whether there is a figure to read.
    fn tells(&self) -> bool {
        true
    }

    fn print(&self, output: &Output) -> anyhow::Result<()>;

    /// Writes it into the run's folder.
    fn store(&self, folder: &RunFolder, output: &Output) -> anyhow::Result<()>;

    /// In a form; none where the kind has none.
    fn bytes(&self, format: ReportFormat, plain: bool) -> Option<Vec<u8>>;

    /// As parts of a page.
    fn runs(&self) -> Vec<KeptRun<'_>>;

    fn page(&self) -> Page {
        page_of_runs(&self.runs())
    }
}

fn text(report: &impl Document, format: ReportFormat, plain: bool) -> Option<Vec<u8>> {
    Some(match format {
        ReportFormat::Markdown => markdown::render(report),
        ReportFormat::Csv => csv::render(report),
        ReportFormat::Json => json::render(report),
        ReportFormat::Terminal if plain => output::plain_terminal(report),
        ReportFormat::Terminal => output::terminal(report),
        ReportFormat::Html | ReportFormat::Junit => return None,
    })
}

macro_rules! report {
    ($type:ty, $self:ident => $document:expr, { $($more:item)* }) => {
        impl Report for $type {
            fn print(&self, output: &Output) -> anyhow::Result<()> {
                let $self = self;
                output::print($document, output)
            }

            fn store(&self, folder: &RunFolder, output: &Output) -> anyhow::Result<()> {
                let $self = self;
                output::store(folder, $document, output)
            }

            $($more)*
        }
    };
}

report!(StoredConnect, this => &*this.summary, {
    fn tells(&self) -> bool {
        self.summary.compares()
    }

    fn bytes(&self, format: ReportFormat, plain: bool) -> Option<Vec<u8>> {
        match format {
            ReportFormat::Junit => Some(junit::connect(&self.summary)),
            format => text(&*self.summary, format, plain),
        }
    }

    fn runs(&self) -> Vec<KeptRun<'_>> {
        vec![KeptRun::Connect {
            summary: &self.summary,
            manifest: &self.manifest,
            samples: &self.samples,
        }]
    }
});

report!(StoredSuite, this => &*this.summary, {
    fn tells(&self) -> bool {
        self.summary.tells()
    }

    fn bytes(&self, format: ReportFormat, plain: bool) -> Option<Vec<u8>> {
        match format {
            ReportFormat::Junit => Some(junit::suite(&self.summary)),
            format => text(&*self.summary, format, plain),
        }
    }

    fn runs(&self) -> Vec<KeptRun<'_>> {
        vec![KeptRun::Suite {
            summary: &self.summary,
            manifest: &self.manifest,
        }]
    }
});

report!(ScanSummary, this => this, {
    fn bytes(&self, format: ReportFormat, plain: bool) -> Option<Vec<u8>> {
        text(self, format, plain)
    }

    fn runs(&self) -> Vec<KeptRun<'_>> {
        vec![KeptRun::Scan { summary: self }]
    }
});

/// An evaluation with the reports of its parts.
pub(crate) struct EvaluationReport {
    pub(crate) evaluation: Evaluation,
    pub(crate) parts: Vec<Box<dyn Report>>,
}

report!(EvaluationReport, this => &this.evaluation, {
    fn tells(&self) -> bool {
        answered(&self.evaluation)
    }

    fn bytes(&self, format: ReportFormat, plain: bool) -> Option<Vec<u8>> {
        text(&self.evaluation, format, plain)
    }

    fn runs(&self) -> Vec<KeptRun<'_>> {
        self.parts.iter().flat_map(|part| part.runs()).collect()
    }

    fn page(&self) -> Page {
        page_of_evaluation(&self.evaluation, &self.runs())
    }
});
