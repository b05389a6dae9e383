//! The used part of the headers of NSS and NSPR, from NSS 3.87.

use std::{
    ffi::{CStr, c_char, c_int, c_long, c_uchar, c_uint, c_ulong, c_void},
    ptr, slice,
};

use netbench_worker::StaticText;

macro_rules! opaque {
    ($($name:ident),*) => {$(
        #[repr(C)]
        pub(crate) struct $name {
            _private: [u8; 0],
        }
    )*};
}

pub(crate) use opaque;

opaque!(ArenaStr, CertDb, PrivateKeyStr, SlotStr);

/// Declares the functions that free objects of the library.
macro_rules! freed {
    ($($name:ty: $free:expr;)*) => {$(
        // SAFETY: the library counts references to its objects, locks their mutable state, and keeps none in its threads.
        unsafe impl netbench_worker::CObject for $name {
            unsafe fn free(object: *mut Self) {
                // SAFETY: the caller guarantees it.
                unsafe { $free(object) };
            }
        }
    )*};
}

pub(crate) use freed;

freed!(
    FileDescStr: PR_Close;
    ArenaStr: |arena| PORT_FreeArena(arena, 0);
    SlotStr: PK11_FreeSlot;
    CertificateStr: CERT_DestroyCertificate;
    CertNode: CERT_DestroyCertList;
    PrivateKeyStr: SECKEY_DestroyPrivateKey;
);

/// `SECItem`.
#[repr(C)]
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Item {
    kind: c_uint,
    data: *mut c_uchar,
    len: c_uint,
}

impl Item {
    /// Makes an item that the library only reads.
    pub(crate) fn of(bytes: &[u8]) -> Self {
        Self {
            kind: 0,
            data: bytes.as_ptr().cast_mut(),
            len: length(bytes.len()),
        }
    }

    /// Makes an item that the library may write to.
    pub(crate) fn of_mut(bytes: &mut [u8]) -> Self {
        Self {
            data: bytes.as_mut_ptr(),
            ..Self::of(bytes)
        }
    }

    /// Appends the bytes, which the library has allocated, to `place`, and frees them.
    ///
    /// # Safety
    /// No other code frees them.
    pub(crate) unsafe fn move_to(mut self, place: &mut Vec<u8>) {
        // SAFETY: the caller guarantees it.
        unsafe {
            place.extend_from_slice(self.bytes());
            SECITEM_FreeItem(&raw mut self, 0);
        }
    }

    /// Returns the bytes.
    ///
    /// # Safety
    /// The item's data live as long as `'a`.
    pub(crate) unsafe fn bytes<'a>(&self) -> &'a [u8] {
        if self.data.is_null() {
            return &[];
        }
        // SAFETY: the caller guarantees it.
        unsafe { slice::from_raw_parts(self.data, self.len as usize) }
    }
}

/// Converts a number of bytes or values for the library.
pub(crate) fn length(count: usize) -> c_uint {
    c_uint::try_from(count).unwrap_or(c_uint::MAX)
}

/// `SECItemArray`.
#[repr(C)]
pub(crate) struct ItemArray {
    pub(crate) items: *mut Item,
    pub(crate) len: c_uint,
}

/// `CERTCertificateList`: certificates in DER, the leaf first.
#[repr(C)]
#[derive(Default)]
pub(crate) struct DerChain {
    pub(crate) certificates: *mut Item,
    pub(crate) len: c_int,
    /// The arena, into which the library copies the list.
    pub(crate) arena: *mut c_void,
}

/// The beginning of `CERTCertificateStr`, which only the library makes.
#[repr(C)]
pub(crate) struct CertificateStr {
    arena: *mut c_void,
    subject_name: *mut c_char,
    issuer_name: *mut c_char,
    /// `CERTSignedData`.
    signature: [Item; 4],
    pub(crate) der: Item,
}

/// `CERTCertListNode`, and the beginning of `CERTCertList`, which has the same fields.
#[repr(C)]
pub(crate) struct CertNode {
    pub(crate) next: *mut CertNode,
    previous: *mut CertNode,
    pub(crate) certificate: Certificate,
}

