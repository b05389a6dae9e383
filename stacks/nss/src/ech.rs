//! Encrypted ClientHello of clients (RFC 9849), whose functions are experimental.

use std::{
    ffi::{CStr, CString, c_char, c_int, c_uchar, c_uint, c_void},
    mem::MaybeUninit,
};

use netbench_protocol::Ech;
use netbench_tls::EchStatus;
use netbench_worker::{ClientSetup, Probe, SetupError, refused};

use crate::{
    ffi::{self, FileDesc, Item, length},
    library::{Error, checked},
};

/// `SSL_ERROR_ECH_RETRY_WITH_ECH` of sslerr.h: the server rejected, proved the public name and sent configurations.
const RETRY_WITH_ECH: i32 = -12100;

/// `SSL_ERROR_ECH_RETRY_WITHOUT_ECH` of sslerr.h: the same without configurations.
const RETRY_WITHOUT_ECH: i32 = -12099;

const SET_CONFIGS: &CStr = c"SSL_SetClientEchConfigs";
const ENABLE_GREASE: &CStr = c"SSL_EnableTls13GreaseEch";
const GET_RETRY_CONFIGS: &CStr = c"SSL_GetEchRetryConfigs";

// Types of experimental functions (`sslexp.h`).
type SetClientEchConfigs = unsafe extern "C" fn(FileDesc, *const c_uchar, c_uint) -> c_int;
type EnableGreaseEch = unsafe extern "C" fn(FileDesc, c_int) -> c_int;
type GetEchRetryConfigs = unsafe extern "C" fn(FileDesc, *mut Item) -> c_int;

/// Returns one of the library's functions, which requires no initialization.
///
/// # Safety
/// `T` must be the function's type.
unsafe fn function<T: Copy>(name: &CStr) -> Result<T, SetupError> {
    // SAFETY: the caller guarantees it.
    unsafe { ffi::experimental(name) }
        .ok_or_else(|| SetupError::unsupported("no Encrypted ClientHello in this NSS"))
}

/// Returns whether the library has a function.
fn has(name: &CStr) -> bool {
    // SAFETY: the function is not called.
    unsafe { function::<*const c_void>(name) }.is_ok()
}

/// Returns whether the library has Encrypted ClientHello.
pub(crate) fn is_supported() -> bool {
    [SET_CONFIGS, ENABLE_GREASE, GET_RETRY_CONFIGS]
        .into_iter()
        .all(has)
}

/// Sets a client's Encrypted ClientHello at the model of its sessions.
pub(crate) fn set(setup: &ClientSetup<'_>, model: FileDesc) -> Result<(), SetupError> {
    if let Some(list) = setup.ech_configs()? {
        set_configs(&list, model)?;
    }
    if setup.ech == Some(&Ech::Grease) {
        // SAFETY: the type is that of the header, and the socket is alive.
        let status = unsafe {
            let enable_grease: EnableGreaseEch = function(ENABLE_GREASE)?;
            enable_grease(model, 1)
        };
        checked(status).map_err(refused("GREASE of ECH"))?;
    }
    Ok(())
}

fn set_configs(list: &[u8], model: FileDesc) -> Result<(), SetupError> {
    // SAFETY: the type is that of the header, the socket is alive, and the library copies the list.
    let status = unsafe {
        let set_configs: SetClientEchConfigs = function(SET_CONFIGS)?;
        set_configs(model, list.as_ptr(), length(list.len()))
    };
    checked(status).map_err(refused("ECH configurations"))
}

/// Records a rejection, if that is the session's error.
pub(crate) fn watch(error: &Error, fd: FileDesc, probe: &Probe) {
    match error.code {
        RETRY_WITH_ECH => probe.ech_rejected(retry_configs(fd)),
        RETRY_WITHOUT_ECH => probe.ech_rejected(None),
        _ => {}
    }
}

