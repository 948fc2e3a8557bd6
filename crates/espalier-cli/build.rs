//! Puts the built playground into the program, where `ESPALIER_PAGE` names it. Without it the
//! program has none, and says so.

use std::path::{Path, PathBuf};
use std::{env, fs};

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rerun-if-env-changed=ESPALIER_PAGE");
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets it")).join("page.pack");
    // Relative to the folder that cargo is called in, which is that of the workspace.
    let workspace = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let page = env::var_os("ESPALIER_PAGE").filter(|path| !path.is_empty()).map(|path| workspace.join(path));
    let packed = page.map_or_else(Vec::new, |path| {
        println!("cargo:rerun-if-changed={}", path.display());
        fs::read(&path).unwrap_or_else(|error| panic!("ESPALIER_PAGE: cannot read {}: {error}", path.display()))
    });
    fs::write(out, packed).expect("cargo's folder can be written to");
}
