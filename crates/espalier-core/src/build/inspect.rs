//! Reading a tree without resolving anything: what `ls`, `explain` and their like look at (`load-virtual.js`).

use std::rc::Rc;

use super::{Builder, outline};
use crate::error::ResolveError;
use crate::exchange::Exchange;
use crate::json;
use crate::lockfile::{self, Lock};
use crate::options::{Options, Project};
use crate::resolution::{Outcome, Reading, Statistics};
use crate::tree::Flags;

/// The tree that a lockfile describes, with whatever is missing in it or wrong with it. Only the project's own folders are
/// asked for.
pub async fn inspect(
    project: Project,
    options: Options,
    reading: Reading,
    exchange: Rc<Exchange>,
) -> Result<Outcome, ResolveError> {
    let format = json::format_of(&project.manifest);
    let mut builder = Builder::new(&project, options, exchange)?;
    builder.only_reading = true;
    let lock = project.lockfile.as_deref().map(Lock::parse).transpose()?.flatten();
    if reading == Reading::Lockfile {
        builder.map_workspaces().await?;
    }
    match lock {
        Some(lock) if lock.version >= 2 => builder.load_lock(&lock).await?,
        _ => builder.load_workspaces().await,
    }
    if reading == Reading::NodeModules {
        builder.map_workspaces().await?;
        builder.tree.reset_flags();
        let root = builder.tree.root;
        builder.tree[root].flags = Flags::NONE;
        builder.tree.calculate_flags(false);
    }
    let entries = lockfile::entries(&builder.tree);
    let document = lockfile::document(&builder.tree, &entries, builder.lock_version);
    let graph = outline::graph(&builder.tree, &entries);
    Ok(Outcome {
        lockfile: json::stringify_lockfile(&document, &format),
        statistics: Statistics { packages: graph.nodes.len() - 1, ..Statistics::default() },
        graph,
        warnings: builder.warnings,
    })
}
