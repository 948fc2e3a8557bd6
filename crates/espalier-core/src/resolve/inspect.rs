//! Reading a tree without resolving anything: what `ls`, `explain` and their like look at (`load-virtual.js`).

use std::rc::Rc;

use super::{Builder, outline};
use crate::error::ResolveError;
use crate::exchange::Exchange;
use crate::lockfile::{self, PackageLock, ParsedLock};
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
    let mut builder = Builder::new(&project, options, exchange)?;
    builder.only_reading = true;
    if reading == Reading::Lockfile {
        builder.map_workspaces().await?;
    }
    let path = builder.tree.project.clone();
    let text = project.lockfile.as_deref();
    match text.map(|text| ParsedLock::parse(text, &path, &mut builder.tree.words.specs)).transpose()?.flatten() {
        Some(lock) => builder.load_lock(&lock).await?,
        None => builder.load_workspaces().await,
    }
    if reading == Reading::NodeModules {
        builder.map_workspaces().await?;
        builder.tree.reset_flags();
        let root = builder.tree.root;
        builder.tree[root].flags = Flags::NONE;
        builder.tree.calculate_flags(false);
    }
    let entries = lockfile::entries(&builder.tree);
    let graph = outline::graph(&builder.tree, &entries);
    Ok(Outcome {
        is_saved: false,
        lockfile: PackageLock::default(),
        yarn_lock: None,
        changed_manifests: Vec::new(),
        statistics: Statistics { packages: graph.nodes.len() - 1, ..Statistics::default() },
        graph,
        unknown_origins: Vec::new(),
        warnings: builder.warnings,
    })
}
