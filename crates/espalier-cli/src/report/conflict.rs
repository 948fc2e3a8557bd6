//! A peer conflict: both branches, and what resolves it.

use std::fmt::Write as _;

use espalier_core::error::{ConflictSide, PeerConflict};
use espalier_core::{Proposal, Remedy};

use super::chain::{branch, spec_text};
use crate::style::{CAUTION, Styled, strong};

/// The text below the first line of an ERESOLVE.
pub fn details(conflict: &PeerConflict, remedies: &[Remedy]) -> String {
    let PeerConflict { name, current, wanted, .. } = conflict;
    let mut details = String::new();
    let there = current.version.as_deref().unwrap_or_else(|| spec_text(&current.spec));
    let _ = writeln!(details, "  The tree has {}:\n", Styled(CAUTION, format!("{name} {there}")));
    details += &side(name, current);
    let needed = Styled(CAUTION, format!("{name} {}", spec_text(&wanted.spec)));
    let _ = writeln!(details, "\n  The same place also needs {needed}:\n");
    details += &side(name, wanted);
    details += &remedies_list(remedies);
    details
}

/// The remedies, each of which was tried.
fn remedies_list(remedies: &[Remedy]) -> String {
    let rows: Vec<(String, &str)> = remedies.iter().map(described).collect();
    if rows.is_empty() {
        return String::new();
    }
    let width = rows.iter().filter(|(_, effect)| !effect.is_empty()).map(|(what, _)| what.chars().count()).max();
    let mut list = "\n  Each of these changes was tried and resolves the conflict:\n".to_owned();
    for (what, effect) in rows {
        let padding = width.unwrap_or_default().saturating_sub(what.chars().count());
        let line = if effect.is_empty() {
            strong(what).to_string()
        } else {
            format!("{}{:padding$}   {effect}", strong(what), "")
        };
        let _ = writeln!(list, "    {line}");
    }
    list
}

/// What to do, and what it means if that isn't obvious.
fn described(Remedy(changes): &Remedy) -> (String, &'static str) {
    match changes.as_slice() {
        [Proposal::Flag { flag: "legacy-peer-deps" }] => {
            ("--legacy-peer-deps".to_owned(), "ignores peer dependencies, as npm 6 did")
        }
        [Proposal::Flag { flag }] => (format!("--{flag}"), "accepts the conflict"),
        changes => (changes.iter().map(instruction).collect::<Vec<_>>().join(", and "), ""),
    }
}

fn instruction(change: &Proposal) -> String {
    match change {
        Proposal::Range { name, from, to, .. } => {
            format!("{name} {to} instead of {}{}", spec_text(from), place(change))
        }
        Proposal::Override { parent, name, spec } => {
            format!("\"overrides\": {{ \"{parent}\": {{ \"{name}\": \"{spec}\" }} }}")
        }
        Proposal::Remove { name, .. } => format!("remove {name}{}", place(change)),
        Proposal::Flag { flag } => format!("--{flag}"),
    }
}

/// The place of a change, unless it is obvious.
fn place(change: &Proposal) -> String {
    change.folder().map(|folder| format!(", in {folder}")).unwrap_or_default()
}

fn side(name: &str, side: &ConflictSide) -> String {
    branch(&side.chain, name, side.version.as_deref())
}
