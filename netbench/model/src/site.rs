use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{HostName, LabProfile, SweepPoint, bracketed, with_port};

/// One line of `sites.txt`, or one URL: a host name and, for the lab, its server and its link.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Site {
    /// The host name or IP address that certificates are checked against.
    pub host: HostName,
    /// The host name in Unicode (a U-label, RFC 5890), if it was given so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unicode: Option<Box<str>>,
    /// The TCP port, 443 by default.
    pub port: u16,
    /// The path of the request, including any query.
    #[serde(default = "root", skip_serializing_if = "is_root")]
    pub path: String,
    /// The emulation of the site, [`LabProfile::usual`] by default. Only used in the lab.
    #[serde(default = "LabProfile::usual", skip_serializing_if = "is_usual")]
    pub lab: Arc<LabProfile>,
    /// The point of a sweep, if the site is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub point: Option<Box<SweepPoint>>,
}

fn root() -> String {
    "/".to_owned()
}

fn is_root(path: &str) -> bool {
    path == "/"
}

fn is_usual(lab: &Arc<LabProfile>) -> bool {
    *lab == LabProfile::usual()
}

impl Site {
    /// Creates the site of a host and a port: its first page, with the lab's default profile.
    pub fn new(host: HostName, port: u16) -> Self {
        Self {
            host,
            unicode: None,
            port,
            path: root(),
            lab: LabProfile::usual(),
            point: None,
        }
    }

    /// Parses a host name. One that is given in Unicode keeps this form for reports.
    pub(crate) fn at_host(text: &str, port: u16) -> Result<Self, String> {
        let host: HostName = text.parse()?;
        let unicode = Some(&host).filter(|_| !text.is_ascii());
        Ok(Self {
            unicode: unicode.and_then(HostName::unicode).map(Into::into),
            ..Self::new(host, port)
        })
    }

    /// Returns the name of the site in reports and samples: `host`, followed by the port if it is not 443, and by the
    /// path if it is not `/`. A point of a sweep is `host@rtt=10ms`. A host that was given in Unicode has that form.
    pub fn name(&self) -> String {
        let mut name = self.place();
        if let Some(point) = self.point.as_deref().filter(|point| !point.name.is_empty()) {
            name.push('@');
            name.push_str(&point.name);
        }
        name
    }

    /// Returns the name of the site without the point of a sweep.
    pub(crate) fn place(&self) -> String {
        match &self.unicode {
            Some(host) => self.place_at(host),
            None => self.place_in_dns(),
        }
    }

    /// Returns the host as in the DNS, with the port and the path as in [`Self::name`]: equal for every spelling of one site.
    pub fn place_in_dns(&self) -> String {
        self.place_at(&bracketed(&self.host))
    }

    fn place_at(&self, host: &str) -> String {
        let authority = with_port(host, self.port);
        if is_root(&self.path) {
            authority
        } else {
            format!("{authority}{}", self.path)
        }
    }
}
