//! The built playground: files in one pack, each as it is sent (`web/pack.js` makes it). What is in them is not
//! known here.

use std::collections::HashMap;
use std::io::Read as _;

use bytes::Bytes;
use flate2::read::GzDecoder;

/// What this program was built with; empty where that was nothing.
static BUILT_IN: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/page.pack"));

/// The files, by path. There is no folder behind them, so no path leads out of one.
pub struct Page {
    files: HashMap<String, File>,
}

/// A file of the page.
pub struct File {
    /// Its `Content-Type`.
    pub kind: String,
    /// What is sent, compressed by gzip. Some browsers accept nothing better over plain HTTP.
    pub body: Bytes,
}

impl File {
    /// The file itself, for clients that decompress nothing; empty if the pack is damaged.
    pub fn plain(&self) -> Bytes {
        let mut content = Vec::new();
        let read = GzDecoder::new(&*self.body).read_to_end(&mut content);
        read.map_or_else(|_| Bytes::new(), |_| content.into())
    }
}

/// What the first line of a pack says of a file: path, type, and length.
type Listed = (String, String, usize);

impl Page {
    /// The page that this program was built with.
    pub fn built_in() -> Option<Self> {
        Self::parse(&Bytes::from_static(BUILT_IN))
    }

    /// A line of JSON, then the bodies one after the other. `None` for anything else.
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

    /// The file at a path; the page itself at none.
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
