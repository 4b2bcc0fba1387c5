//! The attacks of sets of pieces: an engine's own functions, with their old signatures, by setwise's kernels.

use crate::kernels;
use crate::types::{Bitboard, Color};

/// Sliders stand on occupied squares; the king may be left out of these.
#[inline]
pub fn slider_attacks_setwise(bishops: Bitboard, rooks: Bitboard, queens: Bitboard, occupied: Bitboard) -> Bitboard {
    Bitboard(kernels::sliders_union(rooks.0 | queens.0, bishops.0 | queens.0, occupied.0))
}

#[inline]
pub fn bishop_attacks_setwise(bishops: Bitboard, occupied: Bitboard) -> Bitboard {
    Bitboard(kernels::push_attacks_bishop(bishops.0, !occupied.0))
}

#[inline]
pub fn rook_attacks_setwise(rooks: Bitboard, occupied: Bitboard) -> Bitboard {
    Bitboard(kernels::push_attacks_rook(rooks.0, !occupied.0))
}

#[inline]
pub fn queen_attacks_setwise(queens: Bitboard, occupied: Bitboard) -> Bitboard {
    Bitboard(kernels::push_attacks_queen(queens.0, !occupied.0))
}

#[inline]
pub fn knight_attacks_setwise(knights: Bitboard) -> Bitboard {
    Bitboard(kernels::leapers_knights(knights.0))
}

#[inline]
pub fn pawn_attacks_setwise(pawns: Bitboard, color: Color) -> Bitboard {
    Bitboard(match color {
        Color::White => kernels::leapers_pawns_white(pawns.0),
        Color::Black => kernels::leapers_pawns_black(pawns.0),
    })
}
