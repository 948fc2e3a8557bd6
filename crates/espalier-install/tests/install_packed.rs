//! Packages that are packed on the spot: from git, and from folders; and packages that are patched.
#![cfg(unix)]

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::Command;

use crate::support::scene::Scene;
use espalier_install::install::InstallError;
use serde_json::json;

/// A repository with these files in its only commit; what it is called in a package.json, and the
/// commit.
fn repository(folder: &Path, files: &[(&str, &str)]) -> (String, String) {
    fs::create_dir_all(folder).expect("a folder");
    for (path, content) in files {
        fs::create_dir_all(folder.join(path).parent().expect("a parent")).expect("a folder");
        fs::write(folder.join(path), content).expect("written");
    }
    commit(folder);
    (format!("git+file://{}", folder.display()), git(folder, &["rev-parse", "HEAD"]))
}

fn commit(folder: &Path) {
    git(folder, &["init", "--quiet"]);
    git(folder, &["add", "--all"]);
    git(folder, &["commit", "--quiet", "--message=one"]);
}

fn git(folder: &Path, arguments: &[&str]) -> String {
    let mut command = Command::new("git");
    command.args(["-c", "user.name=a", "-c", "user.email=a@b", "-c", "core.hooksPath=/dev/null"]).args(arguments);
    let output = command.current_dir(folder).output().expect("git");
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout).trim().to_owned()
}

fn depending(name: &str, spec: &str, more: serde_json::Value) -> Scene {
    let mut manifest = more;
    manifest["name"] = "app".into();
    manifest["dependencies"] = json!({ name: spec });
    Scene::new(&manifest)
}

const PREPARED: &str =
    r#"{"name":"g","version":"1.2.3","files":["lib"],"scripts":{"prepare":"mkdir -p lib; echo built > lib/built.js"}}"#;

#[tokio::test]
async fn a_repository_is_packed_and_prepared_only_if_it_may_be() {
    let home = tempfile::tempdir().expect("a folder");
    let files = [("package.json", PREPARED), ("lib/index.js", "1"), ("test/t.js", ""), (".gitignore", "x")];
    let (spec, hash) = repository(&home.path().join("g"), &files);
    let scene = depending("g", &spec, json!({})).flag("allow-git", "all");
    scene.install().await;
    let entry: serde_json::Value = serde_json::from_str(&scene.read("package-lock.json")).expect("JSON");
    assert_eq!(entry["packages"]["node_modules/g"]["resolved"], format!("{spec}#{hash}"));
    assert_eq!(scene.tree(), [".package-lock.json", "g/", "g/lib/", "g/lib/index.js", "g/package.json"]);
    let approved = json!({ "allowScripts": { format!("{spec}#{hash}"): true } });
    let scene = depending("g", &spec, approved).flag("allow-git", "all");
    scene.install().await;
    assert_eq!(scene.read("node_modules/g/lib/built.js"), "built\n");
    let again = scene.install().await;
    assert_eq!((again.report.kept, again.report.added.len()), (1, 0));
    let scene = depending("g", &spec, json!({}));
    let error = scene.fail_to_install().await;
    assert!(error.to_string().contains("git"), "{error}");
}

#[tokio::test]
async fn a_prepare_script_that_fails_undoes_everything() {
    let home = tempfile::tempdir().expect("a folder");
    let manifest = r#"{"name":"g","version":"1.0.0","scripts":{"prepare":"echo oh no >&2; exit 3"}}"#;
    let (spec, hash) = repository(&home.path().join("g"), &[("package.json", manifest)]);
    let approved = json!({ "allowScripts": { format!("{spec}#{hash}"): true } });
    let scene = depending("g", &spec, approved).flag("allow-git", "all");
    let error = scene.fail_to_install().await.to_string();
    assert!(error.contains("prepare") && error.contains("oh no"), "{error}");
    assert!(!scene.at("node_modules/g").exists());
}

