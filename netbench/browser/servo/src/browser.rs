//! Servo with one view, and the commands that it carries out.

use std::{
    cell::RefCell,
    fs::File,
    io::{self, Write},
    os::fd::AsFd,
    path::{Path, PathBuf},
    rc::Rc,
    sync::mpsc::{Receiver, RecvTimeoutError},
    time::{Duration, Instant},
};

use dpi::PhysicalSize;
use image::ImageFormat;
use rustls::crypto::{aws_lc_rs, ring};
use serde_json::Value;
use servo::{
    JSValue, JavaScriptEvaluationError, Opts, Preferences, RenderingContext, RgbaImage,
    ScreenshotCaptureError, Servo, ServoBuilder, SoftwareRenderingContext, WebView, WebViewBuilder,
};
use url::Url;

use crate::{
    connections,
    events::{Event, Waker, events},
    messages::{Answer, Command},
    options::{self, Action, Options, Provider},
    page::Page,
};

/// The size of the view, in pixels.
const SIZE: PhysicalSize<u32> = PhysicalSize {
    width: 1280,
    height: 800,
};

/// The time between two looks at the result of a script.
const LOOK: Duration = Duration::from_millis(2);

/// The name of the page's object with the result of a script.
const RESULT: &str = "__netbench_result";

/// The value that a callback of Servo leaves.
type Slot<T> = Rc<RefCell<Option<T>>>;

/// The outcome of a script.
type Evaluated = Result<JSValue, JavaScriptEvaluationError>;

/// The outcome of a picture.
type Captured = Result<RgbaImage, ScreenshotCaptureError>;

/// Performs the action of the options.
pub(crate) fn run(options: Options) -> Result<(), String> {
    match options.action {
        Action::Version => println!("{}", version()),
        Action::Help => println!("{}", options::help()),
        Action::Browse => {
            let answers = answers()?;
            let (waker, received) = events()?;
            Browser::start(&options, waker, answers)?.carry_out(&received)?;
        }
    }
    Ok(())
}

/// Returns the version of Servo, as its own user agent has it.
fn version() -> String {
    let user_agent = Preferences::default().user_agent;
    let mut parts = user_agent.split(' ');
    let number = parts.find_map(|part| part.strip_prefix("Servo/"));
    format!("Servo {}", number.unwrap_or("of an unknown version"))
}

/// Returns the stream of answers. Later output to stdout, where libraries may print, goes to stderr.
fn answers() -> Result<File, String> {
    let failed = |error: io::Error| format!("cannot redirect stdout: {error}");
    let answers = io::stdout().as_fd().try_clone_to_owned().map_err(failed)?;
    // SAFETY: both descriptors are open, and the call replaces stdout alone, whose owner has no state of it.
    if unsafe { libc::dup2(libc::STDERR_FILENO, libc::STDOUT_FILENO) } < 0 {
        return Err(failed(io::Error::last_os_error()));
    }
    Ok(answers.into())
}

/// A running Servo with at most one page.
struct Browser {
    servo: Servo,
    waker: Waker,
    context: Rc<dyn RenderingContext>,
    page: Rc<Page>,
    view: Option<WebView>,
    task: Option<Task>,
    answers: File,
}

/// A command that is being carried out.
enum Task {
    /// A page is loading.
    Load,
    /// An element is pressed, after which a page loads.
    Press(Slot<Evaluated>),
    /// A script was sent to the page.
    Script(Slot<Evaluated>),
    /// The page was asked for the script's result.
    Result(Slot<Evaluated>),
    /// The script's result was not there: the page is asked again at this time.
    Pause(Instant),
    /// A picture is taken for a file.
    Picture(Slot<Captured>, PathBuf),
}

