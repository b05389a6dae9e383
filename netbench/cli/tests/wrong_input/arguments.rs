//! Names of commands, options, stacks, formats, cases, parts; options that exclude one another; missing values; and
//! arguments that are not UTF-8.

use std::{
    ffi::{OsStr, OsString},
    os::unix::ffi::OsStrExt,
};

use crate::support::{Place, os_words};

const CASES: &str = r#"
conect => unknown command "conect" & did you mean "connect"?
runs lst => unknown command "lst" & did you mean "list"?
frobnicate => unknown command "frobnicate"
setup sites chek => did you mean "check"?
connect --round 3 => unknown option "--round" & "--rounds"?
connect --frobnicate => unknown option "--frobnicate" & --help
connect -x => unknown option "-x"
suite --json --yes=1 => --yes
runs report => missing: RUN
runs merge a b => missing: --out DIR
runs explain => missing: RUN
runs explain a b => unexpected argument "b"
runs prune => missing: --keep N
setup completions => missing: SHELL
setup completions tcsh => SHELL tcsh & bash & zsh
setup completions powershel => did you mean "powershell"?
connect --sites => a value is missing: --sites FILE
connect --stack => a value is missing: --stack
connect --seed => a value is missing: --seed N
runs report a --output => a value is missing: --output FILE
# Sweeps.
connect --sweep rtt => --sweep & NAME=VALUE & rtt=1ms
connect --sweep rtt=fast => rtt=fast & 20ms
connect --sweep rtt=1ms --sweep rtt=2ms => given twice
connect --sweep link=5g => no such link & lte, 4g
connect --sweep certificates=rsa => no such certificates & ecdsa, long, mixed, mldsa-44, mldsa-65, merkle
connect --sweep certificates=ecdsa,ecdsa => certificates=ecdsa & already
connect --sweep certificates=mldsa-44 --sweep tls=1.2 => TLS 1.2 has no signatures with mldsa-44
connect --sweep key=slh-dsa-sha2-128s => no stack serves "slh-dsa-sha2-128s"
connect --sweep ca-key=SLH-DSA-SHAKE-256f => no stack serves "SLH-DSA-SHAKE-256f"
connect --sweep dely=1ms => "dely" cannot be swept & rtt
connect --sweep rtt=1ms --link none => --link none
connect --sweep window-up=20 --link none => --sweep window-up & --link none
connect --sweep cpu=5%,9% --cpu 9% => --cpu
connect --sweep rtt=1ms --live => --live
connect --preset quantum => post-quantum
connect --preset post-quantum --sweep rtt=1ms => --sweep
connect --only no.example => no site "no.example"
connect --sweep rtt=1ms,2ms,3ms --rounds 100000 --limit 50 => this takes about & --yes
# Stacks.
connect --stack openssl => at least two stacks & openssl,rustls-aws-lc
connect --stack openssl,rustls => unknown stack "rustls" & rustls-ring & --worker
connect --stack openssl,rustls-rng => did you mean "rustls-ring"?
connect --stack OpenSSL,rustls-ring => unknown stack "OpenSSL" & "openssl"?
connect --stack openssl, => name of a stack is empty
connect --stack openssl+pgo,openssl => openssl has no variant "+pgo"
suite --stack opnssl => did you mean "openssl"?
scan --against nobody => nobody
scan --against opensll => did you mean "openssl"?
stacks hello --stack ruslts-ring => did you mean "rustls-ring"?
evaluate --to matrixssl => matrixssl
evaluate --from opnessl => did you mean "openssl"?
evaluate --from openssl --to openssl => are both openssl
connect --worker mine => --worker mine & STACK=PROGRAM
stacks hello --worker x=/nope => --worker x: the stack x is not among those of --stack & --stack openssl,rustls-aws-lc,x
connect --worker =./x => --worker =./x & STACK=PROGRAM
# Variants and versions of stacks.
stacks build => missing: STACK
stacks build opensl => did you mean "openssl"?
stacks build --all openssl => cannot be used with
stacks build openssl+jemaloc => openssl has no variant "+jemaloc"; did you mean "jemalloc"?
stacks build openssl+jemalloc+mimalloc => +jemalloc and +mimalloc exclude each other
stacks build openssl+gcc+clang => +gcc and +clang exclude each other
stacks build rustls-graviola+clang => rustls-graviola has no variant +clang: its build compiles no C
stacks build go+mimalloc => go has no variants such as +mimalloc: its worker is no Rust program
stacks build go+fips+mimalloc => go has no variants such as +mimalloc: its worker is no Rust program
stacks build gnutls+fips => gnutls has no variant +fips: netbench builds no FIPS module for it; these have: aws-lc-rs@1.12.0, aws-lc-rs@1.16.0, aws-lc-rs@1.19.0, go, rustls-aws-lc
suite --stack openssl+jemalloc+fips => openssl has no variant +fips: netbench builds no FIPS module for it
stacks build rustls-aws-lc+nojitter+fips => rustls-aws-lc+nojitter has no variant +fips
stacks build rustls-aws-lc+novaes+unbuffered => write it as rustls-aws-lc+unbuffered+novaes
stacks build openssl@9.9 => openssl has no version "9.9"; it has 1.1.1, 3.0, 3.1, 3.2, 3.2.0, 3.5, 3.6, 4.0
connect --stack openssl@3.0.8,openssl => openssl has no version "3.0.8"; it has
stacks build rustls-ring@0.23 => rustls-ring has no versions to choose from; these have: aws-lc-rs, openssl, ring, rustls
stacks build rustls@0.19 => rustls has no version "0.19"; it has 0.20, 0.21, 0.22, 0.23.31, 0.23.46, 0.24-dev
suite --stack aws-lc-rs@1.0.0 => aws-lc-rs has no version "1.0.0"; it has 1.5.2, 1.12.0, 1.16.0, 1.19.0
stacks build openssl@3.0+novae => openssl@3.0 has no variant "+novae"
# Formats, conditions, profiles, versions, groups, protocols, links.
connect --format jsn => --format jsn & did you mean "json"?
connect --format yaml => --format yaml & terminal & markdown
runs report a --format pdf => --format pdf & html
connect --condition warm => "warm" & clean, resumed, cold
connect --condition Cleen => did you mean "clean"?
connect --condition clean,clean => --condition names clean twice
connect --client-profile servoo => did you mean "servo"?
connect --tls ssl3 => --tls & 1.0, 1.1, 1.2, 1.3
connect --tls 1.1,1.3 => --tls leaves out 1.2, which is between others
connect --tls 1.1,1.2 --client-profile default => --tls 1.1 has no effect with --client-profile default
connect --tls 1.2,1.2 => --tls names 1.2 twice
connect --tls tls1.3 => tls1.3 & 1.2, 1.3
connect --groups x25518 => did you mean "x25519"?
connect --groups P-256 => P-256 & secp256r1
connect --alpn h3 => h3 & h2
connect --link usr => did you mean "user"?
connect --link 3g => 3g & auto, user, tun, netem, none
setup link bench --link nettem => did you mean "netem"?
# Cases, parts, presets, features, shims.
suite handshke => unknown part & did you mean "handshake"?
suite everything => unknown part & expected one of bulk & all
suite --preset rustls-vs-opensll => did you mean "rustls-vs-openssl"?
suite --preset web => unknown preset & bertie
suite --preset s2n --case x => --case & --preset
suite bulk --preset s2n => --preset & PART
suite --case handshake-fulll* => nearest are handshake-full_1.
suite --case handshake-fll_1.3_ECDHE_RSA_AES256-GCM_SHA384 => no case & handshake-full_1.3_ECDHE_RSA_AES256-GCM_SHA384
suite --case [ => --case [ & unclosed
suite bulk --case handshake* => no case & bulk_
scan --parts everything => everything
scan --parts enumration => did you mean "enumeration"?
evaluate --part site => unknown part "site" & sites
evaluate --skip features,compat,sites,connections,suite => --skip leaves no part
evaluate --part suite --skip suite => cannot be used with & --skip
bogo --shim opensl => unknown shim & did you mean "openssl"?
bogo --feature Renegotation => did you mean "Renegotiation"?
bogo --shim nss => unknown shim "nss"; expected one of boringssl, openssl, rustls
bogo --feature telepathy => there is no feature
bogo --feature TLS => TLS 1.3
bogo diff rustls rustls => the two shims are the same
bogo diff rustls => SECOND
bogo --timeout 1ms => from 1s to 120s
bogo --check --accept => cannot be used with
bogo --feature alpn --accept => cannot be used with
bogo --test A[ --stored => not a pattern of test names
bogo --check --stored => --check cannot be used with --stored
# Options that exclude one another.
connect --json --format csv => --json cannot be used with --format
connect -q -v => cannot be used with
connect --live --link user => --live & --link
connect --live --jobs 17 --limit 1 => --live takes at most 16 --jobs
connect --rounds 3 --rounds 4 => --rounds can be given once only
run x --rounds 3 => unknown option "--rounds"
run x --sites y => unknown option "--sites"
scan 127.0.0.1 --sites y => --sites
run x --quick => unknown option "--quick"
run x --budget 30s => unknown option "--budget"
runs explain a --from openssl => missing: --to STACK
runs compare a --stack a,b,c => --stack takes two stacks
runs compare a b --join --fail-on-regression 2% => --join & --fail-on-regression
runs report a --open --output - => --open needs a file
runs report a --open --format csv => --open needs --format html
runs report a b --format html => no such run folder
# Hosts.
scan 127.0.0.1:0 => port & 1 to 65535
scan 127.0.0.1:99999 => port & 1 to 65535
scan 127.0.0.1:https => port & 1 to 65535
scan a..b => a..b & not a host name
scan 300.1.1.1 => 300.1.1.1 & not a host name
scan example.com => example.com & --live
scan 192.0.2.1:443 => --live
scan 127.0.0.1 example.com => --live
scan a:b:c => a:b:c
scan localhost localhost => given twice
scan 127.0.0.1 127.0.0.1:443 => given twice: 127.0.0.1 and 127.0.0.1:443
connect --client-profile library --groups x25519 => --groups has no effect & --client-profile default
connect --client-profile library --preset post-quantum => --preset post-quantum has no effect
connect --client-profile library --sweep hybrid=off,on => --sweep hybrid has no effect
connect --name ../x => --name ../x & letters
connect --name .x => --name .x & letters
connect --vantage a/b => --vantage a/b & letters
connect --github-summary => GITHUB_STEP_SUMMARY
# URLs.
connect http://localhost/ => write https://
stacks hello http://a.example/ => write https://
connect https:// => no host
connect https://me:pw@localhost/ => leave the user name and password out
connect https://localhost/#top => never sent
connect https://localhost:0/ => from 1 to 65535
connect https://[fe80::1%25eth0]/ => zone
connect https://10.1.2.3/ => 10.1.2.3 is not on this machine & --live
connect https://a.example:8443/x https://localhost/ => a.example:8443 is not on this machine & --live & --connect-to a.example:8443:127.0.0.1:PORT
connect https://localhost --connect-to localhost:443:10.0.0.1: => 10.0.0.1 is not on this machine
scan https://a.example/ => a.example is not on this machine
connect https://localhost localhost:443 => given twice
connect https://localhost --connect-to a:b => HOST1:PORT1:HOST2:PORT2
connect --connect-to a:1:b:2 => for URLs
connect --method POST => for URLs
connect https://localhost --method CONNECT => GET, HEAD or POST
connect https://localhost --header Host:x => host is written by
connect https://localhost --header no-colon => NAME: VALUE
connect https://localhost --pause 5 => 20ms
connect https://localhost --sites good.txt => --sites
connect https://localhost --link user => --link
connect https://localhost --client-key k.pem => --client-cert
"#;

#[test]
fn names_and_options() {
    Place::new().refuses(2, CASES);
}

const ESCAPE: &str = "\u{1b}[31mred\u{1b}[0m\nnext";
const LATIN: &[u8] = b"caf\xe9";

/// Returns an argument with these bytes.
fn bytes(bytes: &[u8]) -> OsString {
    OsStr::from_bytes(bytes).to_owned()
}

fn with(line: &str, last: impl Into<OsString>) -> Vec<OsString> {
    let mut words = os_words(line);
    words.push(last.into());
    words
}

#[test]
fn arguments_that_are_no_words() {
    let long = "x".repeat(100_000);
    let cases = [
        (with("connect --stack", ""), "--stack"),
        (with("connect --stack", ESCAPE), "at least two"),
        (with("suite --stack", ESCAPE), "unknown stack"),
        (with("suite --stack", bytes(LATIN)), "not UTF-8 & caf"),
        (with("suite --stack", &long), "unknown stack"),
        (with("suite", ESCAPE), "unknown part"),
        (with("suite --case", ESCAPE), "character class"),
        (with("suite --case", &long), "--case"),
        (with("suite --case", ""), "--case"),
        (with("suite --timing", ESCAPE), "unknown timing"),
        (
            with("suite memory --timing", "bench"),
            "only handshakes and data",
        ),
        (with("suite --preset", ESCAPE), "unknown preset"),
        (with("suite --preset", &long), "unknown preset"),
        (vec!["\u{1b}[2J".into()], "unknown command"),
        (vec![bytes(LATIN)], "caf"),
        (with("connect", ESCAPE), ""),
        (with("connect --sites", ""), "--sites"),
        (with("connect --sites", ESCAPE), "No such file"),
        (with("connect --sites", bytes(LATIN)), "caf & No such file"),
        (with("connect --sites", &long), "too long"),
        (with("connect --roots", bytes(LATIN)), "not UTF-8"),
        (with("connect --roots", ESCAPE), "No such file"),
        (with("run", ESCAPE), "no such run folder"),
        (with("run", ""), "RUN"),
        (with("connect --name", ESCAPE), "--name & letters"),
        (with("connect --name", "x".repeat(81)), "at most 80"),
        (with("connect --format", ESCAPE), "--format"),
        (with("connect --link", &long), "unknown link"),
        (with("runs report", ESCAPE), "no such run folder"),
        (
            with("runs report", bytes(LATIN)),
            "caf & no such run folder",
        ),
        (with("runs report", ""), "RUN"),
        (with("runs list", ESCAPE), "no such folder"),
        (with("runs merge a --out", ""), ""),
        (with("scan", ESCAPE), "control characters"),
        (with("scan", ""), "no host"),
        (with("scan", &long), "at most 4096 bytes"),
        (with("bogo --feature", ESCAPE), "feature"),
        (with("bogo --shim", ESCAPE), "unknown shim"),
        (with("evaluate --part", ESCAPE), "unknown part"),
        (with("evaluate --from", ""), "stack"),
        (with("connect --worker", bytes(LATIN)), "not UTF-8"),
    ];
    Place::new().refuses_words(&cases);
}
