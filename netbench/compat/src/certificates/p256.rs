//! ECDSA on P-256 with any hash (FIPS 186-5 section 6.4), which aws-lc-rs signs with SHA-256 alone. It is slow and takes
//! a time that depends on the key: for test certificates alone.

use num_bigint::BigUint;

use super::{der, key::Digest};

const PRIME: &str = "ffffffff00000001000000000000000000000000ffffffffffffffffffffffff";
const ORDER: &str = "ffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551";
const BASE: [&str; 2] = [
    "6b17d1f2e12c4247f8bce6e563a440f277037d812deb33a0f4a13945d898c296",
    "4fe342e2fe1a7f9b8ee7eb4a7c0f9e162bce33576b315ececbb6406837bf51f5",
];

/// A point that is not the point at infinity.
#[derive(Clone)]
struct Point {
    x: BigUint,
    y: BigUint,
}

/// A signature by the private key `secret`, as DER. None where a number comes out as zero, which it never does.
pub(super) fn sign(secret: &[u8], digest: Digest, message: &[u8]) -> Option<Vec<u8>> {
    let order = number(ORDER)?;
    let secret = BigUint::from_bytes_be(secret);
    let hash = digest.of(message);
    let hash = BigUint::from_bytes_be(hash.get(..32).unwrap_or(&hash));
    // Drawn from key and message: no two messages may share one.
    let seed = [secret.to_bytes_be(), hash.to_bytes_be()].concat();
    let nonce = BigUint::from_bytes_be(&Digest::Sha256.of(&seed)) % &order;
    let [x, y] = BASE.map(number);
    let point = times(&nonce, &Point { x: x?, y: y? })?;
    let r = point.x % &order;
    let s = inverse(&nonce, &order) * (hash + &r * secret) % &order;
    let zero = BigUint::ZERO;
    let [r, s] =
        [r, s].map(|number| (number != zero).then(|| der::unsigned(&number.to_bytes_be())));
    Some(der::sequence(&[&r?, &s?]))
}

fn number(hex: &str) -> Option<BigUint> {
    BigUint::parse_bytes(hex.as_bytes(), 16)
}

/// `scalar` times `point`; none for the point at infinity.
fn times(scalar: &BigUint, point: &Point) -> Option<Point> {
    let prime = number(PRIME)?;
    let mut sum: Option<Point> = None;
    for bit in (0..scalar.bits()).rev() {
        sum = sum.map(|sum| double(&sum, &prime));
        if scalar.bit(bit) {
            sum = Some(match sum {
                None => point.clone(),
                Some(sum) => add(&sum, point, &prime),
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

/// Of two points with different abscissas: multiples below the order have no others.
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

/// Modulo a prime.
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
        let signature = sign(secret.as_ref(), Digest::Sha256, b"message").unwrap();
        public.verify(b"message", &signature).unwrap();
        public.verify(b"another", &signature).unwrap_err();
    }
}
