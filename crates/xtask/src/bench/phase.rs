//! The measured phases: their initial state, and the command of each contestant.

use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};

use anyhow::{Context as _, Result};

use super::contestants::Contestant;
use super::measure;
use super::server::Replay;

/// A phase of a package manager's life.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Phase {
    /// Nothing exists. Everything is installed.
    P0,
    /// Nothing exists. Only the lock is written.
    P1,
    /// The lock is made with a fresh cache.
    WarmP1,
    /// The same, after a change to package.json.
    EditedP1,
    /// There is a lock, the cache is fresh, and a package is added to the lock.
    AddP1,
    /// The lock is made with a cache that has to be revalidated.
    StaleP1,
    /// There is a lock, and nothing is cached.
    P3,
    /// There is a lock, and everything is cached.
    P4,
    /// Everything is installed.
    NoOp,
    /// Everything is installed, and a package is added.
    Add,
}

impl fmt::Display for Phase {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::P0 => "p0",
            Self::P1 => "p1",
            Self::WarmP1 => "warm p1",
            Self::EditedP1 => "edited p1",
            Self::AddP1 => "add p1",
            Self::StaleP1 => "stale p1",
            Self::P3 => "p3",
            Self::P4 => "p4",
            Self::NoOp => "no-op",
            Self::Add => "add",
        })
    }
}

/// The packages to add. The first that the project doesn't depend on is used.
const ADDITIONS: [&str; 3] = ["lodash@4.18.1", "ms@2.1.3", "picocolors@1.1.1"];

/// The number of folders so far. None is used twice.
static SCENES: AtomicUsize = AtomicUsize::new(0);

/// A project of the corpus.
pub struct Project {
    pub name: String,
    pub manifest: String,
    /// npm's lock, with paths instead of addresses.
    pub lockfile: String,
    /// npm's flags.
    pub arguments: Vec<String>,
    /// Whether the corpus has its tarballs.
    has_tarballs: bool,
}

/// The folders of one run.
pub struct Scene {
    pub folder: PathBuf,
    pub project: PathBuf,
    pub home: PathBuf,
}

/// The initial state of a contestant's runs.
pub struct Seed {
    contestant: Contestant,
    program: PathBuf,
    phase: Phase,
    /// Its caches, if they are warm.
    home: Option<PathBuf>,
    /// The name and text of its lockfile.
    lock: Option<(&'static str, String)>,
    /// An installed project.
    installed: Option<PathBuf>,
}

impl Project {
    /// The projects of a corpus that npm has a lock for, by name.
    pub fn all(corpus: &Path) -> Result<Vec<Self>> {
        let folder = corpus.join("projects");
        let mut names = Vec::new();
        for entry in fs::read_dir(&folder).with_context(|| format!("cannot read {}", folder.display()))? {
            let entry = entry?;
            if entry.path().join("package-lock.json").exists() {
                names.push(entry.file_name().to_string_lossy().into_owned());
            }
        }
        names.sort();
        names.iter().map(|name| Self::read(corpus, name)).collect()
    }

    /// Reads a project of a corpus.
    pub fn read(corpus: &Path, name: &str) -> Result<Self> {
        let folder = corpus.join("projects").join(name);
        let read = |file: &str| fs::read_to_string(folder.join(file)).with_context(|| format!("{file} of {name}"));
        Ok(Self {
            name: name.to_owned(),
            manifest: read("package.json")?,
            lockfile: read("package-lock.json")?,
            arguments: read("npm-args").unwrap_or_default().split_whitespace().map(str::to_owned).collect(),
            has_tarballs: ["vite-react-ts", "alotta-files"].contains(&name),
        })
    }

    /// npm's lock with this server's addresses.
    pub fn lockfile_at(&self, origin: &str) -> String {
        self.lockfile.replace("\"resolved\": \"/", &format!("\"resolved\": \"{origin}/"))
    }

    /// The package that `add` adds.
    pub fn addition(&self) -> &'static str {
        let is_new = |package: &&str| !self.manifest.contains(&format!("\"{}\":", name_of(package)));
        ADDITIONS.into_iter().find(is_new).unwrap_or(ADDITIONS[0])
    }
}

/// The name of a `name@version`.
pub fn name_of(package: &str) -> &str {
    package.rsplit_once('@').map_or(package, |(name, _)| name)
}

impl Phase {
    pub const ALL: [Self; 10] = [
        Self::P0,
        Self::P1,
        Self::WarmP1,
        Self::EditedP1,
        Self::AddP1,
        Self::StaleP1,
        Self::P3,
        Self::P4,
        Self::NoOp,
        Self::Add,
    ];

