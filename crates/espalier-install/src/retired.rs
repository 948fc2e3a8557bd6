//! The names of folders that were moved away, by which the remains of killed processes are
//! recognised.

use std::path::Path;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use ring::digest;

/// The folder in a `node_modules` that holds what an installation moves away.
pub const RETIRED: &str = ".espalier-retired";

/// Where packages are unpacked if the store can't be used, relative to the project.
pub const TEMPORARY_STORE: &str = "node_modules/.espalier-store";

/// Whether a hidden entry of a `node_modules` is the remains of an interrupted installation,
/// Espalier's or npm's.
pub fn is_retired(folder: &Path, name: &str) -> bool {
    // The hidden lockfile has such a name until it is complete.
    if name.starts_with(".package-lock-") || name == RETIRED || TEMPORARY_STORE.ends_with(&format!("/{name}")) {
        return true;
    }
    let Some((original, hash)) = name.strip_prefix('.').and_then(|rest| rest.rsplit_once('-')) else { return false };
    hash == hash_of(&folder.join(original))
}

/// npm's hash of a path (`retire-path.js`).
fn hash_of(path: &Path) -> String {
    let digest = digest::digest(&digest::SHA1_FOR_LEGACY_USE_ONLY, path.to_string_lossy().as_bytes());
    STANDARD.encode(digest).chars().filter(char::is_ascii_alphanumeric).take(8).collect()
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::is_retired;

    #[test]
    fn leftovers_of_both_programs_are_known() {
        let folder = Path::new("/app/node_modules");
        // npm's own function made this name.
        assert!(is_retired(folder, ".lodash-KkVTOvTn"));
        assert!(is_retired(folder, ".espalier-retired"));
        assert!(!is_retired(folder, ".lodash-00000000"));
        assert!(!is_retired(folder, ".cache"));
    }
}
