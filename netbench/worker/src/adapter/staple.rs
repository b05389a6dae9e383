use base64::{Engine, engine::general_purpose::STANDARD};
use netbench_protocol::ServeSite;

use crate::SetupError;

/// Returns the OCSP response (DER) that a site's server staples, if it has one.
///
/// # Errors
/// The response is not in base64.
pub fn stapled_response(site: &ServeSite) -> Result<Option<Vec<u8>>, SetupError> {
    let response = site.ocsp_base64.as_ref().map(|text| STANDARD.decode(text));
    response
        .transpose()
        .map_err(|e| SetupError::refused("OCSP response", e))
}
