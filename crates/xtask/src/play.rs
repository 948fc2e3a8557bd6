//! `cargo xtask play`: starts the playground, from nothing to an address for a browser.
//!
//! It serves the built app and the embedded registry as static files on loopback. To change the app
//! while it runs, use `npm run
//! --workspace web dev`.

use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail, ensure};

use crate::toolchain::{self, npm_program, root};
use crate::wasm::{self, Profile};

/// The default port, unless it is taken.
const DEFAULT_PORT: u16 = 4870;
/// How long the server may take until its first answer.
const PATIENCE: Duration = Duration::from_secs(20);

/// Arguments of `cargo xtask play`.
#[derive(clap::Args)]
pub struct Arguments {
    /// The port to listen on [default: 4870, or a free one if that is taken]
    #[arg(long)]
    port: Option<u16>,
}

/// Runs the command, until it is interrupted.
pub fn run(arguments: &Arguments) -> Result<()> {
    let port = choose_port(arguments.port)?;
    wasm::build(Profile::Release)?;
    eprintln!("Building the playground (vite build) …");
    toolchain::run(Command::new(npm_program("vite")).args(["build", "web", "--logLevel", "warn"]))?;

    let mut server = serve(port)?;
    wait_until_ready(&mut server, port)?;
    eprintln!("The playground is at http://127.0.0.1:{port}/ and ends with Ctrl-C.");
    // Waiting for a child closes its standard input, which would end the server.
    let held_open = server.stdin.take();
    let status = server.wait()?;
    drop(held_open);
    ensure!(status.success(), "the server ended by itself ({status})");
    Ok(())
}

/// The server ends with its standard input, so it ends with this process, even if that is killed.
fn serve(port: u16) -> Result<Child> {
    let mut node = Command::new("node");
    node.args(["web/serve.js", &port.to_string()]).current_dir(root()).stdin(Stdio::piped());
    node.spawn().context("cannot start `node`")
}

fn choose_port(wanted: Option<u16>) -> Result<u16> {
    let bind = |port| TcpListener::bind((Ipv4Addr::LOCALHOST, port));
    let listener = match wanted {
        Some(port) => bind(port).with_context(|| format!("port {port} can't be listened on; try another --port"))?,
        None => bind(DEFAULT_PORT).or_else(|_| bind(0))?,
    };
    Ok(listener.local_addr()?.port())
}

fn wait_until_ready(server: &mut Child, port: u16) -> Result<()> {
    let address = SocketAddr::from((Ipv4Addr::LOCALHOST, port));
    let began = Instant::now();
    while began.elapsed() < PATIENCE {
        if let Some(status) = server.try_wait()? {
            bail!("the server ended before it answered ({status})");
        }
        if TcpStream::connect_timeout(&address, Duration::from_secs(1)).is_ok() {
            return Ok(());
        }
        sleep(Duration::from_millis(50));
    }
    server.kill()?;
    bail!("the server did not answer within {} seconds", PATIENCE.as_secs())
}
