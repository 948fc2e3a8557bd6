//! The cache, which is JavaScript's: `IndexedDB`, memory, or one of the embedder's own. What it throws means that there is nothing.

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

/// What is kept: `CacheEntry` in `pkg/cache.d.ts`.
pub struct Entry {
    /// The bytes, in memory of JavaScript.
    pub bytes: Uint8Array,
    /// Of a document: its type.
    pub content_type: String,
    /// Of a document: until when it can be used without asking, in milliseconds since the epoch.
    pub fresh_until: f64,
}

impl Cache {
    /// What is kept under a key.
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

    /// Keeps something, soon: nobody waits for it.
    pub fn keep(&self, key: &str, bytes: &Uint8Array, about: Option<(&str, f64)>) {
        let entry = Object::new();
        let set = |name: &str, value: JsValue| {
            // An object of our own takes any field.
            let _ = Reflect::set(&entry, &name.into(), &value);
        };
        set("bytes", bytes.into());
        if let Some((content_type, fresh_until)) = about {
            set("contentType", content_type.into());
            set("freshUntil", fresh_until.into());
        }
        ignore(self.set(key, &entry));
    }

    /// Forgets something that turned out to be damaged.
    pub async fn forget(&self, key: &str) {
        settled(self.delete(key)).await;
    }

    /// Waits until everything is kept that was to be.
    pub async fn flushed(&self) {
        settled(self.flush()).await;
    }
}

async fn settled(answer: Result<JsValue, JsValue>) -> Option<JsValue> {
    Promise::resolve(&answer.ok()?).await.ok()
}

/// Lets a promise fail without anybody noticing.
fn ignore(answer: Result<JsValue, JsValue>) {
    wasm_bindgen_futures::spawn_local(async move {
        settled(answer).await;
    });
}
