/* Routines on arrays of boards, one board an iteration; the compilers vectorize the loops. */

#include "fills.h"

#define EACH(name, each)                                                                                              \
    void kogge_stone_attacks_##name##_batch(const U64 *restrict sliders, const U64 *restrict empty,                   \
                                            U64 *restrict result, U64 n) {                                            \
        for (U64 i = 0; i < n; i++)                                                                                   \
            result[i] = each;                                                                                         \
    }

#define ONE_RAY(name, step, into, fill) EACH(name, fill(sliders[i], empty[i], step, into))
EACH_DIRECTION(ONE_RAY, kogge_stone_attacks)

#define SET(name, fill) EACH(name, name##_##fill(sliders[i], empty[i]))
EACH_SET(SET, kogge_stone_attacks)

void sliders_union_batch(const U64 *restrict rooks, const U64 *restrict bishops, const U64 *restrict occupied,
                         U64 *restrict result, U64 n) {
    for (U64 i = 0; i < n; i++)
        result[i] = whole(rooks[i], bishops[i], ~occupied[i]);
}

void sliders_union_empty_batch(const U64 *restrict rooks, const U64 *restrict bishops, const U64 *restrict empty,
                               U64 *restrict result, U64 n) {
    for (U64 i = 0; i < n; i++)
        result[i] = whole(rooks[i], bishops[i], empty[i]);
}
