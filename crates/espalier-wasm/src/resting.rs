//! Packuments whose texts are compressed, but for those that were looked at last.
//!
//! A resolution reads one or two manifests of several hundred, most of them when the packument has just come. What it has read stays
//! as it is. The texts as they are would be most of the memory, which never shrinks.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::sync::{Arc, Weak};

use espalier_core::Packument;
use espalier_core::packument::Source;

use crate::lz;

/// How many bytes of text stay as they are.
const ROOM: usize = 4 << 20;

thread_local! {
    static AWAKE: RefCell<Awake> = RefCell::default();
}

/// Those with their texts, the one that was looked at last at the end.
#[derive(Default)]
struct Awake {
    packuments: VecDeque<(Weak<Packument>, usize)>,
    bytes: usize,
}

/// To be told of a packument whose text of so many bytes is there again. Others make way.
pub fn awake(packument: Weak<Packument>, bytes: usize) {
    let mut tired = Vec::new();
    AWAKE.with_borrow_mut(|awake| {
        awake.packuments.push_back((packument, bytes));
        awake.bytes += bytes;
        // The last one is being looked at.
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
