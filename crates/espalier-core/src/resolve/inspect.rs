//! Reads a tree without resolving anything, for commands such as `ls` and `explain`
//! (`load-virtual.js`).

use std::rc::Rc;

use super::edge_checks::check_strings;
use super::outline;
use super::start::Start;
use crate::error::ResolveError;
use crate::exchange::Exchange;
use crate::lockfile::{self, PackageLock};
use crate::options::{Options, Project, Reading};
use crate::outcome::{Outcome, Statistics};
use crate::tree::Flags;

/// The tree of a lockfile, with missing and invalid packages. Only the project's own folders are
/// requested.
pub async fn inspect(
    project: Project,
    options: Options,
    reading: Reading,
    exchange: Rc<Exchange>,
) -> Result<Outcome, ResolveError> {
    let mut start = Start::new(&project, options, exchange, true)?;
    if reading == Reading::Lockfile {
        start.map_workspaces().await?;
    }
    let path = start.tree.project.clone();
    match project.lockfile.as_ref().and_then(|lockfile| lockfile.parsed(&path)) {
        Some(lock) => start.load_lock(lock).await?,
        None => start.load_workspaces().await,
    }
    if reading == Reading::NodeModules {
        start.map_workspaces().await?;
        start.tree.reset_flags();
        let root = start.tree.root;
        start.tree[root].flags = Flags::NONE;
        start.tree.calculate_flags(false);
    }
    check_strings(&start.tree)?;
    let entries = lockfile::entries(&start.tree);
    let graph = outline::graph(&start.tree, &entries);
    Ok(Outcome {
        is_saved: false,
        lockfile: PackageLock::default(),
        yarn_lock: None,
        changed_manifests: Vec::new(),
        statistics: Statistics { packages: graph.nodes.len() - 1, ..Statistics::default() },
        graph,
        unknown_origins: Vec::new(),
        warnings: start.sources.exchange.take_warnings(),
    })
}
