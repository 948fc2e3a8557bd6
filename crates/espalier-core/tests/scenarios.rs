//! Checks the rules of `tests/scenarios/*.md`. Each has a tiny registry, requests, and npm's tree.

use crate::scenario::Scenario;

const FILES: [(&str, &str); 5] = [
    ("placement", include_str!("../../../tests/scenarios/placement.md")),
    ("peers", include_str!("../../../tests/scenarios/peers.md")),
    ("optional-and-overrides", include_str!("../../../tests/scenarios/optional-and-overrides.md")),
    ("workspaces", include_str!("../../../tests/scenarios/workspaces.md")),
    ("changes", include_str!("../../../tests/scenarios/changes.md")),
];

#[test]
fn every_scenario_ends_as_in_npm() {
    let mut wrong = Vec::new();
    let mut count = 0;
    for (file, text) in FILES {
        for scenario in Scenario::all(text) {
            count += 1;
            for (step, outcome) in scenario.steps.iter().zip(scenario.resolve()) {
                if outcome != step.expected {
                    let (title, command) = (&scenario.title, step.command.join(" "));
                    wrong.push(format!("{file}: {title}: {command}\n  npm:  {}\n  ours: {outcome}", step.expected));
                }
            }
        }
    }
    assert!(count > 50, "the scenarios were not read");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// The order of arrival must not change the tree. Here, the newest request is answered first.
#[test]
fn the_order_of_answers_changes_nothing() {
    for (file, text) in FILES {
        for scenario in Scenario::all(text) {
            assert_eq!(scenario.resolve_backwards(), scenario.resolve(), "{file}: {}", scenario.title);
        }
    }
}

/// Reporting the decisions does not change them.
#[test]
fn reporting_decisions_changes_nothing() {
    for (file, text) in FILES {
        for scenario in Scenario::all(text) {
            assert_eq!(scenario.resolve_reporting(), scenario.resolve(), "{file}: {}", scenario.title);
        }
    }
}
