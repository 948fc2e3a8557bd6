//! The settings that npm knows, with their defaults (`@npmcli/config`'s definitions).
//!
//! What depends on the machine has no default in the table: folders, the user agent, and the registry, whose address
//! is kept in one place only.

use std::sync::LazyLock;

use indexmap::IndexMap;
use serde_json::Value as Json;

use super::Value;

static TABLE: LazyLock<IndexMap<String, Json>> =
    LazyLock::new(|| serde_json::from_str(include_str!("definitions.json")).expect("the table is valid"));

/// Known, but without an entry in the table.
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

/// Keys that are about one registry, behind its address.
const OF_A_REGISTRY: [&str; 7] = ["_auth", "_authToken", "_password", "certfile", "email", "keyfile", "username"];

/// What npm doesn't hand on to scripts: what is deprecated, and what is about one command only.
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

/// npm's default of a setting, where it is the same on every machine.
pub fn default(key: &str) -> Option<Value> {
    Some(match TABLE.get(key)? {
        Json::Null => Value::Null,
        Json::Bool(flag) => Value::Flag(*flag),
        Json::String(text) => Value::Text(text.clone()),
        Json::Array(_) => Value::List(Vec::new()),
        other => Value::Text(other.to_string()),
    })
}

/// Whether npm lets `config set` have this key.
pub fn is_known(key: &str) -> bool {
    let base = key.rsplit(':').next().unwrap_or(key);
    TABLE.contains_key(base) || OF_THE_MACHINE.contains(&base) || OF_A_REGISTRY.contains(&base)
}

/// Switches without a default of their own.
const OTHER_SWITCHES: [&str; 8] =
    ["color", "expect-results", "optional", "production", "progress", "unicode", "workspaces", "yes"];

/// Whether a setting is on or off, and needs no value on the command line.
pub fn is_switch(key: &str) -> bool {
    matches!(TABLE.get(key), Some(Json::Bool(_))) || OTHER_SWITCHES.contains(&key)
}

/// Whether npm takes several values for a setting.
pub fn is_list(key: &str) -> bool {
    matches!(TABLE.get(key), Some(Json::Array(_))) || matches!(key, "allow-scripts" | "ca" | "noproxy")
}

/// Whether scripts get to see a setting: not what names a registry or a scope, nor a credential.
pub fn is_exported(key: &str) -> bool {
    !key.starts_with(['/', '@', '_']) && !NOT_EXPORTED.contains(&key)
}

/// The settings with a default that is the same everywhere, in alphabetical order.
pub fn keys() -> impl Iterator<Item = &'static str> {
    TABLE.keys().map(String::as_str)
}
