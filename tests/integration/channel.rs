//! One line out, one line back, before a deadline: every moment at which an answer can come,
//! on a clock that only moves when the test says so, and everything that streams can do.

use std::future::{Future, poll_fn};
use std::io;
use std::pin::{Pin, pin};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use referee::bot::channel::{Channel, Exchange, ExchangeError};
use referee::bot::{Allowance, Fault};
use referee::protocol::MAX_LINE_BYTES;
use tokio::io::{
    AsyncBufReadExt as _, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _, BufReader,
    DuplexStream, duplex,
};
use tokio::time::{Instant, advance, sleep};

const REQUEST: &[u8] = b"................ K\n";
const LIMIT: Duration = Duration::from_secs(1);
const MS: Duration = Duration::from_millis(1);
const NS: Duration = Duration::from_nanos(1);

type Answer = Result<Exchange, ExchangeError>;

/// A channel, and the other ends of its two streams: what a bot reads and what it writes.
struct Pair {
    channel: Channel<DuplexStream, DuplexStream>,
    input: DuplexStream,
    output: DuplexStream,
}

/// Streams that hold this many bytes.
fn pair(capacity: usize) -> Pair {
    let (reader, output) = duplex(capacity);
    let (writer, input) = duplex(capacity);
    Pair {
        channel: Channel::new(reader, writer),
        input,
        output,
    }
}

/// Looks at a future once, without waiting.
fn look<F: Future>(future: std::pin::Pin<&mut F>) -> Poll<F::Output> {
    future.poll(&mut Context::from_waker(Waker::noop()))
}

/// Asks, lets `wait` pass, writes `answer` and only then looks whether it has come.
async fn answered_after(wait: Duration, limit: Duration, answer: &[u8]) -> Answer {
    let Pair {
        mut channel,
        input: _input,
        mut output,
    } = pair(4096);
    let mut exchange = pin!(channel.exchange(Instant::now(), REQUEST, limit));
    assert!(look(exchange.as_mut()).is_pending());
    advance(wait).await;
    output.write_all(answer).await.expect("room");
    exchange.await.expect("no failure of our own")
}

async fn ask(channel: &mut Channel<DuplexStream, DuplexStream>, limit: Duration) -> Answer {
    channel
        .exchange(Instant::now(), REQUEST, limit)
        .await
        .expect("no failure of our own")
}

/// The text of an answer that was accepted.
#[track_caller]
fn text(channel: &Channel<DuplexStream, DuplexStream>, answer: &Answer) -> String {
    let exchange = answer.as_ref().expect("an answer");
    String::from_utf8(channel.line(*exchange).to_vec()).expect("UTF-8")
}

fn timeout(partial: &[u8]) -> Answer {
    Err(ExchangeError::Timeout {
        partial: partial.to_vec(),
    })
}

/// Does something at the other end while the exchange goes on, as a bot would.
async fn meanwhile<T>(exchange: impl Future<Output = T>, bot: impl Future<Output = ()>) -> T {
    let mut exchange = pin!(exchange);
    let mut bot = pin!(bot);
    let mut busy = true;
    poll_fn(|cx| {
        // It is asked before it does anything.
        let polled = exchange.as_mut().poll(cx);
        if polled.is_pending() && busy && bot.as_mut().poll(cx).is_ready() {
            busy = false;
        }
        polled
    })
    .await
}

// The very deadline

#[tokio::test(start_paused = true)]
async fn an_answer_at_the_very_deadline_counts() {
    let nanoseconds = [0, 999_000_000, 999_999_999, 1_000_000_000];
    for elapsed in nanoseconds.map(Duration::from_nanos) {
        let answer = answered_after(elapsed, LIMIT, b"6 A\n").await;
        assert_eq!(answer, Ok(Exchange { length: 3, elapsed }));
    }
}

#[tokio::test(start_paused = true)]
async fn an_answer_after_the_deadline_is_late() {
    for late in [NS, MS, LIMIT] {
        let elapsed = LIMIT + late;
        let answer = answered_after(elapsed, LIMIT, b"6 A\n").await;
        let length = 3;
        assert_eq!(
            answer,
            Err(ExchangeError::Late(Exchange { length, elapsed }))
        );
    }
}

