//! A game as a picture that moves: turn by turn, then the result for a while, then again.
//!
//! All positions are drawn, and equal shapes kept once; a shape that is not always there is in a group whose visibility
//! is animated (CSS, which browsers also run within `<img>`). Without animation the last position is seen: in viewers
//! that have none, in print, and where people prefer reduced motion.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io;
use std::time::Duration;

use super::boards::{self, Part};
use super::element::Element;
use super::paint::colour;
use super::{CELL, EDGE, HAND, Pieces, Shown, board_size, file};
use crate::game::Side;
use crate::play::observer::GameObserver;
use crate::play::replay::{ReplayError, replay, start_of};
use crate::record::Record;
use crate::report::terminal::shortened;
use crate::session::{Ruleset, Session};
use crate::text::escape_controls;

/// How long the last position is shown, in seconds, before the game begins again.
const PAUSE: f64 = 5.0;

/// Heights of what is above and below the board.
const HEAD: f64 = 40.0;
const FOOT: f64 = 62.0;

/// The longest name, in columns of a terminal.
const NAME: usize = 24;

/// The layers after those of a board: the piece in hand, and the sentence below.
const HAND_LAYER: u8 = 10;
const CAPTION_LAYER: u8 = 11;

/// A position, and a sentence about how it came about.
#[derive(Clone, Debug)]
struct Scene {
    shown: Shown,
    caption: String,
}

/// A shape, and the scenes in which it is seen.
type Seen = (Element, Vec<usize>);

/// A recorded game to be drawn.
#[derive(Clone, Debug)]
pub struct Film {
    pieces: Pieces,
    /// The side that moves first, and the other one.
    names: [String; 2],
    scenes: Vec<Scene>,
    result: String,
}

/// Draws the positions of a game that is replayed.
struct Watcher<'a> {
    pieces: &'a Pieces,
    names: &'a [String; 2],
    scenes: Vec<Scene>,
}

impl GameObserver for Watcher<'_> {
    fn turn(&mut self, side: Side, _: &str, after: &dyn Session, _: Duration) -> io::Result<()> {
        let shown = Shown::of(self.pieces, after);
        let caption = format!(
            "{}. {} {}",
            self.scenes.len(),
            self.names[side.index()],
            after.describe_last_turn()
        );
        self.scenes.push(Scene { shown, caption });
        Ok(())
    }
}

impl Film {
    /// The game of this record. The error is a sentence: about the game, or about what breaks the rules.
    pub fn of(ruleset: &dyn Ruleset, record: &Record) -> Result<Self, String> {
        let pieces = Pieces::of_game(ruleset)?;
        let names = [record.first, record.first.other()]
            .map(|bot| shortened(&escape_controls(&record.bots[bot].name), NAME));
        let start = start_of(ruleset, record).map_err(|violation| violation.problem)?;
        let mut watcher = Watcher {
            pieces: &pieces,
            names: &names,
            scenes: vec![Scene {
                shown: Shown::of(&pieces, &*start),
                caption: format!("{} begins", names[start.to_move().index()]),
            }],
        };
        match replay(ruleset, record, &mut watcher) {
            Ok(_) => {}
            Err(ReplayError::Violation(violation)) => return Err(violation.problem),
            Err(ReplayError::Io(error)) => return Err(error.to_string()),
        }
        let mut scenes = watcher.scenes;
        let first = scenes[0].shown.clone();
        for scene in &mut scenes {
            scene.shown = scene.shown.clone().begun_with(&first);
        }
        Ok(Self {
            pieces,
            names,
            scenes,
            result: escape_controls(&record.result_line()),
        })
    }

    /// The picture of the position after so many turns; `None` when the game has fewer.
    pub fn still(&self, turns: usize) -> Option<String> {
        let scene = self.scenes.get(turns)?;
        let [first, second] = &self.names;
        let title = format!("{first} against {second}. {}", scene.caption);
        Some(super::still(&self.pieces, &scene.shown, &title))
    }

    /// Number of turns.
    pub const fn turns(&self) -> usize {
        self.scenes.len() - 1
    }

    /// For how long a position is seen, in seconds.
    const fn step(&self) -> f64 {
        match self.pieces {
            Pieces::Quarto(_) => 1.5,
            Pieces::FourInARow => 0.9,
        }
    }

    /// The SVG file.
    pub fn to_svg(&self) -> String {
        let (board_width, board_height) = board_size(&self.pieces);
        let width = match self.pieces {
            Pieces::Quarto(_) => board_width + HAND,
            Pieces::FourInARow => board_width,
        };
        let below = HEAD + board_height;
        let mut board =
            boards::group(&self.pieces).with("transform", format!("translate(0 {HEAD})"));
        let mut rules = Rules::new(self.scenes.len(), self.step());
        for (element, seen) in self.shapes(below) {
            board.push(rules.shown(element, seen));
        }
        let [first, second] = &self.names;
        let result = self.line(below + FOOT - 21.0, "result", &self.result, "ink");
        let ends = rules.shown(result, vec![self.scenes.len() - 1]);
        let title = format!("{first} against {second}. {}", self.result);
        let last = self
            .scenes
            .last()
            .map(|scene| scene.shown.in_words(&self.pieces));
        let description = format!("{title} {}", last.unwrap_or_default());
        let mut children = self.heads(width);
        children.extend([board, ends]);
        file(width, below + FOOT, &description, rules.style(), children)
    }

