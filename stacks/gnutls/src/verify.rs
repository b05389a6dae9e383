//! Verification of the peer's chain.

use std::ffi::{CStr, c_int, c_uint};

use netbench_tls::CertificateFault as Fault;

use crate::{
    ffi::{self, Datum, TypedData},
    session::User,
};

/// The purpose of a certificate (RFC 5280 section 4.2.1.12).
const SERVER_AUTHENTICATION: &CStr = c"1.3.6.1.5.5.7.3.1";
const CLIENT_AUTHENTICATION: &CStr = c"1.3.6.1.5.5.7.3.2";

/// Returns the requirements for the chain of a server with this name, or of a client, in the library's format, and their number.
pub(crate) fn requirements(host: Option<&CStr>) -> ([TypedData; 2], c_uint) {
    let (purpose, count) = match host {
        Some(_) => (SERVER_AUTHENTICATION, 2),
        None => (CLIENT_AUTHENTICATION, 1),
    };
    let name = typed(ffi::DT_DNS_HOSTNAME, host.unwrap_or_default());
    ([typed(ffi::DT_KEY_PURPOSE_OID, purpose), name], count)
}

/// Makes typed data of a string, whose length the library determines.
fn typed(kind: c_uint, text: &CStr) -> TypedData {
    TypedData {
        kind,
        data: text.as_ptr().cast_mut().cast(),
        size: 0,
    }
}

/// Verifies the chain, and times the verification. The library calls this function when it has received the
/// chain.
pub(crate) extern "C" fn verify(session: ffi::Session) -> c_int {
    // SAFETY: every session has user data.
    let user = unsafe { &*ffi::gnutls_session_get_ptr(session).cast::<User>() };
    let mut status = 0;
    let code = match &user.probe {
        Some(probe) => probe.verify(|| verified(session, user, &mut status)),
        None => verified(session, user, &mut status),
    };
    if code < 0 {
        return code;
    }
    if status == 0 {
        return 0;
    }
    if let Some(probe) = &user.probe {
        probe.certificate_fault(fault(status), &words(status));
    }
    ffi::E_CERTIFICATE_ERROR
}

fn verified(session: ffi::Session, user: &User, status: &mut c_uint) -> c_int {
    let (mut held_to, count) = requirements(user.host.as_deref());
    // SAFETY: the session is alive, and the other arguments live longer than the call.
    unsafe { ffi::gnutls_certificate_verify_peers(session, held_to.as_mut_ptr(), count, status) }
}

/// Maps the flags of `gnutls_certificate_status_t` to a fault. If there are several, it is the most specific
/// one.
pub(crate) fn fault(status: c_uint) -> Fault {
    const FLAGS: [(u32, Fault); 12] = [
        (5, Fault::Revoked),
        (8, Fault::WeakOrUnknownSignature),
        (11, Fault::BadSignature),
        (7, Fault::BadCa),
        (21, Fault::UnknownCriticalExtension),
        (18, Fault::BadPurpose),
        (6, Fault::UnknownIssuer),
        (9, Fault::NotYetValid),
        (10, Fault::Expired),
        (14, Fault::WrongName),
        (17, Fault::Other),
        (16, Fault::Other),
    ];
    let found = FLAGS.iter().find(|(bit, _)| status & (1 << bit) != 0);
    found.map_or(Fault::Other, |(_, fault)| *fault)
}

/// Returns the library's description of these flags.
pub(crate) fn words(status: c_uint) -> String {
    let mut text = Datum::EMPTY;
    ffi::gnutls_certificate_verification_status_print(status, ffi::CRT_X509, &mut text, 0);
    // SAFETY: the library has allocated the text, and no other code frees it.
    let text = unsafe { text.into_vec() };
    String::from_utf8_lossy(&text).trim().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_librarys_flags_have_the_words_of_every_worker() {
        const INVALID: c_uint = 1 << 1;
        let cases = [
            (1 << 6, Fault::UnknownIssuer, "issuer is unknown"),
            (1 << 10, Fault::Expired, "expired"),
            (1 << 9, Fault::NotYetValid, "not yet valid"),
            (1 << 14, Fault::WrongName, "does not match"),
            (1 << 18, Fault::BadPurpose, "purpose"),
            (1 << 5, Fault::Revoked, "revoked"),
        ];
        for (flag, due, part) in cases {
            assert_eq!(fault(INVALID | flag), due);
            let words = words(INVALID | flag);
            assert!(words.contains(part), "{words}");
        }
    }
}
