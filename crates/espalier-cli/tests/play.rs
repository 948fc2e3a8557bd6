//! `espalier play`: the files that it serves, and who receives them. The page here is a pack of one
//! file. `tests/e2e/play.spec.ts` tests the built page.

use std::fs;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::process::{Child, ChildStderr, Stdio};
use std::sync::Arc;

use crate::support::Stage;
use espalier_replay::{Registry, Server, Settings};
use flate2::Compression;
use flate2::write::GzEncoder;
use serde_json::{Value, json};

/// Ends the server with the test.
struct Playing {
    process: Child,
    /// The rest of its output, which has to stay open while it runs.
    _said: BufReader<ChildStderr>,
    host: String,
    path: String,
}

impl Drop for Playing {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

struct Answer {
    status: u16,
    head: String,
    body: String,
}

impl Playing {
    fn start(stage: &Stage) -> Self {
        let page = stage.path("project/page.pack");
        let mut body = GzEncoder::new(Vec::new(), Compression::default());
        body.write_all(b"page").expect("memory");
        let body = body.finish().expect("memory");
        let list = format!("[[\"index.html\",\"text/html; charset=utf-8\",{}]]\n", body.len());
        fs::write(&page, [list.as_bytes(), &body].concat()).expect("a file");
        let mut command = stage.espalier(&["play", "--port", "0", "--page"]);
        let mut process = command.arg(page).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().expect("it starts");
        let mut said = BufReader::new(process.stderr.take().expect("piped"));
        let mut line = String::new();
        let address = loop {
            line.clear();
            assert_ne!(said.read_line(&mut line).expect("text"), 0, "it ended before it said where it is");
            if let Some(at) = line.find("http://") {
                break line[at + "http://".len()..].trim().to_owned();
            }
        };
        let (host, path) = address.split_once('/').expect("a path");
        let path = format!("/{}", path.strip_suffix("?play").expect("how the page knows"));
        Self { process, _said: said, host: host.to_owned(), path }
    }

    /// Requests a path below the page's own folder.
    fn get(&self, path: &str, headers: &[(&str, &str)]) -> Answer {
        self.ask("GET", &format!("{}{path}", self.path), headers)
    }

    fn ask(&self, method: &str, path: &str, headers: &[(&str, &str)]) -> Answer {
        self.send(method, path, headers, "")
    }

    fn send(&self, method: &str, path: &str, headers: &[(&str, &str)], body: &str) -> Answer {
        let mut stream = TcpStream::connect(&self.host).expect("it listens");
        let mut lines = vec![format!("{method} {path} HTTP/1.1"), "Connection: close".to_owned()];
        if !headers.iter().any(|(name, _)| *name == "Host") {
            lines.push(format!("Host: {}", self.host));
        }
        lines.extend(headers.iter().map(|(name, value)| format!("{name}: {value}")));
        if !body.is_empty() {
            lines.push(format!("Content-Length: {}", body.len()));
        }
        stream.write_all(format!("{}\r\n\r\n", lines.join("\r\n")).as_bytes()).expect("sent");
        // A server that answers early does not read the rest.
        let _ = stream.write_all(body.as_bytes());
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer).expect("an answer");
        let text = String::from_utf8_lossy(&answer);
        let (head, body) = text.split_once("\r\n\r\n").expect("a head");
        let status = head.split(' ').nth(1).and_then(|status| status.parse().ok()).expect("a status");
        Answer { status, head: head.to_ascii_lowercase(), body: body.to_owned() }
    }
}

fn stage() -> Stage {
    let manifest = json!({ "name": "app", "version": "1.0.0", "dependencies": { "thing": "^1.0.0" } });
    let stage = Stage::new(&manifest, &[("thing@1.2.0", json!({}))]);
    let address = stage.origin().trim_start_matches("http:").to_owned();
    stage.write(".npmrc", &format!("{address}/:_authToken=a-secret-token\nlegacy-peer-deps=true\n"));
    stage
}

#[test]
fn the_page_gets_the_project_and_its_registry_but_no_token() {
    let stage = stage();
    let playing = Playing::start(&stage);
    // Safari accepts these headers over plain HTTP.
    let page = playing.get("", &[("Accept-Encoding", "gzip, deflate")]);
    assert_eq!(page.status, 200);
    assert!(page.head.contains("content-encoding: gzip"), "{}", page.head);
    assert!(page.head.contains("connect-src 'self'"), "{}", page.head);
    let plain = playing.get("", &[]);
    assert_eq!((plain.status, plain.body.as_str()), (200, "page"));
    assert!(!plain.head.contains("content-encoding"), "{}", plain.head);

    let about = playing.get("-/project", &[]);
    let told: Value = serde_json::from_str(&about.body).expect("JSON");
    assert!(told["manifest"].as_str().expect("a text").contains("\"thing\""));
    assert_eq!(told["settings"]["legacyPeerDeps"], true);
    assert!(!about.body.contains("a-secret-token"));

    let packument = playing.get("-/registry/thing", &[("Accept", "application/vnd.npm.install-v1+json")]);
    let found: Value = serde_json::from_str(&packument.body).expect("JSON");
    assert_eq!(found["dist-tags"]["latest"], "1.2.0");
    assert!(!packument.body.contains("a-secret-token") && !packument.head.contains("a-secret-token"));
    assert_eq!(playing.get("-/registry/no-such-thing", &[]).status, 404);
}

