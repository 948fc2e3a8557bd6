//! Lets npm and Espalier resolve the same case and compares them, round by round.

use std::path::Path;
use std::sync::{Arc, mpsc};
use std::thread;
use std::time::Duration;

use anyhow::Context;
use espalier_core::{Options, Project};

use super::ask::Npm;
use super::case::{Case, ORIGIN, Round, with_origin};
use crate::parity::compare::{self, Answer, Expected, Verdict};
use crate::parity::drive::Recording;
use crate::parity::project::{self, Input};

/// Far more than any case takes; beyond it, the resolver is taken to hang.
const PATIENCE: Duration = Duration::from_mins(2);
/// What a main thread has.
const STACK: usize = 8 << 20;

/// What both made of a round.
pub struct Judged {
    /// The lock that both started from.
    pub start: Option<String>,
    /// npm's answer.
    pub npm: Expected,
    /// Espalier's.
    pub espalier: Answer,
    /// How they compare.
    pub verdict: Verdict,
}

/// Both resolvers.
pub struct Judge {
    /// The one that is right.
    pub npm: Npm,
    recording: Arc<Recording>,
}

impl Judge {
    /// Brings both together; they have to see the same registry.
    pub fn new(npm: Npm, recording: Arc<Recording>) -> Self {
        Self { npm, recording }
    }

    /// All rounds of a case. A later round starts from npm's lock, so that differences don't add up.
    pub fn rounds(&mut self, case: &Case) -> anyhow::Result<Vec<Judged>> {
        let mut start = None;
        let mut judged = Vec::new();
        for round in &case.rounds {
            let npm = self.npm.answer(round, start.as_deref())?;
            let espalier = self.espalier(round, start.as_deref())?;
            let verdict = compare::verdict(&npm, &espalier);
            let next = if let Expected::Lockfile(lockfile) = &npm { Some(lockfile.clone()) } else { start.clone() };
            judged.push(Judged { start: std::mem::replace(&mut start, next), npm, espalier, verdict });
        }
        Ok(judged)
    }

    /// Whether the two differ, in this way, in any round.
    pub fn differ(&mut self, case: &Case, kind: &str) -> anyhow::Result<bool> {
        Ok(self.rounds(case)?.iter().any(|judged| judged.verdict.kind().is_some_and(|other| other == kind)))
    }

    fn espalier(&self, round: &Round, lockfile: Option<&str>) -> anyhow::Result<Answer> {
        round.write(&self.npm.project, lockfile, ORIGIN)?;
        let input = input(round, lockfile, &self.npm.project)?;
        let mut options = project::options(round.arguments.iter().map(String::as_str))?;
        self.npm.node_version().clone_into(&mut options.node_version);
        bounded(Arc::clone(&self.recording), input, options)
    }
}

fn input(round: &Round, lockfile: Option<&str>, folder: &Path) -> anyhow::Result<Input> {
    let folder = std::path::absolute(folder)?;
    let folder_name = folder.file_name().context("the project's folder has no name")?.to_string_lossy().into_owned();
    let project = Project {
        manifest: round.manifest(),
        lockfile: lockfile.map(|lockfile| with_origin(lockfile, ORIGIN)),
        folder_name,
        path: folder.to_string_lossy().replace('\\', "/"),
        ..Project::default()
    };
    Ok(Input { project, folder })
}

/// Resolves on a thread of its own, which is left behind if it doesn't end.
fn bounded(recording: Arc<Recording>, input: Input, options: Options) -> anyhow::Result<Answer> {
    let (sender, receiver) = mpsc::channel();
    let resolve = move || {
        // Nobody listens any more when this took too long.
        let _ = sender.send(recording.resolve(&input, options));
    };
    thread::Builder::new().stack_size(STACK).spawn(resolve).context("cannot start a thread")?;
    Ok(receiver.recv_timeout(PATIENCE).unwrap_or_else(|_| Answer::Broken(format!("no answer within {PATIENCE:?}"))))
}
