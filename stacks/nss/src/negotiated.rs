//! The negotiated parameters of a handshake.

use std::{ffi::c_uint, mem::MaybeUninit, ptr};

use netbench_tls::{
    CipherSuite, CipherSuiteFacts, Group, GroupKind, Negotiated, SignatureScheme, TlsVersion,
};
use netbench_worker::{Owned, alpn_text, der_length};

use crate::{
    ech,
    ffi::{self, ChannelInfo, FileDesc, length},
};

/// Returns the negotiated parameters according to one side of a finished handshake.
pub(crate) fn negotiated(fd: FileDesc) -> Negotiated {
    let Some(info) = channel_info(fd) else {
        return Negotiated::default();
    };
    let resumed = info.resumed != 0;
    let version = TlsVersion::of(info.version);
    let suite = CipherSuite(info.suite);
    // A resumed session of TLS 1.2 has no key exchange, and a session with DHE has a prime and no group.
    let is_tls13 = version == Some(TlsVersion::Tls13);
    let is_agreed =
        |group: &Group| is_tls13 || (!resumed && group.kind() != Some(GroupKind::Ffdhe));
    // A server that decrypts with its RSA key signs nothing, and for a resumed session the library reports
    // the old signature.
    let is_signed = !resumed && suite.facts().is_some_and(CipherSuiteFacts::is_signed);
    Negotiated {
        ech: ech::status(info.ech_accepted),
        early_data: None,
        version,
        suite: Some(suite),
        group: known(info.group).map(Group).filter(is_agreed),
        signature: known(info.signature)
            .filter(|_| is_signed)
            .map(SignatureScheme),
        alpn: alpn_text(alpn(fd)),
        resumed,
        chain_bytes: if resumed { Vec::new() } else { peer_chain(fd) },
    }
}

/// Returns a code point, where the library has one: its own values for none and for others are outside the
/// range of the registries.
fn known(code: c_uint) -> Option<u16> {
    u16::try_from(code).ok().filter(|code| *code != 0)
}

fn channel_info(fd: FileDesc) -> Option<ChannelInfo> {
    let mut info = MaybeUninit::<ChannelInfo>::zeroed();
    let bytes = length(size_of::<ChannelInfo>());
    // SAFETY: the session is alive; the library fills as many bytes, for which zeros are valid too.
    unsafe {
        (ffi::SSL_GetChannelInfo(fd, info.as_mut_ptr(), bytes) == ffi::SUCCESS)
            .then(|| info.assume_init())
    }
}

/// Returns whether an earlier session was resumed.
pub(crate) fn is_resumed(fd: FileDesc) -> bool {
    channel_info(fd).is_some_and(|info| info.resumed != 0)
}

/// Returns whether a session is of TLS 1.3.
pub(crate) fn is_tls13(fd: FileDesc) -> bool {
    channel_info(fd).is_some_and(|info| info.version == TlsVersion::Tls13.code())
}

/// Returns the negotiated application protocol.
pub(crate) fn alpn(fd: FileDesc) -> Option<Vec<u8>> {
    let mut name = [0; 255];
    let (mut state, mut len) = (0, 0);
    let most = length(name.len());
    // SAFETY: the session is alive, and the places for the results live longer than the call.
    let status =
        unsafe { ffi::SSL_GetNextProto(fd, &raw mut state, name.as_mut_ptr(), &raw mut len, most) };
    let agreed = matches!(state, ffi::NEXT_PROTO_NEGOTIATED | ffi::NEXT_PROTO_SELECTED);
    (status == ffi::SUCCESS && agreed)
        .then(|| name.get(..len as usize).unwrap_or_default().to_vec())
}

/// Returns the size of each certificate that the peer sent.
fn peer_chain(fd: FileDesc) -> Vec<u32> {
    peer_certificates(fd, |chain| {
        let chain = chain.iter();
        // SAFETY: the certificates are alive.
        let ders = chain.map(|certificate| unsafe { (**certificate).der.bytes() });
        ders.map(der_length).collect()
    })
}

/// Calls `look` with the certificates that the peer sent, the leaf first.
pub(crate) fn peer_certificates<T>(fd: FileDesc, look: impl FnOnce(&[ffi::Certificate]) -> T) -> T {
    let mut chain = Vec::new();
    // SAFETY: the session is alive; the list is a ring that begins and ends with itself, and belongs to the caller.
    let _list = unsafe {
        let list = ffi::SSL_PeerCertificateChain(fd);
        if !list.is_null() {
            let mut node = (*list).next;
            while !ptr::eq(node, list) {
                chain.push((*node).certificate);
                node = (*node).next;
            }
        }
        (!list.is_null()).then(|| Owned::new(list))
    };
    look(&chain)
}
