use netbench_protocol::{Load, Loaded, ResponseBody};
use netbench_tls::sanitize_prefix;

use crate::{
    SetupError,
    run::{unsupported, wrong},
};

/// Maximum length of a library's message in an answer.
const WORDS: usize = 400;

/// The network stack of a browser engine, used as an embedder uses it, with a cache and the user's decisions.
pub trait PageLoader: Send {
    /// Loads a page.
    ///
    /// # Errors
    /// The page cannot be requested.
    fn load(&mut self, page: &Load) -> Result<Loaded, SetupError>;
}

pub(crate) fn load(loader: &mut dyn PageLoader, page: &Load) -> ResponseBody {
    match loader.load(page) {
        Ok(Loaded::Refused {
            error,
            detail,
            certificate_base64,
        }) => ResponseBody::Loaded(Loaded::Refused {
            error: sanitize_prefix(&error, WORDS),
            detail: sanitize_prefix(&detail, WORDS),
            certificate_base64,
        }),
        Ok(loaded) => ResponseBody::Loaded(loaded),
        Err(SetupError::Unsupported(reason)) => unsupported(sanitize_prefix(&reason, WORDS)),
        Err(SetupError::Refused(message)) => wrong(sanitize_prefix(&message, WORDS)),
    }
}
