use jiff::Timestamp;
use netbench_compat::chains::own;
use netbench_model::CertificateFault as Fault;
use netbench_protocol::{ChainToVerify, RequestBody, ResponseBody, Verified, Verify};
use netbench_runner::WorkerProgram;

use crate::talk::Talk;

/// Chains of netbench, and the reason of the expected rejection, if any.
const DUE: [(&str, Option<Fault>); 9] = [
    ("own/path/usual", None),
    ("own/time/leaf-a-second-late", Some(Fault::Expired)),
    ("own/time/leaf-a-week-early", Some(Fault::NotYetValid)),
    ("own/host/end-of-host", Some(Fault::WrongName)),
    ("own/path/unknown-root", Some(Fault::UnknownIssuer)),
    ("own/path/missing-intermediate", Some(Fault::UnknownIssuer)),
    ("own/purpose/client-below-none", Some(Fault::BadPurpose)),
    ("own/host/ipv6", None),
    ("own/revocation/leaf", Some(Fault::Revoked)),
];

/// Prefix of the chains that a verifier need not support.
const OPTIONAL: &str = "own/revocation/";

/// Makes `stack` verify chains, and returns the errors in its verdicts.
pub(crate) fn run(program: &WorkerProgram, stack: &str) -> Result<Vec<String>, String> {
    let mut worker = Talk::start(program)?;
    let all = own(Timestamp::now());
    let questions: Option<Vec<_>> = DUE
        .iter()
        .map(|(name, _)| all.iter().find(|chain| chain.case.name == *name))
        .map(|chain| Some(chain?.question.clone()))
        .collect();
    let questions = questions.ok_or("a chain of the table is not there any more")?;
    let ResponseBody::Verified {
        chains: together, ..
    } = worker.ask(1, request(stack, questions.clone()))?
    else {
        return Err("verify is not answered by verified".to_owned());
    };
    if together.len() != DUE.len() {
        return Err(format!(
            "{} answers to {} chains",
            together.len(),
            DUE.len()
        ));
    }
    let mut wrong = Vec::new();
    for (number, ((name, due), said)) in DUE.iter().zip(&together).enumerate() {
        let good = match (said, due) {
            (Verified::Accepted, None) => true,
            (Verified::Rejected { reason, detail }, Some(fault)) => {
                reason == fault && !detail.is_empty()
            }
            (Verified::Unsupported { reason }, _) => {
                name.starts_with(OPTIONAL) && !reason.is_empty()
            }
            _ => false,
        };
        if !good {
            wrong.push(format!("{name}: {due:?} was due, not {said:?}"));
        }
        // An earlier request must not affect the verdict.
        let alone = worker.ask(2, request(stack, vec![questions[number].clone()]))?;
        if alone
            != (ResponseBody::Verified {
                chains: vec![said.clone()],
                trust: None,
            })
        {
            wrong.push(format!(
                "{name}: {said:?} among others, and {alone:?} alone"
            ));
        }
    }
    for (what, change) in UNREADABLE {
        let mut question = questions[0].clone();
        change(&mut question);
        let answer = worker.ask(3, request(stack, vec![question]))?;
        if !matches!(answer, ResponseBody::Error { .. }) {
            wrong.push(format!("{what} is not answered by an error"));
        }
    }
    let mut no_certificate = questions[0].clone();
    no_certificate.chain_base64[0] = "MAA=".to_owned();
    let both = vec![no_certificate, questions[0].clone()];
    match worker.ask(4, request(stack, both))? {
        ResponseBody::Verified { chains, .. } => match chains.as_slice() {
            [
                Verified::Rejected {
                    reason: Fault::BadEncoding,
                    ..
                },
                Verified::Accepted,
            ] => {}
            other => wrong.push(format!("an empty SEQUENCE as a certificate: {other:?}")),
        },
        other => wrong.push(format!("an empty SEQUENCE as a certificate: {other:?}")),
    }
    Ok(wrong)
}

fn request(stack: &str, chains: Vec<ChainToVerify>) -> RequestBody {
    RequestBody::Verify(Verify {
        stack: stack.to_owned(),
        trust: None,
        chains,
    })
}

/// A fault of a request with a chain, and the change that causes it.
type Change = (&'static str, fn(&mut ChainToVerify));

const UNREADABLE: [Change; 2] = [
    ("a chain without a certificate", |it| {
        it.chain_base64.clear()
    }),
    ("what is no base64", |it| {
        it.chain_base64[0] = "*".to_owned()
    }),
];
