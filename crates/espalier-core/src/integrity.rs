//! Subresource integrity texts (`ssri`). The core hashes only small texts of its own, and nothing
//! that was fetched.

use std::rc::Rc;

use sha2::{Digest as _, Sha512};

const ALGORITHMS: [&str; 4] = ["sha1", "sha256", "sha384", "sha512"];

/// The digests of known algorithms, grouped by algorithm in the order of their first occurrence.
pub fn normalize(text: &str) -> Option<Rc<str>> {
    let is_known = |hash: &str| hash.split_once('-').is_some_and(|(algorithm, _)| ALGORITHMS.contains(&algorithm));
    if text.bytes().all(|byte| byte.is_ascii_graphic()) {
        return is_known(text).then(|| text.into());
    }
    let mut groups: Vec<(&str, Vec<&str>)> = Vec::new();
    for hash in text.split_whitespace() {
        let Some((algorithm, _)) = hash.split_once('-').filter(|_| is_known(hash)) else {
            continue;
        };
        match groups.iter_mut().find(|(name, _)| *name == algorithm) {
            Some((_, hashes)) => hashes.push(hash),
            None => groups.push((algorithm, vec![hash])),
        }
    }
    let hashes: Vec<&str> = groups.into_iter().flat_map(|(_, hashes)| hashes).collect();
    (!hashes.is_empty()).then(|| hashes.join(" ").into())
}

/// The integrity of these bytes.
pub fn sha512(bytes: &[u8]) -> String {
    format!("sha512-{}", base64(&Sha512::digest(bytes)))
}

/// Whether two texts can belong to the same bytes: for each algorithm of both, they share a digest.
pub fn are_compatible(one: &str, other: &str) -> bool {
    let of = |text: &'_ str, algorithm: &str| -> Vec<String> {
        let hashes = text.split_whitespace().filter_map(|hash| hash.split('?').next()?.split_once('-'));
        hashes.filter(|(name, _)| *name == algorithm).map(|(_, digest)| digest.to_owned()).collect()
    };
    let common = ALGORITHMS.iter().map(|algorithm| (of(one, algorithm), of(other, algorithm)));
    let mut common = common.filter(|(one, other)| !one.is_empty() && !other.is_empty()).peekable();
    common.peek().is_none() || common.any(|(one, other)| one.iter().any(|digest| other.contains(digest)))
}

/// The digests of both, those of `one` first. If both have an algorithm, that of `one` is used.
pub fn merge(one: &str, other: &str) -> String {
    let algorithm = |hash: &str| hash.split('-').next().unwrap_or_default().to_owned();
    let known: Vec<String> = one.split_whitespace().map(algorithm).collect();
    let new = other.split_whitespace().filter(|hash| !known.contains(&algorithm(hash)));
    one.split_whitespace().chain(new).collect::<Vec<_>>().join(" ")
}

/// The integrity for an old packument's `shasum`.
pub fn from_hex_sha1(hex: &str) -> Option<String> {
    let digits = (0..hex.len()).step_by(2);
    let bytes: Option<Vec<u8>> = digits.map(|at| u8::from_str_radix(hex.get(at..at + 2)?, 16).ok()).collect();
    bytes.filter(|bytes| !bytes.is_empty()).map(|bytes| format!("sha1-{}", base64(&bytes)))
}

/// Encodes bytes in base64.
pub fn base64(bytes: &[u8]) -> String {
    const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for chunk in bytes.chunks(3) {
        let group = chunk.iter().fold(0u32, |group, &byte| group << 8 | u32::from(byte)) << (8 * (3 - chunk.len()));
        for index in 0..4 {
            let digit = ALPHABET[(group >> (18 - 6 * index) & 63) as usize];
            text.push(if index <= chunk.len() { char::from(digit) } else { '=' });
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::{from_hex_sha1, normalize};

    #[test]
    fn a_shasum_becomes_integrity() {
        let expected = "sha1-2jmj7l5rSw0yVb/vlWAYkK/YBwk=";
        assert_eq!(from_hex_sha1("da39a3ee5e6b4b0d3255bfef95601890afd80709").as_deref(), Some(expected));
        assert_eq!(from_hex_sha1("xyz"), None);
    }

    #[test]
    fn unknown_algorithms_are_dropped() {
        assert_eq!(normalize(" sha512-AA== md5-xx sha1-BB=").as_deref(), Some("sha512-AA== sha1-BB="));
        assert_eq!(normalize("md5-xx"), None);
    }
}
