//! The threat loop: makes the moves of games, and finds at each node the threat boards of the side that does not move.
//! It is a module of perft.rs, whose `main` it replaces:
//!
//!     setwise export side.union.black sliders.rays side.threats.any --isa x86-64,avx2,avx512 --format rust -o .
//!     rustc --edition 2021 -O -C target-cpu=native --cfg threats perft.rs -o threat_loop
//!     ./threat_loop "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1" 10000
//!
//! prints what threat_loop.c prints.

use crate::*;

const PLIES: usize = 200;

/// Plays a game of random moves.
fn play(mut position: Position, t: &Tables, random: &mut u64) -> Vec<Move> {
    let mut game = Vec::with_capacity(PLIES);
    let mut list = Vec::new();
    while game.len() < PLIES {
        list.clear();
        generate(&position, t, &mut list);
        if list.is_empty() {
            break;
        }
        *random = random.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        let made: Move = list[(*random >> 33) as usize % list.len()];
        position.clone().make(made, &mut position);
        game.push(made);
    }
    game
}

/// The squares that the enemy's pawns, knights, bishops, rooks, queens and king attack, and all of them.
#[cfg(not(tables))]
#[inline(always)]
fn threats(p: &Position, occupied: u64, _: &Tables) -> [u64; 7] {
    let of = |kind| p.of(kind, ENEMY);
    setwise::side_threats_any(1, of(PAWN), of(KNIGHT), of(BISHOP), of(ROOK), of(QUEEN), of(KING), occupied)
}

#[cfg(tables)]
#[inline(always)]
fn threats(p: &Position, occupied: u64, t: &Tables) -> [u64; 7] {
    let of = |kind| Each(p.of(kind, ENEMY));
    let pawns = pawn_attackers(p.of(PAWN, ENEMY));
    let knights = of(KNIGHT).fold(0, |all, from| all | t.knights[square(from)]);
    let bishops = of(BISHOP).fold(0, |all, from| all | t.bishop(from, occupied));
    let rooks = of(ROOK).fold(0, |all, from| all | t.rook(from, occupied));
    let queens = of(QUEEN).fold(0, |all, from| all | t.rook(from, occupied) | t.bishop(from, occupied));
    let king = t.kings[square(p.of(KING, ENEMY))];
    [pawns, knights, bishops, rooks, queens, king, pawns | knights | bishops | rooks | queens | king]
}

/// Adds the threat boards of a game's positions to the checksum. The mover's king does not stop a ray.
fn replay(start: &Position, game: &[Move], t: &Tables, mut checksum: u64) -> u64 {
    let (mut position, mut next) = (*start, *start);
    for &made in game {
        position.make(made, &mut next);
        let occupied = (next.boards[OWN] | next.boards[ENEMY]) ^ next.of(KING, OWN);
        for attacked in threats(&next, occupied, t) {
            checksum = checksum.wrapping_mul(3).wrapping_add(attacked);
        }
        std::mem::swap(&mut position, &mut next);
    }
    checksum
}

pub fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let t = Tables::new();
    let [fen, number] = &arguments[..] else { panic!("usage: threat_loop FEN GAMES") };
    let start = parse(fen, &t).expect("a position");
    let mut random = 1;
    let games: Vec<_> = (0..number.parse().expect("a number")).map(|_: u32| play(start, &t, &mut random)).collect();
    let began = Instant::now();
    let checksum = games.iter().fold(0, |checksum, game| replay(&start, game, &t, checksum));
    let taken = began.elapsed().as_nanos();
    println!("{} {taken} {checksum:016x}", games.iter().map(Vec::len).sum::<usize>());
}
