//! When are two names the same?

use referee_match::bot::naming::composed;

/// For comparing: lower-case letters and digits, composed, words separated by a space.
pub(super) fn plain(name: &str) -> String {
    let name = composed(name);
    let words = name.split(|c: char| !c.is_alphanumeric());
    let words = words.filter(|word| !word.is_empty()).map(str::to_lowercase);
    words.collect::<Vec<_>>().join(" ")
}

/// Letters with their accents, and without.
const ACCENTS: &str = "aàáâãäåāăą cçćĉċč dďđ eèéêëēĕėęě gĝğġģ hĥħ iìíîïĩīĭįı jĵ kķ lĺļľł nñńņň oòóôõöøōŏő rŕŗř \
                       sśŝşšș tţťŧț uùúûüũūŭůűų wŵ yýÿŷ zźżž";

/// Also without accents, however they are written.
pub(super) fn without_accents(name: &str) -> String {
    let is_mark = |c: &char| ('\u{300}'..='\u{36f}').contains(c);
    let bare = |c: char| {
        let group = ACCENTS.split(' ').find(|group| group.contains(c));
        group.and_then(|group| group.chars().next()).unwrap_or(c)
    };
    let lower = name.to_lowercase();
    let bare: String = lower.chars().filter(|c| !is_mark(c)).map(bare).collect();
    plain(&bare)
}

/// Whether these are the same words in any order, as in `Lee, Anna`.
pub(super) fn has_same_words(a: &str, b: &str) -> bool {
    let [a, b] = [a, b].map(|name| {
        let bare = without_accents(name);
        let mut words: Vec<String> = bare.split(' ').map(str::to_owned).collect();
        words.sort();
        words
    });
    a == b && a != [""]
}

/// How well a name has to fit, the most certain first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NameFit {
    Whole,
    WithoutAccents,
    /// The end of `exercise-anna`.
    End,
}

impl NameFit {
    pub(super) const ALL: [Self; 3] = [Self::Whole, Self::WithoutAccents, Self::End];

    /// Whether a name that was found is one that is known.
    pub(super) fn holds(self, found: &str, known: &str) -> bool {
        let [found_plain, known_plain] = match self {
            Self::Whole => [found, known].map(plain),
            Self::WithoutAccents | Self::End => [found, known].map(without_accents),
        };
        !known_plain.is_empty()
            && match self {
                Self::Whole | Self::WithoutAccents => found_plain == known_plain,
                Self::End => found_plain.ends_with(&format!(" {known_plain}")),
            }
    }
}
