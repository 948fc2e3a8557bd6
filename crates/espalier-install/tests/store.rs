//! The store alone: how packages are added and found, and how it handles damaged files and killed
//! processes.

use std::fs;
use std::path::{Path, PathBuf};

use crate::support::archive::{Archive, manifest};
use espalier_install::integrity::{Hashed, Integrity};
use espalier_install::store::{PackageKey, Store, StoredPackage};

fn tarball(version: &str) -> Vec<u8> {
    let file = format!("module.exports = '{version}'");
    Archive::default()
        .file("package/package.json", &manifest("a", version))
        .file("package/lib/index.js", file.as_bytes())
        .tgz()
}

fn integrity(tarball: &[u8]) -> Integrity {
    Integrity::of(tarball)
}

fn add(store: &Store, version: &str) -> StoredPackage {
    let tarball = tarball(version);
    store.add(&Hashed::new(&tarball), Some(&integrity(&tarball))).expect("added")
}

fn all_files(folder: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        if entry.path().is_dir() { files.extend(all_files(&entry.path())) } else { files.push(entry.path()) }
    }
    files
}

#[test]
fn what_was_added_is_found_by_the_next_process() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let store = Store::open(folder.path()).expect("a store");
    let added = add(&store, "1.0.0");
    store.flush();
    drop(store);
    let store = Store::open(folder.path()).expect("a store");
    let found = store.find(&integrity(&tarball("1.0.0"))).expect("found");
    assert_eq!(found.record, added.record);
    assert_eq!(found.record.name.as_deref(), Some("a"));
    let paths: Vec<_> = found.record.files.iter().map(|file| file.path.as_str()).collect();
    assert_eq!(paths, ["lib/index.js", "package.json"]);
    assert_eq!(fs::read_to_string(found.folder.join("lib/index.js")).expect("a file"), "module.exports = '1.0.0'");
    assert!(store.find(&integrity(&tarball("2.0.0"))).is_none());
}

#[test]
fn a_package_is_also_found_by_the_integrity_of_an_old_lock() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let store = Store::open(folder.path()).expect("a store");
    let sha1: Integrity = "sha1-qZk+NkcGgWq6PiVxeFDCbJzQ2J0=".parse().expect("an integrity");
    store.add(&Hashed::new(&tarball("1.0.0")), Some(&sha1)).expect("added");
    store.flush();
    assert_eq!(store.find(&sha1).expect("found").key, store.find(&integrity(&tarball("1.0.0"))).expect("found").key);
}

#[test]
fn an_archive_that_is_refused_leaves_nothing() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let store = Store::open(folder.path()).expect("a store");
    let whole = tarball("1.0.0");
    assert!(store.add(&Hashed::new(&whole[..whole.len() / 2]), None).is_err());
    assert!(all_files(&store.root().join("packages")).is_empty());
}

#[test]
fn checks_ahead_spare_unchanged_files_a_second_look() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let store = Store::open(folder.path()).expect("a store");
    let changed = add(&store, "1.0.0");
    add(&store, "2.0.0");
    // What was just unpacked needs no look.
    assert_eq!(changed.checked(), 2);
    fs::write(changed.folder.join("package.json"), "{}").expect("written");
    store.flush();
    let integrities = ["1.0.0", "2.0.0", "3.0.0"].map(|version| integrity(&tarball(version)));
    let checked = |store: &Store| {
        store.find_ahead(integrities.each_ref().map(ToString::to_string).iter().map(String::as_str));
        store.check_ahead();
        [0, 1].map(|index: usize| store.find(&integrities[index]).expect("found").checked())
    };
    // The changed file is the second of the first package.
    assert_eq!(checked(&Store::open(folder.path()).expect("a store")), [1, 2]);
    let store = Store::open(folder.path()).expect("a store");
    store.end_checks();
    assert_eq!(checked(&store), [0, 0]);
}

