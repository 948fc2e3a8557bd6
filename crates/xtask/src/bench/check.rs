//! Checks the result of a run, and counts it.

use std::fs;
use std::path::Path;

use anyhow::{Context as _, Result, ensure};
use serde::Serialize;
use serde_json::Value;

use super::contestants::Contestant;
use super::phase::{Phase, Project, Scene, lockfile_name, name_of};
use super::server::Replay;
use crate::oracle;

/// The result of a run.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Found {
    /// The number of packages in the lock.
    pub packages: usize,
    /// The number of files and links in `node_modules`.
    pub files: usize,
}

/// Checks a run.
pub fn run(contestant: Contestant, phase: Phase, project: &Project, server: &Replay, scene: &Scene) -> Result<Found> {
    let name = lockfile_name(contestant);
    let lock = fs::read_to_string(scene.project.join(name)).with_context(|| format!("{name} was not written"))?;
    let packages = match contestant {
        Contestant::Bun => section(&lock, "  \"packages\": {", "  }", "    \""),
        Contestant::Pnpm => section(&lock, "packages:", "snapshots:", "  "),
        _ => serde_json::from_str::<Value>(&lock)?["packages"].as_object().map_or(0, |packages| packages.len() - 1),
    };
    ensure!(packages > 0, "{name} is of no packages");
    let is_same = contestant.is_ours() && !phase.adds();
    ensure!(!is_same || oracle::without_origin(&lock, &server.origin) == project.lockfile, "the lock isn't npm's");
    let added = name_of(project.addition());
    let manifest = fs::read_to_string(scene.project.join("package.json"))?;
    ensure!(!phase.adds() || manifest.contains(&format!("\"{added}\":")), "{added} was not added to package.json");
    let mut files = 0;
    if !phase.is_lock_only() {
        let modules = scene.project.join("node_modules");
        files = count(&modules)?;
        ensure!(files > packages, "there are {files} files of {packages} packages");
        if contestant.is_ours() || contestant == Contestant::Npm {
            are_there(&lock, &scene.project)?;
        }
        ensure!(!phase.adds() || modules.join(added).join("package.json").exists(), "{added} was not installed");
    }
    Ok(Found { packages, files })
}

/// Counts the lines of a section that begin an entry.
fn section(text: &str, begin: &str, end: &str, entry: &str) -> usize {
    let lines = text.lines().skip_while(|line| *line != begin).skip(1).take_while(|line| *line != end);
    lines.filter(|line| line.strip_prefix(entry).is_some_and(|rest| !rest.starts_with([' ', '}']))).count()
}

/// Checks that every package that a lock has for all platforms is in place.
fn are_there(lock: &str, project: &Path) -> Result<()> {
    let lock: Value = serde_json::from_str(lock)?;
    for (location, entry) in lock["packages"].as_object().context("packages")? {
        let is_for_some = ["optional", "devOptional", "inert"].iter().any(|flag| entry[flag] == true);
        if !location.is_empty() && !is_for_some {
            ensure!(project.join(location).join("package.json").is_file(), "{location} is not there");
        }
    }
    Ok(())
}

fn count(folder: &Path) -> Result<usize> {
    let mut files = 0;
    for entry in fs::read_dir(folder).with_context(|| format!("{} is not there", folder.display()))? {
        let entry = entry?;
        files += if entry.file_type()?.is_dir() { count(&entry.path())? } else { 1 };
    }
    Ok(files)
}

#[cfg(test)]
mod tests {
    use super::section;

    #[test]
    fn entries_of_other_lockfiles_are_counted() {
        let bun = "{\n  \"packages\": {\n    \"a\": [\"a@1\"],\n\n    \"b\": [\"b@1\"],\n  }\n}\n";
        assert_eq!(section(bun, "  \"packages\": {", "  }", "    \""), 2);
        let pnpm = "importers:\n  .:\n\npackages:\n\n  a@1:\n    resolution: {}\n\n  '@s/b@1':\n    engines: {}\n\nsnapshots:\n\n  a@1: {}\n";
        assert_eq!(section(pnpm, "packages:", "snapshots:", "  "), 2);
    }
}
