//! The sources of npm's settings and their order.
//!
//! The order matters beyond precedence: the project's file can name the user's file, and the user's
//! file can name the machine's. A missing file has no settings. An unreadable file is an error,
//! because a token could be in it.

use std::io;
use std::path::{Path, PathBuf};

use espalier_package::npmrc::{Value, expand, ini};
use indexmap::IndexMap;

use super::{Config, ConfigError, Environment, Layer, Origin};

impl Config {
    /// Reads the settings of the project in `directory`. `flags` are the settings from the command
    /// line, under npm's names.
    pub fn load(
        directory: &Path,
        flags: IndexMap<String, Value>,
        environment: &Environment,
    ) -> Result<Self, ConfigError> {
        let command_line = Layer { origin: Origin::CommandLine, settings: flags, expanded: false };
        let mut config = Self { layers: vec![command_line, from_variables(environment)] };

        let project_file = directory.join(".npmrc");
        // In the user's own folder, both are the same file, and it counts as the user's.
        if config.user_file(environment).as_ref() != Some(&project_file) {
            config.read(Origin::Project(project_file), environment)?;
        }
        if let Some(path) = config.user_file(environment) {
            config.read(Origin::User(path), environment)?;
        }
        if let Some(path) = config.global_file(environment) {
            config.read(Origin::Global(path), environment)?;
        }
        Ok(config)
    }

    fn read(&mut self, origin: Origin, environment: &Environment) -> Result<(), ConfigError> {
        let (Origin::Project(path) | Origin::User(path) | Origin::Global(path)) = &origin else { return Ok(()) };
        let text = match std::fs::read(path) {
            Ok(bytes) => String::from_utf8_lossy(&bytes).into_owned(),
            Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
                return Ok(());
            }
            Err(source) => return Err(ConfigError::Unreadable { path: path.clone(), source }),
        };
        let mut layer = Layer { origin, settings: IndexMap::new(), expanded: false };
        for (key, value) in ini::parse(&text) {
            layer.insert(&key, value, environment);
        }
        self.layers.push(layer);
        Ok(())
    }

    /// A setting that is a path. `~/` is the user's folder.
    pub fn path(&self, key: &str, environment: &Environment) -> Option<PathBuf> {
        let text = self.text(key)?;
        let in_home = text.strip_prefix("~/").and_then(|rest| Some(environment.home.as_ref()?.join(rest)));
        in_home.or_else(|| std::path::absolute(&text).ok())
    }

    /// The user's file, which may not exist.
    pub fn user_file(&self, environment: &Environment) -> Option<PathBuf> {
        self.path("userconfig", environment).or_else(|| Some(environment.home.as_ref()?.join(".npmrc")))
    }

    /// The machine's file: `etc/npmrc` in npm's global folder.
    pub fn global_file(&self, environment: &Environment) -> Option<PathBuf> {
        let in_prefix = || Some(self.global_prefix(environment)?.join("etc").join("npmrc"));
        self.path("globalconfig", environment).or_else(in_prefix)
    }

    /// npm's global folder, which is two levels above the `node` in use (one on Windows).
    pub fn global_prefix(&self, environment: &Environment) -> Option<PathBuf> {
        let above_node = || {
            let folder = environment.node.as_ref()?.parent()?;
            if cfg!(windows) { Some(folder.to_owned()) } else { folder.parent().map(Path::to_owned) }
        };
        let variable = || environment.variable("PREFIX").map(PathBuf::from);
        self.path("prefix", environment).or_else(variable).or_else(above_node)
    }
}

impl Layer {
    fn insert(&mut self, key: &str, value: Value, environment: &Environment) {
        let mut expand = |text: &str| {
            let (text, expanded) = expand(text, |name| environment.variable(name));
            self.expanded |= expanded;
            text
        };
        let key = expand(key);
        let value = match value {
            Value::Text(text) => Value::Text(expand(&text)),
            Value::List(items) => Value::List(items.iter().map(|item| expand(item)).collect()),
            other => other,
        };
        self.settings.insert(key, value);
    }
}

/// Reads `npm_config_*` in upper or lower case. Variables come in alphabetical order, so the lower
/// case wins. The key of a single registry (`npm_config_//registry.test/:_authToken`) stays as it
/// is.
fn from_variables(environment: &Environment) -> Layer {
    let mut layer = Layer { origin: Origin::Environment, settings: IndexMap::new(), expanded: false };
    for (name, value) in environment.variables() {
        let prefix = "npm_config_";
        let Some(key) = name.get(prefix.len()..).filter(|_| name[..prefix.len()].eq_ignore_ascii_case(prefix)) else {
            continue;
        };
        if key.is_empty() || value.is_empty() {
            continue;
        }
        let key = if key.starts_with("//") { key.to_owned() } else { normalise(key) };
        let value = match value {
            "true" => Value::Flag(true),
            "false" => Value::Flag(false),
            "null" => Value::Null,
            text => Value::Text(text.trim().to_owned()),
        };
        layer.insert(&key, value, environment);
    }
    // Environment variables belong to the user. Only variables that a file expands deserve a
    // warning.
    layer.expanded = false;
    layer
}

/// `STRICT_SSL` becomes `strict-ssl`. A leading underscore stays (`_authToken`).
fn normalise(key: &str) -> String {
    let (first, rest) = key.split_at(key.chars().next().map_or(0, char::len_utf8));
    format!("{first}{}", rest.replace('_', "-")).to_lowercase()
}
