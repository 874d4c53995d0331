//! Receives the files of a submission: streamed to the disk, within limits, and synced.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::{self, Write as _};
use std::mem;
use std::path::{Path, PathBuf};

use axum::extract::multipart::{Field, Multipart, MultipartError};
use tempfile::TempDir;
use tokio::task::{JoinError, spawn_blocking};

use super::ledger::FILES;
use super::limits;
use referee_class::league::intake::place_of_upload;
use referee_match::record::atomic_file::sync_directory;
use referee_text::{escape, is_full};

/// Of a file that is received, in memory until they are written together.
const WRITE_BYTES: usize = 64 << 10;

/// Why an upload is not taken.
#[derive(Debug, thiserror::Error)]
pub(super) enum UploadError {
    #[error("an upload may have {} MB; leave out what can be made again", limits::UPLOAD_BYTES >> 20)]
    TooLarge,
    #[error("a pasted program may have {} KB; send it as a file", limits::TEXT_BYTES >> 10)]
    LongText,
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

/// The fields `files`, or `text` with `name`; others are left out.
pub(super) async fn receive(form: Multipart, incoming: &Path) -> Result<Upload, UploadError> {
    let staged = tempfile::tempdir_in(incoming)?;
    let files = staged.path().join(FILES);
    fs::create_dir(&files)?;
    let mut receiver = Receiver {
        writer: Writer::to(files),
        unwritten: Vec::new(),
        bytes: 0,
        names: Vec::new(),
    };
    receiver.form(form).await?;
    Ok(Upload {
        staged,
        bytes: receiver.bytes,
        names: receiver.names,
    })
}

/// Holds no thread and no open file between two parts, so that slow clients, however many, keep none from the others.
struct Receiver {
    writer: Writer,
    /// Of the file that is received.
    unwritten: Vec<u8>,
    bytes: u64,
    names: Vec<String>,
}

impl Receiver {
    async fn form(&mut self, mut form: Multipart) -> Result<(), UploadError> {
        let (mut text, mut name) = (None, None);
        while let Some(field) = form.next_field().await? {
            match field.name() {
                Some("files") => self.file(field).await?,
                Some("text") => {
                    text = Some(short(field, limits::TEXT_BYTES, UploadError::LongText).await?);
                }
                Some("name") => {
                    name = Some(short(field, limits::FORM_BYTES, UploadError::TooLarge).await?);
                }
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
            let text = String::from_utf8_lossy(&text).replace("\r\n", "\n");
            self.receive(text.as_bytes()).await?;
            self.finish().await?;
        }
        if self.names.is_empty() {
            return Err(UploadError::Nothing);
        }
        self.written(Writer::sync_folders).await
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
            self.receive(&bytes).await?;
        }
        if is_begun {
            self.finish().await?;
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
        self.written(move |writer| writer.create(&place)).await
    }

    async fn receive(&mut self, bytes: &[u8]) -> Result<(), UploadError> {
        self.bytes += bytes.len() as u64;
        if self.bytes > limits::UPLOAD_BYTES as u64 {
            return Err(UploadError::TooLarge);
        }
        self.unwritten.extend_from_slice(bytes);
        if self.unwritten.len() < WRITE_BYTES {
            return Ok(());
        }
        let bytes = mem::take(&mut self.unwritten);
        self.written(move |writer| Ok(writer.append(&bytes).map(drop)?))
            .await
    }

    /// The file is whole.
    async fn finish(&mut self) -> Result<(), UploadError> {
        let bytes = mem::take(&mut self.unwritten);
        self.written(move |writer| Ok(writer.append(&bytes)?.sync_all()?))
            .await
    }

    /// A step on another thread, for which the disk may take long.
    async fn written(
        &mut self,
        step: impl FnOnce(&mut Writer) -> Result<(), UploadError> + Send + 'static,
    ) -> Result<(), UploadError> {
        let mut writer = mem::take(&mut self.writer);
        let working = spawn_blocking(move || {
            let done = step(&mut writer);
            (writer, done)
        });
        let (writer, done) = working.await?;
        self.writer = writer;
        done
    }
}

/// The content of a field of text, which may have so many bytes.
async fn short(
    mut field: Field<'_>,
    most: usize,
    too_long: UploadError,
) -> Result<Vec<u8>, UploadError> {
    let mut content = Vec::new();
    while let Some(bytes) = field.chunk().await? {
        if content.len() + bytes.len() > most {
            return Err(too_long);
        }
        content.extend_from_slice(&bytes);
    }
    Ok(content)
}

fn short_name(name: &str) -> String {
    referee_text::cut(&escape(name.as_bytes()), limits::NAME_CHARS)
}

/// Files that are open only while they are written to.
#[derive(Default)]
struct Writer {
    /// The folder of all.
    files: PathBuf,
    /// The latest one.
    file: PathBuf,
    folders: BTreeSet<PathBuf>,
}

impl Writer {
    fn to(files: PathBuf) -> Self {
        Self {
            folders: BTreeSet::from([files.clone()]),
            files,
            ..Self::default()
        }
    }

    fn create(&mut self, place: &Path) -> Result<(), UploadError> {
        let path = self.files.join(place);
        let created = || -> io::Result<File> {
            fs::create_dir_all(path.parent().unwrap_or(&self.files))?;
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
        })?;
        let folders = place.ancestors().skip(1);
        self.folders
            .extend(folders.map(|folder| self.files.join(folder)));
        self.file = path;
        Ok(())
    }

    fn append(&self, bytes: &[u8]) -> io::Result<File> {
        let mut file = File::options().append(true).open(&self.file)?;
        file.write_all(bytes)?;
        Ok(file)
    }

    fn sync_folders(&mut self) -> Result<(), UploadError> {
        for folder in self.folders.iter().rev() {
            sync_directory(folder)?;
        }
        Ok(())
    }
}
