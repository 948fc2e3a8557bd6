//! `devEngines` of the project: the tools that its developers must use
//! (`npm-install-checks/lib/dev-engines.js`, `lib/base-cmd.js`).
//!
//! The version of the operating system isn't known, so it counts as suitable.

use serde_json::{Map, Value};

use crate::options::Options;
use crate::semver::{Range, satisfies};

const ENGINES: [&str; 5] = ["packageManager", "runtime", "cpu", "libc", "os"];
const PROPERTIES: [&str; 3] = ["name", "version", "onFail"];
const ON_FAIL: [&str; 4] = ["ignore", "warn", "error", "download"];

/// An unsuitable tool.
#[derive(Debug, PartialEq, Eq)]
pub struct Unsuitable {
    /// One sentence.
    pub message: String,
    /// Whether the project makes it an error. Otherwise it is a warning.
    pub is_error: bool,
}

/// The current tools.
struct Current<'a> {
    name: Option<&'a str>,
    version: Option<&'a str>,
}

/// The unsuitable tools of a project's `devEngines`. The error says why `devEngines` can't be read.
pub fn check(wanted: &Value, options: &Options) -> Result<Vec<Unsuitable>, String> {
    let wanted = wanted.as_object().ok_or("devEngines in package.json must be an object")?;
    let mut unsuitable = Vec::new();
    for (engine, wanted) in wanted {
        if !ENGINES.contains(&engine.as_str()) {
            return Err(format!("npm does not know devEngines.{engine} in package.json"));
        }
        let alternatives = wanted.as_array().map_or(std::slice::from_ref(wanted), Vec::as_slice);
        let current = current(engine, options);
        let mut reasons = Vec::new();
        for alternative in alternatives {
            let alternative = alternative.as_object();
            let alternative = alternative.ok_or_else(|| format!("devEngines.{engine} must be an object"))?;
            reasons.extend(compare(engine, alternative, &current)?);
        }
        let Some(last) = alternatives.last().filter(|_| reasons.len() == alternatives.len()) else { continue };
        let on_fail = last.get("onFail").and_then(Value::as_str).unwrap_or("error");
        if on_fail != "ignore" {
            let message = format!("devEngines.{engine} of package.json: {}", reasons.join("; "));
            unsuitable.push(Unsuitable { message, is_error: on_fail != "warn" });
        }
    }
    Ok(unsuitable)
}

fn current<'a>(engine: &str, options: &'a Options) -> Current<'a> {
    let platform = options.host.as_ref().unwrap_or(&options.platform);
    let (name, version) = match engine {
        "packageManager" => (Some("npm"), Some(options.npm_version.as_str())),
        "runtime" => (Some("node"), Some(options.node_version.as_str())),
        "cpu" => (Some(platform.cpu.as_str()), None),
        "libc" => (platform.libc.as_deref(), None),
        _ => (Some(platform.os.as_str()), None),
    };
    Current { name, version }
}

/// Why a tool is unsuitable, if it is.
fn compare(engine: &str, wanted: &Map<String, Value>, current: &Current<'_>) -> Result<Option<String>, String> {
    if let Some(other) = wanted.keys().find(|key| !PROPERTIES.contains(&key.as_str())) {
        return Err(format!("\"{other}\" says nothing about devEngines.{engine}"));
    }
    let text = |key: &str| match wanted.get(key) {
        None => Ok(None),
        Some(Value::String(text)) => Ok(Some(text.as_str())),
        Some(_) => Err(format!("\"{key}\" of devEngines.{engine} has to be a text")),
    };
    let name = text("name")?.ok_or_else(|| format!("devEngines.{engine} needs a \"name\""))?;
    let here = current.name.ok_or_else(|| format!("the {engine} is unknown"))?;
    if let Some(on_fail) = text("onFail")?.filter(|on_fail| !ON_FAIL.contains(on_fail)) {
        return Err(format!("\"{on_fail}\" is nothing that can happen when devEngines.{engine} doesn't suit"));
    }
    if name != here {
        return Ok(Some(format!("\"{name}\" is required, but this is \"{here}\"")));
    }
    let Some((wanted, here)) = text("version")?.zip(current.version) else { return Ok(None) };
    let suits = if Range::parse(wanted).is_some() { satisfies(here, wanted, false) } else { wanted == here };
    Ok((!suits).then(|| format!("{name} {wanted} is required, but this is {here}")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn messages(wanted: &Value) -> Result<Vec<(String, bool)>, String> {
        let options = Options { node_version: "20.20.2".into(), ..Options::default() };
        Ok(check(wanted, &options)?.into_iter().map(|found| (found.message, found.is_error)).collect())
    }

    #[test]
    fn what_suits_is_no_matter_of_concern() {
        let wanted = json!({ "runtime": [{ "name": "deno" }, { "name": "node", "version": ">=18" }], "os": [] });
        assert_eq!(messages(&wanted), Ok(Vec::new()));
    }

    #[test]
    fn what_does_not_is_an_error_unless_the_project_says_otherwise() {
        let wanted = json!({ "runtime": { "name": "node", "version": ">=900" }, "packageManager": { "name": "yarn", "onFail": "warn" } });
        let expected = [
            ("devEngines.runtime of package.json: node >=900 is required, but this is 20.20.2", true),
            ("devEngines.packageManager of package.json: \"yarn\" is required, but this is \"npm\"", false),
        ];
        assert_eq!(messages(&wanted), Ok(expected.map(|(message, error)| (message.to_owned(), error)).to_vec()));
    }

    #[test]
    fn what_cannot_be_read_is_said() {
        for wanted in
            [json!([]), json!({ "shell": {} }), json!({ "cpu": {} }), json!({ "os": { "name": "linux", "why": "" } })]
        {
            assert!(messages(&wanted).is_err(), "{wanted}");
        }
    }
}