#[test]
fn a_file_that_was_changed_is_found_by_verifying() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let store = Store::open(folder.path()).expect("a store");
    let (damaged, sound) = (add(&store, "1.0.0"), add(&store, "2.0.0"));
    let file = damaged.folder.join("lib/index.js");
    let before = fs::metadata(&file).and_then(|found| found.modified()).expect("a time");
    fs::write(&file, "module.exports = 'evil!'").expect("written");
    // Its length and its time are unchanged.
    fs::File::options().write(true).open(&file).and_then(|file| file.set_modified(before)).expect("a time");
    let verified = store.verify().expect("verified");
    assert_eq!(verified.packages, 2);
    assert_eq!(verified.damaged, [("a@1.0.0".to_owned(), "lib/index.js was changed".to_owned())]);
    assert!(store.find(&integrity(&tarball("1.0.0"))).is_none());
    assert!(store.find(&integrity(&tarball("2.0.0"))).is_some() && sound.folder.exists());
    assert_eq!(store.verify().expect("verified").damaged, []);
}

#[test]
fn what_no_project_uses_is_pruned() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let store = Store::open(folder.path()).expect("a store");
    let (used, unused) = (add(&store, "1.0.0"), add(&store, "2.0.0"));
    fs::hard_link(used.folder.join("package.json"), folder.path().join("link")).expect("a link");
    // The setting can name any folder, and it can have other folders with similar names.
    for version in ["v1", "v3", "v1.old"] {
        fs::create_dir_all(folder.path().join(version).join("packages")).expect("folders");
        fs::copy(store.root().join("index.sqlite"), folder.path().join(version).join("index.sqlite")).expect("copied");
    }
    let pruned = store.prune().expect("pruned");
    assert_eq!((pruned.packages, pruned.kept, pruned.earlier), (1, 1, 1));
    assert!(used.folder.exists() && !unused.folder.exists());
    // A later version of the program may need its own.
    assert!(!folder.path().join("v1").exists() && folder.path().join("v3").exists());
    assert!(folder.path().join("v1.old").exists());
}

#[test]
fn a_folder_that_is_called_like_an_earlier_store_is_kept() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let store = Store::open(folder.path()).expect("a store");
    let somebodys = folder.path().join("v1");
    fs::create_dir_all(somebodys.join("packages")).expect("folders");
    fs::write(somebodys.join("index.sqlite"), "notes about a database").expect("written");
    assert_eq!(store.prune().expect("pruned").earlier, 0);
    assert!(somebodys.join("index.sqlite").exists());
}

#[cfg(unix)]
#[test]
fn packages_that_the_index_lost_are_pruned_too() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let store = Store::open(folder.path()).expect("a store");
    // The index is not flushed, as after a kill.
    let lost = Store::open(folder.path()).expect("a store");
    let [used, unused, recent] = ["1.0.0", "2.0.0", "3.0.0"].map(|version| add(&lost, version));
    fs::hard_link(used.folder.join("lib/index.js"), folder.path().join("link")).expect("a link");
    for package in [&used, &unused] {
        let then = std::time::SystemTime::now() - std::time::Duration::from_hours(2);
        fs::File::open(&package.folder).and_then(|folder| folder.set_modified(then)).expect("a time");
    }
    let pruned = store.prune().expect("pruned");
    assert_eq!((pruned.packages, pruned.bytes, pruned.kept), (1, unused.record.size(), 1));
    // The process may be about to index it.
    assert_eq!([&used, &unused, &recent].map(|package| package.folder.exists()), [true, false, true]);
}

#[test]
fn a_package_that_the_index_lost_is_taken_in_again() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let store = Store::open(folder.path()).expect("a store");
    let first = add(&store, "1.0.0");
    // The index is not flushed, so the folder exists without its row, as after a kill.
    fs::write(first.folder.join("lib/index.js"), "half").expect("written");
    let other = Store::open(folder.path()).expect("a store");
    let second = add(&other, "1.0.0");
    assert_eq!(second.folder, first.folder);
    assert_eq!(fs::read_to_string(second.folder.join("lib/index.js")).expect("a file"), "module.exports = '1.0.0'");
}

/// Damages the index in every way that a power cut can: all of it, and each page but the first.
/// A lock may state an integrity in a spelling that the index doesn't know.
#[test]
fn a_package_that_is_looked_up_ahead_is_found_in_any_spelling() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let store = Store::open(folder.path()).expect("a store");
    add(&store, "1.0.0");
    store.flush();
    let usual = integrity(&tarball("1.0.0")).to_string();
    let absent = integrity(&tarball("2.0.0")).to_string();
    for spelling in [usual.clone(), format!("{usual}?option"), usual.trim_end_matches('=').to_owned()] {
        let store = Store::open(folder.path()).expect("a store");
        store.find_ahead([spelling.as_str(), absent.as_str()].into_iter());
        assert!(store.find_as(&spelling).is_some(), "{spelling}");
        assert!(store.find_as(&absent).is_none());
    }
}

