//! The tests of this crate from outside. They are one program, because each program would be linked
//! by itself.

mod defaults;
mod disk;
mod documents;
mod faults;
mod hostile_input;
mod identity;
mod install;
mod install_faults;
mod install_folders;
mod install_foreign;
mod install_hostile;
mod install_links;
mod install_omitted;
mod install_packed;
mod install_parts;
mod lock;
mod recall;
mod regressions;
mod script_policy;
mod scripts_again;
mod store;
mod support;
mod unchanged;
mod unpack;
