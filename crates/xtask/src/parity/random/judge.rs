//! Lets npm and Espalier resolve the same case and compares them, round by round.

use std::path::Path;
use std::sync::{Arc, mpsc};
use std::thread;
use std::time::Duration;

use anyhow::Context;
use espalier_core::{Options, Project};

use super::ask::Npm;
use super::case::{Case, Left, ORIGIN, Round, pretty, with_origin};
use super::command::Command;
use crate::parity::compare::{self, Answer, Expected, Verdict};
use crate::parity::drive::Recording;
use crate::parity::project::{self, Input};

/// The time after which the resolver counts as hanging. It is far more than any case takes.
const PATIENCE: Duration = Duration::from_mins(2);
/// The size of the stack, which is that of a main thread.
const STACK: usize = 8 << 20;

/// The results of both resolvers for a round.
pub struct Judged {
    /// The lock that both started from.
    pub start: Option<String>,
    /// npm's answer.
    pub npm: Expected,
    /// Espalier's answer.
    pub espalier: Answer,
    /// The result of the comparison.
    pub verdict: Verdict,
}

/// Both resolvers.
pub struct Judge {
    /// npm, which is right by definition.
    pub npm: Npm,
    recording: Arc<Recording>,
}

impl Judge {
    /// Combines both resolvers, which have to use the same registry.
    pub fn new(npm: Npm, recording: Arc<Recording>) -> Self {
        Self { npm, recording }
    }

    /// Judges all rounds of a case. A later round starts from npm's lock, so that one difference
    /// doesn't cause another.
    pub fn rounds(&mut self, case: &Case) -> anyhow::Result<Vec<Judged>> {
        let mut start = None;
        let mut judged = Vec::new();
        for round in &case.rounds {
            let npm = self.npm.answer(round, start.as_deref())?;
            let espalier = self.espalier(round, start.as_deref())?;
            // Espalier goes on after that point, and may find an error of the project there.
            let is_crash = !matches!(espalier.answer, Answer::Broken(_)) && misses_bundler(round, &npm.answer);
            let is_documented = is_crash || saves_nameless_alias(&npm.answer);
            let verdict = if is_documented { Verdict::Unanswered } else { verdict(&npm, &espalier) };
            let (npm, espalier) = (npm.answer, espalier.answer);
            let next = if let Expected::Lockfile(lockfile) = &npm { Some(lockfile.clone()) } else { start.clone() };
            judged.push(Judged { start: std::mem::replace(&mut start, next), npm, espalier, verdict });
        }
        Ok(judged)
    }

    /// Whether any round has a difference of this kind.
    pub fn differ(&mut self, case: &Case, kind: &str) -> anyhow::Result<bool> {
        Ok(self.rounds(case)?.iter().any(|judged| judged.verdict.kind().is_some_and(|other| other == kind)))
    }

    fn espalier(&self, round: &Round, lockfile: Option<&str>) -> anyhow::Result<Left<Answer>> {
        round.write(&self.npm.project, lockfile, ORIGIN)?;
        let mut input = input(round, lockfile, &self.npm.project)?;
        let (command, flags) = Command::read(round)?;
        let mut options = project::options(flags.into_iter())?;
        options.save = command.save;
        input.project.changes = command.changes;
        self.npm.node_version().clone_into(&mut options.node_version);
        let mut left = bounded(Arc::clone(&self.recording), input, options)?;
        if !round.command.is_empty() {
            for (folder, manifest) in &round.manifests {
                left.manifests.entry(folder.clone()).or_insert_with(|| pretty(manifest));
            }
        }
        Ok(left)
    }
}

/// Whether npm crashed, because it looked for a linked folder with bundles beside the project
/// instead of in it. It resolves the link's target, which is relative to `node_modules`, from the
/// project's folder (README, "Differences from npm").
fn misses_bundler(round: &Round, npm: &Expected) -> bool {
    let Expected::Failure { code: Some(code), message } = npm else { return false };
    let is_missed = |folder: &String| {
        let path = format!("/{folder}/package.json'");
        message.strip_suffix(path.as_str()).is_some_and(|before| !before.ends_with("/project"))
    };
    code == "ENOENT" && round.manifests.keys().any(|folder| !folder.is_empty() && is_missed(folder))
}

/// Whether npm saved an optional dependency that it could not fetch as an alias of a package without
/// a name (README, "Differences from npm").
fn saves_nameless_alias(npm: &Expected) -> bool {
    matches!(npm, Expected::Lockfile(lockfile) if lockfile.contains("\"npm:null@"))
}

/// Compares the locks, then the package.json files unless both failed.
fn verdict(npm: &Left<Expected>, espalier: &Left<Answer>) -> Verdict {
    let verdict = compare::verdict(&npm.answer, &espalier.answer);
    if !verdict.is_identical() || !matches!(npm.answer, Expected::Lockfile(_)) {
        return verdict;
    }
    let differing = npm.manifests.iter().find(|(folder, text)| espalier.manifests.get(*folder) != Some(*text));
    differing.map_or(verdict, |(folder, text)| {
        let ours = espalier.manifests.get(folder).cloned().unwrap_or_default();
        let tell = |text: &str| format!("package.json of \"{folder}\": {text}");
        Verdict::Otherwise { npm: tell(text), espalier: tell(&ours) }
    })
}

fn input(round: &Round, lockfile: Option<&str>, folder: &Path) -> anyhow::Result<Input> {
    let folder = std::path::absolute(folder)?;
    let folder_name = folder.file_name().context("the project's folder has no name")?.to_string_lossy().into_owned();
    let project = Project {
        manifest: round.manifest(),
        lockfile: lockfile.map(|lockfile| with_origin(lockfile, ORIGIN).into()),
        folder_name,
        path: folder.to_string_lossy().replace('\\', "/"),
        ..Project::default()
    };
    Ok(Input { project, folder })
}

/// Resolves on a separate thread, which is abandoned if it doesn't end.
fn bounded(recording: Arc<Recording>, input: Input, options: Options) -> anyhow::Result<Left<Answer>> {
    let (sender, receiver) = mpsc::channel();
    let resolve = move || {
        // After the time limit, nobody receives the answer.
        let _ = sender.send(recording.command(&input, options));
    };
    thread::Builder::new().stack_size(STACK).spawn(resolve).context("cannot start a thread")?;
    let (answer, manifests) = receiver
        .recv_timeout(PATIENCE)
        .unwrap_or_else(|_| (Answer::Broken(format!("no answer within {PATIENCE:?}")), Vec::new()));
    let manifests = manifests.into_iter().map(|manifest| (manifest.folder, manifest.text)).collect();
    Ok(Left { answer, manifests })
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use serde_json::json;

    use super::{Expected, Round, misses_bundler};

    #[test]
    fn a_linked_bundler_is_missed_only_beside_the_project() {
        let round = Round {
            manifests: BTreeMap::from([(String::new(), json!({})), ("packages/a".to_owned(), json!({}))]),
            arguments: Vec::new(),
            command: Vec::new(),
        };
        let misses = |path: &str| {
            let message = format!("Error: Could not read package.json: no such file or directory, open '{path}'");
            misses_bundler(&round, &Expected::Failure { code: Some("ENOENT".to_owned()), message })
        };
        assert!(misses("/tmp/x/packages/a/package.json"));
        assert!(!misses("/tmp/x/project/packages/a/package.json"));
        assert!(!misses("/tmp/x/packages/b/package.json"));
    }
}
