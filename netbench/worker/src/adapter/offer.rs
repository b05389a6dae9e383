use netbench_protocol::ServeSite;
use netbench_tls::CipherSuite;

/// Returns the values that a library supports, in the order of `all`.
pub fn supported<T: Copy>(all: &[T], has: impl Fn(T) -> bool) -> Vec<T> {
    all.iter().copied().filter(|value| has(*value)).collect()
}

/// Returns the suites of a site, or the usual ones of clients if the site has no setting.
pub fn site_suites(site: &ServeSite) -> &[CipherSuite] {
    match site.suites.as_slice() {
        [] => CipherSuite::OFFERED,
        own => own,
    }
}
