//! The transcripts and the table of `protocol.md`, replayed against the code.

use referee::game::four_in_a_row::FourInARow;
use referee::game::quarto::Edition;
use referee::game::{BuiltinGame, RejectionCause};
use referee::protocol::ForfeitReason;
use referee::protocol::answer_text;

const DOC: &str = include_str!("../../protocol.md");

fn transcripts(label: &str) -> Vec<Vec<&str>> {
    let fence = format!("```{label}\n");
    DOC.split(fence.as_str())
        .skip(1)
        .map(|rest| rest.split("```").next().unwrap().lines().collect())
        .collect()
}

/// The reason of a bad answer, or the position after a good one.
fn judge<G: BuiltinGame>(
    game: &G,
    position: &G::Position,
    answer: &[u8],
) -> Result<G::Position, ForfeitReason> {
    let text = answer_text(answer).map_err(|_| ForfeitReason::NotUtf8)?;
    match game.judge(position, text) {
        Ok((_, after)) => Ok(after),
        Err(rejection) => Err(match rejection.cause {
            RejectionCause::Malformed(_) => ForfeitReason::Malformed,
            RejectionCause::Illegal(_) => ForfeitReason::IllegalMove,
        }),
    }
}

#[test]
fn transcripts_are_what_happens() {
    follow(&Edition::default(), "transcript", 8);
    follow(&FourInARow, "four-in-a-row", 2);
}

/// Replays the transcripts in the blocks of this label, of which there are at least `least`.
fn follow<G: BuiltinGame>(edition: &G, label: &str, least: usize) {
    let blocks = transcripts(label);
    assert!(blocks.len() >= least, "only {} transcripts", blocks.len());
    for block in blocks {
        let mut position: Option<G::Position> = None;
        let mut request = "";
        let mut judged = None;
        for line in &block {
            let (mark, text) = line.split_at(2);
            match mark {
                "> " => {
                    // After a good answer the next question is the one the answer leads to.
                    if let Some(Ok(after)) = judged.take() {
                        let expected = edition.request(&after);
                        assert_eq!(text, expected, "{block:?}");
                    }
                    request = text;
                    position = Some(edition.read_request(text).unwrap());
                }
                "< " => {
                    assert!(!matches!(judged, Some(Err(_))), "no verdict in {block:?}");
                    let position = position.as_ref().unwrap();
                    judged = Some(judge(edition, position, text.as_bytes()));
                }
                "! " => {
                    let verdict = judged.take().unwrap().unwrap_err();
                    assert_eq!(verdict.name(), text, "to {request} in {block:?}");
                }
                _ => panic!("{line}"),
            }
        }
        assert!(
            matches!(judged, Some(Ok(_))),
            "the last answer is bad: {block:?}"
        );
    }
}

#[test]
fn the_table_is_what_happens() {
    let edition = Edition::default();
    let position = edition.read_request("..C............. K").unwrap();
    let mut seen = 0;
    let rows = DOC
        .lines()
        .skip_while(|line| !line.starts_with("| answer |"))
        .skip(2)
        .take_while(|line| line.starts_with('|'));
    for row in rows {
        let cells: Vec<&str> = row.trim_matches('|').split(" | ").collect();
        let expected = match cells[1].trim() {
            verdict if verdict.starts_with("accepted") => None,
            verdict => Some(verdict.split('`').nth(1).unwrap()),
        };
        let mut answers: Vec<Vec<u8>> = cells[0]
            .split('`')
            .skip(1)
            .step_by(2)
            .map(|text| {
                text.replace('␣', " ")
                    .replace('␉', "\t")
                    .replace('␍', "\r")
                    .into_bytes()
            })
            .collect();
        match cells[0].trim() {
            "an empty line" => answers.push(Vec::new()),
            "bytes that are not UTF-8" => answers.push(b"6 \xff".to_vec()),
            text if text.starts_with("a byte order mark") => {
                answers = vec!["\u{feff}6 A".into(), b"\x006 A".to_vec()];
            }
            // The channel's business; its own tests hold it.
            text if text.starts_with("1025 bytes") => continue,
            _ => {}
        }
        assert!(!answers.is_empty(), "{row}");
        for answer in answers {
            let verdict = judge(&edition, &position, &answer)
                .err()
                .map(ForfeitReason::name);
            assert_eq!(
                verdict,
                expected,
                "{:?} in {row}",
                String::from_utf8_lossy(&answer)
            );
            seen += 1;
        }
    }
    assert!(seen >= 25, "only {seen} answers were found in the table");
}

#[test]
fn every_reason_is_explained() {
    for reason in ForfeitReason::ALL {
        let row = format!("| `{}` |", reason.name());
        assert!(DOC.contains(&row), "{row}");
    }
}
