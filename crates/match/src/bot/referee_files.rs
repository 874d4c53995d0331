//! The referee's files that may lie in a bot's folder.

use referee_sandbox::snapshot::WrittenFiles;

/// The first line of a text in Markdown that is written for a bot's author. Nothing of it is shown.
pub const MARKDOWN_MARK: &str = "<!-- written by referee -->\n";

/// By what they are known: pages, records and tables, and the folders of tournaments and grades.
pub const REFEREE_FILES: WrittenFiles = WrittenFiles {
    page_mark: Some("<meta name=\"generator\" content=\"referee "),
    data_starts: &[
        "{\"v\":1,\"game\":\"",
        "{\"games\":",
        "rank,name,",
        "name,median_ms,",
        MARKDOWN_MARK,
    ],
    folder_marks: &["games.jsonl", "grades.json"],
};
