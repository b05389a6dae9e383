//! Machines that refuse namespaces, as containers do: without an emulated network, there is no verdict on a network.

use std::{io, os::unix::process::CommandExt, process::Command};

use serde_json::Value;

use crate::support::{Done, Place, finish, json, starting};

netbench_testing::module_tests! {
    a_container_that_refuses_namespaces_gets_no_verdict_on_a_network: Seccomp;
    namespaces_that_are_switched_off_are_said_to_be: NamespaceLimits;
}

const SITES: &str = "\
one.example  rtt=22ms
two.example  rtt=57ms
";

/// The message for a missing network.
const REFUSED: &str = "cannot emulate a network: cannot make ";

fn run(place: &Place, line: &str) -> Done {
    finish(without_namespaces(&mut place.command_line(line)))
}

/// Refuses namespaces like the seccomp profiles of Docker and Podman.
fn a_container_that_refuses_namespaces_gets_no_verdict_on_a_network() {
    let place = Place::with_sites(SITES);
    let done = run(&place, "connect --sites sites.txt --rounds 1").expect(5);
    done.tells(REFUSED);
    done.tells("`--link none`");
    let said = done.stderr.matches("Operation not permitted").count();
    assert_eq!(said, 1, "{}", done.stderr);
    assert!(!place.path().join("runs").exists(), "nothing was measured");

    // A scan needs no times.
    run(&place, "scan --sites sites.txt --parts enumeration --quiet").expect(0);

    let line = "evaluate --quick --sites sites.txt --part connections --out evaluated --json";
    let found: Value = json(&run(&place, line).expect(3).stdout);
    let parts = found["run"]["plan"]["parts"].as_array().unwrap();
    let part = parts.iter().find(|part| part["part"] == "connections");
    assert_eq!(part.unwrap()["state"]["state"], "unsupported");
    for question in [&found["questions"][1], &found["questions"][2]] {
        assert_eq!(question["answer"], "open");
        let because = question["because"].as_str().unwrap();
        assert!(because.starts_with("No connections"), "{because}");
        assert!(because.contains(REFUSED), "{because}");
    }

    // With `--link none`, figures are those of loopback, and there is still no verdict on a network.
    let found: Value = json(&run(&place, &format!("{line} --link none")).expect(0).stdout);
    // Connections alone do not show that the switch works.
    let works = &found["questions"][1];
    assert_eq!(works["answer"], "open");
    let because = works["because"].as_str().unwrap();
    assert!(because.contains("all finished"), "{because}");
    let fast = &found["questions"][2];
    assert_eq!(fast["answer"], "open");
    let because = fast["because"].as_str().unwrap();
    assert!(
        because.starts_with("Connections were made over loopback"),
        "{because}"
    );
    let figures = fast["figures"].as_array().unwrap();
    let labels = figures
        .iter()
        .map(|figure| figure["label"].as_str().unwrap());
    let whole: Vec<&str> = labels
        .filter(|label| label.contains("whole connection"))
        .collect();
    assert!(!whole.is_empty());
    assert!(
        whole.iter().all(|label| label.contains("over loopback")),
        "{whole:?}"
    );
}

/// Switches namespaces off like `user.max_user_namespaces=0`, which hardened hosts set.
fn namespaces_that_are_switched_off_are_said_to_be() {
    const SWITCHED_OFF: &str = "echo 0 > /proc/sys/user/max_user_namespaces && \
        exec setpriv --inh-caps=-all --bounding-set=-all \"$@\"";
    let place = Place::with_sites(SITES);
    let command = place.command_line("connect --sites sites.txt --rounds 1");
    let mut inside = Command::new("unshare");
    inside.args(["--user", "--map-root-user", "sh", "-c", SWITCHED_OFF, "sh"]);
    let done = finish(starting(&mut inside, &command)).expect(5);
    done.tells(REFUSED);
    done.tells("user namespaces are turned off");
}

/// Makes the kernel refuse every namespace to this command.
fn without_namespaces(command: &mut Command) -> &mut Command {
    // SAFETY: between fork and exec the function makes two system calls and allocates no memory.
    unsafe { command.pre_exec(refuse_namespaces) }
}

fn refuse_namespaces() -> io::Result<()> {
    const FLAGS: i32 =
        libc::CLONE_NEWUSER | libc::CLONE_NEWNET | libc::CLONE_NEWNS | libc::CLONE_NEWPID;
    const fn step(code: u32, k: u32, yes: u8, no: u8) -> libc::sock_filter {
        libc::sock_filter {
            code: code as u16,
            jt: yes,
            jf: no,
            k,
        }
    }
    const LOAD: u32 = libc::BPF_LD | libc::BPF_W | libc::BPF_ABS;
    const IS: u32 = libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K;
    const HAS: u32 = libc::BPF_JMP | libc::BPF_JSET | libc::BPF_K;
    const RETURN: u32 = libc::BPF_RET | libc::BPF_K;
    // The filter reads the number of the system call, at 0, and the lower half of its first argument, at 16. The
    // numbers after a comparison are the steps to skip if it holds, and if it does not.
    let mut steps = [
        step(LOAD, 0, 0, 0),
        step(IS, libc::SYS_unshare as u32, 5, 0),
        step(IS, libc::SYS_clone3 as u32, 3, 0),
        step(IS, libc::SYS_clone as u32, 0, 4),
        step(LOAD, 16, 0, 0),
        step(HAS, FLAGS as u32, 1, 2),
        step(RETURN, libc::SECCOMP_RET_ERRNO | libc::ENOSYS as u32, 0, 0),
        step(RETURN, libc::SECCOMP_RET_ERRNO | libc::EPERM as u32, 0, 0),
        step(RETURN, libc::SECCOMP_RET_ALLOW, 0, 0),
    ];
    let program = libc::sock_fprog {
        len: steps.len() as u16,
        filter: steps.as_mut_ptr(),
    };
    // SAFETY: the calls change only this process, and the program outlives the second call.
    let results = unsafe {
        [
            libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0),
            libc::prctl(
                libc::PR_SET_SECCOMP,
                libc::SECCOMP_MODE_FILTER,
                &raw const program,
            ),
        ]
    };
    if results == [0, 0] {
        Ok(())
    } else {
        Err(io::Error::last_os_error())
    }
}
