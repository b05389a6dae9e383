//! A checkout in which scripts replace all builds, with the command in it.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::{
    ffi::OsString,
    fs, iter,
    path::{Path, PathBuf},
    process::Command,
};

use crate::support::{Done, Place, finish, words};

/// Makes a checkout that has only its layout, with scripts in place of Cargo and Go that log their arguments and make
/// the requested files.
pub(crate) fn checkout() -> Place {
    let place = Place::new();
    let files = ["Cargo.toml", "netbench/cli/Cargo.toml", "stacks/go/go.mod"];
    for file in files.into_iter().chain(["tools/none", "stacks/java/start"]) {
        let path = place.path().join(file);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, "").unwrap();
    }
    let source = place.path().join("source/openssl-src-1/openssl");
    fs::create_dir_all(&source).unwrap();
    fs::write(source.join("config"), "perl \"$@\"").unwrap();
    let cargo = r#"case "$1" in metadata)
    cat "${6%toml}lock" >> fetched.log
    echo "{\"manifest_path\":\"$PWD/source/openssl-src-1/Cargo.toml\"}"
    exit ;;
update)
    echo "$*" >> updates.log
    exit ;;
esac
echo "$*" >> cargo.log
while [ $# -gt 0 ]; do
    case "$1" in -p) packages="$packages $2" ;; --target-dir) target=$2 ;; esac
    shift
done
mkdir -p "$target/release"
for package in $packages; do
    case "$package" in *-openssl-system) echo "no headers" >&2; exit 101 ;; esac
    echo "$package" > "$target/release/netbench-worker-${package#netbench-stack-}"
done
echo heap > "$target/release/libnetbench_heap.so""#;
    place.script("cargo", cargo);
    go(&place, GO);
    place.script("stacks/java/build", r#"echo java > "$1""#);
    add_tools(&place, &["javac", "cmake", "git", "c++", "pkg-config"]);
    place
}

/// Makes the requested file, as `go build` does.
pub(crate) const GO: &str = r#"while [ "$1" != -o ]; do shift; done; echo go > "$2""#;

/// Adds tools that do nothing.
pub(crate) fn add_tools(place: &Place, names: &[&str]) {
    for tool in names {
        place.script(&format!("tools/{tool}"), "");
    }
}

pub(crate) fn remove_tools(place: &Place, names: &[&str]) {
    for tool in names {
        fs::remove_file(place.path().join("tools").join(tool)).unwrap();
    }
}

/// Makes `go` run `body`, after it has logged its arguments.
pub(crate) fn go(place: &Place, body: &str) {
    let script = format!("echo \"$*\" >> \"$(dirname \"$0\")\"/go.log\n{body}");
    place.script("tools/go", &script);
}

/// Runs a copy of the command without workers next to it.
pub(crate) fn alone(place: &Place, line: &str) -> Done {
    finish(&mut command_alone(place, line))
}

/// Runs a copy of the command, which must fail, where no tools are but those of the checkout.
pub(crate) fn fails_with_own_tools(place: &Place, line: &str) -> Done {
    let mut command = command_alone(place, line);
    finish(command.env("PATH", place.path().join("tools"))).expect(1)
}

pub(crate) fn command_alone(place: &Place, line: &str) -> Command {
    let bin = place.path().join("bin");
    fs::create_dir_all(&bin).unwrap();
    let copy = bin.join("netbench");
    if !copy.exists() {
        fs::hard_link(env!("CARGO_BIN_EXE_netbench"), &copy)
            .or_else(|_| fs::copy(env!("CARGO_BIN_EXE_netbench"), &copy).map(|_| ()))
            .unwrap();
    }
    let mut command = Command::new(copy);
    command
        .args(words(line))
        .current_dir(place.path())
        .env("XDG_CACHE_HOME", place.path().join("cache"))
        .env("CARGO", place.path().join("cargo"))
        .env("PATH", path_with(&place.path().join("tools")))
        // The command does not check a given folder for libclang.
        .env("LIBCLANG_PATH", place.path())
        .env_remove("JAVA_HOME")
        .env_remove("CXX")
        .env_remove("CARGO_TARGET_DIR");
    command
}

/// Returns the folders in which programs are looked up, beginning with `folder`.
fn path_with(folder: &Path) -> OsString {
    let usual = std::env::var_os("PATH").unwrap_or_default();
    let folders = iter::once(folder.to_owned()).chain(std::env::split_paths(&usual));
    std::env::join_paths(folders).unwrap()
}

/// Returns the folder of the workers in the cache.
pub(crate) fn cached_workers(place: &Place) -> PathBuf {
    let workers = place.path().join("cache/netbench/workers");
    workers.join(env!("CARGO_PKG_VERSION"))
}

/// Returns the arguments of the calls of Cargo, of which there must be `N`.
pub(crate) fn builds<const N: usize>(place: &Place) -> [String; N] {
    let lines: Vec<String> = log(place).lines().map(str::to_owned).collect();
    lines.try_into().unwrap()
}

pub(crate) fn log(place: &Place) -> String {
    log_of(place, "cargo.log")
}

pub(crate) fn log_of(place: &Place, name: &str) -> String {
    fs::read_to_string(place.path().join(name)).unwrap_or_default()
}
