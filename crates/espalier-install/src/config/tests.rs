use std::path::Path;

use espalier_core::{Allow, Options};
use espalier_registry::{Address, Registries};
use indexmap::IndexMap;

use super::registries::{normalize, read};
use super::settings::{Freshness, Settings};
use super::{Config, ConfigError, Environment, Origin, Value, definitions};

/// A project, a home and a prefix in a temporary folder.
struct Place {
    root: tempfile::TempDir,
    environment: Environment,
}

impl Place {
    fn new<const N: usize>(variables: [(&str, &str); N]) -> Self {
        let root = tempfile::tempdir().expect("a temporary folder");
        for folder in ["project", "home", "prefix/etc", "prefix/bin"] {
            std::fs::create_dir_all(root.path().join(folder)).expect("a folder");
        }
        let mut environment = Environment::of_variables(variables);
        environment.home = Some(root.path().join("home"));
        environment.node = Some(root.path().join("prefix/bin/node"));
        Self { root, environment }
    }

    fn with(self, path: &str, text: &str) -> Self {
        std::fs::write(self.root.path().join(path), text).expect("written");
        self
    }

    fn load(&self, flags: &[(&str, &str)]) -> Config {
        self.try_load(flags).expect("a configuration")
    }

    fn try_load(&self, flags: &[(&str, &str)]) -> Result<Config, ConfigError> {
        let flags: IndexMap<_, _> =
            flags.iter().map(|(key, value)| ((*key).to_owned(), Value::Text((*value).to_owned()))).collect();
        Config::load(&self.root.path().join("project"), flags, &self.environment)
    }

    fn registries(&self) -> Registries {
        read(&self.load(&[])).expect("registries")
    }

    fn settings(&self) -> Result<Settings, ConfigError> {
        Settings::new(&self.load(&[]), &self.environment)
    }
}

fn url(text: &str) -> Address {
    Address::parse(text, normalize).expect("a URL")
}

#[test]
fn the_nearer_place_wins() {
    let place = Place::new([("npm_config_c", "environment"), ("npm_config_d", "environment")])
        .with("project/.npmrc", "b=project\nc=project")
        .with("home/.npmrc", "a=user\nb=user")
        .with("prefix/etc/npmrc", "a=global\nz=global");
    let config = place.load(&[("d", "flag")]);
    for (key, expected) in [("a", "user"), ("b", "project"), ("c", "environment"), ("d", "flag"), ("z", "global")] {
        assert_eq!(config.text(key).as_deref(), Some(expected), "{key}");
    }
}

#[test]
fn null_takes_a_setting_back() {
    let place = Place::new([]).with("project/.npmrc", "proxy=null").with("home/.npmrc", "proxy=http://proxy.test");
    assert_eq!(place.load(&[]).text("proxy"), None);
}

#[test]
fn variables_count_in_any_case_and_the_lower_case_one_more() {
    let place = Place::new([
        ("NPM_CONFIG_STRICT_SSL", "false"),
        ("NPM_CONFIG_TAG", "upper"),
        ("npm_config_tag", "lower"),
        ("npm_config_//registry.test/:_authToken", "T"),
    ]);
    let config = place.load(&[]);
    assert!(!config.flag("strict-ssl", true));
    assert_eq!(config.text("tag").as_deref(), Some("lower"));
    assert_eq!(config.text("//registry.test/:_authToken").as_deref(), Some("T"));
}

#[test]
fn the_users_file_can_be_elsewhere() {
    let place = Place::new([]).with("elsewhere", "tag=next").with("home/.npmrc", "tag=beta");
    let path = place.root.path().join("elsewhere");
    std::fs::write(place.root.path().join("project/.npmrc"), format!("userconfig={}", path.display()))
        .expect("written");
    assert_eq!(place.load(&[]).text("tag").as_deref(), Some("next"));
}

#[test]
fn a_project_in_the_home_folder_has_only_the_users_file() {
    let place = Place::new([]).with("home/.npmrc", "tag=next");
    let home = place.root.path().join("home");
    let config = Config::load(&home, IndexMap::new(), &place.environment).expect("a configuration");
    assert_eq!(config.find("tag").expect("set").1, &Origin::User(home.join(".npmrc")));
}

#[test]
fn a_file_that_cannot_be_read_is_an_error() {
    let place = Place::new([]);
    std::fs::create_dir(place.root.path().join("home/.npmrc")).expect("a folder where a file should be");
    let error = place.try_load(&[]).expect_err("unreadable");
    assert!(matches!(error, ConfigError::Unreadable { .. }), "{error}");
}

