//! Visits of browsers to the lab's sites, one at a time, each with a fresh profile. Stacks may visit the same sites
//! through hyper.

mod marks;
mod proof;
mod seen;
mod stacks;

use std::{
    collections::HashSet,
    net::{IpAddr, Ipv4Addr, SocketAddr},
    ops::ControlFlow,
    sync::atomic::{AtomicBool, Ordering},
    time::{Duration, Instant},
};

use netbench_browser::{
    Browser, BrowserError, BrowserProgram, HttpsRecords, Limit, Network, Page, StartupCache,
    Surroundings, Trust, failure,
};
use netbench_link::{Link, LinkError, Namespace};
use netbench_model::{
    Condition, Role, SCHEMA_VERSION, SampleKey, Site, Target, authority,
    browser::{BrowserPlan, Mark, ObjectsPage, Scheduled, VisitOutcome, VisitSample},
};
use netbench_protocol::Operation;

use self::{
    seen::{Measured, on_the_link, page_connection},
    stacks::Stacks,
};
use crate::{
    Targets, Unit, Workers,
    clock::{millis, unix_ms},
    lab_targets::LabTargets,
    proof::unsupported,
    schedule::shuffled,
};

/// The clients, the lab and the plan of visits.
pub struct Visits<'a> {
    /// The plan.
    pub plan: &'a BrowserPlan,
    /// The programs of the plan's browsers, in their order.
    pub programs: &'a [BrowserProgram],
    /// The startup cache of each, from [`Visitor::try_browsers`].
    pub startup_caches: &'a [StartupCache],
    /// The stacks' workers.
    pub workers: &'a Workers,
    /// The lab.
    pub targets: &'a Targets,
    /// The trust roots of the stacks, as PEM.
    pub roots_pem: &'a str,
    /// Number of this session in the run.
    pub session: u32,
    /// A flag that stops further visits when it becomes true.
    pub stop: &'a AtomicBool,
}

/// An error that prevents visits.
#[derive(Debug, thiserror::Error)]
pub enum VisitsError {
    /// A browser cannot be used here.
    #[error(transparent)]
    Browser(#[from] BrowserError),
    /// The link cannot be used.
    #[error(transparent)]
    Link(#[from] LinkError),
    /// There is no lab, or it has no separate link.
    #[error(
        "browsers visit emulated sites behind a link alone, which keeps them off every other network"
    )]
    NoLink,
}

/// A visitor of sites, with everything that visits need.
pub struct Visitor<'a> {
    visits: &'a Visits<'a>,
    lab: &'a LabTargets,
    link: &'a Link,
    place: Namespace,
    trust: Trust,
    stacks: Stacks<'a>,
    looks: bool,
    /// Number of consecutive failed starts of each browser.
    failed_starts: Vec<u32>,
}

/// Number of consecutive failed starts after which a browser is given up for the run.
const MAX_FAILED_STARTS: u32 = 3;

/// The reason why a browser has shown no page.
#[derive(Debug, thiserror::Error)]
enum NotShown {
    /// The browser did not start, for which the site is not responsible.
    #[error(transparent)]
    NotStarted(BrowserError),
    /// The browser ended or stalled during the visit.
    #[error(transparent)]
    Broken(#[from] BrowserError),
}

impl<'a> Visitor<'a> {
    /// Creates a visitor.
    ///
    /// # Errors
    /// Returns an error if there is no lab, or if a prerequisite of profiles is missing.
    pub fn new(visits: &'a Visits<'a>) -> Result<Self, VisitsError> {
        let lab = visits.targets.as_lab().ok_or(VisitsError::NoLink)?;
        let link = lab.link();
        Ok(Self {
            visits,
            lab,
            link,
            place: link.client_namespace(),
            trust: Trust::of_pem(lab.lab().ca_pem())?,
            stacks: Stacks::new(visits),
            failed_starts: vec![0; visits.programs.len()],
            looks: link.observe()?,
        })
    }

