//! perft: counts the legal moves of a position to a depth, with setwise's map of all that a side attacks.
//!
//!     setwise export side.union.black sliders.rays --isa x86-64,bmi2,avx2,avx512 --format rust -o .
//!     rustc --edition 2021 -O -C target-cpu=native perft.rs
//!     ./perft "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1" 5
//!
//! prints the legal moves of each depth, and the nanoseconds that counting them took. It is perft.c in Rust: the mover
//! always plays upward, after a move the board is turned over. With `--cfg tables` it needs no setwise.rs: it looks up
//! the enemy's sliders, and those whose moves it counts, one by one. With `--cfg threats` it is the program of
//! threat_loop.rs.

#![allow(unknown_lints, unexpected_cfgs)]
#![cfg_attr(threats, allow(dead_code))]

use std::time::Instant;

#[cfg(not(tables))]
mod setwise;
#[cfg(threats)]
mod threat_loop;

// No two kinds of sliders side by side: both would be read at once, which waits where one has just been written.
const KNIGHT: usize = 0;
const ROOK: usize = 1;
const PAWN: usize = 2;
const BISHOP: usize = 3;
const KING: usize = 4;
const QUEEN: usize = 5;
const OWN: usize = 6;
const ENEMY: usize = 7;

const FILE_A: u64 = 0x0101_0101_0101_0101;
const FILE_H: u64 = FILE_A << 7;
const RANK_1: u64 = 0xff;
const RANK_3: u64 = RANK_1 << 16;
const RANK_8: u64 = RANK_1 << 56;

#[derive(Clone, Copy)]
struct Position {
    boards: [u64; 8], // pieces of both sides by kind, then by side
    castling: u64,    // rooks that may still castle
    en_passant: u64,  // the square that a pawn has just passed, or nothing
}

#[derive(Clone, Copy)]
struct Move {
    from: u64,
    to: u64, // who castles goes to the own rook's square
    piece: usize,
    becomes: usize,
}

/// The squares of a set, each as a set of its own.
struct Each(u64);

impl Iterator for Each {
    type Item = u64;

    #[inline(always)]
    fn next(&mut self) -> Option<u64> {
        if self.0 == 0 {
            return None;
        }
        let first = first_of(self.0);
        self.0 &= self.0 - 1;
        Some(first)
    }
}

#[inline(always)]
fn first_of(set: u64) -> u64 {
    set & set.wrapping_neg()
}

#[inline(always)]
fn several(set: u64) -> bool {
    set & set.wrapping_sub(1) != 0
}

#[inline(always)]
fn square(set: u64) -> usize {
    (set.trailing_zeros() & 63) as usize
}

#[inline(always)]
fn beside(set: u64) -> u64 {
    (set & !FILE_A) >> 1 | (set & !FILE_H) << 1
}

#[inline(always)]
fn pawn_attacks(pawns: u64) -> u64 {
    beside(pawns << 8)
}

#[inline(always)]
fn pawn_attackers(squares: u64) -> u64 {
    beside(squares >> 8)
}

fn king_attacks(king: u64) -> u64 {
    let row = king | beside(king);
    (row | row << 8 | row >> 8) & !king
}

#[inline(always)]
fn knight_attacks(knights: u64) -> u64 {
    let (west, east) = ((knights & !FILE_A) >> 1, (knights & !FILE_H) << 1);
    let (near, wide) = (west | east, (west & !FILE_A) >> 1 | (east & !FILE_H) << 1);
    near << 16 | near >> 16 | wide << 8 | wide >> 8
}

/// What rooks or bishops of a square attack: a row of a table, chosen by the occupied squares that matter.
#[derive(Clone, Copy, Default)]
struct Line {
    mask: u64,
    start: usize,
}

struct Tables {
    rooks: [Line; 64],
    bishops: [Line; 64],
    attacks: Vec<u64>,
    between: [[u64; 64]; 64],
    knights: [u64; 64],
    kings: [u64; 64],
}

#[cfg(target_feature = "bmi2")]
#[inline(always)]
fn extracted(set: u64, mask: u64) -> u64 {
    unsafe { std::arch::x86_64::_pext_u64(set, mask) }
}

#[cfg(not(target_feature = "bmi2"))]
fn extracted(set: u64, mask: u64) -> u64 {
    Each(mask).enumerate().map(|(bit, here)| u64::from(set & here != 0) << bit).sum()
}

