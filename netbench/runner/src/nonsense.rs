//! Short descriptions of errors in lines that are not responses.

use netbench_model::{Failure, Measured, sanitize_prefix};
use netbench_protocol::{Description, ResponseBody};
use serde_json::Value;

/// The maximum length of an error of serde, in characters.
const LONGEST: usize = 120;

/// Describes why a line is not a response: its type, and the field that is wrong or missing. Returns `None` if it
/// is not a JSON object with a type.
pub(crate) fn describe(line: &[u8]) -> Option<String> {
    let value: Value = serde_json::from_slice(line).ok()?;
    let fields = value.as_object()?;
    if !fields.get("id").is_some_and(Value::is_u64) {
        return Some("id: missing, or not a number".to_owned());
    }
    let kind = fields.get("type")?.as_str()?.to_owned();
    // Types of a tagged enum lose the position of an error; the type itself has it.
    let mut untagged = fields.clone();
    untagged.retain(|name, _| name != "id" && name != "type");
    let text = Value::Object(untagged).to_string();
    let error = match kind.as_str() {
        "connected" => serde_json::from_str::<Measured>(&text).err(),
        "failed" => serde_json::from_str::<Failure>(&text).err(),
        "description" => serde_json::from_str::<Description>(&text).err(),
        _ => None,
    };
    let (place, error) = match error {
        Some(error) => {
            let mut path = path_at(&text, error.column());
            // A missing field is noticed at the end of the object, after its last field.
            if error.to_string().starts_with("missing field") {
                path.pop();
            }
            path.retain(|name| !name.is_empty());
            (path.join("."), error)
        }
        None => (
            String::new(),
            serde_json::from_value::<ResponseBody>(value).err()?,
        ),
    };
    let message = error.to_string();
    let message = message.split(" at line ").next().unwrap_or_default();
    let place = if place.is_empty() {
        place
    } else {
        format!("{place}: ")
    };
    Some(format!(
        "in \"{}\", {place}{}",
        sanitize_prefix(&kind, LONGEST),
        sanitize_prefix(message, LONGEST)
    ))
}

/// Returns the path of the field that ends at a column of compact JSON, which serde counts from 1.
fn path_at(text: &str, column: usize) -> Vec<String> {
    let mut path: Vec<String> = Vec::new();
    let mut name = String::new();
    let (mut in_text, mut is_escaped) = (false, false);
    for byte in text.bytes().take(column.saturating_sub(1)) {
        if in_text {
            in_text = is_escaped || byte != b'"';
            is_escaped = !is_escaped && byte == b'\\';
            if in_text {
                name.push(char::from(byte));
            }
            continue;
        }
        match byte {
            b'"' => {
                in_text = true;
                name.clear();
            }
            b':' => {
                path.pop();
                path.push(name.clone());
            }
            b'{' | b'[' => path.push(String::new()),
            b'}' | b']' => {
                path.pop();
            }
            _ => {}
        }
    }
    path
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// Describes the response of the protocol's document, with one field changed.
    fn described(change: impl FnOnce(&mut Value)) -> Option<String> {
        let document = include_str!("../../../docs/WORKER-PROTOCOL.md");
        let mut lines = document.lines();
        let line = lines.find_map(|line| {
            let answer = line.strip_prefix("client< ")?;
            answer.contains("\"connected\"").then_some(answer)
        });
        let mut answer: Value = serde_json::from_str(line.unwrap()).unwrap();
        change(&mut answer);
        describe(answer.to_string().as_bytes())
    }

    #[test]
    fn a_wrong_field_is_named_with_its_place() {
        let null = described(|answer| answer["phases"]["client_hello_ns"] = Value::Null);
        let expected = "in \"connected\", phases.client_hello_ns: invalid type: null, expected u64";
        assert_eq!(null.as_deref(), Some(expected));
        let text = described(|answer| answer["transfer"]["tcp"]["rtt_us"] = json!("56"));
        let text = text.unwrap();
        assert!(
            text.contains("transfer.tcp.rtt_us: invalid type: string"),
            "{text}"
        );
        let missing = described(|answer| {
            answer["transfer"]
                .as_object_mut()
                .unwrap()
                .remove("bytes_in");
        });
        let missing = missing.unwrap();
        assert!(
            missing.contains("transfer: missing field `bytes_in`"),
            "{missing}"
        );
        let unknown = described(|answer| answer["type"] = json!("conected")).unwrap();
        assert!(unknown.contains("unknown variant `conected`"), "{unknown}");
        let no_id = described(|answer| answer["id"] = json!("2")).unwrap();
        assert_eq!(no_id, "id: missing, or not a number");
    }

    #[test]
    fn errors_are_short_and_other_lines_have_none() {
        let long = described(|answer| answer["http_status"] = json!("x".repeat(10_000)));
        let long = long.unwrap();
        assert!(
            long.starts_with("in \"connected\", http_status: "),
            "{long}"
        );
        assert!(long.len() < 200, "{long}");
        assert_eq!(described(|_| {}), None, "an answer");
        for line in ["", "garbage", "[]", "{}", "{\"id\":1}"] {
            assert_eq!(
                describe(line.as_bytes()).filter(|_| line != "{}"),
                None,
                "{line}"
            );
        }
    }
}
