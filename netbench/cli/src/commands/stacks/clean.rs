use std::fs;

use anyhow::Context;

use super::{args::Clean, programs};
use crate::{exit::Ended, output, workers::build_time};

/// Deletes workers in the cache folder. What Cargo built in a source tree is Cargo's to clean.
pub(super) fn clean(options: &Clean) -> anyhow::Result<Ended> {
    let mut lines = Vec::new();
    for program in programs(&options.stacks)? {
        let Some(path) = program.in_cache()? else {
            continue;
        };
        let bytes = fs::metadata(&path).map_or(0, |about| about.len());
        fs::remove_file(&path).with_context(|| format!("cannot delete {}", path.display()))?;
        build_time::forget(&path);
        lines.push(format!(
            "deleted {} ({} MB)",
            path.display(),
            bytes / 1_000_000
        ));
    }
    if lines.is_empty() {
        lines.push("there is nothing to delete".to_owned());
    }
    output::write_lines(&lines)?;
    Ok(Ended::Well)
}
