use std::{
    io::{BufRead, BufReader, Write},
    process::{Child, ChildStdin, Command, ExitStatus, Stdio},
    sync::mpsc::{self, Receiver},
    thread,
    time::{Duration, Instant},
};

use netbench_protocol::{Request, RequestBody, Response, ResponseBody};
use netbench_runner::WorkerProgram;

/// Time limit of an answer, longer than any answer needs on a busy machine.
pub(crate) const ANSWER_LIMIT: Duration = Duration::from_secs(40);

/// Maximum time that a worker may continue after the end of its stdin.
const END_LIMIT: Duration = Duration::from_secs(2);

/// A worker's process, to which arbitrary bytes can be written.
pub(crate) struct Talk {
    child: Child,
    stdin: Option<ChildStdin>,
    answers: Receiver<Result<Response, String>>,
}

impl Drop for Talk {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Talk {
    pub(crate) fn start(program: &WorkerProgram) -> Result<Self, String> {
        let mut child = Command::new(&program.path)
            .envs(program.environment())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .map_err(|e| e.to_string())?;
        let stdin = child.stdin.take();
        let stdout = child.stdout.take().ok_or("no pipe")?;
        let (sender, answers) = mpsc::channel();
        thread::spawn(move || {
            for line in BufReader::new(stdout).lines() {
                let answer = line.map_err(|e| e.to_string()).and_then(|line| {
                    serde_json::from_str(&line).map_err(|e| format!("{e} in {line:?}"))
                });
                if sender.send(answer).is_err() {
                    break;
                }
            }
        });
        Ok(Self {
            child,
            stdin,
            answers,
        })
    }

    pub(crate) fn write(&mut self, line: &[u8]) -> Result<(), String> {
        let stdin = self.stdin.as_mut().ok_or("stdin is closed")?;
        stdin
            .write_all(line)
            .and_then(|()| stdin.write_all(b"\n"))
            .and_then(|()| stdin.flush())
            .map_err(|e| e.to_string())
    }

    pub(crate) fn put(&mut self, line: &[u8]) -> Result<Response, String> {
        self.write(line)?;
        self.answers
            .recv_timeout(ANSWER_LIMIT)
            .map_err(|e| format!("no answer: {e}"))?
    }

    pub(crate) fn ask(&mut self, id: u64, body: RequestBody) -> Result<ResponseBody, String> {
        let answer = self.put(&line(id, body)?)?;
        if answer.id == id {
            Ok(answer.body)
        } else {
            Err(format!("an answer to {}, not {id}", answer.id))
        }
    }

    /// Closes stdin and waits for the end.
    pub(crate) fn end(mut self) -> Result<ExitStatus, String> {
        drop(self.stdin.take());
        let deadline = Instant::now() + END_LIMIT;
        while Instant::now() < deadline {
            if let Some(status) = self.child.try_wait().map_err(|e| e.to_string())? {
                return Ok(status);
            }
            thread::sleep(Duration::from_millis(5));
        }
        Err(format!("still there {END_LIMIT:?} after the end of stdin"))
    }
}

/// Returns the line of a request.
pub(crate) fn line(id: u64, body: RequestBody) -> Result<Vec<u8>, String> {
    serde_json::to_vec(&Request { id, body }).map_err(|e| e.to_string())
}
