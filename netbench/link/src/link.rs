use std::{
    collections::{BTreeMap, BTreeSet},
    net::Ipv4Addr,
    os::fd::{AsFd, OwnedFd},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    thread,
    time::Duration,
};

use netbench_model::{LinkCheck, LinkKind, LinkPackets, LinkRecord, LossLog};
use netbench_stats::{SplitMix, mix};
use parking_lot::Mutex;

use crate::{
    LinkChoice, LinkError, LinkPlan, LinkSite, Namespace, TrialKey, capability,
    check::{self, Listener},
    device::take_drops,
    forward::{CHECK_PORT, Forwarder, Observed, Observer, Paths, Recorder, Statistics, Trials},
    netem, sites,
    topology::{self, Ends, Forwarded},
    trace::Trace,
};

/// Number of connects in one check.
const CHECK_CONNECTS: usize = 5;

/// The maximum number of round-trip times that are checked. A result for that many holds for the link.
const CHECKS: usize = 50;

/// Number of round-trip times that are checked at one time. Each waits most of its time.
const CHECKS_AT_ONCE: usize = 6;

/// The paths to all sites, for the lifetime of the value.
///
/// Namespaces and devices have no names outside this process: when the process and the processes that it
/// started end, however they end, the kernel removes them.
pub struct Link {
    kind: LinkKind,
    why: String,
    sites: Vec<LinkSite>,
    ends: Ends,
    checks: Mutex<Vec<LinkCheck>>,
    user: Option<UserLink>,
}

/// The parts that only a link in user space has.
struct UserLink {
    trials: Arc<Trials>,
    recorder: Arc<Recorder>,
    statistics: Arc<Statistics>,
    observer: Arc<Observer>,
    sockets: Vec<OwnedFd>,
    /// The forwarder, which ends when it is dropped.
    _forwarder: Forwarder,
}

impl Link {
    /// Makes the link of the plan.
    ///
    /// Must be called while the process has one thread, unless it has CAP_SYS_ADMIN, CAP_NET_ADMIN and
    /// CAP_NET_RAW. An ordinary user's process is in a new user namespace from then on, in which its user and
    /// group keep their numbers.
    ///
    /// # Errors
    /// Returns an error if the kernel refuses namespaces or devices, or lacks netem; the error states which,
    /// with a remedy. `none` does not fail for these reasons.
    pub fn open(plan: LinkPlan) -> Result<Self, LinkError> {
        sites::check_count(&plan.sites)?;
        match plan.choice {
            LinkChoice::None => Ok(Self::loopback(
                plan.sites,
                "asked for: no delay, no loss".to_owned(),
            )),
            LinkChoice::Netem => Self::netem(plan),
            LinkChoice::User => Self::user(plan),
            LinkChoice::Tun => {
                let place = capability::acquire()?;
                let why = format!("asked for: TUN devices in {place}");
                Self::forwarded(topology::over_tun()?, &plan, why)
            }
            LinkChoice::Auto => {
                let mut link = Self::user(plan)?;
                link.why = format!(
                    "auto: namespaces work, and losses come from the seed; {}",
                    link.why
                );
                Ok(link)
            }
        }
    }

    /// Returns the kind of the link.
    pub fn kind(&self) -> LinkKind {
        self.kind
    }

    /// Returns the reason for this kind, in words.
    pub fn why(&self) -> &str {
        &self.why
    }

    /// Returns the address of a site by its index in the plan. Each site has a different address.
    pub fn address(&self, site: usize) -> Ipv4Addr {
        sites::address(if self.kind == LinkKind::None { 127 } else { 10 }, site)
    }

    /// Returns the port to listen on for a site that requests `port`: the same port in a namespace, and 0,
    /// which means any, on loopback or where the kernel refuses low ports.
    pub fn listen_port(&self, port: u16) -> u16 {
        let is_own = self.kind != LinkKind::None && port != CHECK_PORT;
        if is_own && port >= self.ends.first_port {
            port
        } else {
            0
        }
    }

