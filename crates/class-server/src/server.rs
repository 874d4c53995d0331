//! Serves a class, on a thread of its own.

use std::convert::Infallible;
use std::io;
use std::net::{IpAddr, SocketAddr, TcpListener as StdListener, UdpSocket};
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Duration;

use axum::body::Body;
use axum::http::Request;
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper_util::server::graceful::GracefulShutdown;
use tokio::net::TcpListener;
use tokio::runtime::Builder;
use tokio::sync::watch;
use tokio::time::timeout;
use tower::ServiceExt as _;
use tracing::Instrument as _;

use super::LOG;
use super::client::Client;
use super::desk::Desk;
use super::http::{Shared, router};
use referee_match::bot::exhaustion::{explain, start_thread};
use referee_server::{Connections, Feed, LivePage};

const SHUTDOWN_TIME: Duration = Duration::from_secs(2);

/// Where a class is reached, before it is served: its address is part of the links.
#[derive(Debug)]
pub struct ClassListener {
    listener: StdListener,
    pub address: SocketAddr,
}

impl ClassListener {
    /// Port 0: any free one.
    pub fn bind(address: SocketAddr) -> io::Result<Self> {
        let listener = StdListener::bind(address)?;
        listener.set_nonblocking(true)?;
        let address = listener.local_addr()?;
        Ok(Self { listener, address })
    }

    /// For browsers of other machines if it listens to them, else of this one.
    pub fn base(&self) -> String {
        let mut address = self.address;
        if address.ip().is_unspecified() {
            address.set_ip(outward_address(address.ip()));
        }
        format!("http://{address}")
    }
}

/// That by which this machine would reach others; nothing is sent.
fn outward_address(of: IpAddr) -> IpAddr {
    let (from, to, loopback) = match of {
        IpAddr::V4(_) => ("0.0.0.0:0", "192.0.2.1:9", IpAddr::from([127, 0, 0, 1])),
        IpAddr::V6(_) => (
            "[::]:0",
            "[2001:db8::1]:9",
            std::net::Ipv6Addr::LOCALHOST.into(),
        ),
    };
    let socket = UdpSocket::bind(from).and_then(|socket| {
        socket.connect(to)?;
        socket.local_addr()
    });
    socket.map_or(loopback, |address| address.ip())
}

/// Ends when it is dropped.
#[derive(Debug)]
pub struct ClassServer {
    shutdown: watch::Sender<bool>,
    thread: Option<JoinHandle<()>>,
}

impl ClassServer {
    pub fn start(listener: ClassListener, desk: Arc<Desk>, feed: Arc<Feed>) -> io::Result<Self> {
        let (shutdown, receiver) = watch::channel(false);
        let runtime = Builder::new_current_thread().enable_all().build();
        let runtime = runtime.map_err(|error| explain("the server of the class", &error))?;
        let thread = start_thread("class", move || {
            if let Err(error) = runtime.block_on(serve(listener.listener, desk, feed, receiver)) {
                let cause = referee_text::cause(&error);
                tracing::error!(target: LOG, "the class is no longer served: {cause}");
            }
            // An archive may be sent, or a page made.
            runtime.shutdown_background();
        })?;
        Ok(Self {
            shutdown,
            thread: Some(thread),
        })
    }
}

impl Drop for ClassServer {
    fn drop(&mut self) {
        self.shutdown.send_replace(true);
        if let Some(thread) = self.thread.take() {
            // Its panic was reported.
            let _ = thread.join();
        }
    }
}

async fn serve(
    listener: StdListener,
    desk: Arc<Desk>,
    feed: Arc<Feed>,
    mut shutdown: watch::Receiver<bool>,
) -> io::Result<()> {
    let listener = TcpListener::from_std(listener)?;
    let mut connections = Connections::new(desk.reach.proxy);
    let live = LivePage::new(feed);
    let running = {
        let (live, shutdown) = (live.clone(), shutdown.clone());
        tokio::spawn(async move { live.run(shutdown).await })
    };
    let router = router(Shared {
        desk: Arc::clone(&desk),
        live,
    });
    let graceful = GracefulShutdown::new();
    loop {
        tokio::select! {
            accepted = connections.accept(&listener) => {
                let Some(connection) = accepted else { break };
                let (router, desk) = (router.clone(), Arc::clone(&desk));
                let peer = connection.client.ip();
                let service = service_fn(move |mut request: Request<Incoming>| {
                    let router = router.clone();
                    let client = Client::of(peer, request.headers(), desk.reach.proxy);
                    request.extensions_mut().insert(client);
                    async move {
                        let answered = router.oneshot(request.map(Body::new)).await;
                        Ok::<_, Infallible>(answered.unwrap_or_else(|never| match never {}))
                    }
                });
                let span = connection.span.clone();
                tokio::spawn(connection.serve(service, graceful.watcher()).instrument(span));
            }
            // An error means that the sender was dropped.
            _ = shutdown.wait_for(|&shutdown| shutdown) => break,
        }
    }
    drop(listener);
    let _ = running.await;
    let _ = timeout(SHUTDOWN_TIME, graceful.shutdown()).await;
    Ok(())
}
