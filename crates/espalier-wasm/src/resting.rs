//! Compresses the texts of packuments, except for those that were used last.
//!
//! A resolution reads one or two manifests of several hundred, most of them right after the
//! packument has arrived. Manifests that were read stay. The complete texts would take most of the
//! memory, which never shrinks.
//!
//! Compressing takes time that the tree waits for. So the texts of a small project stay as they
//! are. In a large one, the memory that they took at first serves others later.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::sync::{Arc, Weak};

use espalier_core::Packument;
use espalier_core::packument::Source;

use crate::lz;

/// How many bytes of text are uncompressed before any are compressed.
const ROOM_AT_FIRST: usize = 32 << 20;
/// How many bytes of text stay uncompressed from then on.
const ROOM: usize = 4 << 20;
/// About how many bytes are compressed in one go, so that the thread is never busy for long.
const AT_ONCE: usize = 2 << 20;

thread_local! {
    static AWAKE: RefCell<Awake> = RefCell::default();
}

/// The packuments with uncompressed texts. The one that was used last is at the end.
#[derive(Default)]
struct Awake {
    packuments: VecDeque<(Weak<Packument>, usize)>,
    bytes: usize,
    /// Whether there was too much text.
    is_full: bool,
}

/// Records that the text of a packument, of this length, is uncompressed again. Others are
/// compressed.
pub fn awake(packument: Weak<Packument>, bytes: usize) {
    let mut tired = Vec::new();
    AWAKE.with_borrow_mut(|awake| {
        awake.packuments.push_back((packument, bytes));
        awake.bytes += bytes;
        awake.is_full |= awake.bytes > ROOM_AT_FIRST;
        let room = if awake.is_full { ROOM } else { ROOM_AT_FIRST };
        let end = awake.bytes.saturating_sub(AT_ONCE).max(room);
        // The last one is in use.
        while awake.bytes > end && awake.packuments.len() > 1 {
            let Some((packument, bytes)) = awake.packuments.pop_front() else { break };
            awake.bytes -= bytes;
            tired.extend(packument.upgrade());
        }
    });
    tired.iter().for_each(rest);
}

fn rest(packument: &Arc<Packument>) {
    packument.let_go(|text| {
        let (compressed, length) = (lz::compress(text), text.len());
        let packument = Arc::downgrade(packument);
        Source::new(move || {
            awake(packument.clone(), length);
            Some(lz::decompress(&compressed, length))
        })
    });
}
