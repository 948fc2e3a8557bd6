//! `cargo xtask record`: makes `tests/registry`, a registry that is small enough for git and has
//! everything that its projects need, with npm's answers.
//!
//! The projects are written by hand, as `projects/<name>/package.json`. npm resolves them with the
//! source. The versions that it chose, and some around them (see [`selection`]), are trimmed and
//! written. Then npm resolves the projects again with the written registry, and these locks are
//! kept beside them. For projects with a file `with-tarballs`, the tarballs are kept, too (see
//! [`tarballs`]).

mod selection;
mod tarballs;
mod trim;

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context, bail};
use espalier_replay::{Registry, Server, Settings};
use serde_json::Value;

use crate::oracle::{self, Answer, Driver};
use selection::Selection;

/// Arguments of `cargo xtask record`.
#[derive(clap::Args)]
#[group(skip)]
pub struct Arguments {
    #[command(flatten)]
    source: Source,
    /// The folder that holds `projects/` and gets `packuments/` [default: `tests/registry`]
    #[arg(long, value_name = "DIR")]
    into: Option<PathBuf>,
}

#[derive(clap::Args)]
#[group(required = true, multiple = false)]
struct Source {
    /// Take packuments from a recorded registry
    #[arg(long, value_name = "DIR")]
    from: Option<PathBuf>,
    /// Take packuments from a live registry
    #[arg(long, value_name = "URL")]
    registry: Option<String>,
}

/// Records all projects.
pub fn run(arguments: &Arguments) -> anyhow::Result<()> {
    let into = arguments.into.clone().unwrap_or_else(|| oracle::repository().join("tests/registry"));
    let scratch = tempfile::tempdir()?;
    let mut driver = Driver::start(&oracle::install(None)?, &scratch.path().join("npm"), false)?;
    let server = arguments.source.from.as_deref().map(serve).transpose()?;
    let source = match (&server, &arguments.source.registry) {
        (Some(server), _) => server.origin(),
        (None, Some(url)) => url.trim_end_matches('/').to_owned(),
        (None, None) => bail!("neither --from nor --registry says where packuments come from"),
    };
    let projects = Projects::copy(&into.join("projects"), &scratch.path().join("projects"))?;

    let mut selection = Selection::default();
    for name in &projects.names {
        println!("{name}: asking npm");
        selection.demand_of(&projects.manifest(name)?);
        if let Some(lockfile) = projects.choose(name, &mut driver, &source)? {
            selection.choose(&lockfile)?;
        }
    }
    let packages = selection.close(|name| {
        println!("fetching {name}");
        driver.packument(name, &source)
    })?;
    let bytes = trim::write(&packages, &into.join("packuments"))?;
    let versions: usize = packages.values().map(|package| package.kept.len()).sum();
    println!("{} packages in {versions} versions, {} KB", packages.len(), bytes / 1000);

    let trimmed = serve(&into)?;
    for name in &projects.names {
        let answer = projects.ask(name, &mut driver, &trimmed.origin(), &[])?;
        println!("{name}: {}", keep(&answer, &trimmed.origin(), &into.join("projects").join(name))?);
    }
    let wanted = tarballs::wanted(&into.join("projects"), &projects.names)?;
    let bytes = tarballs::write(&wanted, &into.join("tarballs"), |package| driver.tarball(package, &source))?;
    println!("{} tarballs, {} KB", wanted.len(), bytes / 1000);
    Ok(())
}

fn serve(folder: &Path) -> anyhow::Result<Server> {
    Ok(Server::start_blocking(Arc::new(Registry::open(folder)?), Settings::default())?)
}

/// Writes npm's answer for a project beside its package.json.
fn keep(answer: &Answer, origin: &str, folder: &Path) -> anyhow::Result<String> {
    let file = folder.join("package-lock.json");
    match answer {
        Answer::Lockfile { lockfile } => {
            fs::write(&file, oracle::without_origin(lockfile, origin))?;
            Ok(format!("{} lines", lockfile.lines().count()))
        }
        Answer::Failure { code: Some(code), .. } if code == "ERESOLVE" => {
            if file.exists() {
                fs::remove_file(&file)?;
            }
            Ok(format!("npm stops with {code}"))
        }
        Answer::Failure { message, .. } => bail!("npm cannot resolve {}: {message}", folder.display()),
    }
}

/// Copies of the projects, for npm to write into.
struct Projects {
    names: Vec<String>,
    folder: PathBuf,
}

impl Projects {
    fn copy(from: &Path, to: &Path) -> anyhow::Result<Self> {
        let mut names = Vec::new();
        for entry in fs::read_dir(from).with_context(|| format!("cannot read {}", from.display()))? {
            let name = entry?.file_name().to_string_lossy().into_owned();
            fs::create_dir_all(to.join(&name))?;
            let manifest = from.join(&name).join("package.json");
            fs::copy(&manifest, to.join(&name).join("package.json"))
                .with_context(|| format!("cannot read {}", manifest.display()))?;
            names.push(name);
        }
        names.sort();
        Ok(Self { names, folder: to.to_owned() })
    }

    fn manifest(&self, name: &str) -> anyhow::Result<Value> {
        Ok(serde_json::from_slice(&fs::read(self.folder.join(name).join("package.json"))?)?)
    }

    fn ask(&self, name: &str, driver: &mut Driver, registry: &str, flags: &[&str]) -> anyhow::Result<Answer> {
        let folder = self.folder.join(name);
        let lockfile = folder.join("package-lock.json");
        if lockfile.exists() {
            fs::remove_file(&lockfile)?;
        }
        let flags: Vec<String> = flags.iter().map(ToString::to_string).collect();
        driver.ask(&folder, registry, &["install".into()], &flags, oracle::PATIENCE)?.context("npm takes too long")
    }

    /// A lock with the versions that a project needs. If its peers conflict, it is the lock without
    /// peers.
    fn choose(&self, name: &str, driver: &mut Driver, registry: &str) -> anyhow::Result<Option<Value>> {
        for flags in [&[][..], &["--legacy-peer-deps"]] {
            if let Answer::Lockfile { lockfile } = self.ask(name, driver, registry, flags)? {
                return Ok(Some(serde_json::from_str(&lockfile)?));
            }
        }
        Ok(None)
    }
}
