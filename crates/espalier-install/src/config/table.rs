//! The settings of npm that Espalier acts on: name, type, description, and the npm package's field.
//! The options of the command line, its help and `docs/settings.md` are made of this table. The
//! defaults are npm's ([`definitions`]).
//!
//! Options that belong to a command, such as `--dry-run`, are defined with the command.
//! [`settings`](super::settings) interprets the values.

use super::{Value, definitions};

/// A setting.
#[derive(Clone, Copy, Debug)]
pub struct Setting {
    /// npm's name.
    pub name: &'static str,
    /// The type of its value.
    pub kind: Kind,
    /// The subject, which is a heading in the help.
    pub subject: Subject,
    /// The effect, in one sentence.
    pub description: &'static str,
    /// The field of the npm package's input with the same meaning.
    pub field: Option<&'static str>,
    /// Whether it has an option of its own. The command line accepts the others, too, but no help
    /// lists them.
    pub is_option: bool,
    /// The default in the help, if it isn't npm's constant.
    default: Option<&'static str>,
}

/// The type of a setting's value.
#[derive(Clone, Copy, Debug)]
pub enum Kind {
    /// Yes or no.
    Switch,
    /// Any text, with its placeholder.
    Text(&'static str),
    /// Any number of texts.
    Texts,
    /// Some of these texts.
    Choices(&'static [&'static str]),
}

/// The subject of a setting, which is a heading in the help.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Subject {
    /// Settings that change the tree.
    Tree,
    /// Settings for written files.
    Saving,
    /// Settings for the platform to resolve for.
    Platform,
    /// Settings for scripts.
    Scripts,
    /// Settings for registries and the network.
    Network,
}

impl Subject {
    /// The text of the heading.
    pub const fn heading(self) -> &'static str {
        match self {
            Self::Tree => "Tree",
            Self::Saving => "Saving",
            Self::Platform => "Platform",
            Self::Scripts => "Scripts",
            Self::Network => "Network",
        }
    }
}

impl Setting {
    const fn new(name: &'static str, kind: Kind, subject: Subject, description: &'static str) -> Self {
        Self { name, kind, subject, description, field: None, is_option: true, default: None }
    }

    /// A setting for a file, which is seldom given as an option.
    const fn for_files(name: &'static str, kind: Kind, subject: Subject, description: &'static str) -> Self {
        Self { is_option: false, ..Self::new(name, kind, subject, description) }
    }

    const fn in_tab(self, field: &'static str) -> Self {
        Self { field: Some(field), ..self }
    }

    const fn by_default(self, default: &'static str) -> Self {
        Self { default: Some(default), ..self }
    }

    /// The default, unless it is "off" or "nothing".
    pub fn default(&self) -> Option<String> {
        let of_npm = match definitions::default(self.name) {
            Some(Value::Flag(true)) => Some("true".to_owned()),
            Some(Value::Text(text)) if !text.is_empty() => Some(text),
            _ => None,
        };
        self.default.map(str::to_owned).or(of_npm)
    }

    /// The text in the help: the effect and the default.
    pub fn help(&self) -> String {
        match self.default() {
            Some(default) => format!("{} [default: {default}]", self.description),
            None => self.description.to_owned(),
        }
    }
}

/// The settings with an option of their own.
pub fn options() -> impl Iterator<Item = &'static Setting> {
    SETTINGS.iter().filter(|setting| setting.is_option)
}

const KINDS: Kind = Kind::Choices(&["dev", "optional", "peer"]);
const KINDS_TO_INCLUDE: Kind = Kind::Choices(&["prod", "dev", "optional", "peer"]);

