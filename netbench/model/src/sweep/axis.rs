use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{CertificatesPreset, LinkPreset, PointClient};
use crate::{
    CpuShare, LabProfile, Site, Switch, shown,
    sites_file::{FieldError, field_names, set_field},
    suggestion,
};

/// An axis of a sweep: a property and its values, such as `rtt=1ms,10ms`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SweepAxis {
    /// A field of the sites file, or `link`, `certificates`, `hybrid` or `cpu`.
    #[schemars(extend("x-key" = "item"))]
    pub name: String,
    /// The values, as given.
    pub values: Vec<String>,
}

const LINK: &str = "link";
const CERTIFICATES: &str = "certificates";
const HYBRID: &str = "hybrid";
const CLIENT_CERT: &str = "client-cert";
const CPU: &str = "cpu";

/// The value for no CPU quota.
const WHOLE: &str = "100%";

impl SweepAxis {
    /// Parses `NAME=VALUE,…`.
    pub(super) fn parse(text: &str) -> Result<Self, String> {
        let Some((name, values)) = text.split_once('=') else {
            return Err("expected NAME=VALUE,…, such as rtt=1ms,10ms,50ms".to_owned());
        };
        let names = names();
        if !names.contains(&name) {
            let expected = suggestion(name, &names);
            return Err(format!("{} cannot be swept; {expected}", shown(name)));
        }
        let axis = Self {
            name: name.to_owned(),
            values: values.split(',').map(str::to_owned).collect(),
        };
        let mut made = Vec::new();
        for value in &axis.values {
            let mut site = (LabProfile::default(), PointClient::default());
            axis.apply(value, &mut site.0, &mut site.1)
                .map_err(|why| format!("{name}={}: {why}", value.escape_debug()))?;
            if made.contains(&site) {
                return Err(format!("{name}={value}: there is such a value already"));
            }
            made.push(site);
        }
        Ok(axis)
    }

    /// Returns whether the axis sets the whole link or all certificates. Such an axis is applied first; `rtt`, `loss`,
    /// `key` and similar axes then change parts of them.
    pub(super) fn is_whole(&self) -> bool {
        [LINK, CERTIFICATES].contains(&self.name.as_str())
    }

    /// Returns whether the values of the axis are chains, which have different sizes.
    pub fn is_of_chains(&self) -> bool {
        [CERTIFICATES, "chain"].contains(&self.name.as_str())
    }

    /// Returns whether the values of the axis are chains of clients.
    pub fn is_of_client_chains(&self) -> bool {
        self.name == CLIENT_CERT
    }

    /// Returns whether the axis has a meaning only for an emulated link.
    pub fn is_of_link(&self) -> bool {
        let of_link = [
            LINK,
            "rtt",
            "jitter",
            "loss",
            "rate",
            "rate-up",
            "queue",
            "window-up",
        ];
        of_link.contains(&self.name.as_str())
    }

    /// Returns whether the axis changes the clients' groups.
    pub fn is_of_groups(&self) -> bool {
        self.name == HYBRID
    }

    /// Returns whether the axis sets the clients' CPU quota.
    pub fn is_of_cpu(&self) -> bool {
        self.name == CPU
    }

    /// Applies one of the values to a site or its clients.
    pub(super) fn apply(
        &self,
        value: &str,
        lab: &mut LabProfile,
        client: &mut PointClient,
    ) -> Result<(), String> {
        match self.name.as_str() {
            LINK => {
                let known = LinkPreset::ALL.iter().find(|preset| preset.name == value);
                let names = LinkPreset::ALL.map(|preset| preset.name);
                let preset =
                    known.ok_or_else(|| format!("no such link; {}", suggestion(value, &names)))?;
                lab.link = preset.profile;
            }
            CERTIFICATES => {
                let mut known = CertificatesPreset::ALL.iter();
                let known = known.find(|preset| preset.name == value);
                let names = CertificatesPreset::ALL.map(|preset| preset.name);
                let preset = known.ok_or_else(|| {
                    format!("no such certificates; {}", suggestion(value, &names))
                })?;
                preset.apply(lab);
            }
            HYBRID => {
                client.hybrid = Some(match value {
                    "on" => Switch::On,
                    "off" => Switch::Off,
                    _ => return Err("expected on or off".to_owned()),
                });
            }
            CPU if value == WHOLE => client.cpu_percent = None,
            CPU => {
                let share = value.parse::<CpuShare>();
                client.cpu_percent = Some(share.map_err(|error| format!("{error}, or {WHOLE}"))?);
            }
            field => match set_field(lab, field, value) {
                Ok(()) => {}
                Err(FieldError::Value(why) | FieldError::Unknown(why)) => return Err(why),
            },
        }
        Ok(())
    }
}

/// Returns the names of all axes.
fn names() -> Vec<&'static str> {
    field_names()
        .chain([LINK, CERTIFICATES, HYBRID, CPU])
        .collect()
}

/// Applies the values of a point to a site.
pub(super) fn at_point(
    site: &Site,
    settings: &[(&SweepAxis, &str)],
) -> Result<(LabProfile, PointClient), String> {
    let (mut lab, mut client) = ((*site.lab).clone(), PointClient::default());
    for (axis, value) in settings {
        let applied = axis.apply(value, &mut lab, &mut client);
        applied.map_err(|why| format!("{}={value}: {why}", axis.name))?;
    }
    Ok((lab, client))
}
