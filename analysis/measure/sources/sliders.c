/* A whole side at once, ray after ray by Kogge-Stone: what an engine's author would write. */

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
