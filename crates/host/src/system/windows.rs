//! Windows.
#![expect(unsafe_code, reason = "each block says why it is sound")]

use std::borrow::Cow;
use std::env;
use std::ffi::{OsStr, OsString};
use std::fs::{self, File, Metadata, OpenOptions};
use std::io;
use std::num::NonZeroI32;
use std::os::windows::fs::OpenOptionsExt as _;
use std::os::windows::io::AsRawHandle as _;
use std::path::{Path, PathBuf};
use std::ptr::{null, null_mut};

pub use std::os::windows::fs::symlink_file as symlink;
pub use std::os::windows::io::AsHandle as AsStream;

use windows_sys::Win32::Foundation::{
    ERROR_COMMITMENT_LIMIT, ERROR_DISK_FULL, ERROR_NO_SYSTEM_RESOURCES, ERROR_NOT_ENOUGH_MEMORY,
    ERROR_OUTOFMEMORY, ERROR_SHARING_BUFFER_EXCEEDED, ERROR_TOO_MANY_OPEN_FILES,
};
use windows_sys::Win32::Storage::FileSystem::{
    FILE_FLAG_OPEN_REPARSE_POINT, MAXIMUM_REPARSE_DATA_BUFFER_SIZE,
};
use windows_sys::Win32::System::Console::{CONSOLE_MODE, GetConsoleMode, SetConsoleMode};
use windows_sys::Win32::System::IO::DeviceIoControl;
use windows_sys::Win32::System::Ioctl::FSCTL_GET_REPARSE_POINT;

use super::{EntryKind, Shortage};

/// Extensions of programs where `PATHEXT` is not set.
const PROGRAMS: &str = ".COM;.EXE;.BAT;.CMD";

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Pid(NonZeroI32);

impl Pid {
    pub fn from_raw(id: i32) -> Option<Self> {
        NonZeroI32::new(id).map(Self)
    }

    pub const fn as_raw_pid(self) -> i32 {
        self.0.get()
    }
}

pub const fn is_child(_: Pid) -> bool {
    false
}

pub const fn is_stopped(_: Pid) -> bool {
    false
}

pub const fn is_own(_: &Metadata) -> bool {
    true
}

pub fn forced_end(pid: Pid) -> String {
    format!("taskkill /F /T /PID {}", pid.as_raw_pid())
}

pub const fn is_root() -> bool {
    false
}

/// Whether a file is a program, by its extension. An empty one only if it stands for another.
pub fn is_executable(path: &Path, meta: &Metadata) -> bool {
    let ending = path.extension().and_then(|ending| ending.to_str());
    meta.is_file()
        && ending.is_some_and(|ending| program_endings().any(|known| known == ending))
        && (meta.len() > 0 || stands_for_program(path))
}

/// Whether an empty file stands for an installed Store program. There is one for a Python that is
/// not installed, which only opens the Store.
fn stands_for_program(path: &Path) -> bool {
    let mut options = OpenOptions::new();
    options.access_mode(0);
    open_no_link(&mut options);
    let Ok(file) = options.open(path) else {
        return false;
    };
    let mut data = vec![0_u8; MAXIMUM_REPARSE_DATA_BUFFER_SIZE as usize];
    let mut length = 0;
    // SAFETY: the handle is the file's; the pointers lead to the data, whose size is given, and to
    // the variable for its length; the call is synchronous.
    let done = unsafe {
        DeviceIoControl(
            file.as_raw_handle(),
            FSCTL_GET_REPARSE_POINT,
            null(),
            0,
            data.as_mut_ptr().cast(),
            MAXIMUM_REPARSE_DATA_BUFFER_SIZE,
            &raw mut length,
            null_mut(),
        )
    };
    done != 0 && !opens_store(&data[..length as usize])
}

fn opens_store(data: &[u8]) -> bool {
    let name: Vec<u8> = "AppInstallerPythonRedirector.exe"
        .encode_utf16()
        .flat_map(u16::to_le_bytes)
        .collect();
    data.windows(name.len()).any(|part| part == name)
}

/// The word that starts `found`, the first of its name in `PATH`: its path where the system would
/// take another file, since it looks for `.exe` only.
pub fn command_word(command: &str, found: &Path) -> String {
    let path = env::var_os("PATH").unwrap_or_default();
    let file = match Path::new(command).extension() {
        Some(_) => command.to_owned(),
        None => format!("{command}.exe"),
    };
    let taken = env::split_paths(&path)
        .map(|directory| directory.join(&file))
        .find(|file| file.symlink_metadata().is_ok());
    let is_taken = taken.is_some_and(|taken| {
        let [taken, found] = [&*taken, found].map(|path| path.as_os_str().to_ascii_lowercase());
        taken == found
    });
    if is_taken {
        command.to_owned()
    } else {
        found.to_string_lossy().into_owned()
    }
}

/// Extensions of programs, without the dot, in both cases.
fn program_endings() -> impl Iterator<Item = String> {
    let endings = env::var("PATHEXT").unwrap_or_default();
    let endings = if endings.is_empty() {
        PROGRAMS
    } else {
        &endings
    };
    let endings = endings.to_ascii_uppercase();
    // Only these can be started without the shell.
    let is_known = |ending: &&str| PROGRAMS.split(';').any(|known| known == *ending);
    let known: Vec<String> = endings
        .split(';')
        .filter(is_known)
        .filter_map(|ending| ending.strip_prefix('.').map(str::to_owned))
        .collect();
    known
        .into_iter()
        .flat_map(|ending| [ending.to_ascii_lowercase(), ending])
}

/// The fix for a file that is not a program.
pub fn make_executable(_: &str) -> String {
    "give it the extension of its language or, if it is a program, .exe".to_owned()
}

