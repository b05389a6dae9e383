use std::{collections::BTreeMap, fs};

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

/// Reads the facts of this machine that can affect results. Facts that the machine does not report are left out.
pub fn environment() -> Environment {
    let mut facts = BTreeMap::new();
    let mut put = |name: &str, value: Option<String>| {
        if let Some(value) = value.filter(|value| !value.is_empty()) {
            facts.insert(name.to_owned(), value);
        }
    };
    let cpu = read("/proc/cpuinfo").unwrap_or_default();
    put("cpu_model", field(&cpu, "model name"));
    put("cpu_flags", field(&cpu, "flags"));
    put("cpu_microcode", field(&cpu, "microcode"));
    put(
        "cores",
        std::thread::available_parallelism()
            .ok()
            .map(|n| n.to_string()),
    );
    let memory = read("/proc/meminfo").unwrap_or_default();
    put("memory", field(&memory, "MemTotal"));
    put("kernel", read("/proc/sys/kernel/osrelease"));
    put(
        "os",
        read("/etc/os-release").and_then(|text| os_name(&text)),
    );
    put("aslr", read("/proc/sys/kernel/randomize_va_space"));
    put(
        "governor",
        read("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor"),
    );
    put(
        "clocksource",
        read("/sys/devices/system/clocksource/clocksource0/current_clocksource"),
    );
    put(
        "congestion_control",
        read("/proc/sys/net/ipv4/tcp_congestion_control"),
    );
    put("load", read("/proc/loadavg"));
    put("architecture", Some(std::env::consts::ARCH.to_owned()));
    put("hostname", read("/proc/sys/kernel/hostname"));
    let hypervisor = field(&cpu, "flags").is_some_and(|f| f.split(' ').any(|f| f == "hypervisor"));
    put(
        "virtual_machine",
        Some(if hypervisor { "yes" } else { "no" }.to_owned()),
    );
    let variables = std::env::vars_os()
        .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
        .filter(|(name, _)| TELLING.iter().any(|start| name.starts_with(start)))
        .collect();
    Environment { facts, variables }
}

fn read(path: &str) -> Option<String> {
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
