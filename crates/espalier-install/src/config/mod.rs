//! npm's configuration: the settings in force and their origins.
//!
//! Settings come from five places, and the nearest one wins: the command line, `npm_config_*` in
//! the environment, and the `.npmrc` files of the project, the user and the machine. This module
//! finds and merges them under npm's names. [`settings`] interprets them, and [`registries`]
//! decides which registry a package comes from. npm's builtin file is ignored, because it belongs
//! to one installation of npm.

pub mod definitions;
mod discovery;
pub mod edit;
mod environment;
mod error;
pub mod identities;
pub mod pem;
mod presets;
pub mod registries;
pub mod settings;
pub mod table;

use std::fmt;
use std::path::PathBuf;

use indexmap::IndexMap;

pub use environment::Environment;
pub use error::ConfigError;
pub use espalier_package::npmrc::{Value, ini};

/// The origin of a setting.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Origin {
    /// An option.
    CommandLine,
    /// A variable `npm_config_…`.
    Environment,
    /// The `.npmrc` beside package.json.
    Project(PathBuf),
    /// The user's file.
    User(PathBuf),
    /// The machine's file.
    Global(PathBuf),
}

impl fmt::Display for Origin {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::CommandLine => formatter.write_str("the command line"),
            Self::Environment => formatter.write_str("the environment"),
            Self::Project(path) | Self::User(path) | Self::Global(path) => write!(formatter, "{}", path.display()),
        }
    }
}

impl Origin {
    fn is_file(&self) -> bool {
        matches!(self, Self::Project(_) | Self::User(_) | Self::Global(_))
    }
}

/// The settings of one place.
#[derive(Clone, Debug)]
struct Layer {
    origin: Origin,
    settings: IndexMap<String, Value>,
    /// Whether an environment variable was expanded in one of the values.
    expanded: bool,
}

/// All settings, the nearest place first.
#[derive(Clone, Debug)]
pub struct Config {
    layers: Vec<Layer>,
}

impl Config {
    /// The current value of a setting, and its origin.
    pub fn find(&self, key: &str) -> Option<(&Value, &Origin)> {
        self.layers.iter().find_map(|layer| Some((layer.settings.get(key)?, &layer.origin)))
    }

    /// The origin of a setting. `None` if it has npm's default.
    pub fn origin(&self, key: &str) -> Option<&Origin> {
        self.find(key).map(|(_, origin)| origin)
    }

    /// Whether a setting comes from the command line.
    pub fn is_option(&self, key: &str) -> bool {
        self.origin(key) == Some(&Origin::CommandLine)
    }

    /// Every place with settings, the nearest first.
    pub fn origins(&self) -> impl Iterator<Item = &Origin> {
        self.layers.iter().map(|layer| &layer.origin)
    }

    /// The value of a key in one place.
    pub fn value_of(&self, origin: &Origin, key: &str) -> Option<&Value> {
        self.layers.iter().filter(|layer| layer.origin == *origin).find_map(|layer| layer.settings.get(key))
    }

    /// The text of a setting. `null` restores npm's default.
    pub fn text(&self, key: &str) -> Option<String> {
        match self.find(key)?.0 {
            Value::Text(text) => Some(text.clone()),
            Value::Flag(flag) => Some(flag.to_string()),
            Value::Null => None,
            Value::List(items) => items.last().cloned(),
        }
    }

    /// The values of a setting that can occur more than once. A single value is split at commas, as
    /// npm does for `noproxy`.
    pub fn list(&self, key: &str) -> Vec<String> {
        let items = match self.find(key) {
            Some((Value::List(items), _)) => items.clone(),
            _ => self.text(key).into_iter().collect(),
        };
        items.iter().flat_map(|item| item.split(',')).map(|item| item.trim().to_owned()).collect()
    }

    /// The value of a switch. As in npm, every text is true except `false`, `null` and the number
    /// zero.
    pub fn flag(&self, key: &str, default: bool) -> bool {
        match self.find(key) {
            None => default,
            Some((Value::Flag(flag), _)) => *flag,
            Some((Value::Null, _)) => false,
            Some((Value::Text(text), _)) => match text.trim() {
                "false" | "null" => false,
                text => text.parse::<f64>() != Ok(0.0),
            },
            Some((Value::List(_), _)) => true,
        }
    }

    /// The value of a setting that is a non-negative number.
    pub fn number(&self, key: &str) -> Result<Option<u64>, ConfigError> {
        let Some(text) = self.text(key) else { return Ok(None) };
        let number = text.trim().parse().map_err(|_| self.invalid(key, "a whole number"))?;
        Ok(Some(number))
    }

    /// The value of a setting that is a number of any kind. `None` for anything else.
    pub fn amount(&self, key: &str) -> Option<f64> {
        self.text(key)?.trim().parse().ok()
    }

    /// The error for an unacceptable value.
    fn invalid(&self, key: &str, expected: &'static str) -> ConfigError {
        ConfigError::Invalid {
            key: key.to_owned(),
            value: self.text(key).unwrap_or_default(),
            expected,
            origin: self.find(key).map_or(Origin::CommandLine, |(_, origin)| origin.clone()),
        }
    }

    /// Every key that is set anywhere, the nearest place first. A key can occur more than once.
    pub fn keys(&self) -> impl Iterator<Item = &str> {
        self.layers.iter().flat_map(|layer| layer.settings.keys().map(String::as_str))
    }
}

#[cfg(test)]
mod tests;
