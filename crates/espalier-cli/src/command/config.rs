//! `espalier config` reads and writes npm's settings.

use std::fmt::Write as _;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use espalier_core::collation;
use espalier_install::config::{Config, Origin, Value, definitions, edit};
use serde_json::Value as Json;

use super::complaint::Complaint;
use super::context::Context;
use crate::arguments::project::WorkspaceArguments;
use crate::arguments::reading::{ConfigAction, ConfigArguments, Location};
use crate::report;
use crate::style::{quiet, strong};

/// Reads or writes settings.
pub fn run(arguments: &ConfigArguments) -> ExitCode {
    let list = ConfigAction::List { long: false, json: false };
    let json = matches!(arguments.action, Some(ConfigAction::List { json: true, .. }));
    match act(arguments, arguments.action.as_ref().unwrap_or(&list)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(complaint) => complaint.report(json),
    }
}

fn act(arguments: &ConfigArguments, action: &ConfigAction) -> Result<(), Complaint> {
    let context = Context::anywhere(&arguments.project, &WorkspaceArguments::default(), "config")?;
    match action {
        ConfigAction::List { json: true, .. } => super::say(&format!("{:#}\n", in_force(&context))),
        ConfigAction::List { long, .. } => super::say(&list(&context, *long)),
        ConfigAction::Get { keys } => {
            let mut lines = String::new();
            for key in keys {
                let value = get(&context, key);
                if is_protected(key) || redacted(&value) != value {
                    let details = "  It is a secret, or contains one.\n";
                    return Err(Complaint::own("EPROTECTED", format!("{key} is not shown"), details));
                }
                let _ = if keys.len() > 1 { writeln!(lines, "{key}={value}") } else { writeln!(lines, "{value}") };
            }
            super::say(&lines);
        }
        ConfigAction::Set { settings, location } => {
            let mut settings = settings.iter();
            let mut changes = Vec::new();
            while let Some(setting) = settings.next() {
                let (key, value) = match setting.split_once('=') {
                    Some((key, value)) => (key, value.to_owned()),
                    None => (setting.as_str(), settings.next().cloned().unwrap_or_default()),
                };
                if !definitions::is_known(key.trim()) {
                    let details = "  `npm help config` lists the settings.\n";
                    return Err(Complaint::own("EUNKNOWNCONFIG", format!("npm has no setting {key}"), details));
                }
                changes.push((key.trim().to_owned(), Some(value.trim().to_owned()).filter(|value| !value.is_empty())));
            }
            write(&context, *location, &changes)?;
        }
        ConfigAction::Delete { keys, location } => {
            let changes: Vec<_> = keys.iter().map(|key| (key.clone(), None)).collect();
            write(&context, *location, &changes)?;
        }
    }
    Ok(())
}

/// The value as npm prints it: JavaScript's conversion to a string.
fn get(context: &Context, key: &str) -> String {
    match value_in_force(context, key) {
        None => "undefined".to_owned(),
        Some(Value::Null) => "null".to_owned(),
        Some(Value::Text(text)) => text,
        Some(Value::Flag(flag)) => flag.to_string(),
        Some(Value::List(items)) => items.join(","),
    }
}

fn value_in_force(context: &Context, key: &str) -> Option<Value> {
    let set = context.config.find(key).map(|(value, _)| value.clone());
    let path = |path: Option<PathBuf>| path.map(|path| Value::Text(path.display().to_string()));
    set.or_else(|| match key {
        "registry" => Some(Value::Text(context.settings.registries.default_registry().as_str().to_owned())),
        "userconfig" => path(context.config.user_file(&context.environment)),
        "globalconfig" => path(context.config.global_file(&context.environment)),
        "prefix" => path(context.config.global_prefix(&context.environment)),
        key => definitions::default(key),
    })
}

/// Whether the value of a key is secret (`config.js`).
fn is_protected(key: &str) -> bool {
    const SECRET: [&str; 7] = ["auth", "authToken", "certfile", "email", "keyfile", "password", "username"];
    let ends = |secret: &&str| key.ends_with(&format!(":{secret}")) || key.ends_with(&format!(":_{secret}"));
    key.starts_with('_')
        || SECRET.contains(&key)
        || (key.starts_with("//") && (key.contains(":_") || SECRET.iter().any(ends)))
}

fn json_of(value: &Value) -> Json {
    match value {
        Value::Text(text) => redacted(text).into(),
        Value::Flag(flag) => (*flag).into(),
        Value::Null => Json::Null,
        Value::List(items) => items.iter().map(|item| redacted(item)).collect(),
    }
}

/// A URL with `***` in place of its user and password. npm shows the user (`@npmcli/redact`), which
/// can be a token.
fn redacted(text: &str) -> String {
    let Some((scheme, rest)) = text.split_once("://") else { return text.to_owned() };
    let host_ends = rest.find(['/', '?', '#']).unwrap_or(rest.len());
    match rest[..host_ends].rfind('@') {
        Some(at) => format!("{scheme}://***{}", &rest[at..]),
        None => text.to_owned(),
    }
}

