//! An adapter for engines in which a8 is bit 0, here with boards by kind of piece and by color.

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
    kinds: [u64; 6],
    colors: [u64; 2],
}

impl Position {
    pub fn put(&mut self, color: Color, kind: Kind, squares: u64) {
        self.kinds[kind as usize] |= squares;
        self.colors[color as usize] |= squares;
    }
}

/// The squares that this color attacks, by kind of piece and in all. The other side's king does not stop a ray.
/// With a8 = bit 0 White's pawns move to lower bits, as Black's do in setwise. So its color is the other one.
pub fn threats(position: &Position, color: Color) -> SideThreatsResults {
    let other_color = 1 - color as usize;
    let (own, other) = (position.colors[color as usize], position.colors[other_color]);
    let occupied = (own | other) ^ (position.kinds[Kind::King as usize] & other);
    let [pawns, knights, bishops, rooks, queens, king] = position.kinds.map(|board| board & own);
    side_threats_any(other_color as u64, pawns, knights, bishops, rooks, queens, king, occupied).into()
}
