//! The thread that serves the page.

use std::convert::Infallible;
use std::io;
use std::net::{SocketAddr, TcpListener as StdListener};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use http_body_util::channel::Channel;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Request, Response, StatusCode};
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::net::{TcpListener, TcpStream};
use tokio::runtime::Builder;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, watch};
use tokio::time::{sleep, timeout};
use tokio_io_timeout::TimeoutStream;
use tracing::Instrument as _;

use super::Feed;
use super::blocks::Blocks;
use super::events::{
    CurrentFigures, EVENT_BYTES, SEND_TIMEOUT, Shared, Wanted, position_of, stream_events,
};
use super::http::{Body, Route, events, page, refusal, route};
use super::visitors::{CONNECTIONS, Visit, Visitors};
use crate::bot::exhaustion::{explain, start_thread};
use crate::log_target::{PAGE, SPAN};
use crate::report::html::served;
use crate::system;

/// The connections that there are room for in any case.
const FEWEST_CONNECTIONS: usize = 64;
/// Files that are left for the games, of those that may be open at once.
const FILES_OF_GAMES: usize = 384;
/// How long a client may take to send a request.
const REQUEST_TIMEOUT: Duration = Duration::from_secs(10);
/// The minimal time between two calculations of figures.
const FIGURES_INTERVAL: Duration = Duration::from_secs(1);
/// How long clients may take to receive the last events.
const SHUTDOWN_TIMEOUT: Duration = Duration::from_secs(2);

/// A page that is served until [`Server::stop`].
#[derive(Debug)]
pub struct Server {
    address: SocketAddr,
    shutdown: watch::Sender<bool>,
    thread: Option<JoinHandle<()>>,
    stage: Option<StageThread>,
}

/// The thread that looks at the games being played.
#[derive(Debug)]
struct StageThread {
    stop: Arc<AtomicBool>,
    thread: JoinHandle<()>,
}

impl Server {
    /// Serves the games of `feed` on `address`; port 0 takes any that is free.
    pub fn bind(address: SocketAddr, feed: Feed) -> io::Result<Self> {
        let listener = StdListener::bind(address)?;
        listener.set_nonblocking(true)?;
        let address = listener.local_addr()?;
        let (shutdown, receiver) = watch::channel(false);
        let stage = stage_thread(&feed)?;
        let runtime = Builder::new_current_thread()
            .enable_io()
            .enable_time()
            .build()
            .map_err(|error| explain("the server of the page", &error))?;
        let thread = start_thread("live", move || {
            if let Err(error) = runtime.block_on(serve(listener, feed, receiver)) {
                tracing::warn!(
                    "the page is not served any more: {error}",
                    error = crate::text::cause(&error)
                );
            }
        })?;
        Ok(Self {
            address,
            shutdown,
            thread: Some(thread),
            stage,
        })
    }

    /// The address that it listens on.
    pub const fn address(&self) -> SocketAddr {
        self.address
    }

    /// The URL for a browser on this machine. When the server listens on all addresses, other machines
    /// use one of this machine's addresses instead.
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

    /// Sends clients the last events and stops. Pages that are open stay usable.
    pub fn stop(mut self) {
        self.end();
    }

