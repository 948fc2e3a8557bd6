//! npm's commands that change a project: converts them to the core's changes, and generates random
//! ones.

use anyhow::bail;
use espalier_core::manifest_edit::SaveType;
use espalier_core::{Changes, Update};
use fastrand::Rng;
use serde_json::Value;

use super::case::Round;

const SAVE_FLAGS: [&str; 7] =
    ["--save-dev", "--save-optional", "--save-peer", "--save-prod", "--save-exact", "--save-bundle", "--no-save"];
const BLOCKS: [&str; 4] = ["dependencies", "devDependencies", "optionalDependencies", "peerDependencies"];

/// The change that a round's command asks for.
pub struct Command {
    /// The changes.
    pub changes: Changes,
    /// `--save`.
    pub save: bool,
}

impl Command {
    /// Parses a round's command. Also returns the flags that don't concern changes.
    pub fn read(round: &Round) -> anyhow::Result<(Self, Vec<&str>)> {
        let mut changes = Changes::default();
        let (mut save, mut others) = (None, Vec::new());
        for argument in &round.arguments {
            match argument.as_str() {
                "--save-dev" => changes.save_type = Some(SaveType::Dev),
                "--save-optional" => changes.save_type = Some(SaveType::Optional),
                "--save-peer" => changes.save_type = Some(SaveType::Peer),
                "--save-prod" => changes.save_type = Some(SaveType::Prod),
                "--save-exact" => changes.save_prefix = String::new(),
                "--save-bundle" => changes.save_bundle = true,
                "--no-save" => save = Some(false),
                "--save" => save = Some(true),
                argument => match argument.strip_prefix("--workspace=") {
                    Some(workspace) => changes.workspaces.push(workspace.to_owned()),
                    None => others.push(argument),
                },
            }
        }
        let names = round.command.get(1..).unwrap_or_default().to_vec();
        match round.command.first().map_or("install", String::as_str) {
            "install" => changes.add = names,
            "uninstall" => changes.remove = names,
            "update" if names.is_empty() => changes.update = Update::All,
            "update" => changes.update = Update::Names(names),
            "dedupe" => changes.update = Update::Duplicates,
            other => bail!("{other} is not a command that parity knows"),
        }
        let save = match changes.update {
            Update::None => save.unwrap_or(true),
            Update::All | Update::Names(_) => save.unwrap_or(false),
            Update::Duplicates => false,
        };
        Ok((Self { changes, save }, others))
    }
}

/// Generates a command for a project with a lock. `additions` are the specs that it may add, such
/// as `a@^1`.
pub fn make_up(random: &mut Rng, round: &mut Round, additions: Vec<String>) {
    let folders: Vec<&String> = round.manifests.keys().filter(|folder| folder.starts_with("packages/")).collect();
    let workspace = random.choice(folders).filter(|_| random.u32(0..3) == 0).cloned();
    round.arguments.extend(workspace.iter().map(|workspace| format!("--workspace={workspace}")));
    let target = workspace.unwrap_or_default();
    let named: Vec<String> =
        BLOCKS.iter().filter_map(|block| round.manifests[&target][*block].as_object()).flat_map(keys).collect();
    let some_name = random.choice(&named).cloned();
    let words: Vec<Option<String>> = match random.u32(0..9) {
        0..=3 => {
            let count = random.usize(1..=2);
            let mut words = vec![Some("install".to_owned())];
            words.extend(additions.into_iter().take(count).map(Some));
            if random.bool() {
                round.arguments.push(SAVE_FLAGS[random.usize(0..SAVE_FLAGS.len())].to_owned());
            }
            words
        }
        4 | 5 => vec![Some("uninstall".to_owned()), some_name],
        6 => vec![Some("update".to_owned()), some_name],
        7 => vec![Some("update".to_owned())],
        _ => vec![Some("dedupe".to_owned())],
    };
    let updates = words[0].as_deref() == Some("update");
    if updates && random.u32(0..3) == 0 {
        round.arguments.push("--save".to_owned());
    }
    round.command = words.into_iter().collect::<Option<_>>().unwrap_or_default();
}

fn keys(block: &serde_json::Map<String, Value>) -> impl Iterator<Item = String> {
    block.keys().cloned()
}
