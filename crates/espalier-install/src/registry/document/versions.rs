//! The documents of single versions, and what takes their place: some registries have none, and a
//! packument in the cache can be enough.

use std::sync::{Arc, MutexGuard, PoisonError, Weak};

use espalier_core::{FetchFailure, Packument};
use espalier_registry::Experience;
use espalier_registry::document::Form;

use super::Unread;
use crate::registry::Registry;

impl Registry {
    /// The document of one version, as JSON text. `integrity` is that of the tarball, by the
    /// packument.
    pub async fn version_document(
        &self,
        name: &str,
        version: &str,
        integrity: Option<&str>,
    ) -> Result<String, FetchFailure> {
        let read = match self.unread_version(name, version, integrity).await {
            Ok(unread) => unread.read_in_the_end(Unread::read_whole_version).await,
            Err(failure) => Err(failure),
        };
        match read {
            Ok(text) => Ok(text),
            Err(failure) => self.version_instead(name, version, failure).await,
        }
    }

    /// The unread document of one version. `integrity` is that of the tarball, by the packument.
    pub(crate) async fn unread_version(
        &self,
        name: &str,
        version: &str,
        integrity: Option<&str>,
    ) -> Result<Unread, FetchFailure> {
        self.unread(name, self.form_of_version(name, version)?, integrity).await
    }

    /// The form of the document of a version, unless the registry is known to have no such documents.
    fn form_of_version(&self, name: &str, version: &str) -> Result<Form, FetchFailure> {
        let registry = self.registries.of_package(name);
        let form = self.experience().form(registry, Form::Version(version.to_owned()));
        if form.is_of_version() { Ok(form) } else { Err(self.registries.no_such_version(name, version)) }
    }

    /// The unread document of a version that a dependent names exactly. `None` if the cache has a
    /// packument instead that may be used without asking the registry: a version that doesn't exist
    /// would be asked for in each run otherwise. A snapshot is for those who have no such packument.
    pub(crate) async fn unread_manifest(&self, name: &str, version: &str) -> Result<Option<Unread>, FetchFailure> {
        let found = self.look_up(name, self.form_of_version(name, version)?, None)?;
        if !found.is_usable && !self.notes_documents() && self.has_packument(name)? {
            return Ok(None);
        }
        found.unread().await.map(Some)
    }

    /// Whether the cache has a packument that may be used without asking the registry.
    fn has_packument(&self, name: &str) -> Result<bool, FetchFailure> {
        // Thousands of packages are asked for in the first run.
        if self.cache.as_ref().is_none_or(|cache| cache.documents.is_empty()) {
            return Ok(false);
        }
        Ok(self.look_up_any(name)?.is_usable)
    }

    /// Records that the document of a version could not be fetched. Returns whether the packument may
    /// have the version nevertheless.
    pub(crate) fn note_failure(&self, name: &str, version: &str, failure: &FetchFailure) -> bool {
        let may_have = Self::packument_may_have(version, failure);
        if may_have && !self.is_offline() {
            self.experience().note_refusal(name, version);
        }
        may_have
    }

    fn packument_may_have(version: &str, failure: &FetchFailure) -> bool {
        Form::Version(version.to_owned()).instead(failure.kind, false).is_some()
    }

    /// The manifest of one version in the full packument, for a registry without its document.
    pub(crate) async fn version_instead(
        &self,
        name: &str,
        version: &str,
        failure: FetchFailure,
    ) -> Result<String, FetchFailure> {
        if !Self::packument_may_have(version, &failure) {
            return Err(failure);
        }
        let is_offline = self.is_offline();
        let packument = match self.whole_packument(name).await {
            Err(_) if is_offline => return Err(failure),
            packument => packument?,
        };
        let text = packument.find(version).map(|index| packument.manifest(index).to_owned()).ok_or(failure)?;
        if !is_offline {
            self.experience().learn_refusal(self.registries.of_package(name));
        }
        Ok(text)
    }

    /// The full packument. If several callers want the same one at once, the first fetches it.
    async fn whole_packument(&self, name: &str) -> Result<Arc<Packument>, FetchFailure> {
        let whole = {
            let mut wholes = self.wholes.lock().unwrap_or_else(PoisonError::into_inner);
            wholes.get(name).and_then(Weak::upgrade).unwrap_or_else(|| {
                let whole = Arc::default();
                wholes.insert(name.to_owned(), Arc::downgrade(&whole));
                whole
            })
        };
        whole.get_or_init(|| self.packument(name, true)).await.clone()
    }

    pub(super) fn experience(&self) -> MutexGuard<'_, Experience> {
        self.experience.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
