//! Parsed documents that stay in memory between runs. A what-if needs almost the same documents
//! again, and reading them from a cache takes longer than resolving. The caller sets the maximum
//! size.

use std::cell::RefCell;

use espalier_core::{Answer, Request};
use js_sys::Date;
use rustc_hash::FxHashMap;

thread_local! {
    static RECENT: RefCell<Recent> = RefCell::default();
}

#[derive(Default)]
struct Recent {
    /// The documents by the number of their registries and credentials.
    documents: Vec<FxHashMap<Request, Document>>,
    bytes: usize,
}

struct Document {
    answer: Answer,
    bytes: usize,
    /// Until when it can be used without asking, in milliseconds since the epoch.
    fresh_until: f64,
}

/// The answer to a request, if it is here and still fresh. With `at_any_age`, it needn't be fresh.
pub fn find(asked: usize, request: &Request, at_any_age: bool) -> Option<Answer> {
    RECENT.with_borrow(|recent| {
        let document = recent.documents.get(asked)?.get(request)?;
        (at_any_age || document.fresh_until > Date::now()).then(|| document.answer.clone())
    })
}

/// Keeps a document. If there is no room left, all others are dropped.
pub fn keep(asked: usize, request: &Request, answer: &Answer, bytes: usize, fresh_until: f64, room: usize) {
    RECENT.with_borrow_mut(|recent| {
        if recent.bytes + bytes > room {
            *recent = Recent::default();
        }
        while recent.documents.len() <= asked {
            recent.documents.push(FxHashMap::default());
        }
        let document = Document { answer: answer.clone(), bytes, fresh_until };
        let replaced = recent.documents[asked].insert(request.clone(), document);
        recent.bytes += bytes;
        recent.bytes -= replaced.map_or(0, |document| document.bytes);
    });
}
