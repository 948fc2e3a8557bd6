//! The common parts of the command's tests: a made-up project and registry, and the real program.

pub mod workshop;

use std::collections::BTreeMap;
use std::fs;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use espalier_install::integrity::Integrity;
use espalier_replay::{Registry, Server, Settings};
use flate2::Compression;
use flate2::write::GzEncoder;
use serde_json::{Value, json};

/// The limit for a command that hangs. No command of a test takes nearly as long.
const PATIENCE: Duration = Duration::from_mins(2);

/// A project, a home without settings, a cache, and a registry of the given packages.
pub struct Stage {
    root: tempfile::TempDir,
    registry: Option<Server>,
    origin: String,
}

/// A package as it is published.
pub struct Tarball {
    manifest: Value,
    files: Vec<(String, String)>,
}

impl Tarball {
    pub fn new(manifest: Value) -> Self {
        Self { manifest, files: Vec::new() }
    }

    pub fn with(mut self, path: &str, content: &str) -> Self {
        self.files.push((path.to_owned(), content.to_owned()));
        self
    }

    /// Writes the tarball into a registry's folder. Returns its id and its manifest in the
    /// packument.
    fn publish(&self, registry: &Path) -> (String, Value) {
        let field = |name: &str| self.manifest[name].as_str().expect("a text").to_owned();
        let (name, version) = (field("name"), field("version"));
        let mut archive = tar::Builder::new(GzEncoder::new(Vec::new(), Compression::fast()));
        let own = ("package.json".to_owned(), self.manifest.to_string());
        for (path, content) in std::iter::once(&own).chain(&self.files) {
            let mut header = tar::Header::new_gnu();
            header.set_size(content.len() as u64);
            header.set_mode(0o644);
            archive.append_data(&mut header, format!("package/{path}"), content.as_bytes()).expect("into memory");
        }
        let bytes = archive.into_inner().and_then(GzEncoder::finish).expect("into memory");
        let file = format!("{}-{version}.tgz", name.rsplit('/').next().expect("a name"));
        let folder = registry.join("tarballs").join(name.replace('/', "%2f"));
        fs::create_dir_all(&folder).expect("a folder");
        fs::write(folder.join(&file), &bytes).expect("written");
        let mut manifest = self.manifest.clone();
        let integrity = Integrity::of(&bytes).to_string();
        manifest["dist"] = json!({"tarball": format!("/{name}/-/{file}"), "integrity": integrity});
        if manifest["scripts"]["postinstall"].is_string() {
            manifest["hasInstallScript"] = true.into();
        }
        (format!("{name}@{version}"), manifest)
    }
}

/// The result of a command, with everything replaced that differs from run to run.
pub struct Outcome {
    pub code: Option<i32>,
    pub stdout: String,
    pub stderr: String,
}

impl Stage {
    /// A project with this package.json, and a registry of `(name@version, manifest)`.
    pub fn new(manifest: &Value, packages: &[(&str, Value)]) -> Self {
        let mut stage = Self::bare();
        record(&stage.path("registry"), packages);
        let registry = Registry::open(&stage.path("registry")).expect("a registry");
        let server = Server::start_blocking(Arc::new(registry), Settings::default()).expect("a server");
        stage.origin = server.origin();
        stage.registry = Some(server);
        stage.write("package.json", &format!("{manifest:#}\n"));
        stage
    }

    /// An empty project, and a registry that has these packages with their tarballs.
    pub fn with_tarballs(tarballs: &[Tarball]) -> Self {
        let stage = Self::bare();
        let registry = stage.path("registry");
        let versions: Vec<(String, Value)> = tarballs.iter().map(|tarball| tarball.publish(&registry)).collect();
        let versions: Vec<(&str, Value)> = versions.iter().map(|(id, manifest)| (&**id, manifest.clone())).collect();
        record(&registry, &versions);
        let packages = Registry::open(&registry).expect("a registry");
        let server = Server::start_blocking(Arc::new(packages), Settings::default()).expect("a server");
        stage.write("package.json", "{}\n");
        Self { origin: server.origin(), registry: Some(server), ..stage }
    }

    /// An empty project folder, and a registry that does not answer.
    pub fn bare() -> Self {
        let root = tempfile::tempdir().expect("a temporary folder");
        for folder in ["project", "home", "cache", "registry/packuments"] {
            fs::create_dir_all(root.path().join(folder)).expect("a folder");
        }
        // A port that was free a moment ago, on which nobody listens.
        let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
        let origin = format!("http://{}", listener.local_addr().expect("an address"));
        Self { root, registry: None, origin }
    }

    pub fn at(mut self, origin: String) -> Self {
        self.origin = origin;
        self
    }

    /// The address of its registry.
    pub fn origin(&self) -> &str {
        &self.origin
    }

    pub fn path(&self, relative: &str) -> PathBuf {
        self.root.path().join(relative)
    }

    /// Writes a file of the project.
    pub fn write(&self, file: &str, text: &str) {
        let path = self.path("project").join(file);
        fs::create_dir_all(path.parent().expect("a parent")).expect("a folder");
        fs::write(path, text).expect("written");
    }

