//! Where packages may come from: what npm 12 refuses by default, and lockfiles that send a name elsewhere.

use espalier_core::Graph;
use rustc_hash::FxHashMap;

use crate::config::Config;
use crate::plan::Plan;
use crate::plan::layout::{Layout, Origin, Package};
use crate::registry::{Registry, package_of};

/// One of npm's `allow-*` settings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Allowed {
    All,
    Root,
    None,
}

/// Which origins are allowed.
#[derive(Clone, Copy, Debug)]
pub struct Trust {
    git: Allowed,
    remote: Allowed,
}

/// A package that isn't allowed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct Refusal {
    /// npm's code, or one in its manner.
    pub code: &'static str,
    /// One sentence.
    pub message: String,
    /// The package's location.
    pub location: String,
    /// The setting that would allow it, if one does.
    pub setting: Option<&'static str>,
}

impl Trust {
    /// npm's settings.
    pub fn new(config: &Config) -> Self {
        let allowed = |key| match config.text(key).as_deref() {
            Some("all") => Allowed::All,
            Some("root") => Allowed::Root,
            _ => Allowed::None,
        };
        Self { git: allowed("allow-git"), remote: allowed("allow-remote") }
    }

    /// The first package that a plan would put in place and that isn't allowed. What is in its place already stays.
    pub fn check(self, plan: &Plan, layout: &Layout, graph: &Graph, registry: &Registry) -> Result<(), Refusal> {
        let asked = Asked::of(graph);
        plan.place.iter().try_for_each(|placement| {
            let location = &placement.location;
            self.check_one(location, &layout.packages[location], &asked, registry)
        })
    }

    fn check_one(
        self,
        location: &str,
        package: &Package,
        asked: &Asked<'_>,
        registry: &Registry,
    ) -> Result<(), Refusal> {
        let Origin::Tarball { resolved, .. } = &package.origin else { return Ok(()) };
        let name = &package.package_name;
        let refusal = |code, message, setting| Refusal { code, message, location: location.to_owned(), setting };
        if resolved.starts_with("git") {
            if !self.git.covers(location, asked) {
                let message = format!("{name} comes from git, and fetching packages of type \"git\" is disabled");
                return Err(refusal("EALLOWGIT", message, Some("allow-git")));
            }
            let message = format!("{name} comes from git, which cannot be installed yet");
            return Err(refusal("EUNSUPPORTED", message, None));
        }
        if resolved.starts_with("file:") {
            return Ok(());
        }
        if asked.is_of_registry(location) && registry.is_of_registry(resolved, name) {
            let other = package_of(resolved);
            if !other.is_empty() && other != *name {
                let message = format!("the lockfile takes {name} from the tarball of {other}");
                return Err(refusal("ELOCKNAME", message, None));
            }
            return Ok(());
        }
        if self.remote.covers(location, asked) {
            return Ok(());
        }
        let message = format!(
            "{name} comes from {}, and fetching packages of type \"remote\" is disabled",
            without_secrets(resolved)
        );
        Err(refusal("EALLOWREMOTE", message, Some("allow-remote")))
    }
}

impl Allowed {
    fn covers(self, location: &str, asked: &Asked<'_>) -> bool {
        match self {
            Self::All => true,
            Self::None => false,
            Self::Root => asked.edges(location).iter().any(|(from, _)| !from.contains("node_modules/")),
        }
    }
}

/// Who asks for each location, and by which spec.
struct Asked<'a>(FxHashMap<&'a str, Vec<(&'a str, &'a str)>>);

impl<'a> Asked<'a> {
    fn of(graph: &'a Graph) -> Self {
        let location = |number: u32| graph.nodes.get(usize::try_from(number).ok()?).map(|node| node.location.as_str());
        let mut asked: FxHashMap<&str, Vec<(&str, &str)>> = FxHashMap::default();
        for edge in &graph.edges {
            if let (Some(from), Some(to)) = (location(edge.from), edge.to.and_then(location)) {
                asked.entry(to).or_default().push((from, &edge.spec));
            }
        }
        Self(asked)
    }

    fn edges(&self, location: &str) -> &[(&'a str, &'a str)] {
        self.0.get(location).map(Vec::as_slice).unwrap_or_default()
    }

    /// Whether nobody asks for a package by a URL.
    fn is_of_registry(&self, location: &str) -> bool {
        self.edges(location).iter().all(|(_, spec)| !spec.contains("://") && !spec.starts_with("file:"))
    }
}

fn without_secrets(address: &str) -> String {
    url::Url::parse(address).map_or_else(|_| "somewhere else".to_owned(), |url| crate::registry::shown(&url))
}
