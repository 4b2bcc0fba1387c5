/* A ray a lane, by AVX-512: lanes rotate, so all rays share a register. Masks exclude ranks that only rotates reach. */

#define FILLED(a, b, c) _Generic((a), __m128i: filled2, __m256i: filled4, __m512i: filled8)(a, b, c)
#include "lanes.h"

/* 0xf8 is a | b & c. */
INLINE __m128i filled2(__m128i a, __m128i b, __m128i c) { return _mm_ternarylogic_epi64(a, b, c, 0xf8); }
INLINE __m256i filled4(__m256i a, __m256i b, __m256i c) { return _mm256_ternarylogic_epi64(a, b, c, 0xf8); }
INLINE __m512i filled8(__m512i a, __m512i b, __m512i c) { return _mm512_ternarylogic_epi64(a, b, c, 0xf8); }

FLOODS(_2, __m128i, _mm_rolv_epi64, _mm_rorv_epi64)
FLOODS(_4, __m256i, _mm256_rolv_epi64, _mm256_rorv_epi64)
FLOODS(_8, __m512i, _mm512_rolv_epi64, _mm512_rorv_epi64)

INLINE U64 joined8(__m512i lanes) {
    return joined4(_mm512_castsi512_si256(lanes) | _mm512_extracti64x4_epi64(lanes, 1));
}

/* The squares at which a step of each ray may arrive. */
#define NOEA 0xfefefefefefefe00
#define EAST NOT_A
#define SOEA 0x00fefefefefefefe
#define SOUT 0x00ffffffffffffff
#define SOWE 0x007f7f7f7f7f7f7f
#define WEST NOT_H
#define NOWE 0x7f7f7f7f7f7f7f00
#define NORT 0xffffffffffffff00

#define SET_OF(name, family, lanes, V, splat, ...)                                                                    \
    U64 family##_##name(U64 gen, U64 pro) {                                                                           \
        const V by_and_into[2] = {__VA_ARGS__};                                                                       \
        return joined##lanes(family##_##lanes(splat(gen), splat(pro), by_and_into[0], by_and_into[1]));               \
    }
#define SET_OF_TWO(name, family, ...) SET_OF(name, family, 2, __m128i, _mm_set1_epi64x, __VA_ARGS__)
#define SET_OF_FOUR(name, family, ...) SET_OF(name, family, 4, __m256i, _mm256_set1_epi64x, __VA_ARGS__)

/* Three rays take four lanes, of which two hold the same ray. */
#define SETS_BY_LANES(family)                                                                                         \
    SET_OF_TWO(vertical, family, {-8, 8}, {SOUT, NORT})                                                               \
    SET_OF_FOUR(eastward, family, {9, 1, -7, 9}, {NOEA, EAST, SOEA, NOEA})                                            \
    SET_OF_FOUR(westward, family, {-9, -1, 7, -9}, {SOWE, WEST, NOWE, SOWE})                                          \
    SET_OF_FOUR(rook, family, {1, -8, -1, 8}, {EAST, SOUT, WEST, NORT})                                               \
    SET_OF_FOUR(bishop, family, {9, -7, -9, 7}, {NOEA, SOEA, SOWE, NOWE})                                             \
    U64 family##_queen(U64 gen, U64 pro) {                                                                            \
        return joined8(family##_8(_mm512_set1_epi64(gen), _mm512_set1_epi64(pro), all, into));                        \
    }

static const __m512i all = {9, 1, -7, -8, -9, -1, 7, 8};
static const __m512i into = {NOEA, EAST, SOEA, SOUT, SOWE, WEST, NOWE, NORT};

SETS_BY_LANES(dumb7_attacks)
SETS_BY_LANES(kogge_stone_attacks)
SETS_BY_LANES(push_attacks)

/* The rays in odd lanes are a rook's. */
INLINE __m512i around(U64 rooks, U64 bishops, U64 empty) {
    __m512i sliders = _mm512_mask_set1_epi64(_mm512_set1_epi64(bishops), 0xaa, rooks);
    return kogge_stone_attacks_8(sliders, _mm512_set1_epi64(empty), all, into);
}

INLINE U64 whole_by_lanes(U64 rooks, U64 bishops, U64 empty) { return joined8(around(rooks, bishops, empty)); }

INLINE void rays(U64 rooks, U64 bishops, U64 empty, U64 *results) {
    _mm512_storeu_si512(results, around(rooks, bishops, empty));
}

INLINE void pair(U64 rooks, U64 bishops, U64 empty, U64 *results) {
    __m512i found = around(rooks, bishops, empty);
    __m256i half = _mm512_castsi512_si256(found) | _mm512_extracti64x4_epi64(found, 1);
    __m128i quarter = _mm256_castsi256_si128(half) | _mm256_extracti128_si256(half, 1);
    _mm_storeu_si128((__m128i *)results, _mm_shuffle_epi32(quarter, 0x4e));
}

INLINE void pieces(U64 rooks, U64 bishops, U64 queens, U64 empty, U64 *results) {
    pair(rooks, bishops, empty, results);
    results[2] = whole_by_lanes(queens, queens, empty);
}

#define whole whole_by_lanes
#include "whole_side.h"
