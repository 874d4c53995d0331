use std::collections::HashMap;
use std::convert::Infallible;
use std::io;
use std::net::{IpAddr, SocketAddr, TcpListener as StdListener};
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use http_body_util::channel::Channel;
use http_body_util::{BodyExt as _, Collected, Limited};
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Request, Response, StatusCode};
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::{GracefulShutdown, Watcher};
use tokio::net::{TcpListener, TcpStream};
use tokio::runtime::Builder;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, watch};
use tokio::time::{sleep, timeout};
use tokio_io_timeout::TimeoutStream;
use tracing::Instrument as _;

use super::Feed;
use super::events::{EVENT_BYTES, SEND_TIMEOUT, Shared, send_events};
use super::http::{ANSWER, Body, answered, events, page, refusal, refused, wanted};
use crate::bot::exhaustion::{explain, start_thread};
use crate::log_target::{PAGE, SPAN};
use crate::report::html::served;
use crate::system;

/// 500 watchers, the pages that they fetch, and a reserve.
const CONNECTIONS: usize = 640;
const FEWEST_CONNECTIONS: usize = 64;
/// Of all connections, those that one visitor does not get.
const FOR_OTHERS: usize = 128;
/// Open files reserved for the games.
const FILES_OF_GAMES: usize = 384;
const REQUEST_TIMEOUT: Duration = Duration::from_secs(10);
const ANSWER_BYTES: usize = 1024;
const FIGURES_INTERVAL: Duration = Duration::from_secs(1);
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
                let cause = crate::text::cause(&error);
                tracing::warn!("the page is no longer served: {cause}");
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

/// Most connections: each needs memory and a file, which games need too. Further clients wait.
fn places() -> usize {
    let files = system::most_open_files().map(usize::try_from);
    let files = files.and_then(Result::ok).unwrap_or(usize::MAX);
    let free = files.saturating_sub(FILES_OF_GAMES);
    free.clamp(FEWEST_CONNECTIONS, CONNECTIONS)
}

async fn serve(
    listener: StdListener,
    feed: Arc<Feed>,
    mut shutdown: watch::Receiver<bool>,
) -> io::Result<()> {
    let listener = TcpListener::from_std(listener)?;
    feed.tell(|now| now.last = false);
    let calculator = tokio::spawn(calculate(Arc::clone(&feed), shutdown.clone()));
    let shared = Arc::new(Shared {
        served: served(&feed.options),
        feed,
        run: rand::random(),
    });
    let graceful = GracefulShutdown::new();
    let feed = Arc::clone(&shared.feed);
    let stage = tokio::spawn(async move {
        if let Some(watched) = feed.watched().cloned() {
            watched.run(feed).await;
        }
    });
    let places = places();
    let of_one = places - FOR_OTHERS.min(places / 2);
    let permits = Arc::new(Semaphore::new(places));
    let mut visitors: HashMap<u128, Arc<Semaphore>> = HashMap::new();
    loop {
        // Before accepting: further clients wait in the kernel's queue.
        let Ok(permit) = Arc::clone(&permits).acquire_owned().await else {
            break;
        };
        tokio::select! {
            accepted = listener.accept() => match accepted {
                Ok((stream, client)) => {
                    let span = tracing::info_span!(target: SPAN, "client", %client);
                    visitors.retain(|_, places| places.available_permits() < of_one);
                    let places = visitors.entry(visitor(client.ip()));
                    let places = places.or_insert_with(|| Arc::new(Semaphore::new(of_one)));
                    let Ok(visit) = Arc::clone(places).try_acquire_owned() else {
                        span.in_scope(|| tracing::debug!(target: PAGE, "refused: its address has enough connections"));
                        continue;
                    };
                    span.in_scope(|| tracing::debug!(target: PAGE, "connected"));
                    let (shared, watcher) = (Arc::clone(&shared), graceful.watcher());
                    let connection = connection(stream, shared, watcher, [visit, permit]);
                    tokio::spawn(connection.instrument(span));
                }
                // The client left, or too many files are open: both temporary.
                Err(error) => {
                    tracing::debug!(target: PAGE, "a client was not accepted: {error}");
                    sleep(Duration::from_millis(100)).await;
                }
            },
            () = wait_for_shutdown(&mut shutdown) => break,
        }
    }
    drop(listener);
    let _ = calculator.await;
    stage.abort();
    // Streams end by themselves; idle connections are closed.
    let _ = timeout(SHUTDOWN_TIMEOUT, graceful.shutdown()).await;
    Ok(())
}