    fn end(&mut self) {
        self.shutdown.send_replace(true);
        if let Some(thread) = self.thread.take() {
            // A panic there has been reported; it affects the page only.
            let _ = thread.join();
        }
        if let Some(StageThread { stop, thread }) = self.stage.take() {
            stop.store(true, Ordering::Relaxed);
            thread.thread().unpark();
            let _ = thread.join();
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.end();
    }
}

/// The number of connections at once, as each takes memory and a file that is open; further ones wait. The games need files,
/// too: where few may be open at once, fewer are taken.
fn places() -> usize {
    let free = system::most_open_files().map(|files| {
        let files = usize::try_from(files).unwrap_or(usize::MAX);
        files.saturating_sub(FILES_OF_GAMES)
    });
    free.map_or(CONNECTIONS, |free| {
        free.clamp(FEWEST_CONNECTIONS, CONNECTIONS)
    })
}

/// Starts the thread that looks at the games being played, where there is a stage.
fn stage_thread(feed: &Feed) -> io::Result<Option<StageThread>> {
    if feed.watched().is_none() {
        return Ok(None);
    }
    let stop = Arc::new(AtomicBool::new(false));
    let (feed, stopped) = (feed.clone(), Arc::clone(&stop));
    let thread = start_thread("stage", move || {
        if let Some(watched) = feed.watched() {
            watched.run(&feed, &stopped);
        }
    })?;
    Ok(Some(StageThread { stop, thread }))
}

async fn serve(
    listener: StdListener,
    feed: Feed,
    mut shutdown: watch::Receiver<bool>,
) -> io::Result<()> {
    let listener = TcpListener::from_std(listener)?;
    let (current, figures) = watch::channel(CurrentFigures::default());
    let calculator = tokio::spawn(calculate(feed.clone(), current, shutdown.clone()));
    let shared = Arc::new(Shared {
        served: served(feed.options()),
        feed,
        run: rand::random(),
        figures,
        shutdown: shutdown.clone(),
        blocks: Blocks::default(),
    });
    let places = places();
    let permits = Arc::new(Semaphore::new(places));
    let visitors = Visitors::of(places);
    loop {
        // A permit is acquired before accepting, so that further clients wait in the system's queue.
        let Ok(permit) = Arc::clone(&permits).acquire_owned().await else {
            break;
        };
        tokio::select! {
            accepted = listener.accept() => match accepted {
                Ok((stream, client)) => {
                    let span = tracing::info_span!(target: SPAN, "client", %client);
                    let Some(visit) = visitors.enter(client.ip()) else {
                        span.in_scope(|| tracing::debug!(target: PAGE, "refused: its address has enough connections"));
                        continue;
                    };
                    span.in_scope(|| tracing::debug!(target: PAGE, "connected"));
                    let connection = connection(stream, Arc::clone(&shared), visit, permit);
                    tokio::spawn(connection.instrument(span));
                }
                // The client has disconnected, or too many files are open: both are temporary.
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
    // All connections have ended when all permits are back.
    let all = u32::try_from(places).unwrap_or(u32::MAX);
    let _ = timeout(SHUTDOWN_TIMEOUT, permits.acquire_many(all)).await;
    Ok(())
}

/// Calculates figures while there are new games, and once more at the end.
async fn calculate(
    feed: Feed,
    current: watch::Sender<CurrentFigures>,
    mut shutdown: watch::Receiver<bool>,
) {
    let mut games = feed.watch();
    loop {
        let last = *shutdown.borrow_and_update();
        games.mark_unchanged();
        let began = Instant::now();
        let figures = feed.figures();
        match figures.standings() {
            Ok(standings) => {
                let json = figures.as_json(&standings).to_string().into();
                current.send_replace(CurrentFigures { json, last });
            }
            Err(error) => {
                tracing::warn!("no figures for the page: {error}");
                current.send_modify(|figures| figures.last = last);
            }
        }
        if last {
            return;
        }
        // At most a tenth of a core: the bots need it more than the viewers.
        let pause = FIGURES_INTERVAL.max(10 * began.elapsed());
        tokio::select! {
            () = sleep(pause) => {}
            () = wait_for_shutdown(&mut shutdown) => continue,
        }
        tokio::select! {
            _ = games.changed() => {}
            () = wait_for_shutdown(&mut shutdown) => {}
        }
    }
}

async fn connection(
    stream: TcpStream,
    shared: Arc<Shared>,
    visit: Visit,
    permit: OwnedSemaphorePermit,
) {
    let mut shutdown = shared.shutdown.clone();
    // A client that does not read is disconnected, whatever is being sent.
    let mut stream = TimeoutStream::new(stream);
    stream.set_write_timeout(Some(SEND_TIMEOUT));
    let service = service_fn(|request: Request<Incoming>| {
        let answer = answer(&request, &shared, &visit);
        async move { Ok::<_, Infallible>(answer) }
    });
    let serving = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(REQUEST_TIMEOUT)
        .max_buf_size(EVENT_BYTES)
        .serve_connection(TokioIo::new(Box::pin(stream)), service);
    let mut serving = std::pin::pin!(serving);
    let served = tokio::select! {
        served = serving.as_mut() => served,
        () = wait_for_shutdown(&mut shutdown) => {
            // Streams end by themselves; idle connections are closed.
            serving.as_mut().graceful_shutdown();
            serving.await
        }
    };
    if let Err(error) = served {
        tracing::debug!(target: PAGE, "the connection failed: {error}");
    }
    tracing::debug!(target: PAGE, "disconnected");
    drop(permit);
}

fn answer(request: &Request<Incoming>, shared: &Arc<Shared>, visit: &Visit) -> Response<Body> {
    match route(request) {
        Route::Page => {
            tracing::debug!(target: PAGE, "the page is sent");
            page(&shared.served)
        }
        Route::Events {
            last,
            stage,
            packed,
        } => {
            let Some(stream_visit) = visit.stream() else {
                let why =
                    "Your address has too many streams of events open already; close some pages.\n";
                tracing::debug!(target: PAGE, why = why.trim_end(), "refused");
                return refusal(StatusCode::TOO_MANY_REQUESTS, why);
            };
            tracing::debug!(target: PAGE, from = last, stage, "events are sent");
            let run = shared.run.wrapping_add(shared.feed.watch().borrow().0);
            let from = last.and_then(|id| position_of(&id, run));
            let (sender, stream) = Channel::new(1);
            tokio::spawn(stream_events(
                sender,
                Arc::clone(shared),
                Wanted {
                    from,
                    stage,
                    packed,
                },
                stream_visit,
            ));
            events(stream)
        }
        Route::Refused(status, why) => {
            tracing::debug!(target: PAGE, status = status.as_u16(), why = why.trim_end(), "refused");
            refusal(status, why)
        }
    }
}

/// Waits until the server is stopped.
async fn wait_for_shutdown(shutdown: &mut watch::Receiver<bool>) {
    // The error means that the sender was dropped, which is a shutdown, too.
    let _ = shutdown.wait_for(|&shutdown| shutdown).await;
}
