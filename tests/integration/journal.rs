//! The journal loses no acknowledged line, glues no two lines together, and says what is wrong.

use std::fs::{self, File};
use std::io;
use std::path::Path;
use std::sync::{Arc, Mutex, mpsc};
use std::thread;
use std::time::{Duration, Instant};

use crate::common::hangs::HANGS;
use referee::record::journal::{Journal, OpenError, SYNC_INTERVAL, Storage, Writer};
use referee::record::reader::{LineError, Reader};
use referee::record::{BotEntry, BotIndex, Record, ResultEntry, VERSION};
use serde_json::Map;

fn record(number: usize) -> Record {
    let bot = |name: &str| BotEntry {
        name: name.to_owned(),
        command: vec![name.to_owned()],
        changed: None,
        more: Map::new(),
    };
    Record {
        v: VERSION,
        game: "quarto".to_owned(),
        rules: "standard".to_owned(),
        id: format!("7-{number}"),
        bots: [bot("a"), bot("b")],
        first: BotIndex::ALL[number % 2],
        seed: 7,
        start: "................".to_owned(),
        pieces: None,
        turns: Vec::new(),
        movers: None,
        times_ms: Vec::new(),
        charged_ms: Vec::new(),
        info: Vec::new(),
        result: ResultEntry::default(),
        started: "2026-01-31T10:00:00Z".to_owned(),
        usage: None,
        processes: None,
        delayed: None,
        voids: 0,
        tie_break: false,
        game_changed: None,
        more: Map::new(),
    }
}

fn line(number: usize) -> String {
    format!("{}\n", record(number).to_line().unwrap())
}

/// The records of the complete lines, up to the first that holds none.
fn records(path: &Path) -> Result<Vec<Record>, LineError> {
    let mut reader = Reader::open(path).unwrap();
    let mut records = Vec::new();
    while let Some(line) = reader.next_complete_line().unwrap() {
        records.push(line.record()?);
    }
    Ok(records)
}

fn ids(path: &Path) -> Vec<String> {
    let records = records(path).unwrap();
    records.into_iter().map(|record| record.id).collect()
}

#[test]
fn a_journal_cut_at_any_byte_keeps_every_complete_line() {
    let place = tempfile::tempdir().unwrap();
    let whole: String = (0..2).map(line).collect();
    for length in 0..=whole.len() {
        let path = place.path().join(format!("{length}.jsonl"));
        fs::write(&path, &whole.as_bytes()[..length]).unwrap();
        let complete = whole[..length].matches('\n').count();

        let (mut journal, cut) = Journal::open(&path).unwrap();
        journal.append(&line(9)).unwrap();
        drop(journal);

        let mut expected: Vec<String> = (0..complete).map(|n| format!("7-{n}")).collect();
        expected.push("7-9".to_owned());
        assert_eq!(ids(&path), expected, "cut at {length}");

        let torn = length - whole[..length].rfind('\n').map_or(0, |newline| newline + 1);
        assert_eq!(cut.as_ref().map_or(0, |cut| cut.bytes), torn as u64);
        assert_eq!(cut.is_some(), torn > 0);
        if let Some(cut) = cut {
            let kept = fs::read(cut.kept_in).unwrap();
            assert_eq!(kept[..torn], whole.as_bytes()[length - torn..length]);
        }
    }
}

#[test]
fn an_incomplete_last_line_is_passed_over_by_readers() {
    let place = tempfile::tempdir().unwrap();
    let path = place.path().join("games.jsonl");
    fs::write(&path, format!("{}{}", line(0), &line(1)[..20])).unwrap();
    assert_eq!(ids(&path), ["7-0"]);
}

