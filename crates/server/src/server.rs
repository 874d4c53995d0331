use std::convert::Infallible;
use std::io;
use std::net::{SocketAddr, TcpListener as StdListener};
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Duration;

use http_body_util::{BodyExt as _, Collected, Limited};
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper::{Request, Response};
use hyper_util::server::graceful::GracefulShutdown;
use tokio::net::TcpListener;
use tokio::runtime::Builder;
use tokio::sync::watch;
use tokio::time::timeout;
use tracing::Instrument as _;

use super::Feed;
use super::connections::{Connections, REQUEST_TIMEOUT};
use super::http::{ANSWER, Body, refusal, refused};
use super::live_page::{LivePage, wait_for_shutdown};
use referee_match::bot::exhaustion::{explain, start_thread};
use referee_match::log_target::PAGE;

const ANSWER_BYTES: usize = 1024;
const SHUTDOWN_TIMEOUT: Duration = Duration::from_secs(2);

#[derive(Debug)]
pub struct Server {
    pub address: SocketAddr,
    shutdown: watch::Sender<bool>,
    thread: Option<JoinHandle<()>>,
}

impl Server {
    /// Port 0: any free one.
    pub fn bind(address: SocketAddr, feed: Arc<Feed>) -> io::Result<Self> {
        let listener = StdListener::bind(address)?;
        listener.set_nonblocking(true)?;
        let address = listener.local_addr()?;
        let (shutdown, receiver) = watch::channel(false);
        let runtime = Builder::new_current_thread().enable_all().build();
        let runtime = runtime.map_err(|error| explain("the server of the page", &error))?;
        let thread = start_thread("live", move || {
            if let Err(error) = runtime.block_on(serve(listener, feed, receiver)) {
                let cause = referee_text::cause(&error);
                tracing::warn!(target: PAGE, "the page is no longer served: {cause}");
            }
        })?;
        Ok(Self {
            address,
            shutdown,
            thread: Some(thread),
        })
    }

    /// For a browser on this machine. If it listens on all addresses, other machines use one of this machine's.
    pub fn url(&self) -> String {
        let mut address = self.address;
        if address.ip().is_unspecified() {
            address.set_ip(match address {
                SocketAddr::V4(_) => std::net::Ipv4Addr::LOCALHOST.into(),
                SocketAddr::V6(_) => std::net::Ipv6Addr::LOCALHOST.into(),
            });
        }
        format!("http://{address}/")
    }

    /// Sends the last events and stops. Open pages stay usable.
    pub fn stop(self) {}
}

impl Drop for Server {
    fn drop(&mut self) {
        self.shutdown.send_replace(true);
        if let Some(thread) = self.thread.take() {
            // Its panic was reported and affects only the page.
            let _ = thread.join();
        }
    }
}

async fn serve(
    listener: StdListener,
    feed: Arc<Feed>,
    mut shutdown: watch::Receiver<bool>,
) -> io::Result<()> {
    let listener = TcpListener::from_std(listener)?;
    let live = LivePage::new(feed);
    let running = {
        let (live, shutdown) = (live.clone(), shutdown.clone());
        tokio::spawn(async move { live.run(shutdown).await })
    };
    let graceful = GracefulShutdown::new();
    let mut connections = Connections::new(None);
    loop {
        tokio::select! {
            accepted = connections.accept(&listener) => {
                let Some(connection) = accepted else { break };
                let (live, watcher) = (live.clone(), graceful.watcher());
                let service = service_fn(move |request: Request<Incoming>| {
                    let live = live.clone();
                    async move { Ok::<_, Infallible>(answer(request, &live).await) }
                });
                let span = connection.span.clone();
                tokio::spawn(connection.serve(service, watcher).instrument(span));
            }
            () = wait_for_shutdown(&mut shutdown) => break,
        }
    }
    drop(listener);
    let _ = running.await;
    // Streams end by themselves; idle connections are closed.
    let _ = timeout(SHUTDOWN_TIMEOUT, graceful.shutdown()).await;
    Ok(())
}

async fn answer(request: Request<Incoming>, live: &LivePage) -> Response<Body> {
    if let Some((status, why)) = refused(&request) {
        tracing::debug!(target: PAGE, status = status.as_u16(), why = why.trim_end(), "refused");
        return refusal(status, why);
    }
    if request.uri().path() == "/" {
        return live.page();
    }
    if let Some(secret) = request.uri().path().strip_prefix(ANSWER) {
        let secret = secret.to_owned();
        let body = Limited::new(request.into_body(), ANSWER_BYTES).collect();
        let body = timeout(REQUEST_TIMEOUT, body).await;
        let body = body.ok().and_then(Result::ok).map(Collected::to_bytes);
        return live
            .answer(&secret, body.as_deref().unwrap_or_default())
            .await;
    }
    live.events(&request)
}