/// `CERTCertTrust`.
#[repr(C)]
#[derive(Default)]
pub(crate) struct Trust {
    pub(crate) ssl: c_uint,
    pub(crate) email: c_uint,
    pub(crate) object_signing: c_uint,
}

/// `CERTVerifyLog`: all errors of a chain.
#[repr(C)]
#[derive(Default)]
pub(crate) struct VerifyLog {
    pub(crate) arena: *mut ArenaStr,
    pub(crate) count: c_uint,
    pub(crate) first: *mut VerifyLogNode,
    pub(crate) last: *mut VerifyLogNode,
}

/// `CERTVerifyLogNode`.
#[repr(C)]
pub(crate) struct VerifyLogNode {
    /// The certificate, whose reference the owner of the log releases.
    pub(crate) certificate: Certificate,
    pub(crate) error: c_long,
    pub(crate) depth: c_uint,
    argument: *mut c_void,
    pub(crate) next: *mut VerifyLogNode,
    previous: *mut VerifyLogNode,
}

/// `SSLExtraServerCertData`.
#[repr(C)]
#[derive(Default)]
pub(crate) struct ExtraServerCert {
    pub(crate) authentication: c_uint,
    /// The whole chain that is sent: `sslt.h` calls it the remainder, and the library sends it
    /// unchanged.
    pub(crate) chain: *const DerChain,
    pub(crate) stapled: *const ItemArray,
    pub(crate) timestamps: *const Item,
    pub(crate) delegated: *const Item,
    pub(crate) delegated_key: *const PrivateKeyStr,
}

/// `SSLVersionRange`.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct VersionRange {
    pub(crate) min: u16,
    pub(crate) max: u16,
}

/// `SSLAlert`.
#[repr(C)]
pub(crate) struct AlertStr {
    pub(crate) level: u8,
    pub(crate) description: u8,
}

/// `SSLChannelInfo` as far as its `echAccepted`.
#[repr(C)]
#[derive(Clone, Copy)]
pub(crate) struct ChannelInfo {
    length: u32,
    pub(crate) version: u16,
    pub(crate) suite: u16,
    key_bits: [u32; 2],
    times: [u32; 3],
    session_id_length: u32,
    session_id: [u8; 32],
    compression_name: *const c_char,
    compression: c_uint,
    extended_master_secret: c_int,
    early_data: c_int,
    key_exchange: c_uint,
    pub(crate) group: c_uint,
    cipher: c_uint,
    mac: c_uint,
    authentication: c_uint,
    pub(crate) signature: c_uint,
    original_group: c_uint,
    pub(crate) resumed: c_int,
    delegated_credential: c_int,
    psk: c_uint,
    pub(crate) ech_accepted: c_int,
}

/// `PRFileDesc`.
#[repr(C)]
pub(crate) struct FileDescStr {
    pub(crate) methods: *const IoMethods,
    pub(crate) secret: *mut c_void,
    lower: FileDesc,
    higher: FileDesc,
    pub(crate) destroy: Option<extern "C" fn(FileDesc)>,
    identity: c_int,
}

/// A function of a layer that is not called, or does nothing.
pub(crate) type OtherMethod = extern "C" fn(FileDesc) -> c_int;

/// `PRIOMethods`.
#[repr(C)]
pub(crate) struct IoMethods {
    pub(crate) kind: c_uint,
    pub(crate) close: extern "C" fn(FileDesc) -> c_int,
    pub(crate) from_read_to_listen: [OtherMethod; 14],
    pub(crate) shutdown: extern "C" fn(FileDesc, c_int) -> c_int,
    pub(crate) recv: extern "C" fn(FileDesc, *mut c_void, i32, c_int, u32) -> i32,
    pub(crate) send: extern "C" fn(FileDesc, *const c_void, i32, c_int, u32) -> i32,
    pub(crate) from_recvfrom_to_getsockname: [OtherMethod; 6],
    pub(crate) getpeername: extern "C" fn(FileDesc, *mut InetAddress) -> c_int,
    pub(crate) reserved: [OtherMethod; 2],
    pub(crate) getsocketoption: extern "C" fn(FileDesc, *mut SocketOption) -> c_int,
    pub(crate) setsocketoption: extern "C" fn(FileDesc, *const SocketOption) -> c_int,
    pub(crate) from_sendfile: [OtherMethod; 6],
}