pub fn command_files(directory: &Path, command: &str) -> Vec<PathBuf> {
    let plain = directory.join(command);
    let with = |ending: String| directory.join(format!("{command}.{ending}"));
    std::iter::once(plain)
        .chain(program_endings().map(with))
        .collect()
}

pub fn is_path(word: &str) -> bool {
    word.contains(['/', '\\']) || word.get(1..2) == Some(":")
}

/// Splits a command line as a POSIX shell does, except that backslashes are part of paths.
pub fn split_command(line: &str) -> Result<Vec<String>, shell_words::ParseError> {
    shell_words::split(&line.replace('\\', "\\\\"))
}

/// The names under which an interpreter may be installed, the best first. `python3` may only open
/// the Store.
pub fn names_of_command(command: &str) -> Vec<&str> {
    match command {
        "python3" => vec!["py", "python", "python3"],
        other => vec![other],
    }
}

/// New files have the permissions of their directory.
pub const fn open_to_all(_: &mut tempfile::Builder<'_, '_>) {}

/// Makes a finished file read-only.
pub fn protect(file: &File, _: bool) -> io::Result<()> {
    let mut permissions = file.metadata()?.permissions();
    permissions.set_readonly(true);
    file.set_permissions(permissions)
}

pub fn create_directory(path: &Path) -> io::Result<()> {
    fs::create_dir(path)
}

pub fn slashed(path: &Path) -> Cow<'_, [u8]> {
    let bytes = path.as_os_str().as_encoded_bytes().iter();
    let slashed = |&byte| if byte == b'\\' { b'/' } else { byte };
    bytes.map(slashed).collect::<Vec<u8>>().into()
}

/// The extension says whether a file can be run.
pub const fn create_executable(_: &mut OpenOptions, _: bool) {}

#[derive(Debug)]
pub struct OpenDirectory(PathBuf);

impl OpenDirectory {
    pub fn at(path: &Path) -> io::Result<Self> {
        fs::read_dir(path).map(|_| Self(path.to_owned()))
    }

    pub fn directory(&self, name: &OsStr) -> io::Result<Self> {
        Self::at(&self.0.join(name))
    }

    /// A file in it, or a link itself, which is then not a regular file.
    pub fn file(&self, name: &OsStr) -> io::Result<File> {
        let mut options = OpenOptions::new();
        options.read(true);
        open_no_link(&mut options);
        options.open(self.0.join(name))
    }

    pub fn link(&self, name: &OsStr) -> io::Result<PathBuf> {
        fs::read_link(self.0.join(name))
    }

    pub fn entries(&self) -> io::Result<Vec<(OsString, EntryKind)>> {
        let entry = |entry: io::Result<fs::DirEntry>| {
            let entry = entry?;
            let kind = match entry.file_type()? {
                kind if kind.is_dir() => EntryKind::Directory,
                kind if kind.is_symlink() => EntryKind::Link,
                kind if kind.is_file() => EntryKind::File,
                _ => EntryKind::Other,
            };
            Ok((entry.file_name(), kind))
        };
        fs::read_dir(&self.0)?.map(entry).collect()
    }
}

fn open_no_link(options: &mut OpenOptions) {
    options.custom_flags(FILE_FLAG_OPEN_REPARSE_POINT);
}

/// The file system does this itself; checks only that the directory exists.
pub fn sync_directory(directory: &Path) -> io::Result<()> {
    fs::metadata(directory).map(|_| ())
}

pub const fn most_open_files() -> Option<u64> {
    None
}

pub fn host_name() -> String {
    env::var("COMPUTERNAME").unwrap_or_else(|_| "unknown".to_owned())
}

/// The mode of the console at standard input, to be restored.
#[derive(Debug)]
pub struct TerminalMode(CONSOLE_MODE);

impl TerminalMode {
    /// `None` when there is no console.
    pub fn current() -> Option<Self> {
        let mut mode = 0;
        // SAFETY: the handle is standard input's, and the result goes to this variable.
        let done = unsafe { GetConsoleMode(io::stdin().as_raw_handle(), &raw mut mode) };
        (done != 0).then_some(Self(mode))
    }

    pub fn restore(&self) {
        // There may be no console any more. SAFETY: the handle is standard input's.
        let _ = unsafe { SetConsoleMode(io::stdin().as_raw_handle(), self.0) };
    }
}

pub(super) const SHORTAGES: &[(Shortage, i32)] = &[
    (Shortage::Processes, ERROR_NO_SYSTEM_RESOURCES.cast_signed()),
    (Shortage::Memory, ERROR_NOT_ENOUGH_MEMORY.cast_signed()),
    (Shortage::Memory, ERROR_COMMITMENT_LIMIT.cast_signed()),
    (Shortage::Memory, ERROR_OUTOFMEMORY.cast_signed()),
    (Shortage::OwnFiles, ERROR_TOO_MANY_OPEN_FILES.cast_signed()),
    (Shortage::Files, ERROR_SHARING_BUFFER_EXCEEDED.cast_signed()),
    (Shortage::Space, ERROR_DISK_FULL.cast_signed()),
];

/// Not known without a further library.
pub const fn kernel_release() -> String {
    String::new()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_opens_the_store_is_no_python() {
        let data = |target: &str| -> Vec<u8> {
            let text = format!("\u{3}Package\0Package!App\0C:\\WindowsApps\\{target}\0");
            text.encode_utf16().flat_map(u16::to_le_bytes).collect()
        };
        assert!(opens_store(&data("AppInstallerPythonRedirector.exe")));
        assert!(!opens_store(&data("python3.12.exe")));
        assert!(!opens_store(&[]));
    }
}