#[test]
fn a_damaged_line_in_the_middle_is_named() {
    let place = tempfile::tempdir().unwrap();
    let path = place.path().join("games.jsonl");
    let damaged = line(1)
        .replace("quarto", "qua\u{0}rto")
        .replace("\"v\":1", "\"v\":");
    fs::write(&path, format!("{}{damaged}{}", line(0), line(2))).unwrap();
    let error = records(&path).unwrap_err();
    assert!(error.line == 2 && !error.is_torn(), "{error}");
    assert!(error.to_string().contains("games.jsonl:2: "), "{error}");
}

#[test]
fn a_lock_keeps_two_writers_apart() {
    let place = tempfile::tempdir().unwrap();
    let path = place.path().join("games.jsonl");
    let (first, _) = Journal::open(&path).unwrap();
    let error = Journal::open(&path).unwrap_err();
    assert!(matches!(error, OpenError::Locked { .. }), "{error}");
    drop(first);
    // Other tests run beside this one: a program that one of them is just starting has copies of
    // all descriptors of this process, the lock among them, until it runs.
    let until = Instant::now() + HANGS;
    while let Err(error) = Journal::open(&path) {
        let is_locked = matches!(error, OpenError::Locked { .. });
        assert!(is_locked && Instant::now() < until, "{error}");
        thread::sleep(Duration::from_millis(1));
    }
}

/// What a disk with faults holds: what was written, and how much of it is safe.
#[derive(Default)]
struct Disk {
    bytes: Vec<u8>,
    synced: usize,
    syncs: usize,
    appends: usize,
}

/// A storage whose `fail_append`-th write stops halfway, or whose `fail_sync`-th sync fails.
struct Faulty {
    disk: Arc<Mutex<Disk>>,
    fail_append: Option<usize>,
    fail_sync: Option<usize>,
    /// Nor can what was written halfway be cut off.
    no_cut: bool,
}

impl Storage for Faulty {
    fn append(&mut self, bytes: &[u8]) -> io::Result<()> {
        let mut disk = self.disk.lock().unwrap();
        disk.appends += 1;
        if self.fail_append == Some(disk.appends) {
            disk.bytes.extend_from_slice(&bytes[..bytes.len() / 2]);
            return Err(io::ErrorKind::StorageFull.into());
        }
        disk.bytes.extend_from_slice(bytes);
        Ok(())
    }

    fn sync(&mut self) -> io::Result<()> {
        let mut disk = self.disk.lock().unwrap();
        disk.syncs += 1;
        if self.fail_sync == Some(disk.syncs) {
            return Err(io::Error::other("the disk is gone"));
        }
        disk.synced = disk.bytes.len();
        Ok(())
    }

    fn truncate(&mut self, length: u64) -> io::Result<()> {
        if self.no_cut {
            return Err(io::Error::other("nor can it be cut"));
        }
        let length = usize::try_from(length).unwrap();
        self.disk.lock().unwrap().bytes.truncate(length);
        Ok(())
    }
}

/// Writes ten lines to a faulty disk; gives the disk and which lines were acknowledged.
fn ten(fail_append: Option<usize>, fail_sync: Option<usize>, no_cut: bool) -> (Disk, Vec<bool>) {
    let disk = Arc::new(Mutex::new(Disk::default()));
    let storage = Faulty {
        disk: Arc::clone(&disk),
        fail_append,
        fail_sync,
        no_cut,
    };
    let writer = Writer::start(Journal::over(storage, 0), SYNC_INTERVAL).expect("a thread");
    let told = Arc::new(Mutex::new(vec![None; 10]));
    for number in 0..10 {
        let told = Arc::clone(&told);
        writer.write(line(number), move |written| {
            told.lock().unwrap()[number] = Some(written.is_ok());
        });
    }
    drop(writer.finish().unwrap());
    let told = told
        .lock()
        .unwrap()
        .iter()
        .map(|told| told.unwrap())
        .collect();
    let disk = Arc::try_unwrap(disk).ok().unwrap().into_inner().unwrap();
    (disk, told)
}

