use std::path::Path;

use anyhow::bail;
use netbench_stacks::build_servo;

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
    // One build makes the programs of Servo.
    let all = programs.len();
    programs.retain(|program| program.name != Program::SERVO);
    if programs.len() < all {
        match build_servo(&Terminal) {
            Ok(paths) => lines.extend(paths.iter().map(|path| line(Program::SERVO, path))),
            Err(error) => {
                note!("netbench: {:#}", anyhow::Error::from(error));
                failed.push(Program::SERVO.to_owned());
            }
        }
    }
    for program in programs {
        match program
            .build(&Terminal)
            .and_then(|built| program.store(&built))
        {
            Ok(path) => lines.push(line(&program.name, &path)),
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

fn line(name: &str, path: &Path) -> String {
    format!("{name}: {}", path.display())
}