/// Square by square in one direction, until a piece stands there or the board ends.
fn walk(from: usize, (files, ranks): (i32, i32), occupied: u64) -> u64 {
    let (mut file, mut rank, mut reached) = (from as i32 % 8 + files, from as i32 / 8 + ranks, 0);
    while (0..8).contains(&file) && (0..8).contains(&rank) && reached & occupied == 0 {
        reached |= 1 << (8 * rank + file);
        file += files;
        rank += ranks;
    }
    reached
}

const STRAIGHT: [(i32, i32); 4] = [(0, 1), (1, 0), (0, -1), (-1, 0)];
const DIAGONAL: [(i32, i32); 4] = [(1, 1), (1, -1), (-1, -1), (-1, 1)];

impl Tables {
    fn new() -> Self {
        let mut tables = Tables {
            rooks: [Line::default(); 64],
            bishops: [Line::default(); 64],
            attacks: Vec::new(),
            between: [[0; 64]; 64],
            knights: [0; 64],
            kings: [0; 64],
        };
        for from in 0..64 {
            tables.rooks[from] = tables.filled(from, &STRAIGHT);
            tables.bishops[from] = tables.filled(from, &DIAGONAL);
            tables.knights[from] = knight_attacks(1 << from);
            tables.kings[from] = king_attacks(1 << from);
            for &step in STRAIGHT.iter().chain(&DIAGONAL) {
                for to in Each(walk(from, step, 0)) {
                    tables.between[from][square(to)] = walk(from, step, to) & !to;
                }
            }
        }
        tables
    }

    /// The row of a square, appended to the table. The last square of a ray hides nothing, so it does not matter.
    fn filled(&mut self, from: usize, steps: &[(i32, i32)]) -> Line {
        let attacks = |occupied| steps.iter().fold(0, |all, &step| all | walk(from, step, occupied));
        let mask = Each(attacks(0)).filter(|&square| attacks(square) != attacks(0)).sum();
        let start = self.attacks.len();
        let mut subset = 0u64;
        loop {
            self.attacks.push(attacks(subset));
            subset = subset.wrapping_sub(mask) & mask;
            if subset == 0 {
                return Line { mask, start };
            }
        }
    }

    #[inline(always)]
    fn look_up(&self, line: Line, occupied: u64) -> u64 {
        // Within the row, which has an entry for each subset of the mask.
        unsafe { *self.attacks.get_unchecked(line.start + extracted(occupied, line.mask) as usize) }
    }

    #[inline(always)]
    fn rook(&self, from: u64, occupied: u64) -> u64 {
        self.look_up(self.rooks[square(from)], occupied)
    }

    #[inline(always)]
    fn bishop(&self, from: u64, occupied: u64) -> u64 {
        self.look_up(self.bishops[square(from)], occupied)
    }
}

impl Position {
    #[inline(always)]
    fn of(&self, piece: usize, side: usize) -> u64 {
        self.boards[piece] & self.boards[side]
    }

    /// Along ranks and files.
    #[inline(always)]
    fn rooks(&self, side: usize) -> u64 {
        (self.boards[ROOK] | self.boards[QUEEN]) & self.boards[side]
    }

    /// Along diagonals.
    #[inline(always)]
    fn bishops(&self, side: usize) -> u64 {
        (self.boards[BISHOP] | self.boards[QUEEN]) & self.boards[side]
    }

    /// All squares that the enemy attacks when these squares are occupied.
    #[cfg(not(tables))]
    #[inline(always)]
    fn danger(&self, _: &Tables, occupied: u64) -> u64 {
        let (knights, king, pawns) = (self.of(KNIGHT, ENEMY), self.of(KING, ENEMY), self.of(PAWN, ENEMY));
        setwise::side_union_black(self.rooks(ENEMY), self.bishops(ENEMY), knights, king, pawns, occupied)
    }

    #[cfg(tables)]
    #[inline(always)]
    fn danger(&self, tables: &Tables, occupied: u64) -> u64 {
        let mut danger = knight_attacks(self.of(KNIGHT, ENEMY)) | pawn_attackers(self.of(PAWN, ENEMY));
        danger |= tables.kings[square(self.of(KING, ENEMY))];
        for rook in Each(self.rooks(ENEMY)) {
            danger |= tables.rook(rook, occupied);
        }
        for bishop in Each(self.bishops(ENEMY)) {
            danger |= tables.bishop(bishop, occupied);
        }
        danger
    }

