//! Whether a package satisfies a spec (`dep-valid.js`).

use super::{EdgeId, NodeId, Tree};
use crate::hosted::HostedGit;
use crate::paths;
use crate::spec::{GitSpec, Spec, SpecKind};

impl Tree {
    /// Whether a node satisfies the spec, or otherwise the edge's `accept`.
    pub(super) fn accepts(&self, edge: EdgeId, node: NodeId, spec: &Spec) -> bool {
        self.meets(edge, node, spec) || self[edge].accept.as_ref().is_some_and(|accept| self.meets(edge, node, accept))
    }

    fn meets(&self, edge: EdgeId, node: NodeId, spec: &Spec) -> bool {
        match &spec.kind {
            SpecKind::Range { wanted, .. } if matches!(&**wanted, "*" | "") => true,
            SpecKind::Range { range, .. } | SpecKind::Version { range, .. } => {
                self.package(node).semver.as_ref().is_some_and(|version| range.satisfied_by(version))
            }
            SpecKind::Alias { spec, .. } => self.meets(edge, node, spec),
            // npm can only check that a tag's package came from a registry.
            SpecKind::Tag(_) => self[node].resolved.as_deref().is_some_and(is_remote),
            SpecKind::Remote(url) => self[node].resolved.as_deref() == Some(&**url),
            SpecKind::Directory(path) => {
                let is_link = self[node].is_link;
                if self.install_links && !self.is_workspace(node) {
                    return !is_link;
                }
                let wanted = self.relative(&path.resolve(&self.origin(edge)));
                is_link && self[node].realpath.as_deref() == Some(&wanted)
            }
            SpecKind::File(path) => {
                let wanted = path.resolve(&self.origin(edge));
                !self[node].is_link
                    && self[node].resolved.as_deref().and_then(|url| url.strip_prefix("file:")) == Some(&wanted)
            }
            SpecKind::Git(git) => self.meets_git(node, git),
            SpecKind::Invalid { .. } => false,
        }
    }

    fn meets_git(&self, node: NodeId, wanted: &GitSpec) -> bool {
        let resolved = self[node].resolved.as_deref().unwrap_or_default();
        let is_commit =
            |text: &str| (40..=64).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_hexdigit());
        let exact = wanted.committish.as_deref().is_some_and(is_commit);
        let same_repository = match HostedGit::parse(resolved) {
            Some(hosted) => wanted.hosted.as_ref().is_some_and(|wanted| wanted.ssh(exact) == hosted.ssh(exact)),
            None => {
                let address = resolved.split('#').next().unwrap_or_default();
                wanted.fetch.as_deref() == Some(address.strip_prefix("git+").unwrap_or(address))
            }
        };
        same_repository
            && wanted.range.as_deref().is_none_or(|range| {
                let version = self[node].manifest.version.as_deref().unwrap_or_default();
                crate::semver::satisfies(version, range, true)
            })
    }

    /// The folder that a relative spec of an edge starts from (`from-path.js`): the project's for
    /// an override, the tarball's own folder for a package that was unpacked from one, otherwise
    /// the dependent's real path.
    pub fn origin(&self, edge: EdgeId) -> String {
        let Some(from) = self[edge].from else {
            return self.project.to_string();
        };
        let rule = self[edge].rule.map(|rule| self.overrides.rule(rule));
        if rule.is_some_and(|rule| rule.name == Some(self[edge].name)) {
            let near = self[from].source.unwrap_or(from);
            let root = self[near].root;
            return self.absolute(self[root].realpath.as_deref().unwrap_or_default());
        }
        match self[from].resolved.as_deref().and_then(|url| url.strip_prefix("file:")) {
            Some(file) if !self[from].is_link && is_tarball(file) => paths::parent(file).to_owned(),
            _ => self.absolute(self[from].realpath.as_deref().unwrap_or_default()),
        }
    }
}

fn is_tarball(path: &str) -> bool {
    [".tgz", ".tar.gz", ".tar"].iter().any(|ending| path.to_ascii_lowercase().ends_with(ending))
}

/// Whether this is the URL of a tarball. A recorded registry gives only its path.
fn is_remote(resolved: &str) -> bool {
    let url = resolved.starts_with("http://") || resolved.starts_with("https://");
    (url && HostedGit::parse(resolved).is_none()) || resolved.starts_with('/')
}
