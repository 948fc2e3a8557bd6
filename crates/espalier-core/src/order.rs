//! Stable sorting, with one instance of the standard library's sort for all types.
//!
//! In WebAssembly, each type that is sorted in the usual way adds 4 KB. This module sorts positions
//! and then arranges the items accordingly. `clippy.toml` bans the usual way.

use std::cmp::Ordering;

/// Sorts by a comparison.
pub fn sort_by<T>(items: &mut [T], mut compare: impl FnMut(&T, &T) -> Ordering) {
    if items.len() > 1 {
        let order = positions(items.len(), &mut |a, b| compare(&items[a], &items[b]));
        arrange(items, order);
    }
}

/// Sorts by a key, which is computed once for each item.
pub fn sort_by_key<T, K: Ord>(items: &mut [T], key: impl FnMut(&T) -> K) {
    if items.len() > 1 {
        let keys: Vec<K> = items.iter().map(key).collect();
        let order = positions(keys.len(), &mut |a, b| keys[a].cmp(&keys[b]));
        arrange(items, order);
    }
}

/// The positions in sorted order. Empty if the items are sorted already.
#[expect(clippy::disallowed_methods, reason = "this is the one instance")]
fn positions(count: usize, compare: &mut dyn FnMut(usize, usize) -> Ordering) -> Vec<usize> {
    if (1..count).all(|next| compare(next - 1, next).is_le()) {
        return Vec::new();
    }
    let mut positions: Vec<usize> = (0..count).collect();
    positions.sort_by(|&a, &b| compare(a, b));
    positions
}

/// Arranges the items in the order of these positions, cycle by cycle.
fn arrange<T>(items: &mut [T], mut positions: Vec<usize>) {
    for start in 0..positions.len() {
        let mut place = start;
        loop {
            let from = std::mem::replace(&mut positions[place], place);
            if from == start {
                break;
            }
            items.swap(place, from);
            place = from;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{sort_by, sort_by_key};
    use proptest::prelude::*;

    proptest! {
        #[test]
        #[expect(clippy::disallowed_methods, reason = "what it is held against")]
        fn sorts_as_the_standard_library_does(items in proptest::collection::vec((0_u8..20, any::<u16>()), 0..200)) {
            let mut expected = items.clone();
            expected.sort_by_key(|item| item.0);
            let (mut by, mut by_key) = (items.clone(), items);
            sort_by(&mut by, |a, b| a.0.cmp(&b.0));
            sort_by_key(&mut by_key, |item| item.0);
            prop_assert_eq!(&by, &expected);
            prop_assert_eq!(&by_key, &expected);
        }
    }
}
