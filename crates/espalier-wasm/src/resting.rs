//! Compresses the texts of packuments, except for those that were used last.
//!
//! A resolution reads one or two manifests of several hundred, most of them right after the packument has arrived. Manifests that
//! were read stay. The complete texts would take most of the memory, which never shrinks.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::sync::{Arc, Weak};

use espalier_core::Packument;
use espalier_core::packument::Source;

use crate::lz;

/// How many bytes of text stay uncompressed.
const ROOM: usize = 4 << 20;

thread_local! {
    static AWAKE: RefCell<Awake> = RefCell::default();
}

/// The packuments with uncompressed texts. The one that was used last is at the end.
#[derive(Default)]
struct Awake {
    packuments: VecDeque<(Weak<Packument>, usize)>,
    bytes: usize,
}

/// Records that the text of a packument, of this length, is uncompressed again. Others are compressed.
pub fn awake(packument: Weak<Packument>, bytes: usize) {
    let mut tired = Vec::new();
    AWAKE.with_borrow_mut(|awake| {
        awake.packuments.push_back((packument, bytes));
        awake.bytes += bytes;
        // The last one is in use.
        while awake.bytes > ROOM && awake.packuments.len() > 1 {
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
