//! Removes files that earlier versions of this program kept in other formats.
//!
//! The name of a folder or file has the number of its format: `documents-5.index`, `v2`. Versions
//! with other formats may still be in use. So when a new format first appears in a folder, only
//! formats that nobody has used for a month go. A clean-up (`store prune`) removes all earlier
//! ones. Later formats stay in any case. A setting can name any folder, so a name alone is no
//! reason to remove anything.

use std::fs::{self, Metadata};
use std::path::Path;
use std::time::{Duration, SystemTime};

/// An earlier format that was not used for this long is removed without being asked.
pub(crate) const A_MONTH: Duration = Duration::from_hours(30 * 24);

/// Removes those of a folder's entries whose format has a lower number than the current one, which
/// is `name` and `current`, that weren't used for that long, and whose content `is_ours`. Returns
/// the number of removed entries.
pub(crate) fn remove(
    folder: &Path,
    name: &str,
    current: u32,
    unused_for: Duration,
    is_ours: impl Fn(&Path) -> bool,
) -> usize {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let earlier = entries.filter(|entry| {
        let number = entry.file_name().to_str().and_then(|file| number(file, name));
        let path = entry.path();
        number.is_some_and(|number| number < current) && is_ours(&path) && !is_used(&path, unused_for)
    });
    // An entry that can't be removed does no harm.
    let removed = earlier.filter(|entry| {
        let is_folder = entry.file_type().is_ok_and(|kind| kind.is_dir());
        if is_folder { fs::remove_dir_all(entry.path()) } else { fs::remove_file(entry.path()) }.is_ok()
    });
    removed.count()
}

/// The number of the format, if an entry has this name.
fn number(file: &str, name: &str) -> Option<u32> {
    let rest = file.strip_prefix(name)?;
    rest.split_once('.').map_or(rest, |(number, _)| number).parse().ok()
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

    use super::{A_MONTH, remove};

    fn age(path: &Path, days: u64) {
        let then = SystemTime::now() - Duration::from_hours(days * 24);
        let times = FileTimes::new().set_accessed(then).set_modified(then);
        File::open(path).and_then(|file| file.set_times(times)).expect("times");
    }

    fn left(folder: &Path) -> Vec<String> {
        let entries = fs::read_dir(folder).expect("a folder");
        let mut names: Vec<String> =
            entries.map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned()).collect();
        names.sort();
        names
    }

    #[cfg(unix)]
    #[test]
    fn earlier_formats_go_if_nobody_uses_them() {
        let scene = tempfile::tempdir().expect("a folder");
        for (name, days) in [
            ("documents-1.sqlite", 40),
            ("documents-2.sqlite", 10),
            ("documents-4.sqlite", 40),
            ("documents-5.sqlite", 40),
            ("documents-x", 40),
            ("other-1", 40),
        ] {
            fs::write(scene.path().join(name), "").expect("written");
            age(&scene.path().join(name), days);
        }
        for (name, days) in [("documents-0", 40), ("documents-3", 10)] {
            let folder = scene.path().join(name);
            fs::create_dir_all(folder.join("inside")).expect("a folder");
            age(&folder.join("inside"), days);
            age(&folder, 40);
        }
        assert_eq!(remove(scene.path(), "documents-", 4, A_MONTH, |_| true), 2);
        let kept =
            ["documents-2.sqlite", "documents-3", "documents-4.sqlite", "documents-5.sqlite", "documents-x", "other-1"];
        assert_eq!(left(scene.path()), kept);
        assert_eq!(remove(scene.path(), "documents-", 4, Duration::ZERO, |_| true), 2);
        assert_eq!(left(scene.path()), ["documents-4.sqlite", "documents-5.sqlite", "documents-x", "other-1"]);
        assert_eq!(remove(&scene.path().join("nothing"), "documents-", 4, Duration::ZERO, |_| true), 0);
    }
}
