//! The environment of a script: npm's variables and its `PATH` (`set-envs.js` of `@npmcli/config`,
//! `set-path.js` and `make-spawn-args.js` of `@npmcli/run-script`).
//!
//! A script also inherits the environment of this process.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use super::package::ScriptPackage;
use crate::config::{Config, Environment, Origin, Value, definitions};
use crate::host;

/// Names the projects that are locked while a script runs, in the format of `PATH`.
const PROJECTS_ABOVE: &str = "ESPALIER_PROJECTS_ABOVE";

/// The projects whose installations run this process in a script.
pub fn projects_above(environment: &Environment) -> Vec<PathBuf> {
    environment.variable(PROJECTS_ABOVE).map(|list| std::env::split_paths(list).collect()).unwrap_or_default()
}

/// The variables that all scripts of a command share.
#[derive(Clone, Debug, Default)]
pub struct ScriptEnvironment {
    variables: Vec<(OsString, OsString)>,
    /// npm's folder that holds the command `node-gyp`.
    node_gyp_bin: Option<PathBuf>,
    path: OsString,
    /// `script-shell`, if it is set.
    pub shell: Option<String>,
}

/// The inputs of the shared variables.
#[derive(Clone, Copy, Debug)]
pub struct Surroundings<'a> {
    /// The settings in force.
    pub config: &'a Config,
    /// The environment of this process.
    pub environment: &'a Environment,
    /// The project's folder, which is npm's local prefix.
    pub project: &'a Path,
    /// npm's name of the command that runs scripts: `run`, `test`, `install`.
    pub command: &'a str,
    /// The version of Node, if it is known.
    pub node_version: Option<&'a str>,
    /// Whether the command concerns workspaces.
    pub workspaces: bool,
}

impl ScriptEnvironment {
    /// The variables for the scripts of a command.
    pub fn new(surroundings: &Surroundings<'_>) -> Self {
        let Surroundings { config, environment, project, command, .. } = surroundings;
        let npm = environment.node.as_deref().and_then(npm_beside);
        let node_gyp = environment
            .variable("npm_config_node_gyp")
            .map(PathBuf::from)
            .or_else(|| config.text("node-gyp").map(PathBuf::from))
            .or_else(|| {
                Some(npm.as_ref()?.join("node_modules/node-gyp/bin/node-gyp.js")).filter(|path| path.is_file())
            });
        let mut variables = settings(config);
        let mut set = |name: &str, value: OsString| variables.push((name.into(), value));
        set("npm_command", command.into());
        set("npm_config_user_agent", user_agent(surroundings).into());
        set("npm_config_npm_version", espalier_core::options::NPM_VERSION.into());
        set("npm_config_local_prefix", project.into());
        set("npm_config_noproxy", config.list("noproxy").join(",").into());
        if let Some(prefix) = config.global_prefix(environment) {
            set("npm_config_global_prefix", prefix.clone().into());
            set("npm_config_prefix", prefix.into());
        }
        for (name, path) in [
            ("npm_config_userconfig", config.user_file(environment)),
            ("npm_config_globalconfig", config.global_file(environment)),
            (
                "npm_config_cache",
                config.path("cache", environment).or_else(|| Some(environment.home.as_ref()?.join(".npm"))),
            ),
            ("npm_config_node_gyp", node_gyp),
            ("npm_execpath", std::env::current_exe().ok()),
            ("npm_node_execpath", environment.node.clone()),
            ("NODE", environment.node.clone()),
            ("INIT_CWD", std::env::current_dir().ok()),
        ] {
            if let Some(path) = path {
                set(name, path.into());
            }
        }
        if let Some(options) = config.text("node-options") {
            set("NODE_OPTIONS", options.into());
        }
        set("EDITOR", editor(config, environment).into());
        Self {
            variables,
            node_gyp_bin: npm
                .map(|npm| npm.join("node_modules/@npmcli/run-script/lib/node-gyp-bin"))
                .filter(|folder| folder.is_dir()),
            path: std::env::var_os("PATH").unwrap_or_default(),
            shell: config.text("script-shell").filter(|shell| !shell.is_empty()),
        }
    }

    /// The environment of scripts that run while a project is locked, and those above it.
    #[must_use]
    pub fn below(&self, project: &Path, above: &[PathBuf]) -> Self {
        let projects = above.iter().map(PathBuf::as_path).chain([project]);
        let mut environment = self.clone();
        // If a path contains the separator, an installation below waits in vain and then fails.
        environment.variables.extend(std::env::join_paths(projects).map(|list| (PROJECTS_ABOVE.into(), list)));
        environment
    }

