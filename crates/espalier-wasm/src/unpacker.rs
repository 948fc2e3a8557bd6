//! A package's files out of its tarball, which JavaScript has verified, and gives piece by piece, so that it can do something
//! else in between.

use espalier_package::archive::{self, ArchiveError, Limits, Reader, Receiver};
use espalier_package::bins::without_carriage_return;
use espalier_package::identity::Identity;
use js_sys::{Array, Uint8Array};
use rustc_hash::FxHashSet;
use wasm_bindgen::prelude::*;

use crate::source::problem;

/// What npm leaves to files by default.
const UMASK: u32 = 0o022;
/// The mode of a command, as `bin-links` makes it.
const EXECUTABLE: u32 = 0o777 & !UMASK;

/// Unpacks one package.
#[wasm_bindgen]
pub struct Unpacker {
    reader: Reader,
    files: Files,
}

/// The files as they come out, for JavaScript to take.
#[derive(Default)]
struct Files {
    executables: FxHashSet<String>,
    complete: Array,
    path: String,
    mode: u32,
    content: Vec<u8>,
    identity: Identity,
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
        for value in [self.path.as_str().into(), Uint8Array::from(content).into(), mode.into()] {
            self.complete.push(&value);
        }
        Ok(())
    }
}

#[wasm_bindgen]
impl Unpacker {
    /// For a tarball of `length` bytes. `executables` are the files that commands lead to.
    #[wasm_bindgen(constructor)]
    pub fn new(length: u32, executables: Vec<String>) -> Self {
        let files = Files { executables: executables.into_iter().collect(), ..Files::default() };
        Self { reader: Reader::new(length.into(), Limits::default()), files }
    }

    /// Takes the next piece, and gives the files that are complete: path, bytes, mode, path, …
    ///
    /// # Errors
    /// Throws a text that says what is wrong with the archive.
    pub fn push(&mut self, piece: &[u8]) -> Result<Array, JsValue> {
        let read = self.reader.push(piece, &mut self.files);
        self.taken(read)
    }

    /// Gives the last files.
    ///
    /// # Errors
    /// As `push`.
    pub fn end(&mut self) -> Result<Array, JsValue> {
        let reader = std::mem::replace(&mut self.reader, Reader::new(0, Limits::default()));
        let read = reader.finish(&mut self.files);
        self.taken(read)
    }

    /// What is wrong if this is to be a certain package.
    pub fn mistaken(&self, name: &str, version: &str) -> Option<String> {
        self.files.identity.check(name, version).err()
    }

    fn taken(&mut self, read: Result<(), ArchiveError<String>>) -> Result<Array, JsValue> {
        read.map_err(|error| JsValue::from(problem(error)))?;
        Ok(std::mem::take(&mut self.files.complete))
    }
}
