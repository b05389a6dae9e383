use itertools::Itertools;
use netbench_model::{
    Target,
    browser::{Mark, Sandbox},
};
use netbench_stats::Figures;

use super::{BrowserSummary, ClientRow, FarVisit, ObjectsRow, PacketsRow, VisitPhase};
use crate::{
    cell::{Cell, Digits},
    document::{
        Check, CheckSuite, Checked, Document, Excerpt, Extent, Item, Report, Section, Table,
    },
    text::{count, named_site, some_of},
};

impl Report for BrowserSummary {
    fn tells(&self) -> bool {
        self.loaded().0 > 0 || !self.failures.is_empty()
    }

    fn document(&self, extent: Extent) -> Document<'_> {
        let run = &self.run;
        let sections = [
            Some(clients(self, extent)),
            comparisons(self),
            failures(self),
            unsupported(self),
            Some(packets(self)),
            Some(elsewhere(self)),
            negotiated(self),
        ];
        Document {
            about: clients_of(self),
            lead: format!(
                "How long pages of {} take in real browsers, and what the browsers show where a page is refused.",
                count(run.sites, "emulated site", "emulated sites")
            ),
            sections: sections.into_iter().flatten().collect(),
            checks: checks(self),
            sites: Some(Target::Lab),
            ..Document::of_run("browser", &self.run.head, self)
        }
    }
}

/// Returns the title of the page: `Pages in chromium, firefox and 2 more`.
fn clients_of(summary: &BrowserSummary) -> String {
    const NAMED: usize = 4;
    let names = summary.clients.iter().map(|row| &row.client).unique();
    format!("Pages in {}", some_of(NAMED, names))
}

fn clients(summary: &BrowserSummary, extent: Extent) -> Section {
    let (loaded, visits) = summary.loaded();
    let mut items = vec![Item::Headline(format!(
        "{loaded} of {} showed the page.",
        BrowserSummary::visits(visits)
    ))];
    items.extend(Item::warnings(&summary.warnings));
    let mut table = Table::of(&summary.clients)
        .text("client", 0, |row| &row.client)
        .col_if(several_conditions(summary), 0, |row| {
            Cell::text(row.condition)
        });
    let phases = summary.clients.iter().find(|row| !row.phases.is_empty());
    let phases: Vec<VisitPhase> = match phases {
        Some(row) => row.phases.iter().map(|found| found.phase).collect(),
        None => VisitPhase::OF_PAGES.to_vec(),
    };
    for phase in phases {
        let rank = u8::from(phase == VisitPhase::FirstByte);
        table = table.time(phase.words(), rank, |row| Some(figures(row, phase)?.p50_ns));
    }
    if summary.run.page.is_some() {
        table = table
            .col("connections", 0, |row| objects(row, |it| it.connections))
            .col("objects reused one", 1, |row| {
                objects(row, |it| Some(it.reused))
            });
    }
    items.push(
        table
            .time("total p95", 3, |row| {
                Some(figures(row, VisitPhase::Total)?.p95_ns)
            })
            .col("loaded", 0, |row| Cell::Of(row.loaded, row.visits))
            .time("with start and end", 2, |row| {
                row.took_ms.map(|ms| ms * 1e6)
            })
            .item(),
    );
    items.extend(
        Table::of(summary.clients.iter().unique_by(|row| &row.client))
            .text("client", 0, |row| &row.client)
            .text("what it is", 0, |row| &row.library)
            .under("The clients"),
    );
    if let Some(page) = &summary.run.page {
        let origins = count(page.origins, "origin", "origins");
        let bytes: u64 = page.object_bytes.iter().sum();
        items.push(Item::text(format!(
            "The page is the site's with {} of {bytes} bytes together, from {origins}. Its last object and its load event are counted from \
             the beginning of its TCP connect; connections are those that the link saw, and the objects that reused one came over a connection that was there already, as the browser says.",
            count(page.objects, "image", "images")
        )));
    }
    for browser in &summary.run.browsers {
        let user = browser.user.as_ref();
        let user = user.map_or_else(String::new, |user| format!(", as user {user}"));
        let sandbox = match browser.sandbox {
            Sandbox::On => "in its sandbox",
            Sandbox::Off => "without its sandbox",
        };
        let set = match extent {
            Extent::Brief => "what is set for each visit is in run.json".to_owned(),
            Extent::Full => format!("set for each visit: {}", browser.settings.join(" ")),
        };
        items.push(Item::text(format!(
            "{}: {}, {sandbox}{user}; {set}.",
            browser.name, browser.version
        )));
    }
    Section::new("clients", "Times of a page", items).explained(format!(
            "Medians. A browser's times are those of the page's own Navigation Timing, a stack's those of its connection \
             through hyper. Each visit has a fresh profile, and one is made at a time. {}",
            summary.run.head.again(summary.head.seed)
        ))
}

