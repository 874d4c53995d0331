//! Submissions as they were sent, to be downloaded.

use std::fs::{self, File};
use std::io::{self, Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use axum::http::header::CONTENT_LENGTH;
use axum::http::{HeaderValue, StatusCode};
use axum::response::Response;
use flate2::Compression;
use flate2::write::GzEncoder;
use http_body_util::channel::{Channel, Sender};
use tokio::runtime::Handle;
use tokio::task::spawn_blocking;

use super::Answer;
use super::answer::{Refusal, download};
use crate::desk::{Desk, Download};
use crate::ledger::FILES;

/// After which a client that has too many downloads may ask again.
const RETRY: Duration = Duration::from_secs(5);

/// The files of a submission: the only one as it is, several as an archive. `reader`: the student's key; `None`: the teacher.
pub(super) async fn of_submission(
    desk: &Arc<Desk>,
    reader: Option<&str>,
    key: &str,
    number: u32,
) -> Answer {
    let path = {
        let ledger = desk.ledger();
        if ledger.entry(key, number).is_none() {
            return Err(Refusal::missing("submission"));
        }
        ledger.path(key, number).join(FILES)
    };
    let reading = begin(desk, reader)?;
    let name = format!("{key}-{number}");
    let read = spawn_blocking(move || only_file(&path).map(|only| (only, path)));
    match read.await.map_err(io::Error::other) {
        Ok(Ok((Some((file, mut content)), _))) => {
            let name = safe_name(&file, &name);
            let kind = "application/octet-stream";
            Ok(sent(kind, &name, reading, move |mut stream| {
                io::copy(&mut content, &mut stream)?;
                stream.flush()
            }))
        }
        Ok(Ok((None, path))) => {
            let name = ascii(&name);
            Ok(archive(vec![(name.clone(), path)], &name, reading))
        }
        Ok(Err(error)) | Err(error) => {
            let sentence = format!("the files cannot be read: {}", referee_text::cause(&error));
            Err(Refusal::new(StatusCode::INTERNAL_SERVER_ERROR, sentence))
        }
    }
}

fn begin(desk: &Arc<Desk>, reader: Option<&str>) -> Result<Download, Refusal> {
    desk.begin_download(reader).ok_or_else(|| {
        let sentence = "too many downloads are being sent; try again when one of them is complete";
        Refusal::new(StatusCode::TOO_MANY_REQUESTS, sentence).after(RETRY)
    })
}

/// All submissions of all students, for the teacher.
pub(super) fn of_all(desk: &Arc<Desk>) -> Answer {
    let reading = begin(desk, None)?;
    let students = desk.links().students().to_vec();
    let ledger = desk.ledger();
    let mut folders = Vec::new();
    for student in students {
        for entry in ledger.of(&student.key) {
            let number = entry.submission.number;
            let path = ledger.path(&student.key, number).join(FILES);
            folders.push((format!("{}/{number}", student.key), path));
        }
    }
    Ok(archive(folders, "submissions", reading))
}

fn only_file(folder: &Path) -> io::Result<Option<(String, File)>> {
    let mut entries = fs::read_dir(folder)?;
    let (Some(first), None) = (entries.next(), entries.next()) else {
        return Ok(None);
    };
    let first = first?;
    if !first.file_type()?.is_file() {
        return Ok(None);
    }
    let name = first.file_name().to_string_lossy().into_owned();
    Ok(Some((name, File::open(first.path())?)))
}

/// Letters and digits of ASCII, `-`, `_` and `.`.
fn ascii(name: &str) -> String {
    let is_safe = |c: &char| c.is_ascii_alphanumeric() || "-_.".contains(*c);
    name.chars().filter(is_safe).collect()
}

/// A name that is safe in a header.
fn safe_name(name: &str, otherwise: &str) -> String {
    let safe = ascii(name);
    if safe.trim_start_matches('.').is_empty() {
        ascii(otherwise)
    } else {
        safe
    }
}

fn archive(folders: Vec<(String, PathBuf)>, name: &str, reading: Download) -> Response {
    let name = format!("{name}.tar.gz");
    sent("application/gzip", &name, reading, move |stream| {
        write_archive(&folders, stream)
    })
}

/// Made while it is sent, on a thread of its own.
fn sent(
    kind: &'static str,
    name: &str,
    reading: Download,
    write: impl FnOnce(Buffered) -> io::Result<()> + Send + 'static,
) -> Response {
    let (sender, channel) = Channel::new(2);
    let runtime = Handle::current();
    spawn_blocking(move || {
        let stream = Stream { sender, runtime };
        // The reader left.
        let _ = write(io::BufWriter::with_capacity(64 << 10, stream));
        drop(reading);
    });
    download(kind, name, Body::new(channel))
}

fn write_archive(folders: &[(String, PathBuf)], stream: Buffered) -> io::Result<()> {
    let mut tar = tar::Builder::new(GzEncoder::new(stream, Compression::fast()));
    tar.follow_symlinks(false);
    for (name, path) in folders {
        add(&mut tar, Path::new(name), path)?;
    }
    tar.into_inner()?.finish()?.flush()
}

fn add(tar: &mut tar::Builder<impl io::Write>, name: &Path, path: &Path) -> io::Result<()> {
    let mut entries: Vec<_> = fs::read_dir(path)?.collect::<io::Result<_>>()?;
    entries.sort_by_key(fs::DirEntry::file_name);
    for entry in entries {
        let name = name.join(entry.file_name());
        if entry.file_type()?.is_dir() {
            add(tar, &name, &entry.path())?;
        } else {
            tar.append_file(&name, &mut File::open(entry.path())?)?;
        }
    }
    Ok(())
}

type Buffered = io::BufWriter<Stream>;

/// Written on a thread, sent by the server.
struct Stream {
    sender: Sender<axum::body::Bytes>,
    runtime: Handle,
}

impl io::Write for Stream {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let chunk = axum::body::Bytes::copy_from_slice(bytes);
        let sent = self.runtime.block_on(self.sender.send_data(chunk));
        sent.map_err(io::Error::other)?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// A file of the term, as long as it is now: games may be added while it is sent.
pub(super) async fn of_term(desk: &Arc<Desk>, file: &'static str, kind: &'static str) -> Answer {
    let path = desk.term().join(file);
    let open = spawn_blocking(move || {
        let content = File::open(path)?;
        let bytes = content.metadata()?.len();
        Ok((content, bytes))
    });
    let opened = open.await.map_err(io::Error::other);
    let (content, bytes) = opened.and_then(|opened| opened).map_err(|error| {
        if error.kind() == io::ErrorKind::NotFound {
            return Refusal::missing("file yet");
        }
        let sentence = format!("{file}: {}", referee_text::cause(&error));
        Refusal::new(StatusCode::INTERNAL_SERVER_ERROR, sentence)
    })?;
    let reading = begin(desk, None)?;
    let mut response = sent(kind, file, reading, move |mut stream| {
        io::copy(&mut content.take(bytes), &mut stream)?;
        stream.flush()
    });
    // A client whose connection fails sees that something is missing.
    let length = HeaderValue::from(bytes);
    response.headers_mut().insert(CONTENT_LENGTH, length);
    Ok(response)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::desk::opened_class;
    use http_body_util::BodyExt as _;
    use tokio::runtime::Builder;

    /// The records of a term may be more than the memory there is.
    #[test]
    fn a_file_of_the_term_is_sent_in_parts() {
        const BYTES: u64 = 64 << 20;
        let (_folder, desk) = opened_class("green-owl");
        let file = File::create(desk.term().join("games.jsonl")).unwrap();
        // It takes no space.
        file.set_len(BYTES).unwrap();
        let runtime = Builder::new_current_thread().enable_all().build().unwrap();
        let (length, part) = runtime.block_on(async {
            let mut response = of_term(&desk, "games.jsonl", "application/jsonl")
                .await
                .unwrap();
            let part = response.body_mut().frame().await.unwrap().unwrap();
            let length = response.headers()[CONTENT_LENGTH].clone();
            (length, part.into_data().unwrap().len())
        });
        assert_eq!(length, BYTES.to_string());
        assert!((1..=1 << 20).contains(&part), "{part}");
    }

    #[test]
    fn names_in_headers_are_plain() {
        assert_eq!(safe_name("bot.py", "x"), "bot.py");
        assert_eq!(safe_name("a\"; b\r\n.py", "x"), "ab.py");
        assert_eq!(safe_name("日本", "anna-1"), "anna-1");
        assert_eq!(safe_name("..", "anna-1"), "anna-1");
    }
}
