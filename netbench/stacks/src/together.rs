//! One call of Cargo for several workers: while one of them waits for a long step, another uses the idle cores.

use crate::{BuildError, Host, Profile, Program, SourceTree};

/// Builds the missing ones of `programs` with one call of Cargo, if it can build several of them together. The time of
/// such a build is recorded for none of them.
///
/// A program whose build fails does not prevent the others, and is no error here: [`Program::find_or_build`] builds it
/// alone, and returns the reason.
///
/// # Errors
/// Returns an error if a program cannot be looked up, or if Cargo does not start or was stopped.
pub fn build_together(programs: &[Program], host: &dyn Host) -> Result<(), BuildError> {
    let Some(tree) = SourceTree::find() else {
        return Ok(());
    };
    let missing = missing(programs)?;
    if missing.len() < 2 {
        return Ok(());
    }
    let names: Vec<String> = missing.iter().map(|(_, it)| it.to_string()).collect();
    host.note(&format!("Building {} (once)", names.join(" and ")));
    let target = tree.target().display().to_string();
    let mut arguments = vec!["build", "--locked", "--keep-going"];
    arguments.extend(Profile::Release.arguments());
    arguments.extend(missing.iter().flat_map(|(package, _)| ["-p", package]));
    arguments.extend(["--target-dir", &target]);
    match tree.cargo(&arguments, host) {
        Err(BuildError::Failed(..)) => {
            host.note("Not all of them were built; each is built alone");
            Ok(())
        }
        ended => ended,
    }
}

/// Returns the programs that do not exist and that one call of Cargo can build, each with its package.
fn missing(programs: &[Program]) -> Result<Vec<(&str, &Program)>, BuildError> {
    let mut missing: Vec<(&str, &Program)> = Vec::new();
    for program in programs {
        let Some(package) = program.package_with_others() else {
            continue;
        };
        let is_listed = missing.iter().any(|(other, _)| *other == package);
        if !is_listed && program.find()?.is_none() {
            missing.push((package, program));
        }
    }
    Ok(missing)
}
