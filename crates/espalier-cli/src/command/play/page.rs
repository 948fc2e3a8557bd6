//! The built playground: a pack of files in the form in which they are served (`web/pack.js` makes it).

use std::collections::HashMap;
use std::io::Read as _;

use bytes::Bytes;
use flate2::read::GzDecoder;

/// The page that was built into this program, which may be empty.
static BUILT_IN: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/page.pack"));

/// The files by path. They aren't on disk, so no path can lead out of a folder.
pub struct Page {
    files: HashMap<String, File>,
}

/// A file of the page.
pub struct File {
    /// Its `Content-Type`.
    pub kind: String,
    /// The content, compressed by gzip, because some browsers accept nothing better over plain HTTP.
    pub body: Bytes,
}

impl File {
    /// The decompressed content, for clients that can't decompress. Empty if the pack is damaged.
    pub fn plain(&self) -> Bytes {
        let mut content = Vec::new();
        let read = GzDecoder::new(&*self.body).read_to_end(&mut content);
        read.map_or_else(|_| Bytes::new(), |_| content.into())
    }
}

/// A file in the first line of a pack: path, type, and length.
type Listed = (String, String, usize);

impl Page {
    /// The page that was built into this program.
    pub fn built_in() -> Option<Self> {
        Self::parse(&Bytes::from_static(BUILT_IN))
    }

    /// Parses a pack: a line of JSON, then the contents one after the other. `None` for anything else.
    pub fn parse(pack: &Bytes) -> Option<Self> {
        let end = pack.iter().position(|byte| *byte == b'\n')?;
        let listed: Vec<Listed> = serde_json::from_slice(&pack[..end]).ok()?;
        let mut files = HashMap::new();
        let mut at = end + 1;
        for (path, kind, length) in listed {
            let next = at.checked_add(length).filter(|next| *next <= pack.len())?;
            files.insert(path, File { kind, body: pack.slice(at..next) });
            at = next;
        }
        files.contains_key("index.html").then_some(Self { files })
    }

    /// The file at a path. The empty path is the page itself.
    pub fn file(&self, path: &str) -> Option<&File> {
        self.files.get(if path.is_empty() { "index.html" } else { path })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(pack: &'static str) -> Option<Page> {
        Page::parse(&Bytes::from_static(pack.as_bytes()))
    }

    #[test]
    fn files_lie_one_after_the_other() {
        let page =
            parsed("[[\"index.html\",\"text/html\",2],[\"a.js\",\"text/javascript\",3]]\nhiabc").expect("a pack");
        assert_eq!(page.file("").expect("the page").body, "hi");
        assert_eq!(page.file("a.js").expect("a script").body, "abc");
        assert!(page.file("../a.js").is_none());
    }

    #[test]
    fn what_is_no_pack_is_none() {
        for text in ["", "hi", "[]\n", "[[\"index.html\",\"text/html\",3]]\nhi"] {
            assert!(parsed(text).is_none(), "{text:?}");
        }
    }
}
