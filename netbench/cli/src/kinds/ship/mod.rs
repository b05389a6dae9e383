//! `netbench ship`: builds a client with each stack, and measures its cost.

use std::{
    collections::BTreeSet,
    path::{Path, PathBuf},
    sync::atomic::Ordering,
    time::Duration,
};

use clap::{Args, ValueHint};
use netbench_model::{
    Recorded, SCHEMA_VERSION, StackName,
    ship::{ShipManifest, ShipOutcome, ShipPlan, ShipSample},
};
use netbench_report::{ShipSummary, summarize_ship};
use netbench_ship::{
    BUILT_IN_LOCK, Project, Reuse, ShipError, Toolchain, lock_sha256, providers_of_lock,
};
use netbench_stacks::{ShipStack, cache_folder, ship_stacks};
use netbench_store::RunFolder;

use crate::{
    client::Unstored,
    cost::times,
    exit::{Ended, WrongInput, cannot_continue},
    options::{Asked, Output, StackOptions, StoredIn},
    output::unknown,
    pipeline::{self, Listed, Measured, Session, Told},
    run, stored,
    user_file::{BUILT_IN, parse_toml, read_text},
};

pub(crate) const EXAMPLES: &str = "\
Examples:
  netbench ship                               openssl and rustls-aws-lc
  netbench ship --stack rustls-ring,rustls-graviola
  netbench ship --lock ~/my-client/Cargo.lock --stack openssl,rustls-ring
  netbench ship --fresh                       build again what was built before
  netbench ship --json | jq '.stacks[] | {stack, bytes: .outcome.program_bytes}'

The stacks are those with a [[ship]] table in their stack.toml; the message about
an unknown one lists them. The client of rustls-two-providers ends at its start.
With --lock, the report names a file in which rustls has two providers of
cryptography.
The builds are cargo's, in the cache folder, one after another; crates that are
not on this machine are downloaded.";

#[derive(Debug, Args)]
#[command(
    mut_arg("stack", |stack| stack.help("Stacks to build a client with; each is compared with the first [default: openssl,rustls-aws-lc]")),
)]
pub(crate) struct Ship {
    #[command(flatten)]
    pub(crate) stacks: StackOptions,
    /// Take the versions of crates from FILE instead of netbench's own Cargo.lock
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) lock: Option<PathBuf>,
    /// Build also what an earlier run has built from the same sources
    #[arg(long)]
    pub(crate) fresh: bool,

    #[command(flatten)]
    pub(crate) stored_in: StoredIn,
    #[command(flatten)]
    pub(crate) output: Output,
}

/// The largest size of a Cargo.lock, in bytes.
const LONGEST_LOCK: u64 = 16 << 20;

/// The time of a build on two cores. OpenSSL takes twice as long, ring half.
const BUILD: Duration = Duration::from_secs(90);

pub(crate) fn ship(options: &Ship) -> anyhow::Result<Ended> {
    let asked = Asked::short(&[], &options.output);
    let manifest = run::manifest(plan(options)?);
    pipeline::start::<ShipRun>(manifest, &options.stored_in, "ship", asked)
}

fn plan(options: &Ship) -> anyhow::Result<ShipPlan> {
    let mut stacks: Vec<StackName> = Vec::new();
    for name in options.stacks.names() {
        let stack = StackName::new(&known(&name)?.name);
        if !stacks.contains(&stack) {
            stacks.push(stack);
        }
    }
    let file = options.lock.as_ref().map(|path| path.display().to_string());
    let lock = file.unwrap_or_else(|| BUILT_IN.to_owned());
    let text = read_lock(&lock)?;
    let toolchain = toolchain()?;
    Ok(ShipPlan {
        stacks,
        lock_providers: match lock.as_str() {
            // The built-in lock file contains the providers of every stack.
            BUILT_IN => Vec::new(),
            _ => providers_of_lock(&text),
        },
        lock_sha256: lock_sha256(&text),
        lock,
        cargo: toolchain.cargo_version,
        rustc: toolchain.rustc_version,
        fresh: options.fresh,
    })
}

/// The files and tools of a plan.
pub(crate) struct ShipRun {
    stacks: Vec<&'static ShipStack>,
    lock: String,
    toolchain: Toolchain,
}

