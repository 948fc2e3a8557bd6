//! Whether a lockfile and a package.json belong together, which `ci` insists on (`validate-lockfile.js`).

use serde_json::{Map, Value};

use crate::entry::{self, flag, text};
use crate::layout::split;

struct Lockfile(Map<String, Value>);

impl Lockfile {
    fn parse(text: &str) -> Self {
        Self(entry::entries(text).unwrap_or_default())
    }

    /// The version at a location; a link has that of the folder it leads to. npm says `undefined` where there is none.
    fn version(&self, location: &str) -> Option<&str> {
        let entry = self.0.get(location)?;
        let target = text(entry, "resolved").filter(|_| flag(entry, "link")).and_then(|target| self.0.get(target));
        Some(text(target.unwrap_or(entry), "version").unwrap_or("undefined"))
    }
}

/// What npm says is wrong, in its words. `placed` are the locations that the resolution put something into, in its order.
pub fn disagreements(lockfile: &str, resolved: &str, placed: &[String]) -> Vec<String> {
    let (lockfile, ideal) = (Lockfile::parse(lockfile), Lockfile::parse(resolved));
    // What was placed anew comes after what was there.
    let order = |location: &str| placed.iter().rposition(|other| other == location).map_or(0, |at| at + 1);
    let mut locations: Vec<&String> = ideal.0.keys().filter(|location| !location.is_empty()).collect();
    locations.sort_by_key(|location| order(location));
    let mut wrong = Vec::new();
    for location in locations {
        let name = split(location).1;
        let wanted = ideal.version(location).unwrap_or_default();
        match lockfile.version(location) {
            // npm looks before it opens the bundles that the lock doesn't show.
            None if flag(&ideal.0[location], "inBundle") => {}
            None => wrong.push(format!("Missing: {name}@{wanted} from lock file")),
            Some(locked) if locked != wanted => {
                wrong.push(format!("Invalid: lock file's {name}@{locked} does not satisfy {name}@{wanted}"));
            }
            Some(_) => {}
        }
    }
    wrong
}

#[cfg(test)]
mod tests {
    use super::disagreements;

    fn lock(packages: &str) -> String {
        format!("{{ \"lockfileVersion\": 3, \"packages\": {{ \"\": {{}}, {packages} }} }}")
    }

    #[test]
    fn what_is_missing_or_another_version_is_said() {
        let locked =
            lock("\"node_modules/a\": { \"version\": \"1.0.0\" }, \"node_modules/x\": { \"version\": \"1.0.0\" }");
        let ideal =
            lock("\"node_modules/@s/b\": { \"version\": \"3.0.0\" }, \"node_modules/a\": { \"version\": \"2.0.0\" }");
        let placed = ["node_modules/a".to_owned(), "node_modules/@s/b".to_owned()];
        assert_eq!(
            disagreements(&locked, &ideal, &placed),
            ["Invalid: lock file's a@1.0.0 does not satisfy a@2.0.0", "Missing: @s/b@3.0.0 from lock file"]
        );
    }

    #[test]
    fn a_link_has_the_version_of_its_folder() {
        let with = |version: &str| {
            let folder = format!("\"packages/ui\": {{ \"version\": \"{version}\" }}");
            lock(&format!("\"node_modules/ui\": {{ \"resolved\": \"packages/ui\", \"link\": true }}, {folder}"))
        };
        assert_eq!(disagreements(&with("1.0.0"), &with("1.0.0"), &[]), [""; 0]);
        assert_eq!(disagreements(&with("1.0.0"), &with("2.0.0"), &[]).len(), 2);
    }
}
