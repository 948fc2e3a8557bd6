use std::fs;
use std::path::Path;

use espalier_core::FetchFailureKind;

use super::{ProjectError, ProjectFolder, Written};

/// A folder with these files.
fn folder(files: &[(&str, &str)]) -> tempfile::TempDir {
    let root = tempfile::tempdir().expect("a temporary folder");
    for (path, text) in files {
        let path = root.path().join(path);
        fs::create_dir_all(path.parent().expect("a parent")).expect("folders");
        fs::write(path, text).expect("written");
    }
    root
}

fn project(root: &Path) -> ProjectFolder {
    ProjectFolder::at(root).expect("a project")
}

#[test]
fn the_nearest_manifest_upwards_makes_the_project() {
    let root = folder(&[("package.json", "{}"), ("src/deep/file", "")]);
    let found = ProjectFolder::around(&root.path().join("src/deep")).expect("a project");
    assert_eq!(found.path(), root.path());
}

#[test]
fn a_named_folder_is_not_left() {
    let root = folder(&[("package.json", "{}"), ("src/file", "")]);
    let error = ProjectFolder::at(&root.path().join("src")).expect_err("no manifest");
    assert!(matches!(&error, ProjectError::NoManifest { upwards: false, .. }), "{error}");
    let error = ProjectFolder::at(&root.path().join("nowhere")).expect_err("no folder");
    assert!(matches!(&error, ProjectError::NoFolder { .. }), "{error}");
}

