//! The thread that serves the page.

use std::convert::Infallible;
use std::io;
use std::net::{SocketAddr, TcpListener as StdListener};
use std::sync::Arc;
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use http_body_util::channel::{Channel, Sender};
use hyper::body::{Bytes, Incoming};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Request, Response};
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::net::{TcpListener, TcpStream};
use tokio::runtime::Builder;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, watch};
use tokio::time::{sleep, timeout};

use super::Feed;
use super::http::{Asked, Body, asked, events, page, refusal};
use crate::report::html::{Served, served};

/// More than these have to wait: every one costs some memory.
const CONNECTIONS: usize = 128;
/// How long a client may take to ask.
const ASKING: Duration = Duration::from_secs(10);
/// How long a client may take to accept a piece of what it asked for.
const TAKING: Duration = Duration::from_secs(30);
/// Entries go in events of about so many bytes.
const PIECE: usize = 64 * 1024;
/// Games that end within this time go in one event.
const TOGETHER: Duration = Duration::from_millis(150);
/// Figures are calculated no more often.
const FIGURES: Duration = Duration::from_secs(1);
/// A client to which nothing was sent for so long gets a sign of life.
const SILENCE: Duration = Duration::from_secs(15);
/// How long clients may take to hear that it is over.
const FAREWELL: Duration = Duration::from_secs(2);

/// A page that is served until [`Server::stop`].
#[derive(Debug)]
pub struct Server {
    address: SocketAddr,
    over: watch::Sender<bool>,
    thread: Option<JoinHandle<()>>,
}

/// What all connections share.
struct Room {
    feed: Feed,
    served: Served,
    /// Tells this server's events from those of one before it.
    run: u32,
    figures: watch::Receiver<Shown>,
    over: watch::Receiver<bool>,
}

/// Figures as they were calculated last.
#[derive(Clone, Default)]
struct Shown {
    text: Arc<str>,
    /// There will be no others.
    last: bool,
}

impl Server {
    /// Serves the games of `feed` on `address`; port 0 takes any that is free.
    pub fn bind(address: SocketAddr, feed: Feed) -> io::Result<Self> {
        let listener = StdListener::bind(address)?;
        listener.set_nonblocking(true)?;
        let address = listener.local_addr()?;
        let (over, ends) = watch::channel(false);
        let runtime = Builder::new_current_thread()
            .enable_io()
            .enable_time()
            .build()?;
        let thread = thread::Builder::new()
            .name("live".to_owned())
            .spawn(move || {
                if let Err(error) = runtime.block_on(serve(listener, feed, ends)) {
                    tracing::warn!("the page is not served any more: {error}");
                }
            })?;
        Ok(Self {
            address,
            over,
            thread: Some(thread),
        })
    }

    /// Where it listens.
    pub const fn address(&self) -> SocketAddr {
        self.address
    }

    /// What to type into a browser on this machine. Behind an address that means all of this
    /// machine's, others need the machine's own.
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

    /// Tells those who watch that it is over, and ends. Their pages stay as they are.
    pub fn stop(mut self) {
        self.end();
    }

