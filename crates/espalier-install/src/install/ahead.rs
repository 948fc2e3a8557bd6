//! Downloads that begin before the tree is complete: as soon as a package is placed, or at once if
//! there is a lockfile and nothing is installed.
//!
//! The packages go into the store and nowhere else. Some may turn out to be unnecessary; the choice
//! of packages to install doesn't depend on these downloads. Only tarballs that need no permission
//! are fetched: those at the package's own registry, under its own name.

use std::borrow::Cow;
use std::sync::Arc;

use espalier_core::semver::{self, Version};
use espalier_core::{EdgeKind, Event, LockEntry, LockfileText, ParsedLock, Platform};
use espalier_package::identity::package_of;
use serde_json::Value;
use tokio::sync::{Semaphore, SetOnce, oneshot};
use tokio::task::JoinSet;

use crate::blocking;
use crate::plan::Source;
use crate::registry::Registry;
use crate::reify::Origins;
use crate::store::Store;

/// The maximum number of concurrent downloads. It is low, so that documents get their connections;
/// the tree waits for those.
const AT_ONCE: usize = 16;

/// The downloads under way.
#[derive(Debug)]
pub(super) struct Ahead {
    /// The store and the sources of packages, as soon as the store is open. `None` if it can't be
    /// used, which the installation reports.
    origins: Arc<SetOnce<Option<Arc<Origins>>>>,
    room: Arc<Semaphore>,
    tasks: JoinSet<()>,
    /// Ends when the store was asked for the packages of the lockfile.
    looked_up: Option<oneshot::Receiver<()>>,
}

/// A lockfile whose packages are to be fetched.
pub(super) struct Reading<Host> {
    pub lockfile: LockfileText,
    /// The absolute folder of its project.
    pub project: String,
    /// The platform and the version of Node that its packages have to suit.
    pub host: Host,
}

impl Ahead {
    /// Opens the store on another thread, because the resolution needs nothing of it.
    pub fn new(open: impl FnOnce() -> Option<Origins> + Send + 'static) -> Self {
        let ahead = Self::idle();
        let opening = Opening(Arc::clone(&ahead.origins));
        drop(blocking::beside(move || opening.open(open).map_or((), drop)));
        ahead
    }