    /// Whether the corpus has what the phase needs.
    pub fn suits(self, project: &Project) -> bool {
        self.is_lock_only() || project.has_tarballs
    }

    /// Whether only a lock is made.
    pub fn is_lock_only(self) -> bool {
        matches!(self, Self::P1 | Self::WarmP1 | Self::EditedP1 | Self::AddP1 | Self::StaleP1)
    }

    /// Whether a package is added.
    pub fn adds(self) -> bool {
        matches!(self, Self::AddP1 | Self::Add)
    }

    /// Prepares the initial state. `None` if the contestant can't take part.
    pub fn seed(
        self,
        contestant: Contestant,
        program: &Path,
        project: &Project,
        server: &Replay,
        scratch: &Path,
    ) -> Result<Option<Seed>> {
        // Only these contestants can be told to revalidate.
        if self == Self::StaleP1 && !contestant.is_ours() && contestant != Contestant::Npm {
            return Ok(None);
        }
        // It adds nothing without installing it.
        if self == Self::AddP1 && contestant == Contestant::Utoo {
            return Ok(None);
        }
        let seed =
            Seed { contestant, program: program.to_owned(), phase: self, home: None, lock: None, installed: None };
        match seed.prepared(project, server, scratch) {
            Err(error) if !contestant.is_ours() => {
                eprintln!("{contestant} is left out: {error:#}");
                Ok(None)
            }
            seed => seed.map(Some),
        }
    }

    /// The command of a contestant.
    pub fn command(
        self,
        contestant: Contestant,
        program: &Path,
        project: &Project,
        server: &Replay,
        scene: &Scene,
    ) -> Command {
        let certificate = server.certificate.as_deref();
        let mut command = contestant.command(program, &scene.project, &scene.home, &server.origin, certificate);
        let addition = project.addition();
        let words: &[&str] = match (contestant, self) {
            (Contestant::Espalier | Contestant::Before, Self::P1 | Self::WarmP1 | Self::EditedP1) => {
                &["lock", "--quiet"]
            }
            (Contestant::Espalier | Contestant::Before, Self::StaleP1) => &["lock", "--quiet", "--prefer-online"],
            (Contestant::Espalier | Contestant::Before, Self::P3 | Self::P4) => &["ci", "--quiet"],
            (Contestant::Espalier | Contestant::Before, Self::P0 | Self::NoOp) => &["install", "--quiet"],
            (Contestant::Espalier | Contestant::Before, Self::AddP1) => {
                &["add", addition, "--quiet", "--package-lock-only"]
            }
            (Contestant::Espalier | Contestant::Before, Self::Add) => &["add", addition, "--quiet"],
            (Contestant::Npm, Self::P1 | Self::WarmP1 | Self::EditedP1) => &["install", "--package-lock-only"],
            (Contestant::Npm, Self::StaleP1) => &["install", "--package-lock-only", "--prefer-online"],
            (Contestant::Npm, Self::AddP1) => &["install", addition, "--package-lock-only"],
            (Contestant::Npm, Self::P3 | Self::P4) => &["ci"],
            (Contestant::Npm, Self::P0 | Self::NoOp) => &["install"],
            (Contestant::Bun | Contestant::Pnpm, Self::P1 | Self::WarmP1 | Self::EditedP1 | Self::StaleP1) => {
                &["install", "--lockfile-only"]
            }
            (Contestant::Bun | Contestant::Pnpm, Self::P3 | Self::P4) => {
                &["install", "--frozen-lockfile", "--ignore-scripts"]
            }
            (Contestant::Bun | Contestant::Pnpm | Contestant::Utoo, Self::P0 | Self::NoOp)
            | (Contestant::Utoo, Self::P3 | Self::P4) => &["install", "--ignore-scripts"],
            (Contestant::Bun | Contestant::Pnpm, Self::AddP1) => &["add", addition, "--lockfile-only"],
            (Contestant::Bun | Contestant::Pnpm, Self::Add) => &["add", addition, "--ignore-scripts"],
            (Contestant::Utoo, Self::P1 | Self::WarmP1 | Self::EditedP1 | Self::StaleP1) => &["deps"],
            (Contestant::Utoo | Contestant::Npm, Self::AddP1 | Self::Add) => &["install", addition, "--ignore-scripts"],
        };
        command.args(words);
        match contestant {
            Contestant::Espalier | Contestant::Before | Contestant::Npm => command.args(&project.arguments),
            Contestant::Bun => command.args(["--registry", &server.origin]),
            Contestant::Pnpm => {
                let store = scene.home.join("pnpm-store");
                command.arg(format!("--registry={}", server.origin)).arg(format!("--store-dir={}", store.display()))
            }
            Contestant::Utoo => {
                let legacy = project.arguments.iter().filter(|argument| *argument == "--legacy-peer-deps");
                let cache = scene.home.join("utoo-cache");
                command.args(["--registry", &server.origin]).arg("--cache-dir").arg(cache).args(legacy)
            }
        };
        command
    }
}

