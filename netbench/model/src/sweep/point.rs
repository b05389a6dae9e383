use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{ClientSettings, CpuShare, Group, Switch};

/// A point of a sweep.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SweepPoint {
    /// The name of the site that is swept.
    pub of: String,
    /// The name of the point: the values of axes that have more than one, or of all axes if none has.
    pub name: String,
    /// The value on each axis.
    pub settings: BTreeMap<String, String>,
    /// The settings of the point's clients.
    pub client: PointClient,
}

/// The settings of a client that are specific to a point. All other settings are the same for the whole run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub struct PointClient {
    /// Whether the client offers the hybrid group and its key share; `None` for the groups of the run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hybrid: Option<Switch>,
    /// The CPU quota of the client; `None` for the quota of the run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cpu_percent: Option<CpuShare>,
}

impl PointClient {
    /// Returns the settings of the point's clients in a run with the given settings.
    pub fn settings(self, of_run: &ClientSettings) -> ClientSettings {
        const HYBRID: Group = Group::X25519MLKEM768;
        let mut settings = of_run.clone();
        if let Some(hybrid) = self.hybrid {
            settings.groups.retain(|group| *group != HYBRID);
            if hybrid == Switch::On {
                settings.groups.insert(0, HYBRID);
            }
        }
        settings
    }
}
