//! Runs a scenario with Espalier.

use std::sync::Arc;

use espalier_core::{
    Answer, Changes, Detail, FetchFailure, FetchFailureKind, InstallStrategy, Options, Packument, Progress, Project,
    RegistryAddresses, Reporting, Request, Resolution, Update,
};
use serde_json::Value;

use super::{Scenario, Step, render};

impl Scenario {
    /// The trees as text, or the codes of the failures, step by step.
    pub fn resolve(&self) -> Vec<String> {
        self.run(Reporting::Tree, |waiting| waiting.remove(0))
    }

    /// The same, with the newest request answered first.
    pub fn resolve_backwards(&self) -> Vec<String> {
        self.run(Reporting::Tree, |waiting| waiting.pop().expect("something is waited for"))
    }

    /// The same, with every decision reported.
    pub fn resolve_reporting(&self) -> Vec<String> {
        self.run(Reporting::Decisions, |waiting| waiting.remove(0))
    }

    fn run(&self, reporting: Reporting, next: impl Fn(&mut Vec<Request>) -> Request) -> Vec<String> {
        let mut lockfile = None;
        let mut told = Vec::new();
        for step in &self.steps {
            let project = Project {
                manifest: step.manifests[""].to_string(),
                lockfile: lockfile.clone(),
                changes: step.changes(),
                folder_name: "scenario".into(),
                ..Project::default()
            };
            let mut resolution = Resolution::new(project, Options { reporting, ..step.options() });
            let mut waiting = Vec::new();
            while resolution.advance() == Progress::Waiting {
                while let Some((request, _)) = resolution.next_request() {
                    waiting.push(request);
                }
                let request = next(&mut waiting);
                resolution.supply(&request, self.answer(step, &request));
            }
            told.push(match resolution.finish() {
                Ok(outcome) => {
                    let text = render(outcome.lockfile.text(), step.with_flags);
                    lockfile = Some(outcome.lockfile.text().to_owned().into());
                    text
                }
                Err(error) => format!("fails: {}", error.code()),
            });
        }
        told
    }

    fn answer(&self, step: &Step, request: &Request) -> Result<Answer, FetchFailure> {
        let missing = |name: &str| FetchFailure {
            kind: FetchFailureKind::NotFound,
            message: format!("there is no {name}"),
            url: format!("http://registry.test/{name}"),
        };
        match request {
            Request::Packument { name, .. } => {
                let packument: &Value = self.packuments.get(name).ok_or_else(|| missing(name))?;
                let packument = Packument::parse(packument.to_string().as_bytes(), Detail::Whole).expect("a packument");
                Ok(Answer::Packument(Arc::new(packument)))
            }
            Request::Manifest { name, version } => {
                let document = self.packuments.get(name).and_then(|packument| packument["versions"].get(version));
                let Some(mut document) = document.cloned() else { return Ok(Answer::NoDocument) };
                // Without it, the document doesn't count. The trees as text don't show it.
                document["dist"]["integrity"] = "sha512-x".into();
                Ok(Answer::VersionDocument(document.to_string()))
            }
            Request::Folder { path } => Ok(Answer::Folder(step.manifests.get(path).map(ToString::to_string))),
            Request::PackageFolders => {
                Ok(Answer::PackageFolders(step.manifests.keys().filter(|folder| !folder.is_empty()).cloned().collect()))
            }
            other => panic!("a scenario has no answer to {other:?}"),
        }
    }
}

impl Step {
    fn changes(&self) -> Changes {
        let names = self.command[1..].to_vec();
        let changes = Changes {
            workspaces: self
                .flags
                .iter()
                .filter_map(|flag| flag.strip_prefix("--workspace="))
                .map(str::to_owned)
                .collect(),
            ..Changes::default()
        };
        match self.command[0].as_str() {
            "install" => Changes { add: names, ..changes },
            "uninstall" => Changes { remove: names, ..changes },
            "update" if names.is_empty() => Changes { update: Update::All, ..changes },
            "update" => Changes { update: Update::Names(names), ..changes },
            "dedupe" => Changes { update: Update::Duplicates, ..changes },
            other => panic!("{other} is not a command of scenarios"),
        }
    }

    fn options(&self) -> Options {
        let mut options =
            Options { save: !matches!(self.command[0].as_str(), "update" | "dedupe"), ..Options::default() };
        let registry = RegistryAddresses { default: "http://registry.test/".into(), scopes: Vec::new() };
        options.registries = Some(registry.into());
        for flag in &self.flags {
            match flag.as_str() {
                "--legacy-peer-deps" => options.legacy_peer_deps = true,
                "--strict-peer-deps" => options.strict_peer_deps = true,
                "--force" => options.force = true,
                "--prefer-dedupe" => options.prefer_dedupe = true,
                "--install-strategy=nested" => options.install_strategy = InstallStrategy::Nested,
                "--install-strategy=shallow" => options.install_strategy = InstallStrategy::Shallow,
                "--omit=dev" => options.omit.dev = true,
                "--omit=optional" => options.omit.optional = true,
                "--os=darwin" => {
                    options.host = Some(options.platform.clone());
                    options.platform.os = "darwin".into();
                }
                other if other.starts_with("--workspace=") => {}
                other => panic!("{other} is not a flag of scenarios"),
            }
        }
        options
    }
}
