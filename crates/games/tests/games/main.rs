//! Tests of the public interface: rules against second implementations, counted games, files of pieces, the solver.

mod notation;
mod perft;
mod piece_sets;
mod quartos;
mod solver;
