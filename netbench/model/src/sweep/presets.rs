use serde::Serialize;

use crate::{BitRate, LinkProfile, LossRate, Queue};

/// A named link.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct LinkPreset {
    /// The name of the link.
    pub name: &'static str,
    /// A description of the access network that the link represents.
    pub about: &'static str,
    /// The properties of the link.
    #[serde(flatten)]
    pub profile: LinkProfile,
}

impl LinkPreset {
    /// Every preset, from the shortest round trip to the longest.
    ///
    /// Rates and full round-trip times of all presets but the satellite are those of WebPageTest's connections. No
    /// preset has losses, because no figure for a kind of access is good enough to be built in.
    pub const ALL: [Self; 8] = [
        preset("fibre", 4, (20_000, 5_000), "fibre to the home"),
        preset("cable", 28, (5_000, 1_000), "a cable television network"),
        preset("dsl", 50, (1_500, 384), "a telephone line"),
        preset("lte", 70, (12_000, 12_000), "a phone with good LTE"),
        preset("4g", 170, (9_000, 9_000), "a phone with 4G"),
        preset("3g", 300, (1_600, 768), "a phone with 3G"),
        preset("3g-slow", 400, (400, 400), "a phone with poor 3G"),
        preset(
            "satellite",
            650,
            (20_000, 3_000),
            "a geostationary satellite",
        ),
    ];
}

/// Creates a preset with the rates downstream and upstream.
const fn preset(
    name: &'static str,
    rtt_ms: u64,
    (down_kbit, up_kbit): (u64, u64),
    about: &'static str,
) -> LinkPreset {
    LinkPreset {
        name,
        profile: LinkProfile {
            rtt_ns: rtt_ms * 1_000_000,
            jitter_ns: 0,
            loss: LossRate {
                parts_per_million: 0,
            },
            rate: Some(BitRate {
                bits_per_second: down_kbit * 1000,
            }),
            rate_up: Some(BitRate {
                bits_per_second: up_kbit * 1000,
            }),
            queue: Queue { packets: 1000 },
            window: None,
            window_up: None,
        },
        about,
    }
}
