//! Tests of browsers with pages of the catalogue of features. Each browser runs in a separate network with a separate
//! server, and stays open for all cases: no two cases share a host, so that neither cookies nor policies of one affect
//! another.

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
    Browser, BrowserError, BrowserProgram, Limit, Network, Shown, Surroundings, Trust,
};
use netbench_compat::Feature;
use netbench_link::Namespace;
use netbench_model::{
    SCHEMA_VERSION, StackName,
    features::{
        FeatureBrowser, FeatureFound, FeatureOutcome, FeatureSample, WebCase, WebSeen, WebSetup,
    },
    sanitize,
};

use self::server::Server;
use crate::side_by_side::{Outlet, side_by_side};

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
    pub browsers: &'a [(FeatureBrowser, Option<BrowserProgram>)],
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
    browser: &'a FeatureBrowser,
    outlet: &'a Outlet<'a, FeatureSample, FeaturesError>,
}

/// The result of a case, and the state of the browser after it.
struct Attempt {
    outcome: FeatureOutcome,
    state: State,
}

impl Attempt {
    /// Returns whether the page did not report. A browser that ended is no matter of time.
    fn is_late(&self) -> bool {
        match &self.outcome {
            FeatureOutcome::Silent { .. } => true,
            FeatureOutcome::Crash { .. } => self.state == State::Late,
            FeatureOutcome::Reported { .. } | FeatureOutcome::Unsupported { .. } => false,
        }
    }
}

/// The state of a browser after a case.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    /// The browser can open the next page.
    Open,
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
            (FeatureFound::Installed { sandbox, .. }, Some(program)) => (*sandbox, program),
            (FeatureFound::Missing { reason }, _) => {
                self.cannot(reason, cases.into_iter());
                return Ok(());
            }
            (FeatureFound::Installed { .. }, None) => {
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
        };
        self.browse(program, &around, &server, cases)
    }

    fn browse(
        &self,
        program: &BrowserProgram,
        around: &Surroundings<'_>,
        server: &Server<'_>,
        cases: Vec<&Feature>,
    ) -> Result<(), FeaturesError> {
        let mut browser: Option<Browser> = None;
        let mut left = cases.into_iter();
        while let Some(case) = left.next() {
            let started = match browser.take() {
                Some(runs) => Ok(runs),
                None => Browser::start(program, around, self.within(START)),
            };
            let mut runs = match started {
                Ok(runs) => runs,
                Err(BrowserError::Stopped) => return Ok(()),
                Err(error) => {
                    self.cannot(&error.to_string(), iter::once(case).chain(left));
                    return Ok(());
                }
            };
            let Some(mut attempt) = self.attempt(&mut runs, server, case, self.all.limit)? else {
                return Ok(());
            };
            if attempt.is_late() {
                drop(runs);
                server.forget(&case.record.name)?;
                runs = match Browser::start(program, around, self.within(START)) {
                    Ok(runs) => runs,
                    Err(BrowserError::Stopped) => return Ok(()),
                    Err(error) => {
                        self.cannot(&error.to_string(), iter::once(case).chain(left));
                        return Ok(());
                    }
                };
                let again = self.attempt(&mut runs, server, case, self.all.limit * PATIENCE)?;
                attempt = match again {
                    Some(attempt) => attempt,
                    None => return Ok(()),
                };
            }
            if attempt.state == State::Open {
                browser = Some(runs);
            }
            if self.tell(case, attempt.outcome).is_break() {
                return Ok(());
            }
        }
        Ok(())
    }

    /// Opens the page of a case and waits for its report. Returns `None` if the run was stopped.
    fn attempt(
        &self,
        browser: &mut Browser,
        server: &Server<'_>,
        case: &Feature,
        limit: Duration,
    ) -> Result<Option<Attempt>, FeaturesError> {
        let deadline = Instant::now() + limit;
        let (shown, mut state) = match browser.look(&case.record.start, self.within(limit)) {
            Ok(Shown::Error { code, .. }) => (Some(code), State::Open),
            // Drivers read the security of a page, which a page over http does not have: the report of the page shows
            // whether it was opened.
            Ok(Shown::Loaded { .. }) | Err(BrowserError::Answer { .. }) => (None, State::Open),
            Err(BrowserError::Hung { .. }) => (None, State::Late),
            Err(BrowserError::Stopped) => return Ok(None),
            Err(error) => {
                let outcome = broken(&error);
                let state = State::Lost;
                return Ok(Some(Attempt { outcome, state }));
            }
        };
        let deadline = deadline.max(Instant::now() + LEAST_WAIT);
        let Some(seen) = self.report(server, &case.served, deadline)? else {
            return Ok(None);
        };
        let outcome = if seen.report.is_some() {
            FeatureOutcome::Reported { seen }
        } else {
            let silent = FeatureOutcome::Silent {
                after_ms: u64::try_from(limit.as_millis()).unwrap_or(u64::MAX),
                shown: shown.map(|code| sanitize(&code)),
                seen,
            };
            match self.end_of(browser, state, case) {
                Some((end, after)) => {
                    state = after;
                    end
                }
                None => silent,
            }
        };
        Ok(Some(Attempt { outcome, state }))
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

    /// Returns the end of a browser whose page did not report, if it has ended or hangs.
    fn end_of(
        &self,
        browser: &mut Browser,
        state: State,
        case: &Feature,
    ) -> Option<(FeatureOutcome, State)> {
        if state == State::Late {
            let detail = "it did not open the page within the time limit".to_owned();
            return Some((FeatureOutcome::Crash { detail }, State::Late));
        }
        let url = format!("https://{}{ALIVE}", case.served.host);
        match browser.look(&url, self.within(self.all.limit)) {
            Err(error @ BrowserError::Ended { .. }) => Some((broken(&error), State::Lost)),
            Err(error @ BrowserError::Hung { .. }) => Some((broken(&error), State::Late)),
            _ => None,
        }
    }

    fn within(&self, limit: Duration) -> Limit<'_> {
        Limit {
            deadline: Instant::now() + limit,
            stop: self.outlet.stop,
        }
    }

    /// Sends the same outcome for all these cases.
    fn cannot<'c>(&self, reason: &str, cases: impl Iterator<Item = &'c Feature>) {
        for case in cases {
            let reason = sanitize(reason);
            if self
                .tell(case, FeatureOutcome::Unsupported { reason })
                .is_break()
            {
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

/// Returns the outcome of a browser that gave no answer.
fn broken(error: &BrowserError) -> FeatureOutcome {
    let detail = sanitize(&error.to_string());
    match error {
        BrowserError::Ended { .. } | BrowserError::Hung { .. } => FeatureOutcome::Crash { detail },
        _ => FeatureOutcome::Unsupported { reason: detail },
    }
}
