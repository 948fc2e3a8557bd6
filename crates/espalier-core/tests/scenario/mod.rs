//! Reads and runs a scenario.

mod run;

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

/// A scenario of a file.
pub struct Scenario {
    pub title: String,
    /// The versions by name. Without `latest`, the last version is the latest.
    pub packuments: BTreeMap<String, Value>,
    /// The steps. Each starts from the lock of the step before.
    pub steps: Vec<Step>,
}

/// A command and its expected result.
pub struct Step {
    /// npm's command with its arguments: `install`, `update a`.
    pub command: Vec<String>,
    /// npm's flags.
    pub flags: Vec<String>,
    /// The package.json files before it, by folder.
    pub manifests: BTreeMap<String, Value>,
    /// The tree, or `fails: CODE`.
    pub expected: String,
    /// Whether the tree shows the flags of each package: `dev`, `optional`, `peer`.
    pub with_flags: bool,
}

impl Scenario {
    /// All scenarios of a file.
    pub fn all(text: &str) -> Vec<Self> {
        text.split("\n## ").skip(1).map(Self::read).collect()
    }

    fn read(section: &str) -> Self {
        let title = section.lines().next().unwrap_or_default().to_owned();
        let block = section.split("```").nth(1).unwrap_or_else(|| panic!("{title} has no block"));
        let mut scenario = Self { title, packuments: BTreeMap::new(), steps: Vec::new() };
        let mut manifests = BTreeMap::new();
        let mut part = "";
        for line in block.lines().map(str::trim).filter(|line| !line.is_empty()) {
            let (key, rest) = line.split_once(':').map_or(("", line), |(key, rest)| (key, rest.trim()));
            match key {
                "registry" | "workspaces" => part = if key == "registry" { "registry" } else { "workspaces" },
                "install" | "add" | "remove" | "update" | "dedupe" => {
                    let step = Step::read(key, rest, &mut manifests);
                    scenario.steps.push(step);
                }
                "tree" | "tree with flags" | "fails" => {
                    let step =
                        scenario.steps.last_mut().unwrap_or_else(|| panic!("{line} comes before anything is done"));
                    step.with_flags = key == "tree with flags";
                    rest.clone_into(&mut step.expected);
                    if key == "fails" {
                        step.expected = format!("fails: {rest}");
                    }
                }
                _ if part == "workspaces" => add_workspace(&mut manifests, line),
                _ => scenario.publish(line),
            }
        }
        scenario
    }

    /// `a@1.0.0 latest -> b@^1, peer c@2`
    fn publish(&mut self, line: &str) {
        let (name, version, mut manifest, note) = package(line);
        manifest["dist"] = json!({ "tarball": format!("http://registry.test/{name}/-/{name}-{version}.tgz") });
        let packument = self
            .packuments
            .entry(name.clone())
            .or_insert_with(|| json!({ "name": name, "dist-tags": {}, "versions": {} }));
        let tags = packument["dist-tags"].as_object_mut().expect("an object");
        // The last version is the latest, unless another one is marked.
        if note == "latest" {
            tags.insert("chosen".into(), version.clone().into());
        }
        let latest = tags.get("chosen").cloned().unwrap_or_else(|| version.clone().into());
        tags.insert("latest".into(), latest);
        if note == "deprecated" {
            manifest["deprecated"] = "old".into();
        }
        if let Some(system) = note.strip_prefix("os ") {
            manifest["os"] = json!([system]);
        }
        packument["versions"][version] = manifest;
    }
}

impl Step {
    /// `install:` is followed by the dependencies of package.json, every other key by npm's
    /// arguments.
    fn read(key: &str, text: &str, manifests: &mut BTreeMap<String, Value>) -> Self {
        let (flags, words): (Vec<&str>, Vec<&str>) = text.split_whitespace().partition(|word| word.starts_with("--"));
        let command = match key {
            "install" => {
                let workspaces = manifests.get("").and_then(|root| root.get("workspaces").cloned());
                let mut root = json!({ "name": "scenario", "version": "1.0.0" });
                if let Some(workspaces) = workspaces {
                    root["workspaces"] = workspaces;
                }
                ask(&mut root, &words);
                manifests.insert(String::new(), root);
                vec!["install"]
            }
            "add" => [vec!["install"], words].concat(),
            "remove" => [vec!["uninstall"], words].concat(),
            other => [vec![other], words].concat(),
        };
        Self {
            command: command.into_iter().map(str::to_owned).collect(),
            flags: flags.into_iter().map(str::to_owned).collect(),
            manifests: manifests.clone(),
            expected: String::new(),
            with_flags: false,
        }
    }
}

