//! A Quarto bot that answers at once, so that a bench measures the referee and not the bot.
//!
//! It plays the k-th piece of a fixed drawn board on cell k: every game against itself has
//! 17 turns and is a draw. `benches/matches.rs` compiles it with rustc.

use std::fs::File;
use std::io::{Read, Write};
use std::mem::ManuallyDrop;
use std::os::fd::FromRawFd;

/// The pieces of the drawn board, cell by cell.
const DRAWN: &[u8; 16] = b"IONGCABMHEDJPLKF";

fn main() {
    // SAFETY: 0 and 1 are open, and `ManuallyDrop` keeps them open. Files read and write
    // directly, without the buffer and the lock of `std::io::stdin` and `stdout`.
    let (mut input, mut output) = unsafe {
        (
            ManuallyDrop::new(File::from_raw_fd(0)),
            ManuallyDrop::new(File::from_raw_fd(1)),
        )
    };
    let mut line = [0; 256];
    while let Ok(count @ 1..) = input.read(&mut line) {
        if line[count - 1] != b'\n' || count < 19 {
            continue;
        }
        let placed = line[..16].iter().take_while(|&&cell| cell != b'.').count();
        let mut answer = Vec::with_capacity(8);
        if line[17] == b'-' {
            answer.extend([b'-', b' ', DRAWN[0]]);
        } else {
            let cell = placed + 1;
            if cell > 9 {
                answer.push(b'1');
            }
            answer.extend([b'0' + (cell % 10) as u8, b' ']);
            answer.push(*DRAWN.get(cell).unwrap_or(&b'-'));
        }
        answer.push(b'\n');
        if output.write_all(&answer).is_err() {
            return;
        }
    }
}