#[test]
fn a_damaged_index_is_emptied_by_whichever_call_finds_the_damage() {
    type Call = fn(&Store);
    let calls: [Call; 6] = [
        |store| assert!(store.find(&integrity(&tarball("1.0.0"))).is_none()),
        |store| store.find_ahead([integrity(&tarball("1.0.0")).to_string().as_str()].into_iter()),
        |_| {},
        |store| assert_eq!(store.verify().expect("verified").damaged, []),
        |store| assert_eq!(store.prune().expect("pruned").kept, 0),
        |store| store.discard(&PackageKey::of(&Hashed::new(&tarball("1.0.0")), 0o022)).expect("discarded"),
    ];
    for (call, is_whole) in calls.iter().flat_map(|call| [(call, true), (call, false)]) {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let store = Store::open(folder.path()).expect("a store");
        add(&store, "1.0.0");
        store.flush();
        let index = store.root().join("index.sqlite");
        drop(store);
        let mut bytes = fs::read(&index).expect("an index");
        if is_whole {
            bytes.fill(b'x');
        } else {
            bytes[4096..].fill(0);
        }
        fs::write(&index, bytes).expect("written");
        let store = Store::open(folder.path()).expect("a store");
        call(&store);
        add(&store, "1.0.0");
        store.flush();
        drop(store);
        let store = Store::open(folder.path()).expect("a store");
        assert!(store.find(&integrity(&tarball("1.0.0"))).is_some());
    }
}

/// Another process may have the index open while it is emptied.
#[test]
fn an_emptied_index_serves_whoever_has_it_open() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let (first, second) = (Store::open(folder.path()).expect("a store"), Store::open(folder.path()).expect("a store"));
    add(&first, "1.0.0");
    first.flush();
    let index = first.root().join("index.sqlite");
    let mut bytes = fs::read(&index).expect("an index");
    bytes[4096..].fill(0);
    fs::write(&index, bytes).expect("written");
    add(&second, "2.0.0");
    second.flush();
    add(&first, "1.0.0");
    first.flush();
    let store = Store::open(folder.path()).expect("a store");
    for version in ["1.0.0", "2.0.0"] {
        assert!(store.find(&integrity(&tarball(version))).is_some(), "{version}");
    }
}

/// The files of the packages are in place by then.
#[test]
fn an_index_that_cannot_be_written_is_no_error() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let store = Store::open(folder.path()).expect("a store");
    let index = rusqlite::Connection::open(store.root().join("index.sqlite")).expect("an index");
    index.execute_batch("DROP TABLE package").expect("executed");
    for version in 0..200 {
        add(&store, &format!("{version}.0.0"));
    }
    store.flush();
}

#[test]
fn what_a_killed_process_left_is_removed() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let staging = folder.path().join("v2/staging");
    fs::create_dir_all(staging.join("dead/0")).expect("a folder");
    fs::write(staging.join("dead.lock"), "").expect("written");
    let living = Store::open(folder.path()).expect("a store");
    assert!(!staging.join("dead").exists() && !staging.join("dead.lock").exists());
    let count = fs::read_dir(&staging).expect("a folder").count();
    let _other = Store::open(folder.path()).expect("a store");
    assert_eq!(fs::read_dir(&staging).expect("a folder").count(), count + 2, "a living one was removed");
    drop(living);
    assert_eq!(fs::read_dir(&staging).expect("a folder").count(), count);
}

#[test]
fn several_processes_add_at_once() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| {
                let store = Store::open(folder.path()).expect("a store");
                for version in 0..20 {
                    add(&store, &format!("{version}.0.0"));
                }
                store.flush();
            });
        }
    });
    let verified = Store::open(folder.path()).expect("a store").verify().expect("verified");
    assert_eq!((verified.packages, verified.damaged), (20, Vec::new()));
}
