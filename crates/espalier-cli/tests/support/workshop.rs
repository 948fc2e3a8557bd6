//! A registry of packages with real tarballs, which may fail on purpose, and a project that depends
//! on all of them.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;

use espalier_install::integrity::Integrity;
use espalier_replay::{Registry, Server, Settings};
use flate2::Compression;
use flate2::write::GzEncoder;
use serde_json::{Value, json};

use super::{Outcome, Stage};

/// The number of packages, and the number of files in each.
pub const PACKAGES: usize = 40;
pub const FILES: usize = 12;

pub struct Workshop {
    pub stage: Stage,
    registry: PathBuf,
    server: Server,
}

fn tarball(name: &str, script: bool) -> Vec<u8> {
    let mut builder = tar::Builder::new(GzEncoder::new(Vec::new(), Compression::fast()));
    let mut add = |path: String, content: &[u8]| {
        let mut header = tar::Header::new_gnu();
        header.set_size(content.len() as u64);
        header.set_mode(0o644);
        builder.append_data(&mut header, path, content).expect("into memory");
    };
    let mut manifest = json!({ "name": name, "version": "1.0.0", "bin": "file-0.js" });
    if script {
        manifest["scripts"] =
            json!({ "postinstall": "if [ -e ../../fail ]; then echo no; exit 1; fi; echo yes > built" });
    }
    add("package/package.json".into(), manifest.to_string().as_bytes());
    for number in 0..FILES {
        let content = format!("#!/usr/bin/env node\n// {name}\n").repeat(number * 10 + 1);
        add(format!("package/file-{number}.js"), content.as_bytes());
    }
    builder.into_inner().and_then(GzEncoder::finish).expect("into memory")
}

impl Workshop {
    /// With [`PACKAGES`] packages, of which the first has a script.
    pub fn new() -> Self {
        Self::of(PACKAGES)
    }

    pub fn of(packages: usize) -> Self {
        let stage = Stage::bare();
        let registry = stage.path("registry");
        let mut dependencies = BTreeMap::new();
        for number in 0..packages {
            let name = format!("p{number}");
            let bytes = tarball(&name, number == 0);
            fs::create_dir_all(registry.join("tarballs").join(&name)).expect("a folder");
            let file = format!("{name}-1.0.0.tgz");
            fs::write(registry.join("tarballs").join(&name).join(&file), &bytes).expect("written");
            let dist =
                json!({ "tarball": format!("/{name}/-/{file}"), "integrity": Integrity::of(&bytes).to_string() });
            let mut version = json!({ "name": name, "version": "1.0.0", "bin": "file-0.js", "dist": dist });
            if number == 0 {
                version["hasInstallScript"] = true.into();
            }
            let packument = json!({
                "_id": name, "name": name, "dist-tags": { "latest": "1.0.0" }, "versions": { "1.0.0": version }, "time": {},
            });
            fs::write(registry.join("packuments").join(format!("{name}.json")), packument.to_string())
                .expect("written");
            dependencies.insert(name, "^1.0.0");
        }
        let server = serve(&registry, &[]);
        let stage = stage.at(server.origin());
        let manifest = json!({ "name": "app", "version": "1.0.0", "dependencies": dependencies });
        stage.write("package.json", &manifest.to_string());
        Self { stage, registry, server }
    }

    /// Restarts the registry at another port, with these faults only.
    pub fn with_faults(mut self, faults: &[&str]) -> Self {
        self.server = serve(&self.registry, faults);
        self.stage = self.stage.at(self.server.origin());
        self
    }

    pub fn command(&self, folder: &str, arguments: &[&str]) -> Command {
        let mut command = self.stage.espalier(arguments);
        command.current_dir(self.stage.path(folder)).env("ESPALIER_STORE", self.stage.path("store"));
        command
    }

    pub fn run(&self, arguments: &[&str]) -> Outcome {
        self.stage.run(self.command("project", arguments))
    }

    #[track_caller]
    pub fn succeed(&self, arguments: &[&str]) -> Outcome {
        let outcome = self.run(arguments);
        assert_eq!(outcome.code, Some(0), "{}", outcome.stderr);
        outcome
    }

    /// The content of a folder's `node_modules`: paths with contents or targets.
    pub fn tree(&self, folder: &str) -> BTreeMap<String, String> {
        let mut tree = BTreeMap::new();
        collect(&self.stage.path(folder).join("node_modules"), "", &mut tree);
        tree
    }

    #[track_caller]
    pub fn assert_sound_store(&self) {
        let outcome = self.run(&["store", "verify", "--json"]);
        let report: Value = serde_json::from_str(&outcome.stdout).expect("JSON");
        assert_eq!((outcome.code, &report["damaged"]), (Some(0), &json!([])), "{report}");
    }
}

fn serve(registry: &Path, faults: &[&str]) -> Server {
    let faults = faults.iter().map(|fault| fault.parse().expect("a fault")).collect();
    let registry = Arc::new(Registry::open(registry).expect("a registry"));
    Server::start_blocking(registry, Settings { faults, ..Settings::default() }).expect("a server")
}

fn collect(folder: &Path, prefix: &str, tree: &mut BTreeMap<String, String>) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let (path, name) = (entry.path(), entry.file_name().to_string_lossy().into_owned());
        let kind = entry.file_type().expect("a kind");
        if kind.is_dir() {
            collect(&path, &format!("{prefix}{name}/"), tree);
        } else if kind.is_symlink() {
            tree.insert(format!("{prefix}{name}"), fs::read_link(&path).expect("a link").display().to_string());
        } else {
            tree.insert(format!("{prefix}{name}"), fs::read_to_string(&path).expect("text"));
        }
    }
}
