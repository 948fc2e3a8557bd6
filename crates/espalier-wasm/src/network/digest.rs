//! Hashes with `crypto.subtle`, which is several times faster than wasm and adds no weight.

use espalier_registry::integrity::{Algorithm, Integrity};
use js_sys::{Reflect, Uint8Array};
use wasm_bindgen::prelude::*;
use web_sys::{Crypto, SubtleCrypto};

/// Whether the page may hash. Browsers only permit it on pages from https or localhost.
pub fn is_there() -> bool {
    subtle().is_some()
}

/// The integrity of these bytes by an algorithm.
pub async fn integrity(bytes: &Uint8Array, algorithm: Algorithm) -> Option<Integrity> {
    let name = match algorithm {
        Algorithm::Sha1 => "SHA-1",
        Algorithm::Sha256 => "SHA-256",
        Algorithm::Sha384 => "SHA-384",
        Algorithm::Sha512 => "SHA-512",
    };
    let digest = subtle()?.digest_with_str_and_js_u8_array(name, bytes).ok()?.await.ok()?;
    Some(Integrity::of_digest(algorithm, &Uint8Array::new(&digest).to_vec()))
}

/// Verifies bytes and returns their own integrity. The error completes a sentence about the answer.
pub async fn verified(bytes: &Uint8Array, expected: Option<&Integrity>) -> Result<Integrity, String> {
    let unhashed = || "can't be hashed".to_owned();
    let own = integrity(bytes, Algorithm::Sha512).await.ok_or_else(unhashed)?;
    let Some(expected) = expected else { return Ok(own) };
    let actual = match expected.algorithm() {
        Algorithm::Sha512 => own.clone(),
        algorithm => integrity(bytes, algorithm).await.ok_or_else(unhashed)?,
    };
    expected.check_same(&actual).map_err(|error| format!("is not the expected tarball: {error}"))?;
    Ok(own)
}

fn subtle() -> Option<SubtleCrypto> {
    let crypto = Reflect::get(&js_sys::global(), &"crypto".into()).ok()?;
    if crypto.is_undefined() {
        return None;
    }
    let subtle = JsValue::from(crypto.unchecked_into::<Crypto>().subtle());
    if subtle.is_undefined() { None } else { Some(subtle.unchecked_into()) }
}
