//! What has been built: once for each content, in a folder of the user's cache.
//!
//! An entry is a folder whose name is the hash of the sources, the recipe and the tools. It is made beside and renamed
//! into its place, so that several processes may build the same. Who uses an entry holds a shared lock on the file
//! beside it; only entries without a shared lock are removed.

use std::env;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use sha2::{Digest as _, Sha256};
use tempfile::TempDir;
use tokio::runtime;

use super::recipe::Recipe;
use super::{BuildError, check_tools, keep, made_program, run};
use referee_host::executable::find_in_path;
use referee_host::paths::bytes_within;
use referee_host::threads::locked;
use referee_match::record::atomic_file::sync_directory;
use referee_sandbox::Sandbox;
use referee_sandbox::snapshot::{BotFiles, FileSet};
use referee_text::hexadecimal;

/// What entries may take together. Those that were used longest ago go first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CacheLimits {
    pub bytes: u64,
    pub entries: usize,
}

impl Default for CacheLimits {
    fn default() -> Self {
        Self {
            bytes: 2 << 30,
            entries: 200,
        }
    }
}

/// What a cache holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CacheUse {
    pub folder: PathBuf,
    pub bytes: u64,
    pub entries: usize,
    pub limits: CacheLimits,
}

/// Work that is older was left by a process that was killed: a build takes two minutes at most.
const LEFT_BEHIND: Duration = Duration::from_hours(1);

/// A build that takes longer is announced.
const QUICK: Duration = Duration::from_secs(1);

/// Its folder and, for as long as this lives, the entries that it has given out.
#[derive(Debug)]
pub struct BuildCache {
    folder: PathBuf,
    limits: CacheLimits,
    in_use: Mutex<Vec<File>>,
}

impl BuildCache {
    /// The folder of the user's caches, as this system has it: `XDG_CACHE_HOME`, or a folder of the home.
    pub fn usual_folder() -> Option<PathBuf> {
        let set = |name: &str| {
            env::var_os(name)
                .filter(|value| !value.is_empty())
                .map(PathBuf::from)
        };
        let caches = if cfg!(windows) {
            set("LOCALAPPDATA")
        } else if cfg!(target_os = "macos") {
            set("HOME").map(|home| home.join("Library/Caches"))
        } else {
            set("XDG_CACHE_HOME")
                .filter(|path| path.is_absolute())
                .or_else(|| set("HOME").map(|home| home.join(".cache")))
        };
        Some(caches?.join("referee").join("builds"))
    }

    /// That folder, which is made where there is none.
    pub fn open() -> io::Result<Self> {
        let folder = Self::usual_folder().ok_or_else(|| io::Error::other("there is no home"))?;
        Self::open_in(folder, CacheLimits::default())
    }

    /// A cache in this folder, which is made where there is none.
    pub fn open_in(folder: PathBuf, limits: CacheLimits) -> io::Result<Self> {
        fs::create_dir_all(&folder)?;
        remove_left_behind(&folder);
        Ok(Self {
            folder,
            limits,
            in_use: Mutex::default(),
        })
    }

    /// What is in it now.
    pub fn usage(&self) -> CacheUse {
        let entries = self.entries();
        CacheUse {
            folder: self.folder.clone(),
            bytes: entries.iter().map(|entry| entry.bytes).sum(),
            entries: entries.len(),
            limits: self.limits,
        }
    }

    fn entry(&self, key: &str) -> PathBuf {
        self.folder.join(key)
    }

    /// The entry of this key, if there is one, which stays while this lives.
    fn find(&self, key: &str) -> io::Result<Option<PathBuf>> {
        let lock = OpenOptions::new()
            .create(true)
            .truncate(false)
            .write(true)
            .open(self.lock_of(key))?;
        lock.lock_shared()?;
        let entry = self.entry(key);
        if !entry.is_dir() {
            return Ok(None);
        }
        // For people and for the order in which entries are removed; a cache on a read-only disk has none.
        let _ = lock.set_modified(SystemTime::now());
        locked(&self.in_use).push(lock);
        Ok(Some(entry))
    }

