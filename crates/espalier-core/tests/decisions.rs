//! The events about a resolution's decisions.

use std::sync::Arc;

use espalier_core::decision::{Decision, Objection, Origin, PassedOver, ProblemState};
use espalier_core::{Answer, Detail, Event, Options, Packument, Progress, Project, Reporting, Request, Resolution};
use serde_json::{Value, json};

/// Versions by name, each with its dependencies.
fn packument(name: &str) -> Value {
    let versions = match name {
        "a" => json!({ "1.0.0": { "dependencies": { "b": "^1.0.0" } } }),
        "b" => json!({ "1.0.0": {}, "1.1.0": { "deprecated": "broken" }, "2.0.0": {} }),
        "c" => json!({ "1.0.0": { "dependencies": { "b": "^2.0.0" } } }),
        "d" => json!({ "1.0.0": { "peerDependencies": { "b": "^2.0.0" } } }),
        other => panic!("nobody asks for {other}"),
    };
    let latest = versions.as_object().and_then(|versions| versions.keys().next_back()).cloned();
    json!({ "name": name, "dist-tags": { "latest": latest }, "versions": versions.as_object().expect("versions").iter()
        .map(|(version, fields)| {
            let mut fields = fields.clone();
            fields["name"] = name.into();
            fields["version"] = version.as_str().into();
            (version.clone(), fields)
        }).collect::<serde_json::Map<_, _>>() })
}

fn events(dependencies: &Value, reporting: Reporting) -> Vec<Event> {
    let manifest = json!({ "name": "project", "dependencies": dependencies }).to_string();
    let project = Project { manifest, folder_name: "project".into(), ..Project::default() };
    let mut resolution = Resolution::new(project, Options { reporting, ..Options::default() });
    while resolution.advance() == Progress::Waiting {
        while let Some((request, _)) = resolution.next_request() {
            let Request::Packument { name, .. } = &request else { panic!("{request:?}") };
            let text = packument(name).to_string();
            let packument = Packument::parse(text.as_bytes(), Detail::Whole).expect("a packument");
            resolution.supply(&request, Ok(Answer::Packument(Arc::new(packument))));
        }
    }
    let events = std::iter::from_fn(|| resolution.next_event()).collect();
    resolution.finish().map(|_| ()).unwrap_or_default();
    events
}

fn decisions(events: Vec<Event>) -> Vec<Decision> {
    let decided = |event| if let Event::Decided(decision) = event { Some(*decision) } else { None };
    events.into_iter().filter_map(decided).collect()
}

/// A decision on one line: the package, the tried folders with their reasons, and the result.
fn line(decision: &Decision) -> String {
    let tried: Vec<String> =
        decision.tried.iter().map(|trial| format!("/{} {:?} {:?}", trial.location, trial.verdict, trial.why)).collect();
    let version = decision.version.as_deref().unwrap_or("?");
    format!("{}@{version}: {}: {:?}", decision.demand.name, tried.join(", "), decision.result)
}

#[test]
fn a_package_that_stays_below_its_dependent_says_what_was_in_the_way() {
    let decided = decisions(events(&json!({ "a": "^1.0.0", "c": "^1.0.0" }), Reporting::Decisions));
    let lines: Vec<String> = decided.iter().map(line).collect();
    assert_eq!(
        lines,
        [
            r#"a@1.0.0: / Free Free: New { location: "node_modules/a", replaced: None }"#,
            r#"c@1.0.0: / Free Free: New { location: "node_modules/c", replaced: None }"#,
            r#"b@1.0.0: /node_modules/a Free Free, / Free Free: New { location: "node_modules/b", replaced: None }"#,
            r#"b@2.0.0: /node_modules/c Free Free, / Conflict Occupied { version: "1.0.0" }: New { location: "node_modules/c/node_modules/b", replaced: None }"#,
        ]
    );
}

#[test]
fn a_peer_is_gathered_in_a_set_and_decided_on_after_its_package() {
    let events = events(&json!({ "d": "^1.0.0" }), Reporting::Decisions);
    let gathered: Vec<_> = events
        .iter()
        .filter_map(|event| match event {
            Event::Gathered { demand, origin, set, .. } => {
                Some((demand.name.as_str(), demand.from.as_deref(), *origin, set.as_str()))
            }
            _ => None,
        })
        .collect();
    assert_eq!(gathered, [("d", Some(""), Origin::Fetched, ""), ("b", None, Origin::Fetched, "")]);
    let decided = decisions(events);
    assert_eq!(decided.iter().map(|decision| decision.as_peer).collect::<Vec<_>>(), [false, true]);
}

