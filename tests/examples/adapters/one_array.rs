//! An adapter for engines with eight boards in one array: the pieces of each kind, then those of each color.

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
    boards: [u64; 8],
}

impl Position {
    pub fn put(&mut self, color: Color, kind: Kind, squares: u64) {
        self.boards[kind as usize] |= squares;
        self.boards[6 + color as usize] |= squares;
    }
}

/// The squares that this color attacks, by kind of piece and in all. The other side's king does not stop a ray.
pub fn threats(position: &Position, color: Color) -> SideThreatsResults {
    let own = position.boards[6 + color as usize];
    let [.., kings, white, black] = position.boards;
    let occupied = (white | black) ^ (kings & !own);
    let [pawns, knights, bishops, rooks, queens, kings, ..] = position.boards.map(|board| board & own);
    side_threats_any(color as u64, pawns, knights, bishops, rooks, queens, kings, occupied).into()
}
