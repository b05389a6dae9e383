//! Names of commands, options, stacks, formats, cases, parts; options that exclude one another; missing values; and
//! arguments that are not UTF-8.

use std::ffi::OsString;

use super::{Case, MOST_LINES, bytes, check, check_words, os_words};
use crate::support::Place;

const CASES: &[Case] = &[
    (
        "conect",
        2,
        &["unknown command \"conect\"", "did you mean \"connect\"?"],
    ),
    (
        "runs lst",
        2,
        &["unknown command \"lst\"", "did you mean \"list\"?"],
    ),
    ("frobnicate", 2, &["unknown command \"frobnicate\""]),
    ("setup sites chek", 2, &["did you mean \"check\"?"]),
    (
        "connect --round 3",
        2,
        &["unknown option \"--round\"", "\"--rounds\"?"],
    ),
    (
        "connect --frobnicate",
        2,
        &["unknown option \"--frobnicate\"", "--help"],
    ),
    ("connect -x", 2, &["unknown option \"-x\""]),
    ("suite --json --yes=1", 2, &["--yes"]),
    ("runs report", 2, &["missing: RUN"]),
    ("runs merge a b", 2, &["missing: --out DIR"]),
    ("runs explain", 2, &["missing: RUN"]),
    ("runs explain a b", 2, &["unexpected argument \"b\""]),
    ("runs prune", 2, &["missing: --keep N"]),
    ("setup completions", 2, &["missing: SHELL"]),
    ("setup completions tcsh", 2, &["SHELL tcsh", "bash", "zsh"]),
    (
        "setup completions powershel",
        2,
        &["did you mean \"powershell\"?"],
    ),
    ("connect --sites", 2, &["a value is missing: --sites FILE"]),
    ("connect --stack", 2, &["a value is missing: --stack"]),
    ("connect --seed", 2, &["a value is missing: --seed N"]),
    (
        "runs report a --output",
        2,
        &["a value is missing: --output FILE"],
    ),
    // Sweeps.
    (
        "connect --sweep rtt",
        2,
        &["--sweep", "NAME=VALUE", "rtt=1ms"],
    ),
    ("connect --sweep rtt=fast", 2, &["rtt=fast", "20ms"]),
    (
        "connect --sweep rtt=1ms --sweep rtt=2ms",
        2,
        &["given twice"],
    ),
    ("connect --sweep link=5g", 2, &["no such link", "lte, 4g"]),
    (
        "connect --sweep dely=1ms",
        2,
        &["\"dely\" cannot be swept", "rtt"],
    ),
    ("connect --sweep rtt=1ms --link none", 2, &["--link none"]),
    ("connect --sweep cpu=5%,9% --cpu 9%", 2, &["--cpu"]),
    ("connect --sweep rtt=1ms --live", 2, &["--live"]),
    ("connect --preset quantum", 2, &["post-quantum"]),
    (
        "connect --preset post-quantum --sweep rtt=1ms",
        2,
        &["--sweep"],
    ),
    ("connect --only no.example", 2, &["no site \"no.example\""]),
    (
        "connect --sweep rtt=1ms,2ms,3ms --rounds 100000 --limit 50",
        2,
        &["this takes about", "--yes"],
    ),
    // Stacks.
    (
        "connect --stack openssl",
        2,
        &["at least two stacks", "openssl,rustls-aws-lc"],
    ),
    (
        "connect --stack openssl,rustls",
        2,
        &["unknown stack \"rustls\"", "rustls-ring", "--worker"],
    ),
    (
        "connect --stack openssl,rustls-rng",
        2,
        &["did you mean \"rustls-ring\"?"],
    ),
    (
        "connect --stack OpenSSL,rustls-ring",
        2,
        &["unknown stack \"OpenSSL\"", "\"openssl\"?"],
    ),
    ("connect --stack openssl,", 2, &["name of a stack is empty"]),
    (
        "connect --stack openssl+pgo,openssl",
        2,
        &["openssl has no variant \"+pgo\""],
    ),
    ("suite --stack opnssl", 2, &["did you mean \"openssl\"?"]),
    ("scan --against opensll", 2, &["did you mean \"openssl\"?"]),
    (
        "stacks hello --stack ruslts-ring",
        2,
        &["did you mean \"rustls-ring\"?"],
    ),
    ("evaluate --from opnessl", 2, &["did you mean \"openssl\"?"]),
    (
        "evaluate --from openssl --to openssl",
        2,
        &["are both openssl"],
    ),
    (
        "connect --worker mine",
        2,
        &["--worker mine", "STACK=PROGRAM"],
    ),
    (
        "stacks hello --worker x=/nope",
        2,
        &[
            "--worker x: the stack x is not among those of --stack",
            "--stack openssl,rustls-aws-lc,x",
        ],
    ),
    (
        "connect --worker =./x",
        2,
        &["--worker =./x", "STACK=PROGRAM"],
    ),
    // Formats, conditions, profiles, versions, groups, protocols, links.
    (
        "connect --format jsn",
        2,
        &["--format jsn", "did you mean \"json\"?"],
    ),
    (
        "connect --format yaml",
        2,
        &["--format yaml", "terminal", "markdown"],
    ),
    ("runs report a --format pdf", 2, &["--format pdf", "html"]),
    (
        "connect --condition warm",
        2,
        &["\"warm\"", "clean, resumed, cold"],
    ),
    ("connect --condition Cleen", 2, &["did you mean \"clean\"?"]),
    (
        "connect --condition clean,clean",
        2,
        &["--condition names clean twice"],
    ),
    (
        "connect --client-profile servoo",
        2,
        &["did you mean \"servo\"?"],
    ),
    ("connect --tls ssl3", 2, &["--tls", "1.0, 1.1, 1.2, 1.3"]),
    (
        "connect --tls 1.1,1.3",
        2,
        &["--tls leaves out 1.2, which is between others"],
    ),
    (
        "connect --tls 1.1,1.2 --client-profile default",
        2,
        &["--tls 1.1 has no effect with --client-profile default"],
    ),
    ("connect --tls 1.2,1.2", 2, &["--tls names 1.2 twice"]),
    ("connect --tls tls1.3", 2, &["tls1.3", "1.2, 1.3"]),
    ("connect --groups x25518", 2, &["did you mean \"x25519\"?"]),
    ("connect --groups P-256", 2, &["P-256", "secp256r1"]),
    ("connect --alpn h3", 2, &["h3", "h2"]),
    ("connect --link usr", 2, &["did you mean \"user\"?"]),
    (
        "connect --link 3g",
        2,
        &["3g", "auto, user, tun, netem, none"],
    ),
    (
        "setup link bench --link nettem",
        2,
        &["did you mean \"netem\"?"],
    ),
    // Cases, parts, presets, features, shims.
    (
        "suite handshke",
        2,
        &["unknown part", "did you mean \"handshake\"?"],
    ),
    ("suite everything", 2, &["unknown part", "bulk", "all"]),
    (
        "suite --preset rustls-vs-opensll",
        2,
        &["did you mean \"rustls-vs-openssl\"?"],
    ),
    ("suite --preset web", 2, &["unknown preset", "bertie"]),
    ("suite --preset s2n --case x", 2, &["--case", "--preset"]),
    ("suite bulk --preset s2n", 2, &["--preset", "PART"]),
    (
        "suite --case handshake-fll_1.3_ECDHE_RSA_AES256-GCM_SHA384",
        2,
        &["no case", "handshake-full_1.3_ECDHE_RSA_AES256-GCM_SHA384"],
    ),
    ("suite --case [", 2, &["--case [", "unclosed"]),
    ("suite bulk --case handshake*", 2, &["no case", "bulk_"]),
    (
        "scan --parts enumration",
        2,
        &["did you mean \"enumeration\"?"],
    ),
    ("evaluate --part site", 2, &["unknown part", "sites"]),
    (
        "evaluate --skip features,compat,sites,connections,suite",
        2,
        &["--skip leaves no part"],
    ),
    (
        "evaluate --part suite --skip suite",
        2,
        &["cannot be used with", "--skip"],
    ),
    (
        "bogo --shim opensl",
        2,
        &["unknown shim", "did you mean \"openssl\"?"],
    ),
    (
        "bogo --feature Renegotation",
        2,
        &["did you mean \"Renegotiation\"?"],
    ),
    ("bogo diff openssl openssl", 2, &["the same"]),
    (
        "bogo --check --stored",
        2,
        &["--check cannot be used with --stored"],
    ),
    // Options that exclude one another.
    (
        "connect --json --format csv",
        2,
        &["--json cannot be used with --format"],
    ),
    ("connect -q -v", 2, &["cannot be used with"]),
    ("connect --live --link user", 2, &["--live", "--link"]),
    (
        "connect --live --jobs 17 --limit 1",
        2,
        &["--live takes at most 16 --jobs"],
    ),
    (
        "connect --rounds 3 --rounds 4",
        2,
        &["--rounds can be given once only"],
    ),
    ("run x --rounds 3", 2, &["unknown option \"--rounds\""]),
    ("run x --sites y", 2, &["unknown option \"--sites\""]),
    ("scan 127.0.0.1 --sites y", 2, &["--sites"]),
    ("run x --quick", 2, &["unknown option \"--quick\""]),
    ("run x --budget 30s", 2, &["unknown option \"--budget\""]),
    ("runs explain a --from openssl", 2, &["missing: --to STACK"]),
    (
        "runs compare a --stack a,b,c",
        2,
        &["--stack takes two stacks"],
    ),
    (
        "runs compare a b --join --fail-on-regression 2%",
        2,
        &["--join", "--fail-on-regression"],
    ),
    (
        "runs report a --open --output -",
        2,
        &["--open needs a file"],
    ),
    (
        "runs report a --open --format csv",
        2,
        &["--open needs --format html"],
    ),
    ("runs report a b --format html", 2, &["no such run folder"]),
    // Hosts.
    ("scan 127.0.0.1:0", 2, &["port", "1 to 65535"]),
    ("scan 127.0.0.1:99999", 2, &["port", "1 to 65535"]),
    ("scan 127.0.0.1:https", 2, &["port", "1 to 65535"]),
    ("scan a..b", 2, &["a..b", "not a host name"]),
    ("scan 300.1.1.1", 2, &["300.1.1.1", "not a host name"]),
    ("scan example.com", 2, &["example.com", "--live"]),
    (
        "scan 127.0.0.1 127.0.0.1:443",
        2,
        &["given twice: 127.0.0.1 and 127.0.0.1:443"],
    ),
    (
        "connect --client-profile library --groups x25519",
        2,
        &["--groups has no effect", "--client-profile default"],
    ),
    (
        "connect --client-profile library --preset post-quantum",
        2,
        &["--preset post-quantum has no effect"],
    ),
    (
        "connect --client-profile library --sweep hybrid=off,on",
        2,
        &["--sweep hybrid has no effect"],
    ),
    ("connect --name ../x", 2, &["--name ../x", "letters"]),
    ("connect --name .x", 2, &["--name .x", "letters"]),
    ("connect --vantage a/b", 2, &["--vantage a/b", "letters"]),
    ("connect --github-summary", 2, &["GITHUB_STEP_SUMMARY"]),
];

