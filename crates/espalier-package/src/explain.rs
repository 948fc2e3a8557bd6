//! Explains why a package is where it is (`explain` of `node.js` and `edge.js`): its dependents,
//! and theirs.
//!
//! npm makes each explanation once and shares it. An explanation that is requested while it is
//! being made is cut short, so that circles end. The output depends on this, so this module does
//! the same.

use espalier_core::{EdgeKind, Graph};
use serde_json::{Map, Value};

/// An index into [`Explanations`].
pub type Explained = usize;

/// The explanation of a package.
#[derive(Clone, Debug, Default)]
pub struct Explanation {
    /// Its name. `None` for the project.
    pub name: Option<String>,
    /// Its version.
    pub version: Option<String>,
    /// npm's location; for the project, its folder. `None` if it is explained further up.
    pub location: Option<String>,
    /// Whether it is a workspace.
    pub workspace: bool,
    /// Its dependents.
    pub dependents: Vec<Dependent>,
    /// The links to it.
    pub links: Vec<Explained>,
    /// The marks of a requested package: `dev`, `optional`, `devOptional`, `peer`, `bundled`,
    /// `overridden`, or just `extraneous`.
    pub marks: Vec<(&'static str, bool)>,
    /// Whether it is cut short.
    short: bool,
}

/// A dependency that leads to a package.
#[derive(Clone, Debug)]
pub struct Dependent {
    /// Its kind.
    pub kind: EdgeKind,
    /// The requested name.
    pub name: String,
    /// The effective spec.
    pub spec: String,
    /// The spec as written, if an override has changed it.
    pub raw_spec: Option<String>,
    /// Whether it is part of the dependent's tarball.
    pub bundled: bool,
    /// What is wrong with it.
    pub error: Option<&'static str>,
    /// The dependent.
    pub from: Explained,
}

/// Explanations that refer to one another.
#[derive(Clone, Debug, Default)]
pub struct Explanations {
    /// The requested ones.
    pub asked: Vec<Explained>,
    arena: Vec<Explanation>,
}

impl std::ops::Index<Explained> for Explanations {
    type Output = Explanation;
    fn index(&self, index: Explained) -> &Explanation {
        &self.arena[index]
    }
}

/// A tree whose packages can be explained.
#[derive(Clone, Copy, Debug)]
pub struct Explainer<'a> {
    /// Its nodes and edges.
    pub graph: &'a Graph,
    /// The project's folder, absolute with forward slashes.
    pub path: &'a str,
}

impl Explainer<'_> {
    /// The nodes that an argument of `why` matches: a package's name, a location, a path, or
    /// `name@range`.
    pub fn matching(self, argument: &str, path: Option<&str>) -> Vec<u32> {
        use espalier_core::spec::{SpecKind, Specs, is_valid_name, split_argument};
        // npm lists packages before links to them.
        let all = || {
            let (links, packages): (Vec<_>, Vec<_>) =
                (0u32..).zip(&self.graph.nodes).partition(|(_, node)| node.target.is_some());
            packages.into_iter().chain(links).map(|(index, _)| index).collect::<Vec<_>>()
        };
        if is_valid_name(argument) {
            return all().into_iter().filter(|&node| self.has_package_name(node, argument)).collect();
        }
        let location = argument.replace('\\', "/");
        let candidates = [Some(location.trim_end_matches('/')), path];
        let at = |location: &str| all().into_iter().find(|&node| self.graph.nodes[node as usize].location == location);
        if let Some(node) = candidates.into_iter().flatten().find_map(at) {
            return vec![node];
        }
        let (Some(name), spec) = split_argument(argument) else { return Vec::new() };
        let spec = Specs::default().intern(&spec);
        if !matches!(spec.kind, SpecKind::Version { .. } | SpecKind::Range { .. }) {
            return Vec::new();
        }
        let satisfies = |node: u32| {
            let version = self.graph.nodes[node as usize].version.as_deref().unwrap_or_default();
            espalier_core::semver::satisfies(version, &spec.raw, false)
        };
        all().into_iter().filter(|&node| self.has_package_name(node, name) && satisfies(node)).collect()
    }

    fn has_package_name(self, node: u32, name: &str) -> bool {
        package_name(self.graph, node) == name
    }

    /// Explains these nodes.
    pub fn explain(self, nodes: &[u32]) -> Explanations {
        let mut making = Making {
            tree: self,
            nodes: vec![None; self.graph.nodes.len()],
            edges: vec![None; self.graph.edges.len()],
            arena: Vec::new(),
        };
        let mut asked = Vec::new();
        for &node in nodes {
            let explained = making.node(node, &[]);
            let entry = &self.graph.nodes[node as usize];
            making.arena[explained].marks = if entry.extraneous {
                vec![("extraneous", true)]
            } else {
                vec![
                    ("dev", entry.dev),
                    ("optional", entry.optional),
                    ("devOptional", entry.dev_optional),
                    ("peer", entry.peer),
                    ("bundled", entry.in_bundle),
                    ("overridden", entry.overridden),
                ]
            };
            asked.push(explained);
        }
        Explanations { asked, arena: making.arena }
    }
}

