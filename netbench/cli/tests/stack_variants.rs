//! Stacks with variants in their names, such as `openssl+jemalloc`: building and starting their workers.

use std::fs;

use crate::{
    checkout::{
        add_tools, alone, builds, cached_workers, checkout, command_alone, fails_with_own_tools,
        go, remove_tools,
    },
    support::finish,
};

#[test]
fn a_variant_with_another_allocator_is_a_program_of_its_own() {
    let place = checkout();
    let stacks = "rustls-ring+jemalloc rustls-ring+jemalloc+novaes rustls-aws-lc+nojitter+mimalloc";
    alone(&place, &format!("stacks build {stacks}")).expect(0);
    let lines = builds::<2>(&place);
    for (line, folder, allocator) in [
        (&lines[0], "jemalloc", "jemalloc"),
        (&lines[1], "nojitter+mimalloc", "mimalloc"),
    ] {
        let feature = format!("-p netbench-worker --features netbench-worker/{allocator}");
        assert!(line.contains(&feature), "{line}");
        let folder = format!("/target/{folder} ");
        assert!(line.contains(&folder), "{line}");
    }
    let cache = cached_workers(&place);
    for folder in ["jemalloc", "nojitter+mimalloc"] {
        assert!(cache.join(folder).join("netbench-worker-rustls").is_file());
    }
}

#[test]
fn a_fips_module_is_another_program_where_the_library_is_not_go() {
    let place = checkout();
    let stacks = "rustls-aws-lc+fips rustls-aws-lc+unbuffered+noavx512+fips rustls-aws-lc+fips+jemalloc go+fips go";
    let said = alone(&place, &format!("stacks build {stacks}")).expect(0);
    let lines = builds::<2>(&place);
    for (line, folder) in [(&lines[0], "fips"), (&lines[1], "jemalloc+fips")] {
        for part in [
            "--features netbench-stack-rustls/fips",
            &format!("/target/{folder} "),
        ] {
            assert!(line.contains(part), "{line}");
        }
    }
    assert_eq!(said.stdout.lines().count(), 3, "{}", said.stdout);
    said.prints("\ngo: ");
}

#[test]
fn a_worker_in_go_is_told_that_it_is_a_variant() {
    let place = checkout();
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
    let place = checkout();
    add_tools(&place, &["clang", "clang++", "gcc", "g++"]);
    let stacks = "rustls-ring+clang rustls-ring+noavx512+clang openssl+gcc+jemalloc";
    alone(&place, &format!("stacks build {stacks}")).expect(0);
    let lines = builds::<2>(&place);
    for (line, folder, c, cpp) in [
        (&lines[0], "clang", "clang", "clang++"),
        (&lines[1], "jemalloc+gcc", "gcc", "g++"),
    ] {
        for (name, program) in [("CC", c), ("CXX", cpp)] {
            let value = format!("--config env.{name}.value='{program}' ");
            let force = format!("--config env.{name}.force=true");
            assert!(line.contains(&value) && line.contains(&force), "{line}");
        }
        assert!(line.contains(&format!("/target/{folder} ")), "{line}");
    }

    remove_tools(&place, &["clang++"]);
    fails_with_own_tools(&place, "stacks build rustls-aws-lc+clang+mimalloc")
        .tells("there is no clang++")
        .tells("apt-get install clang\n");
    assert_eq!(builds(&place), lines, "Cargo was not called");
}

#[test]
fn a_variant_with_other_flags_is_a_program_of_its_own() {
    let place = checkout();
    add_tools(&place, &["clang", "clang++", "cc", "c++"]);
    let stacks =
        "rustls-ring+lto rustls-ring+native+lto rustls-ring+native+clang rustls-ring+malloc";
    alone(&place, &format!("stacks build {stacks}")).expect(0);
    let lines = builds::<4>(&place);
    let lto = "--config profile.release.lto='fat' --config env.CARGO_PROFILE_RELEASE_LTO='fat'";
    let native = "--config build.rustflags=['-Ctarget-cpu=native']";
    let c = "-march=native -frecord-gcc-switches'";
    for (line, folder, with) in [
        (&lines[0], "/lto", vec![lto]),
        (
            &lines[1],
            "/lto+native",
            vec![lto, native, &format!("env.CC.value='cc {c}")],
        ),
        (
            &lines[2],
            "/clang+native",
            vec![native, &format!("env.CXX.value='clang++ {c}")],
        ),
        (&lines[3], "", Vec::new()),
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
