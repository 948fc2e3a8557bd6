//! Building the ideal tree (`build-ideal-tree.js`), in three phases of which each consumes the one before:
//!
//! ```text
//! Project, Options ─▶ start ─▶ Prepared ─▶ search ─▶ Settled ─▶ finish ─▶ Outcome
//!                                  └────────▶ Facts ─────────────▲
//! ```
//!
//! [`start`] makes the tree to start from and enters what the user asks to change. [`search`] works until every dependency is
//! met. [`finish`] works out who needs what, and makes of the tree whatever leaves the core. What only the end needs to know
//! ([`start::Facts`]) passes by the search. What one step needs to remember lives in that step.
//!
//! The phases are asynchronous functions, so that they can wait in the middle of gathering a set of peers. All waiting is done
//! by [`sources`]. Nothing here learns when an answer came, and so the tree can't depend on it.

mod bundle;
mod candidates;
mod edited;
mod explain;
mod extensions;
mod finish;
mod inflate;
mod inspect;
mod installed;
mod locked;
mod outline;
mod override_checks;
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

use std::any::Any;
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

/// Resolves a project. What it has worked with comes with the outcome: whoever drives it decides when that is freed.
pub async fn resolve(
    project: Project,
    options: Options,
    exchange: Rc<Exchange>,
) -> (Result<Outcome, ResolveError>, Option<Box<dyn Any>>) {
    let format = json::format_of(&project.manifest);
    match settle(project, options, exchange).await {
        Ok((settled, facts)) => {
            let mut ending = Ending::new(settled, facts);
            (ending.finish(&format).await, Some(Box::new(ending)))
        }
        Err(error) => (Err(error), None),
    }
}

async fn settle(project: Project, options: Options, exchange: Rc<Exchange>) -> Result<(Settled, Facts), ResolveError> {
    let (prepared, facts) = start::prepare(&project, options, exchange).await?;
    Ok((Search::new(prepared).run().await?, facts))
}
