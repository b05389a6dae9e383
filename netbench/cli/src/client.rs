//! The requests and the certificate that clients send to the user's own servers.

use std::{str::FromStr, time::Duration};

use clap::{Args, ValueHint};
use http::{HeaderName, HeaderValue, Method, header};
use netbench_lab::Identity;
use netbench_model::{ClientCertificate, Kind, RequestRecord, Target, parse_duration};
use netbench_protocol::{ClientIdentity, HttpRequest, Operation};
use netbench_runner::Workers;

use crate::exit::{WrongInput, bail_input};

/// Headers that hyper writes.
const OF_HYPER: [HeaderName; 5] = [
    header::HOST,
    header::CONNECTION,
    header::CONTENT_LENGTH,
    header::TRANSFER_ENCODING,
    header::UPGRADE,
];

#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Client")]
pub(crate) struct IdentityOptions {
    /// Show this certificate to servers that ask for one (PEM, its chain after it)
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) client_cert: Option<String>,
    /// The certificate's key (PEM) [default: the key in the certificate's file]
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, requires = "client_cert")]
    pub(crate) client_key: Option<String>,
}

/// The options whose values are not stored, and which every session of a run gives anew.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Client")]
pub(crate) struct Unstored {
    #[command(flatten)]
    pub(crate) identity: IdentityOptions,
    /// Add a header to the requests, such as 'Authorization: Bearer …'; values are not stored
    #[arg(long, value_name = "NAME: VALUE")]
    pub(crate) header: Vec<Header>,
}

#[derive(Debug, Args)]
#[command(next_help_heading = "Client")]
pub(crate) struct RequestOptions {
    /// Method of the requests
    #[arg(long, value_name = "METHOD", default_value = "GET", value_parser = method)]
    pub(crate) method: String,
    /// Pause between two connections to one server [default: none; with --live 1s]
    #[arg(long, value_name = "TIME", value_parser = parse_duration)]
    pub(crate) pause: Option<Duration>,
}

/// A header of the user. Errors do not quote the value, which may be a secret.
#[derive(Clone)]
pub(crate) struct Header {
    pub(crate) name: String,
    pub(crate) value: String,
}

impl std::fmt::Debug for Header {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}: …", self.name)
    }
}

impl FromStr for Header {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let (name, value) = text
            .split_once(':')
            .ok_or_else(|| "expected NAME: VALUE".to_owned())?;
        let name = HeaderName::from_bytes(name.trim().as_bytes())
            .map_err(|_| "a header's name has letters, digits and hyphens".to_owned())?;
        if OF_HYPER.contains(&name) {
            return Err(format!("{name} is written by the HTTP library itself"));
        }
        let value = value.trim();
        HeaderValue::from_str(value)
            .map_err(|_| format!("the value of {name} has characters that no header can have"))?;
        Ok(Self {
            name: name.to_string(),
            value: value.to_owned(),
        })
    }
}

fn method(text: &str) -> Result<String, String> {
    match Method::from_bytes(text.as_bytes()) {
        Ok(Method::CONNECT) | Err(_) => {
            Err("expected a method such as GET, HEAD or POST".to_owned())
        }
        Ok(method) => Ok(method.to_string()),
    }
}

impl IdentityOptions {
    /// Reads and validates the certificate, if there is one.
    pub(crate) fn load(&self) -> Result<Shown, WrongInput> {
        let certificate = self.client_cert.as_ref();
        let loaded = certificate.map(|file| Identity::load(file, self.client_key.as_deref()));
        let loaded = loaded.transpose();
        loaded.map(Shown).map_err(|e| WrongInput(e.to_string()))
    }
}

impl Unstored {
    /// Returns the arguments that give these values to another process.
    pub(crate) fn arguments(&self) -> Vec<String> {
        let files = [
            ("--client-cert", &self.identity.client_cert),
            ("--client-key", &self.identity.client_key),
        ];
        let files = files.iter().filter_map(|(option, file)| {
            let file = file.as_ref()?;
            Some([(*option).to_owned(), file.clone()])
        });
        let headers = self.header.iter();
        let headers = headers.map(|header| {
            let text = format!("{}: {}", header.name, header.value);
            ["--header".to_owned(), text]
        });
        files.chain(headers).flatten().collect()
    }

