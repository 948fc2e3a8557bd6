//! Documents that stay in memory from one run to the next, parsed: whoever asks "what if" asks for nearly the same ones again, and
//! reading them from a cache takes longer than resolving. Only where the caller gives room for it.

use std::cell::RefCell;

use espalier_core::{Answer, Request};
use js_sys::Date;
use rustc_hash::FxHashMap;

thread_local! {
    static RECENT: RefCell<Recent> = RefCell::default();
}

#[derive(Default)]
struct Recent {
    /// By the number of whom was asked: registries, and with which credentials.
    documents: Vec<FxHashMap<Request, Document>>,
    bytes: usize,
}

struct Document {
    answer: Answer,
    bytes: usize,
    /// Until when it can be used without asking, in milliseconds since the epoch.
    fresh_until: f64,
}

/// The answer to a request, if it is here and, unless its age doesn't matter, still fresh.
pub fn find(asked: usize, request: &Request, at_any_age: bool) -> Option<Answer> {
    RECENT.with_borrow(|recent| {
        let document = recent.documents.get(asked)?.get(request)?;
        (at_any_age || document.fresh_until > Date::now()).then(|| document.answer.clone())
    })
}

/// Keeps a document. Where the room is used up, everything else makes way.
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
