//! The files of a built web app, at the same origin as its registry.

use std::path::{Component, Path};

use bytes::Bytes;
use percent_encoding::percent_decode_str;

/// A file and its type.
pub struct StaticFile {
    pub body: Bytes,
    pub content_type: String,
}

/// The file at a path below `root`. A folder means its index.html. `None` if it doesn't exist, or
/// if the path leads out of the root.
pub async fn read(root: &Path, path: &str) -> Option<StaticFile> {
    let decoded = percent_decode_str(path).decode_utf8().ok()?;
    let relative = Path::new(decoded.trim_start_matches('/'));
    if !relative.components().all(|component| matches!(component, Component::Normal(_))) {
        return None;
    }
    let mut file = root.join(relative);
    if tokio::fs::metadata(&file).await.ok()?.is_dir() {
        file.push("index.html");
    }
    let body = tokio::fs::read(&file).await.ok()?;
    let content_type = mime_guess::from_path(&file).first_or_octet_stream();
    Some(StaticFile { body: body.into(), content_type: content_type.to_string() })
}