/// The package's own name.
pub fn package_name(graph: &Graph, node: u32) -> &str {
    let entry = &graph.nodes[node as usize];
    entry.package_name.as_deref().unwrap_or(&entry.name)
}

struct Making<'a> {
    tree: Explainer<'a>,
    /// The explanations so far, by index of the node.
    nodes: Vec<Option<Explained>>,
    /// The dependents so far, by index of the edge.
    edges: Vec<Option<Dependent>>,
    arena: Vec<Explanation>,
}

impl Making<'_> {
    fn node(&mut self, node: u32, above: &[u32]) -> Explained {
        if let Some(explained) = self.nodes[node as usize] {
            return explained;
        }
        let explained = self.make(node, above);
        self.nodes[node as usize] = Some(explained);
        explained
    }

    fn make(&mut self, node: u32, above: &[u32]) -> Explained {
        let entry = &self.tree.graph.nodes[node as usize];
        let mut explanation = Explanation::default();
        if node == 0 {
            explanation.location = Some(self.tree.path.to_owned());
            return self.add(explanation);
        }
        let is_top = entry.parent.is_none();
        explanation.name =
            Some(if is_top { package_name(self.tree.graph, node).to_owned() } else { entry.name.clone() });
        explanation.version.clone_from(&entry.version);
        if above.contains(&node) {
            explanation.short = true;
            return self.add(explanation);
        }
        explanation.location = Some(entry.location.clone());
        explanation.workspace = entry.workspace;
        let above = [above, &[node]].concat();
        for &edge in &self.tree.graph.dependents[node as usize] {
            let data = &self.tree.graph.edges[edge as usize];
            if data.error.is_none() || data.from == 0 {
                let dependent = self.edge(edge, &above);
                explanation.dependents.push(dependent);
            }
        }
        let nodes = self.tree.graph.nodes.iter().zip(0..);
        let links: Vec<u32> = nodes.filter(|(link, _)| link.target == Some(node)).map(|(_, index)| index).collect();
        explanation.links = links.into_iter().map(|link| self.make(link, &above)).collect();
        self.add(explanation)
    }

    fn edge(&mut self, edge: u32, above: &[u32]) -> Dependent {
        if let Some(dependent) = &self.edges[edge as usize] {
            return dependent.clone();
        }
        let data = &self.tree.graph.edges[edge as usize];
        let from = self.node(data.from, above);
        let dependent = Dependent {
            kind: data.kind,
            name: data.name.clone(),
            spec: data.spec.clone(),
            raw_spec: data.overridden.then(|| data.raw_spec.clone()),
            bundled: data.bundled,
            error: data.error,
            from,
        };
        self.edges[edge as usize] = Some(dependent.clone());
        dependent
    }

    fn add(&mut self, explanation: Explanation) -> Explained {
        self.arena.push(explanation);
        self.arena.len() - 1
    }
}

impl Explanations {
    /// The requested explanations, as `npm explain --json` prints them.
    pub fn to_json(&self) -> Value {
        self.asked.iter().map(|&explained| self.json(explained)).collect()
    }

    fn json(&self, explained: Explained) -> Value {
        let explanation = &self[explained];
        let mut object = Map::new();
        let texts =
            [("name", &explanation.name), ("version", &explanation.version), ("location", &explanation.location)];
        for (key, text) in texts {
            if let Some(text) = text {
                object.insert(key.to_owned(), text.as_str().into());
            }
        }
        if explanation.name.is_some() && !explanation.short {
            object.insert("isWorkspace".to_owned(), explanation.workspace.into());
            let dependents = explanation.dependents.iter().map(|dependent| self.dependent(dependent));
            object.insert("dependents".to_owned(), dependents.collect());
        }
        if !explanation.links.is_empty() {
            let links = explanation.links.iter().map(|&link| self.json(link));
            object.insert("linksIn".to_owned(), links.collect());
        }
        for &(mark, set) in &explanation.marks {
            object.insert(mark.to_owned(), set.into());
        }
        Value::Object(object)
    }

    fn dependent(&self, dependent: &Dependent) -> Value {
        let mut object = Map::new();
        let mut put = |key: &str, value: Value| object.insert(key.to_owned(), value);
        put("type", dependent.kind.as_str().into());
        put("name", dependent.name.as_str().into());
        put("spec", dependent.spec.as_str().into());
        if let Some(raw) = &dependent.raw_spec {
            put("rawSpec", raw.as_str().into());
            put("overridden", true.into());
        }
        if dependent.bundled {
            put("bundled", true.into());
        }
        if let Some(error) = dependent.error {
            put("error", error.into());
        }
        put("from", self.json(dependent.from));
        Value::Object(object)
    }
}
