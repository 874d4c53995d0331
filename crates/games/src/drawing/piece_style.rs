//! Which feature of a piece set is drawn as size, colour, form and fill.
//!
//! Known features are recognised by words in several languages; the rest are assigned in the file's order.

use crate::game::quarto::PieceSet;
use crate::game::quarto::piece_set::{FEATURES, Feature};

/// Names of a feature, and words for its values: value 0 is drawn big, in the first colour, square and hollow.
#[rustfmt::skip]
const PARTS: [(&str, [&str; 2]); FEATURES] = [
    ("size height grootte hoogte größe taille tamaño",
     ["big tall large high long groot hoog groß grand grande", "small short little low klein laag petit pequeño"]),
    ("color colour kleur shade farbe couleur", ["", ""]),
    ("form shape vorm forme forma",
     ["square angular rectangular vierkant hoekig eckig carré", "circular round circle rond rund redondo"]),
    ("fill core vulling hole top füllung",
     ["hollow hole open empty hol hohl creux", "solid full filled flat massief vol gevuld voll plein"]),
];

const COLOURS: [(&str, &str); 6] = [
    ("red", "red rood rot rouge rojo"),
    ("blue", "blue blauw blau bleu azul"),
    ("light", "light white licht wit weiß hell blanc"),
    ("dark", "dark black donker zwart schwarz dunkel noir brown"),
    ("green", "green groen grün vert verde"),
    ("yellow", "yellow geel gelb jaune amarillo"),
];

fn is_one(words: &str, word: &str) -> bool {
    words.split(' ').any(|known| known == word.to_lowercase())
}

fn colour(word: &str) -> Option<&'static str> {
    let found = COLOURS.iter().find(|(_, words)| is_one(words, word));
    found.map(|(name, _)| *name)
}

fn fits(part: usize, feature: &Feature) -> bool {
    let (names, values) = PARTS[part];
    let words = || feature.properties.iter();
    is_one(names, &feature.name)
        || words().any(|word| values.iter().any(|of_value| is_one(of_value, word)))
        || (part == 1 && words().any(|word| colour(word).is_some()))
}

fn assigned(features: &[Feature; FEATURES]) -> [usize; FEATURES] {
    let mut shown: [Option<usize>; FEATURES] = [None; FEATURES];
    for part in 0..FEATURES {
        let fits = |f: &usize| !shown.contains(&Some(*f)) && fits(part, &features[*f]);
        shown[part] = (0..FEATURES).find(fits);
    }
    let mut rest = (0..FEATURES).filter(|feature| !shown.contains(&Some(*feature)));
    shown.map(|feature| feature.or_else(|| rest.next()).unwrap_or(0))
}

/// Whether value 0 is drawn as the second value.
fn is_swapped(part: usize, feature: &Feature) -> bool {
    let (_, [first, second]) = PARTS[part];
    is_one(second, &feature.properties[0]) || is_one(first, &feature.properties[1])
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct PieceStyle {
    /// For size, colour, form and fill: the feature, and whether its values are swapped.
    pub(super) parts: [(usize, bool); FEATURES],
    /// The colours of values 0 and 1.
    pub(super) colours: [&'static str; 2],
}

impl PieceStyle {
    pub(super) fn of(set: &PieceSet) -> Self {
        let features = set.features();
        let shown = assigned(features);
        let parts = std::array::from_fn(|part| {
            let feature = shown[part];
            (feature, is_swapped(part, &features[feature]))
        });
        let colours = match features[shown[1]]
            .properties
            .each_ref()
            .map(|word| colour(word))
        {
            [Some(first), Some(second)] if first != second => [first, second],
            _ => ["red", "blue"],
        };
        Self { parts, colours }
    }

    /// A piece's colour, and whether it is drawn small, in the second colour, round and solid.
    pub(super) fn drawn(&self, bits: u8) -> (&'static str, [bool; FEATURES]) {
        let is_second = |feature: usize| bits >> feature & 1 == 1;
        let parts = self
            .parts
            .map(|(feature, swapped)| is_second(feature) != swapped);
        // Colours are by value: swapping does not affect them.
        (self.colours[usize::from(is_second(self.parts[1].0))], parts)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(csv: &str) -> ([usize; 4], [bool; 4]) {
        let set = PieceSet::parse(csv).unwrap();
        let features = set.features();
        let shown = assigned(features);
        let swapped: [bool; 4] =
            std::array::from_fn(|part| is_swapped(part, &features[shown[part]]));
        (shown, swapped)
    }

    #[test]
    fn shipped_sets_are_drawn_as_their_words_say() {
        for csv in [
            include_str!("../../../../sets/english.csv"),
            include_str!("../../../../sets/dutch.csv"),
            include_str!("../../../../sets/greek.csv"),
        ] {
            let (shown, _) = of(csv);
            assert_eq!(shown, [0, 1, 2, 3]);
        }
        let (_, swapped) = of(include_str!("../../../../sets/greek.csv"));
        // The first Greek piece is tall, light, round and hollow.
        assert_eq!(swapped, [false, false, true, false]);
    }

    #[test]
    fn features_in_any_order_and_of_any_words_are_shown() {
        let rows = |f: [[&str; 3]; 4]| {
            let mut csv = format!("p,{},{},{},{}\n", f[0][0], f[1][0], f[2][0], f[3][0]);
            for (bits, symbol) in ('a'..='p').enumerate() {
                let words: Vec<&str> = (0..4).map(|i| f[i][1 + (bits >> i & 1)]).collect();
                csv += &[symbol.to_string().as_str(), &words.join(",")].join(",");
                csv.push('\n');
            }
            csv
        };
        let mixed = rows([
            ["fill", "solid", "hollow"],
            ["form", "round", "square"],
            ["weight", "light as air", "heavy"],
            ["Colour", "white", "black"],
        ]);
        let (shown, swapped) = of(&mixed);
        assert_eq!(shown, [2, 3, 1, 0]);
        assert_eq!(swapped, [false, false, true, true]);
        let other = rows([
            ["a", "b", "c"],
            ["d", "e", "f"],
            ["g", "h", "i"],
            ["j", "k", "l"],
        ]);
        assert_eq!(of(&other).0, [0, 1, 2, 3]);
    }
}
