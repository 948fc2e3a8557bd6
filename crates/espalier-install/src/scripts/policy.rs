//! npm 12's `allowScripts`: which dependencies may run their install scripts.
//!
//! A policy maps specs to yes or no. What it doesn't mention is unreviewed and doesn't run; a no wins over any yes; what
//! came bundled inside another package never runs. A name in a policy means the registry's package of that name, wherever
//! it lies, and nothing that merely calls itself so. The rules are those of `script-allowed.js` and
//! `resolve-allow-scripts.js`.

use espalier_core::semver::{self, Version};
use espalier_core::spec::{Spec, SpecKind, Specs, split_argument};
use espalier_core::{hosted::HostedGit, paths};
use serde_json::Value as Json;
use std::rc::Rc;

use super::identity::Subject;
use crate::config::{Config, Origin, Value};

/// What a policy says of a package.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Its scripts run.
    Allowed,
    /// Someone has said no.
    Denied,
    /// Nobody has said anything, so they don't run.
    Unreviewed,
}

/// The policy in force.
#[derive(Clone, Debug, Default)]
pub struct Policy {
    entries: Vec<(String, bool)>,
    /// What is wrong with it or overruled, one sentence each.
    pub warnings: Vec<String>,
}

/// Why there is no policy.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PolicyError {
    /// npm only has the flag for what isn't in a project, so that a team's installs agree (EALLOWSCRIPTS).
    #[error("--allow-scripts does not apply to projects. Use allowScripts in package.json, or .npmrc")]
    OnCommandLine,
}

impl Policy {
    /// The policy of a project: its manifest's, else that of the `.npmrc` files.
    pub fn of_project(manifest: &Json, config: &Config) -> Result<Self, PolicyError> {
        if [Origin::CommandLine, Origin::Environment].iter().any(|origin| !listed(config, origin).is_empty()) {
            return Err(PolicyError::OnCommandLine);
        }
        let of_manifest = manifest.get("allowScripts").and_then(Json::as_object).into_iter().flatten();
        // Anything but yes or no is neither.
        let of_manifest = of_manifest.filter_map(|(key, value)| Some((key.clone(), value.as_bool()?))).collect();
        let of_files = config.origins().filter(|origin| !matches!(origin, Origin::CommandLine | Origin::Environment));
        let of_files =
            of_files.map(|origin| listed(config, origin)).find(|names| !names.is_empty()).unwrap_or_default();
        let mut policy = Self::default();
        let of_manifest = policy.sound(of_manifest, "package.json");
        let of_files = policy.sound(of_files.into_iter().map(|name| (name, true)).collect(), ".npmrc");
        if of_manifest.is_empty() {
            policy.entries = of_files;
        } else {
            if !of_files.is_empty() {
                let overruled = "allow-scripts of .npmrc is ignored, because package.json has allowScripts";
                policy.warnings.push(overruled.to_owned());
            }
            policy.entries = of_manifest;
        }
        Ok(policy)
    }

    /// The policy for what is fetched for one run: a project has no say in it, be it by its manifest or its `.npmrc`.
    pub fn of_user(config: &Config) -> Self {
        let of_project = |origin: &Origin| matches!(origin, Origin::Project(_));
        let nearest = config.origins().filter(|origin| !of_project(origin)).map(|origin| listed(config, origin));
        let names = nearest.into_iter().find(|names| !names.is_empty()).unwrap_or_default();
        let mut policy = Self::default();
        policy.entries = policy.sound(names.into_iter().map(|name| (name, true)).collect(), "allow-scripts");
        policy
    }

    /// A policy of these entries.
    pub fn of(entries: impl IntoIterator<Item = (String, bool)>) -> Self {
        Self { entries: entries.into_iter().collect(), warnings: Vec::new() }
    }

    /// Drops what promises less than it would do: ranges and tags, which let in versions that nobody has seen.
    fn sound(&mut self, entries: Vec<(String, bool)>, origin: &str) -> Vec<(String, bool)> {
        let judged = entries.into_iter().filter(|(key, _)| {
            let problem = match &Key::parse(key, "").spec.kind {
                SpecKind::Tag(_) => "a tag says nothing about what it will point to",
                SpecKind::Range { wanted, .. } if !is_any(wanted) && !is_list_of_versions(wanted) => {
                    "a range lets in versions that nobody has reviewed"
                }
                SpecKind::Invalid { .. } => "it cannot be read",
                _ => return true,
            };
            self.warnings.push(format!(
                "{origin}: allowScripts entry \"{key}\" is ignored, because {problem}; use exact versions joined by \
                 \"||\", or the name alone"
            ));
            false
        });
        judged.collect()
    }

    /// The verdict on a package of the project in this absolute folder.
    pub fn decide(&self, subject: &Subject, project: &str) -> Verdict {
        if subject.in_bundle {
            return Verdict::Unreviewed;
        }
        let matching = self.entries.iter().filter(|(key, allowed)| Key::parse(key, project).matches(subject, !allowed));
        match matching.map(|&(_, allowed)| allowed).min() {
            Some(true) => Verdict::Allowed,
            Some(false) => Verdict::Denied,
            None => Verdict::Unreviewed,
        }
    }