    /// The same. The packages of a lockfile that are missing in the store are fetched.
    pub fn reading<Host>(open: impl FnOnce() -> Option<Origins> + Send + 'static, reading: Reading<Host>) -> Self
    where
        Host: FnOnce() -> (Platform, Option<String>) + Send + 'static,
    {
        let mut ahead = Self::idle();
        let (found, looked_up) = oneshot::channel();
        let (opening, room) = (Opening(Arc::clone(&ahead.origins)), Arc::clone(&ahead.room));
        let looking = blocking::beside(move || {
            let origins = opening.open(open)?;
            let (platform, node) = (reading.host)();
            let node = node.as_deref().and_then(Version::parse);
            // The resolution parses the lockfile meanwhile.
            let lockfile = reading.lockfile.parsed(&reading.project).filter(|lockfile| lockfile.too_new().is_none());
            let missing = lockfile.map(|lockfile| missing(&origins, lockfile, &platform, node.as_ref()));
            let missing = missing.unwrap_or_default();
            drop(found);
            if missing.is_empty() {
                // A processor is idle until packages are placed.
                origins.store.check_ahead();
            }
            Some((origins, missing))
        });
        ahead.tasks.spawn(async move {
            let Some((origins, missing)) = blocking::result(looking).await else { return };
            let downloads = missing.into_iter().map(|source| fetch(Arc::clone(&origins), Arc::clone(&room), source));
            let mut downloads: JoinSet<()> = downloads.collect();
            while downloads.join_next().await.is_some() {}
        });
        ahead.looked_up = Some(looked_up);
        ahead
    }

    fn idle() -> Self {
        let room = Arc::new(Semaphore::new(AT_ONCE));
        Self { origins: Arc::default(), room, tasks: JoinSet::new(), looked_up: None }
    }

    /// Fetches a package that was placed.
    pub fn observe(&mut self, registry: &Registry, event: &Event) {
        let Event::Placed { version, kind, tarball: Some(tarball), .. } = event else { return };
        // Abbreviated packuments lack the C library. Optional packages for musl are numerous.
        if *kind == EdgeKind::Optional && tarball.name.contains("musl") {
            return;
        }
        let source = source(registry, &tarball.name, version, &tarball.resolved, tarball.integrity.as_deref());
        let Some(source) = source else { return };
        let (opened, room) = (Arc::clone(&self.origins), Arc::clone(&self.room));
        self.tasks.spawn(async move {
            if let Some(origins) = opened.wait().await {
                fetch(Arc::clone(origins), room, source).await;
            }
        });
    }

    /// Waits until the store was asked for the packages of the lockfile, and cancels the downloads
    /// that haven't begun. The installation knows what it needs. Returns the store.
    pub async fn settle(&mut self) -> Option<Arc<Store>> {
        if let Some(looked_up) = self.looked_up.take() {
            // The channel is only closed; no value is sent.
            let _ = looked_up.await;
        }
        self.room.close();
        self.origins.wait().await.as_ref().map(|origins| Arc::clone(&origins.store))
    }
}

/// Tells those who wait for the store that it is open, or that it can't be used. If opening it
/// panics, the installation opens it again and passes the panic on.
struct Opening(Arc<SetOnce<Option<Arc<Origins>>>>);

impl Opening {
    fn open(self, open: impl FnOnce() -> Option<Origins>) -> Option<Arc<Origins>> {
        let origins = open().map(Arc::new);
        // Nobody else sets it.
        let _ = self.0.set(origins.clone());
        origins
    }
}

impl Drop for Opening {
    fn drop(&mut self) {
        // This fails if it has been set.
        let _ = self.0.set(None);
    }
}

impl Drop for Ahead {
    fn drop(&mut self) {
        if let Some(Some(origins)) = self.origins.get() {
            origins.store.end_checks();
        }
    }
}

/// The packages of a lockfile that suit this platform and Node and aren't in the store. Lockfiles of
/// version 1 don't say what suits them.
fn missing(origins: &Origins, lockfile: &ParsedLock<'_>, platform: &Platform, node: Option<&Version>) -> Vec<Source> {
    let mut suitable = Vec::new();
    for (location, entry) in lockfile.packages.iter().filter(|_| !lockfile.is_old()) {
        let Some((_, folder)) = location.rsplit_once("node_modules/") else { continue };
        let Some(integrity) = entry.text("integrity") else { continue };
        if !entry.flag("link") && !entry.flag("inBundle") && suits(&entry, platform) && suits_node(&entry, node) {
            suitable.push((folder, entry, integrity));
        }
    }
    let store = &origins.store;
    store.find_ahead(suitable.iter().map(|(_, _, integrity)| &**integrity));
    let mut missing = Vec::new();
    for (folder, entry, integrity) in suitable {
        if store.find_as(&integrity).is_none()
            && let (Some(version), Some(resolved)) = (entry.text("version"), entry.text("resolved"))
        {
            let name = entry.text("name").unwrap_or(Cow::Borrowed(folder));
            missing.extend(source(&origins.registry, &name, &version, &resolved, Some(&integrity)));
        }
    }
    missing
}

/// The source of a package, if it may be fetched without permission.
fn source(registry: &Registry, name: &str, version: &str, resolved: &str, integrity: Option<&str>) -> Option<Source> {
    let other = package_of(resolved);
    let is_plain = registry.is_of_registry(resolved, name) && (other.is_empty() || other == name);
    // Without an integrity, the store can't be asked for it.
    let integrity = integrity.and_then(|text| text.parse().ok()).filter(|_| is_plain)?;
    Some(Source {
        name: name.to_owned(),
        version: Some(version.to_owned()),
        resolved: resolved.to_owned(),
        integrity: Some(integrity),
        stored: None,
    })
}

async fn fetch(origins: Arc<Origins>, room: Arc<Semaphore>, source: Source) {
    let Ok(_room) = room.acquire().await else { return };
    let is_stored = source.integrity.as_ref().is_some_and(|integrity| origins.store.find(integrity).is_some());
    if !is_stored {
        // If the package is needed, the installation reports the failure.
        let _ = origins.obtain(&source).await;
    }
}

/// Whether an entry's lists include this platform or are empty. Exclusions are ignored.
fn suits(entry: &LockEntry<'_>, platform: &Platform) -> bool {
    let lists = [("os", Some(&platform.os)), ("cpu", Some(&platform.cpu)), ("libc", platform.libc.as_ref())];
    lists.into_iter().all(|(list, own)| {
        let Value::Array(list) = entry.value(list) else { return true };
        let named = list.iter().filter_map(Value::as_str).filter(|name| !name.starts_with('!'));
        named.clone().count() == 0 || named.clone().any(|name| own.is_some_and(|own| own == name))
    })
}

/// Whether an optional package is for this version of Node. Others are installed in any case.
fn suits_node(entry: &LockEntry<'_>, node: Option<&Version>) -> bool {
    let Some(node) = node.filter(|_| entry.flag("optional")) else { return true };
    let engines = entry.value("engines");
    engines.get("node").and_then(Value::as_str).is_none_or(|wanted| semver::suits_engine(node, wanted))
}

#[cfg(test)]
mod tests {
    use espalier_core::LockEntries;
    use serde_json::json;

    use super::{Ahead, Version, suits_node};

    #[tokio::test]
    async fn nobody_waits_for_a_store_whose_opening_panics() {
        let mut ahead = Ahead::new(|| panic!("a bug"));
        assert!(ahead.settle().await.is_none());
    }

    #[test]
    fn only_optional_packages_are_left_out_for_their_engines() {
        let node = Version::parse("20.20.2").expect("a version");
        let suits = |entry: serde_json::Value, node: Option<&Version>| {
            let lockfile = json!({ "packages": { "node_modules/a": entry } }).to_string();
            let entries = LockEntries::read(lockfile).expect("a lockfile");
            suits_node(&entries.get("node_modules/a").expect("the entry"), node)
        };
        let wants = |wanted: &str, optional: bool| json!({ "optional": optional, "engines": { "node": wanted } });
        assert!(!suits(wants("^22.20 || >=25", true), Some(&node)));
        assert!(suits(wants(">=18", true), Some(&node)));
        assert!(suits(wants("^22.20 || >=25", false), Some(&node)));
        let unknown = json!({ "optional": true, "engines": ["node >= 22"] });
        assert!(suits(unknown.clone(), Some(&node)) && suits(unknown, None));
    }
}
