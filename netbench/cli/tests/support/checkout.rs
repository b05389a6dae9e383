//! A checkout in which scripts replace all builds, with the command in it.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::{ffi::OsString, fs, iter, path::Path, process::Command};

use crate::support::{Done, Place, finish, words};

/// Makes a checkout that has only its layout, with scripts in place of Cargo and Go that log their arguments and make
/// the requested files.
pub(crate) fn checkout(place: &Place) {
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
    case "$1" in -p) package=${package:-$2} ;; --target-dir) target=$2 ;; esac
    shift
done
case "$package" in *-openssl-system) echo "no headers" >&2; exit 101 ;; esac
mkdir -p "$target/release"
echo "$package" > "$target/release/netbench-worker-${package#netbench-stack-}"
echo heap > "$target/release/libnetbench_heap.so""#;
    place.script("cargo", cargo);
    go(
        place,
        r#"while [ "$1" != -o ]; do shift; done; echo go > "$2""#,
    );
    place.script("stacks/java/build", r#"echo java > "$1""#);
    for tool in ["javac", "cmake", "git", "c++", "pkg-config"] {
        place.script(&format!("tools/{tool}"), "");
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

pub(crate) fn log(place: &Place) -> String {
    log_of(place, "cargo.log")
}

pub(crate) fn log_of(place: &Place, name: &str) -> String {
    fs::read_to_string(place.path().join(name)).unwrap_or_default()
}
