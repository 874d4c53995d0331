//! A record and its line, serialized once.

use std::sync::{Arc, OnceLock};

use super::Record;

/// The record of a game that has ended, and its line, which is serialized when it is first needed.
/// Journal, standard output, standings and pages share one of these.
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
    line: OnceLock<Arc<str>>,
}

impl FinishedRecord {
    /// The line is not serialized yet.
    pub const fn new(record: Record) -> Self {
        Self {
            record,
            line: OnceLock::new(),
        }
    }

    pub const fn record(&self) -> &Record {
        &self.record
    }

    /// The record as one line of JSON, with its newline.
    pub fn line(&self) -> &Arc<str> {
        self.line.get_or_init(|| {
            // Serializing texts, numbers and objects into memory cannot fail.
            let mut line = self.record.to_line().unwrap_or_default();
            line.push('\n');
            line.into()
        })
    }
}
