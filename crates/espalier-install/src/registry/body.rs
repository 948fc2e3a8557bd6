//! Bodies: read up to a bound, and decompressed up to another.

use std::io::Read as _;

use flate2::bufread::MultiGzDecoder;
use reqwest::Response;
use reqwest::header::CONTENT_ENCODING;

use super::failure::Trouble;

/// How a body was sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Encoding {
    /// As it is.
    Identity,
    /// Compressed.
    Gzip,
}

impl Encoding {
    /// Nothing but gzip was offered, so anything else is the server's mistake.
    pub(super) fn of(response: &Response) -> Result<Self, Trouble> {
        match response.headers().get(CONTENT_ENCODING).map(|value| value.as_bytes().to_ascii_lowercase()) {
            None => Ok(Self::Identity),
            Some(name) if name == b"identity" || name.is_empty() => Ok(Self::Identity),
            Some(name) if name == b"gzip" || name == b"x-gzip" => Ok(Self::Gzip),
            Some(name) => {
                let name = super::failure::printable(&String::from_utf8_lossy(&name));
                Err(Trouble::Unusable(format!("is compressed by `{name}`, which was not asked for")))
            }
        }
    }

    /// The body as it was meant, no longer than `limit`.
    pub(crate) fn decode(self, body: &[u8], limit: u64) -> Result<Vec<u8>, String> {
        match self {
            Self::Identity => Ok(body.to_vec()),
            Self::Gzip => inflate(body, limit),
        }
    }
}

fn inflate(body: &[u8], limit: u64) -> Result<Vec<u8>, String> {
    // The length that gzip notes at its end spares most of the growing; it is a hint and nothing more.
    let noted = body.last_chunk().map_or(0, |length| u32::from_le_bytes(*length));
    let plausible = usize::try_from(noted).unwrap_or_default().min(body.len().saturating_mul(20));
    let mut inflated = Vec::with_capacity(plausible);
    let length = MultiGzDecoder::new(body).take(limit + 1).read_to_end(&mut inflated);
    match length {
        Ok(length) if length as u64 > limit => Err(too_long(limit)),
        Ok(_) => Ok(inflated),
        Err(error) => Err(format!("cannot be decompressed: {error}")),
    }
}

/// Reads a body as it was sent.
pub(super) async fn read(mut response: Response, limit: u64) -> Result<Vec<u8>, Trouble> {
    let announced = response.content_length().unwrap_or_default();
    if announced > limit {
        return Err(Trouble::Unusable(too_long(limit)));
    }
    let mut body = Vec::with_capacity(usize::try_from(announced).unwrap_or_default());
    while let Some(chunk) = response.chunk().await.map_err(Trouble::Transport)? {
        body.extend_from_slice(&chunk);
        if body.len() as u64 > limit {
            return Err(Trouble::Unusable(too_long(limit)));
        }
    }
    Ok(body)
}

fn too_long(limit: u64) -> String {
    format!("is longer than {} MB", limit / 1_000_000)
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use flate2::Compression;
    use flate2::write::GzEncoder;

    use super::Encoding;

    fn compressed(bytes: &[u8]) -> Vec<u8> {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
        encoder.write_all(bytes).expect("into memory");
        encoder.finish().expect("into memory")
    }

    #[test]
    fn compressed_bodies_are_inflated() {
        assert_eq!(Encoding::Gzip.decode(&compressed(b"hello"), 100).as_deref(), Ok(b"hello".as_slice()));
    }

    #[test]
    fn a_body_in_several_parts_is_read_to_its_end() {
        let parts = [compressed(b"hello "), compressed(b"there")].concat();
        assert_eq!(Encoding::Gzip.decode(&parts, 100).as_deref(), Ok(b"hello there".as_slice()));
    }

    #[test]
    fn a_bomb_is_refused() {
        let error = Encoding::Gzip.decode(&compressed(&vec![0; 3_000_000]), 2_000_000);
        assert_eq!(error, Err("is longer than 2 MB".to_owned()));
    }

    #[test]
    fn a_truncated_body_is_an_error() {
        let whole = compressed(&[7; 1000]);
        assert!(Encoding::Gzip.decode(&whole[..whole.len() - 9], 10_000).is_err());
    }
}