fn shown(key: &str, value: &Value) -> String {
    let value = if is_protected(key) { "(protected)".to_owned() } else { json_of(value).to_string() };
    format!("{key} = {value}")
}

fn sorted_keys(keys: impl Iterator<Item = String>) -> Vec<String> {
    let mut keys: Vec<String> = keys.collect();
    keys.sort_by(|a, b| collation::compare(a, b));
    keys.dedup();
    keys
}

/// Every place with its settings. As in npm, overridden settings are marked.
fn list(context: &Context, long: bool) -> String {
    let mut text = String::new();
    let config: &Config = &context.config;
    for origin in config.origins() {
        let keys = sorted_keys(config.keys().filter(|key| config.value_of(origin, key).is_some()).map(str::to_owned));
        if keys.is_empty() {
            continue;
        }
        let _ = writeln!(text, "; {} config from {}\n", strong(name_of(origin)), place(origin));
        for key in keys {
            let Some(value) = config.value_of(origin, &key) else { continue };
            let nearest = config.origin(&key).unwrap_or(origin);
            let line = shown(&key, value);
            if nearest == origin {
                let _ = writeln!(text, "{line}");
            } else {
                let _ = writeln!(text, "{}", quiet(format!("; {line} ; overridden by {}", name_of(nearest))));
            }
        }
        text.push('\n');
    }
    if long {
        let _ = writeln!(text, "; {} config\n", strong("default"));
        for key in definitions::keys() {
            if let Some(value) = definitions::default(key) {
                let _ = writeln!(text, "{}", shown(key, &value));
            }
        }
        return text;
    }
    let path = |path: Option<&Path>| path.map_or_else(|| "none".to_owned(), |path| path.display().to_string());
    let _ = writeln!(text, "{}", quiet(format!("; node = {}", path(context.environment.node.as_deref()))));
    let _ = writeln!(text, "{}", quiet(format!("; project = {}", context.project.path().display())));
    let _ = writeln!(text, "{}", quiet("; `espalier config list --long` also lists npm's defaults"));
    text
}

fn name_of(origin: &Origin) -> &'static str {
    match origin {
        Origin::CommandLine => "cli",
        Origin::Environment => "env",
        Origin::Project(_) => "project",
        Origin::User(_) => "user",
        Origin::Global(_) => "global",
    }
}

fn place(origin: &Origin) -> String {
    match origin {
        Origin::Project(path) | Origin::User(path) | Origin::Global(path) => report::shown_path(path),
        other => other.to_string(),
    }
}

/// All settings in force, without secret ones.
fn in_force(context: &Context) -> Json {
    let of_files = context.config.keys().map(str::to_owned);
    let keys = sorted_keys(of_files.chain(definitions::keys().map(str::to_owned)).chain(["registry".to_owned()]));
    let public = keys.into_iter().filter(|key| !is_protected(key));
    public
        .filter_map(|key| Some((key.clone(), json_of(&value_in_force(context, &key)?))))
        .collect::<serde_json::Map<_, _>>()
        .into()
}

fn write(context: &Context, location: Location, changes: &[(String, Option<String>)]) -> Result<(), Complaint> {
    let path = match location {
        Location::Project => Some(context.project.path().join(".npmrc")),
        Location::User => context.config.user_file(&context.environment),
        Location::Global => context.config.global_file(&context.environment),
    };
    let Some(path) = path else {
        return Err(Complaint::own(
            "ENOFILE",
            "the path of the settings file is unknown",
            "  Name it with --userconfig or --globalconfig.\n",
        ));
    };
    let shown = report::shown_path(&path);
    let mut text = match fs::read_to_string(&path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            let details = "  The file was not changed. Check its permissions.\n  Its encoding has to be UTF-8.\n";
            return Err(Complaint::own("EREAD", format!("cannot read {shown}: {error}"), details));
        }
        text => text.unwrap_or_default(),
    };
    for (key, value) in changes {
        text = edit::with_setting(&text, key, value.as_deref());
    }
    save(&path, &text, location == Location::User).map_err(|error| {
        let details = "  Check the owner and the permissions of the file and its folder.\n";
        Complaint::own("EWRITE", format!("cannot write {shown}: {error}"), details)
    })
}

/// Writes a file in its place, so that it keeps its owner, and a link or a mounted file stays one. The
/// user's file can hold tokens, so it is made readable for the user only.
fn save(path: &Path, text: &str, private: bool) -> io::Result<()> {
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder)?;
    }
    let mut options = fs::OpenOptions::new();
    options.write(true).create(true).truncate(true);
    #[cfg(unix)]
    if private {
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    }
    let _ = private;
    io::Write::write_all(&mut options.open(path)?, text.as_bytes())
}
