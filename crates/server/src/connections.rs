//! The connections of a server: how many there may be, how many of them one visitor may have, and how long a client may
//! take.

use std::collections::HashMap;
use std::convert::Infallible;
use std::error::Error;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use hyper::body::{Body, Incoming};
use hyper::server::conn::http1;
use hyper::service::Service;
use hyper::{Request, Response};
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::Watcher;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, TryAcquireError};
use tokio::time::sleep;
use tokio_io_timeout::TimeoutStream;

use super::events::{EVENT_BYTES, SEND_TIMEOUT};
use super::proxy::Proxy;
use referee_host::system;
use referee_match::log_target::{PAGE, SPAN};

/// 500 watchers, the pages that they fetch, and a reserve.
const CONNECTIONS: usize = 640;
const FEWEST_CONNECTIONS: usize = 64;
/// Of all connections, those that one visitor does not get.
const FOR_OTHERS: usize = 128;
/// Open files reserved for the games.
const FILES_OF_GAMES: usize = 384;
/// For the head of a request.
pub(super) const REQUEST_TIMEOUT: Duration = Duration::from_secs(10);

/// Most connections: each needs memory and a file, which games need too. Further clients wait.
fn places() -> usize {
    let files = system::most_open_files().map(usize::try_from);
    let files = files.and_then(Result::ok).unwrap_or(usize::MAX);
    let free = files.saturating_sub(FILES_OF_GAMES);
    free.clamp(FEWEST_CONNECTIONS, CONNECTIONS)
}

/// A number for a visitor's address. With IPv6 that is the /64 network: it is as easy to have as one address.
fn visitor(address: IpAddr) -> u128 {
    match address.to_canonical() {
        IpAddr::V4(address) => address.to_bits().into(),
        IpAddr::V6(address) => address.to_bits() >> 64 << 64,
    }
}

/// Those that there are.
pub struct Connections {
    permits: Arc<Semaphore>,
    visitors: HashMap<u128, Arc<Semaphore>>,
    of_one: usize,
    /// Which brings many visitors, and may have all of them.
    proxy: Option<Proxy>,
}

pub struct Connection {
    stream: TcpStream,
    pub client: SocketAddr,
    pub span: tracing::Span,
    /// One of all, and one of those of its visitor.
    permits: (OwnedSemaphorePermit, Option<OwnedSemaphorePermit>),
}

impl Connections {
    pub fn new(proxy: Option<Proxy>) -> Self {
        let places = places();
        Self {
            permits: Arc::new(Semaphore::new(places)),
            visitors: HashMap::new(),
            of_one: places - FOR_OTHERS.min(places / 2),
            proxy,
        }
    }

    /// One of the places of this visitor: `Ok(None)` for a proxy, which has no bound, `Err` where there is none left.
    fn visit(&mut self, client: IpAddr) -> Result<Option<OwnedSemaphorePermit>, TryAcquireError> {
        if self.proxy.is_some_and(|proxy| proxy.is_at(client)) {
            return Ok(None);
        }
        let of_one = self.of_one;
        self.visitors
            .retain(|_, places| places.available_permits() < of_one);
        let places = self.visitors.entry(visitor(client));
        let places = places.or_insert_with(|| Arc::new(Semaphore::new(of_one)));
        Arc::clone(places).try_acquire_owned().map(Some)
    }

    /// The next one of a visitor who has not enough of them. `None` if none can be taken any more.
    pub async fn accept(&mut self, listener: &TcpListener) -> Option<Connection> {
        loop {
            // Before accepting: further clients wait in the kernel's queue.
            let permit = Arc::clone(&self.permits).acquire_owned().await.ok()?;
            let (stream, client) = match listener.accept().await {
                Ok(accepted) => accepted,
                // The client left, or too many files are open: both temporary.
                Err(error) => {
                    tracing::debug!(target: PAGE, "a client was not accepted: {error}");
                    sleep(Duration::from_millis(100)).await;
                    continue;
                }
            };
            let span = tracing::info_span!(target: SPAN, "client", %client);
            let Ok(visit) = self.visit(client.ip()) else {
                span.in_scope(
                    || tracing::debug!(target: PAGE, "refused: its address has enough connections"),
                );
                continue;
            };
            span.in_scope(|| tracing::debug!(target: PAGE, "connected"));
            return Some(Connection {
                stream,
                client,
                span,
                permits: (permit, visit),
            });
        }
    }
}

impl Connection {
    /// Until the client leaves, or takes too long.
    pub async fn serve<S, B>(self, service: S, watcher: Watcher)
    where
        S: Service<Request<Incoming>, Response = Response<B>, Error = Infallible>,
        B: Body + 'static,
        B::Error: Into<Box<dyn Error + Send + Sync>>,
    {
        // Disconnects a client that does not read.
        let mut stream = TimeoutStream::new(self.stream);
        stream.set_write_timeout(Some(SEND_TIMEOUT));
        let serving = http1::Builder::new()
            .timer(TokioTimer::new())
            .header_read_timeout(REQUEST_TIMEOUT)
            .max_buf_size(EVENT_BYTES)
            .serve_connection(TokioIo::new(Box::pin(stream)), service);
        if let Err(error) = watcher.watch(serving).await {
            tracing::debug!(target: PAGE, "the connection failed: {error}");
        }
        tracing::debug!(target: PAGE, "disconnected");
        drop(self.permits);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_proxy_alone_may_have_all_connections() {
        let proxy = IpAddr::from([127, 0, 0, 1]);
        let stranger = IpAddr::from([198, 51, 100, 7]);
        let mut connections = Connections::new(Some(Proxy::OnThisMachine));
        let bound = connections.of_one;
        let mut many = |from| (0..=bound).map(|_| connections.visit(from)).collect();
        let of_proxy: Result<Vec<_>, _> = many(proxy);
        assert!(of_proxy.is_ok());
        let of_stranger: Result<Vec<_>, _> = many(stranger);
        assert!(of_stranger.is_err());
    }
}