    /// Returns the namespace in which clients run.
    pub fn client_namespace(&self) -> Namespace {
        self.ends.client.clone()
    }

    /// Returns the namespace in which servers run.
    pub fn server_namespace(&self) -> Namespace {
        self.ends.server.clone()
    }

    /// Begins a trial: connections to `site` opened from now on draw their losses and jitter from `key`, and
    /// are counted from 0. Only a link in user space draws, so other links ignore the call.
    pub fn begin_trial(&self, site: usize, key: TrialKey) {
        if let Some(user) = &self.user {
            user.trials.begin(site, key);
        }
    }

    /// Returns the draws for the packets of the last trial; empty where the site's link loses none, or does
    /// not draw.
    pub fn losses(&self, site: usize) -> Vec<LossLog> {
        let user = self.user.as_ref();
        user.map(|user| user.trials.losses(site))
            .unwrap_or_default()
    }

    /// Returns the packets of a site's last trial, as far as they have arrived, or `None` where the link is
    /// not in user space.
    pub fn packets(&self, site: usize) -> Option<LinkPackets> {
        self.user.as_ref()?.trials.packets(site)
    }

    /// Runs `work`, which makes one connection to `site`, and returns the connection's packets, or `None`
    /// where the link is not in user space. Two simultaneous calls must not have the same site.
    pub fn traced<T>(&self, site: usize, work: impl FnOnce() -> T) -> (T, Option<Trace>) {
        let Some(user) = &self.user else {
            return (work(), None);
        };
        user.recorder.begin(site);
        let done = work();
        let window = self.sites.get(site).and_then(|site| site.profile.window);
        let window = window.unwrap_or_default();
        (done, Some(Trace::new(user.recorder.end(site), window)))
    }

    /// Observes the client's connections from now on, and the other destinations of its packets: all of its
    /// packets then reach the link, which has no route out. Returns whether the link can observe; only a link
    /// in user space can.
    ///
    /// # Errors
    /// Returns an error if the route cannot be added in the client's namespace.
    pub fn observe(&self) -> Result<bool, LinkError> {
        let Some(user) = &self.user else {
            return Ok(false);
        };
        if !user.observer.is_on() {
            topology::lead_everything_to_the_link(&self.ends.client)?;
            user.observer.start();
        }
        Ok(true)
    }

    /// Returns the observations since the last call, after a call of [`Self::observe`].
    pub fn observed(&self) -> Option<Observed> {
        Some(self.user.as_ref()?.observer.take())
    }

    /// Returns the number of the client's connections since the last call of [`Self::observed`] that it has
    /// not ended, after a call of [`Self::observe`].
    pub fn open_connections(&self) -> Option<usize> {
        let observer = &self.user.as_ref()?.observer;
        observer.is_on().then(|| observer.open_connections())
    }

    /// Returns an address that the client can use as its name server. No server listens there, which the
    /// client learns at once.
    pub fn nobodys_name_server(&self) -> Ipv4Addr {
        sites::SERVER
    }

