//! The programs of Servo, the browser. Their build takes most of an hour, and its folder several gigabytes: it is removed
//! when the programs are in the cache.

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
};

use crate::{
    Build, BuildError, CargoRecipe, Host, Need, Program, Recipe, SourceTree, patched_servo_net,
    registry::COMMON_NEEDS,
};

/// The folder of the build of the programs, below the target folder.
const FOLDER: &str = "servo-browser";

/// The folder of the patched network stack, in the folder of the build.
const PATCHED: &str = "servo-net";

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
        Self::of_servo("netbench-servo", "netbench/browser/servo", Vec::new())
    }

    /// Returns Servo with OpenSSL.
    pub fn servo_openssl() -> Self {
        let patched = SourceTree::find().map(|tree| patched(&tree));
        let arguments = patched.map_or_else(Vec::new, |folder| {
            let setting = format!("patch.crates-io.servo-net.path='{}'", folder.display());
            vec!["--config".to_owned(), setting]
        });
        Self::of_servo(
            "netbench-servo-openssl",
            "netbench/browser/servo/openssl",
            arguments,
        )
    }

    fn of_servo(package: &str, source: &str, arguments: Vec<String>) -> Self {
        let needs = NEEDS.iter().filter_map(|name| COMMON_NEEDS.get(*name));
        let mut environment = BTreeMap::from([("MOZJS_FROM_SOURCE".to_owned(), "1".to_owned())]);
        environment.extend(clang(Path::new(LLVM)));
        let build = Build {
            source: source.to_owned(),
            recipe: Recipe::Cargo(CargoRecipe {
                package: package.to_owned(),
                own_workspace: true,
                environment,
                arguments,
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
            None => {
                build_servo(host)?;
                let found = self.find()?.map(|found| found.path);
                found.ok_or_else(|| BuildError::NotMade(self.to_string(), PathBuf::from(FOLDER)))
            }
        }
    }
}

/// Builds the programs of Servo, stores them in the cache, and removes the folder of the build. They share most of it. A
/// build that ended early keeps its folder, and continues there. Returns the stored files.
///
/// # Errors
/// Returns an error if there is no source tree, or if a build fails.
pub fn build_servo(host: &dyn Host) -> Result<Vec<PathBuf>, BuildError> {
    host.note("The build of Servo takes up to an hour on two cores, and 9 GB until it ends");
    let mut stored = Vec::new();
    let tree = SourceTree::find();
    if let Some(tree) = &tree {
        patched_servo_net(tree, &patched(tree))?;
    }
    for program in [Program::servo(), Program::servo_openssl()] {
        let built = program.build(host)?;
        stored.push(program.store(&built)?);
    }
    if let Some(tree) = tree {
        let folder = tree.target().join(FOLDER);
        fs::remove_dir_all(&folder).map_err(BuildError::file("remove", &folder))?;
    }
    Ok(stored)
}

/// Returns the folder of the patched network stack.
fn patched(tree: &SourceTree) -> PathBuf {
    tree.target().join(FOLDER).join(PATCHED)
}

/// Returns the variables that name the newest libclang and its clang, unless the user has set them.
fn clang(folder: &Path) -> Vec<(String, String)> {
    let variables = ["LIBCLANG_PATH", "CLANG_PATH"].map(std::env::var_os);
    if variables.iter().all(Option::is_some) {
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
