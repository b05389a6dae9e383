use netbench_model::sanitize_prefix;

/// Returns at most 200 characters of a text that a server sent, safe to store and to show.
pub(crate) fn clean(text: &str) -> String {
    sanitize_prefix(text, 200)
}

/// Returns bytes in hexadecimal.
pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Returns a count as a record has it.
pub(crate) fn as_u32(count: usize) -> u32 {
    u32::try_from(count).unwrap_or(u32::MAX)
}
