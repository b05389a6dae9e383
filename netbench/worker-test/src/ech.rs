//! Connections with Encrypted ClientHello between a worker's client and a site that it serves itself.

use std::net::SocketAddr;

use netbench_compat::EmulatedEch;
use netbench_model::{
    Alert, Condition, EchPolicy, EchStatus, FailureReason, FailureWord, Fault, LabProfile,
    Negotiated, Phase, Profile, Role, TlsVersion,
};
use netbench_protocol::{Configure, Ech, Operation, RequestBody, ResponseBody, StackDescription};
use netbench_runner::{Worker, WorkerProgram};

use crate::{
    bench::{ask, connection, describe, profile, start},
    cases::{client, offer_only},
    findings::error_of,
    site::OnlySite,
};

/// The time limit of a connection that the server does not answer.
const SILENCE_MS: u64 = 500;

/// Checks every outcome, and the faults of servers that break on the extension.
pub(crate) fn run(program: &WorkerProgram, stack: &str) -> Result<Vec<String>, String> {
    let mut pair = Pair::start(program, stack)?;
    let mut wrong = Vec::new();
    for policy in EchPolicy::ALL {
        wrong.extend(error_of(policy, pair.outcome(*policy)));
    }
    wrong.extend(error_of("another key", pair.another_key()));
    wrong.extend(error_of("no keys", pair.grease_without_keys()));
    let faults = [
        (Fault::EchAlert, Alert::ILLEGAL_PARAMETER.into()),
        (Fault::EchClose, FailureWord::EndOfStream.into()),
        (Fault::EchSilent, FailureReason::In(Phase::Tls)),
    ];
    for (fault, reason) in faults {
        wrong.extend(error_of(fault, pair.fault(fault, &reason)));
    }
    Ok(wrong)
}

/// A worker that connects and one that serves.
struct Pair {
    client: Worker,
    server: Worker,
    can: StackDescription,
    profile: Profile,
}

/// A site that is served.
struct Site {
    only: OnlySite,
    address: SocketAddr,
}

impl Pair {
    fn start(program: &WorkerProgram, stack: &str) -> Result<Self, String> {
        let mut client = start(program)?;
        let can = describe(&mut client, stack)?;
        let profile = profile(&mut client, &can)?;
        Ok(Self {
            client,
            server: start(program)?,
            can,
            profile,
        })
    }

    /// Checks a first and a resumed connection to a site that does not reject, or the two connections to one that does.
    fn outcome(&mut self, policy: EchPolicy) -> Result<(), String> {
        let emulated = EmulatedEch::of(policy);
        let site = self.serve(policy, None)?;
        let offer = emulated.offer.as_ref();
        if offer.is_some_and(|offer| !self.can.does(offer.operation())) {
            return Ok(());
        }
        let due = match policy {
            EchPolicy::Accepted | EchPolicy::RejectedRetry => Some(EchStatus::Accepted),
            EchPolicy::Grease => Some(EchStatus::Grease),
            EchPolicy::RejectedNoKeys | EchPolicy::OuterOnly => None,
        };
        self.configure(&site, emulated.offer.clone())?;
        if policy.is_rejected() {
            self.rejected(&site, emulated.retry_configs.as_deref())?;
            self.configure(&site, emulated.retry_configs.map(Ech::Configs))?;
        }
        for role in [Role::Prime, Role::Measured] {
            let agreed = self.agreed(&site, Condition::Resumed, role, due)?;
            if agreed.resumed != (role == Role::Measured) {
                return Err(format!("{role:?}: {agreed:?}"));
            }
        }
        Ok(())
    }

    /// Checks that a server without keys reports a hello with the extension.
    fn grease_without_keys(&mut self) -> Result<(), String> {
        if !self.can.does(Operation::EchGrease) {
            return Ok(());
        }
        let site = self.serve(EchPolicy::RejectedNoKeys, None)?;
        self.configure(&site, Some(Ech::Grease))?;
        let due = Some(EchStatus::Grease);
        self.agreed(&site, Condition::Clean, Role::Measured, due)?;
        Ok(())
    }

