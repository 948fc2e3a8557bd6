use std::fs;

use super::apply_to;

#[test]
fn files_are_changed_added_and_removed() {
    let folder = tempfile::tempdir().expect("a folder");
    fs::write(folder.path().join("a.js"), "one\ntwo\n").expect("written");
    fs::write(folder.path().join("gone.js"), "x\n").expect("written");
    let patch = "--- a/a.js\n+++ b/a.js\n@@ -1,2 +1,2 @@\n one\n-two\n+three\n--- /dev/null\n+++ b/lib/new.js\n@@ -0,0 +1 @@\n\
                 +new\n--- a/gone.js\n+++ /dev/null\n@@ -1 +0,0 @@\n-x\n";
    apply_to(folder.path(), patch).expect("applied");
    assert_eq!(fs::read_to_string(folder.path().join("a.js")).expect("read"), "one\nthree\n");
    assert_eq!(fs::read_to_string(folder.path().join("lib/new.js")).expect("read"), "new\n");
    assert!(!folder.path().join("gone.js").exists());
    let code = |patch| apply_to(folder.path(), patch).expect_err("refused").code;
    assert_eq!(code("--- a/none.js\n+++ b/none.js\n@@ -1 +1 @@\n-a\n+b\n"), "EPATCHFAILED");
    assert_eq!(code("--- /dev/null\n+++ b/a.js\n@@ -0,0 +1 @@\n+b\n"), "EPATCHFAILED");
    assert_eq!(code("@@ -1 +1 @@\nwhat is this"), "EPATCHFAILED");
}

#[test]
fn a_patch_stays_in_the_package() {
    let folder = tempfile::tempdir().expect("a folder");
    let package = folder.path().join("package");
    fs::create_dir(&package).expect("a folder");
    let adds = |path: &str| format!("--- /dev/null\n+++ b/{path}\n@@ -0,0 +1 @@\n+evil\n");
    for path in ["../evil", "/tmp/evil", "x/../../evil", "."] {
        assert_eq!(apply_to(&package, &adds(path)).expect_err("refused").code, "EPATCHUNSAFE", "{path}");
    }
    #[cfg(unix)]
    {
        std::os::unix::fs::symlink(folder.path(), package.join("out")).expect("a link");
        assert_eq!(apply_to(&package, &adds("out/evil")).expect_err("refused").code, "EPATCHUNSAFE");
    }
    assert!(!folder.path().join("evil").exists());
}