    /// The folder in which `unpack` has put the files of an archive, now or before.
    pub fn unpacked<E: From<io::Error>>(
        &self,
        archive: &Path,
        unpack: impl FnOnce(&Path) -> Result<(), E>,
    ) -> Result<PathBuf, E> {
        let key = archive_key(archive)?;
        if let Some(entry) = self.find(&key)? {
            return Ok(entry);
        }
        let place = tempfile::Builder::new()
            .prefix(".unpacked-")
            .tempdir_in(&self.folder)?;
        unpack(place.path())?;
        Ok(self.add(&key, place)?)
    }

    fn lock_of(&self, key: &str) -> PathBuf {
        self.folder.join(format!("{key}.lock"))
    }

    /// Puts a folder into its place; another process may have done so before.
    fn add(&self, key: &str, made: TempDir) -> io::Result<PathBuf> {
        let entry = self.entry(key);
        let made = made.keep();
        if let Err(error) = fs::rename(&made, &entry) {
            let _ = fs::remove_dir_all(&made);
            if !entry.is_dir() {
                return Err(error);
            }
        }
        sync_directory(&self.folder)?;
        self.make_room();
        self.find(key)?
            .ok_or_else(|| io::ErrorKind::NotFound.into())
    }

    /// Removes the entries that were used longest ago, but none that is in use. What cannot be removed stays.
    fn make_room(&self) {
        let mut entries = self.entries();
        entries.sort_by_key(|entry| entry.used);
        let (mut bytes, mut count) = (
            entries.iter().map(|entry| entry.bytes).sum::<u64>(),
            entries.len(),
        );
        for entry in entries {
            if bytes <= self.limits.bytes && count <= self.limits.entries {
                break;
            }
            let lock = File::open(self.lock_of(&entry.key));
            if lock.is_ok_and(|lock| lock.try_lock().is_ok())
                && fs::remove_dir_all(self.entry(&entry.key)).is_ok()
            {
                bytes -= entry.bytes;
                count -= 1;
            }
        }
    }

    fn entries(&self) -> Vec<CacheEntry> {
        let Ok(inside) = fs::read_dir(&self.folder) else {
            return Vec::new();
        };
        let keys = inside.flatten().filter(|entry| entry.path().is_dir());
        let keys = keys.filter_map(|entry| entry.file_name().into_string().ok());
        let keys = keys.filter(|key| !key.starts_with('.'));
        keys.map(|key| CacheEntry {
            bytes: bytes_within(&self.entry(&key)),
            used: fs::metadata(self.lock_of(&key))
                .and_then(|meta| meta.modified())
                .unwrap_or(UNIX_EPOCH),
            key,
        })
        .collect()
    }
}

struct CacheEntry {
    key: String,
    bytes: u64,
    used: SystemTime,
}

/// What cannot be removed stays.
fn remove_left_behind(folder: &Path) {
    let inside = fs::read_dir(folder).into_iter().flatten().flatten();
    for entry in inside {
        let is_work = entry.file_name().as_encoded_bytes().starts_with(b".");
        let modified = entry.metadata().and_then(|meta| meta.modified());
        let age = modified.ok().and_then(|time| time.elapsed().ok());
        if is_work && age.is_some_and(|age| age > LEFT_BEHIND) {
            let _ = fs::remove_dir_all(entry.path());
        }
    }
}

/// Builds sources, or finds what was built of them before.
pub struct Builder<'a> {
    pub cache: &'a BuildCache,
    pub sandbox: Sandbox,
    /// Told what is being built when that takes longer than a second.
    pub announce: &'a dyn Fn(&str, &Recipe),
}

/// A bot that was built.
#[derive(Clone, Debug)]
pub struct Built {
    pub program: PathBuf,
    /// The folder of all files, where the program is in another one.
    pub directory: Option<PathBuf>,
    /// What it was built of.
    pub sources: FileSet,
}

