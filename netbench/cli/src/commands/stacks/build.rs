use anyhow::bail;

use super::{args::Build, programs};
use crate::{
    exit::Ended,
    output,
    workers::{Program, SourceTree, Terminal},
};

/// Builds the given stacks, one after another. A failed build does not prevent the others.
pub(super) fn build(options: &Build) -> anyhow::Result<Ended> {
    let mut programs = programs(&options.stacks)?;
    if options.all {
        programs.retain(|program| !program.is_version());
    }
    if SourceTree::find().is_none() {
        bail!(
            "workers are built from netbench's source, and this is not in a checkout of it; \
             the release archive has workers"
        );
    }
    let mut lines = Vec::new();
    let mut failed = Vec::new();
    for program in programs {
        let built = match program.name.as_str() {
            Program::SERVO => program.build_servo(&Terminal),
            _ => (program.build(&Terminal)).and_then(|built| program.store(&built)),
        };
        match built {
            Ok(path) => lines.push(format!("{}: {}", program.name, path.display())),
            Err(error) => {
                note!("netbench: {:#}", anyhow::Error::from(error));
                failed.push(program.name);
            }
        }
    }
    if !lines.is_empty() {
        output::write_lines(&lines)?;
    }
    if !failed.is_empty() {
        bail!("not built: {}", failed.join(", "));
    }
    Ok(Ended::Well)
}