impl Seed {
    fn prepared(mut self, project: &Project, server: &Replay, scratch: &Path) -> Result<Self> {
        if matches!(self.phase, Phase::P3 | Phase::P4 | Phase::NoOp | Phase::Add) {
            self.lock = Some(self.lock_of(project, server, scratch)?);
        }
        let warm = match self.phase {
            Phase::P0 | Phase::P1 | Phase::P3 => return Ok(self),
            Phase::WarmP1 | Phase::EditedP1 | Phase::AddP1 | Phase::StaleP1 => Phase::P1,
            Phase::P4 | Phase::NoOp | Phase::Add => Phase::P3,
        };
        let scene = self.new_scene(project, scratch)?;
        self.run(warm, project, server, &scene)?;
        self.home = Some(scene.home.clone());
        if warm == Phase::P3 {
            self.installed = Some(scene.project.clone());
        }
        if self.phase == Phase::AddP1 {
            // With a lock from the beginning, nothing would have been fetched.
            self.lock = Some(self.lock_of(project, server, scratch)?);
        }
        if self.phase == Phase::NoOp {
            // The work that a first run leaves for the second isn't measured.
            self.run(Phase::NoOp, project, server, &scene)?;
        }
        Ok(self)
    }

    /// The folders for one run.
    pub fn scene(&self, project: &Project, server: &Replay, scratch: &Path) -> Result<Scene> {
        if let (Phase::NoOp, Some(installed), Some(home)) = (self.phase, &self.installed, &self.home) {
            let folder = installed.parent().context("a folder above")?.to_owned();
            return Ok(Scene { folder, project: installed.clone(), home: home.clone() });
        }
        let mut scene = self.new_scene(project, scratch)?;
        if let Some(home) = &self.home {
            scene.home.clone_from(home);
        }
        if self.phase == Phase::EditedP1 {
            // Each time another field, which no lockfile has.
            let edit = format!("{{ \"edited\": {},", SCENES.fetch_add(1, Ordering::Relaxed));
            fs::write(scene.project.join("package.json"), project.manifest.replacen('{', &edit, 1))?;
        }
        if self.phase == Phase::Add {
            self.run(Phase::P4, project, server, &scene)?;
        }
        Ok(scene)
    }

    fn new_scene(&self, project: &Project, scratch: &Path) -> Result<Scene> {
        let folder = scratch.join(SCENES.fetch_add(1, Ordering::Relaxed).to_string());
        // Some contestants write the folder's name into the lock.
        let scene = Scene { project: folder.join(&project.name), home: folder.join("home"), folder };
        fs::create_dir_all(&scene.project)?;
        fs::create_dir_all(&scene.home)?;
        fs::write(scene.project.join("package.json"), &project.manifest)?;
        if let Some((name, text)) = &self.lock {
            fs::write(scene.project.join(name), text)?;
        }
        Ok(scene)
    }

    fn run(&self, phase: Phase, project: &Project, server: &Replay, scene: &Scene) -> Result<()> {
        let command = phase.command(self.contestant, &self.program, project, server, scene);
        measure::run(&command, &scene.folder.join("usage.json")).map(|_| ())
    }

    /// npm's own lock for contestants that read it, otherwise the one that the contestant makes.
    fn lock_of(&self, project: &Project, server: &Replay, scratch: &Path) -> Result<(&'static str, String)> {
        let name = lockfile_name(self.contestant);
        if name == "package-lock.json" {
            return Ok((name, project.lockfile_at(&server.origin)));
        }
        let scene = self.new_scene(project, scratch)?;
        self.run(Phase::P1, project, server, &scene)?;
        let path = scene.project.join(name);
        Ok((name, fs::read_to_string(&path).with_context(|| format!("{} was not written", path.display()))?))
    }
}

/// The name of a contestant's lock.
pub fn lockfile_name(contestant: Contestant) -> &'static str {
    match contestant {
        Contestant::Bun => "bun.lock",
        Contestant::Pnpm => "pnpm-lock.yaml",
        Contestant::Espalier | Contestant::Before | Contestant::Utoo | Contestant::Npm => "package-lock.json",
    }
}
