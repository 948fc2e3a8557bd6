//! Starts of a resolution and changes that users ask for, compared with npm's recorded answers.
//!
//! `tests/oracle/starts.mjs` recorded `starts/cases.json` from npm 12.2.0. The cases have locks of
//! all versions, a yarn.lock, installed packages, `packageExtensions`, patches, additions, removals
//! and updates.

use std::collections::BTreeMap;
use std::sync::Arc;

use espalier_core::manifest_edit::SaveType;
use espalier_core::{
    Allow, Answer, Changes, Detail, FetchFailure, FetchFailureKind, InstalledPackage, NodeModules, Options, Outcome,
    Packument, Progress, Project, Request, Resolution, ResolveError, TarballListing, Update,
};
use serde::Deserialize;
use serde_json::Value;

#[derive(Deserialize)]
struct Recording {
    packuments: BTreeMap<String, Value>,
    tarballs: BTreeMap<String, Listing>,
    cases: Vec<Case>,
}

#[derive(Deserialize)]
struct Listing {
    integrity: String,
    files: Vec<String>,
    manifests: Vec<(String, String)>,
}

#[derive(Deserialize)]
struct Case {
    title: String,
    files: BTreeMap<String, String>,
    command: String,
    after: Option<BTreeMap<String, String>>,
    code: Option<String>,
}

fn recording() -> Recording {
    serde_json::from_str(include_str!("starts/cases.json")).expect("JSON")
}

#[test]
fn every_start_ends_as_in_npm() {
    let recording = recording();
    let mut wrong = Vec::new();
    for case in &recording.cases {
        let found = match case.resolve(&recording) {
            Ok(outcome) => case.differences(&outcome),
            // npm's error for a spec that isn't a string has no code.
            Err(error) if case.after.is_none() && error.code() == case.code.as_deref().unwrap_or("EINVALIDSPEC") => {
                Vec::new()
            }
            Err(error) => vec![format!("fails with {}: {error}", error.code())],
        };
        wrong.extend(found.into_iter().map(|difference| format!("{} ({}): {difference}", case.title, case.command)));
    }
    assert!(recording.cases.len() > 40, "the cases were not read");
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
}

/// A second resolution from the written files changes nothing.
#[test]
fn a_lock_that_was_just_written_stays() {
    let recording = recording();
    let installs = recording.cases.iter().filter(|case| case.command == "install" && case.after.is_some());
    // An old lock has few facts about bundles, and npm believes it once. Another case covers the
    // second resolution.
    for case in installs.filter(|case| case.title != "a lock of version 1 with that bundle") {
        let first = case.resolve(&recording).expect("a tree");
        let mut files = case.files.clone();
        files.insert("package-lock.json".to_owned(), first.lockfile.text().to_owned());
        let again = Case { title: String::new(), files, command: "install".to_owned(), after: None, code: None };
        let second = again.resolve(&recording).expect("a tree");
        assert_eq!(first.lockfile.text(), second.lockfile.text(), "{}", case.title);
    }
}

