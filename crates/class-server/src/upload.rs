//! Receives the files of a submission: streamed to the disk, within limits, and synced.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use axum::body::Bytes;
use axum::extract::multipart::{Field, Multipart, MultipartError};
use tempfile::TempDir;
use tokio::sync::mpsc;
use tokio::task::{JoinError, spawn_blocking};

use super::ledger::FILES;
use super::limits;
use referee_class::league::intake::place_of_upload;
use referee_match::record::atomic_file::sync_directory;
use referee_text::{escape, is_full};

/// Why an upload is not taken.
#[derive(Debug, thiserror::Error)]
pub(super) enum UploadError {
    #[error("an upload may have {} MB; leave out what can be made again", limits::UPLOAD_BYTES >> 20)]
    TooLarge,
    #[error(
        "an upload may have {} files; leave out what can be made again",
        limits::FILES
    )]
    TooManyFiles,
    #[error("`{name}` is not a name for a file: {why}; rename it")]
    Name { name: String, why: &'static str },
    #[error("there are no files in it; choose a file first, or paste the program")]
    Nothing,
    #[error(
        "the upload was cut off, or is not a form with files (multipart/form-data): {0}; send it again"
    )]
    Broken(String),
    #[error("there is no space left on the server; tell your teacher, and try again later")]
    Full,
    #[error("the upload could not be kept: {}; try again", referee_text::cause(.0))]
    Io(io::Error),
}

impl From<io::Error> for UploadError {
    fn from(error: io::Error) -> Self {
        match error.kind() {
            _ if is_full(&error) => Self::Full,
            _ => Self::Io(error),
        }
    }
}

impl From<JoinError> for UploadError {
    fn from(error: JoinError) -> Self {
        Self::Io(io::Error::other(error))
    }
}

impl From<MultipartError> for UploadError {
    fn from(error: MultipartError) -> Self {
        if error.status() == axum::http::StatusCode::PAYLOAD_TOO_LARGE {
            return Self::TooLarge;
        }
        Self::Broken(error.body_text())
    }
}

/// On the disk, in a folder that is deleted unless it is kept.
pub(super) struct Upload {
    pub(super) staged: TempDir,
    pub(super) bytes: u64,
    pub(super) names: Vec<String>,
}

enum Step {
    /// In the folder of the files.
    File(PathBuf),
    Bytes(Bytes),
}

/// The fields `files`, or `text` with `name`; others are left out.
pub(super) async fn receive(form: Multipart, incoming: &Path) -> Result<Upload, UploadError> {
    let staged = tempfile::tempdir_in(incoming)?;
    let files = staged.path().join(FILES);
    fs::create_dir(&files)?;
    let (steps, received) = mpsc::channel(4);
    let writing = spawn_blocking(move || write(&files, received));
    let sent = Sender {
        steps,
        bytes: 0,
        names: Vec::new(),
    };
    let sent = sent.form(form).await;
    let written = writing.await?;
    // What could not be written is the cause, where the rest was not taken.
    written?;
    let sent = sent?;
    Ok(Upload {
        staged,
        bytes: sent.bytes,
        names: sent.names,
    })
}

/// Sends what comes to the thread that writes it.
struct Sender {
    steps: mpsc::Sender<Step>,
    bytes: u64,
    names: Vec<String>,
}

struct Received {
    bytes: u64,
    names: Vec<String>,
}

impl Sender {
    async fn form(mut self, mut form: Multipart) -> Result<Received, UploadError> {
        let (mut text, mut name) = (None, None);
        while let Some(field) = form.next_field().await? {
            match field.name() {
                Some("files") => self.file(field).await?,
                Some("text") => text = Some(short(field, limits::TEXT_BYTES).await?),
                Some("name") => name = Some(short(field, limits::FORM_BYTES).await?),
                _ => {}
            }
        }
        let text = text.filter(|text| !text.trim_ascii().is_empty());
        if let Some(text) = text {
            let name = name.unwrap_or_default();
            let name = String::from_utf8_lossy(&name).trim().to_owned();
            self.begin(if name.is_empty() { "bot.py" } else { &name })
                .await?;
            // Browsers send lines of a form with CR.
            let text: Vec<u8> = String::from_utf8_lossy(&text).replace("\r\n", "\n").into();
            self.send(text.into()).await?;
        }
        if self.names.is_empty() {
            return Err(UploadError::Nothing);
        }
        Ok(Received {
            bytes: self.bytes,
            names: self.names,
        })
    }

