//! Text in place of what recordings leave out of a manifest (descriptions, scripts, people,
//! signatures), so that full documents have a realistic size and compress about as well as real
//! ones.

/// The field with the text. Nothing reads it.
pub const FIELD: &str = "_padding";

const WORDS: [&str; 16] = [
    "package",
    "module",
    "registry",
    "build",
    "test",
    "script",
    "author",
    "repository",
    "version",
    "release",
    "maintainer",
    "signature",
    "keyword",
    "homepage",
    "issue",
    "license",
];

/// One part in this number is new in each version, like commit hashes and signatures. The rest is
/// the same in all versions of a package, like descriptions.
const FRESH_SHARE: usize = 8;

/// The manifest, `factor` times as large. The result depends on the manifest and version only.
pub fn pad(manifest: &str, version: &str, factor: f64) -> Vec<u8> {
    let wanted = added_length(manifest.len(), factor);
    let mut out = manifest.as_bytes().to_vec();
    if wanted == 0 || out.pop() != Some(b'}') {
        return manifest.as_bytes().to_vec();
    }
    if out.contains(&b':') {
        out.push(b',');
    }
    out.extend(format!("\"{FIELD}\":\"").bytes());
    prose(&mut out, wanted - wanted / FRESH_SHARE);
    noise(&mut out, version, wanted / FRESH_SHARE);
    out.extend(b"\"}");
    out
}

#[expect(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a size, roughly"
)]
fn added_length(length: usize, factor: f64) -> usize {
    (length as f64 * (factor - 1.0)).max(0.0) as usize
}

fn prose(out: &mut Vec<u8>, length: usize) {
    let end = out.len() + length;
    for word in WORDS.iter().cycle() {
        if out.len() >= end {
            break;
        }
        out.extend(word.bytes());
        out.push(b' ');
    }
}

fn noise(out: &mut Vec<u8>, seed: &str, length: usize) {
    // FNV-1a. The seed has to differ between versions and be the same in each run.
    let mut state =
        seed.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3));
    let end = out.len() + length;
    while out.len() < end {
        out.extend(format!("{:016x}", next(&mut state)).bytes());
    }
}

/// Marsaglia's xorshift64.
fn next(state: &mut u64) -> u64 {
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    *state
}