    /// The same position, the other side to move, turned over for it.
    fn for_the_other(&self) -> Position {
        let mut boards = self.boards.map(u64::swap_bytes);
        boards.swap(OWN, ENEMY);
        let (castling, en_passant) = (self.castling.swap_bytes(), self.en_passant.swap_bytes());
        Position { boards, castling, en_passant }
    }

    /// Makes a move, and turns the board over for the other side. In place: a copy would wait for what was written.
    #[inline(always)]
    fn make(&self, made: Move, next: &mut Position) {
        let Move { from, to, piece, becomes } = made;
        let castles = to & self.boards[OWN] != 0;
        let taken = if piece == PAWN && to == self.en_passant { to >> 8 } else { 0 };
        let gone = from | to | taken;
        let (king, rook): (u64, u64) = if to > from { (1 << 6, 1 << 5) } else { (1 << 2, 1 << 3) };
        let reached = if castles { king } else { to }.swap_bytes();
        for (before, after) in self.boards.iter().zip(&mut next.boards) {
            *after = (before & !gone).swap_bytes();
        }
        next.boards[becomes] |= reached;
        next.boards.swap(OWN, ENEMY);
        next.boards[ENEMY] |= reached;
        if castles {
            next.boards[ROOK] |= rook.swap_bytes();
            next.boards[ENEMY] |= rook.swap_bytes();
        }
        let kept = if piece == KING { !RANK_1 } else { !0 };
        let passed = if piece == PAWN && to == from << 16 { from << 8 } else { 0 };
        next.castling = (self.castling & !gone & kept).swap_bytes();
        next.en_passant = passed.swap_bytes();
    }
}

/// What becomes of the moves that are found: they are listed, or counted.
trait Moves {
    /// A piece's, one to each target.
    fn add(&mut self, piece: usize, from: u64, targets: u64);

    /// Pawns', each from so many squares before its target.
    fn add_pawns(&mut self, targets: u64, step: u32);

    /// Moves of these sliders to squares that are allowed, slider by slider.
    #[inline(always)]
    fn add_sliders_one_by_one(&mut self, p: &Position, t: &Tables, sliders: u64, occupied: u64, allowed: u64) {
        for from in Each(sliders & p.boards[BISHOP]) {
            self.add(BISHOP, from, t.bishop(from, occupied) & allowed);
        }
        for from in Each(sliders & p.boards[ROOK]) {
            self.add(ROOK, from, t.rook(from, occupied) & allowed);
        }
        for from in Each(sliders & p.boards[QUEEN]) {
            self.add(QUEEN, from, (t.rook(from, occupied) | t.bishop(from, occupied)) & allowed);
        }
    }

    #[inline(always)]
    fn add_sliders(&mut self, p: &Position, t: &Tables, sliders: u64, occupied: u64, allowed: u64) {
        self.add_sliders_one_by_one(p, t, sliders, occupied, allowed);
    }
}

impl Moves for Vec<Move> {
    #[inline(always)]
    fn add(&mut self, piece: usize, from: u64, targets: u64) {
        for to in Each(targets) {
            self.push(Move { from, to, piece, becomes: piece });
        }
    }

    #[inline(always)]
    fn add_pawns(&mut self, targets: u64, step: u32) {
        for to in Each(targets) {
            let from = to >> step;
            if to & RANK_8 == 0 {
                self.push(Move { from, to, piece: PAWN, becomes: PAWN });
            } else {
                for becomes in [KNIGHT, BISHOP, ROOK, QUEEN] {
                    self.push(Move { from, to, piece: PAWN, becomes });
                }
            }
        }
    }
}

impl Moves for u64 {
    #[inline(always)]
    fn add(&mut self, _: usize, _: u64, targets: u64) {
        *self += u64::from(targets.count_ones());
    }

    #[inline(always)]
    fn add_pawns(&mut self, targets: u64, _: u32) {
        *self += u64::from(targets.count_ones() + 3 * (targets & RANK_8).count_ones());
    }

