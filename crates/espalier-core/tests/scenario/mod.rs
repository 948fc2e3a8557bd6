//! Reading and running one scenario.

use std::collections::BTreeMap;
use std::sync::Arc;

use espalier_core::{
    Answer, FetchFailure, FetchFailureKind, Graph, InstallStrategy, Options, Packument, Progress, Project, Request,
    Resolution,
};
use serde_json::{Value, json};

/// A scenario as it stands in a file.
pub struct Scenario {
    pub title: String,
    /// The tree, or `fails: CODE`.
    pub expected: String,
    packuments: BTreeMap<String, Value>,
    manifest: Value,
    options: Options,
}

impl Scenario {
    /// All scenarios of a file.
    pub fn all(text: &str) -> Vec<Self> {
        text.split("\n## ").skip(1).map(Self::read).collect()
    }

    fn read(section: &str) -> Self {
        let title = section.lines().next().unwrap_or_default().to_owned();
        let block = section.split("```").nth(1).unwrap_or_else(|| panic!("{title} has no block"));
        let (registry, rest) = block.split_once("install:").unwrap_or_else(|| panic!("{title} installs nothing"));
        let (install, expected) = rest.trim().split_once('\n').unwrap_or_else(|| panic!("{title} expects nothing"));
        let expected = expected.trim();
        let mut scenario = Self {
            title,
            expected: expected.strip_prefix("tree:").unwrap_or(expected).trim().to_owned(),
            packuments: BTreeMap::new(),
            manifest: json!({ "name": "scenario", "version": "1.0.0" }),
            options: Options::default(),
        };
        registry.trim().lines().skip(1).for_each(|line| scenario.publish(line.trim()));
        scenario.ask(install);
        scenario
    }

    /// `a@1.0.0 latest -> b@^1, peer c@2`
    fn publish(&mut self, line: &str) {
        let (package, dependencies) = line.split_once("->").unwrap_or((line, ""));
        let mut words = package.split_whitespace();
        let (name, version) = name_and_spec(words.next().expect("a package"));
        let mut manifest = json!({
            "name": name,
            "version": version,
            "dist": { "tarball": format!("http://registry.test/{name}/-/{name}-{version}.tgz"),
                      "integrity": format!("sha512-{name}{version}") },
        });
        let packument = self
            .packuments
            .entry(name.to_owned())
            .or_insert_with(|| json!({ "name": name, "dist-tags": {}, "versions": {} }));
        match words.next() {
            Some("latest") => packument["dist-tags"]["latest"] = version.into(),
            Some("deprecated") => manifest["deprecated"] = "old".into(),
            Some("os") => manifest["os"] = json!([words.next().expect("a platform")]),
            _ => {}
        }
        for dependency in dependencies.split(',').map(str::trim).filter(|text| !text.is_empty()) {
            depend(&mut manifest, dependency);
        }
        packument["versions"][version] = manifest;
    }

    /// `a@^1 dev b@2 override c=1 --force`
    fn ask(&mut self, install: &str) {
        let mut words = install.split_whitespace().peekable();
        while let Some(word) = words.next() {
            match word {
                "--legacy-peer-deps" => self.options.legacy_peer_deps = true,
                "--strict-peer-deps" => self.options.strict_peer_deps = true,
                "--force" => self.options.force = true,
                "--prefer-dedupe" => self.options.prefer_dedupe = true,
                "--install-strategy=nested" => self.options.install_strategy = InstallStrategy::Nested,
                "--install-strategy=shallow" => self.options.install_strategy = InstallStrategy::Shallow,
                "--omit=dev" => self.options.omit.dev = true,
                "--omit=optional" => self.options.omit.optional = true,
                "--os=darwin" => {
                    self.options.host = Some(self.options.platform.clone());
                    self.options.platform.os = "darwin".into();
                }
                "override" => {
                    let (key, spec) = words.next().and_then(|rule| rule.split_once('=')).expect("an override");
                    match key.split_once('>') {
                        Some((parent, key)) => self.manifest["overrides"][parent][key] = spec.into(),
                        None => self.manifest["overrides"][key] = spec.into(),
                    }
                }
                "dev" | "optional" | "peer" => {
                    let dependency = format!("{word} {}", words.next().expect("a name"));
                    depend(&mut self.manifest, &dependency);
                }
                dependency => depend(&mut self.manifest, dependency),
            }
        }
    }

