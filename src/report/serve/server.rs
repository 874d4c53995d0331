use std::collections::HashMap;
use std::convert::Infallible;
use std::io;
use std::net::{IpAddr, Ipv6Addr, SocketAddr, TcpListener as StdListener};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
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
use super::events::{
    Blocks, CurrentFigures, EVENT_BYTES, SEND_TIMEOUT, Shared, Wanted, position_of, stream_events,
};
use super::http::{Body, Route, events, page, refusal, route};
use crate::bot::exhaustion::{explain, start_thread};
use crate::log_target::{PAGE, SPAN};
use crate::report::html::served;
use crate::system;

/// There is always room for these.
const FEWEST_CONNECTIONS: usize = 64;
/// Open files reserved for the games.
const FILES_OF_GAMES: usize = 384;
const REQUEST_TIMEOUT: Duration = Duration::from_secs(10);
const FIGURES_INTERVAL: Duration = Duration::from_secs(1);
const SHUTDOWN_TIMEOUT: Duration = Duration::from_secs(2);

#[derive(Debug)]
pub struct Server {
    address: SocketAddr,
    shutdown: watch::Sender<bool>,
    thread: Option<JoinHandle<()>>,
    stage: Option<StageThread>,
}

/// Watches the games in play.
#[derive(Debug)]
struct StageThread {
    stop: Arc<AtomicBool>,
    thread: JoinHandle<()>,
}

impl Server {
    /// Port 0: any free one.
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

