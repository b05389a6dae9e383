//! Tests of browsers with pages of the catalogue of features. Each browser runs in a separate network with a separate
//! server. Each case has a separate host, so its cookies and policies affect no other case. The browser therefore stays
//! open for all cases, except those that restart it.

mod server;

use std::{
    iter,
    net::Ipv4Addr,
    ops::ControlFlow,
    path::PathBuf,
    sync::{Arc, atomic::AtomicBool},
    time::{Duration, Instant},
};

use netbench_browser::{
    Browser, BrowserError, BrowserProgram, HttpsRecords, Network, Shown, Surroundings, Trust,
};
use netbench_compat::Feature;
use netbench_link::Namespace;
use netbench_model::{
    SCHEMA_VERSION, StackName,
    browser::Sandbox,
    compat::{OutsideClient, OutsideFound},
    features::{FeatureOutcome, FeatureSample, WebCase, WebSeen, WebSetup},
    sanitize,
};

use self::server::Server;
use crate::{
    clock::millis,
    side_by_side::{Outlet, side_by_side},
};

/// The time limit for the start of a browser.
const START: Duration = Duration::from_secs(60);

/// The factor of the time limit for the second try of a page that did not report, in a new browser: on a busy machine,
/// the first may be late.
const PATIENCE: u32 = 3;

/// The time that a page has for its report after the browser has opened it late.
const LEAST_WAIT: Duration = Duration::from_secs(2);

/// The interval at which a wait for a report checks whether the run is to stop.
const LOOK: Duration = Duration::from_millis(500);

/// The path that shows whether a browser still opens pages.
const ALIVE: &str = "/echo";

/// The browsers and their limits.
pub struct FeatureBrowsers<'a> {
    /// The browsers, with the programs of the installed ones.
    pub browsers: &'a [(OutsideClient, Option<BrowserProgram>)],
    /// The program of the server.
    pub server: PathBuf,
    /// The time limit of a page for its report.
    pub limit: Duration,
    /// A flag that stops further cases when it becomes true.
    pub stop: &'a Arc<AtomicBool>,
}

/// An error that prevents cases from being tested.
#[derive(Debug, thiserror::Error)]
pub enum FeaturesError {
    /// The server does not work.
    #[error("the server of the pages: {0}")]
    Server(String),
    /// There is no network for a browser.
    #[error(transparent)]
    Network(#[from] netbench_link::LinkError),
}

/// Tests each browser with its `wanted` cases, all browsers at the same time, and passes each sample to `found`, which
/// can end the run.
///
/// # Errors
/// Returns the first error that prevents cases from being tested.
pub fn try_features(
    browsers: &FeatureBrowsers<'_>,
    cases: &[Feature],
    wanted: impl Fn(&StackName, &Feature) -> bool + Sync,
    found: impl FnMut(FeatureSample) -> ControlFlow<()>,
) -> Result<(), FeaturesError> {
    side_by_side(
        browsers.browsers,
        browsers.stop,
        |(browser, program), outlet| {
            let cases = cases.iter().filter(|case| wanted(&browser.name, case));
            let tries = Tries {
                all: browsers,
                browser,
                outlet,
            };
            tries.make(program.as_ref(), cases.collect())
        },
        found,
    )
}

/// The tests of one browser.
struct Tries<'a> {
    all: &'a FeatureBrowsers<'a>,
    browser: &'a OutsideClient,
    outlet: &'a Outlet<'a, FeatureSample, FeaturesError>,
}

/// The program of a browser, its surroundings and the server of its pages.
struct Place<'a> {
    program: &'a BrowserProgram,
    around: Surroundings<'a>,
    server: &'a Server<'a>,
}

/// The result of a case, and the state of the browser after it.
struct Attempt {
    outcome: FeatureOutcome,
    state: State,
}

/// The result of opening an address.
enum Opened {
    /// The browser shows a page.
    Page,
    /// The browser shows an error page with this code.
    Error(String),
    /// The browser did not answer in time.
    Late,
}

impl Attempt {
    /// Returns whether the page did not report. A browser that ended is no matter of time.
    fn is_late(&self) -> bool {
        match &self.outcome {
            FeatureOutcome::Silent { .. } => true,
            FeatureOutcome::Crash { .. } => matches!(self.state, State::Late),
            FeatureOutcome::Reported { .. } | FeatureOutcome::Unsupported { .. } => false,
        }
    }
}

