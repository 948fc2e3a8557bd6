//! Checks out the files of a commit into a folder of their own (`git.js` of pacote, `clone.js` of
//! `@npmcli/git`).
//!
//! From a known host, npm takes an archive, which has no links and omits paths with the attribute
//! `export-ignore`. From other hosts, it takes a clone with submodules. Here git makes both.

use std::fs;
use std::path::{Path, PathBuf};

use espalier_core::spec::{SpecKind, Specs};
use espalier_core::{FetchFailure, FetchFailureKind};
use tar::{Archive, EntryType};

use super::{failed, fetch, git, unreachable_repository};
use crate::blocking;

/// A commit of a repository, as a lock names it.
#[derive(Clone, Debug)]
pub(crate) struct Repository {
    urls: Vec<String>,
    commit: Option<String>,
    /// Whether npm knows the host.
    hosted: bool,
}

impl Repository {
    /// Parses a `resolved`. `None` if it isn't a git URL with a commit.
    pub fn of(resolved: &str) -> Option<Self> {
        let spec = Specs::default().intern(resolved);
        let SpecKind::Git(git) = &spec.kind else { return None };
        let is_commit = |text: &String| text.len() >= 40 && text.bytes().all(|byte| byte.is_ascii_hexdigit());
        let urls = match &git.hosted {
            Some(hosted) => hosted.fetch_urls(),
            None => git.fetch.iter().cloned().collect(),
        };
        Some(Self { urls, commit: git.committish.clone().filter(is_commit), hosted: git.hosted.is_some() })
    }
}

/// Writes the files of a commit into a new folder.
pub(crate) async fn checkout(repository: &Repository, folder: &Path) -> Result<(), FetchFailure> {
    let Repository { urls, commit, hosted } = repository;
    let invalid = |message: &str| failed(FetchFailureKind::Invalid, urls.first().map_or("", String::as_str), message);
    let Some(commit) = commit else { return Err(invalid("the lockfile records no commit")) };
    let mut first_failure = None;
    for url in urls {
        let scratch =
            tempfile::tempdir().map_err(|error| failed(FetchFailureKind::Invalid, url, &error.to_string()))?;
        let repository = scratch.path().join("repository");
        if let Err(error) = fetch(url, commit, true, &repository).await {
            first_failure.get_or_insert(unreachable_repository(url, &error));
            continue;
        }
        let done = if *hosted {
            archive(&repository, commit, &scratch.path().join("archive.tar"), folder).await
        } else {
            clone(&repository, url, commit, folder).await
        };
        return done.map_err(|error| {
            let message = format!("git cannot check out {commit} of {url}: {error}");
            failed(FetchFailureKind::Invalid, url, &message)
        });
    }
    Err(first_failure.unwrap_or_else(|| invalid("the repository has no address")))
}

async fn archive(repository: &Path, commit: &str, file: &Path, folder: &Path) -> Result<(), String> {
    let output = format!("--output={}", file.display());
    git(Some(repository), &["archive", "--format=tar", &output, commit]).await?;
    let (file, folder) = (file.to_owned(), folder.to_owned());
    blocking::run(move || unpack(&file, &folder)).await.map_err(|error| error.to_string())
}

fn unpack(file: &PathBuf, folder: &Path) -> std::io::Result<()> {
    fs::create_dir_all(folder)?;
    for entry in Archive::new(fs::File::open(file)?).entries()? {
        let mut entry = entry?;
        if entry.header().entry_type() == EntryType::Regular {
            // This refuses paths that lead out of the folder.
            entry.unpack_in(folder)?;
        }
    }
    Ok(())
}

async fn clone(repository: &Path, url: &str, commit: &str, folder: &Path) -> Result<(), String> {
    fs::create_dir_all(folder).map_err(|error| error.to_string())?;
    let own = folder.join(".git");
    fs::rename(repository, &own).map_err(|error| error.to_string())?;
    let tree = folder.to_string_lossy();
    for arguments in [
        &["config", "core.bare", "false"][..],
        // The URLs of submodules can be relative to the repository's own.
        &["config", "remote.origin.url", url],
        &["--work-tree", &tree, "checkout", "--quiet", "--detach", commit, "--"],
    ] {
        git(Some(&own), arguments).await?;
    }
    if folder.join(".gitmodules").is_file() {
        git(None, &["-C", &tree, "submodule", "--quiet", "update", "--init", "--recursive"]).await?;
    }
    Ok(())
}