#[tokio::test(start_paused = true)]
async fn without_a_limit_an_answer_may_take_years() {
    let year = Duration::from_hours(24 * 365);
    for elapsed in [LIMIT, year, year * 100] {
        let answer = answered_after(elapsed, Allowance::NO_LIMIT, b"6 A\n").await;
        assert_eq!(answer, Ok(Exchange { length: 3, elapsed }));
    }
}

#[tokio::test(start_paused = true)]
async fn a_late_answer_can_be_read() {
    let Pair {
        mut channel,
        input: _input,
        mut output,
    } = pair(4096);
    let mut exchange = Box::pin(channel.exchange(Instant::now(), REQUEST, LIMIT));
    assert!(look(exchange.as_mut()).is_pending());
    advance(LIMIT + MS).await;
    output.write_all(b"6 A\n").await.expect("room");
    let late = exchange.await.expect("no failure of our own");
    let Err(ExchangeError::Late(late)) = late else {
        panic!("it was in time");
    };
    assert_eq!(channel.line(late), b"6 A");
}

/// A limit that has passed can be extended; what was written and read by then is kept.
#[tokio::test(start_paused = true)]
async fn an_exchange_goes_on_after_its_time() {
    let mut pair = pair(8);
    let asked = Instant::now();
    let late = pair.channel.exchange(asked, REQUEST, LIMIT).await;
    assert_eq!(late.expect("no failure of our own"), timeout(b""));
    // Half of the request has been written, because nobody reads.
    let bot = async {
        sleep(MS).await;
        let mut request = vec![0; REQUEST.len()];
        pair.input
            .read_exact(&mut request)
            .await
            .expect("a request");
        assert_eq!(request, REQUEST);
        pair.output.write_all(b"6 ").await.expect("room");
    };
    let exchange = pair.channel.exchange_on(asked, REQUEST, LIMIT + 2 * MS);
    let late = meanwhile(exchange, bot).await;
    assert_eq!(late.expect("no failure of our own"), timeout(b"6 "));
    pair.output.write_all(b"A\n").await.expect("room");
    let exchange = pair.channel.exchange_on(asked, REQUEST, LIMIT + 3 * MS);
    let answer = exchange.await.expect("no failure of our own");
    let elapsed = LIMIT + 2 * MS;
    assert_eq!(answer, Ok(Exchange { length: 3, elapsed }));
    assert_eq!(text(&pair.channel, &answer), "6 A");
}

#[tokio::test(start_paused = true)]
async fn half_an_answer_at_the_deadline_is_none() {
    for late in [Duration::ZERO, MS] {
        let answer = answered_after(LIMIT + late, LIMIT, b"6 A").await;
        assert_eq!(answer, timeout(b"6 A"));
    }
}

/// Too much is too much, also when it is late: there is one decision.
#[tokio::test(start_paused = true)]
async fn two_lines_at_the_deadline() {
    let extra = Err(ExchangeError::Fault(Fault::ExtraOutput {
        first: b"6 A".to_vec(),
        second: b"7 B\n".to_vec(),
        early: false,
    }));
    for late in [Duration::ZERO, MS] {
        assert_eq!(
            answered_after(LIMIT + late, LIMIT, b"6 A\n7 B\n").await,
            extra
        );
    }
}

#[tokio::test(start_paused = true)]
async fn the_clock_decides_when_nobody_looks_by_hand() {
    for (wait, counts) in [(999 * MS, true), (1001 * MS, false)] {
        let Pair {
            mut channel,
            input: _input,
            mut output,
        } = pair(4096);
        let started = Instant::now();
        let bot = async {
            sleep(wait).await;
            output.write_all(b"6 A\n").await.expect("room");
        };
        let answer = meanwhile(ask(&mut channel, LIMIT), bot).await;
        if counts {
            assert_eq!(text(&channel, &answer), "6 A");
            assert_eq!(started.elapsed(), wait);
        } else {
            assert_eq!(answer, timeout(b""));
            assert_eq!(started.elapsed(), LIMIT);
        }
    }
}

/// Between the deadline and the kill: the decision stands, and what came is only heard.
#[tokio::test(start_paused = true)]
async fn an_answer_after_the_decision_changes_nothing() {
    let Pair {
        mut channel,
        input: _input,
        mut output,
    } = pair(4096);
    assert_eq!(ask(&mut channel, LIMIT).await, timeout(b""));
    output.write_all(b"6 A\n").await.expect("room");
    assert_eq!(channel.drain(MS).await, b"6 A\n");
}