    /// The variables for one event of a package. `programs` are folders that precede the rest of
    /// `PATH`; `extra` are variables of this run only.
    pub fn of_event(
        &self,
        package: &ScriptPackage,
        folder: &Path,
        event: &str,
        script: &str,
        programs: &[PathBuf],
        extra: &[(String, String)],
    ) -> Vec<(OsString, OsString)> {
        let mut variables = self.variables.clone();
        let packages = package.variables();
        let texts = extra.iter().chain(&packages).map(|(name, value)| (OsString::from(name), OsString::from(value)));
        variables.extend(texts);
        variables.extend([
            ("npm_package_json".into(), folder.join("package.json").into()),
            ("npm_lifecycle_event".into(), event.into()),
            ("npm_lifecycle_script".into(), script.into()),
            ("PATH".into(), self.path_of(folder, programs)),
        ]);
        variables
    }

    /// `PATH`: the commands of every `node_modules` upwards, then the user's `PATH`.
    fn path_of(&self, folder: &Path, programs: &[PathBuf]) -> OsString {
        let installed = folder.ancestors().map(|folder| folder.join("node_modules").join(".bin"));
        let users = std::env::split_paths(&self.path);
        let all = programs.iter().cloned().chain(installed).chain(self.node_gyp_bin.clone()).chain(users);
        // A folder whose name contains the separator can't be in `PATH`, so it is left out.
        let fitting = all.filter(|folder| std::env::join_paths([folder]).is_ok());
        std::env::join_paths(fitting).unwrap_or_else(|_| self.path.clone())
    }
}

/// Settings that differ from npm's defaults, as `npm_config_*`. Variables that are already set stay
/// as they are.
fn settings(config: &Config) -> Vec<(OsString, OsString)> {
    let mut variables: Vec<(OsString, OsString)> = Vec::new();
    let mut seen = Vec::new();
    for key in config.keys().filter(|key| definitions::is_exported(key)) {
        if seen.contains(&key) {
            continue;
        }
        seen.push(key);
        let Some((value, origin)) = config.find(key) else { continue };
        let is_default = definitions::default(key).as_ref() == Some(value);
        let of_environment = config.value_of(&Origin::Environment, key);
        let wanted = if is_default {
            of_environment.is_some_and(|given| given != value)
        } else {
            of_environment.is_none() || *origin == Origin::CommandLine
        };
        if wanted {
            variables.push((format!("npm_config_{}", key.replace('-', "_").to_lowercase()).into(), text(value).into()));
        }
    }
    variables
}

fn text(value: &Value) -> String {
    match value {
        Value::Text(text) => text.clone(),
        Value::Flag(true) => "true".to_owned(),
        Value::Flag(false) | Value::Null => String::new(),
        Value::List(items) => items.join("\n\n"),
    }
}

/// npm comes first in it, because some packages refuse other tools by looking at that.
fn user_agent(surroundings: &Surroundings<'_>) -> String {
    let Surroundings { config, environment, node_version, workspaces, .. } = surroundings;
    if let Some(agent) = config.text("user-agent") {
        return agent;
    }
    let platform = host::platform(None);
    let npm = espalier_core::options::NPM_VERSION;
    let node = node_version.map(|version| format!(" node/v{version}")).unwrap_or_default();
    let service = continuous_integration(environment).map(|name| format!(" ci/{name}")).unwrap_or_default();
    format!(
        "npm/{npm} espalier/{}{node} {} {} workspaces/{workspaces}{service}",
        env!("CARGO_PKG_VERSION"),
        platform.os,
        platform.cpu
    )
}

/// The most common CI services, by npm's names for them.
fn continuous_integration(environment: &Environment) -> Option<&'static str> {
    const SERVICES: [(&str, &str); 6] = [
        ("GITHUB_ACTIONS", "github-actions"),
        ("GITLAB_CI", "gitlab-ci"),
        ("CIRCLECI", "circleci"),
        ("TRAVIS", "travis-ci"),
        ("JENKINS_URL", "jenkins"),
        ("BUILDKITE", "buildkite"),
    ];
    SERVICES.into_iter().find(|(variable, _)| environment.variable(variable).is_some()).map(|(_, name)| name)
}

fn editor(config: &Config, environment: &Environment) -> String {
    let variable = |name| environment.variable(name).filter(|value| !value.is_empty()).map(str::to_owned);
    let default = if cfg!(windows) { "notepad.exe" } else { "vi" };
    config
        .text("editor")
        .or_else(|| variable("EDITOR"))
        .or_else(|| variable("VISUAL"))
        .unwrap_or_else(|| default.into())
}

