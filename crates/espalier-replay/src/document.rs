//! The documents that a registry derives from a packument: with its own origin in tarball
//! addresses, abbreviated, of one version, or padded. Text in, text out.

use std::borrow::Cow;

use espalier_core::semver::max_satisfying;
use indexmap::IndexMap;
use memchr::memmem;
use serde::Deserialize;
use serde_json::value::RawValue;

use crate::padding;

/// The fields of a manifest in an abbreviated document, in the order of npm's registry (its
/// `minify-registry-metadata`). They don't include `libc`, `license` and `scripts`.
const ABBREVIATED_FIELDS: [&str; 18] = [
    "name",
    "version",
    "dependencies",
    "optionalDependencies",
    "devDependencies",
    "bundleDependencies",
    "peerDependencies",
    "acceptDependencies",
    "bin",
    "_hasShrinkwrap",
    "directories",
    "dist",
    "engines",
    "deprecated",
    "peerDependenciesMeta",
    "funding",
    "os",
    "cpu",
];

const INSTALL_SCRIPTS: [&str; 3] = ["preinstall", "install", "postinstall"];

type Fields<'a> = IndexMap<Cow<'a, str>, &'a RawValue>;

#[derive(Deserialize)]
struct Packument<'a> {
    #[serde(borrow, default)]
    name: Option<&'a RawValue>,
    #[serde(borrow, default, rename = "dist-tags")]
    dist_tags: Option<&'a RawValue>,
    #[serde(borrow, default)]
    versions: Fields<'a>,
    #[serde(borrow, default)]
    time: Option<&'a RawValue>,
    #[serde(borrow, default)]
    modified: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct Time<'a> {
    #[serde(borrow, default)]
    modified: Option<&'a RawValue>,
}

/// The full packument, with `origin` before tarball paths and manifests `factor` times as large.
pub fn full(packument: &[u8], origin: &str, factor: f64) -> serde_json::Result<Vec<u8>> {
    if factor <= 1.0 {
        return Ok(with_origin(packument, origin));
    }
    let fields: Fields = serde_json::from_slice(packument)?;
    let mut out = Vec::with_capacity(packument.len());
    write_object(&mut out, &fields, |out, name, value| {
        if name == "versions" {
            let versions: Fields = serde_json::from_str(value.get())?;
            write_object(out, &versions, |out, version, manifest| {
                out.extend(padding::pad(manifest.get(), version, factor));
                Ok(())
            })
        } else {
            out.extend_from_slice(value.get().as_bytes());
            Ok(())
        }
    })?;
    Ok(with_origin(&out, origin))
}

/// The abbreviated packument.
pub fn abbreviated(packument: &[u8], origin: &str) -> serde_json::Result<Vec<u8>> {
    let packument: Packument = serde_json::from_slice(packument)?;
    let mut document = Fields::new();
    let modified = match packument.time {
        Some(time) => serde_json::from_str::<Time>(time.get())?.modified.or(packument.modified),
        None => packument.modified,
    };
    let versions = abbreviated_versions(&packument.versions)?;
    let versions: &RawValue = serde_json::from_slice(&versions)?;
    let fields = [
        ("name", packument.name),
        ("dist-tags", packument.dist_tags),
        ("versions", Some(versions)),
        ("modified", modified),
    ];
    document.extend(fields.into_iter().filter_map(|(name, value)| Some((Cow::Borrowed(name), value?))));
    let mut out = Vec::new();
    write_as_is(&mut out, &document)?;
    Ok(with_origin(&out, origin))
}

/// The manifest of a version, which the selector names by version or tag. `None` if it doesn't
/// exist.
pub fn version(packument: &[u8], selector: &str, origin: &str, factor: f64) -> serde_json::Result<Option<Vec<u8>>> {
    let packument: Packument = serde_json::from_slice(packument)?;
    let tags: IndexMap<Cow<str>, Cow<str>> = match packument.dist_tags {
        Some(tags) => serde_json::from_str(tags.get())?,
        None => IndexMap::new(),
    };
    let version = tags.get(selector).map_or(selector, |version| version.as_ref());
    let manifest = packument.versions.get(version);
    Ok(manifest.map(|manifest| with_origin(&padding::pad(manifest.get(), version, factor), origin)))
}

/// The highest version in a range. `None` if there is none, or if the selector is a tag.
pub fn highest_in(packument: &[u8], selector: &str) -> serde_json::Result<Option<String>> {
    let packument: Packument = serde_json::from_slice(packument)?;
    Ok(max_satisfying(packument.versions.keys().map(AsRef::as_ref), selector, false).map(str::to_owned))
}

/// Adds the origin. Recordings contain only the paths of tarballs, so that they can be served
/// anywhere.
fn with_origin(document: &[u8], origin: &str) -> Vec<u8> {
    let mut out = Vec::with_capacity(document.len() + document.len() / 8);
    let mut copied = 0;
    for key in memmem::find_iter(document, br#""tarball""#) {
        let value = key + br#""tarball""#.len();
        let lead = document[value..].iter().take_while(|&&byte| byte == b':' || byte.is_ascii_whitespace()).count();
        let path = value + lead + 1;
        if document[value + lead..].starts_with(b"\"/") && !document[path..].starts_with(b"//") {
            out.extend_from_slice(&document[copied..path]);
            out.extend_from_slice(origin.as_bytes());
            copied = path;
        }
    }
    out.extend_from_slice(&document[copied..]);
    out
}

