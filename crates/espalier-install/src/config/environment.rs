//! What the configuration knows about the current process.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// A snapshot of the process's environment. A test can make its own.
#[derive(Clone, Debug, Default)]
pub struct Environment {
    variables: BTreeMap<String, String>,
    /// The user's folder, which holds `.npmrc`.
    pub home: Option<PathBuf>,
    /// The first `node` on the `PATH`, with links resolved. npm's global folder is beside it.
    pub node: Option<PathBuf>,
}

impl Environment {
    /// The environment of this process.
    pub fn of_process() -> Self {
        // A variable that isn't Unicode can't be one of npm's settings.
        let variables = std::env::vars_os()
            .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
            .collect();
        Self { variables, home: etcetera::home_dir().ok(), node: crate::host::node_on_path().map(Path::to_owned) }
    }

    /// An environment with these variables only.
    pub fn of_variables<const N: usize>(variables: [(&str, &str); N]) -> Self {
        let variables = variables.map(|(name, value)| (name.to_owned(), value.to_owned())).into();
        Self { variables, home: None, node: None }
    }

    /// The value of the variable with exactly this name.
    pub fn variable(&self, name: &str) -> Option<&str> {
        self.variables.get(name).map(String::as_str)
    }

    /// The value of a variable that can be in lower or upper case, such as those for proxies. An
    /// empty value counts as none.
    pub fn variable_in_either_case(&self, name: &str) -> Option<&str> {
        let lower = self.variable(&name.to_ascii_lowercase());
        lower.or_else(|| self.variable(&name.to_ascii_uppercase())).filter(|value| !value.is_empty())
    }

    /// All variables, by name.
    pub fn variables(&self) -> impl Iterator<Item = (&str, &str)> {
        self.variables.iter().map(|(name, value)| (name.as_str(), value.as_str()))
    }
}