/// The referee may be kept from running between being woken and looking: what came meanwhile is in the pipe, but the
/// runtime has not been told. It is read, and found late, not taken for silence.
#[cfg(unix)]
#[tokio::test]
async fn an_answer_that_came_while_the_referee_did_not_run_is_found() {
    use std::io::Write as _;
    use tokio::net::UnixStream;

    let limit = 40 * MS;
    let (reader, output) = UnixStream::pair().expect("a pair of sockets");
    let (writer, _input) = UnixStream::pair().expect("a pair of sockets");
    let mut output = output.into_std().expect("a socket");
    let mut channel = Channel::new(reader, writer);
    let asked = Instant::now();
    // Woken at the limit, as the exchange is, and polled before it.
    let mut keeps_from_running = pin!(async move {
        tokio::time::sleep_until(asked + limit).await;
        std::thread::sleep(3 * limit);
    });
    let bot = std::thread::spawn(move || {
        std::thread::sleep(2 * limit);
        output.write_all(b"6 A\n").expect("a reader");
        output
    });
    let mut exchange = pin!(channel.exchange(asked, REQUEST, limit));
    let mut has_slept = false;
    let answer = poll_fn(|cx| {
        has_slept = has_slept || keeps_from_running.as_mut().poll(cx).is_ready();
        exchange.as_mut().poll(cx)
    })
    .await
    .expect("no failure of our own");
    let Err(ExchangeError::Late(late)) = answer else {
        panic!("{answer:?}");
    };
    assert!(late.elapsed > 2 * limit);
    drop(bot.join().expect("it wrote"));
}

#[tokio::test(start_paused = true)]
async fn no_time_at_all() {
    let mut pair = pair(4096);
    assert_eq!(ask(&mut pair.channel, Duration::ZERO).await, timeout(b""));
}

#[tokio::test(start_paused = true)]
async fn all_the_time_in_the_world() {
    let day = Duration::from_hours(24);
    let answer = answered_after(day, Duration::MAX, b"6 A\n").await;
    assert_eq!(answer.map(|exchange| exchange.elapsed), Ok(day));
}

#[tokio::test(start_paused = true)]
async fn no_limit_is_one_of_a_year() {
    let Pair {
        mut channel,
        input: _input,
        mut output,
    } = pair(4096);
    let most_of_a_year = Duration::from_hours(24 * 300);
    let bot = async {
        sleep(most_of_a_year).await;
        output.write_all(b"6 A\n").await.expect("room");
    };
    let answer = meanwhile(ask(&mut channel, Duration::MAX), bot).await;
    assert_eq!(answer.map(|exchange| exchange.elapsed), Ok(most_of_a_year));
}

// One deadline an exchange

#[tokio::test(start_paused = true)]
async fn dribble_does_not_move_the_deadline() {
    let Pair {
        mut channel,
        input: _input,
        mut output,
    } = pair(4096);
    let started = Instant::now();
    let bot = async {
        loop {
            sleep(LIMIT / 10 * 3).await;
            output.write_all(b"x").await.expect("room");
        }
    };
    let answer = meanwhile(ask(&mut channel, LIMIT), bot).await;
    assert_eq!(answer, timeout(b"xxx"));
    assert_eq!(started.elapsed(), LIMIT);
}

#[tokio::test(start_paused = true)]
async fn a_slow_answer_byte_by_byte_is_one_answer() {
    let Pair {
        mut channel,
        input,
        mut output,
    } = pair(1);
    // The request does not fit into the stream, either.
    let mut input = BufReader::new(input);
    let bot = async {
        let mut request = Vec::new();
        input
            .read_until(b'\n', &mut request)
            .await
            .expect("a request");
        assert_eq!(request, REQUEST);
        for byte in b"16 P\r\n" {
            sleep(LIMIT / 10).await;
            output.write_all(&[*byte]).await.expect("room");
        }
    };
    let answer = meanwhile(ask(&mut channel, LIMIT), bot).await;
    // The carriage return is for those who read the line.
    assert_eq!(text(&channel, &answer), "16 P\r");
    assert_eq!(answer.expect("an answer").elapsed, LIMIT / 10 * 6);
}

