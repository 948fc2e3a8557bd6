//! Draws the chain of dependents of a package as a branch.
//!
//! ```text
//!   my-app 1.0.0
//!   └─ a 1.2.0      wanted as ^1.0.0
//!      └─ b         wanted as ^3, as a peer
//! ```

use std::fmt::Write as _;

use espalier_core::{EdgeKind, Requirer};

use super::printable;
use crate::style::{quiet, strong};

/// A longer branch loses its middle, so that an error fits on one screen.
const LONGEST: usize = 9;

struct Row {
    name: String,
    version: Option<String>,
    wanted: Option<(String, EdgeKind)>,
}

/// The branch from the root to `name`, which the last of the chain depends on. `version` is the
/// chosen version, if any.
pub fn branch(chain: &[Requirer], name: &str, version: Option<&str>) -> String {
    let wanted_by = |index: usize| {
        let asker = index.checked_sub(1).and_then(|index| chain.get(index))?;
        Some((asker.spec.clone(), asker.kind))
    };
    let mut rows: Vec<_> = chain
        .iter()
        .enumerate()
        .map(|(index, package)| Row {
            name: package.name.clone(),
            version: package.version.clone(),
            wanted: wanted_by(index),
        })
        .collect();
    rows.push(Row { name: name.to_owned(), version: version.map(str::to_owned), wanted: wanted_by(chain.len()) });

    let hidden = rows.len().saturating_sub(LONGEST);
    if hidden > 0 {
        // The root, its dependency and the end stay.
        rows.splice(3..=3 + hidden, [Row { name: format!("… {} more", hidden + 1), version: None, wanted: None }]);
    }
    draw(&rows)
}

fn draw(rows: &[Row]) -> String {
    let twig = |depth: usize| match depth {
        0 => String::new(),
        depth => format!("{}└─ ", "   ".repeat(depth - 1)),
    };
    let used = |depth: usize, row: &Row| {
        3 * depth + row.name.chars().count() + row.version.as_ref().map_or(0, |version| 1 + version.chars().count())
    };
    let widths = rows.iter().enumerate().map(|(depth, row)| used(depth, row));
    let width = widths.max().unwrap_or_default();
    let mut drawn = String::new();
    for (depth, row) in rows.iter().enumerate() {
        let padding = width - used(depth, row);
        let version = row.version.as_ref().map_or_else(String::new, |version| format!(" {version}"));
        let _ = write!(drawn, "  {}{}{version}", quiet(twig(depth)), strong(&row.name));
        if let Some((spec, kind)) = &row.wanted {
            let wanted = match *kind {
                EdgeKind::Workspace => "a workspace".to_owned(),
                kind => format!("wanted as {}{}", printable(spec_text(spec)), kind_text(kind)),
            };
            let _ = write!(drawn, "{:padding$}   {}", "", quiet(wanted));
        }
        drawn.push('\n');
    }
    drawn
}

/// The spec as text. An empty spec means any version.
pub fn spec_text(spec: &str) -> &str {
    if spec.trim().is_empty() { "*" } else { spec }
}

fn kind_text(kind: EdgeKind) -> &'static str {
    match kind {
        EdgeKind::Dev => ", for development",
        EdgeKind::Optional => ", optionally",
        EdgeKind::Peer => ", as a peer",
        EdgeKind::PeerOptional => ", as an optional peer",
        EdgeKind::Prod | EdgeKind::Workspace => "",
    }
}

#[cfg(test)]
mod tests {
    use espalier_core::{EdgeKind, Requirer};

    use super::branch;

    fn requirer(name: &str, version: &str, spec: &str, kind: EdgeKind) -> Requirer {
        Requirer {
            name: name.into(),
            version: (!version.is_empty()).then(|| version.into()),
            location: String::new(),
            spec: spec.into(),
            kind,
        }
    }

    #[track_caller]
    fn check(chain: &[Requirer], name: &str, version: Option<&str>, expected: &[&str]) {
        let drawn = anstream::adapter::strip_str(&branch(chain, name, version)).to_string();
        assert_eq!(drawn.lines().collect::<Vec<_>>(), expected);
    }

    #[test]
    fn every_package_says_how_it_was_wanted() {
        check(
            &[requirer("my-app", "1.0.0", "^1.0.0", EdgeKind::Dev), requirer("a", "1.2.0", "^3", EdgeKind::Peer)],
            "b",
            None,
            &[
                "  my-app 1.0.0",
                "  └─ a 1.2.0     wanted as ^1.0.0, for development",
                "     └─ b        wanted as ^3, as a peer",
            ],
        );
    }

    #[test]
    fn a_long_branch_loses_its_middle() {
        let chain: Vec<_> = (0..12).map(|index| requirer(&format!("p{index}"), "", "*", EdgeKind::Prod)).collect();
        let drawn = anstream::adapter::strip_str(&branch(&chain, "last", Some("1.0.0"))).to_string();
        let lines: Vec<_> = drawn.lines().map(str::trim).collect();
        assert_eq!(lines.len(), 9);
        assert_eq!(lines[3], "└─ … 5 more");
        assert!(lines[4].starts_with("└─ p8 "), "{drawn}");
        assert!(lines[8].starts_with("└─ last 1.0.0"), "{drawn}");
    }

    #[test]
    fn an_empty_spec_is_any_version() {
        check(&[requirer("root", "", "", EdgeKind::Prod)], "a", None, &["  root", "  └─ a   wanted as *"]);
    }
}
