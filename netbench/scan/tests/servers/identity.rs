//! Servers that require a client certificate.

use std::sync::{Arc, atomic::AtomicBool};

use netbench_model::scan::{Observed, ScanOutcome, SiteScan};
use netbench_scan::{ClientIdentity, ScanClient, ScanEvent, ScanPart, TrustAnchors, scan_all};

use crate::{
    programs::s_server,
    support::{Files, Key, limits, scan, shown, target},
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

            let found = scan(server.address, &ScanPart::ALL);
            let features = &found.features;
            let required = &features.client_certificate_required;
            assert_eq!(*required, Observed::Yes, "{of}: {}", shown(&found));
            assert_eq!(features.http_status, None, "{of}");

            let read = |name: &str| std::fs::read_to_string(client.path(name)).unwrap();
            let identity = ClientIdentity::of_pem(&read("whole.pem"), &read("key.pem")).unwrap();
            let found = scan_as(&server.address.to_string(), identity);
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

fn scan_as(address: &str, identity: ClientIdentity) -> SiteScan {
    let mut found = None;
    let stop = Arc::new(AtomicBool::new(false));
    let client = ScanClient {
        roots: TrustAnchors::default(),
        identity: Some(identity),
    };
    let targets = vec![target(address.parse().unwrap())];
    scan_all::<std::io::Error>(targets, limits(&ScanPart::ALL), client, &stop, |event| {
        let ScanEvent::Done(scan) = event;
        found = Some(scan.clone());
        Ok(())
    })
    .unwrap();
    found.expect("a result for the one target")
}
