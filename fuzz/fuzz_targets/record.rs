//! Any bytes as the line of a record: accepted or rejected. An accepted record is written and read again
//! without changes, and replaying it returns a game or what is wrong with it.
#![no_main]

use libfuzzer_sys::fuzz_target;
use referee::game::BuiltinRuleset;
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
    let edition = Edition::new(Rules::Standard, PieceSet::default());
    let _ = replay(&BuiltinRuleset::new(edition), &record, &mut ());
    let _ = replay(&BuiltinRuleset::new(FourInARow), &record, &mut ());
});
