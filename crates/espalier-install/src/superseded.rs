//! Removes files that earlier versions of this program kept in other formats.
//!
//! Versions with other formats may still be in use. So when a new format first appears in a folder,
//! only formats that nobody has used for a month go. A clean-up (`store prune`) removes all earlier
//! ones. Later formats stay in any case. A setting can name any folder, so a name alone is no
//! reason to remove anything: the caller recognises its files by their content.

use std::fs::{self, File, Metadata};
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

/// An earlier format that was not used for this long is removed without being asked.
pub(crate) const A_MONTH: Duration = Duration::from_hours(30 * 24);

/// The beginning of each `SQLite` database.
pub(crate) const SQLITE: &[u8] = b"SQLite format 3\0";

/// Removes earlier formats that weren't used for that long. Each is a list of files and folders,
/// the last of which shows whose they are. Returns the number of removed formats.
pub(crate) fn remove(earlier: impl IntoIterator<Item = Vec<PathBuf>>, unused_for: Duration) -> usize {
    let unused = earlier.into_iter().filter(|entries| !entries.iter().any(|path| is_used(path, unused_for)));
    // If an entry can't be removed, the last one stays. It does no harm.
    unused.filter(|entries| entries.iter().all(|path| remove_entry(path))).count()
}

/// Whether the path is a file that begins with these bytes. A link is none.
pub(crate) fn begins_with(path: &Path, mark: &[u8]) -> bool {
    let read = || {
        let mut found = vec![0; mark.len()];
        let is_file = fs::symlink_metadata(path).ok()?.is_file();
        File::open(path).ok().filter(|_| is_file)?.read_exact(&mut found).ok()?;
        Some(found)
    };
    read().is_some_and(|found| found == mark)
}

/// Whether the entry is absent afterwards.
fn remove_entry(path: &Path) -> bool {
    match fs::symlink_metadata(path) {
        Err(_) => true,
        Ok(found) if found.is_dir() => fs::remove_dir_all(path).is_ok(),
        Ok(_) => fs::remove_file(path).is_ok(),
    }
}

/// Whether an entry, or something directly inside of it, was read or written recently.
fn is_used(path: &Path, recently: Duration) -> bool {
    let is_recent = |found: &Metadata| {
        let times = [found.modified(), found.accessed()];
        let is_recent = |time: SystemTime| time.elapsed().map_or(true, |age| age < recently);
        times.into_iter().flatten().any(is_recent)
    };
    let inside = || fs::read_dir(path).into_iter().flatten().flatten().filter_map(|entry| entry.metadata().ok());
    fs::symlink_metadata(path).is_ok_and(|found| is_recent(&found)) || inside().any(|found| is_recent(&found))
}

#[cfg(test)]
mod tests {
    use std::fs::{self, File, FileTimes};
    use std::path::Path;
    use std::time::{Duration, SystemTime};

    use super::{A_MONTH, SQLITE, begins_with, remove};

    fn age(path: &Path, days: u64) {
        let then = SystemTime::now() - Duration::from_hours(days * 24);
        let times = FileTimes::new().set_accessed(then).set_modified(then);
        File::open(path).and_then(|file| file.set_times(times)).expect("times");
    }

    #[cfg(unix)]
    #[test]
    fn a_format_goes_if_nobody_uses_any_of_it() {
        let scene = tempfile::tempdir().expect("a folder");
        let path = |name: &str| scene.path().join(name);
        for (name, days) in [("old", 40), ("old-log", 40), ("used", 40), ("used-log", 10)] {
            fs::write(path(name), "").expect("written");
            age(&path(name), days);
        }
        for (name, days) in [("folder", 40), ("used-folder", 10)] {
            fs::create_dir_all(path(name).join("inside")).expect("a folder");
            age(&path(name).join("inside"), days);
            age(&path(name), 40);
        }
        let formats = || {
            [vec!["old-log", "absent", "old"], vec!["used-log", "used"], vec!["folder"], vec!["used-folder"]]
                .map(|format| format.into_iter().map(path).collect())
        };
        let left = || ["old", "old-log", "used", "used-log", "folder", "used-folder"].map(|name| path(name).exists());
        assert_eq!(remove(formats(), A_MONTH), 2);
        assert_eq!(left(), [false, false, true, true, false, true]);
        assert_eq!(remove(formats().into_iter().skip(1).step_by(2), Duration::ZERO), 2);
        assert_eq!(left(), [false; 6]);
    }

    #[test]
    fn a_file_is_recognised_by_its_beginning() {
        let scene = tempfile::tempdir().expect("a folder");
        let path = |name: &str| scene.path().join(name);
        fs::write(path("database"), [SQLITE, b"rest"].concat()).expect("written");
        fs::write(path("short"), &SQLITE[..4]).expect("written");
        fs::create_dir(path("folder")).expect("a folder");
        assert!(begins_with(&path("database"), SQLITE));
        for name in ["short", "folder", "absent"] {
            assert!(!begins_with(&path(name), SQLITE), "{name}");
        }
    }
}
