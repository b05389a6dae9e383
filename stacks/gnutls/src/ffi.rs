//! The used part of the library's headers, from GnuTLS 3.7.

use std::{
    ffi::{CStr, c_char, c_int, c_uchar, c_uint, c_void},
    mem, ptr, slice,
    sync::Once,
};

use netbench_worker::{CObject, StaticText};

/// Declares objects of the library, pointers to them, and the functions that free them.
macro_rules! objects {
    ($($name:ident: $pointer:ident, $free:expr;)*) => {$(
        #[repr(C)]
        pub(crate) struct $name {
            _private: [u8; 0],
        }
        pub(crate) type $pointer = *mut $name;

        // SAFETY: the library keeps no state of its objects in its threads, and only reads those that sessions share.
        unsafe impl CObject for $name {
            unsafe fn free(object: $pointer) {
                // SAFETY: the caller guarantees it.
                unsafe { $free(object) }
            }
        }
    )*};
}

objects!(
    SessionInt: Session, gnutls_deinit;
    CredentialsInt: Credentials, gnutls_certificate_free_credentials;
    PriorityInt: Priority, gnutls_priority_deinit;
    DhParamsInt: DhParams, gnutls_dh_params_deinit;
    CertificateInt: Certificate, gnutls_x509_crt_deinit;
    CrlInt: Crl, gnutls_x509_crl_deinit;
    // With 1, the contents of the list are freed too.
    TrustListInt: TrustList, |list| gnutls_x509_trust_list_deinit(list, 1);
    PrivateKeyInt: PrivateKey, gnutls_privkey_deinit;
    PublicKeyInt: PublicKey, gnutls_pubkey_deinit;
    AeadInt: Aead, gnutls_aead_cipher_deinit;
);

/// `gnutls_datum_t`.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub(crate) struct Datum {
    pub(crate) data: *mut c_uchar,
    pub(crate) size: c_uint,
}

impl Datum {
    pub(crate) const EMPTY: Self = Self {
        data: ptr::null_mut(),
        size: 0,
    };

    /// Makes a datum that the library only reads.
    pub(crate) fn of(bytes: &[u8]) -> Self {
        Self {
            data: bytes.as_ptr().cast_mut(),
            size: c_uint::try_from(bytes.len()).unwrap_or(c_uint::MAX),
        }
    }

    /// Returns the bytes.
    ///
    /// # Safety
    /// The library has filled the datum, and its data live as long as `'a`.
    pub(crate) unsafe fn bytes<'a>(self) -> &'a [u8] {
        if self.data.is_null() {
            return &[];
        }
        // SAFETY: the caller guarantees it.
        unsafe { slice::from_raw_parts(self.data, self.size as usize) }
    }

    /// Copies the library's allocation, and frees it.
    ///
    /// # Safety
    /// The library has allocated it, and no other code frees it.
    pub(crate) unsafe fn into_vec(self) -> Vec<u8> {
        // SAFETY: the caller guarantees it.
        unsafe {
            let bytes = self.bytes().to_vec();
            gnutls_free(self.data.cast());
            bytes
        }
    }
}

/// `gnutls_typed_vdata_st`.
#[repr(C)]
pub(crate) struct TypedData {
    pub(crate) kind: c_uint,
    pub(crate) data: *mut c_uchar,
    pub(crate) size: c_uint,
}

pub(crate) const E_FATAL_ALERT_RECEIVED: c_int = -12;
pub(crate) const E_AGAIN: c_int = -28;
pub(crate) const E_REHANDSHAKE: c_int = -37;
pub(crate) const E_CERTIFICATE_ERROR: c_int = -43;
pub(crate) const E_INTERRUPTED: c_int = -52;
pub(crate) const E_PUSH_ERROR: c_int = -53;
pub(crate) const E_PULL_ERROR: c_int = -54;
pub(crate) const E_PREMATURE_TERMINATION: c_int = -110;

