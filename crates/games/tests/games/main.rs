//! Tests of the public interface: rules against second implementations, counted games, files of pieces, the solver.

#[path = "../../examples/make_books/books.rs"]
mod books;
mod books_test;
mod notation;
mod perft;
mod piece_sets;
mod quartos;
mod solver;
mod tic_tac_toe;
