//! The exit codes of commands.

use espalier_install::config::{ConfigError, Origin};
use espalier_install::install::InstallError;
use espalier_install::lock::LockError;
use espalier_install::reify::ReifyError;

/// The exit code for a failure.
pub const FAILED: u8 = 1;
/// The exit code for invalid arguments.
pub const CALLED_WRONGLY: u8 = 2;
/// The exit code after Ctrl-C, as a shell reports it.
pub const INTERRUPTED: u8 = 130;

/// The exit code for an error that all commands that resolve have in common.
pub fn of_lock(error: &LockError) -> u8 {
    match error {
        LockError::Interrupted => INTERRUPTED,
        LockError::Config(ConfigError::Invalid { origin: Origin::CommandLine, .. }) => CALLED_WRONGLY,
        LockError::Config(_) | LockError::Project(_) | LockError::Resolve { .. } => FAILED,
    }
}

/// The exit code for an error of an installation.
pub fn of_install(error: &InstallError) -> u8 {
    match error {
        InstallError::Lock(error) => of_lock(error),
        InstallError::Reify(ReifyError::Interrupted) => INTERRUPTED,
        // The same in npm.
        InstallError::Script(failure) => failure.code.and_then(|code| u8::try_from(code).ok()).unwrap_or(FAILED),
        _ => FAILED,
    }
}
