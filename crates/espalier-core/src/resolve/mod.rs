//! Builds the ideal tree (`build-ideal-tree.js`), in three phases. Each phase consumes the result
//! of the one before:
//!
//! ```text
//! Project, Options ─▶ start ─▶ Prepared ─▶ search ─▶ Settled ─▶ finish ─▶ Outcome
//!                                  └────────▶ Facts ─────────────▲
//! ```
//!
//! [`start`] builds the initial tree and enters the user's changes. [`search`] continues until
//! every dependency is met. [`finish`] computes what needs each package, and turns the tree into
//! everything that leaves the core. Facts that only the end needs ([`start::Facts`]) bypass the
//! search. State that only one step needs is local to that step.
//!
//! The phases are asynchronous functions, so that they can wait while a peer set is being gathered.
//! Only [`sources`] waits. Nothing here learns when an answer came, so the tree can't depend on it.

mod bundle;
mod bundles_at_end;
mod candidates;
mod conflicts;
mod edge_checks;
mod edited;
mod explain;
mod extensions;
mod finish;
mod inflate;
mod inspect;
mod installed;
mod locked;
mod outline;
mod patches;
mod peer_sets;
mod proposals;
mod queue;
mod report;
mod requests;
mod saving;
mod search;
mod sources;
mod start;
mod virtual_roots;
mod wishes;
pub mod workspaces;
mod yarn;
mod yarn_origins;

use std::any::Any;
use std::pin::Pin;
use std::rc::Rc;

use crate::error::ResolveError;
use crate::exchange::Exchange;
use crate::json;
use crate::options::{Options, Project};
use crate::outcome::Outcome;
use finish::Ending;
pub use inspect::inspect;
use search::{Search, Settled};
use start::Facts;

/// Resolves a project. The memory of the resolution is returned with the outcome, because the
/// caller decides when to free it.
pub async fn resolve(
    project: Project,
    options: Options,
    exchange: Rc<Exchange>,
) -> (Result<Outcome, ResolveError>, Option<Box<dyn Any>>) {
    let format = json::format_of(&project.manifest);
    match settle(project, options, exchange).await {
        Ok((settled, facts)) => {
            let mut ending = Ending::new(settled, facts);
            let completed = phase(ending.complete()).await;
            let outcome = match completed {
                Ok(()) => phase(ending.finish(&format)).await,
                Err(error) => Err(error),
            };
            (outcome, Some(Box::new(ending)))
        }
        Err(error) => (Err(error), None),
    }
}

async fn settle(project: Project, options: Options, exchange: Rc<Exchange>) -> Result<(Settled, Facts), ResolveError> {
    let (prepared, facts) = phase(start::prepare(&project, options, exchange)).await?;
    Ok((phase(Search::new(prepared).run()).await?, facts))
}

/// Keeps a phase a function of its own. In one function with the search, the other two would be
/// optimised as well when the search is hot, which takes V8 85 ms.
fn phase<'a, T>(phase: impl Future<Output = T> + 'a) -> Pin<Box<dyn Future<Output = T> + 'a>> {
    Box::pin(phase)
}