    /// Whether it says anything.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }
}

/// `allow-scripts` of one place, split at commas.
fn listed(config: &Config, origin: &Origin) -> Vec<String> {
    let items = match config.value_of(origin, "allow-scripts") {
        Some(Value::Text(text)) => vec![text.clone()],
        Some(Value::List(items)) => items.clone(),
        _ => Vec::new(),
    };
    let parts = items.iter().flat_map(|item| item.split(',')).map(str::trim);
    parts.filter(|part| !part.is_empty()).map(str::to_owned).collect()
}

/// An entry's key, read.
pub(super) struct Key {
    /// The name before the `@`, where there is one.
    pub name: Option<String>,
    /// What follows.
    pub spec: Rc<Spec>,
    project: String,
}

impl Key {
    pub(super) fn parse(key: &str, project: &str) -> Self {
        let (name, spec) = split_argument(key);
        let spec = Specs::default().intern(spec);
        Self { name: name.map(str::to_owned), spec, project: project.to_owned() }
    }

    /// Whether it means just one version.
    pub(super) fn is_pin(&self) -> bool {
        matches!(self.spec.kind, SpecKind::Version { .. })
    }

    /// Whether it means a name, whatever the version.
    pub(super) fn is_name_only(&self) -> bool {
        match &self.spec.kind {
            SpecKind::Tag(_) => true,
            SpecKind::Range { wanted, .. } => is_any(wanted),
            _ => false,
        }
    }

    /// Whether it is about this package. Where the version can't be known for sure, `closed` decides: then a no counts,
    /// and a yes doesn't.
    fn matches(&self, subject: &Subject, closed: bool) -> bool {
        match &self.spec.kind {
            SpecKind::Version { .. } | SpecKind::Range { .. } => self.matches_registry(subject, closed),
            SpecKind::Git(_) => self.matches_git(subject, true),
            _ => self.targets_elsewhere(subject),
        }
    }

    /// Whether it is about a package of this identity, of whatever version (`keyTargetsNode`).
    pub(super) fn targets(&self, subject: &Subject) -> bool {
        match &self.spec.kind {
            SpecKind::Version { .. } | SpecKind::Range { .. } | SpecKind::Tag(_) => {
                subject.identity().is_some_and(|identity| Some(identity.name) == self.name)
            }
            SpecKind::Git(_) => self.matches_git(subject, false),
            _ => self.targets_elsewhere(subject),
        }
    }

    fn matches_registry(&self, subject: &Subject, closed: bool) -> bool {
        if !subject.is_from_registry() {
            return false;
        }
        let Some(identity) = subject.identity().filter(|identity| Some(&identity.name) == self.name.as_ref()) else {
            return false;
        };
        match (&self.spec.kind, &identity.version) {
            (SpecKind::Range { wanted, .. }, _) if is_any(wanted) => true,
            (SpecKind::Range { wanted, .. }, _) if !is_list_of_versions(wanted) => false,
            (_, None) => closed,
            (SpecKind::Range { wanted, .. }, Some(version)) => semver::satisfies(version, wanted, true),
            (_, Some(version)) => *version == self.spec.raw.trim(),
        }
    }

    /// The same repository, and if the key names a commit, that one; it may be shortened, the lock's may not.
    fn matches_git(&self, subject: &Subject, with_commit: bool) -> bool {
        let SpecKind::Git(wanted) = &self.spec.kind else { return false };
        let Some(resolved) = subject.sources().first().copied().filter(|text| text.starts_with("git")) else {
            return false;
        };
        let resolved = Specs::default().intern(resolved);
        let SpecKind::Git(found) = &resolved.kind else { return false };
        let host = |hosted: &Option<HostedGit>| hosted.as_ref().map(|hosted| hosted.ssh(false));
        let same = match (host(&wanted.hosted), host(&found.hosted)) {
            (Some(one), Some(other)) => one == other,
            _ => with_commit && wanted.fetch.is_some() && wanted.fetch == found.fetch,
        };
        let commit = wanted.committish.as_deref().filter(|_| with_commit);
        same && commit.is_none_or(|wanted| found.committish.as_deref().is_some_and(|full| full.starts_with(wanted)))
    }

    /// Folders, files and URLs are compared as they are written.
    fn targets_elsewhere(&self, subject: &Subject) -> bool {
        match &self.spec.kind {
            SpecKind::File(path) | SpecKind::Directory(path) => {
                let full = path.resolve(&self.project);
                let relative = format!("file:{}", paths::relative(&self.project, &full));
                subject.sources().iter().any(|&source| {
                    source == full || source == relative || source.strip_prefix("file:") == Some(full.as_str())
                })
            }
            SpecKind::Remote(url) => subject.sources().contains(&&**url),
            _ => false,
        }
    }
}

fn is_any(range: &str) -> bool {
    matches!(range, "" | "*")
}

/// `1.0.0 || 1.0.1`
fn is_list_of_versions(range: &str) -> bool {
    range.split("||").all(|part| Version::parse(part.trim()).is_some())
}
