use netbench_protocol::ServeSite;

use crate::{SetupError, of_base64};

/// Returns the OCSP response (DER) that a site's server staples, if it has one.
///
/// # Errors
/// The response is not in base64.
pub fn stapled_response(site: &ServeSite) -> Result<Option<Vec<u8>>, SetupError> {
    let response = site.ocsp_base64.as_deref();
    response
        .map(|text| of_base64("OCSP response", text))
        .transpose()
}
