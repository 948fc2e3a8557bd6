//! `espalier store`.

use std::path::Path;
use std::process::ExitCode;

use espalier_install::cache::{self, Cache};
use espalier_install::config::Environment;
use espalier_install::store::{self, Store, StoreError};

use super::exit::FAILED;
use super::measured::Measured;
use super::say;
use crate::arguments::{StoreArguments, StoreCommand};
use crate::report::{bytes, counted, machine};
use crate::style::{PROBLEM, Styled};

/// Runs the command.
pub fn run(arguments: &StoreArguments) -> ExitCode {
    let environment = Environment::of_process();
    let usual = || store::default_folder(&environment, cache::default_folder(&environment).as_deref());
    let folder = arguments.store_dir.clone().or_else(usual);
    let Some(folder) = folder.and_then(|folder| std::path::absolute(folder).ok()) else {
        anstream::eprintln!(
            "{} the folder of the store is unknown; name one with --store-dir",
            Styled(PROBLEM, "error:")
        );
        return ExitCode::from(FAILED);
    };
    if let StoreCommand::Path = arguments.command {
        say(&if arguments.json {
            machine::object(&serde_json::json!({ "path": folder }))
        } else {
            format!("{}\n", folder.display())
        });
        return ExitCode::SUCCESS;
    }
    let mut measured = Measured::start(&arguments.measuring);
    let looked_after = look_after(&folder, arguments, &mut measured);
    measured.end();
    match looked_after {
        Ok(code) => code,
        Err(error) => {
            anstream::eprintln!("{} {error}", Styled(PROBLEM, "error:"));
            ExitCode::from(FAILED)
        }
    }
}

fn look_after(folder: &Path, arguments: &StoreArguments, measured: &mut Measured<'_>) -> Result<ExitCode, StoreError> {
    let store = measured.phase("opening", "the store", || Store::open(folder))?;
    if let StoreCommand::Prune = arguments.command {
        let pruned = measured.phase("pruning", "looking for links to every file", || store.prune())?;
        // Another store that is named has no cache beside it.
        let cache = arguments.store_dir.is_none().then(|| cache::default_folder(&Environment::of_process())).flatten();
        let earlier = pruned.earlier + cache.map_or(0, |cache| Cache::remove_superseded(&cache));
        say(&if arguments.json {
            machine::object(&serde_json::json!({
                "removed": pruned.packages, "bytes": pruned.bytes, "kept": pruned.kept, "earlier": earlier,
            }))
        } else {
            format!(
                "{} removed ({}), {} kept.\n{}",
                counted(pruned.packages, "package"),
                bytes(pruned.bytes),
                pruned.kept,
                if earlier > 0 { "Stores and caches of earlier versions were removed.\n" } else { "" },
            )
        });
        return Ok(ExitCode::SUCCESS);
    }
    let verified = measured.phase("verifying", "reading every file", || store.verify())?;
    let damaged: Vec<_> = verified
        .damaged
        .iter()
        .map(|(package, reason)| serde_json::json!({ "package": package, "reason": reason }))
        .collect();
    if arguments.json {
        say(&machine::object(&serde_json::json!({
            "packages": verified.packages, "files": verified.files, "bytes": verified.bytes, "damaged": damaged,
        })));
    } else {
        let (packages, files) = (counted(verified.packages, "package"), counted(verified.files, "file"));
        say(&format!("{packages} with {files} ({}) verified.\n", bytes(verified.bytes)));
        for (package, reason) in &verified.damaged {
            say(&format!("  {package} was damaged ({reason}). It was removed and will be fetched again.\n"));
        }
    }
    Ok(if verified.damaged.is_empty() { ExitCode::SUCCESS } else { ExitCode::from(FAILED) })
}
