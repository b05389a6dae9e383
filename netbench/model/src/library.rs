use crate::{StackName, named::words};

words!(
    /// A library for which the advice differs from the general advice.
    Library, {
        /// rustls, with any provider except ring.
        Rustls = "rustls",
        /// rustls with ring, which has fewer algorithms.
        RustlsRing = "rustls-ring",
        /// OpenSSL.
        Openssl = "openssl",
        /// BoringSSL.
        Boringssl = "boringssl",
        /// Go's crypto/tls.
        Go = "go",
    }
);

impl Library {
    /// Returns the library of a stack, whatever its version, variant and copy, or `None` for a stack without
    /// library-specific advice.
    pub fn of(stack: &StackName) -> Option<Self> {
        let name = stack.stack();
        let base = name.split(['@', '+']).next().unwrap_or(name);
        match base {
            "servo" | "reqwest" | "rustls" => Some(Self::Rustls),
            "openssl" | "openssl-system" | "native-tls" | "reqwest-native-tls" => {
                Some(Self::Openssl)
            }
            "boringssl" => Some(Self::Boringssl),
            "go" => Some(Self::Go),
            _ if base.starts_with("rustls-ring") => Some(Self::RustlsRing),
            _ if base.starts_with("rustls-") => Some(Self::Rustls),
            _ => None,
        }
    }

    /// Returns the library whose advice applies if this library has no advice.
    pub fn base(self) -> Self {
        match self {
            Self::RustlsRing => Self::Rustls,
            other => other,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stack_has_the_library_of_its_base() {
        for (stack, library) in [
            ("rustls-aws-lc", Some(Library::Rustls)),
            ("rustls-aws-lc+nojitter#2", Some(Library::Rustls)),
            ("rustls@0.21", Some(Library::Rustls)),
            ("rustls-openssl", Some(Library::Rustls)),
            ("rustls-ring#2", Some(Library::RustlsRing)),
            ("reqwest", Some(Library::Rustls)),
            ("servo+webpki-roots", Some(Library::Rustls)),
            ("openssl@1.1.1", Some(Library::Openssl)),
            ("reqwest-native-tls", Some(Library::Openssl)),
            ("go", Some(Library::Go)),
            ("boringssl", Some(Library::Boringssl)),
            ("gnutls", None),
            ("google", None),
            ("mine", None),
        ] {
            assert_eq!(Library::of(&StackName::new(stack)), library, "{stack}");
        }
    }
}