#[test]
fn advisories_are_asked_of_the_registry() {
    let stage = Stage::bare();
    let known = json!({ "thing": [{ "title": "Slow on long text", "vulnerable_versions": "<2.0.0" }] }).to_string();
    fs::write(stage.path("registry/advisories.json"), &known).expect("a file");
    let registry = Registry::open(&stage.path("registry")).expect("a registry");
    let server = Server::start_blocking(Arc::new(registry), Settings::default()).expect("a server");
    stage.write("package.json", "{}");
    let stage = stage.at(server.origin());
    let playing = Playing::start(&stage);
    let path = format!("{}-/registry/-/npm/v1/security/advisories/bulk", playing.path);
    let answer = playing.send("POST", &path, &[], "{\"thing\":[\"1.2.0\"]}");
    assert_eq!((answer.status, answer.body), (200, known));
    // No other request is forwarded, and none of another origin.
    assert_eq!(playing.send("POST", &path, &[], "{\"thing\":{}}").status, 400);
    assert_eq!(playing.send("POST", &path, &[("Origin", "http://evil.test")], "{}").status, 403);
    drop(server);
    assert_ne!(playing.send("POST", &path, &[], "{}").status, 200);
}

#[test]
fn a_change_on_disk_is_another_revision() {
    let stage = stage();
    let playing = Playing::start(&stage);
    let before = playing.get("-/revision", &[]).body;
    assert_eq!(playing.get("-/revision", &[]).body, before);
    stage.write("package.json", "{ \"name\": \"other\" }");
    assert_ne!(playing.get("-/revision", &[]).body, before);
    assert!(playing.get("-/project", &[]).body.contains("other"));
}

#[test]
fn a_change_of_a_workspace_is_another_revision() {
    let stage = stage();
    stage.write("package.json", r#"{ "workspaces": ["packages/*"] }"#);
    stage.write("packages/a/package.json", r#"{ "name": "a" }"#);
    stage.write("elsewhere/package.json", r#"{ "name": "elsewhere" }"#);
    let playing = Playing::start(&stage);
    let mut known = vec![playing.get("-/revision", &[]).body];
    let mut is_new = || {
        let revision = playing.get("-/revision", &[]).body;
        let is_new = !known.contains(&revision);
        known.push(revision);
        is_new
    };
    assert!(!is_new());
    stage.write("packages/a/package.json", r#"{ "name": "a", "version": "2.0.0" }"#);
    assert!(is_new());
    stage.write("packages/b/package.json", r#"{ "name": "b" }"#);
    assert!(is_new());
    // Other files and folders are not the project's.
    stage.write("packages/a/readme.md", "text");
    stage.write("elsewhere/package.json", "{}");
    assert!(!is_new());
    let about: Value = serde_json::from_str(&playing.get("-/project", &[]).body).expect("JSON");
    let files: Vec<&String> = about["files"].as_object().expect("files").keys().collect();
    assert_eq!(files, ["packages/a/package.json", "packages/b/package.json"]);
    fs::remove_dir_all(stage.path("project/packages/a")).expect("removed");
    assert!(is_new());
}

#[test]
fn nobody_else_is_answered() {
    let stage = stage();
    let playing = Playing::start(&stage);
    let port = playing.host.split(':').nth(1).expect("a port");
    // A foreign host name that points to this machine, another page that knows the port, and a
    // guessed path.
    for headers in [
        [("Host", format!("evil.test:{port}"))],
        [("Host", "127.0.0.1".to_owned())],
        [("Origin", "http://evil.test".to_owned())],
        [("Origin", "null".to_owned())],
        [("Sec-Fetch-Site", "cross-site".to_owned())],
    ] {
        let headers = headers.each_ref().map(|(name, value)| (*name, value.as_str()));
        assert_eq!(playing.get("-/project", &headers).status, 403, "{headers:?}");
    }
    let own = format!("http://{}", playing.host);
    assert_eq!(playing.get("-/project", &[("Origin", &own)]).status, 200);
    for path in ["/", "/-/project", "/00000000000000000000000000000000/-/project"] {
        assert_eq!(playing.ask("GET", path, &[]).status, 404, "{path}");
    }
    assert_eq!(playing.ask("POST", &format!("{}-/project", playing.path), &[("Content-Length", "0")]).status, 405);
}

#[test]
fn no_path_leads_out_of_the_page() {
    let stage = stage();
    let playing = Playing::start(&stage);
    for path in ["../../../../etc/passwd", "%2e%2e/package.json", "package.json", ".npmrc", "page.pack", "//etc/passwd"]
    {
        assert_eq!(playing.get(path, &[("Accept-Encoding", "br")]).status, 404, "{path}");
    }
    // A path cannot lead out of the registry either.
    for path in ["..", "../x", "%2e%2e", "%2e%2e%2f-%2fstats", "thing/1.2.0/more", "a%3fb", ""] {
        let answer = playing.get(&format!("-/registry/{path}"), &[]);
        assert!(matches!(answer.status, 404 | 501), "{path}: {}", answer.status);
    }
}

#[test]
fn what_is_no_page_is_said() {
    let stage = stage();
    let pack = stage.path("project/page.pack");
    fs::write(&pack, "<html>").expect("a file");
    let output = stage.espalier(&["play", "--page"]).arg(&pack).output().expect("it runs");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(!output.status.success());
    assert!(said.contains("is not a page that `npm run --workspace web pack` made"), "{said}");
}
