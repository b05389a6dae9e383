//! Test that a worker's answers match the session in `docs/WORKER-PROTOCOL.md`.

use std::collections::{BTreeMap, btree_map::Entry};

use netbench_model::{KeyType, LabProfile};
use netbench_protocol::{Response, ResponseBody};
use netbench_runner::WorkerProgram;
use serde_json::Value;

use crate::{
    site::{OnlySite, certificates},
    talk::Talk,
};

const DOCUMENT: &str = include_str!("../../../docs/WORKER-PROTOCOL.md");

/// The site of the session.
const HOST: &str = "a.example";

/// Fields whose values are part of the protocol, and not only their types.
const WORDS: [&str; 3] = ["type", "class", "reason"];

/// Sends every request of the session to workers, and compares the structure of the answers with the documentation.
pub(crate) fn run(program: &WorkerProgram, stack: &str) -> Result<Vec<String>, String> {
    let profile = LabProfile {
        key: KeyType::EcdsaP256,
        ..LabProfile::default()
    };
    let OnlySite { server, roots_pem } = OnlySite::new(stack, HOST, profile)?;
    let now = jiff::Timestamp::now().as_second().to_string();
    let mut sent = certificates(&server.chain_pem).into_iter();
    let mut texts = vec![
        ("$LEAF".to_owned(), sent.next().unwrap_or_default()),
        ("$INTERMEDIATE".to_owned(), sent.next().unwrap_or_default()),
        ("$ROOT_DER".to_owned(), certificates(&roots_pem).concat()),
        ("$NOW".to_owned(), now),
        ("$CHAIN".to_owned(), server.chain_pem),
        ("$KEY".to_owned(), server.key_pem),
        ("$ROOTS".to_owned(), roots_pem),
    ];
    let mut workers: BTreeMap<&str, Talk> = BTreeMap::new();
    let mut wrong = Vec::new();
    let session = session()?;
    for (name, request, answer) in &session {
        let worker = match workers.entry(name) {
            Entry::Occupied(worker) => worker.into_mut(),
            Entry::Vacant(place) => place.insert(Talk::start(program)?),
        };
        let mut line = (*request).to_owned();
        for (documented, real) in &texts {
            let real = Value::String(real.clone()).to_string();
            line = line.replace(documented, real.trim_matches('"'));
        }
        let given = worker.put(line.as_bytes())?;
        let documented: Response =
            serde_json::from_str(answer).map_err(|e| format!("{e} in the document: {answer}"))?;
        // Later connections use the port of this server.
        if let (ResponseBody::Serving(old), ResponseBody::Serving(new)) =
            (&documented.body, &given.body)
            && let (Some(old), Some(new)) = (old.listening.get(HOST), new.listening.get(HOST))
        {
            texts.push((old.to_string(), new.to_string()));
        }
        let [documented, given] = [&documented, &given].map(shape);
        if documented != given {
            wrong.push(format!(
                "{request}: documented {documented}, and answered {given}"
            ));
        }
    }
    Ok(wrong)
}

/// Returns, for each request, the process that receives it, its line, and the line of the answer.
fn session() -> Result<Vec<(&'static str, &'static str, &'static str)>, String> {
    let mut session = Vec::new();
    let mut asked = None;
    for line in DOCUMENT.lines() {
        if let Some((name, _)) = line.split_once("> {") {
            asked = Some((name, &line[name.len() + 2..]));
        } else if let (Some((name, answer)), Some((asked_of, request))) =
            (line.split_once("< "), asked)
            && name == asked_of
        {
            session.push((name, request, answer));
            asked = None;
        }
    }
    if session.len() < 10 {
        return Err(format!(
            "the document's session has {} requests",
            session.len()
        ));
    }
    Ok(session)
}

/// Returns the types of an answer's fields, and the values of the fields in [`WORDS`].
fn shape(answer: &Response) -> Value {
    fn of(value: &Value) -> Value {
        match value {
            Value::Null => "nothing".into(),
            Value::Bool(_) => "yes or no".into(),
            Value::Number(_) => "number".into(),
            Value::String(_) => "text".into(),
            Value::Array(values) => {
                let mut kinds: Vec<Value> = Vec::new();
                for kind in values.iter().map(of) {
                    if !kinds.contains(&kind) {
                        kinds.push(kind);
                    }
                }
                Value::Array(kinds)
            }
            Value::Object(fields) => Value::Object(
                fields
                    .iter()
                    .map(|(name, value)| {
                        let kept = WORDS.contains(&name.as_str());
                        (name.clone(), if kept { value.clone() } else { of(value) })
                    })
                    .collect(),
            ),
        }
    }
    of(&serde_json::to_value(answer).unwrap_or_default())
}
