//! A record and its line, made once.

use std::sync::Arc;

use super::Record;

/// The record of a game that has ended, and its line. Those who write the
/// line, count the game and show it share one of these.
///
/// ```
/// use referee::record::{FinishedRecord, Record};
/// # let line = r#"{"v":1,"game":"quarto","rules":"standard","id":"7-1","bots":[{"name":"a","command":[]},{"name":"b","command":[]}],"first":0,"seed":7,"start":"................","turns":[],"times_ms":[],"result":{"winner":null,"reason":"draw","lines":[]},"started":"2026-01-31T10:00:00Z"}"#;
/// # let record = Record::from_line(line.as_bytes())?;
///
/// let finished = FinishedRecord::new(record);
/// assert!(finished.line().ends_with("}\n"));
/// assert_eq!(finished.record().id, "7-1");
/// # Ok::<(), String>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct FinishedRecord {
    record: Record,
    line: Arc<str>,
}

impl FinishedRecord {
    /// Writes the record's line.
    pub fn new(record: Record) -> Self {
        // Texts, numbers and objects can always be written into memory.
        let mut line = record.to_line().unwrap_or_default();
        line.push('\n');
        Self {
            record,
            line: line.into(),
        }
    }

    /// What is written.
    pub const fn record(&self) -> &Record {
        &self.record
    }

    /// As it is written: JSON and a newline.
    pub const fn line(&self) -> &Arc<str> {
        &self.line
    }
}
