//! The events of the main thread: commands, and Servo's requests to run its event loop.

use std::{
    io::{self, BufRead},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
        mpsc::{Receiver, Sender, channel},
    },
    thread,
};

use servo::EventLoopWaker;

use crate::messages::Command;

/// An event of the main thread.
#[derive(Debug)]
pub(crate) enum Event {
    /// Servo's event loop has work.
    Wake,
    /// A line of stdin: a command, or the reason why the line is none.
    Command(Result<Command, String>),
    /// stdin has ended.
    End,
}

/// Wakes the main thread for Servo's event loop.
#[derive(Debug, Clone)]
pub(crate) struct Waker {
    events: Sender<Event>,
    is_awake: Arc<AtomicBool>,
}

impl EventLoopWaker for Waker {
    fn clone_box(&self) -> Box<dyn EventLoopWaker> {
        Box::new(self.clone())
    }

    fn wake(&self) {
        // One event stands for all requests until the loop runs.
        if !self.is_awake.swap(true, Ordering::AcqRel) {
            let _ = self.events.send(Event::Wake);
        }
    }
}

impl Waker {
    /// Records that the event loop is about to run: a later request is a new event.
    pub(crate) fn rest(&self) {
        self.is_awake.store(false, Ordering::Release);
    }
}

/// Reads commands in another thread, and returns the events of all sources.
pub(crate) fn events() -> Result<(Waker, Receiver<Event>), String> {
    let (events, received) = channel();
    let waker = Waker {
        events: events.clone(),
        is_awake: Arc::default(),
    };
    thread::Builder::new()
        .name("commands".to_owned())
        .spawn(move || read_commands(&events))
        .map_err(|error| format!("cannot start a thread: {error}"))?;
    Ok((waker, received))
}

fn read_commands(events: &Sender<Event>) {
    for line in io::stdin().lock().lines() {
        let command = line
            .map_err(|error| error.to_string())
            .and_then(|line| serde_json::from_str(&line).map_err(|error| error.to_string()));
        if events.send(Event::Command(command)).is_err() {
            return;
        }
    }
    let _ = events.send(Event::End);
}
