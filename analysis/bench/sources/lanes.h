/* The fills with a ray a lane: `by` is the length of each ray's step, `into` the squares at which a step may arrive.

   FORTH shifts or rotates each lane along its ray, BACK against it; FILLED(a, b, c) is a | b & c. */

#include "fills.h"
#include <immintrin.h>

INLINE U64 joined2(__m128i lanes) { return _mm_cvtsi128_si64(lanes | _mm_unpackhi_epi64(lanes, lanes)); }
INLINE U64 joined4(__m256i lanes) {
    return joined2(_mm256_castsi256_si128(lanes) | _mm256_extracti128_si256(lanes, 1));
}

#define FLOODS(suffix, V, FORTH, BACK)                                                                                \
    INLINE V dumb7_attacks##suffix(V gen, V pro, V by, V into) {                                                      \
        pro &= into;                                                                                                  \
        gen = FILLED(gen, pro, FORTH(gen, by));                                                                       \
        gen = FILLED(gen, pro, FORTH(gen, by));                                                                       \
        gen = FILLED(gen, pro, FORTH(gen, by));                                                                       \
        gen = FILLED(gen, pro, FORTH(gen, by));                                                                       \
        gen = FILLED(gen, pro, FORTH(gen, by));                                                                       \
        gen = FILLED(gen, pro, FORTH(gen, by));                                                                       \
        return FORTH(gen, by) & into;                                                                                 \
    }                                                                                                                 \
    INLINE V kogge_stone_attacks##suffix(V gen, V pro, V by, V into) {                                                \
        pro &= into;                                                                                                  \
        gen = FILLED(gen, pro, FORTH(gen, by));                                                                       \
        pro &= FORTH(pro, by);                                                                                        \
        gen = FILLED(gen, pro, FORTH(gen, by + by));                                                                  \
        pro &= FORTH(pro, by + by);                                                                                   \
        gen = FILLED(gen, pro, FORTH(gen, 4 * by));                                                                   \
        return FORTH(gen, by) & into;                                                                                 \
    }                                                                                                                 \
    INLINE V push_attacks##suffix(V gen, V pro, V by, V into) {                                                       \
        V reached = FORTH(gen, by) & into, two, three;                                                                \
        pro &= BACK(into, by);                                                                                        \
        two = pro & BACK(pro, by);                                                                                    \
        three = two & BACK(pro, by + by);                                                                             \
        reached |= FORTH(reached & pro, by);                                                                          \
        reached |= FORTH(reached & two, by + by);                                                                     \
        return reached | FORTH(reached & three, 3 * by);                                                              \
    }