#[test]
fn a_choice_says_what_speaks_against_the_higher_versions() {
    let events = events(&json!({ "b": "^1.0.0" }), Reporting::Decisions);
    let versions = events.iter().find_map(|event| match event {
        Event::Picked { version, versions, .. } => Some((version.as_str(), versions.clone().expect("versions"))),
        _ => None,
    });
    let (picked, versions) = versions.expect("a choice");
    assert_eq!((picked, versions.total, versions.fitting, versions.latest.as_deref()), ("1.0.0", 3, 2, Some("2.0.0")));
    let passed = |version: &str, why| PassedOver { version: version.into(), why };
    assert_eq!(versions.passed_over, [passed("2.0.0", Objection::OutOfRange), passed("1.1.0", Objection::Deprecated)]);
}

#[test]
fn a_visit_names_the_problems() {
    let events = events(&json!({ "b": "^2.0.0" }), Reporting::Decisions);
    let Event::Visited { location, problems } =
        events.iter().find(|event| matches!(event, Event::Visited { .. })).expect("a visit")
    else {
        unreachable!()
    };
    assert_eq!((location.as_str(), problems.len()), ("", 1));
    assert_eq!((problems[0].state, problems[0].demand.by.as_str()), (ProblemState::Missing, "project"));
}

#[test]
fn nobody_who_does_not_ask_is_told() {
    let of = |reporting| events(&json!({ "a": "^1.0.0", "c": "^1.0.0" }), reporting);
    let is_placement = |event: &Event| matches!(event, Event::Placed { .. });
    let is_choice = |event: &Event| matches!(event, Event::Fetched { .. } | Event::Picked { versions: None, .. });
    let is_extra = |event: &Event| match event {
        Event::Visited { .. } | Event::Gathered { .. } | Event::Decided(_) => true,
        Event::Picked { versions, .. } => versions.is_some(),
        _ => false,
    };
    let tree = of(Reporting::Tree);
    assert!(tree.iter().any(is_placement));
    assert!(!tree.iter().any(|event| is_choice(event) || is_extra(event)), "{tree:?}");
    let choices = of(Reporting::Choices);
    assert!(choices.iter().any(is_choice));
    assert!(!choices.iter().any(is_extra), "{choices:?}");
}

#[test]
fn the_tree_settles_before_a_document_of_a_version_is_needed() {
    let manifest = json!({ "name": "project", "dependencies": { "a": "^1.0.0", "c": "^1.0.0" } }).to_string();
    let project = Project { manifest, folder_name: "project".into(), ..Project::default() };
    let mut resolution = Resolution::new(project, Options::default());
    let mut documents = Vec::new();
    while resolution.advance() == Progress::Waiting {
        let Some((request, _)) = resolution.next_request() else { break };
        if let Request::Packument { name, .. } = &request {
            let packument = Packument::parse(packument(name).to_string().as_bytes(), Detail::Abbreviated).expect("one");
            resolution.supply(&request, Ok(Answer::Packument(Arc::new(packument))));
        } else {
            documents.push(request);
        }
    }
    let settled = std::iter::from_fn(|| resolution.next_event())
        .find_map(|event| if let Event::Settled { packages } = event { Some(packages) } else { None });
    assert_eq!((settled, documents.len()), (Some(4), 4));
    for document in documents {
        resolution.supply(&document, Ok(Answer::VersionDocument(r#"{"license":"MIT"}"#.to_owned())));
    }
    assert_eq!(resolution.advance(), Progress::Done);
    let outcome = resolution.finish().expect("a lock");
    assert_eq!(outcome.lockfile.text().matches(r#""license": "MIT""#).count(), 4);
}

/// A host with few connections fetches what the tree needs first.
#[test]
fn documents_of_versions_come_after_the_packuments() {
    let dependencies: serde_json::Map<_, _> = (0..20).map(|index| (format!("p{index}"), json!("*"))).collect();
    let manifest = json!({ "name": "project", "dependencies": dependencies }).to_string();
    let project = Project { manifest, folder_name: "project".into(), ..Project::default() };
    let mut resolution = Resolution::new(project, Options::default());
    let mut order = Vec::new();
    while resolution.advance() == Progress::Waiting {
        let Some((request, _)) = resolution.next_request() else { break };
        order.push(request.is_for_lockfile());
        if let Request::Packument { name, .. } = &request {
            let packument = json!({
                "dist-tags": { "latest": "1.0.0" },
                "versions": { "1.0.0": { "name": name, "version": "1.0.0", "dist": { "integrity": "sha512-1" } } },
            });
            let packument = Packument::parse(packument.to_string().as_bytes(), Detail::Abbreviated).expect("one");
            resolution.supply(&request, Ok(Answer::Packument(Arc::new(packument))));
        }
    }
    assert_eq!(order.iter().filter(|&&is_document| is_document).count(), 20);
    assert!(order.is_sorted(), "{order:?}");
}
