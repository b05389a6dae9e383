use base64::{Engine as _, prelude::BASE64_STANDARD};
use netbench_model::EchPolicy;
use netbench_protocol::{Ech, EchKey};

use super::{ConfigKind, list};

/// Encrypted ClientHello of an emulated site.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EmulatedEch {
    /// The keys of the server.
    pub keys: Vec<EchKey>,
    /// The offer of the client.
    pub offer: Option<Ech>,
    /// The configurations that the server sends to a client that it rejects, in base64; `None` if it has no keys.
    pub retry_configs: Option<String>,
}

impl EmulatedEch {
    /// Returns the keys and the offer that lead to this outcome.
    pub fn of(policy: EchPolicy) -> Self {
        let (server, client) = match policy {
            EchPolicy::Accepted => (Some(ConfigKind::Right), Some(ConfigKind::Right)),
            EchPolicy::RejectedRetry => (Some(ConfigKind::Replaced), Some(ConfigKind::Lost)),
            EchPolicy::RejectedNoKeys => (None, Some(ConfigKind::Lost)),
            EchPolicy::Grease | EchPolicy::OuterOnly => (Some(ConfigKind::Right), None),
        };
        let configs = client.map(|kind| Ech::Configs(in_base64(kind)));
        Self {
            keys: server.and_then(key).into_iter().collect(),
            offer: configs.or((policy == EchPolicy::Grease).then_some(Ech::Grease)),
            retry_configs: server.map(in_base64),
        }
    }
}

fn in_base64(kind: ConfigKind) -> String {
    BASE64_STANDARD.encode(list(&[kind], None))
}

fn key(kind: ConfigKind) -> Option<EchKey> {
    let config = kind.config();
    Some(EchKey {
        config_base64: BASE64_STANDARD.encode(config.encoded),
        private_key_base64: BASE64_STANDARD.encode(config.private?),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_client_offers_the_key_of_its_server_only_to_be_accepted() {
        for policy in EchPolicy::ALL {
            let made = EmulatedEch::of(*policy);
            let offered = match &made.offer {
                Some(Ech::Configs(list)) => Some(list),
                Some(Ech::Grease) | None => None,
            };
            let has_key = offered.is_some() && offered == made.retry_configs.as_ref();
            assert_eq!(has_key, *policy == EchPolicy::Accepted, "{policy}");
            assert_eq!(
                made.keys.is_empty(),
                made.retry_configs.is_none(),
                "{policy}"
            );
        }
    }
}
