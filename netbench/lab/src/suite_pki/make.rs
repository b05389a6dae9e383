use netbench_model::KeyType;
use rcgen::{
    CertificateParams, CertifiedIssuer, ExtendedKeyUsagePurpose, IsCa, KeyPair, KeyUsagePurpose,
    SanType,
};
use time::{Date, Duration, Month, Time};

use super::{LONGEST, SUITE_HOST};
use crate::{
    extensions,
    hierarchy::{ca_params, issued, params},
    keys, pem,
};

/// The validity period from the first of 2025, in days: a hundred years.
const VALID: Duration = Duration::days(36_525);

/// Makes the suite's certificates again: for each of `keys` the name of its file under `pki/` and its content.
/// Runs made with other certificates cannot be compared with earlier ones.
///
/// # Errors
/// Returns an error if a key or a certificate could not be made.
pub fn make_suite_pki(keys: &[KeyType]) -> Result<Vec<(String, String)>, rcgen::Error> {
    keys.iter()
        .map(|key| Ok((format!("{key}.pem"), file(*key)?)))
        .collect()
}

/// Makes the root, three intermediates (each signed by its predecessor), a server's leaf for each length of
/// chain, all with one key, and a client's leaf; then the server's key and the client's.
fn file(key: KeyType) -> Result<String, rcgen::Error> {
    let cas = usize::from(LONGEST);
    let wanted: Vec<_> = (0..cas + 2).map(|number| (number, key)).collect();
    let mut pairs = keys::generate(&wanted)?.into_values();
    let mut out = format!(
        "# Test certificates and keys of netbench's in-memory suite ({key}). Nobody trusts them.\n"
    );
    let mut issuers: Vec<CertifiedIssuer<'static, KeyPair>> = Vec::new();
    for number in 0..cas {
        let what = match number {
            0 => "root".to_owned(),
            number => format!("intermediate {number}"),
        };
        let params = valid(ca_params(&format!("netbench suite {key} {what}"))?)?;
        let issuer = match issuers.last() {
            None => CertifiedIssuer::self_signed(params, next(&mut pairs)?)?,
            Some(above) => CertifiedIssuer::signed_by(issued(params), next(&mut pairs)?, above)?,
        };
        put(&mut out, &what, "CERTIFICATE", issuer.der());
        issuers.push(issuer);
    }
    let (server, client) = (next(&mut pairs)?, next(&mut pairs)?);
    for (number, issuer) in issuers.iter().enumerate() {
        let what = format!("server's leaf of a chain of {}", number + 1);
        let der = leaf(
            SUITE_HOST,
            ExtendedKeyUsagePurpose::ServerAuth,
            &server,
            issuer,
        )?;
        put(&mut out, &what, "CERTIFICATE", &der);
    }
    let host = "client.netbench.test";
    let der = leaf(
        host,
        ExtendedKeyUsagePurpose::ClientAuth,
        &client,
        &issuers[1],
    )?;
    put(&mut out, "client's leaf", "CERTIFICATE", &der);
    put(
        &mut out,
        "server's key",
        "PRIVATE KEY",
        &keys::pkcs8(&server)?,
    );
    put(
        &mut out,
        "client's key",
        "PRIVATE KEY",
        &keys::pkcs8(&client)?,
    );
    Ok(out)
}

fn next(pairs: &mut impl Iterator<Item = KeyPair>) -> Result<KeyPair, rcgen::Error> {
    pairs.next().ok_or(rcgen::Error::CouldNotParseKeyPair)
}

fn put(out: &mut String, what: &str, label: &str, der: &[u8]) {
    out.push_str(&format!("# {what}\n{}", pem::encode(label, der)));
}

fn leaf(
    host: &str,
    purpose: ExtendedKeyUsagePurpose,
    key: &KeyPair,
    issuer: &CertifiedIssuer<'static, KeyPair>,
) -> Result<Vec<u8>, rcgen::Error> {
    let mut params = issued(valid(params(host)?)?);
    params.is_ca = IsCa::ExplicitNoCa;
    params.key_usages = vec![KeyUsagePurpose::DigitalSignature];
    params.extended_key_usages = vec![purpose];
    params.subject_alt_names = vec![SanType::DnsName(host.try_into()?)];
    // With the timestamps of certificate transparency, a leaf is about as long as one of the web.
    params.custom_extensions.push(extensions::timestamps(0)?);
    Ok(params.signed_by(key, issuer)?.der().to_vec())
}

/// Sets the validity period.
fn valid(mut params: CertificateParams) -> Result<CertificateParams, rcgen::Error> {
    let begin = Date::from_calendar_date(2025, Month::January, 1)
        .map_err(|_| rcgen::Error::Time)?
        .with_time(Time::MIDNIGHT)
        .assume_utc();
    (params.not_before, params.not_after) = (begin, begin + VALID);
    Ok(params)
}
