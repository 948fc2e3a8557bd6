//! The built playground: a pack of files in the form in which they are served (`web/pack.js` makes
//! it).

use std::collections::HashMap;
use std::io::Read as _;

use bytes::Bytes;
use flate2::read::GzDecoder;

/// The page that was built into this program, which may be empty.
static BUILT_IN: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/page.pack"));

/// The files by path. They aren't on disk, so no path can lead out of a folder.
pub struct Page {
    files: HashMap<String, File>,
    /// The hash of its inline script, as a source of a content security policy. Empty for a page
    /// without one.
    pub script: String,
}

/// A file of the page.
pub struct File {
    /// Its `Content-Type`.
    pub kind: String,
    /// The content, compressed by gzip, because some browsers accept nothing better over plain
    /// HTTP.
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

    /// Parses a pack: a line of JSON, then the contents one after the other. `None` for anything
    /// else.
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
        let script = script_source(&files.get("index.html")?.plain());
        Some(Self { files, script })
    }

    /// The file at a path. The empty path is the page itself.
    pub fn file(&self, path: &str) -> Option<&File> {
        self.files.get(if path.is_empty() { "index.html" } else { path })
    }
}

/// The hash in the policy that the page itself states (`web/plugins/content-security-policy.ts`).
fn script_source(html: &[u8]) -> String {
    let html = String::from_utf8_lossy(html);
    let Some(at) = html.find("sha256-") else { return String::new() };
    let is_of_hash = |letter: &char| letter.is_ascii_alphanumeric() || "+/=-".contains(*letter);
    format!("'{}'", html[at..].chars().take_while(is_of_hash).collect::<String>())
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
    fn the_policy_of_the_page_states_its_script() {
        for (html, source) in [
            ("<meta content=\"script-src 'self' 'sha256-a+/Z09='; img-src 'self'\">", "'sha256-a+/Z09='"),
            ("<meta content=\"script-src &#39;sha256-a+/Z09=&#39;\">", "'sha256-a+/Z09='"),
            ("<p>no policy</p>", ""),
        ] {
            assert_eq!(script_source(html.as_bytes()), source, "{html}");
        }
    }

    #[test]
    fn what_is_no_pack_is_none() {
        for text in ["", "hi", "[]\n", "[[\"index.html\",\"text/html\",3]]\nhi"] {
            assert!(parsed(text).is_none(), "{text:?}");
        }
    }
}