#[test]
fn package_folders_are_found_outside_node_modules() {
    let root = folder(&[
        ("package.json", r#"{"workspaces":["**", ".hid*"]}"#),
        ("packages/b/package.json", "{}"),
        ("packages/a/package.json", "{}"),
        ("packages/a/nested/package.json", "{}"),
        ("packages/a/node_modules/x/package.json", "{}"),
        (".hidden/package.json", "{}"),
        // `**` passes over hidden folders.
        (".other/package.json", "{}"),
        (".git/package.json", "{}"),
        ("docs/readme", ""),
    ]);
    let folders = project(root.path()).package_folders().expect("folders");
    assert_eq!(folders, [".hidden", "packages/a", "packages/a/nested", "packages/b"]);
}

#[test]
fn workspaces_are_found_despite_a_byte_order_mark() {
    let root = folder(&[
        ("package.json", "\u{feff}{\"workspaces\":[\"packages/*\"]}"),
        ("packages/a/package.json", r#"{"name":"a"}"#),
    ]);
    let names: Vec<String> = project(root.path()).workspaces().into_iter().map(|workspace| workspace.name).collect();
    assert_eq!(names, ["a"]);
}

/// npm finds them by their names alone.
#[test]
fn workspaces_are_found_whatever_their_dependencies_are() {
    let root = folder(&[
        ("package.json", r#"{"workspaces":["packages/*"],"dependencies":{"x":5}}"#),
        ("packages/a/package.json", r#"{"name":"a","dependencies":{"y":null}}"#),
        ("packages/b/package.json", "{}"),
        ("packages/c/package.json", "{"),
    ]);
    let names: Vec<String> = project(root.path()).workspaces().into_iter().map(|workspace| workspace.name).collect();
    assert_eq!(names, ["a", "b", "c"]);
}

#[test]
fn only_folders_that_can_be_workspaces_are_looked_for() {
    let root = folder(&[
        ("package.json", r#"{"workspaces":["packages/*"]}"#),
        ("packages/a/package.json", "{}"),
        ("packages/a/nested/package.json", "{}"),
        ("target/debug/package.json", "{}"),
    ]);
    let folders = project(root.path()).package_folders().expect("folders");
    assert_eq!(folders, ["packages/a"]);
}

#[cfg(unix)]
#[test]
fn a_linked_folder_is_listed_and_not_entered() {
    let manifest = r#"{"workspaces":["**"]}"#;
    let root = folder(&[("package.json", manifest), ("real/package.json", "{}"), ("real/inner/package.json", "{}")]);
    std::os::unix::fs::symlink(root.path(), root.path().join("loop")).expect("a link");
    let folders = project(root.path()).package_folders().expect("folders");
    assert_eq!(folders, ["loop", "real", "real/inner"]);
}

#[test]
fn a_folder_without_a_manifest_is_no_failure() {
    let root = folder(&[("package.json", "{}"), ("a/package.json", "{\"name\":\"a\"}"), ("b/file", "")]);
    let project = project(root.path());
    assert_eq!(project.manifest_in("a"), Ok(Some("{\"name\":\"a\"}".to_owned())));
    assert_eq!(project.manifest_in("b"), Ok(None));
    assert_eq!(project.manifest_in("a/package.json"), Ok(None));
    assert_eq!(project.manifest_in("nowhere"), Ok(None));
}

#[test]
fn a_missing_tarball_is_not_found() {
    let root = folder(&[("package.json", "{}"), ("broken.tgz", "no archive")]);
    let project = project(root.path());
    let kind = |address| project.tarball(address, None).expect_err("no tarball").kind;
    assert_eq!(kind("file:missing.tgz"), FetchFailureKind::NotFound);
    assert_eq!(kind("file:broken.tgz"), FetchFailureKind::Invalid);
}

#[test]
fn a_shrinkwrap_is_no_lockfile() {
    let root = folder(&[("package.json", "{}"), ("package-lock.json", "lock"), ("npm-shrinkwrap.json", "shrinkwrap")]);
    let lockfile = project(root.path()).lockfile().expect("a lockfile");
    assert_eq!(lockfile.text(), Some("lock"));
}

#[test]
fn an_equal_lockfile_is_not_touched() {
    let root = folder(&[("package.json", "{}"), ("package-lock.json", "lock")]);
    let path = root.path().join("package-lock.json");
    let past = std::time::SystemTime::UNIX_EPOCH + std::time::Duration::from_hours(10);
    fs::File::options().write(true).open(&path).and_then(|file| file.set_modified(past)).expect("a date");
    let lockfile = project(root.path()).lockfile().expect("a lockfile");
    assert_eq!(lockfile.write("lock").expect("nothing to do"), Written::Unchanged);
    assert_eq!(fs::metadata(&path).and_then(|metadata| metadata.modified()).expect("a date"), past);
}

#[test]
fn a_new_lockfile_leaves_nothing_beside_it() {
    let root = folder(&[("package.json", "{}")]);
    let lockfile = project(root.path()).lockfile().expect("no lockfile yet");
    assert_eq!(lockfile.write("new").expect("written"), Written::Created);
    let mut names: Vec<_> =
        fs::read_dir(root.path()).expect("a folder").map(|entry| entry.expect("an entry").file_name()).collect();
    names.sort();
    assert_eq!(names, ["package-lock.json", "package.json"]);
}

#[cfg(unix)]
#[test]
fn modes_and_links_are_kept() {
    use std::os::unix::fs::PermissionsExt as _;
    let root = folder(&[("package.json", "{}"), ("shared/lock.json", "old")]);
    let target = root.path().join("shared/lock.json");
    fs::set_permissions(&target, fs::Permissions::from_mode(0o664)).expect("a mode");
    std::os::unix::fs::symlink(&target, root.path().join("package-lock.json")).expect("a link");
    project(root.path()).lockfile().and_then(|lockfile| lockfile.write("new")).expect("written");
    assert_eq!(fs::read_to_string(&target).expect("a file"), "new");
    assert_eq!(fs::metadata(&target).expect("a file").permissions().mode() & 0o777, 0o664);
    assert!(root.path().join("package-lock.json").is_symlink());
}

/// npm 7 recorded the project itself, too.
#[test]
fn a_hidden_lockfile_may_record_the_project() {
    let root = folder(&[("package.json", "{}"), ("node_modules/a/package.json", "{}")]);
    let note = r#"{"lockfileVersion":2,"packages":{"":{},"node_modules/a":{"version":"1.0.0"}}}"#;
    fs::write(root.path().join(super::HIDDEN_LOCKFILE), note).expect("written");
    assert!(project(root.path()).noted().is_some());
}

/// A repository can contain its own `node_modules`, with a link and a hidden lockfile that records
/// the link's target.
#[cfg(unix)]
#[test]
fn a_hidden_lockfile_has_to_record_links_themselves() {
    let root = folder(&[("project/package.json", "{}"), ("outside/package.json", "{}")]);
    let folder = root.path().join("project");
    fs::create_dir(folder.join("node_modules")).expect("a folder");
    std::os::unix::fs::symlink("../../outside", folder.join("node_modules/@s")).expect("a link");
    for (entry, is_trusted) in [("", false), (r#""node_modules/@s":{"resolved":"../outside","link":true},"#, true)] {
        let note = format!(r#"{{"lockfileVersion":3,"packages":{{{entry}"../outside":{{"version":"1.0.0"}}}}}}"#);
        fs::write(folder.join(super::HIDDEN_LOCKFILE), note).expect("written");
        assert_eq!(project(&folder).noted().is_some(), is_trusted, "{entry}");
    }
}
