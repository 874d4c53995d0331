//! The thread that serves the page.

use std::convert::Infallible;
use std::io;
use std::net::{SocketAddr, TcpListener as StdListener};
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use http_body_util::channel::{Channel, Sender};
use hyper::body::{Bytes, Incoming};
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

use super::http::{Body, Route, events, page, refusal, route};
use super::visitors::{StreamVisit, Visit, Visitors};
use super::{Feed, State};
use crate::bot::exhaustion::{explain, start_thread};
use crate::log_target::{PAGE, SPAN};
use crate::report::html::{Served, served};

/// The maximal number of connections, as each takes memory; further ones wait.
const CONNECTIONS: usize = 128;
/// How long a client may take to send a request.
const REQUEST_TIMEOUT: Duration = Duration::from_secs(10);
/// How long a client may take to accept what is sent to it.
const SEND_TIMEOUT: Duration = Duration::from_secs(30);
/// The approximate size of an event with entries, in bytes.
const EVENT_BYTES: usize = 64 * 1024;
/// Games that end within this time are sent in one event.
const BATCH_INTERVAL: Duration = Duration::from_millis(150);
/// The minimal time between two calculations of figures.
const FIGURES_INTERVAL: Duration = Duration::from_secs(1);
/// A client to which nothing was sent for this time is sent a comment.
const KEEP_ALIVE_INTERVAL: Duration = Duration::from_secs(15);
/// The event with which a sequence of games begins.
const BEGIN: &str = "retry: 2000\nevent: begin\ndata: {}\n\n";
/// How long clients may take to receive the last events.
const SHUTDOWN_TIMEOUT: Duration = Duration::from_secs(2);

/// A page that is served until [`Server::stop`].
#[derive(Debug)]
pub struct Server {
    address: SocketAddr,
    shutdown: watch::Sender<bool>,
    thread: Option<JoinHandle<()>>,
}

/// The state shared by all connections.
struct Shared {
    feed: Feed,
    served: Served,
    /// Distinguishes this server's event ids from those of an earlier one.
    run: u32,
    figures: watch::Receiver<CurrentFigures>,
    shutdown: watch::Receiver<bool>,
}

/// Figures as they were calculated last.
#[derive(Clone, Default)]
struct CurrentFigures {
    json: Arc<str>,
    /// No others will follow.
    last: bool,
}

impl Server {
    /// Serves the games of `feed` on `address`; port 0 takes any that is free.
    pub fn bind(address: SocketAddr, feed: Feed) -> io::Result<Self> {
        let listener = StdListener::bind(address)?;
        listener.set_nonblocking(true)?;
        let address = listener.local_addr()?;
        let (shutdown, receiver) = watch::channel(false);
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
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.end();
    }
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
    });
    let permits = Arc::new(Semaphore::new(CONNECTIONS));
    let visitors = Visitors::default();
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
    let all = u32::try_from(CONNECTIONS).unwrap_or(u32::MAX);
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
        Route::Events(last_id) => {
            let Some(stream_visit) = visit.stream() else {
                let why =
                    "Your address has too many streams of events open already; close some pages.\n";
                tracing::debug!(target: PAGE, why = why.trim_end(), "refused");
                return refusal(StatusCode::TOO_MANY_REQUESTS, why);
            };
            tracing::debug!(target: PAGE, from = last_id, "events are sent");
            let run = shared.run.wrapping_add(shared.feed.watch().borrow().0);
            let from = last_id.and_then(|id| position_of(&id, run));
            let (sender, stream) = Channel::new(1);
            tokio::spawn(stream_events(
                sender,
                Arc::clone(shared),
                from,
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

/// The position in the entries of an event's id; `None` for an id of another server.
fn position_of(id: &str, run: u32) -> Option<usize> {
    let (id_run, position) = id.split_once('-')?;
    (id_run.parse() == Ok(run)).then(|| position.parse().ok())?
}

/// The client has disconnected or does not accept data.
struct Disconnected;

async fn send(sender: &mut Sender<Bytes>, text: String) -> Result<(), Disconnected> {
    match timeout(SEND_TIMEOUT, sender.send_data(Bytes::from(text))).await {
        Ok(Ok(())) => Ok(()),
        _ => Err(Disconnected),
    }
}

async fn stream_events(
    mut sender: Sender<Bytes>,
    shared: Arc<Shared>,
    from: Option<usize>,
    visit: StreamVisit,
) {
    // The client has disconnected: nothing is left to do.
    let _ = send_events(&mut sender, &shared, from).await;
    drop(visit);
}

/// Sends a client the entries from its position on, and new ones and figures until shutdown.
async fn send_events(
    sender: &mut Sender<Bytes>,
    shared: &Shared,
    from: Option<usize>,
) -> Result<(), Disconnected> {
    let mut games = shared.feed.watch();
    let mut figures = shared.figures.clone();
    let mut state = shared.feed.state();
    let mut told = State::Playing;
    let mut sent: Arc<str> = Arc::default();
    if from.is_none() {
        send(sender, BEGIN.to_owned()).await?;
    }
    let mut position = from.unwrap_or(0);
    let mut sequence = games.borrow().0;
    loop {
        games.mark_unchanged();
        loop {
            let Some((entries, next)) = shared.feed.entries(sequence, position, EVENT_BYTES) else {
                send(sender, BEGIN.to_owned()).await?;
                (sequence, position) = (games.borrow_and_update().0, 0);
                continue;
            };
            if next == position {
                break;
            }
            position = next;
            let run = shared.run.wrapping_add(sequence);
            send(
                sender,
                format!("id: {run}-{position}\nevent: entries\ndata: [{entries}]\n\n"),
            )
            .await?;
        }
        let current = figures.borrow_and_update().clone();
        if !current.json.is_empty() && !Arc::ptr_eq(&current.json, &sent) {
            send(
                sender,
                format!("event: figures\ndata: {}\n\n", current.json),
            )
            .await?;
            sent = current.json;
        }
        let now = *state.borrow_and_update();
        if now != told {
            told = now;
            send(
                sender,
                format!("event: state\ndata: \"{}\"\n\n", now.name()),
            )
            .await?;
        }
        if current.last {
            return Ok(());
        }
        tokio::select! {
            changed = games.changed() => {
                if changed.is_err() {
                    return Ok(());
                }
                sleep(BATCH_INTERVAL).await;
            }
            changed = figures.changed() => {
                if changed.is_err() {
                    return Ok(());
                }
            }
            changed = state.changed() => {
                if changed.is_err() {
                    return Ok(());
                }
            }
            () = sleep(KEEP_ALIVE_INTERVAL) => send(sender, ": keep-alive\n\n".to_owned()).await?,
        }
    }
}

/// Waits until the server is stopped.
async fn wait_for_shutdown(shutdown: &mut watch::Receiver<bool>) {
    // The error means that the sender was dropped, which is a shutdown, too.
    let _ = shutdown.wait_for(|&shutdown| shutdown).await;
}
