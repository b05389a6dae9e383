use std::{
    borrow::Cow,
    fmt, fs,
    path::{Path, PathBuf},
    time::SystemTime,
};

use anyhow::{Context, bail};
use netbench_model::{Variant, Variants};
use netbench_report::BuildTime;
use netbench_runner::{Build, Fips, WorkerSource};
use openssl_src::Release;

use super::{Profile, SourceTree, build_time, needs, openssl, pinned, this_command};
use crate::cache;

/// The package on which every worker in Rust depends, and which links the allocator.
const HARNESS: &str = "netbench-worker";

/// A worker, or the library that counts allocations: a file that is built from the source tree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Program {
    /// The program's name in messages, and the name of its stack.
    pub(crate) name: Cow<'static, str>,
    file: &'static str,
    build: Build,
    /// The OpenSSL release that is built first.
    release: Option<Release>,
    /// The variants with which the program is built.
    variants: Variants,
    /// The means by which the variant `+fips` is built.
    fips: Option<Fips>,
}

/// An existing program, with the place where it was found.
#[derive(Debug, Clone)]
pub(crate) struct Found {
    pub(crate) path: PathBuf,
    place: Place,
}

#[derive(Debug, Clone, Copy)]
enum Place {
    Beside,
    Cache,
    Tree,
}

impl Program {
    pub(crate) const HEAP_LIBRARY: Self = Self {
        name: Cow::Borrowed("the library that counts allocations"),
        file: "libnetbench_heap.so",
        build: Build::Cargo {
            package: "netbench-heap",
            workspace: None,
            variant: None,
        },
        release: None,
        variants: Variants::NONE,
        fips: None,
    };

    /// Returns the worker of a stack.
    pub(crate) fn of(source: &WorkerSource) -> Self {
        Self {
            name: Cow::Borrowed(source.stack),
            file: source.executable,
            build: source.build,
            release: source.release,
            variants: Variants::NONE,
            fips: source.fips(),
        }
    }

    /// Returns the same program, built with the variants.
    pub(crate) fn with(self, variants: &Variants) -> Self {
        // Workers in other languages have the same program for all variants.
        let variants = match self.build {
            Build::Cargo { .. } => variants.built(),
            Build::Go { .. } | Build::Java { .. } => Variants::NONE,
        };
        Self {
            name: self.name + Cow::Owned(variants.to_string()),
            variants,
            ..self
        }
    }

    /// Returns whether the program is for one of several versions of the same library.
    pub(crate) fn is_version(&self) -> bool {
        self.name.contains('@')
    }

    /// Returns the program's own folder, under the target folder, in the cache and next to the command; empty for the
    /// usual build.
    fn folder(&self) -> String {
        let variants = self.variants.iter().map(Variant::name);
        let parts = [self.build.folder()].into_iter().chain(variants);
        let parts: Vec<_> = parts.filter(|part| !part.is_empty()).collect();
        parts.join("+")
    }

    /// Returns the target folder of Cargo's build. Versions of a library share a target folder, so that the rest of
    /// their workers is built once.
    fn target_folder(&self) -> String {
        let folder = self.folder();
        let Some((library, version)) = folder.split_once('@') else {
            return folder;
        };
        let variants = version.find('+').map_or("", |at| &version[at..]);
        format!("{library}@{variants}")
    }

    /// Returns whether one build makes both programs.
    pub(crate) fn is_built_with(&self, other: &Self) -> bool {
        let what = |it: &Self| (it.file, it.build);
        what(self) == what(other) && self.variants == other.variants
    }

    /// Finds the program without building it.
    pub(crate) fn find(&self) -> anyhow::Result<Option<Found>> {
        let found = |path: PathBuf, place| path.is_file().then_some(Found { path, place });
        let beside = this_command()?
            .with_file_name(self.folder())
            .join(self.file);
        if let Some(beside) = found(beside, Place::Beside) {
            return Ok(Some(beside));
        }
        let cached = cache_folder().ok();
        let cached = cached.and_then(|cache| found(self.under(&cache), Place::Cache));
        let built = SourceTree::find().and_then(|tree| found(self.in_tree(&tree), Place::Tree));
        // The program in the tree is newer if it was built again later.
        Ok([cached, built]
            .into_iter()
            .flatten()
            .max_by_key(Found::made))
    }

