//! Running a program, and ending it.

use std::{
    collections::BTreeSet,
    ffi::{OsStr, OsString},
    fmt::Write as _,
    io::{BufRead, BufReader, Read},
    path::{Path, PathBuf},
    process::{Child, Command, ExitStatus, Stdio},
    sync::{Mutex, PoisonError},
    thread,
    time::{Duration, Instant},
};

use anyhow::{Context, Result, bail};

/// How often a running program is looked at.
const POLL: Duration = Duration::from_millis(20);

/// The children that run now, by process id.
static RUNNING: Mutex<BTreeSet<u32>> = Mutex::new(BTreeSet::new());

/// Ctrl-C and termination end the children as well.
pub(crate) fn end_children_on_signals() -> Result<()> {
    ctrlc::set_handler(|| {
        let running = RUNNING.lock().unwrap_or_else(PoisonError::into_inner).clone();
        running.into_iter().for_each(terminate);
        std::process::exit(130);
    })
    .context("cannot listen for signals")
}

/// Asks a child and those that it started to end. Each child leads a process group of its own, named like itself.
fn terminate(id: u32) {
    let script = format!("kill -s TERM -- -{id}");
    // No complaint if it is gone already.
    let _ = Command::new("sh").args(["-c", &script]).stderr(Stdio::null()).status();
}

/// Says what a step does, runs it, says how long it took.
pub(crate) fn step<T>(what: &str, work: impl FnOnce() -> Result<T>) -> Result<T> {
    println!("▸ {what}");
    let start = Instant::now();
    let outcome = work();
    let verdict = if outcome.is_ok() { "done" } else { "failed" };
    println!("  {verdict} in {}", seconds(start.elapsed()));
    outcome
}

/// A duration as people read it.
pub(crate) fn seconds(time: Duration) -> String {
    format!("{:.1} s", time.as_secs_f64())
}

/// A program to run.
pub(crate) struct Program {
    name: OsString,
    arguments: Vec<OsString>,
    directory: Option<PathBuf>,
    /// What is set, and what is taken away.
    environment: Vec<(OsString, Option<OsString>)>,
    deadline: Option<Duration>,
}

impl Program {
    pub(crate) fn new(name: impl AsRef<OsStr>) -> Self {
        Self {
            name: name.as_ref().to_owned(),
            arguments: Vec::new(),
            directory: None,
            environment: Vec::new(),
            deadline: None,
        }
    }

    pub(crate) fn arg(mut self, argument: impl AsRef<OsStr>) -> Self {
        self.arguments.push(argument.as_ref().to_owned());
        self
    }

    pub(crate) fn args<A: AsRef<OsStr>>(mut self, arguments: impl IntoIterator<Item = A>) -> Self {
        self.arguments.extend(arguments.into_iter().map(|argument| argument.as_ref().to_owned()));
        self
    }

    pub(crate) fn directory(mut self, directory: &Path) -> Self {
        self.directory = Some(directory.to_owned());
        self
    }

    pub(crate) fn env(mut self, name: impl AsRef<OsStr>, value: impl AsRef<OsStr>) -> Self {
        self.environment.push((name.as_ref().to_owned(), Some(value.as_ref().to_owned())));
        self
    }

    /// Takes away what the environment of this process has under a name.
    pub(crate) fn without(mut self, name: &str) -> Self {
        self.environment.push((name.into(), None));
        self
    }

    /// Ends the program after this time, which is a failure.
    pub(crate) fn deadline(mut self, deadline: Duration) -> Self {
        self.deadline = Some(deadline);
        self
    }

    /// Runs it with its output shown; anything but success is an error.
    pub(crate) fn run(self) -> Result<()> {
        let status = self.start()?.wait()?;
        self.demand(status, "")
    }

    /// Runs it with its output kept back, and shown only if it fails.
    pub(crate) fn run_quietly(self) -> Result<()> {
        self.capture().map(|_| ())
    }

    /// What it writes to standard output.
    pub(crate) fn capture(self) -> Result<String> {
        let mut command = self.command();
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut running = self.spawn(&mut command)?;
        let errors = running.child.stderr.take().map(|pipe| thread::spawn(move || read_all(pipe)));
        let output = running.child.stdout.take().map(read_all).unwrap_or_default();
        let errors = errors.and_then(|reader| reader.join().ok()).unwrap_or_default();
        let status = running.wait()?;
        self.demand(status, &format!("{output}{errors}"))?;
        Ok(output)
    }

    /// Runs it with its output shown, and answers with what it wrote to standard output and whether it succeeded.
    pub(crate) fn tee(self) -> Result<(String, bool)> {
        let mut command = self.command();
        command.stdout(Stdio::piped());
        let mut running = self.spawn(&mut command)?;
        let pipe = running.child.stdout.take().context("a child without output")?;
        let reader = thread::spawn(move || {
            let mut all = String::new();
            let mut lines = BufReader::new(pipe);
            let mut line = Vec::new();
            while lines.read_until(b'\n', &mut line).is_ok_and(|length| length > 0) {
                let text = String::from_utf8_lossy(&line);
                print!("{text}");
                all.push_str(&text);
                line.clear();
            }
            all
        });
        let status = running.wait();
        // A grandchild may hold the pipe open after a deadline: what it writes is not waited for.
        let output = if status.is_ok() { reader.join().unwrap_or_default() } else { String::new() };
        Ok((output, status?.success()))
    }

    /// Starts it with its output shown; dropping the answer ends it.
    pub(crate) fn start(&self) -> Result<Running> {
        self.spawn(&mut self.command())
    }