    /// Starts each browser once, so that a browser that cannot run here is found before any sample is stored.
    /// Returns the startup caches, with which a fresh profile starts faster. A browser that is only slow has no
    /// cache, and is started again for each visit.
    ///
    /// # Errors
    /// Returns the error of the first browser that does not start, unless it timed out and there are other clients.
    pub fn try_browsers(&self) -> Result<Vec<StartupCache>, VisitsError> {
        let programs = self.visits.programs.iter();
        let caches = programs.enumerate().map(|(client, program)| {
            let around = self.around(client, &[]);
            let started = Browser::start(program, &around, self.limit(Instant::now(), 1));
            started.and_then(|browser| browser.into_startup_cache(self.limit(Instant::now(), 1)))
        });
        let caches: Vec<Result<StartupCache, BrowserError>> = caches.collect();
        let stacks = self.visits.plan.clients.len() - caches.len();
        let has_others = stacks > 0 || caches.iter().any(Result::is_ok);
        let caches = caches.into_iter().map(|caches| match caches {
            // A caller that stopped the run finds out without this error.
            Err(BrowserError::Stopped) => Ok(StartupCache::default()),
            Err(BrowserError::Hung { .. }) if has_others => Ok(StartupCache::default()),
            caches => Ok(caches?),
        });
        caches.collect()
    }

    /// Runs the rounds of the plan, except for the visits in `done`, and passes each sample to `found`, which can
    /// end the run.
    pub fn visit_all(
        mut self,
        done: &HashSet<SampleKey<'_>>,
        mut found: impl FnMut(VisitSample) -> ControlFlow<()>,
    ) {
        let visits = self.visits;
        for unit in units(visits.plan) {
            let site = visits.plan.sites[unit.site].name();
            for client in &unit.order {
                let name = &visits.plan.clients[*client];
                if done.contains(&(unit.condition, unit.round, &site, name)) {
                    continue;
                }
                let Some(sample) = self.visit(&unit, *client) else {
                    return;
                };
                if found(sample).is_break() {
                    return;
                }
            }
        }
    }

    /// Makes a visit. Returns `None` if the run was stopped.
    fn visit(&mut self, unit: &Unit, client: usize) -> Option<VisitSample> {
        let (visits, plan) = (self.visits, self.visits.plan);
        if visits.stop.load(Ordering::Relaxed) {
            return None;
        }
        let site = &plan.sites[unit.site];
        // Packets that arrived since the last visit belong to no visit.
        let _ = self.link.observed();
        let started_unix_ms = unix_ms();
        let begun = Instant::now();
        let deaths = self.lab.deaths(unit.site);
        let mut outcome = self.outcome(unit, client, site, begun)?;
        if matches!(outcome, VisitOutcome::Failed(_))
            && let Some(death) = self.lab.death(unit.site, deaths)
        {
            outcome = VisitOutcome::Discarded {
                reason: format!("the lab's server {} had died", death.server),
            };
        }
        let seen = self.link.observed().filter(|_| self.looks);
        let program = visits.programs.get(client);
        let measured = match program {
            Some(_) => Measured::MostBytes,
            None => Measured::Last,
        };
        let is_unmarked =
            program.is_some_and(|it| it.product().unmarked().contains(&Mark::Protected));
        if let (true, VisitOutcome::Ok(visit), Some(seen)) = (is_unmarked, &mut outcome, &seen) {
            let begin = on_the_link(seen, plan, unit.site, measured, None);
            let opened_ns = page_connection(seen, plan, unit.site, measured).map(|it| it.opened_ns);
            marks::begun(visit, &begin, opened_ns);
        }
        let link = seen.map(|seen| on_the_link(&seen, plan, unit.site, measured, outcome.ok()));
        if let Some(program) = program {
            outcome = marks::completed(outcome, program.product(), link.as_ref());
        }
        Some(VisitSample {
            schema: SCHEMA_VERSION,
            session: visits.session,
            unit: unit.first_trial,
            site: site.name(),
            client: plan.clients[client].clone(),
            condition: unit.condition,
            round: unit.round,
            started_unix_ms,
            took_ms: millis(begun.elapsed()),
            outcome,
            link,
        })
    }