    /// Refuses options that a run of this kind does not use.
    pub(crate) fn refuse_certificate(&self, kind: &Kind) -> Result<(), WrongInput> {
        if self.identity.client_cert.is_some() {
            bail_input!("--client-cert: a run of {kind} presents no certificate");
        }
        self.refuse_headers(kind)
    }

    /// Refuses headers, for a kind of run that sends no requests of the user.
    pub(crate) fn refuse_headers(&self, kind: &Kind) -> Result<(), WrongInput> {
        if !self.header.is_empty() {
            bail_input!("--header: a run of {kind} sends no headers of the user");
        }
        Ok(())
    }
}

/// The certificate that clients present, read and validated.
#[derive(Debug, Clone, Default)]
pub(crate) struct Shown(pub(crate) Option<Identity>);

impl Shown {
    pub(crate) fn record(&self) -> Option<ClientCertificate> {
        self.0.as_ref().map(|identity| ClientCertificate {
            sha256: identity.sha256.clone(),
            certificates: identity.certificates,
        })
    }

    pub(crate) fn identity(&self) -> Option<ClientIdentity> {
        self.0.as_ref().map(|identity| {
            ClientIdentity::of_pem(identity.chain_pem.as_str(), identity.key_pem.as_str())
        })
    }

    /// Refuses to continue a run with another certificate than the run began with.
    pub(crate) fn must_be(
        &self,
        run: &str,
        begun_with: Option<&ClientCertificate>,
    ) -> Result<(), WrongInput> {
        match (begun_with, self.record()) {
            (None, None) => Ok(()),
            (Some(then), Some(now)) if *then == now => Ok(()),
            (Some(_), None) => bail_input!(
                "run {run} was begun with a client certificate, which is not stored: give --client-cert and \
                 --client-key again"
            ),
            _ => bail_input!("run {run} was begun with another client certificate, or with none"),
        }
    }
}

/// Refuses options that have no effect on emulated sites.
pub(crate) fn only_for_servers(
    target: Target,
    request: &HttpRequest,
    identity: &IdentityOptions,
) -> Result<(), WrongInput> {
    if target == Target::Lab && (!request.is_usual() || identity.client_cert.is_some()) {
        bail_input!(
            "--method, --header and --client-cert are for URLs and for --live: emulated sites have one page and ask for \
             no certificate"
        );
    }
    Ok(())
}

/// Returns a time in milliseconds, as it is stored.
pub(crate) fn millis(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}

/// Returns the request that is sent to every site, without its path.
pub(crate) fn request(method: &str, headers: &[Header]) -> HttpRequest {
    let headers = headers.iter();
    HttpRequest {
        method: method.to_owned(),
        headers: headers
            .map(|header| (header.name.clone(), header.value.clone()))
            .collect(),
        ..HttpRequest::default()
    }
}

pub(crate) fn record(request: &HttpRequest) -> RequestRecord {
    RequestRecord {
        method: request.method.clone(),
        headers: request
            .headers
            .iter()
            .map(|(name, _)| name.clone())
            .collect(),
    }
}

/// Returns the request of a run that continues. The values of its headers are not stored, and must be
/// given again.
pub(crate) fn request_again(
    run: &str,
    begun_with: &RequestRecord,
    headers: &[Header],
) -> Result<HttpRequest, WrongInput> {
    let request = request(&begun_with.method, headers);
    if record(&request) != *begun_with {
        bail_input!(
            "run {run} was begun with the headers [{}], whose values are not stored: give the same --header again",
            begun_with.headers.join(", ")
        );
    }
    Ok(request)
}

/// Refuses stacks whose workers do not list the required operation.
pub(crate) fn all_can<'a>(
    stacks: impl IntoIterator<Item = &'a str>,
    workers: &Workers,
    operation: Operation,
    what: &str,
) -> Result<(), WrongInput> {
    let mut stacks = stacks.into_iter();
    let cannot = stacks.find(|stack| !workers.does(stack, operation));
    match cannot {
        None => Ok(()),
        Some(stack) => bail_input!(
            "the worker of {stack} cannot {what}: it does not list \"{operation}\" among its operations"
        ),
    }
}