    /// All at once: along one direction no two sliders go to the same square.
    #[cfg(not(tables))]
    #[inline(always)]
    fn add_sliders(&mut self, p: &Position, _: &Tables, sliders: u64, occupied: u64, allowed: u64) {
        let rays = setwise::sliders_rays(p.rooks(OWN) & sliders, p.bishops(OWN) & sliders, occupied);
        *self += rays.iter().map(|ray| u64::from((ray & allowed).count_ones())).sum::<u64>();
    }
}

/// Of pawns that may go to these squares.
#[inline(always)]
fn add_moves_of_pawns(moves: &mut impl Moves, pawns: u64, enemy: u64, occupied: u64, allowed: u64) {
    let one = pawns << 8 & !occupied;
    let two = (one & RANK_3) << 8 & !occupied;
    moves.add_pawns(one & allowed, 8);
    moves.add_pawns(two & allowed, 16);
    moves.add_pawns((pawns & !FILE_A) << 7 & enemy & allowed, 7);
    moves.add_pawns((pawns & !FILE_H) << 9 & enemy & allowed, 9);
}

/// Two pawns leave a rank or a diagonal at once, so the king is looked at anew.
fn add_en_passant(moves: &mut impl Moves, p: &Position, t: &Tables, occupied: u64) {
    let (to, taken, king) = (p.en_passant, p.en_passant >> 8, p.of(KING, OWN));
    for from in Each(pawn_attackers(to) & p.of(PAWN, OWN)) {
        let after = (occupied ^ from ^ taken) | to;
        if t.rook(king, after) & p.rooks(ENEMY) | t.bishop(king, after) & p.bishops(ENEMY) == 0 {
            moves.add(PAWN, from, to);
        }
    }
}

/// The squares of the first rank from one to the other, both of them.
fn span(a: u64, b: u64) -> u64 {
    (a.max(b) << 1) - a.min(b)
}

fn add_castlings(moves: &mut impl Moves, p: &Position, occupied: u64, danger: u64, pinned: u64) {
    let king = p.of(KING, OWN);
    for rook in Each(p.castling & p.boards[OWN]) {
        let (king_to, rook_to) = if rook > king { (1 << 6, 1 << 5) } else { (1 << 2, 1 << 3) };
        let (path, rook_path) = (span(king, king_to), span(rook, rook_to));
        if (path | rook_path) & (occupied ^ king ^ rook) | path & danger | rook & pinned == 0 {
            moves.add(KING, king, rook);
        }
    }
}

/// Adds the legal moves.
#[inline(always)]
fn generate(p: &Position, t: &Tables, moves: &mut impl Moves) {
    let (own, enemy) = (p.boards[OWN], p.boards[ENEMY]);
    let (occupied, king, pawns) = (own | enemy, p.of(KING, OWN), p.of(PAWN, OWN));
    let at = square(king);
    let danger = p.danger(t, occupied ^ king);
    moves.add(KING, king, t.kings[at] & !own & !danger);

    // Sliders that would see the king were the own pieces not there: they give check, or pin the one between.
    let mut checkers = 0;
    if king & danger != 0 {
        checkers = t.knights[at] & p.of(KNIGHT, ENEMY) | pawn_attacks(king) & p.of(PAWN, ENEMY);
    }
    let (mut pinned, mut pinners, mut allowed) = (0, 0, !own);
    for slider in Each(t.rook(king, enemy) & p.rooks(ENEMY) | t.bishop(king, enemy) & p.bishops(ENEMY)) {
        let shields = t.between[at][square(slider)] & own;
        if shields == 0 {
            checkers |= slider;
        } else if !several(shields) {
            pinned |= shields;
            pinners |= slider;
        }
    }
    if checkers != 0 {
        if several(checkers) {
            return;
        }
        allowed &= t.between[at][square(checkers)] | checkers;
    } else if p.castling & own != 0 {
        add_castlings(moves, p, occupied, danger, pinned);
    }

    add_moves_of_pawns(moves, pawns & !pinned, enemy, occupied, allowed);
    for from in Each(p.of(KNIGHT, OWN) & !pinned) {
        moves.add(KNIGHT, from, t.knights[square(from)] & allowed);
    }
    moves.add_sliders(p, t, own & !pinned, occupied, allowed);
    for pinner in Each(pinners) {
        let line = t.between[at][square(pinner)] | pinner;
        add_moves_of_pawns(moves, line & pawns, enemy, occupied, allowed & line);
        moves.add_sliders_one_by_one(p, t, line & own, occupied, allowed & line);
    }
    if pawn_attackers(p.en_passant) & pawns != 0 {
        add_en_passant(moves, p, t, occupied);
    }
}