    fn outcome(
        &mut self,
        unit: &Unit,
        client: usize,
        site: &Site,
        begun: Instant,
    ) -> Option<VisitOutcome> {
        let cannot = unsupported(unit.condition, Target::Lab, site)
            .or_else(|| self.lab.unsupported(unit.site))
            .or_else(|| self.has_no_page(site))
            .or_else(|| self.browser_cannot(unit.condition, client));
        if let Some(reason) = cannot {
            return Some(VisitOutcome::Unsupported { reason });
        }
        if let Some(server) = self.lab.given_up(unit.site) {
            return Some(VisitOutcome::Discarded {
                reason: format!("the lab's server {server} had died"),
            });
        }
        let address = match self.lab.address(unit.site) {
            Ok(address) => address,
            Err(failure) => return Some(VisitOutcome::Failed(failure)),
        };
        let plan = self.visits.plan;
        match plan.browsers.get(client) {
            None => {
                let (link, key) = (self.link, unit.key(plan.seed, Role::Measured));
                self.stacks
                    .connect(unit, client, address, || link.begin_trial(unit.site, key))
            }
            Some(_) if self.failed_starts[client] >= MAX_FAILED_STARTS => {
                Some(VisitOutcome::Discarded {
                    reason: format!(
                        "the browser was given up: it did not start {MAX_FAILED_STARTS} times in a row"
                    ),
                })
            }
            Some(_) => {
                let shown = self.browse(unit, client, site, address, begun);
                self.failed_starts[client] = match &shown {
                    Err(NotShown::NotStarted(_)) => self.failed_starts[client] + 1,
                    Ok(_) | Err(NotShown::Broken(_)) => 0,
                };
                match shown {
                    Err(
                        NotShown::NotStarted(BrowserError::Stopped)
                        | NotShown::Broken(BrowserError::Stopped),
                    ) => None,
                    Err(NotShown::NotStarted(error)) => Some(VisitOutcome::Discarded {
                        reason: format!("the browser did not start: {error}"),
                    }),
                    Ok((page, scheduled)) => Some(judged(
                        page,
                        scheduled,
                        unit.condition,
                        site,
                        plan.page.as_ref(),
                    )),
                    Err(NotShown::Broken(error)) => Some(VisitOutcome::Failed(error.failure())),
                }
            }
        }
    }

    /// Shows the site's page, and returns the counters of the browser's threads meanwhile.
    fn browse(
        &self,
        unit: &Unit,
        client: usize,
        site: &Site,
        address: SocketAddr,
        begun: Instant,
    ) -> Result<(Page, Scheduled), NotShown> {
        let hosts = self.hosts(unit, site, address);
        let page = self.visits.plan.page.as_ref();
        let url = format!(
            "https://{}{}",
            authority(&site.host, address.port()),
            page.map_or_else(|| site.path.clone(), ObjectsPage::path)
        );
        let limit = self.limit(begun, unit.condition.connections());
        let program = &self.visits.programs[client];
        let started = Browser::start(program, &self.around(client, &hosts), limit);
        let mut browser = started.map_err(NotShown::NotStarted)?;
        if unit.condition == Condition::Resumed {
            self.begin_trial(unit, Role::Prime);
            let page = browser.visit(&url, limit)?;
            if matches!(page, Page::Error { .. }) {
                return Ok((page, Scheduled::default()));
            }
            self.close_connections(&mut browser, limit)?;
            let _ = self.link.observed();
        }
        self.begin_trial(unit, Role::Measured);
        let before = browser.threads();
        let page = browser.visit(&url, limit)?;
        Ok((page, browser.threads().since(&before)))
    }

    /// Makes the browser close its connections until the link has seen the end of each: a browser closes only idle
    /// connections, and a connection over a long path becomes idle some round trips after its page. If one stays
    /// open, the next visit reports the problem.
    fn close_connections(
        &self,
        browser: &mut Browser,
        limit: Limit<'_>,
    ) -> Result<(), BrowserError> {
        const LONGEST: Duration = Duration::from_secs(5);
        let until = limit.deadline.min(Instant::now() + LONGEST);
        loop {
            browser.close_connections(limit)?;
            let open = self.link.open_connections().unwrap_or_default();
            if open == 0 || Instant::now() >= until {
                return Ok(());
            }
        }
    }