impl Builder<'_> {
    /// `name` is what people call the bot, `files` are its sources.
    pub fn build(
        &self,
        name: &str,
        files: &BotFiles,
        recipe: &Recipe,
    ) -> Result<Built, BuildError> {
        check_tools(recipe)?;
        let copy = tempfile::Builder::new()
            .prefix(".sources-")
            .tempdir_in(&self.cache.folder)?;
        let snapshot = files.copy(copy.path()).map_err(|error| {
            if error.is_for_want_of_space {
                BuildError::Io(io::Error::other(error))
            } else {
                BuildError::Submission(format!("{}; {}", error.cause, error.fix))
            }
        })?;
        let sources = snapshot.files;
        let key = key(&sources, recipe);
        let entry = if let Some(entry) = self.cache.find(&key)? {
            entry
        } else {
            let output = self.run(name, copy.path(), recipe)?;
            let place = tempfile::Builder::new()
                .prefix(".built-")
                .tempdir_in(&self.cache.folder)?;
            keep(name, &output, copy.path(), place.path())?;
            self.cache.add(&key, place)?
        };
        let program = made_program(&entry)
            .map_err(|error| BuildError::Submission(format!("{}; {}", error.cause, error.fix)))?;
        Ok(Built {
            directory: (program.parent() != Some(&*entry)).then(|| entry.clone()),
            program,
            sources,
        })
    }

    /// On a thread of its own, so that it may be called where a runtime runs.
    fn run(&self, name: &str, folder: &Path, recipe: &Recipe) -> Result<Vec<u8>, BuildError> {
        let (done, waiting) = mpsc::channel();
        let sandbox = &self.sandbox;
        thread::scope(|scope| {
            scope.spawn(move || {
                let runtime = runtime::Builder::new_current_thread().enable_all().build();
                let output = match runtime {
                    Ok(runtime) => runtime.block_on(run(name, folder, sandbox, recipe)),
                    Err(error) => Err(BuildError::Io(error)),
                };
                // Who asked has gone only where it panicked.
                let _ = done.send(output);
            });
            match waiting.recv_timeout(QUICK) {
                Err(RecvTimeoutError::Timeout) => {
                    (self.announce)(name, recipe);
                    waiting
                        .recv()
                        .unwrap_or_else(|_| Err(BuildError::Io(io::ErrorKind::Other.into())))
                }
                Ok(output) => output,
                Err(RecvTimeoutError::Disconnected) => {
                    Err(BuildError::Io(io::ErrorKind::Other.into()))
                }
            }
        })
    }
}

/// The same for the same bytes.
fn archive_key(archive: &Path) -> io::Result<String> {
    let mut hash = Sha256::new();
    hash.update(env!("CARGO_PKG_VERSION"));
    hash.update("unpacked");
    let mut file = File::open(archive)?;
    let mut buffer = vec![0; 1 << 16];
    loop {
        let count = file.read(&mut buffer)?;
        if count == 0 {
            return Ok(hexadecimal(&hash.finalize())[..32].to_owned());
        }
        hash.update(&buffer[..count]);
    }
}