/// The state of a browser after a case.
enum State {
    /// The browser can open the next page.
    Open(Browser),
    /// The browser must be started again.
    Lost,
    /// The browser did not answer in time, and must be started again.
    Late,
}

impl Tries<'_> {
    fn make(
        &self,
        program: Option<&BrowserProgram>,
        cases: Vec<&Feature>,
    ) -> Result<(), FeaturesError> {
        let (sandbox, program) = match (&self.browser.found, program) {
            (OutsideFound::Installed { sandbox, .. }, Some(program)) => {
                (sandbox.unwrap_or(Sandbox::On), program)
            }
            (OutsideFound::Missing { reason }, _) => {
                self.cannot(reason, cases.into_iter());
                return Ok(());
            }
            (OutsideFound::Installed { .. }, None) => {
                self.cannot("it is not here any more", cases.into_iter());
                return Ok(());
            }
        };
        if cases.is_empty() {
            return Ok(());
        }
        let namespace = Namespace::isolated()?;
        let server = Server::start(&self.all.server, &namespace, self.all.stop)?;
        let served = cases.iter().map(|case| case.served.clone()).collect();
        let roots_pem = server.serve(&WebSetup { cases: served })?;
        let trust = match Trust::of_pem(&roots_pem) {
            Ok(trust) => trust,
            Err(error) => {
                self.cannot(&error.to_string(), cases.into_iter());
                return Ok(());
            }
        };
        let hosts = cases.iter().flat_map(|case| case.served.hosts());
        let hosts: Vec<_> = hosts.map(|name| (name, Ipv4Addr::LOCALHOST)).collect();
        let network = Network {
            namespace: &namespace,
            hosts: &hosts,
            // No name server listens there.
            name_server: Ipv4Addr::LOCALHOST,
        };
        let around = Surroundings {
            network,
            trust: &trust,
            startup_cache: None,
            sandbox,
            https_records: HttpsRecords::Off,
        };
        let place = Place {
            program,
            around,
            server: &server,
        };
        self.browse(&place, cases)
    }

    fn browse(&self, place: &Place<'_>, cases: Vec<&Feature>) -> Result<(), FeaturesError> {
        let mut browser: Option<Browser> = None;
        let mut left = cases.into_iter();
        while let Some(case) = left.next() {
            let mut limit = self.all.limit;
            let attempt = loop {
                let started = match browser.take() {
                    Some(runs) => Ok(runs),
                    None => self.start(place),
                };
                let runs = match started {
                    Ok(runs) => runs,
                    Err(BrowserError::Stopped) => return Ok(()),
                    Err(error) => {
                        self.cannot(&error.to_string(), iter::once(case).chain(left));
                        return Ok(());
                    }
                };
                let Some(attempt) = self.attempt(runs, place, case, limit)? else {
                    return Ok(());
                };
                if limit > self.all.limit || !attempt.is_late() {
                    break attempt;
                }
                // A second try has a new browser.
                drop(attempt);
                limit *= PATIENCE;
                place.server.forget(&case.record.name)?;
            };
            if let State::Open(runs) = attempt.state {
                browser = Some(runs);
            }
            if self.tell(case, attempt.outcome).is_break() {
                return Ok(());
            }
        }
        Ok(())
    }

    fn start(&self, place: &Place<'_>) -> Result<Browser, BrowserError> {
        Browser::start(place.program, &place.around, self.outlet.within(START))
    }

    /// Opens the page of a case and waits for its report. Returns `None` if the run was stopped.
    fn attempt(
        &self,
        mut browser: Browser,
        place: &Place<'_>,
        case: &Feature,
        limit: Duration,
    ) -> Result<Option<Attempt>, FeaturesError> {
        let mut begun = Instant::now();
        let mut opened = self.open(&mut browser, &case.record.start, limit);
        if let (Ok(Opened::Page | Opened::Error(_)), Some(url)) = (&opened, &case.record.restart) {
            browser = match browser.restart(place.program, &place.around, self.outlet.within(START))
            {
                Ok(browser) => browser,
                Err(error) => return Ok(lost(&error)),
            };
            begun = Instant::now();
            opened = self.open(&mut browser, url, limit);
        }
        let opened = match opened {
            Ok(opened) => opened,
            Err(error) => return Ok(lost(&error)),
        };
        let deadline = (begun + limit).max(Instant::now() + LEAST_WAIT);
        let Some(seen) = self.report(place.server, &case.served, deadline)? else {
            return Ok(None);
        };
        let (outcome, state) = match opened {
            Opened::Late if seen.report.is_some() => {
                (FeatureOutcome::Reported { seen }, State::Late)
            }
            Opened::Late => {
                let detail = "it did not open the page within the time limit".to_owned();
                (FeatureOutcome::Crash { detail }, State::Late)
            }
            Opened::Page | Opened::Error(_) if seen.report.is_some() => {
                (FeatureOutcome::Reported { seen }, State::Open(browser))
            }
            Opened::Page => self.silent(browser, case, limit, seen, None),
            Opened::Error(code) => self.silent(browser, case, limit, seen, Some(code)),
        };
        Ok(Some(Attempt { outcome, state }))
    }

    fn open(
        &self,
        browser: &mut Browser,
        url: &str,
        limit: Duration,
    ) -> Result<Opened, BrowserError> {
        match browser.look(url, self.outlet.within(limit)) {
            Ok(Shown::Error { code, .. }) => Ok(Opened::Error(sanitize(&code))),
            // Drivers read the security of a page, which a page over http does not have: the report of the page shows
            // whether it was opened.
            Ok(Shown::Loaded { .. }) | Err(BrowserError::Answer { .. }) => Ok(Opened::Page),
            Err(BrowserError::Hung { .. }) => Ok(Opened::Late),
            Err(error) => Err(error),
        }
    }

    /// Waits until the page has reported, or until the deadline. Returns `None` if the run was stopped.
    fn report(
        &self,
        server: &Server<'_>,
        case: &WebCase,
        deadline: Instant,
    ) -> Result<Option<WebSeen>, FeaturesError> {
        loop {
            if self.outlet.is_over() {
                return Ok(None);
            }
            let left = deadline.saturating_duration_since(Instant::now());
            let seen = server.seen(&case.name, left.min(LOOK))?;
            if seen.report.is_some() || left.is_zero() {
                return Ok(Some(seen));
            }
        }
    }

    /// Returns the outcome of a page that did not report, and the state of the browser, which may have ended.
    fn silent(
        &self,
        mut browser: Browser,
        case: &Feature,
        limit: Duration,
        seen: WebSeen,
        shown: Option<String>,
    ) -> (FeatureOutcome, State) {
        let url = format!("https://{}{ALIVE}", case.served.host);
        match browser.look(&url, self.outlet.within(self.all.limit)) {
            Err(error @ BrowserError::Ended { .. }) => (broken(&error), State::Lost),
            Err(error @ BrowserError::Hung { .. }) => (broken(&error), State::Late),
            _ => {
                let outcome = FeatureOutcome::Silent {
                    after_ms: millis(limit),
                    shown,
                    seen,
                };
                (outcome, State::Open(browser))
            }
        }
    }

    /// Sends the same outcome for all these cases.
    fn cannot<'c>(&self, reason: &str, cases: impl Iterator<Item = &'c Feature>) {
        for case in cases {
            let reason = sanitize(reason);
            let outcome = FeatureOutcome::Unsupported { reason };
            if self.tell(case, outcome).is_break() {
                return;
            }
        }
    }

    fn tell(&self, case: &Feature, outcome: FeatureOutcome) -> ControlFlow<()> {
        self.outlet.pass(FeatureSample {
            schema: SCHEMA_VERSION,
            case: case.record.name.clone(),
            browser: self.browser.name.clone(),
            outcome,
        })
    }
}

/// Returns the attempt of a browser that gave no answer and must be started again, or `None` if the run was stopped.
fn lost(error: &BrowserError) -> Option<Attempt> {
    (!matches!(error, BrowserError::Stopped)).then(|| Attempt {
        outcome: broken(error),
        state: State::Lost,
    })
}

/// Returns the outcome of a browser that gave no answer.
fn broken(error: &BrowserError) -> FeatureOutcome {
    let detail = sanitize(&error.to_string());
    match error {
        BrowserError::Ended { .. } | BrowserError::Hung { .. } => FeatureOutcome::Crash { detail },
        _ => FeatureOutcome::Unsupported { reason: detail },
    }
}