    async fn file(&mut self, mut field: Field<'_>) -> Result<(), UploadError> {
        let name = field.file_name().unwrap_or_default().to_owned();
        let mut is_begun = !name.is_empty();
        if is_begun {
            self.begin(&name).await?;
        }
        while let Some(bytes) = field.chunk().await? {
            if !is_begun && !bytes.is_empty() {
                self.begin("bot").await?;
                is_begun = true;
            }
            self.send(bytes).await?;
        }
        Ok(())
    }

    async fn begin(&mut self, name: &str) -> Result<(), UploadError> {
        let place = place_of_upload(name).map_err(|why| UploadError::Name {
            name: short_name(name),
            why,
        })?;
        if self.names.len() >= limits::FILES {
            return Err(UploadError::TooManyFiles);
        }
        self.names.push(name.to_owned());
        self.step(Step::File(place)).await
    }

    async fn send(&mut self, bytes: Bytes) -> Result<(), UploadError> {
        self.bytes += bytes.len() as u64;
        if self.bytes > limits::UPLOAD_BYTES as u64 {
            return Err(UploadError::TooLarge);
        }
        self.step(Step::Bytes(bytes)).await
    }

    async fn step(&self, step: Step) -> Result<(), UploadError> {
        let stopped = |_| UploadError::Io(io::Error::other("writing has ended"));
        self.steps.send(step).await.map_err(stopped)
    }
}

/// The content of a field of text.
async fn short(mut field: Field<'_>, most: usize) -> Result<Vec<u8>, UploadError> {
    let mut content = Vec::new();
    while let Some(bytes) = field.chunk().await? {
        if content.len() + bytes.len() > most {
            return Err(UploadError::TooLarge);
        }
        content.extend_from_slice(&bytes);
    }
    Ok(content)
}

fn short_name(name: &str) -> String {
    referee_text::cut(&escape(name.as_bytes()), limits::NAME_CHARS)
}

fn write(files: &Path, mut steps: mpsc::Receiver<Step>) -> Result<(), UploadError> {
    let mut file: Option<File> = None;
    let mut folders = BTreeSet::from([files.to_owned()]);
    while let Some(step) = steps.blocking_recv() {
        match step {
            Step::Bytes(bytes) => {
                if let Some(file) = &mut file {
                    file.write_all(&bytes)?;
                }
            }
            Step::File(place) => {
                finish(file.take())?;
                file = Some(create(files, &place)?);
                folders.extend(place.ancestors().skip(1).map(|folder| files.join(folder)));
            }
        }
    }
    finish(file)?;
    for folder in folders.iter().rev() {
        sync_directory(folder)?;
    }
    Ok(())
}

fn create(files: &Path, place: &Path) -> Result<File, UploadError> {
    let path = files.join(place);
    let created = || -> io::Result<File> {
        fs::create_dir_all(path.parent().unwrap_or(files))?;
        File::create_new(&path)
    };
    let named = |why| UploadError::Name {
        name: short_name(&place.to_string_lossy()),
        why,
    };
    created().map_err(|error| match error.kind() {
        io::ErrorKind::AlreadyExists => named("there are two of this name"),
        io::ErrorKind::NotADirectory | io::ErrorKind::IsADirectory => {
            named("a file is in the place of its folder")
        }
        io::ErrorKind::InvalidFilename => named("it is too long"),
        _ => error.into(),
    })
}

fn finish(file: Option<File>) -> Result<(), UploadError> {
    match file {
        Some(file) => Ok(file.sync_all()?),
        None => Ok(()),
    }
}
