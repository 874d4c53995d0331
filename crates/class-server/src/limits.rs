//! What one student, and all together, may send.

use std::time::Duration;

/// Of an upload, as it is sent.
pub const UPLOAD_BYTES: usize = 16 << 20;

/// Of a request with an upload: its files, and what is around them.
pub const BODY_BYTES: usize = UPLOAD_BYTES + (1 << 20);

/// Of any other request.
pub const FORM_BYTES: usize = 16 << 10;

/// Of a program that is pasted, which is kept in memory while it is received.
pub const TEXT_BYTES: usize = 256 << 10;

pub const FILES: usize = 1000;

/// Of all submissions of one student, as they were sent.
pub const STUDENT_BYTES: u64 = 256 << 20;

/// Of what was unpacked and built of them: all versions are kept, so that each can be made current again.
pub const STUDENT_MADE_BYTES: u64 = 4 << 30;

/// Of all submissions of the class, as they were sent.
pub const CLASS_BYTES: u64 = 8 << 30;

/// Of what was unpacked and built of them.
pub const CLASS_MADE_BYTES: u64 = 64 << 30;

/// Of one student, within [`RATE_TIME`].
pub const SUBMISSIONS: usize = 20;

pub const RATE_TIME: Duration = Duration::from_hours(1);

/// Of a class that is joined by a code.
pub const STUDENTS: usize = 500;

/// Wrong codes of the class from one network, within [`GUESS_TIME`]: a lecture hall may be one, and each student in it errs.
pub const GUESSES: usize = 60;

/// Of all networks, from which on each has [`GUESSES_AMONG_MANY`] alone.
pub const MANY_GUESSES: usize = 120;

/// Wrong codes from one network, while there are many.
pub const GUESSES_AMONG_MANY: usize = 3;

/// Of all networks: a short code is one of some millions.
pub const GUESSES_AT_MOST: usize = 600;

pub const GUESS_TIME: Duration = Duration::from_mins(1);

/// Uploads that are unpacked at a time; further ones wait. While it is received, an upload has none of these places: slow clients
/// would keep them from the others.
pub const UNPACKED: usize = 8;

/// Downloads of one student at a time: each has a thread until its client has read it.
pub const DOWNLOADS: usize = 2;

/// Of all, from which on students have to wait. The server has 512 threads for what takes long, of which uploads need some.
pub const DOWNLOADS_OF_ALL: usize = 64;

/// From the first byte of a request to the answer.
pub const REQUEST_TIME: Duration = Duration::from_mins(2);

/// Between two parts of a request.
pub const IDLE_TIME: Duration = Duration::from_secs(15);

/// For the head of a request.
pub const HEAD_TIME: Duration = Duration::from_secs(10);

/// Of a student's name.
pub const NAME_CHARS: usize = 60;

/// At which people or bots play, or wait to, at a time.
pub const TABLES: usize = 32;

/// Of those, for visitors without a link.
pub const TABLES_OF_VISITORS: usize = 8;

/// Of those, for the visitors of one network, such as a school's: others have the rest.
pub const TABLES_OF_NETWORK: usize = 4;

/// Tables at which people play at a time.
pub const PEOPLE_PLAYING: usize = 8;

/// Of those, visitors without a link.
pub const VISITORS_PLAYING: usize = 3;

/// Of those, visitors of one network.
pub const PLAYING_OF_NETWORK: usize = 2;

/// Friendly games at a time: each may take a core.
pub const FRIENDLY_GAMES: usize = 1;

/// Between two tables of one host; all visitors of one network are one.
pub const TABLE_INTERVAL: Duration = Duration::from_secs(2);

/// From when a table was asked for, until it begins.
pub const TABLE_WAIT: Duration = Duration::from_mins(30);

/// Of one table, from its first game on.
pub const TABLE_TIME: Duration = Duration::from_mins(15);

/// Of a person, for a turn; then the game is lost.
pub const PERSON_TIME: Duration = Duration::from_mins(3);

/// Without a turn; then the table is closed.
pub const IDLE_TABLE: Duration = Duration::from_mins(4);

/// A person may play so many games in a row.
pub const GAMES_OF_PERSON: u64 = 20;

/// From the end of its games on a table's page is served.
pub const TABLE_KEPT: Duration = Duration::from_mins(10);

/// Of a reason for a decision.
pub const WHY_CHARS: usize = 300;
