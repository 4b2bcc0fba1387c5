/* Table look-ups: two a queen, none for pawns, one for any other piece. The tables of sliders take 841 KiB. The
   number of an entry is made of the occupied squares that matter, by pext, or with MAGICS by a multiplication. */

#include "fills.h"
#include "tables.h"

#ifdef MAGICS
#include "magics.h"
#define TABLES "magics.bin"
#define NUMBER(piece, square, relevant)                                                                               \
    ((occupied & relevant) * magics_of_##piece[square] >> (64 - piece##_squares[square].bits))
#else
#include <immintrin.h>
#define TABLES "attacks.bin"
#define NUMBER(piece, square, relevant) _pext_u64(occupied, relevant)
#endif

__asm__(".section .rodata.attacks,\"a\"\n.balign 64\n.hidden attacks\n.globl attacks\nattacks:\n"
        ".incbin \"" TABLES "\"\n.text\n");
extern const U64 attacks[] __attribute__((visibility("hidden")));

INLINE U64 rook(int square, U64 occupied) {
    return attacks[rook_squares[square].first + NUMBER(rook, square, rook_squares[square].relevant)];
}

INLINE U64 bishop(int square, U64 occupied) {
    return attacks[bishop_squares[square].first + NUMBER(bishop, square, bishop_squares[square].relevant)];
}

/* A loop over the squares of a board, which it empties. */
#define EACH(square, board)                                                                                           \
    for (int square; board && (square = __builtin_ctzll(board), 1); board &= board - 1)

#define OF(pieces, parameters, found)                                                                                 \
    INLINE U64 of_##pieces parameters {                                                                               \
        U64 all = 0;                                                                                                  \
        EACH(square, pieces) all |= found;                                                                            \
        return all;                                                                                                   \
    }
OF(rooks, (U64 rooks, U64 empty), rook(square, ~empty))
OF(bishops, (U64 bishops, U64 empty), bishop(square, ~empty))
OF(queens, (U64 queens, U64 empty), rook(square, ~empty) | bishop(square, ~empty))
OF(knights, (U64 knights), knight_attacks[square])
OF(kings, (U64 kings), king_attacks[square])
#undef OF

INLINE U64 of_pawns(U64 pawns, int ahead) {
    return shift_one(pawns, ahead + 1, NOT_A) | shift_one(pawns, ahead - 1, NOT_H);
}

/* Squares that are attacked once, and twice or more, counted piece after piece. */
INLINE void twice(U64 rooks, U64 bishops, U64 knights, U64 kings, U64 pawns, U64 empty, int ahead, U64 *results) {
    U64 right = shift_one(pawns, ahead + 1, NOT_A), left = shift_one(pawns, ahead - 1, NOT_H);
    U64 once = right | left, again = right & left, occupied = ~empty;
#define COUNTED(board, found)                                                                                         \
    EACH(square, board) {                                                                                             \
        U64 reached = found;                                                                                          \
        again |= once & reached;                                                                                      \
        once |= reached;                                                                                              \
    }
    COUNTED(rooks, rook(square, occupied))
    COUNTED(bishops, bishop(square, occupied))
    COUNTED(knights, knight_attacks[square])
    COUNTED(kings, king_attacks[square])
    results[0] = once;
    results[1] = again;
}

#include "side.h"

U64 sliders_union(U64 rooks, U64 bishops, U64 occupied) {
    return of_rooks(rooks, ~occupied) | of_bishops(bishops, ~occupied);
}

void sliders_pair(U64 rooks, U64 bishops, U64 occupied, U64 *results) {
    results[0] = of_rooks(rooks, ~occupied);
    results[1] = of_bishops(bishops, ~occupied);
}

void sliders_pieces(U64 rooks, U64 bishops, U64 queens, U64 occupied, U64 *results) {
    results[0] = of_rooks(rooks, ~occupied);
    results[1] = of_bishops(bishops, ~occupied);
    results[2] = of_queens(queens, ~occupied);
}

void sliders_sides(U64 rooks, U64 bishops, U64 other_rooks, U64 other_bishops, U64 occupied, U64 *results) {
    results[0] = of_rooks(rooks, ~occupied) | of_bishops(bishops, ~occupied);
    results[1] = of_rooks(other_rooks, ~occupied) | of_bishops(other_bishops, ~occupied);
}

#ifdef __POPCNT__

#define MOVES(pieces, reached)                                                                                        \
    INLINE U64 moves_of_##pieces(U64 pieces, U64 targets, U64 occupied) {                                             \
        U64 moves = 0;                                                                                                \
        EACH(square, pieces) moves += (U64)__builtin_popcountll(reached & targets);                                   \
        return moves;                                                                                                 \
    }
MOVES(rooks, rook(square, occupied))
MOVES(bishops, bishop(square, occupied))

void sliders_mobility(U64 rooks, U64 bishops, U64 targets, U64 occupied, U64 *results) {
    results[0] = moves_of_rooks(rooks, targets, occupied);
    results[1] = moves_of_bishops(bishops, targets, occupied);
}

U64 sliders_counts(U64 rooks, U64 bishops, U64 targets, U64 occupied) {
    return moves_of_rooks(rooks, targets, occupied) + moves_of_bishops(bishops, targets, occupied);
}

#endif