/// The preliminary data of a handshake: `SSLPreliminaryChannelInfo`.
#[repr(C)]
struct PreliminaryInfo {
    length: u32,
    known: u32,
    version: u16,
    suite: u16,
    early_data: [u32; 2],
    early_data_suite: u16,
    peer: [u32; 3],
    ech_accepted: c_int,
    ech_public_name: *const c_char,
}

unsafe extern "C" {
    fn SSL_GetPreliminaryChannelInfo(
        fd: FileDesc,
        info: *mut PreliminaryInfo,
        bytes: c_uint,
    ) -> c_int;
}

/// Returns the name for which a client has to verify the certificate of a server that rejected. The header leaves this to the
/// application's hook: `SSL_AuthCertificate` takes the hidden name even then.
pub(crate) fn name_of_rejection(fd: FileDesc) -> Option<CString> {
    /// `ssl_preinfo_ech`.
    const HAS_ECH: u32 = 1 << 4;
    let mut info = MaybeUninit::<PreliminaryInfo>::zeroed();
    let bytes = length(size_of::<PreliminaryInfo>());
    // SAFETY: the session is alive; the library fills as many bytes, for which zeros are valid too. The name, if there is one,
    // lives as long as the session.
    unsafe {
        checked(SSL_GetPreliminaryChannelInfo(fd, info.as_mut_ptr(), bytes)).ok()?;
        let info = info.assume_init();
        let is_rejected =
            info.known & HAS_ECH != 0 && info.ech_accepted == 0 && !info.ech_public_name.is_null();
        is_rejected.then(|| CStr::from_ptr(info.ech_public_name).to_owned())
    }
}

/// Returns the status by the library's field `echAccepted`.
pub(crate) fn status(accepted: c_int) -> Option<EchStatus> {
    (accepted != 0).then_some(EchStatus::Accepted)
}

/// Returns the configurations that the server sent.
fn retry_configs(fd: FileDesc) -> Option<Vec<u8>> {
    let (mut list, mut configs) = (Item::of(&[]), Vec::new());
    // SAFETY: the type is that of the header, and the session is alive; the library stores a copy of the list in the item.
    unsafe {
        let get_retry_configs: GetEchRetryConfigs = function(GET_RETRY_CONFIGS).ok()?;
        checked(get_retry_configs(fd, &raw mut list)).ok()?;
        list.move_to(&mut configs);
    }
    Some(configs)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        certificates::Roots,
        config::{Config, Kept},
        library::library,
    };

    fn put(bytes: &[u8]) -> Vec<u8> {
        let length = u16::try_from(bytes.len()).expect("a length");
        [&length.to_be_bytes(), bytes].concat()
    }

    /// Returns an ECHConfigList (RFC 9849 section 4) with one configuration of this version.
    fn list(version: u16) -> Vec<u8> {
        let suites = [0, 1, 0, 1];
        let head = [&[7, 0, 0x20], put(&[9; 32]).as_slice(), &put(&suites)].concat();
        let contents = [head.as_slice(), &[64, 11], b"public.test", &put(&[])].concat();
        put(&[&version.to_be_bytes(), put(&contents).as_slice()].concat())
    }

    fn try_it(list: &[u8]) -> Result<(), SetupError> {
        library().map_err(refused("NSS"))?;
        let roots = Roots::of_der(std::iter::empty()).map_err(refused("roots"))?;
        set_configs(list, Config::client(roots, &Kept::default())?.model())
    }

    #[test]
    fn a_list_is_taken_whole_or_not_at_all() {
        let whole = list(0xfe0d);
        try_it(&whole).expect("a list");
        for length in 0..whole.len() {
            let error = try_it(&whole[..length]).expect_err("it was taken");
            let text = error.to_string();
            assert!(text.starts_with("ECH configurations: "), "{text}");
        }
        for bytes in [list(0x7a7a), whole.repeat(2), put(&[0xff; 65_500])] {
            try_it(&bytes).expect_err("it was taken");
        }
    }
}