    /// Finds the program, or builds it from the source tree.
    pub(crate) fn find_or_build(&self) -> anyhow::Result<PathBuf> {
        match self.find()? {
            Some(found) => Ok(found.path),
            None => self.build(),
        }
    }

    /// Builds the program from the source tree, if it is not up to date.
    pub(crate) fn build(&self) -> anyhow::Result<PathBuf> {
        let Some(tree) = SourceTree::find() else {
            bail!(
                "{self} is missing: there is no {} beside the command. In a source tree, {} builds it",
                self.file,
                self.builder()
            );
        };
        let built = self.in_tree(&tree);
        if !built.is_file() {
            note!("netbench: Building {self} (once)");
        }
        build_time::recording(&built, || self.build_in(&tree, &built))?;
        Ok(built)
    }

    fn build_in(&self, tree: &SourceTree, built: &Path) -> anyhow::Result<()> {
        match self.build {
            Build::Cargo {
                package,
                workspace,
                variant,
            } => {
                needs::has_all_for(package)?;
                if self.variants.has(Variant::Fips) {
                    needs::has_all_for_aws_lc_fips(package)?;
                }
                let compilers = self.compilers();
                needs::has_compilers(&compilers)?;
                if let Some(release) = self.release {
                    openssl::build(release, tree.root(), &compilers)?;
                }
                let target = tree.target().join(self.target_folder());
                let made = target.join(Profile::Release.folder()).join(self.file);
                let target = target.display().to_string();
                let mut arguments = vec!["-p", package, "--target-dir", &target];
                let pins = variant.map_or(&[][..], |variant| variant.pins);
                let manifest = match workspace {
                    _ if !pins.is_empty() => {
                        let folder = tree.target().join(self.build.folder()).join("workspace");
                        Some(pinned::workspace(tree, package, pins, &folder)?)
                    }
                    folder => folder.map(|folder| format!("{folder}/Cargo.toml")),
                };
                arguments.extend(variant.map_or(&[][..], |variant| variant.arguments));
                if let Some(manifest) = &manifest {
                    arguments.extend(["--manifest-path", manifest]);
                }
                let feature = self
                    .variants
                    .allocator()
                    .map(|allocator| format!("{HARNESS}/{allocator}"));
                if let Some(feature) = &feature {
                    // Cargo accepts a feature of another package only if that package is selected too, or is a
                    // dependency.
                    if manifest.is_none() {
                        arguments.extend(["-p", HARNESS]);
                    }
                    arguments.extend(["--features", feature]);
                }
                if let (true, Some(Fips::Feature(feature))) =
                    (self.variants.has(Variant::Fips), self.fips)
                {
                    arguments.extend(["--features", feature]);
                }
                let environment = variant.map_or(&[][..], |variant| variant.environment);
                let settings = environment
                    .iter()
                    .map(|(name, value)| format!("env.{name}='{value}'"));
                // The settings override variables of the environment.
                let forced = compilers.iter().flat_map(|(name, program)| {
                    [
                        format!("env.{name}.value='{program}'"),
                        format!("env.{name}.force=true"),
                    ]
                });
                let compiled = self.compiled();
                let settings = settings.chain(forced).chain(compiled);
                let settings: Vec<String> = settings.collect();
                arguments.extend(settings.iter().flat_map(|setting| ["--config", setting]));
                tree.cargo_build(Profile::Release, &arguments, &made)?;
                if made == built || same(&made, built) {
                    return Ok(());
                }
                replace(&made, built)
            }
            Build::Go { folder } => tree.go_build(folder, built),
            Build::Java { folder } => tree.java_build(folder, built),
        }
    }