    fn command(&self) -> Command {
        let mut command = Command::new(&self.name);
        command.args(&self.arguments).stdin(Stdio::null());
        for (name, value) in &self.environment {
            match value {
                Some(value) => command.env(name, value),
                None => command.env_remove(name),
            };
        }
        if let Some(directory) = &self.directory {
            command.current_dir(directory);
        }
        #[cfg(unix)]
        std::os::unix::process::CommandExt::process_group(&mut command, 0);
        command
    }

    fn spawn(&self, command: &mut Command) -> Result<Running> {
        let child = command.spawn().with_context(|| format!("cannot run `{self}`: is it installed?"))?;
        RUNNING.lock().unwrap_or_else(PoisonError::into_inner).insert(child.id());
        Ok(Running { child, deadline: self.deadline.map(|time| (Instant::now() + time, time)) })
    }

    fn demand(&self, status: ExitStatus, output: &str) -> Result<()> {
        if status.success() {
            return Ok(());
        }
        let output = output.trim_end();
        let space = if output.is_empty() { "" } else { ":\n" };
        bail!("`{self}` ended with {status}{space}{output}")
    }
}

impl std::fmt::Display for Program {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut line = self.name.to_string_lossy().into_owned();
        for argument in &self.arguments {
            // A script given as an argument does not belong into a sentence.
            let argument = argument.to_string_lossy();
            write!(line, " {}", if argument.contains('\n') { "…" } else { &argument })?;
        }
        f.write_str(&line)
    }
}

/// A program that runs; ended by its process id when dropped.
pub(crate) struct Running {
    child: Child,
    deadline: Option<(Instant, Duration)>,
}

impl Running {
    /// Waits for its end, at most until the deadline.
    pub(crate) fn wait(&mut self) -> Result<ExitStatus> {
        let Some((deadline, time)) = self.deadline else {
            return Ok(self.child.wait()?);
        };
        while Instant::now() < deadline {
            if let Some(status) = self.child.try_wait()? {
                return Ok(status);
            }
            thread::sleep(POLL);
        }
        bail!("it did not end within {} and was stopped", seconds(time))
    }

    /// Whether it ended already.
    pub(crate) fn ended(&mut self) -> Result<Option<ExitStatus>> {
        Ok(self.child.try_wait()?)
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        if matches!(self.child.try_wait(), Ok(None)) {
            // A program that can clean up after itself is asked first.
            terminate(self.child.id());
            let patience = Instant::now() + Duration::from_secs(3);
            while matches!(self.child.try_wait(), Ok(None)) && Instant::now() < patience {
                thread::sleep(POLL);
            }
            let _ = self.child.kill();
            let _ = self.child.wait();
        }
        RUNNING.lock().unwrap_or_else(PoisonError::into_inner).remove(&self.child.id());
    }
}

fn read_all(mut pipe: impl Read) -> String {
    let mut bytes = Vec::new();
    // What was read before an error is still worth showing.
    let _ = pipe.read_to_end(&mut bytes);
    String::from_utf8_lossy(&bytes).into_owned()
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn output_is_captured() {
        assert_eq!(Program::new("sh").args(["-c", "echo out; echo err >&2"]).capture().unwrap(), "out\n");
    }

    #[test]
    fn a_failure_shows_the_command_and_its_output() {
        let error = Program::new("sh").args(["-c", "echo reason >&2; exit 3"]).run_quietly().unwrap_err().to_string();
        assert!(error.contains("`sh -c") && error.contains("reason") && error.contains('3'), "{error}");
    }

    #[test]
    fn a_program_that_is_missing_is_named() {
        let error = Program::new("no-such-program").run().unwrap_err().to_string();
        assert!(error.contains("no-such-program"), "{error}");
    }

    #[test]
    fn a_deadline_ends_the_program() {
        let start = Instant::now();
        let outcome = Program::new("sleep").arg("60").deadline(Duration::from_millis(50)).tee();
        assert!(outcome.unwrap_err().to_string().contains("did not end"));
        assert!(start.elapsed() < Duration::from_secs(20));
    }

    #[test]
    fn a_dropped_program_is_ended() {
        let running = Program::new("sleep").arg("60").start().unwrap();
        let id = running.child.id();
        assert!(RUNNING.lock().unwrap().contains(&id));
        drop(running);
        assert!(!RUNNING.lock().unwrap().contains(&id));
        let alive = Command::new("kill").args(["-0", &id.to_string()]).stderr(Stdio::null()).status().unwrap();
        assert!(!alive.success());
    }

    #[test]
    fn what_a_dropped_program_started_is_ended_with_it() {
        let mut command = Program::new("sh").args(["-c", "sleep 60 & echo $!; wait"]).command();
        command.stdout(Stdio::piped());
        let mut running = Program::new("sh").spawn(&mut command).unwrap();
        let mut line = String::new();
        BufReader::new(running.child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        drop(running);
        // An orphan stays a zombie until somebody reaps it, which `kill -0` takes for life: look at its state.
        let state = Command::new("ps").args(["-o", "stat=", "-p", line.trim()]).output();
        let state = state.map(|output| String::from_utf8_lossy(&output.stdout).trim().to_owned()).unwrap_or_default();
        assert!(state.is_empty() || state.starts_with('Z'), "{state}");
    }

    #[test]
    fn tee_keeps_the_output_and_tells_failure() {
        let (output, success) = Program::new("sh").args(["-c", "echo a; echo b; exit 1"]).tee().unwrap();
        assert_eq!((output.as_str(), success), ("a\nb\n", false));
    }
}
