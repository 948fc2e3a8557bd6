//! A project, a store, and a registry with made-up packages and real tarballs.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use espalier_core::Changes;
use espalier_install::config::settings::Settings;
use espalier_install::config::{Config, Environment, Value};
use espalier_install::install::scripts::Scripts;
use espalier_install::install::{Done, Install, InstallError};
use espalier_install::integrity::Integrity;
use espalier_install::lock::Lock;
use espalier_install::project::ProjectFolder;
use espalier_replay::{Registry, Server};
use serde_json::json;

use super::archive::Archive;

/// The parts of an installation, in one temporary folder.
pub struct Scene {
    root: tempfile::TempDir,
    packuments: BTreeMap<String, serde_json::Value>,
    /// Flags by npm's names.
    pub flags: Vec<(String, String)>,
}

impl Scene {
    /// A project with this package.json.
    pub fn new(manifest: &serde_json::Value) -> Self {
        let root = tempfile::tempdir().expect("a temporary folder");
        for folder in ["project", "registry/packuments", "registry/tarballs"] {
            fs::create_dir_all(root.path().join(folder)).expect("a folder");
        }
        let scene = Self { root, packuments: BTreeMap::new(), flags: Vec::new() };
        scene.write("package.json", &manifest.to_string());
        scene
    }

    /// A project that depends on these, at any version.
    pub fn of(dependencies: &[&str]) -> Self {
        let dependencies: BTreeMap<&str, &str> = dependencies.iter().map(|name| (*name, "*")).collect();
        Self::new(&json!({ "name": "app", "version": "1.0.0", "dependencies": dependencies }))
    }

    pub fn flag(mut self, name: &str, value: &str) -> Self {
        self.flags.push((name.to_owned(), value.to_owned()));
        self
    }

    /// A package with these fields in its package.json, and `index.js`.
    pub fn package(self, id: &str, fields: serde_json::Value) -> Self {
        let content = format!("module.exports = '{id}'");
        self.package_of(id, fields, |archive| archive.file("package/index.js", content.as_bytes()))
    }

    /// A package with these files.
    pub fn package_of(self, id: &str, fields: serde_json::Value, files: impl FnOnce(Archive) -> Archive) -> Self {
        let (name, version) = id.rsplit_once('@').expect("name@version");
        let mut manifest = fields;
        manifest["name"] = name.into();
        manifest["version"] = version.into();
        let archive = Archive::default().file("package/package.json", manifest.to_string().as_bytes());
        self.package_as(id, manifest, &files(archive).tgz())
    }

    /// A package whose tarball consists of these bytes.
    pub fn package_as(mut self, id: &str, manifest: serde_json::Value, tarball: &[u8]) -> Self {
        let (name, version) = id.rsplit_once('@').expect("name@version");
        let file = format!("{}-{version}.tgz", name.rsplit('/').next().expect("a name"));
        let folder = self.path("registry/tarballs").join(name.replace('/', "%2f"));
        fs::create_dir_all(&folder).expect("a folder");
        fs::write(folder.join(&file), tarball).expect("written");
        let mut full = manifest;
        full["dist"] =
            json!({ "tarball": format!("/{name}/-/{file}"), "integrity": Integrity::of(tarball).to_string() });
        let document = self.path("registry/packuments").join(format!("{}.json", name.replace('/', "%2f")));
        let packument = self
            .packuments
            .entry(name.to_owned())
            .or_insert_with(|| json!({ "_id": name, "name": name, "dist-tags": {}, "versions": {}, "time": {} }));
        packument["dist-tags"]["latest"] = version.into();
        packument["versions"][version] = full;
        fs::write(document, packument.to_string()).expect("written");
        self
    }

    /// Sets the date of a version.
    pub fn published(mut self, id: &str, date: &str) -> Self {
        let (name, version) = id.rsplit_once('@').expect("name@version");
        let packument = self.packuments.get_mut(name).expect("a package");
        packument["time"][version] = date.into();
        let document = self.root.path().join("registry/packuments").join(format!("{}.json", name.replace('/', "%2f")));
        fs::write(document, packument.to_string()).expect("written");
        self
    }

