//! The progress line on the terminal while a command runs.
//!
//! A thread of its own draws it on a timer, from counters that exist anyway. It appears only if
//! there is something to wait for, and is erased at the end. A pipe gets none.

use std::io::{IsTerminal as _, Write as _};
use std::sync::Arc;
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use anstyle::Style;
use espalier_install::activity::Activity;

use crate::report::{self, grouped};
use crate::style::{LIVING, QUIET, STRONG, Styled};

/// A shorter command shows no line.
const PATIENCE: Duration = Duration::from_millis(150);
const INTERVAL: Duration = Duration::from_millis(80);

/// A line that is drawn until this is dropped.
pub struct Progress {
    stop: Option<Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Progress {
    /// Starts drawing, if standard error is a terminal.
    pub fn start(activity: Arc<Activity>) -> Self {
        if !std::io::stderr().is_terminal() || std::env::var_os("TERM").is_some_and(|terminal| terminal == "dumb") {
            return Self { stop: None, thread: None };
        }
        let (stop, stopped) = mpsc::channel();
        let thread = std::thread::spawn(move || {
            let start = Instant::now();
            let mut wait = PATIENCE;
            let mut covered = 0;
            while stopped.recv_timeout(wait) == Err(RecvTimeoutError::Timeout) {
                covered = draw(&activity, start.elapsed(), covered);
                wait = INTERVAL;
            }
            if start.elapsed() >= PATIENCE {
                // Without colours there are no control sequences, so spaces erase the line, and the `^C`
                // that a terminal may have written behind it.
                show(&format!("\r{:width$}\r", "", width = room()));
            }
        });
        Self { stop: Some(stop), thread: Some(thread) }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        drop(self.stop.take());
        if let Some(thread) = self.thread.take() {
            // A thread that panicked has stopped drawing, which is fine.
            let _ = thread.join();
        }
    }
}

/// Draws the line over the previous one, which had this length. Returns its own length.
fn draw(activity: &Activity, elapsed: Duration, covered: usize) -> usize {
    let (line, length) = line(activity, elapsed, room().saturating_sub(INTERRUPT.len()));
    // Spaces up to the margin would make a terminal wrap the `^C` that it writes behind them.
    show(&format!("\r{line}{:1$}", "", covered.saturating_sub(length)));
    length
}

/// What a terminal writes at an interruption.
const INTERRUPT: &str = "^C";

/// The usable width. The last column stays free, because terminals wrap the line after it.
fn room() -> usize {
    report::terminal_width().unwrap_or(80).saturating_sub(1)
}

fn show(text: &str) {
    let mut terminal = anstream::stderr().lock();
    // If the terminal is gone, so is the line.
    let _ = terminal.write_all(text.as_bytes()).and_then(|()| terminal.flush());
}

/// The line, and its length, which is at most `width`.
fn line(activity: &Activity, elapsed: Duration, width: usize) -> (String, usize) {
    const WIRES: [&str; 10] = ["⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"];
    let beat = usize::try_from(elapsed.as_millis() / INTERVAL.as_millis()).unwrap_or_default();
    let plain = Style::new();
    let mut parts = vec![(LIVING, WIRES[beat % WIRES.len()].to_owned())];
    let wanted = activity.to_install.get();
    let counts = if wanted == 0 {
        [
            (" Resolving  ", grouped(activity.placed.get()), " placed"),
            ("", grouped(activity.answered.get()), " fetched"),
        ]
    } else {
        let installed = format!("{} of {}", grouped(activity.installed.get()), grouped(wanted));
        [(" Installing  ", installed, " linked"), ("", grouped(activity.downloaded.get()), " downloaded")]
    };
    for (index, (label, count, unit)) in counts.into_iter().enumerate() {
        if index > 0 {
            parts.push((QUIET, "  ·  ".to_owned()));
        }
        let style = if index == 0 { STRONG } else { plain };
        parts.extend([(plain, label.to_owned()), (style, count), (plain, unit.to_owned())]);
    }
    let bytes = activity.network_bytes.get();
    if bytes > 0 {
        parts.extend([(QUIET, "  ·  ".to_owned()), (plain, report::bytes(bytes))]);
    }
    if activity.retries.get() > 0 {
        parts.extend([(QUIET, "  ·  ".to_owned()), (plain, format!("{} retried", activity.retries.get()))]);
    }
    parts.extend([(QUIET, "  ·  ".to_owned()), (plain, format!("{:.1} s", elapsed.as_secs_f64()))]);

    let mut left = width;
    let mut line = String::new();
    for (style, text) in parts {
        let shown: String = text.chars().take(left).collect();
        left -= shown.chars().count();
        line += &Styled(style, shown).to_string();
    }
    (line, width - left)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use espalier_install::activity::Activity;

    use super::line;

    fn plain(activity: &Activity, width: usize) -> String {
        let (line, length) = line(activity, Duration::from_millis(1240), width);
        let line = anstream::adapter::strip_str(&line).to_string();
        assert_eq!(line.chars().count(), length);
        assert!(length <= width);
        line
    }

    #[test]
    fn it_says_what_is_going_on() {
        let activity = Activity::default();
        activity.placed.add(182);
        activity.answered.add(1240);
        activity.network_bytes.add(4_120_000);
        assert_eq!(plain(&activity, 100), "⠴ Resolving  182 placed  ·  1,240 fetched  ·  4.1 MB  ·  1.2 s");
    }

    #[test]
    fn it_goes_on_to_installing() {
        let activity = Activity::default();
        activity.placed.add(182);
        activity.to_install.add(1461);
        activity.installed.add(640);
        activity.downloaded.add(700);
        assert_eq!(plain(&activity, 100), "⠴ Installing  640 of 1,461 linked  ·  700 downloaded  ·  1.2 s");
    }

    #[test]
    fn it_never_wraps() {
        assert_eq!(plain(&Activity::default(), 20), "⠴ Resolving  0 place");
    }
}
