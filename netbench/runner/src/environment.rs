mod processor;

use std::{fs, path::Path};

use netbench_model::Environment;

/// Prefixes of environment variables that change the behaviour of a TLS library or an allocator.
const TELLING: &[&str] = &[
    "OPENSSL_",
    "SSL_",
    "SSLKEYLOGFILE",
    "MALLOC_",
    "AWS_LC_",
    "GLIBC_TUNABLES",
    "LD_PRELOAD",
    "LD_LIBRARY_PATH",
    "RUST_LOG",
];

/// Files of the kernel that contain one fact each.
const FILES: [(&str, &str); 6] = [
    ("kernel", "/proc/sys/kernel/osrelease"),
    ("aslr", "/proc/sys/kernel/randomize_va_space"),
    (
        "clocksource",
        "/sys/devices/system/clocksource/clocksource0/current_clocksource",
    ),
    (
        "congestion_control",
        "/proc/sys/net/ipv4/tcp_congestion_control",
    ),
    ("load", "/proc/loadavg"),
    ("hostname", "/proc/sys/kernel/hostname"),
];

/// Reads the facts of this machine that can affect results. Facts that the machine does not report are left out.
pub fn environment() -> Environment {
    let cpu = read("/proc/cpuinfo").unwrap_or_default();
    let memory = read("/proc/meminfo").unwrap_or_default();
    let cores = std::thread::available_parallelism().ok();
    let flags = field(&cpu, "flags");
    let is_virtual = (flags.iter()).any(|flags| flags.split(' ').any(|flag| flag == "hypervisor"));
    let facts = [
        ("cpu_model", field(&cpu, "model name")),
        ("cpu_flags", flags),
        ("cpu_microcode", field(&cpu, "microcode")),
        ("cores", cores.map(|cores| cores.to_string())),
        ("memory", field(&memory, "MemTotal")),
        (
            "os",
            read("/etc/os-release").and_then(|text| os_name(&text)),
        ),
        ("architecture", Some(std::env::consts::ARCH.to_owned())),
        (
            "virtual_machine",
            Some(if is_virtual { "yes" } else { "no" }.to_owned()),
        ),
    ];
    let files = FILES.map(|(name, path)| (name, read(path)));
    let facts = facts.into_iter().chain(files);
    let facts = facts
        .filter_map(|(name, value)| Some((name, value?)))
        .chain(processor::facts(Path::new(processor::CPUS)))
        .filter(|(_, value)| !value.is_empty())
        .map(|(name, value)| (name.to_owned(), value))
        .collect();
    let variables = std::env::vars_os()
        .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
        .filter(|(name, _)| TELLING.iter().any(|start| name.starts_with(start)))
        .collect();
    Environment { facts, variables }
}

fn read(path: impl AsRef<Path>) -> Option<String> {
    fs::read_to_string(path)
        .ok()
        .map(|text| text.trim().to_owned())
}

fn field(text: &str, name: &str) -> Option<String> {
    text.lines().find_map(|line| {
        let (key, value) = line.split_once(':')?;
        (key.trim() == name).then(|| value.trim().to_owned())
    })
}

fn os_name(text: &str) -> Option<String> {
    let line = text
        .lines()
        .find_map(|line| line.strip_prefix("PRETTY_NAME="))?;
    Some(line.trim_matches('"').to_owned())
}
