//! The certificates that connections trust.

use std::fmt;
use std::sync::Arc;

use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject as _;
use rustls::{ClientConfig, RootCertStore};
use rustls_platform_verifier::Verifier;

use super::failure::innermost;
use crate::config::settings::Certificates;

/// The trusted certificates.
#[derive(Clone, Debug, Default)]
pub(super) struct Trusted {
    /// The certificates that replace the system's, if there are any.
    pub only: Certificates,
    pub extra: Certificates,
}

impl Trusted {
    /// The TLS configuration of a connection. The error completes a sentence.
    pub fn tls(&self) -> Result<ClientConfig, String> {
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let versions = ClientConfig::builder_with_provider(Arc::clone(&provider)).with_safe_default_protocol_versions();
        let builder = versions.map_err(|error| error.to_string())?;
        let extra = pem_certificates(&self.extra)?;
        if self.only.is_empty() {
            let verifier = Verifier::new_with_extra_roots(extra, provider).map_err(|error| error.to_string())?;
            let builder = builder.dangerous().with_custom_certificate_verifier(Arc::new(verifier));
            return Ok(builder.with_no_client_auth());
        }
        let mut roots = RootCertStore::empty();
        for certificate in pem_certificates(&self.only)?.into_iter().chain(extra) {
            roots.add(certificate).map_err(|error| error.to_string())?;
        }
        Ok(builder.with_root_certificates(roots).with_no_client_auth())
    }
}

fn pem_certificates(pems: &Certificates) -> Result<Vec<CertificateDer<'static>>, String> {
    let mut certificates = Vec::new();
    for pem in pems.iter() {
        let unusable = |reason: &dyn fmt::Display| format!("the certificates of {pem} cannot be used: {reason}");
        let text = pem.read().map_err(|error| unusable(&innermost(&error)))?;
        for certificate in CertificateDer::pem_slice_iter(&text) {
            certificates.push(certificate.map_err(|error| unusable(&error))?);
        }
    }
    Ok(certificates)
}
