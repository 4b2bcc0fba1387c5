//! An adapter for engines with a board for each color and kind of piece.

use crate::setwise::{side_threats_any, SideThreatsResults};

#[derive(Clone, Copy)]
pub enum Color {
    White,
    Black,
}

#[derive(Clone, Copy)]
pub enum Kind {
    Pawn,
    Knight,
    Bishop,
    Rook,
    Queen,
    King,
}

#[derive(Default)]
pub struct Position {
    pieces: [[u64; 6]; 2], // by color and kind
    occupied: u64,
}

impl Position {
    pub fn put(&mut self, color: Color, kind: Kind, squares: u64) {
        self.pieces[color as usize][kind as usize] |= squares;
        self.occupied |= squares;
    }
}

/// The squares that this color attacks, by kind of piece and in all. The other side's king does not stop a ray.
pub fn threats(position: &Position, color: Color) -> SideThreatsResults {
    let [pawns, knights, bishops, rooks, queens, king] = position.pieces[color as usize];
    let [.., other_king] = position.pieces[1 - color as usize];
    let occupied = position.occupied ^ other_king;
    side_threats_any(color as u64, pawns, knights, bishops, rooks, queens, king, occupied).into()
}