pub(crate) const SERVER: c_uint = 1;
pub(crate) const CLIENT: c_uint = 1 << 1;
pub(crate) const NONBLOCK: c_uint = 1 << 3;
pub(crate) const NO_TICKETS: c_uint = 1 << 10;
pub(crate) const KEY_SHARE_TOP: c_uint = 1 << 11;
pub(crate) const NO_AUTO_SEND_TICKET: c_uint = 1 << 21;

pub(crate) const AL_FATAL: c_int = 2;

pub(crate) const CRD_CERTIFICATE: c_int = 1;
pub(crate) const CERT_REQUIRE: c_int = 2;
pub(crate) const CERTIFICATE_API_V2: c_uint = 1 << 1;
pub(crate) const CERTIFICATE_SKIP_OCSP_RESPONSE_CHECK: c_uint = 1 << 2;
pub(crate) const X509_FMT_DER: c_int = 0;
pub(crate) const X509_FMT_PEM: c_int = 1;
pub(crate) const CRT_X509: c_int = 1;
pub(crate) const NAME_DNS: c_int = 1;
pub(crate) const DT_DNS_HOSTNAME: c_uint = 1;
pub(crate) const DT_KEY_PURPOSE_OID: c_uint = 2;
pub(crate) const ALPN_MANDATORY: c_uint = 1;
pub(crate) const ALPN_SERVER_PRECEDENCE: c_uint = 1 << 1;
pub(crate) const SHUT_WR: c_int = 1;
pub(crate) const HANDSHAKE_NEW_SESSION_TICKET: c_uint = 4;
pub(crate) const HOOK_POST: c_int = 1;

pub(crate) type VerifyFunction = extern "C" fn(Session) -> c_int;
pub(crate) type HookFunction =
    extern "C" fn(Session, c_uint, c_uint, c_uint, *const Datum) -> c_int;
pub(crate) type PullFunction = extern "C" fn(*mut c_void, *mut c_void, usize) -> isize;
pub(crate) type PushFunction = extern "C" fn(*mut c_void, *const libc::iovec, c_int) -> isize;
pub(crate) type PullTimeoutFunction = extern "C" fn(*mut c_void, c_uint) -> c_int;
pub(crate) type StoreFunction = extern "C" fn(*mut c_void, Datum, Datum) -> c_int;
pub(crate) type RetrieveFunction = extern "C" fn(*mut c_void, Datum) -> Datum;
pub(crate) type RemoveFunction = extern "C" fn(*mut c_void, Datum) -> c_int;
pub(crate) type TimeFunction = extern "C" fn(*mut libc::time_t) -> libc::time_t;