impl Browser {
    fn start(options: &Options, waker: Waker, answers: File) -> Result<Self, String> {
        let provider = match options.provider {
            Provider::AwsLc => aws_lc_rs::default_provider(),
            Provider::Ring => ring::default_provider(),
        };
        provider
            .install_default()
            .map_err(|_| "a provider of cryptography is installed already".to_owned())?;
        let context = SoftwareRenderingContext::new(SIZE)
            .map_err(|error| format!("cannot render without a display: {error:?}"))?;
        context
            .make_current()
            .map_err(|error| format!("cannot use the rendering context: {error:?}"))?;
        let certificate_path = options.ca.as_deref().map(text).transpose()?;
        let opts = Opts {
            certificate_path,
            config_dir: options.profile.clone(),
            ..Opts::default()
        };
        let servo = ServoBuilder::default()
            .opts(opts)
            .preferences(Preferences::default())
            .event_loop_waker(Box::new(waker.clone()))
            .build();
        servo.setup_logging();
        let mut browser = Self {
            servo,
            waker,
            context: Rc::new(context),
            page: Rc::default(),
            view: None,
            task: None,
            answers,
        };
        browser.answer(&Answer::Ready { version: version() })?;
        Ok(browser)
    }

    /// Carries out commands until stdin ends.
    fn carry_out(mut self, received: &Receiver<Event>) -> Result<(), String> {
        loop {
            let event = match received.recv_timeout(self.patience()) {
                Ok(event) => event,
                Err(RecvTimeoutError::Timeout) => Event::Wake,
                Err(RecvTimeoutError::Disconnected) => return Ok(()),
            };
            match event {
                Event::End => return Ok(()),
                Event::Wake => {}
                Event::Command(Ok(command)) => self.begin(command)?,
                Event::Command(Err(reason)) => self.fail(format!("not a command: {reason}"))?,
            }
            self.waker.rest();
            self.servo.spin_event_loop();
            self.look()?;
        }
    }

    /// Returns the time after which the event loop runs in any case.
    fn patience(&self) -> Duration {
        match self.task {
            None => Duration::from_secs(1),
            Some(_) => LOOK,
        }
    }

    fn begin(&mut self, command: Command) -> Result<(), String> {
        if self.task.is_some() {
            return self.fail("the command before this one has no answer yet".to_owned());
        }
        match (command, self.view.clone()) {
            (Command::Open(url), view) => match Url::parse(&url) {
                Err(error) => return self.fail(format!("{url}: {error}")),
                Ok(url) => self.open(url, view),
            },
            (Command::CloseConnections, _) => {
                return match connections::close() {
                    Ok(number) => self.done(number.into()),
                    Err(reason) => self.fail(reason),
                };
            }
            (Command::Press(_) | Command::Run(_) | Command::Picture(_), None) => {
                return self.fail("no page is open".to_owned());
            }
            (Command::Press(selector), Some(view)) => {
                self.page.request();
                self.task = Some(Task::Press(evaluate(&view, &press(&selector))));
            }
            (Command::Run(body), Some(view)) => {
                self.task = Some(Task::Script(evaluate(&view, &asynchronous(&body))));
            }
            (Command::Picture(file), Some(view)) => {
                let slot = Slot::default();
                let captured = slot.clone();
                view.take_screenshot(None, move |picture| *captured.borrow_mut() = Some(picture));
                self.task = Some(Task::Picture(slot, file));
            }
        }
        Ok(())
    }

    fn open(&mut self, url: Url, view: Option<WebView>) {
        self.page.request();
        match view {
            Some(view) => view.load(url),
            None => {
                let view = WebViewBuilder::new(&self.servo, self.context.clone())
                    .delegate(self.page.clone())
                    .url(url)
                    .build();
                view.show();
                view.set_focused(true);
                self.view = Some(view);
            }
        }
        self.task = Some(Task::Load);
    }

