use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::LinkPreset;
use crate::{
    CpuShare, LabProfile, Site, Switch,
    named::suggestion,
    sites_file::{FieldError, field_names, set_field},
    urls::shown,
};

/// What a sweep changes, and the values that it gives it: `rtt=1ms,10ms`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SweepAxis {
    /// A field of the sites file, or `link`, `hybrid` or `cpu`.
    pub name: String,
    /// Its values, as given.
    pub values: Vec<String>,
}

/// What of a client is a point's own. All else is the same for the whole run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub struct PointClient {
    /// Whether it offers the hybrid group, and a key share of it; none where the run's groups say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hybrid: Option<Switch>,
    /// The share of a core's time that it gets; none where the run says.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cpu_percent: Option<CpuShare>,
}

const LINK: &str = "link";
const HYBRID: &str = "hybrid";
const CPU: &str = "cpu";

/// Of a core: all of it.
const WHOLE: &str = "100%";

impl SweepAxis {
    /// Reads `NAME=VALUE,…`.
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

    /// Whether it sets the whole link. It is applied first; `rtt`, `loss` and the like then change parts of it.
    pub(super) fn is_whole_link(&self) -> bool {
        self.name == LINK
    }

    /// Whether it means nothing where no link is emulated.
    pub fn is_of_link(&self) -> bool {
        let of_link = [LINK, "rtt", "jitter", "loss", "rate", "rate-up", "queue"];
        of_link.contains(&self.name.as_str())
    }

    /// Whether it is one that the clients' groups depend on.
    pub fn is_of_groups(&self) -> bool {
        self.name == HYBRID
    }

    /// Whether it says what share of a core clients get.
    pub fn is_of_cpu(&self) -> bool {
        self.name == CPU
    }

    /// Gives a site or its clients one of the values.
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

/// Everything that can be swept.
fn names() -> Vec<&'static str> {
    field_names().chain([LINK, HYBRID, CPU]).collect()
}

/// Gives a site the values of a point.
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