/// `a@^1 dev b@2 override c=1`
fn ask(root: &mut Value, words: &[&str]) {
    let mut words = words.iter().copied();
    while let Some(word) = words.next() {
        match word {
            "override" => {
                let (key, spec) = words.next().and_then(|rule| rule.split_once('=')).expect("an override");
                let keys: Vec<String> = key.split('>').map(|key| key.replace('_', " ")).collect();
                let mut rules = &mut root["overrides"];
                for key in &keys[..keys.len() - 1] {
                    rules = &mut rules[key];
                }
                rules[&keys[keys.len() - 1]] = spec.into();
            }
            "dev" | "optional" | "peer" | "peer?" => {
                depend(root, &format!("{word} {}", words.next().expect("a name")));
            }
            dependency => depend(root, dependency),
        }
    }
}

/// `ui@1.0.0 -> a@1`, in the folder `packages/ui`.
fn add_workspace(manifests: &mut BTreeMap<String, Value>, line: &str) {
    let (name, _, manifest, _) = package(line);
    let root = manifests.entry(String::new()).or_insert_with(|| Value::Object(Map::new()));
    root["workspaces"] = json!(["packages/*"]);
    manifests.insert(format!("packages/{name}"), manifest);
}

/// The name, version, manifest and notes of `a@1.0.0 note -> b@^1, peer c@2`.
fn package(line: &str) -> (String, String, Value, String) {
    let (package, dependencies) = line.split_once("->").unwrap_or((line, ""));
    let (package, note) = package.trim().split_once(' ').unwrap_or((package.trim(), ""));
    let (name, version) = name_and_spec(package);
    let mut manifest = json!({ "name": name, "version": version });
    for dependency in dependencies.split(',').map(str::trim).filter(|text| !text.is_empty()) {
        depend(&mut manifest, dependency);
    }
    (name.to_owned(), version.to_owned(), manifest, note.trim().to_owned())
}

/// `name@spec`, or `alias=name@spec`, after `peer`, `peer?`, `optional`, `dev` or `bundled`.
fn depend(manifest: &mut Value, dependency: &str) {
    let (kind, rest) = match dependency.split_once(' ') {
        Some((kind @ ("peer" | "peer?" | "optional" | "dev" | "accepts"), rest)) => (kind, rest),
        _ => ("", dependency),
    };
    let block = match kind {
        "peer" | "peer?" => "peerDependencies",
        "optional" => "optionalDependencies",
        "dev" => "devDependencies",
        "accepts" => "acceptDependencies",
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

/// The packages of a lock: `a@1.0.0 { b@2.0.0 }, c@1.0.0`. Other folders follow after a semicolon.
pub fn render(lockfile: &str, with_flags: bool) -> String {
    let lock: Value = serde_json::from_str(lockfile).expect("a lock");
    let packages = lock["packages"].as_object().expect("packages");
    let mut texts = vec![below(packages, "node_modules/", with_flags)];
    for (location, entry) in packages {
        if !location.is_empty() && !location.contains("node_modules/") {
            let inside = below(packages, &format!("{location}/node_modules/"), with_flags);
            texts.push(with_inside(format!("{location}@{}", entry["version"].as_str().unwrap_or_default()), &inside));
        }
    }
    texts.retain(|text| !text.is_empty());
    texts.join("; ")
}

fn below(packages: &Map<String, Value>, folder: &str, with_flags: bool) -> String {
    let direct = |location: &&String| {
        location.strip_prefix(folder).is_some_and(|name| !name.is_empty() && !name.contains("/node_modules/"))
    };
    let texts = packages.keys().filter(direct).map(|location| {
        let (entry, name) = (&packages[location], &location[folder.len()..]);
        if entry["link"].as_bool() == Some(true) {
            return format!("{name} ->");
        }
        let own = entry["name"].as_str().map(|own| format!("={own}")).unwrap_or_default();
        let mut text = format!("{name}{own}@{}", entry["version"].as_str().unwrap_or_default());
        let said = ["dev", "optional", "devOptional", "peer", "extraneous"];
        let said: Vec<&str> = said.into_iter().filter(|key| entry[*key].as_bool() == Some(true)).collect();
        if with_flags && !said.is_empty() {
            text = format!("{text} ({})", said.join(" "));
        }
        with_inside(text, &below(packages, &format!("{location}/node_modules/"), with_flags))
    });
    texts.collect::<Vec<_>>().join(", ")
}

fn with_inside(text: String, inside: &str) -> String {
    if inside.is_empty() { text } else { format!("{text} {{ {inside} }}") }
}
