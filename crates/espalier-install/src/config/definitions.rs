//! npm's settings and their defaults, from the definitions of `@npmcli/config`.
//!
//! Settings that depend on the machine have no default in the table: folders, the user agent, and
//! the registry, whose address is in one place only.

use super::Value;
use super::presets::{PRESETS, Preset, preset};

/// Settings that npm knows, but that have no entry in the table.
const OF_THE_MACHINE: [&str; 22] = [
    "cache",
    "ci-name",
    "color",
    "editor",
    "global-ignore-file",
    "globalconfig",
    "init-module",
    "local-address",
    "logs-dir",
    "node-gyp",
    "node-version",
    "npm-version",
    "prefix",
    "progress",
    "registry",
    "shell",
    "tmp",
    "umask",
    "unicode",
    "user-agent",
    "userconfig",
    "viewer",
];

/// Settings of a single registry. Its address precedes the key.
const OF_A_REGISTRY: [&str; 7] = ["_auth", "_authToken", "_password", "certfile", "email", "keyfile", "username"];

/// Settings that npm doesn't pass on to scripts: deprecated ones, and those of a single command.
const NOT_EXPORTED: [&str; 25] = [
    "allow-scripts",
    "also",
    "cache-max",
    "cache-min",
    "cert",
    "dev",
    "global-style",
    "if-present",
    "include-workspace-root",
    "init.author.email",
    "init.author.name",
    "init.author.url",
    "init.license",
    "init.module",
    "init.version",
    "key",
    "legacy-bundling",
    "min-release-age",
    "min-release-age-exclude",
    "only",
    "optional",
    "production",
    "shrinkwrap",
    "workspace",
    "workspaces",
];

/// npm's default of a setting, if it is the same on every machine.
pub fn default(key: &str) -> Option<Value> {
    Some(match preset(key)? {
        Preset::Null => Value::Null,
        Preset::Flag(flag) => Value::Flag(flag),
        Preset::Text(text) => Value::Text(text.to_owned()),
        Preset::Empty => Value::List(Vec::new()),
    })
}

/// Whether npm's `config set` accepts this key.
pub fn is_known(key: &str) -> bool {
    let base = key.rsplit(':').next().unwrap_or(key);
    preset(base).is_some() || OF_THE_MACHINE.contains(&base) || OF_A_REGISTRY.contains(&base)
}

/// Switches without a default of their own.
const OTHER_SWITCHES: [&str; 8] =
    ["color", "expect-results", "optional", "production", "progress", "unicode", "workspaces", "yes"];

/// Whether a setting is a switch, which needs no value on the command line.
pub fn is_switch(key: &str) -> bool {
    matches!(preset(key), Some(Preset::Flag(_))) || OTHER_SWITCHES.contains(&key)
}

/// Whether npm accepts several values for a setting.
pub fn is_list(key: &str) -> bool {
    preset(key) == Some(Preset::Empty) || matches!(key, "allow-scripts" | "ca" | "noproxy")
}

/// Whether scripts see a setting. They see no credentials and no settings of a registry or scope.
pub fn is_exported(key: &str) -> bool {
    !key.starts_with(['/', '@', '_']) && !NOT_EXPORTED.contains(&key)
}

/// The settings whose default is the same on every machine, in alphabetical order.
pub fn keys() -> impl Iterator<Item = &'static str> {
    PRESETS.iter().map(|(name, _)| *name)
}