fn toolchain() -> anyhow::Result<Toolchain> {
    let found = Toolchain::find(cache_folder("ship")?);
    Ok(found.map_err(|error| WrongInput(error.to_string()))?)
}

fn known(name: &str) -> anyhow::Result<&'static ShipStack> {
    let stacks = ship_stacks()?;
    let found = stacks.iter().find(|stack| stack.name == name);
    found.ok_or_else(|| {
        let names: Vec<&str> = stacks.iter().map(|stack| stack.name.as_str()).collect();
        unknown("no client is built with the stack", name, &names).into()
    })
}

/// Reads a Cargo.lock. A file of another kind is refused before anything is built.
fn read_lock(file: &str) -> anyhow::Result<String> {
    if file == BUILT_IN {
        return Ok(BUILT_IN_LOCK.to_owned());
    }
    let lock = read_text(Path::new(file), LONGEST_LOCK).and_then(|text| {
        let table: toml::Table = parse_toml(&text)?;
        let lock = table.contains_key("package").then_some(text);
        lock.ok_or_else(|| "not a Cargo.lock: it has no [[package]]".to_owned())
    });
    Ok(lock.map_err(|why| WrongInput(format!("{file}: {why}")))?)
}

impl Listed for ShipPlan {
    const UNIT: (&'static str, &'static str) = ("build", "builds");
    const SHORTER: &'static str = "fewer stacks";

    fn stacks(&self) -> &[StackName] {
        &self.stacks
    }

    fn cases(&self) -> u64 {
        1
    }

    fn time(&self) -> Duration {
        times(BUILD, self.planned() as f64)
    }

    fn workers(&self) -> BTreeSet<String> {
        BTreeSet::new()
    }
}

impl Measured for ShipRun {
    type Plan = ShipPlan;
    type Report = ShipSummary;

    fn read(folder: &RunFolder) -> anyhow::Result<ShipSummary> {
        let (manifest, samples) = stored::contents(folder)?;
        Ok(summarize_ship(&manifest, &samples))
    }

    fn open(run: &ShipManifest, _: &Unstored) -> anyhow::Result<Self> {
        let plan = &run.plan;
        let stacks = plan.stacks.iter().map(|stack| known(stack.as_str()));
        let (lock, toolchain) = (read_lock(&plan.lock)?, toolchain()?);
        for (what, is) in [
            ("Cargo.lock", lock_sha256(&lock) == plan.lock_sha256),
            ("cargo", toolchain.cargo_version == plan.cargo),
            ("rustc", toolchain.rustc_version == plan.rustc),
        ] {
            if !is {
                let why = format!("it was started with another {what}");
                return Err(cannot_continue(&run.name, why));
            }
        }
        Ok(Self {
            stacks: stacks.collect::<anyhow::Result<_>>()?,
            lock,
            toolchain,
        })
    }

    fn measure(self, session: Session<'_, ShipPlan>) -> anyhow::Result<()> {
        let (plan, stop) = (&session.run.plan, &session.setup.stop);
        let reuse = if plan.fresh {
            Reuse::Nothing
        } else {
            Reuse::Earlier
        };
        let earlier = session.earlier()?;
        let (done, mut keeper) = session.resume(&earlier);
        for (name, stack) in plan.stacks.iter().zip(&self.stacks) {
            if done.contains(name) || stop.load(Ordering::Relaxed) {
                continue;
            }
            let project = Project::new(stack, &self.lock);
            let outcome = match self.toolchain.ship(stack, &project, reuse, stop) {
                Ok(shipped) => ShipOutcome::Built(Box::new(shipped)),
                Err(ShipError::Stopped) => break,
                Err(error) => ShipOutcome::Failed {
                    why: error.to_string(),
                },
            };
            let sample = ShipSample {
                schema: SCHEMA_VERSION,
                stack: name.clone(),
                outcome,
            };
            if keeper.keep(&sample).is_break() {
                break;
            }
        }
        Ok(keeper.end()?)
    }
}

impl Told for ShipSample {
    fn piece(&self) -> String {
        self.stack.to_string()
    }

    fn failed(&self) -> bool {
        matches!(self.outcome, ShipOutcome::Failed { .. })
    }
}