#[test]
fn every_line_is_synced_before_it_is_acknowledged() {
    let (disk, told) = ten(None, None, false);
    assert!(told.iter().all(|&ok| ok));
    assert_eq!(disk.synced, disk.bytes.len());
    assert_eq!(disk.appends, 10);
    assert!((1..=10).contains(&disk.syncs), "{} syncs", disk.syncs);
}

#[test]
fn a_full_disk_loses_no_acknowledged_line_and_glues_nothing() {
    for fail in 1..=10 {
        for no_cut in [false, true] {
            let (disk, told) = ten(Some(fail), None, no_cut);
            let good = told.iter().filter(|&&ok| ok).count();
            // Everything before the failure, nothing from it on.
            assert_eq!(good, fail - 1);
            assert!(told[..good].iter().all(|&ok| ok));
            let expected: String = (0..good).map(line).collect();
            let written = String::from_utf8(disk.bytes).unwrap();
            let complete = written.rfind('\n').map_or(0, |newline| newline + 1);
            assert_eq!(written[..complete], expected, "{fail} {no_cut}");
            assert!(disk.synced >= complete, "{fail} {no_cut}");
        }
    }
}

#[test]
fn a_failed_sync_acknowledges_nothing_more() {
    for fail in 1..=3 {
        let (disk, told) = ten(None, Some(fail), false);
        let acknowledged: usize = told
            .iter()
            .enumerate()
            .filter(|(_, ok)| **ok)
            .map(|(number, _)| line(number).len())
            .sum();
        // Fewer syncs than `fail` may have been enough for all ten.
        assert!(acknowledged <= disk.synced, "{fail}: {told:?}");
        if disk.syncs >= fail {
            assert!(told.iter().any(|ok| !ok), "{fail}: {told:?}");
        }
    }
}

/// What a journal does with a file that holds this: the file afterwards, how much of it was cut off.
#[track_caller]
fn opened(content: &[u8]) -> (Vec<u8>, Option<u64>) {
    let place = tempfile::tempdir().unwrap();
    let path = place.path().join("games.jsonl");
    fs::write(&path, content).unwrap();
    let (journal, cut) = Journal::open(&path).unwrap();
    drop(journal);
    if cut.is_none() {
        // Nothing else was made.
        assert_eq!(fs::read_dir(place.path()).unwrap().count(), 1);
    }
    (fs::read(&path).unwrap(), cut.map(|cut| cut.bytes))
}

#[test]
fn a_whole_file_is_left_as_it_is() {
    let whole: String = (0..2).map(line).collect();
    for content in ["", &whole] {
        assert_eq!(opened(content.as_bytes()), (content.into(), None));
    }
}

/// The last newline is found however long the incomplete line is.
#[test]
fn a_long_incomplete_line_is_moved_as_a_whole() {
    for length in [1, 65_535, 65_536, 65_537, 200_000] {
        let tail = "x".repeat(length);
        let (left, cut) = opened(format!("{}{tail}", line(0)).as_bytes());
        assert_eq!(left, line(0).as_bytes(), "{length}");
        assert_eq!(cut, Some(length as u64));
        let (left, cut) = opened(format!("{{{tail}").as_bytes());
        assert_eq!((left, cut), (Vec::new(), Some(length as u64 + 1)));
    }
}

#[test]
fn another_file_is_refused_and_left_as_it_is() {
    let place = tempfile::tempdir().unwrap();
    let path = place.path().join("notes.txt");
    for content in ["notes", "  \n notes\n", "[{}]\n"] {
        fs::write(&path, content).unwrap();
        let error = Journal::open(&path).unwrap_err();
        assert!(matches!(error, OpenError::Foreign { .. }), "{error}");
        assert_eq!(fs::read_to_string(&path).unwrap(), content);
    }
}