/// A lockfile without hosts has such addresses. npm would take them for absolute paths.
#[test]
fn an_address_on_the_registry_stays() {
    let recording = recording();
    let case = recording.cases.iter().find(|case| case.title == "a lock stays as it is").expect("a case");
    let files = case.files.iter().map(|(path, text)| (path.clone(), text.replace("http://registry.test/", "/")));
    let (title, command) = (String::new(), case.command.clone());
    let without_hosts = Case { title, files: files.collect(), command, after: None, code: None };
    let lockfile = without_hosts.resolve(&recording).expect("a tree").lockfile;
    assert!(lockfile.text().contains(r#""resolved": "/a/-/a-1.0.0.tgz""#), "{}", lockfile.text());
}

impl Case {
    fn resolve(&self, recording: &Recording) -> Result<Outcome, ResolveError> {
        let (project, options) = self.project_and_options();
        let mut resolution = Resolution::new(project, options);
        while resolution.advance() == Progress::Waiting {
            while let Some((request, _)) = resolution.next_request() {
                let answer = self.answer(&request, recording);
                resolution.supply(&request, answer);
            }
        }
        resolution.finish()
    }

    fn project_and_options(&self) -> (Project, Options) {
        let mut options = Options { allow_git: Allow::All, allow_remote: Allow::All, ..Options::default() };
        let mut changes = Changes::default();
        let mut packages = Vec::new();
        let mut words = self.command.split(' ');
        let verb = words.next().expect("a verb");
        let mut save = None;
        while let Some(word) = words.next() {
            match word {
                "-D" => changes.save_type = Some(SaveType::Dev),
                "-B" => changes.save_bundle = true,
                "--save-optional" => changes.save_type = Some(SaveType::Optional),
                "--save" => save = Some(true),
                "--no-save" => save = Some(false),
                "--omit-lockfile-registry-resolved" => options.omit_registry_resolved = true,
                // The cases were recorded with `package-lock-only`, which overrides it.
                "--no-package-lock" => {}
                "--lockfile-version=1" => options.lockfile_version = Some(1),
                "-w" => changes.workspaces.extend(words.next().map(str::to_owned)),
                word => packages.push(word.to_owned()),
            }
        }
        match verb {
            "install" => changes.add = packages,
            "uninstall" => changes.remove = packages,
            "dedupe" => changes.update = Update::Duplicates,
            _ if packages.is_empty() => changes.update = Update::All,
            _ => changes.update = Update::Names(packages),
        }
        options.save = save.unwrap_or(verb != "update" && verb != "dedupe");
        let file = |name: &str| self.files.get(name).cloned();
        let mut installed: Vec<InstalledPackage> = self
            .files
            .iter()
            .filter(|(path, _)| path.starts_with("node_modules/"))
            .filter_map(|(path, text)| Some((path.strip_suffix("/package.json")?, text)))
            .map(|(path, text)| InstalledPackage { path: path.to_owned(), target: None, manifest: Some(text.clone()) })
            .collect();
        espalier_core::order::sort_by_key(&mut installed, |package| package.path.matches("node_modules/").count());
        let project = Project {
            manifest: file("package.json").expect("a package.json"),
            lockfile: file("package-lock.json").map(Into::into),
            yarn_lock: file("yarn.lock"),
            installed: NodeModules { hidden_lockfile: None, packages: installed },
            changes,
            folder_name: "project".to_owned(),
            ..Project::default()
        };
        (project, options)
    }

    fn answer(&self, request: &Request, recording: &Recording) -> Result<Answer, FetchFailure> {
        let missing = |name: &str| FetchFailure {
            kind: FetchFailureKind::NotFound,
            message: format!("there is no {name}"),
            url: format!("http://registry.test/{name}"),
        };
        match request {
            Request::VersionDocument { name, version, .. } => {
                let packument = recording.packuments.get(name).ok_or_else(|| missing(name))?;
                let document = packument["versions"].get(version).ok_or_else(|| missing(name))?;
                Ok(Answer::VersionDocument(document.to_string()))
            }
            Request::Packument { name, .. } => {
                let packument = recording.packuments.get(name).ok_or_else(|| missing(name))?;
                let packument = Packument::parse(packument.to_string().as_bytes(), Detail::Whole).expect("a packument");
                Ok(Answer::Packument(Arc::new(packument)))
            }
            Request::Folder { path } => Ok(Answer::Folder(self.files.get(&format!("{path}/package.json")).cloned())),
            Request::PackageFolders => {
                let folders = self.files.keys().filter_map(|path| path.strip_suffix("/package.json"));
                Ok(Answer::PackageFolders(folders.map(str::to_owned).collect()))
            }
            Request::Files { folder } => {
                let inside = |path: &String| path.strip_prefix(folder)?.strip_prefix('/').map(str::to_owned);
                Ok(Answer::Files(self.files.keys().filter_map(inside).collect()))
            }
            Request::Tarball { url, .. } => {
                let Listing { integrity, files, manifests } = &recording.tarballs[url];
                Ok(Answer::Tarball(TarballListing {
                    integrity: integrity.clone(),
                    files: files.clone(),
                    manifests: manifests.clone(),
                }))
            }
            Request::File { path } => Ok(Answer::File(self.files.get(path).map(|text| text.clone().into_bytes()))),
            Request::Git { .. } | Request::Manifest { .. } => panic!("nothing of the kind is recorded: {request:?}"),
        }
    }

    fn differences(&self, outcome: &Outcome) -> Vec<String> {
        let Some(after) = &self.after else {
            return vec![format!("npm fails with {:?}", self.code)];
        };
        let changed = outcome.changed_manifests.iter().find(|changed| changed.folder.is_empty());
        let manifest = changed.map_or_else(|| self.files["package.json"].clone(), |changed| changed.text.clone());
        let saved = |text: Option<String>| text.filter(|_| outcome.is_saved);
        let found = [
            ("package.json", Some(manifest)),
            (
                "package-lock.json",
                saved(Some(outcome.lockfile.text().to_owned()))
                    .or_else(|| self.files.get("package-lock.json").cloned()),
            ),
            ("yarn.lock", outcome.yarn_lock.clone().or_else(|| self.files.get("yarn.lock").cloned())),
        ];
        let differs = |(name, text): &(&str, Option<String>)| after.get(*name) != text.as_ref();
        let tell = |(name, text): (&str, Option<String>)| {
            format!(
                "{name}\n--- npm\n{}\n--- here\n{}",
                after.get(name).cloned().unwrap_or_default(),
                text.unwrap_or_default()
            )
        };
        found.into_iter().filter(differs).map(tell).collect()
    }
}
