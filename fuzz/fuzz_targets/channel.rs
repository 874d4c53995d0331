//! Any bytes in any pieces as the output of a bot, over several requests: the channel returns one line
//! without a newline within the cap, or what is wrong; and it never waits longer than its limit.
#![no_main]

use std::time::Duration;

use libfuzzer_sys::fuzz_target;
use referee::bot::channel::{Channel, ExchangeError};
use referee::protocol::MAX_LINE_BYTES;
use tokio::io::{AsyncWriteExt as _, duplex};
use tokio::time::Instant;

const LIMIT: Duration = Duration::from_millis(100);

async fn talk(bytes: &[u8]) {
    let (reader, mut output) = duplex(4096);
    let (writer, _input) = duplex(1 << 16);
    let mut channel = Channel::new(reader, writer);
    // Each piece begins with its length, one byte; an odd one also lets time pass.
    let script = bytes.to_vec();
    let bot = async move {
        let mut rest = &script[..];
        while let Some((&length, more)) = rest.split_first() {
            let (piece, more) = more.split_at(more.len().min(usize::from(length) * 8));
            if output.write_all(piece).await.is_err() {
                return;
            }
            if length % 2 == 1 {
                tokio::time::sleep(Duration::from_millis(u64::from(length))).await;
            }
            rest = more;
        }
    };
    let referee = async {
        for _ in 0..8 {
            let asked = Instant::now();
            let answered = channel.exchange(asked, b"................ K\n", LIMIT).await;
            assert!(asked.elapsed() <= LIMIT + Duration::from_millis(2), "it waited too long");
            match answered.expect("streams in memory do not fail") {
                Ok(exchange) => {
                    let line = channel.line(exchange);
                    assert!(line.len() <= MAX_LINE_BYTES && !line.contains(&b'\n'));
                    assert!(exchange.elapsed <= LIMIT);
                }
                Err(ExchangeError::TooLong { start }) => {
                    assert!(start.len() > MAX_LINE_BYTES);
                    return;
                }
                Err(_) => {
                    assert!(channel.drain(LIMIT).await.len() <= 2 * MAX_LINE_BYTES);
                    return;
                }
            }
        }
    };
    tokio::join!(bot, referee);
}

fuzz_target!(|bytes: &[u8]| {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .start_paused(true)
        .build()
        .expect("a runtime");
    runtime.block_on(talk(bytes));
});