/// All settings.
pub const SETTINGS: &[Setting] = &[
    Setting::new("legacy-peer-deps", Kind::Switch, Subject::Tree, "Ignore peer dependencies, as npm 6 did")
        .in_tab("legacyPeerDeps"),
    Setting::new(
        "strict-peer-deps",
        Kind::Switch,
        Subject::Tree,
        "Fail on every peer conflict, not only on the project's own",
    )
    .in_tab("strictPeerDeps"),
    Setting::new("force", Kind::Switch, Subject::Tree, "Continue despite peer conflicts").in_tab("force"),
    Setting::new("prefer-dedupe", Kind::Switch, Subject::Tree, "Prefer a version that is in the tree to a newer one")
        .in_tab("preferDedupe"),
    Setting::new(
        "install-strategy",
        Kind::Text("STRATEGY"),
        Subject::Tree,
        "Where packages are placed: hoisted, nested or shallow",
    ),
    Setting::new(
        "install-links",
        Kind::Switch,
        Subject::Tree,
        "Pack folders outside the project instead of linking them",
    )
    .in_tab("installLinks"),
    Setting::new(
        "engine-strict",
        Kind::Switch,
        Subject::Tree,
        "Fail on packages that do not support this Node.js version",
    )
    .in_tab("engineStrict"),
    Setting::new("omit", KINDS, Subject::Tree, "Do not install this kind of dependencies").in_tab("omit"),
    Setting::new(
        "include",
        KINDS_TO_INCLUDE,
        Subject::Tree,
        "Install this kind of dependencies, even if it is omitted elsewhere",
    ),
    Setting::new("before", Kind::Text("DATE"), Subject::Tree, "Only use versions that were published before this date")
        .in_tab("before"),
    Setting::new("tag", Kind::Text("TAG"), Subject::Tree, "The dist-tag for dependencies without a range")
        .in_tab("defaultTag"),
    Setting::new(
        "allow-git",
        Kind::Text("WHO"),
        Subject::Tree,
        "Who may depend on git repositories: all, root or none",
    )
    .in_tab("allowGit"),
    Setting::new(
        "allow-remote",
        Kind::Text("WHO"),
        Subject::Tree,
        "Who may depend on tarballs by URL: all, root or none",
    )
    .in_tab("allowRemote"),
    Setting::new(
        "allow-file",
        Kind::Text("WHO"),
        Subject::Tree,
        "Who may depend on tarballs on disk: all, root or none",
    )
    .in_tab("allowFile"),
    Setting::new("allow-directory", Kind::Text("WHO"), Subject::Tree, "Who may depend on folders: all, root or none")
        .in_tab("allowDirectory"),
    Setting::new(
        "allow-unused-patches",
        Kind::Switch,
        Subject::Tree,
        "Accept patches of packages that are not in the tree",
    ),
    Setting::new("ignore-extension", Kind::Switch, Subject::Tree, "Ignore an .npm-extension script"),
    Setting::for_files(
        "min-release-age",
        Kind::Text("DAYS"),
        Subject::Tree,
        "Only use versions that are at least this number of days old",
    ),
    Setting::for_files(
        "min-release-age-exclude",
        Kind::Texts,
        Subject::Tree,
        "Packages that `before` and `min-release-age` do not concern, as names or patterns",
    ),
    Setting::for_files(
        "extension-file",
        Kind::Text("FILE"),
        Subject::Tree,
        "The file that replaces .npm-extension.mjs and .npm-extension.cjs",
    ),
    Setting::new("lockfile-version", Kind::Text("VERSION"), Subject::Tree, "The lockfileVersion to write: 1, 2 or 3")
        .by_default("unchanged, or 3"),
    Setting::new("package-lock", Kind::Switch, Subject::Tree, "Read and write package-lock.json"),
    Setting::new("save", Kind::Switch, Subject::Saving, "Save to package.json").by_default("true; false for update"),
    Setting::new("save-exact", Kind::Switch, Subject::Saving, "Save the exact version, without a prefix"),
    Setting::new("save-prefix", Kind::Text("PREFIX"), Subject::Saving, "The prefix of saved versions"),
    Setting::for_files(
        "format-package-lock",
        Kind::Switch,
        Subject::Saving,
        "Write package-lock.json with line breaks and indentation",
    ),
    Setting::for_files(
        "omit-lockfile-registry-resolved",
        Kind::Switch,
        Subject::Saving,
        "Write no `resolved` for packages of registries",
    ),
    Setting::for_files(
        "allow-scripts-pin",
        Kind::Switch,
        Subject::Saving,
        "Let `approve` write the installed versions, not only the names",
    ),
    Setting::new("os", Kind::Text("OS"), Subject::Platform, "The system to resolve for, as in `process.platform`")
        .by_default("this one"),
    Setting::new("cpu", Kind::Text("CPU"), Subject::Platform, "The processor to resolve for, as in `process.arch`")
        .by_default("this one"),
    Setting::new("libc", Kind::Text("LIBC"), Subject::Platform, "The C library to resolve for, glibc or musl")
        .by_default("this one"),
    Setting::new(
        "ignore-scripts",
        Kind::Switch,
        Subject::Scripts,
        "Run no scripts, except those that the command names",
    ),
    Setting::new(
        "foreground-scripts",
        Kind::Switch,
        Subject::Scripts,
        "Run install scripts one by one and show their output",
    ),
    Setting::new("script-shell", Kind::Text("PATH"), Subject::Scripts, "The shell that runs scripts")
        .by_default("sh, or cmd on Windows"),
    Setting::new(
        "strict-allow-scripts",
        Kind::Switch,
        Subject::Scripts,
        "Fail if packages have install scripts that nobody has reviewed",
    ),
    Setting::new(
        "dangerously-allow-all-scripts",
        Kind::Switch,
        Subject::Scripts,
        "Allow the install scripts of every package",
    ),
    Setting::new("yes", Kind::Switch, Subject::Scripts, "Fetch programs without asking; --no fetches none"),
    Setting::for_files(
        "allow-scripts",
        Kind::Texts,
        Subject::Scripts,
        "Packages whose install scripts are approved, if package.json has no allowScripts",
    ),
    Setting::for_files(
        "bin-links",
        Kind::Switch,
        Subject::Scripts,
        "Add the commands of packages to node_modules/.bin",
    ),
    Setting::for_files("node-options", Kind::Text("OPTIONS"), Subject::Scripts, "`NODE_OPTIONS` of scripts"),
    Setting::for_files("node-gyp", Kind::Text("PATH"), Subject::Scripts, "The node-gyp that builds native packages")
        .by_default("that of the npm beside node"),
    Setting::for_files("user-agent", Kind::Text("TEXT"), Subject::Scripts, "`npm_config_user_agent` of scripts")
        .by_default("npm, Espalier, Node.js and the platform"),
    Setting::for_files("cache", Kind::Text("DIR"), Subject::Scripts, "`npm_config_cache` of scripts")
        .by_default("~/.npm; Espalier's own cache is elsewhere"),
    Setting::for_files("editor", Kind::Text("COMMAND"), Subject::Scripts, "`EDITOR` of scripts")
        .by_default("`EDITOR`, `VISUAL` or vi"),
    Setting::new("registry", Kind::Text("URL"), Subject::Network, "The default registry").in_tab("registry"),
    Setting::new("offline", Kind::Switch, Subject::Network, "Use only the cache").in_tab("offline"),
    Setting::new(
        "prefer-offline",
        Kind::Switch,
        Subject::Network,
        "Use cached data of any age; fetch only what is missing",
    )
    .in_tab("preferOffline"),
    Setting::new("prefer-online", Kind::Switch, Subject::Network, "Revalidate cached data even if it is fresh"),
    Setting::for_files(
        "scope",
        Kind::Text("SCOPE"),
        Subject::Network,
        "The scope whose registry replaces the default registry",
    ),
    Setting::for_files(
        "replace-registry-host",
        Kind::Text("HOST"),
        Subject::Network,
        "The host whose tarball URLs are fetched from the registry instead: npmjs, always, never or a host",
    ),
    Setting::for_files(
        "maxsockets",
        Kind::Text("NUMBER"),
        Subject::Network,
        "The maximum number of concurrent requests for documents, and of those for tarballs (at most 64)",
    )
    .by_default("256"),
    Setting::for_files("fetch-retries", Kind::Text("NUMBER"), Subject::Network, "The number of retries of a request"),
    Setting::for_files(
        "fetch-retry-factor",
        Kind::Text("NUMBER"),
        Subject::Network,
        "The factor by which each wait exceeds the one before",
    ),
    Setting::for_files(
        "fetch-retry-mintimeout",
        Kind::Text("MILLISECONDS"),
        Subject::Network,
        "The wait before the first retry, in milliseconds",
    )
    .by_default("500"),
    Setting::for_files(
        "fetch-retry-maxtimeout",
        Kind::Text("MILLISECONDS"),
        Subject::Network,
        "The longest wait before a retry, in milliseconds; a `Retry-After` is obeyed up to 60 s",
    ),
    Setting::for_files(
        "fetch-timeout",
        Kind::Text("MILLISECONDS"),
        Subject::Network,
        "The longest duration of one attempt, in milliseconds; 0 for no limit; 30 s of silence always end it",
    ),
    Setting::for_files("proxy", Kind::Text("URL"), Subject::Network, "The proxy for all requests; false for none")
        .by_default("`HTTPS_PROXY`, `HTTP_PROXY` or `PROXY`"),
    Setting::for_files(
        "https-proxy",
        Kind::Text("URL"),
        Subject::Network,
        "The proxy for all requests, before `proxy`",
    )
    .by_default("`HTTPS_PROXY`"),
    Setting::for_files("noproxy", Kind::Texts, Subject::Network, "Hosts that need no proxy").by_default("`NO_PROXY`"),
    Setting::for_files("strict-ssl", Kind::Switch, Subject::Network, "Verify the certificates of registries"),
    Setting::for_files("ca", Kind::Texts, Subject::Network, "Trusted certificates as PEM, in place of the system's"),
    Setting::for_files(
        "cafile",
        Kind::Text("FILE"),
        Subject::Network,
        "A file with trusted certificates, in place of the system's",
    ),
    Setting::for_files("cert", Kind::Text("PEM"), Subject::Network, "The client certificate for all registries"),
    Setting::for_files("key", Kind::Text("PEM"), Subject::Network, "The key of the client certificate"),
    Setting::new("userconfig", Kind::Text("FILE"), Subject::Network, "The user's settings").by_default("~/.npmrc"),
    Setting::new("globalconfig", Kind::Text("FILE"), Subject::Network, "The machine's settings")
        .by_default("etc/npmrc beside node"),
];

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::fs;
    use std::path::Path;

    use super::{Kind, SETTINGS, Subject, definitions};

    /// Reads a file of the repository.
    fn text(path: &str) -> String {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(path);
        fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
    }

    #[test]
    fn every_setting_is_npms_and_of_npms_kind() {
        for setting in SETTINGS {
            let name = setting.name;
            assert!(definitions::is_known(name), "{name}");
            let is_switch = matches!(setting.kind, Kind::Switch);
            let is_list = matches!(setting.kind, Kind::Texts | Kind::Choices(_));
            assert_eq!((is_switch, is_list), (definitions::is_switch(name), definitions::is_list(name)), "{name}");
            assert_eq!(SETTINGS.iter().filter(|other| other.name == name).count(), 1, "{name}");
        }
    }

    #[test]
    fn defaults_are_shown() {
        let help = |name: &str| SETTINGS.iter().find(|setting| setting.name == name).expect("a setting").help();
        assert!(help("allow-git").ends_with(" [default: none]"));
        assert!(help("save").ends_with(" [default: true; false for update]"));
        assert!(!help("engine-strict").contains("[default"));
    }

    /// Settings that commands define as options of their own.
    const OF_COMMANDS: [&str; 7] =
        ["all", "dry-run", "loglevel", "package-lock-only", "prefix", "progress", "save-bundle"];

    /// Fields of package.json that are read in the same way and have the name of a setting.
    const FIELDS: [&str; 4] = ["browser", "description", "name", "version"];

    /// npm's older names of settings.
    const OLDER: [&str; 9] =
        ["also", "cache-max", "cache-min", "dev", "global-style", "legacy-bundling", "only", "optional", "production"];

    #[test]
    fn whatever_the_code_reads_is_in_the_table() {
        const READERS: [&str; 7] = ["flag(", "text(", "number(", "list(", "amount(", "path(", "named(config, "];
        /// Shorter names of the same functions in `settings.rs`.
        const SHORT: [&str; 4] = ["small(", "milliseconds(", "said(", "configured("];
        let mut files = Vec::new();
        for source in ["crates/espalier-install/src", "crates/espalier-cli/src"] {
            sources(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(source), &mut files);
        }
        let (mut count, mut missing) = (0, BTreeSet::new());
        for code in files.iter().filter(|code| code.contains("config")) {
            let reads = READERS.iter().chain(&SHORT).flat_map(|reader| code.split(reader).skip(1));
            let keys = reads.filter_map(|rest| rest.strip_prefix('"')?.split('"').next());
            for key in keys.filter(|key| definitions::is_known(key) && !FIELDS.contains(key) && !key.contains(':')) {
                let is_listed = SETTINGS.iter().any(|setting| setting.name == key);
                if !is_listed && !OF_COMMANDS.contains(&key) && !OLDER.contains(&key) {
                    missing.insert(key);
                }
                count += 1;
            }
        }
        assert!(count > 50, "{count} were found");
        assert_eq!(missing, BTreeSet::new());
    }

    fn sources(folder: &Path, files: &mut Vec<String>) {
        for entry in fs::read_dir(folder).expect("a folder") {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                sources(&path, files);
            } else if path.file_name().is_some_and(|name| name != "table.rs") {
                files.extend(fs::read_to_string(&path));
            }
        }
    }

    #[test]
    fn the_document_has_the_table() {
        let mut lines = Vec::new();
        for subject in [Subject::Tree, Subject::Saving, Subject::Platform, Subject::Scripts, Subject::Network] {
            lines.push(format!("\n## {}\n\n| Setting | Effect | Default | In JavaScript |", subject.heading()));
            lines.push("|---|---|---|---|".to_owned());
            for setting in SETTINGS.iter().filter(|setting| setting.subject == subject) {
                let field = setting.field.map(|field| format!("`{field}`")).unwrap_or_default();
                let default = setting.default().unwrap_or_default();
                lines.push(format!("| `{}` | {} | {default} | {field} |", setting.name, setting.description));
            }
        }
        let expected = lines.join("\n");
        let document = text("docs/settings.md");
        assert!(document.contains(&expected), "docs/settings.md has to contain:\n{expected}");
    }

    /// The input of the npm package consists of its types, its check, its .npmrc and what Rust
    /// reads.
    #[test]
    fn the_npm_package_has_the_fields_of_the_table_and_no_others() {
        let types = text("pkg/index.d.ts") + &text("pkg/install.d.ts");
        let (input, npmrc, rust) =
            (text("pkg/src/input.ts"), text("pkg/src/npmrc.ts"), text("crates/espalier-wasm/src/input.rs"));
        for setting in SETTINGS {
            let Some(field) = setting.field else { continue };
            assert!(types.contains(&format!("\n  {field}?: ")), "{field} in the types");
            assert!(input.contains(field), "{field} in input.ts");
            assert!(npmrc.contains(setting.name) && npmrc.contains(field), "{} in npmrc.ts", setting.name);
            let snake: String = field.chars().flat_map(snake).collect();
            let is_of_network = setting.subject == Subject::Network;
            assert!(is_of_network || rust.contains(&format!("{snake}: ")), "{snake} in input.rs");
        }
        for mention in types.split("npm's `--").skip(1) {
            let name = mention.split(['`', '=']).next().unwrap_or_default();
            let is_field = SETTINGS.iter().any(|setting| setting.name == name && setting.field.is_some());
            assert!(is_field, "--{name} of the types is no field of the table");
        }
    }

    fn snake(character: char) -> Vec<char> {
        if character.is_uppercase() { vec!['_', character.to_ascii_lowercase()] } else { vec![character] }
    }
}