#[tokio::test(start_paused = true)]
async fn every_question_has_a_deadline_of_its_own() {
    let limits = [10_000, 20, 10_000, 5000, 20, 20, 60_000, 1];
    let Pair {
        mut channel,
        input: _input,
        mut output,
    } = pair(4096);
    for limit in limits.map(Duration::from_millis) {
        // In time, by a hair, or at once.
        for wait in [limit, Duration::ZERO] {
            let answer = {
                let mut exchange = pin!(channel.exchange(Instant::now(), REQUEST, limit));
                assert!(look(exchange.as_mut()).is_pending());
                advance(wait).await;
                output.write_all(b"6 A\n").await.expect("room");
                exchange.await.expect("no failure of our own")
            };
            assert_eq!(text(&channel, &answer), "6 A");
            assert_eq!(answer.expect("an answer").elapsed, wait);
            // Between questions, time does not count.
            advance(LIMIT).await;
        }
    }
    // A late one after long and short ones.
    for limit in limits.map(Duration::from_millis) {
        let started = Instant::now();
        assert_eq!(ask(&mut channel, limit).await, timeout(b""));
        assert!(started.elapsed() >= limit && started.elapsed() < limit + 2 * MS);
    }
}

#[tokio::test(start_paused = true)]
async fn a_write_that_is_never_completed() {
    // There is room for four bytes, and nobody reads.
    let mut pair = pair(4);
    let started = Instant::now();
    assert_eq!(ask(&mut pair.channel, LIMIT).await, timeout(b""));
    assert_eq!(started.elapsed(), LIMIT);
    let mut read = [0; 8];
    let count = pair.input.read(&mut read).await.expect("the beginning");
    assert_eq!(read[..count], REQUEST[..4]);
}

/// A referee that is kept from the CPU after it looked at the clock writes late: the bot cannot have begun before.
#[tokio::test(start_paused = true)]
async fn when_the_question_was_written_is_known() {
    let Pair {
        mut channel,
        input: _input,
        output: _output,
    } = pair(4096);
    let asked = Instant::now();
    assert_eq!(channel.sent_after(asked), Duration::ZERO);
    let mut exchange = Box::pin(channel.exchange(asked, REQUEST, LIMIT));
    advance(70 * MS).await;
    let _ = look(exchange.as_mut());
    drop(exchange);
    assert_eq!(channel.sent_after(asked), 70 * MS);
    // The next question has a time of its own.
    advance(70 * MS).await;
    let asked = Instant::now();
    let _ = look(pin!(channel.exchange(asked, REQUEST, LIMIT)));
    assert_eq!(channel.sent_after(asked), Duration::ZERO);
}

/// An answer to a question that was not read is not looked at before the question is written.
#[tokio::test(start_paused = true)]
async fn an_answer_while_the_question_is_stuck() {
    let Pair {
        mut channel,
        input: _input,
        mut output,
    } = pair(4);
    let bot = async {
        sleep(LIMIT / 2).await;
        output.write_all(b"6 A\n").await.expect("room");
    };
    let started = Instant::now();
    assert_eq!(meanwhile(ask(&mut channel, LIMIT), bot).await, timeout(b""));
    assert_eq!(started.elapsed(), LIMIT);
}

// Too much

#[tokio::test(start_paused = true)]
async fn a_line_that_never_ends() {
    let Pair {
        mut channel,
        input: _input,
        mut output,
    } = pair(300);
    let started = Instant::now();
    let bot = async {
        loop {
            output.write_all(&[b'x'; 100]).await.expect("room");
        }
    };
    let answer = meanwhile(ask(&mut channel, LIMIT), bot).await;
    let start = vec![b'x'; MAX_LINE_BYTES + 1];
    assert_eq!(
        answer,
        Err(ExchangeError::Fault(Fault::LineTooLong { start }))
    );
    assert_eq!(started.elapsed(), Duration::ZERO);
}

#[tokio::test(start_paused = true)]
async fn the_longest_line() {
    let mut line = vec![b'x'; MAX_LINE_BYTES];
    line.push(b'\n');
    let answer = answered_after(MS, LIMIT, &line).await;
    assert_eq!(answer.map(|exchange| exchange.length), Ok(MAX_LINE_BYTES));
    line.insert(0, b'x');
    let start = vec![b'x'; MAX_LINE_BYTES + 1];
    let answer = answered_after(MS, LIMIT, &line).await;
    assert_eq!(
        answer,
        Err(ExchangeError::Fault(Fault::LineTooLong { start }))
    );
}

