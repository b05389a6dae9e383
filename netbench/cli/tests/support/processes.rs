//! Commands that tests start, and their processes.

use std::{
    fs,
    io::Read,
    process::{Child, Command, Stdio},
    thread::{self, JoinHandle},
    time::{Duration, Instant},
};

use super::Place;

/// The longest time that a test's command may take.
pub const LIMIT: Duration = Duration::from_secs(400);

/// The result of a command.
pub struct Done {
    pub command: String,
    pub code: Option<i32>,
    pub stdout: String,
    pub stderr: String,
}

impl Done {
    /// Runs a command that has its own time limit, or may need minutes on a busy machine.
    pub fn of(command: &mut Command) -> Self {
        let output = command.stdin(Stdio::null()).output().unwrap();
        Self {
            command: format!("{command:?}"),
            code: output.status.code(),
            stdout: String::from_utf8(output.stdout).unwrap(),
            stderr: String::from_utf8(output.stderr).unwrap(),
        }
    }

    /// Panics with the whole output, unless the exit code is `code`.
    #[track_caller]
    pub fn expect(self, code: i32) -> Self {
        assert_eq!(
            self.code,
            Some(code),
            "{}\nstdout: {}\nstderr: {}",
            self.command,
            self.stdout,
            self.stderr
        );
        self
    }

    /// Panics with the whole output, unless the exit code is one of these.
    #[track_caller]
    pub fn expect_one(&self, codes: &[i32]) {
        let is_one = self.code.is_some_and(|code| codes.contains(&code));
        assert!(
            is_one,
            "{}: {:?}\n{}{}",
            self.command, self.code, self.stdout, self.stderr
        );
    }

    /// Panics with the command and its output, unless stdout contains `part`.
    #[track_caller]
    pub fn prints(&self, part: &str) -> &Self {
        self.holds(&self.stdout, part)
    }

    /// Panics with the command and its output, unless stderr contains `part`.
    #[track_caller]
    pub fn tells(&self, part: &str) -> &Self {
        self.holds(&self.stderr, part)
    }

    #[track_caller]
    fn holds(&self, text: &str, part: &str) -> &Self {
        let command = &self.command;
        assert!(text.contains(part), "{command}: no {part:?} in {text}");
        self
    }
}

pub fn finish(command: &mut Command) -> Done {
    let done = wait(piped(command));
    Done {
        command: format!("{command:?}"),
        ..done
    }
}

/// Makes another program start a command: its last arguments are those of the command.
pub fn starting<'a>(outer: &'a mut Command, inner: &Command) -> &'a mut Command {
    outer.arg(inner.get_program()).args(inner.get_args());
    if let Some(folder) = inner.get_current_dir() {
        outer.current_dir(folder);
    }
    for (name, value) in inner.get_envs() {
        outer.env(name, value.unwrap());
    }
    outer
}

pub fn piped(command: &mut Command) -> Child {
    command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap()
}

/// Runs a command whose stdout and stderr are closed pipes, and returns its exit code.
pub fn finish_unread(command: &mut Command) -> Option<i32> {
    let [stdout, stderr] = [(); 2].map(|()| {
        let (_, unread) = std::io::pipe().unwrap();
        unread
    });
    command.stdin(Stdio::null()).stdout(stdout).stderr(stderr);
    end(&mut command.spawn().unwrap())
}

/// Presses Ctrl-C, and waits for a command whose output is piped.
pub fn interrupt(child: Child) -> Done {
    signal("INT", child.id());
    wait(child)
}

/// Sends a signal to a process.
pub fn signal(name: &str, pid: u32) {
    let how = format!("-{name}");
    finish(Command::new("kill").args([how, pid.to_string()])).expect(0);
}

/// Waits for a command whose output is piped.
pub fn wait(mut child: Child) -> Done {
    let stdout = read_in_thread(child.stdout.take().unwrap());
    let stderr = read_in_thread(child.stderr.take().unwrap());
    let code = end(&mut child);
    Done {
        command: String::new(),
        code,
        stdout: stdout.join().unwrap(),
        stderr: stderr.join().unwrap(),
    }
}

fn read_in_thread(mut pipe: impl Read + Send + 'static) -> JoinHandle<String> {
    thread::spawn(move || {
        let mut text = String::new();
        pipe.read_to_string(&mut text).unwrap();
        text
    })
}

/// Waits for the end of a child, and kills it at the time limit.
pub fn end(child: &mut Child) -> Option<i32> {
    let deadline = Instant::now() + LIMIT;
    loop {
        if let Some(status) = child.try_wait().unwrap() {
            return status.code();
        }
        if Instant::now() > deadline {
            child.kill().unwrap();
            child.wait().unwrap();
            panic!("no end within {LIMIT:?}");
        }
        thread::sleep(Duration::from_millis(20));
    }
}

/// Waits until `ready` returns true.
pub fn until(what: &str, mut ready: impl FnMut() -> bool) {
    let deadline = Instant::now() + LIMIT;
    while !ready() {
        assert!(Instant::now() < deadline, "waited for {what} in vain");
        thread::sleep(Duration::from_millis(20));
    }
}

/// Marks the processes of a command, and returns the mark in their environment.
pub fn mark(place: &Place, command: &mut Command) -> String {
    let (name, value) = ("NETBENCH_TEST_MARK", place.path().display().to_string());
    command.env(name, &value);
    format!("{name}={value}")
}

/// Returns the command lines of the processes that have `mark` in their environment.
pub fn marked_processes(mark: &str) -> Vec<String> {
    let commands = marked(mark).into_iter().map(|(_, command)| command);
    commands.collect()
}

/// Returns the numbers and command lines of the processes that have `mark` in their environment.
pub fn marked(mark: &str) -> Vec<(u32, String)> {
    let mut found = Vec::new();
    for entry in fs::read_dir("/proc").unwrap().flatten() {
        let Some(pid) = entry
            .file_name()
            .to_str()
            .and_then(|name| name.parse().ok())
        else {
            continue;
        };
        let path = entry.path();
        let environ = fs::read(path.join("environ")).unwrap_or_default();
        if String::from_utf8_lossy(&environ).contains(mark) {
            let command = fs::read(path.join("cmdline")).unwrap_or_default();
            // A process that has ended and was not waited for has no command line.
            if !command.is_empty() {
                let command = String::from_utf8_lossy(&command).replace('\0', " ");
                found.push((pid, command));
            }
        }
    }
    found
}
