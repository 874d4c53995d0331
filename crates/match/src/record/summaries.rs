//! Summaries of the records of a file, parsed by several threads and taken in the order of the file, in constant
//! memory.

use std::io::Read;
use std::sync::{Mutex, PoisonError};

use super::RecordSummary;
use super::reader::{LineError, Lines, ReadError, Reader};
use referee_host::threads::{InOrder, locked, processors};

/// Of the lines that a thread parses at a time.
const PART: usize = 1 << 18;

/// More threads would wait for each other: lines are taken by one at a time.
const MOST: usize = 8;

/// A line's number, from 1, and its game with what was computed of it.
pub type Parsed<'a, T> = (u64, Result<(RecordSummary<'a>, T), LineError>);

pub fn threads_for(bytes: u64) -> usize {
    let parts = usize::try_from(bytes / PART as u64).unwrap_or(MOST);
    processors().min(MOST).min(parts).max(1)
}

/// `take` gets each line, in the order of the file, with what `compute`, which runs for several games at the same time,
/// has made of its number and game. The first error of `take` ends it and is the inner result; the outer one is that of
/// reading.
pub fn take_all<R, T, E>(
    reader: Reader<R>,
    threads: usize,
    compute: impl Fn(u64, &mut RecordSummary<'_>) -> T + Sync,
    take: impl FnMut(Parsed<'_, T>) -> Result<(), E> + Send,
) -> Result<Result<(), E>, ReadError>
where
    R: Read + Send,
    E: Send,
{
    let source = Mutex::new((reader, 0));
    let sink = Mutex::new((take, None));
    let order = InOrder::default();
    order.share(threads, || {
        let mut lines = Lines::default();
        loop {
            let (part, read) = {
                let mut source = locked(&source);
                let (reader, parts) = &mut *source;
                *parts += 1;
                (*parts - 1, reader.next_lines(&mut lines, PART))
            };
            let parsed: Vec<Parsed<'_, T>> = lines
                .iter()
                .map(|line| {
                    let with = line.summary().map(|mut game| {
                        let computed = compute(line.number(), &mut game);
                        (game, computed)
                    });
                    (line.number(), with)
                })
                .collect();
            let Some(_turn) = order.turn(part) else {
                break;
            };
            let mut sink = locked(&sink);
            let (take, end) = &mut *sink;
            let is_last = parsed.is_empty() || read.is_err();
            // There are lines before one that cannot be read.
            let taken = parsed.into_iter().try_for_each(take);
            if is_last || taken.is_err() {
                *end = Some(match taken {
                    Ok(()) => read.map(Ok),
                    Err(error) => Ok(Err(error)),
                });
                order.end();
                break;
            }
        }
    });
    let (_, end) = sink.into_inner().unwrap_or_else(PoisonError::into_inner);
    end.unwrap_or(Ok(Ok(())))
}

#[cfg(test)]
mod tests {
    use std::fmt::Write as _;
    use std::io;

    use super::*;

    struct Failing<'a>(&'a [u8]);

    impl Read for Failing<'_> {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            match self.0.read(buffer)? {
                0 => Err(io::Error::other("the disk is broken")),
                count => Ok(count),
            }
        }
    }

    fn file(games: usize) -> String {
        let mut text = String::new();
        for game in 0..games {
            let line = r#""v":1,"game":"quarto","rules":"standard","bots":[{"name":"a","command":[]},{"name":"b","command":[]}],"first":0,"seed":1,"start":"","turns":[],"times_ms":[],"result":{"reason":"draw"},"started":"""#;
            writeln!(text, r#"{{"id":"{game}",{line},"pad":"{:500}"}}"#, "").unwrap();
        }
        text
    }

    #[test]
    fn lines_are_taken_in_order_by_any_number_of_threads() {
        let text = file(3000) + "\n{\n{\"v\":";
        let all = |threads| {
            let mut found = Vec::new();
            let taken = take_all(
                Reader::new("file", text.as_bytes()),
                threads,
                |_, game| game.id.len(),
                |(number, parsed)| {
                    let of_game = parsed.map(|(game, length)| (game.id.into_owned(), length));
                    found.push((number, of_game));
                    Ok::<(), String>(())
                },
            );
            taken.unwrap().unwrap();
            found
        };
        let one = all(1);
        assert_eq!(one.len(), 3002);
        assert_eq!(one[2999], (3000, Ok(("2999".to_owned(), 4))));
        assert_eq!(one.iter().filter(|(_, parsed)| parsed.is_err()).count(), 2);
        let (number, Err(error)) = &one[3001] else {
            panic!("{:?}", one[3001]);
        };
        assert_eq!((*number, error.line, error.is_torn()), (3003, 3003, true));
        for threads in [2, 3, 9] {
            assert_eq!(all(threads), one);
        }
    }

    #[test]
    fn the_first_error_ends_it() {
        let text = file(3000);
        for threads in [1, 2, 9] {
            let mut taken = 0;
            let ended = take_all(
                Reader::new("file", text.as_bytes()),
                threads,
                |_, _| (),
                |(number, _)| {
                    taken += 1;
                    if number == 1500 {
                        Err("enough")
                    } else {
                        Ok(())
                    }
                },
            );
            assert_eq!(ended.unwrap(), Err("enough"));
            assert_eq!(taken, 1500);
        }
    }

    #[test]
    fn what_was_read_before_a_failure_is_taken() {
        let text = file(3000);
        for threads in [1, 2, 9] {
            let mut taken = 0;
            let ended = take_all(
                Reader::new("file", Failing(text.as_bytes())),
                threads,
                |_, _| (),
                |_| {
                    taken += 1;
                    Ok::<(), String>(())
                },
            );
            assert_eq!(ended.unwrap_err().to_string(), "file: the disk is broken");
            assert_eq!(taken, 3000);
        }
    }
}