#[test]
fn switches_read_as_npm_reads_them() {
    let place = Place::new([]).with("project/.npmrc", "a\nb=false\nc=0\nd=null\ne=yes\nf=1\ng=");
    let config = place.load(&[]);
    let on: Vec<_> = ["a", "b", "c", "d", "e", "f", "g"].into_iter().filter(|key| config.flag(key, true)).collect();
    assert_eq!(on, ["a", "e", "f", "g"]);
}

#[test]
fn a_scope_has_its_own_registry() {
    let place = Place::new([])
        .with("project/.npmrc", "registry=http://registry.test/npm\n@acme:registry=http://acme.test:8080");
    let registries = place.registries();
    assert_eq!(registries.of_package("left-pad").as_str(), "http://registry.test/npm/");
    assert_eq!(registries.of_package("@other/x").as_str(), "http://registry.test/npm/");
    assert_eq!(registries.of_package("@acme/x").as_str(), "http://acme.test:8080/");
}

#[test]
fn the_default_registry_needs_no_setting() {
    let registries = Place::new([]).registries();
    assert_eq!(registries.default_registry().as_str().trim_end_matches('/'), espalier_registry::PUBLIC_REGISTRY);
}

#[test]
fn a_token_goes_to_its_own_host_and_path_only() {
    let place = Place::new([("TOKEN", "abc")])
        .with("home/.npmrc", "registry=http://registry.test/\n//registry.test/team/:_authToken=${TOKEN}");
    let registries = place.registries();
    let sent = |text: &str| registries.authorization(&url(text), "x");
    assert_eq!(sent("http://registry.test/team/x").as_deref(), Some("Bearer abc"));
    assert_eq!(sent("http://registry.test/other/x"), None);
    assert_eq!(sent("http://registry.test:8080/team/x"), None);
    assert_eq!(sent("http://registry.test.evil.test/team/x"), None);
    assert_eq!(sent("http://registry.test/teamster/x"), None);
}

#[test]
fn a_token_key_may_lack_its_slash() {
    let place = Place::new([]).with("home/.npmrc", "//registry.test:_authToken=12345");
    let authorization = place.registries().authorization(&url("http://registry.test/x"), "x");
    assert_eq!(authorization.as_deref(), Some("Bearer 12345"));
}

#[test]
fn the_longest_prefix_that_makes_a_header_counts() {
    let place = Place::new([]).with(
        "home/.npmrc",
        "//registry.test/:_authToken=short\n//registry.test/a/:_authToken=long\n//registry.test/a/b/:username=half",
    );
    let authorization = place.registries().authorization(&url("http://registry.test/a/b/x"), "x");
    assert_eq!(authorization.as_deref(), Some("Bearer long"));
}

#[test]
fn a_user_and_an_encoded_password_make_a_basic_header() {
    let place = Place::new([]).with("home/.npmrc", "//registry.test/:username=me\n//registry.test/:_password=c2VjcmV0");
    let authorization = place.registries().authorization(&url("http://registry.test/x"), "x");
    assert_eq!(authorization.as_deref(), Some("Basic bWU6c2VjcmV0"));
}

#[test]
fn a_credential_without_a_registry_is_refused() {
    let place = Place::new([]).with("home/.npmrc", "registry=http://registry.test/npm/\n_authToken=abc");
    let error = read(&place.load(&[])).expect_err("refused");
    let ConfigError::UnscopedCredential { replacement, .. } = error else { panic!("{error}") };
    assert_eq!(replacement, "//registry.test/npm/:_authToken");
}

#[test]
fn a_registry_that_is_no_url_is_an_error_that_says_where() {
    let place = Place::new([]).with("project/.npmrc", "registry=registry.test");
    let error = read(&place.load(&[])).expect_err("not a URL").to_string();
    assert!(error.starts_with("registry is `registry.test`, which is not an http or https URL (set by "), "{error}");
}

#[test]
fn the_nearest_of_the_two_age_limits_counts() {
    let place = Place::new([])
        .with("project/.npmrc", "before=2026-01-31")
        .with("home/.npmrc", "min-release-age=3\nbefore=2020-01-01");
    assert_eq!(place.settings().expect("settings").options.before, Some(1_769_817_600_000));

    let place = Place::new([]).with("project/.npmrc", "min-release-age=0").with("home/.npmrc", "before=2020-01-01");
    assert_eq!(place.settings().expect("settings").options.before, None);
}

#[test]
fn a_date_that_is_none_is_an_error() {
    let error = Place::new([]).with("project/.npmrc", "before=yesterday").settings().expect_err("no date");
    assert!(error.to_string().starts_with("before is `yesterday`, which is not a date"), "{error}");
}

