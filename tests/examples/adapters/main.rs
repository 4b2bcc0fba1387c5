//! Reads twelve boards a line, White's and Black's by kind, and writes the threat boards of White and of Black.

mod adapter;
mod setwise;

use adapter::{threats, Color, Kind, Position};

const KINDS: [Kind; 6] = [Kind::Pawn, Kind::Knight, Kind::Bishop, Kind::Rook, Kind::Queen, Kind::King];

fn main() {
    for line in std::io::stdin().lines().map_while(Result::ok) {
        let mut boards = line.split_whitespace().map(|word| u64::from_str_radix(word, 16).unwrap());
        let mut position = Position::default();
        for color in [Color::White, Color::Black] {
            for kind in KINDS {
                position.put(color, kind, boards.next().unwrap().into());
            }
        }
        for color in [Color::White, Color::Black] {
            let all = threats(&position, color);
            for board in [all.pawns, all.knights, all.bishops, all.rooks, all.queens, all.kings, all.attacks] {
                print!("{board:x} ");
            }
        }
        println!();
    }
}
