//! The errors that the network stack of a browser engine reports to its embedder.

use netbench_model::{
    StackName,
    compat::{
        CompatCase, CompatOutcome, EmbedderView, Expected, NextLoad, OutsideKind, Refusal,
        ToldCertificate,
    },
};

use super::CompatSummary;
use crate::{
    document::{Item, Section, Table},
    text::count,
};

/// A page that an engine had to load.
struct Page<'a> {
    case: &'a CompatCase,
    outcome: &'a CompatOutcome,
    view: &'a EmbedderView,
}

/// Builds one section for each engine.
pub(super) fn sections(summary: &CompatSummary) -> Vec<Section> {
    let (stacks, clients) = (summary.run.stacks.len(), &summary.run.clients);
    let clients = clients.iter().enumerate();
    let engines = clients.filter(|(_, client)| client.kind == OutsideKind::Engine);
    engines
        .filter_map(|(number, client)| section(&client.name, &pages(summary, stacks + number)))
        .collect()
}

fn pages(summary: &CompatSummary, client: usize) -> Vec<Page<'_>> {
    let pages = summary.matrix.column(client).filter_map(|(case, cell)| {
        Some(Page {
            case,
            outcome: &cell.result.outcome,
            view: cell.result.embedder.as_ref()?,
        })
    });
    pages.collect()
}

fn section(engine: &StackName, pages: &[Page<'_>]) -> Option<Section> {
    if pages.is_empty() {
        return None;
    }
    let (refused, loaded): (Vec<&Page<'_>>, Vec<&Page<'_>>) =
        pages.iter().partition(|page| page.said().is_some());
    let mut items = vec![Item::Headline(format!(
        "{} {}",
        of_errors(engine, &refused),
        of_pages(&loaded)
    ))];
    items.extend(errors(&refused));
    let odd = loaded.into_iter().filter(|page| page.is_odd());
    items.extend(
        Table::of(odd)
            .text("case", 0, |page| &page.case.name)
            .text("certificate in the page's details", 0, |page| {
                page.view.certificate
            })
            .optional("loaded once more", 0, |page| {
                page.view.again.as_ref().map(once_more)
            })
            .under("Pages without the server's certificate, or that are not kept"),
    );
    Some(Section::new(&format!("embedder-{engine}"), format!("What {engine} tells its embedder"), items).explained(format!(
            "Each page is loaded as an application that embeds {engine} loads it. Where the error has a certificate, its user proceeds, \
             as by the button of the error page. The certificate is compared with the one that the server sent, and each load with the connections that the server saw."
        )))
}

impl Page<'_> {
    /// Returns the error and its words; `None` if the page loads.
    fn said(&self) -> Option<[&str; 2]> {
        match self.outcome {
            CompatOutcome::Rejected {
                library, detail, ..
            } => Some([library, detail]),
            _ => None,
        }
    }

    /// Returns whether the server is to be refused because of its certificate.
    fn is_of_certificate(&self) -> bool {
        match &self.case.expected {
            Expected::Rejected(reasons) => {
                let mut reasons = reasons.iter();
                reasons.any(|why| matches!(why, Refusal::Certificate(_)))
            }
            Expected::Accepted => false,
        }
    }

    fn has_certificate(&self) -> bool {
        self.view.certificate == ToldCertificate::Sent
    }

    fn is_odd(&self) -> bool {
        !self.has_certificate() || self.view.again != Some(NextLoad::Cached)
    }
}

fn of_errors(engine: &StackName, refused: &[&Page<'_>]) -> String {
    let mut text = format!(
        "{engine} has an error for {}.",
        count(refused.len(), "server", "servers")
    );
    let among = refused.iter().filter(|page| page.is_of_certificate());
    let among: Vec<&&Page<'_>> = among.collect();
    if !among.is_empty() {
        let reported = among.iter().filter(|page| page.has_certificate()).count();
        let proceeded = among.iter().map(|page| page.view.proceeded.as_ref());
        let loads = proceeded.filter(|next| *next == Some(&NextLoad::Connected));
        let loads = loads.count();
        text.push_str(&format!(
            " {} to be refused for the certificate: the error has the server's certificate for {reported}, and the page of {loads} loads when the user proceeds.",
            match among.len() {
                1 => "One of them is".to_owned(),
                many => format!("{many} of them are"),
            }
        ));
    }
    let elsewhere = refused
        .iter()
        .filter_map(|page| page.view.elsewhere.as_ref());
    let elsewhere: Vec<_> = elsewhere.collect();
    if !elsewhere.is_empty() {
        let other = elsewhere
            .iter()
            .filter(|next| ***next == NextLoad::Connected);
        text.push_str(&format!(
            " That decision holds for another name of the same server in {} of {}.",
            other.count(),
            count(elsewhere.len(), "case", "cases")
        ));
    }
    text
}

fn of_pages(loaded: &[&Page<'_>]) -> String {
    let cached = loaded
        .iter()
        .filter(|page| page.view.again == Some(NextLoad::Cached));
    format!(
        "{} load; loaded once more, {} of them come from its cache, without a connection.",
        count(loaded.len(), "page", "pages"),
        cached.count()
    )
}

fn errors(refused: &[&Page<'_>]) -> Vec<Item> {
    Table::of(refused.iter().copied())
        .text("case", 0, |page| &page.case.name)
        .optional("error", 0, |page| page.said().map(|[error, _]| error))
        .optional("it says", 2, |page| page.said().map(|[_, detail]| detail))
        .text("its certificate", 0, |page| page.view.certificate)
        .optional("when the user proceeds", 0, |page| {
            page.view.proceeded.as_ref().map(afterwards)
        })
        .optional("then under another name", 1, |page| {
            page.view.elsewhere.as_ref().map(afterwards)
        })
        .under("Errors")
}

fn afterwards(next: &NextLoad) -> String {
    match next {
        NextLoad::Connected => "loads".to_owned(),
        other => once_more(other),
    }
}

fn once_more(next: &NextLoad) -> String {
    match next {
        NextLoad::Connected => "from the server".to_owned(),
        NextLoad::Cached => "from the cache".to_owned(),
        NextLoad::Refused { library, .. } => format!("refused: {library}"),
        NextLoad::Hang => "hang".to_owned(),
        NextLoad::Unclear { reason } => format!("not known: {reason}"),
    }
}
