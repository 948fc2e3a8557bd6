//! What configuration may know of the process that it runs in.

use std::collections::BTreeMap;
use std::path::PathBuf;

/// The surroundings, taken once, so that a test can give its own.
#[derive(Clone, Debug, Default)]
pub struct Environment {
    variables: BTreeMap<String, String>,
    /// The user's folder, which holds `.npmrc`.
    pub home: Option<PathBuf>,
    /// The `node` that is found first on the `PATH`, links resolved. npm's global folder lies beside it.
    pub node: Option<PathBuf>,
}

impl Environment {
    /// This process's own.
    pub fn of_process() -> Self {
        // A variable that isn't Unicode can't be a setting that npm would understand.
        let variables = std::env::vars_os()
            .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
            .collect();
        Self { variables, home: etcetera::home_dir().ok(), node: crate::host::find_on_path("node") }
    }

    /// With these variables and nothing else.
    pub fn of_variables<const N: usize>(variables: [(&str, &str); N]) -> Self {
        let variables = variables.map(|(name, value)| (name.to_owned(), value.to_owned())).into();
        Self { variables, home: None, node: None }
    }

    /// A variable by its exact name.
    pub fn variable(&self, name: &str) -> Option<&str> {
        self.variables.get(name).map(String::as_str)
    }

    /// A variable that is written in lower or in upper case, as those for proxies are; an empty one is none.
    pub fn variable_in_either_case(&self, name: &str) -> Option<&str> {
        let lower = self.variable(&name.to_ascii_lowercase());
        lower.or_else(|| self.variable(&name.to_ascii_uppercase())).filter(|value| !value.is_empty())
    }

    /// All variables by name.
    pub fn variables(&self) -> impl Iterator<Item = (&str, &str)> {
        self.variables.iter().map(|(name, value)| (name.as_str(), value.as_str()))
    }
}
