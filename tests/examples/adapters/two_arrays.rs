//! An adapter for engines with an array of boards by kind of piece and another by color, and a type for boards.

use crate::setwise::{side_threats_any, SideThreatsResults};

#[derive(Clone, Copy, Default)]
pub struct Bitboard(pub u64);

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
    kinds: [Bitboard; 6],
    colors: [Bitboard; 2],
}

impl From<u64> for Bitboard {
    fn from(squares: u64) -> Self {
        Self(squares)
    }
}

impl Position {
    pub fn put(&mut self, color: Color, kind: Kind, squares: Bitboard) {
        self.kinds[kind as usize].0 |= squares.0;
        self.colors[color as usize].0 |= squares.0;
    }
}

/// The squares that this color attacks, by kind of piece and in all. The other side's king does not stop a ray.
pub fn threats(position: &Position, color: Color) -> SideThreatsResults {
    let (own, other) = (position.colors[color as usize].0, position.colors[1 - color as usize].0);
    let [pawns, knights, bishops, rooks, queens, king] = position.kinds.map(|board| board.0 & own);
    let occupied = (own | other) ^ (position.kinds[Kind::King as usize].0 & other);
    side_threats_any(color as u64, pawns, knights, bishops, rooks, queens, king, occupied).into()
}
