//! ECDSA and DSA (FIPS 186-4 sections 4.6 and 6.4) for signatures that aws-lc-rs does not support: P-256 with any
//! hash, P-192, and DSA. The code is slow and takes a time that depends on the key: it is only for test
//! certificates.

use num_bigint::BigUint;

use super::{der, digest::Digest, padded, pem_body};

/// A curve whose coefficient `a` is -3, by its numbers in hexadecimal (FIPS 186-4 appendix D.1.2).
pub(super) struct Curve {
    prime: &'static str,
    order: &'static str,
    base: [&'static str; 2],
    pub(super) oid: &'static [u32],
}

pub(super) const P192: Curve = Curve {
    prime: "fffffffffffffffffffffffffffffffeffffffffffffffff",
    order: "ffffffffffffffffffffffff99def836146bc9b1b4d22831",
    base: [
        "188da80eb03090f67cbf20eb43a18800f4ff0afd82ff1012",
        "07192b95ffc8da78631011ed6b24cdd573f977a11e794811",
    ],
    oid: &[1, 2, 840, 10045, 3, 1, 1],
};

pub(super) const P256: Curve = Curve {
    prime: "ffffffff00000001000000000000000000000000ffffffffffffffffffffffff",
    order: "ffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551",
    base: [
        "6b17d1f2e12c4247f8bce6e563a440f277037d812deb33a0f4a13945d898c296",
        "4fe342e2fe1a7f9b8ee7eb4a7c0f9e162bce33576b315ececbb6406837bf51f5",
    ],
    oid: &[1, 2, 840, 10045, 3, 1, 7],
};

impl Curve {
    /// Returns the ECDSA signature by the private key `secret`, as DER. Returns `None` if a number is zero, which
    /// never happens.
    pub(super) fn sign(&self, secret: &[u8], digest: Digest, message: &[u8]) -> Option<Vec<u8>> {
        sign(&number(self.order)?, secret, digest, message, |nonce| {
            Some(self.times_base(nonce)?.x)
        })
    }

    /// Returns the public key of `secret`, as an uncompressed point (SEC 1 section 2.3.3).
    pub(super) fn public(&self, secret: &[u8]) -> Option<Vec<u8>> {
        let point = self.times_base(&BigUint::from_bytes_be(secret))?;
        let bytes = self.prime.len() / 2;
        let [x, y] = [point.x, point.y].map(|number| padded(&number, bytes));
        Some([&[4], x.as_slice(), &y].concat())
    }

    fn times_base(&self, scalar: &BigUint) -> Option<Point> {
        let [x, y] = self.base.map(number);
        times(scalar, &Point { x: x?, y: y? }, &number(self.prime)?)
    }
}

/// A DSA key.
#[derive(Debug)]
pub(super) struct DsaKey {
    prime: BigUint,
    order: BigUint,
    base: BigUint,
    secret: Vec<u8>,
    /// Dss-Parms and DSAPublicKey (RFC 3279 section 2.3.2).
    pub(super) parameters: Vec<u8>,
    pub(super) public: Vec<u8>,
}

impl DsaKey {
    /// Reads a key in the format of `openssl dsa -traditional`.
    pub(super) fn of_pem(pem: &str) -> Option<Self> {
        let der = pem_body(pem)?;
        let numbers = der::read_sequence(&der)?;
        let [_, prime, order, base, public, secret] = numbers.as_slice() else {
            return None;
        };
        let parameters = [prime, order, base].map(|number| der::unsigned(number));
        Some(Self {
            prime: BigUint::from_bytes_be(prime),
            order: BigUint::from_bytes_be(order),
            base: BigUint::from_bytes_be(base),
            secret: secret.to_vec(),
            parameters: der::sequence(&parameters.each_ref().map(Vec::as_slice)),
            public: der::unsigned(public),
        })
    }

