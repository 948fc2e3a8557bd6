//! Errors of commands, all in the same form: a headline with a code, and advice below it.

use std::process::ExitCode;

use espalier_install::install::InstallError;
use espalier_install::installed::InstalledError;
use espalier_install::lock::LockError;
use serde_json::json;

use super::exit::{self, CALLED_WRONGLY, FAILED};
use crate::report;
use crate::report::failure::{self, Circumstances};

/// An error of a command.
#[derive(Debug)]
pub enum Complaint {
    /// An error that all commands that resolve have in common.
    Shared(Box<LockError>),
    /// An error of an installation.
    Install(Box<InstallError>),
    /// An error of this command only.
    Own {
        /// npm's code, or one in its style.
        code: &'static str,
        /// One sentence.
        headline: String,
        /// Advice, in indented lines.
        details: String,
        /// The exit code.
        exit: u8,
    },
}

impl From<LockError> for Complaint {
    fn from(error: LockError) -> Self {
        Self::Shared(Box::new(error))
    }
}

impl From<InstallError> for Complaint {
    fn from(error: InstallError) -> Self {
        match error {
            InstallError::Lock(error) => error.into(),
            error => Self::Install(Box::new(error)),
        }
    }
}

impl From<InstalledError> for Complaint {
    fn from(error: InstalledError) -> Self {
        match error {
            InstalledError::Project(error) => LockError::from(error).into(),
            InstalledError::Unreadable { error, project } => {
                LockError::Resolve { error, project, remedies: Vec::new() }.into()
            }
            InstalledError::NoLockfile { .. } => {
                Self::own("ENOLOCK", error.to_string(), "  `espalier lock` writes one.\n")
            }
        }
    }
}

impl Complaint {
    /// An error of this command only.
    pub fn own(code: &'static str, headline: impl Into<String>, details: impl Into<String>) -> Self {
        Self::Own { code, headline: headline.into(), details: details.into(), exit: FAILED }
    }

    /// An error in the arguments.
    pub fn usage(headline: impl Into<String>, details: impl Into<String>) -> Self {
        Self::Own { code: "EUSAGE", headline: headline.into(), details: details.into(), exit: CALLED_WRONGLY }
    }

    /// The error for `--global`.
    pub fn no_globals(command: &str) -> Self {
        let details = format!("  Use npm: `npm {command} --global`.\n");
        Self::usage("Espalier does not install globally (--global)", details)
    }

    /// Prints it and returns the exit code.
    pub fn report(&self, json: bool) -> ExitCode {
        self.report_in(None, Circumstances::unknown(), json)
    }

    /// The same for a command whose JSON states its name.
    pub fn report_as(&self, command: &'static str, circumstances: Circumstances<'_>, json: bool) -> ExitCode {
        self.report_in(Some(command), circumstances, json)
    }

    fn report_in(&self, command: Option<&'static str>, circumstances: Circumstances<'_>, json: bool) -> ExitCode {
        match self {
            Self::Shared(error) => {
                if json {
                    super::say(&report::machine::failure(command, error));
                } else {
                    anstream::eprint!("{}", failure::render(error, circumstances));
                }
                ExitCode::from(exit::of_lock(error))
            }
            Self::Install(error) => {
                if json {
                    super::say(&report::machine::install_failure(command, error));
                } else {
                    anstream::eprint!("{}", report::install::render(error, circumstances));
                }
                ExitCode::from(exit::of_install(error))
            }
            Self::Own { code, headline, details, exit } => {
                if json {
                    let error = json!({"schema": 1, "ok": false, "error": {"code": code, "message": headline}});
                    super::say(&report::machine::object(&error));
                } else {
                    anstream::eprint!("{}", report::screen(headline, code, details, report::terminal_width()));
                }
                ExitCode::from(*exit)
            }
        }
    }
}