/// Returns a median over the objects of the page.
fn objects(row: &ClientRow, of: fn(&ObjectsRow) -> Option<f64>) -> Option<Cell> {
    let median = of(row.objects.as_ref()?)?;
    Some(Cell::number(median, Digits::All, ""))
}

fn figures(row: &ClientRow, phase: VisitPhase) -> Option<&Figures> {
    let found = row.phases.iter().find(|found| found.phase == phase)?;
    Some(&found.figures)
}

/// Returns the name of the column of conditions, if there are several.
fn several_conditions(summary: &BrowserSummary) -> Option<&'static str> {
    let is_one = summary.clients.iter().map(|row| row.condition).all_equal();
    (!is_one).then_some("condition")
}

fn comparisons(summary: &BrowserSummary) -> Option<Section> {
    let rows = &summary.comparisons;
    if summary.run.stacks.len() + summary.run.browsers.len() < 2 {
        return None;
    }
    let Some(first) = rows.first().map(|row| row.key.first_client.to_string()) else {
        return Some(Section::new(
            "comparisons",
            "Side by side",
            vec![Item::text(
                "No two clients made the same handshake with a site: there is nothing to compare. \"What was \
                 negotiated\" has the difference.",
            )],
        ));
    };
    let table = Table::of(rows)
        .text("client", 0, |row| &row.key.other_client)
        .col_if(several_conditions(summary), 0, |row| {
            Cell::text(row.key.condition)
        })
        .text("phase", 0, |row| row.key.phase.words())
        .time(&first, 1, |row| row.first.p50_ns)
        .time("it", 1, |row| row.other.p50_ns)
        .changed("", |row| row)
        .count("pairs", 3, |row| row.change.pairs())
        .count("other handshakes", 4, |row| row.key.other_work);
    Some(Section::new("comparisons", format!("Beside {first}"), vec![table.item()]).explained("Pairs are visits of one site right after one another, with the same version, suite, group, protocol and \
                      resumption; others are left out. A browser does more than its TLS stack: its own threads are in its times."))
}

fn failures(summary: &BrowserSummary) -> Option<Section> {
    let section = Table::of(&summary.failures)
        .site(Target::Lab, |row| &row.site)
        .text("client", 0, |row| &row.client)
        .text("condition", 3, |row| row.condition)
        .text("reason", 1, |row| &row.reason)
        .text("code", 0, |row| &row.code)
        .count("visits", 2, |row| row.visits)
        .section("failures", "Pages that were not shown")?;
    Some(section.explained("The code is that of the browser's error page; the reason is the word that all clients share for it."))
}

fn unsupported(summary: &BrowserSummary) -> Option<Section> {
    Table::of(&summary.unsupported)
        .text("client", 0, |row| &row.client)
        .text("condition", 1, |row| row.condition)
        .text("reason", 0, |row| &row.reason)
        .count("visits", 0, |row| row.visits)
        .section("unsupported", "Visits that could not be made")
}