    /// Returns a signature, as DER.
    pub(super) fn sign(&self, digest: Digest, message: &[u8]) -> Option<Vec<u8>> {
        sign(&self.order, &self.secret, digest, message, |nonce| {
            Some(self.base.modpow(nonce, &self.prime))
        })
    }
}

/// Returns both numbers of a signature, as DER; `power` is the group's base to the power of a nonce, as a number.
fn sign(
    order: &BigUint,
    secret: &[u8],
    digest: Digest,
    message: &[u8],
    power: impl Fn(&BigUint) -> Option<BigUint>,
) -> Option<Vec<u8>> {
    let secret = BigUint::from_bytes_be(secret);
    let hash = digest.of(message);
    let bytes = usize::try_from(order.bits().div_ceil(8)).ok()?;
    let hash = BigUint::from_bytes_be(hash.get(..bytes).unwrap_or(&hash));
    // Derived from key and message: no two messages may share a nonce.
    let seed = [secret.to_bytes_be(), hash.to_bytes_be()].concat();
    let nonce = BigUint::from_bytes_be(&Digest::Sha256.of(&seed)) % order;
    let r = power(&nonce)? % order;
    let s = inverse(&nonce, order) * (hash + &r * secret) % order;
    let zero = BigUint::ZERO;
    let [r, s] =
        [r, s].map(|number| (number != zero).then(|| der::unsigned(&number.to_bytes_be())));
    Some(der::sequence(&[&r?, &s?]))
}

/// A point that is not the point at infinity.
#[derive(Clone)]
struct Point {
    x: BigUint,
    y: BigUint,
}

fn number(hex: &str) -> Option<BigUint> {
    BigUint::parse_bytes(hex.as_bytes(), 16)
}

/// Returns `scalar` times `point`, or `None` for the point at infinity.
fn times(scalar: &BigUint, point: &Point, prime: &BigUint) -> Option<Point> {
    let mut sum: Option<Point> = None;
    for bit in (0..scalar.bits()).rev() {
        sum = sum.map(|sum| double(&sum, prime));
        if scalar.bit(bit) {
            sum = Some(match sum {
                None => point.clone(),
                Some(sum) => add(&sum, point, prime),
            });
        }
    }
    sum
}

fn double(point: &Point, prime: &BigUint) -> Point {
    // a = -3
    let top = (BigUint::from(3_u8) * (&point.x * &point.x + prime - 1_u8)) % prime;
    let slope = top * inverse(&(&point.y * 2_u8 % prime), prime) % prime;
    along(&slope, point, point, prime)
}

/// Adds two points with different abscissas: multiples below the order have no others.
fn add(first: &Point, second: &Point, prime: &BigUint) -> Point {
    let rise = (&second.y + prime - &first.y) % prime;
    let run = (&second.x + prime - &first.x) % prime;
    let slope = rise * inverse(&run, prime) % prime;
    along(&slope, first, second, prime)
}

fn along(slope: &BigUint, first: &Point, second: &Point, prime: &BigUint) -> Point {
    let x = (slope * slope + prime * 2_u8 - &first.x - &second.x) % prime;
    let y = (slope * (&first.x + prime - &x) + prime - &first.y) % prime;
    Point { x, y }
}

/// Returns the inverse modulo a prime.
fn inverse(number: &BigUint, prime: &BigUint) -> BigUint {
    number.modpow(&(prime - 2_u8), prime)
}

#[cfg(test)]
mod tests {
    use aws_lc_rs::{
        encoding::AsBigEndian,
        signature::{
            ECDSA_P256_SHA256_ASN1, ECDSA_P256_SHA256_ASN1_SIGNING, EcdsaKeyPair, KeyPair,
            UnparsedPublicKey,
        },
    };

    use super::*;

    #[test]
    fn signatures_verify() {
        let key = EcdsaKeyPair::generate(&ECDSA_P256_SHA256_ASN1_SIGNING).unwrap();
        let secret: aws_lc_rs::encoding::EcPrivateKeyBin<'_> =
            key.private_key().as_be_bytes().unwrap();
        let public = UnparsedPublicKey::new(&ECDSA_P256_SHA256_ASN1, key.public_key().as_ref());
        let signature = P256
            .sign(secret.as_ref(), Digest::Sha256, b"message")
            .unwrap();
        public.verify(b"message", &signature).unwrap();
        public.verify(b"another", &signature).unwrap_err();
    }
}
