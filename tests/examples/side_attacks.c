/* side_attacks: all squares that a side attacks; knights, king and pawns join the sliders before the eight rays are
 * folded into one board.
 *
 *   setwise export sliders.rays --isa avx512 --format c -o attacks
 *   cc -std=c11 -O2 -Iattacks -c side_attacks.c
 *
 * setwise_sliders_rays_avx512 writes its eight rays side by side. Inlined, the array is only a name: GCC and Clang
 * keep the rays in the register that they were made in, and nothing is written to memory.
 */

#include <stdint.h>

#include "setwise_inline.h"

/* A lane a direction: noEa east soEa sout soWe west noWe nort. Rotates bring pieces a step on, or a knight's jump;
 * the masks are the squares that can be arrived at without leaving the board. */
static const uint64_t step[8] = {9, 1, 57, 56, 55, 63, 7, 8};
static const uint64_t step_mask[8] = {
    0xfefefefefefefe00, 0xfefefefefefefefe, 0x00fefefefefefefe, 0x00ffffffffffffff,
    0x007f7f7f7f7f7f7f, 0x7f7f7f7f7f7f7f7f, 0x7f7f7f7f7f7f7f00, 0xffffffffffffff00,
};
static const uint64_t jump[8] = {17, 10, 58, 49, 47, 54, 6, 15};
static const uint64_t jump_mask[8] = {
    0xfefefefefefe0000, 0xfcfcfcfcfcfcfc00, 0x00fcfcfcfcfcfcfc, 0x0000fefefefefefe,
    0x00007f7f7f7f7f7f, 0x003f3f3f3f3f3f3f, 0x3f3f3f3f3f3f3f00, 0x7f7f7f7f7f7f0000,
};
static const uint64_t pawn_lanes[2][8] = {
    {~0ULL, 0, 0, 0, 0, 0, ~0ULL, 0}, /* White's: noEa, noWe */
    {0, 0, ~0ULL, 0, ~0ULL, 0, 0, 0}, /* Black's: soEa, soWe */
};

/* Queens are among rooks and bishops both; sliders lie within occupied; color is 0 for White, 1 for Black. */
SETWISE_TARGET("avx512f,avx512vl,avx512dq,avx512bw,avx2,avx,bmi,bmi2")
uint64_t side_attacks(uint64_t rooks, uint64_t bishops, uint64_t occupied, uint64_t knights, uint64_t king,
                      uint64_t pawns, uint64_t color);

uint64_t side_attacks(uint64_t rooks, uint64_t bishops, uint64_t occupied, uint64_t knights, uint64_t king,
                      uint64_t pawns, uint64_t color) {
    uint64_t rays[8];
    setwise_sliders_rays_avx512(rooks, bishops, occupied, rays);

    const __m512i jumps = _mm512_rolv_epi64(_mm512_set1_epi64((long long)knights), _mm512_loadu_si512(jump));
    const __m512i kings = _mm512_set1_epi64((long long)king), all_pawns = _mm512_set1_epi64((long long)pawns);
    const __m512i walkers = _mm512_ternarylogic_epi64(kings, all_pawns, _mm512_loadu_si512(pawn_lanes[color]), 0xf8);
    const __m512i steps = _mm512_rolv_epi64(walkers, _mm512_loadu_si512(step));

    /* 0xf8: the first, or the second and the third. */
    __m512i joined = _mm512_loadu_si512(rays);
    joined = _mm512_ternarylogic_epi64(joined, jumps, _mm512_loadu_si512(jump_mask), 0xf8);
    joined = _mm512_ternarylogic_epi64(joined, steps, _mm512_loadu_si512(step_mask), 0xf8);

    const __m256i four = _mm256_or_si256(_mm512_castsi512_si256(joined), _mm512_extracti64x4_epi64(joined, 1));
    const __m128i two = _mm_or_si128(_mm256_castsi256_si128(four), _mm256_extracti128_si256(four, 1));
    return (uint64_t)_mm_cvtsi128_si64(_mm_or_si128(two, _mm_unpackhi_epi64(two, two)));
}
