//! Stacks with variants in their names, such as `openssl+jemalloc`: building and starting their workers.

use std::fs;

use crate::{
    checkout::{alone, checkout, command_alone, go, log},
    support::{Place, finish},
};

#[test]
fn a_variant_with_another_allocator_is_a_program_of_its_own() {
    let place = Place::new();
    checkout(&place);
    let stacks = "rustls-ring+jemalloc rustls-ring+jemalloc+novaes rustls-aws-lc+nojitter+mimalloc";
    alone(&place, &format!("stacks build {stacks}")).expect(0);
    let built = log(&place);
    let lines: Vec<&str> = built.lines().collect();
    assert_eq!(lines.len(), 2, "{built}");
    for (line, folder, allocator) in [
        (lines[0], "jemalloc", "jemalloc"),
        (lines[1], "nojitter+mimalloc", "mimalloc"),
    ] {
        let feature = format!("-p netbench-worker --features netbench-worker/{allocator}");
        assert!(line.contains(&feature), "{line}");
        let folder = format!("/target/{folder} ");
        assert!(line.contains(&folder), "{line}");
    }
    let cache = place.path().join("cache/netbench/workers");
    let cache = cache.join(env!("CARGO_PKG_VERSION"));
    for folder in ["jemalloc", "nojitter+mimalloc"] {
        assert!(cache.join(folder).join("netbench-worker-rustls").is_file());
    }
}

#[test]
fn a_fips_module_is_another_program_where_the_library_is_not_go() {
    let place = Place::new();
    checkout(&place);
    let stacks = "rustls-aws-lc+fips rustls-aws-lc+unbuffered+noavx512+fips rustls-aws-lc+fips+jemalloc go+fips go";
    let said = alone(&place, &format!("stacks build {stacks}")).expect(0);
    let built = log(&place);
    let lines: Vec<&str> = built.lines().collect();
    assert_eq!(lines.len(), 2, "{built}");
    for (line, folder) in [(lines[0], "fips"), (lines[1], "jemalloc+fips")] {
        for part in [
            "--features netbench-stack-rustls/fips",
            &format!("/target/{folder} "),
        ] {
            assert!(line.contains(part), "{line}");
        }
    }
    assert_eq!(said.stdout.lines().count(), 3, "{}", said.stdout);
    assert!(said.stdout.contains("\ngo: "), "{}", said.stdout);
}

#[test]
fn a_worker_in_go_is_told_that_it_is_a_variant() {
    let place = Place::new();
    checkout(&place);
    let worker = r#"#!/bin/sh
while read -r line; do
    id=${line#*\"id\":}
    echo '{"id":'${id%%[!0-9]*}',"type":"description","protocol":1,"stacks":[{"record":{"executable":"netbench-worker-go",
        "stack":"go'$NETBENCH_VARIANTS'","library":"Go","provider":null,"connector":"none","build":{"told":"'$GODEBUG'"}},
        "operations":[],"trust_sources":[],"groups":[],"suites":[],"signatures":[]}]}' | tr -d '\n'
    echo
done"#;
    fs::write(place.path().join("worker"), worker).unwrap();
    let builds = r#"while [ "$1" != -o ]; do shift; done; cp ../../worker "$2"; chmod 755 "$2""#;
    go(&place, builds);
    for (stack, told) in [("go", "tlsmlkem=0"), ("go+fips", "tlsmlkem=0,fips140=on")] {
        let mut command = command_alone(&place, &format!("stacks check {stack}"));
        command.env("GODEBUG", "tlsmlkem=0");
        // The worker breaks the rules; the output shows the worker's description.
        let said = finish(&mut command).expect(4).stdout;
        let shown = format!(r#""told": "{told}""#);
        assert!(said.contains(&shown), "{said}");
        assert!(
            said.starts_with(&format!("{stack}: protocol: failed\n")),
            "{said}"
        );
    }
}

#[test]
fn a_variant_with_another_compiler_is_a_program_of_its_own() {
    let place = Place::new();
    checkout(&place);
    for tool in ["clang", "clang++", "gcc", "g++"] {
        place.script(&format!("tools/{tool}"), "");
    }
    let stacks = "rustls-ring+clang rustls-ring+noavx512+clang openssl+gcc+jemalloc";
    alone(&place, &format!("stacks build {stacks}")).expect(0);
    let built = log(&place);
    let lines: Vec<&str> = built.lines().collect();
    assert_eq!(lines.len(), 2, "{built}");
    for (line, folder, c, cpp) in [
        (lines[0], "clang", "clang", "clang++"),
        (lines[1], "jemalloc+gcc", "gcc", "g++"),
    ] {
        for (name, program) in [("CC", c), ("CXX", cpp)] {
            let value = format!("--config env.{name}.value='{program}' ");
            let force = format!("--config env.{name}.force=true");
            assert!(line.contains(&value) && line.contains(&force), "{line}");
        }
        assert!(line.contains(&format!("/target/{folder} ")), "{line}");
    }

    fs::remove_file(place.path().join("tools/clang++")).unwrap();
    let mut command = command_alone(&place, "stacks build rustls-aws-lc+clang+mimalloc");
    command.env("PATH", place.path().join("tools"));
    let said = finish(&mut command).expect(1).stderr;
    assert!(said.contains("there is no clang++"), "{said}");
    assert!(said.contains("apt-get install clang\n"), "{said}");
    assert_eq!(log(&place), built, "Cargo was not called");
}

#[test]
fn a_variant_with_other_flags_is_a_program_of_its_own() {
    let place = Place::new();
    checkout(&place);
    for tool in ["clang", "clang++", "cc", "c++"] {
        place.script(&format!("tools/{tool}"), "");
    }
    let stacks =
        "rustls-ring+lto rustls-ring+native+lto rustls-ring+native+clang rustls-ring+malloc";
    alone(&place, &format!("stacks build {stacks}")).expect(0);
    let built = log(&place);
    let lines: Vec<&str> = built.lines().collect();
    assert_eq!(lines.len(), 4, "{built}");
    let lto = "--config profile.release.lto='fat' --config env.CARGO_PROFILE_RELEASE_LTO='fat'";
    let native = "--config build.rustflags=['-Ctarget-cpu=native']";
    let c = "-march=native -frecord-gcc-switches'";
    for (line, folder, with) in [
        (lines[0], "/lto", vec![lto]),
        (
            lines[1],
            "/lto+native",
            vec![lto, native, &format!("env.CC.value='cc {c}")],
        ),
        (
            lines[2],
            "/clang+native",
            vec![native, &format!("env.CXX.value='clang++ {c}")],
        ),
        (lines[3], "", Vec::new()),
    ] {
        assert!(line.contains(&format!("/target{folder}")), "{line}");
        for all in [lto, native, c] {
            let wanted = with.iter().any(|part| part.contains(all));
            assert_eq!(line.contains(all), wanted, "{all}: {line}");
        }
        for part in with {
            assert!(line.contains(part), "{line}");
        }
    }
}
