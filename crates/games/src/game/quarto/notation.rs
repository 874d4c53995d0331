//! Configurations: boards that need not be possible in a game.

use super::board::{Board, CELLS, Cell, Rules};
use super::piece_set::{FEATURES, PieceSet};

/// The text has another length than 16 characters.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "a configuration is {CELLS} characters, one a cell, row by row; found {found} character{}",
    if *found == 1 { "" } else { "s" }
)]
pub struct ConfigurationError {
    /// The number of characters.
    pub found: usize,
}

/// For each cell of each row four properties, or none.
pub type Grid<'a> = [[Option<[&'a str; FEATURES]>; 4]; 4];

impl PieceSet {
    /// A configuration is any board as 16 characters, possible in a game or not; a character that is not a piece is
    /// an empty cell.
    pub fn configuration(&self, text: &str) -> Result<Board, ConfigurationError> {
        let found = text.chars().count();
        if found != CELLS {
            return Err(ConfigurationError { found });
        }
        let mut board = Board::default();
        for (cell, symbol) in Cell::all().zip(text.chars()) {
            if let Some(piece) = self.piece(symbol) {
                // Every cell is visited once, so it is free.
                let _ = board.place(cell, piece);
            }
        }
        Ok(board)
    }

    /// The properties on every cell of a configuration.
    ///
    /// ```
    /// use referee_games::game::quarto::PieceSet;
    ///
    /// let set = PieceSet::default();
    /// let grid = set.grid("N?BI??JO?FDLMEAG")?;
    /// assert_eq!(grid[0][0], Some(["small", "red", "circular", "solid"]));
    /// assert_eq!(grid[0][1], None);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn grid(&self, configuration: &str) -> Result<Grid<'_>, ConfigurationError> {
        let board = self.configuration(configuration)?;
        let mut grid: Grid<'_> = [[None; 4]; 4];
        for (cell, piece) in board.pieces() {
            grid[cell.row()][cell.column()] = Some(self.words(piece));
        }
        Ok(grid)
    }

    /// The quartos of a configuration: line and property.
    ///
    /// ```
    /// use referee_games::game::quarto::{PieceSet, Rules};
    ///
    /// let set = PieceSet::default();
    /// assert_eq!(
    ///     set.quartos("N?BI??JO?FDLMEAG", Rules::Standard)?,
    ///     [("H4", "big"), ("V3", "square"), ("D2", "red")],
    /// );
    /// assert_eq!(
    ///     set.quartos("KHEF#DCMXABJPGOL", Rules::Standard)?,
    ///     [("H4", "blue"), ("V2", "hollow"), ("D1", "square")],
    /// );
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn quartos(
        &self,
        configuration: &str,
        rules: Rules,
    ) -> Result<Vec<(&'static str, &str)>, ConfigurationError> {
        Ok(self.name_quartos(&self.configuration(configuration)?, rules))
    }

    pub fn name_quartos(&self, board: &Board, rules: Rules) -> Vec<(&'static str, &str)> {
        board
            .quartos(rules)
            .map(|quarto| {
                (
                    quarto.line.name(),
                    self.property(quarto.feature, quarto.value),
                )
            })
            .collect()
    }
}
