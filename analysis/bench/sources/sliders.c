/* A whole side at once, ray after ray by Kogge-Stone, as an engine's author would write it. */

#include "fills.h"

INLINE void pair(U64 rooks, U64 bishops, U64 empty, U64 *results) {
    results[0] = rook_kogge_stone_attacks(rooks, empty);
    results[1] = bishop_kogge_stone_attacks(bishops, empty);
}

INLINE void rays(U64 rooks, U64 bishops, U64 empty, U64 *results) {
    results[0] = kogge_stone_attacks(bishops, empty, 9, NOT_A);
    results[1] = kogge_stone_attacks(rooks, empty, 1, NOT_A);
    results[2] = kogge_stone_attacks(bishops, empty, -7, NOT_A);
    results[3] = kogge_stone_attacks(rooks, empty, -8, ALL);
    results[4] = kogge_stone_attacks(bishops, empty, -9, NOT_H);
    results[5] = kogge_stone_attacks(rooks, empty, -1, NOT_H);
    results[6] = kogge_stone_attacks(bishops, empty, 7, NOT_H);
    results[7] = kogge_stone_attacks(rooks, empty, 8, ALL);
}

INLINE void pieces(U64 rooks, U64 bishops, U64 queens, U64 empty, U64 *results) {
    pair(rooks, bishops, empty, results);
    results[2] = queen_kogge_stone_attacks(queens, empty);
}

#include "whole_side.h"

/* Numbers of moves to the targets, ray by ray. The asm moves each board to a general register, to be counted there. */

INLINE U64 population(U64 squares) {
    __asm__("" : "+r"(squares));
#ifdef __POPCNT__
    return (U64)__builtin_popcountll(squares);
#else
    squares -= squares >> 1 & 0x5555555555555555ULL;
    squares = (squares & 0x3333333333333333ULL) + (squares >> 2 & 0x3333333333333333ULL);
    squares = (squares + (squares >> 4)) & 0x0f0f0f0f0f0f0f0fULL;
    return squares * 0x0101010101010101ULL >> 56;
#endif
}

INLINE void mobility(U64 rooks, U64 bishops, U64 targets, U64 empty, U64 *moves) {
    U64 by[8];
    rays(rooks, bishops, empty, by);
    moves[0] = population(by[1] & targets) + population(by[3] & targets) + population(by[5] & targets) +
               population(by[7] & targets);
    moves[1] = population(by[0] & targets) + population(by[2] & targets) + population(by[4] & targets) +
               population(by[6] & targets);
}

void sliders_mobility(U64 rooks, U64 bishops, U64 targets, U64 occupied, U64 *results) {
    mobility(rooks, bishops, targets, ~occupied, results);
}

U64 sliders_counts(U64 rooks, U64 bishops, U64 targets, U64 occupied) {
    U64 moves[2];
    mobility(rooks, bishops, targets, ~occupied, moves);
    return moves[0] + moves[1];
}
