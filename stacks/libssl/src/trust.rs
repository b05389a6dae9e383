//! The roots that OpenSSL's users use by default.

use netbench_tls::TrustOrigin;
use netbench_worker::{OwnTrust, SetupError};

use crate::{Libssl, bare_context, chain::with_own_roots};

/// The library's own paths, or those in SSL_CERT_FILE and SSL_CERT_DIR.
const DEFAULT_PATHS: &str = "default-paths";
/// The paths that the crate openssl-probe finds, which native-tls uses.
const OPENSSL_PROBE: &str = "openssl-probe";

/// The possible sources of roots.
pub const SOURCES: [&str; 2] = [DEFAULT_PATHS, OPENSSL_PROBE];

/// Makes a client's connector with roots from `source`, one of [`SOURCES`].
///
/// # Errors
/// Another source, or an error of the library.
pub fn own_trust<L: Libssl>(source: &str) -> Result<OwnTrust, SetupError> {
    // The openssl crate makes every connector read the default paths.
    let mut ssl = bare_context()?;
    match source {
        DEFAULT_PATHS => {}
        OPENSSL_PROBE => {
            let found = openssl_probe::probe();
            // A file that cannot be read is ignored.
            if let Some(file) = &found.cert_file {
                let _ = ssl.load_verify_locations(Some(file), None);
            }
            for folder in &found.cert_dir {
                let _ = ssl.load_verify_locations(None, Some(folder));
            }
        }
        other => return Err(SetupError::Unsupported(format!("no roots from {other}"))),
    }
    let connector = ssl.build();
    Ok(OwnTrust {
        roots: L::roots_read(&connector),
        verifier: Box::new(with_own_roots::<L>(connector)),
        origin: TrustOrigin::System,
    })
}
