//! Unpacks a verified tarball. JavaScript passes it piece by piece, so that it can do something
//! else in between. A patch is applied at the end.

use espalier_package::archive::{self, ArchiveError, Limits, Reader, Receiver};
use espalier_package::bins::without_carriage_return;
use espalier_package::identity::Identity;
use espalier_package::patch::{self, Patch, PatchError};
use js_sys::{Array, Uint8Array};
use rustc_hash::FxHashSet;
use serde::Serialize;
use wasm_bindgen::prelude::*;

use crate::boundary;
use crate::source::problem;

/// npm's default umask.
const UMASK: u32 = 0o022;
/// The mode of a command, as `bin-links` sets it.
const EXECUTABLE: u32 = 0o777 & !UMASK;

/// Unpacks a package.
#[wasm_bindgen]
pub struct Unpacker {
    reader: Reader,
    files: Files,
}

/// Complete files, for JavaScript to take.
#[derive(Default)]
struct Files {
    executables: FxHashSet<String>,
    complete: Array,
    path: String,
    mode: u32,
    content: Vec<u8>,
    identity: Identity,
    patching: Option<Patching>,
}

/// A patch and the files that it changes, which are held back until it is applied.
struct Patching {
    patch: Patch,
    paths: FxHashSet<String>,
    held: Held,
}

/// Paths, contents and modes. There are few of them.
#[derive(Default)]
struct Held(Vec<(String, Vec<u8>, u32)>);

impl Held {
    fn position(&self, path: &str) -> Option<usize> {
        self.0.iter().position(|(other, ..)| other == path)
    }

    /// Adds a file. If a path occurs twice, the last content counts.
    fn put(&mut self, path: &str, content: Vec<u8>, mode: u32) {
        self.forget(path);
        self.0.push((path.to_owned(), content, mode));
    }

    fn forget(&mut self, path: &str) {
        self.0.retain(|(other, ..)| other != path);
    }
}

impl patch::Files for Held {
    fn is_inside(&self, _: &str) -> bool {
        // The archive reader passes no links on.
        true
    }

    fn exists(&self, path: &str) -> bool {
        self.position(path).is_some()
    }

    fn read(&self, path: &str) -> Option<Vec<u8>> {
        self.position(path).map(|at| self.0[at].1.clone())
    }

    fn write(&mut self, path: &str, content: String) -> Result<(), String> {
        let mode = self.position(path).map_or(0o666 & !UMASK, |at| self.0[at].2);
        self.put(path, content.into_bytes(), mode);
        Ok(())
    }

    fn remove(&mut self, path: &str) -> Result<(), String> {
        self.forget(path);
        Ok(())
    }
}

impl Receiver for Files {
    type Error = String;

    fn begin(&mut self, path: &str, mode: u32) -> Result<(), String> {
        path.clone_into(&mut self.path);
        self.mode = archive::mode(mode, UMASK);
        self.content.clear();
        Ok(())
    }

    fn content(&mut self, bytes: &[u8]) -> Result<(), String> {
        self.content.extend_from_slice(bytes);
        Ok(())
    }

    fn end(&mut self) -> Result<(), String> {
        if self.path == "package.json" {
            self.identity = Identity::read(&self.content);
        }
        let is_executable = self.executables.contains(&self.path);
        let mended = if is_executable { without_carriage_return(&self.content) } else { None };
        let content = mended.as_deref().unwrap_or(&self.content);
        let mode = if is_executable { self.mode | EXECUTABLE } else { self.mode };
        match &mut self.patching {
            Some(Patching { paths, held, .. }) if paths.contains(&self.path) => {
                held.put(&self.path, content.to_owned(), mode);
            }
            _ => give(&self.complete, &self.path, content, mode),
        }
        Ok(())
    }
}

fn give(complete: &Array, path: &str, content: &[u8], mode: u32) {
    for value in [path.into(), Uint8Array::from(content).into(), mode.into()] {
        complete.push(&value);
    }
}

/// The failure of a patch, as an error's details.
fn rejection(error: &PatchError) -> JsValue {
    #[derive(Serialize)]
    struct Details<'a> {
        code: &'a str,
        message: &'a str,
    }
    let PatchError { code, message, .. } = error;
    boundary::to_javascript(&Details { code, message }).unwrap_or_else(|error| error)
}

#[wasm_bindgen]
impl Unpacker {
    /// Prepares to unpack a tarball of this length. `executables` are the files of commands, and
    /// `patch` is the text of the patch to apply.
    ///
    /// # Errors
    ///
    /// Throws an error's details if the patch can't be parsed.
    #[wasm_bindgen(constructor)]
    pub fn new(length: u32, executables: Vec<String>, patch: Option<String>) -> Result<Self, JsValue> {
        let patch = patch.map(|text| Patch::read(&text)).transpose().map_err(|error| rejection(&error))?;
        let patching = patch.map(|patch| Patching { paths: patch.paths().collect(), patch, held: Held::default() });
        let files = Files { executables: executables.into_iter().collect(), patching, ..Files::default() };
        Ok(Self { reader: Reader::new(length.into(), Limits::default()), files })
    }

    /// Takes the next piece. Returns complete files: path, bytes, mode, path, …
    ///
    /// # Errors
    ///
    /// Throws a text that says what is wrong with the archive.
    pub fn push(&mut self, piece: &[u8]) -> Result<Array, JsValue> {
        let read = self.reader.push(piece, &mut self.files);
        self.taken(read)
    }

    /// Returns the last files, and the patched ones.
    ///
    /// # Errors
    ///
    /// Like `push`, and like the constructor if the patch can't be applied.
    pub fn end(&mut self) -> Result<Array, JsValue> {
        let reader = std::mem::replace(&mut self.reader, Reader::new(0, Limits::default()));
        let read = reader.finish(&mut self.files);
        let complete = self.taken(read)?;
        if let Some(Patching { patch, mut held, .. }) = self.files.patching.take() {
            patch.apply(&mut held).map_err(|error| rejection(&error))?;
            for (path, content, mode) in &held.0 {
                give(&complete, path, content, *mode);
            }
        }
        Ok(complete)
    }

    /// What is wrong if the package isn't the expected one.
    pub fn mistaken(&self, name: &str, version: &str) -> Option<String> {
        self.files.identity.check(name, version).err()
    }

    fn taken(&mut self, read: Result<(), ArchiveError<String>>) -> Result<Array, JsValue> {
        read.map_err(|error| JsValue::from(problem(error)))?;
        Ok(std::mem::take(&mut self.files.complete))
    }
}
