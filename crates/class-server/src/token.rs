//! Secrets of links and of the class, of which only hashes are kept.

use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use referee_text::hexadecimal;

/// 128 random bits, in hexadecimal.
#[derive(Clone, PartialEq, Eq)]
pub struct Token(String);

impl Token {
    pub fn drawn() -> Self {
        Self(format!("{:032x}", rand::random::<u128>()))
    }

    /// One that was given out; its hash says whether it is known.
    pub fn given(text: &str) -> Self {
        Self(text.to_owned())
    }

    pub fn text(&self) -> &str {
        &self.0
    }

    /// Of a class that is served at `base`: what its owner opens.
    pub fn address(&self, base: &str) -> String {
        format!("{base}/in/{}", self.0)
    }

    pub fn hash(&self) -> TokenHash {
        TokenHash::of(&self.0)
    }
}

/// SHA-256 of a secret. Equality may be compared in any time: who measures it learns of the hash alone.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct TokenHash(String);

impl TokenHash {
    pub fn of(secret: &str) -> Self {
        Self(hexadecimal(&Sha256::digest(secret)))
    }
}