    /// Times idle TCP connects through the link, and returns the median of five for each distinct round-trip
    /// time. If there are more than fifty round-trip times, `seed` selects fifty. Losses, jitter and rates do
    /// not apply to the connects. The record contains the result too.
    ///
    /// # Errors
    /// Returns an error if a connect fails, or `stop` becomes true.
    pub fn check(&self, seed: u64, stop: &AtomicBool) -> Result<Vec<LinkCheck>, LinkError> {
        let (listen, port) = match self.kind {
            LinkKind::None => (self.address(0), 0),
            _ => (Ipv4Addr::UNSPECIFIED, CHECK_PORT),
        };
        // The connections stay open: a close would send packets beside the next connect's.
        let mut held = Vec::new();
        let listener = Listener::start(&self.ends.server, (listen, port).into(), move |stream| {
            held.push(stream);
        })?;
        let port = listener.port();
        let waiting = Mutex::new(chosen(self.distinct_rtts(), seed).into_iter());
        let awake = Mutex::new(());
        let mut checks = thread::scope(|scope| {
            let running: Vec<_> = (0..CHECKS_AT_ONCE)
                .map(|_| {
                    scope.spawn(|| {
                        self.ends
                            .client
                            .run(|| check_waiting(&waiting, port, &awake, stop))?
                    })
                })
                .collect();
            let ended = running.into_iter().map(|thread| {
                thread
                    .join()
                    .unwrap_or_else(|panic| std::panic::resume_unwind(panic))
            });
            ended.collect::<Result<Vec<_>, _>>()
        })?
        .concat();
        checks.sort_by_key(|check| check.rtt_ns);
        self.checks.lock().clone_from(&checks);
        Ok(checks)
    }

    /// Returns the manifest's record of the link, as far as it is known.
    pub fn record(&self) -> LinkRecord {
        let mut record = LinkRecord {
            kind: self.kind,
            why: self.why.clone(),
            checks: self.checks.lock().clone(),
            lateness_ns: BTreeMap::new(),
            packets: BTreeMap::new(),
            losses_sha256: None,
            settings: self.ends.settings.clone(),
        };
        if let Some(user) = &self.user {
            let statistics = &user.statistics;
            for socket in &user.sockets {
                Statistics::add(&statistics.dropped_receive, take_drops(socket.as_fd()));
            }
            record.lateness_ns = statistics.lateness.quantiles();
            record.packets = statistics.packets();
            record.losses_sha256 = Some(statistics.losses_sha256());
            if let Some(scheduling) = statistics.scheduling.get() {
                record
                    .settings
                    .insert("forwarder.scheduling".to_owned(), (*scheduling).to_owned());
            }
        }
        record
    }

    /// Makes a link over veth pairs, or over TUN devices where those cannot be made.
    fn user(plan: LinkPlan) -> Result<Self, LinkError> {
        let place = capability::acquire()?;
        let veth = match topology::over_veth() {
            Ok(devices) => {
                let why = format!("in user space over veth pairs and AF_PACKET, in {place}");
                return Self::forwarded(devices, &plan, why);
            }
            // TUN devices require namespaces too.
            Err(error @ LinkError::Namespace { .. }) => return Err(error),
            Err(error) => error,
        };
        match topology::over_tun() {
            Ok(devices) => {
                let why = format!("in user space over TUN devices, in {place}, because {veth}");
                Self::forwarded(devices, &plan, why)
            }
            Err(tun) => Err(LinkError::NoDevices {
                veth: Box::new(veth),
                tun: Box::new(tun),
            }),
        }
    }

    fn forwarded(devices: Forwarded, plan: &LinkPlan, why: String) -> Result<Self, LinkError> {
        let Forwarded {
            ends,
            client,
            server,
            sockets,
        } = devices;
        topology::set_windows(&ends, &plan.sites)?;
        let trials = Arc::new(Trials::new(plan.sites.len()));
        let statistics = Arc::new(Statistics::default());
        let recorder = Arc::new(Recorder::default());
        let observer = Arc::new(Observer::default());
        let paths = Paths::new(
            &plan.sites,
            plan.seed,
            Arc::clone(&trials),
            Arc::clone(&recorder),
            Arc::clone(&observer),
        );
        let forwarder = Forwarder::start(client, server, paths, Arc::clone(&statistics))
            .map_err(LinkError::device("start the forwarder"))?;
        let user = UserLink {
            trials,
            recorder,
            statistics,
            observer,
            sockets,
            _forwarder: forwarder,
        };
        Ok(Self {
            user: Some(user),
            ..Self::between(ends, LinkKind::User, plan.sites.clone(), why)
        })
    }

