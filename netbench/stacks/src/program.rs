use std::{
    fmt, fs,
    path::{Path, PathBuf},
};

use netbench_tls::{Variant, Variants};

use crate::{
    Build, BuildError, BuildTime, CargoRecipe, Fips, Host, Profile, Recipe, SourceTree, Stack,
    build_time, cache_folder, needs, pinned_workspace, this_command, tree::same,
};

/// The package on which every worker in Rust depends, and which links the allocator.
const HARNESS: &str = "netbench-worker";

/// The file of the library that counts allocations.
const HEAP_LIBRARY: &str = "libnetbench_heap.so";

/// A worker, or the library that counts allocations: a file that is built from the source tree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Program {
    /// The program's name in messages, and the name of its stack.
    pub name: String,
    file: String,
    build: Build,
    /// The variants with which the program is built.
    variants: Variants,
    /// The means by which the variant `+fips` is built.
    fips: Option<Fips>,
}

/// An existing program, with the place where it was found.
#[derive(Debug, Clone)]
pub struct Found {
    /// Its file.
    pub path: PathBuf,
    /// A description of the place.
    pub place: &'static str,
}

impl Program {
    /// Returns the library that counts allocations.
    pub fn heap_library() -> Self {
        let build = Build::cargo("netbench-heap", "netbench/heap");
        Self::new("the library that counts allocations", HEAP_LIBRARY, build)
    }

    /// Returns a program of this name, whose file has the name of its package.
    pub(crate) fn new(name: &str, file: &str, build: Build) -> Self {
        Self {
            name: name.to_owned(),
            file: file.to_owned(),
            build,
            variants: Variants::NONE,
            fips: None,
        }
    }

    /// Returns the worker of a stack.
    pub fn of(stack: &Stack) -> Self {
        Self {
            name: stack.name.clone(),
            file: stack.executable.clone(),
            build: stack.build.clone(),
            variants: Variants::NONE,
            fips: stack.fips.clone(),
        }
    }

    /// Returns the same program, built with the variants.
    #[must_use]
    pub fn with(self, variants: &Variants) -> Self {
        // Workers in other languages have the same program for all variants.
        let variants = match self.build.recipe {
            Recipe::Cargo(_) => variants.built(),
            Recipe::Command(_) => Variants::NONE,
        };
        Self {
            name: format!("{}{variants}", self.name),
            variants,
            ..self
        }
    }

    /// Returns whether the program is for one of several versions of the same library.
    pub fn is_version(&self) -> bool {
        self.name.contains('@')
    }