    fn end(&mut self) {
        self.over.send_replace(true);
        if let Some(thread) = self.thread.take() {
            // A panic there has been reported, and ends nothing but the page.
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
    mut over: watch::Receiver<bool>,
) -> io::Result<()> {
    let listener = TcpListener::from_std(listener)?;
    let (show, figures) = watch::channel(Shown::default());
    let calculator = tokio::spawn(calculate(feed.clone(), show, over.clone()));
    let room = Arc::new(Room {
        served: served(feed.options()),
        feed,
        run: rand::random(),
        figures,
        over: over.clone(),
    });
    let places = Arc::new(Semaphore::new(CONNECTIONS));
    loop {
        // The permit is waited for first, so that those who wait do so in the system's queue.
        let Ok(place) = Arc::clone(&places).acquire_owned().await else {
            break;
        };
        tokio::select! {
            accepted = listener.accept() => match accepted {
                Ok((stream, _)) => {
                    tokio::spawn(connection(stream, Arc::clone(&room), place));
                }
                // The client has gone, or there are too many open files: neither lasts.
                Err(error) => {
                    tracing::debug!("a client was not accepted: {error}");
                    sleep(Duration::from_millis(100)).await;
                }
            },
            () = ended(&mut over) => break,
        }
    }
    drop(listener);
    let _ = calculator.await;
    // Clients that watch get the end; none is waited for longer.
    let all = u32::try_from(CONNECTIONS).unwrap_or(u32::MAX);
    let _ = timeout(FAREWELL, places.acquire_many(all)).await;
    Ok(())
}

/// Calculates figures when there are new games, now and then, and once more in the end.
async fn calculate(feed: Feed, show: watch::Sender<Shown>, mut over: watch::Receiver<bool>) {
    let mut games = feed.watch();
    loop {
        let last = *over.borrow_and_update();
        games.mark_unchanged();
        let began = Instant::now();
        let figures = feed.figures();
        match figures.standings() {
            Ok(standings) => {
                let text = figures.as_json(&standings).to_string().into();
                show.send_replace(Shown { text, last });
            }
            Err(error) => {
                tracing::warn!("no figures for the page: {error}");
                show.send_modify(|shown| shown.last = last);
            }
        }
        if last {
            return;
        }
        // Bots need the machine more than those who watch them.
        let pause = FIGURES.max(10 * began.elapsed());
        tokio::select! {
            () = sleep(pause) => {}
            () = ended(&mut over) => continue,
        }
        tokio::select! {
            _ = games.changed() => {}
            () = ended(&mut over) => {}
        }
    }
}

async fn connection(stream: TcpStream, room: Arc<Room>, place: OwnedSemaphorePermit) {
    let mut over = room.over.clone();
    let service = service_fn(|request: Request<Incoming>| {
        let answer = answer(&request, &room);
        async move { Ok::<_, Infallible>(answer) }
    });
    let serving = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(ASKING)
        .max_buf_size(PIECE)
        .serve_connection(TokioIo::new(stream), service);
    let mut serving = std::pin::pin!(serving);
    let served = tokio::select! {
        served = serving.as_mut() => served,
        () = ended(&mut over) => {
            // Streams end by themselves; who has asked nothing is not waited for.
            serving.as_mut().graceful_shutdown();
            serving.await
        }
    };
    if let Err(error) = served {
        tracing::debug!("a client: {error}");
    }
    drop(place);
}

fn answer(request: &Request<Incoming>, room: &Arc<Room>) -> Response<Body> {
    match asked(request) {
        Asked::Page => page(&room.served),
        Asked::Events(seen) => {
            let from = seen.and_then(|id| place_of(&id, room.run));
            let (sender, stream) = Channel::new(1);
            tokio::spawn(tell(sender, Arc::clone(room), from));
            events(stream)
        }
        Asked::Nothing(status, why) => refusal(status, why),
    }
}

/// The place in the entries that an event's id stands for, if it is one of ours.
fn place_of(id: &str, run: u32) -> Option<usize> {
    let (of, place) = id.split_once('-')?;
    (of.parse() == Ok(run)).then(|| place.parse().ok())?
}

/// The client is gone, or takes nothing any more.
struct Gone;

async fn send(sender: &mut Sender<Bytes>, text: String) -> Result<(), Gone> {
    match timeout(TAKING, sender.send_data(Bytes::from(text))).await {
        Ok(Ok(())) => Ok(()),
        _ => Err(Gone),
    }
}

async fn tell(mut sender: Sender<Bytes>, room: Arc<Room>, from: Option<usize>) {
    // A client that has gone needs no words.
    let _ = tell_all(&mut sender, &room, from).await;
}

/// Tells a client what there is from its place on, and goes on until it is over.
async fn tell_all(
    sender: &mut Sender<Bytes>,
    room: &Room,
    from: Option<usize>,
) -> Result<(), Gone> {
    let mut games = room.feed.watch();
    let mut figures = room.figures.clone();
    let mut told: Arc<str> = Arc::default();
    if from.is_none() {
        send(sender, "retry: 2000\nevent: begin\ndata: {}\n\n".to_owned()).await?;
    }
    let mut place = from.unwrap_or(0);
    loop {
        games.mark_unchanged();
        loop {
            let (entries, next) = room.feed.entries(place, PIECE);
            if next == place {
                break;
            }
            place = next;
            let run = room.run;
            send(
                sender,
                format!("id: {run}-{place}\nevent: entries\ndata: [{entries}]\n\n"),
            )
            .await?;
        }
        let shown = figures.borrow_and_update().clone();
        if !shown.text.is_empty() && !Arc::ptr_eq(&shown.text, &told) {
            send(sender, format!("event: figures\ndata: {}\n\n", shown.text)).await?;
            told = shown.text;
        }
        if shown.last {
            return send(sender, "event: end\ndata: {}\n\n".to_owned()).await;
        }
        tokio::select! {
            changed = games.changed() => {
                if changed.is_err() {
                    return Ok(());
                }
                sleep(TOGETHER).await;
            }
            changed = figures.changed() => {
                if changed.is_err() {
                    return Ok(());
                }
            }
            () = sleep(SILENCE) => send(sender, ": still here\n\n".to_owned()).await?,
        }
    }
}

/// Waits until it is over.
async fn ended(over: &mut watch::Receiver<bool>) {
    // The sender is gone: that is an end, too.
    let _ = over.wait_for(|&over| over).await;
}