#[test]
fn a_lock_is_waited_for() {
    let place = tempfile::tempdir().unwrap();
    let path = place.path().join("games.jsonl");
    let (first, _) = Journal::open(&path).unwrap();
    let begun = Instant::now();
    let wait = Duration::from_millis(200);
    let error = Journal::open_within(&path, wait).unwrap_err();
    assert!(matches!(error, OpenError::Locked { .. }), "{error}");
    assert!(begun.elapsed() >= wait);
    let holder = thread::spawn(move || {
        thread::sleep(wait);
        drop(first);
    });
    let (mut second, _) = Journal::open_within(&path, HANGS).unwrap();
    holder.join().unwrap();
    second.append(&line(0)).unwrap();
    assert_eq!(ids(&path), ["7-0"]);
}

#[test]
fn a_file_is_written_synced_and_truncated() {
    let place = tempfile::tempdir().unwrap();
    let path = place.path().join("file");
    let mut file = File::create(&path).unwrap();
    Storage::append(&mut file, b"one\ntwo").unwrap();
    Storage::sync(&mut file).unwrap();
    Storage::truncate(&mut file, 4).unwrap();
    assert_eq!(fs::read(&path).unwrap(), b"one\n");
}

/// A device has nothing to sync, and the system says so: it has been asked.
#[test]
fn a_sync_of_a_file_reaches_the_system() {
    let (mut journal, _) = Journal::open(Path::new("/dev/null")).unwrap();
    journal.append(&line(1)).unwrap();
    let error = journal.sync().unwrap_err();
    assert_eq!(error.kind(), io::ErrorKind::InvalidInput, "{error}");
    // What is on the disk is unknown from now on.
    assert!(journal.append(&line(2)).is_err());
}

/// A storage without faults, which counts.
fn counted() -> (Arc<Mutex<Disk>>, Faulty) {
    let disk = Arc::new(Mutex::new(Disk::default()));
    let storage = Faulty {
        disk: Arc::clone(&disk),
        fail_append: None,
        fail_sync: None,
        no_cut: false,
    };
    (disk, storage)
}

#[test]
fn lines_that_follow_each_other_are_synced_together() {
    let (disk, storage) = counted();
    let writer = Writer::start(Journal::over(storage, 0), SYNC_INTERVAL).unwrap();
    let begun = Instant::now();
    for number in 0..500 {
        writer.write(line(number), |written| written.unwrap());
        thread::sleep(Duration::from_micros(100));
    }
    drop(writer.finish().unwrap());
    let elapsed = begun.elapsed();
    let disk = disk.lock().unwrap();
    assert_eq!(disk.appends, 500);
    assert_eq!(disk.synced, disk.bytes.len());
    // One every 5 ms, however slow this machine is; the first and the last wait for nothing.
    let most = elapsed.as_millis() / 5 + 2;
    assert!(disk.syncs as u128 <= most, "{} in {elapsed:?}", disk.syncs);
}

#[test]
fn neither_a_single_line_nor_the_last_one_waits() {
    let (disk, storage) = counted();
    // A pause that would not end within this test.
    let writer = Writer::start(Journal::over(storage, 0), Duration::from_hours(1)).unwrap();
    let (acknowledge, acknowledged) = mpsc::channel();
    let notify = |number: usize| {
        let acknowledge = acknowledge.clone();
        move |written: io::Result<()>| {
            written.unwrap();
            acknowledge.send(number).unwrap();
        }
    };
    writer.write(line(0), notify(0));
    assert_eq!(acknowledged.recv_timeout(HANGS), Ok(0));

    writer.write(line(1), notify(1));
    writer.write(line(2), notify(2));
    // No line is acknowledged in the pause, as it is not synced.
    let pause = Duration::from_millis(50);
    assert!(acknowledged.recv_timeout(pause).is_err());
    assert_eq!(disk.lock().unwrap().syncs, 1);

    let begun = Instant::now();
    drop(writer.finish().unwrap());
    assert!(begun.elapsed() < HANGS);
    assert_eq!(acknowledged.try_iter().collect::<Vec<_>>(), [1, 2]);
    let disk = disk.lock().unwrap();
    assert_eq!((disk.syncs, disk.synced), (2, disk.bytes.len()));
}
