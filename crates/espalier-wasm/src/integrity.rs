//! Subresource integrity of tarballs, hashed by the browser's `crypto.subtle`.

use std::cmp::Reverse;

use js_sys::{Promise, Uint8Array};
use wasm_bindgen::prelude::*;
use web_sys::SubtleCrypto;

/// Strongest first: of several hashes only the strongest kind counts, as the standard has it.
const ALGORITHMS: [(&str, &str); 4] =
    [("sha512", "SHA-512"), ("sha384", "SHA-384"), ("sha256", "SHA-256"), ("sha1", "SHA-1")];

#[wasm_bindgen]
extern "C" {
    /// Absent on pages that weren't loaded over https or from this machine.
    #[wasm_bindgen(thread_local_v2, js_namespace = crypto, js_name = subtle)]
    static SUBTLE: Option<SubtleCrypto>;

    fn btoa(bytes: &str) -> String;
}

/// Why a tarball's content isn't trusted.
#[derive(Debug, thiserror::Error)]
pub enum IntegrityError {
    /// Nothing can be hashed here.
    #[error(
        "its integrity can't be checked: browsers only offer crypto.subtle on pages loaded over https or from localhost"
    )]
    InsecureContext,
    /// The hash function failed.
    #[error("its integrity can't be computed")]
    Failed,
    /// None of the algorithms is known.
    #[error("the integrity {0} has no known algorithm")]
    UnknownAlgorithm(String),
    /// It isn't what was expected.
    #[error("its integrity is {actual}, but {expected} was expected")]
    Mismatch {
        /// As computed.
        actual: String,
        /// As the registry or the lock has it.
        expected: String,
    },
}

/// Verifies `bytes` against `expected`, and returns their own `sha512-…`.
pub async fn verify(bytes: &[u8], expected: Option<&str>) -> Result<String, IntegrityError> {
    let own = hash(bytes, ALGORITHMS[0]).await?;
    let Some(expected) = expected else { return Ok(own) };
    let (algorithm, accepted) = strongest(expected)?;
    let actual = if algorithm == ALGORITHMS[0] { own.clone() } else { hash(bytes, algorithm).await? };
    if accepted.contains(&actual.as_str()) {
        return Ok(own);
    }
    Err(IntegrityError::Mismatch { actual, expected: expected.to_owned() })
}

/// The strongest algorithm among the hashes, and all hashes of that kind, without their options.
fn strongest(integrity: &str) -> Result<((&'static str, &'static str), Vec<&str>), IntegrityError> {
    let hashes = integrity.split_ascii_whitespace().map(|hash| hash.split('?').next().unwrap_or(hash));
    let ranked = hashes.filter_map(|hash| {
        let (prefix, _) = hash.split_once('-')?;
        ALGORITHMS.iter().position(|(name, _)| *name == prefix).map(|rank| (rank, hash))
    });
    let ranked: Vec<_> = ranked.collect();
    let best = ranked.iter().map(|(rank, _)| Reverse(*rank)).max();
    let Some(Reverse(best)) = best else { return Err(IntegrityError::UnknownAlgorithm(integrity.to_owned())) };
    let accepted = ranked.iter().filter(|(rank, _)| *rank == best).map(|(_, hash)| *hash).collect();
    Ok((ALGORITHMS[best], accepted))
}

async fn hash(bytes: &[u8], (prefix, name): (&str, &str)) -> Result<String, IntegrityError> {
    let subtle = SUBTLE.with(Clone::clone).ok_or(IntegrityError::InsecureContext)?;
    let content = Uint8Array::from(bytes);
    let digest: Promise =
        subtle.digest_with_str_and_buffer_source(name, &content).map_err(|_| IntegrityError::Failed)?;
    let digest = digest.await.map_err(|_| IntegrityError::Failed)?;
    // `btoa` wants each byte as the character of that number.
    let characters: String = Uint8Array::new(&digest).to_vec().into_iter().map(char::from).collect();
    Ok(format!("{prefix}-{}", btoa(&characters)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_strongest_kind_of_hash_counts() {
        let (algorithm, accepted) = strongest("sha1-AAAA sha512-BBBB?opt sha512-CCCC md5-DDDD").unwrap();
        assert_eq!(algorithm.0, "sha512");
        assert_eq!(accepted, ["sha512-BBBB", "sha512-CCCC"]);
    }

    #[test]
    fn an_integrity_that_can_not_be_checked_is_an_error() {
        assert!(matches!(strongest("md5-AAAA"), Err(IntegrityError::UnknownAlgorithm(_))));
    }
}