#[test]
fn names_and_options() {
    check(&Place::new(), CASES);
}

const ESCAPE: &str = "\u{1b}[31mred\u{1b}[0m\nnext";
const LATIN: &[u8] = b"caf\xe9";

fn with(line: &str, last: impl Into<OsString>) -> Vec<OsString> {
    let mut words = os_words(line);
    words.push(last.into());
    words
}

#[test]
fn arguments_that_are_no_words() {
    let long = "x".repeat(100_000);
    let cases: Vec<(Vec<OsString>, i32, &[&str])> = vec![
        (with("connect --stack", ""), 2, &["--stack"]),
        (with("connect --stack", ESCAPE), 2, &["at least two"]),
        (with("suite --stack", ESCAPE), 2, &["unknown stack"]),
        (
            with("suite --stack", bytes(LATIN)),
            2,
            &["not UTF-8", "caf"],
        ),
        (with("suite --stack", &long), 2, &["unknown stack"]),
        (with("suite", ESCAPE), 2, &["unknown part"]),
        (with("suite --case", ESCAPE), 2, &["character class"]),
        (with("suite --case", &long), 2, &["--case"]),
        (with("suite --case", ""), 2, &["--case"]),
        (with("suite --preset", ESCAPE), 2, &["unknown preset"]),
        (with("suite --preset", &long), 2, &["unknown preset"]),
        (vec!["\u{1b}[2J".into()], 2, &["unknown command"]),
        (vec![bytes(LATIN)], 2, &["caf"]),
        (with("connect", ESCAPE), 2, &[]),
        (with("connect --sites", ""), 2, &["--sites"]),
        (with("connect --sites", ESCAPE), 2, &["No such file"]),
        (
            with("connect --sites", bytes(LATIN)),
            2,
            &["caf", "No such file"],
        ),
        (with("connect --sites", &long), 2, &["too long"]),
        (with("connect --roots", bytes(LATIN)), 2, &["not UTF-8"]),
        (with("connect --roots", ESCAPE), 2, &["No such file"]),
        (with("run", ESCAPE), 2, &["no such run folder"]),
        (with("run", ""), 2, &["RUN"]),
        (with("connect --name", ESCAPE), 2, &["--name", "letters"]),
        (with("connect --name", "x".repeat(81)), 2, &["at most 80"]),
        (with("connect --format", ESCAPE), 2, &["--format"]),
        (with("connect --link", &long), 2, &["unknown link"]),
        (with("runs report", ESCAPE), 2, &["no such run folder"]),
        (
            with("runs report", bytes(LATIN)),
            2,
            &["caf", "no such run folder"],
        ),
        (with("runs report", ""), 2, &["RUN"]),
        (with("runs list", ESCAPE), 2, &["no such folder"]),
        (with("runs merge a --out", ""), 2, &[]),
        (with("scan", ESCAPE), 2, &["control characters"]),
        (with("scan", ""), 2, &["no host"]),
        (with("scan", &long), 2, &["at most 4096 bytes"]),
        (with("bogo --feature", ESCAPE), 2, &["feature"]),
        (with("bogo --shim", ESCAPE), 2, &["unknown shim"]),
        (with("evaluate --part", ESCAPE), 2, &["unknown part"]),
        (with("evaluate --from", ""), 2, &["stack"]),
        (with("connect --worker", bytes(LATIN)), 2, &["not UTF-8"]),
    ];
    check_words(&Place::new(), &cases, MOST_LINES);
}
