//! Downloads that begin before the tree is known: as soon as a package is placed, or, for a lockfile that nothing was installed
//! from yet, at once.
//!
//! What is fetched goes into the store and nowhere else. That may be too much; which packages are installed is decided
//! without looking at it. Only tarballs that need no permission are fetched: those of the registry that a package comes
//! from, under its own name.

use std::sync::Arc;

use espalier_core::{EdgeKind, Event, Platform};
use espalier_package::identity::package_of;
use indexmap::IndexMap;
use serde::Deserialize;
use serde_json::Value;
use tokio::sync::Semaphore;
use tokio::task::JoinSet;

use crate::plan::Source;
use crate::reify::Origins;
use crate::store::Store;

/// How many tarballs may be on their way: few enough to leave the documents their sockets, which the tree waits for.
const AT_ONCE: usize = 16;

/// What is on its way.
#[derive(Debug)]
pub(super) struct Ahead {
    origins: Arc<Origins>,
    room: Arc<Semaphore>,
    tasks: JoinSet<()>,
}

impl Ahead {
    pub fn new(origins: Origins) -> Self {
        Self { origins: Arc::new(origins), room: Arc::new(Semaphore::new(AT_ONCE)), tasks: JoinSet::new() }
    }

    /// Where the packages go.
    pub fn store(&self) -> Arc<Store> {
        Arc::clone(&self.origins.store)
    }

    /// Fetches what was placed.
    pub fn observe(&mut self, event: &Event) {
        let Event::Placed { version, kind, tarball: Some(tarball), .. } = event else { return };
        // Packuments in their abbreviated form don't tell the C library; these are optional, and there are many.
        if *kind == EdgeKind::Optional && tarball.name.contains("musl") {
            return;
        }
        if let Some(source) = self.source(&tarball.name, version, &tarball.resolved, tarball.integrity.as_deref()) {
            self.fetch(source);
        }
    }

    /// Fetches what a lockfile lists for this platform.
    pub fn read(&mut self, lockfile: &str, platform: &Platform) {
        let packages = serde_json::from_str::<Lockfile>(lockfile).map(|lockfile| lockfile.packages).unwrap_or_default();
        let mut sources = Vec::new();
        for (location, entry) in &packages {
            let Some((_, name)) = location.rsplit_once("node_modules/") else { continue };
            let (Some(version), Some(resolved)) = (&entry.version, &entry.resolved) else { continue };
            if !entry.link && !entry.in_bundle && entry.suits(platform) {
                let name = entry.name.as_deref().unwrap_or(name);
                sources.extend(self.source(name, version, resolved, entry.integrity.as_deref()));
            }
        }
        let store = self.store();
        store.find_ahead(sources.iter().filter_map(|source| source.integrity.as_ref()));
        let is_stored =
            |source: &Source| source.integrity.as_ref().is_some_and(|integrity| store.find(integrity).is_some());
        for source in sources.into_iter().filter(|source| !is_stored(source)) {
            self.fetch(source);
        }
    }

    /// What may be fetched without asking.
    fn source(&self, name: &str, version: &str, resolved: &str, integrity: Option<&str>) -> Option<Source> {
        let registry = &self.origins.registry;
        let other = package_of(resolved);
        let is_plain = registry.is_of_registry(resolved, name) && (other.is_empty() || other == name);
        // Without an integrity nobody knows whether the store has it.
        let integrity = integrity.and_then(|text| text.parse().ok()).filter(|_| is_plain)?;
        Some(Source {
            name: name.to_owned(),
            version: Some(version.to_owned()),
            resolved: resolved.to_owned(),
            integrity: Some(integrity),
            stored: None,
        })
    }

    fn fetch(&mut self, source: Source) {
        let (origins, room) = (Arc::clone(&self.origins), Arc::clone(&self.room));
        self.tasks.spawn(async move {
            let Ok(_room) = room.acquire().await else { return };
            let is_stored = source.integrity.as_ref().is_some_and(|integrity| origins.store.find(integrity).is_some());
            if !is_stored {
                // What can't be had is told when it turns out to be needed.
                let _ = origins.obtain(&source).await;
            }
        });
    }

    /// What hasn't begun yet is left to the installation, which knows what is needed.
    pub fn settle(&self) {
        self.room.close();
    }
}

#[derive(Deserialize)]
struct Lockfile {
    #[serde(default)]
    packages: IndexMap<String, Entry>,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Entry {
    name: Option<String>,
    version: Option<String>,
    resolved: Option<String>,
    integrity: Option<String>,
    link: bool,
    in_bundle: bool,
    os: Value,
    cpu: Value,
    libc: Value,
}

impl Entry {
    /// Whether its lists name this platform, or there are none. What they exclude isn't looked at.
    fn suits(&self, platform: &Platform) -> bool {
        let lists =
            [(&self.os, Some(&platform.os)), (&self.cpu, Some(&platform.cpu)), (&self.libc, platform.libc.as_ref())];
        lists.into_iter().all(|(list, own)| {
            let Some(list) = list.as_array() else { return true };
            let named = list.iter().filter_map(Value::as_str).filter(|name| !name.starts_with('!'));
            named.clone().count() == 0 || named.clone().any(|name| own.is_some_and(|own| own == name))
        })
    }
}