/// Counts to a depth of one more than there are lists.
fn perft(p: &Position, t: &Tables, lists: &mut [Vec<Move>]) -> u64 {
    if let Some((list, rest)) = lists.split_first_mut() {
        list.clear();
        generate(p, t, list);
        let (mut total, mut next) = (0, *p);
        for &made in list.iter() {
            p.make(made, &mut next);
            total += perft(&next, t, rest);
        }
        total
    } else {
        let mut count = 0u64;
        generate(p, t, &mut count);
        count
    }
}

/// Rights as in FEN: KQkq are the outermost rooks, letters of files those that stand there.
fn castling_rook(p: &Position, right: char) -> u64 {
    let (side, row) = if right.is_ascii_lowercase() { (ENEMY, RANK_8) } else { (OWN, RANK_1) };
    let (king, rooks) = (p.of(KING, side) & row, p.of(ROOK, side) & row);
    match right.to_ascii_lowercase() {
        _ if king == 0 => 0,
        letter @ 'a'..='h' => rooks & FILE_A << (letter as u32 - 'a' as u32),
        'q' => first_of(rooks & king.wrapping_sub(1)),
        'k' => Each(rooks & king.wrapping_neg()).last().unwrap_or(0),
        _ => 0,
    }
}

/// The position, if it is one in which the mover cannot take the king.
fn parse(fen: &str, t: &Tables) -> Option<Position> {
    let mut p = Position { boards: [0; 8], castling: 0, en_passant: 0 };
    let mut words = fen.split_whitespace();
    let (mut rank, mut file) = (7u32, 0);
    for letter in words.next()?.chars() {
        if letter == '/' {
            (rank, file) = (rank.checked_sub(1)?, 0);
        } else if let Some(empty @ 1..=8) = letter.to_digit(10) {
            file += empty;
        } else {
            let piece = "nrpbkq".find(letter.to_ascii_lowercase()).filter(|_| file < 8)?;
            let here = 1 << (8 * rank + file);
            p.boards[piece] |= here;
            p.boards[if letter.is_ascii_lowercase() { ENEMY } else { OWN }] |= here;
            file += 1;
        }
    }
    let (mover, rights, passed) = (words.next()?, words.next()?, words.next()?.as_bytes());
    if [OWN, ENEMY].iter().any(|&side| p.of(KING, side).count_ones() != 1) {
        return None;
    }
    p.castling = rights.chars().fold(0, |all, right| all | castling_rook(&p, right));
    if let [file @ b'a'..=b'h', rank @ b'1'..=b'8'] = passed {
        p.en_passant = 1 << (8 * (rank - b'1') + file - b'a');
    }
    match mover {
        "w" => (),
        "b" => p = p.for_the_other(),
        _ => return None,
    }
    let occupied = p.boards[OWN] | p.boards[ENEMY];
    if occupied & p.en_passant != 0 || p.en_passant >> 8 & p.of(PAWN, ENEMY) == 0 {
        p.en_passant = 0;
    }
    let other = p.for_the_other();
    let takes_king = other.danger(t, occupied.swap_bytes()) & other.of(KING, OWN) != 0;
    (!takes_king).then_some(p)
}

#[cfg(not(threats))]
fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let tables = Tables::new();
    let parsed = match &arguments[..] {
        [fen, depth] => parse(fen, &tables).zip(depth.parse::<u8>().ok()).filter(|&(_, depth)| depth > 0),
        _ => None,
    };
    if let Some((position, deepest)) = parsed {
        let mut lists = vec![Vec::with_capacity(256); usize::from(deepest)];
        for depth in 1..=deepest {
            let start = Instant::now();
            let moves = perft(&position, &tables, &mut lists[1..depth.into()]);
            println!("{depth} {moves} {}", start.elapsed().as_nanos());
        }
    } else {
        eprintln!("usage: perft FEN DEPTH");
        std::process::exit(2);
    }
}

#[cfg(threats)]
fn main() {
    threat_loop::main();
}
