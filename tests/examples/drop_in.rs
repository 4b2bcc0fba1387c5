mod attacks;

#[path = "kernels/kernels.rs"]
mod kernels;

mod types {
    pub struct Bitboard(pub u64);

    pub enum Color {
        White,
        Black,
    }
}

use types::{Bitboard, Color};

fn main() {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let board = |at: usize| Bitboard(u64::from_str_radix(&words[at], 16).unwrap());
    let all = [
        attacks::slider_attacks_setwise(board(0), board(1), board(2), board(5)),
        attacks::bishop_attacks_setwise(board(0), board(5)),
        attacks::rook_attacks_setwise(board(1), board(5)),
        attacks::queen_attacks_setwise(board(2), board(5)),
        attacks::knight_attacks_setwise(board(3)),
        attacks::pawn_attacks_setwise(board(4), Color::White),
        attacks::pawn_attacks_setwise(board(4), Color::Black),
    ];
    for Bitboard(attacked) in all {
        println!("{attacked:016x}");
    }
}
