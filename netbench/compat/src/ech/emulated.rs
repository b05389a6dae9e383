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
    /// Returns the offer of a client whose configuration has the number of the one with which [`EchPolicy::Accepted`] is
    /// accepted, and another key.
    pub fn offer_with_another_key() -> Ech {
        // The lengths of the list and of the configuration, and the version.
        const BEFORE_NUMBER: usize = 6;
        let mut list = list(&[ConfigKind::Replaced], None);
        list[BEFORE_NUMBER] = ConfigKind::Right.config().id;
        Ech::Configs(BASE64_STANDARD.encode(list))
    }

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
    fn another_key_has_the_number_of_the_servers() {
        let Ech::Configs(other) = EmulatedEch::offer_with_another_key() else {
            panic!("no list");
        };
        let other = BASE64_STANDARD.decode(other).unwrap();
        let [right, replaced] =
            [ConfigKind::Right, ConfigKind::Replaced].map(|kind| list(&[kind], None));
        let differing = |from: &[u8]| {
            let pairs = other.iter().zip(from).enumerate();
            let differing = pairs.filter(|(_, (one, another))| one != another);
            differing.map(|(at, _)| at).collect::<Vec<_>>()
        };
        assert_eq!(differing(&replaced), [6]);
        let of_key = differing(&right);
        assert!(
            of_key.len() > 20 && of_key.iter().all(|at| (11..43).contains(at)),
            "{of_key:?}"
        );
    }

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