fn packets(summary: &BrowserSummary) -> Section {
    let rows = &summary.packets;
    let visits: u64 = rows.iter().map(|row| row.visits).sum();
    let handshakes: u64 = rows.iter().map(|row| row.handshakes).sum();
    let far_in_both: u64 = rows.iter().map(|row| row.far_in_both).sum();
    let responses: u64 = rows.iter().map(|row| row.responses).sum();
    let late: u64 = rows.iter().map(|row| row.far_in_response).sum();
    let response = format!(
        "first and last byte of the response within 2 ms in {} of the {responses} whose response the packets show.",
        responses.saturating_sub(late),
    );
    let mut items = vec![Item::Headline(match (visits, handshakes) {
        (0, _) => "No visit's packets were seen.".to_owned(),
        (_, 0) => format!("The times that the browsers report: {response}"),
        _ => format!(
            "TCP connect and handshake together are within 1 ms of the packets in {} of {}, {response}",
            handshakes.saturating_sub(far_in_both),
            BrowserSummary::visits(handshakes),
        ),
    })];
    items.extend(waits(rows).map(Item::Text));
    if visits > 0 {
        let table = Table::of(rows)
            .text("client", 0, |row| &row.client)
            .col("TCP connect off by", 0, |row| {
                off_by(row, Mark::Connected, row.tcp_departure_ns)
            })
            .col("TLS handshake off by", 0, |row| {
                off_by(row, Mark::Protected, row.tls_departure_ns)
            })
            .col("both off by", 1, |row| {
                off_by(row, Mark::Protected, row.both_departure_ns)
            })
            .col("first byte off by", 0, |row| {
                off_by(row, Mark::FirstByte, row.first_byte_departure_ns)
            })
            .col("last byte off by", 0, |row| {
                off_by(row, Mark::End, row.end_departure_ns)
            })
            .col("both within 1 ms", 1, |row| match row.handshakes {
                0 => Cell::Missing,
                all => Cell::Of(all.saturating_sub(row.far_in_both), all),
            })
            .col("response within 2 ms", 0, |row| {
                Cell::Of(
                    row.responses.saturating_sub(row.far_in_response),
                    row.responses,
                )
            });
        items.push(table.item());
    }
    let visits = rows
        .iter()
        .flat_map(|row| row.far.iter().map(|far| (&row.client, far)));
    items.extend(
        Table::of(visits)
            .text("client", 0, |(client, _)| *client)
            .site(Target::Lab, |(_, far)| &far.site)
            .text("condition", 3, |(_, far)| far.condition)
            .count("round", 2, |(_, far)| far.round + 1)
            .col("TCP connect", 0, |(_, far)| off(far.tcp_departure_ns))
            .col("TLS handshake", 0, |(_, far)| off(far.tls_departure_ns))
            .col("first byte", 0, |(_, far)| off(far.first_byte_departure_ns))
            .col("last byte", 0, |(_, far)| off(far.end_departure_ns))
            .time("ran", 2, |(_, far)| {
                far.scheduled.map(|scheduled| scheduled.ran_ns as f64)
            })
            .time("waited for a core", 0, |(_, far)| {
                far.scheduled.map(|scheduled| scheduled.waited_ns as f64)
            })
            .excerpt(Excerpt::First(20))
            .under("Visits that are further off"),
    );
    Section::new("packets", "Against the packets", items).explained("The medians of the differences between the client's own times and those of its packets, at its end of the link. The handshake \
                      ends with the client's first protected record: in TLS 1.3 its Finished, before that its request, up to which the client's \
                      own mark is then counted too. A browser whose thread is late to see that TCP has connected says more of TCP connect \
                      and less of the handshake; both together are then right. The first byte is compared with the first whole record that \
                      answers the request and has room for the head of a response, the last byte with the end of its last record; both are counted from the \
                      beginning of TCP connect. WebKitGTK's marks are whole milliseconds, and its TCP connect is the packets'. Firefox marks the \
                      first byte when a part of its record is there; it does not tell when the last byte of a page came, and its total is the packets'. \
                      Servo reports the end of a page alone: its other times are the packets'. \
                      A browser that has to wait for a core marks its times late: the time that its threads ran and waited, all threads together, is the \
                      scheduler's count from the command to load the page until the page had loaded.")
}

