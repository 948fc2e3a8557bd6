//! Git repositories, by means of the system's git. This finds the commit of a spec, reads its
//! package.json and, for an installation, gets all of its files ([`checkout`]).
//!
//! Reading a package.json needs no checkout, because git prints the file from its object store. No
//! hook of a repository ever runs. Refs are interpreted as in npm (`@npmcli/git`).

mod checkout;

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use espalier_core::address::without_credentials;
use espalier_core::{FetchFailure, FetchFailureKind, GitCommit, GitRevision, semver};
use tokio::process::Command;

pub(crate) use checkout::{Repository, checkout};

/// The time limit of a git command.
const TIMEOUT: Duration = Duration::from_mins(5);

/// Finds the commit and reads its package.json. The addresses are tried in turn.
pub async fn commit(urls: &[String], wanted: &GitRevision, folder: &str) -> Result<GitCommit, FetchFailure> {
    let mut first_failure = None;
    for url in urls {
        match commit_at(url, wanted, folder).await {
            Ok(commit) => return Ok(commit),
            Err(failure) => {
                // A file that isn't in the repository won't be at another address of it either.
                let final_word = failure.kind == FetchFailureKind::NotFound;
                let failure = first_failure.get_or_insert(failure);
                if final_word {
                    return Err(failure.clone());
                }
            }
        }
    }
    Err(first_failure.unwrap_or_else(|| failed(FetchFailureKind::Invalid, "", "the repository has no address")))
}

async fn commit_at(url: &str, wanted: &GitRevision, folder: &str) -> Result<GitCommit, FetchFailure> {
    let listing = git(None, &["ls-remote", "--", url]).await.map_err(|error| unreachable_repository(url, &error))?;
    let refs = Refs::read(&listing);
    let known = match wanted {
        GitRevision::Head => refs.by_name.get("HEAD").cloned(),
        GitRevision::Committish(name) => refs.find(name),
        GitRevision::Range(range) => Some(
            refs.best(range)
                .ok_or_else(|| failed(FetchFailureKind::NotFound, url, &format!("no tag of {url} matches {range}")))?,
        ),
    };
    let scratch = tempfile::tempdir().map_err(|error| failed(FetchFailureKind::Invalid, url, &error.to_string()))?;
    let repository = scratch.path();
    let revision = match (&known, wanted) {
        (Some(hash), _) => hash.clone(),
        (None, GitRevision::Committish(name)) => name.clone(),
        _ => return Err(failed(FetchFailureKind::NotFound, url, &format!("{url} has no HEAD"))),
    };
    fetch(url, &revision, known.is_some(), repository).await.map_err(|error| unreachable_repository(url, &error))?;
    let missing = |what: &str| failed(FetchFailureKind::NotFound, url, &format!("{url} has no {what}"));
    let name = format!("{revision}^{{commit}}");
    let parsed = git(Some(repository), &["rev-parse", "--verify", "--quiet", "--end-of-options", &name]).await;
    let hash = parsed.map_err(|_| missing(&format!("commit, branch or tag {revision}")))?.trim().to_owned();
    let folder = folder.trim_matches('/');
    let path = if folder.is_empty() { "package.json".to_owned() } else { format!("{folder}/package.json") };
    let file = git(Some(repository), &["show", &format!("{hash}:{path}")]).await;
    let manifest = file.map_err(|_| missing(&format!("{path} at {hash}")))?;
    let mut files = String::new();
    if manifest.contains("directories") {
        let tree = format!("{hash}:{folder}");
        files = git(Some(repository), &["-c", "core.quotePath=false", "ls-tree", "-r", "--name-only", &tree])
            .await
            .unwrap_or_default();
    }
    Ok(GitCommit { commit: hash, manifest, files: files.lines().map(str::to_owned).collect() })
}

/// Fetches a revision into a new bare repository. A revision that isn't known to be a commit or a
/// ref requires fetching everything.
async fn fetch(url: &str, revision: &str, known: bool, repository: &Path) -> Result<(), String> {
    git(None, &["init", "--bare", "--quiet", &repository.to_string_lossy()]).await?;
    let shallow = ["fetch", "--quiet", "--depth=1", "--no-tags", "--", url, revision];
    if !known || git(Some(repository), &shallow).await.is_err() {
        // Not every server allows fetching a single commit.
        let all = ["fetch", "--quiet", "--tags", "--", url, "+refs/heads/*:refs/heads/*"];
        git(Some(repository), &all).await?;
    }
    Ok(())
}

/// The refs of a repository, under all of their names.
#[derive(Debug, Default)]
struct Refs {
    by_name: BTreeMap<String, String>,
    versions: BTreeMap<String, String>,
}

impl Refs {
    /// Parses the output of `git ls-remote`.
    fn read(listing: &str) -> Self {
        let mut refs = Self::default();
        for line in listing.lines() {
            let Some((hash, raw)) = line.split_once(char::is_whitespace) else { continue };
            let raw = raw.trim();
            // An annotated tag is followed by the commit that it points to.
            let name = raw.strip_suffix("^{}").unwrap_or(raw);
            let tag = name.strip_prefix("refs/tags/");
            let pull = name.strip_prefix("refs/").filter(|rest| rest.starts_with("pull/"));
            let short = tag.or_else(|| name.strip_prefix("refs/heads/"));
            let short = short.or(pull.map(|pull| pull.strip_suffix("/head").unwrap_or(pull))).unwrap_or(name);
            for name in [name, short] {
                refs.by_name.insert(name.to_owned(), hash.to_owned());
            }
            if let Some(version) = tag.and_then(version_of) {
                refs.versions.insert(version, hash.to_owned());
            }
        }
        refs
    }

