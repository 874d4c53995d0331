//! Any bytes as a line of a record: read or refused. What was read is written so that it reads the
//! same again, and replaying it gives a game or says what is wrong with it.
#![no_main]

use libfuzzer_sys::fuzz_target;
use referee::game::four_in_a_row::FourInARow;
use referee::game::quarto::{Edition, PieceSet, Rules};
use referee::record::Record;
use referee::play::replay::replay;

fuzz_target!(|bytes: &[u8]| {
    let Ok(record) = Record::from_line(bytes) else { return };
    let line = record.to_line().expect("it was read");
    assert!(!line.contains('\n'));
    let again = Record::from_line(line.as_bytes()).expect("it was written by us");
    assert_eq!(again.to_line().expect("it was read"), line);
    let _ = record.result_line();
    let _ = replay(&Edition::new(Rules::Standard, PieceSet::default()), &record, &mut ());
    let _ = replay(&FourInARow, &record, &mut ());
});