    pub fn lockfile(&self) -> Option<Value> {
        let text = fs::read_to_string(self.path("project/package-lock.json")).ok()?;
        Some(serde_json::from_str(&text).expect("JSON"))
    }

    /// Any command in the project's folder, without the settings of this machine.
    pub fn espalier(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_espalier"));
        command.args(arguments).current_dir(self.path("project")).env_clear().stdin(Stdio::null());
        command.env("HOME", self.path("home")).env("npm_config_registry", &self.origin);
        command.env("ESPALIER_STORE", self.path("store"));
        command.env("ESPALIER_CACHE_DIR", self.path("cache")).env("npm_config_fetch_retry_mintimeout", "1");
        command.env("npm_config_prefix", self.path("home"));
        command
    }

    /// `espalier lock` in the project's folder, with the stage's registry and without the settings
    /// of this machine.
    pub fn command(&self, arguments: &[&str]) -> Command {
        self.espalier(&[&["lock", "--node-version", "22.14.0"], arguments].concat())
    }

    /// Any command that starts programs of this machine, such as a shell or Node.
    pub fn with_programs(&self, arguments: &[&str]) -> Command {
        let mut command = self.espalier(arguments);
        command.envs(std::env::var_os("PATH").map(|path| ("PATH", path)));
        command
    }

    pub fn lock(&self, arguments: &[&str]) -> Outcome {
        self.run(self.command(arguments))
    }

    pub fn run(&self, mut command: Command) -> Outcome {
        let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("the command");
        self.outcome(child)
    }

    pub fn outcome(&self, mut child: Child) -> Outcome {
        let mut stdout = child.stdout.take().expect("piped");
        let mut stderr = child.stderr.take().expect("piped");
        let reader = std::thread::spawn(move || {
            let mut text = String::new();
            stdout.read_to_string(&mut text).map(|_| text)
        });
        let other = std::thread::spawn(move || {
            let mut text = String::new();
            stderr.read_to_string(&mut text).map(|_| text)
        });
        let deadline = Instant::now() + PATIENCE;
        let status = loop {
            if let Some(status) = child.try_wait().expect("a child") {
                break status;
            }
            if Instant::now() > deadline {
                let _ = child.kill();
                panic!("the command hangs");
            }
            std::thread::sleep(Duration::from_millis(5));
        };
        let read = |thread: std::thread::JoinHandle<std::io::Result<String>>| {
            self.normalised(&thread.join().expect("a reader").expect("text"))
        };
        Outcome { code: status.code(), stdout: read(reader), stderr: read(other) }
    }

    fn normalised(&self, text: &str) -> String {
        let root = fs::canonicalize(self.root.path()).expect("a folder");
        let host = self.origin.trim_start_matches("http://");
        let text = text.replace(&*root.to_string_lossy(), "").replace(&*self.root.path().to_string_lossy(), "");
        without_times(&text.replace(host, "registry.test"))
    }

    /// The number of requests to the registry.
    pub fn requests(&self) -> u64 {
        self.registry.as_ref().expect("a registry").statistics().requests
    }
}

/// Durations as ` in 12 ms` become ` in <time>`.
fn without_times(text: &str) -> String {
    let Some((before, after)) = text.split_once(" resolved in ") else { return text.to_owned() };
    let Some((_, rest)) = after.split_once(';') else { return text.to_owned() };
    format!("{before} resolved in <time>;{rest}")
}

fn record(folder: &Path, packages: &[(&str, Value)]) {
    let mut packuments: BTreeMap<&str, Value> = BTreeMap::new();
    for (id, manifest) in packages {
        let (name, version) = id.rsplit_once('@').expect("name@version");
        let file = name.rsplit('/').next().expect("a name");
        let mut full = json!({"name": name, "version": version, "license": "MIT"});
        full["dist"] = json!({"tarball": format!("/{name}/-/{file}-{version}.tgz"), "integrity": "sha512-AAAA"});
        for (key, value) in manifest.as_object().expect("an object") {
            full[key] = value.clone();
        }
        let packument = packuments
            .entry(name)
            .or_insert_with(|| json!({"_id": name, "name": name, "dist-tags": {}, "versions": {}, "time": {}}));
        packument["dist-tags"]["latest"] = version.into();
        packument["versions"][version] = full;
    }
    for (name, packument) in packuments {
        let path = folder.join("packuments").join(format!("{}.json", name.replace('/', "%2f")));
        fs::write(path, packument.to_string()).expect("written");
    }
}

/// Compares with `tests/screens/<name>.txt`; `UPDATE_SCREENS=1` writes it instead.
#[track_caller]
pub fn assert_screen(name: &str, actual: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/screens").join(format!("{name}.txt"));
    if std::env::var_os("UPDATE_SCREENS").is_some() {
        fs::write(&path, actual).expect("written");
        return;
    }
    let expected = fs::read_to_string(&path).unwrap_or_default();
    assert!(actual == expected, "the screen {name} is now:\n\n{actual}\nand should be:\n\n{expected}");
}