/// The `inet` of `PRNetAddr`.
#[repr(C)]
pub(crate) struct InetAddress {
    pub(crate) family: u16,
    pub(crate) port: u16,
    pub(crate) ip: [u8; 4],
    pub(crate) pad: [u8; 8],
}

/// `PRSocketOptionData`, with the members of its union that are used.
#[repr(C)]
pub(crate) struct SocketOption {
    pub(crate) option: c_uint,
    pub(crate) value: SocketValue,
}

#[repr(C)]
pub(crate) union SocketValue {
    pub(crate) non_blocking: c_int,
    /// The union has the size and alignment of its widest member.
    _size: usize,
}

pub(crate) type FileDesc = *mut FileDescStr;
pub(crate) type Certificate = *mut CertificateStr;
pub(crate) type PrivateKey = *mut PrivateKeyStr;

pub(crate) const SUCCESS: c_int = 0;
pub(crate) const FAILURE: c_int = -1;

pub(crate) const PR_DESC_LAYERED: c_uint = 4;
pub(crate) const PR_AF_INET: u16 = 2;
pub(crate) const PR_SOCK_OPT_NONBLOCKING: c_uint = 0;
pub(crate) const PR_SHUTDOWN_SEND: c_int = 1;
pub(crate) const PR_WOULD_BLOCK_ERROR: i32 = -5998;
pub(crate) const PR_IO_ERROR: i32 = -5991;
pub(crate) const PR_INVALID_METHOD_ERROR: i32 = -5983;
pub(crate) const PR_END_OF_FILE_ERROR: i32 = -5938;
pub(crate) const SEC_ERROR_INADEQUATE_KEY_USAGE: i32 = -8102;
pub(crate) const SSL_ERROR_BAD_CERT_DOMAIN: i32 = -12276;

pub(crate) const SSL_REQUEST_CERTIFICATE: i32 = 3;
pub(crate) const SSL_NO_CACHE: i32 = 9;
pub(crate) const SSL_REQUIRE_CERTIFICATE: i32 = 10;
pub(crate) const SSL_ENABLE_SESSION_TICKETS: i32 = 18;
pub(crate) const SSL_ENABLE_OCSP_STAPLING: i32 = 24;
pub(crate) const SSL_RECORD_SIZE_LIMIT: i32 = 34;
pub(crate) const SSL_ENABLE_TLS13_COMPAT_MODE: i32 = 35;

pub(crate) const CERTDB_VALID_CA: c_uint = 1 << 3;
pub(crate) const CERTDB_TRUSTED_CA: c_uint = 1 << 4;
pub(crate) const CERTDB_TRUSTED_CLIENT_CA: c_uint = 1 << 7;
pub(crate) const CERT_USAGE_SSL_SERVER: c_uint = 1;
pub(crate) const CERT_TIME_NOT_VALID_YET: c_uint = 2;
/// `KU_ALL`: the allowed uses of an imported key.
pub(crate) const KU_ALL: c_uint = 0xff;
pub(crate) const ALERT_LEVEL_FATAL: u8 = 2;
pub(crate) const NEXT_PROTO_NEGOTIATED: c_uint = 1;
pub(crate) const NEXT_PROTO_SELECTED: c_uint = 3;

pub(crate) type AuthCertificate =
    extern "C" fn(*mut c_void, FileDesc, check_signature: c_int, is_server: c_int) -> c_int;
pub(crate) type ClientAuthData = extern "C" fn(
    *mut c_void,
    FileDesc,
    names: *mut c_void,
    *mut Certificate,
    *mut PrivateKey,
) -> c_int;
pub(crate) type AlertCallback = extern "C" fn(FileDesc, *mut c_void, *const AlertStr);

// Types of experimental functions, which the library provides by name (`sslexp.h`).
pub(crate) type TokenCallback =
    extern "C" fn(FileDesc, token: *const c_uchar, len: c_uint, *mut c_void) -> c_int;
pub(crate) type SetTokenCallback =
    unsafe extern "C" fn(FileDesc, TokenCallback, *mut c_void) -> c_int;