unsafe extern "C" {
    pub(crate) static gnutls_malloc: extern "C" fn(usize) -> *mut c_void;
    pub(crate) static gnutls_free: extern "C" fn(*mut c_void);

    safe fn gnutls_global_init() -> c_int;
    pub(crate) fn gnutls_check_version(required: *const c_char) -> StaticText;
    pub(crate) safe fn gnutls_global_set_time_function(now: TimeFunction);
    pub(crate) safe fn gnutls_strerror(error: c_int) -> StaticText;
    pub(crate) safe fn gnutls_strerror_name(error: c_int) -> StaticText;
    pub(crate) safe fn gnutls_error_is_fatal(error: c_int) -> c_int;

    pub(crate) safe fn gnutls_cipher_suite_info(
        index: usize,
        id: &mut [u8; 2],
        kx: &mut c_int,
        cipher: &mut c_int,
        mac: &mut c_int,
        oldest: &mut c_int,
    ) -> StaticText;
    pub(crate) safe fn gnutls_kx_get_name(kx: c_int) -> StaticText;
    pub(crate) safe fn gnutls_cipher_get_name(cipher: c_int) -> StaticText;
    pub(crate) safe fn gnutls_mac_get_name(mac: c_int) -> StaticText;
    pub(crate) safe fn gnutls_group_get_name(group: c_int) -> StaticText;
    pub(crate) safe fn gnutls_sign_get_name(scheme: c_int) -> StaticText;
    pub(crate) fn gnutls_priority_init(
        priority: *mut Priority,
        words: *const c_char,
        bad: *mut *const c_char,
    ) -> c_int;
    pub(crate) fn gnutls_priority_deinit(priority: Priority);
    pub(crate) fn gnutls_priority_get_cipher_suite_index(
        priority: Priority,
        index: c_uint,
        suite: *mut c_uint,
    ) -> c_int;

    pub(crate) safe fn gnutls_certificate_allocate_credentials(made: &mut Credentials) -> c_int;
    pub(crate) fn gnutls_certificate_free_credentials(credentials: Credentials);
    pub(crate) fn gnutls_certificate_set_flags(credentials: Credentials, flags: c_uint);
    pub(crate) fn gnutls_certificate_set_dh_params(credentials: Credentials, params: DhParams);
    pub(crate) safe fn gnutls_dh_params_init(params: &mut DhParams) -> c_int;
    pub(crate) fn gnutls_dh_params_deinit(params: DhParams);
    pub(crate) fn gnutls_dh_params_import_pkcs3(
        params: DhParams,
        data: *const Datum,
        format: c_int,
    ) -> c_int;
    pub(crate) fn gnutls_certificate_set_verify_function(
        credentials: Credentials,
        verify: VerifyFunction,
    );
    pub(crate) fn gnutls_certificate_set_x509_trust_mem(
        credentials: Credentials,
        roots: *const Datum,
        format: c_int,
    ) -> c_int;
    pub(crate) fn gnutls_certificate_set_x509_trust_file(
        credentials: Credentials,
        path: *const c_char,
        format: c_int,
    ) -> c_int;
    pub(crate) fn gnutls_certificate_set_x509_key_mem2(
        credentials: Credentials,
        chain: *const Datum,
        key: *const Datum,
        format: c_int,
        password: *const c_char,
        flags: c_uint,
    ) -> c_int;
    pub(crate) fn gnutls_certificate_set_x509_simple_pkcs12_mem(
        credentials: Credentials,
        file: *const Datum,
        format: c_int,
        password: *const c_char,
    ) -> c_int;
    pub(crate) fn gnutls_certificate_set_ocsp_status_request_mem(
        credentials: Credentials,
        response: *const Datum,
        index: c_uint,
        format: c_int,
    ) -> c_int;

    pub(crate) safe fn gnutls_init(session: &mut Session, flags: c_uint) -> c_int;
    pub(crate) fn gnutls_deinit(session: Session);
    pub(crate) fn gnutls_priority_set(session: Session, priority: Priority) -> c_int;
    pub(crate) fn gnutls_credentials_set(
        session: Session,
        kind: c_int,
        credentials: *mut c_void,
    ) -> c_int;
    pub(crate) fn gnutls_session_set_ptr(session: Session, user: *mut c_void);
    pub(crate) fn gnutls_session_get_ptr(session: Session) -> *mut c_void;
    pub(crate) fn gnutls_transport_set_ptr(session: Session, transport: *mut c_void);
    pub(crate) fn gnutls_transport_set_pull_function(session: Session, pull: PullFunction);
    pub(crate) fn gnutls_transport_set_vec_push_function(session: Session, push: PushFunction);
    pub(crate) fn gnutls_transport_set_pull_timeout_function(
        session: Session,
        wait: PullTimeoutFunction,
    );
    pub(crate) fn gnutls_server_name_set(
        session: Session,
        kind: c_int,
        name: *const c_void,
        bytes: usize,
    ) -> c_int;
    pub(crate) fn gnutls_alpn_set_protocols(
        session: Session,
        protocols: *const Datum,
        count: c_uint,
        flags: c_uint,
    ) -> c_int;
    pub(crate) fn gnutls_alpn_get_selected_protocol(session: Session, name: *mut Datum) -> c_int;
    pub(crate) fn gnutls_record_set_max_size(session: Session, bytes: usize) -> isize;
    pub(crate) fn gnutls_certificate_server_set_request(session: Session, request: c_int);
    pub(crate) fn gnutls_handshake_set_hook_function(
        session: Session,
        message: c_uint,
        when: c_int,
        hook: HookFunction,
    );

    pub(crate) fn gnutls_handshake(session: Session) -> c_int;
    pub(crate) fn gnutls_record_send(session: Session, data: *const c_void, bytes: usize) -> isize;
    pub(crate) fn gnutls_record_recv(session: Session, data: *mut c_void, bytes: usize) -> isize;
    pub(crate) fn gnutls_record_check_pending(session: Session) -> usize;
    pub(crate) fn gnutls_bye(session: Session, how: c_int) -> c_int;
    pub(crate) fn gnutls_alert_get(session: Session) -> c_int;
    pub(crate) fn gnutls_alert_send(session: Session, level: c_int, alert: c_int) -> c_int;
    pub(crate) fn gnutls_alert_send_appropriate(session: Session, error: c_int) -> c_int;

    pub(crate) safe fn gnutls_session_ticket_key_generate(key: &mut Datum) -> c_int;
    pub(crate) fn gnutls_session_ticket_enable_server(session: Session, key: *const Datum)
    -> c_int;
    pub(crate) fn gnutls_session_ticket_send(
        session: Session,
        count: c_uint,
        flags: c_uint,
    ) -> c_int;
    pub(crate) fn gnutls_session_get_data2(session: Session, data: *mut Datum) -> c_int;
    pub(crate) fn gnutls_session_set_data(
        session: Session,
        data: *const c_void,
        bytes: usize,
    ) -> c_int;
    pub(crate) fn gnutls_session_is_resumed(session: Session) -> c_int;
    pub(crate) fn gnutls_db_set_ptr(session: Session, kept: *mut c_void);
    pub(crate) fn gnutls_db_set_store_function(session: Session, store: StoreFunction);
    pub(crate) fn gnutls_db_set_retrieve_function(session: Session, retrieve: RetrieveFunction);
    pub(crate) fn gnutls_db_set_remove_function(session: Session, remove: RemoveFunction);

    pub(crate) fn gnutls_protocol_get_version(session: Session) -> c_int;
    pub(crate) fn gnutls_ciphersuite_get(session: Session) -> StaticText;
    pub(crate) fn gnutls_group_get(session: Session) -> c_int;
    pub(crate) fn gnutls_sign_algorithm_get(session: Session) -> c_int;
    pub(crate) fn gnutls_certificate_get_peers(
        session: Session,
        count: *mut c_uint,
    ) -> *const Datum;
    pub(crate) fn gnutls_certificate_verify_peers(
        session: Session,
        data: *mut TypedData,
        elements: c_uint,
        status: *mut c_uint,
    ) -> c_int;
    pub(crate) safe fn gnutls_certificate_verification_status_print(
        status: c_uint,
        kind: c_int,
        text: &mut Datum,
        flags: c_uint,
    ) -> c_int;

    pub(crate) safe fn gnutls_x509_crt_init(certificate: &mut Certificate) -> c_int;
    pub(crate) fn gnutls_x509_crt_deinit(certificate: Certificate);
    pub(crate) fn gnutls_x509_crt_import(
        certificate: Certificate,
        data: *const Datum,
        format: c_int,
    ) -> c_int;
    pub(crate) safe fn gnutls_x509_crl_init(crl: &mut Crl) -> c_int;
    pub(crate) fn gnutls_x509_crl_deinit(crl: Crl);
    pub(crate) fn gnutls_x509_crl_import(crl: Crl, data: *const Datum, format: c_int) -> c_int;
    pub(crate) safe fn gnutls_x509_trust_list_init(list: &mut TrustList, size: c_uint) -> c_int;
    pub(crate) fn gnutls_x509_trust_list_deinit(list: TrustList, all: c_uint);
    pub(crate) fn gnutls_x509_trust_list_add_trust_mem(
        list: TrustList,
        roots: *const Datum,
        crls: *const Datum,
        format: c_int,
        flags: c_uint,
        verification: c_uint,
    ) -> c_int;
    pub(crate) fn gnutls_x509_trust_list_add_crls(
        list: TrustList,
        crls: *const Crl,
        count: c_uint,
        flags: c_uint,
        verification: c_uint,
    ) -> c_int;
    pub(crate) fn gnutls_x509_trust_list_verify_crt2(
        list: TrustList,
        chain: *mut Certificate,
        count: c_uint,
        data: *mut TypedData,
        elements: c_uint,
        flags: c_uint,
        status: *mut c_uint,
        each: *const c_void,
    ) -> c_int;

    pub(crate) safe fn gnutls_privkey_init(key: &mut PrivateKey) -> c_int;
    pub(crate) fn gnutls_privkey_deinit(key: PrivateKey);
    pub(crate) fn gnutls_privkey_import_x509_raw(
        key: PrivateKey,
        data: *const Datum,
        format: c_int,
        password: *const c_char,
        flags: c_uint,
    ) -> c_int;
    pub(crate) fn gnutls_privkey_sign_data2(
        key: PrivateKey,
        scheme: c_int,
        flags: c_uint,
        data: *const Datum,
        signature: *mut Datum,
    ) -> c_int;
    pub(crate) safe fn gnutls_pubkey_init(key: &mut PublicKey) -> c_int;
    pub(crate) fn gnutls_pubkey_deinit(key: PublicKey);
    pub(crate) fn gnutls_pubkey_import_x509_raw(
        key: PublicKey,
        certificate: *const Datum,
        format: c_int,
        flags: c_uint,
    ) -> c_int;
    pub(crate) fn gnutls_pubkey_verify_data2(
        key: PublicKey,
        scheme: c_int,
        flags: c_uint,
        data: *const Datum,
        signature: *const Datum,
    ) -> c_int;
    pub(crate) fn gnutls_aead_cipher_init(
        made: *mut Aead,
        cipher: c_int,
        key: *const Datum,
    ) -> c_int;
    pub(crate) fn gnutls_aead_cipher_deinit(aead: Aead);
    pub(crate) fn gnutls_aead_cipher_encryptv(
        aead: Aead,
        nonce: *const c_void,
        nonce_bytes: usize,
        authenticated: *const libc::iovec,
        authenticated_count: c_int,
        tag_bytes: usize,
        data: *const libc::iovec,
        data_count: c_int,
        sealed: *mut c_void,
        sealed_bytes: *mut usize,
    ) -> c_int;
    pub(crate) fn gnutls_aead_cipher_decrypt(
        aead: Aead,
        nonce: *const c_void,
        nonce_bytes: usize,
        authenticated: *const c_void,
        authenticated_bytes: usize,
        tag_bytes: usize,
        sealed: *const c_void,
        sealed_bytes: usize,
        opened: *mut c_void,
        opened_bytes: *mut usize,
    ) -> c_int;
}

/// Initializes the library once. Otherwise, the library would do so when it is loaded, before a connector can
/// be timed.
pub(crate) fn ready() {
    static READY: Once = Once::new();
    READY.call_once(|| {
        // A failure here recurs where the library is used.
        let _ = gnutls_global_init();
    });
}

/// Prevents the library's own initialization. It looks for this function when it is loaded
/// (`GNUTLS_SKIP_GLOBAL_INIT` of gnutls/gnutls.h); where the function returns 1, the program initializes it.
#[unsafe(no_mangle)]
extern "C" fn _gnutls_global_init_skip() -> c_int {
    1
}

/// Returns the version of nettle, which has GnuTLS' cryptography, where the loaded one reports it.
pub(crate) fn nettle_version() -> Option<(c_int, c_int)> {
    // SAFETY: nettle's functions of these names have no arguments and return an integer.
    let number = |name: &CStr| unsafe {
        let found = libc::dlsym(libc::RTLD_DEFAULT, name.as_ptr());
        let function: Option<extern "C" fn() -> c_int> = mem::transmute(found);
        function.map(|function| function())
    };
    Some((
        number(c"nettle_version_major")?,
        number(c"nettle_version_minor")?,
    ))
}