    /// Looks whether the task has ended, and answers its command.
    fn look(&mut self) -> Result<(), String> {
        let Some(task) = self.task.take() else {
            return Ok(());
        };
        if let Some(reason) = self.page.take_crash() {
            let console = self.page.take_console();
            return self.answer(&Answer::Crashed { reason, console });
        }
        match task {
            Task::Load if self.page.is_complete() => self.done(Value::Null),
            Task::Load => self.wait(Task::Load),
            Task::Press(slot) => match slot.take() {
                None => self.wait(Task::Press(slot)),
                Some(Ok(JSValue::Boolean(true))) => self.wait(Task::Load),
                Some(Ok(_)) => self.fail("the page has no such element".to_owned()),
                Some(Err(error)) => self.fail(format!("the script cannot run: {error:?}")),
            },
            Task::Script(slot) => match slot.take() {
                None => self.wait(Task::Script(slot)),
                Some(Ok(_)) => self.ask_for_result(),
                Some(Err(error)) => self.fail(format!("the script cannot run: {error:?}")),
            },
            Task::Result(slot) => match slot.take() {
                None => self.wait(Task::Result(slot)),
                Some(Ok(JSValue::String(result))) => self.finish(&result),
                Some(Ok(_)) => self.wait(Task::Pause(Instant::now() + LOOK)),
                Some(Err(error)) => self.fail(format!("the script has no result: {error:?}")),
            },
            Task::Pause(until) if Instant::now() >= until => self.ask_for_result(),
            Task::Pause(until) => self.wait(Task::Pause(until)),
            Task::Picture(slot, file) => match slot.take() {
                None => self.wait(Task::Picture(slot, file)),
                Some(Ok(picture)) => match picture.save_with_format(&file, ImageFormat::Png) {
                    Ok(()) => self.done(Value::Null),
                    Err(error) => self.fail(format!("{}: {error}", file.display())),
                },
                Some(Err(error)) => self.fail(format!("no picture: {error:?}")),
            },
        }
    }

    fn wait(&mut self, task: Task) -> Result<(), String> {
        self.task = Some(task);
        Ok(())
    }

    fn ask_for_result(&mut self) -> Result<(), String> {
        let Some(view) = self.view.clone() else {
            return self.fail("the page was closed".to_owned());
        };
        self.wait(Task::Result(evaluate(
            &view,
            &format!("window.{RESULT} ?? null"),
        )))
    }

    /// Answers a script's command with its result: an object with `value`, or with `error`.
    fn finish(&mut self, result: &str) -> Result<(), String> {
        match serde_json::from_str::<Value>(result) {
            Ok(Value::Object(mut result)) => match result.remove("error") {
                None => self.done(result.remove("value").unwrap_or_default()),
                Some(error) => self.fail(format!("the script failed: {error}")),
            },
            Ok(_) | Err(_) => self.fail("the page has changed the result of a script".to_owned()),
        }
    }

    fn done(&mut self, value: Value) -> Result<(), String> {
        let console = self.page.take_console();
        self.answer(&Answer::Done { value, console })
    }

    fn fail(&mut self, reason: String) -> Result<(), String> {
        let console = self.page.take_console();
        self.answer(&Answer::Failed { reason, console })
    }

    fn answer(&mut self, answer: &Answer) -> Result<(), String> {
        let mut line = serde_json::to_vec(answer).map_err(|error| error.to_string())?;
        line.push(b'\n');
        self.answers
            .write_all(&line)
            .map_err(|error: io::Error| format!("cannot write an answer: {error}"))
    }
}

/// Runs a script in the page. Its outcome is in the slot later.
fn evaluate(view: &WebView, script: &str) -> Slot<Evaluated> {
    let slot = Slot::default();
    let evaluated = slot.clone();
    view.evaluate_javascript(script, move |outcome| {
        *evaluated.borrow_mut() = Some(outcome);
    });
    slot
}

/// Returns a script that presses an element, and returns whether the page shows one.
fn press(selector: &str) -> String {
    let selector = Value::from(selector);
    format!(
        "(() => {{ const it = document.querySelector({selector}); \
         const isShown = it !== null && it.style.display !== 'none'; \
         if (isShown) {{ it.click(); }} return isShown; }})()"
    )
}

/// Returns a script that runs the body of an asynchronous function, and leaves its result in the page as JSON.
fn asynchronous(body: &str) -> String {
    format!(
        "window.{RESULT} = null;\n\
         (async () => {{\n{body}\n}})().then(\n\
         value => {{ window.{RESULT} = JSON.stringify({{ value: value ?? null }}); }},\n\
         error => {{ window.{RESULT} = JSON.stringify({{ error: String(error) }}); }});\n\
         null"
    )
}

fn text(path: &Path) -> Result<String, String> {
    let text = path.to_str().map(ToOwned::to_owned);
    text.ok_or_else(|| format!("{}: the path is not UTF-8", path.display()))
}