    /// Returns the names of the page's origins, with their addresses.
    fn hosts(&self, unit: &Unit, site: &Site, address: SocketAddr) -> Vec<(String, Ipv4Addr)> {
        let mut hosts = Vec::new();
        if let (None, IpAddr::V4(ip)) = (site.host.address(), address.ip()) {
            hosts.push((site.host.to_string(), ip));
        }
        for (number, place) in (1..).zip(self.visits.plan.other_origins(unit.site)) {
            if let Ok(SocketAddr::V4(other)) = self.lab.address(place) {
                hosts.push((ObjectsPage::host(site.host.as_str(), number), *other.ip()));
            }
        }
        hosts
    }

    /// Returns the reason why the site's server cannot send the plan's page, if it cannot.
    fn has_no_page(&self, site: &Site) -> Option<String> {
        let page = self.visits.plan.page.as_ref()?;
        let server = &site.lab.server;
        let has_pages = self.visits.workers.does(server, Operation::Objects);
        (!has_pages).then(|| format!("the server {server} has no page of {page}"))
    }

    /// Returns the reason why the browser at this index cannot make such a visit, if it cannot.
    fn browser_cannot(&self, condition: Condition, client: usize) -> Option<String> {
        let product = self.visits.programs.get(client)?.product();
        if condition == Condition::Resumed && !product.closes_connections() {
            return Some(format!("{product} has no way to close its connections"));
        }
        let page = self.visits.plan.page.as_ref()?;
        let unsized_objects = page.origins > 1 && !product.tells_sizes_of_other_origins();
        unsized_objects.then(|| {
            format!("{product} does not report the size of objects of other origins, so that their completeness cannot be checked")
        })
    }

    fn around<'b>(&'b self, client: usize, hosts: &'b [(String, Ipv4Addr)]) -> Surroundings<'b> {
        Surroundings {
            network: Network {
                namespace: &self.place,
                hosts,
                name_server: self.link.nobodys_name_server(),
            },
            trust: &self.trust,
            startup_cache: self.visits.startup_caches.get(client),
            sandbox: self.visits.plan.browsers[client].sandbox,
            https_records: HttpsRecords::Off,
        }
    }

    fn limit(&self, begun: Instant, visits: u32) -> Limit<'_> {
        Limit {
            deadline: begun + Duration::from_millis(self.visits.plan.limit_ms) * visits,
            stop: self.visits.stop,
        }
    }

    fn begin_trial(&self, unit: &Unit, role: Role) {
        let plan = self.visits.plan;
        for site in std::iter::once(unit.site).chain(plan.other_origins(unit.site)) {
            self.link.begin_trial(site, unit.key(plan.seed, role));
        }
    }
}

/// Returns every unit of the plan, shuffled within each round by its seed.
fn units(plan: &BrowserPlan) -> impl Iterator<Item = Unit> {
    let sizes = (plan.sites.len(), plan.clients.len());
    let all = shuffled(
        plan.seed ^ 0x6272_6f77_7365,
        plan.rounds,
        &plan.conditions,
        sizes,
    );
    all.into_iter().zip(0..).map(|(unit, number)| Unit {
        first_trial: number,
        ..unit
    })
}

/// Judges a visit: a loaded page must be the site's, over the requested connection.
fn judged(
    page: Page,
    scheduled: Scheduled,
    condition: Condition,
    site: &Site,
    of_objects: Option<&ObjectsPage>,
) -> VisitOutcome {
    match page {
        Page::Error { code } => VisitOutcome::Failed(failure(&code)),
        Page::Loaded(mut visit) => match proof::prove(&visit, condition, site, of_objects) {
            Err(failure) => VisitOutcome::Failed(failure),
            Ok(()) => {
                visit.objects = visit.objects.filter(|_| of_objects.is_some());
                visit.scheduled = Some(scheduled);
                VisitOutcome::Ok(visit)
            }
        },
    }
}