    /// Returns the variables that name the compilers of C and C++ with their flags, if a variant chooses them.
    fn compilers(&self) -> Vec<(&'static str, String)> {
        let (c, cxx) = match self.variants.compiler() {
            Some(Variant::Clang) => ("clang", "clang++"),
            Some(_) => ("gcc", "g++"),
            None if self.variants.has(Variant::Native) => ("cc", "c++"),
            None => return Vec::new(),
        };
        let flags = if self.variants.has(Variant::Native) {
            // The worker reads the flags of its C code from its own executable.
            " -march=native -frecord-gcc-switches"
        } else {
            ""
        };
        [("CC", c), ("CXX", cxx)]
            .map(|(name, program)| (name, format!("{program}{flags}")))
            .to_vec()
    }

    /// Returns Cargo's settings for the compilation of Rust.
    fn compiled(&self) -> Vec<String> {
        let mut settings = Vec::new();
        if self.variants.has(Variant::Lto) {
            settings.push("profile.release.lto='fat'".to_owned());
            // The worker's build script reads this variable.
            settings.push("env.CARGO_PROFILE_RELEASE_LTO='fat'".to_owned());
        }
        if self.variants.has(Variant::Native) {
            settings.push("build.rustflags=['-Ctarget-cpu=native']".to_owned());
        }
        settings
    }

    /// Returns the command with which a user can build the program.
    fn builder(&self) -> String {
        match self.build {
            Build::Cargo {
                package,
                workspace: None,
                variant: None,
            } if self.variants == Variants::NONE => {
                format!("`cargo build --release -p {package}`")
            }
            Build::Cargo { .. } | Build::Go { .. } | Build::Java { .. } => {
                format!("`netbench stacks build {}`", self.name)
            }
        }
    }

    /// Copies the built program into the cache, where it is found from any folder and without the tree.
    pub(crate) fn store(&self, built: &Path) -> anyhow::Result<PathBuf> {
        let to = self.under(&cache_folder()?);
        replace(built, &to)?;
        if let Some(time) = build_time::of(built) {
            build_time::record(&to, time);
        }
        Ok(to)
    }

    /// Returns the program's file in the cache, if it exists.
    pub(crate) fn in_cache(&self) -> anyhow::Result<Option<PathBuf>> {
        let path = self.under(&cache_folder()?);
        Ok(path.is_file().then_some(path))
    }

    fn under(&self, folder: &Path) -> PathBuf {
        folder.join(self.folder()).join(self.file)
    }

    fn in_tree(&self, tree: &SourceTree) -> PathBuf {
        let target = tree.target().join(self.folder());
        target.join(Profile::Release.folder()).join(self.file)
    }
}

impl fmt::Display for Program {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if *self == Self::HEAP_LIBRARY {
            f.write_str(&self.name)
        } else {
            write!(f, "the {} worker", self.name)
        }
    }
}

impl Found {
    /// Describes the place where the program was found.
    pub(crate) fn place(&self) -> &'static str {
        match self.place {
            Place::Beside => "beside the command",
            Place::Cache => "in the cache",
            Place::Tree => "in the source tree",
        }
    }

    /// Returns the time that the program's last build took, if netbench built it.
    pub(crate) fn build_time(&self) -> Option<BuildTime> {
        build_time::of(&self.path)
    }

    fn made(&self) -> Option<SystemTime> {
        fs::metadata(&self.path)
            .and_then(|about| about.modified())
            .ok()
    }
}

fn same(one: &Path, other: &Path) -> bool {
    fs::read(one).is_ok_and(|one| fs::read(other).is_ok_and(|other| one == other))
}

/// Replaces a file, which need not exist, by a copy of another.
fn replace(from: &Path, to: &Path) -> anyhow::Result<()> {
    let copy = || {
        if let Some(folder) = to.parent() {
            fs::create_dir_all(folder)?;
        }
        // A running worker's file cannot be written to, but it can be replaced.
        let partial = to.with_extension(format!("{}.partial", std::process::id()));
        fs::copy(from, &partial).and_then(|_| fs::rename(&partial, to))
    };
    copy().with_context(|| format!("cannot copy {} to {}", from.display(), to.display()))
}

/// Returns the folder of the workers that `netbench stacks build` has built for this version.
fn cache_folder() -> anyhow::Result<PathBuf> {
    cache::folder(concat!("workers/", env!("CARGO_PKG_VERSION")))
}
