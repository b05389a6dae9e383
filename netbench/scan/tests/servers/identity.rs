//! Servers that require a client certificate.

use netbench_model::scan::{Observed, ScanOutcome};
use netbench_scan::{ClientIdentity, ScanClient, ScanPart, TrustAnchors};

use crate::{
    programs::s_server,
    support::{Files, Key, limits, scan, scan_target, shown, target},
};

/// The data after the certificate is seen only with one, in every version and with every kind of key.
pub(crate) fn what_follows_a_client_certificate_is_seen() {
    let files = Files::new(Key::EcdsaP256);
    for key in [Key::Rsa, Key::EcdsaP256] {
        let client = Files::new(key);
        let authority = client.write("root.pem", &client.root_pem);
        for version in ["-tls1_3", "-tls1_2"] {
            let required = ["-www", version, "-Verify", "3", "-verify_return_error"];
            let server = s_server(&files, &[&required[..], &["-CAfile", &authority]].concat());
            let of = format!("{key:?} {version}");

            let found = scan(server.address, ScanPart::ALL);
            let features = &found.features;
            let required = &features.client_certificate_required;
            assert_eq!(*required, Observed::Yes, "{of}: {}", shown(&found));
            assert_eq!(features.http_status, None, "{of}");

            let (chain, key) = (client.read("whole.pem"), client.read("key.pem"));
            let identity = ClientIdentity::of_pem(&chain, &key).unwrap();
            let client = ScanClient {
                dns_server: None,
                roots: TrustAnchors::default(),
                identity: Some(identity),
            };
            let found = scan_target(target(server.address), limits(ScanPart::ALL), client);
            assert_eq!(
                found.outcome,
                ScanOutcome::Scanned,
                "{of}: {}",
                shown(&found)
            );
            let features = &found.features;
            let required = &features.client_certificate_required;
            assert_eq!(*required, Observed::Yes, "{of}: {}", shown(&found));
            assert_eq!(features.http_status, Some(200), "{of}: {}", shown(&found));
            let (resumed, tickets) = match version {
                "-tls1_3" => (&features.resumption_tls13, features.tickets_tls13 > Some(0)),
                _ => {
                    let tickets = &features.tickets_tls12;
                    (&features.resumption_tls12, *tickets == Observed::Yes)
                }
            };
            assert_eq!(*resumed, Observed::Yes, "{of}: {}", shown(&found));
            assert!(tickets, "{of}: {}", shown(&found));
        }
    }
}
