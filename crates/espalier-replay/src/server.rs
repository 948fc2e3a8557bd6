//! The sockets: listening, TLS, connections, and their end.

use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use hyper_util::server::conn::auto;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpStream};
use tokio::runtime::Runtime;
use tokio::task::{JoinHandle, JoinSet};
use tokio::time::timeout;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::{self, ServerConfig, pki_types::PrivateKeyDer};

use crate::registry::Registry;
use crate::respond::Responder;
use crate::settings::Settings;
use crate::statistics::Statistics;

/// How long a client may take to send a request or to complete a handshake.
const PATIENCE: Duration = Duration::from_secs(30);
/// The number of threads for sockets. Reading and compressing have threads of their own.
const WORKERS: usize = 2;

/// The reason why a server can't be started.
#[derive(Debug, thiserror::Error)]
pub enum ServerError {
    /// The port is taken or forbidden.
    #[error("cannot listen on 127.0.0.1:{port}: {source}")]
    Listen {
        /// The requested port.
        port: u16,
        /// The system's reason.
        source: io::Error,
    },
    /// The certificate can't be made.
    #[error("cannot make a certificate: {0}")]
    Certificate(#[from] rcgen::Error),
    /// The certificate isn't accepted.
    #[error("cannot use the certificate: {0}")]
    Tls(#[from] rustls::Error),
    /// The server's own runtime can't be started.
    #[error("cannot start the server's threads: {0}")]
    Runtime(io::Error),
}

/// A running server. It ends when it is dropped.
pub struct Server {
    /// The address that it listens on.
    pub address: SocketAddr,
    /// The self-signed certificate for TLS as PEM, for clients that should trust it.
    pub certificate: Option<String>,
    responder: Arc<Responder>,
    accepting: JoinHandle<()>,
    runtime: Option<Runtime>,
}

impl Server {
    /// Starts a server on the current runtime. It accepts connections when this returns.
    pub async fn start(registry: Arc<Registry>, settings: Settings) -> Result<Self, ServerError> {
        let port = settings.port;
        let listen = |source| ServerError::Listen { port, source };
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port)).await.map_err(listen)?;
        let address = listener.local_addr().map_err(listen)?;
        let (tls, certificate) =
            if settings.tls { self_signed().map(|(tls, pem)| (Some(tls), Some(pem)))? } else { (None, None) };
        let responder = Arc::new(Responder::new(registry, settings));
        let accepting = tokio::spawn(accept(listener, tls, Arc::clone(&responder)));
        Ok(Self { address, certificate, responder, accepting, runtime: None })
    }

    /// Starts a server on threads of its own, for synchronous callers.
    pub fn start_blocking(registry: Arc<Registry>, settings: Settings) -> Result<Self, ServerError> {
        let mut builder = tokio::runtime::Builder::new_multi_thread();
        let runtime = builder.worker_threads(WORKERS).enable_all().build().map_err(ServerError::Runtime)?;
        let mut server = runtime.block_on(Self::start(registry, settings))?;
        server.runtime = Some(runtime);
        Ok(server)
    }

    /// The server's own URL, without a slash at the end.
    pub fn origin(&self) -> String {
        let scheme = if self.certificate.is_some() { "https" } else { "http" };
        format!("{scheme}://{}", self.address)
    }

    /// The counts so far.
    pub fn statistics(&self) -> Statistics {
        self.responder.statistics()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.accepting.abort();
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}

/// Accepts connections. They belong to this task and end with it.
async fn accept(listener: TcpListener, tls: Option<TlsAcceptor>, responder: Arc<Responder>) {
    let mut connections = JoinSet::new();
    loop {
        tokio::select! {
            accepted = listener.accept() => match accepted {
                Ok((stream, _)) => {
                    connections.spawn(serve(stream, tls.clone(), Arc::clone(&responder)));
                }
                // Probably, no file descriptor is left. Connections that end will free some.
                Err(_) => tokio::time::sleep(Duration::from_millis(10)).await,
            },
            Some(_) = connections.join_next() => {}
        }
    }
}

async fn serve(stream: TcpStream, tls: Option<TlsAcceptor>, responder: Arc<Responder>) {
    // A response is one write, so waiting for more would only delay it. A failure only costs time.
    let _ = stream.set_nodelay(true);
    match tls {
        None => converse(stream, responder).await,
        Some(tls) => {
            if let Ok(Ok(stream)) = timeout(PATIENCE, tls.accept(stream)).await {
                converse(stream, responder).await;
            }
        }
    }
}

async fn converse(stream: impl AsyncRead + AsyncWrite + Unpin + 'static, responder: Arc<Responder>) {
    let service = service_fn(move |request: hyper::Request<hyper::body::Incoming>| {
        let responder = Arc::clone(&responder);
        async move { responder.respond(request.into_parts().0).await }
    });
    let mut builder = auto::Builder::new(TokioExecutor::new());
    builder.http1().timer(TokioTimer::new()).header_read_timeout(PATIENCE);
    builder.http2().timer(TokioTimer::new()).keep_alive_interval(PATIENCE);
    // It is no error if a client hangs up.
    let _ = builder.serve_connection(TokioIo::new(stream), service).await;
}

fn self_signed() -> Result<(TlsAcceptor, String), ServerError> {
    let names = ["localhost", "127.0.0.1"].map(String::from);
    let made = rcgen::generate_simple_self_signed(names)?;
    let key = PrivateKeyDer::Pkcs8(made.signing_key.serialize_der().into());
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let mut config = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()?
        .with_no_client_auth()
        .with_single_cert(vec![made.cert.der().clone()], key)?;
    config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    Ok((TlsAcceptor::from(Arc::new(config)), made.cert.pem()))
}
