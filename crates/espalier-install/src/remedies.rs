//! Tries remedies for a peer conflict. The core suggests them; this module decides how long to try.

use std::future::Future;
use std::pin::Pin;
use std::time::{Duration, Instant};

use espalier_core::remedy::Search;
use espalier_core::{Remedy, Resolution};

use crate::driver::{self, Ended, Sources};

/// The time limit, because advice isn't worth a longer wait. npm's flags are still tried
/// afterwards.
const PATIENCE: Duration = Duration::from_secs(5);
const MOST_TRIALS: usize = 40;

/// Resolves with each suggestion of the search. An interruption ends it with the remedies found by
/// then.
pub async fn search(
    mut search: Search,
    sources: &Sources,
    mut interruption: Pin<&mut impl Future<Output = ()>>,
) -> Vec<Remedy> {
    let start = Instant::now();
    let mut trials = 0;
    while let Some((project, options)) = search.next_trial() {
        let resolution = Resolution::new(project, options);
        let run = driver::run(resolution, Resolution::finish, sources, |_| {}, interruption.as_mut());
        let (ended, _) = run.await;
        let Ended::Finished(result) = ended else { break };
        search.report(&result);
        trials += 1;
        if trials >= MOST_TRIALS || start.elapsed() > PATIENCE {
            search.give_up();
        }
    }
    search.finish()
}
