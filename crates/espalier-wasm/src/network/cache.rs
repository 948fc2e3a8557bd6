//! The cache in JavaScript: `IndexedDB`, memory, or the embedder's own. If it throws, nothing is
//! cached.

use js_sys::{Object, Promise, Reflect, Uint8Array};
use wasm_bindgen::prelude::*;

#[wasm_bindgen]
extern "C" {
    /// `Cache` in `pkg/cache.d.ts`.
    #[derive(Clone)]
    pub type Cache;
    #[wasm_bindgen(method, catch)]
    fn get(this: &Cache, key: &str) -> Result<JsValue, JsValue>;
    #[wasm_bindgen(method, catch)]
    fn set(this: &Cache, key: &str, entry: &JsValue) -> Result<JsValue, JsValue>;
    #[wasm_bindgen(method, catch)]
    fn delete(this: &Cache, key: &str) -> Result<JsValue, JsValue>;
    #[wasm_bindgen(method, catch)]
    fn flush(this: &Cache) -> Result<JsValue, JsValue>;
}

/// An entry: `CacheEntry` in `pkg/cache.d.ts`.
pub struct Entry {
    /// The bytes, in JavaScript's memory.
    pub bytes: Uint8Array,
    /// The content type of a document.
    pub content_type: String,
    /// Until when a document can be used without asking, in milliseconds since the epoch.
    pub fresh_until: f64,
}

impl Cache {
    /// The entry of a key.
    pub async fn find(&self, key: &str) -> Option<Entry> {
        let entry = settled(self.get(key)).await?;
        if !entry.is_object() {
            return None;
        }
        let field = |name: &str| Reflect::get(&entry, &name.into()).unwrap_or_default();
        Some(Entry {
            bytes: field("bytes").dyn_into().ok()?,
            content_type: field("contentType").as_string().unwrap_or_default(),
            fresh_until: field("freshUntil").as_f64().unwrap_or_default(),
        })
    }

    /// Keeps an entry. Nobody waits for it.
    pub fn keep(&self, key: &str, bytes: &Uint8Array, about: Option<(&str, f64)>) {
        let entry = Object::new();
        let set = |name: &str, value: JsValue| {
            // Setting a field of a new object can't fail.
            let _ = Reflect::set(&entry, &name.into(), &value);
        };
        set("bytes", bytes.into());
        if let Some((content_type, fresh_until)) = about {
            set("contentType", content_type.into());
            set("freshUntil", fresh_until.into());
        }
        ignore(self.set(key, &entry));
    }

    /// Removes a damaged entry.
    pub async fn forget(&self, key: &str) {
        settled(self.delete(key)).await;
    }

    /// Waits until all entries are kept.
    pub async fn flushed(&self) {
        settled(self.flush()).await;
    }
}

async fn settled(answer: Result<JsValue, JsValue>) -> Option<JsValue> {
    Promise::resolve(&answer.ok()?).await.ok()
}

/// Ignores the failure of a promise.
fn ignore(answer: Result<JsValue, JsValue>) {
    wasm_bindgen_futures::spawn_local(async move {
        settled(answer).await;
    });
}