/// While there are new games, and once at the end.
async fn calculate(feed: Arc<Feed>, mut shutdown: watch::Receiver<bool>) {
    let mut changes = feed.now.subscribe();
    loop {
        let last = *shutdown.borrow_and_update();
        let revision = changes.borrow_and_update().revision;
        let began = Instant::now();
        // A copy: no game waits for calculations.
        let figures = feed.report().figures.clone();
        let standings = figures.standings();
        let json = standings.map(|standings| figures.as_json(&standings).to_string());
        feed.tell(|now| {
            now.last = last;
            match json {
                Ok(json) => now.figures = json.into(),
                Err(error) => tracing::warn!("no figures for the page: {error}"),
            }
        });
        if last {
            return;
        }
        // At most a tenth of a core: the bots come first.
        let pause = FIGURES_INTERVAL.max(10 * began.elapsed());
        tokio::select! {
            () = sleep(pause) => {}
            () = wait_for_shutdown(&mut shutdown) => continue,
        }
        tokio::select! {
            _ = changes.wait_for(|now| now.revision != revision) => {}
            () = wait_for_shutdown(&mut shutdown) => {}
        }
    }
}

async fn connection(
    stream: TcpStream,
    shared: Arc<Shared>,
    watcher: Watcher,
    permits: [OwnedSemaphorePermit; 2],
) {
    // Disconnects a client that does not read.
    let mut stream = TimeoutStream::new(stream);
    stream.set_write_timeout(Some(SEND_TIMEOUT));
    let service = service_fn(|request: Request<Incoming>| {
        let shared = Arc::clone(&shared);
        async move { Ok::<_, Infallible>(answer(request, &shared).await) }
    });
    let serving = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(REQUEST_TIMEOUT)
        .max_buf_size(EVENT_BYTES)
        .serve_connection(TokioIo::new(Box::pin(stream)), service);
    if let Err(error) = watcher.watch(serving).await {
        tracing::debug!(target: PAGE, "the connection failed: {error}");
    }
    tracing::debug!(target: PAGE, "disconnected");
    drop(permits);
}

async fn answer(request: Request<Incoming>, shared: &Arc<Shared>) -> Response<Body> {
    if let Some((status, why)) = refused(&request) {
        tracing::debug!(target: PAGE, status = status.as_u16(), why = why.trim_end(), "refused");
        return refusal(status, why);
    }
    if request.uri().path() == "/" {
        tracing::debug!(target: PAGE, "the page is sent");
        let is_framed = shared.feed.options.frame.is_some();
        return page(&shared.served, is_framed);
    }
    if let Some(secret) = request.uri().path().strip_prefix(ANSWER) {
        let watched = shared.feed.watched();
        let inbox = watched.and_then(|watched| watched.inbox.get());
        let Some(inbox) = inbox.filter(|inbox| inbox.secret() == secret) else {
            let why = "This is not the address of the player.\n";
            return refusal(StatusCode::FORBIDDEN, why);
        };
        let body = Limited::new(request.into_body(), ANSWER_BYTES).collect();
        let body = timeout(REQUEST_TIMEOUT, body).await;
        let body = body.ok().and_then(Result::ok).map(Collected::to_bytes);
        let answered = body.as_deref().and_then(answered);
        let (status, text) = match answered.map(|(to, answer)| inbox.answer(to, answer)) {
            None => {
                let expected = "Expected two lines: the question, and the answer to it.\n";
                (StatusCode::BAD_REQUEST, expected)
            }
            Some(true) => (StatusCode::OK, "It is judged.\n"),
            Some(false) => {
                let why = "This question does not wait for an answer.\n";
                (StatusCode::CONFLICT, why)
            }
        };
        tracing::debug!(target: PAGE, status = status.as_u16(), "a person has answered");
        return refusal(status, text);
    }
    let wanted = wanted(&request, shared.run.wrapping_add(shared.feed.sequence()));
    tracing::debug!(target: PAGE, from = wanted.from, stage = wanted.stage, "events are sent");
    let (mut sender, stream) = Channel::new(1);
    let shared = Arc::clone(shared);
    tokio::spawn(async move {
        // The client left.
        let _ = send_events(&mut sender, &shared, wanted).await;
    });
    events(stream)
}

async fn wait_for_shutdown(shutdown: &mut watch::Receiver<bool>) {
    // An error means that the sender was dropped: a shutdown.
    let _ = shutdown.wait_for(|&shutdown| shutdown).await;
}

/// A visitor's address. With IPv6 that is the /64 network: it is as easy to have as one address.
fn visitor(address: IpAddr) -> u128 {
    match address.to_canonical() {
        IpAddr::V4(address) => address.to_bits().into(),
        IpAddr::V6(address) => address.to_bits() >> 64 << 64,
    }
}
