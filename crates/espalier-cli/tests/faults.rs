//! All faults of `espalier-replay`. An installation succeeds after another attempt, or fails with
//! an error that names the package, the address and a remedy. Nothing is ever half installed, and
//! the installation succeeds once the registry works again.

use crate::support::Outcome;
use crate::support::workshop::Workshop;

/// The end of an installation.
#[derive(Clone, Copy)]
enum End {
    /// Installed, after other attempts.
    Installed,
    /// Refused with an error that contains this text.
    Failed(&'static str, &'static str),
}
use End::{Failed, Installed};

const LATER: &str = "Try again later";
const NETWORK: &str = "Check the network";
const CHANGED: &str = "may have changed it on the way";

/// The faults of documents and of tarballs, and how the installation ends. Temporary faults
/// (`times`) concern every package, others only the last one.
const CASES: &[(&str, &str, End, End)] = &[
    ("busy for a while", "429,times=2,retry-after=0", Installed, Installed),
    ("busy without saying how long", "429,times=1", Installed, Installed),
    ("busy for good", "429,retry-after=0,name=p3", Failed("429", LATER), Failed("429", LATER)),
    ("broken for a while", "500,times=2", Installed, Installed),
    ("broken now and then", "503,times=2,rate=0.3", Installed, Installed),
    ("broken for good", "500,name=p3", Failed("500", LATER), Failed("500", LATER)),
    ("does not like what is accepted", "406,name=p3", Failed("406", LATER), Failed("406", LATER)),
    ("does not let us in", "403,name=p3", Failed("403", "Log in"), Failed("403", "Log in")),
    ("does not have it", "404,name=p3", Failed("404", "Check the spelling"), Failed("404", "unpublished")),
    ("cuts connections twice", "reset,times=2", Installed, Installed),
    ("cuts every connection", "reset,name=p3", Failed("was lost", NETWORK), Failed("was lost", NETWORK)),
    ("is silent once", "stall,times=1", Installed, Installed),
    ("stays silent", "stall,name=p3", Failed("timed out", NETWORK), Failed("timed out", NETWORK)),
    ("stops in the middle once", "stall-body,times=1", Installed, Installed),
    ("stops in the middle", "stall-body,name=p3", Failed("timed out", NETWORK), Failed("timed out", NETWORK)),
    ("ends too early twice", "truncate,times=2", Installed, Installed),
    ("always ends too early", "truncate,name=p3", Failed("was lost", NETWORK), Failed("was lost", NETWORK)),
    ("does not end its chunks twice", "unended,times=2", Installed, Installed),
    ("never ends its chunks", "unended,name=p3", Failed("was lost", NETWORK), Failed("was lost", NETWORK)),
    ("lies about the length twice", "short-length,times=2", Installed, Installed),
    (
        "lies about the length",
        "short-length,name=p3",
        Failed("cannot be", CHANGED),
        Failed("not the expected", CHANGED),
    ),
    ("sends something else twice", "corrupt,times=2", Installed, Installed),
    ("sends something else", "corrupt,name=p3", Failed("cannot be", CHANGED), Failed("not the expected", CHANGED)),
    ("has hashes of something else", "wrong-hash,name=p3", Failed("not the expected", CHANGED), Installed),
    // The address of the tarball is then one that nobody permitted.
    ("sends us to another origin", "redirect,name=p3", Failed("is disabled", "allow-remote=all"), Installed),
];

/// The time limit for a silent registry. Every answer takes far less.
const TIMEOUT: &str = "3000";

fn install(workshop: &Workshop) -> Outcome {
    let mut command = workshop.command("project", &["install"]);
    command.env("npm_config_fetch_timeout", TIMEOUT);
    workshop.stage.run(command)
}

fn check(what: &str, fault: &str, end: End) {
    let workshop = Workshop::of(4).with_faults(&[fault]);
    let outcome = install(&workshop);
    let context = format!("{what} ({fault}):\n{}{}", outcome.stdout, outcome.stderr);
    let complete = |workshop: &Workshop| {
        assert_eq!(workshop.tree("project").len(), 57, "{context}");
        assert!(workshop.stage.lockfile().is_some(), "{context}");
        workshop.assert_sound_store();
    };
    match end {
        Installed => {
            assert_eq!(outcome.code, Some(0), "{context}");
            complete(&workshop);
        }
        Failed(reason, remedy) => {
            assert_eq!(outcome.code, Some(1), "{context}");
            let text = outcome.stderr.split_whitespace().collect::<Vec<_>>().join(" ");
            for words in ["p3", "/p3", reason, remedy] {
                assert!(text.contains(words), "{words} is missing\n{context}");
            }
            assert!(workshop.tree("project").is_empty() && workshop.stage.lockfile().is_none(), "{context}");
            workshop.assert_sound_store();
            let workshop = workshop.with_faults(&[]);
            let outcome = install(&workshop);
            assert_eq!(outcome.code, Some(0), "{context}\nand once more:\n{}", outcome.stderr);
            complete(&workshop);
        }
    }
}

/// Each row has a server of its own. A few run at once, because some of them wait.
fn check_all(of: &str, end: impl Fn(&(&str, &str, End, End)) -> End + Sync) {
    let next = std::sync::atomic::AtomicUsize::new(0);
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                while let Some(case) = CASES.get(next.fetch_add(1, std::sync::atomic::Ordering::Relaxed)) {
                    check(case.0, &format!("{},of={of}", case.1), end(case));
                }
            });
        }
    });
}

#[test]
fn documents_that_fail_are_had_after_all_or_named() {
    check_all("documents", |case| case.2);
}

#[test]
fn tarballs_that_fail_are_had_after_all_or_named() {
    check_all("tarballs", |case| case.3);
}

/// Documents are cached, but not a document whose hashes are not those of its tarball. Otherwise
/// another attempt could not succeed.
#[test]
fn hashes_that_were_wrong_once_are_not_believed_again() {
    // A range needs the packument, and a version its own document.
    for spec in ["^1.0.0", "1.0.0"] {
        let workshop = Workshop::of(4).with_faults(&["wrong-hash,times=1,of=documents,name=p3"]);
        workshop.stage.write("package.json", &format!(r#"{{ "dependencies": {{ "p3": "{spec}" }} }}"#));
        let failed = install(&workshop);
        assert!(failed.code == Some(1) && failed.stderr.contains("is not the expected tarball"), "{}", failed.stderr);
        let again = install(&workshop);
        assert_eq!(again.code, Some(0), "{spec}: {}", again.stderr);
    }
}
