use std::sync::Arc;

use netbench_libssl::{Identity, accepted, server_context};
use netbench_protocol::ServeSite;
use netbench_worker::{Accept, SetupError, accepting, refused, site_suites, stapled_response};
use openssl::{
    error::ErrorStack,
    ssl::{Ssl, SslContext},
};

use crate::{ffi, preference, stack::AwsLc};

/// Makes AWS-LC's context for one site.
pub(crate) fn acceptor(site: &ServeSite) -> Result<Arc<dyn Accept>, SetupError> {
    let identity = Identity::shared(&site.chain_pem, &site.key_pem)?;
    let mut ssl = server_context::<AwsLc>(site)?;
    identity.set(&mut ssl)?;
    preference::prefer(&mut ssl, site_suites(site)).map_err(refused("suites"))?;
    // Contexts do not share sessions, and this name would keep the sessions separate even if they did. It has
    // at most 32 bytes.
    let name = site.site.as_bytes();
    ssl.set_session_id_context(&name[..name.len().min(32)])
        .map_err(refused("resumption"))?;
    let ocsp = stapled_response(site)?.unwrap_or_default();
    let context = ssl.build();
    Ok(accepting(move |stream| {
        accepted::<AwsLc>(connection(&context, &ocsp), stream)
    }))
}

fn connection(context: &SslContext, ocsp: &[u8]) -> Result<Ssl, ErrorStack> {
    let mut ssl = Ssl::new(context)?;
    if !ocsp.is_empty() {
        ffi::set_ocsp_response(&mut ssl, ocsp)?;
    }
    Ok(ssl)
}