/// Returns the distance of a mark from the packets, unless the mark is taken from them.
fn off_by(row: &PacketsRow, mark: Mark, departure_ns: Option<f64>) -> Cell {
    match departure_ns {
        None if row.from_packets.contains(&mark) => Cell::text("from the packets"),
        departure_ns => departure_ns.map(Cell::Time).into(),
    }
}

fn off(ns: Option<i64>) -> Cell {
    ns.map_or(Cell::Missing, |ns| Cell::TimeDifference(ns as f64))
}

/// Returns how many of the visits that are further off waited for a core, if the scheduler's counts are known.
fn waits(rows: &[PacketsRow]) -> Option<String> {
    let far = rows.iter().flat_map(|row| &row.far);
    let counted: Vec<&FarVisit> = far.filter(|far| far.scheduled.is_some()).collect();
    let waited = counted.iter().filter(|far| far.waited_for_a_core());
    (!counted.is_empty()).then(|| {
        format!(
            "Further off: {}. In {} of them, the browser's threads waited for a core at least as long as the times differ.",
            BrowserSummary::visits(counted.len() as u64),
            waited.count(),
        )
    })
}

fn elsewhere(summary: &BrowserSummary) -> Section {
    let strays = summary.strays().count();
    let visits = BrowserSummary::visits(summary.observed);
    let mut items = vec![Item::Headline(match (summary.observed, strays) {
        (0, _) => "This link takes no note of packets: it is not known.".to_owned(),
        (_, 0) => {
            format!("Of {visits}, no packet went to an address that is not the lab's.")
        }
        (_, _) => format!(
            "In {visits}, clients tried {} that are not the lab's. The link has no way out, and nothing left it.",
            count(strays, "address", "addresses")
        ),
    })];
    items.extend(
        Table::of(&summary.elsewhere)
            .text("client", 0, |row| &row.client)
            .text("tried", 0, |row| &row.to)
            .count("visits", 0, |row| row.visits)
            .if_any(),
    );
    Section::new("elsewhere", "What else was tried", items).explained(
        "Names that were asked for in vain, and addresses of packets, from the link's own record.",
    )
}

fn negotiated(summary: &BrowserSummary) -> Option<Section> {
    let section = Table::of(&summary.negotiated)
        .text("client", 0, |row| &row.client)
        .text("condition", 3, |row| row.condition)
        .text("version", 0, |row| &row.version)
        .optional("suite", 0, |row| row.suite.as_ref())
        .optional("group", 0, |row| row.group.as_ref())
        .optional("protocol", 1, |row| row.alpn.as_ref())
        .count("visits", 0, |row| row.visits)
        .section("negotiated", "What was negotiated")?;
    Some(section.explained("As the client says; the server says the same, or the visit counts as failed. What a browser does not say \
                      is the server's word."))
}

/// Builds one suite for each client, with the visits that failed.
fn checks(summary: &BrowserSummary) -> Vec<CheckSuite> {
    let suites = summary.clients.iter().map(|row| {
        let failures = summary.failures.iter();
        let own = failures.filter(|it| it.client == row.client && it.condition == row.condition);
        let failed = own.map(|failed| {
            let name = named_site(Target::Lab, &failed.site);
            Check::new(name, Checked::failed(&failed.code, &failed.reason))
        });
        let loaded = (row.loaded > 0).then(|| {
            let name = format!("{} loaded", BrowserSummary::visits(row.loaded));
            Check::new(name, Checked::Passed)
        });
        let name = format!("{} {}", row.client, row.condition);
        CheckSuite::new(name, failed.chain(loaded))
    });
    suites.collect()
}
