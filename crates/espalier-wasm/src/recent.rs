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
    /// Registries and credentials: of others, nothing that is here can be used.
    from: String,
    documents: FxHashMap<Request, Document>,
    bytes: usize,
    /// The number of the run under way.
    run: u32,
}

struct Document {
    answer: Answer,
    bytes: usize,
    /// Until when it can be used without asking, in milliseconds since the epoch.
    fresh_until: f64,
    /// The run that used it last.
    run: u32,
}

/// A new run begins, with documents of these registries.
pub fn begin(from: &str) {
    RECENT.with_borrow_mut(|recent| {
        if recent.from != from {
            *recent = Recent { from: from.to_owned(), run: recent.run, ..Recent::default() };
        }
        recent.run += 1;
    });
}

/// The answer to a request, if it is here and, unless its age doesn't matter, still fresh.
pub fn find(request: &Request, at_any_age: bool) -> Option<Answer> {
    RECENT.with_borrow_mut(|recent| {
        let document = recent.documents.get_mut(request)?;
        // A version with the integrity that its packument has stays what it is.
        let is_final = matches!(request, Request::VersionDocument { integrity: Some(_), .. });
        if !at_any_age && !is_final && document.fresh_until <= Date::now() {
            return None;
        }
        document.run = recent.run;
        Some(document.answer.clone())
    })
}

/// Keeps a document, in place of those that the present run doesn't use, if there is room.
pub fn keep(request: &Request, answer: &Answer, bytes: usize, fresh_until: f64, room: usize) {
    RECENT.with_borrow_mut(|recent| {
        if recent.bytes + bytes > room {
            let Recent { documents, run, .. } = recent;
            documents.retain(|_, document| document.run == *run);
            recent.bytes = recent.documents.values().map(|document| document.bytes).sum();
        }
        if recent.bytes + bytes > room {
            return;
        }
        let document = Document { answer: answer.clone(), bytes, fresh_until, run: recent.run };
        let replaced = recent.documents.insert(request.clone(), document);
        recent.bytes += bytes;
        recent.bytes -= replaced.map_or(0, |document| document.bytes);
    });
}
