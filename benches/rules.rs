//! The small steps of a ply: detecting a quarto, applying a move, parsing an answer,
//! encoding a line. Run with `cargo bench --bench rules`.

use std::hint::black_box;

use criterion::{Criterion, criterion_group, criterion_main};
use referee::game::quarto::{Board, Cell, Edition, Move, Piece, Rules};
use referee::game::{BuiltinGame as _, Position as _};
use referee::protocol::answer_text;

fn rules(c: &mut Criterion) {
    let edition = Edition::default();
    let full = edition.set.configuration("KHEF#DCMXABJPGOL").unwrap();
    let middle = edition.read_request("A..PC...J..EF... G").unwrap();

    c.bench_function("quarto detection, all lines of a board", |b| {
        b.iter(|| black_box(&full).quartos(Rules::Standard).count());
    });
    c.bench_function("quarto detection, lines through a cell", |b| {
        let cell = Cell::from_number(6).unwrap();
        b.iter(|| black_box(&full).has_quarto_through(black_box(cell), Rules::Standard));
    });
    c.bench_function("board from nothing, sixteen placements", |b| {
        b.iter(|| {
            let mut board = Board::default();
            for (cell, piece) in Cell::all().zip(Piece::all()) {
                assert!(board.place(black_box(cell), black_box(piece)));
            }
            board
        });
    });
    c.bench_function("apply a placement and a gift", |b| {
        let place = Move::Place(Cell::from_number(6).unwrap());
        let give = Move::Give(Piece::new(14).unwrap());
        b.iter(|| {
            let mut position = *black_box(&middle);
            position.play(black_box(place)).unwrap();
            position.play(black_box(give)).unwrap();
            position
        });
    });
    c.bench_function("parse and judge an answer", |b| {
        b.iter(|| {
            let text = answer_text(black_box(b"6 O")).unwrap();
            edition.judge(black_box(&middle), text).unwrap()
        });
    });
    c.bench_function("encode a request", |b| {
        b.iter(|| edition.request(black_box(&middle)));
    });
    c.bench_function("encode an answer", |b| {
        let (turn, _) = edition.judge(&middle, "6 O").unwrap();
        b.iter(|| edition.turn_text(black_box(turn)));
    });
}

criterion_group!(benches, rules);
criterion_main!(benches);
