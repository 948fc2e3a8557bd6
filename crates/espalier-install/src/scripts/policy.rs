//! npm 12's `allowScripts`: which dependencies may run their install scripts.
//!
//! A policy maps specs to true or false. Scripts of an unmentioned package are unreviewed and don't
//! run. A denial outweighs any approval. Scripts of bundled packages never run. A name in a policy
//! means the registry's package of that name at any location, and not a package that only claims
//! the name. The rules are those of `script-allowed.js` and `resolve-allow-scripts.js`.

use espalier_core::semver::{self, Version};
use espalier_core::spec::{Spec, SpecKind, Specs, split_argument};
use espalier_core::{hosted::HostedGit, paths};
use serde_json::Value as Json;
use std::rc::Rc;

use super::identity::Subject;
use crate::config::{Config, Origin, Value};

/// A policy's verdict on a package.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Its scripts run.
    Allowed,
    /// Its scripts are denied.
    Denied,
    /// The policy doesn't mention it, so its scripts don't run.
    Unreviewed,
}

/// The policy in force.
#[derive(Clone, Debug, Default)]
pub struct Policy {
    entries: Vec<(String, bool)>,
    /// Invalid or overridden entries, one sentence each.
    pub warnings: Vec<String>,
}

/// Why there is no policy.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PolicyError {
    /// In npm, this option is for use outside of projects only, so that a team's installs agree
    /// (EALLOWSCRIPTS).
    #[error("--allow-scripts does not apply to projects. Use allowScripts in package.json, or .npmrc")]
    OnCommandLine,
}

impl Policy {
    /// The policy of a project: its manifest's, otherwise that of the `.npmrc` files.
    pub fn of_project(manifest: &Json, config: &Config) -> Result<Self, PolicyError> {
        if [Origin::CommandLine, Origin::Environment].iter().any(|origin| !listed(config, origin).is_empty()) {
            return Err(PolicyError::OnCommandLine);
        }
        let of_manifest = manifest.get("allowScripts").and_then(Json::as_object).into_iter().flatten();
        // Entries that aren't true or false are skipped.
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

    /// The policy for packages that are fetched for one run. Neither the project's manifest nor its
    /// `.npmrc` can decide about them.
    pub fn of_user(config: &Config) -> Self {
        let of_project = |origin: &Origin| matches!(origin, Origin::Project(_));
        let nearest = config.origins().filter(|origin| !of_project(origin)).map(|origin| listed(config, origin));
        let names = nearest.into_iter().find(|names| !names.is_empty()).unwrap_or_default();
        let mut policy = Self::default();
        policy.entries = policy.sound(names.into_iter().map(|name| (name, true)).collect(), "allow-scripts");
        policy
    }

    /// A policy with these entries.
    pub fn of(entries: impl IntoIterator<Item = (String, bool)>) -> Self {
        Self { entries: entries.into_iter().collect(), warnings: Vec::new() }
    }

    /// Drops ranges and tags, which would permit versions that nobody has reviewed.
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

    /// The verdict on a package. `project` is the absolute folder of the project.
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

    /// Whether it has no entries.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }
}

/// The entries of `allow-scripts` in one place, split at commas.
fn listed(config: &Config, origin: &Origin) -> Vec<String> {
    let items = match config.value_of(origin, "allow-scripts") {
        Some(Value::Text(text)) => vec![text.clone()],
        Some(Value::List(items)) => items.clone(),
        _ => Vec::new(),
    };
    let parts = items.iter().flat_map(|item| item.split(',')).map(str::trim);
    parts.filter(|part| !part.is_empty()).map(str::to_owned).collect()
}

/// A parsed key of an entry.
pub(super) struct Key {
    /// The name before the `@`, if there is one.
    pub name: Option<String>,
    /// The spec.
    pub spec: Rc<Spec>,
    project: String,
}

impl Key {
    pub(super) fn parse(key: &str, project: &str) -> Self {
        let (name, spec) = split_argument(key);
        let spec = Specs::default().intern(&spec);
        Self { name: name.map(str::to_owned), spec, project: project.to_owned() }
    }

    /// Whether it means exactly one version.
    pub(super) fn is_pin(&self) -> bool {
        matches!(self.spec.kind, SpecKind::Version { .. })
    }

    /// Whether it means a name in all versions.
    pub(super) fn is_name_only(&self) -> bool {
        match &self.spec.kind {
            SpecKind::Tag(_) => true,
            SpecKind::Range { wanted, .. } => is_any(wanted),
            _ => false,
        }
    }

    /// Whether it matches a package. If the version isn't certain, `closed` decides: a denial
    /// matches, an approval doesn't.
    fn matches(&self, subject: &Subject, closed: bool) -> bool {
        match &self.spec.kind {
            SpecKind::Version { .. } | SpecKind::Range { .. } => self.matches_registry(subject, closed),
            SpecKind::Git(_) => self.matches_git(subject, true),
            _ => self.targets_elsewhere(subject),
        }
    }

    /// Whether it matches a package in any version (`keyTargetsNode`).
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

    /// Whether it names the same repository, and the same commit if it names one. The key's commit
    /// can be abbreviated, the lock's can't.
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

    /// Folders, files and URLs are compared as text.
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

/// Matches `1.0.0 || 1.0.1`.
fn is_list_of_versions(range: &str) -> bool {
    range.split("||").all(|part| Version::parse(part.trim()).is_some())
}
