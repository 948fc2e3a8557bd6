//! Runs a script to its end.

use std::ffi::OsString;
use std::io;
use std::path::Path;
use std::process::Stdio;

use tokio::process::{Child, Command};

use super::shell;

/// A script to run.
#[derive(Clone, Debug)]
pub struct Script<'a> {
    /// The command line for the shell.
    pub command: &'a str,
    /// Arguments to append, quoted for the shell.
    pub arguments: &'a [String],
    /// The working directory.
    pub folder: &'a Path,
    /// Variables beside the environment of this process.
    pub variables: Vec<(OsString, OsString)>,
    /// `script-shell`, if it is set.
    pub shell: Option<&'a str>,
}

/// How a script ended.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Ended {
    /// The exit code. `None` if a signal ended it.
    pub code: Option<i32>,
    /// The signal that ended it.
    pub signal: Option<i32>,
    /// The standard output, if it was captured.
    pub stdout: Vec<u8>,
    /// The standard error, if it was captured.
    pub stderr: Vec<u8>,
}

impl Ended {
    /// Whether it succeeded.
    pub fn is_success(&self) -> bool {
        self.code == Some(0)
    }
}

impl Script<'_> {
    /// Runs the script on this process's own terminal. SIGINT and SIGTERM are passed on to it, and
    /// this process ends when it does.
    pub async fn run_in_foreground(self) -> io::Result<Ended> {
        let mut child = self.command().spawn()?;
        let status = wait_handing_on_signals(&mut child).await?;
        Ok(Ended { code: status.code(), signal: signal_of(status), ..Ended::default() })
    }

    /// Runs the script without input and captures its output.
    pub async fn run_in_background(self) -> io::Result<Ended> {
        let mut command = self.command();
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).kill_on_drop(true);
        let output = command.spawn()?.wait_with_output().await?;
        Ok(Ended {
            code: output.status.code(),
            signal: signal_of(output.status),
            stdout: output.stdout,
            stderr: output.stderr,
        })
    }

    fn command(self) -> Command {
        let default = shell::default_shell();
        let mut command = shell::command(self.shell.unwrap_or(&default), self.command, self.arguments);
        command.current_dir(self.folder).envs(self.variables);
        command
    }
}

#[cfg(unix)]
fn signal_of(status: std::process::ExitStatus) -> Option<i32> {
    std::os::unix::process::ExitStatusExt::signal(&status)
}

#[cfg(not(unix))]
fn signal_of(_: std::process::ExitStatus) -> Option<i32> {
    None
}

#[cfg(unix)]
async fn wait_handing_on_signals(child: &mut Child) -> io::Result<std::process::ExitStatus> {
    use rustix::process::{Pid, Signal, kill_process};
    use tokio::signal::unix::{SignalKind, signal};

    let mut interrupts = signal(SignalKind::interrupt())?;
    let mut terminations = signal(SignalKind::terminate())?;
    let id = child.id().and_then(|id| Pid::from_raw(id.cast_signed()));
    loop {
        let signal = tokio::select! {
            status = child.wait() => return status,
            _ = interrupts.recv() => Signal::INT,
            _ = terminations.recv() => Signal::TERM,
        };
        if let Some(id) = id {
            // This fails if the script has ended in the meantime, which is fine.
            let _ = kill_process(id, signal);
        }
    }
}

#[cfg(not(unix))]
async fn wait_handing_on_signals(child: &mut Child) -> io::Result<std::process::ExitStatus> {
    loop {
        tokio::select! {
            status = child.wait() => return status,
            // The console sends Ctrl-C to the script as well.
            _ = tokio::signal::ctrl_c() => {}
        }
    }
}

#[cfg(all(test, unix))]
mod tests {
    use super::{Ended, Script};

    fn run(command: &str, arguments: &[&str]) -> Ended {
        let folder = tempfile::tempdir().expect("a folder");
        let arguments: Vec<String> = arguments.iter().map(|&argument| argument.to_owned()).collect();
        let variables = vec![("GREETING".into(), "hello".into())];
        let script = Script { command, arguments: &arguments, folder: folder.path(), variables, shell: None };
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
        runtime.block_on(script.run_in_background()).expect("a shell")
    }

    #[test]
    fn arguments_arrive_as_they_were_given() {
        let ended = run("printf '%s|'", &["a b", "$GREETING", "it's", ""]);
        assert_eq!(String::from_utf8_lossy(&ended.stdout), "a b|$GREETING|it's||");
    }

    #[test]
    fn output_codes_and_signals_are_told() {
        let ended = run("echo $GREETING; echo oh >&2; exit 3", &[]);
        assert_eq!((ended.code, ended.signal), (Some(3), None));
        assert_eq!((&*ended.stdout, &*ended.stderr), (&b"hello\n"[..], &b"oh\n"[..]));
        assert_eq!(run("kill -TERM $$", &[]).signal, Some(15));
        assert!(run("true", &[]).is_success());
    }
}
