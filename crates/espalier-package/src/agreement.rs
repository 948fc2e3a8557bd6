//! Whether a lockfile and a package.json belong together, which `ci` insists on (`validate-lockfile.js`).

use espalier_core::Lock;
use espalier_core::order::sort_by_key;

use crate::entry::{flag, text};
use crate::layout::split;

/// The version at a location; a link has that of the folder it leads to. npm says `undefined` where there is none.
fn version<'a>(lock: &'a Lock, location: &str) -> Option<&'a str> {
    let entry = lock.packages.get(location)?;
    let target = text(entry, "resolved").filter(|_| flag(entry, "link")).and_then(|target| lock.packages.get(target));
    Some(text(target.unwrap_or(entry), "version").unwrap_or("undefined"))
}

/// What npm says is wrong, in its words. `project` is the folder of both, absolute; `placed` are the locations that the resolution
/// put something into, in its order.
pub fn disagreements(lockfile: &str, resolved: &str, project: &str, placed: &[String]) -> Vec<String> {
    let (lockfile, ideal) = (Lock::read(lockfile, project), Lock::read(resolved, project));
    // What was placed anew comes after what was there.
    let order = |location: &str| placed.iter().rposition(|other| other == location).map_or(0, |at| at + 1);
    let mut locations: Vec<&String> = ideal.packages.keys().filter(|location| !location.is_empty()).collect();
    sort_by_key(&mut locations, |location| order(location));
    let mut wrong = Vec::new();
    for location in locations {
        let name = split(location).1;
        let wanted = version(&ideal, location).unwrap_or_default();
        match version(&lockfile, location) {
            // npm looks before it opens the bundles that the lock doesn't show.
            None if flag(&ideal.packages[location], "inBundle") || lockfile.is_ancient() => {}
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
            disagreements(&locked, &ideal, "/project", &placed),
            ["Invalid: lock file's a@1.0.0 does not satisfy a@2.0.0", "Missing: @s/b@3.0.0 from lock file"]
        );
    }

    #[test]
    fn what_an_old_lock_says_is_read_as_npm_reads_it() {
        let old = |requires: &str| {
            format!(r#"{{ "lockfileVersion": 1, {requires} "dependencies": {{ "a": {{ "version": "1.0.0" }} }} }}"#)
        };
        let a = "\"node_modules/a\": { \"version\": \"1.0.0\" }";
        let more = lock(&format!("{a}, \"node_modules/b\": {{ \"version\": \"1.0.0\" }}"));
        let current = old("\"requires\": true,");
        assert_eq!(disagreements(&current, &lock(a), "/project", &[]), [""; 0]);
        assert_eq!(disagreements(&current, &more, "/project", &[]), ["Missing: b@1.0.0 from lock file"]);
        // npm completes what is older still, and doesn't mind.
        assert_eq!(disagreements(&old(""), &more, "/project", &[]), [""; 0]);
    }

    #[test]
    fn a_link_has_the_version_of_its_folder() {
        let with = |version: &str| {
            let folder = format!("\"packages/ui\": {{ \"version\": \"{version}\" }}");
            lock(&format!("\"node_modules/ui\": {{ \"resolved\": \"packages/ui\", \"link\": true }}, {folder}"))
        };
        assert_eq!(disagreements(&with("1.0.0"), &with("1.0.0"), "/project", &[]), [""; 0]);
        assert_eq!(disagreements(&with("1.0.0"), &with("2.0.0"), "/project", &[]).len(), 2);
    }
}