    /// The commit that a name or a full hash means.
    fn find(&self, name: &str) -> Option<String> {
        let is_hash = |text: &str| text.len() >= 40 && text.bytes().all(|byte| byte.is_ascii_hexdigit());
        let by_hash = || self.by_name.values().find(|hash| *hash == name).cloned();
        self.by_name.get(name).cloned().or_else(by_hash).or_else(|| is_hash(name).then(|| name.to_owned()))
    }

    /// The commit of the best version in a range: the default branch if it is a match, otherwise
    /// the highest version.
    fn best(&self, range: &str) -> Option<String> {
        let latest = self.by_name.get("latest").or_else(|| self.by_name.get("HEAD"));
        let at_latest = self.versions.iter().rfind(|(_, hash)| Some(*hash) == latest);
        let preferred = at_latest.filter(|(version, _)| semver::satisfies(version, range, true));
        let highest = || semver::max_satisfying(self.versions.keys().map(String::as_str), range, true);
        match preferred {
            Some((_, hash)) => Some(hash.clone()),
            None => self.versions.get(highest()?).cloned(),
        }
    }
}

/// The version at the end of a tag such as `release-v1.2.3`.
fn version_of(tag: &str) -> Option<String> {
    let starts = tag.char_indices().filter(|&(at, character)| {
        character.is_ascii_digit() && !tag[..at].ends_with(|before: char| before.is_ascii_digit())
    });
    starts.map(|(at, _)| &tag[at..]).find_map(|text| semver::Version::parse(text).map(|version| version.to_string()))
}

/// Runs git without prompts. Returns its output or its error message.
async fn git(repository: Option<&Path>, arguments: &[&str]) -> Result<String, String> {
    let mut command = Command::new("git");
    if let Some(repository) = repository {
        command.arg("--git-dir").arg(repository);
    }
    command.args(["-c", "core.hooksPath=/dev/null", "-c", "protocol.ext.allow=never"]).args(arguments);
    command.env("GIT_TERMINAL_PROMPT", "0").stdin(Stdio::null()).kill_on_drop(true);
    for (name, value) in
        [("GIT_ASKPASS", "echo"), ("GIT_SSH_COMMAND", "ssh -oStrictHostKeyChecking=accept-new -oBatchMode=yes")]
    {
        if std::env::var_os(name).is_none() {
            command.env(name, value);
        }
    }
    let output = match tokio::time::timeout(TIMEOUT, command.output()).await {
        Ok(Ok(output)) => output,
        Ok(Err(error)) if error.kind() == std::io::ErrorKind::NotFound => return Err("git is not installed".to_owned()),
        Ok(Err(error)) => return Err(error.to_string()),
        Err(_) => return Err(format!("git took longer than {} seconds", TIMEOUT.as_secs())),
    };
    if output.status.success() {
        return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
    }
    let complaint = String::from_utf8_lossy(&output.stderr);
    let complaint =
        complaint.lines().map(str::trim).rfind(|line| line.starts_with("fatal:") || line.starts_with("error:"));
    Err(complaint.unwrap_or("git failed").to_owned())
}

fn unreachable_repository(url: &str, complaint: &str) -> FetchFailure {
    failed(FetchFailureKind::Unreachable, url, &format!("git cannot read {}: {complaint}", without_credentials(url)))
}

fn failed(kind: FetchFailureKind, url: &str, message: &str) -> FetchFailure {
    FetchFailure { kind, message: message.replace(url, &without_credentials(url)), url: without_credentials(url) }
}

#[cfg(test)]
mod tests {
    use super::{Refs, version_of};

    const LISTING: &str = "aaa\tHEAD\naaa\trefs/heads/main\nbbb\trefs/heads/next\nccc\trefs/pull/7/head\n\
                           d0d\trefs/tags/v1.0.0\nddd\trefs/tags/v1.0.0^{}\naaa\trefs/tags/v1.1.0\n\
                           bbb\trefs/tags/release-v1.2.0\n";

    #[test]
    fn refs_go_by_short_names_and_tags_by_their_commits() {
        let refs = Refs::read(LISTING);
        let find = |name: &str| refs.find(name).unwrap_or_default();
        assert_eq!([find("next"), find("refs/heads/next"), find("pull/7")], ["bbb", "bbb", "ccc"]);
        assert_eq!(find("v1.0.0"), "ddd");
        assert_eq!(find("nothing"), "");
    }

    #[test]
    fn a_range_prefers_what_the_head_points_to() {
        let refs = Refs::read(LISTING);
        assert_eq!(refs.best("^1.0.0").as_deref(), Some("aaa"));
        assert_eq!(refs.best(">1.1").as_deref(), Some("bbb"));
        assert_eq!(refs.best("2"), None);
    }

    #[test]
    fn tags_end_in_versions() {
        assert_eq!(version_of("release-v1.2.3-rc.1").as_deref(), Some("1.2.3-rc.1"));
        assert_eq!(version_of("v2"), None);
    }
}
