//! Translates errors of HTTP clients into the protocol's terms. The innermost cause is the
//! informative one.

use std::error::Error;

use espalier_registry::{Broken, printable};

/// A connector's message if a name has no address.
const UNKNOWN_HOST: &str = "dns error";

/// What prevented the answer to a request.
pub(super) fn broken(error: &reqwest::Error) -> Broken {
    let cause = innermost(error);
    if error.is_redirect() {
        Broken::RedirectsWithoutEnd
    } else if error.is_builder() {
        Broken::Impossible(cause)
    } else if is_unknown_host(error) {
        Broken::UnknownHost
    } else if error.is_connect() && error.is_timeout() {
        Broken::NotConnectedInTime
    } else if error.is_timeout() {
        Broken::NotInTime
    } else if sources(error).any(<dyn Error>::is::<rustls::Error>) {
        Broken::Insecure(cause)
    } else if error.is_connect() {
        Broken::NotConnected(cause)
    } else {
        Broken::BrokeOff(cause)
    }
}

/// Why there is no connection.
pub(super) fn not_connected(error: &(dyn Error + 'static)) -> Broken {
    let cause = innermost(error);
    if sources(error).any(|source| source.to_string() == UNKNOWN_HOST) {
        Broken::UnknownHost
    } else if sources(error).any(is_timeout) {
        Broken::NotConnectedInTime
    } else if sources(error).any(<dyn Error>::is::<rustls::Error>) {
        Broken::Insecure(cause)
    } else {
        Broken::NotConnected(cause)
    }
}

fn is_timeout(error: &(dyn Error + 'static)) -> bool {
    let error = error.downcast_ref::<std::io::Error>();
    error.is_some_and(|error| error.kind() == std::io::ErrorKind::TimedOut)
}

/// Whether the name of the host has no address. The resolver's error has no type of its own, only
/// its message.
fn is_unknown_host(error: &reqwest::Error) -> bool {
    error.is_connect() && sources(error).any(|source| source.to_string() == UNKNOWN_HOST)
}

fn sources<'a>(error: &'a (dyn Error + 'static)) -> impl Iterator<Item = &'a (dyn Error + 'static)> {
    std::iter::successors(Some(error), |&error| {
        // An io::Error's inner error isn't its source, but the inner error's source is.
        let inner = error.downcast_ref::<std::io::Error>().and_then(std::io::Error::get_ref);
        inner.map(|inner| inner as &(dyn Error + 'static)).or_else(|| error.source())
    })
}

/// The message of the innermost cause of an error.
pub(super) fn innermost(error: &(dyn Error + 'static)) -> String {
    let cause = sources(error).last().map(ToString::to_string).unwrap_or_default();
    // The system's error number tells the reader nothing.
    let words = cause.split_once(" (os error ").map_or(cause.as_str(), |(words, _)| words);
    printable(words).trim_end_matches('.').to_owned()
}