pub(crate) type SetToken = unsafe extern "C" fn(FileDesc, *const c_uchar, c_uint) -> c_int;
pub(crate) type SendTicket = unsafe extern "C" fn(FileDesc, *const c_uchar, c_uint) -> c_int;
pub(crate) type SetSuites = unsafe extern "C" fn(FileDesc, *const u16, c_uint) -> c_int;

unsafe extern "C" {
    pub(crate) fn PR_GetUniqueIdentity(name: *const c_char) -> c_int;
    pub(crate) fn PR_CreateIOLayerStub(identity: c_int, methods: *const IoMethods) -> FileDesc;
    pub(crate) fn PR_Close(fd: FileDesc) -> c_int;
    pub(crate) fn PR_Read(fd: FileDesc, buffer: *mut c_void, bytes: i32) -> i32;
    pub(crate) fn PR_Write(fd: FileDesc, buffer: *const c_void, bytes: i32) -> i32;
    pub(crate) fn PR_Shutdown(fd: FileDesc, how: c_int) -> c_int;
    pub(crate) safe fn PR_GetError() -> i32;
    pub(crate) safe fn PR_SetError(code: i32, system: i32);
    pub(crate) safe fn PR_ErrorToName(code: i32) -> StaticText;
    pub(crate) safe fn PR_ErrorToString(code: i32, language: u32) -> StaticText;
    pub(crate) safe fn PR_Now() -> i64;

    // The headers rename these functions.
    #[link_name = "PORT_NewArena_Util"]
    pub(crate) fn PORT_NewArena(chunk: c_ulong) -> *mut ArenaStr;
    #[link_name = "PORT_FreeArena_Util"]
    pub(crate) fn PORT_FreeArena(arena: *mut ArenaStr, zero: c_int);
    #[link_name = "SECITEM_FreeItem_Util"]
    pub(crate) fn SECITEM_FreeItem(item: *mut Item, with_item: c_int);

    pub(crate) safe fn NSS_GetVersion() -> StaticText;
    pub(crate) fn NSS_VersionCheck(oldest: *const c_char) -> c_int;
    pub(crate) fn NSS_NoDB_Init(folder: *const c_char) -> c_int;
    pub(crate) fn NSS_SetDomesticPolicy() -> c_int;

    pub(crate) safe fn CERT_GetDefaultCertDB() -> *mut CertDb;
    pub(crate) fn CERT_NewTempCertificate(
        db: *mut CertDb,
        der: *mut Item,
        nickname: *mut c_char,
        permanent: c_int,
        copy: c_int,
    ) -> Certificate;
    pub(crate) fn CERT_DupCertificate(certificate: Certificate) -> Certificate;
    pub(crate) fn CERT_DestroyCertificate(certificate: Certificate);
    pub(crate) fn CERT_ChangeCertTrust(
        db: *mut CertDb,
        certificate: Certificate,
        trust: *mut Trust,
    ) -> c_int;
    pub(crate) fn CERT_VerifyCert(
        db: *mut CertDb,
        certificate: Certificate,
        check_signature: c_int,
        usage: c_uint,
        time: i64,
        pin: *mut c_void,
        log: *mut VerifyLog,
    ) -> c_int;
    pub(crate) fn CERT_VerifyCertName(certificate: Certificate, host: *const c_char) -> c_int;
    pub(crate) fn CERT_CheckCertValidTimes(
        certificate: Certificate,
        time: i64,
        allow: c_int,
    ) -> c_uint;
    pub(crate) fn CERT_CacheCRL(db: *mut CertDb, crl: *mut Item) -> c_int;
    pub(crate) fn CERT_UncacheCRL(db: *mut CertDb, crl: *mut Item) -> c_int;
    pub(crate) fn CERT_OCSPCacheSettings(entries: i32, soonest: u32, latest: u32) -> c_int;
    pub(crate) fn CERT_DestroyCertList(list: *mut CertNode);

    pub(crate) fn PK11_GetInternalSlot() -> *mut SlotStr;
    pub(crate) fn PK11_FreeSlot(slot: *mut SlotStr);
    pub(crate) fn PK11_ImportDERPrivateKeyInfoAndReturnKey(
        slot: *mut SlotStr,
        pkcs8: *mut Item,
        nickname: *mut Item,
        public: *mut Item,
        permanent: c_int,
        private: c_int,
        usage: c_uint,
        key: *mut PrivateKey,
        pin: *mut c_void,
    ) -> c_int;
    pub(crate) fn SECKEY_CopyPrivateKey(key: PrivateKey) -> PrivateKey;
    pub(crate) fn SECKEY_DestroyPrivateKey(key: PrivateKey);

    pub(crate) safe fn SSL_GetImplementedCiphers() -> *const u16;
    pub(crate) safe fn SSL_GetNumImplementedCiphers() -> u16;
    pub(crate) fn SSL_GetExperimentalAPI(name: *const c_char) -> *mut c_void;
    pub(crate) fn SSL_ImportFD(model: FileDesc, fd: FileDesc) -> FileDesc;
    pub(crate) fn SSL_OptionSet(fd: FileDesc, option: i32, value: isize) -> c_int;
    pub(crate) fn SSL_VersionRangeSet(fd: FileDesc, range: *const VersionRange) -> c_int;
    pub(crate) fn SSL_NamedGroupConfig(fd: FileDesc, groups: *const c_uint, count: c_uint)
    -> c_int;
    pub(crate) fn SSL_SendAdditionalKeyShares(fd: FileDesc, count: c_uint) -> c_int;
    pub(crate) fn SSL_SignatureSchemePrefSet(
        fd: FileDesc,
        schemes: *const c_uint,
        count: c_uint,
    ) -> c_int;
    pub(crate) fn SSL_SetNextProtoNego(fd: FileDesc, names: *const c_uchar, len: c_uint) -> c_int;
    pub(crate) fn SSL_GetNextProto(
        fd: FileDesc,
        state: *mut c_uint,
        name: *mut c_uchar,
        len: *mut c_uint,
        most: c_uint,
    ) -> c_int;
    pub(crate) fn SSL_SetURL(fd: FileDesc, host: *const c_char) -> c_int;
    pub(crate) fn SSL_SetSockPeerID(fd: FileDesc, id: *const c_char) -> c_int;
    pub(crate) fn SSL_AuthCertificateHook(
        fd: FileDesc,
        hook: AuthCertificate,
        user: *mut c_void,
    ) -> c_int;
    pub(crate) fn SSL_AuthCertificate(
        db: *mut c_void,
        fd: FileDesc,
        check_signature: c_int,
        is_server: c_int,
    ) -> c_int;
    pub(crate) fn SSL_GetClientAuthDataHook(
        fd: FileDesc,
        hook: ClientAuthData,
        user: *mut c_void,
    ) -> c_int;
    pub(crate) fn SSL_AlertReceivedCallback(
        fd: FileDesc,
        callback: AlertCallback,
        user: *mut c_void,
    ) -> c_int;
    pub(crate) fn SSL_ConfigServerCert(
        fd: FileDesc,
        certificate: Certificate,
        key: PrivateKey,
        extra: *const ExtraServerCert,
        bytes: c_uint,
    ) -> c_int;
    pub(crate) fn SSL_ConfigServerSessionIDCache(
        entries: c_int,
        unused: u32,
        seconds: u32,
        folder: *const c_char,
    ) -> c_int;
    pub(crate) fn SSL_ResetHandshake(fd: FileDesc, as_server: c_int) -> c_int;
    pub(crate) fn SSL_ForceHandshake(fd: FileDesc) -> c_int;
    pub(crate) fn SSL_DataPending(fd: FileDesc) -> c_int;
    pub(crate) fn SSL_GetChannelInfo(fd: FileDesc, info: *mut ChannelInfo, bytes: c_uint) -> c_int;
    pub(crate) fn SSL_PeerCertificateChain(fd: FileDesc) -> *mut CertNode;
}

/// Returns an experimental function, as a pointer that is as wide as `T`.
///
/// # Safety
/// `T` must be the function's type.
pub(crate) unsafe fn experimental<T: Copy>(name: &CStr) -> Option<T> {
    // SAFETY: the library only reads the name.
    let found = unsafe { SSL_GetExperimentalAPI(name.as_ptr()) };
    // SAFETY: the caller guarantees the type, for a pointer of that width.
    (!found.is_null() && size_of::<T>() == size_of::<*mut c_void>())
        .then(|| unsafe { ptr::from_ref(&found).cast::<T>().read() })
}