    /// As bound.
    pub const fn address(&self) -> SocketAddr {
        self.address
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
    pub fn stop(mut self) {
        self.end();
    }

    fn end(&mut self) {
        self.shutdown.send_replace(true);
        if let Some(thread) = self.thread.take() {
            // Its panic was reported and affects only the page.
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

/// Most connections: each needs memory and a file, which games need too. Further clients wait.
fn places() -> usize {
    let free = system::most_open_files().map(|files| {
        let files = usize::try_from(files).unwrap_or(usize::MAX);
        files.saturating_sub(FILES_OF_GAMES)
    });
    free.map_or(CONNECTIONS, |free| {
        free.clamp(FEWEST_CONNECTIONS, CONNECTIONS)
    })
}

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
        // Before accepting: further clients wait in the kernel's queue.
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
    // All permits are back: no connection is left.
    let all = u32::try_from(places).unwrap_or(u32::MAX);
    let _ = timeout(SHUTDOWN_TIMEOUT, permits.acquire_many(all)).await;
    Ok(())
}

/// While there are new games, and once at the end.
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
        // At most a tenth of a core: the bots come first.
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
    // Disconnects a client that does not read.
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

async fn wait_for_shutdown(shutdown: &mut watch::Receiver<bool>) {
    // An error means that the sender was dropped: a shutdown.
    let _ = shutdown.wait_for(|&shutdown| shutdown).await;
}

/// 500 streams, the pages that they fetch, and a reserve.
pub(super) const CONNECTIONS: usize = 640;
/// Reserved for addresses with few connections; a part if there are fewer places.
const KEPT: usize = 128;
/// Of one address, in the reserve.
const OF_ONE: usize = 32;
/// Of one address, at least, that are not streams: the page can always be fetched.
const PAGES: usize = 8;

/// By one address.
#[derive(Clone, Copy, Debug, Default)]
struct Held {
    connections: usize,
    streams: usize,
}

/// All connected addresses.
#[derive(Clone, Debug)]
pub(super) struct Visitors {
    /// Number of connections.
    places: usize,
    held: Arc<Mutex<AllHeld>>,
}

/// By address, and in total.
#[derive(Debug, Default)]
struct AllHeld {
    by_address: HashMap<IpAddr, Held>,
    connections: usize,
}

/// Until dropped.
#[derive(Debug)]
pub(super) struct Visit {
    visitors: Visitors,
    address: IpAddr,
}

#[derive(Debug)]
pub(super) struct StreamVisit {
    visitors: Visitors,
    address: IpAddr,
}

impl Visitors {
    /// Without connections.
    pub(super) fn of(places: usize) -> Self {
        Self {
            places,
            held: Arc::default(),
        }
    }

    /// Counts stay right after a panic.
    fn held(&self) -> MutexGuard<'_, AllHeld> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether this many connections use the reserve.
    fn is_crowded(&self, connections: usize) -> bool {
        let free = self.places.saturating_sub(connections);
        free < KEPT.min(self.places / 2)
    }

    /// `None`: the address has enough.
    pub(super) fn enter(&self, address: IpAddr) -> Option<Visit> {
        let address = whole_network(address);
        let mut held = self.held();
        let is_crowded = self.is_crowded(held.connections + 1);
        let counts = held.by_address.entry(address).or_default();
        if is_crowded && counts.connections >= OF_ONE {
            return None;
        }
        counts.connections += 1;
        held.connections += 1;
        drop(held);
        let visitors = self.clone();
        Some(Visit { visitors, address })
    }
}

impl Visit {
    pub(super) fn stream(&self) -> Option<StreamVisit> {
        let mut held = self.visitors.held();
        let is_crowded = self.visitors.is_crowded(held.connections);
        let counts = held.by_address.entry(self.address).or_default();
        if is_crowded && counts.streams + PAGES >= counts.connections.max(OF_ONE) {
            return None;
        }
        counts.streams += 1;
        drop(held);
        Some(StreamVisit {
            visitors: self.visitors.clone(),
            address: self.address,
        })
    }
}

impl Drop for Visit {
    fn drop(&mut self) {
        let mut held = self.visitors.held();
        held.connections -= 1;
        if let Some(counts) = held.by_address.get_mut(&self.address) {
            counts.connections -= 1;
            if counts.connections + counts.streams == 0 {
                held.by_address.remove(&self.address);
            }
        }
    }
}

impl Drop for StreamVisit {
    fn drop(&mut self) {
        let mut held = self.visitors.held();
        if let Some(counts) = held.by_address.get_mut(&self.address) {
            counts.streams -= 1;
            if counts.connections + counts.streams == 0 {
                held.by_address.remove(&self.address);
            }
        }
    }
}

/// A visitor's addresses as one: with IPv6, the /64 network.
fn whole_network(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V4(address) => address.into(),
        IpAddr::V6(address) => {
            let host = u128::from(u64::MAX);
            Ipv6Addr::from_bits(address.to_bits() & !host).into()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn enter(visitors: &Visitors, address: &str, count: usize) -> Vec<Visit> {
        let address: IpAddr = address.parse().unwrap();
        (0..count).filter_map(|_| visitors.enter(address)).collect()
    }

    #[test]
    fn an_address_may_have_many_while_others_find_room() {
        let visitors = Visitors::of(CONNECTIONS);
        let class = enter(&visitors, "10.0.0.1", 2000);
        assert_eq!(class.len(), CONNECTIONS - KEPT);
        let streams: Vec<_> = class[..500].iter().map_while(Visit::stream).collect();
        assert_eq!(streams.len(), 500);
        // Four others have all their places.
        for other in ["10.0.0.2", "10.0.0.3", "10.0.0.4"] {
            let visits = enter(&visitors, other, 100);
            assert_eq!(visits.len(), OF_ONE, "{other}");
            let streams: Vec<_> = visits.iter().map_while(Visit::stream).collect();
            assert_eq!(streams.len(), OF_ONE - PAGES, "{other}");
        }
        drop(streams);
        drop(class);
        assert!(visitors.held().by_address.is_empty());
        assert_eq!(visitors.held().connections, 0);
    }

    #[test]
    fn where_there_is_little_room_half_of_it_is_shared() {
        let visitors = Visitors::of(64);
        let greedy = enter(&visitors, "10.0.0.1", 100);
        assert_eq!(greedy.len(), 32);
        assert_eq!(enter(&visitors, "10.0.0.2", 100).len(), 32);
    }
}