#[tokio::test(start_paused = true)]
async fn more_than_one_line() {
    for (output, first, rest) in [
        (&b"6 A\n7 B\n"[..], "6 A", "7 B\n"),
        (b"6 A\n7", "6 A", "7"),
        (b"6 A\n\n", "6 A", "\n"),
        (b"\n6 A\n", "", "6 A\n"),
    ] {
        let extra = ExchangeError::Fault(Fault::ExtraOutput {
            first: first.into(),
            second: rest.into(),
            early: false,
        });
        assert_eq!(answered_after(MS, LIMIT, output).await, Err(extra));
    }
}

#[tokio::test(start_paused = true)]
async fn output_before_the_question() {
    let Pair {
        mut channel,
        input: _input,
        mut output,
    } = pair(4096);
    output.write_all(b"6").await.expect("room");
    let early = |previous: &[u8], output: &[u8]| {
        Err(ExchangeError::Fault(Fault::ExtraOutput {
            first: previous.to_vec(),
            second: output.to_vec(),
            early: true,
        }))
    };
    assert_eq!(ask(&mut channel, LIMIT).await, early(b"", b"6"));

    let bot = async {
        output.write_all(b"6 A\n").await.expect("room");
    };
    let answer = meanwhile(ask(&mut channel, LIMIT), bot).await;
    assert_eq!(text(&channel, &answer), "6 A");
    output.write_all(b"debug\nmore\n").await.expect("room");
    assert_eq!(
        ask(&mut channel, LIMIT).await,
        early(b"6 A", b"debug\nmore\n")
    );
}

/// Nothing is written to a bot that has already said too much.
#[tokio::test(start_paused = true)]
async fn a_flood_before_the_question() {
    let mut pair = pair(4096);
    pair.output.write_all(&[b'\n'; 4096]).await.expect("room");
    match ask(&mut pair.channel, LIMIT).await {
        Err(ExchangeError::Fault(Fault::ExtraOutput { second, .. })) => {
            assert!(second.len() < 4096);
        }
        other => panic!("{other:?}"),
    }
    pair.channel.close_writer();
    let mut read = Vec::new();
    pair.input.read_to_end(&mut read).await.expect("the end");
    assert_eq!(read, b"");
}

// The end of a stream

#[tokio::test(start_paused = true)]
async fn the_end_of_the_output() {
    for partial in [&b""[..], b"6", b"6 A"] {
        let Pair {
            mut channel,
            input: _input,
            mut output,
        } = pair(4096);
        let bot = async {
            sleep(MS).await;
            output.write_all(partial).await.expect("room");
            drop(output);
        };
        let started = Instant::now();
        let answer = meanwhile(ask(&mut channel, LIMIT), bot).await;
        let partial = partial.to_vec();
        assert_eq!(answer, Err(ExchangeError::Eof { partial }));
        assert_eq!(started.elapsed(), MS);
    }
}

#[tokio::test(start_paused = true)]
async fn the_end_of_the_output_after_an_answer() {
    let Pair {
        mut channel,
        input: _input,
        mut output,
    } = pair(4096);
    let bot = async {
        output.write_all(b"6 A\n").await.expect("room");
        drop(output);
    };
    // The answer counts, and the end is for the next question.
    let answer = meanwhile(ask(&mut channel, LIMIT), bot).await;
    assert_eq!(text(&channel, &answer), "6 A");
    let partial = Vec::new();
    assert_eq!(
        ask(&mut channel, LIMIT).await,
        Err(ExchangeError::Eof { partial })
    );
}

#[tokio::test(start_paused = true)]
async fn a_closed_input() {
    let mut closed = pair(4096);
    drop(closed.input);
    assert_eq!(
        ask(&mut closed.channel, LIMIT).await,
        Err(ExchangeError::InputClosed)
    );

    // In the middle of the request.
    let Pair {
        mut channel,
        input,
        output: _output,
    } = pair(4);
    let bot = async {
        sleep(MS).await;
        drop(input);
    };
    let answer = meanwhile(ask(&mut channel, LIMIT), bot).await;
    assert_eq!(answer, Err(ExchangeError::InputClosed));

    // By ourselves.
    let mut closed = pair(4096);
    closed.channel.close_writer();
    assert_eq!(
        ask(&mut closed.channel, LIMIT).await,
        Err(ExchangeError::InputClosed)
    );
    assert!(closed.channel.writer().is_none());
}

