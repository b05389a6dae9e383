pub(crate) mod args;

use netbench_runner::{Workers, known_stacks};

use self::args::Stacks;
use crate::{exit::Ended, output, workers};

/// Lists the stacks; those whose worker is there or can be built describe themselves.
pub(crate) fn stacks(options: &Stacks) -> anyhow::Result<Ended> {
    let mut described = Vec::new();
    for source in known_stacks() {
        if source.variant.is_some() {
            // A build of its own, which only a run that asks for the stack is worth.
            described.push((source, Ok(None)));
            continue;
        }
        let stack = source.stack.to_owned();
        let probed = workers::find(&[stack.clone()].into(), &[])
            .and_then(|programs| Ok(Workers::probe(programs, None)?));
        let description = match &probed {
            Ok(workers) => Ok(workers.description(&stack).cloned()),
            Err(error) => Err(format!("{error:#}")),
        };
        described.push((source, description));
    }
    if options.json {
        let all: Vec<_> = described
            .iter()
            .filter_map(|(_, d)| d.as_ref().ok().and_then(Option::as_ref))
            .collect();
        output::write_json(&all)?;
        return Ok(Ended::Well);
    }
    let mut lines = Vec::new();
    for (source, description) in described {
        lines.push(format!("{}: {}", source.stack, source.about));
        match description {
            Ok(Some(d)) => {
                let provider = d
                    .record
                    .provider
                    .map(|p| format!(", {p}"))
                    .unwrap_or_default();
                lines.push(format!(
                    "    {}{provider}, {}",
                    d.record.library, d.record.connector
                ));
                let groups: Vec<_> = d.groups.iter().map(ToString::to_string).collect();
                lines.push(format!("    groups {}", groups.join(", ")));
            }
            Ok(None) => {}
            Err(error) => lines.push(format!("    unsupported here: {error}")),
        }
    }
    output::write_lines(&lines)?;
    Ok(Ended::Well)
}
