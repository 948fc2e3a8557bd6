//! `node_modules/.package-lock.json`, by which npm knows what it installed: the lockfile's entries, without those that
//! are not on disk.

use serde_json::Value;

use crate::json;

/// The hidden lockfile of a lockfile, in that one's format. `named` says whether the project's name and version are in it,
/// which npm has only learnt if it read or wrote a lockfile; `installed` says of a location whether it is on disk. `None` for
/// a text that is no lockfile.
pub fn hidden_lockfile(lockfile: &str, named: bool, installed: impl Fn(&str) -> bool) -> Option<String> {
    let Ok(Value::Object(mut document)) = json::parse("package-lock.json", lockfile) else { return None };
    // It is pinned to version 3 and has neither an entry for the root nor the tree of older versions.
    document.insert("lockfileVersion".into(), 3.into());
    document.remove("dependencies");
    if !named {
        document.remove("name");
        document.remove("version");
    }
    let packages = document.get_mut("packages")?.as_object_mut()?;
    packages.retain(|location, _| !location.is_empty() && installed(location));
    Some(json::stringify_lockfile(&Value::Object(document), &json::format_of(lockfile)))
}

#[cfg(test)]
mod tests {
    use super::hidden_lockfile;

    #[test]
    fn it_has_what_is_installed_and_no_root() {
        let lockfile = "{\n\t\"name\": \"app\",\n\t\"lockfileVersion\": 2,\n\t\"requires\": true,\n\t\"packages\": {\n\t\t\
                        \"\": {},\n\t\t\"node_modules/a\": {\n\t\t\t\"version\": \"1.0.0\"\n\t\t},\n\t\t\
                        \"node_modules/b\": {}\n\t},\n\t\"dependencies\": {}\n}\n";
        let expected = "{\n\t\"name\": \"app\",\n\t\"lockfileVersion\": 3,\n\t\"requires\": true,\n\t\"packages\": {\n\t\t\
                        \"node_modules/a\": {\n\t\t\t\"version\": \"1.0.0\"\n\t\t}\n\t}\n}\n";
        assert_eq!(hidden_lockfile(lockfile, true, |location| location != "node_modules/b").as_deref(), Some(expected));
        assert_eq!(hidden_lockfile("[]", true, |_| true), None);
    }
}
