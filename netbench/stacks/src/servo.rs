//! The programs of Servo, the browser. Their build takes most of an hour, and its folder several gigabytes: it is removed
//! when the programs are in the cache.

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
};

use crate::{
    Build, BuildError, CargoRecipe, Host, Need, Program, Recipe, SourceTree, registry::COMMON_NEEDS,
};

/// The source of the programs, and the folder of their build below the target folder.
const SOURCE: &str = "netbench/browser/servo";
const FOLDER: &str = "servo-browser";

/// The tools that the build needs.
const NEEDS: [&str; 8] = [
    "C compiler",
    "C++ compiler",
    "CMake",
    "Python 3",
    "fontconfig",
    "libclang and clang",
    "make",
    "pkg-config",
];

/// The folder with a folder for each installed version of LLVM, and the first version that is supported.
const LLVM: &str = "/usr/lib";
const FIRST_LLVM: u32 = 19;

impl Program {
    /// The name of Servo's programs for `netbench stacks build`.
    pub const SERVO: &str = FOLDER;

    /// Returns Servo with its own TLS library.
    pub fn servo() -> Self {
        Self::of_servo("netbench-servo")
    }

    fn of_servo(package: &str) -> Self {
        let needs = NEEDS.iter().filter_map(|name| COMMON_NEEDS.get(*name));
        let mut environment = BTreeMap::from([("MOZJS_FROM_SOURCE".to_owned(), "1".to_owned())]);
        environment.extend(clang(Path::new(LLVM)));
        let build = Build {
            source: SOURCE.to_owned(),
            recipe: Recipe::Cargo(CargoRecipe {
                package: package.to_owned(),
                own_workspace: true,
                environment,
                ..CargoRecipe::default()
            }),
            needs: needs.cloned().collect::<Vec<Need>>(),
            compiles_c: true,
            folder: FOLDER.to_owned(),
        };
        Self::new(Self::SERVO, package, build)
    }

    /// Finds a program of Servo, or builds it.
    ///
    /// # Errors
    /// Returns an error if the program exists nowhere, and cannot be built.
    pub fn find_or_build_servo(&self, host: &dyn Host) -> Result<PathBuf, BuildError> {
        match self.find()? {
            Some(found) => Ok(found.path),
            None => self.build_servo(host),
        }
    }

    /// Builds a program of Servo, stores it in the cache, and removes the folder of the build. A build that ended early
    /// keeps its folder, and continues there.
    ///
    /// # Errors
    /// Returns an error if there is no source tree, or if the build fails.
    pub fn build_servo(&self, host: &dyn Host) -> Result<PathBuf, BuildError> {
        host.note("The build of Servo takes up to an hour on two cores, and 9 GB until it ends");
        let built = self.build(host)?;
        let stored = self.store(&built)?;
        if let Some(tree) = SourceTree::find() {
            let folder = tree.target().join(FOLDER);
            fs::remove_dir_all(&folder).map_err(BuildError::file("remove", &folder))?;
        }
        Ok(stored)
    }
}

/// Returns the variables that name the newest libclang and its clang, unless the user has set them.
fn clang(folder: &Path) -> Vec<(String, String)> {
    let is_set = |name: &str| std::env::var_os(name).is_some();
    if is_set("LIBCLANG_PATH") && is_set("CLANG_PATH") {
        return Vec::new();
    }
    let versions = fs::read_dir(folder).into_iter().flatten().flatten();
    let newest = versions
        .filter_map(|entry| {
            let version = entry
                .file_name()
                .to_str()?
                .strip_prefix("llvm-")?
                .parse()
                .ok()?;
            let path = entry.path();
            (version >= FIRST_LLVM && path.join("bin/clang").exists()).then_some((version, path))
        })
        .max();
    newest.map_or_else(Vec::new, |(_, path): (u32, PathBuf)| {
        [("LIBCLANG_PATH", "lib"), ("CLANG_PATH", "bin/clang")]
            .map(|(name, file)| (name.to_owned(), path.join(file).display().to_string()))
            .to_vec()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_need_is_described() {
        assert!(NEEDS.iter().all(|name| COMMON_NEEDS.contains_key(*name)));
    }

    #[test]
    fn the_newest_clang_of_one_version_is_chosen() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path();
        assert_eq!(clang(path), []);
        for version in ["14", "19", "21", "x"] {
            let bin = path.join(format!("llvm-{version}/bin"));
            fs::create_dir_all(&bin).expect("a folder");
            if version != "21" {
                fs::write(bin.join("clang"), "").expect("a file");
            }
        }
        let names = [
            ("LIBCLANG_PATH", "llvm-19/lib"),
            ("CLANG_PATH", "llvm-19/bin/clang"),
        ];
        let due =
            names.map(|(name, file)| (name.to_owned(), path.join(file).display().to_string()));
        assert_eq!(clang(path), due);
    }
}