/// CVE-2026-24056: links in repositories and folders lead nowhere.
#[tokio::test]
async fn links_in_repositories_and_folders_are_not_installed() {
    let home = tempfile::tempdir().expect("a folder");
    fs::write(home.path().join("secret"), "s3cret").expect("written");
    let folder = home.path().join("g");
    fs::create_dir_all(&folder).expect("a folder");
    symlink("../secret", folder.join("link")).expect("a link");
    symlink("..", folder.join("folder")).expect("a link");
    let (spec, _) = repository(&folder, &[("package.json", r#"{"name":"g","version":"1.0.0"}"#), ("a.js", "")]);
    let files = ["package.json", "a.js"].map(|file| format!("g/{file}"));
    for (spec, flag) in
        [(spec, ("allow-git", "all")), (format!("file:{}", folder.display()), ("install-links", "true"))]
    {
        let scene = depending("g", &spec, json!({})).flag(flag.0, flag.1);
        scene.install().await;
        assert_eq!(scene.tree(), [".package-lock.json", "g/", &files[1], &files[0]]);
    }
}

#[tokio::test]
async fn a_folder_is_packed_where_links_are_not_wanted() {
    let scene = depending("f", "file:../f", json!({})).flag("install-links", "true");
    let write = |path: &str, content: &str| {
        let path = scene.path("f").join(path);
        fs::create_dir_all(path.parent().expect("a parent")).expect("a folder");
        fs::write(path, content).expect("written");
    };
    write("package.json", r#"{"name":"f","version":"2.0.0","bin":"cli.js"}"#);
    write("cli.js", "#!/usr/bin/env node\n");
    write("node_modules/x/index.js", "");
    write(".npmignore", "secret\n");
    write("secret", "");
    scene.install().await;
    let expected = [".bin/", ".bin/f", ".package-lock.json", "f/", "f/cli.js", "f/package.json"];
    assert_eq!(scene.tree(), expected);
    assert_eq!(scene.ci().await.report.repaired.len(), 1, "nothing says what a folder was like");
    let scene = scene.flag("allow-directory", "none");
    fs::remove_dir_all(scene.at("node_modules")).expect("removed");
    assert!(scene.fail_to_install().await.to_string().contains("disabled"));
}

#[tokio::test]
async fn a_folder_is_prepared_only_if_it_may_be() {
    for (manifest, made) in [(json!({}), false), (json!({ "allowScripts": { "file:../f": true } }), true)] {
        let scene = depending("f", "file:../f", manifest).flag("install-links", "true");
        fs::create_dir_all(scene.path("f")).expect("a folder");
        let package = r#"{"name":"f","version":"2.0.0","scripts":{"prepare":"echo built > built.js"}}"#;
        fs::write(scene.path("f/package.json"), package).expect("written");
        scene.install().await;
        assert_eq!(scene.at("node_modules/f/built.js").exists(), made);
    }
}

const PATCH: &str = "--- a/index.js\n+++ b/index.js\n@@ -1 +1 @@\n-module.exports = 'a@1.0.0'\n\\ No newline at end of file\n\
                     +module.exports = 'patched'\n";

#[tokio::test]
async fn a_patched_package_is_its_projects_own() {
    let scene = depending("a", "1.0.0", json!({ "patchedDependencies": { "a": "a.patch" } }));
    let scene = scene.package("a@1.0.0", json!({}));
    scene.write("a.patch", PATCH);
    scene.install().await;
    assert_eq!(scene.read("node_modules/a/index.js"), "module.exports = 'patched'\n");
    assert_eq!(scene.install().await.report.kept, 1);
    scene.ci().await;
    assert_eq!(scene.read("node_modules/a/index.js"), "module.exports = 'patched'\n");
    scene.write("package.json", r#"{"name":"app","dependencies":{"a":"1.0.0"}}"#);
    scene.install().await;
    assert_eq!(scene.read("node_modules/a/index.js"), "module.exports = 'a@1.0.0'", "the patch got into the store");
}

#[tokio::test]
async fn a_patch_that_does_not_fit_undoes_everything() {
    let scene = depending("a", "1.0.0", json!({ "patchedDependencies": { "a": "a.patch" } }));
    let scene = scene.package("a@1.0.0", json!({}));
    scene.write("a.patch", &PATCH.replace("a@1.0.0", "a@1.0.1"));
    let error = scene.fail_to_install().await.to_string();
    assert_eq!(error, "patch could not be applied to index.js");
    assert!(!scene.at("node_modules/a").exists() && !scene.at("package-lock.json").exists());
}

#[tokio::test]
async fn what_is_optional_and_not_allowed_is_left_out() {
    let home = tempfile::tempdir().expect("a folder");
    let (spec, _) = repository(&home.path().join("g"), &[("package.json", r#"{"name":"g","version":"1.0.0"}"#)]);
    let manifest = json!({ "name": "app", "dependencies": { "a": "1" }, "optionalDependencies": { "g": spec } });
    let scene = Scene::new(&manifest).package("a@1.0.0", json!({}));
    let mut scene = scene.flag("allow-git", "all");
    scene.install().await;
    let lock = scene.read("package-lock.json");
    fs::remove_dir_all(scene.at("node_modules")).expect("removed");
    scene.flags.clear();
    let done = scene.install().await;
    assert_eq!(done.report.left_out.len(), 1);
    assert!(scene.at("node_modules/a").is_dir() && !scene.at("node_modules/g").exists());
    let without_port = |text: &str| {
        text.split("127.0.0.1:").map(|part| part.trim_start_matches(char::is_numeric).to_owned()).collect::<String>()
    };
    assert_eq!(without_port(&scene.read("package-lock.json")), without_port(&lock));
    let Err(InstallError::Refused(_)) = depending_on_git_by_lock(&scene).await else { panic!("it was installed") };
}

/// The same lock, with the package needed.
async fn depending_on_git_by_lock(scene: &Scene) -> Result<espalier_install::install::Done, InstallError> {
    for file in ["package.json", "package-lock.json"] {
        let text = scene
            .read(file)
            .replace("optionalDependencies", "dependencies")
            .replace("\"optional\": true", "\"dev\": false");
        scene.write(file, &text.replace("\"dependencies\":{\"a\":\"1\"},", ""));
    }
    scene.try_ci().await
}
