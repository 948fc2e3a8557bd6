//! The projects of a corpus, each with its input and npm's answer.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use espalier_core::{Allow, InstallStrategy, Options, Platform, Project, RegistryAddresses};

use super::compare::Expected;

/// The origin of tarball paths during a resolution. It is removed from the result.
pub const ORIGIN: &str = "http://registry.test";

/// A folder in `projects/`.
pub struct CorpusProject {
    /// The folder's name.
    pub name: String,
    /// The options in `npm-args`.
    pub options: Options,
    /// npm's answer.
    pub expected: Expected,
    folder: PathBuf,
}

impl CorpusProject {
    /// The named projects of a corpus, or all of them, by name.
    pub fn all(corpus: &Path, only: &[String]) -> anyhow::Result<Vec<Self>> {
        let folder = corpus.join("projects");
        let mut names = only.to_vec();
        if names.is_empty() {
            for entry in fs::read_dir(&folder).with_context(|| format!("cannot read {}", folder.display()))? {
                names.push(entry?.file_name().to_string_lossy().into_owned());
            }
            names.sort();
        }
        names.into_iter().map(|name| Self::read(folder.join(&name), name)).collect()
    }

    fn read(folder: PathBuf, name: String) -> anyhow::Result<Self> {
        let arguments = folder.join("npm-args");
        let arguments = if arguments.exists() { fs::read_to_string(&arguments)? } else { String::new() };
        let options = options(arguments.split_whitespace()).with_context(|| format!("npm-args of {name}"))?;
        let lockfile = folder.join("package-lock.json");
        let expected = if lockfile.exists() {
            Expected::Lockfile(fs::read_to_string(&lockfile)?)
        } else {
            Expected::Failure { code: Some("ERESOLVE".into()), message: String::new() }
        };
        Ok(Self { name, options, expected, folder })
    }

    /// The project as npm got it, without a lock to start from.
    pub fn input(&self) -> anyhow::Result<Input> {
        Input::read(&self.folder, &self.name)
    }
}

/// The text of a project, and the folder with its other files.
pub struct Input {
    /// The input of the resolution.
    pub project: Project,
    /// The folder that workspaces and `file:` specs are relative to.
    pub folder: PathBuf,
}

impl Input {
    /// Reads a project, without any lock.
    pub fn read(folder: &Path, name: &str) -> anyhow::Result<Self> {
        let manifest = folder.join("package.json");
        let manifest = fs::read_to_string(&manifest).with_context(|| format!("cannot read {}", manifest.display()))?;
        let folder = std::path::absolute(folder)?;
        let path = folder.to_string_lossy().replace('\\', "/");
        let project = Project { manifest, folder_name: name.to_owned(), path, ..Project::default() };
        Ok(Self { project, folder })
    }
}

/// Reads npm's flags.
pub fn options<'a>(arguments: impl Iterator<Item = &'a str>) -> anyhow::Result<Options> {
    // npm's answers were recorded with these sources allowed.
    let registries = RegistryAddresses { default: format!("{ORIGIN}/"), ..RegistryAddresses::default() };
    let defaults = Options {
        allow_git: Allow::All,
        allow_remote: Allow::All,
        registries: Some(registries.into()),
        ..Options::default()
    };
    let mut options = Options { host: Some(Platform::default()), ..defaults };
    for argument in arguments {
        match argument.split_once('=').unwrap_or((argument, "")) {
            ("--legacy-peer-deps", "") => options.legacy_peer_deps = true,
            ("--strict-peer-deps", "") => options.strict_peer_deps = true,
            ("--force", "") => options.force = true,
            ("--prefer-dedupe", "") => options.prefer_dedupe = true,
            ("--install-links", "") => options.install_links = true,
            ("--engine-strict", "") => options.engine_strict = true,
            ("--before", time) if !time.is_empty() => options.before = Some(milliseconds(time)?),
            ("--install-strategy", "hoisted" | "linked") => options.install_strategy = InstallStrategy::Hoisted,
            ("--install-strategy", "nested") => options.install_strategy = InstallStrategy::Nested,
            ("--install-strategy", "shallow") => options.install_strategy = InstallStrategy::Shallow,
            ("--omit", "dev") => options.omit.dev = true,
            ("--omit", "optional") => options.omit.optional = true,
            ("--omit", "peer") => options.omit.peer = true,
            ("--os", os) if !os.is_empty() => {
                os.clone_into(&mut options.platform.os);
                // npm asks for the C library of that system, which reports none.
                options.platform.libc = options.platform.libc.filter(|_| os == "linux");
            }
            ("--cpu", cpu) if !cpu.is_empty() => cpu.clone_into(&mut options.platform.cpu),
            ("--libc", libc) if !libc.is_empty() => options.platform.libc = Some(libc.to_owned()),
            ("--tag", tag) if !tag.is_empty() => tag.clone_into(&mut options.default_tag),
            ("--lockfile-version", version) => {
                options.lockfile_version = Some(version.parse().with_context(|| argument.to_owned())?);
            }
            ("--omit-lockfile-registry-resolved", "") => options.omit_registry_resolved = true,
            _ => bail!("{argument} is not a flag that parity knows"),
        }
    }
    Ok(options)
}

fn milliseconds(time: &str) -> anyhow::Result<i64> {
    let time = humantime::parse_rfc3339(time).with_context(|| format!("--before={time}"))?;
    Ok(time.duration_since(std::time::UNIX_EPOCH)?.as_millis().try_into()?)
}