    fn netem(plan: LinkPlan) -> Result<Self, LinkError> {
        let place = capability::acquire()?;
        let mut ends = topology::joined()?;
        topology::set_windows(&ends, &plan.sites)?;
        ends.settings.extend(netem::set_up(&ends, &plan)?);
        let why = format!("asked for: the kernel's netem, in {place}");
        Ok(Self::between(ends, LinkKind::Netem, plan.sites, why))
    }

    fn between(ends: Ends, kind: LinkKind, sites: Vec<LinkSite>, why: String) -> Self {
        Self {
            kind,
            why,
            sites,
            ends,
            checks: Mutex::default(),
            user: None,
        }
    }

    /// Makes a link of the kind `none`: sites are addresses of the loopback interface. This kind works
    /// everywhere.
    pub fn loopback(sites: Vec<LinkSite>, why: String) -> Self {
        Self::between(Ends::default(), LinkKind::None, sites, why)
    }

    /// Returns the round-trip times to check, each with the address of the first site that has it.
    fn distinct_rtts(&self) -> Vec<(Duration, Ipv4Addr)> {
        if self.kind == LinkKind::None {
            return vec![(Duration::ZERO, self.address(0))];
        }
        let mut seen = BTreeSet::new();
        let sites = self.sites.iter().enumerate();
        sites
            .filter(|(_, site)| seen.insert(site.profile.rtt_ns))
            .map(|(index, site)| (site.profile.rtt(), self.address(index)))
            .collect()
    }
}

/// Times connects for the waiting round-trip times, until none is left.
fn check_waiting(
    waiting: &Mutex<impl Iterator<Item = (Duration, Ipv4Addr)>>,
    port: u16,
    awake: &Mutex<()>,
    stop: &AtomicBool,
) -> Result<Vec<LinkCheck>, LinkError> {
    let mut checks = Vec::new();
    loop {
        let next = waiting.lock().next();
        let Some((rtt, address)) = next else {
            return Ok(checks);
        };
        if stop.load(Ordering::Relaxed) {
            return Err(LinkError::Stopped);
        }
        let times = check::connect_times(address, port, rtt, CHECK_CONNECTS, awake)?;
        checks.push(LinkCheck {
            rtt_ns: check::ns(rtt),
            connect_ns: check::ns(check::median(times.elapsed)),
            kernel_rtt_ns: times.kernel_rtt.map(check::ns),
        });
    }
}

/// Selects as many of the round-trip times as are checked.
fn chosen(mut rtts: Vec<(Duration, Ipv4Addr)>, seed: u64) -> Vec<(Duration, Ipv4Addr)> {
    if rtts.len() > CHECKS {
        SplitMix::new(mix(seed ^ 0x6368_6563_6b73)).shuffle(&mut rtts);
        rtts.truncate(CHECKS);
    }
    rtts
}

// Trials begin in many threads.
const _: () = {
    const fn shared<T: Send + Sync>() {}
    shared::<Link>();
};

#[cfg(test)]
mod tests {
    use super::*;

    fn rtts(count: u64) -> Vec<(Duration, Ipv4Addr)> {
        let rtts = (0..count).map(Duration::from_millis);
        rtts.map(|rtt| (rtt, Ipv4Addr::LOCALHOST)).collect()
    }

    #[test]
    fn the_seed_chooses_which_round_trip_times_are_checked() {
        assert_eq!(chosen(rtts(50), 1), rtts(50));
        let [first, again, other] = [1, 1, 2].map(|seed| chosen(rtts(300), seed));
        assert_eq!(first, again);
        assert_ne!(first, other);
        let distinct: BTreeSet<_> = first.into_iter().collect();
        assert_eq!(distinct.len(), CHECKS);
        assert!(
            distinct
                .iter()
                .any(|(rtt, _)| *rtt >= Duration::from_millis(50))
        );
    }
}