#[test]
fn proxies_come_from_settings_and_then_from_variables() {
    let variables = [("HTTP_PROXY", "http://a.test"), ("https_proxy", "http://b.test"), ("NO_PROXY", "local.test")];
    let network = Place::new(variables).settings().expect("settings").network;
    assert_eq!(network.https_proxy.as_deref(), Some("http://b.test"));
    assert_eq!(network.http_proxy.as_deref(), Some("http://b.test"));
    assert_eq!(network.no_proxy.as_deref(), Some("local.test"));

    let place = Place::new(variables).with("project/.npmrc", "proxy=http://c.test\nnoproxy[]=x.test\nnoproxy[]=y.test");
    let network = place.settings().expect("settings").network;
    assert_eq!(network.https_proxy.as_deref(), Some("http://c.test"));
    assert_eq!(network.no_proxy.as_deref(), Some("x.test,y.test"));

    let network = Place::new(variables).with("project/.npmrc", "proxy=false").settings().expect("settings").network;
    assert_eq!(network.https_proxy, None);
}

#[test]
fn offline_is_the_strictest_of_the_cache_modes() {
    let place = Place::new([]).with("project/.npmrc", "offline\nprefer-offline\nprefer-online");
    assert_eq!(place.settings().expect("settings").freshness, Freshness::CacheOnly);
}

#[test]
fn a_project_that_redirects_the_registry_and_reads_a_variable_is_pointed_out() {
    let text = "registry=http://registry.test/\n//registry.test/:_authToken=${TOKEN}";
    let warnings = |file: &str| Place::new([("TOKEN", "x")]).with(file, text).load(&[]).warnings().len();
    assert_eq!(warnings("project/.npmrc"), 1);
    assert_eq!(warnings("home/.npmrc"), 0);
}

#[test]
fn project_paths_do_not_need_to_exist() {
    let environment = Environment::of_variables([]);
    let config = Config::load(Path::new("/nonexistent/project"), IndexMap::new(), &environment);
    assert!(config.is_ok(), "{config:?}");
}

#[test]
fn an_allowance_is_all_root_or_none() {
    let scene = Place::new([("npm_config_allow_git", "root")]);
    let settings = scene.settings().expect("settings");
    assert_eq!(settings.trust().git, Allow::Root);
    let nonsense = Place::new([("npm_config_allow_git", "some")]).settings();
    assert!(nonsense.is_err_and(|error| error.to_string().contains("allow-git")));
}

#[test]
fn only_the_command_line_accepts_unused_patches() {
    let elsewhere = Place::new([("npm_config_allow_unused_patches", "true")])
        .with("project/.npmrc", "allow-unused-patches=true\n")
        .settings();
    assert!(!elsewhere.expect("settings").options.allow_unused_patches);
    let config = Place::new([]).load(&[("allow-unused-patches", "true")]);
    let settings = Settings::new(&config, &Environment::default()).expect("settings");
    assert!(settings.options.allow_unused_patches);
}

#[test]
fn retries_wait_longer_by_npms_factor() {
    assert_eq!(Place::new([]).settings().expect("settings").network.retry_factor, 10);
}

#[test]
fn no_time_to_fetch_is_no_limit() {
    let settings = Place::new([("npm_config_fetch_timeout", "0")]).settings().expect("settings");
    assert!(settings.network.timeout > std::time::Duration::from_hours(24));
}

#[test]
fn what_is_not_set_is_npms_default() {
    // The waits are shorter, and more documents are asked for at once.
    const OTHER: [&str; 2] = ["fetch-retry-mintimeout", "maxsockets"];
    let line = |key: &str| match definitions::default(key)? {
        Value::Flag(flag) => Some(format!("{key}={flag}\n")),
        Value::Text(text) => Some(format!("{key}={text}\n")),
        Value::Null | Value::List(_) => None,
    };
    let text: String = definitions::keys().filter(|key| !OTHER.contains(key)).filter_map(line).collect();
    let unset = Place::new([]).settings().expect("settings");
    let set = Place::new([]).with("project/.npmrc", &text).settings().expect("settings");
    let here = Options { home: unset.options.home.clone(), ..(*set.options).clone() };
    assert_eq!(here, *unset.options);
    assert_eq!(format!("{:?}{:?}", set.network, set.freshness), format!("{:?}{:?}", unset.network, unset.freshness));
    assert_eq!(set.saving.prefix, unset.saving.prefix);
    // What is reported isn't npm's to say.
    let of_the_core = Options {
        default_registry_host: unset.options.default_registry_host.clone(),
        registries: Some(unset.registries.addresses()),
        reporting: unset.options.reporting,
        home: unset.options.home.clone(),
        ..Options::default()
    };
    assert_eq!(*unset.options, of_the_core);
}
