//! Specs of dependencies.
#![no_main]

libfuzzer_sys::fuzz_target!(|text: &str| espalier_fuzz::spec(text));