fn abbreviated_versions(versions: &Fields) -> serde_json::Result<Vec<u8>> {
    let mut out = Vec::new();
    write_object(&mut out, versions, |out, _, manifest| {
        let manifest: Fields = serde_json::from_str(manifest.get())?;
        let mut kept = Fields::new();
        for field in ABBREVIATED_FIELDS {
            let value = match manifest.get(field) {
                None if field == "bundleDependencies" => manifest.get("bundledDependencies"),
                value => value,
            };
            if let Some(value) = value.filter(|value| !is_empty(value.get())) {
                kept.insert(Cow::Borrowed(field), value);
            }
        }
        let has_install_script = has_install_script(&manifest).then(|| serde_json::from_str("true")).transpose()?;
        kept.extend(has_install_script.map(|value| (Cow::Borrowed("hasInstallScript"), value)));
        write_as_is(out, &kept)
    })?;
    Ok(out)
}

/// Whether a manifest has an install script. Recordings may contain the registry's derived field
/// instead of `scripts`.
fn has_install_script(manifest: &Fields) -> bool {
    if let Some(recorded) = manifest.get("hasInstallScript") {
        return recorded.get() == "true";
    }
    let scripts = manifest.get("scripts").and_then(|scripts| serde_json::from_str::<Fields>(scripts.get()).ok());
    scripts.is_some_and(|scripts| {
        INSTALL_SCRIPTS.iter().any(|name| scripts.get(*name).is_some_and(|script| !is_empty(script.get())))
    })
}

/// Whether a value is falsy in JavaScript, or an object or array without members.
fn is_empty(json: &str) -> bool {
    let inside = json.trim_start_matches(['{', '[']).trim_start();
    matches!(json, "null" | "false" | "0" | r#""""#) || (inside.len() < json.len() && matches!(inside, "}" | "]"))
}

fn write_as_is(out: &mut Vec<u8>, fields: &Fields) -> serde_json::Result<()> {
    write_object(out, fields, |out, _, value| {
        out.extend_from_slice(value.get().as_bytes());
        Ok(())
    })
}

fn write_object(
    out: &mut Vec<u8>,
    fields: &Fields,
    mut write_value: impl FnMut(&mut Vec<u8>, &str, &RawValue) -> serde_json::Result<()>,
) -> serde_json::Result<()> {
    out.push(b'{');
    for (index, (name, value)) in fields.iter().enumerate() {
        if index > 0 {
            out.push(b',');
        }
        serde_json::to_writer(&mut *out, name)?;
        out.push(b':');
        write_value(out, name, value)?;
    }
    out.push(b'}');
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    const PACKUMENT: &str = r#"{"_id":"a","name":"a","dist-tags":{"latest":"1.0.0"},"versions":{"1.0.0":{
        "name":"a","version":"1.0.0","license":"MIT","libc":["glibc"],"bin":{},"os":["linux"],
        "bundledDependencies":["b"],"scripts":{"install":"make"},
        "dist":{"tarball": "/a/-/a-1.0.0.tgz"}}},"time":{"modified":"2026-01-01T00:00:00.000Z"}}"#;

    fn text(document: serde_json::Result<Vec<u8>>) -> String {
        String::from_utf8(document.unwrap()).unwrap()
    }

    #[test]
    fn abbreviated_documents_keep_what_npms_registry_keeps() {
        let document = text(abbreviated(PACKUMENT.as_bytes(), "http://registry.test"));
        assert_eq!(
            document,
            r#"{"name":"a","dist-tags":{"latest":"1.0.0"},"versions":{"1.0.0":{"name":"a","version":"1.0.0","bundleDependencies":["b"],"dist":{"tarball": "http://registry.test/a/-/a-1.0.0.tgz"},"os":["linux"],"hasInstallScript":true}},"modified":"2026-01-01T00:00:00.000Z"}"#
        );
    }

    #[test]
    fn the_origin_is_put_in_front_of_paths_only() {
        let absolute = br#"{"tarball":"http://registry.test/a.tgz"} {"tarball":"//registry.test/a.tgz"}"#;
        assert_eq!(with_origin(absolute, "http://localhost:1"), absolute);
        assert_eq!(with_origin(br#"{"tarball":"/a.tgz"}"#, "http://h:1"), br#"{"tarball":"http://h:1/a.tgz"}"#);
    }

    #[test]
    fn a_padded_document_differs_from_the_recorded_one_in_size_only() {
        let plain: serde_json::Value = serde_json::from_slice(&full(PACKUMENT.as_bytes(), "", 1.0).unwrap()).unwrap();
        let text = full(PACKUMENT.as_bytes(), "", 8.0).unwrap();
        let mut padded: serde_json::Value = serde_json::from_slice(&text).unwrap();
        assert!(text.len() > 4 * PACKUMENT.len());
        padded["versions"]["1.0.0"].as_object_mut().unwrap().remove(padding::FIELD);
        assert_eq!(padded, plain);
    }

    #[test]
    fn empty_is_what_javascript_calls_falsy_or_without_members() {
        for json in ["null", "false", "0", r#""""#, "{}", "[ ]"] {
            assert!(is_empty(json), "{json}");
        }
        for json in ["true", "1", r#""}""#, "[[]]", r#"{"a":{}}"#, r#""]""#] {
            assert!(!is_empty(json), "{json}");
        }
    }
}