    /// The tree as text, or the code of the failure.
    pub fn resolve(&self) -> String {
        self.run(|waiting| waiting.remove(0))
    }

    /// The same, the newest request being answered first.
    pub fn resolve_backwards(&self) -> String {
        self.run(|waiting| waiting.pop().expect("something is waited for"))
    }

    fn run(&self, next: impl Fn(&mut Vec<Request>) -> Request) -> String {
        let project =
            Project { manifest: self.manifest.to_string(), folder_name: "scenario".into(), ..Project::default() };
        let mut resolution = Resolution::new(project, self.options.clone());
        let mut waiting = Vec::new();
        while resolution.advance() == Progress::Waiting {
            while let Some((request, _)) = resolution.next_request() {
                waiting.push(request);
            }
            let request = next(&mut waiting);
            resolution.supply(&request, self.answer(&request));
        }
        match resolution.finish() {
            Ok(outcome) => render(&outcome.graph),
            Err(error) => format!("fails: {}", error.code()),
        }
    }

    fn answer(&self, request: &Request) -> Result<Answer, FetchFailure> {
        let Request::Packument { name, .. } = request else { panic!("a scenario is only asked for packuments") };
        let missing = || FetchFailure {
            kind: FetchFailureKind::NotFound,
            message: format!("there is no {name}"),
            url: format!("http://registry.test/{name}"),
        };
        let mut packument = self.packuments.get(name).ok_or_else(missing)?.clone();
        if !packument["dist-tags"]["latest"].is_string() {
            let highest = packument["versions"].as_object().and_then(|versions| versions.keys().next_back().cloned());
            packument["dist-tags"]["latest"] = highest.into();
        }
        let body = packument.to_string();
        Ok(Answer::Packument(Arc::new(Packument::parse(body.as_bytes(), false).expect("a packument"))))
    }
}

/// `name@spec`, or `alias=name@spec`, after `peer`, `peer?`, `optional` or `dev`.
fn depend(manifest: &mut Value, dependency: &str) {
    let (kind, rest) = match dependency.split_once(' ') {
        Some((kind @ ("peer" | "peer?" | "optional" | "dev"), rest)) => (kind, rest),
        _ => ("", dependency),
    };
    let block = match kind {
        "peer" | "peer?" => "peerDependencies",
        "optional" => "optionalDependencies",
        "dev" => "devDependencies",
        _ => "dependencies",
    };
    let (name, spec) = match rest.split_once('=') {
        Some((alias, target)) if !rest.contains(">=") => (alias, format!("npm:{target}")),
        _ => (name_and_spec(rest).0, name_and_spec(rest).1.to_owned()),
    };
    manifest[block][name] = spec.into();
    if kind == "peer?" {
        manifest["peerDependenciesMeta"][name] = json!({ "optional": true });
    }
}

fn name_and_spec(text: &str) -> (&str, &str) {
    text.split_once('@').unwrap_or((text, "*"))
}

/// The tree below the root: `a@1.0.0 { b@2.0.0 }, c@1.0.0`.
fn render(graph: &Graph) -> String {
    below(graph, 0)
}

fn below(graph: &Graph, parent: u32) -> String {
    let children = graph.nodes.iter().zip(0..).filter(|(node, _)| node.parent == Some(parent));
    let texts = children.map(|(node, index)| {
        let own = node.package_name.as_ref().map(|name| format!("={name}")).unwrap_or_default();
        if node.target.is_some() {
            return format!("{} ->", node.name);
        }
        let inside = below(graph, index);
        let inside = if inside.is_empty() { inside } else { format!(" {{ {inside} }}") };
        format!("{}{own}@{}{inside}", node.name, node.version.as_deref().unwrap_or_default())
    });
    texts.collect::<Vec<_>>().join(", ")
}
