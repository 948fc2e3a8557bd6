//! A tarball as fetched: verified, inflated by the browser, listed.

use espalier_core::TarballListing;
use js_sys::{Reflect, Uint8Array};
use wasm_bindgen::prelude::*;
use web_sys::{ReadableStreamDefaultReader, ReadableWritablePair, Response};

use crate::archive::{ArchiveError, Contents, Lister};
use crate::integrity::{self, IntegrityError};

#[wasm_bindgen]
extern "C" {
    /// web-sys has it behind an unstable flag only.
    #[wasm_bindgen(extends = ReadableWritablePair)]
    type DecompressionStream;
    #[wasm_bindgen(constructor, catch)]
    fn new(format: &str) -> Result<DecompressionStream, JsValue>;
}

/// Why a tarball can't be used.
#[derive(Debug, thiserror::Error)]
pub enum TarballError {
    /// It isn't what was expected.
    #[error("{0}")]
    Integrity(#[from] IntegrityError),
    /// Its content is damaged, or beyond the bounds.
    #[error("{0}")]
    Archive(#[from] ArchiveError),
    /// It isn't gzip, or cut off.
    #[error("it can't be inflated: {0}")]
    Inflate(String),
}

impl From<JsValue> for TarballError {
    fn from(error: JsValue) -> Self {
        let message = Reflect::get(&error, &"message".into()).ok().and_then(|message| message.as_string());
        Self::Inflate(message.unwrap_or_else(|| "not gzip".to_owned()))
    }
}

/// Lists what is in a tarball. Nothing of it is used before its integrity is verified.
pub async fn list(bytes: &[u8], expected: Option<&str>) -> Result<TarballListing, TarballError> {
    let integrity = integrity::verify(bytes, expected).await?;
    let mut lister = Lister::default();
    let reader = inflate(bytes)?;
    loop {
        let chunk = reader.read().await?;
        let done = Reflect::get(&chunk, &"done".into())?.is_truthy();
        if done {
            break;
        }
        let value = Reflect::get(&chunk, &"value".into())?;
        lister.push(&Uint8Array::new(&value).to_vec())?;
    }
    let Contents { files, manifests } = lister.finish()?;
    Ok(TarballListing { integrity, files, manifests })
}

/// In pieces, so that an archive which inflates to gigabytes is refused before it is in memory.
fn inflate(bytes: &[u8]) -> Result<ReadableStreamDefaultReader, JsValue> {
    let content = Uint8Array::from(bytes);
    let response = Response::new_with_opt_js_u8_array(Some(&content))?;
    let body = response.body().ok_or("an empty body")?;
    let gzip = DecompressionStream::new("gzip")?;
    let inflated = body.pipe_through(&gzip);
    Ok(inflated.get_reader().unchecked_into())
}