/// The same for the same sources, built in the same way by the same tools.
fn key(sources: &FileSet, recipe: &Recipe) -> String {
    let mut hash = Sha256::new();
    hash.update(env!("CARGO_PKG_VERSION"));
    hash.update(sources.list.hash.to_string());
    hash.update(recipe.script());
    for tool in &recipe.needs {
        // A tool that is installed anew has another time or size.
        let meta = find_in_path(tool).and_then(|path| fs::metadata(path).ok());
        let stamp = meta.map(|meta| (meta.len(), meta.modified().ok()));
        hash.update(format!("{tool} {stamp:?}"));
    }
    hexadecimal(&hash.finalize())[..32].to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cache(folder: &Path, bytes: u64, entries: usize) -> BuildCache {
        let limits = CacheLimits { bytes, entries };
        BuildCache::open_in(folder.to_owned(), limits).expect("a cache")
    }

    /// Adds an entry of so many bytes that was used at this second, and returns its folder.
    fn add(cache: &BuildCache, key: &str, bytes: usize, used: u64) -> PathBuf {
        let place = tempfile::tempdir_in(&cache.folder).expect("a folder");
        fs::write(place.path().join("bot"), vec![0; bytes]).expect("a file");
        let entry = cache.add(key, place).expect("an entry");
        let lock = OpenOptions::new().write(true).open(cache.lock_of(key));
        let time = UNIX_EPOCH + Duration::from_secs(used);
        lock.and_then(|lock| lock.set_modified(time))
            .expect("a time");
        entry
    }

    /// As another process that has ended.
    fn forget(cache: &BuildCache) {
        locked(&cache.in_use).clear();
    }

    #[test]
    fn what_was_used_longest_ago_makes_room() {
        let folder = tempfile::tempdir().expect("a folder");
        let cache = cache(folder.path(), 1_000, 3);
        let there = || {
            let mut keys: Vec<String> = cache.entries().into_iter().map(|one| one.key).collect();
            keys.sort();
            keys.concat()
        };
        for (key, used) in [("a", 2), ("b", 1), ("c", 3)] {
            add(&cache, key, 10, used);
        }
        forget(&cache);
        add(&cache, "d", 10, 4);
        assert_eq!(there(), "acd", "one too many");
        forget(&cache);
        add(&cache, "e", 985, 5);
        assert_eq!(there(), "de", "too large together");
        let usage = cache.usage();
        assert_eq!((usage.entries, usage.bytes), (2, 995));
    }

    #[test]
    fn what_another_process_uses_stays() {
        let folder = tempfile::tempdir().expect("a folder");
        let [mine, other] = [(); 2].map(|()| cache(folder.path(), 1_000, 1));
        let used = add(&other, "a", 10, 1);
        let new = add(&mine, "b", 10, 2);
        assert!(used.is_dir() && new.is_dir());
        forget(&other);
        forget(&mine);
        let newest = add(&mine, "c", 10, 3);
        assert!(!used.is_dir() && !new.is_dir() && newest.is_dir());
    }

    #[test]
    fn several_at_once_make_one_entry() {
        let folder = tempfile::tempdir().expect("a folder");
        let added: Vec<PathBuf> = thread::scope(|scope| {
            let adding = || {
                let cache = cache(folder.path(), 1_000, 5);
                let entry = add(&cache, "same", 10, 1);
                assert_eq!(fs::read(entry.join("bot")).expect("the file").len(), 10);
                entry
            };
            let threads: Vec<_> = (0..8).map(|_| scope.spawn(adding)).collect();
            threads
                .into_iter()
                .map(|one| one.join().expect("an entry"))
                .collect()
        });
        assert!(
            added
                .iter()
                .all(|entry| *entry == folder.path().join("same"))
        );
        assert_eq!(cache(folder.path(), 1_000, 5).usage().entries, 1);
    }

    #[cfg(unix)]
    #[test]
    fn work_of_a_killed_process_is_removed_later() {
        let folder = tempfile::tempdir().expect("a folder");
        let [old, new] = [".built-old", ".sources-new"].map(|name| folder.path().join(name));
        for place in [&old, &new] {
            fs::create_dir(place).expect("a folder");
        }
        let before = SystemTime::now() - LEFT_BEHIND - Duration::from_mins(1);
        let changed = File::open(&old).and_then(|place| place.set_modified(before));
        changed.expect("a time");
        let cache = cache(folder.path(), 1_000, 5);
        assert!(!old.is_dir() && new.is_dir());
        assert_eq!(cache.usage().entries, 0);
    }

    #[test]
    fn an_archive_is_unpacked_once_for_each_content() {
        let folder = tempfile::tempdir().expect("a folder");
        let cache = cache(&folder.path().join("cache"), 1_000, 5);
        let archive = folder.path().join("a.zip");
        let unpacked = |text: &str, times: &mut u8| {
            fs::write(&archive, text).expect("a file");
            cache.unpacked(&archive, |place| {
                *times += 1;
                fs::write(place.join("bot"), text)
            })
        };
        let mut times = 0;
        let first = unpacked("one", &mut times).expect("a folder");
        let again = unpacked("one", &mut times).expect("a folder");
        let other = unpacked("two", &mut times).expect("a folder");
        assert_eq!((times, &first), (2, &again));
        assert_ne!(first, other);
        let refused = cache.unpacked(folder.path(), |_| Ok::<(), io::Error>(()));
        assert!(refused.is_err());
    }
}