    /// Checks that a server rejects a hello for a configuration with its identifier and another key.
    fn another_key(&mut self) -> Result<(), String> {
        let policy = EchPolicy::Accepted;
        let site = self.serve(policy, None)?;
        self.configure(&site, Some(EmulatedEch::offer_with_another_key()))?;
        self.rejected(&site, EmulatedEch::of(policy).retry_configs.as_deref())
    }

    /// Checks that a server refuses clients with the extension alone.
    fn fault(&mut self, fault: Fault, due: &FailureReason) -> Result<(), String> {
        let site = self.serve(EchPolicy::Accepted, Some(fault))?;
        self.configure(&site, None)?;
        match self.connect(&site, Condition::Clean, Role::Measured)? {
            ResponseBody::Connected(_) => {}
            other => return Err(format!("without the extension: {other:?}")),
        }
        self.configure(&site, EmulatedEch::of(EchPolicy::Accepted).offer)?;
        match self.connect(&site, Condition::Clean, Role::Measured)? {
            ResponseBody::Failed(failure) if failure.reason == *due => Ok(()),
            other => Err(format!("{due:?} was due: {other:?}")),
        }
    }

    fn rejected(&mut self, site: &Site, retry_configs: Option<&str>) -> Result<(), String> {
        match self.connect(site, Condition::Clean, Role::Measured)? {
            ResponseBody::EchRejected(rejected)
                if rejected.retry_configs.as_deref() == retry_configs =>
            {
                Ok(())
            }
            other => Err(format!(
                "a rejection with {retry_configs:?} was due: {other:?}"
            )),
        }
    }

    /// Makes a connection of which both sides must report this outcome, and returns the server's report.
    fn agreed(
        &mut self,
        site: &Site,
        condition: Condition,
        role: Role,
        due: Option<EchStatus>,
    ) -> Result<Negotiated, String> {
        let measured = match self.connect(site, condition, role)? {
            ResponseBody::Connected(measured) => measured,
            other => return Err(format!("{role:?}: {other:?}")),
        };
        let server = measured.server.ok_or("no report of the server")?.negotiated;
        let client = measured.client.ech;
        // Some clients do not report that they sent GREASE.
        let is_unreported = due == Some(EchStatus::Grease) && client.is_none();
        if (is_unreported || client == due) && server.ech == due {
            return Ok(server);
        }
        Err(format!(
            "{role:?}: {due:?} was due: the client reports {client:?}, the server {:?}",
            server.ech
        ))
    }

    /// Makes the server serve a site on a free port.
    fn serve(&mut self, policy: EchPolicy, fault: Option<Fault>) -> Result<Site, String> {
        let stack = self.can.record.stack.clone();
        let profile = LabProfile {
            tls: vec![TlsVersion::Tls13],
            ech: Some(policy),
            fault,
            ..LabProfile::default()
        };
        let name = match fault {
            Some(fault) => format!("{fault}.test"),
            None => format!("{policy}.test"),
        };
        let mut only = OnlySite::new(&stack, &name, profile)?;
        only.server.ech_keys = EmulatedEch::of(policy).keys;
        let address = only.serve(&mut self.server, &stack)?;
        Ok(Site { only, address })
    }

    /// Sets up a client, which offers TLS 1.3 alone as all clients of such sites.
    fn configure(&mut self, site: &Site, ech: Option<Ech>) -> Result<(), String> {
        let mut settings = client();
        settings.profile = self.profile;
        settings.versions = vec![TlsVersion::Tls13];
        offer_only(&self.can, &mut settings);
        let stack = &self.can.record.stack;
        let request = Configure {
            ech,
            ..Configure::new(stack, settings, &site.only.roots_pem)
        };
        match ask(&mut self.client, RequestBody::Configure(Box::new(request)))? {
            ResponseBody::Configured => Ok(()),
            other => Err(format!("configure: {other:?}")),
        }
    }

    fn connect(
        &mut self,
        site: &Site,
        condition: Condition,
        role: Role,
    ) -> Result<ResponseBody, String> {
        let name = &site.only.server.site;
        let mut request = connection(name, site.address, condition, role);
        if name.starts_with(Fault::EchSilent.name()) {
            request.timeout_ms = SILENCE_MS;
        }
        ask(&mut self.client, RequestBody::Connect(Box::new(request)))
    }
}