/// A stream into which nothing can be written, for this reason.
struct Failing(io::ErrorKind);

impl AsyncWrite for Failing {
    fn poll_write(self: Pin<&mut Self>, _: &mut Context<'_>, _: &[u8]) -> Poll<io::Result<usize>> {
        Poll::Ready(Err(self.0.into()))
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }
}

/// Only a broken pipe is the other side's doing; all else is a failure of the referee.
#[tokio::test(start_paused = true)]
async fn a_failure_that_is_nobodys_fault() {
    for kind in [io::ErrorKind::StorageFull, io::ErrorKind::Other] {
        let (reader, _output) = duplex(64);
        let mut channel = Channel::new(reader, Failing(kind));
        let failed = channel.exchange(Instant::now(), REQUEST, LIMIT).await;
        assert_eq!(failed.expect_err("a failure").kind(), kind);
    }
    let (reader, _output) = duplex(64);
    let mut closed = Channel::new(reader, Failing(io::ErrorKind::BrokenPipe));
    let answer = closed.exchange(Instant::now(), REQUEST, LIMIT).await;
    let answer = answer.expect("no failure of our own");
    assert_eq!(answer, Err(ExchangeError::InputClosed));
}

// What else it says

/// Answers to one question after the other.
async fn answer(pair: &mut Pair, line: &[u8]) -> Answer {
    let bot = async { pair.output.write_all(line).await.expect("room") };
    meanwhile(ask(&mut pair.channel, LIMIT), bot).await
}

#[tokio::test(start_paused = true)]
async fn the_answer_before_is_remembered() {
    let mut pair = pair(4096);
    assert_eq!(pair.channel.answer_before(), b"");
    assert!(!pair.channel.repeats());
    // An empty line says nothing twice.
    for (line, before, repeats) in [
        ("\n", "", false),
        ("\n", "", false),
        ("6 A\n", "", false),
        ("6 A\n", "6 A", true),
        ("6 AB\n", "6 A", false),
        ("6 A\n", "6 AB", false),
        ("7 A\n", "6 A", false),
        ("7 A\n", "7 A", true),
        ("\n", "7 A", false),
    ] {
        let answered = answer(&mut pair, line.as_bytes()).await;
        assert_eq!(text(&pair.channel, &answered), line.trim_end());
        assert_eq!(pair.channel.answer_before(), before.as_bytes());
        assert_eq!(pair.channel.repeats(), repeats, "{before:?}, then {line:?}");
    }
    assert!(pair.channel.writer().is_some());
}

#[tokio::test(start_paused = true)]
async fn the_beginning_of_an_answer_is_remembered() {
    let mut pair = pair(4096);
    assert_eq!(pair.channel.partial(), b"");
    assert_eq!(answer(&mut pair, b"16 ").await, timeout(b"16 "));
    assert_eq!(pair.channel.partial(), b"16 ");
    // The next question begins anew.
    assert_eq!(ask(&mut pair.channel, LIMIT).await, timeout(b""));
    assert_eq!(pair.channel.partial(), b"");
}

#[tokio::test(start_paused = true)]
async fn overhearing_ends() {
    // With a line, with the stream, with the time, with the buffer.
    let mut line = pair(4096);
    line.output.write_all(b"7 B\nmore").await.expect("room");
    assert_eq!(line.channel.drain(LIMIT).await, b"7 B\nmore");

    let mut ended = pair(4096);
    ended.output.write_all(b"7").await.expect("room");
    drop(ended.output);
    assert_eq!(ended.channel.drain(LIMIT).await, b"7");

    let started = Instant::now();
    let mut slow = pair(4096);
    slow.output.write_all(b"7").await.expect("room");
    assert_eq!(slow.channel.drain(LIMIT).await, b"7");
    assert_eq!(started.elapsed(), LIMIT);

    let mut flood = pair(4096);
    flood.output.write_all(&[b'x'; 4096]).await.expect("room");
    let heard = flood.channel.drain(LIMIT).await;
    assert_eq!(heard.len(), MAX_LINE_BYTES + 1);
}
