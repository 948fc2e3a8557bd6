//! The package.json of a package, as far as scripts are concerned.

use std::io;
use std::path::Path;

use serde_json::{Map, Value};

/// The install script of a package with a `binding.gyp` and no scripts of its own.
pub const DEFAULT_INSTALL_SCRIPT: &str = "node-gyp rebuild";

/// A package.json, as far as scripts are concerned.
#[derive(Clone, Debug, Default)]
pub struct ScriptPackage {
    manifest: Map<String, Value>,
}

impl ScriptPackage {
    /// Reads the package.json in a folder.
    pub fn read(folder: &Path) -> io::Result<Self> {
        let text = std::fs::read(folder.join("package.json"))?;
        let text = String::from_utf8_lossy(&text);
        let value = serde_json::from_str(text.trim_start_matches('\u{feff}'))?;
        Ok(Self::of(value))
    }

    /// Wraps a parsed manifest. Anything but an object counts as an empty one.
    pub fn of(manifest: Value) -> Self {
        let mut manifest = match manifest {
            Value::Object(manifest) => manifest,
            _ => Map::new(),
        };
        let name = manifest.get("name").and_then(Value::as_str).map(str::to_owned);
        if let Some(bin) = manifest.get_mut("bin") {
            *bin = espalier_core::normalized_bin(bin.take(), name.as_deref());
        }
        Self { manifest }
    }

    /// The command of a script, unless it is empty.
    pub fn script(&self, event: &str) -> Option<&str> {
        self.scripts().find(|&(name, _)| name == event).map(|(_, command)| command).filter(|text| !text.is_empty())
    }

    /// All scripts with their commands. Values that aren't text are skipped.
    pub fn scripts(&self) -> impl Iterator<Item = (&str, &str)> {
        let scripts = self.manifest.get("scripts").and_then(Value::as_object);
        scripts.into_iter().flatten().filter_map(|(name, command)| Some((name.as_str(), command.as_str()?)))
    }

    /// The package's name.
    pub fn name(&self) -> Option<&str> {
        self.text("name")
    }

    /// The package's version.
    pub fn version(&self) -> Option<&str> {
        self.text("version")
    }

    /// `name@version`, if it has both.
    pub fn id(&self) -> Option<String> {
        Some(format!("{}@{}", self.name()?, self.version()?))
    }

    /// The names of its commands, with their files.
    pub fn programs(&self) -> impl Iterator<Item = (&str, &str)> {
        let programs = self.manifest.get("bin").and_then(Value::as_object);
        programs.into_iter().flatten().filter_map(|(name, path)| Some((name.as_str(), path.as_str()?)))
    }

    /// A text field, unless it is empty.
    pub fn text(&self, field: &str) -> Option<&str> {
        self.manifest.get(field)?.as_str().filter(|text| !text.is_empty())
    }

    /// A field as it is.
    pub fn field(&self, field: &str) -> Option<&Value> {
        self.manifest.get(field)
    }

    /// The fields, in the file's order.
    pub fn fields(&self) -> &Map<String, Value> {
        &self.manifest
    }

    /// Whether `node-gyp` builds the package by default, because it has a `binding.gyp`
    /// (`@npmcli/node-gyp`).
    pub fn is_built_by_default(&self, folder: &Path) -> bool {
        self.script("install").is_none()
            && self.script("preinstall").is_none()
            && self.manifest.get("gypfile") != Some(&Value::Bool(false))
            && folder.join("binding.gyp").is_file()
    }

    /// The script for an event, including node-gyp's default.
    pub fn command(&self, event: &str, folder: &Path) -> Option<&str> {
        let default = || (event == "install" && self.is_built_by_default(folder)).then_some(DEFAULT_INSTALL_SCRIPT);
        self.script(event).or_else(default)
    }

    /// The variables `npm_package_*` (`package-envs.js`).
    pub fn variables(&self) -> Vec<(String, String)> {
        let mut variables = Vec::new();
        for field in ["name", "version", "config", "engines", "bin"] {
            if let Some(value) = self.manifest.get(field) {
                flatten(format!("npm_package_{field}"), value, &mut variables);
            }
        }
        variables
    }
}

fn flatten(name: String, value: &Value, variables: &mut Vec<(String, String)>) {
    match value {
        Value::Null | Value::Bool(false) => variables.push((name, String::new())),
        Value::Bool(true) => variables.push((name, "true".to_owned())),
        Value::Number(number) => variables.push((name, number.to_string())),
        Value::String(text) => variables.push((name, text.clone())),
        Value::Array(items) => {
            for (index, item) in items.iter().enumerate() {
                flatten(format!("{name}_{index}"), item, variables);
            }
        }
        Value::Object(fields) => {
            for (field, value) in fields {
                flatten(format!("{name}_{field}"), value, variables);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::ScriptPackage;

    #[test]
    fn nested_fields_become_variables() {
        let package = ScriptPackage::of(json!({
            "name": "r", "version": "1.2.3", "bin": "./b.js", "engines": {"node": ">=1"},
            "config": {"port": 80, "x": {"y": [1, null]}, "off": false}, "license": "MIT"
        }));
        let expected = [
            ("npm_package_name", "r"),
            ("npm_package_version", "1.2.3"),
            ("npm_package_config_port", "80"),
            ("npm_package_config_x_y_0", "1"),
            ("npm_package_config_x_y_1", ""),
            ("npm_package_config_off", ""),
            ("npm_package_engines_node", ">=1"),
            ("npm_package_bin_r", "b.js"),
        ];
        let expected = expected.map(|(name, value)| (name.to_owned(), value.to_owned()));
        assert_eq!(package.variables(), expected);
    }

    #[test]
    fn a_binding_is_built_unless_a_script_or_gypfile_says_otherwise() {
        let folder = tempfile::tempdir().expect("a folder");
        std::fs::write(folder.path().join("binding.gyp"), "").expect("written");
        let command = |manifest| ScriptPackage::of(manifest).command("install", folder.path()).map(str::to_owned);
        assert_eq!(command(json!({})).as_deref(), Some("node-gyp rebuild"));
        assert_eq!(command(json!({"gypfile": false})), None);
        assert_eq!(command(json!({"scripts": {"preinstall": "x"}})), None);
        assert_eq!(command(json!({"scripts": {"install": "make"}})).as_deref(), Some("make"));
    }
}
