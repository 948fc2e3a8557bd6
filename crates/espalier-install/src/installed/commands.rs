//! Links the commands of installed packages again (`rebuild.js`). The package.json of each package
//! names them.
//!
//! If several packages have a command of the same name, the first in the order of building wins, as
//! in an installation.

use std::collections::HashSet;
use std::io;
use std::path::Path;

use espalier_core::collation;
use espalier_package::bins::BinLink;
use espalier_package::layout::{lies_in_node_modules, split};

use super::Installed;
use crate::reify::commands::{commands_of, relink};
use crate::scripts::package::ScriptPackage;

impl Installed {
    /// Links the commands of these nodes, or of all nodes, into their `.bin` folders.
    pub fn relink(&self, nodes: Option<&[usize]>) -> io::Result<()> {
        let is_meant = |node: usize| nodes.is_none_or(|nodes| nodes.contains(&node));
        let commands = self.commands();
        let meant: Vec<BinLink> =
            commands.into_iter().filter(|(node, _)| is_meant(*node)).map(|(_, bin)| bin).collect();
        relink(Path::new(&self.path), &meant)
    }

    /// All commands, with the nodes that they belong to.
    fn commands(&self) -> Vec<(usize, BinLink)> {
        let nodes = &self.graph.nodes;
        let depth = |node: usize| format!("/{}", nodes[node].location).matches("/node_modules/").count();
        // As in an installation, a link of the project gets the commands of its target.
        let of_project = nodes.iter().filter(|node| split(&node.location).0 == "node_modules");
        let linked: HashSet<usize> = of_project.filter_map(|node| node.target).map(|node| node as usize).collect();
        let mut order: Vec<usize> = (1..nodes.len())
            .filter(|node| lies_in_node_modules(&nodes[*node].location) && !linked.contains(node))
            .collect();
        order.sort_by(|&a, &b| {
            let is_link = |node: usize| nodes[node].target.is_some();
            let by_path = || collation::compare(&nodes[a].location, &nodes[b].location);
            is_link(a).cmp(&is_link(b)).then_with(|| depth(a).cmp(&depth(b))).then_with(by_path)
        });
        let mut taken = HashSet::new();
        let mut commands = Vec::new();
        for node in order {
            let location = &nodes[node].location;
            let (folder, name) = split(location);
            let place = Path::new(&self.path).join(location);
            let package = ScriptPackage::read(&place).unwrap_or_default();
            for (command, file) in commands_of(&package, &place, package.name().unwrap_or(name)) {
                let link = format!("{folder}/.bin/{command}");
                if taken.insert(link.clone()) {
                    let target = format!("../{name}/{file}");
                    commands.push((node, BinLink { location: link, target, package: location.clone(), file }));
                }
            }
        }
        commands
    }
}
