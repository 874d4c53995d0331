//! Any bytes as the file of a piece set, and as a configuration of its pieces: a set, or an error.
#![no_main]

use libfuzzer_sys::fuzz_target;
use referee::game::quarto::{PieceSet, Rules};

fuzz_target!(|bytes: &[u8]| {
    match PieceSet::read(bytes) {
        Ok(set) => {
            let _ = set.check_for_match();
            if let Ok(text) = str::from_utf8(bytes) {
                let config: String = text.chars().filter(|c| *c != '\n').take(16).collect();
                let _ = set.quartos(&config, Rules::Squares);
            }
        }
        Err(error) => assert!(!error.to_string().is_empty()),
    }
});
