/* Knights, kings and pawns, alone and with a side's sliders, by shifts. */

#include "fills.h"

#define NOT_AB (NOT_A & ~(FILE_A << 1))
#define NOT_GH (NOT_H & ~(FILE_H >> 1))

INLINE U64 of_knights(U64 knights) {
    U64 one = shift_one(knights, 1, NOT_A) | shift_one(knights, -1, NOT_H);
    U64 two = shift_one(knights, 2, NOT_AB) | shift_one(knights, -2, NOT_GH);
    return one << 16 | one >> 16 | two << 8 | two >> 8;
}

INLINE U64 of_kings(U64 kings) {
    U64 beside = shift_one(kings, 1, NOT_A) | shift_one(kings, -1, NOT_H), row = kings | beside;
    return beside | row << 8 | row >> 8;
}

INLINE U64 of_pawns(U64 pawns, int ahead) {
    return shift_one(pawns, ahead + 1, NOT_A) | shift_one(pawns, ahead - 1, NOT_H);
}

#define of_rooks rook_kogge_stone_attacks
#define of_bishops bishop_kogge_stone_attacks
#define of_queens queen_kogge_stone_attacks

/* Add attacks along one ray or by one jump: results[0] are squares attacked, results[1] those attacked again. */
INLINE void counted(U64 attacks, U64 *results) {
    results[1] |= results[0] & attacks;
    results[0] |= attacks;
}

INLINE void ray(U64 sliders, U64 walkers, U64 empty, int step, U64 into, U64 *results) {
    counted(kogge_stone_attacks(sliders, empty, step, into) | shift_one(walkers, step, into), results);
}

INLINE void twice(U64 rooks, U64 bishops, U64 knights, U64 kings, U64 pawns, U64 empty, int ahead, U64 *results) {
    U64 up = ahead > 0 ? pawns : 0, down = ahead > 0 ? 0 : pawns;
    U64 found[2] = {0, 0};
    ray(rooks, kings, empty, 8, ALL, found);
    ray(rooks, kings, empty, -8, ALL, found);
    ray(rooks, kings, empty, 1, NOT_A, found);
    ray(rooks, kings, empty, -1, NOT_H, found);
    ray(bishops, kings | up, empty, 9, NOT_A, found);
    ray(bishops, kings | up, empty, 7, NOT_H, found);
    ray(bishops, kings | down, empty, -7, NOT_A, found);
    ray(bishops, kings | down, empty, -9, NOT_H, found);
    counted(shift_one(knights, 17, NOT_A), found);
    counted(shift_one(knights, 15, NOT_H), found);
    counted(shift_one(knights, -15, NOT_A), found);
    counted(shift_one(knights, -17, NOT_H), found);
    counted(shift_one(knights, 10, NOT_AB), found);
    counted(shift_one(knights, 6, NOT_GH), found);
    counted(shift_one(knights, -6, NOT_AB), found);
    counted(shift_one(knights, -10, NOT_GH), found);
    results[0] = found[0];
    results[1] = found[1];
}

#include "side.h"

#define PAWNS(color, ahead, crossed)                                                                                  \
    U64 leapers_pawns_##color(U64 pawns) { return of_pawns(pawns, ahead); }                                           \
    U64 leapers_pushes_##color(U64 pawns, U64 empty) { return shifted(pawns, ahead) & empty; }                        \
    U64 leapers_double_pushes_##color(U64 pawns, U64 empty) {                                                         \
        return shifted(shifted(pawns, ahead) & empty & crossed, ahead) & empty;                                       \
    }
PAWNS(white, 8, 0xff0000ULL)
PAWNS(black, -8, 0xff0000000000ULL)
