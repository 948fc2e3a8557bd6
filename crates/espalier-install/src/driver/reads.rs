//! The answers that a resolution got, so that a later run can check whether it would get the same
//! ones.

use std::sync::{Mutex, PoisonError};

use espalier_core::{Answer, FetchFailure, Request};
use serde::{Deserialize, Serialize};

use crate::cache::documents::Revision;
use crate::digest::{Digest, Digested};
use crate::project::ProjectFolder;
use crate::registry::Permanence;

/// One answer from the project's files.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Read {
    /// The package.json of a folder.
    Folder(String, Digested),
    /// A file.
    File(String, Digested),
    /// The list of folders with a package.json.
    PackageFolders(Digested),
}

/// All answers of a run.
#[derive(Debug, Default)]
pub(crate) struct Reads(Mutex<ReadLog>);

#[derive(Debug, Default)]
struct ReadLog {
    reads: Vec<Read>,
    /// The documents of registries that can change.
    documents: Vec<Revision>,
    /// Whether a registry was asked.
    asked_registry: bool,
    /// Whether there was an answer that can't be checked.
    beyond: bool,
}

impl Reads {
    /// Records an answer.
    pub fn add(&self, request: &Request, answer: &Result<Answer, FetchFailure>, permanence: Permanence) {
        let mut told = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if told.beyond {
            return;
        }
        match (request, answer) {
            (Request::Folder { path }, Ok(Answer::Folder(text))) => {
                told.reads.push(Read::Folder(path.clone(), optional(text.as_ref())));
            }
            (Request::File { path }, Ok(Answer::File(bytes))) => {
                told.reads.push(Read::File(path.clone(), optional(bytes.as_ref())));
            }
            (Request::PackageFolders, Ok(Answer::PackageFolders(folders))) => {
                told.reads.push(Read::PackageFolders(list(folders)));
            }
            // The packument is requested next, and its state counts.
            (Request::Manifest { .. }, Ok(Answer::NoDocument)) => told.asked_registry = true,
            (Request::Packument { .. } | Request::Manifest { .. } | Request::VersionDocument { .. }, Ok(_))
                if permanence != Permanence::Unknown =>
            {
                told.asked_registry = true;
                if let Permanence::While(revision) = permanence {
                    told.documents.push(revision);
                }
            }
            _ => *told = ReadLog { beyond: true, ..ReadLog::default() },
        }
    }

    /// The answers, if all of them came from the project's files.
    pub fn of_the_project(&self) -> Option<Vec<Read>> {
        let told = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        (!told.beyond && !told.asked_registry).then(|| told.reads.clone())
    }

    /// The answers, if all of them can be checked: those from the project's files, and the states
    /// of documents.
    pub fn all(&self) -> Option<(Vec<Read>, Vec<Revision>)> {
        let told = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        (!told.beyond).then(|| (told.reads.clone(), told.documents.clone()))
    }
}

impl Read {
    /// Whether the same request would get the same answer now. Blocks.
    pub fn is_same(&self, project: &ProjectFolder) -> bool {
        match self {
            Self::Folder(path, known) => project.manifest_in(path).is_ok_and(|text| optional(text.as_ref()) == *known),
            Self::File(path, known) => project.file(path).is_ok_and(|bytes| optional(bytes.as_ref()) == *known),
            Self::PackageFolders(known) => project.package_folders().is_ok_and(|folders| list(&folders) == *known),
        }
    }
}

fn optional(bytes: Option<&impl AsRef<[u8]>>) -> Digested {
    let mut digest = Digest::default();
    digest.add_if_some(bytes);
    digest.finish()
}

fn list(items: &[String]) -> Digested {
    let mut digest = Digest::default();
    for item in items {
        digest.add(item);
    }
    digest.finish()
}