    /// Replaces a package's tarball with other bytes.
    pub fn replace_tarball(&self, id: &str, bytes: &[u8]) {
        let (name, version) = id.rsplit_once('@').expect("name@version");
        let file = format!("{}-{version}.tgz", name.rsplit('/').next().expect("a name"));
        fs::write(self.path("registry/tarballs").join(name.replace('/', "%2f")).join(file), bytes).expect("written");
    }

    pub fn path(&self, relative: &str) -> PathBuf {
        self.root.path().join(relative)
    }

    /// A path in the project.
    pub fn at(&self, relative: &str) -> PathBuf {
        self.path("project").join(relative)
    }

    pub fn read(&self, relative: &str) -> String {
        fs::read_to_string(self.at(relative)).unwrap_or_else(|error| panic!("{relative}: {error}"))
    }

    pub fn write(&self, relative: &str, text: &str) {
        fs::create_dir_all(self.at(relative).parent().expect("a parent")).expect("a folder");
        fs::write(self.at(relative), text).expect("written");
    }

    /// Every path below the project's `node_modules`, folders with a slash.
    pub fn tree(&self) -> Vec<String> {
        let mut paths = Vec::new();
        collect(&self.at("node_modules"), "", &mut paths);
        paths.sort();
        paths
    }

    pub async fn serve(&self) -> Server {
        let registry = Registry::open(&self.path("registry")).expect("a recording");
        Server::start(Arc::new(registry), espalier_replay::Settings::default()).await.expect("a server")
    }

    /// An installation of the project as it is now.
    pub fn prepare(&self, clean: bool, origin: &str) -> Install {
        let quick = [("fetch-retry-mintimeout", "1"), ("fetch-retry-maxtimeout", "2"), ("registry", origin)];
        let quick = quick.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
        let flags = quick.chain(self.flags.iter().cloned()).map(|(name, value)| (name, Value::Text(value)));
        let environment = Environment::of_variables([]);
        let config = Config::load(&self.at(""), flags.collect(), &environment).expect("a configuration");
        let settings = Settings::new(&config, &environment).expect("settings");
        let trust = settings.trust();
        let project = ProjectFolder::at(&self.at("")).expect("a project");
        let node_version = Some("22.14.0".to_owned());
        let scripts = Scripts::new(&config, &environment, &project, "install", false).expect("a policy");
        Install {
            lock: Lock {
                is_last: false,
                with_graph: true,
                project,
                settings,
                changes: Changes::default(),
                node_version,
                cache: None,
                activity: Arc::default(),
            },
            store: self.path("store"),
            clean,
            dry_run: false,
            trust,
            scripts,
            project_scripts: true,
            without_workspaces: false,
            bin_links: true,
            installer: None,
        }
    }

    async fn run(&self, clean: bool) -> Result<Done, InstallError> {
        let server = self.serve().await;
        self.rebase(&server.origin());
        self.prepare(clean, &server.origin()).run(|_| (), std::future::pending()).await
    }

    /// `install`, which has to work.
    pub async fn install(&self) -> Done {
        self.run(false).await.unwrap_or_else(|error| panic!("{error}"))
    }

    /// `install`, which has to fail.
    pub async fn fail_to_install(&self) -> InstallError {
        self.run(false).await.expect_err("a failure")
    }

    /// `ci`, which has to work.
    pub async fn ci(&self) -> Done {
        self.try_ci().await.unwrap_or_else(|error| panic!("{error}"))
    }

    pub async fn try_ci(&self) -> Result<Done, InstallError> {
        self.run(true).await
    }

    /// Makes the lock one of this registry, which has another port each time it is served.
    pub fn rebase(&self, origin: &str) {
        let path = self.at("package-lock.json");
        let Ok(text) = fs::read_to_string(&path) else { return };
        let mut text = text;
        while let Some(at) = text.find("http://127.0.0.1:") {
            let end = text[at + 17..].find('/').map_or(text.len(), |end| at + 17 + end);
            text.replace_range(at..end, "ORIGIN");
        }
        fs::write(path, text.replace("ORIGIN", origin)).expect("written");
    }
}

fn collect(folder: &Path, prefix: &str, paths: &mut Vec<String>) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = format!("{prefix}{}", entry.file_name().to_string_lossy());
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            collect(&entry.path(), &format!("{path}/"), paths);
            paths.push(path + "/");
        } else {
            paths.push(path);
        }
    }
}
