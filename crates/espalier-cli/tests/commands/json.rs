//! `--json` prints exactly the fields that `docs/json.md` describes.

use std::collections::BTreeSet;
use std::path::Path;

use crate::support::{Stage, Tarball};
use serde_json::{Value, json};

/// The fields in the first table below a line of the document.
fn documented(after: &str) -> BTreeSet<String> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/json.md");
    let text = std::fs::read_to_string(path).expect("the document");
    let lines = text.lines().skip_while(|line| *line != after).skip_while(|line| !line.starts_with("| field"));
    let rows = lines.skip(2).take_while(|line| line.starts_with('|'));
    let fields = rows.flat_map(|row| row.split('|').nth(1).expect("a cell").split(',').map(str::to_owned));
    fields.map(|field| field.trim().trim_matches('`').to_owned()).collect()
}

fn keys(value: &Value) -> BTreeSet<String> {
    value.as_object().expect("an object").keys().cloned().collect()
}

fn stage() -> Stage {
    let package = |manifest: Value| Tarball::new(manifest);
    Stage::with_tarballs(&[
        package(json!({"name": "a", "version": "1.0.0"})),
        package(json!({"name": "a", "version": "2.0.0"})),
        package(json!({"name": "peers", "version": "1.0.0", "peerDependencies": {"a": "2"}})),
        package(json!({"name": "scripted", "version": "1.0.0", "scripts": {"postinstall": "true"}})),
    ])
}

fn object(stage: &Stage, arguments: &[&str]) -> Value {
    let outcome = stage.run(stage.with_programs(&[arguments, &["--json"]].concat()));
    assert_eq!(outcome.stderr, "", "{arguments:?}");
    serde_json::from_str(&outcome.stdout).unwrap_or_else(|error| panic!("{arguments:?}: {error}: {}", outcome.stdout))
}

/// The codes that the source files of the commands give to their own errors.
fn codes_of_commands(folder: &Path, codes: &mut BTreeSet<String>) {
    for entry in std::fs::read_dir(folder).expect("the sources") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            codes_of_commands(&path, codes);
            continue;
        }
        let text = std::fs::read_to_string(&path).expect("a source file");
        for part in text.split("own(").skip(1) {
            let code = part.trim_start().strip_prefix('"').and_then(|rest| rest.split('"').next());
            codes.extend(code.filter(|code| code.starts_with('E')).map(str::to_owned));
        }
    }
}

#[test]
fn every_code_of_a_command_is_documented() {
    let package = Path::new(env!("CARGO_MANIFEST_DIR"));
    let document = std::fs::read_to_string(package.join("docs/json.md")).expect("the document");
    let mut codes = BTreeSet::new();
    codes_of_commands(&package.join("src/command"), &mut codes);
    assert!(codes.contains("ENOBIN"), "{codes:?}");
    codes.retain(|code| !document.contains(&format!("`{code}`")));
    assert_eq!(codes, BTreeSet::new(), "docs/json.md lacks these");
}

#[test]
fn what_worked_is_as_documented() {
    let stage = stage();
    for (arguments, section) in [
        (&["lock"][..], "## `lock`"),
        (&["add", "a@1", "scripted"], "## `install`"),
        (&["add", "a@2", "--package-lock-only"], "## `lock`"),
        (&["install"], "## `install`"),
        (&["install", "--dry-run"], "## `install`"),
        (&["ci"], "## `install`"),
        (&["update"], "## `install`"),
        (&["dedupe"], "## `install`"),
        (&["remove", "a"], "## `install`"),
        (&["prune"], "## `install`"),
        (&["snapshot"], "## `snapshot`"),
        (&["store", "path"], "## `store path`"),
        (&["store", "verify"], "## `store verify`"),
        (&["store", "prune"], "## `store prune`"),
        (&["approve"], "## `approve`"),
        (&["approve", "scripted"], "## `approve`"),
        (&["deny", "scripted"], "## `approve`"),
    ] {
        assert_eq!(keys(&object(&stage, arguments)), documented(section), "{arguments:?}");
    }
}

#[test]
fn what_failed_is_as_documented() {
    let stage = stage();
    let (outside, inside) = (documented("## When it failed"), documented("Of `error`:"));
    let mut seen = BTreeSet::new();
    let conflict = json!({"dependencies": {"a": "1", "peers": "1"}}).to_string();
    let scripted = json!({"dependencies": {"scripted": "1"}}).to_string();
    for (manifest, arguments, code) in [
        (&*conflict, &["install"][..], "ERESOLVE"),
        (&*conflict, &["lock"], "ERESOLVE"),
        (r#"{"dependencies": {"a": "^9"}}"#, &["install"], "ETARGET"),
        (r#"{"dependencies": {"nowhere": "1"}}"#, &["add", "a"], "E404"),
        ("{", &["install"], "EJSONPARSE"),
        ("{}", &["ci"], "EUSAGE"),
        (&*scripted, &["install", "--strict-allow-scripts"], "ESTRICTALLOWSCRIPTS"),
        ("{}", &["tree", "--package-lock-only"], "ENOLOCK"),
        ("{}", &["why", "nowhere"], "ENOMATCH"),
    ] {
        stage.write("package.json", manifest);
        let report = object(&stage, arguments);
        assert_eq!(report["error"]["code"], code, "{report}");
        assert!(keys(&report).is_subset(&outside), "{arguments:?}: {report}");
        assert!(keys(&report["error"]).is_subset(&inside), "{arguments:?}: {report}");
        seen.append(&mut keys(&report["error"]));
    }
    stage.write("package.json", r#"{"dependencies": {"a": "^9"}}"#);
    for command in ["lock", "install", "ci", "snapshot"] {
        stage.write("package-lock.json", "{");
        assert_eq!(object(&stage, &[command])["command"], command);
    }
    stage.write("package.json", r#"{"dependencies": {"a": "1"}}"#);
    stage.write("package-lock.json", r#"{"lockfileVersion": 3, "packages": {"": {}}}"#);
    seen.append(&mut keys(&object(&stage, &["ci"])["error"]));
    let lock = json!({"lockfileVersion": 3, "packages": {"": {"dependencies": {"a": "1"}}, "node_modules/a":
        {"version": "1.0.0", "resolved": "http://registry.test/a.tgz"}}});
    stage.write("package-lock.json", &lock.to_string());
    seen.append(&mut keys(&object(&stage, &["ci"])["error"]));
    assert_eq!(inside.difference(&seen).collect::<Vec<_>>(), Vec::<&String>::new(), "never seen");
}
