//! Two demands that can't be met together: both branches, and what gets past them.

use std::fmt::Write as _;

use espalier_core::error::{ConflictSide, PeerConflict};

use super::chain::{branch, spec_text};
use crate::style::{CAUTION, Styled, strong};

/// What stands below the first line of an ERESOLVE.
pub fn details(conflict: &PeerConflict) -> String {
    let PeerConflict { name, current, wanted, .. } = conflict;
    let mut details = String::new();
    let there = current.version.as_deref().unwrap_or_else(|| spec_text(&current.spec));
    let _ = writeln!(details, "  {} is there:\n", Styled(CAUTION, format!("{name} {there}")));
    details += &side(name, current);
    let needed = Styled(CAUTION, format!("{name} {}", spec_text(&wanted.spec)));
    let _ = writeln!(details, "\n  {needed} is needed in the same place:\n");
    details += &side(name, wanted);
    let _ = writeln!(details, "\n  What gets past it:");
    if let [_, .., asker] = wanted.chain.as_slice() {
        let _ = writeln!(details, "    another version of {} that accepts {name} {there}", asker.name);
    }
    if let [_] = current.chain.as_slice() {
        let _ = writeln!(details, "    {name} {} in package.json", spec_text(&wanted.spec));
    }
    let flags = [
        ("--legacy-peer-deps", "leaves peers out of the tree, as npm 6 did"),
        ("--force", "builds the tree around the conflict"),
    ];
    for (flag, effect) in flags {
        let _ = writeln!(details, "    {}{:width$}   {effect}", strong(flag), "", width = 18 - flag.len());
    }
    details
}

fn side(name: &str, side: &ConflictSide) -> String {
    branch(&side.chain, name, side.version.as_deref())
}
