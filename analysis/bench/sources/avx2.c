/* A ray a lane, by AVX2: rays that shift to the left share a register, rays that shift to the right another. */

#define FILLED(a, b, c) ((a) | ((b) & (c)))
#include "lanes.h"

FLOODS(_up2, __m128i, _mm_sllv_epi64, _mm_srlv_epi64)
FLOODS(_down2, __m128i, _mm_srlv_epi64, _mm_sllv_epi64)
FLOODS(_up4, __m256i, _mm256_sllv_epi64, _mm256_srlv_epi64)
FLOODS(_down4, __m256i, _mm256_srlv_epi64, _mm256_sllv_epi64)

#define PAIR(name, ...) static const __m128i name = {__VA_ARGS__}
#define FOUR(name, ...) static const __m256i name = {__VA_ARGS__}

PAIR(lines, 8, 1);
PAIR(into_north_east, ALL, NOT_A);
PAIR(into_south_west, ALL, NOT_H);
PAIR(diagonals, 9, 7);
PAIR(into_upper, NOT_A, NOT_H);
PAIR(into_lower, NOT_H, NOT_A);
PAIR(east_and_north_east, 1, 9);
PAIR(eastern, NOT_A, NOT_A);
PAIR(western, NOT_H, NOT_H);
PAIR(files, 8, 8);
PAIR(anywhere, ALL, ALL);
PAIR(sevens, 7, 7);

/* north, east, north-east, north-west; for `into_down` the opposite rays */
FOUR(all, 8, 1, 9, 7);
FOUR(into_up, ALL, NOT_A, NOT_A, NOT_H);
FOUR(into_down, ALL, NOT_H, NOT_H, NOT_A);

#define SET_OF_TWO(name, family, up, into_up, down, into_down)                                                        \
    U64 family##_##name(U64 gen, U64 pro) {                                                                           \
        __m128i sliders = _mm_set1_epi64x(gen), empty = _mm_set1_epi64x(pro);                                         \
        return joined2(family##_up2(sliders, empty, up, into_up) | family##_down2(sliders, empty, down, into_down));  \
    }

/* A set with only one ray to the left, or to the right, has that ray in both lanes. */
#define SETS_BY_LANES(family)                                                                                         \
    SET_OF_TWO(vertical, family, files, anywhere, files, anywhere)                                                    \
    SET_OF_TWO(eastward, family, east_and_north_east, eastern, sevens, eastern)                                       \
    SET_OF_TWO(westward, family, sevens, western, east_and_north_east, western)                                       \
    SET_OF_TWO(rook, family, lines, into_north_east, lines, into_south_west)                                          \
    SET_OF_TWO(bishop, family, diagonals, into_upper, diagonals, into_lower)                                          \
    U64 family##_queen(U64 gen, U64 pro) {                                                                            \
        __m256i sliders = _mm256_set1_epi64x(gen), empty = _mm256_set1_epi64x(pro);                                   \
        return joined4(family##_up4(sliders, empty, all, into_up) | family##_down4(sliders, empty, all, into_down));  \
    }

SETS_BY_LANES(dumb7_attacks)
SETS_BY_LANES(kogge_stone_attacks)
SETS_BY_LANES(push_attacks)

INLINE __m256i both_ways(__m256i sliders, U64 unoccupied) {
    __m256i empty = _mm256_set1_epi64x(unoccupied);
    return kogge_stone_attacks_up4(sliders, empty, all, into_up) |
           kogge_stone_attacks_down4(sliders, empty, all, into_down);
}

INLINE __m256i chosen(U64 rooks, U64 bishops) { return _mm256_set_epi64x(bishops, bishops, rooks, rooks); }

INLINE U64 whole_by_lanes(U64 rooks, U64 bishops, U64 empty) {
    return joined4(both_ways(chosen(rooks, bishops), empty));
}

INLINE void pair(U64 rooks, U64 bishops, U64 empty, U64 *results) {
    __m256i found = both_ways(chosen(rooks, bishops), empty);
    results[0] = joined2(_mm256_castsi256_si128(found));
    results[1] = joined2(_mm256_extracti128_si256(found, 1));
}

INLINE void rays(U64 rooks, U64 bishops, U64 empty, U64 *results) {
    __m256i sliders = chosen(rooks, bishops), unoccupied = _mm256_set1_epi64x(empty);
    __m256i up = kogge_stone_attacks_up4(sliders, unoccupied, all, into_up);
    __m256i down = kogge_stone_attacks_down4(sliders, unoccupied, all, into_down);
    results[7] = up[0], results[1] = up[1], results[0] = up[2], results[6] = up[3];
    results[3] = down[0], results[5] = down[1], results[4] = down[2], results[2] = down[3];
}

INLINE void pieces(U64 rooks, U64 bishops, U64 queens, U64 empty, U64 *results) {
    pair(rooks, bishops, empty, results);
    results[2] = joined4(both_ways(_mm256_set1_epi64x(queens), empty));
}

#define whole whole_by_lanes
#include "whole_side.h"
