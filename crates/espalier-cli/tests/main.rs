//! The command line as a person uses it: the real program, on real files. The tests are one
//! program, because each program would be linked by itself.

mod commands;
mod faults;
mod install;
mod lock;
mod play;
mod support;
