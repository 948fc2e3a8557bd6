//! The commands of a manifest: `bin` as npm reads it (`normalizePackageBin`). Names are base names,
//! and paths stay inside of the package, whatever a lockfile says.

use serde_json::Value;

/// The commands of a `bin` field, with their files.
pub fn commands(bin: &Value, package_name: &str) -> Vec<(String, String)> {
    match bin {
        Value::String(file) => secured([(package_name, file.as_str())]),
        Value::Array(files) => secured(files.iter().filter_map(Value::as_str).map(|file| (file, file))),
        Value::Object(bins) => {
            secured(bins.iter().map(|(name, file)| (name.as_str(), file.as_str().unwrap_or_default())))
        }
        _ => Vec::new(),
    }
}

/// The same for names and files as they were written.
pub fn secured<'a>(bins: impl IntoIterator<Item = (&'a str, &'a str)>) -> Vec<(String, String)> {
    let mut commands: Vec<(String, String)> = Vec::new();
    for (name, file) in bins {
        let name = name.replace(['\\', ':'], "/");
        let name = name.trim_end_matches('/').rsplit('/').next().unwrap_or_default().to_owned();
        let file = inside(&file.replace('\\', "/"));
        if matches!(name.as_str(), "" | "." | "..") || file.is_empty() || name.contains('\0') || file.contains('\0') {
            continue;
        }
        match commands.iter_mut().find(|(other, _)| *other == name) {
            Some(command) => command.1 = file,
            None => commands.push((name, file)),
        }
    }
    commands
}

/// The path as `path.join('/', path)` makes it, without the leading slash.
pub fn inside(path: &str) -> String {
    let mut steps = Vec::new();
    for step in path.split('/') {
        match step {
            "" | "." => {}
            ".." => {
                steps.pop();
            }
            step => steps.push(step),
        }
    }
    steps.join("/")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::commands;

    fn pairs(bins: &[(&str, &str)]) -> Vec<(String, String)> {
        bins.iter().map(|(name, file)| ((*name).to_owned(), (*file).to_owned())).collect()
    }

    #[test]
    fn a_command_alone_has_the_packages_base_name() {
        assert_eq!(commands(&json!("./cli.js"), "@scope/tool"), pairs(&[("tool", "cli.js")]));
    }

    #[test]
    fn names_and_paths_stay_where_they_belong() {
        let bin =
            json!({ "../../../usr/bin/ls": "../../../etc/passwd", "C:\\x\\y": "a\\..\\b.js", "..": "x", ".": "y" });
        assert_eq!(commands(&bin, "a"), pairs(&[("ls", "etc/passwd"), ("y", "b.js")]));
    }

    #[test]
    fn what_is_no_command_is_none() {
        assert_eq!(commands(&json!({ "a": 1, "b": "", "": "x" }), "a"), pairs(&[]));
        assert_eq!(commands(&json!(false), "a"), pairs(&[]));
        assert_eq!(commands(&json!(["./bin/a.js"]), "x"), pairs(&[("a.js", "bin/a.js")]));
    }
}