    /// Returns the program's own folder, under the target folder, in the cache and next to the command; empty for the
    /// usual build.
    fn folder(&self) -> String {
        let mut folder = self.build.folder.clone();
        for variant in self.variants.iter() {
            if !folder.is_empty() {
                folder.push('+');
            }
            folder.push_str(variant.name());
        }
        folder
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
    pub fn is_built_with(&self, other: &Self) -> bool {
        (&self.file, &self.build, &self.variants) == (&other.file, &other.build, &other.variants)
    }

    /// Finds the program without building it.
    pub fn find(&self) -> Result<Option<Found>, BuildError> {
        let path = this_command()?
            .with_file_name(self.folder())
            .join(&self.file);
        if path.is_file() {
            let place = "beside the command";
            return Ok(Some(Found { path, place }));
        }
        let cached = workers_folder().ok();
        let cached = cached.map(|cache| (self.under(&cache), "in the cache"));
        let built = SourceTree::find().map(|tree| (self.in_tree(&tree), "in the source tree"));
        // The program in the tree is newer if it was built again later.
        Ok([cached, built]
            .into_iter()
            .flatten()
            .filter(|(path, _)| path.is_file())
            .map(|(path, place)| Found { path, place })
            .max_by_key(|found| build_time::modified(&found.path)))
    }

    /// Finds the program, or builds it from the source tree.
    ///
    /// # Errors
    /// Returns an error if the program exists nowhere, and cannot be built.
    pub fn find_or_build(&self, host: &dyn Host) -> Result<PathBuf, BuildError> {
        match self.find()? {
            Some(found) => Ok(found.path),
            None => self.build(host),
        }
    }

    /// Returns the package of the program, if one call of Cargo can build it with other programs. A program that lacks a
    /// tool has none: its own build reports the tool.
    pub(crate) fn package_with_others(&self) -> Option<&str> {
        let Recipe::Cargo(recipe) = &self.build.recipe else {
            return None;
        };
        let is_usual = self.variants == Variants::NONE
            && recipe.environment.is_empty()
            && recipe.arguments.is_empty()
            && recipe.pins.is_empty();
        let can_be = recipe.with_others && is_usual && self.build.has_needs(&self.name).is_ok();
        can_be.then_some(recipe.package.as_str())
    }

    /// Builds the program from the source tree, if it is not up to date.
    ///
    /// # Errors
    /// Returns an error if there is no source tree, or if the build fails.
    pub fn build(&self, host: &dyn Host) -> Result<PathBuf, BuildError> {
        let Some(tree) = SourceTree::find() else {
            let file = self.file.clone();
            return Err(BuildError::Missing(self.to_string(), file, self.builder()));
        };
        let built = self.in_tree(&tree);
        if !built.is_file() {
            host.note(&format!("Building {self} (once)"));
        }
        build_time::recording(&built, || {
            self.build.has_needs(&self.name)?;
            match &self.build.recipe {
                Recipe::Cargo(recipe) => self.build_with_cargo(recipe, &tree, &built, host),
                Recipe::Command(recipe) => {
                    tree.other_build(&self.build.source, recipe, &built, host)
                }
            }
        })?;
        Ok(built)
    }

    fn build_with_cargo(
        &self,
        recipe: &CargoRecipe,
        tree: &SourceTree,
        built: &Path,
        host: &dyn Host,
    ) -> Result<(), BuildError> {
        let fips = self.fips.as_ref();
        let fips = fips.filter(|_| self.variants.has(Variant::Fips));
        needs::has_all(&self.name, fips.iter().flat_map(|fips| &fips.needs))?;
        let compilers = self.compilers();
        needs::has_compilers(&compilers)?;
        if let Some(release) = recipe.openssl {
            host.openssl(release, tree.root(), &compilers)?;
        }
        let target = tree.target().join(self.target_folder());
        let made = target.join(Profile::Release.folder()).join(&self.file);
        let target = target.display().to_string();
        let mut arguments = vec!["-p", &recipe.package, "--target-dir", &target];
        arguments.extend(recipe.arguments.iter().map(String::as_str));
        if let Some(feature) = fips.and_then(|fips| fips.feature.as_deref()) {
            arguments.extend(["--features", feature]);
        }
        let manifest = if !recipe.pins.is_empty() {
            let folder = tree.target().join(&self.build.folder).join("workspace");
            let source = &self.build.source;
            let pins = &recipe.pins;
            Some(pinned_workspace(
                tree, source, pins, &arguments, &folder, host,
            )?)
        } else if recipe.own_workspace {
            Some(format!("{}/Cargo.toml", self.build.source))
        } else {
            None
        };
        if let Some(manifest) = &manifest {
            arguments.extend(["--manifest-path", manifest]);
        }
        let allocator = self.variants.allocator();
        let feature = allocator.map(|allocator| format!("{HARNESS}/{allocator}"));
        if let Some(feature) = &feature {
            // Cargo accepts a feature of another package only if that package is selected too, or is a dependency.
            if manifest.is_none() {
                arguments.extend(["-p", HARNESS]);
            }
            arguments.extend(["--features", feature]);
        }
        let settings = self.settings(recipe, &compilers);
        arguments.extend(settings.iter().flat_map(|setting| ["--config", setting]));
        tree.cargo_build(Profile::Release, &arguments, &made, host)?;
        if made == built || same(&made, built) {
            return Ok(());
        }
        replace(&made, built)
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

    /// Returns Cargo's settings.
    fn settings(&self, recipe: &CargoRecipe, compilers: &[(&str, String)]) -> Vec<String> {
        let environment = recipe.environment.iter();
        let mut settings: Vec<String> = environment
            .map(|(name, value)| format!("env.{name}='{value}'"))
            .collect();
        // These override variables of the environment.
        settings.extend(compilers.iter().flat_map(|(name, program)| {
            [
                format!("env.{name}.value='{program}'"),
                format!("env.{name}.force=true"),
            ]
        }));
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
        match &self.build.recipe {
            Recipe::Cargo(recipe) if !recipe.own_workspace && self.folder().is_empty() => {
                format!("`cargo build --release -p {}`", recipe.package)
            }
            Recipe::Cargo(_) | Recipe::Command(_) => {
                format!("`netbench stacks build {}`", self.name)
            }
        }
    }

    /// Copies the built program into the cache, where it is found from any folder and without the tree.
    pub fn store(&self, built: &Path) -> Result<PathBuf, BuildError> {
        let to = self.under(&workers_folder()?);
        replace(built, &to)?;
        if let Some(time) = build_time::of(built) {
            build_time::record(&to, time);
        }
        Ok(to)
    }

    /// Returns the program's file in the cache, if it exists.
    pub fn in_cache(&self) -> Result<Option<PathBuf>, BuildError> {
        let path = self.under(&workers_folder()?);
        Ok(path.is_file().then_some(path))
    }

    fn under(&self, folder: &Path) -> PathBuf {
        folder.join(self.folder()).join(&self.file)
    }

    fn in_tree(&self, tree: &SourceTree) -> PathBuf {
        let target = tree.target().join(self.folder());
        target.join(Profile::Release.folder()).join(&self.file)
    }
}

impl fmt::Display for Program {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.name.as_str() {
            Self::SERVO => write!(f, "the program {}", self.file),
            name if self.file == HEAP_LIBRARY => f.write_str(name),
            name => write!(f, "the {name} worker"),
        }
    }
}

impl Found {
    /// Returns the time that the program's last build took, if netbench built it.
    pub fn build_time(&self) -> Option<BuildTime> {
        build_time::of(&self.path)
    }
}

/// Replaces a file, which need not exist, by a copy of another.
fn replace(from: &Path, to: &Path) -> Result<(), BuildError> {
    // A running worker's file cannot be written to, but it can be replaced.
    let partial = to.with_extension(format!("{}.partial", std::process::id()));
    to.parent()
        .map_or(Ok(()), fs::create_dir_all)
        .and_then(|()| fs::copy(from, &partial))
        .and_then(|_| fs::rename(&partial, to))
        .map_err(BuildError::file("write", to))
}

/// Returns the folder of the workers that `netbench stacks build` has built for this version.
fn workers_folder() -> Result<PathBuf, BuildError> {
    cache_folder(concat!("workers/", env!("CARGO_PKG_VERSION")))
}
