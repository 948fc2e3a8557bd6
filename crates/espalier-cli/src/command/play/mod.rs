//! `espalier play` serves the playground for the current project on loopback, until it is
//! interrupted.
//!
//! The page resolves by itself. It can't use the user's registries and tokens, so this server
//! fetches documents for it.

mod answers;
mod page;

use std::convert::Infallible;
use std::net::Ipv4Addr;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use espalier_install::activity::Activity;
use espalier_install::cache::{self, Cache};
use espalier_install::host;
use espalier_install::lock::LockError;
use espalier_install::registry::Registry;
use http_body_util::{BodyExt as _, Collected, Limited};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::net::{TcpListener, TcpStream};

use super::complaint::Complaint;
use super::context::Context;
use crate::arguments::project::WorkspaceArguments;
use crate::arguments::reading::PlayArguments;
use crate::style::{LIVING, PROBLEM, Styled};
use answers::Answers;
use page::Page;

/// The default port, unless it is taken.
const USUAL_PORT: u16 = 4871;
/// How long a client may take to send a request.
const PATIENCE: Duration = Duration::from_secs(30);
/// The maximum length of a question for advisories: the names and versions of a very large project.
const LONGEST_QUESTION: usize = 4 << 20;
const NO_PAGE: &str = "this build of Espalier does not include the page\n\n\
    Build the page in Espalier's repository: npm ci && cargo xtask wasm && npm run --workspace web pack\n\
    Then\n\
    - pass it: espalier play --page web/page.pack, or\n\
    - build Espalier with it: ESPALIER_PAGE=web/page.pack cargo build --release --package espalier-cli";

/// Serves the page until the process ends.
pub fn run(arguments: &PlayArguments) -> ExitCode {
    match prepare(arguments) {
        Ok(served) => served,
        Err(Failure::Complaint(complaint)) => complaint.report(false),
        Err(Failure::Words(words)) => {
            anstream::eprintln!("{} {words}", Styled(PROBLEM, "error:"));
            ExitCode::FAILURE
        }
    }
}

enum Failure {
    Complaint(Complaint),
    Words(String),
}

impl From<Complaint> for Failure {
    fn from(complaint: Complaint) -> Self {
        Self::Complaint(complaint)
    }
}

fn prepare(arguments: &PlayArguments) -> Result<ExitCode, Failure> {
    let page = find_page(arguments)?;
    let context = Context::new(&arguments.project, &WorkspaceArguments::default(), "play")?;
    let cache = cache::default_folder(&context.environment).map(|folder| Arc::new(Cache::at(&folder)));
    let registry = Registry::new(&context.settings, cache, Arc::<Activity>::default())
        .map_err(|error| Complaint::from(LockError::from(error)))?;
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().expect("threads can be started");
    runtime.block_on(async {
        let listener = listen(arguments.port).await?;
        let node = host::node_on_path();
        let answers = Answers {
            page,
            project: context.project.clone(),
            registry,
            options: context.settings.options.clone(),
            node: host::node_version().await,
            platform: host::platform(node),
            port: listener.local_addr().map_err(|error| Failure::Words(error.to_string()))?.port(),
            key: answers::key(),
        };
        let address = answers.address();
        anstream::eprintln!("{} {address}", Styled(LIVING, "Serving the playground at"));
        anstream::eprintln!(
            "It shows {} and updates when a package.json or the lockfile changes. Press Ctrl-C to stop.",
            context.project.path().display()
        );
        if arguments.open && open::that_detached(&address).is_err() {
            anstream::eprintln!("No browser could be opened. Open the address yourself.");
        }
        serve(&listener, Arc::new(answers)).await;
        Ok(ExitCode::SUCCESS)
    })
}

fn find_page(arguments: &PlayArguments) -> Result<Page, Failure> {
    let Some(path) = &arguments.page else { return Page::built_in().ok_or_else(|| Failure::Words(NO_PAGE.to_owned())) };
    let pack =
        std::fs::read(path).map_err(|error| Failure::Words(format!("cannot read {}: {error}", path.display())))?;
    let no_page =
        || Failure::Words(format!("{} is not a page that `npm run --workspace web pack` made", path.display()));
    Page::parse(&pack.into()).ok_or_else(no_page)
}

/// Listens on loopback, which no other machine can reach.
async fn listen(port: Option<u16>) -> Result<TcpListener, Failure> {
    let bind = |port| TcpListener::bind((Ipv4Addr::LOCALHOST, port));
    let Some(port) = port else {
        return match bind(USUAL_PORT).await {
            Ok(listener) => Ok(listener),
            Err(_) => bind(0).await.map_err(|error| Failure::Words(format!("cannot listen on 127.0.0.1: {error}"))),
        };
    };
    let failed = |error| Failure::Words(format!("cannot listen on 127.0.0.1:{port}: {error}; try another --port"));
    bind(port).await.map_err(failed)
}

async fn serve(listener: &TcpListener, answers: Arc<Answers>) {
    loop {
        match listener.accept().await {
            Ok((stream, _)) => {
                tokio::spawn(converse(stream, Arc::clone(&answers)));
            }
            // Probably, no file descriptor is left. Connections that end will free some.
            Err(_) => tokio::time::sleep(Duration::from_millis(10)).await,
        }
    }
}

async fn converse(stream: TcpStream, answers: Arc<Answers>) {
    let service = service_fn(move |request: hyper::Request<hyper::body::Incoming>| {
        let answers = Arc::clone(&answers);
        async move {
            let (head, body) = request.into_parts();
            let body = tokio::time::timeout(PATIENCE, Limited::new(body, LONGEST_QUESTION).collect()).await;
            let body = body.ok().and_then(Result::ok).map(Collected::to_bytes);
            Ok::<_, Infallible>(answers.answer(&head, body).await)
        }
    });
    let mut builder = http1::Builder::new();
    builder.timer(TokioTimer::new()).header_read_timeout(PATIENCE);
    // It is no error if a client hangs up.
    let _ = builder.serve_connection(TokioIo::new(stream), service).await;
}