/// The npm that belongs to a Node. Its node-gyp builds native packages.
fn npm_beside(node: &Path) -> Option<PathBuf> {
    let folder = node.parent()?;
    let modules = if cfg!(windows) { folder.join("node_modules") } else { folder.parent()?.join("lib/node_modules") };
    Some(modules.join("npm")).filter(|npm| npm.is_dir())
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use indexmap::IndexMap;

    use super::{ScriptEnvironment, Surroundings, projects_above};
    use crate::config::{Config, Environment, Value};
    use crate::scripts::package::ScriptPackage;

    fn variables(project: &Path, flags: &[(&str, Value)], environment: &Environment) -> Vec<(String, String)> {
        let flags: IndexMap<_, _> = flags.iter().map(|(key, value)| ((*key).to_owned(), value.clone())).collect();
        let config = Config::load(project, flags, environment).expect("settings");
        let surroundings = Surroundings {
            config: &config,
            environment,
            project,
            command: "run",
            node_version: Some("22.14.0"),
            workspaces: false,
        };
        let package = ScriptPackage::of(serde_json::json!({"name": "a", "version": "1.0.0"}));
        let all = ScriptEnvironment::new(&surroundings).of_event(&package, project, "test", "jest", &[], &[]);
        all.into_iter()
            .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
            .collect()
    }

    fn get<'a>(variables: &'a [(String, String)], name: &str) -> Option<&'a str> {
        variables.iter().rev().find(|(key, _)| key == name).map(|(_, value)| value.as_str())
    }

    #[test]
    fn settings_that_are_not_defaults_are_handed_on() {
        let project = tempfile::tempdir().expect("a folder");
        let npmrc = "fund=false\naudit=true\nfoo=bar\n//registry.test/:_authToken=s3cret\n@s:registry=http://registry.test/\n_auth=x";
        std::fs::write(project.path().join(".npmrc"), npmrc).expect("written");
        let environment = Environment::of_variables([("npm_config_loglevel", "warn")]);
        let variables = variables(project.path(), &[("save-prefix", Value::Text("~".into()))], &environment);
        assert_eq!(get(&variables, "npm_config_fund"), Some(""));
        assert_eq!(get(&variables, "npm_config_foo"), Some("bar"));
        assert_eq!(get(&variables, "npm_config_save_prefix"), Some("~"));
        assert_eq!(get(&variables, "npm_config_audit"), None);
        assert_eq!(get(&variables, "npm_config_loglevel"), None, "the environment has it already");
        let names: Vec<_> = variables.iter().map(|(name, _)| name.as_str()).collect();
        assert!(!names.iter().any(|name| name.contains("auth") || name.contains("registry")), "{names:?}");
    }

    #[test]
    fn a_script_knows_the_projects_that_are_locked() {
        let (outer, inner) = (Path::new("/srv/app"), Path::new("/srv/app/tool"));
        let environment = ScriptEnvironment::default().below(outer, &[]).below(inner, &[outer.to_owned()]);
        let all = environment.of_event(&ScriptPackage::default(), inner, "install", "x", &[], &[]);
        let (name, value) = all.iter().rev().find(|(name, _)| name == super::PROJECTS_ABOVE).expect("the variable");
        let (name, value) = (name.to_str().expect("text"), value.to_str().expect("text"));
        assert_eq!(projects_above(&Environment::of_variables([(name, value)])), [outer, inner]);
    }

    #[test]
    fn an_event_finds_itself_and_the_programs_around_it() {
        let project = Path::new("/srv/app");
        let variables = variables(project, &[], &Environment::of_variables([]));
        assert_eq!(get(&variables, "npm_lifecycle_event"), Some("test"));
        assert_eq!(get(&variables, "npm_lifecycle_script"), Some("jest"));
        assert_eq!(get(&variables, "npm_package_json"), Some("/srv/app/package.json"));
        assert_eq!(get(&variables, "npm_package_name"), Some("a"));
        assert_eq!(get(&variables, "npm_config_local_prefix"), Some("/srv/app"));
        let path = get(&variables, "PATH").expect("a PATH");
        assert!(path.starts_with("/srv/app/node_modules/.bin:/srv/node_modules/.bin:/node_modules/.bin:"), "{path}");
        let agent = get(&variables, "npm_config_user_agent").expect("an agent");
        assert!(agent.starts_with("npm/12.2.0 espalier/"), "{agent}");
        assert!(agent.contains(" node/v22.14.0 "), "{agent}");
        assert!(agent.ends_with("workspaces/false"), "{agent}");
    }
}