    /// The shapes of all positions in the order of drawing, with the scenes in which they are seen.
    fn shapes(&self, below: f64) -> Vec<Seen> {
        let mut at: BTreeMap<(u8, usize), Vec<Seen>> = BTreeMap::new();
        for (number, scene) in self.scenes.iter().enumerate() {
            let mut parts = boards::parts(&self.pieces, &scene.shown);
            parts.extend(
                boards::hand(&self.pieces, &scene.shown).map(|element| Part {
                    place: (HAND_LAYER, 0),
                    element,
                }),
            );
            // The board is drawn lower by its head, and this is in its group.
            let caption = self.line(below - HEAD + 18.0, "caption", &scene.caption, "soft");
            parts.push(Part {
                place: (CAPTION_LAYER, 0),
                element: caption,
            });
            for part in parts {
                let variants = at.entry(part.place).or_default();
                match variants
                    .iter_mut()
                    .find(|(element, _)| *element == part.element)
                {
                    Some((_, seen)) => seen.push(number),
                    None => variants.push((part.element, vec![number])),
                }
            }
        }
        at.into_values().flatten().collect()
    }

    /// A line of text below the board.
    fn line(&self, y: f64, class: &'static str, text: &str, ink: &str) -> Element {
        let columns = match self.pieces {
            Pieces::Quarto(_) => 60,
            Pieces::FourInARow => 78,
        };
        Element::new("text")
            .with("class", class)
            .at([("x", EDGE - 6.0), ("y", y)])
            .with("dominant-baseline", "central")
            .with("font-size", 17)
            .with("font-weight", if class == "result" { 700 } else { 400 })
            .with("fill", colour(ink))
            .text(&shortened(text, columns))
    }

    /// The names of the players above the board.
    fn heads(&self, width: f64) -> Vec<Element> {
        let colours = match self.pieces {
            Pieces::Quarto(_) => ["l0", "l1"],
            Pieces::FourInARow => ["yellow", "red"],
        };
        let sides = [
            (EDGE + 1.0, EDGE + 15.0, "start"),
            (width - 17.0, width - 31.0, "end"),
        ];
        let mut heads = Vec::new();
        for ((name, side), (dot, text, anchor)) in self.names.iter().zip(colours).zip(sides) {
            heads.push(
                Element::new("circle")
                    .at([("cx", dot), ("cy", CELL / 4.0), ("r", 7.0)])
                    .with("fill", colour(side)),
            );
            heads.push(
                Element::new("text")
                    .with("class", "name")
                    .at([("x", text), ("y", CELL / 4.0)])
                    .with("text-anchor", anchor)
                    .with("dominant-baseline", "central")
                    .with("font-size", 19)
                    .with("font-weight", 700)
                    .with("fill", colour("ink"))
                    .text(name),
            );
        }
        heads
    }
}

/// The rules of CSS that show shapes in some scenes only; one for each choice of scenes.
struct Rules {
    scenes: usize,
    /// How long a scene lasts, in seconds.
    step: f64,
    /// By the scenes that they show, in the order of the classes `a0`, `a1`, ….
    of: Vec<Vec<usize>>,
}

impl Rules {
    const fn new(scenes: usize, step: f64) -> Self {
        Self {
            scenes,
            step,
            of: Vec::new(),
        }
    }

    /// The element, seen in these scenes.
    fn shown(&mut self, element: Element, seen: Vec<usize>) -> Element {
        if seen.len() == self.scenes {
            return element;
        }
        let is_last = seen.last() == Some(&(self.scenes - 1));
        let known = self.of.iter().position(|known| *known == seen);
        let index = known.unwrap_or_else(|| {
            self.of.push(seen);
            self.of.len() - 1
        });
        let group = Element::new("g").with("class", format!("a{index}"));
        let group = if is_last {
            group
        } else {
            group.with("visibility", "hidden")
        };
        group.child(element)
    }

    /// The style sheet; `None` when nothing moves.
    #[expect(clippy::cast_precision_loss, reason = "a game has less than 50 turns")]
    fn style(&self) -> Option<String> {
        if self.of.is_empty() {
            return None;
        }
        let length = (self.scenes - 1) as f64 * self.step + PAUSE;
        let mut css = String::new();
        for (index, seen) in self.of.iter().enumerate() {
            let _ = write!(
                css,
                ".a{index}{{animation:a{index} {length:.1}s step-end infinite}}@keyframes a{index}{{"
            );
            let mut before = None;
            for scene in 0..self.scenes {
                let is_seen = seen.contains(&scene);
                if before != Some(is_seen) {
                    let percent = 100.0 * scene as f64 * self.step / length;
                    let value = if is_seen { "visible" } else { "hidden" };
                    let _ = write!(css, "{percent:.3}%{{visibility:{value}}}");
                    before = Some(is_seen);
                }
            }
            css.push('}');
        }
        css.push_str("@media (prefers-reduced-motion:reduce){g{animation:none!important}}@media print{g{animation:none!important}}");
        Some(css)
    }
}
