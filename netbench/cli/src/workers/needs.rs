//! The system packages that a build needs besides Cargo, checked before the build: some builds would fail only after
//! many minutes.

use std::{
    env, fs,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use anyhow::bail;

use super::in_path;

/// A requirement of a package's build.
struct Need {
    what: &'static str,
    /// The packages in Debian and Ubuntu that provide the requirement.
    packages: &'static str,
    is_there: fn() -> bool,
}

const CMAKE: Need = Need {
    what: "CMake",
    packages: "cmake",
    is_there: || in_path("cmake").is_some(),
};

const PERL: Need = Need {
    what: "perl",
    packages: "perl",
    is_there: || in_path("perl").is_some(),
};

const CXX: Need = Need {
    what: "a C++ compiler",
    packages: "g++",
    is_there: || env::var_os("CXX").is_some() || in_path("c++").is_some(),
};

const LIBCLANG: Need = Need {
    what: "libclang with its headers (where they are elsewhere, LIBCLANG_PATH names the folder)",
    packages: "libclang-dev",
    is_there: has_libclang,
};

/// CMake builds AWS-LC's libssl, and bindgen reads its headers through libclang.
const AWS_LC: &[Need] = &[CMAKE, CXX, LIBCLANG];

/// BoringSSL is built like AWS-LC, after git has patched it.
const BORINGSSL: &[Need] = &[
    CMAKE,
    Need {
        what: "git",
        packages: "git",
        is_there: || in_path("git").is_some(),
    },
    CXX,
    LIBCLANG,
];

/// CMake builds AWS-LC's FIPS module, and a Go program rewrites its assembly.
const AWS_LC_FIPS: &[Need] = &[
    CMAKE,
    Need {
        what: "Go",
        packages: "golang-go",
        is_there: || in_path("go").is_some(),
    },
    PERL,
    CXX,
];

const OPENSSL: &[Need] = &[
    PERL,
    Need {
        what: "make",
        packages: "make",
        is_there: || in_path("make").is_some(),
    },
    Need {
        what: "a C compiler",
        packages: "gcc",
        is_there: || env::var_os("CC").is_some() || in_path("cc").is_some(),
    },
];

const PKG_CONFIG: Need = Need {
    what: "pkg-config",
    packages: "pkg-config",
    is_there: || in_path("pkg-config").is_some(),
};

/// The requirements of packages that link with the system's libssl.
const SYSTEM_LIBSSL: &[Need] = &[
    PKG_CONFIG,
    Need {
        what: "OpenSSL's headers",
        packages: "libssl-dev",
        is_there: || pkg_config_has("openssl"),
    },
];

const GNUTLS: &[Need] = &[
    PKG_CONFIG,
    Need {
        what: "GnuTLS' headers",
        packages: "libgnutls28-dev",
        is_there: || pkg_config_has("gnutls"),
    },
];

const NSS: &[Need] = &[
    PKG_CONFIG,
    Need {
        what: "NSS' headers",
        packages: "libnss3-dev",
        is_there: || pkg_config_has("nss"),
    },
];

/// Servo's network stack depends on its font crates.
const SERVO: &[Need] = &[
    PKG_CONFIG,
    Need {
        what: "fontconfig's headers",
        packages: "libfontconfig-dev",
        is_there: || pkg_config_has("fontconfig"),
    },
    Need {
        what: "FreeType's headers",
        packages: "libfreetype-dev",
        is_there: || pkg_config_has("freetype2"),
    },
    CXX,
];

/// Refuses to build a package if a requirement is missing.
pub(crate) fn has_all_for(package: &str) -> anyhow::Result<()> {
    let needs = match package {
        "netbench-stack-aws-lc" => AWS_LC,
        "netbench-stack-boringssl" => BORINGSSL,
        "netbench-stack-gnutls" => GNUTLS,
        "netbench-stack-native-tls"
        | "netbench-stack-openssl"
        | "netbench-stack-reqwest-native-tls"
        | "netbench-stack-rustls-openssl" => OPENSSL,
        "netbench-stack-nss" => NSS,
        "netbench-stack-openssl-system" => SYSTEM_LIBSSL,
        "netbench-stack-servo" => SERVO,
        _ => &[],
    };
    has_all(package, needs)
}

/// Refuses to build a package with AWS-LC's FIPS module if a requirement of this module is missing.
pub(super) fn has_all_for_aws_lc_fips(package: &str) -> anyhow::Result<()> {
    has_all(package, AWS_LC_FIPS)
}

fn has_all(package: &str, needs: &[Need]) -> anyhow::Result<()> {
    let missing: Vec<&Need> = needs.iter().filter(|need| !(need.is_there)()).collect();
    if missing.is_empty() {
        return Ok(());
    }
    let what: Vec<_> = missing.iter().map(|need| need.what).collect();
    let packages: Vec<_> = missing.iter().map(|need| need.packages).collect();
    bail!(
        "cannot build {package}, which needs what is not here: {}\n\
         on Debian and Ubuntu: apt-get install {}",
        what.join(", "),
        packages.join(" ")
    );
}

/// Refuses to build with missing compilers. Each compiler is the value of a variable, with its flags.
pub(super) fn has_compilers(compilers: &[(&str, String)]) -> anyhow::Result<()> {
    for (_, call) in compilers {
        let program = call.split(' ').next().unwrap_or(call);
        if in_path(program).is_none() {
            // Clang's package contains both of its compilers.
            let package = program.replace("clang++", "clang");
            bail!(
                "there is no {program} to build it with\n\
                 on Debian and Ubuntu: apt-get install {package}"
            );
        }
    }
    Ok(())
}

/// Returns whether pkg-config finds a library.
fn pkg_config_has(library: &str) -> bool {
    let found = Command::new("pkg-config")
        .args(["--exists", library])
        .stdin(Stdio::null())
        .stderr(Stdio::null())
        .status();
    found.is_ok_and(|status| status.success())
}

/// Returns whether libclang is installed as by its development package, with the headers of its compiler.
fn has_libclang() -> bool {
    if env::var_os("LIBCLANG_PATH").is_some() {
        return true;
    }
    let within = |root: &Path, folder: &str| {
        let folders = ["lib", "lib64"].map(|lib| root.join(lib).join(folder));
        folders.into_iter().flat_map(|folder| entries(&folder))
    };
    let installed = |root: &Path| {
        within(root, "").any(|file| named(&file, "libclang.so"))
            && within(root, "clang").any(|version| version.join("include/stddef.h").is_file())
    };
    let compilers = entries(Path::new("/usr/lib")).into_iter();
    compilers
        .filter(|folder| named(folder, "llvm"))
        .chain(["/usr", "/usr/local"].map(PathBuf::from))
        .any(|root| installed(&root))
}

fn named(path: &Path, begin: &str) -> bool {
    let name = path.file_name().unwrap_or_default();
    name.to_string_lossy().starts_with(begin)
}

fn entries(folder: &Path) -> Vec<PathBuf> {
    let read = fs::read_dir(folder).into_iter().flatten();
    read.flatten().map(|entry| entry.path()).collect()
}
